/*
** bloom_filter(key, ...): a handle, for one statement, of a filter that contains whatever `=`
** between the keys finds: if any `=` can find two values equal, they share at least one hash.
**
** `=` compares by the affinities and the collation of its two sides, which SQLite does not tell a
** function.  So a value has a hash for each way in which it may be compared, by any affinities and
** by BINARY, NOCASE or RTRIM.  Filters that follow a column know its affinity and collation, and
** need fewer hashes: source/equality.h.
**
**   INTEGER   the INTEGER
**   REAL      the INTEGER that it is equal to or near to; unless that is enough, its cell (key.h),
**             for TEXT affinity compares REALs by their texts
**   TEXT      the INTEGER ('01', ' 1') or REAL ('1.0', '1e3') that numeric affinity makes of it;
**             else the text
**   BLOB      the bytes
**
** A text is hashed without the blanks at its end, in small letters, up to its first NUL, behind
** which NOCASE does not compare.  SQLite searches an index on a REAL column for the REAL next to an
** INTEGER beyond 2^53, so such INTEGERs are looked up as REALs, too, or may be there.
** Source: sqlite.org/datatype3.html, sections 3, 4.2 and 7.1.
**
** Several keys are one: a row is stored by each combination of its values' hashes, and looked up
** by each of its own.  Of more than three keys a number has one hash only, that of its first 12
** digits, so that a row is stored once.
**
** The filter, in Parquet's encoding, lies in the handle alone.  A window removes its oldest row, so
** all hashes are kept to the end.  Where handles have run out, or the application has SQLite write
** REALs with fewer than 15 digits, the result is NULL: every key may be there.
*/
#include <float.h>
#include <string.h>

#include "../../core/bytes.h"
#include "../../core/debug.h"
#include "../../core/parquet/parquet.h"
#include "../connection.h"
#include "../errors.h"
#include "../handle.h"
#include "../hash_queue.h"
#include "../key.h"
#include "../size_args.h"
#include "../source/equality.h"
#include "functions.h"

/* The size at which 1 % of other keys pass. */
static const bloom_size_args filter_size = {&bloom_encoding_parquet, 10.6, BLOOM_NO_CAPACITY};

/* After so many hashes the size is checked against SQLite's limit. */
#define FILTER_CHECK_HASHES 16384

/* Rows of more keys are hashed by the cells of their numbers (key.h). */
#define MAX_EXACT_KEYS 3

/* The most combinations that a row is looked up by; with more it may be there. */
#define MAX_COMBINATIONS 64

/* Which kinds of keys the filter holds, so that a look-up skips hashes that could match none. */
typedef struct equal_kinds {
  char has_large_integer; /* beyond 2^53 */
  char has_large_real;    /* beyond 2^53 */
} equal_kinds;

/* Memory set to zero is an aggregate that saw no row. */
typedef struct filter_state {
  bloom_hash_queue queue;
  equal_kinds kinds;
  int num_keys; /* of a row; 0 before the first */
} filter_state;

/* The hashes of a row; none if one of its keys is NULL. */
typedef struct row_hashes {
  int num_hashes;
  int is_maybe; /* of a look-up: too many combinations, or a key that may be there */
  uint64_t hashes[MAX_COMBINATIONS];
} row_hashes;

#define TWO_63 9223372036854775808.0

/* -- Texts ----------------------------------------------------------------------------------- */

#define EACH_BYTE 0x0101010101010101u

/* Returns a word that has the last bytes of a text, all of them if there are at most 8.  Some may
** be in it twice. */
static inline uint64_t last_word(const uint8_t *text, size_t num_bytes){
  assert( num_bytes>0 );
  if( num_bytes>=8 ) return bloom_load64_le(text + num_bytes - 8);
  if( num_bytes>=4 ){
    return (uint64_t)bloom_load32_le(text + num_bytes - 4) << 32 | bloom_load32_le(text);
  }
  return EACH_BYTE*' ' << 24 | (uint64_t)text[num_bytes-1] << 16 |
         (uint64_t)text[num_bytes/2] << 8 | text[0];
}

