/*
** CREATE VIRTUAL TABLE name USING bloom(...): a filter that stays up to date.
**
**   SELECT count(*) FROM name(?)             0: surely no such key, 1: there may be
**   SELECT ... FROM name WHERE key = ?       the same: no row or one
**   SELECT * FROM name                       one row of what there is to know
**   (SELECT handle FROM name)                for bloom_may_contain() in scans
**   INSERT INTO name(key) VALUES (?)         adds: what triggers do, and for standalone filters
**   INSERT INTO name(name) VALUES ('rebuild')
**
** What xUpdate is told is in the database when it returns.  So there is no xBegin, xSync,
** xSavepoint: SQLite's own journal does all that.
*/
#include <string.h>

#include "../errors.h"
#include "vtab_int.h"

#define NAME_OF_COLUMN "bloom: the virtual table cannot be called %s: a column of it is"

const char *const bloom_vtab_columns[BLOOM_VTAB_COMMAND] = {
  "num_keys", "num_removed", "capacity", "bits_per_key", "num_layers", "num_pages", "bytes",
  "expected_fpr", "rebuilt_at", "note", "key", "handle", "filter", "removed", "unheard"
};

static bloom_vtab *vtab_of_base(void *base){
  return base;
}

/* -- Making and opening --------------------------------------------------------------- */

/* 1 if a name is a column's: the command has the table's. */
static int is_own_column(const char *name, int num_parts){
  int i;
  for(i=1; i<=num_parts; i++){
    char part[16];
    sqlite3_snprintf(sizeof(part), part, "key_%d", i);
    if( sqlite3_stricmp(name, part)==0 ) return 1;
  }
  for(i=0; i<BLOOM_VTAB_COMMAND; i++){
    if( sqlite3_stricmp(name, bloom_vtab_columns[i])==0 ) return 1;
  }
  return 0;
}

/* Of a type HIDDEN alone SQLite makes numeric affinity, by which key IN ('01', ...) would look for 1. */
static int vtab_declare(sqlite3 *db, const char *name, int num_parts){
  sqlite3_str *sql = sqlite3_str_new(db);
  char *schema;
  int i, rc;
  sqlite3_str_appendall(sql, "CREATE TABLE x(");
  for(i=1; i<=num_parts; i++) sqlite3_str_appendf(sql, "key_%d BLOB HIDDEN, ", i);
  sqlite3_str_appendf(sql,
    "num_keys INTEGER, num_removed INTEGER, capacity INTEGER, bits_per_key REAL,"
    " num_layers INTEGER, num_pages INTEGER, bytes INTEGER, expected_fpr REAL, rebuilt_at TEXT, note TEXT,"
    " key BLOB HIDDEN, handle BLOB HIDDEN, filter BLOB HIDDEN, removed BLOB HIDDEN, unheard BLOB HIDDEN, \"%w\" BLOB HIDDEN)", name);
  schema = sqlite3_str_finish(sql);
  if( schema==NULL ) return SQLITE_NOMEM;
  rc = sqlite3_declare_vtab(db, schema);
  sqlite3_free(schema);
  if( rc==SQLITE_OK ) sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  return rc;
}

int bloom_vtab_locate(bloom_vtab *vtab){
  int is_changed, rc = bloom_database_locate(vtab->connection, &vtab->schema, vtab->file, &vtab->state, &is_changed);
  if( is_changed ){
    vtab->is_checked = vtab->has_layout = 0;
    bloom_vtab_close_reader(vtab);
  }
  if( rc==SQLITE_NOTFOUND ){
    return bloom_fail_vtab(&vtab->base.zErrMsg, "bloom: the database of %s was detached or replaced while its cache is "
                                                "shared: open the connection anew", vtab->name);
  }
  return bloom_vtab_failure(vtab, rc);
}

static int vtab_disconnect(sqlite3_vtab *base){
  bloom_vtab *vtab = vtab_of_base(base);
  bloom_vtab_args_free(&vtab->args);
  sqlite3_free(vtab->schema);
  sqlite3_free(vtab->name);
  sqlite3_free(vtab->pages);
  sqlite3_free(vtab->guard);
  sqlite3_free(vtab->doubt);
  sqlite3_free(base->zErrMsg); /* SQLite takes some methods' alone */
  sqlite3_free(vtab);
  return SQLITE_OK;
}

