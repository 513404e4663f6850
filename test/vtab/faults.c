/*
** Whatever fails amid scripts of statements, no filter misses a row that is there:
**
**     faults [--seed N] [--most N] EXTENSION SCRIPTS.sql
**
** Fails, at place 1, 2, 3 and so on of each script, or at a sample of N places:
**
**     memory     an allocation, alone or with all that follow
**     disk       reading, writing, syncing, deleting a file, alone or with all that follow; in
**                rollback and in WAL mode
**     full disk  a write, by SQLITE_FULL, alone or with all that follow
**     interrupt  a step of SQLite's byte code, alone or with all that follow
**     refusal    what an authorizer is asked for, while a statement is prepared, likewise
**     company    another connection locks, writes or changes the schema before a statement
**
** (SQLite 3.31.1 itself crashes where memory fails amid triggers.)
**
** The script goes on after an error.  Each time:
**
** (1) The first error is that of the fault, and none says that a filter is damaged.
** (2) No key that is in a table is missed by its filters, by look-up or by handle: within the
**     transaction that is left (every other time), after its end, and on a new connection.
** (3) Afterwards statements succeed, 'integrity-check' and PRAGMA integrity_check find
**     nothing, there or on the new connection, and no memory is left when the connection is closed.
**
** Prints `N passed, N failed` last.
*/
#define _DEFAULT_SOURCE /* for mkdtemp() */
#include <unistd.h>

#include "../lib/failing_memory.h"

static long num_runs;
static char database_file[300];

/* ---- What fails ------------------------------------------------------------------------ */

/* Beside MEMORY; company comes once, and its places are counted by the statement. */
enum { DISK = MEMORY + 1, FULL, INTERRUPT, REFUSAL, COMPANY, NUM_FAULTS };

static const char *const fault_names[NUM_FAULTS][2] = {
  {"an allocation fails", "allocations fail from"},
  {"the disk fails once", "the disk fails from"},
  {"the disk is full once", "the disk is full from"},
  {"interrupted once", "interrupted from"},
  {"not authorized once", "not authorized from"},
  {"another connection", NULL}
};

/* What another connection does before a statement. */
static const char *const company[] = {
  "BEGIN; SELECT count(*) FROM sqlite_master",
  "BEGIN IMMEDIATE",
  "BEGIN EXCLUSIVE",
  "INSERT INTO followed(k, part) VALUES ('of another', 'a')",
  "INSERT INTO in_set VALUES ('of another')",
  "DROP TABLE IF EXISTS of_another; CREATE TABLE of_another(x)",
  "INSERT INTO followed_k(followed_k) VALUES ('merge')",
  "INSERT INTO followed_k(followed_k) VALUES ('rebuild')",
};
#define NUM_COMPANY ((long)COUNT_OF(company))

static int fails_on_disk(int is_write){
  return fails_now(DISK) ? SQLITE_IOERR : is_write && fails_now(FULL) ? SQLITE_FULL : SQLITE_OK;
}

static int on_step(void *unused){
  (void)unused;
  return fails_now(INTERRUPT);
}

static int on_authorize(void *unused, int action, const char *a, const char *b, const char *c, const char *d){
  (void)unused; (void)action; (void)a; (void)b; (void)c; (void)d;
  return fails_now(REFUSAL) ? SQLITE_DENY : SQLITE_OK;
}

/* 1 if an error may be the fault's own.  What fails in xBestIndex SQLite makes SQLITE_ERROR, and
** keeps the words. */
static int is_of_fault(int what, int rc, const char *words){
  if( rc==SQLITE_ERROR ){
    static const int codes[] = {SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_INTERRUPT, SQLITE_BUSY, SQLITE_LOCKED};
    size_t i;
    for(i=0; i<COUNT_OF(codes); i++){
      if( strstr(words, sqlite3_errstr(codes[i])) && is_of_fault(what, codes[i], words) ) return 1;
    }
  }
  switch( what ){
    case MEMORY:
      return (rc & 0xff)==SQLITE_NOMEM || rc==SQLITE_IOERR_NOMEM;
    case DISK:
      return (rc & 0xff)==SQLITE_IOERR || (rc & 0xff)==SQLITE_CANTOPEN;
    case FULL:
      return (rc & 0xff)==SQLITE_FULL || (rc & 0xff)==SQLITE_IOERR;
    case INTERRUPT:
      /* SQLITE_IOERR takes a half-written filter back. */
      return rc==SQLITE_INTERRUPT || (rc==SQLITE_IOERR && strstr(words, "interrupted"));
    case REFUSAL:
      return rc==SQLITE_AUTH || rc==SQLITE_ERROR
          || (rc==SQLITE_IOERR && (strstr(words, "not authorized") || strstr(words, "prohibited")));
    default: /* company */
      return (rc & 0xff)==SQLITE_BUSY || (rc & 0xff)==SQLITE_LOCKED;
  }
}