typedef struct folded_text {
  uint64_t hash;
  uint64_t nul, letters; /* 0x80 in a byte: there is a NUL, a letter that no number has */
} folded_text;

/* Hashes a text without the blanks at its end, in small letters: in each character from '@' on it
** sets the bit that makes a capital small.  So '[' is taken for '{', but no two of UTF-8's longer
** characters of one length become equal. */
static inline folded_text fold_text(const uint8_t *text, size_t num_bytes){
  const uint64_t prime1 = 0x9e3779b185ebca87u;
  folded_text folded = {0, 0, 0};
  size_t i;
  while( num_bytes>0 && text[num_bytes-1]==' ' ) num_bytes--;
  folded.hash = num_bytes * BLOOM_GOLDEN_RATIO;
  for(i=0; i<num_bytes; i+=8){
    const uint64_t word = i+8<num_bytes ? bloom_load64_le(text + i) : last_word(text, num_bytes);
    const uint64_t small = word | (word & EACH_BYTE*0x40) >> 1, from_e = small ^ EACH_BYTE*'e';
    folded.nul |= (word - EACH_BYTE) & ~word;
    /* No number has characters from '@' on, but for e. */
    folded.letters |= (small | small << 1)
        & (((from_e & EACH_BYTE*0x7f) + EACH_BYTE*0x7f) | from_e);
    /* XXH64's step for eight bytes mixes the word first, so that differences in two words do not
    ** cancel each other.  Source: xxHash, doc/xxhash_spec.md. */
    folded.hash ^= bloom_rotate_left64(small * 0xc2b2ae3d27d4eb4fu, 31) * prime1;
    folded.hash = bloom_rotate_left64(folded.hash, 27) * prime1 + 0x85ebca77c2b2ae63u;
  }
  folded.hash = bloom_mix64(folded.hash);
  return folded;
}

/* So many digits are an integer below 2^53. */
#define MAX_SMALL_DIGITS 15

/* Returns 1 and sets *hash if a TEXT, with a NUL behind it, has one hash: it is few digits and
** nothing else, or it is no number and has no NUL.  Else returns 0, with *hash undefined. */
static int equal_plain_text(const uint8_t *text, size_t num_bytes, uint64_t *hash){
  folded_text folded;
  if( num_bytes<=MAX_SMALL_DIGITS && text[0]>='0' && text[0]<='9' ){
    int64_t integer = 0;
    size_t i;
    for(i=0; i<num_bytes && text[i]>='0' && text[i]<='9'; i++){
      integer = 10*integer + (text[i] - '0');
    }
    *hash = bloom_parquet_hash_int64(integer);
    if( i==num_bytes ) return 1;
  }
  folded = fold_text(text, num_bytes);
  *hash = folded.hash;
  if( folded.nul & EACH_BYTE*0x80 ) return 0;
  return (folded.letters & EACH_BYTE*0x80) || !bloom_bytes_may_be_number(text, num_bytes);
}

/* -- REALs ----------------------------------------------------------------------------------- */

/* Returns 1 and sets *hash if a REAL has one hash: it is an integer, or far from any and from other
** cells. */
static int equal_plain_real(double real, uint64_t *hash){
  const uint64_t steps = bloom_steps_of(real), cell = bloom_first_cell(steps);
  int64_t integer;
  if( bloom_real_is_near_integer(real, &integer) ){
    *hash = bloom_parquet_hash_int64(integer);
    return bloom_real_is_whole(real);
  }
  *hash = bloom_hash_of_cell(real, cell);
  return cell==bloom_last_cell(steps) && real>-(double)BLOOM_LARGE_INTEGER
      && real<(double)BLOOM_LARGE_INTEGER;
}

static int is_large_real(double real){
  return real>=(double)BLOOM_LARGE_INTEGER || real<=-(double)BLOOM_LARGE_INTEGER;
}

/* Returns 1 if a REAL may equal INTEGERs beyond 2^53. */
static int may_be_large_integer(double real){
  return is_large_real(real) && real>=-TWO_63 && real<=TWO_63;
}

/* -- Values: the hashes to store them by or, is_query, to look them up by -------------------- */

