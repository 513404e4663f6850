/*
** LevelDB's filter without LevelDB: golden filters and answers of version 1.23
** (golden_leveldb.h), and shapes at their edges.  LevelDB's own Bloom filter test is in
** ../sql/records/bloom_build.test.
*/
#include "support.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/numeric.h"
#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"
#include "golden_leveldb.h"

/* ---- Golden values ------------------------------------------------------- */

TEST(golden_filters_byte_for_byte){
  size_t i, num_bytes;
  for(i=0; i<COUNT_OF(golden_filters); i++){
    const golden_filter *row = &golden_filters[i];
    key_set set = key_set_of_texts(row->keys, row->num_keys);
    uint8_t *filter = build_filter_of(&set, row->bits_per_key, &num_bytes);
    char *hex = hex_of(filter, num_bytes);
    if( strcmp(hex, row->filter)!=0 ){
      fail_msg("%zu keys %s ... at %d bits per key: %s, expected %s" HOW_TO_REGENERATE,
               row->num_keys, row->num_keys ? row->keys[0] : "", row->bits_per_key, hex,
               row->filter);
    }
    free(hex);
    free(filter);
    key_set_free(&set);
  }
}

TEST(golden_long_filters_at_every_bits_per_key){
  key_set set = key_set_of_decimals(1, GOLDEN_LONG_KEYS);
  size_t i;
  assert_int_equal(COUNT_OF(golden_long_filters), 100);
  for(i=0; i<COUNT_OF(golden_long_filters); i++){
    const golden_long_filter *row = &golden_long_filters[i];
    size_t num_bytes;
    uint8_t *filter = build_filter_of(&set, row->bits_per_key, &num_bytes);
    uint64_t checksum = checksum_of(filter, num_bytes);
    if( num_bytes!=row->num_bytes || checksum!=row->checksum ){
      fail_msg("texts 1..%d at %d bits per key: %zu bytes, checksum %016" PRIx64
               ", expected %zu bytes, %016" PRIx64 HOW_TO_REGENERATE,
               GOLDEN_LONG_KEYS, row->bits_per_key, num_bytes, checksum, row->num_bytes,
               row->checksum);
    }
    free(filter);
  }
  key_set_free(&set);
}

TEST(golden_answers_for_hello){
  const uint32_t hello = bloom_leveldb_hash((const uint8_t*)"hello", 5);
  size_t i, num_bytes;
  for(i=0; i<COUNT_OF(golden_answers); i++){
    uint8_t *filter = bytes_of(golden_answers[i].filter, &num_bytes);
    uint8_t *exact = exact_copy(filter, num_bytes);
    if( may_contain(exact, num_bytes, hello)!=golden_answers[i].may_contain_hello ){
      fail_msg("'%s' may contain hello: expected %d" HOW_TO_REGENERATE,
               golden_answers[i].filter, golden_answers[i].may_contain_hello);
    }
    free(exact);
    free(filter);
  }
}

/* ---- Shapes -------------------------------------------------------------- */

/* Asserts the bits wanted, before rounding up to whole bytes. */
static void check_shape(uint64_t num_keys, double bits_per_key, uint64_t wanted_bits){
  bloom_shape shape;
  const uint64_t num_bytes = (wanted_bits<64 ? 64 : wanted_bits)/8 + (wanted_bits>64 && wanted_bits%8);
  if( bloom_leveldb_shape(num_keys, bits_per_key, &shape)!=BLOOM_OK ){
    fail_msg("%" PRIu64 " keys at %g bits: too big", num_keys, bits_per_key);
  }
  if( shape.num_bits!=num_bytes*8 || shape.num_bytes!=num_bytes+1 ){
    fail_msg("%" PRIu64 " keys at %g bits: %" PRIu64 " bits in %zu bytes, expected %" PRIu64
             " bits", num_keys, bits_per_key, shape.num_bits, shape.num_bytes, num_bytes*8);
  }
  assert_int_equal(shape.num_probes, bloom_num_probes(bits_per_key));
}

TEST(shapes_of_whole_bits_per_key){
  uint64_t num_keys, bits_per_key;
  for(num_keys=0; num_keys<=300; num_keys++){
    for(bits_per_key=1; bits_per_key<=100; bits_per_key++){
      check_shape(num_keys, (double)bits_per_key, num_keys*bits_per_key);
    }
  }
}

/* Eighths are exact in binary: the same in integers. */
TEST(shapes_of_fractions_round_up){
  uint64_t num_keys, eighths;
  for(num_keys=0; num_keys<=200; num_keys++){
    for(eighths=8; eighths<=800; eighths++){
      check_shape(num_keys, (double)eighths/8, (num_keys*eighths + 7)/8);
    }
  }
}

#define TWO_32 ((uint64_t)1 << 32)
#define TWO_60 ((uint64_t)1 << 60)

