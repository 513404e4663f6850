/*
** A set of hashes in memory.
*/
#ifndef BLOOM_SQLITE_HASH_SET_H
#define BLOOM_SQLITE_HASH_SET_H

#include "../core/filter.h"
#include "sqlite_api.h"

/* Memory set to zero is an empty set. */
typedef struct bloom_hash_set {
  uint64_t *slots;  /* open addressing; 0: free */
  size_t num_slots; /* a power of two, at least twice the hashes; 0 at first */
  size_t num_hashes;
} bloom_hash_set;

/* Adds a hash.  SQLITE_OK; or SQLITE_NOMEM, with the set unchanged. */
int bloom_hash_set_add(bloom_hash_set *set, bloom_hash_value hash);

/* Removes a hash that is in the set. */
void bloom_hash_set_remove(bloom_hash_set *set, bloom_hash_value hash);

/* Makes *copy, whatever it was before, the same set.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_hash_set_copy(const bloom_hash_set *set, bloom_hash_set *copy);

void bloom_hash_set_clear(bloom_hash_set *set);

/* 1 if a hash is in the set.  Inline because it runs once a row. */
static inline int bloom_hash_set_has(const bloom_hash_set *set, bloom_hash_value hash){
  const uint64_t wanted = hash ? hash : 1; /* 0 and 1 are one, which costs a false positive */
  size_t i;
  if( set->num_slots==0 ) return 0;
  for(i=(size_t)wanted & (set->num_slots - 1); set->slots[i]; i=(i + 1) & (set->num_slots - 1)){
    if( set->slots[i]==wanted ) return 1;
  }
  return 0;
}

#endif
