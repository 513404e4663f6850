/*
** The keys of the rarer SQL types.
*/
#include "key.h"

#include "../core/bytes.h"
#include "../core/debug.h"

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
  assert( sqlite3_value_type(value)==SQLITE_BLOB );
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
  key->bytes = bloom_decimal(key->integer, decimal, &key->num_bytes);
  return 1;
}

static int is_digit(char c){
  return c>='0' && c<='9';
}

int bloom_is_space(char c){
  return c==' ' || (c>='\t' && c<='\r');
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
  int num_digits = 0, has_point = 0, power = 0;
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
  if( *text=='e' || *text=='E' ){
    const int is_negative = *++text=='-';
    int exponent = 0;
    if( *text=='-' || *text=='+' ) text++;
    if( !is_digit(*text) ) return 0;
    for(; is_digit(*text); text++){
      if( exponent<1000 ) exponent = 10*exponent + (*text - '0');
    }
    power += is_negative ? -exponent : exponent;
  }
  while( bloom_is_space(*text) ) text++;
  if( *text ) return 0;
  for(; power>max_power; power-=max_power) digits *= powers[max_power];
  for(; power<-max_power; power+=max_power) digits /= powers[max_power];
  assert( power>=-max_power && power<=max_power );
  *number = power<0 ? digits / powers[-power] : digits * powers[power];
  return 1;
}
