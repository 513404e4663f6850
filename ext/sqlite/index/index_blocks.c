/*
** Where blocks are, and reading them.
**
**   NAME_blocks_N(data), N = 1 for the first column:
**
**     row 1          the blocks that are in no unit yet, each in its slot, the open one too
**     row 2          the weights of a LIKE column's pieces, else empty
**     then chapters, of 21 units, which are 1,344 blocks:
**       8 rows       the ends of 168 blocks each, 24 bytes a block; empty before the first
**       21 * B rows  the B strips of each unit, one for each band (core/signature/slices.h)
**
** Strip s of a band of a group lies where that band of the group's unit number s does.  So
** joining groups reads and writes the same rows, and no row is ever free.  A row has 4,032
** bytes, as smaller ones between them would have a page each.
**
** A row's bytes are cut into parts of 1,008.  Behind each part are 6 bytes of checksum, of the
** part, its place, and the layout's number: mix(XXH64(part) ^ mix(number + row<<16 + column<<8 +
** part number)).  Of a row that a query needs 8 bytes of it reads and checks one part.
*/
#include "index_blocks.h"

#include "../../core/debug.h"
#include <stdlib.h>
#include <string.h>

#include "../../core/bytes.h"
#include "../../core/xxh64.h"

#define CHAPTER_UNITS 21
#define CHAPTER_ROW   3

#define CHECKSUM_BYTES 6
#define STORED_BYTES   (INDEX_PART_BYTES + CHECKSUM_BYTES)

static sqlite3_int64 chapter_row(const bloom_index *index, int key, uint64_t chapter){
  const uint64_t rows_of_chapter = INDEX_CHAPTER_ENDS + CHAPTER_UNITS * index_num_bands(index, key);
  return CHAPTER_ROW + (sqlite3_int64)(chapter * rows_of_chapter);
}

sqlite3_int64 bloom_index_row_of_ends(const bloom_index *index, int key, uint64_t block){
  const uint64_t number = block / INDEX_ENDS_BLOCKS;
  assert( key>=0 && key<index->config.num_keys && !index->config.keys[key].is_range );
  return chapter_row(index, key,
                     number / INDEX_CHAPTER_ENDS) + (sqlite3_int64)(number % INDEX_CHAPTER_ENDS);
}

sqlite3_int64 bloom_index_row_of_strip(const bloom_index *index, int key, uint64_t unit,
                                       uint32_t band){
  return chapter_row(index, key, unit / CHAPTER_UNITS) + INDEX_CHAPTER_ENDS
       + (sqlite3_int64)(unit % CHAPTER_UNITS * index_num_bands(index, key) + band);
}

index_end bloom_index_end_load(const uint8_t *bytes){
  return (index_end){
    .first = (sqlite3_int64)bloom_load64_le(bytes),
    .last = (sqlite3_int64)bloom_load64_le(bytes + 8),
    .num_rows = bloom_load32_le(bytes + 16),
    .bits_set = bloom_load32_le(bytes + 20)
  };
}

void bloom_index_end_store(uint8_t *bytes, index_end end){
  static_assert(INDEX_END_BYTES*INDEX_ENDS_BLOCKS==BLOOM_STRIP_BYTES, "ends fill a row");
  static_assert(BLOOM_STRIP_BYTES%INDEX_PART_BYTES==0, "parts fill a row");
  static_assert(INDEX_CHAPTER_ENDS*INDEX_ENDS_BLOCKS==CHAPTER_UNITS*BLOOM_UNIT_BLOCKS,
                "a chapter has all ends of its blocks");
  bloom_store64_le(bytes, (uint64_t)end.first);
  bloom_store64_le(bytes + 8, (uint64_t)end.last);
  bloom_store32_le(bytes + 16, end.num_rows);
  bloom_store32_le(bytes + 20, end.bits_set);
}

/* -- Parts of a row, and their checksums ------------------------------------------------- */

static uint64_t part_checksum(const bloom_index *index, int key, sqlite3_int64 row, uint32_t part,
                              const uint8_t *bytes){
  const uint64_t place = index->number + ((uint64_t)row << 16) + ((uint64_t)key << 8) + part;
  const uint64_t hash = bloom_xxh64(bytes, INDEX_PART_BYTES) ^ bloom_signature_mix(place);
  return bloom_signature_mix(hash) & 0xffffffffffffu;
}

static uint64_t load_checksum(const uint8_t *bytes){
  return bloom_load32_le(bytes) | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40;
}

