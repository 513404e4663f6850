/*
** Which SQL values are one key: this file alone decides.
**
**   NULL                       no key
**   BLOB                       its bytes
**   TEXT                       its UTF-8 bytes, NULs included, in any database encoding
**   INTEGER                    its decimal text, as CAST(x AS TEXT)
**   REAL equal to an INTEGER   as that INTEGER: 1.0, -0.0
**   any other REAL             its 8 bytes, IEEE 754 little-endian
**
** So 1, 1.0, '1' and x'31' are one key, and a join on columns of different
** types loses no row.  The text of a REAL is never used: it changes with
** SQLite's version.  Collations are not applied.
*/
#ifndef BLOOM_SQLITE_KEY_BYTES_H
#define BLOOM_SQLITE_KEY_BYTES_H

#include "../core/decimal.h"
#include "../core/filter.h"
#include "../core/leveldb/hash.h"
#include "sqlite_api.h"

/* A key's bytes, valid until the value is next used or freed; they may lie
** inside this struct, which must not be copied. */
typedef struct bloom_key {
  const uint8_t *bytes; /* may be NULL if num_bytes is 0 */
  size_t num_bytes;
  uint8_t buffer[BLOOM_DECIMAL_MAX_BYTES];
} bloom_key;

typedef enum bloom_key_status {
  BLOOM_KEY_OK,
  BLOOM_KEY_NULL, /* SQL NULL: no key */
  BLOOM_KEY_NOMEM /* no memory to convert the value */
} bloom_key_status;

/* The key bytes of a TEXT. */
static inline bloom_key_status bloom_text_key(sqlite3_value *value, bloom_key *key){
  key->bytes = sqlite3_value_text(value);
  if( key->bytes==NULL ) return BLOOM_KEY_NOMEM;
  /* The length last: the call above may have converted the value. */
  key->num_bytes = (size_t)sqlite3_value_bytes(value);
  return BLOOM_KEY_OK;
}

/* A value's key bytes; *key is set on BLOOM_KEY_OK. */
bloom_key_status bloom_key_bytes(sqlite3_value *value, bloom_key *key);

/* A value's digest; *digest is set on BLOOM_KEY_OK.  Inline, as all that runs
** once a row; integers are hashed without their bytes in memory. */
static inline bloom_key_status bloom_key_digest(sqlite3_value *value, bloom_digest *digest){
  bloom_key key;
  bloom_key_status status;
  switch( sqlite3_value_type(value) ){
    case SQLITE_INTEGER:
      *digest = bloom_leveldb_hash_int64(sqlite3_value_int64(value));
      return BLOOM_KEY_OK;
    case SQLITE_TEXT:
      status = bloom_text_key(value, &key);
      break;
    default:
      status = bloom_key_bytes(value, &key);
      break;
  }
  if( status==BLOOM_KEY_OK ) *digest = bloom_leveldb_hash(key.bytes, key.num_bytes);
  return status;
}

#endif
