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
**   64 finished blocks  --slices.h: a unit of slices, bit i of all blocks side by side
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

#include "../debug.h"
#include "../numeric.h"

/* The bits of a block lie in bands of 504: a band of 64 blocks fills a page (slices.h).
** There is a power of two of them, so few that bits are numbers of 16 bits. */
#define BLOOM_BAND_BITS 504
#define BLOOM_SIGNATURE_MAX_BANDS 128
#define BLOOM_SIGNATURE_MAX_BITS (BLOOM_SIGNATURE_MAX_BANDS * BLOOM_BAND_BITS)
_Static_assert(BLOOM_BAND_BITS%8==0, "a band has whole bytes");
_Static_assert(BLOOM_SIGNATURE_MAX_BITS<=65536, "bits are numbers of 16 bits");

/* Probes of a key, 1 .. BLOOM_SIGNATURE_MAX_PROBES.  Each halves the rows that are read
** for nothing. */
#define BLOOM_SIGNATURE_MAX_PROBES 32

/* So many probes and more lie in three bands, fewer in two: slices of one band share pages, but
** bits that crowd are less independent. */
#define BLOOM_SIGNATURE_PROBES_OF_THREE 17

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
  uint32_t num_had; /* draws so far */
} bloom_probes;

static inline bloom_probes bloom_probes_of(uint64_t hash){
  return (bloom_probes){hash, hash, 0};
}

/* The next number, 0 .. below-1, of at most 65,536. */
static inline uint32_t bloom_probes_next(bloom_probes *probes, uint32_t below){
  uint32_t number;
  assert( below<=65536 );
  if( probes->num_had%4==0 && probes->num_had ){
    probes->word = bloom_signature_mix(probes->hash + probes->num_had/4 * BLOOM_GOLDEN_RATIO);
  }
  number = ((uint32_t)probes->word & 0xffff) * below >> 16;
  probes->word >>= 16;
  probes->num_had++;
  return number;
}

/* Writes the bits of a piece of text, which lie anywhere in the block.  Returns num_probes. */
static inline uint32_t bloom_signature_piece_bits(uint64_t hash, uint32_t num_probes,
                                                  uint32_t bits_per_block, uint16_t *bits){
  bloom_probes probes = bloom_probes_of(hash);
  uint32_t i;
  for(i=0; i<num_probes; i++) bits[i] = (uint16_t)bloom_probes_next(&probes, bits_per_block);
  return num_probes;
}

/* Writes the bits that num_probes probes of a key test, in two or three bands in turn: the
** first draw picks the first of them and the odd distance to the next.  Returns num_probes. */
static inline uint32_t bloom_signature_bits(uint64_t hash, uint32_t num_probes, uint32_t num_bands,
                                            uint16_t *bits){
  const uint32_t num_used = num_probes<BLOOM_SIGNATURE_PROBES_OF_THREE ? 2 : 3;
  bloom_probes probes = bloom_probes_of(hash);
  const uint32_t draw = bloom_probes_next(&probes, 65536), distance = draw>>8 | 1;
  uint32_t i;
  assert( num_bands>0 && (num_bands & (num_bands - 1))==0 && num_bands<=BLOOM_SIGNATURE_MAX_BANDS );
  for(i=0; i<num_probes; i++){
    const uint32_t band = (draw + i%num_used*distance) & (num_bands - 1);
    bits[i] = (uint16_t)(band*BLOOM_BAND_BITS + bloom_probes_next(&probes, BLOOM_BAND_BITS));
  }
  return num_probes;
}

#endif
