/*
** What goes through all bits of a filter: counting them, and the union of two filters.
*/
#ifndef BLOOM_CORE_BITS_H
#define BLOOM_CORE_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "filter.h"

/* Bits set in num_bytes bytes. */
uint64_t bloom_count_bits(const uint8_t *bytes, size_t num_bytes);

/* Counts the bits set in the first num_bytes bytes of a filter's bit array, in steps between
** which the filter's interrupt can stop it.  Returns 0 if it did, else 1. */
int bloom_count_filter_bits(const bloom_filter *filter, size_t num_bytes, uint64_t *bits_set);

/* 1 if a filter has a bit set; -1 if its interrupt stopped the search. */
int bloom_has_bits_set(const bloom_filter *filter);

/* ORs num_bytes bytes of other's bit array to bits.  Returns 0 if other's interrupt stopped
** it half-way, else 1. */
int bloom_or_filter_bits(uint8_t *bits, const bloom_filter *other, size_t num_bytes);

#endif
