/*
** What the files of zones share: rows of zones, and the keys of values.
*/
#ifndef BLOOM_SQLITE_INDEX_ZONE_ROWS_H
#define BLOOM_SQLITE_INDEX_ZONE_ROWS_H

#include "index_blocks.h"
#include "index_layout.h"
#include "index_zones.h"

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
