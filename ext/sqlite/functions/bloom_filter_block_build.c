/*
** bloom_filter_block_build(block_offset, key [, bits_per_key = 10]): aggregate; the
** filter block of a LevelDB table file whose data blocks begin at these file offsets and
** have these keys, byte for byte what LevelDB's FilterBlockBuilder writes.
**
** (1) Rows come in any order.  Duplicates count toward the size of their filter.
** (2) A NULL key is no key, but its block_offset counts: LevelDB's table writer tells the
**     builder where the data blocks end, which may add filters without keys.
** (3) block_offset is an integer >= 0.  It may be NULL where the key is NULL, too, and
**     the row is skipped: a key without an offset would be lost.
** (4) bits_per_key is that of bloom_build(), the same on every row.  A rate is each
**     filter's, whose own keys size it.
** (5) A block over SQLite's length limit is SQLite's own "too big" error, found as the
**     rows come in: a large offset alone needs 4 bytes for each 2 KiB of file before it.
** (6) Memory: 8 bytes a key, 4 for each 2 KiB of file, and the block.
**
** It is not a window function, because a table file is written once.
*/
#include "../../core/leveldb/files.h"
#include "../../core/leveldb/leveldb.h"
#include "../hash_queue.h"
#include "../errors.h"
#include "functions.h"
#include "../key.h"
#include "../size_args.h"

static const bloom_sized_function block_build_function = {
  .bits = {"bloom_filter_block_build", 3, "bits_per_key", NULL}, .max_args = 3,
  .encoding = &bloom_encoding_leveldb,
};

/* Memory set to zero is an aggregate that saw no row. */
typedef struct block_build_state {
  bloom_hash_queue hashes;
  bloom_hash_queue slots; /* of these hashes, 32 bits each: both queues have runs of one length */
  uint64_t num_slots;
  bloom_size_args size;
  uint64_t max_bytes;       /* SQLite's length limit */
} block_build_state;

/* Requirement 5: 1 if the block is too big, whatever rows follow. */
static int is_too_big(const block_build_state *state){
  const double num_keys = (double)state->hashes.num_hashes;
  const double least = bloom_least_bits_per_key(state->size.bits_per_key);
  return state->num_slots>state->max_bytes / 4 || num_keys * least / 8>(double)state->max_bytes
      || state->hashes.num_hashes>UINT32_MAX;
}

/* Takes one row.  Returns SQLITE_OK or an error code for bloom_fail_code(), as the functions
** below do. */
static int block_build_row(sqlite3_context *context, block_build_state *state, int num_args,
                           sqlite3_value **args){
  sqlite3_int64 offset;
  bloom_hash_value hash;
  bloom_key_kind kind;
  uint64_t slot, num_slots;
  const int rc = bloom_keep_size_args(context, &block_build_function, num_args, args, &state->size);
  if( rc!=SQLITE_OK ) return rc;
  kind = bloom_hash_of_key(&bloom_encoding_leveldb, args[1], &hash);
  if( kind==BLOOM_KEY_NOMEM ) return SQLITE_NOMEM;
  if( kind==BLOOM_KEY_NULL && sqlite3_value_type(args[0])==SQLITE_NULL ) return SQLITE_OK;
  if( !bloom_integer_arg(args[0], &offset) || offset<0 ){
    const bloom_arg arg = {block_build_function.bits.function, 1, "block_offset", args[0]};
    const int is_swapped = sqlite3_value_type(args[0])!=SQLITE_INTEGER
        && sqlite3_value_type(args[1])==SQLITE_INTEGER;
    bloom_fail_arg(context, arg, "an integer in 0..9223372036854775807",
                   is_swapped ? "the offset comes before the key" : NULL);
    return SQLITE_ERROR;
  }
  slot = (uint64_t)offset >> BLOOM_FILTER_BLOCK_BASE_LG;
  num_slots = slot + (kind!=BLOOM_KEY_NULL); /* Requirement 2 */
  if( state->num_slots<num_slots ) state->num_slots = num_slots;
  if( is_too_big(state) ) return SQLITE_TOOBIG;
  if( kind==BLOOM_KEY_NULL ) return SQLITE_OK;
  /* The slot comes first: after an error the block is still built, and each hash needs a
  ** slot. */
  if( bloom_hash_queue_push(&state->slots, slot)!=SQLITE_OK
   || bloom_hash_queue_push(&state->hashes, hash)!=SQLITE_OK ) return SQLITE_NOMEM;
  return SQLITE_OK;
}

void bloom_filter_block_build_step(sqlite3_context *context, int num_args, sqlite3_value **args){
  block_build_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  if( state && state->max_bytes==0 ){
    state->hashes.hash_value_bytes = state->slots.hash_value_bytes = 4;
    state->max_bytes = bloom_max_value_bytes(context);
  }
  bloom_fail_code(context, state ? block_build_row(context, state, num_args, args) : SQLITE_NOMEM);
}

