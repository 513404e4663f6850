/*
** The shadow table: its bytes, and hashes in its pages: testing one key, adding one, adding many.
**
** Row 1 is the layout, the others are pages: a header, and then blocks of the 'parquet' encoding.
** FORMATS.md has their bytes.  Row 1 is read first by each operation, so no state in memory can be
** stale.  Many hashes are put in the order of pages, so that each page is read and written once.
*/
#include "vtab_int.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/parquet/parquet.h"
#include "../source/record.h"

#define HEADER_BYTES 32

/* The most blocks of a layer: SQLite allocates no more bytes at once, Parquet allows more. */
#define MAX_BLOCKS 60000000

/* The last byte of its magic: its key has at most three columns or bloom 1.2.0 made it; its key has
** more; 'merge=N' repairs it. */
enum { PLAIN = '2', OF_CELLS = '3', OF_HEALING = '4' };

/* More than any capacity; the sum of all layers' does not overflow. */
#define MAX_CAPACITY ((sqlite3_int64)1 << 50)

/* -- Failures and places -------------------------------------------------------------- */

/* Fails with SQLITE_CORRUPT_VTAB and a message. */
static int fail_damaged(bloom_vtab *vtab, const char *what){
  const int rc = BLOOM_VTAB_FAIL(vtab, vtab->args.table
    ? "bloom: %s is damaged: %s; INSERT INTO %s(%s) VALUES ('rebuild') repairs it"
    : "bloom: %s is damaged: %s; INSERT INTO %s(%s) VALUES ('delete-all') empties it",
    vtab->name, what, vtab->quoted_name, vtab->quoted_name);
  bloom_connection_note_damage(vtab->connection, vtab->layout.number);
  return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
}

int bloom_vtab_failure(bloom_vtab *vtab, int rc){
  return rc==SQLITE_NOTFOUND ? fail_damaged(vtab, "a page")
    : bloom_sql_failure(vtab->connection, "bloom", vtab->name, rc, &vtab->base.zErrMsg);
}

/* Returns SQLITE_NOTFOUND for SQLITE_ERROR, by which SQLite says that there is no such table,
** column, row or BLOB, and for a BLOB of another size. */
static int check_row(int rc, sqlite3_blob *blob, int num_bytes){
  if( rc==SQLITE_ERROR ) return SQLITE_NOTFOUND;
  return rc==SQLITE_OK && sqlite3_blob_bytes(blob)!=num_bytes ? SQLITE_NOTFOUND : rc;
}

/* Opens a row of num_bytes.  SQLITE_NOTFOUND if there is none. */
static int open_row(const bloom_vtab *vtab, sqlite3_int64 row, int is_writable, int num_bytes,
                    sqlite3_blob **blob){
  const int rc = bloom_blob_open(vtab->connection->db, vtab->schema, vtab->pages, "bytes", row,
                                 is_writable, blob);
  return check_row(rc, *blob, num_bytes);
}

/* Closes a row that was written to, which is opened within the same call.  Returns rc, or, where
** that is SQLITE_OK, the error of closing. */
static int close_row(sqlite3_blob *blob, int rc){
  const int close_rc = sqlite3_blob_close(blob);
  return rc==SQLITE_OK ? close_rc : rc;
}

void bloom_vtab_close_reader(bloom_vtab *vtab){
  sqlite3_blob_close(vtab->reader);
  vtab->reader = NULL;
}

/* Moves the reader, or opens it, to a row of num_bytes.  SQLITE_NOTFOUND if there is none.  Where
** it cannot be moved, as after a ROLLBACK, it is opened again; but not after an I/O error, which
** may have rolled back the transaction. */
static int move_reader(bloom_vtab *vtab, sqlite3_int64 row, int num_bytes){
  const int rc = vtab->reader
    ? check_row(sqlite3_blob_reopen(vtab->reader, row), vtab->reader, num_bytes) : SQLITE_NOTFOUND;
  if( rc==SQLITE_OK ) return rc;
  bloom_vtab_close_reader(vtab);
  if( bloom_sql_is_fatal(rc) ) return rc;
  return open_row(vtab, row, 0, num_bytes, &vtab->reader);
}

/* -- Arithmetic ----------------------------------------------------------------------- */

