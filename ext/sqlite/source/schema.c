/*
** Marks of a schema.
*/
#include "schema.h"

#include <string.h>

void bloom_schema_mark_free(bloom_schema_mark *mark){
  sqlite3_free(mark->text);
  *mark = (bloom_schema_mark){.num_rows = 0};
}

static int find_last_row(bloom_connection *connection, const char *schema, sqlite3_int64 *row){
  return bloom_sql_integer(connection, row, "SELECT rowid FROM \"%w\".sqlite_master"
                                            " ORDER BY rowid DESC LIMIT 1", schema);
}

int bloom_schema_mark_begin(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark
){
  bloom_schema_mark_free(mark);
  return find_last_row(connection, schema, &mark->last_row);
}

void bloom_schema_mark_add(bloom_schema_mark *mark, sqlite3_int64 row){
  if( row<=0 || mark->num_rows>=BLOOM_SCHEMA_MAX_ROWS ) mark->num_rows = BLOOM_SCHEMA_MAX_ROWS + 1;
  else mark->rows[mark->num_rows++] = row;
}

/* The columns that the functions below read. */
#define COLUMNS "type, name, tbl_name, sql, rootpage"

/* Compiles a SELECT of the rows by their numbers, and of those behind the last. */
static int schema_prepare_rows(
  bloom_connection *connection, const char *schema, const bloom_schema_mark *mark,
  sqlite3_stmt **row
){
  sqlite3_str *sql = sqlite3_str_new(connection->db);
  int i;
  sqlite3_str_appendf(sql, "SELECT " COLUMNS " FROM \"%w\".sqlite_master WHERE rowid IN (", schema);
  for(i=0; i<mark->num_rows; i++) sqlite3_str_appendf(sql, "%s%lld", i ? ", " : "", mark->rows[i]);
  sqlite3_str_appendf(sql, ") UNION ALL SELECT " COLUMNS " FROM \"%w\".sqlite_master"
                           " WHERE rowid > %lld", schema, mark->last_row);
  return bloom_sql_prepare_text(connection, row, sqlite3_str_finish(sql));
}

/* Reads so many rows' text, *text to be freed; NULL if there are fewer. */
static int read_text(
  bloom_connection *connection, sqlite3_stmt *row, int num_rows, char **text
){
  sqlite3_str *str = sqlite3_str_new(connection->db);
  int i, j, rc = SQLITE_ROW;
  for(i=0; i<num_rows && (rc = bloom_sql_step(connection, row))==SQLITE_ROW; i++){
    for(j=0; j<4; j++){
      const char *column;
      if( bloom_sql_column_text(row, j, &column)!=SQLITE_OK ) rc = SQLITE_NOMEM;
      sqlite3_str_appendf(str, "%Q ", column);
    }
    if( rc!=SQLITE_ROW ) break;
  }
  *text = sqlite3_str_finish(str);
  if( rc==SQLITE_ROW && *text ) return SQLITE_OK;
  if( rc==SQLITE_ROW ) rc = SQLITE_NOMEM;
  sqlite3_free(*text);
  *text = NULL;
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

int bloom_schema_mark_end(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark
){
  sqlite3_stmt *row;
  int rc;
  if( mark->num_rows==0 || mark->num_rows>BLOOM_SCHEMA_MAX_ROWS ) return SQLITE_OK;
  rc = schema_prepare_rows(connection, schema, mark, &row);
  if( rc==SQLITE_OK ) rc = read_text(connection, row, mark->num_rows, &mark->text);
  return bloom_sql_end(row, rc);
}

/* Reads the rows behind the last.  *num_made is how many statements they account for; -1 where one
** may be of consequence.  SQLite makes tables and indexes of its own along with others, and dumps
** put virtual tables into the schema, which adds nothing to its version. */
static int count_made(
  bloom_connection *connection, sqlite3_stmt *row, const char *table, int *num_made
){
  int rc;
  *num_made = 0;
  while( (rc = bloom_sql_step(connection, row))==SQLITE_ROW ){
    const char *type = (const char *)sqlite3_column_text(row, 0);
    const char *name = (const char *)sqlite3_column_text(row, 1);
    const char *its_table = (const char *)sqlite3_column_text(row, 2);
    if( type==NULL || name==NULL || its_table==NULL || strcmp(type, "trigger")==0
        || (strcmp(type, "table")==0 && sqlite3_column_int64(row, 4)==0)
        || sqlite3_stricmp(its_table, table)==0 ){
      *num_made = -1;
      return SQLITE_OK;
    }
    *num_made += sqlite3_strnicmp(name, "sqlite_", 7)!=0;
  }
  return rc;
}

int bloom_schema_mark_holds(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark,
  sqlite3_int64 num_changes, int max_others, const char *table, int *holds
){
  sqlite3_stmt *row = NULL;
  sqlite3_int64 last_row = 0;
  char *text = NULL;
  int num_made, rc;
  *holds = 0;
  if( mark->text==NULL || num_changes<=0 ) return SQLITE_OK;
  rc = find_last_row(connection, schema, &last_row);
  if( rc==SQLITE_OK ) rc = schema_prepare_rows(connection, schema, mark, &row);
  if( rc==SQLITE_OK ) rc = read_text(connection, row, mark->num_rows, &text);
  if( rc==SQLITE_OK && text && strcmp(text, mark->text)==0 ){
    rc = count_made(connection, row, table, &num_made);
    if( rc==SQLITE_DONE ){
      *holds = num_made<=num_changes && num_changes - num_made<=max_others;
    }
  }
  if( *holds ) mark->last_row = last_row;
  sqlite3_free(text);
  rc = bloom_sql_end(row, rc);
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK; /* a full check meets the others again */
}
