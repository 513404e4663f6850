/*
** Many sets in one BloomFile: bloom_build_sets() writes it, bloom_sets() reads it.
*/
#include <string.h>

#include "../../core/bloomfile/bloomfile.h"
#include "../../core/debug.h"
#include "../../core/hash.h"
#include "../connection.h"
#include "../errors.h"
#include "../handle.h"
#include "../hash_queue.h"
#include "../key.h"
#include "../size_args.h"
#include "functions.h"

/* -- bloom_build_sets() ---------------------------------------------------------------------- */

/*
** Without capacity the largest set's number of keys decides the size, so 12 bytes a row are kept
** until the end.  With capacity keys are added to the file in batches.  A set number that is too
** large for its units makes the file wider: for that time memory holds the old file and the new
** one.
*/

/* The number of keys that are added to the file at once. */
#define SETS_BATCH_KEYS 16384

static const bloom_sized_function sets_function = {
  .bits = {"bloom_build_sets", 3, "bits_per_key", NULL}, .max_args = 4,
  .encoding = &bloom_encoding_bloomfile,
};

/* Memory set to zero is an aggregate that saw no row. */
typedef struct sets_state {
  bloom_hash_queue hashes, sets; /* of keys that are not yet in the file; runs are equally long */
  uint8_t *file;             /* with capacity, after the first batch; else NULL */
  bloom_shape shape;         /* of the file; if that is NULL, of the narrowest one */
  uint64_t num_sets;         /* the largest set number plus one */
  size_t max_bytes;          /* SQLite's limit; 0 before the first row */
  bloom_size_args size;      /* of all rows */
  double bits_per_key;       /* of a rate without capacity the least, until all keys are there */
} sets_state;

/* Sets the state by the arguments of the first row.  SQLITE_OK, or an error code for
** bloom_fail_code(). */
static int sets_begin(sqlite3_context *context, sets_state *state){
  const uint64_t num_keys = state->size.capacity==BLOOM_NO_CAPACITY ? 0
      : (uint64_t)state->size.capacity;
  const size_t max_bytes = bloom_max_value_bytes(context);
  if( state->size.capacity==BLOOM_NO_CAPACITY ){
    state->bits_per_key = bloom_least_size(state->size.bits_per_key);
  }else if( bloom_find_bits_per_key(context, sets_function.bits, &state->size, num_keys,
                                    &state->bits_per_key)!=SQLITE_OK ){
    return SQLITE_ERROR;
  }
  if( bloom_bloomfile_shape(0, num_keys, state->bits_per_key, max_bytes, &state->shape)!=BLOOM_OK ){
    return SQLITE_TOOBIG;
  }
  state->max_bytes = max_bytes;
  state->hashes.hash_value_bytes = sizeof(bloom_hash_value);
  state->sets.hash_value_bytes = sizeof(uint32_t);
  return SQLITE_OK;
}

/* Returns 1 if the file is too big already, whatever rows follow: by its number of sets, or because
** its largest set has at least the mean number of keys. */
static int sets_are_too_many(const sets_state *state){
  bloom_shape shape;
  assert( state->max_bytes>=BLOOM_BLOOMFILE_HEADER_BYTES && state->shape.num_slots>0 );
  if( bloom_bloomfile_bytes_for_sets(state->num_sets)
        > (state->max_bytes - BLOOM_BLOOMFILE_HEADER_BYTES) / state->shape.num_slots ) return 1;
  return state->size.capacity==BLOOM_NO_CAPACITY
      && state->hashes.num_hashes%SETS_BATCH_KEYS==SETS_BATCH_KEYS-1
      && bloom_bloomfile_shape(state->num_sets, state->hashes.num_hashes / state->num_sets,
                               state->bits_per_key, state->max_bytes, &shape)!=BLOOM_OK;
}

