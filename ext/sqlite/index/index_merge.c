/*
** Merging: rows become entries in memory, and these become runs.
*/
#include "index_merge.h"
#include "index_source.h"

#include <string.h>

/* Blocks, tokens and lists are chosen again once there are so many times the rows that there were
** when they were chosen. */
#define MERGE_GROWTH 2.5

/* They are chosen again earlier if there is more than one span for so many rows: then most blocks
** of a span have no row. */
#define MERGE_ROWS_OF_SPAN 32
#define MERGE_GROWTH_OF_SPANS 1.25

/* A block with so many times the rows of others is divided into as many. */
#define MERGE_PARTS 8

/* A rebuild is spread over several merges.  Each merges so many rows again for each row that it
** takes, and INDEX_REBUILD_LEAST in any case. */
#define MERGE_REBUILD_SHARE 3
#ifndef INDEX_REBUILD_LEAST
# define INDEX_REBUILD_LEAST 1000
#endif

/* One column of a generation. */
typedef struct merge_key {
  index_pairs pairs;
  uint64_t num_written;     /* entries that the merge wrote */
  uint8_t *row;             /* room for the row of its run in the layout; of texts and zones NULL */
} merge_key;

typedef struct merge_generation {
  index_spans *spans;
  uint32_t num_in_block;  /* rows of one block that were added last; 0: not known */
  uint32_t block;         /* of the last row */
  sqlite3_int64 first_id, last_id; /* of these rows */
  merge_key keys[INDEX_MAX_KEYS];
} merge_generation;

typedef struct index_merge_state {
  bloom_index *index;
  index_layout before, layout;  /* the one on disk, and what it will be at the end */
  merge_generation generations[INDEX_MAX_GENERATIONS];
  size_t num_bytes;             /* of pairs in memory, of all columns */
  sqlite3_int64 num_taken;      /* changed and new rows that it took */
  sqlite3_int64 done_until;     /* changed rows up to this id are merged */
} index_merge_state;

/* -- Runs ------------------------------------------------------------------------------------ */

static index_column merge_column(index_merge_state *merge, int generation, int key){
  return (index_column){.index = merge->index, .before = &merge->before, .layout = &merge->layout,
                        .of_key = &merge->layout.generations[generation].keys[key], .key = key};
}

/* Writes the pairs in memory of a column as a run, if there are any; or its zones. */
static int merge_flush_key(index_merge_state *merge, int generation, int number, int is_last){
  index_column column = merge_column(merge, generation, number);
  index_key_layout *of_key = column.of_key;
  merge_generation *of = &merge->generations[generation];
  const uint32_t end_block = of->spans->num_spans << INDEX_SPAN_LG;
  merge_key *key = &of->keys[number];
  const int in_layout = bloom_index_run_find(of_key, INDEX_RUN_IN_LAYOUT);
  index_run *run;
  int is_finished, rc = SQLITE_OK;
  assert( of->spans->num_spans>=merge->layout.generations[generation].num_spans );
  switch( merge->index->config.keys[number].kind ){
    case INDEX_KEY_HASHES: case INDEX_KEY_TEXTS: case INDEX_KEY_REGEXP: break;
    case INDEX_KEY_ZONES: return bloom_index_zones_write(key->pairs.zones);
  }
  if( bloom_index_pairs_bytes(&key->pairs)==0 ) return SQLITE_OK;
  if( in_layout>=0 ){
    /* Its entries become part of the new run. */
    rc = bloom_index_pairs_add_run(&key->pairs, &column, in_layout);
    of_key->runs[in_layout] = of_key->runs[--of_key->num_runs];
  }
  if( rc==SQLITE_OK && of_key->num_runs>=INDEX_MAX_RUNS ){
    rc = bloom_index_join(&column, INDEX_JOIN_ALL);
  }
  if( rc==SQLITE_OK ) rc = bloom_index_run_add(&column, end_block, &run);
  if( rc!=SQLITE_OK ) return rc;
  if( is_last ) column.row = key->row;
  rc = bloom_index_run_write(&column, run, bloom_index_pairs_mean_gap(&key->pairs, end_block),
                             UINT64_MAX, bloom_index_pairs_next, &key->pairs, &is_finished);
  assert( rc!=SQLITE_OK || (is_finished && bloom_index_pairs_bytes(&key->pairs)==0) );
  if( run->role!=INDEX_RUN_IN_LAYOUT ) key->num_written += run->num_pairs;
  return rc;
}

