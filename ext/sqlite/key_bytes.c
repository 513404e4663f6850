/*
** SQL value -> key bytes -> digest.
*/
#include "key_bytes.h"

#include <string.h>

#include "../core/bytes.h"

static void integer_key(int64_t value, bloom_key *key){
  key->num_bytes = bloom_decimal(value, key->buffer);
  key->bytes = key->buffer;
}

static void real_key(double value, bloom_key *key){
  uint64_t ieee754;
  /* Outside this range the cast would be undefined. */
  if( value>=-0x1p63 && value<0x1p63 && (double)(int64_t)value==value ){
    integer_key((int64_t)value, key);
    return;
  }
  memcpy(&ieee754, &value, sizeof(ieee754));
  bloom_store64_le(key->buffer, ieee754);
  key->bytes = key->buffer;
  key->num_bytes = sizeof(ieee754);
}

bloom_key_status bloom_key_bytes(sqlite3_value *value, bloom_key *key){
  switch( sqlite3_value_type(value) ){
    case SQLITE_NULL:
      return BLOOM_KEY_NULL;
    case SQLITE_INTEGER:
      integer_key(sqlite3_value_int64(value), key);
      return BLOOM_KEY_OK;
    case SQLITE_FLOAT:
      real_key(sqlite3_value_double(value), key);
      return BLOOM_KEY_OK;
    case SQLITE_TEXT:
      return bloom_text_key(value, key);
    default:
      key->bytes = sqlite3_value_blob(value);
      key->num_bytes = (size_t)sqlite3_value_bytes(value);
      /* An empty BLOB has no address. */
      return key->bytes==NULL && key->num_bytes>0 ? BLOOM_KEY_NOMEM : BLOOM_KEY_OK;
  }
}
