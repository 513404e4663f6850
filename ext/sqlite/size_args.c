/*
** The arguments that say which filter to build.
*/
#include "size_args.h"

#include <string.h>

#include "../core/debug.h"
#include "../core/encodings.h"
#include "../core/numeric.h"
#include "connection.h"
#include "key.h"

int bloom_integer_arg(sqlite3_value *value, sqlite3_int64 *integer){
  const int type = sqlite3_value_type(value);
  int64_t exact;
  if( type==SQLITE_INTEGER ){
    exact = sqlite3_value_int64(value);
  }else if( type!=SQLITE_FLOAT || !bloom_real_is_integer(sqlite3_value_double(value), &exact) ){
    return 0;
  }
  *integer = exact;
  return 1;
}

const char *bloom_name_arg(sqlite3_value *value){
  const char *name = (const char *)sqlite3_value_text(value);
  if( name && strlen(name)!=(size_t)sqlite3_value_bytes(value) ) return "";
  return name;
}

const char *bloom_text_hint(const char *text, char hint[BLOOM_HINT_BYTES]){
  const size_t num_chars = strcspn(text, "%");
  const int is_percent = text[num_chars]=='%';
  const char *rest = &text[num_chars + (size_t)is_percent];
  double number;
  if( num_chars>=BLOOM_HINT_BYTES || rest[strspn(rest, " ")] ) return NULL;
  sqlite3_snprintf(BLOOM_HINT_BYTES, hint, "%.*s", (int)num_chars, text);
  if( !bloom_read_number(hint, &number) ) return NULL;
  if( !(number>0 && number<=100) || (is_percent && number>=100) ) return NULL;
  sqlite3_snprintf(BLOOM_HINT_BYTES, hint,
                   is_percent ? "for %.6g %% write %.8g" : "write %.6g, without quotes", number,
                   number / 100);
  return hint;
}

void bloom_fail_number(sqlite3_context *context, bloom_arg arg, const char *what){
  const int is_text = sqlite3_value_type(arg.value)==SQLITE_TEXT;
  const char *text = is_text ? bloom_name_arg(arg.value) : NULL;
  char hint[BLOOM_HINT_BYTES];
  bloom_fail_arg(context, arg, what, text ? bloom_text_hint(text, hint) : NULL);
}

int bloom_read_bits_per_key(sqlite3_context *context, bloom_arg arg, double *bits_per_key){
  const int type = sqlite3_value_type(arg.value);
  *bits_per_key = BLOOM_DEFAULT_BITS_PER_KEY;
  if( type==SQLITE_NULL ) return SQLITE_OK;
  *bits_per_key = sqlite3_value_double(arg.value);
  if( (type==SQLITE_INTEGER || type==SQLITE_FLOAT) && *bits_per_key>0 && *bits_per_key<=100 ){
    return SQLITE_OK;
  }
  bloom_fail_number(context, arg, "a number in 1..100, or a rate above 0 and below 1");
  return SQLITE_ERROR;
}

int bloom_read_count(sqlite3_context *context, bloom_arg arg, sqlite3_int64 *count){
  *count = -1;
  if( sqlite3_value_type(arg.value)==SQLITE_NULL ) return SQLITE_OK;
  if( bloom_integer_arg(arg.value, count) && *count>=0 ) return SQLITE_OK;
  bloom_fail_arg(context, arg, "an integer in 0..9223372036854775807", NULL);
  return SQLITE_ERROR;
}

int bloom_take_encoding(sqlite3_context *context, const char *function, int max_args,
                        int *num_args, sqlite3_value **args, const bloom_encoding **encoding){
  const int last = *num_args - 1;
  int type;
  assert( *num_args>0 && *num_args<=max_args );
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
  if( *encoding==NULL ){
    bloom_fail_number(context, (bloom_arg){function, last + 1, "encoding", args[last]},
                      BLOOM_ENCODING_NAMES);
    return SQLITE_ERROR;
  }
  --*num_args;
  return SQLITE_OK;
}

/* -- The same on every row ------------------------------------------------------------------- */

