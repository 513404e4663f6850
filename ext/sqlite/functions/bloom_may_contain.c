/*
** bloom_may_contain(filter, key, ...): 0 if the key is surely not in the filter, 1
** if it may be.  filter is a BLOB or a handle; several keys are for a handle of bloom_filter().
**
** (1) For a key that is NULL it returns NULL, whatever the filter.
** (2) A filter that is NULL, because it is missing, may contain every other key: 1.
** (3) What cannot be a filter is an error, which says so if the arguments are swapped.
** (4) As many keys as the filter was built of, else an error.
*/
#include "../errors.h"
#include "../filter_arg.h"
#include "functions.h"
#include "../key.h"

/* Requirement 1.  A handle, whose type is NULL, too, is an error: it is no key. */
static void answer_null_key(sqlite3_context *context, int num_keys, sqlite3_value **keys){
  int i;
  for(i=0; i<num_keys; i++){
    if( bloom_handle_of(context, keys[i]) ){
      bloom_fail(context,
                 "bloom_may_contain(): argument %d (key) is a handle; the filter comes first",
                 i + 2);
      return;
    }
  }
}

/* Sets what testing a virtual table's handle, or one of bloom_filter(), returned. */
static void answer_test(sqlite3_context *context, int answer, int num_keys, sqlite3_value **keys){
  if( answer>=0 ) sqlite3_result_int(context, answer);
  else if( answer==BLOOM_TEST_NOMEM ) sqlite3_result_error_nomem(context);
  else answer_null_key(context, num_keys, keys);
}

/* Tests a handle of bloom_filter(). */
static void test_filter_keys(sqlite3_context *context, const bloom_handle *handle, int num_keys,
                             sqlite3_value **keys){
  if( handle->num_keys && handle->num_keys!=num_keys ){
    bloom_fail(context,
               "bloom_may_contain(): the filter was built by bloom_filter() of %d key%s, not of %d",
               handle->num_keys, handle->num_keys==1 ? "" : "s", num_keys);
    return;
  }
  answer_test(context, handle->test_keys(handle->test_data, num_keys, keys), num_keys, keys);
}

/* A filter that is NULL may have all keys; others have one each. */
static void answer_several_keys(sqlite3_context *context, const bloom_handle *handle, int num_args,
                                sqlite3_value **args){
  int i;
  if( num_args<2 ){
    bloom_fail(context, "bloom_may_contain(): argument %d (%s) is missing", num_args + 1,
               num_args ? "key" : "filter");
  }else if( handle || sqlite3_value_type(args[0])!=SQLITE_NULL ){
    bloom_fail(context, "bloom_may_contain(): this filter takes one key, not %d: several are for a"
                        " handle of bloom_filter(); a filter of tuples takes bloom_tuple(value,"
                        " ...)", num_args - 1);
  }else{
    for(i=1; i<num_args && sqlite3_value_type(args[i])!=SQLITE_NULL; i++){}
    if( i==num_args ) sqlite3_result_int(context, 1);
    else answer_null_key(context, num_args - 1, args + 1);
  }
}

void bloom_may_contain(sqlite3_context *context, int num_args, sqlite3_value **args){
  bloom_filter storage;
  /* The type of a handle is NULL, so look for a handle first. */
  const bloom_handle *handle = num_args ? bloom_handle_of(context, args[0]) : NULL;
  const bloom_filter *filter;
  bloom_key key;
  if( num_args>1 && handle && handle->test_keys ){
    test_filter_keys(context, handle, num_args - 1, args + 1);
    return;
  }
  if( num_args!=2 ){
    answer_several_keys(context, handle, num_args, args);
    return;
  }
  if( handle==NULL ){
    if( sqlite3_value_type(args[0])==SQLITE_NULL ){
      if( sqlite3_value_type(args[1])==SQLITE_NULL ) answer_null_key(context, 1, args + 1);
      else sqlite3_result_int(context, 1);
      return;
    }
    filter = bloom_filter_arg_or_fail(context, "bloom_may_contain", args[0], args[1], &storage);
    if( filter==NULL ) return;
  }else if( handle->test ){
    answer_test(context, handle->test(handle->test_data, args[1]), 1, args + 1);
    return;
  }else{
    filter = &handle->filter;
  }
  switch( bloom_key_of(args[1], &key) ){
    case BLOOM_KEY_INTEGER:
      sqlite3_result_int(context, filter->encoding->may_contain_int64(filter, key.integer));
      break;
    case BLOOM_KEY_BYTES:
      sqlite3_result_int(context,
                         filter->encoding->may_contain_bytes(filter, key.bytes, key.num_bytes));
      break;
    case BLOOM_KEY_NULL:
      answer_null_key(context, 1, args + 1);
      break;
    case BLOOM_KEY_NOMEM:
      sqlite3_result_error_nomem(context);
      break;
  }
}
