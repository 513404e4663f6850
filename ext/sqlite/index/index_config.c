/*
** The two BLOBs in the one row of NAME_state: `config`, what entries were begun with, and `layout`,
** how far they reach and where they are, beside `covered`, which triggers compare ids with.
** FORMATS.md has the bytes.
**
** Nothing in a database is overwritten before the layout is: a merge writes rows that no layout
** names yet, then the row of NAME_state in one statement, and then deletes what it names no more.
*/
#include "index_source.h"
#include "index_entries.h"

#include <string.h>

#include "../source/record.h"

/* Runs SQL on NAME_state with ?1, a record that was written, and ?2, *covered or NULL.  Frees the
** record. */
static int state_write(bloom_record *record, bloom_index *index, const char *format,
                       const sqlite3_int64 *covered){
  sqlite3_stmt *write = NULL;
  int rc = record->rc==SQLITE_OK
    ? bloom_sql_prepare(index->connection, &write, format, index->schema, index->name)
    : record->rc;
  if( rc==SQLITE_OK ){
    rc = sqlite3_bind_blob(write, 1, sqlite3_str_value(record->out),
                           sqlite3_str_length(record->out), SQLITE_STATIC);
  }
  if( rc==SQLITE_OK && covered ) rc = sqlite3_bind_int64(write, 2, *covered);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, write);
  rc = bloom_sql_end(write, rc);
  sqlite3_free(sqlite3_str_finish(record->out));
  return rc;
}

/* == The configuration ================================================================= */

#define CONFIG_MAGIC        0x33434942u
#define CONFIG_MAGIC_OF_1_2 0x32434942u
#define CONFIG_AFFINITY     0xffu
#define CONFIG_IS_VIRTUAL   0x200u
#define CONFIG_IS_GONE      0x400u
#define CONFIG_KIND         (~(CONFIG_AFFINITY | CONFIG_IS_VIRTUAL | CONFIG_IS_GONE))

/* Words, bits, groups; has_hash_bits, has_lists, is_of_texts; suffix. */
const index_key_properties bloom_index_key_kinds[INDEX_NUM_KEY_KINDS] = {
  [INDEX_KEY_HASHES] = {{NULL}, 0, INDEX_EQUALITY, 1, 0, 0, "entries"},
  [INDEX_KEY_TEXTS] = {{"LIKE"}, 0x100, INDEX_EQUALITY | INDEX_PATTERN, 0, 1, 1, "entries"},
  [INDEX_KEY_REGEXP] = {{"LIKE", "REGEXP"}, 0x900,
                        INDEX_EQUALITY | INDEX_PATTERN | INDEX_EXPRESSION, 0, 1, 1, "entries"},
  [INDEX_KEY_ZONES] = {{"RANGE"}, 0x1000,
                       INDEX_EQUALITY | INDEX_RANGE | INDEX_NULL_TEST, 0, 0, 0, "zones"},
};

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

/* Sets key->equality.  Returns 0 if the column cannot be indexed by its kind and collation. */
static int config_set_equality(index_key *key){
  assert( key->collation );
  key->equality.kind = bloom_column_kind_of_affinity(key->affinity);
  return bloom_collation_named(key->collation, &key->equality.collation)
    || index_properties_of(key)->is_of_texts;
}

int bloom_index_config_renew(bloom_index *index){
  index_config *config = &index->config;
  int i;
  config->version = (uint32_t)sqlite3_libversion_number();
  config->has_hidden_ids = index->columns.id_column<0;
  if( index->columns.is_partial ) return SQLITE_AUTH;
  assert( index->columns.id_name );
  for(i=0; i<config->num_keys; i++){
    index_key *key = &config->keys[i];
    const bloom_source_column *column = key->column>=0 ? &index->columns.list[key->column] : NULL;
    char *name = sqlite3_mprintf("%s", column ? column->name : key->name);
    char *collation = sqlite3_mprintf("%s", column ? column->collation : "BINARY");
    sqlite3_free(key->name);
    sqlite3_free(key->collation);
    key->name = name;
    key->collation = collation;
    if( name==NULL || collation==NULL ) return SQLITE_NOMEM;
    key->is_gone = column==NULL;
    key->affinity = (char)(column ? column->affinity : 'b');
    key->is_virtual = column && column->is_virtual;
    key->doubt = NULL;
    if( column && !config_set_equality(key) ){
      return BLOOM_INDEX_FAIL(index, "bloom_index: column %s of table %s has collation %s; use"
                                     " BINARY, NOCASE or RTRIM", name, config->source, collation);
    }
  }
  return SQLITE_OK;
}

