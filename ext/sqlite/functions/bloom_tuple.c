/*
** bloom_tuple(value, ...): one key for several columns, a BLOB with the values' types
** and bytes (core/tuple.h); NULL if one of them is NULL.
**
** Two tuples are equal if, and only if, `a = ? AND b = ?` is true for their values, which
** are compared as expressions without affinity: 1 equals 1.0, but '1' is another key.
*/
#include "../errors.h"
#include "../tuple.h"
#include "functions.h"

/* Tuples up to this size are written on the stack, and SQLite copies them into memory
** that it uses again for the next row. */
#define SHORT_TUPLE_BYTES 256

void bloom_tuple(sqlite3_context *context, int num_args, sqlite3_value **args){
  uint8_t short_bytes[SHORT_TUPLE_BYTES], *bytes = short_bytes;
  uint64_t num_bytes = 0;
  bloom_tuple_status status;
  if( num_args==0 ){
    bloom_fail(context, "bloom_tuple(): argument 1 (value) is missing");
    return;
  }
  status = bloom_tuple_write(num_args, args, bytes, sizeof(short_bytes), &num_bytes);
  if( num_bytes>sizeof(short_bytes) ){
    if( num_bytes>bloom_max_value_bytes(context) ){
      sqlite3_result_error_toobig(context);
      return;
    }
    bytes = bloom_malloc_or_fail(context, num_bytes);
    if( bytes==NULL ) return;
    status = bloom_tuple_write(num_args, args, bytes, num_bytes, &num_bytes);
  }
  sqlite3_result_blob64(context, bytes, num_bytes,
                        bytes==short_bytes ? SQLITE_TRANSIENT : sqlite3_free);
  if( status==BLOOM_TUPLE_HAS_NULL ) sqlite3_result_null(context);
  if( status==BLOOM_TUPLE_NOMEM ) sqlite3_result_error_nomem(context);
}