TEST(shapes_at_their_edges){
  static const struct { uint64_t num_keys; double bits_per_key; uint64_t wanted_bits; } cases[] = {
    /* 64 bits at least, then whole bytes. */
    {0, 10, 64}, {0, 100, 64}, {6, 10, 64}, {64, 1, 64}, {65, 1, 72}, {7, 10, 72},
    /* The smallest excess asks for one more bit. */
    {10, 9.6, 96}, {10, 9.61, 97}, {1000, 9.6, 9600}, {1000, 9.601, 9601}, {1000000, 1.0000001, 1000001},
    {72, 1 + 0x1p-40, 73},
    {TWO_32/8 - 1, 8, TWO_32 - 8}, {TWO_32/8, 8, TWO_32}, {TWO_32/8 + 1, 8, TWO_32 + 8},
    {TWO_32 - 1, 1, TWO_32}, {TWO_32 + 1, 1, TWO_32 + 1},
#if SIZE_MAX > UINT32_MAX
    {INT32_MAX, 100, (uint64_t)INT32_MAX*100}, /* LevelDB's largest key count */
    {TWO_32*8, 8, TWO_32*64} /* 2^32 bytes */, {TWO_32*8 - 1, 8, TWO_32*64 - 8},
    {(uint64_t)1 << 50, 8, (uint64_t)1 << 53},
    /* 2^63 bits are not counted any more; the last double below it is 2^63-1024. */
    {TWO_60 - 128, 8, (TWO_60 - 128)*8},
#else
    {(uint64_t)SIZE_MAX - 1, 8, ((uint64_t)SIZE_MAX - 1)*8},
#endif
  };
  static const struct { uint64_t num_keys; double bits_per_key; } too_big[] = {
#if SIZE_MAX <= UINT32_MAX
    {(uint64_t)SIZE_MAX, 8}, {(uint64_t)SIZE_MAX + 1, 8},
#endif
    {TWO_60, 8}, {TWO_60*8, 1}, {TWO_60*8, 100}, {UINT64_MAX, 1}, {UINT64_MAX, 1.5}, {UINT64_MAX, 100},
    {UINT64_MAX/100, 100}, /* 2^64 bits */
  };
  size_t i;
  for(i=0; i<COUNT_OF(cases); i++) check_shape(cases[i].num_keys, cases[i].bits_per_key, cases[i].wanted_bits);
  for(i=0; i<COUNT_OF(too_big); i++){
    const bloom_shape before = {1, 2, 3, 4};
    bloom_shape shape = before;
    if( bloom_leveldb_shape(too_big[i].num_keys, too_big[i].bits_per_key, &shape)!=BLOOM_TOO_BIG ){
      fail_msg("%" PRIu64 " keys at %g bits: not too big", too_big[i].num_keys, too_big[i].bits_per_key);
    }
    assert_true(bloom_shapes_are_equal(&shape, &before) && shape.num_bits==before.num_bits);
  }
}

TEST(num_probes_of_whole_bits_per_key){
  int bits_per_key;
  for(bits_per_key=1; bits_per_key<=100; bits_per_key++){
    /* 0.69 in integers; LevelDB's doubles have the same result. */
    int num_probes = bits_per_key*69/100;
    if( num_probes<1 ) num_probes = 1;
    if( num_probes>30 ) num_probes = 30;
    assert_int_equal(bloom_num_probes(bits_per_key), num_probes);
  }
}

TEST(num_probes_of_fractions){
  static const struct { double bits_per_key; uint32_t num_probes; } cases[] = {
    {0.001, 1}, {1.45, 1}, {2.89, 1}, {2.9, 2}, {10.1, 6}, {10.15, 7}, {43.4, 29}, {43.5, 30}, {1e300, 30},
  };
  size_t i;
  for(i=0; i<COUNT_OF(cases); i++) assert_int_equal(bloom_num_probes(cases[i].bits_per_key), cases[i].num_probes);
}

/* ---- Reading -------------------------------------------------------------- */

/* 30 is the last probe count that is not reserved, and all 30 are tested: a
** filter that lacks one bit of a key says no, whichever it is. */
TEST(every_probe_is_tested){
  uint32_t num_probes, missing;
  for(num_probes=1; num_probes<=30; num_probes++){
    rng random = rng_stream(num_probes);
    const bloom_shape shape = leveldb_shape(1000, num_probes);
    const uint32_t hash = (uint32_t)rng_next(&random);
    const bloom_hash_run run = { NULL, &hash, 1 };
    uint8_t filter[126];
    for(missing=0; missing<num_probes; missing++){
      const uint64_t delta = (hash >> 17 | (uint64_t)hash << 15) & UINT32_MAX;
      const uint64_t bit = ((hash + missing*delta) & UINT32_MAX) % shape.num_bits;
      bloom_leveldb_clear(&shape, filter);
      bloom_leveldb_add(&shape, filter, &run);
      assert_true(may_contain(filter, sizeof(filter), hash));
      filter[bit/8] ^= (uint8_t)(1u << bit%8);
      assert_false(may_contain(filter, sizeof(filter), hash));
    }
  }
}

RUN_TESTS()
