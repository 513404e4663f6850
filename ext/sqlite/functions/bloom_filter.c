/*
** bloom_filter(key, ...): a handle, for one statement, of a filter that contains whatever `=`
** between the keys finds, by any affinity and by BINARY, NOCASE or RTRIM (equal_keys.h).
**
** Several keys are one: a row is stored by each combination of its values' hashes, and asked for
** by each of its own.  Where these are more than 64 it is stored and asked for by the cells of its
** numbers, which every row of four numbers or more is stored by, too; with fewer it may be there.
**
** There is no filter's BLOB to write or to read: bits are set and asked as Parquet's are.  A
** window removes its oldest row, so all hashes are kept to the end.  Where handles have run out,
** or the application has SQLite write REALs with fewer than 15 digits, the result is NULL, which
** says maybe.
*/
#include <string.h>

#include "../../core/parquet/parquet.h"
#include "../connection.h"
#include "../equal_keys.h"
#include "../errors.h"
#include "../hash_queue.h"
#include "../size_args.h"
#include "functions.h"

/* The size at which 1 % of other keys may be in the filter. */
#define FILTER_BITS_PER_KEY 10.6

/* How many hashes come in between looks at the size. */
#define FILTER_CHECK_HASHES 16384

/* The most combinations that a row is stored or asked by. */
#define MAX_COMBINATIONS 64

/* Three numbers with four hashes each have no more. */
#define MIN_CELL_NUMBERS 4

#define FILTER_LINE_BYTES 64

/* Of functions that run rarely, so that those which run once a row need few registers. */
#if defined(__GNUC__)
# define FILTER_NOINLINE __attribute__((noinline))
#else
# define FILTER_NOINLINE
#endif

/* Memory set to zero is an aggregate that saw no row. */
typedef struct filter_state {
  bloom_hash_queue queue;
  bloom_equal_kinds kinds;
  int num_keys;      /* of a row; 0 before the first */
  uint64_t num_open; /* rows with too many combinations: what is asked may be one of them */
  uint64_t num_cells_only; /* those that are stored by the cells of their numbers alone */
} filter_state;

/* The first cache line of a handle's bytes; the blocks begin at a later line. */
typedef struct equal_filter {
  int (*may_contain)(const uint8_t *blocks, uint64_t num_blocks, uint64_t hash);
  const uint8_t *blocks;
  uint64_t num_blocks;
  bloom_equal_kinds kinds;
  int is_open; /* all rows of several keys may be there */
  int has_cells_only; /* some rows are stored by the cells of their numbers alone */
} equal_filter;

#define FILTER_HEAD_BYTES \
  ((sizeof(equal_filter) + FILTER_LINE_BYTES - 1) / FILTER_LINE_BYTES * FILTER_LINE_BYTES)

/* The hashes of a row; none if one of its keys is NULL. */
typedef struct row_hashes {
  int num_hashes;
  int is_open; /* there would be too many, or one of the keys may be there */
  uint64_t hashes[MAX_COMBINATIONS];
} row_hashes;

/* ---- Several keys ---------------------------------------------------------------------- */

static inline uint64_t hash_with(uint64_t before, uint64_t hash){
  /* Both are hashes already; the factor is odd, so that the order of keys counts. */
  return before * BLOOM_GOLDEN_RATIO + hash;
}

/* Appends a key to each combination there is. */
static void combine_key(row_hashes *row, const bloom_key_hashes *key){
  const int num_before = row->num_hashes;
  int i, j;
  if( key->is_maybe || num_before * key->num_hashes>MAX_COMBINATIONS ){
    row->is_open = 1;
    return;
  }
  for(i=key->num_hashes-1; i>=0; i--){
    for(j=0; j<num_before; j++){
      row->hashes[i*num_before + j] = hash_with(row->hashes[j], key->hashes[i]);
    }
  }
  row->num_hashes = num_before * key->num_hashes;
}

/* Hashes a row to store it in a filter of these kinds or, is_query, to look it up. */
static int hash_row(bloom_equal_kinds *kinds, int is_query, int num_keys, sqlite3_value **keys,
                    row_hashes *row){
  int i;
  row->num_hashes = row->is_open = 0;
  for(i=0; i<num_keys; i++){
    if( sqlite3_value_type(keys[i])==SQLITE_NULL ) return SQLITE_OK;
  }
  row->num_hashes = 1;
  row->hashes[0] = 0;
  /* All, also where there are too many combinations: each key has its kind. */
  for(i=0; i<num_keys; i++){
    bloom_key_hashes key = {.num_hashes = 1};
    if( !bloom_has_one_hash(keys[i], &key.hashes[0])
     && bloom_equal_hashes_of(kinds, is_query, keys[i], &key)!=SQLITE_OK ) return SQLITE_NOMEM;
    if( !row->is_open ) combine_key(row, &key);
  }
  return SQLITE_OK;
}

