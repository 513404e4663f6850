/*
** How far the blocks reach.
**
** NAME_state has one row.  `covered` is for the triggers, which compare ids with it, and the other
** columns in front are for people.  `config` is what index_config.c has there.  `layout` is how
** far the blocks reach, under a checksum.  Little-endian:
**
**   0   u32   magic "BIX3"
**   4   u32   1: rows are covered; 2: a merge did not come to its end
**   8   i64   covered
**   16  u64   rows that went into blocks
**   24  u64   the same when all blocks were made last
**   32  u32   probes of a key
**   36  u32   number of indexed columns
**   40  u64   a number drawn at random when all blocks are made again
**   48  i64   the lowest id: no merged row has a lower one
**   56  then for each indexed column
**       u64   finished blocks
**       u64   dead ones among them
**       u64   bits set in the others
**       i64   the first id of the open block
**       u32   rows in it
**       u32   bits set in it
**       u32   full groups
**       u32   of a join that goes on: the first of the sizes that it takes in
**       u32   its units; 0: there is none
**       u32   its bands that are done
**       u32   number of sizes
**       u32   9 sizes of groups, in units
**   ..  u64   XXH64 of all bytes before
*/
#include "index_blocks.h"
#include "index_source.h"

#include "../../core/debug.h"
#include <string.h>

#include "../../core/bytes.h"
#include "../../core/signature/zone.h"
#include "../../core/xxh64.h"

#define LAYOUT_MAGIC      0x33584942u
#define LAYOUT_HAS        1u
#define LAYOUT_DIRTY      2u
#define LAYOUT_HEAD_BYTES 56
#define LAYOUT_KEY_BYTES  96
#define LAYOUT_MAX_BYTES  (LAYOUT_HEAD_BYTES + LAYOUT_KEY_BYTES*INDEX_MAX_KEYS + 8)

/* No table has so many; products with the first do not overflow, nor do sums with the second. */
#define LAYOUT_MAX_BLOCKS ((uint64_t)1 << 40)
#define LAYOUT_MAX_ROWS   ((uint64_t)1 << 62)

uint64_t bloom_index_blocks_in_units(const bloom_index *index, const index_layout *layout, int key){
  return layout->keys[key].num_blocks - layout->keys[key].num_blocks%index_num_slots(index, key);
}

uint64_t bloom_index_join_unit(const index_key_layout *layout){
  uint64_t unit = (uint64_t)layout->num_full * INDEX_MAX_UNITS;
  uint32_t i;
  for(i=0; i<layout->join_from; i++) unit += layout->sizes[i];
  return unit;
}

index_group bloom_index_group_at(const index_key_layout *layout, uint64_t unit, int is_joined){
  uint64_t first = (uint64_t)layout->num_full * INDEX_MAX_UNITS;
  uint32_t i;
  if( unit<first ) return (index_group){unit - unit%INDEX_MAX_UNITS, INDEX_MAX_UNITS};
  if( is_joined && layout->join_units && unit - bloom_index_join_unit(layout)<layout->join_units ){
    return (index_group){bloom_index_join_unit(layout), layout->join_units};
  }
  for(i=0; i<layout->num_sizes; first+=layout->sizes[i++]){
    if( unit - first<layout->sizes[i] ) return (index_group){first, layout->sizes[i]};
  }
  return (index_group){unit, 1};
}

/* 1 if groups are as merges leave them: who reads them has room for no others. */
static int layout_are_groups_good(const index_key_layout *key, uint64_t num_units,
                                  uint32_t num_bands){
  const uint64_t full = (uint64_t)key->num_full * INDEX_MAX_UNITS;
  uint64_t end = full, end_of_join;
  uint32_t i;
  if( key->num_sizes>INDEX_MAX_SIZES || key->join_from>key->num_sizes
     || key->join_units>INDEX_MAX_UNITS || key->join_bands>=num_bands ) return 0;
  for(i=0; i<key->num_sizes; i++){
    if( key->sizes[i]<1 ) return 0;
    end += key->sizes[i];
  }
  end_of_join = key->join_units ? bloom_index_join_unit(key) + key->join_units : end;
  return end<=end_of_join && end_of_join<=full + INDEX_MAX_UNITS && end_of_join<=num_units;
}

static uint32_t layout_bytes(const bloom_index *index){
  return LAYOUT_HEAD_BYTES + LAYOUT_KEY_BYTES*(uint32_t)index->config.num_keys + 8;
}

static int layout_open(const bloom_index *index, int is_writable, sqlite3_blob **blob){
  const int rc = bloom_index_state_open(index, "state", "layout", is_writable, blob);
  if( rc==SQLITE_OK && sqlite3_blob_bytes(*blob)!=(int)layout_bytes(index) ){
    return SQLITE_CORRUPT_VTAB;
  }
  return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
}

