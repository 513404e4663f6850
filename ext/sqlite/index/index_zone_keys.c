/*
** The keys of values in zones: by which a row is in its zone, and by which conditions ask.
*/
#include "index_texts.h"
#include "index_zones.h"

#include <string.h>

int bloom_index_learn_encoding(bloom_index *index){
  return index->letter_bytes ? SQLITE_OK
      : bloom_sql_integer(index->connection, &index->letter_bytes,
                          "SELECT 1 + (CAST('a' AS BLOB) <> x'61')");
}

/* Sets *is_odd to whether a TEXT has an odd number of bytes in a database of UTF-16, as SQLite
** before 3.40 stores them: it compares the last one, which conversions lose. */
static int zone_find_odd(const bloom_index *index, sqlite3_value *value, int *is_odd){
  const void *bytes = sqlite3_value_blob(value);
  const int num_bytes = sqlite3_value_bytes(value); /* of the BLOB, so as many as there are */
  const unsigned char *text;
  sqlite3_value *copy;
  *is_odd = 0;
  if( index->letter_bytes!=2 || num_bytes % 2==0 ) return SQLITE_OK;
  copy = sqlite3_value_dup(value);
  text = copy ? sqlite3_value_text(copy) : NULL;
  /* One that is in UTF-8 by now stays as it is. */
  *is_odd = text && (sqlite3_value_bytes(copy)!=num_bytes
                     || memcmp(text, bytes, (size_t)num_bytes)!=0);
  sqlite3_value_free(copy);
  return text ? SQLITE_OK : SQLITE_NOMEM;
}

/* The keys of a TEXT as a text.  SQLITE_OK or SQLITE_NOMEM. */
static int zone_text(const bloom_index *index, int key, sqlite3_value *value, int is_ascii,
                     bloom_zone_span *span){
  const bloom_collation collation = index->config.keys[key].equality.collation;
  const bloom_zone_order order = collation==BLOOM_COLLATION_NOCASE ? BLOOM_ZONE_NOCASE
      : collation==BLOOM_COLLATION_RTRIM ? BLOOM_ZONE_RTRIM : BLOOM_ZONE_BINARY;
  const unsigned char *text;
  int is_odd;
  const int rc = zone_find_odd(index, value, &is_odd);
  *span = bloom_zone_everything();
  if( rc!=SQLITE_OK || is_odd ) return rc;
  text = sqlite3_value_text(value);
  if( text==NULL ) return SQLITE_NOMEM;
  /* BINARY compares the bytes of UTF-16; other collations get UTF-8. */
  if( order==BLOOM_ZONE_BINARY && index->letter_bytes!=1 ) is_ascii = 1;
  *span = bloom_zone_of_text(text, (size_t)sqlite3_value_bytes(value), order, is_ascii);
  return SQLITE_OK;
}

int bloom_index_zone_span_of(const bloom_index *index, int key, sqlite3_value *value,
                             int is_inexact, bloom_zone_span *span){
  const int type = sqlite3_value_type(value);
  const double real = type==SQLITE_BLOB ? 0 : sqlite3_value_double(value);
  int rc = SQLITE_OK;
  *span = type==SQLITE_NULL ? bloom_zone_nothing()
      : bloom_zone_of_number(real, is_inexact && type==SQLITE_TEXT);
  /* LIKE finds a BLOB, and infinity as 'Inf', by ranges that they are not in. */
  if( type==SQLITE_BLOB ) *span = bloom_zone_everything();
  if( type==SQLITE_FLOAT && real - real!=0 ) *span = bloom_zone_hull(*span, bloom_zone_all_texts());
  if( type==SQLITE_TEXT ){
    bloom_zone_span text;
    rc = zone_text(index, key, value, 0, &text);
    if( rc==SQLITE_OK ){
      *span = bloom_text_may_be_number(value) ? bloom_zone_hull(*span, text) : text;
    }
  }
  return rc;
}

/* Sets *is_beginning to whether numbers are found above a text as well: SQLite makes `>= '1.5e-'`
** of LIKE '1.5e-%'.   SQLITE_OK or SQLITE_NOMEM. */
static int zone_begins_number(bloom_zone_operator comparison, sqlite3_value *value,
                              int *is_beginning){
  sqlite3_value *copy;
  const unsigned char *text;
  *is_beginning = 0;
  if( comparison!=BLOOM_ZONE_ABOVE || sqlite3_value_type(value)!=SQLITE_TEXT ) return SQLITE_OK;
  copy = sqlite3_value_dup(value);
  text = copy ? sqlite3_value_text(copy) : NULL;
  *is_beginning = text && bloom_index_begins_number(text);
  sqlite3_value_free(copy);
  return text ? SQLITE_OK : SQLITE_NOMEM;
}

/* The keys of texts that begin with bytes between those of first and those of last. */
static bloom_zone_span zone_of_beginnings(const uint8_t *first, const uint8_t *last,
                                          size_t num_bytes){
  uint8_t text[BLOOM_ZONE_TEXT_BYTES + 1];
  bloom_zone_span span = bloom_zone_of_text(first, num_bytes, BLOOM_ZONE_BINARY, 0);
  memcpy(text, last, num_bytes);
  text[num_bytes] = 0x80; /* all that may stand there */
  span.max = bloom_zone_of_text(text, num_bytes + 1, BLOOM_ZONE_BINARY, 1).max;
  return span;
}

