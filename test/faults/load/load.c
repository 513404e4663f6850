/*
** Loading the extension where that is difficult: while a statement runs, where the program
** has functions of its own by our names, again, and without memory.
**
**     load EXTENSION
**
** SQLite neither replaces nor deletes a function while any statement of the connection
** runs, so a load may fail half way; SQLite then unloads the library.  Each time:
**
** (1) Loading succeeds, or fails with an error that names its cause.
** (2) What could be called before can be called, and answers the same; the program's own
**     functions, too, if loading failed because of them.
** (3) What was registered by then works; the rest is not there.  Nothing crashes.
** (4) The statement that runs goes on to its end, and the next load succeeds.
** (5) The library is in memory after all connections are closed.
**
** Prints `N passed, N failed` last.
*/
#define _GNU_SOURCE /* Dl_info */
#include <dlfcn.h>

#include "../../lib/failing_memory.h"

static const char *extension;
static long num_failing_loads;
static const char *scene; /* what is tried, for the reports */
static long scene_number;

static void check(int is_right, const char *what, const char *got){
  tally(is_right, "%s %ld: %s; it was %s", scene, scene_number, what, got ? got : "nothing");
}

/* ---- What can be called -------------------------------------------------------------- */

#define MODULE (-2)

/* One statement for each row of bloom.c, and what it returns; is_complete() compares. */
static const struct {
  const char *name;
  int num_args;
  const char *sql, *answer;
} probes[] = {
  {"bloom_build", 1, "SELECT hex(bloom_build('hello'))", "014000010410400006"},
  {"bloom_build", 2, "SELECT hex(bloom_build('hello', 10))", "014000010410400006"},
  {"bloom_build", 3, "SELECT hex(bloom_build('hello', 10, 1))", "014000010410400006"},
  {"bloom_build", 4, "SELECT hex(bloom_build('hello', 10, 1, 'leveldb'))", "014000010410400006"},
  {"bloom_empty", 1, "SELECT hex(bloom_empty(1))", "000000000000000006"},
  {"bloom_empty", 2, "SELECT hex(bloom_empty(1, 12))", "000000000000000008"},
  {"bloom_empty", 3, "SELECT hex(bloom_empty(1, 12, 'leveldb'))", "000000000000000008"},
  {"bloom_add", -1, "SELECT hex(bloom_add(x'000000000000000006', 'hello'))", "014000010410400006"},
  {"bloom_merge", 1, "SELECT hex(bloom_merge(x'014000010410400006'))", "014000010410400006"},
  {"bloom_bits_per_key", 1, "SELECT bloom_bits_per_key(0.99)", "1.0"},
  {"bloom_bits_per_key", 2, "SELECT bloom_bits_per_key(0.99, 10)", "1.0"},
  {"bloom_bits_per_key", 3, "SELECT bloom_bits_per_key(0.99, 10, 'leveldb')", "1.0"},
  {"bloom_partition", 2, "SELECT bloom_partition('hello', 1)", "0"},
  {"bloom_may_contain", -1, "SELECT bloom_may_contain(x'014000010410400006', 'hello')", "1"},
  {"bloom_filter", -1, "SELECT typeof(bloom_filter('hello'))", "null"},
  {"bloom_open", 1, "SELECT typeof(bloom_open(x'014000010410400006'))", "null"},
  {"bloom_key", 2, "SELECT hex(bloom_key(1, 'int32'))", "01000000"},
  {"bloom_key", 3, "SELECT hex(bloom_key('', 'siphash', zeroblob(16)))", "D70077739D4B921E"},
  {"bloom_tuple", -1, "SELECT hex(bloom_tuple(1))", "010100000000000000"},
  {"bloom_filter_block_build", 2, "SELECT hex(bloom_filter_block_build(0, 'hello'))", "01400001041040000600000000090000000B"},
  {"bloom_filter_block_build", 3, "SELECT hex(bloom_filter_block_build(0, 'hello', 10))", "01400001041040000600000000090000000B"},
  {"bloom_build_sets", 2, "SELECT length(bloom_build_sets(0, 'hello'))>32", "1"},
  {"bloom_build_sets", 3, "SELECT length(bloom_build_sets(0, 'hello', 10))>32", "1"},
  {"bloom_build_sets", 4, "SELECT length(bloom_build_sets(0, 'hello', 10, 1))>32", "1"},
  {"bloom_version", 0, "SELECT length(bloom_version())>0", "1"},
  {"bloom_info", MODULE, "SELECT num_bytes FROM bloom_info(x'014000010410400006')", "9"},
  {"bloom_filter_block", MODULE, "SELECT length(filter) FROM bloom_filter_block(x'01400001041040000600000000090000000B')", "9"},
  {"bloom_ldb", MODULE, "SELECT count(*) FROM bloom_ldb(NULL)", "1"},
  {"bloom_sets", MODULE, "SELECT count(*) FROM bloom_sets(NULL, 1)", "0"},
  {"bloom_index_list", MODULE, "SELECT count(*) FROM bloom_index_list(NULL)", "0"},
  {"bloom_index_info", MODULE, "SELECT count(*) FROM bloom_index_info(NULL)", "0"},
  {"bloom", MODULE, "SELECT coalesce((SELECT name FROM pragma_module_list WHERE name='bloom'), 'no such module')", "bloom"},
  {"bloom_index", MODULE, "SELECT coalesce((SELECT name FROM pragma_module_list WHERE name='bloom_index'), 'no such module')", "bloom_index"},
};