/* ---- A file system that fails ------------------------------------------------------------ */

static sqlite3_vfs *real_vfs;
static sqlite3_vfs failing_vfs;

/* A file of the real file system has this behind it: its methods, and the same with those that
** fail, which SQLite calls. */
typedef struct file_methods {
  const sqlite3_io_methods *real;
  sqlite3_io_methods failing;
} file_methods;

static file_methods *methods_of(sqlite3_file *file){
  return (file_methods *)(void *)((char *)file + real_vfs->szOsFile);
}

#define OR_FAIL(is_write, code, call) \
  int rc = fails_on_disk(is_write); \
  if( rc!=SQLITE_OK ) return rc==SQLITE_IOERR ? code : rc; \
  return call

static int file_read(sqlite3_file *file, void *bytes, int num_bytes, sqlite3_int64 offset){
  OR_FAIL(0, SQLITE_IOERR_READ, methods_of(file)->real->xRead(file, bytes, num_bytes, offset));
}
static int file_write(sqlite3_file *file, const void *bytes, int num_bytes, sqlite3_int64 offset){
  OR_FAIL(1, SQLITE_IOERR_WRITE, methods_of(file)->real->xWrite(file, bytes, num_bytes, offset));
}
static int file_truncate(sqlite3_file *file, sqlite3_int64 num_bytes){
  OR_FAIL(0, SQLITE_IOERR_TRUNCATE, methods_of(file)->real->xTruncate(file, num_bytes));
}
/* The machine does not lose its power. */
static int file_sync(sqlite3_file *file, int flags){
  (void)file; (void)flags;
  OR_FAIL(0, SQLITE_IOERR_FSYNC, SQLITE_OK);
}
static int file_size(sqlite3_file *file, sqlite3_int64 *num_bytes){
  OR_FAIL(0, SQLITE_IOERR_FSTAT, methods_of(file)->real->xFileSize(file, num_bytes));
}
static int file_shm_map(sqlite3_file *file, int page, int num_bytes, int is_extended, void volatile **memory){
  OR_FAIL(0, SQLITE_IOERR_SHMMAP, methods_of(file)->real->xShmMap(file, page, num_bytes, is_extended, memory));
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags){
  file_methods *methods = methods_of(file);
  int rc;
  (void)vfs;
  file->pMethods = NULL;
  if( fails_on_disk(0)!=SQLITE_OK ) return SQLITE_CANTOPEN;
  rc = real_vfs->xOpen(real_vfs, name, file, flags, out_flags);
  if( file->pMethods==NULL ) return rc;
  methods->real = file->pMethods;
  methods->failing = *methods->real;
  methods->failing.iVersion = 2; /* without xFetch(), which reads past xRead() */
  methods->failing.xRead = file_read;
  methods->failing.xWrite = file_write;
  methods->failing.xTruncate = file_truncate;
  methods->failing.xSync = file_sync;
  methods->failing.xFileSize = file_size;
  methods->failing.xShmMap = file_shm_map;
  file->pMethods = &methods->failing;
  return rc;
}
static int vfs_delete(sqlite3_vfs *vfs, const char *name, int is_synced){
  (void)vfs;
  OR_FAIL(0, SQLITE_IOERR_DELETE, real_vfs->xDelete(real_vfs, name, is_synced));
}
static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result){
  (void)vfs;
  OR_FAIL(0, SQLITE_IOERR_ACCESS, real_vfs->xAccess(real_vfs, name, flags, result));
}

static void install_failing_disk(void){
  real_vfs = sqlite3_vfs_find(NULL);
  failing_vfs = *real_vfs;
  failing_vfs.szOsFile = real_vfs->szOsFile + (int)sizeof(file_methods);
  failing_vfs.zName = "failing";
  failing_vfs.xOpen = vfs_open;
  failing_vfs.xDelete = vfs_delete;
  failing_vfs.xAccess = vfs_access;
  must(sqlite3_vfs_register(&failing_vfs, 0), NULL);
}

/* Parts of the file: the first makes the database, the last is what must succeed in the end. */
static char **scripts;
static int num_scripts;

