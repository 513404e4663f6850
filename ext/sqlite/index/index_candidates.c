/*
** Conditions become intervals of ids: the candidates, which may meet them.
**
** A condition on a column leaves the blocks that have an entry of one of its tokens; several
** conditions leave the blocks that each of them leaves.  The ids of these blocks, and of rows that
** are not merged or changed since, are sorted and united, so that each row is read once, in the
** order of ids.  If a page is damaged, all rows are read.
*/
#include "index_values.h"
#include "index_source.h"

#include <stdlib.h>

#include "../../core/numeric.h"

/* An interrupt is polled once for so many values of a list. */
#define INDEX_VALUES_PER_LOOK 64

/* If so few blocks are left, a look-up of further tokens costs more than it may save. */
#define CANDIDATES_FEW_BLOCKS 1

/* So many rows are added to a scan's when the two are compared: few intervals take little time. */
#define CANDIDATES_ROWS_OF_SCAN 3000

/* -- Conditions --------------------------------------------------------------------------- */

static int candidates_compare_tokens(const void *a, const void *b){
  const uint64_t of_a = ((const index_tokens *)a)->first, of_b = ((const index_tokens *)b)->first;
  return (of_a>of_b) - (of_a<of_b);
}

/* Replaces *blocks, all blocks if it has no segments, by those of them that were found. */
static void candidates_take(index_block_set *blocks, index_block_set *found){
  assert( found->segments );
  assert( blocks->segments==NULL
          || bloom_index_blocks_count(found)<=bloom_index_blocks_count(blocks) );
  bloom_index_blocks_free(blocks);
  *blocks = *found;
  found->segments = NULL;
}

/* Adds to *result the blocks that are in each range of lists; without a range sets *is_all. */
static int candidates_find_ranges(const index_search *search, const bloom_lists_range *ranges,
                                  size_t num_ranges, index_block_set *result, int *is_all){
  index_block_set left = {0, NULL}, found;
  uint64_t num_before = search->within ? bloom_index_blocks_count(search->within) : UINT64_MAX;
  size_t num_idle = 0; /* the last look-ups, each of which left more than 3/4 of the blocks */
  size_t i;
  int rc = SQLITE_OK;
  assert( num_ranges<=INDEX_MAX_RANGES );
  *is_all |= num_ranges==0;
  for(i=0; i<num_ranges && rc==SQLITE_OK; i++){
    const index_tokens tokens = {ranges[i].first, ranges[i].num_lists};
    if( i>0 ){
      const uint64_t num_left = bloom_index_blocks_count(&left);
      num_idle = num_left>num_before/4*3 ? num_idle + 1 : 0;
      num_before = num_left;
      /* All blocks that other conditions left may have the pattern.  Without such conditions most
      ** blocks have its lists by chance, and one of the last lists may leave few. */
      if( num_left<=CANDIDATES_FEW_BLOCKS || (search->within && num_idle>=num_left) ) break;
    }
    rc = bloom_index_blocks_make(&found, search->generation->num_spans);
    if( rc==SQLITE_OK ) rc = bloom_index_look_up(search->index, search->generation,
                                                 search->condition.key, &tokens, 1,
                                                 i>0 ? &left : search->within, &found);
    if( rc==SQLITE_OK ) candidates_take(&left, &found);
    bloom_index_blocks_free(&found);
  }
  if( rc==SQLITE_OK && left.segments ) bloom_index_blocks_unite(result, &left);
  bloom_index_blocks_free(&left);
  return rc;
}

