/*
** bloom_build(key [, bits_per_key = 10 [, capacity]] [, encoding = 'leveldb']):
** aggregate and window function; the filter of its keys, byte for byte what
** LevelDB's BloomFilterPolicy, or a Parquet writer, writes for them in any order.
**
** (1) NULL keys are skipped.  No rows: the empty filter, with the defaults.
** (2) bits_per_key is a number in 1..100, capacity an integer >= 0; NULL means
**     the default.  Each is the same on every row of a group or frame, rows with
**     a NULL key included, else an error.  The encoding is the same on every row of
**     a group or partition.
** (3) Without capacity the filter is sized by the keys that it got, duplicates counted,
**     and their hashes are kept until the end.
** (4) With capacity the filter is sized by that alone, and more keys are accepted.
**     Hashes are added to the filter in batches, so only the filter takes memory.
** (5) A window removes its oldest key, which a filter cannot do.  So once a frame is seen
**     to move, hashes are kept with capacity, too.  A key that is in the filter by then
**     cannot be removed, and that is an error.
** (6) A filter over SQLite's length limit is SQLite's own "too big" error,
**     found as the keys come in.
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

/* The arguments after the key, on one row. */
typedef struct build_parameters {
  double bits_per_key;
  int bits_per_key_type;  /* of the argument; 0 if there was none */
  sqlite3_int64 capacity; /* or BLOOM_NO_CAPACITY */
} build_parameters;

/* Memory set to zero is an aggregate that saw no row. */
typedef struct build_state {
  const bloom_encoding *encoding; /* NULL before the first row */
  bloom_hash_queue queue;   /* keys that are not yet in filter */
  uint8_t *filter;          /* with capacity, after the first batch; else NULL */
  bloom_shape shape;        /* of filter, unless that is NULL */
  build_parameters parameters; /* of the latest row */
  build_parameters earlier;    /* of the row before they last changed */
  uint64_t num_rows;        /* in the group or frame, with a NULL key or not */
  uint64_t num_alike;       /* latest rows with equal parameters; they may have left the frame */
  char has_parameters;      /* a row was seen */
  char is_window;           /* SQLite called value before the end */
} build_state;

static void build_state_free(build_state *state){
  bloom_hash_queue_clear(&state->queue);
  sqlite3_free(state->filter);
}

/* Fails because an argument differs from that of an earlier row.  Frees both literals. */
static int fail_not_constant(sqlite3_context *context, int number, const char *name, char *before, char *now){
  if( before && now ){
    bloom_fail(context, BLOOM_ERROR_NOT_CONSTANT, "bloom_build", number, name, before, now);
  }else{
    sqlite3_result_error_nomem(context);
  }
  sqlite3_free(before);
  sqlite3_free(now);
  return SQLITE_ERROR;
}

static char *bits_per_key_literal(const build_parameters *parameters){
  switch( parameters->bits_per_key_type ){
    case SQLITE_FLOAT:   return bloom_real_literal(parameters->bits_per_key);
    case SQLITE_INTEGER: return sqlite3_mprintf("%d", (int)parameters->bits_per_key);
    default:             return sqlite3_mprintf("NULL");
  }
}

static char *capacity_literal(const build_parameters *parameters){
  if( parameters->capacity==BLOOM_NO_CAPACITY ) return sqlite3_mprintf("NULL");
  return sqlite3_mprintf("%lld", parameters->capacity);
}

static char *encoding_literal(const bloom_encoding *encoding){
  return sqlite3_mprintf("'%s'", encoding->name);
}

static inline int bits_per_key_differs(const build_parameters *a, const build_parameters *b){
  return a->bits_per_key<b->bits_per_key || a->bits_per_key>b->bits_per_key;
}

