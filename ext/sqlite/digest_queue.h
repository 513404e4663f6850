/*
** The digests of an aggregate's keys, first in, first out: steps push, a
** window's inverse steps pop.  Memory: 4 bytes a digest and at most one chunk's
** slack; nothing is copied as it grows.
*/
#ifndef BLOOM_SQLITE_DIGEST_QUEUE_H
#define BLOOM_SQLITE_DIGEST_QUEUE_H

#include "../core/filter.h"

/* Digests in the largest chunk; chunks double up to it. */
#define BLOOM_CHUNK_MAX_DIGESTS 65536

/* Zero bytes are an empty queue. */
typedef struct bloom_digest_queue {
  struct bloom_digest_chunk *first, *last; /* last is the one to push to */
  uint64_t num_digests;
} bloom_digest_queue;

/* SQLITE_OK or SQLITE_NOMEM, the queue unchanged. */
int bloom_digest_queue_push(bloom_digest_queue *queue, bloom_digest digest);

/* Forgets the oldest digest; the queue must not be empty. */
void bloom_digest_queue_pop(bloom_digest_queue *queue);

/* The digests, oldest first, valid until the queue changes; NULL if none. */
const bloom_digest_run *bloom_digest_queue_runs(const bloom_digest_queue *queue);

/* Forgets all digests and frees their memory. */
void bloom_digest_queue_clear(bloom_digest_queue *queue);

#endif