/* Adds to *result the blocks that may have a text that the condition finds with a value; or sets
** *is_all. */
static int candidates_find_text(const index_search *search, sqlite3_value *value,
                                index_block_set *result, int *is_all){
  const index_condition *condition = &search->condition;
  bloom_lists_range ranges[INDEX_MAX_RANGES];
  bloom_regexp regexp;
  size_t num_ranges;
  uint32_t i, j;
  int rc;
  if( !index_is_regexp(condition->kind) ){
    num_ranges = bloom_index_needle(search->index, search->lists, condition, value, ranges);
    return candidates_find_ranges(search, ranges, num_ranges, result, is_all);
  }
  rc = bloom_index_regexp_read(value, condition->kind, &regexp);
  for(i=0; i<regexp.required.num_terms && rc==SQLITE_OK && !*is_all; i++){
    /* A text has all literals of a term. */
    for(j=0, num_ranges=0; j<regexp.num_literals; j++){
      const bloom_regexp_literal literal = regexp.literals[j];
      if( !(regexp.required.terms[i] >> j & 1) ) continue;
      num_ranges = bloom_needle_ranges(search->lists, literal.kind, regexp.bytes + literal.first,
                                       literal.num_bytes, ranges, num_ranges, INDEX_MAX_RANGES);
    }
    rc = candidates_find_ranges(search, ranges, num_ranges, result, is_all);
  }
  return rc;
}

int bloom_index_search(index_search *search, sqlite3_value *value, const index_list *list,
                       index_block_set *result, int *is_all){
  bloom_index *index = search->index;
  const index_condition condition = search->condition;
  const index_key *key = &index->config.keys[condition.key];
  const uint32_t hash_bits = search->generation->keys[condition.key].hash_bits;
  const size_t num_values = condition.is_list ? list->num_values : 1;
  const uint64_t all_have_grams = (uint64_t)INDEX_FACT_ALL_HAVE_GRAMS
    << (INDEX_MAX_GENERATIONS*condition.key + (int)search->generation->place);
  index_tokens *tokens = NULL;
  size_t num_tokens = 0, max_tokens = 0, i;
  int j, rc = SQLITE_OK;
  assert( hash_bits<=INDEX_MAX_HASH_BITS
          && (hash_bits>0)==index_properties_of(key)->has_hash_bits );
  if( index_properties_of(key)->has_lists ){
    rc = bloom_index_lists_read(index, search->generation, condition.key, &search->lists);
  }
  /* Blocks that have a value without grams may match. */
  if( rc==SQLITE_OK && search->lists && !(index->facts.known & all_have_grams) ){
    const index_tokens any = {bloom_lists_any(search->lists), 1};
    rc = bloom_index_look_up(index, search->generation, condition.key, &any, 1, search->within,
                             result);
    /* In one transaction: between several, another connection may merge. */
    if( rc==SQLITE_OK && search->within==NULL && index->facts.state==BLOOM_CONTENT_READ
     && bloom_index_blocks_next(result, 0)==UINT32_MAX ) bloom_index_note(index, all_have_grams);
  }
  for(i=0; i<num_values && rc==SQLITE_OK && !*is_all; i++){
    sqlite3_value *copy = NULL;
    bloom_key_hashes hashes;
    if( (i + 1)%INDEX_VALUES_PER_LOOK==0
     && bloom_db_is_interrupted(index->connection->db) ) rc = SQLITE_INTERRUPT;
    if( rc==SQLITE_OK && condition.is_list ) rc = bloom_index_value_copy(list->values[i], &copy);
    if( condition.is_list ) value = copy;
    if( rc==SQLITE_OK ) switch( key->kind ){
      case INDEX_KEY_HASHES:
        rc = bloom_hashes_of_value(index->connection->db, key->equality, value, condition.is_literal
                                   ? BLOOM_TO_LOOK_FOR_LITERAL : BLOOM_TO_LOOK_FOR, &hashes);
        if( rc==SQLITE_OK ) rc = bloom_grow(&tokens, num_tokens + (size_t)hashes.num_hashes,
                                            &max_tokens, sizeof(*tokens));
        if( rc==SQLITE_OK ) *is_all |= hashes.is_maybe;
        for(j=0; rc==SQLITE_OK && j<hashes.num_hashes; j++){
          assert( num_tokens<max_tokens );
          tokens[num_tokens++] = (index_tokens){hashes.hashes[j] >> (64 - hash_bits), 1};
        }
        break;
      case INDEX_KEY_TEXTS: case INDEX_KEY_REGEXP:
        rc = candidates_find_text(search, value, result, is_all);
        break;
      case INDEX_KEY_ZONES: rc = SQLITE_CORRUPT_VTAB;
    }
    sqlite3_value_free(copy);
  }
  if( rc==SQLITE_OK && !*is_all && num_tokens>0 ){
    qsort(tokens, num_tokens, sizeof(*tokens), candidates_compare_tokens);
    rc = bloom_index_look_up(index, search->generation, condition.key, tokens, num_tokens,
                             search->within, result);
  }
  sqlite3_free(tokens);
  return rc;
}

