/*
** Hashes of keys that some `=` finds equal.
*/
#include "equal_keys.h"

#include <string.h>

#include "../core/bytes.h"
#include "key.h"
#include "source/equality.h"

/* Below this 15 digits, the least that SQLite writes by itself, are all digits of an
** integer. */
#define MIN_CUT_INTEGER ((int64_t)1000000000000000)

/* Decimals of at most ten digits, four of them behind the point, which every SQLite reads as
** the nearest REAL. */
#define SHORT_DECIMAL_SCALE 1e4
#define MAX_SHORT_DECIMAL   1e10

/* REALs beyond may be infinite when they are rounded. */
#define MAX_CUT_REAL 1e308

void bloom_equal_kinds_init(bloom_equal_kinds *kinds, sqlite3 *db){
  const int num_digits = bloom_db_real_digits(db);
  *kinds = (bloom_equal_kinds){
    .has_odd_digits = num_digits!=15 && num_digits!=17,
    .cuts_reals = num_digits==15 && sqlite3_libversion_number()<3052000,
  };
}

/* ---- Texts --------------------------------------------------------------------------- */

#define EACH_BYTE 0x0101010101010101u

/* A word of eight characters with small letters.  The bit that makes capitals small is set in all
** characters from '@' on: '[' is taken for '{', and of UTF-8's first bytes, which have it or stand
** for fewer bytes, none for another. */
static inline uint64_t lower_word(uint64_t word){
  return word | (word & EACH_BYTE*0x40) >> 1;
}

/* Has 0x80 in one character, at least, if one of a word's characters is NUL. */
static inline uint64_t nul_in_word(uint64_t word){
  return (word - EACH_BYTE) & ~word;
}

/* Has 0x80 in each character that no number has: from '@' on all but e.  The word is small. */
static inline uint64_t letters_in_word(uint64_t word){
  const uint64_t from_e = word ^ EACH_BYTE*'e';
  return (word | word << 1) & (((from_e & EACH_BYTE*0x7f) + EACH_BYTE*0x7f) | from_e);
}

/* The last 1 .. 8 characters of a text; of a text with more than 3 also ones before them. */
static inline uint64_t last_word(const uint8_t *text, size_t num_bytes){
  if( num_bytes>=8 ) return bloom_load64_le(text + num_bytes - 8);
  if( num_bytes>=4 ) return (uint64_t)bloom_load32_le(text + num_bytes - 4) << 32 | bloom_load32_le(text);
  return EACH_BYTE*' ' << 24 | (uint64_t)text[num_bytes-1] << 16 | (uint64_t)text[num_bytes/2] << 8 | text[0];
}

typedef struct folded_text {
  uint64_t hash;
  int has_nul;
  int has_letter; /* among its first 8 characters */
} folded_text;

/* The product's best bits are its highest: they go down, to meet all bits of the next word. */
static inline uint64_t add_word(uint64_t hash, uint64_t word){
  return bloom_rotate_left64((hash ^ word) * 0x9e3779b185ebca87u, 32);
}

/* The end of XXH64.  Source: xxHash, doc/xxhash_spec.md. */
static inline uint64_t end_words(uint64_t hash){
  hash = (hash ^ hash >> 33) * 0xc2b2ae3d27d4eb4fu;
  hash = (hash ^ hash >> 29) * 0x165667b19e3779f9u;
  return hash ^ hash >> 32;
}

static inline folded_text fold_text(const uint8_t *text, size_t num_bytes){
  uint64_t hash, word = 0, letters = 0, nul = 0;
  size_t i;
  while( num_bytes>0 && text[num_bytes-1]==' ' ) num_bytes--;
  hash = num_bytes * BLOOM_GOLDEN_RATIO;
  if( num_bytes>8 ) letters = letters_in_word(lower_word(bloom_load64_le(text)));
  for(i=0; i+8<num_bytes; i+=8){
    word = bloom_load64_le(text + i);
    nul |= nul_in_word(word);
    hash = add_word(hash, lower_word(word));
  }
  if( num_bytes>0 ){
    word = last_word(text, num_bytes);
    nul |= nul_in_word(word);
    hash = add_word(hash, lower_word(word));
    if( num_bytes<=8 ) letters = letters_in_word(lower_word(word));
  }
  return (folded_text){end_words(hash), (nul & EACH_BYTE*0x80)!=0, (letters & EACH_BYTE*0x80)!=0};
}

static uint64_t hash_of_text(const uint8_t *text, size_t num_bytes){
  const uint8_t *nul = num_bytes ? memchr(text, 0, num_bytes) : NULL;
  return fold_text(text, nul ? (size_t)(nul - text) : num_bytes).hash;
}

