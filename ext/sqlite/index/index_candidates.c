/*
** Conditions -> intervals of ids: which rows can meet them?
**
** Of each condition on a column the blocks that can hold what is asked for are those whose
** slices all have the bits.  Their ids, for all conditions together, and the ids of rows that
** are in no block, or changed since, are sorted and joined: each row is read once, in the
** order of ids.  Where a page is damaged, everything is read.
*/
#include "index_blocks.h"
#include "index_candidates.h"
#include "index_conditions.h"
#include "index_cost.h"
#include "index_intervals.h"
#include "index_layout.h"
#include "index_like.h"
#include "index_list.h"
#include "index_look_up.h"
#include "index_plan.h"
#include "index_regexp.h"
#include "index_source.h"
#include "index_statements.h"
#include "index_zones.h"

#include <string.h>


/* A look-up costs about as much as reading so many blocks of long rows. */
#define INDEX_BLOCKS_OF_LOOK_UP 4

/* After so many values of a list it is looked at whether sqlite3_interrupt() was called. */
#define INDEX_VALUES_PER_LOOK 64

/* -- Conditions --------------------------------------------------------------------------- */

/* Reads the weights of a column's pieces; bloom_index_weights_free() is for the caller. */
static int candidates_read_weights(const bloom_index *index, int key, index_weights *weights){
  index_reader reader;
  int rc;
  memset(weights, 0, sizeof(*weights));
  bloom_index_reader_start(&reader, index, key, 0);
  rc = bloom_index_weights_read_key(&reader, weights);
  bloom_index_reader_close(&reader);
  return rc;
}

/* Sets what a block must have for `column = value`; weights are those of a LIKE column. */
static int candidates_test_of_value(const bloom_index *index, const index_layout *layout,
                                    const index_weights *weights, index_condition condition,
                                    sqlite3_value *value, index_test *test){
  const int key_number = condition.key;
  const index_key *key = &index->config.keys[key_number];
  bloom_key_hashes hashes;
  int i, rc;
  test->num_lists = 1;
  if( key->is_like ){
    return bloom_index_like_equal_bits(index, weights->tables[key_number], key_number, value,
                                       test->bits, INDEX_MAX_BITS, &test->num_bits);
  }
  rc = condition.is_literal
    ? bloom_literal_hashes(key->equality, value, &hashes)
    : bloom_query_hashes(key->equality, value, &hashes);
  if( rc!=SQLITE_OK ) return rc;
  test->num_lists = hashes.num_hashes;
  test->num_bits = layout->num_probes;
  for(i=0; i<hashes.num_hashes; i++){
    bloom_signature_bits(hashes.hashes[i], layout->num_probes, index_num_bands(index, key_number),
                         test->bits + (size_t)i*test->num_bits);
  }
  return SQLITE_OK;
}

/* Sets what a block must have for `column LIKE pattern`. */
static int candidates_test_of_pattern(const bloom_index *index, index_condition condition,
                                      sqlite3_value *pattern, index_test *test){
  index_weights weights;
  int rc = candidates_read_weights(index, condition.key, &weights);
  test->num_lists = 1;
  if( rc==SQLITE_OK ){
    rc = bloom_index_like_bits(index, weights.tables[condition.key], condition, pattern, test->bits,
                               INDEX_MAX_BITS, &test->num_bits);
  }
  bloom_index_weights_free(&weights);
  return rc;
}