/* Moves the keys from the queues to the file, which gets units of so many bytes before.  SQLITE_OK,
** SQLITE_NOMEM or SQLITE_INTERRUPT. */
static int sets_flush(sqlite3_context *context, sets_state *state, uint64_t unit_bytes){
  const bloom_hash_run *hashes = bloom_hash_queue_runs(&state->hashes);
  const bloom_hash_run *sets = bloom_hash_queue_runs(&state->sets);
  assert( unit_bytes>=bloom_bloomfile_bytes_for_sets(state->num_sets) );
  if( state->file==NULL || unit_bytes!=bloom_bloomfile_unit_bytes(&state->shape) ){
    const bloom_shape shape = bloom_bloomfile_with_unit_bytes(&state->shape, (size_t)unit_bytes);
    uint8_t *file = sqlite3_malloc64(shape.num_bytes);
    if( file==NULL ) return SQLITE_NOMEM;
    assert( shape.num_bytes<=state->max_bytes );
    if( state->file ) bloom_bloomfile_copy_units(&state->shape, state->file, &shape, file);
    else bloom_bloomfile_clear(&shape, file);
    sqlite3_free(state->file);
    state->file = file;
    state->shape = shape;
  }
  for(; hashes; hashes=hashes->next, sets=sets->next){
    bloom_hash_run run = *hashes;
    run.next = NULL;
    if( bloom_is_interrupted(context) ) return SQLITE_INTERRUPT;
    bloom_bloomfile_add(&state->shape, state->file, &run, sets);
  }
  bloom_hash_queue_clear(&state->hashes);
  bloom_hash_queue_clear(&state->sets);
  return SQLITE_OK;
}

/* Adds one row.  Returns SQLITE_OK or an error code for bloom_fail_code(). */
static int sets_row(sqlite3_context *context, sets_state *state, int num_args,
                    sqlite3_value **args){
  sqlite3_int64 set_number;
  uint64_t unit_bytes, needed, max_unit_bytes;
  bloom_hash_value hash;
  bloom_key_kind kind;
  int rc = bloom_keep_size_args(context, &sets_function, num_args, args, &state->size);
  if( rc==SQLITE_OK && state->max_bytes==0 ) rc = sets_begin(context, state);
  if( rc!=SQLITE_OK ) return rc;
  rc = bloom_read_count(context, (bloom_arg){"bloom_build_sets", 1, "set_number", args[0]},
                        &set_number);
  if( rc!=SQLITE_OK || set_number<0 ) return rc;
  kind = bloom_hash_of_key(&bloom_encoding_bloomfile, args[1], &hash);
  if( kind==BLOOM_KEY_NOMEM ) return SQLITE_NOMEM;
  if( state->num_sets<=(uint64_t)set_number ) state->num_sets = (uint64_t)set_number + 1;
  if( sets_are_too_many(state) ) return SQLITE_TOOBIG;
  if( kind==BLOOM_KEY_NULL ) return SQLITE_OK;
  /* The set first: after an error the file is still built, and then no hash may lack its set. */
  if( bloom_hash_queue_push(&state->sets, (uint32_t)set_number)!=SQLITE_OK
   || bloom_hash_queue_push(&state->hashes, hash)!=SQLITE_OK ) return SQLITE_NOMEM;
  if( state->size.capacity==BLOOM_NO_CAPACITY || state->hashes.num_hashes<SETS_BATCH_KEYS ){
    return SQLITE_OK;
  }
  unit_bytes = bloom_bloomfile_unit_bytes(&state->shape);
  needed = bloom_bloomfile_bytes_for_sets(state->num_sets);
  max_unit_bytes = (state->max_bytes - BLOOM_BLOOMFILE_HEADER_BYTES) / state->shape.num_slots;
  if( state->file && needed>unit_bytes ){
    /* Twice as wide, so that ascending set numbers copy it a few times only; if that is too much,
    ** as wide as can be. */
    unit_bytes = 2*unit_bytes<=max_unit_bytes ? 2*unit_bytes : max_unit_bytes;
  }
  return sets_flush(context, state, unit_bytes>needed ? unit_bytes : needed);
}