/* -- On disk ---------------------------------------------------------------------------- */

/* Reads or writes a configuration.  Reading sets index->is_of_1_2 and each equality, too. */
static void config_record(bloom_record *record, bloom_index *index){
  index_config *config = &index->config;
  const int is_read = record->out==NULL;
  uint32_t magic = CONFIG_MAGIC, probes = 0;
  int i;
  bloom_record_u32(record, &magic, 0, UINT32_MAX);
  bloom_record_u32(record, &probes, 0, UINT32_MAX);
  bloom_record_int(record, &config->has_hidden_ids, 0, 1);
  bloom_record_u32(record, &config->version, 0, UINT32_MAX);
  bloom_record_expect(record, magic==CONFIG_MAGIC || magic==CONFIG_MAGIC_OF_1_2);
  bloom_record_int(record, &config->num_keys, 1, INDEX_MAX_KEYS);
  if( record->rc!=SQLITE_OK ) return;
  if( is_read ) index->is_of_1_2 = magic==CONFIG_MAGIC_OF_1_2;
  for(i=0; i<config->num_keys; i++){
    index_key *key = &config->keys[i];
    uint32_t flags = (uint32_t)(unsigned char)key->affinity | index_properties_of(key)->bits
        | (key->is_virtual ? CONFIG_IS_VIRTUAL : 0) | (key->is_gone ? CONFIG_IS_GONE : 0);
    bloom_record_u32(record, &flags, 0, UINT32_MAX);
    if( is_read ) *key = (index_key){
        .affinity = (char)(flags & CONFIG_AFFINITY), .column = -1,
        .is_virtual = (flags & CONFIG_IS_VIRTUAL)!=0, .is_gone = (flags & CONFIG_IS_GONE)!=0
      };
    while( is_read && index_properties_of(key)->bits!=(flags & CONFIG_KIND)
          && key->kind<INDEX_NUM_KEY_KINDS - 1 ) key->kind++;
    bloom_record_expect(record, index_properties_of(key)->bits==(flags & CONFIG_KIND)
                                && bloom_is_affinity(key->affinity));
  }
  bloom_record_text(record, &config->source);
  for(i=0; i<config->num_keys && record->rc==SQLITE_OK; i++){
    index_key *key = &config->keys[i];
    bloom_record_text(record, &key->name);
    bloom_record_text(record, &key->collation);
    if( is_read && record->rc==SQLITE_OK ) bloom_record_expect(record, config_set_equality(key));
  }
  bloom_record_end(record);
  config->checksum = record->checksum;
}

/* Opens the stored record, whose *bytes are to be freed in any case.  SQLITE_OK; SQLITE_ERROR if
** there is none; else SQLite's error. */
static int config_load(const bloom_index *index, uint8_t **bytes, bloom_record *record){
  char *table = sqlite3_mprintf("%s_state", index->name);
  sqlite3_blob *blob = NULL;
  int rc = table
    ? bloom_blob_open(index->connection->db, index->schema, table, "config", 1, 0, &blob)
    : SQLITE_NOMEM;
  *bytes = NULL;
  if( rc==SQLITE_OK ){
    const int num_bytes = sqlite3_blob_bytes(blob);
    *bytes = sqlite3_malloc64((sqlite3_uint64)num_bytes + 1);
    rc = *bytes ? sqlite3_blob_read(blob, *bytes, num_bytes, 0) : SQLITE_NOMEM;
    if( rc==SQLITE_OK ) *record = bloom_record_open(*bytes, (size_t)num_bytes);
  }
  sqlite3_blob_close(blob);
  sqlite3_free(table);
  return rc;
}

