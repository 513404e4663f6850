/*
** Connections that share one cache write to a table and test its filter:
**
**     shared_cache SECONDS DATABASE
**
** First one commits just after another has, before the filter hears of that.  Then there are
** threads, each with its connection, which change rows, roll back to savepoints, rebuild the
** filter and make it again.  None of them may miss a row that it sees, neither by a fresh
** statement nor by one that it prepared when it began.  What another has locked fails, and is
** tried again with other rows.  DATABASE may be a URI: in memory there is no file whose locks
** would keep the threads apart.  Prints `N passed, N failed` last.
*/
#define _POSIX_C_SOURCE 200809L /* rand_r() */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../ext/bloom.h"
#include "../../lib/test.h"

enum { NUM_THREADS = 6, MAX_FAILED = 5 };

static const char by_look_up[] =
  "SELECT count(*) FROM (SELECT k FROM t ORDER BY id DESC LIMIT 30) AS new"
  " WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = new.k)";
static const char by_handle[] = "SELECT count(*) FROM t WHERE bloom_may_contain((SELECT handle FROM f), k) IS NOT 1";

static const char *database;
static time_t end;
static atomic_long num_commits, num_locked;

static void fail(const char *what, const char *sql){
  tally(0, "%s\n  %s", what, sql);
}

static sqlite3 *open_database(void){
  sqlite3 *db;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_SHAREDCACHE | SQLITE_OPEN_URI;
  if( sqlite3_open_v2(database, &db, flags, NULL)!=SQLITE_OK ) abort();
  return db;
}

/* Steps through the rows of a statement that was prepared with result rc.  Returns 1 if it
** succeeds; *number is then the last row's, if there is one. */
static int step_through(sqlite3 *db, sqlite3_stmt *statement, int rc, const char *sql, int *number){
  if( rc==SQLITE_OK ){
    while( (rc = sqlite3_step(statement))==SQLITE_ROW ) *number = sqlite3_column_int(statement, 0);
    if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  }
  /* In xBestIndex SQLite makes SQLITE_ERROR of it, and keeps the words. */
  if( (rc & 0xff)==SQLITE_LOCKED || (rc & 0xff)==SQLITE_BUSY || strstr(sqlite3_errmsg(db), "locked") ) num_locked++;
  else if( rc!=SQLITE_OK ) fail(sqlite3_errmsg(db), sql);
  return rc==SQLITE_OK;
}

static int run(sqlite3 *db, const char *sql, int *number){
  sqlite3_stmt *statement;
  const int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  const int is_fine = step_through(db, statement, rc, sql, number);
  sqlite3_finalize(statement);
  return is_fine;
}

static void count(int num_lost, const char *sql){
  tally(num_lost==0, "false negatives: %d rows\n  %s", num_lost, sql);
}

static void check_none_is_lost(sqlite3 *db, const char *sql){
  int num_lost = -1;
  if( run(db, sql, &num_lost) ) count(num_lost, sql);
}

/* Checks it by a statement that lives as long as the thread. */
static void check_none_is_lost_by_held(sqlite3 *db, sqlite3_stmt **held, const char *sql){
  int num_lost = -1;
  const int rc = *held ? SQLITE_OK : sqlite3_prepare_v2(db, sql, -1, held, NULL);
  if( step_through(db, *held, rc, sql, &num_lost) ) count(num_lost, sql);
  sqlite3_reset(*held);
}

