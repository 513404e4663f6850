/*
** bloom_open(filter): a handle that the other functions take in place of the
** BLOB; NULL for NULL.  Its function data is the connection's handle pool.
**
** Why: before 3.43 SQLite copies the BLOB that a scalar subquery gives once
** per row of the outer query.  A pointer value it never copies.
*/
#include <string.h>

#include "../core/encodings.h"
#include "filter_arg.h"
#include "functions.h"
#include "handle.h"

void bloom_open(sqlite3_context *context, int num_args, sqlite3_value **args){
  bloom_filter storage;
  const bloom_filter *filter = bloom_filter_arg_or_fail(context, "bloom_open", args[0], &storage);
  bloom_handle *handle;
  (void)num_args;
  if( filter==NULL ) return;
  switch( bloom_handle_open(sqlite3_user_data(context), sqlite3_context_db_handle(context),
                            filter->shape.num_bytes, &handle) ){
    case BLOOM_HANDLE_OPEN:
      if( filter->shape.num_bytes ) memcpy(handle->bytes, filter->bytes, filter->shape.num_bytes);
      bloom_filter_read(handle->bytes, filter->shape.num_bytes, &handle->filter);
      bloom_handle_give_away(context, handle);
      break;
    case BLOOM_HANDLE_NOMEM:
      sqlite3_result_error_nomem(context);
      break;
    case BLOOM_HANDLE_NONE_LEFT:
      /* The filter itself answers the same, only slower. */
      sqlite3_result_value(context, args[0]);
      break;
  }
}