static int merge_flush(index_merge_state *merge, int is_last){
  int i, key, rc = SQLITE_OK;
  for(i=0; i<merge->layout.num_generations; i++){
    for(key=0; key<merge->index->config.num_keys && rc==SQLITE_OK; key++){
      rc = merge_flush_key(merge, i, key, is_last);
    }
  }
  merge->num_bytes = 0;
  return rc;
}

/* -- Rows ------------------------------------------------------------------------------------ */

/* Keeps the message of a trigger that refused a row: SQLite's next statement would replace it. */
static void merge_keep_words(const index_merge_state *merge, int rc){
  sqlite3_vtab *base = &merge->index->base;
  if( (rc & 0xff)!=SQLITE_CONSTRAINT || base->zErrMsg ) return;
  base->zErrMsg = sqlite3_mprintf("bloom_index: %s", sqlite3_errmsg(merge->index->connection->db));
}

/* Adds the entries and zones of a row, whose columns are the id, then the indexed columns. */
static int merge_add_entries(index_merge_state *merge, int generation, uint32_t block,
                             sqlite3_stmt *row){
  const bloom_index *index = merge->index;
  merge_generation *of = &merge->generations[generation];
  int i, rc = SQLITE_OK;
  assert( block>>INDEX_SPAN_LG<of->spans->num_spans );
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    merge_key *key = &of->keys[i];
    const size_t before = bloom_index_pairs_bytes(&key->pairs);
    rc = bloom_index_pairs_add(&key->pairs, block, sqlite3_column_value(row, i + 1), NULL);
    merge->num_bytes += bloom_index_pairs_bytes(&key->pairs) - before;
  }
  if( rc==SQLITE_OK && merge->num_bytes>=INDEX_MAX_BYTES ) rc = merge_flush(merge, 0);
  merge_keep_words(merge, rc);
  return rc;
}

/* Adds a span of smaller blocks at an id, and again the rows of the span that were added before. */
static int merge_divide(index_merge_state *merge, int generation, sqlite3_int64 id,
                        uint32_t shift){
  merge_generation *of = &merge->generations[generation];
  sqlite3_int64 last = generation==1 ? merge->layout.bound : merge->layout.covered;
  sqlite3_stmt *rows = NULL;
  const uint32_t span = of->spans->num_spans;
  uint32_t block;
  int rc = bloom_index_spans_divide(of->spans, id, shift);
  if( rc!=SQLITE_OK ) return rc;
  if( last>bloom_index_span_last(of->spans, span) ) last = bloom_index_span_last(of->spans, span);
  rc = bloom_index_source_rows(merge->index, &rows, "BETWEEN ?1 AND ?2");
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 1, bloom_index_span_first(of->spans, span));
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 2, last);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(merge->index->connection, rows))==SQLITE_ROW ){
    rc = bloom_index_spans_add(of->spans, sqlite3_column_int64(rows, 0), &block);
    if( rc==SQLITE_OK ) rc = merge_add_entries(merge, generation, block, rows);
  }
  return bloom_sql_end(rows, rc);
}

