/*
** Limits and interruption, as a program that uses SQLite's C interface meets them.
**
**     limits EXTENSION [VERSION]
**
** With VERSION it refuses to run on another SQLite.
** A filter longer than SQLITE_LIMIT_LENGTH is SQLite's own "string or blob too big",
** found before memory is allocated for it.  An interrupt ends every statement with
** SQLITE_INTERRUPT, whether it comes from a progress handler, from the statement itself or
** from another thread; the statements here would not end otherwise.  After either, memory is
** back at its base and the connection works.  What statements take at most while they run
** is checked as well, that a rate said to be in reach is, and that sizes are found soon.
**
** A product that is broken fails here, too, and does not grow or go on for ever: see
** limit_itself().  Prints `N passed, N failed` last.
*/
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/sqlite_test.h"

/* Keys without end. */
#define ENDLESS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
/* The keys 1 .. ?1. */
#define KEYS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?1) "

static const char *extension;

#define check(is_right, what, sql, got) tally(is_right, "%s; it was %lld\n  %s", what, (long long)(got), sql)

/* Many times what is needed. */
#define MAX_SECONDS 60 /* of processor time */
#define MAX_MEMORY  ((rlim_t)1 << 28)

static void out_of_time(int signal_number){
  static const char message[] = "FAILED: a statement does not end\n0 passed, 1 failed\n";
  (void)signal_number;
  _exit(write(STDOUT_FILENO, message, sizeof(message) - 1)>0 ? 1 : 2);
}

static void lower_limit(int resource, rlim_t most){
  struct rlimit limit;
  if( getrlimit(resource, &limit)!=0 ) abort();
  if( limit.rlim_cur>most ) limit.rlim_cur = most;
  if( setrlimit(resource, &limit)!=0 ) abort();
}

/* Memory then fails, which a check sees; out of time is a failure of its own. */
static void limit_itself(void){
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal(SIGXCPU, out_of_time);
  lower_limit(RLIMIT_CPU, MAX_SECONDS);
  lower_limit(RLIMIT_AS, MAX_MEMORY);
}

/* Runs a statement, ?1 bound; returns the error or SQLITE_OK, and the last row's first column
** in *number if it is not NULL. */
static int run(sqlite3 *db, const char *sql, sqlite3_int64 argument, sqlite3_int64 *number){
  sqlite3_stmt *statement;
  int rc;
  must(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), db);
  if( sqlite3_bind_parameter_count(statement) ) sqlite3_bind_int64(statement, 1, argument);
  while( (rc = sqlite3_step(statement))==SQLITE_ROW ){
    if( number ) *number = sqlite3_column_int64(statement, 0);
  }
  sqlite3_finalize(statement);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

static sqlite3 *open_database(void){
  sqlite3 *db = open_in_memory();
  must(sqlite3_load_extension(db, extension, NULL, NULL), db);
  must(run(db, "SELECT 1 FROM bloom_info(x'06')", 0, NULL), db); /* a table that SQLite keeps from then on */
  /* Sizes of rates, which each of these functions keeps from then on. */
  must(run(db, "SELECT bloom_build(1, 0.5), bloom_build(1, 0.5, 'parquet'), bloom_build(1, 0.5, 1, 'parquet'), bloom_empty(1, 0.5),"
               " bloom_build_sets(1, 1, 0.5), bloom_build_sets(1, 1, 0.5, 1), bloom_filter_block_build(1, 1, 0.5),"
               " bloom_bits_per_key(0.5), bloom_bits_per_key(0.5, 1), bloom_bits_per_key(0.5, 1, 'parquet')", 0, NULL), db);
  return db;
}

/* Memory at its base and a connection that works. */
static void check_unharmed(sqlite3 *db, sqlite3_int64 base, const char *sql){
  sqlite3_int64 answer = 0;
  sqlite3_db_release_memory(db);
  /* The text of an error stays with its connection. */
  check(sqlite3_memory_used()<=base + 1000, "memory should be back at its base", sql, sqlite3_memory_used() - base);
  check(run(db, "SELECT bloom_may_contain(bloom_build('a'), 'a')", 0, &answer)==SQLITE_OK && answer==1,
        "the next statement should work", sql, answer);
}

#define ANY_MEMORY INT64_MAX

/* A statement returns this result, takes at most so much memory for it, and does no harm. */
static void check_run(sqlite3 *db, const char *sql, sqlite3_int64 argument, int expected, sqlite3_int64 max_bytes){
  const sqlite3_int64 base = sqlite3_memory_used();
  int rc;
  sqlite3_memory_highwater(1);
  rc = run(db, sql, argument, NULL);
  check(rc==expected, sqlite3_errstr(expected), sql, rc);
  check(sqlite3_memory_highwater(0) - base<=max_bytes, "it should take less memory", sql, sqlite3_memory_highwater(0) - base);
  check_unharmed(db, base, sql);
}

/* ---- SQLITE_LIMIT_LENGTH ------------------------------------------------------------ */

