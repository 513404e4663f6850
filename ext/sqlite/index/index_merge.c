/*
** Rows -> blocks.
**
** A merge adds rows behind what is covered, in the order of their ids, to each column's open
** block until half of its bits are set; then the next block is opened.  Finished blocks stay
** in slots, as many as fill a row with the open one, and go to their unit together.  At the end
** of a merge the units that it finished are joined with the groups before them that are not
** three times as large, a band at a time: what would take long is left to the merges that follow.
**
** Whatever stops it half-way, no block may be believed that lacks a key.  Bits that are added
** do no harm.  Before anything is taken from where the layout says that it is, the layout is
** marked dirty, and only the last step takes the mark away.
*/
#include "index_merge.h"
#include "index_source.h"

#include <string.h>

/* A block that has so many rows, or an eighth of its bits, may be finished before its time. */
#define INDEX_MIN_ROWS 32

int bloom_index_merge_mark_dirty(index_merge_state *merge){
  index_layout dirty;
  int rc;
  if( merge->is_dirty ) return SQLITE_OK;
  rc = bloom_index_layout_read(merge->index, &dirty);
  if( rc!=SQLITE_OK ) return rc;
  dirty.is_dirty = 1;
  rc = bloom_index_layout_write(merge->index, &dirty);
  merge->is_dirty = rc==SQLITE_OK;
  return rc;
}

int bloom_index_add_value(const bloom_index *index, int key, const uint8_t *weights,
                          uint32_t num_probes, sqlite3_value *value, bloom_block *block){
  bloom_key_hashes hashes;
  int i, rc;
  if( index->config.keys[key].is_like ){
    bloom_index_like_add(&index->config.keys[key], weights, value, block);
    return SQLITE_OK;
  }
  rc = bloom_insert_hashes(index->config.keys[key].equality, value, &hashes);
  if( rc!=SQLITE_OK ) return rc;
  for(i=0; i<hashes.num_hashes; i++) bloom_block_add(block, hashes.hashes[i], num_probes);
  return SQLITE_OK;
}

/* -- Blocks ------------------------------------------------------------------------------ */

int bloom_index_merge_finish_block(index_merge_state *merge, int key, sqlite3_int64 id){
  index_merge_key *merge_key = &merge->keys[key];
  index_key_layout *layout = &merge->layout.keys[key];
  const int rc = bloom_index_merge_append(merge, key, &merge_key->open,
                                          (index_end){.first = layout->open_first, .last = id,
                                                      .num_rows = layout->open_rows});
  merge_key->is_before_large = !bloom_index_is_block_full(&merge_key->open);
  bloom_block_clear(&merge_key->open, merge_key->open.bytes, merge_key->open.bits_per_block);
  layout->open_first = id + (id<INT64_MAX);
  layout->open_rows = layout->open_bits = 0;
  return rc;
}

/* -- Rows ---------------------------------------------------------------------------------- */

int bloom_index_is_block_spoiled(const bloom_index *index, int key, const bloom_block *block,
                                 uint64_t num_rows, int is_before_large, sqlite3_value *value){
  const int is_silent = index->config.keys[key].is_like && bloom_index_like_is_silent(value);
  if( bloom_index_is_block_full(block) ) return !is_silent && is_before_large;
  return is_silent && (num_rows>=INDEX_MIN_ROWS || block->bits_set>=block->bits_per_block/8);
}

/* A block that accepts everything, for a number's sake say, costs no more with more rows. */
static int merge_is_block_finished(const index_merge_state *merge, int key){
  const bloom_block *open = &merge->keys[key].open;
  return bloom_index_is_block_full(open)
    ? merge->layout.keys[key].open_rows>=INDEX_ROWS_OF_FULL_BLOCK : bloom_block_is_finished(open);
}

