/*
** BloomFiles; bloomfile.h has the layout and the rules.
*/
#include "bloomfile.h"

#include <string.h>

#include "../bits.h"
#include "../bytes.h"
#include "../debug.h"
#include "../decimal.h"
#include "../numeric.h"
#include "../xxh64.h"

/* Bytes of each unit that are ANDed at once, in registers and L1; a multiple of 8. */
#define BLOOMFILE_BLOCK_BYTES ((size_t)512)
#define BLOOMFILE_BLOCK_WORDS (BLOOMFILE_BLOCK_BYTES / 8)

/* Bytes of each unit, of which there may be 100, between looks for an interrupt. */
#define BLOOMFILE_STOP_BYTES (128*BLOOMFILE_BLOCK_BYTES)

static inline uint64_t bloomfile_delta(bloom_hash_value hash){
  return bloom_rotate_left64(hash, 31);
}

/* -- Shape -------------------------------------------------------------------- */

/* 257, 641, 65537 and 6700417 divide 2^64 - 1.  There the delta's rest follows from the
** hash's, so that keys of one rest pick nearly the same units: 3 times the false positives. */
static int bloomfile_is_good_prime(uint64_t number){
  uint64_t divisor;
  if( number%2==0 || UINT64_MAX%number==0 ) return 0;
  for(divisor=3; divisor<=number/divisor; divisor+=2){
    if( number%divisor==0 ) return 0;
  }
  return 1;
}

bloom_status bloom_bloomfile_shape(uint64_t num_sets, uint64_t num_keys, double bits_per_key,
                                   size_t max_bytes, bloom_shape *shape){
  const double wanted_units = (double)num_keys * bits_per_key;
  const uint64_t unit_bytes = bloom_bloomfile_bytes_for_sets(num_sets);
  uint64_t num_units = BLOOM_BLOOMFILE_MIN_UNITS;
  uint64_t max_units;
  if( max_bytes<BLOOM_BLOOMFILE_HEADER_BYTES ) return BLOOM_TOO_BIG;
  max_units = (max_bytes - BLOOM_BLOOMFILE_HEADER_BYTES) / unit_bytes;
  /* Checked before the search for a prime, which takes long only for large numbers. */
  if( num_units>max_units || wanted_units>(double)max_units ) return BLOOM_TOO_BIG;
  if( wanted_units>(double)num_units ){
    num_units = (uint64_t)wanted_units;
    if( (double)num_units<wanted_units ) num_units++;
    while( !bloomfile_is_good_prime(num_units) ) num_units++;
    if( num_units>max_units ) return BLOOM_TOO_BIG;
  }
  *shape = (bloom_shape){
    .num_bytes = BLOOM_BLOOMFILE_HEADER_BYTES + (size_t)(num_units * unit_bytes),
    .num_bits = num_units * unit_bytes * 8,
    .num_slots = num_units,
    .num_probes = bloom_num_probes(bits_per_key),
  };
  return BLOOM_OK;
}

bloom_shape bloom_bloomfile_with_unit_bytes(const bloom_shape *shape, size_t unit_bytes){
  bloom_shape other = *shape;
  other.num_bits = shape->num_slots * unit_bytes * 8;
  other.num_bytes = BLOOM_BLOOMFILE_HEADER_BYTES + (size_t)(other.num_bits / 8);
  return other;
}

/* -- Writing ------------------------------------------------------------------ */

static void bloomfile_write_header(const bloom_shape *shape, uint8_t *file){
  bloom_store32_le(file, BLOOM_BLOOMFILE_TAG);
  bloom_store32_le(file + 4, BLOOM_BLOOMFILE_VERSION);
  bloom_store64_le(file + 8, shape->num_slots);
  bloom_store32_le(file + 16, shape->num_probes);
  bloom_store32_le(file + 20, (uint32_t)bloom_bloomfile_unit_bytes(shape));
  bloom_store64_le(file + 24, 0);
}

void bloom_bloomfile_clear(const bloom_shape *shape, uint8_t *file){
  assert( shape->num_bytes==BLOOM_BLOOMFILE_HEADER_BYTES + shape->num_bits/8 );
  bloomfile_write_header(shape, file);
  memset(file + BLOOM_BLOOMFILE_HEADER_BYTES, 0, shape->num_bytes - BLOOM_BLOOMFILE_HEADER_BYTES);
}