/* -- A generation --------------------------------------------------------------------------- */

/* A query, and how its conditions are served. */
typedef struct candidates_query {
  bloom_index *index;
  const index_layout *layout;
  const index_plan *plan;
  sqlite3_value **args;
  const index_list *lists;
  uint8_t usable[INDEX_MAX_CONDITIONS]; /* entries serve it, and cost less than reading all */
  int num_usable;
  index_zone_test tests[INDEX_MAX_CONDITIONS]; /* zones serve these */
  int num_tests;
} candidates_query;

/* Sets *blocks to those that have ids in the intervals. */
static int candidates_blocks_of(const index_spans *spans, const index_intervals *intervals,
                                index_block_set *blocks){
  const uint32_t mask = (1u << INDEX_SPAN_LG) - 1;
  size_t at = 0;
  uint32_t i;
  int rc = bloom_index_blocks_make(blocks, spans->num_spans);
  for(i=0; i<spans->num_spans && rc==SQLITE_OK; i++){
    const uint32_t number = spans->by_key[i], span = number << INDEX_SPAN_LG;
    const uint32_t shift = spans->list[number].shift;
    const sqlite3_int64 first = bloom_index_span_first(spans, number);
    const sqlite3_int64 last = bloom_index_span_last(spans, number);
    size_t j;
    assert( i==0 || spans->list[spans->by_key[i-1]].shift<=shift );
    if( i>0 && spans->list[spans->by_key[i-1]].shift!=shift ) at = 0; /* their ids begin again */
    while( at<intervals->num_intervals && intervals->list[at].last<first ) at++;
    for(j=at; j<intervals->num_intervals && intervals->list[j].first<=last && rc==SQLITE_OK; j++){
      const index_interval interval = intervals->list[j];
      const sqlite3_int64 from = interval.first>first ? interval.first : first;
      const sqlite3_int64 to = interval.last<last ? interval.last : last;
      assert( from<=to && (j==at || intervals->list[j-1].last<interval.first) );
      rc = bloom_index_blocks_add_all(blocks,
                                      span | ((uint32_t)bloom_index_block_of(from, shift) & mask),
                                      span | ((uint32_t)bloom_index_block_of(to, shift) & mask));
    }
  }
  return rc;
}

/* Adds the ids of a block, without those of smaller blocks. */
static int candidates_add_ids(const index_spans *spans, uint32_t block, index_intervals *ids){
  const uint64_t larger = ~(uint64_t)0 << spans->list[block >> INDEX_SPAN_LG].shift;
  sqlite3_int64 first = bloom_index_block_first(spans, block);
  const sqlite3_int64 last = bloom_index_block_last(spans, block);
  index_intervals others = {0};
  uint64_t left = spans->shifts & ~larger;
  size_t i;
  int rc = SQLITE_OK;
  for(; left>0; left&=left - 1){
    const uint32_t shift = bloom_num_low_zeros64(left);
    const sqlite3_int64 key = bloom_index_block_of(bloom_index_block_of(first, shift),
                                                   INDEX_SPAN_LG);
    uint32_t at = bloom_index_spans_find(spans, shift, key);
    for(; at<spans->num_spans && rc==SQLITE_OK; at++){
      const uint32_t span = spans->by_key[at];
      if( spans->list[span].shift!=shift || bloom_index_span_first(spans, span)>last ) break;
      rc = bloom_index_intervals_add(&others, bloom_index_span_first(spans, span),
                                     bloom_index_span_last(spans, span));
    }
  }
  bloom_index_intervals_sort(&others);
  for(i=0; i<others.num_intervals && rc==SQLITE_OK; i++){
    const index_interval other = others.list[i];
    if( other.first>first ) rc = bloom_index_intervals_add(ids, first, other.first - 1);
    if( other.last>=last ) break;
    first = other.last + 1;
  }
  if( rc==SQLITE_OK && i==others.num_intervals ) rc = bloom_index_intervals_add(ids, first, last);
  sqlite3_free(others.list);
  return rc;
}