int bloom_index_config_compare(bloom_index *index, int *is_same){
  uint8_t *bytes;
  bloom_record record;
  const int rc = config_load(index, &bytes, &record);
  *is_same = rc==SQLITE_OK && record.checksum==index->config.checksum;
  sqlite3_free(bytes);
  return rc==SQLITE_ERROR ? SQLITE_OK : rc;
}

int bloom_index_config_read(bloom_index *index){
  uint8_t *bytes;
  bloom_record record;
  int rc = config_load(index, &bytes, &record);
  bloom_index_layout_free(index); /* which was read by another configuration */
  if( rc==SQLITE_OK ){
    config_record(&record, index);
    rc = record.rc;
  }
  sqlite3_free(bytes);
  if( rc!=SQLITE_ERROR && (rc & 0xff)!=SQLITE_CORRUPT ) return rc;
  bloom_index_config_free(&index->config);
  index->damage = "is damaged: its configuration; drop it and create it again";
  return SQLITE_OK;
}

/* == The layout ======================================================================== */

#define LAYOUT_MAGIC            0x34584942u
#define LAYOUT_MAX_BYTES        ((size_t)1 << 20)

/* More rows than a table can have, and more entries than a run can have: sums have 64 bits.  What a
** merge adds to a hostile file's numbers may exceed them. */
#define LAYOUT_MAX_ROWS  ((uint64_t)1 << 62)
#define LAYOUT_MAX_PAIRS ((uint64_t)1 << 56)

/* The layout that was read last: its record, and what that says. */
struct index_layout_kept {
  uint8_t *bytes;
  size_t num_bytes;
  int is_good;
  index_layout layout;
};

void bloom_index_layout_free(bloom_index *index){
  if( index->layout ) sqlite3_free(index->layout->bytes);
  sqlite3_free(index->layout);
  index->layout = NULL;
  index->facts.known = 0;
}

/* -- The record ----------------------------------------------------------------------------- */

/* Reads or writes a column's runs, which must be ones that merges may write.  Sets the bits of
** their slots, which must differ in all generations: the rows of all are in one table. */
static void layout_record_key(bloom_record *record, const index_key *key,
                              const index_generation *generation, index_key_layout *of_key,
                              uint64_t slots[2]){
  uint32_t i, num_targets = 0, num_in_layout = 0;
  uint32_t of_target = 0, of_sources = 0; /* their end_block; 0: there is none */
  bloom_record_u32(record, &of_key->hash_bits, 0, INDEX_MAX_HASH_BITS);
  bloom_record_u32(record, &of_key->num_runs, 0,
                   key->kind==INDEX_KEY_ZONES ? 0 : INDEX_ROOM_RUNS);
  bloom_record_u64(record, &of_key->number);
  bloom_record_expect(record, (of_key->hash_bits>0)==index_properties_of(key)->has_hash_bits);
  for(i=0; i<of_key->num_runs && record->rc==SQLITE_OK; i++){
    index_run *run = &of_key->runs[i];
    int role = (int)run->role;
    bloom_record_u64(record, &run->number);
    bloom_record_u64(record, &run->last);
    bloom_record_u64(record, &run->num_pairs);
    bloom_record_u32(record, &run->num_rows, 0, UINT32_MAX);
    bloom_record_u32(record, &run->end_block, 1, generation->num_spans << INDEX_SPAN_LG);
    bloom_record_u32(record, &run->slot, 0, INDEX_NUM_SLOTS - 1);
    bloom_record_int(record, &role, 0, INDEX_RUN_IN_LAYOUT);
    bloom_record_expect(record, !(slots[run->slot/64] >> run->slot%64 & 1)
                                && run->last<INDEX_LAST_LIST);
    if( run->num_pairs>LAYOUT_MAX_PAIRS ) record->rc = SQLITE_CORRUPT_VTAB;
    if( record->rc!=SQLITE_OK ) return;
    run->role = (index_run_role)role;
    slots[run->slot/64] |= (uint64_t)1 << run->slot%64;
    num_targets += role==INDEX_RUN_TARGET;
    num_in_layout += role==INDEX_RUN_IN_LAYOUT;
    if( role==INDEX_RUN_TARGET ) of_target = run->end_block;
    if( role==INDEX_RUN_SOURCE && run->end_block>of_sources ) of_sources = run->end_block;
    if( role!=INDEX_RUN_IN_LAYOUT ) continue;
    bloom_record_u32(record, &run->row_bytes, 0, BLOOM_ENTRIES_ROW_BYTES);
    bloom_record_view(record, &run->row, run->row_bytes);
  }
  bloom_record_expect(record, num_targets<=1 && (of_target>0)==(of_sources>0)
                              && of_target>=of_sources
                              && num_in_layout<=(of_key->hash_bits>0 ? 1u : 0u));
}

