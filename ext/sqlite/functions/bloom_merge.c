/*
** bloom_merge(filter): aggregate; the union of filters of one shape, as a
** BLOB: byte for byte the filter of all their keys, built with that capacity.
** filter is a BLOB or a handle.
**
** (1) If one of the filters is NULL, or there are no rows, the result is NULL, for which
**     bloom_may_contain() says "maybe": a missing filter may have had any key.  The other
**     filters are still checked, so that the order of the rows does not matter.
** (2) Filters agree in encoding, size and probes, else an error names what differs.
** (3) A filter with no bit set has no keys, so it can be merged with any shape.  The
**     result has the shape of the filters with keys; if none has any, it is the first
**     filter.
** (4) A filter that keys cannot be added to is an error, with its encoding's
**     reason.
**
** It is not a window function, because a filter cannot be removed from a union.
*/
#include "../../core/bits.h"
#include "../../core/bloomfile/bloomfile.h"
#include "../../core/encodings.h"
#include "../errors.h"
#include "../filter_arg.h"
#include "functions.h"
#include "../interrupt.h"

/* Memory set to zero is an aggregate that saw no filter. */
typedef struct merge_state {
  bloom_filter filter; /* the union so far; it reads bytes */
  uint8_t *bytes;      /* NULL before the first filter */
  char is_missing_one; /* a filter was NULL */
} merge_state;

/* Starts the union with a copy of the filter.  SQLITE_OK, SQLITE_NOMEM or SQLITE_INTERRUPT. */
static int start_union(sqlite3 *db, merge_state *state, const bloom_filter *filter){
  uint8_t *bytes = sqlite3_malloc64(filter->shape.num_bytes);
  if( bytes==NULL ) return SQLITE_NOMEM;
  if( bloom_copy_bytes(db, bytes, filter->bytes, filter->shape.num_bytes)!=SQLITE_OK ){
    sqlite3_free(bytes);
    return SQLITE_INTERRUPT;
  }
  sqlite3_free(state->bytes);
  state->bytes = bytes;
  bloom_filter_read(bytes, filter->shape.num_bytes, &state->filter);
  return SQLITE_OK;
}

/* Fails because filters of one encoding differ in shape. */
static void fail_shapes(sqlite3_context *context, const bloom_filter *before,
                        const bloom_filter *now){
  const bloom_shape *a = &before->shape, *b = &now->shape;
  if( now->encoding->writer ){
    bloom_fail(context, "bloom_merge(): filters must have one shape, not %lld bits and %d probes"
                        " and then %lld bits and %d probes; build them with equal bits_per_key and"
                        " capacity", (sqlite3_int64)a->num_bits, (int)a->num_probes,
               (sqlite3_int64)b->num_bits, (int)b->num_probes);
    return;
  }
  bloom_fail(context, "bloom_merge(): files must have one shape, not %lld units of %lld bytes and"
                      " %d probes and then %lld units of %lld bytes and %d probes; build them with"
                      " equal bits_per_key and capacity for equal sets",
             (sqlite3_int64)a->num_slots, (sqlite3_int64)bloom_bloomfile_unit_bytes(a),
             (int)a->num_probes, (sqlite3_int64)b->num_slots,
             (sqlite3_int64)bloom_bloomfile_unit_bytes(b), (int)b->num_probes);
}

/* Adds one filter to the union.  SQLITE_OK, SQLITE_NOMEM, SQLITE_INTERRUPT, or SQLITE_ERROR
** with the error set on context. */
static int merge_filter(sqlite3_context *context, merge_state *state, const bloom_filter *filter){
  sqlite3 *db = sqlite3_context_db_handle(context);
  const bloom_encoding *encoding = state->filter.encoding;
  bloom_stoppable now, before;
  int has_bits;
  if( state->bytes==NULL ) return start_union(db, state, filter);
  bloom_stoppable_init(&now, db, filter);
  if( filter->encoding==encoding && bloom_shapes_are_equal(&filter->shape, &state->filter.shape) ){
    return bloom_merge_filter(state->bytes, &now.filter) ? SQLITE_OK : SQLITE_INTERRUPT;
  }
  /* Requirement 3.  Bits are looked for only where shapes differ. */
  has_bits = bloom_has_bits_set(&now.filter);
  if( has_bits<=0 ) return has_bits<0 ? SQLITE_INTERRUPT : SQLITE_OK;
  bloom_stoppable_init(&before, db, &state->filter);
  has_bits = bloom_has_bits_set(&before.filter);
  if( has_bits<=0 ) return has_bits<0 ? SQLITE_INTERRUPT : start_union(db, state, filter);
  if( filter->encoding!=encoding ){
    bloom_fail(context, "bloom_merge(): filters must have one encoding, not '%s' and then '%s'",
               encoding->name, filter->encoding->name);
  }else{
    fail_shapes(context, &state->filter, filter);
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
  /* Requirement 1.  A handle's type is NULL, too. */
  if( sqlite3_value_type(args[0])==SQLITE_NULL && bloom_handle_of(context, args[0])==NULL ){
    state->is_missing_one = 1;
    return;
  }
  filter = bloom_changeable_filter_or_fail(context, "bloom_merge", args[0], NULL, 0, &storage);
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