/* Digits that are at most so many are a small integer. */
#define MAX_SMALL_DIGITS 15

int bloom_equal_plain_hash(const uint8_t *text, size_t num_bytes, uint64_t *hash){
  folded_text folded;
  if( num_bytes<=MAX_SMALL_DIGITS && text[0]>='0' && text[0]<='9' ){
    int64_t integer = 0;
    size_t i;
    for(i=0; i<num_bytes && text[i]>='0' && text[i]<='9'; i++) integer = 10*integer + (text[i] - '0');
    *hash = bloom_parquet_hash_int64(integer);
    if( i==num_bytes ) return 1;
  }
  folded = fold_text(text, num_bytes);
  *hash = folded.hash;
  return !folded.has_nul && (folded.has_letter || !bloom_bytes_may_be_number(text, num_bytes));
}

/* Returns 1 and sets *integer if a text is a 64-bit integer to numeric affinity, with blanks
** around it and zeros in front. */
static int read_integer(const uint8_t *text, size_t num_bytes, int64_t *integer){
  const uint8_t *end = text + num_bytes;
  uint64_t magnitude = 0;
  int is_negative = 0, num_digits = 0;
  while( text<end && bloom_is_space((char)*text) ) text++;
  if( text<end && (*text=='-' || *text=='+') ) is_negative = *text++=='-';
  for(; text<end && *text>='0' && *text<='9'; text++, num_digits++){
    if( magnitude>(UINT64_MAX - 9) / 10 ) return 0;
    magnitude = 10*magnitude + (uint64_t)(*text - '0');
  }
  while( text<end && bloom_is_space((char)*text) ) text++;
  if( num_digits==0 || text<end || magnitude>(uint64_t)INT64_MAX + (uint64_t)is_negative ) return 0;
  *integer = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
  return 1;
}

/* ---- Values ------------------------------------------------------------------------------ */

/* All that a value may be compared as. */
typedef struct equal_forms {
  char is_integer, is_real, is_text;
  char is_large_real;
  char has_text; /* a REAL that another type may find by its text alone */
  int64_t integer;
  uint64_t real_hash, text_hash;
} equal_forms;

static int is_large_real(double real){
  return real>=(double)BLOOM_LARGE_INTEGER || real<=-(double)BLOOM_LARGE_INTEGER;
}

/* 1 if the text of a REAL is surely read as that REAL again. */
static int is_read_back(double real){
  const double scaled = real * SHORT_DECIMAL_SCALE;
  int64_t integer;
  if( bloom_real_is_integer(real, &integer) ) return integer>-MIN_CUT_INTEGER && integer<MIN_CUT_INTEGER;
  if( !(scaled>-MAX_SHORT_DECIMAL && scaled<MAX_SHORT_DECIMAL) ) return 0;
  return (double)(int64_t)(scaled + (scaled<0 ? -0.5 : 0.5)) / SHORT_DECIMAL_SCALE==real;
}

/* 1 if a REAL is known by its 15 digits. */
static int is_cut(const bloom_equal_kinds *kinds, double real){
  return kinds->cuts_reals && real>=-MAX_CUT_REAL && real<=MAX_CUT_REAL;
}

/* The hash of a number.  Where SQLite writes 15 digits, REALs are equal to TEXT affinity if these are,
** and so they are known by them. */
static uint64_t hash_of_real(const bloom_equal_kinds *kinds, double real){
  uint64_t bits;
  int64_t integer;
  int is_exact;
  if( is_cut(kinds, real) && !is_read_back(real) ) real = bloom_real_of_15_digits(real, &is_exact);
  if( bloom_real_is_integer(real, &integer) && !bloom_is_large_integer(integer) ) return bloom_parquet_hash_int64(integer);
  memcpy(&bits, &real, sizeof(bits));
  return ~bloom_parquet_hash_int64((int64_t)bits);
}

static void set_real(const bloom_equal_kinds *kinds, equal_forms *forms, double real){
  forms->is_integer = bloom_real_is_integer(real, &forms->integer) && !bloom_is_large_integer(forms->integer);
  forms->is_real = !forms->is_integer || !is_read_back(real);
  if( forms->is_real ) forms->real_hash = hash_of_real(kinds, real);
  forms->is_large_real = (char)is_large_real(real);
}

