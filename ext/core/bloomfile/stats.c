/*
** What bloom_info() says about a BloomFile: the bits of each set, counted across all
** units.
*/
#include "bloomfile.h"

#include <string.h>

#include "../bits.h"
#include "../debug.h"
#include "../numeric.h"

/* With fewer units than this, sets are counted by how many of their bits are set, so that
** what follows from that is computed once for each number. */
#define BLOOMFILE_MAX_COUNTED 1024

/* As many sets are counted at a time as a cache line holds. */
#define BLOOMFILE_COLUMN_BYTES ((size_t)64)
#define BLOOMFILE_COLUMN_SETS  (BLOOMFILE_COLUMN_BYTES * 8)

/* Above this the note warns: the keys of the fullest set divided by the mean. */
#define BLOOMFILE_UNEVEN 4

/* Measuring reads about so many bytes of units, and more if the file is larger. */
#define BLOOMFILE_MEASURED_BYTES ((uint64_t)1 << 28)

/* What is summed over the sets that have keys. */
typedef struct bloomfile_sums {
  uint64_t num_sets;
  uint64_t bits_set;
  uint64_t most_bits_set; /* of one set */
  double estimated_keys;  /* without those of saturated sets */
  double expected_fpr;
  uint64_t num_sets_with[BLOOMFILE_MAX_COUNTED]; /* by number of bits; where units are few */
} bloomfile_sums;

/* How far a file is read. */
typedef struct bloomfile_pace {
  size_t num_read; /* bytes since it was last asked whether to go on */
  int is_stopped;
} bloomfile_pace;

/* 1 if reading should end, after these bytes more. */
static inline int bloomfile_stop(const bloom_filter *file, size_t num_bytes, bloomfile_pace *pace){
  pace->num_read += num_bytes;
  if( pace->num_read>=BLOOM_STEP_BYTES ){
    pace->num_read = 0;
    pace->is_stopped = bloom_is_stopped(file);
  }
  return pace->is_stopped;
}

static size_t bloomfile_lesser(size_t a, size_t b){
  return a<b ? a : b;
}

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
  for(i=0; i<shape->num_probes; i++) fpr *= fill_ratio;
  sums->num_sets += num_sets;
  sums->bits_set += bits_set * num_sets;
  sums->expected_fpr += fpr * (double)num_sets;
  if( sums->most_bits_set<bits_set ) sums->most_bits_set = bits_set;
  if( bits_set<shape->num_slots ) {
    sums->estimated_keys += bloomfile_estimated_keys(shape, bits_set) * (double)num_sets;
  }
}

/* A byte's bits, one in each byte of a word, in some order. */
static inline uint64_t bloomfile_spread(uint8_t byte){
  /* Copies that are 9 bits apart do not touch, and in each byte of the word another bit
  ** comes to the top. */
  return (byte * 0x8040201008040201u & 0x8080808080808080u) >> 7;
}

/* Sums the sets of num_bytes bytes of all units, at most BLOOMFILE_COLUMN_BYTES. */
static void bloomfile_sum_column(const bloom_filter *file, size_t offset, size_t num_bytes,
                                 bloomfile_sums *sums, bloomfile_pace *pace){
  const bloom_shape *shape = &file->shape;
  const size_t unit_bytes = bloom_bloomfile_unit_bytes(shape);
  const uint8_t *unit = file->bits + offset;
  uint64_t counts[BLOOMFILE_COLUMN_SETS] = {0};
  uint64_t lanes[BLOOMFILE_COLUMN_BYTES]; /* counts up to 255, eight in each */
  uint64_t num_left = shape->num_slots;
  size_t i;
  while( num_left ){
    uint64_t num_units = num_left<255 ? num_left : 255;
    num_left -= num_units;
    memset(lanes, 0, sizeof(lanes));
    for(; num_units; num_units--, unit+=unit_bytes){
      for(i=0; i<num_bytes; i++) lanes[i] += bloomfile_spread(unit[i]);
    }
    for(i=0; i<8*num_bytes; i++) counts[i] += lanes[i/8] >> 8*(i%8) & 0xff;
    /* Eight sets of a byte take as long as many bytes that are only read. */
    if( bloomfile_stop(file, 255*num_bytes, pace) ) return;
  }
  if( shape->num_slots<BLOOMFILE_MAX_COUNTED ){
    for(i=0; i<8*num_bytes; i++) sums->num_sets_with[counts[i]]++;
  }else{
    for(i=0; i<8*num_bytes; i++) bloomfile_sum_sets(shape, counts[i], 1, sums);
  }
}

static const char *bloomfile_note(const bloom_shape *shape, const bloomfile_sums *sums){
  const double num_units = (double)shape->num_slots, num_sets = (double)sums->num_sets;
  if( sums->num_sets==0 ) return NULL;
  if( sums->most_bits_set==shape->num_slots ){
    return "saturated: every bit of a set is set, so that set may contain every key";
  }
  if( (double)sums->most_bits_set>BLOOM_NEARLY_SATURATED * num_units ){
    return "nearly saturated: over 3/4 of a set's bits are set; rebuild it for more keys";
  }
  if( shape->num_slots>BLOOM_BLOOMFILE_MIN_UNITS
   && bloomfile_estimated_keys(shape,
                               sums->most_bits_set) * num_sets>BLOOMFILE_UNEVEN
                                   * sums->estimated_keys ){
    return "uneven: the fullest set has over 4 times the keys of the mean one; "
           "a file for each size of set takes less room";
  }
  return NULL;
}