static void store_checksum(uint8_t *bytes, uint64_t checksum){
  bloom_store32_le(bytes, (uint32_t)checksum);
  bytes[4] = (uint8_t)(checksum >> 32);
  bytes[5] = (uint8_t)(checksum >> 40);
}

/* Writes a row's bytes as they are stored, with checksums: STORED_BYTES for each part. */
static void row_store(const bloom_index *index, int key, sqlite3_int64 row, const uint8_t *bytes,
                      uint32_t num_bytes, uint8_t *out){
  uint32_t part;
  for(part=0; part<num_bytes/INDEX_PART_BYTES; part++, bytes+=INDEX_PART_BYTES, out+=STORED_BYTES){
    memcpy(out, bytes, INDEX_PART_BYTES);
    store_checksum(out + INDEX_PART_BYTES, part_checksum(index, key, row, part, bytes));
  }
}

/* -- Reading -------------------------------------------------------------------------- */

void bloom_index_reader_start(index_reader *reader, const bloom_index *index, int key,
                              int is_writable){
  reader->index = index;
  reader->key = key;
  reader->is_writable = is_writable;
  reader->blob = NULL;
  reader->row = 0;
  reader->ends_of = 0;
}

void bloom_index_reader_close(index_reader *reader){
  sqlite3_blob_close(reader->blob);
  reader->blob = NULL;
}

/* Goes to a row.  SQLITE_CORRUPT_VTAB where there is no such table or row, or no BLOB in it. */
static int reader_move(index_reader *reader, sqlite3_int64 row){
  int rc = SQLITE_NOMEM;
  if( reader->blob && reader->row==row ) return SQLITE_OK;
  if( reader->blob ){
    rc = sqlite3_blob_reopen(reader->blob, row);
  }else{
    const bloom_index *index = reader->index;
    char *table = sqlite3_mprintf("%s_blocks_%d", index->name, reader->key + 1);
    if( table ) rc = sqlite3_blob_open(index->connection->db, index->schema, table, "data", row,
                                       reader->is_writable, &reader->blob);
    sqlite3_free(table);
  }
  reader->row = rc==SQLITE_OK ? row : 0;
  return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
}

int bloom_index_part_read(index_reader *reader, sqlite3_int64 row, uint32_t offset,
                          index_part *part){
  int rc = reader_move(reader, row);
  if( rc!=SQLITE_OK ) return rc;
  part->number = offset / INDEX_PART_BYTES;
  part->first = part->number * INDEX_PART_BYTES;
  if( (uint32_t)sqlite3_blob_bytes(reader->blob)<(part->number + 1)*STORED_BYTES ){
    return SQLITE_CORRUPT_VTAB;
  }
  rc = sqlite3_blob_read(reader->blob, part->bytes, STORED_BYTES, (int)(part->number*STORED_BYTES));
  if( rc!=SQLITE_OK ) return rc;
  return load_checksum(part->bytes + INDEX_PART_BYTES)==part_checksum(reader->index, reader->key,
      row, part->number, part->bytes)
    ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
}

int bloom_index_reader_read(index_reader *reader, sqlite3_int64 row, void *bytes,
                            uint32_t num_bytes, uint32_t offset){
  uint8_t *out = bytes;
  while( num_bytes>0 ){
    index_part part;
    uint32_t of_part;
    const int rc = bloom_index_part_read(reader, row, offset, &part);
    if( rc!=SQLITE_OK ) return rc;
    of_part = part.first + INDEX_PART_BYTES - offset;
    if( of_part>num_bytes ) of_part = num_bytes;
    memcpy(out, part.bytes + (offset - part.first), of_part);
    out += of_part;
    offset += of_part;
    num_bytes -= of_part;
  }
  return SQLITE_OK;
}

int bloom_index_row_read(const bloom_index *index, int key, sqlite3_int64 row, void *bytes,
                         uint32_t num_bytes){
  index_reader reader;
  int rc;
  bloom_index_reader_start(&reader, index, key, 0);
  rc = bloom_index_reader_read(&reader, row, bytes, num_bytes, 0);
  bloom_index_reader_close(&reader);
  return rc;
}

int bloom_index_reader_end(index_reader *reader, uint64_t block, index_end *end){
  const sqlite3_int64 row = bloom_index_row_of_ends(reader->index, reader->key, block);
  if( reader->ends_of!=row ){
    int rc;
    reader->ends_of = 0;
    rc = bloom_index_reader_read(reader, row, reader->ends, sizeof(reader->ends), 0);
    if( rc!=SQLITE_OK ) return rc;
    reader->ends_of = row;
  }
  *end = bloom_index_end_load(reader->ends + block%INDEX_ENDS_BLOCKS*INDEX_END_BYTES);
  return SQLITE_OK;
}

