/*
** Every kernel against the scalar one and against the format's definition
** (../lib/reference.h): rows of kernels may differ in speed alone.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"

static rng random = { 88172645463325252u }; /* the same numbers in every run */

static void fill_random(uint32_t *hashes, size_t num_hashes){
  size_t i;
  for(i=0; i<num_hashes; i++) hashes[i] = (uint32_t)(rng_next(&random) >> 32);
}

/* The rows that can run here, in turn; NULL behind the last one. */
static const bloom_leveldb_kernels *next_kernels(size_t *row){
  const size_t at = BLOOM_FIRST_KERNELS + (*row)++;
  return at<BLOOM_NUM_KERNELS ? &bloom_leveldb_all_kernels[at] : NULL;
}

TEST(test_rows_end_with_scalar){
  const char *expected = getenv("BLOOM_TEST_KERNELS");
  assert_string_equal(bloom_leveldb_all_kernels[BLOOM_NUM_KERNELS-1].name, "scalar");
#if defined(__GNUC__) && defined(__x86_64__) && !defined(BLOOM_NO_SIMD)
  assert_int_equal(BLOOM_NUM_KERNELS, 2);
  assert_string_equal(bloom_leveldb_all_kernels[0].name, "avx2");
  assert_int_equal(BLOOM_FIRST_KERNELS, !__builtin_cpu_supports("avx2"));
#else
  assert_int_equal(BLOOM_NUM_KERNELS, 1);
  assert_int_equal(BLOOM_FIRST_KERNELS, 0);
#endif
  if( BLOOM_FIRST_KERNELS ) printf("not run here: %s\n", bloom_leveldb_all_kernels[0].name); /* quality/coverage/run.sh */
  /* A build for another machine says which row that machine must choose. */
  if( expected ) assert_string_equal(bloom_leveldb_all_kernels[BLOOM_FIRST_KERNELS].name, expected);
}

static int compare_positions(const void *a, const void *b){
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x>y) - (x<y);
}

/* No filter is allocated: sizes may lie on both sides of 2^31 and 2^32 bits. */
TEST(test_positions){
  static const uint64_t sizes[] = {
    8, 16, 24, 64, 72, 80, 1000, 1016, 65536, 65544, 1000000, 8388608, 99999992, 2147483640u,
    2147483648u, 2147483656u, 2863311528u, 4294967280u, 4294967288u, 4294967295u, 4294967296u, 4294967304u,
    8589934592u, 1000000000000u,
  };
  static const uint32_t edges[] = {0, 1, 2, 7, 8, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff,
    0xfffffffe, 0xfffffff8, 0xfffffff7, 0x20000, 0x1ffff, 0xffff0000};
  enum { NUM = 64, MAX = 30 };
  uint32_t hashes[NUM];
  uint32_t expected[NUM * MAX];
  const bloom_leveldb_kernels *kernels;
  size_t row = 0;
  while( (kernels = next_kernels(&row))!=NULL ){
    size_t s;
    for(s=0; s<COUNT_OF(sizes)+200; s++){
      const int is_listed = s<COUNT_OF(sizes);
      const uint64_t num_bits = is_listed ? sizes[s] : (rng_next(&random) >> (31 + s%29)) / 8 * 8 + 8;
      const uint32_t num_probes = (uint32_t)(s % MAX) + 1;
      const size_t num_hashes = NUM - s % 11; /* all remainders by the lanes */
      const size_t num_positions = num_hashes * num_probes;
      /* Exactly the room that is promised: a sanitizer sees more being written. */
      uint32_t *given = allocated(num_positions * sizeof(*given));
      size_t i;
      uint32_t j;
      fill_random(hashes, NUM);
      memcpy(hashes, edges, sizeof(edges));
      /* Just around multiples of the size, where a quotient is off by one. */
      for(i=16; i<32; i++) hashes[i] = (uint32_t)(num_bits * (i-15)) - (uint32_t)(i%3);
      for(i=0; i<num_hashes; i++){
        for(j=0; j<num_probes; j++) expected[i*num_probes + j] = reference_position(hashes[i], j, num_bits);
      }
      kernels->positions(bloom_leveldb_divisor_of(bloom_leveldb_reached_bits(num_bits)), num_probes, hashes,
                         num_hashes, given);
      /* Each row returns them in its own order. */
      qsort(expected, num_positions, sizeof(expected[0]), compare_positions);
      qsort(given, num_positions, sizeof(given[0]), compare_positions);
      assert_memory_equal(given, expected, num_positions * sizeof(given[0]));
      free(given);
    }
  }
}

