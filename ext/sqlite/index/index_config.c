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
**
** NAME_canary is there if the source has hidden rowids, which VACUUM and dumps may change: they
** give its one row, of rowid 7, another one too.  Backups and VACUUM INTO keep both.
*/
#include "index_source.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/hash.h"
#include "../errors.h"

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

#define CANARY_ROWID 7

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

/* Sets *is_virtual to whether a column is generated and not stored. */
static int config_find_virtual(bloom_index *index, const char *column, int *is_virtual){
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare(index->connection, &row, "PRAGMA \"%w\".table_xinfo(%Q)",
                             index->schema, index->config.source);
  *is_virtual = 0;
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
    const char *name = NULL;
    rc = bloom_sql_column_text(row, 1, &name);
    if( name && sqlite3_stricmp(name, column)==0 ) *is_virtual = sqlite3_column_int(row, 6)==2;
  }
  return bloom_sql_end(row, rc);
}

/* Sets what a column is now, as its entries are begun. */
static int config_renew_key(bloom_index *index, index_key *key, char **error){
  const index_column_info *column = key->column>=0 ? &index->columns.list[key->column] : NULL;
  char *name = sqlite3_mprintf("%s", column ? column->name : key->name);
  char *collation = sqlite3_mprintf("%s", column ? column->collation : "BINARY");
  sqlite3_free(key->name);
  sqlite3_free(key->collation);
  key->name = name;
  key->collation = collation;
  if( name==NULL || collation==NULL ) return SQLITE_NOMEM;
  key->is_gone = column==NULL;
  key->affinity = (char)(column ? bloom_affinity_of(column->type) : 'b');
  key->is_virtual = 0;
  key->doubt = NULL;
  if( column && !config_set_equality(key) ){
    return bloom_fail_vtab(error, "bloom_index: column %s of table %s has collation %s, of which"
                                  " nobody knows here what it takes for equal; it may be BINARY,"
                                  " NOCASE or RTRIM", name, index->config.source, collation);
  }
  return column ? config_find_virtual(index, name, &key->is_virtual) : SQLITE_OK;
}

int bloom_index_config_renew(bloom_index *index, char **error){
  index_config *config = &index->config;
  int i, rc = SQLITE_OK;
  config->version = (uint32_t)sqlite3_libversion_number();
  config->has_hidden_ids = index->columns.id_column<0;
  for(i=0; i<config->num_keys && rc==SQLITE_OK; i++){
    rc = config_renew_key(index, &config->keys[i], error);
  }
  return rc;
}

int bloom_index_config_set(bloom_index *index, char **error){
  index_config *config = &index->config;
  int i, j;
  for(i=0; i<config->num_keys; i++){
    index_key *key = &config->keys[i];
    key->column = bloom_index_columns_find(&index->columns, key->name);
    if( key->column<0 ){
      return bloom_fail_vtab(error, "bloom_index: there is no column %s in table %s",
                             key->name, config->source);
    }
    if( key->column==index->columns.id_column && !key->is_like ){
      return bloom_fail_vtab(error,
                             "bloom_index: column %s is the INTEGER PRIMARY KEY, which finds its "
                             "row by itself", key->name);
    }
    for(j=0; j<i; j++){
      if( config->keys[j].column==key->column && config->keys[j].is_like==key->is_like
         && config->keys[j].is_range==key->is_range ){
        return bloom_fail_vtab(error, "bloom_index: column %s is named twice", key->name);
      }
    }
  }
  return bloom_index_config_renew(index, error);
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

int bloom_index_config_print(index_config *config, char **bytes, int *num_bytes){
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

int bloom_index_canary_find(bloom_index *index, sqlite3_int64 *is_there){
  *is_there = 0;
  return bloom_sql_integer(index->connection, is_there, "SELECT 1 FROM \"%w\".sqlite_master"
                           " WHERE type = 'table' AND rootpage > 0"
                           " AND name = '%q_canary' COLLATE NOCASE AND sql GLOB '"
                           INDEX_CANARY_FORM "'", index->schema, index->name);
}

int bloom_index_canary_write(bloom_index *index){
  sqlite3_int64 is_there;
  int rc;
  if( !index->config.has_hidden_ids ) return SQLITE_OK;
  rc = bloom_index_canary_find(index, &is_there);
  if( rc==SQLITE_OK ){
    /* CREATE fails where the name is taken. */
    rc = bloom_sql_run(index->connection, is_there ? "DELETE FROM \"%w\".\"%w_canary\""
                       : "CREATE TABLE \"%w\".\"%w_canary\"(" INDEX_CANARY_COLUMN ")",
                       index->schema, index->name);
  }
  if( rc!=SQLITE_OK ) return rc;
  return bloom_sql_run(index->connection,
                       "INSERT INTO \"%w\".\"%w_canary\"(rowid, " INDEX_CANARY_COLUMN ")"
                       " VALUES (%d, NULL)",
                       index->schema, index->name, CANARY_ROWID);
}

int bloom_index_canary_compare(bloom_index *index, int *is_same){
  sqlite3_int64 rowid = 0, is_there = 0;
  int rc = SQLITE_OK;
  if( index->config.has_hidden_ids ) rc = bloom_index_canary_find(index, &is_there);
  if( rc==SQLITE_OK && is_there ){
    rc = bloom_sql_integer(index->connection, &rowid,
                           "SELECT c.rowid FROM \"%w\".\"%w_canary\" AS "
                           "c", index->schema, index->name);
  }
  *is_same = !index->config.has_hidden_ids || rowid==CANARY_ROWID;
  return rc;
}

/* The string at *bytes, in memory of its own; *bytes moves behind it.  Damage: NULL without
** *is_nomem. */
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

/* SQLITE_OK; SQLITE_NOMEM; SQLITE_CORRUPT_VTAB, config half read. */
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

int bloom_index_state_open(const bloom_index *index, const char *suffix, const char *column,
                           int is_writable, sqlite3_blob **blob){
  char *table = sqlite3_mprintf("%s_%s", index->name, suffix);
  int rc = SQLITE_NOMEM;
  *blob = NULL;
  if( table ) rc = sqlite3_blob_open(index->connection->db, index->schema, table, column, 1,
                                     is_writable, blob);
  sqlite3_free(table);
  return rc;
}

int bloom_index_config_compare(bloom_index *index, int *is_same){
  sqlite3_blob *blob;
  int rc = bloom_index_state_open(index, "state", "config", 0, &blob);
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
  int rc = bloom_index_state_open(index, "state", "config", 0, &blob);
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