/* The first column of the first row; "error: ..." if that fails.  sqlite3_free() it. */
static char *answer_of(sqlite3 *db, const char *sql){
  sqlite3_stmt *statement = NULL;
  char *answer;
  if( sqlite3_prepare_v2(db, sql, -1, &statement, NULL)==SQLITE_OK && sqlite3_step(statement)==SQLITE_ROW ){
    answer = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
  }else{
    answer = sqlite3_mprintf("error: %s", sqlite3_errmsg(db));
  }
  sqlite3_finalize(statement);
  if( answer==NULL ) exit(1);
  return answer;
}

/* 1 if an answer says that there is no such function, in this number of arguments. */
static int is_absent(const char *answer){
  return strstr(answer, "no such function: bloom_") || strstr(answer, "wrong number of arguments to function bloom_")
      || strstr(answer, "no such table: bloom_") || strstr(answer, "no such column: num_bytes")
      || strcmp(answer, "no such module")==0;
}

/* Calls everything, but what the program has of its own.  Returns how many there are. */
static size_t call_all(sqlite3 *db, const char *own, int all_must_be_there){
  size_t i, num_there = 0;
  for(i=0; i<COUNT_OF(probes); i++){
    char *answer;
    if( own && strcmp(own, probes[i].name)==0 ) continue;
    answer = answer_of(db, probes[i].sql);
    if( strcmp(answer, probes[i].answer)==0 ){
      num_there++;
    }else if( all_must_be_there || !is_absent(answer) ){
      check(0, probes[i].sql, answer);
    }
    sqlite3_free(answer);
  }
  tally(1, "all are called");
  return num_there;
}

/* ---- Connections and statements -------------------------------------------------------- */

/* A statement that has given the first of its five rows. */
static sqlite3_stmt *start(sqlite3 *db, const char *select){
  sqlite3_stmt *statement;
  char *sql = sqlite3_mprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) %s", select);
  must(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), db);
  sqlite3_free(sql);
  if( sqlite3_step(statement)!=SQLITE_ROW ) must(sqlite3_errcode(db), db);
  return statement;
}

/* It goes on to its end, and every row has this number. */
static void end(sqlite3_stmt *statement, int number){
  int num_rows = 1, is_right = 1;
  while( sqlite3_step(statement)==SQLITE_ROW ){
    num_rows++;
    is_right = is_right && sqlite3_column_int(statement, 0)==number;
  }
  check(num_rows==5 && is_right, "the statement that runs goes on", "another answer");
  check(sqlite3_finalize(statement)==SQLITE_OK, "the statement that runs ends well", "an error");
}

