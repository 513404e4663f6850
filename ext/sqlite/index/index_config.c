/*
** The two BLOBs in the one row of NAME_state: `config`, what entries were begun with, and `layout`,
** how far they reach and where they are.
*/
#include "index_source.h"
#include "index_entries.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/hash.h"

/* == The configuration ================================================================= */

/*
** What entries were begun with.
**
** NAME_state has it in its one row, in the column `config`.  Little-endian; a string is its length
** as a u32, and its bytes:
**
**   0   u32   magic "BIC3"; "BIC2": it was made by bloom 1.2
**   4   u32   0; of bloom 1.2 the probes of a key
**   8   u32   1: the source has no INTEGER PRIMARY KEY
**   12  u32   SQLite's version, as sqlite3_libversion_number()
**   16  u32   number of indexed columns, then for each of them
**       u32   its affinity, as bloom_affinity_of(); 0x100: for LIKE; 0x200: generated, and
**             not stored; 0x400: there was no such column; 0x800: for REGEXP, too; 0x1000: RANGE
**   ..  the source's name, then of each indexed column its name and collation
**   ..  u64   XXH64 of all bytes before
*/

#define CONFIG_MAGIC        0x33434942u
#define CONFIG_MAGIC_OF_1_2 0x32434942u
#define CONFIG_HEAD_BYTES   20
#define CONFIG_KEY_BYTES    4
#define CONFIG_AFFINITY     0xffu
#define CONFIG_IS_LIKE      0x100u
#define CONFIG_IS_VIRTUAL   0x200u
#define CONFIG_IS_GONE      0x400u
#define CONFIG_IS_REGEXP    0x800u
#define CONFIG_IS_RANGE     0x1000u

void bloom_index_config_free(index_config *config){
  int i;
  for(i=0; i<config->num_keys; i++){
    sqlite3_free(config->keys[i].name);
    sqlite3_free(config->keys[i].collation);
  }
  sqlite3_free(config->source);
  memset(config, 0, sizeof(*config));
}

/* -- The indexed columns ---------------------------------------------------------------- */

/* Sets the rule of `=` that follows from affinity and collation.  0 if none does. */
static int config_set_equality(index_key *key){
  switch( key->affinity ){
    case 't': key->equality.kind = BLOOM_COLUMN_TEXT; break;
    case 'b': key->equality.kind = BLOOM_COLUMN_ANY; break;
    default:  key->equality.kind = BLOOM_COLUMN_NUMBER;
  }
  return bloom_collation_named(key->collation, &key->equality.collation) || key->is_like;
}

/* Sets what a column is now, as its entries are begun. */
static int config_renew_key(bloom_index *index, index_key *key){
  const bloom_source_column *column = key->column>=0 ? &index->columns.list[key->column] : NULL;
  char *name = sqlite3_mprintf("%s", column ? column->name : key->name);
  char *collation = sqlite3_mprintf("%s", column ? column->collation : "BINARY");
  sqlite3_free(key->name);
  sqlite3_free(key->collation);
  key->name = name;
  key->collation = collation;
  if( name==NULL || collation==NULL ) return SQLITE_NOMEM;
  key->is_gone = column==NULL;
  key->affinity = (char)(column ? bloom_affinity_of(column->type) : 'b');
  key->is_virtual = column && column->is_virtual;
  key->doubt = NULL;
  if( column && !config_set_equality(key) ){
    return bloom_index_fail(index, "bloom_index: column %s of table %s has collation %s; use"
                                   " BINARY, NOCASE or RTRIM", name, index->config.source,
                            collation);
  }
  return SQLITE_OK;
}

int bloom_index_config_renew(bloom_index *index){
  index_config *config = &index->config;
  int i, rc = index->columns.is_partial ? SQLITE_AUTH : SQLITE_OK;
  config->version = (uint32_t)sqlite3_libversion_number();
  config->has_hidden_ids = index->columns.id_column<0;
  for(i=0; i<config->num_keys && rc==SQLITE_OK; i++){
    rc = config_renew_key(index, &config->keys[i]);
  }
  return rc;
}

int bloom_index_config_set(bloom_index *index){
  index_config *config = &index->config;
  int i, j;
  for(i=0; i<config->num_keys; i++){
    index_key *key = &config->keys[i];
    key->column = bloom_source_find(&index->columns, key->name);
    if( key->column<0 ){
      return bloom_index_fail(index, "bloom_index: there is no column %s in table %s",
                             key->name, config->source);
    }
    if( key->column==index->columns.id_column && !key->is_like ){
      return bloom_index_fail(index,
                             "bloom_index: column %s is the INTEGER PRIMARY KEY, which finds its "
                             "row by itself", key->name);
    }
    for(j=0; j<i; j++){
      if( config->keys[j].column==key->column && config->keys[j].is_like==key->is_like
         && config->keys[j].is_range==key->is_range ){
        return bloom_index_fail(index, "bloom_index: column %s is named twice", key->name);
      }
    }
  }
  return bloom_index_config_renew(index);
}