static int ends_compare(const void *a, const void *b){
  const sqlite3_int64 of_a = ((const index_placed_end *)a)->end.first;
  const sqlite3_int64 of_b = ((const index_placed_end *)b)->end.first;
  return (of_a>of_b) - (of_a<of_b);
}

int bloom_index_ends_read(const bloom_index *index, const index_layout *layout, int key,
                          index_placed_end **ends, size_t *num_ends){
  const index_key_layout *key_layout = &layout->keys[key];
  index_placed_end *list = NULL;
  sqlite3_int64 first = INT64_MIN;
  index_reader reader;
  uint64_t block;
  size_t i, num = 0, max = 0;
  int rc = SQLITE_OK;
  bloom_index_reader_start(&reader, index, key, 0);
  for(block=0; block<key_layout->num_blocks && rc==SQLITE_OK; block++){
    index_end end;
    rc = bloom_index_reader_end(&reader, block, &end);
    if( rc!=SQLITE_OK || end.first>end.last ) continue;
    if( num==max ){
      index_placed_end *more = sqlite3_realloc64(list, (2*max + 64) * sizeof(*list));
      if( more==NULL ){
        rc = SQLITE_NOMEM;
        break;
      }
      list = more;
      max = 2*max + 64;
    }
    list[num++] = (index_placed_end){.end = end, .block = block};
  }
  bloom_index_reader_close(&reader);
  if( rc==SQLITE_OK && list && key_layout->num_dead>0 ){
    qsort(list, num, sizeof(*list), ends_compare);
  }
  for(i=0; i<num && rc==SQLITE_OK; i++){
    if( list[i].end.first!=first || list[i].end.last>layout->covered ) rc = SQLITE_CORRUPT_VTAB;
    first = list[i].end.last + (list[i].end.last<INT64_MAX);
  }
  if( rc==SQLITE_OK && (num!=key_layout->num_blocks - key_layout->num_dead
                        || first!=key_layout->open_first) ) rc = SQLITE_CORRUPT_VTAB;
  *ends = list;
  *num_ends = num;
  return rc;
}

/* -- Writing -------------------------------------------------------------------------- */

int bloom_index_part_write(index_reader *reader, index_part *part){
  store_checksum(part->bytes + INDEX_PART_BYTES, part_checksum(reader->index, reader->key,
      reader->row, part->number, part->bytes));
  return sqlite3_blob_write(reader->blob, part->bytes, STORED_BYTES,
                            (int)(part->number*STORED_BYTES));
}

int bloom_index_blocks_write(index_reader *reader, sqlite3_int64 row,
                             const uint8_t bytes[BLOOM_STRIP_BYTES]){
  uint8_t stored[INDEX_STORED_BYTES];
  const int rc = reader_move(reader, row);
  if( rc!=SQLITE_OK ) return rc;
  if( sqlite3_blob_bytes(reader->blob)!=INDEX_STORED_BYTES ) return SQLITE_CORRUPT_VTAB;
  row_store(reader->index, reader->key, row, bytes, BLOOM_STRIP_BYTES, stored);
  return sqlite3_blob_write(reader->blob, stored, INDEX_STORED_BYTES, 0);
}

int bloom_index_row_write(bloom_index *index, int key, sqlite3_stmt **statement, sqlite3_int64 row,
                          const uint8_t *bytes, uint32_t num_bytes){
  const uint32_t num_stored = num_bytes/INDEX_PART_BYTES*STORED_BYTES;
  uint8_t *stored = sqlite3_malloc64(num_stored + 1);
  int rc = stored ? SQLITE_OK : SQLITE_NOMEM;
  if( rc==SQLITE_OK && *statement==NULL ){
    rc = bloom_sql_prepare(index->connection, statement,
                           "INSERT OR REPLACE INTO \"%w\".\"%w_blocks_%d\"(rowid, data) VALUES "
                           "(?1, ?2)", index->schema, index->name, key + 1);
  }
  if( rc==SQLITE_OK ) row_store(index, key, row, bytes, num_bytes, stored);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(*statement, 1, row);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob(*statement, 2, stored, (int)num_stored, SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, *statement);
  if( rc==SQLITE_DONE ) rc = sqlite3_reset(*statement);
  sqlite3_free(stored);
  return rc;
}
