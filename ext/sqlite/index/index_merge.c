/*
** Rows -> blocks.
**
** A merge adds rows behind what is covered, in the order of their ids, to each column's open
** block until half of its bits are set; then the next block is opened.  64 finished blocks
** are turned into slices, 7 such groups joined, and 9 of these.
**
** Whatever stops it half-way, no block may be believed that lacks a key.  Bits that are added
** do no harm.  Before anything is taken from where the layout says that it is, the layout is
** marked dirty, and only the last step takes the mark away.
*/
#include "index_merge.h"

#include <string.h>

#include "../../core/parquet/parquet.h"

/* Rows of a block all of whose bits one row set. */
#define INDEX_ROWS_OF_FULL_BLOCK 256

int index_merge_mark_dirty(index_merge_state *merge){
  index_layout dirty;
  int rc;
  if( merge->is_dirty ) return SQLITE_OK;
  rc = index_layout_read(merge->index, &dirty);
  if( rc!=SQLITE_OK ) return rc;
  dirty.is_dirty = 1;
  rc = index_layout_write(merge->index, &dirty);
  merge->is_dirty = rc==SQLITE_OK;
  return rc;
}

int index_add_value(const bloom_index *index, const index_layout *layout, const index_weights *weights, int key,
                    sqlite3_value *value, bloom_block *block){
  bloom_key_hashes hashes;
  int i, rc;
  if( index->config.keys[key].is_like ){
    index_like_add(weights->of_key[key], value, block);
    return SQLITE_OK;
  }
  rc = bloom_insert_hashes(&bloom_encoding_parquet, index->config.keys[key].equality, value, &hashes);
  if( rc!=SQLITE_OK ) return rc;
  for(i=0; i<hashes.num_hashes; i++) bloom_block_add(block, hashes.hashes[i], layout->num_probes);
  return SQLITE_OK;
}

/* -- Rows of NAME_blocks_N ------------------------------------------------------------- */

/* Writes a row, which is the next one or is there. */
static int merge_write_row(index_merge_state *merge, int key, sqlite3_int64 row, const void *bytes, uint32_t num_bytes){
  index_merge_key *of_key = &merge->keys[key];
  const int is_new = row>of_key->num_rows;
  sqlite3_stmt **statement = is_new ? &of_key->insert : &of_key->update;
  uint8_t stored[INDEX_MAX_STORED_BYTES];
  int rc = SQLITE_OK;
  if( is_new && row!=of_key->num_rows + 1 ) return SQLITE_CORRUPT_VTAB;
  if( *statement==NULL && is_new ) rc = index_blocks_prepare_insert(merge->index, key, statement);
  if( *statement==NULL && !is_new ) rc = index_blocks_prepare_update(merge->index, key, statement);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(*statement, 1, row);
  index_row_store(merge->index, key, row, bytes, num_bytes, stored);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob(*statement, 2, stored, (int)index_stored_bytes(num_bytes), SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(merge->index->connection, *statement);
  if( rc==SQLITE_DONE ) rc = sqlite3_reset(*statement);
  if( rc==SQLITE_OK && is_new ) of_key->num_rows = row;
  return rc;
}

/* Leaves a row without bytes.  Made again, since an UPDATE would leave it its page. */
static int merge_empty_row(index_merge_state *merge, int key, sqlite3_int64 row){
  const bloom_index *index = merge->index;
  int rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_blocks_%d\" WHERE rowid = %lld", index->schema, index->name, key + 1, row);
  if( rc!=SQLITE_OK ) return rc;
  return bloom_sql_run(index->connection, "INSERT INTO \"%w\".\"%w_blocks_%d\"(rowid, data) VALUES (%lld, x'')",
                       index->schema, index->name, key + 1, row);
}

/* Writes a row of the size that it has, or had none. */
static int merge_rewrite_row(index_merge_state *merge, int key, sqlite3_int64 row, const void *bytes, uint32_t num_bytes){
  const int rc = row<=merge->keys[key].num_rows ? index_blocks_write(merge->index, key, row, bytes, num_bytes) : SQLITE_CORRUPT_VTAB;
  return rc==SQLITE_CORRUPT_VTAB ? merge_write_row(merge, key, row, bytes, num_bytes) : rc;
}

/* -- Slots ------------------------------------------------------------------------------- */

static uint32_t block_bytes_of(const index_merge_state *merge, int key){
  return merge->index->config.keys[key].bits_per_block / 8;
}

