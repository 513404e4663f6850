/*
** CREATE VIRTUAL TABLE name USING bloom_index(table, column [LIKE [REGEXP] | RANGE], ...): the
** table itself, of which a query reads the blocks of rows that can hold what it asks for.
**
** It makes entries of all rows, unless the last argument is `unmerged`.
**
**   SELECT * FROM name WHERE column = ?          the rows that the table has
**   INSERT INTO name(name) VALUES ('merge')      takes new and changed rows into entries
**   INSERT INTO name(name) VALUES ('merge=N')    N rows at most
**   INSERT INTO name(name) VALUES ('rebuild'), ('integrity-check')
**
** Here are the methods that SQLite calls; README.md names the other parts.
*/
#include "index_source.h"
#include "index.h"
#include "index_merge.h"

#include <limits.h>
#include <string.h>

/* == The arguments ===================================================================== */

/* Adds a column with the kind whose words are behind it. */
static int args_read_column(bloom_index *index, bloom_token name, index_config *config){
  index_key_kind kind;
  index_key *key;
  for(kind=0; kind<INDEX_NUM_KEY_KINDS; kind++){
    const char *const *words = bloom_index_key_kinds[kind].words;
    bloom_token word = bloom_token_after(name);
    for(; *words && bloom_token_is(word, *words); words++) word = bloom_token_after(word);
    if( *words==NULL && word.num_chars==0 ) break;
  }
  if( !bloom_token_is_name(name) || kind==INDEX_NUM_KEY_KINDS ){
    return BLOOM_INDEX_FAIL(index, "bloom_index: after the table come columns, each with LIKE,"
                            " LIKE REGEXP or RANGE behind it or not, not: %s", name.text);
  }
  if( config->num_keys==INDEX_MAX_KEYS ){
    return BLOOM_INDEX_FAIL(index, "bloom_index: at most %d columns can be indexed",
                            INDEX_MAX_KEYS);
  }
  key = &config->keys[config->num_keys++];
  *key = (index_key){.kind = kind, .name = bloom_token_unquoted(name), .column = -1};
  return key->name ? SQLITE_OK : SQLITE_NOMEM;
}

/* Sets config to what the arguments of CREATE VIRTUAL TABLE say, bloom_index(table, column [LIKE
** [REGEXP] | RANGE], ... [, unmerged]).  bloom_index_config_free() is for the caller. */
static int args_read(bloom_index *index, int num_args, const char *const *texts, int is_new,
                     index_config *config){
  int i, rc = SQLITE_OK;
  memset(config, 0, sizeof(*config));
  for(i=0; i<num_args && rc==SQLITE_OK; i++){
    const bloom_token first = bloom_token_first(texts[i]), next = bloom_token_after(first);
    const int is_unmerged = bloom_token_is(first, "unmerged") && next.num_chars==0;
    if( first.kind=='a' && next.kind=='=' ){
      const int is_of_1_2 = bloom_token_is(first, "bits_per_block")
        || bloom_token_is(first, "probes");
      if( !is_new ) continue; /* an index of bloom 1.2 may have options */
      rc = BLOOM_INDEX_FAIL(index, "bloom_index: there is no option %.*s%s", (int)first.num_chars,
                            first.text, is_of_1_2 ? " any more: blocks and tokens have the size"
                            " that the table needs" : "");
    }else if( config->source==NULL ){
      if( !bloom_token_is_name(first) || next.num_chars ){
        return BLOOM_INDEX_FAIL(index, "bloom_index: argument 1 must be the name of a table, not:"
                                " %s; write bloom_index(table, column, ...)", texts[i]);
      }
      config->source = bloom_token_unquoted(first);
      if( config->source==NULL ) rc = SQLITE_NOMEM;
    }else if( is_new && i==num_args - 1 && config->num_keys>0 && is_unmerged ){
      config->is_unmerged = 1;
    }else if( config->num_keys<INDEX_MAX_KEYS || is_new || !is_unmerged ){
      /* When an index is opened, `unmerged` may be a column.  It is read as one: at worst DROP
      ** looks for one table too many. */
      rc = args_read_column(index, first, config);
    }
  }
  if( rc!=SQLITE_OK || config->num_keys>0 ) return rc;
  return BLOOM_INDEX_FAIL(index, "bloom_index: which columns of which table?  bloom_index(table,"
                          " column, column LIKE, column RANGE, ...)");
}

