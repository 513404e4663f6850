/*
** SQL value -> filter: a BLOB, parsed on the spot, or a handle that
** bloom_open() parsed once.
*/
#ifndef BLOOM_SQLITE_FILTER_ARG_H
#define BLOOM_SQLITE_FILTER_ARG_H

#include "handle.h"

typedef enum bloom_filter_arg_status {
  BLOOM_ARG_FILTER,
  BLOOM_ARG_NULL,      /* SQL NULL */
  BLOOM_ARG_NO_FILTER, /* neither BLOB nor handle, or a table's handle */
  BLOOM_ARG_NOMEM
} bloom_filter_arg_status;

/* Why a function has no filter: the argument behind it, NULL if there is none, tells
** whether the two were swapped. */
void bloom_fail_filter(sqlite3_context *context, const char *function, sqlite3_value *value, sqlite3_value *next);

/*
** Finds the filter that a value stands for on a connection.  *filter is set on
** BLOOM_ARG_FILTER: to the handle's, or to *storage, read from the BLOB; it is
** valid during the function call, a BLOB's until the value is next used.
*/
bloom_filter_arg_status bloom_filter_arg(
  sqlite3 *db,
  sqlite3_value *value,
  bloom_filter *storage,
  const bloom_filter **filter
);

/* As below, for a value that is not a handle with a filter. */
const bloom_filter *bloom_blob_arg_or_fail(
  sqlite3_context *context,
  const char *function,
  sqlite3_value *value,
  sqlite3_value *next,
  bloom_filter *storage
);

/* bloom_filter_arg() for a scalar function's first argument: NULL if there is no
** filter, the error, if it is one, already set on context under the function's
** name.  next is as in bloom_fail_filter().  Inline, as all that runs once a row. */
static inline const bloom_filter *bloom_filter_arg_or_fail(
  sqlite3_context *context,
  const char *function,
  sqlite3_value *value,
  sqlite3_value *next,
  bloom_filter *storage
){
  /* A handle's type is NULL: look for it first. */
  const bloom_handle *handle = bloom_handle_of(context, value);
  if( handle && handle->test==NULL ) return &handle->filter;
  return bloom_blob_arg_or_fail(context, function, value, next, storage);
}

/* As above, and fails too for a filter that keys cannot be added to, with its
** encoding's reason. */
const bloom_filter *bloom_changeable_filter_or_fail(
  sqlite3_context *context,
  const char *function,
  sqlite3_value *value,
  sqlite3_value *next,
  bloom_filter *storage
);

#endif
