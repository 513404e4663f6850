/*
** CREATE VIRTUAL TABLE name USING bloom_index(table, column [LIKE], ...): the table itself,
** read with the blocks of rows left out that cannot hold what is asked for.
**
**   SELECT * FROM name WHERE column = ?          the rows that the table has
**   INSERT INTO name(name) VALUES ('merge')      takes new and changed rows into blocks
**   INSERT INTO name(name) VALUES ('merge=N')    N rows at most
**   INSERT INTO name(name) VALUES ('rebuild'), ('integrity-check')
**
** Here are the methods that SQLite calls; index_int.h names the other parts.
*/
#include "index.h"

#include <stdlib.h>
#include <string.h>

#include "../errors.h"
#include "index_int.h"

static const char *const index_tables[] = {"config", "layout", "state", "changed", "blocks"};

/* -- Making and opening -------------------------------------------------------------------- */

static void index_free(bloom_index *index){
  if( index==NULL ) return;
  index_config_free(&index->config);
  sqlite3_free(index->schema);
  sqlite3_free(index->name);
  sqlite3_free(index->source_name);
  sqlite3_free(index->doubt);
  sqlite3_free(index->base.zErrMsg);
  sqlite3_free(index);
}

static bloom_index *index_new(bloom_connection *connection, const char *schema, const char *name){
  bloom_index *index = sqlite3_malloc64(sizeof(*index));
  if( index==NULL ) return NULL;
  memset(index, 0, sizeof(*index));
  index->connection = connection;
  index->schema = sqlite3_mprintf("%s", schema);
  index->file = bloom_database_file(connection->db, schema);
  index->name = sqlite3_mprintf("%s", name);
  if( index->schema && index->name ) return index;
  index_free(index);
  return NULL;
}

/* SQLite makes an authorizer's refusal, too, SQLITE_ERROR. */
static int index_declare(bloom_index *index, char **error){
  char *declaration = index_config_declaration(index);
  int rc = declaration ? sqlite3_declare_vtab(index->connection->db, declaration) : SQLITE_NOMEM;
  sqlite3_free(declaration);
  if( rc==SQLITE_ERROR ) *error = sqlite3_mprintf("bloom_index: %s", sqlite3_errmsg(index->connection->db));
  if( rc==SQLITE_OK ) sqlite3_vtab_config(index->connection->db, SQLITE_VTAB_INNOCUOUS);
  return rc;
}

/* Makes the tables; what is in them, index_reset() writes. */
static int index_create_tables(bloom_index *index){
  const index_config *config = &index->config;
  bloom_connection *connection = index->connection;
  int i, rc;
  rc = bloom_sql_run(connection, "CREATE TABLE \"%w\".\"%w_config\"(data BLOB)", index->schema, index->name);
  if( rc==SQLITE_OK ) rc = bloom_sql_run(connection, "CREATE TABLE \"%w\".\"%w_layout\"(data BLOB)", index->schema, index->name);
  /* An id is noted once.  No PRIMARY KEY, which would take it into changesets; an index of its
  ** own would keep the old name when the table is renamed. */
  if( rc==SQLITE_OK ) rc = bloom_sql_run(connection, "CREATE TABLE \"%w\".\"%w_changed\"(id INTEGER UNIQUE)", index->schema, index->name);
  if( rc==SQLITE_OK ){
    sqlite3_str *sql = sqlite3_str_new(connection->db);
    sqlite3_str_appendf(sql, "CREATE TABLE \"%w\".\"%w_state\"(covered INTEGER, changed_rows INTEGER, note TEXT", index->schema, index->name);
    for(i=0; i<config->num_keys; i++){
      const char *name = config->columns[config->keys[i].column].name, *like = config->keys[i].is_like ? "like_" : "";
      sqlite3_str_appendf(sql, ", \"%w_%sblocks\" INTEGER, \"%w_%sbytes\" INTEGER, \"%w_%sfill\" REAL", name, like, name, like, name, like);
    }
    sqlite3_str_appendall(sql, ")");
    rc = bloom_sql_run_text(connection, sqlite3_str_finish(sql));
  }
  for(i=0; i<config->num_keys && rc==SQLITE_OK; i++){
    rc = bloom_sql_run(connection, "CREATE TABLE \"%w\".\"%w_blocks_%d\"(data BLOB)", index->schema, index->name, i + 1);
  }
  return rc;
}

