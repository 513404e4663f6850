/*
** LevelDB's hash, with the seed that its filters use: key bytes -> digest.
** Source: LevelDB util/hash.cc, Hash(); util/bloom.cc, BloomHash().
*/
#ifndef BLOOM_CORE_LEVELDB_HASH_H
#define BLOOM_CORE_LEVELDB_HASH_H

#include "filter.h"

/* The digest of a key of num_bytes bytes; key may be NULL if num_bytes is 0. */
bloom_digest bloom_leveldb_hash(const uint8_t *key, size_t num_bytes);

/* The digest of an integer's decimal text, as CAST(value AS TEXT) gives it:
** the digits are rendered and hashed in registers. */
bloom_digest bloom_leveldb_hash_int64(int64_t value);

/* digests[i] = the digest of keys[i]. */
void bloom_leveldb_hash_many(const bloom_span *keys, size_t num_keys, bloom_digest *digests);

#endif
