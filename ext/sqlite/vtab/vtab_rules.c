/*
** The rules of a key: which values of its columns are equal, which triggers it needs, and what an
** expression or a condition must not be.
*/
#include "vtab_int.h"

#include "../errors.h"

int bloom_vtab_is_decided_late(const bloom_source *source, const bloom_source_column *column){
  return column->is_generated || column->default_value || column==source->row_column;
}

/* Finds a key's column, by its own name or as the rowid; *name is then as the schema has it. */
static int find_key_column(
  const bloom_source *source, char **name, const bloom_source_column **column, char **error
){
  const bloom_source_column *found = bloom_source_find(source, *name);
  char *key;
  if( found==NULL && bloom_source_is_rowid_name(*name) && source->row_name ){
    return bloom_fail_vtab(error, "bloom: table %s has no INTEGER PRIMARY KEY, and VACUUM may change its rowids",
                                  source->name);
  }
  if( found==NULL ) return bloom_fail_vtab(error, "bloom: there is no column %s in table %s", *name, source->name);
  key = sqlite3_mprintf("%s", found->name);
  if( key==NULL ) return SQLITE_NOMEM;
  sqlite3_free(*name);
  *name = key;
  *column = found;
  return SQLITE_OK;
}

/* The rowid by a name that no column has: VACUUM may change it, and a column may take the name. */
static int refuse_rowid(const bloom_source *source, const char *text, char **error){
  bloom_token token = bloom_token_first(text ? text : "");
  for(; token.num_chars; token=bloom_token_after(token)){
    char *name = bloom_token_unquoted(token);
    const int is_rowid = name && token.kind!='\'' && bloom_source_is_rowid_name(name) && !bloom_source_column_named(source, name);
    sqlite3_free(name);
    if( name==NULL ) return SQLITE_NOMEM;
    if( is_rowid ){
      return bloom_fail_vtab(error, "bloom: %s names the rowid, which a trigger cannot do; name the INTEGER PRIMARY "
                                    "KEY column", text);
    }
  }
  return SQLITE_OK;
}

int bloom_vtab_find_rules(const bloom_source *source, bloom_vtab_args *args, bloom_vtab_layout *layout, char **error){
  const int is_plain = args->num_columns>0 && args->where==NULL;
  const bloom_source_column *column = NULL;
  int i, is_late = 0, rc = SQLITE_OK;
  layout->rules[0] = (bloom_equality){BLOOM_COLUMN_EXPRESSION, BLOOM_COLLATION_BINARY};
  for(i=0; i<args->num_columns && rc==SQLITE_OK; i++){
    rc = find_key_column(source, &args->columns[i], &column, error);
    if( rc!=SQLITE_OK || column==NULL ) return rc;
    is_late |= bloom_vtab_is_decided_late(source, column);
    rc = bloom_source_equality(source, column, &layout->rules[i], error);
  }
  /* A column that was dropped or renamed may have left its name to the rowid. */
  if( rc==SQLITE_OK ) rc = refuse_rowid(source, args->key, error);
  if( rc==SQLITE_OK ) rc = refuse_rowid(source, args->where, error);
  if( rc!=SQLITE_OK ) return rc;
  if( !is_plain && (sqlite3_stricmp(source->name, "new")==0 || sqlite3_stricmp(source->name, "old")==0) ){
    return bloom_fail_vtab(error, "bloom: a trigger cannot tell the table %s from the row that it calls so; rename the "
                                  "table", source->name);
  }
  if( !is_plain && source->row_name==NULL && (source->num_keys==0 || source->num_null_keys>0) ){
    return bloom_fail_vtab(error, "bloom: columns of table %s take all names of the rowid, so no trigger can find its "
                                  "row", source->name);
  }
  layout->num_columns = args->num_columns ? args->num_columns : 1;
  layout->triggers = (1u << BLOOM_NUM_TRIGGERS) - 1;
  if( is_plain && !is_late ) layout->triggers &= ~(1u << BLOOM_AFTER_INSERT);
  return SQLITE_OK;
}

