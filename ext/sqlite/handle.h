/*
** Handles: what bloom_open() returns in place of a filter, as a pointer value.
**
** SQLite frees the object of a pointer value with the value that it was made for, while copies of
** the value may live on.  So a handle's pointer is no address but a number that was never used
** before, and each use looks it up.  A copy finds the filter of its original as long as that is
** open, and counts as NULL afterwards.
**
** The numbers of open handles are in one array for the whole process, because the destructor of a
** value does not know its connection.  Threads share it without a lock.
*/
#ifndef BLOOM_SQLITE_HANDLE_H
#define BLOOM_SQLITE_HANDLE_H

#include <stdatomic.h>

#include "../core/debug.h"
#include "../core/filter.h"
#include "sqlite_api.h"

/* The type of the pointer values, for sqlite3_result_pointer(). */
extern const char bloom_handle_type[29];

#define BLOOM_TEST_NULL  (-1) /* the key is NULL */
#define BLOOM_TEST_NOMEM (-2)

/* How many handles a process can have open at once; a power of two. */
#define BLOOM_MAX_OPEN_HANDLES 16384

/* A filter with bytes of its own.  It is opened and closed on one connection. */
typedef struct bloom_handle {
  bloom_filter filter; /* of bytes; set by the function that fills them */
  /* NULL: the handle is bloom_open()'s, and all functions read its filter.  Else only
  ** bloom_may_contain() takes it, and calls this in place of testing filter; it returns 1, 0,
  ** BLOOM_TEST_NULL or BLOOM_TEST_NOMEM. */
  int (*test)(void *data, int num_keys, sqlite3_value **keys);
  void *test_data;
  int num_keys; /* of bloom_filter(), 0: any number; BLOOM_ONE_KEY of a virtual table */
  uintptr_t number;
  size_t max_bytes; /* the room in bytes */
  struct bloom_connection *connection;
  struct bloom_handle *next; /* in the connection's list of kept ones */
  uint8_t bytes[];
} bloom_handle;

#define BLOOM_ONE_KEY (-1) /* which may be a tuple */

/* Returns where to write a filter into a handle's bytes, behind num_before others: so that its
** bits, which begin bits_at bytes behind that, begin a cache line, and each block of Parquet's lies
** within one.  The handle has room for BLOOM_HANDLE_SLACK bytes more than these. */
#define BLOOM_HANDLE_SLACK 64
static inline uint8_t *bloom_handle_room(bloom_handle *handle, size_t num_before, size_t bits_at){
  uint8_t *bytes = handle->bytes + num_before;
  bytes += (size_t)(0 - (uintptr_t)bytes - bits_at) % BLOOM_HANDLE_SLACK;
  assert( ((uintptr_t)bytes + bits_at)%BLOOM_HANDLE_SLACK==0 );
  assert( (size_t)(bytes - handle->bytes) + bits_at<=handle->max_bytes );
  return bytes;
}

/* Opens a handle on a connection, with room for num_bytes that the caller fills and reads into its
** filter.  SQLITE_OK with *opened set; SQLITE_NOMEM; or SQLITE_FULL: all are open, or a 32-bit
** process has used up its numbers. */
int bloom_handle_open(struct bloom_connection *connection, size_t num_bytes,
                      bloom_handle **opened);

/* Closes a handle: from then on all its copies are NULL. */
void bloom_handle_close(bloom_handle *handle);

/* Sets a handle as the result of a function or a column.  If is_given_away, the result owns it from
** then on, and SQLite closes it with the value.  Else the caller keeps and closes it, and it may be
** the result many times. */
void bloom_handle_result(sqlite3_context *context, const bloom_handle *handle, int is_given_away);

/* A slot of the array of open handles.  A number's slot is its remainder. */
typedef struct bloom_handle_slot {
  _Atomic uintptr_t number; /* 0: free */
  _Atomic(sqlite3 *) db;    /* the handle's connection */
  bloom_handle *handle;     /* only this connection may read it */
} bloom_handle_slot;

extern bloom_handle_slot bloom_handle_slots[BLOOM_MAX_OPEN_HANDLES];

/* Returns this connection's open handle with this number; NULL if there is none, or if it is
** another connection's, which may be closing it now.  Inline because it runs once a row. */
static inline const bloom_handle *bloom_handle_find(const sqlite3 *db, const void *pointer){
  const uintptr_t number = (uintptr_t)pointer;
  bloom_handle_slot *slot = &bloom_handle_slots[number % BLOOM_MAX_OPEN_HANDLES];
  if( atomic_load_explicit(&slot->number, memory_order_relaxed)!=number ) return NULL;
  if( atomic_load_explicit(&slot->db, memory_order_relaxed)!=db ) return NULL;
  return slot->handle;
}

/* Returns the open handle that a value stands for, valid during the function call; else
** NULL.  The type of such a value is NULL in both cases. */
static inline const bloom_handle *bloom_handle_of(sqlite3_context *context, sqlite3_value *value){
  const void *pointer = sqlite3_value_pointer(value, bloom_handle_type);
  return pointer ? bloom_handle_find(sqlite3_context_db_handle(context), pointer) : NULL;
}

/* -- The filter of an argument --------------------------------------------------------------- */

/* Finds the filter that a value stands for on a connection.  SQLITE_OK with *filter set: to the
** handle's filter; to *storage, read from the BLOB; or to NULL for SQL NULL.  *filter is valid
** during the function call; a BLOB's only until the value is used again.  SQLITE_MISMATCH if the
** value is neither BLOB nor handle, or a handle for bloom_may_contain() alone.  SQLITE_NOMEM. */
int bloom_filter_arg(sqlite3 *db, sqlite3_value *value, bloom_filter *storage,
                     const bloom_filter **filter);

/* Returns the filter of a scalar function's first argument.  NULL if the argument is NULL, or, with
** an error in the function's name set on context, if it cannot be a filter; or with
** SQLITE_INTERRUPT, for which it looks before a large filter is read.  next is the argument
** after it, or NULL: if that looks like a filter, the message says that the two were swapped. */
const bloom_filter *bloom_filter_arg_or_fail(sqlite3_context *context, const char *function,
                                             sqlite3_value *value, sqlite3_value *next,
                                             bloom_filter *storage);

#endif
