/*
** CREATE VIRTUAL TABLE name USING bloom(...): a filter that stays up to date.
**
**   SELECT count(*) FROM name(?)             0: surely no such key, 1: there may be
**   SELECT ... FROM name WHERE key = ?       the same: no row or one
**   SELECT * FROM name                       one row of facts
**   (SELECT handle FROM name)                for bloom_may_contain() in scans
**   INSERT INTO name(name) VALUES ('merge')  takes the journal into the pages
**   INSERT INTO name(key) VALUES (?)         adds to a standalone filter
**   INSERT INTO name(name) VALUES ('delete-all')   empties a standalone filter
**
** What xUpdate writes is in the database when it returns.  So there is no xBegin, xSync,
** xSavepoint: SQLite's own journal does all that.
*/
#include <string.h>

#include "../key.h"
#include "../size_args.h"
#include "../source/follow.h"
#include "vtab_int.h"

#define NAME_OF_COLUMN "bloom: the virtual table cannot be called %s: a column of it is"

/* SQLite gives a column whose type is HIDDEN alone numeric affinity, and key IN ('01', ...) would
** look for 1: so BLOB stands before it. */
static const struct {
  const char *name, *type;
} vtab_columns[BLOOM_VTAB_COMMAND] = {
  {"num_keys", "INTEGER"}, {"unmerged", "INTEGER"}, {"capacity", "INTEGER"},
  {"bits_per_key", "REAL"}, {"bytes", "INTEGER"}, {"expected_fpr", "REAL"}, {"merged_at", "TEXT"},
  {"note", "TEXT"}, {"key", "BLOB HIDDEN"}, {"handle", "BLOB HIDDEN"}, {"filter", "BLOB HIDDEN"},
  {"removed", "BLOB HIDDEN"}, {"unheard", "BLOB HIDDEN"}
};

/* -- Arguments ----------------------------------------------------------------------- */

/* Sets args->refusal to why such an argument is refused, and the way out.  A table of bloom 1.1 may
** have one: it is opened, so that it can be dropped. */
static int refuse_expression(const char *what, const char *text, bloom_vtab_args *args){
  if( args->refusal ) return SQLITE_OK;
  args->refusal = sqlite3_mprintf("bloom: %s, not: %s; use bloom_build(), or a filter of your own:"
                                  " CREATE VIRTUAL TABLE f USING bloom(); INSERT INTO f(key) SELECT"
                                  " ...; and triggers AFTER INSERT and AFTER UPDATE that insert the"
                                  " new row's key", what, text);
  return args->refusal ? SQLITE_OK : SQLITE_NOMEM;
}

static int read_option(bloom_token name, bloom_token value, bloom_vtab_args *args, char **error){
  const int is_size = bloom_token_is(name, "bits_per_key");
  const int is_quoted = bloom_token_is_name(value) && value.kind!='a'
    && bloom_token_after(value).num_chars==0;
  char *text = is_quoted ? bloom_token_unquoted(value) : sqlite3_mprintf("%s", value.text);
  char buffer[BLOOM_HINT_BYTES];
  double number = 0; /* out of each range */
  int rc = SQLITE_OK;
  if( text==NULL ) return SQLITE_NOMEM;
  if( !bloom_read_number(text, &number) ) number = 0;
  if( bloom_token_is(name, "where") ){
    rc = refuse_expression("a filter has all rows of its table, and no where", text, args);
  }else if( !is_size && !bloom_token_is(name, "capacity") ){
    rc = bloom_fail_vtab(error, "bloom: there is no option %.*s; options are bits_per_key and"
                                " capacity", (int)name.num_chars, name.text);
  }else if( is_size ? args->size>0 : args->capacity>0 ){
    rc = bloom_fail_vtab(error, "bloom: option %s is given twice",
                         is_size ? "bits_per_key" : "capacity");
  }else if( is_size && !(number>0 && number<=100) ){
    const char *hint = bloom_text_hint(text, buffer);
    rc = bloom_fail_vtab(error, "bloom: bits_per_key must be a number in 1..100, or a rate above 0"
                                " and below 1, not %s%s%s", text, hint ? "; " : "",
                         hint ? hint : "");
  }else if( is_size ){
    args->size = number;
  }else if( !(number>=1 && number<=1e12) || (double)(sqlite3_int64)number!=number ){
    rc = bloom_fail_vtab(error, "bloom: capacity must be an integer in 1..1000000000000, not %s",
                         text);
  }else{
    args->capacity = (sqlite3_int64)number;
  }
  sqlite3_free(text);
  return rc;
}

