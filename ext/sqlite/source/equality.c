/*
** Hashes by the rules of `=`.
*/
#include "equality.h"

#include <math.h>
#include <string.h>

#include "../../core/parquet/parquet.h"
#include "../key.h"
#include "sql.h"

/* A longer text is folded in memory of its own. */
#define SHORT_TEXT_BYTES 256

char bloom_affinity_of(const char *type){
  /* Source: sqlite.org/datatype3.html, section 3.1, in this order. */
  if( type[0]==0 ) return 'b';
  if( sqlite3_strlike("%int%", type, 0)==0 ) return 'i';
  if( sqlite3_strlike("%char%", type, 0)==0 || sqlite3_strlike("%clob%", type, 0)==0
   || sqlite3_strlike("%text%", type, 0)==0 ) return 't';
  if( sqlite3_strlike("%blob%", type, 0)==0 ) return 'b';
  if( sqlite3_strlike("%real%", type, 0)==0 || sqlite3_strlike("%floa%", type, 0)==0
   || sqlite3_strlike("%doub%", type, 0)==0 ) return 'r';
  return 'n';
}

int bloom_is_affinity(char letter){
  return letter && strchr("irntb", letter);
}

bloom_column_kind bloom_column_kind_of_affinity(char affinity){
  assert( bloom_is_affinity(affinity) );
  return affinity=='b' ? BLOOM_COLUMN_ANY : affinity=='t' ? BLOOM_COLUMN_TEXT : BLOOM_COLUMN_NUMBER;
}

const char *const bloom_collation_names[BLOOM_NUM_COLLATIONS] = {"BINARY", "NOCASE", "RTRIM"};

int bloom_collation_named(const char *name, bloom_collation *collation){
  int i = 0;
  while( i<BLOOM_NUM_COLLATIONS && sqlite3_stricmp(name, bloom_collation_names[i])!=0 ) i++;
  if( i<BLOOM_NUM_COLLATIONS ) *collation = (bloom_collation)i;
  return i<BLOOM_NUM_COLLATIONS;
}

/* Pushes the hash of a text, with its collation undone.  SQLITE_OK or SQLITE_NOMEM. */
static int push_text(bloom_collation collation, const char *text, size_t num_bytes,
                     bloom_key_hashes *hashes){
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
    /* NOCASE compares the bytes before the first NUL that both have, and behind that only
    ** lengths. */
    for(i=0; i<num_bytes && text[i]; i++){
      folded[i] = (char)(text[i]>='A' && text[i]<='Z' ? text[i] + ('a' - 'A') : text[i]);
    }
    if( i<num_bytes ) memset(&folded[i], 0, num_bytes - i);
    bloom_push_hash(hashes, bloom_xxh64((const uint8_t *)folded, num_bytes));
    if( folded!=short_text ) sqlite3_free(folded);
    return SQLITE_OK;
  }
  bloom_push_hash(hashes, bloom_xxh64((const uint8_t *)text, num_bytes));
  return SQLITE_OK;
}

static void push_real(double real, bloom_key_hashes *hashes){
  bloom_key key;
  const bloom_key_kind kind = bloom_real_key_of(real, &key);
  assert( kind==BLOOM_KEY_INTEGER || kind==BLOOM_KEY_BYTES );
  bloom_push_hash(hashes, bloom_hash_of(&bloom_encoding_parquet, kind, &key));
}

/* What a text is to numeric affinity. */
typedef enum text_form {
  FORM_TEXT,    /* no number */
  FORM_INTEGER, /* of 64 bits: its integer alone says all that `=` tells apart */
  FORM_DECIMAL, /* with a point or a short exponent, and finite: its REAL alone does */
  FORM_NUMBER   /* another: its text and its number do; it may be infinity, or end at a NUL */
} text_form;

/* Steps over digits from text[i] on, and counts those that matter. */
static size_t skip_digits(const char *text, size_t num_bytes, size_t i, int *num_digits,
                          int *num_significant){
  for(; i<num_bytes && text[i]>='0' && text[i]<='9'; i++){
    ++*num_digits;
    *num_significant += *num_significant>0 || text[i]!='0';
  }
  return i;
}

/* With more, a text may be infinity, as hexadecimal digits with an e among them may be, and many
** texts would have one key: so its text is a key, too. */
#define MAX_EXPONENT_DIGITS 2
#define MAX_DECIMAL_DIGITS  200

