/*
** Entries in the database: the numbers of blocks, rows of runs, and looking tokens up.
*/
#include "index_entries.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/numeric.h"

/* == The numbers of blocks ============================================================= */

/*
** NAME_spans(data BLOB): row place * 2^20 + 1 + n of a generation has the keys and shifts of its
** spans 440n .. 440n + 439, 8 bytes and one each.  A span's key is id >> (shift + 10).  Spans are
** only added.  The layout has their number and a hash of them in order: so rows need no checksum,
** and what a failed merge left behind the last span is not read.
*/

#define SPANS_OF_PLACE ((sqlite3_int64)1 << 20)
#define SPAN_BYTES 9

void bloom_index_spans_free(bloom_index *index){
  int i;
  for(i=0; i<INDEX_MAX_GENERATIONS; i++){
    if( index->spans[i] ){
      sqlite3_free(index->spans[i]->list);
      sqlite3_free(index->spans[i]->by_key);
    }
    sqlite3_free(index->spans[i]);
    index->spans[i] = NULL;
  }
}

uint32_t bloom_index_spans_find(const index_spans *spans, uint32_t shift, sqlite3_int64 key){
  uint32_t first = 0, last = spans->num_spans;
  while( first<last ){
    const uint32_t middle = first + (last - first)/2;
    const index_span span = spans->list[spans->by_key[middle]];
    if( span.shift<shift || (span.shift==shift && span.key<key) ) first = middle + 1;
    else last = middle;
  }
  return first;
}

/* Appends a span. */
static int spans_append(index_spans *spans, index_span span){
  const uint32_t at = bloom_index_spans_find(spans, span.shift, span.key);
  assert( span.shift<=63 && spans->num_spans<=INDEX_MAX_SPANS );
  if( spans->num_spans==INDEX_MAX_SPANS ) return SQLITE_FULL;
  if( BLOOM_GROW(spans->list, spans->num_spans, spans->max_list)
   || BLOOM_GROW(spans->by_key, spans->num_spans, spans->max_by_key) ) return SQLITE_NOMEM;
  memmove(spans->by_key + at + 1, spans->by_key + at,
          (spans->num_spans - at) * sizeof(*spans->by_key));
  spans->by_key[at] = spans->num_spans;
  spans->list[spans->num_spans++] = span;
  spans->shifts |= (uint64_t)1 << span.shift;
  spans->hash = bloom_mix64(spans->hash
                            ^ ((uint64_t)span.key * BLOOM_GOLDEN_RATIO + span.shift));
  return SQLITE_OK;
}

int bloom_index_spans_read(bloom_index *index, const index_layout *layout,
                           const index_generation *generation, index_spans **result){
  index_spans *spans = *result = index->spans[generation->place];
  sqlite3_stmt *rows;
  int rc;
  assert( generation->place<INDEX_MAX_GENERATIONS && generation->num_spans<=INDEX_MAX_SPANS );
  if( spans && spans->hash==generation->spans_hash && spans->num_spans==generation->num_spans
     && spans->shift==generation->shift ) return SQLITE_OK;
  if( spans==NULL ){
    spans = *result = index->spans[generation->place] = bloom_malloc_zeros(sizeof(*spans));
    if( spans==NULL ) return SQLITE_NOMEM;
  }
  spans->shift = generation->shift;
  spans->num_spans = 0;
  spans->shifts = 0;
  spans->hash = bloom_mix64(layout->number + generation->place);
  rc = bloom_index_statement_take(index, INDEX_USE_BY_TEXT, &rows, "SELECT s.data FROM"
                                  " \"%w\".\"%w_spans\" AS s WHERE s.rowid >= ?1 ORDER BY s.rowid",
                                  index->schema, index->name);
  if( rc==SQLITE_OK ){
    rc = sqlite3_bind_int64(rows, 1, generation->place*SPANS_OF_PLACE + 1);
  }
  while( rc==SQLITE_OK && spans->num_spans<generation->num_spans
        && (rc = bloom_sql_step(index->connection, rows))==SQLITE_ROW ){
    const uint8_t *bytes = sqlite3_column_blob(rows, 0);
    int num_left = bytes ? sqlite3_column_bytes(rows, 0)/SPAN_BYTES : 0;
    rc = SQLITE_OK;
    for(; num_left>0 && bytes[8]<=63 && spans->num_spans<generation->num_spans && rc==SQLITE_OK;
        num_left--, bytes+=SPAN_BYTES){
      rc = spans_append(spans, (index_span){.key = (sqlite3_int64)bloom_load64_le(bytes),
                                            .shift = bytes[8]});
    }
  }
  bloom_index_statement_give_back(index, rows, 0);
  if( rc==SQLITE_OK || rc==SQLITE_DONE ){
    rc = spans->num_spans==generation->num_spans && spans->hash==generation->spans_hash ? SQLITE_OK
      : SQLITE_CORRUPT_VTAB;
  }
  if( rc!=SQLITE_OK ) spans->hash = ~generation->spans_hash; /* to be read again */
  return rc;
}

