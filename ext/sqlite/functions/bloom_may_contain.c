/*
** Testing a filter for a key: bloom_may_contain(); bloom_open(), a filter that is tested often;
** bloom_tuple(), the key of several columns; and bloom_partition(), which of many filters to test.
*/
#include <string.h>

#include "../../core/bytes.h"
#include "../../core/debug.h"
#include "../../core/encodings.h"
#include "../../core/hash.h"
#include "../../core/tuple.h"
#include "../connection.h"
#include "../errors.h"
#include "../handle.h"
#include "../key.h"
#include "../size_args.h"
#include "functions.h"

/* -- bloom_may_contain() --------------------------------------------------------------------- */

/* Leaves the result NULL, as that of keys one of which is NULL; fails if a key is a handle, whose
** type is NULL, too. */
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

void bloom_may_contain(sqlite3_context *context, int num_args, sqlite3_value **args){
  bloom_filter storage;
  /* The type of a handle is NULL, so look for a handle first. */
  const bloom_handle *handle = num_args ? bloom_handle_of(context, args[0]) : NULL;
  const bloom_filter *filter;
  bloom_hash_value hash;
  bloom_key_kind kind;
  const int num_keys = num_args - 1;
  if( num_args<2 ){
    bloom_fail(context, "bloom_may_contain(): argument %d (%s) is missing", num_args + 1,
               num_args ? "key" : "filter");
    return;
  }
  /* A virtual table's handle, or one of bloom_filter(). */
  if( handle && handle->test && (num_keys==1 || handle->num_keys!=BLOOM_ONE_KEY) ){
    int answer;
    if( handle->num_keys>0 && handle->num_keys!=num_keys ){
      bloom_fail(context, "bloom_may_contain(): the filter was built by bloom_filter() of %d key%s,"
                          " not of %d", handle->num_keys, handle->num_keys==1 ? "" : "s", num_keys);
      return;
    }
    answer = handle->test(handle->test_data, num_keys, args + 1);
    assert( answer>=BLOOM_TEST_NOMEM && answer<=1 );
    if( answer>=0 ) sqlite3_result_int(context, answer);
    else if( answer==BLOOM_TEST_NOMEM ) sqlite3_result_error_nomem(context);
    else answer_null_key(context, num_keys, args + 1);
    return;
  }
  if( handle==NULL && sqlite3_value_type(args[0])==SQLITE_NULL ){ /* it may have all keys */
    int i;
    for(i=1; i<num_args && sqlite3_value_type(args[i])!=SQLITE_NULL; i++){}
    if( i==num_args ) sqlite3_result_int(context, 1);
    else answer_null_key(context, num_keys, args + 1);
    return;
  }
  if( num_keys>1 ){
    bloom_fail(context, "bloom_may_contain(): this filter takes one key, not %d: several are for a"
                        " handle of bloom_filter(); a filter of tuples takes bloom_tuple(value,"
                        " ...)", num_keys);
    return;
  }
  filter = handle ? &handle->filter
      : bloom_filter_arg_or_fail(context, "bloom_may_contain", args[0], args[1], &storage);
  if( filter==NULL ) return;
  kind = bloom_hash_of_key(filter->encoding, args[1], &hash);
  if( kind==BLOOM_KEY_NULL ) answer_null_key(context, 1, args + 1);
  else if( kind==BLOOM_KEY_NOMEM ) sqlite3_result_error_nomem(context);
  else sqlite3_result_int(context, filter->encoding->may_contain(filter, hash));
}

/* -- bloom_open() ---------------------------------------------------------------------------- */

/* Returns a handle in place of the BLOB.  Before 3.43 SQLite copies a scalar subquery's BLOB for
** each row of the outer query, but never what a pointer value points to. */
void bloom_open(sqlite3_context *context, int num_args, sqlite3_value **args){
  bloom_connection *connection = sqlite3_user_data(context);
  bloom_filter storage;
  const bloom_filter *filter = bloom_filter_arg_or_fail(context, "bloom_open", args[0], NULL,
                                                        &storage);
  bloom_handle *handle;
  int rc;
  (void)num_args;
  if( filter==NULL ) return;
  rc = bloom_handle_open(connection, filter->shape.num_bytes + BLOOM_HANDLE_SLACK, &handle);
  if( rc==SQLITE_NOMEM ){
    sqlite3_result_error_nomem(context);
  }else if( rc==SQLITE_FULL ){
    sqlite3_result_value(context, args[0]); /* the BLOB gets the same answers, only slower */
  }else{
    const size_t num_bytes = filter->shape.num_bytes;
    const size_t bits_at = num_bytes ? (size_t)(filter->bits - filter->bytes) : 0;
    uint8_t *bytes = bloom_handle_room(handle, 0, bits_at);
    if( num_bytes ) memcpy(bytes, filter->bytes, num_bytes);
    bloom_filter_read(bytes, num_bytes, &handle->filter);
    assert( handle->filter.encoding==filter->encoding );
    assert( bloom_shapes_are_equal(&handle->filter.shape, &filter->shape) );
    bloom_handle_result(context, handle, 1);
  }
}

/* -- bloom_tuple() --------------------------------------------------------------------------- */

