/*
** A tuple: the values of several columns as the bytes of one key.  ../FORMATS.md has the layout.
**
** A REAL that is equal to a 64-bit integer is written as that INTEGER.  So values have the same
** bytes if, and only if, `=` without affinity finds them equal.  No tuple has a NULL, which is
** equal to nothing.
*/
#ifndef BLOOM_CORE_TUPLE_H
#define BLOOM_CORE_TUPLE_H

#include <stddef.h>
#include <stdint.h>

typedef enum bloom_tuple_tag {
  BLOOM_TUPLE_INTEGER = 1,
  BLOOM_TUPLE_REAL,
  BLOOM_TUPLE_TEXT,
  BLOOM_TUPLE_BLOB
} bloom_tuple_tag;

/* The bytes of a tag and a number, and of a tag and a length. */
#define BLOOM_TUPLE_NUMBER_BYTES 9
#define BLOOM_TUPLE_HEADER_BYTES 5

/* One value of a tuple, which borrows the tuple's bytes. */
typedef struct bloom_tuple_value {
  bloom_tuple_tag tag;
  int64_t integer;      /* of BLOOM_TUPLE_INTEGER */
  double real;          /* of BLOOM_TUPLE_REAL */
  const uint8_t *bytes; /* of BLOOM_TUPLE_TEXT and BLOOM_TUPLE_BLOB */
  uint32_t num_bytes;
} bloom_tuple_value;

/* Reads the value at *next, which is before end, and moves *next past it.  Returns 0, with *next
** untouched, if the bytes are no value of a tuple. */
int bloom_tuple_read(const uint8_t **next, const uint8_t *end, bloom_tuple_value *value);

/* Returns the number of values in these bytes; -1 if they are not a tuple, which has at least
** one. */
int64_t bloom_tuple_num_values(const uint8_t *bytes, size_t num_bytes);

#endif
