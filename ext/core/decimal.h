/*
** An integer's decimal text, as SQL's CAST(x AS TEXT) returns it: by the default rule these are
** the key bytes of an INTEGER.
**
** Three digits are rendered at a time: a fixed-point number has the first three as its integer
** part; multiplied by 1000, it has the next three there.  The text stays in registers, so that
** hashing it needs no round trip through memory.
*/
#ifndef BLOOM_CORE_DECIMAL_H
#define BLOOM_CORE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "debug.h"

/* Room for a text: -9223372036854775808 has 20 bytes, and three words are written. */
#define BLOOM_DECIMAL_MAX_BYTES 24

/* "000\0" "001\0" ... "999\0": 4 KB, which stay in the L1 cache while they are used. */
extern const char bloom_digit_triples[4001];

/* Returns the integer part, below 1000, of a fixed-point number as text of three digits, the
** first in the lowest byte. */
static inline uint32_t bloom_three_digits(uint64_t number, unsigned num_fraction_bits){
  const size_t whole = (size_t)(number >> num_fraction_bits);
  assert( whole<1000 );
  return bloom_load32_le((const uint8_t *)bloom_digit_triples + 4*whole);
}

static inline uint64_t bloom_fraction_of(uint64_t number, unsigned num_fraction_bits){
  return number & (((uint64_t)1 << num_fraction_bits) - 1);
}

/* Returns the number of digits '0' in front of the first other one, or of the last. */
static inline unsigned bloom_leading_zeros(uint64_t text){
  uint64_t digits = (text ^ 0x3030303030303030u) | (uint64_t)1 << 56;
#if defined(__GNUC__)
  return (unsigned)__builtin_ctzll(digits) / 8;
#else
  unsigned num_zeros = 0;
  for(; (digits & 0xff)==0; digits>>=8) num_zeros++;
  return num_zeros;
#endif
}

/* Returns eight decimal digits of value < 10^8 as text, the first in the lowest byte. */
static inline uint64_t bloom_eight_digits(uint32_t value){
  uint64_t number = value * (uint64_t)351843721; /* 2^45 / 10^5, rounded up */
  uint64_t text = bloom_three_digits(number, 45);
  assert( value<100000000 );
  number = bloom_fraction_of(number, 45) * 1000;
  text |= (uint64_t)bloom_three_digits(number, 45) << 24;
  number = bloom_fraction_of(number, 45) * 100;
  return text | (uint64_t)(bloom_three_digits(number, 45) >> 8) << 48;
}

/* Does what bloom_decimal_words() does, for values that are negative or have nine digits or
** more. */
unsigned bloom_decimal_words_long(int64_t value, uint64_t text[3]);

/*
** Writes value's text to text[], eight bytes a word, the first byte in the lowest place,
** with zeros after the last byte.  Returns the number of bytes, 1..20.
*/
static inline unsigned bloom_decimal_words(int64_t value, uint64_t text[3]){
  unsigned num_leading;
  if( (uint64_t)value>=100000000 ) return bloom_decimal_words_long(value, text);
  text[0] = bloom_eight_digits((uint32_t)value);
  text[1] = text[2] = 0;
  num_leading = bloom_leading_zeros(text[0]);
  text[0] >>= 8*num_leading;
  return 8 - num_leading;
}

/* Writes value to text, without a terminator; returns the length, 1..20 bytes. */
size_t bloom_decimal(int64_t value, uint8_t text[BLOOM_DECIMAL_MAX_BYTES]);

#endif