/* Sets what is known of the rows that were added last, from the source: they are those before an
** id, as far back as they are in one block. */
static int merge_look_before(index_merge_state *merge, int generation, sqlite3_int64 id){
  bloom_index *index = merge->index;
  merge_generation *of = &merge->generations[generation];
  const char *name = index->columns.id_name;
  sqlite3_stmt *rows;
  uint32_t block;
  int rc = bloom_sql_prepare(index->connection, &rows, "SELECT x.\"%w\" FROM " INDEX_SOURCE
                             " NOT INDEXED WHERE x.\"%w\" < %lld ORDER BY x.\"%w\" DESC LIMIT"
                             " %lld", name, index->schema, index->columns.name, name, id, name,
                             (sqlite3_int64)MERGE_PARTS
                             * merge->layout.generations[generation].block_rows);
  assert( of->num_in_block==0 );
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, rows))==SQLITE_ROW ){
    const sqlite3_int64 before = sqlite3_column_int64(rows, 0);
    /* Rows of the other generation, and changed ones that are not merged, need not have a span. */
    rc = SQLITE_OK;
    if( !bloom_index_spans_has(of->spans, before, &block)
     || (of->num_in_block>0 && block!=of->block) ) break;
    if( of->num_in_block==0 ) of->last_id = before;
    of->first_id = before;
    of->block = block;
    of->num_in_block++;
  }
  return bloom_sql_end(rows, rc);
}

/* Adds the entries and zones of a row.  Divides its block before if that has too many rows, or if
** the row follows on those of a smaller block. */
static int merge_add_next(index_merge_state *merge, int generation, sqlite3_int64 id,
                          sqlite3_stmt *row){
  merge_generation *of = &merge->generations[generation];
  const index_spans *spans = of->spans;
  uint32_t block = 0, shift, block_shift, last_shift;
  int is_same = 0, rc = of->num_in_block==0 ? merge_look_before(merge, generation, id) : SQLITE_OK;
  if( rc!=SQLITE_OK ) return rc;
  block_shift = spans->shift; /* of the span that is added, below, if none has the id */
  if( bloom_index_spans_has(spans, id, &block) ){
    is_same = of->num_in_block>0 && of->block==block;
    block_shift = spans->list[block >> INDEX_SPAN_LG].shift;
  }
  shift = last_shift = block_shift;
  if( of->num_in_block>0 ) last_shift = spans->list[of->block >> INDEX_SPAN_LG].shift;
  if( is_same && of->num_in_block/MERGE_PARTS>=merge->layout.generations[generation].block_rows ){
    const uint64_t num_ids = ((uint64_t)id - (uint64_t)of->first_id)/MERGE_PARTS;
    for(shift=0; num_ids>>shift>0; shift++){}
  }else if( last_shift<shift && ((uint64_t)id - (uint64_t)of->last_id)>>last_shift==0 ){
    shift = last_shift;
  }
  /* Half of the numbers are for ids that have no block. */
  if( shift<block_shift && spans->num_spans<INDEX_MAX_SPANS/2 ){
    rc = merge_divide(merge, generation, id, shift);
    is_same = 0;
  }
  if( rc==SQLITE_OK ) rc = bloom_index_spans_add(of->spans, id, &block);
  if( rc!=SQLITE_OK ) return rc;
  assert( !is_same || block==of->block );
  if( !is_same ){
    of->block = block;
    of->first_id = id;
    of->num_in_block = 0;
  }
  of->last_id = id;
  of->num_in_block++;
  merge->layout.generations[generation].num_rows++;
  return merge_add_entries(merge, generation, block, row);
}

/* Adds a row.  is_new: its id is above `covered`. */
static int merge_add_row(index_merge_state *merge, sqlite3_int64 id, sqlite3_stmt *row,
                         int is_new){
  index_layout *layout = &merge->layout;
  if( id<layout->first ) layout->first = id;
  if( is_new ){
    layout->covered = id;
    layout->has_covered = 1;
  }
  layout->num_rows++; /* of a changed row, too: it may be new, with a low id */
  merge->num_taken++;
  return merge_add_next(merge, layout->num_generations==2 && id<=layout->bound, id, row);
}