/* Returns the span whose blocks have 2^shift ids and one of which has an id. */
static index_span spans_key_of(sqlite3_int64 id, uint32_t shift){
  const sqlite3_int64 number = bloom_index_block_of(id, shift);
  return (index_span){.key = bloom_index_block_of(number, INDEX_SPAN_LG), .shift = shift};
}

static int spans_is(const index_spans *spans, uint32_t number, index_span wanted){
  return spans->list[number].key==wanted.key && spans->list[number].shift==wanted.shift;
}

/* Returns the number of a span; UINT32_MAX: it is not there. */
static uint32_t spans_number(const index_spans *spans, index_span wanted){
  const uint32_t newest = spans->num_spans - 1; /* mostly it is this one */
  uint32_t at;
  assert( spans->num_spans>0 );
  if( spans_is(spans, newest, wanted) ) return newest;
  at = bloom_index_spans_find(spans, wanted.shift, wanted.key);
  return at<spans->num_spans && spans_is(spans, spans->by_key[at], wanted) ? spans->by_key[at]
    : UINT32_MAX;
}

int bloom_index_spans_divide(index_spans *spans, sqlite3_int64 id, uint32_t shift){
  const index_span span = spans_key_of(id, shift);
  assert( spans_number(spans, span)==UINT32_MAX );
  return spans_append(spans, span);
}

int bloom_index_spans_has(const index_spans *spans, sqlite3_int64 id, uint32_t *block){
  uint64_t left = spans->shifts;
  for(; left>0; left&=left - 1){
    const uint32_t shift = bloom_num_low_zeros64(left);
    const uint32_t number = spans_number(spans, spans_key_of(id, shift));
    if( number==UINT32_MAX ) continue;
    *block = number << INDEX_SPAN_LG
      | ((uint32_t)bloom_index_block_of(id, shift) & ((1u << INDEX_SPAN_LG) - 1));
    assert( bloom_index_block_first(spans, *block)<=id
            && id<=bloom_index_block_last(spans, *block) );
    return 1;
  }
  return 0;
}

int bloom_index_spans_add(index_spans *spans, sqlite3_int64 id, uint32_t *block){
  int rc;
  if( bloom_index_spans_has(spans, id, block) ) return SQLITE_OK;
  rc = spans_append(spans, spans_key_of(id, spans->shift));
  if( rc!=SQLITE_OK ) return rc;
  bloom_index_spans_has(spans, id, block);
  assert( *block>>INDEX_SPAN_LG==spans->num_spans - 1 );
  return SQLITE_OK;
}

