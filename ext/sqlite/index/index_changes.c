/*
** Changed rows: their keys are added to the block whose interval holds their id.
**
** What was there before stays: bits cannot be taken back.  A block that gets too full by it, or
** of which so much changed that it costs less, is made again from its rows, as one block or
** several behind the others; where it was it is dead.  So rows that come with lower ids than those
** before them get blocks of their own, and nothing of a large group is written for it.
*/
#include "index_merge.h"
#include "index_source.h"

#include <string.h>

/* A merge counts in so many blocks how many of their rows are gone. */
#define INDEX_SAMPLE_BLOCKS 32
#define INDEX_FEW_SAMPLES   8 /* enough where nothing is gone, as after most merges of few rows */

/* What it costs to find a changed row and its blocks, as a number of bits to write; and to widen a
** zone, as a number of rows to read. */
#define INDEX_COST_OF_CHANGE 8
#define INDEX_COST_OF_ZONE   4

typedef struct index_key_changes {
  index_placed_end *ends; /* in the order of ids */
  size_t num_ends;
  size_t at;              /* where the search for the next id goes on */
} index_key_changes;

typedef struct index_changes {
  index_merge_state *merge;
  sqlite3_stmt *row;    /* the row whose id is ?1 */
  uint8_t *bytes;       /* room for a block */
  uint64_t num_changed; /* how many rows changed */
  index_key_changes keys[INDEX_MAX_KEYS];
} index_changes;

/* The block that holds an id, which is not less than the one before; NULL for the open one. */
static index_placed_end *changes_find(index_key_changes *key_changes, sqlite3_int64 id){
  while( key_changes->at<key_changes->num_ends
        && key_changes->ends[key_changes->at].end.last<id ) key_changes->at++;
  return key_changes->at<key_changes->num_ends ? &key_changes->ends[key_changes->at] : NULL;
}

/* -- What it costs ---------------------------------------------------------------------- */

/* Returns what it costs to make a block again: to read its rows, and to write it. */
static uint64_t changes_cost_of_block(const index_placed_end *placed){
  return placed->end.num_rows + placed->end.bits_set/16;
}

/* Returns what it costs to add the changed rows to it: each bit is in another page. */
static uint64_t changes_cost_of_rows(const index_placed_end *placed){
  const uint32_t bits = placed->end.bits_set / (placed->end.num_rows ? placed->end.num_rows : 1);
  return (uint64_t)placed->num_changed * (INDEX_COST_OF_CHANGE + bits);
}

/* Chooses what is done with each block.  *wants_rebuild: to make all again costs less. */
static void changes_choose(index_changes *changes, int *wants_rebuild){
  uint64_t cost = 0, of_all = 0;
  size_t i;
  int key;
  for(key=0; key<changes->merge->index->config.num_keys; key++){
    index_key_changes *key_changes = &changes->keys[key];
    key_changes->at = 0;
    if( changes->merge->keys[key].zones ){
      cost += INDEX_COST_OF_ZONE * changes->num_changed;
      of_all += changes->merge->layout.num_rows;
    }
    for(i=0; i<key_changes->num_ends; i++){
      index_placed_end *placed = &key_changes->ends[i];
      const uint64_t of_block = changes_cost_of_block(placed);
      const uint64_t of_rows = changes_cost_of_rows(placed);
      placed->is_remade = of_rows>of_block;
      /* Rows that are new among those of a block are read one by one, and written. */
      cost += placed->is_remade ? of_block + placed->num_changed : of_rows;
      of_all += of_block + (placed->num_changed>placed->end.num_rows
                            ? placed->num_changed - placed->end.num_rows : 0);
    }
  }
  *wants_rebuild = 4*cost>3*of_all;
}

/* -- Bits of a block --------------------------------------------------------------------- */

/* The first bit of bytes[] at i or after it; num_bits if there is none. */
static uint32_t changes_next_bit(const uint8_t *bytes, uint32_t i, uint32_t num_bits){
  while( i<num_bits && (bytes[i/8] >> i%8 & 1)==0 ) i += i%8==0 && bytes[i/8]==0 ? 8 : 1;
  return i<num_bits ? i : num_bits;
}

