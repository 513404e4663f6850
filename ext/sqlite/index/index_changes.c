/*
** Changed rows: their keys are added to the block whose interval holds their id.
**
** What was there before stays: bits cannot be taken back.  A block that gets too full by it is
** built again from its rows, in its place.
*/
#include "index_merge.h"

#include <string.h>

/* More blocks than this that are too full, and all are built again. */
#define INDEX_MAX_OVERFULL 64

/* Blocks of which is counted how many of their rows are gone. */
#define INDEX_SAMPLE_BLOCKS 32

typedef struct overfull_block {
  int key;
  uint64_t block;
} overfull_block;

typedef struct index_changes {
  index_merge_state *merge;
  sqlite3_stmt *row;       /* ?1 an id */
  uint8_t *bytes;          /* a block */
  uint64_t found[INDEX_MAX_KEYS]; /* the block of the last id, where the search goes on */
  overfull_block overfull[INDEX_MAX_OVERFULL];
  int num_overfull, has_more_overfull;
} index_changes;

static int is_in_slot(const index_merge_state *merge, int key, uint64_t block){
  return block>=merge->layout.keys[key].num_blocks/INDEX_SLOTS*INDEX_SLOTS;
}

/* 1 if a block's end is in the open block's row of ends, which is newer in memory. */
static int is_end_in_memory(const index_merge_state *merge, int key, uint64_t block){
  return block/INDEX_ENDS_BLOCKS==merge->layout.keys[key].num_blocks/INDEX_ENDS_BLOCKS;
}

/* Reads a finished block's end. */
static int changes_read_end(index_merge_state *merge, index_reader *reader, uint64_t block, index_end *end){
  int rc = SQLITE_OK;
  if( !is_end_in_memory(merge, reader->key, block) ) return index_reader_end(reader, block, end);
  rc = index_merge_ends(merge, reader->key);
  *end = index_end_load(merge->keys[reader->key].ends + block%INDEX_ENDS_BLOCKS*INDEX_END_BYTES);
  return rc;
}

/* Sets *block to the first block, at or after it, that ends at or behind id, and *end to its end if
** it is finished. */
static int changes_find_block(index_merge_state *merge, int key, sqlite3_int64 id, uint64_t *block, index_end *end){
  uint64_t first = *block, last = merge->layout.keys[key].num_blocks; /* the open one ends behind all */
  index_reader reader;
  int rc = SQLITE_OK;
  index_reader_start(&reader, merge->index, key);
  while( first<last && rc==SQLITE_OK ){
    const uint64_t middle = first + (last - first)/2;
    index_end of_middle;
    rc = changes_read_end(merge, &reader, middle, &of_middle);
    if( rc==SQLITE_OK && of_middle.last<id ){
      first = middle + 1;
    }else{
      last = middle;
      *end = of_middle;
    }
  }
  index_reader_close(&reader);
  *block = first;
  return rc;
}

/* -- Bits of a block in a group ------------------------------------------------------------- */

/* The group that a block is in, its tier, and the block's number in it. */
static uint64_t changes_group_of(const index_merge_state *merge, int key, uint64_t block, int *tier, uint32_t *in_group){
  const uint64_t num_groups = merge->layout.keys[key].num_blocks / INDEX_SLOTS;
  const uint64_t of_block = block / INDEX_SLOTS;
  uint64_t group = of_block;
  for(*tier = BLOOM_SLICE_TIERS - 1; *tier>=0; --*tier){
    group = of_block - of_block % index_tier_groups(*tier);
    if( index_tier_of(group, num_groups)>=*tier ) break;
  }
  *in_group = (uint32_t)(block - group*INDEX_SLOTS);
  return group;
}

/* The first bit of bytes[] at i or after it; num_bits if there is none. */
static uint32_t changes_next_bit(const uint8_t *bytes, uint32_t i, uint32_t num_bits){
  while( i<num_bits && (bytes[i/8] >> i%8 & 1)==0 ) i += i%8==0 && bytes[i/8]==0 ? 8 : 1;
  return i<num_bits ? i : num_bits;
}

