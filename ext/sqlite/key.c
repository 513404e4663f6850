/*
** The keys of the rarer SQL types.
*/
#include "key.h"

#include <string.h>

#include "../core/bytes.h"
#include "../core/decimal.h"

bloom_key_kind bloom_real_key_of(double value, bloom_key *key){
  uint64_t ieee754;
  if( bloom_real_is_integer(value, &key->integer) ) return BLOOM_KEY_INTEGER;
  memcpy(&ieee754, &value, sizeof(ieee754));
  bloom_store64_le(key->buffer, ieee754);
  key->bytes = key->buffer;
  key->num_bytes = sizeof(ieee754);
  return BLOOM_KEY_BYTES;
}

bloom_key_kind bloom_key_of_slow(sqlite3_value *value, bloom_key *key){
  if( sqlite3_value_type(value)==SQLITE_FLOAT ) return bloom_real_key_of(sqlite3_value_double(value), key);
  key->bytes = sqlite3_value_blob(value);
  key->num_bytes = (size_t)sqlite3_value_bytes(value);
  /* An empty BLOB has no address. */
  return key->bytes==NULL && key->num_bytes>0 ? BLOOM_KEY_NOMEM : BLOOM_KEY_BYTES;
}

bloom_key_kind bloom_key_bytes_of(sqlite3_value *value, uint8_t *decimal, bloom_key *key){
  const bloom_key_kind kind = bloom_key_of(value, key);
  if( kind!=BLOOM_KEY_INTEGER ) return kind;
  key->num_bytes = bloom_decimal(key->integer, decimal);
  key->bytes = decimal;
  return BLOOM_KEY_BYTES;
}

int bloom_key_bytes_arg(sqlite3_context *context, sqlite3_value *value, uint8_t *decimal, bloom_key *key){
  const bloom_key_kind kind = bloom_key_bytes_of(value, decimal, key);
  if( kind==BLOOM_KEY_NOMEM ) sqlite3_result_error_nomem(context);
  return kind==BLOOM_KEY_BYTES;
}

/* 10^22 is the largest power of ten that a double holds exactly, and 15 digits are fewer than
** its 53 bits: one product, or one quotient, of the two is rounded once. */
double bloom_real_of_15_digits(double value, int *is_exact){
  static const double powers[] = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
  };
  const int max_power = 22;
  char text[32];
  const char *at = text;
  double digits = 0;
  int power = 0, sign = 1;
  sqlite3_snprintf(sizeof(text), text, "%.14e", value);
  if( *at=='-' ) at++;
  for(; *at && *at!='e'; at++){
    if( *at>='0' && *at<='9' ) digits = 10 * digits + (*at - '0');
  }
  if( *at ) at++;
  if( *at=='-' ) sign = -1;
  for(; *at; at++){
    if( *at>='0' && *at<='9' ) power = 10 * power + (*at - '0');
  }
  power = sign * power - 14;
  *is_exact = power>=-max_power && power<=max_power;
  for(; power>max_power; power-=max_power) digits *= powers[max_power];
  for(; power<-max_power; power+=max_power) digits /= powers[max_power];
  digits = power<0 ? digits / powers[-power] : digits * powers[power];
  return text[0]=='-' ? -digits : digits;
}
