/*
** Zones of the columns with RANGE: where they are, making them, and asking them.
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
#include "index_blocks.h"
#include "index_conditions.h"
#include "index_intervals.h"
#include "index_layout.h"
#include "index_list.h"
#include "index_zones.h"

#include <string.h>

#include "../../core/bytes.h"

#define ZONES_HEAD_BYTES 4
#define ZONES_PER_ROW \
  ((BLOOM_STRIP_BYTES - ZONES_HEAD_BYTES) / BLOOM_ZONE_PACKED_BYTES(BLOOM_ZONE_NARROW_BYTES))
#define FIRST_DIRECTORY  1

/* A row of zones, or a directory. */
typedef struct zone_row {
  sqlite3_int64 number; /* of NAME_blocks_N; 0: none */
  int is_changed;
  uint32_t num_zones, key_bytes, rows_of_last, room;
  sqlite3_int64 last[ZONES_PER_ROW]; /* id of each zone */
  bloom_zone zones[ZONES_PER_ROW];
} zone_row;

struct index_zone_merge {
  bloom_index *index;
  int key;
  sqlite3_stmt *write;
  zone_row directory, row;
  uint32_t entry;             /* of the directory, that row has */
  int is_open;                /* builder has the last zone */
  int is_resumed;             /* which was in the row before */
  bloom_zone_builder builder, of_row;
};

static uint32_t zones_room(uint32_t key_bytes){
  return (BLOOM_STRIP_BYTES - ZONES_HEAD_BYTES) / BLOOM_ZONE_PACKED_BYTES(key_bytes);
}

/* -- Keys of values ------------------------------------------------------------------------- */

int bloom_index_learn_encoding(bloom_index *index){
  return index->letter_bytes ? SQLITE_OK
      : bloom_sql_integer(index->connection, &index->letter_bytes,
                          "SELECT 1 + (CAST('a' AS BLOB) <> x'61')");
}

/* The keys of a TEXT as a text.  SQLITE_OK or SQLITE_NOMEM. */
static int zones_text(const bloom_index *index, int key, sqlite3_value *value, int is_ascii,
                      bloom_zone_span *span){
  const bloom_collation collation = index->config.keys[key].equality.collation;
  const bloom_zone_order order = collation==BLOOM_COLLATION_NOCASE ? BLOOM_ZONE_NOCASE
      : collation==BLOOM_COLLATION_RTRIM ? BLOOM_ZONE_RTRIM : BLOOM_ZONE_BINARY;
  const unsigned char *text = sqlite3_value_text(value);
  if( text==NULL ) return SQLITE_NOMEM;
  /* BINARY compares the bytes of UTF-16; other collations get UTF-8. */
  if( order==BLOOM_ZONE_BINARY && index->letter_bytes!=1 ) is_ascii = 1;
  *span = bloom_zone_of_text(text, (size_t)sqlite3_value_bytes(value), order, is_ascii);
  return SQLITE_OK;
}

/* The keys by which a value is in its zone: of a text that may be a number those of both.
** is_inexact: with the REALs next to such a number, which another SQLite may read. */
static int zones_span_of_value(const bloom_index *index, int key, sqlite3_value *value,
                               int is_inexact, bloom_zone_span *span){
  const int type = sqlite3_value_type(value);
  const double real = type==SQLITE_BLOB ? 0 : sqlite3_value_double(value);
  int rc = SQLITE_OK;
  *span = type==SQLITE_NULL ? bloom_zone_nothing()
      : bloom_zone_of_number(real, is_inexact && type==SQLITE_TEXT);
  /* LIKE finds it by ranges that it is not in */
  if( type==SQLITE_BLOB ) *span = bloom_zone_everything();
  /* and 'Inf', too */
  if( type==SQLITE_FLOAT && real - real!=0 ) *span = bloom_zone_hull(*span, bloom_zone_all_texts());
  if( type==SQLITE_TEXT ){
    bloom_zone_span text;
    rc = zones_text(index, key, value, 0, &text);
    if( rc==SQLITE_OK ){
      *span = bloom_text_may_be_number(value) ? bloom_zone_hull(*span, text) : text;
    }
  }
  return rc;
}

