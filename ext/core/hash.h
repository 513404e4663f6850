/*
** Hashes of bytes that more than one encoding or SQL function uses.
*/
#ifndef BLOOM_CORE_HASH_H
#define BLOOM_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* -- xxHash ----------------------------------------------------------------- */

/*
** XXH64 with seed 0, the hash of Parquet's filters and of BloomFiles; and XXH3's 64-bit hash
** without seed or secret, the checksum of bloom_index's entries.
** Source: xxHash, doc/xxhash_spec.md.
*/

/* Returns the hash of num_bytes bytes; bytes may be NULL if num_bytes is 0. */
uint64_t bloom_xxh64(const uint8_t *bytes, size_t num_bytes);

/* Returns XXH3_64bits of num_bytes bytes; bytes is not NULL. */
uint64_t bloom_xxh3(const uint8_t *bytes, size_t num_bytes);

/* -- SipHash ---------------------------------------------------------------- */

/*
** SipHash-2-4: a hash of bytes under a secret, which without it can neither be
** computed nor be told from random numbers.
** Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012.
*/

#define BLOOM_SIPHASH_SECRET_BYTES 16
#define BLOOM_SIPHASH_BYTES        8

/* Returns the hash of num_bytes bytes under secret, BLOOM_SIPHASH_SECRET_BYTES; as a file holds
** it, it is little-endian.  bytes may be NULL if num_bytes is 0. */
uint64_t bloom_siphash(const uint8_t *secret, const uint8_t *bytes, size_t num_bytes);

/* -- Partitions ------------------------------------------------------------- */

/*
** Which of many filters a key belongs to:
**
**   partition = floor(XXH3_64bits(key bytes) * num_partitions / 2^64)
**
** XXH3_64bits is XXH3's 64-bit hash without seed or secret, stable since
** xxHash 0.8.0; the product has 128 bits, of which the upper 64 are taken
** [Lemire 2019, "Fast random integer generation in an interval"].  In Python:
**
**   xxhash.xxh3_64_intdigest(key) * num_partitions >> 64
**
** It shares nothing with LevelDB's hash: keys with equal LevelDB hashes go to different
** partitions, and the LevelDB hashes of one partition's keys are as evenly spread as
** those of all keys.
** Source: xxHash, doc/xxhash_spec.md.
*/

/* Returns the partition, 0 .. num_partitions-1, of a key of num_bytes bytes; num_partitions > 0,
** and key may be NULL if num_bytes is 0. */
uint64_t bloom_partition_of(const uint8_t *key, size_t num_bytes, uint64_t num_partitions);

#endif
