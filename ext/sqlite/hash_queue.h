/*
** A queue of the hashes of an aggregate's keys: first in, first out.  A hash takes 4 or 8 bytes, as
** the encoding's hash_value_bytes says.
*/
#ifndef BLOOM_SQLITE_HASH_QUEUE_H
#define BLOOM_SQLITE_HASH_QUEUE_H

#include "../core/debug.h"
#include "../core/filter.h"
#include "sqlite_api.h"

typedef struct bloom_hash_chunk {
  bloom_hash_run run; /* the hashes in use; first, so that runs chain as chunks do */
  struct bloom_hash_chunk *next;
  size_t end;           /* index after the newest hash */
  size_t max_hashes;
  uint64_t hashes[]; /* or uint32_t, two in each */
} bloom_hash_chunk;

/* Memory set to zero is an empty queue, once hash_value_bytes is set. */
typedef struct bloom_hash_queue {
  bloom_hash_chunk *first, *last; /* last is the one to push to */
  uint64_t num_hashes;
  uint32_t hash_value_bytes;      /* 4 or 8 */
} bloom_hash_queue;

/* Adds an empty chunk to push to.  SQLITE_OK; or SQLITE_NOMEM, with the queue unchanged. */
int bloom_hash_queue_add_chunk(bloom_hash_queue *queue);

/* Adds a hash.  SQLITE_OK; or SQLITE_NOMEM, with the queue unchanged. */
static inline int bloom_hash_queue_push(bloom_hash_queue *queue, bloom_hash_value hash){
  bloom_hash_chunk *chunk = queue->last;
  if( chunk==NULL || chunk->end==chunk->max_hashes ){
    if( bloom_hash_queue_add_chunk(queue)!=SQLITE_OK ) return SQLITE_NOMEM;
    chunk = queue->last;
  }
  if( queue->hash_value_bytes==sizeof(uint32_t) ){
    ((uint32_t *)chunk->hashes)[chunk->end++] = (uint32_t)hash;
  }else{
    chunk->hashes[chunk->end++] = hash;
  }
  chunk->run.num_hashes++;
  assert( chunk->run.num_hashes<=chunk->end && chunk->end<=chunk->max_hashes );
  queue->num_hashes++;
  return SQLITE_OK;
}

/* Drops the oldest hash; the queue must not be empty. */
void bloom_hash_queue_pop(bloom_hash_queue *queue);

/* Returns the hashes, oldest first, valid until the queue changes; NULL if there are none. */
const bloom_hash_run *bloom_hash_queue_runs(const bloom_hash_queue *queue);

/* Counts how often a queue has each hash, in counts[hash], all 0 before.  Hashes are indices of
** counts[], of 32 bits.  Returns the largest count. */
uint32_t bloom_hash_queue_count(const bloom_hash_queue *queue, uint32_t *counts);

/* Drops all hashes and frees their memory. */
void bloom_hash_queue_clear(bloom_hash_queue *queue);

#endif