int index_merge_slot(index_merge_state *merge, int key, uint32_t slot, uint8_t **bytes){
  index_merge_key *of_key = &merge->keys[key];
  int rc = SQLITE_OK;
  *bytes = of_key->slots + (size_t)slot*block_bytes_of(merge, key);
  if( (of_key->in_memory >> slot & 1)==0 ){
    index_reader reader;
    index_reader_start(&reader, merge->index, key);
    rc = index_reader_read(&reader, index_row_of_slot(slot), *bytes, block_bytes_of(merge, key), 0);
    index_reader_close(&reader);
    if( rc==SQLITE_OK ) of_key->in_memory |= (uint64_t)1 << slot;
  }
  return rc;
}

int index_merge_ends(index_merge_state *merge, int key){
  index_merge_key *of_key = &merge->keys[key];
  const uint64_t num_blocks = merge->layout.keys[key].num_blocks;
  if( of_key->has_ends ) return SQLITE_OK;
  memset(of_key->ends, 0, sizeof(of_key->ends));
  if( num_blocks%INDEX_ENDS_BLOCKS ){
    index_reader reader;
    int rc;
    index_reader_start(&reader, merge->index, key);
    rc = index_reader_read(&reader, index_row_of_ends(merge->index, key, num_blocks), of_key->ends, sizeof(of_key->ends), 0);
    index_reader_close(&reader);
    if( rc!=SQLITE_OK ) return rc;
  }
  of_key->has_ends = 1;
  return SQLITE_OK;
}

/* Writes the row of ends that a block's is in, if it changed. */
static int merge_write_ends(index_merge_state *merge, int key, uint64_t block){
  index_merge_key *of_key = &merge->keys[key];
  const sqlite3_int64 first = index_first_row_of_ends(merge->index, key, block);
  int rc = SQLITE_OK;
  if( !of_key->are_ends_changed ) return SQLITE_OK;
  of_key->are_ends_changed = 0;
  if( of_key->num_rows + 1==first ){
    int i;
    for(i=0; i<INDEX_ENDS_ROWS && rc==SQLITE_OK; i++) rc = merge_write_row(merge, key, first + i, "", 0);
  }
  return rc==SQLITE_OK ? merge_rewrite_row(merge, key, index_row_of_ends(merge->index, key, block), of_key->ends, sizeof(of_key->ends)) : rc;
}

/* Writes blocks and ends that changed. */
static int merge_write_slots(index_merge_state *merge, int key){
  index_merge_key *of_key = &merge->keys[key];
  uint32_t slot;
  int rc = SQLITE_OK;
  for(slot=0; slot<INDEX_SLOTS && rc==SQLITE_OK; slot++){
    if( (of_key->is_changed >> slot & 1)==0 ) continue;
    rc = merge_rewrite_row(merge, key, index_row_of_slot(slot), of_key->slots + (size_t)slot*block_bytes_of(merge, key), block_bytes_of(merge, key));
  }
  of_key->is_changed = 0;
  return rc==SQLITE_OK ? merge_write_ends(merge, key, merge->layout.keys[key].num_blocks) : rc;
}

/* -- Groups ------------------------------------------------------------------------------ */

/* Turns the 64 blocks into slices. */
static int merge_write_group(index_merge_state *merge, int key, uint64_t group){
  const uint32_t bits_per_block = merge->index->config.keys[key].bits_per_block, num_strips = bloom_tier_strips(0, bits_per_block);
  const uint8_t *blocks[INDEX_SLOTS];
  uint8_t strip_bytes[BLOOM_SLICE_STRIP_BYTES];
  uint32_t slot, strip;
  int rc = SQLITE_OK;
  for(slot=0; slot<INDEX_SLOTS && rc==SQLITE_OK; slot++){
    uint8_t *bytes;
    rc = index_merge_slot(merge, key, slot, &bytes);
    blocks[slot] = bytes;
  }
  for(strip=0; strip<num_strips && rc==SQLITE_OK; strip++){
    const uint32_t num_bytes = bloom_strip_of_blocks(blocks, bits_per_block, strip, strip_bytes);
    rc = merge_write_row(merge, key, index_row_of_strip(merge->index, key, 0, group, strip), strip_bytes, num_bytes);
  }
  return rc;
}