/* ORs a block's bits into its slices: those that bytes[] has.  *num_new counts them. */
static int changes_or_into_group(index_merge_state *merge, int key, uint64_t block,
                                 const uint8_t *bytes, uint32_t *num_new){
  const index_key_layout *layout = &merge->layout.keys[key];
  const uint32_t num_bits = index_block_bits(merge->index, key);
  const index_group joined = bloom_index_group_at(layout, block/BLOOM_UNIT_BLOCKS, 1);
  const index_group apart = bloom_index_group_at(layout, block/BLOOM_UNIT_BLOCKS, 0);
  const uint8_t mask = (uint8_t)(1u << block%8);
  index_reader writer;
  index_part part = {.first = UINT32_MAX};
  uint32_t i;
  int is_changed = 0, rc = SQLITE_OK;
  bloom_index_reader_start(&writer, merge->index, key, 1);
  for(i=changes_next_bit(bytes, 0, num_bits); i<num_bits; i=changes_next_bit(bytes, i + 1,
      num_bits)){
    const index_group group = i/BLOOM_BAND_BITS<layout->join_bands ? joined : apart;
    const uint32_t byte_of_slice = (uint32_t)(block - group.unit*BLOOM_UNIT_BLOCKS)/8;
    const bloom_slice_place place = bloom_slice_find(group.num_units, i, byte_of_slice);
    const sqlite3_int64 row = bloom_index_row_of_strip(merge->index, key, group.unit + place.strip,
                                                       place.band);
    uint8_t *byte;
    if( row!=writer.row || place.offset - part.first>=INDEX_PART_BYTES ){
      if( is_changed ) rc = bloom_index_part_write(&writer, &part);
      is_changed = 0;
      if( rc==SQLITE_OK ) rc = bloom_index_part_read(&writer, row, place.offset, &part);
      if( rc!=SQLITE_OK ) break;
    }
    byte = &part.bytes[place.offset - part.first];
    if( *byte & mask ) continue;
    *byte |= mask;
    is_changed = 1;
    ++*num_new;
  }
  if( rc==SQLITE_OK && is_changed ) rc = bloom_index_part_write(&writer, &part);
  bloom_index_reader_close(&writer);
  return rc;
}

/* Writes a block's end in place of what it was. */
static int changes_write_end(index_merge_state *merge, int key, uint64_t block, index_end end){
  uint8_t *bytes;
  const int rc = bloom_index_merge_end(merge, key, block, 1, &bytes);
  if( rc!=SQLITE_OK ) return rc;
  merge->layout.keys[key].bits_set += end.bits_set;
  merge->layout.keys[key].bits_set -= bloom_index_end_load(bytes).bits_set;
  bloom_index_end_store(bytes, end);
  return SQLITE_OK;
}

/* -- One changed row ------------------------------------------------------------------------ */

/* Adds the value of a row to its finished block. */
static int changes_add_value(index_changes *changes, int key, index_placed_end *placed,
                             sqlite3_value *value){
  index_merge_state *merge = changes->merge;
  bloom_block of_value;
  uint32_t num_new = 0;
  int rc;
  bloom_block_clear(&of_value, changes->bytes, index_block_bits(merge->index, key));
  rc = bloom_index_add_value(merge->index, key, merge->keys[key].weights, merge->layout.num_probes,
                             value, &of_value);
  if( rc!=SQLITE_OK ) return rc;
  if( placed->block>=merge->keys[key].num_in_units ){
    bloom_block in_slot;
    bloom_block_resume(&in_slot, bloom_index_merge_slot(merge, key, placed->block),
                       of_value.bits_per_block);
    num_new = in_slot.bits_set;
    bloom_block_merge(&in_slot, of_value.bytes);
    num_new = in_slot.bits_set - num_new;
  }else{
    rc = changes_or_into_group(merge, key, placed->block, of_value.bytes, &num_new);
  }
  if( rc!=SQLITE_OK || num_new==0 ) return rc;
  placed->end.bits_set += num_new;
  placed->is_remade = bloom_block_is_overfull(placed->end.bits_set, of_value.bits_per_block);
  return changes_write_end(merge, key, placed->block, placed->end);
}

