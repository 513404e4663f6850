/*
** The harness of all C tests, for C11 and C++: tests are counted, and the last line that a
** program prints is `N passed, N failed`.  A program has either TESTs that assert, of which
** the first failing assertion ends the test:
**
**   TEST(small_numbers){ assert_int_equal(1 + 1, 2); }
**   RUN_TESTS()
**
** or a main() of its own, which calls tally() for each thing that it finds right or wrong
** and ends with `return end_of_tests();`.
*/
#ifndef BLOOM_TEST_H
#define BLOOM_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct test {
  const char *name;
  void (*run)(void);
  struct test *next;
} test;

enum { TEST_FAILED = 1, TEST_SKIPPED };

static __attribute__((unused)) long test_num_passed, test_num_failed;
static __attribute__((unused)) test *first_test, **end_of_list = &first_test;
static __attribute__((unused)) jmp_buf end_of_test;

/* From any thread: one test that passed, or a line that says what is wrong. */
__attribute__((format(printf, 2, 3), unused))
static void tally(int is_right, const char *format, ...){
  va_list args;
  __atomic_fetch_add(is_right ? &test_num_passed : &test_num_failed, 1, __ATOMIC_RELAXED);
  if( is_right ) return;
  va_start(args, format);
  printf("FAILED: ");
  vprintf(format, args);
  printf("\n");
  va_end(args);
}

__attribute__((unused)) static int end_of_tests(void){
  printf("%ld passed, %ld failed\n", test_num_passed, test_num_failed);
  return test_num_failed>0 || test_num_passed==0;
}

/* A test enters itself in the list before main() runs. */
#define TEST(name) \
  static void name(void); \
  static test test_##name = {#name, name, NULL}; \
  __attribute__((constructor)) static void add_##name(void){ *end_of_list = &test_##name; end_of_list = &test_##name.next; } \
  static void name(void)

#define RUN_TESTS() int main(void){ return run_tests(); }

__attribute__((unused)) static int run_tests(void){
  static test *volatile t;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a crash must not swallow lines */
  for(t=first_test; t; t=t->next){
    const int result = setjmp(end_of_test);
    if( result==0 ){
      printf("test: %s\n", t->name);
      t->run();
      test_num_passed++;
    }else if( result==TEST_FAILED ){
      test_num_failed++;
    }
  }
  return end_of_tests();
}

#define skip() longjmp(end_of_test, TEST_SKIPPED)

#define fail_unless(condition, ...) \
  do{ \
    if( !(condition) ){ \
      printf("FAILED: %s:%d: ", __FILE__, __LINE__); \
      printf(__VA_ARGS__); \
      printf("\n"); \
      longjmp(end_of_test, TEST_FAILED); \
    } \
  }while( 0 )

#define fail_msg(...) fail_unless(0, __VA_ARGS__)
#define assert_true(condition) fail_unless(condition, "not true: %s", #condition)
#define assert_false(condition) fail_unless(!(condition), "not false: %s", #condition)
#define assert_non_null(pointer) fail_unless((pointer)!=NULL, "NULL: %s", #pointer)
#define assert_null(pointer) fail_unless((pointer)==NULL, "not NULL: %s", #pointer)
#define assert_ptr_equal(a, b) fail_unless((const void *)(a)==(const void *)(b), "not one pointer: %s, %s", #a, #b)
#define assert_int_equal(a, b) \
  do{ \
    const uintmax_t test_a = (uintmax_t)(a), test_b = (uintmax_t)(b); \
    fail_unless(test_a==test_b, "%s is %#llx, not %#llx", #a, (unsigned long long)test_a, (unsigned long long)test_b); \
  }while( 0 )
#define assert_int_not_equal(a, b) fail_unless((uintmax_t)(a)!=(uintmax_t)(b), "equal: %s, %s", #a, #b)
#define assert_in_range(a, low, high) \
  do{ \
    const uintmax_t test_a = (uintmax_t)(a), test_low = (uintmax_t)(low), test_high = (uintmax_t)(high); \
    fail_unless(test_a>=test_low && test_a<=test_high, "%s is %llu, not in %s..%s", #a, (unsigned long long)test_a, #low, #high); \
  }while( 0 )
#define assert_string_equal(a, b) \
  do{ \
    const char *test_a = (a), *test_b = (b); \
    fail_unless(strcmp(test_a, test_b)==0, "%s is %s, not %s", #a, test_a, test_b); \
  }while( 0 )
#define assert_memory_equal(a, b, num_bytes) fail_unless(memcmp(a, b, num_bytes)==0, "bytes differ: %s, %s", #a, #b)

#endif