/* Makes one group of the next tier of those that begin with group first, in their rows. */
static int merge_join_groups(index_merge_state *merge, int key, int tier, uint64_t first){
  const bloom_index *index = merge->index;
  const uint32_t bits_per_block = index->config.keys[key].bits_per_block, num_joined = bloom_tier_joined(tier);
  const uint32_t num_strips = bloom_tier_strips(tier, bits_per_block), num_new = bloom_tier_strips(tier + 1, bits_per_block);
  const uint8_t *sources[BLOOM_SLICE_MAX_JOINED];
  uint8_t out[BLOOM_SLICE_STRIP_BYTES];
  uint32_t strip, i;
  int rc = SQLITE_OK;
  for(strip=0; strip<num_strips && rc==SQLITE_OK; strip++){
    index_reader reader;
    index_reader_start(&reader, index, key);
    for(i=0; i<num_joined && rc==SQLITE_OK; i++){
      const sqlite3_int64 row = index_row_of_strip(index, key, tier, first + (uint64_t)i*index_tier_groups(tier), strip);
      sources[i] = merge->strips + (size_t)i*BLOOM_SLICE_STRIP_BYTES;
      rc = index_reader_read(&reader, row, merge->strips + (size_t)i*BLOOM_SLICE_STRIP_BYTES, bloom_strip_bytes(tier, bits_per_block, strip), 0);
    }
    index_reader_close(&reader);
    for(i=0; i<num_joined && rc==SQLITE_OK; i++){
      const sqlite3_int64 row = index_row_of_strip(index, key, tier, first + (uint64_t)i*index_tier_groups(tier), strip);
      const uint32_t new_strip = strip*num_joined + i;
      const uint32_t num_bytes = new_strip<num_new ? bloom_strip_of_strips(tier, sources, bits_per_block, new_strip, out) : 0;
      rc = num_bytes ? merge_write_row(merge, key, row, out, num_bytes) : merge_empty_row(merge, key, row);
    }
  }
  return rc;
}

/* After 64 blocks more. */
static int merge_finish_group(index_merge_state *merge, int key){
  index_merge_key *of_key = &merge->keys[key];
  const uint64_t num_groups = merge->layout.keys[key].num_blocks / INDEX_SLOTS;
  int tier, rc = index_merge_mark_dirty(merge);
  if( rc==SQLITE_OK ) rc = merge_write_group(merge, key, num_groups - 1);
  for(tier=0; tier+1<BLOOM_SLICE_TIERS && rc==SQLITE_OK; tier++){
    const uint32_t num_next = index_tier_groups(tier + 1);
    if( num_groups%num_next ) break;
    rc = merge_join_groups(merge, key, tier, num_groups - num_next);
  }
  of_key->in_memory = of_key->is_changed = 0;
  merge->num_new_groups++;
  return rc;
}

/* -- Blocks ------------------------------------------------------------------------------ */

static void merge_open_block(index_merge_state *merge, int key){
  index_merge_key *of_key = &merge->keys[key];
  const uint32_t slot = (uint32_t)(merge->layout.keys[key].num_blocks % INDEX_SLOTS);
  bloom_block_clear(&of_key->open, of_key->slots + (size_t)slot*block_bytes_of(merge, key), merge->index->config.keys[key].bits_per_block);
  of_key->in_memory |= (uint64_t)1 << slot;
  of_key->is_changed |= (uint64_t)1 << slot;
  merge->layout.keys[key].open_rows = merge->layout.keys[key].open_bits = 0;
}

/* Ends the open block with the row of this id. */
static int merge_finish_block(index_merge_state *merge, int key, sqlite3_int64 id){
  index_merge_key *of_key = &merge->keys[key];
  index_key_layout *layout = &merge->layout.keys[key];
  const uint64_t block = layout->num_blocks;
  int rc = index_merge_ends(merge, key);
  if( rc!=SQLITE_OK ) return rc;
  index_end_store(of_key->ends + block%INDEX_ENDS_BLOCKS*INDEX_END_BYTES, (index_end){id, layout->open_rows, of_key->open.bits_set});
  of_key->are_ends_changed = 1;
  layout->num_blocks++;
  layout->bits_set += of_key->open.bits_set;
  if( layout->num_blocks%INDEX_SLOTS==0 || layout->num_blocks%INDEX_ENDS_BLOCKS==0 ) rc = merge_write_ends(merge, key, block);
  if( layout->num_blocks%INDEX_ENDS_BLOCKS==0 ) of_key->has_ends = 0;
  if( rc==SQLITE_OK && layout->num_blocks%INDEX_SLOTS==0 ) rc = merge_finish_group(merge, key);
  if( rc==SQLITE_OK ) merge_open_block(merge, key);
  return rc;
}

/* A block that accepts everything, for a number's sake say, costs no more with more rows. */
static int merge_is_block_finished(const index_merge_state *merge, int key){
  const bloom_block *open = &merge->keys[key].open;
  if( open->bits_set==open->bits_per_block && merge->layout.keys[key].open_rows<INDEX_ROWS_OF_FULL_BLOCK ) return 0;
  return bloom_block_is_finished(open);
}

