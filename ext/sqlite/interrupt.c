/*
** Going through the bytes of a large filter, which an interrupt ends.
*/
#include "interrupt.h"

#include <string.h>

#include "../core/hash.h"

static int stoppable_is_interrupted(void *data){
  bloom_stoppable *stoppable = data;
  if( !stoppable->is_stopped ) stoppable->is_stopped = bloom_db_is_interrupted(stoppable->db);
  return stoppable->is_stopped;
}

void bloom_stoppable_init(bloom_stoppable *stoppable, sqlite3 *db, const bloom_filter *filter){
  *stoppable = (bloom_stoppable){*filter, {stoppable_is_interrupted, stoppable}, db, 0};
  stoppable->filter.interrupt = &stoppable->interrupt;
}

int bloom_copy_bytes(sqlite3 *db, uint8_t *to, const uint8_t *from, size_t num_bytes){
  size_t offset;
  for(offset=0; offset<num_bytes; offset+=BLOOM_STEP_BYTES){
    if( offset && bloom_db_is_interrupted(db) ) return SQLITE_INTERRUPT;
    memcpy(to + offset, from + offset, bloom_step_of(num_bytes - offset));
  }
  return SQLITE_OK;
}

int bloom_hash_of_bytes(sqlite3 *db, const uint8_t *bytes, size_t num_bytes, uint64_t *hash){
  uint64_t hashes[2]; /* of what came before, and of a step */
  size_t offset;
  /* The number is the hash itself: each of 2^64 - 1 partitions has one, and the first has two. */
  hashes[0] = bloom_partition_of(bytes, bloom_step_of(num_bytes), UINT64_MAX);
  for(offset=BLOOM_STEP_BYTES; offset<num_bytes; offset+=BLOOM_STEP_BYTES){
    if( bloom_db_is_interrupted(db) ) return SQLITE_INTERRUPT;
    hashes[1] = bloom_partition_of(bytes + offset, bloom_step_of(num_bytes - offset), UINT64_MAX);
    hashes[0] = bloom_partition_of((const uint8_t *)hashes, sizeof(hashes), UINT64_MAX);
  }
  *hash = hashes[0];
  return SQLITE_OK;
}