int bloom_index_spans_write(bloom_index *index, index_generation *generation){
  const index_spans *spans = index->spans[generation->place];
  const uint32_t num_written = generation->num_spans;
  uint32_t row = num_written/INDEX_SPANS_PER_ROW, i;
  sqlite3_stmt *write = NULL;
  int rc;
  assert( spans && num_written<=spans->num_spans && spans->shift==generation->shift );
  generation->num_spans = spans->num_spans;
  generation->spans_hash = spans->hash;
  if( num_written==spans->num_spans ) return SQLITE_OK;
  rc = bloom_sql_prepare(index->connection, &write, "INSERT OR REPLACE INTO \"%w\".\"%w_spans\""
                         "(rowid, data) VALUES (?1, ?2)", index->schema, index->name);
  for(; rc==SQLITE_OK && row*INDEX_SPANS_PER_ROW<spans->num_spans; row++){
    uint8_t bytes[SPAN_BYTES*INDEX_SPANS_PER_ROW];
    const uint32_t left = spans->num_spans - row*INDEX_SPANS_PER_ROW;
    const uint32_t num_of_row = left<INDEX_SPANS_PER_ROW ? left : INDEX_SPANS_PER_ROW;
    for(i=0; i<num_of_row; i++){
      const index_span span = spans->list[row*INDEX_SPANS_PER_ROW + i];
      bloom_store64_le(bytes + (size_t)SPAN_BYTES*i, (uint64_t)span.key);
      bytes[SPAN_BYTES*i + 8] = (uint8_t)span.shift;
    }
    sqlite3_bind_int64(write, 1, generation->place*SPANS_OF_PLACE + 1 + row);
    rc = sqlite3_bind_blob(write, 2, bytes, (int)(SPAN_BYTES*num_of_row), SQLITE_TRANSIENT);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, write);
    if( rc==SQLITE_DONE ) rc = sqlite3_reset(write);
  }
  sqlite3_finalize(write);
  return rc;
}

/* == Runs ============================================================================== */

/*
** NAME_entriesN(data BLOB) has the runs of all generations of column N.  The rowid of a row is
** slot << 56 | id of its last list: so the first row from slot << 56 | id on has the list with this
** id, if the run has one.  Each row also has the last id of the row before it, so that a missing
** row is damage, not an absent token.  VACUUM keeps rowids of tables with an index, even an empty
** one (index_tables.c); if it changes them all the same, checksums fail.
*/

/* -- Reading -------------------------------------------------------------------------------- */

/* Reads the row of a run that has the first list whose id is wanted or more; the run's last id is
** not less. */
static int run_load(index_run_reader *reader, const index_run *run, uint64_t wanted){
  bloom_index *index = reader->index;
  const bloom_entries_row *row = &reader->row;
  uint64_t rowid = bloom_entries_rowid(run->slot, run->last);
  const void *bytes = run->row;
  size_t num_bytes = run->row_bytes;
  sqlite3_stmt *select = NULL;
  int rc = SQLITE_ROW;
  assert( wanted<=run->last && run->last<INDEX_LAST_LIST && run->slot<INDEX_NUM_SLOTS );
  assert( (run->role==INDEX_RUN_IN_LAYOUT)==(run->row!=NULL) );
  reader->run = NULL;
  if( run->role!=INDEX_RUN_IN_LAYOUT ){
    rc = bloom_index_statement_take(index, INDEX_USE_ENTRIES + reader->key, &select,
                                    "SELECT e.rowid, e.data FROM \"%w\".\"%w_entries%d\" AS e"
                                    " WHERE e.rowid >= ?1 ORDER BY e.rowid LIMIT 1",
                                    index->schema, index->name, reader->key + 1);
    if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(select, 1, (sqlite3_int64)
                                                bloom_entries_rowid(run->slot, wanted));
    if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, select);
    if( rc==SQLITE_ROW ){
      rowid = (uint64_t)sqlite3_column_int64(select, 0);
      bytes = sqlite3_column_blob(select, 1);
      num_bytes = (size_t)sqlite3_column_bytes(select, 1);
    }
  }
  if( rc==SQLITE_ROW && bytes && num_bytes<=sizeof(reader->bytes)
   && rowid>>BLOOM_ENTRIES_ID_BITS==run->slot ){
    memcpy(reader->bytes, bytes, num_bytes);
    if( bloom_entries_open(&reader->row, reader->bytes, num_bytes, run->number, rowid)
     && (row->before==BLOOM_ENTRIES_NO_ID || row->before<wanted)
     && row->last<=run->last && row->shape.end_block==run->end_block ) reader->run = run;
  }
  if( rc==SQLITE_ROW || rc==SQLITE_DONE || rc==SQLITE_ERROR ){
    rc = reader->run ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
  }
  bloom_index_statement_give_back(index, select, rc==SQLITE_OK);
  return rc;
}

int bloom_index_run_find(const index_key_layout *key, index_run_role role){
  uint32_t i;
  for(i=0; i<key->num_runs; i++) if( key->runs[i].role==role ) return (int)i;
  return -1;
}

