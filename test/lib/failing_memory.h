/*
** Faults at chosen places, above all memory for SQLite that fails when it is told to: for tests
** of the installed SQLite, each one file, which includes this one.
*/
#ifndef BLOOM_TEST_FAILING_MEMORY_H
#define BLOOM_TEST_FAILING_MEMORY_H

#include <dlfcn.h>

#include "sqlite_test.h"

typedef enum failing { FAIL_ONCE, FAIL_FROM } failing;

/* What fails: an allocation, or what a test adds, from 1 on. */
enum { MEMORY };
static int failing_what;
static failing failing_mode;
static long failing_place; /* 1: the first; 0: nothing fails, and no place is counted */
static long num_places, num_failures; /* since fail_at() */
static long *counted_places; /* unless NULL, those of each kind are counted there, and nothing fails */

static void fail_at(int what, long place, failing mode){
  failing_what = what;
  failing_place = place;
  failing_mode = mode;
  num_places = num_failures = 0;
}

static void fail_no_more(void){
  failing_place = 0;
}

/* 1 if what happens now is to fail. */
static int fails_now(int what){
  if( counted_places ) counted_places[what]++;
  if( failing_place==0 || failing_what!=what ) return 0;
  num_places++;
  if( failing_mode==FAIL_FROM ? num_places<failing_place : num_places!=failing_place ) return 0;
  num_failures++;
  return 1;
}

/* ---- Memory -------------------------------------------------------------------------- */

static sqlite3_mem_methods plain_memory;
static int first_is_benign; /* SQLite said to do without the first allocation that failed */
static int benign_depth;

static void (*on_allocation)(void); /* called at each that is counted, unless NULL */

static int memory_fails_now(void){
  const int fails = fails_now(MEMORY);
  if( on_allocation && failing_place ) on_allocation();
  if( fails && num_failures==1 ) first_is_benign = benign_depth>0;
  return fails;
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
  return memory_fails_now() ? NULL : plain_memory.xMalloc(num_bytes);
}

static void *failing_realloc(void *old, int num_bytes){
  return memory_fails_now() ? NULL : plain_memory.xRealloc(old, num_bytes);
}

/* Who goes on reading finds nothing. */
static void overwriting_free(void *memory){
  if( memory ) memset(memory, 0xdd, (size_t)plain_memory.xSize(memory));
  plain_memory.xFree(memory);
}

static void install_failing_memory(void){
  sqlite3_mem_methods failing_memory;
  must(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain_memory), NULL);
  failing_memory = plain_memory;
  failing_memory.xMalloc = failing_malloc;
  failing_memory.xRealloc = failing_realloc;
  failing_memory.xFree = overwriting_free;
  must(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing_memory), NULL);
  must(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1), NULL);
  must(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), NULL);
  must(sqlite3_test_control(SQLITE_TESTCTRL_BENIGN_MALLOC_HOOKS, begin_benign, end_benign), NULL);
  must(sqlite3_initialize(), NULL);
}

/* ---- What fails ------------------------------------------------------------------------ */

/* The extension's entry point, as a program calls it that links the library itself. */
static void (*entry_point(const char *extension))(void){
  void (*init)(void) = NULL;
  void *library = dlopen(extension, RTLD_NOW);
  if( library ) *(void **)&init = dlsym(library, "sqlite3_bloom_init");
  if( init==NULL ){
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return init;
}

/* The parts of a file of SQL, which lines of dashes part; after the last comes NULL. */
__attribute__((unused)) static char **read_parts(const char *name){
  enum { MAX_PARTS = 60, MAX_CHARS = 1 << 18 };
  static const char line[] = "\n----\n";
  static char chars[MAX_CHARS], *parts[MAX_PARTS + 1];
  FILE *file = fopen(name, "r");
  char *part = chars;
  int i;
  if( file==NULL || fread(chars, 1, MAX_CHARS, file)==MAX_CHARS ){
    perror(name);
    exit(1);
  }
  fclose(file);
  for(i=0; part && i<MAX_PARTS; i++){
    parts[i] = part;
    part = strstr(part, line);
    if( part ){
      *part = 0;
      part += strlen(line);
    }
  }
  if( part ) abort();
  return parts;
}

#endif
