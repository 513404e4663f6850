/*
** bloom_partition_of() against published hashes and exact arithmetic.
*/
#include "support.h"

#include <stdlib.h>

#include "../../ext/core/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define POWER_63 ((uint64_t)1 << 63)

/* 2^63 partitions show all bits of the hash but the last. */
TEST(known_hashes){
  assert_int_equal(bloom_partition_of(NULL, 0, POWER_63), 0x2d06800538d394c2u >> 1);
  assert_int_equal(bloom_partition_of((const uint8_t *)"hello", 5, POWER_63), 0x9555e8555c62dcfdu >> 1);
}

/* Bit by bit: floor(hash * num_partitions / 2^64). */
static uint64_t slow_multiply_high(uint64_t hash, uint64_t num_partitions){
  uint64_t high = 0, low = 0;
  int bit;
  for(bit=63; bit>=0; bit--){
    high = high << 1 | low >> 63;
    low <<= 1;
    if( hash >> bit & 1 ){
      low += num_partitions;
      high += low<num_partitions;
    }
  }
  return high;
}

TEST(all_numbers_of_partitions){
  const uint64_t hash = 0x9555e8555c62dcfdu; /* of hello */
  rng random = rng_stream(1);
  int i;
  for(i=0; i<100000; i++){
    const uint64_t drawn = rng_next(&random) >> rng_below(&random, 64);
    const uint64_t num_partitions = drawn ? drawn : 1;
    uint64_t partition = bloom_partition_of((const uint8_t *)"hello", 5, num_partitions);
    assert_int_equal(partition, slow_multiply_high(hash, num_partitions));
    assert_true(partition<num_partitions);
  }
  assert_int_equal(bloom_partition_of((const uint8_t *)"hello", 5, UINT64_MAX),
                   slow_multiply_high(hash, UINT64_MAX));
}

/* XXH3 has a path of its own for 0, 1-3, 4-8, 9-16, 17-128, 129-240 and longer
** keys; none may depend on where the key lies.  A sanitizer sees reads past it. */
TEST(every_length_and_alignment){
  rng random = rng_stream(2);
  uint8_t bytes[600 + 8];
  size_t num_bytes, offset, i;
  for(num_bytes=0; num_bytes<=600; num_bytes++){
    uint8_t key[600], *exact;
    uint64_t partition;
    rng_bytes(&random, key, num_bytes);
    exact = exact_copy(key, num_bytes);
    partition = bloom_partition_of(exact, num_bytes, POWER_63);
    assert_int_equal(partition, XXH3_64bits(exact, num_bytes) >> 1);
    free(exact);
    for(offset=0; offset<8; offset++){
      for(i=0; i<num_bytes; i++) bytes[offset+i] = key[i];
      assert_int_equal(bloom_partition_of(bytes + offset, num_bytes, POWER_63), partition);
    }
  }
}

RUN_TESTS()
