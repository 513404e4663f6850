/*
** Hashes and their pages: testing one key, adding one key, adding many.
**
** Row 1 is read first, each time, so that nothing which is in memory has to be believed.  Many
** hashes are put in the order of pages, so that each page is read and written once.
*/
#include "vtab_int.h"

#include <string.h>

#include "../../core/parquet/parquet.h"
#include "../../core/parquet/split_block.h"

/* Hashes that a batch holds. */
#ifdef BLOOM_TINY_TABLES
# define PAGE_BATCH_HASHES 50
#else
# define PAGE_BATCH_HASHES 1000000
#endif

/* The place of a hash's block. */
typedef struct block_place {
  uint64_t page; /* of its layer */
  sqlite3_int64 row;
  int num_bytes; /* the page's */
  int offset;    /* of the block in it */
} block_place;

static inline uint64_t page_of(const bloom_vtab_layout *layout, int layer, bloom_hash_value hash){
  return bloom_split_block_number(hash, layout->layers[layer].num_blocks) / layout->blocks_per_page;
}

/* The place of a hash's block in its page, in bytes. */
static inline int offset_of(const bloom_vtab_layout *layout, int layer, bloom_hash_value hash){
  return BLOOM_HEADER_BYTES + BLOOM_BLOCK_BYTES * (int)(bloom_split_block_number(hash,
      layout->layers[layer].num_blocks) % layout->blocks_per_page);
}

static block_place find_block(const bloom_vtab_layout *layout, int layer, bloom_hash_value hash){
  const uint64_t page = page_of(layout, layer, hash);
  return (block_place){
    .page = page, .row = bloom_vtab_first_row(layout, layer) + (sqlite3_int64)page,
    .num_bytes = bloom_vtab_page_bytes(layout, layer, page),
      .offset = offset_of(layout, layer, hash)
  };
}

/* -- Keys in rows ----------------------------------------------------------------------- */

bloom_key_values bloom_vtab_key_of_row(
  const bloom_key_rules *rules, sqlite3_stmt *row, int first, sqlite3_value **parts
){
  int i;
  if( rules->num_columns<2 ) return (bloom_key_values){.value = sqlite3_column_value(row, first)};
  for(i=0; i<rules->num_columns; i++) parts[i] = sqlite3_column_value(row, first + i);
  return (bloom_key_values){.parts = parts};
}

int bloom_vtab_hashes_of_row(
  const bloom_key_rules *rules, sqlite3_stmt *row, int first, bloom_combined_hashes *hashes
){
  sqlite3_value *parts[BLOOM_MAX_KEY_COLUMNS];
  const bloom_key_values key = bloom_vtab_key_of_row(rules, row, first, parts);
  return bloom_hashes_of_key(rules, NULL, key, hashes);
}

/* -- Looking up ------------------------------------------------------------------------ */

static int test_block(bloom_vtab *vtab, int layer, bloom_hash_value hash, int *may_contain){
  const block_place place = find_block(&vtab->layout, layer, hash);
  bloom_vtab_page_header header;
  uint8_t block[BLOOM_BLOCK_BYTES];
  int rc = bloom_vtab_move_reader(vtab, place.row, place.num_bytes);
  /* The page may be another one's: VACUUM gives new numbers to rows if one is gone. */
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_header(&vtab->layout, vtab->reader, place.row, &header);
  if( rc==SQLITE_OK ) rc = sqlite3_blob_read(vtab->reader, block, sizeof(block), place.offset);
  if( rc==SQLITE_OK ) *may_contain = bloom_split_block_may_contain(block, hash);
  return rc;
}

int bloom_vtab_test_pages(
  bloom_vtab *vtab, const bloom_combined_hashes *hashes, int *may_contain
){
  int i, layer, rc = SQLITE_OK;
  *may_contain = 0;
  for(i=0; i<hashes->num_hashes; i++){
    /* The newest first: it is the largest. */
    for(layer=vtab->layout.num_layers-1; layer>=0; layer--){
      rc = test_block(vtab, layer, hashes->hashes[i], may_contain);
      if( rc!=SQLITE_OK || *may_contain ) return rc;
    }
  }
  return rc;
}

/* -- Making room --------------------------------------------------------------------------- */

