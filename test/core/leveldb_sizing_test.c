/*
** The model of the false positive rate against rates measured by brute force:
** the grid in fpr_grid.csv, and filters built here.
*/
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"
#include "../../ext/core/leveldb/sizing.h"

#define GRID_FILE "test/core/fpr_grid.csv"
#define GRID_RATES 425

/* A rate takes 1 ms to model, ten times that with a sanitizer. */
#ifdef __SANITIZE_ADDRESS__
# define SHARE(count) test_share((count) / 10)
# define IS_WHOLE     0
#else
# define SHARE(count) test_share(count)
# define IS_WHOLE     (test_share(100)==100)
#endif

/* The model's promise. */
#define MAX_RELATIVE_ERROR 0.10

static double modelled_fpr(uint64_t num_keys, double bits_per_key){
  bloom_shape shape;
  assert_int_equal(bloom_leveldb_shape(num_keys, bits_per_key, &shape), BLOOM_OK);
  return bloom_modelled_fpr(&shape, (double)num_keys);
}

/*
** The model once more, from sizing.h's description, by going through all that the
** core finds by arithmetic: every value of probe 2, every residue of a hash.
*/

/* Keys on a position by probe 2: of the values 65537*s - w, those that fall there. */
static double naive_probe2_load(uint64_t position, uint64_t num_bits, double num_keys){
  double share = 0;
  uint64_t value, w;
  for(value=position; value<=UINT32_MAX; value+=num_bits){
    const double height = (double)value / 0x1p32;
    for(w=0; w<3; w++){
      if( (value + w)%65537==0 ) share += w==0 ? height/2 : w==1 ? 0.5 : (1-height)/2;
    }
  }
  return share * num_keys / 65536;
}

/* naive_probe2_load() of all positions: faster where there are few. */
static double *naive_probe2_loads(uint64_t num_bits, double num_keys){
  double *loads = calloc((size_t)num_bits, sizeof(double));
  int64_t s, w;
  assert_non_null(loads);
  for(s=0; s<65536; s++){
    for(w=0; w<3; w++){
      const int64_t value = 65537*s - w;
      const double height = (double)value / 0x1p32;
      const double share = w==0 ? height/2 : w==1 ? 0.5 : (1-height)/2;
      if( value>=0 ) loads[(uint64_t)value % num_bits] += share * num_keys / 65536;
    }
  }
  return loads;
}

typedef struct naive_model {
  uint64_t num_bits, divisor;
  uint32_t num_probes;
  int has_probe2;
  double num_keys, missed[255];
  double *loads; /* by probe 2, of each position; NULL if there are many */
} naive_model;

/* delta is taken modulo 2^32. */
static double naive_all_set(const naive_model *model, uint64_t delta){
  const uint32_t rotated = (uint32_t)delta;
  const uint32_t hash = rotated%32768*131072 + rotated/32768;
  double all_set = 1;
  uint32_t i;
  for(i=0; i<model->num_probes; i++){
    const uint32_t probe = hash + i*rotated;
    double miss = model->missed[probe % model->divisor];
    if( model->has_probe2 ){
      miss *= exp(-(model->loads ? model->loads[probe % model->num_bits]
                                 : naive_probe2_load(probe % model->num_bits, model->num_bits, model->num_keys)));
    }
    all_set *= 1 - miss;
  }
  return all_set;
}

/* Whether 65537 divides t less a number of -most..most. */
static int is_near(uint64_t t, uint64_t most){
  return t%65537<=most || t%65537>=65537-most;
}