/* ORs a block's bits into its slices: those that bytes[] has.  *num_new counts them. */
static int changes_or_into_group(index_merge_state *merge, int key, uint64_t block, const uint8_t *bytes, uint32_t *num_new){
  const bloom_index *index = merge->index;
  const uint32_t num_bits = index->config.keys[key].bits_per_block;
  sqlite3_blob *blob = NULL;
  index_part part = {.num_bytes = 0};
  uint32_t in_group, i;
  int tier, is_changed = 0, rc = SQLITE_OK;
  const uint64_t group = changes_group_of(merge, key, block, &tier, &in_group);
  sqlite3_int64 at = 0;
  *num_new = 0;
  for(i=changes_next_bit(bytes, 0, num_bits); i<num_bits; i=changes_next_bit(bytes, i + 1, num_bits)){
    uint8_t mask, *byte;
    bloom_slice_place place;
    sqlite3_int64 row;
    place = bloom_slice_find_block(tier, i, in_group, &mask);
    row = index_row_of_strip(index, key, tier, group, place.strip);
    if( row!=at || place.offset - part.first>=part.num_bytes ){
      if( is_changed ) rc = index_part_write(index, key, blob, at, &part);
      is_changed = 0;
      if( rc==SQLITE_OK && row!=at ) rc = index_blocks_move(index, key, row, 1, &blob);
      at = row;
      if( rc==SQLITE_OK ) rc = index_part_read(index, key, blob, row, place.offset, &part);
      if( rc!=SQLITE_OK ) break;
    }
    byte = &part.bytes[place.offset - part.first];
    if( *byte & mask ) continue;
    *byte |= mask;
    is_changed = 1;
    ++*num_new;
  }
  if( rc==SQLITE_OK && is_changed ) rc = index_part_write(index, key, blob, at, &part);
  sqlite3_blob_close(blob);
  return rc;
}

/* Makes a block in a group what bytes[] says. */
static int changes_replace_in_group(index_merge_state *merge, int key, uint64_t block, const uint8_t *bytes){
  const bloom_index *index = merge->index;
  const uint32_t bits_per_block = index->config.keys[key].bits_per_block;
  uint8_t strip_bytes[BLOOM_SLICE_STRIP_BYTES];
  uint32_t in_group, strip, bit = 0;
  int tier, rc = index_merge_mark_dirty(merge);
  const uint64_t group = changes_group_of(merge, key, block, &tier, &in_group);
  const uint32_t num_strips = bloom_tier_strips(tier, bits_per_block), slice_bytes = bloom_tier_slice_bytes(tier);
  for(strip=0; strip<num_strips && rc==SQLITE_OK; strip++){
    const uint32_t num_bytes = bloom_strip_bytes(tier, bits_per_block, strip);
    const sqlite3_int64 row = index_row_of_strip(index, key, tier, group, strip);
    index_reader reader;
    uint32_t offset;
    index_reader_start(&reader, index, key);
    rc = index_reader_read(&reader, row, strip_bytes, num_bytes, 0);
    index_reader_close(&reader);
    for(offset=in_group/8; offset<num_bytes; offset+=slice_bytes, bit++){
      const uint8_t mask = (uint8_t)(1u << in_group%8);
      strip_bytes[offset] = (uint8_t)((bytes[bit/8] >> bit%8 & 1) ? strip_bytes[offset] | mask : strip_bytes[offset] & ~mask);
    }
    if( rc==SQLITE_OK ) rc = index_blocks_write(index, key, row, strip_bytes, num_bytes);
  }
  return rc;
}