static int layout_parse(const bloom_index *index, const uint8_t *bytes, index_layout *layout){
  const uint32_t num_bytes = layout_bytes(index), flags = bloom_load32_le(bytes + 4);
  int i;
  if( bloom_load32_le(bytes)!=LAYOUT_MAGIC
     || bloom_load32_le(bytes + 36)!=(uint32_t)index->config.num_keys
   || bloom_load64_le(bytes + num_bytes - 8)!=bloom_xxh64(bytes, num_bytes - 8) ){
    return SQLITE_CORRUPT_VTAB;
  }
  layout->has_covered = (flags & LAYOUT_HAS)!=0;
  layout->is_dirty = (flags & LAYOUT_DIRTY)!=0;
  layout->covered = (sqlite3_int64)bloom_load64_le(bytes + 8);
  layout->num_rows = bloom_load64_le(bytes + 16);
  layout->num_built = bloom_load64_le(bytes + 24);
  layout->num_probes = bloom_load32_le(bytes + 32);
  layout->number = bloom_load64_le(bytes + 40);
  layout->first = (sqlite3_int64)bloom_load64_le(bytes + 48);
  if( layout->num_probes<1 || layout->num_probes>BLOOM_SIGNATURE_MAX_PROBES
     || layout->num_rows>LAYOUT_MAX_ROWS ) return SQLITE_CORRUPT_VTAB;
  bytes += LAYOUT_HEAD_BYTES;
  for(i=0; i<index->config.num_keys; i++, bytes+=LAYOUT_KEY_BYTES){
    index_key_layout *key = &layout->keys[i];
    uint64_t num_units;
    uint32_t j;
    key->num_blocks = bloom_load64_le(bytes);
    key->num_dead = bloom_load64_le(bytes + 8);
    key->bits_set = bloom_load64_le(bytes + 16);
    key->open_first = (sqlite3_int64)bloom_load64_le(bytes + 24);
    key->open_rows = bloom_load32_le(bytes + 32);
    key->open_bits = bloom_load32_le(bytes + 36);
    key->num_full = bloom_load32_le(bytes + 40);
    key->join_from = bloom_load32_le(bytes + 44);
    key->join_units = bloom_load32_le(bytes + 48);
    key->join_bands = bloom_load32_le(bytes + 52);
    key->num_sizes = bloom_load32_le(bytes + 56);
    for(j=0; j<INDEX_MAX_SIZES; j++) key->sizes[j] = bloom_load32_le(bytes + 60 + (size_t)4*j);
    if( key->num_blocks>LAYOUT_MAX_BLOCKS || key->num_dead>key->num_blocks
       || key->open_bits>index_block_bits(index, i) ) return SQLITE_CORRUPT_VTAB;
    if( layout->has_covered && key->open_first>layout->covered
       && key->open_first - 1>layout->covered ) return SQLITE_CORRUPT_VTAB;
    /* Only whole units are joined. */
    num_units = bloom_index_blocks_in_units(index, layout, i) / BLOOM_UNIT_BLOCKS;
    if( !layout_are_groups_good(key, num_units,
                                index_num_bands(index, i)) ) return SQLITE_CORRUPT_VTAB;
  }
  return SQLITE_OK;
}

int bloom_index_layout_read(bloom_index *index, index_layout *layout){
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
  int i;
  static_assert(LAYOUT_KEY_BYTES==60 + 4*INDEX_MAX_SIZES,
                "the sizes of groups end the bytes of a column");
  bloom_store32_le(bytes, LAYOUT_MAGIC);
  bloom_store32_le(bytes + 4, (layout->has_covered ? LAYOUT_HAS : 0) | (layout->is_dirty
      ? LAYOUT_DIRTY : 0));
  bloom_store64_le(bytes + 8, (uint64_t)layout->covered);
  bloom_store64_le(bytes + 16, layout->num_rows);
  bloom_store64_le(bytes + 24, layout->num_built);
  bloom_store32_le(bytes + 32, layout->num_probes);
  bloom_store32_le(bytes + 36, (uint32_t)index->config.num_keys);
  bloom_store64_le(bytes + 40, layout->number);
  bloom_store64_le(bytes + 48, (uint64_t)layout->first);
  for(i=0; i<index->config.num_keys; i++){
    const index_key_layout *key = &layout->keys[i];
    uint8_t *out = bytes + LAYOUT_HEAD_BYTES + LAYOUT_KEY_BYTES*(size_t)i;
    uint32_t j;
    bloom_store64_le(out, key->num_blocks);
    bloom_store64_le(out + 8, key->num_dead);
    bloom_store64_le(out + 16, key->bits_set);
    bloom_store64_le(out + 24, (uint64_t)key->open_first);
    bloom_store32_le(out + 32, key->open_rows);
    bloom_store32_le(out + 36, key->open_bits);
    bloom_store32_le(out + 40, key->num_full);
    bloom_store32_le(out + 44, key->join_from);
    bloom_store32_le(out + 48, key->join_units);
    bloom_store32_le(out + 52, key->join_bands);
    bloom_store32_le(out + 56, key->num_sizes);
    for(j=0; j<INDEX_MAX_SIZES; j++) bloom_store32_le(out + 60 + (size_t)4*j, key->sizes[j]);
  }
  bloom_store64_le(bytes + num_bytes - 8, bloom_xxh64(bytes, num_bytes - 8));
}