static double naive_mean(const naive_model *model, double detail){
  const uint64_t residue = model->num_bits%65537 ? model->num_bits%65537 : 1;
  uint64_t num_others = 1024, num_pairs = 0, most = 0, window = 0, inverse = 1, i;
  double pairs = 0, others = 0;
  while( residue*inverse%65537!=1 ) inverse++;
  if( model->num_bits%65537==0 ) inverse = 0;
  if( model->has_probe2 && model->num_keys>=32768 && model->num_bits<=1 << 27 ){
    num_others = (uint64_t)fmin(model->num_keys/16, 8192);
    most = ((uint64_t)1 << 32) / model->num_bits / (model->num_probes - 2);
    if( most>383 ) most = 383;
    num_pairs = (uint64_t)(768*detail);
    num_pairs -= num_pairs % (2*most + 1);
    if( num_pairs ) window = 65536*3 / model->num_probes;
  }
  for(i=0; i<num_pairs; i++){
    const uint64_t multiple = (65537 + i % (2*most + 1) - most) * residue;
    const uint64_t s = i*40503 % 65536 * window / 65536;
    pairs += naive_all_set(model, s*65537 + multiple%65537);
    pairs += naive_all_set(model, (65535 - s)*65537 + (multiple + 1)%65537);
  }
  num_others = (uint64_t)(detail * (double)num_others);
  for(i=1; i<=num_others; i++){
    const uint64_t t = (uint32_t)(i*49472) % 65537, s = i*37345 % 65536;
    if( s<window && is_near(t, most) ) continue;
    if( s>=65536-window && is_near(t + 65537 - inverse, most) ) continue;
    others += naive_all_set(model, model->has_probe2 ? s*65537 + t*residue%65537 : i*2654435769u);
  }
  if( num_pairs ) pairs *= (double)window/65536 * (double)(2*most + 1)/65537 / (double)num_pairs;
  return pairs + others/(double)num_others;
}

static naive_model naive_model_of(uint64_t num_bits, uint32_t num_probes, double num_keys){
  naive_model model = {.num_bits = num_bits, .divisor = 255, .num_probes = num_probes, .num_keys = num_keys};
  double load[255] = {0};
  uint64_t i, r, w;
  model.has_probe2 = num_probes>2 && num_bits>=65536;
  while( num_bits%model.divisor!=0 || 255%model.divisor!=0 ) model.divisor--;
  for(i=0; i<num_probes; i++){
    if( model.has_probe2 && i==2 ) continue;
    for(r=0; r<model.divisor; r++){
      for(w=0; w<=i; w++){
        const double share = i==0 ? 1 : (w==0 || w==i ? 0.5 : 1) / (double)i;
        load[((1 + i*32768)*r + 255*model.divisor - w) % model.divisor] += num_keys / (double)num_bits * share;
      }
    }
  }
  for(r=0; r<model.divisor; r++) model.missed[r] = exp(-load[r]);
  return model;
}

static double naive_fpr(uint64_t num_bits, uint32_t num_probes, double num_keys){
  naive_model model = naive_model_of(num_bits, num_probes, num_keys);
  double fill_ratio, stay, shift, same, cycles = 0, excess, missed, detail, mean = 0;
  uint64_t divisor = 65535, odd = num_bits, j;
  while( odd%2==0 ) odd /= 2;
  while( num_bits%divisor!=0 || 65535%divisor!=0 ) divisor--;
  fill_ratio = 1 - exp(-num_keys * (num_probes - (uint32_t)model.has_probe2) / (double)num_bits);
  stay = 2.6 / num_probes * fill_ratio / (1.001 - fill_ratio);
  shift = 3.15 * num_keys / (double)num_bits;
  same = fmin(0.137, 4.5/pow(num_probes, 2) + 17.5/pow(num_probes, 3)) * (double)(divisor - 1);
  if( num_bits%65537==0 ) same += fmin(0.07, 3.5/pow(num_probes, 2)) * 65536;
  same *= num_keys / fmin((double)num_bits, 40000);
  for(j=0; odd<=7 && odd<<j<num_probes; j++){
    const double num_positions = (double)(odd << j);
    cycles += (odd==1 ? 1 : 0.6) * (j==0 ? num_positions : num_positions/2) * pow(fill_ratio, num_positions);
  }
  excess = num_probes==1 ? 0 : (stay + cycles + shift + same) / (double)num_bits;
  missed = (excess<1 ? 1 - excess : 0) * exp(-num_keys / 0x1p32);
  detail = fmin(1, 4 * pow(1 - exp(-num_keys * num_probes / (double)num_bits), num_probes) / (1 - missed));
  if( detail>=1.0/64 ){
    if( model.has_probe2 && num_bits<10000000 ) model.loads = naive_probe2_loads(num_bits, num_keys);
    mean = naive_mean(&model, detail);
    free(model.loads);
  }
  return 1 - (1 - mean) * missed;
}

