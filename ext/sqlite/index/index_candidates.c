/*
** Conditions -> intervals of ids: which rows can meet them?
**
** Of each condition on a column the blocks that can hold what is asked for are those whose
** slices all have the bits.  Their ids, for all conditions together, and the ids of rows that
** are in no block, or changed since, are sorted and joined: each row is read once, in the
** order of ids.  Where a page is damaged, everything is read.
*/
#include "index_int.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/parquet/parquet.h"

/* The bits of which a block must have all, or all of one of several lists. */
#define INDEX_MAX_BITS ((size_t)BLOOM_MAX_KEY_HASHES * BLOOM_SIGNATURE_MAX_PROBES)

/* More are not remembered: memory has an end. */
#define INDEX_MAX_INTERVALS 1000000

/* Values of a list between two looks at whether sqlite3_interrupt() was called. */
#define INDEX_VALUES_PER_LOOK 64

typedef struct index_test {
  int num_lists;
  size_t num_bits; /* of each list */
  uint16_t bits[INDEX_MAX_BITS];
} index_test;

/* -- Intervals ---------------------------------------------------------------------------- */

/* Appends one, whatever those before it are. */
static int intervals_append(index_intervals *intervals, sqlite3_int64 first, sqlite3_int64 last){
  if( intervals->num_intervals==intervals->max_intervals ){
    const size_t max_intervals = 2*intervals->max_intervals + 16;
    index_interval *list = sqlite3_realloc64(intervals->list, max_intervals * sizeof(*list));
    if( list==NULL ) return SQLITE_NOMEM;
    intervals->list = list;
    intervals->max_intervals = max_intervals;
  }
  intervals->list[intervals->num_intervals++] = (index_interval){first, last};
  return SQLITE_OK;
}

/* Appends one that begins at or behind the last one's first id. */
static int intervals_add(index_intervals *intervals, sqlite3_int64 first, sqlite3_int64 last){
  if( first>last ) return SQLITE_OK;
  if( intervals->num_intervals>0 ){
    index_interval *before = &intervals->list[intervals->num_intervals-1];
    if( before->last==INT64_MAX || before->last + 1>=first ){
      if( before->last<last ) before->last = last;
      return SQLITE_OK;
    }
  }
  return intervals_append(intervals, first, last);
}

/* What both have; result is empty before. */
static int intervals_intersect(const index_intervals *a, const index_intervals *b, index_intervals *result){
  size_t i = 0, j = 0;
  int rc = SQLITE_OK;
  while( rc==SQLITE_OK && i<a->num_intervals && j<b->num_intervals ){
    const index_interval of_a = a->list[i], of_b = b->list[j];
    rc = intervals_add(result, of_a.first>of_b.first ? of_a.first : of_b.first, of_a.last<of_b.last ? of_a.last : of_b.last);
    if( of_a.last<of_b.last ) i++; else j++;
  }
  return rc;
}

/* What one of them has; result is empty before. */
static int intervals_unite(const index_intervals *a, const index_intervals *b, index_intervals *result){
  size_t i = 0, j = 0;
  int rc = SQLITE_OK;
  while( rc==SQLITE_OK && (i<a->num_intervals || j<b->num_intervals) ){
    const int is_a = j==b->num_intervals || (i<a->num_intervals && a->list[i].first<=b->list[j].first);
    const index_interval next = is_a ? a->list[i++] : b->list[j++];
    rc = intervals_add(result, next.first, next.last);
  }
  return rc;
}

static int intervals_compare(const void *a, const void *b){
  const sqlite3_int64 of_a = ((const index_interval *)a)->first, of_b = ((const index_interval *)b)->first;
  return (of_a>of_b) - (of_a<of_b);
}

/* What any of the intervals in *several has, which are in no order; result is empty before. */
static int intervals_sort(index_intervals *several, index_intervals *result){
  size_t i;
  int rc = SQLITE_OK;
  if( several->num_intervals>0 ) qsort(several->list, several->num_intervals, sizeof(several->list[0]), intervals_compare);
  for(i=0; i<several->num_intervals && rc==SQLITE_OK; i++) rc = intervals_add(result, several->list[i].first, several->list[i].last);
  return rc;
}

