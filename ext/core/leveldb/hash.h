/*
** LevelDB's hash, with the seed that its filters use: key bytes -> digest.
** Source: LevelDB util/hash.cc, Hash(); util/bloom.cc, BloomHash().
*/
#ifndef BLOOM_CORE_LEVELDB_HASH_H
#define BLOOM_CORE_LEVELDB_HASH_H

#include "../bytes.h"
#include "../filter.h"

#define LEVELDB_HASH_SEED       0xbc9f1d34u /* LevelDB util/bloom.cc, BloomHash() */
#define LEVELDB_HASH_MULTIPLIER 0xc6a4a793u

/* The digest of a key of num_bytes bytes; key may be NULL if num_bytes is 0. */
static inline bloom_digest bloom_leveldb_hash(const uint8_t *key, size_t num_bytes){
  uint32_t digest = LEVELDB_HASH_SEED ^ ((uint32_t)num_bytes * LEVELDB_HASH_MULTIPLIER);
  for(; num_bytes>=4; key+=4, num_bytes-=4){
    digest = (digest + bloom_load32_le(key)) * LEVELDB_HASH_MULTIPLIER;
    digest ^= digest >> 16;
  }
  if( num_bytes ){
    /* Tail bytes are unsigned; RocksDB's function of this name differs here. */
    uint32_t tail = key[0];
    if( num_bytes>1 ) tail |= (uint32_t)key[1] << 8;
    if( num_bytes>2 ) tail |= (uint32_t)key[2] << 16;
    digest = (digest + tail) * LEVELDB_HASH_MULTIPLIER;
    digest ^= digest >> 24;
  }
  return digest;
}

/* The digest of an integer's decimal text, as CAST(value AS TEXT) gives it:
** the digits are rendered and hashed in registers. */
bloom_digest bloom_leveldb_hash_int64(int64_t value);

/* digests[i] = the digest of keys[i]. */
void bloom_leveldb_hash_many(const bloom_span *keys, size_t num_keys, bloom_digest *digests);

#endif
