/*
** The filter that an SQL value stands for: a BLOB, which is parsed each time, or a handle,
** which bloom_open() parsed once.
*/
#ifndef BLOOM_SQLITE_FILTER_ARG_H
#define BLOOM_SQLITE_FILTER_ARG_H

#include "handle.h"

typedef enum bloom_filter_arg_status {
  BLOOM_ARG_FILTER,
  BLOOM_ARG_NULL,      /* SQL NULL */
  BLOOM_ARG_NO_FILTER, /* neither BLOB nor handle, or a handle without a filter's bytes */
  BLOOM_ARG_NOMEM
} bloom_filter_arg_status;

/*
** Finds the filter that a value stands for on a connection.  Only with BLOOM_ARG_FILTER
** *filter is set: to the handle's filter, or to *storage, which was read from the BLOB.  It
** is valid during the function call; a BLOB's only until the value is used again.
*/
bloom_filter_arg_status bloom_filter_arg(
  sqlite3 *db, sqlite3_value *value, bloom_filter *storage, const bloom_filter **filter
);

/* What a value is that cannot be a filter, for a message. */
const char *bloom_no_filter_name(sqlite3 *db, sqlite3_value *value);

/* The filter of a scalar function's first argument.  NULL if the argument is NULL, or, with
** an error in the function's name set on context, if it cannot be a filter.  next is the
** argument after it, or NULL: the message says so if that looks like a filter, because then
** the two were swapped. */
const bloom_filter *bloom_filter_arg_or_fail(
  sqlite3_context *context, const char *function, sqlite3_value *value, sqlite3_value *next,
  bloom_filter *storage
);

/* The filter of an argument that is to be changed: this fails, too, with the encoding's reason, if
** the filter cannot be merged, or, needs_writer, if keys cannot be added to it. */
const bloom_filter *bloom_changeable_filter_or_fail(
  sqlite3_context *context, const char *function, sqlite3_value *value, sqlite3_value *next,
  int needs_writer, bloom_filter *storage
);

#endif
