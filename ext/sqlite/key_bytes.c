/*
** SQL value -> key bytes -> digest.
*/
#include "key_bytes.h"

#include <string.h>

#include "../core/bytes.h"
#include "../core/leveldb_hash.h"

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

int bloom_key_bytes(sqlite3_value *value, bloom_key *key){
  int type = sqlite3_value_type(value);
  switch( type ){
    case SQLITE_INTEGER:
      integer_key(sqlite3_value_int64(value), key);
      return SQLITE_OK;
    case SQLITE_FLOAT:
      real_key(sqlite3_value_double(value), key);
      return SQLITE_OK;
    case SQLITE_TEXT:
      key->bytes = sqlite3_value_text(value);
      break;
    default:
      key->bytes = sqlite3_value_blob(value);
      break;
  }
  /* The length last: the calls above may convert the value. */
  key->num_bytes = (size_t)sqlite3_value_bytes(value);
  /* Only an empty BLOB has no address; else there was no memory to convert. */
  return key->bytes==NULL && (type==SQLITE_TEXT || key->num_bytes>0) ? SQLITE_NOMEM : SQLITE_OK;
}

int bloom_key_digest(sqlite3_value *value, bloom_digest *digest){
  bloom_key key;
  int rc = bloom_key_bytes(value, &key);
  if( rc==SQLITE_OK ) *digest = bloom_leveldb_hash(key.bytes, key.num_bytes);
  return rc;
}
