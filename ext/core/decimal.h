/*
** An integer's decimal text, as SQL's CAST(x AS TEXT) returns it: by the default rule these are
** the key bytes of an INTEGER.
*/
#ifndef BLOOM_CORE_DECIMAL_H
#define BLOOM_CORE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "debug.h"
#include "numeric.h"

/* Room for a text: -9223372036854775808 has 20 bytes, and up to three words are written. */
#define BLOOM_DECIMAL_MAX_BYTES 24

/* Writes value's text to the end of room, without a terminator.  Returns where it begins, and sets
** *num_bytes to its length, 1..20.  Of eight digits, the first in the lowest byte, two numbers of
** four are split into four of two, and those into eight.  x*10486 >> 20 is x / 100 below 10^4,
** x*103 >> 10 is x / 10 below 100. */
static inline const uint8_t *bloom_decimal(int64_t value, uint8_t room[BLOOM_DECIMAL_MAX_BYTES],
                                           size_t *num_bytes){
  /* Negated as unsigned: -INT64_MIN does not fit in int64_t. */
  uint64_t rest = value<0 ? 0 - (uint64_t)value : (uint64_t)value, digits;
  size_t begin = BLOOM_DECIMAL_MAX_BYTES;
  do{
    const uint32_t eight = (uint32_t)(rest % 100000000);
    const uint64_t fours = eight / 10000 | (uint64_t)(eight % 10000) << 32;
    const uint64_t hundreds = fours * 10486 >> 20 & 0x0000007f0000007fu;
    const uint64_t twos = hundreds | (fours - 100*hundreds) << 16;
    const uint64_t tens = twos * 103 >> 10 & 0x000f000f000f000fu;
    digits = tens | (twos - 10*tens) << 8;
    begin -= 8;
    bloom_store64_le(room + begin, digits + 0x3030303030303030u);
    rest /= 100000000;
  }while( rest );
  /* The zeros in front of the first other digit, or of the last. */
  begin += bloom_num_low_zeros64(digits | (uint64_t)1 << 56) / 8;
  if( value<0 ) room[--begin] = '-';
  *num_bytes = BLOOM_DECIMAL_MAX_BYTES - begin;
  return room + begin;
}

#endif