uint64_t bloom_vtab_num_pages(const bloom_vtab_layout *layout, int layer){
  assert( layer>=0 && layer<layout->num_layers && layout->blocks_per_page>0 );
  return (layout->layers[layer].num_blocks + layout->blocks_per_page - 1) / layout->blocks_per_page;
}

/* Returns the row of a page. */
static sqlite3_int64 page_row(const bloom_vtab_layout *layout, int layer, uint64_t page){
  uint64_t row = 2 + page;
  assert( page<bloom_vtab_num_pages(layout, layer) );
  while( layer-- ) row += bloom_vtab_num_pages(layout, layer);
  return (sqlite3_int64)row;
}

/* Returns the number of blocks of a page. */
static uint64_t num_page_blocks(const bloom_vtab_layout *layout, int layer, uint64_t page){
  const uint64_t left = layout->layers[layer].num_blocks - page * layout->blocks_per_page;
  assert( page<bloom_vtab_num_pages(layout, layer) );
  return left<layout->blocks_per_page ? left : layout->blocks_per_page;
}

int bloom_vtab_page_bytes(const bloom_vtab_layout *layout, int layer, uint64_t page){
  return HEADER_BYTES + BLOOM_BLOCK_BYTES * (int)num_page_blocks(layout, layer, page);
}

/* -- Headers of pages ------------------------------------------------------------------- */

/* Encodes the header of the page in a row of the table. */
static void put_page_header(uint64_t number, const bloom_vtab_page_header *header,
                            sqlite3_int64 row, uint8_t *bytes){
  assert( row>1 ); /* row 1 is the layout */
  bloom_store64_le(bytes, number);
  bloom_store32_le(bytes + 8, (uint32_t)header->num_keys);
  bloom_store32_le(bytes + 12, (uint32_t)header->num_filled);
  bloom_store64_le(bytes + 16, 0);
  bloom_store64_le(bytes + 24, (uint64_t)row); /* for the checksum, which has its place then */
  bloom_store64_le(bytes + 24, bloom_xxh64(bytes, HEADER_BYTES));
}

/* Reads the header of the page that is open.  SQLITE_NOTFOUND if it is not the layout's page of
** this row: VACUUM gives new numbers to rows if one is gone. */
static int read_header(const bloom_vtab_layout *layout, sqlite3_blob *page, sqlite3_int64 row,
                       bloom_vtab_page_header *header){
  uint8_t bytes[HEADER_BYTES], expected[HEADER_BYTES];
  const int rc = sqlite3_blob_read(page, bytes, sizeof(bytes), 0);
  if( rc!=SQLITE_OK ) return rc;
  header->num_keys = bloom_load32_le(bytes + 8);
  header->num_filled = bloom_load32_le(bytes + 12);
  put_page_header(layout->number, header, row, expected);
  return memcmp(bytes, expected, HEADER_BYTES)==0 ? SQLITE_OK : SQLITE_NOTFOUND;
}

int bloom_vtab_read_page(bloom_vtab *vtab, const bloom_vtab_layout *layout, int layer,
                         uint64_t page, bloom_vtab_page_header *header){
  const sqlite3_int64 row = page_row(layout, layer, page);
  const int rc = move_reader(vtab, row, bloom_vtab_page_bytes(layout, layer, page));
  return rc==SQLITE_OK ? read_header(layout, vtab->reader, row, header) : rc;
}

int bloom_vtab_read_layer(bloom_vtab *vtab, const bloom_vtab_layout *layout, int layer,
                          bloom_vtab_page_header *sums, uint8_t *blocks){
  const uint64_t num_pages = bloom_vtab_num_pages(layout, layer);
  uint64_t page;
  int rc = SQLITE_OK;
  *sums = (bloom_vtab_page_header){0, 0};
  for(page=0; page<num_pages && rc==SQLITE_OK; page++){
    const int num_bytes = bloom_vtab_page_bytes(layout, layer, page) - HEADER_BYTES;
    bloom_vtab_page_header header = {0, 0};
    rc = bloom_vtab_read_page(vtab, layout, layer, page, &header);
    sums->num_keys += header.num_keys;
    sums->num_filled += header.num_filled;
    if( rc!=SQLITE_OK || blocks==NULL ) continue;
    rc = sqlite3_blob_read(vtab->reader, blocks, num_bytes, HEADER_BYTES);
    blocks += num_bytes;
  }
  return rc;
}