/* By the C function or by SQL; the message, to be freed, if it failed.  *rc is SQLITE_OK if
** it did not. */
static char *load(sqlite3 *db, int by_sql, int *rc){
  char *message = NULL;
  if( by_sql ){
    char *sql = sqlite3_mprintf("SELECT load_extension(%Q)", extension);
    *rc = sqlite3_exec(db, sql, NULL, NULL, &message);
    sqlite3_free(sql);
  }else{
    *rc = sqlite3_load_extension(db, extension, NULL, &message);
  }
  return message;
}

static void load_well(sqlite3 *db){
  int rc;
  char *message = load(db, 0, &rc);
  check(rc==SQLITE_OK, "loading succeeds", message);
  sqlite3_free(message);
  check(call_all(db, NULL, 1)==COUNT_OF(probes), "everything is there", "less");
}

static void fail_because(sqlite3 *db, int by_sql, const char *cause){
  int rc;
  char *message = load(db, by_sql, &rc);
  check(rc!=SQLITE_OK && message && strstr(message, cause), "loading fails and says why", message);
  sqlite3_free(message);
}

static void close_connection(sqlite3 *db){
  check(sqlite3_close(db)==SQLITE_OK, "the connection closes", "busy");
}

/* The probes are all that the extension registers. */
static void is_complete(void){
  sqlite3 *db = open_in_memory();
  char *answer, *expected = sqlite3_mprintf("%d", (int)COUNT_OF(probes));
  load_well(db);
  answer = answer_of(db, "SELECT (SELECT count(*) FROM pragma_function_list WHERE name GLOB 'bloom_*')"
                         " + (SELECT count(*) FROM pragma_module_list WHERE name GLOB 'bloom*')");
  check(expected && strcmp(answer, expected)==0, "each row of bloom.c has its statement", answer);
  sqlite3_free(answer);
  sqlite3_free(expected);
  close_connection(db);
}

/* ---- Functions of the program's own ------------------------------------------------------ */

static void mine(sqlite3_context *context, int num_args, sqlite3_value **args){
  (void)num_args; (void)args;
  sqlite3_result_text(context, "mine", -1, SQLITE_STATIC);
}

static const char statements_run[] = "unable to delete/modify user-function due to active statements";

/* The program has one of our functions; a statement runs, which may be the one that loads. */
static void collide(size_t probe, int by_sql){
  static const char *const args[] = {"", "1", "1, 2", "1, 2, 3", "1, 2, 3, 4"};
  sqlite3 *db = open_in_memory();
  sqlite3_stmt *statement = NULL;
  char *sql, *answer;
  const char *own = probes[probe].name;
  const int num_args = probes[probe].num_args;
  must(sqlite3_create_function(db, own, num_args, SQLITE_UTF8, NULL, mine, NULL, NULL), db);
  sql = sqlite3_mprintf("SELECT %s(%s)", own, args[num_args<0 ? 3 : num_args]);
  if( !by_sql ) statement = start(db, "SELECT 7 FROM n");
  fail_because(db, by_sql, statements_run);
  answer = answer_of(db, sql);
  check(strcmp(answer, "mine")==0, "the program's own function is there", answer);
  sqlite3_free(answer);
  sqlite3_free(sql);
  call_all(db, own, 0);
  if( statement ) end(statement, 7);
  call_all(db, own, 0);
  load_well(db);
  close_connection(db);
}

/* ---- Again ---------------------------------------------------------------------------------- */

static const char *const running[] = {
  "SELECT 7 FROM n",
  "SELECT 6 + bloom_may_contain(bloom_build('x'), 'x') FROM n GROUP BY i",
  "SELECT 6 + bloom_may_contain((SELECT bloom_open(bloom_build('x'))), 'x') FROM n",
  "SELECT num_bytes - 2 FROM n, bloom_info(x'014000010410400006')",
  "SELECT length(bloom_build(7) OVER (ORDER BY i)) - 2 FROM n",
};

