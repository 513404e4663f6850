/*
** What bloom_open() gives: a filter with bytes of its own, in a pointer value.
**
** SQLite frees a pointer value's object with the value that it was made in, but
** copies such values freely (nullif() and first_value() do), and a copy may be
** used after that.  So a handle that is closed gives up its bytes and stays, and
** a copy finds it closed: that is NULL.  The next bloom_open() takes it again.
** Handles are freed with their connection.
*/
#ifndef BLOOM_SQLITE_HANDLE_H
#define BLOOM_SQLITE_HANDLE_H

#include "../core/filter.h"
#include "sqlite_api.h"

/* The type of the pointer values: sqlite3_result_pointer(). */
#define BLOOM_HANDLE_TYPE "bloom"

typedef struct bloom_handle {
  bloom_filter filter;
  uint8_t *bytes; /* of filter; to be freed */
  int is_open;
  struct bloom_handle_pool *pool;
  struct bloom_handle *next;        /* of all that the pool ever made */
  struct bloom_handle *next_closed;
} bloom_handle;

/* The handles of one connection. */
typedef struct bloom_handle_pool {
  bloom_handle *first, *first_closed;
} bloom_handle_pool;

/* An empty pool; NULL if there is no memory. */
void *bloom_handle_pool_new(void);

/* Frees a pool and its handles, of which none may be in use. */
void bloom_handle_pool_free(void *pool);

/* A handle with a copy of filter's bytes; NULL if there is no memory. */
bloom_handle *bloom_handle_open(bloom_handle_pool *pool, const bloom_filter *filter);

/* Closes a handle, as the destructor of its pointer value. */
void bloom_handle_close(void *pointer);

/* The filter of a value that is an open handle, valid while a value owns the
** handle; else NULL.  The value's type is NULL in any case.  Inline, as all that
** runs once a row. */
static inline const bloom_filter *bloom_handle_filter(sqlite3_value *value){
  const bloom_handle *handle = sqlite3_value_pointer(value, BLOOM_HANDLE_TYPE);
  return handle && handle->is_open ? &handle->filter : NULL;
}

#endif
