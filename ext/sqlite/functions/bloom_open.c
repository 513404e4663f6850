/*
** bloom_open(filter): a handle that the other functions take in place of the
** BLOB; NULL for NULL.  Its function data is the connection's.
**
** Why: before 3.43, SQLite copies the BLOB that a scalar subquery returns for each row of
** the outer query.  It never copies what a pointer value points to.
*/
#include "../../core/encodings.h"
#include "../connection.h"
#include "../filter_arg.h"
#include "functions.h"
#include "../interrupt.h"

/* The alignment of a filter's bits, so that a block of Parquet's lies within one cache
** line. */
#define CACHE_LINE_BYTES 64

/* Copies a filter into a handle that has room for it and one cache line more, so that its
** bits can begin a line.  SQLITE_OK or SQLITE_INTERRUPT. */
static int fill_handle(sqlite3 *db, bloom_handle *handle, const bloom_filter *filter){
  const size_t num_bytes = filter->shape.num_bytes;
  const size_t bits_at = num_bytes ? (size_t)(filter->bits - filter->bytes) : 0;
  uint8_t *bytes =
      handle->bytes + (size_t)(0 - (uintptr_t)handle->bytes - bits_at) % CACHE_LINE_BYTES;
  if( bloom_copy_bytes(db, bytes, filter->bytes, num_bytes)!=SQLITE_OK ) return SQLITE_INTERRUPT;
  bloom_filter_read(bytes, num_bytes, &handle->filter);
  return SQLITE_OK;
}

void bloom_open(sqlite3_context *context, int num_args, sqlite3_value **args){
  const bloom_connection *connection = sqlite3_user_data(context);
  bloom_filter storage;
  const bloom_filter *filter = bloom_filter_arg_or_fail(context, "bloom_open", args[0], NULL,
                                                        &storage);
  bloom_handle_status status;
  bloom_handle *handle;
  (void)num_args;
  if( filter==NULL ) return;
  status = bloom_handle_open(connection->pool, connection->db,
                             filter->shape.num_bytes + CACHE_LINE_BYTES, &handle);
  if( status==BLOOM_HANDLE_NOMEM ){
    sqlite3_result_error_nomem(context);
  }else if( status==BLOOM_HANDLE_NONE_LEFT ){
    sqlite3_result_value(context, args[0]); /* the BLOB gets the same answers, only slower */
  }else if( fill_handle(connection->db, handle, filter)==SQLITE_OK ){
    bloom_handle_result(context, handle, 1);
  }else{
    bloom_handle_close(handle);
    sqlite3_result_error_code(context, SQLITE_INTERRUPT);
  }
}