/* Sets *result, which is empty, to what the blocks have for a regular expression: for one of its
** terms. */
static int candidates_of_regexp(bloom_index *index, const index_layout *layout,
                                index_condition condition, sqlite3_value *pattern,
                                const index_intervals *intervals, index_intervals *result){
  index_intervals of_term = {0}, both = {0};
  index_weights weights = {{NULL}};
  bloom_regexp regexp;
  index_test test = {.num_lists = 1};
  uint32_t i;
  int rc = bloom_index_regexp_read(pattern, condition.kind, &regexp);
  if( rc==SQLITE_OK ) rc = candidates_read_weights(index, condition.key, &weights);
  for(i=0; i<regexp.required.num_terms && rc==SQLITE_OK; i++){
    test.num_bits = bloom_index_regexp_bits(&regexp, i, weights.tables[condition.key],
                                            index_block_bits(index,
                                                condition.key), test.bits, INDEX_MAX_BITS);
    of_term.num_intervals = both.num_intervals = 0;
    if( test.num_bits==0 ) rc = bloom_index_intervals_add(&of_term, INT64_MIN, INT64_MAX);
    else rc = bloom_index_look_up(index, layout, condition.key, &test, intervals, &of_term);
    if( rc==SQLITE_OK ) rc = bloom_index_intervals_unite(result, &of_term, &both);
    if( rc==SQLITE_OK ) bloom_index_intervals_replace(result, &both);
  }
  bloom_index_weights_free(&weights);
  sqlite3_free(of_term.list);
  sqlite3_free(both.list);
  return rc;
}

/* Adds to *result what the blocks have for one value. */
static int candidates_of_value(bloom_index *index, const index_layout *layout,
                               const index_weights *weights, index_condition condition,
                               sqlite3_value *value, const index_intervals *intervals,
                               index_intervals *result){
  index_test test;
  int rc;
  test.num_bits = 0;
  rc = candidates_test_of_value(index, layout, weights, condition, value, &test);
  if( rc!=SQLITE_OK ) return rc;
  if( test.num_bits==0 ) return bloom_index_intervals_add(result, INT64_MIN, INT64_MAX);
  return bloom_index_look_up(index, layout, condition.key, &test, intervals, result);
}

/* Sets *result, which is empty, to what the blocks have for the values of a list, or, without a
** layout, the id. */
static int candidates_of_list(bloom_index *index, const index_layout *layout,
                              index_condition condition, const index_list *list,
                              const index_intervals *intervals, index_intervals *result){
  index_intervals several = {0}, of_value = {0};
  index_weights weights = {{NULL}};
  sqlite3_int64 ignored;
  size_t i, number;
  int rc = SQLITE_OK;
  assert((layout==NULL)==(condition.is_on_id!=0));
  if( layout && index->config.keys[condition.key].is_like ){
    rc = candidates_read_weights(index, condition.key, &weights);
  }
  for(number=0; number<list->num_values && rc==SQLITE_OK; number++){
    sqlite3_value *value = NULL;
    if( (number + 1)%INDEX_VALUES_PER_LOOK==0 ){
      rc = bloom_sql_integer(index->connection, &ignored, "SELECT 1");
    }
    if( rc!=SQLITE_OK ) break;
    of_value.num_intervals = 0;
    if( layout==NULL ){
      const index_interval of_id = bloom_index_interval_of_id(condition.kind, list->values[number]);
      rc = bloom_index_intervals_add(&of_value, of_id.first, of_id.last);
    }else{
      rc = bloom_index_list_value(list, number, &value);
      if( rc==SQLITE_OK ){
        rc = candidates_of_value(index, layout, &weights, condition, value, intervals, &of_value);
      }
    }
    sqlite3_value_free(value);
    if( rc==SQLITE_OK && several.num_intervals + of_value.num_intervals>INDEX_MAX_INTERVALS ){
      several.num_intervals = 0;
      rc = bloom_index_intervals_append(&several, INT64_MIN, INT64_MAX);
      break;
    }
    for(i=0; i<of_value.num_intervals && rc==SQLITE_OK; i++){
      rc = bloom_index_intervals_append(&several, of_value.list[i].first, of_value.list[i].last);
    }
  }
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_sort(&several, result);
  bloom_index_weights_free(&weights);
  sqlite3_free(several.list);
  sqlite3_free(of_value.list);
  return rc;
}

/* 1 if so many rows are left in the intervals that a look-up of blocks may save more than it
** costs. */
static int candidates_is_worth_it(const index_layout *layout, int key,
                                  const index_intervals *intervals){
  const double num_blocks = (double)layout->keys[key].num_blocks + 1;
  const double of_blocks = INDEX_BLOCKS_OF_LOOK_UP * ((double)layout->num_rows / num_blocks);
  const double num_rows = bloom_index_intervals_rows(layout, intervals);
  return intervals->num_intervals>0 && (num_rows>=INDEX_ROWS_OF_LOOK_UP || num_rows>=of_blocks);
}

