/*
** Reads a source table from the schema.
*/
#include "source.h"

#include <string.h>

#include "../../core/debug.h"
#include "../errors.h"
#include "sql.h"

void bloom_source_free(bloom_source *source){
  int i;
  for(i=0; i<source->num_columns; i++){
    sqlite3_free(source->columns[i].name);
    sqlite3_free(source->columns[i].default_value);
  }
  sqlite3_free(source->columns);
  sqlite3_free(source->name);
}

/* Refuses a shadow table, as far as SQLite says: from 3.37 on. */
static int check_is_no_shadow(bloom_source *source, char **error){
  sqlite3_stmt *row;
  const char *type = NULL;
  sqlite3 *db = source->connection->db;
  const int was_writing = bloom_db_is_writing(db, source->schema);
  int rc = bloom_sql_prepare(source->connection, &row, "PRAGMA \"%w\".table_list(\"%w\")",
                             source->schema, source->name);
  /* SQLite compiles the schema's views here, and keeps to itself what fails.  CREATE VIRTUAL TABLE
  ** must not go on then: its own table is gone from memory. */
  if( rc==SQLITE_OK && was_writing && !bloom_db_is_writing(db, source->schema) ){
    *error = sqlite3_mprintf("bloom: interrupted, or a disk failed, while SQLite read the schema's"
                             " views: the transaction is rolled back");
    rc = SQLITE_IOERR;
  }
  while( rc==SQLITE_OK && (rc = bloom_sql_step(source->connection, row))==SQLITE_ROW ){
    rc = bloom_sql_column_text(row, 2, &type);
    if( rc==SQLITE_OK && sqlite3_stricmp(type, "shadow")==0 ){
      rc = bloom_fail_vtab(error, "bloom: %s is a shadow table, which its virtual table alone"
                                  " writes to; a source is an ordinary table", source->name);
    }
  }
  return bloom_sql_end(row, rc);
}

/* Finds the table's name as the schema has it. */
static int find_source_table(bloom_source *source, const char *table, char **error){
  sqlite3_stmt *row;
  int rc = bloom_sql_row(source->connection, &row,
    "SELECT name, type = 'view', rootpage = 0, rowid FROM \"%w\".sqlite_master"
    " WHERE type IN ('table', 'view') AND name = %Q COLLATE NOCASE", source->schema, table);
  if( rc==SQLITE_DONE ){
    rc = bloom_fail_vtab(error, "bloom: there is no table %s in database %s", table,
                         source->schema);
  }else if( rc==SQLITE_ROW && sqlite3_column_int(row, 1) ){
    rc = bloom_fail_vtab(error, "bloom: %s is a view; a source is an ordinary table", table);
  }else if( rc==SQLITE_ROW && sqlite3_column_int(row, 2) ){
    rc = bloom_fail_vtab(error, "bloom: %s is a virtual table; a source is an ordinary one", table);
  }else if( rc==SQLITE_ROW ){
    source->row = sqlite3_column_int64(row, 3);
    rc = bloom_sql_copy_text(row, 0, &source->name);
    if( rc==SQLITE_OK && source->name==NULL ) rc = SQLITE_AUTH; /* an authorizer made NULL of it */
  }
  sqlite3_finalize(row);
  return rc==SQLITE_OK ? check_is_no_shadow(source, error) : rc;
}

static int add_source_column(bloom_source *source, sqlite3_stmt *row){
  bloom_source_column *column;
  const char *type;
  if( BLOOM_GROW(source->columns, source->num_columns, source->max_columns) ) return SQLITE_NOMEM;
  column = &source->columns[source->num_columns];
  *column = (bloom_source_column){.is_key = sqlite3_column_int(row, 5)>0,
                                  .is_generated = sqlite3_column_int(row, 6)!=0};
  if( bloom_sql_column_text(row, 2, &type)!=SQLITE_OK ) return SQLITE_NOMEM;
  column->kind = bloom_column_kind_of(type);
  if( bloom_sql_copy_text(row, 1, &column->name)!=SQLITE_OK ) return SQLITE_NOMEM;
  source->num_keys += column->is_key;
  source->num_columns++;
  return bloom_sql_copy_text(row, 4, &column->default_value);
}

static int read_source_columns(bloom_source *source){
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare(source->connection, &row, "PRAGMA \"%w\".table_xinfo(\"%w\")",
                             source->schema, source->name);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(source->connection, row))==SQLITE_ROW ){
    rc = add_source_column(source, row);
  }
  return bloom_sql_end(row, rc);
}

