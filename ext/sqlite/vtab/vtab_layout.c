/*
** The layout, row 1 of the pages: BLOOM_LAYOUT_BYTES, little-endian.
**
**     0  8 bytes "bloomvt1"
**     8  u64  number
**    16  u32  triggers         20  u32  num_columns
**    24  u32  blocks_per_page  28  u32  num_layers
**    32  f64  size             40  i64  min_capacity
**    48  20 bytes, built_at    68  u32  decimals
**    72  layers: u64 num_blocks, i64 capacity; after the last one u64 next_row
**   264  columns: u8 kind, u8 collation
**   296  u64  checksum of what is before it
*/
#include "vtab_int.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/parquet/parquet.h"
#include "../errors.h"

#define BLOOM_LAYOUT_BYTES 304
#define LAYERS_AT   72
#define COLUMNS_AT  264
#define CHECKSUM_AT 296

/* The capacity where none is given. */
#ifdef BLOOM_TINY_TABLES
# define DEFAULT_CAPACITY 20
#else
# define DEFAULT_CAPACITY 10000
#endif

static const char layout_magic[8] = {'b', 'l', 'o', 'o', 'm', 'v', 't', '1'};

/* No capacity comes near it, or near overflow when some are added. */
#define MAX_CAPACITY ((sqlite3_int64)1 << 50)

void bloom_vtab_forget_message(bloom_vtab *vtab){
  sqlite3_free(vtab->base.zErrMsg);
  vtab->base.zErrMsg = NULL;
}

int bloom_vtab_damaged(bloom_vtab *vtab, const char *what){
  const char *name = vtab->name;
  const int rc = bloom_fail_vtab(&vtab->base.zErrMsg, vtab->args.table
    ? "bloom: %s is damaged: %s; INSERT INTO %s(%s) VALUES ('rebuild') repairs it" : "bloom: %s is damaged: %s", name, what, name, name);
  return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
}

int bloom_vtab_failure(bloom_vtab *vtab, int rc){
  return bloom_source_failure(vtab->connection->db, rc, &vtab->base.zErrMsg);
}

bloom_blob_place bloom_vtab_place(const bloom_vtab *vtab){
  return (bloom_blob_place){vtab->connection->db, vtab->schema, vtab->pages, "bytes"};
}

/* -- Arithmetic ----------------------------------------------------------------------- */

uint64_t bloom_vtab_num_pages(const bloom_vtab_layout *layout, int layer){
  return (layout->layers[layer].num_blocks + layout->blocks_per_page - 1) / layout->blocks_per_page;
}

sqlite3_int64 bloom_vtab_first_row(const bloom_vtab_layout *layout, int layer){
  sqlite3_int64 row = 2;
  while( layer-- ) row += (sqlite3_int64)bloom_vtab_num_pages(layout, layer);
  return row;
}

uint64_t bloom_vtab_page_blocks(const bloom_vtab_layout *layout, int layer, uint64_t page){
  const uint64_t left = layout->layers[layer].num_blocks - page * layout->blocks_per_page;
  return left<layout->blocks_per_page ? left : layout->blocks_per_page;
}

int bloom_vtab_page_bytes(const bloom_vtab_layout *layout, int layer, uint64_t page){
  return BLOOM_HEADER_BYTES + BLOOM_BLOCK_BYTES * (int)bloom_vtab_page_blocks(layout, layer, page);
}

static uint64_t header_checksum(const uint8_t *bytes, sqlite3_int64 row){
  uint8_t text[32];
  memcpy(text, bytes, 24);
  bloom_store64_le(text + 24, (uint64_t)row);
  return bloom_checksum(text, sizeof(text));
}

void bloom_vtab_put_header(const bloom_vtab_page_header *header, sqlite3_int64 row, uint8_t *bytes){
  bloom_store64_le(bytes, header->number);
  bloom_store32_le(bytes + 8, header->num_keys);
  bloom_store32_le(bytes + 12, header->num_removed);
  bloom_store32_le(bytes + 16, header->num_filled);
  bloom_store32_le(bytes + 20, 0);
  bloom_store64_le(bytes + 24, header_checksum(bytes, row));
}

int bloom_vtab_get_header(const uint8_t *bytes, sqlite3_int64 row, bloom_vtab_page_header *header){
  header->number = bloom_load64_le(bytes);
  header->num_keys = bloom_load32_le(bytes + 8);
  header->num_removed = bloom_load32_le(bytes + 12);
  header->num_filled = bloom_load32_le(bytes + 16);
  return bloom_load64_le(bytes + 24)==header_checksum(bytes, row);
}

uint64_t bloom_vtab_next_number(const bloom_vtab_layout *layout){
  uint8_t bytes[8];
  bloom_store64_le(bytes, layout->number);
  return bloom_checksum(bytes, sizeof(bytes));
}

int bloom_vtab_has_number(const bloom_vtab_layout *layout, uint64_t number){
  return number==layout->number || (layout->next_row && number==bloom_vtab_next_number(layout));
}

