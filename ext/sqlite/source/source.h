/*
** The source table: the ordinary table that a virtual table follows.
*/
#ifndef BLOOM_SQLITE_SOURCE_SOURCE_H
#define BLOOM_SQLITE_SOURCE_SOURCE_H

#include "equality.h"
#include "sql.h"

typedef struct bloom_source_column {
  char *name;
  char *type;           /* "": it has none, or is ANY in a STRICT table */
  char *collation;
  char *default_value;  /* the text of its DEFAULT, or NULL */
  char affinity;        /* bloom_affinity_of() */
  bloom_column_kind kind;
  int is_not_null;      /* it is NOT NULL, or the INTEGER PRIMARY KEY */
  int is_generated;
  int is_virtual;       /* it is generated, and not stored */
  int has_no_collation; /* the connection does not have it: index_check_collations() */
} bloom_source_column;

typedef struct bloom_source {
  char *name;        /* as the schema has it */
  bloom_source_column *list;
  int num_columns;
  size_t max_columns;
  int is_partial;    /* an authorizer hides DEFAULTs, and which columns are generated */
  int id_column;     /* the INTEGER PRIMARY KEY; -1: the rowid is hidden, or there is none */
  char *id_name;     /* its name, or one of the rowid's that no column has; NULL: there is none */
} bloom_source;

/* Where a source is, and the module that errors name. */
typedef struct bloom_source_place {
  bloom_connection *connection;
  const char *module, *schema;
} bloom_source_place;

/* Reads what there is to know of a table.  SQLITE_ERROR and *error where there is none, or it is a
** view or a virtual table.  is_strict: also where it is the shadow table of one; and of what an
** authorizer hides nothing is left out, it is SQLITE_AUTH.  bloom_source_free() is for the caller
** in any case. */
int bloom_source_read(
  bloom_source_place place, const char *table, int is_strict, bloom_source *source, char **error
);
void bloom_source_free(bloom_source *source);

/* Returns the number of the column of this name; -1: there is none. */
int bloom_source_find(const bloom_source *source, const char *name);

/* Returns 1 if a rowid can have this name. */
int bloom_source_is_rowid_name(const char *name);

/* Compiles a SELECT of all that a DEFAULT may be stored as, whatever the column's type; *row is
** NULL where that is NULL.  sql may be NULL.  SQLITE_NOTFOUND if it is no constant: numbers,
** texts, BLOBs, TRUE and FALSE with + and -, in parentheses or not. */
int bloom_source_prepare_default(
  bloom_connection *connection, const char *sql, sqlite3_stmt **row
);

#endif
