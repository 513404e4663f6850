/*
** Pages, layers, what is pending, and building anew.
*/
#include "vtab_store.h"
#include "vtab.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/parquet/parquet.h"
#include "../../core/parquet/split_block.h"
#include "../errors.h"

#define BLOCK_BYTES BLOOM_SPLIT_BLOCK_BYTES

#ifdef BLOOM_TINY_TABLES
/* For tests: all that takes many keys happens with few. */
# define MAX_PENDING          ((size_t)16)
# define NUM_KEPT_PENDING     ((size_t)4)
# define MAX_SEARCHED_PENDING 2
# define FEW_HASHES          4
# define MAX_CACHED_BYTES     ((size_t)4096)
# define MIN_REMOVED_KEYS     5
#else
/* Hashes that wait in memory until they are written, 1 MB; half of them across the start of
** a savepoint. */
# define MAX_PENDING ((size_t)128 * 1024)

/* The newest ones stay when the rest is written: their rows may not be in the table yet,
** and a trigger may ask to build from it. */
# define NUM_KEPT_PENDING ((size_t)1024)

/* So many that wait are gone through one by one for an answer. */
# define MAX_SEARCHED_PENDING 64

/* So many are sorted without memory for it. */
# define FEW_HASHES 32

/* Pages kept in memory. */
# define MAX_CACHED_BYTES ((size_t)16 * 1024 * 1024)

/* Removed keys that a filter need not care about. */
# define MIN_REMOVED_KEYS 200
#endif

/* Blocks of a layer: what SQLite gives memory for in one piece, and less than Parquet's most. */
#define MAX_LAYER_BLOCKS 60000000

/* No counter of a layer comes near it, or near overflow when two are added. */
#define MAX_COUNTED_KEYS ((sqlite3_int64)1 << 60)

/* Pages of layer n are numbered from n * 2^32. */
#define PAGE_NUMBER(layer, page) ((sqlite3_int64)(layer) * 0x100000000 + (sqlite3_int64)(page))

/* -- Names, errors, statements ----------------------------------------------------- */

static const char *table_name(const bloom_store *store){
  return store->names[store->name];
}

bloom_table_name bloom_store_name(const bloom_store *store){
  return (bloom_table_name){store->db, store->schema, table_name(store)};
}

static void set_error(bloom_store *store, char *message){
  sqlite3_free(store->error);
  store->error = message;
}

/* Fails with a message; its NULL is want of memory. */
static int fail(bloom_store *store, int rc, char *message){
  set_error(store, message);
  return message ? rc : SQLITE_NOMEM;
}

/* Fails because of what a shadow table holds. */
static int damaged(bloom_store *store, const char *what){
  return fail(store, SQLITE_CORRUPT_VTAB, sqlite3_mprintf(BLOOM_ERROR_TABLE_DAMAGED, table_name(store), what));
}

/* The code of a statement's failure, with SQLite's message. */
static int failed(bloom_store *store, int rc){
  if( rc==SQLITE_OK || rc==SQLITE_NOMEM || store->error ) return rc;
  return fail(store, rc, sqlite3_mprintf("bloom: %s: %s", table_name(store), sqlite3_errmsg(store->db)));
}

/* What is half written must not stay.  After these errors SQLite takes back all that the
** statement or the transaction wrote; after others it may keep the half. */
static int take_back(bloom_store *store, int rc){
  switch( rc & 0xff ){
    case SQLITE_OK:
    case SQLITE_NOMEM:
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return rc;
    default:
      return sqlite3_get_autocommit(store->db) ? rc : SQLITE_IOERR;
  }
}

/* Not while one of them runs: a rollback comes in the middle of what failed. */
static void forget_statements(bloom_store *store){
  int i;
  for(i=0; i<NUM_BLOOM_SQL; i++){
    sqlite3_finalize(store->sql[i]);
    store->sql[i] = NULL;
  }
  store->is_sql_stale = 0;
}

/* A statement that is kept, compiled when it is first needed. */
static int statement(bloom_store *store, int number, sqlite3_stmt **sql){
  static const char *const formats[NUM_BLOOM_SQL] = {
    [BLOOM_SQL_READ_PAGE] = "SELECT blocks FROM \"%w\".\"%w_pages\" WHERE page = ?1",
    [BLOOM_SQL_WRITE_PAGE] = "UPDATE \"%w\".\"%w_pages\" SET blocks = ?2 WHERE page = ?1",
    [BLOOM_SQL_INSERT_PAGE] = "INSERT OR REPLACE INTO \"%w\".\"%w_pages\"(page, blocks) VALUES (?1, ?2)",
    [BLOOM_SQL_READ_LAYERS] = (
      "SELECT layer, num_blocks, num_keys, num_removed, capacity, bits_per_key, rebuilt_at, seal"
      " FROM \"%w\".\"%w_layers\" ORDER BY layer"),
    [BLOOM_SQL_WRITE_COUNTS] = "UPDATE \"%w\".\"%w_layers\" SET num_keys = ?2, num_removed = ?3 WHERE layer = ?1",
  };
  int rc = SQLITE_OK;
  if( store->is_sql_stale ) forget_statements(store);
  if( store->sql[number]==NULL ){
    rc = bloom_prepare(store->db, &store->sql[number], formats[number], store->schema, table_name(store));
  }
  *sql = store->sql[number];
  return failed(store, rc);
}

/* Ends a statement that is kept; its failure, if any, or rc. */
static int done(bloom_store *store, sqlite3_stmt *sql, int rc){
  if( rc==SQLITE_ROW || rc==SQLITE_DONE ) rc = SQLITE_OK;
  failed(store, rc);
  sqlite3_reset(sql);
  return rc;
}

int bloom_store_enter(bloom_store *store){
  if( store->is_inside ) return damaged(store, "its shadow tables ask for it");
  store->is_inside = 1;
  return SQLITE_OK;
}

void bloom_store_leave(bloom_store *store){
  store->is_inside = 0;
}

/* -- The stores of a connection ------------------------------------------------------ */

void *bloom_vtab_connection_new(void){
  bloom_hub *hub = sqlite3_malloc64(sizeof(*hub));
  if( hub==NULL ) return NULL;
  *hub = (bloom_hub){NULL, bloom_handle_pool_new()};
  if( hub->pool ) return hub;
  sqlite3_free(hub);
  return NULL;
}

void bloom_vtab_connection_free(void *data){
  bloom_hub *hub = data;
  bloom_handle_pool_free(hub->pool);
  sqlite3_free(hub);
}

static void free_names(bloom_store *store){
  while( store->num_names ) sqlite3_free(store->names[--store->num_names]);
  sqlite3_free(store->names);
  store->names = NULL;
}

/* Makes one more name the table's. */
static int push_name(bloom_store *store, const char *name){
  char **names = sqlite3_realloc64(store->names, (store->num_names + 1) * sizeof(*names));
  if( names==NULL ) return SQLITE_NOMEM;
  store->names = names;
  names[store->num_names] = sqlite3_mprintf("%s", name);
  if( names[store->num_names]==NULL ) return SQLITE_NOMEM;
  store->name = store->num_names++;
  return SQLITE_OK;
}

static void forget_cache(bloom_store *store);

