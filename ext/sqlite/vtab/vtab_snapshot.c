/*
** Pages and journal at once: for handles, for what there is to know, and for checking.
**
** A handle stands for the whole filter in memory and answers by the key's rule.  It is read
** once for each statement that asks for it, and lives as long as the cursor that gave it.
*/
#include "vtab_int.h"

#include <string.h>

#include "../../core/parquet/parquet.h"

/* 'merge' pays once so many keys are unmerged, or a tenth of all if that is not few. */
#define MANY_UNMERGED 10000
#define FEW_UNMERGED  1000

void bloom_vtab_snapshot_free(bloom_vtab_snapshot *snapshot){
  int layer;
  if( snapshot==NULL ) return;
  if( snapshot->handle ) bloom_handle_close(snapshot->handle);
  bloom_tuple_reader_end(&snapshot->tuples);
  bloom_hash_set_clear(&snapshot->unmerged);
  for(layer=0; layer<BLOOM_VTAB_MAX_LAYERS; layer++) sqlite3_free(snapshot->bytes[layer]);
  sqlite3_free(snapshot);
}

/* -- Reading ------------------------------------------------------------------------------- */

/* Reads a layer's pages into one filter.  Memory is asked for when the last of them is there. */
static int read_layer(bloom_vtab *vtab, bloom_vtab_snapshot *snapshot, int layer){
  const bloom_vtab_layout *layout = &snapshot->layout;
  const uint64_t num_blocks = layout->layers[layer].num_blocks,
    num_pages = bloom_vtab_num_pages(layout, layer);
  const sqlite3_int64 first_row = bloom_vtab_first_row(layout, layer);
  sqlite3_int64 num_filled = 0;
  uint8_t *bytes, *blocks;
  bloom_shape shape = {0};
  uint64_t page;
  int rc = bloom_vtab_move_reader(vtab, first_row + (sqlite3_int64)num_pages - 1,
                                  bloom_vtab_page_bytes(layout, layer, num_pages - 1));
  if( rc!=SQLITE_OK ) return rc;
  bloom_encoding_parquet.shape(num_blocks, 8 * BLOOM_BLOCK_BYTES, &shape);
  bytes = snapshot->bytes[layer] = sqlite3_malloc64(shape.num_bytes);
  if( bytes==NULL ) return SQLITE_NOMEM;
  blocks = bytes + shape.num_bytes - num_blocks * BLOOM_BLOCK_BYTES;
  for(page=0; page<num_pages && rc==SQLITE_OK; page++){
    const sqlite3_int64 row = first_row + (sqlite3_int64)page;
    const int page_bytes = bloom_vtab_page_bytes(layout, layer, page),
      block_bytes = page_bytes - BLOOM_HEADER_BYTES;
    bloom_vtab_page_header header = {0, 0, 0};
    rc = bloom_vtab_move_reader(vtab, row, page_bytes);
    if( rc==SQLITE_OK ) rc = bloom_vtab_read_header(layout, vtab->reader, row, &header);
    if( rc==SQLITE_OK ){
      rc = sqlite3_blob_read(vtab->reader, blocks, block_bytes, BLOOM_HEADER_BYTES);
    }
    snapshot->num_keys += header.num_keys;
    num_filled += header.num_filled;
    blocks += block_bytes;
  }
  if( rc!=SQLITE_OK ) return rc;
  bloom_parquet_put_header(shape.num_slots, bytes);
  bloom_encoding_parquet.read(bytes, shape.num_bytes, &snapshot->filters[layer]);
  snapshot->is_full |= num_filled>layout->layers[layer].capacity;
  return SQLITE_OK;
}

/* Reads what of the journal is needed. */
static int read_unmerged(bloom_vtab *vtab, bloom_vtab_snapshot *snapshot){
  int is_intact = 1, rc = bloom_vtab_count_unmerged(vtab, &snapshot->num_unmerged);
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_journal(vtab, &is_intact);
  if( rc==SQLITE_OK ) rc = bloom_hash_set_copy(&vtab->unmerged.hashes, &snapshot->unmerged);
  if( !is_intact ) snapshot->doubt = BLOOM_VTAB_BROKEN_JOURNAL;
  return rc;
}

