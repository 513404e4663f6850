/*
** How far the blocks reach.
**
** NAME_layout is for the code: one row, one BLOB, under a checksum.  Little-endian:
**
**   0   u32   magic "BIX2"
**   4   u32   1: rows are covered; 2: a merge did not come to its end
**   8   i64   covered
**   16  u64   rows that went into blocks
**   24  u32   probes of a key
**   28  u32   number of indexed columns
**   32  u64   a number drawn at random when all blocks are made again
**   40  then for each indexed column
**       u64   finished blocks
**       u64   bits set in them
**       u32   rows in the open block
**       u32   bits set in it
**   ..  u64   XXH64 of all bytes before
**
** NAME_state is for people, and for the triggers, which compare ids with its `covered`.
*/
#include "index_int.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/xxh64.h"

#define LAYOUT_MAGIC      0x32584942u
#define LAYOUT_HAS        1u
#define LAYOUT_DIRTY      2u
#define LAYOUT_HEAD_BYTES 40
#define LAYOUT_KEY_BYTES  24
#define LAYOUT_MAX_BYTES  (LAYOUT_HEAD_BYTES + LAYOUT_KEY_BYTES*INDEX_MAX_KEYS + 8)

/* No table has so many; products with it do not overflow. */
#define LAYOUT_MAX_BLOCKS ((uint64_t)1 << 40)

static uint32_t layout_bytes(const bloom_index *index){
  return LAYOUT_HEAD_BYTES + LAYOUT_KEY_BYTES*(uint32_t)index->config.num_keys + 8;
}

static int layout_open(const bloom_index *index, int is_writable, sqlite3_blob **blob){
  char *table = sqlite3_mprintf("%s_layout", index->name);
  int rc = SQLITE_NOMEM;
  *blob = NULL;
  if( table ) rc = sqlite3_blob_open(index->connection->db, index->schema, table, "data", 1, is_writable, blob);
  sqlite3_free(table);
  if( rc==SQLITE_OK && sqlite3_blob_bytes(*blob)!=(int)layout_bytes(index) ) return SQLITE_CORRUPT_VTAB;
  return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
}

static int layout_parse(const bloom_index *index, const uint8_t *bytes, index_layout *layout){
  const uint32_t num_bytes = layout_bytes(index), flags = bloom_load32_le(bytes + 4);
  int i;
  if( bloom_load32_le(bytes)!=LAYOUT_MAGIC || bloom_load32_le(bytes + 28)!=(uint32_t)index->config.num_keys
   || bloom_load64_le(bytes + num_bytes - 8)!=bloom_xxh64(bytes, num_bytes - 8) ){
    return SQLITE_CORRUPT_VTAB;
  }
  layout->has_covered = (flags & LAYOUT_HAS)!=0;
  layout->is_dirty = (flags & LAYOUT_DIRTY)!=0;
  layout->covered = (sqlite3_int64)bloom_load64_le(bytes + 8);
  layout->num_rows = bloom_load64_le(bytes + 16);
  layout->num_probes = bloom_load32_le(bytes + 24);
  layout->number = bloom_load64_le(bytes + 32);
  if( layout->num_probes<1 || layout->num_probes>BLOOM_SIGNATURE_MAX_PROBES ) return SQLITE_CORRUPT_VTAB;
  for(i=0, bytes+=LAYOUT_HEAD_BYTES; i<index->config.num_keys; i++, bytes+=LAYOUT_KEY_BYTES){
    index_key_layout *key = &layout->keys[i];
    key->num_blocks = bloom_load64_le(bytes);
    key->bits_set = bloom_load64_le(bytes + 8);
    key->open_rows = bloom_load32_le(bytes + 16);
    key->open_bits = bloom_load32_le(bytes + 20);
    if( key->num_blocks>LAYOUT_MAX_BLOCKS || key->open_bits>index->config.keys[i].bits_per_block ) return SQLITE_CORRUPT_VTAB;
  }
  return SQLITE_OK;
}

int index_layout_read(bloom_index *index, index_layout *layout){
  uint8_t bytes[LAYOUT_MAX_BYTES];
  sqlite3_blob *blob;
  int rc = layout_open(index, 0, &blob);
  memset(layout, 0, sizeof(*layout));
  if( rc==SQLITE_OK ) rc = sqlite3_blob_read(blob, bytes, (int)layout_bytes(index), 0);
  sqlite3_blob_close(blob);
  if( rc==SQLITE_OK ) rc = layout_parse(index, bytes, layout);
  index->number = layout->number;
  return rc;
}

