/*
** Copies of handles: each answers for the filter that it was made from, or is NULL.
**
**     handles EXTENSION [VERSION]
**
** The copies that SQL can make are in test/sql/records/bloom_open.test.  Here an application keeps
** them: by sqlite3_value_dup(), while the handle is open, after its statement, after its
** connection, over a second load of the extension, on other connections.  The extension is
** a part of this program; EXTENSION is another copy of it, to be loaded beside.  With
** VERSION it refuses to run on another SQLite.
**
** Meant to be built with AddressSanitizer.  Prints `N passed, N failed` last.
*/
#include "../../../ext/bloom.h"
#include "../../../ext/core/encodings.h"
#include "../../../ext/sqlite/connection.h"
#include "../../../ext/sqlite/handle.h"
#include "../../lib/sqlite_test.h"

static const char *extension;

#define check(is_right, what, sql) tally(is_right, "%s\n  %s", what, sql)

/* ---- The application ------------------------------------------------------------------ */

static sqlite3_value *kept; /* a copy of a value, or NULL */
/* Newer versions of SQLite (3.40, not 3.31) leave the pointer out of such a copy.  It is put
** in again, so that what could be copied some other way is tested on all. */
static void *kept_pointer;

static void forget(void){
  sqlite3_value_free(kept);
  kept = NULL;
}

/* keep(value): keeps a copy of it, and returns the value. */
static void keep(sqlite3_context *context, int num_args, sqlite3_value **args){
  (void)num_args;
  forget();
  kept = sqlite3_value_dup(args[0]);
  kept_pointer = sqlite3_value_pointer(args[0], bloom_handle_type);
  sqlite3_result_value(context, args[0]);
}

/* kept(): the copy. */
static void give_kept(sqlite3_context *context, int num_args, sqlite3_value **args){
  (void)num_args; (void)args;
  if( kept==NULL ) return;
  if( sqlite3_value_pointer(kept, bloom_handle_type)==kept_pointer ){
    sqlite3_result_value(context, kept);
  }else{
    sqlite3_result_pointer(context, kept_pointer, bloom_handle_type, NULL);
  }
}

static void add_application(sqlite3 *db){
  must(sqlite3_create_function(db, "keep", 1, SQLITE_UTF8, NULL, keep, NULL, NULL), db);
  must(sqlite3_create_function(db, "kept", 0, SQLITE_UTF8, NULL, give_kept, NULL, NULL), db);
}

/* Key 7 is in filter a, and not in b. */
static sqlite3 *open_database(void){
  sqlite3 *db = open_in_memory();
  must(sqlite3_bloom_init(db, NULL, NULL), db);
  add_application(db);
  must(sqlite3_exec(db, "CREATE TABLE f(id INTEGER PRIMARY KEY, a BLOB, b BLOB);"
                        "INSERT INTO f SELECT 1, bloom_build(7, 20), bloom_build(8, 20)", NULL, NULL, NULL), db);
  return db;
}

static void close_database(sqlite3 *db){
  forget();
  must(sqlite3_close(db), db);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql){
  sqlite3_stmt *statement;
  must(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), db);
  return statement;
}

/* The first column of the first row: '0', '1', 'N' for NULL, 'r' if there is no row, 'e' for
** an error, '?' for anything else. */
static char answer_of(sqlite3_stmt *statement){
  const int rc = sqlite3_step(statement);
  char answer = '?';
  if( rc==SQLITE_DONE ){
    answer = 'r';
  }else if( rc!=SQLITE_ROW ){
    answer = 'e';
  }else if( sqlite3_column_type(statement, 0)==SQLITE_NULL ){
    answer = 'N';
  }else if( sqlite3_column_type(statement, 0)==SQLITE_INTEGER && sqlite3_column_int64(statement, 0)/2==0 ){
    answer = (char)('0' + sqlite3_column_int(statement, 0));
  }
  sqlite3_reset(statement);
  return answer;
}

static char result_of(sqlite3 *db, const char *sql){
  sqlite3_stmt *statement = prepare(db, sql);
  const char answer = answer_of(statement);
  sqlite3_finalize(statement);
  return answer;
}

