/*
** bloom_filter(key, ...): a handle, for one statement, of a filter that contains whatever `=`
** between the keys finds, by any affinity and by BINARY, NOCASE or RTRIM (equal_keys.h).
**
** Several keys are one: a row is stored by each combination of its values' hashes, and looked up
** by each of its own.  Of more than three keys a number has one hash only, that of its first 12
** digits, so that a row is stored once.
**
** The filter, in Parquet's encoding, lies in the handle alone.  A window removes its oldest row, so
** all hashes are kept to the end.  Where handles have run out, or the application has SQLite write
** REALs with fewer than 15 digits, the result is NULL: every key may be there.
*/

#include "../../core/parquet/parquet.h"
#include "../connection.h"
#include "../equal_keys.h"
#include "../errors.h"
#include "../handle.h"
#include "../hash_queue.h"
#include "../size_args.h"
#include "functions.h"

/* The size at which 1 % of other keys pass. */
static const bloom_size_args filter_size = {&bloom_encoding_parquet, 10.6, BLOOM_NO_CAPACITY};

/* After so many hashes the size is checked against SQLite's limit. */
#define FILTER_CHECK_HASHES 16384

/* Rows of more keys are hashed by the cells of their numbers (key.h). */
#define MAX_EXACT_KEYS 3

/* The most combinations that a row is looked up by; with more it may be there. */
#define MAX_COMBINATIONS 64

/* Memory set to zero is an aggregate that saw no row. */
typedef struct filter_state {
  bloom_hash_queue queue;
  bloom_equal_kinds kinds;
  int num_keys; /* of a row; 0 before the first */
} filter_state;

/* The hashes of a row; none if one of its keys is NULL. */
typedef struct row_hashes {
  int num_hashes;
  int is_maybe; /* of a look-up: too many combinations, or a key that may be there */
  uint64_t hashes[MAX_COMBINATIONS];
} row_hashes;

/* ---- Rows ---------------------------------------------------------------------------- */

/* Sets *row to the hashes to store a row by in a filter of these kinds, or, is_query, to look it up
** by.  SQLITE_OK or SQLITE_NOMEM. */
static int hash_row(bloom_equal_kinds *kinds, int is_query, int num_keys, sqlite3_value **keys,
                    row_hashes *row){
  int i, j, k;
  row->num_hashes = row->is_maybe = 0;
  for(i=0; i<num_keys; i++){
    if( sqlite3_value_type(keys[i])==SQLITE_NULL ) return SQLITE_OK;
  }
  row->num_hashes = 1;
  row->hashes[0] = 0;
  for(i=0; i<num_keys; i++){
    const int num_before = row->num_hashes;
    bloom_key_hashes key = {.num_hashes = 1};
    int is_number = 0, rc = SQLITE_OK;
    if( num_keys>MAX_EXACT_KEYS && bloom_may_equal_number(keys[i], &is_number)!=SQLITE_OK ){
      return SQLITE_NOMEM;
    }
    /* Of a single key one hash was tried before. */
    if( is_number ){
      rc = bloom_cell_hashes(keys[i], is_query, &key);
    }else if( num_keys==1 || !bloom_has_one_hash(keys[i], &key.hashes[0]) ){
      rc = bloom_equal_hashes_of(kinds, is_query, keys[i], &key);
    }
    if( rc!=SQLITE_OK ) return SQLITE_NOMEM;
    if( key.is_maybe || num_before * key.num_hashes>MAX_COMBINATIONS ){
      row->is_maybe = 1;
      continue;
    }
    assert( num_before>0 && key.num_hashes>0 );
    /* Each combination of the keys before with each hash of this one.  Both are hashes already; the
    ** factor is odd, so that the order of keys counts. */
    for(j=key.num_hashes-1; j>=0; j--){
      for(k=0; k<num_before; k++){
        row->hashes[j*num_before + k] = row->hashes[k] * BLOOM_GOLDEN_RATIO + key.hashes[j];
      }
    }
    row->num_hashes = num_before * key.num_hashes;
  }
  assert( is_query || !row->is_maybe );
  return SQLITE_OK;
}

/* ---- Building ---------------------------------------------------------------------------- */

static int find_filter_shape(sqlite3_context *context, uint64_t num_hashes, bloom_shape *shape){
  return bloom_find_shape(context, (bloom_arg){.value = NULL}, &filter_size, num_hashes, shape);
}

/* Adds a hash.  SQLITE_OK, or an error code for bloom_fail_code(). */
static int push_hash(sqlite3_context *context, filter_state *state, uint64_t hash){
  bloom_shape shape;
  if( bloom_hash_queue_push(&state->queue, hash)!=SQLITE_OK ) return SQLITE_NOMEM;
  if( state->queue.num_hashes % FILTER_CHECK_HASHES ) return SQLITE_OK;
  return find_filter_shape(context, state->queue.num_hashes, &shape);
}

