/*
** Filters of keys, as BLOBs: bloom_build(), bloom_empty(), bloom_add(), bloom_merge(), and
** bloom_bits_per_key(), the size for a rate.
*/
#include <string.h>

#include "../../core/debug.h"
#include "../../core/encodings.h"
#include "../connection.h"
#include "../errors.h"
#include "../handle.h"
#include "../hash_queue.h"
#include "../key.h"
#include "../size_args.h"
#include "functions.h"

/* -- bloom_build() --------------------------------------------------------------------------- */

/*
** Without capacity the hashes are kept until the end, and their number decides the filter's size.
** With capacity they are added to the filter in batches, so that only the filter takes memory.  But
** a window removes its oldest key, which a filter cannot do: once SQLite asks for the value of a
** frame, hashes are kept with capacity, too.  To remove a key that is in the filter by then is an
** error.
*/

/* The number of hashes that are added to the filter at once. */
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

/* Finds the shape of the filter, SQLITE_OK, or the error set on context.  While keys may follow,
** !is_end, the size of a rate without capacity is the least: the right one is found once the number
** of keys is known. */
static int find_shape(sqlite3_context *context, const build_state *state, int is_end,
                      bloom_shape *shape){
  bloom_size_args size = state->size;
  uint64_t num_keys = (uint64_t)size.capacity;
  assert( size.encoding );
  if( size.capacity==BLOOM_NO_CAPACITY ){
    num_keys = state->queue.num_hashes;
    if( !is_end ) size.bits_per_key = bloom_least_size(size.bits_per_key);
  }
  return bloom_find_shape(context, build_function.bits, &size, num_keys, shape);
}

/* Returns a new filter with all keys so far, and sets *shape to its shape.  NULL, with the error
** set on context, if it is too big, or there is no memory. */
static uint8_t *write_filter(sqlite3_context *context, const build_state *state,
                             bloom_shape *shape){
  uint8_t *filter;
  if( find_shape(context, state, 1, shape)!=SQLITE_OK ) return NULL;
  filter = bloom_malloc_or_fail(context, shape->num_bytes);
  if( filter==NULL ) return NULL;
  if( state->filter ){
    assert( bloom_shapes_are_equal(shape, &state->shape) );
    memcpy(filter, state->filter, shape->num_bytes);
  }else{
    state->size.encoding->clear(shape, filter);
  }
  state->size.encoding->add(shape, filter, bloom_hash_queue_runs(&state->queue));
  return filter;
}

/* Adds one row.  SQLITE_OK, or an error code for bloom_fail_code(). */
static int step(sqlite3_context *context, build_state *state, int num_args, sqlite3_value **args){
  bloom_key_kind kind;
  bloom_hash_value hash;
  bloom_shape shape;
  const int is_first = state->size.encoding==NULL;
  int rc = bloom_keep_size_args(context, &build_function, num_args, args, &state->size);
  if( rc!=SQLITE_OK ) return rc;
  if( is_first ){
    state->queue.hash_value_bytes = state->size.encoding->hash_value_bytes;
    rc = find_shape(context, state, 0, &shape);
    if( rc!=SQLITE_OK ) return rc;
  }
  kind = bloom_hash_of_key(state->size.encoding, args[0], &hash);
  if( kind==BLOOM_KEY_NULL ) return SQLITE_OK;
  if( kind==BLOOM_KEY_NOMEM || bloom_hash_queue_push(&state->queue, hash)!=SQLITE_OK ){
    return SQLITE_NOMEM;
  }
  if( state->queue.num_hashes % BATCH_HASHES ) return SQLITE_OK;
  if( state->size.capacity==BLOOM_NO_CAPACITY || state->is_window ){
    return find_shape(context, state, 0, &shape); /* it may be too big already */
  }
  /* The keys move from the queue to the filter. */
  if( state->filter ){
    state->size.encoding->add(&state->shape, state->filter,
                             bloom_hash_queue_runs(&state->queue));
  }else{
    state->filter = write_filter(context, state, &state->shape);
    if( state->filter==NULL ) return SQLITE_ERROR;
  }
  bloom_hash_queue_clear(&state->queue);
  return SQLITE_OK;
}

