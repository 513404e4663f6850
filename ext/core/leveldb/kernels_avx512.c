/*
** The kernels for AVX-512: 16 lanes.
*/
#include "kernels.h"

#if BLOOM_SIMD_X86

#include <immintrin.h>

#define TARGET_AVX512 __attribute__((target("avx512f,popcnt")))

static int avx512_is_supported(void){
  /* Both, without a branch that no single processor could take both ways. */
  const int has_f = __builtin_cpu_supports("avx512f")!=0;
  const int has_popcnt = __builtin_cpu_supports("popcnt")!=0;
  return has_f & has_popcnt;
}

/* bloom_leveldb_mod().  Only even lanes multiply to 64 bits, so odd lanes are moved to
** even places. */
TARGET_AVX512 static inline __m512i avx512_mod(__m512i x, __m512i num_bits, __m512i reciprocal){
  const __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(x, reciprocal), 32);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), reciprocal);
  const __m512i quotient = _mm512_mask_blend_epi32(0xaaaa, even, odd);
  const __m512i rest = _mm512_sub_epi32(x, _mm512_mullo_epi32(quotient, num_bits));
  return _mm512_min_epu32(rest, _mm512_sub_epi32(rest, num_bits));
}

/* Compresses in a register, because compressing to memory is slow on Zen 4.  Storing a
** whole vector is safe: the vectors before it filled no more than their own room. */
TARGET_AVX512 static size_t avx512_positions_in(bloom_leveldb_part part,
                                                bloom_leveldb_divisor divisor,
                                                uint32_t num_probes, const uint32_t *hashes,
                                                size_t num_hashes, uint32_t *positions){
  const __m512i num_bits = _mm512_set1_epi32((int)divisor.num_bits);
  const __m512i reciprocal = _mm512_set1_epi32((int)divisor.reciprocal);
  const __m512i begin = _mm512_set1_epi32((int)part.begin);
  const __m512i part_bits = _mm512_set1_epi32((int)part.num_bits);
  const uint32_t *end = hashes + num_hashes;
  size_t num_in = 0;
  for(; hashes<end; hashes+=16){
    const __m512i hash = _mm512_loadu_si512(hashes);
    const __m512i delta = _mm512_rol_epi32(hash, 15);
    __m512i probe = hash;
    uint32_t j;
    for(j=0; j<num_probes; j++){
      const __m512i x = avx512_mod(probe, num_bits, reciprocal);
      const __mmask16 is_in = _mm512_cmplt_epu32_mask(_mm512_sub_epi32(x, begin), part_bits);
      _mm512_storeu_si512(positions + num_in, _mm512_maskz_compress_epi32(is_in, x));
      num_in += (size_t)_mm_popcnt_u32(is_in);
      probe = _mm512_add_epi32(probe, delta);
    }
  }
  return num_in;
}

TARGET_AVX512 static size_t avx512_positions(const bloom_leveldb_part *part,
                                             bloom_leveldb_divisor divisor,
                                             uint32_t num_probes, const uint32_t *hashes,
                                                 size_t num_hashes,
                                             uint32_t *positions){
  const __m512i num_bits = _mm512_set1_epi32((int)divisor.num_bits);
  const __m512i reciprocal = _mm512_set1_epi32((int)divisor.reciprocal);
  const uint32_t *end = hashes + num_hashes;
  if( part ) return avx512_positions_in(*part, divisor, num_probes, hashes, num_hashes, positions);
  for(; hashes<end; hashes+=16){
    const __m512i hash = _mm512_loadu_si512(hashes);
    const __m512i delta = _mm512_rol_epi32(hash, 15);
    __m512i probe = hash;
    uint32_t j;
    for(j=0; j<num_probes; j++, positions+=16){
      _mm512_storeu_si512(positions, avx512_mod(probe, num_bits, reciprocal));
      probe = _mm512_add_epi32(probe, delta);
    }
  }
  return num_hashes * num_probes;
}

const bloom_leveldb_kernels bloom_leveldb_kernels_avx512 = {
  .name = "avx512",
  .max_part_bytes = 8 << 20,
  .is_supported = avx512_is_supported,
  .positions = avx512_positions,
};

#endif
