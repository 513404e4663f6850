/*
** What bloom_may_contain costs per row of a scan, beside functions that do
** nothing or are built in.
**
**     per_row [num_rows [num_repeats]]     default: 10 million rows, 7 repeats
**
** A table t(k INTEGER, s TEXT of 16 bytes) in memory is scanned once per
** contestant and repeat, in turns; printed is the median of each, the least
** and the most, and the median above the empty scan, all in ns per row.
** Statically linked; sqlite3_libversion() names the SQLite measured.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../ext/bloom.h"

#ifndef __OPTIMIZE__
# error "a benchmark without optimisation says nothing: build with -O2 or -O3"
#endif

#define MAX_REPEATS 99

static void check(sqlite3 *db, int rc){
  if( rc!=SQLITE_OK ){
    fprintf(stderr, "per_row: %s\n", sqlite3_errmsg(db));
    exit(1);
  }
}

static double now_ns(void){
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Does nothing with two arguments: the price of any such call. */
static void noop2(sqlite3_context *context, int num_args, sqlite3_value **args){
  (void)num_args; (void)args;
  sqlite3_result_int(context, 1);
}

typedef struct contestant {
  const char *name;
  const char *sql; /* with ?1, a filter of 100,000 keys, if it wants one */
  sqlite3_stmt *statement;
  double ns[MAX_REPEATS];
  double result;
} contestant;

#define HANDLE "(SELECT bloom_open(filter) FROM filters WHERE name = "
static contestant contestants[] = {
  {.name = "empty scan, integer", .sql = "SELECT count(k) FROM t"},
  {.name = "empty scan, text", .sql = "SELECT count(s) FROM t"},
  {.name = "noop(handle, integer)", .sql = "SELECT sum(noop2(" HANDLE "'k'), k)) FROM t"},
  {.name = "bloom(handle, integer)", .sql = "SELECT sum(bloom_may_contain(" HANDLE "'k'), k)) FROM t"},
  {.name = "bloom(handle, repeated integer)", .sql = "SELECT sum(bloom_may_contain(" HANDLE "'k'), r)) FROM t"},
  {.name = "abs(integer)", .sql = "SELECT sum(abs(k)) FROM t"},
  {.name = "noop(handle, text)", .sql = "SELECT sum(noop2(" HANDLE "'s'), s)) FROM t"},
  {.name = "bloom(handle, text)", .sql = "SELECT sum(bloom_may_contain(" HANDLE "'s'), s)) FROM t"},
  {.name = "length(text)", .sql = "SELECT sum(length(s)) FROM t"},
  {.name = "bloom(parameter, integer)", .sql = "SELECT sum(bloom_may_contain(?1, k)) FROM t"},
  {.name = "bloom_build(integer)", .sql = "SELECT length(bloom_build(k)) FROM t"},
  {.name = "bloom_build(text)", .sql = "SELECT length(bloom_build(s)) FROM t"},
  {.name = "max(text)", .sql = "SELECT max(s) FROM t"},
};
#define NUM_CONTESTANTS (sizeof(contestants)/sizeof(contestants[0]))

static int compare_doubles(const void *a, const void *b){
  double x = *(const double *)a, y = *(const double *)b;
  return (x>y) - (x<y);
}

int main(int argc, char **argv){
  int num_rows = argc>1 ? atoi(argv[1]) : 10000000;
  int num_repeats = argc>2 ? atoi(argv[2]) : 7;
  sqlite3 *db;
  sqlite3_stmt *filter;
  char *sql;
  size_t i;
  int repeat;
  if( num_rows<1 || num_repeats<1 || num_repeats>MAX_REPEATS ){
    fprintf(stderr, "usage: per_row [num_rows [num_repeats, 1..%d]]\n", MAX_REPEATS);
    return 2;
  }
  check(NULL, sqlite3_open(":memory:", &db));
  check(db, sqlite3_bloom_init(db, NULL, NULL));
  check(db, sqlite3_create_function(db, "noop2", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, noop2, NULL, NULL));
  /* Keys 0 .. 10^9, scattered; a tenth of the rows can match: 100,000 distinct
  ** keys of a million. */
  sql = sqlite3_mprintf(
    "CREATE TABLE t(k INTEGER, s TEXT, r INTEGER);"
    "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM c LIMIT %d)"
    " INSERT INTO t SELECT (i*7919 %% 1000000)*997, printf('key-%%012d', i*7919 %% 1000000), i/8*997 FROM c;"
    "CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);"
    "INSERT INTO filters SELECT 'k', bloom_build(i*10*997) FROM"
    " (WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM c LIMIT 100000) SELECT i FROM c);"
    "INSERT INTO filters SELECT 's', bloom_build(printf('key-%%012d', i*10)) FROM"
    " (WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM c LIMIT 100000) SELECT i FROM c);", num_rows);
  check(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
  sqlite3_free(sql);
  check(db, sqlite3_prepare_v2(db, "SELECT filter FROM filters WHERE name = 'k'", -1, &filter, NULL));
  sqlite3_step(filter);
  for(i=0; i<NUM_CONTESTANTS; i++){
    check(db, sqlite3_prepare_v2(db, contestants[i].sql, -1, &contestants[i].statement, NULL));
    sqlite3_bind_value(contestants[i].statement, 1, sqlite3_column_value(filter, 0));
  }
  for(repeat=-1; repeat<num_repeats; repeat++){ /* -1 warms up */
    for(i=0; i<NUM_CONTESTANTS; i++){
      contestant *c = &contestants[i];
      double start = now_ns();
      if( sqlite3_step(c->statement)!=SQLITE_ROW ) check(db, sqlite3_errcode(db));
      if( repeat>=0 ) c->ns[repeat] = (now_ns() - start) / num_rows;
      c->result = sqlite3_column_double(c->statement, 0);
      sqlite3_reset(c->statement);
    }
  }
  printf("SQLite %s, %d rows, %d repeats, ns per row\n", sqlite3_libversion(), num_rows, num_repeats);
  printf("%-34s %8s %8s %8s %8s  %s\n", "", "median", "least", "most", "above", "result");
  for(i=0; i<NUM_CONTESTANTS; i++){
    contestant *c = &contestants[i];
    const contestant *empty = &contestants[strstr(c->name, "text")!=NULL];
    qsort(c->ns, (size_t)num_repeats, sizeof(c->ns[0]), compare_doubles);
    printf("%-34s %8.1f %8.1f %8.1f %8.1f  %.0f\n", c->name, c->ns[num_repeats/2], c->ns[0],
           c->ns[num_repeats-1], c->ns[num_repeats/2] - empty->ns[num_repeats/2], c->result);
    sqlite3_finalize(c->statement);
  }
  sqlite3_finalize(filter);
  return sqlite3_close(db)!=SQLITE_OK;
}