int bloom_index_layout_write(bloom_index *index, const index_layout *layout){
  uint8_t bytes[LAYOUT_MAX_BYTES];
  sqlite3_blob *blob;
  int rc = layout_open(index, 1, &blob);
  layout_print(index, layout, bytes);
  if( rc==SQLITE_OK ) rc = sqlite3_blob_write(blob, bytes, (int)layout_bytes(index), 0);
  index->number = layout->number;
  sqlite3_blob_close(blob);
  return rc;
}

/* -- NAME_state ----------------------------------------------------------------------- */

/* Never without a configuration: in a transaction SQLite does not undo what a command did before it
** failed. */
int bloom_index_state_insert(bloom_index *index){
  sqlite3_stmt *insert = NULL;
  char *config;
  int num_bytes, rc = bloom_index_config_print(&index->config, &config, &num_bytes);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_prepare(index->connection, &insert,
                           "INSERT OR REPLACE INTO \"%w\".\"%w_state\"(rowid, changed_rows,"
                           " config, layout) VALUES (1, 0, ?1, ?2)", index->schema, index->name);
  }
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob(insert, 1, config, num_bytes, SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_zeroblob(insert, 2, (int)layout_bytes(index));
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, insert);
  rc = bloom_sql_end(insert, rc);
  sqlite3_free(config);
  if( rc!=SQLITE_OK ) return rc;
  return bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_state\" WHERE rowid <> 1",
                       index->schema, index->name);
}

int bloom_index_state_compare(bloom_index *index, const index_layout *layout, int *is_equal){
  sqlite3_stmt *row;
  int rc = bloom_index_statement_take(index,
                                      sqlite3_mprintf("SELECT s.covered FROM \"%w\".\"%w_state\" "
                                          "AS s", index->schema, index->name), &row);
  *is_equal = 0;
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW ){
    const int type = sqlite3_column_type(row, 0);
    *is_equal = layout->has_covered ? type==SQLITE_INTEGER
      && sqlite3_column_int64(row, 0)==layout->covered
                                    : type==SQLITE_NULL;
    rc = bloom_sql_step(index->connection, row);
    if( rc==SQLITE_ROW ) *is_equal = 0; /* triggers read the first one */
  }
  bloom_index_statement_give_back(index, row);
  return rc==SQLITE_DONE || rc==SQLITE_ROW ? SQLITE_OK : rc;
}

/* Appends what an UPDATE of the state sets of a column. */
static void state_of_key(const bloom_index *index, const index_layout *layout, int key,
                         sqlite3_str *sql){
  const index_key_layout *key_layout = &layout->keys[key];
  const uint64_t num_blocks = key_layout->num_blocks - key_layout->num_dead + 1;
  const double num_bits = (double)num_blocks * index_block_bits(index, key);
  const int number = key + 1;
  if( index->config.keys[key].is_range ){
    sqlite3_str_appendf(sql,
                        ", blocks_%d = %lld, bytes_%d = (SELECT max(b.rowid) * %d FROM "
                        "\"%w\".\"%w_blocks_%d\" AS b), fill_%d = NULL", number,
                        (sqlite3_int64)((layout->num_rows + BLOOM_ZONE_ROWS - 1)/BLOOM_ZONE_ROWS),
                        number, INDEX_STORED_BYTES, index->schema, index->name, number, number);
    return;
  }
  sqlite3_str_appendf(sql, ", blocks_%d = %lld, bytes_%d = %lld, fill_%d = %!.3g", number,
                      (sqlite3_int64)num_blocks,
                      number, (sqlite3_int64)(num_bits/8 + (double)(num_blocks*INDEX_END_BYTES)),
                      number, (double)(key_layout->bits_set + key_layout->open_bits) / num_bits);
}

int bloom_index_state_write(bloom_index *index, const index_layout *layout, const char *note){
  sqlite3_str *sql = sqlite3_str_new(index->connection->db);
  sqlite3_stmt *update = NULL;
  int i, rc;
  sqlite3_str_appendf(sql, "UPDATE \"%w\".\"%w_state\" SET covered = ?1, note = ?2, changed_rows ="
                           " (SELECT count(*) FROM \"%w\".\"%w_changed\")", index->schema,
                      index->name, index->schema, index->name);
  for(i=0; i<index->config.num_keys; i++) state_of_key(index, layout, i, sql);
  rc = bloom_sql_prepare_text(index->connection, &update, sqlite3_str_finish(sql));
  if( rc==SQLITE_OK && layout->has_covered ) rc = sqlite3_bind_int64(update, 1, layout->covered);
  if( rc==SQLITE_OK && note ) rc = sqlite3_bind_text(update, 2, note, -1, SQLITE_TRANSIENT);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, update);
  return bloom_sql_end(update, rc);
}
