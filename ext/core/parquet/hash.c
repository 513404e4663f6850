/*
** XXH64 of bytes; hash.h says of which.
*/
#include "hash.h"

/* The hash becomes part of this file: no library to load, no symbol to export. */
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t bloom_parquet_hash_bytes(const uint8_t *key, size_t num_bytes){
  static const uint8_t no_bytes[1] = {0};
  return XXH64(key ? key : no_bytes, num_bytes, 0);
}
