/*
** Live LevelDB, for C: a thin C linkage over its BloomFilterPolicy.
** Source: leveldb/filter_policy.h of the installed library.
*/
#ifndef BLOOM_TEST_LEVELDB_ORACLE_H
#define BLOOM_TEST_LEVELDB_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CreateFilter() of the policy for bits_per_key, 1..100; free() the result. */
uint8_t *oracle_create_filter(int bits_per_key, const uint8_t *const *keys,
                              const size_t *lengths, size_t num_keys, size_t *num_bytes);

/* KeyMayMatch(): 0 or 1. */
int oracle_may_match(const uint8_t *filter, size_t num_bytes, const uint8_t *key,
                     size_t key_bytes);

/* "1.23" */
const char *oracle_version(void);

#ifdef __cplusplus
}
#endif

#endif
