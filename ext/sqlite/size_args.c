/*
** The arguments that size a filter.
*/
#include "size_args.h"

int bloom_integer_arg(sqlite3_value *value, sqlite3_int64 *integer){
  int type = sqlite3_value_type(value);
  if( type==SQLITE_INTEGER ){
    *integer = sqlite3_value_int64(value);
    return 1;
  }
  if( type==SQLITE_FLOAT ){
    double number = sqlite3_value_double(value);
    /* Outside this range the cast would be undefined. */
    if( number>=-0x1p63 && number<0x1p63 && (double)(sqlite3_int64)number==number ){
      *integer = (sqlite3_int64)number;
      return 1;
    }
  }
  return 0;
}

int bloom_read_bits_per_key(sqlite3_context *context, bloom_arg arg, double *bits_per_key){
  int type = sqlite3_value_type(arg.value);
  if( type==SQLITE_NULL ){
    *bits_per_key = BLOOM_DEFAULT_BITS_PER_KEY;
    return SQLITE_OK;
  }
  if( type==SQLITE_INTEGER || type==SQLITE_FLOAT ){
    double number = sqlite3_value_double(arg.value);
    if( number>=1 && number<=100 ){
      *bits_per_key = number;
      return SQLITE_OK;
    }
  }
  bloom_fail_arg(context, BLOOM_ERROR_BITS_PER_KEY, arg);
  return SQLITE_ERROR;
}

int bloom_read_capacity(sqlite3_context *context, bloom_arg arg, sqlite3_int64 *capacity){
  sqlite3_int64 integer;
  if( sqlite3_value_type(arg.value)==SQLITE_NULL ){
    *capacity = BLOOM_NO_CAPACITY;
    return SQLITE_OK;
  }
  if( bloom_integer_arg(arg.value, &integer) && integer>=0 ){
    *capacity = integer;
    return SQLITE_OK;
  }
  bloom_fail_arg(context, BLOOM_ERROR_CAPACITY, arg);
  return SQLITE_ERROR;
}

int bloom_find_shape(
  sqlite3_context *context,
  const bloom_encoding *encoding,
  uint64_t num_keys,
  double bits_per_key,
  bloom_shape *shape
){
  int limit = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
  if( encoding->shape(num_keys, bits_per_key, shape)==BLOOM_OK
   && shape->num_bytes<=(size_t)limit ){
    return SQLITE_OK;
  }
  sqlite3_result_error_toobig(context);
  return SQLITE_TOOBIG;
}