/* Returns the id of the first list of a run that queries read: 0, or of a join's source that of the
** first one behind the target's last list. */
static uint64_t run_first(const index_key_layout *key, const index_run *run){
  const int target = run->role==INDEX_RUN_SOURCE ? bloom_index_run_find(key, INDEX_RUN_TARGET) : -1;
  const uint64_t next = target>=0 ? key->runs[target].last + 1 : 0;
  const uint32_t num_segments = bloom_entries_num_segments(run->end_block);
  uint32_t num_of_target;
  uint64_t segment;
  if( next==0 ) return 0;
  num_of_target = bloom_entries_num_segments(key->runs[target].end_block);
  segment = next%num_of_target;
  return next/num_of_target*num_segments + (segment<num_segments ? segment : num_segments);
}

int bloom_index_run_seek(index_run_reader *reader, const index_run *run, uint64_t wanted){
  const uint64_t first = run_first(reader->of_key, run);
  assert( run>=reader->of_key->runs && run<reader->of_key->runs + reader->of_key->num_runs );
  if( wanted<first ) wanted = first;
  if( wanted>run->last ){
    reader->row.num_blocks = 0;
    return SQLITE_OK;
  }
  if( reader->run!=run || reader->row.num_blocks==0 || wanted<reader->row.id
     || wanted>reader->row.last ){
    const int rc = run_load(reader, run, wanted);
    if( rc!=SQLITE_OK ) return rc;
  }
  if( bloom_entries_seek(&reader->row, wanted)!=1 ) return SQLITE_CORRUPT_VTAB;
  assert( reader->row.id>=wanted && reader->row.id<=run->last );
  return SQLITE_OK;
}

/* -- Writing -------------------------------------------------------------------------------- */

int bloom_index_run_delete(bloom_index *index, int key, uint32_t slot, uint64_t first,
                           uint64_t last){
  assert( key>=0 && key<index->config.num_keys && index->config.keys[key].kind!=INDEX_KEY_ZONES );
  assert( slot<INDEX_NUM_SLOTS && first<=last && last<=INDEX_LAST_LIST );
  return bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_entries%d\" WHERE rowid BETWEEN"
                       " %lld AND %lld", index->schema, index->name, key + 1,
                       (sqlite3_int64)bloom_entries_rowid(slot, first),
                       (sqlite3_int64)bloom_entries_rowid(slot, last));
}

/* Returns 1 if a run of a column, in any generation, has a slot. */
static int slot_is_used(const index_layout *layout, int key, uint32_t slot){
  uint32_t j;
  int i;
  for(i=0; i<layout->num_generations; i++){
    const index_key_layout *of_key = &layout->generations[i].keys[key];
    for(j=0; j<of_key->num_runs; j++) if( of_key->runs[j].slot==slot ) return 1;
  }
  return 0;
}

int bloom_index_run_drop(const index_column *column, const index_run *run){
  if( slot_is_used(column->before, column->key, run->slot) ) return SQLITE_OK;
  return bloom_index_run_delete(column->index, column->key, run->slot, 0, INDEX_LAST_LIST);
}

int bloom_index_run_add(const index_column *column, uint32_t end_block, index_run **run){
  uint32_t slot = 0;
  assert( end_block>0 && end_block<=BLOOM_ENTRIES_MAX_BLOCKS );
  *run = NULL;
  if( column->of_key->num_runs==INDEX_ROOM_RUNS ) return SQLITE_CORRUPT_VTAB;
  while( slot<INDEX_NUM_SLOTS
        && (slot_is_used(column->layout, column->key, slot)
            || slot_is_used(column->before, column->key, slot)) ) slot++;
  if( slot==INDEX_NUM_SLOTS ) return SQLITE_FULL;
  *run = &column->of_key->runs[column->of_key->num_runs++];
  **run = (index_run){.last = UINT64_MAX, .end_block = end_block, .slot = slot};
  sqlite3_randomness(sizeof((*run)->number), &(*run)->number);
  /* A merge that failed may have left rows there. */
  return bloom_index_run_delete(column->index, column->key, slot, 0, INDEX_LAST_LIST);
}