/* Finds the columns that the arguments name among index->columns, and sets index->config. */
static int args_find_columns(bloom_index *index){
  index_config *config = &index->config;
  int i, j;
  for(i=0; i<config->num_keys; i++){
    index_key *key = &config->keys[i];
    key->column = bloom_source_find(&index->columns, key->name);
    if( key->column<0 ){
      return BLOOM_INDEX_FAIL(index, "bloom_index: there is no column %s in table %s",
                             key->name, config->source);
    }
    if( key->column==index->columns.id_column && !index_properties_of(key)->is_of_texts ){
      return BLOOM_INDEX_FAIL(index,
                             "bloom_index: column %s is the INTEGER PRIMARY KEY, which finds its "
                             "row by itself", key->name);
    }
    for(j=0; j<i; j++){
      if( config->keys[j].column==key->column
       && sqlite3_stricmp(index_properties_of(&config->keys[j])->words[0],
                          index_properties_of(key)->words[0])==0 ){
        return BLOOM_INDEX_FAIL(index, "bloom_index: column %s is named twice", key->name);
      }
    }
  }
  return bloom_index_config_renew(index);
}

/* == The declaration =================================================================== */

/* Returns a type for sqlite3_declare_vtab(), which hides columns of types with the word HIDDEN. */
static const char *columns_declared_type(const bloom_source_column *column){
  if( sqlite3_strlike("%hidden%", column->type, 0)!=0 ) return column->type;
  switch( column->affinity ){
    case 'i': return "INTEGER";
    case 'r': return "REAL";
    case 't': return "TEXT";
    case 'b': return "BLOB";
    default:  return "NUMERIC";
  }
}

/* Declares the columns to SQLite, which returns SQLITE_ERROR for an authorizer's refusal, too; sets
** index->command_column. */
static int index_declare(bloom_index *index){
  const bloom_source *columns = &index->columns;
  sqlite3 *db = index->connection->db;
  sqlite3_str *sql = sqlite3_str_new(NULL);
  char *declaration;
  int i, j, num_declared, rc;
  sqlite3_str_appendall(sql, "CREATE TABLE x(");
  for(num_declared=0; num_declared<columns->num_columns; num_declared++){
    const bloom_source_column *column = &columns->list[num_declared];
    const char *type = columns_declared_type(column), *quote = *type ? "\"" : "";
    /* In quotes a type may be any text.  Of a NOT NULL column SQLite asks for the order that min()
    ** needs. */
    sqlite3_str_appendf(sql, "%s\"%w\" %s%w%s COLLATE \"%w\"%s", num_declared ? ", " : "",
                        column->name, quote, type, quote,
                        column->has_no_collation ? "BINARY" : column->collation,
                        column->is_not_null ? " NOT NULL" : "");
  }
  /* Where the source is gone DROP must still find a table, and a query of an indexed column fails
  ** with the reason. */
  for(i=0; i<index->config.num_keys && columns->num_columns==0; i++){
    const char *name = index->config.keys[i].name;
    for(j=0; j<i && sqlite3_stricmp(index->config.keys[j].name, name)!=0; j++){}
    if( j<i || sqlite3_stricmp(name, index->name)==0 ) continue;
    sqlite3_str_appendf(sql, "%s\"%w\"", num_declared++ ? ", " : "", name);
  }
  /* A column of the source may have been given the index's name since: it takes the commands. */
  index->command_column = bloom_source_find(columns, index->name);
  if( index->command_column<0 && num_declared<sqlite3_limit(db, SQLITE_LIMIT_COLUMN, -1) ){
    index->command_column = num_declared;
    sqlite3_str_appendf(sql, "%s\"%w\" HIDDEN", num_declared ? ", " : "", index->name);
  }
  sqlite3_str_appendall(sql, ")");
  declaration = sqlite3_str_finish(sql);
  rc = declaration ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
  sqlite3_free(declaration);
  if( rc==SQLITE_OK ) sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  index->is_declared = 1;
  return rc;
}

/* == The object ======================================================================== */

/* -- What the methods are made of ---------------------------------------------------------- */

void bloom_index_free(bloom_index *index){
  bloom_index_statements_forget(index, 1);
  bloom_index_layout_free(index);
  bloom_index_spans_free(index);
  bloom_index_lists_free(index);
  bloom_index_config_free(&index->config);
  bloom_index_config_free(&index->arguments);
  bloom_source_free(&index->columns);
  sqlite3_free(index->schema);
  sqlite3_free(index->name);
  sqlite3_free(index->base.zErrMsg);
  sqlite3_free(index);
}

