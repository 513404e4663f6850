/*
** How far the entries reach.
**
** NAME_state has one row.  `covered` is for the triggers, which compare ids with it; `config` is
** what index_config.c has there; `layout` says where all entries are.  Little-endian:
**
**   0   u32   magic "BIX4"
**   4   u32   1: rows are covered
**   8   i64   covered
**   16  i64   the lowest id: no merged row has a lower one
**   24  u64   a number drawn at random when all rows are merged again
**   32  u64   about how many rows are merged
**   40  u32   number of indexed columns
**   44  u32   number of generations, 1 or 2
**   48  i64   ids up to this one are the second generation's; of one generation 0
**   56  then of each generation
**       u32   its place, 0 or 1
**       u32   shift of ids, 0..63
**       u32   number of spans
**       u32   z: a zone has 2^z blocks, at most a span
**       u64   hash of the spans' keys
**       u64   rows when it was begun
**       u64   rows that went in since
**       then of each indexed column
**       u32   bits of a key's token; 0: it has text or zones
**       u32   number of runs
**       u64   number of a LIKE column's lists, or of zones
**       then of each run
**       u64   its number;  u64 id of its last list, all ones: it has no row;  u64 entries
**       u32   rows;  u32 end of its blocks;  u32 slot;  u32 role: 0 plain, 1 source, 2 target
**   ..  u64   XXH64 of all bytes before
**
** Nothing in a database is overwritten before the layout is: a merge writes rows that no layout
** names yet, then the row of NAME_state in one statement, and then deletes what it names no more.
*/
#include "index_entries.h"
#include "index_source.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/hash.h"

#define LAYOUT_MAGIC            0x34584942u
#define LAYOUT_MAGIC_OF_1_2     0x33584942u
#define LAYOUT_HAS              1u
#define LAYOUT_HEAD_BYTES       56u
#define LAYOUT_GENERATION_BYTES 40u
#define LAYOUT_KEY_BYTES        16u
#define LAYOUT_RUN_BYTES        40u
#define LAYOUT_MAX_BYTES        ((size_t)1 << 20)

/* No table has as many rows. */
#define LAYOUT_MAX_ROWS ((uint64_t)1 << 62)

/* The layout that was read last: its bytes, and what they say. */
struct index_layout_kept {
  uint8_t *bytes;
  size_t num_bytes;
  int num_keys; /* of the configuration that it was read by */
  int is_good;
  index_layout layout;
};

void bloom_index_layout_free(bloom_index *index){
  if( index->layout ) sqlite3_free(index->layout->bytes);
  sqlite3_free(index->layout);
  index->layout = NULL;
}

/* -- Reading -------------------------------------------------------------------------------- */

/* What is left to be read. */
typedef struct layout_bytes {
  const uint8_t *next, *end;
} layout_bytes;

static const uint8_t *layout_take(layout_bytes *bytes, size_t num_bytes){
  const uint8_t *taken = bytes->next;
  if( (size_t)(bytes->end - taken)<num_bytes ) return NULL;
  bytes->next += num_bytes;
  return taken;
}

/* 1 if a run is one that a merge may have written. */
static int layout_parse_run(const uint8_t *bytes, index_generation *generation, index_run *run){
  run->number = bloom_load64_le(bytes);
  run->last = bloom_load64_le(bytes + 8);
  run->num_pairs = bloom_load64_le(bytes + 16);
  run->num_rows = bloom_load32_le(bytes + 24);
  run->end_block = bloom_load32_le(bytes + 28);
  run->slot = bloom_load32_le(bytes + 32);
  run->role = (index_run_role)bloom_load32_le(bytes + 36);
  return (run->last==UINT64_MAX || run->last<(uint64_t)1 << 56) && run->slot<INDEX_NUM_SLOTS
      && run->end_block>0 && run->end_block<=generation->num_spans << INDEX_SPAN_LG
      && bloom_load32_le(bytes + 36)<=INDEX_RUN_TARGET
      && (run->last!=UINT64_MAX || run->role==INDEX_RUN_TARGET);
}