int bloom_index_garbage_delete(bloom_index *index, const index_layout *before,
                               const index_layout *layout, int key){
  uint32_t j;
  int i, rc = SQLITE_OK;
  for(i=0; i<before->num_generations; i++){
    const index_key_layout *of_key = &before->generations[i].keys[key];
    for(j=0; j<of_key->num_runs && rc==SQLITE_OK; j++){
      const uint32_t slot = of_key->runs[j].slot;
      if( of_key->runs[j].role==INDEX_RUN_IN_LAYOUT
       || slot_is_used(layout, key, slot) ) continue;
      rc = bloom_index_run_delete(index, key, slot, 0, INDEX_LAST_LIST);
    }
  }
  for(i=0; i<layout->num_generations; i++){
    const index_key_layout *of_key = &layout->generations[i].keys[key];
    for(j=0; j<of_key->num_runs && rc==SQLITE_OK; j++){
      const uint64_t first = run_first(of_key, &of_key->runs[j]);
      if( first==0 ) continue;
      rc = bloom_index_run_delete(index, key, of_key->runs[j].slot, 0, first - 1);
    }
  }
  return rc;
}

/* A run that is written. */
typedef struct run_writer {
  const index_column *column;
  index_run *run;
  sqlite3_stmt *insert;
  uint64_t num_pairs; /* entries in the row at hand */
  bloom_entries_writer entries;
  uint8_t bytes[BLOOM_ENTRIES_ROW_BYTES];
} run_writer;

#ifndef NDEBUG
/* Returns how many entries a reader finds in the bytes of a row. */
static uint64_t run_count_row(const run_writer *writer, size_t num_bytes, uint64_t rowid){
  uint64_t bits[INDEX_SEGMENT_WORDS], num_pairs = 0;
  bloom_entries_row row;
  if( !bloom_entries_open(&row, writer->bytes, num_bytes, writer->run->number, rowid) ) return 0;
  while( bloom_entries_next(&row)==1 && bloom_entries_read_bits(&row, bits)>0 ){
    num_pairs += row.num_blocks;
  }
  return num_pairs;
}
#endif

