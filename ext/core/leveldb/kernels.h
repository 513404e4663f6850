/*
** The loops of LevelDB's filter that are worth vector code: they compute the positions of
** the probes of many hashes.  There is one row of functions for each instruction set.
** Setting the bits is plain C for every processor (leveldb.c).
**
** Rows differ in speed only: all return the same bits, and the scalar one is the
** reference.  Each call chooses a row that the processor and its system support; a call
** handles many hashes.
*/
#ifndef BLOOM_CORE_LEVELDB_KERNELS_H
#define BLOOM_CORE_LEVELDB_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "../bytes.h"
#include "../debug.h"

/* The number of hashes that AVX2 handles side by side. */
#define BLOOM_LEVELDB_MAX_LANES 8

/*
** x mod num_bits without a division.
** With reciprocal = floor((2^32 - 1) / num_bits) the quotient x * reciprocal / 2^32
** is right or one too small, so that one conditional subtraction corrects it
** [Warren, Hacker's Delight, 10].  From 2^32 bits on, positions are the probes
** themselves: both members are 0, and the result is x.
*/
typedef struct bloom_leveldb_divisor {
  uint32_t num_bits;
  uint32_t reciprocal;
} bloom_leveldb_divisor;

/* Returns the divisor for num_bits bits, in 1..2^32. */
static inline bloom_leveldb_divisor bloom_leveldb_divisor_of(uint64_t num_bits){
  bloom_leveldb_divisor divisor = {(uint32_t)num_bits, 0};
  assert( num_bits>0 && num_bits<=(uint64_t)UINT32_MAX + 1 );
  if( num_bits<=UINT32_MAX ) divisor.reciprocal = UINT32_MAX / divisor.num_bits;
  return divisor;
}

static inline uint32_t bloom_leveldb_mod(uint32_t x, bloom_leveldb_divisor divisor){
  const uint32_t quotient = (uint32_t)((uint64_t)x * divisor.reciprocal >> 32);
  const uint32_t rest = x - quotient * divisor.num_bits;
  const uint32_t less = rest - divisor.num_bits;
  return rest<less ? rest : less; /* less wraps around if rest < num_bits */
}

/* Returns the step between a hash's probes.  Double hashing: one hash drives every probe [Kirsch,
** Mitzenmacher 2006]. */
static inline uint32_t bloom_leveldb_delta(uint32_t hash){
  return hash >> 17 | hash << 15;
}

/* The positions begin .. begin+num_bits-1, which one pass over the hashes sets; num_bits
** is above 0, begin + num_bits at most 2^32. */
typedef struct bloom_leveldb_part {
  uint32_t begin;
  uint32_t num_bits;
} bloom_leveldb_part;

static inline uint32_t bloom_leveldb_is_in(uint32_t position, bloom_leveldb_part part){
  return position - part.begin < part.num_bits; /* wraps around if position < begin */
}

typedef struct bloom_leveldb_kernels {
  const char *name;

  /* Larger filters are written part after part.  Each pass costs positions() of all
  ** hashes but saves cache misses, so the faster positions() is, the smaller are the
  ** parts.  8 MB, 2,048 pages, is what a large TLB reaches, and hardly slower than what
  ** an L2 cache holds. */
  uint32_t max_part_bytes;

  /* 1 if this processor and its system can run this row; NULL: every one that it is built
  ** for can. */
  int (*is_supported)(void);

  /* Writes the positions of all probes of all hashes, in an order of its own: those that lie
  ** in *part, or, if that is NULL, all.  Returns their number.  num_hashes is a multiple of
  ** BLOOM_LEVELDB_MAX_LANES; positions[] has room for all positions. */
  size_t (*positions)(const bloom_leveldb_part *part, bloom_leveldb_divisor divisor,
                      uint32_t num_probes,
                      const uint32_t *hashes, size_t num_hashes, uint32_t *positions);
} bloom_leveldb_kernels;

extern const bloom_leveldb_kernels bloom_leveldb_kernels_scalar;
#if BLOOM_SIMD_X86
extern const bloom_leveldb_kernels bloom_leveldb_kernels_avx2;
#endif

/* Every row of this build, the fastest first, the scalar one last; NULL ends the list. */
#define BLOOM_LEVELDB_NUM_KERNELS (BLOOM_SIMD_X86 + 1)
extern const bloom_leveldb_kernels *const
  bloom_leveldb_all_kernels[BLOOM_LEVELDB_NUM_KERNELS + 1];

/* Returns the fastest row that is supported. */
const bloom_leveldb_kernels *bloom_leveldb_best_kernels(void);

#endif
