/*
** bloom_add(filter, key, ...): the filter with those keys added, as a BLOB;
** filter is a BLOB or a handle, NULL for NULL.
**
** (1) NULL keys are skipped; without keys the filter comes back as it is.
** (2) The bytes are those that bloom_build returns for the same capacity,
**     bits_per_key and encoding, whatever the order in which the keys came.
** (3) A filter that keys cannot be added to is an error, with its encoding's
**     reason.
*/
#include "../errors.h"
#include "../filter_arg.h"
#include "functions.h"
#include "../hash_queue.h"
#include "../interrupt.h"
#include "../key.h"

/* Adds the keys that are not NULL.  SQLITE_OK or SQLITE_NOMEM. */
static int add_keys(
  const bloom_encoding *encoding, const bloom_shape *shape, uint8_t *bytes, int num_keys,
  sqlite3_value **keys
){
  bloom_hash_queue queue = {.hash_value_bytes = encoding->hash_value_bytes};
  int i, rc = SQLITE_OK;
  for(i=0; i<num_keys && rc==SQLITE_OK; i++){
    bloom_hash_value hash;
    const bloom_key_kind kind = bloom_hash_of_key(encoding, keys[i], &hash);
    if( kind==BLOOM_KEY_NOMEM ) rc = SQLITE_NOMEM;
    else if( kind!=BLOOM_KEY_NULL ) rc = bloom_hash_queue_push(&queue, hash);
  }
  if( rc==SQLITE_OK ) encoding->writer->add(shape, bytes, bloom_hash_queue_runs(&queue));
  bloom_hash_queue_clear(&queue);
  return rc;
}

void bloom_add(sqlite3_context *context, int num_args, sqlite3_value **args){
  bloom_filter storage;
  const bloom_filter *filter;
  const bloom_encoding *encoding;
  bloom_shape shape;
  uint8_t *bytes;
  int rc;
  if( num_args==0 ){
    bloom_fail(context, "bloom_add(): argument 1 (filter) is missing");
    return;
  }
  filter = bloom_changeable_filter_or_fail(context, "bloom_add", args[0],
                                           num_args>1 ? args[1] : NULL, 1, &storage);
  if( filter==NULL ) return;
  encoding = filter->encoding;
  shape = filter->shape;
  bytes = bloom_malloc_or_fail(context, shape.num_bytes);
  if( bytes==NULL ) return;
  /* Before a key is read: a key that is the same value as the filter may move it. */
  rc = bloom_copy_bytes(sqlite3_context_db_handle(context), bytes, filter->bytes, shape.num_bytes);
  if( rc==SQLITE_OK ) rc = add_keys(encoding, &shape, bytes, num_args - 1, args + 1);
  if( rc==SQLITE_OK ){
    sqlite3_result_blob64(context, bytes, shape.num_bytes, sqlite3_free);
  }else{
    sqlite3_free(bytes);
    bloom_fail_code(context, rc);
  }
}