/* Drops what there is of the index, whatever stands in its tables' place: tables first, for the reason that
** vtab/vtab_drop.c gives. */
static int index_drop(bloom_index *index){
  sqlite3_stmt *row;
  int i, rc = SQLITE_OK;
  for(i=0; i<(int)(sizeof(index_tables)/sizeof(index_tables[0])) + INDEX_MAX_KEYS && rc==SQLITE_OK; i++){
    char *name = i<4 ? sqlite3_mprintf("%s_%s", index->name, index_tables[i]) : sqlite3_mprintf("%s_blocks_%d", index->name, i - 3);
    const char *type = NULL;
    int is_view = 0;
    rc = name ? bloom_sql_prepare(index->connection, &row, "SELECT type FROM \"%w\".sqlite_master WHERE type IN ('table', 'view')"
      " AND name = %Q COLLATE NOCASE", index->schema, name) : SQLITE_NOMEM;
    if( rc!=SQLITE_OK ){
      sqlite3_free(name);
      return rc;
    }
    rc = bloom_sql_step(index->connection, row);
    if( rc==SQLITE_ROW ){
      rc = bloom_sql_column_text(row, 0, &type);
      is_view = type && strcmp(type, "view")==0;
      if( rc==SQLITE_OK ) rc = SQLITE_ROW;
    }
    sqlite3_finalize(row);
    if( rc==SQLITE_ROW ) rc = bloom_sql_run(index->connection, "DROP %s \"%w\".\"%w\"", is_view ? "VIEW" : "TABLE", index->schema, name);
    if( rc==SQLITE_DONE ) rc = SQLITE_OK;
    sqlite3_free(name);
  }
  return rc==SQLITE_OK ? index_triggers_drop(index) : rc;
}

/* Makes all of an index of which config and declaration are good. */
static int index_make(bloom_index *index, char **error){
  const sqlite3_int64 last_rowid = sqlite3_last_insert_rowid(index->connection->db);
  int rc = index_create_tables(index);
  if( rc==SQLITE_OK ) rc = index_config_write(index);
  if( rc==SQLITE_OK ){
    index->source_name = sqlite3_mprintf("%s", index->config.source);
    rc = index->source_name ? index_triggers_make(index, index->source_name) : SQLITE_NOMEM;
  }
  if( rc==SQLITE_OK ) rc = index_reset(index);
  if( rc!=SQLITE_OK ){
    if( rc!=SQLITE_NOMEM ) *error = sqlite3_mprintf("bloom_index: %s", sqlite3_errmsg(index->connection->db));
    index_drop(index);
  }
  sqlite3_set_last_insert_rowid(index->connection->db, last_rowid);
  return rc;
}

/* The command's column has the index's name, and must hide neither a column nor the rowid. */
static int index_name_check(const bloom_index *index, const char *name, char **error){
  int i;
  for(i=0; i<index->config.num_columns; i++){
    if( sqlite3_stricmp(index->config.columns[i].name, name)==0 ){
      return bloom_fail_vtab(error, "bloom_index: the index cannot be called %s: a column of the table is", name);
    }
  }
  if( sqlite3_stricmp(name, "rowid")==0 || sqlite3_stricmp(name, "_rowid_")==0 || sqlite3_stricmp(name, "oid")==0 ){
    return bloom_fail_vtab(error, "bloom_index: the index cannot be called %s: the rowid is", name);
  }
  return SQLITE_OK;
}

/* args: module, database, table, arguments */
static int index_create(sqlite3 *db, void *connection, int num_args, const char *const *args, sqlite3_vtab **vtab, char **error){
  index_args arguments;
  bloom_index *index = index_new(connection, args[1], args[2]);
  int rc = index ? index_args_read(num_args - 3, args + 3, &arguments, error) : SQLITE_NOMEM;
  (void)db;
  if( index==NULL ) return rc;
  if( rc==SQLITE_OK ) rc = index_config_of_source(index, arguments.source, &index->config, error);
  if( rc==SQLITE_OK ) rc = index_config_set(&index->config, &arguments, error);
  if( rc==SQLITE_OK ) rc = index_name_check(index, index->name, error);
  index_args_free(&arguments);
  if( rc==SQLITE_OK ) rc = index_declare(index, error);
  if( rc==SQLITE_OK ) rc = index_make(index, error);
  if( rc==SQLITE_OK ) *vtab = &index->base; else index_free(index);
  return rc;
}

