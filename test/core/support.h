/*
** What the core's tests share: seeded randomness, hex, sets of keys, and filters
** built the way the extension builds them.  A slow second opinion is in ../lib/reference.h.
**
**   BLOOM_TEST_SEED   another seed for every random test
**   BLOOM_TEST_SHARE  per cent of the large random counts to run, 1..100:
**                     for slow (sanitizer) builds
*/
#ifndef BLOOM_TEST_SUPPORT_H
#define BLOOM_TEST_SUPPORT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../../ext/core/filter.h"
#include "../lib/reference.h"
#include "../lib/test.h"

#define COUNT_OF(array) (sizeof(array)/sizeof((array)[0]))

/* An environment variable as a number; fallback where it is not set. */
uint64_t env_number(const char *name, uint64_t fallback);

/* The seed of all random tests: fixed, or BLOOM_TEST_SEED. */
uint64_t test_seed(void);

/* count scaled by BLOOM_TEST_SHARE, at least 1. */
size_t test_share(size_t count);

/* SplitMix64. One stream per case, so that a case can be run again alone. */
typedef struct rng {
  uint64_t state;
} rng;

rng rng_stream(uint64_t stream);
uint64_t rng_next(rng *random);
size_t rng_below(rng *random, size_t limit); /* 0 .. limit-1 */
void rng_bytes(rng *random, uint8_t *bytes, size_t num_bytes);

/* free() it; a test without memory can say nothing, and ends. */
void *allocated(size_t num_bytes);

/* Lower case, terminated; free() it. */
char *hex_of(const uint8_t *bytes, size_t num_bytes);

/* The bytes of a hex text; free() them. Exactly as many as it has, so that a
** sanitizer sees a read past the end. */
uint8_t *bytes_of(const char *hex, size_t *num_bytes);

/* A copy that ends where its allocation ends; free() it. */
uint8_t *exact_copy(const uint8_t *bytes, size_t num_bytes);

static inline void assert_close(double actual, double expected, double relative_error, const char *what){
  if( !(fabs(actual - expected) <= relative_error*fabs(expected)) ){
    fail_msg("%s: %.17g, expected %.17g", what, actual, expected);
  }
}

/* The data of a bloom_interrupt that says so when it is called for the stop_at-th time. */
typedef struct stopper {
  int num_calls, stop_at;
} stopper;

int stop_reading(void *data);

typedef struct key_set {
  const uint8_t **keys;
  size_t *lengths; /* in bytes */
  size_t num_keys;
  uint8_t *owned; /* what keys point into unless they are borrowed */
} key_set;

key_set key_set_of_texts(const char *const *texts, size_t num_texts); /* borrows */
key_set key_set_of_decimals(int64_t first, size_t num_keys);

/* Random keys of 0..64 bytes, every byte value; duplicates in some sets. */
key_set key_set_random(rng *random, size_t num_keys);

void key_set_free(key_set *set);

/* The hashes of a set, in its order; free() them. */
uint32_t *key_set_hashes(const key_set *set);

/* The shape of a LevelDB filter of so many bits, a multiple of 8, and probes. */
bloom_shape leveldb_shape(uint64_t num_bits, uint32_t num_probes);

/*
** Sizes, clears and fills a LevelDB filter; free() it.  With order, the hashes
** are shuffled in place and arrive in runs of random lengths, empty ones too.
*/
uint8_t *build_filter(uint32_t *hashes, size_t num_hashes, double bits_per_key,
                      rng *order, size_t *num_bytes);

/* build_filter() of a set, in one run. */
uint8_t *build_filter_of(const key_set *set, double bits_per_key, size_t *num_bytes);

/* Adds hashes, of the encoding's bytes each, to a filter of this shape in runs of random lengths. */
void add_in_runs(const bloom_encoding *encoding, const bloom_shape *shape, uint8_t *filter,
                 const void *hashes, size_t num_hashes, rng *random);

/* A LevelDB filter of random hashes, which read gets; free() it. */
uint8_t *random_filter(rng *random, size_t num_hashes, double bits_per_key, bloom_filter *read);

/* How many of num_probed other random hashes the filter accepts. */
size_t count_accepted(const bloom_filter *filter, rng *random, size_t num_probed);

/* FNV-1a, to pin long filters in short. */
uint64_t checksum_of(const uint8_t *bytes, size_t num_bytes);

/* The core's answer. */
int may_contain(const uint8_t *filter, size_t num_bytes, uint32_t hash);

/*
** Rows of golden_leveldb.h, which leveldb_oracle_test --golden writes.
*/
typedef struct golden_filter {
  int bits_per_key;
  size_t num_keys;
  const char *keys[10];
  const char *filter; /* hex */
} golden_filter;

typedef struct golden_answer {
  const char *filter; /* hex */
  int may_contain_hello;
} golden_answer;

/* The filter of the texts 1 .. GOLDEN_LONG_KEYS. */
#define GOLDEN_LONG_KEYS 1000
typedef struct golden_long_filter {
  int bits_per_key;
  size_t num_bytes;
  uint64_t checksum; /* checksum_of() */
} golden_long_filter;

#define HOW_TO_REGENERATE "; if LevelDB says so: make core-tests && " \
  "build/release/test/core/leveldb_oracle_test --golden >test/core/golden_leveldb.h"

#endif