static void free_store(bloom_store *store){
  size_t i;
  forget_cache(store);
  forget_statements(store);
  for(i=0; i<store->num_slots; i++) sqlite3_free(store->slots[i].blocks);
  sqlite3_free(store->slots);
  sqlite3_free(store->config.names_prefix);
  sqlite3_free(store->pending);
  sqlite3_free(store->savepoints);
  sqlite3_free(store->schema);
  sqlite3_free(store->error);
  free_names(store);
  sqlite3_free(store);
}

bloom_store *bloom_store_open(bloom_hub *hub, sqlite3 *db, const char *schema, const char *table, int is_new){
  bloom_store **link, *store;
  for(link=&hub->first; (store = *link)!=NULL; link=&store->next){
    if( is_new || store->is_dropped ) continue;
    if( sqlite3_stricmp(store->schema, schema)==0 && sqlite3_stricmp(table_name(store), table)==0 ){
      store->num_users++;
      return store;
    }
  }
  store = sqlite3_malloc64(sizeof(*store));
  if( store==NULL ) return NULL;
  memset(store, 0, sizeof(*store));
  store->db = db;
  store->hub = hub;
  store->num_users = 1;
  store->generation = 1;
  store->schema = sqlite3_mprintf("%s", schema);
  if( store->schema==NULL || push_name(store, table)!=SQLITE_OK ){
    free_store(store);
    return NULL;
  }
  *link = store;
  return store;
}

void bloom_store_close(bloom_store *store){
  bloom_store **link = &store->hub->first;
  if( --store->num_users>0 ) return;
  while( *link!=store ) link = &(*link)->next;
  *link = store->next;
  free_store(store);
}

/* -- Configuration and layers --------------------------------------------------------- */

/* A seal tells numbers that were written from others.  It is no secret. */
static uint64_t config_seal(const bloom_table_config *config){
  char text[160];
  uint64_t seal;
  sqlite3_snprintf(sizeof(text), text, "%d %d %d %u %lld", config->is_following, (int)config->rule.kind,
                   (int)config->rule.collation, config->triggers, config->blocks_per_page);
  seal = bloom_encoding_parquet.hash_bytes((const uint8_t *)text, strlen(text));
  return seal ^ bloom_encoding_parquet.hash_bytes((const uint8_t *)config->names_prefix, strlen(config->names_prefix));
}

/* The last layer's says that it is the last. */
static uint64_t layer_seal(const bloom_store *store, int layer, int is_last){
  char text[100];
  sqlite3_snprintf(sizeof(text), text, "%d %d %lld %lld", layer, is_last, (sqlite3_int64)store->layers[layer].num_blocks,
                   (sqlite3_int64)(store->seal >> 1));
  return bloom_encoding_parquet.hash_bytes((const uint8_t *)text, strlen(text));
}

static int is_in(sqlite3_int64 number, sqlite3_int64 least, sqlite3_int64 most){
  return number>=least && number<=most;
}

/* The configuration in a row; 0 if it is none. */
static int config_of(sqlite3_stmt *row, bloom_table_config *config){
  const sqlite3_int64 kind = sqlite3_column_int64(row, 2), collation = sqlite3_column_int64(row, 3);
  const char *prefix = (const char *)sqlite3_column_text(row, 8);
  config->is_following = sqlite3_column_int(row, 1);
  if( !is_in(kind, 0, BLOOM_COLUMN_ANY) || !is_in(collation, 0, BLOOM_COLLATION_RTRIM) ) return 0;
  config->rule.kind = (bloom_column_kind)kind;
  config->rule.collation = (bloom_collation)collation;
  config->triggers = (unsigned)sqlite3_column_int(row, 4);
  config->bits_per_key = sqlite3_column_double(row, 5);
  config->min_capacity = sqlite3_column_int64(row, 6);
  config->blocks_per_page = sqlite3_column_int64(row, 7);
  if( sqlite3_column_int64(row, 0)!=1 || prefix==NULL ) return 0;
  if( !is_in(config->blocks_per_page, 1, 2048) || !is_in(config->min_capacity, 1, 1000000000000) ) return 0;
  if( !(config->bits_per_key>=1 && config->bits_per_key<=100) ) return 0;
  config->names_prefix = sqlite3_mprintf("%s", prefix);
  return 1;
}

int bloom_store_read_config(bloom_store *store){
  sqlite3_stmt *row;
  bloom_table_config config = {0};
  int rc, is_sound = 0, is_nomem = 0;
  if( store->has_config ) return SQLITE_OK;
  rc = bloom_prepare(store->db, &row, "SELECT format, is_following, kind, collation, triggers, bits_per_key,"
                     " min_capacity, blocks_per_page, names_prefix, seal FROM \"%w\".\"%w_config\"",
                     store->schema, table_name(store));
  if( rc==SQLITE_OK ) rc = sqlite3_step(row);
  if( rc==SQLITE_ROW ){
    is_sound = config_of(row, &config);
    is_nomem = sqlite3_errcode(store->db)==SQLITE_NOMEM || (is_sound && config.names_prefix==NULL);
    is_sound = is_sound && !is_nomem && (uint64_t)sqlite3_column_int64(row, 9)==config_seal(&config);
  }
  failed(store, rc==SQLITE_ROW || rc==SQLITE_DONE ? SQLITE_OK : rc);
  sqlite3_finalize(row);
  if( rc!=SQLITE_ROW && rc!=SQLITE_DONE ) return rc;
  if( !is_sound ){
    sqlite3_free(config.names_prefix);
    return is_nomem ? SQLITE_NOMEM : damaged(store, "its configuration");
  }
  store->config = config;
  store->seal = config_seal(&config);
  store->has_config = 1;
  return SQLITE_OK;
}

static void forget_whole(bloom_store *store){
  if( store->whole ) bloom_whole_release(store->whole);
  store->whole = NULL;
}

/* Forgets what was read and may be of another table of this name. */
void bloom_store_forget_config(bloom_store *store){
  size_t i;
  sqlite3_free(store->config.names_prefix);
  store->config.names_prefix = NULL;
  store->has_config = 0;
  store->has_checked_schema = 0;
  /* Pages may have another size. */
  for(i=0; i<store->num_slots; i++) sqlite3_free(store->slots[i].blocks);
  sqlite3_free(store->slots);
  store->slots = NULL;
  store->num_slots = 0;
  forget_cache(store);
}

/* Forgets what was read. */
static void forget_cache(bloom_store *store){
  store->is_valid = 0;
  store->generation++;
  store->serial++;
  forget_whole(store);
}

uint64_t bloom_store_pages(const bloom_store *store, int layer){
  const uint64_t blocks_per_page = (uint64_t)store->config.blocks_per_page;
  return (store->layers[layer].num_blocks + blocks_per_page - 1) / blocks_per_page;
}

