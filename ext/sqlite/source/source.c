/*
** Reads a source table from the schema.
*/
#include "source.h"

#include <string.h>

#include "../../core/debug.h"
#include "../errors.h"

void bloom_source_free(bloom_source *source){
  int i;
  for(i=0; i<source->num_columns; i++){
    sqlite3_free(source->list[i].name);
    sqlite3_free(source->list[i].type);
    sqlite3_free(source->list[i].collation);
    sqlite3_free(source->list[i].default_value);
  }
  sqlite3_free(source->list);
  sqlite3_free(source->name);
  sqlite3_free(source->id_name);
  *source = (bloom_source){.id_column = -1};
}

/* -- The table ---------------------------------------------------------------------------- */

int bloom_source_refuse_shadow(bloom_follower follower, const char *table){
  sqlite3_stmt *row;
  const char *type = NULL;
  sqlite3 *db = follower.connection->db;
  const int was_writing = bloom_db_is_writing(db, follower.schema);
  int rc = bloom_sql_prepare(follower.connection, &row, "PRAGMA \"%w\".table_list(\"%w\")",
                             follower.schema, table);
  /* SQLite compiles all views of the schema here, and does not report their errors.  If one rolled
  ** back, CREATE VIRTUAL TABLE must not go on: its own table is gone from memory. */
  if( rc==SQLITE_OK && was_writing && !bloom_db_is_writing(db, follower.schema) ){
    *follower.error = sqlite3_mprintf("%s: interrupted, or a disk failed, while SQLite read the"
                                      " schema's views: the transaction is rolled back",
                                      follower.module);
    rc = SQLITE_IOERR;
  }
  while( rc==SQLITE_OK && (rc = bloom_sql_step(follower.connection, row))==SQLITE_ROW ){
    rc = bloom_sql_column_text(row, 2, &type);
    if( rc==SQLITE_OK && sqlite3_stricmp(type, "shadow")==0 ){
      rc = bloom_fail_vtab(follower.error, "%s: %s is a shadow table, which its virtual table alone"
                                           " writes to; a source is an ordinary table",
                           follower.module, table);
    }
  }
  return bloom_sql_end(row, rc);
}

/* Sets source->name to the table's name as the schema has it, and source->is_strict if its CREATE
** TABLE has STRICT behind its columns. */
static int find_source_table(bloom_follower follower, const char *table, bloom_source *source){
  sqlite3_stmt *row;
  const char *sql = NULL;
  int is_table = 0, is_view = 0, rc = bloom_sql_row(follower.connection, &row,
    "SELECT name, rootpage IS NOT 0, type = 'view', sql FROM \"%w\".sqlite_master"
    " WHERE type IN ('table', 'view') AND name = %Q COLLATE NOCASE", follower.schema, table);
  const int is_there = rc==SQLITE_ROW;
  if( is_there ){
    bloom_token token;
    int depth = 0;
    is_table = sqlite3_column_int(row, 1);
    is_view = sqlite3_column_int(row, 2);
    rc = bloom_sql_copy_text(row, 0, &source->name);
    if( rc==SQLITE_OK && source->name==NULL ) rc = SQLITE_AUTH; /* an authorizer made NULL of it */
    if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 3, &sql);
    for(token=bloom_token_first(sql ? sql : ""); token.num_chars; token=bloom_token_after(token)){
      depth += (token.kind=='(') - (token.kind==')');
      if( token.kind=='(' ) source->is_strict = 0;
      else if( depth==0 ) source->is_strict |= bloom_token_is(token, "strict");
    }
  }
  rc = bloom_sql_end(row, rc);
  if( rc!=SQLITE_OK || is_table ) return rc;
  if( !is_there ){
    return bloom_fail_vtab(follower.error, "%s: there is no table %s in database %s",
                           follower.module, table, follower.schema);
  }
  return bloom_fail_vtab(follower.error, is_view
      ? "%s: %s is a view; a source is an ordinary table"
      : "%s: %s is a virtual table; a source is an ordinary one", follower.module, table);
}

/* -- Columns ------------------------------------------------------------------------------ */