TEST(follows_its_description){
  static const struct { uint64_t num_bits; uint32_t num_probes; uint64_t num_keys; } cases[] = {
    {64, 6, 6}, {64, 1, 1}, {65528, 6, 6000}, {65536, 6, 6000}, {131074, 7, 12000}, {64, 1, 210}, {72, 30, 1000000}, {2040, 7, 200}, {4088, 6, 400}, {4096, 3, 500},
    {32640, 4, 3000}, {200000, 6, 20000}, {524296, 6, 52429}, {1000000, 2, 100000},
    {3000000, 11, 300000}, {3000000, 30, 100},
    {4112, 8, 316}, {20560, 11, 1285}, {524280, 6, 52428}, {8, 2, 100},
    {409600, 6, 32760}, {409600, 6, 32768}, {524296, 3, 100000}, {1000000, 18, 40000}, {5000000, 11, 300000},
    {4096, 16, 171}, {512, 10, 29}, {3072, 16, 128}, {2560, 11, 160}, {3584, 16, 149}, {4608, 16, 190},
    {0x7fffff8, 6, 10000000}, {0x8000008, 6, 10000000}, {20400000, 17, 600000}, {0xfffffff8, 6, 100000000}, {0x100000000, 3, 1000000000},
  };
  size_t i;
  for(i=0; i<COUNT_OF(cases); i++){
    const bloom_shape shape = leveldb_shape(cases[i].num_bits, cases[i].num_probes);
    double modelled, expected;
    if( !IS_WHOLE && cases[i].num_bits>100000 ) continue;
    modelled = bloom_modelled_fpr(&shape, (double)cases[i].num_keys);
    expected = naive_fpr(cases[i].num_bits, cases[i].num_probes, (double)cases[i].num_keys);
    if( fabs(modelled - expected)>1e-12*expected ){
      fail_msg("%llu bits, %u probes, %llu keys: %.17g, expected %.17g", (unsigned long long)cases[i].num_bits,
               cases[i].num_probes, (unsigned long long)cases[i].num_keys, modelled, expected);
    }
  }
  /* Probes reach 2^32 bits and no more, however many there are. */
  assert_true(fabs(bloom_modelled_fpr(&(bloom_shape){0, 0x100000000, 0x100000000, 7}, 1000000)
                 - bloom_modelled_fpr(&(bloom_shape){0, 0x1000000000, 0x1000000000, 7}, 1000000))<=0);
}

/* The keys of as many bits as the description says that they set: by going through all
** positions. */
TEST(keys_follow_the_same_description){
  static const struct { uint64_t num_bits; uint32_t num_probes; uint64_t num_keys; } cases[] = {
    {64, 6, 6}, {72, 30, 5}, {2040, 7, 200}, {4112, 8, 316}, {65528, 6, 6000}, {65536, 6, 6000}, {65536, 6, 1}, {65544, 3, 60000},
    {524296, 6, 52429}, {524280, 6, 52428}, {524296, 30, 100000}, {1000000, 2, 100000}, {1000000, 6, 100000}, {1000000, 6, 1000000},
    {2400000, 16, 100000}, {3000000, 3, 600000}, {5000000, 6, 10}, {10000000, 6, 1000000}, {50000000, 3, 10000000},
  };
  size_t i;
  for(i=0; i<COUNT_OF(cases); i++){
    const uint64_t num_bits = cases[i].num_bits;
    const bloom_shape shape = leveldb_shape(num_bits, cases[i].num_probes);
    naive_model model;
    double unset = 0, modelled, tolerance;
    uint64_t position;
    if( !IS_WHOLE && num_bits>100000 ) continue;
    model = naive_model_of(num_bits, cases[i].num_probes, (double)cases[i].num_keys);
    model.loads = model.has_probe2 ? naive_probe2_loads(num_bits, model.num_keys) : NULL;
    for(position=0; position<num_bits; position++){
      unset += model.missed[position % model.divisor] * (model.loads ? exp(-model.loads[position]) : 1);
    }
    free(model.loads);
    modelled = bloom_modelled_keys(&shape, num_bits - (uint64_t)(unset + 0.5));
    /* Half a bit more or less, and what a sample of probe 2 leaves open. */
    tolerance = 0.5 / (unset * cases[i].num_probes / (double)num_bits) + 0.002*model.num_keys;
    if( fabs(modelled - model.num_keys)>tolerance ){
      fail_msg("%llu bits, %u probes: %.9g keys, expected %.9g +- %.3g", (unsigned long long)num_bits,
               cases[i].num_probes, modelled, model.num_keys, tolerance);
    }
  }
}