#define SMALL_LIMIT 1000

/* With up to fits for ?1 a filter has at most SMALL_LIMIT bytes, with one more it has more. */
static const struct {
  const char *sql;
  int fits;
} length_rows[] = {
  {KEYS "SELECT length(bloom_build(i)) FROM n", 799},
  {KEYS "SELECT length(bloom_filter_block_build(0, i)) FROM n", 792},
  {"SELECT length(bloom_filter_block_build(?1 * 2048, 'a'))", 245},
  {"SELECT length(bloom_filter_block_build(?1 * 2048, NULL))", 248},
  {KEYS "SELECT length(bloom_build(i, 100)) FROM n", 79},
  {KEYS "SELECT length(bloom_build(i, 1)) FROM n", 7992},
  /* The size of the rate, 9.7 bits a key and 1.5, decides. */
  {KEYS "SELECT length(bloom_build(i, 0.01)) FROM n", 815},
  {"SELECT length(bloom_empty(?1, 0.01))", 815},
  {"SELECT length(bloom_build_sets(0, 'a', 0.5, ?1))", 160},
  {"SELECT length(bloom_build('a', 10, ?1))", 799},
  {"SELECT length(bloom_build(NULL, 9.25, ?1))", 864},
  {"SELECT length(filter) FROM (SELECT bloom_build('a', 10, ?1) OVER () AS filter)", 799},
  {KEYS "SELECT max(length(filter)) FROM (SELECT bloom_build(i) OVER (ORDER BY i) AS filter FROM n)", 799},
  {KEYS "SELECT max(length(filter)) FROM (SELECT bloom_build(i, 20) OVER (ORDER BY i ROWS BETWEEN 399 PRECEDING AND 0 FOLLOWING) AS filter FROM n)", 399},
  {KEYS "SELECT max(length(filter)) FROM (SELECT bloom_build(i) AS filter FROM n GROUP BY i % 2)", 1598},
  {"SELECT length(bloom_empty(?1))", 799},
  {"SELECT length(bloom_empty(?1, 100))", 79},
  {"SELECT length(bloom_add(bloom_empty(?1), 'a'))", 799},
  {"SELECT length(bloom_merge(bloom_empty(?1)))", 799},
  {"SELECT num_bytes FROM bloom_info(bloom_empty(?1))", 799},
  /* 30 blocks and a header of 16 bytes are 976; one block more is too much. */
  {KEYS "SELECT length(bloom_build(i, 'parquet')) FROM n", 768},
  {KEYS "SELECT length(bloom_build(i, 100, 'parquet')) FROM n", 76},
  {"SELECT length(bloom_build('a', 10, ?1, 'parquet'))", 768},
  {KEYS "SELECT max(length(filter)) FROM (SELECT bloom_build(i, 'parquet') OVER (ORDER BY i) AS filter FROM n)", 768},
  /* A handle is as large as a BLOB would be. */
  {KEYS "SELECT 976 * (bloom_filter(i) IS NULL) FROM n", 724},
  {KEYS "SELECT 976 * (bloom_filter(i, i || 'x') IS NULL) FROM n", 724},
  {KEYS "SELECT 976 * (max(f) IS NULL) FROM (SELECT bloom_filter(i) OVER (ORDER BY i) AS f FROM n)", 724},
  {"SELECT length(bloom_empty(?1, 'parquet'))", 768},
  {"SELECT length(bloom_add(bloom_empty(?1, 'parquet'), 'a'))", 768},
  {"SELECT length(bloom_merge(bloom_empty(?1, 'parquet')))", 768},
  /* 241 units of 4 bytes: the next prime is 251.  191 units of 5 bytes. */
  {KEYS "SELECT length(bloom_build_sets(0, i, 1)) FROM n", 241},
  {KEYS "SELECT length(bloom_build_sets(i % 4, i, 1)) FROM n", 964},
  {"SELECT length(bloom_build_sets(0, 'a', 1, ?1))", 241},
  {"SELECT length(bloom_build_sets(?1, 'a'))", 39},
  {"SELECT length(bloom_build_sets(?1, NULL, 1, 100))", 39},
  {"SELECT length(bloom_tuple(zeroblob(?1), 'a'))", 989},
};

static void check_small_limit(void){
  size_t i;
  for(i=0; i<COUNT_OF(length_rows); i++){
    const char *sql = length_rows[i].sql;
    sqlite3 *db = open_database();
    sqlite3_int64 length = 0;
    int rc;
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, SMALL_LIMIT);
    rc = run(db, sql, length_rows[i].fits, &length);
    check(rc==SQLITE_OK, "it should fit", sql, rc);
    check(length>SMALL_LIMIT-32 && length<=SMALL_LIMIT, "it should just fit", sql, length);
    check_run(db, sql, length_rows[i].fits + 1, SQLITE_TOOBIG, ANY_MEMORY);
    run(db, sql, length_rows[i].fits + 1, NULL);
    check(strcmp(sqlite3_errmsg(db), "string or blob too big")==0, "it should be SQLite's own error", sql, 0);
    sqlite3_close(db);
  }
}

