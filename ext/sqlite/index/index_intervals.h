/*
** Intervals of ids.
*/
#ifndef BLOOM_SQLITE_INDEX_INTERVALS_H
#define BLOOM_SQLITE_INDEX_INTERVALS_H

#include "index_conditions.h"
#include "index_layout.h"

/* A look-up of blocks costs as much as so many rows of a scan. */
#define INDEX_ROWS_OF_LOOK_UP 1700

/* More are not remembered: memory has an end. */
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

/* About how many merged rows have ids in an interval; in all of some, up to
** INDEX_ROWS_OF_LOOK_UP. */
double bloom_index_interval_rows(const index_layout *layout, index_interval interval);
double bloom_index_intervals_rows(const index_layout *layout, const index_intervals *intervals);

/* The ids that a condition on the id may be true of.  SQLite checks it once more: what is not
** plain is true of all. */
index_interval bloom_index_interval_of_id(index_condition_kind kind, sqlite3_value *value);

#endif
