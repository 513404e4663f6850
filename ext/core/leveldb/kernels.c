/*
** The table of kernels, and the choice among them.
*/
#include "kernels.h"

const bloom_kernels *const bloom_all_kernels[] = {
#if BLOOM_KERNELS_X86
  &bloom_kernels_avx512,
  &bloom_kernels_avx2,
#endif
#if BLOOM_KERNELS_NEON
  &bloom_kernels_neon,
#endif
  &bloom_kernels_scalar,
  NULL
};

const bloom_kernels *bloom_kernels_among(const bloom_kernels *const *row){
  /* The last row runs anywhere and is not asked. */
  while( row[1] && !row[0]->is_supported() ) row++;
  return row[0];
}

const bloom_kernels *bloom_best_kernels(void){
  return bloom_kernels_among(bloom_all_kernels);
}
