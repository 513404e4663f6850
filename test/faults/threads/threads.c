/*
** Many connections in many threads: build, open, probe, merge and inspect at once.
**
**     threads serialized|multi-thread DATABASE [NUM_THREADS [NUM_ROUNDS]]
**
** A process of its own, in which there is one thread, finds the answers of all statements, so
** that every first call is a thread's; then each thread must get the same, on connections of its own and, where SQLite is serialized, on one that all share.
** A handle is taken from one statement to another on the way: there it must be NULL.
** Meant to be built with ThreadSanitizer (run.sh), which ends the program with an error of its
** own where it sees a race.  Prints `N passed, N failed` last.
*/
#define _POSIX_C_SOURCE 200809L /* barriers */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../ext/bloom.h"
#include "../../lib/sqlite_test.h"

static const char schema[] =
  "CREATE TABLE IF NOT EXISTS keys(id INTEGER PRIMARY KEY, k);"
  "DELETE FROM keys;"
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000)"
  " INSERT INTO keys SELECT i, CASE i % 4 WHEN 0 THEN i WHEN 1 THEN 'key ' || i WHEN 2 THEN i + 0.5 ELSE zeroblob(i % 99) END FROM n;"
  "CREATE TABLE IF NOT EXISTS filters(name TEXT PRIMARY KEY, filter BLOB);"
  "DELETE FROM filters;"
  "INSERT INTO filters SELECT id % 5, bloom_build(k, 10, 1000) FROM keys GROUP BY 1;"
  "INSERT INTO filters SELECT 'all', bloom_build(k, 12) FROM keys;"
  "CREATE TABLE IF NOT EXISTS answers(number INTEGER PRIMARY KEY, answer TEXT);"
  "DELETE FROM answers;";

static const char *const statements[] = {
  "SELECT hex(bloom_build(k)) FROM keys",
  "SELECT hex(bloom_build(k, 20, 20000)) FROM keys a, (SELECT 1 UNION SELECT 2 UNION SELECT 3)",
  "SELECT group_concat(hex(filter)) FROM (SELECT bloom_build(k, 10, 50) AS filter FROM keys GROUP BY id % 7)",
  "SELECT sum(length(filter)) FROM (SELECT bloom_build(k, 8, 90) OVER (ORDER BY id ROWS 20 PRECEDING) AS filter FROM keys)",
  "SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'all'), k)), count(*) FROM keys",
  "SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = '1'), id)) FROM keys",
  "SELECT sum(bloom_may_contain(filter, id)) FROM filters, keys WHERE id < 300",
  "SELECT hex(bloom_merge(filter)) FROM filters WHERE name < '9'",
  "SELECT sum(length(bloom_add(filter, 1, 2, 'x', k))) FROM filters, keys WHERE id < 40",
  "SELECT name, i.* FROM filters f, bloom_info(f.filter) i ORDER BY name",
  "SELECT sum(bloom_partition(k, 1000)) FROM keys",
  "SELECT bloom_bits_per_key(0.01, 500), bloom_version(), hex(bloom_empty(100))",
};
static char *answers[COUNT_OF(statements)]; /* written before any thread is there */

static const char *database;
static int is_serialized, num_threads = 8, num_rounds = 3;
static sqlite3 *shared; /* by all threads, where SQLite is serialized */
static pthread_barrier_t start; /* of all threads */

#define check(is_right, what, sql) tally(is_right, "%s\n  %s", what, sql)

static sqlite3 *open_database(void){
  sqlite3 *db;
  must(sqlite3_open(database, &db), NULL);
  must(sqlite3_busy_timeout(db, 60000), db);
  return db;
}

/* All rows of a query as one text, to be freed by sqlite3_free(). */
static char *answer_of(sqlite3 *db, const char *sql){
  sqlite3_stmt *statement;
  sqlite3_str *text = sqlite3_str_new(NULL);
  int rc, i;
  must(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), db);
  while( (rc = sqlite3_step(statement))==SQLITE_ROW ){
    for(i=0; i<sqlite3_column_count(statement); i++){
      const char *value = (const char *)sqlite3_column_text(statement, i);
      sqlite3_str_appendf(text, "%s|", value ? value : "NULL");
    }
  }
  sqlite3_str_appendf(text, "%d", rc);
  sqlite3_finalize(statement);
  return sqlite3_str_finish(text);
}

