/*
** Memory for SQLite that fails when it is told to: for tests of the installed SQLite, each
** one file, which includes this one.
*/
#ifndef BLOOM_TEST_FAILING_MEMORY_H
#define BLOOM_TEST_FAILING_MEMORY_H

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum failing { FAIL_ONCE, FAIL_FROM } failing;
static const char *const failing_names[] = {"alone", "and all that follow"};

static sqlite3_mem_methods plain_memory;
static long num_until_failure; /* allocations; 0: none fails */
static failing failing_mode;
static long num_failures; /* since fail_allocation() */
static int first_is_benign; /* SQLite said to do without the first of these */
static int benign_depth;

static void fail_allocation(long number, failing mode){
  num_until_failure = number;
  failing_mode = mode;
  num_failures = 0;
}

static void fail_no_more(void){
  num_until_failure = 0;
}

static int must_fail(void){
  if( num_until_failure==0 || (num_until_failure>1 && num_until_failure--) ) return 0;
  /* 1 stays 1, so that the next fails too. */
  if( failing_mode==FAIL_ONCE ) num_until_failure = 0;
  if( num_failures++==0 ) first_is_benign = benign_depth>0;
  return 1;
}

/* SQLite brackets by these what it does without where memory fails, such as the copy of
** an error's text. */
static void begin_benign(void){
  benign_depth++;
}

static void end_benign(void){
  benign_depth--;
}

static void *failing_malloc(int num_bytes){
  return must_fail() ? NULL : plain_memory.xMalloc(num_bytes);
}

static void *failing_realloc(void *old, int num_bytes){
  return must_fail() ? NULL : plain_memory.xRealloc(old, num_bytes);
}

/* Who goes on reading finds nothing. */
static void overwriting_free(void *memory){
  if( memory ) memset(memory, 0xdd, (size_t)plain_memory.xSize(memory));
  plain_memory.xFree(memory);
}

static void must(int rc, const char *what){
  if( rc!=SQLITE_OK ){
    fprintf(stderr, "%s: %s\n", what, sqlite3_errstr(rc));
    exit(1);
  }
}

static void install_failing_memory(void){
  sqlite3_mem_methods failing_memory;
  must(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain_memory), "SQLITE_CONFIG_GETMALLOC");
  failing_memory = plain_memory;
  failing_memory.xMalloc = failing_malloc;
  failing_memory.xRealloc = failing_realloc;
  failing_memory.xFree = overwriting_free;
  must(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing_memory), "SQLITE_CONFIG_MALLOC");
  must(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1), "SQLITE_CONFIG_MEMSTATUS");
  must(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), "SQLITE_CONFIG_LOOKASIDE");
  must(sqlite3_test_control(SQLITE_TESTCTRL_BENIGN_MALLOC_HOOKS, begin_benign, end_benign),
       "SQLITE_TESTCTRL_BENIGN_MALLOC_HOOKS");
  must(sqlite3_initialize(), "sqlite3_initialize()");
}

#endif