/* Writes the row at hand, which has a list. */
static int run_write_row(run_writer *writer, int is_last){
  const index_column *column = writer->column;
  const index_key_layout *keys = column->layout->generations[0].keys;
  index_run *run = writer->run;
  uint64_t rowid;
  const size_t num_bytes = bloom_entries_writer_finish(&writer->entries, run->number, run->slot,
                                                       writer->bytes, &rowid);
  size_t num_columns = 0; /* of keys: all of them have the same share of the layout */
  int i, rc;
  assert( run->last==UINT64_MAX || run->last<(rowid & BLOOM_ENTRIES_ID_MASK) );
  assert( run_count_row(writer, num_bytes, rowid)==writer->num_pairs );
  run->last = rowid & BLOOM_ENTRIES_ID_MASK;
  run->num_pairs += writer->num_pairs;
  writer->num_pairs = 0;
  for(i=0; i<column->index->config.num_keys; i++) num_columns += keys[i].hash_bits>0 ? 1 : 0;
  if( is_last && run->num_rows==0 && column->row
   && num_bytes*num_columns<=INDEX_LAYOUT_ROW_BYTES ){
    memcpy(column->row, writer->bytes, num_bytes);
    run->role = INDEX_RUN_IN_LAYOUT;
    run->row = column->row;
    run->row_bytes = (uint32_t)num_bytes;
    return SQLITE_OK;
  }
  rc = sqlite3_bind_int64(writer->insert, 1, (sqlite3_int64)rowid);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob(writer->insert, 2, writer->bytes, (int)num_bytes,
                                             SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(column->index->connection, writer->insert);
  if( rc==SQLITE_DONE ) rc = sqlite3_reset(writer->insert);
  run->num_rows++;
  return rc;
}

int bloom_index_run_write(const index_column *column, index_run *run, uint64_t mean_gap,
                          uint64_t max_pairs, index_next_list *next, void *source,
                          int *is_finished){
  const uint32_t num_segments = bloom_entries_num_segments(run->end_block);
  const uint64_t end_token = INDEX_LAST_LIST/num_segments; /* ids of tokens below have 56 bits */
  const uint64_t pairs_before = run->num_pairs;
  bloom_index *index = column->index;
  run_writer *writer = sqlite3_malloc64(sizeof(*writer));
  index_entry_list list;
  int is_found = 1, rc;
  if( writer==NULL ) return SQLITE_NOMEM;
  writer->column = column;
  writer->run = run;
  writer->num_pairs = 0;
  bloom_entries_writer_begin(&writer->entries, run->end_block, run->last, mean_gap);
  rc = bloom_sql_prepare(index->connection, &writer->insert, "INSERT INTO"
                         " \"%w\".\"%w_entries%d\"(rowid, data) VALUES (?1, ?2)", index->schema,
                         index->name, column->key + 1);
  while( rc==SQLITE_OK && run->num_pairs - pairs_before<max_pairs
        && (rc = next(source, &list, &is_found))==SQLITE_OK && is_found ){
    const uint64_t id = list.token*num_segments + list.segment;
    assert( list.num_blocks>0 && list.segment*BLOOM_SEGMENT_BLOCKS
                                 + list.blocks[list.num_blocks-1]<run->end_block );
    if( list.token>=end_token ){ /* of a hostile row */
      rc = SQLITE_CORRUPT_VTAB;
      break;
    }
    if( !bloom_entries_writer_add(&writer->entries, id, list.blocks, list.num_blocks) ){
      rc = run_write_row(writer, 0);
      bloom_entries_writer_add(&writer->entries, id, list.blocks, list.num_blocks);
    }
    writer->num_pairs += list.num_blocks;
  }
  *is_finished = rc==SQLITE_OK && !is_found;
  if( *is_finished && writer->num_pairs>0 ) rc = run_write_row(writer, 1);
  assert( rc!=SQLITE_OK || *is_finished || run->num_pairs - pairs_before>=max_pairs );
  sqlite3_finalize(writer->insert);
  sqlite3_free(writer);
  return rc;
}

/* == Looking up ======================================================================== */

/*
** Tokens become blocks.  They are looked up in ascending order, in one run after the other, so that
** neighbouring lists are read from one row.  Segments without a candidate are not read.
*/

/* -- Sets of blocks -------------------------------------------------------------------------- */

int bloom_index_blocks_make(index_block_set *set, uint32_t num_spans){
  const size_t num_blocks = (size_t)num_spans << INDEX_SPAN_LG;
  assert( num_spans<=INDEX_MAX_SPANS );
  set->num_segments = (uint32_t)((num_blocks + BLOOM_SEGMENT_BLOCKS - 1) / BLOOM_SEGMENT_BLOCKS);
  set->segments = bloom_malloc_zeros(((uint64_t)set->num_segments + 1) * sizeof(*set->segments));
  return set->segments ? SQLITE_OK : SQLITE_NOMEM;
}

void bloom_index_blocks_free(index_block_set *set){
  uint32_t i;
  for(i=0; set->segments && i<set->num_segments; i++) sqlite3_free(set->segments[i]);
  sqlite3_free(set->segments);
  set->segments = NULL;
}

/* Returns a segment's bits, which it makes if there are none; NULL when out of memory. */
static uint64_t *blocks_segment(index_block_set *set, uint32_t segment){
  assert( segment<set->num_segments );
  if( set->segments[segment]==NULL ){
    set->segments[segment] = bloom_malloc_zeros(INDEX_SEGMENT_WORDS * sizeof(uint64_t));
  }
  return set->segments[segment];
}

int bloom_index_blocks_add_all(index_block_set *set, uint32_t first, uint32_t last){
  assert( first<=last );
  for(; first<=last; first++){
    uint64_t *bits = blocks_segment(set, first/BLOOM_SEGMENT_BLOCKS);
    if( bits==NULL ) return SQLITE_NOMEM;
    bits[first%BLOOM_SEGMENT_BLOCKS/64] |= (uint64_t)1 << first%64;
  }
  return SQLITE_OK;
}

uint64_t bloom_index_blocks_count(const index_block_set *set){
  uint64_t num_blocks = 0;
  uint32_t i, j;
  for(i=0; i<set->num_segments; i++){
    for(j=0; set->segments[i] && j<INDEX_SEGMENT_WORDS; j++){
      num_blocks += bloom_popcount_bytes(set->segments[i][j]) * 0x0101010101010101u >> 56;
    }
  }
  return num_blocks;
}

void bloom_index_blocks_unite(index_block_set *set, index_block_set *other){
  uint32_t i, j;
  assert( set->num_segments==other->num_segments );
  for(i=0; i<set->num_segments; i++){
    if( set->segments[i]==NULL ){
      set->segments[i] = other->segments[i];
      other->segments[i] = NULL;
    }
    for(j=0; other->segments[i] && j<INDEX_SEGMENT_WORDS; j++){
      set->segments[i][j] |= other->segments[i][j];
    }
  }
}

uint32_t bloom_index_blocks_next(const index_block_set *set, uint32_t block){
  uint32_t i = block/BLOOM_SEGMENT_BLOCKS, j = block%BLOOM_SEGMENT_BLOCKS;
  for(; i<set->num_segments; i++, j=0){
    const uint64_t *bits = set->segments[i];
    for(; bits && j<BLOOM_SEGMENT_BLOCKS; j=(j/64 + 1)*64){
      const uint64_t word = bits[j/64] >> j%64;
      if( word ) return i*BLOOM_SEGMENT_BLOCKS + j + bloom_num_low_zeros64(word);
    }
  }
  return UINT32_MAX;
}

/* -- Looking up ------------------------------------------------------------------------------- */

/* Adds the blocks that have one of a range of tokens in a run; unless `within` is NULL, only those
** that it has, too. */
static int look_up_range(index_run_reader *reader, const index_run *run, index_tokens tokens,
                         const index_block_set *within, index_block_set *result){
  const uint32_t num_segments = bloom_entries_num_segments(run->end_block);
  const uint64_t end = (tokens.first + tokens.num_tokens) * num_segments;
  uint64_t id = tokens.first * num_segments;
  uint32_t segment = 0, i;
  assert( num_segments<=result->num_segments );
  assert( within==NULL || within->num_segments==result->num_segments );
  assert( tokens.num_tokens>0 && tokens.first + tokens.num_tokens<=INDEX_END_TOKEN );
  for(; id<end; id++, segment=(segment + 1)%num_segments){
    uint64_t bits[INDEX_SEGMENT_WORDS], any = 0, *all;
    int rc;
    if( within && within->segments[segment]==NULL ) continue;
    rc = bloom_index_run_seek(reader, run, id);
    if( rc!=SQLITE_OK || reader->row.num_blocks==0 || reader->row.id>=end ) return rc;
    id = reader->row.id;
    segment = reader->row.segment;
    if( within && within->segments[segment]==NULL ) continue;
    if( bloom_entries_read_bits(&reader->row, bits)<0 ) return SQLITE_CORRUPT_VTAB;
    for(i=0; within && i<INDEX_SEGMENT_WORDS; i++) any |= bits[i] &= within->segments[segment][i];
    if( within && any==0 ) continue;
    all = blocks_segment(result, segment);
    if( all==NULL ) return SQLITE_NOMEM;
    for(i=0; i<INDEX_SEGMENT_WORDS; i++) all[i] |= bits[i];
  }
  return SQLITE_OK;
}

int bloom_index_look_up(bloom_index *index, const index_generation *generation, int key,
                        const index_tokens *tokens, size_t num_ranges,
                        const index_block_set *within, index_block_set *result){
  const index_key_layout *of_key = &generation->keys[key];
  index_run_reader *reader = sqlite3_malloc64(sizeof(*reader));
  uint32_t i;
  size_t j;
  int rc = SQLITE_OK;
  assert( key>=0 && key<index->config.num_keys && index->config.keys[key].kind!=INDEX_KEY_ZONES );
  if( reader==NULL ) return SQLITE_NOMEM;
  *reader = (index_run_reader){.index = index, .of_key = of_key, .key = key};
  for(i=0; i<of_key->num_runs && rc==SQLITE_OK; i++){
    const index_run *run = &of_key->runs[i];
    for(j=0; j<num_ranges && rc==SQLITE_OK; j++){
      assert( j==0 || tokens[j-1].first<=tokens[j].first );
      if( j>0 && tokens[j-1].first==tokens[j].first ) continue;
      rc = look_up_range(reader, run, tokens[j], within, result);
    }
  }
  sqlite3_free(reader);
  return rc;
}
