/*
** Signatures: which blocks of consecutive rows may hold a key, or a text that matches a
** pattern?  The ground of bloom_index, and the path from a row to its bits:
**
**   key   --the caller's hash, of 64 bits-------------------------+
**   text  --pieces.h: hashes of its pieces of 3 and 4 bytes-------+--> bits (this file)
**                                                                 |
**   weights.h says how many bits a piece has: 0 .. 3 -------------+
**
**   bits  --block.h: set in the open block, until it is finished, half of its bits set
**   64 finished blocks  --slices.h: turned into slices, bit i of all blocks side by side
**
** and back: the bits of what is asked (a key's, or those of a pattern's pieces:
** pattern.h) pick slices; where all of them have a bit, a block may hold it.
**
** All memory is the caller's.  ../../FORMATS.md has the bytes.
*/
#ifndef BLOOM_CORE_SIGNATURE_SIGNATURE_H
#define BLOOM_CORE_SIGNATURE_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

#include "../numeric.h"

/* bits_per_block is a power of two in this range: bits are numbers of 16 bits. */
#define BLOOM_SIGNATURE_MIN_BITS 1024
#define BLOOM_SIGNATURE_MAX_BITS 65536

/* Probes of a key, 1 .. BLOOM_SIGNATURE_MAX_PROBES.  Each halves the rows that are read
** for nothing. */
#define BLOOM_SIGNATURE_MAX_PROBES 32

/* 1 if blocks may have so many bits. */
static inline int bloom_signature_is_size(uint64_t bits_per_block){
  return bits_per_block>=BLOOM_SIGNATURE_MIN_BITS && bits_per_block<=BLOOM_SIGNATURE_MAX_BITS
      && (bits_per_block & (bits_per_block - 1))==0;
}

/* Makes each bit of x touch all others: the end of XXH64, a bijection.
** Source: xxHash, doc/xxhash_spec.md. */
static inline uint64_t bloom_signature_mix(uint64_t x){
  x = (x ^ x >> 33) * 0xc2b2ae3d27d4eb4fu;
  x = (x ^ x >> 29) * 0x165667b19e3779f9u;
  return x ^ x >> 32;
}

/* Where the bits of a hash come from: 16 bits each of the hash itself, then of words that
** are mixed from it.  Each probe is as good as a hash of its own: two of them, as in double
** hashing, are too few for many probes among few bits. */
typedef struct bloom_probes {
  uint64_t hash;
  uint64_t word;    /* what is left of the word at hand */
  uint32_t num_had; /* probes so far */
  uint32_t mask;    /* bits_per_block - 1 */
} bloom_probes;

static inline bloom_probes bloom_probes_of(uint64_t hash, uint32_t bits_per_block){
  return (bloom_probes){hash, hash, 0, bits_per_block - 1};
}

/* The next probe's bit, 0 .. bits_per_block-1. */
static inline uint32_t bloom_probes_next(bloom_probes *probes){
  uint32_t bit;
  if( probes->num_had%4==0 && probes->num_had ){
    probes->word = bloom_signature_mix(probes->hash + probes->num_had/4 * BLOOM_GOLDEN_RATIO);
  }
  bit = (uint32_t)probes->word & probes->mask;
  probes->word >>= 16;
  probes->num_had++;
  return bit;
}

/* Writes the bits that num_probes probes of a hash test; returns num_probes. */
static inline uint32_t bloom_signature_bits(uint64_t hash, uint32_t num_probes, uint32_t bits_per_block,
                                            uint16_t *bits){
  bloom_probes probes = bloom_probes_of(hash, bits_per_block);
  uint32_t i;
  for(i=0; i<num_probes; i++) bits[i] = (uint16_t)bloom_probes_next(&probes);
  return num_probes;
}

#endif