/* Sizes around 2^31, 2^32, 2^53, 2^63 bits, bytes and keys: too big at once, none built. */
static void check_huge_sizes(void){
  static const sqlite3_int64 powers[] = {33, 35, 40, 52, 53, 54, 56, 57, 60, 62};
  static const char *const forms[] = {
    "SELECT bloom_empty(?1)",
    "SELECT bloom_empty(?1, 100)",
    "SELECT bloom_build('a', 10, ?1)",
    "SELECT bloom_filter_block_build(CASE WHEN ?1 < 1 << 52 THEN ?1 * 1024 ELSE ?1 END, 'a')",
    "SELECT bloom_build('a', 99.9, ?1) OVER ()",
    "SELECT bloom_add(bloom_empty(?1), 1)",
    "SELECT bloom_merge(bloom_empty(?1))",
    "SELECT * FROM bloom_info(bloom_empty(?1))",
    "SELECT bloom_open(bloom_empty(?1))",
    "SELECT bloom_empty(?1, 'parquet')",
    "SELECT bloom_build('a', 99.9, ?1, 'parquet')",
    "SELECT bloom_build_sets(7, 'a', 10, ?1)",
    "SELECT bloom_build_sets(?1, 'a')",
    "SELECT bloom_build_sets(?1, NULL, 1, 1)",
  };
  size_t form, i;
  for(form=0; form<COUNT_OF(forms); form++){
    sqlite3 *db = open_database();
    for(i=0; i<3*COUNT_OF(powers) + 1; i++){
      const sqlite3_int64 capacity = i<3*COUNT_OF(powers) ? ((sqlite3_int64)1 << powers[i/3]) + (sqlite3_int64)(i%3) - 1
                                                          : INT64_MAX;
      check_run(db, forms[form], capacity, SQLITE_TOOBIG, 199999);
    }
    sqlite3_close(db);
  }
}

/* Too many keys are found out as they come in, not at an end that may never be. */
static void check_endless_keys(void){
  static const char *const forms[] = {
    ENDLESS "SELECT bloom_build(i) FROM n",
    ENDLESS "SELECT bloom_filter_block_build(0, i) FROM n",
    ENDLESS "SELECT bloom_build_sets(i % 7, i) FROM n",
    ENDLESS "SELECT bloom_build(i, 0.01) FROM n",
    ENDLESS "SELECT bloom_build(i, 0.001, 'parquet') FROM n",
    ENDLESS "SELECT bloom_filter_block_build(0, i, 0.01) FROM n",
    ENDLESS "SELECT bloom_build_sets(i % 7, i, 0.01) FROM n",
    ENDLESS "SELECT bloom_build_sets(CASE WHEN i < 4000 THEN i ELSE 5 END, i) FROM n",
    ENDLESS "SELECT bloom_build_sets(i, i, 10, 5) FROM n",
    ENDLESS "SELECT bloom_filter(i) FROM n",
    ENDLESS "SELECT bloom_filter(i || '.5e20', i) FROM n",
  };
  size_t form;
  for(form=0; form<COUNT_OF(forms); form++){
    sqlite3 *db = open_database();
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 100000); /* bytes: 80,000 keys */
    check_run(db, forms[form], 0, SQLITE_TOOBIG, 1999999);
    sqlite3_close(db);
  }
}

/* Handles outlive a limit: what is made of them must not pass it. */
static void check_limit_lowered(void){
  static const char *const forms[] = {
    "SELECT length(bloom_add((SELECT bloom_open(bloom_empty(5000))), i)) FROM (SELECT 1 AS i UNION ALL SELECT 2)",
    "SELECT length(bloom_merge((SELECT bloom_open(bloom_empty(5000))))) FROM (SELECT 1 AS i UNION ALL SELECT 2) GROUP BY i",
  };
  size_t form;
  for(form=0; form<COUNT_OF(forms); form++){
    sqlite3 *db = open_database();
    sqlite3_int64 base = sqlite3_memory_used();
    sqlite3_stmt *statement;
    int rc;
    must(sqlite3_prepare_v2(db, forms[form], -1, &statement, NULL), db);
    rc = sqlite3_step(statement);
    check(rc==SQLITE_ROW && sqlite3_column_int(statement, 0)==6251, "the first row should come", forms[form], rc);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, SMALL_LIMIT);
    rc = sqlite3_step(statement);
    check(rc==SQLITE_TOOBIG, "the second row should return SQLITE_TOOBIG", forms[form], rc);
    sqlite3_finalize(statement);
    check_unharmed(db, base, forms[form]);
    sqlite3_close(db);
  }
}

