/*
** Hashes by the rules of `=`.
*/
#include "equality.h"

#include <string.h>

#include "../../core/debug.h"
#include "../../core/parquet/hash.h"
#include "../../core/parquet/parquet.h"
#include "../key.h"
#include "sql.h"
#include "tokens.h"

/* A text of this size needs no memory to be changed in. */
#define SHORT_TEXT_BYTES 256

static char lower(char letter){
  return (char)(letter>='A' && letter<='Z' ? letter + ('a' - 'A') : letter);
}

bloom_column_kind bloom_column_kind_of(const char *declared_type){
  /* Source: sqlite.org/datatype3.html, section 3.1, in this order. */
  if( declared_type==NULL || declared_type[0]==0 ) return BLOOM_COLUMN_ANY;
  if( sqlite3_stricmp(declared_type, "ANY")==0 ) return BLOOM_COLUMN_ANY;
  if( bloom_text_has(declared_type, "INT") ) return BLOOM_COLUMN_NUMBER;
  if( bloom_text_has(declared_type, "CHAR") || bloom_text_has(declared_type, "CLOB")
   || bloom_text_has(declared_type, "TEXT") ) return BLOOM_COLUMN_TEXT;
  if( bloom_text_has(declared_type, "BLOB") ) return BLOOM_COLUMN_ANY;
  return BLOOM_COLUMN_NUMBER;
}

const char *const bloom_collation_names[BLOOM_NUM_COLLATIONS] = {"BINARY", "NOCASE", "RTRIM"};

int bloom_collation_named(const char *name, bloom_collation *collation){
  int i = 0;
  while( i<BLOOM_NUM_COLLATIONS && sqlite3_stricmp(name, bloom_collation_names[i])!=0 ) i++;
  if( i<BLOOM_NUM_COLLATIONS ) *collation = (bloom_collation)i;
  return i<BLOOM_NUM_COLLATIONS;
}

static void push(bloom_key_hashes *hashes, bloom_hash_value hash){
  int i;
  for(i=0; i<hashes->num_hashes; i++){
    if( hashes->hashes[i]==hash ) return;
  }
  assert(hashes->num_hashes<BLOOM_MAX_KEY_HASHES); /* no key has more */
  if( hashes->num_hashes<BLOOM_MAX_KEY_HASHES ) hashes->hashes[hashes->num_hashes++] = hash;
}

/* Pushes the hash of a text as its collation sees it.  SQLITE_OK or SQLITE_NOMEM. */
static int push_text(
  bloom_collation collation, const char *text, size_t num_bytes, bloom_key_hashes *hashes
){
  if( collation==BLOOM_COLLATION_RTRIM ){
    while( num_bytes>0 && text[num_bytes-1]==' ' ) num_bytes--;
  }
  if( collation==BLOOM_COLLATION_NOCASE ){
    char short_text[SHORT_TEXT_BYTES] = {0};
    char *folded = short_text;
    size_t i;
    if( num_bytes>sizeof(short_text) ){
      folded = sqlite3_malloc64(num_bytes);
      if( folded==NULL ) return SQLITE_NOMEM;
    }
    /* NOCASE compares up to a NUL that both have, and then only lengths. */
    for(i=0; i<num_bytes && text[i]; i++) folded[i] = lower(text[i]);
    if( i<num_bytes ) memset(&folded[i], 0, num_bytes - i);
    push(hashes, bloom_xxh64((const uint8_t *)folded, num_bytes));
    if( folded!=short_text ) sqlite3_free(folded);
    return SQLITE_OK;
  }
  push(hashes, bloom_xxh64((const uint8_t *)text, num_bytes));
  return SQLITE_OK;
}

static void push_real(double real, bloom_key_hashes *hashes){
  bloom_key key;
  const bloom_key_kind kind = bloom_real_key_of(real, &key);
  push(hashes, bloom_hash_of(&bloom_encoding_parquet, kind, &key));
}

/* What a text is to numeric affinity. */
typedef enum text_form {
  FORM_TEXT,    /* no number */
  FORM_INTEGER, /* of at most 18 digits: its integer alone says all that `=` tells apart */
  FORM_DECIMAL, /* of at most 15 digits, with a point or a short exponent: its REAL does */
  FORM_NUMBER   /* another: its text and its number; so are all that are infinity to SQLite */
} text_form;