/* Puts *result in place of *intervals, and *result is empty. */
static void intervals_replace(index_intervals *intervals, index_intervals *result){
  index_interval *list = intervals->list;
  const size_t max_intervals = intervals->max_intervals;
  *intervals = *result;
  *result = (index_intervals){.list = list, .max_intervals = max_intervals};
}

/* -- Blocks of one column ------------------------------------------------------------------ */

/* Adds the ids of blocks first .. last, of which the one after the finished ones is open. */
static int candidates_add_blocks(index_reader *reader, const index_layout *layout, uint64_t first, uint64_t last, index_intervals *result){
  index_end before = {.last = INT64_MIN}, end = {.last = layout->covered};
  int rc = SQLITE_OK;
  if( first>0 ) rc = index_reader_end(reader, first - 1, &before);
  if( rc==SQLITE_OK && last<layout->keys[reader->key].num_blocks ) rc = index_reader_end(reader, last, &end);
  if( rc!=SQLITE_OK ) return rc;
  /* Ends that do not ascend are damage; the last one is at or below what is covered. */
  if( end.last>layout->covered ) return SQLITE_CORRUPT_VTAB;
  if( first>0 && before.last>=end.last ) return last<layout->keys[reader->key].num_blocks ? SQLITE_CORRUPT_VTAB : SQLITE_OK;
  return intervals_add(result, first>0 ? before.last + 1 : INT64_MIN, end.last);
}

/* Sets candidates[] to the blocks of a group that have all bits of a list. */
static int candidates_test_slices(index_reader *reader, int tier, uint64_t group, const uint16_t *bits, size_t num_bits, uint8_t *candidates){
  const uint32_t num_bytes = bloom_tier_slice_bytes(tier);
  uint8_t slice[BLOOM_SLICE_MAX_BYTES];
  size_t i;
  memset(candidates, 0xff, num_bytes);
  for(i=0; i<num_bits; i++){
    const bloom_slice_place place = bloom_slice_find(tier, bits[i]);
    int rc = index_reader_read(reader, index_row_of_strip(reader->index, reader->key, tier, group, place.strip), slice, num_bytes, place.offset);
    if( rc!=SQLITE_OK ) return rc;
    if( !bloom_slice_and(candidates, slice, num_bytes) ) return SQLITE_OK;
  }
  return SQLITE_OK;
}

static int candidates_add_group(index_reader *reader, const index_layout *layout, const index_test *test, int tier, uint64_t group, index_intervals *result){
  const uint32_t num_blocks = bloom_tier_blocks(tier);
  uint8_t candidates[BLOOM_SLICE_MAX_BYTES], of_list[BLOOM_SLICE_MAX_BYTES];
  uint32_t block, end, i;
  int list, rc;
  rc = candidates_test_slices(reader, tier, group, test->bits, test->num_bits, candidates);
  for(list=1; list<test->num_lists && rc==SQLITE_OK; list++){
    rc = candidates_test_slices(reader, tier, group, test->bits + (size_t)list*test->num_bits, test->num_bits, of_list);
    for(i=0; i<num_blocks/8; i++) candidates[i] |= of_list[i];
  }
  for(block=bloom_slice_next(candidates, num_blocks, 0); block<num_blocks && rc==SQLITE_OK;
      block=bloom_slice_next(candidates, num_blocks, end)){
    for(end=block+1; end<num_blocks && (candidates[end/8] >> end%8 & 1); end++){}
    rc = candidates_add_blocks(reader, layout, group*INDEX_SLOTS + block, group*INDEX_SLOTS + end - 1, result);
  }
  return rc;
}

/* The blocks that are in no group, the open one too. */
static int candidates_add_whole_blocks(index_reader *reader, const index_layout *layout, const index_test *test, index_intervals *result){
  const uint64_t num_blocks = layout->keys[reader->key].num_blocks, first = num_blocks/INDEX_SLOTS*INDEX_SLOTS;
  uint8_t bytes[BLOOM_SIGNATURE_MAX_BITS/8];
  uint64_t block;
  int rc = SQLITE_OK;
  for(block=first; block<=num_blocks && rc==SQLITE_OK; block++){
    int list, has_all = 0;
    rc = index_reader_read(reader, index_row_of_slot((uint32_t)(block - first)), bytes, reader->index->config.keys[reader->key].bits_per_block/8, 0);
    for(list=0; list<test->num_lists && !has_all && rc==SQLITE_OK; list++){
      has_all = bloom_block_has_bits(bytes, test->bits + (size_t)list*test->num_bits, test->num_bits);
    }
    if( rc==SQLITE_OK && has_all ) rc = candidates_add_blocks(reader, layout, block, block, result);
  }
  return rc;
}

