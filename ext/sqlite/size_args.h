/*
** The arguments that say which filter to build: bits_per_key, capacity and encoding.
*/
#ifndef BLOOM_SQLITE_SIZE_ARGS_H
#define BLOOM_SQLITE_SIZE_ARGS_H

#include "../core/filter.h"
#include "errors.h"

#define BLOOM_DEFAULT_BITS_PER_KEY 10.0
#define BLOOM_NO_CAPACITY          (-1)

/* Reads a number in 1..100; NULL means the default.  SQLITE_OK with *bits_per_key set, or
** an error that is set on context. */
int bloom_read_bits_per_key(sqlite3_context *context, bloom_arg arg, double *bits_per_key);

/* Reads an integer in 0..2^63-1; NULL means BLOOM_NO_CAPACITY.  A REAL that equals an
** integer, like 1e6, is allowed.  SQLITE_OK with *capacity set, or an error that is set on
** context. */
int bloom_read_capacity(sqlite3_context *context, bloom_arg arg, sqlite3_int64 *capacity);

/* Returns 1 and sets *integer if the value is an INTEGER, or a REAL that equals a 64-bit
** integer; else returns 0. */int bloom_integer_arg(sqlite3_value *value, sqlite3_int64 *integer);

/* The text of a TEXT that names something, as a C string.  A text that contains a NUL
** names nothing: for it this is "".  NULL if there is no memory. */
const char *bloom_name_arg(sqlite3_value *value);

/* Takes the encoding, if there is one, off the arguments.  It is a TEXT and the last of
** *num_args arguments, however many come before it.  If there are max_args arguments, the
** last one must be the encoding, where NULL means the default.  SQLITE_OK with *encoding
** set and the argument taken off *num_args, or an error that is set on context. */
int bloom_take_encoding(
  sqlite3_context *context,
  const char *function,
  int max_args,
  int *num_args,
  sqlite3_value **args,
  const bloom_encoding **encoding
);

/* Finds the shape of a filter of this encoding for num_keys keys.  SQLITE_OK with *shape
** set; or SQLite's own error "too big", set on context, if SQLITE_LIMIT_LENGTH forbids a
** BLOB of that size. */
int bloom_find_shape(
  sqlite3_context *context,
  const bloom_encoding *encoding,
  uint64_t num_keys,
  double bits_per_key,
  bloom_shape *shape
);

#endif