static void expect(sqlite3 *db, const char *sql, const char *answers, const char *what){
  check(strchr(answers, result_of(db, sql))!=NULL, what, sql);
}

/* Keeps a copy of a handle to a, whose statement is over. */
#define KEEP "SELECT keep(bloom_open(a)) IS NULL FROM f"
/* What a handle says: 1 if it is to a, 0 if it is to b, NULL if it is none.  A filter that is
** NULL may contain every key, 9 as well, which neither a nor b has. */
#define SAYS(handle) "nullif(bloom_may_contain(" handle ", 7) + bloom_may_contain(" handle ", 9), 2)"
/* A statement that tests the copy while a handle to b is open. */
#define PROBE  "SELECT " SAYS("kept()") " FROM f WHERE bloom_may_contain((SELECT bloom_open(b)), 8)"

/* ---- Copies that are kept --------------------------------------------------------------- */

/* While the handle is open its copy answers, and only then. */
static void check_while_open(void){
  sqlite3 *db = open_database();
  expect(db, "SELECT bloom_may_contain(keep(bloom_open(a)), 7) FROM f", "1", "what is handed on should answer");
  expect(db, "SELECT CASE WHEN bloom_may_contain((SELECT keep(bloom_open(a)) FROM f), 7) THEN bloom_may_contain(kept(), 7) END", "1",
         "a copy should answer");
  expect(db, "SELECT bloom_may_contain((SELECT bloom_open(a) FROM f WHERE keep(1)), i) FROM (SELECT 7 AS i)", "1",
         "a handle should answer");
  close_database(db);
}

/* Later, on the same connection: NULL in every function, however many were opened since. */
static void check_later(void){
  static const struct { const char *sql, *answer; } rows[] = {
    {PROBE, "N"},
    {"SELECT " SAYS("kept()"), "N"},
    {"SELECT bloom_may_contain(kept(), 9)", "1"},
    {"SELECT " SAYS("bloom_open(kept())"), "N"},
    {"SELECT bloom_add(kept(), 7) IS NULL", "1"},
    {"SELECT bloom_merge(kept()) IS NULL", "1"},
    {"SELECT bloom_merge(coalesce(kept(), b)) IS b FROM f", "1"},
    {"SELECT 1 FROM bloom_info(kept())", "r"},
    {"SELECT 1 FROM bloom_filter_block(kept())", "r"},
  };
  sqlite3 *db = open_database();
  size_t i;
  expect(db, KEEP, "1", "a handle should look like NULL");
  for(i=0; i<COUNT_OF(rows); i++) expect(db, rows[i].sql, rows[i].answer, "a copy that is left over should be NULL");
  /* Each place of the table of open handles is taken again, many times. */
  expect(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000)"
             " SELECT min(bloom_may_contain(kept(), 9 + 0 * bloom_may_contain(bloom_open(b), i))) FROM f, n", "1",
         "a copy should be NULL beside every later handle");
  /* A handle that stays open while as many others come and go. */
  expect(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000)"
             " SELECT min(bloom_may_contain((SELECT bloom_open(a) FROM f), 6 + bloom_may_contain(bloom_open(b), 8))) FROM f, n", "1",
         "an open handle should answer beside every later one");
  close_database(db);
}

/* A statement run again and again has a handle of its own each time. */
static void check_same_statement(void){
  sqlite3 *db = open_database();
  sqlite3_stmt *keeping = prepare(db, KEEP), *probing = prepare(db, PROBE);
  int i;
  for(i=0; i<3; i++){
    check(answer_of(keeping)=='1', "a handle should look like NULL", KEEP);
    check(answer_of(probing)=='N', "a copy from another statement should be NULL", PROBE);
  }
  /* Freed before its statement, and after its connection. */
  check(sqlite3_step(keeping)==SQLITE_ROW, "it should return a row", KEEP);
  forget();
  sqlite3_finalize(keeping);
  sqlite3_finalize(probing);
  expect(db, KEEP, "1", "a handle should look like NULL");
  must(sqlite3_close(db), db);
  forget();
}