void bloom_build_sets_step(sqlite3_context *context, int num_args, sqlite3_value **args){
  sets_state *state = sqlite3_aggregate_context(context, sizeof(*state));
  bloom_fail_code(context, state ? sets_row(context, state, num_args, args) : SQLITE_NOMEM);
}

/* Builds the file of all keys in its final shape.  SQLITE_OK, or an error code for
** bloom_fail_code(). */
static int sets_finish(sqlite3_context *context, sets_state *state){
  /* SQLite calls this after an error, too, and then num_sets may be what was too much. */
  if( sets_are_too_many(state) ) return SQLITE_TOOBIG;
  if( state->size.capacity==BLOOM_NO_CAPACITY ){
    /* The keys of the largest set, duplicates counted. */
    uint32_t num_keys, *counts = bloom_malloc_zeros((state->num_sets + 1) * sizeof(*counts));
    int rc;
    if( counts==NULL ) return SQLITE_NOMEM;
    num_keys = bloom_hash_queue_count(&state->sets, counts);
    sqlite3_free(counts);
    rc = bloom_find_bits_per_key(context, sets_function.bits, &state->size, num_keys,
                                 &state->bits_per_key);
    if( rc!=SQLITE_OK ) return rc;
    if( bloom_bloomfile_shape(0, num_keys, state->bits_per_key, state->max_bytes,
                              &state->shape)!=BLOOM_OK ) return SQLITE_TOOBIG;
    if( sets_are_too_many(state) ) return SQLITE_TOOBIG;
  }
  return sets_flush(context, state, bloom_bloomfile_bytes_for_sets(state->num_sets));
}

void bloom_build_sets_final(sqlite3_context *context){
  sets_state *state = sqlite3_aggregate_context(context, 0);
  sets_state without_rows = {
    .size = {&bloom_encoding_bloomfile, BLOOM_DEFAULT_BITS_PER_KEY, BLOOM_NO_CAPACITY},
  };
  int rc = SQLITE_OK;
  if( state==NULL || state->max_bytes==0 ){
    state = &without_rows;
    rc = sets_begin(context, state);
  }
  if( rc==SQLITE_OK ) rc = sets_finish(context, state);
  if( rc==SQLITE_OK ){
    sqlite3_result_blob64(context, state->file, state->shape.num_bytes, sqlite3_free);
    state->file = NULL;
  }
  bloom_fail_code(context, rc);
  bloom_hash_queue_clear(&state->hashes);
  bloom_hash_queue_clear(&state->sets);
  sqlite3_free(state->file);
}

/* -- bloom_sets() ---------------------------------------------------------------------------- */

/* What the argument is, and a hint, follow. */
#define NO_BLOOMFILE "bloom_sets(): argument 1 (file) must be a BloomFile, a BLOB or a handle " \
                     "from bloom_open(), not "

/* Estimates for SQLite's planner: fewer rows than a table has, and a call that costs more than a
** row, so that the function's loop is outside of those of tables that are looked up by its rows. */
#define SETS_USUAL_ROWS 10
#define SETS_COST       200

typedef struct sets_cursor {
  bloom_tvf_cursor base; /* first */
  uint8_t *mask;           /* bit s%8 of byte s/8 for set s; NULL if there is none */
  size_t num_mask_bytes;
  size_t next_byte;        /* of mask, after the one in bits */
  unsigned bits;           /* of a byte of mask, those that are not rows yet */
  sqlite3_int64 set_number;
  uint64_t first_rowid;    /* of set 0, if there is one */
} sets_cursor;

