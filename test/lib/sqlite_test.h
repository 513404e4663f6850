/*
** What programs share that test the extension by SQLite's C interface, for C11 and C++.
*/
#ifndef BLOOM_SQLITE_TEST_H
#define BLOOM_SQLITE_TEST_H

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* For what a test does not test: ends the program unless a call of SQLite's succeeds.  The
** connection, for its words, may be NULL. */
#define must(call, db) must_be_ok(call, #call, db)

__attribute__((unused)) static void must_be_ok(int rc, const char *call, sqlite3 *db){
  if( rc==SQLITE_OK ) return;
  fprintf(stderr, "%s: %s\n", call, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
  exit(1);
}

/* A connection to a new database in memory, which may load extensions. */
__attribute__((unused)) static sqlite3 *open_in_memory(void){
  sqlite3 *db;
  must(sqlite3_open(":memory:", &db), NULL);
  must(sqlite3_enable_load_extension(db, 1), db);
  return db;
}

/* Ends the program unless it has these arguments, of which the last may be the VERSION of SQLite
** that it must run on. */
__attribute__((unused)) static void must_have_args(int num_args, char **args, const char *usage){
  if( num_args!=2 && num_args!=3 ){
    fprintf(stderr, "usage: %s\n", usage);
    exit(2);
  }
  if( num_args==3 && strcmp(args[2], sqlite3_libversion())!=0 ){
    fprintf(stderr, "%s: this is SQLite %s, not %s\n", args[0], sqlite3_libversion(), args[2]);
    exit(2);
  }
}

#endif