/* Makes room for the pages that are kept. */
static int size_slots(bloom_store *store){
  const uint64_t max_slots = 1 + MAX_CACHED_BYTES / ((size_t)store->config.blocks_per_page * BLOCK_BYTES);
  uint64_t num_slots = 0;
  size_t i;
  int layer;
  bloom_page_slot *slots;
  for(layer=0; layer<store->num_layers; layer++) num_slots += bloom_store_pages(store, layer);
  if( num_slots>max_slots ) num_slots = max_slots;
  if( num_slots==store->num_slots ) return SQLITE_OK;
  for(i=0; i<store->num_slots; i++) sqlite3_free(store->slots[i].blocks);
  sqlite3_free(store->slots);
  store->num_slots = 0;
  store->slots = slots = sqlite3_malloc64(num_slots * sizeof(*slots));
  if( slots==NULL ) return SQLITE_NOMEM;
  memset(slots, 0, (size_t)num_slots * sizeof(*slots));
  store->num_slots = (size_t)num_slots;
  return SQLITE_OK;
}

/* Takes over one row of the layers, and its seal; 0 if it cannot be one. */
static int read_layer(bloom_store *store, sqlite3_stmt *row, uint64_t *seal){
  const int number = store->num_layers;
  const sqlite3_int64 num_blocks = sqlite3_column_int64(row, 1);
  const char *rebuilt_at;
  bloom_layer *layer = &store->layers[number];
  if( bloom_column_text(row, 6, &rebuilt_at)!=SQLITE_OK || sqlite3_column_int64(row, 0)!=number ) return 0;
  layer->num_blocks = (uint64_t)num_blocks;
  layer->num_keys = sqlite3_column_int64(row, 2);
  layer->num_removed = sqlite3_column_int64(row, 3);
  layer->capacity = sqlite3_column_int64(row, 4);
  layer->bits_per_key = sqlite3_column_double(row, 5);
  sqlite3_snprintf(sizeof(layer->rebuilt_at), layer->rebuilt_at, "%s", rebuilt_at ? rebuilt_at : "");
  if( !is_in(num_blocks, 1, MAX_LAYER_BLOCKS) ) return 0;
  if( !is_in(layer->num_keys, 0, MAX_COUNTED_KEYS) || !is_in(layer->num_removed, 0, MAX_COUNTED_KEYS) ) return 0;
  if( layer->capacity<1 ) return 0;
  *seal = (uint64_t)sqlite3_column_int64(row, 7);
  store->num_layers++;
  return 1;
}

int bloom_store_refresh(bloom_store *store){
  unsigned version = 0;
  uint64_t seals[BLOOM_MAX_LAYERS] = {0};
  sqlite3_stmt *row;
  int i, rc, is_sound = 1;
  sqlite3_file_control(store->db, store->schema, SQLITE_FCNTL_DATA_VERSION, &version); /* what fails here fails below */
  if( store->is_valid && store->version==version ) return SQLITE_OK;
  /* After another's commit the table may be a new one of the same name. */
  if( store->version!=version ) bloom_store_forget_config(store);
  else forget_cache(store);
  rc = bloom_store_read_config(store);
  if( rc!=SQLITE_OK ) return rc;
  rc = statement(store, BLOOM_SQL_READ_LAYERS, &row);
  if( rc!=SQLITE_OK ) return rc;
  store->num_layers = 0;
  while( is_sound && (rc = sqlite3_step(row))==SQLITE_ROW ){
    is_sound = store->num_layers<BLOOM_MAX_LAYERS && read_layer(store, row, &seals[store->num_layers]);
  }
  if( !is_sound && sqlite3_errcode(store->db)==SQLITE_NOMEM ) rc = SQLITE_NOMEM;
  rc = done(store, row, rc);
  if( rc!=SQLITE_OK ) return rc;
  for(i=0; i<store->num_layers && is_sound; i++){
    is_sound = seals[i]==layer_seal(store, i, i==store->num_layers-1);
  }
  if( !is_sound || store->num_layers==0 ) return damaged(store, "its layers");
  rc = size_slots(store);
  if( rc!=SQLITE_OK ) return rc;
  /* Reading may have begun the transaction: only now the version is that of what was read. */
  rc = sqlite3_file_control(store->db, store->schema, SQLITE_FCNTL_DATA_VERSION, &store->version);
  store->is_valid = rc==SQLITE_OK;
  return rc;
}

/* -- Pages ------------------------------------------------------------------------------ */

/* Blocks in a page of a layer. */
static uint64_t page_blocks(const bloom_store *store, int layer, uint64_t page){
  const uint64_t blocks_per_page = (uint64_t)store->config.blocks_per_page;
  const uint64_t left = store->layers[layer].num_blocks - page * blocks_per_page;
  return left<blocks_per_page ? left : blocks_per_page;
}

/* Reads a page from its table to blocks. */
static int read_page(bloom_store *store, int layer, uint64_t page, uint8_t *blocks){
  const size_t num_bytes = (size_t)page_blocks(store, layer, page) * BLOCK_BYTES;
  sqlite3_stmt *row;
  int is_sound = 0;
  int rc = statement(store, BLOOM_SQL_READ_PAGE, &row);
  if( rc!=SQLITE_OK ) return rc;
  sqlite3_bind_int64(row, 1, PAGE_NUMBER(layer, page));
  rc = sqlite3_step(row);
  if( rc==SQLITE_ROW && sqlite3_column_type(row, 0)==SQLITE_BLOB ){
    const void *bytes = sqlite3_column_blob(row, 0);
    if( (size_t)sqlite3_column_bytes(row, 0)!=num_bytes ) bytes = NULL;
    is_sound = bytes!=NULL;
    if( is_sound ) memcpy(blocks, bytes, num_bytes);
  }
  rc = done(store, row, rc);
  return rc==SQLITE_OK && !is_sound ? damaged(store, "a page") : rc;
}

/* A page, from memory if it is there. */
static int find_page(bloom_store *store, int layer, uint64_t page, uint8_t **blocks){
  const sqlite3_int64 number = PAGE_NUMBER(layer, page);
  bloom_page_slot *slot = &store->slots[(page + (uint64_t)layer * 7919) % store->num_slots];
  int rc;
  *blocks = slot->blocks;
  if( slot->generation==store->generation && slot->page==number ) return SQLITE_OK;
  if( slot->blocks==NULL ){
    slot->blocks = sqlite3_malloc64((sqlite3_uint64)store->config.blocks_per_page * BLOCK_BYTES);
    if( slot->blocks==NULL ) return SQLITE_NOMEM;
  }
  slot->generation = 0;
  rc = read_page(store, layer, page, slot->blocks);
  if( rc!=SQLITE_OK ) return rc;
  slot->generation = store->generation;
  slot->page = number;
  *blocks = slot->blocks;
  return SQLITE_OK;
}

/* Writes a page: over the one that is there, or as a new one. */
static int write_page(bloom_store *store, int layer, uint64_t page, const uint8_t *blocks, int is_new){
  const int num_bytes = (int)page_blocks(store, layer, page) * BLOCK_BYTES;
  sqlite3_stmt *sql;
  int rc = statement(store, is_new ? BLOOM_SQL_INSERT_PAGE : BLOOM_SQL_WRITE_PAGE, &sql);
  if( rc!=SQLITE_OK ) return rc;
  sqlite3_bind_int64(sql, 1, PAGE_NUMBER(layer, page));
  rc = blocks ? sqlite3_bind_blob(sql, 2, blocks, num_bytes, SQLITE_STATIC) : sqlite3_bind_zeroblob(sql, 2, num_bytes);
  if( rc==SQLITE_OK ) rc = sqlite3_step(sql);
  if( rc==SQLITE_DONE && sqlite3_changes(store->db)!=1 ) rc = damaged(store, "a page");
  rc = done(store, sql, rc);
  sqlite3_bind_null(sql, 2);
  return rc;
}