static int merge_add_value(index_merge_state *merge, int key, sqlite3_int64 id,
                           sqlite3_value *value){
  index_merge_key *merge_key = &merge->keys[key];
  int rc = SQLITE_OK;
  if( merge_key->zones ) return bloom_index_zones_add(merge_key->zones, &merge->layout, value);
  if( bloom_index_is_block_spoiled(merge->index, key, &merge_key->open,
                                   merge->layout.keys[key].open_rows, merge_key->is_before_large,
                                   value) ){
    rc = bloom_index_merge_finish_block(merge, key, id - 1);
  }
  if( rc==SQLITE_OK ) rc = bloom_index_add_value(merge->index, key, merge_key->weights,
                                                 merge->layout.num_probes, value, &merge_key->open);
  merge->layout.keys[key].open_rows++;
  merge->layout.keys[key].open_bits = merge_key->open.bits_set;
  return rc==SQLITE_OK && merge_is_block_finished(merge, key)
    ? bloom_index_merge_finish_block(merge, key, id) : rc;
}

/* Adds the row at which the statement stands: it has the id, then the indexed columns. */
static int merge_add_row(index_merge_state *merge, sqlite3_stmt *rows){
  const sqlite3_int64 id = sqlite3_column_int64(rows, 0);
  int i, rc = SQLITE_OK;
  for(i=0; i<merge->index->config.num_keys && rc==SQLITE_OK; i++){
    rc = merge_add_value(merge, i, id, sqlite3_column_value(rows, i + 1));
  }
  merge->layout.covered = id;
  merge->layout.has_covered = 1;
  merge->layout.num_rows++;
  return rc;
}

int bloom_index_merge_prepare_rows(bloom_index *index, sqlite3_stmt **rows, const char *condition){
  const char *id = index->columns.id_name;
  sqlite3_str *sql = sqlite3_str_new(index->connection->db);
  int i;
  sqlite3_str_appendf(sql, "SELECT x.\"%w\"", id);
  for(i=0; i<index->config.num_keys; i++){
    sqlite3_str_appendall(sql, ", ");
    bloom_index_append_key(index, sql, i);
  }
  sqlite3_str_appendf(sql, " FROM " INDEX_SOURCE " NOT INDEXED WHERE x.\"%w\" %s ORDER BY x.\"%w\"",
                      index->schema, index->source_name, id, condition, id);
  return bloom_sql_prepare_text(index->connection, rows, sqlite3_str_finish(sql));
}

/* Adds at most max_rows rows, 1 or more, behind what is covered. */
static int merge_new_rows(index_merge_state *merge, sqlite3_int64 max_rows){
  const sqlite3_int64 covered = merge->layout.covered;
  sqlite3_stmt *rows = NULL;
  int rc;
  if( merge->layout.has_covered && covered==INT64_MAX ) return SQLITE_OK;
  rc = bloom_index_merge_prepare_rows(merge->index, &rows, "BETWEEN ?1 AND ?2");
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 1, merge->layout.has_covered ? covered + 1
                                              : INT64_MIN);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 2, INT64_MAX);
  while( rc==SQLITE_OK && max_rows>0
        && (rc = bloom_sql_step(merge->index->connection, rows))==SQLITE_ROW ){
    rc = merge_add_row(merge, rows);
    if( max_rows!=INDEX_MERGE_ALL ) max_rows--;
  }
  if( (rc & 0xff)==SQLITE_CONSTRAINT ){
    /* A trigger's words, which SQLite forgets with the rows. */
    sqlite3_free(merge->index->base.zErrMsg);
    merge->index->base.zErrMsg = sqlite3_mprintf("bloom_index: %s",
                                                 sqlite3_errmsg(merge->index->connection->db));
  }
  return bloom_sql_end(rows, rc);
}

/* -- The whole ----------------------------------------------------------------------------- */

static void merge_free(index_merge_state *merge){
  int i;
  for(i=0; i<merge->index->config.num_keys; i++){
    bloom_index_zones_free(merge->keys[i].zones);
    sqlite3_finalize(merge->keys[i].write);
    sqlite3_free(merge->keys[i].weights);
    sqlite3_free(merge->keys[i].slots);
    sqlite3_free(merge->keys[i].open.bytes);
  }
  sqlite3_free(merge);
}

