/*
** Parquet's filter: a hash of 64 bits sets 8 bits of one block.  ../../FORMATS.md has the layout.
**
** The header is a struct in Thrift's compact form: the number of bytes of all blocks, then
** the algorithm SPLIT_BLOCK, the hash XXHASH and the compression UNCOMPRESSED.  Each number of
** blocks has one header.  Bytes with another complete header, or of another length than the header
** states, are a damaged filter.
** Source: apache/parquet-format, BloomFilter.md and parquet.thrift (BloomFilterHeader).
*/
#ifndef BLOOM_CORE_PARQUET_H
#define BLOOM_CORE_PARQUET_H

#include <stdint.h>

#include "../bytes.h"
#include "../debug.h"
#include "../filter.h"
#include "../hash.h"
#include "../numeric.h"

#define BLOOM_PARQUET_MAX_HEADER_BYTES 19

/* The header has 31 bits for the number of bytes of all blocks. */
#define BLOOM_PARQUET_MAX_BLOCKS 67108863u

extern const bloom_encoding bloom_encoding_parquet;

/* Writes the header of num_blocks blocks; returns its length in bytes. */
size_t bloom_parquet_put_header(uint64_t num_blocks,
                                uint8_t header[BLOOM_PARQUET_MAX_HEADER_BYTES]);

/* Returns the false positive rate, 0..1, of num_blocks blocks, 1..BLOOM_PARQUET_MAX_BLOCKS, with
** num_keys different keys.  It is a sum over all numbers of keys that a block may have: the keys of
** a block are binomially distributed, and most false positives are in the fullest blocks. */
double bloom_parquet_modelled_fpr(uint64_t num_keys, uint64_t num_blocks);

/* -- The hash -------------------------------------------------------------------------------- */

/* Returns Parquet's hash of an INT64, XXH64 with seed 0 of its 8 bytes, little-endian; that of a
** byte array is bloom_xxh64().  Sources: apache/parquet-format, BloomFilter.md; xxHash,
** doc/xxhash_spec.md. */
static inline uint64_t bloom_parquet_hash_int64(int64_t key){
  const uint64_t prime1 = 0x9e3779b185ebca87u, prime2 = 0xc2b2ae3d27d4eb4fu;
  const uint64_t prime4 = 0x85ebca77c2b2ae63u, prime5 = 0x27d4eb2f165667c5u;
  uint64_t hash = prime5 + 8;
  hash ^= bloom_rotate_left64((uint64_t)key * prime2, 31) * prime1;
  hash = bloom_rotate_left64(hash, 27) * prime1 + prime4;
  return bloom_mix64(hash);
}

/* -- One block ------------------------------------------------------------------------------- */

/*
** A block of a split-block Bloom filter: 256 bits, of which each key sets 8.
**
**   32 bytes = 8 words of 32 bits, little-endian.  A hash sets one bit in each word: the
**   upper 5 bits of its low half times the word's salt are the number of the bit.
**
** The hash's upper half picks the block.  Nothing here depends on where the blocks lie, one after
** the other or in pages.  Source: apache/parquet-format, BloomFilter.md; the idea: Putze, Sanders,
** Singler 2007, "Cache-, hash- and space-efficient Bloom filters".
*/

#define BLOOM_SPLIT_BLOCK_BYTES 32
#define BLOOM_SPLIT_BLOCK_WORDS 8

/* The format's multipliers, one for each word: odd numbers without a pattern. */
static const uint32_t bloom_split_block_salts[BLOOM_SPLIT_BLOCK_WORDS] = {
  0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
  0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u
};

/* Returns the block of a hash, 0 .. num_blocks-1, for num_blocks in 1 .. 2^32, by a product in
** place of a remainder [Lemire 2019, "Fast random integer generation in an interval"].  Hashes of
** almost the same value have the same block. */
static inline uint64_t bloom_split_block_number(uint64_t hash, uint64_t num_blocks){
  assert( num_blocks>0 && num_blocks<=(uint64_t)1 << 32 );
  return (hash >> 32) * num_blocks >> 32;
}

/* Returns the hash's bit, 0..31, in word 0..7. */
static inline uint32_t bloom_split_block_bit(uint64_t hash, size_t word){
  return (uint32_t)hash * bloom_split_block_salts[word] >> 27;
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

/* Sets the hash's bits in its block, block[0..31].  It works byte by byte because gcc -O3
** turns a loop over words into vector code that is slower. */
static inline void bloom_split_block_add(uint8_t *block, uint64_t hash){
  size_t word;
  for(word=0; word<BLOOM_SPLIT_BLOCK_WORDS; word++){
    const uint32_t bit = bloom_split_block_bit(hash, word);
    block[4*word + bit/8] |= (uint8_t)(1u << bit%8);
  }
  assert( bloom_split_block_may_contain(block, hash) );
}

/* -- Kernels --------------------------------------------------------------------------------- */

/* The loop that is worth vector code: adding hashes. */
typedef struct bloom_parquet_kernels {
  const char *name;

  /* Adds hashes to blocks[0 .. 32*num_blocks). */
  void (*add)(uint8_t *blocks, uint64_t num_blocks, const uint64_t *hashes, size_t num_hashes);
} bloom_parquet_kernels;

extern const bloom_parquet_kernels bloom_parquet_all_kernels[BLOOM_NUM_KERNELS];

/* How many hashes ahead blocks and hashes are fetched into the cache. */
#define BLOOM_PARQUET_FETCH_BLOCKS  32
#define BLOOM_PARQUET_FETCH_HASHES 512

/* Fetches blocks and hashes that will be needed soon; num_left hashes are left from *hashes on.
** Where most blocks are in no cache, the speed of adding depends on how many cache lines the
** processor waits for at once.  It reads hashes ahead by itself, but only to the end of a page. */
static inline void bloom_parquet_prefetch(const uint8_t *blocks, uint64_t num_blocks,
                                          const uint64_t *hashes, size_t num_left){
#if defined(__GNUC__)
  if( num_left>BLOOM_PARQUET_FETCH_BLOCKS ){
    const uint64_t number = bloom_split_block_number(hashes[BLOOM_PARQUET_FETCH_BLOCKS],
                                                     num_blocks);
    __builtin_prefetch(blocks + number*BLOOM_SPLIT_BLOCK_BYTES, 1);
  }
  if( num_left>BLOOM_PARQUET_FETCH_HASHES ) __builtin_prefetch(hashes + BLOOM_PARQUET_FETCH_HASHES);
#else
  (void)blocks, (void)num_blocks, (void)hashes, (void)num_left;
#endif
}

#endif
