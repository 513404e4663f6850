/*
** What bloom's table-valued functions share: they are modules without stored data, whose rows
** depend on the arguments alone.
**
** Arguments are hidden columns that cannot be read back: newer versions of SQLite (3.44, not 3.31)
** report such a column as read wherever a query passes it as f(x), and to copy it each time would
** cost more than the answer.  They are called argument because a column filter would make the name
** ambiguous in FROM filters, bloom_info(filter).
**
** If each arm of an OR passes arguments of its own, SQLite takes rows of one rowid for one row, so
** rowids must differ from argument to argument.  The plan of an arm looks like any query's, but
** before it SQLite asks for a plan of the whole OR, in which no argument can be used.  After such a
** request all later plans of the connection make such rowids.
**
** A query without the arguments gets a plan that costs more than any plan with them, and fails when
** it runs: it is not refused at once, because older versions of SQLite (3.44, not 3.52) ask for the
** plan of each arm of an OR without the terms outside of it.  Newer versions pass those terms to
** each arm, but test them again on its rows, as columns.  So it is an error in both if one argument
** stands outside of an OR whose arms have the other.
*/
#ifndef BLOOM_SQLITE_TVF_H
#define BLOOM_SQLITE_TVF_H

#include <stddef.h>

#include "sqlite_api.h"

/* Every cursor begins with this; but for function and db, memory set to zero is a cursor
** without rows. */
typedef struct bloom_tvf_cursor {
  sqlite3_vtab_cursor base; /* first, for SQLite */
  const struct bloom_tvf *function;
  sqlite3 *db;
  int has_row;
  sqlite3_int64 rowid;      /* of the row */
  unsigned columns;         /* bit i: the query reads column i */
  int wants_rowids;         /* rowids must differ from argument to argument, too */
  int num_args;             /* how many arguments the query passed */
} bloom_tvf_cursor;

/* A table-valued function: the data for sqlite3_create_module_v2().  The module is
** bloom_tvf_module for all of them. */
typedef struct bloom_tvf {
  const char *name;
  const char *call;    /* as it is written: "bloom_info(filter)" */
  const char *schema;  /* columns, at most 30, then the arguments */
  int num_columns;     /* without the arguments */
  int num_args;
  int num_optional;    /* so many of the last ones may be left out */
  int num_rows;        /* an estimate; 1: never more */
  int cost;            /* of a call, in rows of a scan; 0: num_rows */
  size_t cursor_bytes;

  /* Go to the first row and to the next one, if there is one: they set has_row and rowid.  start()
  ** returns SQLITE_OK, SQLITE_NOMEM, or the result of bloom_fail_vtab().  next is NULL if there is
  ** never more than one row. */
  int (*start)(bloom_tvf_cursor *cursor, sqlite3_value **args);
  void (*next)(bloom_tvf_cursor *cursor);

  /* Sets a column of the row as context's result. */
  void (*column)(const bloom_tvf_cursor *cursor, sqlite3_context *context, int column);

  /* Frees what start() allocated.  NULL if it allocates nothing. */
  void (*clear)(bloom_tvf_cursor *cursor);
} bloom_tvf;

extern const sqlite3_module bloom_tvf_module;

#endif
