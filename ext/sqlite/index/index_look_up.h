/*
** The blocks of one column that pass a test.
*/
#ifndef BLOOM_SQLITE_INDEX_LOOK_UP_H
#define BLOOM_SQLITE_INDEX_LOOK_UP_H

#include "../../core/filter.h"
#include "../../core/signature/signature.h"

#include "index_intervals.h"

/* The bits of which a block must have all, or all of one of several lists. */
#define INDEX_MAX_BITS ((size_t)BLOOM_MAX_KEY_HASHES * BLOOM_SIGNATURE_MAX_PROBES)

typedef struct index_test {
  int num_lists;
  size_t num_bits; /* of each list */
  uint16_t bits[INDEX_MAX_BITS];
} index_test;

/* Appends the ids of all blocks of a column that pass the test and may lie in the intervals,
** between the first and the last of them: in no order. */
int bloom_index_look_up(bloom_index *index, const index_layout *layout, int key,
                        const index_test *test, const index_intervals *intervals,
                        index_intervals *result);

#endif
