/*
** The filters in LevelDB's files: bloom_filter_block() and bloom_ldb() read them,
** bloom_filter_block_build() writes them.
*/
#include <string.h>

#include "../../core/debug.h"
#include "../../core/hash.h"
#include "../../core/leveldb/files.h"
#include "../../core/leveldb/leveldb.h"
#include "../errors.h"
#include "../handle.h"
#include "../hash_queue.h"
#include "../key.h"
#include "../size_args.h"
#include "../tvf.h"
#include "functions.h"

/* -- bloom_filter_block() and bloom_ldb() ---------------------------------------------------- */

/*
** Damage is read as LevelDB reads it: a filter whose offsets are impossible may contain every key,
** and so its row has a filter that says "maybe".  A block that cannot be read at all is an error,
** where LevelDB would say "maybe" to every key.
*/

/* The columns; bloom_filter_block() has no policy. */
enum {
  SLOT_COLUMN_SLOT,
  SLOT_COLUMN_FIRST_OFFSET,
  SLOT_COLUMN_LAST_OFFSET,
  SLOT_COLUMN_FILTER,
  SLOT_COLUMN_NOTE,
  SLOT_COLUMN_POLICY
};

#define SLOT_COLUMNS \
  "slot INTEGER, first_offset INTEGER, last_offset INTEGER, filter BLOB, note TEXT"

/* An estimate of a block's rows, for SQLite's planner. */
#define USUAL_SLOTS 1000

/* Rowids begin at a hash of the argument, which is below this. */
#define ROWID_SPAN ((uint64_t)1 << 62)

/* A block's filters may have so many times its bytes together; one wrong offset makes them have
** twice. */
#define MAX_FILTERS_BY_BLOCK 4

typedef struct slots_cursor {
  bloom_tvf_cursor base; /* first */
  uint8_t *bytes;          /* a copy of the block; NULL: there are no filters, but one row */
  bloom_ldb_file file;     /* its block reads bytes; of a block alone there is nothing else */
  size_t slot;
  bloom_filter_slot found;
  uint64_t num_left;       /* bytes that the filters of the next slots may have together */
  const char *note;        /* of the row, static */
} slots_cursor;

/* Goes to the next slot.  The filters of a sound block have no more bytes together than the block.
** Offsets that go back and forth could make each filter as long as the block: one for which too few
** bytes are left is replaced by a filter that may contain every key. */
static void slots_next(bloom_tvf_cursor *cursor){
  slots_cursor *slots = (slots_cursor *)cursor;
  const bloom_filter_block *block = &slots->file.block;
  bloom_filter_slot *found = &slots->found;
  if( slots->bytes==NULL || ++slots->slot==block->num_slots ) return;
  bloom_filter_block_slot(block, slots->slot, found);
  if( block->base_lg>=64 ){
    slots->note = "damaged: base_lg is 64 or more, so it may contain every key";
  }else if( found->is_damaged ){
    slots->note = "damaged: its offsets lie outside of the block, so it may contain every key";
  }else if( found->num_bytes>slots->num_left ){
    slots->note = "damaged: its block's filters overlap too often, so it may contain every key";
    found->filter = bloom_any_key_filter;
    found->num_bytes = BLOOM_ANY_KEY_FILTER_BYTES;
  }else{
    slots->note = found->first_offset>found->last_offset
        ? "out of reach: no file offset is so large" : NULL;
    slots->num_left -= found->num_bytes;
  }
  cursor->rowid++;
  cursor->has_row = 1;
}

