/*
** Counting the bits of a filter.
*/
#ifndef BLOOM_CORE_BITS_H
#define BLOOM_CORE_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Bits set in num_bytes bytes. */
uint64_t bloom_count_bits(const uint8_t *bytes, size_t num_bytes);

#endif
