/*
** Zones of the columns with RANGE: where they are, and asking them.
**
** A zone is the least and the greatest values of the rows in 2^z blocks whose numbers follow each
** other; z is the generation's, and a zone lies within a span.  So the zone of a row is found by
** the row's block, whatever the order in which rows come.
**
** NAME_zonesN(data BLOB) of such a column has a row for 32 zones that have a row of the source,
** and a directory for each 32 of these, with or without: an entry is the union of a row's zones,
** and empty where there is no row.  The rowid is (2*place + level) * 2^32 + number; row or entry n
** is that of zones, or rows, 32n and up.  ../../core/entries/zone.c has the bytes.
**
** As long as a layout names them zones and directories only grow, and the directory is written
** after its rows: whatever a merge that stops half-way leaves is no less than there was.  How many
** directories there are follows from the number of spans, so a row that is missing is damage.  What
** lies behind is not looked at.
*/
#include "index_zones.h"

#include <string.h>

/* Spans are numbered one after the other, and so are directories if none is less than a span. */
_Static_assert(2*BLOOM_ZONES_LG>=INDEX_SPAN_LG, "a directory has whole spans");

/* -- Rows ------------------------------------------------------------------------------------ */

sqlite3_int64 bloom_index_zones_rowid(uint32_t place, index_zone_level level, uint32_t number){
  return (sqlite3_int64)((2*(uint64_t)place + level) << 32 | number);
}

uint32_t bloom_index_zones_num_directories(const index_generation *generation){
  const uint32_t blocks_lg = generation->zone_lg + 2*BLOOM_ZONES_LG;
  return ((generation->num_spans << INDEX_SPAN_LG) + (1u << blocks_lg) - 1) >> blocks_lg;
}

int bloom_index_zones_read(bloom_index *index, const index_generation *generation, int key,
                           index_zone_level level, uint32_t number, bloom_zone *zones){
  const sqlite3_int64 rowid = bloom_index_zones_rowid(generation->place, level, number);
  sqlite3_stmt *row;
  int rc = bloom_index_fixed_take(index, INDEX_FIXED_ENTRIES + key, &row, "SELECT z.data FROM"
                                  " \"%w\".\"%w_zones%d\" AS z WHERE z.rowid = ?1", index->schema,
                                  index->name, key + 1);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(row, 1, rowid);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW ){
    const void *bytes = sqlite3_column_blob(row, 0);
    const size_t num_bytes = (size_t)sqlite3_column_bytes(row, 0);
    rc = bytes && bloom_zone_row_unpack(bytes, num_bytes, generation->keys[key].number,
                                        (uint64_t)rowid, zones) ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
  }else if( rc==SQLITE_DONE || rc==SQLITE_ERROR ){
    rc = SQLITE_CORRUPT_VTAB;
  }
  bloom_index_fixed_give_back(index, INDEX_FIXED_ENTRIES + key);
  return rc;
}

/* -- Asking ---------------------------------------------------------------------------------- */

/* Appends what one value asks for. */
static int zones_add_asked(const bloom_index *index, index_zone_test *test,
                           index_condition condition, sqlite3_value *value){
  bloom_zone_operator comparison = BLOOM_ZONE_EQUAL;
  size_t num_spans = 0;
  int rc;
  if( condition.kind==INDEX_LT || condition.kind==INDEX_LE ) comparison = BLOOM_ZONE_BELOW;
  if( condition.kind==INDEX_GT || condition.kind==INDEX_GE ) comparison = BLOOM_ZONE_ABOVE;
  if( test->num_spans + 3>test->max_spans ){
    const size_t max_spans = 2*test->max_spans + 4;
    bloom_zone_span *spans = sqlite3_realloc64(test->spans, max_spans * sizeof(*spans));
    if( spans==NULL ) return SQLITE_NOMEM;
    test->spans = spans;
    test->max_spans = max_spans;
  }
  if( condition.kind==INDEX_IS_NOT_NULL ){
    test->spans[test->num_spans++] = bloom_zone_everything();
    return SQLITE_OK;
  }
  rc = bloom_index_kinds[condition.kind].is_pattern
    ? bloom_index_zone_spans_of_pattern(index, test->key, condition.kind, value,
                                        test->spans + test->num_spans, &num_spans)
    : bloom_index_zone_spans_asked(index, test->key, comparison, value,
                                   condition.is_literal && !condition.is_list,
                                   test->spans + test->num_spans, &num_spans);
  test->num_spans += num_spans;
  return rc;
}

