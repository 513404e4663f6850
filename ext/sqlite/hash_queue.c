/*
** A queue of hashes: a chain of chunks.
*/
#include "hash_queue.h"

#include "../core/debug.h"

/* Each chunk is twice as large as the one before, up to so many hashes. */
#define CHUNK_MIN_HASHES 16
#define CHUNK_MAX_HASHES 65536

int bloom_hash_queue_add_chunk(bloom_hash_queue *queue){
  bloom_hash_chunk *last = queue->last;
  bloom_hash_chunk *chunk;
  size_t max_hashes = last ? last->max_hashes * 2 : CHUNK_MIN_HASHES;
  assert( queue->hash_value_bytes==4 || queue->hash_value_bytes==8 );
  if( max_hashes>CHUNK_MAX_HASHES ) max_hashes = CHUNK_MAX_HASHES;
  chunk = sqlite3_malloc64(sizeof(*chunk) + max_hashes * queue->hash_value_bytes);
  if( chunk==NULL ) return SQLITE_NOMEM;
  chunk->run = (bloom_hash_run){.next = NULL, .hashes = chunk->hashes, .num_hashes = 0};
  chunk->next = NULL;
  chunk->end = 0;
  chunk->max_hashes = max_hashes;
  if( last ){
    last->next = chunk;
    last->run.next = &chunk->run;
  }else{
    queue->first = chunk;
  }
  queue->last = chunk;
  return SQLITE_OK;
}

void bloom_hash_queue_pop(bloom_hash_queue *queue){
  bloom_hash_chunk *chunk = queue->first;
  assert( chunk && chunk->run.num_hashes>0 && queue->num_hashes>0 );
  chunk->run.hashes = (const uint8_t *)chunk->run.hashes + queue->hash_value_bytes;
  chunk->run.num_hashes--;
  queue->num_hashes--;
  if( chunk->run.num_hashes==0 ){
    queue->first = chunk->next;
    if( chunk->next==NULL ) queue->last = NULL;
    sqlite3_free(chunk);
  }
}

const bloom_hash_run *bloom_hash_queue_runs(const bloom_hash_queue *queue){
  return queue->first ? &queue->first->run : NULL;
}

uint32_t bloom_hash_queue_count(const bloom_hash_queue *queue, uint32_t *counts){
  const bloom_hash_run *run = bloom_hash_queue_runs(queue);
  uint32_t most = 0;
  assert( run==NULL || queue->hash_value_bytes==sizeof(uint32_t) );
  for(; run; run=run->next){
    const uint32_t *hashes = run->hashes;
    size_t i;
    for(i=0; i<run->num_hashes; i++){
      if( ++counts[hashes[i]]>most ) most = counts[hashes[i]];
    }
  }
  return most;
}

void bloom_hash_queue_clear(bloom_hash_queue *queue){
  bloom_hash_chunk *chunk = queue->first;
  while( chunk ){
    bloom_hash_chunk *next = chunk->next;
    queue->num_hashes -= chunk->run.num_hashes;
    sqlite3_free(chunk);
    chunk = next;
  }
  assert( queue->num_hashes==0 ); /* it is the sum of the runs */
  *queue = (bloom_hash_queue){.hash_value_bytes = queue->hash_value_bytes};
}
