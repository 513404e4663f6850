/*
** Nothing outside of a filter is read: it lies against pages without access, at
** its front and at its end.  Sanitizers do not see what vector code fetches.
*/
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
/* MAP_ANONYMOUS; the C library's name, not ours. */
#define _DEFAULT_SOURCE /* NOLINT(bugprone-reserved-identifier,cert-dcl*,readability-identifier-naming) */
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../ext/core/leveldb/leveldb.h"

#ifdef _WIN32

static void test_reads_stay_inside(void **state){
  (void)state;
  print_message("not run here: Windows has no mmap()\n");
}

static void test_reads_of_large_filters_stay_inside(void **state){
  (void)state;
}

#else

#include <sys/mman.h>
#include <unistd.h>

enum { NUM_DIGESTS = 1000, MAX_BYTES = 300 };

static void check_reads(const uint8_t *bytes, size_t num_bytes, uint32_t digest, uint32_t step){
  bloom_digest digests[NUM_DIGESTS];
  uint8_t answers[NUM_DIGESTS];
  bloom_filter filter;
  size_t row, i;
  for(i=0; i<NUM_DIGESTS; i++, digest+=step) digests[i] = digest;
  bloom_filter_read(bytes, num_bytes, &filter);
  for(row=0; bloom_all_kernels[row]; row++){
    const bloom_kernels *kernels = bloom_all_kernels[row];
    if( !kernels->is_supported() ) continue;
    bloom_leveldb_may_contain_by(kernels, &filter, digests, NUM_DIGESTS, answers);
    for(i=0; i<NUM_DIGESTS; i++){
      assert_int_equal(answers[i], bloom_filter_may_contain(&filter, digests[i]));
    }
  }
}

static void test_reads_stay_inside(void **state){
  /* Odd: every digest another one, all positions of small filters. */
  const uint32_t step = 2654435761u;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *pages = mmap(NULL, 3*page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uint8_t *inside = pages + page;
  size_t num_bytes;
  (void)state;
  assert_true(pages!=MAP_FAILED);
  /* Bits that are all set: every probe of every digest is fetched. */
  memset(inside, 0xff, page);
  assert_int_equal(mprotect(pages, page, PROT_NONE), 0);
  assert_int_equal(mprotect(inside + page, page, PROT_NONE), 0);
  for(num_bytes=2; num_bytes<=MAX_BYTES; num_bytes++){
    uint8_t *last = inside + num_bytes - 1;
    *last = (uint8_t)(1 + num_bytes%30);
    check_reads(inside, num_bytes, 0, step);
    *last = 0xff;
    inside[page-1] = (uint8_t)(1 + num_bytes%30);
    check_reads(inside + page - num_bytes, num_bytes, 0, step);
    inside[page-1] = 0xff;
  }
  assert_int_equal(munmap(pages, 3*page), 0);
}

/* The last positions there are, in filters of 2^32 bits and a few more: 512 MiB are
** reserved, few pages touched. */
static void test_reads_of_large_filters_stay_inside(void **state){
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t room = ((size_t)1 << 29) + page;
  uint8_t *pages = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  size_t num_more;
  (void)state;
  if( pages==MAP_FAILED ){
    skip();
    return;
  }
  assert_int_equal(mprotect(pages + room, page, PROT_NONE), 0);
  pages[room-1] = 1; /* the only probe is the digest */
  for(num_more=0; num_more<8; num_more++){
    const size_t num_bytes = ((size_t)1 << 29) + num_more + 1;
    check_reads(pages + room - num_bytes, num_bytes, UINT32_MAX, UINT32_MAX);
  }
  assert_int_equal(munmap(pages, room + page), 0);
}

#endif

int main(void){
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_reads_stay_inside),
    cmocka_unit_test(test_reads_of_large_filters_stay_inside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