/* Reads the argument that is a column, or (a, b). */
static int read_key(const char *text, bloom_vtab_args *args, char **error){
  bloom_token token = bloom_token_first(text);
  const int is_list = token.kind=='(';
  int is_column;
  do{
    if( is_list ) token = bloom_token_after(token);
    is_column = bloom_token_is_name(token);
    if( !is_column ) break;
    if( args->num_columns==BLOOM_MAX_KEY_COLUMNS ){
      return bloom_fail_vtab(error, "bloom: a key has at most %d columns", BLOOM_MAX_KEY_COLUMNS);
    }
    args->columns[args->num_columns] = bloom_token_unquoted(token);
    if( args->columns[args->num_columns++]==NULL ) return SQLITE_NOMEM;
    token = bloom_token_after(token);
  }while( is_list && token.kind==',' );
  if( is_list && token.kind==')' ) token = bloom_token_after(token);
  if( is_column && token.num_chars==0 ) return SQLITE_OK;
  return refuse_expression("argument 2 (key) must be a column, or up to 16 in parentheses", text,
                           args);
}

/* Reads the arguments.  SQLITE_OK; SQLITE_NOMEM; SQLITE_ERROR with *error to be freed. */
static int read_args(int num_args, const char *const *texts, bloom_vtab_args *args, char **error){
  int i, num_positional = 0, rc = SQLITE_OK;
  memset(args, 0, sizeof(*args));
  for(i=0; i<num_args && rc==SQLITE_OK; i++){
    const bloom_token first = bloom_token_first(texts[i]), equals = bloom_token_after(first),
      value = bloom_token_after(equals);
    if( first.kind=='a' && equals.kind=='=' && value.kind!='=' ){
      rc = read_option(first, value, args, error);
      continue;
    }
    switch( ++num_positional ){
      case 1:
        if( !bloom_token_is_name(first) || bloom_token_after(first).num_chars ){
          rc = bloom_fail_vtab(error, "bloom: argument 1 must be the name of a table, not: %s%s",
                               texts[i], bloom_token_after(first).kind!='.' ? "" : "; write"
                               " bloom(table, column), and a database before the name of the"
                               " virtual table");
          break;
        }
        args->table = bloom_token_unquoted(first);
        if( args->table==NULL ) rc = SQLITE_NOMEM;
        break;
      case 2:  rc = read_key(texts[i], args, error); break;
      default:
        rc = bloom_fail_vtab(error, "bloom: after table and key come options as name = value, not:"
                                    " %s; a key of several columns is written (a, b)", texts[i]);
    }
  }
  if( rc==SQLITE_OK && num_positional==1 ){
    rc = bloom_fail_vtab(error, "bloom: which key of table %s?  bloom(table, column) or"
                                " bloom(table, (column, column))", args->table);
  }
  if( args->size==0 ) args->size = BLOOM_DEFAULT_BITS_PER_KEY;
  if( args->capacity==0 ) args->capacity = BLOOM_VTAB_DEFAULT_CAPACITY;
  assert( args->size>0 && args->size<=100 && args->capacity>0 );
  assert( rc!=SQLITE_OK || args->refusal || (args->table==NULL)==(args->num_columns==0) );
  return rc;
}

/* -- Making and opening --------------------------------------------------------------- */

/* Returns 1 if the virtual table, whose column for commands has its name, has another column of
** that name. */
static int is_own_column(const char *name, int num_parts){
  int i;
  for(i=1; i<=num_parts; i++){
    char part[16];
    sqlite3_snprintf(sizeof(part), part, "key_%d", i);
    if( sqlite3_stricmp(name, part)==0 ) return 1;
  }
  for(i=0; i<BLOOM_VTAB_COMMAND; i++){
    if( sqlite3_stricmp(name, vtab_columns[i].name)==0 ) return 1;
  }
  return 0;
}

/* Ends a method.  Closes the reader, which would outlive the statement, unless a cursor does. */
static int vtab_end(bloom_vtab *vtab, int rc){
  rc = bloom_vtab_failure(vtab, rc);
  if( vtab->num_cursors==0 ) bloom_vtab_close_reader(vtab);
  return rc;
}

static int vtab_disconnect(sqlite3_vtab *base){
  bloom_vtab *vtab = bloom_vtab_of(base);
  assert( vtab->num_cursors==0 );
  bloom_vtab_close_journal(vtab);
  bloom_vtab_close_reader(vtab);
  bloom_vtab_args_free(&vtab->args);
  sqlite3_free(vtab->schema);
  sqlite3_free(vtab->name);
  sqlite3_free(vtab->quoted_name);
  sqlite3_free(vtab->pages);
  sqlite3_free(vtab->journal_columns);
  sqlite3_free(base->zErrMsg); /* SQLite takes some methods' alone */
  sqlite3_free(vtab);
  return SQLITE_OK;
}