/* Reads a column's blocks that are in no unit. */
static int merge_start_key(index_merge_state *merge, int key){
  bloom_index *index = merge->index;
  index_merge_key *merge_key = &merge->keys[key];
  index_key_layout *layout = &merge->layout.keys[key];
  const uint32_t block_bytes = index_block_bytes(index, key);
  uint8_t *bytes = sqlite3_malloc64(block_bytes);
  int rc;
  if( bytes==NULL ) return SQLITE_NOMEM;
  bloom_block_clear(&merge_key->open, bytes, index_block_bits(index, key));
  merge_key->num_in_units = bloom_index_blocks_in_units(index, &merge->layout, key);
  merge_key->slots = sqlite3_malloc64((sqlite3_uint64)BLOOM_UNIT_BLOCKS * block_bytes);
  if( merge_key->slots==NULL ) return SQLITE_NOMEM;
  rc = bloom_index_weights_read(index, key, &merge_key->weights);
  if( rc!=SQLITE_OK ) return rc;
  rc = bloom_sql_integer(index->connection, &merge_key->num_rows,
                         "SELECT max(rowid) FROM "
                         "\"%w\".\"%w_blocks_%d\"", index->schema, index->name, key + 1);
  if( rc==SQLITE_OK && merge->layout.has_covered ){
    uint8_t slots[BLOOM_STRIP_BYTES];
    uint64_t block;
    rc = bloom_index_row_read(index, key, INDEX_ROW_OF_SLOTS, slots, sizeof(slots));
    if( rc!=SQLITE_OK ) return rc;
    for(block=merge_key->num_in_units; block<=layout->num_blocks; block++){
      memcpy(bloom_index_merge_slot(merge, key, block),
             slots + (block - merge_key->num_in_units)*block_bytes, block_bytes);
    }
    memcpy(bytes, bloom_index_merge_slot(merge, key, layout->num_blocks), block_bytes);
    bloom_block_resume(&merge_key->open, bytes, merge_key->open.bits_per_block);
  }
  return rc;
}

static int merge_start(bloom_index *index, const index_layout *layout, index_merge_state **result){
  index_merge_state *merge = sqlite3_malloc64(sizeof(*merge));
  int i, rc = SQLITE_OK;
  *result = merge;
  if( merge==NULL ) return SQLITE_NOMEM;
  memset(merge, 0, sizeof(*merge));
  merge->index = index;
  merge->layout = *layout;
  merge->join_rows = INDEX_JOIN_ROWS;
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    rc = index->config.keys[i].is_range ? bloom_index_zones_start(index, i, &merge->keys[i].zones)
      : merge_start_key(merge, i);
  }
  return rc;
}

/* Writes all that is in memory; then the blocks are good. */
static int merge_finish(index_merge_state *merge, const char *note){
  bloom_index *index = merge->index;
  int i, rc = SQLITE_OK;
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    if( merge->keys[i].zones ){
      rc = bloom_index_zones_finish(merge->keys[i].zones, &merge->layout);
      continue;
    }
    rc = bloom_index_merge_write_slots(merge, i);
    if( rc==SQLITE_OK ) rc = bloom_index_merge_join(merge, i);
  }
  if( rc==SQLITE_OK && merge->layout.has_covered ){
    rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_changed\" WHERE id <= %lld",
                       index->schema, index->name, merge->done_until);
  }
  /* The layout is written last: where an authorizer refuses the other, both are as they were.
  ** SQLite does not undo VALUES ('merge'). */
  if( rc==SQLITE_OK ) rc = bloom_index_state_write(index, &merge->layout, note);
  if( rc==SQLITE_OK ) rc = bloom_index_layout_write(index, &merge->layout);
  return rc;
}

/* About how many rows there are, by the ids and by the pages of the file, and the first id. */
static int merge_estimate_rows(bloom_index *index, uint64_t *num_rows, sqlite3_int64 *first){
  sqlite3_int64 num_pages = 0, page_bytes = 4096, last = 0;
  int rc = bloom_sql_integer(index->connection, &num_pages, "PRAGMA \"%w\".page_count",
                             index->schema);
  if( rc==SQLITE_OK ) rc = bloom_sql_integer(index->connection, &page_bytes,
                                             "PRAGMA \"%w\".page_size", index->schema);
  if( rc==SQLITE_OK ) rc = bloom_index_source_ids(index, first, &last);
  *num_rows = (uint64_t)num_pages * ((uint64_t)page_bytes / 32);
  if( last<*first ) *num_rows = 0;
  else if( (uint64_t)last - (uint64_t)*first<*num_rows ){
    *num_rows = (uint64_t)last - (uint64_t)*first + 1;
  }
  return rc;
}