/* Where a hash's block is. */
typedef struct block_place {
  uint64_t page, block;
} block_place;

static block_place place_of(const bloom_store *store, int layer, bloom_hash_value hash){
  const uint64_t number = bloom_split_block_number(hash, store->layers[layer].num_blocks);
  const uint64_t blocks_per_page = (uint64_t)store->config.blocks_per_page;
  return (block_place){number / blocks_per_page, number % blocks_per_page};
}

static int layer_may_contain(bloom_store *store, int layer, bloom_hash_value hash, int *may_contain){
  const block_place place = place_of(store, layer, hash);
  uint8_t *blocks;
  int rc = find_page(store, layer, place.page, &blocks);
  if( rc==SQLITE_OK ) *may_contain = bloom_split_block_may_contain(blocks + place.block * BLOCK_BYTES, hash);
  return rc;
}

/* -- Layers ------------------------------------------------------------------------------- */

static uint64_t blocks_for(sqlite3_int64 capacity, double bits_per_key){
  const double num_blocks = (double)capacity * bits_per_key / (8 * BLOCK_BYTES);
  uint64_t whole;
  if( num_blocks>=MAX_LAYER_BLOCKS ) return MAX_LAYER_BLOCKS;
  whole = (uint64_t)num_blocks;
  return whole + ((double)whole<num_blocks); /* rounded up: one at least */
}

/* Writes the row of the last layer, as one that is built now. */
static int write_layer(bloom_store *store, int layer){
  const bloom_layer *l = &store->layers[layer];
  sqlite3_stmt *sql;
  int rc = bloom_prepare(store->db, &sql, "INSERT OR REPLACE INTO \"%w\".\"%w_layers\""
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, CURRENT_TIMESTAMP, ?7)", store->schema, table_name(store));
  if( rc==SQLITE_OK ){
    sqlite3_bind_int(sql, 1, layer);
    sqlite3_bind_int64(sql, 2, (sqlite3_int64)l->num_blocks);
    sqlite3_bind_int64(sql, 3, l->num_keys);
    sqlite3_bind_int64(sql, 4, l->num_removed);
    sqlite3_bind_int64(sql, 5, l->capacity);
    sqlite3_bind_double(sql, 6, l->bits_per_key);
    sqlite3_bind_int64(sql, 7, (sqlite3_int64)layer_seal(store, layer, 1));
    rc = sqlite3_step(sql);
  }
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  failed(store, rc);
  sqlite3_finalize(sql);
  return rc;
}

static int write_counts(bloom_store *store, int layer){
  sqlite3_stmt *sql;
  int rc = statement(store, BLOOM_SQL_WRITE_COUNTS, &sql);
  if( rc!=SQLITE_OK ) return rc;
  sqlite3_bind_int(sql, 1, layer);
  sqlite3_bind_int64(sql, 2, store->layers[layer].num_keys);
  sqlite3_bind_int64(sql, 3, store->layers[layer].num_removed);
  return done(store, sql, sqlite3_step(sql));
}

/* The false positive rate of a layer of a set of its own: all of them together, a half, a
** quarter and so on, keep the rate of one filter with the bits asked for [Almeida,
** Baquero, Preguica, Hutchison 2007, "Scalable Bloom Filters"]. */
static double layer_bits_per_key(const bloom_store *store, int layer, sqlite3_int64 capacity){
  const sqlite3_int64 many = 1000000;
  double fpr = bloom_parquet_modelled_fpr((uint64_t)many, blocks_for(many, store->config.bits_per_key));
  double best_fpr;
  uint32_t tenths;
  int i;
  for(i=0; i<=layer; i++) fpr /= 2;
  tenths = bloom_encoding_parquet.min_bits_per_key_x10(fpr, (uint64_t)capacity, &best_fpr);
  return tenths ? tenths / 10.0 : 100;
}

/* Adds an empty layer after the last. */
static int add_layer(bloom_store *store, sqlite3_int64 capacity){
  const int number = store->num_layers;
  bloom_layer *layer = &store->layers[number];
  uint64_t page;
  int rc = SQLITE_OK;
  if( number==BLOOM_MAX_LAYERS ) return SQLITE_FULL;
  *layer = (bloom_layer){.capacity = capacity};
  layer->bits_per_key = store->config.is_following ? store->config.bits_per_key
                                                   : layer_bits_per_key(store, number, capacity);
  layer->num_blocks = blocks_for(capacity, layer->bits_per_key);
  for(page=0; page<bloom_store_pages(store, number) && rc==SQLITE_OK; page++){
    rc = write_page(store, number, page, NULL, 1);
  }
  if( rc==SQLITE_OK ) rc = write_layer(store, number);
  if( rc==SQLITE_OK && number>0 ){
    rc = failed(store, bloom_run(store->db, "UPDATE \"%w\".\"%w_layers\" SET seal = %lld WHERE layer = %d",
                                 store->schema, table_name(store),
                                 (sqlite3_int64)layer_seal(store, number - 1, 0), number - 1));
  }
  if( rc!=SQLITE_OK ) return number>0 ? take_back(store, rc) : rc;
  store->num_layers++;
  store->serial++;
  return size_slots(store);
}

/* -- Adding --------------------------------------------------------------------------------- */

static int compare_hashes(const void *left, const void *right){
  const bloom_hash_value a = *(const bloom_hash_value *)left, b = *(const bloom_hash_value *)right;
  return (a>b) - (a<b);
}

/* Keeps of sorted hashes those that no layer before the last may contain. */
static int keep_new_hashes(bloom_store *store, bloom_hash_value *hashes, size_t *num_hashes){
  int layer, rc, may_contain;
  for(layer=0; layer<store->num_layers-1; layer++){
    size_t i, num_new = 0;
    for(i=0; i<*num_hashes; i++){
      rc = layer_may_contain(store, layer, hashes[i], &may_contain);
      if( rc!=SQLITE_OK ) return rc;
      if( !may_contain ) hashes[num_new++] = hashes[i];
    }
    *num_hashes = num_new;
  }
  return SQLITE_OK;
}

/* Adds sorted hashes to the last layer. */
static int add_to_layer(bloom_store *store, const bloom_hash_value *hashes, size_t num_hashes){
  const int number = store->num_layers - 1;
  bloom_layer *layer = &store->layers[number];
  uint64_t page = 0;
  uint8_t *blocks = NULL;
  int rc = SQLITE_OK, is_changed = 0;
  size_t i;
  for(i=0; i<num_hashes; i++){
    const block_place place = place_of(store, number, hashes[i]);
    uint8_t *block;
    if( blocks==NULL || place.page!=page ){
      if( is_changed ) rc = write_page(store, number, page, blocks, 0);
      if( rc==SQLITE_OK ) rc = find_page(store, number, place.page, &blocks);
      if( rc!=SQLITE_OK ) return rc;
      page = place.page;
      is_changed = 0;
    }
    block = blocks + place.block * BLOCK_BYTES;
    if( bloom_split_block_may_contain(block, hashes[i]) ) continue;
    bloom_split_block_add(block, hashes[i]);
    layer->num_keys++;
    is_changed = 1;
    store->serial++;
  }
  return is_changed ? write_page(store, number, page, blocks, 0) : SQLITE_OK;
}