/* Moves a blob that is open to be written to a page, and reads its header. */
static int move_to_page(sqlite3_blob *blob, const bloom_vtab_layout *layout, int layer,
                        uint64_t page, bloom_vtab_page_header *header){
  const sqlite3_int64 row = page_row(layout, layer, page);
  const int rc = check_row(sqlite3_blob_reopen(blob, row), blob,
                           bloom_vtab_page_bytes(layout, layer, page));
  return rc==SQLITE_OK ? read_header(layout, blob, row, header) : rc;
}

/* -- Sizes ------------------------------------------------------------------------------- */

static uint64_t blocks_for(sqlite3_int64 capacity, double bits_per_key){
  const double num_blocks = (double)capacity * bits_per_key / (8 * BLOOM_BLOCK_BYTES);
  uint64_t whole;
  assert( capacity>0 && bits_per_key>0 );
  if( num_blocks>=MAX_BLOCKS ) return MAX_BLOCKS;
  whole = (uint64_t)num_blocks;
  return whole + ((double)whole<num_blocks); /* rounded up: one at least */
}

/* Each new layer may have this share of the rate that the first one has when it is full, so all new
** ones together have half of it.  Shares are equal because small ones cost split blocks many bits
** [Almeida, Baquero, Preguica, Hutchison 2007, "Scalable Bloom Filters"]. */
#define NEW_LAYER_SHARE (0.5 / (BLOOM_VTAB_MAX_LAYERS - 1))

/* For so many keys the rounding to whole blocks makes no difference. */
#define MANY_KEYS 1000000

void bloom_vtab_add_layer(const bloom_vtab *vtab, bloom_vtab_layout *layout,
                          sqlite3_int64 capacity){
  const int is_first = layout->num_layers==0;
  bloom_vtab_layer *layer = &layout->layers[layout->num_layers++];
  const double size = vtab->args.size;
  double fpr = size, best_fpr, bits_per_key = size;
  assert( layout->num_layers<=BLOOM_VTAB_MAX_LAYERS && capacity>0 );
  if( !is_first ){
    if( size>=1 ) fpr = bloom_parquet_modelled_fpr(MANY_KEYS, blocks_for(MANY_KEYS, size));
    fpr *= NEW_LAYER_SHARE;
  }
  if( fpr<1 ){
    const uint32_t tenths = bloom_encoding_parquet.min_bits_per_key_x10(fpr,
      is_first ? (uint64_t)capacity : MANY_KEYS, &best_fpr);
    bits_per_key = tenths ? tenths / 10.0 : 100; /* the most where the rate is out of reach */
  }
  layer->num_blocks = blocks_for(capacity, bits_per_key);
  layer->capacity = capacity;
  /* SQLite has whole pages, so a new layer fills one at least.  A layer of the most blocks has room
  ** for fewer keys. */
  if( !is_first && layer->num_blocks<layout->blocks_per_page ){
    layer->num_blocks = layout->blocks_per_page;
  }else if( layer->num_blocks<MAX_BLOCKS ){
    return;
  }
  layer->capacity =
    (sqlite3_int64)((double)layer->num_blocks * (8.0 * BLOOM_BLOCK_BYTES) / bits_per_key);
}

sqlite3_int64 bloom_vtab_room(const bloom_vtab_layout *layout){
  sqlite3_int64 room = 0;
  int i;
  for(i=0; i<layout->num_layers; i++) room += layout->layers[i].capacity;
  return room;
}

int bloom_vtab_new_layout(bloom_vtab *vtab, bloom_vtab_layout *layout){
  sqlite3_int64 page_size = 512; /* the smallest, where an authorizer ignores the pragma */
  const int rc = bloom_sql_integer(vtab->connection, &page_size, "PRAGMA \"%w\".page_size",
                                   vtab->schema);
  assert( layout->num_layers==0 && page_size>=512 && page_size<=65536 );
  sqlite3_randomness(sizeof(layout->number), &layout->number);
  layout->has_chain = vtab->args.table!=NULL;
  /* A row fits in a page of SQLite's, beside its cell's header and bytes that may be reserved. */
  layout->blocks_per_page = (uint32_t)(page_size * 7 / 8 - HEADER_BYTES) / BLOOM_BLOCK_BYTES;
  return rc;
}

