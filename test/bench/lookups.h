/*
** What lookups.c and many_sets.c share: keys, databases with bloom in them, caches.
*/
#ifndef BLOOM_BENCH_LOOKUPS_H
#define BLOOM_BENCH_LOOKUPS_H

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../ext/bloom.h"
#include "bench.h"

#define KEY_CHARS   16
#define NUMBERS(count) "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n LIMIT " #count ")"

static inline void check(sqlite3 *db, int rc){
  if( rc!=SQLITE_OK ){
    fprintf(stderr, "%s\n", db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
    exit(1);
  }
}

static inline void exec(sqlite3 *db, const char *sql){
  check(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

static inline double now_ns(void){
  return clock_ns(CLOCK_MONOTONIC);
}

/* Key i: 16 hexadecimal digits, a different text for each i, in no order. */
static inline void write_key(sqlite3_uint64 i, char text[KEY_CHARS + 1]){
  static const char digits[] = "0123456789abcdef";
  const uint64_t z = random_of(i);
  int n;
  for(n=0; n<KEY_CHARS; n++) text[n] = digits[z >> (60 - 4*n) & 15];
  text[KEY_CHARS] = 0;
}

/* SQL: key(i) */
static inline void key_function(sqlite3_context *context, int num_args, sqlite3_value **args){
  char text[KEY_CHARS + 1];
  (void)num_args;
  write_key((sqlite3_uint64)sqlite3_value_int64(args[0]), text);
  sqlite3_result_text(context, text, KEY_CHARS, SQLITE_TRANSIENT);
}

/* A connection with bloom and key(). */
static inline sqlite3 *open_database(const char *path, int flags){
  sqlite3 *db;
  check(NULL, sqlite3_open_v2(path, &db, flags, NULL));
  check(db, sqlite3_bloom_init(db, NULL, NULL));
  check(db, sqlite3_create_function(db, "key", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, key_function, NULL, NULL));
  return db;
}

/* The statement of sql, which is freed. */
static inline sqlite3_stmt *prepared(sqlite3 *db, char *sql){
  sqlite3_stmt *statement;
  check(db, sqlite3_prepare_v2(db, sql, -1, &statement, NULL));
  sqlite3_free(sql);
  return statement;
}

static inline void close_database(sqlite3 *db, sqlite3_stmt *statement){
  sqlite3_finalize(statement);
  check(db, sqlite3_close(db));
}

/* What a command line says: FOLDER [ITEMS N] [--repeats N] [--state NAME]. */
typedef struct options {
  const char *folder;     /* for databases */
  const char *only_state; /* NULL: all */
  int num_repeats;
  sqlite3_int64 num_items;
} options;

/* Sets what the command line names; items is the name of num_items there.  0 if the
** line is wrong, or num_items is below min_items. */
static inline int read_options(int argc, char **argv, const char *items, sqlite3_int64 min_items, options *o){
  int i;
  if( argc<2 ) return 0;
  o->folder = argv[1];
  for(i=2; i+1<argc; i+=2){
    if( strcmp(argv[i], items)==0 ) o->num_items = atoll(argv[i+1]);
    else if( strcmp(argv[i], "--repeats")==0 ) o->num_repeats = atoi(argv[i+1]);
    else if( strcmp(argv[i], "--state")==0 ) o->only_state = argv[i+1];
    else return 0;
  }
  return i==argc && o->num_items>=min_items && o->num_repeats>=1 && o->num_repeats<=MAX_REPEATS;
}

/* 1 if this state is to be measured. */
static inline int is_wanted(const options *o, const char *state){
  return o->only_state==NULL || strcmp(o->only_state, state)==0;
}

/* Makes the folder for databases unless it is there. */
static inline void make_folder(const char *path){
  struct stat status;
  if( stat(path, &status) && mkdir(path, 0777) ){
    perror(path);
    exit(1);
  }
}

static inline int file_exists(const char *path){
  return access(path, R_OK)==0;
}

/* Makes a database by SQL, which is freed, in pages of page_bytes, unless it is there. */
static inline void build_database(const char *path, int page_bytes, char *sql){
  char *temporary, *pragmas;
  double start = now_ns();
  sqlite3 *db;
  if( file_exists(path) ){
    sqlite3_free(sql);
    return;
  }
  temporary = sqlite3_mprintf("%s.new", path);
  pragmas = sqlite3_mprintf("PRAGMA page_size=%d; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                            "PRAGMA cache_size=-500000", page_bytes);
  unlink(temporary);
  db = open_database(temporary, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  exec(db, pragmas);
  exec(db, sql);
  check(db, sqlite3_close(db));
  if( rename(temporary, path) ) exit(1);
  fprintf(stderr, "built %s in %.1f s\n", path, (now_ns() - start)/1e9);
  sqlite3_free(pragmas);
  sqlite3_free(temporary);
  sqlite3_free(sql);
}

/* Drops a file, none of it dirty, from the system's cache. */
static inline void drop_file(const char *path){
  int fd = open(path, O_RDONLY);
  if( fd<0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) ) exit(1);
  close(fd);
}

/* Reads a file, so that the system's cache has it. */
static inline void read_file(const char *path){
  static char buffer[1 << 20];
  int fd = open(path, O_RDONLY);
  if( fd<0 ) exit(1);
  while( read(fd, buffer, sizeof(buffer))>0 ){}
  close(fd);
}

/* Pages that SQLite's page cache had to get since the last call. */
static inline int cache_misses(sqlite3 *db){
  int now = 0, high = 0;
  sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_MISS, &now, &high, 1);
  return now;
}

/* Median, least and most of 1 .. MAX_REPEATS values. */
typedef struct spread { double median, least, most; } spread;

static inline spread spread_of(const double *values, int count){
  return (spread){quantile(values, count, 0.5), quantile(values, count, 0), quantile(values, count, 1)};
}

/* The spread of values[i] / base[i]: each pair was measured side by side. */
static inline spread ratios_of(const double *values, const double *base, int count){
  double ratios[MAX_REPEATS];
  int i;
  for(i=0; i<count; i++) ratios[i] = values[i] / base[i];
  return spread_of(ratios, count);
}

#endif
