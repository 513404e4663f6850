/*
** Every allocation fails: for each statement of statements.sql, allocation N fails once,
** then all from N on, for N = 1, 2, 3, ... until none was left to fail.
**
**     oom [--long] [--some] EXTENSION SCHEMA.sql STATEMENTS.sql
**
** --long: the statements that take long, too, and databases of all three encodings.  Else
** allocations fail once in UTF-16 databases, where each text takes one more, and all from
** N on in UTF-8 databases.
**
** Each time on a new connection, lookaside off:
**
** (1) The statement returns its exact answer or its own error, or else SQLITE_NOMEM.  (SQLite
**     returns an error without its text if only the copy of the text failed.)
** (2) If it failed, what is in the database is what was there before.
** (3) The same statement, stepped again on the same connection, returns its exact answer.
** (4) The connection then holds no more memory than one on which nothing failed, and
**     once it is closed none is left.
**
** Loading without memory is tested by test/faults/load.  The list of statements is checked: each
** function of the extension must run, as SQLite's byte code has it, in every number of
** arguments and every role.  Prints `N passed, N failed` last.
*/
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* regexp(), linked with the program. */
#define SQLITE_CORE 1
#include "../../index/regexp.c"

#include "../../lib/failing_memory.h"
#include "../../lib/test.h"

typedef int (*extension_init)(sqlite3 *, char **, const struct sqlite3_api_routines *);

/* Runs of statements in which an allocation failed: each ended in one of three ways. */
static long num_nomem, num_exact, num_textless;

static int is_long_run;
static int is_connected; /* 1 once a statement was failed as it connected its virtual tables */

/* ---- Texts, not by SQLite's allocator ---------------------------------------------- */

typedef struct text {
  char *chars;
  size_t num_chars, max_chars;
} text;

static void text_add(text *to, const void *chars, size_t num_chars){
  if( to->num_chars + num_chars + 1 > to->max_chars ){
    to->max_chars = 2 * (to->num_chars + num_chars + 1);
    to->chars = realloc(to->chars, to->max_chars);
    if( to->chars==NULL ) abort();
  }
  if( num_chars ) memcpy(to->chars + to->num_chars, chars, num_chars);
  to->num_chars += num_chars;
  to->chars[to->num_chars] = 0;
}