/* A connection that is closed before its last statement. */
static void check_closed_connection(void){
  static const char sql[] = "SELECT keep(bloom_open(a)), bloom_may_contain(kept(), 7) FROM f UNION ALL SELECT 1, 2";
  sqlite3 *db = open_database(), *other;
  sqlite3_stmt *statement = prepare(db, sql);
  check(sqlite3_step(statement)==SQLITE_ROW, "it should return a row", sql);
  must(sqlite3_close_v2(db), NULL);
  check(sqlite3_step(statement)==SQLITE_ROW, "it should return another row", sql);
  sqlite3_finalize(statement);
  other = open_database(); /* often at the same address */
  expect(other, PROBE, "N", "a copy from a connection that is closed should be NULL");
  close_database(other);
}

/* Another connection, while the handle is open and after. */
static void check_other_connection(void){
  static const char sql[] = "SELECT keep(bloom_open(a)) FROM f";
  sqlite3 *db = open_database(), *other = open_database();
  sqlite3_stmt *statement = prepare(db, "SELECT bloom_may_contain((SELECT keep(bloom_open(a)) FROM f), 7) UNION ALL SELECT 2");
  check(sqlite3_step(statement)==SQLITE_ROW && sqlite3_column_int(statement, 0)==1, "a handle should answer", sql);
  expect(other, PROBE, "N", "another connection's handle should be NULL");
  sqlite3_finalize(statement);
  expect(other, PROBE, "N", "another connection's handle should be NULL");
  must(sqlite3_close(db), db);
  expect(other, PROBE, "N", "another connection's handle should be NULL");
  close_database(other);
}

/* The extension registered again on the connection; then another copy of it loaded over it. */
static void check_second_load(void){
  sqlite3 *db = open_database();
  expect(db, KEEP, "1", "a handle should look like NULL");
  must(sqlite3_bloom_init(db, NULL, NULL), db);
  expect(db, PROBE, "N", "a copy from before a second load should be NULL");
  expect(db, KEEP, "1", "a handle should look like NULL");
  must(sqlite3_load_extension(db, extension, NULL, NULL), db);
  expect(db, PROBE, "N", "a copy from before another copy was loaded should be NULL");
  expect(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000)"
             " SELECT min(bloom_may_contain(kept(), 9 + 0 * bloom_may_contain(bloom_open(b), i))) FROM f, n", "1",
         "a copy should be NULL beside every later handle of another copy");
  expect(db, "SELECT bloom_may_contain((SELECT bloom_open(a) FROM f), 7)", "1", "a handle should answer");
  close_database(db);
}

/* ---- Pointers of somebody else ---------------------------------------------------------- */

static void check_foreign_pointers(void){
  static const char *const sqls[] = {
    "SELECT " SAYS("?1") " FROM f WHERE bloom_may_contain((SELECT bloom_open(b)), 8)",
    "SELECT " SAYS("bloom_open(?1)"),
    "SELECT bloom_merge(?1)",
    "SELECT bloom_add(?1, 7)",
    "SELECT (SELECT note FROM bloom_info(?1))",
  };
  static const char *const types[] = {"bloom", "carray", bloom_handle_type};
  static char object[64];
  sqlite3 *db = open_database();
  void *pointers[] = {NULL, object, (void *)(uintptr_t)1, (void *)(uintptr_t)BLOOM_MAX_OPEN_HANDLES, (void *)UINTPTR_MAX, db};
  size_t sql, type, pointer;
  memset(object, 0x5a, sizeof(object));
  for(sql=0; sql<COUNT_OF(sqls); sql++){
    sqlite3_stmt *statement = prepare(db, sqls[sql]);
    for(type=0; type<COUNT_OF(types); type++){
      for(pointer=0; pointer<COUNT_OF(pointers); pointer++){
        must(sqlite3_bind_pointer(statement, 1, pointers[pointer], types[type], NULL), db);
        check(answer_of(statement)=='N', "a pointer that is no handle should be NULL", sqls[sql]);
      }
    }
    sqlite3_finalize(statement);
  }
  must(sqlite3_close(db), db);
}

