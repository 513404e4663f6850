/*
** Counts what a statement costs SQLite: pages that it reads and writes, its steps, and processor time.
** counts.py calls this, for Python's module does not say, and would take more time than a look-up.
*/
#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <time.h>

#include <sqlite3.h>

typedef sqlite3_int64 i64;

typedef struct counts {
  i64 rows, pages_read, pages_written, steps;
  double seconds;
} counts;

static double now(void){
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec*1e-9;
}

static i64 status(sqlite3 *db, int what){
  int value = 0, most;
  sqlite3_db_status(db, what, &value, &most, 1);
  return value;
}

/* Steps of all statements, a virtual table's own ones, too. */
static int step(void *steps){
  ++*(i64 *)steps;
  return 0;
}

sqlite3 *counts_open(const char *path, const char *extension){
  sqlite3 *db = NULL;
  if( sqlite3_open(path, &db)==SQLITE_OK && sqlite3_enable_load_extension(db, 1)==SQLITE_OK
      && sqlite3_load_extension(db, extension, NULL, NULL)==SQLITE_OK ) return db;
  sqlite3_close(db);
  return NULL;
}

void counts_close(sqlite3 *db){
  sqlite3_close(db);
}

const char *counts_message(sqlite3 *db){
  return sqlite3_errmsg(db);
}

/* Runs a statement, to which a value of its own is bound in each of num_values runs, and sets out[i] for
** value i.  is_cold: the page cache is emptied before each; has_steps: count these, which takes time. */
int counts_run(sqlite3 *db, const char *sql, const char *const *values, int num_values, int is_cold,
               int has_steps, counts *out){
  sqlite3_stmt *statement;
  int i, rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  for(i=0; i<num_values && rc==SQLITE_OK; i++){
    double start;
    out[i] = (counts){0};
    if( sqlite3_bind_parameter_count(statement)>0 ){
      rc = sqlite3_bind_text(statement, 1, values[i], -1, SQLITE_STATIC);
    }
    if( is_cold ) sqlite3_db_release_memory(db);
    status(db, SQLITE_DBSTATUS_CACHE_MISS);
    status(db, SQLITE_DBSTATUS_CACHE_WRITE);
    if( has_steps ) sqlite3_progress_handler(db, 1, step, &out[i].steps);
    start = now();
    if( rc==SQLITE_OK ) while( (rc = sqlite3_step(statement))==SQLITE_ROW ) out[i].rows++;
    rc = sqlite3_reset(statement);
    out[i].seconds = now() - start;
    sqlite3_progress_handler(db, 0, NULL, NULL);
    out[i].pages_read = status(db, SQLITE_DBSTATUS_CACHE_MISS);
    out[i].pages_written = status(db, SQLITE_DBSTATUS_CACHE_WRITE);
  }
  if( sqlite3_finalize(statement)!=SQLITE_OK && rc==SQLITE_OK ) rc = SQLITE_ERROR;
  return rc;
}

/* Returns the seconds of so many runs of a statement over all values, as above, or of sqlite3_prepare_v2()
** alone if there are no values; below 0 on an error. */
double counts_time(sqlite3 *db, const char *sql, const char *const *values, int num_values, int num_runs){
  sqlite3_stmt *statement = NULL;
  const double start = now();
  int i, run, rc = SQLITE_OK;
  for(run=0; run<num_runs && num_values==0 && rc==SQLITE_OK; run++){
    rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    sqlite3_finalize(statement);
  }
  if( num_values>0 ) rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  for(run=0; run<num_runs && num_values>0; run++){
    for(i=0; i<num_values && rc==SQLITE_OK; i++){
      rc = sqlite3_bind_text(statement, 1, values[i], -1, SQLITE_STATIC);
      while( rc==SQLITE_OK && sqlite3_step(statement)==SQLITE_ROW ){}
      if( rc==SQLITE_OK ) rc = sqlite3_reset(statement);
    }
  }
  if( num_values>0 ) sqlite3_finalize(statement);
  return rc==SQLITE_OK ? now() - start : -1;
}
