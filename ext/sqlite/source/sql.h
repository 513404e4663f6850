/*
** SQL of bloom's own: its text as tokens, and statements behind one guard.
*/
#ifndef BLOOM_SQLITE_SOURCE_SQL_H
#define BLOOM_SQLITE_SOURCE_SQL_H

#include <stddef.h>

#include "../connection.h"

/* -- Tokens --------------------------------------------------------------------------------- */

/*
** SQL text as tokens, just well enough to read the arguments of CREATE VIRTUAL TABLE and a
** column's DEFAULT.
*/

typedef struct bloom_token {
  const char *text;
  size_t num_chars; /* 0: the end */
  char kind;        /* 'a' a name or number, its first quote if quoted, else the character itself */
} bloom_token;

bloom_token bloom_token_first(const char *text);
bloom_token bloom_token_after(bloom_token token);

/* Returns 1 if a token is this word, whatever its case, and not quoted. */
int bloom_token_is(bloom_token token, const char *word);

/* Returns the first token from token on that is this word; the end if there is none. */
bloom_token bloom_token_find(bloom_token token, const char *word);

/* Returns 1 if a token is a name or a number, in quotes or not. */
int bloom_token_is_name(bloom_token token);

/* Returns a token's text without its quotes, to be freed; NULL if there is no memory. */
char *bloom_token_unquoted(bloom_token token);

/* -- Statements ----------------------------------------------------------------------------- */

/*
** SQL that bloom runs itself, behind one guard.
**
** In a hostile file a table can be a view, or have a trigger, that calls bloom while a statement
** of bloom's runs.  So while one is compiled or takes a step, any other SQL of bloom's on that
** connection fails with SQLITE_CORRUPT_VTAB.  Code that has another way tests
** connection->is_running first.  Between two steps there is only bloom's own code, which calls
** nothing of the file's.
*/

/* Compiles one statement.  Its SQL is a format and arguments, as sqlite3_mprintf() takes them; the
** second function takes a text, NULL when out of memory, and frees it. */
int bloom_sql_prepare(bloom_connection *connection, sqlite3_stmt **statement, const char *format,
                      ...);
int bloom_sql_prepare_text(bloom_connection *connection, sqlite3_stmt **statement, char *sql);

/* Takes a step: SQLITE_ROW, SQLITE_DONE or an error. */
int bloom_sql_step(bloom_connection *connection, sqlite3_stmt *statement);

/* Binds a value.  sqlite3_bind_value() of SQLite 3.31 binds a wrong number for a REAL column that
** the query compares with an integer, as `u.v = 5` does. */
int bloom_sql_bind(sqlite3_stmt *statement, int number, sqlite3_value *value);

/* Finalizes a statement.  Returns SQLITE_OK where rc, of its last step or of a use of its row, is
** SQLITE_ROW or SQLITE_DONE, else rc. */
int bloom_sql_end(sqlite3_stmt *statement, int rc);

/* Compiles a statement, and takes its first step.  The caller ends *row. */
int bloom_sql_row(bloom_connection *connection, sqlite3_stmt **row, const char *format, ...);

/* Sets *number to the first column of the first row, if there is one. */
int bloom_sql_integer(bloom_connection *connection, sqlite3_int64 *number, const char *format, ...);

/* Runs a statement that has no rows of use. */
int bloom_sql_run(bloom_connection *connection, const char *format, ...);

/* Returns 1 if SQLite may have rolled back the transaction because a statement, even one that
** reads, failed with rc.  A caller that went on would lose what the user wrote. */
static inline int bloom_sql_is_fatal(int rc){
  return (rc & 0xff)==SQLITE_NOMEM || (rc & 0xff)==SQLITE_IOERR || (rc & 0xff)==SQLITE_FULL;
}

/* Returns the connection's message if its last error is rc, else SQLite's words for rc. */
const char *bloom_sql_message(sqlite3 *db, int rc);

/* Returns rc, or SQLITE_NOMEM.  Sets *error, unless it is set already, to "MODULE: ", for a damaged
** database "MODULE: NAME: ", and SQLite's message.  For an interrupt it is always SQLite's own text
** alone, by which clients know it. */
int bloom_sql_failure(const bloom_connection *connection, const char *module, const char *name,
                      int rc, char **error);

/* Sets *text to a column's text, NULL for NULL.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_sql_column_text(sqlite3_stmt *row, int column, const char **text);

/* Sets *text, to be freed, to a copy of a column's text, NULL for NULL.  SQLITE_OK or
** SQLITE_NOMEM. */
int bloom_sql_copy_text(sqlite3_stmt *row, int column, char **text);

/* Sets *is_there to whether the table called name and suffix has the text CREATE TABLE "NAME" and
** behind it one that matches columns, a pattern of GLOB: a table of another text is the user's.
** Does not match by SQL's GLOB, which the application may have replaced. */
int bloom_sql_find_table(bloom_connection *connection, const char *schema, const char *name,
                         const char *suffix, const char *columns, int *is_there);

/* Drops the table that bloom_sql_find_table() finds, if there is one. */
int bloom_sql_drop(bloom_connection *connection, const char *schema, const char *name,
                   const char *suffix, const char *columns);

/* Returns what sql has behind begin and a name in quotes, which is name and suffix; NULL if it does
** not begin with these. */
const char *bloom_sql_behind(const char *sql, const char *begin, const char *name,
                             const char *suffix);

/* Returns a name as SQL has it, in quotes where it needs them, to be freed.  NULL when out of
** memory. */
char *bloom_sql_name(const char *name);

/* Returns the connection's next statement after one, or its first after NULL, that has begun to
** write rows and has not ended; NULL if there is none. */
sqlite3_stmt *bloom_sql_writer(bloom_connection *connection, sqlite3_stmt *after);

/* Returns 1 if there are two such statements. */
int bloom_sql_has_two_writers(bloom_connection *connection);

/* Sets *is_mid_write to whether a statement of the connection may have written some of its rows and
** not all.  One that writes alone, without triggers, is the caller's own, and does not count. */
int bloom_sql_may_be_mid_write(bloom_connection *connection, int *is_mid_write);

/* Opens the BLOB in a row of a shadow table; no view, trigger or CHECK of a hostile file runs.  As
** of sqlite3_blob_open(), SQLITE_ERROR where there is no such table, row, BLOB or TEXT; but where
** the schema cannot be read, SQLite's code for that. */
int bloom_blob_open(sqlite3 *db, const char *schema, const char *table, const char *column,
                    sqlite3_int64 row, int is_writable, sqlite3_blob **blob);

#endif