static int changes_add_row(index_changes *changes, sqlite3_int64 id){
  index_merge_state *merge = changes->merge;
  int i, rc;
  sqlite3_bind_int64(changes->row, 1, id);
  rc = bloom_sql_step(merge->index->connection, changes->row);
  if( rc==SQLITE_DONE ){
    return sqlite3_reset(changes->row); /* the row is gone */
  }
  if( rc==SQLITE_ROW ) rc = SQLITE_OK;
  for(i=0; i<merge->index->config.num_keys && rc==SQLITE_OK; i++){
    sqlite3_value *value = sqlite3_column_value(changes->row, i + 1);
    index_placed_end *placed = changes_find(&changes->keys[i], id);
    if( merge->keys[i].zones ){
      rc = bloom_index_zones_widen(merge->keys[i].zones, id, value);
    }else if( placed==NULL ){
      rc = bloom_index_add_value(merge->index, i, merge->keys[i].weights, merge->layout.num_probes,
                                 value, &merge->keys[i].open);
      /* Mostly it is counted already; a block is open to 'integrity-check' from one row on. */
      if( merge->layout.keys[i].open_rows==0 ) merge->layout.keys[i].open_rows = 1;
      merge->layout.keys[i].open_bits = merge->keys[i].open.bits_set;
    }else if( !placed->is_remade ){
      rc = changes_add_value(changes, i, placed, value);
    }
  }
  sqlite3_reset(changes->row);
  return rc;
}

/* -- Blocks that are made again ---------------------------------------------------------------- */

/* Sets *num_rows to how many rows have ids between the ends of a block.  An application's count()
** says what it likes. */
static int changes_count_rows(bloom_index *index, index_end end, sqlite3_int64 *num_rows){
  const int rc = bloom_sql_integer(index->connection, num_rows, "SELECT count(*) FROM " INDEX_SOURCE
                                   " NOT INDEXED WHERE x.\"%w\" BETWEEN %lld AND %lld",
                                   index->schema, index->source_name, index->columns.id_name,
                                   end.first, end.last);
  if( *num_rows<0 || *num_rows>UINT32_MAX ) *num_rows = end.num_rows;
  return rc;
}

/* 1 for the first column with blocks: the rows of its blocks are counted for all. */
static int changes_counts_rows(const index_merge_state *merge, int key){
  int i = 0;
  while( i<key && merge->keys[i].zones ) i++;
  return i==key;
}

/* How many rows a block has on average, 1 at least.  Damage may have spoilt what it is made of. */
static sqlite3_int64 changes_rows_of_block(const index_merge_state *merge, int key){
  const index_key_layout *layout = &merge->layout.keys[key];
  const uint64_t num_alive = layout->num_blocks>layout->num_dead
    ? layout->num_blocks - layout->num_dead : 0;
  const uint64_t rows_of_block = merge->layout.num_rows / (num_alive + 1);
  return rows_of_block<UINT32_MAX ? (sqlite3_int64)rows_of_block + 1 : UINT32_MAX;
}

static int changes_is_part_finished(const bloom_block *built, uint32_t num_rows,
                                    sqlite3_int64 rows_of_part){
  if( bloom_index_is_block_full(built) ) return num_rows>=INDEX_ROWS_OF_FULL_BLOCK;
  return num_rows>=rows_of_part
      || 12*(uint64_t)built->bits_set>=7*(uint64_t)built->bits_per_block;
}