/* Writes hashes, in the order in which they came: each layer of a set of its own takes as
** many as there is room for.  Sorted, they would all fall in its first blocks. */
static int write_hashes(bloom_store *store, bloom_hash_value *hashes, size_t num_hashes){
  int rc = SQLITE_OK;
  while( rc==SQLITE_OK && num_hashes>0 ){
    const bloom_layer *last = &store->layers[store->num_layers-1];
    size_t num_taken = num_hashes, num_new;
    if( !store->config.is_following ){
      const sqlite3_int64 room = last->capacity - last->num_keys;
      if( room<=0 ){
        /* Twice as large, and large enough for what waits. */
        const sqlite3_int64 waiting = (sqlite3_int64)num_hashes;
        rc = add_layer(store, 2 * last->capacity>waiting ? 2 * last->capacity : waiting);
        continue;
      }
      if( (sqlite3_uint64)room<num_taken ) num_taken = (size_t)room;
    }
    qsort(hashes, num_taken, sizeof(*hashes), compare_hashes);
    num_new = num_taken;
    rc = keep_new_hashes(store, hashes, &num_new);
    if( rc==SQLITE_OK ) rc = add_to_layer(store, hashes, num_new);
    if( rc==SQLITE_OK ) rc = write_counts(store, store->num_layers - 1);
    hashes += num_taken;
    num_hashes -= num_taken;
  }
  return rc;
}

/* Writes what waits in memory.  Of what is written then, memory keeps what a savepoint can
** take off the disk again without taking away its rows, and the newest. */
int bloom_store_write_pending(bloom_store *store){
  const size_t num_hashes = store->num_pending - store->num_on_disk;
  const sqlite3_int64 rowid = sqlite3_last_insert_rowid(store->db);
  bloom_hash_value few[FEW_HASHES], *hashes = few;
  size_t num_held;
  int rc;
  if( num_hashes==0 ) return SQLITE_OK;
  rc = bloom_store_refresh(store);
  if( rc!=SQLITE_OK ) return rc;
  if( num_hashes>FEW_HASHES ){
    hashes = sqlite3_malloc64(num_hashes * sizeof(*hashes));
    if( hashes==NULL ) return SQLITE_NOMEM;
  }
  memcpy(hashes, &store->pending[store->num_on_disk], num_hashes * sizeof(*hashes));
  rc = write_hashes(store, hashes, num_hashes);
  if( hashes!=few ) sqlite3_free(hashes);
  sqlite3_set_last_insert_rowid(store->db, rowid);
  if( rc!=SQLITE_OK ){
    forget_cache(store);
    return rc;
  }
  num_held = store->num_savepoints ? store->savepoints[store->num_savepoints-1].num_pending : 0;
  if( store->num_pending>num_held + NUM_KEPT_PENDING ){
    memmove(&store->pending[num_held], &store->pending[store->num_pending - NUM_KEPT_PENDING],
            NUM_KEPT_PENDING * sizeof(*store->pending));
    store->num_pending = num_held + NUM_KEPT_PENDING;
  }
  store->num_on_disk = store->num_pending;
  return SQLITE_OK;
}

static int push_pending(bloom_store *store, bloom_hash_value hash){
  size_t i;
  /* BEFORE and AFTER triggers say one key, and a rowid not chosen yet is -1. */
  for(i=store->num_pending; i>0 && i+4>store->num_pending; i--){
    if( store->pending[i-1]==hash ) return SQLITE_OK;
  }
  if( store->num_pending - store->num_on_disk>=MAX_PENDING ){
    int rc = bloom_store_write_pending(store);
    if( rc!=SQLITE_OK ) return rc;
  }
  if( store->num_pending==store->max_pending ){
    const size_t max_pending = store->max_pending ? 2 * store->max_pending : FEW_HASHES;
    bloom_hash_value *pending = sqlite3_realloc64(store->pending, max_pending * sizeof(*pending));
    if( pending==NULL ) return SQLITE_NOMEM;
    store->pending = pending;
    store->max_pending = max_pending;
  }
  store->pending[store->num_pending++] = hash;
  return SQLITE_OK;
}

int bloom_store_change(bloom_store *store, const bloom_key_hashes *added, const bloom_key_hashes *removed){
  int i, rc = SQLITE_OK;
  for(i=0; i<added->num_hashes && rc==SQLITE_OK; i++) rc = push_pending(store, added->hashes[i]);
  if( removed->num_hashes>0
   && (removed->num_hashes!=added->num_hashes
    || memcmp(removed->hashes, added->hashes, (size_t)added->num_hashes * sizeof(added->hashes[0]))!=0) ){
    store->num_removed++;
  }
  return rc;
}

/* -- Asking ----------------------------------------------------------------------------------- */

int bloom_store_ask(bloom_store *store, const bloom_key_hashes *asked, int *may_contain){
  int i, layer, rc;
  size_t p;
  *may_contain = 0;
  if( store->num_pending - store->num_on_disk>MAX_SEARCHED_PENDING ){
    rc = bloom_store_write_pending(store);
    if( rc!=SQLITE_OK ) return rc;
  }
  rc = bloom_store_refresh(store);
  for(i=0; i<asked->num_hashes && rc==SQLITE_OK; i++){
    const bloom_hash_value hash = asked->hashes[i];
    for(p=store->num_on_disk; p<store->num_pending; p++){
      if( store->pending[p]==hash ) *may_contain = 1;
    }
    for(layer=0; layer<store->num_layers && rc==SQLITE_OK && !*may_contain; layer++){
      rc = layer_may_contain(store, layer, hash, may_contain);
    }
    if( *may_contain ) break;
  }
  return rc;
}

void bloom_whole_release(bloom_whole *whole){
  if( --whole->num_users ) return;
  if( whole->handle ) bloom_handle_close(whole->handle);
  sqlite3_free(whole);
}

/* Reads a layer's pages to blocks. */
static int read_blocks(bloom_store *store, int layer, uint8_t *blocks){
  uint64_t page;
  int rc = SQLITE_OK;
  for(page=0; page<bloom_store_pages(store, layer) && rc==SQLITE_OK; page++){
    rc = read_page(store, layer, page, blocks + page * (uint64_t)store->config.blocks_per_page * BLOCK_BYTES);
  }
  return rc;
}

/* Reads all layers to whole->bytes. */
static int read_whole(bloom_store *store, bloom_whole *whole, const bloom_shape *shapes){
  uint8_t *bytes = whole->bytes;
  int layer, rc = SQLITE_OK;
  for(layer=0; layer<whole->num_layers && rc==SQLITE_OK; layer++){
    bloom_filter *filter = &whole->filters[layer];
    bloom_encoding_parquet.clear(&shapes[layer], bytes);
    bloom_encoding_parquet.read(bytes, shapes[layer].num_bytes, filter);
    rc = read_blocks(store, layer, bytes + (filter->bits - filter->bytes));
    bytes += shapes[layer].num_bytes;
  }
  return rc;
}

