/*
** Every allocation fails: for each statement of a file, allocation N fails once, then all from
** N on, for N = 1, 2, 3, ... until none was left to fail.
**
**     oom [--long] [--some] [--sample] EXTENSION STATEMENTS.sql
**
** --long: the statements that take long, too, and databases of all three encodings.  Else
** allocations fail once in UTF-16 databases, where each text takes one more, and all from
** N on in UTF-8 databases.
**
** Each time, lookaside off:
**
** (1) The statement returns its exact answer or its own error, or else SQLITE_NOMEM.  (SQLite
**     returns an error without its text if only the copy of the text failed.)
** (2) If it failed, what is in the database is what was there before.
** (3) The same statement, stepped again on the same connection, returns its exact answer.
** (4) The connection then holds no more memory than one on which nothing failed, and
**     once it is closed none is left.
**
** Each time on a new connection.  But if the statement only reads, and allocates as often where it
** ran before, the quick run does all this on one connection, and looks at the database in the end.
**
** --some: the statements read tables that remember what was read, and take a new connection each
** time; and they are not all.  Without it the list of statements is checked: each function of the
** extension must run, as SQLite's byte code has it, in every number of arguments and every role.
**
** --sample: of all allocations that are made amid the same calls of the extension's functions, in whatever statement, one
** fails; and of each statement every 43rd allocation, others in each.
**
** Loading without memory is tested by test/faults/load.  Prints `N passed, N failed` last.
*/
#define _GNU_SOURCE /* open_memstream(), dl_iterate_phdr() */
#include <execinfo.h>
#include <link.h>
#include <limits.h>
#include <stdarg.h>

/* regexp(), linked with the program. */
#define SQLITE_CORE 1
#include "../../index/regexp.c"

#include "../../lib/failing_memory.h"

/* Runs of statements in which an allocation failed: each ended in one of three ways. */
static long num_nomem, num_exact, num_textless;

static int is_long_run, is_some, is_sample;
static int is_connected; /* 1 once a statement was failed as it connected its virtual tables */

/* ---- The file ------------------------------------------------------------------------ */

typedef struct listed {
  const char *sql;
  int is_error; /* it must fail */
} listed;

enum { MAX_STATEMENTS = 400 };
static listed statements[MAX_STATEMENTS];
static int num_statements;

/* A statement to a line.  A comment behind it says that it fails, or takes long. */
static void read_statements(char *lines){
  char *line;
  num_statements = 0;
  for(line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")){
    char *comment = strstr(line, "; --");
    if( strncmp(line, "--", 2)==0 || (comment && strstr(comment, "long") && !is_long_run) ) continue;
    if( !sqlite3_complete(line) ) tally(0, "no end of %s", line);
    if( num_statements==MAX_STATEMENTS ) abort();
    statements[num_statements].sql = line;
    statements[num_statements].is_error = comment && strstr(comment, "error");
    num_statements++;
    if( comment ) comment[1] = 0;
  }
}

/* ---- Running a statement ----------------------------------------------------------- */

/* What a statement gave: all rows, or an error and its message, not in SQLite's memory. */
typedef struct outcome {
  int rc; /* SQLITE_OK or an error */
  char *chars;
  size_t num_chars;
} outcome;

static int outcome_equal(const outcome *a, const outcome *b){
  return a->rc==b->rc && a->num_chars==b->num_chars && memcmp(a->chars, b->chars, a->num_chars)==0;
}

static int is_nomem(int rc){
  return (rc & 0xff)==SQLITE_NOMEM || rc==SQLITE_IOERR_NOMEM;
}

static void keep_error(sqlite3 *db, outcome *got){
  free(got->chars);
  got->chars = strdup(sqlite3_errmsg(db));
  got->num_chars = strlen(got->chars);
}

