/*
** The kernels in portable C: the reference, and the row of every processor
** that has no other.
*/
#include "kernels.h"

#include "hash.h"

static int scalar_is_supported(void){
  return 1;
}

void bloom_hash_each(const bloom_span *keys, size_t num_keys, bloom_digest *digests){
  size_t i;
  for(i=0; i<num_keys; i++) digests[i] = bloom_leveldb_hash(keys[i].bytes, keys[i].num_bytes);
}

/* Probe by probe: side by side, in arrays of lanes, gains nothing from SSE2,
** and such a loop is compiled wrongly by GCC 12.2 -O3. */
static void scalar_positions(bloom_divisor divisor, uint32_t first_probe, uint32_t num_probes,
                             const bloom_digest *digests, size_t num_digests, uint32_t *positions){
  const bloom_digest *end = digests + num_digests;
  for(; digests<end; digests++){
    const uint32_t delta = bloom_probe_delta(*digests);
    uint32_t probe = *digests + first_probe * delta;
    uint32_t j;
    for(j=0; j<num_probes; j++, probe+=delta) *positions++ = bloom_mod(probe, divisor);
  }
}

/* No branch depends on a position. */
static size_t scalar_positions_in(bloom_part part, bloom_divisor divisor, uint32_t num_probes,
                                  const bloom_digest *digests, size_t num_digests, uint32_t *positions){
  const bloom_digest *end = digests + num_digests;
  size_t num_in = 0;
  for(; digests<end; digests++){
    const uint32_t delta = bloom_probe_delta(*digests);
    uint32_t probe = *digests;
    uint32_t j;
    for(j=0; j<num_probes; j++, probe+=delta){
      positions[num_in] = bloom_mod(probe, divisor);
      num_in += bloom_is_in(positions[num_in], part);
    }
  }
  return num_in;
}

const bloom_kernels bloom_kernels_scalar = {
  .name = "scalar",
  .num_lanes = 1,
  .max_part_bytes = 16 << 20,
  .is_supported = scalar_is_supported,
  .hash = bloom_hash_each,
  .positions = scalar_positions,
  .positions_in = scalar_positions_in,
};
