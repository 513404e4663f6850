/*
** 'integrity-check': has each block the bits of its rows, those aside that are noted as
** changed?
*/
#include "index_blocks.h"
#include "index_commands.h"
#include "index_layout.h"
#include "index_like.h"
#include "index_merge.h"
#include "index_source.h"
#include "index_zones.h"

#include <string.h>


static int index_check_say(char **finding, char *message){
  *finding = message;
  return message ? SQLITE_OK : SQLITE_NOMEM;
}

/* Reads the 64 blocks of a unit, turned back. */
static int index_check_read_unit(index_reader *reader, const index_layout *layout, uint64_t unit,
                                 uint8_t *blocks){
  const index_key_layout *key_layout = &layout->keys[reader->key];
  const uint32_t block_bytes = index_block_bytes(reader->index, reader->key);
  const uint32_t num_bits = index_block_bits(reader->index, reader->key);
  uint32_t bit, block;
  int rc = SQLITE_OK;
  memset(blocks, 0, (size_t)BLOOM_UNIT_BLOCKS*block_bytes);
  for(bit=0; bit<num_bits && rc==SQLITE_OK; bit++){
    const index_group group = bloom_index_group_at(key_layout, unit,
                                                   bit/BLOOM_BAND_BITS<key_layout->join_bands);
    const bloom_slice_place place = bloom_slice_find(group.num_units, bit,
                                                     8*(uint32_t)(unit - group.unit));
    uint8_t slice[8];
    rc = bloom_index_reader_read(reader, bloom_index_row_of_strip(reader->index, reader->key,
        group.unit + place.strip, place.band), slice, 8, place.offset);
    for(block=0; block<BLOOM_UNIT_BLOCKS && rc==SQLITE_OK; block++){
      if( slice[block/8] >> block%8 & 1 ){
        blocks[(size_t)block*block_bytes + bit/8] |= (uint8_t)(1u << bit%8);
      }
    }
  }
  return rc;
}

/* Sets *is_found to whether a look-up of the value finds the block: versions of SQLite read some
** decimals as neighbouring REALs, so that one made by another has other bits. */
static int index_check_look_up(const bloom_index *index, const index_layout *layout, int key,
                               sqlite3_value *value, const uint8_t *bytes, int *is_found){
  const index_key *column = &index->config.keys[key];
  uint16_t bits[BLOOM_SIGNATURE_MAX_PROBES];
  bloom_key_hashes hashes = {0};
  int i, rc = SQLITE_OK;
  *is_found = 0;
  if( !column->is_like ) rc = bloom_query_hashes(column->equality, value, &hashes);
  for(i=0; i<hashes.num_hashes && !*is_found; i++){
    bloom_signature_bits(hashes.hashes[i], layout->num_probes, index_num_bands(index, key), bits);
    *is_found = bloom_block_has_bits(bytes, bits, layout->num_probes);
  }
  return rc;
}

/* Compares a block with its rows: statement's parameters are the first and last id. */
static int index_check_block(bloom_index *index, const index_layout *layout,
                             const index_weights *weights, int key, sqlite3_stmt *rows,
                             sqlite3_int64 first, sqlite3_int64 last, const uint8_t *bytes,
                             bloom_block *built, char **finding){
  const uint32_t block_bytes = index_block_bytes(index, key);
  uint32_t i;
  int is_found = 0, rc = sqlite3_bind_int64(rows, 1, first);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 2, last);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, rows))==SQLITE_ROW ){
    const sqlite3_int64 id = sqlite3_column_int64(rows, 0);
    bloom_block_clear(built, built->bytes, index_block_bits(index, key));
    rc = bloom_index_add_value(index, layout, weights, key, sqlite3_column_value(rows, key + 1),
                               built);
    for(i=0; i<block_bytes && (built->bytes[i] & ~bytes[i])==0; i++){}
    if( rc==SQLITE_OK && i<block_bytes ){
      rc = index_check_look_up(index, layout, key, sqlite3_column_value(rows, key + 1), bytes,
                               &is_found);
    }
    if( rc==SQLITE_OK && i<block_bytes && !is_found ){
      rc = index_check_say(finding, sqlite3_mprintf("bloom_index: %s misses row %lld by column %s;"
                                                    " INSERT INTO %s(%s) VALUES ('rebuild') repairs"
                                                    " it", index->name, id,
                                                    bloom_index_key_name(index, key), index->name,
                                                    index->name));
      break;
    }
  }
  sqlite3_reset(rows);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* Looks for all rows in a column's zones. */
static int index_check_zones(bloom_index *index, const index_layout *layout, int key,
                             sqlite3_stmt *rows, char **finding){
  sqlite3_int64 id = 0;
  int rc = sqlite3_bind_int64(rows, 1, INT64_MIN);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 2, layout->covered);
  if( rc==SQLITE_OK ) rc = bloom_index_zones_check(index, key, rows, &id);
  sqlite3_reset(rows);
  if( rc!=SQLITE_NOTFOUND ) return rc==SQLITE_DONE ? SQLITE_OK : rc;
  return index_check_say(finding, sqlite3_mprintf("bloom_index: %s misses row %lld by the zones of"
                                                  " column %s; INSERT INTO %s(%s) VALUES"
                                                  " ('rebuild') repairs it", index->name, id,
                                                  bloom_index_key_name(index, key), index->name,
                                                  index->name));
}

