/*
** Key bytes -> partition; partition.h has the definition.
*/
#include "partition.h"

/* Compiles xxHash into this file: no library to load, no symbol to export. */
#define XXH_INLINE_ALL
#include <xxhash.h>

/* The upper half of a * b, from the products of the 32-bit halves: not every compiler
** has a 128-bit type. */
static uint64_t multiply_high(uint64_t a, uint64_t b){
  const uint64_t a_low = a & UINT32_MAX, a_high = a >> 32;
  const uint64_t b_low = b & UINT32_MAX, b_high = b >> 32;
  const uint64_t low_low = a_low * b_low;
  const uint64_t high_low = a_high * b_low + (low_low >> 32);
  const uint64_t low_high = a_low * b_high + (high_low & UINT32_MAX);
  return a_high * b_high + (high_low >> 32) + (low_high >> 32);
}

uint64_t bloom_partition_of(const uint8_t *key, size_t num_bytes, uint64_t num_partitions){
  static const uint8_t no_bytes[1] = {0};
  return multiply_high(XXH3_64bits(key ? key : no_bytes, num_bytes), num_partitions);
}
