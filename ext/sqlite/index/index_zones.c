/*
** Zones of the columns with RANGE: where they are, and asking them.
**
** NAME_blocks_N(data) of such a column has rows of 4,032 bytes, under checksums as those of blocks:
** a directory, the rows of zones that it is about, the next directory, and so on.  A directory has
** an entry for each row of zones: its last id, and the zones of all its rows in two spans.
**
**   0   u8   zones, or entries
**   1   u8   bytes of a key behind its class: 8, or 23 where a text needs them
**   2   u8   rows in the last zone, less 1
**   3   u8   of a directory: entries for which there is room, 91 or 38, or fewer; else 0
**   4   ..   zones (core/signature/zone.h), each behind its last id
**
** A zone begins behind the last id of the one before; the last one ends with what is covered.  A
** directory that is full has another behind its rows.  So neither the layout nor the number of rows
** is needed to read them, and whatever a merge that stops half-way leaves is no less than there
** was: zones get larger, and those behind what is covered are not looked at.
*/
#include "index_zones.h"

#include <string.h>

/* -- Rows ------------------------------------------------------------------------------------ */

int bloom_index_zone_row_read(index_reader *reader, sqlite3_int64 number, index_zone_row *row){
  uint8_t bytes[BLOOM_STRIP_BYTES];
  const uint8_t *zone = bytes + INDEX_ZONE_HEAD_BYTES;
  uint32_t i;
  int rc = bloom_index_reader_read(reader, number, bytes, sizeof(bytes), 0);
  row->number = 0;
  if( rc!=SQLITE_OK ) return rc;
  row->num_zones = bytes[0];
  row->key_bytes = bytes[1];
  row->rows_of_last = (uint32_t)bytes[2] + 1;
  row->room = bytes[3];
  if( row->key_bytes!=BLOOM_ZONE_NARROW_BYTES && row->key_bytes!=BLOOM_ZONE_WIDE_BYTES ){
    return SQLITE_CORRUPT_VTAB;
  }
  if( row->num_zones>index_zone_room(row->key_bytes) || row->room>index_zone_room(row->key_bytes) ){
    return SQLITE_CORRUPT_VTAB;
  }
  for(i=0; i<row->num_zones; i++, zone+=BLOOM_ZONE_PACKED_BYTES(row->key_bytes)){
    int64_t last;
    bloom_zone_unpack(zone, row->key_bytes, &row->zones[i], &last);
    row->last[i] = last;
    if( i>0 && last<=row->last[i-1] ) return SQLITE_CORRUPT_VTAB;
  }
  row->number = number;
  row->is_changed = 0;
  return SQLITE_OK;
}

void bloom_index_zone_row_print(const index_zone_row *row, uint8_t *bytes){
  uint8_t *zone = bytes + INDEX_ZONE_HEAD_BYTES;
  uint32_t i;
  memset(bytes, 0, BLOOM_STRIP_BYTES);
  bytes[0] = (uint8_t)row->num_zones;
  bytes[1] = (uint8_t)row->key_bytes;
  bytes[2] = (uint8_t)(row->rows_of_last - 1);
  bytes[3] = (uint8_t)row->room;
  for(i=0; i<row->num_zones; i++, zone+=BLOOM_ZONE_PACKED_BYTES(row->key_bytes)){
    bloom_zone_pack(&row->zones[i], row->last[i], row->key_bytes, zone);
  }
}

uint32_t bloom_index_zone_row_find(const index_zone_row *row, sqlite3_int64 id){
  uint32_t first = 0, last = row->num_zones;
  while( first<last ){
    const uint32_t middle = (first + last)/2;
    if( row->last[middle]<id ) first = middle + 1;
    else last = middle;
  }
  return first;
}

/* -- Asking ---------------------------------------------------------------------------------- */

/* Appends what one value asks for. */
static int zones_add_asked(const bloom_index *index, index_zone_test *test,
                           bloom_zone_operator comparison, sqlite3_value *value, int is_literal){
  size_t num_spans = 0;
  int rc;
  if( test->num_spans + 2>test->max_spans ){
    const size_t max_spans = 2*test->max_spans + 4;
    bloom_zone_span *spans = sqlite3_realloc64(test->spans, max_spans * sizeof(*spans));
    if( spans==NULL ) return SQLITE_NOMEM;
    test->spans = spans;
    test->max_spans = max_spans;
  }
  rc = bloom_index_zone_spans_asked(index, test->key, comparison, value, is_literal,
                                    test->spans + test->num_spans, &num_spans);
  test->num_spans += num_spans;
  return rc;
}

