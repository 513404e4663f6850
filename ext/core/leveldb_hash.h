/*
** LevelDB's hash, with the seed that its filters use: key bytes -> digest.
** Source: LevelDB util/hash.cc, Hash(); util/bloom.cc, BloomHash().
*/
#ifndef BLOOM_CORE_LEVELDB_HASH_H
#define BLOOM_CORE_LEVELDB_HASH_H

#include "filter.h"

/* The digest of a key of num_bytes bytes; key may be NULL if num_bytes is 0. */
bloom_digest bloom_leveldb_hash(const uint8_t *key, size_t num_bytes);

#endif