/* Writes a row.  SQLITE_NOMEM if a value could not be had. */
static int write_row(sqlite3_stmt *statement, FILE *rows){
  int i;
  for(i=0; i<sqlite3_column_count(statement); i++){
    const void *bytes = NULL;
    size_t num_bytes = 0;
    switch( sqlite3_column_type(statement, i) ){
      case SQLITE_INTEGER:
        fprintf(rows, "%lld|", sqlite3_column_int64(statement, i));
        continue;
      case SQLITE_FLOAT:
        fprintf(rows, "%.17g|", sqlite3_column_double(statement, i));
        continue;
      case SQLITE_NULL:
        fprintf(rows, "NULL|");
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
    fprintf(rows, "%zu:", num_bytes);
    if( num_bytes ) fwrite(bytes, 1, num_bytes, rows);
    fprintf(rows, "|");
  }
  fprintf(rows, "\n");
  return SQLITE_OK;
}

/* Runs a statement to its end.  It is left in *statement, or NULL if it could not be prepared. */
static outcome run(sqlite3 *db, const char *sql, sqlite3_stmt **statement){
  outcome got = {SQLITE_OK, NULL, 0};
  FILE *rows;
  int rc;
  if( *statement==NULL ) got.rc = sqlite3_prepare_v2(db, sql, -1, statement, NULL);
  if( got.rc!=SQLITE_OK ){
    keep_error(db, &got);
    return got;
  }
  rows = open_memstream(&got.chars, &got.num_chars);
  if( rows==NULL ) abort();
  while( (rc = sqlite3_step(*statement))==SQLITE_ROW ){
    rc = write_row(*statement, rows);
    if( rc!=SQLITE_OK ) break;
  }
  fclose(rows);
  if( rc!=SQLITE_DONE ){
    got.rc = rc;
    keep_error(db, &got);
  }
  sqlite3_reset(*statement);
  return got;
}

static outcome run_once(sqlite3 *db, const char *sql){
  sqlite3_stmt *statement = NULL;
  outcome got = run(db, sql, &statement);
  sqlite3_finalize(statement);
  return got;
}

#define STATE "SELECT * FROM state"

/* 1 if the database is as expected. */
static int state_equal(sqlite3 *db, const outcome *expected){
  outcome state = run_once(db, STATE);
  const int is_equal = outcome_equal(&state, expected);
  free(state.chars);
  return is_equal;
}

/* ---- A connection ------------------------------------------------------------------- */

/* A database in an encoding, as the schema leaves it. */
static sqlite3 *make_template(const char *schema, const char *encoding){
  sqlite3 *db;
  char *pragma = sqlite3_mprintf("PRAGMA encoding = '%q'", encoding);
  must(sqlite3_open(":memory:", &db), NULL);
  must(sqlite3_exec(db, pragma, NULL, NULL, NULL), db);
  must(sqlite3_exec(db, schema, NULL, NULL, NULL), db);
  sqlite3_free(pragma);
  return db;
}

/* A new connection to a copy of it.  It has the virtual tables of sql connected: only the long
** run fails that for more than the first statement. */
static sqlite3 *open_copy(sqlite3 *template, const char *sql){
  sqlite3 *db;
  sqlite3_stmt *statement;
  sqlite3_backup *backup;
  must(sqlite3_open(":memory:", &db), NULL);
  backup = sqlite3_backup_init(db, "main", template, "main");
  if( backup==NULL || sqlite3_backup_step(backup, -1)!=SQLITE_DONE ) must(sqlite3_errcode(db), db);
  sqlite3_backup_finish(backup);
  /* That SQLite fails as it reads the schema is not of interest. */
  must(sqlite3_exec(db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL), db);
  if( is_connected && sqlite3_prepare_v2(db, sql, -1, &statement, NULL)==SQLITE_OK ){
    sqlite3_finalize(statement);
  }
  return db;
}

/* The memory in use once the connection has given up what it can, its last error's text
** being the same for all.  Without the pages of the database, which is in memory: *page_bytes. */
static sqlite3_int64 memory_at_rest(sqlite3 *db, int *page_bytes){
  int statement_bytes, ignored;
  static const char long_error[] =
    "SELECT a_column_that_is_not_there_with_a_name_longer_than_every_message_of_the_extension_has_so_that_"
    "_the_connection_keeps_as_much_memory_for_the_text_of_its_last_error_whatever_the_statements_before_it_"
    "_said_when_they_failed_or_did_not_which_would_else_differ_from_one_run_to_another_by_some_hundred_bytes";
  free(run_once(db, long_error).chars);
  sqlite3_db_release_memory(db);
  must(sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED, page_bytes, &ignored, 0), db);
  /* Tables keep statements: which ones, that depends on what the look-up before had read.  One that is
  ** lost keeps the connection from being closed. */
  must(sqlite3_db_status(db, SQLITE_DBSTATUS_STMT_USED, &statement_bytes, &ignored, 0), db);
  /* And of each a small record. */
  for(sqlite3_stmt *kept=sqlite3_next_stmt(db, NULL); kept; kept=sqlite3_next_stmt(db, kept)) statement_bytes += 32;
  return sqlite3_memory_used() - *page_bytes - statement_bytes;
}

/* What a statement returns if no allocation fails. */
typedef struct expectation {
  outcome answer;
  outcome state_before, state_after;
  long num_allocations;
  sqlite3_int64 memory; /* that the connection holds in the end, but for pages */
  int page_bytes;
  int is_change;     /* the state is another afterwards */
  int is_repeatable; /* on one connection: it allocates as often again, and changes nothing */
} expectation;