/* What bloom_info() says is so: of random keys the mean over many filters, and from 10,000
** keys on each filter.  fpr_grid.c tries many more. */
TEST(what_filters_tell_is_so){
  static const struct { uint64_t num_keys; double bits_per_key; size_t num_filters; } cases[] = {
    {100, 5, 200}, {100, 10, 200}, {100, 16, 200}, {316, 13, 200}, {1000, 12, 200}, {1285, 16, 100}, {31623, 21, 1}, {52428, 10, 2}, {20000, 10, 3}, {20000, 20, 1}, {60000, 5, 2},
    {300000, 10, 1}, {1000000, 10, 1}, {1000000, 5, 1}, {1000000, 24, 1},
    /* 65535 and 65537 divide the size. */
    {21845, 24, 20}, {43690, 12, 2}, {104856, 5, 2}, {52429, 10, 2}, {131074, 12, 1},
    /* The size is a power of two, or three, five or seven times one. */
    {171, 23.953, 400}, {128, 16, 400}, {1024, 16, 40}, {128, 24, 400}, {1371, 23.9, 40}, {107, 24, 400}, {149, 24, 400},
  };
  size_t i, j, k;
  for(i=0; i<COUNT_OF(cases); i++){
    rng random = rng_stream(4000 + i);
    const uint64_t num_keys = cases[i].num_keys;
    double keys = 0, expected = 0, measured = 0;
    if( !IS_WHOLE ) continue;
    for(j=0; j<cases[i].num_filters; j++){
      uint32_t *hashes = malloc((size_t)num_keys * sizeof(hashes[0]));
      size_t num_bytes, num_accepted = 0, num_probed;
      uint8_t *bytes;
      bloom_filter filter;
      bloom_facts facts;
      assert_non_null(hashes);
      for(k=0; k<num_keys; k++) hashes[k] = (uint32_t)(rng_next(&random) >> 32);
      bytes = build_filter(hashes, (size_t)num_keys, cases[i].bits_per_key, NULL, &num_bytes);
      bloom_filter_read(bytes, num_bytes, &filter);
      filter.encoding->describe(&filter, 1, &facts);
      num_probed = (size_t)(3000 / facts.expected_fpr / (double)cases[i].num_filters) + 1;
      for(k=0; k<num_probed; k++){
        num_accepted += (size_t)filter.encoding->may_contain(&filter, (uint32_t)(rng_next(&random) >> 32));
      }
      keys += facts.estimated_keys / (double)cases[i].num_filters;
      expected += facts.expected_fpr;
      measured += (double)num_accepted / (double)num_probed;
      free(bytes);
      free(hashes);
    }
    if( fabs(keys/(double)num_keys - 1)>0.03 || fabs(expected/measured - 1)>MAX_RELATIVE_ERROR ){
      fail_msg("%llu keys at %.1f bits per key: estimated_keys %.6g; expected_fpr %.4g, measured %.4g",
               (unsigned long long)num_keys, cases[i].bits_per_key, keys, expected/(double)cases[i].num_filters,
               measured/(double)cases[i].num_filters);
    }
  }
}