/* The keys that a condition with this value asks for, at most two spans: *num_spans. */
static int zones_asked(const bloom_index *index, int key, bloom_zone_operator comparison,
                       sqlite3_value *value, int is_literal,
                       bloom_zone_span *spans, size_t *num_spans){
  const bloom_column_kind kind = index->config.keys[key].equality.kind;
  const int type = sqlite3_value_type(value), is_number = type==SQLITE_INTEGER
      || type==SQLITE_FLOAT;
  size_t i, num = 0;
  int rc = SQLITE_OK;
  if( type==SQLITE_BLOB ) spans[num++] = bloom_zone_of_blob();
  /* A literal TEXT has no affinity by which another column's text would be a number. */
  if( is_number
   || (type==SQLITE_TEXT && !(is_literal && kind!=BLOOM_COLUMN_NUMBER)
       && bloom_text_may_be_number(value)) ){
    spans[num++] = bloom_zone_of_number(sqlite3_value_double(value), !is_number);
  }
  /* A column of numbers makes one of a TEXT, if it can; a TEXT column makes a text of a number. */
  if( (type==SQLITE_TEXT && (kind!=BLOOM_COLUMN_NUMBER || !bloom_text_is_number(value)))
   || (is_number && kind==BLOOM_COLUMN_TEXT) ){
    sqlite3_value *copy = sqlite3_value_dup(value);
    /* SQLite makes ranges of LIKE 'begin%', which finds ill-formed texts that are not in them. */
    rc = copy ? zones_text(index, key, copy, comparison!=BLOOM_ZONE_EQUAL, &spans[num++])
        : SQLITE_NOMEM;
    sqlite3_value_free(copy);
  }
  for(i=0; i<num && rc==SQLITE_OK; i++) spans[i] = bloom_zone_asked(comparison, spans[i]);
  *num_spans = num;
  return rc;
}

/* -- Rows ------------------------------------------------------------------------------------ */

