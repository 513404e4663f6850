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

void bloom_strip_put_blocks(uint8_t strip[BLOOM_STRIP_BYTES],
                            const uint8_t *const blocks[BLOOM_UNIT_BLOCKS],
                            uint32_t first, uint32_t last, uint32_t band){
  const uint32_t at = band * (BLOOM_BAND_BITS/8);
  uint32_t i, eight, j;
  assert( first<=last && last<=BLOOM_UNIT_BLOCKS && band<BLOOM_SIGNATURE_MAX_BANDS );
  for(eight=first/8; 8*eight<last; eight++){
    uint8_t mask = 0;
    for(j=0; j<8; j++) mask = (uint8_t)(mask | (8*eight + j>=first && 8*eight + j<last) << j);
    for(i=0; i<BLOOM_BAND_BITS/8; i++){
      uint64_t turned = 0;
      for(j=0; j<8; j++){
        if( mask >> j & 1 ) turned |= (uint64_t)blocks[8*eight + j][at + i] << 8*j;
      }
      turned = slices_turn_8x8(turned);
      for(j=0; j<8; j++){
        uint8_t *byte = strip + (size_t)64*i + (size_t)8*j + eight;
        *byte = (uint8_t)((*byte & ~mask) | (uint8_t)(turned >> 8*j));
      }
    }
  }
}

void bloom_band_join(uint8_t *strips, uint32_t num_units, const uint8_t *source,
                     uint32_t num_source, uint32_t first){
  uint32_t i;
  assert( first+num_source<=num_units && num_units<=BLOOM_GROUP_MAX_UNITS );
  for(i=0; i<BLOOM_BAND_BITS; i++){
    memcpy(strips + 8*((size_t)i*num_units + first), source + 8*(size_t)i*num_source,
           8*(size_t)num_source);
  }
}

int bloom_slice_and(uint8_t *candidates, const uint8_t *slice, size_t num_bytes){
  uint64_t left = 0;
  size_t i;
  assert( num_bytes%8==0 );
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

int bloom_slice_has_any(const uint8_t *candidates, size_t num_bytes){
  uint64_t left = 0, word;
  size_t i;
  for(i=0; i+8<=num_bytes && left==0; i+=8){
    memcpy(&word, candidates + i, 8);
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
