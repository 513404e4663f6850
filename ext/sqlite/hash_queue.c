/*
** The digests of an aggregate's keys, in a chain of chunks.
*/
#include "hash_queue.h"

#define CHUNK_MIN_DIGESTS 16

int bloom_digest_queue_add_chunk(bloom_digest_queue *queue){
  bloom_digest_chunk *last = queue->last;
  bloom_digest_chunk *chunk;
  size_t max_digests = last ? last->max_digests * 2 : CHUNK_MIN_DIGESTS;
  if( max_digests>BLOOM_CHUNK_MAX_DIGESTS ) max_digests = BLOOM_CHUNK_MAX_DIGESTS;
  chunk = sqlite3_malloc64(sizeof(*chunk) + max_digests * queue->digest_bytes);
  if( chunk==NULL ) return SQLITE_NOMEM;
  chunk->run = (bloom_digest_run){.next = NULL, .digests = chunk->digests, .num_digests = 0};
  chunk->next = NULL;
  chunk->end = 0;
  chunk->max_digests = max_digests;
  if( last ){
    last->next = chunk;
    last->run.next = &chunk->run;
  }else{
    queue->first = chunk;
  }
  queue->last = chunk;
  return SQLITE_OK;
}

void bloom_digest_queue_pop(bloom_digest_queue *queue){
  bloom_digest_chunk *chunk = queue->first;
  chunk->run.digests = (const uint8_t *)chunk->run.digests + queue->digest_bytes;
  chunk->run.num_digests--;
  queue->num_digests--;
  if( chunk->run.num_digests==0 ){
    queue->first = chunk->next;
    if( chunk->next==NULL ) queue->last = NULL;
    sqlite3_free(chunk);
  }
}

const bloom_digest_run *bloom_digest_queue_runs(const bloom_digest_queue *queue){
  return queue->first ? &queue->first->run : NULL;
}

void bloom_digest_queue_clear(bloom_digest_queue *queue){
  bloom_digest_chunk *chunk = queue->first;
  while( chunk ){
    bloom_digest_chunk *next = chunk->next;
    sqlite3_free(chunk);
    chunk = next;
  }
  *queue = (bloom_digest_queue){.digest_bytes = queue->digest_bytes};
}