int bloom_index_zones_test(bloom_index *index, index_condition condition, sqlite3_value *value,
                           const index_list *list, index_zone_test *test){
  size_t i;
  int rc = bloom_index_learn_encoding(index);
  *test = (index_zone_test){.key = condition.zone};
  test->asks_null = condition.kind==INDEX_IS_NULL
    || (condition.kind==INDEX_IS && !condition.is_list && sqlite3_value_type(value)==SQLITE_NULL);
  if( test->asks_null ) return rc;
  if( rc==SQLITE_OK && !condition.is_list ) rc = zones_add_asked(index, test, condition, value);
  for(i=0; condition.is_list && rc==SQLITE_OK && i<list->num_values; i++){
    sqlite3_value *copy;
    rc = bloom_index_list_value(list, i, &copy);
    if( rc==SQLITE_OK ) rc = zones_add_asked(index, test, condition, copy);
    sqlite3_value_free(copy);
  }
  test->num_spans = bloom_zone_sort(test->spans, test->num_spans);
  return rc;
}

/* 1 if one span of a zone, or NULL, meets all tests of its column: a row has one value for all of
** them. */
static int zones_pass(const bloom_zone *zone, const index_zone_test *tests, int num_tests, int key){
  int half, i;
  for(half=0; half<(zone->has_null ? 3 : 2); half++){
    for(i=0; i<num_tests; i++){
      if( tests[i].key!=key ) continue;
      if( half==2 ? !tests[i].asks_null
         : !bloom_zone_meets(&zone->spans[half], tests[i].spans, tests[i].num_spans) ) break;
    }
    if( i==num_tests ) return 1;
  }
  return 0;
}

/* What is looked for. */
typedef struct zones_search {
  bloom_index *index;
  const index_generation *generation;
  int key;
  const index_zone_test *tests;
  int num_tests;
  const index_block_set *within;
  index_block_set *result;
  uint32_t end_block; /* of the generation */
  bloom_zone zones[BLOOM_ZONES_PER_ROW], entries[BLOOM_ZONES_PER_ROW];
} zones_search;

/* Returns the first block at or behind one that matters. */
static uint32_t zones_next_block(const zones_search *search, uint32_t block){
  return search->within ? bloom_index_blocks_next(search->within, block) : block;
}

/* 1 if a zone or an entry of blocks first .. last has what is looked for. */
static int zones_match(const zones_search *search, const bloom_zone *zone, uint32_t first,
                       uint32_t last){
  return first<search->end_block && zones_pass(zone, search->tests, search->num_tests, search->key)
      && zones_next_block(search, first)<=last;
}

/* Adds the blocks of a row's zones. */
static int zones_search_row(zones_search *search, uint32_t number){
  const uint32_t blocks_lg = search->generation->zone_lg;
  uint32_t i;
  int rc = bloom_index_zones_read(search->index, search->generation, search->key, INDEX_ZONES,
                                  number, search->zones);
  for(i=0; i<BLOOM_ZONES_PER_ROW && rc==SQLITE_OK; i++){
    const uint32_t first = (number*BLOOM_ZONES_PER_ROW + i) << blocks_lg;
    const uint32_t last = first + (1u << blocks_lg) - 1;
    if( zones_match(search, &search->zones[i], first, last) ){
      rc = bloom_index_blocks_add_all(search->result, first, last);
    }
  }
  return rc;
}

/* Adds the blocks of a directory's rows. */
static int zones_search_directory(zones_search *search, uint32_t number){
  const uint32_t blocks_lg = search->generation->zone_lg + BLOOM_ZONES_LG;
  uint32_t i;
  int rc = bloom_index_zones_read(search->index, search->generation, search->key,
                                  INDEX_ZONE_DIRECTORY, number, search->entries);
  for(i=0; i<BLOOM_ZONES_PER_ROW && rc==SQLITE_OK; i++){
    const uint32_t row = number*BLOOM_ZONES_PER_ROW + i;
    const uint32_t first = row << blocks_lg;
    if( zones_match(search, &search->entries[i], first, first + (1u << blocks_lg) - 1) ){
      rc = zones_search_row(search, row);
    }
  }
  return rc;
}

int bloom_index_zones_look_up(bloom_index *index, const index_generation *generation, int key,
                              const index_zone_test *tests, int num_tests,
                              const index_block_set *within, index_block_set *result){
  const uint32_t blocks_lg = generation->zone_lg + 2*BLOOM_ZONES_LG;
  zones_search *search = sqlite3_malloc64(sizeof(*search));
  uint32_t block = 0;
  int rc = search ? SQLITE_OK : SQLITE_NOMEM;
  if( search ){
    *search = (zones_search){.index = index, .generation = generation, .key = key, .tests = tests,
                             .num_tests = num_tests, .within = within, .result = result,
                             .end_block = generation->num_spans << INDEX_SPAN_LG};
  }
  while( rc==SQLITE_OK && (block = zones_next_block(search, block))<search->end_block ){
    rc = zones_search_directory(search, block >> blocks_lg);
    block = ((block >> blocks_lg) + 1) << blocks_lg;
  }
  sqlite3_free(search);
  return rc;
}