/* Notes how many bits of a finished block are set, and how many of its rows there are; 0 rows
** leaves their number. */
static int changes_write_end(index_merge_state *merge, int key, uint64_t block, uint32_t bits_set, uint32_t num_rows){
  index_merge_key *of_key = &merge->keys[key];
  uint8_t from_disk[INDEX_ENDS_BYTES];
  uint8_t *ends = of_key->ends, *entry;
  const sqlite3_int64 row = index_row_of_ends(merge->index, key, block);
  index_end end;
  int rc;
  if( is_end_in_memory(merge, key, block) ){
    rc = index_merge_ends(merge, key);
    of_key->are_ends_changed = 1;
  }else{
    index_reader reader;
    ends = from_disk;
    index_reader_start(&reader, merge->index, key);
    rc = index_reader_read(&reader, row, ends, INDEX_ENDS_BYTES, 0);
    index_reader_close(&reader);
  }
  if( rc!=SQLITE_OK ) return rc;
  entry = ends + block%INDEX_ENDS_BLOCKS*INDEX_END_BYTES;
  end = index_end_load(entry);
  merge->layout.keys[key].bits_set += bits_set;
  merge->layout.keys[key].bits_set -= end.bits_set;
  end.bits_set = bits_set;
  if( num_rows ) end.num_rows = num_rows;
  index_end_store(entry, end);
  return ends==from_disk ? index_blocks_write(merge->index, key, row, ends, INDEX_ENDS_BYTES) : SQLITE_OK;
}

/* -- One changed row ------------------------------------------------------------------------ */

static void changes_note_overfull(index_changes *changes, int key, uint64_t block){
  int i;
  for(i=0; i<changes->num_overfull; i++){
    if( changes->overfull[i].key==key && changes->overfull[i].block==block ) return;
  }
  if( changes->num_overfull==INDEX_MAX_OVERFULL ) changes->has_more_overfull = 1;
  else changes->overfull[changes->num_overfull++] = (overfull_block){key, block};
}

/* Adds the value of a row to its finished block, which has this end. */
static int changes_add_value(index_changes *changes, int key, uint64_t block, index_end end, sqlite3_value *value){
  index_merge_state *merge = changes->merge;
  const uint32_t bits_per_block = merge->index->config.keys[key].bits_per_block;
  bloom_block of_value;
  uint32_t num_new = 0;
  int rc;
  bloom_block_clear(&of_value, changes->bytes, bits_per_block);
  rc = index_add_value(merge->index, &merge->layout, &merge->weights, key, value, &of_value);
  if( rc==SQLITE_OK && is_in_slot(merge, key, block) ){
    const uint32_t slot = (uint32_t)(block % INDEX_SLOTS);
    uint8_t *bytes;
    bloom_block in_slot;
    rc = index_merge_slot(merge, key, slot, &bytes);
    if( rc!=SQLITE_OK ) return rc;
    bloom_block_resume(&in_slot, bytes, bits_per_block);
    bloom_block_merge(&in_slot, of_value.bytes);
    merge->keys[key].is_changed |= (uint64_t)1 << slot;
    num_new = in_slot.bits_set>end.bits_set ? in_slot.bits_set - end.bits_set : 0;
  }else if( rc==SQLITE_OK ){
    rc = changes_or_into_group(merge, key, block, of_value.bytes, &num_new);
  }
  if( rc!=SQLITE_OK || num_new==0 ) return rc;
  if( bloom_block_is_overfull(end.bits_set + num_new, bits_per_block) ) changes_note_overfull(changes, key, block);
  return changes_write_end(merge, key, block, end.bits_set + num_new, 0);
}

