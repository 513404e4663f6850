/*
** bloom_key(value, type): a BLOB of the bytes that another program uses as the key for a value.
** bloom_key(value, 'siphash', secret): a hash of the bytes that the value has by the default rule.
*/
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "../../core/bytes.h"
#include "../../core/debug.h"
#include "../../core/parquet/decimal_key.h"
#include "../../core/hash.h"
#include "../errors.h"
#include "../key.h"
#include "../size_args.h"
#include "functions.h"

#define UUID_BYTES 16
#define UUID_CHARS 36

#define MAX_KEY_BYTES 16

/* What a key_type's write returns besides a number of bytes. */
#define UNFIT     0        /* the value is none of the type's */
#define NO_MEMORY SIZE_MAX

/* One of the names that type may have. */
typedef struct key_type {
  const char *name;
  /* Writes the key of a value that is not NULL, at most MAX_KEY_BYTES.  Returns the number
  ** of bytes, UNFIT or NO_MEMORY. */
  size_t (*write)(const struct key_type *type, sqlite3_value *value, uint8_t *bytes);
  const char *range; /* what the value must be, for a message; NULL: min..max */
  sqlite3_int64 min, max;
  size_t num_bytes; /* of an integer's key; 0: a varint */
  int is_big_endian;
  bloom_decimal_type decimal; /* if its precision is not 0 */
} key_type;

static size_t write_integer_key(const key_type *type, sqlite3_value *value, uint8_t *bytes){
  sqlite3_int64 integer;
  if( !bloom_integer_arg(value, &integer) || integer<type->min || integer>type->max ) return UNFIT;
  if( type->num_bytes==0 ) return bloom_varint64_write((uint64_t)integer, bytes);
  assert( type->num_bytes<=sizeof(integer) );
  if( type->is_big_endian ) bloom_store64_be(bytes, (uint64_t)integer << (64 - 8*type->num_bytes));
  else bloom_store64_le(bytes, (uint64_t)integer);
  return type->num_bytes;
}

static int is_number(sqlite3_value *value){
  return sqlite3_value_type(value)==SQLITE_INTEGER || sqlite3_value_type(value)==SQLITE_FLOAT;
}

static size_t write_double_key(const key_type *type, sqlite3_value *value, uint8_t *bytes){
  (void)type;
  if( !is_number(value) ) return UNFIT;
  bloom_store_real_le(bytes, sqlite3_value_double(value));
  return 8;
}

/* Half a step above FLT_MAX: the least number that does not round to a float.  3.4028235e38, which
** programs print for FLT_MAX, is less. */
#define FLOAT_TOO_BIG 0x1.ffffffp127

static size_t write_float_key(const key_type *type, sqlite3_value *value, uint8_t *bytes){
  const double number = sqlite3_value_double(value);
  const int is_finite = number>=-DBL_MAX && number<=DBL_MAX;
  uint32_t ieee754;
  float rounded;
  (void)type;
  if( !is_number(value) ) return UNFIT;
  if( is_finite && (number<=-FLOAT_TOO_BIG || number>=FLOAT_TOO_BIG) ) return UNFIT;
  if( is_finite && (number<(double)-FLT_MAX || number>(double)FLT_MAX) ){
    rounded = number<0 ? -FLT_MAX : FLT_MAX;  /* C leaves it open how these are rounded. */
  }else if( sqlite3_value_type(value)==SQLITE_INTEGER ){
    /* A double in between would round it twice. */
    rounded = (float)sqlite3_value_int64(value);
  }else{
    rounded = (float)number;
  }
  memcpy(&ieee754, &rounded, sizeof(ieee754));
  bloom_store32_le(bytes, ieee754);
  return 4;
}

/* Returns the value of a hexadecimal digit, 0..15; -1 if it is none. */
static int hex_value(uint8_t digit){
  if( digit>='0' && digit<='9' ) return digit - '0';
  if( digit>='a' && digit<='f' ) return digit - 'a' + 10;
  if( digit>='A' && digit<='F' ) return digit - 'A' + 10;
  return -1;
}

static size_t write_uuid_key(const key_type *type, sqlite3_value *value, uint8_t *bytes){
  const int sql_type = sqlite3_value_type(value);
  const uint8_t *text = sql_type==SQLITE_TEXT ? sqlite3_value_text(value) : NULL;
  size_t i, num_digits = 0;
  (void)type;
  if( sql_type==SQLITE_BLOB && sqlite3_value_bytes(value)==UUID_BYTES ){
    const void *blob = sqlite3_value_blob(value);
    if( blob==NULL ) return NO_MEMORY;
    memcpy(bytes, blob, UUID_BYTES);
    return UUID_BYTES;
  }
  if( sql_type!=SQLITE_TEXT ) return UNFIT;
  if( text==NULL ) return NO_MEMORY;
  if( sqlite3_value_bytes(value)!=UUID_CHARS ) return UNFIT;
  /* 8-4-4-4-12 hexadecimal digits */
  for(i=0; i<UUID_CHARS; i++){
    const int digit = hex_value(text[i]);
    if( i==8 || i==13 || i==18 || i==23 ){
      if( text[i]!='-' ) return UNFIT;
      continue;
    }
    if( digit<0 ) return UNFIT;
    bytes[num_digits/2] = (uint8_t)(num_digits%2 ? bytes[num_digits/2] | digit : digit<<4);
    num_digits++;
  }
  assert( num_digits/2==UUID_BYTES );
  return UUID_BYTES;
}