/* Appends to result the ids of all blocks of a column that pass the test. */
static int candidates_add_column(bloom_index *index, const index_layout *layout, int key, const index_test *test, index_intervals *result){
  const uint64_t num_groups = layout->keys[key].num_blocks / INDEX_SLOTS;
  index_reader reader;
  uint64_t group;
  int rc = SQLITE_OK;
  index_reader_start(&reader, index, key);
  for(group=0; group<num_groups && rc==SQLITE_OK; ){
    const int tier = index_tier_of(group, num_groups);
    rc = candidates_add_group(&reader, layout, test, tier, group, result);
    group += index_tier_groups(tier);
  }
  if( rc==SQLITE_OK ) rc = candidates_add_whole_blocks(&reader, layout, test, result);
  index_reader_close(&reader);
  return rc;
}

/* -- Conditions --------------------------------------------------------------------------- */

/* Sets what a block must have for `column = value`. */
static int candidates_test_of_value(const bloom_index *index, const index_layout *layout, int key_number, sqlite3_value *value, index_test *test){
  const index_key *key = &index->config.keys[key_number];
  bloom_key_hashes hashes;
  int i, rc = bloom_query_hashes(&bloom_encoding_parquet, key->equality, value, &hashes);
  if( rc!=SQLITE_OK ) return rc;
  test->num_lists = hashes.num_hashes;
  test->num_bits = layout->num_probes;
  for(i=0; i<hashes.num_hashes; i++){
    bloom_signature_bits(hashes.hashes[i], layout->num_probes, key->bits_per_block, test->bits + (size_t)i*test->num_bits);
  }
  return SQLITE_OK;
}

/* The same for `column LIKE pattern`. */
static int candidates_test_of_pattern(const bloom_index *index, index_condition condition, sqlite3_value *pattern, index_test *test){
  index_weights weights = {{NULL}};
  index_reader reader;
  int rc;
  index_reader_start(&reader, index, condition.key);
  rc = index_weights_read_key(&reader, &weights);
  index_reader_close(&reader);
  test->num_lists = 1;
  if( rc==SQLITE_OK ) rc = index_like_bits(index, weights.of_key[condition.key], condition, pattern, test->bits, INDEX_MAX_BITS, &test->num_bits);
  index_weights_free(&weights);
  return rc;
}

/* The largest integer at or below a REAL of -2^63 .. 2^63. */
static sqlite3_int64 floor_of_real(double real){
  const sqlite3_int64 integer = (sqlite3_int64)real;
  return (double)integer>real ? integer - 1 : integer;
}

/* The ids that a condition is true of whose value is id, or, is_between, lies between id and id + 1. */
static index_interval interval_beside_id(index_condition_kind kind, sqlite3_int64 id, int is_between){
  const index_interval none = {INT64_MAX, INT64_MIN};
  if( kind==INDEX_ID_EQ ) return is_between ? none : (index_interval){id, id};
  if( kind==INDEX_ID_GE && !is_between ) return (index_interval){id, INT64_MAX};
  if( kind==INDEX_ID_GT || kind==INDEX_ID_GE ) return id==INT64_MAX ? none : (index_interval){id + 1, INT64_MAX};
  if( kind==INDEX_ID_LT && !is_between ) return id==INT64_MIN ? none : (index_interval){INT64_MIN, id - 1};
  return (index_interval){INT64_MIN, id};
}

