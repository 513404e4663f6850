/*
** Integer -> decimal text, against printf: SQL's CAST(x AS TEXT) prints the
** same.  Every integer key goes through this, and LevelDB's hash of an integer is
** that of its text.
*/
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../ext/core/leveldb/leveldb.h"

#define NUM_RANDOM 2000000u

static void check(int64_t value){
  char expected[32];
  uint8_t room[8 + BLOOM_DECIMAL_MAX_BYTES + 8];
  const uint8_t *text;
  const size_t length = (size_t)snprintf(expected, sizeof(expected), "%" PRId64, value);
  size_t num_bytes, i;
  memset(room, '#', sizeof(room));
  text = bloom_decimal(value, room + 8, &num_bytes);
  if( num_bytes!=length || memcmp(text, expected, length)!=0 ){
    fail_msg("%s is written as %zu bytes %.*s", expected, num_bytes,
             (int)(num_bytes<sizeof(room) ? num_bytes : sizeof(room)), (const char*)text);
  }
  assert_true(text + num_bytes==room + 8 + BLOOM_DECIMAL_MAX_BYTES);
  for(i=0; i<8; i++){
    if( room[i]!='#' || room[8 + BLOOM_DECIMAL_MAX_BYTES + i]!='#' ){
      fail_msg("%s: a byte beside its room is written", expected);
    }
  }
  if( bloom_leveldb_hash_int64(value)!=bloom_leveldb_hash((const uint8_t*)expected, length) ){
    fail_msg("%s is not hashed as its text", expected);
  }
}

TEST(ends_of_the_range){
  int64_t i;
  for(i=0; i<1000; i++){
    check(INT64_MIN + i);
    check(INT64_MAX - i);
  }
  assert_true(BLOOM_DECIMAL_MAX_BYTES>=strlen("-9223372036854775808"));
}

TEST(small_numbers){
  int64_t value;
  for(value=-100000; value<=100000; value++) check(value);
}

/* Every four digits, in every place of a group of eight. */
TEST(groups_of_digits){
  int64_t digits;
  for(digits=0; digits<10000; digits++){
    check(digits * 10000);
    check(digits * 100000000);
    check(digits * 1000000000000);
    check(-digits * 100000000000000);
  }
}

TEST(powers_of_ten_and_neighbours){
  int64_t power = 1, distance;
  int exponent;
  for(exponent=0; exponent<=18; exponent++){
    for(distance=-2; distance<=2; distance++){
      check(power + distance);
      check(-power + distance);
    }
    if( exponent<18 ) power *= 10;
  }
  assert_true(power==INT64_C(1000000000000000000));
}

TEST(powers_of_two_and_neighbours){
  int exponent;
  for(exponent=0; exponent<63; exponent++){
    int64_t power = (int64_t)((uint64_t)1 << exponent);
    check(power - 1);
    check(power);
    check(-power);
    check(-power - 1);
  }
}

/* All magnitudes alike: a random 64-bit number nearly always has 19 digits. */
TEST(random_numbers){
  rng random = rng_stream(3);
  size_t i, num_numbers = test_share(NUM_RANDOM);
  for(i=0; i<num_numbers; i++){
    int64_t value = (int64_t)(rng_next(&random) >> (1 + rng_below(&random, 63)));
    check(i%2 ? value : -value);
  }
}

RUN_TESTS()