/* Starts both functions.  Rowids depend on the bytes of the argument. */
static int slots_start(bloom_tvf_cursor *cursor, sqlite3_value **args){
  slots_cursor *slots = (slots_cursor *)cursor;
  bloom_ldb_file *file = &slots->file;
  const int is_ldb = cursor->function==&bloom_ldb_tvf;
  const int type = sqlite3_value_type(args[0]);
  const void *pointer = sqlite3_value_pointer(args[0], bloom_handle_type);
  const int is_handle = pointer && bloom_handle_find(cursor->db, pointer);
  char **error = &cursor->base.pVtab->zErrMsg;
  const uint8_t *bytes;
  size_t num_bytes;
  const char *wrong;
  if( type==SQLITE_NULL && !is_handle ){ /* the type of a handle is NULL, too */
    if( !is_ldb ) return SQLITE_OK;
    file->note = "no file: NULL, so it may contain every key";
  }else if( type!=SQLITE_BLOB ){
    return bloom_fail_vtab(error, is_ldb
                             ? "bloom_ldb(): argument 1 (file) must be a BLOB, the bytes of a"
                               " LevelDB table file, not %s"
                             : "bloom_filter_block(): argument 1 (block) must be a BLOB, a LevelDB"
                               " filter block, not %s",
                           is_handle ? "a handle" : bloom_type_name(args[0]));
  }else{
    bytes = sqlite3_value_blob(args[0]);
    num_bytes = (size_t)sqlite3_value_bytes(args[0]);
    if( bytes==NULL && num_bytes ) return SQLITE_NOMEM;
    if( cursor->wants_rowids ){
      cursor->rowid = (sqlite3_int64)bloom_partition_of(bytes, num_bytes, ROWID_SPAN);
    }
    file->block_bytes = num_bytes;
    wrong = is_ldb ? bloom_ldb_file_read(bytes, num_bytes, file)
        : bloom_filter_block_read(bytes, num_bytes, &file->block);
    if( wrong ){
      return bloom_fail_vtab(error, is_ldb
                               ? "bloom_ldb(): argument 1 (file) is not a complete LevelDB table"
                                 " file: %s"
                               : "bloom_filter_block(): argument 1 (block) is no LevelDB filter"
                                 " block: %s", wrong);
    }
  }
  if( file->note ){
    /* The only row: a filter that may contain every key, at all offsets. */
    slots->found = (bloom_filter_slot){
      .filter = bloom_any_key_filter,
      .num_bytes = BLOOM_ANY_KEY_FILTER_BYTES,
      .last_offset = INT64_MAX,
    };
    slots->note = file->note;
    cursor->has_row = 1;
    return SQLITE_OK;
  }
  assert( file->block_bytes>=BLOOM_FILTER_BLOCK_MIN_BYTES );
  slots->bytes = sqlite3_malloc64(file->block_bytes);
  if( slots->bytes==NULL ) return SQLITE_NOMEM;
  memcpy(slots->bytes, file->block.bytes, file->block_bytes);
  file->block.bytes = slots->bytes;
  slots->slot = SIZE_MAX;
  slots->num_left = MAX_FILTERS_BY_BLOCK * (uint64_t)file->block_bytes;
  slots_next(cursor);
  return SQLITE_OK;
}

static void slots_column(const bloom_tvf_cursor *cursor, sqlite3_context *context, int column){
  const slots_cursor *slots = (const slots_cursor *)cursor;
  const bloom_filter_slot *found = &slots->found;
  const int is_somewhere = found->first_offset<=found->last_offset;
  switch( column ){
    case SLOT_COLUMN_SLOT:
      if( slots->bytes ) sqlite3_result_int64(context, (sqlite3_int64)slots->slot);
      break;
    case SLOT_COLUMN_FIRST_OFFSET:
      if( is_somewhere ) sqlite3_result_int64(context, found->first_offset);
      break;
    case SLOT_COLUMN_LAST_OFFSET:
      if( is_somewhere ) sqlite3_result_int64(context, found->last_offset);
      break;
    case SLOT_COLUMN_FILTER:
      /* An empty filter may have no address, and then the result would be NULL. */
      sqlite3_result_blob64(context, found->num_bytes ? (const void *)found->filter : "",
                            found->num_bytes, SQLITE_TRANSIENT);
      break;
    case SLOT_COLUMN_NOTE:
      sqlite3_result_text(context, slots->note, -1, SQLITE_STATIC);
      break;
    default: /* SLOT_COLUMN_POLICY */
      if( slots->file.policy_bytes==0 ) break;
      sqlite3_result_text64(context, (const char *)slots->file.policy, slots->file.policy_bytes,
                            SQLITE_TRANSIENT, SQLITE_UTF8);
      break;
  }
}