/* Returns 1 and sets *hash if a value has one hash, to store it and to look it up by, as most
** values have: without it a row of bloom_filter() and of a look-up takes 13 to 37 % longer. */
static inline int has_one_hash(sqlite3_value *value, uint64_t *hash){
  const int type = sqlite3_value_type(value);
  if( type==SQLITE_INTEGER ){
    const int64_t integer = sqlite3_value_int64(value);
    *hash = bloom_parquet_hash_int64(integer);
    return !bloom_is_large_integer(integer);
  }
  if( type==SQLITE_TEXT ){
    const uint8_t *text = sqlite3_value_text(value);
    return text && equal_plain_text(text, (size_t)sqlite3_value_bytes(value), hash);
  }
  return type==SQLITE_FLOAT && equal_plain_real(sqlite3_value_double(value), hash);
}

static void push_equal_cells(double real, bloom_key_hashes *hashes){
  const uint64_t steps = bloom_steps_of(real);
  assert( bloom_last_cell(steps)<=bloom_first_cell(steps) + 1 );
  bloom_push_hash(hashes, bloom_hash_of_cell(real, bloom_first_cell(steps)));
  bloom_push_hash(hashes, bloom_hash_of_cell(real, bloom_last_cell(steps)));
}

static void push_equal_integer(equal_kinds *kinds, int is_query, int64_t integer,
                               bloom_key_hashes *hashes){
  bloom_push_hash(hashes, bloom_parquet_hash_int64(integer));
  if( !bloom_is_large_integer(integer) ) return;
  if( !is_query ) kinds->has_large_integer = 1;
  else if( kinds->has_large_real ) push_equal_cells((double)integer, hashes);
}

static void push_equal_real(equal_kinds *kinds, int is_query, double real,
                            bloom_key_hashes *hashes){
  int64_t integer;
  if( bloom_real_is_near_integer(real, &integer) ){
    bloom_push_hash(hashes, bloom_parquet_hash_int64(integer));
  }
  if( bloom_real_is_whole(real) ) return;
  if( is_query ){
    push_equal_cells(real, hashes);
    if( kinds->has_large_integer && may_be_large_integer(real) ) hashes->is_maybe = 1;
  }else{
    bloom_push_hash(hashes, bloom_hash_of_cell(real, bloom_cell_of(bloom_steps_of(real))));
    if( is_large_real(real) ) kinds->has_large_real = 1;
  }
}

/* Pushes the hashes of a TEXT.  A TEXT beyond 2^53 that is written as a REAL may be an INTEGER to
** versions that read as far as a NUL, which ends at 2^63. */
static int push_equal_text(equal_kinds *kinds, int is_query, sqlite3_value *value,
                           bloom_key_hashes *hashes){
  const uint8_t *text = sqlite3_value_text(value);
  const size_t num_bytes = (size_t)sqlite3_value_bytes(value);
  double real;
  int is_number;
  if( text==NULL ) return SQLITE_NOMEM;
  is_number = bloom_bytes_may_be_number(text, num_bytes);
  if( is_number==0 ){
    const uint8_t *nul = memchr(text, 0, num_bytes);
    bloom_push_hash(hashes, fold_text(text, nul ? (size_t)(nul - text) : num_bytes).hash);
    return SQLITE_OK;
  }
  if( is_number==BLOOM_IS_INTEGER ){
    push_equal_integer(kinds, is_query, sqlite3_value_int64(value), hashes);
    return SQLITE_OK;
  }
  real = sqlite3_value_double(value);
  if( may_be_large_integer(real) ){
    push_equal_integer(kinds, is_query, sqlite3_value_int64(value), hashes);
  }
  push_equal_real(kinds, is_query, real, hashes);
  return SQLITE_OK;
}