/* ---- Handles that have another owner than a value --------------------------------------- */

static bloom_handle *owned;

/* owned(): the handle, as a column of a virtual table would return it. */
static void give_owned(sqlite3_context *context, int num_args, sqlite3_value **args){
  (void)num_args; (void)args;
  if( owned ) bloom_handle_result(context, owned, 0);
}

/* A handle to filter a or b. */
static bloom_handle *open_owned(bloom_connection *connection, const char *sql){
  sqlite3_stmt *statement = prepare(connection->db, sql);
  bloom_handle *handle = NULL;
  size_t num_bytes;
  if( sqlite3_step(statement)!=SQLITE_ROW ) abort();
  num_bytes = (size_t)sqlite3_column_bytes(statement, 0);
  if( bloom_handle_open(connection, num_bytes, &handle)!=SQLITE_OK ) abort();
  memcpy(handle->bytes, sqlite3_column_blob(statement, 0), num_bytes);
  bloom_filter_read(handle->bytes, num_bytes, &handle->filter);
  sqlite3_finalize(statement);
  return handle;
}

static void check_owned(void){
  static const char sql[] = "SELECT bloom_may_contain(owned(), 7)";
  sqlite3 *db = open_database();
  bloom_connection *connection = bloom_connection_get(db);
  if( connection==NULL ) abort();
  must(sqlite3_create_function(db, "owned", 0, SQLITE_UTF8, NULL, give_owned, NULL, NULL), db);
  owned = open_owned(connection, "SELECT a FROM f");
  expect(db, sql, "1", "it should answer");
  expect(db, "SELECT bloom_may_contain(keep(owned()), 7)", "1", "it should answer");
  expect(db, sql, "1", "it should answer in the next statement");
  expect(db, PROBE, "1", "its copy should answer in the next statement");
  bloom_handle_close(owned);
  expect(db, PROBE, "N", "its copy should be NULL once it is closed");
  owned = open_owned(connection, "SELECT b FROM f");
  expect(db, sql, "0", "the next one should answer for its own filter");
  expect(db, PROBE, "N", "the copy should be NULL beside the next one");
  bloom_connection_release(connection); /* before its last handle */
  expect(db, sql, "0", "it should answer without its owner");
  bloom_handle_close(owned);
  owned = NULL;
  close_database(db);
}

/* ---- Handles of bloom_filter() -------------------------------------------------------------- */

static void check_filter_handles(void){
  sqlite3 *db = open_database();
  expect(db, "SELECT bloom_may_contain((SELECT keep(bloom_filter(7)) FROM f), 7)", "1", "it should answer");
  expect(db, PROBE, "N", "its copy should be NULL after its statement");
  expect(db, "SELECT bloom_may_contain(kept(), 1, 2)", "1", "and may contain all, whatever the number of keys");
  expect(db, "SELECT keep(bloom_filter(8)) IS NULL AND bloom_may_contain(kept(), '08') FROM f", "1", "a copy should find what it finds");
  expect(db, "SELECT keep(bloom_filter(8)) IS NULL AND bloom_may_contain(kept(), 7) FROM f", "01", "a copy should answer as it does, or be NULL");
  expect(db, "SELECT bloom_may_contain(nullif((SELECT bloom_filter(8) FROM f), 1), 7)", "01N", "a copy of nullif should answer or be NULL");
  expect(db, "SELECT bloom_open((SELECT bloom_filter(8) FROM f))", "e", "it should not be opened");
  close_database(db);
}