int bloom_vtab_read_snapshot(
  bloom_vtab *vtab, bloom_vtab_doubt doubt, bloom_vtab_snapshot **result
){
  bloom_vtab_snapshot *snapshot;
  int layer, rc = bloom_vtab_read_layout(vtab);
  *result = NULL;
  if( rc!=SQLITE_OK ) return rc;
  snapshot = bloom_malloc_zeros(sizeof(*snapshot));
  if( snapshot==NULL ) return SQLITE_NOMEM;
  snapshot->layout = vtab->layout;
  snapshot->doubt = doubt;
  snapshot->tuples.connection = vtab->connection;
  if( vtab->args.table && !doubt ) rc = read_unmerged(vtab, snapshot);
  for(layer=0; layer<snapshot->layout.num_layers && rc==SQLITE_OK; layer++){
    rc = read_layer(vtab, snapshot, layer);
  }
  if( rc==SQLITE_OK ){
    if( !snapshot->doubt && bloom_keys_may_overflow(&snapshot->layout.rules)
        && (bloom_hash_set_has(&snapshot->unmerged, BLOOM_OVERFLOW_HASH)
            || bloom_encoding_parquet.may_contain(&snapshot->filters[0], BLOOM_OVERFLOW_HASH)) ){
      snapshot->doubt = BLOOM_VTAB_OVERFLOW;
    }
    *result = snapshot;
    return SQLITE_OK;
  }
  bloom_vtab_snapshot_free(snapshot);
  return rc;
}

/* -- Handles --------------------------------------------------------------------------------- */

/* Tests a key: 1 or 0; BLOOM_TEST_NULL or BLOOM_TEST_NOMEM. */
static int snapshot_test(bloom_vtab_snapshot *snapshot, bloom_key_values key){
  bloom_combined_hashes asked;
  int i, layer;
  const int rc = bloom_hashes_of_key(&snapshot->layout.rules, &snapshot->tuples, key, &asked);
  if( rc==SQLITE_NOMEM ) return BLOOM_TEST_NOMEM;
  if( rc!=SQLITE_OK || asked.is_maybe ) return 1;
  if( asked.num_hashes==0 ) return BLOOM_TEST_NULL;
  for(i=0; i<asked.num_hashes; i++){
    if( bloom_hash_set_has(&snapshot->unmerged, asked.hashes[i]) ) return 1;
    for(layer=snapshot->layout.num_layers-1; layer>=0; layer--){
      if( bloom_encoding_parquet.may_contain(&snapshot->filters[layer], asked.hashes[i]) ) return 1;
    }
  }
  return 0;
}

static int test_value(void *data, int num_keys, sqlite3_value **keys){
  bloom_vtab_snapshot *snapshot = data;
  (void)num_keys;
  if( snapshot->doubt ) return sqlite3_value_type(keys[0])==SQLITE_NULL ? BLOOM_TEST_NULL : 1;
  return snapshot_test(snapshot, (bloom_key_values){.value = keys[0]});
}

int bloom_vtab_snapshot_handle(
  bloom_vtab *vtab, bloom_vtab_snapshot *snapshot, sqlite3_context *context
){
  if( snapshot->handle==NULL ){
    const int rc = bloom_handle_open(vtab->connection->pool, vtab->connection->db, 0,
                                     &snapshot->handle);
    if( rc==SQLITE_FULL ){
      return bloom_vtab_fail(vtab, "bloom: all handles that a process can have are open");
    }
    if( rc!=SQLITE_OK ) return rc;
    snapshot->handle->num_keys = BLOOM_ONE_KEY;
    snapshot->handle->test = test_value;
    snapshot->handle->test_data = snapshot;
  }
  bloom_handle_result(context, snapshot->handle, 0);
  return SQLITE_OK;
}

/* -- Facts ------------------------------------------------------------------------------------- */

/* Returns the chance of a key that is not there. */
static double expected_fpr(const bloom_vtab_snapshot *snapshot){
  double all_deny = 1;
  int layer;
  if( snapshot->doubt ) return 1;
  for(layer=0; layer<snapshot->layout.num_layers; layer++){
    bloom_facts facts;
    bloom_encoding_parquet.describe(&snapshot->filters[layer], 1, &facts);
    all_deny *= 1 - facts.expected_fpr;
  }
  return 1 - all_deny;
}

