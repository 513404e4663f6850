/*
** The kernels for AVX2: 8 lanes.
*/
#include "kernels.h"

#if BLOOM_KERNELS_X86

#include <immintrin.h>

#define TARGET_AVX2 __attribute__((target("avx2")))

static int avx2_is_supported(void){
  return __builtin_cpu_supports("avx2")!=0;
}

/* bloom_mod(); only even lanes multiply to 64 bits, so odd ones move there. */
TARGET_AVX2 static inline __m256i avx2_mod(__m256i x, __m256i num_bits, __m256i reciprocal){
  const __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(x, reciprocal), 32);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), reciprocal);
  const __m256i quotient = _mm256_blend_epi32(even, odd, 0xaa);
  const __m256i rest = _mm256_sub_epi32(x, _mm256_mullo_epi32(quotient, num_bits));
  return _mm256_min_epu32(rest, _mm256_sub_epi32(rest, num_bits));
}

TARGET_AVX2 static void avx2_positions(bloom_divisor divisor, uint32_t first_probe,
                                       uint32_t num_probes, const bloom_digest *digests,
                                       size_t num_digests, uint32_t *positions){
  const __m256i num_bits = _mm256_set1_epi32((int)divisor.num_bits);
  const __m256i reciprocal = _mm256_set1_epi32((int)divisor.reciprocal);
  const __m256i first = _mm256_set1_epi32((int)first_probe);
  const bloom_digest *end = digests + num_digests;
  for(; digests<end; digests+=8){
    const __m256i digest = _mm256_loadu_si256((const __m256i*)(const void*)digests);
    const __m256i delta = _mm256_or_si256(_mm256_srli_epi32(digest, 17), _mm256_slli_epi32(digest, 15));
    __m256i probe = _mm256_add_epi32(digest, _mm256_mullo_epi32(first, delta));
    uint32_t j;
    for(j=0; j<num_probes; j++, positions+=8){
      _mm256_storeu_si256((__m256i*)(void*)positions, avx2_mod(probe, num_bits, reciprocal));
      probe = _mm256_add_epi32(probe, delta);
    }
  }
}

const bloom_kernels bloom_kernels_avx2 = {
  .name = "avx2",
  .num_lanes = 8,
  .is_supported = avx2_is_supported,
  .hash = bloom_hash_each,
  .positions = avx2_positions,
  .select = bloom_select_each,
};

#else
typedef int bloom_no_avx2; /* a translation unit must declare something */
#endif