/* A handle belongs to its statement: what comes out of it, or is copied, is NULL, which says maybe to all keys. */
static void check_handle_stays(sqlite3 *db){
  static const char sql[] = "SELECT bloom_open(filter) FROM filters WHERE name = 'all'";
  sqlite3_stmt *giving, *taking;
  sqlite3_value *copy;
  must(sqlite3_prepare_v2(db, sql, -1, &giving, NULL), db);
  must(sqlite3_prepare_v2(db, "SELECT bloom_may_contain(?1, 'absent'), bloom_may_contain(?2, 'absent')", -1, &taking, NULL), db);
  check(sqlite3_step(giving)==SQLITE_ROW && sqlite3_column_type(giving, 0)==SQLITE_NULL, "a handle should look like NULL", sql);
  copy = sqlite3_value_dup(sqlite3_column_value(giving, 0));
  must(sqlite3_bind_value(taking, 1, sqlite3_column_value(giving, 0)), db);
  must(sqlite3_bind_value(taking, 2, copy), db);
  sqlite3_finalize(giving);
  check(sqlite3_step(taking)==SQLITE_ROW && sqlite3_column_int(taking, 0)==1 && sqlite3_column_int(taking, 1)==1,
        "a handle should not reach another statement", sql);
  sqlite3_value_free(copy);
  sqlite3_finalize(taking);
}

/* Every statement in turn, each thread beginning with another. */
static void *run_thread(void *data){
  const size_t first = (size_t)(*(int *)data);
  int round;
  for(round=0; round<num_rounds; round++){
    sqlite3 *db = open_database();
    size_t i;
    if( round==0 ) pthread_barrier_wait(&start);
    for(i=0; i<COUNT_OF(statements); i++){
      const size_t number = (first + i) % COUNT_OF(statements);
      char *answer = answer_of(is_serialized && i%2 ? shared : db, statements[number]);
      check(answers[number] && strcmp(answer, answers[number])==0, "the answer should be that of one thread alone", statements[number]);
      sqlite3_free(answer);
    }
    check_handle_stays(is_serialized ? shared : db);
    must(sqlite3_close(db), db);
  }
  return NULL;
}

/* Writes the database, the answers among it, in another process. */
static void write_database(void){
  const pid_t child = fork();
  int status;
  size_t i;
  if( child==0 ){
    sqlite3 *db = open_database();
    must(sqlite3_exec(db, schema, NULL, NULL, NULL), db);
    for(i=0; i<COUNT_OF(statements); i++){
      char *answer = answer_of(db, statements[i]);
      char *sql = sqlite3_mprintf("INSERT INTO answers VALUES (%d, '%q')", (int)i, answer);
      must(sqlite3_exec(db, sql, NULL, NULL, NULL), db);
      sqlite3_free(sql);
      sqlite3_free(answer);
    }
    must(sqlite3_close(db), db);
    _exit(0);
  }
  if( child<0 || waitpid(child, &status, 0)!=child || status!=0 ){
    fprintf(stderr, "threads: the database could not be written\n");
    exit(1);
  }
}

static void read_answers(void){
  sqlite3 *db = open_database();
  sqlite3_stmt *statement;
  must(sqlite3_prepare_v2(db, "SELECT answer FROM answers ORDER BY number", -1, &statement, NULL), db);
  for(size_t i=0; i<COUNT_OF(statements) && sqlite3_step(statement)==SQLITE_ROW; i++){
    answers[i] = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
  }
  sqlite3_finalize(statement);
  sqlite3_close(db);
}

int main(int num_args, char **args){
  enum { MAX_THREADS = 64 };
  pthread_t threads[MAX_THREADS];
  int numbers[MAX_THREADS];
  size_t i;
  int t;
  if( num_args>3 ) num_threads = atoi(args[3]);
  if( num_args>4 ) num_rounds = atoi(args[4]);
  if( num_args<3 || num_threads<1 || num_threads>MAX_THREADS || num_rounds<1 ){
    fprintf(stderr, "usage: threads serialized|multi-thread DATABASE [NUM_THREADS [NUM_ROUNDS]]\n");
    return 2;
  }
  is_serialized = strcmp(args[1], "serialized")==0;
  database = args[2];
  must(sqlite3_config(is_serialized ? SQLITE_CONFIG_SERIALIZED : SQLITE_CONFIG_MULTITHREAD), NULL);
  /* Counting memory takes a lock at each allocation, which would order what is a race. */
  must(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0), NULL);
  must(sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init), NULL);
  write_database();
  read_answers();

  if( is_serialized ) shared = open_database();
  if( pthread_barrier_init(&start, NULL, (unsigned)num_threads)!=0 ) abort();
  for(t=0; t<num_threads; t++){
    numbers[t] = t;
    if( pthread_create(&threads[t], NULL, run_thread, &numbers[t])!=0 ) abort();
  }
  for(t=0; t<num_threads; t++) pthread_join(threads[t], NULL);
  sqlite3_close(shared);
  for(i=0; i<COUNT_OF(statements); i++) sqlite3_free(answers[i]);
  printf("note: SQLite %s, %s: %d threads, %d connections, %ld statements\n", sqlite3_libversion(), args[1],
         num_threads, num_threads * num_rounds, (long)num_threads * num_rounds * (long)COUNT_OF(statements));
  return end_of_tests();
}