/* -- Bytes --------------------------------------------------------------------------------- */

/* Reads or writes a layout: FORMATS.md has its bytes. */
static void code_layout(bloom_record *record, bloom_vtab_layout *layout){
  bloom_key_rules *rules = &layout->rules;
  uint8_t magic[8] = "bloomvt";
  int i;
  magic[7] = layout->is_healing ? OF_HEALING
    : rules->num_columns>BLOOM_MAX_SURE_COLUMNS ? OF_CELLS : PLAIN;
  bloom_record_bytes(record, magic, 8);
  bloom_record_expect(record, memcmp(magic, "bloomvt", 7)==0 && magic[7]>=PLAIN
                              && magic[7]<=OF_HEALING);
  bloom_record_u64(record, &layout->number);
  bloom_record_int(record, &rules->num_columns, 0, BLOOM_MAX_KEY_COLUMNS);
  bloom_record_expect(record, (magic[7]!=OF_CELLS || rules->num_columns>BLOOM_MAX_SURE_COLUMNS)
                              && (magic[7]!=OF_HEALING || rules->num_columns>0));
  bloom_record_u32(record, &layout->blocks_per_page, 1, 2048);
  bloom_record_int(record, &layout->num_layers, 1,
                   rules->num_columns>0 ? 1 : BLOOM_VTAB_MAX_LAYERS);
  bloom_record_int(record, &layout->has_chain, 0, 1);
  bloom_record_i64(record, &layout->num_filled);
  bloom_record_i64(record, &layout->journal_mark);
  bloom_record_u64(record, &layout->default_checksum);
  bloom_record_bytes(record, (uint8_t *)layout->merged_at, sizeof(layout->merged_at) - 1);
  /* A hostile file can have a number to which a merge cannot add. */
  if( layout->num_filled<0 || layout->num_filled>MAX_CAPACITY ) record->rc = SQLITE_CORRUPT_VTAB;
  bloom_record_go_to(record, 80);
  for(i=0; i<layout->num_layers; i++){
    bloom_vtab_layer *layer = &layout->layers[i];
    bloom_record_u64(record, &layer->num_blocks);
    bloom_record_i64(record, &layer->capacity);
    bloom_record_expect(record, layer->num_blocks>=1 && layer->num_blocks<=MAX_BLOCKS
                                && layer->capacity>=1 && layer->capacity<=MAX_CAPACITY);
  }
  if( rules->num_columns>0 ){ /* else layers stand where these have their places */
    bloom_record_go_to(record, 272);
    for(i=0; i<rules->num_columns; i++){
      bloom_equality *column = &rules->columns[i];
      uint8_t bytes[2] = {(uint8_t)column->kind, (uint8_t)column->collation};
      bloom_record_bytes(record, bytes, sizeof(bytes));
      bloom_record_expect(record, bytes[0]<=BLOOM_COLUMN_ANY && bytes[1]<=BLOOM_COLLATION_RTRIM);
      *column = (bloom_equality){(bloom_column_kind)bytes[0], (bloom_collation)bytes[1]};
    }
    bloom_record_go_to(record, 304);
    bloom_record_u64(record, &layout->num_taken);
    bloom_record_i64(record, &layout->next_id);
  }
  bloom_record_go_to(record, BLOOM_LAYOUT_BYTES - 8);
  bloom_record_end(record);
  layout->is_healing = magic[7]==OF_HEALING;
  layout->is_of_1_2_0 = magic[7]==PLAIN && rules->num_columns>BLOOM_MAX_SURE_COLUMNS;
}

