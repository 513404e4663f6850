/*
** The arguments that say which filter to build.
*/
#include "size_args.h"

#include <string.h>

#include "../core/encodings.h"

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

const char *bloom_name_arg(sqlite3_value *value){
  const char *name = (const char *)sqlite3_value_text(value);
  if( name && strlen(name)!=(size_t)sqlite3_value_bytes(value) ) return "";
  return name;
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

/* Fails with the names of all encodings that filters can be built in: 'a' or 'b'. */
static int fail_encoding(sqlite3_context *context, bloom_arg arg){
  const bloom_encoding *const *row;
  char *literal = bloom_literal(arg.value);
  char *names = NULL;
  for(row=bloom_encodings; literal && *row; row++){
    if( (*row)->shape==NULL ) continue;
    names = names ? sqlite3_mprintf("%z or '%s'", names, (*row)->name) : sqlite3_mprintf("'%s'", (*row)->name);
    if( names==NULL ) break;
  }
  if( names ){
    bloom_fail(context, BLOOM_ERROR_ENCODING, arg.function, arg.number, names, literal);
  }else{
    sqlite3_result_error_nomem(context);
  }
  sqlite3_free(names);
  sqlite3_free(literal);
  return SQLITE_ERROR;
}

int bloom_take_encoding(
  sqlite3_context *context,
  const char *function,
  int max_args,
  int *num_args,
  sqlite3_value **args,
  const bloom_encoding **encoding
){
  const int last = *num_args - 1;
  int type;
  *encoding = bloom_default_encoding;
  if( last==0 ) return SQLITE_OK;
  type = sqlite3_value_type(args[last]);
  if( type!=SQLITE_TEXT && *num_args<max_args ) return SQLITE_OK;
  if( type==SQLITE_TEXT ){
    const char *name = bloom_name_arg(args[last]);
    if( name==NULL ){
      sqlite3_result_error_nomem(context);
      return SQLITE_NOMEM;
    }
    *encoding = bloom_encoding_named(name);
  }else if( type!=SQLITE_NULL ){
    *encoding = NULL;
  }
  if( *encoding==NULL ) return fail_encoding(context, (bloom_arg){function, last + 1, args[last]});
  --*num_args;
  return SQLITE_OK;
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