/* Adds the rows that are noted as changed, at most *num_left. */
static int merge_changed_rows(index_merge_state *merge, sqlite3_int64 *num_left){
  bloom_index *index = merge->index;
  sqlite3_stmt *ids = NULL, *row = NULL;
  int rc;
  merge->done_until = INT64_MIN;
  if( !merge->layout.has_covered ) return SQLITE_OK;
  rc = bloom_sql_prepare(index->connection, &ids,
                         "SELECT id FROM \"%w\".\"%w_changed\" WHERE id <= %lld ORDER BY id",
                         index->schema, index->name, merge->layout.covered);
  while( rc==SQLITE_OK && *num_left>0
        && (rc = bloom_sql_step(index->connection, ids))==SQLITE_ROW ){
    const sqlite3_int64 id = sqlite3_column_int64(ids, 0);
    rc = row ? SQLITE_OK : bloom_index_source_rows(index, &row, "= ?1");
    if( rc!=SQLITE_OK ) break;
    sqlite3_bind_int64(row, 1, id);
    rc = bloom_sql_step(index->connection, row);
    /* SQLITE_DONE: the row is gone. */
    if( rc==SQLITE_ROW ) rc = merge_add_row(merge, id, row, 0);
    else if( rc==SQLITE_DONE ) rc = SQLITE_OK;
    sqlite3_reset(row);
    merge->done_until = id;
    --*num_left;
  }
  sqlite3_finalize(row);
  return bloom_sql_end(ids, rc);
}

/* Adds rows whose ids are first or more, at most max_rows: new ones, or, is_again, those that the
** second generation lacks.  Sets *are_all if there are no others. */
static int merge_rows_from(index_merge_state *merge, sqlite3_int64 first, sqlite3_int64 max_rows,
                           int is_again, int *are_all){
  sqlite3_stmt *rows = NULL;
  int rc = bloom_index_source_rows(merge->index, &rows, is_again ? "BETWEEN ?1 AND ?2" : ">= ?1");
  assert( max_rows>0 && (!is_again || merge->layout.num_generations==2) );
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 1, first);
  if( rc==SQLITE_OK && is_again ) rc = sqlite3_bind_int64(rows, 2, merge->layout.covered);
  merge->generations[is_again].num_in_block = 0; /* changed rows were elsewhere */
  for(; rc==SQLITE_OK && max_rows>0
      && (rc = bloom_sql_step(merge->index->connection, rows))==SQLITE_ROW; max_rows--){
    const sqlite3_int64 id = sqlite3_column_int64(rows, 0);
    rc = is_again ? merge_add_next(merge, 1, id, rows) : merge_add_row(merge, id, rows, 1);
    if( is_again ) merge->layout.bound = id;
  }
  *are_all = rc==SQLITE_DONE;
  return bloom_sql_end(rows, rc);
}

/* -- Generations ----------------------------------------------------------------------------- */

/* Begins to add rows to a generation of the layout; unless choice is NULL, to one without rows and
** with the blocks, tokens and lists that were chosen. */
static int merge_open_generation(index_merge_state *merge, int number, const index_choice *choice){
  bloom_index *index = merge->index;
  index_generation *generation = &merge->layout.generations[number];
  merge_generation *of = &merge->generations[number];
  int i, rc;
  assert( number<merge->layout.num_generations );
  if( choice ){
    memset(generation, 0, sizeof(*generation));
    generation->place = number==1 && merge->layout.generations[0].place==0;
    generation->shift = choice->shift;
    generation->zone_lg = choice->zone_lg;
    generation->block_rows = choice->block_rows;
    generation->num_built = choice->num_rows;
    generation->spans_hash = bloom_mix64(merge->layout.number + generation->place);
  }
  assert( number==0 || generation->place!=merge->layout.generations[0].place );
  rc = bloom_index_spans_read(index, &merge->layout, generation, &of->spans);
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    index_key_layout *of_key = &generation->keys[i];
    merge_key *key = &of->keys[i];
    assert( choice==NULL || (choice->lists[i]!=NULL)
                            ==index_properties_of(&index->config.keys[i])->has_lists );
    if( choice && choice->lists[i] ){
      rc = bloom_index_lists_write(index, generation, i, choice->lists[i]);
    }else if( choice && index_properties_of(&index->config.keys[i])->has_hash_bits ){
      of_key->hash_bits = choice->hash_bits;
    }else if( choice ){
      sqlite3_randomness(sizeof(of_key->number), &of_key->number);
    }
    if( rc==SQLITE_OK ) rc = bloom_index_pairs_start(&key->pairs, index, generation, i);
    if( rc==SQLITE_OK && of_key->hash_bits>0 ){
      const int in_layout = bloom_index_run_find(of_key, INDEX_RUN_IN_LAYOUT);
      index_run *run = in_layout>=0 ? &of_key->runs[in_layout] : NULL;
      key->row = sqlite3_malloc64(BLOOM_ENTRIES_ROW_BYTES);
      if( key->row==NULL ) rc = SQLITE_NOMEM;
      else if( run ) run->row = memcpy(key->row, run->row, run->row_bytes);
    }
  }
  return rc;
}