int bloom_index_zone_spans_of_pattern(const bloom_index *index, int key, index_condition_kind kind,
                                      sqlite3_value *value, bloom_zone_span *spans,
                                      size_t *num_spans){
  const bloom_equality equality = index->config.keys[key].equality;
  sqlite3_value *copy = sqlite3_value_dup(value);
  const unsigned char *text = copy ? sqlite3_value_text(copy) : NULL;
  uint8_t upper[BLOOM_ZONE_TEXT_BYTES], lower[BLOOM_ZONE_TEXT_BYTES];
  size_t i, num_bytes = text ? bloom_index_like_beginning(kind, text) : 0;
  const int rc = text ? SQLITE_OK : SQLITE_NOMEM;
  *num_spans = 0;
  if( num_bytes>sizeof(upper) ) num_bytes = sizeof(upper);
  for(i=0; i<num_bytes; i++){
    const int is_letter = (text[i] | 0x20)>='a' && (text[i] | 0x20)<='z';
    const int is_any_case = is_letter && kind==INDEX_LIKE;
    const int is_folded = is_letter && equality.collation==BLOOM_COLLATION_NOCASE;
    upper[i] = is_folded ? text[i] | 0x20 : is_any_case ? text[i] & 0xdf : text[i];
    lower[i] = is_folded || is_any_case ? text[i] | 0x20 : text[i];
  }
  /* Other types become texts, of which digits, signs and infinity are numbers'. */
  if( num_bytes==0 || sqlite3_value_type(value)!=SQLITE_TEXT ){
    spans[(*num_spans)++] = bloom_zone_everything();
  }else if( equality.kind!=BLOOM_COLUMN_TEXT && strchr("-0123456789Ii", text[0]) ){
    spans[(*num_spans)++] = bloom_zone_hull(bloom_zone_of_number(-1e300*1e300, 1),
                                            bloom_zone_of_number(1e300*1e300, 1));
  }
  if( equality.collation==BLOOM_COLLATION_RTRIM ){
    while( num_bytes>0 && upper[num_bytes-1]==' ' ) num_bytes--;
  }
  spans[(*num_spans)++] = zone_of_beginnings(upper, lower, num_bytes);
  /* Between those that begin with an upper and with a lower letter are many others. */
  if( num_bytes>0 && upper[0]!=lower[0] ){
    const uint8_t first = upper[0];
    upper[0] = lower[0];
    spans[*num_spans - 1] = zone_of_beginnings(upper, lower, num_bytes);
    upper[0] = lower[0] = first;
    spans[(*num_spans)++] = zone_of_beginnings(upper, lower, num_bytes);
  }
  sqlite3_value_free(copy);
  return rc;
}

int bloom_index_zone_spans_asked(const bloom_index *index, int key, bloom_zone_operator comparison,
                                 sqlite3_value *value, int is_literal, bloom_zone_span *spans,
                                 size_t *num_spans){
  const bloom_column_kind kind = index->config.keys[key].equality.kind;
  const int type = sqlite3_value_type(value);
  const int is_number = type==SQLITE_INTEGER || type==SQLITE_FLOAT;
  size_t i, num = 0;
  int is_beginning = 0;
  int rc = kind==BLOOM_COLUMN_TEXT ? SQLITE_OK
    : zone_begins_number(comparison, value, &is_beginning);
  *num_spans = 0;
  if( rc!=SQLITE_OK ) return rc;
  if( is_beginning
   || (type==SQLITE_FLOAT && kind==BLOOM_COLUMN_TEXT
       && bloom_db_real_digits(index->connection->db)!=BLOOM_USUAL_REAL_DIGITS) ){
    /* Of such a REAL SQLite compares a text with the connection's digits; a copy has none. */
    spans[0] = bloom_zone_everything();
    *num_spans = 1;
    return SQLITE_OK;
  }
  if( type==SQLITE_BLOB ) spans[num++] = bloom_zone_of_blob();
  /* A literal TEXT has no affinity by which another column's text would be a number. */
  if( is_number
   || (type==SQLITE_TEXT && !(is_literal && kind!=BLOOM_COLUMN_NUMBER)
       && bloom_text_may_be_number(value)) ){
    spans[num++] = bloom_zone_of_number(sqlite3_value_double(value), !is_number);
  }
  /* A column of numbers makes one of a TEXT, if it can; a TEXT column makes a text of a number. */
  if( (type==SQLITE_TEXT && (kind!=BLOOM_COLUMN_NUMBER || !bloom_text_is_number(value)))
   || (is_number && kind==BLOOM_COLUMN_TEXT) ){
    sqlite3_value *copy = sqlite3_value_dup(value);
    /* SQLite makes ranges of LIKE 'begin%', which finds ill-formed texts that are not in them. */
    rc = copy ? zone_text(index, key, copy, comparison!=BLOOM_ZONE_EQUAL, &spans[num++])
        : SQLITE_NOMEM;
    sqlite3_value_free(copy);
  }
  for(i=0; i<num && rc==SQLITE_OK; i++) spans[i] = bloom_zone_asked(comparison, spans[i]);
  *num_spans = num;
  return rc;
}
