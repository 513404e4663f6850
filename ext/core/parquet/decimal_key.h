/*
** The bytes of a DECIMAL(precision, scale) in a Parquet file: the number times 10^scale, an
** integer of at most precision digits, as bloom_key() returns them (../../FUNCTIONS.md).
** Source: apache/parquet-format, LogicalTypes.md (DECIMAL).
*/
#ifndef BLOOM_CORE_PARQUET_DECIMAL_KEY_H
#define BLOOM_CORE_PARQUET_DECIMAL_KEY_H

#include <stddef.h>
#include <stdint.h>

#define BLOOM_DECIMAL_MAX_PRECISION 38
#define BLOOM_DECIMAL_KEY_MAX_BYTES 16

/* Different decimals of at most so many digits are different REALs. */
#define BLOOM_DECIMAL_REAL_DIGITS 15

typedef struct bloom_decimal_type {
  unsigned precision; /* 1..38 */
  unsigned scale;     /* 0..precision */
  unsigned num_bytes; /* of a key, 1..16 */
  int is_big_endian;
} bloom_decimal_type;

/* Reads decimal(p,s) or decimal(p,s,n), in any case, blanks after the commas.  Returns 0, with
** *type untouched, if name is neither, or n bytes are too few for p digits. */
int bloom_decimal_type_read(const char *name, bloom_decimal_type *type);

/*
** Write a number's key and return its length; 0 if the column cannot have the number.  The text is
** an optional sign, then digits, with or without a point.  A REAL has the key of the column's only
** decimal of at most 15 digits whose nearest REAL it is; with a scale above 22 it has none.
*/
size_t bloom_decimal_key_of_text(const bloom_decimal_type *type, const uint8_t *text,
                                 size_t num_bytes, uint8_t key[BLOOM_DECIMAL_KEY_MAX_BYTES]);
size_t bloom_decimal_key_of_int64(const bloom_decimal_type *type, int64_t number,
                                  uint8_t key[BLOOM_DECIMAL_KEY_MAX_BYTES]);
size_t bloom_decimal_key_of_real(const bloom_decimal_type *type, double number,
                                 uint8_t key[BLOOM_DECIMAL_KEY_MAX_BYTES]);

#endif