/* An application that has SQLite write REALs with few digits, where that can be chosen: then
** TEXT affinity finds 1234567.0 equal to '1.235e+06'. */
static void check_few_digits(void){
  enum { FP_DIGITS = 1023 };
  static const char equal[] = "SELECT coalesce(1234567.0, 0) = CAST('1.235e+06' AS TEXT) AND coalesce(0.123456, 0) = CAST('0.1235' AS TEXT)";
  sqlite3 *db = open_database();
  int num_digits = 0;
  if( sqlite3_libversion_number()>=3052000 ) (void)sqlite3_db_config(db, FP_DIGITS, 4, &num_digits);
  if( num_digits==4 ){
    expect(db, equal, "1", "REALs should be written with 4 digits");
    expect(db, "SELECT bloom_may_contain((SELECT bloom_filter(1234567.0) FROM f), '1.235e+06')", "1", "a REAL should be found by its text");
    expect(db, "SELECT bloom_may_contain((SELECT bloom_filter(0.123456) FROM f), '0.1235')", "1", "a REAL should be found by its text");
    expect(db, "SELECT bloom_may_contain((SELECT bloom_filter('1.235e+06') FROM f), 1234567.0)", "1", "a text should be found by its REAL");
    expect(db, "SELECT bloom_may_contain((SELECT bloom_filter('0.1235') FROM f), 0.123456)", "1", "a text should be found by its REAL");
    expect(db, "SELECT bloom_may_contain((SELECT bloom_filter('0.1235') FROM f), 0.1239)", "1", "and any other may be there");
    must(sqlite3_exec(db,
      "CREATE TABLE decimals(id INTEGER PRIMARY KEY, k TEXT, n INTEGER);"
      "INSERT INTO decimals VALUES (1, '1.235e+06', 5);"
      "CREATE VIRTUAL TABLE of_one USING bloom(decimals, k);"
      "CREATE VIRTUAL TABLE of_two USING bloom(decimals, (k, n));"
      "CREATE VIRTUAL TABLE by_key USING bloom_index(decimals, k);"
      "CREATE VIRTUAL TABLE by_range USING bloom_index(decimals, k RANGE);"
      "INSERT INTO by_key(by_key) VALUES ('merge');"
      "INSERT INTO by_range(by_range) VALUES ('merge')", NULL, NULL, NULL), db);
    expect(db, "SELECT count(*) FROM of_one(1234567.0)", "1", "a REAL may be there by its text");
    expect(db, "SELECT count(*) FROM of_one('1234567.1')", "0", "a text should be denied");
    expect(db, "SELECT bloom_may_contain((SELECT handle FROM of_one), 1234567.1)", "1", "a REAL may be there by its text");
    expect(db, "SELECT count(*) FROM of_two(1234567.0, 5)", "1", "a REAL of a pair may be there");
    expect(db, "SELECT bloom_may_contain((SELECT handle FROM of_two), bloom_tuple(1234567.0, 5))", "1", "and in a tuple, as an INTEGER");
    expect(db, "SELECT count(*) FROM by_key WHERE k = 1234567.0", "1", "blocks should let it pass");
    expect(db, "SELECT count(*) FROM by_range WHERE k = 1234567.0", "1", "zones should let it pass");
    expect(db, "SELECT count(*) FROM by_range WHERE k > 1234567.0", "0", "and the table decides");
  }
  must(sqlite3_close(db), db);
}

/* ---- How many, and how much --------------------------------------------------------------- */

