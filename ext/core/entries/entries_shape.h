/*
** What the reader and the writer of entries have to agree on: private to this folder.
*/
#ifndef BLOOM_CORE_ENTRIES_ENTRIES_SHAPE_H
#define BLOOM_CORE_ENTRIES_ENTRIES_SHAPE_H

#include <string.h>

#include "../hash.h"
#include "../numeric.h"
#include "entries.h"

/* A quotient of a gap of ids from which the gap is written whole. */
#define ENTRIES_MAX_QUOTIENT 24

/* So few blocks are written raw. */
#define ENTRIES_MAX_RAW 3

/* Returns log2 x, rounded down; of 0, 0. */
static inline uint32_t entries_log2(uint64_t x){
#if defined(__GNUC__)
  return (uint32_t)(63 - __builtin_clzll(x | 1));
#else
  uint32_t log = 0;
  while( x>>=1 ) log++;
  return log;
#endif
}

static inline uint64_t entries_low_bits(uint64_t x, uint32_t num_bits){
  return x & (((uint64_t)1 << num_bits) - 1);
}

static inline bloom_entries_shape entries_shape_of(uint32_t end_block){
  bloom_entries_shape shape;
  assert( end_block>0 && end_block<=BLOOM_ENTRIES_MAX_BLOCKS );
  shape.end_block = end_block;
  shape.num_segments = bloom_entries_num_segments(end_block);
  shape.reciprocal = ((uint64_t)1 << 32) / shape.num_segments;
  shape.last_blocks = end_block - (shape.num_segments - 1)*BLOOM_SEGMENT_BLOCKS;
  shape.last_bits = shape.last_blocks>1 ? entries_log2(shape.last_blocks - 1) + 1 : 0;
  return shape;
}

/* Returns the segment of the list that lies `gap` behind one of `segment`: their sum modulo
** num_segments.  A product with the reciprocal is fast, and too small by 1 at most. */
static inline uint32_t entries_segment_behind(const bloom_entries_shape *shape, uint32_t segment,
                                              uint64_t gap){
  const uint64_t sum = segment + gap;
  uint64_t rest;
  if( sum>UINT32_MAX ) return (uint32_t)(sum % shape->num_segments);
  rest = sum - (sum * shape->reciprocal >> 32) * shape->num_segments;
  return (uint32_t)(rest>=shape->num_segments ? rest - shape->num_segments : rest);
}

static inline uint32_t entries_blocks_in(const bloom_entries_shape *shape, uint32_t segment){
  return segment + 1<shape->num_segments ? BLOOM_SEGMENT_BLOCKS : shape->last_blocks;
}

/* Returns the bits of a block's number in a segment. */
static inline uint32_t entries_bits_in(const bloom_entries_shape *shape, uint32_t segment){
  return segment + 1<shape->num_segments ? BLOOM_SEGMENT_LG : shape->last_bits;
}

/* Returns 1 if the missing blocks of a list are stored, not its own: there are fewer of them. */
static inline int entries_are_missing_coded(uint32_t num_blocks, uint32_t num_all){
  return num_blocks==num_all || (num_blocks>ENTRIES_MAX_RAW && 2*num_blocks>num_all);
}

/* Writes the numbers below num_all that are not among some ascending ones; others has room for
** one more. */
static inline void entries_complement(const uint16_t *numbers, uint32_t num_numbers,
                                      uint32_t num_all, uint16_t *others){
  uint64_t words[BLOOM_SEGMENT_BLOCKS/64];
  uint32_t i;
  memset(words, 0xff, sizeof(words));
  for(i=0; i<num_numbers; i++) words[numbers[i]/64] ^= (uint64_t)1 << numbers[i]%64;
  /* Without a branch, which would be a guess. */
  for(i=0; i<num_all; i++){
    *others = (uint16_t)i;
    others += words[i/64] >> i%64 & 1;
  }
}

/* Returns the Rice parameter for num_coded of num_all numbers: the greatest with
** num_coded * 2^k <= 0.69 num_all.  0.69 =~ ln 2 [Golomb 1966; Rice 1979]. */
static inline uint32_t entries_rice_k(uint64_t num_coded, uint64_t num_all){
  return entries_log2(69*num_all / (100*num_coded));
}

/* Returns the checksum of a row, which its first 8 bytes hold. */
static inline uint64_t entries_checksum(const uint8_t *bytes, size_t num_bytes,
                                        uint64_t run_number, uint64_t rowid){
  return bloom_mix64(bloom_xxh3(bytes + 8, num_bytes - 8)
                             ^ bloom_mix64(run_number + bloom_mix64(rowid)));
}

#endif