static void load_again(const char *select, int by_sql){
  sqlite3 *db = open_in_memory();
  sqlite3_stmt *statement;
  load_well(db);
  load_well(db);
  statement = start(db, select);
  fail_because(db, by_sql, statements_run);
  call_all(db, NULL, 1);
  end(statement, 7);
  load_well(db);
  close_connection(db);
}

/* ---- Without SQLite's own loader ------------------------------------------------------------ */

static void *opens_nothing(sqlite3_vfs *vfs, const char *path){
  (void)vfs; (void)path;
  return NULL;
}

static void (*finds_nothing(sqlite3_vfs *vfs, void *library, const char *symbol))(void){
  (void)vfs; (void)library; (void)symbol;
  return NULL;
}

static int knows_no_address(const void *address, Dl_info *library){
  (void)address; (void)library;
  return 0;
}

static void (*finds_no_address(sqlite3_vfs *vfs, void *library, const char *symbol))(void){
  (void)vfs; (void)library; (void)symbol;
  return (void (*)(void))knows_no_address;
}

/* Opens a connection whose extension begins by itself, where VFS is the default one. */
static void begin_under(const char *what, sqlite3_vfs vfs, const char *cause){
  sqlite3 *db;
  sqlite3_vfs *plain = sqlite3_vfs_find(NULL);
  int rc;
  scene = what;
  vfs.zName = "odd";
  must(sqlite3_vfs_register(&vfs, 1), NULL);
  rc = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, plain->zName);
  if( cause ){
    check(rc!=SQLITE_OK && strstr(sqlite3_errmsg(db), cause), "beginning fails and says why", sqlite3_errmsg(db));
  }else{
    check(rc==SQLITE_OK, "beginning succeeds", sqlite3_errmsg(db));
    check(call_all(db, NULL, 1)==COUNT_OF(probes), "everything is there", "less");
  }
  close_connection(db);
  must(sqlite3_vfs_unregister(&vfs), NULL);
}

/* A program links the library itself, in a SQLite that has no loader or an odd one. */
static void begin_without_loader(void){
  static const char not_kept[] = "bloom: the library cannot be kept in memory; linked with a program it needs -DSQLITE_CORE";
  const sqlite3_vfs plain = *sqlite3_vfs_find(NULL);
  sqlite3_vfs vfs = plain;
  int (*init)(sqlite3 *, char **, const void *) = (int (*)(sqlite3 *, char **, const void *))entry_point(extension);
  scene = "without SQLite's functions";
  check(init(NULL, NULL, NULL)==SQLITE_MISUSE, "a call by hand is refused", "another answer");
  must(sqlite3_auto_extension(entry_point(extension)), NULL);
  begin_under("as ever", vfs, NULL);
  vfs.xDlOpen = NULL;
  begin_under("no xDlOpen", vfs, NULL);
  vfs.xDlOpen = opens_nothing;
  begin_under("an xDlOpen that opens nothing", vfs, not_kept);
  vfs = plain;
  vfs.xDlSym = NULL;
  begin_under("no xDlSym", vfs, NULL);
  vfs.xDlSym = finds_nothing;
  begin_under("an xDlSym that finds nothing", vfs, NULL);
  vfs.xDlSym = finds_no_address;
  begin_under("a dladdr() that knows nothing", vfs, not_kept);
  sqlite3_reset_auto_extension();
}

/* ---- Without memory ------------------------------------------------------------------------- */

