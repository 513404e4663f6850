/*
** The source's columns as they are now, and what SQLite is told of them.
*/
#include "index_source.h"

#include <string.h>

#include "../source/sql.h"

/* -- Columns ---------------------------------------------------------------------------- */

void bloom_index_columns_free(index_columns *columns){
  int i;
  for(i=0; i<columns->num_columns; i++){
    sqlite3_free(columns->list[i].name);
    sqlite3_free(columns->list[i].type);
    sqlite3_free(columns->list[i].collation);
  }
  sqlite3_free(columns->list);
  sqlite3_free(columns->id_name);
  memset(columns, 0, sizeof(*columns));
  columns->id_column = -1;
}

static int columns_add(index_columns *columns, const char *name, const char *type,
                       const char *collation, int is_not_null){
  index_column_info *column;
  if( BLOOM_GROW(columns->list, columns->num_columns, columns->max_columns) ) return SQLITE_NOMEM;
  column = &columns->list[columns->num_columns++];
  *column = (index_column_info){.name = sqlite3_mprintf("%s", name),
                                .type = sqlite3_mprintf("%s", type),
                                .collation = sqlite3_mprintf("%s", collation),
                                .is_not_null = is_not_null};
  return column->name && column->type && column->collation ? SQLITE_OK : SQLITE_NOMEM;
}

int bloom_index_columns_find(const index_columns *columns, const char *name){
  int i;
  for(i=0; i<columns->num_columns; i++){
    if( sqlite3_stricmp(columns->list[i].name, name)==0 ) return i;
  }
  return -1;
}

/* Sets *is_strict by the table's text: the words behind its columns.  ANY has no affinity there. */
static int columns_is_strict(bloom_index *index, const char *table, int *is_strict){
  sqlite3_stmt *row;
  const char *sql = NULL;
  int rc = bloom_sql_row(index->connection, &row,
                         "SELECT m.sql FROM \"%w\".sqlite_master AS m WHERE m.type = 'table' AND"
                         " m.name = %Q COLLATE NOCASE", index->schema, table);
  *is_strict = 0;
  if( rc==SQLITE_ROW ) rc = bloom_sql_column_text(row, 0, &sql);
  if( sql ){
    bloom_token token = bloom_token_first(sql);
    while( token.num_chars && token.kind!='(' ) token = bloom_token_after(token);
    for(token=bloom_token_closing(token); token.num_chars; token=bloom_token_after(token)){
      *is_strict |= bloom_token_is(token, "strict");
    }
  }
  return bloom_sql_end(row, rc);
}

/* Adds a column of this name; NULL when out of memory. */
static int columns_add_named(bloom_index *index, const char *table, const char *name,
                             index_columns *columns, int *num_keys, int *key){
  const char *type = NULL, *collation = NULL;
  int is_not_null = 0, is_key = 0, is_strict = 0, rc = SQLITE_NOMEM;
  if( name ) rc = sqlite3_table_column_metadata(index->connection->db, index->schema, table, name,
                                                &type, &collation, &is_not_null, &is_key, NULL);
  if( rc!=SQLITE_OK ) return rc;
  if( is_key ){
    ++*num_keys;
    *key = columns->num_columns;
  }
  if( type && sqlite3_stricmp(type, "ANY")==0 ) rc = columns_is_strict(index, table, &is_strict);
  /* A type "" is NUMERIC, which is not that of no type. */
  return rc==SQLITE_OK ? columns_add(columns, name, type==NULL || is_strict ? "" : type[0] ? type
                                     : "NUMERIC", collation, is_not_null) : rc;
}

/* Lists the columns: the first time by PRAGMA; an authorizer that refuses it may allow a SELECT. */
static int columns_list(bloom_index *index, const char *table, int by_select,
                        index_columns *columns, int *num_keys, int *key){
  sqlite3_stmt *row;
  int rc;
  if( by_select ){
    int i;
    rc = bloom_sql_prepare(index->connection, &row, "SELECT * FROM " INDEX_SOURCE, index->schema,
                           table);
    for(i=0; rc==SQLITE_OK && i<sqlite3_column_count(row); i++){
      rc = columns_add_named(index, table, sqlite3_column_name(row, i), columns, num_keys, key);
    }
    return bloom_sql_end(row, rc);
  }
  rc = bloom_sql_prepare(index->connection, &row, "PRAGMA \"%w\".table_xinfo(%Q)", index->schema,
                         table);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
    rc = columns_add_named(index, table, (const char *)sqlite3_column_text(row, 1), columns,
                           num_keys, key);
  }
  return bloom_sql_end(row, rc);
}

