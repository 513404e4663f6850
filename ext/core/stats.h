/*
** What a filter's bits tell about it.
*/
#ifndef BLOOM_CORE_STATS_H
#define BLOOM_CORE_STATS_H

#include "filter.h"

/* Digests that bloom_measured_fpr() tries. */
#define BLOOM_FPR_SAMPLE 131072

/* Bits set among the filter's num_bits. */
uint64_t bloom_bits_set(const bloom_filter *filter);

/*
** The most likely number of distinct keys in a filter of num_bits bits with
** bits_set of them set: -num_bits/num_probes * ln(1 - bits_set/num_bits).
** num_bits is in 1..2^63-1, num_probes > 0, bits_set < num_bits: a filter with
** every bit set says nothing of its keys.
** Source: Swamidass, Baldi 2007, "Mathematical correction for fingerprint
** similarity measures to improve chemical retrieval".
*/
double bloom_estimated_keys(uint64_t num_bits, uint32_t num_probes, uint64_t bits_set);

/*
** The false positive rate if probes were independent: fill_ratio^num_probes,
** in 0..1.  1 for a filter that may contain every key, 0 for one that is empty.
*/
double bloom_expected_fpr(const bloom_filter *filter, uint64_t bits_set);

/*
** The share, 0..1, of BLOOM_FPR_SAMPLE digests spread evenly over all 2^32
** that this filter accepts.  Unlike the expected rate it includes what double
** hashing and 32-bit digests really cost.
*/
double bloom_measured_fpr(const bloom_filter *filter);

#endif