/* Reads vtab->layout from row 1, which is open. */
static int take_layout(bloom_vtab *vtab, sqlite3_blob *row_1){
  uint8_t bytes[BLOOM_LAYOUT_BYTES];
  bloom_vtab_layout layout;
  bloom_record record;
  const int rc = sqlite3_blob_read(row_1, bytes, sizeof(bytes), 0);
  if( rc!=SQLITE_OK ) return rc;
  if( vtab->has_layout && memcmp(bytes, vtab->layout_bytes, sizeof(bytes))==0 ) return SQLITE_OK;
  vtab->has_layout = 0;
  layout = (bloom_vtab_layout){.num_layers = 0};
  record = bloom_record_open(bytes, sizeof(bytes));
  code_layout(&record, &layout);
  if( record.rc!=SQLITE_OK ) return fail_damaged(vtab, "its layout");
  if( layout.rules.num_columns!=vtab->args.num_columns ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: the pages of %s are those of a filter of other columns:"
                           " open the connection anew, or drop %s and create it again",
                           vtab->name, vtab->name);
  }
  vtab->layout = layout;
  memcpy(vtab->layout_bytes, bytes, sizeof(bytes));
  vtab->has_layout = 1;
  return SQLITE_OK;
}

int bloom_vtab_read_layout(bloom_vtab *vtab){
  const char *name = vtab->quoted_name;
  uint8_t magic[8] = {0};
  const int rc = move_reader(vtab, 1, BLOOM_LAYOUT_BYTES);
  if( rc==SQLITE_OK ) return take_layout(vtab, vtab->reader);
  if( rc!=SQLITE_NOTFOUND ) return rc;
  if( move_reader(vtab, 1, 304)==SQLITE_OK ) sqlite3_blob_read(vtab->reader, magic, 8, 0);
  if( memcmp(magic, "bloomvt1", 8)!=0 ) return fail_damaged(vtab, "its layout");
  return BLOOM_VTAB_FAIL(vtab, "bloom: %s was made by bloom 1.1 or older: DROP TABLE %s, and create"
                               " it again with %s", name, name,
                         vtab->args.table ? "the same CREATE VIRTUAL TABLE" : "its keys");
}

int bloom_vtab_write_layout(bloom_vtab *vtab, bloom_vtab_layout *layout){
  bloom_record record = {.out = sqlite3_str_new(NULL)};
  sqlite3_blob *blob = NULL;
  int rc;
  code_layout(&record, layout);
  rc = record.rc==SQLITE_OK ? open_row(vtab, 1, 1, BLOOM_LAYOUT_BYTES, &blob) : record.rc;
  if( rc==SQLITE_OK ){
    rc = sqlite3_blob_write(blob, sqlite3_str_value(record.out), BLOOM_LAYOUT_BYTES, 0);
  }
  sqlite3_free(sqlite3_str_finish(record.out));
  return close_row(blob, rc);
}

/* Hashes that a batch holds. */
#ifdef BLOOM_TINY_TABLES
# define PAGE_BATCH_HASHES 50
#else
# define PAGE_BATCH_HASHES 1000000
#endif

static inline uint64_t page_of(const bloom_vtab_layout *layout, int layer, bloom_hash_value hash){
  return bloom_split_block_number(hash, layout->layers[layer].num_blocks) / layout->blocks_per_page;
}

/* Returns the place of a hash's block in its page, in bytes. */
static inline int offset_of(const bloom_vtab_layout *layout, int layer, bloom_hash_value hash){
  return HEADER_BYTES + BLOOM_BLOCK_BYTES * (int)(bloom_split_block_number(hash,
      layout->layers[layer].num_blocks) % layout->blocks_per_page);
}

/* -- Keys in rows ----------------------------------------------------------------------- */

int bloom_vtab_hashes_of_row(const bloom_key_rules *rules, bloom_tuple_reader *reader,
                             sqlite3_stmt *row, int first, bloom_combined_hashes *hashes){
  sqlite3_value *parts[BLOOM_MAX_KEY_COLUMNS];
  int i;
  assert( rules->num_columns>0 && first + rules->num_columns<=sqlite3_data_count(row) );
  for(i=0; i<rules->num_columns; i++) parts[i] = sqlite3_column_value(row, first + i);
  return bloom_hashes_of_key(rules, reader, (bloom_key_values){parts[0], parts}, hashes);
}

/* -- Looking up ------------------------------------------------------------------------ */

