/*
** Going through all bits of a filter: right at every length, and it can be stopped; and fixed-width integers in the
** byte order of the file.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/filter.h"
#include "../../ext/core/bytes.h"
#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"

/* A filter of LevelDB's of these bytes and one for the probes, stopped by interrupt. */
static bloom_filter filter_of(const uint8_t *bytes, size_t num_bytes, const bloom_interrupt *interrupt){
  bloom_filter filter;
  assert_int_equal(bloom_encoding_leveldb.read(bytes, num_bytes + 1, &filter), 1);
  filter.interrupt = interrupt;
  return filter;
}

static uint8_t *random_bytes(size_t num_bytes, uint64_t number){
  rng random = rng_stream(number);
  uint8_t *bytes = allocated(num_bytes + 1);
  rng_bytes(&random, bytes, num_bytes);
  bytes[num_bytes] = 6;
  return bytes;
}

/* About the ends of steps. */
static const size_t lengths[] = {
  1, 7, 247, 248, 249, 5000, BLOOM_STEP_BYTES - 1, BLOOM_STEP_BYTES, BLOOM_STEP_BYTES + 1,
  2*BLOOM_STEP_BYTES, 2*BLOOM_STEP_BYTES + 9, 5*BLOOM_STEP_BYTES - 1,
};

TEST(steps_do_what_one_pass_does){
  size_t i, j;
  for(i=0; i<COUNT_OF(lengths); i++){
    const size_t num_bytes = lengths[i];
    uint8_t *a = random_bytes(num_bytes, 2*i), *b = random_bytes(num_bytes, 2*i + 1), *all = allocated(num_bytes + 1);
    stopper stops = {0, 1 << 30};
    const bloom_interrupt interrupt = {stop_reading, &stops};
    const bloom_filter filter = filter_of(b, num_bytes, &interrupt);
    const int num_looks = (int)((num_bytes - 1) / BLOOM_STEP_BYTES);
    uint64_t expected = 0, bits_set = 0;
    for(j=0; j<num_bytes; j++){
      unsigned byte = b[j];
      for(; byte; byte&=byte-1) expected++;
      all[j] = a[j] | b[j];
    }
    assert_int_equal(bloom_count_filter_bits(&filter, num_bytes, &bits_set), 1);
    assert_int_equal(bits_set, expected);
    assert_int_equal(stops.num_calls, num_looks); /* no more looks: small filters take none */
    stops.num_calls = 0;
    assert_int_equal(bloom_merge_filter(a, &filter), 1);
    assert_memory_equal(a, all, num_bytes);
    assert_int_equal(a[num_bytes], 6);
    assert_int_equal(stops.num_calls, num_looks);
    free(a);
    free(b);
    free(all);
  }
}

/* After the first yes nothing is asked or read any more. */
TEST(each_can_be_stopped){
  const size_t num_bytes = 5*BLOOM_STEP_BYTES;
  uint8_t *bytes = calloc(num_bytes + 1, 1), *into = calloc(num_bytes + 1, 1);
  stopper stops = {0, 3};
  const bloom_interrupt interrupt = {stop_reading, &stops};
  bloom_filter filter;
  uint64_t bits_set;
  assert_non_null(bytes);
  assert_non_null(into);
  bytes[num_bytes] = 6;
  filter = filter_of(bytes, num_bytes, &interrupt);
  assert_int_equal(bloom_count_filter_bits(&filter, num_bytes, &bits_set), 0);
  assert_int_equal(stops.num_calls, 3);
  stops.num_calls = 0;
  memset(bytes, 0x55, num_bytes);
  assert_int_equal(bloom_merge_filter(into, &filter), 0);
  assert_int_equal(stops.num_calls, 3);
  assert_int_equal(into[3*BLOOM_STEP_BYTES - 1], 0x55);
  assert_int_equal(into[3*BLOOM_STEP_BYTES], 0);
  free(bytes);
  free(into);
}

/* Describing, measuring and merging, of each encoding that keys are added to. */
TEST(filters_can_be_stopped){
  const bloom_encoding *const *encoding;
  for(encoding=bloom_encodings; *encoding; encoding++){
    if( (*encoding)->add==NULL ) continue;
    stopper stops = {0, 1 << 30};
    const bloom_interrupt interrupt = {stop_reading, &stops};
    bloom_shape shape;
    bloom_filter filter;
    bloom_facts facts;
    uint8_t *bytes, *into;
    assert_int_equal((*encoding)->shape(BLOOM_STEP_BYTES - 99, 40, &shape), BLOOM_OK); /* 5 steps, the last one short */
    bytes = allocated(shape.num_bytes);
    into = allocated(shape.num_bytes);
    (*encoding)->clear(&shape, bytes);
    (*encoding)->clear(&shape, into);
    assert_int_equal((*encoding)->read(bytes, shape.num_bytes, &filter), 1);
    memset(bytes + (filter.bits - bytes), 0x55, (size_t)(shape.num_bits / 8));
    filter.interrupt = &interrupt;
    (*encoding)->describe(&filter, 1, &facts);
    assert_int_equal(facts.bits_set, shape.num_bits / 2);
    assert_int_equal(stops.num_calls, 4);
    stops.num_calls = 0;
    (void)bloom_measured_fpr(&filter);
    assert_true(stops.num_calls>=15);
    stops = (stopper){0, 2};
    (*encoding)->describe(&filter, 1, &facts);
    assert_int_equal(stops.num_calls, 2);
    stops.num_calls = 0;
    (void)bloom_measured_fpr(&filter);
    assert_int_equal(stops.num_calls, 2);
    stops.num_calls = 0;
    assert_int_equal(bloom_merge_filter(into, &filter), 0);
    assert_int_equal(stops.num_calls, 2);
    stops = (stopper){0, 1 << 30};
    assert_int_equal(bloom_merge_filter(into, &filter), 1);
    assert_memory_equal(into, bytes, shape.num_bytes);
    free(bytes);
    free(into);
  }
}

TEST(load32_reads_the_lowest_byte_first){
  static const uint8_t bytes[] = { 0xff, 0x81, 0x42, 0x24, 0x98, 0xff };
  assert_int_equal(bloom_load32_le(bytes + 1), 0x98244281u);
  assert_int_equal(bloom_load32_le(bytes), 0x244281ffu);
}

TEST(store64_writes_eight_bytes_lowest_first){
  static const uint8_t expected[] = { 0xa5, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x81, 0xa5 };
  uint8_t bytes[10];
  memset(bytes, 0xa5, sizeof(bytes));
  bloom_store64_le(bytes + 1, 0x8123456789abcdefu);
  assert_memory_equal(bytes, expected, sizeof(bytes));
}

RUN_TESTS()