/* -- Sizes ------------------------------------------------------------------------------- */

static uint64_t blocks_for(sqlite3_int64 capacity, double bits_per_key){
  const double num_blocks = (double)capacity * bits_per_key / (8 * BLOOM_BLOCK_BYTES);
  uint64_t whole;
  if( num_blocks>=BLOOM_VTAB_MAX_BLOCKS ) return BLOOM_VTAB_MAX_BLOCKS;
  whole = (uint64_t)num_blocks;
  return whole + ((double)whole<num_blocks); /* rounded up: one at least */
}

/* The bits a key for a rate, the most if it is out of reach.  A layer that cannot have them for
** all its keys takes fewer keys. */
static double bits_for(double fpr, sqlite3_int64 capacity){
  double best_fpr;
  const uint32_t tenths = bloom_encoding_parquet.min_bits_per_key_x10(fpr, (uint64_t)capacity, &best_fpr);
  return tenths ? tenths / 10.0 : 100;
}

/* The first layer has the rate that was asked for when it is full, those after it a sixteenth,
** then a quarter of the last one's: all together keep it, but for a twelfth [Almeida, Baquero,
** Preguica, Hutchison 2007, "Scalable Bloom Filters"]. */
bloom_vtab_layer bloom_vtab_new_layer(double size, int num_layers, sqlite3_int64 capacity){
  const sqlite3_int64 many = 1000000;
  double bits_per_key = size, fpr = size;
  int i;
  bloom_vtab_layer layer;
  if( num_layers>0 && size>=1 ) fpr = bloom_parquet_modelled_fpr((uint64_t)many, blocks_for(many, size));
  for(i=0; i<num_layers; i++) fpr /= i==0 ? 16 : 4;
  if( num_layers>0 || size<1 ) bits_per_key = bits_for(fpr, capacity);
  layer.num_blocks = blocks_for(capacity, bits_per_key);
  layer.capacity = capacity;
  if( layer.num_blocks==BLOOM_VTAB_MAX_BLOCKS ){
    layer.capacity = (sqlite3_int64)(BLOOM_VTAB_MAX_BLOCKS * (8.0 * BLOOM_BLOCK_BYTES) / bits_per_key);
  }
  return layer;
}

/* -- Bytes --------------------------------------------------------------------------------- */

static void put_layout(const bloom_vtab_layout *layout, uint8_t *bytes){
  int i;
  memset(bytes, 0, BLOOM_LAYOUT_BYTES);
  memcpy(bytes, layout_magic, sizeof(layout_magic));
  bloom_store64_le(bytes + 8, layout->number);
  bloom_store32_le(bytes + 16, layout->triggers);
  bloom_store32_le(bytes + 20, (uint32_t)layout->num_columns);
  bloom_store32_le(bytes + 24, (uint32_t)layout->blocks_per_page);
  bloom_store32_le(bytes + 28, (uint32_t)layout->num_layers);
  bloom_store_real_le(bytes + 32, layout->size);
  bloom_store64_le(bytes + 40, (uint64_t)layout->min_capacity);
  memcpy(bytes + 48, layout->built_at, sizeof(layout->built_at));
  bloom_store32_le(bytes + 68, layout->decimals);
  for(i=0; i<layout->num_layers; i++){
    bloom_store64_le(bytes + LAYERS_AT + 16*(size_t)i, layout->layers[i].num_blocks);
    bloom_store64_le(bytes + LAYERS_AT + 16*(size_t)i + 8, (uint64_t)layout->layers[i].capacity);
  }
  if( i<BLOOM_VTAB_MAX_LAYERS ) bloom_store64_le(bytes + LAYERS_AT + 16*(size_t)i, (uint64_t)layout->next_row);
  for(i=0; i<layout->num_columns; i++){
    bytes[COLUMNS_AT + 2*i] = (uint8_t)layout->rules[i].kind;
    bytes[COLUMNS_AT + 2*i + 1] = (uint8_t)layout->rules[i].collation;
  }
  bloom_store64_le(bytes + CHECKSUM_AT, bloom_checksum(bytes, CHECKSUM_AT));
}

static int is_in(sqlite3_int64 number, sqlite3_int64 least, sqlite3_int64 most){
  return number>=least && number<=most;
}