/* The ids that a condition on the id may be true of.  SQLite checks it once more: what is not
** plain is true of all. */
static index_interval interval_of_id(index_condition_kind kind, sqlite3_value *value){
  const index_interval all = {INT64_MIN, INT64_MAX}, none = {INT64_MAX, INT64_MIN};
  const int type = sqlite3_value_type(value);
  const int is_lower = kind==INDEX_ID_GT || kind==INDEX_ID_GE, is_upper = kind==INDEX_ID_LT || kind==INDEX_ID_LE;
  if( type==SQLITE_NULL ) return none;
  if( type==SQLITE_FLOAT ){
    const double real = sqlite3_value_double(value);
    sqlite3_int64 id;
    if( real>=0x1p63 ) return is_upper ? all : none;
    if( real<-0x1p63 ) return is_lower ? all : none;
    id = floor_of_real(real);
    return interval_beside_id(kind, id, (double)id!=real);
  }
  return type==SQLITE_INTEGER ? interval_beside_id(kind, sqlite3_value_int64(value), 0) : all;
}

/* Sets *result, which is empty, to what the blocks, or the id, have for the values of a list. */
static int candidates_of_list(bloom_index *index, const index_layout *layout, index_condition condition, sqlite3_value *list,
                              index_intervals *result){
  index_intervals several = {0}, of_value = {0};
  sqlite3_value *value = NULL;
  sqlite3_int64 num_values = 0, ignored;
  size_t i;
  int rc = SQLITE_OK;
  while( rc==SQLITE_OK && (rc = bloom_vtab_list_value(list, num_values==0, &value))==SQLITE_OK ){
    if( ++num_values%INDEX_VALUES_PER_LOOK==0 ) rc = bloom_sql_integer(index->connection, &ignored, "SELECT 1");
    if( rc!=SQLITE_OK || sqlite3_value_type(value)==SQLITE_NULL ) continue;
    of_value.num_intervals = 0;
    if( index_is_on_id(condition.kind) ){
      const index_interval of_id = interval_of_id(condition.kind, value);
      rc = intervals_add(&of_value, of_id.first, of_id.last);
    }else{
      index_test test;
      rc = candidates_test_of_value(index, layout, condition.key, value, &test);
      if( rc==SQLITE_OK ) rc = candidates_add_column(index, layout, condition.key, &test, &of_value);
    }
    if( rc==SQLITE_OK && several.num_intervals + of_value.num_intervals>INDEX_MAX_INTERVALS ){
      several.num_intervals = 0;
      rc = intervals_append(&several, INT64_MIN, INT64_MAX);
      break;
    }
    for(i=0; i<of_value.num_intervals && rc==SQLITE_OK; i++){
      rc = intervals_append(&several, of_value.list[i].first, of_value.list[i].last);
    }
  }
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  if( rc==SQLITE_OK ) rc = intervals_sort(&several, result);
  sqlite3_free(several.list);
  sqlite3_free(of_value.list);
  return rc;
}

/* Narrows *intervals by the blocks of the condition's column.  Sets *is_none if it is true of
** no row. */
static int candidates_narrow(bloom_index *index, const index_layout *layout, index_condition condition, sqlite3_value *value,
                            index_intervals *intervals, int *is_none){
  const int is_pattern = index_is_pattern(condition.kind);
  index_test test;
  index_intervals of_column = {0}, both = {0};
  int rc;
  *is_none = 0;
  if( condition.is_list ){
    rc = candidates_of_list(index, layout, condition, value, &of_column);
  }else if( sqlite3_value_type(value)==SQLITE_NULL ){
    *is_none = condition.kind!=INDEX_IS; /* blocks know nothing of NULLs */
    return SQLITE_OK;
  }else{
    rc = is_pattern ? candidates_test_of_pattern(index, condition, value, &test) : candidates_test_of_value(index, layout, condition.key, value, &test);
    if( rc!=SQLITE_OK || test.num_bits==0 ) return rc;
    rc = candidates_add_column(index, layout, condition.key, &test, &of_column);
  }
  if( rc==SQLITE_OK ) rc = intervals_intersect(intervals, &of_column, &both);
  if( rc==SQLITE_OK ) intervals_replace(intervals, &both);
  sqlite3_free(of_column.list);
  sqlite3_free(both.list);
  return rc;
}

