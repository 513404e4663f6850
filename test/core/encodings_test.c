/*
** Reading any bytes as a filter: always usable, never past the end, and never
** a "no" that LevelDB would not say; and what holds for every encoding.
*/
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"

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
  /* Hashes that are all zeros or all ones, or that step by nothing. */
  static const uint32_t extremes[] = {
    0, 1, UINT32_MAX, 0x80000000, 0x7fffffff, 0x00008000, 0x0001ffff, 0x00020000, 0xaaaaaaaa
  };
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
        for(i=0; i<6; i++){
          const uint32_t hash = i<4 ? (uint32_t)rng_next(&random) : extremes[rng_below(&random, COUNT_OF(extremes))];
          assert_int_equal(may_contain(exact, num_bytes, hash),
                           reference_may_contain(exact, num_bytes, hash));
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
    assert_ptr_equal(bloom_encoding_named((*row)->name), (*row)->add ? *row : NULL);
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

static void add_hash(const bloom_encoding *encoding, const bloom_shape *shape, uint8_t *filter,
                     bloom_hash_value hash){
  const uint32_t narrow = (uint32_t)hash;
  const bloom_hash_run run = { NULL, encoding->hash_value_bytes==4 ? (const void*)&narrow : &hash, 1 };
  encoding->add(shape, filter, &run);
}

/* Of each encoding that keys are added to: from key to answer, no wrong "no". */
TEST(keys_that_were_added_may_be_there){
  const bloom_encoding *const *row;
  for(row=bloom_encodings; *row; row++){
    if( (*row)->add==NULL ) continue;
    const bloom_encoding *encoding = *row;
    bloom_shape shape;
    bloom_filter filter;
    uint8_t *bytes;
    int64_t i;
    assert_true(strstr(BLOOM_ENCODING_NAMES, encoding->name)!=NULL);
    assert_int_equal(encoding->shape(4000, 10, &shape), BLOOM_OK);
    bytes = allocated(shape.num_bytes);
    encoding->clear(&shape, bytes);
    assert_int_equal(encoding->read(bytes, shape.num_bytes, &filter), 1);
    for(i=0; i<2000; i++){
      char text[24];
      const size_t length = i ? (size_t)snprintf(text, sizeof(text), "key %d", (int)i) : 0;
      const uint8_t *key = length ? (const uint8_t*)text : NULL; /* the empty key may be NULL */
      const bloom_hash_value of_integer = encoding->hash_int64(i - 1000), of_bytes = encoding->hash_bytes(key, length);
      add_hash(encoding, &shape, bytes, of_integer);
      add_hash(encoding, &shape, bytes, of_bytes);
      assert_true(encoding->may_contain(&filter, of_integer) && encoding->may_contain(&filter, of_bytes));
    }
    free(bytes);
  }
}

/* Of each encoding that keys are added to: the filter hangs on the set of its keys alone, and
** nothing is written outside of it. */
TEST(order_runs_and_merging_do_not_matter){
  const bloom_encoding *const *row;
  for(row=bloom_encodings; *row; row++){
    if( (*row)->add==NULL ) continue;
    const bloom_encoding *encoding = *row;
    const size_t hash_bytes = encoding->hash_value_bytes, num_rounds = test_share(300);
    size_t round;
    for(round=0; round<num_rounds; round++){
      rng random = rng_stream(1000 + round);
      const size_t num_hashes = rng_below(&random, 3000), num_first = rng_below(&random, num_hashes + 1);
      uint8_t *hashes = allocated(num_hashes*hash_bytes), *expected, *given, *rest;
      const bloom_hash_run all = { NULL, hashes, num_hashes }, empty = { NULL, NULL, 0 };
      bloom_shape shape;
      bloom_filter read;
      rng_bytes(&random, hashes, num_hashes*hash_bytes);
      assert_int_equal(encoding->shape(rng_below(&random, 1000), 1 + (double)rng_below(&random, 991)/10,
                                               &shape), BLOOM_OK);
      /* One byte more on each side: it stays. */
      expected = allocated(shape.num_bytes + 2);
      given = allocated(shape.num_bytes + 2);
      rest = allocated(shape.num_bytes);
      memset(expected, 0xa5, shape.num_bytes + 2);
      memset(given, 0xa5, shape.num_bytes + 2);
      encoding->clear(&shape, expected + 1);
      encoding->add(&shape, expected + 1, &all);
      encoding->clear(&shape, given + 1);
      encoding->clear(&shape, rest);
      add_in_runs(encoding, &shape, given + 1, hashes, num_first, &random);
      add_in_runs(encoding, &shape, rest, hashes + num_first*hash_bytes, num_hashes - num_first, &random);
      assert_int_equal(encoding->read(rest, shape.num_bytes, &read), 1);
      assert_int_equal(bloom_merge_filter(given + 1, &read), 1);
      assert_memory_equal(given, expected, shape.num_bytes + 2);
      /* Nothing, and keys that are there, change nothing. */
      encoding->add(&shape, given + 1, NULL);
      encoding->add(&shape, given + 1, &empty);
      add_in_runs(encoding, &shape, given + 1, hashes, num_hashes, &random);
      assert_memory_equal(given, expected, shape.num_bytes + 2);
      free(hashes);
      free(expected);
      free(given);
      free(rest);
    }
  }
}

RUN_TESTS()