/* Narrows *intervals by the blocks of the condition's column.  Sets *is_none if it is true of
** no row. */
static int candidates_narrow(bloom_index *index, const index_layout *layout,
                             index_condition condition, sqlite3_value *value,
                            const index_list *list, index_intervals *intervals, int *is_none){
  const int is_pattern = bloom_index_kinds[condition.kind].is_pattern;
  index_weights weights = {{NULL}};
  index_intervals of_column = {0}, both = {0};
  int rc = SQLITE_OK;
  *is_none = 0;
  if( !condition.is_list && sqlite3_value_type(value)==SQLITE_NULL ){
    /* Blocks know nothing of NULLs, and what regexp() makes of one nobody knows. */
    *is_none = condition.kind!=INDEX_IS && !index_is_regexp(condition.kind);
    return SQLITE_OK;
  }
  if( !candidates_is_worth_it(layout, condition.key, intervals) ) return SQLITE_OK;
  if( condition.is_list ){
    rc = candidates_of_list(index, layout, condition, list, intervals, &of_column);
  }else if( index_is_regexp(condition.kind) ){
    rc = candidates_of_regexp(index, layout, condition, value, intervals, &of_column);
  }else if( is_pattern ){
    index_test test;
    test.num_bits = 0;
    rc = candidates_test_of_pattern(index, condition, value, &test);
    if( rc!=SQLITE_OK || test.num_bits==0 ) return rc;
    rc = bloom_index_look_up(index, layout, condition.key, &test, intervals, &of_column);
  }else{
    if( index->config.keys[condition.key].is_like ){
      rc = candidates_read_weights(index, condition.key, &weights);
    }
    if( rc==SQLITE_OK ){
      rc = candidates_of_value(index, layout, &weights, condition, value, intervals, &of_column);
    }
    bloom_index_weights_free(&weights);
  }
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(intervals, &of_column, &both);
  if( rc==SQLITE_OK ) bloom_index_intervals_replace(intervals, &both);
  sqlite3_free(of_column.list);
  sqlite3_free(both.list);
  return rc;
}

/* Sets *last to the last id, if there is a row. */
static int candidates_last_id(bloom_index *index, sqlite3_int64 *last){
  index_statement *taken;
  sqlite3_stmt *row;
  int rc = bloom_index_statement_take(index, bloom_index_source_last_id(index), &taken, &row);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW && sqlite3_column_type(row, 0)!=SQLITE_NULL ){
    *last = sqlite3_column_int64(row, 0);
  }
  bloom_index_statement_give_back(index, taken);
  return rc==SQLITE_ROW || rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* Adds what is in no block: changed rows, row -1, and those behind what is covered.  The last
** row of all may be on its way still, with an id that SQLite chose, while a trigger that comes
** before ours reads. */
static int candidates_add_unmerged(bloom_index *index, const index_layout *layout,
                                   index_intervals *intervals){
  index_intervals unmerged = {0}, all = {0};
  sqlite3_int64 last = -1, before = INT64_MIN;
  index_statement *taken;
  sqlite3_stmt *row;
  int rc = candidates_last_id(index, &last);
  if( rc!=SQLITE_OK ) return rc;
  rc = bloom_index_statement_take(index,
                                  sqlite3_mprintf("SELECT c.id FROM (SELECT c.id FROM "
                                                  "\"%w\".\"%w_changed\" AS c UNION ALL SELECT -1"
                                                  " UNION ALL SELECT ?1) AS c ORDER BY c.id",
                                                  index->schema, index->name), &taken, &row);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(row, 1, last);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
    const sqlite3_int64 id = sqlite3_column_int64(row, 0);
    /* NULL comes first, and is an id that an authorizer hides. */
    const int is_hidden = sqlite3_column_type(row, 0)==SQLITE_NULL;
    if( is_hidden || unmerged.num_intervals==INDEX_MAX_INTERVALS ){
      rc = bloom_index_intervals_add(&unmerged, is_hidden ? INT64_MIN : id, INT64_MAX);
      break;
    }
    /* What SQLite keeps in order may be damaged, too. */
    if( id<before ) rc = SQLITE_CORRUPT_VTAB;
    else if( id<=layout->covered ) rc = bloom_index_intervals_add(&unmerged, id, id);
    else rc = SQLITE_OK;
    before = id;
  }
  bloom_index_statement_give_back(index, taken);
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  if( rc==SQLITE_OK && layout->covered<INT64_MAX ){
    rc = bloom_index_intervals_add(&unmerged, layout->covered + 1, INT64_MAX);
  }
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_unite(intervals, &unmerged, &all);
  if( rc==SQLITE_OK ) bloom_index_intervals_replace(intervals, &all);
  sqlite3_free(unmerged.list);
  sqlite3_free(all.list);
  return rc;
}