/* ---- Where allocations are made ------------------------------------------------------ */

/* The extension's calls that lead to an allocation. */
typedef struct site {
  uint64_t hash;     /* of their addresses; 0: the place is free */
  int has_failed[2]; /* an allocation, in each mode */
} site;

enum { MAX_SITES = 1 << 16, MAX_FRAMES = 60 };
static site sites[MAX_SITES];
static site *site_of[MAX_SITES]; /* that of each allocation of the statement, from 0 on; NULL: none */
static uintptr_t extension_begin, extension_end; /* its code in memory */

static void note_site(void){
  void *frames[MAX_FRAMES];
  uint64_t hash = 0;
  const int num_frames = backtrace(frames, MAX_FRAMES);
  site *found;
  int i;
  if( num_places>MAX_SITES ) abort();
  site_of[num_places - 1] = NULL;
  for(i=0; i<num_frames; i++){
    const uintptr_t frame = (uintptr_t)frames[i];
    if( frame>=extension_begin && frame<extension_end ) hash = (hash ^ frame) * 0x9e3779b97f4a7c15u;
  }
  if( hash==0 ) return;
  for(found = &sites[hash % MAX_SITES]; found->hash && found->hash!=hash; ){
    found = found==&sites[MAX_SITES - 1] ? sites : found + 1;
  }
  found->hash = hash;
  site_of[num_places - 1] = found;
}

/* Runs it where none fails, and counts the allocations. */
static outcome run_counting(sqlite3 *db, const char *sql, long *num_allocations){
  outcome got;
  fail_at(MEMORY, LONG_MAX, FAIL_ONCE);
  got = run_once(db, sql);
  fail_no_more();
  *num_allocations = num_places;
  return got;
}

static expectation expect(sqlite3 *template, const char *sql){
  expectation expected;
  sqlite3 *db = open_copy(template, sql);
  sqlite3_stmt *statement = NULL;
  int is_read_only;
  long num_again;
  expected.state_before = run_once(db, STATE);
  on_allocation = is_sample ? note_site : NULL;
  expected.answer = run_counting(db, sql, &expected.num_allocations);
  on_allocation = NULL;
  expected.state_after = run_once(db, STATE);
  expected.is_change = !outcome_equal(&expected.state_before, &expected.state_after);
  expected.is_repeatable = 0;
  is_read_only = !is_some && sqlite3_prepare_v2(db, sql, -1, &statement, NULL)==SQLITE_OK && sqlite3_stmt_readonly(statement);
  sqlite3_finalize(statement);
  /* What is only read is read twice where it failed at first: a filter that knows its journal by then
  ** keeps a second statement. */
  if( is_read_only || (expected.answer.rc==SQLITE_OK && !expected.is_change) ){
    outcome again = run_counting(db, sql, &num_again);
    expected.is_repeatable = !is_long_run && is_read_only && num_again==expected.num_allocations;
    free(again.chars);
  }
  expected.memory = memory_at_rest(db, &expected.page_bytes);
  sqlite3_close(db);
  if( is_sample && !expected.is_repeatable ){
    /* The connections that it fails on have not looked at the state before. */
    db = open_copy(template, sql);
    on_allocation = note_site;
    free(run_counting(db, sql, &expected.num_allocations).chars);
    on_allocation = NULL;
    sqlite3_close(db);
  }
  return expected;
}

static void expectation_free(expectation *expected){
  free(expected->answer.chars);
  free(expected->state_before.chars);
  free(expected->state_after.chars);
}

/* ---- A statement, every allocation of which fails ----------------------------------- */

static char problem[4000]; /* empty: none */

__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...){
  const size_t num_chars = strlen(problem);
  va_list args;
  va_start(args, format);
  vsnprintf(problem + num_chars, sizeof(problem) - num_chars, format, args);
  va_end(args);
}

#define AFTER_IT "the database is not as it should be after it\n"

