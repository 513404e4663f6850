/*
** Hashes by the rules of `=`.
*/
#include "equality.h"

#include <stdlib.h>
#include <string.h>

#include "../key.h"

/* A text of this size needs no memory to be changed in. */
#define SHORT_TEXT_BYTES 256

/* Integers beyond this may differ from the REAL next to them. */
#define MAX_EXACT_INTEGER ((int64_t)1 << 53)

static char lower(char letter){
  return (char)(letter>='A' && letter<='Z' ? letter + ('a' - 'A') : letter);
}

/* 1 if word, in capitals, occurs in text whatever its case. */
static int has_word(const char *text, const char *word){
  const size_t num_chars = strlen(word);
  for(; *text; text++){
    if( sqlite3_strnicmp(text, word, (int)num_chars)==0 ) return 1;
  }
  return 0;
}

bloom_column_kind bloom_column_kind_of(const char *declared_type){
  /* Source: sqlite.org/datatype3.html, section 3.1, in this order. */
  if( declared_type==NULL || declared_type[0]==0 ) return BLOOM_COLUMN_ANY;
  if( sqlite3_stricmp(declared_type, "ANY")==0 ) return BLOOM_COLUMN_ANY;
  if( has_word(declared_type, "INT") ) return BLOOM_COLUMN_NUMBER;
  if( has_word(declared_type, "CHAR") || has_word(declared_type, "CLOB") || has_word(declared_type, "TEXT") ){
    return BLOOM_COLUMN_TEXT;
  }
  if( has_word(declared_type, "BLOB") ) return BLOOM_COLUMN_ANY;
  return BLOOM_COLUMN_NUMBER;
}

int bloom_collation_named(const char *name, bloom_collation *collation){
  if( sqlite3_stricmp(name, "BINARY")==0 ){
    *collation = BLOOM_COLLATION_BINARY;
  }else if( sqlite3_stricmp(name, "NOCASE")==0 ){
    *collation = BLOOM_COLLATION_NOCASE;
  }else if( sqlite3_stricmp(name, "RTRIM")==0 ){
    *collation = BLOOM_COLLATION_RTRIM;
  }else{
    return 0;
  }
  return 1;
}

static void push(bloom_key_hashes *hashes, bloom_hash_value hash){
  int i;
  for(i=0; i<hashes->num_hashes; i++){
    if( hashes->hashes[i]==hash ) return;
  }
  if( hashes->num_hashes<BLOOM_MAX_KEY_HASHES ) hashes->hashes[hashes->num_hashes++] = hash;
}

/* Pushes the hash of a text as its collation sees it.  SQLITE_OK or SQLITE_NOMEM. */
static int push_text(
  const bloom_encoding *encoding,
  bloom_collation collation,
  const char *text,
  size_t num_bytes,
  bloom_key_hashes *hashes
){
  const uint8_t *bytes = (const uint8_t *)text;
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
    push(hashes, encoding->hash_bytes((const uint8_t *)folded, num_bytes));
    if( folded!=short_text ) sqlite3_free(folded);
    return SQLITE_OK;
  }
  push(hashes, encoding->hash_bytes(bytes, num_bytes));
  return SQLITE_OK;
}

static void push_real(const bloom_encoding *encoding, double real, bloom_key_hashes *hashes){
  bloom_key key;
  if( bloom_real_key_of(real, &key)==BLOOM_KEY_INTEGER ){
    push(hashes, encoding->hash_int64(key.integer));
  }else{
    push(hashes, encoding->hash_bytes(key.bytes, key.num_bytes));
  }
}

/* 1 if a text may look like a number to SQLite: of its characters alone, with a digit.  From
** 3.52 on a NUL ends the number, whatever follows. */
static int may_be_number(const char *text, size_t num_bytes, int *is_integer){
  size_t i;
  int num_digits = 0;
  *is_integer = 1;
  for(i=0; i<num_bytes && text[i]; i++){
    const char c = text[i];
    if( c>='0' && c<='9' ) num_digits++;
    else if( c=='.' || c=='e' || c=='E' ) *is_integer = 0;
    else if( c!='+' && c!='-' && c!=' ' && !(c>='\t' && c<='\r') ) return 0;
  }
  return num_digits>0;
}

