/*
** Parquet's hash: XXH64 with seed 0 of a value's plain bytes.  A value of type
** INT64 is 8 bytes, little-endian; a byte array is its bytes, without their number, and
** bloom_xxh64() is its hash.
** Sources: apache/parquet-format, BloomFilter.md; xxHash, doc/xxhash_spec.md.
*/
#ifndef BLOOM_CORE_PARQUET_HASH_H
#define BLOOM_CORE_PARQUET_HASH_H

#include <stdint.h>

#include "../numeric.h"
#include "../xxh64.h"

/* XXH64 of the 8 bytes of an INT64, computed from the number: the same on every machine. */
static inline uint64_t bloom_parquet_hash_int64(int64_t key){
  const uint64_t prime1 = 0x9e3779b185ebca87u, prime2 = 0xc2b2ae3d27d4eb4fu,
      prime3 = 0x165667b19e3779f9u;
  const uint64_t prime4 = 0x85ebca77c2b2ae63u, prime5 = 0x27d4eb2f165667c5u;
  uint64_t hash = prime5 + 8;
  hash ^= bloom_rotate_left64((uint64_t)key * prime2, 31) * prime1;
  hash = bloom_rotate_left64(hash, 27) * prime1 + prime4;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

#endif
