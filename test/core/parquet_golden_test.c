/*
** Parquet's hash: published values, and libxxhash's.  The filters that real writers put into
** Parquet files: ours of the same keys are the same bytes, and ours find every key in theirs.
*/
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/parquet/parquet.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- the hash ------------------------------------------------------------- */

static uint64_t hash_hex(const char *hex){
  size_t num_bytes;
  uint8_t *bytes = bytes_of(hex, &num_bytes);
  const uint64_t hash = bloom_xxh64(bytes, num_bytes);
  free(bytes);
  return hash;
}

static void assert_hash(uint64_t actual, uint64_t expected){
  if( actual!=expected ) fail_msg("%016llx, expected %016llx", (unsigned long long)actual, (unsigned long long)expected);
}

TEST(known_hashes){
  assert_hash(bloom_xxh64(NULL, 0), 0xef46db3751d8e999u);
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
    assert_hash(bloom_parquet_hash_int64(key), bloom_xxh64(bytes, 8));
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
    assert_hash(bloom_xxh64(exact, num_bytes), XXH64(bytes, num_bytes, 0));
    free(exact);
  }
}

/* ---- the filters ---------------------------------------------------------- */

typedef struct golden_parquet {
  const char *writer, *type;
  uint32_t num_keys;
  size_t num_bytes;
  uint64_t checksum; /* checksum_of() */
} golden_parquet;

#include "golden_parquet.h"

#define MAX_KEY_BYTES 32

static size_t put_little(uint8_t *key, uint64_t value, size_t num_bytes){
  size_t i;
  for(i=0; i<num_bytes; i++) key[i] = (uint8_t)(value >> 8*i);
  return num_bytes;
}

static size_t put_big(uint8_t *key, uint64_t value, size_t num_bytes){
  size_t i;
  for(i=0; i<num_bytes; i++) key[i] = (uint8_t)(value >> 8*(num_bytes-1-i));
  return num_bytes;
}

/* Key i of a type, as ../parquet/real_files.py says; returns its length. */
static size_t key_of(const char *type, uint32_t i, uint8_t key[MAX_KEY_BYTES]){
  const int64_t number = (int64_t)i;
  if( strcmp(type, "BIGINT")==0 ) return put_little(key, (uint64_t)(number*1000003 - 500000), 8);
  if( strcmp(type, "INTEGER")==0 ) return put_little(key, (uint64_t)(number*7 - 3), 4);
  if( strcmp(type, "DATE")==0 ) return put_little(key, (uint64_t)(number - 1000), 4);
  if( strcmp(type, "TIMESTAMP")==0 ) return put_little(key, (uint64_t)(number*1000003), 8);
  if( strcmp(type, "VARCHAR")==0 ) return (size_t)snprintf((char*)key, MAX_KEY_BYTES, "cust-%011u", i);
  if( strcmp(type, "DOUBLE")==0 ){
    const double value = (double)i/4 - 10;
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return put_little(key, bits, 8);
  }
  if( strcmp(type, "BLOB")==0 ){
    put_big(key, (uint32_t)(i*2654435761u), 4);
    key[4] = 0;
    return 5;
  }
  assert_string_equal(type, "UUID");
  put_big(key, i, 4);
  put_big(key + 4, 0x40008000u, 6);
  return 10 + put_big(key + 10, (uint64_t)i*7919, 6);
}

TEST(ours_are_the_writers){
  const bloom_encoding *parquet = &bloom_encoding_parquet;
  size_t g;
  for(g=0; g<COUNT_OF(golden_parquets); g++){
    const golden_parquet *golden = &golden_parquets[g];
    uint64_t *hashes = allocated(golden->num_keys * sizeof(*hashes));
    const bloom_hash_run run = {NULL, hashes, golden->num_keys};
    const uint64_t num_blocks = golden->num_bytes / 32;
    bloom_shape shape;
    bloom_filter read;
    uint8_t *filter;
    uint32_t i;
    for(i=0; i<golden->num_keys; i++){
      uint8_t key[MAX_KEY_BYTES];
      hashes[i] = parquet->hash_bytes(key, key_of(golden->type, i, key));
    }
    assert_int_equal(parquet->shape(num_blocks, 256, &shape), BLOOM_OK);
    assert_int_equal(shape.num_bytes, golden->num_bytes);
    filter = allocated(shape.num_bytes);
    parquet->clear(&shape, filter);
    parquet->add(&shape, filter, &run);
    if( checksum_of(filter, golden->num_bytes)!=golden->checksum ){
      fail_msg("%s, %s, %u keys: another filter", golden->writer, golden->type, golden->num_keys);
    }
    assert_int_equal(parquet->read(filter, golden->num_bytes, &read), 1);
    for(i=0; i<golden->num_keys; i++) assert_int_equal(parquet->may_contain(&read, hashes[i]), 1);
    free(filter);
    free(hashes);
  }
}

RUN_TESTS()
