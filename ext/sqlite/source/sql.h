/*
** SQL of bloom's own: its text as tokens, statements behind one guard, and rows of shadow tables as
** bytes.
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

/* Returns the ) that closes token, which is a (; the end if there is none. */
bloom_token bloom_token_closing(bloom_token token);

/* Returns 1 if a token is this word, whatever its case, and not quoted. */
int bloom_token_is(bloom_token token, const char *word);

/* Returns the first token from token on that is this word; the end if there is none. */
bloom_token bloom_token_find(bloom_token token, const char *word);

/* Returns 1 if a token is a name, or a number, in whatever quotes. */
int bloom_token_is_name(bloom_token token);

/* Returns a token's text without its quotes, to be freed; NULL if there is no memory. */
char *bloom_token_unquoted(bloom_token token);

/* Returns 1 if text has part in it, whatever its case.  Not by SQL, whose functions an application
** may have replaced. */
int bloom_text_has(const char *text, const char *part);

/* -- Statements ----------------------------------------------------------------------------- */

/*
** SQL that bloom runs itself, behind one guard.
**
** In a hostile file a table can be a view, or have a trigger, that comes back to bloom while
** a statement of bloom's runs.  So while one is compiled or takes a step, nothing else of
** bloom's on that connection runs SQL: it fails with SQLITE_CORRUPT_VTAB.  Code that can
** do without tests connection->is_running first.  What stands between two steps is bloom's
** own code, which nothing comes back to.
*/

/* Compiles one statement.  SQL is a format and arguments, as sqlite3_mprintf() takes them; or, in
** functions that end in _text, a text that they free, NULL when out of memory. */
int bloom_sql_prepare(
  bloom_connection *connection, sqlite3_stmt **statement, const char *format, ...
);
int bloom_sql_prepare_text(bloom_connection *connection, sqlite3_stmt **statement, char *sql);

/* Takes a step: SQLITE_ROW, SQLITE_DONE or an error. */
int bloom_sql_step(bloom_connection *connection, sqlite3_stmt *statement);

/* As sqlite3_bind_value(), which in SQLite 3.31 binds a wrong number for a REAL column that the
** query says is an integer, as `u.v = 5` does. */
int bloom_sql_bind(sqlite3_stmt *statement, int number, sqlite3_value *value);

/* Ends a statement whose last step, or what was done with its row, returned rc.  SQLITE_OK if
** that was SQLITE_ROW or SQLITE_DONE, else rc. */
int bloom_sql_end(sqlite3_stmt *statement, int rc);

/* Compiles a statement, and takes its first step.  *row is to be ended. */
int bloom_sql_row(bloom_connection *connection, sqlite3_stmt **row, const char *format, ...);

/* Sets *number to the first column of the first row, if there is one. */
int bloom_sql_integer(
  bloom_connection *connection, sqlite3_int64 *number, const char *format, ...
);

/* Runs a statement, and ignores its rows. */
int bloom_sql_run(bloom_connection *connection, const char *format, ...);

/* Returns 1 if the transaction may be rolled back since a statement failed with rc, even one that
** reads: a caller that goes on as if nothing had happened would lose what the user wrote. */
static inline int bloom_sql_is_fatal(int rc){
  return (rc & 0xff)==SQLITE_NOMEM || (rc & 0xff)==SQLITE_IOERR || (rc & 0xff)==SQLITE_FULL;
}

/* Returns SQLite's message for an error of one of its calls: the last one's, where that failed
** so. */
const char *bloom_sql_message(sqlite3 *db, int rc);

/* Returns rc, or SQLITE_NOMEM.  Sets *error, unless it says more already, to what SQLite says of
** rc, behind the module's name, and of a damaged database behind the name of the module's table,
** too.  Of an interrupt it is always SQLite's own text alone, by which clients know it. */
int bloom_sql_failure(
  const bloom_connection *connection, const char *module, const char *name, int rc, char **error
);

/* Sets *text to a column's text, NULL for NULL.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_sql_column_text(sqlite3_stmt *row, int column, const char **text);

/* Sets *text, to be freed, to a copy of a column's text, NULL for NULL.  SQLITE_OK or
** SQLITE_NOMEM. */
int bloom_sql_copy_text(sqlite3_stmt *row, int column, char **text);

/* Sets *is_there to whether there is a table of a name whose SQL is CREATE TABLE "name" and what
** matches columns, a pattern of GLOB: any other is the user's.  Without SQL's GLOB, which the
** application may have replaced.  name may be NULL: SQLITE_NOMEM. */
int bloom_sql_find_table(
  bloom_connection *connection, const char *schema, const char *name, const char *columns,
  int *is_there
);

/* Drops the table that it finds.  name is freed. */
int bloom_sql_drop(
  bloom_connection *connection, const char *schema, char *name, const char *columns
);

/* Returns a name as SQL has it, in quotes where it needs them, to be freed.  NULL if there is no
** memory. */
char *bloom_sql_name(const char *name);

/* Returns a statement of the connection that is in the middle of writing; NULL: none. */
sqlite3_stmt *bloom_sql_writer(bloom_connection *connection);

/* Returns 1 if two statements of the connection are in the middle of writing. */
int bloom_sql_has_two_writers(bloom_connection *connection);

/* Sets *is_mid_write to whether a statement of the connection, other than one without triggers, may
** have written some rows of a trigger's table, but not all. */
int bloom_sql_may_be_mid_write(bloom_connection *connection, int *is_mid_write);

/* -- Rows as bytes -------------------------------------------------------------------------- */

/*
** Rows of a shadow table as bytes, by sqlite3_blob: no view, trigger or CHECK of a hostile
** file runs.  What is opened to be written is closed again within the call.
*/

/* Where a value is: a rowid table's column. */
typedef struct bloom_blob_place {
  sqlite3 *db;
  const char *schema, *table, *column;
} bloom_blob_place;

/* Opens the value in a row.  SQLITE_OK; SQLITE_ERROR where there is no such table, row or value
** with bytes; else SQLite's error.  *blob is as of bloom_blob_open(). */
int bloom_blob_open_any(
  bloom_blob_place place, sqlite3_int64 row, int is_writable, sqlite3_blob **blob
);

/* Opens the value in a row, which must hold num_bytes.  SQLITE_OK; SQLITE_NOTFOUND where there is
** no such table, row or BLOB, or it has another size; else SQLite's error.  *blob is to be
** closed by sqlite3_blob_close(), which takes NULL. */
int bloom_blob_open(
  bloom_blob_place place, sqlite3_int64 row, int is_writable, int num_bytes, sqlite3_blob **blob
);

/* Moves an open blob to another row, whose value must hold num_bytes.  Returns what opening it
** would. */
int bloom_blob_move(sqlite3_blob *blob, sqlite3_int64 row, int num_bytes);

/* Closes what was written to: rc, or, where that is SQLITE_OK, the error of closing. */
int bloom_blob_close(sqlite3_blob *blob, int rc);

/* Writes one whole value of num_bytes. */
int bloom_blob_write_row(
  bloom_blob_place place, sqlite3_int64 row, const void *bytes, int num_bytes
);

/* Tells bytes that bloom wrote from others; no secret. */
uint64_t bloom_checksum(const void *bytes, size_t num_bytes);

#endif