/* A filter that stays up to date writes no page longer than the limit, and is as it was then. */
static void check_table_limit(void){
  static const char rebuild[] = "INSERT INTO f(f) VALUES ('rebuild')", probe[] = "SELECT count(*) FROM f(7)";
  sqlite3 *db = open_database();
  sqlite3_int64 answer = 0;
  int rc, limit;
  must(sqlite3_exec(db, "CREATE TABLE t(k); INSERT INTO t VALUES (7); CREATE VIRTUAL TABLE f USING bloom(t, k)", NULL, NULL, NULL), db);
  limit = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, SMALL_LIMIT);
  rc = run(db, rebuild, 0, NULL);
  check(rc==SQLITE_TOOBIG, "it should return SQLITE_TOOBIG", rebuild, rc);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, limit);
  check(run(db, probe, 0, &answer)==SQLITE_OK && answer==1, "it should still be found", probe, answer);
  check(run(db, rebuild, 0, NULL)==SQLITE_OK, "it should work again", rebuild, 0);
  sqlite3_close(db);
}

/* Errors whose text is longer than the limit are errors still. */
static void check_tiny_limit(void){
  static const char *const forms[] = {
    "SELECT bloom_open(1.5)", "SELECT bloom_build('a', 1000)", "SELECT bloom_partition(1, 'x')",
    "SELECT bloom_bits_per_key(5)", "SELECT bloom_add(x'06', 1)", "SELECT * FROM bloom_info(5)",
    "SELECT bloom_build_sets(1, 1)", "SELECT bloom_build_sets(-1, 1)",
    "SELECT bloom_key(1, 'x')", "SELECT bloom_filter_block_build(-1, 1)",
  };
  size_t form;
  for(form=0; form<COUNT_OF(forms); form++){
    sqlite3 *db = open_database();
    sqlite3_int64 base = sqlite3_memory_used();
    int rc;
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 60);
    rc = run(db, forms[form], 0, NULL);
    check(rc!=SQLITE_OK, "it should fail", forms[form], rc);
    check_unharmed(db, base, forms[form]);
    sqlite3_close(db);
  }
}

/* ---- Memory ------------------------------------------------------------------------- */

/* What a statement must have; SQLITES_PART is for what SQLite needs to run it.  A filter is only
** compared with NULL, since SQLite copies what it hands on. */
#define SQLITES_PART 120000
static const struct {
  const char *sql;
  int num_keys;
  sqlite3_int64 max_bytes;
} memory_rows[] = {
  /* 4 bytes a key, at most a chunk of 65,536 that is not full, and the filter. */
  {KEYS "SELECT bloom_build(i) IS NULL FROM n", 270000, 4*(270000 + 65536) + 337501},
  /* Of 'parquet' 8 bytes a key, and as large a chunk. */
  {KEYS "SELECT bloom_build(i, 'parquet') IS NULL FROM n", 270000, 8*(270000 + 65536) + 337521},
  {KEYS "SELECT bloom_build(i, 10, 4000000, 'parquet') IS NULL FROM n", 40000, 5000018 + 8*2*16384},
  /* With capacity the filter and 16,384 keys, in chunks that double. */
  {KEYS "SELECT bloom_build(i, 10, 4000000) IS NULL FROM n", 40000, 5000001 + 4*2*16384},
  /* Of many sets 12 bytes a key, chunks of 8 and 4 bytes a key that are not full, counts, the
  ** file; with capacity the file, one of half its sets while it grows, and 16,384 keys. */
  {KEYS "SELECT bloom_build_sets(i % 10, i) IS NULL FROM n", 270000, 12*(270000 + 65536) + 4*270001 + 1000},
  {KEYS "SELECT bloom_build_sets(i / 1000, i, 10, 1000) IS NULL FROM n", 400000, 10007*75 + 10007*50 + 12*2*16384},
  /* 8 bytes a key for a filter block, which has a filter for every 2,048 of these. */
  {KEYS "SELECT bloom_filter_block_build(i, i) IS NULL FROM n", 270000, 2*4*(270000 + 65536) + 337501 + 132*(2 + 8)},
  /* 8 bytes a key, or twice that of a large number's text, and the bits: few enough that no buffer is kept. */
  {KEYS "SELECT bloom_filter(i) IS NULL FROM n", 49000, 8*(49000 + 65536) + 65000},
  {KEYS "SELECT bloom_filter(i || 'e20') IS NULL FROM n", 24000, 2*8*24000 + 8*65536 + 65000},
  /* Small groups are small. */
  {"SELECT sum(bloom_may_contain(f, 1)) FROM (SELECT bloom_filter(i) AS f FROM groups WHERE g <= ?1 GROUP BY g)", 10000, 0},
  {"SELECT sum(length(f)) FROM (SELECT bloom_build(i) AS f FROM groups WHERE g <= ?1 GROUP BY g)", 10000, 0},
  /* A handle that is closed takes nothing, nor do its copies. */
  {KEYS "SELECT sum(bloom_may_contain(bloom_open(CAST(i AS BLOB)), i)) FROM n", 1000000, 0},
  {KEYS "SELECT sum(bloom_may_contain(nullif(bloom_open(CAST(i AS BLOB)), i), i)) FROM n", 1000000, 0},
};