/* Adds the keys to a block that was written for them.  Keys of one slot that came one after
** the other are added together. */
static int add_keys_to_block(sqlite3_context *context, const block_build_state *state,
                             uint8_t *bytes, size_t num_bytes){
  const bloom_hash_run *hashes = bloom_hash_queue_runs(&state->hashes);
  const bloom_hash_run *slots = bloom_hash_queue_runs(&state->slots);
  bloom_filter_block block;
  bloom_filter_block_read(bytes, num_bytes, &block);
  for(; hashes; hashes=hashes->next, slots=slots->next){
    const uint32_t *numbers = slots->hashes;
    size_t begin, end;
    if( bloom_is_interrupted(context) ) return SQLITE_INTERRUPT;
    for(begin=0; begin<hashes->num_hashes; begin=end){
      bloom_hash_run run = {.next = NULL, .hashes = (const uint32_t *)hashes->hashes + begin};
      for(end=begin+1; end<hashes->num_hashes && numbers[end]==numbers[begin]; end++){}
      run.num_hashes = end - begin;
      bloom_filter_block_add(&block, bytes, numbers[begin], &run);
    }
  }
  return SQLITE_OK;
}

/* Sets *found to tenths of a bit by number of keys, for the numbers that slots have
** (Requirement 4), to be freed with sqlite3_free(), also after an error. */
static int find_tenths(sqlite3_context *context, const block_build_state *state,
                       const uint32_t *num_keys, uint32_t most_keys, uint16_t **found){
  uint16_t *tenths;
  size_t i;
  *found = tenths = bloom_malloc_zeros(((uint64_t)most_keys + 1) * sizeof(*tenths));
  if( tenths==NULL ) return SQLITE_NOMEM;
  for(i=0; i<state->num_slots; i++){
    double bits_per_key;
    if( num_keys[i]==0 || tenths[num_keys[i]] ) continue;
    if( bloom_is_interrupted(context) ) return SQLITE_INTERRUPT;
    if( bloom_find_bits_per_key(context, block_build_function.bits, &state->size, num_keys[i],
                                &bits_per_key)!=SQLITE_OK ){
      return SQLITE_ERROR;
    }
    tenths[num_keys[i]] = (uint16_t)(bits_per_key * 10 + 0.5);
  }
  return SQLITE_OK;
}

/* A block of these sizes as context's result. */
static int write_block(sqlite3_context *context, const block_build_state *state,
                       const uint32_t *num_keys, const bloom_filter_block_bits *bits){
  const size_t num_slots = (size_t)state->num_slots;
  uint8_t *bytes;
  size_t num_bytes;
  int rc;
  if( bloom_filter_block_size(num_keys, num_slots, bits, &num_bytes)!=BLOOM_OK
   || num_bytes>state->max_bytes ) return SQLITE_TOOBIG;
  bytes = sqlite3_malloc64(num_bytes);
  if( bytes==NULL ) return SQLITE_NOMEM;
  bloom_filter_block_clear(num_keys, num_slots, bits, bytes, num_bytes);
  rc = add_keys_to_block(context, state, bytes, num_bytes);
  if( rc==SQLITE_OK ) sqlite3_result_blob64(context, bytes, num_bytes, sqlite3_free);
  else sqlite3_free(bytes);
  return rc;
}

/* Counts the keys of each slot, builds the block and sets it as context's result. */
static int give_block(sqlite3_context *context, const block_build_state *state){
  bloom_filter_block_bits bits = {.bits_per_key = state->size.bits_per_key};
  uint16_t *tenths = NULL;
  uint32_t *num_keys, most_keys;
  int rc = SQLITE_OK;
  /* SQLite ends every aggregate that it began.  After an error it drops the result. */
  if( bloom_is_interrupted(context) ) return SQLITE_INTERRUPT;
  if( is_too_big(state) ) return SQLITE_TOOBIG;
  /* At least one byte, so that NULL always means that there is no memory. */
  num_keys = bloom_malloc_zeros((state->num_slots + 1) * sizeof(*num_keys));
  if( num_keys==NULL ) return SQLITE_NOMEM;
  most_keys = bloom_hash_queue_count(&state->slots, num_keys);
  if( bloom_is_rate(bits.bits_per_key) ){
    rc = find_tenths(context, state, num_keys, most_keys, &tenths);
  }
  bits.tenths = tenths;
  if( rc==SQLITE_OK ) rc = write_block(context, state, num_keys, &bits);
  sqlite3_free(tenths);
  sqlite3_free(num_keys);
  return rc;
}

/* The block of no rows, or of rows without keys. */
static const block_build_state block_build_state_without_rows = {
  .size = {&bloom_encoding_leveldb, BLOOM_DEFAULT_BITS_PER_KEY, 0, BLOOM_NO_CAPACITY},
  .max_bytes = BLOOM_FILTER_BLOCK_MIN_BYTES,
};

void bloom_filter_block_build_final(sqlite3_context *context){
  block_build_state *state = sqlite3_aggregate_context(context, 0);
  bloom_fail_code(context, give_block(context, state ? state : &block_build_state_without_rows));
  if( state ){
    bloom_hash_queue_clear(&state->hashes);
    bloom_hash_queue_clear(&state->slots);
  }
}