/* Fails if rows differ in their parameters (Requirement 2).  This is not checked row by
** row, because a window may remove a row before it needs a value. */
static int check_parameters(sqlite3_context *context, const build_state *state){
  const build_parameters *before = &state->earlier, *now = &state->parameters;
  if( state->num_rows<=state->num_alike ) return SQLITE_OK;
  if( bits_per_key_differs(before, now) ){
    return fail_not_constant(context, 2, "bits_per_key", bits_per_key_literal(before), bits_per_key_literal(now));
  }
  return fail_not_constant(context, 3, "capacity", capacity_literal(before), capacity_literal(now));
}

/* The shape of the filter, or an error set on context (Requirement 6). */
static int find_shape(sqlite3_context *context, const build_state *state, bloom_shape *shape){
  const build_parameters *parameters = &state->parameters;
  uint64_t num_keys = parameters->capacity==BLOOM_NO_CAPACITY ?
    state->queue.num_hashes : (uint64_t)parameters->capacity;
  return bloom_find_shape(context, state->encoding, num_keys, parameters->bits_per_key, shape);
}

/* 1 if the arguments after the key, at most a bits_per_key and an encoding, are the same as
** on the row before.  This is the case on most rows, and quickly checked. */
static inline int are_same_parameters(const build_state *state, int num_args, sqlite3_value **args){
  const bloom_encoding *encoding = bloom_default_encoding;
  if( !state->has_parameters ) return 0;
  if( num_args>1 && sqlite3_value_type(args[num_args-1])==SQLITE_TEXT ){
    const char *name = bloom_name_arg(args[--num_args]);
    if( name==NULL || strcmp(name, state->encoding->name)!=0 ) return 0;
    encoding = state->encoding;
  }
  if( num_args>2 || encoding!=state->encoding || state->parameters.capacity!=BLOOM_NO_CAPACITY ) return 0;
  if( num_args==1 ) return state->parameters.bits_per_key_type==0;
  return sqlite3_value_type(args[1])==state->parameters.bits_per_key_type
      && sqlite3_value_double(args[1])==state->parameters.bits_per_key;
}

/* Reads the arguments after the key. */
static int read_parameters(
  sqlite3_context *context, build_state *state, int num_args, sqlite3_value **args
){
  build_parameters now = {BLOOM_DEFAULT_BITS_PER_KEY, 0, BLOOM_NO_CAPACITY};
  const bloom_encoding *encoding;
  const int last_number = num_args;
  bloom_shape shape;
  int rc = bloom_take_encoding(context, "bloom_build", 4, &num_args, args, &encoding);
  if( rc!=SQLITE_OK ) return rc;
  if( num_args>1 ){
    bloom_arg arg = {"bloom_build", 2, args[1]};
    if( bloom_read_bits_per_key(context, arg, &now.bits_per_key)!=SQLITE_OK ) return SQLITE_ERROR;
    now.bits_per_key_type = sqlite3_value_type(args[1]);
  }
  if( num_args>2 ){
    bloom_arg arg = {"bloom_build", 3, args[2]};
    if( bloom_read_capacity(context, arg, &now.capacity)!=SQLITE_OK ) return SQLITE_ERROR;
  }
  if( state->encoding==NULL ){
    state->encoding = encoding;
    state->queue.hash_value_bytes = encoding->hash_value_bytes;
  }else if( encoding!=state->encoding ){
    return fail_not_constant(context, last_number, "encoding", encoding_literal(state->encoding),
                             encoding_literal(encoding));
  }
  if( state->has_parameters && !bits_per_key_differs(&state->parameters, &now)
   && state->parameters.capacity==now.capacity ) return SQLITE_OK;
  state->earlier = state->parameters;
  state->parameters = now;
  state->num_alike = 0;
  state->has_parameters = 1;
  /* Rows whose keys are in the filter cannot be removed. */
  if( state->filter ) return check_parameters(context, state);
  return find_shape(context, state, &shape);
}

