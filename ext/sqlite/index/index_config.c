/*
** What is decided once, when the table is made.
**
** NAME_config has one row with one BLOB.  Little-endian; a string is its length as a u32,
** and its bytes:
**
**   0   u32   magic "BIC1"
**   4   u32   probes of a key; 0: they grow with the table
**   8   u32   number of the source's columns
**   12  u32   the column that is its INTEGER PRIMARY KEY
**   16  u32   number of indexed columns, then for each of them
**       u32   its number among the columns; the top bit is set where it is for LIKE
**       u32   bits of a block
**   ..  the source's name, then of each column its name, type and collation
**   ..  u64   XXH64 of all bytes before
*/
#include "index_int.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/xxh64.h"
#include "../errors.h"
#include "../source/source.h"
#include "../source/tokens.h"

#define CONFIG_MAGIC      0x31434942u
#define CONFIG_HEAD_BYTES 20
#define CONFIG_KEY_BYTES  8
#define CONFIG_IS_LIKE    0x80000000u

/* Measured: test/bench/README.md. */
#define INDEX_KEY_BITS_PER_BLOCK  8192
#define INDEX_LIKE_BITS_PER_BLOCK 16384

void index_config_free(index_config *config){
  int i;
  for(i=0; i<config->num_columns; i++){
    sqlite3_free(config->columns[i].name);
    sqlite3_free(config->columns[i].type);
    sqlite3_free(config->columns[i].collation);
  }
  sqlite3_free(config->columns);
  sqlite3_free(config->source);
  memset(config, 0, sizeof(*config));
}

int index_config_same_columns(const index_config *a, const index_config *b){
  int i;
  if( a->num_columns!=b->num_columns || a->id_column!=b->id_column ) return 0;
  for(i=0; i<a->num_columns; i++){
    if( sqlite3_stricmp(a->columns[i].name, b->columns[i].name)!=0 ) return 0;
    if( strcmp(a->columns[i].type, b->columns[i].type)!=0 ) return 0;
    if( sqlite3_stricmp(a->columns[i].collation, b->columns[i].collation)!=0 ) return 0;
  }
  return 1;
}

/* -- The source's columns --------------------------------------------------------------- */

/* Appends the column of a row of PRAGMA table_xinfo: cid, name, ... */
static int config_add_column(bloom_index *index, index_config *config, sqlite3_stmt *row, int *max_columns){
  const char *type = NULL, *collation = NULL;
  index_source_column *column;
  int rc;
  if( config->num_columns==*max_columns ){
    index_source_column *more;
    *max_columns = 2 * *max_columns + 8;
    more = sqlite3_realloc64(config->columns, (size_t)*max_columns * sizeof(*more));
    if( more==NULL ) return SQLITE_NOMEM;
    config->columns = more;
  }
  column = &config->columns[config->num_columns++];
  memset(column, 0, sizeof(*column));
  rc = bloom_sql_copy_text(row, 1, &column->name);
  if( rc!=SQLITE_OK ) return rc;
  rc = sqlite3_table_column_metadata(index->connection->db, index->schema, config->source, column->name, &type, &collation,
                                     NULL, NULL, NULL);
  /* PRAGMA table_xinfo does not tell no type from "", which has the affinity of NUMERIC. */
  column->type = sqlite3_mprintf("%s", type==NULL ? "" : type[0] ? type : "NUMERIC");
  column->collation = sqlite3_mprintf("%s", collation);
  return column->type && column->collation ? rc : SQLITE_NOMEM;
}

/* ANY of a STRICT table is no affinity.  A virtual table is not STRICT, and it would be NUMERIC. */
static void config_undeclare_any(index_source_column *column){
  if( sqlite3_stricmp(column->type, "ANY")==0 ) column->type[0] = 0;
}

int index_config_of_source(bloom_index *index, const char *source_name, index_config *config, char **error){
  bloom_source source;
  sqlite3_stmt *row = NULL;
  int max_columns = 0;
  int rc = bloom_source_read(index->connection, index->schema, source_name, &source, error);
  if( *error ){
    char *with_name = sqlite3_mprintf("bloom_index: %s", *error + strlen("bloom: "));
    sqlite3_free(*error);
    *error = with_name;
  }
  memset(config, 0, sizeof(*config));
  config->id_column = -1;
  if( rc==SQLITE_OK ){
    config->source = sqlite3_mprintf("%s", source.name);
    if( config->source==NULL ) rc = SQLITE_NOMEM;
  }
  if( rc==SQLITE_OK ) rc = bloom_sql_prepare(index->connection, &row, "PRAGMA \"%w\".table_xinfo(%Q)", index->schema, source.name);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
    rc = config_add_column(index, config, row, &max_columns);
    if( rc==SQLITE_OK && source.is_strict ) config_undeclare_any(&config->columns[config->num_columns-1]);
    if( rc==SQLITE_OK && source.row_column && sqlite3_stricmp(config->columns[config->num_columns-1].name, source.row_column->name)==0 ){
      config->id_column = config->num_columns - 1;
    }
  }
  sqlite3_finalize(row);
  bloom_source_free(&source);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