void bloom_bloomfile_copy_units(const bloom_shape *from, const uint8_t *from_file,
                                const bloom_shape *to, uint8_t *to_file){
  const size_t from_bytes = bloom_bloomfile_unit_bytes(from),
      to_bytes = bloom_bloomfile_unit_bytes(to);
  const size_t num_copied = from_bytes<to_bytes ? from_bytes : to_bytes;
  const uint8_t *from_unit = from_file + BLOOM_BLOOMFILE_HEADER_BYTES;
  uint8_t *to_unit = to_file + BLOOM_BLOOMFILE_HEADER_BYTES;
  uint64_t i;
  assert( from->num_slots==to->num_slots && from->num_probes==to->num_probes );
  for(i=0; i<to->num_slots; i++, from_unit+=from_bytes, to_unit+=to_bytes){
    memmove(to_unit, from_unit, num_copied);
    memset(to_unit + num_copied, 0, to_bytes - num_copied);
  }
  bloomfile_write_header(to, to_file);
}

void bloom_bloomfile_add(const bloom_shape *shape, uint8_t *file, const bloom_hash_run *hashes,
                         const bloom_hash_run *sets){
  const size_t unit_bytes = bloom_bloomfile_unit_bytes(shape);
  const uint64_t num_units = shape->num_slots;
  uint8_t *units = file + BLOOM_BLOOMFILE_HEADER_BYTES;
  for(; hashes; hashes=hashes->next, sets=sets->next){
    const bloom_hash_value *hash = hashes->hashes;
    const uint32_t *set = sets->hashes;
    size_t i;
    for(i=0; i<hashes->num_hashes; i++){
      const uint64_t delta = bloomfile_delta(hash[i]);
      uint64_t probe = hash[i];
      uint32_t j;
      assert( set[i]/8<unit_bytes );
      for(j=0; j<shape->num_probes; j++, probe+=delta){
        units[(size_t)(probe % num_units) * unit_bytes + set[i]/8] |= (uint8_t)(1u << set[i]%8);
      }
    }
  }
}

/* -- Reading ------------------------------------------------------------------ */

static int bloomfile_has_header(const uint8_t *bytes, size_t num_bytes){
  return num_bytes>=BLOOM_BLOOMFILE_HEADER_BYTES
      && bloom_load32_le(bytes)==BLOOM_BLOOMFILE_TAG
      && bloom_load32_le(bytes + 4)==BLOOM_BLOOMFILE_VERSION
      && bloom_load64_le(bytes + 24)==0;
}

static int bloomfile_read(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter){
  uint32_t num_probes, unit_bytes;
  size_t num_unit_bytes; /* of all units */
  if( num_bytes<=BLOOM_BLOOMFILE_HEADER_BYTES || !bloomfile_has_header(bytes, num_bytes) ) return 0;
  num_probes = bloom_load32_le(bytes + 16);
  unit_bytes = bloom_load32_le(bytes + 20);
  num_unit_bytes = num_bytes - BLOOM_BLOOMFILE_HEADER_BYTES;
  if( num_probes==0 || num_probes>BLOOM_BLOOMFILE_MAX_PROBES || unit_bytes==0 ) return 0;
  if( num_unit_bytes%unit_bytes!=0 || bloom_load64_le(bytes + 8)!=num_unit_bytes/unit_bytes ){
    return 0;
  }
  *filter = (bloom_filter){
    .encoding = &bloom_encoding_bloomfile,
    .bytes = bytes,
    .bits = bytes + BLOOM_BLOOMFILE_HEADER_BYTES,
    .shape = {
      .num_bytes = num_bytes,
      .num_bits = (uint64_t)num_unit_bytes * 8,
      .num_slots = num_unit_bytes / unit_bytes,
      .num_probes = num_probes,
    },
  };
  return 1;
}

/* -- Testing ------------------------------------------------------------------ */

static bloom_hash_value bloomfile_hash_int64(int64_t key){
  uint8_t text[BLOOM_DECIMAL_MAX_BYTES];
  return bloom_xxh64(text, bloom_decimal(key, text));
}