static size_t write_decimal_key(const key_type *type, sqlite3_value *value, uint8_t *bytes){
  const bloom_decimal_type *decimal = &type->decimal;
  const uint8_t *text;
  switch( sqlite3_value_type(value) ){
    case SQLITE_TEXT:
      text = sqlite3_value_text(value);
      if( text==NULL ) return NO_MEMORY;
      return bloom_decimal_key_of_text(decimal, text, (size_t)sqlite3_value_bytes(value), bytes);
    case SQLITE_INTEGER:
      return bloom_decimal_key_of_int64(decimal, sqlite3_value_int64(value), bytes);
    case SQLITE_FLOAT:
      return bloom_decimal_key_of_real(decimal, sqlite3_value_double(value), bytes);
    default:
      return UNFIT;
  }
}

#define INTEGERS(type, least, most, bytes, is_big) \
  {.name = (type), .write = write_integer_key, .min = (least), .max = (most), \
   .num_bytes = (bytes), .is_big_endian = (is_big)}
#define OTHERS(type, writer, words) {.name = (type), .write = (writer), .range = (words)}

static const key_type key_types[] = {
  INTEGERS("int32", INT32_MIN, INT32_MAX, 4, 0),
  INTEGERS("int64", INT64_MIN, INT64_MAX, 8, 0),
  OTHERS("float", write_float_key, "a number in -3.4028235677973362e38..3.4028235677973362e38"),
  OTHERS("double", write_double_key, "a number"),
  OTHERS("uuid", write_uuid_key,
         "36 characters like '123e4567-e89b-12d3-a456-426614174000' or a BLOB of 16 bytes"),
  INTEGERS("fixed32", 0, UINT32_MAX, 4, 0),
  INTEGERS("fixed64", INT64_MIN, INT64_MAX, 8, 0),
  INTEGERS("big32", 0, UINT32_MAX, 4, 1),
  INTEGERS("big64", INT64_MIN, INT64_MAX, 8, 1),
  INTEGERS("varint32", 0, UINT32_MAX, 0, 0),
  INTEGERS("varint64", INT64_MIN, INT64_MAX, 0, 0),
};

#define SIPHASH "siphash"

/* A TEXT of so many bytes names no type, and may be a secret: 16 bytes, or 32 hexadecimal
** digits. */
#define MIN_SECRET_BYTES 16

/* Returns a literal of an argument for a message, to be freed; of what may be a secret the length
** alone, for messages get into logs.  NULL if there is no memory. */
static char *key_arg_literal(sqlite3_value *value){
  if( sqlite3_value_type(value)!=SQLITE_TEXT || sqlite3_value_bytes(value)<MIN_SECRET_BYTES ){
    return bloom_literal(value);
  }
  return sqlite3_mprintf("a TEXT of %d bytes", sqlite3_value_bytes(value));
}

/* Returns the name in a TEXT, "" for other values; NULL, with the error set on context, if there is
** no memory. */
static const char *type_name_of(sqlite3_context *context, sqlite3_value *value){
  const char *name = "";
  if( sqlite3_value_type(value)==SQLITE_TEXT ){
    name = bloom_name_arg(value);
    if( name==NULL ) sqlite3_result_error_nomem(context);
  }
  return name;
}

/* Returns the type that the second argument names, in any case; decimal, set to it, for a DECIMAL;
** NULL, with the error set on context, if it names none. */
static const key_type *find_key_type(sqlite3_context *context, sqlite3_value **args,
                                     key_type *decimal){
  const char *name = type_name_of(context, args[1]);
  size_t i;
  if( name==NULL ) return NULL;
  for(i=0; i<BLOOM_COUNT_OF(key_types); i++){
    if( sqlite3_stricmp(name, key_types[i].name)==0 ) return &key_types[i];
  }
  *decimal = (key_type){.name = "decimal", .write = write_decimal_key};
  if( bloom_decimal_type_read(name, &decimal->decimal) ) return decimal;
  if( sqlite3_stricmp(name, SIPHASH)==0 ){
    bloom_fail(context,
               "bloom_key(): argument 3 (secret) is missing: 'siphash' takes a BLOB of 16 bytes");
    return NULL;
  }
  bloom_fail_literal(context, (bloom_arg){"bloom_key", 2, "type", args[1]},
                     key_arg_literal(args[1]),
                     "'int32', 'int64', 'float', 'double', 'uuid', 'decimal(18,2)', 'fixed32', "
                     "'fixed64', 'big32', 'big64', 'varint32', 'varint64' or, with a secret, "
                     "'siphash'", NULL);
  return NULL;
}

