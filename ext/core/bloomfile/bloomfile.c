/*
** BloomFiles; bloomfile.h has the layout and the rules.
*/
#include "bloomfile.h"

#include <string.h>

#include "../bytes.h"
#include "../debug.h"
#include "../numeric.h"
#include "../hash.h"

/* Bytes of each unit that are ANDed at once, in registers and L1; a multiple of 8. */
#define BLOOMFILE_BLOCK_BYTES ((size_t)512)
#define BLOOMFILE_BLOCK_WORDS (BLOOMFILE_BLOCK_BYTES / 8)

/* A look-up, which reads up to 100 units, looks for an interrupt after so many bytes of each. */
#define BLOOMFILE_STOP_BYTES (128*BLOOMFILE_BLOCK_BYTES)

/* -- Shape ----------------------------------------------------------------------------------- */

/* Returns 1 if a number is a prime other than 257, 641, 65537 and 6700417, which divide 2^64 - 1:
** keys whose hashes are equal modulo one of these would pick nearly the same units, for 3 times the
** false positives. */
static int bloomfile_is_good_prime(uint64_t number){
  uint64_t divisor;
  assert( number>1 );
  if( number%2==0 || UINT64_MAX%number==0 ) return 0;
  for(divisor=3; divisor<=number/divisor; divisor+=2){
    if( number%divisor==0 ) return 0;
  }
  return 1;
}

bloom_shape bloom_bloomfile_with_unit_bytes(const bloom_shape *shape, size_t unit_bytes){
  bloom_shape other = *shape;
  assert( unit_bytes>0 && shape->num_slots<=SIZE_MAX / unit_bytes );
  other.num_bits = shape->num_slots * unit_bytes * 8;
  other.num_bytes = BLOOM_BLOOMFILE_HEADER_BYTES + (size_t)(other.num_bits / 8);
  assert( bloom_bloomfile_unit_bytes(&other)==unit_bytes );
  return other;
}

bloom_status bloom_bloomfile_shape(uint64_t num_sets, uint64_t num_keys, double bits_per_key,
                                   size_t max_bytes, bloom_shape *shape){
  const double wanted_units = (double)num_keys * bits_per_key;
  const uint64_t unit_bytes = bloom_bloomfile_bytes_for_sets(num_sets);
  uint64_t num_units = BLOOM_BLOOMFILE_MIN_UNITS;
  uint64_t max_units;
  assert( bits_per_key>0 );
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
  *shape = (bloom_shape){.num_slots = num_units, .num_probes = bloom_num_probes(bits_per_key)};
  *shape = bloom_bloomfile_with_unit_bytes(shape, (size_t)unit_bytes);
  assert( shape->num_bytes<=max_bytes && (double)shape->num_slots>=wanted_units );
  return BLOOM_OK;
}

/* -- Writing --------------------------------------------------------------------------------- */

static void bloomfile_write_header(const bloom_shape *shape, uint8_t *file){
  assert( shape->num_probes>0 && shape->num_probes<=BLOOM_BLOOMFILE_MAX_PROBES );
  assert( bloom_bloomfile_unit_bytes(shape)<=UINT32_MAX );
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
  const size_t from_bytes = bloom_bloomfile_unit_bytes(from);
  const size_t to_bytes = bloom_bloomfile_unit_bytes(to);
  const size_t num_copied = from_bytes<to_bytes ? from_bytes : to_bytes;
  const uint8_t *from_unit = from_file + BLOOM_BLOOMFILE_HEADER_BYTES;
  uint8_t *to_unit = to_file + BLOOM_BLOOMFILE_HEADER_BYTES;
  uint64_t i;
  assert( from->num_slots==to->num_slots && from->num_probes==to->num_probes );
  assert( from_file!=to_file || to_bytes<=from_bytes );
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
    assert( sets->num_hashes==hashes->num_hashes );
    for(i=0; i<hashes->num_hashes; i++){
      const uint64_t delta = bloom_rotate_left64(hash[i], 31);
      uint64_t probe = hash[i];
      uint32_t j;
      assert( set[i]/8<unit_bytes );
      for(j=0; j<shape->num_probes; j++, probe+=delta){
        units[(size_t)(probe % num_units) * unit_bytes + set[i]/8] |= (uint8_t)(1u << set[i]%8);
      }
    }
  }
}

/* -- Reading --------------------------------------------------------------------------------- */

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