static int zones_read(index_reader *reader, sqlite3_int64 number, zone_row *row){
  uint8_t bytes[BLOOM_STRIP_BYTES];
  const uint8_t *zone = bytes + ZONES_HEAD_BYTES;
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
  if( row->num_zones>zones_room(row->key_bytes) || row->room>zones_room(row->key_bytes) ){
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

static void zones_print(const zone_row *row, uint8_t *bytes){
  uint8_t *zone = bytes + ZONES_HEAD_BYTES;
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

/* The first zone of a row that ends at or behind an id; num_zones if there is none. */
static uint32_t zones_find(const zone_row *row, sqlite3_int64 id){
  uint32_t first = 0, last = row->num_zones;
  while( first<last ){
    const uint32_t middle = (first + last)/2;
    if( row->last[middle]<id ) first = middle + 1;
    else last = middle;
  }
  return first;
}

/* -- Merging --------------------------------------------------------------------------------- */

static int zones_write(index_zone_merge *merge, zone_row *row){
  bloom_index *index = merge->index;
  uint8_t bytes[BLOOM_STRIP_BYTES], stored[INDEX_STORED_BYTES];
  int rc = SQLITE_OK;
  if( !row->is_changed ) return SQLITE_OK;
  if( merge->write==NULL ){
    rc = bloom_sql_prepare(index->connection, &merge->write,
                           "INSERT OR REPLACE INTO \"%w\".\"%w_blocks_%d\"(rowid, data) VALUES "
                           "(?1, ?2)", index->schema, index->name, merge->key + 1);
  }
  zones_print(row, bytes);
  bloom_index_row_store(index, merge->key, row->number, bytes, sizeof(bytes), stored);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(merge->write, 1, row->number);
  if( rc==SQLITE_OK ){
    rc = sqlite3_bind_blob(merge->write, 2, stored, (int)INDEX_STORED_BYTES, SQLITE_STATIC);
  }
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, merge->write);
  if( rc==SQLITE_DONE ) rc = sqlite3_reset(merge->write);
  if( rc==SQLITE_OK ) row->is_changed = 0;
  return rc;
}

/* Goes to another row, when the one at hand is written. */
static int zones_go(index_zone_merge *merge, zone_row *row, sqlite3_int64 number){
  index_reader reader;
  int rc;
  if( row->number==number ) return SQLITE_OK;
  rc = zones_write(merge, row);
  bloom_index_reader_start(&reader, merge->index, merge->key, 0);
  if( rc==SQLITE_OK ) rc = zones_read(&reader, number, row);
  bloom_index_reader_close(&reader);
  return rc;
}

static void zones_make(zone_row *row, sqlite3_int64 number, uint32_t key_bytes){
  row->number = number;
  row->is_changed = 1;
  row->num_zones = 0;
  row->rows_of_last = BLOOM_ZONE_ROWS;
  row->key_bytes = key_bytes;
  row->room = 0;
}

/* Makes a directory without rows.  How wide its keys are, its first row decides. */
static int zones_make_directory(index_zone_merge *merge, sqlite3_int64 number){
  zones_make(&merge->directory, number, BLOOM_ZONE_WIDE_BYTES);
  merge->directory.room = zones_room(BLOOM_ZONE_WIDE_BYTES);
  merge->entry = 0;
  return zones_write(merge, &merge->directory);
}

/* Goes to the zone that has an id, which is covered: *zone of merge->row. */
static int zones_seek(index_zone_merge *merge, sqlite3_int64 id, uint32_t *zone){
  zone_row *directory = &merge->directory;
  sqlite3_int64 number = directory->number ? directory->number : FIRST_DIRECTORY;
  int rc;
  /* Mostly ids ascend, and what is behind the directory at hand comes next. */
  if( directory->number && directory->num_zones && id<=directory->last[0] ){
    number = FIRST_DIRECTORY;
  }
  rc = zones_go(merge, directory, number);
  while( rc==SQLITE_OK && zones_find(directory, id)==directory->num_zones ){
    if( directory->num_zones<directory->room ) return SQLITE_CORRUPT_VTAB;
    rc = zones_go(merge, directory, directory->number + 1 + directory->room);
  }
  if( rc!=SQLITE_OK ) return rc;
  merge->entry = zones_find(directory, id);
  rc = zones_go(merge, &merge->row, directory->number + 1 + merge->entry);
  if( rc!=SQLITE_OK ) return rc;
  *zone = zones_find(&merge->row, id);
  return *zone<merge->row.num_zones ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
}

int bloom_index_zones_reset(bloom_index *index, int key){
  index_zone_merge *merge;
  int rc = bloom_index_zones_start(index, key, &merge);
  if( rc==SQLITE_OK ) rc = zones_make_directory(merge, FIRST_DIRECTORY);
  bloom_index_zones_free(merge);
  return rc;
}

int bloom_index_zones_start(bloom_index *index, int key, index_zone_merge **result){
  index_zone_merge *merge = sqlite3_malloc64(sizeof(*merge));
  *result = merge;
  if( merge==NULL ) return SQLITE_NOMEM;
  merge->index = index;
  merge->key = key;
  merge->write = NULL;
  merge->directory.number = merge->row.number = 0;
  merge->directory.is_changed = merge->row.is_changed = 0;
  merge->is_open = merge->is_resumed = 0;
  return bloom_index_learn_encoding(index);
}

void bloom_index_zones_free(index_zone_merge *merge){
  if( merge ) sqlite3_finalize(merge->write);
  sqlite3_free(merge);
}

int bloom_index_zones_widen(index_zone_merge *merge, sqlite3_int64 id, sqlite3_value *value){
  bloom_zone_span span;
  uint32_t zone = 0;
  int rc = zones_span_of_value(merge->index, merge->key, value, 1, &span);
  if( rc==SQLITE_OK ) rc = zones_seek(merge, id, &zone);
  if( rc!=SQLITE_OK ) return rc;
  merge->row.is_changed |= bloom_zone_widen(&merge->row.zones[zone], span);
  merge->directory.is_changed |= bloom_zone_widen(&merge->directory.zones[merge->entry], span);
  return rc;
}

/* Takes the zone that has the last covered row out of its row, to go on with it. */
static int zones_resume(index_zone_merge *merge, int has_covered, sqlite3_int64 covered){
  zone_row *row = &merge->row;
  uint32_t zone = 0;
  int rc;
  bloom_zone_start(&merge->builder);
  merge->is_open = 1;
  if( !has_covered ){
    rc = zones_go(merge, &merge->directory, FIRST_DIRECTORY);
    merge->entry = merge->directory.num_zones = 0;
    if( rc==SQLITE_OK ) zones_make(row, FIRST_DIRECTORY + 1, BLOOM_ZONE_NARROW_BYTES);
    row->rows_of_last = 0;
    return rc;
  }
  rc = zones_seek(merge, covered, &zone);
  if( rc!=SQLITE_OK ) return rc;
  /* What is behind is of a merge that stopped half-way. */
  if( zone + 1<row->num_zones ) row->rows_of_last = BLOOM_ZONE_ROWS;
  row->num_zones = zone;
  row->is_changed = 1;
  merge->directory.num_zones = merge->entry;
  merge->directory.is_changed = 1;
  bloom_zone_add_zone(&merge->builder, &row->zones[zone]);
  merge->is_resumed = 1;
  return SQLITE_OK;
}

/* Writes the row at hand, and makes the directory's entry for it. */
static int zones_end_row(index_zone_merge *merge){
  zone_row *row = &merge->row, *directory = &merge->directory;
  uint32_t i;
  if( row->num_zones==0 ) return SQLITE_OK;
  bloom_zone_start(&merge->of_row);
  for(i=0; i<row->num_zones; i++) bloom_zone_add_zone(&merge->of_row, &row->zones[i]);
  if( merge->entry==0 ){
    directory->key_bytes = row->key_bytes;
    directory->room = zones_room(row->key_bytes);
  }
  directory->zones[merge->entry] = bloom_zone_finish(&merge->of_row);
  directory->last[merge->entry] = row->last[row->num_zones-1];
  directory->num_zones = merge->entry + 1;
  directory->is_changed = 1;
  row->is_changed = 1;
  return zones_write(merge, row);
}

/* Begins a row behind the one at hand, and a directory where that one is full, or its keys are
** shorter than those of the row. */
static int zones_next_row(index_zone_merge *merge, uint32_t key_bytes){
  zone_row *directory = &merge->directory;
  int rc = zones_end_row(merge);
  merge->entry++;
  if( directory->key_bytes<key_bytes && directory->room>merge->entry ){
    directory->room = merge->entry;
  }
  if( rc==SQLITE_OK && merge->entry>=directory->room ){
    rc = zones_write(merge, directory);
    if( rc==SQLITE_OK ) rc = zones_make_directory(merge, directory->number + 1 + directory->room);
  }
  zones_make(&merge->row, directory->number + 1 + merge->entry, key_bytes);
  return rc;
}

/* Puts the zone in the making behind those of its row, or in the next row where it needs more
** room.  One that was in the row stays, if with shorter keys: a merge that stops must not lose it.
** */
static int zones_put(index_zone_merge *merge, sqlite3_int64 last){
  zone_row *row = &merge->row;
  const bloom_zone zone = bloom_zone_finish(&merge->builder);
  const uint32_t rows_of_last = row->rows_of_last;
  uint32_t key_bytes = bloom_zone_key_bytes(&zone);
  int rc = SQLITE_OK;
  if( key_bytes<row->key_bytes ) key_bytes = row->key_bytes;
  if( row->num_zones>=zones_room(key_bytes) && merge->is_resumed ){
    key_bytes = row->key_bytes;
  }else if( row->num_zones>=zones_room(key_bytes) ){
    key_bytes = bloom_zone_key_bytes(&zone);
    rc = zones_next_row(merge, key_bytes);
  }
  if( rc!=SQLITE_OK ) return rc;
  row->key_bytes = key_bytes;
  row->zones[row->num_zones] = zone;
  row->last[row->num_zones++] = last;
  row->rows_of_last = rows_of_last;
  row->is_changed = 1;
  return SQLITE_OK;
}

int bloom_index_zones_add(index_zone_merge *merge, const index_layout *layout,
                          sqlite3_value *value){
  bloom_zone_span span;
  int rc = zones_span_of_value(merge->index, merge->key, value, 1, &span);
  if( rc==SQLITE_OK && !merge->is_open ){
    rc = zones_resume(merge, layout->has_covered, layout->covered);
  }
  if( rc==SQLITE_OK && merge->row.rows_of_last==BLOOM_ZONE_ROWS ){
    rc = zones_put(merge, layout->covered);
    bloom_zone_start(&merge->builder);
    merge->row.rows_of_last = 0;
    merge->is_resumed = 0;
  }
  if( rc!=SQLITE_OK ) return rc;
  bloom_zone_add(&merge->builder, span);
  merge->row.rows_of_last++;
  return SQLITE_OK;
}

int bloom_index_zones_finish(index_zone_merge *merge, const index_layout *layout){
  int rc = SQLITE_OK;
  if( merge->is_open ){
    rc = zones_put(merge, layout->covered);
    if( rc==SQLITE_OK ) rc = zones_end_row(merge);
  }
  if( rc==SQLITE_OK ) rc = zones_write(merge, &merge->row);
  return rc==SQLITE_OK ? zones_write(merge, &merge->directory) : rc;
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
  rc = zones_asked(index, test->key, comparison, value, is_literal, test->spans + test->num_spans,
                   &num_spans);
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
static int zones_narrow_row(index_reader *reader, zone_row *row, sqlite3_int64 number,
                            const index_zone_test *tests, int num_tests,
                            sqlite3_int64 first, sqlite3_int64 last, const index_intervals *within,
                            size_t at, index_intervals *result){
  uint32_t i;
  int rc = zones_read(reader, number, row);
  for(i=0; rc==SQLITE_OK && i<row->num_zones; i++){
    const sqlite3_int64 end = row->last[i]<last ? row->last[i] : last;
    size_t j;
    if( end<first ) break;
    if( zones_meet_within(within, &at, first, end)
     && zones_pass(&row->zones[i], tests, num_tests, reader->key) ){
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

static int zones_narrow(index_reader *reader, zone_row *directory, sqlite3_int64 covered,
                        const index_zone_test *tests, int num_tests,
                        const index_intervals *within, index_intervals *result){
  sqlite3_int64 first = INT64_MIN, number = FIRST_DIRECTORY;
  size_t at = 0;
  uint32_t i;
  int rc;
  do{
    rc = zones_read(reader, number, directory);
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
                       const index_intervals *within, index_intervals *result){
  zone_row *rows = sqlite3_malloc64(2*sizeof(*rows)); /* a directory and a row */
  index_reader reader;
  int rc = SQLITE_NOMEM;
  bloom_index_reader_start(&reader, index, key, 0);
  if( rows ) rc = zones_narrow(&reader, rows, layout->covered, tests, num_tests, within, result);
  bloom_index_reader_close(&reader);
  sqlite3_free(rows);
  return rc;
}

/* -- Checking -------------------------------------------------------------------------------- */

int bloom_index_zones_check(bloom_index *index, int key, sqlite3_stmt *rows, sqlite3_int64 *id){
  index_zone_merge *merge;
  int is_found = 1, rc = bloom_index_zones_start(index, key, &merge);
  while( rc==SQLITE_OK && is_found && (rc = bloom_sql_step(index->connection, rows))==SQLITE_ROW ){
    bloom_zone_span span;
    uint32_t zone = 0;
    *id = sqlite3_column_int64(rows, 0);
    rc = zones_span_of_value(index, key, sqlite3_column_value(rows, key + 1), 0, &span);
    if( rc==SQLITE_OK ) rc = zones_seek(merge, *id, &zone);
    is_found = rc!=SQLITE_OK
        || (bloom_zone_has(&merge->row.zones[zone], &span)
            && bloom_zone_has(&merge->directory.zones[merge->entry], &span));
  }
  bloom_index_zones_free(merge);
  return is_found ? rc : SQLITE_NOTFOUND;
}
