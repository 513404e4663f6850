/*
** What CREATE VIRTUAL TABLE name USING bloom(...) makes in its database, and takes away
** again (ext/sqlite/vtab/README.md has the whole picture):
**
**   name_config, name_layers, name_pages    the shadow tables
**   name_keys                               a view of the keys, to build from
**   name_before_insert, ...                 the triggers
**
** The last two kinds for a filter that follows a table; ALTER TABLE RENAME leaves them the
** names that they got first, which the configuration keeps as names_prefix.
*/
#ifndef BLOOM_SQLITE_VTAB_SCHEMA_H
#define BLOOM_SQLITE_VTAB_SCHEMA_H

#include "../source/equality.h"
#include "vtab_args.h"

/* The virtual table's place. */
typedef struct bloom_table_name {
  sqlite3 *db;
  const char *schema;
  const char *table;
} bloom_table_name;

/* What is decided once, when the table is made. */
typedef struct bloom_table_config {
  int is_following;        /* 0: a set of its own */
  bloom_equality rule;
  unsigned triggers;       /* those that it has, as bits: 1 << bloom_table_trigger */
  double bits_per_key;
  sqlite3_int64 min_capacity;
  sqlite3_int64 blocks_per_page;
  char *names_prefix;      /* to be freed */
} bloom_table_config;

/* Makes all of it, without keys, and fills in *config.  An SQLite code, *error set where
** there is more to say; what was made before an error is gone again. */
int bloom_table_schema_create(
  bloom_table_name name,
  const bloom_table_args *args,
  bloom_table_config *config,
  char **error
);

/* Takes all of it away, whatever of it there is.  names_prefix may be NULL. */
int bloom_table_schema_drop(bloom_table_name name, const char *names_prefix);

/* Gives the shadow tables the names that go with new_name. */
int bloom_table_schema_rename(bloom_table_name name, const char *new_name);

/* Looks whether all triggers are there, on one table, and a followed column is still of the
** kind and collation that it had.  Sets *finding, to be freed, if not, else to NULL. */
int bloom_table_schema_check(bloom_table_name name, const bloom_table_config *config, char **finding);

/* Sets *is_rewritten to whether SQLite gave the triggers the table's new name: it does so
** before it calls xRename, unless PRAGMA legacy_alter_table is on. */
int bloom_table_schema_check_rename(
  bloom_table_name name,
  const bloom_table_config *config,
  const char *new_name,
  int *is_rewritten
);

/* A column's text, NULL for NULL.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_column_text(sqlite3_stmt *row, int column, const char **text);

/* Runs SQL made by a format of sqlite3_mprintf(). */
int bloom_run(sqlite3 *db, const char *format, ...);

/* Compiles SQL made by a format of sqlite3_mprintf(), to be kept. */
int bloom_prepare(sqlite3 *db, sqlite3_stmt **statement, const char *format, ...);

/* Sets *number to the first column of the row that SQL made by such a format gives. */
int bloom_query_integer(sqlite3 *db, sqlite3_int64 *number, const char *format, ...);

#endif