static int layout_parse_key(layout_bytes *bytes, index_generation *generation,
                            index_key_layout *key){
  const uint8_t *head = layout_take(bytes, LAYOUT_KEY_BYTES);
  uint64_t slots[2] = {0, 0};
  uint32_t i, num_targets = 0;
  if( head==NULL ) return 0;
  key->hash_bits = bloom_load32_le(head);
  key->num_runs = bloom_load32_le(head + 4);
  key->number = bloom_load64_le(head + 8);
  if( key->hash_bits>INDEX_MAX_HASH_BITS || key->num_runs>INDEX_ROOM_RUNS ) return 0;
  for(i=0; i<key->num_runs; i++){
    const uint8_t *run_bytes = layout_take(bytes, LAYOUT_RUN_BYTES);
    index_run *run = &key->runs[i];
    if( run_bytes==NULL || !layout_parse_run(run_bytes, generation, run) ) return 0;
    if( slots[run->slot/64] >> run->slot%64 & 1 ) return 0;
    slots[run->slot/64] |= (uint64_t)1 << run->slot%64;
    num_targets += run->role==INDEX_RUN_TARGET;
  }
  return num_targets<=1;
}

static int layout_parse_generation(const bloom_index *index, layout_bytes *bytes,
                                   index_generation *generation){
  const uint8_t *head = layout_take(bytes, LAYOUT_GENERATION_BYTES);
  int i;
  if( head==NULL ) return 0;
  generation->place = bloom_load32_le(head);
  generation->shift = bloom_load32_le(head + 4);
  generation->num_spans = bloom_load32_le(head + 8);
  generation->zone_lg = bloom_load32_le(head + 12);
  generation->spans_hash = bloom_load64_le(head + 16);
  generation->num_built = bloom_load64_le(head + 24);
  generation->num_rows = bloom_load64_le(head + 32);
  if( generation->place>=INDEX_MAX_GENERATIONS || generation->shift>63
     || generation->num_spans>INDEX_MAX_SPANS || generation->zone_lg>INDEX_SPAN_LG ) return 0;
  for(i=0; i<index->config.num_keys; i++){
    if( !layout_parse_key(bytes, generation, &generation->keys[i]) ) return 0;
    if( (generation->keys[i].hash_bits>0)!=bloom_index_has_tokens(&index->config.keys[i]) ){
      return 0;
    }
  }
  return 1;
}

/* 1 if the bytes are a layout; the slots of all generations of a column differ, as rows of one
** table do. */
static int layout_parse(const bloom_index *index, const uint8_t *head, size_t num_bytes,
                        index_layout *layout){
  layout_bytes bytes = {head, head + num_bytes - 8};
  uint32_t num_generations;
  int i, key;
  if( num_bytes<LAYOUT_HEAD_BYTES + 8 || bloom_load32_le(head)!=LAYOUT_MAGIC
     || bloom_load32_le(head + 40)!=(uint32_t)index->config.num_keys
     || bloom_load64_le(bytes.end)!=bloom_xxh64(head, num_bytes - 8) ) return 0;
  layout_take(&bytes, LAYOUT_HEAD_BYTES);
  layout->has_covered = (bloom_load32_le(head + 4) & LAYOUT_HAS)!=0;
  layout->covered = (sqlite3_int64)bloom_load64_le(head + 8);
  layout->first = (sqlite3_int64)bloom_load64_le(head + 16);
  layout->number = bloom_load64_le(head + 24);
  layout->num_rows = bloom_load64_le(head + 32);
  num_generations = bloom_load32_le(head + 44);
  layout->bound = (sqlite3_int64)bloom_load64_le(head + 48);
  if( num_generations<1 || num_generations>INDEX_MAX_GENERATIONS
     || layout->num_rows>LAYOUT_MAX_ROWS ) return 0;
  layout->num_generations = (int)num_generations;
  for(i=0; i<layout->num_generations; i++){
    if( !layout_parse_generation(index, &bytes, &layout->generations[i]) ) return 0;
  }
  if( layout->num_generations==2 ){
    if( layout->generations[0].place==layout->generations[1].place ) return 0;
    for(key=0; key<index->config.num_keys; key++){
      const index_key_layout *a = &layout->generations[0].keys[key];
      const index_key_layout *b = &layout->generations[1].keys[key];
      uint32_t j, k;
      for(j=0; j<a->num_runs; j++){
        for(k=0; k<b->num_runs; k++) if( a->runs[j].slot==b->runs[k].slot ) return 0;
      }
    }
  }
  return bytes.next==bytes.end;
}

