/*
** Every message that bloom gives, and the ways to give one.
** A message names function, argument and range; %s and %d take what they say.
*/
#ifndef BLOOM_SQLITE_ERRORS_H
#define BLOOM_SQLITE_ERRORS_H

#include "sqlite_api.h"

/* function, type of the value */
#define BLOOM_ERROR_FILTER \
  "%s(): argument 1 (filter) must be a BLOB or a handle from bloom_open(), not %s"

/* function, how it is called */
#define BLOOM_ERROR_ARGUMENT_MISSING  "%s() needs an argument: %s"
#define BLOOM_ERROR_ARGUMENTS_MISSING "%s() needs its arguments: %s"

/* function */
#define BLOOM_ERROR_UNREADABLE_ARGUMENT "%s(): its argument cannot be read back as a column"

/* function, type of the value */
#define BLOOM_ERROR_BLOCK "%s(): argument 1 (block) must be a BLOB, a LevelDB filter block, not %s"
#define BLOOM_ERROR_FILE "%s(): argument 1 (file) must be a BLOB, the bytes of a LevelDB table file, not %s"

/* function, what is wrong with it */
#define BLOOM_ERROR_BLOCK_UNREADABLE "%s(): argument 1 (block) is no LevelDB filter block: %s"
#define BLOOM_ERROR_FILE_UNREADABLE  "%s(): argument 1 (file) is no whole LevelDB table file: %s"

/* function, what it is instead */
#define BLOOM_ERROR_BLOOMFILE \
  "%s(): argument 1 (file) must be a BloomFile, a BLOB or a handle from bloom_open(), not %s"

/* function, what it is instead */
#define BLOOM_ERROR_UNCHANGEABLE \
  "%s(): argument 1 (filter) must be a filter that keys can be added to, not one that is %s"

/* function, bits and probes of the first filter, bits and probes of the other, what else
** must be equal */
#define BLOOM_ERROR_SHAPES \
  "%s(): filters must have one shape, not %lld bits and %d probes and then %lld bits and %d probes; " \
  "build them with equal bits_per_key and capacity%s"
#define BLOOM_AND_SETS " for equal sets"

/* function, encoding of the first filter, encoding of the other */
#define BLOOM_ERROR_ENCODINGS \
  "%s(): filters must have one encoding, not '%s' and then '%s'"

/* function */
#define BLOOM_ERROR_NO_ARGS "%s(): argument 1 (filter) is missing"

/* For bloom_fail_arg(): function, argument number, the value as an SQL literal */
#define BLOOM_ERROR_BITS_PER_KEY \
  "%s(): argument %d (bits_per_key) must be a number in 1..100, not %s"
#define BLOOM_ERROR_CAPACITY \
  "%s(): argument %d (capacity) must be an integer in 0..9223372036854775807, not %s"
#define BLOOM_ERROR_NUM_PARTITIONS \
  "%s(): argument %d (num_partitions) must be an integer in 1..9223372036854775807, not %s"
#define BLOOM_ERROR_FPR \
  "%s(): argument %d (false_positive_rate) must be a number between 0 and 1, not %s"
#define BLOOM_ERROR_NUM_KEYS \
  "%s(): argument %d (num_keys) must be an integer in 0..9223372036854775807, not %s"
#define BLOOM_ERROR_BLOCK_OFFSET \
  "%s(): argument %d (block_offset) must be an integer in 0..9223372036854775807, not %s"
#define BLOOM_ERROR_KEY_TYPE \
  "%s(): argument %d (type) must be 'int32', 'int64', 'float', 'double', 'uuid', 'fixed32', 'fixed64', " \
  "'big32', 'big64', 'varint32' or 'varint64', not %s"
#define BLOOM_ERROR_SET_NUMBER \
  "%s(): argument %d (set_number) must be an integer in 0..9223372036854775807, not %s"

/* function, argument number, names of encodings, the value as an SQL literal */
#define BLOOM_ERROR_ENCODING "%s(): argument %d (encoding) must be %s, not %s"

/* type, what its value must be, the value as an SQL literal */
#define BLOOM_ERROR_KEY_VALUE "bloom_key(): argument 1 (value) for '%s' must be %s, not %s"

/* type, its smallest and largest value, the value as an SQL literal */
#define BLOOM_ERROR_KEY_INTEGER "bloom_key(): argument 1 (value) for '%s' must be an integer in %lld..%lld, not %s"

/* function, the rate asked for, number of keys, a rate in reach, way out */
#define BLOOM_ERROR_OUT_OF_REACH \
  "%s(): argument 1 (false_positive_rate) %.15g is out of reach of one filter of %lld keys; " \
  "%.3g is in reach%s"

/* function, the rate asked for, number of keys, the least of the rates that are of no use */
#define BLOOM_ERROR_HOPELESS \
  "%s(): argument 1 (false_positive_rate) %.15g is out of reach of one filter of %lld keys, " \
  "as are all below %.3g; partitions have less: see bloom_partition()"

/* function, argument number, argument name, the first value, the other value */
#define BLOOM_ERROR_NOT_CONSTANT \
  "%s(): argument %d (%s) must be the same on every row of a group, not %s and then %s"

/* function, number of keys */
#define BLOOM_ERROR_FRAME \
  "%s(): with argument 3 (capacity) a window frame that drops rows may reach at most " \
  "%d keys ahead of its first row; leave capacity out for longer frames"

/* Where an argument stands, for the message of an error. */
typedef struct bloom_arg {
  const char *function;
  int number; /* from 1 */
  sqlite3_value *value;
} bloom_arg;

/* Fails the running function with a message; SQLITE_NOMEM if there is no
** memory for the text. */
void bloom_fail(sqlite3_context *context, const char *format, ...);

/* As above, because of an argument: one of the formats that say so. */
void bloom_fail_arg(sqlite3_context *context, const char *format, bloom_arg arg);

/* The name of the type of a value that cannot be a filter, being neither a BLOB nor
** NULL: as typeof() gives it but in capitals. */
const char *bloom_type_name(sqlite3_value *value);

/* A value as an SQL literal for a message; sqlite3_free() it.  Of a long text only
** its beginning, and dots after it.  NULL if there is no memory. */
char *bloom_literal(sqlite3_value *value);

/* The same of a REAL. */
char *bloom_real_literal(double number);

#endif
