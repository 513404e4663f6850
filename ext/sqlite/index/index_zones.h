/*
** Zones of columns with RANGE.
*/
#ifndef BLOOM_SQLITE_INDEX_ZONES_H
#define BLOOM_SQLITE_INDEX_ZONES_H

#include "../../core/signature/zone.h"

#include "index_conditions.h"
#include "index_intervals.h"
#include "index_list.h"

/* What a condition asks of the zones of a column. */
typedef struct index_zone_test {
  int key;
  bloom_zone_span *spans; /* sorted; to be freed */
  size_t num_spans, max_spans;
} index_zone_test;

/* Learns whether texts are UTF-16, which a database is for ever. */
int bloom_index_learn_encoding(bloom_index *index);

/* Sets *test, whose spans are for the caller to free, by a condition's value, which is not NULL, or
** its list. */
int bloom_index_zones_test(bloom_index *index, index_condition condition, sqlite3_value *value,
                           const index_list *list, index_zone_test *test);

/* Keeps of *intervals the ids that are in a zone which meets all tests of its column. */
int bloom_index_zones_narrow(bloom_index *index, const index_layout *layout, int key,
                             const index_zone_test *tests, int num_tests,
                             index_intervals *intervals);

/* A column's zones in the making. */
typedef struct index_zone_merge index_zone_merge;

/* Makes the rows of a column without zones. */
int bloom_index_zones_reset(bloom_index *index, int key);

/* bloom_index_zones_free() is for the caller in any case. */
int bloom_index_zones_start(bloom_index *index, int key, index_zone_merge **result);
void bloom_index_zones_free(index_zone_merge *merge);

/* Adds a changed row's value to the zone that has its id. */
int bloom_index_zones_widen(index_zone_merge *merge, sqlite3_int64 id, sqlite3_value *value);

/* Adds a row behind what the layout says is covered; no changed row can follow. */
int bloom_index_zones_add(index_zone_merge *merge, const index_layout *layout,
                          sqlite3_value *value);

/* Writes what is in memory, when the layout says what is covered. */
int bloom_index_zones_finish(index_zone_merge *merge, const index_layout *layout);

/* Looks for each row in its zone: SQLITE_DONE, or SQLITE_NOTFOUND and the id of one that its zone
** lacks. */
int bloom_index_zones_check(bloom_index *index, int key, sqlite3_stmt *rows, sqlite3_int64 *id);

#endif
