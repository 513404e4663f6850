/*
** The kernels: portable C, which is the reference and the row of every processor that has no
** other; and AVX2.
*/
#include "leveldb.h"

/* Writes one probe after the other.  Arrays of lanes gain nothing from SSE2, and GCC 12.2 -O3
** compiles such a loop wrongly. */
static void scalar_positions(bloom_leveldb_divisor divisor, uint32_t num_probes,
                             const uint32_t *hashes, size_t num_hashes, uint32_t *positions){
  for(; num_hashes; hashes++, num_hashes--){
    const uint32_t delta = bloom_leveldb_delta(*hashes);
    uint32_t probe = *hashes, j;
    for(j=0; j<num_probes; j++, probe+=delta) *positions++ = bloom_leveldb_mod(probe, divisor);
  }
}

/* -- AVX2: 8 lanes.  bloom_build() takes a tenth less time by it. ---------------------------- */

#if BLOOM_SIMD_X86

#include <immintrin.h>

#define TARGET_AVX2 __attribute__((target("avx2")))

/* Computes bloom_leveldb_mod() of each lane.  Only even lanes multiply to 64 bits, so odd lanes
** are moved to even places. */
TARGET_AVX2 static void avx2_positions(bloom_leveldb_divisor divisor, uint32_t num_probes,
                                       const uint32_t *hashes, size_t num_hashes,
                                       uint32_t *positions){
  const __m256i num_bits = _mm256_set1_epi32((int)divisor.num_bits);
  const __m256i reciprocal = _mm256_set1_epi32((int)divisor.reciprocal);
  for(; num_hashes>=8; hashes+=8, num_hashes-=8){
    __m256i probe = _mm256_loadu_si256((const __m256i*)(const void*)hashes);
    const __m256i delta = _mm256_or_si256(_mm256_srli_epi32(probe, 17),
                                          _mm256_slli_epi32(probe, 15));
    uint32_t j;
    for(j=0; j<num_probes; j++, positions+=8, probe=_mm256_add_epi32(probe, delta)){
      const __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(probe, reciprocal), 32);
      const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(probe, 32), reciprocal);
      const __m256i quotient = _mm256_blend_epi32(even, odd, 0xaa);
      const __m256i rest = _mm256_sub_epi32(probe, _mm256_mullo_epi32(quotient, num_bits));
      _mm256_storeu_si256((__m256i*)(void*)positions,
                          _mm256_min_epu32(rest, _mm256_sub_epi32(rest, num_bits)));
    }
  }
  scalar_positions(divisor, num_probes, hashes, num_hashes, positions);
}

#endif

const bloom_leveldb_kernels bloom_leveldb_all_kernels[BLOOM_NUM_KERNELS] = {
#if BLOOM_SIMD_X86
  {.name = "avx2", .positions = avx2_positions},
#endif
  {.name = "scalar", .positions = scalar_positions},
};