/* Pushes the hash of the number that a text looks like, if it may, and if it is not the
** decimal text of an integer, unless that is wanted too.  A text that begins with a number,
** '1-2', gives that one, which costs a bit too much; so does a large integer, as INTEGER
** and as REAL.  sqlite3_value_numeric_type() would say more, but of a copy it crashes
** SQLite 3.52.0.  SQLITE_OK or SQLITE_NOMEM. */
static int push_number_of_text(
  const bloom_encoding *encoding,
  sqlite3_value *value,
  const char *text,
  size_t num_bytes,
  int is_decimal_wanted,
  bloom_key_hashes *hashes
){
  int is_integer;
  double real;
  sqlite3_value *number;
  if( !may_be_number(text, num_bytes, &is_integer) ) return SQLITE_OK;
  /* A copy: the value itself may be another's to read as TEXT. */
  number = sqlite3_value_dup(value);
  if( number==NULL ) return SQLITE_NOMEM;
  real = sqlite3_value_double(number);
  if( is_integer ){
    const sqlite3_int64 integer = sqlite3_value_int64(number);
    char decimal[32];
    sqlite3_snprintf(sizeof(decimal), decimal, "%lld", integer);
    if( is_decimal_wanted || strlen(decimal)!=num_bytes || memcmp(decimal, text, num_bytes)!=0 ){
      push(hashes, encoding->hash_int64(integer));
    }
  }
  if( !is_integer || !(real>-0x1p53 && real<0x1p53) ) push_real(encoding, real, hashes);
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
static int push_value(const bloom_encoding *encoding, sqlite3_value *value, bloom_key_hashes *hashes){
  bloom_hash_value hash;
  switch( bloom_hash_of_key(encoding, value, &hash) ){
    case BLOOM_KEY_NULL:  return SQLITE_OK;
    case BLOOM_KEY_NOMEM: return SQLITE_NOMEM;
    case BLOOM_KEY_INTEGER:
    case BLOOM_KEY_BYTES: break;
  }
  push(hashes, hash);
  return SQLITE_OK;
}

/* A REAL as text of 15 digits, as many as old versions compared by, read back. */
static double rounded_to_15_digits(double real){
  char text[64];
  sqlite3_snprintf(sizeof(text), text, "%!.15g", real);
  return strtod(text, NULL);
}

int bloom_insert_hashes(
  const bloom_encoding *encoding,
  bloom_equality rule,
  sqlite3_value *value,
  bloom_key_hashes *hashes
){
  const int type = sqlite3_value_type(value);
  int rc;
  hashes->num_hashes = 0;
  if( type==SQLITE_TEXT && rule.kind!=BLOOM_COLUMN_EXPRESSION ){
    size_t num_bytes;
    const char *text = text_of(value, &num_bytes);
    if( text==NULL ) return SQLITE_NOMEM;
    rc = push_text(encoding, rule.collation, text, num_bytes, hashes);
    if( rc!=SQLITE_OK ) return rc;
    return push_number_of_text(encoding, value, text, num_bytes, 0, hashes);
  }
  rc = push_value(encoding, value, hashes);
  if( rc==SQLITE_OK && type==SQLITE_FLOAT && rule.kind==BLOOM_COLUMN_ANY ){
    push_real(encoding, rounded_to_15_digits(sqlite3_value_double(value)), hashes);
  }
  return rc;
}

/* 1 if the REAL is a 64-bit integer. */
static int is_integral(double real){
  return real>=-0x1p63 && real<0x1p63 && (double)(sqlite3_int64)real==real;
}

/* Versions of SQLite read some decimals as neighbouring REALs. */
static void push_neighbors(const bloom_encoding *encoding, double real, bloom_key_hashes *hashes){
  uint64_t bits;
  int step;
  memcpy(&bits, &real, sizeof(bits));
  for(step=-1; step<=1; step+=2){
    const uint64_t next_bits = bits + (uint64_t)(int64_t)step;
    double next;
    memcpy(&next, &next_bits, sizeof(next));
    push_real(encoding, next, hashes);
  }
}

/* What a number may be equal to in a column that can hold TEXT. */
static int push_texts_of_number(
  const bloom_encoding *encoding,
  bloom_equality rule,
  sqlite3_value *value,
  bloom_key_hashes *hashes
){
  const double real = sqlite3_value_double(value);
  char decimal[32];
  if( sqlite3_value_type(value)==SQLITE_FLOAT ){
    size_t num_bytes;
    const char *text;
    int rc;
    sqlite3_value *copy = sqlite3_value_dup(value);
    if( copy==NULL ) return SQLITE_NOMEM;
    text = text_of(copy, &num_bytes);
    rc = text ? push_text(encoding, rule.collation, text, num_bytes, hashes) : SQLITE_NOMEM;
    sqlite3_value_free(copy);
    if( rc!=SQLITE_OK ) return rc;
    if( !is_integral(real) ){
      push_neighbors(encoding, real, hashes);
      return SQLITE_OK;
    }
  }
  sqlite3_snprintf(sizeof(decimal), decimal, "%lld", sqlite3_value_int64(value));
  return push_text(encoding, rule.collation, decimal, strlen(decimal), hashes);
}

int bloom_query_hashes(
  const bloom_encoding *encoding,
  bloom_equality rule,
  sqlite3_value *value,
  bloom_key_hashes *hashes
){
  const int type = sqlite3_value_type(value);
  const int can_hold_text = rule.kind==BLOOM_COLUMN_TEXT || rule.kind==BLOOM_COLUMN_ANY;
  int rc;
  hashes->num_hashes = 0;
  if( rule.kind==BLOOM_COLUMN_EXPRESSION ) return push_value(encoding, value, hashes);
  if( type==SQLITE_TEXT ){
    size_t num_bytes;
    const char *text = text_of(value, &num_bytes);
    if( text==NULL ) return SQLITE_NOMEM;
    rc = push_text(encoding, rule.collation, text, num_bytes, hashes);
    if( rc!=SQLITE_OK || rule.kind==BLOOM_COLUMN_TEXT ) return rc;
    return push_number_of_text(encoding, value, text, num_bytes, 1, hashes);
  }
  rc = push_value(encoding, value, hashes);
  if( rc!=SQLITE_OK ) return rc;
  if( type==SQLITE_INTEGER ){
    const sqlite3_int64 integer = sqlite3_value_int64(value);
    /* An index on a REAL column is searched for the REAL next to an integer. */
    if( integer>MAX_EXACT_INTEGER || integer<-MAX_EXACT_INTEGER ) push_real(encoding, (double)integer, hashes);
  }
  if( can_hold_text && (type==SQLITE_INTEGER || type==SQLITE_FLOAT) ){
    rc = push_texts_of_number(encoding, rule, value, hashes);
  }
  return rc;
}

int bloom_text_may_be_number(sqlite3_value *value){
  int is_integer;
  size_t num_bytes;
  const char *text = text_of(value, &num_bytes);
  return text==NULL || may_be_number(text, num_bytes, &is_integer);
}

int bloom_query_hashes_as_number(
  const bloom_encoding *encoding,
  bloom_equality rule,
  sqlite3_value *value,
  bloom_key_hashes *hashes
){
  const int can_hold_text = rule.kind==BLOOM_COLUMN_TEXT || rule.kind==BLOOM_COLUMN_ANY;
  sqlite3_value *number;
  size_t num_bytes;
  const char *text;
  double real;
  int is_integer, rc = bloom_query_hashes(encoding, rule, value, hashes);
  if( rc!=SQLITE_OK || !can_hold_text || sqlite3_value_type(value)!=SQLITE_TEXT ) return rc;
  text = text_of(value, &num_bytes);
  if( text==NULL ) return SQLITE_NOMEM;
  if( !may_be_number(text, num_bytes, &is_integer) ) return SQLITE_OK;
  rc = push_number_of_text(encoding, value, text, num_bytes, 1, hashes);
  if( rc!=SQLITE_OK ) return rc;
  number = sqlite3_value_dup(value);
  if( number==NULL ) return SQLITE_NOMEM;
  real = sqlite3_value_double(number);
  if( is_integer || is_integral(real) ){
    char decimal[32];
    sqlite3_snprintf(sizeof(decimal), decimal, "%lld", is_integer ? sqlite3_value_int64(number) : (sqlite3_int64)real);
    rc = push_text(encoding, rule.collation, decimal, strlen(decimal), hashes);
  }else{
    push_neighbors(encoding, real, hashes);
  }
  sqlite3_value_free(number);
  return rc;
}