static sqlite3_int64 layers_bytes(const bloom_vtab_layout *layout){
  sqlite3_int64 num_bytes = 0;
  int i;
  for(i=0; i<layout->num_layers; i++){
    num_bytes += (sqlite3_int64)layout->layers[i].num_blocks * BLOOM_BLOCK_BYTES;
  }
  return num_bytes;
}

/* Sets *note for a standalone filter with more than twice the keys that it was made for: a new one
** has fewer bytes, and one layer. */
static int find_standalone_note(
  const bloom_vtab *vtab, const bloom_vtab_snapshot *snapshot, char **note
){
  const bloom_vtab_layout *layout = &snapshot->layout;
  const sqlite3_int64 num_keys = snapshot->num_keys, capacity = layout->layers[0].capacity;
  bloom_vtab_layout fresh = {.blocks_per_page = layout->blocks_per_page};
  if( num_keys<BLOOM_VTAB_DEFAULT_CAPACITY || num_keys / 2<=capacity ) return SQLITE_OK;
  bloom_vtab_add_layer(vtab, &fresh, num_keys);
  *note = sqlite3_mprintf("it has outgrown its capacity of %lld%s: it has %d layers and %lld bytes;"
                          " a new filter with capacity = %lld has one layer and %lld bytes",
                          capacity,
                          num_keys / 5 * 4>bloom_vtab_room(layout) ? ", and is over-full" : "",
                          layout->num_layers, layers_bytes(layout), num_keys, layers_bytes(&fresh));
  return *note ? SQLITE_OK : SQLITE_NOMEM;
}

/* Sets *note, to be freed, to what users should know of the filter, or to NULL. */
static int find_note(const bloom_vtab *vtab, const bloom_vtab_snapshot *snapshot, char **note){
  const char *name = vtab->quoted_name;
  const sqlite3_int64 num_unmerged = snapshot->num_unmerged;
  *note = NULL;
  if( vtab->args.table==NULL ) return find_standalone_note(vtab, snapshot, note);
  if( snapshot->doubt ){
    *note = bloom_vtab_say_doubt(vtab, snapshot->doubt);
  }else if( num_unmerged>MANY_UNMERGED
            || (num_unmerged>=FEW_UNMERGED && num_unmerged>snapshot->num_keys / 10) ){
    *note = sqlite3_mprintf("%lld keys are not merged; INSERT INTO %s(%s) VALUES ('merge') makes"
                            " look-ups faster", num_unmerged, name, name);
  }else if( snapshot->is_full ){
    *note = sqlite3_mprintf("it has more keys than room; INSERT INTO %s(%s) VALUES ('rebuild')"
                            " makes it larger", name, name);
  }else{
    return SQLITE_OK;
  }
  return *note ? SQLITE_OK : SQLITE_NOMEM;
}

int bloom_vtab_snapshot_column(
  const bloom_vtab *vtab, const bloom_vtab_snapshot *snapshot, sqlite3_context *context, int column
){
  const bloom_vtab_layout *layout = &snapshot->layout;
  char *note;
  int rc = SQLITE_OK;
  assert(column<=BLOOM_VTAB_FILTER && column!=BLOOM_VTAB_KEY);
  switch( column ){
    case BLOOM_VTAB_NUM_KEYS:     sqlite3_result_int64(context, snapshot->num_keys); break;
    case BLOOM_VTAB_UNMERGED:     sqlite3_result_int64(context, snapshot->num_unmerged); break;
    case BLOOM_VTAB_BITS_PER_KEY: sqlite3_result_double(context, vtab->args.size); break;
    case BLOOM_VTAB_EXPECTED_FPR: sqlite3_result_double(context, expected_fpr(snapshot)); break;
    case BLOOM_VTAB_FILTER:
      /* One over a table has its keys in the form of equality.h, which bloom_may_contain(BLOB, key)
      ** does not know, and layers are not one filter: those are NULL, which says maybe. */
      if( vtab->args.table || layout->num_layers>1 ) break;
      sqlite3_result_blob64(context, snapshot->bytes[0], snapshot->filters[0].shape.num_bytes,
                            SQLITE_TRANSIENT);
      break;
    case BLOOM_VTAB_MERGED_AT:
      if( vtab->args.table ) sqlite3_result_text(context, layout->merged_at, -1, SQLITE_TRANSIENT);
      break;
    case BLOOM_VTAB_NOTE:
      rc = find_note(vtab, snapshot, &note);
      if( note ) sqlite3_result_text(context, note, -1, sqlite3_free);
      break;
    case BLOOM_VTAB_CAPACITY:     sqlite3_result_int64(context, bloom_vtab_room(layout)); break;
    default:                      sqlite3_result_int64(context, layers_bytes(layout)); break;
  }
  return rc;
}