/* Tuples up to this size are written on the stack: SQLite copies them into memory that it uses
** again for the next row. */
#define SHORT_TUPLE_BYTES 256

/* Writes the tuple of these values (core/tuple.h) to out, which has room for so many bytes.
** SQLITE_OK with *num_bytes set to the size of the tuple, 0 if a value is NULL, for then there is
** no tuple.  If the size is above the room the tuple is incomplete, and a second call with room for
** *num_bytes writes it.  SQLITE_NOMEM: no memory to convert a value. */
static int write_tuple(int num_values, sqlite3_value **values, uint8_t *out, uint64_t room,
                       uint64_t *num_bytes){
  uint64_t end = 0;
  int i;
  *num_bytes = 0;
  for(i=0; i<num_values; i++){
    const int type = sqlite3_value_type(values[i]);
    bloom_tuple_tag tag = BLOOM_TUPLE_INTEGER;
    uint64_t number = 0, begin = end;
    const void *bytes = NULL;
    uint32_t length = 0;
    bloom_key key;
    if( type==SQLITE_NULL ) return SQLITE_OK;
    if( type==SQLITE_INTEGER ){
      number = (uint64_t)sqlite3_value_int64(values[i]);
    }else if( type!=SQLITE_FLOAT ){
      tag = type==SQLITE_TEXT ? BLOOM_TUPLE_TEXT : BLOOM_TUPLE_BLOB;
      bytes = type==SQLITE_TEXT ? sqlite3_value_text(values[i]) : sqlite3_value_blob(values[i]);
      /* The length last: the call above may have converted the value. */
      length = (uint32_t)sqlite3_value_bytes(values[i]);
      /* An empty BLOB has no address. */
      if( bytes==NULL && (type==SQLITE_TEXT || length>0) ) return SQLITE_NOMEM;
    }else if( bloom_real_key_of(sqlite3_value_double(values[i]), &key)==BLOOM_KEY_INTEGER ){
      number = (uint64_t)key.integer;
    }else{
      tag = BLOOM_TUPLE_REAL;
      number = bloom_load64_le(key.bytes);
    }
    end += tag<=BLOOM_TUPLE_REAL ? BLOOM_TUPLE_NUMBER_BYTES
        : BLOOM_TUPLE_HEADER_BYTES + (uint64_t)length;
    if( end>room ) continue;
    out[begin] = (uint8_t)tag;
    if( tag<=BLOOM_TUPLE_REAL ){
      bloom_store64_le(out + begin + 1, number);
    }else{
      bloom_store32_le(out + begin + 1, length);
      if( length ) memcpy(out + begin + BLOOM_TUPLE_HEADER_BYTES, bytes, length);
    }
  }
  assert( end>room || bloom_tuple_num_values(out, (size_t)end)==num_values );
  *num_bytes = end;
  return SQLITE_OK;
}

void bloom_tuple(sqlite3_context *context, int num_args, sqlite3_value **args){
  uint8_t short_bytes[SHORT_TUPLE_BYTES], *bytes = short_bytes;
  uint64_t num_bytes = 0;
  int rc;
  if( num_args==0 ){
    bloom_fail(context, "bloom_tuple(): argument 1 (value) is missing");
    return;
  }
  rc = write_tuple(num_args, args, bytes, sizeof(short_bytes), &num_bytes);
  if( num_bytes>sizeof(short_bytes) ){
    if( num_bytes>bloom_max_value_bytes(context) ){
      sqlite3_result_error_toobig(context);
      return;
    }
    bytes = bloom_malloc_or_fail(context, num_bytes);
    if( bytes==NULL ) return;
    rc = write_tuple(num_args, args, bytes, num_bytes, &num_bytes);
  }
  sqlite3_result_blob64(context, bytes, num_bytes,
                        bytes==short_bytes ? SQLITE_TRANSIENT : sqlite3_free);
  if( num_bytes==0 ) sqlite3_result_null(context);
  bloom_fail_code(context, rc);
}

/* -- bloom_partition() ----------------------------------------------------------------------- */

/* The more keys a filter has, the more false positives its 32-bit hashes and its double hashing add
** (core/leveldb/sizing.h).  In many filters of at most 20,000 keys each they add none, if the keys
** are divided by a hash that shares nothing with LevelDB's. */

void bloom_partition(sqlite3_context *context, int num_args, sqlite3_value **args){
  sqlite3_int64 num_partitions;
  uint8_t decimal[BLOOM_DECIMAL_MAX_BYTES];
  bloom_key key;
  (void)num_args;
  if( sqlite3_value_type(args[1])==SQLITE_NULL ) return;
  if( !bloom_integer_arg(args[1], &num_partitions) || num_partitions<1 ){
    bloom_fail_arg(context, (bloom_arg){"bloom_partition", 2, "num_partitions", args[1]},
                   "an integer in 1..9223372036854775807", NULL);
    return;
  }
  if( !bloom_key_bytes_arg(context, args[0], decimal, &key) ) return;
  sqlite3_result_int64(context, (sqlite3_int64)
    bloom_partition_of(key.bytes, key.num_bytes, (uint64_t)num_partitions));
}
