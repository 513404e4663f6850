/*
** LevelDB's filter, "leveldb.BuiltinBloomFilter2": from hash to bits.
**
**   +--------------------------------+------------+
**   | bits, num_bits/8 bytes         | num_probes |
**   +--------------------------------+------------+
**
** Bit i is bit i%8 of byte i/8.  Probe j of a hash tests bit
** (hash + j*delta) mod 2^32 mod num_bits, delta = hash rotated right by 17
** [Kirsch, Mitzenmacher 2006: one hash drives every probe].
** Positions have 32 bits, so bits from 2^32 on are never set.
**
** Any bytes can be read.  For bytes that are no filter the answer is LevelDB's, the same
** for every key:
**
**   too short   fewer than 2 bytes         0: contains nothing
**   no probes   the last byte is 0         1
**   reserved    the last byte is over 30,  1
**               for encodings to come
**
** Source: LevelDB util/bloom.cc.
*/
#ifndef BLOOM_CORE_LEVELDB_H
#define BLOOM_CORE_LEVELDB_H

#include <stddef.h>

#include "../bytes.h"
#include "../decimal.h"
#include "../filter.h"
#include "kernels.h"
#include "sizing.h"

#define BLOOM_LEVELDB_MIN_BYTES  2  /* fewer are too short */
#define BLOOM_LEVELDB_MAX_PROBES 30 /* larger probe bytes are reserved for other encodings */

extern const bloom_encoding bloom_encoding_leveldb;

/* Writes a filter without keys to filter[0 .. shape->num_bytes). */
void bloom_leveldb_clear(const bloom_shape *shape, uint8_t *filter);

/*
** Adds the keys that have these hashes to a filter of this shape; shape->num_probes is
** 1..30.  Neither their order nor duplicates matter.
*/
void bloom_leveldb_add(const bloom_shape *shape, uint8_t *filter, const bloom_hash_run *runs);

/* Does what bloom_leveldb_add() does, with kernels that the caller chooses, for tests and
** benchmarks. */
void bloom_leveldb_add_by(const bloom_leveldb_kernels *kernels, const bloom_shape *shape,
                          uint8_t *filter, const bloom_hash_run *runs);

/* -- The hash --------------------------------------------------------------- */

/*
** LevelDB's hash of 32 bits, with the seed that its filters use.
** Source: LevelDB util/hash.cc, Hash(); util/bloom.cc, BloomHash().
*/

#define LEVELDB_HASH_SEED       0xbc9f1d34u /* LevelDB util/bloom.cc, BloomHash() */
#define LEVELDB_HASH_MULTIPLIER 0xc6a4a793u

/* Hashes one word of a key: shift is 16 for a word of 4 bytes, 24 for a tail of 1 to 3. */
static inline uint32_t bloom_leveldb_hash_word(uint32_t hash, uint32_t word, unsigned shift){
  hash = (hash + word) * LEVELDB_HASH_MULTIPLIER;
  return hash ^ hash >> shift;
}

/* Returns the hash of a key of num_bytes bytes; key may be NULL if num_bytes is 0. */
static inline uint32_t bloom_leveldb_hash(const uint8_t *key, size_t num_bytes){
  uint32_t hash = LEVELDB_HASH_SEED ^ ((uint32_t)num_bytes * LEVELDB_HASH_MULTIPLIER);
  for(; num_bytes>=4; key+=4, num_bytes-=4){
    hash = bloom_leveldb_hash_word(hash, bloom_load32_le(key), 16);
  }
  if( num_bytes ){
    /* Tail bytes are unsigned here; they are signed in RocksDB's function of this name. */
    uint32_t tail = key[0];
    if( num_bytes>1 ) tail |= (uint32_t)key[1] << 8;
    if( num_bytes>2 ) tail |= (uint32_t)key[2] << 16;
    hash = bloom_leveldb_hash_word(hash, tail, 24);
  }
  return hash;
}

/* Returns the hash of an integer's decimal text, rendered and hashed in registers. */
static inline uint32_t bloom_leveldb_hash_int64(int64_t value){
  uint64_t text[3];
  unsigned num_bytes = bloom_decimal_words(value, text);
  uint32_t hash = LEVELDB_HASH_SEED ^ (num_bytes * LEVELDB_HASH_MULTIPLIER);
  int i;
  for(i=0; i<2; i++, num_bytes-=8){
    hash = bloom_leveldb_hash_word(hash, (uint32_t)text[i], num_bytes>=4 ? 16 : 24);
    if( num_bytes<=4 ) return hash;
    hash = bloom_leveldb_hash_word(hash, (uint32_t)(text[i] >> 32), num_bytes>=8 ? 16 : 24);
    if( num_bytes<=8 ) return hash;
  }
  /* 20 bytes at most: the third word has four. */
  return bloom_leveldb_hash_word(hash, (uint32_t)text[2], num_bytes>=4 ? 16 : 24);
}

#endif
