/*
** bloom_add(filter, key, ...): the filter with those keys added, as a BLOB;
** filter is a BLOB or a handle, NULL for NULL.
**
** (1) NULL keys are skipped; without keys the filter comes back as it is.
** (2) The bytes are those that bloom_build gives for the same capacity and
**     bits_per_key, whatever the order in which the keys came.
** (3) A filter that cannot hold keys is an error: a reserved encoding, no
**     probes, too short.
*/
#include <string.h>

#include "../core/leveldb/leveldb.h"
#include "errors.h"
#include "filter_arg.h"
#include "functions.h"
#include "key_bytes.h"

/* Digests that go to the bits at once. */
#define ADD_BATCH_DIGESTS 64

/* Adds the keys that are not NULL.  SQLITE_OK or SQLITE_NOMEM. */
static int add_keys(const bloom_shape *shape, uint8_t *bytes, int num_keys, sqlite3_value **keys){
  bloom_digest digests[ADD_BATCH_DIGESTS];
  bloom_digest_run run = {.next = NULL, .digests = digests, .num_digests = 0};
  int i;
  for(i=0; i<num_keys; i++){
    if( sqlite3_value_type(keys[i])==SQLITE_NULL ) continue;
    if( run.num_digests==ADD_BATCH_DIGESTS ){
      bloom_leveldb_add(shape, bytes, &run);
      run.num_digests = 0;
    }
    if( bloom_key_digest(keys[i], &digests[run.num_digests])!=BLOOM_KEY_OK ) return SQLITE_NOMEM;
    run.num_digests++;
  }
  bloom_leveldb_add(shape, bytes, &run);
  return SQLITE_OK;
}

void bloom_add(sqlite3_context *context, int num_args, sqlite3_value **args){
  bloom_filter storage;
  const bloom_filter *filter;
  bloom_shape shape;
  uint8_t *bytes;
  if( num_args==0 ){
    bloom_fail(context, BLOOM_ERROR_NO_ARGS, "bloom_add");
    return;
  }
  filter = bloom_changeable_filter_or_fail(context, "bloom_add", args[0], &storage);
  if( filter==NULL ) return;
  shape = bloom_filter_shape(filter);
  bytes = sqlite3_malloc64(shape.num_bytes);
  if( bytes==NULL ){
    sqlite3_result_error_nomem(context);
    return;
  }
  /* Before a key is read: a key that is the same value as the filter may move it. */
  memcpy(bytes, filter->bytes, shape.num_bytes);
  if( add_keys(&shape, bytes, num_args - 1, args + 1)!=SQLITE_OK ){
    sqlite3_free(bytes);
    sqlite3_result_error_nomem(context);
    return;
  }
  sqlite3_result_blob64(context, bytes, shape.num_bytes, sqlite3_free);
}
