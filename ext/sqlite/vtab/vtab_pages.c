/*
** One key and its pages: each is opened, read, written, and closed again.  Look-ups move one
** reader from page to page.
**
** A page whose number is not the layout's is of another layout: the one in memory is read
** anew, once.  If the page still does not fit, it is damaged.
*/
#include "vtab_int.h"

#include "../../core/bytes.h"
#include "../../core/parquet/parquet.h"
#include "../../core/parquet/split_block.h"
#include "../errors.h"

/* A block in its open page. */
typedef struct block_place {
  sqlite3_blob *blob;
  int layer;
  uint64_t page;
  sqlite3_int64 row;
  int offset; /* of the block */
  uint8_t header[BLOOM_HEADER_BYTES];
} block_place;

void bloom_vtab_close_reader(bloom_vtab *vtab){
  sqlite3_blob_close(vtab->reader);
  vtab->reader = NULL;
}

/* Moves the reader, or opens it, to a row.  A ROLLBACK can stop the one that is open. */
static int move_reader(bloom_vtab *vtab, sqlite3_int64 row, int num_bytes){
  if( vtab->reader && bloom_blob_move(vtab->reader, row, num_bytes)==SQLITE_OK ) return SQLITE_OK;
  bloom_vtab_close_reader(vtab);
  return bloom_blob_open(bloom_vtab_place(vtab), row, 0, num_bytes, &vtab->reader);
}

/* Opens the page of a hash.  SQLITE_NOTFOUND if it is not the layout's. */
static int open_block(bloom_vtab *vtab, int layer, bloom_hash_value hash, int is_writable, block_place *place){
  const bloom_vtab_layout *layout = &vtab->layout;
  const uint64_t block = bloom_split_block_number(hash, layout->layers[layer].num_blocks);
  int num_bytes, rc;
  place->layer = layer;
  place->page = block / layout->blocks_per_page;
  place->row = bloom_vtab_first_row(layout, layer) + (sqlite3_int64)place->page;
  place->offset = BLOOM_HEADER_BYTES + BLOOM_BLOCK_BYTES * (int)(block % layout->blocks_per_page);
  num_bytes = bloom_vtab_page_bytes(layout, layer, place->page);
  rc = is_writable ? bloom_blob_open(bloom_vtab_place(vtab), place->row, 1, num_bytes, &place->blob)
                   : move_reader(vtab, place->row, num_bytes);
  if( !is_writable ) place->blob = vtab->reader;
  if( rc==SQLITE_OK ) rc = sqlite3_blob_read(place->blob, place->header, is_writable ? BLOOM_HEADER_BYTES : 8, 0);
  if( rc!=SQLITE_OK || bloom_load64_le(place->header)==layout->number ) return rc;
  /* The next number may be that of a layout with one layer more. */
  return vtab->is_hint || !bloom_vtab_has_number(layout, bloom_load64_le(place->header)) ? SQLITE_NOTFOUND : SQLITE_OK;
}

static int block_may_contain(const block_place *place, bloom_hash_value hash, uint8_t *block, int *may_contain){
  int rc = sqlite3_blob_read(place->blob, block, BLOOM_BLOCK_BYTES, place->offset);
  if( rc==SQLITE_OK ) *may_contain = bloom_split_block_may_contain(block, hash);
  return rc;
}

/* Tests the layers from the one below num_layers on, the newest first: it is the largest. */
static int test_layers(bloom_vtab *vtab, int num_layers, bloom_hash_value hash, int *may_contain){
  uint8_t block[BLOOM_BLOCK_BYTES];
  int rc = SQLITE_OK;
  *may_contain = 0;
  while( rc==SQLITE_OK && num_layers-- && !*may_contain ){
    block_place place;
    rc = open_block(vtab, num_layers, hash, 0, &place);
    if( rc==SQLITE_OK ) rc = block_may_contain(&place, hash, block, may_contain);
  }
  return rc;
}

/* What is asked or told of keys. */
typedef struct key_change {
  bloom_vtab_key key;
  sqlite3_value *removed;
  bloom_vtab_tuples tuples;
  int may_contain;
  bloom_hash_value hash;
} key_change;

