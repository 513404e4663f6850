/*
** LevelDB's filter block: read as table/filter_block.cc reads it, whatever the bytes, and
** written as its builder does.
*/
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/leveldb/files.h"
#include "../../ext/core/leveldb/leveldb.h"

/* The block of these hexadecimal digits; free() *bytes. */
static const char *read_hex(const char *hex, uint8_t **bytes, bloom_filter_block *block){
  size_t num_bytes;
  *bytes = bytes_of(hex, &num_bytes);
  return bloom_filter_block_read(*bytes, num_bytes, block);
}

TEST(blocks_that_cannot_be_read){
  static const struct { const char *hex, *wrong; } cases[] = {
    { "",             "it has fewer than 5 bytes" },
    { "0000000b",     "it has fewer than 5 bytes" },
    { "010000000b",   "its offsets begin past its end" },
    { "ffffffff0b",   "its offsets begin past its end" },
    { "00fbffffff0b", "its offsets begin past its end" },
  };
  size_t i;
  for(i=0; i<COUNT_OF(cases); i++){
    bloom_filter_block block = {.num_slots = 77};
    uint8_t *bytes;
    assert_string_equal(read_hex(cases[i].hex, &bytes, &block), cases[i].wrong);
    assert_int_equal(block.num_slots, 77);
    free(bytes);
  }
}

typedef struct expected_slot {
  const char *filter; /* hexadecimal; NULL: damaged */
  int64_t first_offset, last_offset;
} expected_slot;

static void check_slots(const char *hex, const expected_slot *expected, size_t num_slots){
  bloom_filter_block block;
  uint8_t *bytes;
  size_t i;
  assert_null(read_hex(hex, &bytes, &block));
  assert_int_equal(block.num_slots, num_slots);
  for(i=0; i<num_slots; i++){
    bloom_filter_slot slot;
    char *filter;
    bloom_filter_block_slot(&block, i, &slot);
    filter = hex_of(slot.filter, slot.num_bytes);
    assert_string_equal(filter, expected[i].filter ? expected[i].filter : "0000");
    assert_int_equal(slot.is_damaged, expected[i].filter==NULL);
    assert_true(slot.first_offset==expected[i].first_offset);
    assert_true(slot.last_offset==expected[i].last_offset);
    free(filter);
  }
  free(bytes);
}

#define NOWHERE INT64_MAX, INT64_MAX - 1

TEST(slots_are_read){
  static const expected_slot three[] = {{"aa06", 0, 2047}, {"", 2048, 4095}, {"bbcc06", 4096, 6143}};
  check_slots("000000000b", NULL, 0);
  check_slots("aa06bbcc06" "00000000" "02000000" "02000000" "05000000" "0b", three, 3);
}

TEST(offsets_that_are_none){
  /* Backward, past the filters, equal and past them, all ones. */
  static const expected_slot backward[] = {{"bb06", 0, 0}, {NULL, 1, 1}, {"aa06bb06", 2, 2}};
  static const expected_slot past[] = {{NULL, 0, 2047}, {"", 2048, 4095}, {NULL, 4096, 6143}};
  static const expected_slot ones[] = {{NULL, 0, 2047}, {"", 2048, 4095}, {NULL, 4096, 6143}};
  check_slots("aa06bb06" "02000000" "04000000" "00000000" "04000000" "00", backward, 3);
  check_slots("aa06bb06" "00000000" "05000000" "05000000" "04000000" "0b", past, 3);
  check_slots("aa06bb06" "02000000" "ffffffff" "ffffffff" "04000000" "0b", ones, 3);
}

/* LevelDB takes whole offsets from the front, so the last limit is read across two. */
TEST(offsets_that_do_not_come_out_even){
  static const expected_slot one[] = {{NULL, 0, 2047}};
  check_slots("aa06" "00000000" "ee" "02000000" "0b", one, 1);
  check_slots("aa06" "eeeeee" "02000000" "0b", NULL, 0);
}

TEST(any_base_lg){
  static const expected_slot small[] = {{"", 0, 0}, {"", 1, 1}, {"", 2, 2}};
  static const expected_slot at_61[] = {{"", 0, 0x1fffffffffffffff}, {"", 0x2000000000000000, 0x3fffffffffffffff},
                                        {"", 0x4000000000000000, 0x5fffffffffffffff}};
  static const expected_slot at_62[] = {{"", 0, 0x3fffffffffffffff}, {"", 0x4000000000000000, INT64_MAX}, {"", NOWHERE}};
  static const expected_slot over[] = {{"", 0, INT64_MAX}, {"", NOWHERE}, {"", NOWHERE}};
  static const expected_slot undefined[] = {{NULL, 0, INT64_MAX}, {NULL, NOWHERE}, {NULL, NOWHERE}};
  char hex[64];
  int base_lg;
  for(base_lg=0; base_lg<256; base_lg++){
    snprintf(hex, sizeof(hex), "00000000" "00000000" "00000000" "00000000" "%02x", (unsigned)base_lg);
    if( base_lg==0 ) check_slots(hex, small, 3);
    else if( base_lg==61 ) check_slots(hex, at_61, 3);
    else if( base_lg==62 ) check_slots(hex, at_62, 3);
    else if( base_lg==63 ) check_slots(hex, over, 3);
    else if( base_lg>63 ) check_slots(hex, undefined, 3);
  }
}