/* Every measured rate within 10 %.  Prints measured over modelled, a row a number of
** keys: 4 to 20 bits per key. */
TEST(agrees_with_the_measured_grid){
  const size_t one_in = 100 / SHARE(100);
  FILE *file = fopen(GRID_FILE, "r");
  char line[400];
  size_t num_rates = 0;
  double least = 0, most = 0;
  if( file==NULL ) fail_msg("no file %s: run from the top of the checkout", GRID_FILE);
  do{
    assert_non_null(fgets(line, sizeof(line), file));
  }while( line[0]=='#' );
  assert_string_equal(line, "num_keys,4.0,5.0,6.0,7.0,8.0,9.0,10.0,11.0,12.0,13.0,14.0,15.0,16.0,17.0,18.0,19.0,20.0\n");
  while( fgets(line, sizeof(line), file) ){
    char *rest;
    const unsigned long long num_keys = strtoull(line, &rest, 10);
    double bits_per_key;
    printf("\n%8llu", num_keys);
    for(bits_per_key=4; *rest==','; bits_per_key++){
      const double measured = strtod(rest + 1, &rest);
      double modelled, error;
      if( num_rates++ % one_in ) continue;
      modelled = modelled_fpr(num_keys, bits_per_key);
      error = measured/modelled - 1;
      if( error<least ) least = error;
      if( error>most ) most = error;
      printf(" %.2f", measured/modelled);
      if( fabs(error)>MAX_RELATIVE_ERROR ){
        fail_msg("%llu keys at %.1f bits per key: measured %.4g, modelled %.4g",
                 num_keys, bits_per_key, measured, modelled);
      }
    }
    assert_string_equal(rest, "\n");
  }
  fclose(file);
  assert_int_equal(num_rates, GRID_RATES);
  printf("\nnote: measured over modelled false positive rates, 1e3..1e7 keys, 4..20 bits: %+.1f..%+.1f %%\n",
         100*least, 100*most);
}

/* The rate of one filter of random hashes, from num_probed others. */
static double measured_fpr_of(rng *random, uint64_t num_keys, double bits_per_key, size_t num_probed){
  uint32_t *hashes = malloc((size_t)num_keys * sizeof(hashes[0]));
  size_t num_bytes, num_accepted = 0, i;
  uint8_t *bytes;
  bloom_filter filter;
  assert_non_null(hashes);
  for(i=0; i<num_keys; i++) hashes[i] = (uint32_t)(rng_next(random) >> 32);
  bytes = build_filter(hashes, (size_t)num_keys, bits_per_key, NULL, &num_bytes);
  bloom_filter_read(bytes, num_bytes, &filter);
  for(i=0; i<num_probed; i++){
    num_accepted += (size_t)filter.encoding->may_contain(&filter, (uint32_t)(rng_next(random) >> 32));
  }
  free(bytes);
  free(hashes);
  return (double)num_accepted / (double)num_probed;
}

static double measured_fpr(uint64_t num_keys, double bits_per_key, size_t num_probed){
  rng random = rng_stream(num_keys + (uint64_t)(bits_per_key*10));
  return measured_fpr_of(&random, num_keys, bits_per_key, num_probed);
}

/* Small sizes that 3 and 5 divide: no sample of hashes leaves out one of their residues.  The
** mean of many filters, which differ much when they are small. */
TEST(agrees_where_residues_matter){
  static const struct { uint64_t num_keys; double bits_per_key; } cases[] = {
    {300, 4.4}, {200, 6.6}, {150, 8.8}, {800, 6.6}, {600, 8.8}, {300, 4.5}, {3000, 10},
  };
  const size_t num_filters = SHARE(200);
  size_t i, j;
  for(i=0; i<COUNT_OF(cases); i++){
    rng random = rng_stream(1320 + i);
    const double modelled = modelled_fpr(cases[i].num_keys, cases[i].bits_per_key);
    double sum = 0;
    for(j=0; j<num_filters; j++){
      sum += measured_fpr_of(&random, cases[i].num_keys, cases[i].bits_per_key, 20000);
    }
    if( IS_WHOLE && fabs(sum/(double)num_filters/modelled - 1)>0.05 ){
      fail_msg("%llu keys at %.1f bits per key: measured %.4g, modelled %.4g", (unsigned long long)cases[i].num_keys,
               cases[i].bits_per_key, sum/(double)num_filters, modelled);
    }
  }
}

