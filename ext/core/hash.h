/*
** Hashes of bytes that more than one encoding or SQL function uses.
** Sources: xxHash, doc/xxhash_spec.md; Aumasson and Bernstein, "SipHash: a fast short-input PRF",
** 2012.
*/
#ifndef BLOOM_CORE_HASH_H
#define BLOOM_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define BLOOM_SIPHASH_SECRET_BYTES 16
#define BLOOM_SIPHASH_BYTES        8

/* Returns XXH64 with seed 0, the hash of Parquet's filters and of BloomFiles; bytes may be NULL if
** num_bytes is 0. */
uint64_t bloom_xxh64(const uint8_t *bytes, size_t num_bytes);

/* Returns XXH3_64bits, XXH3's 64-bit hash without seed or secret; bytes may be NULL if num_bytes is
** 0. */
uint64_t bloom_xxh3(const uint8_t *bytes, size_t num_bytes);

/* Returns SipHash-2-4 under a secret of BLOOM_SIPHASH_SECRET_BYTES: without it hashes can neither
** be computed nor be told from random numbers.  In files a hash is little-endian.  bytes may be
** NULL if num_bytes is 0. */
uint64_t bloom_siphash(const uint8_t *secret, const uint8_t *bytes, size_t num_bytes);

/* Returns which of many filters, 0 .. num_partitions-1, a key belongs to; num_partitions > 0, and
** key may be NULL if num_bytes is 0.  It shares nothing with LevelDB's hash: keys with equal
** LevelDB hashes go to different partitions, and the LevelDB hashes of one partition's keys are as
** evenly spread as those of all keys. */
uint64_t bloom_partition_of(const uint8_t *key, size_t num_bytes, uint64_t num_partitions);

#endif