static int is_number_token(bloom_token token){
  return token.kind=='a' && strspn(token.text, "0123456789")>=token.num_chars;
}

/* 1 if a type is words, and behind them one or two numbers in parentheses.  In quotes a source's may
** be any text: one with a comma would make a column of its own, NOT NULL a constraint. */
static int is_plain_type(const char *type){
  static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ (,)";
  bloom_token token = bloom_token_first(type);
  if( token.kind!='a' || type[strspn(type, chars)] ) return *type==0; /* blanks alone would be none */
  for(; token.kind=='a'; token = bloom_token_after(token)){
    if( strchr("0123456789", *token.text) || sqlite3_keyword_check(token.text, (int)token.num_chars) || bloom_token_is(token, "hidden") ) return 0;
  }
  if( token.kind=='(' ){
    token = bloom_token_after(token);
    if( !is_number_token(token) ) return 0;
    token = bloom_token_after(token);
    if( token.kind==',' && is_number_token(bloom_token_after(token)) ) token = bloom_token_after(bloom_token_after(token));
    if( token.kind!=')' ) return 0;
    token = bloom_token_after(token);
  }
  return token.num_chars==0;
}

/* A type that sqlite3_declare_vtab() reads as it is, else one that has its affinity. */
static const char *config_declared_type(const char *type){
  if( is_plain_type(type) ) return type;
  switch( bloom_column_kind_of(type) ){
    case BLOOM_COLUMN_TEXT: return "TEXT";
    case BLOOM_COLUMN_NUMBER: return "NUMERIC";
    case BLOOM_COLUMN_ANY:
    case BLOOM_COLUMN_EXPRESSION: break;
  }
  return "BLOB";
}

char *index_config_declaration(const bloom_index *index){
  const index_config *config = &index->config;
  sqlite3_str *sql = sqlite3_str_new(NULL);
  int i;
  sqlite3_str_appendall(sql, "CREATE TABLE x(");
  for(i=0; i<config->num_columns; i++){
    const index_source_column *column = &config->columns[i];
    sqlite3_str_appendf(sql, "\"%w\" %s COLLATE \"%w\", ", column->name, config_declared_type(column->type), column->collation);
  }
  sqlite3_str_appendf(sql, "\"%w\" HIDDEN)", index->name);
  return sqlite3_str_finish(sql);
}

/* -- The indexed columns ---------------------------------------------------------------- */

static int config_find(const index_config *config, const char *name){
  int i;
  for(i=0; i<config->num_columns; i++){
    if( sqlite3_stricmp(config->columns[i].name, name)==0 ) return i;
  }
  return -1;
}

/* Sets what follows from the column. */
static int config_set_key(index_config *config, index_key *key, char **error){
  const index_source_column *column = &config->columns[key->column];
  key->equality.kind = bloom_column_kind_of(column->type);
  if( bloom_collation_named(column->collation, &key->equality.collation) || key->is_like ) return SQLITE_OK;
  return bloom_fail_vtab(error, "bloom_index: column %s of table %s has collation %s, of which nobody knows here what it "
    "takes for equal; it may be BINARY, NOCASE or RTRIM", column->name, config->source, column->collation);
}

