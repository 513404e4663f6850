/*
** Functions that go through all bits of a filter, whatever its encoding.
*/
#include "filter.h"

#include <string.h>

#include "debug.h"
#include "numeric.h"

/* Functions that test many hashes look for an interrupt after so many, each of which may read
** memory that is in no cache. */
#define STEP_HASHES 8192

/* Returns how many of num_left bytes a scan reads before it looks for an interrupt. */
static size_t step_of(size_t num_left){
  return num_left<BLOOM_STEP_BYTES ? num_left : BLOOM_STEP_BYTES;
}

uint64_t bloom_count_bits(const uint8_t *bytes, size_t num_bytes){
  uint64_t bits_set = 0, word = 0;
  assert( bytes || num_bytes==0 );
  /* The product's top byte is the sum of all bytes. */
  for(; num_bytes>=8; bytes+=8, num_bytes-=8){
    memcpy(&word, bytes, 8);
    bits_set += bloom_popcount_bytes(word) * 0x0101010101010101u >> 56;
  }
  word = 0;
  if( num_bytes ) memcpy(&word, bytes, num_bytes);
  return bits_set + (bloom_popcount_bytes(word) * 0x0101010101010101u >> 56);
}

int bloom_count_filter_bits(const bloom_filter *filter, size_t num_bytes, uint64_t *bits_set){
  uint64_t sum = 0;
  size_t offset;
  assert( num_bytes<=filter->shape.num_bytes );
  for(offset=0; offset<num_bytes; offset+=BLOOM_STEP_BYTES){
    if( offset && bloom_is_stopped(filter) ) return 0;
    sum += bloom_count_bits(filter->bits + offset, step_of(num_bytes - offset));
  }
  *bits_set = sum;
  return 1;
}

int bloom_merge_filter(uint8_t *filter, const bloom_filter *other){
  const size_t num_bytes = (size_t)(other->shape.num_bits / 8);
  const uint8_t *others = other->bits;
  uint8_t *bits = filter + (others - other->bytes);
  size_t offset, i;
  assert( other->shape.num_bits%8==0 );
  assert( (size_t)(others - other->bytes) + num_bytes<=other->shape.num_bytes );
  for(offset=0; offset<num_bytes; offset+=BLOOM_STEP_BYTES){
    const size_t end = offset + step_of(num_bytes - offset);
    if( offset && bloom_is_stopped(other) ) return 0;
    for(i=offset; i<end; i++) bits[i] |= others[i];
  }
  return 1;
}

double bloom_measured_fpr(const bloom_filter *filter){
  const bloom_encoding *encoding = filter->encoding;
  uint32_t num_accepted = 0, i;
  if( encoding->measured_fpr ) return encoding->measured_fpr(filter);
  for(i=0; i<BLOOM_FPR_SAMPLE; i++){
    if( i%STEP_HASHES==0 && i && bloom_is_stopped(filter) ) return 0;
    /* 32 bits: multiples of 2^32 / golden ratio spread evenly [Knuth, TAOCP 3, 6.4]. */
    num_accepted += (uint32_t)encoding->may_contain(
      filter, encoding->hash_value_bytes==4 ? (uint32_t)(i * 0x9e3779b1u)
                                            : bloom_sample_hash(i + 1));
  }
  return (double)num_accepted / BLOOM_FPR_SAMPLE;
}