/* -- Checking ---------------------------------------------------------------------------------- */

/* Counts the keys of the source that the filter denies. */
static int count_missed(
  bloom_vtab *vtab, bloom_vtab_snapshot *snapshot, sqlite3_int64 *num_keys,
  sqlite3_int64 *num_missed
){
  bloom_vtab_triggers triggers;
  bloom_vtab_layout now = snapshot->layout;
  sqlite3_value *parts[BLOOM_MAX_KEY_COLUMNS];
  sqlite3_stmt *row = NULL;
  int rc = bloom_vtab_read_triggers(vtab, &triggers);
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_source(vtab, &triggers.args, &now);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_prepare_text(vtab->connection, &row,
                                bloom_vtab_keys_sql(vtab, &triggers.args, 0));
  }
  while( rc==SQLITE_OK && (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    const int test = snapshot_test(snapshot,
                                   bloom_vtab_key_of_row(&snapshot->layout.rules, row, 0, parts));
    rc = test==BLOOM_TEST_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
    ++*num_keys;
    *num_missed += test==0;
  }
  rc = bloom_sql_end(row, rc);
  bloom_vtab_args_free(&triggers.args);
  return rc;
}

/* Sets *finding, to be freed, to what is wrong with the filter; it stays NULL if nothing is. */
static int check_all(bloom_vtab *vtab, bloom_checker checker, char **finding){
  bloom_vtab_snapshot *snapshot = NULL;
  sqlite3_int64 num_keys = 0, num_missed = 0;
  int rc = bloom_vtab_open(vtab, BLOOM_VTAB_DOUBT);
  if( rc==SQLITE_OK ){
    rc = bloom_vtab_read_snapshot(vtab, bloom_vtab_doubt_of_reader(vtab), &snapshot);
  }
  if( snapshot && snapshot->doubt && checker==BLOOM_CHECK_COMMAND ){
    rc = find_note(vtab, snapshot, finding);
    if( rc==SQLITE_OK ) *finding = sqlite3_mprintf("bloom: %s: %z", vtab->name, *finding);
    if( *finding==NULL ) rc = SQLITE_NOMEM;
  }else if( snapshot && !snapshot->doubt && checker!=BLOOM_CHECK_QUICK && vtab->args.table ){
    rc = count_missed(vtab, snapshot, &num_keys, &num_missed);
  }
  if( rc==SQLITE_OK && num_missed>0 ){
    *finding = sqlite3_mprintf("bloom: %s misses %lld of the %lld keys of its source table; INSERT"
                               " INTO %s(%s) VALUES ('rebuild') repairs it", vtab->name, num_missed,
                               num_keys, vtab->quoted_name, vtab->quoted_name);
    if( *finding==NULL ) rc = SQLITE_NOMEM;
  }
  bloom_vtab_snapshot_free(snapshot);
  return rc;
}

int bloom_vtab_check(bloom_vtab *vtab, bloom_checker checker, char **finding){
  int rc;
  *finding = NULL;
  rc = bloom_vtab_failure(vtab, check_all(vtab, checker, finding));
  if( (rc & 0xff)!=SQLITE_CORRUPT || vtab->base.zErrMsg==NULL ) return rc;
  *finding = vtab->base.zErrMsg;
  vtab->base.zErrMsg = NULL;
  return SQLITE_OK;
}