/* Keeps the ids in *intervals that are in one of the blocks. */
static int candidates_keep_blocks(const candidates_query *query,
                                  const index_generation *generation,
                                  const index_block_set *blocks, index_intervals *intervals){
  uint32_t block = bloom_index_blocks_next(blocks, 0);
  index_intervals left = {0};
  index_spans *spans;
  int rc = SQLITE_OK;
  /* Without blocks, as of an absent key, no spans are needed. */
  if( block!=UINT32_MAX ){
    rc = bloom_index_spans_read(query->index, query->layout, generation, &spans);
  }
  while( block!=UINT32_MAX && rc==SQLITE_OK ){
    rc = block>>INDEX_SPAN_LG<spans->num_spans
      ? candidates_add_ids(spans, block, &left) : SQLITE_CORRUPT_VTAB;
    block = bloom_index_blocks_next(blocks, block + 1);
  }
  bloom_index_intervals_sort(&left);
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(intervals, &left);
  sqlite3_free(left.list);
  return rc;
}

/* When a condition is looked up: keys leave fewer blocks than patterns.  A key has a list for 4,096
** blocks, and zones have a row for some dozens, which a wide range reads: so zones come second. */
typedef enum candidates_turn {
  CANDIDATES_ONE_KEY, /* then zones */
  CANDIDATES_KEYS,    /* a list of keys, or a whole text */
  CANDIDATES_PATTERN
} candidates_turn;

static candidates_turn candidates_turn_of(const bloom_index *index,
                                          const index_condition *condition){
  assert( condition->key>=0 );
  if( index_is_pattern(condition->kind) ) return CANDIDATES_PATTERN;
  return condition->is_list || index->config.keys[condition->key].kind!=INDEX_KEY_HASHES
    ? CANDIDATES_KEYS : CANDIDATES_ONE_KEY;
}

/* Returns 1 if no further look-up pays. */
static int candidates_are_few(const index_block_set *blocks){
  return blocks->segments && bloom_index_blocks_count(blocks)<=CANDIDATES_FEW_BLOCKS;
}

/* Narrows *blocks by entries, by the conditions whose turn is from first to last. */
static int candidates_narrow_by_entries(const candidates_query *query,
                                        const index_generation *generation, candidates_turn first,
                                        candidates_turn last, index_block_set *blocks){
  const index_plan *plan = query->plan;
  const int num_conditions = plan->num_conditions;
  int i, rc = SQLITE_OK;
  for(i=(int)first*num_conditions; i<((int)last + 1)*num_conditions && rc==SQLITE_OK; i++){
    const int number = i % num_conditions;
    index_search search = {.index = query->index, .generation = generation,
                           .condition = plan->conditions[number],
                           .within = blocks->segments ? blocks : NULL};
    index_block_set found;
    int is_all = 0;
    if( !query->usable[number]
     || (int)candidates_turn_of(query->index, &search.condition)!=i/num_conditions ) continue;
    if( candidates_are_few(blocks) ) break;
    rc = bloom_index_blocks_make(&found, generation->num_spans);
    if( rc==SQLITE_OK ) rc = bloom_index_search(&search, query->args[number],
                                                &query->lists[number], &found, &is_all);
    if( rc==SQLITE_OK && !is_all ) candidates_take(blocks, &found);
    bloom_index_blocks_free(&found);
  }
  return rc;
}

