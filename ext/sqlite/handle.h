/*
** Handles: what bloom_open() returns in place of a filter, as a pointer value.
**
** SQLite frees a pointer value's object with the value that it was made in, but
** copies such values freely: nullif() does, first_value() does, an application's
** function may keep one for as long as it likes.  So the pointer of a handle is no
** address but a number that was never given before.  It is looked up each time: a
** copy finds the filter that it was made from, or, once that is closed, nothing,
** and nothing is NULL.  No copy costs memory, and no pointer is ever followed.
**
** The numbers of open handles are in one table for the whole process, since the
** destructor of a value knows no connection.  Threads share it without a lock.
*/
#ifndef BLOOM_SQLITE_HANDLE_H
#define BLOOM_SQLITE_HANDLE_H

#include <stdatomic.h>

#include "../core/filter.h"
#include "sqlite_api.h"

/* The type of the pointer values: sqlite3_result_pointer(). */
#define BLOOM_HANDLE_TYPE "bloom filter handle e2c41d57"

#define BLOOM_TEST_NULL  (-1) /* the key is NULL */
#define BLOOM_TEST_NOMEM (-2)

/* Handles open at once in a process; a power of two. */
#define BLOOM_MAX_OPEN_HANDLES 16384

/* A filter with bytes of its own.  It is opened and closed on one connection. */
typedef struct bloom_handle {
  bloom_filter filter; /* of bytes; to be set by who fills them */
  /* NULL, or what answers in place of filter, which is none then: 1, 0, or one of the
  ** codes below. */
  int (*test)(void *data, sqlite3_value *key);
  void *test_data;
  uintptr_t number;
  size_t max_bytes;    /* that there is room for */
  struct bloom_handle_pool *pool;
  struct bloom_handle *next; /* of those that the pool keeps */
  uint8_t bytes[];
} bloom_handle;

/* The large buffers that closed handles leave to the next ones of their connection. */
typedef struct bloom_handle_pool {
  bloom_handle *first;
  size_t num_kept_bytes;
  int num_users; /* its owner, and the open handles */
} bloom_handle_pool;

/* An empty pool; NULL if there is no memory. */
void *bloom_handle_pool_new(void);

/* Frees a pool, once its last handle is closed. */
void bloom_handle_pool_free(void *data);

typedef enum bloom_handle_status {
  BLOOM_HANDLE_OPEN,
  BLOOM_HANDLE_NOMEM,
  BLOOM_HANDLE_NONE_LEFT /* all are open, or a 32-bit process has used up its numbers */
} bloom_handle_status;

/* Opens a handle on a connection, with room for num_bytes that the caller fills and
** reads into its filter.  *opened is set on BLOOM_HANDLE_OPEN. */
bloom_handle_status bloom_handle_open(
  bloom_handle_pool *pool,
  sqlite3 *db,
  size_t num_bytes,
  bloom_handle **opened
);

/* Closes a handle: from then on all its copies are NULL. */
void bloom_handle_close(bloom_handle *handle);

/* Gives a handle as a function's or a column's result.  It stays its owner's, who
** closes it, and so it may be given many times. */
void bloom_handle_result(sqlite3_context *context, const bloom_handle *handle);

/* Gives a handle to the value that it becomes the result in: closed with that. */
void bloom_handle_give_away(sqlite3_context *context, bloom_handle *handle);

/* One place of the table of open handles: a number has its place by its remainder. */
typedef struct bloom_handle_slot {
  _Atomic uintptr_t number; /* 0: free */
  _Atomic(sqlite3 *) db;    /* as whose handle it may be read */
  bloom_handle *handle;     /* its connection's alone to look at */
} bloom_handle_slot;

extern bloom_handle_slot bloom_handle_slots[BLOOM_MAX_OPEN_HANDLES];

/* The open handle of this connection that has this number; else NULL.  Another connection
** may be closing its handle at this moment, so that one is none here.  Inline, as all that
** runs once a row. */
static inline const bloom_handle *bloom_handle_find(const sqlite3 *db, const void *pointer){
  const uintptr_t number = (uintptr_t)pointer;
  bloom_handle_slot *slot = &bloom_handle_slots[number % BLOOM_MAX_OPEN_HANDLES];
  if( atomic_load_explicit(&slot->number, memory_order_relaxed)!=number ) return NULL;
  if( atomic_load_explicit(&slot->db, memory_order_relaxed)!=db ) return NULL;
  return slot->handle;
}

/* The open handle that a value is, valid during the function call; else NULL.  The
** value's type is NULL in any case. */
static inline const bloom_handle *bloom_handle_of(sqlite3_context *context, sqlite3_value *value){
  const void *pointer = sqlite3_value_pointer(value, BLOOM_HANDLE_TYPE);
  return pointer ? bloom_handle_find(sqlite3_context_db_handle(context), pointer) : NULL;
}

#endif