/* What is wrong with a run in which allocation number fails is said.  Returns how many allocations
** failed.  *db is a connection, or NULL for a new one; it is left there if it may serve again. */
static long run_failing(sqlite3 *template, sqlite3 **db, const char *sql, const expectation *expected, long number, failing mode){
  static sqlite3_int64 memory_before;
  sqlite3_stmt *statement = NULL;
  outcome got;
  long failures;
  sqlite3_int64 memory, most;
  int page_bytes, is_as_new;
  if( *db==NULL ){
    memory_before = sqlite3_memory_used();
    *db = open_copy(template, sql);
    /* What SQLite keeps of the view is in what is expected, and would be room for a leak. */
    if( expected->is_repeatable ) free(run_once(*db, STATE).chars);
  }
  fail_at(MEMORY, number, mode);
  got = run(*db, sql, &statement);
  fail_no_more();
  failures = num_failures;

  if( failures && is_nomem(got.rc) ){
    num_nomem++;
    /* What changes nothing must be as before in the end, too, which is asked below. */
    if( expected->is_change && !state_equal(*db, &expected->state_before) ) say("it left changes behind\n");
    free(got.chars);
    got = run(*db, sql, &statement);
    if( !outcome_equal(&got, &expected->answer) ) say("run again it gave %d, ", got.rc);
  }else if( failures && first_is_benign && got.rc!=SQLITE_OK && got.rc==expected->answer.rc
         && strcmp(got.chars, sqlite3_errstr(got.rc))==0 ){
    num_textless++;
  }else{
    num_exact += failures>0;
    if( !outcome_equal(&got, &expected->answer) ) say("it gave %d, ", got.rc);
  }
  if( problem[0] ){
    say("%.1000s\nbut it should return %d, %.1000s\n", got.chars, expected->answer.rc, expected->answer.chars);
  }
  free(got.chars);
  sqlite3_finalize(statement);

  if( !expected->is_repeatable && !state_equal(*db, &expected->state_after) ) say(AFTER_IT);
  memory = memory_at_rest(*db, &page_bytes);
  /* A hash table of SQLite's that could not grow at first is two places larger in the end.  A schema that
  ** was written twice may fill one page more, which SQLite keeps account of. */
  is_as_new = !first_is_benign && page_bytes==expected->page_bytes;
  most = expected->memory + (failures && !is_as_new ? 32 : 0);
  /* An index, which has _index in its name here, may keep more statements, whose records are not SQLite's. */
  if( strstr(sql, "_index") ) most += 64;
  if( memory>most ){
    say("the connection holds %lld bytes, not %lld\n", memory, expected->memory);
  }
  if( failures && is_as_new && expected->is_repeatable && problem[0]==0 ) return failures;
  if( expected->is_repeatable && !state_equal(*db, &expected->state_after) ) say(AFTER_IT);
  if( sqlite3_close(*db)!=SQLITE_OK ) say("the connection could not be closed\n");
  *db = NULL;
  memory = sqlite3_memory_used();
  if( memory!=memory_before ) say("%lld bytes are left of the connection\n", memory - memory_before);
  return failures;
}

/* 1 if the run in which this allocation fails is left out.  seed: another for each statement. */
static int is_left_out(const expectation *expected, long number, failing mode, long seed){
  site *its = number<=expected->num_allocations ? site_of[number - 1] : NULL;
  if( !is_sample || number==1 ) return 0;
  if( its && !its->has_failed[mode] ){
    its->has_failed[mode] = 1;
    return 0;
  }
  return (number + seed) % 43!=0;
}

static void fail_in_turn(sqlite3 *template, const listed *what, failing mode){
  static const char *const modes[] = {"alone", "and all that follow"};
  expectation expected = expect(template, what->sql);
  sqlite3 *db = NULL;
  const long seed = 5*(what - statements) + 3*(long)mode;
  long number = 1, num_runs = 0;
  problem[0] = 0;
  if( what->is_error!=(expected.answer.rc!=SQLITE_OK) ){
    say("it should %s, but gave %d, %.1000s\n", what->is_error ? "fail" : "not fail", expected.answer.rc, expected.answer.chars);
  }
  while( problem[0]==0 ){
    while( is_left_out(&expected, number, mode, seed) ) number++;
    if( run_failing(template, &db, what->sql, &expected, number, mode)==0 ) break;
    num_runs++;
    number++;
  }
  /* A statement that allocates nothing would be none. */
  if( problem[0]==0 && num_runs==0 ) say("no allocation could fail\n");
  tally(problem[0]==0, "allocation %ld %s fails:\n  %s\n%s", number, modes[mode], what->sql, problem);
  expectation_free(&expected);
  is_connected = !is_long_run;
}

/* ---- The list of statements ----------------------------------------------------------- */