/* Narrows the ids of one generation by its zones and entries. */
static int candidates_narrow_generation(const candidates_query *query,
                                        const index_generation *generation,
                                        index_intervals *intervals){
  const double num_rows = bloom_index_intervals_rows(query->layout, intervals);
  const index_zone_test *tests = query->tests;
  bloom_index *index = query->index;
  index_block_set blocks = {0, NULL};
  index_spans *spans;
  int i, j, rc = SQLITE_OK;
  if( intervals->num_intervals==0 || num_rows<INDEX_ROWS_OF_LOOK_UP ) return SQLITE_OK;
  if( num_rows<(double)query->layout->num_rows/2 ){
    rc = bloom_index_spans_read(index, query->layout, generation, &spans);
    if( rc==SQLITE_OK ) rc = candidates_blocks_of(spans, intervals, &blocks);
  }
  if( rc==SQLITE_OK ) rc = candidates_narrow_by_entries(query, generation, CANDIDATES_ONE_KEY,
                                                        CANDIDATES_ONE_KEY, &blocks);
  for(i=0; i<query->num_tests && rc==SQLITE_OK && !candidates_are_few(&blocks); i++){
    const int key = tests[i].key;
    index_block_set found = {0, NULL};
    for(j=0; tests[j].key!=key; j++){}
    if( j<i ) continue; /* all tests of a column are asked together */
    rc = bloom_index_blocks_make(&found, generation->num_spans);
    if( rc==SQLITE_OK ) rc = bloom_index_zones_look_up(index, generation, key, tests,
                                                       query->num_tests, blocks.segments ? &blocks
                                                       : NULL, &found);
    if( rc==SQLITE_OK ) candidates_take(&blocks, &found);
    bloom_index_blocks_free(&found);
  }
  if( rc==SQLITE_OK && query->num_tests>0 ){
    rc = candidates_keep_blocks(query, generation, &blocks, intervals);
  }
  /* Ids that are left may be nearer to each other than elsewhere. */
  if( rc==SQLITE_OK && query->num_usable>0
   && (bloom_index_intervals_rows(query->layout, intervals)>=INDEX_ROWS_OF_LOOK_UP
       || (blocks.segments && (double)bloom_index_blocks_count(&blocks)*generation->block_rows
                              >=INDEX_ROWS_OF_LOOK_UP)) ){
    rc = candidates_narrow_by_entries(query, generation, CANDIDATES_KEYS, CANDIDATES_PATTERN,
                                      &blocks);
  }
  if( rc==SQLITE_OK && query->num_usable>0 && blocks.segments ){
    rc = candidates_keep_blocks(query, generation, &blocks, intervals);
  }
  bloom_index_blocks_free(&blocks);
  return rc;
}

/* -- Rows that are not merged ----------------------------------------------------------------- */

/* Adds the ids of changed rows.  Sets *is_too_dear where there are so many that it costs less to
** read the whole source. */
static int candidates_read_changed(bloom_index *index, const index_layout *layout,
                                   index_intervals *unmerged, int *is_too_dear){
  const sqlite3_int64 most = bloom_index_cost_most_changed(layout);
  sqlite3_int64 before = INT64_MIN, num_read = 0;
  sqlite3_stmt *row;
  int is_proven = 1, rc;
  assert( unmerged->num_intervals==0 );
  if( index->facts.known & INDEX_FACT_NONE_CHANGED ) return SQLITE_OK;
  rc = bloom_index_statement_take(index, INDEX_USE_CHANGED, &row, "SELECT c.id FROM"
                                  " \"%w\".\"%w_changed\" AS c ORDER BY c.id", index->schema,
                                  index->name);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
    const sqlite3_int64 id = sqlite3_column_int64(row, 0);
    /* An id that an authorizer hides is a NULL, which comes first. */
    const int is_hidden = sqlite3_column_type(row, 0)==SQLITE_NULL;
    is_proven &= !is_hidden;
    if( is_hidden || unmerged->num_intervals==INDEX_MAX_INTERVALS ){
      rc = bloom_index_intervals_add(unmerged, is_hidden ? INT64_MIN : id, INT64_MAX);
      break;
    }
    /* A damaged B-tree may not be in order. */
    if( id<before ) rc = SQLITE_CORRUPT_VTAB;
    else rc = id<=layout->covered ? bloom_index_intervals_add(unmerged, id, id) : SQLITE_OK;
    before = id;
    *is_too_dear |= ++num_read>most;
    if( *is_too_dear ) break;
  }
  /* If none is NULL, no later id is hidden; if SELECT itself is ignored, there is no column. */
  is_proven &= sqlite3_column_count(row)==1;
  bloom_index_statement_give_back(index, row, is_proven);
  if( rc==SQLITE_DONE && is_proven && num_read==0 ){
    bloom_index_note(index, INDEX_FACT_NONE_CHANGED);
  }
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* Adds the ids in `within` of rows that are not merged: changed ones, and those above `covered`, up
** to `last`.  While a statement of the connection writes, its row may have an id that SQLite chose,
** and a trigger that runs before ours may read it: `last` is added, too, and all ids above
** `covered`.  In a trigger before an INSERT, id -1 means that SQLite chooses, so that row -1 is not
** noted: it is added if rows have negative ids. */
static int candidates_add_unmerged(const candidates_query *query, sqlite3_int64 last,
                                   const index_intervals *within, index_intervals *intervals,
                                   int *is_too_dear){
  const index_layout *layout = query->layout;
  const int is_writing = !(query->index->facts.known & INDEX_FACT_LAYOUT)
    && bloom_sql_writer(query->index->connection, NULL)!=NULL;
  index_intervals unmerged = {0};
  int rc = candidates_read_changed(query->index, layout, &unmerged, is_too_dear);
  if( rc==SQLITE_OK && is_writing && last<=layout->covered ){
    rc = bloom_index_intervals_add(&unmerged, last, last);
  }
  if( rc==SQLITE_OK && layout->first<=-1 && layout->covered>=-1 ){
    rc = bloom_index_intervals_add(&unmerged, -1, -1);
  }
  bloom_index_intervals_sort(&unmerged);
  if( rc==SQLITE_OK && last>layout->covered ){
    rc = bloom_index_intervals_add(&unmerged, layout->covered + 1, is_writing ? INT64_MAX : last);
  }
  if( rc==SQLITE_OK && unmerged.num_intervals>0 ){
    rc = bloom_index_intervals_intersect(&unmerged, within);
    if( rc==SQLITE_OK ) rc = bloom_index_intervals_unite(intervals, &unmerged);
  }
  sqlite3_free(unmerged.list);
  return rc;
}