/* Takes the bytes of a layout, unless they are those at hand. */
static int layout_take_bytes(bloom_index *index, const void *bytes, size_t num_bytes){
  struct index_layout_kept *kept = index->layout;
  uint8_t *copy;
  if( kept==NULL ){
    kept = index->layout = sqlite3_malloc64(sizeof(*kept));
    if( kept==NULL ) return SQLITE_NOMEM;
    memset(kept, 0, sizeof(*kept));
  }
  if( kept->bytes && num_bytes==kept->num_bytes && memcmp(bytes, kept->bytes, num_bytes)==0
     && kept->num_keys==index->config.num_keys ) return SQLITE_OK;
  copy = sqlite3_malloc64(num_bytes + 1);
  if( copy==NULL ) return SQLITE_NOMEM;
  memcpy(copy, bytes, num_bytes);
  sqlite3_free(kept->bytes);
  kept->bytes = copy;
  kept->num_bytes = num_bytes;
  kept->num_keys = index->config.num_keys;
  memset(&kept->layout, 0, sizeof(kept->layout));
  kept->is_good = layout_parse(index, copy, num_bytes, &kept->layout);
  return SQLITE_OK;
}

int bloom_index_layout_read(bloom_index *index, const index_layout **layout){
  sqlite3_stmt *row;
  int is_good = 0, rc;
  *layout = NULL;
  rc = bloom_index_fixed_take(index, INDEX_FIXED_STATE, &row, "SELECT s.covered, s.layout FROM"
                              " \"%w\".\"%w_state\" AS s", index->schema, index->name);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW ){
    const sqlite3_int64 covered = sqlite3_column_int64(row, 0);
    const int has_covered = sqlite3_column_type(row, 0)==SQLITE_INTEGER;
    const int is_null = sqlite3_column_type(row, 0)==SQLITE_NULL;
    const void *bytes = sqlite3_column_blob(row, 1);
    const size_t num_bytes = (size_t)sqlite3_column_bytes(row, 1);
    rc = SQLITE_OK;
    if( bytes && sqlite3_column_type(row, 1)==SQLITE_BLOB && num_bytes<=LAYOUT_MAX_BYTES ){
      rc = layout_take_bytes(index, bytes, num_bytes);
      if( rc==SQLITE_OK && index->layout->is_good ){
        const index_layout *kept = &index->layout->layout;
        *layout = kept;
        is_good = kept->has_covered ? has_covered && covered==kept->covered : is_null;
      }
    }
    if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
    if( rc==SQLITE_ROW ) is_good = 0; /* triggers read the first one */
  }
  bloom_index_fixed_give_back(index, INDEX_FIXED_STATE);
  if( rc!=SQLITE_DONE && rc!=SQLITE_ROW ) return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
  if( is_good ) index->number = (*layout)->number;
  return is_good ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
}

/* -- Writing -------------------------------------------------------------------------------- */

static uint8_t *layout_print_key(const index_key_layout *key, uint8_t *out){
  uint32_t i;
  bloom_store32_le(out, key->hash_bits);
  bloom_store32_le(out + 4, key->num_runs);
  bloom_store64_le(out + 8, key->number);
  out += LAYOUT_KEY_BYTES;
  for(i=0; i<key->num_runs; i++, out+=LAYOUT_RUN_BYTES){
    const index_run *run = &key->runs[i];
    bloom_store64_le(out, run->number);
    bloom_store64_le(out + 8, run->last);
    bloom_store64_le(out + 16, run->num_pairs);
    bloom_store32_le(out + 24, run->num_rows);
    bloom_store32_le(out + 28, run->end_block);
    bloom_store32_le(out + 32, run->slot);
    bloom_store32_le(out + 36, (uint32_t)run->role);
  }
  return out;
}