static int index_connect(sqlite3 *db, void *connection, int num_args, const char *const *args, sqlite3_vtab **vtab, char **error){
  bloom_index *index = index_new(connection, args[1], args[2]);
  int rc = index ? index_config_read(index) : SQLITE_NOMEM;
  (void)num_args;
  if( rc!=SQLITE_OK && rc!=SQLITE_NOMEM ) *error = sqlite3_mprintf("bloom_index: %s", sqlite3_errmsg(db));
  if( rc==SQLITE_OK ) rc = index_declare(index, error);
  if( rc==SQLITE_OK ) *vtab = &index->base; else index_free(index);
  return rc;
}

static int index_disconnect(sqlite3_vtab *vtab){
  index_free(index_of(vtab));
  return SQLITE_OK;
}

static int index_destroy(sqlite3_vtab *vtab){
  bloom_index *index = index_of(vtab);
  int rc = index_locate_database(index);
  if( rc==SQLITE_OK ) rc = index_drop(index);
  if( rc==SQLITE_OK ) index_free(index);
  return rc;
}

static int index_rename_table(bloom_index *index, const char *suffix, const char *new_name){
  return bloom_sql_run(index->connection, "ALTER TABLE \"%w\".\"%w_%s\" RENAME TO \"%w_%s\"", index->schema, index->name, suffix, new_name, suffix);
}

static int index_rename(sqlite3_vtab *vtab, const char *new_name){
  bloom_index *index = index_of(vtab);
  char *name = sqlite3_mprintf("%s", new_name), *old_name = index->name;
  index_source source;
  int i, rc = name ? SQLITE_OK : SQLITE_NOMEM;
  if( index->damage ) rc = bloom_fail_vtab(&vtab->zErrMsg, "bloom_index: %s is damaged: %s", index->name, index->damage);
  if( rc==SQLITE_OK ) rc = index_name_check(index, new_name, &vtab->zErrMsg);
  memset(&source, 0, sizeof(source));
  if( rc==SQLITE_OK ) rc = index_locate(index);
  if( rc==SQLITE_OK ) rc = index_source_check(index, &source, &vtab->zErrMsg);
  /* The triggers are made again, since PRAGMA legacy_alter_table would leave them the tables' old names. */
  if( rc==SQLITE_OK ) rc = index_triggers_drop(index);
  for(i=0; i<4 && rc==SQLITE_OK; i++) rc = index_rename_table(index, index_tables[i], new_name);
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    char suffix[24];
    sqlite3_snprintf(sizeof(suffix), suffix, "blocks_%d", i + 1);
    rc = index_rename_table(index, suffix, new_name);
  }
  index->name = name;
  if( rc==SQLITE_OK && source.doubt==NULL ) rc = index_triggers_make(index, source.name);
  if( rc!=SQLITE_OK ) index->name = old_name;
  sqlite3_free(rc==SQLITE_OK ? old_name : name);
  index_source_free(&source);
  return rc;
}

/* -- Writing ----------------------------------------------------------------------------- */

/* The N of 'merge=N', 1 or more; else 0. */
static sqlite3_int64 index_merge_limit(const char *command){
  sqlite3_int64 number = 0;
  if( sqlite3_strnicmp(command, "merge=", 6)!=0 ) return 0;
  for(command+=6; *command>='0' && *command<='9' && number<INT64_MAX/20; command++) number = 10*number + (*command - '0');
  return *command ? 0 : number;
}

static int index_command(bloom_index *index, sqlite3_value *value){
  const char *command = (const char *)sqlite3_value_text(value);
  char **error = &index->base.zErrMsg;
  if( command==NULL ) return SQLITE_NOMEM;
  if( sqlite3_stricmp(command, "merge")==0 ) return index_merge(index, INDEX_MERGE_ALL, error);
  if( index_merge_limit(command)>0 ) return index_merge(index, index_merge_limit(command), error);
  if( sqlite3_stricmp(command, "rebuild")==0 ) return index_rebuild(index, error);
  if( sqlite3_stricmp(command, "integrity-check")==0 ){
    char *finding = NULL;
    const int rc = index_check(index, 0, &finding);
    if( rc!=SQLITE_OK || finding==NULL ) return rc;
    bloom_fail_vtab(error, "%z", finding);
    return SQLITE_CORRUPT_VTAB;
  }
  return bloom_fail_vtab(error, "bloom_index: there is no command '%s'; commands are 'merge', 'merge=N' with N of 1 or more, "
                                "'rebuild' and 'integrity-check'", command);
}

