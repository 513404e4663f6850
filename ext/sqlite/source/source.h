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
  int key_number;      /* in the PRIMARY KEY, from 1; 0: not in it */
  int has_other_collation; /* in the PRIMARY KEY than by itself; known where the source has no row_name */
  int is_generated;
} bloom_source_column;

typedef struct bloom_source {
  bloom_connection *connection;
  const char *schema;
  char *name; /* as the schema has it */
  bloom_source_column *columns;
  int num_columns, max_columns;
  int is_strict;        /* ANY has no affinity then, else NUMERIC */
  int num_keys;         /* columns of the PRIMARY KEY */
  int num_null_keys;    /* those of them that may be NULL; of an INTEGER PRIMARY KEY, too */
  const char *row_name; /* the rowid's; NULL: WITHOUT ROWID, or columns have all its names */
  const bloom_source_column *row_column; /* the INTEGER PRIMARY KEY, if there is one */
} bloom_source;

/* Reads what there is to know of a table.  SQLITE_ERROR and *error where there is none, or
** it is a view, a virtual table or the shadow table of one.  bloom_source_free() is for the
** caller in any case; schema must outlive the source. */
int bloom_source_read(
  bloom_connection *connection, const char *schema, const char *table, bloom_source *source, char **error
);
void bloom_source_free(bloom_source *source);

/* The column of this name, as SQLite would find it, the rowid's names included; NULL if there
** is none. */
const bloom_source_column *bloom_source_find(const bloom_source *source, const char *name);

/* The same by the name that it was declared with alone. */
const bloom_source_column *bloom_source_column_named(const bloom_source *source, const char *name);

/* 1 if a rowid can have this name. */
int bloom_source_is_rowid_name(const char *name);

/* Sets the column's rule of `=`.  SQLITE_ERROR and *error if its collation is the
** application's. */
int bloom_source_equality(
  const bloom_source *source, const bloom_source_column *column, bloom_equality *rule, char **error
);

/*
** SQLITE_OK if SQLite would make an index of these keys and this condition, which
** may be NULL: they have this table's columns alone, no subquery, and functions that the
** schema may call, and the table is no view and no virtual table.  CREATE INDEX is compiled
** for that and never run.  keys is SQL text, more than one separated by commas.
*/
int bloom_source_check_index(const bloom_source *source, const char *keys, const char *condition, char **error);

/* rc, and SQLite's message for it as *error if there is none yet. */
int bloom_source_failure(sqlite3 *db, int rc, char **error);

#endif