/* Sizes that are not in the grid: fractions of a bit, sizes that 3, 5, 17 divide
** or that resonate most at 10 bits per key. */
TEST(agrees_off_the_grid){
  static const struct { uint64_t num_keys; double bits_per_key; } cases[] = {
    {20400, 10}, {27000, 8.5}, {77777, 7.7}, {150000, 10}, {300000, 10}, {419430, 10},
    {300001, 9.9}, {500000, 12.3}, {510000, 4}, {1020000, 6}, {1000000, 10},
  };
  size_t i;
  for(i=0; i<COUNT_OF(cases); i++){
    double measured, modelled;
    if( !IS_WHOLE && cases[i].num_keys>100000 ) continue;
    measured = measured_fpr(cases[i].num_keys, cases[i].bits_per_key, SHARE(2000000));
    modelled = modelled_fpr(cases[i].num_keys, cases[i].bits_per_key);
    if( IS_WHOLE && fabs(measured/modelled - 1)>MAX_RELATIVE_ERROR ){
      fail_msg("%llu keys at %.1f bits per key: measured %.4g, modelled %.4g",
               (unsigned long long)cases[i].num_keys, cases[i].bits_per_key, measured, modelled);
    }
  }
}

/* Where the format resonates, at about twice the usual rate, the model knows it too. */
TEST(promises_no_better_than_a_resonance){
  static const uint64_t nums_of_keys[] = {150000, 300000, 300000, 419430};
  size_t i;
  for(i=0; i<COUNT_OF(nums_of_keys); i++){
    double measured = measured_fpr(nums_of_keys[i], 10, SHARE(2000000));
    double modelled = modelled_fpr(nums_of_keys[i], 10);
    double best_fpr;
    assert_true(modelled>0.0195);
    assert_true(bloom_min_bits_per_key_x10(0.0195, nums_of_keys[i], &best_fpr)!=100);
    /* 40,000 false positives: within 1 %; filters of other keys differ as much. */
    if( IS_WHOLE && measured>1.03*modelled ){
      fail_msg("%llu keys: measured %.4g, modelled %.4g", (unsigned long long)nums_of_keys[i], measured, modelled);
    }
  }
}

#define MIN_TENTHS 10
#define MAX_TENTHS 1000

/* By how much a size's modelled rate may be above what was asked for, in nearly all cases and in
** all; and how much larger than the smallest a size may be. */
#define USUAL_EXCESS   1.10
#define USUAL_SHARE    0.97
#define MOST_EXCESS    1.35
#define MOST_MORE_BITS 1.06
#define MOST_TENTHS    4

/* All sizes, tried in full. */
static uint32_t smallest_size(const double *rates, double fpr){
  uint32_t bits_per_key_x10 = MIN_TENTHS;
  while( bits_per_key_x10<=MAX_TENTHS && rates[bits_per_key_x10]>fpr ) bits_per_key_x10++;
  return bits_per_key_x10<=MAX_TENTHS ? bits_per_key_x10 : 0;
}

/* The model's rate of the size that is given keeps what was asked for, and hardly a smaller one would. */
TEST(gives_a_size_of_the_rate){
  static const uint64_t nums_of_keys[] = {
    50, 100, 1000, 4098, 4583, 11000, 17522, 20400, 35000, 50000, 60000, 80, 77777, 100000, 131074, 170000, 300000, 520000, 1000000, 10000000,
  };
  rng random = rng_stream(991);
  size_t num_sizes = 0, num_over = 0, i, j;
  for(i=0; i<COUNT_OF(nums_of_keys); i++){
    const uint64_t num_keys = nums_of_keys[i];
    double rates[MAX_TENTHS + 1], best = 1;
    for(j=MIN_TENTHS; j<=MAX_TENTHS; j++){
      rates[j] = modelled_fpr(num_keys, (double)j/10);
      best = fmin(best, rates[j]);
    }
    for(j=0; j<SHARE(200); j++){
      const double rate = best*1.1 * pow(0.3/best, (double)rng_next(&random) / 0x1p64);
      const uint32_t smallest = smallest_size(rates, rate);
      double best_fpr = -1, excess;
      const uint32_t given = bloom_min_bits_per_key_x10(rate, num_keys, &best_fpr);
      if( given==0 || best_fpr>=0 ) fail_msg("%g, %llu keys: out of reach, best %g", rate, (unsigned long long)num_keys, best_fpr);
      excess = rates[given] / rate;
      num_sizes++;
      num_over += excess>USUAL_EXCESS;
      if( excess>MOST_EXCESS || given>smallest*MOST_MORE_BITS + MOST_TENTHS ){
        fail_msg("%g, %llu keys: %u tenths of a bit have %.3f times the rate; %u would do", rate, (unsigned long long)num_keys,
                 given, excess, smallest);
      }
    }
    if( !IS_WHOLE && num_keys==50 ) break;
  }
  if( (double)num_over>(1 - USUAL_SHARE)*(double)num_sizes ){
    fail_msg("%zu of %zu sizes are over the rate by more than a tenth", num_over, num_sizes);
  }
}