static size_t skip_sign(const char *text, size_t num_bytes, size_t i){
  return i<num_bytes && (text[i]=='+' || text[i]=='-') ? i + 1 : i;
}

/* Finds the form of a text.  Source: sqlite.org/datatype3.html, section 3.4: blanks around a
** well-formed literal.  From 3.52 on a NUL ends the number, whatever follows. */
static text_form form_of(const char *text, size_t num_bytes){
  int num_digits = 0, num_significant = 0, num_exponent_digits = 0, is_integer = 1;
  size_t i = 0, sign, end;
  while( i<num_bytes && bloom_is_space(text[i]) ) i++;
  sign = i;
  i = skip_digits(text, num_bytes, skip_sign(text, num_bytes, i), &num_digits, &num_significant);
  end = i;
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
  if( is_integer ){
    assert( num_significant<19 || end - sign>=19 ); /* they stand before end, one behind another */
    const char *largest = text[sign]=='-' ? "9223372036854775808" : "9223372036854775807";
    return num_significant<=18
        || (num_significant==19 && memcmp(text + end - 19, largest, 19)<=0)
      ? FORM_INTEGER : FORM_NUMBER;
  }
  return num_significant<=MAX_DECIMAL_DIGITS && num_exponent_digits<=MAX_EXPONENT_DIGITS
    ? FORM_DECIMAL : FORM_NUMBER;
}

/* Pushes the hashes of a REAL for a column that can hold TEXT, where it may be written with fewer
** digits: that of the INTEGER that it is or is near to, and that of its cell, or of all cells near
** it. */
static void push_near(double real, int is_query, bloom_key_hashes *hashes){
  const uint64_t steps = bloom_steps_of(real);
  int64_t integer;
  /* The cell that the REAL is stored by is one of the two. */
  assert( bloom_first_cell(steps)<=bloom_cell_of(steps)
          && bloom_cell_of(steps)<=bloom_last_cell(steps)
          && bloom_last_cell(steps)<=bloom_first_cell(steps) + 1 );
  if( bloom_real_is_integer(real, &integer) || bloom_real_is_near_integer(real, &integer) ){
    bloom_push_hash(hashes, bloom_parquet_hash_int64(integer));
  }
  if( bloom_real_is_whole(real) ) return;
  bloom_push_hash(hashes, bloom_hash_of_cell(real, is_query ? bloom_first_cell(steps)
                                                            : bloom_cell_of(steps)));
  if( is_query ) bloom_push_hash(hashes, bloom_hash_of_cell(real, bloom_last_cell(steps)));
}

static int can_hold_text(bloom_equality rule){
  return rule.kind==BLOOM_COLUMN_TEXT || rule.kind==BLOOM_COLUMN_ANY;
}

/* Reads a TEXT as a number as the running SQLite does: a copy of it, since that changes a value,
** and others may read this one as TEXT.  SQLITE_OK or SQLITE_NOMEM. */
static int read_number(sqlite3_value *value, double *real, sqlite3_int64 *integer){
  sqlite3_value *copy = sqlite3_value_dup(value);
  assert( sqlite3_value_type(value)==SQLITE_TEXT );
  if( copy==NULL ) return SQLITE_NOMEM;
  *real = sqlite3_value_double(copy);
  *integer = sqlite3_value_int64(copy);
  sqlite3_value_free(copy);
  return SQLITE_OK;
}

/* Returns the bytes of a TEXT; NULL, which has none, when out of memory. */
static const char *text_of(sqlite3_value *value, size_t *num_bytes){
  const char *text;
  assert( sqlite3_value_type(value)==SQLITE_TEXT ); /* without memory the next call makes it NULL */
  text = (const char *)sqlite3_value_text(value);
  *num_bytes = text ? (size_t)sqlite3_value_bytes(value) : 0;
  return text;
}

