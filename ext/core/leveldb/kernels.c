/*
** The kernels: portable C, which is the reference and the row of every processor that has no
** other; and AVX2.
*/
#include "leveldb.h"

/* Writes one probe after the other; no branch depends on a position.  Arrays of lanes gain
** nothing from SSE2, and GCC 12.2 -O3 compiles such a loop wrongly. */
static size_t scalar_positions(const bloom_leveldb_part *part, bloom_leveldb_divisor divisor,
                               uint32_t num_probes,
                               const uint32_t *hashes, size_t num_hashes, uint32_t *positions){
  const uint32_t *end = hashes + num_hashes;
  size_t num_in = 0;
  assert( num_hashes%BLOOM_LEVELDB_MAX_LANES==0 );
  assert( part==NULL || part->num_bits>0 );
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

/* -- AVX2, with BMI2 and POPCNT, which came with it: 8 lanes ---------------- */

#if BLOOM_SIMD_X86

#include <immintrin.h>

#define TARGET_AVX2 __attribute__((target("avx2,bmi2,popcnt")))

static int avx2_is_supported(void){
  /* All three, without a branch that no single processor could take both ways. */
  const int has_avx2 = __builtin_cpu_supports("avx2")!=0;
  const int has_bmi2 = __builtin_cpu_supports("bmi2")!=0;
  const int has_popcnt = __builtin_cpu_supports("popcnt")!=0;
  return has_avx2 & has_bmi2 & has_popcnt;
}

/* Returns bloom_leveldb_mod() of each lane.  Only even lanes multiply to 64 bits, so odd lanes
** are moved to even places. */
TARGET_AVX2 static inline __m256i avx2_mod(__m256i x, __m256i num_bits, __m256i reciprocal){
  const __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(x, reciprocal), 32);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), reciprocal);
  const __m256i quotient = _mm256_blend_epi32(even, odd, 0xaa);
  const __m256i rest = _mm256_sub_epi32(x, _mm256_mullo_epi32(quotient, num_bits));
  return _mm256_min_epu32(rest, _mm256_sub_epi32(rest, num_bits));
}

/* Moves the 32-bit numbers whose bits are set in is_in to the front: their lane numbers,
** a byte each, are picked out of 0..7. */
TARGET_AVX2 static inline __m256i avx2_compress(__m256i x, uint32_t is_in){
  const uint64_t bytes = _pdep_u64(is_in, 0x0101010101010101u) * 0xff;
  const uint64_t lanes = _pext_u64(0x0706050403020100u, bytes);
  return _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)lanes)));
}

/* Writes the positions of 8 hashes at a time.  Storing a whole vector is safe: the vectors before
** it filled no more than their own room. */
TARGET_AVX2 static size_t avx2_positions(const bloom_leveldb_part *part,
                                         bloom_leveldb_divisor divisor, uint32_t num_probes,
                                         const uint32_t *hashes, size_t num_hashes,
                                         uint32_t *positions){
  const __m256i num_bits = _mm256_set1_epi32((int)divisor.num_bits);
  const __m256i reciprocal = _mm256_set1_epi32((int)divisor.reciprocal);
  const __m256i begin = _mm256_set1_epi32(part ? (int)part->begin : 0);
  const __m256i last = _mm256_set1_epi32(part ? (int)(part->num_bits - 1) : 0);
  const uint32_t *end = hashes + num_hashes;
  size_t num_in = 0;
  assert( num_hashes%BLOOM_LEVELDB_MAX_LANES==0 );
  assert( part==NULL || part->num_bits>0 );
  for(; hashes<end; hashes+=8){
    const __m256i hash = _mm256_loadu_si256((const __m256i*)(const void*)hashes);
    const __m256i delta = _mm256_or_si256(_mm256_srli_epi32(hash, 17), _mm256_slli_epi32(hash, 15));
    __m256i probe = hash;
    uint32_t j;
    for(j=0; j<num_probes; j++, probe=_mm256_add_epi32(probe, delta)){
      __m256i x = avx2_mod(probe, num_bits, reciprocal);
      size_t num_stored = 8;
      if( part ){
        const __m256i offset = _mm256_sub_epi32(x, begin);
        /* There is no unsigned comparison: offset <= last. */
        const __m256i mask = _mm256_cmpeq_epi32(offset, _mm256_min_epu32(offset, last));
        const uint32_t is_in = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
        x = avx2_compress(x, is_in);
        num_stored = (size_t)_mm_popcnt_u32(is_in);
      }
      _mm256_storeu_si256((__m256i*)(void*)(positions + num_in), x);
      num_in += num_stored;
    }
  }
  return num_in;
}

const bloom_leveldb_kernels bloom_leveldb_kernels_avx2 = {
  .name = "avx2",
  .max_part_bytes = 8 << 20,
  .is_supported = avx2_is_supported,
  .positions = avx2_positions,
};

#endif