/* What is there before, and what runs meanwhile.  Returns 0 if no allocation was left to fail. */
static int load_without_memory(int is_again, const char *select, failing mode){
  const sqlite3_int64 memory_before = sqlite3_memory_used();
  sqlite3 *db = open_in_memory();
  sqlite3_stmt *statement = NULL;
  char *message;
  int has_failed, rc;
  if( is_again ) load_well(db);
  if( select ) statement = start(db, select);
  fail_at(MEMORY, scene_number, mode);
  message = load(db, 0, &rc);
  fail_no_more();
  has_failed = num_failures>0;
  num_failing_loads += has_failed;
  /* SQLite makes the extension's SQLITE_NOMEM an SQLITE_ERROR. */
  check(rc==SQLITE_OK || rc==SQLITE_ERROR || rc==SQLITE_NOMEM, "it fails for want of memory", sqlite3_errstr(rc));
  /* SQLite may have had no memory for its own words. */
  check(rc==SQLITE_OK || message==NULL || strstr(message, "out of memory") || strstr(message, statements_run)
        || (strstr(message, ": ")==NULL && strstr(message, "initialization")==NULL),
        "the message names the cause", message);
  sqlite3_free(message);
  call_all(db, NULL, is_again || rc==SQLITE_OK);
  if( statement ) end(statement, 7);
  load_well(db);
  close_connection(db);
  check(sqlite3_memory_used()==memory_before, "no memory is left of the connection", "more");
  return has_failed;
}

/* Likewise of the library as linked with a program, which begins in sqlite3_open(). */
static int begin_without_memory(failing mode){
  const sqlite3_int64 memory_before = sqlite3_memory_used();
  sqlite3 *db = NULL;
  int rc;
  fail_at(MEMORY, scene_number, mode);
  rc = sqlite3_open(":memory:", &db);
  fail_no_more();
  num_failing_loads += num_failures>0;
  check(rc==SQLITE_OK || rc==SQLITE_NOMEM, "it begins, or fails for want of memory", sqlite3_errmsg(db));
  if( rc==SQLITE_OK ) call_all(db, NULL, 1);
  close_connection(db);
  check(sqlite3_memory_used()==memory_before, "no memory is left of the connection", "more");
  return num_failures>0;
}

static void load_and_begin_without_memory(void){
  static const char *const scenes[2][2] = {
    {"a first load without memory", "a first load without memory, while a statement runs,"},
    {"a second load without memory", "a second load without memory, while a statement runs,"},
  };
  int is_again, is_running, mode;
  for(mode=FAIL_ONCE; mode<=FAIL_FROM; mode++){
    for(is_again=0; is_again<2; is_again++){
      for(is_running=0; is_running<2; is_running++){
        scene = scenes[is_again][is_running];
        scene_number = 1;
        while( load_without_memory(is_again, is_running ? running[2 * is_again] : NULL, (failing)mode) ) scene_number++;
        check(scene_number>1, "an allocation fails", "none");
      }
    }
    must(sqlite3_auto_extension(entry_point(extension)), NULL);
    scene = "beginning without memory";
    for(scene_number=1; begin_without_memory((failing)mode); scene_number++) {}
    check(scene_number>1, "an allocation fails", "none");
    sqlite3_reset_auto_extension();
  }
}

/* ------------------------------------------------------------------------------------------------ */

int main(int argc, char **argv){
  size_t i;
  sqlite3 *db;
  if( argc!=2 ){
    fprintf(stderr, "usage: load EXTENSION\n");
    return 2;
  }
  extension = argv[1];
  install_failing_memory();
  load_and_begin_without_memory(); /* first, while nothing keeps the library in memory */
  scene = "all that is registered";
  scene_number = 0;
  is_complete();
  for(i=0; i<COUNT_OF(probes); i++){
    if( probes[i].num_args==MODULE ) continue; /* a module collides with nothing */
    scene = probes[i].name;
    scene_number = probes[i].num_args;
    collide(i, 0);
    collide(i, 1);
  }
  for(i=0; i<COUNT_OF(running); i++){
    scene = running[i];
    load_again(running[i], 0);
    load_again(running[i], 1);
  }
  begin_without_loader();
  /* All is closed. */
  check(dlopen(extension, RTLD_LAZY | RTLD_NOLOAD)!=NULL, "the library is in memory", "gone");
  db = open_in_memory();
  load_well(db);
  close_connection(db);
  printf("note: SQLite %s, %ld loads with failing allocations\n", sqlite3_libversion(), num_failing_loads);
  return end_of_tests();
}
