/*
** What bloom_info() says about a filter, against naive counts, libm and brute
** force over random keys.
*/
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"
#include "../../ext/core/leveldb/sizing.h"

/* A filter over bytes that it borrows. */
static bloom_filter filter_of(const uint8_t *bytes, size_t num_bytes){
  bloom_filter filter;
  bloom_filter_read(bytes, num_bytes, &filter);
  return filter;
}

static bloom_facts facts_of(const bloom_filter *filter){
  bloom_facts facts;
  filter->encoding->describe(filter, 1, &facts);
  return facts;
}

/* ---- bits_set ------------------------------------------------------------ */

static uint64_t naive_bits_set(const uint8_t *bytes, size_t num_bit_bytes){
  uint64_t count = 0;
  size_t bit;
  for(bit=0; bit<8*num_bit_bytes; bit++) count += bytes[bit/8] >> bit%8 & 1;
  return count;
}

TEST(bits_set_at_every_length){
  size_t num_bytes, round;
  /* More than twice the bytes that are counted at once. */
  for(num_bytes=0; num_bytes<=520; num_bytes++){
    for(round=0; round<10; round++){
      rng random = rng_stream(num_bytes*100 + round);
      uint8_t bytes[520], *exact;
      bloom_filter filter;
      rng_bytes(&random, bytes, num_bytes);
      if( round==0 ) memset(bytes, 0xff, num_bytes);
      if( round==1 ) memset(bytes, 0, num_bytes);
      /* The probe byte is not counted. */
      if( num_bytes ) bytes[num_bytes-1] = (uint8_t)(round%31);
      exact = exact_copy(bytes, num_bytes);
      filter = filter_of(exact, num_bytes);
      assert_int_equal(facts_of(&filter).bits_set,
                       num_bytes ? naive_bits_set(exact, num_bytes-1) : 0);
      free(exact);
    }
  }
}

/* Its bits are not understood: none is claimed. */
TEST(reserved_filters_have_no_bits_set){
  const uint8_t bytes[9] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 31 };
  const bloom_filter filter = filter_of(bytes, sizeof(bytes));
  assert_int_equal(facts_of(&filter).bits_set, -1);
}

/* ---- estimated_keys ------------------------------------------------------ */

/*
** Where the model is the textbook's: probe 2 is like the others, and no divisor of 2^32-1
** divides the size.  leveldb_sizing_test.c has the rest.
*/
static int is_textbook(uint64_t num_bits, uint32_t num_probes){
  return num_bits%3 && num_bits%5 && num_bits%17 && (num_probes<=2 || num_bits<65536);
}

/* libm's logarithm, on whichever side of the fill keeps its argument exact. */
static double expected_keys(uint64_t num_bits, uint32_t num_probes, uint64_t bits_set){
  const double bits = (double)num_bits;
  if( bits_set<num_bits/2 ) return -bits/num_probes * log1p(-(double)bits_set/bits);
  return bits/num_probes * log(bits/(double)(num_bits - bits_set));
}

static void check_estimate(uint64_t num_bits, uint32_t num_probes, uint64_t bits_set){
  const bloom_shape shape = leveldb_shape(num_bits, num_probes);
  if( !is_textbook(num_bits, num_probes) ) return;
  assert_close(bloom_modelled_keys(&shape, bits_set), expected_keys(num_bits, num_probes, bits_set), 1e-12, "estimated_keys");
}

TEST(estimates_at_the_ends){
  unsigned lg;
  uint32_t num_probes;
  for(lg=3; lg<=32; lg++){
    const uint64_t num_bits = (uint64_t)1 << lg;
    for(num_probes=1; num_probes<=30; num_probes++){
      const bloom_shape shape = leveldb_shape(num_bits, num_probes);
      check_estimate(num_bits, num_probes, 1);
      check_estimate(num_bits, num_probes, num_bits/2);
      check_estimate(num_bits, num_probes, num_bits-1);
      assert_true(bloom_modelled_keys(&shape, 0)<=0);
    }
  }
  /* One bit in 2^32: one key's worth, 1/num_probes, and no cancellation.  Bits beyond these
  ** count for nothing. */
  for(lg=32; lg<=40; lg++){
    const bloom_shape shape = leveldb_shape((uint64_t)1 << lg, 1);
    assert_close(bloom_modelled_keys(&shape, 1), 1 + 0x1p-33, 1e-15, "1 in 2^32");
  }
}

TEST(estimates_at_random){
  rng random = rng_stream(21);
  size_t i, num_estimates = test_share(500000);
  for(i=0; i<num_estimates; i++){
    /* From 8 bits on. */
    const uint64_t num_bits = (rng_next(&random) >> (32 + rng_below(&random, 29))) / 8 * 8 + 8;
    uint64_t bits_set = rng_next(&random) % num_bits;
    if( i%3==0 ) bits_set >>= rng_below(&random, 30);
    if( i%3==1 ) bits_set = num_bits - 1 - (bits_set >> rng_below(&random, 30));
    check_estimate(num_bits, (uint32_t)(num_bits<65536 ? i%30 : i%2) + 1, bits_set);
  }
}

/* ---- expected_fpr -------------------------------------------------------- */

/* With one probe the rate is the fill; with more it is the model's, for those keys. */
TEST(expected_fpr_is_that_of_the_keys){
  uint32_t num_probes;
  size_t num_ones;
  for(num_probes=1; num_probes<=30; num_probes++){
    for(num_ones=0; num_ones<=64; num_ones++){
      const bloom_shape shape = leveldb_shape(64, num_probes);
      uint8_t bytes[9] = { 0 };
      bloom_filter filter;
      double expected;
      size_t bit;
      for(bit=0; bit<num_ones; bit++) bytes[bit/8] |= (uint8_t)(1u << bit%8);
      bytes[8] = (uint8_t)num_probes;
      filter = filter_of(bytes, sizeof(bytes));
      expected = num_probes==1 || num_ones==64 ? (double)num_ones/64
               : bloom_modelled_fpr(&shape, expected_keys(64, num_probes, num_ones));
      assert_close(facts_of(&filter).expected_fpr, expected, 1e-7, "expected_fpr");
    }
  }
}

