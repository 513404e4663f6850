/*
** Reading any bytes as a filter: always usable, never past the end, and never
** a "no" that LevelDB would not say.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"
#include "../../ext/core/leveldb/hash.h"

/* Every field, for these bytes. */
static void check_fields(const uint8_t *bytes, size_t num_bytes){
  const unsigned last = num_bytes ? bytes[num_bytes-1] : 0;
  bloom_filter filter;
  memset(&filter, 0x5a, sizeof(filter));
  bloom_filter_read(bytes, num_bytes, &filter);
  assert_ptr_equal(filter.encoding, &bloom_encoding_leveldb);
  assert_ptr_equal(filter.bytes, bytes);
  assert_ptr_equal(filter.bits, bytes);
  assert_int_equal(filter.shape.num_bytes, num_bytes);
  assert_int_equal(filter.shape.num_bits, num_bytes ? (num_bytes-1)*8 : 0);
  assert_int_equal(filter.shape.num_slots, num_bytes ? (num_bytes-1)*8 : 0);
  assert_int_equal(filter.shape.num_probes, num_bytes<2 || last>30 ? 0 : last);
}

TEST(any_bytes_are_read_and_answer_like_leveldb){
  const size_t num_rounds = test_share(20);
  size_t round, num_bytes, i;
  unsigned last;
  for(round=0; round<num_rounds; round++){
    for(num_bytes=0; num_bytes<=64; num_bytes++){
      for(last=0; last<256; last++){
        rng random = rng_stream((round*65 + num_bytes)*256 + last);
        uint8_t bytes[64], *exact;
        rng_bytes(&random, bytes, num_bytes);
        /* Half of the rounds with most bits set, or most answers would be no. */
        if( round%2 ) for(i=0; i<num_bytes; i++) bytes[i] |= (uint8_t)rng_next(&random);
        if( num_bytes ) bytes[num_bytes-1] = (uint8_t)last;
        exact = exact_copy(bytes, num_bytes);
        check_fields(exact, num_bytes);
        for(i=0; i<4; i++){
          const uint32_t hash = (uint32_t)rng_next(&random);
          assert_int_equal(may_contain(exact, num_bytes, hash),
                           naive_may_contain(exact, num_bytes, hash));
        }
        if( num_bytes ) assert_memory_equal(exact, bytes, num_bytes);
        free(exact);
      }
    }
  }
}

TEST(no_bytes_are_an_empty_filter){
  check_fields(NULL, 0);
  assert_false(may_contain(NULL, 0, 0));
  assert_false(may_contain(NULL, 0, UINT32_MAX));
}

/* The length counts before the probe byte: one reserved byte is still empty. */
TEST(one_byte_is_an_empty_filter){
  unsigned byte;
  for(byte=0; byte<256; byte++){
    const uint8_t bytes[1] = { (uint8_t)byte };
    check_fields(bytes, 1);
    assert_false(may_contain(bytes, 1, byte*0x01010101u));
  }
}

TEST(encodings_are_found_by_name){
  const bloom_encoding *const *row;
  assert_ptr_equal(bloom_encoding_named("leveldb"), &bloom_encoding_leveldb);
  assert_ptr_equal(bloom_default_encoding, &bloom_encoding_leveldb);
  assert_null(bloom_encoding_named(""));
  assert_null(bloom_encoding_named("level"));
  assert_null(bloom_encoding_named("leveldb "));
  assert_null(bloom_encoding_named("par\x11uet")); /* q, but for two bits */
  assert_ptr_equal(bloom_encoding_named("LEVELDB"), &bloom_encoding_leveldb);
  assert_ptr_equal(bloom_encoding_named("Parquet"), bloom_encoding_named("parquet"));
  for(row=bloom_encodings; *row; row++){
    assert_ptr_equal(bloom_encoding_named((*row)->name), (*row)->writer ? *row : NULL);
    /* The one that takes any bytes comes last, all others are known by their first. */
    assert_int_equal((*row)->magic==BLOOM_NO_MAGIC, row[1]==NULL);
    assert_int_equal(*row==&bloom_encoding_leveldb, row[1]==NULL);
  }
}

/* Filters merge bit by bit: whatever differs, they do not. */
TEST(shapes_are_equal_in_every_part){
  const bloom_shape shape = {.num_bytes = 10, .num_bits = 72, .num_slots = 72, .num_probes = 6};
  bloom_shape other = shape;
  assert_int_equal(bloom_shapes_are_equal(&shape, &other), 1);
  other.num_bytes++;
  assert_int_equal(bloom_shapes_are_equal(&shape, &other), 0);
  other = shape;
  other.num_slots++;
  assert_int_equal(bloom_shapes_are_equal(&shape, &other), 0);
  other = shape;
  other.num_probes++;
  assert_int_equal(bloom_shapes_are_equal(&shape, &other), 0);
}

/* Hashes that are all zeros or all ones, or that step by nothing. */
TEST(extreme_hashes_answer_like_leveldb){
  static const uint32_t hashes[] = {
    0, 1, UINT32_MAX, 0x80000000, 0x7fffffff, 0x00008000, 0x0001ffff, 0x00020000, 0xaaaaaaaa
  };
  size_t round, i;
  for(round=0; round<2000; round++){
    rng random = rng_stream(round);
    uint8_t bytes[40];
    const size_t num_bytes = 2 + rng_below(&random, sizeof(bytes) - 1);
    rng_bytes(&random, bytes, num_bytes);
    bytes[num_bytes-1] = (uint8_t)(round%32);
    for(i=0; i<COUNT_OF(hashes); i++){
      assert_int_equal(may_contain(bytes, num_bytes, hashes[i]),
                       naive_may_contain(bytes, num_bytes, hashes[i]));
    }
  }
}

/* More bits never take a key away. */
TEST(setting_bits_loses_no_key){
  rng random = rng_stream(11);
  uint32_t hashes[200];
  size_t num_bytes, i, round;
  uint8_t *filter;
  for(i=0; i<COUNT_OF(hashes); i++) hashes[i] = (uint32_t)rng_next(&random);
  filter = build_filter(hashes, COUNT_OF(hashes), 10, NULL, &num_bytes);
  for(round=0; round<500; round++){
    for(i=0; i<COUNT_OF(hashes); i++) assert_true(may_contain(filter, num_bytes, hashes[i]));
    filter[rng_below(&random, num_bytes-1)] |= (uint8_t)(1u << rng_below(&random, 8));
  }
  free(filter);
}

RUN_TESTS()
