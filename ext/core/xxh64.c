/*
** XXH64 and XXH3 of bytes.
*/
#include "xxh64.h"

#include "debug.h"

/* Compiles xxHash into this file: no library to load, no symbol to export. */
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t bloom_xxh64(const uint8_t *bytes, size_t num_bytes){
  static const uint8_t no_bytes[1] = {0};
  return bytes ? XXH64(bytes, num_bytes, 0) : XXH64(no_bytes, 0, 0);
}

uint64_t bloom_xxh3(const uint8_t *bytes, size_t num_bytes){
  assert( bytes );
  return XXH3_64bits(bytes, num_bytes);
}
