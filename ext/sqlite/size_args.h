/*
** The arguments that say what filter to make: bits_per_key, capacity and encoding.
**
** Below 1 bits_per_key is a false-positive rate.  The size is then what
** bloom_bits_per_key() says for the keys there are, or for the capacity.
*/
#ifndef BLOOM_SQLITE_SIZE_ARGS_H
#define BLOOM_SQLITE_SIZE_ARGS_H

#include "../core/filter.h"
#include "errors.h"

#define BLOOM_DEFAULT_BITS_PER_KEY 10.0
#define BLOOM_NO_CAPACITY          (-1)

/* What sort of filter to make. */
typedef struct bloom_size_args {
  const bloom_encoding *encoding; /* of an aggregate: NULL before the first row */
  double bits_per_key;            /* 1..100; or, below 1, a rate */
  sqlite3_int64 capacity;         /* or BLOOM_NO_CAPACITY */
} bloom_size_args;

/* Where an aggregate has these arguments. */
typedef struct bloom_sized_function {
  bloom_arg bits;                 /* bits_per_key; behind it, capacity */
  int max_args;
  const bloom_encoding *encoding; /* NULL: a TEXT as the last argument may name it */
} bloom_sized_function;

/* -- Reading one argument -------------------------------------------------------------------- */

/* Reads a number in 1..100, or a rate above 0 and below 1; NULL means the default.  SQLITE_OK, or
** the error set on context. */
int bloom_read_bits_per_key(sqlite3_context *context, bloom_arg arg, double *bits_per_key);

/* Reads an integer in 0..2^63-1; NULL is -1, which is BLOOM_NO_CAPACITY.  A REAL may be written
** where it is an integer: 1e6.  SQLITE_OK, or the error set on context. */
int bloom_read_count(sqlite3_context *context, bloom_arg arg, sqlite3_int64 *count);

/* Returns 1 and sets *integer if the value is an INTEGER, or a REAL that equals a 64-bit
** integer; else returns 0. */
int bloom_integer_arg(sqlite3_value *value, sqlite3_int64 *integer);

/* Returns the text of a TEXT that names something, "" for one with a NUL; NULL if there is no
** memory. */
const char *bloom_name_arg(sqlite3_value *value);

/* Returns a hint for a message: which number was meant by a text, '1%' being 0.01.  NULL if that is
** not known. */
#define BLOOM_HINT_BYTES 64
const char *bloom_text_hint(const char *text, char hint[BLOOM_HINT_BYTES]);

/* Does what bloom_fail_arg() does, with that hint if the argument is a TEXT. */
void bloom_fail_number(sqlite3_context *context, bloom_arg arg, const char *what);

/* Sets *encoding to what the last of *num_args arguments names, in any case, if it is a TEXT, or
** else to the default.  The argument at max_args can be nothing else; there NULL means the default.
** SQLITE_OK, with an argument that names it taken off *num_args; or the error set on context. */
int bloom_take_encoding(sqlite3_context *context, const char *function, int max_args,
                        int *num_args, sqlite3_value **args, const bloom_encoding **encoding);

/* -- The same on every row ------------------------------------------------------------------- */

/* Reads an aggregate's arguments on one row: those of the first row are set in *kept, empty before,
** and those of later rows must equal them.  SQLITE_OK, or the error set on context. */
int bloom_keep_size_args(sqlite3_context *context, const bloom_sized_function *function,
                         int num_args, sqlite3_value **args, bloom_size_args *kept);

/* -- Sizes ----------------------------------------------------------------------------------- */

/* Finds the bits per key of a filter of num_keys keys: size->bits_per_key or, if that is a rate,
** the least that has it.  SQLITE_OK with *bits_per_key set; or the error set on context: the rate
** is out of reach. */
int bloom_find_bits_per_key(sqlite3_context *context, bloom_arg arg, const bloom_size_args *size,
                            uint64_t num_keys, double *bits_per_key);

/* Returns the whole bits per key that each filter with this rate needs, from some dozens of keys
** on, without a search; of bits per key that number. */
double bloom_least_size(double bits_per_key);

/* Finds the shape of a filter of that size.  SQLITE_OK with *shape set; or the error set on
** context: the rate is out of reach, or SQLite's own "too big". */
int bloom_find_shape(sqlite3_context *context, bloom_arg arg, const bloom_size_args *size,
                     uint64_t num_keys, bloom_shape *shape);

#endif