int index_config_set(index_config *config, const index_args *args, char **error){
  int i, j, rc = SQLITE_OK;
  config->num_probes = args->num_probes;
  if( config->id_column<0 ){
    return bloom_fail_vtab(error, "bloom_index: table %s has no INTEGER PRIMARY KEY, and VACUUM may change its rowids", config->source);
  }
  for(i=0; i<args->num_columns && rc==SQLITE_OK; i++){
    index_key *key = &config->keys[config->num_keys++];
    key->column = config_find(config, args->columns[i]);
    key->is_like = args->is_like[i];
    key->bits_per_block = args->bits_per_block ? args->bits_per_block : key->is_like ? INDEX_LIKE_BITS_PER_BLOCK : INDEX_KEY_BITS_PER_BLOCK;
    if( key->column<0 ){
      return bloom_fail_vtab(error, "bloom_index: there is no column %s in table %s", args->columns[i], config->source);
    }
    if( key->column==config->id_column && !key->is_like ){
      return bloom_fail_vtab(error, "bloom_index: column %s is the INTEGER PRIMARY KEY, which finds its row by itself", args->columns[i]);
    }
    for(j=0; j<i; j++){
      if( config->keys[j].column==key->column && config->keys[j].is_like==key->is_like ){
        return bloom_fail_vtab(error, "bloom_index: column %s is named twice", args->columns[i]);
      }
    }
    rc = config_set_key(config, key, error);
  }
  return rc;
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

static void config_print(index_config *config, sqlite3_str *out){
  uint8_t checksum[8];
  int i;
  config_append_u32(out, CONFIG_MAGIC);
  config_append_u32(out, config->num_probes);
  config_append_u32(out, (uint32_t)config->num_columns);
  config_append_u32(out, (uint32_t)config->id_column);
  config_append_u32(out, (uint32_t)config->num_keys);
  for(i=0; i<config->num_keys; i++){
    config_append_u32(out, (uint32_t)config->keys[i].column | (config->keys[i].is_like ? CONFIG_IS_LIKE : 0));
    config_append_u32(out, config->keys[i].bits_per_block);
  }
  config_append_text(out, config->source);
  for(i=0; i<config->num_columns; i++){
    config_append_text(out, config->columns[i].name);
    config_append_text(out, config->columns[i].type);
    config_append_text(out, config->columns[i].collation);
  }
  config->checksum = bloom_xxh64((const uint8_t *)sqlite3_str_value(out), (size_t)sqlite3_str_length(out));
  bloom_store64_le(checksum, config->checksum);
  sqlite3_str_append(out, (const char *)checksum, 8);
}

int index_config_write(bloom_index *index){
  sqlite3_str *out = sqlite3_str_new(NULL);
  sqlite3_stmt *insert = NULL;
  char *bytes;
  int num_bytes, rc;
  config_print(&index->config, out);
  rc = sqlite3_str_errcode(out);
  num_bytes = sqlite3_str_length(out);
  bytes = sqlite3_str_finish(out);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_prepare(index->connection, &insert, "INSERT INTO \"%w\".\"%w_config\"(rowid, data) VALUES (1, ?1)", index->schema, index->name);
  }
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob(insert, 1, bytes, num_bytes, SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, insert);
  sqlite3_finalize(insert);
  sqlite3_free(bytes);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
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

/* Reads what is known of one more column; 0 if it is not all there. */
static int config_take_column(index_config *config, const uint8_t **bytes, const uint8_t *end, int *is_nomem){
  index_source_column *column = &config->columns[config->num_columns++];
  memset(column, 0, sizeof(*column));
  column->name = config_take_text(bytes, end, is_nomem);
  if( column->name ) column->type = config_take_text(bytes, end, is_nomem);
  if( column->type ) column->collation = config_take_text(bytes, end, is_nomem);
  return column->collation!=NULL;
}

/* SQLITE_OK; SQLITE_NOMEM; SQLITE_CORRUPT_VTAB, config half read. */
static int config_parse(index_config *config, const uint8_t *bytes, size_t num_bytes){
  const uint8_t *end;
  uint32_t num_columns, num_keys, i;
  int is_nomem = 0;
  if( num_bytes<CONFIG_HEAD_BYTES + 8 || bloom_load32_le(bytes)!=CONFIG_MAGIC ) return SQLITE_CORRUPT_VTAB;
  end = bytes + num_bytes - 8;
  config->checksum = bloom_load64_le(end);
  if( config->checksum!=bloom_xxh64(bytes, num_bytes - 8) ) return SQLITE_CORRUPT_VTAB;
  config->num_probes = bloom_load32_le(bytes + 4);
  num_columns = bloom_load32_le(bytes + 8);
  config->id_column = (int)(bloom_load32_le(bytes + 12) & INT32_MAX);
  num_keys = bloom_load32_le(bytes + 16);
  bytes += CONFIG_HEAD_BYTES;
  if( config->num_probes>BLOOM_SIGNATURE_MAX_PROBES ) return SQLITE_CORRUPT_VTAB;
  if( num_keys<1 || num_keys>INDEX_MAX_KEYS || (size_t)(end - bytes)<(size_t)CONFIG_KEY_BYTES*num_keys ) return SQLITE_CORRUPT_VTAB;
  if( num_columns>(size_t)(end - bytes) || (uint32_t)config->id_column>=num_columns ) return SQLITE_CORRUPT_VTAB;
  for(i=0; i<num_keys; i++, bytes+=CONFIG_KEY_BYTES){
    const uint32_t key = bloom_load32_le(bytes), column = key & ~CONFIG_IS_LIKE;
    config->keys[i] = (index_key){.column = (int)column, .is_like = key>=CONFIG_IS_LIKE, .bits_per_block = bloom_load32_le(bytes + 4)};
    if( column>=num_columns || !bloom_signature_is_size(config->keys[i].bits_per_block) ) return SQLITE_CORRUPT_VTAB;
  }
  config->num_keys = (int)num_keys;
  config->source = config_take_text(&bytes, end, &is_nomem);
  if( config->source ) config->columns = sqlite3_malloc64(num_columns * sizeof(*config->columns));
  if( config->source && config->columns==NULL ) is_nomem = 1;
  for(i=0; config->columns && i<num_columns && config_take_column(config, &bytes, end, &is_nomem); i++){}
  if( is_nomem ) return SQLITE_NOMEM;
  return config->columns==NULL || i<num_columns || bytes!=end ? SQLITE_CORRUPT_VTAB : SQLITE_OK;
}

static int config_open(const bloom_index *index, sqlite3_blob **blob){
  char *table = sqlite3_mprintf("%s_config", index->name);
  int rc = SQLITE_NOMEM;
  *blob = NULL;
  if( table ) rc = sqlite3_blob_open(index->connection->db, index->schema, table, "data", 1, 0, blob);
  sqlite3_free(table);
  return rc;
}

int index_config_compare(bloom_index *index, int *is_same){
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

/* Sets *damage, and returns SQLITE_CORRUPT_VTAB, where SQLite would not declare such columns: DROP
** must find a table all the same.  If it does not declare others, an authorizer refused it, say. */
static int config_check_columns(bloom_index *index, const char **damage){
  const index_config *config = &index->config;
  int i, rc = SQLITE_OK;
  *damage = "its table of the configuration has columns that no table has";
  if( config->num_columns>=sqlite3_limit(index->connection->db, SQLITE_LIMIT_COLUMN, -1) ) return SQLITE_CORRUPT_VTAB;
  for(i=0; i<config->num_columns && rc==SQLITE_OK; i++){
    const index_source_column *column = &config->columns[i];
    bloom_collation ignored;
    sqlite3_stmt *probe;
    if( config_find(config, column->name)!=i || sqlite3_stricmp(column->name, index->name)==0 ) return SQLITE_CORRUPT_VTAB;
    if( bloom_collation_named(column->collation, &ignored) ) continue;
    rc = bloom_sql_prepare(index->connection, &probe, "SELECT '' = '' COLLATE \"%w\"", column->collation);
    sqlite3_finalize(probe);
    if( rc==SQLITE_ERROR ) *damage = "a column of the table has a collation that this connection does not have";
  }
  return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
}

int index_config_read(bloom_index *index){
  const char *damage = "its table of the configuration is damaged";
  uint8_t *bytes = NULL;
  sqlite3_blob *blob;
  size_t num_bytes = 0;
  int i, rc = config_open(index, &blob);
  if( rc==SQLITE_OK ){
    num_bytes = (size_t)sqlite3_blob_bytes(blob);
    bytes = sqlite3_malloc64(num_bytes + 1);
    rc = bytes ? sqlite3_blob_read(blob, bytes, (int)num_bytes, 0) : SQLITE_NOMEM;
  }
  sqlite3_blob_close(blob);
  if( rc==SQLITE_OK ) rc = config_parse(&index->config, bytes, num_bytes);
  sqlite3_free(bytes);
  for(i=0; rc==SQLITE_OK && i<index->config.num_keys; i++){
    char *error = NULL;
    rc = config_set_key(&index->config, &index->config.keys[i], &error);
    sqlite3_free(error);
    if( rc==SQLITE_ERROR ) rc = SQLITE_CORRUPT_VTAB;
  }
  if( rc==SQLITE_OK ) rc = config_check_columns(index, &damage);
  if( rc==SQLITE_ERROR || (rc & 0xff)==SQLITE_CORRUPT ){
    index_config_free(&index->config);
    index->damage = damage;
    return SQLITE_OK;
  }
  return rc;
}