static void slots_clear(bloom_tvf_cursor *cursor){
  sqlite3_free(((slots_cursor *)cursor)->bytes);
}

const bloom_tvf bloom_filter_block_tvf = {
  .name = "bloom_filter_block",
  .call = "bloom_filter_block(block)",
  .schema = "CREATE TABLE bloom_filter_block(" SLOT_COLUMNS ", argument HIDDEN)",
  .num_columns = SLOT_COLUMN_NOTE + 1,
  .num_args = 1,
  .num_rows = USUAL_SLOTS,
  .cursor_bytes = sizeof(slots_cursor),
  .start = slots_start,
  .next = slots_next,
  .column = slots_column,
  .clear = slots_clear,
};

const bloom_tvf bloom_ldb_tvf = {
  .name = "bloom_ldb",
  .call = "bloom_ldb(file)",
  .schema = "CREATE TABLE bloom_ldb(" SLOT_COLUMNS ", policy TEXT, argument HIDDEN)",
  .num_columns = SLOT_COLUMN_POLICY + 1,
  .num_args = 1,
  .num_rows = USUAL_SLOTS,
  .cursor_bytes = sizeof(slots_cursor),
  .start = slots_start,
  .next = slots_next,
  .column = slots_column,
  .clear = slots_clear,
};

/* -- bloom_filter_block_build() -------------------------------------------------------------- */

/* A row in which both arguments are NULL is skipped; a key with a NULL offset is an error.  A rate
** is that of each filter, by its own number of keys.  Memory: 8 bytes a key, 4 for each 2 KiB of
** file, 8 for each key of the fullest filter, and the block. */

static const bloom_sized_function block_build_function = {
  .bits = {"bloom_filter_block_build", 3, "bits_per_key", NULL}, .max_args = 3,
  .encoding = &bloom_encoding_leveldb,
};

/* Memory set to zero is an aggregate that saw no row. */
typedef struct block_build_state {
  bloom_hash_queue hashes;
  bloom_hash_queue slots; /* the slot of each hash, 32 bits; runs are as long as those of hashes */
  uint64_t num_slots;
  bloom_size_args size;
  uint64_t max_bytes;     /* SQLite's length limit */
} block_build_state;

/* Returns 1 if the block is too big, whatever rows follow. */
static int is_too_big(const block_build_state *state){
  const double num_keys = (double)state->hashes.num_hashes;
  const double least = bloom_least_size(state->size.bits_per_key);
  return state->num_slots>state->max_bytes / 4 || num_keys * least / 8>(double)state->max_bytes
      || state->hashes.num_hashes>UINT32_MAX;
}

/* Adds one row.  Like the functions below it returns SQLITE_OK or an error code for
** bloom_fail_code(). */
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
    bloom_fail_arg(context, (bloom_arg){"bloom_filter_block_build", 1, "block_offset", args[0]},
                   "an integer in 0..9223372036854775807", NULL);
    return SQLITE_ERROR;
  }
  slot = (uint64_t)offset >> BLOOM_FILTER_BLOCK_BASE_LG;
  num_slots = slot + (kind!=BLOOM_KEY_NULL);
  if( state->num_slots<num_slots ) state->num_slots = num_slots;
  if( is_too_big(state) ) return SQLITE_TOOBIG;
  if( kind==BLOOM_KEY_NULL ) return SQLITE_OK;
  assert( slot<=UINT32_MAX && state->slots.num_hashes==state->hashes.num_hashes );
  /* The slot first: after an error the block is still built, and then no hash may lack its slot. */
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