int bloom_vtab_test_pages(bloom_vtab *vtab, const bloom_combined_hashes *hashes, int *may_contain){
  const bloom_vtab_layout *layout = &vtab->layout;
  bloom_vtab_page_header header;
  uint8_t block[BLOOM_BLOCK_BYTES];
  int i, layer, rc;
  assert( vtab->has_layout && hashes->num_hashes>0 && !hashes->is_maybe );
  *may_contain = 0;
  for(i=0; i<hashes->num_hashes; i++){
    const bloom_hash_value hash = hashes->hashes[i];
    /* The newest first: it is the largest. */
    for(layer=layout->num_layers-1; layer>=0; layer--){
      rc = bloom_vtab_read_page(vtab, layout, layer, page_of(layout, layer, hash), &header);
      if( rc!=SQLITE_OK ) return rc;
      rc = sqlite3_blob_read(vtab->reader, block, sizeof(block), offset_of(layout, layer, hash));
      if( rc!=SQLITE_OK ) return rc;
      *may_contain = bloom_split_block_may_contain(block, hash);
      if( *may_contain ) return SQLITE_OK;
    }
  }
  return SQLITE_OK;
}

/* -- Making room --------------------------------------------------------------------------- */

int bloom_vtab_insert_pages(bloom_vtab *vtab, const bloom_vtab_layout *layout){
  const int layer = layout->num_layers - 1;
  const uint64_t num_pages = bloom_vtab_num_pages(layout, layer);
  bloom_vtab_page_header header = {0, 0};
  uint8_t *bytes = bloom_malloc_zeros((uint64_t)bloom_vtab_page_bytes(layout, layer, 0));
  sqlite3_stmt *insert = NULL;
  uint64_t page;
  int rc = bytes ? bloom_sql_prepare(vtab->connection, &insert,
      "INSERT OR REPLACE INTO \"%w\".\"%w\"(rowid, bytes) VALUES (?1, ?2)", vtab->schema,
      vtab->pages) : SQLITE_NOMEM;
  for(page=0; page<num_pages && rc==SQLITE_OK; page++){
    const sqlite3_int64 row = page_row(layout, layer, page);
    put_page_header(layout->number, &header, row, bytes);
    sqlite3_bind_int64(insert, 1, row);
    rc = sqlite3_bind_blob(insert, 2, bytes, bloom_vtab_page_bytes(layout, layer, page),
                           SQLITE_STATIC);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, insert);
    if( rc==SQLITE_DONE ) rc = sqlite3_reset(insert);
  }
  rc = bloom_sql_end(insert, rc);
  sqlite3_free(bytes);
  /* An authorizer, or a trigger on the pages, may have ignored a row. */
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_layer(vtab, layout, layer, &header, NULL);
  bloom_vtab_close_reader(vtab); /* what is written next stops it */
  return rc;
}

/* Appends a layer if the last one has more hashes than room.  Writes the new layout last, so that
** pages which were inserted before an error do not count.  Where they cannot be inserted, the last
** layer goes on taking keys.
**
** A small filter grows to the room of one whose capacity is not given.  With the factor 1.6 five
** layers make ten times the room; the last layers have the factor 4.  At a rate of 1 % full layers
** have 2.58 bytes a key, and factor times as many where the last one was just made: 3 bytes at most
** would take the factor 1.16, with which all layers make 8 times the room. */
static int grow_if_full(bloom_vtab *vtab){
  bloom_vtab_layout layout = vtab->layout;
  const bloom_vtab_layer last = layout.layers[layout.num_layers-1];
  const sqlite3_int64 room = bloom_vtab_room(&layout);
  sqlite3_int64 capacity = room / 5 * 3 + 1;
  bloom_vtab_page_header sums;
  int rc;
  assert( vtab->args.table==NULL && vtab->has_layout );
  if( layout.num_layers==BLOOM_VTAB_MAX_LAYERS || last.num_blocks>=MAX_BLOCKS / 4
      || vtab->connection->is_running ){
    return SQLITE_OK;
  }
  rc = bloom_vtab_read_layer(vtab, &layout, layout.num_layers - 1, &sums, NULL);
  bloom_vtab_close_reader(vtab); /* what is written next stops it */
  if( rc!=SQLITE_OK || sums.num_filled<=(uint64_t)last.capacity ) return rc;
  if( room<BLOOM_VTAB_DEFAULT_CAPACITY ) capacity = BLOOM_VTAB_DEFAULT_CAPACITY - room;
  if( layout.num_layers>=BLOOM_VTAB_MAX_LAYERS - 3 ) capacity = 3 * room;
  bloom_vtab_add_layer(vtab, &layout, capacity);
  rc = bloom_vtab_insert_pages(vtab, &layout);
  if( rc==SQLITE_OK ) return bloom_vtab_write_layout(vtab, &layout);
  return bloom_sql_is_fatal(rc) || (rc & 0xff)==SQLITE_INTERRUPT ? rc : SQLITE_OK;
}