/* Adds the column called name; NULL: SQLITE_NOMEM.  row is its row of table_xinfo, or NULL. */
static int add_source_column(bloom_follower follower, bloom_source *source, const char *name,
                             sqlite3_stmt *row){
  const char *type = NULL, *collation = NULL;
  bloom_source_column *column;
  int is_any, is_not_null = 0, is_key = 0, rc = SQLITE_NOMEM;
  if( name ) rc = sqlite3_table_column_metadata(follower.connection->db, follower.schema,
                                                source->name, name, &type, &collation,
                                                &is_not_null, &is_key, NULL);
  if( rc!=SQLITE_OK ) return rc;
  if( BLOOM_GROW(source->list, source->num_columns, source->max_columns) ) return SQLITE_NOMEM;
  column = &source->list[source->num_columns++];
  /* ANY is no affinity in STRICT tables, and NUMERIC in others; the rule of no affinity serves
  ** both.  A type "" is NUMERIC, and a missing type is no affinity. */
  is_any = type==NULL || sqlite3_stricmp(type, "ANY")==0;
  *column = (bloom_source_column){.is_not_null = is_not_null, .is_key = is_key, .kind = is_any
      ? BLOOM_COLUMN_ANY : bloom_column_kind_of_affinity(bloom_affinity_of(type))};
  if( type==NULL || (is_any && source->is_strict) ) type = "";
  else if( type[0]==0 ) type = "NUMERIC";
  column->affinity = bloom_affinity_of(type);
  column->name = sqlite3_mprintf("%s", name);
  column->type = sqlite3_mprintf("%s", type);
  column->collation = sqlite3_mprintf("%s", collation);
  if( column->name==NULL || column->type==NULL || column->collation==NULL ) return SQLITE_NOMEM;
  if( row==NULL ) return SQLITE_OK;
  column->is_generated = sqlite3_column_int(row, 6)!=0;
  column->is_virtual = sqlite3_column_int(row, 6)==2;
  return bloom_sql_copy_text(row, 4, &column->default_value);
}

/* Reads the columns by PRAGMA table_xinfo; or, source->is_partial, where an authorizer refuses
** that, by a SELECT. */
static int read_source_columns(bloom_follower follower, bloom_source *source){
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare(follower.connection, &row, source->is_partial
      ? "SELECT * FROM \"%w\".\"%w\"" : "PRAGMA \"%w\".table_xinfo(\"%w\")", follower.schema,
      source->name);
  if( source->is_partial ){
    int i;
    for(i=0; rc==SQLITE_OK && i<sqlite3_column_count(row); i++){
      rc = add_source_column(follower, source, sqlite3_column_name(row, i), NULL);
    }
    return bloom_sql_end(row, rc);
  }
  while( rc==SQLITE_OK && (rc = bloom_sql_step(follower.connection, row))==SQLITE_ROW ){
    rc = add_source_column(follower, source, (const char *)sqlite3_column_text(row, 1), row);
  }
  return bloom_sql_end(row, rc);
}

/* Sets source->id_column if the PRIMARY KEY is one column, and the rowid; and source->id_name to
** what the rowid is called. */
static int find_id(bloom_follower follower, bloom_source *source){
  static const char *const names[] = {"rowid", "_rowid_", "oid"};
  const char *name = NULL;
  int key = 0, column, num_keys = 0;
  size_t i;
  assert( source->id_column==-1 );
  for(column=0; column<source->num_columns; column++){
    if( source->list[column].is_key ) key = column;
    num_keys += source->list[column].is_key;
  }
  if( num_keys==1 ){
    /* SQLite's plan tells; the declaration does not: `INTEGER PRIMARY KEY DESC` is no rowid. */
    sqlite3_stmt *row;
    const char *detail = NULL;
    int rc = bloom_sql_row(follower.connection, &row, "EXPLAIN QUERY PLAN SELECT 1 FROM"
                           " \"%w\".\"%w\" AS x WHERE x.\"%w\" = 1", follower.schema,
                           source->name, source->list[key].name);
    if( rc==SQLITE_ROW ) rc = bloom_sql_column_text(row, 3, &detail);
    if( detail && sqlite3_strglob("* USING INTEGER PRIMARY KEY (rowid=[?])", detail)==0 ){
      name = source->list[key].name;
      source->id_column = key;
      source->list[key].is_not_null = 1;
    }
    rc = bloom_sql_end(row, rc);
    if( rc!=SQLITE_OK ) return rc;
  }
  for(i=0; i<BLOOM_COUNT_OF(names) && name==NULL; i++){
    int rc;
    if( bloom_source_find(source, names[i])>=0 ) continue;
    rc = sqlite3_table_column_metadata(follower.connection->db, follower.schema, source->name,
                                       names[i], NULL, NULL, NULL, NULL, NULL);
    if( rc==SQLITE_OK ) name = names[i];
    else if( rc!=SQLITE_ERROR ) return rc;
  }
  if( name==NULL ) return SQLITE_OK;
  source->id_name = sqlite3_mprintf("%s", name);
  return source->id_name ? SQLITE_OK : SQLITE_NOMEM;
}