__attribute__((format(printf, 2, 3)))
static void text_print(text *to, const char *format, ...){
  char chars[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(chars, sizeof(chars), format, arguments);
  va_end(arguments);
  text_add(to, chars, strlen(chars));
}

static int text_equal(const text *a, const text *b){
  return a->num_chars==b->num_chars && (a->num_chars==0 || memcmp(a->chars, b->chars, a->num_chars)==0);
}

static void text_free(text *a){
  free(a->chars);
  *a = (text){NULL, 0, 0};
}

static text read_file(const char *name){
  text content = {NULL, 0, 0};
  char chars[4096];
  size_t num_chars;
  FILE *file = fopen(name, "r");
  if( file==NULL ){
    perror(name);
    exit(1);
  }
  while( (num_chars = fread(chars, 1, sizeof(chars), file))>0 ) text_add(&content, chars, num_chars);
  fclose(file);
  return content;
}

/* ---- Running a statement ----------------------------------------------------------- */

/* What a statement gave: all rows, or an error and its message. */
typedef struct outcome {
  int rc; /* SQLITE_OK or an error */
  text rows;
} outcome;

static int outcome_equal(const outcome *a, const outcome *b){
  return a->rc==b->rc && text_equal(&a->rows, &b->rows);
}

static int is_nomem(int rc){
  return (rc & 0xff)==SQLITE_NOMEM || rc==SQLITE_IOERR_NOMEM;
}

/* Appends a row.  SQLITE_NOMEM if a value could not be had. */
static int add_row(sqlite3_stmt *statement, text *rows){
  int i;
  for(i=0; i<sqlite3_column_count(statement); i++){
    const void *bytes = NULL;
    size_t num_bytes = 0;
    switch( sqlite3_column_type(statement, i) ){
      case SQLITE_INTEGER:
        text_print(rows, "%lld|", sqlite3_column_int64(statement, i));
        continue;
      case SQLITE_FLOAT:
        text_print(rows, "%.17g|", sqlite3_column_double(statement, i));
        continue;
      case SQLITE_NULL:
        text_print(rows, "NULL|");
        continue;
      case SQLITE_TEXT:
        bytes = sqlite3_column_text(statement, i);
        if( bytes==NULL ) return SQLITE_NOMEM;
        break;
      default:
        bytes = sqlite3_column_blob(statement, i);
        break;
    }
    num_bytes = (size_t)sqlite3_column_bytes(statement, i);
    if( bytes==NULL && num_bytes ) return SQLITE_NOMEM;
    text_print(rows, "%zu:", num_bytes);
    text_add(rows, bytes, num_bytes);
    text_print(rows, "|");
  }
  text_print(rows, "\n");
  return SQLITE_OK;
}

/* Runs a prepared statement to its end. */
static outcome step_all(sqlite3_stmt *statement){
  outcome got = {SQLITE_OK, {NULL, 0, 0}};
  int rc;
  while( (rc = sqlite3_step(statement))==SQLITE_ROW ){
    rc = add_row(statement, &got.rows);
    if( rc!=SQLITE_OK ) break;
  }
  if( rc!=SQLITE_DONE ){
    got.rc = rc;
    text_free(&got.rows);
    text_print(&got.rows, "%s", sqlite3_errmsg(sqlite3_db_handle(statement)));
  }
  sqlite3_reset(statement);
  return got;
}

/* Runs a statement, which is left in *statement, or NULL if it could not be prepared. */
static outcome run(sqlite3 *db, const char *sql, sqlite3_stmt **statement){
  outcome got = {SQLITE_OK, {NULL, 0, 0}};
  if( *statement==NULL ){
    got.rc = sqlite3_prepare_v2(db, sql, -1, statement, NULL);
    if( got.rc!=SQLITE_OK ){
      text_print(&got.rows, "%s", sqlite3_errmsg(db));
      return got;
    }
  }
  return step_all(*statement);
}

static outcome run_once(sqlite3 *db, const char *sql){
  sqlite3_stmt *statement = NULL;
  outcome got = run(db, sql, &statement);
  sqlite3_finalize(statement);
  return got;
}

#define STATE "SELECT * FROM state"

/* ---- A connection ------------------------------------------------------------------- */

static const char *extension_file;
static extension_init extension;
static text schema;

/* A database in an encoding, as the schema leaves it. */
static sqlite3 *make_template(const char *encoding){
  sqlite3 *db;
  char *pragma = sqlite3_mprintf("PRAGMA encoding = '%q'", encoding);
  must(sqlite3_open(":memory:", &db), "sqlite3_open()");
  if( sqlite3_exec(db, pragma, NULL, NULL, NULL)!=SQLITE_OK
   || sqlite3_exec(db, schema.chars, NULL, NULL, NULL)!=SQLITE_OK ){
    fprintf(stderr, "oom: schema: %s\n", sqlite3_errmsg(db));
    exit(1);
  }
  sqlite3_free(pragma);
  return db;
}

/* A new connection to a copy of it.  It has the virtual tables of sql connected: only the long
** run fails that for more than the first statement. */
static sqlite3 *open_copy(sqlite3 *template, const char *sql){
  sqlite3 *db;
  sqlite3_stmt *statement;
  sqlite3_backup *backup;
  must(sqlite3_open(":memory:", &db), "sqlite3_open()");
  backup = sqlite3_backup_init(db, "main", template, "main");
  if( backup==NULL || sqlite3_backup_step(backup, -1)!=SQLITE_DONE ){
    fprintf(stderr, "oom: copying the schema: %s\n", sqlite3_errmsg(db));
    exit(1);
  }
  sqlite3_backup_finish(backup);
  /* That SQLite fails as it reads the schema is not of interest. */
  must(sqlite3_exec(db, "SELECT 1 FROM keys", NULL, NULL, NULL), "keys");
  if( is_connected && sqlite3_prepare_v2(db, sql, -1, &statement, NULL)==SQLITE_OK ){
    sqlite3_finalize(statement);
  }
  return db;
}

/* The memory in use once the connection has given up what it can, its last error's text
** being the same for all.  Without the pages of the database, which is in memory: *page_bytes. */
static sqlite3_int64 memory_at_rest(sqlite3 *db, int *page_bytes){
  int ignored;
  static const char long_error[] =
    "SELECT a_column_that_is_not_there_with_a_name_longer_than_every_message_of_the_extension_has_so_that_"
    "_the_connection_keeps_as_much_memory_for_the_text_of_its_last_error_whatever_the_statements_before_it_"
    "_said_when_they_failed_or_did_not_which_would_else_differ_from_one_run_to_another_by_some_hundred_bytes";
  outcome got = run_once(db, long_error);
  text_free(&got.rows);
  sqlite3_db_release_memory(db);
  must(sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED, page_bytes, &ignored, 0), "sqlite3_db_status()");
  return sqlite3_memory_used() - *page_bytes;
}