static int is_served_by_blocks(index_condition condition){
  return condition.key>=0 && !condition.is_opaque;
}

/* Sets usable[] to the conditions whose blocks cost less than reading all; their number. */
static int candidates_find_usable(bloom_index *index, const index_layout *layout,
                                  const index_plan *plan, const index_list *lists,
                                  uint8_t *usable, int *num_usable){
  double num_rows = 0;
  int i, is_outweighed = 0, rc = bloom_index_cost_rows(index, layout, &num_rows);
  if( rc==SQLITE_OK ) rc = bloom_index_cost_is_outweighed(index, num_rows, &is_outweighed);
  *num_usable = 0;
  if( rc!=SQLITE_OK || is_outweighed ) return rc;
  for(i=0; i<plan->num_conditions; i++){
    const index_condition condition = plan->conditions[i];
    const size_t num_values = condition.is_list ? lists[i].num_values : 1;
    usable[i] = is_served_by_blocks(condition)
      && (num_values<2 || bloom_index_cost_rows_of_list(num_rows, num_values)<num_rows);
    *num_usable += usable[i] || condition.zone>=0;
  }
  return SQLITE_OK;
}

/* Narrows *intervals by the zones of all conditions together.  Sets *is_none if one of them is
** true of no row. */
static int candidates_narrow_by_zones(bloom_index *index, const index_layout *layout,
                                      const index_plan *plan, sqlite3_value **args,
                                      const index_list *lists, index_intervals *intervals,
                                      int *is_none){
  index_zone_test tests[INDEX_MAX_CONDITIONS];
  index_intervals left = {0};
  int i, j, num_tests = 0, rc = SQLITE_OK;
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK && !*is_none; i++){
    const index_condition condition = plan->conditions[i];
    if( condition.zone<0 ) continue;
    if( !condition.is_list && sqlite3_value_type(args[i])==SQLITE_NULL ){
      *is_none = condition.kind!=INDEX_IS; /* zones know nothing of NULLs */
    }else{
      rc = bloom_index_zones_test(index, condition, args[i], &lists[i], &tests[num_tests++]);
    }
  }
  for(i=0; i<num_tests && rc==SQLITE_OK && !*is_none; i++){
    for(j=0; tests[j].key!=tests[i].key; j++){}
    if( j<i || intervals->num_intervals==0 ) continue;
    rc = bloom_index_zones_narrow(index, layout, tests[i].key, tests, num_tests, intervals, &left);
    if( rc==SQLITE_OK ) bloom_index_intervals_replace(intervals, &left);
  }
  for(i=0; i<num_tests; i++) sqlite3_free(tests[i].spans);
  sqlite3_free(left.list);
  return rc;
}

