/*
** The digests of an aggregate's keys, first in, first out: steps push, a
** window's inverse steps pop.  Memory: 4 or 8 bytes a digest, as wide as the
** encoding's are, and at most one chunk's slack; nothing is copied as it grows.
*/
#ifndef BLOOM_SQLITE_HASH_QUEUE_H
#define BLOOM_SQLITE_HASH_QUEUE_H

#include "../core/filter.h"
#include "sqlite_api.h"

/* Digests in the largest chunk; chunks double up to it. */
#define BLOOM_CHUNK_MAX_DIGESTS 65536

typedef struct bloom_digest_chunk {
  bloom_digest_run run; /* what is in use; first, so that runs chain as chunks do */
  struct bloom_digest_chunk *next;
  size_t end;           /* index after the newest digest */
  size_t max_digests;
  uint64_t digests[];   /* or uint32_t, two in each */
} bloom_digest_chunk;

/* Zero bytes are an empty queue, once digest_bytes is set. */
typedef struct bloom_digest_queue {
  bloom_digest_chunk *first, *last; /* last is the one to push to */
  uint64_t num_digests;
  uint32_t digest_bytes;            /* 4 or 8 */
} bloom_digest_queue;

/* Adds an empty chunk to push to.  SQLITE_OK or SQLITE_NOMEM, the queue unchanged. */
int bloom_digest_queue_add_chunk(bloom_digest_queue *queue);

/* SQLITE_OK or SQLITE_NOMEM, the queue unchanged.  Inline: runs once a row. */
static inline int bloom_digest_queue_push(bloom_digest_queue *queue, bloom_digest digest){
  bloom_digest_chunk *chunk = queue->last;
  if( chunk==NULL || chunk->end==chunk->max_digests ){
    if( bloom_digest_queue_add_chunk(queue)!=SQLITE_OK ) return SQLITE_NOMEM;
    chunk = queue->last;
  }
  if( queue->digest_bytes==sizeof(uint32_t) ){
    ((uint32_t *)chunk->digests)[chunk->end++] = (uint32_t)digest;
  }else{
    chunk->digests[chunk->end++] = digest;
  }
  chunk->run.num_digests++;
  queue->num_digests++;
  return SQLITE_OK;
}

/* Forgets the oldest digest; the queue must not be empty. */
void bloom_digest_queue_pop(bloom_digest_queue *queue);

/* The digests, oldest first, valid until the queue changes; NULL if none. */
const bloom_digest_run *bloom_digest_queue_runs(const bloom_digest_queue *queue);

/* Forgets all digests and frees their memory. */
void bloom_digest_queue_clear(bloom_digest_queue *queue);

#endif
