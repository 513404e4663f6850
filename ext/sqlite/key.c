/*
** The keys of the rarer SQL types.
*/
#include "key.h"

#include <string.h>

#include "../core/bytes.h"
#include "../core/decimal.h"

bloom_key_kind bloom_real_key_of(double value, bloom_key *key){
  uint64_t ieee754;
  /* Outside this range the cast would be undefined. */
  if( value>=-0x1p63 && value<0x1p63 && (double)(int64_t)value==value ){
    key->integer = (int64_t)value;
    return BLOOM_KEY_INTEGER;
  }
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
