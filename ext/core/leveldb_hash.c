/*
** LevelDB's hash: multiply and xor-shift over 32-bit little-endian words.
** Source: LevelDB util/hash.cc.
*/
#include "leveldb_hash.h"

#include "bytes.h"

#define LEVELDB_HASH_SEED       0xbc9f1d34u /* LevelDB util/bloom.cc, BloomHash() */
#define LEVELDB_HASH_MULTIPLIER 0xc6a4a793u

bloom_digest bloom_leveldb_hash(const uint8_t *key, size_t num_bytes){
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
