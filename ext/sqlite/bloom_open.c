/*
** bloom_open(filter): a handle that the other functions take in place of the
** BLOB; NULL for NULL.  Its function data is the connection's handles.
**
** Why: before 3.43 SQLite copies the BLOB that a scalar subquery gives once
** per row of the outer query.  A pointer value it never copies.
*/
#include "filter_arg.h"
#include "functions.h"
#include "handle.h"

void bloom_open(sqlite3_context *context, int num_args, sqlite3_value **args){
  bloom_filter storage;
  const bloom_filter *filter = bloom_filter_arg_or_fail(context, "bloom_open", args[0], &storage);
  bloom_handle *handle;
  (void)num_args;
  if( filter==NULL ) return;
  handle = bloom_handle_open(sqlite3_user_data(context), filter);
  if( handle==NULL ){
    sqlite3_result_error_nomem(context);
    return;
  }
  sqlite3_result_pointer(context, handle, BLOOM_HANDLE_TYPE, bloom_handle_close);
}