int bloom_keep_size_args(sqlite3_context *context, const bloom_sized_function *function,
                         int num_args, sqlite3_value **args, bloom_size_args *kept){
  bloom_size_args now =
      {function->encoding, BLOOM_DEFAULT_BITS_PER_KEY, BLOOM_NO_CAPACITY};
  bloom_arg bits = function->bits;
  bloom_arg capacity = {bits.function, bits.number + 1, "capacity", NULL};
  int number = bits.number, num_left = num_args, rc = SQLITE_OK;
  const char *name = bits.name;
  if( now.encoding==NULL ){
    rc = bloom_take_encoding(context, bits.function, function->max_args, &num_left, args,
                             &now.encoding);
  }
  if( rc==SQLITE_OK && num_left>=bits.number ){
    bits.value = args[bits.number-1];
    rc = bloom_read_bits_per_key(context, bits, &now.bits_per_key);
  }
  if( rc==SQLITE_OK && num_left>=capacity.number ){
    capacity.value = args[capacity.number-1];
    rc = bloom_read_count(context, capacity, &now.capacity);
  }
  if( rc!=SQLITE_OK ) return rc;
  assert( now.encoding && now.bits_per_key>0 && now.capacity>=BLOOM_NO_CAPACITY );
  if( kept->encoding==NULL ) *kept = now;
  if( now.encoding!=kept->encoding ){
    number = num_args;
    name = "encoding";
  }else if( now.bits_per_key<kept->bits_per_key || now.bits_per_key>kept->bits_per_key ){
    /* bits_per_key */
  }else if( now.capacity!=kept->capacity ){
    number = capacity.number;
    name = capacity.name;
  }else{
    return SQLITE_OK;
  }
  bloom_fail(context, "%s(): argument %d (%s) must be the same on every row of a group",
             bits.function, number, name);
  return SQLITE_ERROR;
}

/* -- Sizes ----------------------------------------------------------------------------------- */

int bloom_find_bits_per_key(sqlite3_context *context, bloom_arg arg, const bloom_size_args *size,
                            uint64_t num_keys, double *bits_per_key){
  bloom_found_size *last = &((bloom_connection *)sqlite3_user_data(context))->last_size;
  const double rate = size->bits_per_key;
  const int is_last =
      last->encoding==size->encoding && last->num_keys==num_keys && last->rate==rate;
  double best_rate = 1;
  uint32_t tenths;
  assert( rate>0 );
  *bits_per_key = rate;
  if( rate>=1 ) return SQLITE_OK; /* it is bits per key */
  tenths = is_last ? last->tenths
      : size->encoding->min_bits_per_key_x10(rate, num_keys, &best_rate);
  *bits_per_key = tenths / 10.0;
  assert( tenths==0 || (tenths>=BLOOM_MIN_TENTH_BITS && tenths<=BLOOM_MAX_TENTH_BITS) );
  if( tenths ){
    *last = (bloom_found_size){size->encoding, rate, num_keys, tenths};
    return SQLITE_OK;
  }
  /* What is in reach is rounded up, never down: it is a promise. */
  bloom_fail(context, "%s(): argument %d (%s) %.15g is out of reach of one filter of %lld keys;"
                      " %.3g is in reach; %s may reach less", arg.function, arg.number, arg.name,
             rate, (sqlite3_int64)num_keys, best_rate<0.98 ? best_rate*1.01 : 1,
             size->encoding->add ? "another encoding, or partitions by bloom_partition(),"
               : "more keys in a set, or a larger capacity,");
  return SQLITE_ERROR;
}

double bloom_least_size(double bits_per_key){
  assert( bits_per_key>0 );
  return bits_per_key<1 ? bloom_least_bits_per_key(bits_per_key) : bits_per_key;
}

int bloom_find_shape(sqlite3_context *context, bloom_arg arg, const bloom_size_args *size,
                     uint64_t num_keys, bloom_shape *shape){
  double bits_per_key;
  const int rc = bloom_find_bits_per_key(context, arg, size, num_keys, &bits_per_key);
  if( rc!=SQLITE_OK ) return rc;
  if( size->encoding->shape(num_keys, bits_per_key, shape)==BLOOM_OK
   && shape->num_bytes<=bloom_max_value_bytes(context) ){
    return SQLITE_OK;
  }
  sqlite3_result_error_toobig(context);
  return SQLITE_TOOBIG;
}