/* Sets *is_number to whether a value, or one that NOCASE takes for equal, may be equal to a number.
** What is equal agrees on that. */
static int filter_may_equal_number(sqlite3_value *value, int *is_number){
  const int type = sqlite3_value_type(value);
  *is_number = type==SQLITE_INTEGER || type==SQLITE_FLOAT;
  if( type==SQLITE_TEXT ){
    const char *text = (const char *)sqlite3_value_text(value);
    if( text==NULL ) return SQLITE_NOMEM;
    *is_number = bloom_bytes_may_equal_number((const uint8_t *)text, strlen(text));
  }
  return SQLITE_OK;
}

/* Hashes a row without NULL by the cells of its numbers and by its other values, which have one
** hash each; none if it has few numbers. */
FILTER_NOINLINE static int hash_cells(bloom_equal_kinds *kinds, int is_query, int num_keys,
                                      sqlite3_value **keys, row_hashes *row){
  int i, num_numbers = 0;
  row->num_hashes = row->is_open = 0;
  if( num_keys<MIN_CELL_NUMBERS ) return SQLITE_OK;
  row->num_hashes = 1;
  row->hashes[0] = BLOOM_GOLDEN_RATIO; /* other hashes than those of all combinations */
  for(i=0; i<num_keys && !row->is_open; i++){
    bloom_key_hashes key;
    int is_number, rc = filter_may_equal_number(keys[i], &is_number);
    if( rc==SQLITE_OK && is_number ) rc = bloom_cell_hashes(keys[i], is_query, &key);
    else if( rc==SQLITE_OK ) rc = bloom_equal_hashes_of(kinds, is_query, keys[i], &key);
    if( rc!=SQLITE_OK ) return rc;
    num_numbers += is_number;
    combine_key(row, &key);
  }
  if( !row->is_open && num_numbers<MIN_CELL_NUMBERS ) row->num_hashes = 0;
  return SQLITE_OK;
}

/* ---- Building ---------------------------------------------------------------------------- */

static int find_filter_shape(sqlite3_context *context, uint64_t num_hashes, bloom_shape *shape){
  return bloom_find_shape(context, &bloom_encoding_parquet, num_hashes, FILTER_BITS_PER_KEY, shape);
}

/* Adds a hash.  SQLITE_OK, or another code with the error set on context. */
static int push_hash(sqlite3_context *context, filter_state *state, uint64_t hash){
  bloom_shape shape;
  if( bloom_hash_queue_push(&state->queue, hash)!=SQLITE_OK ){
    sqlite3_result_error_nomem(context);
    return SQLITE_NOMEM;
  }
  if( state->queue.num_hashes % FILTER_CHECK_HASHES ) return SQLITE_OK;
  return find_filter_shape(context, state->queue.num_hashes, &shape);
}

/* Sets *row and *cells to what a row is stored by, and counts those with too many combinations by
** change: 1, or -1 where the row leaves. */
static int hash_stored_row(filter_state *state, int change, int num_keys, sqlite3_value **keys,
                           row_hashes *row, row_hashes *cells){
  int rc = hash_row(&state->kinds, 0, num_keys, keys, row);
  cells->num_hashes = cells->is_open = 0;
  if( rc==SQLITE_OK && row->num_hashes>0 ){
    rc = hash_cells(&state->kinds, 0, num_keys, keys, cells);
  }
  if( rc!=SQLITE_OK ) return rc;
  if( cells->is_open ) cells->num_hashes = 0;
  if( row->is_open ){
    row->num_hashes = 0;
    if( cells->num_hashes>0 ) state->num_cells_only += (uint64_t)change;
    else state->num_open += (uint64_t)change;
  }
  return SQLITE_OK;
}

FILTER_NOINLINE static void add_row(sqlite3_context *context, filter_state *state, int num_keys,
                                    sqlite3_value **keys){
  row_hashes row, cells;
  int i;
  if( hash_stored_row(state, 1, num_keys, keys, &row, &cells)!=SQLITE_OK ){
    sqlite3_result_error_nomem(context);
    return;
  }
  for(i=0; i<row.num_hashes; i++){
    if( push_hash(context, state, row.hashes[i])!=SQLITE_OK ) return;
  }
  for(i=0; i<cells.num_hashes; i++){
    if( push_hash(context, state, cells.hashes[i])!=SQLITE_OK ) return;
  }
}

void bloom_filter_step(sqlite3_context *context, int num_keys, sqlite3_value **keys){
  filter_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  uint64_t hash;
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
    push_hash(context, state, hash);
  }else{
    add_row(context, state, num_keys, keys);
  }
}

void bloom_filter_inverse(sqlite3_context *context, int num_keys, sqlite3_value **keys){
  /* The state exists: SQLite removes only rows that it passed before.  They leave in the order
  ** they came, so that how many hashes they had is all there is to know. */
  filter_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  row_hashes row, cells;
  int i;
  if( hash_stored_row(state, -1, num_keys, keys, &row, &cells)!=SQLITE_OK ){
    sqlite3_result_error_nomem(context);
    return;
  }
  for(i=0; i<row.num_hashes + cells.num_hashes; i++) bloom_hash_queue_pop(&state->queue);
}