/* A TEXT beyond 2^53 that is written as a REAL is both, since an index may have it as one. */
static int set_text(const bloom_equal_kinds *kinds, equal_forms *forms, sqlite3_value *value){
  const uint8_t *text = sqlite3_value_text(value);
  const size_t num_bytes = (size_t)sqlite3_value_bytes(value);
  if( text==NULL ) return SQLITE_NOMEM;
  if( read_integer(text, num_bytes, &forms->integer) ){
    forms->is_integer = 1;
    return SQLITE_OK;
  }
  forms->is_text = 1;
  forms->text_hash = hash_of_text(text, num_bytes);
  if( !bloom_bytes_may_be_number(text, num_bytes) ) return SQLITE_OK;
  set_real(kinds, forms, sqlite3_value_double(value));
  if( forms->is_large_real ){
    forms->is_integer = 1;
    forms->integer = sqlite3_value_int64(value);
  }
  return SQLITE_OK;
}

/* A REAL's text as this SQLite writes it. */
static int set_text_of_real(equal_forms *forms, sqlite3_value *value){
  const uint8_t *text = sqlite3_value_text(value);
  if( text==NULL ) return SQLITE_NOMEM;
  forms->has_text = 1;
  forms->text_hash = hash_of_text(text, (size_t)sqlite3_value_bytes(value));
  return SQLITE_OK;
}

static void push_equal(bloom_equal_hashes *hashes, uint64_t hash){
  int i;
  for(i=0; i<hashes->num_hashes; i++){
    if( hashes->hashes[i]==hash ) return;
  }
  hashes->hashes[hashes->num_hashes++] = hash;
}

static int push_blob(sqlite3_value *value, bloom_equal_hashes *hashes){
  const void *bytes = sqlite3_value_blob(value);
  const size_t num_bytes = (size_t)sqlite3_value_bytes(value);
  /* An empty BLOB has no address. */
  if( bytes==NULL && num_bytes>0 ) return SQLITE_NOMEM;
  push_equal(hashes, bloom_parquet_hash_bytes(bytes, num_bytes) ^ BLOOM_GOLDEN_RATIO);
  return SQLITE_OK;
}

static void push_stored(bloom_equal_kinds *kinds, const equal_forms *forms, bloom_equal_hashes *hashes){
  if( forms->is_integer ){
    push_equal(hashes, bloom_parquet_hash_int64(forms->integer));
    if( bloom_is_large_integer(forms->integer) ) kinds->has_large_integer = 1;
  }
  if( forms->is_real ){
    push_equal(hashes, forms->real_hash);
    if( forms->is_large_real ) kinds->has_large_real = 1;
  }
  if( forms->is_text || forms->has_text ) push_equal(hashes, forms->text_hash);
  if( forms->is_text ) kinds->has_text = 1;
  if( forms->has_text ) kinds->has_real_text = 1;
}

static void push_asked(const bloom_equal_kinds *kinds, const equal_forms *forms, bloom_equal_hashes *hashes){
  if( forms->is_integer ) push_equal(hashes, bloom_parquet_hash_int64(forms->integer));
  if( forms->is_real ){
    push_equal(hashes, forms->real_hash);
    hashes->is_maybe = kinds->has_large_integer && forms->is_large_real;
  }else if( forms->is_integer && bloom_is_large_integer(forms->integer) && kinds->has_large_real ){
    push_equal(hashes, hash_of_real(kinds, (double)forms->integer));
  }
  /* A TEXT that is a number is known by that, but to REALs that are known by their texts. */
  if( forms->has_text || (forms->is_text && (hashes->num_hashes==0 || kinds->has_real_text)) ){
    push_equal(hashes, forms->text_hash);
  }
}

int bloom_equal_hashes_of(bloom_equal_kinds *kinds, int is_query, sqlite3_value *value, bloom_equal_hashes *hashes){
  const int type = sqlite3_value_type(value);
  equal_forms forms = {.is_integer = 0};
  double real;
  int rc = SQLITE_OK;
  hashes->num_hashes = hashes->is_maybe = 0;
  switch( type ){
    case SQLITE_NULL:
      return SQLITE_OK;
    case SQLITE_INTEGER:
      forms.is_integer = 1;
      forms.integer = sqlite3_value_int64(value);
      break;
    case SQLITE_FLOAT:
      real = sqlite3_value_double(value);
      set_real(kinds, &forms, real);
      /* It takes long to write a REAL: only if there is a text to find. */
      if( (!is_query || kinds->has_text) && (kinds->has_odd_digits || !(is_read_back(real) || is_cut(kinds, real))) ){
        rc = set_text_of_real(&forms, value);
      }
      break;
    case SQLITE_TEXT:
      rc = set_text(kinds, &forms, value);
      break;
    default:
      return push_blob(value, hashes);
  }
  if( rc!=SQLITE_OK ) return rc;
  if( is_query ) push_asked(kinds, &forms, hashes);
  else push_stored(kinds, &forms, hashes);
  return SQLITE_OK;
}