/* Pushes the hashes of a TEXT.  SQLITE_OK or SQLITE_NOMEM. */
static int push_text_key(bloom_equality rule, sqlite3_value *value, bloom_hash_use use,
                         bloom_key_hashes *hashes){
  size_t num_bytes;
  const char *text = text_of(value, &num_bytes);
  const text_form form = text ? form_of(text, num_bytes) : FORM_TEXT;
  const int is_long = form==FORM_NUMBER;
  sqlite3_int64 integer;
  double real;
  int rc = SQLITE_OK;
  if( text==NULL ) return SQLITE_NOMEM;
  if( form==FORM_TEXT || (is_long && use!=BLOOM_TO_STORE_NUMBER) ){
    rc = push_text(rule.collation, text, num_bytes, hashes);
  }
  if( rc!=SQLITE_OK || form==FORM_TEXT ) return rc;
  if( is_long && use==BLOOM_TO_LOOK_FOR_LITERAL && rule.kind==BLOOM_COLUMN_TEXT ) return rc;
  /* FORM_NUMBER has its number's hash in a TEXT column, too: the other side may have numeric
  ** affinity and yet hold a TEXT, as a column of a compound SELECT does. */
  rc = read_number(value, &real, &integer);
  if( rc!=SQLITE_OK ) return rc;
  /* A large one is hashed as INTEGER and as REAL.  sqlite3_value_numeric_type() would tell which it
  ** is, but crashes SQLite 3.52.0 if called with a copy. */
  if( form==FORM_INTEGER
   || (real>=-0x1p63 && real<=0x1p63 && !(real>-0x1p53 && real<0x1p53)) ){
    bloom_push_hash(hashes, bloom_parquet_hash_int64(integer));
  }
  if( form!=FORM_INTEGER && can_hold_text(rule) ) push_near(real, use>=BLOOM_TO_LOOK_FOR, hashes);
  else push_real(real, hashes);
  return SQLITE_OK;
}

/* Pushes the hashes of a value.  SQLITE_OK or SQLITE_NOMEM. */
static int push_value(bloom_equality rule, sqlite3_value *value, bloom_hash_use use,
                      bloom_key_hashes *hashes){
  const int type = sqlite3_value_type(value), is_query = use>=BLOOM_TO_LOOK_FOR;
  bloom_hash_value hash;
  bloom_key_kind kind;
  if( type==SQLITE_TEXT && rule.kind!=BLOOM_COLUMN_NONE ){
    return push_text_key(rule, value, use, hashes);
  }
  if( type==SQLITE_FLOAT && can_hold_text(rule) ){
    const double real = sqlite3_value_double(value);
    push_near(real, is_query, hashes);
    if( real - real==0 ) return SQLITE_OK;
    return push_text(rule.collation, real<0 ? "-Inf" : "Inf", real<0 ? 4 : 3, hashes);
  }
  kind = bloom_hash_of_key(&bloom_encoding_parquet, value, &hash);
  if( kind==BLOOM_KEY_NOMEM ) return SQLITE_NOMEM;
  if( kind!=BLOOM_KEY_NULL ) bloom_push_hash(hashes, hash);
  if( is_query && type==SQLITE_INTEGER && rule.kind!=BLOOM_COLUMN_NONE ){
    const double real = (double)sqlite3_value_int64(value);
    /* An index on a REAL column is searched for the REAL next to an integer; up to 2^53 that is the
    ** integer itself. */
    if( can_hold_text(rule) ) push_near(real, 1, hashes);
    else push_real(real, hashes);
  }
  return SQLITE_OK;
}

#ifndef NDEBUG
/* Returns 1 if a value that is stored by hashes is found: it is looked for by one of them, or NULL;
** also when out of memory. */
static int can_be_found(bloom_equality rule, sqlite3_value *value, const bloom_key_hashes *hashes){
  bloom_key_hashes asked = {.num_hashes = 0};
  int i, j;
  if( push_value(rule, value, BLOOM_TO_LOOK_FOR, &asked)!=SQLITE_OK ) return 1;
  for(i=0; i<asked.num_hashes; i++){
    for(j=0; j<hashes->num_hashes; j++){
      if( asked.hashes[i]==hashes->hashes[j] ) return 1;
    }
  }
  return asked.num_hashes==0 && hashes->num_hashes==0;
}
#endif

