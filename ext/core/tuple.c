/*
** Reads tuples; tuple.h has their bytes.
*/
#include "tuple.h"

#include <string.h>

#include "bytes.h"
#include "debug.h"

int bloom_tuple_read(const uint8_t **next, const uint8_t *end, bloom_tuple_value *value){
  const uint8_t *bytes = *next;
  const size_t num_left = (size_t)(end - bytes);
  const uint8_t tag = bytes[0];
  bloom_tuple_value found = {.tag = (bloom_tuple_tag)tag};
  size_t num_bytes = BLOOM_TUPLE_NUMBER_BYTES;
  assert( bytes<end );
  if( tag==BLOOM_TUPLE_INTEGER || tag==BLOOM_TUPLE_REAL ){
    uint64_t bits;
    if( num_left<num_bytes ) return 0;
    bits = bloom_load64_le(bytes + 1);
    if( tag==BLOOM_TUPLE_INTEGER ){
      found.integer = (int64_t)bits;
    }else{
      memcpy(&found.real, &bits, sizeof(found.real));
      if( found.real!=found.real ) return 0; /* SQLite has no NaN */
    }
  }else if( tag==BLOOM_TUPLE_TEXT || tag==BLOOM_TUPLE_BLOB ){
    if( num_left<BLOOM_TUPLE_HEADER_BYTES ) return 0;
    found.num_bytes = bloom_load32_le(bytes + 1);
    found.bytes = bytes + BLOOM_TUPLE_HEADER_BYTES;
    if( num_left-BLOOM_TUPLE_HEADER_BYTES<found.num_bytes ) return 0;
    num_bytes = BLOOM_TUPLE_HEADER_BYTES + (size_t)found.num_bytes;
  }else{
    return 0;
  }
  assert( num_bytes<=num_left );
  *value = found;
  *next = bytes + num_bytes;
  return 1;
}

int64_t bloom_tuple_num_values(const uint8_t *bytes, size_t num_bytes){
  const uint8_t *end = num_bytes ? bytes + num_bytes : bytes; /* bytes may be NULL */
  bloom_tuple_value value;
  int64_t num_values = 0;
  assert( bytes || num_bytes==0 );
  for(; bytes!=end; num_values++){
    if( !bloom_tuple_read(&bytes, end, &value) ) return -1;
  }
  return num_values ? num_values : -1;
}