/* Adds what is in no block: changed rows, row -1, and those behind what is covered. */
static int candidates_add_unmerged(bloom_index *index, const index_layout *layout, index_intervals *intervals){
  index_intervals unmerged = {0}, all = {0};
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare(index->connection, &row, "SELECT c.id FROM (SELECT c.id FROM \"%w\".\"%w_changed\" AS c UNION ALL SELECT -1) AS c ORDER BY c.id",
                             index->schema, index->name);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
    const sqlite3_int64 id = sqlite3_column_int64(row, 0);
    /* NULL comes first, and is an id that an authorizer hides. */
    const int is_hidden = sqlite3_column_type(row, 0)==SQLITE_NULL;
    if( is_hidden || unmerged.num_intervals==INDEX_MAX_INTERVALS ){
      rc = intervals_add(&unmerged, is_hidden ? INT64_MIN : id, INT64_MAX);
      break;
    }
    rc = id<=layout->covered ? intervals_add(&unmerged, id, id) : SQLITE_OK;
  }
  sqlite3_finalize(row);
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  if( rc==SQLITE_OK && layout->covered<INT64_MAX ) rc = intervals_add(&unmerged, layout->covered + 1, INT64_MAX);
  if( rc==SQLITE_OK ) rc = intervals_unite(intervals, &unmerged, &all);
  if( rc==SQLITE_OK ) intervals_replace(intervals, &all);
  sqlite3_free(unmerged.list);
  sqlite3_free(all.list);
  return rc;
}

/* Sets *intervals to the ids of rows that the conditions on columns may be true of. */
static int intervals_of_columns(bloom_index *index, const index_plan *plan, sqlite3_value **args, index_intervals *intervals, int *is_none){
  index_layout layout;
  int i, is_equal = 0, num_pruning = 0, rc;
  for(i=0; i<plan->num_conditions; i++){
    num_pruning += !index_is_on_id(plan->conditions[i].kind) && !plan->conditions[i].is_opaque;
  }
  rc = intervals_add(intervals, INT64_MIN, INT64_MAX);
  if( rc!=SQLITE_OK || num_pruning==0 || plan->reads_all ) return rc;
  rc = index_layout_read(index, &layout);
  if( rc==SQLITE_OK ) rc = index_state_compare(index, &layout, &is_equal);
  if( rc!=SQLITE_OK || !is_equal || !layout.has_covered || layout.is_dirty ) return rc;
  intervals->list[0].last = layout.covered;
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK; i++){
    const index_condition condition = plan->conditions[i];
    if( index_is_on_id(condition.kind) || condition.is_opaque ) continue;
    rc = candidates_narrow(index, &layout, condition, args[i], intervals, is_none);
    if( *is_none ) return rc;
  }
  return rc==SQLITE_OK ? candidates_add_unmerged(index, &layout, intervals) : rc;
}

/* Narrows *intervals by a condition on the id. */
static int candidates_narrow_by_id(bloom_index *index, index_condition condition, sqlite3_value *value, index_intervals *intervals){
  const index_interval of_id = interval_of_id(condition.kind, value);
  index_intervals of_ids = {0}, both = {0};
  int rc = condition.is_list ? candidates_of_list(index, NULL, condition, value, &of_ids) : intervals_add(&of_ids, of_id.first, of_id.last);
  if( rc==SQLITE_OK ) rc = intervals_intersect(intervals, &of_ids, &both);
  if( rc==SQLITE_OK ) intervals_replace(intervals, &both);
  sqlite3_free(of_ids.list);
  sqlite3_free(both.list);
  return rc;
}

int index_candidates(bloom_index *index, const index_plan *plan, sqlite3_value **args, index_intervals *result){
  int i, is_none = 0, rc;
  result->num_intervals = 0;
  rc = intervals_of_columns(index, plan, args, result, &is_none);
  if( (rc & 0xff)==SQLITE_CORRUPT ){
    index->damaged_number = index->number;
    result->num_intervals = 0;
    rc = intervals_add(result, INT64_MIN, INT64_MAX);
  }
  if( is_none ) result->num_intervals = 0;
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK; i++){
    if( index_is_on_id(plan->conditions[i].kind) ) rc = candidates_narrow_by_id(index, plan->conditions[i], args[i], result);
  }
  return rc;
}
