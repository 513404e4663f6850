/*
** The keys of the rarer SQL types.
*/
#include "key.h"

#include <string.h>

#include "../core/bytes.h"
#include "../core/decimal.h"

bloom_key_kind bloom_real_key_of(double value, bloom_key *key){
  if( bloom_real_is_integer(value, &key->integer) ) return BLOOM_KEY_INTEGER;
  bloom_store_real_le(key->buffer, value);
  key->bytes = key->buffer;
  key->num_bytes = sizeof(key->buffer);
  return BLOOM_KEY_BYTES;
}

bloom_key_kind bloom_key_of_slow(sqlite3_value *value, bloom_key *key){
  if( sqlite3_value_type(value)==SQLITE_FLOAT ){
    return bloom_real_key_of(sqlite3_value_double(value), key);
  }
  key->bytes = sqlite3_value_blob(value);
  key->num_bytes = (size_t)sqlite3_value_bytes(value);
  /* An empty BLOB has no address. */
  return key->bytes==NULL && key->num_bytes>0 ? BLOOM_KEY_NOMEM : BLOOM_KEY_BYTES;
}

int bloom_key_bytes_arg(sqlite3_context *context, sqlite3_value *value, uint8_t *decimal,
                        bloom_key *key){
  const bloom_key_kind kind = bloom_key_of(value, key);
  if( kind==BLOOM_KEY_NOMEM ) sqlite3_result_error_nomem(context);
  if( kind!=BLOOM_KEY_INTEGER ) return kind==BLOOM_KEY_BYTES;
  key->num_bytes = bloom_decimal(key->integer, decimal);
  key->bytes = decimal;
  return 1;
}

static int is_digit(char c){
  return c>='0' && c<='9';
}

int bloom_is_space(char c){
  return c==' ' || (c>='\t' && c<='\r');
}

/* Returns what follows the exponent of a number; NULL if that is none. */
static const char *read_exponent(const char *text, int *exponent){
  const int sign = *text=='-' ? -1 : 1;
  if( *text=='-' || *text=='+' ) text++;
  if( !is_digit(*text) ) return NULL;
  for(; is_digit(*text); text++){
    *exponent = *exponent<1000 ? 10 * *exponent + (*text - '0') : *exponent;
  }
  *exponent *= sign;
  return text;
}

/* Reads a number.  10^22 is the largest power of ten that a double holds exactly, and 15 digits
** are fewer than its 53 bits: one product, or one quotient, of the two is rounded once. */
int bloom_read_number(const char *text, double *number){
  static const double powers[] = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
  };
  const int max_power = 22;
  double digits = 0;
  int num_digits = 0, has_point = 0, exponent = 0, power = 0;
  while( bloom_is_space(*text) ) text++;
  for(; is_digit(*text) || (*text=='.' && !has_point); text++){
    if( *text=='.' ){
      has_point = 1;
      continue;
    }
    digits = 10 * digits + (*text - '0');
    power -= has_point;
    num_digits++;
  }
  if( num_digits==0 ) return 0;
  if( *text=='e' || *text=='E' ) text = read_exponent(text + 1, &exponent);
  if( text==NULL ) return 0;
  while( bloom_is_space(*text) ) text++;
  if( *text ) return 0;
  power += exponent;
  for(; power>max_power; power-=max_power) digits *= powers[max_power];
  for(; power<-max_power; power+=max_power) digits /= powers[max_power];
  *number = power<0 ? digits / powers[-power] : digits * powers[power];
  return 1;
}

/* -- Tuples ----------------------------------------------------------------- */

/* The bytes of a tuple, as far as there is room for them; num_bytes counts all. */
typedef struct tuple_writer {
  uint8_t *out;
  uint64_t room;
  uint64_t num_bytes;
} tuple_writer;

/* Returns the place of the next num_bytes; NULL if there is no room. */
static inline uint8_t *tuple_place(tuple_writer *writer, uint64_t num_bytes){
  const uint64_t offset = writer->num_bytes;
  writer->num_bytes += num_bytes;
  return writer->num_bytes<=writer->room ? writer->out + offset : NULL;
}

static inline void tuple_put_number(tuple_writer *writer, bloom_tuple_tag tag, uint64_t bits){
  uint8_t *place = tuple_place(writer, BLOOM_TUPLE_NUMBER_BYTES);
  if( place==NULL ) return;
  place[0] = (uint8_t)tag;
  bloom_store64_le(place + 1, bits);
}

static void tuple_put_real(tuple_writer *writer, double real){
  bloom_key key;
  if( bloom_real_key_of(real, &key)==BLOOM_KEY_INTEGER ){
    tuple_put_number(writer, BLOOM_TUPLE_INTEGER, (uint64_t)key.integer);
  }else{
    tuple_put_number(writer, BLOOM_TUPLE_REAL, bloom_load64_le(key.bytes));
  }
}

/* Writes bytes, which may be NULL if there are none. */
static void tuple_put_bytes(tuple_writer *writer, bloom_tuple_tag tag, const void *bytes,
                            uint32_t num_bytes){
  uint8_t *place = tuple_place(writer, BLOOM_TUPLE_HEADER_BYTES + (uint64_t)num_bytes);
  if( place==NULL ) return;
  place[0] = (uint8_t)tag;
  bloom_store32_le(place + 1, num_bytes);
  if( num_bytes ) memcpy(place + BLOOM_TUPLE_HEADER_BYTES, bytes, num_bytes);
}

int bloom_tuple_write(
  int num_values, sqlite3_value **values, uint8_t *out, uint64_t room, uint64_t *num_bytes
){
  tuple_writer writer = {out, room, 0};
  int i;
  for(i=0; i<num_values; i++){
    const int type = sqlite3_value_type(values[i]);
    const void *bytes;
    uint32_t length;
    switch( type ){
      case SQLITE_INTEGER:
        tuple_put_number(&writer, BLOOM_TUPLE_INTEGER, (uint64_t)sqlite3_value_int64(values[i]));
        break;
      case SQLITE_FLOAT:
        tuple_put_real(&writer, sqlite3_value_double(values[i]));
        break;
      case SQLITE_NULL:
        *num_bytes = 0;
        return SQLITE_OK;
      default:
        bytes = type==SQLITE_TEXT ? sqlite3_value_text(values[i]) : sqlite3_value_blob(values[i]);
        /* The length last: the call above may have converted the value. */
        length = (uint32_t)sqlite3_value_bytes(values[i]);
        /* An empty BLOB has no address. */
        if( bytes==NULL && (type==SQLITE_TEXT || length>0) ) return SQLITE_NOMEM;
        tuple_put_bytes(&writer, type==SQLITE_TEXT ? BLOOM_TUPLE_TEXT : BLOOM_TUPLE_BLOB, bytes,
                        length);
        break;
    }
  }
  *num_bytes = writer.num_bytes;
  return SQLITE_OK;
}
