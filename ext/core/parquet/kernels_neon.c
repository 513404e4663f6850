/*
** The kernels for NEON, which every 64-bit Arm has: a block is two vectors.  Their bytes
** are loaded and stored in order, so that the words are right on either byte order.
*/
#include "kernels.h"

#if BLOOM_SIMD_NEON

#include <arm_neon.h>

/* The hash's bit in each of four words, first_word being 0 or 4. */
static inline uint8x16_t parquet_neon_mask(uint64_t hash, uint32_t first_word){
  const uint32x4_t salts = vld1q_u32(bloom_split_block_salts + first_word);
  const uint32x4_t bits = vshrq_n_u32(vmulq_n_u32(salts, (uint32_t)hash), 27);
  return vreinterpretq_u8_u32(vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(bits)));
}

static void parquet_neon_add(uint8_t *blocks, uint64_t num_blocks, const uint64_t *hashes,
                             size_t num_hashes){
  for(; num_hashes; hashes++, num_hashes--){
    uint8_t *block = blocks + bloom_split_block_number(*hashes, num_blocks)*BLOOM_SPLIT_BLOCK_BYTES;
    bloom_parquet_prefetch(blocks, num_blocks, hashes, num_hashes);
    vst1q_u8(block, vorrq_u8(vld1q_u8(block), parquet_neon_mask(*hashes, 0)));
    vst1q_u8(block + 16, vorrq_u8(vld1q_u8(block + 16), parquet_neon_mask(*hashes, 4)));
  }
}

static int parquet_neon_may_contain(const uint8_t *blocks, uint64_t num_blocks, uint64_t hash){
  const uint8_t *block = blocks + bloom_split_block_number(hash,
                                                           num_blocks)*BLOOM_SPLIT_BLOCK_BYTES;
  /* The bits of the mask that the block does not have. */
  const uint8x16_t low = vbicq_u8(parquet_neon_mask(hash, 0), vld1q_u8(block));
  const uint8x16_t high = vbicq_u8(parquet_neon_mask(hash, 4), vld1q_u8(block + 16));
  return vmaxvq_u32(vreinterpretq_u32_u8(vorrq_u8(low, high)))==0;
}

const bloom_parquet_kernels bloom_parquet_neon = {
  .name = "neon",
  .add = parquet_neon_add,
  .may_contain = parquet_neon_may_contain,
};

#endif
