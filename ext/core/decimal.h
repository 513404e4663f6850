/*
** An integer's decimal text, as SQL's CAST(x AS TEXT) gives it: the key bytes of an
** INTEGER in the house's rule.  Here alone it is rendered.
**
** Three digits at a time: a fixed-point number whose whole part is the first three is
** multiplied by 1000, and the next three come up.  Few instructions matter more than
** few cycles here: SQLite's own work goes on beside them.  The text stays in
** registers, so that a hash of it costs no round trip through memory.
*/
#ifndef BLOOM_CORE_DECIMAL_H
#define BLOOM_CORE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

#define BLOOM_DECIMAL_MAX_BYTES 20 /* -9223372036854775808 */

/* "000\0" "001\0" ... "999\0": 4 KB, which stay in L1 while they are used. */
extern const char bloom_digit_triples[];

/* The whole part, below 1000, of a fixed-point number as text of three digits,
** the first in the lowest byte. */
static inline uint32_t bloom_three_digits(uint64_t number, unsigned num_fraction_bits){
  const size_t whole = (size_t)(number >> num_fraction_bits);
  return bloom_load32_le((const uint8_t *)bloom_digit_triples + 4*whole);
}

static inline uint64_t bloom_fraction_of(uint64_t number, unsigned num_fraction_bits){
  return number & (((uint64_t)1 << num_fraction_bits) - 1);
}

/* Decimal digits of value < 10^9. */
static inline unsigned bloom_num_digits(uint32_t value){
#if defined(__GNUC__)
  /* By number of the highest bit: digits in the upper half; where a power of ten lies
  ** among such values, less that power, so that those from it on carry into the upper
  ** half [Willets; Lemire 2021, "Computing the number of digits of an integer even
  ** faster"]. */
#define BLOOM_DIGITS(d)             ((uint64_t)(d) << 32)
#define BLOOM_DIGITS_FROM(d, power) (((uint64_t)(d) << 32) - (power))
  static const uint64_t digits[] = {
    BLOOM_DIGITS(1), BLOOM_DIGITS(1), BLOOM_DIGITS(1), BLOOM_DIGITS_FROM(2, 10),
    BLOOM_DIGITS(2), BLOOM_DIGITS(2), BLOOM_DIGITS_FROM(3, 100),
    BLOOM_DIGITS(3), BLOOM_DIGITS(3), BLOOM_DIGITS_FROM(4, 1000),
    BLOOM_DIGITS(4), BLOOM_DIGITS(4), BLOOM_DIGITS(4), BLOOM_DIGITS_FROM(5, 10000),
    BLOOM_DIGITS(5), BLOOM_DIGITS(5), BLOOM_DIGITS_FROM(6, 100000),
    BLOOM_DIGITS(6), BLOOM_DIGITS(6), BLOOM_DIGITS_FROM(7, 1000000),
    BLOOM_DIGITS(7), BLOOM_DIGITS(7), BLOOM_DIGITS(7), BLOOM_DIGITS_FROM(8, 10000000),
    BLOOM_DIGITS(8), BLOOM_DIGITS(8), BLOOM_DIGITS_FROM(9, 100000000),
    BLOOM_DIGITS(9), BLOOM_DIGITS(9), BLOOM_DIGITS(9),
  };
  return (unsigned)((value + digits[31 ^ __builtin_clz(value | 1)]) >> 32);
#else
  return 1u + (value>9) + (value>99) + (value>999) + (value>9999)
    + (value>99999) + (value>999999) + (value>9999999) + (value>99999999);
#endif
}

/* The same as below, of values that are negative or have ten digits or more. */
unsigned bloom_decimal_words_long(int64_t value, uint64_t text[3]);

/*
** Writes value's text to text[], eight bytes a word, the first byte the lowest,
** zeros behind the last; returns the number of bytes, 1..20.
*/
static inline unsigned bloom_decimal_words(int64_t value, uint64_t text[3]){
  /* By number of digits n: 10^(3-n), 54 bits of fraction, rounded up.  That adds
  ** less than value * 2^-54: too little to reach the last digit. */
  static const uint64_t scales[] = {
    0, 1801439850948198400u, 180143985094819840u, 18014398509481984u, 1801439850948199u,
    180143985094820u, 18014398509482u, 1801439850949u, 180143985095u, 18014398510u,
  };
  unsigned num_digits;
  uint64_t number;
  uint32_t third;
  if( (uint64_t)value>=1000000000 ) return bloom_decimal_words_long(value, text);
  num_digits = bloom_num_digits((uint32_t)value);
  number = (uint32_t)value * scales[num_digits];
  text[0] = bloom_three_digits(number, 54);
  number = bloom_fraction_of(number, 54) * 1000;
  text[0] |= (uint64_t)bloom_three_digits(number, 54) << 24;
  number = bloom_fraction_of(number, 54) * 1000;
  third = bloom_three_digits(number, 54);
  text[0] |= (uint64_t)third << 48;
  text[1] = text[2] = 0;
  if( num_digits==9 ){
    text[1] = third >> 16;
  }else{
    text[0] &= UINT64_MAX >> (64 - 8*num_digits);
  }
  return num_digits;
}

/* Writes value to text, without a terminator; returns the length, 1..20 bytes. */
size_t bloom_decimal(int64_t value, uint8_t text[BLOOM_DECIMAL_MAX_BYTES]);

#endif
