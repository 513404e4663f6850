/*
** SQL of bloom's own: its text as tokens, and statements.
*/
#include "sql.h"

#include <stdarg.h>
#include <string.h>

#include "../../core/debug.h"
#include "../key.h"

/* -- Tokens --------------------------------------------------------------------------------- */

static int is_name_char(char c){
  return (c>='a' && c<='z') || (c>='A' && c<='Z') || (c>='0' && c<='9') || c=='_' || c=='$'
    || (c & 0x80);
}

bloom_token bloom_token_first(const char *text){
  bloom_token t = {.num_chars = 0};
  for(;;){ /* blanks and comments */
    if( bloom_is_space(*text) ){
      text++;
    }else if( text[0]=='-' && text[1]=='-' ){
      while( *text && *text!='\n' ) text++;
    }else if( text[0]=='/' && text[1]=='*' ){
      const char *end = strstr(text + 2, "*/");
      text = end ? end + 2 : text + strlen(text);
    }else{
      break;
    }
  }
  t.text = text;
  t.kind = *text;
  if( *text==0 ) return t;
  if( is_name_char(*text) ){
    t.kind = 'a';
    while( is_name_char(text[t.num_chars]) ) t.num_chars++;
    return t;
  }
  t.num_chars = 1;
  if( strchr("'\"`[", *text) ){
    char end = *text;
    if( end=='[' ) end = ']';
    while( text[t.num_chars] ){
      if( text[t.num_chars++]!=end ) continue;
      if( end==']' || text[t.num_chars]!=end ) break;
      t.num_chars++;
    }
  }
  return t;
}

bloom_token bloom_token_after(bloom_token token){
  return bloom_token_first(token.text + token.num_chars);
}

char *bloom_token_unquoted(bloom_token token){
  char *text = sqlite3_malloc64(token.num_chars + 1);
  size_t length = 0;
  if( text==NULL ) return NULL;
  if( token.kind=='a' ){
    memcpy(text, token.text, token.num_chars);
    length = token.num_chars;
  }else{
    size_t i;
    for(i=1; i+1<token.num_chars; i++){
      text[length++] = token.text[i];
      if( token.kind!='[' && token.text[i]==token.kind ) i++; /* a quote is doubled */
    }
  }
  assert( length<=token.num_chars );
  text[length] = 0;
  return text;
}

/* Quotes are closed: SQLite has parsed the text. */
int bloom_token_is_name(bloom_token token){
  return token.num_chars>0 && (token.kind=='a' || strchr("'\"`[", token.kind)!=NULL);
}

int bloom_token_is(bloom_token token, const char *word){
  return token.kind=='a' && token.num_chars==strlen(word)
    && sqlite3_strnicmp(token.text, word, (int)token.num_chars)==0;
}

bloom_token bloom_token_find(bloom_token token, const char *word){
  while( token.num_chars && !bloom_token_is(token, word) ) token = bloom_token_after(token);
  return token;
}

/* -- Statements ----------------------------------------------------------------------------- */

/* Sets text to what the format of a variadic function and its arguments make, to be freed. */
#define FORMAT_TEXT(text, format) do{ \
    va_list arguments; \
    va_start(arguments, format); \
    (text) = sqlite3_vmprintf((format), arguments); \
    va_end(arguments); \
  }while( 0 )

/* The variables that a statement of bloom's may have at least.  An application may allow fewer:
** sqlite.org/security.html recommends 10. */
#define NUM_VARIABLES 64

int bloom_sql_prepare_text(bloom_connection *connection, sqlite3_stmt **statement, char *sql){
  sqlite3 *db = connection->db;
  int rc = SQLITE_NOMEM;
  *statement = NULL;
  if( sql && connection->is_running ){
    rc = SQLITE_CORRUPT_VTAB;
  }else if( sql ){
    const int limit = sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, -1);
    if( limit<NUM_VARIABLES ) sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, NUM_VARIABLES);
    connection->is_running = 1;
    rc = sqlite3_prepare_v2(db, sql, -1, statement, NULL);
    assert( connection->is_running && (rc==SQLITE_OK)==(*statement!=NULL) ); /* no text is empty */
    connection->is_running = 0;
    if( limit<NUM_VARIABLES ) sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, limit);
  }
  sqlite3_free(sql);
  return rc;
}

int bloom_sql_prepare(bloom_connection *connection, sqlite3_stmt **statement, const char *format,
                      ...){
  char *sql;
  FORMAT_TEXT(sql, format);
  return bloom_sql_prepare_text(connection, statement, sql);
}