/* -- Testing --------------------------------------------------------------------------------- */

static bloom_hash_value bloomfile_hash_int64(int64_t key){
  uint8_t room[BLOOM_DECIMAL_MAX_BYTES];
  size_t num_bytes;
  const uint8_t *text = bloom_decimal(key, room, &num_bytes);
  return bloom_xxh64(text, num_bytes);
}

/* Writes the AND of num_bytes bytes of all units, from offset on, to words[], in the order of a
** unit, with 0 after the last byte.  Returns 1; or, as soon as no bit is left, 0, with words[]
** undefined. num_bytes is 1 .. BLOOMFILE_BLOCK_BYTES.  Compilers turn the loop over words into
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
      uint64_t word = 0;
      if( num_rest==4 ) memcpy(&word, unit + 8*num_words, 4); /* of narrow files: one load */
      else memcpy(&word, unit + 8*num_words, num_rest);
      left |= words[num_words] &= word;
    }
    if( left==0 ) return 0;
  }
  return 1;
}

int bloom_bloomfile_sets(const bloom_filter *file, bloom_hash_value hash, uint8_t *mask,
                         uint64_t *num_sets){
  const uint8_t *units[BLOOM_BLOOMFILE_MAX_PROBES];
  const size_t unit_bytes = bloom_bloomfile_unit_bytes(&file->shape);
  const uint64_t delta = bloom_rotate_left64(hash, 31);
  const uint32_t num_probes = file->shape.num_probes;
  uint64_t words[BLOOMFILE_BLOCK_WORDS];
  int is_any = 0;
  size_t offset;
  uint32_t i;
  assert( num_probes>0 && num_probes<=BLOOM_BLOOMFILE_MAX_PROBES );
  for(i=0; i<num_probes; i++, hash+=delta){
    units[i] = file->bits + (size_t)(hash % file->shape.num_slots) * unit_bytes;
  }
  for(offset=0; offset<unit_bytes; offset+=BLOOMFILE_BLOCK_BYTES){
    const size_t num_left = unit_bytes - offset;
    const size_t num_bytes = num_left<BLOOMFILE_BLOCK_BYTES ? num_left : BLOOMFILE_BLOCK_BYTES;
    if( offset && offset%BLOOMFILE_STOP_BYTES==0 && bloom_is_stopped(file) ) return -1;
    if( bloomfile_and(units, num_probes, offset, num_bytes, words) ){
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

/* -- Statistics ------------------------------------------------------------------------------ */

/* With fewer units than this, what follows from a set's number of bits is computed once for all
** sets of that number: a small file may have millions of sets. */
#define BLOOMFILE_MAX_COUNTED 1024

/* The sets of one cache line are counted at a time. */
#define BLOOMFILE_COLUMN_BYTES ((size_t)64)
#define BLOOMFILE_COLUMN_SETS  (BLOOMFILE_COLUMN_BYTES * 8)

/* The note warns if the fullest set has more than so many times the keys of the mean set. */
#define BLOOMFILE_UNEVEN 4

/* Measuring a rate reads about so many bytes of units, plus 4 times the file. */
#define BLOOMFILE_MEASURED_BYTES ((uint64_t)1 << 28)

/* Sums over the sets that have keys. */
typedef struct bloomfile_sums {
  uint64_t num_sets;
  uint64_t bits_set;
  uint64_t most_bits_set; /* of one set */
  double estimated_keys;  /* without those of saturated sets */
  double expected_fpr;
  uint64_t num_sets_with[BLOOMFILE_MAX_COUNTED]; /* by number of bits; where units are few */
} bloomfile_sums;

static double bloomfile_estimated_keys(const bloom_shape *shape, uint64_t bits_set){
  const uint64_t num_units = shape->num_slots;
  return (double)num_units / shape->num_probes * bloom_log_ratio(num_units, num_units - bits_set);
}

/* Adds num_sets sets with so many bits each. */
static void bloomfile_sum_sets(const bloom_shape *shape, uint64_t bits_set, uint64_t num_sets,
                               bloomfile_sums *sums){
  const double fill_ratio = (double)bits_set / (double)shape->num_slots;
  double fpr = 1;
  uint32_t i;
  if( bits_set==0 || num_sets==0 ) return;
  assert( bits_set<=shape->num_slots );
  for(i=0; i<shape->num_probes; i++) fpr *= fill_ratio;
  sums->num_sets += num_sets;
  sums->bits_set += bits_set * num_sets;
  sums->expected_fpr += fpr * (double)num_sets;
  if( sums->most_bits_set<bits_set ) sums->most_bits_set = bits_set;
  if( bits_set<shape->num_slots ){
    sums->estimated_keys += bloomfile_estimated_keys(shape, bits_set) * (double)num_sets;
  }
}

/* Sums all sets, BLOOMFILE_COLUMN_BYTES of all units at a time.  Returns 0 if the file's interrupt
** stopped it, else 1. */
static int bloomfile_sum(const bloom_filter *file, bloomfile_sums *sums){
  const bloom_shape *shape = &file->shape;
  const size_t unit_bytes = bloom_bloomfile_unit_bytes(shape);
  size_t offset, i, num_read = 0; /* bytes, since the last look for an interrupt */
  memset(sums, 0, sizeof(*sums));
  for(offset=0; offset<unit_bytes; offset+=BLOOMFILE_COLUMN_BYTES){
    const size_t num_left_bytes = unit_bytes - offset;
    const size_t num_bytes =
        num_left_bytes<BLOOMFILE_COLUMN_BYTES ? num_left_bytes : BLOOMFILE_COLUMN_BYTES;
    const uint8_t *unit = file->bits + offset;
    uint64_t counts[BLOOMFILE_COLUMN_SETS] = {0};
    uint64_t num_left = shape->num_slots;
    while( num_left ){
      uint64_t lanes[BLOOMFILE_COLUMN_BYTES] = {0}; /* counts up to 255, eight in each */
      uint64_t num_units = num_left<255 ? num_left : 255;
      num_left -= num_units;
      for(; num_units; num_units--, unit+=unit_bytes){
        /* Each bit of a byte in a byte of its own: copies that are 9 bits apart do not touch, and
        ** in each byte of the word another bit comes to the top. */
        for(i=0; i<num_bytes; i++){
          lanes[i] += (unit[i] * 0x8040201008040201u & 0x8080808080808080u) >> 7;
        }
      }
      for(i=0; i<8*num_bytes; i++) counts[i] += lanes[i/8] >> 8*(i%8) & 0xff;
      /* Counting the eight sets of a byte takes as long as reading many bytes. */
      num_read += 255*num_bytes;
      if( num_read>=BLOOM_STEP_BYTES ){
        num_read = 0;
        if( bloom_is_stopped(file) ) return 0;
      }
    }
    for(i=0; i<8*num_bytes; i++){
      if( shape->num_slots<BLOOMFILE_MAX_COUNTED ) sums->num_sets_with[counts[i]]++;
      else bloomfile_sum_sets(shape, counts[i], 1, sums);
    }
  }
  for(i=1; i<BLOOMFILE_MAX_COUNTED; i++) bloomfile_sum_sets(shape, i, sums->num_sets_with[i], sums);
  return 1;
}

static void bloomfile_describe(const bloom_filter *file, int count_bits, bloom_facts *facts){
  const bloom_shape *shape = &file->shape;
  const double num_units = (double)shape->num_slots;
  double num_sets;
  bloomfile_sums sums;
  *facts = bloom_no_facts;
  facts->encoding = file->encoding->name;
  facts->num_bits = (int64_t)shape->num_bits;
  facts->num_probes = shape->num_probes;
  if( !count_bits || !bloomfile_sum(file, &sums) ) return;
  num_sets = (double)sums.num_sets;
  facts->num_sets = (int64_t)sums.num_sets;
  facts->bits_set = (int64_t)sums.bits_set;
  facts->fill_ratio = sums.num_sets ? (double)sums.bits_set / (num_units * num_sets) : 0;
  facts->expected_fpr = sums.num_sets ? sums.expected_fpr / num_sets : 0;
  if( sums.most_bits_set==shape->num_slots ){ /* its keys are unknown */
    facts->note = "saturated: every bit of a set is set, so that set may contain every key";
    return;
  }
  facts->estimated_keys = sums.estimated_keys;
  if( (double)sums.most_bits_set>BLOOM_NEARLY_SATURATED * num_units ){
    facts->note = "nearly saturated: over 3/4 of a set's bits are set; rebuild it for more keys";
  }else if( shape->num_slots>BLOOM_BLOOMFILE_MIN_UNITS
   && bloomfile_estimated_keys(shape, sums.most_bits_set) * num_sets
        >BLOOMFILE_UNEVEN * sums.estimated_keys ){
    facts->note = "uneven: the fullest set has over 4 times the keys of the mean one; "
                  "a file for each size of set takes less room";
  }
}

double bloom_bloomfile_modelled_fpr(uint64_t num_keys, double num_units, uint32_t num_probes){
  const double fill_ratio = 1 - bloom_exp_minus((double)num_keys * num_probes / num_units);
  /* A hash with a stored key's delta, or the opposite one, that begins i probes away from that
  ** key's hash has all but i bits in common with it. */
  double shifts = 1, fpr = 1, common = 1, shifted;
  uint32_t i;
  assert( num_units>0 && num_probes>0 );
  for(i=0; i<num_probes; i++) fpr *= fill_ratio;
  for(i=1; i<num_probes; i++) shifts += 2 * (common *= fill_ratio);
  shifted = 2 * (double)num_keys / num_units / num_units * shifts;
  return shifted<1 ? fpr + (1 - fpr) * shifted : 1;
}

static uint32_t bloomfile_min_bits_per_key_x10(double fpr, uint64_t num_keys, double *best_fpr){
  double best = 1;
  uint32_t tenths;
  assert( fpr>0 && fpr<1 );
  for(tenths=BLOOM_MIN_TENTH_BITS; tenths<=BLOOM_MAX_TENTH_BITS; tenths++){
    const double wanted_units = (double)num_keys * (tenths / 10.0);
    const double num_units = wanted_units>BLOOM_BLOOMFILE_MIN_UNITS ? wanted_units
        : BLOOM_BLOOMFILE_MIN_UNITS;
    const double reached = bloom_bloomfile_modelled_fpr(num_keys, num_units,
                                                        bloom_num_probes(tenths / 10.0));
    if( reached<=fpr ) return tenths;
    if( reached<best ) best = reached;
  }
  *best_fpr = best;
  return 0;
}

/* Returns how many hashes are tested: fewer where units are long, so that the time is in proportion
** to the file. */
static uint64_t bloomfile_num_tried(const bloom_filter *file){
  const uint64_t bytes_a_hash =
      (uint64_t)bloom_bloomfile_unit_bytes(&file->shape) * file->shape.num_probes;
  const uint64_t num_hashes =
      (BLOOMFILE_MEASURED_BYTES + 4 * (uint64_t)file->shape.num_bytes) / bytes_a_hash + 1;
  return num_hashes<BLOOM_FPR_SAMPLE ? num_hashes : BLOOM_FPR_SAMPLE;
}

/* Returns the share of the pairs of a hash and a set with keys in which the set accepts the
** hash. */
static double bloomfile_measured_fpr(const bloom_filter *file){
  const uint64_t num_hashes = bloomfile_num_tried(file);
  const uint64_t hash_bytes =
      (uint64_t)bloom_bloomfile_unit_bytes(&file->shape) * file->shape.num_probes;
  const uint64_t step = 1 + BLOOM_STEP_BYTES / (hash_bytes + 64); /* hashes between interrupts */
  uint64_t num_accepted = 0, i;
  bloomfile_sums sums;
  if( !bloomfile_sum(file, &sums) || sums.num_sets==0 ) return 0;
  for(i=1; i<=num_hashes; i++){
    if( i%step==0 && bloom_is_stopped(file) ) return 0;
    if( bloom_bloomfile_sets(file, bloom_sample_hash(i), NULL, &num_accepted)<0 ) return 0;
  }
  assert( num_accepted<=num_hashes*sums.num_sets );
  return (double)num_accepted / ((double)num_hashes * (double)sums.num_sets);
}

const bloom_encoding bloom_encoding_bloomfile = {
  .name = "bloomfile",
  .hash_value_bytes = 8,
  .hash_int64 = bloomfile_hash_int64,
  .hash_bytes = bloom_xxh64,
  .may_contain = bloomfile_may_contain,
  .min_bits_per_key_x10 = bloomfile_min_bits_per_key_x10,
  .why_no_add = "of many sets: bloom_build_sets() makes it, with each key's set",
  .magic = BLOOM_BLOOMFILE_TAG & 0xff,
  .read = bloomfile_read,
  .has_header = bloomfile_has_header,
  .describe = bloomfile_describe,
  .measured_fpr = bloomfile_measured_fpr,
  .num_tried = bloomfile_num_tried,
};
