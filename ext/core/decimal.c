/*
** Decimal text, two digits at a time: half the divisions of one at a time.
*/
#include "decimal.h"

#include <string.h>

static const char bloom_digit_pairs[] =
  "00010203040506070809" "10111213141516171819" "20212223242526272829"
  "30313233343536373839" "40414243444546474849" "50515253545556575859"
  "60616263646566676869" "70717273747576777879" "80818283848586878889"
  "90919293949596979899";

size_t bloom_decimal(int64_t value, uint8_t text[BLOOM_DECIMAL_MAX_BYTES]){
  uint8_t buffer[BLOOM_DECIMAL_MAX_BYTES];
  uint8_t *end = buffer + sizeof(buffer);
  uint8_t *p = end;
  /* Negated as unsigned: -INT64_MIN does not fit in int64_t. */
  uint64_t rest = value<0 ? 0 - (uint64_t)value : (uint64_t)value;
  size_t num_bytes;
  while( rest>=100 ){
    p -= 2;
    memcpy(p, &bloom_digit_pairs[2*(rest%100)], 2);
    rest /= 100;
  }
  if( rest>=10 ){
    p -= 2;
    memcpy(p, &bloom_digit_pairs[2*rest], 2);
  }else{
    *--p = (uint8_t)('0' + rest);
  }
  if( value<0 ) *--p = '-';
  num_bytes = (size_t)(end - p);
  memcpy(text, p, num_bytes);
  return num_bytes;
}