int bloom_source_read(bloom_follower follower, const char *table, int is_whole,
                      bloom_source *source){
  int rc;
  *source = (bloom_source){.id_column = -1};
  rc = find_source_table(follower, table, source);
  if( rc!=SQLITE_OK ) return rc;
  rc = read_source_columns(follower, source);
  if( !is_whole && (rc==SQLITE_AUTH || (rc==SQLITE_OK && source->num_columns==0)) ){
    source->is_partial = 1;
    rc = read_source_columns(follower, source);
  }
  if( rc==SQLITE_OK ) rc = find_id(follower, source);
  assert( rc!=SQLITE_OK || (source->name && (source->id_column<0 || source->id_name)) );
  return rc;
}

int bloom_source_is_rowid_name(const char *name){
  return sqlite3_stricmp(name, "rowid")==0 || sqlite3_stricmp(name, "_rowid_")==0
    || sqlite3_stricmp(name, "oid")==0;
}

int bloom_source_find(const bloom_source *source, const char *name){
  int i;
  for(i=0; i<source->num_columns; i++){
    if( sqlite3_stricmp(source->list[i].name, name)==0 ) return i;
  }
  return -1;
}

/* -- Defaults ----------------------------------------------------------------------------- */

int bloom_source_prepare_default(bloom_connection *connection, const char *sql, sqlite3_stmt **row){
  static const char digits[] = "0123456789abcdefABCDEFxX"; /* a name of these is no column */
  const bloom_token first = bloom_token_first(sql ? sql : "null");
  char *text = NULL;
  int rc;
  *row = NULL;
  if( bloom_token_is(first, "null") && bloom_token_after(first).num_chars==0 ) return SQLITE_OK;
  if( first.kind=='"' ){ /* a text to SQLite, which has no other token then */
    char *word = bloom_token_unquoted(first);
    if( word ) text = sqlite3_mprintf("%Q", word);
    sqlite3_free(word);
  }else{
    /* It is constant if its tokens name no column, and call no function. */
    bloom_token token, last = {.kind = 0};
    for(token=first; token.num_chars; token=bloom_token_after(token)){
      if( token.kind=='a' ? strspn(token.text, digits)<token.num_chars
          && !bloom_token_is(token, "true") && !bloom_token_is(token, "false")
          : !strchr("'().+-", token.kind) ) return SQLITE_NOTFOUND;
      if( token.kind=='(' && last.kind=='a' ) return SQLITE_NOTFOUND;
      last = token;
    }
    text = sqlite3_mprintf("%s\n", sql); /* its end may be a comment */
  }
  if( text==NULL ) return SQLITE_NOMEM;
  /* v < '' is true of numbers alone.  typeof() would tell, too, but where an authorizer denies a
  ** function SQLite returns SQLITE_ERROR, as where the DEFAULT is no constant. */
  rc = bloom_sql_prepare(connection, row,
                         "WITH d(v) AS (SELECT %s) SELECT v FROM d UNION ALL SELECT CAST(v AS TEXT)"
                         " FROM d UNION ALL SELECT CAST(v AS REAL) FROM d WHERE v < ''", text);
  sqlite3_free(text);
  return rc==SQLITE_ERROR ? SQLITE_NOTFOUND : rc;
}