int bloom_sql_step(bloom_connection *connection, sqlite3_stmt *statement){
  int rc;
  assert( statement!=NULL );
  if( connection->is_running ) return SQLITE_CORRUPT_VTAB;
  connection->is_running = 1;
  rc = sqlite3_step(statement);
  /* Under PRAGMA count_changes a statement that writes returns a row with the number of changes. */
  while( rc==SQLITE_ROW && !sqlite3_stmt_readonly(statement)
         && !sqlite3_stmt_isexplain(statement) ){
    rc = sqlite3_step(statement);
  }
  assert( connection->is_running ); /* what the statement called has not opened the guard */
  connection->is_running = 0;
  return rc;
}

int bloom_sql_bind(sqlite3_stmt *statement, int number, sqlite3_value *value){
  assert( number>=1 && number<=sqlite3_bind_parameter_count(statement) );
  return sqlite3_value_type(value)==SQLITE_FLOAT
    ? sqlite3_bind_double(statement, number, sqlite3_value_double(value))
    : sqlite3_bind_value(statement, number, value);
}

int bloom_sql_end(sqlite3_stmt *statement, int rc){
  sqlite3_finalize(statement);
  return rc==SQLITE_ROW || rc==SQLITE_DONE ? SQLITE_OK : rc;
}

static int row_of_text(bloom_connection *connection, sqlite3_stmt **row, char *sql){
  const int rc = bloom_sql_prepare_text(connection, row, sql);
  return rc==SQLITE_OK ? bloom_sql_step(connection, *row) : rc;
}

int bloom_sql_row(bloom_connection *connection, sqlite3_stmt **row, const char *format, ...){
  char *sql;
  FORMAT_TEXT(sql, format);
  return row_of_text(connection, row, sql);
}

int bloom_sql_integer(bloom_connection *connection, sqlite3_int64 *number, const char *format, ...){
  sqlite3_stmt *row;
  char *sql;
  int rc;
  FORMAT_TEXT(sql, format);
  rc = row_of_text(connection, &row, sql);
  if( rc==SQLITE_ROW ) *number = sqlite3_column_int64(row, 0);
  return bloom_sql_end(row, rc);
}

int bloom_sql_run(bloom_connection *connection, const char *format, ...){
  sqlite3_stmt *row;
  char *sql;
  int rc;
  FORMAT_TEXT(sql, format);
  rc = row_of_text(connection, &row, sql);
  return bloom_sql_end(row, rc);
}

const char *bloom_sql_message(sqlite3 *db, int rc){
  return (sqlite3_errcode(db) & 0xff)==(rc & 0xff) ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
}

int bloom_sql_failure(const bloom_connection *connection, const char *module, const char *name,
                      int rc, char **error){
  const char *message;
  assert( rc!=SQLITE_ROW && rc!=SQLITE_DONE );
  if( (rc & 0xff)==SQLITE_INTERRUPT ){
    sqlite3_free(*error);
    *error = sqlite3_mprintf("%s", sqlite3_errstr(SQLITE_INTERRUPT));
    return *error ? rc : SQLITE_NOMEM;
  }
  if( rc==SQLITE_OK || rc==SQLITE_NOMEM || *error ) return rc;
  message = bloom_sql_message(connection->db, rc);
  if( rc==SQLITE_CORRUPT_VTAB && connection->is_running ){
    /* The guard against re-entry failed, and no statement of SQLite's. */
    *error = sqlite3_mprintf("%s: %s calls itself: by a function of the application that it calls,"
                             " or by a view in the place of one of its tables", module, name);
  }else if( strncmp(message, "bloom", 5)==0 ){
    *error = sqlite3_mprintf("%s", message); /* of a method that the statement called */
  }else if( (rc & 0xff)==SQLITE_CORRUPT ){
    *error = sqlite3_mprintf("%s: %s: %s", module, name, message);
  }else{
    *error = sqlite3_mprintf("%s: %s", module, message);
  }
  return *error ? rc : SQLITE_NOMEM;
}

int bloom_sql_column_text(sqlite3_stmt *row, int column, const char **text){
  const int type = sqlite3_column_type(row, column);
  assert( column>=0 && column<sqlite3_data_count(row) );
  *text = (const char *)sqlite3_column_text(row, column);
  return *text==NULL && type!=SQLITE_NULL ? SQLITE_NOMEM : SQLITE_OK;
}

int bloom_sql_copy_text(sqlite3_stmt *row, int column, char **text){
  const char *borrowed;
  int rc = bloom_sql_column_text(row, column, &borrowed);
  *text = NULL;
  if( rc!=SQLITE_OK || borrowed==NULL ) return rc;
  *text = sqlite3_mprintf("%s", borrowed);
  return *text ? SQLITE_OK : SQLITE_NOMEM;
}

const char *bloom_sql_behind(const char *sql, const char *begin, const char *name,
                             const char *suffix){
  const size_t num_chars = strlen(begin);
  if( strncmp(sql, begin, num_chars)!=0 || sql[num_chars]!='"' ) return NULL;
  for(sql+=num_chars+1; *name || *suffix; sql++){
    const char *wanted = *name ? name++ : suffix++;
    if( *sql!=*wanted || (*wanted=='"' && *++sql!='"') ) return NULL; /* a quote is doubled */
  }
  return *sql=='"' ? sql + 1 : NULL;
}