static void check_memory(void){
  size_t i;
  for(i=0; i<COUNT_OF(memory_rows); i++){
    sqlite3 *db = open_database();
    must(sqlite3_exec(db, "CREATE TABLE groups(g, i, PRIMARY KEY (g, i)) WITHOUT ROWID;"
                          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000)"
                          " INSERT INTO groups SELECT (i + 9) / 10, i FROM n", NULL, NULL, NULL), db);
    check_run(db, memory_rows[i].sql, memory_rows[i].num_keys, SQLITE_OK, memory_rows[i].max_bytes + SQLITES_PART);
    sqlite3_close(db);
  }
}

/* A file whose sets come in ascending order is copied some dozens of times at most while it
** grows, also between a half and all of the length limit: allocations of half of it and more. */
static int num_large;
static sqlite3 *large_interrupts; /* is interrupted by such an allocation, if not NULL */
static sqlite3_mem_methods system_memory, counting_memory;

static void *count_large(int num_bytes){
  if( num_bytes>=2000000 ){
    num_large++;
    if( large_interrupts ) sqlite3_interrupt(large_interrupts);
  }
  return system_memory.xMalloc(num_bytes);
}

static void check_file_grows_in_leaps(void){
  static const char sql[] = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT ?1) SELECT length(bloom_build_sets(i / 100, i, 1, 190)) FROM n";
  sqlite3 *db = open_database();
  sqlite3_int64 length = 0;
  int rc;
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 4000000);
  num_large = 0;
  rc = run(db, sql, 16000000, &length);
  check(rc==SQLITE_OK && length==191 * 20000 + 32, "it should fit", sql, length);
  check(num_large<=4, "it should be copied once more at most; large allocations", sql, num_large);
  sqlite3_close(db);
}

/* ---- Rates ---------------------------------------------------------------------------- */

/* bloom_bits_per_key(rate, num_keys, encoding) */
static int request_rate(sqlite3 *db, double rate, sqlite3_int64 num_keys, const char *encoding){
  char *sql = sqlite3_mprintf("SELECT bloom_bits_per_key(%!.17g, %lld, '%s')", rate, num_keys, encoding);
  int rc = run(db, sql, 0, NULL);
  sqlite3_free(sql);
  return rc;
}

/* The rate that an error says is in reach, asked for, is; one 3 % lower is not.  Where none
** below 0.98 is said to be, none is. */
static void check_rate_in_reach(const char *encoding){
  static const sqlite3_int64 numbers_of_keys[] = {
    1, 2, 3, 4, 5, 34, 80, 255, 340, 20400, 3000000, 1000000000, 1500000000, 4294967296, 16000000000, 17000000000,
    1000000000000000000, INT64_MAX,
  };
  static const char sql[] = "SELECT bloom_bits_per_key(rate, num_keys, encoding)";
  sqlite3 *db = open_database();
  sqlite3_uint64 random = 1;
  size_t i;
  for(i=0; i<COUNT_OF(numbers_of_keys) + 100; i++){
    sqlite3_int64 num_keys;
    const char *in_reach;
    random = random * 6364136223846793005u + 1442695040888963407u; /* [Knuth's MMIX] */
    num_keys = i<COUNT_OF(numbers_of_keys) ? numbers_of_keys[i]
                                           : (sqlite3_int64)(random >> (1 + random/8%62)) + 1;
    check(request_rate(db, 1e-20, num_keys, encoding)==SQLITE_ERROR, "1e-20 should be out of reach; num_keys", sql, num_keys);
    in_reach = strstr(sqlite3_errmsg(db), "; ");
    if( strstr(sqlite3_errmsg(db), "; 1 is in reach; ") ){
      check(request_rate(db, 0.98, num_keys, encoding)==SQLITE_ERROR, "it should be out of reach; num_keys", sql, num_keys);
    }else{
      const double rate = in_reach ? strtod(in_reach + 2, NULL) : 0;
      check(request_rate(db, rate, num_keys, encoding)==SQLITE_OK, "what is said to be in reach should be; num_keys", sql, num_keys);
      check(request_rate(db, rate / 1.03, num_keys, encoding)==SQLITE_ERROR, "less should not be; num_keys", sql, num_keys);
    }
  }
  sqlite3_close(db);
}

/* Fails unless work, in a process of its own, succeeds in so much processor time. */
static void check_soon(int (*work)(const char *sql), const char *sql, rlim_t max_seconds, const char *what){
  const pid_t child = fork();
  int status = 0;
  if( child==0 ){
    signal(SIGXCPU, SIG_DFL);
    lower_limit(RLIMIT_CPU, max_seconds);
    _exit(work(sql));
  }
  if( child<0 || waitpid(child, &status, 0)!=child ) abort();
  check(status==0, what, sql, status);
}

