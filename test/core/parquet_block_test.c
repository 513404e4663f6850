/*
** Parquet's hash and one block of its filter: published hashes, bitsets that real
** writers wrote, and the format's definition, written here once more.
*/
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/parquet/hash.h"
#include "../../ext/core/parquet/split_block.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t hash_hex(const char *hex){
  size_t num_bytes;
  uint8_t *bytes = bytes_of(hex, &num_bytes);
  const uint64_t hash = bloom_parquet_hash_bytes(bytes, num_bytes);
  free(bytes);
  return hash;
}

static void assert_hash(uint64_t actual, uint64_t expected){
  if( actual!=expected ) fail_msg("%016llx, expected %016llx", (unsigned long long)actual, (unsigned long long)expected);
}

TEST(known_hashes){
  assert_hash(bloom_parquet_hash_bytes(NULL, 0), 0xef46db3751d8e999u);
  assert_hash(hash_hex(""), 0xef46db3751d8e999u);
  assert_hash(hash_hex("61"), 0xd24ec4f1a98c6e5bu);
  assert_hash(hash_hex("68656c6c6f"), 0x26c7827d889f6da3u);
  assert_hash(hash_hex("01000000"), 0xf42f94001fcb5351u);         /* INT32 1 */
  assert_hash(hash_hex("000000000000f83f"), 0x49f7b96b6b5ccaf9u); /* DOUBLE 1.5 */
  assert_hash(hash_hex("0000000000000080"), 0x3f425eacf01544e0u); /* DOUBLE -0.0 */
  assert_hash(bloom_parquet_hash_int64(0), 0x34c96acdcadb1bbbu);
  assert_hash(bloom_parquet_hash_int64(1), 0x9f29cb17a2a49995u);
  assert_hash(bloom_parquet_hash_int64(-1), 0x85d136adb773c6c9u);
}

TEST(integers_hash_as_their_bytes){
  static const int64_t edges[] = {0, 1, -1, 255, 256, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN};
  rng random = rng_stream(1);
  size_t round;
  for(round=0; round<100000; round++){
    const int64_t key = round<COUNT_OF(edges) ? edges[round] : (int64_t)(rng_next(&random) >> round%64);
    uint8_t bytes[8];
    int i;
    for(i=0; i<8; i++) bytes[i] = (uint8_t)((uint64_t)key >> 8*i);
    assert_hash(bloom_parquet_hash_int64(key), bloom_parquet_hash_bytes(bytes, 8));
  }
}

/* Each key ends where its memory ends, so that a sanitizer sees a byte too many. */
TEST(bytes_hash_as_xxhash_says){
  rng random = rng_stream(2);
  size_t num_bytes;
  for(num_bytes=0; num_bytes<300; num_bytes++){
    uint8_t bytes[300], *exact;
    rng_bytes(&random, bytes, num_bytes);
    exact = exact_copy(bytes, num_bytes);
    assert_hash(bloom_parquet_hash_bytes(exact, num_bytes), XXH64(bytes, num_bytes, 0));
    free(exact);
  }
}

/* What a writer writes for a column with this one value: the bitset of one block. */
TEST(known_blocks){
  static const struct { const char *key, *block; } known[] = {
    {"0100000000000000", "0000000800000002000000020000020000000004000000084000000000010000"},
    {"01000000", "0400000000000004004000000400000000000004002000000000000200080000"},
    {"68656c6c6f", "0000100000020000000400008000000000020000000000800000001000000008"},
  };
  size_t i;
  for(i=0; i<COUNT_OF(known); i++){
    uint8_t block[BLOOM_SPLIT_BLOCK_BYTES] = {0};
    char *hex;
    bloom_split_block_add(block, hash_hex(known[i].key));
    hex = hex_of(block, sizeof(block));
    assert_string_equal(hex, known[i].block);
    free(hex);
  }
}

/* BloomFilter.md's mask(): bit y >> 27 of word i, y = x * salt[i]. */
static void naive_mask(uint64_t hash, uint8_t *mask){
  static const uint32_t salts[] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                   0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
  size_t i;
  memset(mask, 0, 32);
  for(i=0; i<8; i++){
    const uint64_t product = (hash % 4294967296u) * salts[i] % 4294967296u;
    const uint64_t bit = product / 134217728;
    mask[4*i + bit/8] = (uint8_t)(1 << bit%8);
  }
}

/* Added: these eight bits and no others.  Contained: only if none of the eight misses. */
TEST(blocks_are_as_defined){
  rng random = rng_stream(3);
  size_t round, i;
  for(round=0; round<test_share(20000); round++){
    const uint64_t hash = rng_next(&random);
    uint8_t mask[32], block[32], before[32], expected[32];
    naive_mask(hash, mask);
    rng_bytes(&random, block, 32);
    memcpy(before, block, 32);
    for(i=0; i<32; i++) expected[i] = before[i] | mask[i];
    assert_int_equal(bloom_split_block_may_contain(block, hash), memcmp(before, expected, 32)==0);
    bloom_split_block_add(block, hash);
    assert_memory_equal(block, expected, 32);
    assert_int_equal(bloom_split_block_may_contain(block, hash), 1);
    memcpy(block, mask, 32);
    assert_int_equal(bloom_split_block_may_contain(block, hash), 1);
    for(i=0; i<8; i++){
      uint8_t *byte = block + 4*i;
      while( *byte==0 ) byte++;
      *byte = 0;
      assert_int_equal(bloom_split_block_may_contain(block, hash), 0);
      memset(block, 0xff, 32);
      block[4*i + bloom_split_block_bit(hash, (uint32_t)i)/8] ^= (uint8_t)(1u << bloom_split_block_bit(hash, (uint32_t)i)%8);
      assert_int_equal(bloom_split_block_may_contain(block, hash), 0);
      memcpy(block, mask, 32);
    }
  }
}

/* (upper half * num_blocks) / 2^32, in long division. */
static uint64_t naive_number(uint64_t hash, uint64_t num_blocks){
  uint64_t rest = 0, quotient = 0;
  int bit;
  const uint64_t upper = hash / 4294967296u;
  for(bit=31; bit>=0; bit--){
    rest *= 2;
    if( num_blocks >> bit & 1 ) rest += upper;
    quotient = 2*quotient + rest/4294967296u;
    rest %= 4294967296u;
  }
  return quotient;
}

TEST(block_numbers){
  rng random = rng_stream(4);
  size_t round;
  assert_int_equal(bloom_split_block_number(UINT64_MAX, 1), 0);
  assert_int_equal(bloom_split_block_number(UINT64_MAX, 3), 2);
  assert_int_equal(bloom_split_block_number(UINT32_MAX, 3), 0);
  assert_int_equal(bloom_split_block_number(UINT64_MAX, 67108863), 67108862);
  assert_int_equal(bloom_split_block_number(UINT64_MAX, (uint64_t)1 << 32), UINT32_MAX);
  for(round=0; round<100000; round++){
    const uint64_t hash = rng_next(&random);
    const uint64_t num_blocks = 1 + (rng_next(&random) >> (33 + round%31));
    const uint64_t number = bloom_split_block_number(hash, num_blocks);
    assert_true(number<num_blocks);
    assert_int_equal(number, naive_number(hash, num_blocks));
  }
}

RUN_TESTS()
