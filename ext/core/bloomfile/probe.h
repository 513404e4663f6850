/*
** Hash -> units, and the AND of units: what probing and measuring share.
*/
#ifndef BLOOM_CORE_BLOOMFILE_PROBE_H
#define BLOOM_CORE_BLOOMFILE_PROBE_H

#include <string.h>

#include "../debug.h"
#include "../filter.h"
#include "../numeric.h"

#define BLOOM_BLOOMFILE_MAX_PROBES 100

/* A prime, as the number of units of every file that is built.  With fewer units, all
** probes of a key would pick one and the same unit too often. */
#define BLOOM_BLOOMFILE_MIN_UNITS 191

/* Bytes of each unit that are ANDed at once, in registers and L1; a multiple of 8. */
#define BLOOM_BLOOMFILE_BLOCK_BYTES ((size_t)512)
#define BLOOM_BLOOMFILE_BLOCK_WORDS (BLOOM_BLOOMFILE_BLOCK_BYTES / 8)

/* The bytes of each unit, from the shape of a file. */
static inline size_t bloom_bloomfile_unit_bytes(const bloom_shape *shape){
  return (size_t)(shape->num_bits / 8 / shape->num_slots);
}

static inline uint64_t bloom_bloomfile_delta(bloom_hash_value hash){
  return bloom_rotate_left64(hash, 31);
}

/* Writes the addresses of the units that a hash's probes pick to units[0 .. num_probes), or,
** where there are fewer units than probes, of each of those once.  Returns how many. */
static inline uint32_t bloom_bloomfile_pick(const bloom_filter *file, bloom_hash_value hash,
                                            const uint8_t **units){
  const size_t unit_bytes = bloom_bloomfile_unit_bytes(&file->shape);
  const uint64_t num_units = file->shape.num_slots;
  const uint64_t delta = bloom_bloomfile_delta(hash);
  const uint32_t num_probes = file->shape.num_probes;
  uint32_t i;
  assert( num_units>0 && num_probes<=BLOOM_BLOOMFILE_MAX_PROBES );
  if( num_units<num_probes ){
    uint8_t is_picked[BLOOM_BLOOMFILE_MAX_PROBES] = {0};
    uint32_t num_picked = 0;
    for(i=0; i<num_probes; i++, hash+=delta){
      const size_t unit = (size_t)(hash % num_units);
      if( is_picked[unit] ) continue;
      is_picked[unit] = 1;
      units[num_picked++] = file->bits + unit * unit_bytes;
    }
    return num_picked;
  }
  for(i=0; i<num_probes; i++, hash+=delta){
    units[i] = file->bits + (size_t)(hash % num_units) * unit_bytes;
  }
  return num_probes;
}

/* Fewer than 8 bytes as a word.  A length known to be 4, as in narrow files, is one load. */
static inline uint64_t bloom_bloomfile_load_rest(const uint8_t *bytes, size_t num_bytes){
  uint64_t word = 0;
  if( num_bytes==4 ) memcpy(&word, bytes, 4);
  else memcpy(&word, bytes, num_bytes);
  return word;
}

/* Writes the AND of the same 1 .. BLOOM_BLOOMFILE_BLOCK_BYTES bytes of all units to
** words[], bytes in the order of a unit, with 0 after the last.  Returns 1; or 0, with
** words[] undefined, as soon as no bit is left.  Compilers turn the loop over words into
** vector code. */
static inline int bloom_bloomfile_and(const uint8_t *const *units, uint32_t num_units,
                                      size_t offset,
                                      size_t num_bytes,
                                      uint64_t words[BLOOM_BLOOMFILE_BLOCK_WORDS]){
  const size_t num_words = num_bytes / 8, num_rest = num_bytes % 8;
  uint32_t i;
  assert( num_bytes>0 && num_bytes<=BLOOM_BLOOMFILE_BLOCK_BYTES );
  memset(words, 0xff, 8*(num_words + (num_rest>0)));
  for(i=0; i<num_units; i++){
    const uint8_t *unit = units[i] + offset;
    uint64_t left = 0;
    size_t j;
    for(j=0; j<num_words; j++){
      uint64_t word;
      memcpy(&word, unit + 8*j, 8);
      words[j] &= word;
      left |= words[j];
    }
    if( num_rest ){
      left |= words[num_words] &= bloom_bloomfile_load_rest(unit + 8*num_words, num_rest);
    }
    if( left==0 ) return 0;
  }
  return 1;
}

#endif