/* -- The whole ------------------------------------------------------------------------------- */

/* Sets which conditions entries serve, and what conditions ask of zones.  Sets *is_none if one of
** them is true of no row. */
static int candidates_read_conditions(candidates_query *query, sqlite3_int64 last, int *is_none){
  const double num_rows = bloom_index_cost_num_rows(query->layout, last);
  /* Rows that a scan reads at the cost of looking up one value of a list. */
  const double rows_of_value = num_rows<4000 ? 20 + num_rows/50 : 100;
  int i, rc = SQLITE_OK;
  for(i=0; i<query->plan->num_conditions && rc==SQLITE_OK && !*is_none; i++){
    const index_condition condition = query->plan->conditions[i];
    const size_t num_values = condition.is_list ? query->lists[i].num_values : 1;
    const int is_null = !condition.is_list && sqlite3_value_type(query->args[i])==SQLITE_NULL;
    if( condition.key<0 && condition.zone<0 ) continue;
    /* Only regexp() itself knows its answer to NULL. */
    *is_none |= is_null && condition.kind!=INDEX_IS && !index_is_regexp(condition.kind)
        && index_group_of(condition.kind)!=INDEX_NULL_TEST;
    /* NULLs have no entries. */
    query->usable[i] = condition.key>=0 && !is_null
        && (num_values<2 || (double)num_values*rows_of_value<num_rows);
    query->num_usable += query->usable[i];
    if( condition.zone>=0 && !*is_none ){
      rc = bloom_index_zones_test(query->index, &query->plan->conditions[i], query->args[i],
                                  &query->lists[i], &query->tests[query->num_tests++]);
    }
  }
  return rc;
}

