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
#ifndef BLOOM_CORE_PARTITION_H
#define BLOOM_CORE_PARTITION_H

#include <stddef.h>
#include <stdint.h>

/* The partition, 0 .. num_partitions-1, of a key of num_bytes bytes; num_partitions > 0,
** and key may be NULL if num_bytes is 0. */
uint64_t bloom_partition_of(const uint8_t *key, size_t num_bytes, uint64_t num_partitions);

#endif
