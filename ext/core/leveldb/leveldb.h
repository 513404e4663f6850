/*
** LevelDB's filter, "leveldb.BuiltinBloomFilter2": from hash to bits.  ../../FORMATS.md has the
** layout.
**
** Probe j of a hash tests bit (hash + j*delta) mod 2^32 mod num_bits, delta = hash rotated right by
** 17.  Positions have 32 bits, so bits from 2^32 on are never set.
**
** Any bytes can be read.  To bytes that are no filter the answer for every key is LevelDB's: 0 if
** they are fewer than 2; 1 if the last byte is 0 (no probes) or above 30 (reserved for encodings to
** come).  Source: LevelDB util/bloom.cc.
*/
#ifndef BLOOM_CORE_LEVELDB_H
#define BLOOM_CORE_LEVELDB_H

#include <stddef.h>

#include "../bytes.h"
#include "../debug.h"
#include "../filter.h"
#include "sizing.h"

#define BLOOM_LEVELDB_MIN_BYTES  2  /* fewer are too short */
#define BLOOM_LEVELDB_MAX_PROBES 30 /* larger probe bytes are reserved for other encodings */

extern const bloom_encoding bloom_encoding_leveldb;

/* Writes a filter without keys to filter[0 .. shape->num_bytes). */
void bloom_leveldb_clear(const bloom_shape *shape, uint8_t *filter);

/* Adds the keys that have these hashes to a filter of this shape; shape->num_probes is 1..30. */
void bloom_leveldb_add(const bloom_shape *shape, uint8_t *filter, const bloom_hash_run *runs);

/* -- The hash -------------------------------------------------------------------------------- */

/* Source: LevelDB util/hash.cc, Hash(); util/bloom.cc, BloomHash(). */
#define LEVELDB_HASH_SEED       0xbc9f1d34u
#define LEVELDB_HASH_MULTIPLIER 0xc6a4a793u

/* Hashes one word of a key: shift is 16 for a word of 4 bytes, 24 for a tail of 1 to 3. */
static inline uint32_t bloom_leveldb_hash_word(uint32_t hash, uint32_t word, unsigned shift){
  hash = (hash + word) * LEVELDB_HASH_MULTIPLIER;
  return hash ^ hash >> shift;
}

/* Returns the hash of a key of num_bytes bytes; key may be NULL if num_bytes is 0. */
static inline uint32_t bloom_leveldb_hash(const uint8_t *key, size_t num_bytes){
  uint32_t hash = LEVELDB_HASH_SEED ^ ((uint32_t)num_bytes * LEVELDB_HASH_MULTIPLIER);
  assert( key || num_bytes==0 );
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

/* Returns the hash of an integer's decimal text. */
static inline bloom_hash_value bloom_leveldb_hash_int64(int64_t value){
  uint8_t room[BLOOM_DECIMAL_MAX_BYTES];
  size_t num_bytes;
  const uint8_t *text = bloom_decimal(value, room, &num_bytes);
  return bloom_leveldb_hash(text, num_bytes);
}

/* -- Kernels --------------------------------------------------------------------------------- */

/* The loop that is worth vector code computes the positions of the probes of many hashes. */

/*
** x mod num_bits without a division.
** With reciprocal = floor((2^32 - 1) / num_bits) the quotient x * reciprocal / 2^32
** is right or one too small, so that one conditional subtraction corrects it
** [Warren, Hacker's Delight, 10].  From 2^32 bits on, positions are the probes
** themselves: both members are 0, and the result is x.
*/
typedef struct bloom_leveldb_divisor {
  uint32_t num_bits;
  uint32_t reciprocal;
} bloom_leveldb_divisor;

/* Returns the divisor for num_bits bits, in 1..2^32. */
static inline bloom_leveldb_divisor bloom_leveldb_divisor_of(uint64_t num_bits){
  bloom_leveldb_divisor divisor = {(uint32_t)num_bits, 0};
  assert( num_bits>0 && num_bits<=(uint64_t)UINT32_MAX + 1 );
  if( num_bits<=UINT32_MAX ) divisor.reciprocal = UINT32_MAX / divisor.num_bits;
  return divisor;
}

static inline uint32_t bloom_leveldb_mod(uint32_t x, bloom_leveldb_divisor divisor){
  const uint32_t quotient = (uint32_t)((uint64_t)x * divisor.reciprocal >> 32);
  const uint32_t rest = x - quotient * divisor.num_bits;
  const uint32_t less = rest - divisor.num_bits;
  const uint32_t position = rest<less ? rest : less; /* less wraps around if rest < num_bits */
  assert( position<divisor.num_bits || divisor.num_bits==0 );
  return position;
}

/* Returns the step between a hash's probes.  Double hashing: one hash drives every probe [Kirsch,
** Mitzenmacher 2006]. */
static inline uint32_t bloom_leveldb_delta(uint32_t hash){
  return hash >> 17 | hash << 15;
}

typedef struct bloom_leveldb_kernels {
  const char *name;

  /* Writes the positions of all probes of all hashes, num_hashes * num_probes, in an order of its
  ** own. */
  void (*positions)(bloom_leveldb_divisor divisor, uint32_t num_probes,
                    const uint32_t *hashes, size_t num_hashes, uint32_t *positions);
} bloom_leveldb_kernels;

extern const bloom_leveldb_kernels bloom_leveldb_all_kernels[BLOOM_NUM_KERNELS];

/* Does what bloom_leveldb_add() does, with kernels that the caller chooses, for tests and
** benchmarks. */
void bloom_leveldb_add_by(const bloom_leveldb_kernels *kernels, const bloom_shape *shape,
                          uint8_t *filter, const bloom_hash_run *runs);

#endif
