/*
** An allocator for SQLite; arena.h describes it.
*/
#include "arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#if defined(__has_feature)
# if __has_feature(address_sanitizer)
#  define HAS_ASAN
# endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(HAS_ASAN)
# include <sanitizer/asan_interface.h>
#else
# define ASAN_POISON_MEMORY_REGION(address, num_bytes)   ((void)(address), (void)(num_bytes))
# define ASAN_UNPOISON_MEMORY_REGION(address, num_bytes) ((void)(address), (void)(num_bytes))
#endif

/* Blocks of 64 << n bytes, in front of each a header. */
#define NUM_SIZES     16
#define CHUNK_BYTES   ((size_t)1 << 22)
#define MAX_WAITING   64 /* free blocks of a size that are not used again yet */

typedef struct block {
  struct block *next;  /* while it is free */
  uint32_t num_bytes;  /* asked for */
  uint32_t size_index;
} block; /* 16 bytes: what follows is aligned as malloc() aligns */

/* Used in the order in which they were freed. */
static struct {
  block *first, *last;
  int num_blocks;
} waiting[NUM_SIZES];

/* All chunks: the leak checker looks for pointers here, not in poisoned memory. */
#define MAX_CHUNKS 256
static uint8_t *chunks[MAX_CHUNKS];
static size_t num_chunks;
static uint8_t *chunk; /* what is left of the last */
static size_t chunk_bytes_left;
static long num_allocations;

/* Poisoned memory must not be touched, even to read a header. */
static block *header_of(void *memory){
  block *header = (block*)memory - 1;
  ASAN_UNPOISON_MEMORY_REGION(header, sizeof(*header));
  return header;
}

static void hide(block *header){
  ASAN_POISON_MEMORY_REGION(header, sizeof(*header));
}

static block *new_block(uint32_t size_index){
  const size_t num_bytes = sizeof(block) + ((size_t)64 << size_index);
  block *header;
  if( num_bytes>chunk_bytes_left ){
    chunk = num_chunks<MAX_CHUNKS ? malloc(CHUNK_BYTES) : NULL;
    if( chunk==NULL ){
      chunk_bytes_left = 0;
      return NULL;
    }
    chunks[num_chunks++] = chunk;
    chunk_bytes_left = CHUNK_BYTES;
    ASAN_POISON_MEMORY_REGION(chunk, CHUNK_BYTES);
  }
  header = (block*)(void*)chunk;
  ASAN_UNPOISON_MEMORY_REGION(header, sizeof(*header));
  header->size_index = size_index;
  chunk += num_bytes;
  chunk_bytes_left -= num_bytes;
  return header;
}

static void *arena_malloc(int num_bytes){
  uint32_t size_index = 0;
  block *header;
  while( size_index<NUM_SIZES && (size_t)num_bytes>((size_t)64 << size_index) ) size_index++;
  if( size_index==NUM_SIZES ) return NULL;
  if( waiting[size_index].num_blocks>MAX_WAITING ){
    header = header_of(waiting[size_index].first + 1);
    waiting[size_index].first = header->next;
    waiting[size_index].num_blocks--;
  }else{
    header = new_block(size_index);
    if( header==NULL ) return NULL;
  }
  header->num_bytes = (uint32_t)num_bytes;
  hide(header);
  ASAN_UNPOISON_MEMORY_REGION(header + 1, (size_t)num_bytes);
  num_allocations++;
  return header + 1;
}

static void arena_free(void *memory){
  block *header = header_of(memory);
  const uint32_t size_index = header->size_index;
  header->next = NULL;
  if( waiting[size_index].num_blocks++ ){
    block *last = header_of(waiting[size_index].last + 1);
    last->next = header;
    hide(last);
  }else{
    waiting[size_index].first = header;
  }
  waiting[size_index].last = header;
  ASAN_POISON_MEMORY_REGION(memory, header->num_bytes);
  hide(header);
  num_allocations--;
}

static int arena_size(void *memory){
  block *header = header_of(memory);
  const int num_bytes = (int)header->num_bytes;
  hide(header);
  return num_bytes;
}

static void *arena_realloc(void *memory, int num_bytes){
  const int num_old = arena_size(memory);
  void *moved = arena_malloc(num_bytes);
  if( moved==NULL ) return NULL;
  memcpy(moved, memory, (size_t)(num_bytes<num_old ? num_bytes : num_old));
  arena_free(memory);
  return moved;
}

static int arena_roundup(int num_bytes){
  return (num_bytes + 7) & ~7;
}

static int arena_init(void *unused){
  (void)unused;
  return SQLITE_OK;
}

static void arena_shutdown(void *unused){
  (void)unused;
}

void arena_install(void){
  static const sqlite3_mem_methods methods = {
    arena_malloc, arena_free, arena_realloc, arena_size, arena_roundup, arena_init, arena_shutdown, NULL,
  };
  sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

long arena_num_allocations(void){
  return num_allocations;
}
