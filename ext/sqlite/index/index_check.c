/*
** 'integrity-check': has each block the bits of its rows, those aside that are noted as
** changed?
*/
#include <string.h>

#include "../../core/parquet/parquet.h"
#include "index_merge.h"

/* Blocks in memory, those of a group or those that are in none. */
typedef struct index_check_blocks {
  uint8_t *bytes;
  uint64_t first;
  uint32_t num_blocks;
} index_check_blocks;

static int index_check_say(char **finding, char *message){
  *finding = message;
  return message ? SQLITE_OK : SQLITE_NOMEM;
}

/* Makes room for blocks without a bit. */
static int index_check_make_room(index_check_blocks *blocks, uint32_t block_bytes){
  const sqlite3_uint64 num_bytes = (sqlite3_uint64)blocks->num_blocks * block_bytes;
  blocks->bytes = sqlite3_malloc64(num_bytes);
  if( blocks->bytes==NULL ) return SQLITE_NOMEM;
  memset(blocks->bytes, 0, (size_t)num_bytes);
  return SQLITE_OK;
}

/* Reads a group's strips, and turns them back into blocks. */
static int index_check_read_group(index_reader *reader, int tier, uint64_t group, index_check_blocks *blocks){
  const uint32_t bits_per_block = reader->index->config.keys[reader->key].bits_per_block, block_bytes = bits_per_block/8;
  const uint32_t num_strips = bloom_tier_strips(tier, bits_per_block), slice_bytes = bloom_tier_slice_bytes(tier);
  uint8_t strip_bytes[BLOOM_SLICE_STRIP_BYTES];
  uint32_t strip, bit = 0;
  int rc;
  blocks->first = group * INDEX_SLOTS;
  blocks->num_blocks = bloom_tier_blocks(tier);
  rc = index_check_make_room(blocks, block_bytes);
  for(strip=0; strip<num_strips && rc==SQLITE_OK; strip++){
    const uint32_t num_bytes = bloom_strip_bytes(tier, bits_per_block, strip);
    uint32_t at, block;
    rc = index_reader_read(reader, index_row_of_strip(reader->index, reader->key, tier, group, strip), strip_bytes, num_bytes, 0);
    for(at=0; at<num_bytes && rc==SQLITE_OK; at+=slice_bytes, bit++){
      for(block=0; block<blocks->num_blocks; block++){
        if( strip_bytes[at + block/8] >> block%8 & 1 ) blocks->bytes[(size_t)block*block_bytes + bit/8] |= (uint8_t)(1u << bit%8);
      }
    }
  }
  return rc;
}

/* Reads the blocks that are in no group. */
static int index_check_read_slots(index_reader *reader, const index_layout *layout, index_check_blocks *blocks){
  const uint32_t block_bytes = reader->index->config.keys[reader->key].bits_per_block/8;
  const uint64_t num_blocks = layout->keys[reader->key].num_blocks;
  uint32_t slot;
  int rc;
  blocks->first = num_blocks/INDEX_SLOTS*INDEX_SLOTS;
  blocks->num_blocks = (uint32_t)(num_blocks - blocks->first) + 1;
  rc = index_check_make_room(blocks, block_bytes);
  for(slot=0; slot<blocks->num_blocks && rc==SQLITE_OK; slot++){
    rc = index_reader_read(reader, index_row_of_slot(slot), blocks->bytes + (size_t)slot*block_bytes, block_bytes, 0);
  }
  return rc;
}

/* Sets *is_found to whether a look-up of the value finds the block: versions of SQLite read some
** decimals as neighbouring REALs, so that one made by another has other bits. */
static int index_check_look_up(const bloom_index *index, const index_layout *layout, int key, sqlite3_value *value, const uint8_t *bytes, int *is_found){
  const index_key *of_key = &index->config.keys[key];
  uint16_t bits[BLOOM_SIGNATURE_MAX_PROBES];
  bloom_key_hashes hashes = {0};
  int i, rc = SQLITE_OK;
  *is_found = 0;
  if( !of_key->is_like ) rc = bloom_query_hashes(&bloom_encoding_parquet, of_key->equality, value, &hashes);
  for(i=0; i<hashes.num_hashes && !*is_found; i++){
    bloom_signature_bits(hashes.hashes[i], layout->num_probes, of_key->bits_per_block, bits);
    *is_found = bloom_block_has_bits(bytes, bits, layout->num_probes);
  }
  return rc;
}

/* Compares a block with its rows: statement's parameters are the first and last id. */
static int index_check_block(bloom_index *index, const index_layout *layout, const index_weights *weights, int key, sqlite3_stmt *rows, sqlite3_int64 first,
                       sqlite3_int64 last, const uint8_t *bytes, bloom_block *built, char **finding){
  const uint32_t block_bytes = index->config.keys[key].bits_per_block/8;
  uint32_t i;
  int is_found = 0, rc = sqlite3_bind_int64(rows, 1, first);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 2, last);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, rows))==SQLITE_ROW ){
    const sqlite3_int64 id = sqlite3_column_int64(rows, 0);
    bloom_block_clear(built, built->bytes, index->config.keys[key].bits_per_block);
    rc = index_add_value(index, layout, weights, key, sqlite3_column_value(rows, key + 1), built);
    for(i=0; i<block_bytes && (built->bytes[i] & ~bytes[i])==0; i++){}
    if( rc==SQLITE_OK && i<block_bytes ) rc = index_check_look_up(index, layout, key, sqlite3_column_value(rows, key + 1), bytes, &is_found);
    if( rc==SQLITE_OK && i<block_bytes && !is_found ){
      rc = index_check_say(finding, sqlite3_mprintf("bloom_index: %s misses row %lld by column %s; INSERT INTO %s(%s) VALUES ('rebuild') repairs it",
                           index->name, id, index_key_name(index, key), index->name, index->name));
      break;
    }
  }
  sqlite3_reset(rows);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* Compares blocks that are in memory, of which the last one may be open; *first is the first id that