int bloom_sql_find_table(bloom_connection *connection, const char *schema, const char *name,
                         const char *suffix, const char *columns, int *is_there){
  const char *sql = NULL;
  sqlite3_stmt *row;
  int rc = bloom_sql_row(connection, &row, "SELECT sql FROM \"%w\".sqlite_master"
                         " WHERE type = 'table' AND rootpage > 0 AND name = '%q%q' COLLATE NOCASE",
                         schema, name, suffix);
  if( rc==SQLITE_ROW ) rc = bloom_sql_column_text(row, 0, &sql);
  if( sql ) sql = bloom_sql_behind(sql, "CREATE TABLE ", name, suffix);
  *is_there = sql && sqlite3_strglob(columns, sql)==0;
  return bloom_sql_end(row, rc);
}

int bloom_sql_drop(bloom_connection *connection, const char *schema, const char *name,
                   const char *suffix, const char *columns){
  int is_there;
  const int rc = bloom_sql_find_table(connection, schema, name, suffix, columns, &is_there);
  if( rc!=SQLITE_OK || !is_there ) return rc;
  return bloom_sql_run(connection, "DROP TABLE \"%w\".\"%w%w\"", schema, name, suffix);
}

char *bloom_sql_name(const char *name){
  const int is_plain = sqlite3_strglob("[A-Za-z_]*", name)==0
    && sqlite3_strglob("*[^A-Za-z0-9_]*", name)!=0
    && !sqlite3_keyword_check(name, (int)strlen(name));
  return sqlite3_mprintf(is_plain ? "%s" : "\"%w\"", name);
}

/* Returns a statement's first word, behind comments and semicolons.  An open sqlite3_blob is a
** statement without SQL, and has none. */
static bloom_token first_word(sqlite3_stmt *statement){
  const char *sql = sqlite3_sql(statement);
  bloom_token word = bloom_token_first(sql ? sql : "");
  while( word.kind==';' ) word = bloom_token_after(word);
  return word;
}

sqlite3_stmt *bloom_sql_writer(bloom_connection *connection, sqlite3_stmt *after){
  sqlite3_stmt *statement = after;
  while( (statement = sqlite3_next_stmt(connection->db, statement))!=NULL ){
    /* sqlite3_stmt_readonly() may be 0 for a PRAGMA or an EXPLAIN, and a sqlite3_blob fires no
    ** trigger. */
    const bloom_token word = first_word(statement);
    if( word.num_chars && sqlite3_stmt_busy(statement) && !sqlite3_stmt_isexplain(statement)
        && !sqlite3_stmt_readonly(statement) && !bloom_token_is(word, "PRAGMA") ) break;
  }
  return statement;
}

int bloom_sql_has_two_writers(bloom_connection *connection){
  sqlite3_stmt *writer = bloom_sql_writer(connection, NULL);
  return writer && bloom_sql_writer(connection, writer)!=NULL;
}

int bloom_sql_may_be_mid_write(bloom_connection *connection, int *is_mid_write){
  sqlite3_stmt *writer = bloom_sql_writer(connection, NULL), *opcode;
  int rc;
  *is_mid_write = bloom_sql_has_two_writers(connection);
  if( *is_mid_write || writer==NULL ) return SQLITE_OK;
  /* Triggers and foreign keys' actions are programs within the statement's program. */
  rc = bloom_sql_prepare(connection, &opcode, "EXPLAIN %s", first_word(writer).text);
  while( rc==SQLITE_OK && !*is_mid_write && (rc = bloom_sql_step(connection, opcode))==SQLITE_ROW ){
    const char *name = (const char *)sqlite3_column_text(opcode, 1);
    *is_mid_write = name==NULL || strcmp(name, "Program")==0;
    rc = SQLITE_OK;
  }
  rc = bloom_sql_end(opcode, rc);
  if( rc!=SQLITE_TOOBIG ) return rc;
  *is_mid_write = 1; /* EXPLAIN makes its SQL longer than the limit, so nothing is known of it */
  return SQLITE_OK;
}

int bloom_blob_open(sqlite3 *db, const char *schema, const char *table, const char *column,
                    sqlite3_int64 row, int is_writable, sqlite3_blob **blob){
  int rc;
  *blob = NULL;
  rc = sqlite3_blob_open(db, schema, table, column, row, is_writable, blob);
  if( rc!=SQLITE_ERROR ) return rc;
  rc = sqlite3_table_column_metadata(db, schema, table, column, NULL, NULL, NULL, NULL, NULL);
  if( rc==SQLITE_OK ) rc = sqlite3_blob_open(db, schema, table, column, row, is_writable, blob);
  assert( (rc==SQLITE_OK)==(*blob!=NULL) );
  return rc;
}