static void sets_next(bloom_tvf_cursor *cursor){
  sets_cursor *sets = (sets_cursor *)cursor;
  unsigned bit = 0;
  while( sets->bits==0 ){
    uint64_t word;
    while( sets->num_mask_bytes - sets->next_byte>=8 ){ /* of a huge file most are 0 */
      memcpy(&word, sets->mask + sets->next_byte, 8);
      if( word ) break;
      sets->next_byte += 8;
    }
    if( sets->next_byte==sets->num_mask_bytes ) return;
    sets->bits = sets->mask[sets->next_byte++];
  }
  assert( sets->next_byte>0 && sets->next_byte<=sets->num_mask_bytes );
  while( !(sets->bits >> bit & 1) ) bit++;
  sets->bits &= sets->bits - 1;
  sets->set_number = (sqlite3_int64)(sets->next_byte - 1) * 8 + bit;
  cursor->rowid = (sqlite3_int64)(sets->first_rowid + (uint64_t)sets->set_number);
  cursor->has_row = 1;
}

static int sets_start(bloom_tvf_cursor *cursor, sqlite3_value **args){
  sets_cursor *sets = (sets_cursor *)cursor;
  bloom_filter storage;
  const bloom_filter *file;
  bloom_stoppable stoppable;
  bloom_hash_value hash;
  bloom_key_kind kind;
  int rc = bloom_filter_arg(cursor->db, args[0], &storage, &file);
  if( rc==SQLITE_MISMATCH || (file && file->encoding!=&bloom_encoding_bloomfile) ){
    char **error = &cursor->base.pVtab->zErrMsg;
    const void *handle = sqlite3_value_pointer(args[1], bloom_handle_type);
    const char *hint = sqlite3_value_type(args[1])==SQLITE_BLOB
        || bloom_handle_find(cursor->db, handle) ? "; the file comes first" : "";
    return file ? bloom_fail_vtab(error, NO_BLOOMFILE "%lld bytes that are none%s",
                                  (sqlite3_int64)file->shape.num_bytes, hint)
        : bloom_fail_vtab(error, NO_BLOOMFILE "%s%s", bloom_type_name(args[0]), hint);
  }
  if( rc!=SQLITE_OK || file==NULL ) return rc;
  kind = bloom_hash_of_key(file->encoding, args[1], &hash);
  if( kind==BLOOM_KEY_NULL ) return SQLITE_OK;
  if( kind==BLOOM_KEY_NOMEM ) return SQLITE_NOMEM;
  sets->num_mask_bytes = bloom_bloomfile_unit_bytes(&file->shape);
  sets->mask = sqlite3_malloc64(sets->num_mask_bytes);
  if( sets->mask==NULL ) return SQLITE_NOMEM;
  bloom_stoppable_init(&stoppable, cursor->db, file);
  rc = bloom_bloomfile_sets(&stoppable.filter, hash, sets->mask, NULL);
  if( rc<=0 ) return rc<0 ? SQLITE_INTERRUPT : SQLITE_OK;
  if( cursor->wants_rowids ){
    if( bloom_db_is_interrupted(cursor->db) ) return SQLITE_INTERRUPT;
    sets->first_rowid = bloom_xxh3(file->bytes, file->shape.num_bytes) + hash;
  }
  sets_next(cursor);
  return SQLITE_OK;
}

static void sets_column(const bloom_tvf_cursor *cursor, sqlite3_context *context, int column){
  (void)column;
  sqlite3_result_int64(context, ((const sets_cursor *)cursor)->set_number);
}

static void sets_clear(bloom_tvf_cursor *cursor){
  sqlite3_free(((sets_cursor *)cursor)->mask);
}

const bloom_tvf bloom_sets_tvf = {
  .name = "bloom_sets",
  .call = "bloom_sets(file, key)",
  .schema =
      "CREATE TABLE bloom_sets(set_number INTEGER, argument_1 BLOB HIDDEN, argument_2 BLOB HIDDEN)",
  .num_columns = 1,
  .num_args = 2,
  .num_rows = SETS_USUAL_ROWS,
  .cost = SETS_COST,
  .cursor_bytes = sizeof(sets_cursor),
  .start = sets_start,
  .next = sets_next,
  .column = sets_column,
  .clear = sets_clear,
};