/* A view in anybody's database may ask for a size, whatever it is. */
static const struct { double rate; sqlite3_int64 num_keys; } slow_sizes[] = {
  /* What took seconds once. */
  {1.10936e-06, 4098}, {1.1985050e-06, 4583}, {4.2016e-06, 17522},
  /* What takes longest: most sizes tried, most hashes each. */
  {1.1133361e-05, 35000}, {1.9568472e-05, 66000}, {6.89946e-05, 120000}, {0.000146665589, 349766},
  {0.00076060673, 1000000}, {0.0014687895, 4700000}, {0.30829154, 1000000000},
  /* Out of reach, barely. */
  {0.00023284, 1000000}, {0.0023283, 10000000}, {0.02301, 100000000},
};
#define NUM_SIZES (8 * COUNT_OF(slow_sizes))

static int ask_for_sizes(const char *unused){
  sqlite3 *db = open_database();
  size_t i;
  (void)unused;
  for(i=0; i<NUM_SIZES; i++){
    request_rate(db, slow_sizes[i % COUNT_OF(slow_sizes)].rate, slow_sizes[i % COUNT_OF(slow_sizes)].num_keys, "leveldb");
  }
  return 0;
}

static int look_rates_up(const char *sql){
  return run(open_database(), sql, 4000, NULL)!=SQLITE_OK;
}

static void check_rates_are_quick(void){
  static const char *const forms[] = {
    KEYS "SELECT max(f) IS NULL FROM (SELECT bloom_build(i, 1.9568472e-05, 66000) OVER (ORDER BY i ROWS 1 PRECEDING) AS f FROM n)",
    KEYS "SELECT max(f) IS NULL FROM (SELECT bloom_build(i, 1.9568472e-05, 66000) AS f FROM n GROUP BY i)",
    KEYS "SELECT max(bloom_empty(66000 + 0 * i, 1.9568472e-05)) IS NULL FROM n",
    KEYS "SELECT max(bloom_bits_per_key(1.9568472e-05, 66000 + i % 3)) IS NULL FROM n",
  };
  size_t form;
  check_soon(ask_for_sizes, "SELECT bloom_bits_per_key(rate, num_keys)", (rlim_t)NUM_SIZES * 50 / 1000,
             "sizes should be found in 50 ms each, on the average; status");
  /* If each row looked the rate up, it would take a hundred times as long. */
  for(form=0; form<COUNT_OF(forms); form++){
    check_soon(look_rates_up, forms[form], 10, "it should look a rate up once for each number of keys; status");
  }
}

/* ---- Interrupts -------------------------------------------------------------------- */

/* Each calls at() while it scans. */
static const char *const endless_statements[] = {
  ENDLESS "SELECT bloom_build(at(i)) FROM n",
  ENDLESS "SELECT bloom_build(at(i), 10, 1000) FROM n",
  ENDLESS "SELECT bloom_build(i) FROM n GROUP BY at(i) / 1000",
  ENDLESS "SELECT bloom_build(DISTINCT at(i)) FROM n",
  ENDLESS "SELECT bloom_build(i) OVER (ORDER BY i) FROM n WHERE at(i)",
  ENDLESS "SELECT bloom_build(i, 10, 100) OVER (ROWS BETWEEN 9 PRECEDING AND 9 FOLLOWING) FROM n WHERE at(i)",
  ENDLESS "SELECT sum(bloom_may_contain((SELECT bloom_open(bloom_build(1))), at(i))) FROM n",
  ENDLESS "SELECT bloom_filter(at(i)) FROM n",
  ENDLESS "SELECT bloom_filter(i, -i) FROM n GROUP BY at(i) / 1000",
  ENDLESS "SELECT bloom_filter(i) OVER (ORDER BY i) FROM n WHERE at(i)",
  ENDLESS "SELECT sum(bloom_may_contain((SELECT bloom_filter(1, 2)), i, at(i))) FROM n",
  ENDLESS "SELECT max(bloom_add(bloom_empty(100), at(i))) FROM n",
  ENDLESS "SELECT bloom_merge(bloom_add(bloom_empty(100), at(i))) FROM n",
  ENDLESS "SELECT sum((SELECT num_bits FROM bloom_info(bloom_empty(at(i) % 1000)))) FROM n",
  ENDLESS "SELECT bloom_filter_block_build(i, at(i)) FROM n",
  ENDLESS "SELECT sum((SELECT count(filter) FROM bloom_filter_block(zeroblob(at(i) % 1000 + 5)))) FROM n",
  ENDLESS "SELECT sum(length(bloom_key(at(i), 'varint64'))) FROM n",
  ENDLESS "SELECT sum(bloom_partition(at(i), 99)) FROM n",
  ENDLESS "SELECT sum(length(bloom_tuple(at(i), i))) FROM n",
  ENDLESS "SELECT bloom_build_sets(i % 9, at(i)) FROM n",
  ENDLESS "SELECT bloom_build_sets(i % 9, at(i), 10, 1000) FROM n",
  ENDLESS "SELECT sum((SELECT count(*) FROM bloom_sets((SELECT bloom_open(bloom_build_sets(1, 1))), at(i)))) FROM n",
  ENDLESS "SELECT sum(bloom_bits_per_key(0.5, at(i) * 0)) FROM n",
  ENDLESS "SELECT bloom_build(at(i), 'parquet') FROM n",
  ENDLESS "SELECT bloom_build(at(i), 10, 1000, 'parquet') FROM n",
  ENDLESS "SELECT bloom_merge(bloom_add(bloom_empty(100, 'parquet'), at(i))) FROM n",
};