/* Narrows *intervals, which the conditions on ids have left, by those on columns: first by
** zones, which are small, then by blocks of what is left. */
static int candidates_narrow_by_columns(bloom_index *index, const index_plan *plan,
                                        sqlite3_value **args, const index_list *lists,
                                        index_intervals *intervals, int *is_too_dear){
  index_intervals covered = {0}, both = {0};
  uint8_t usable[INDEX_MAX_CONDITIONS] = {0};
  index_layout layout;
  int i, is_equal = 0, is_none = 0, num_usable = 0, has_rows_on_their_way = 0, rc;
  if( intervals->num_intervals==0 ) return SQLITE_OK;
  *is_too_dear = 1;
  rc = bloom_index_layout_read(index, &layout);
  if( rc==SQLITE_OK ) rc = bloom_index_state_compare(index, &layout, &is_equal);
  if( rc!=SQLITE_OK || !is_equal || !layout.has_covered || layout.is_dirty ) return rc;
  /* Behind the last id SQLite draws one at random, of which nobody knows before the row is
  ** noted. */
  if( layout.covered==INT64_MAX ){
    rc = bloom_sql_has_rows_on_their_way(index->connection, &has_rows_on_their_way);
  }
  if( rc!=SQLITE_OK || has_rows_on_their_way ) return rc;
  rc = candidates_find_usable(index, &layout, plan, lists, usable, &num_usable);
  if( rc!=SQLITE_OK || num_usable==0 ) return rc;
  *is_too_dear = 0;
  rc = bloom_index_intervals_add(&both, INT64_MIN, layout.covered);
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(intervals, &both, &covered);
  if( rc==SQLITE_OK ) rc = candidates_narrow_by_zones(index, &layout, plan, args, lists, &covered,
                                                      &is_none);
  /* Keys first, which leave less. */
  for(i=0; i<2*plan->num_conditions && rc==SQLITE_OK && !is_none; i++){
    const int number = i % plan->num_conditions;
    const index_condition condition = plan->conditions[number];
    const int is_pattern = bloom_index_kinds[condition.kind].is_pattern;
    if( !usable[number] || is_pattern!=(i>=plan->num_conditions) ) continue;
    rc = candidates_narrow(index, &layout, condition, args[number], &lists[number], &covered,
                           &is_none);
  }
  if( is_none ) intervals->num_intervals = 0;
  else if( rc==SQLITE_OK ) rc = candidates_add_unmerged(index, &layout, &covered);
  both.num_intervals = 0;
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(intervals, &covered, &both);
  if( rc==SQLITE_OK ) bloom_index_intervals_replace(intervals, &both);
  sqlite3_free(covered.list);
  sqlite3_free(both.list);
  return rc;
}

/* Narrows *intervals by a condition on the id. */
static int candidates_narrow_by_id(bloom_index *index, index_condition condition,
                                   sqlite3_value *value, const index_list *list,
                                  index_intervals *intervals){
  const index_interval of_id = bloom_index_interval_of_id(condition.kind, value);
  index_intervals of_ids = {0}, both = {0};
  int rc = condition.is_list ? candidates_of_list(index, NULL, condition, list, NULL, &of_ids)
    : bloom_index_intervals_add(&of_ids, of_id.first, of_id.last);
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(intervals, &of_ids, &both);
  if( rc==SQLITE_OK ) bloom_index_intervals_replace(intervals, &both);
  sqlite3_free(of_ids.list);
  sqlite3_free(both.list);
  return rc;
}

int bloom_index_candidates(bloom_index *index, const index_plan *plan, sqlite3_value **args,
                           const index_list *lists, index_intervals *result,
                     int *is_too_dear){
  int i, rc;
  result->num_intervals = 0;
  rc = bloom_index_intervals_add(result, INT64_MIN, INT64_MAX);
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK; i++){
    const index_condition condition = plan->conditions[i];
    if( condition.is_on_id && bloom_index_kinds[condition.kind].is_on_ids ){
      rc = candidates_narrow_by_id(index, condition, args[i], &lists[i], result);
    }
  }
  if( rc==SQLITE_OK ) rc = candidates_narrow_by_columns(index, plan, args, lists, result,
                                                        is_too_dear);
  if( (rc & 0xff)==SQLITE_CORRUPT ){
    index->damaged_number = index->number;
    *is_too_dear = 1;
    rc = SQLITE_OK;
  }
  return rc;
}