/* Compares all blocks of a column with their rows; blocks has room for a unit. */
static int index_check_key(bloom_index *index, const index_layout *layout,
                           const index_weights *weights, int key, sqlite3_stmt *rows,
                           uint8_t *blocks, bloom_block *built, char **finding){
  const uint64_t num_blocks = layout->keys[key].num_blocks;
  const uint64_t in_units = bloom_index_blocks_in_units(index, layout, key);
  const uint32_t block_bytes = index_block_bytes(index, key);
  index_placed_end *ends;
  index_reader reader;
  size_t num_ends;
  uint64_t block, first = 0;
  int rc;
  if( index->config.keys[key].is_range ){
    return index_check_zones(index, layout, key, rows, finding);
  }
  rc = bloom_index_ends_read(index, layout, key, &ends, &num_ends);
  sqlite3_free(ends);
  bloom_index_reader_start(&reader, index, key, 0);
  for(block=0; block<=num_blocks && rc==SQLITE_OK && *finding==NULL; block++){
    index_end end = {.first = layout->keys[key].open_first, .last = layout->covered};
    if( block<num_blocks ) rc = bloom_index_reader_end(&reader, block, &end);
    if( rc==SQLITE_OK && block<in_units && block%BLOOM_UNIT_BLOCKS==0 ){
      first = block;
      rc = index_check_read_unit(&reader, layout, block/BLOOM_UNIT_BLOCKS, blocks);
    }else if( rc==SQLITE_OK && block==in_units ){
      first = block;
      rc = bloom_index_reader_read(&reader, INDEX_ROW_OF_SLOTS, blocks, BLOOM_STRIP_BYTES, 0);
    }
    if( rc==SQLITE_OK && end.first<=end.last
       && (block<num_blocks || layout->keys[key].open_rows>0) ){
      rc = index_check_block(index, layout, weights, key, rows, end.first, end.last,
                             blocks + (block - first)*block_bytes, built, finding);
    }
  }
  bloom_index_reader_close(&reader);
  return rc;
}

static int index_check_rows(bloom_index *index, const index_layout *layout, char **finding){
  char *condition = sqlite3_mprintf("BETWEEN ?1 AND ?2 AND x.\"%w\" NOT IN (SELECT c.id FROM "
                                    "\"%w\".\"%w_changed\" AS c UNION ALL SELECT -1)",
                                    index->columns.id_name, index->schema, index->name);
  uint8_t *bytes = sqlite3_malloc64((BLOOM_UNIT_BLOCKS + 1)
                                     * (sqlite3_uint64)INDEX_MAX_BLOCK_BYTES);
  bloom_block built = {bytes, 0, 0};
  sqlite3_stmt *rows = NULL;
  index_weights weights;
  int i, rc = bloom_index_weights_read(index, &weights);
  if( rc==SQLITE_OK ){
    rc = condition && bytes ? bloom_index_merge_prepare_rows(index, &rows, condition)
      : SQLITE_NOMEM;
  }
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK && *finding==NULL; i++){
    rc = index_check_key(index, layout, &weights, i, rows, bytes + INDEX_MAX_BLOCK_BYTES, &built,
                         finding);
  }
  sqlite3_finalize(rows);
  bloom_index_weights_free(&weights);
  sqlite3_free(bytes);
  sqlite3_free(condition);
  return rc;
}

int bloom_index_check(bloom_index *index, int is_quick, char **finding){
  index_layout layout;
  index_source source;
  char *error = NULL;
  char *doubt = NULL;
  int is_equal = 0, rc;
  *finding = NULL;
  if( index->damage ){
    return index_check_say(finding, sqlite3_mprintf("bloom_index: %s %s", index->name,
                                                    index->damage));
  }
  rc = bloom_index_source_check(index, &source, &error);
  if( rc==SQLITE_ERROR && error ){
    *finding = error;
    error = NULL;
    rc = SQLITE_OK;
  }else if( rc==SQLITE_OK && source.doubt && !source.is_by_trigger_alone ){
    rc = index_check_say(finding, sqlite3_mprintf("bloom_index: %s: %s", index->name,
                                                  source.doubt));
  }
  if( rc==SQLITE_OK && *finding==NULL && source.doubt==NULL ){
    rc = bloom_index_source_why_not_merge(index, &source, &doubt);
    if( doubt ){
      rc = index_check_say(finding, sqlite3_mprintf("bloom_index: %s: %s", index->name, doubt));
    }
  }
  sqlite3_free(doubt);
  bloom_index_source_free(&source);
  sqlite3_free(error);
  if( rc==SQLITE_OK && *finding==NULL ) rc = bloom_index_layout_read(index, &layout);
  if( rc==SQLITE_OK && *finding==NULL ) rc = bloom_index_state_compare(index, &layout, &is_equal);
  if( rc==SQLITE_OK && *finding==NULL && (!is_equal || layout.is_dirty) ){
    rc = index_check_say(finding,
                         sqlite3_mprintf("bloom_index: %s: a merge did not come to its end, or "
                                         "covered was changed; 'merge' repairs it", index->name));
  }
  if( rc==SQLITE_OK && *finding==NULL && layout.has_covered
     && !is_quick ) rc = index_check_rows(index, &layout, finding);
  if( (rc & 0xff)==SQLITE_CORRUPT ){
    rc = index_check_say(finding,
                         sqlite3_mprintf("bloom_index: %s is damaged: a page of it; 'rebuild' "
                                         "repairs it", index->name));
  }
  return rc;
}