/* ---- A run --------------------------------------------------------------------------------- */

typedef struct template_database {
  char *bytes;
  size_t num_bytes;
} template_database;

static sqlite3 *open_database(void){
  sqlite3 *db;
  must(sqlite3_open_v2(database_file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "failing"), NULL);
  return db;
}

static void remove_files(void){
  static const char *const endings[] = {"", "-journal", "-wal", "-shm"};
  char name[sizeof(database_file) + 10];
  size_t i;
  for(i=0; i<COUNT_OF(endings); i++){
    snprintf(name, sizeof(name), "%s%s", database_file, endings[i]);
    unlink(name);
  }
}

static template_database make_template(const char *mode){
  template_database made;
  sqlite3 *db;
  char pragma[100];
  FILE *file;
  long num_bytes;
  remove_files();
  db = open_database();
  snprintf(pragma, sizeof(pragma), "PRAGMA page_size = 1024; PRAGMA journal_mode = %s", mode);
  must(sqlite3_exec(db, pragma, NULL, NULL, NULL), db);
  must(sqlite3_exec(db, scripts[0], NULL, NULL, NULL), db);
  must(sqlite3_close(db), db);
  file = fopen(database_file, "rb");
  if( file==NULL ) abort();
  fseek(file, 0, SEEK_END);
  num_bytes = ftell(file);
  rewind(file);
  made.num_bytes = (size_t)num_bytes;
  made.bytes = malloc(made.num_bytes);
  if( made.bytes==NULL || fread(made.bytes, 1, made.num_bytes, file)!=made.num_bytes ) abort();
  fclose(file);
  return made;
}

static void write_template(const template_database *from){
  FILE *file;
  remove_files();
  file = fopen(database_file, "wb");
  if( file==NULL || fwrite(from->bytes, 1, from->num_bytes, file)!=from->num_bytes ) abort();
  fclose(file);
}

static char problem[1000]; /* empty: none */

static void say(const char *format, const char *what, int rc, sqlite3 *db){
  if( problem[0] ) return;
  snprintf(problem, sizeof(problem), "%s: %d, %s: %.600s", format, rc, db ? sqlite3_errmsg(db) : "", what);
}

static int print_row(void *rows, int num_columns, char **values, char **names){
  (void)num_columns; (void)names;
  if( rows ) snprintf(rows, 300, "%.290s", values[0] ? values[0] : "NULL");
  return 0;
}

/* What must give no row. */
static void must_be_empty(sqlite3 *db, const char *when, const char *sql){
  char row[300] = "";
  int rc = sqlite3_exec(db, sql, print_row, row, NULL);
  if( rc!=SQLITE_OK ) say(when, sql, rc, db);
  else if( row[0] ) say(when, row, rc, db);
}

static void must_succeed(sqlite3 *db, const char *when, const char *sql){
  int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
  if( rc!=SQLITE_OK ) say(when, sql, rc, db);
}

/* 'integrity-check' of each filter that there is. */
static void check_filters(sqlite3 *db){
  sqlite3_stmt *row;
  must(sqlite3_prepare_v2(db, "SELECT printf('INSERT INTO \"%w\"(\"%w\") VALUES (''integrity-check'')', name, name)"
                          " FROM sqlite_master WHERE sql LIKE '%USING bloom%'", -1, &row, NULL), db);
  while( sqlite3_step(row)==SQLITE_ROW ) must_succeed(db, "integrity-check", (const char *)sqlite3_column_text(row, 0));
  sqlite3_finalize(row);
  must_be_empty(db, "orphans", "SELECT s.name FROM sqlite_master s WHERE s.name LIKE '%\\_pages' ESCAPE '\\'"
    " AND NOT EXISTS (SELECT 1 FROM sqlite_master v WHERE v.sql LIKE '%USING bloom%' AND v.name || '_pages' = s.name)");
  must_be_empty(db, "PRAGMA integrity_check", "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'");
}

#define MISSED "SELECT * FROM missed"

static void end_transaction(sqlite3 *db){
  if( sqlite3_get_autocommit(db) ) return;
  if( sqlite3_exec(db, "COMMIT", NULL, NULL, NULL)!=SQLITE_OK && !sqlite3_get_autocommit(db) ){
    must_succeed(db, "ROLLBACK", "ROLLBACK");
  }
}

