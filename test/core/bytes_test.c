/*
** Fixed-width integers in the byte order of the file.
*/
#include "support.h"

#include <string.h>

#include "../../ext/core/bytes.h"

TEST(load32_reads_the_lowest_byte_first){
  static const uint8_t bytes[] = { 0xff, 0x81, 0x42, 0x24, 0x98, 0xff };
  assert_int_equal(bloom_load32_le(bytes + 1), 0x98244281u);
  assert_int_equal(bloom_load32_le(bytes), 0x244281ffu);
}

TEST(store64_writes_eight_bytes_lowest_first){
  static const uint8_t expected[] = { 0xa5, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x81, 0xa5 };
  uint8_t bytes[10];
  memset(bytes, 0xa5, sizeof(bytes));
  bloom_store64_le(bytes + 1, 0x8123456789abcdefu);
  assert_memory_equal(bytes, expected, sizeof(bytes));
}

RUN_TESTS()
