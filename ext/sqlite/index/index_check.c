/*
** 'integrity-check': has each block the bits of its rows, those aside that are noted as
** changed?
*/
#include "index_merge.h"
#include "index_source.h"

#include <stdarg.h>
#include <string.h>

/* The check of a column. */
typedef struct index_checker {
  bloom_index *index;
  const index_layout *layout;
  int key;
  sqlite3_stmt *rows; /* ?1 and ?2 are the first and the last id */
  uint8_t *weights;   /* of a LIKE column's pieces, else NULL */
  uint8_t *blocks;    /* has room for a unit */
  bloom_block built;
  char **finding;
} index_checker;

/* Sets *finding by a format of sqlite3_mprintf(). */
static int index_check_say(char **finding, const char *format, ...){
  va_list arguments;
  va_start(arguments, format);
  *finding = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  return *finding ? SQLITE_OK : SQLITE_NOMEM;
}

/* Says that a row is missing; by is what should have it. */
static int index_check_say_missing(const index_checker *checker, sqlite3_int64 id, const char *by){
  const bloom_index *index = checker->index;
  return index_check_say(checker->finding, "bloom_index: %s misses row %lld by %scolumn %s; INSERT"
                         " INTO \"%w\"(\"%w\") VALUES ('rebuild') repairs it", index->name, id, by,
                         bloom_index_key_name(index, checker->key), index->name, index->name);
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
  if( !column->is_like ){
    rc = bloom_query_hashes(index->connection->db, column->equality, value, &hashes);
  }
  for(i=0; i<hashes.num_hashes; i++){
    bloom_signature_bits(hashes.hashes[i], layout->num_probes, index_num_bands(index, key), bits);
    *is_found |= bloom_block_has_bits(bytes, bits, layout->num_probes);
  }
  return rc;
}

