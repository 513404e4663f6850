/*
** bloom_may_contain(filter, key): 0 if the key is surely not in the filter, 1
** if it may be.  filter is a BLOB or a handle.
**
** (1) For a key that is NULL it returns NULL, whatever the filter.
** (2) A filter that is NULL, because it is missing, may contain every other key: 1.
** (3) What cannot be a filter is an error, which says so if the arguments are swapped.
*/
#include "../errors.h"
#include "../filter_arg.h"
#include "functions.h"
#include "../key.h"

/* Requirement 1.  A handle, whose type is NULL, too, is an error: it is no key. */
static void answer_null_key(sqlite3_context *context, sqlite3_value *key){
  if( bloom_handle_of(context, key) ){
    bloom_fail(context, "bloom_may_contain(): argument 2 (key) is a handle from bloom_open(); the filter comes first");
  }
}

/* Tests the filter of a virtual table's handle. */
static void test_vtab(sqlite3_context *context, const bloom_handle *handle, sqlite3_value *key){
  const int answer = handle->test(handle->test_data, key);
  if( answer>=0 ) sqlite3_result_int(context, answer);
  else if( answer==BLOOM_TEST_NOMEM ) sqlite3_result_error_nomem(context);
  else answer_null_key(context, key);
}

void bloom_may_contain(sqlite3_context *context, int num_args, sqlite3_value **args){
  bloom_filter storage;
  /* The type of a handle is NULL, so look for a handle first. */
  const bloom_handle *handle = bloom_handle_of(context, args[0]);
  const bloom_filter *filter;
  bloom_key key;
  (void)num_args;
  if( handle==NULL ){
    if( sqlite3_value_type(args[0])==SQLITE_NULL ){
      if( sqlite3_value_type(args[1])==SQLITE_NULL ) answer_null_key(context, args[1]);
      else sqlite3_result_int(context, 1);
      return;
    }
    filter = bloom_blob_arg_or_fail(context, "bloom_may_contain", args[0], args[1], &storage);
    if( filter==NULL ) return;
  }else if( handle->test ){
    test_vtab(context, handle, args[1]);
    return;
  }else{
    filter = &handle->filter;
  }
  switch( bloom_key_of(args[1], &key) ){
    case BLOOM_KEY_INTEGER:
      sqlite3_result_int(context, filter->encoding->may_contain_int64(filter, key.integer));
      break;
    case BLOOM_KEY_BYTES:
      sqlite3_result_int(context, filter->encoding->may_contain_bytes(filter, key.bytes, key.num_bytes));
      break;
    case BLOOM_KEY_NULL:
      answer_null_key(context, args[1]);
      break;
    case BLOOM_KEY_NOMEM:
      sqlite3_result_error_nomem(context);
      break;
  }
}
