/*
** The arguments that say what filter to make: bits_per_key, capacity and encoding.
*/
#ifndef BLOOM_SQLITE_SIZE_ARGS_H
#define BLOOM_SQLITE_SIZE_ARGS_H

#include "../core/filter.h"
#include "errors.h"

#define BLOOM_DEFAULT_BITS_PER_KEY 10.0
#define BLOOM_NO_CAPACITY          (-1)

/* A number in 1..100; NULL means the default.  SQLITE_OK with *bits_per_key
** set, or the error set on context. */
int bloom_read_bits_per_key(sqlite3_context *context, bloom_arg arg, double *bits_per_key);

/* An integer in 0..2^63-1; NULL means BLOOM_NO_CAPACITY.  A REAL may be written
** where it is an integer: 1e6.  SQLITE_OK with *capacity set, or the error set
** on context. */
int bloom_read_capacity(sqlite3_context *context, bloom_arg arg, sqlite3_int64 *capacity);

/* The 64-bit integer that a value is: an INTEGER, or a REAL equal to one.
** 1 with *integer set; 0 for any other value. */
int bloom_integer_arg(sqlite3_value *value, sqlite3_int64 *integer);

/* The TEXT that a value is, which names something: ended by its only NUL, so that it may
** be compared as C does.  One with a NUL within names nothing: "".  NULL if there is no
** memory. */
const char *bloom_name_arg(sqlite3_value *value);

/* The encoding that the last of *num_args arguments names, or the default: it is a
** TEXT, behind any number of the arguments before it.  The last of max_args can be
** nothing else; there NULL means the default.  SQLITE_OK with *encoding set and the
** argument, if there is one, taken off *num_args; or the error set on context. */
int bloom_take_encoding(
  sqlite3_context *context,
  const char *function,
  int max_args,
  int *num_args,
  sqlite3_value **args,
  const bloom_encoding **encoding
);

/* The shape of a filter of this encoding for num_keys keys.  SQLITE_OK with *shape set, or
** SQLite's own "too big" error set on context if SQLITE_LIMIT_LENGTH forbids a
** BLOB of that size. */
int bloom_find_shape(
  sqlite3_context *context,
  const bloom_encoding *encoding,
  uint64_t num_keys,
  double bits_per_key,
  bloom_shape *shape
);

#endif