/* Runs action by the layout in memory, then, if a page is of another, by the one on disk. */
static int by_layout(bloom_vtab *vtab, int (*action)(bloom_vtab *, key_change *), key_change *change){
  int rc;
  vtab->is_hint = vtab->has_layout;
  rc = vtab->has_layout ? SQLITE_OK : bloom_vtab_read_layout(vtab);
  if( rc==SQLITE_OK ) rc = action(vtab, change);
  if( rc==SQLITE_NOTFOUND && vtab->is_hint ){
    vtab->is_hint = 0;
    rc = bloom_vtab_read_layout(vtab);
    if( rc==SQLITE_OK ) rc = action(vtab, change);
  }
  bloom_vtab_tuples_end(&change->tuples);
  return rc==SQLITE_NOTFOUND ? bloom_vtab_damaged(vtab, "a page") : bloom_vtab_failure(vtab, rc);
}

/* -- Looking up ------------------------------------------------------------------------ */

static int fail_no_tuple(bloom_vtab *vtab){
  const int num_columns = vtab->layout.num_columns;
  return bloom_fail_vtab(&vtab->base.zErrMsg, "bloom: a key of %s has %d columns: FROM %s(...) with so many values, or "
                                              "key = bloom_tuple(...)", vtab->name, num_columns, vtab->name);
}

static int look_up_key(bloom_vtab *vtab, key_change *change){
  bloom_vtab_hashes asked;
  int i, is_other, rc = bloom_vtab_reads_otherwise(vtab->connection, &vtab->layout, &is_other);
  /* A rebuild since then changed neither the schema nor a page that was read. */
  if( rc==SQLITE_OK && is_other ) rc = bloom_vtab_read_layout(vtab);
  if( rc==SQLITE_OK && is_other ) rc = bloom_vtab_reads_otherwise(vtab->connection, &vtab->layout, &is_other);
  if( rc!=SQLITE_OK ) return rc;
  rc = bloom_vtab_hash_key(&vtab->layout, &change->tuples, change->key, 1, &asked);
  if( rc==SQLITE_OK && asked.is_invalid ) return fail_no_tuple(vtab);
  if( rc==SQLITE_OK && (asked.is_maybe || is_other) ){
    change->may_contain = 1;
    return bloom_vtab_any_hash(vtab, change->key, &change->hash);
  }
  for(i=0; rc==SQLITE_OK && i<asked.num_hashes && !change->may_contain; i++){
    change->hash = asked.hashes[i];
    rc = test_layers(vtab, vtab->layout.num_layers, change->hash, &change->may_contain);
  }
  return rc;
}

int bloom_vtab_look_up(bloom_vtab *vtab, bloom_vtab_key key, int *may_contain, bloom_hash_value *hash){
  key_change change = {.key = key, .tuples.connection = vtab->connection};
  int rc = by_layout(vtab, look_up_key, &change);
  *may_contain = change.may_contain;
  *hash = change.hash;
  return rc;
}

/* -- Changing ------------------------------------------------------------------------------ */

static void count_one(uint32_t *count){
  if( *count<UINT32_MAX ) ++*count;
}

static int read_header(const block_place *place, bloom_vtab_page_header *header){
  return bloom_vtab_get_header(place->header, place->row, header) ? SQLITE_OK : SQLITE_NOTFOUND;
}

static int write_header(block_place *place, const bloom_vtab_page_header *header){
  bloom_vtab_put_header(header, place->row, place->header);
  return sqlite3_blob_write(place->blob, place->header, BLOOM_HEADER_BYTES, 0);
}

/* 1 if a layer more is on its way, or it is time to count whether the last one is full: where a page
** has its share of the layer's capacity, for one hash of as many as there are pages, which all are
** read then. */
static int may_be_full(
  const bloom_vtab_layout *layout, const block_place *place, const bloom_vtab_page_header *header, bloom_hash_value hash
){
  const bloom_vtab_layer *layer = &layout->layers[place->layer];
  const double share = (double)bloom_vtab_page_blocks(layout, place->layer, place->page) / (double)layer->num_blocks;
  if( layout->next_row && layout->next_row<bloom_vtab_first_row(layout, layout->num_layers) ) return 1;
  if( header->num_filled < (double)layer->capacity * share ) return 0;
  return (hash & UINT32_MAX) * bloom_vtab_num_pages(layout, place->layer) >> 32==0;
}