/* Compares a block with the rows that have ids first .. last. */
static int index_check_block(index_checker *checker, index_end end, const uint8_t *bytes){
  bloom_index *index = checker->index;
  bloom_block *built = &checker->built;
  const uint32_t block_bytes = index_block_bytes(index, checker->key);
  uint32_t i;
  int is_found = 1, rc = SQLITE_OK;
  sqlite3_bind_int64(checker->rows, 1, end.first);
  sqlite3_bind_int64(checker->rows, 2, end.last);
  while( rc==SQLITE_OK && is_found
        && (rc = bloom_sql_step(index->connection, checker->rows))==SQLITE_ROW ){
    sqlite3_value *value = sqlite3_column_value(checker->rows, checker->key + 1);
    bloom_block_clear(built, built->bytes, index_block_bits(index, checker->key));
    rc = bloom_index_add_value(index, checker->key, checker->weights, checker->layout->num_probes,
                               value, built);
    for(i=0; i<block_bytes && (built->bytes[i] & ~bytes[i])==0; i++){}
    if( rc==SQLITE_OK && i<block_bytes ){
      rc = index_check_look_up(index, checker->layout, checker->key, value, bytes, &is_found);
    }
    if( rc==SQLITE_OK && !is_found ){
      rc = index_check_say_missing(checker, sqlite3_column_int64(checker->rows, 0), "");
    }
  }
  sqlite3_reset(checker->rows);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* Looks for all rows in a column's zones. */
static int index_check_zones(index_checker *checker){
  sqlite3_int64 id = 0;
  int rc;
  sqlite3_bind_int64(checker->rows, 1, INT64_MIN);
  sqlite3_bind_int64(checker->rows, 2, checker->layout->covered);
  rc = bloom_index_zones_check(checker->index, checker->key, checker->rows, &id);
  sqlite3_reset(checker->rows);
  if( rc==SQLITE_NOTFOUND ) return index_check_say_missing(checker, id, "the zones of ");
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* Compares all blocks of a column with their rows. */
static int index_check_blocks(index_checker *checker){
  const index_key_layout *layout = &checker->layout->keys[checker->key];
  const uint64_t in_units = bloom_index_blocks_in_units(checker->index, checker->layout,
                                                        checker->key);
  const uint32_t block_bytes = index_block_bytes(checker->index, checker->key);
  index_placed_end *ends;
  index_reader reader;
  size_t num_ends;
  uint64_t block, first = 0;
  int rc = bloom_index_ends_read(checker->index, checker->layout, checker->key, &ends, &num_ends);
  sqlite3_free(ends);
  bloom_index_reader_start(&reader, checker->index, checker->key, 0);
  for(block=0; block<=layout->num_blocks && rc==SQLITE_OK && *checker->finding==NULL; block++){
    index_end end = {.first = layout->open_first, .last = checker->layout->covered};
    if( block<layout->num_blocks ) rc = bloom_index_reader_end(&reader, block, &end);
    if( rc==SQLITE_OK && block<in_units && block%BLOOM_UNIT_BLOCKS==0 ){
      first = block;
      rc = index_check_read_unit(&reader, checker->layout, block/BLOOM_UNIT_BLOCKS,
                                 checker->blocks);
    }else if( rc==SQLITE_OK && block==in_units ){
      first = block;
      rc = bloom_index_reader_read(&reader, INDEX_ROW_OF_SLOTS, checker->blocks, BLOOM_STRIP_BYTES,
                                   0);
    }
    if( rc==SQLITE_OK && end.first<=end.last
       && (block<layout->num_blocks || layout->open_rows>0) ){
      rc = index_check_block(checker, end, checker->blocks + (block - first)*block_bytes);
    }
  }
  bloom_index_reader_close(&reader);
  return rc;
}

static int index_check_rows(bloom_index *index, const index_layout *layout, char **finding){
  index_checker checker = {.index = index, .layout = layout, .finding = finding};
  char *condition = sqlite3_mprintf("BETWEEN ?1 AND ?2 AND x.\"%w\" NOT IN (SELECT c.id FROM "
                                    "\"%w\".\"%w_changed\" AS c UNION ALL SELECT -1)",
                                    index->columns.id_name, index->schema, index->name);
  int rc = SQLITE_NOMEM;
  checker.built.bytes = sqlite3_malloc64(INDEX_MAX_BLOCK_BYTES);
  checker.blocks = sqlite3_malloc64(BLOOM_UNIT_BLOCKS * (sqlite3_uint64)INDEX_MAX_BLOCK_BYTES);
  if( condition && checker.built.bytes && checker.blocks ){
    rc = bloom_index_merge_prepare_rows(index, &checker.rows, condition);
  }
  for(; checker.key<index->config.num_keys && rc==SQLITE_OK && *finding==NULL; checker.key++){
    rc = bloom_index_weights_read(index, checker.key, &checker.weights);
    if( rc==SQLITE_OK ){
      rc = index->config.keys[checker.key].is_range ? index_check_zones(&checker)
        : index_check_blocks(&checker);
    }
    sqlite3_free(checker.weights);
  }
  sqlite3_finalize(checker.rows);
  sqlite3_free(checker.built.bytes);
  sqlite3_free(checker.blocks);
  sqlite3_free(condition);
  return rc;
}

/* Looks at all but the rows: the source, and how far the blocks reach.  Blocks that are not in use
** cover nothing. */
static int index_check_state(bloom_index *index, bloom_checker checker, index_layout *layout,
                             char **finding){
  index_source source;
  char *doubt = NULL;
  int is_equal = 0, rc = bloom_index_source_check(index, &source, finding);
  if( rc==SQLITE_OK && !source.is_by_trigger_alone ){
    rc = bloom_index_source_why_not_merge(index, &source, &doubt);
  }
  bloom_index_source_free(&source);
  if( checker!=BLOOM_CHECK_COMMAND && (doubt || (*finding && rc==SQLITE_ERROR)) ){
    sqlite3_free(doubt);
    sqlite3_free(*finding);
    *finding = NULL;
    return SQLITE_OK;
  }
  if( doubt ) rc = index_check_say(finding, "bloom_index: %s: %s", index->name, doubt);
  sqlite3_free(doubt);
  if( *finding ) return rc==SQLITE_ERROR ? SQLITE_OK : rc;
  if( rc==SQLITE_OK ) rc = bloom_index_layout_read(index, layout);
  if( rc==SQLITE_OK ) rc = bloom_index_state_compare(index, layout, &is_equal);
  if( rc!=SQLITE_OK || (is_equal && !layout->is_dirty) ) return rc;
  return index_check_say(finding, "bloom_index: %s: a merge did not come to its end, or covered was"
                         " changed; 'merge' repairs it", index->name);
}

int bloom_index_check(bloom_index *index, bloom_checker checker, char **finding){
  index_layout layout = {0};
  int rc;
  *finding = NULL;
  if( index->damage ){
    return index_check_say(finding, "bloom_index: %s %s", index->name, index->damage);
  }
  rc = index_check_state(index, checker, &layout, finding);
  if( rc==SQLITE_OK && *finding==NULL && layout.has_covered
   && checker!=BLOOM_CHECK_QUICK ){
    rc = index_check_rows(index, &layout, finding);
  }
  if( (rc & 0xff)!=SQLITE_CORRUPT ) return rc;
  if( rc!=SQLITE_CORRUPT_VTAB ){
    /* A page of a B-tree: 'rebuild' may not be able to. */
    return bloom_index_failure(index, rc, finding)==SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
  }
  return index_check_say(finding, "bloom_index: %s is damaged: a page of it; 'rebuild' repairs it",
                         index->name);
}