/* Sets *is_id to whether a column is the rowid, which SQLite's plan tells: of `INTEGER PRIMARY
** KEY DESC`, say, its declaration does not. */
static int columns_is_id(bloom_index *index, const char *table, const char *name, int *is_id){
  static const char end[] = " USING INTEGER PRIMARY KEY (rowid=?)";
  sqlite3_stmt *row;
  const char *detail = NULL;
  int rc = bloom_sql_prepare(index->connection, &row,
                             "EXPLAIN QUERY PLAN SELECT 1 FROM " INDEX_SOURCE " WHERE x.\"%w\" = "
                             "1", index->schema, table, name);
  *is_id = 0;
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW ) rc = bloom_sql_column_text(row, 3, &detail);
  if( detail && strlen(detail)>=strlen(end) ){
    *is_id = strcmp(detail + strlen(detail) - strlen(end), end)==0;
  }
  return bloom_sql_end(row, rc);
}

/* Finds what the rowid is called. */
static int columns_find_id(bloom_index *index, const char *table, index_columns *columns,
                           int num_keys, int key, char **error){
  static const char *const names[] = {"rowid", "_rowid_", "oid"};
  const char *name = NULL;
  size_t i;
  int is_id = 0, rc = SQLITE_OK;
  columns->id_column = -1;
  if( num_keys==1 ) rc = columns_is_id(index, table, columns->list[key].name, &is_id);
  if( rc!=SQLITE_OK ) return rc;
  if( is_id ){
    columns->id_column = key;
    columns->list[key].is_not_null = 1;
    name = columns->list[key].name;
  }
  for(i=0; i<BLOOM_COUNT_OF(names) && name==NULL; i++){
    if( bloom_index_columns_find(columns, names[i])>=0 ) continue;
    rc = sqlite3_table_column_metadata(index->connection->db, index->schema, table, names[i], NULL,
                                       NULL, NULL, NULL, NULL);
    if( rc==SQLITE_OK ) name = names[i];
    else if( rc!=SQLITE_ERROR ) return rc;
  }
  if( name==NULL ){
    return bloom_fail_vtab(error,
                           "bloom_index: table %s has no rowid that can be named, being WITHOUT "
                           "ROWID or having columns rowid, _rowid_ "
                           "and oid: make it with an INTEGER PRIMARY KEY, or a filter on "
                           "it, USING bloom", table);
  }
  columns->id_name = sqlite3_mprintf("%s", name);
  return columns->id_name ? SQLITE_OK : SQLITE_NOMEM;
}

int bloom_index_columns_read(bloom_index *index, const char *table, index_columns *columns,
                             char **error){
  int num_keys = 0, key = -1, rc;
  memset(columns, 0, sizeof(*columns));
  rc = columns_list(index, table, 0, columns, &num_keys, &key);
  if( rc==SQLITE_AUTH || (rc==SQLITE_OK && columns->num_columns==0) ){
    bloom_index_columns_free(columns);
    num_keys = 0;
    rc = columns_list(index, table, 1, columns, &num_keys, &key);
  }
  return rc==SQLITE_OK ? columns_find_id(index, table, columns, num_keys, key, error) : rc;
}

index_columns_state bloom_index_columns_compare(const index_columns *declared,
                                                const index_columns *now){
  int i;
  if( now->num_columns<declared->num_columns
     || declared->num_columns==0 ) return INDEX_COLUMNS_OTHER;
  for(i=0; i<declared->num_columns; i++){
    const index_column_info a = declared->list[i], b = now->list[i];
    if( sqlite3_stricmp(a.name, b.name)!=0 || strcmp(a.type, b.type)!=0
       || sqlite3_stricmp(a.collation, b.collation)!=0
       || a.is_not_null>b.is_not_null ) return INDEX_COLUMNS_OTHER;
  }
  return now->num_columns==declared->num_columns ? INDEX_COLUMNS_SAME : INDEX_COLUMNS_MORE;
}