/* Any bytes: what lies in a slot lies in the block. */
TEST(random_blocks){
  rng random = rng_stream(1500);
  size_t round;
  for(round=0; round<test_share(200000); round++){
    uint8_t bytes[40];
    uint8_t *exact;
    const size_t num_bytes = rng_below(&random, sizeof(bytes) + 1);
    bloom_filter_block block;
    size_t i;
    rng_bytes(&random, bytes, num_bytes);
    /* Small offsets now and then. */
    for(i=0; i<num_bytes; i++) if( rng_next(&random) & 3 ) bytes[i] &= (uint8_t)(i%4 ? 0 : 15);
    exact = exact_copy(bytes, num_bytes);
    if( bloom_filter_block_read(exact, num_bytes, &block)==NULL ){
      assert_true(block.filters_bytes + 4*block.num_slots + 5 <= num_bytes);
      for(i=0; i<block.num_slots; i++){
        bloom_filter_slot slot;
        bloom_filter_block_slot(&block, i, &slot);
        if( slot.is_damaged ) assert_ptr_equal(slot.filter, bloom_any_key_filter);
        else if( slot.num_bytes ) assert_true(slot.filter>=exact && slot.filter + slot.num_bytes<=exact + block.filters_bytes);
      }
    }
    free(exact);
  }
}

TEST(the_filter_for_any_key_has_any_key){
  bloom_filter filter;
  bloom_hash_value hash;
  assert_true(bloom_encoding_leveldb.read(bloom_any_key_filter, BLOOM_ANY_KEY_FILTER_BYTES, &filter));
  for(hash=0; hash<1000; hash++) assert_true(bloom_encoding_leveldb.may_contain(&filter, hash * 4294967));
}

/* -- Writing ------------------------------------------------------------------------- */

/* A block of these counts, its keys the numbers from 0 on in turn; free() it. */
static uint8_t *written_block(const uint32_t *num_keys, size_t num_slots, double bits_per_key, size_t *num_bytes){
  bloom_filter_block block;
  double bits[3]; /* by the number of keys */
  uint8_t *bytes;
  int64_t key = 0;
  size_t slot;
  for(slot=0; slot<COUNT_OF(bits); slot++) bits[slot] = bits_per_key;
  assert_int_equal(bloom_filter_block_write(num_keys, num_slots, bits, NULL, num_bytes), BLOOM_OK);
  bytes = allocated(*num_bytes);
  memset(bytes, 0xa5, *num_bytes);
  assert_int_equal(bloom_filter_block_write(num_keys, num_slots, bits, bytes, num_bytes), BLOOM_OK);
  assert_null(bloom_filter_block_read(bytes, *num_bytes, &block));
  assert_int_equal(block.num_slots, num_slots);
  for(slot=0; slot<num_slots; slot++){
    uint32_t i;
    for(i=0; i<num_keys[slot]; i++, key++){
      const uint32_t hash = (uint32_t)bloom_encoding_leveldb.hash_int64(key);
      const bloom_hash_run run = {NULL, &hash, 1};
      bloom_filter_block_add(&block, bytes, slot, &run);
    }
  }
  return bytes;
}

TEST(blocks_are_written){
  /* Of the keys 0; 1, 2; 3 at 10 bits a key, with LevelDB 1.23's filters. */
  static const uint32_t num_keys[] = {1, 0, 2, 0, 0, 1};
  size_t num_bytes, slot;
  uint8_t *bytes = written_block(num_keys, COUNT_OF(num_keys), 10, &num_bytes);
  bloom_filter_block block;
  int64_t key = 0;
  assert_int_equal(num_bytes, 3*9 + 6*4 + 5);
  assert_int_equal(bytes[num_bytes-1], BLOOM_FILTER_BLOCK_BASE_LG);
  assert_null(bloom_filter_block_read(bytes, num_bytes, &block));
  for(slot=0; slot<COUNT_OF(num_keys); slot++){
    bloom_filter_slot found;
    bloom_filter filter;
    uint32_t i;
    bloom_filter_block_slot(&block, slot, &found);
    assert_int_equal(found.num_bytes, num_keys[slot] ? 9 : 0);
    bloom_encoding_leveldb.read(found.filter, found.num_bytes, &filter);
    for(i=0; i<num_keys[slot]; i++, key++) assert_true(filter.encoding->may_contain(&filter, filter.encoding->hash_int64(key)));
    assert_false(filter.encoding->may_contain(&filter, filter.encoding->hash_int64(1000000007)));
  }
  free(bytes);
}

TEST(a_block_of_no_slots){
  size_t num_bytes;
  uint8_t *bytes = written_block(NULL, 0, 10, &num_bytes);
  char *hex = hex_of(bytes, num_bytes);
  assert_string_equal(hex, "000000000b");
  free(hex);
  free(bytes);
}

TEST(blocks_that_are_too_big){
  static const uint32_t num_keys[] = {1, 1};
  size_t num_bytes = 77;
  assert_int_equal(bloom_filter_block_write(num_keys, 1, (double[]){0, 100.0 * UINT32_MAX}, NULL, &num_bytes), BLOOM_TOO_BIG);
  assert_int_equal(bloom_filter_block_write(num_keys, 2, (double[]){0, 5.0 * UINT32_MAX}, NULL, &num_bytes), BLOOM_TOO_BIG);
  assert_int_equal(bloom_filter_block_write(num_keys, 1, (double[]){0, 1e300}, NULL, &num_bytes), BLOOM_TOO_BIG);
  assert_int_equal(num_bytes, 77);
  if( SIZE_MAX>UINT32_MAX ){
    /* The largest of one slot that 32 bits can tell the end of. */
    assert_int_equal(bloom_filter_block_write(num_keys, 1, (double[]){0, 7.99 * UINT32_MAX}, NULL, &num_bytes), BLOOM_OK);
    assert_true(num_bytes>4280000000u && num_bytes<=UINT32_MAX);
  }
}

RUN_TESTS()
