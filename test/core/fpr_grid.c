/*
** False positive rates by brute force: filters of random keys, probed with
** random absent keys, for every pair of a number of keys and a size.
**
**   fpr_grid FROM_KEYS TO_KEYS STEPS_PER_DECADE FROM_BITS TO_BITS BITS_STEP
**
** Prints how it was called, then one row a pair: num_keys, bits_per_key,
** measured_fpr, false positives counted, and measured_fpr over the textbook rate
** (1 - exp(-num_probes / bits_per_key))^num_probes.  The seed is fixed: every
** machine prints the same.  `make core-tests` builds it; fpr_grid.csv, which
** leveldb_sizing_test.c compares the model with, is what it wrote.
** A rate from 4,000 false positives is within 3.2 % in 19 cases of 20.
** Hashes are drawn, not hashed from keys: LevelDB's hash spreads well, and its
** 32 bits are all that a filter sees of a key.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"

#define ENOUGH_FALSE_POSITIVES 4000
#define MAX_PROBED_KEYS        150000000u
/* Small filters differ from each other: average over several. */
#define MIN_KEYS_OVER_FILTERS  400000u

/* SplitMix64 [Steele, Lea, Flood 2014]. */
static uint64_t random_state = 1;
static uint64_t random64(void){
  uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint32_t random_hash(void){
  return (uint32_t)(random64() >> 32);
}

static void draw_hashes(uint32_t *hashes, size_t num_hashes){
  size_t i;
  for(i=0; i<num_hashes; i++) hashes[i] = random_hash();
}

static void measure(uint64_t num_keys, double bits_per_key){
  const uint64_t num_filters = num_keys<MIN_KEYS_OVER_FILTERS ? MIN_KEYS_OVER_FILTERS/num_keys : 1;
  uint64_t num_probed = 0, num_accepted = 0, i, j;
  bloom_shape shape;
  uint8_t *bytes;
  double textbook_fpr, measured_fpr;
  if( bloom_leveldb_shape(num_keys, bits_per_key, &shape)!=BLOOM_OK ) exit(1);
  bytes = malloc(shape.num_bytes);
  if( bytes==NULL ) exit(1);
  textbook_fpr = pow(1 - exp(-(double)shape.num_probes / bits_per_key), shape.num_probes);
  for(i=0; i<num_filters; i++){
    uint64_t probes = (uint64_t)(1.2 * ENOUGH_FALSE_POSITIVES / textbook_fpr / (double)num_filters);
    bloom_filter filter;
    if( probes>MAX_PROBED_KEYS/num_filters ) probes = MAX_PROBED_KEYS/num_filters;
    if( probes<100 ) probes = 100;
    bloom_leveldb_clear(&shape, bytes);
    for(j=0; j<num_keys; j+=4096){
      uint32_t hashes[4096];
      bloom_hash_run run = {NULL, hashes, num_keys-j<4096 ? (size_t)(num_keys-j) : 4096};
      draw_hashes(hashes, run.num_hashes);
      bloom_leveldb_add(&shape, bytes, &run);
    }
    bloom_filter_read(bytes, shape.num_bytes, &filter);
    for(j=0; j<probes; j++) num_accepted += (uint64_t)filter.encoding->may_contain(&filter, random_hash());
    num_probed += probes;
  }
  measured_fpr = (double)num_accepted / (double)num_probed;
  printf("%llu,%.1f,%.4e,%llu,%.3f\n", (unsigned long long)num_keys, bits_per_key, measured_fpr,
         (unsigned long long)num_accepted, measured_fpr / textbook_fpr);
  fflush(stdout);
  free(bytes);
}

int main(int argc, char **argv){
  double from_keys, to_keys, steps, from_bits, to_bits, bits_step, bits;
  int i;
  if( argc!=7 ){
    fprintf(stderr, "usage: fpr_grid FROM_KEYS TO_KEYS STEPS_PER_DECADE FROM_BITS TO_BITS BITS_STEP\n");
    return 2;
  }
  printf("# fpr_grid %s %s %s %s %s %s\n", argv[1], argv[2], argv[3], argv[4], argv[5], argv[6]);
  from_keys = atof(argv[1]);
  to_keys = atof(argv[2]);
  steps = atof(argv[3]);
  from_bits = atof(argv[4]);
  to_bits = atof(argv[5]);
  bits_step = atof(argv[6]);
  printf("num_keys,bits_per_key,measured_fpr,num_false_positives,over_textbook\n");
  for(i=0; from_keys*pow(10, i/steps)<to_keys*1.0001; i++){
    for(bits=from_bits; bits<to_bits+1e-9; bits+=bits_step){
      measure((uint64_t)(from_keys*pow(10, i/steps) + 0.5), bits);
    }
  }
  return 0;
}
