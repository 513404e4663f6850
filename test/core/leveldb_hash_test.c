/*
** Key bytes -> hash: known answers of LevelDB 1.23 (util/hash.cc with the
** seed 0xbc9f1d34 of util/bloom.cc), and every length against a slow rewrite.
** Longer keys are pinned by the filters of golden_leveldb.h, integers by decimal_test.c.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/leveldb/leveldb.h"

#define MAX_KEY_BYTES 68u

TEST(known_answers){
  static const struct {
    const char *key; /* hex */
    uint32_t hash;
  } answers[] = {
    { "",           0xbc9f1d34 },
    { "62",         0xef1345c4 },
    { "c397",       0x5b663814 },
    { "e299a5",     0x323c078f },
    { "e180b932",   0xed21633a },
    { "68656c6c6f", 0xf795964e }, /* hello */
    { "776f726c64", 0x42c4e8fc }, /* world */
  };
  size_t i;
  for(i=0; i<COUNT_OF(answers); i++){
    size_t num_bytes;
    uint8_t *key = bytes_of(answers[i].key, &num_bytes);
    assert_int_equal(bloom_leveldb_hash(key, num_bytes), answers[i].hash);
    free(key);
  }
}

TEST(empty_key_may_be_null){
  assert_int_equal(bloom_leveldb_hash(NULL, 0), 0xbc9f1d34);
}

/* Bytes from 0x80 on among them, in every tail position: RocksDB's function of the same name
** sign-extends those, LevelDB's does not. */
TEST(every_length_at_every_alignment){
  rng random = rng_stream(1);
  size_t num_bytes, offset, round;
  for(round=0; round<50; round++){
    for(num_bytes=0; num_bytes<=MAX_KEY_BYTES; num_bytes++){
      uint8_t key[MAX_KEY_BYTES], shifted[MAX_KEY_BYTES + 8], *exact;
      uint32_t hash;
      rng_bytes(&random, key, num_bytes);
      exact = exact_copy(key, num_bytes);
      hash = bloom_leveldb_hash(exact, num_bytes);
      free(exact);
      assert_int_equal(hash, reference_hash(key, num_bytes));
      for(offset=0; offset<8; offset++){
        rng_bytes(&random, shifted, sizeof(shifted));
        memcpy(shifted + offset, key, num_bytes);
        assert_int_equal(bloom_leveldb_hash(shifted + offset, num_bytes), hash);
      }
    }
  }
}

RUN_TESTS()