/* -- Adding one ------------------------------------------------------------------------------ */

/* Sets the bits of the key's hash in the last layer, unless they are set.  Older layers may have
** the hash, too, but to read them costs more than it saves. */
int bloom_vtab_add_key(bloom_vtab *vtab, bloom_key_values key){
  const bloom_key_rules none = {.num_columns = 0};
  const bloom_vtab_layout *layout = &vtab->layout;
  uint8_t block[BLOOM_BLOCK_BYTES], bytes[HEADER_BYTES];
  bloom_combined_hashes hashes;
  bloom_hash_value hash;
  bloom_vtab_page_header header;
  sqlite3_blob *blob;
  uint64_t page;
  double share;
  int layer, offset, rc = bloom_hashes_of_key(&none, NULL, key, &hashes);
  if( rc!=SQLITE_OK || hashes.num_hashes==0 ) return rc;
  assert( vtab->args.table==NULL && hashes.num_hashes==1 );
  hash = hashes.hashes[0];
  /* Row 1 is opened to be written, because the blob then moves to the page. */
  rc = open_row(vtab, 1, 1, BLOOM_LAYOUT_BYTES, &blob);
  if( rc==SQLITE_OK ){
    rc = take_layout(vtab, blob);
  }else if( rc==SQLITE_NOTFOUND ){
    rc = bloom_vtab_read_layout(vtab);
    if( rc==SQLITE_OK ) rc = SQLITE_NOTFOUND; /* an index on it forbids to write */
  }
  if( rc!=SQLITE_OK ) return close_row(blob, rc);
  layer = layout->num_layers - 1;
  page = page_of(layout, layer, hash);
  offset = offset_of(layout, layer, hash);
  rc = move_to_page(blob, layout, layer, page, &header);
  if( rc==SQLITE_OK ) rc = sqlite3_blob_read(blob, block, sizeof(block), offset);
  if( rc!=SQLITE_OK || bloom_split_block_may_contain(block, hash) ) return close_row(blob, rc);
  header.num_keys++;
  header.num_filled++;
  bloom_split_block_add(block, hash);
  assert( bloom_split_block_may_contain(block, hash) );
  put_page_header(layout->number, &header, page_row(layout, layer, page), bytes);
  rc = sqlite3_blob_write(blob, block, sizeof(block), offset);
  if( rc==SQLITE_OK ) rc = sqlite3_blob_write(blob, bytes, sizeof(bytes), 0);
  rc = close_row(blob, rc);
  if( rc!=SQLITE_OK ) return rc;
  /* The layer may be full if the page had its share of the layer's capacity before.  Counting reads
  ** all N pages, so one hash in N leads to it. */
  share = (double)layout->layers[layer].capacity * (double)num_page_blocks(layout, layer, page)
    / (double)layout->layers[layer].num_blocks;
  if( (double)(header.num_filled - 1)<share
      || (hash & UINT32_MAX) * bloom_vtab_num_pages(layout, layer) >> 32 ) return SQLITE_OK;
  return grow_if_full(vtab);
}

/* -- Adding many ------------------------------------------------------------------------------ */

/* Adds the hashes of one page, for which bytes has room. */
static int fill_page(bloom_vtab_batch *batch, sqlite3_blob *blob, uint64_t page,
                     const bloom_hash_value *hashes, size_t num_hashes, int are_first,
                     uint8_t *bytes){
  const bloom_vtab_layout *layout = batch->layout;
  const int num_bytes = bloom_vtab_page_bytes(layout, 0, page);
  bloom_vtab_page_header header = {0, 0};
  size_t i;
  int rc = move_to_page(blob, layout, 0, page, &header);
  assert( layout->num_layers==1 && num_hashes>0 );
  if( rc==SQLITE_OK ) rc = sqlite3_blob_read(blob, bytes, num_bytes, 0);
  for(i=0; i<num_hashes && rc==SQLITE_OK; i++){
    uint8_t *block = bytes + offset_of(layout, 0, hashes[i]);
    const int is_there = bloom_split_block_may_contain(block, hashes[i]);
    assert( page_of(layout, 0, hashes[i])==page && block + BLOOM_BLOCK_BYTES<=bytes + num_bytes );
    if( are_first && (batch->is_new || !is_there) ) header.num_keys++;
    if( is_there ) continue;
    bloom_split_block_add(block, hashes[i]);
    assert( bloom_split_block_may_contain(block, hashes[i]) );
    header.num_filled++;
    batch->layout->num_filled++;
  }
  if( rc!=SQLITE_OK ) return rc;
  put_page_header(layout->number, &header, page_row(layout, 0, page), bytes);
  batch->has_written = 1;
  return sqlite3_blob_write(blob, bytes, num_bytes, 0);
}

