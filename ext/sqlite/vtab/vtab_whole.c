/*
** All pages at once: for handles, for what there is to know, and for checking.
**
** A handle stands for the whole filter in memory and answers by the key's rule.  It is read
** once for each statement that asks for it, and lives as long as the cursor that gave it.
*/
#include "vtab_int.h"

#include "../../core/parquet/parquet.h"
#include "../errors.h"

/* Memory is asked for as pages turn out to be there, not as the layout says. */
#define FIRST_BYTES ((size_t)4 << 20)

void bloom_vtab_whole_free(bloom_vtab_whole *whole){
  if( whole==NULL ) return;
  if( whole->handle ) bloom_handle_close(whole->handle);
  bloom_vtab_tuples_end(&whole->tuples);
  sqlite3_free(whole->bytes);
  sqlite3_free(whole);
}

/* Checks a page that is open in row, and counts its keys. */
static int take_header(bloom_vtab_whole *whole, int layer, uint64_t page, sqlite3_int64 row, sqlite3_blob *blob){
  const bloom_vtab_layout *layout = &whole->layout;
  uint8_t bytes[BLOOM_HEADER_BYTES];
  bloom_vtab_page_header header;
  double share;
  int rc = sqlite3_blob_read(blob, bytes, sizeof(bytes), 0);
  if( rc!=SQLITE_OK ) return rc;
  if( !bloom_vtab_get_header(bytes, row, &header) || !bloom_vtab_has_number(layout, header.number) ) return SQLITE_NOTFOUND;
  share = (double)bloom_vtab_page_blocks(layout, layer, page) / (double)layout->layers[layer].num_blocks;
  whole->num_keys += header.num_keys;
  whole->num_removed += header.num_removed;
  whole->is_full |= header.num_filled>1.1 * (double)layout->layers[layer].capacity * share;
  return SQLITE_OK;
}

/* Where the filters are in whole->bytes. */
typedef struct whole_reader {
  bloom_vtab *vtab;
  bloom_vtab_whole *whole;
  bloom_shape shapes[BLOOM_VTAB_MAX_LAYERS];
  size_t num_bytes, room, max_bytes;
} whole_reader;

/* Makes room for so many bytes more. */
static int make_room(whole_reader *reader, size_t num_more){
  const size_t room = reader->room ? 2 * reader->room : FIRST_BYTES;
  uint8_t *bytes;
  if( reader->num_bytes + num_more<=reader->room ) return SQLITE_OK;
  reader->room = room<reader->max_bytes ? room : reader->max_bytes;
  bytes = sqlite3_realloc64(reader->whole->bytes, reader->room);
  if( bytes==NULL ) return SQLITE_NOMEM;
  reader->whole->bytes = bytes;
  return SQLITE_OK;
}

static int read_layer(whole_reader *reader, int layer, int headers_alone){
  const bloom_vtab_layout *layout = &reader->whole->layout;
  const uint64_t num_pages = bloom_vtab_num_pages(layout, layer);
  const sqlite3_int64 first_row = bloom_vtab_first_row(layout, layer);
  const bloom_shape *shape = &reader->shapes[layer];
  const size_t head = shape->num_bytes - (size_t)layout->layers[layer].num_blocks * BLOOM_BLOCK_BYTES;
  sqlite3_blob *blob = NULL;
  uint64_t page;
  int rc = SQLITE_OK;
  reader->num_bytes += head;
  for(page=0; page<num_pages && rc==SQLITE_OK; page++){
    const sqlite3_int64 row = first_row + (sqlite3_int64)page;
    const int page_bytes = bloom_vtab_page_bytes(layout, layer, page), block_bytes = page_bytes - BLOOM_HEADER_BYTES;
    rc = blob ? bloom_blob_move(blob, row, page_bytes)
              : bloom_blob_open(bloom_vtab_place(reader->vtab), row, 0, page_bytes, &blob);
    if( rc==SQLITE_OK ) rc = take_header(reader->whole, layer, page, row, blob);
    if( headers_alone || rc!=SQLITE_OK ) continue;
    rc = make_room(reader, (size_t)block_bytes);
    if( rc==SQLITE_OK ) rc = sqlite3_blob_read(blob, reader->whole->bytes + reader->num_bytes, block_bytes, BLOOM_HEADER_BYTES);
    reader->num_bytes += (size_t)block_bytes;
  }
  sqlite3_blob_close(blob);
  return rc;
}

/* Points the filters to their bytes, now that these stay where they are. */
static void set_filters(const whole_reader *reader){
  bloom_vtab_whole *whole = reader->whole;
  uint8_t *bytes = whole->bytes;
  int layer;
  for(layer=0; layer<whole->layout.num_layers; layer++){
    const bloom_shape *shape = &reader->shapes[layer];
    bloom_parquet_put_header(shape->num_slots, bytes);
    bloom_encoding_parquet.read(bytes, shape->num_bytes, &whole->filters[layer]);
    bytes += shape->num_bytes;
  }
}

