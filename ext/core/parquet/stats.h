/*
** What bloom_info() says about a filter of Parquet's, and how large one must be: functions
** of bloom_encoding_parquet, as ../filter.h describes them.
*/
#ifndef BLOOM_CORE_PARQUET_STATS_H
#define BLOOM_CORE_PARQUET_STATS_H

#include "../filter.h"

uint32_t bloom_parquet_min_bits_per_key_x10(double fpr, uint64_t num_keys, double *best_fpr);
void bloom_parquet_describe(const bloom_filter *filter, int count_bits, bloom_facts *facts);
double bloom_parquet_measured_fpr(const bloom_filter *filter);

#endif
