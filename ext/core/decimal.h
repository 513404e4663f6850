/*
** An integer's decimal text, as SQL's CAST(x AS TEXT) returns it: by the default rule these are
** the key bytes of an INTEGER.
**
** Eight digits are rendered side by side, in the bytes of a word: the text stays in registers, so
** that hashing it needs no round trip through memory.
*/
#ifndef BLOOM_CORE_DECIMAL_H
#define BLOOM_CORE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "debug.h"
#include "numeric.h"

/* Room for a text: -9223372036854775808 has 20 bytes, and three words are written. */
#define BLOOM_DECIMAL_MAX_BYTES 24

/* Returns the number of digits '0' in front of the first other one, or of the last. */
static inline unsigned bloom_leading_zeros(uint64_t text){
  return bloom_num_low_zeros64((text ^ 0x3030303030303030u) | (uint64_t)1 << 56) / 8;
}

/* Returns eight decimal digits of value < 10^8 as text, the first in the lowest byte: two numbers
** of four digits are split into four of two, and those into eight.  x*10486 >> 20 is x / 100 below
** 10^4, x*103 >> 10 is x / 10 below 100. */
static inline uint64_t bloom_eight_digits(uint32_t value){
  uint64_t text = value / 10000 | (uint64_t)(value % 10000) << 32;
  uint64_t tens = text * 10486 >> 20 & 0x0000007f0000007fu;
  assert( value<100000000 );
  text = tens | (text - 100*tens) << 16;
  tens = text * 103 >> 10 & 0x000f000f000f000fu;
  return (tens | (text - 10*tens) << 8) + 0x3030303030303030u;
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