/* Adds the row that rows is at: its id, then the indexed columns. */
static int merge_add_row(index_merge_state *merge, sqlite3_stmt *rows){
  const sqlite3_int64 id = sqlite3_column_int64(rows, 0);
  int i, rc = SQLITE_OK;
  for(i=0; i<merge->index->config.num_keys && rc==SQLITE_OK; i++){
    index_merge_key *of_key = &merge->keys[i];
    rc = index_add_value(merge->index, &merge->layout, &merge->weights, i, sqlite3_column_value(rows, i + 1), &of_key->open);
    merge->layout.keys[i].open_rows++;
    merge->layout.keys[i].open_bits = of_key->open.bits_set;
    if( rc==SQLITE_OK && merge_is_block_finished(merge, i) ) rc = merge_finish_block(merge, i, id);
  }
  merge->layout.covered = id;
  merge->layout.has_covered = 1;
  merge->layout.num_rows++;
  return rc;
}

int index_merge_prepare_rows(bloom_index *index, sqlite3_stmt **rows, const char *condition){
  const char *id = index->columns.id_name;
  sqlite3_str *sql = sqlite3_str_new(index->connection->db);
  int i;
  sqlite3_str_appendf(sql, "SELECT x.\"%w\"", id);
  for(i=0; i<index->config.num_keys; i++){
    sqlite3_str_appendall(sql, ", ");
    index_append_key(index, sql, i);
  }
  sqlite3_str_appendf(sql, " FROM " INDEX_SOURCE " NOT INDEXED WHERE x.\"%w\" %s ORDER BY x.\"%w\"", index->schema, index->source_name, id, condition, id);
  return bloom_sql_prepare_text(index->connection, rows, sqlite3_str_finish(sql));
}

/* Adds at most max_rows rows, 1 or more, behind what is covered. */
static int merge_new_rows(index_merge_state *merge, sqlite3_int64 max_rows){
  const sqlite3_int64 covered = merge->layout.covered;
  sqlite3_stmt *rows = NULL;
  int rc;
  if( merge->layout.has_covered && covered==INT64_MAX ) return SQLITE_OK;
  rc = index_merge_prepare_rows(merge->index, &rows, "BETWEEN ?1 AND ?2");
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 1, merge->layout.has_covered ? covered + 1 : INT64_MIN);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 2, INT64_MAX);
  while( rc==SQLITE_OK && max_rows>0 && (rc = bloom_sql_step(merge->index->connection, rows))==SQLITE_ROW ){
    rc = merge_add_row(merge, rows);
    if( max_rows!=INDEX_MERGE_ALL ) max_rows--;
  }
  if( (rc & 0xff)==SQLITE_CONSTRAINT ){
    /* A trigger's words, which SQLite forgets with the rows. */
    sqlite3_free(merge->index->base.zErrMsg);
    merge->index->base.zErrMsg = sqlite3_mprintf("bloom_index: %s", sqlite3_errmsg(merge->index->connection->db));
  }
  sqlite3_finalize(rows);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* -- The whole ----------------------------------------------------------------------------- */

static void merge_free(index_merge_state *merge){
  int i;
  for(i=0; i<merge->index->config.num_keys; i++){
    sqlite3_finalize(merge->keys[i].insert);
    sqlite3_finalize(merge->keys[i].update);
    sqlite3_free(merge->keys[i].slots);
  }
  index_weights_free(&merge->weights);
  sqlite3_free(merge->strips);
  sqlite3_free(merge);
}

static int merge_start(bloom_index *index, const index_layout *layout, index_merge_state **result){
  index_merge_state *merge = sqlite3_malloc64(sizeof(*merge));
  int i, rc = SQLITE_OK;
  *result = merge;
  if( merge==NULL ) return SQLITE_NOMEM;
  memset(merge, 0, sizeof(*merge));
  merge->index = index;
  merge->layout = *layout;
  merge->strips = sqlite3_malloc64((sqlite3_uint64)BLOOM_SLICE_MAX_JOINED * BLOOM_SLICE_STRIP_BYTES);
  rc = merge->strips ? index_weights_read(index, &merge->weights) : SQLITE_NOMEM;
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    index_merge_key *of_key = &merge->keys[i];
    const uint32_t slot = (uint32_t)(layout->keys[i].num_blocks % INDEX_SLOTS);
    uint8_t *bytes;
    of_key->slots = sqlite3_malloc64((sqlite3_uint64)INDEX_SLOTS * block_bytes_of(merge, i));
    if( of_key->slots==NULL ) rc = SQLITE_NOMEM;
    if( rc==SQLITE_OK ) rc = bloom_sql_integer(index->connection, &of_key->num_rows, "SELECT max(rowid) FROM \"%w\".\"%w_blocks_%d\"",
                                               index->schema, index->name, i + 1);
    if( rc==SQLITE_OK && layout->has_covered ){
      rc = index_merge_slot(merge, i, slot, &bytes);
      if( rc==SQLITE_OK ) bloom_block_resume(&of_key->open, bytes, index->config.keys[i].bits_per_block);
      of_key->is_changed = (uint64_t)1 << slot;
    }else if( rc==SQLITE_OK ){
      merge_open_block(merge, i);
    }
  }
  return rc;
}