/* Reads or writes a layout. */
static void layout_record(bloom_record *record, const index_config *config, index_layout *layout){
  uint32_t magic = LAYOUT_MAGIC;
  uint64_t slots[INDEX_MAX_KEYS][2] = {{0}}; /* that runs have: a bit for each */
  int i, key, num_keys = config->num_keys;
  bloom_record_u32(record, &magic, LAYOUT_MAGIC, LAYOUT_MAGIC);
  bloom_record_int(record, &layout->has_covered, 0, 1);
  bloom_record_i64(record, &layout->covered);
  bloom_record_i64(record, &layout->first);
  bloom_record_u64(record, &layout->number);
  bloom_record_u64(record, &layout->num_rows);
  bloom_record_int(record, &num_keys, config->num_keys, config->num_keys);
  bloom_record_int(record, &layout->num_generations, 1, INDEX_MAX_GENERATIONS);
  bloom_record_i64(record, &layout->bound);
  if( layout->num_rows>LAYOUT_MAX_ROWS ) record->rc = SQLITE_CORRUPT_VTAB;
  if( record->rc!=SQLITE_OK ) return;
  for(i=0; i<layout->num_generations; i++){
    index_generation *generation = &layout->generations[i];
    bloom_record_u32(record, &generation->place, 0, INDEX_MAX_GENERATIONS - 1);
    bloom_record_u32(record, &generation->shift, 0, 63);
    bloom_record_u32(record, &generation->num_spans, 0, INDEX_MAX_SPANS);
    bloom_record_u32(record, &generation->zone_lg, 0, INDEX_SPAN_LG);
    bloom_record_u32(record, &generation->block_rows, 0, UINT32_MAX);
    bloom_record_u64(record, &generation->spans_hash);
    bloom_record_u64(record, &generation->num_built);
    bloom_record_u64(record, &generation->num_rows);
    bloom_record_expect(record, i==0 || generation->place!=layout->generations[0].place);
    for(key=0; key<config->num_keys && record->rc==SQLITE_OK; key++){
      layout_record_key(record, &config->keys[key], generation, &generation->keys[key],
                        slots[key]);
    }
  }
  bloom_record_end(record);
  layout->hash = record->checksum;
}

/* -- Reading -------------------------------------------------------------------------------- */

/* Sets index->layout to what a record says, unless it is the one that was read last. */
static int layout_take_bytes(bloom_index *index, const void *bytes, size_t num_bytes){
  struct index_layout_kept *kept = index->layout;
  bloom_record record;
  uint8_t *copy;
  if( kept==NULL ){
    kept = index->layout = bloom_malloc_zeros(sizeof(*kept));
    if( kept==NULL ) return SQLITE_NOMEM;
  }
  if( kept->bytes && num_bytes==kept->num_bytes && memcmp(bytes, kept->bytes, num_bytes)==0 ){
    return SQLITE_OK;
  }
  copy = sqlite3_malloc64(num_bytes + 1);
  if( copy==NULL ) return SQLITE_NOMEM;
  memcpy(copy, bytes, num_bytes);
  sqlite3_free(kept->bytes);
  kept->bytes = copy;
  kept->num_bytes = num_bytes;
  memset(&kept->layout, 0, sizeof(kept->layout));
  record = bloom_record_open(copy, num_bytes);
  layout_record(&record, &index->config, &kept->layout);
  kept->is_good = record.rc==SQLITE_OK;
  return SQLITE_OK;
}