/* Makes store->whole of the layers as they are. */
static int make_whole(bloom_store *store){
  bloom_shape shapes[BLOOM_MAX_LAYERS];
  sqlite3_uint64 num_bytes = 0;
  bloom_whole *whole;
  int layer, rc;
  for(layer=0; layer<store->num_layers; layer++){
    if( bloom_encoding_parquet.shape(store->layers[layer].num_blocks, 8 * BLOCK_BYTES, &shapes[layer])!=BLOOM_OK ){
      return SQLITE_TOOBIG;
    }
    num_bytes += shapes[layer].num_bytes;
  }
  whole = sqlite3_malloc64(sizeof(*whole) + num_bytes);
  if( whole==NULL ) return SQLITE_NOMEM;
  whole->num_users = 1;
  whole->serial = store->serial;
  whole->rule = store->config.rule;
  whole->handle = NULL;
  whole->num_layers = store->num_layers;
  rc = read_whole(store, whole, shapes);
  if( rc!=SQLITE_OK ){
    sqlite3_free(whole);
    return rc;
  }
  forget_whole(store);
  store->whole = whole;
  return SQLITE_OK;
}

int bloom_store_whole(bloom_store *store, bloom_whole **result){
  if( store->whole==NULL || store->whole->serial!=store->serial ){
    int rc = make_whole(store);
    if( rc!=SQLITE_OK ) return rc;
  }
  store->whole->num_users++;
  *result = store->whole;
  return SQLITE_OK;
}

/* What bloom_may_contain() calls for a handle. */
static int ask_whole(void *data, sqlite3_value *key){
  const bloom_whole *whole = data;
  bloom_key_hashes asked;
  int i, layer;
  if( bloom_query_hashes(&bloom_encoding_parquet, whole->rule, key, &asked)!=SQLITE_OK ) return BLOOM_TEST_NOMEM;
  if( asked.num_hashes==0 ) return BLOOM_TEST_NULL;
  for(i=0; i<asked.num_hashes; i++){
    for(layer=0; layer<whole->num_layers; layer++){
      if( bloom_encoding_parquet.may_contain(&whole->filters[layer], asked.hashes[i]) ) return 1;
    }
  }
  return 0;
}

int bloom_store_open_handle(bloom_store *store, bloom_whole *whole){
  if( whole->handle ) return SQLITE_OK;
  switch( bloom_handle_open(store->hub->pool, store->db, 0, &whole->handle) ){
    case BLOOM_HANDLE_OPEN:
      break;
    case BLOOM_HANDLE_NOMEM:
      return SQLITE_NOMEM;
    case BLOOM_HANDLE_NONE_LEFT:
      return fail(store, SQLITE_ERROR, sqlite3_mprintf(BLOOM_ERROR_TABLE_HANDLES));
  }
  whole->handle->test = ask_whole;
  whole->handle->test_data = whole;
  return SQLITE_OK;
}

/* -- Building anew ------------------------------------------------------------------------------ */

/* Prepares a SELECT of what from the view.  SQLite guards what a view does by trusted_schema;
** a table of this name, virtual perhaps, it would read as if the user had asked for it. */
static int prepare_keys(bloom_store *store, const char *what, sqlite3_stmt **row){
  char *view = sqlite3_mprintf("%s_keys", store->config.names_prefix);
  int rc;
  *row = NULL;
  if( view==NULL ) return SQLITE_NOMEM;
  rc = sqlite3_table_column_metadata(store->db, store->schema, view, NULL, NULL, NULL, NULL, NULL, NULL);
  if( rc==SQLITE_OK ) rc = damaged(store, "its view is a table");
  else if( rc==SQLITE_ERROR ) rc = bloom_prepare(store->db, row, "SELECT %s FROM \"%w\".\"%w\"", what, store->schema, view);
  sqlite3_free(view);
  return rc;
}

/* Counts the keys that the view has. */
static int count_followed_keys(bloom_store *store, sqlite3_int64 *num_keys){
  sqlite3_stmt *row;
  int rc = prepare_keys(store, "count(key)", &row);
  if( rc==SQLITE_OK ) rc = sqlite3_step(row);
  if( rc==SQLITE_ROW ){
    *num_keys = sqlite3_column_int64(row, 0);
    rc = SQLITE_OK;
  }
  failed(store, rc);
  sqlite3_finalize(row);
  return rc;
}

/* What is done with the hashes of each key of the table. */
typedef int (*key_visitor)(bloom_store *store, void *data, const bloom_key_hashes *hashes);

static int visit_keys(bloom_store *store, key_visitor visitor, void *data){
  sqlite3_stmt *row;
  int rc = prepare_keys(store, "key", &row);
  while( rc==SQLITE_OK && (rc = sqlite3_step(row))==SQLITE_ROW ){
    bloom_key_hashes hashes;
    rc = bloom_insert_hashes(&bloom_encoding_parquet, store->config.rule, sqlite3_column_value(row, 0), &hashes);
    if( rc==SQLITE_OK ) rc = visitor(store, data, &hashes);
  }
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  failed(store, rc);
  sqlite3_finalize(row);
  return rc;
}

/* A filter that is being built. */
typedef struct new_filter {
  uint8_t *blocks;
  uint64_t num_blocks;
  sqlite3_int64 num_keys;
} new_filter;

static int add_to_new_filter(bloom_store *store, void *data, const bloom_key_hashes *hashes){
  new_filter *filter = data;
  int i;
  (void)store;
  for(i=0; i<hashes->num_hashes; i++){
    const bloom_hash_value hash = hashes->hashes[i];
    bloom_split_block_add(filter->blocks + bloom_split_block_number(hash, filter->num_blocks) * BLOCK_BYTES, hash);
  }
  filter->num_keys += hashes->num_hashes;
  return SQLITE_OK;
}

/* Writes a filter that was built as the only layer. */
static int write_new_filter(bloom_store *store, const new_filter *filter, sqlite3_int64 capacity){
  const sqlite3_int64 rowid = sqlite3_last_insert_rowid(store->db);
  const size_t page_bytes = (size_t)store->config.blocks_per_page * BLOCK_BYTES;
  uint64_t page;
  int rc = SQLITE_OK;
  store->layers[0] = (bloom_layer){
    .num_blocks = filter->num_blocks, .num_keys = filter->num_keys, .capacity = capacity,
    .bits_per_key = store->config.bits_per_key
  };
  for(page=0; page<bloom_store_pages(store, 0) && rc==SQLITE_OK; page++){
    rc = write_page(store, 0, page, filter->blocks + page * page_bytes, 1);
  }
  if( rc==SQLITE_OK ){
    rc = failed(store, bloom_run(store->db, "DELETE FROM \"%w\".\"%w_pages\" WHERE page >= %lld",
                                 store->schema, table_name(store), (sqlite3_int64)bloom_store_pages(store, 0)));
  }
  if( rc==SQLITE_OK ) rc = write_layer(store, 0);
  sqlite3_set_last_insert_rowid(store->db, rowid);
  return rc;
}