/* Finds the column that is the rowid: the one of a PRIMARY KEY that has no index. */
static int find_source_row_column(bloom_source *source){
  sqlite3_stmt *row;
  const char *origin;
  int i, has_index = 0;
  int rc = bloom_sql_prepare(source->connection, &row, "PRAGMA \"%w\".index_list(\"%w\")",
                             source->schema, source->name);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(source->connection, row))==SQLITE_ROW ){
    rc = bloom_sql_column_text(row, 3, &origin);
    has_index |= rc==SQLITE_OK && sqlite3_stricmp(origin, "pk")==0; /* not so of NULL */
  }
  for(i=0; i<source->num_columns && source->num_keys==1 && !has_index; i++){
    if( source->columns[i].is_key ) source->row_column = &source->columns[i];
  }
  return bloom_sql_end(row, rc);
}

int bloom_source_read(
  bloom_connection *connection, const char *schema, const char *table, bloom_source *source,
  char **error
){
  int rc;
  *source = (bloom_source){.connection = connection, .schema = schema};
  rc = find_source_table(source, table, error);
  if( rc==SQLITE_OK ) rc = read_source_columns(source);
  if( rc==SQLITE_OK ) rc = find_source_row_column(source);
  return bloom_sql_failure(connection, "bloom", table, rc, error);
}

int bloom_source_is_rowid_name(const char *name){
  return sqlite3_stricmp(name, "rowid")==0 || sqlite3_stricmp(name, "_rowid_")==0
    || sqlite3_stricmp(name, "oid")==0;
}

const bloom_source_column *bloom_source_find(const bloom_source *source, const char *name){
  int i;
  for(i=0; i<source->num_columns; i++){
    if( sqlite3_stricmp(source->columns[i].name, name)==0 ) return &source->columns[i];
  }
  return bloom_source_is_rowid_name(name) ? source->row_column : NULL;
}

int bloom_source_equality(
  const bloom_source *source, const bloom_source_column *column, bloom_equality *rule, char **error
){
  sqlite3 *db = source->connection->db;
  const char *collation;
  int rc;
  assert(column>=source->columns && column<source->columns + source->num_columns);
  rc = sqlite3_table_column_metadata(db, source->schema, source->name, column->name, NULL,
                                         &collation, NULL, NULL, NULL);
  if( rc!=SQLITE_OK ){
    return bloom_sql_failure(source->connection, "bloom", source->name, rc, error);
  }
  rule->kind = column->kind;
  if( bloom_collation_named(collation, &rule->collation) ) return SQLITE_OK;
  return bloom_fail_vtab(error, "bloom: column %s of table %s has collation %s, and a filter cannot"
                                " know which values it takes for equal; it knows BINARY, NOCASE and"
                                " RTRIM", column->name, source->name, collation);
}

/* -- Defaults ----------------------------------------------------------------------------- */

/* Returns 1 if an expression's tokens make only constants: they name no column, and call
** nothing. */
static int is_constant(const char *sql){
  static const char digits[] = "0123456789abcdefABCDEFxX"; /* a name of these is no column */
  bloom_token token, last = {.kind = 0};
  for(token=bloom_token_first(sql); token.num_chars; token=bloom_token_after(token)){
    if( token.kind=='a' ? strspn(token.text, digits)<token.num_chars
        && !bloom_token_is(token, "true") && !bloom_token_is(token, "false")
        : !strchr("'().+-", token.kind) ) return 0;
    if( token.kind=='(' && last.kind=='a' ) return 0; /* a function */
    last = token;
  }
  return 1;
}

/* Sets *text, to be freed, to the value of a DEFAULT as SQL.  SQLITE_NOTFOUND if it is no
** constant. */
static int constant_default(const char *sql, bloom_token first, char **text){
  *text = NULL;
  if( first.kind=='"' ){ /* a text to SQLite, which has no other token then */
    char *word = bloom_token_unquoted(first);
    if( word ) *text = sqlite3_mprintf("%Q", word);
    sqlite3_free(word);
  }else if( is_constant(sql) ){
    *text = sqlite3_mprintf("%s\n", sql); /* its end may be a comment */
  }else{
    return SQLITE_NOTFOUND;
  }
  return *text ? SQLITE_OK : SQLITE_NOMEM;
}

int bloom_source_prepare_default(
  bloom_connection *connection, const char *sql, sqlite3_stmt **row
){
  const bloom_token first = bloom_token_first(sql ? sql : "null");
  char *text;
  int rc;
  *row = NULL;
  if( bloom_token_is(first, "null") && bloom_token_after(first).num_chars==0 ) return SQLITE_OK;
  rc = constant_default(sql, first, &text);
  if( rc!=SQLITE_OK ) return rc;
  /* Numbers are below every text.  Not typeof(): where an authorizer keeps it from us SQLite says
  ** SQLITE_ERROR, as it does of what is no constant. */
  rc = bloom_sql_prepare(connection, row,
                         "WITH d(v) AS (SELECT %s) SELECT v FROM d UNION ALL SELECT CAST(v AS TEXT)"
                         " FROM d UNION ALL SELECT CAST(v AS REAL) FROM d WHERE v < ''", text);
  sqlite3_free(text);
  return rc==SQLITE_ERROR ? SQLITE_NOTFOUND : rc;
}
