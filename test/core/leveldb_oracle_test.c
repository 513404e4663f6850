/*
** The core against the LevelDB that is installed here: filters byte for byte,
** answers one by one, on random input.  Random bytes: ../hostile/fuzz.
**
**   leveldb_oracle_test            runs; `seed` and counts are printed
**   leveldb_oracle_test --golden   writes golden_leveldb.h from LevelDB
**
** BLOOM_TEST_SEED and BLOOM_TEST_CASE run one failed case again;
** BLOOM_TEST_SHARE (support.h) runs a part.  Filters of more than 2^32 bits that
** LevelDB built: test/faults/limits/big_filters.cc.
*/
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/leveldb/leveldb.h"
#include "golden_leveldb.h"
#include "leveldb_oracle.h"

#define MIN_KEY_SETS   2000u    /* at BLOOM_TEST_SHARE=100 */
#define MIN_PAIRS      1000000u
#define NUM_CASES      2400u    /* key sets: 24 for each bits_per_key */
#define MAX_KEYS       20000u
#define KEYS_PER_BLOB  70u

static size_t num_pairs, num_matches;

/* Tests one key by both; num_bytes bytes of filter end their allocation. */
static int agree(const char *kind, uint64_t number, const uint8_t *filter, size_t num_bytes,
                 const uint8_t *key, size_t key_bytes){
  const int theirs = oracle_may_match(filter, num_bytes, key, key_bytes);
  const int ours = may_contain(filter, num_bytes, bloom_leveldb_hash(key, key_bytes));
  if( ours!=theirs ){
    char *filter_hex = hex_of(filter, num_bytes>4096 ? 0 : num_bytes);
    char *key_hex = hex_of(key, key_bytes);
    printf("%s, BLOOM_TEST_SEED=%" PRIu64 " BLOOM_TEST_CASE=%" PRIu64 "\n"
                "  filter: %zu bytes %s\n  key: %s\n  LevelDB: %d, here: %d\n",
                kind, test_seed(), number, num_bytes, filter_hex, key_hex, theirs, ours);
    free(filter_hex);
    free(key_hex);
    fail_msg("an answer differs from LevelDB's");
  }
  num_pairs++;
  num_matches += (size_t)theirs;
  return theirs;
}

/* Keys of the set and keys of no set, in turn. */
static void agree_on_keys(const char *kind, uint64_t number, const uint8_t *filter,
                          size_t num_bytes, const key_set *set, rng *random){
  uint8_t *exact = exact_copy(filter, num_bytes);
  size_t i;
  for(i=0; i<KEYS_PER_BLOB; i++){
    if( i%2 && set->num_keys ){
      size_t j = rng_below(random, set->num_keys);
      agree(kind, number, exact, num_bytes, set->keys[j], set->lengths[j]);
    }else{
      uint8_t key[64];
      size_t length = rng_below(random, sizeof(key) + 1);
      rng_bytes(random, key, length);
      agree(kind, number, exact, num_bytes, key, length);
    }
  }
  free(exact);
}

/* Flips bits, cuts, grows, or replaces the probe byte. Room for 9 bytes more. */
static size_t damage(uint8_t *filter, size_t num_bytes, rng *random){
  size_t i;
  switch( rng_below(random, 4) ){
    case 0:
      for(i=1 + rng_below(random, 8); i>0; i--){
        filter[rng_below(random, num_bytes)] ^= (uint8_t)(1u << rng_below(random, 8));
      }
      return num_bytes;
    case 1:
      return rng_below(random, num_bytes + 1);
    case 2:
      i = 1 + rng_below(random, 9);
      rng_bytes(random, filter + num_bytes, i);
      return num_bytes + i;
    default:
      filter[num_bytes-1] = (uint8_t)rng_next(random);
      return num_bytes;
  }
}

/* Many small sets, some large, both ends for certain. */
static size_t case_size(uint64_t number, rng *random){
  if( number%97==0 ) return number%2 ? MAX_KEYS : 0;
  switch( rng_below(random, 4) ){
    case 0: return rng_below(random, 20);
    case 1: return rng_below(random, 300);
    case 2: return rng_below(random, 4000);
    default: return rng_below(random, MAX_KEYS + 1);
  }
}

static void check_case(uint64_t number){
  rng random = rng_stream(number);
  const int bits_per_key = (int)(number%100) + 1;
  key_set set = key_set_random(&random, case_size(number, &random));
  size_t num_ours, num_theirs, i;
  uint32_t *hashes = key_set_hashes(&set);
  uint8_t *ours = build_filter(hashes, set.num_keys, bits_per_key, &random, &num_ours);
  uint8_t *theirs = oracle_create_filter(bits_per_key, set.keys, set.lengths, set.num_keys,
                                         &num_theirs);
  uint8_t *damaged;
  if( num_ours!=num_theirs || memcmp(ours, theirs, num_ours)!=0 ){
    for(i=0; i<num_ours && i<num_theirs && ours[i]==theirs[i]; i++){}
    printf("BLOOM_TEST_SEED=%" PRIu64 " BLOOM_TEST_CASE=%" PRIu64 "\n"
                "  %zu keys, bits_per_key %d\n"
                "  LevelDB: %zu bytes, here: %zu bytes, first difference at byte %zu\n",
                test_seed(), number, set.num_keys, bits_per_key, num_theirs, num_ours, i);
    fail_msg("a filter differs from LevelDB's");
  }
  for(i=0; i<set.num_keys && i<KEYS_PER_BLOB; i++){
    assert_true(agree("own key", number, ours, num_ours, set.keys[i], set.lengths[i]));
  }
  agree_on_keys("intact", number, ours, num_ours, &set, &random);
  damaged = allocated(num_ours + 9);
  for(i=0; i<5; i++){
    size_t num_damaged;
    memcpy(damaged, ours, num_ours);
    num_damaged = damage(damaged, num_ours, &random);
    agree_on_keys("damaged", number, damaged, num_damaged, &set, &random);
  }
  free(damaged);
  free(ours);
  free(theirs);
  free(hashes);
  key_set_free(&set);
}