bloom_index *bloom_index_new(bloom_connection *connection, const char *schema, const char *name){
  bloom_index *index = bloom_malloc_zeros(sizeof(*index));
  assert( connection && schema && name );
  if( index==NULL ) return NULL;
  index->connection = connection;
  index->schema = sqlite3_mprintf("%s", schema);
  index->file = bloom_database_file(connection->db, schema);
  index->name = sqlite3_mprintf("%s", name);
  if( index->schema && index->name ) return index;
  bloom_index_free(index);
  return NULL;
}

/* Drops what there is of the index. */
static int index_drop(bloom_index *index){
  const int rc = bloom_index_tables_drop(index, INT_MAX);
  return rc==SQLITE_OK ? bloom_index_triggers_drop(index) : rc;
}

/* -- Making and opening, as SQLite calls it ------------------------------------------------ */

/* Makes the tables and triggers of an index, and merges all rows unless config.is_unmerged. */
static int index_make(bloom_index *index){
  const sqlite3_int64 last_rowid = sqlite3_last_insert_rowid(index->connection->db);
  bloom_index *before = bloom_index_new(index->connection, index->schema, index->name);
  char *names = NULL;
  unsigned left;
  int num_tables = 0, has_state, rc = before ? bloom_index_config_read(before) : SQLITE_NOMEM;
  assert( index->is_declared && index->config.num_keys>0 && index->columns.id_name );
  /* A copy of a database without its virtual tables has a NAME_state with a right checksum. */
  has_state = rc==SQLITE_OK && before->damage==NULL;
  if( before ) bloom_index_free(before);
  if( rc==SQLITE_OK ) rc = bloom_index_tables_find_left(index, has_state, &left, &names);
  if( rc==SQLITE_OK ) rc = bloom_index_check_names(index, names, 1);
  sqlite3_free(names);
  if( rc==SQLITE_OK ) rc = bloom_index_tables_create(index, left, &num_tables);
  if( rc==SQLITE_OK ) rc = bloom_index_canary_write(index);
  if( rc==SQLITE_OK ) rc = bloom_index_triggers_make(index, 0);
  if( rc==SQLITE_OK ) rc = bloom_index_reset(index);
  if( rc==SQLITE_OK ) rc = bloom_index_learn_encoding(index);
  if( rc==SQLITE_OK && !index->config.is_unmerged ){
    const index_layout *layout;
    int ignored;
    rc = bloom_index_layout_read(index, &layout);
    if( rc==SQLITE_OK ) rc = bloom_index_merge_core(index, layout, INDEX_MERGE_ALL, &ignored);
  }
  if( rc!=SQLITE_OK ){
    rc = bloom_index_failure(index, rc);
    /* A table of the user's may have one of the names. */
    if( num_tables<bloom_index_num_tables(index) ) bloom_index_tables_drop(index, num_tables);
    else index_drop(index);
  }
  sqlite3_set_last_insert_rowid(index->connection->db, last_rowid);
  return rc;
}

/* Checks that the column for commands, which has the index's name, hides neither a column nor the
** rowid. */
static int index_name_check(bloom_index *index, const char *name){
  const int is_column = bloom_source_find(&index->columns, name)>=0;
  if( !is_column && !bloom_source_is_rowid_name(name) ) return SQLITE_OK;
  return BLOOM_INDEX_FAIL(index, "bloom_index: the index cannot be called %s: %s is", name,
                          is_column ? "a column of the table" : "the rowid");
}

/* Ends xCreate or xConnect: hands the index, or the message of its failure, to SQLite. */
static int index_end(bloom_index *index, int rc, sqlite3_vtab **vtab, char **error){
  rc = bloom_index_failure(index, rc);
  if( rc==SQLITE_OK ){
    bloom_forget_message(&index->base);
    *vtab = &index->base;
    return rc;
  }
  *error = index->base.zErrMsg;
  index->base.zErrMsg = NULL;
  bloom_index_free(index);
  return rc;
}

