/*
** Counting the bits of a filter.
*/
#include "bits.h"

#include <string.h>

/* So many words can be counted, at most 8 bits a byte, before a byte overflows. */
#define POPCOUNT_WORDS ((size_t)31)

static inline uint64_t load_word(const uint8_t *p, size_t num_bytes){
  uint64_t word = 0;
  memcpy(&word, p, num_bytes);
  return word;
}

/* The bits set in each byte of x. */
static inline uint64_t popcount_bytes(uint64_t x){
  x -= (x >> 1) & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
  return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

/* The sum of x's bytes, which may be up to 255 each. */
static inline uint64_t sum_of_bytes(uint64_t x){
  x = (x & 0x00ff00ff00ff00ffu) + ((x >> 8) & 0x00ff00ff00ff00ffu);
  return (x * 0x0001000100010001u) >> 48;
}

uint64_t bloom_count_bits(const uint8_t *bytes, size_t num_bytes){
  uint64_t bits_set = 0;
  uint64_t sums;
  size_t i;
  /* Without a multiplication compilers turn this loop into vector code. */
  for(; num_bytes>=8*POPCOUNT_WORDS; bytes+=8*POPCOUNT_WORDS, num_bytes-=8*POPCOUNT_WORDS){
    for(sums=0, i=0; i<POPCOUNT_WORDS; i++) sums += popcount_bytes(load_word(bytes + 8*i, 8));
    bits_set += sum_of_bytes(sums);
  }
  for(; num_bytes>=8; bytes+=8, num_bytes-=8) bits_set += sum_of_bytes(popcount_bytes(load_word(bytes, 8)));
  if( num_bytes ) bits_set += sum_of_bytes(popcount_bytes(load_word(bytes, num_bytes)));
  return bits_set;
}