/* These sizes, on every machine: the two tests around this one say whether they are good, and are
** not so fine as to see each factor of the closed form. */
TEST(gives_these_sizes){
  static const double rates[6] = {0.1, 0.03, 0.011, 0.004, 0.001, 0.0003};
  static const struct { uint64_t num_keys; uint32_t sizes[6]; } cases[] = {
    {50, {49, 74, 97, 121, 161, 223}},
    {97, {50, 75, 95, 119, 151, 191}},
    {333, {50, 75, 96, 117, 146, 175}},
    {1000, {49, 74, 97, 116, 145, 171}},
    {2500, {49, 73, 95, 116, 145, 171}},
    {6000, {49, 76, 97, 117, 146, 171}},
    {9000, {49, 75, 95, 117, 145, 171}},
    {12000, {49, 76, 97, 118, 147, 171}},
    {16000, {49, 76, 97, 118, 146, 172}},
    {20000, {49, 76, 97, 118, 147, 172}},
    {25000, {50, 75, 98, 117, 147, 173}},
    {33000, {51, 77, 97, 119, 147, 173}},
    {41000, {52, 77, 99, 119, 150, 174}},
    {50000, {53, 80, 103, 121, 149, 176}},
    {66000, {57, 80, 103, 121, 151, 180}},
    {80000, {55, 80, 102, 122, 153, 178}},
    {97000, {56, 81, 102, 122, 152, 179}},
    {131000, {58, 82, 104, 125, 153, 182}},
    {180000, {59, 83, 103, 127, 158, 186}},
    {262000, {58, 86, 106, 128, 160, 193}},
    {400000, {58, 85, 107, 128, 160, 197}},
    {530000, {58, 86, 106, 128, 161, 202}},
    {790000, {58, 83, 104, 127, 161, 211}},
    {1048576, {58, 81, 103, 124, 162, 226}},
    {2100000, {58, 81, 102, 125, 167, 0}},
    {4194304, {55, 77, 102, 126, 232, 0}},
    {9000000, {58, 80, 102, 134, 0, 0}},
    {33000000, {58, 86, 122, 0, 0, 0}},
  };
  size_t i, j;
  for(i=0; i<COUNT_OF(cases); i++){
    for(j=0; j<COUNT_OF(rates); j++){
      double best_fpr;
      const uint32_t size = bloom_min_bits_per_key_x10(rates[j], cases[i].num_keys, &best_fpr);
      if( size!=cases[i].sizes[j] ){
        fail_msg("%g, %llu keys: %u tenths of a bit, not %u", rates[j], (unsigned long long)cases[i].num_keys, size, cases[i].sizes[j]);
      }
    }
  }
}

