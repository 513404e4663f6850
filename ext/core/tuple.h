/*
** A tuple: the values of several columns as the bytes of one key.  For each value, in
** order, a tag and what it says:
**
**   01  INTEGER     8 bytes, two's complement, little-endian
**   02  REAL        8 bytes, IEEE 754, little-endian
**   03  TEXT        length, 4 bytes little-endian, then so many bytes of UTF-8
**   04  BLOB        length, the same, then so many bytes
**
** A REAL that is equal to a 64-bit integer is written as that INTEGER, so that values
** which `=` calls equal have the same bytes, and others have not.  NULL is equal to
** nothing: there is no tuple with it.
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

/* A tag, and the 8 bytes or the length after it. */
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

/*
** Reads the value at *next, which is before end, and moves *next past it.  Returns 0,
** *next untouched, where the bytes are not a value that a tuple can have: another tag,
** an end in the middle, a REAL that is no number.
*/
int bloom_tuple_read(const uint8_t **next, const uint8_t *end, bloom_tuple_value *value);

/* The number of values in these bytes; -1 if they are not a tuple, which has at least one. */
int64_t bloom_tuple_num_values(const uint8_t *bytes, size_t num_bytes);

#endif