/* Reads and bounds every number; 0 if the bytes are no layout. */
static int get_layout(const uint8_t *bytes, bloom_vtab_layout *layout){
  const uint64_t size = bloom_load64_le(bytes + 32);
  int i;
  if( memcmp(bytes, layout_magic, sizeof(layout_magic))!=0 || bloom_load64_le(bytes + CHECKSUM_AT)!=bloom_checksum(bytes, CHECKSUM_AT) ) return 0;
  *layout = (bloom_vtab_layout){
    .number = bloom_load64_le(bytes + 8), .triggers = bloom_load32_le(bytes + 16),
    .num_columns = (int)(bloom_load32_le(bytes + 20) & 0xff), .blocks_per_page = bloom_load32_le(bytes + 24),
    .num_layers = (int)(bloom_load32_le(bytes + 28) & 0xff), .min_capacity = (sqlite3_int64)bloom_load64_le(bytes + 40)
  };
  memcpy(&layout->size, &size, sizeof(size));
  memcpy(layout->built_at, bytes + 48, sizeof(layout->built_at) - 1);
  layout->decimals = bloom_load32_le(bytes + 68);
  if( !is_in(layout->num_columns, 0, BLOOM_VTAB_MAX_COLUMNS) || !is_in(layout->num_layers, 1, BLOOM_VTAB_MAX_LAYERS) ) return 0;
  if( !is_in((sqlite3_int64)layout->blocks_per_page, 1, 2048) || !is_in(layout->min_capacity, 1, MAX_CAPACITY) ) return 0;
  if( !(layout->size>0 && layout->size<=100) ) return 0;
  for(i=0; i<layout->num_layers; i++){
    bloom_vtab_layer *layer = &layout->layers[i];
    layer->num_blocks = bloom_load64_le(bytes + LAYERS_AT + 16*(size_t)i);
    layer->capacity = (sqlite3_int64)bloom_load64_le(bytes + LAYERS_AT + 16*(size_t)i + 8);
    if( layer->num_blocks<1 || layer->num_blocks>BLOOM_VTAB_MAX_BLOCKS || !is_in(layer->capacity, 1, MAX_CAPACITY) ) return 0;
  }
  if( i<BLOOM_VTAB_MAX_LAYERS ) layout->next_row = (sqlite3_int64)bloom_load64_le(bytes + LAYERS_AT + 16*(size_t)i);
  if( !is_in(layout->next_row, 0, MAX_CAPACITY) ) return 0;
  for(i=0; i<layout->num_columns; i++){
    const uint8_t kind = bytes[COLUMNS_AT + 2*i], collation = bytes[COLUMNS_AT + 2*i + 1];
    if( kind>BLOOM_COLUMN_ANY || collation>BLOOM_COLLATION_RTRIM ) return 0;
    layout->rules[i] = (bloom_equality){(bloom_column_kind)kind, (bloom_collation)collation};
  }
  return 1;
}

static int num_key_columns(const bloom_vtab *vtab){
  return vtab->args.num_columns ? vtab->args.num_columns : vtab->args.table!=NULL;
}

int bloom_vtab_read_layout(bloom_vtab *vtab){
  uint8_t bytes[BLOOM_LAYOUT_BYTES];
  int rc = bloom_blob_read_row(bloom_vtab_place(vtab), 1, bytes, sizeof(bytes));
  vtab->has_layout = 0;
  if( rc==SQLITE_OK && get_layout(bytes, &vtab->layout) ){
    vtab->has_layout = vtab->layout.num_columns==num_key_columns(vtab);
    if( vtab->has_layout ) return SQLITE_OK;
    return bloom_fail_vtab(&vtab->base.zErrMsg, "bloom: the database of %s was replaced: open the connection anew", vtab->name);
  }
  if( rc==SQLITE_OK || rc==SQLITE_NOTFOUND ){
    rc = bloom_vtab_refuse_old(vtab);
    return rc==SQLITE_OK ? bloom_vtab_damaged(vtab, "its layout") : rc;
  }
  return bloom_vtab_failure(vtab, rc);
}

int bloom_vtab_first_layout(bloom_vtab *vtab, bloom_vtab_layout *layout){
  sqlite3_int64 page_size = 0;
  const int rc = bloom_sql_integer(vtab->connection, &page_size, "PRAGMA \"%w\".page_size", vtab->schema);
  *layout = (bloom_vtab_layout){
    .num_columns = num_key_columns(vtab), .size = vtab->args.size, .num_layers = 1,
    .min_capacity = vtab->args.capacity>0 ? vtab->args.capacity : DEFAULT_CAPACITY
  };
  /* With the row around it and all that may be reserved in a page, a row fits in one. */
  layout->blocks_per_page = (uint64_t)(page_size * 7 / 8 - BLOOM_HEADER_BYTES) / BLOOM_BLOCK_BYTES;
  layout->layers[0] = bloom_vtab_new_layer(layout->size, 0, layout->min_capacity);
  return rc;
}

int bloom_vtab_write_layout(bloom_vtab *vtab, const bloom_vtab_layout *layout){
  uint8_t bytes[BLOOM_LAYOUT_BYTES];
  put_layout(layout, bytes);
  return bloom_blob_write_row(bloom_vtab_place(vtab), 1, bytes, sizeof(bytes));
}

int bloom_vtab_write_first_layout(bloom_vtab *vtab, const bloom_vtab_layout *layout){
  int rc = bloom_sql_run(vtab->connection, "INSERT OR REPLACE INTO \"%w\".\"%w\"(rowid, bytes) VALUES (1, zeroblob(%d))",
                         vtab->schema, vtab->pages, BLOOM_LAYOUT_BYTES);
  return rc==SQLITE_OK ? bloom_vtab_write_layout(vtab, layout) : rc;
}