/* Makes a block again from its rows, behind the others: more than one if it has more rows than
** blocks have.  They are about equal, as rows may go on coming with the lowest ids. */
static int changes_remake_block(index_changes *changes, int key, const index_placed_end *placed){
  index_merge_state *merge = changes->merge;
  bloom_index *index = merge->index;
  index_end end = {.first = placed->end.first, .last = placed->end.first};
  sqlite3_int64 num_rows = 0, rows_of_part;
  uint64_t *num_all = &merge->layout.num_rows;
  sqlite3_stmt *rows = NULL;
  bloom_block built;
  int is_before_large = 0;
  const index_end dead = {.first = INT64_MAX, .last = INT64_MIN};
  int rc = changes_write_end(merge, key, placed->block, dead);
  merge->layout.keys[key].num_dead++;
  if( rc==SQLITE_OK ) rc = bloom_index_merge_mark_dirty(merge);
  if( rc==SQLITE_OK ) rc = changes_count_rows(index, placed->end, &num_rows);
  if( rc==SQLITE_OK && changes_counts_rows(merge, key) ){
    *num_all = (uint64_t)num_rows + (*num_all>placed->end.num_rows ? *num_all - placed->end.num_rows
                                     : 0);
  }
  rows_of_part = num_rows / (num_rows*4/(5*changes_rows_of_block(merge, key)) + 1) + 1;
  bloom_block_clear(&built, changes->bytes, index_block_bits(index, key));
  if( rc==SQLITE_OK ) rc = bloom_index_merge_prepare_rows(index, &rows, "BETWEEN ?1 AND ?2");
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 1, placed->end.first);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 2, placed->end.last);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, rows))==SQLITE_ROW ){
    const sqlite3_int64 id = sqlite3_column_int64(rows, 0);
    sqlite3_value *value = sqlite3_column_value(rows, key + 1);
    rc = SQLITE_OK;
    if( bloom_index_is_block_spoiled(index, key, &built, end.num_rows, is_before_large, value)
     || changes_is_part_finished(&built, end.num_rows, rows_of_part) ){
      end.last = id - 1;
      rc = bloom_index_merge_append(merge, key, &built, end);
      is_before_large = !bloom_index_is_block_full(&built);
      bloom_block_clear(&built, changes->bytes, built.bits_per_block);
      end = (index_end){.first = id};
    }
    if( rc==SQLITE_OK ){
      rc = bloom_index_add_value(index, key, merge->keys[key].weights, merge->layout.num_probes,
                                 value, &built);
    }
    end.num_rows++;
  }
  sqlite3_finalize(rows);
  if( rc!=SQLITE_DONE ) return rc;
  end.last = placed->end.last;
  return bloom_index_merge_append(merge, key, &built, end);
}

static int changes_remake_blocks(index_changes *changes){
  index_merge_state *merge = changes->merge;
  size_t i;
  int key, rc = SQLITE_OK;
  for(key=0; key<merge->index->config.num_keys && rc==SQLITE_OK; key++){
    const index_key_layout *layout = &merge->layout.keys[key];
    for(i=0; i<changes->keys[key].num_ends && rc==SQLITE_OK; i++){
      if( changes->keys[key].ends[i].is_remade ){
        rc = changes_remake_block(changes, key, &changes->keys[key].ends[i]);
      }
    }
    if( rc==SQLITE_OK && merge->keys[key].zones==NULL && layout->open_first<=merge->layout.covered
       && bloom_block_is_finished(&merge->keys[key].open) ){
      rc = bloom_index_merge_finish_block(merge, key, merge->layout.covered);
    }
  }
  return rc;
}

/* -- All changed rows -------------------------------------------------------------------------- */

/* Goes through the ids of changed rows, at most *num_left: counts them for their blocks, or,
** is_adding, adds the rows. */
static int changes_go_through(index_changes *changes, sqlite3_int64 *num_left, int is_adding){
  index_merge_state *merge = changes->merge;
  bloom_index *index = merge->index;
  sqlite3_stmt *ids = NULL;
  int i, rc = bloom_sql_prepare(index->connection, &ids,
                                "SELECT id FROM \"%w\".\"%w_changed\" WHERE id <= %lld ORDER BY id",
                                index->schema, index->name, merge->layout.covered);
  while( rc==SQLITE_OK && *num_left>0
        && (rc = bloom_sql_step(index->connection, ids))==SQLITE_ROW ){
    const sqlite3_int64 id = sqlite3_column_int64(ids, 0);
    rc = SQLITE_OK;
    for(i=0; i<index->config.num_keys && !is_adding; i++){
      index_placed_end *placed = changes_find(&changes->keys[i], id);
      if( placed ) placed->num_changed++;
    }
    if( is_adding ) rc = changes_add_row(changes, id);
    if( !is_adding ) changes->num_changed++;
    else if( id<merge->layout.first ) merge->layout.first = id;
    merge->done_until = id;
    if( *num_left!=INDEX_MERGE_ALL ) --*num_left;
  }
  return bloom_sql_end(ids, rc);
}