/* Builds the block with these numbers of keys by slot, and sets it as context's result. */
static int write_block(sqlite3_context *context, const block_build_state *state,
                       const uint32_t *num_keys, const double *bits_per_key){
  const bloom_hash_run *hashes = bloom_hash_queue_runs(&state->hashes);
  const bloom_hash_run *slots = bloom_hash_queue_runs(&state->slots);
  const size_t num_slots = (size_t)state->num_slots;
  bloom_filter_block block;
  uint8_t *bytes;
  size_t num_bytes;
  if( bloom_filter_block_write(num_keys, num_slots, bits_per_key, NULL, &num_bytes)!=BLOOM_OK
   || num_bytes>state->max_bytes ) return SQLITE_TOOBIG;
  bytes = sqlite3_malloc64(num_bytes);
  if( bytes==NULL ) return SQLITE_NOMEM;
  (void)bloom_filter_block_write(num_keys, num_slots, bits_per_key, bytes, &num_bytes);
  (void)bloom_filter_block_read(bytes, num_bytes, &block);
  assert( block.num_slots==num_slots && block.base_lg==BLOOM_FILTER_BLOCK_BASE_LG );
  for(; hashes; hashes=hashes->next, slots=slots->next){
    const uint32_t *numbers = slots->hashes;
    size_t begin, end;
    if( bloom_is_interrupted(context) ){
      sqlite3_free(bytes);
      return SQLITE_INTERRUPT;
    }
    /* The keys of one slot that came in succession are added in one call. */
    for(begin=0; begin<hashes->num_hashes; begin=end){
      bloom_hash_run run = {.next = NULL, .hashes = (const uint32_t *)hashes->hashes + begin};
      for(end=begin+1; end<hashes->num_hashes && numbers[end]==numbers[begin]; end++){}
      run.num_hashes = end - begin;
      bloom_filter_block_add(&block, bytes, numbers[begin], &run);
    }
  }
  sqlite3_result_blob64(context, bytes, num_bytes, sqlite3_free);
  return SQLITE_OK;
}

/* Counts the keys of each slot, builds the block and sets it as context's result. */
static int give_block(sqlite3_context *context, const block_build_state *state){
  uint32_t *num_keys, most_keys;
  double *bits_per_key; /* by a slot's number of keys, set for the numbers that occur */
  size_t i;
  int rc = SQLITE_OK;
  /* SQLite ends every aggregate that it began.  After an error it drops the result. */
  if( bloom_is_interrupted(context) ) return SQLITE_INTERRUPT;
  if( is_too_big(state) ) return SQLITE_TOOBIG;
  /* At least one byte, so that NULL always means that there is no memory. */
  num_keys = bloom_malloc_zeros((state->num_slots + 1) * sizeof(*num_keys));
  if( num_keys==NULL ) return SQLITE_NOMEM;
  most_keys = bloom_hash_queue_count(&state->slots, num_keys);
  bits_per_key = bloom_malloc_zeros(((uint64_t)most_keys + 1) * sizeof(*bits_per_key));
  if( bits_per_key==NULL ) rc = SQLITE_NOMEM;
  for(i=0; rc==SQLITE_OK && i<state->num_slots; i++){
    double *bits = &bits_per_key[num_keys[i]];
    if( num_keys[i]==0 || *bits>0 ) continue;
    rc = bloom_is_interrupted(context) ? SQLITE_INTERRUPT
        : bloom_find_bits_per_key(context, block_build_function.bits, &state->size, num_keys[i],
                                  bits);
  }
  assert( most_keys<=state->slots.num_hashes ); /* after an error one more than hashes has */
  if( rc==SQLITE_OK ) rc = write_block(context, state, num_keys, bits_per_key);
  sqlite3_free(bits_per_key);
  sqlite3_free(num_keys);
  return rc;
}

/* The block of no rows. */
static const block_build_state block_build_state_without_rows = {
  .size = {&bloom_encoding_leveldb, BLOOM_DEFAULT_BITS_PER_KEY, BLOOM_NO_CAPACITY},
  .max_bytes = BLOOM_FILTER_BLOCK_MIN_BYTES,
};

void bloom_filter_block_build_final(sqlite3_context *context){
  block_build_state *state = sqlite3_aggregate_context(context, 0);
  /* After an error in the first row there are no arguments yet. */
  bloom_fail_code(context, give_block(context, state && state->size.encoding
                                        ? state : &block_build_state_without_rows));
  if( state ){
    bloom_hash_queue_clear(&state->hashes);
    bloom_hash_queue_clear(&state->slots);
  }
}