/* Bits that no probe reaches count for nothing, set or not. */
TEST(bits_out_of_reach_do_not_count){
  const size_t num_bytes = ((size_t)1 << 29) + 1000;
  uint8_t *bytes = calloc(num_bytes, 1);
  bloom_filter filter;
  if( bytes==NULL ){
    skip(); /* no room for 512 MiB here */
    return;
  }
  memset(bytes + ((size_t)1 << 29), 0xff, 900);
  bytes[0] = 7;
  bytes[((size_t)1 << 29) - 1] = 0x80;
  bytes[num_bytes-1] = 10;
  filter = filter_of(bytes, num_bytes);
  /* An emulator takes seconds to go through all of it. */
  if( test_share(100)==100 ){
    const bloom_facts facts = facts_of(&filter);
    assert_int_equal(facts.bits_set, 4);
    assert_close(facts.fill_ratio, 4/4294967296.0, 1e-13, "fill_ratio");
    assert_string_equal(facts.note, "too long: probes reach only its first 2^32 bits");
  }
  free(bytes);
}

/* Both rates of filters whose answer needs no bits. */
TEST(rates_of_filters_without_bits_to_test){
  static const struct {
    const char *filter; /* hex */
    int rate;
  } rows[] = {
    { "", 0 }, { "06", 0 }, { "ff", 0 },                         /* too short */
    { "0000", 1 }, { "ff00", 1 }, { "000000000000000000", 1 },   /* no probes */
    { "001f", 1 }, { "0080", 1 }, { "ffff", 1 }, { "000000000000000020", 1 }, /* reserved */
    { "0006", 0 }, { "00000000000000001e", 0 },                  /* no bit set */
    { "ff01", 1 }, { "ffffffffffffffff1e", 1 },                  /* every bit set */
  };
  size_t i, num_bytes;
  for(i=0; i<COUNT_OF(rows); i++){
    uint8_t *bytes = bytes_of(rows[i].filter, &num_bytes);
    const bloom_filter filter = filter_of(bytes, num_bytes);
    const double expected = facts_of(&filter).expected_fpr;
    const double measured = bloom_measured_fpr(&filter);
    if( expected!=rows[i].rate || measured!=rows[i].rate ){
      fail_msg("'%s': expected_fpr %g, measured_fpr %g, both should be %d", rows[i].filter,
               expected, measured, rows[i].rate);
    }
    free(bytes);
  }
}

/* ---- measured_fpr -------------------------------------------------------- */

/* The rate over random keys, hashed as keys are: no hash of the sample. */
static double brute_force_fpr(const bloom_filter *filter, rng *random, size_t num_keys){
  size_t accepted = 0, i;
  for(i=0; i<num_keys; i++){
    uint8_t key[8];
    rng_bytes(random, key, sizeof(key));
    accepted += (size_t)reference_may_contain(filter->bytes, filter->shape.num_bytes,
                                          bloom_leveldb_hash(key, sizeof(key)));
  }
  return (double)accepted/(double)num_keys;
}

/* Two samples of one rate: they differ by 5 standard errors about once in a
** million. Sizes where double hashing does worse than theory are among them. */
TEST(measured_fpr_is_that_of_random_keys){
  static const struct {
    size_t num_keys;
    double bits_per_key;
  } rows[] = {
    { 1, 10 }, { 100, 1 }, { 1000, 2 }, { 1000, 4 }, { 1000, 10 }, { 20000, 4.5 },
    { 20000, 10 }, { 150000, 10 }, { 300000, 10 }, { 3000, 20 },
  };
  const size_t num_keys = 200000;
  size_t i;
  for(i=0; i<COUNT_OF(rows); i++){
    rng random = rng_stream(31 + i);
    bloom_filter filter;
    uint8_t *bytes = random_filter(&random, rows[i].num_keys, rows[i].bits_per_key, &filter);
    const double brute_force = brute_force_fpr(&filter, &random, num_keys);
    const double measured = bloom_measured_fpr(&filter);
    const double standard_error = sqrt(brute_force*(1 - brute_force)*(1.0/(double)num_keys + 1.0/BLOOM_FPR_SAMPLE))
                                + 1.0/(double)num_keys;
    if( !(fabs(measured - brute_force) <= 5*standard_error) ){
      fail_msg("%zu keys at %g bits: measured %g, random keys %g +- %g", rows[i].num_keys,
               rows[i].bits_per_key, measured, brute_force, standard_error);
    }
    free(bytes);
  }
}

/* A filter's rate is the same number wherever it is measured: the sample is fixed. */
TEST(measured_fpr_samples_multiples_of_the_golden_ratio){
  rng random = rng_stream(77);
  bloom_filter filter;
  uint8_t *bytes = random_filter(&random, 500, 4, &filter);
  size_t num_accepted = 0, i;
  for(i=0; i<BLOOM_FPR_SAMPLE; i++){
    num_accepted += (size_t)reference_may_contain(bytes, filter.shape.num_bytes, (uint32_t)i * 0x9e3779b1u);
  }
  assert_true(bloom_measured_fpr(&filter)==(double)num_accepted/BLOOM_FPR_SAMPLE);
  free(bytes);
}

RUN_TESTS()