** may be in them, and then in those behind.  SQLITE_DONE: no id is left for these. */
static int index_check_all_blocks(bloom_index *index, const index_layout *layout, const index_weights *weights, index_reader *reader, sqlite3_stmt *rows,
                            const index_check_blocks *blocks, sqlite3_int64 *first, bloom_block *built, char **finding){
  const uint32_t block_bytes = index->config.keys[reader->key].bits_per_block/8;
  index_end end;
  uint32_t i;
  int rc = SQLITE_OK;
  for(i=0; i<blocks->num_blocks && *finding==NULL; i++){
    end.last = layout->covered;
    if( blocks->first + i<layout->keys[reader->key].num_blocks ) rc = index_reader_end(reader, blocks->first + i, &end);
    if( rc==SQLITE_OK && end.last>layout->covered ) rc = SQLITE_CORRUPT_VTAB;
    if( rc==SQLITE_OK ) rc = index_check_block(index, layout, weights, reader->key, rows, *first, end.last, blocks->bytes + (size_t)i*block_bytes, built, finding);
    if( rc!=SQLITE_OK ) break;
    if( end.last==INT64_MAX ) return SQLITE_DONE;
    *first = end.last + 1;
  }
  return rc;
}

static int index_check_key(bloom_index *index, const index_layout *layout, const index_weights *weights, int key, sqlite3_stmt *rows, bloom_block *built, char **finding){
  const uint64_t num_groups = layout->keys[key].num_blocks / INDEX_SLOTS;
  index_reader reader;
  sqlite3_int64 first = INT64_MIN;
  uint64_t group = 0;
  int rc = SQLITE_OK;
  index_reader_start(&reader, index, key);
  while( rc==SQLITE_OK && group<=num_groups && *finding==NULL ){
    index_check_blocks blocks = {NULL, 0, 0};
    if( group<num_groups ){
      const int tier = index_tier_of(group, num_groups);
      rc = index_check_read_group(&reader, tier, group, &blocks);
      group += index_tier_groups(tier);
    }else{
      rc = index_check_read_slots(&reader, layout, &blocks);
      group++;
    }
    if( rc==SQLITE_OK ) rc = index_check_all_blocks(index, layout, weights, &reader, rows, &blocks, &first, built, finding);
    sqlite3_free(blocks.bytes);
  }
  index_reader_close(&reader);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

static int index_check_rows(bloom_index *index, const index_layout *layout, char **finding){
  char *condition = sqlite3_mprintf("BETWEEN ?1 AND ?2 AND x.\"%w\" NOT IN (SELECT c.id FROM \"%w\".\"%w_changed\" AS c UNION ALL SELECT -1)",
                                    index->columns.id_name, index->schema, index->name);
  uint8_t *bytes = sqlite3_malloc64(BLOOM_SIGNATURE_MAX_BITS / 8);
  bloom_block built = {bytes, BLOOM_SIGNATURE_MIN_BITS, 0};
  sqlite3_stmt *rows = NULL;
  index_weights weights;
  int i, rc = index_weights_read(index, &weights);
  if( rc==SQLITE_OK ) rc = condition && bytes ? index_merge_prepare_rows(index, &rows, condition) : SQLITE_NOMEM;
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK && *finding==NULL; i++) rc = index_check_key(index, layout, &weights, i, rows, &built, finding);
  sqlite3_finalize(rows);
  index_weights_free(&weights);
  sqlite3_free(bytes);
  sqlite3_free(condition);
  return rc;
}

int index_check(bloom_index *index, int is_quick, char **finding){
  index_layout layout;
  index_source source;
  char *error = NULL;
  char *doubt = NULL;
  int is_equal = 0, rc;
  *finding = NULL;
  if( index->damage ) return index_check_say(finding, sqlite3_mprintf("bloom_index: %s %s", index->name, index->damage));
  rc = index_source_check(index, &source, &error);
  if( rc==SQLITE_ERROR && error ){
    *finding = error;
    error = NULL;
    rc = SQLITE_OK;
  }else if( rc==SQLITE_OK && source.doubt && !source.may_be_well ){
    rc = index_check_say(finding, sqlite3_mprintf("bloom_index: %s: %s", index->name, source.doubt));
  }
  if( rc==SQLITE_OK && *finding==NULL && source.doubt==NULL ){
    rc = index_source_why_not_merge(index, &source, &doubt);
    if( doubt ) rc = index_check_say(finding, sqlite3_mprintf("bloom_index: %s: %s", index->name, doubt));
  }
  sqlite3_free(doubt);
  index_source_free(&source);
  sqlite3_free(error);
  if( rc==SQLITE_OK && *finding==NULL ) rc = index_layout_read(index, &layout);
  if( rc==SQLITE_OK && *finding==NULL ) rc = index_state_compare(index, &layout, &is_equal);
  if( rc==SQLITE_OK && *finding==NULL && (!is_equal || layout.is_dirty) ){
    rc = index_check_say(finding, sqlite3_mprintf("bloom_index: %s: a merge did not come to its end, or covered was changed; 'merge' repairs it", index->name));
  }
  if( rc==SQLITE_OK && *finding==NULL && layout.has_covered && !is_quick ) rc = index_check_rows(index, &layout, finding);
  if( (rc & 0xff)==SQLITE_CORRUPT ){
    rc = index_check_say(finding, sqlite3_mprintf("bloom_index: %s is damaged: a page of it; 'rebuild' repairs it", index->name));
  }
  return rc;
}