/* What a statement returns if no allocation fails. */
typedef struct expectation {
  outcome answer;
  outcome state_before, state_after;
  sqlite3_int64 memory; /* that the connection holds in the end, but for pages */
  int page_bytes;
} expectation;

static expectation expect(sqlite3 *template, const char *sql){
  expectation expected;
  sqlite3 *db = open_copy(template, sql);
  expected.state_before = run_once(db, STATE);
  expected.answer = run_once(db, sql);
  expected.state_after = run_once(db, STATE);
  /* What is only read is read twice where it failed at first: a filter that knows its journal by then
  ** keeps a second statement. */
  if( expected.answer.rc==SQLITE_OK && outcome_equal(&expected.state_before, &expected.state_after) ){
    outcome again = run_once(db, sql);
    text_free(&again.rows);
  }
  expected.memory = memory_at_rest(db, &expected.page_bytes);
  sqlite3_close(db);
  return expected;
}

static void expectation_free(expectation *expected){
  text_free(&expected->answer.rows);
  text_free(&expected->state_before.rows);
  text_free(&expected->state_after.rows);
}

/* ---- A statement, every allocation of which fails ----------------------------------- */

/* Describes in *problem what is wrong with a run in which allocation number fails; leaves
** it empty if nothing is.  Gives how many allocations failed. */
static long run_failing(sqlite3 *template, const char *sql, const expectation *expected,
                        long number, failing mode, text *problem){
  const sqlite3_int64 memory_before = sqlite3_memory_used();
  sqlite3 *db = open_copy(template, sql);
  sqlite3_stmt *statement = NULL;
  outcome got, state;
  long failures;
  sqlite3_int64 memory;
  int page_bytes;
  fail_allocation(number, mode);
  got = run(db, sql, &statement);
  fail_no_more();
  failures = num_failures;

  if( failures && is_nomem(got.rc) ){
    num_nomem++;
    state = run_once(db, STATE);
    if( !outcome_equal(&state, &expected->state_before) ) text_print(problem, "it left changes behind\n");
    text_free(&state.rows);
    text_free(&got.rows);
    got = run(db, sql, &statement);
    if( !outcome_equal(&got, &expected->answer) ) text_print(problem, "run again it gave %d, ", got.rc);
  }else if( failures && first_is_benign && got.rc!=SQLITE_OK && got.rc==expected->answer.rc
         && strcmp(got.rows.chars, sqlite3_errstr(got.rc))==0 ){
    num_textless++;
  }else{
    num_exact += failures>0;
    if( !outcome_equal(&got, &expected->answer) ) text_print(problem, "it gave %d, ", got.rc);
  }
  if( problem->num_chars ){
    text_add(problem, got.rows.chars, got.rows.num_chars);
    text_print(problem, "\nbut it should return %d, ", expected->answer.rc);
    text_add(problem, expected->answer.rows.chars, expected->answer.rows.num_chars);
    text_print(problem, "\n");
  }
  text_free(&got.rows);
  sqlite3_finalize(statement);

  state = run_once(db, STATE);
  if( !outcome_equal(&state, &expected->state_after) ) text_print(problem, "the database is not as it should be after it\n");
  text_free(&state.rows);
  memory = memory_at_rest(db, &page_bytes);
  /* A hash table of SQLite's that could not grow at first is two places larger in the end.  A schema that
  ** was written twice may fill one page more, which SQLite keeps account of. */
  if( memory>expected->memory + (failures && (first_is_benign || page_bytes!=expected->page_bytes) ? 32 : 0) ){
    text_print(problem, "the connection holds %lld bytes, not %lld\n", memory, expected->memory);
  }
  if( sqlite3_close(db)!=SQLITE_OK ) text_print(problem, "the connection could not be closed\n");
  memory = sqlite3_memory_used();
  if( memory!=memory_before ){
    text_print(problem, "%lld bytes are left of the connection\n", memory - memory_before);
  }
  return failures;
}

