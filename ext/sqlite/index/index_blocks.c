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
**
** A row's bytes are cut into parts of 1,008, the last one with what is left, so that no slice is
** in two.  Behind each part are 6 bytes of checksum, of the part, its place, and the layout's
** number: mix(XXH64(part) ^ mix(number + row<<16 + column<<8 + part number)).  Of a row that a
** query needs 8 bytes of it reads and checks one part.
*/
#include "index_int.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/xxh64.h"

#define BLOCKS_OF_LAST_TIER ((uint64_t)INDEX_ENDS_BLOCKS * INDEX_ENDS_ROWS)
#define GROUPS_OF_LAST_TIER (BLOCKS_OF_LAST_TIER / INDEX_SLOTS)

#define PART_BYTES     1008
#define CHECKSUM_BYTES 6
#define STORED_BYTES   (PART_BYTES + CHECKSUM_BYTES)
#define MAX_PART_BYTES (2*PART_BYTES - 1)

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

/* -- Parts of a row, and their checksums ------------------------------------------------- */

static uint32_t parts_of(uint32_t num_bytes){
  return num_bytes==0 ? 0 : num_bytes<PART_BYTES ? 1 : num_bytes/PART_BYTES;
}

uint32_t index_stored_bytes(uint32_t num_bytes){
  return num_bytes + parts_of(num_bytes)*CHECKSUM_BYTES;
}

/* The parts in a row that is stored in so many bytes; where one begins, and its bytes. */
static uint32_t parts_of_stored(uint32_t stored_bytes){
  return stored_bytes<=CHECKSUM_BYTES ? 0 : stored_bytes<STORED_BYTES ? 1 : stored_bytes/STORED_BYTES;
}

static uint32_t part_bytes(uint32_t stored_bytes, uint32_t num_parts, uint32_t part){
  return (part+1<num_parts ? STORED_BYTES : stored_bytes - part*STORED_BYTES) - CHECKSUM_BYTES;
}

static uint64_t part_checksum(const bloom_index *index, int key, sqlite3_int64 row, uint32_t part, const uint8_t *bytes, uint32_t num_bytes){
  const uint64_t place = index->number + ((uint64_t)row << 16) + ((uint64_t)key << 8) + part;
  return bloom_signature_mix(bloom_xxh64(bytes, num_bytes) ^ bloom_signature_mix(place)) & 0xffffffffffffu;
}

static uint64_t load_checksum(const uint8_t *bytes){
  return bloom_load32_le(bytes) | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40;
}

static void store_checksum(uint8_t *bytes, uint64_t checksum){
  bloom_store32_le(bytes, (uint32_t)checksum);
  bytes[4] = (uint8_t)(checksum >> 32);
  bytes[5] = (uint8_t)(checksum >> 40);
}

void index_row_store(const bloom_index *index, int key, sqlite3_int64 row, const uint8_t *bytes, uint32_t num_bytes, uint8_t *out){
  const uint32_t num_parts = parts_of(num_bytes), stored_bytes = index_stored_bytes(num_bytes);
  uint32_t part;
  for(part=0; part<num_parts; part++, bytes+=PART_BYTES, out+=STORED_BYTES){
    const uint32_t of_part = part_bytes(stored_bytes, num_parts, part);
    memcpy(out, bytes, of_part);
    store_checksum(out + of_part, part_checksum(index, key, row, part, bytes, of_part));
  }
}

int index_part_read(const bloom_index *index, int key, sqlite3_blob *blob, sqlite3_int64 row, uint32_t offset, index_part *part){
  const uint32_t stored_bytes = (uint32_t)sqlite3_blob_bytes(blob), num_parts = parts_of_stored(stored_bytes);
  uint32_t number = offset / PART_BYTES;
  int rc;
  if( num_parts==0 ) return SQLITE_CORRUPT_VTAB;
  if( number>=num_parts ) number = num_parts - 1;
  part->number = number;
  part->first = number*PART_BYTES;
  part->num_bytes = part_bytes(stored_bytes, num_parts, number);
  if( part->num_bytes>MAX_PART_BYTES || offset - part->first>=part->num_bytes ) return SQLITE_CORRUPT_VTAB;
  rc = sqlite3_blob_read(blob, part->bytes, (int)part->num_bytes + CHECKSUM_BYTES, (int)(number*STORED_BYTES));
  if( rc!=SQLITE_OK ) return rc;
  if( load_checksum(part->bytes + part->num_bytes)!=part_checksum(index, key, row, number, part->bytes, part->num_bytes) ) return SQLITE_CORRUPT_VTAB;
  return SQLITE_OK;
}

int index_part_write(const bloom_index *index, int key, sqlite3_blob *blob, sqlite3_int64 row, index_part *part){
  store_checksum(part->bytes + part->num_bytes, part_checksum(index, key, row, part->number, part->bytes, part->num_bytes));
  return sqlite3_blob_write(blob, part->bytes, (int)part->num_bytes + CHECKSUM_BYTES, (int)(part->number*STORED_BYTES));
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

int index_blocks_move(const bloom_index *index, int key, sqlite3_int64 row, int is_writable, sqlite3_blob **blob){
  char *table;
  int rc = SQLITE_NOMEM;
  if( *blob ){
    rc = sqlite3_blob_reopen(*blob, row);
    return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
  }
  table = sqlite3_mprintf("%s_blocks_%d", index->name, key + 1);
  if( table ) rc = sqlite3_blob_open(index->connection->db, index->schema, table, "data", row, is_writable, blob);
  sqlite3_free(table);
  /* No such table or row, or no BLOB in it. */
  return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
}

int index_reader_read(index_reader *reader, sqlite3_int64 row, void *bytes, uint32_t num_bytes, uint32_t offset){
  uint8_t *out = bytes;
  int rc = SQLITE_OK;
  if( reader->blob==NULL || reader->row!=row ) rc = index_blocks_move(reader->index, reader->key, row, 0, &reader->blob);
  if( rc==SQLITE_OK ) reader->row = row;
  while( rc==SQLITE_OK && num_bytes>0 ){
    index_part part;
    uint32_t of_part;
    rc = index_part_read(reader->index, reader->key, reader->blob, row, offset, &part);
    if( rc!=SQLITE_OK ) return rc;
    of_part = part.first + part.num_bytes - offset;
    if( of_part>num_bytes ) of_part = num_bytes;
    memcpy(out, part.bytes + (offset - part.first), of_part);
    out += of_part;
    offset += of_part;
    num_bytes -= of_part;
  }
  return rc;
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
  const int stored_bytes = (int)index_stored_bytes(num_bytes);
  uint8_t stored[INDEX_MAX_STORED_BYTES];
  sqlite3_blob *blob = NULL;
  int rc = index_blocks_move(index, key, row, 1, &blob);
  if( rc==SQLITE_OK && sqlite3_blob_bytes(blob)!=stored_bytes ) rc = SQLITE_CORRUPT_VTAB;
  index_row_store(index, key, row, bytes, num_bytes, stored);
  if( rc==SQLITE_OK ) rc = sqlite3_blob_write(blob, stored, stored_bytes, 0);
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
