/*
** LevelDB's filter; leveldb.h has the layout and the rules.
*/
#include "leveldb.h"

#include <string.h>

#include "../debug.h"

/* The number of hashes in a batch: so many that a call of the kernel is cheap, so few that the
** processor begins a batch while it still sets the bits of the last one. */
#define LEVELDB_ADD_HASHES ((size_t)32)

/* Filters of fewer bytes stay in a cache: to fetch their lines ahead gains nothing. */
#define LEVELDB_CACHE_BYTES ((size_t)1 << 22)

void bloom_leveldb_clear(const bloom_shape *shape, uint8_t *filter){
  assert( shape->num_bytes>=BLOOM_LEVELDB_MIN_BYTES );
  assert( shape->num_bits==8*((uint64_t)shape->num_bytes - 1) );
  assert( shape->num_probes<=BLOOM_LEVELDB_MAX_PROBES );
  memset(filter, 0, shape->num_bytes - 1);
  filter[shape->num_bytes - 1] = (uint8_t)shape->num_probes;
}

/* Sets the bits of all hashes.  The cache lines of a batch are fetched together, so that in a large
** filter the processor waits for many at once. */
void bloom_leveldb_add_by(const bloom_leveldb_kernels *kernels, const bloom_shape *shape,
                          uint8_t *filter, const bloom_hash_run *runs){
  const bloom_leveldb_divisor divisor = bloom_leveldb_divisor_of(shape->num_slots);
  uint32_t positions[LEVELDB_ADD_HASHES * BLOOM_LEVELDB_MAX_PROBES];
  const uint32_t num_probes = shape->num_probes;
  assert( num_probes>0 && num_probes<=BLOOM_LEVELDB_MAX_PROBES );
  for(; runs; runs=runs->next){
    size_t begin, num_hashes;
    for(begin=0; begin<runs->num_hashes; begin+=num_hashes){
      const size_t num_left = runs->num_hashes - begin;
      size_t num_positions, i;
      num_hashes = num_left<LEVELDB_ADD_HASHES ? num_left : LEVELDB_ADD_HASHES;
      num_positions = num_hashes * num_probes;
      kernels->positions(divisor, num_probes, (const uint32_t *)runs->hashes + begin, num_hashes,
                         positions);
#if defined(__GNUC__)
      for(i=0; shape->num_bytes>LEVELDB_CACHE_BYTES && i<num_positions; i++){
        __builtin_prefetch(filter + positions[i]/8, 1);
      }
#endif
      for(i=0; i<num_positions; i++) filter[positions[i]/8] |= (uint8_t)(1u << positions[i]%8);
    }
  }
}

void bloom_leveldb_add(const bloom_shape *shape, uint8_t *filter, const bloom_hash_run *runs){
  bloom_leveldb_add_by(&bloom_leveldb_all_kernels[BLOOM_FIRST_KERNELS], shape, filter, runs);
#ifndef NDEBUG
  for(; runs; runs=runs->next){
    const uint32_t *hashes = runs->hashes;
    bloom_filter added;
    bloom_encoding_leveldb.read(filter, shape->num_bytes, &added);
    if( runs->num_hashes==0 ) continue;
    assert( bloom_encoding_leveldb.may_contain(&added, hashes[0]) );
    assert( bloom_encoding_leveldb.may_contain(&added, hashes[runs->num_hashes-1]) );
  }
#endif
}

static int leveldb_read(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter){
  assert( bytes || num_bytes==0 );
  *filter = (bloom_filter){
    .encoding = &bloom_encoding_leveldb,
    .bytes = bytes,
    .bits = bytes,
    .shape.num_bytes = num_bytes,
  };
  if( num_bytes>=BLOOM_LEVELDB_MIN_BYTES ){
    filter->shape.num_bits = (uint64_t)(num_bytes-1) * 8;
    filter->shape.num_slots = bloom_leveldb_reached_bits(filter->shape.num_bits);
    filter->reciprocal = UINT64_MAX / filter->shape.num_slots + 1;
    if( bytes[num_bytes-1]<=BLOOM_LEVELDB_MAX_PROBES ){
      filter->shape.num_probes = bytes[num_bytes-1];
    }
  }
  return 1;
}