static void fail_in_turn(sqlite3 *template, const char *sql, int is_error, failing mode){
  expectation expected = expect(template, sql);
  text problem = {NULL, 0, 0};
  long number = 1;
  if( is_error!=(expected.answer.rc!=SQLITE_OK) ){
    text_print(&problem, "it should %s, but gave %d, ", is_error ? "fail" : "not fail", expected.answer.rc);
    text_add(&problem, expected.answer.rows.chars, expected.answer.rows.num_chars);
    text_print(&problem, "\n");
  }
  while( problem.num_chars==0 && run_failing(template, sql, &expected, number, mode, &problem)>0 ){
    number++;
  }
  /* A statement that allocates nothing would be none. */
  if( problem.num_chars==0 && number==1 ) text_print(&problem, "no allocation could fail\n");
  tally(problem.num_chars==0, "allocation %ld %s fails:\n  %s\n%s", number, failing_names[mode], sql,
        problem.num_chars ? problem.chars : "");
  text_free(&problem);
  expectation_free(&expected);
  is_connected = !is_long_run;
}

/* ---- The list of statements ----------------------------------------------------------- */

/* Calls use() for each statement of the file; returns their number. */
static int for_each_statement(const text *file, void (*use)(const char *sql, int is_error, void *data), void *data){
  text sql = {NULL, 0, 0};
  const char *line = file->chars;
  int is_error = 0, is_left_out = 0, num_statements = 0;
  while( *line ){
    size_t num_chars = strcspn(line, "\n");
    if( strncmp(line, "--", 2)==0 ){
      is_error = strncmp(line, "-- error", 8)==0;
      is_left_out = !is_long_run && (strncmp(line, "-- long", 7)==0 || strncmp(line, "-- error -- long", 16)==0);
    }else{
      text_add(&sql, line, num_chars);
      if( sql.num_chars && sqlite3_complete(sql.chars) ){
        if( !is_left_out ){
          use(sql.chars, is_error, data);
          num_statements++;
        }
        text_free(&sql);
        is_error = is_left_out = 0;
      }
    }
    line += num_chars + (line[num_chars]!=0);
  }
  if( sql.num_chars ){
    tally(0, "no end of %s", sql.chars);
    text_free(&sql);
  }
  return num_statements;
}

static void fail_once(const char *sql, int is_error, void *template){
  fail_in_turn(template, sql, is_error, FAIL_ONCE);
}

static void fail_from(const char *sql, int is_error, void *template){
  fail_in_turn(template, sql, is_error, FAIL_FROM);
}

