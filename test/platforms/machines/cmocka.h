/*
** What the core's tests use of cmocka, in one header: for processors and systems that
** Debian has no cmocka for. Reports in TAP, as test/core/run.sh reads it. Results are the
** same in every way but the wording of a failure.
*/
#ifndef BLOOM_TEST_CMOCKA_H
#define BLOOM_TEST_CMOCKA_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
  const char *name;
  void (*test)(void **state);
};

#define cmocka_unit_test(test) {#test, test}
#define cmocka_run_group_tests(tests, setup, teardown) \
  cmocka_run_tests(tests, sizeof(tests)/sizeof((tests)[0]), setup, teardown)

#define print_message(...) (printf("# "), (void)printf(__VA_ARGS__))
#define print_error        print_message

/* Where a failure jumps to: one for all files of a program. WebAssembly has no common
** symbols, and Windows no weak ones. */
enum { CMOCKA_PASSED, CMOCKA_FAILED, CMOCKA_SKIPPED };
#ifdef __wasm__
__attribute__((weak))
#else
__attribute__((common))
#endif
jmp_buf cmocka_end_of_test;

#define cmocka_fail_unless(condition, ...) \
  do{ \
    if( !(condition) ){ \
      printf("# %s:%d: ", __FILE__, __LINE__); \
      printf(__VA_ARGS__); \
      printf("\n"); \
      longjmp(cmocka_end_of_test, CMOCKA_FAILED); \
    } \
  }while( 0 )

#define fail_msg(...) cmocka_fail_unless(0, __VA_ARGS__)
#define skip() longjmp(cmocka_end_of_test, CMOCKA_SKIPPED)
#define assert_true(condition) cmocka_fail_unless(condition, "not true: %s", #condition)
#define assert_false(condition) cmocka_fail_unless(!(condition), "not false: %s", #condition)
#define assert_non_null(pointer) cmocka_fail_unless((pointer)!=NULL, "NULL: %s", #pointer)
#define assert_null(pointer) cmocka_fail_unless((pointer)==NULL, "not NULL: %s", #pointer)
#define assert_ptr_equal(a, b) \
  cmocka_fail_unless((const void *)(a)==(const void *)(b), "not one pointer: %s, %s", #a, #b)
#define assert_int_equal(a, b) \
  do{ \
    const uintmax_t cmocka_a = (uintmax_t)(a), cmocka_b = (uintmax_t)(b); \
    cmocka_fail_unless(cmocka_a==cmocka_b, "%s is %#llx, not %#llx", #a, \
                       (unsigned long long)cmocka_a, (unsigned long long)cmocka_b); \
  }while( 0 )
#define assert_int_not_equal(a, b) \
  cmocka_fail_unless((uintmax_t)(a)!=(uintmax_t)(b), "equal: %s, %s", #a, #b)
#define assert_in_range(a, low, high) \
  do{ \
    const uintmax_t cmocka_a = (uintmax_t)(a), cmocka_low = (uintmax_t)(low); \
    cmocka_fail_unless(cmocka_a>=cmocka_low && cmocka_a<=(uintmax_t)(high), \
                       "%s is %llu, not in %s..%s", #a, (unsigned long long)cmocka_a, #low, #high); \
  }while( 0 )
#define assert_string_equal(a, b) \
  do{ \
    const char *cmocka_a = (a), *cmocka_b = (b); \
    cmocka_fail_unless(strcmp(cmocka_a, cmocka_b)==0, "%s is %s, not %s", #a, cmocka_a, cmocka_b); \
  }while( 0 )
#define assert_memory_equal(a, b, num_bytes) \
  cmocka_fail_unless(memcmp(a, b, num_bytes)==0, "bytes differ: %s, %s", #a, #b)

static inline int cmocka_run_tests(const struct CMUnitTest *tests, size_t num_tests,
                                   int (*setup)(void **), int (*teardown)(void **)){
  static void *state;
  static volatile size_t i;
  static volatile int num_failed;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a crash must not swallow lines */
  if( setup && setup(&state) ) return 1;
  printf("1..%u\n", (unsigned)num_tests);
  for(i=0; i<num_tests; i++){
    static volatile int result;
    result = setjmp(cmocka_end_of_test);
    /* 0, CMOCKA_PASSED, the first time. */
    if( result==CMOCKA_PASSED ) tests[i].test(&state);
    if( result==CMOCKA_FAILED ) num_failed++;
    printf("%sok %u - %s%s\n", result==CMOCKA_PASSED ? "" : "not ", (unsigned)i + 1, tests[i].name,
           result==CMOCKA_SKIPPED ? " # SKIP" : "");
  }
  if( teardown && teardown(&state) ) num_failed++;
  return num_failed;
}

#endif
