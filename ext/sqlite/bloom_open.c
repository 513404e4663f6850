/*
** bloom_open(filter): a handle that the other functions take in place of the
** BLOB; NULL for NULL.  A handle is freed with its statement.
**
** Why: before 3.43 SQLite copies the BLOB that a scalar subquery gives once
** per row of the outer query.  A pointer value it never copies.
*/
#include <string.h>

#include "filter_arg.h"
#include "functions.h"

void bloom_open(sqlite3_context *context, int num_args, sqlite3_value **args){
  bloom_filter storage;
  const bloom_filter *filter = bloom_filter_arg_or_fail(context, "bloom_open", args[0], &storage);
  bloom_handle *handle;
  (void)num_args;
  if( filter==NULL ) return;
  handle = sqlite3_malloc64(sizeof(*handle) + filter->num_bytes);
  if( handle==NULL ){
    sqlite3_result_error_nomem(context);
    return;
  }
  if( filter->num_bytes ) memcpy(handle->bytes, filter->bytes, filter->num_bytes);
  bloom_filter_read(handle->bytes, filter->num_bytes, &handle->filter);
  sqlite3_result_pointer(context, handle, BLOOM_HANDLE_TYPE, sqlite3_free);
}
