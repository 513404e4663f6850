/*
** The filter that an SQL value stands for.
*/
#include "filter_arg.h"

#include "../core/encodings.h"
#include "errors.h"

bloom_filter_arg_status bloom_filter_arg(
  sqlite3 *db, sqlite3_value *value, bloom_filter *storage, const bloom_filter **filter
){
  const int type = sqlite3_value_type(value);
  const void *bytes;
  size_t num_bytes;
  if( type==SQLITE_NULL ){ /* a handle's type, too */
    const bloom_handle *handle =
        bloom_handle_find(db, sqlite3_value_pointer(value, bloom_handle_type));
    if( handle==NULL ) return BLOOM_ARG_NULL;
    if( !bloom_handle_has_filter(handle) ) return BLOOM_ARG_NO_FILTER;
    *filter = &handle->filter;
    return BLOOM_ARG_FILTER;
  }
  if( type!=SQLITE_BLOB ) return BLOOM_ARG_NO_FILTER;
  bytes = sqlite3_value_blob(value);
  num_bytes = (size_t)sqlite3_value_bytes(value);
  if( bytes==NULL && num_bytes>0 ) return BLOOM_ARG_NOMEM;
  bloom_filter_read(bytes, num_bytes, storage);
  *filter = storage;
  return BLOOM_ARG_FILTER;
}

const char *bloom_no_filter_name(sqlite3 *db, sqlite3_value *value){
  const bloom_handle *handle = bloom_handle_find(db,
                                                 sqlite3_value_pointer(value, bloom_handle_type));
  if( handle && handle->test_keys ){
    return "bloom_filter()'s handle: bloom_may_contain() alone takes it";
  }
  return bloom_type_name(value);
}

const bloom_filter *bloom_filter_arg_or_fail(
  sqlite3_context *context, const char *function, sqlite3_value *value, sqlite3_value *next,
  bloom_filter *storage
){
  sqlite3 *db = sqlite3_context_db_handle(context);
  const bloom_filter *filter = NULL;
  const bloom_filter_arg_status status = bloom_filter_arg(db, value, storage, &filter);
  if( status==BLOOM_ARG_NOMEM ) sqlite3_result_error_nomem(context);
  if( status==BLOOM_ARG_NO_FILTER ){
    const int is_swapped = next
        && (sqlite3_value_type(next)==SQLITE_BLOB || bloom_handle_of(context, next));
    bloom_fail(context, BLOOM_ERROR_FILTER, function, bloom_no_filter_name(db, value),
               is_swapped ? "; the filter comes first" : "");
  }
  return filter;
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
