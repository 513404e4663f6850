/*
** The numbers of open handles, and the buffers of closed ones.
*/
#include "handle.h"

#include "../core/debug.h"
#include "../core/encodings.h"
#include "connection.h"
#include "errors.h"

/* A smaller buffer is not kept: it costs little to allocate. */
#define KEPT_MIN_BYTES ((size_t)1 << 16)

/* The most bytes that a connection keeps in buffers. */
#define KEPT_MAX_BYTES ((size_t)1 << 24)

/* Aligned because SQLite compares types by strcmp() for each row, and strcmp() goes byte by byte
** where a string may reach into the next page. */
_Alignas(128)
const char bloom_handle_type[29] = "bloom filter handle e2c41d57";

bloom_handle_slot bloom_handle_slots[BLOOM_MAX_OPEN_HANDLES];

/* The latest number; 0 before the first. */
static _Atomic uintptr_t last_number;

/* -- Numbers --------------------------------------------------------------------------------- */

static bloom_handle_slot *slot_of(uintptr_t number){
  return &bloom_handle_slots[number % BLOOM_MAX_OPEN_HANDLES];
}

/* Enters an open handle into the array under a number that was never used before.  Returns 0 if no
** slot is free, or no number left.  Counting begins at a random number of the lower half, so that
** another copy of this library in the process uses other numbers. */
static int number_handle(bloom_handle *handle, sqlite3 *db){
  uintptr_t number = atomic_load(&last_number);
  int num_tries;
  if( number==0 ){
    uintptr_t start;
    sqlite3_randomness(sizeof(start), &start);
    start = (start >> 1) | 1;
    if( atomic_compare_exchange_strong(&last_number, &number, start) ) number = start;
  }
  for(num_tries=0; num_tries<BLOOM_MAX_OPEN_HANDLES; num_tries++){
    bloom_handle_slot *slot;
    uintptr_t is_free = 0;
    do{
      if( number==UINTPTR_MAX ) return 0;
    }while( !atomic_compare_exchange_weak(&last_number, &number, number + 1) );
    slot = slot_of(++number);
    if( !atomic_compare_exchange_strong(&slot->number, &is_free, number) ) continue;
    slot->handle = handle;
    atomic_store(&slot->db, db);
    handle->number = number;
    return 1;
  }
  return 0;
}

/* -- Buffers --------------------------------------------------------------------------------- */

/* A buffer that was returned to the system costs a page fault for every 4 KB when it is allocated
** again: if none were kept, bloom_open() of 1 MB would take eight times as long. */

/* Takes a kept handle out of the list, which has it at *at. */
static bloom_handle *take_kept(bloom_connection *connection, bloom_handle **at){
  bloom_handle *handle = *at;
  *at = handle->next;
  assert( connection->num_kept_bytes>=handle->max_bytes );
  connection->num_kept_bytes -= handle->max_bytes;
  return handle;
}

/* Keeps a handle's buffer, if need be in place of older ones, or frees it.  Nothing is kept
** if the program limits SQLite's memory. */
static void handle_release(bloom_connection *connection, bloom_handle *handle){
  if( handle->max_bytes<KEPT_MIN_BYTES || handle->max_bytes>KEPT_MAX_BYTES
   || sqlite3_soft_heap_limit64(-1)>0 ){
    sqlite3_free(handle);
    return;
  }
  while( connection->num_kept_bytes>KEPT_MAX_BYTES - handle->max_bytes ){
    sqlite3_free(take_kept(connection, &connection->kept));
  }
  handle->next = connection->kept;
  connection->kept = handle;
  connection->num_kept_bytes += handle->max_bytes;
  assert( connection->num_kept_bytes<=KEPT_MAX_BYTES );
}

/* -- Handles --------------------------------------------------------------------------------- */