int bloom_vtab_read_whole(bloom_vtab *vtab, int headers_alone, bloom_vtab_whole **result){
  whole_reader reader = {.vtab = vtab};
  bloom_vtab_whole *whole;
  int layer, rc = bloom_vtab_read_layout(vtab);
  *result = NULL;
  if( rc!=SQLITE_OK ) return rc;
  whole = bloom_malloc_zeros(sizeof(*whole));
  if( whole==NULL ) return SQLITE_NOMEM;
  whole->layout = vtab->layout;
  whole->tuples.connection = vtab->connection;
  reader.whole = whole;
  rc = bloom_vtab_reads_otherwise(vtab->connection, &whole->layout, &whole->reads_otherwise);
  whole->is_maybe = whole->reads_otherwise;
  for(layer=0; layer<whole->layout.num_layers; layer++){
    bloom_encoding_parquet.writer->shape(whole->layout.layers[layer].num_blocks, 8 * BLOOM_BLOCK_BYTES, &reader.shapes[layer]);
    reader.max_bytes += reader.shapes[layer].num_bytes;
  }
  for(layer=0; layer<whole->layout.num_layers && rc==SQLITE_OK; layer++) rc = read_layer(&reader, layer, headers_alone);
  if( rc==SQLITE_OK ){
    if( !headers_alone ) set_filters(&reader);
    *result = whole;
    return SQLITE_OK;
  }
  bloom_vtab_whole_free(whole);
  return rc==SQLITE_NOTFOUND ? bloom_vtab_damaged(vtab, "a page") : bloom_vtab_failure(vtab, rc);
}

int bloom_vtab_whole_may_contain(void *data, sqlite3_value *key){
  bloom_vtab_whole *whole = data;
  if( whole->is_maybe ) return sqlite3_value_type(key)==SQLITE_NULL ? BLOOM_TEST_NULL : 1;
  return bloom_vtab_whole_test(whole, (bloom_vtab_key){.value = key});
}

int bloom_vtab_whole_test(bloom_vtab_whole *whole, bloom_vtab_key key){
  bloom_vtab_hashes asked;
  int i, layer;
  const int rc = bloom_vtab_hash_key(&whole->layout, &whole->tuples, key, 1, &asked);
  if( rc==SQLITE_NOMEM ) return BLOOM_TEST_NOMEM;
  if( rc!=SQLITE_OK || asked.is_maybe ) return 1;
  if( asked.num_hashes==0 ) return BLOOM_TEST_NULL;
  for(i=0; i<asked.num_hashes; i++){
    for(layer=whole->layout.num_layers-1; layer>=0; layer--){
      if( bloom_encoding_parquet.may_contain(&whole->filters[layer], asked.hashes[i]) ) return 1;
    }
  }
  return 0;
}

double bloom_vtab_whole_fpr(const bloom_vtab_whole *whole){
  double all_deny = 1;
  int layer;
  if( whole->is_maybe ) return 1;
  for(layer=0; layer<whole->layout.num_layers; layer++){
    bloom_facts facts;
    bloom_encoding_parquet.describe(&whole->filters[layer], 1, &facts);
    all_deny *= 1 - facts.expected_fpr;
  }
  return 1 - all_deny;
}

int bloom_vtab_whole_fact(const bloom_vtab *vtab, const bloom_vtab_whole *whole, sqlite3_context *context, int column){
  const bloom_vtab_layout *layout = &whole->layout;
  sqlite3_int64 sum = 0;
  char *note;
  int i, rc = SQLITE_OK;
  for(i=0; i<layout->num_layers; i++){
    if( column==BLOOM_VTAB_CAPACITY ) sum += layout->layers[i].capacity;
    if( column==BLOOM_VTAB_NUM_PAGES ) sum += (sqlite3_int64)bloom_vtab_num_pages(layout, i);
    if( column==BLOOM_VTAB_BYTES ) sum += (sqlite3_int64)layout->layers[i].num_blocks * BLOOM_BLOCK_BYTES;
  }
  switch( column ){
    case BLOOM_VTAB_NUM_KEYS:     sqlite3_result_int64(context, whole->num_keys); break;
    case BLOOM_VTAB_NUM_REMOVED:  sqlite3_result_int64(context, whole->num_removed); break;
    case BLOOM_VTAB_BITS_PER_KEY: sqlite3_result_double(context, layout->size); break;
    case BLOOM_VTAB_NUM_LAYERS:   sqlite3_result_int(context, layout->num_layers); break;
    case BLOOM_VTAB_REBUILT_AT:   sqlite3_result_text(context, layout->built_at, -1, SQLITE_TRANSIENT); break;
    case BLOOM_VTAB_NOTE:
      rc = bloom_vtab_note(vtab, whole, &note);
      if( note ) sqlite3_result_text(context, note, -1, sqlite3_free);
      break;
    default:                      sqlite3_result_int64(context, sum); break;
  }
  return rc;
}