/* The company that comes before statement number, at this place; NULL if none does. */
static sqlite3 *invite(long number){
  const long place = failing_place - 1;
  sqlite3 *guest;
  if( failing_what!=COMPANY || failing_place==0 || place / NUM_COMPANY!=number ) return NULL;
  num_failures++;
  guest = open_database();
  sqlite3_exec(guest, company[place % NUM_COMPANY], NULL, NULL, NULL); /* it may meet locks itself */
  return guest;
}

/* Runs a script, the fault armed.  Gives how many statements there were. */
static long run_script(sqlite3 *db, const char *sql, int what){
  long number = 0;
  int is_first = 1;
  while( *sql ){
    sqlite3_stmt *statement = NULL;
    sqlite3 *guest = invite(number);
    const char *end = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, &end);
    if( rc==SQLITE_OK && statement ){
      while( (rc = sqlite3_step(statement))==SQLITE_ROW ) {}
      rc = sqlite3_reset(statement);
    }
    if( rc!=SQLITE_OK ){
      if( is_first && !is_of_fault(what, rc, sqlite3_errmsg(db)) ) say("the error is not the fault's", sql, rc, db);
      if( (rc & 0xff)==SQLITE_CORRUPT || strstr(sqlite3_errmsg(db), "damaged") ) say("damage", sql, rc, db);
      is_first = 0;
      /* SQLite does not say where a statement ends that cannot be prepared. */
      end = strstr(sql, ";\n");
      end = end ? end + 2 : sql + strlen(sql);
    }
    sqlite3_finalize(statement);
    if( guest ) sqlite3_close(guest);
    sql = end;
    number++;
  }
  return number;
}

static long lost_place;
static failing lost_mode;

/* Has SQLite lose the schema that it has in memory, and the open BLOB of a filter, and the disk fail
** from then on: lose_schema(x) gives x. */
static void lose_schema(sqlite3_context *context, int num_args, sqlite3_value **args){
  (void)num_args;
  sqlite3_exec(sqlite3_context_db_handle(context), "UPDATE followed_k_pages SET bytes = bytes", NULL, NULL, NULL);
  sqlite3_exec(sqlite3_context_db_handle(context), "ATTACH 'no such folder/file' AS lost", NULL, NULL, NULL);
  fail_at(DISK, lost_place, lost_mode);
  sqlite3_result_value(context, args[0]);
}

/* A look-up has the schema read anew, at each place of which the disk fails: that is no damage. */
static void fail_with_lost_schema(const template_database *template){
  const char *sql = strstr(scripts[0], "USING bloom(")
    ? "SELECT count(*) FROM (SELECT 'Key1' AS sought) CROSS JOIN followed_k i WHERE i.key = lose_schema(sought)"
    : "SELECT count(*) FROM (SELECT 'Key1' AS sought) CROSS JOIN followed_k i WHERE i.k = lose_schema(sought)";
  for(lost_mode=FAIL_ONCE; lost_mode<=FAIL_FROM; lost_mode++){
    long num_lost = 0;
    problem[0] = 0;
    for(lost_place=1; ; lost_place++){
      sqlite3 *db;
      write_template(template);
      db = open_database();
      must(sqlite3_create_function(db, "lose_schema", 1, SQLITE_UTF8, NULL, lose_schema, NULL, NULL), db);
      must(sqlite3_exec(db, "PRAGMA cache_size = 0", NULL, NULL, NULL), db);
      run_script(db, sql, DISK);
      fail_no_more();
      sqlite3_close(db);
      if( num_failures==0 || problem[0] ) break;
      num_lost++;
    }
    num_runs += num_lost;
    tally(problem[0]==0 && num_lost>0, "the schema is lost, %s %ld: %s", fault_names[DISK][lost_mode], lost_place, problem);
  }
}

/* Sets how many places of each kind a script has, by a run in which nothing fails. */
static void count_places(const template_database *template, const char *script, long places[NUM_FAULTS]){
  sqlite3 *db;
  problem[0] = 0;
  memset(places, 0, NUM_FAULTS * sizeof(places[0]));
  write_template(template);
  db = open_database();
  must_be_empty(db, "at first", MISSED);
  sqlite3_progress_handler(db, 1, on_step, NULL);
  sqlite3_set_authorizer(db, on_authorize, NULL);
  counted_places = places;
  places[COMPANY] = NUM_COMPANY * run_script(db, script, COMPANY);
  counted_places = NULL;
  must(sqlite3_close(db), db);
  tally(problem[0]==0, "nothing fails: %s\n  in:%.300s", problem, script);
}