/* Steps over digits from text[i] on, and counts those that matter. */
static size_t skip_digits(
  const char *text, size_t num_bytes, size_t i, int *num_digits, int *num_significant
){
  for(; i<num_bytes && text[i]>='0' && text[i]<='9'; i++){
    ++*num_digits;
    *num_significant += *num_significant>0 || text[i]!='0';
  }
  return i;
}

/* A REAL of at most 15 digits with a longer exponent may be infinity, which many texts are: hashes
** of keys, in hexadecimal, have an e among their digits. */
#define MAX_EXPONENT_DIGITS 2

static size_t skip_sign(const char *text, size_t num_bytes, size_t i){
  return i<num_bytes && (text[i]=='+' || text[i]=='-') ? i + 1 : i;
}

/* Source: sqlite.org/datatype3.html, section 3.4: blanks around a well-formed literal.  From
** 3.52 on a NUL ends the number, whatever follows. */
static text_form form_of(const char *text, size_t num_bytes){
  int num_digits = 0, num_significant = 0, num_exponent_digits = 0, is_integer = 1;
  size_t i = 0;
  while( i<num_bytes && bloom_is_space(text[i]) ) i++;
  i = skip_digits(text, num_bytes, skip_sign(text, num_bytes, i), &num_digits, &num_significant);
  if( i<num_bytes && text[i]=='.' ){
    is_integer = 0;
    i = skip_digits(text, num_bytes, i + 1, &num_digits, &num_significant);
  }
  if( num_digits==0 ) return FORM_TEXT;
  if( i<num_bytes && (text[i]=='e' || text[i]=='E') ){
    int all_exponent_digits = 0;
    is_integer = 0;
    i = skip_digits(text, num_bytes, skip_sign(text, num_bytes, i + 1), &all_exponent_digits,
                    &num_exponent_digits);
    if( all_exponent_digits==0 ) return FORM_TEXT;
  }
  while( i<num_bytes && bloom_is_space(text[i]) ) i++;
  if( i<num_bytes ) return text[i]==0 ? FORM_NUMBER : FORM_TEXT;
  if( is_integer ) return num_significant<=18 ? FORM_INTEGER : FORM_NUMBER;
  return num_significant<=15 && num_exponent_digits<=MAX_EXPONENT_DIGITS
    ? FORM_DECIMAL : FORM_NUMBER;
}

/* Below this no decimal of 19 digits is halfway between an integer and the REAL next to it. */
#define MAX_LONE_INTEGER 0x1p49

/* The REALs next to one, since versions of SQLite read some decimals as neighbouring REALs; of
** those next to an integer in common use, which all read right, none, and perhaps integers
** alone. */
static void push_neighbours(double real, int integers_alone, bloom_key_hashes *hashes){
  uint64_t bits;
  int step;
  if( real>-MAX_LONE_INTEGER && real<MAX_LONE_INTEGER && (double)(sqlite3_int64)real==real ) return;
  memcpy(&bits, &real, sizeof(bits));
  for(step=-1; step<=1; step+=2){
    const uint64_t next_bits = bits + (uint64_t)(int64_t)step;
    bloom_key key;
    double next;
    memcpy(&next, &next_bits, sizeof(next));
    if( bloom_real_key_of(next, &key)==BLOOM_KEY_INTEGER || !integers_alone ){
      push_real(next, hashes);
    }
  }
}

/* Pushes what comes after an INTEGER that a decimal may have been read as, where it is a REAL. */
static void push_next_integers(sqlite3_int64 integer, bloom_key_hashes *hashes){
  bloom_key key;
  if( bloom_real_key_of((double)integer, &key)==BLOOM_KEY_INTEGER && key.integer==integer ){
    push_neighbours((double)integer, 1, hashes);
  }
}

