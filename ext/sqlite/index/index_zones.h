/*
** Zones of columns with RANGE: their rows, asking them, and making them.
*/
#ifndef BLOOM_SQLITE_INDEX_ZONES_H
#define BLOOM_SQLITE_INDEX_ZONES_H

#include "../../core/signature/zone.h"

#include "index_candidates.h"

/* -- index_zones.c ------------------------------------------------------------------------ */

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

/* Adds a changed row's value to the zone that has the row's id. */
int bloom_index_zones_widen(index_zone_merge *merge, sqlite3_int64 id, sqlite3_value *value);

/* Adds a row behind what the layout says is covered; no changed row can follow. */
int bloom_index_zones_add(index_zone_merge *merge, const index_layout *layout,
                          sqlite3_value *value);

/* Writes what is in memory, when the layout says what is covered. */
int bloom_index_zones_finish(index_zone_merge *merge, const index_layout *layout);

/* Looks for each row in its zone: SQLITE_DONE, or SQLITE_NOTFOUND and the id of one that its zone
** lacks. */
int bloom_index_zones_check(bloom_index *index, int key, sqlite3_stmt *rows, sqlite3_int64 *id);

/* -- index_zone_keys.c --------------------------------------------------------------------- */

/* The keys by which a value is in its zone: of a text that may be a number those of both.
** is_inexact: with the REALs next to such a number, which another SQLite may read.  SQLITE_OK or
** SQLITE_NOMEM. */
int bloom_index_zone_span_of(const bloom_index *index, int key, sqlite3_value *value,
                             int is_inexact, bloom_zone_span *span);

/* The keys that a condition with this value asks for, at most two spans: *num_spans. */
int bloom_index_zone_spans_asked(const bloom_index *index, int key, bloom_zone_operator comparison,
                                 sqlite3_value *value, int is_literal, bloom_zone_span *spans,
                                 size_t *num_spans);

/* -- Rows: index_zones.c ------------------------------------------------------------------- */

#define INDEX_ZONE_HEAD_BYTES 4
#define INDEX_ZONES_PER_ROW \
  ((BLOOM_STRIP_BYTES - INDEX_ZONE_HEAD_BYTES) / BLOOM_ZONE_PACKED_BYTES(BLOOM_ZONE_NARROW_BYTES))
#define INDEX_FIRST_DIRECTORY 1

/* A row of zones, or a directory. */
typedef struct index_zone_row {
  sqlite3_int64 number; /* of NAME_blocks_N; 0: none */
  int is_changed;
  uint32_t num_zones, key_bytes, rows_of_last, room;
  sqlite3_int64 last[INDEX_ZONES_PER_ROW]; /* id of each zone */
  bloom_zone zones[INDEX_ZONES_PER_ROW];
} index_zone_row;

/* The zones that a row has room for. */
static inline uint32_t index_zone_room(uint32_t key_bytes){
  return (BLOOM_STRIP_BYTES - INDEX_ZONE_HEAD_BYTES) / BLOOM_ZONE_PACKED_BYTES(key_bytes);
}

int bloom_index_zone_row_read(index_reader *reader, sqlite3_int64 number, index_zone_row *row);
void bloom_index_zone_row_print(const index_zone_row *row, uint8_t *bytes);

/* The first zone of a row that ends at or behind an id; num_zones if there is none. */
uint32_t bloom_index_zone_row_find(const index_zone_row *row, sqlite3_int64 id);

#endif
