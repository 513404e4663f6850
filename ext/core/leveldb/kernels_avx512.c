/*
** The kernels for AVX-512 (F, BW, VL): 16 lanes.  Masked loads do not fault
** beyond their mask, so that keys of all lengths hash 16 at a time.
*/
#include "kernels.h"

#if BLOOM_KERNELS_X86

#include <immintrin.h>

#include "hash.h"

#define TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))

static int avx512_is_supported(void){
  /* All four, without a branch that no single processor could take both ways. */
  const int has_f = __builtin_cpu_supports("avx512f")!=0;
  const int has_bw = __builtin_cpu_supports("avx512bw")!=0;
  const int has_vl = __builtin_cpu_supports("avx512vl")!=0;
  const int has_popcnt = __builtin_cpu_supports("popcnt")!=0;
  return has_f & has_bw & has_vl & has_popcnt;
}

/* bloom_mod(); only even lanes multiply to 64 bits, so odd ones move there. */
TARGET_AVX512 static inline __m512i avx512_mod(__m512i x, __m512i num_bits, __m512i reciprocal){
  const __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(x, reciprocal), 32);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), reciprocal);
  const __m512i quotient = _mm512_mask_blend_epi32(0xaaaa, even, odd);
  const __m512i rest = _mm512_sub_epi32(x, _mm512_mullo_epi32(quotient, num_bits));
  return _mm512_min_epu32(rest, _mm512_sub_epi32(rest, num_bits));
}

TARGET_AVX512 static void avx512_positions(bloom_divisor divisor, uint32_t first_probe,
                                           uint32_t num_probes, const bloom_digest *digests,
                                           size_t num_digests, uint32_t *positions){
  const __m512i num_bits = _mm512_set1_epi32((int)divisor.num_bits);
  const __m512i reciprocal = _mm512_set1_epi32((int)divisor.reciprocal);
  const __m512i first = _mm512_set1_epi32((int)first_probe);
  const bloom_digest *end = digests + num_digests;
  for(; digests<end; digests+=16){
    const __m512i digest = _mm512_loadu_si512(digests);
    const __m512i delta = _mm512_rol_epi32(digest, 15);
    __m512i probe = _mm512_add_epi32(digest, _mm512_mullo_epi32(first, delta));
    uint32_t j;
    for(j=0; j<num_probes; j++, positions+=16){
      _mm512_storeu_si512(positions, avx512_mod(probe, num_bits, reciprocal));
      probe = _mm512_add_epi32(probe, delta);
    }
  }
}

