/*
** The arguments of CREATE VIRTUAL TABLE ... USING bloom(...):
**
**   [table, key] [, where = "condition"] [, bits_per_key = number] [, capacity = number]
**
** table and a key that is a column are names, quoted or not, in any of SQL's quotes.
** Any other key is an expression, to be copied into SQL: what makes more than one
** expression of it is refused here, and what an index could not have by SQLite.
*/
#ifndef BLOOM_SQLITE_VTAB_ARGS_H
#define BLOOM_SQLITE_VTAB_ARGS_H

#include "../sqlite_api.h"

/* The capacity where none is given, and the least of any. */
#ifdef BLOOM_TINY_TABLES
# define BLOOM_TABLE_MIN_CAPACITY 20
#else
# define BLOOM_TABLE_MIN_CAPACITY 1000
#endif

typedef struct bloom_table_args {
  char *table;      /* NULL: a set of its own */
  char *key;        /* a column's name, or an expression */
  int is_column;
  char *where;      /* NULL: all rows */
  double bits_per_key;
  sqlite3_int64 capacity; /* 0: not given */
} bloom_table_args;

/* Reads num_args arguments.  SQLITE_OK; SQLITE_NOMEM; SQLITE_ERROR with *error to be
** freed.  bloom_table_args_free() is for the caller in any case. */
int bloom_table_args_read(
  int num_args,
  const char *const *texts,
  bloom_table_args *args,
  char **error
);

void bloom_table_args_free(bloom_table_args *args);

#endif