/* Notes each call of the statement's byte code: "AggStep bloom_build(1)". */
static void note_calls(const char *sql, int is_error, void *data){
  sqlite3 *db = data;
  sqlite3_stmt *statement, *insert;
  char *explain = sqlite3_mprintf("EXPLAIN %s", sql);
  (void)is_error;
  if( sqlite3_prepare_v2(db, explain, -1, &statement, NULL)==SQLITE_OK ){
    must(sqlite3_prepare_v2(db, "INSERT INTO calls VALUES (?, ?, ?)", -1, &insert, NULL), "calls");
    while( sqlite3_step(statement)==SQLITE_ROW ){
      sqlite3_bind_value(insert, 1, sqlite3_column_value(statement, 1)); /* opcode */
      sqlite3_bind_value(insert, 2, sqlite3_column_value(statement, 5)); /* p4 */
      sqlite3_bind_text(insert, 3, sql, -1, SQLITE_TRANSIENT);
      sqlite3_step(insert);
      sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
  }
  sqlite3_finalize(statement);
  sqlite3_free(explain);
}

/* What no statement calls: a function takes part by the byte code that it needs. */
#define MISSING_CALLS \
  "WITH called AS (SELECT opcode, substr(p4, 1, instr(p4, '(') - 1) AS name," \
  "       CAST(substr(p4, instr(p4, '(') + 1) AS INTEGER) AS num_args FROM calls WHERE p4 LIKE '%(%)')," \
  " needed(name, num_args, opcode) AS (" \
  "  SELECT name, narg, 'Function' FROM functions WHERE type = 's'" \
  "  UNION ALL SELECT name, narg, o.opcode FROM functions," \
  "   (SELECT 'AggStep' AS opcode UNION ALL SELECT 'AggFinal') o WHERE type IN ('a', 'w')" \
  "  UNION ALL SELECT name, narg, o.opcode FROM functions," \
  "   (SELECT 'AggInverse' AS opcode UNION ALL SELECT 'AggValue') o WHERE type = 'w')" \
  "SELECT printf('no statement calls %s of %d arguments by %s', name, num_args, opcode) FROM needed n" \
  " WHERE NOT EXISTS (SELECT 1 FROM called c WHERE c.name = n.name AND c.opcode = n.opcode AND c.num_args = n.num_args)" \
  "UNION ALL SELECT printf('no statement reads from %s', name) FROM modules m" \
  " WHERE NOT EXISTS (SELECT 1 FROM calls WHERE opcode = 'VFilter' AND sql LIKE '%' || m.name || '%')"

static int print_missing(void *unused, int num_columns, char **values, char **names){
  (void)unused; (void)num_columns; (void)names;
  tally(0, "%s", values[0]);
  return 0;
}

/* The functions are those that SQLite knows after loading and not before. */
static void check_list(const text *file){
  static const char prepare[] =
    "CREATE TEMP TABLE functions AS SELECT DISTINCT name, narg, type FROM pragma_function_list;"
    "CREATE TEMP TABLE modules AS SELECT name FROM pragma_module_list;"
    "CREATE TEMP TABLE calls(opcode, p4, sql);";
  static const char keep_ours[] =
    "CREATE TEMP TABLE ours AS SELECT DISTINCT name, narg, type FROM pragma_function_list EXCEPT SELECT * FROM functions;"
    "CREATE TEMP TABLE our_modules AS SELECT name FROM pragma_module_list EXCEPT SELECT * FROM modules WHERE name NOT LIKE 'bloom%';"
    "DELETE FROM functions; INSERT INTO functions SELECT * FROM ours;"
    "DELETE FROM modules; INSERT INTO modules SELECT * FROM our_modules WHERE name NOT LIKE 'pragma%';";
  sqlite3 *db;
  sqlite3_stmt *count;
  must(sqlite3_open(":memory:", &db), "sqlite3_open()");
  must(sqlite3_exec(db, prepare, NULL, NULL, NULL), "functions before");
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  must(sqlite3_load_extension(db, extension_file, NULL, NULL), "sqlite3_load_extension()");
  must(sqlite3_exec(db, keep_ours, NULL, NULL, NULL), "functions after");
  must(sqlite3_exec(db, schema.chars, NULL, NULL, NULL), "schema");
  for_each_statement(file, note_calls, db);
  must(sqlite3_exec(db, MISSING_CALLS, print_missing, NULL, NULL), "missing calls");
  must(sqlite3_prepare_v2(db, "SELECT (SELECT count(*) FROM functions), (SELECT count(*) FROM modules)", -1,
                          &count, NULL), "count");
  sqlite3_step(count);
  tally(sqlite3_column_int(count, 0)>0 && sqlite3_column_int(count, 1)>0, "the extension has no functions or no modules");
  printf("note: %d functions and %d modules, each in every role\n", sqlite3_column_int(count, 0),
         sqlite3_column_int(count, 1));
  sqlite3_finalize(count);
  sqlite3_close(db);
}

/* ---------------------------------------------------------------------------------------- */

int main(int num_args, char **args){
  static const char *const encodings[] = {"UTF-8", "UTF-16le", "UTF-16be"};
  text statements;
  void *library;
  int num_statements = 0, is_some = 0, i;
  for(; num_args>1 && args[1][0]=='-'; num_args--, args++){
    is_long_run |= strcmp(args[1], "--long")==0;
    is_some |= strcmp(args[1], "--some")==0;
  }
  if( num_args!=4 ){
    fprintf(stderr, "usage: oom [--long] [--some] EXTENSION SCHEMA.sql STATEMENTS.sql\n");
    return 2;
  }
  install_failing_memory();
  extension_file = args[1];
  schema = read_file(args[2]);
  statements = read_file(args[3]);
  library = dlopen(extension_file, RTLD_NOW);
  if( library==NULL ){
    fprintf(stderr, "oom: %s\n", dlerror());
    return 1;
  }
  *(void **)&extension = dlsym(library, "sqlite3_bloom_init");
  if( !is_some ) check_list(&statements);
  must(sqlite3_auto_extension((void (*)(void))extension), "sqlite3_auto_extension()");
  must(sqlite3_auto_extension((void (*)(void))sqlite3_regexp_init), "sqlite3_auto_extension()");
  for(i=0; i<3; i++){
    sqlite3 *template = make_template(encodings[i]);
    if( is_long_run || i==1 ) num_statements = for_each_statement(&statements, fail_once, template);
    if( is_long_run || i==0 ) num_statements = for_each_statement(&statements, fail_from, template);
    sqlite3_close(template);
  }

  printf("note: %d statements%s; %ld runs with failing allocations: %ld gave SQLITE_NOMEM, %ld the exact"
         " answer or error, %ld the error without its text\n", num_statements, is_long_run ? " in 3 encodings" : "",
         num_nomem + num_exact + num_textless, num_nomem, num_exact, num_textless);
  sqlite3_reset_auto_extension();
  sqlite3_shutdown();
  text_free(&schema);
  text_free(&statements);
  return end_of_tests();
}