/* A transaction that adds some rows, now and then removes some or makes the filter again, and may be rolled back. */
static void change(sqlite3 *db, unsigned *seed){
  int i, unused, is_fine = run(db, "BEGIN", &unused);
  const int num_rows = 1 + rand_r(seed) % 3;
  for(i=0; i<num_rows && is_fine; i++) is_fine = run(db, "INSERT INTO t(k) VALUES (hex(randomblob(8)))", &unused);
  if( is_fine && rand_r(seed) % 30==0 ) is_fine = run(db, "DELETE FROM t WHERE id % 3 = 0", &unused);
  if( is_fine && rand_r(seed) % 4==0 ){
    is_fine = run(db, "SAVEPOINT s", &unused) && run(db, "INSERT INTO t(k) VALUES (hex(randomblob(8)))", &unused)
           && run(db, "ROLLBACK TO s", &unused) && run(db, "INSERT INTO t(k) VALUES (hex(randomblob(8)))", &unused);
  }
  if( is_fine && rand_r(seed) % 20==0 ) is_fine = run(db, "INSERT INTO f(f) VALUES ('rebuild')", &unused);
  if( is_fine && rand_r(seed) % 20==0 ){
    is_fine = run(db, "DROP TABLE f", &unused) && run(db, "CREATE VIRTUAL TABLE f USING bloom(t, k)", &unused);
  }
  if( is_fine && rand_r(seed) % 8 ) num_commits += run(db, "COMMIT", &unused);
  /* While another has locked the schema, SQLite does not even prepare ROLLBACK. */
  while( !sqlite3_get_autocommit(db) ) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- In the middle of a commit ------------------------------------------------------------ */

static sqlite3 *guest; /* commits when xCommit of the virtual table `meanwhile` is called */

static int meanwhile_connect(
  sqlite3 *db, void *data, int num_args, const char *const *args, sqlite3_vtab **vtab, char **error
){
  (void)data; (void)num_args; (void)args; (void)error;
  *vtab = sqlite3_malloc(sizeof(**vtab));
  if( *vtab==NULL ) return SQLITE_NOMEM;
  **vtab = (sqlite3_vtab){NULL, 0, NULL};
  return sqlite3_declare_vtab(db, "CREATE TABLE meanwhile(x)");
}
static int meanwhile_disconnect(sqlite3_vtab *vtab){
  sqlite3_free(vtab);
  return SQLITE_OK;
}
static int meanwhile_update(sqlite3_vtab *vtab, int num_args, sqlite3_value **args, sqlite3_int64 *rowid){
  (void)vtab; (void)num_args; (void)args; (void)rowid;
  return SQLITE_OK;
}
static int meanwhile_begin(sqlite3_vtab *vtab){
  (void)vtab;
  return SQLITE_OK;
}
static int meanwhile_commit(sqlite3_vtab *vtab){
  int unused;
  (void)vtab;
  if( guest && !run(guest, "INSERT INTO t(k) VALUES ('of the guest')", &unused) ) fail(sqlite3_errmsg(guest), "the guest");
  return SQLITE_OK;
}

static const sqlite3_module meanwhile = {
  .xCreate = meanwhile_connect, .xConnect = meanwhile_connect,
  .xDisconnect = meanwhile_disconnect, .xDestroy = meanwhile_disconnect,
  .xUpdate = meanwhile_update, .xBegin = meanwhile_begin, .xCommit = meanwhile_commit,
};

/* The filter of the host must not take the guest's commit for its own. */
static void commit_meanwhile(sqlite3 *host){
  static const char *const statements[] = {
    "CREATE VIRTUAL TABLE meanwhile USING meanwhile", "BEGIN", "INSERT INTO meanwhile VALUES (1)",
    "INSERT INTO t(k) VALUES ('of the host')", "COMMIT"
  };
  int unused;
  size_t i;
  sqlite3_create_module(host, "meanwhile", &meanwhile, NULL);
  for(i=0; i<sizeof(statements) / sizeof(statements[0]); i++){
    if( i==1 ) guest = open_database();
    if( !run(host, statements[i], &unused) ) fail(sqlite3_errmsg(host), statements[i]);
  }
  check_none_is_lost(host, by_look_up);
  check_none_is_lost(host, by_handle);
  if( !run(host, "INSERT INTO t(k) VALUES ('of the host again')", &unused) ) fail(sqlite3_errmsg(host), "again");
  sqlite3_close(guest);
  guest = NULL;
  check_none_is_lost(host, by_look_up);
  if( !run(host, "DROP TABLE meanwhile", &unused) ) fail(sqlite3_errmsg(host), "DROP TABLE");
}

/* ---- Threads ------------------------------------------------------------------------------ */

static void *run_thread(void *number){
  unsigned seed = *(unsigned *)number;
  sqlite3 *db = open_database();
  sqlite3_stmt *look_up = NULL, *handle = NULL;
  while( (time(NULL)<end || num_commits==0) && test_num_failed<MAX_FAILED ){
    change(db, &seed);
    check_none_is_lost(db, by_look_up);
    check_none_is_lost(db, by_handle);
    check_none_is_lost_by_held(db, &look_up, by_look_up);
    check_none_is_lost_by_held(db, &handle, by_handle);
  }
  sqlite3_finalize(look_up);
  sqlite3_finalize(handle);
  if( sqlite3_close(db)!=SQLITE_OK ) fail("the connection cannot be closed", "");
  return NULL;
}

int main(int num_args, char **args){
  pthread_t threads[NUM_THREADS];
  unsigned numbers[NUM_THREADS];
  int i, unused;
  sqlite3 *db;
  if( num_args!=3 ){
    fprintf(stderr, "usage: shared_cache SECONDS DATABASE\n");
    return 2;
  }
  end = time(NULL) + atoi(args[1]);
  database = args[2];
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
  db = open_database();
  if( !run(db, "PRAGMA synchronous = OFF", &unused) || !run(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k)", &unused)
   || !run(db, "CREATE VIRTUAL TABLE f USING bloom(t, k)", &unused) ){
    fail(sqlite3_errmsg(db), "the tables");
  }
  commit_meanwhile(db);
  for(i=0; i<NUM_THREADS; i++){
    numbers[i] = (unsigned)i + 1;
    if( pthread_create(&threads[i], NULL, run_thread, &numbers[i])!=0 ) abort();
  }
  for(i=0; i<NUM_THREADS; i++) pthread_join(threads[i], NULL);
  /* Nobody is left who locks. */
  if( !run(db, "INSERT INTO f(f) VALUES ('integrity-check')", &unused) ) fail(sqlite3_errmsg(db), "integrity-check");
  check_none_is_lost(db, by_handle);
  if( sqlite3_close(db)!=SQLITE_OK ) fail("the connection cannot be closed", "");
  printf("note: shared cache: %ld transactions, %ld statements met a lock\n", (long)num_commits, (long)num_locked);
  return end_of_tests();
}