/*
** Returns probe mod num_bits, for one key.  bloom_leveldb_mod() would take 2 to 4 ns a row more,
** but vector code cannot use this way: it has no product of 64 bits.  With reciprocal =
** floor((2^64 - 1) / num_bits) + 1 the low half of probe * reciprocal is the quotient's fraction,
** and the fraction times num_bits is the remainder: exact for every probe and num_bits up to 2^32
** [Lemire, Kaser, Kurz 2019, "Faster remainder by direct computation"].
*/
static inline uint32_t remainder_of(uint32_t probe, uint64_t reciprocal, uint64_t num_bits){
  const uint64_t fraction = probe * reciprocal;
#if defined(__SIZEOF_INT128__)
  __extension__ typedef unsigned __int128 uint128;
  return (uint32_t)((uint128)fraction * num_bits >> 64);
#else
  return (uint32_t)(((fraction >> 32) * num_bits
                     + ((fraction & UINT32_MAX) * num_bits >> 32)) >> 32);
#endif
}

/* Probes are tested by eight before a branch: which probe decides is random, and a mispredicted
** branch costs more than some needless probes. */
static int leveldb_may_contain(const bloom_filter *filter, bloom_hash_value hash){
  const uint64_t num_bits = filter->shape.num_slots;
  const uint32_t delta = bloom_leveldb_delta((uint32_t)hash);
  uint32_t probe = (uint32_t)hash, is_set = num_bits>0, j;
  for(j=0; j<filter->shape.num_probes; j++, probe+=delta){
    const uint32_t position = remainder_of(probe, filter->reciprocal, num_bits);
    assert( position<num_bits );
    if( j%8==0 && !is_set ) return 0;
    is_set &= (uint32_t)filter->bits[position/8] >> position%8;
  }
  return (int)is_set;
}

static bloom_hash_value leveldb_hash_bytes(const uint8_t *key, size_t num_bytes){
  return bloom_leveldb_hash(key, num_bytes);
}

static int leveldb_is_reserved(const bloom_filter *filter){
  return filter->shape.num_slots>0
      && filter->bytes[filter->shape.num_bytes-1]>BLOOM_LEVELDB_MAX_PROBES;
}

static const char *leveldb_readonly_reason(const bloom_filter *filter){
  if( filter->shape.num_slots==0 ) return "too short: a filter has at least 2 bytes";
  if( leveldb_is_reserved(filter) ) return "of a reserved encoding: its last byte is over 30";
  return filter->shape.num_probes==0 ? "without probes: its last byte is 0" : NULL;
}

static void leveldb_describe(const bloom_filter *filter, int count_bits, bloom_facts *facts){
  const bloom_shape *shape = &filter->shape;
  const uint64_t num_bits = shape->num_slots;
  uint64_t bits_set;
  *facts = bloom_no_facts;
  if( leveldb_is_reserved(filter) ){
    facts->expected_fpr = 1;
    facts->note = "reserved encoding: its last byte is over 30, so it may contain every key";
    return;
  }
  facts->encoding = bloom_encoding_leveldb.name;
  facts->num_bits = (int64_t)num_bits;
  if( num_bits==0 ){
    facts->bits_set = 0;
    facts->expected_fpr = 0;
    facts->note = "too short: a filter has at least 2 bytes; this one contains nothing";
    return;
  }
  facts->num_probes = shape->num_probes;
  if( shape->num_probes==0 ){
    facts->note = "no probes: its last byte is 0, so it may contain every key";
  }
  if( !count_bits || !bloom_count_filter_bits(filter, (size_t)(num_bits / 8), &bits_set) ) return;
  facts->bits_set = (int64_t)bits_set;
  facts->fill_ratio = (double)bits_set / (double)num_bits;
  facts->expected_fpr = 1;
  /* The fill of a filter without probes, or of a full one, says nothing about its keys. */
  if( shape->num_probes==0 ) return;
  if( bits_set==num_bits ){
    facts->note = "saturated: every bit is set, so it may contain every key";
    return;
  }
  facts->estimated_keys = bloom_modelled_keys(shape, bits_set);
  facts->expected_fpr = bloom_modelled_fpr(shape, facts->estimated_keys);
  if( shape->num_bits>num_bits ){
    facts->note = "too long: probes reach only its first 2^32 bits";
  }else if( facts->fill_ratio>BLOOM_NEARLY_SATURATED ){ /* as sized it is at most 0.64 */
    facts->note = "nearly saturated: over 3/4 of its bits are set; rebuild it for more keys";
  }
}

const bloom_encoding bloom_encoding_leveldb = {
  .name = "leveldb",
  .hash_value_bytes = 4,
  .hash_int64 = bloom_leveldb_hash_int64,
  .hash_bytes = leveldb_hash_bytes,
  .may_contain = leveldb_may_contain,
  .shape = bloom_leveldb_shape,
  .clear = bloom_leveldb_clear,
  .add = bloom_leveldb_add,
  .min_bits_per_key_x10 = bloom_min_bits_per_key_x10,
  .magic = BLOOM_NO_MAGIC,
  .read = leveldb_read,
  .readonly_reason = leveldb_readonly_reason,
  .describe = leveldb_describe,
};