void bloom_typed_key(sqlite3_context *context, int num_args, sqlite3_value **args){
  const key_type *type;
  key_type decimal;
  uint8_t bytes[MAX_KEY_BYTES];
  const uint8_t *text;
  size_t num_bytes;
  char *literal;
  (void)num_args;
  if( sqlite3_value_type(args[1])==SQLITE_NULL ) return;
  type = find_key_type(context, args, &decimal);
  if( type==NULL || sqlite3_value_type(args[0])==SQLITE_NULL ) return;
  num_bytes = type->write(type, args[0], bytes);
  assert( num_bytes==NO_MEMORY || num_bytes<=MAX_KEY_BYTES );
  if( num_bytes!=UNFIT ){
    if( num_bytes==NO_MEMORY ) sqlite3_result_error_nomem(context);
    else sqlite3_result_blob64(context, bytes, num_bytes, SQLITE_TRANSIENT);
    return;
  }
  /* Hexadecimal digits alone may be a secret. */
  text = sqlite3_value_type(args[0])==SQLITE_TEXT ? sqlite3_value_text(args[0]) : NULL;
  while( text && hex_value(*text)>=0 ) text++;
  literal = text && *text==0 ? key_arg_literal(args[0]) : bloom_literal(args[0]);
  if( literal==NULL ){
    sqlite3_result_error_nomem(context);
  }else if( type->decimal.precision ){
    bloom_fail(context, "bloom_key(): argument 1 (value) for 'decimal(%u,%u)' must be a number of"
                        " at most %u digits before the point and %u after it, a REAL of at most %d"
                        " in all, not %s", type->decimal.precision, type->decimal.scale,
               type->decimal.precision - type->decimal.scale, type->decimal.scale,
               BLOOM_DECIMAL_REAL_DIGITS, literal);
  }else if( type->range ){
    bloom_fail(context, "bloom_key(): argument 1 (value) for '%s' must be %s, not %s", type->name,
               type->range, literal);
  }else{
    bloom_fail(context, "bloom_key(): argument 1 (value) for '%s' must be an integer in %lld..%lld,"
                        " not %s", type->name, type->min, type->max, literal);
  }
  sqlite3_free(literal);
}

void bloom_secret_key(sqlite3_context *context, int num_args, sqlite3_value **args){
  const int secret_type = sqlite3_value_type(args[2]);
  uint8_t decimal[BLOOM_DECIMAL_MAX_BYTES], bytes[BLOOM_SIPHASH_BYTES];
  const uint8_t *secret;
  int secret_bytes;
  const char *name;
  bloom_key key;
  (void)num_args;
  if( sqlite3_value_type(args[1])==SQLITE_NULL ) return;
  name = type_name_of(context, args[1]);
  if( name==NULL ) return;
  if( sqlite3_stricmp(name, SIPHASH)!=0 ){
    const char *last = secret_type==SQLITE_TEXT ? bloom_name_arg(args[2]) : NULL;
    const int is_swapped = last && sqlite3_stricmp(last, SIPHASH)==0;
    bloom_fail_literal(context, (bloom_arg){"bloom_key", 2, "type", args[1]},
                       key_arg_literal(args[1]), "'siphash' where a secret is given",
                       is_swapped ? "the type comes before the secret" : NULL);
    return;
  }
  if( secret_type==SQLITE_NULL ) return;
  /* No message shows what may be a secret. */
  secret_bytes = sqlite3_value_bytes(args[2]);
  if( secret_type!=SQLITE_BLOB && secret_type!=SQLITE_TEXT ){
    bloom_fail(context, "bloom_key(): argument 3 (secret) must be a BLOB of 16 bytes, not %s",
               bloom_type_name(args[2]));
    return;
  }
  if( secret_type==SQLITE_TEXT || secret_bytes!=BLOOM_SIPHASH_SECRET_BYTES ){
    const int is_hex = secret_type==SQLITE_TEXT && secret_bytes==2*BLOOM_SIPHASH_SECRET_BYTES;
    bloom_fail(context, "bloom_key(): argument 3 (secret) must be a BLOB of 16 bytes, not a %s of"
                        " %d bytes%s", secret_type==SQLITE_TEXT ? "TEXT" : "BLOB", secret_bytes,
               is_hex ? "; of hexadecimal digits write x'...'" : "");
    return;
  }
  secret = sqlite3_value_blob(args[2]);
  if( secret==NULL ){
    sqlite3_result_error_nomem(context);
    return;
  }
  if( !bloom_key_bytes_arg(context, args[0], decimal, &key) ) return;
  bloom_store64_le(bytes, bloom_siphash(secret, key.bytes, key.num_bytes));
  sqlite3_result_blob(context, bytes, sizeof(bytes), SQLITE_TRANSIENT);
}