/* Sets *hashes to those to store a value by, and adds its kind to *kinds; or, is_query, to those to
** look it up by among keys of these kinds.  SQLITE_OK or SQLITE_NOMEM. */
static int equal_hashes_of(equal_kinds *kinds, int is_query, sqlite3_value *value,
                           bloom_key_hashes *hashes){
  const void *bytes;
  size_t num_bytes;
  double real;
  hashes->num_hashes = hashes->is_maybe = 0;
  switch( sqlite3_value_type(value) ){
    case SQLITE_INTEGER:
      push_equal_integer(kinds, is_query, sqlite3_value_int64(value), hashes);
      return SQLITE_OK;
    case SQLITE_FLOAT:
      real = sqlite3_value_double(value);
      push_equal_real(kinds, is_query, real, hashes);
      /* The text of infinity is no number. */
      if( real>DBL_MAX ) bloom_push_hash(hashes, fold_text((const uint8_t *)"Inf", 3).hash);
      if( real<-DBL_MAX ) bloom_push_hash(hashes, fold_text((const uint8_t *)"-Inf", 4).hash);
      return SQLITE_OK;
    case SQLITE_TEXT:
      return push_equal_text(kinds, is_query, value, hashes);
    default:
      bytes = sqlite3_value_blob(value);
      num_bytes = (size_t)sqlite3_value_bytes(value);
      /* An empty BLOB has no address. */
      if( bytes==NULL && num_bytes>0 ) return SQLITE_NOMEM;
      bloom_push_hash(hashes, bloom_xxh64(bytes, num_bytes) ^ BLOOM_GOLDEN_RATIO);
      return SQLITE_OK;
  }
}

/* -- Rows ------------------------------------------------------------------------------------ */

/* Sets *row to the hashes to store a row by in a filter of these kinds, or, is_query, to look it up
** by.  SQLITE_OK or SQLITE_NOMEM. */
static int hash_row(equal_kinds *kinds, int is_query, int num_keys, sqlite3_value **keys,
                    row_hashes *row){
  int i, j, k;
  row->num_hashes = row->is_maybe = 0;
  for(i=0; i<num_keys; i++){
    if( sqlite3_value_type(keys[i])==SQLITE_NULL ) return SQLITE_OK;
  }
  assert( num_keys>0 );
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
    }else if( num_keys==1 || !has_one_hash(keys[i], &key.hashes[0]) ){
      rc = equal_hashes_of(kinds, is_query, keys[i], &key);
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
  assert( row->num_hashes<=MAX_COMBINATIONS && (is_query || !row->is_maybe) );
  return SQLITE_OK;
}

/* -- Building -------------------------------------------------------------------------------- */

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
  int rc;
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
  assert( state->num_keys==num_keys );
  if( num_keys==1 && has_one_hash(keys[0], &hash) ){
    rc = push_hash(context, state, hash);
  }else{
    int i;
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
  assert( state->num_keys==num_keys );
  for(i=0; rc==SQLITE_OK && i<row.num_hashes; i++) bloom_hash_queue_pop(&state->queue);
  bloom_fail_code(context, rc);
}

/* -- Looking up ------------------------------------------------------------------------------ */

/* Returns the kinds of a handle's keys, which stand before the filter in its bytes. */
static equal_kinds *kinds_of(bloom_handle *handle){
  return (equal_kinds *)handle->bytes; /* two char */
}

static int test_keys(void *data, int num_keys, sqlite3_value **keys){
  bloom_handle *handle = data;
  const bloom_filter *filter = &handle->filter;
  row_hashes row;
  uint64_t hash;
  int i;
  assert( handle->num_keys==0 || handle->num_keys==num_keys );
  if( num_keys==1 && has_one_hash(keys[0], &hash) ){
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
  rc = bloom_handle_open(connection, sizeof(equal_kinds) + BLOOM_HANDLE_SLACK + shape.num_bytes,
                         &handle);
  if( rc==SQLITE_NOMEM ) sqlite3_result_error_nomem(context);
  if( rc!=SQLITE_OK ) return; /* none left: NULL */
  bytes = bloom_handle_room(handle, sizeof(equal_kinds),
                            shape.num_bytes - (size_t)(shape.num_bits / 8));
  encoding->clear(&shape, bytes);
  encoding->add(&shape, bytes, bloom_hash_queue_runs(&state->queue));
  encoding->read(bytes, shape.num_bytes, &handle->filter);
  assert( bloom_shapes_are_equal(&handle->filter.shape, &shape) );
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
