/*
** Decimal text of values with a sign or more than eight digits.
*/
#include "decimal.h"

unsigned bloom_decimal_words_long(int64_t value, uint64_t text[3]){
  /* Negated as unsigned: -INT64_MIN does not fit in int64_t. */
  const uint64_t magnitude = value<0 ? 0 - (uint64_t)value : (uint64_t)value;
  unsigned num_bytes, num_leading;
  text[1] = text[2] = 0;
  if( magnitude<100000000 ){
    text[0] = bloom_eight_digits((uint32_t)magnitude);
    num_bytes = 8;
  }else{
    const uint64_t upper = magnitude / 100000000;
    const uint64_t last = bloom_eight_digits((uint32_t)(magnitude % 100000000));
    if( upper<100000000 ){
      text[0] = bloom_eight_digits((uint32_t)upper);
      text[1] = last;
      num_bytes = 16;
    }else{
      text[0] = bloom_eight_digits((uint32_t)(upper / 100000000));
      text[1] = bloom_eight_digits((uint32_t)(upper % 100000000));
      text[2] = last;
      num_bytes = 24;
    }
  }
  num_leading = bloom_leading_zeros(text[0]);
  num_bytes -= num_leading;
  /* Two shifts: one by 64 would be undefined. */
  text[0] = text[0] >> 8*num_leading | text[1] << 8 << (56 - 8*num_leading);
  text[1] = text[1] >> 8*num_leading | text[2] << 8 << (56 - 8*num_leading);
  text[2] >>= 8*num_leading;
  if( value<0 ){
    text[2] = text[2] << 8 | text[1] >> 56;
    text[1] = text[1] << 8 | text[0] >> 56;
    text[0] = text[0] << 8 | '-';
    num_bytes++;
  }
  return num_bytes;
}

size_t bloom_decimal(int64_t value, uint8_t text[BLOOM_DECIMAL_MAX_BYTES]){
  uint64_t words[3];
  const size_t num_bytes = bloom_decimal_words(value, words);
  bloom_store64_le(text, words[0]);
  bloom_store64_le(text + 8, words[1]);
  bloom_store64_le(text + 16, words[2]);
  return num_bytes;
}