/* Sets a hash's bits in its block of the last layer, which is open, unless they are set.  Older
** layers may have the hash, too, but to read them costs more than it saves.  *is_refused: the
** layer may be full, and may_refuse. */
static int add_to_block(
  bloom_vtab *vtab, block_place *place, bloom_hash_value hash, int may_refuse, int *is_refused, int *num_added
){
  uint8_t block[BLOOM_BLOCK_BYTES];
  bloom_vtab_page_header header;
  int may_contain = 0, rc = block_may_contain(place, hash, block, &may_contain);
  if( rc==SQLITE_OK && !may_contain ) rc = read_header(place, &header);
  if( rc!=SQLITE_OK || may_contain ) return rc;
  *is_refused = may_refuse && may_be_full(&vtab->layout, place, &header, hash);
  if( *is_refused ) return SQLITE_OK;
  /* One key, whatever the number of its hashes. */
  if( ++*num_added==1 ) count_one(&header.num_keys);
  count_one(&header.num_filled);
  bloom_split_block_add(block, hash);
  rc = sqlite3_blob_write(place->blob, block, sizeof(block), place->offset);
  return rc==SQLITE_OK ? write_header(place, &header) : rc;
}

static int add_hash(bloom_vtab *vtab, bloom_hash_value hash, int *num_added){
  int may_refuse, rc = SQLITE_OK;
  for(may_refuse=1; rc==SQLITE_OK; may_refuse=0){
    block_place place;
    int is_refused = 0;
    rc = open_block(vtab, vtab->layout.num_layers - 1, hash, 1, &place);
    if( rc==SQLITE_OK ) rc = add_to_block(vtab, &place, hash, may_refuse, &is_refused, num_added);
    rc = bloom_blob_close(place.blob, rc);
    if( rc!=SQLITE_OK || !is_refused ) break;
    rc = bloom_vtab_grow_if_full(vtab);
  }
  return rc;
}

/* Counts a key as removed in the page of the newest layer that may have it. */
static int count_removed(bloom_vtab *vtab, bloom_hash_value hash){
  uint8_t block[BLOOM_BLOCK_BYTES];
  int layer, rc = SQLITE_OK, may_contain = 0;
  for(layer=vtab->layout.num_layers-1; rc==SQLITE_OK && layer>=0 && !may_contain; layer--){
    bloom_vtab_page_header header;
    block_place place;
    rc = open_block(vtab, layer, hash, 1, &place);
    if( rc==SQLITE_OK ) rc = block_may_contain(&place, hash, block, &may_contain);
    if( rc==SQLITE_OK && may_contain ){
      rc = read_header(&place, &header);
      count_one(&header.num_removed);
      if( rc==SQLITE_OK ) rc = write_header(&place, &header);
    }
    rc = bloom_blob_close(place.blob, rc);
  }
  return rc;
}

static int have_same_hashes(const bloom_vtab_hashes *a, const bloom_vtab_hashes *b){
  int i;
  if( a->num_hashes!=b->num_hashes ) return 0;
  for(i=0; i<a->num_hashes; i++){
    if( a->hashes[i]!=b->hashes[i] ) return 0;
  }
  return 1;
}

static int change_keys(bloom_vtab *vtab, key_change *change){
  const bloom_vtab_key gone = {.value = change->removed};
  bloom_vtab_hashes added, removed;
  int i, num_added = 0, rc = bloom_vtab_hash_key(&vtab->layout, &change->tuples, change->key, 0, &added);
  if( rc==SQLITE_OK && added.is_invalid ) return fail_no_tuple(vtab);
  if( rc==SQLITE_OK && added.is_maybe ) return SQLITE_CORRUPT_VTAB; /* SQL of bloom's own called back */
  if( rc==SQLITE_OK && added.is_decimal ) rc = bloom_vtab_store_decimal(vtab);
  if( rc==SQLITE_OK ) rc = bloom_vtab_hash_key(&vtab->layout, &change->tuples, gone, 0, &removed);
  for(i=0; rc==SQLITE_OK && i<added.num_hashes; i++) rc = add_hash(vtab, added.hashes[i], &num_added);
  if( rc==SQLITE_OK && removed.num_hashes>0 && !have_same_hashes(&added, &removed) ){
    rc = count_removed(vtab, removed.hashes[0]);
  }
  return rc;
}

int bloom_vtab_change(bloom_vtab *vtab, bloom_vtab_key added, sqlite3_value *removed){
  key_change change = {.key = added, .removed = removed, .tuples.connection = vtab->connection};
  return by_layout(vtab, change_keys, &change);
}
