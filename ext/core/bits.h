/*
** Functions that go through all bits of a filter: counting them, the union of two filters, and the
** share of hashes that a filter accepts.
*/
#ifndef BLOOM_CORE_BITS_H
#define BLOOM_CORE_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "filter.h"

/* Returns the number of bits set in each byte of x, in that byte. */
static inline uint64_t bloom_popcount_bytes(uint64_t x){
  x -= (x >> 1) & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
  return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

/* Returns the number of bits set in num_bytes bytes. */
uint64_t bloom_count_bits(const uint8_t *bytes, size_t num_bytes);

/* Counts the bits set in the first num_bytes bytes of a filter's bit array.  Returns 0 if the
** filter's interrupt stopped it, else 1. */
int bloom_count_filter_bits(const bloom_filter *filter, size_t num_bytes, uint64_t *bits_set);

/* Adds all keys of another filter, whose encoding and shape filter has.  Returns 0 if other's
** interrupt stopped it half-way, else 1. */
int bloom_merge_filter(uint8_t *filter, const bloom_filter *other);

/* Returns the share, 0..1, of many hashes without a pattern that the filter accepts: the real false
** positive rate, with all weaknesses of the encoding's probing. */
double bloom_measured_fpr(const bloom_filter *filter);

#endif
