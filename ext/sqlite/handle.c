/*
** The handles of a connection: made once, opened and closed many times.
*/
#include "handle.h"

#include <string.h>

#include "../core/encodings.h"

void *bloom_handle_pool_new(void){
  bloom_handle_pool *pool = sqlite3_malloc64(sizeof(*pool));
  if( pool ) *pool = (bloom_handle_pool){NULL, NULL};
  return pool;
}

void bloom_handle_pool_free(void *pool){
  bloom_handle *handle = ((bloom_handle_pool *)pool)->first;
  while( handle ){
    bloom_handle *next = handle->next;
    sqlite3_free(handle);
    handle = next;
  }
  sqlite3_free(pool);
}

/* A closed handle of the pool, a new one if there is none; NULL if there is no memory. */
static bloom_handle *closed_handle(bloom_handle_pool *pool){
  bloom_handle *handle = pool->first_closed;
  if( handle ) return handle;
  handle = sqlite3_malloc64(sizeof(*handle));
  if( handle==NULL ) return NULL;
  *handle = (bloom_handle){.pool = pool, .next = pool->first};
  pool->first = pool->first_closed = handle;
  return handle;
}

bloom_handle *bloom_handle_open(bloom_handle_pool *pool, const bloom_filter *filter){
  bloom_handle *handle = closed_handle(pool);
  /* One byte at least: no memory must differ from no bytes. */
  uint8_t *bytes = handle ? sqlite3_malloc64(filter->shape.num_bytes + 1) : NULL;
  if( bytes==NULL ) return NULL;
  if( filter->shape.num_bytes ) memcpy(bytes, filter->bytes, filter->shape.num_bytes);
  pool->first_closed = handle->next_closed;
  handle->bytes = bytes;
  bloom_filter_read(bytes, filter->shape.num_bytes, &handle->filter);
  handle->is_open = 1;
  return handle;
}

void bloom_handle_close(void *pointer){
  bloom_handle *handle = pointer;
  sqlite3_free(handle->bytes);
  handle->is_open = 0;
  handle->next_closed = handle->pool->first_closed;
  handle->pool->first_closed = handle;
}
