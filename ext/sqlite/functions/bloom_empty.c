/*
** bloom_empty(capacity [, bits_per_key = 10] [, encoding = 'leveldb']): a filter
** with room for capacity keys and none in it; NULL for NULL.  Below 1 bits_per_key is the
** false-positive rate that so many keys will make.  bloom_add() fills it,
** bloom_merge() merges it with others of the same capacity, bits_per_key and encoding.
*/
#include "../errors.h"
#include "functions.h"
#include "../size_args.h"

void bloom_empty(sqlite3_context *context, int num_args, sqlite3_value **args){
  const bloom_arg bits_per_key_arg = {"bloom_empty", 2, "bits_per_key",
                                      num_args>1 ? args[1] : NULL};
  bloom_size_args size = {NULL, BLOOM_DEFAULT_BITS_PER_KEY, 0, BLOOM_NO_CAPACITY};
  const char *hint = NULL;
  double bits_per_key;
  bloom_shape shape;
  uint8_t *filter;
  if( bloom_take_encoding(context, "bloom_empty", 3, &num_args, args, &size.encoding)!=SQLITE_OK ){
    return;
  }
  if( num_args>1 && bloom_is_number_in(args[0], 0, 0.999999) ) hint = "the capacity comes first";
  if( bloom_read_capacity(context, (bloom_arg){"bloom_empty", 1, "capacity", args[0]}, hint,
                          &size.capacity)!=SQLITE_OK ){
    return;
  }
  if( num_args>1
   && bloom_read_bits_per_key(context, bits_per_key_arg, NULL, 1, &size.bits_per_key)!=SQLITE_OK ){
    return;
  }
  if( size.capacity==BLOOM_NO_CAPACITY ) return;
  if( bloom_find_bits_per_key(context, bits_per_key_arg, &size, (uint64_t)size.capacity,
                              &bits_per_key)!=SQLITE_OK ){
    return;
  }
  if( bloom_find_shape(context, size.encoding, (uint64_t)size.capacity, bits_per_key,
                       &shape)!=SQLITE_OK ){
    return;
  }
  filter = bloom_malloc_or_fail(context, shape.num_bytes);
  if( filter==NULL ) return;
  size.encoding->writer->clear(&shape, filter);
  sqlite3_result_blob64(context, filter, shape.num_bytes, sqlite3_free);
}