/* Pushes the number that a text of this form is to the SQLite that runs.  A large integer is
** one as INTEGER and as REAL.  sqlite3_value_numeric_type() would say which, but of a copy it
** crashes SQLite 3.52.0.  SQLITE_OK or SQLITE_NOMEM. */
static int push_number_of_text(
  sqlite3_value *value, text_form form, int with_neighbours, bloom_key_hashes *hashes
){
  /* A copy: the value itself may be another's to read as TEXT. */
  sqlite3_value *number = sqlite3_value_dup(value);
  double real;
  if( number==NULL ) return SQLITE_NOMEM;
  real = sqlite3_value_double(number);
  if( form!=FORM_DECIMAL ) push(hashes, bloom_parquet_hash_int64(sqlite3_value_int64(number)));
  if( form==FORM_DECIMAL || !(real>-0x1p53 && real<0x1p53)
      || (double)sqlite3_value_int64(number)!=real ){
    push_real(real, hashes);
  }
  if( with_neighbours ) push_neighbours(real, 0, hashes);
  sqlite3_value_free(number);
  return SQLITE_OK;
}

/* The bytes of a TEXT; NULL if there is no memory. */
static const char *text_of(sqlite3_value *value, size_t *num_bytes){
  const char *text = (const char *)sqlite3_value_text(value);
  *num_bytes = (size_t)sqlite3_value_bytes(value);
  return text;
}

/* The value's own hash, as the encoding has it. */
static int push_value(sqlite3_value *value, bloom_key_hashes *hashes){
  bloom_hash_value hash;
  const bloom_key_kind kind = bloom_hash_of_key(&bloom_encoding_parquet, value, &hash);
  if( kind==BLOOM_KEY_NOMEM ) return SQLITE_NOMEM;
  if( kind!=BLOOM_KEY_NULL ) push(hashes, hash);
  return SQLITE_OK;
}

/* What the hashes of a TEXT are for. */
typedef enum text_use { TO_STORE, TO_LOOK_FOR, TO_LOOK_FOR_LITERAL } text_use;

static int push_text_key(
  bloom_equality rule, sqlite3_value *value, text_use use, bloom_key_hashes *hashes
){
  size_t num_bytes;
  const char *text = text_of(value, &num_bytes);
  text_form form;
  int rc = SQLITE_OK;
  if( text==NULL ) return SQLITE_NOMEM;
  form = form_of(text, num_bytes);
  if( form==FORM_TEXT || form==FORM_NUMBER ){
    rc = push_text(rule.collation, text, num_bytes, hashes);
  }
  if( rc!=SQLITE_OK || form==FORM_TEXT ) return rc;
  if( use==TO_LOOK_FOR_LITERAL && form==FORM_NUMBER ) return rc;
  /* A long number is one, too: the other side may have numeric affinity and yet hold a TEXT, as a
  ** column of a compound SELECT does. */
  return push_number_of_text(value, form, use!=TO_STORE && form!=FORM_INTEGER, hashes);
}

/* Pushes a REAL rounded to 15 digits, which old versions write it with. */
static void push_rounded(double real, int with_neighbours, bloom_key_hashes *hashes){
  int is_exact = 1;
  const double rounded = real>=-1e308 && real<=1e308
    ? bloom_real_of_15_digits(real, &is_exact) : real;
  push_real(rounded, hashes);
  if( with_neighbours || !is_exact ) push_neighbours(rounded, 0, hashes);
}

int bloom_insert_hashes(bloom_equality rule, sqlite3_value *value, bloom_key_hashes *hashes){
  const int type = sqlite3_value_type(value);
  int rc;
  hashes->num_hashes = 0;
  if( type==SQLITE_TEXT && rule.kind!=BLOOM_COLUMN_NONE ){
    return push_text_key(rule, value, TO_STORE, hashes);
  }
  rc = push_value(value, hashes);
  if( rc==SQLITE_OK && type==SQLITE_FLOAT && rule.kind==BLOOM_COLUMN_ANY ){
    push_rounded(sqlite3_value_double(value), 0, hashes);
  }
  return rc;
}