/* Makes an index, xCreate; args: module, database, table, arguments. */
static int index_create(sqlite3 *db, void *connection, int num_args, const char *const *args,
                        sqlite3_vtab **vtab, char **error){
  bloom_index *index = bloom_index_new(connection, args[1], args[2]);
  int rc;
  (void)db;
  if( index==NULL ) return SQLITE_NOMEM;
  rc = args_read(index, num_args - 3, args + 3, 1, &index->config);
  if( rc==SQLITE_OK ) rc = args_read(index, num_args - 3, args + 3, 1, &index->arguments);
  if( rc==SQLITE_OK ) rc = bloom_index_source_read(index, index->config.source, 1, &index->columns);
  if( rc==SQLITE_OK ){
    /* as the schema has it */
    sqlite3_free(index->config.source);
    index->config.source = sqlite3_mprintf("%s", index->columns.name);
    if( index->config.source==NULL ) rc = SQLITE_NOMEM;
  }
  if( rc==SQLITE_OK && index->config.is_unmerged
     && bloom_source_find(&index->columns, "unmerged")>=0 ){
    rc = BLOOM_INDEX_FAIL(index, "bloom_index: table %s has a column unmerged, which is an option,"
                                 " too: write it in quotes to index it", index->config.source);
  }
  if( rc==SQLITE_OK ) rc = args_find_columns(index);
  if( rc==SQLITE_OK ) rc = index_name_check(index, index->name);
  if( rc==SQLITE_OK ) rc = index_declare(index);
  if( rc==SQLITE_OK && index->command_column<0 ){
    rc = BLOOM_INDEX_FAIL(index, "bloom_index: %s has %d columns, as many as SQLite takes, and one"
                                 " more is needed for the commands",
                          index->config.source, index->columns.num_columns);
  }
  if( rc==SQLITE_OK && bloom_sql_has_two_writers(index->connection) ){
    rc = BLOOM_INDEX_FAIL(index, "bloom_index: %s cannot be made while another statement of this"
                                 " connection writes", index->name);
  }
  if( rc==SQLITE_OK ) rc = index_make(index);
  return index_end(index, rc, vtab, error);
}

static int index_connect(sqlite3 *db, void *connection, int num_args, const char *const *args,
                         sqlite3_vtab **vtab, char **error){
  bloom_index *index = bloom_index_new(connection, args[1], args[2]);
  int i, is_gone = 0, rc;
  (void)db;
  if( index==NULL ) return SQLITE_NOMEM;
  rc = args_read(index, num_args - 3, args + 3, 0, &index->arguments);
  if( rc==SQLITE_OK ) rc = bloom_index_config_read(index);
  if( rc==SQLITE_OK && index->damage ){
    /* A query of columns of the table that CREATE named fails with the reason. */
    rc = bloom_index_source_read(index, index->arguments.source, 0, &index->columns);
    is_gone = rc!=SQLITE_OK && rc!=SQLITE_NOMEM;
  }else if( rc==SQLITE_OK ){
    rc = bloom_index_begin(index, INDEX_NEED_SOURCE);
    if( rc==SQLITE_ERROR ){
      /* An authorizer may have hidden the source when a statement was compiled. */
      bloom_forget_message(&index->base);
      rc = bloom_index_begin(index, INDEX_NEED_SOURCE);
    }
    is_gone = rc==SQLITE_ERROR && index->base.zErrMsg;
  }
  if( is_gone ){ /* queries say so */
    bloom_source_free(&index->columns);
    rc = SQLITE_OK;
  }
  /* SQLite would refuse a declaration with a collation that the connection does not have. */
  for(i=0; i<index->columns.num_columns && rc==SQLITE_OK; i++){
    bloom_source_column *column = &index->columns.list[i];
    bloom_collation ignored;
    sqlite3_stmt *probe;
    if( bloom_collation_named(column->collation, &ignored) ) continue;
    rc = bloom_sql_prepare(index->connection, &probe, "SELECT '' = '' COLLATE \"%w\"",
                           column->collation);
    sqlite3_finalize(probe);
    column->has_no_collation = rc==SQLITE_ERROR;
    if( rc==SQLITE_ERROR ) rc = SQLITE_OK;
  }
  if( rc==SQLITE_OK ) rc = index_declare(index);
  return index_end(index, rc, vtab, error);
}

static int index_disconnect(sqlite3_vtab *vtab){
  bloom_index_free(index_of(vtab));
  return SQLITE_OK;
}

static int index_destroy(sqlite3_vtab *vtab){
  bloom_index *index = index_of(vtab);
  int rc = bloom_index_begin(index, INDEX_NEED_PLACE);
  if( rc==SQLITE_OK ) rc = index_drop(index);
  if( rc==SQLITE_OK ) bloom_index_free(index);
  return rc;
}