static int changes_add_row(index_changes *changes, sqlite3_int64 id){
  index_merge_state *merge = changes->merge;
  int i, rc;
  rc = sqlite3_bind_int64(changes->row, 1, id);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(merge->index->connection, changes->row);
  if( rc==SQLITE_DONE ) return sqlite3_reset(changes->row); /* the row is gone */
  if( rc==SQLITE_ROW ) rc = SQLITE_OK;
  for(i=0; i<merge->index->config.num_keys && rc==SQLITE_OK; i++){
    sqlite3_value *value = sqlite3_column_value(changes->row, i + 1);
    index_end end = {.last = 0};
    rc = changes_find_block(merge, i, id, &changes->found[i], &end);
    if( rc!=SQLITE_OK ) break;
    if( changes->found[i]<merge->layout.keys[i].num_blocks ){
      rc = changes_add_value(changes, i, changes->found[i], end, value);
    }else{
      rc = index_add_value(merge->index, &merge->layout, &merge->weights, i, value, &merge->keys[i].open);
      merge->layout.keys[i].open_bits = merge->keys[i].open.bits_set;
    }
  }
  sqlite3_reset(changes->row);
  return rc;
}

/* -- Blocks that are too full ----------------------------------------------------------------- */

/* Builds a finished block again. */
static int changes_rebuild_block(index_changes *changes, int key, uint64_t block){
  index_merge_state *merge = changes->merge;
  index_end before = {.last = INT64_MIN}, end = {.last = 0};
  index_reader reader;
  bloom_block built;
  sqlite3_stmt *rows = NULL;
  uint32_t num_rows = 0;
  int rc = SQLITE_OK;
  index_reader_start(&reader, merge->index, key);
  if( block>0 ) rc = changes_read_end(merge, &reader, block - 1, &before);
  if( rc==SQLITE_OK ) rc = changes_read_end(merge, &reader, block, &end);
  index_reader_close(&reader);
  bloom_block_clear(&built, changes->bytes, merge->index->config.keys[key].bits_per_block);
  if( rc==SQLITE_OK ) rc = index_merge_prepare_rows(merge->index, &rows, "BETWEEN ?1 AND ?2");
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 1, block>0 ? before.last + (before.last<INT64_MAX) : INT64_MIN);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 2, end.last);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(merge->index->connection, rows))==SQLITE_ROW ){
    rc = index_add_value(merge->index, &merge->layout, &merge->weights, key, sqlite3_column_value(rows, key + 1), &built);
    num_rows++;
  }
  sqlite3_finalize(rows);
  if( rc!=SQLITE_DONE ) return rc;
  if( is_in_slot(merge, key, block) ){
    const uint32_t slot = (uint32_t)(block % INDEX_SLOTS);
    uint8_t *bytes;
    rc = index_merge_slot(merge, key, slot, &bytes);
    if( rc!=SQLITE_OK ) return rc;
    memcpy(bytes, built.bytes, merge->index->config.keys[key].bits_per_block / 8);
    merge->keys[key].is_changed |= (uint64_t)1 << slot;
  }else{
    rc = changes_replace_in_group(merge, key, block, built.bytes);
  }
  return rc==SQLITE_OK ? changes_write_end(merge, key, block, built.bits_set, num_rows) : rc;
}

static int changes_rebuild_overfull(index_changes *changes, int *wants_rebuild){
  uint64_t num_blocks = 0;
  int i, rc = SQLITE_OK;
  for(i=0; i<changes->merge->index->config.num_keys; i++) num_blocks += changes->merge->layout.keys[i].num_blocks;
  if( changes->has_more_overfull || (changes->num_overfull>8 && 5*(uint64_t)changes->num_overfull>num_blocks) ){
    *wants_rebuild = 1;
    return SQLITE_OK;
  }
  for(i=0; i<changes->num_overfull && rc==SQLITE_OK; i++){
    rc = changes_rebuild_block(changes, changes->overfull[i].key, changes->overfull[i].block);
  }
  return rc;
}

/* -- All changed rows --------------------------------------------------------------------------- */

