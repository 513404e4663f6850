/*
** The kernels for NEON, which every 64-bit Arm has: 4 lanes.
*/
#include "kernels.h"

#if BLOOM_SIMD_NEON

#include <arm_neon.h>

/* bloom_leveldb_mod() */
static inline uint32x4_t neon_mod(uint32x4_t x, uint32x4_t num_bits, uint32x4_t reciprocal){
  const uint64x2_t low = vmull_u32(vget_low_u32(x), vget_low_u32(reciprocal));
  const uint64x2_t high = vmull_high_u32(x, reciprocal);
  const uint32x4_t quotient = vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
  const uint32x4_t rest = vmlsq_u32(x, quotient, num_bits);
  return vminq_u32(rest, vsubq_u32(rest, num_bits));
}

/* Computes all positions, then sifts them in place: no branch depends on a position. */
static size_t neon_positions(const bloom_leveldb_part *part, bloom_leveldb_divisor divisor,
                             uint32_t num_probes,
                             const uint32_t *hashes, size_t num_hashes, uint32_t *positions){
  const uint32x4_t num_bits = vdupq_n_u32(divisor.num_bits);
  const uint32x4_t reciprocal = vdupq_n_u32(divisor.reciprocal);
  const uint32_t *end = hashes + num_hashes;
  const size_t num_positions = num_hashes * num_probes;
  uint32_t *next = positions;
  size_t num_in = 0, i;
  for(; hashes<end; hashes+=4){
    const uint32x4_t hash = vld1q_u32(hashes);
    const uint32x4_t delta = vsriq_n_u32(vshlq_n_u32(hash, 15), hash, 17);
    uint32x4_t probe = hash;
    uint32_t j;
    for(j=0; j<num_probes; j++, next+=4){
      vst1q_u32(next, neon_mod(probe, num_bits, reciprocal));
      probe = vaddq_u32(probe, delta);
    }
  }
  if( part==NULL ) return num_positions;
  for(i=0; i<num_positions; i++){
    const uint32_t position = positions[i];
    positions[num_in] = position;
    num_in += bloom_leveldb_is_in(position, *part);
  }
  return num_in;
}

const bloom_leveldb_kernels bloom_leveldb_kernels_neon = {
  .name = "neon",
  .max_part_bytes = 16 << 20,
  .positions = neon_positions,
};

#endif
