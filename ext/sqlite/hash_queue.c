/*
** Hashes in memory.
*/
#include "hash_queue.h"

#include <string.h>

#include "../core/debug.h"
#include "errors.h"

/* -- A queue: a chain of chunks --------------------------------------------- */

#define CHUNK_MIN_HASHES 16

int bloom_hash_queue_add_chunk(bloom_hash_queue *queue){
  bloom_hash_chunk *last = queue->last;
  bloom_hash_chunk *chunk;
  size_t max_hashes = last ? last->max_hashes * 2 : CHUNK_MIN_HASHES;
  assert( queue->hash_value_bytes==4 || queue->hash_value_bytes==8 );
  if( max_hashes>BLOOM_CHUNK_MAX_HASHES ) max_hashes = BLOOM_CHUNK_MAX_HASHES;
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
  assert( chunk && chunk->run.num_hashes>0 );
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
    sqlite3_free(chunk);
    chunk = next;
  }
  *queue = (bloom_hash_queue){.hash_value_bytes = queue->hash_value_bytes};
}

/* -- A set, by linear probing: hashes need no other hash --------------------- */

#define FIRST_SLOTS 64

static void hash_set_put(bloom_hash_set *set, uint64_t hash){
  size_t i = (size_t)hash & (set->num_slots - 1);
  while( set->slots[i] ) i = (i + 1) & (set->num_slots - 1);
  set->slots[i] = hash;
  set->num_hashes++;
}

int bloom_hash_set_add(bloom_hash_set *set, bloom_hash_value hash){
  if( bloom_hash_set_has(set, hash) ) return SQLITE_OK;
  if( 2*(set->num_hashes + 1)>set->num_slots ){
    bloom_hash_set larger = {.num_slots = set->num_slots ? 2 * set->num_slots : FIRST_SLOTS};
    size_t i;
    larger.slots = bloom_malloc_zeros(larger.num_slots * sizeof(*larger.slots));
    if( larger.slots==NULL ) return SQLITE_NOMEM;
    for(i=0; i<set->num_slots; i++){
      if( set->slots[i] ) hash_set_put(&larger, set->slots[i]);
    }
    sqlite3_free(set->slots);
    *set = larger;
  }
  hash_set_put(set, hash ? hash : 1);
  return SQLITE_OK;
}

/* Moves hashes that linear probing put behind the removed one into the free slot, so that no search
** ends too early. */
void bloom_hash_set_remove(bloom_hash_set *set, bloom_hash_value hash){
  const size_t mask = set->num_slots - 1;
  const uint64_t removed = hash ? hash : 1;
  size_t i = (size_t)removed & mask, free;
  assert( bloom_hash_set_has(set, hash) );
  while( set->slots[i]!=removed ) i = (i + 1) & mask;
  for(free=i; set->slots[i = (i + 1) & mask]; ){
    /* A hash whose search begins behind the free slot stays. */
    if( ((i - (size_t)set->slots[i]) & mask)<((i - free) & mask) ) continue;
    set->slots[free] = set->slots[i];
    free = i;
  }
  set->slots[free] = 0;
  set->num_hashes--;
}

int bloom_hash_set_copy(const bloom_hash_set *set, bloom_hash_set *copy){
  const size_t num_bytes = set->num_slots * sizeof(*set->slots);
  *copy = (bloom_hash_set){.slots = NULL};
  if( num_bytes==0 ) return SQLITE_OK;
  copy->slots = sqlite3_malloc64(num_bytes);
  if( copy->slots==NULL ) return SQLITE_NOMEM;
  memcpy(copy->slots, set->slots, num_bytes);
  copy->num_slots = set->num_slots;
  copy->num_hashes = set->num_hashes;
  return SQLITE_OK;
}

void bloom_hash_set_clear(bloom_hash_set *set){
  sqlite3_free(set->slots);
  *set = (bloom_hash_set){.slots = NULL};
}
