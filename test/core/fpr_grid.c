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

#include "../../ext/core/numeric.h"

#define FALSE_POSITIVES_OF_A_RATE 4000
#define MAX_PROBED_KEYS_OF_A_RATE 150000000u
/* Small filters differ from each other: average over several. */
#define MIN_KEYS_OVER_FILTERS     400000u

static rng hashes_drawn = { 1 };

static double measured_rate(uint64_t num_keys, double bits_per_key){
  const uint64_t num_filters = num_keys<MIN_KEYS_OVER_FILTERS ? MIN_KEYS_OVER_FILTERS/num_keys : 1;
  const double num_probes = bloom_num_probes(bits_per_key);
  const double textbook_fpr = pow(1 - exp(-num_probes / bits_per_key), num_probes);
  uint64_t num_probed = (uint64_t)(1.2 * FALSE_POSITIVES_OF_A_RATE / textbook_fpr / (double)num_filters), i;
  uint64_t num_accepted = 0;
  if( num_probed>MAX_PROBED_KEYS_OF_A_RATE/num_filters ) num_probed = MAX_PROBED_KEYS_OF_A_RATE/num_filters;
  if( num_probed<100 ) num_probed = 100;
  for(i=0; i<num_filters; i++){
    bloom_filter filter;
    uint8_t *bytes = random_filter(&hashes_drawn, (size_t)num_keys, bits_per_key, &filter);
    num_accepted += count_accepted(&filter, &hashes_drawn, (size_t)num_probed);
    free(bytes);
  }
  return (double)num_accepted / (double)(num_filters * num_probed);
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