#define INTERRUPTED_ROW 30000

typedef enum interrupter { BY_PROGRESS, BY_STATEMENT, BY_THREAD } interrupter;
static const char *const interrupter_names[] = {"a progress handler", "the statement", "another thread"};

typedef struct scan {
  sqlite3 *db;
  interrupter by;
  atomic_int is_far;  /* INTERRUPTED_ROW was reached */
  atomic_int is_over; /* the statement ended */
  sqlite3_int64 memory; /* in use when it was reached */
} scan;

/* at(i): i, and notices row INTERRUPTED_ROW. */
static void at(sqlite3_context *context, int num_args, sqlite3_value **args){
  scan *running = sqlite3_user_data(context);
  (void)num_args;
  if( sqlite3_value_int64(args[0])==INTERRUPTED_ROW ){
    atomic_store(&running->is_far, 1);
    running->memory = sqlite3_memory_used();
    sqlite3_memory_highwater(1);
    if( running->by==BY_STATEMENT ) sqlite3_interrupt(running->db);
  }
  sqlite3_result_value(context, args[0]);
}

static int progress(void *data){
  scan *running = data;
  return running->by==BY_PROGRESS && atomic_load(&running->is_far);
}

static void *interrupt_from_thread(void *data){
  scan *running = data;
  while( !atomic_load(&running->is_over) ){
    if( atomic_load(&running->is_far) ) sqlite3_interrupt(running->db);
  }
  return NULL;
}

static void check_interrupt(const char *sql, interrupter by){
  scan running = {.by = by};
  sqlite3 *db = running.db = open_database();
  sqlite3_int64 base;
  pthread_t thread;
  int rc;
  must(sqlite3_create_function(db, "at", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, &running, at, NULL, NULL), db);
  sqlite3_progress_handler(db, 1000, progress, &running);
  base = sqlite3_memory_used();
  if( by==BY_THREAD && pthread_create(&thread, NULL, interrupt_from_thread, &running)!=0 ) abort();
  rc = run(db, sql, 0, NULL);
  atomic_store(&running.is_over, 1);
  if( by==BY_THREAD ) pthread_join(thread, NULL);
  check(rc==SQLITE_INTERRUPT, interrupter_names[by], sql, rc);
  running.by = BY_STATEMENT;
  check_unharmed(db, base, sql);
  sqlite3_close(db);
}

/* An interrupted build does not go on to write its filter. */
static void check_nothing_is_built(void){
  static const char sql[] = ENDLESS "SELECT bloom_build(at(i), 100) FROM n"; /* 375,001 bytes by then */
  scan running = {.by = BY_STATEMENT};
  sqlite3 *db = running.db = open_database();
  sqlite3_int64 grown;
  must(sqlite3_create_function(db, "at", 1, SQLITE_UTF8, &running, at, NULL, NULL), db);
  run(db, sql, 0, NULL);
  grown = sqlite3_memory_highwater(0) - running.memory;
  check(grown<100000, "no filter should be written", sql, grown);
  sqlite3_close(db);
}

/* A block of filters whose memory is had already is not written on: neither the sizes of a rate,
** of which there is one for up to 1,000,001 keys, nor the bits are looked for. */
static void check_block_in_vain(void){
  static const char *const forms[] = {
    KEYS "SELECT length(bloom_filter_block_build(0, i, 0.02)) FROM n",
    "SELECT length(bloom_filter_block_build(2000000000, 1))",
  };
  size_t i;
  for(i=0; i<COUNT_OF(forms); i++){
    sqlite3 *db = open_database();
    large_interrupts = db;
    check_run(db, forms[i], 1000001, SQLITE_INTERRUPT, ANY_MEMORY);
    large_interrupts = NULL;
    sqlite3_close(db);
  }
}

/* ---- Large filters --------------------------------------------------------------------- */

