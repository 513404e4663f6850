/*
** Finished blocks -> rows: slots, the units that these fill, and the groups that units join.
**
** The layout on disk is marked dirty before anything is taken away from a row that is there.
*/
#include "index_merge.h"

#include "../../core/debug.h"
#include <string.h>

/* Units are joined with the groups before them that are not so much larger: of up to 504 units
** there are 3 groups on average, and each unit is written 8 times. */
#define INDEX_JOIN_FACTOR 3

/* -- Rows of NAME_blocks_N ------------------------------------------------------------- */

/* Writes a row, which is the next one or is there. */
static int units_write_row(index_merge_state *merge, int key, sqlite3_int64 row,
                           const uint8_t *bytes, uint32_t num_bytes){
  index_merge_key *merge_key = &merge->keys[key];
  int rc;
  if( row<=merge_key->num_rows ){
    index_reader writer;
    bloom_index_reader_start(&writer, merge->index, key, 1);
    rc = bloom_index_blocks_write(&writer, row, bytes);
    bloom_index_reader_close(&writer);
    /* Else it has no bytes yet. */
    if( rc!=SQLITE_CORRUPT_VTAB ) return rc;
  }
  if( row>merge_key->num_rows + 1 ) return SQLITE_CORRUPT_VTAB;
  rc = bloom_index_row_write(merge->index, key, &merge_key->write, row, bytes, num_bytes);
  if( rc==SQLITE_OK && row>merge_key->num_rows ) merge_key->num_rows = row;
  return rc;
}

/* Makes the rows of ends that come before the strips of a block's chapter. */
static int units_make_chapter(index_merge_state *merge, int key, uint64_t block){
  const uint64_t first = block - block%((uint64_t)INDEX_ENDS_BLOCKS*INDEX_CHAPTER_ENDS);
  sqlite3_int64 row = bloom_index_row_of_ends(merge->index, key, first);
  int i, rc = SQLITE_OK;
  if( row!=merge->keys[key].num_rows + 1 ) return SQLITE_OK;
  for(i=0; i<INDEX_CHAPTER_ENDS && rc==SQLITE_OK; i++){
    rc = units_write_row(merge, key, row++, NULL, 0);
  }
  return rc;
}

/* -- Ends of blocks ---------------------------------------------------------------------- */

static int units_write_ends(index_merge_state *merge, int key){
  index_merge_key *merge_key = &merge->keys[key];
  int rc;
  if( !merge_key->are_ends_changed ) return SQLITE_OK;
  rc = units_make_chapter(merge, key, merge_key->ends_of);
  if( rc==SQLITE_OK ){
    rc = units_write_row(merge, key, bloom_index_row_of_ends(merge->index, key, merge_key->ends_of),
                         merge_key->ends, BLOOM_STRIP_BYTES);
  }
  merge_key->are_ends_changed = 0;
  return rc;
}

int bloom_index_merge_end(index_merge_state *merge, int key, uint64_t block, int is_changed,
                          uint8_t **bytes){
  index_merge_key *merge_key = &merge->keys[key];
  int rc = SQLITE_OK;
  if( !merge_key->has_ends || merge_key->ends_of/INDEX_ENDS_BLOCKS!=block/INDEX_ENDS_BLOCKS ){
    rc = units_write_ends(merge, key);
    if( rc==SQLITE_OK && block%INDEX_ENDS_BLOCKS==0 && block==merge->layout.keys[key].num_blocks ){
      memset(merge_key->ends, 0, sizeof(merge_key->ends)); /* the first of its row */
    }else if( rc==SQLITE_OK ){
      const sqlite3_int64 row = bloom_index_row_of_ends(merge->index, key, block);
      rc = bloom_index_row_read(merge->index, key, row, merge_key->ends, sizeof(merge_key->ends));
    }
    merge_key->has_ends = rc==SQLITE_OK;
    merge_key->ends_of = block;
  }
  merge_key->are_ends_changed |= rc==SQLITE_OK && is_changed;
  *bytes = merge_key->ends + block%INDEX_ENDS_BLOCKS*INDEX_END_BYTES;
  return rc;
}

/* -- Blocks, slots and units -------------------------------------------------------------- */

uint8_t *bloom_index_merge_slot(const index_merge_state *merge, int key, uint64_t block){
  const size_t slot = (size_t)(block % BLOOM_UNIT_BLOCKS);
  assert( block>=merge->keys[key].num_in_units && block<=merge->layout.keys[key].num_blocks );
  return merge->keys[key].slots + slot*index_block_bytes(merge->index, key);
}