/* -- The whole ------------------------------------------------------------------------------- */

/* Writes what is in memory, joins runs, writes the layout, and deletes what that does not name. */
static int merge_finish(index_merge_state *merge){
  bloom_index *index = merge->index;
  index_layout *layout = &merge->layout;
  int i, key, rc = merge_flush(merge, 1);
  for(i=0; i<layout->num_generations && rc==SQLITE_OK; i++){
    for(key=0; key<index->config.num_keys && rc==SQLITE_OK; key++){
      const index_column column = merge_column(merge, i, key);
      rc = bloom_index_join(&column, merge->generations[i].keys[key].num_written);
    }
    if( rc==SQLITE_OK ) rc = bloom_index_spans_write(index, &layout->generations[i]);
  }
  if( rc==SQLITE_OK ) rc = bloom_index_layout_write(index, layout);
  if( rc==SQLITE_OK && layout->has_covered ){
    rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_changed\" WHERE id <= %lld",
                       index->schema, index->name, merge->done_until);
  }
  for(key=0; key<index->config.num_keys && rc==SQLITE_OK; key++){
    const uint32_t place = merge->before.generations[0].place;
    switch( index->config.keys[key].kind ){
      case INDEX_KEY_HASHES: case INDEX_KEY_TEXTS: case INDEX_KEY_REGEXP:
        rc = bloom_index_garbage_delete(index, &merge->before, layout, key);
        break;
      case INDEX_KEY_ZONES:
        if( place!=layout->generations[0].place ) rc = bloom_index_zones_delete(index, key, place);
    }
  }
  return rc;
}

/* Sets *is_due to whether other blocks, tokens or lists, *choice, are better by now. */
static int merge_is_rebuild_due(index_merge_state *merge, index_choice *choice, int *is_due){
  const bloom_index *index = merge->index;
  index_generation *generation = &merge->layout.generations[0];
  const double growth = generation->num_rows/MERGE_ROWS_OF_SPAN<generation->num_spans
    ? MERGE_GROWTH_OF_SPANS : MERGE_GROWTH;
  int i, rc;
  *is_due = 0;
  if( !merge->layout.has_covered || merge->layout.num_generations==2
     || (double)generation->num_rows<growth*(double)generation->num_built + 400 ){
    return SQLITE_OK;
  }
  rc = bloom_index_choose(merge->index, choice);
  if( rc!=SQLITE_OK ) return rc;
  *is_due = choice->shift!=generation->shift
      || MERGE_GROWTH*(double)choice->num_rows<(double)generation->num_rows;
  for(i=0; i<index->config.num_keys; i++){
    *is_due |= (choice->lists[i] && generation->num_rows<INDEX_FEW_ROWS)
      || (generation->keys[i].hash_bits>0
          && choice->hash_bits>generation->keys[i].hash_bits + 1);
  }
  generation->num_built = choice->num_rows>generation->num_rows ? choice->num_rows
      : generation->num_rows;
  return rc;
}