int bloom_vtab_count_filled(
  bloom_vtab *vtab, const bloom_vtab_layout *layout, sqlite3_int64 *num_filled
){
  const int layer = layout->num_layers - 1;
  const uint64_t num_pages = bloom_vtab_num_pages(layout, layer);
  uint64_t page;
  int rc = SQLITE_OK;
  for(page=0; page<num_pages && rc==SQLITE_OK; page++){
    const sqlite3_int64 row = bloom_vtab_first_row(layout, layer) + (sqlite3_int64)page;
    bloom_vtab_page_header header = {0, 0, 0};
    rc = bloom_vtab_move_reader(vtab, row, bloom_vtab_page_bytes(layout, layer, page));
    if( rc==SQLITE_OK ) rc = bloom_vtab_read_header(layout, vtab->reader, row, &header);
    *num_filled += header.num_filled;
  }
  return rc;
}

int bloom_vtab_insert_pages(bloom_vtab *vtab, const bloom_vtab_layout *layout){
  const int layer = layout->num_layers - 1;
  const uint64_t num_pages = bloom_vtab_num_pages(layout, layer);
  const bloom_vtab_page_header header = {layout->number, 0, 0};
  uint8_t *bytes = bloom_malloc_zeros((uint64_t)bloom_vtab_page_bytes(layout, layer, 0));
  sqlite3_stmt *insert = NULL;
  sqlite3_int64 none = 0;
  uint64_t page;
  int rc = bytes ? bloom_sql_prepare(vtab->connection, &insert,
      "INSERT OR REPLACE INTO \"%w\".\"%w\"(rowid, bytes) VALUES (?1, ?2)", vtab->schema,
      vtab->pages) : SQLITE_NOMEM;
  for(page=0; page<num_pages && rc==SQLITE_OK; page++){
    const sqlite3_int64 row = bloom_vtab_first_row(layout, layer) + (sqlite3_int64)page;
    bloom_vtab_put_header(&header, row, bytes);
    sqlite3_bind_int64(insert, 1, row);
    rc = sqlite3_bind_blob(insert, 2, bytes, bloom_vtab_page_bytes(layout, layer, page),
                           SQLITE_STATIC);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, insert);
    if( rc==SQLITE_DONE ) rc = sqlite3_reset(insert);
  }
  rc = bloom_sql_end(insert, rc);
  sqlite3_free(bytes);
  /* An authorizer, or a trigger on the pages, may have ignored a row. */
  if( rc==SQLITE_OK ) rc = bloom_vtab_count_filled(vtab, layout, &none);
  bloom_vtab_close_reader(vtab); /* what is written next stops it */
  return rc;
}

/* Adds a layer if the last one has more than its share.  The new layout is written last: what was
** before an error counts for nothing.  Where the pages cannot be made the last layer takes still
** more. */
static int grow_if_full(bloom_vtab *vtab){
  sqlite3 *db = vtab->connection->db;
  const sqlite3_int64 rowid = sqlite3_last_insert_rowid(db);
  bloom_vtab_layout layout = vtab->layout;
  const bloom_vtab_layer last = layout.layers[layout.num_layers-1];
  sqlite3_int64 num_filled = 0;
  int rc;
  if( layout.num_layers==BLOOM_VTAB_MAX_LAYERS || last.num_blocks>=BLOOM_VTAB_MAX_BLOCKS / 4
      || vtab->connection->is_running ){
    return SQLITE_OK;
  }
  rc = bloom_vtab_count_filled(vtab, &layout, &num_filled);
  bloom_vtab_close_reader(vtab); /* what is written next stops it */
  if( rc!=SQLITE_OK || num_filled<=last.capacity ) return rc;
  bloom_vtab_grow(vtab, &layout);
  rc = bloom_vtab_insert_pages(vtab, &layout);
  sqlite3_set_last_insert_rowid(db, rowid);
  if( rc==SQLITE_OK ) return bloom_vtab_write_layout(vtab, &layout);
  return bloom_sql_is_fatal(rc) || (rc & 0xff)==SQLITE_INTERRUPT ? rc : SQLITE_OK;
}

/* -- Adding one ------------------------------------------------------------------------------ */