TEST(filters_and_answers_are_leveldbs){
  const uint64_t one_case = env_number("BLOOM_TEST_CASE", UINT64_MAX);
  const size_t num_cases = test_share(NUM_CASES);
  uint64_t number;
  assert_in_range(NUM_CASES, MIN_KEY_SETS, UINT32_MAX);
  if( one_case!=UINT64_MAX ){
    check_case(one_case);
    return;
  }
  for(number=0; number<num_cases; number++) check_case(number);
  printf("%zu key sets: every filter is LevelDB's\n"
         "%zu answers are LevelDB's, %zu of them maybe\n", num_cases, num_pairs, num_matches);
  assert_in_range(num_pairs, test_share(MIN_PAIRS), SIZE_MAX);
  /* Both answers must be common, or agreeing would say little. */
  assert_in_range(num_matches, num_pairs/5, num_pairs*4/5);
}

/* A sparse filter just above, at and below 2^32 bits: few pages are touched. */
TEST(filters_of_4_gigabits_read_as_in_leveldb){
  static const uint64_t sizes[] = { 0x100000000u - 8, 0x100000000u, 0x100000000u + 64 };
  size_t i;
  for(i=0; i<COUNT_OF(sizes); i++){
    rng random = rng_stream(i + ((uint64_t)2 << 32));
    const bloom_shape shape = leveldb_shape(sizes[i], 7);
    uint8_t *filter = calloc(shape.num_bytes, 1);
    key_set set = key_set_of_decimals(0, 200);
    uint32_t *hashes = key_set_hashes(&set);
    size_t j;
    if( filter==NULL ){
      skip(); /* no room for 512 MiB here */
      return;
    }
    filter[shape.num_bytes-1] = 7;
    /* LevelDB must find what was written here, and no other keys. */
    add_in_runs(&bloom_encoding_leveldb, &shape, filter, hashes, set.num_keys, &random);
    for(j=0; j<set.num_keys; j++){
      assert_true(agree("huge", i, filter, shape.num_bytes, set.keys[j], set.lengths[j]));
    }
    for(j=0; j<1000; j++){
      uint8_t key[8];
      rng_bytes(&random, key, sizeof(key));
      assert_false(agree("huge", i, filter, shape.num_bytes, key, sizeof(key)));
    }
    free(hashes);
    key_set_free(&set);
    free(filter);
  }
}

/* ---- --golden ------------------------------------------------------------ */

/* Before row number i: several rows stand on a line. */
static void begin_row(size_t i, size_t rows_per_line){
  printf("%s", i%rows_per_line ? " " : i ? "\n  " : "  ");
}

static void write_golden_filters(void){
  size_t i, j, num_bytes;
  printf("static const golden_filter golden_filters[] = {\n");
  for(i=0; i<COUNT_OF(golden_filters); i++){
    const golden_filter *row = &golden_filters[i];
    key_set set = key_set_of_texts(row->keys, row->num_keys);
    uint8_t *filter = oracle_create_filter(row->bits_per_key, set.keys, set.lengths,
                                           set.num_keys, &num_bytes);
    char *hex = hex_of(filter, num_bytes);
    printf("  { %d, %zu, { ", row->bits_per_key, row->num_keys);
    for(j=0; j<row->num_keys; j++) printf("%s\"%s\"", j ? ", " : "", row->keys[j]);
    printf("%s }, \"%s\" },\n", row->num_keys ? "" : "NULL", hex);
    free(hex);
    free(filter);
    key_set_free(&set);
  }
  printf("};\n\n");
}

static void write_golden_answers(void){
  size_t i, num_bytes;
  printf("static const golden_answer golden_answers[] = {\n");
  for(i=0; i<COUNT_OF(golden_answers); i++){
    uint8_t *filter = bytes_of(golden_answers[i].filter, &num_bytes);
    begin_row(i, 5);
    printf("{ \"%s\", %d },", golden_answers[i].filter,
           oracle_may_match(filter, num_bytes, (const uint8_t*)"hello", 5));
    free(filter);
  }
  printf("\n};\n\n");
}

static void write_golden_long_filters(void){
  key_set set = key_set_of_decimals(1, GOLDEN_LONG_KEYS);
  int bits_per_key;
  printf("static const golden_long_filter golden_long_filters[] = {\n");
  for(bits_per_key=1; bits_per_key<=100; bits_per_key++){
    size_t num_bytes;
    uint8_t *filter = oracle_create_filter(bits_per_key, set.keys, set.lengths, set.num_keys,
                                           &num_bytes);
    begin_row((size_t)bits_per_key - 1, 3);
    printf("{ %d, %zu, 0x%016" PRIx64 "u },", bits_per_key, num_bytes, checksum_of(filter, num_bytes));
    free(filter);
  }
  key_set_free(&set);
  printf("\n};\n");
}

static void write_golden(void){
  printf("/*\n** What LevelDB %s writes and answers.  Written by\n"
         "**   leveldb_oracle_test --golden >test/core/golden_leveldb.h\n"
         "** To add a filter or an answer: add its row here with any result, build, write again.\n"
         "*/\n", oracle_version());
  write_golden_filters();
  write_golden_answers();
  write_golden_long_filters();
}

int main(int argc, char **argv){
  if( argc==2 && strcmp(argv[1], "--golden")==0 ){
    write_golden();
    return 0;
  }
  printf("LevelDB %s, seed %" PRIu64 "\n", oracle_version(), test_seed());
  return run_tests();
}
