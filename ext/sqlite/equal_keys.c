/*
** Hashes of keys that some `=` finds equal.
*/
#include "equal_keys.h"

#include <float.h>
#include <string.h>

#include "../core/bytes.h"
#include "../core/debug.h"

#define TWO_63 9223372036854775808.0

/* ---- Texts --------------------------------------------------------------------------- */

#define EACH_BYTE 0x0101010101010101u

/* Returns the last 1 .. 8 characters of a text; of a text with more than 3 also ones before
** them. */
static inline uint64_t last_word(const uint8_t *text, size_t num_bytes){
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

int bloom_equal_plain_text(const uint8_t *text, size_t num_bytes, uint64_t *hash){
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

/* ---- REALs ------------------------------------------------------------------------------- */

int bloom_equal_plain_real(double real, uint64_t *hash){
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

/* ---- Values: the hashes to store them by or, is_query, to look them up by --------------- */

static void push_equal_hash(bloom_key_hashes *hashes, uint64_t hash){
  int i;
  for(i=0; i<hashes->num_hashes; i++){
    if( hashes->hashes[i]==hash ) return;
  }
  assert( hashes->num_hashes<BLOOM_MAX_KEY_HASHES );
  hashes->hashes[hashes->num_hashes++] = hash;
}

static void push_equal_cells(double real, bloom_key_hashes *hashes){
  const uint64_t steps = bloom_steps_of(real);
  push_equal_hash(hashes, bloom_hash_of_cell(real, bloom_first_cell(steps)));
  push_equal_hash(hashes, bloom_hash_of_cell(real, bloom_last_cell(steps)));
}

static void push_equal_integer(bloom_equal_kinds *kinds, int is_query, int64_t integer,
                         bloom_key_hashes *hashes){
  push_equal_hash(hashes, bloom_parquet_hash_int64(integer));
  if( !bloom_is_large_integer(integer) ) return;
  if( !is_query ) kinds->has_large_integer = 1;
  else if( kinds->has_large_real ) push_equal_cells((double)integer, hashes);
}

static void push_equal_real(bloom_equal_kinds *kinds, int is_query, double real,
                      bloom_key_hashes *hashes){
  int64_t integer;
  if( bloom_real_is_near_integer(real, &integer) ){
    push_equal_hash(hashes, bloom_parquet_hash_int64(integer));
  }
  if( bloom_real_is_whole(real) ) return;
  if( is_query ){
    push_equal_cells(real, hashes);
    if( kinds->has_large_integer && may_be_large_integer(real) ) hashes->is_maybe = 1;
  }else{
    push_equal_hash(hashes, bloom_hash_of_cell(real, bloom_cell_of(bloom_steps_of(real))));
    if( is_large_real(real) ) kinds->has_large_real = 1;
  }
}

/* Pushes the hashes of a TEXT.  A TEXT beyond 2^53 that is written as a REAL may be an INTEGER to
** versions that read as far as a NUL, which ends at 2^63. */
static int push_equal_text(bloom_equal_kinds *kinds, int is_query, sqlite3_value *value,
                     bloom_key_hashes *hashes){
  const uint8_t *text = sqlite3_value_text(value);
  const size_t num_bytes = (size_t)sqlite3_value_bytes(value);
  double real;
  int is_number;
  if( text==NULL ) return SQLITE_NOMEM;
  is_number = bloom_bytes_may_be_number(text, num_bytes);
  if( is_number==0 ){
    const uint8_t *nul = memchr(text, 0, num_bytes);
    push_equal_hash(hashes, fold_text(text, nul ? (size_t)(nul - text) : num_bytes).hash);
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

int bloom_equal_hashes_of(bloom_equal_kinds *kinds, int is_query, sqlite3_value *value,
                          bloom_key_hashes *hashes){
  const void *bytes;
  size_t num_bytes;
  double real;
  hashes->num_hashes = hashes->is_maybe = 0;
  switch( sqlite3_value_type(value) ){
    case SQLITE_NULL:
      return SQLITE_OK;
    case SQLITE_INTEGER:
      push_equal_integer(kinds, is_query, sqlite3_value_int64(value), hashes);
      return SQLITE_OK;
    case SQLITE_FLOAT:
      real = sqlite3_value_double(value);
      push_equal_real(kinds, is_query, real, hashes);
      /* The text of infinity is no number. */
      if( real>DBL_MAX ) push_equal_hash(hashes, fold_text((const uint8_t *)"Inf", 3).hash);
      if( real<-DBL_MAX ) push_equal_hash(hashes, fold_text((const uint8_t *)"-Inf", 4).hash);
      return SQLITE_OK;
    case SQLITE_TEXT:
      return push_equal_text(kinds, is_query, value, hashes);
    default:
      bytes = sqlite3_value_blob(value);
      num_bytes = (size_t)sqlite3_value_bytes(value);
      /* An empty BLOB has no address. */
      if( bytes==NULL && num_bytes>0 ) return SQLITE_NOMEM;
      push_equal_hash(hashes, bloom_xxh64(bytes, num_bytes) ^ BLOOM_GOLDEN_RATIO);
      return SQLITE_OK;
  }
}
