/*
** The two loops of Parquet's filter that are worth vector code: adding hashes, and testing
** one hash.  There is one row of functions for each instruction set.
**
** Rows differ in speed only: all return the same bits, and parquet.h is the reference.
*/
#ifndef BLOOM_CORE_PARQUET_KERNELS_H
#define BLOOM_CORE_PARQUET_KERNELS_H

#include "parquet.h"

typedef struct bloom_parquet_kernels {
  const char *name;

  /* 1 if this processor and its system can run this row; NULL: every one that it is built
  ** for can. */
  int (*is_supported)(void);

  /* Adds hashes to blocks[0 .. 32*num_blocks). */
  void (*add)(uint8_t *blocks, uint64_t num_blocks, const uint64_t *hashes, size_t num_hashes);

  /* 1 if the blocks may contain the hash, 0 if they surely do not. */
  int (*may_contain)(const uint8_t *blocks, uint64_t num_blocks, uint64_t hash);
} bloom_parquet_kernels;

/* Every row of this build, the fastest first, the scalar one last; NULL ends the list. */
extern const bloom_parquet_kernels *const
  bloom_parquet_all_kernels[BLOOM_SIMD_X86 + 2];

extern const bloom_parquet_kernels bloom_parquet_scalar;
#if BLOOM_SIMD_X86
extern const bloom_parquet_kernels bloom_parquet_avx2;
#endif

/* Returns the fastest row that is supported.  It is chosen for every single key, and so without a
** branch or a call: what the processor supports lies in memory. */
static inline const bloom_parquet_kernels *bloom_parquet_best_kernels(void){
#if BLOOM_SIMD_X86
  return bloom_parquet_all_kernels[__builtin_cpu_supports("avx2") ? 0 : 1];
#else
  return bloom_parquet_all_kernels[0];
#endif
}

/* How many hashes ahead blocks and hashes are fetched into the cache. */
#define BLOOM_PARQUET_FETCH_BLOCKS  32
#define BLOOM_PARQUET_FETCH_HASHES 512

/* Fetches what the next hashes need.  Where most blocks are in no cache, the speed of
** adding depends on how many cache lines a processor waits for at once, so blocks are
** fetched long before they are needed.  The processor reads hashes ahead by itself, but
** only to the end of a page.  There are num_left hashes from *hashes on. */
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
