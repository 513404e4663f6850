/*
** Which changes of a schema a check of it survives, without reading the whole schema again.
**
** A check notes the rows of sqlite_schema that it believes, and the last rowid there is.  Each
** statement that changes a schema adds 1 or more to its version, and what it makes comes behind the
** last row; a number at or below the noted one is free only if another statement dropped the last
** row.  So where objects behind that row account for all statements but one, these are all that
** were made.  The one may have dropped or altered something else, or be VACUUM.
*/
#ifndef BLOOM_SQLITE_SOURCE_SCHEMA_H
#define BLOOM_SQLITE_SOURCE_SCHEMA_H

#include "sql.h"

#define BLOOM_SCHEMA_MAX_ROWS 32

/* {0} at first, and never believed then. */
typedef struct bloom_schema_mark {
  sqlite3_int64 last_row;
  int num_rows; /* above BLOOM_SCHEMA_MAX_ROWS: not to be believed */
  sqlite3_int64 rows[BLOOM_SCHEMA_MAX_ROWS];
  char *text;   /* what these rows have; NULL: the mark is not to be believed */
} bloom_schema_mark;

/* Begins a mark, before anything that it stands for is read.  SQLITE_OK or SQLite's error. */
int bloom_schema_mark_begin(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark
);

/* Adds a row that the check believes; 0: there is none, so that the mark is not to be believed. */
void bloom_schema_mark_add(bloom_schema_mark *mark, sqlite3_int64 row);

/* Ends it: a check found no doubt.  SQLITE_OK or SQLite's error. */
int bloom_schema_mark_end(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark
);

/* Sets *holds to 1 if, num_changes versions later, the rows are as they were, and only tables,
** views, and indexes on others than the table were made since; the mark is then one of this
** version.  max_others: of other statements, 0 or 1.  SQLITE_OK or an error that is fatal. */
int bloom_schema_mark_holds(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark,
  sqlite3_int64 num_changes, int max_others, const char *table, int *holds
);

void bloom_schema_mark_free(bloom_schema_mark *mark);

#endif