/* Shapes x numbers of hashes x ways to split them into runs. */
TEST(test_add_and_may_contain){
  static const uint64_t byte_counts[] = {1, 2, 7, 8, 9, 31, 125, 1000, 4099, 125000};
  enum { MAX_HASHES = 3000, MAX_RUNS = 40 };
  static uint32_t hashes[MAX_HASHES], others[MAX_HASHES];
  const bloom_leveldb_kernels *kernels;
  size_t row = 0;
  while( (kernels = next_kernels(&row))!=NULL ){
    size_t s;
    uint32_t num_probes;
    for(s=0; s<COUNT_OF(byte_counts); s++){
      for(num_probes=1; num_probes<=30; num_probes++){
        const bloom_shape shape = leveldb_shape(byte_counts[s]*8, num_probes);
        /* One byte more on each side: nothing outside may change. */
        uint8_t *expected = calloc(shape.num_bytes+2, 1), *given = calloc(shape.num_bytes+2, 1);
        const size_t num_hashes = (size_t)(rng_next(&random) % (num_probes%3==0 ? 20 : MAX_HASHES));
        const size_t num_others = MAX_HASHES - num_probes%17; /* all remainders by the lanes */
        bloom_hash_run runs[MAX_RUNS];
        bloom_filter filter;
        size_t num_runs = 0, at = 0, i;
        assert_non_null(expected);
        assert_non_null(given);
        fill_random(hashes, num_hashes);
        fill_random(others, MAX_HASHES);
        memcpy(others, hashes, num_hashes/2 * sizeof(hashes[0]));
        while( num_runs<MAX_RUNS ){
          size_t num = num_runs==MAX_RUNS-1 ? num_hashes-at : (size_t)(rng_next(&random) % (1 + rng_next(&random)%600));
          if( num>num_hashes-at ) num = num_hashes - at;
          runs[num_runs] = (bloom_hash_run){&runs[num_runs+1], num ? hashes+at : NULL, num};
          num_runs++;
          at += num;
        }
        runs[MAX_RUNS-1].next = NULL;
        bloom_leveldb_clear(&shape, given+1);
        bloom_leveldb_add_by(kernels, &shape, given+1, runs);
        bloom_leveldb_clear(&shape, expected+1);
        for(i=0; i<num_hashes; i++) reference_add(expected+1, shape.num_bytes, hashes[i]);
        assert_memory_equal(given, expected, shape.num_bytes+2);

        bloom_filter_read(given+1, shape.num_bytes, &filter);
        for(i=0; i<num_others; i++){
          const int answer = filter.encoding->may_contain(&filter, others[i]);
          assert_int_equal(answer, reference_may_contain(given+1, shape.num_bytes, others[i]));
          if( i<num_hashes/2 ) assert_int_equal(answer, 1);
        }
        free(expected);
        free(given);
      }
    }
  }
}

/* Larger than caches; about 2^32 bits, and more bits, which probes do not reach: 512 MiB are reserved, few pages
** touched. */
TEST(test_add_to_large_filters){
  enum { NUM = 1000, NUM_PROBES = 30 };
  static const uint64_t sizes[] = {400000008, ((uint64_t)1 << 32) - 8, (uint64_t)1 << 32, ((uint64_t)1 << 32) + 800};
  static uint32_t hashes[NUM];
  const bloom_hash_run last = {NULL, hashes+77, NUM-77}, first = {&last, hashes, 77};
  const bloom_leveldb_kernels *kernels;
  size_t row = 0, s, i;
  uint32_t j;
  fill_random(hashes, NUM);
  hashes[0] = 0;
  hashes[1] = 0xffffffff;
  while( (kernels = next_kernels(&row))!=NULL ){
    for(s=0; s<COUNT_OF(sizes); s++){
      const bloom_shape shape = leveldb_shape(sizes[s], NUM_PROBES);
      uint8_t *filter = sizes[s]/8<SIZE_MAX ? calloc(shape.num_bytes, 1) : NULL;
      bloom_filter read;
      if( filter==NULL ){
        skip(); /* no room for 512 MiB here */
        return;
      }
      bloom_leveldb_add_by(kernels, &shape, filter, &first);
      filter[shape.num_bytes-1] = NUM_PROBES;
      bloom_filter_read(filter, shape.num_bytes, &read);
      assert_int_equal(read.shape.num_slots, s<2 ? sizes[s] : (uint64_t)1 << 32);
      assert_int_equal(read.shape.num_bits, sizes[s]);
      for(i=0; i<NUM; i++){
        assert_true(read.encoding->may_contain(&read, hashes[i]));
        assert_int_equal(read.encoding->may_contain(&read, hashes[i] + 1), reference_may_contain(filter, shape.num_bytes, hashes[i] + 1));
        for(j=0; j<NUM_PROBES; j++){
          const uint32_t position = reference_position(hashes[i], j, sizes[s]);
          assert_true(filter[position/8] >> position%8 & 1);
        }
      }
      free(filter);
    }
  }
}

/* The quickest first: the check of mutants stops at the first that fails. */
RUN_TESTS()