/* What a REAL may be equal to in a column that can hold TEXT: its text, as this SQLite writes
** it, and the decimals that are read as the REAL or next to it. */
static int push_texts_of_real(bloom_equality rule, sqlite3_value *value, bloom_key_hashes *hashes){
  const double real = sqlite3_value_double(value);
  sqlite3_value *copy = sqlite3_value_dup(value);
  size_t num_bytes;
  const char *text;
  int rc = SQLITE_OK;
  if( copy==NULL ) return SQLITE_NOMEM;
  text = text_of(copy, &num_bytes);
  if( text==NULL ) rc = SQLITE_NOMEM;
  else if( form_of(text, num_bytes)==FORM_DECIMAL ) push_rounded(real, 1, hashes);
  else rc = push_text(rule.collation, text, num_bytes, hashes);
  sqlite3_value_free(copy);
  push_neighbours(real, 0, hashes);
  return rc;
}

/* What a number may be equal to in a column that can hold TEXT. */
static int push_texts_of_number(
  bloom_equality rule, sqlite3_value *value, bloom_key_hashes *hashes
){
  char decimal[32];
  if( sqlite3_value_type(value)==SQLITE_FLOAT ){
    const double real = sqlite3_value_double(value);
    int rc = push_texts_of_real(rule, value, hashes);
    if( rc!=SQLITE_OK || !(real>=-0x1p63 && real<0x1p63 && (double)(sqlite3_int64)real==real) ){
      return rc;
    }
  }
  push_next_integers(sqlite3_value_int64(value), hashes);
  /* Shorter ones are known by their integer. */
  sqlite3_snprintf(sizeof(decimal), decimal, "%lld", sqlite3_value_int64(value));
  if( form_of(decimal, strlen(decimal))==FORM_INTEGER ) return SQLITE_OK;
  return push_text(rule.collation, decimal, strlen(decimal), hashes);
}

int bloom_query_hashes(bloom_equality rule, sqlite3_value *value, bloom_key_hashes *hashes){
  const int type = sqlite3_value_type(value);
  const int can_hold_text = rule.kind==BLOOM_COLUMN_TEXT || rule.kind==BLOOM_COLUMN_ANY;
  int rc;
  hashes->num_hashes = 0;
  if( rule.kind==BLOOM_COLUMN_NONE ){
    rc = push_value(value, hashes);
    if( type==SQLITE_INTEGER ) push_next_integers(sqlite3_value_int64(value), hashes);
    if( type==SQLITE_FLOAT ) push_neighbours(sqlite3_value_double(value), 1, hashes);
    return rc;
  }
  if( type==SQLITE_TEXT ) return push_text_key(rule, value, TO_LOOK_FOR, hashes);
  rc = push_value(value, hashes);
  if( rc!=SQLITE_OK ) return rc;
  /* An index on a REAL column is searched for the REAL next to an integer; up to 2^53 that is the
  ** integer itself. */
  if( type==SQLITE_INTEGER ) push_real((double)sqlite3_value_int64(value), hashes);
  if( can_hold_text && (type==SQLITE_INTEGER || type==SQLITE_FLOAT) ){
    rc = push_texts_of_number(rule, value, hashes);
  }
  return rc;
}

int bloom_literal_hashes(bloom_equality rule, sqlite3_value *value, bloom_key_hashes *hashes){
  if( rule.kind!=BLOOM_COLUMN_TEXT || sqlite3_value_type(value)!=SQLITE_TEXT ){
    return bloom_query_hashes(rule, value, hashes);
  }
  hashes->num_hashes = 0;
  return push_text_key(rule, value, TO_LOOK_FOR_LITERAL, hashes);
}

int bloom_plain_text_hash(
  bloom_equality rule, const uint8_t *text, size_t num_bytes, bloom_key_hashes *hashes
){
  hashes->num_hashes = 0;
  if( bloom_bytes_may_be_number(text, num_bytes) ) return SQLITE_OK;
  return push_text(rule.collation, (const char *)text, num_bytes, hashes);
}

int bloom_text_may_be_number(sqlite3_value *value){
  size_t num_bytes;
  const char *text = text_of(value, &num_bytes);
  return form_of(text, num_bytes)!=FORM_TEXT;
}

int bloom_bytes_may_be_number(const uint8_t *text, size_t num_bytes){
  return form_of((const char *)text, num_bytes)!=FORM_TEXT;
}

int bloom_text_is_number(sqlite3_value *value){
  size_t num_bytes;
  const char *text = text_of(value, &num_bytes);
  const text_form form = form_of(text, num_bytes);
  return form==FORM_INTEGER || form==FORM_DECIMAL;
}
