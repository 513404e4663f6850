/*
** Filters of random keys, probed with random absent keys, for every pair of a number of keys
** and a size.
**
**   fpr_grid rates|info FROM_KEYS TO_KEYS STEPS_PER_DECADE FROM_BITS TO_BITS BITS_STEP
**
** rates: false positive rates by brute force. Prints how it was called, the sizes, and a row for
** each number of keys, which it begins with: the rates measured. Each is of some 4,000 false positives, so within 3.2 %
** in 19 cases of 20. fpr_grid.csv, which leveldb_sizing_test.c compares the model with, is what
** it wrote.
**
** info: what bloom_info() says of such filters beside what is so. Prints one row a pair:
** num_keys, bits_per_key, num_filters; over all these filters the mean of estimated_keys over
** num_keys, the mean of expected_fpr over the mean rate measured; from FIRST_SINGLE_KEYS keys on
** for NUM_SINGLES filters by themselves which of each is the furthest from 1; and what is out of
** bounds: "keys" or "rate", 3 and 10 %, in capitals for a single filter's. Ends with the number of
** pairs that are, which is its exit status.
**
** Hashes are drawn, not hashed from keys: LevelDB's hash spreads well, and its 32 bits are all
** that a filter sees of a key. The seed is fixed: every machine prints the same.
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

/* -- rates ------------------------------------------------------------------------------ */

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

/* -- info ------------------------------------------------------------------------------- */

#define NUM_FILTERS        200
#define MIN_FILTERS        3
#define MAX_KEYS_IN_ALL    20000000u
#define FIRST_SINGLE_KEYS  10000
#define NUM_SINGLES        3

/* False positives to be counted: a mean rate is then within 2 % in 19 cases of 20, and that
** of a single filter within 4 %. */
#define ENOUGH_FALSE_POSITIVES        10000
#define ENOUGH_FALSE_POSITIVES_SINGLE 2500
#define MAX_PROBED_KEYS               400000000u

#define MAX_KEYS_ERROR 0.03
#define MAX_RATE_ERROR 0.10

static uint64_t at_most(double wanted, uint64_t most){
  return wanted<100 ? 100 : wanted<(double)most ? (uint64_t)wanted : most;
}

/* The one that is further from 1. */
static double further(double a, double b){
  return fabs(a - 1)>fabs(b - 1) ? a : b;
}

/* Whether all is within bounds. */
static int measure_info(uint64_t num_keys, double bits_per_key){
  const uint64_t fitting = MAX_KEYS_IN_ALL / num_keys;
  const uint64_t num_filters = fitting>NUM_FILTERS ? NUM_FILTERS : fitting<MIN_FILTERS ? MIN_FILTERS : fitting;
  double keys = 0, expected = 0, worst_keys = 1, worst_rate = 1, rate;
  uint64_t num_probed = 0, num_accepted = 0, i;
  bloom_shape shape;
  uint8_t *bytes;
  int bad_keys, bad_rate, bad_worst_keys, bad_worst_rate;
  if( bloom_leveldb_shape(num_keys, bits_per_key, &shape)!=BLOOM_OK ) exit(99);
  bytes = malloc(shape.num_bytes);
  if( bytes==NULL ) exit(99);
  for(i=0; i<num_filters; i++){
    const int is_single = num_keys>=FIRST_SINGLE_KEYS && i<NUM_SINGLES;
    const double wanted = is_single ? ENOUGH_FALSE_POSITIVES_SINGLE : (double)ENOUGH_FALSE_POSITIVES / (double)num_filters;
    bloom_filter filter;
    bloom_facts facts;
    uint64_t probes, accepted;
    fill_filter(&shape, bytes, num_keys);
    bloom_filter_read(bytes, shape.num_bytes, &filter);
    filter.encoding->describe(&filter, 1, &facts);
    probes = at_most(wanted / facts.expected_fpr, MAX_PROBED_KEYS);
    accepted = count_accepted(&filter, probes);
    keys += facts.estimated_keys / (double)num_keys / (double)num_filters;
    expected += facts.expected_fpr / (double)num_filters;
    if( is_single ){
      worst_keys = further(worst_keys, facts.estimated_keys / (double)num_keys);
      worst_rate = further(worst_rate, facts.expected_fpr / ((double)accepted / (double)probes));
    }
    /* Each filter counts for one, however many keys it is probed with. */
    if( !is_single || num_filters<=NUM_SINGLES ) num_probed += probes, num_accepted += accepted;
  }
  free(bytes);
  rate = expected / ((double)num_accepted / (double)num_probed);
  bad_keys = fabs(keys - 1)>MAX_KEYS_ERROR;
  bad_rate = fabs(rate - 1)>MAX_RATE_ERROR;
  bad_worst_keys = fabs(worst_keys - 1)>MAX_KEYS_ERROR;
  bad_worst_rate = fabs(worst_rate - 1)>MAX_RATE_ERROR;
  printf("%llu,%.1f,%llu,%.4f,%.3f,%.4f,%.3f,%.3g,%s%s%s%s\n", (unsigned long long)num_keys, bits_per_key,
         (unsigned long long)num_filters, keys, rate, worst_keys, worst_rate, expected,
         bad_keys ? "keys" : "", bad_rate ? "rate" : "", bad_worst_keys ? "KEYS" : "", bad_worst_rate ? "RATE" : "");
  return !(bad_keys || bad_rate || bad_worst_keys || bad_worst_rate);
}

int main(int argc, char **argv){
  const int is_info = argc==8 && strcmp(argv[1], "info")==0;
  double from_keys, to_keys, steps, from_bits, to_bits, bits_step, bits;
  int num_bad = 0, i;
  if( argc!=8 || (!is_info && strcmp(argv[1], "rates")!=0) ){
    fprintf(stderr, "usage: fpr_grid rates|info FROM_KEYS TO_KEYS STEPS_PER_DECADE FROM_BITS TO_BITS BITS_STEP\n");
    return 99;
  }
  printf("# fpr_grid %s %s %s %s %s %s %s\n", argv[1], argv[2], argv[3], argv[4], argv[5], argv[6], argv[7]);
  from_keys = atof(argv[2]);
  to_keys = atof(argv[3]);
  steps = atof(argv[4]);
  from_bits = atof(argv[5]);
  to_bits = atof(argv[6]);
  bits_step = atof(argv[7]);
  printf(is_info ? "num_keys,bits_per_key,num_filters,keys,rate,worst_keys,worst_rate,expected_fpr,out_of_bounds\n" : "num_keys");
  for(bits=from_bits; bits<to_bits+1e-9 && !is_info; bits+=bits_step) printf(",%.1f", bits);
  for(i=0; from_keys*pow(10, i/steps)<to_keys*1.0001; i++){
    const uint64_t num_keys = (uint64_t)(from_keys*pow(10, i/steps) + 0.5);
    if( !is_info ) printf("\n%llu", (unsigned long long)num_keys);
    for(bits=from_bits; bits<to_bits+1e-9; bits+=bits_step){
      if( is_info ) num_bad += !measure_info(num_keys, bits);
      else printf(",%.4e", measured_rate(num_keys, bits));
      fflush(stdout);
    }
  }
  if( is_info ) printf("# %d out of bounds", num_bad);
  printf("\n");
  return num_bad>98 ? 98 : num_bad;
}