/* Narrows *intervals, which the conditions on ids have left, by those on columns. */
static int candidates_narrow_by_columns(candidates_query *query, index_intervals *intervals,
                                        index_intervals *unmerged, int *is_too_dear){
  bloom_index *index = query->index;
  const index_layout *layout;
  index_intervals covered = {0};
  sqlite3_int64 last = INT64_MAX; /* where there is none, or an authorizer hides it */
  int i, is_none = 0, is_mid_write = 0, rc;
  if( intervals->num_intervals==0 ) return SQLITE_OK;
  *is_too_dear = 1;
  rc = bloom_index_layout_read(index, &query->layout);
  layout = query->layout;
  if( rc!=SQLITE_OK || !layout->has_covered ) return rc;
  /* Once id INT64_MAX is taken, SQLite picks random ids, and a row that is being inserted is not
  ** noted yet. */
  if( layout->covered==INT64_MAX ){
    rc = bloom_sql_may_be_mid_write(index->connection, &is_mid_write);
    if( rc!=SQLITE_OK || is_mid_write ) return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
  }
  rc = bloom_index_last_id(index, &last);
  if( rc!=SQLITE_OK ) return rc;
  rc = candidates_read_conditions(query, last, &is_none);
  if( rc!=SQLITE_OK || (query->num_usable==0 && query->num_tests==0 && !is_none
                        && unmerged==NULL) ) return rc;
  *is_too_dear = 0;
  /* The second generation has the lower ids. */
  for(i=layout->num_generations-1; i>=0 && rc==SQLITE_OK && !is_none; i--){
    const index_interval own = bloom_index_ids_of_generation(layout, i);
    index_intervals ids = {0};
    size_t j;
    rc = bloom_index_intervals_add(&ids, own.first, own.last<layout->covered ? own.last
                                   : layout->covered);
    if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(&ids, intervals);
    if( rc==SQLITE_OK ) rc = candidates_narrow_generation(query, &layout->generations[i], &ids);
    for(j=0; j<ids.num_intervals && rc==SQLITE_OK; j++){
      assert( own.first<=ids.list[j].first && ids.list[j].last<=own.last );
      rc = bloom_index_intervals_add(&covered, ids.list[j].first, ids.list[j].last);
    }
    sqlite3_free(ids.list);
  }
  if( !is_none && rc==SQLITE_OK ){
    /* A scan of the source reads most rows in less time. */
    *is_too_dear = unmerged==NULL && 5*bloom_index_intervals_rows(layout, &covered)
        >3*(double)layout->num_rows + CANDIDATES_ROWS_OF_SCAN;
    rc = candidates_add_unmerged(query, last, intervals, unmerged ? unmerged : &covered,
                                 is_too_dear);
  }
  sqlite3_free(rc==SQLITE_OK ? intervals->list : covered.list);
  if( rc==SQLITE_OK ) *intervals = covered;
  return rc;
}

int bloom_index_candidates(bloom_index *index, const index_plan *plan, sqlite3_value **args,
                           const index_list *lists, index_intervals *result,
                           index_intervals *unmerged, int *is_too_dear){
  candidates_query query = {.index = index, .plan = plan, .args = args, .lists = lists};
  int i, rc;
  assert( !*is_too_dear && (unmerged==NULL || unmerged->num_intervals==0) );
  result->num_intervals = 0;
  rc = bloom_index_intervals_add(result, INT64_MIN, INT64_MAX);
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK; i++){
    /* The ids that a condition on the id may be true of. */
    const index_condition condition = plan->conditions[i];
    const size_t num_values = condition.is_list ? lists[i].num_values : 1;
    index_intervals found = {0};
    size_t j;
    if( !condition.is_on_id || (condition.kind!=INDEX_EQ
                                && index_group_of(condition.kind)!=INDEX_RANGE) ) continue;
    for(j=0; j<num_values && rc==SQLITE_OK; j++){
      const index_interval ids = bloom_index_interval_of_id(
        condition.kind, condition.is_list ? lists[i].values[j] : args[i]);
      rc = bloom_index_intervals_add(&found, ids.first, ids.last);
      if( rc==SQLITE_OK && found.num_intervals>INDEX_MAX_INTERVALS ){
        found.num_intervals = 0;
        rc = bloom_index_intervals_add(&found, INT64_MIN, INT64_MAX);
        break;
      }
    }
    bloom_index_intervals_sort(&found);
    if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(result, &found);
    sqlite3_free(found.list);
  }
  if( rc==SQLITE_OK ) rc = candidates_narrow_by_columns(&query, result, unmerged, is_too_dear);
  for(i=0; i<query.num_tests; i++) sqlite3_free(query.tests[i].spans);
  if( (rc & 0xff)==SQLITE_CORRUPT ){
    bloom_connection_note_damage(index->connection, index->number);
    *is_too_dear = 1;
    rc = SQLITE_OK;
  }
  return rc;
}