/* Adds the hashes of a kind, in the order of their pages. */
static int write_hashes(bloom_vtab_batch *batch, int kind){
  const bloom_vtab_layout *layout = batch->layout;
  const uint64_t num_pages = bloom_vtab_num_pages(layout, 0);
  const bloom_hash_value *hashes = batch->hashes[kind];
  const size_t num_hashes = batch->num_hashes[kind];
  bloom_hash_value *ordered = sqlite3_malloc64(num_hashes * sizeof(*ordered));
  size_t *ends = bloom_malloc_zeros(num_pages * sizeof(*ends)), i, sum = 0;
  uint8_t *bytes = sqlite3_malloc64((sqlite3_uint64)bloom_vtab_page_bytes(layout, 0, 0));
  sqlite3_blob *blob = NULL;
  uint64_t page;
  int rc = ordered && ends && bytes
    ? open_row(batch->vtab, 1, 1, BLOOM_LAYOUT_BYTES, &blob) : SQLITE_NOMEM;
  assert( num_hashes>0 );
  for(i=0; i<num_hashes && rc==SQLITE_OK; i++) ends[page_of(layout, 0, hashes[i])]++;
  for(page=0; page<num_pages && rc==SQLITE_OK; page++){
    const size_t num_here = ends[page];
    ends[page] = sum; /* where it begins, and its end once all are in their places */
    sum += num_here;
  }
  assert( rc!=SQLITE_OK || sum==num_hashes );
  for(i=0; i<num_hashes && rc==SQLITE_OK; i++){
    ordered[ends[page_of(layout, 0, hashes[i])]++] = hashes[i];
  }
  for(page=0, i=0; page<num_pages && rc==SQLITE_OK; i = ends[page++]){
    if( ends[page]==i ) continue;
    rc = fill_page(batch, blob, page, ordered + i, ends[page] - i, kind==0, bytes);
  }
  assert( rc!=SQLITE_OK || i==num_hashes );
  rc = close_row(blob, rc);
  sqlite3_free(bytes);
  sqlite3_free(ordered);
  sqlite3_free(ends);
  batch->num_hashes[kind] = 0;
  return rc;
}

int bloom_vtab_batch_add(bloom_vtab_batch *batch, sqlite3_stmt *row, int first){
  bloom_combined_hashes hashes;
  int i, rc = bloom_vtab_hashes_of_row(&batch->layout->rules, NULL, row, first, &hashes);
  assert( batch->layout->num_layers==1 );
  for(i=0; rc==SQLITE_OK && i<hashes.num_hashes; i++){
    const int kind = i>0;
    rc = BLOOM_GROW(batch->hashes[kind], batch->num_hashes[kind], batch->max_hashes[kind]);
    if( rc!=SQLITE_OK ) return rc;
    batch->hashes[kind][batch->num_hashes[kind]++] = hashes.hashes[i];
    if( batch->num_hashes[kind]>=PAGE_BATCH_HASHES ) rc = write_hashes(batch, kind);
  }
  return rc;
}

int bloom_vtab_batch_finish(bloom_vtab_batch *batch){
  int kind, rc = SQLITE_OK;
  for(kind=0; kind<2 && rc==SQLITE_OK; kind++){
    if( batch->num_hashes[kind]>0 ) rc = write_hashes(batch, kind);
  }
  return rc;
}

void bloom_vtab_batch_free(bloom_vtab_batch *batch){
  sqlite3_free(batch->hashes[0]);
  sqlite3_free(batch->hashes[1]);
}
