/*
** bloom_build(key [, bits_per_key = 10 [, capacity]] [, encoding = 'leveldb']):
** aggregate and window function; the filter of its keys, byte for byte what
** LevelDB's BloomFilterPolicy, or a Parquet writer, writes for them in any order.
**
** (1) NULL keys are skipped.  No rows: the empty filter, with the defaults.
** (2) bits_per_key is a number in 1..100, or below 1 a false-positive rate, capacity an
**     integer >= 0; NULL means the default.  These and the encoding are the same on every
**     row of a group or partition, rows with a NULL key included, else an error.
** (3) Without capacity the filter is sized by the keys that it got, duplicates counted,
**     and their hashes are kept until the end.
** (4) With capacity the filter is sized by that alone, and more keys are accepted.
**     Hashes are added to the filter in batches, so only the filter takes memory.
** (5) A window removes its oldest key, which a filter cannot do.  So once a frame is seen
**     to move, hashes are kept with capacity, too.  A key that is in the filter by then
**     cannot be removed, and that is an error.
** (6) A filter over SQLite's length limit is SQLite's own "too big" error,
**     found as the keys come in.  A rate that no size reaches with so many keys is an
**     error that names one that is in reach, and what helps.
** (7) The encoding is a TEXT as the last argument, however many arguments come before
**     it.  A name that core/encodings.h does not know is an error that lists the names.
*/
#include <string.h>

#include "../../core/encodings.h"
#include "../hash_queue.h"
#include "../errors.h"
#include "functions.h"
#include "../key.h"
#include "../size_args.h"

/* The number of hashes that are added to the filter at once (Requirement 4). */
#define BATCH_HASHES 16384

static const bloom_sized_function build_function =
    {.bits = {"bloom_build", 2, "bits_per_key", NULL}, .max_args = 4};

/* Memory set to zero is an aggregate that saw no row. */
typedef struct build_state {
  bloom_size_args size;     /* of all rows */
  bloom_hash_queue queue;   /* keys that are not yet in filter */
  uint8_t *filter;          /* with capacity, after the first batch; else NULL */
  bloom_shape shape;        /* of filter, unless that is NULL */
  uint64_t num_rows;        /* in the group or frame, with a NULL key or not */
  char is_window;           /* SQLite called value before the end */
} build_state;

/* The shape of the filter, or an error set on context (Requirement 6). */
static int find_shape(sqlite3_context *context, const build_state *state, bloom_shape *shape){
  const bloom_size_args *size = &state->size;
  uint64_t num_keys = size->capacity==BLOOM_NO_CAPACITY ? state->queue.num_hashes
      : (uint64_t)size->capacity;
  double bits_per_key;
  int rc = bloom_find_bits_per_key(context, build_function.bits, size, num_keys, &bits_per_key);
  return rc==SQLITE_OK ? bloom_find_shape(context, size->encoding, num_keys, bits_per_key, shape)
      : rc;
}

/* An error, set on context, if the filter is too big whatever comes (Requirement 6).  What a
** rate takes is looked up once the number of keys is known. */
static int check_size(sqlite3_context *context, const build_state *state){
  const bloom_size_args *size = &state->size;
  bloom_shape shape;
  if( size->capacity!=BLOOM_NO_CAPACITY ) return find_shape(context, state, &shape);
  return bloom_find_shape(context, size->encoding, state->queue.num_hashes,
                          bloom_least_bits_per_key(size->bits_per_key), &shape);
}

/* A new filter with all keys so far, and its shape.  NULL, with the error set on context,
** if it is too big or there is no memory for it. */
static uint8_t *write_filter(sqlite3_context *context, const build_state *state,
                             bloom_shape *shape){
  uint8_t *filter;
  if( find_shape(context, state, shape)!=SQLITE_OK ) return NULL;
  filter = bloom_malloc_or_fail(context, shape->num_bytes);
  if( filter==NULL ) return NULL;
  if( state->filter ){
    memcpy(filter, state->filter, shape->num_bytes);
  }else{
    state->size.encoding->writer->clear(shape, filter);
  }
  state->size.encoding->writer->add(shape, filter, bloom_hash_queue_runs(&state->queue));
  return filter;
}

