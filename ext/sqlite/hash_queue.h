/*
** The hashes of an aggregate's keys, first in, first out: steps push, a
** window's inverse steps pop.  Memory: 4 or 8 bytes a hash, as wide as the
** encoding's are, and at most one chunk's slack; nothing is copied as it grows.
*/
#ifndef BLOOM_SQLITE_HASH_QUEUE_H
#define BLOOM_SQLITE_HASH_QUEUE_H

#include "../core/filter.h"
#include "sqlite_api.h"

/* Hashes in the largest chunk; chunks double up to it. */
#define BLOOM_CHUNK_MAX_HASHES 65536

typedef struct bloom_hash_chunk {
  bloom_hash_run run; /* what is in use; first, so that runs chain as chunks do */
  struct bloom_hash_chunk *next;
  size_t end;           /* index after the newest hash */
  size_t max_hashes;
  uint64_t hashes[];   /* or uint32_t, two in each */
} bloom_hash_chunk;

/* Zero bytes are an empty queue, once hash_value_bytes is set. */
typedef struct bloom_hash_queue {
  bloom_hash_chunk *first, *last; /* last is the one to push to */
  uint64_t num_hashes;
  uint32_t hash_value_bytes;            /* 4 or 8 */
} bloom_hash_queue;

/* Adds an empty chunk to push to.  SQLITE_OK or SQLITE_NOMEM, the queue unchanged. */
int bloom_hash_queue_add_chunk(bloom_hash_queue *queue);

/* SQLITE_OK or SQLITE_NOMEM, the queue unchanged.  Inline: runs once a row. */
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
  queue->num_hashes++;
  return SQLITE_OK;
}

/* Forgets the oldest hash; the queue must not be empty. */
void bloom_hash_queue_pop(bloom_hash_queue *queue);

/* The hashes, oldest first, valid until the queue changes; NULL if none. */
const bloom_hash_run *bloom_hash_queue_runs(const bloom_hash_queue *queue);

/* Forgets all hashes and frees their memory. */
void bloom_hash_queue_clear(bloom_hash_queue *queue);

#endif