/* Takes changed and new rows, at most max_rows, and then adds further rows to a second generation;
** when that has all, it takes the place of the first. */
static int merge_take_rows(index_merge_state *merge, sqlite3_int64 max_rows){
  index_layout *layout = &merge->layout;
  sqlite3_int64 num_left = max_rows, num_again;
  merge_generation first;
  uint32_t i;
  int key, are_all, rc = merge_changed_rows(merge, &num_left);
  if( rc==SQLITE_OK && num_left>0 ){
    if( !layout->has_covered || layout->covered<INT64_MAX ){
      rc = merge_rows_from(merge, layout->has_covered ? layout->covered + 1 : INT64_MIN, num_left,
                           0, &are_all);
    }
    merge->done_until = layout->covered;
  }
  if( rc!=SQLITE_OK || layout->num_generations==1 ) return rc;
  num_again = MERGE_REBUILD_SHARE*merge->num_taken;
  if( num_again<INDEX_REBUILD_LEAST ) num_again = INDEX_REBUILD_LEAST;
  if( max_rows==INDEX_MERGE_ALL ) num_again = INDEX_MERGE_ALL;
  are_all = layout->bound==INT64_MAX;
  if( !are_all ){
    /* The second generation has no rows yet if its bound is the lowest id. */
    rc = merge_rows_from(merge, layout->bound + (layout->bound>INT64_MIN), num_again, 1, &are_all);
  }
  if( rc!=SQLITE_OK || !(are_all || layout->bound>=layout->covered) ) return rc;
  rc = merge_flush(merge, 0);
  /* The second one has all rows.  Runs of the first go, unless the layout on disk names them. */
  for(key=0; key<merge->index->config.num_keys; key++){
    const index_column column = merge_column(merge, 0, key);
    for(i=0; i<column.of_key->num_runs && rc==SQLITE_OK; i++){
      rc = bloom_index_run_drop(&column, &column.of_key->runs[i]);
    }
  }
  if( rc!=SQLITE_OK ) return rc;
  first = merge->generations[0];
  merge->generations[0] = merge->generations[1];
  merge->generations[1] = first; /* to be freed */
  layout->generations[0] = layout->generations[1];
  layout->num_generations = 1;
  layout->num_rows = layout->generations[0].num_rows;
  return SQLITE_OK;
}

int bloom_index_merge_core(bloom_index *index, const index_layout *before, sqlite3_int64 max_rows,
                           int *wants_rebuild){
  index_merge_state *merge = bloom_malloc_zeros(sizeof(*merge));
  index_choice choice = {.num_rows = 0};
  index_layout *layout;
  int i, key, is_due = 0, rc = SQLITE_OK;
  assert( max_rows>0 && index->damage==NULL );
  *wants_rebuild = 0;
  if( merge==NULL ) return SQLITE_NOMEM;
  merge->index = index;
  merge->before = *before;
  layout = &merge->layout;
  *layout = *before;
  if( !before->has_covered ){
    rc = bloom_index_choose(index, &choice);
    layout->first = choice.first;
  }
  for(i=0; i<layout->num_generations && rc==SQLITE_OK; i++){
    rc = merge_open_generation(merge, i, i==0 && !before->has_covered ? &choice : NULL);
  }
  if( rc==SQLITE_OK ) rc = merge_is_rebuild_due(merge, &choice, &is_due);
  assert( !is_due || layout->num_generations==1 );
  if( is_due ){
    *wants_rebuild = max_rows==INDEX_MERGE_ALL || layout->num_rows<INDEX_FEW_ROWS;
    if( !*wants_rebuild ){
      layout->num_generations = 2;
      layout->bound = INT64_MIN;
      rc = merge_open_generation(merge, 1, &choice);
    }
  }
  for(i=0; i<INDEX_MAX_KEYS; i++) sqlite3_free(choice.lists[i]);
  if( rc==SQLITE_OK && !*wants_rebuild ){
    rc = merge_take_rows(merge, max_rows);
    /* If there are no numbers of blocks left, larger blocks are needed. */
    for(i=0; rc==SQLITE_FULL && i<layout->num_generations; i++){
      *wants_rebuild |= merge->generations[i].spans->num_spans==INDEX_MAX_SPANS;
    }
    if( *wants_rebuild ) rc = SQLITE_OK;
    else if( rc==SQLITE_OK ) rc = merge_finish(merge);
  }
  merge_keep_words(merge, rc);
  for(i=0; i<INDEX_MAX_GENERATIONS; i++){
    for(key=0; key<index->config.num_keys; key++){
      sqlite3_free(merge->generations[i].keys[key].row);
      bloom_index_pairs_free(&merge->generations[i].keys[key].pairs);
    }
  }
  sqlite3_free(merge);
  return rc;
}
