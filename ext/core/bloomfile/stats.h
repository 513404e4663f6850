/*
** What bloom_info() says about a BloomFile: functions of bloom_encoding_bloomfile, as
** ../filter.h describes them.  Rates are the mean over the sets that have keys.
*/
#ifndef BLOOM_CORE_BLOOMFILE_STATS_H
#define BLOOM_CORE_BLOOMFILE_STATS_H

#include "../filter.h"

/* The largest number of hashes that measured_fpr tests, each against all sets at once. */
#define BLOOM_BLOOMFILE_FPR_SAMPLE 131072

void bloom_bloomfile_describe(const bloom_filter *file, int count_bits, bloom_facts *facts);
double bloom_bloomfile_measured_fpr(const bloom_filter *file);

#endif