void bloom_bloomfile_describe(const bloom_filter *file, int count_bits, bloom_facts *facts){
  const bloom_shape *shape = &file->shape;
  const size_t unit_bytes = bloom_bloomfile_unit_bytes(shape);
  bloomfile_sums sums;
  bloomfile_pace pace = {0, 0};
  size_t offset, bits_set;
  *facts = bloom_no_facts;
  facts->encoding = file->encoding->name;
  facts->num_bits = (int64_t)shape->num_bits;
  facts->num_probes = shape->num_probes;
  if( !count_bits ) return;
  memset(&sums, 0, sizeof(sums));
  for(offset=0; offset<unit_bytes && !pace.is_stopped; offset+=BLOOMFILE_COLUMN_BYTES){
    bloomfile_sum_column(file, offset,
                         bloomfile_lesser(unit_bytes - offset, BLOOMFILE_COLUMN_BYTES), &sums,
                         &pace);
  }
  for(bits_set=1; bits_set<=shape->num_slots && bits_set<BLOOMFILE_MAX_COUNTED; bits_set++){
    bloomfile_sum_sets(shape, bits_set, sums.num_sets_with[bits_set], &sums);
  }
  facts->num_sets = (int64_t)sums.num_sets;
  facts->bits_set = (int64_t)sums.bits_set;
  facts->fill_ratio = facts->expected_fpr = 0;
  if( sums.num_sets ){
    facts->fill_ratio = (double)sums.bits_set / ((double)shape->num_slots * (double)sums.num_sets);
    facts->expected_fpr = sums.expected_fpr / (double)sums.num_sets;
  }
  /* A saturated set's keys are unknown, and so their sum. */
  if( sums.most_bits_set<shape->num_slots ) facts->estimated_keys = sums.estimated_keys;
  facts->note = bloomfile_note(shape, &sums);
}

/* The sets that have keys: bits that some unit has set. */
static uint64_t bloomfile_num_sets(const bloom_filter *file, bloomfile_pace *pace){
  const size_t unit_bytes = bloom_bloomfile_unit_bytes(&file->shape);
  uint64_t num_sets = 0;
  size_t offset, i;
  for(offset=0; offset<unit_bytes; offset+=BLOOMFILE_COLUMN_BYTES){
    const size_t num_bytes = bloomfile_lesser(unit_bytes - offset, BLOOMFILE_COLUMN_BYTES);
    uint8_t has_keys[BLOOMFILE_COLUMN_BYTES] = {0};
    const uint8_t *unit = file->bits + offset;
    uint64_t num_units;
    for(num_units=file->shape.num_slots; num_units; num_units--, unit+=unit_bytes){
      for(i=0; i<num_bytes; i++) has_keys[i] |= unit[i];
      if( bloomfile_stop(file, num_bytes, pace) ) return 0;
    }
    num_sets += bloom_count_bits(has_keys, num_bytes);
  }
  return num_sets;
}

double bloom_bloomfile_modelled_fpr(uint64_t num_keys, double num_units, uint32_t num_probes){
  const double fill_ratio = 1 - bloom_exp_minus((double)num_keys * num_probes / num_units);
  /* A hash of the delta, or of its opposite, that begins i probes away from a key's has all
  ** but i of its bits in common. */
  double shifts = 1, fpr = 1, common = 1, shifted;
  uint32_t i;
  for(i=0; i<num_probes; i++) fpr *= fill_ratio;
  for(i=1; i<num_probes; i++) shifts += 2 * (common *= fill_ratio);
  shifted = 2 * (double)num_keys / num_units / num_units * shifts;
  return shifted<1 ? fpr + (1 - fpr) * shifted : 1;
}

uint32_t bloom_bloomfile_min_bits_per_key_x10(double fpr, uint64_t num_keys, double *best_fpr){
  double best = 1;
  uint32_t tenths;
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

/* The work must fit the size of the file: fewer hashes where units are long. */
uint64_t bloom_bloomfile_num_tried(const bloom_filter *file){
  const uint64_t bytes_a_hash =
      (uint64_t)bloom_bloomfile_unit_bytes(&file->shape) * file->shape.num_probes;
  uint64_t num_hashes;
  if( bytes_a_hash==0 ) return 1;
  num_hashes = (BLOOMFILE_MEASURED_BYTES + 4 * (uint64_t)file->shape.num_bytes) / bytes_a_hash + 1;
  return num_hashes<BLOOM_FPR_SAMPLE ? num_hashes : BLOOM_FPR_SAMPLE;
}

double bloom_bloomfile_measured_fpr(const bloom_filter *file){
  bloomfile_pace pace = {0, 0};
  const uint64_t num_sets = bloomfile_num_sets(file, &pace);
  const uint64_t num_hashes = bloom_bloomfile_num_tried(file);
  const size_t num_hash_bytes = bloom_bloomfile_unit_bytes(&file->shape) * file->shape.num_probes;
  uint64_t num_accepted = 0, i;
  if( num_sets==0 ) return 0;
  for(i=1; i<=num_hashes; i++){
    if( bloom_bloomfile_sets(file, bloom_sample_hash(i), NULL, &num_accepted)<0 ) return 0;
    if( bloomfile_stop(file, num_hash_bytes, &pace) ) return 0;
  }
  return (double)num_accepted / ((double)num_hashes * (double)num_sets);
}
