/*
** What the JavaScript of api.js needs beside SQLite's own functions: connections that have
** bloom, and that end a statement after a time.  A page has one thread, so an endless
** statement would leave it dead.
*/
#include <emscripten.h>
#include <sqlite3.h>
#include <stddef.h>

#include "bloom.h"

/* Of SQLite's virtual machine, between two looks at the clock: under a millisecond. */
#define OPERATIONS_PER_LOOK 10000

sqlite3 *database_open(void);
void database_limit_time(double milliseconds);

static double deadline; /* on emscripten_get_now()'s clock; 0: none */

static int is_late(void *unused){
  (void)unused;
  return deadline!=0 && emscripten_get_now()>deadline;
}

/* Counts from now on; 0 sets no limit. */
EMSCRIPTEN_KEEPALIVE void database_limit_time(double milliseconds){
  deadline = milliseconds>0 ? emscripten_get_now() + milliseconds : 0;
}

/* In memory, of its own; NULL if there is none left. */
EMSCRIPTEN_KEEPALIVE sqlite3 *database_open(void){
  sqlite3 *db;
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
  if( sqlite3_open(":memory:", &db)!=SQLITE_OK ){
    sqlite3_close(db);
    return NULL;
  }
  sqlite3_progress_handler(db, OPERATIONS_PER_LOOK, is_late, NULL);
  return db;
}