/* Writes all that is in memory; then the blocks are good. */
static int merge_finish(index_merge_state *merge, const char *note){
  bloom_index *index = merge->index;
  int i, rc = SQLITE_OK;
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++) rc = merge_write_slots(merge, i);
  if( rc==SQLITE_OK && merge->layout.has_covered ){
    rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_changed\" WHERE id <= %lld", index->schema, index->name, merge->done_until);
  }
  /* The layout is written last: where an authorizer refuses the other, both are as they were.  SQLite
  ** does not undo VALUES ('merge'). */
  if( rc==SQLITE_OK ) rc = index_state_write(index, &merge->layout, note);
  if( rc==SQLITE_OK ) rc = index_layout_write(index, &merge->layout);
  return rc;
}

/* About how many rows there are: by the ids, and by the pages of the file. */
static int merge_estimate_rows(bloom_index *index, sqlite3_int64 *num_rows){
  const char *id = index->columns.id_name;
  sqlite3_int64 num_pages = 0, page_bytes = 4096, first = 0, last = 0;
  int rc = bloom_sql_integer(index->connection, &num_pages, "PRAGMA \"%w\".page_count", index->schema);
  if( rc==SQLITE_OK ) rc = bloom_sql_integer(index->connection, &page_bytes, "PRAGMA \"%w\".page_size", index->schema);
  if( rc==SQLITE_OK ) rc = bloom_sql_integer(index->connection, &first, "SELECT min(x.\"%w\") FROM " INDEX_SOURCE, id, index->schema, index->source_name);
  if( rc==SQLITE_OK ) rc = bloom_sql_integer(index->connection, &last, "SELECT max(x.\"%w\") FROM " INDEX_SOURCE, id, index->schema, index->source_name);
  *num_rows = num_pages * (page_bytes / 32);
  if( last<first ) *num_rows = 0;
  else if( (uint64_t)last - (uint64_t)first<(uint64_t)*num_rows ) *num_rows = last - first + 1;
  return rc;
}

/* The probes at which a few rows are read for nothing, whatever the table's size: 12 up to
** some millions, and one more each time the rows double. */
static uint32_t merge_probes_for(sqlite3_int64 num_rows){
  uint32_t num_probes = 12;
  for(; num_rows>4000000 && num_probes<BLOOM_SIGNATURE_MAX_PROBES; num_rows/=2) num_probes++;
  return num_probes;
}

int index_merge_core(bloom_index *index, index_layout *layout, sqlite3_int64 max_rows, int *wants_rebuild){
  index_merge_state *merge;
  sqlite3_int64 num_left = max_rows;
  int rc = SQLITE_OK;
  *wants_rebuild = 0;
  if( !layout->has_covered ){
    sqlite3_int64 num_rows = 0;
    layout->num_probes = index->config.num_probes;
    if( layout->num_probes==0 ){
      rc = merge_estimate_rows(index, &num_rows);
      layout->num_probes = merge_probes_for(num_rows);
    }
    if( rc==SQLITE_OK ) rc = index_weights_learn(index);
    if( rc!=SQLITE_OK ) return rc;
  }
  rc = merge_start(index, layout, &merge);
  if( rc==SQLITE_OK ) rc = index_merge_changed(merge, &num_left, wants_rebuild);
  if( rc==SQLITE_OK && !(*wants_rebuild && max_rows==INDEX_MERGE_ALL) ){
    if( num_left>0 ) rc = merge_new_rows(merge, num_left);
    if( rc==SQLITE_OK && num_left>0 ) merge->done_until = merge->layout.covered;
    if( rc==SQLITE_OK && merge->num_new_groups && !*wants_rebuild ) rc = index_merge_is_worn(merge, wants_rebuild);
    if( rc==SQLITE_OK ) rc = merge_finish(merge, *wants_rebuild ? INDEX_NOTE_WORN : NULL);
    *layout = merge->layout;
  }
  if( merge ) merge_free(merge);
  return rc;
}
