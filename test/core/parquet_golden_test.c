/*
** The filters that real writers put into Parquet files: ours of the same keys are the
** same bytes, and ours find every key in theirs.
*/
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/parquet/parquet.h"

typedef struct golden_parquet {
  const char *writer, *type;
  uint32_t num_keys;
  size_t num_bytes;
  uint64_t checksum;  /* checksum_of() */
  const char *filter; /* hex; NULL if it is long */
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
    uint64_t *hashes = malloc(golden->num_keys * sizeof(*hashes));
    const bloom_hash_run run = {NULL, hashes, golden->num_keys};
    const uint64_t num_blocks = golden->num_bytes / 32;
    bloom_shape shape;
    bloom_filter read;
    uint8_t *filter;
    char *hex;
    uint32_t i;
    assert_non_null(hashes);
    for(i=0; i<golden->num_keys; i++){
      uint8_t key[MAX_KEY_BYTES];
      hashes[i] = parquet->hash_bytes(key, key_of(golden->type, i, key));
    }
    assert_int_equal(parquet->writer->shape(num_blocks, 256, &shape), BLOOM_OK);
    assert_int_equal(shape.num_bytes, golden->num_bytes);
    filter = malloc(shape.num_bytes);
    assert_non_null(filter);
    parquet->writer->clear(&shape, filter);
    parquet->writer->add(&shape, filter, &run);
    hex = hex_of(filter, golden->num_bytes);
    if( golden->filter ) assert_string_equal(hex, golden->filter);
    if( checksum_of(filter, golden->num_bytes)!=golden->checksum ){
      fail_msg("%s, %s, %u keys: another filter", golden->writer, golden->type, golden->num_keys);
    }
    assert_int_equal(parquet->read(filter, golden->num_bytes, &read), 1);
    for(i=0; i<golden->num_keys; i++) assert_int_equal(parquet->may_contain(&read, hashes[i]), 1);
    free(hex);
    free(filter);
    free(hashes);
  }
}

RUN_TESTS()
