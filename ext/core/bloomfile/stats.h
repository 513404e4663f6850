/*
** What bloom_info() says about a BloomFile: functions of bloom_encoding_bloomfile, as
** ../filter.h describes them.  Rates are the mean over the sets that have keys,
** and measured_fpr tests each hash against all sets at once.
*/
#ifndef BLOOM_CORE_BLOOMFILE_STATS_H
#define BLOOM_CORE_BLOOMFILE_STATS_H

#include "../filter.h"

/* The rate, 0..1, of a set of num_keys different keys in num_units units, a prime or, near
** enough, any number: the textbook's, and what hashes add that are a key's shifted by some
** probes.  Measured rates are 0.4 to 1.05 of it, the less the smaller they are. */
double bloom_bloomfile_modelled_fpr(uint64_t num_keys, double num_units, uint32_t num_probes);

uint32_t bloom_bloomfile_min_bits_per_key_x10(double fpr, uint64_t num_keys, double *best_fpr);

void bloom_bloomfile_describe(const bloom_filter *file, int count_bits, bloom_facts *facts);
double bloom_bloomfile_measured_fpr(const bloom_filter *file);
uint64_t bloom_bloomfile_num_tried(const bloom_filter *file);

#endif