/* Notes each call of the statement's byte code: "AggStep bloom_build(1)". */
static void note_calls(sqlite3 *db, const char *sql){
  sqlite3_stmt *statement, *insert;
  char *explain = sqlite3_mprintf("EXPLAIN %s", sql);
  if( sqlite3_prepare_v2(db, explain, -1, &statement, NULL)==SQLITE_OK ){
    must(sqlite3_prepare_v2(db, "INSERT INTO calls VALUES (?, ?, ?)", -1, &insert, NULL), db);
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
static void check_list(const char *extension, const char *schema){
  static const char prepare[] =
    "CREATE TEMP TABLE functions AS SELECT DISTINCT name, narg, type FROM pragma_function_list;"
    "CREATE TEMP TABLE calls(opcode, p4, sql);";
  static const char keep_ours[] =
    "CREATE TEMP TABLE ours AS SELECT DISTINCT name, narg, type FROM pragma_function_list EXCEPT SELECT * FROM functions;"
    "DELETE FROM functions; INSERT INTO functions SELECT * FROM ours;"
    "CREATE TEMP TABLE modules AS SELECT name FROM pragma_module_list WHERE name LIKE 'bloom%';";
  sqlite3 *db = open_in_memory();
  sqlite3_stmt *count;
  int i;
  must(sqlite3_exec(db, prepare, NULL, NULL, NULL), db);
  must(sqlite3_load_extension(db, extension, NULL, NULL), db);
  must(sqlite3_exec(db, keep_ours, NULL, NULL, NULL), db);
  must(sqlite3_exec(db, schema, NULL, NULL, NULL), db);
  for(i=0; i<num_statements; i++) note_calls(db, statements[i].sql);
  must(sqlite3_exec(db, MISSING_CALLS, print_missing, NULL, NULL), db);
  must(sqlite3_prepare_v2(db, "SELECT (SELECT count(*) FROM functions), (SELECT count(*) FROM modules)", -1, &count, NULL), db);
  sqlite3_step(count);
  tally(sqlite3_column_int(count, 0)>0 && sqlite3_column_int(count, 1)>0, "the extension has no functions or no modules");
  printf("note: %d functions and %d modules, each in every role\n", sqlite3_column_int(count, 0), sqlite3_column_int(count, 1));
  sqlite3_finalize(count);
  sqlite3_close(db);
}

/* ---------------------------------------------------------------------------------------- */

/* Sets where the code of the library lies that has a function. */
static int find_extension(struct dl_phdr_info *library, size_t size, void *function){
  int i;
  (void)size;
  for(i=0; i<library->dlpi_phnum; i++){
    const ElfW(Phdr) *part = &library->dlpi_phdr[i];
    const uintptr_t begin = library->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
    if( part->p_type==PT_LOAD && (uintptr_t)function>=begin && (uintptr_t)function<end ){
      extension_begin = begin;
      extension_end = end;
    }
  }
  return 0;
}

/* The statements over one database, in its encodings. */
static void fail_all(const char *schema){
  static const char *const encodings[] = {"UTF-8", "UTF-16le", "UTF-16be"};
  int i, j;
  is_connected = 0;
  for(i=0; i<3; i++){
    sqlite3 *template = make_template(schema, encodings[i]);
    for(j=0; j<num_statements && (is_long_run || i==1); j++) fail_in_turn(template, &statements[j], FAIL_ONCE);
    for(j=0; j<num_statements && (is_long_run || i==0); j++) fail_in_turn(template, &statements[j], FAIL_FROM);
    sqlite3_close(template);
  }
}

int main(int num_args, char **args){
  char **parts;
  int num_failed = 0;
  for(; num_args>1 && args[1][0]=='-'; num_args--, args++){
    is_long_run |= strcmp(args[1], "--long")==0;
    is_some |= strcmp(args[1], "--some")==0;
    is_sample |= strcmp(args[1], "--sample")==0;
  }
  if( num_args!=3 ){
    fprintf(stderr, "usage: oom [--long] [--some] [--sample] EXTENSION STATEMENTS.sql\n");
    return 2;
  }
  install_failing_memory();
  for(parts = read_parts(args[2]); parts[0] && parts[1]; parts += 2){
    read_statements(parts[1]);
    num_failed += num_statements;
    if( !is_some ) check_list(args[1], parts[0]);
    void (*init)(void) = entry_point(args[1]);
    must(sqlite3_auto_extension(init), NULL);
    dl_iterate_phdr(find_extension, *(void **)&init);
    must(sqlite3_auto_extension((void (*)(void))sqlite3_regexp_init), NULL);
    fail_all(parts[0]);
    sqlite3_reset_auto_extension();
  }
  printf("note: %d statements%s; %ld runs with failing allocations: %ld gave SQLITE_NOMEM, %ld the exact"
         " answer or error, %ld the error without its text\n", num_failed, is_long_run ? " in 3 encodings" : "",
         num_nomem + num_exact + num_textless, num_nomem, num_exact, num_textless);
  sqlite3_shutdown();
  return end_of_tests();
}