/* Puts the finished blocks below until into their unit. */
static int units_fill_unit(index_merge_state *merge, int key, uint64_t until){
  index_merge_key *merge_key = &merge->keys[key];
  const uint64_t unit = merge_key->num_in_units / BLOOM_UNIT_BLOCKS;
  const uint32_t first = (uint32_t)(merge_key->num_in_units % BLOOM_UNIT_BLOCKS);
  const uint32_t last = (uint32_t)(until - unit*BLOOM_UNIT_BLOCKS);
  const uint8_t *blocks[BLOOM_UNIT_BLOCKS];
  uint8_t strip[BLOOM_STRIP_BYTES] = {0};
  uint32_t band, i;
  int rc;
  if( until==merge_key->num_in_units ) return SQLITE_OK;
  for(i=0; i<BLOOM_UNIT_BLOCKS; i++){
    blocks[i] = merge_key->slots + (size_t)i*index_block_bytes(merge->index, key);
  }
  assert( merge->is_dirty ); /* as of the blocks that were appended */
  rc = units_make_chapter(merge, key, until - 1);
  for(band=0; band<index_num_bands(merge->index, key) && rc==SQLITE_OK; band++){
    const sqlite3_int64 row = bloom_index_row_of_strip(merge->index, key, unit, band);
    if( first>0 ) rc = bloom_index_row_read(merge->index, key, row, strip, sizeof(strip));
    bloom_strip_put_blocks(strip, blocks, first, last, band);
    if( rc==SQLITE_OK ) rc = units_write_row(merge, key, row, strip, sizeof(strip));
  }
  merge_key->num_in_units = until;
  if( last==BLOOM_UNIT_BLOCKS ){
    merge->num_new_units++;
    merge->join_rows += INDEX_JOIN_UNITS * (int64_t)index_num_bands(merge->index, key);
  }
  return rc;
}

int bloom_index_merge_append(index_merge_state *merge, int key, const bloom_block *block,
                             index_end end){
  index_key_layout *layout = &merge->layout.keys[key];
  uint8_t *bytes;
  int rc = bloom_index_merge_mark_dirty(merge);
  if( rc==SQLITE_OK ) rc = bloom_index_merge_end(merge, key, layout->num_blocks, 1, &bytes);
  if( rc!=SQLITE_OK ) return rc;
  end.bits_set = block->bits_set;
  bloom_index_end_store(bytes, end);
  memcpy(bloom_index_merge_slot(merge, key, layout->num_blocks), block->bytes,
         index_block_bytes(merge->index, key));
  layout->num_blocks++;
  layout->bits_set += block->bits_set;
  return layout->num_blocks%BLOOM_UNIT_BLOCKS==0 ? units_fill_unit(merge, key, layout->num_blocks)
    : SQLITE_OK;
}

/* Writes what is in no unit, and the row of ends at hand. */
int bloom_index_merge_write_slots(index_merge_state *merge, int key){
  index_merge_key *merge_key = &merge->keys[key];
  const uint64_t num_blocks = merge->layout.keys[key].num_blocks;
  const uint32_t block_bytes = index_block_bytes(merge->index, key);
  uint8_t slots[BLOOM_STRIP_BYTES] = {0};
  uint64_t block;
  int rc = units_fill_unit(merge, key, bloom_index_blocks_in_units(merge->index, &merge->layout,
      key));
  memcpy(bloom_index_merge_slot(merge, key, num_blocks), merge_key->open.bytes, block_bytes);
  for(block=merge_key->num_in_units; block<=num_blocks; block++){
    memcpy(slots + (block - merge_key->num_in_units)*block_bytes, bloom_index_merge_slot(merge, key,
        block), block_bytes);
  }
  if( rc==SQLITE_OK ) rc = units_write_ends(merge, key);
  if( rc!=SQLITE_OK ) return rc;
  return units_write_row(merge, key, INDEX_ROW_OF_SLOTS, slots, sizeof(slots));
}

/* -- Groups ------------------------------------------------------------------------------ */