/* Gives 1 if the fault happened. */
static int run(const template_database *template, const char *script, int what, long place, failing mode){
  const sqlite3_int64 memory_before = sqlite3_memory_used();
  sqlite3 *db;
  problem[0] = 0;
  write_template(template);
  db = open_database();
  if( place%2==0 ) must_be_empty(db, "at first", MISSED); /* else the connection knows nothing */
  sqlite3_progress_handler(db, what==INTERRUPT, on_step, NULL);
  if( what==REFUSAL ) sqlite3_set_authorizer(db, on_authorize, NULL);
  fail_at(what, place, mode);
  run_script(db, script, what);
  fail_no_more();
  sqlite3_progress_handler(db, 0, NULL, NULL);
  sqlite3_set_authorizer(db, NULL, NULL);
  if( place/2%2 && !sqlite3_get_autocommit(db) ) must_be_empty(db, "within the transaction", MISSED);
  end_transaction(db);
  must_be_empty(db, "after the transaction", MISSED);
  must_succeed(db, "afterwards", scripts[num_scripts-1]);
  must_be_empty(db, "after more changes", MISSED);
  if( place%2 ) check_filters(db);
  if( sqlite3_close(db)!=SQLITE_OK ) say("close", "", 0, db);
  if( sqlite3_memory_used()!=memory_before ) say("memory is left", "", (int)(sqlite3_memory_used() - memory_before), NULL);
  db = open_database();
  must_be_empty(db, "on a new connection", MISSED);
  if( place%2==0 ) check_filters(db);
  sqlite3_close(db);
  return num_failures>0;
}

/* ---------------------------------------------------------------------------------------------- */

static uint32_t random_state;

static long random_below(long most){
  random_state = random_state * 1664525u + 1013904223u;
  return (long)((random_state >> 8) % (uint32_t)most);
}

/* One fault in a script, in each of its modes at so many of its places at most. */
static void fail_in_turn(const template_database *template, const char *journal, const char *script, int what, long total, long most){
  const long step = total>most ? total / most : 1;
  long place = 0, first;
  int mode;
  problem[0] = 0;
  if( total==0 && what==FULL ) return; /* it only reads */
  if( total==0 ) say("nothing can fail", "", 0, NULL);
  for(mode=FAIL_ONCE; mode<=FAIL_FROM && fault_names[what][mode]; mode++){
    for(first=1; first<=total && problem[0]==0; first += step){
      place = first + random_below(step);
      num_runs += run(template, script, what, place, (failing)mode);
    }
    tally(problem[0]==0, "%s, %s %ld of %ld: %s\n  in:%.300s", journal, fault_names[what][mode], place, total, problem, script);
  }
}

int main(int num_args, char **args){
  static const char *const journals[] = {"DELETE", "WAL"};
  char folder[] = "/tmp/bloom-faults-XXXXXX";
  long most = 40, places[NUM_FAULTS];
  int i, script, what;
  for(; num_args>2 && args[1][0]=='-'; num_args -= 2, args += 2){
    if( strcmp(args[1], "--seed")==0 ) random_state = (uint32_t)strtoul(args[2], NULL, 10);
    else if( strcmp(args[1], "--most")==0 ) most = strtol(args[2], NULL, 10);
  }
  if( num_args!=3 ){
    fprintf(stderr, "usage: faults [--seed N] [--most N] EXTENSION SCRIPTS.sql\n");
    return 2;
  }
  install_failing_memory();
  install_failing_disk();
  must(sqlite3_auto_extension(entry_point(args[1])), NULL);
  scripts = read_parts(args[2]);
  while( scripts[num_scripts] ) num_scripts++;
  if( mkdtemp(folder)==NULL ) abort();
  snprintf(database_file, sizeof(database_file), "%s/db", folder);
  for(i=0; i<2; i++){
    template_database template = make_template(journals[i]);
    fail_with_lost_schema(&template);
    for(script=1; script<num_scripts-1; script++){
      count_places(&template, scripts[script], places);
      for(what=0; what<NUM_FAULTS; what++){
        /* The others are the same in WAL mode. */
        if( i==0 || what==DISK || what==FULL || what==COMPANY ) fail_in_turn(&template, journals[i], scripts[script], what, places[what], most);
      }
    }
    free(template.bytes);
  }
  remove_files();
  rmdir(folder);
  sqlite3_reset_auto_extension();
  printf("note: %d scripts, %ld runs with a fault\n", num_scripts - 2, num_runs);
  return end_of_tests();
}