/* Reads nothing: a table that is damaged can be dropped.  args: module, database, table,
** arguments. */
static int vtab_connect(
  sqlite3 *db, void *connection, int num_args, const char *const *args, sqlite3_vtab **result, char **error
){
  bloom_vtab *vtab;
  int rc;
  vtab = sqlite3_malloc64(sizeof(*vtab));
  if( vtab==NULL ) return SQLITE_NOMEM;
  memset(vtab, 0, sizeof(*vtab));
  vtab->connection = connection;
  vtab->schema = sqlite3_mprintf("%s", args[1]);
  vtab->file = bloom_database_file(db, args[1]);
  vtab->name = sqlite3_mprintf("%s", args[2]);
  vtab->pages = sqlite3_mprintf("%s_pages", args[2]);
  vtab->guard = sqlite3_mprintf("%s_guard", args[2]);
  rc = vtab->schema && vtab->name && vtab->pages && vtab->guard ? SQLITE_OK : SQLITE_NOMEM;
  if( rc==SQLITE_OK ) rc = bloom_vtab_args_read(num_args - 3, args + 3, &vtab->args, error);
  if( rc==SQLITE_OK && is_own_column(vtab->name, bloom_vtab_num_parts(vtab)) ){
    rc = bloom_fail_vtab(error, NAME_OF_COLUMN, vtab->name);
  }
  if( rc==SQLITE_OK ) rc = vtab_declare(db, vtab->name, bloom_vtab_num_parts(vtab));
  if( rc==SQLITE_OK ) *result = &vtab->base;
  else vtab_disconnect(&vtab->base);
  return rc;
}

static int vtab_create(
  sqlite3 *db, void *connection, int num_args, const char *const *args, sqlite3_vtab **result, char **error
){
  const sqlite3_int64 rowid = sqlite3_last_insert_rowid(db);
  int rc = vtab_connect(db, connection, num_args, args, result, error);
  if( rc!=SQLITE_OK ) return rc;
  rc = bloom_vtab_make(vtab_of_base(*result), error);
  sqlite3_set_last_insert_rowid(db, rowid);
  if( rc!=SQLITE_OK ){
    vtab_disconnect(*result);
    *result = NULL;
  }
  return rc;
}

static int vtab_destroy(sqlite3_vtab *base){
  bloom_vtab *vtab = vtab_of_base(base);
  int rc = bloom_vtab_locate(vtab);
  if( rc==SQLITE_OK ) rc = bloom_vtab_drop(vtab);
  if( rc==SQLITE_OK ) return vtab_disconnect(base);
  sqlite3_free(base->zErrMsg); /* SQLite would take it for that of a later method */
  base->zErrMsg = NULL;
  return rc;
}

/* The tables take the new name; triggers keep their first ones, and SQLite has put the
** filter's new name into their text, unless PRAGMA legacy_alter_table is on. */
static int vtab_rename(sqlite3_vtab *base, const char *new_name){
  bloom_vtab *vtab = vtab_of_base(base);
  bloom_triggers triggers;
  int rc;
  if( is_own_column(new_name, bloom_vtab_num_parts(vtab)) ) return bloom_fail_vtab(&base->zErrMsg, NAME_OF_COLUMN, new_name);
  rc = bloom_vtab_locate(vtab);
  if( rc!=SQLITE_OK ) return rc;
  rc = bloom_vtab_read_triggers(vtab, &triggers);
  if( rc==SQLITE_OK && vtab->args.table && triggers.num_rows>0 ){
    rc = bloom_fail_vtab(&base->zErrMsg, "bloom: renaming needs PRAGMA legacy_alter_table = OFF, so that triggers keep "
                                         "their table");
  }
  bloom_triggers_free(&triggers);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_run(vtab->connection, "ALTER TABLE \"%w\".\"%w\" RENAME TO \"%w_pages\"", vtab->schema, vtab->pages, new_name);
  }
  if( rc==SQLITE_OK && vtab->args.table ){
    rc = bloom_sql_run(vtab->connection, "ALTER TABLE \"%w\".\"%w\" RENAME TO \"%w_guard\"", vtab->schema, vtab->guard, new_name);
  }
  return bloom_vtab_failure(vtab, rc);
}

/* -- Writing ------------------------------------------------------------------------------- */