/* Names the table to write to, which may have been renamed. */
static int index_say_read_only(bloom_index *index){
  const char *doubt;
  char *ignored = NULL;
  const int rc = index_source_doubt(index, &doubt, &ignored);
  sqlite3_free(ignored);
  if( bloom_sql_is_fatal(rc) ) return rc;
  return bloom_fail_vtab(&index->base.zErrMsg, "bloom_index: %s is read only: write to table %s", index->name,
                         index->source_name ? index->source_name : index->config.source);
}

/* args: old rowid, new rowid, columns, the last of which is the command */
static int index_update(sqlite3_vtab *vtab, int num_args, sqlite3_value **args, sqlite3_int64 *rowid){
  bloom_index *index = index_of(vtab);
  sqlite3 *db = index->connection->db;
  const sqlite3_int64 last_rowid = sqlite3_last_insert_rowid(db);
  int i, rc;
  if( index->damage ) return bloom_fail_vtab(&vtab->zErrMsg, "bloom_index: %s is damaged: %s", index->name, index->damage);
  for(i=2; i<num_args-1; i++){
    if( sqlite3_value_type(args[i])!=SQLITE_NULL ) num_args = 1;
  }
  rc = index_locate(index);
  if( num_args==1 || sqlite3_value_type(args[0])!=SQLITE_NULL || sqlite3_value_type(args[num_args-1])==SQLITE_NULL ){
    return rc==SQLITE_OK ? index_say_read_only(index) : rc;
  }
  if( rc==SQLITE_OK ) rc = index_command(index, args[num_args-1]);
  if( rc!=SQLITE_OK && rc!=SQLITE_NOMEM && vtab->zErrMsg==NULL ){
    vtab->zErrMsg = sqlite3_mprintf("bloom_index: %s", bloom_sql_message(db, rc));
  }
  sqlite3_set_last_insert_rowid(db, last_rowid);
  *rowid = last_rowid;
  return rc;
}

/* SQLite asks for it where writes are to be undone, and there is nothing that it does not undo. */
static int index_begin(sqlite3_vtab *vtab){
  (void)vtab;
  return SQLITE_OK;
}

/* Not state and changed: triggers write there for programs without bloom, on connections
** that keep shadow tables from being written, too. */
static int index_shadow_name(const char *suffix){
  return sqlite3_stricmp(suffix, "config")==0 || sqlite3_stricmp(suffix, "layout")==0 || sqlite3_strnicmp(suffix, "blocks_", 7)==0;
}

/* PRAGMA integrity_check.  is_quick: PRAGMA quick_check. */
static int index_integrity(sqlite3_vtab *vtab, const char *schema, const char *name, int is_quick, char **finding){
  bloom_index *index = index_of(vtab);
  const int rc = index_locate(index);
  (void)schema;
  (void)name;
  *finding = NULL;
  return rc==SQLITE_OK ? index_check(index, is_quick, finding) : rc;
}

const bloom_module_with_integrity bloom_index_module = {
  .module = {
    .iVersion = 4,
    .xCreate = index_create,
    .xConnect = index_connect,
    .xBestIndex = index_best_index,
    .xDisconnect = index_disconnect,
    .xDestroy = index_destroy,
    .xOpen = index_open,
    .xClose = index_close,
    .xFilter = index_filter,
    .xNext = index_next,
    .xEof = index_eof,
    .xColumn = index_column,
    .xRowid = index_rowid,
    .xUpdate = index_update,
    .xBegin = index_begin,
    .xRename = index_rename,
    .xShadowName = index_shadow_name,
#if SQLITE_VERSION_NUMBER >= 3044000
    .xIntegrity = index_integrity,
#endif
  },
  .integrity = index_integrity,
};
