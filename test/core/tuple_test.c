/*
** Tuples are read back as they were written, and bytes that are none are refused.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/tuple.h"

/* 7, 'Oslo', 2.5, x'01', '', -1 */
#define ALL_KINDS \
  "010700000000000000" "03040000004f736c6f" "020000000000000440" "040100000001" "0300000000" "01ffffffffffffffff"

TEST(values_come_back){
  size_t num_bytes;
  uint8_t *bytes = bytes_of(ALL_KINDS, &num_bytes);
  const uint8_t *next = bytes, *const end = bytes + num_bytes;
  bloom_tuple_value value;
  assert_int_equal(bloom_tuple_num_values(bytes, num_bytes), 6);
  assert_true(bloom_tuple_read(&next, end, &value));
  assert_true(value.tag==BLOOM_TUPLE_INTEGER && value.integer==7);
  assert_true(bloom_tuple_read(&next, end, &value));
  assert_true(value.tag==BLOOM_TUPLE_TEXT && value.num_bytes==4);
  assert_memory_equal(value.bytes, "Oslo", 4);
  assert_true(bloom_tuple_read(&next, end, &value));
  assert_true(value.tag==BLOOM_TUPLE_REAL && value.real>=2.5 && value.real<=2.5);
  assert_true(bloom_tuple_read(&next, end, &value));
  assert_true(value.tag==BLOOM_TUPLE_BLOB && value.num_bytes==1 && value.bytes[0]==1);
  assert_true(bloom_tuple_read(&next, end, &value));
  assert_true(value.tag==BLOOM_TUPLE_TEXT && value.num_bytes==0);
  assert_true(bloom_tuple_read(&next, end, &value));
  assert_true(value.tag==BLOOM_TUPLE_INTEGER && value.integer==-1);
  assert_ptr_equal(next, end);
  free(bytes);
}

/* Cut off anywhere but between two values it is no tuple; a value that is refused moves
** nothing. */
TEST(cut_tuples_are_refused){
  static const size_t borders[] = {9, 18, 27, 33, 38, 47};
  size_t num_bytes, cut, i = 0;
  uint8_t *bytes = bytes_of(ALL_KINDS, &num_bytes);
  assert_int_equal(num_bytes, 47);
  for(cut=0; cut<=num_bytes; cut++){
    uint8_t *exact = exact_copy(bytes, cut);
    if( cut==borders[i] ){
      assert_int_equal(bloom_tuple_num_values(exact, cut), ++i);
    }else{
      assert_int_equal(bloom_tuple_num_values(exact, cut), -1);
    }
    free(exact);
  }
  free(bytes);
}

TEST(other_bytes_are_refused){
  static const char *const rows[] = {
    "000000000000000000", "050000000000000000", "ff", "0104", /* tags, and a length that is none */
    "02000000000000f87f", "02010000000000f0ff", /* NaN */
    "03ffffffff", "04ffffffff61", "0401000000", "03030000006161", /* longer than what is there */
  };
  const uint8_t *next;
  size_t i, num_bytes;
  assert_int_equal(bloom_tuple_num_values(NULL, 0), -1);
  for(i=0; i<COUNT_OF(rows); i++){
    bloom_tuple_value value = {BLOOM_TUPLE_BLOB, 77, 0, NULL, 77};
    uint8_t *bytes = bytes_of(rows[i], &num_bytes);
    next = bytes;
    if( bloom_tuple_read(&next, bytes + num_bytes, &value) ) fail_msg("%s was read", rows[i]);
    assert_ptr_equal(next, bytes);
    assert_true(value.integer==77 && value.num_bytes==77);
    assert_int_equal(bloom_tuple_num_values(bytes, num_bytes), -1);
    free(bytes);
  }
}

TEST(extremes_come_back){
  static const struct { const char *bytes; int64_t integer; double real; } rows[] = {
    {"01ffffffffffffff7f", INT64_MAX, 0}, {"010000000000000080", INT64_MIN, 0},
    {"02ffffffffffffef7f", 0, 0x1.fffffffffffffp1023}, {"020100000000000080", 0, -0x1p-1074},
  };
  size_t i, num_bytes;
  for(i=0; i<COUNT_OF(rows); i++){
    uint8_t *bytes = bytes_of(rows[i].bytes, &num_bytes);
    const uint8_t *next = bytes;
    bloom_tuple_value value;
    assert_true(bloom_tuple_read(&next, bytes + num_bytes, &value));
    assert_true(value.integer==rows[i].integer);
    assert_true(value.real==rows[i].real);
    free(bytes);
  }
}

RUN_TESTS()