/* Filters do what the sizes promise: from 50 keys on the real rate is at most a tenth above. */
TEST(filters_keep_the_rate){
  static const struct { uint64_t num_keys; double rate; } cases[] = {
    {50, 0.1}, {50, 0.01}, {50, 0.001}, {100, 0.001}, {1000, 0.01}, {5000, 0.001}, {10000, 0.01}, {20000, 0.001}, {35000, 0.01}, {50000, 0.005},
    {70000, 0.01}, {100000, 0.01}, {100000, 0.001}, {150000, 0.02}, {300000, 0.01}, {300000, 0.003}, {419430, 0.01}, {1000000, 0.01},
    {3000000, 0.02},
  };
  size_t i, j;
  for(i=0; i<COUNT_OF(cases); i++){
    const size_t num_filters = (size_t)fmax(1, fmin(2000, 300000 / (double)cases[i].num_keys));
    const size_t num_probed = (size_t)(30000 / cases[i].rate / (double)num_filters) + 1;
    rng random = rng_stream(500 + i);
    double best_fpr, measured = 0;
    const uint32_t size = bloom_min_bits_per_key_x10(cases[i].rate, cases[i].num_keys, &best_fpr);
    if( !IS_WHOLE ) continue;
    for(j=0; j<num_filters; j++) measured += measured_fpr_of(&random, cases[i].num_keys, size/10.0, num_probed) / (double)num_filters;
    if( measured>USUAL_EXCESS*cases[i].rate ){
      fail_msg("%llu keys, %g: measured %.4g at %.1f bits per key", (unsigned long long)cases[i].num_keys, cases[i].rate, measured, size/10.0);
    }
  }
}

TEST(knows_its_limits){
  double best_fpr = -1;
  /* No keys, no false positives. */
  assert_int_equal(bloom_min_bits_per_key_x10(1e-9, 0, &best_fpr), 10);
  /* 10 million keys meet one hash in 430. */
  assert_int_equal(bloom_min_bits_per_key_x10(0.001, 10000000, &best_fpr), 0);
  assert_true(best_fpr>1e7/4294967296 - 1e-5 && best_fpr<0.0024);
  /* More keys than hashes, more bits than fit. */
  assert_int_equal(bloom_min_bits_per_key_x10(0.5, (uint64_t)1 << 40, &best_fpr), 0);
  assert_true(best_fpr>0.99 && best_fpr<=1);
  assert_int_equal(bloom_min_bits_per_key_x10(0.9999999999999999, 1000000000000000000, &best_fpr), 0);
  assert_true(best_fpr>=1);
  assert_int_equal(bloom_min_bits_per_key_x10(0.5, INT64_MAX, &best_fpr), 0);
  assert_true(best_fpr>=1);
  /* Beyond 2^32 bits more of them help no more, and more probes harm. */
  assert_int_equal(bloom_min_bits_per_key_x10(0.01, 1500000000, &best_fpr), 0);
  assert_true(best_fpr>0.3 && best_fpr<0.5);
  /* Where rates are close together. */
  assert_int_equal(bloom_min_bits_per_key_x10(3e-5, 100, &best_fpr), 477);
}

/* Sizes where the model's arithmetic could trip: 65537 divides num_bits, the
** smallest filters, 2^32 bits and beyond. */
TEST(odd_sizes_give_rates){
  static const bloom_shape shapes[] = {
    {65538, 524296, 524296, 6}, {9, 64, 64, 1}, {9, 64, 64, 30}, {4098, 32776, 32776, 3}, {511, 4080, 4080, 7},
    {0, 4294967296, 4294967296, 6}, {0, 4294967288, 4294967288, 30}, {0, 17179869184, 17179869184, 6},
  };
  static const uint64_t nums_of_keys[] = {0, 1, 100, 52429, 100000000, 10000000000};
  size_t i, j;
  for(i=0; i<COUNT_OF(shapes); i++){
    double before = 0;
    for(j=0; j<COUNT_OF(nums_of_keys); j++){
      double fpr = bloom_modelled_fpr(&shapes[i], (double)nums_of_keys[j]);
      assert_true(fpr>=before && fpr<=1);
      before = fpr;
    }
    assert_true(before>0.5);
  }
  /* Without probes every key is accepted, once there is one. */
  assert_true(bloom_modelled_fpr(&(bloom_shape){9, 64, 64, 0}, 0)<=0);
  assert_true(bloom_modelled_fpr(&(bloom_shape){9, 64, 64, 0}, 1)>=1);
}

/* The quickest first: the check of mutants stops at the first that fails. */
RUN_TESTS()