int bloom_handle_open(bloom_connection *connection, size_t num_bytes, bloom_handle **opened){
  bloom_handle **at = &connection->kept;
  bloom_handle *handle;
  while( *at && (*at)->max_bytes<num_bytes ) at = &(*at)->next;
  if( *at && num_bytes>=KEPT_MIN_BYTES ){
    handle = take_kept(connection, at);
  }else{
    handle = sqlite3_malloc64(sizeof(*handle) + num_bytes);
    if( handle==NULL ) return SQLITE_NOMEM;
    *handle = (bloom_handle){.max_bytes = num_bytes};
  }
  if( !number_handle(handle, connection->db) ){
    handle_release(connection, handle);
    return SQLITE_FULL;
  }
  assert( handle->max_bytes>=num_bytes && slot_of(handle->number)->handle==handle );
  bloom_connection_hold(connection);
  handle->connection = connection;
  handle->test = NULL;
  *opened = handle;
  return SQLITE_OK;
}

void bloom_handle_close(bloom_handle *handle){
  bloom_handle_slot *slot = slot_of(handle->number);
  bloom_connection *connection = handle->connection;
  assert( slot->handle==handle && slot->number==handle->number );
  atomic_store(&slot->db, NULL);
  atomic_store(&slot->number, 0);
  handle_release(connection, handle);
  bloom_connection_release(connection);
}

/* Closes the handle of a value that owns it: the value's destructor. */
static void close_number(void *pointer){
  assert( slot_of((uintptr_t)pointer)->number==(uintptr_t)pointer );
  bloom_handle_close(slot_of((uintptr_t)pointer)->handle);
}

void bloom_handle_result(sqlite3_context *context, const bloom_handle *handle, int is_given_away){
  /* The pointer is never dereferenced: bloom_handle_find() turns it back into a number. */
  void *pointer = (void *)handle->number; /* NOLINT(performance-no-int-to-ptr) */
  assert( slot_of(handle->number)->handle==handle );
  sqlite3_result_pointer(context, pointer, bloom_handle_type, is_given_away ? close_number : NULL);
}

/* -- The filter of an argument --------------------------------------------------------------- */

int bloom_filter_arg(sqlite3 *db, sqlite3_value *value, bloom_filter *storage,
                     const bloom_filter **filter){
  const int type = sqlite3_value_type(value);
  const void *bytes;
  size_t num_bytes;
  *filter = NULL;
  if( type==SQLITE_NULL ){ /* a handle's type, too */
    const bloom_handle *handle =
        bloom_handle_find(db, sqlite3_value_pointer(value, bloom_handle_type));
    if( handle && handle->test ) return SQLITE_MISMATCH;
    if( handle ) *filter = &handle->filter;
    return SQLITE_OK;
  }
  if( type!=SQLITE_BLOB ) return SQLITE_MISMATCH;
  bytes = sqlite3_value_blob(value);
  num_bytes = (size_t)sqlite3_value_bytes(value);
  if( bytes==NULL && num_bytes>0 ) return SQLITE_NOMEM;
  bloom_filter_read(bytes, num_bytes, storage);
  *filter = storage;
  return SQLITE_OK;
}

const bloom_filter *bloom_filter_arg_or_fail(sqlite3_context *context, const char *function,
                                             sqlite3_value *value, sqlite3_value *next,
                                             bloom_filter *storage){
  const bloom_filter *filter;
  const int rc = bloom_filter_arg(sqlite3_context_db_handle(context), value, storage, &filter);
  if( filter && filter->shape.num_bytes>BLOOM_STEP_BYTES && bloom_is_interrupted(context) ){
    sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    return NULL;
  }
  if( rc==SQLITE_NOMEM ) sqlite3_result_error_nomem(context);
  if( rc==SQLITE_MISMATCH ){
    const int is_swapped = next
        && (sqlite3_value_type(next)==SQLITE_BLOB || bloom_handle_of(context, next));
    bloom_fail(context, BLOOM_ERROR_FILTER, function, bloom_type_name(value),
               is_swapped ? "; the filter comes first" : "");
  }
  return filter;
}
