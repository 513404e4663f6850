/*
** One block of a split-block Bloom filter: 256 bits, of which each key sets 8.
**
**   32 bytes = 8 words of 32 bits, little-endian.  A hash sets one bit in each word: the
**   upper 5 bits of its low half times the word's salt are the number of the bit.
**
** The hash's upper half picks the block.  Nothing here depends on where the blocks lie,
** one after the other or in pages.
** Source: apache/parquet-format, BloomFilter.md; the idea: Putze, Sanders, Singler
** 2007, "Cache-, hash- and space-efficient Bloom filters".
*/
#ifndef BLOOM_CORE_PARQUET_SPLIT_BLOCK_H
#define BLOOM_CORE_PARQUET_SPLIT_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "../bytes.h"
#include "../debug.h"

#define BLOOM_SPLIT_BLOCK_BYTES 32
#define BLOOM_SPLIT_BLOCK_WORDS 8

/* The format's multipliers, one for each word: odd numbers without a pattern. */
#define BLOOM_SPLIT_BLOCK_SALTS \
  0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du, \
  0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u

static const uint32_t bloom_split_block_salts[BLOOM_SPLIT_BLOCK_WORDS] = {BLOOM_SPLIT_BLOCK_SALTS};

/* Returns the block of a hash, 0 .. num_blocks-1; num_blocks is in 1 .. 2^32.  It is a product in
** place of a remainder [Lemire 2019, "Fast random integer generation in an interval"], so hashes
** that are close to each other pick the same block. */
static inline uint64_t bloom_split_block_number(uint64_t hash, uint64_t num_blocks){
  assert( num_blocks>0 && num_blocks<=(uint64_t)1 << 32 );
  return (hash >> 32) * num_blocks >> 32;
}

/* Returns the hash's bit, 0..31, in word 0..7. */
static inline uint32_t bloom_split_block_bit(uint64_t hash, size_t word){
  return (uint32_t)hash * bloom_split_block_salts[word] >> 27;
}

/* Sets the hash's bits in its block, block[0..31].  It works byte by byte because gcc -O3
** turns a loop over words into vector code that is slower. */
static inline void bloom_split_block_add(uint8_t *block, uint64_t hash){
  size_t word;
  for(word=0; word<BLOOM_SPLIT_BLOCK_WORDS; word++){
    const uint32_t bit = bloom_split_block_bit(hash, word);
    block[4*word + bit/8] |= (uint8_t)(1u << bit%8);
  }
}

/* Returns 1 if the hash's bits in four words, from first_word = 0 or 4 on, are all set. */
static inline uint32_t bloom_split_block_half(const uint8_t *block, uint64_t hash,
                                              size_t first_word){
  uint32_t is_set = 1;
  size_t word;
  for(word=first_word; word<first_word+4; word++){
    is_set &= bloom_load32_le(block + 4*word) >> bloom_split_block_bit(hash, word);
  }
  return is_set & 1;
}

/* Returns 1 if all of the hash's bits are set in its block, block[0..31], else 0.  Few absent
** keys pass the first half, so the one branch is nearly always predicted. */
static inline int bloom_split_block_may_contain(const uint8_t *block, uint64_t hash){
  return bloom_split_block_half(block, hash, 0) && bloom_split_block_half(block, hash, 4);
}

#endif
