/*
** A second opinion on the encodings, for the tests of the core and the fuzz targets, written from the
** formats' rules alone: slow, bit by bit, no line or header shared with ext/.
*/
#ifndef BLOOM_TEST_REFERENCE_H
#define BLOOM_TEST_REFERENCE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Up to 8 bytes, little-endian. */
static inline uint64_t reference_number(const uint8_t *bytes, int num_bytes){
  uint64_t number = 0;
  while( num_bytes-- ) number = number*256 + bytes[num_bytes];
  return number;
}

/* ---- LevelDB's (util/hash.cc, util/bloom.cc) ------------------------------------------- */

static inline uint32_t reference_hash(const uint8_t *key, size_t num_bytes){
  const uint32_t m = 0xc6a4a793;
  uint32_t h = 0xbc9f1d34 ^ (uint32_t)(num_bytes * m);
  size_t i;
  for(i=0; i+4<=num_bytes; i+=4){
    h += key[i] + key[i+1] * 0x100u + key[i+2] * 0x10000u + key[i+3] * 0x1000000u;
    h *= m;
    h ^= h >> 16;
  }
  if( i<num_bytes ){
    if( i+2<num_bytes ) h += key[i+2] * 0x10000u;
    if( i+1<num_bytes ) h += key[i+1] * 0x100u;
    h += key[i];
    h *= m;
    h ^= h >> 24;
  }
  return h;
}

/* The bit that a probe tests. */
static inline uint32_t reference_position(uint32_t hash, uint32_t probe, uint64_t num_bits){
  const uint32_t delta = hash / 0x20000 + hash * 0x8000;
  return (uint32_t)((uint32_t)(hash + probe * delta) % num_bits);
}

/* Adds a hash to a filter of 1..30 probes. */
static inline void reference_add(uint8_t *filter, size_t num_bytes, uint32_t hash){
  uint32_t i;
  for(i=0; i<filter[num_bytes-1]; i++){
    const uint32_t position = reference_position(hash, i, (num_bytes-1) * (uint64_t)8);
    filter[position/8] = (uint8_t)(filter[position/8] | 1 << position%8);
  }
}

/* The answer for any bytes: 0 or 1. */
static inline int reference_may_contain(const uint8_t *filter, size_t num_bytes, uint32_t hash){
  uint32_t i;
  if( num_bytes<2 ) return 0;
  if( filter[num_bytes-1]>30 ) return 1;
  for(i=0; i<filter[num_bytes-1]; i++){
    const uint32_t position = reference_position(hash, i, (num_bytes-1) * (uint64_t)8);
    if( (filter[position/8] & 1 << position%8)==0 ) return 0;
  }
  return 1;
}

/* ---- Parquet's (BloomFilter.md; xxHash, doc/xxhash_spec.md) ----------------------------- */

static inline uint64_t reference_turned(uint64_t x, unsigned num_bits){
  return x * ((uint64_t)1 << num_bits) + x / ((uint64_t)1 << (64 - num_bits));
}

static inline uint64_t reference_xxh_lane(uint64_t lane, uint64_t input){
  return reference_turned(lane + input * 14029467366897019727u, 31) * 11400714785074694791u;
}

static inline uint64_t reference_xxh64(const uint8_t *key, size_t num_bytes){
  static const uint64_t p[5] = {11400714785074694791u, 14029467366897019727u, 1609587929392839161u,
                                9650029242287828579u, 2870177450012600261u};
  const uint8_t *end = key + num_bytes;
  uint64_t h = p[4];
  if( num_bytes>=32 ){
    static const unsigned turns[4] = {1, 7, 12, 18};
    uint64_t lanes[4] = {p[0] + p[1], p[1], 0, 0 - p[0]};
    unsigned i;
    for(; end-key>=32; key+=32){
      for(i=0; i<4; i++) lanes[i] = reference_xxh_lane(lanes[i], reference_number(key + 8*i, 8));
    }
    for(h=0, i=0; i<4; i++) h += reference_turned(lanes[i], turns[i]);
    for(i=0; i<4; i++) h = (h ^ reference_xxh_lane(0, lanes[i])) * p[0] + p[3];
  }
  h += num_bytes;
  for(; end-key>=8; key+=8) h = reference_turned(h ^ reference_xxh_lane(0, reference_number(key, 8)), 27) * p[0] + p[3];
  if( end-key>=4 ){
    h = reference_turned(h ^ reference_number(key, 4) * p[0], 23) * p[1] + p[2];
    key += 4;
  }
  for(; key<end; key++) h = reference_turned(h ^ *key * p[4], 11) * p[0];
  h = (h ^ h / ((uint64_t)1 << 33)) * p[1];
  h = (h ^ h / ((uint64_t)1 << 29)) * p[2];
  return h ^ h / ((uint64_t)1 << 32);
}

/* Writes the header of so many blocks, and returns its length. */
#define REFERENCE_HEADER_BYTES 24
static inline size_t reference_header(uint64_t num_blocks, uint8_t *header){
  static const uint8_t marks[] = {28, 28, 0, 0, 28, 28, 0, 0, 28, 28, 0, 0, 0};
  uint64_t number = num_blocks * 64; /* twice the bytes */
  size_t num = 0;
  header[num++] = 21;
  for(; number>127; number/=128) header[num++] = (uint8_t)(number%128 + 128);
  header[num++] = (uint8_t)number;
  memcpy(header + num, marks, sizeof(marks));
  return num + sizeof(marks);
}

/* Bit number i, 0..7, of a hash, counted from the first bit of the first block. */
static inline uint64_t reference_block_bit(uint64_t hash, uint64_t num_blocks, uint32_t i){
  static const uint32_t salts[8] = {1203114875u, 1150766481u, 2284105051u, 2729912477u, 1884591559u, 770785867u,
                                    2667333959u, 1550580529u};
  const uint64_t block = hash / 4294967296u * num_blocks / 4294967296u;
  return 256*block + 32*i + (uint32_t)hash * salts[i] / 134217728u;
}

static inline int reference_block_may_contain(const uint8_t *blocks, uint64_t num_blocks, uint64_t hash){
  uint32_t i;
  for(i=0; i<8; i++){
    const uint64_t bit = reference_block_bit(hash, num_blocks, i);
    if( (blocks[bit/8] >> bit%8 & 1)==0 ) return 0;
  }
  return 1;
}

/* ---- BloomFiles (FORMATS.md) ------------------------------------------------------------- */

/* The unit, 0 .. num_units-1, that probe number i of a hash tests. */
static inline uint64_t reference_unit(uint64_t hash, uint32_t i, uint64_t num_units){
  return (hash + i * reference_turned(hash, 31)) % num_units;
}

/* The answer for one of the sets. */
static inline int reference_set_may_contain(
  const uint8_t *file, uint64_t num_units, uint32_t num_probes, size_t unit_bytes, uint64_t hash, size_t set
){
  uint32_t i;
  for(i=0; i<num_probes; i++){
    const uint64_t unit = reference_unit(hash, i, num_units);
    if( (file[32 + (size_t)unit*unit_bytes + set/8] >> set%8 & 1)==0 ) return 0;
  }
  return 1;
}

#endif