/* *is_unread: it failed before anything was written. */
static int rebuild(bloom_store *store, int *is_unread){
  new_filter filter = {NULL, 0, 0};
  sqlite3_int64 num_keys = 0, capacity;
  int rc;
  *is_unread = 1;
  rc = bloom_store_refresh(store);
  if( rc==SQLITE_OK ) rc = count_followed_keys(store, &num_keys);
  if( rc!=SQLITE_OK ) return rc;
  capacity = 2 * num_keys>store->config.min_capacity ? 2 * num_keys : store->config.min_capacity;
  filter.num_blocks = blocks_for(capacity, store->config.bits_per_key);
  filter.blocks = sqlite3_malloc64(filter.num_blocks * BLOCK_BYTES);
  if( filter.blocks==NULL ) return SQLITE_NOMEM;
  memset(filter.blocks, 0, (size_t)filter.num_blocks * BLOCK_BYTES);
  rc = visit_keys(store, add_to_new_filter, &filter);
  if( rc==SQLITE_OK ){
    /* Rows of these may be about to come. */
    const sqlite3_int64 num_visited = filter.num_keys;
    size_t i;
    for(i=0; i<store->num_pending; i++){
      const bloom_key_hashes one = {1, {store->pending[i]}};
      add_to_new_filter(store, &filter, &one);
    }
    filter.num_keys = num_visited;
    *is_unread = 0;
    rc = write_new_filter(store, &filter, capacity);
    forget_cache(store);
  }
  sqlite3_free(filter.blocks);
  return rc;
}

int bloom_store_rebuild(bloom_store *store){
  int is_unread, rc = bloom_store_read_config(store);
  if( rc!=SQLITE_OK ) return rc;
  if( !store->config.is_following ){
    return fail(store, SQLITE_ERROR, sqlite3_mprintf(BLOOM_ERROR_TABLE_NO_REBUILD, table_name(store)));
  }
  rc = rebuild(store, &is_unread);
  if( rc!=SQLITE_OK ) return is_unread ? rc : take_back(store, rc);
  /* What was removed in this transaction is not in the new filter. */
  store->num_removed = 0;
  return SQLITE_OK;
}

int bloom_store_create(bloom_store *store, const bloom_table_config *config){
  sqlite3_stmt *sql;
  int is_unread, rc;
  /* SQLite makes the table part of the transaction without calling xBegin. */
  bloom_store_begin(store);
  store->config = *config;
  store->has_config = 1;
  store->seal = config_seal(config);
  rc = bloom_prepare(store->db, &sql, "INSERT INTO \"%w\".\"%w_config\" VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, %Q, ?8)",
                     store->schema, table_name(store), config->names_prefix);
  if( rc==SQLITE_OK ){
    sqlite3_bind_int(sql, 1, config->is_following);
    sqlite3_bind_int(sql, 2, (int)config->rule.kind);
    sqlite3_bind_int(sql, 3, (int)config->rule.collation);
    sqlite3_bind_int(sql, 4, (int)config->triggers);
    sqlite3_bind_double(sql, 5, config->bits_per_key);
    sqlite3_bind_int64(sql, 6, config->min_capacity);
    sqlite3_bind_int64(sql, 7, config->blocks_per_page);
    sqlite3_bind_int64(sql, 8, (sqlite3_int64)store->seal);
    rc = sqlite3_step(sql);
  }
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  failed(store, rc);
  sqlite3_finalize(sql);
  if( rc==SQLITE_OK ) rc = add_layer(store, config->min_capacity);
  forget_cache(store);
  return rc==SQLITE_OK && config->is_following ? rebuild(store, &is_unread) : rc;
}

/* -- Checking --------------------------------------------------------------------------------------- */

typedef struct key_check {
  sqlite3_int64 num_keys, num_denied;
} key_check;

static int check_key(bloom_store *store, void *data, const bloom_key_hashes *hashes){
  key_check *check = data;
  int i, may_contain, is_denied = 0;
  for(i=0; i<hashes->num_hashes; i++){
    const bloom_key_hashes one = {1, {hashes->hashes[i]}};
    int rc = bloom_store_ask(store, &one, &may_contain);
    if( rc!=SQLITE_OK ) return rc;
    is_denied |= !may_contain;
  }
  check->num_keys += hashes->num_hashes>0;
  check->num_denied += is_denied;
  return SQLITE_OK;
}

static int count_pages(bloom_store *store, sqlite3_int64 *num_pages){
  return failed(store, bloom_query_integer(store->db, num_pages, "SELECT count(*) FROM \"%w\".\"%w_pages\"",
                                           store->schema, table_name(store)));
}

/* Reads all that is on disk. */
static int check_pages(bloom_store *store){
  sqlite3_int64 num_pages = 0, num_expected = 0;
  uint8_t *blocks;
  int layer, rc;
  forget_cache(store);
  rc = bloom_store_refresh(store);
  if( rc!=SQLITE_OK ) return rc;
  blocks = sqlite3_malloc64((sqlite3_uint64)store->config.blocks_per_page * BLOCK_BYTES);
  if( blocks==NULL ) return SQLITE_NOMEM;
  for(layer=0; layer<store->num_layers && rc==SQLITE_OK; layer++){
    uint64_t page;
    for(page=0; page<bloom_store_pages(store, layer) && rc==SQLITE_OK; page++) rc = read_page(store, layer, page, blocks);
    num_expected += (sqlite3_int64)bloom_store_pages(store, layer);
  }
  sqlite3_free(blocks);
  if( rc==SQLITE_OK ) rc = count_pages(store, &num_pages);
  return rc==SQLITE_OK && num_pages!=num_expected ? damaged(store, "the number of its pages") : rc;
}

int bloom_store_check(bloom_store *store, int is_quick, char **finding){
  key_check check = {0, 0};
  int rc = check_pages(store);
  *finding = NULL;
  if( rc==SQLITE_OK && store->config.is_following ){
    rc = bloom_table_schema_check(bloom_store_name(store), &store->config, finding);
    if( *finding ) return SQLITE_OK;
    if( rc==SQLITE_OK && !is_quick ) rc = visit_keys(store, check_key, &check);
  }
  if( (rc & 0xff)==SQLITE_CORRUPT && store->error ){
    *finding = store->error;
    store->error = NULL;
    return SQLITE_OK;
  }
  if( rc==SQLITE_OK && check.num_denied>0 ){
    *finding = sqlite3_mprintf(BLOOM_ERROR_TABLE_DENIED, table_name(store), check.num_denied, check.num_keys,
                               table_name(store), table_name(store));
    if( *finding==NULL ) return SQLITE_NOMEM;
  }
  return rc;
}

/* -- Life of a transaction ------------------------------------------------------------------------- */

/* 1 if too much changed for the filter as it is. */
static int is_worn(const bloom_store *store){
  const bloom_layer *layer = &store->layers[0];
  if( layer->num_removed>=MIN_REMOVED_KEYS && layer->num_removed>layer->num_keys / 5 ) return 1;
  return layer->num_keys>layer->capacity && layer->num_blocks<MAX_LAYER_BLOCKS;
}

