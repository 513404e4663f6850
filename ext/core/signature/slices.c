/*
** Blocks into slices, slices into longer ones, and the AND of slices; slices.h has the
** layout.
*/
#include "slices.h"

#include <string.h>

#include "../bytes.h"

/* Turns 8 rows of 8 bits over: bit c of byte r becomes bit r of byte c.
** Source: the idea is Warren's, "Hacker's Delight" (2013), 7-3: swap blocks of 1, 2, 4 bits. */
static uint64_t slices_turn_8x8(uint64_t x){
  uint64_t swapped;
  swapped = (x ^ x >> 7) & 0x00aa00aa00aa00aau;
  x ^= swapped ^ swapped << 7;
  swapped = (x ^ x >> 14) & 0x0000cccc0000ccccu;
  x ^= swapped ^ swapped << 14;
  swapped = (x ^ x >> 28) & 0x00000000f0f0f0f0u;
  return x ^ swapped ^ swapped << 28;
}

uint32_t bloom_strip_of_blocks(const uint8_t *const blocks[BLOOM_SLICE_BLOCKS], uint32_t bits_per_block,
                               uint32_t strip, uint8_t out[BLOOM_SLICE_STRIP_BYTES]){
  const uint32_t num_bytes = bloom_strip_bytes(0, bits_per_block, strip);
  const uint32_t first = strip * (BLOOM_SLICE_STRIP_BYTES/64); /* byte of each block: 8 slices of 8 bytes */
  uint32_t i, eight, j;
  for(i=0; i<num_bytes/64; i++){
    for(eight=0; eight<8; eight++){
      uint64_t turned = 0;
      for(j=0; j<8; j++) turned |= (uint64_t)blocks[8*eight + j][first + i] << 8*j;
      turned = slices_turn_8x8(turned);
      for(j=0; j<8; j++) out[64*i + 8*j + eight] = (uint8_t)(turned >> 8*j);
    }
  }
  return num_bytes;
}

uint32_t bloom_strip_of_strips(int tier, const uint8_t *const *sources, uint32_t bits_per_block, uint32_t strip,
                               uint8_t out[BLOOM_SLICE_STRIP_BYTES]){
  const uint32_t num_joined = bloom_tier_joined(tier), slice_bytes = bloom_tier_slice_bytes(tier);
  const uint32_t num_bytes = bloom_strip_bytes(tier + 1, bits_per_block, strip);
  uint32_t from = strip%num_joined * (BLOOM_SLICE_STRIP_BYTES/num_joined);
  uint32_t to, i;
  for(to=0; to<num_bytes; from+=slice_bytes){
    for(i=0; i<num_joined; i++, to+=slice_bytes) memcpy(out + to, sources[i] + from, slice_bytes);
  }
  return num_bytes;
}

int bloom_slice_and(uint8_t *candidates, const uint8_t *slice, size_t num_bytes){
  uint64_t left = 0;
  size_t i;
  for(i=0; i+8<=num_bytes; i+=8){
    uint64_t word, other;
    memcpy(&word, candidates + i, 8);
    memcpy(&other, slice + i, 8);
    word &= other;
    memcpy(candidates + i, &word, 8);
    left |= word;
  }
  return left!=0;
}

uint32_t bloom_slice_next(const uint8_t *candidates, uint32_t num_blocks, uint32_t from){
  while( from<num_blocks ){
    const uint64_t word = bloom_load64_le(candidates + (size_t)(from/64)*8) >> from%64;
    if( word==0 ){
      from = (from/64 + 1) * 64;
    }else{
      uint64_t rest = word;
      for(; (rest & 1)==0; rest>>=1) from++;
      return from<num_blocks ? from : num_blocks;
    }
  }
  return num_blocks;
}
