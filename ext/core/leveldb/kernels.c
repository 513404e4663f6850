/*
** The table of kernels, and the row in portable C: the reference, and the row of every
** processor that has no other.
*/
#include "kernels.h"

/* One probe after the other; no branch depends on a position.  Arrays of lanes gain nothing
** from SSE2, and GCC 12.2 -O3 compiles such a loop wrongly. */
static size_t scalar_positions(const bloom_leveldb_part *part, bloom_leveldb_divisor divisor,
                               uint32_t num_probes,
                               const uint32_t *hashes, size_t num_hashes, uint32_t *positions){
  const uint32_t *end = hashes + num_hashes;
  size_t num_in = 0;
  for(; hashes<end; hashes++){
    const uint32_t delta = bloom_leveldb_delta(*hashes);
    uint32_t probe = *hashes;
    uint32_t j;
    for(j=0; j<num_probes; j++, probe+=delta){
      positions[num_in] = bloom_leveldb_mod(probe, divisor);
      num_in += part ? bloom_leveldb_is_in(positions[num_in], *part) : 1;
    }
  }
  return num_in;
}

const bloom_leveldb_kernels bloom_leveldb_kernels_scalar = {
  .name = "scalar",
  .max_part_bytes = 16 << 20,
  .positions = scalar_positions,
};

const bloom_leveldb_kernels *const bloom_leveldb_all_kernels[BLOOM_LEVELDB_NUM_KERNELS + 1] = {
#if BLOOM_SIMD_X86
  &bloom_leveldb_kernels_avx2,
#endif
  &bloom_leveldb_kernels_scalar,
  NULL
};

const bloom_leveldb_kernels *bloom_leveldb_best_kernels(void){
#if BLOOM_SIMD_X86
  return bloom_leveldb_all_kernels[!bloom_leveldb_kernels_avx2.is_supported()];
#else
  return &bloom_leveldb_kernels_scalar;
#endif
}
