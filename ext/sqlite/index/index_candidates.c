/*
** Conditions -> intervals of ids: which rows can meet them?
**
** The blocks that can hold what a condition on a column asks for are those whose slices all
** have the bits.  Their ids, for all conditions together, and the ids of rows that
** are in no block, or changed since, are sorted and joined: each row is read once, in the
** order of ids.  Where a page is damaged, everything is read.
*/
#include "index_like.h"
#include "index_source.h"
#include "index_zones.h"

#include <string.h>

/* A look-up costs about as much as reading so many blocks of long rows. */
#define INDEX_BLOCKS_OF_LOOK_UP 4

/* After so many values of a list it is looked at whether sqlite3_interrupt() was called. */
#define INDEX_VALUES_PER_LOOK 64

/* -- Conditions --------------------------------------------------------------------------- */

/* What is looked for among the blocks of a column. */
typedef struct candidates_search {
  bloom_index *index;
  const index_layout *layout; /* NULL: the condition is on the id, which needs no blocks */
  index_condition condition;
  const uint8_t *weights;         /* of a LIKE column's pieces, else NULL */
  const index_intervals *within;  /* no other ids matter */
} candidates_search;

/* Sets what a block must have for `column = value`, or for `column LIKE value`. */
static int candidates_set_test(const candidates_search *search, sqlite3_value *value,
                               index_test *test){
  const index_condition condition = search->condition;
  const index_key *key = &search->index->config.keys[condition.key];
  const uint32_t num_probes = search->layout->num_probes;
  const uint32_t num_bands = index_num_bands(search->index, condition.key);
  sqlite3 *db = search->index->connection->db;
  bloom_key_hashes hashes;
  int i, rc;
  *test = (index_test){.num_lists = 1};
  if( bloom_index_kinds[condition.kind].is_pattern ){
    return bloom_index_like_test(search->index, search->weights, condition, value, test);
  }
  if( key->is_like ){
    bloom_index_like_equal_test(search->index, search->weights, condition.key, value, test);
    return SQLITE_OK;
  }
  rc = condition.is_literal
    ? bloom_literal_hashes(db, key->equality, value, &hashes)
    : bloom_query_hashes(db, key->equality, value, &hashes);
  /* Without bits everything passes. */
  if( rc!=SQLITE_OK || hashes.is_maybe ) return rc;
  test->num_lists = hashes.num_hashes;
  test->num_bits = num_probes;
  for(i=0; i<hashes.num_hashes; i++){
    bloom_signature_bits(hashes.hashes[i], num_probes, num_bands,
                         test->bits + (size_t)i*num_probes);
  }
  return SQLITE_OK;
}

/* Appends what passes a test to *result; that is everything where nothing is tested. */
static int candidates_append(const candidates_search *search, const index_test *test,
                             index_intervals *result){
  if( test->num_bits==0 ) return bloom_index_intervals_append(result, INT64_MIN, INT64_MAX);
  return bloom_index_look_up(search->index, search->layout, search->condition.key, test,
                             search->within, result);
}

/* Appends what may have a value; without a layout the value is an id. */
static int candidates_append_value(const candidates_search *search, sqlite3_value *value,
                                   index_intervals *result){
  index_test test;
  int rc;
  if( search->layout==NULL ){
    const index_interval ids = bloom_index_interval_of_id(search->condition.kind, value);
    return ids.first<=ids.last ? bloom_index_intervals_append(result, ids.first, ids.last)
      : SQLITE_OK;
  }
  rc = candidates_set_test(search, value, &test);
  return rc==SQLITE_OK ? candidates_append(search, &test, result) : rc;
}

/* Appends what may match a regular expression: what has all pieces of one of its terms. */
static int candidates_append_regexp(const candidates_search *search, sqlite3_value *pattern,
                                    index_intervals *result){
  const uint32_t bits_per_block = index_block_bits(search->index, search->condition.key);
  bloom_regexp regexp;
  uint32_t i;
  int rc = bloom_index_regexp_read(pattern, search->condition.kind, &regexp);
  for(i=0; i<regexp.required.num_terms && rc==SQLITE_OK; i++){
    index_test test = {.num_lists = 1};
    bloom_index_regexp_test(&regexp, i, search->weights, bits_per_block, &test);
    rc = candidates_append(search, &test, result);
  }
  return rc;
}

/* Appends what may have one of the values of a list. */
static int candidates_append_list(const candidates_search *search, const index_list *list,
                                  index_intervals *result){
  size_t number;
  int rc = SQLITE_OK;
  for(number=0; number<list->num_values && rc==SQLITE_OK; number++){
    sqlite3_value *value = NULL;
    if( (number + 1)%INDEX_VALUES_PER_LOOK==0 ){
      sqlite3_int64 ignored;
      rc = bloom_sql_integer(search->index->connection, &ignored, "SELECT 1");
    }
    if( rc==SQLITE_OK ) rc = bloom_index_list_value(list, number, &value);
    if( rc==SQLITE_OK ) rc = candidates_append_value(search, value, result);
    sqlite3_value_free(value);
    if( rc==SQLITE_OK && result->num_intervals>INDEX_MAX_INTERVALS ){
      result->num_intervals = 0;
      return bloom_index_intervals_append(result, INT64_MIN, INT64_MAX);
    }
  }
  return rc;
}

