/*
** The source table: the ordinary table that a virtual table follows.
*/
#ifndef BLOOM_SQLITE_SOURCE_SOURCE_H
#define BLOOM_SQLITE_SOURCE_SOURCE_H

#include "equality.h"
#include "sql.h"

typedef struct bloom_source_column {
  char *name;
  char *default_value; /* the text of its DEFAULT, or NULL */
  bloom_column_kind kind;
  int is_key;          /* in the PRIMARY KEY */
  int is_generated;
} bloom_source_column;

typedef struct bloom_source {
  bloom_connection *connection;
  const char *schema;
  char *name;        /* as the schema has it */
  sqlite3_int64 row; /* of its table in sqlite_schema */
  bloom_source_column *columns;
  int num_columns;
  size_t max_columns;
  int num_keys;         /* columns of the PRIMARY KEY */
  const bloom_source_column *row_column; /* the INTEGER PRIMARY KEY, if there is one */
} bloom_source;

/* Reads what there is to know of a table.  SQLITE_ERROR and *error where there is none, or
** it is a view, a virtual table or the shadow table of one.  bloom_source_free() is for the
** caller in any case; schema must outlive the source. */
int bloom_source_read(
  bloom_connection *connection, const char *schema, const char *table, bloom_source *source,
  char **error
);
void bloom_source_free(bloom_source *source);

/* Returns the column of this name, as SQLite would find it, the rowid's names included; NULL if
** there is none. */
const bloom_source_column *bloom_source_find(const bloom_source *source, const char *name);

/* Returns 1 if a rowid can have this name. */
int bloom_source_is_rowid_name(const char *name);

/* Sets the column's rule of `=`.  SQLITE_ERROR and *error if its collation is the
** application's. */
int bloom_source_equality(
  const bloom_source *source, const bloom_source_column *column, bloom_equality *rule, char **error
);

/* Compiles a SELECT of all that a DEFAULT may be stored as, whatever the column's type; *row is
** NULL where that is NULL.  sql may be NULL.  SQLITE_NOTFOUND if it is no constant: numbers,
** texts, BLOBs, TRUE and FALSE with + and -, in parentheses or not. */
int bloom_source_prepare_default(
  bloom_connection *connection, const char *sql, sqlite3_stmt **row
);

#endif