/* ---- Asking ------------------------------------------------------------------------------ */

static inline int has_hash(const equal_filter *filter, uint64_t hash){
  return filter->may_contain(filter->blocks, filter->num_blocks, hash);
}

static int has_any_hash(const equal_filter *filter, int num_hashes, const uint64_t *hashes){
  int i;
  for(i=0; i<num_hashes && !has_hash(filter, hashes[i]); i++){}
  return i<num_hashes;
}

FILTER_NOINLINE static int test_key(equal_filter *filter, sqlite3_value *value){
  bloom_key_hashes key;
  if( bloom_equal_hashes_of(&filter->kinds, 1, value, &key)!=SQLITE_OK ) return BLOOM_TEST_NOMEM;
  if( key.num_hashes==0 ) return BLOOM_TEST_NULL;
  return key.is_maybe || has_any_hash(filter, key.num_hashes, key.hashes);
}

/* Asks by cells alone: a row with few numbers equals none that is known by cells only. */
FILTER_NOINLINE static int test_cells(equal_filter *filter, int is_open, int num_keys,
                                      sqlite3_value **keys){
  row_hashes cells;
  if( hash_cells(&filter->kinds, 1, num_keys, keys, &cells)!=SQLITE_OK ) return BLOOM_TEST_NOMEM;
  if( cells.num_hashes==0 ) return is_open;
  return cells.is_open || has_any_hash(filter, cells.num_hashes, cells.hashes);
}

FILTER_NOINLINE static int test_row(equal_filter *filter, int num_keys, sqlite3_value **keys){
  row_hashes row;
  if( hash_row(&filter->kinds, 1, num_keys, keys, &row)!=SQLITE_OK ) return BLOOM_TEST_NOMEM;
  if( row.num_hashes==0 ) return BLOOM_TEST_NULL;
  if( filter->is_open ) return 1;
  if( !row.is_open ){
    if( has_any_hash(filter, row.num_hashes, row.hashes) ) return 1;
    if( !filter->has_cells_only ) return 0;
  }
  return test_cells(filter, row.is_open, num_keys, keys);
}

static int test_keys(void *data, int num_keys, sqlite3_value **keys){
  equal_filter *filter = data;
  uint64_t hash;
  if( num_keys>1 ) return test_row(filter, num_keys, keys);
  if( !bloom_has_one_hash(keys[0], &hash) ){
    return test_key(filter, keys[0]);
  }
  return has_hash(filter, hash);
}

/* Writes the filter into a handle with room for it. */
static void write_filter_handle(bloom_handle *handle, const filter_state *state,
                                const bloom_shape *shape){
  const size_t num_block_bytes = (size_t)shape->num_slots * BLOOM_SPLIT_BLOCK_BYTES;
  const bloom_hash_run *runs = bloom_hash_queue_runs(&state->queue);
  const bloom_parquet_kernels *kernels = bloom_parquet_best_kernels();
  uint8_t *line = handle->bytes + (size_t)(0 - (uintptr_t)handle->bytes) % FILTER_LINE_BYTES;
  equal_filter *filter = (void *)line;
  uint8_t *blocks = line + FILTER_HEAD_BYTES;
  *filter = (equal_filter){
    .may_contain = kernels->may_contain,
    .blocks = blocks,
    .num_blocks = shape->num_slots,
    .kinds = state->kinds,
    .is_open = state->num_open>0,
    .has_cells_only = state->num_cells_only>0,
  };
  memset(blocks, 0, num_block_bytes);
  for(; runs; runs=runs->next){
    kernels->add(blocks, shape->num_slots, runs->hashes, runs->num_hashes);
  }
  handle->test = test_keys;
  handle->test_data = filter;
  handle->num_keys = state->num_keys;
}

static void give_handle(sqlite3_context *context, const filter_state *state){
  const bloom_connection *connection = sqlite3_user_data(context);
  const filter_state without_rows = {.num_keys = 0};
  bloom_handle *handle;
  bloom_shape shape;
  int rc;
  /* SQLite ends every aggregate that it began.  After an error it drops the result. */
  if( bloom_is_interrupted(context) ){
    sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    return;
  }
  if( bloom_db_has_few_digits(connection->db) ) return; /* NULL: cells do not tell */
  if( state==NULL ) state = &without_rows;
  if( find_filter_shape(context, state->queue.num_hashes, &shape)!=SQLITE_OK ) return;
  rc = bloom_handle_open(connection->pool, connection->db,
                         FILTER_LINE_BYTES + FILTER_HEAD_BYTES + shape.num_bytes, &handle);
  if( rc==SQLITE_NOMEM ) sqlite3_result_error_nomem(context);
  if( rc!=SQLITE_OK ) return; /* none left: NULL */
  write_filter_handle(handle, state, &shape);
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