/* Building anew is housekeeping: where only reading the table failed, by an interrupt or
** for want of a function, the filter that is there stays, and is right.  Other failures may
** have cost the transaction: those are told. */
static int is_harmless(int rc){
  const int code = rc & 0xff;
  return code==SQLITE_ERROR || code==SQLITE_INTERRUPT || code==SQLITE_AUTH;
}

static int sync_store(bloom_store *store){
  int rc, is_unread;
  unsigned version = 0;
  if( store->is_dropped ) return SQLITE_OK;
  store->is_in_sync = 1;
  if( store->num_pending==store->num_on_disk && store->num_removed==0 ){
    sqlite3_file_control(store->db, store->schema, SQLITE_FCNTL_DATA_VERSION, &version);
    if( version!=store->version ) forget_cache(store);
    /* Keys that were written before may be too many. */
    if( !store->is_valid || store->config.is_following==0 || !is_worn(store) ) return SQLITE_OK;
  }
  rc = bloom_store_write_pending(store);
  if( rc==SQLITE_OK ) rc = bloom_store_refresh(store);
  if( rc!=SQLITE_OK ) return rc;
  store->layers[0].num_removed += store->num_removed;
  if( store->config.is_following && is_worn(store) ){
    const sqlite3_int64 num_removed = store->layers[0].num_removed;
    rc = rebuild(store, &is_unread);
    if( rc==SQLITE_OK ){
      store->num_removed = 0;
      return SQLITE_OK;
    }
    if( !is_unread || !is_harmless(rc) ){
      forget_cache(store);
      return rc;
    }
    set_error(store, NULL);
    rc = bloom_store_refresh(store);
    if( rc!=SQLITE_OK ) return rc;
    store->layers[0].num_removed = num_removed;
  }
  if( store->num_removed>0 ) rc = write_counts(store, 0);
  if( rc==SQLITE_OK ) store->num_removed = 0;
  else forget_cache(store);
  return rc;
}

int bloom_store_sync(bloom_store *store){
  int rc = bloom_store_enter(store);
  if( rc!=SQLITE_OK ) return rc;
  rc = sync_store(store);
  bloom_store_leave(store);
  return rc;
}

int bloom_store_refresh_to_write(bloom_store *store){
  int rc;
  if( store->is_current && store->is_valid ) return SQLITE_OK;
  rc = bloom_store_refresh(store);
  store->is_current = rc==SQLITE_OK;
  return rc;
}

static void end_transaction(bloom_store *store){
  char *name = store->names[store->name];
  size_t i;
  for(i=0; i<store->num_names; i++){
    if( i!=store->name ) sqlite3_free(store->names[i]);
  }
  store->names[0] = name;
  store->num_names = 1;
  store->name = 0;
  store->num_pending = store->num_on_disk = 0;
  store->num_removed = 0;
  store->num_savepoints = 0;
  store->is_in_sync = store->is_in_transaction = store->is_current = 0;
  if( store->max_pending>4096 ){
    sqlite3_free(store->pending);
    store->pending = NULL;
    store->max_pending = 0;
  }
}

void bloom_store_commit(bloom_store *store){
  /* The commit makes the data version one more.  Where connections share a cache, another may
  ** have committed since, too. */
  if( store->is_in_sync && store->is_valid ){
    unsigned version = store->version;
    sqlite3_file_control(store->db, store->schema, SQLITE_FCNTL_DATA_VERSION, &version);
    if( version==store->version + 1 ) store->version = version;
    else forget_cache(store);
  }
  end_transaction(store);
}

void bloom_store_begin(bloom_store *store){
  if( !store->is_in_transaction ) end_transaction(store);
  store->is_in_transaction = 1;
}

void bloom_store_rollback(bloom_store *store){
  store->is_sql_stale |= store->name!=0;
  store->name = 0;
  store->is_dropped = 0;
  bloom_store_forget_config(store);
  end_transaction(store);
}

int bloom_store_savepoint(bloom_store *store, int number){
  /* A second object of the table hears of the same savepoint. */
  if( number<store->num_savepoints ) return SQLITE_OK;
  if( store->num_pending - store->num_on_disk>=MAX_PENDING / 2 ){
    int rc = bloom_store_write_pending(store);
    if( rc!=SQLITE_OK ) return rc;
  }
  if( number>=store->max_savepoints ){
    const int max_savepoints = 2 * number + 8;
    bloom_savepoint *savepoints = sqlite3_realloc64(store->savepoints, (sqlite3_uint64)max_savepoints * sizeof(*savepoints));
    if( savepoints==NULL ) return SQLITE_NOMEM;
    store->savepoints = savepoints;
    store->max_savepoints = max_savepoints;
  }
  /* Savepoints from before the table's first change in this transaction: it knew nothing. */
  while( store->num_savepoints<number ) store->savepoints[store->num_savepoints++] = (bloom_savepoint){0};
  store->savepoints[store->num_savepoints++] =
    (bloom_savepoint){store->num_pending, store->num_on_disk, store->num_removed, store->name, store->is_dropped};
  return SQLITE_OK;
}

void bloom_store_release(bloom_store *store, int number){
  if( number<store->num_savepoints ) store->num_savepoints = number<0 ? 0 : number;
}

void bloom_store_rollback_to(bloom_store *store, int number){
  /* -1 is the savepoint that began the transaction, of which xSavepoint never hears. */
  static const bloom_savepoint beginning = {0, 0, 0, 0, 0};
  const bloom_savepoint *savepoint = &beginning;
  if( number>=store->num_savepoints ) return;
  if( number>=0 ) savepoint = &store->savepoints[number];
  store->num_pending = savepoint->num_pending;
  store->num_on_disk = savepoint->num_on_disk;
  store->num_removed = savepoint->num_removed;
  store->is_sql_stale |= store->name!=savepoint->name;
  store->name = savepoint->name;
  store->is_dropped = savepoint->is_dropped;
  store->num_savepoints = number + 1;
  bloom_store_forget_config(store);
}

int bloom_store_rename(bloom_store *store, const char *new_name){
  int rc = bloom_store_write_pending(store);
  if( rc==SQLITE_OK ) rc = bloom_table_schema_rename(bloom_store_name(store), new_name);
  if( rc!=SQLITE_OK ) return failed(store, rc);
  forget_statements(store);
  forget_cache(store);
  return push_name(store, new_name);
}

int bloom_store_destroy(bloom_store *store){
  const char *prefix = NULL;
  int i, rc;
  for(i=0; i<store->num_savepoints-1; i++){
    /* After ROLLBACK TO the table would be back, but nobody to write what waits. */
    if( store->savepoints[i].num_pending>store->savepoints[i].num_on_disk ){
      return SQLITE_LOCKED;
    }
  }
  rc = bloom_store_read_config(store);
  if( rc==SQLITE_OK ){
    if( store->config.is_following ) prefix = store->config.names_prefix;
  }else if( rc==SQLITE_ERROR || (rc & 0xff)==SQLITE_CORRUPT ){
    prefix = table_name(store); /* damaged: then by the names that it should have */
  }else{
    return rc;
  }
  forget_statements(store);
  forget_cache(store);
  rc = failed(store, bloom_table_schema_drop(bloom_store_name(store), prefix));
  store->is_dropped = rc==SQLITE_OK;
  return rc;
}