static int index_rename(sqlite3_vtab *vtab, const char *new_name){
  bloom_index *index = index_of(vtab);
  char *name = sqlite3_mprintf("%s", new_name), *old_name = index->name;
  int rc = name ? index_name_check(index, new_name) : SQLITE_NOMEM;
  if( rc==SQLITE_OK ) rc = bloom_index_begin_command(index);
  /* The triggers are made again, since PRAGMA legacy_alter_table would leave them the tables'
  ** old names. */
  if( rc==SQLITE_OK ) rc = bloom_index_triggers_drop(index);
  if( rc==SQLITE_OK ) rc = bloom_index_tables_rename(index, new_name);
  index->name = name;
  bloom_index_statements_forget(index, 1);
  if( rc==SQLITE_OK ) rc = bloom_index_triggers_make(index, index->source.doubt!=NULL);
  if( rc!=SQLITE_OK ) index->name = old_name;
  sqlite3_free(rc==SQLITE_OK ? old_name : name);
  return bloom_index_failure(index, rc);
}

/* -- Writing ----------------------------------------------------------------------------- */

/* Runs a command, xUpdate; args: old rowid, new rowid, columns, one of which is the command's. */
static int index_update(sqlite3_vtab *vtab, int num_args, sqlite3_value **args,
                        sqlite3_int64 *rowid){
  bloom_index *index = index_of(vtab);
  sqlite3 *db = index->connection->db;
  const sqlite3_int64 last_rowid = sqlite3_last_insert_rowid(db);
  const int command = index->command_column + 2;
  int i, is_command, rc;
  assert( num_args==1 || command<num_args );
  *rowid = last_rowid;
  /* A DELETE has one argument, and a table of as many columns as there may be no command's. */
  is_command = num_args>1 && command>=2 && sqlite3_value_type(args[0])==SQLITE_NULL
    && sqlite3_value_type(args[command])!=SQLITE_NULL;
  for(i=2; i<num_args; i++){
    if( i!=command && sqlite3_value_type(args[i])!=SQLITE_NULL ) is_command = 0;
  }
  if( is_command ){
    rc = bloom_command_run(vtab, args[command]);
  }else{
    /* The table to write to may have been renamed. */
    rc = bloom_index_begin(index, INDEX_NEED_SOURCE);
    if( !bloom_sql_is_fatal(rc) && !index->damage ) rc = BLOOM_INDEX_FAIL(index,
        "bloom_index: %s is read only: write to table %s", index->name,
        index->columns.name ? index->columns.name : index->config.source);
  }
  rc = bloom_index_failure(index, rc);
  sqlite3_set_last_insert_rowid(db, last_rowid);
  return rc;
}

/* Does nothing.  SQLite asks for it where writes are to be undone, and undoes them all itself. */
static int index_begin(sqlite3_vtab *vtab){
  (void)vtab;
  return SQLITE_OK;
}

/* Returns 1 for suffixes of shadow tables, which defensive connections keep from being written.
** NAME_changed is none, since triggers write there; nor is NAME_state, which has a guard that they
** would refuse.  NAME_canary and NAME_entries_raw may be the user's. */
static int index_shadow_name(const char *suffix){
  const char *number = "";
  _Static_assert(INDEX_MAX_KEYS==16, "a number behind a suffix is 1 .. 16");
  if( sqlite3_stricmp(suffix, "spans")==0 ) return 1;
  if( sqlite3_strnicmp(suffix, "entries", 7)==0 ) number = suffix + 7;
  if( sqlite3_strnicmp(suffix, "zones", 5)==0 ) number = suffix + 5;
  if( !(*number>='1' && *number<='9') ) return 0;
  return number[1]==0 || (*number=='1' && number[1]>='0' && number[1]<='6' && number[2]==0);
}

const bloom_module bloom_index_module = {
  .module = {
    .iVersion = 4,
    .xCreate = index_create,
    .xConnect = index_connect,
    .xBestIndex = bloom_index_best_index,
    .xDisconnect = index_disconnect,
    .xDestroy = index_destroy,
    .xOpen = bloom_index_open,
    .xClose = bloom_index_close,
    .xFilter = bloom_index_filter,
    .xNext = bloom_index_next,
    .xEof = bloom_index_eof,
    .xColumn = bloom_index_column,
    .xRowid = bloom_index_rowid,
    .xUpdate = index_update,
    .xBegin = index_begin,
    .xRename = index_rename,
    .xShadowName = index_shadow_name,
#if SQLITE_VERSION_NUMBER >= 3044000
    .xIntegrity = bloom_integrity,
#endif
  },
  .integrity = bloom_integrity,
  .name = "bloom_index",
  .merge = bloom_index_merge,
  .rebuild = bloom_index_rebuild,
  .check = bloom_index_check,
};