/* Refuses an expression that `=` compares by more than its bytes.  As the first half of a
** compound SELECT it gives its collation to a text. */
static int refuse_coarse_collation(const bloom_source *source, const char *expression, char **error){
  sqlite3_int64 is_coarse = 0;
  int rc = bloom_sql_integer(source->connection, &is_coarse,
    "SELECT value = 'A' OR value = 'a ' OR value = char(225) FROM"
    " (SELECT (%s\n) AS value FROM \"%w\".\"%w\" WHERE 0 UNION ALL SELECT 'a')", expression, source->schema, source->name);
  if( rc!=SQLITE_OK ) return bloom_source_failure(source->connection->db, rc, error);
  return is_coarse ? bloom_fail_vtab(error, "bloom: %s has a collation other than BINARY, and a filter over an "
                                            "expression compares bytes; name the column alone, or write lower(...) for "
                                            "NOCASE, rtrim(...) for RTRIM", expression) : SQLITE_OK;
}

/* Finds a collation that the application has put in place of SQLite's own, if keys or what they are compared
** with need it; else *name is NULL. */
static int find_replaced_collation(
  bloom_connection *connection, const bloom_vtab_args *args, const bloom_vtab_layout *layout, const char **name
){
  unsigned needed = args->key || args->where ? 7u : 1u << BLOOM_COLLATION_BINARY;
  int i, is_own, rc = SQLITE_OK;
  *name = NULL;
  if( args->table==NULL ) return SQLITE_OK;
  for(i=0; i<layout->num_columns; i++) needed |= 1u << layout->rules[i].collation;
  for(i=0; i<BLOOM_NUM_COLLATIONS && rc==SQLITE_OK && *name==NULL; i++){
    if( !(needed >> i & 1u) ) continue;
    rc = bloom_collation_is_built_in(connection, (bloom_collation)i, &is_own);
    if( rc==SQLITE_OK && !is_own ) *name = bloom_collation_names[i];
  }
  return rc;
}

int bloom_vtab_check_answers(bloom_vtab *vtab, int *is_certain){
  int rc = bloom_vtab_check_source(vtab, is_certain);
  vtab->replaced = NULL;
  if( rc!=SQLITE_OK || vtab->connection->is_running || !(*is_certain || vtab->is_of_trigger) ) return rc;
  rc = find_replaced_collation(vtab->connection, &vtab->args, &vtab->layout, &vtab->replaced);
  *is_certain &= rc==SQLITE_OK && vtab->replaced==NULL;
  return rc;
}

int bloom_vtab_read_source(bloom_vtab *vtab, bloom_vtab_args *args, bloom_source *source, bloom_vtab_layout *layout, char **error){
  sqlite3_str *sql;
  char *keys;
  const char *replaced = NULL;
  int i, rc = bloom_source_read(vtab->connection, vtab->schema, args->table, source, error);
  if( rc==SQLITE_OK ) rc = bloom_vtab_find_rules(source, args, layout, error);
  if( rc==SQLITE_OK ) rc = find_replaced_collation(source->connection, args, layout, &replaced);
  if( replaced ){
    return bloom_fail_vtab(error, "bloom: the application has put a collation of its own in place of SQLite's %s, and a "
                                  "filter cannot know which values it takes for equal", replaced);
  }
  if( rc==SQLITE_OK && args->key ) rc = bloom_text_check_expression("key", args->key, error);
  if( rc==SQLITE_OK && args->where ) rc = bloom_text_check_expression("where", args->where, error);
  if( rc!=SQLITE_OK ) return rc;
  sql = sqlite3_str_new(source->connection->db);
  for(i=0; i<args->num_columns; i++) sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : "", args->columns[i]);
  if( args->key ) sqlite3_str_appendf(sql, "(%s\n)", args->key);
  keys = sqlite3_str_finish(sql);
  if( keys==NULL ) return SQLITE_NOMEM;
  rc = bloom_source_check_index(source, keys, args->where, error);
  if( rc==SQLITE_OK && args->key ) rc = refuse_coarse_collation(source, args->key, error);
  sqlite3_free(keys);
  return rc;
}
