/*
** Shows: bloom linked into a program, no extension file needed.  A blacklist of
** 100,000 hosts is kept as a filter in memory; only hosts that pass it are
** looked up in the table.
** Build and run, from the top of the project:
**     make -C examples/static
**     examples/static/blacklist
** What it prints is in blacklist.expected.
*/
#include <stdio.h>

#include "bloom.h"

#define NUM_BLOCKED  100000
#define NUM_REQUESTS 20000

/* Prints what went wrong, under the name of what was tried; returns 1. */
static int fail(sqlite3 *db, const char *what){
  fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
  return 1;
}

/* A table of blocked hosts, written and committed at once. */
static int fill_blacklist(sqlite3 *db){
  sqlite3_stmt *insert = NULL;
  int rc, i;
  rc = sqlite3_exec(db, "CREATE TABLE blocked(host TEXT PRIMARY KEY) WITHOUT ROWID; BEGIN",
                    NULL, NULL, NULL);
  if( rc==SQLITE_OK ){
    rc = sqlite3_prepare_v2(db, "INSERT INTO blocked VALUES (printf('ads%d.example', ?))",
                            -1, &insert, NULL);
  }
  for(i=0; rc==SQLITE_OK && i<NUM_BLOCKED; i++){
    sqlite3_bind_int(insert, 1, i);
    sqlite3_step(insert);
    rc = sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  if( rc==SQLITE_OK ) rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
  return rc;
}

/* Builds the filter.  It stays in *build's row: finalize that after use. */
static int build_filter(sqlite3 *db, sqlite3_stmt **build){
  int rc = sqlite3_prepare_v2(db, "SELECT bloom_build(host, 12) FROM blocked", -1, build, NULL);
  if( rc!=SQLITE_OK ) return rc;
  rc = sqlite3_step(*build);
  return rc==SQLITE_ROW ? SQLITE_OK : rc;
}

/* 1 or 0, the first column of the statement's row; -1 if it failed. */
static int look_up(sqlite3_stmt *statement, int parameter, const char *host){
  int answer = -1;
  sqlite3_bind_text(statement, parameter, host, -1, SQLITE_STATIC);
  if( sqlite3_step(statement)==SQLITE_ROW ) answer = sqlite3_column_int(statement, 0);
  return sqlite3_reset(statement)==SQLITE_OK ? answer : -1;
}

/* Every 40th request goes to a blocked host. */
static int screen_requests(sqlite3_stmt *probe, sqlite3_stmt *lookup){
  int num_lookups = 0, num_refused = 0, i;
  for(i=0; i<NUM_REQUESTS; i++){
    char host[40];
    int may_be_blocked;
    snprintf(host, sizeof(host), i%40==0 ? "ads%d.example" : "site%d.example", i);
    may_be_blocked = look_up(probe, 2, host);
    if( may_be_blocked<0 ) return SQLITE_ERROR;
    if( may_be_blocked ){
      int is_blocked = look_up(lookup, 1, host);
      if( is_blocked<0 ) return SQLITE_ERROR;
      num_lookups++;
      num_refused += is_blocked;
    }
  }
  printf("%d requests, %d looked up, %d refused\n", NUM_REQUESTS, num_lookups, num_refused);
  return SQLITE_OK;
}

static int run(sqlite3 *db){
  sqlite3_stmt *build = NULL, *probe = NULL, *lookup = NULL;
  int status = 0;
  if( fill_blacklist(db)!=SQLITE_OK ){
    status = fail(db, "blacklist");
  }else if( build_filter(db, &build)!=SQLITE_OK ){
    status = fail(db, "filter");
  }else if( sqlite3_prepare_v2(db, "SELECT bloom_may_contain(?, ?)", -1, &probe, NULL)!=SQLITE_OK
         || sqlite3_prepare_v2(db, "SELECT EXISTS (SELECT 1 FROM blocked WHERE host = ?)",
                               -1, &lookup, NULL)!=SQLITE_OK ){
    status = fail(db, "prepare");
  }else{
    const void *filter = sqlite3_column_blob(build, 0);
    int num_bytes = sqlite3_column_bytes(build, 0);
    printf("%d blocked hosts, a filter of %d bytes\n", NUM_BLOCKED, num_bytes);
    /* build keeps the bytes until it is finalized: no copy is needed. */
    if( sqlite3_bind_blob(probe, 1, filter, num_bytes, SQLITE_STATIC)!=SQLITE_OK
     || screen_requests(probe, lookup)!=SQLITE_OK ){
      status = fail(db, "requests");
    }
  }
  sqlite3_finalize(lookup);
  sqlite3_finalize(probe);
  sqlite3_finalize(build);
  return status;
}

int main(void){
  sqlite3 *db = NULL;
  int status;
  /* From here on every connection that is opened has bloom's functions. */
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
  if( sqlite3_open(":memory:", &db)!=SQLITE_OK ){
    status = fail(db, "open");
  }else{
    status = run(db);
  }
  sqlite3_close(db);
  return status;
}