/* Writes the addresses of the units that a hash's probes pick to units[0 .. num_probes), or,
** where there are fewer units than probes, of each of those once.  Returns how many. */
static uint32_t bloomfile_pick(const bloom_filter *file, bloom_hash_value hash,
                               const uint8_t **units){
  const size_t unit_bytes = bloom_bloomfile_unit_bytes(&file->shape);
  const uint64_t num_units = file->shape.num_slots;
  const uint64_t delta = bloomfile_delta(hash);
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
static inline uint64_t bloomfile_load_rest(const uint8_t *bytes, size_t num_bytes){
  uint64_t word = 0;
  if( num_bytes==4 ) memcpy(&word, bytes, 4);
  else memcpy(&word, bytes, num_bytes);
  return word;
}

/* Writes the AND of the same 1 .. BLOOMFILE_BLOCK_BYTES bytes of all units to
** words[], bytes in the order of a unit, with 0 after the last.  Returns 1; or 0, with
** words[] undefined, as soon as no bit is left.  Compilers turn the loop over words into
** vector code. */
static inline int bloomfile_and(const uint8_t *const *units, uint32_t num_units, size_t offset,
                                size_t num_bytes, uint64_t words[BLOOMFILE_BLOCK_WORDS]){
  const size_t num_words = num_bytes / 8, num_rest = num_bytes % 8;
  uint32_t i;
  assert( num_bytes>0 && num_bytes<=BLOOMFILE_BLOCK_BYTES );
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
      left |= words[num_words] &= bloomfile_load_rest(unit + 8*num_words, num_rest);
    }
    if( left==0 ) return 0;
  }
  return 1;
}

int bloom_bloomfile_sets(const bloom_filter *file, bloom_hash_value hash, uint8_t *mask,
                         uint64_t *num_sets){
  const uint8_t *units[BLOOM_BLOOMFILE_MAX_PROBES];
  const uint32_t num_picked = bloomfile_pick(file, hash, units);
  const size_t unit_bytes = bloom_bloomfile_unit_bytes(&file->shape);
  uint64_t words[BLOOMFILE_BLOCK_WORDS];
  int is_any = 0;
  size_t offset;
  for(offset=0; offset<unit_bytes; offset+=BLOOMFILE_BLOCK_BYTES){
    const size_t num_left = unit_bytes - offset;
    const size_t num_bytes = num_left<BLOOMFILE_BLOCK_BYTES ? num_left : BLOOMFILE_BLOCK_BYTES;
    if( offset && offset%BLOOMFILE_STOP_BYTES==0 && bloom_is_stopped(file) ) return -1;
    if( bloomfile_and(units, num_picked, offset, num_bytes, words) ){
      if( mask==NULL && num_sets==NULL ) return 1;
      if( mask ) memcpy(mask + offset, words, num_bytes);
      if( num_sets ) *num_sets += bloom_count_bits((uint8_t *)words, (num_bytes + 7) / 8 * 8);
      is_any = 1;
    }else if( mask ){
      memset(mask + offset, 0, num_bytes);
    }
  }
  return is_any;
}

static int bloomfile_may_contain(const bloom_filter *file, bloom_hash_value hash){
  return bloom_bloomfile_sets(file, hash, NULL, NULL);
}

static int bloomfile_may_contain_int64(const bloom_filter *file, int64_t key){
  return bloomfile_may_contain(file, bloomfile_hash_int64(key));
}

static int bloomfile_may_contain_bytes(const bloom_filter *file, const uint8_t *key,
                                       size_t num_bytes){
  return bloomfile_may_contain(file, bloom_xxh64(key, num_bytes));
}

const bloom_encoding bloom_encoding_bloomfile = {
  .name = "bloomfile",
  .hash_value_bytes = 8,
  .hash_int64 = bloomfile_hash_int64,
  .hash_bytes = bloom_xxh64,
  .may_contain = bloomfile_may_contain,
  .may_contain_int64 = bloomfile_may_contain_int64,
  .may_contain_bytes = bloomfile_may_contain_bytes,
  .min_bits_per_key_x10 = bloom_bloomfile_min_bits_per_key_x10,
  .why_no_writer = "of many sets: bloom_build_sets() makes it, with each key's set",
  .magic = BLOOM_BLOOMFILE_TAG & 0xff,
  .read = bloomfile_read,
  .has_header = bloomfile_has_header,
  .describe = bloom_bloomfile_describe,
  .measured_fpr = bloom_bloomfile_measured_fpr,
  .num_tried = bloom_bloomfile_num_tried,
};
