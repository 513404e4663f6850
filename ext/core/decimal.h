/*
** An integer's decimal text, as SQL's CAST(x AS TEXT) returns it: by the default rule
** these are the key bytes of an INTEGER.  No other file renders it.
**
** Three digits are rendered at a time.  A fixed-point number has the first three digits
** as its integer part; multiplied by 1000, it has the next three there.  Few instructions
** matter more than few cycles, because the processor does SQLite's own work at the same
** time.  The text stays in registers, so that hashing it needs no round trip through
** memory.
*/
#ifndef BLOOM_CORE_DECIMAL_H
#define BLOOM_CORE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

#define BLOOM_DECIMAL_MAX_BYTES 20 /* -9223372036854775808 */

/* "000\0" "001\0" ... "999\0": 4 KB, which stay in the L1 cache while they are used. */
extern const char bloom_digit_triples[];

/* The integer part, below 1000, of a fixed-point number as text of three digits, the
** first in the lowest byte. */
static inline uint32_t bloom_three_digits(uint64_t number, unsigned num_fraction_bits){
  const size_t whole = (size_t)(number >> num_fraction_bits);
  return bloom_load32_le((const uint8_t *)bloom_digit_triples + 4*whole);
}

static inline uint64_t bloom_fraction_of(uint64_t number, unsigned num_fraction_bits){
  return number & (((uint64_t)1 << num_fraction_bits) - 1);
}

/* The number of decimal digits of value < 10^9. */
static inline unsigned bloom_num_digits(uint32_t value){
#if defined(__GNUC__)
  /* Indexed by the number of the highest bit.  The upper half is the number of digits.
  ** Where a power of ten lies among the values with that highest bit, the power is
  ** subtracted, so that values from the power on carry into the upper half [Willets;
  ** Lemire 2021, "Computing the number of digits of an integer even faster"]. */
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

/* bloom_decimal_words() for values that are negative or have ten digits or more. */
unsigned bloom_decimal_words_long(int64_t value, uint64_t text[3]);

/*
** Writes value's text to text[], eight bytes a word, the first byte in the lowest place,
** with zeros after the last byte.  Returns the number of bytes, 1..20.
*/
static inline unsigned bloom_decimal_words(int64_t value, uint64_t text[3]){
  /* Indexed by the number of digits n: 10^(3-n) with 54 bits of fraction, rounded up.
  ** Rounding adds less than value * 2^-54, too little to reach the last digit. */
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