int bloom_index_merge_changed(index_merge_state *merge, sqlite3_int64 *num_left,
                              int *wants_rebuild){
  bloom_index *index = merge->index;
  sqlite3_int64 has_changed = 0, num_counted = *num_left;
  const int is_all = *num_left==INDEX_MERGE_ALL;
  index_changes *changes;
  int i, rc;
  merge->done_until = INT64_MIN;
  if( !merge->layout.has_covered ) return SQLITE_OK;
  rc = bloom_sql_integer(index->connection, &has_changed,
                         "SELECT 1 FROM \"%w\".\"%w_changed\" LIMIT 1", index->schema, index->name);
  if( rc!=SQLITE_OK || !has_changed ) return rc;
  changes = sqlite3_malloc64(sizeof(*changes));
  if( changes==NULL ) return SQLITE_NOMEM;
  memset(changes, 0, sizeof(*changes));
  changes->merge = merge;
  changes->bytes = sqlite3_malloc64(INDEX_MAX_BLOCK_BYTES);
  if( changes->bytes==NULL ) rc = SQLITE_NOMEM;
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    rc = bloom_index_ends_read(index, &merge->layout, i, &changes->keys[i].ends,
                               &changes->keys[i].num_ends);
  }
  if( rc==SQLITE_OK ) rc = changes_go_through(changes, &num_counted, 0);
  if( rc==SQLITE_OK ) changes_choose(changes, wants_rebuild);
  if( rc==SQLITE_OK && !(is_all && *wants_rebuild) ){
    *wants_rebuild = 0;
    rc = bloom_index_merge_prepare_rows(index, &changes->row, "= ?1");
    if( rc==SQLITE_OK ) rc = changes_go_through(changes, num_left, 1);
    if( rc==SQLITE_OK ) rc = changes_remake_blocks(changes);
  }
  sqlite3_finalize(changes->row);
  for(i=0; i<index->config.num_keys; i++) sqlite3_free(changes->keys[i].ends);
  sqlite3_free(changes->bytes);
  sqlite3_free(changes);
  return rc;
}

/* -- Rows that are gone ------------------------------------------------------------------------ */

int bloom_index_merge_is_worn(index_merge_state *merge, int *is_worn){
  bloom_index *index = merge->index;
  uint64_t num_blocks = 0;
  sqlite3_int64 num_had = 0, num_have = 0, num_rows = 0;
  uint32_t i, num_samples;
  int key, most_blocks_key = 0, rc = SQLITE_OK;
  for(key=0; key<index->config.num_keys; key++){
    const index_key_layout *layout = &merge->layout.keys[key];
    if( 4*layout->num_dead>layout->num_blocks + 16 ) *is_worn = 1;
    if( layout->num_blocks<=num_blocks ) continue;
    num_blocks = layout->num_blocks;
    most_blocks_key = key;
  }
  num_samples = num_blocks<INDEX_SAMPLE_BLOCKS ? (uint32_t)num_blocks : INDEX_SAMPLE_BLOCKS;
  for(i=0; i<num_samples && rc==SQLITE_OK && !*is_worn; i++){
    /* One of each part of the table, as rows may be gone at one end; the few from all over it. */
    const uint32_t part = num_samples<INDEX_SAMPLE_BLOCKS ? i
      : i/INDEX_FEW_SAMPLES + INDEX_SAMPLE_BLOCKS/INDEX_FEW_SAMPLES * (i%INDEX_FEW_SAMPLES);
    const uint64_t first = num_blocks * part / num_samples;
    const uint64_t until = num_blocks * (part + 1) / num_samples;
    uint64_t block;
    uint8_t *bytes;
    index_end end;
    if( i==INDEX_FEW_SAMPLES && num_samples==INDEX_SAMPLE_BLOCKS && 20*num_have>=19*num_had ) break;
    sqlite3_randomness(sizeof(block), &block);
    rc = bloom_index_merge_end(merge, most_blocks_key, first + block%(until - first), 0, &bytes);
    if( rc!=SQLITE_OK ) break;
    end = bloom_index_end_load(bytes);
    if( end.first>end.last ) continue;
    rc = changes_count_rows(index, end, &num_rows);
    num_had += end.num_rows;
    num_have += num_rows<end.num_rows ? num_rows : end.num_rows;
  }
  *is_worn |= 5*num_have<4*num_had;
  return rc;
}