/* Compressed in a register: compressing to memory is slow on Zen 4.  Whole
** stores are safe: the vectors before filled no more than their own room. */
TARGET_AVX512 static size_t avx512_positions_in(bloom_part part, bloom_divisor divisor, uint32_t num_probes,
                                                const bloom_digest *digests, size_t num_digests,
                                                uint32_t *positions){
  const __m512i num_bits = _mm512_set1_epi32((int)divisor.num_bits);
  const __m512i reciprocal = _mm512_set1_epi32((int)divisor.reciprocal);
  const __m512i begin = _mm512_set1_epi32((int)part.begin);
  const __m512i part_bits = _mm512_set1_epi32((int)part.num_bits);
  const bloom_digest *end = digests + num_digests;
  size_t num_in = 0;
  for(; digests<end; digests+=16){
    const __m512i digest = _mm512_loadu_si512(digests);
    const __m512i delta = _mm512_rol_epi32(digest, 15);
    __m512i probe = digest;
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

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion" /* a mask, within GCC's own macro for -O0 */
#endif
/* Tests probe after probe of 16 digests, fetching only for those that passed so
** far.  A fetch is of 4 bytes and may not leave the filter: near its end it is of
** the last four. */
TARGET_AVX512 static void avx512_may_contain(const bloom_filter *filter, const bloom_digest *digests,
                                             size_t num_digests, uint8_t *answers){
  const bloom_divisor divisor = bloom_divisor_of(filter->num_bits);
  const __m512i num_bits = _mm512_set1_epi32((int)divisor.num_bits);
  const __m512i reciprocal = _mm512_set1_epi32((int)divisor.reciprocal);
  /* num_bytes - 4, or fewer: num_bits is at most 2^32. */
  const __m512i last = _mm512_set1_epi32((int)(filter->num_bits/8 - 3));
  const __m512i one = _mm512_set1_epi32(1);
  size_t i;
  for(i=0; i<num_digests; i+=16){
    const size_t num_left = num_digests - i;
    const __mmask16 is_key = (__mmask16)(num_left<16 ? (1u << num_left) - 1 : 0xffff);
    const __m512i digest = _mm512_maskz_loadu_epi32(is_key, digests + i);
    const __m512i delta = _mm512_rol_epi32(digest, 15);
    __m512i probe = digest;
    __mmask16 may = is_key;
    uint32_t j;
    for(j=0; j<filter->num_probes; j++){
      const __m512i position = avx512_mod(probe, num_bits, reciprocal);
      const __m512i offset = _mm512_min_epu32(_mm512_srli_epi32(position, 3), last);
      const __m512i bits = _mm512_mask_i32gather_epi32(one, may, offset, filter->bytes, 1);
      const __m512i shift = _mm512_sub_epi32(position, _mm512_slli_epi32(offset, 3));
      may = _mm512_mask_test_epi32_mask(may, _mm512_srlv_epi32(bits, shift), one);
      probe = _mm512_add_epi32(probe, delta);
    }
    _mm_mask_storeu_epi8(answers + i, is_key, _mm_maskz_set1_epi8(may, 1));
  }
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* Up to 16 bytes of a key from an offset on, zeros behind its end. */
TARGET_AVX512 static inline __m128i avx512_load(const bloom_span *key, size_t offset){
  const size_t rest = key->num_bytes>offset ? key->num_bytes - offset : 0;
  if( rest>=16 ) return _mm_loadu_si128((const __m128i*)(const void*)(key->bytes + offset));
  return _mm_maskz_loadu_epi8((__mmask16)((1u << rest) - 1), rest ? key->bytes + offset : NULL);
}

/* The same bytes of keys 0, 4, 8 and 12 from here on, one in each quarter. */
TARGET_AVX512 static inline __m512i avx512_load4(const bloom_span *keys, size_t offset){
  __m512i x = _mm512_castsi128_si512(avx512_load(keys, offset));
  x = _mm512_inserti32x4(x, avx512_load(keys + 4, offset), 1);
  x = _mm512_inserti32x4(x, avx512_load(keys + 8, offset), 2);
  return _mm512_inserti32x4(x, avx512_load(keys + 12, offset), 3);
}

/* One step of the hash: a word, or a tail of 1..3 bytes with its other shift,
** in the lanes with bytes left. */
TARGET_AVX512 static inline __m512i avx512_hash_step(__m512i digest, __m512i word, __m512i rest){
  const __m512i zero = _mm512_setzero_si512();
  const __mmask16 is_active = _mm512_cmpgt_epi32_mask(rest, zero);
  const __mmask16 is_word = _mm512_cmpgt_epi32_mask(rest, _mm512_set1_epi32(3));
  const __m512i shift = _mm512_mask_blend_epi32(is_word, _mm512_set1_epi32(24), _mm512_set1_epi32(16));
  const __m512i product = _mm512_mullo_epi32(_mm512_add_epi32(digest, word),
                                             _mm512_set1_epi32((int)LEVELDB_HASH_MULTIPLIER));
  return _mm512_mask_xor_epi32(digest, is_active, product, _mm512_srlv_epi32(product, shift));
}

TARGET_AVX512 static void avx512_hash16(const bloom_span *keys, size_t max_bytes, __m512i num_bytes,
                                        bloom_digest *digests){
  const __m512i four = _mm512_set1_epi32(4);
  __m512i digest = _mm512_xor_si512(_mm512_set1_epi32((int)LEVELDB_HASH_SEED),
    _mm512_mullo_epi32(num_bytes, _mm512_set1_epi32((int)LEVELDB_HASH_MULTIPLIER)));
  __m512i rest = num_bytes;
  size_t offset;
  for(offset=0; offset<max_bytes; offset+=16){
    /* Transpose 16 keys of 4 words; lane 4q+r of each word is key 4q+r. */
    const __m512i k0 = avx512_load4(keys, offset), k1 = avx512_load4(keys + 1, offset);
    const __m512i k2 = avx512_load4(keys + 2, offset), k3 = avx512_load4(keys + 3, offset);
    const __m512i low01 = _mm512_unpacklo_epi32(k0, k1), low23 = _mm512_unpacklo_epi32(k2, k3);
    const __m512i high01 = _mm512_unpackhi_epi32(k0, k1), high23 = _mm512_unpackhi_epi32(k2, k3);
    digest = avx512_hash_step(digest, _mm512_unpacklo_epi64(low01, low23), rest);
    rest = _mm512_sub_epi32(rest, four);
    digest = avx512_hash_step(digest, _mm512_unpackhi_epi64(low01, low23), rest);
    rest = _mm512_sub_epi32(rest, four);
    digest = avx512_hash_step(digest, _mm512_unpacklo_epi64(high01, high23), rest);
    rest = _mm512_sub_epi32(rest, four);
    digest = avx512_hash_step(digest, _mm512_unpackhi_epi64(high01, high23), rest);
    rest = _mm512_sub_epi32(rest, four);
  }
  _mm512_storeu_si512(digests, digest);
}

/* Sixteen keys of up to 64 bytes together; longer ones alone. */
TARGET_AVX512 static void avx512_hash(const bloom_span *keys, size_t num_keys, bloom_digest *digests){
  for(; num_keys>=16; keys+=16, digests+=16, num_keys-=16){
    uint32_t num_bytes[16];
    size_t max_bytes = 0;
    size_t i;
    for(i=0; i<16; i++){
      if( keys[i].num_bytes>max_bytes ) max_bytes = keys[i].num_bytes;
      num_bytes[i] = (uint32_t)keys[i].num_bytes;
    }
    if( max_bytes<=64 ){
      avx512_hash16(keys, max_bytes, _mm512_loadu_si512(num_bytes), digests);
    }else{
      bloom_hash_each(keys, 16, digests);
    }
  }
  bloom_hash_each(keys, num_keys, digests);
}

const bloom_kernels bloom_kernels_avx512 = {
  .name = "avx512",
  .num_lanes = 16,
  .max_part_bytes = 8 << 20,
  .is_supported = avx512_is_supported,
  .hash = avx512_hash,
  .positions = avx512_positions,
  .positions_in = avx512_positions_in,
  .may_contain = avx512_may_contain,
};

#else
typedef int bloom_no_avx512; /* a translation unit must declare something */
#endif