/* A BloomFile of one unit, a filter of LevelDB's and one of Parquet's, each of 16 MB and with
** every second bit set. */
#define LARGE_BYTES (1 << 24)
static const char bloomfile_header[] = "\xed\x34\x97\xfa\0\1\0\0\1\0\0\0\0\0\0\0\x64\0\0\0\0\0\0\1\0\0\0\0\0\0\0";
static const char parquet_header[] = "\x15\x80\x80\x80\x10\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0";
static const struct {
  const char *encoding, *header;
  int header_bytes, num_bytes;
} large_filters[] = {
  {"bloomfile", bloomfile_header, 32, LARGE_BYTES + 32},
  {"leveldb", "", 0, LARGE_BYTES + 1},
  {"parquet", parquet_header, 18, LARGE_BYTES + 18},
};
/* An interrupt comes before the filter in ?1 is read, and no row comes after it. */
static const char *const large_statements[] = {
  "SELECT bits_set FROM bloom_info(substr(?1, at(30000) - 29999))",
  "SELECT measured_fpr FROM bloom_info(substr(?1, at(30000) - 29999))",
  "SELECT bits_set, measured_fpr FROM bloom_info(substr(?1, at(30000) - 29999))",
  "SELECT num_bytes FROM bloom_info WHERE argument = substr(?1, at(30000) - 29999) AND num_bytes > 1 OR argument = x'06' AND num_bytes > 2",
  "SELECT bloom_open(substr(?1, at(30000) - 29999)) IS NULL",
  "SELECT bloom_merge(substr(?1, at(30000) - 29999)) IS NULL",
  /* The second filter: of one shape, one without bits, and one after such a one. */
  "SELECT bloom_merge(substr(?1, at(29999 + column1) - 29998 - column1)) IS NULL FROM (VALUES (0), (1))",
  "SELECT bloom_merge(CASE at(29999 + column1) WHEN 29999 THEN ?1 ELSE bloom_empty(9000000) END) IS NULL FROM (VALUES (0), (1))",
  "SELECT bloom_merge(CASE at(29999 + column1) WHEN 29999 THEN bloom_empty(9000000) ELSE ?1 END) IS NULL FROM (VALUES (0), (1))",
};

static void check_large_filter(const char *sql, size_t which){
  scan running = {.by = BY_STATEMENT};
  sqlite3 *db = running.db = open_database();
  const int num_bytes = large_filters[which].num_bytes;
  sqlite3_stmt *statement;
  sqlite3_int64 base;
  int rc;
  char *filter = sqlite3_malloc(num_bytes);
  if( filter==NULL ) abort();
  memset(filter, 0x55, (size_t)num_bytes);
  filter[num_bytes-1] = which==1 ? 6 : 0x55;
  memcpy(filter, large_filters[which].header, (size_t)large_filters[which].header_bytes);
  must(sqlite3_create_function(db, "at", 1, SQLITE_UTF8, &running, at, NULL, NULL), db);
  base = sqlite3_memory_used();
  must(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), db);
  sqlite3_bind_blob(statement, 1, filter, num_bytes, SQLITE_STATIC);
  rc = sqlite3_step(statement);
  check(rc==SQLITE_INTERRUPT, large_filters[which].encoding, sql, rc);
  sqlite3_finalize(statement);
  check_unharmed(db, base, sql);
  sqlite3_free(filter);
  sqlite3_close(db);
}

static void check_large_filters(void){
  size_t i, which;
  for(i=0; i<COUNT_OF(large_statements); i++){
    for(which=0; which<COUNT_OF(large_filters); which++) check_large_filter(large_statements[i], which);
  }
  /* Keys are added to what can be changed. */
  for(which=1; which<COUNT_OF(large_filters); which++){
    check_large_filter("SELECT bloom_add(substr(?1, at(30000) - 29999), 5) IS NULL", which);
  }
  /* Short units are read before a look for an interrupt, and then the whole file for its rowids. */
  check_large_filter("SELECT set_number FROM (SELECT bloom_build_sets(0, 1, 1, 300000) AS file WHERE length(?1)), bloom_sets"
                     " WHERE argument_1 = substr(file, at(30000) - 29999) AND argument_2 = 1 OR argument_1 = file AND argument_2 = 2", 0);
  /* A BloomFile without a bit has no row after which SQLite would look for the interrupt. */
  check_large_filter("SELECT set_number FROM"
                     " bloom_sets(CAST(substr(?1, at(30000) - 29999, 32) || zeroblob(16777216) AS BLOB), 5)", 0);
}

int main(int num_args, char **args){
  size_t i;
  int by;
  must_have_args(num_args, args, "limits EXTENSION [VERSION]");
  extension = args[1];
  limit_itself();
  must(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), NULL);
  must(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory), NULL);
  counting_memory = system_memory;
  counting_memory.xMalloc = count_large;
  must(sqlite3_config(SQLITE_CONFIG_MALLOC, &counting_memory), NULL);
  check_small_limit();
  check_huge_sizes();
  check_endless_keys();
  check_limit_lowered();
  check_table_limit();
  check_tiny_limit();
  check_memory();
  check_file_grows_in_leaps();
  check_rate_in_reach("leveldb");
  check_rate_in_reach("parquet");
  check_rates_are_quick();
  for(i=0; i<COUNT_OF(endless_statements); i++){
    for(by=BY_PROGRESS; by<=BY_THREAD; by++) check_interrupt(endless_statements[i], (interrupter)by);
  }
  check_nothing_is_built();
  check_block_in_vain();
  check_large_filters();
  printf("note: SQLite %s, %zu statements that would not end, each interrupted in 3 ways\n",
         sqlite3_libversion(), COUNT_OF(endless_statements));
  return end_of_tests();
}