/* -- On disk ---------------------------------------------------------------------------- */

static void config_append_u32(sqlite3_str *out, uint32_t number){
  uint8_t bytes[4];
  bloom_store32_le(bytes, number);
  sqlite3_str_append(out, (const char *)bytes, 4);
}

static void config_append_text(sqlite3_str *out, const char *text){
  const size_t num_bytes = strlen(text);
  config_append_u32(out, (uint32_t)num_bytes);
  sqlite3_str_append(out, text, (int)num_bytes);
}

/* Sets config->checksum, and *bytes to what is stored, to be freed in any case. */
static int config_print(index_config *config, char **bytes, int *num_bytes){
  sqlite3_str *out = sqlite3_str_new(NULL);
  uint8_t checksum[8];
  int i, rc;
  config_append_u32(out, CONFIG_MAGIC);
  config_append_u32(out, 0);
  config_append_u32(out, (uint32_t)config->has_hidden_ids);
  config_append_u32(out, config->version);
  config_append_u32(out, (uint32_t)config->num_keys);
  for(i=0; i<config->num_keys; i++){
    const index_key *key = &config->keys[i];
    config_append_u32(out, (uint32_t)(unsigned char)key->affinity
                           | (key->is_like ? CONFIG_IS_LIKE : 0)
                           | (key->is_virtual ? CONFIG_IS_VIRTUAL : 0)
                           | (key->is_gone ? CONFIG_IS_GONE : 0)
                           | (key->is_regexp ? CONFIG_IS_REGEXP : 0)
                           | (key->is_range ? CONFIG_IS_RANGE : 0));
  }
  config_append_text(out, config->source);
  for(i=0; i<config->num_keys; i++){
    config_append_text(out, config->keys[i].name);
    config_append_text(out, config->keys[i].collation);
  }
  config->checksum = bloom_xxh64((const uint8_t *)sqlite3_str_value(out),
                                 (size_t)sqlite3_str_length(out));
  bloom_store64_le(checksum, config->checksum);
  sqlite3_str_append(out, (const char *)checksum, 8);
  rc = sqlite3_str_errcode(out);
  *num_bytes = sqlite3_str_length(out);
  *bytes = sqlite3_str_finish(out);
  return rc;
}

/* Returns the string at *bytes, in memory of its own, and moves *bytes behind it.  Damage: NULL
** without *is_nomem. */
static char *config_take_text(const uint8_t **bytes, const uint8_t *end, int *is_nomem){
  char *text = NULL;
  size_t num_bytes;
  if( end - *bytes<4 ) return NULL;
  num_bytes = bloom_load32_le(*bytes);
  *bytes += 4;
  if( (size_t)(end - *bytes)<num_bytes || memchr(*bytes, 0, num_bytes) ) return NULL;
  text = sqlite3_malloc64(num_bytes + 1);
  if( text==NULL ){
    *is_nomem = 1;
    return NULL;
  }
  memcpy(text, *bytes, num_bytes);
  text[num_bytes] = 0;
  *bytes += num_bytes;
  return text;
}

/* Reads a configuration.  SQLITE_OK; SQLITE_NOMEM; SQLITE_CORRUPT_VTAB, config half read. */
static int config_parse(index_config *config, int *is_of_1_2, const uint8_t *bytes,
                        size_t num_bytes){
  const uint8_t *end;
  uint32_t num_keys, i;
  int is_nomem = 0;
  if( num_bytes<CONFIG_HEAD_BYTES + 8 ) return SQLITE_CORRUPT_VTAB;
  *is_of_1_2 = bloom_load32_le(bytes)==CONFIG_MAGIC_OF_1_2;
  if( !*is_of_1_2 && bloom_load32_le(bytes)!=CONFIG_MAGIC ) return SQLITE_CORRUPT_VTAB;
  end = bytes + num_bytes - 8;
  config->checksum = bloom_load64_le(end);
  if( config->checksum!=bloom_xxh64(bytes, num_bytes - 8) ) return SQLITE_CORRUPT_VTAB;
  config->has_hidden_ids = bloom_load32_le(bytes + 8)!=0;
  config->version = bloom_load32_le(bytes + 12);
  num_keys = bloom_load32_le(bytes + 16);
  bytes += CONFIG_HEAD_BYTES;
  if( num_keys<1 || num_keys>INDEX_MAX_KEYS
     || (size_t)(end - bytes)<(size_t)CONFIG_KEY_BYTES*num_keys ) return SQLITE_CORRUPT_VTAB;
  config->num_keys = (int)num_keys;
  for(i=0; i<num_keys; i++, bytes+=CONFIG_KEY_BYTES){
    const uint32_t flags = bloom_load32_le(bytes);
    config->keys[i] = (index_key){
      .affinity = (char)(flags & CONFIG_AFFINITY), .is_like = (flags & CONFIG_IS_LIKE)!=0,
      .is_virtual = (flags & CONFIG_IS_VIRTUAL)!=0, .is_gone = (flags & CONFIG_IS_GONE)!=0,
      .is_regexp = (flags & CONFIG_IS_REGEXP)!=0, .is_range = (flags & CONFIG_IS_RANGE)!=0,
      .column = -1
    };
  }
  config->source = config_take_text(&bytes, end, &is_nomem);
  for(i=0; i<num_keys; i++){
    index_key *key = &config->keys[i];
    key->name = config_take_text(&bytes, end, &is_nomem);
    if( key->name ) key->collation = config_take_text(&bytes, end, &is_nomem);
    if( key->collation==NULL || !config_set_equality(key) ){
      return is_nomem ? SQLITE_NOMEM : SQLITE_CORRUPT_VTAB;
    }
  }
  return config->source==NULL || bytes!=end ? SQLITE_CORRUPT_VTAB : SQLITE_OK;
}