int bloom_hashes_of_value(sqlite3 *db, bloom_equality rule, sqlite3_value *value,
                          bloom_hash_use use, bloom_key_hashes *hashes){
  int rc;
  assert( rule.kind<=BLOOM_COLUMN_ANY && rule.collation<=BLOOM_COLLATION_RTRIM );
  assert( db || use<BLOOM_TO_LOOK_FOR );
  hashes->num_hashes = 0;
  hashes->is_maybe = use>=BLOOM_TO_LOOK_FOR && can_hold_text(rule)
    && sqlite3_value_type(value)==SQLITE_FLOAT && bloom_db_has_few_digits(db);
  rc = push_value(rule, value, use, hashes);
  assert( rc!=SQLITE_OK || use>=BLOOM_TO_LOOK_FOR || can_be_found(rule, value, hashes) );
  return rc;
}

int bloom_plain_text_hash(bloom_equality rule, const uint8_t *text, size_t num_bytes,
                          bloom_key_hashes *hashes){
  hashes->num_hashes = hashes->is_maybe = 0;
  if( bloom_bytes_may_be_number(text, num_bytes) ) return SQLITE_OK;
  return push_text(rule.collation, (const char *)text, num_bytes, hashes);
}

int bloom_text_may_be_number(sqlite3_value *value){
  size_t num_bytes;
  const char *text = text_of(value, &num_bytes);
  const text_form form = text ? form_of(text, num_bytes) : FORM_NUMBER;
  return form==FORM_INTEGER || form==FORM_DECIMAL ? BLOOM_IS_NUMBER : form!=FORM_TEXT;
}

int bloom_bytes_may_be_number(const uint8_t *text, size_t num_bytes){
  const text_form form = form_of((const char *)text, num_bytes);
  return form==FORM_INTEGER ? BLOOM_IS_INTEGER : form!=FORM_TEXT;
}

/* -- Cells of all numbers ---------------------------------------------------------------- */

/* Returns 1 if some collation takes a text for that of infinity. */
static int is_text_of_infinity(const uint8_t *text, size_t num_bytes){
  const char *begin = (const char *)text;
  while( num_bytes>0 && text[num_bytes-1]==' ' ) num_bytes--;
  return (num_bytes==3 && sqlite3_strnicmp(begin, "inf", 3)==0)
      || (num_bytes==4 && sqlite3_strnicmp(begin, "-inf", 4)==0);
}

int bloom_bytes_may_equal_number(const uint8_t *text, size_t num_bytes){
  return bloom_bytes_may_be_number(text, num_bytes) || is_text_of_infinity(text, num_bytes);
}

int bloom_may_equal_number(sqlite3_value *value, int *is_number){
  const int type = sqlite3_value_type(value);
  *is_number = type==SQLITE_INTEGER || type==SQLITE_FLOAT;
  if( type==SQLITE_TEXT ){
    size_t num_bytes;
    const char *text = text_of(value, &num_bytes);
    if( text==NULL ) return SQLITE_NOMEM;
    *is_number = bloom_bytes_may_equal_number((const uint8_t *)text, num_bytes);
  }
  return SQLITE_OK;
}

int bloom_cell_hashes(sqlite3_value *value, int is_query, bloom_key_hashes *hashes){
  uint64_t steps, cell, last;
  double real;
  hashes->num_hashes = hashes->is_maybe = 0;
  assert( sqlite3_value_type(value)!=SQLITE_NULL && sqlite3_value_type(value)!=SQLITE_BLOB );
  if( sqlite3_value_type(value)!=SQLITE_TEXT ){
    real = sqlite3_value_double(value);
  }else{
    size_t num_bytes;
    sqlite3_int64 integer;
    const char *text = text_of(value, &num_bytes);
    if( text==NULL ) return SQLITE_NOMEM;
    if( is_text_of_infinity((const uint8_t *)text, num_bytes) ){
      real = text[0]=='-' ? -HUGE_VAL : HUGE_VAL;
    }else{
      const int rc = read_number(value, &real, &integer);
      if( rc!=SQLITE_OK ) return rc;
    }
  }
  steps = bloom_steps_of(real);
  cell = is_query ? bloom_first_cell(steps) : bloom_cell_of(steps);
  last = is_query ? bloom_last_cell(steps) : cell;
  assert( cell<=bloom_cell_of(steps) && bloom_cell_of(steps)<=last && last<=cell + 1 );
  /* 0 has no sign, nor has what may be read as 0. */
  for(; cell<=last; cell++) bloom_push_hash(hashes, bloom_hash_of_cell(cell ? real : 0, cell));
  return SQLITE_OK;
}