/* Moves the keys from the queue to the filter (Requirement 4). */
static int flush_batch(sqlite3_context *context, build_state *state){
  if( state->filter ){
    state->size.encoding->writer->add(&state->shape, state->filter,
                                      bloom_hash_queue_runs(&state->queue));
  }else{
    state->filter = write_filter(context, state, &state->shape);
    if( state->filter==NULL ) return SQLITE_ERROR;
  }
  bloom_hash_queue_clear(&state->queue);
  return SQLITE_OK;
}

/* Takes one row.  Returns an error code if it fails, with the error set on context. */
static int step(sqlite3_context *context, build_state *state, int num_args, sqlite3_value **args){
  bloom_key_kind kind;
  bloom_hash_value hash;
  const int is_first = state->size.encoding==NULL;
  int rc = bloom_keep_size_args(context, &build_function, num_args, args, &state->size);
  if( rc!=SQLITE_OK ) return rc;
  if( is_first ){
    state->queue.hash_value_bytes = state->size.encoding->hash_value_bytes;
    rc = check_size(context, state);
    if( rc!=SQLITE_OK ) return rc;
  }
  kind = bloom_hash_of_key(state->size.encoding, args[0], &hash);
  if( kind==BLOOM_KEY_NULL ) return SQLITE_OK;
  if( kind==BLOOM_KEY_NOMEM || bloom_hash_queue_push(&state->queue, hash)!=SQLITE_OK ){
    sqlite3_result_error_nomem(context);
    return SQLITE_NOMEM;
  }
  if( state->queue.num_hashes % BATCH_HASHES==0 ){
    if( state->size.capacity!=BLOOM_NO_CAPACITY && !state->is_window ){
      return flush_batch(context, state);
    }
    return check_size(context, state);
  }
  return SQLITE_OK;
}

void bloom_build_step(sqlite3_context *context, int num_args, sqlite3_value **args){
  build_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  if( state==NULL ) sqlite3_result_error_nomem(context);
  else if( step(context, state, num_args, args)==SQLITE_OK ) state->num_rows++;
}

void bloom_build_inverse(sqlite3_context *context, int num_args, sqlite3_value **args){
  /* The state exists and has not failed: SQLite removes only rows that it passed before,
  ** and none after an error. */
  build_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  (void)num_args;
  /* Rows leave a frame in the order they came, so the key itself is not needed. */
  state->num_rows--;
  if( sqlite3_value_type(args[0])==SQLITE_NULL ) return;
  if( state->filter ){
    bloom_fail(context, "bloom_build(): with argument 3 (capacity) a window frame that drops rows"
                        " may have at most %d keys at its partition's first row; leave capacity out"
                        " for longer frames", BATCH_HASHES - 1);
  }else if( state->queue.num_hashes ){
    bloom_hash_queue_pop(&state->queue);
  }
}

/* A group or frame without rows, which may have no state, has the default parameters.  Rows outside
** of the frame do not count: otherwise the first frames, before any row, would differ from later
** ones. */
static void give_filter(sqlite3_context *context, const build_state *state){
  const build_state without_rows = {
    .size = {bloom_default_encoding, BLOOM_DEFAULT_BITS_PER_KEY, 0, BLOOM_NO_CAPACITY},
  };
  bloom_shape shape;
  uint8_t *filter;
  /* SQLite ends every aggregate that it began.  After an error it drops the result. */
  if( bloom_is_interrupted(context) ){
    sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    return;
  }
  filter = write_filter(context, state && state->num_rows ? state : &without_rows, &shape);
  if( filter ) sqlite3_result_blob64(context, filter, shape.num_bytes, sqlite3_free);
}

void bloom_build_value(sqlite3_context *context){
  build_state *state = sqlite3_aggregate_context(context, 0);
  if( state && state->num_rows ) state->is_window = 1;
  give_filter(context, state);
}

void bloom_build_final(sqlite3_context *context){
  build_state *state = sqlite3_aggregate_context(context, 0);
  if( state==NULL || state->num_rows==0 || state->filter==NULL ){
    give_filter(context, state);
  }else{
    /* SQLite takes over the filter without a copy. */
    state->size.encoding->writer->add(&state->shape, state->filter,
                                      bloom_hash_queue_runs(&state->queue));
    sqlite3_result_blob64(context, state->filter, state->shape.num_bytes, sqlite3_free);
    state->filter = NULL;
  }
  if( state==NULL ) return;
  bloom_hash_queue_clear(&state->queue);
  sqlite3_free(state->filter);
}