/* Opens the configuration; *blob is to be closed.  Returns what bloom_blob_open_any() does. */
static int config_open(const bloom_index *index, sqlite3_blob **blob){
  char *table = sqlite3_mprintf("%s_state", index->name);
  const bloom_blob_place place = {index->connection->db, index->schema, table, "config"};
  const int rc = table ? bloom_blob_open_any(place, 1, 0, blob) : SQLITE_NOMEM;
  if( table==NULL ) *blob = NULL;
  sqlite3_free(table);
  return rc;
}

int bloom_index_config_compare(bloom_index *index, int *is_same){
  sqlite3_blob *blob;
  int rc = config_open(index, &blob);
  *is_same = 0;
  if( rc==SQLITE_OK && sqlite3_blob_bytes(blob)>8 ){
    uint8_t checksum[8] = {0};
    rc = sqlite3_blob_read(blob, checksum, 8, sqlite3_blob_bytes(blob) - 8);
    *is_same = bloom_load64_le(checksum)==index->config.checksum;
  }
  sqlite3_blob_close(blob);
  return rc==SQLITE_ERROR ? SQLITE_OK : rc;
}

int bloom_index_config_read(bloom_index *index){
  uint8_t *bytes = NULL;
  sqlite3_blob *blob;
  size_t num_bytes = 0;
  int rc = config_open(index, &blob);
  if( rc==SQLITE_OK ){
    num_bytes = (size_t)sqlite3_blob_bytes(blob);
    bytes = sqlite3_malloc64(num_bytes + 1);
    rc = bytes ? sqlite3_blob_read(blob, bytes, (int)num_bytes, 0) : SQLITE_NOMEM;
  }
  sqlite3_blob_close(blob);
  if( rc==SQLITE_OK ) rc = config_parse(&index->config, &index->is_of_1_2, bytes, num_bytes);
  sqlite3_free(bytes);
  if( rc!=SQLITE_ERROR && (rc & 0xff)!=SQLITE_CORRUPT ) return rc;
  bloom_index_config_free(&index->config);
  index->damage = "is damaged: its configuration; drop it and create it again";
  return SQLITE_OK;
}

/* == The layout ======================================================================== */

/*
** How far the entries reach.
**
** NAME_state has one row.  `covered` is for the triggers, which compare ids with it; `config` is
** what is described above; `layout` says where all entries are.  Little-endian:
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

/* Reads a run.  Returns 1 if it is one that a merge may have written. */
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
    if( (generation->keys[i].hash_bits>0)!=bloom_index_has_hashes(&index->config.keys[i]) ){
      return 0;
    }
  }
  return 1;
}

/* Reads a layout.  Returns 1 if the bytes are one; the slots of all generations of a column differ,
** as rows of one table do. */
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
  layout->hash = bloom_load64_le(head + num_bytes - 8);
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
  bloom_index_fixed_give_back(index, INDEX_FIXED_STATE, is_good);
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

/* Writes the row, never without a configuration: in a transaction SQLite does not undo what a
** command did before it failed. */
int bloom_index_state_insert(bloom_index *index){
  sqlite3_stmt *insert = NULL;
  char *config;
  int num_bytes, rc = config_print(&index->config, &config, &num_bytes);
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

int bloom_index_layout_write(bloom_index *index, const index_layout *layout){
  sqlite3_stmt *update = NULL;
  size_t num_bytes;
  uint8_t *bytes = layout_print(index, layout, &num_bytes);
  int rc = SQLITE_NOMEM;
  if( bytes ){
    rc = bloom_sql_prepare(index->connection, &update,
                           "UPDATE \"%w\".\"%w_state\" SET covered = ?1, layout = ?2, note = NULL,"
                           " bytes = ?3", index->schema, index->name);
  }
  if( rc==SQLITE_OK && layout->has_covered ) rc = sqlite3_bind_int64(update, 1, layout->covered);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob64(update, 2, bytes, num_bytes, SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(update, 3, bloom_index_layout_bytes(index, layout));
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, update);
  rc = bloom_sql_end(update, rc);
  sqlite3_free(bytes);
  if( rc==SQLITE_OK ) index->number = layout->number;
  return rc;
}