/* Keeps of *intervals what a condition's value, or its list, may be found in. */
static int candidates_search_and_keep(const candidates_search *search, sqlite3_value *value,
                                      const index_list *list, index_intervals *intervals){
  index_intervals found = {0};
  int rc;
  if( search->condition.is_list ){
    rc = candidates_append_list(search, list, &found);
  }else if( index_is_regexp(search->condition.kind) ){
    rc = candidates_append_regexp(search, value, &found);
  }else{
    rc = candidates_append_value(search, value, &found);
  }
  bloom_index_intervals_sort(&found);
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(intervals, &found);
  sqlite3_free(found.list);
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
  candidates_search search = {.index = index, .layout = layout, .condition = condition,
                              .within = intervals};
  uint8_t *weights;
  int rc;
  if( !condition.is_list && sqlite3_value_type(value)==SQLITE_NULL ){
    /* Blocks know nothing of NULLs, and what regexp() makes of one nobody knows. */
    *is_none = condition.kind!=INDEX_IS && !index_is_regexp(condition.kind);
    return SQLITE_OK;
  }
  if( !candidates_is_worth_it(layout, condition.key, intervals) ) return SQLITE_OK;
  rc = bloom_index_weights_read(index, condition.key, &weights);
  /* The configuration may be another than the plan was made by, if it was read again since. */
  if( rc==SQLITE_OK && weights==NULL && bloom_index_kinds[condition.kind].is_pattern ){
    rc = SQLITE_CORRUPT_VTAB;
  }
  search.weights = weights;
  if( rc==SQLITE_OK ) rc = candidates_search_and_keep(&search, value, list, intervals);
  sqlite3_free(weights);
  return rc;
}

/* Adds what is in no block: changed rows, row -1, and those behind what is covered.  The last
** row of all may be on its way still, with an id that SQLite chose, while a trigger that comes
** before ours reads. */
static int candidates_add_unmerged(bloom_index *index, const index_layout *layout,
                                   index_intervals *intervals){
  index_intervals unmerged = {0};
  sqlite3_int64 last = -1, before = INT64_MIN;
  sqlite3_stmt *row;
  int rc = bloom_index_statement_integer(index, 0, &last, INDEX_LAST_ID, index->columns.id_name,
                                         index->schema, index->source_name);
  if( rc!=SQLITE_OK ) return rc;
  rc = bloom_index_statement_take(index,
                                  sqlite3_mprintf("SELECT c.id FROM (SELECT c.id FROM "
                                                  "\"%w\".\"%w_changed\" AS c UNION ALL SELECT -1"
                                                  " UNION ALL SELECT ?1) AS c ORDER BY c.id",
                                                  index->schema, index->name), &row);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(row, 1, last);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
    const sqlite3_int64 id = sqlite3_column_int64(row, 0);
    /* An authorizer makes NULLs of ids that it hides, and these come first. */
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
  bloom_index_statement_give_back(index, row);
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  if( rc==SQLITE_OK && layout->covered<INT64_MAX ){
    rc = bloom_index_intervals_add(&unmerged, layout->covered + 1, INT64_MAX);
  }
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_unite(intervals, &unmerged);
  sqlite3_free(unmerged.list);
  return rc;
}

/* Sets usable[] for the conditions whose blocks cost less than reading all, and *num_usable to how
** many conditions have such blocks, or zones. */
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
    usable[i] = condition.key>=0
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
    rc = bloom_index_zones_narrow(index, layout, tests[i].key, tests, num_tests, intervals);
  }
  for(i=0; i<num_tests; i++) sqlite3_free(tests[i].spans);
  return rc;
}

/* Narrows *intervals, which the conditions on ids have left, by those on columns: first by
** zones, which are small, then by blocks of what is left. */
static int candidates_narrow_by_columns(bloom_index *index, const index_plan *plan,
                                        sqlite3_value **args, const index_list *lists,
                                        index_intervals *intervals, int *is_too_dear){
  index_intervals covered = {0};
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
    if( rc!=SQLITE_OK ) return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
  }
  if( has_rows_on_their_way ) return SQLITE_OK;
  rc = candidates_find_usable(index, &layout, plan, lists, usable, &num_usable);
  if( rc!=SQLITE_OK || num_usable==0 ) return rc;
  *is_too_dear = 0;
  rc = bloom_index_intervals_add(&covered, INT64_MIN, layout.covered);
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(&covered, intervals);
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
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(intervals, &covered);
  sqlite3_free(covered.list);
  return rc;
}

int bloom_index_candidates(bloom_index *index, const index_plan *plan, sqlite3_value **args,
                           const index_list *lists, index_intervals *result, int *is_too_dear){
  int i, rc;
  result->num_intervals = 0;
  rc = bloom_index_intervals_add(result, INT64_MIN, INT64_MAX);
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK; i++){
    const index_condition condition = plan->conditions[i];
    if( condition.is_on_id && bloom_index_kinds[condition.kind].is_on_ids ){
      const candidates_search search = {.index = index, .condition = condition};
      rc = candidates_search_and_keep(&search, args[i], &lists[i], result);
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