/* Where as many are open as can be, bloom_open returns the filter, which gets the same answers. */
static void check_too_many(void){
  enum { NUM_COLUMNS = 1500, NUM_STATEMENTS = BLOOM_MAX_OPEN_HANDLES / NUM_COLUMNS + 2 };
  static const char sql[] = "SELECT bloom_may_contain((SELECT bloom_open(a) FROM f), 7)";
  sqlite3 *db = open_database();
  sqlite3_stmt *statements[NUM_STATEMENTS];
  sqlite3_str *text = sqlite3_str_new(db);
  char *many;
  int i;
  must(sqlite3_exec(db, "CREATE VIRTUAL TABLE seen USING bloom()", NULL, NULL, NULL), db);
  sqlite3_str_appendall(text, "SELECT bloom_open(a)");
  for(i=1; i<NUM_COLUMNS; i++) sqlite3_str_appendall(text, ", bloom_open(a)");
  sqlite3_str_appendall(text, " FROM f");
  many = sqlite3_str_finish(text);
  expect(db, "SELECT typeof(bloom_open(a)) = 'null' FROM f", "1", "bloom_open should return a handle");
  for(i=0; i<NUM_STATEMENTS; i++){
    statements[i] = prepare(db, many);
    check(sqlite3_step(statements[i])==SQLITE_ROW, "many handles should open", sqlite3_errmsg(db));
  }
  expect(db, "SELECT typeof(bloom_open(a)) = 'blob' FROM f", "1", "bloom_open should return the filter");
  expect(db, sql, "1", "the filter should answer");
  expect(db, "SELECT bloom_may_contain((SELECT bloom_filter(8) FROM f), 7)", "1", "bloom_filter should return NULL, which says maybe");
  expect(db, "SELECT handle FROM seen", "e", "a virtual table's handle should be an error");
  check(strstr(sqlite3_errmsg(db), "all handles")!=NULL, "the error should say that all are open", sqlite3_errmsg(db));
  for(i=0; i<NUM_STATEMENTS; i++) sqlite3_finalize(statements[i]);
  expect(db, "SELECT typeof(bloom_open(a)) = 'null' FROM f", "1", "bloom_open should return a handle again");
  expect(db, sql, "1", "the handle should answer");
  expect(db, "SELECT bloom_may_contain((SELECT bloom_filter(8) FROM f), 7)", "0", "bloom_filter should return a handle again");
  expect(db, "SELECT handle IS NULL FROM seen", "1", "a table should return a handle again");
  sqlite3_free(many);
  must(sqlite3_close(db), db);
}

/* Opens filters of so many bytes at once; the memory that is held when all are closed. */
static sqlite3_int64 held_after(sqlite3 *db, const char *sql){
  const sqlite3_int64 before = sqlite3_memory_used();
  expect(db, sql, "1", "they should open");
  return sqlite3_memory_used() - before;
}
#define OPEN(num_bytes) "bloom_may_contain((SELECT bloom_open(zeroblob(" #num_bytes "))), 1) IS 1"

static void check_kept_buffers(void){
  enum { MB = 1 << 20 };
  sqlite3 *db = open_database();
  sqlite3_int64 before = sqlite3_memory_used(), held;
  expect(db, "SELECT " OPEN(200), "1", "it should open");
  check(held_after(db, "SELECT " OPEN(60000))<4000, "a small buffer should not be kept", "");
  held = held_after(db, "SELECT " OPEN(1000000));
  check(held>=1000000 && held<1004000, "a buffer of 1 MB should be kept", "");
  check(held_after(db, "SELECT " OPEN(1000000))<4000, "it should be used again", "");
  check(held_after(db, "SELECT " OPEN(900000))<4000, "it should be used for less", "");
  check(held_after(db, "SELECT " OPEN(20000000))<4000, "a buffer of 20 MB should not be kept", "");
  held_after(db, "SELECT " OPEN(7000000) " AND " OPEN(7000001) " AND " OPEN(7000002));
  held = sqlite3_memory_used() - before;
  check(held>=14000000 && held<=16*MB + 8000, "16 MB should be kept at most", "");
  held_after(db, "SELECT " OPEN(16000000));
  held = sqlite3_memory_used() - before;
  check(held>=16000000 && held<=16*MB + 8000, "the newest should be kept", "");
  must(sqlite3_close(db), db);
  db = open_database();
  sqlite3_soft_heap_limit64(1000*MB);
  expect(db, "SELECT " OPEN(200), "1", "it should open");
  check(held_after(db, "SELECT " OPEN(1000000))<4000, "no buffer should be kept where memory is limited", "");
  sqlite3_soft_heap_limit64(0);
  must(sqlite3_close(db), db);
}

int main(int num_args, char **args){
  must_have_args(num_args, args, "handles EXTENSION [VERSION]");
  extension = args[1];
  check_while_open();
  check_later();
  check_same_statement();
  check_closed_connection();
  check_other_connection();
  check_second_load();
  check_foreign_pointers();
  check_owned();
  check_filter_handles();
  check_few_digits();
  check_too_many();
  check_kept_buffers();
  check(sqlite3_memory_used()==0, "no memory should be left", "");
  printf("note: SQLite %s\n", sqlite3_libversion());
  return end_of_tests();
}