static void layout_print(const bloom_index *index, const index_layout *layout, uint8_t *bytes){
  const uint32_t num_bytes = layout_bytes(index);
  uint8_t *key = bytes + LAYOUT_HEAD_BYTES;
  int i;
  bloom_store32_le(bytes, LAYOUT_MAGIC);
  bloom_store32_le(bytes + 4, (layout->has_covered ? LAYOUT_HAS : 0) | (layout->is_dirty ? LAYOUT_DIRTY : 0));
  bloom_store64_le(bytes + 8, (uint64_t)layout->covered);
  bloom_store64_le(bytes + 16, layout->num_rows);
  bloom_store32_le(bytes + 24, layout->num_probes);
  bloom_store32_le(bytes + 28, (uint32_t)index->config.num_keys);
  bloom_store64_le(bytes + 32, layout->number);
  for(i=0; i<index->config.num_keys; i++, key+=LAYOUT_KEY_BYTES){
    bloom_store64_le(key, layout->keys[i].num_blocks);
    bloom_store64_le(key + 8, layout->keys[i].bits_set);
    bloom_store32_le(key + 16, layout->keys[i].open_rows);
    bloom_store32_le(key + 20, layout->keys[i].open_bits);
  }
  bloom_store64_le(bytes + num_bytes - 8, bloom_xxh64(bytes, num_bytes - 8));
}

int index_layout_write(bloom_index *index, const index_layout *layout){
  uint8_t bytes[LAYOUT_MAX_BYTES];
  sqlite3_blob *blob;
  int rc = layout_open(index, 1, &blob);
  layout_print(index, layout, bytes);
  if( rc==SQLITE_OK ) rc = sqlite3_blob_write(blob, bytes, (int)layout_bytes(index), 0);
  index->number = layout->number;
  sqlite3_blob_close(blob);
  return rc;
}

int index_layout_insert(bloom_index *index){
  int rc = bloom_sql_run(index->connection, "INSERT INTO \"%w\".\"%w_layout\"(rowid, data) VALUES (1, zeroblob(%d))",
                         index->schema, index->name, (int)layout_bytes(index));
  if( rc!=SQLITE_OK ) return rc;
  return bloom_sql_run(index->connection, "INSERT INTO \"%w\".\"%w_state\"(rowid, changed_rows) VALUES (1, 0)",
                       index->schema, index->name);
}

/* -- NAME_state ----------------------------------------------------------------------- */

int index_state_compare(bloom_index *index, const index_layout *layout, int *is_equal){
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare(index->connection, &row, "SELECT covered FROM \"%w\".\"%w_state\"", index->schema, index->name);
  *is_equal = 0;
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW ){
    const int type = sqlite3_column_type(row, 0);
    *is_equal = layout->has_covered ? type==SQLITE_INTEGER && sqlite3_column_int64(row, 0)==layout->covered
                                    : type==SQLITE_NULL;
    rc = bloom_sql_step(index->connection, row);
    if( rc==SQLITE_ROW ) *is_equal = 0; /* triggers read the first one */
  }
  sqlite3_finalize(row);
  return rc==SQLITE_DONE || rc==SQLITE_ROW ? SQLITE_OK : rc;
}

/* Appends what an UPDATE of the state sets of a column. */
static void state_of_key(const bloom_index *index, const index_layout *layout, int key, sqlite3_str *sql){
  const index_key_layout *of_key = &layout->keys[key];
  const uint64_t num_blocks = of_key->num_blocks + 1;
  const double num_bits = (double)num_blocks * index->config.keys[key].bits_per_block;
  const int number = key + 1;
  sqlite3_str_appendf(sql, ", blocks_%d = %lld, bytes_%d = %lld, fill_%d = %!.3g", number, (sqlite3_int64)num_blocks,
                      number, (sqlite3_int64)(num_bits/8 + (double)(num_blocks*INDEX_END_BYTES)),
                      number, (double)(of_key->bits_set + of_key->open_bits) / num_bits);
}

int index_state_write(bloom_index *index, const index_layout *layout, const char *note){
  sqlite3_str *sql = sqlite3_str_new(index->connection->db);
  sqlite3_stmt *update = NULL;
  int i, rc;
  sqlite3_str_appendf(sql, "UPDATE \"%w\".\"%w_state\" SET covered = ?1, note = ?2,"
                           " changed_rows = (SELECT count(*) FROM \"%w\".\"%w_changed\")",
                      index->schema, index->name, index->schema, index->name);
  for(i=0; i<index->config.num_keys; i++) state_of_key(index, layout, i, sql);
  rc = bloom_sql_prepare_text(index->connection, &update, sqlite3_str_finish(sql));
  if( rc==SQLITE_OK && layout->has_covered ) rc = sqlite3_bind_int64(update, 1, layout->covered);
  if( rc==SQLITE_OK && note ) rc = sqlite3_bind_text(update, 2, note, -1, SQLITE_TRANSIENT);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, update);
  sqlite3_finalize(update);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}