int bloom_index_layout_read(bloom_index *index, const index_layout **layout){
  sqlite3_stmt *row;
  int is_good = 0, rc;
  *layout = NULL;
  if( index->facts.known & INDEX_FACT_LAYOUT ){
    assert( index->layout->is_good );
    *layout = &index->layout->layout;
    index->number = (*layout)->number;
    return SQLITE_OK;
  }
  rc = bloom_index_statement_take(index, INDEX_USE_STATE, &row, "SELECT s.covered, s.layout FROM"
                                  " \"%w\".\"%w_state\" AS s", index->schema, index->name);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW ){
    const sqlite3_int64 covered = sqlite3_column_int64(row, 0);
    const int type = sqlite3_column_type(row, 0);
    const void *bytes = sqlite3_column_blob(row, 1);
    const size_t num_bytes = (size_t)sqlite3_column_bytes(row, 1);
    rc = bytes==NULL && num_bytes>0 ? SQLITE_NOMEM : SQLITE_OK;
    if( bytes && sqlite3_column_type(row, 1)==SQLITE_BLOB && num_bytes<=LAYOUT_MAX_BYTES ){
      rc = layout_take_bytes(index, bytes, num_bytes);
      if( rc==SQLITE_OK && index->layout->is_good ){
        const index_layout *kept = &index->layout->layout;
        *layout = kept;
        is_good = kept->has_covered ? type==SQLITE_INTEGER && covered==kept->covered
          : type==SQLITE_NULL;
      }
    }
    if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
    if( rc==SQLITE_ROW ) is_good = 0; /* there is a second row, and triggers read the first */
  }
  bloom_index_statement_give_back(index, row, is_good);
  if( rc!=SQLITE_DONE && rc!=SQLITE_ROW ) return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
  if( !is_good ) return SQLITE_CORRUPT_VTAB;
  index->number = (*layout)->number;
  bloom_index_note(index, INDEX_FACT_LAYOUT);
  return SQLITE_OK;
}

/* -- Writing -------------------------------------------------------------------------------- */

/* Writes the row of NAME_state, with its configuration from the start: in a transaction SQLite does
** not undo what a command did before it failed. */
int bloom_index_state_insert(bloom_index *index){
  bloom_record record = {.out = sqlite3_str_new(NULL)};
  int rc;
  config_record(&record, index);
  rc = state_write(&record, index, "INSERT OR REPLACE INTO \"%w\".\"%w_state\"(rowid, config)"
                   " VALUES (1, ?1)", NULL);
  if( rc!=SQLITE_OK ) return rc;
  return bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_state\" WHERE rowid <> 1",
                       index->schema, index->name);
}

#ifndef NDEBUG
/* Returns 1 if a layout that is read from a record is written as this, or memory fails. */
static int layout_reads_back(sqlite3_str *written, const index_config *config){
  const int num_bytes = sqlite3_str_length(written);
  bloom_record to = {.out = sqlite3_str_new(NULL)};
  bloom_record from = bloom_record_open((const uint8_t *)sqlite3_str_value(written),
                                        (size_t)num_bytes);
  index_layout *layout = bloom_malloc_zeros(sizeof(*layout));
  int is_same = 1;
  if( layout ){
    layout_record(&from, config, layout);
    layout_record(&to, config, layout);
    is_same = from.rc==SQLITE_OK
      && (to.rc==SQLITE_NOMEM || (sqlite3_str_length(to.out)==num_bytes
          && memcmp(from.bytes, sqlite3_str_value(to.out), (size_t)num_bytes)==0));
  }
  sqlite3_free(sqlite3_str_finish(to.out));
  sqlite3_free(layout);
  return is_same;
}
#endif

int bloom_index_layout_write(bloom_index *index, index_layout *layout){
  bloom_record record = {.out = sqlite3_str_new(NULL)};
  int rc;
  layout_record(&record, &index->config, layout);
  assert( record.rc!=SQLITE_OK || layout_reads_back(record.out, &index->config) );
  rc = state_write(&record, index, "UPDATE \"%w\".\"%w_state\" SET layout = ?1, covered = ?2",
                   layout->has_covered ? &layout->covered : NULL);
  if( rc==SQLITE_OK ) index->number = layout->number;
  return rc;
}
