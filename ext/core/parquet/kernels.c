/*
** The table of kernels, and the row in portable C.
*/
#include "kernels.h"

static void parquet_scalar_add(uint8_t *blocks, uint64_t num_blocks, const uint64_t *hashes,
                               size_t num_hashes){
  for(; num_hashes; hashes++, num_hashes--){
    const uint64_t number = bloom_split_block_number(*hashes, num_blocks);
    bloom_parquet_prefetch(blocks, num_blocks, hashes, num_hashes);
    bloom_split_block_add(blocks + number*BLOOM_SPLIT_BLOCK_BYTES, *hashes);
  }
}

static int parquet_scalar_may_contain(const uint8_t *blocks, uint64_t num_blocks, uint64_t hash){
  const uint64_t number = bloom_split_block_number(hash, num_blocks);
  return bloom_split_block_may_contain(blocks + number*BLOOM_SPLIT_BLOCK_BYTES, hash);
}

const bloom_parquet_kernels bloom_parquet_scalar = {
  .name = "scalar",
  .add = parquet_scalar_add,
  .may_contain = parquet_scalar_may_contain,
};

const bloom_parquet_kernels *const bloom_parquet_all_kernels[BLOOM_SIMD_X86 + 2] = {
#if BLOOM_SIMD_X86
  &bloom_parquet_avx2,
#endif
  &bloom_parquet_scalar,
  NULL
};