static int vtab_command(bloom_vtab *vtab, sqlite3_value *value){
  const char *command = (const char *)sqlite3_value_text(value);
  char *finding;
  int rc;
  if( command==NULL ) return SQLITE_NOMEM;
  if( sqlite3_stricmp(command, "rebuild")==0 ) return bloom_vtab_rebuild(vtab);
  if( sqlite3_stricmp(command, "integrity-check")!=0 ){
    return bloom_fail_vtab(&vtab->base.zErrMsg, "bloom: there is no command '%s'; commands are 'rebuild' and "
                                                "'integrity-check'", command);
  }
  rc = bloom_vtab_check(vtab, 0, &finding);
  if( finding==NULL ) return rc;
  return bloom_fail_vtab(&vtab->base.zErrMsg, "%z", finding)==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : SQLITE_NOMEM;
}

/* args: old rowid, new rowid, columns */
static int vtab_update(sqlite3_vtab *base, int num_args, sqlite3_value **args, sqlite3_int64 *rowid){
  bloom_vtab *vtab = vtab_of_base(base);
  const int num_parts = bloom_vtab_num_parts(vtab);
  sqlite3_value **parts = args + 2, **columns = parts + num_parts;
  bloom_vtab_key key;
  int i, rc, num_given = 0;
  if( num_args==1 || sqlite3_value_type(args[0])!=SQLITE_NULL ){
    return bloom_fail_vtab(&base->zErrMsg, "bloom: rows of %s cannot be deleted or changed: a Bloom filter cannot "
                                           "forget a key", vtab->name);
  }
  rc = bloom_vtab_locate(vtab);
  if( rc!=SQLITE_OK ) return rc;
  *rowid = sqlite3_last_insert_rowid(vtab->connection->db);
  if( sqlite3_value_type(columns[BLOOM_VTAB_COMMAND])!=SQLITE_NULL ) return vtab_command(vtab, columns[BLOOM_VTAB_COMMAND]);
  for(i=0; i<BLOOM_VTAB_REMOVED; i++){
    if( i!=BLOOM_VTAB_KEY && sqlite3_value_type(columns[i])!=SQLITE_NULL ){
      return bloom_fail_vtab(&base->zErrMsg, "bloom: column %s of %s cannot be written, only key",
                                             bloom_vtab_columns[i], vtab->name);
    }
  }
  if( sqlite3_value_int(columns[BLOOM_VTAB_UNHEARD]) ) rc = bloom_vtab_mark_unheard(vtab);
  if( rc!=SQLITE_OK ) return rc;
  for(i=0; i<num_parts; i++) num_given += sqlite3_value_type(parts[i])!=SQLITE_NULL;
  /* A tuple with a NULL is no key, but one that is given as a whole is. */
  key = (bloom_vtab_key){.value = columns[BLOOM_VTAB_KEY], .parts = num_given ? parts : NULL};
  return bloom_vtab_give_up(vtab, bloom_vtab_change(vtab, key, columns[BLOOM_VTAB_REMOVED]));
}

static int vtab_shadow_name(const char *name){
  return sqlite3_stricmp(name, "pages")==0;
}

/* PRAGMA integrity_check.  is_quick: PRAGMA quick_check. */
static int vtab_integrity(sqlite3_vtab *base, const char *schema, const char *name, int is_quick, char **finding){
  bloom_vtab *vtab = vtab_of_base(base);
  int rc = bloom_vtab_locate(vtab);
  (void)schema; (void)name;
  *finding = NULL;
  return rc==SQLITE_OK ? bloom_vtab_check(vtab, is_quick, finding) : rc;
}

const bloom_module_with_integrity bloom_vtab_module = {
  .module = {
    .iVersion = 4,
    .xCreate = vtab_create,
    .xConnect = vtab_connect,
    .xBestIndex = bloom_vtab_best_index,
    .xDisconnect = vtab_disconnect,
    .xDestroy = vtab_destroy,
    .xOpen = bloom_vtab_open_cursor,
    .xClose = bloom_vtab_close_cursor,
    .xFilter = bloom_vtab_filter,
    .xNext = bloom_vtab_next,
    .xEof = bloom_vtab_eof,
    .xColumn = bloom_vtab_column,
    .xRowid = bloom_vtab_rowid,
    .xUpdate = vtab_update,
    .xRename = vtab_rename,
    .xShadowName = vtab_shadow_name,
#if SQLITE_VERSION_NUMBER >= 3044000
    .xIntegrity = vtab_integrity,
#endif
  },
  .integrity = vtab_integrity,
};
