/*
** LevelDB's filter; encoding_leveldb.h has the layout.
*/
#include "encoding_leveldb.h"

#include <string.h>

/* Double hashing: one digest drives every probe [Kirsch, Mitzenmacher 2006]. */
static inline uint32_t probe_delta(bloom_digest digest){
  return digest >> 17 | digest << 15;
}

uint32_t bloom_leveldb_num_probes(double bits_per_key){
  double num_probes = bits_per_key * 0.69;
  if( num_probes<1 ) return 1;
  if( num_probes>BLOOM_LEVELDB_MAX_PROBES ) return BLOOM_LEVELDB_MAX_PROBES;
  return (uint32_t)num_probes;
}

bloom_status bloom_leveldb_shape(uint64_t num_keys, double bits_per_key, bloom_shape *shape){
  const double wanted_bits = (double)num_keys * bits_per_key;
  uint64_t num_bits, num_bit_bytes;
  if( wanted_bits>=0x1p63 ) return BLOOM_TOO_BIG;
  num_bits = (uint64_t)wanted_bits;
  if( (double)num_bits<wanted_bits ) num_bits++;
  if( num_bits<BLOOM_LEVELDB_MIN_BITS ) num_bits = BLOOM_LEVELDB_MIN_BITS;
  num_bit_bytes = (num_bits + 7) / 8;
  if( num_bit_bytes>=SIZE_MAX ) return BLOOM_TOO_BIG;
  *shape = (bloom_shape){
    .num_bytes = (size_t)num_bit_bytes + 1,
    .num_bits = num_bit_bytes * 8,
    .num_probes = bloom_leveldb_num_probes(bits_per_key),
  };
  return BLOOM_OK;
}

void bloom_leveldb_clear(const bloom_shape *shape, uint8_t *filter){
  memset(filter, 0, shape->num_bytes - 1);
  filter[shape->num_bytes - 1] = (uint8_t)shape->num_probes;
}

/* The position of a probe.  From 2^32 bits on, no reduction is left to do. */
static inline size_t probe_position(uint32_t probe, uint64_t num_bits){
  return num_bits>UINT32_MAX ? probe : probe % (uint32_t)num_bits;
}

void bloom_leveldb_add(const bloom_shape *shape, uint8_t *filter, const bloom_digest_run *runs){
  for(; runs; runs=runs->next){
    size_t i;
    for(i=0; i<runs->num_digests; i++){
      uint32_t probe = runs->digests[i];
      uint32_t delta = probe_delta(probe);
      uint32_t j;
      for(j=0; j<shape->num_probes; j++, probe+=delta){
        size_t position = probe_position(probe, shape->num_bits);
        filter[position/8] |= (uint8_t)(1u << (position%8));
      }
    }
  }
}

void bloom_leveldb_merge(const bloom_shape *shape, uint8_t *filter, const uint8_t *other){
  size_t i;
  for(i=0; i<shape->num_bytes-1; i++) filter[i] |= other[i];
}

static int leveldb_read(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter){
  uint32_t num_probes = num_bytes ? bytes[num_bytes-1] : 0;
  bloom_reading reading;
  if( num_bytes<2 ){
    /* LevelDB looks at the length before the probe byte. */
    reading = BLOOM_READ_EMPTY;
    num_probes = 0;
  }else if( num_probes>BLOOM_LEVELDB_MAX_PROBES ){
    return 0;
  }else{
    reading = num_probes ? BLOOM_READ_BITS : BLOOM_READ_NO_PROBES;
  }
  *filter = (bloom_filter){
    .encoding = &bloom_encoding_leveldb,
    .bytes = bytes,
    .num_bytes = num_bytes,
    .num_bits = num_bytes ? (uint64_t)(num_bytes-1) * 8 : 0,
    .num_probes = num_probes,
    .reading = reading,
  };
  return 1;
}

/* Probes tested per branch.  Where the answer comes is random: a mispredicted
** branch costs more than probes tested for nothing. */
#define PROBES_PER_BRANCH 6

static int leveldb_may_contain(const bloom_filter *filter, bloom_digest digest){
  uint32_t probe = digest;
  uint32_t delta = probe_delta(digest);
  uint32_t num_left = filter->num_probes;
  unsigned accepted = 1;
  if( filter->num_bits==0 ) return 0;
  while( num_left && (accepted & 1) ){
    uint32_t num_now = num_left<PROBES_PER_BRANCH ? num_left : PROBES_PER_BRANCH;
    num_left -= num_now;
    for(; num_now; num_now--, probe+=delta){
      size_t position = probe_position(probe, filter->num_bits);
      accepted &= (unsigned)filter->bytes[position/8] >> (position%8);
    }
  }
  return (int)(accepted & 1);
}

const bloom_encoding bloom_encoding_leveldb = {
  .name = "leveldb",
  .read = leveldb_read,
  .may_contain = leveldb_may_contain,
};