void bloom_build_step(sqlite3_context *context, int num_args, sqlite3_value **args){
  build_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  const int rc = state ? step(context, state, num_args, args) : SQLITE_NOMEM;
  if( rc==SQLITE_OK ) state->num_rows++;
  else bloom_fail_code(context, rc);
}

void bloom_build_inverse(sqlite3_context *context, int num_args, sqlite3_value **args){
  /* The state exists and has not failed: SQLite removes only rows that it passed before, and none
  ** after an error. */
  build_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  (void)num_args;
  assert( state->num_rows>0 );
  /* Rows leave a frame in the order they came, so the key's hash is the oldest one. */
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

/* Sets the filter as the result.  A group or frame without rows, which may have no state, gets the
** filter of the default arguments, also if rows of other frames gave arguments: else frames without
** rows would differ before and after the first row. */
static void give_filter(sqlite3_context *context, const build_state *state){
  const build_state without_rows = {
    .size = {bloom_default_encoding, BLOOM_DEFAULT_BITS_PER_KEY, BLOOM_NO_CAPACITY},
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
    state->size.encoding->add(&state->shape, state->filter,
                             bloom_hash_queue_runs(&state->queue));
    sqlite3_result_blob64(context, state->filter, state->shape.num_bytes, sqlite3_free);
    state->filter = NULL;
  }
  if( state==NULL ) return;
  bloom_hash_queue_clear(&state->queue);
  sqlite3_free(state->filter);
}

/* -- bloom_empty() --------------------------------------------------------------------------- */

void bloom_empty(sqlite3_context *context, int num_args, sqlite3_value **args){
  const bloom_arg bits = {"bloom_empty", 2, "bits_per_key", num_args>1 ? args[1] : NULL};
  bloom_size_args size = {NULL, BLOOM_DEFAULT_BITS_PER_KEY, BLOOM_NO_CAPACITY};
  bloom_shape shape;
  uint8_t *filter;
  if( bloom_take_encoding(context, "bloom_empty", 3, &num_args, args, &size.encoding)!=SQLITE_OK
   || bloom_read_count(context, (bloom_arg){"bloom_empty", 1, "capacity", args[0]},
                          &size.capacity)!=SQLITE_OK
   || (num_args>1 && bloom_read_bits_per_key(context, bits, &size.bits_per_key)!=SQLITE_OK)
   || size.capacity==BLOOM_NO_CAPACITY ) return;
  if( bloom_find_shape(context, bits, &size, (uint64_t)size.capacity, &shape)!=SQLITE_OK ) return;
  filter = bloom_malloc_or_fail(context, shape.num_bytes);
  if( filter==NULL ) return;
  size.encoding->clear(&shape, filter);
  sqlite3_result_blob64(context, filter, shape.num_bytes, sqlite3_free);
}

/* -- bloom_add() ----------------------------------------------------------------------------- */

/* Does what bloom_filter_arg_or_fail() does, and fails, with the encoding's reason, if the filter
** cannot be merged with others, or, needs_add, if keys cannot be added to it. */
static const bloom_filter *changeable_filter(sqlite3_context *context, const char *function,
                                             sqlite3_value *value, sqlite3_value *next,
                                             int needs_add, bloom_filter *storage){
  const bloom_filter *filter = bloom_filter_arg_or_fail(context, function, value, next, storage);
  const char *reason;
  if( filter==NULL ) return NULL;
  reason = filter->encoding->readonly_reason ? filter->encoding->readonly_reason(filter) : NULL;
  if( needs_add && filter->encoding->add==NULL ) reason = filter->encoding->why_no_add;
  if( reason==NULL ) return filter;
  bloom_fail(context,
             "%s(): argument 1 (filter) must be a filter that keys can be added to; the filter is "
             "%s", function, reason);
  return NULL;
}

void bloom_add(sqlite3_context *context, int num_args, sqlite3_value **args){
  bloom_filter storage;
  const bloom_filter *filter;
  const bloom_encoding *encoding;
  bloom_hash_queue queue;
  bloom_shape shape;
  uint8_t *bytes;
  int i, rc = SQLITE_OK;
  if( num_args==0 ){
    bloom_fail(context, "bloom_add(): argument 1 (filter) is missing");
    return;
  }
  filter = changeable_filter(context, "bloom_add", args[0], num_args>1 ? args[1] : NULL, 1,
                             &storage);
  if( filter==NULL ) return;
  encoding = filter->encoding;
  shape = filter->shape;
  assert( encoding->add && shape.num_bytes>0 );
  bytes = bloom_malloc_or_fail(context, shape.num_bytes);
  if( bytes==NULL ) return;
  /* Before a key is read: a key that is the same value as the filter may move it. */
  memcpy(bytes, filter->bytes, shape.num_bytes);
  queue = (bloom_hash_queue){.hash_value_bytes = encoding->hash_value_bytes};
  for(i=1; i<num_args && rc==SQLITE_OK; i++){
    bloom_hash_value hash;
    const bloom_key_kind kind = bloom_hash_of_key(encoding, args[i], &hash);
    if( kind==BLOOM_KEY_NOMEM ) rc = SQLITE_NOMEM;
    else if( kind!=BLOOM_KEY_NULL ) rc = bloom_hash_queue_push(&queue, hash);
  }
  if( rc==SQLITE_OK ){
    encoding->add(&shape, bytes, bloom_hash_queue_runs(&queue));
    sqlite3_result_blob64(context, bytes, shape.num_bytes, sqlite3_free);
  }else{
    sqlite3_free(bytes);
    bloom_fail_code(context, rc);
  }
  bloom_hash_queue_clear(&queue);
}

/* -- bloom_merge() --------------------------------------------------------------------------- */

/*
** A filter that is NULL may have had any key, so it makes the union NULL.  The other filters are
** still checked, so that the order of the rows does not matter.  A filter without a bit has no keys
** and merges with any shape.  So the union has the shape of the filters with keys; if none has
** keys, it is the first filter.
*/

/* Memory set to zero is an aggregate that saw no filter. */
typedef struct merge_state {
  bloom_filter filter; /* the union so far; it reads bytes */
  uint8_t *bytes;      /* NULL before the first filter */
  char is_missing_one; /* a filter was NULL */
} merge_state;

/* Starts the union with a copy of the filter.  SQLITE_OK or SQLITE_NOMEM. */
static int start_union(merge_state *state, const bloom_filter *filter){
  uint8_t *bytes = sqlite3_malloc64(filter->shape.num_bytes);
  if( bytes==NULL ) return SQLITE_NOMEM;
  memcpy(bytes, filter->bytes, filter->shape.num_bytes);
  sqlite3_free(state->bytes);
  state->bytes = bytes;
  bloom_filter_read(bytes, filter->shape.num_bytes, &state->filter);
  assert( bloom_shapes_are_equal(&state->filter.shape, &filter->shape) );
  return SQLITE_OK;
}

/* Adds one filter to the union.  SQLITE_OK, SQLITE_NOMEM, SQLITE_INTERRUPT, or SQLITE_ERROR
** with the error set on context. */
static int merge_filter(sqlite3_context *context, merge_state *state, const bloom_filter *filter){
  sqlite3 *db = sqlite3_context_db_handle(context);
  const bloom_encoding *encoding = state->filter.encoding;
  const bloom_shape *a = &state->filter.shape, *b = &filter->shape;
  bloom_stoppable now, before;
  uint64_t bits_set;
  if( state->bytes==NULL ) return start_union(state, filter);
  bloom_stoppable_init(&now, db, filter);
  if( filter->encoding==encoding && bloom_shapes_are_equal(a, b) ){
    return bloom_merge_filter(state->bytes, &now.filter) ? SQLITE_OK : SQLITE_INTERRUPT;
  }
  /* A filter without keys is looked for only where shapes differ. */
  if( !bloom_count_filter_bits(&now.filter, (size_t)(b->num_bits / 8), &bits_set) ){
    return SQLITE_INTERRUPT;
  }
  if( bits_set==0 ) return SQLITE_OK;
  bloom_stoppable_init(&before, db, &state->filter);
  if( !bloom_count_filter_bits(&before.filter, (size_t)(a->num_bits / 8), &bits_set) ){
    return SQLITE_INTERRUPT;
  }
  if( bits_set==0 ) return start_union(state, filter);
  if( filter->encoding!=encoding ){
    bloom_fail(context, "bloom_merge(): filters must have one encoding, not '%s' and then '%s'",
               encoding->name, filter->encoding->name);
  }else{
    bloom_fail(context, "bloom_merge(): filters must have one shape, not %lld bits and %d probes"
                        " and then %lld bits and %d probes; build them with equal bits_per_key and"
                        " capacity", (sqlite3_int64)a->num_bits, (int)a->num_probes,
               (sqlite3_int64)b->num_bits, (int)b->num_probes);
  }
  return SQLITE_ERROR;
}

void bloom_merge_step(sqlite3_context *context, int num_args, sqlite3_value **args){
  merge_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  bloom_filter storage;
  const bloom_filter *filter;
  (void)num_args;
  if( state==NULL ){
    sqlite3_result_error_nomem(context);
    return;
  }
  /* A handle's type is NULL, too. */
  if( sqlite3_value_type(args[0])==SQLITE_NULL && bloom_handle_of(context, args[0])==NULL ){
    state->is_missing_one = 1;
    return;
  }
  filter = changeable_filter(context, "bloom_merge", args[0], NULL, 0, &storage);
  if( filter==NULL ) return;
  bloom_fail_code(context, merge_filter(context, state, filter));
}

void bloom_merge_final(sqlite3_context *context){
  merge_state *state = sqlite3_aggregate_context(context, 0);
  if( state==NULL || state->bytes==NULL ) return;
  if( state->is_missing_one ){
    sqlite3_free(state->bytes);
    return;
  }
  sqlite3_result_blob64(context, state->bytes, state->filter.shape.num_bytes, sqlite3_free);
}

/* -- bloom_bits_per_key() -------------------------------------------------------------------- */

/* The most keys that a partition should have. */
#define DEFAULT_NUM_KEYS 20000

void bloom_bits_per_key(sqlite3_context *context, int num_args, sqlite3_value **args){
  const int type = sqlite3_value_type(args[0]);
  const bloom_arg rate_arg = {"bloom_bits_per_key", 1, "false_positive_rate", args[0]};
  sqlite3_int64 num_keys = DEFAULT_NUM_KEYS;
  bloom_size_args size = {NULL, 0, BLOOM_NO_CAPACITY};
  double bits_per_key;
  if( type==SQLITE_INTEGER || type==SQLITE_FLOAT ){
    size.bits_per_key = sqlite3_value_double(args[0]);
  }
  if( type!=SQLITE_NULL && !(size.bits_per_key>0 && size.bits_per_key<1) ){
    bloom_fail_number(context, rate_arg, "a number between 0 and 1");
    return;
  }
  if( bloom_take_encoding(context, rate_arg.function, 3, &num_args, args,
                          &size.encoding)!=SQLITE_OK ){
    return;
  }
  if( num_args>1 && bloom_read_count(context, (bloom_arg){rate_arg.function, 2, "num_keys",
                                                             args[1]}, &num_keys)!=SQLITE_OK ){
    return;
  }
  if( type==SQLITE_NULL || num_keys==BLOOM_NO_CAPACITY ) return;
  if( bloom_find_bits_per_key(context, rate_arg, &size, (uint64_t)num_keys,
                              &bits_per_key)==SQLITE_OK ){
    sqlite3_result_double(context, bits_per_key);
  }
}