/* Joins a band of the groups that the join at hand is of; strips and joined have room for it. */
static int units_join_band(index_merge_state *merge, int key, uint8_t *strips, uint8_t *joined){
  const index_key_layout *layout = &merge->layout.keys[key];
  const uint64_t first = bloom_index_join_unit(layout);
  uint32_t i;
  index_reader writer;
  int rc = SQLITE_OK;
  bloom_index_reader_start(&writer, merge->index, key, 1);
  for(i=0; i<layout->join_units && rc==SQLITE_OK; i++){
    rc = bloom_index_reader_read(&writer, bloom_index_row_of_strip(merge->index, key, first + i,
        layout->join_bands), strips + (size_t)i*BLOOM_STRIP_BYTES, BLOOM_STRIP_BYTES, 0);
  }
  for(i=0; i<layout->join_units && rc==SQLITE_OK; ){
    const index_group group = bloom_index_group_at(layout, first + i, 0);
    bloom_band_join(joined, layout->join_units, strips + (size_t)i*BLOOM_STRIP_BYTES,
                    group.num_units, i);
    i += group.num_units;
  }
  for(i=0; i<layout->join_units && rc==SQLITE_OK; i++){
    rc = bloom_index_blocks_write(&writer, bloom_index_row_of_strip(merge->index, key, first + i,
        layout->join_bands), joined + (size_t)i*BLOOM_STRIP_BYTES);
  }
  bloom_index_reader_close(&writer);
  return rc;
}

/* Sets the join that is to come next, if there are units to join. */
static void units_plan_join(const index_merge_state *merge, int key, index_key_layout *layout){
  const uint64_t full = (uint64_t)layout->num_full * INDEX_MAX_UNITS;
  const uint64_t whole = merge->keys[key].num_in_units/BLOOM_UNIT_BLOCKS - full;
  const uint32_t num_units = whole<INDEX_MAX_UNITS ? (uint32_t)whole : INDEX_MAX_UNITS;
  uint32_t num_had = 0, from = layout->num_sizes, i;
  for(i=0; i<layout->num_sizes; i++) num_had += layout->sizes[i];
  if( num_units<=num_had ) return;
  i = num_units - num_had;
  while( from>0 && (layout->sizes[from-1]<INDEX_JOIN_FACTOR*i || num_units==INDEX_MAX_UNITS
                    || from==INDEX_MAX_SIZES) ) i += layout->sizes[--from];
  layout->join_from = from;
  layout->join_units = i;
  layout->join_bands = 0;
}

/* Makes a group of what was joined. */
static void units_end_join(index_key_layout *layout){
  layout->num_sizes = layout->join_from;
  if( layout->join_units==INDEX_MAX_UNITS ) layout->num_full++;
  else layout->sizes[layout->num_sizes++] = layout->join_units;
  layout->join_from = layout->join_units = layout->join_bands = 0;
}

/* Joins the next band of the groups at hand; *strips is the room for it, which is made once. */
static int units_join_next_band(index_merge_state *merge, int key, uint8_t **strips){
  index_key_layout *layout = &merge->layout.keys[key];
  const size_t num_bytes = (size_t)layout->join_units * BLOOM_STRIP_BYTES;
  int rc;
  if( *strips==NULL ){
    *strips = sqlite3_malloc64(2 * (sqlite3_uint64)INDEX_MAX_UNITS * BLOOM_STRIP_BYTES);
  }
  rc = *strips ? bloom_index_merge_mark_dirty(merge) : SQLITE_NOMEM;
  if( rc==SQLITE_OK ) rc = units_join_band(merge, key, *strips, *strips + num_bytes);
  merge->join_rows -= layout->join_units;
  layout->join_bands++;
  return rc;
}

int bloom_index_merge_join(index_merge_state *merge, int key){
  index_key_layout *layout = &merge->layout.keys[key];
  const uint32_t num_bands = index_num_bands(merge->index, key);
  uint8_t *strips = NULL;
  int has_joined = 0, rc = SQLITE_OK;
  while( rc==SQLITE_OK ){
    if( layout->join_units==0 ) units_plan_join(merge, key, layout);
    if( layout->join_units==0 ) break;
    /* A unit alone is a group. */
    if( layout->join_units==1 ) layout->join_bands = num_bands;
    if( layout->join_bands<num_bands ){
      /* Each merge joins one band at least, so that a join comes to its end. */
      if( merge->join_rows<(has_joined ? layout->join_units : 1) ) break;
      rc = units_join_next_band(merge, key, &strips);
      has_joined = 1;
    }
    if( layout->join_bands==num_bands ) units_end_join(layout);
  }
  sqlite3_free(strips);
  return rc;
}