static int changes_add_rows(index_changes *changes, sqlite3_int64 *num_left){
  index_merge_state *merge = changes->merge;
  bloom_index *index = merge->index;
  sqlite3_stmt *ids = NULL;
  int rc = bloom_sql_prepare(index->connection, &ids, "SELECT id FROM \"%w\".\"%w_changed\" WHERE id <= %lld ORDER BY id",
                             index->schema, index->name, merge->layout.covered);
  if( rc==SQLITE_OK ) rc = index_merge_prepare_rows(index, &changes->row, "= ?1");
  while( rc==SQLITE_OK && *num_left>0 && (rc = bloom_sql_step(index->connection, ids))==SQLITE_ROW ){
    const sqlite3_int64 id = sqlite3_column_int64(ids, 0);
    rc = changes_add_row(changes, id);
    merge->done_until = id;
    if( *num_left!=INDEX_MERGE_ALL ) --*num_left;
  }
  sqlite3_finalize(ids);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

int index_merge_changed(index_merge_state *merge, sqlite3_int64 *num_left, int *wants_rebuild){
  bloom_index *index = merge->index;
  sqlite3_int64 num_changed = 0;
  index_changes *changes;
  int rc;
  merge->done_until = INT64_MIN;
  if( !merge->layout.has_covered ) return SQLITE_OK;
  rc = bloom_sql_integer(index->connection, &num_changed, "SELECT count(*) FROM \"%w\".\"%w_changed\"", index->schema, index->name);
  if( rc!=SQLITE_OK || num_changed==0 ) return rc;
  /* All rows deleted and others put in their place, say. */
  if( *num_left==INDEX_MERGE_ALL && num_changed>1000 && (uint64_t)num_changed>merge->layout.num_rows/2 ){
    *wants_rebuild = 1;
    return SQLITE_OK;
  }
  changes = sqlite3_malloc64(sizeof(*changes));
  if( changes==NULL ) return SQLITE_NOMEM;
  memset(changes, 0, sizeof(*changes));
  changes->merge = merge;
  changes->bytes = sqlite3_malloc64(BLOOM_SIGNATURE_MAX_BITS / 8);
  rc = changes->bytes ? changes_add_rows(changes, num_left) : SQLITE_NOMEM;
  if( rc==SQLITE_OK ) rc = changes_rebuild_overfull(changes, wants_rebuild);
  sqlite3_finalize(changes->row);
  sqlite3_free(changes->bytes);
  sqlite3_free(changes);
  return rc;
}

int index_merge_is_worn(index_merge_state *merge, int *is_worn){
  bloom_index *index = merge->index;
  uint64_t num_blocks = INDEX_SLOTS; /* the least that was merged */
  const char *id = index->columns.id_name;
  sqlite3_int64 num_had = 0, num_have = 0, num_rows;
  index_reader reader;
  int i, key = 0, rc = SQLITE_OK;
  for(i=0; i<index->config.num_keys; i++){
    const uint64_t of_key = merge->layout.keys[i].num_blocks/INDEX_SLOTS*INDEX_SLOTS;
    if( num_blocks<=of_key ){
      num_blocks = of_key;
      key = i;
    }
  }
  *is_worn = 0;
  index_reader_start(&reader, index, key);
  for(i=0; i<INDEX_SAMPLE_BLOCKS && rc==SQLITE_OK; i++){
    index_end before = {.last = INT64_MIN}, end = {.last = 0};
    uint64_t block;
    sqlite3_randomness(sizeof(block), &block);
    block %= num_blocks;
    if( block>0 ) rc = index_reader_end(&reader, block - 1, &before);
    if( rc==SQLITE_OK ) rc = index_reader_end(&reader, block, &end);
    if( rc==SQLITE_OK ) rc = bloom_sql_integer(index->connection, &num_rows,
      "SELECT count(*) FROM " INDEX_SOURCE " NOT INDEXED WHERE x.\"%w\" > %lld AND x.\"%w\" <= %lld", index->schema, index->source_name,
      id, before.last, id, end.last);
    num_had += end.num_rows;
    if( rc==SQLITE_OK ) num_have += num_rows<end.num_rows ? num_rows : end.num_rows;
  }
  index_reader_close(&reader);
  *is_worn = 5*num_have<4*num_had;
  return rc;
}