int bloom_index_columns_fail(bloom_index *index, char **error){
  return bloom_fail_vtab(error,
                         "bloom_index: table %s has other columns than SQLite knows of %s: PRAGMA "
                         "writable_schema = RESET, any "
                         "ALTER TABLE, or opening the connection anew tells "
                         "it", index->source_name ? index->source_name
                                  : index->config.source, index->name);
}

/* -- What SQLite is told ------------------------------------------------------------------ */

static int is_number_token(bloom_token token){
  return token.kind=='a' && strspn(token.text, "0123456789")>=token.num_chars;
}

/* Returns 1 if a type is words, and behind them one or two numbers in parentheses.  In quotes a
** source's may be any text: one with a comma would make a column of its own, NOT NULL a
** constraint. */
static int is_plain_type(const char *type){
  static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ (,)";
  bloom_token token = bloom_token_first(type);
  /* blanks alone would be none */
  if( token.kind!='a' || type[strspn(type, chars)] ) return *type==0;
  for(; token.kind=='a'; token = bloom_token_after(token)){
    if( strchr("0123456789", *token.text) || sqlite3_keyword_check(token.text,
        (int)token.num_chars) || bloom_token_is(token, "hidden") ) return 0;
  }
  if( token.kind=='(' ){
    token = bloom_token_after(token);
    if( !is_number_token(token) ) return 0;
    token = bloom_token_after(token);
    if( token.kind==',' && is_number_token(bloom_token_after(token)) ){
      token = bloom_token_after(bloom_token_after(token));
    }
    if( token.kind!=')' ) return 0;
    token = bloom_token_after(token);
  }
  return token.num_chars==0;
}

/* Returns a type that sqlite3_declare_vtab() reads as it is, else one that has its affinity. */
static const char *columns_declared_type(const char *type){
  if( is_plain_type(type) ) return type;
  switch( bloom_affinity_of(type) ){
    case 'i': return "INTEGER";
    case 'r': return "REAL";
    case 't': return "TEXT";
    case 'b': return "BLOB";
    default:  return "NUMERIC";
  }
}

/* Declares the indexed columns, and returns their number: where the source is gone, DROP must find
** a table all the same, and a query of an indexed column is told why. */
static int columns_declare_keys(const bloom_index *index, sqlite3_str *sql){
  int i, j, num_declared = 0;
  for(i=0; i<index->config.num_keys; i++){
    const char *name = index->config.keys[i].name;
    for(j=0; j<i && sqlite3_stricmp(index->config.keys[j].name, name)!=0; j++){}
    if( j<i || sqlite3_stricmp(name, index->name)==0 ) continue;
    sqlite3_str_appendf(sql, "%s\"%w\"", num_declared++ ? ", " : "", name);
  }
  return num_declared;
}

char *bloom_index_columns_declaration(bloom_index *index){
  const index_columns *columns = &index->columns;
  sqlite3_str *sql = sqlite3_str_new(NULL);
  int i, num_declared = columns->num_columns;
  sqlite3_str_appendall(sql, "CREATE TABLE x(");
  for(i=0; i<columns->num_columns; i++){
    const index_column_info *column = &columns->list[i];
    /* SQLite asks for the order of min() where there are no NULLs. */
    sqlite3_str_appendf(sql, "%s\"%w\" %s COLLATE \"%w\"%s", i ? ", " : "", column->name,
                        columns_declared_type(column->type),
                        column->has_no_collation ? "BINARY" : column->collation,
                        column->is_not_null ? " NOT NULL" : "");
  }
  if( columns->num_columns==0 ) num_declared = columns_declare_keys(index, sql);
  /* A column of the source that got the index's name since takes the commands, too. */
  index->command_column = bloom_index_columns_find(columns, index->name);
  if( index->command_column<0 && num_declared<sqlite3_limit(index->connection->db,
                                                            SQLITE_LIMIT_COLUMN, -1) ){
    index->command_column = num_declared;
    sqlite3_str_appendf(sql, "%s\"%w\" HIDDEN", num_declared ? ", " : "", index->name);
  }
  sqlite3_str_appendall(sql, ")");
  return sqlite3_str_finish(sql);
}