void bloom_filter_step(sqlite3_context *context, int num_keys, sqlite3_value **keys){
  filter_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  row_hashes row;
  uint64_t hash;
  int i, rc;
  if( state==NULL ){
    sqlite3_result_error_nomem(context);
    return;
  }
  if( state->num_keys==0 ){
    if( num_keys==0 ){
      bloom_fail(context, "bloom_filter(): argument 1 (key) is missing");
      return;
    }
    state->num_keys = num_keys;
    state->queue.hash_value_bytes = sizeof(hash);
  }
  if( num_keys==1 && bloom_has_one_hash(keys[0], &hash) ){
    rc = push_hash(context, state, hash);
  }else{
    rc = hash_row(&state->kinds, 0, num_keys, keys, &row);
    for(i=0; rc==SQLITE_OK && i<row.num_hashes; i++) rc = push_hash(context, state, row.hashes[i]);
  }
  if( rc!=SQLITE_OK ) bloom_fail_code(context, rc);
}

void bloom_filter_inverse(sqlite3_context *context, int num_keys, sqlite3_value **keys){
  /* The state exists: SQLite removes only rows that it passed before.  Rows leave in the order they
  ** came, so only the number of their hashes matters. */
  filter_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  row_hashes row;
  const int rc = hash_row(&state->kinds, 0, num_keys, keys, &row);
  int i;
  for(i=0; rc==SQLITE_OK && i<row.num_hashes; i++) bloom_hash_queue_pop(&state->queue);
  bloom_fail_code(context, rc);
}

/* ---- Looking up ------------------------------------------------------------------------- */

/* A handle's bytes are the kinds of its keys, then the filter. */
static bloom_equal_kinds *kinds_of(bloom_handle *handle){
  return (bloom_equal_kinds *)handle->bytes; /* two char */
}

static int test_keys(void *data, int num_keys, sqlite3_value **keys){
  bloom_handle *handle = data;
  const bloom_filter *filter = &handle->filter;
  row_hashes row;
  uint64_t hash;
  int i;
  if( num_keys==1 && bloom_has_one_hash(keys[0], &hash) ){
    return filter->encoding->may_contain(filter, hash);
  }
  if( hash_row(kinds_of(handle), 1, num_keys, keys, &row)!=SQLITE_OK ) return BLOOM_TEST_NOMEM;
  if( row.num_hashes==0 ) return BLOOM_TEST_NULL;
  if( row.is_maybe ) return 1;
  for(i=0; i<row.num_hashes; i++){
    if( filter->encoding->may_contain(filter, row.hashes[i]) ) return 1;
  }
  return 0;
}

static void give_handle(sqlite3_context *context, const filter_state *state){
  bloom_connection *connection = sqlite3_user_data(context);
  const bloom_encoding *encoding = &bloom_encoding_parquet;
  const filter_state without_rows = {.num_keys = 0};
  bloom_handle *handle;
  bloom_shape shape;
  uint8_t *bytes;
  int rc;
  /* SQLite ends every aggregate that it began.  After an error it drops the result. */
  if( bloom_is_interrupted(context) ){
    sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    return;
  }
  if( bloom_db_has_few_digits(connection->db) ) return; /* NULL */
  if( state==NULL ) state = &without_rows;
  if( find_filter_shape(context, state->queue.num_hashes, &shape)!=SQLITE_OK ) return;
  rc = bloom_handle_open(connection,
                         sizeof(bloom_equal_kinds) + BLOOM_HANDLE_SLACK + shape.num_bytes, &handle);
  if( rc==SQLITE_NOMEM ) sqlite3_result_error_nomem(context);
  if( rc!=SQLITE_OK ) return; /* none left: NULL */
  bytes = bloom_handle_room(handle, sizeof(bloom_equal_kinds),
                            shape.num_bytes - (size_t)(shape.num_bits / 8));
  encoding->clear(&shape, bytes);
  encoding->add(&shape, bytes, bloom_hash_queue_runs(&state->queue));
  encoding->read(bytes, shape.num_bytes, &handle->filter);
  *kinds_of(handle) = state->kinds;
  handle->test = test_keys;
  handle->test_data = handle;
  handle->num_keys = state->num_keys;
  bloom_handle_result(context, handle, 1);
}

void bloom_filter_value(sqlite3_context *context){
  give_handle(context, sqlite3_aggregate_context(context, 0));
}

void bloom_filter_final(sqlite3_context *context){
  filter_state *state = sqlite3_aggregate_context(context, 0);
  give_handle(context, state);
  if( state ) bloom_hash_queue_clear(&state->queue);
}
