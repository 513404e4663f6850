/*
** XXH64 with seed 0, the hash of Parquet's filters and of BloomFiles; and XXH3's 64-bit hash
** without seed or secret, the checksum of bloom_index's entries.
** Source: xxHash, doc/xxhash_spec.md.
*/
#ifndef BLOOM_CORE_XXH64_H
#define BLOOM_CORE_XXH64_H

#include <stddef.h>
#include <stdint.h>

/* The hash of num_bytes bytes; bytes may be NULL if num_bytes is 0. */
uint64_t bloom_xxh64(const uint8_t *bytes, size_t num_bytes);

/* XXH3_64bits of num_bytes bytes; bytes is not NULL. */
uint64_t bloom_xxh3(const uint8_t *bytes, size_t num_bytes);

#endif