/* The probes at which a few rows are read for nothing, whatever the table's size: 12 up to
** 400,000 rows, and one more each time the rows double. */
static uint32_t merge_probes_for(uint64_t num_rows){
  uint32_t num_probes = 12;
  for(; num_rows>400000 && num_probes<BLOOM_SIGNATURE_MAX_PROBES; num_rows/=2) num_probes++;
  return num_probes;
}

/* Sets *note to what would pay, or NULL. */
static int merge_note(const index_merge_state *merge, const char **note){
  const index_layout *layout = &merge->layout;
  const bloom_index *index = merge->index;
  const char *id = index->columns.id_name;
  const sqlite3_int64 max_rows = bloom_index_cost_most_unmerged(layout);
  sqlite3_int64 num_unmerged = 0;
  int rc = SQLITE_OK;
  if( index->config.num_probes==0 && layout->num_rows/2>=layout->num_built
     && merge_probes_for(layout->num_rows)>layout->num_probes ){
    *note = INDEX_NOTE_GROWN;
  }
  if( layout->has_covered && layout->covered<INT64_MAX ){
    rc = bloom_sql_integer(index->connection, &num_unmerged,
                           "SELECT count(*) FROM (SELECT 1 FROM " INDEX_SOURCE " NOT INDEXED WHERE "
                           "x.\"%w\" > %lld LIMIT %lld)",
                           index->schema, index->source_name, id, layout->covered, max_rows + 1);
  }
  if( num_unmerged>max_rows ) *note = INDEX_NOTE_UNMERGED;
  return rc;
}

/* Takes the rows that are new, and says what would pay. */
static int merge_take_new(index_merge_state *merge, int is_first, int is_all,
                          sqlite3_int64 num_left, int *wants_rebuild){
  const char *note = NULL;
  int rc = num_left>0 ? merge_new_rows(merge, num_left) : SQLITE_OK;
  if( rc==SQLITE_OK && num_left>0 ) merge->done_until = merge->layout.covered;
  if( is_first && is_all ) merge->layout.num_built = merge->layout.num_rows;
  if( rc==SQLITE_OK && !is_first && (is_all || merge->num_new_units>0) ){
    rc = bloom_index_merge_is_worn(merge, wants_rebuild);
  }
  if( *wants_rebuild ) note = INDEX_NOTE_WORN;
  else if( rc==SQLITE_OK ) rc = merge_note(merge, &note);
  if( note ) *wants_rebuild = 1;
  return rc==SQLITE_OK && !(is_all && note) ? merge_finish(merge, note) : rc;
}

int bloom_index_merge_core(bloom_index *index, index_layout *layout, sqlite3_int64 max_rows,
                           int *wants_rebuild){
  const int is_first = !layout->has_covered, is_all = max_rows==INDEX_MERGE_ALL;
  index_merge_state *merge;
  sqlite3_int64 num_left = max_rows;
  int rc = SQLITE_OK;
  *wants_rebuild = 0;
  if( is_first ){
    rc = merge_estimate_rows(index, &layout->num_built, &layout->first);
    layout->num_probes = index->config.num_probes ? index->config.num_probes
      : merge_probes_for(layout->num_built);
    if( rc==SQLITE_OK ) rc = bloom_index_weights_learn(index);
    if( rc!=SQLITE_OK ) return rc;
  }
  rc = merge_start(index, layout, &merge);
  if( rc==SQLITE_OK ) rc = bloom_index_merge_changed(merge, &num_left, wants_rebuild);
  if( rc==SQLITE_OK && !*wants_rebuild ){
    rc = merge_take_new(merge, is_first, is_all, num_left, wants_rebuild);
    *layout = merge->layout;
  }
  if( merge ) merge_free(merge);
  return rc;
}
