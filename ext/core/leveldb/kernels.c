/*
** The table of kernels, and the choice among them.
*/
#include "kernels.h"

const bloom_leveldb_kernels *const bloom_leveldb_all_kernels[BLOOM_LEVELDB_NUM_KERNELS + 1] = {
#if BLOOM_SIMD_X86
  &bloom_leveldb_kernels_avx2,
#endif
#if BLOOM_SIMD_NEON
  &bloom_leveldb_kernels_neon,
#endif
  &bloom_leveldb_kernels_scalar,
  NULL
};

const bloom_leveldb_kernels *bloom_leveldb_kernels_among(const bloom_leveldb_kernels *const *row){
  while( row[1] && row[0]->is_supported && !row[0]->is_supported() ) row++;
  return row[0];
}

const bloom_leveldb_kernels *bloom_leveldb_best_kernels(void){
  return bloom_leveldb_kernels_among(bloom_leveldb_all_kernels);
}