/* Returns the layout's bytes, to be freed; NULL when out of memory. */
static uint8_t *layout_print(const bloom_index *index, const index_layout *layout,
                             size_t *num_bytes){
  size_t size = LAYOUT_HEAD_BYTES + 8;
  uint8_t *bytes, *out;
  int i, key;
  for(i=0; i<layout->num_generations; i++){
    size += LAYOUT_GENERATION_BYTES + LAYOUT_KEY_BYTES * (size_t)index->config.num_keys;
    for(key=0; key<index->config.num_keys; key++){
      size += LAYOUT_RUN_BYTES * (size_t)layout->generations[i].keys[key].num_runs;
    }
  }
  *num_bytes = size;
  bytes = sqlite3_malloc64(size);
  if( bytes==NULL ) return NULL;
  bloom_store32_le(bytes, LAYOUT_MAGIC);
  bloom_store32_le(bytes + 4, layout->has_covered ? LAYOUT_HAS : 0);
  bloom_store64_le(bytes + 8, (uint64_t)layout->covered);
  bloom_store64_le(bytes + 16, (uint64_t)layout->first);
  bloom_store64_le(bytes + 24, layout->number);
  bloom_store64_le(bytes + 32, layout->num_rows);
  bloom_store32_le(bytes + 40, (uint32_t)index->config.num_keys);
  bloom_store32_le(bytes + 44, (uint32_t)layout->num_generations);
  bloom_store64_le(bytes + 48, (uint64_t)layout->bound);
  out = bytes + LAYOUT_HEAD_BYTES;
  for(i=0; i<layout->num_generations; i++){
    const index_generation *generation = &layout->generations[i];
    bloom_store32_le(out, generation->place);
    bloom_store32_le(out + 4, generation->shift);
    bloom_store32_le(out + 8, generation->num_spans);
    bloom_store32_le(out + 12, generation->zone_lg);
    bloom_store64_le(out + 16, generation->spans_hash);
    bloom_store64_le(out + 24, generation->num_built);
    bloom_store64_le(out + 32, generation->num_rows);
    out += LAYOUT_GENERATION_BYTES;
    for(key=0; key<index->config.num_keys; key++){
      out = layout_print_key(&generation->keys[key], out);
    }
  }
  bloom_store64_le(out, bloom_xxh64(bytes, size - 8));
  return bytes;
}

/* Never without a configuration: in a transaction SQLite does not undo what a command did before it
** failed. */
int bloom_index_state_insert(bloom_index *index){
  sqlite3_stmt *insert = NULL;
  char *config;
  int num_bytes, rc = bloom_index_config_print(&index->config, &config, &num_bytes);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_prepare(index->connection, &insert,
                           "INSERT OR REPLACE INTO \"%w\".\"%w_state\"(rowid, config)"
                           " VALUES (1, ?1)", index->schema, index->name);
  }
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob(insert, 1, config, num_bytes, SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, insert);
  rc = bloom_sql_end(insert, rc);
  sqlite3_free(config);
  if( rc!=SQLITE_OK ) return rc;
  return bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_state\" WHERE rowid <> 1",
                       index->schema, index->name);
}

sqlite3_int64 bloom_index_layout_bytes(const bloom_index *index, const index_layout *layout){
  sqlite3_int64 num_rows = 0;
  uint32_t j;
  int i, key;
  for(i=0; i<layout->num_generations; i++){
    for(key=0; key<index->config.num_keys; key++){
      const index_key_layout *of_key = &layout->generations[i].keys[key];
      for(j=0; j<of_key->num_runs; j++) num_rows += of_key->runs[j].num_rows;
    }
  }
  return num_rows * 4096;
}

int bloom_index_layout_write(bloom_index *index, const index_layout *layout, const char *note){
  sqlite3_stmt *update = NULL;
  size_t num_bytes;
  uint8_t *bytes = layout_print(index, layout, &num_bytes);
  int rc = SQLITE_NOMEM;
  if( bytes ){
    rc = bloom_sql_prepare(index->connection, &update,
                           "UPDATE \"%w\".\"%w_state\" SET covered = ?1, layout = ?2, note = ?3,"
                           " bytes = ?4", index->schema, index->name);
  }
  if( rc==SQLITE_OK && layout->has_covered ) rc = sqlite3_bind_int64(update, 1, layout->covered);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob64(update, 2, bytes, num_bytes, SQLITE_STATIC);
  if( rc==SQLITE_OK && note ) rc = sqlite3_bind_text(update, 3, note, -1, SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(update, 4, bloom_index_layout_bytes(index, layout));
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, update);
  rc = bloom_sql_end(update, rc);
  sqlite3_free(bytes);
  if( rc==SQLITE_OK ) index->number = layout->number;
  return rc;
}