int bloom_index_zones_test(bloom_index *index, index_condition condition, sqlite3_value *value,
                           const index_list *list, index_zone_test *test){
  bloom_zone_operator comparison = BLOOM_ZONE_EQUAL;
  size_t i;
  int rc = bloom_index_learn_encoding(index);
  *test = (index_zone_test){.key = condition.zone};
  if( condition.kind==INDEX_LT || condition.kind==INDEX_LE ) comparison = BLOOM_ZONE_BELOW;
  if( condition.kind==INDEX_GT || condition.kind==INDEX_GE ) comparison = BLOOM_ZONE_ABOVE;
  if( rc==SQLITE_OK && !condition.is_list ){
    rc = zones_add_asked(index, test, comparison, value, condition.is_literal);
  }
  for(i=0; condition.is_list && rc==SQLITE_OK && i<list->num_values; i++){
    sqlite3_value *copy;
    rc = bloom_index_list_value(list, i, &copy);
    if( rc==SQLITE_OK ) rc = zones_add_asked(index, test, comparison, copy, 0);
    sqlite3_value_free(copy);
  }
  test->num_spans = bloom_zone_sort(test->spans, test->num_spans);
  return rc;
}

/* 1 if one span of a zone meets all tests of its column: a row has one value for all of them. */
static int zones_pass(const bloom_zone *zone, const index_zone_test *tests, int num_tests, int key){
  int half, i;
  for(half=0; half<2; half++){
    for(i=0; i<num_tests; i++){
      if( tests[i].key==key
       && !bloom_zone_meets(&zone->spans[half], tests[i].spans, tests[i].num_spans) ){
        break;
      }
    }
    if( i==num_tests ) return 1;
  }
  return 0;
}

/* Goes to the first interval, at or behind *at, that does not end before first; 1 if it begins at
** or before last. */
static int zones_meet_within(const index_intervals *within, size_t *at, sqlite3_int64 first,
                             sqlite3_int64 last){
  while( *at<within->num_intervals && within->list[*at].last<first ) ++*at;
  return *at<within->num_intervals && within->list[*at].first<=last;
}

/* Adds what is left of within by the zones of a row that has ids first .. last. */
static int zones_narrow_row(index_reader *reader, index_zone_row *row, sqlite3_int64 number,
                            const index_zone_test *tests, int num_tests,
                            sqlite3_int64 first, sqlite3_int64 last, const index_intervals *within,
                            size_t at, index_intervals *result){
  uint32_t i;
  int rc = bloom_index_zone_row_read(reader, number, row);
  for(i=0; rc==SQLITE_OK && i<row->num_zones; i++){
    const sqlite3_int64 end = row->last[i]<last ? row->last[i] : last;
    if( end<first ) break;
    if( zones_meet_within(within, &at, first, end)
     && zones_pass(&row->zones[i], tests, num_tests, reader->key) ){
      size_t j;
      for(j=at; rc==SQLITE_OK && j<within->num_intervals && within->list[j].first<=end; j++){
        const index_interval interval = within->list[j];
        rc = bloom_index_intervals_add(result, interval.first>first ? interval.first : first,
                                       interval.last<end ? interval.last : end);
      }
    }
    if( rc==SQLITE_OK && end==last ) return SQLITE_OK;
    first = end + 1;
  }
  return rc==SQLITE_OK ? SQLITE_CORRUPT_VTAB : rc; /* the row ends before its directory says */
}

static int zones_narrow(index_reader *reader, index_zone_row *directory, sqlite3_int64 covered,
                        const index_zone_test *tests, int num_tests,
                        const index_intervals *within, index_intervals *result){
  sqlite3_int64 first = INT64_MIN, number = INDEX_FIRST_DIRECTORY;
  size_t at = 0;
  uint32_t i;
  int rc;
  do{
    rc = bloom_index_zone_row_read(reader, number, directory);
    for(i=0; rc==SQLITE_OK && i<directory->num_zones; i++){
      const sqlite3_int64 last = directory->last[i]<covered ? directory->last[i] : covered;
      if( last<first ) return SQLITE_CORRUPT_VTAB;
      if( zones_meet_within(within, &at, first, last)
       && zones_pass(&directory->zones[i], tests, num_tests, reader->key) ){
        rc = zones_narrow_row(reader, directory + 1, number + 1 + i, tests, num_tests, first, last,
                              within, at, result);
      }
      if( rc==SQLITE_OK && last==covered ) return SQLITE_OK;
      first = last + 1;
    }
    number += 1 + directory->room;
  }while( rc==SQLITE_OK && directory->num_zones>=directory->room );
  return rc==SQLITE_OK ? SQLITE_CORRUPT_VTAB : rc; /* there are no zones for all that is covered */
}

int bloom_index_zones_narrow(bloom_index *index, const index_layout *layout, int key,
                             const index_zone_test *tests, int num_tests,
                             index_intervals *intervals){
  index_zone_row *rows = sqlite3_malloc64(2*sizeof(*rows)); /* a directory and a row */
  index_intervals left = {0};
  index_reader reader;
  int rc = SQLITE_NOMEM;
  bloom_index_reader_start(&reader, index, key, 0);
  if( rows ) rc = zones_narrow(&reader, rows, layout->covered, tests, num_tests, intervals, &left);
  bloom_index_reader_close(&reader);
  sqlite3_free(rows);
  return bloom_index_intervals_replace(intervals, left, rc);
}