/* 1 if it is time to count whether the last layer is full: where a page has its share of the
** layer's capacity, for one hash of as many as there are pages, which all are read then. */
static int may_be_full(
  const bloom_vtab_layout *layout, uint64_t page, const bloom_vtab_page_header *header,
  bloom_hash_value hash
){
  const int last = layout->num_layers - 1;
  const bloom_vtab_layer *layer = &layout->layers[last];
  const double share = (double)bloom_vtab_page_blocks(layout, last,
                                                      page) / (double)layer->num_blocks;
  if( header->num_filled < (double)layer->capacity * share ) return 0;
  return (hash & UINT32_MAX) * bloom_vtab_num_pages(layout, last) >> 32==0;
}

/* Sets a hash's bits in its block of the last layer, unless they are set, and *is_full to whether
** the layer may have been full before.  Older layers may have the hash, too, but to read them costs
** more than it saves. */
static int add_hash(bloom_vtab *vtab, bloom_hash_value hash, int *is_full){
  uint8_t block[BLOOM_BLOCK_BYTES], bytes[BLOOM_HEADER_BYTES];
  bloom_vtab_page_header header;
  block_place place;
  sqlite3_blob *blob;
  int rc = bloom_blob_open(bloom_vtab_place(vtab), 1, 1, BLOOM_LAYOUT_BYTES, &blob);
  /* Opened once, for row 1 and for the page. */
  if( rc==SQLITE_OK ){
    rc = bloom_vtab_take_layout(vtab, blob);
  }else if( rc==SQLITE_NOTFOUND ){
    rc = bloom_vtab_read_layout(vtab);
    if( rc==SQLITE_OK ) rc = SQLITE_NOTFOUND; /* an index on it forbids to write */
  }
  if( rc!=SQLITE_OK ) return bloom_blob_close(blob, rc);
  place = find_block(&vtab->layout, vtab->layout.num_layers - 1, hash);
  rc = bloom_blob_move(blob, place.row, place.num_bytes);
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_header(&vtab->layout, blob, place.row, &header);
  if( rc==SQLITE_OK ) rc = sqlite3_blob_read(blob, block, sizeof(block), place.offset);
  if( rc!=SQLITE_OK || bloom_split_block_may_contain(block, hash) ){
    return bloom_blob_close(blob, rc);
  }
  *is_full = may_be_full(&vtab->layout, place.page, &header, hash);
  header.num_keys++;
  header.num_filled++;
  bloom_split_block_add(block, hash);
  bloom_vtab_put_header(&header, place.row, bytes);
  rc = sqlite3_blob_write(blob, block, sizeof(block), place.offset);
  if( rc==SQLITE_OK ) rc = sqlite3_blob_write(blob, bytes, sizeof(bytes), 0);
  return bloom_blob_close(blob, rc);
}

int bloom_vtab_add_key(bloom_vtab *vtab, bloom_key_values key){
  const bloom_key_rules none = {.num_columns = 0};
  bloom_combined_hashes hashes;
  int is_full = 0, rc = bloom_hashes_of_key(&none, NULL, key, &hashes);
  if( rc!=SQLITE_OK || hashes.num_hashes==0 ) return rc;
  assert(hashes.num_hashes==1);
  rc = add_hash(vtab, hashes.hashes[0], &is_full);
  return rc==SQLITE_OK && is_full ? grow_if_full(vtab) : rc;
}

/* -- Adding many ------------------------------------------------------------------------------ */

/* Puts hashes in the order of their pages: *ordered, to be freed, and where each page's end. */
static int order_by_page(
  const bloom_vtab_layout *layout, const bloom_hash_value *hashes, size_t num_hashes,
  bloom_hash_value **ordered, size_t **ends
){
  const uint64_t num_pages = bloom_vtab_num_pages(layout, 0);
  size_t i, sum = 0;
  uint64_t page;
  *ordered = sqlite3_malloc64((num_hashes + 1) * sizeof(**ordered));
  *ends = bloom_malloc_zeros(num_pages * sizeof(**ends));
  if( *ordered==NULL || *ends==NULL ) return SQLITE_NOMEM;
  for(i=0; i<num_hashes; i++) (*ends)[page_of(layout, 0, hashes[i])]++;
  for(page=0; page<num_pages; page++){
    const size_t num_here = (*ends)[page];
    (*ends)[page] = sum; /* where it begins, and its end once all are in their places */
    sum += num_here;
  }
  for(i=0; i<num_hashes; i++) (*ordered)[(*ends)[page_of(layout, 0, hashes[i])]++] = hashes[i];
  return SQLITE_OK;
}