/* Reads nothing: a table that is damaged can be dropped.  args: module, database, table,
** arguments. */
static int vtab_connect(sqlite3 *db, void *connection, int num_args, const char *const *args,
                        sqlite3_vtab **result, char **error){
  bloom_vtab *vtab = bloom_malloc_zeros(sizeof(*vtab));
  sqlite3_str *columns;
  int num_parts, i, rc;
  if( vtab==NULL ) return SQLITE_NOMEM;
  vtab->connection = connection;
  vtab->schema = sqlite3_mprintf("%s", args[1]);
  vtab->file = bloom_database_file(db, args[1]);
  vtab->name = sqlite3_mprintf("%s", args[2]);
  vtab->quoted_name = bloom_sql_name(args[2]);
  vtab->pages = sqlite3_mprintf("%s_pages", args[2]);
  rc = read_args(num_args - 3, args + 3, &vtab->args, error);
  num_parts = bloom_vtab_num_parts(vtab);
  columns = sqlite3_str_new(db);
  sqlite3_str_appendall(columns, num_parts ? "(" : "(key, ");
  for(i=1; i<=num_parts; i++) sqlite3_str_appendf(columns, "key_%d, ", i);
  sqlite3_str_appendall(columns, "r)");
  vtab->journal_columns = sqlite3_str_finish(columns);
  if( rc==SQLITE_OK && !(vtab->schema && vtab->name && vtab->quoted_name && vtab->pages
      && vtab->journal_columns) ) rc = SQLITE_NOMEM;
  if( rc==SQLITE_OK && is_own_column(vtab->name, num_parts) ){
    rc = bloom_fail_vtab(error, NAME_OF_COLUMN, vtab->name);
  }
  if( rc==SQLITE_OK ){
    sqlite3_str *sql = sqlite3_str_new(db);
    char *declaration;
    sqlite3_str_appendall(sql, "CREATE TABLE x(");
    for(i=1; i<=num_parts; i++) sqlite3_str_appendf(sql, "key_%d BLOB HIDDEN, ", i);
    for(i=0; i<BLOOM_VTAB_COMMAND; i++){
      sqlite3_str_appendf(sql, "%s %s, ", vtab_columns[i].name, vtab_columns[i].type);
    }
    sqlite3_str_appendf(sql, "\"%w\" BLOB HIDDEN)", vtab->name);
    declaration = sqlite3_str_finish(sql);
    rc = declaration ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
    sqlite3_free(declaration);
  }
  if( rc==SQLITE_OK ) sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  if( rc==SQLITE_OK ){
    *result = &vtab->base;
    return rc;
  }
  rc = bloom_sql_failure(vtab->connection, "bloom", args[2], rc, error);
  vtab_disconnect(&vtab->base);
  return rc;
}

static int vtab_create(sqlite3 *db, void *connection, int num_args, const char *const *args,
                       sqlite3_vtab **result, char **error){
  const sqlite3_int64 rowid = sqlite3_last_insert_rowid(db);
  bloom_vtab *vtab;
  int rc = vtab_connect(db, connection, num_args, args, result, error);
  if( rc!=SQLITE_OK ) return rc;
  vtab = bloom_vtab_of(*result);
  rc = vtab->args.refusal ? BLOOM_VTAB_FAIL(vtab, "%s", vtab->args.refusal) : bloom_vtab_make(vtab);
  vtab_end(vtab, rc);
  sqlite3_set_last_insert_rowid(db, rowid);
  if( rc!=SQLITE_OK ){
    *error = vtab->base.zErrMsg;
    vtab->base.zErrMsg = NULL;
    vtab_disconnect(*result);
    *result = NULL;
  }
  return rc;
}

static int vtab_destroy(sqlite3_vtab *base){
  bloom_vtab *vtab = bloom_vtab_of(base);
  int rc = bloom_vtab_open(vtab, BLOOM_VTAB_PLACE);
  if( rc==SQLITE_OK ) rc = bloom_vtab_drop(vtab);
  if( rc==SQLITE_OK ) return vtab_disconnect(base);
  bloom_forget_message(&vtab->base); /* SQLite would take it for that of a later method */
  return rc;
}

static int rename_table(const bloom_vtab *vtab, const char *new_name, const char *suffix){
  return bloom_sql_run(vtab->connection, "ALTER TABLE \"%w\".\"%w%s\" RENAME TO \"%w%s\"",
                       vtab->schema, vtab->name, suffix, new_name, suffix);
}

