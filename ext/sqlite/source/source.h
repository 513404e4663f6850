/*
** The source table: the ordinary table that a virtual table follows.
*/
#ifndef BLOOM_SQLITE_SOURCE_SOURCE_H
#define BLOOM_SQLITE_SOURCE_SOURCE_H

#include "equality.h"
#include "follow.h"

typedef struct bloom_source_column {
  char *name;
  char *type;           /* "": it has none, or is ANY in a STRICT table */
  char *collation;
  char *default_value;  /* the text of its DEFAULT, or NULL */
  char affinity;        /* bloom_affinity_of() */
  bloom_column_kind kind;
  int is_not_null;      /* it is NOT NULL, or the INTEGER PRIMARY KEY */
  int is_key;           /* it is in the PRIMARY KEY */
  int is_generated;
  int is_virtual;       /* it is generated, and not stored */
  int has_no_collation; /* set by index_connect(): the connection does not know its collation */
} bloom_source_column;

typedef struct bloom_source {
  char *name;        /* as the schema has it */
  bloom_source_column *list;
  int num_columns;
  size_t max_columns;
  int is_strict;     /* it is a STRICT table */
  int is_partial;    /* an authorizer hides DEFAULTs, and which columns are generated */
  int id_column;     /* the INTEGER PRIMARY KEY; -1: the rowid is hidden, or there is none */
  char *id_name;     /* its name, or one of the rowid's that no column has; NULL: there is none */
} bloom_source;

/* Fails for a shadow table; before 3.37 SQLite does not tell.  CREATE alone calls this, because
** SQLite compiles all views of the schema here. */
int bloom_source_refuse_shadow(bloom_follower follower, const char *table);

/* Reads a table's columns, and what its rowid is called.  SQLITE_ERROR with a message where there
** is no such table, or it is a view or a virtual table.  If an authorizer hides PRAGMA table_xinfo:
** is_whole: SQLITE_AUTH; else source->is_partial is set.  The caller calls bloom_source_free() in
** any case. */
int bloom_source_read(bloom_follower follower, const char *table, int is_whole,
                      bloom_source *source);
void bloom_source_free(bloom_source *source);

/* Returns the number of the column that has a name; -1 if none has. */
int bloom_source_find(const bloom_source *source, const char *name);

/* Returns 1 if SQLite knows the rowid by this name, unless a column has it. */
int bloom_source_is_rowid_name(const char *name);

/* Compiles a SELECT of all values that a DEFAULT may be stored as, whatever the column's type.  sql
** is the DEFAULT's text, or NULL.  *row is NULL where the value is NULL.  SQLITE_NOTFOUND unless it
** is a constant: a number, a text, a BLOB, TRUE or FALSE, with + and - and parentheses. */
int bloom_source_prepare_default(bloom_connection *connection, const char *sql, sqlite3_stmt **row);

#endif
