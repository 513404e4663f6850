/*
** False positive rates by brute force: filters of random keys, probed with random absent keys, for
** every pair of a number of keys and a size.
**
**   fpr_grid FROM_KEYS TO_KEYS STEPS_PER_DECADE FROM_BITS TO_BITS BITS_STEP
**
** Prints how it was called, the sizes, and a row for each number of keys, which it begins with: the
** rates measured.  Each is of some 4,000 false positives, so within 3.2 % in 19 cases of 20.
** fpr_grid.csv, which leveldb_sizing_test.c compares the model with, is what it wrote.
**
** Hashes are drawn, not hashed from keys: LevelDB's hash spreads well, and its 32 bits are all
** that a filter sees of a key.  The seed is fixed: every machine prints the same.
*/
#include "support.h"

#include <math.h>
#include <stdlib.h>

#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"

static rng hashes_drawn = { 1 };
static uint32_t random_hash(void){
  return (uint32_t)(rng_next(&hashes_drawn) >> 32);
}

static void fill_filter(const bloom_shape *shape, uint8_t *bytes, uint64_t num_keys){
  uint64_t i, j;
  bloom_leveldb_clear(shape, bytes);
  for(i=0; i<num_keys; i+=4096){
    uint32_t hashes[4096];
    bloom_hash_run run = {NULL, hashes, num_keys-i<4096 ? (size_t)(num_keys-i) : 4096};
    for(j=0; j<run.num_hashes; j++) hashes[j] = random_hash();
    bloom_leveldb_add(shape, bytes, &run);
  }
}

static uint64_t count_accepted(const bloom_filter *filter, uint64_t num_probed){
  uint64_t num_accepted = 0, i;
  for(i=0; i<num_probed; i++){
    num_accepted += (uint64_t)filter->encoding->may_contain(filter, random_hash());
  }
  return num_accepted;
}

#define FALSE_POSITIVES_OF_A_RATE 4000
#define MAX_PROBED_KEYS_OF_A_RATE 150000000u
/* Small filters differ from each other: average over several. */
#define MIN_KEYS_OVER_FILTERS     400000u

static double measured_rate(uint64_t num_keys, double bits_per_key){
  const uint64_t num_filters = num_keys<MIN_KEYS_OVER_FILTERS ? MIN_KEYS_OVER_FILTERS/num_keys : 1;
  uint64_t num_probed = 0, num_accepted = 0, i;
  bloom_shape shape;
  uint8_t *bytes;
  double textbook_fpr;
  if( bloom_leveldb_shape(num_keys, bits_per_key, &shape)!=BLOOM_OK ) exit(99);
  bytes = malloc(shape.num_bytes);
  if( bytes==NULL ) exit(99);
  textbook_fpr = pow(1 - exp(-(double)shape.num_probes / bits_per_key), shape.num_probes);
  for(i=0; i<num_filters; i++){
    uint64_t probes = (uint64_t)(1.2 * FALSE_POSITIVES_OF_A_RATE / textbook_fpr / (double)num_filters);
    bloom_filter filter;
    if( probes>MAX_PROBED_KEYS_OF_A_RATE/num_filters ) probes = MAX_PROBED_KEYS_OF_A_RATE/num_filters;
    if( probes<100 ) probes = 100;
    fill_filter(&shape, bytes, num_keys);
    bloom_filter_read(bytes, shape.num_bytes, &filter);
    num_accepted += count_accepted(&filter, probes);
    num_probed += probes;
  }
  free(bytes);
  return (double)num_accepted / (double)num_probed;
}

int main(int argc, char **argv){
  double from_keys, to_keys, steps, from_bits, to_bits, bits_step, bits;
  int i;
  if( argc!=7 ){
    fprintf(stderr, "usage: fpr_grid FROM_KEYS TO_KEYS STEPS_PER_DECADE FROM_BITS TO_BITS BITS_STEP\n");
    return 99;
  }
  printf("# fpr_grid %s %s %s %s %s %s\n", argv[1], argv[2], argv[3], argv[4], argv[5], argv[6]);
  from_keys = atof(argv[1]);
  to_keys = atof(argv[2]);
  steps = atof(argv[3]);
  from_bits = atof(argv[4]);
  to_bits = atof(argv[5]);
  bits_step = atof(argv[6]);
  printf("num_keys");
  for(bits=from_bits; bits<to_bits+1e-9; bits+=bits_step) printf(",%.1f", bits);
  for(i=0; from_keys*pow(10, i/steps)<to_keys*1.0001; i++){
    const uint64_t num_keys = (uint64_t)(from_keys*pow(10, i/steps) + 0.5);
    printf("\n%llu", (unsigned long long)num_keys);
    for(bits=from_bits; bits<to_bits+1e-9; bits+=bits_step){
      printf(",%.4e", measured_rate(num_keys, bits));
      fflush(stdout);
    }
  }
  printf("\n");
  return 0;
}
