/*
** Conditions -> intervals of ids.
*/
#ifndef BLOOM_SQLITE_INDEX_CANDIDATES_H
#define BLOOM_SQLITE_INDEX_CANDIDATES_H

#include "index_intervals.h"
#include "index_list.h"
#include "index_plan.h"

/* The ids that rows may have which meet the conditions.  args and lists are in their order.  Sets
** *is_too_dear if reading the whole source costs less, and result is nothing then. */
int bloom_index_candidates(bloom_index *index, const index_plan *plan, sqlite3_value **args,
                           const index_list *lists, index_intervals *result,
                     int *is_too_dear);

#endif
