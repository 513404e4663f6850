/*
** Parquet's filter: a hash of 64 bits sets 8 bits of one block.
**
**   +---------------------+-----------------------------------+
**   | header, 15-19 bytes | num_blocks blocks of 32 bytes     |
**   +---------------------+-----------------------------------+
**
** The header is a struct in Thrift's compact form: the number of bytes of all blocks, then
** the algorithm SPLIT_BLOCK, the hash XXHASH and the compression UNCOMPRESSED:
**
**   15, varint(2 * bytes), 1c 1c 00 00, 1c 1c 00 00, 1c 1c 00 00, 00
**
** Each number of blocks has exactly one header.  Bytes with another header, or of another
** length than the header says, are not read as this encoding; if the header is complete,
** they are damaged.
** Source: apache/parquet-format, BloomFilter.md and parquet.thrift (BloomFilterHeader).
*/
#ifndef BLOOM_CORE_PARQUET_H
#define BLOOM_CORE_PARQUET_H

#include <stdint.h>

#include "../filter.h"
#include "../hash.h"
#include "../numeric.h"

#define BLOOM_PARQUET_MIN_HEADER_BYTES 15
#define BLOOM_PARQUET_MAX_HEADER_BYTES 19

/* The header has 31 bits for the number of bytes of all blocks. */
#define BLOOM_PARQUET_MAX_BLOCKS 67108863u

extern const bloom_encoding bloom_encoding_parquet;

/* Writes the header of num_blocks blocks; returns its length in bytes. */
size_t bloom_parquet_put_header(uint64_t num_blocks,
                                uint8_t header[BLOOM_PARQUET_MAX_HEADER_BYTES]);

/*
** Returns the false positive rate, 0..1, of num_blocks blocks, 1..BLOOM_PARQUET_MAX_BLOCKS, with
** num_keys different keys.  Keys fall on blocks like balls into bins, and most false positives
** are in the fullest blocks.  So the rate is a sum over all numbers of keys that a block may
** have: the probability of that number, times the probability that so many keys set all eight
** bits.
*/
double bloom_parquet_modelled_fpr(uint64_t num_keys, uint64_t num_blocks);

/* -- The hash --------------------------------------------------------------- */

/*
** Parquet's hash: XXH64 with seed 0 of a value's plain bytes.  A value of type
** INT64 is 8 bytes, little-endian; a byte array is its bytes, without their number, and
** bloom_xxh64() is its hash.
** Sources: apache/parquet-format, BloomFilter.md; xxHash, doc/xxhash_spec.md.
*/

/* Returns XXH64 of the 8 bytes of an INT64, computed from the number: the same on every machine. */
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
