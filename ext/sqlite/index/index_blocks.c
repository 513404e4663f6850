/*
** Where blocks are, and reading them.
**
**   NAME_blocks_N(data), N = 1 for the first column:
**
**     rows 1 .. 64     whole blocks that are in no group yet, and the open one
**     row 65           the weights of a LIKE column's pieces, else empty
**     then, for each 4,032 blocks, as many as the last tier's groups have:
**       16 rows        the ends of 252 blocks each, 16 bytes a block; empty before the first
**       63 * S rows    the strips of each group of tier 0 (core/signature/slices.h)
**
** A group of tier 1 lies in the rows of the 7 groups that it is made of, one of tier 2 in
** those of 9: strip s in the rows of group s % 7, or s % 9, at strip s / 7, or s / 9.  So
** joining groups reads and writes the same rows, and no row is ever free.  A row of ends has
** 4,032 bytes, as a strip has: smaller rows between them would have a page each.
*/
#include "index_int.h"

#include <string.h>

#include "../../core/bytes.h"

#define BLOCKS_OF_LAST_TIER (INDEX_ENDS_BLOCKS * INDEX_ENDS_ROWS)
#define GROUPS_OF_LAST_TIER (BLOCKS_OF_LAST_TIER / INDEX_SLOTS)

sqlite3_int64 index_first_row_of_ends(const bloom_index *index, int key, uint64_t block){
  const uint64_t num_rows = INDEX_ENDS_ROWS + GROUPS_OF_LAST_TIER * bloom_tier_strips(0, index->config.keys[key].bits_per_block);
  return INDEX_ROW_OF_WEIGHTS + 1 + (sqlite3_int64)(block / BLOCKS_OF_LAST_TIER * num_rows);
}

sqlite3_int64 index_row_of_ends(const bloom_index *index, int key, uint64_t block){
  return index_first_row_of_ends(index, key, block) + (sqlite3_int64)(block % BLOCKS_OF_LAST_TIER / INDEX_ENDS_BLOCKS);
}

sqlite3_int64 index_row_of_strip(const bloom_index *index, int key, int tier, uint64_t group, uint32_t strip){
  for(; tier>0; tier--){
    const uint32_t num_joined = bloom_tier_joined(tier - 1);
    group += (uint64_t)(strip % num_joined) * index_tier_groups(tier - 1);
    strip /= num_joined;
  }
  return index_first_row_of_ends(index, key, group*INDEX_SLOTS) + INDEX_ENDS_ROWS + strip
       + (sqlite3_int64)(group % GROUPS_OF_LAST_TIER * bloom_tier_strips(0, index->config.keys[key].bits_per_block));
}

uint32_t index_tier_groups(int tier){
  return bloom_tier_blocks(tier) / INDEX_SLOTS;
}

int index_tier_of(uint64_t group, uint64_t num_groups){
  int tier = BLOOM_SLICE_TIERS - 1;
  while( tier>0 && (group % index_tier_groups(tier) || num_groups - group<index_tier_groups(tier)) ) tier--;
  return tier;
}

index_end index_end_load(const uint8_t *bytes){
  return (index_end){
    .last = (sqlite3_int64)bloom_load64_le(bytes),
    .num_rows = bloom_load32_le(bytes + 8),
    .bits_set = bloom_load32_le(bytes + 12)
  };
}

void index_end_store(uint8_t *bytes, index_end end){
  bloom_store64_le(bytes, (uint64_t)end.last);
  bloom_store32_le(bytes + 8, end.num_rows);
  bloom_store32_le(bytes + 12, end.bits_set);
}

/* -- Reading -------------------------------------------------------------------------- */

void index_reader_start(index_reader *reader, const bloom_index *index, int key){
  reader->index = index;
  reader->key = key;
  reader->blob = NULL;
  reader->row = 0;
  reader->ends_of = 0;
}

void index_reader_close(index_reader *reader){
  sqlite3_blob_close(reader->blob);
  reader->blob = NULL;
}

static int index_blocks_open(const bloom_index *index, int key, sqlite3_int64 row, int is_writable, sqlite3_blob **blob){
  char *table = sqlite3_mprintf("%s_blocks_%d", index->name, key + 1);
  int rc = SQLITE_NOMEM;
  if( table ) rc = sqlite3_blob_open(index->connection->db, index->schema, table, "data", row, is_writable, blob);
  sqlite3_free(table);
  /* No such table or row, or no BLOB in it. */
  return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
}

int index_reader_read(index_reader *reader, sqlite3_int64 row, void *bytes, uint32_t num_bytes, uint32_t offset){
  int rc = SQLITE_OK;
  if( reader->blob==NULL ){
    rc = index_blocks_open(reader->index, reader->key, row, 0, &reader->blob);
  }else if( reader->row!=row ){
    rc = sqlite3_blob_reopen(reader->blob, row);
    if( rc==SQLITE_ERROR ) rc = SQLITE_CORRUPT_VTAB;
  }
  if( rc!=SQLITE_OK ) return rc;
  reader->row = row;
  if( (int64_t)sqlite3_blob_bytes(reader->blob)<(int64_t)offset + num_bytes ) return SQLITE_CORRUPT_VTAB;
  return sqlite3_blob_read(reader->blob, bytes, (int)num_bytes, (int)offset);
}

int index_reader_end(index_reader *reader, uint64_t block, index_end *end){
  const sqlite3_int64 row = index_row_of_ends(reader->index, reader->key, block);
  if( reader->ends_of!=row ){
    int rc;
    reader->ends_of = 0;
    rc = index_reader_read(reader, row, reader->ends, sizeof(reader->ends), 0);
    if( rc!=SQLITE_OK ) return rc;
    reader->ends_of = row;
  }
  *end = index_end_load(reader->ends + block%INDEX_ENDS_BLOCKS*INDEX_END_BYTES);
  return SQLITE_OK;
}

/* -- Writing -------------------------------------------------------------------------- */

int index_blocks_write(const bloom_index *index, int key, sqlite3_int64 row, const void *bytes, uint32_t num_bytes){
  sqlite3_blob *blob = NULL;
  int rc = index_blocks_open(index, key, row, 1, &blob);
  if( rc==SQLITE_OK && sqlite3_blob_bytes(blob)!=(int)num_bytes ) rc = SQLITE_CORRUPT_VTAB;
  if( rc==SQLITE_OK ) rc = sqlite3_blob_write(blob, bytes, (int)num_bytes, 0);
  sqlite3_blob_close(blob);
  return rc;
}

int index_blocks_prepare_insert(bloom_index *index, int key, sqlite3_stmt **statement){
  return bloom_sql_prepare(index->connection, statement, "INSERT INTO \"%w\".\"%w_blocks_%d\"(rowid, data) VALUES (?1, ?2)",
                           index->schema, index->name, key + 1);
}

int index_blocks_prepare_update(bloom_index *index, int key, sqlite3_stmt **statement){
  return bloom_sql_prepare(index->connection, statement, "UPDATE \"%w\".\"%w_blocks_%d\" SET data = ?2 WHERE rowid = ?1",
                           index->schema, index->name, key + 1);
}
