/*
** What bloom's table-valued functions share: modules without tables of their own,
** whose rows follow from the arguments alone.
**
** Arguments are hidden columns.  None can be read back: newer versions of SQLite
** (3.44, not 3.31) count it as read wherever it is passed as f(x), and copying it each
** time would cost more than the answer.  They are not named as what they hold: many
** tables have a column `filter`, and then FROM filters, bloom_info(filter) would be
** ambiguous.
**
** Where each arm of an OR has arguments of its own, SQLite takes rows of one rowid for
** one row: there rowids must tell arguments apart.  An arm looks like any query, but
** before it SQLite asks for the plan of the whole, in which no argument is sure.  From
** then on the connection's plans want such rowids.
**
** A query without the arguments gets a plan, at a price that no plan pays that has
** them, and then an error: older versions of SQLite (3.44, not 3.52) ask for the plan
** of each arm of an OR, without what is outside it.
*/
#ifndef BLOOM_SQLITE_TVF_H
#define BLOOM_SQLITE_TVF_H

#include <stddef.h>

#include "sqlite_api.h"

/* A cursor's beginning; zero bytes are a cursor without rows. */
typedef struct bloom_tvf_cursor {
  sqlite3_vtab_cursor base; /* first, for SQLite */
  int has_row;
  sqlite3_int64 rowid;      /* of the row */
  int wants_rowids;         /* that differ from argument to argument, not only among rows */
} bloom_tvf_cursor;

/* For xCreateModule's data; bloom_tvf_module is the module of all. */
typedef struct bloom_tvf {
  const char *name;
  const char *call;    /* as it is written: "bloom_info(filter)" */
  const char *schema;  /* columns, at most 30, then the arguments */
  int num_columns;     /* of these, without the arguments */
  int num_args;
  int num_rows;        /* that it gives, about; 1: never more */
  int cost;            /* of a call, beside a row of a scan; 0: as many as it gives rows */
  size_t cursor_bytes;

  /* The first row, if there is one: sets has_row and rowid.  columns: those that the
  ** query reads, bit i for column i.  SQLITE_OK, SQLITE_NOMEM, or the result of
  ** bloom_tvf_fail(). */
  int (*start)(bloom_tvf_cursor *cursor, unsigned columns, sqlite3_value **args);

  /* The next row: sets has_row and rowid.  NULL where there is never more than one. */
  void (*next)(bloom_tvf_cursor *cursor);

  /* The row's column as context's result. */
  void (*column)(const bloom_tvf_cursor *cursor, sqlite3_context *context, int column);

  /* Frees what start() took, if it did.  NULL if it takes nothing. */
  void (*clear)(bloom_tvf_cursor *cursor);
} bloom_tvf;

extern const sqlite3_module bloom_tvf_module;

/* The function whose cursor this is, and the connection. */
const bloom_tvf *bloom_tvf_of(const bloom_tvf_cursor *cursor);
sqlite3 *bloom_tvf_db(const bloom_tvf_cursor *cursor);

/* Fails start() with a message. */
int bloom_tvf_fail(bloom_tvf_cursor *cursor, const char *format, ...);

#endif
