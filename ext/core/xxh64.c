/*
** XXH64 of bytes.
*/
#include "xxh64.h"

/* Compiles xxHash into this file: no library to load, no symbol to export. */
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t bloom_xxh64(const uint8_t *bytes, size_t num_bytes){
  static const uint8_t no_bytes[1] = {0};
  return bytes ? XXH64(bytes, num_bytes, 0) : XXH64(no_bytes, 0, 0);
}
