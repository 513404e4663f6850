/*
** Conditions -> intervals of ids: which rows may meet them.
*/
#ifndef BLOOM_SQLITE_INDEX_CANDIDATES_H
#define BLOOM_SQLITE_INDEX_CANDIDATES_H

#include "index_entries.h"
#include "index_plan.h"

/* -- index_intervals.c -------------------------------------------------------------------- */

/* A look-up of entries costs as much as so many rows of a scan. */
#define INDEX_ROWS_OF_LOOK_UP 200

/* Where there are more, all ids are read: memory has an end. */
#define INDEX_MAX_INTERVALS 1000000

typedef struct index_interval {
  sqlite3_int64 first, last; /* both belong to it */
} index_interval;

/* In ascending order, with gaps in between. */
typedef struct index_intervals {
  index_interval *list;
  size_t num_intervals, max_intervals;
} index_intervals;

/* Appends one, whatever those before it are; where it follows the last one they become one. */
int bloom_index_intervals_append(index_intervals *intervals, sqlite3_int64 first,
                                 sqlite3_int64 last);

/* Adds one that begins at or behind the last one's first id; first > last: it is empty. */
int bloom_index_intervals_add(index_intervals *intervals, sqlite3_int64 first, sqlite3_int64 last);

/* Puts those that were appended in order. */
void bloom_index_intervals_sort(index_intervals *intervals);

/* Keeps the ids that others have, too; adds those that others have. */
int bloom_index_intervals_intersect(index_intervals *intervals, const index_intervals *others);
int bloom_index_intervals_unite(index_intervals *intervals, const index_intervals *others);

/* Puts others in place of *intervals if rc is SQLITE_OK.  Frees what is not needed, and returns
** rc. */
int bloom_index_intervals_replace(index_intervals *intervals, index_intervals others, int rc);

/* About how many merged rows have ids in an interval. */
double bloom_index_interval_rows(const index_layout *layout, index_interval interval);

/* About how many have ids in one of several. */
double bloom_index_intervals_rows(const index_layout *layout, const index_intervals *intervals);

/* The ids that a condition on the id may be true of: all, where only SQLite knows. */
index_interval bloom_index_interval_of_id(index_condition_kind kind, sqlite3_value *value);

/* -- index_candidates.c ------------------------------------------------------------------- */

/* Sets *result to the ids of rows that may meet the plan's conditions, whose values are args and
** lists; or sets *is_too_dear if it costs less to read the whole source.  Unless unmerged is NULL
** it gets those that are not merged, or changed since, and *result the others, even all of them. */
int bloom_index_candidates(bloom_index *index, const index_plan *plan, sqlite3_value **args,
                           const index_list *lists, index_intervals *result,
                           index_intervals *unmerged, int *is_too_dear);

#endif