/* Adds the hashes of one page, which bytes has room for. */
static int fill_page(
  bloom_vtab_batch *batch, sqlite3_blob *blob, uint64_t page, const bloom_hash_value *hashes,
  size_t num_hashes, int are_first, uint8_t *bytes
){
  const bloom_vtab_layout *layout = batch->layout;
  const sqlite3_int64 row = bloom_vtab_first_row(layout, 0) + (sqlite3_int64)page;
  const int num_bytes = bloom_vtab_page_bytes(layout, 0, page);
  bloom_vtab_page_header header = {layout->number, 0, 0};
  size_t i;
  int rc = bloom_blob_move(blob, row, num_bytes);
  assert(layout->num_layers==1); /* of a filter over a source */
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_header(layout, blob, row, &header);
  if( rc==SQLITE_OK ) rc = sqlite3_blob_read(blob, bytes, num_bytes, 0);
  for(i=0; i<num_hashes && rc==SQLITE_OK; i++){
    uint8_t *block = bytes + offset_of(layout, 0, hashes[i]);
    const int is_there = bloom_split_block_may_contain(block, hashes[i]);
    assert(page_of(layout, 0, hashes[i])==page);
    if( are_first && (batch->is_new || !is_there) ) header.num_keys++;
    if( is_there ) continue;
    bloom_split_block_add(block, hashes[i]);
    header.num_filled++;
    batch->layout->num_filled++;
  }
  if( rc!=SQLITE_OK ) return rc;
  bloom_vtab_put_header(&header, row, bytes);
  batch->has_written = 1;
  return sqlite3_blob_write(blob, bytes, num_bytes, 0);
}

static int write_hashes(bloom_vtab_batch *batch, int kind){
  const bloom_vtab_layout *layout = batch->layout;
  const uint64_t num_pages = bloom_vtab_num_pages(layout, 0);
  bloom_hash_value *ordered = NULL;
  size_t *ends = NULL, begin = 0;
  uint64_t page;
  uint8_t *bytes = sqlite3_malloc64((sqlite3_uint64)bloom_vtab_page_bytes(layout, 0, 0));
  sqlite3_blob *blob = NULL;
  int rc = bytes ? order_by_page(layout, batch->hashes[kind], batch->num_hashes[kind], &ordered,
                                 &ends) : SQLITE_NOMEM;
  if( rc==SQLITE_OK ){
    rc = bloom_blob_open(bloom_vtab_place(batch->vtab), 1, 1, BLOOM_LAYOUT_BYTES, &blob);
  }
  for(page=0; page<num_pages && rc==SQLITE_OK; page++){
    if( ends[page]>begin ){
      rc = fill_page(batch, blob, page, ordered + begin, ends[page] - begin, kind==0, bytes);
    }
    begin = ends[page];
  }
  rc = bloom_blob_close(blob, rc);
  sqlite3_free(bytes);
  sqlite3_free(ordered);
  sqlite3_free(ends);
  batch->num_hashes[kind] = 0;
  return rc;
}

static int batch_push(bloom_vtab_batch *batch, int kind, bloom_hash_value hash){
  const size_t num_hashes = batch->num_hashes[kind];
  if( (num_hashes & (num_hashes - 1))==0 ){ /* its room is a power of two */
    bloom_hash_value *hashes =
      sqlite3_realloc64(batch->hashes[kind], (num_hashes ? 2*num_hashes : 1) * sizeof(*hashes));
    if( hashes==NULL ) return SQLITE_NOMEM;
    batch->hashes[kind] = hashes;
  }
  batch->hashes[kind][batch->num_hashes[kind]++] = hash;
  return batch->num_hashes[kind]<PAGE_BATCH_HASHES ? SQLITE_OK : write_hashes(batch, kind);
}

int bloom_vtab_batch_add(bloom_vtab_batch *batch, sqlite3_stmt *row, int first){
  bloom_combined_hashes hashes;
  int i, rc = bloom_vtab_hashes_of_row(&batch->layout->rules, row, first, &hashes);
  for(i=0; rc==SQLITE_OK && i<hashes.num_hashes; i++) rc = batch_push(batch, i>0, hashes.hashes[i]);
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