static int vtab_rename(sqlite3_vtab *base, const char *new_name){
  bloom_vtab *vtab = bloom_vtab_of(base);
  int rc;
  if( is_own_column(new_name, bloom_vtab_num_parts(vtab)) ){
    return BLOOM_VTAB_FAIL(vtab, NAME_OF_COLUMN, new_name);
  }
  rc = bloom_vtab_open(vtab, vtab->args.table ? BLOOM_VTAB_DOUBT : BLOOM_VTAB_PLACE);
  if( rc==SQLITE_OK ) rc = bloom_vtab_check_names(vtab, 1, NULL);
  if( rc==SQLITE_OK && vtab->args.table ){
    /* SQLite renames the journal as under PRAGMA legacy_alter_table here, so triggers are made
    ** again.  Where they were in doubt they only go, the guard with them: a writer would not find
    ** the journal. */
    bloom_vtab renamed = *vtab;
    bloom_vtab_triggers triggers;
    rc = bloom_vtab_read_triggers(vtab, &triggers);
    renamed.name = sqlite3_mprintf("%s", new_name);
    if( renamed.name==NULL ) rc = SQLITE_NOMEM;
    if( rc==SQLITE_OK ) rc = bloom_follow_drop(bloom_vtab_follower(vtab), 0);
    if( rc==SQLITE_OK ) rc = rename_table(vtab, new_name, "_new");
    if( rc==SQLITE_OK && !vtab->doubt ){
      rc = bloom_vtab_create_triggers(&renamed, &triggers.args, 0);
    }
    bloom_vtab_args_free(&triggers.args);
    sqlite3_free(renamed.name);
    vtab->is_checked = 0;
  }
  if( rc==SQLITE_OK ){
    bloom_vtab_close_reader(vtab);
    rc = rename_table(vtab, new_name, "_pages");
  }
  return vtab_end(vtab, rc);
}

/* -- Writing ------------------------------------------------------------------------------- */

/* Runs a command, or adds a key; args: old rowid, new rowid, columns */
static int vtab_update(sqlite3_vtab *base, int num_args, sqlite3_value **args,
                       sqlite3_int64 *rowid){
  bloom_vtab *vtab = bloom_vtab_of(base);
  sqlite3_value **columns = args + 2 + bloom_vtab_num_parts(vtab);
  int rc;
  assert( num_args==1 || columns + BLOOM_VTAB_COMMAND + 1==args + num_args );
  if( num_args==1 || sqlite3_value_type(args[0])!=SQLITE_NULL ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: rows of %s cannot be deleted or changed: a Bloom filter"
                                 " cannot forget a key; INSERT INTO %s(%s) VALUES ('%s') forgets"
                                 " %s",
                           vtab->name, vtab->quoted_name, vtab->quoted_name,
                           vtab->args.table ? "rebuild" : "delete-all",
                           vtab->args.table ? "those that its table no longer has"
                             : "all of them");
  }
  *rowid = sqlite3_last_insert_rowid(vtab->connection->db);
  if( sqlite3_value_type(columns[BLOOM_VTAB_COMMAND])!=SQLITE_NULL ){
    rc = bloom_command_run(base, columns[BLOOM_VTAB_COMMAND]);
  }else{
    int i;
    for(i=0; i<BLOOM_VTAB_COMMAND; i++){
      if( i==BLOOM_VTAB_KEY || sqlite3_value_type(columns[i])==SQLITE_NULL ) continue;
      return BLOOM_VTAB_FAIL(vtab, "bloom: column %s of %s cannot be written, only key",
                             vtab_columns[i].name, vtab->name);
    }
    rc = bloom_vtab_open(vtab, BLOOM_VTAB_PLACE);
    if( rc==SQLITE_OK && vtab->args.table==NULL ){
      rc = bloom_vtab_add_key(vtab, (bloom_key_values){.value = columns[BLOOM_VTAB_KEY]});
    }else if( rc==SQLITE_OK ){
      rc = bloom_vtab_read_layout(vtab); /* it says what to do with one of bloom 1.1 */
      if( rc==SQLITE_OK ) rc = BLOOM_VTAB_FAIL(vtab, "bloom: keys of %s come from its source table"
                                                     " alone", vtab->name);
    }
  }
  sqlite3_set_last_insert_rowid(vtab->connection->db, *rowid);
  return vtab_end(vtab, rc);
}

static int vtab_shadow_name(const char *name){
  return sqlite3_stricmp(name, "pages")==0;
}

const bloom_module bloom_vtab_module = {
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
    .xIntegrity = bloom_integrity,
#endif
  },
  .integrity = bloom_integrity,
  .name = "bloom",
  .merge = bloom_vtab_merge,
  .rebuild = bloom_vtab_rebuild,
  .delete_all = bloom_vtab_delete_all,
  .check = bloom_vtab_check,
};