/* A new filter with all keys so far, and its shape.  NULL, with the error set on context,
** if it is too big or there is no memory for it. */
static uint8_t *write_filter(sqlite3_context *context, const build_state *state, bloom_shape *shape){
  uint8_t *filter;
  if( find_shape(context, state, shape)!=SQLITE_OK ) return NULL;
  filter = sqlite3_malloc64(shape->num_bytes);
  if( filter==NULL ){
    sqlite3_result_error_nomem(context);
    return NULL;
  }
  if( state->filter ){
    memcpy(filter, state->filter, shape->num_bytes);
  }else{
    state->encoding->clear(shape, filter);
  }
  state->encoding->add(shape, filter, bloom_hash_queue_runs(&state->queue));
  return filter;
}

/* Moves the keys from the queue to the filter (Requirement 4). */
static int flush_batch(sqlite3_context *context, build_state *state){
  if( state->filter ){
    state->encoding->add(&state->shape, state->filter, bloom_hash_queue_runs(&state->queue));
  }else{
    if( check_parameters(context, state)!=SQLITE_OK ) return SQLITE_ERROR;
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
  if( !are_same_parameters(state, num_args, args) ){
    int rc = read_parameters(context, state, num_args, args);
    if( rc!=SQLITE_OK ) return rc;
  }
  kind = bloom_hash_of_key(state->encoding, args[0], &hash);
  if( kind==BLOOM_KEY_NULL ) return SQLITE_OK;
  if( kind==BLOOM_KEY_NOMEM || bloom_hash_queue_push(&state->queue, hash)!=SQLITE_OK ){
    sqlite3_result_error_nomem(context);
    return SQLITE_NOMEM;
  }
  if( state->queue.num_hashes % BATCH_HASHES==0 ){
    bloom_shape shape;
    if( state->parameters.capacity!=BLOOM_NO_CAPACITY && !state->is_window ) return flush_batch(context, state);
    return find_shape(context, state, &shape);
  }
  return SQLITE_OK;
}

void bloom_build_step(sqlite3_context *context, int num_args, sqlite3_value **args){
  build_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  if( state==NULL ){
    sqlite3_result_error_nomem(context);
    return;
  }
  if( step(context, state, num_args, args)==SQLITE_OK ){
    state->num_rows++;
    state->num_alike++;
  }
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
    bloom_fail(context, BLOOM_ERROR_FRAME, "bloom_build", BATCH_HASHES - 1);
  }else if( state->queue.num_hashes ){
    bloom_hash_queue_pop(&state->queue);
  }
}

static void give_filter(sqlite3_context *context, const build_state *state){
  bloom_shape shape;
  uint8_t *filter;
  /* SQLite ends every aggregate that it began.  After an error it drops the result. */
  if( bloom_is_interrupted(context) ){
    sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    return;
  }
  if( check_parameters(context, state)!=SQLITE_OK ) return;
  filter = write_filter(context, state, &shape);
  if( filter ) sqlite3_result_blob64(context, filter, shape.num_bytes, sqlite3_free);
}

/* A group or frame without rows has the default parameters.  Rows outside of the frame do
** not count: otherwise the first frames, before any row, would differ from later ones. */
static void give_filter_without_rows(sqlite3_context *context){
  const build_state state = {
    .encoding = bloom_default_encoding,
    .parameters = {BLOOM_DEFAULT_BITS_PER_KEY, 0, BLOOM_NO_CAPACITY},
  };
  give_filter(context, &state);
}

void bloom_build_value(sqlite3_context *context){
  build_state *state = sqlite3_aggregate_context(context, 0);
  if( state==NULL || state->num_rows==0 ){
    give_filter_without_rows(context);
  }else{
    state->is_window = 1;
    give_filter(context, state);
  }
}

void bloom_build_final(sqlite3_context *context){
  build_state *state = sqlite3_aggregate_context(context, 0);
  if( state==NULL || state->num_rows==0 ){
    give_filter_without_rows(context);
  }else if( state->filter==NULL ){
    give_filter(context, state);
  }else{
    /* SQLite takes over the filter without a copy. */
    state->encoding->add(&state->shape, state->filter, bloom_hash_queue_runs(&state->queue));
    sqlite3_result_blob64(context, state->filter, state->shape.num_bytes, sqlite3_free);
    state->filter = NULL;
  }
  if( state ) build_state_free(state);
}
