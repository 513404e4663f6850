/*
** The filter that an SQL value stands for.
*/
#include "filter_arg.h"

#include "../core/encodings.h"
#include "errors.h"

/* Reads a BLOB as a filter. */
static bloom_filter_arg_status blob_arg(sqlite3 *db, sqlite3_value *value, bloom_filter *storage){
  const void *bytes;
  size_t num_bytes;
  const int type = sqlite3_value_type(value);
  const void *pointer = sqlite3_value_pointer(value, BLOOM_HANDLE_TYPE);
  if( type==SQLITE_NULL && !bloom_handle_find(db, pointer) ) return BLOOM_ARG_NULL;
  if( type!=SQLITE_BLOB ) return BLOOM_ARG_NO_FILTER;
  bytes = sqlite3_value_blob(value);
  num_bytes = (size_t)sqlite3_value_bytes(value);
  if( bytes==NULL && num_bytes>0 ) return BLOOM_ARG_NOMEM;
  bloom_filter_read(bytes, num_bytes, storage);
  return BLOOM_ARG_FILTER;
}

bloom_filter_arg_status bloom_filter_arg(
  sqlite3 *db, sqlite3_value *value, bloom_filter *storage, const bloom_filter **filter
){
  const bloom_handle *handle = bloom_handle_find(db,
                                                 sqlite3_value_pointer(value, BLOOM_HANDLE_TYPE));
  bloom_filter_arg_status status;
  if( handle && bloom_handle_has_filter(handle) ){
    *filter = &handle->filter;
    return BLOOM_ARG_FILTER;
  }
  status = blob_arg(db, value, storage);
  if( status==BLOOM_ARG_FILTER ) *filter = storage;
  return status;
}

const char *bloom_no_filter_name(sqlite3 *db, sqlite3_value *value){
  const bloom_handle *handle = bloom_handle_find(db,
                                                 sqlite3_value_pointer(value, BLOOM_HANDLE_TYPE));
  if( handle && handle->test_keys ){
    return "bloom_filter()'s handle: bloom_may_contain() alone takes it";
  }
  return bloom_type_name(value);
}

const bloom_filter *bloom_blob_arg_or_fail(
  sqlite3_context *context, const char *function, sqlite3_value *value, sqlite3_value *next,
  bloom_filter *storage
){
  sqlite3 *db = sqlite3_context_db_handle(context);
  const bloom_filter_arg_status status = blob_arg(db, value, storage);
  if( status==BLOOM_ARG_FILTER ) return storage;
  if( status==BLOOM_ARG_NOMEM ) sqlite3_result_error_nomem(context);
  if( status==BLOOM_ARG_NO_FILTER ){
    const int is_swapped = next
        && (sqlite3_value_type(next)==SQLITE_BLOB || bloom_handle_of(context, next));
    bloom_fail(context, BLOOM_ERROR_FILTER, function, bloom_no_filter_name(db, value),
               is_swapped ? "; the filter comes first" : "");
  }
  return NULL;
}

const bloom_filter *bloom_changeable_filter_or_fail(
  sqlite3_context *context, const char *function, sqlite3_value *value, sqlite3_value *next,
  int needs_writer, bloom_filter *storage
){
  const bloom_filter *filter = bloom_filter_arg_or_fail(context, function, value, next, storage);
  const char *reason;
  if( filter==NULL ) return NULL;
  reason = filter->encoding->readonly_reason ? filter->encoding->readonly_reason(filter) : NULL;
  if( needs_writer && filter->encoding->writer==NULL ) reason = filter->encoding->why_no_writer;
  if( reason==NULL ) return filter;
  bloom_fail(context,
             "%s(): argument 1 (filter) must be a filter that keys can be added to; the filter is "
             "%s", function, reason);
  return NULL;
}
