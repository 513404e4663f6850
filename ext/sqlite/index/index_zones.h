/*
** Zones of columns with RANGE: their rows, asking them, and making them.
*/
#ifndef BLOOM_SQLITE_INDEX_ZONES_H
#define BLOOM_SQLITE_INDEX_ZONES_H

#include "../../core/entries/zone.h"

#include "index_candidates.h"

/* -- index_zones.c ------------------------------------------------------------------------ */

/* Rows of zones, and directories, which have an entry like a zone for each of 32 rows. */
typedef enum index_zone_level { INDEX_ZONES, INDEX_ZONE_DIRECTORY } index_zone_level;

/* The bytes of a row's number, or a block's, that say which zone or entry of the row it is. */
#define INDEX_ZONE_MASK (BLOOM_ZONES_PER_ROW - 1)

/* Reads a row.  SQLITE_CORRUPT_VTAB where it is missing or damaged. */
int bloom_index_zones_read(bloom_index *index, const index_generation *generation, int key,
                           index_zone_level level, uint32_t number, bloom_zone *zones);

/* The rowid of a row of a generation that has a place. */
sqlite3_int64 bloom_index_zones_rowid(uint32_t place, index_zone_level level, uint32_t number);

/* How many directories the spans of a generation have. */
uint32_t bloom_index_zones_num_directories(const index_generation *generation);

/* What a condition asks of the zones of a column. */
typedef struct index_zone_test {
  int key;
  bloom_zone_span *spans; /* sorted; to be freed */
  size_t num_spans, max_spans;
  int asks_null; /* NULL is among what it asks for */
} index_zone_test;

/* Learns whether texts are UTF-16, which a database is for ever. */
int bloom_index_learn_encoding(bloom_index *index);

/* Sets *test, whose spans are for the caller to free, by a condition's value or its list.  The
** value is NULL only of IS, IS NULL and IS NOT NULL. */
int bloom_index_zones_test(bloom_index *index, index_condition condition, sqlite3_value *value,
                           const index_list *list, index_zone_test *test);

/* Adds to *result the blocks in zones that meet all tests of their column.  Zones of which
** `within`, unless it is NULL, has no block are left out. */
int bloom_index_zones_look_up(bloom_index *index, const index_generation *generation, int key,
                              const index_zone_test *tests, int num_tests,
                              const index_block_set *within, index_block_set *result);

/* -- index_zone_merge.c ------------------------------------------------------------------- */

/* A column's zones that are changed. */
typedef struct index_zone_merge index_zone_merge;

/* bloom_index_zones_free() is for the caller in any case. */
int bloom_index_zones_start(bloom_index *index, const index_generation *generation, int key,
                            index_zone_merge **result);
void bloom_index_zones_free(index_zone_merge *merge);

/* Adds a row's value to the zone that has the row's block. */
int bloom_index_zones_add(index_zone_merge *merge, uint32_t block, sqlite3_value *value);

/* Writes what is in memory. */
int bloom_index_zones_write(index_zone_merge *merge);

/* Deletes the rows of a generation that had this place. */
int bloom_index_zones_delete(bloom_index *index, int key, uint32_t place);

/* Sets *is_found to whether the zone of a block has a value. */
int bloom_index_zones_check(index_zone_merge *merge, uint32_t block, sqlite3_value *value,
                            int *is_found);

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

/* The keys that a pattern of LIKE or GLOB asks for, at most three spans. */
int bloom_index_zone_spans_of_pattern(const bloom_index *index, int key, index_condition_kind kind,
                                      sqlite3_value *value, bloom_zone_span *spans,
                                      size_t *num_spans);

/* -- index_order.c ------------------------------------------------------------------------- */

/* Rows of a query in the order of a column with zones. */
typedef struct index_slices index_slices;

/* The indexed column whose zones give the order of a column of the source; -1: none. */
int bloom_index_order_key(const bloom_index *index, int column);

/* Sets *pays to whether a few slices of the order, by this indexed column, are a small part of the
** table. */
int bloom_index_order_pays(bloom_index *index, int key, int is_descending, int *pays);

/* Begins a look-up; sets *is_too_dear if it costs less to read and sort the whole source.
** bloom_index_slices_free() is for the caller in any case. */
int bloom_index_slices_start(bloom_index *index, const index_plan *plan, int key,
                            sqlite3_value **args, const index_list *lists, index_slices **result,
                            int *is_too_dear);
void bloom_index_slices_free(index_slices *order);

/* Binds the next slice, or sets *is_done. */
int bloom_index_slices_next(index_slices *order, sqlite3_stmt *rows, int *is_done);

#endif
