/*
** Error messages.
*/
#include "errors.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "../core/debug.h"
#include "key.h"

#define LITERAL_MAX_CHARS 40

void bloom_fail_code(sqlite3_context *context, int rc){
  if( rc==SQLITE_NOMEM ) sqlite3_result_error_nomem(context);
  else if( rc!=SQLITE_OK && rc!=SQLITE_ERROR ) sqlite3_result_error_code(context, rc);
}

void *bloom_malloc_or_fail(sqlite3_context *context, uint64_t num_bytes){
  void *memory = sqlite3_malloc64(num_bytes);
  assert( num_bytes>0 );
  if( memory==NULL ) sqlite3_result_error_nomem(context);
  return memory;
}

void *bloom_malloc_zeros(uint64_t num_bytes){
  void *memory = sqlite3_malloc64(num_bytes);
  assert( num_bytes>0 );
  if( memory ) memset(memory, 0, (size_t)num_bytes);
  return memory;
}

int bloom_grow(void *list, size_t num_items, size_t *max_items, size_t item_bytes){
  const size_t max_now = 2*num_items + 8;
  void *items;
  assert( item_bytes>0 );
  if( num_items<=*max_items ) return SQLITE_OK;
  memcpy(&items, list, sizeof(items)); /* a pointer of any type */
  items = sqlite3_realloc64(items, (sqlite3_uint64)max_now * item_bytes);
  if( items==NULL ) return SQLITE_NOMEM;
  memcpy(list, &items, sizeof(items));
  *max_items = max_now;
  return SQLITE_OK;
}

void bloom_fail(sqlite3_context *context, const char *format, ...){
  va_list arguments;
  char *message;
  va_start(arguments, format);
  message = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  if( message==NULL ){
    sqlite3_result_error_nomem(context);
  }else{
    sqlite3_result_error(context, message, -1);
    sqlite3_free(message);
  }
}

void bloom_fail_arg(sqlite3_context *context, bloom_arg arg, const char *what, const char *hint){
  bloom_fail_literal(context, arg, bloom_literal(arg.value), what, hint);
}

void bloom_fail_literal(sqlite3_context *context, bloom_arg arg, char *literal, const char *what,
                        const char *hint){
  assert( arg.function && arg.name && arg.number>0 );
  if( literal ){
    bloom_fail(context, "%s(): argument %d (%s) must be %s, not %s%s%s", arg.function, arg.number,
               arg.name, what, literal, hint ? "; " : "", hint ? hint : "");
  }else{
    sqlite3_result_error_nomem(context);
  }
  sqlite3_free(literal);
}

int bloom_fail_vtab(char **error, const char *format, ...){
  va_list arguments;
  char *message;
  va_start(arguments, format);
  message = sqlite3_vmprintf(format, arguments); /* which may print *error */
  va_end(arguments);
  sqlite3_free(*error);
  *error = message;
  return message ? SQLITE_ERROR : SQLITE_NOMEM;
}

void bloom_forget_message(sqlite3_vtab *table){
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = NULL;
}

const char *bloom_type_name(sqlite3_value *value){
  switch( sqlite3_value_type(value) ){
    case SQLITE_INTEGER: return "INTEGER";
    case SQLITE_FLOAT:   return "REAL";
    case SQLITE_NULL:    return "a handle that bloom_may_contain() alone takes";
    default:             return "TEXT";
  }
}

char *bloom_literal(sqlite3_value *value){
  const unsigned char *string;
  int num_bytes = 0, num_chars = 0;
  double number, read;
  char text[32];
  switch( sqlite3_value_type(value) ){
    case SQLITE_INTEGER: return sqlite3_mprintf("%lld", sqlite3_value_int64(value));
    case SQLITE_FLOAT: /* of 15 digits, or of 17 if 15 would be another REAL's */
      number = sqlite3_value_double(value);
      sqlite3_snprintf(sizeof(text), text, "%!.15g", number);
      if( bloom_read_number(text + (text[0]=='-'), &read) && read!=(number<0 ? -number : number) ){
        sqlite3_snprintf(sizeof(text), text, "%!.17g", number);
      }
      return sqlite3_mprintf("%s", text);
    case SQLITE_TEXT: /* with dots after it if it was cut */
      string = sqlite3_value_text(value);
      if( string==NULL ) return NULL;
      while( string[num_bytes] && num_chars<LITERAL_MAX_CHARS ){
        int end = num_bytes + 4; /* the most that a character takes; text may be anything */
        num_chars++;
        num_bytes++;
        while( num_bytes<end && (string[num_bytes] & 0xc0)==0x80 ) num_bytes++;
      }
      return sqlite3_mprintf("'%.*q'%s", num_bytes, string,
                             num_bytes<sqlite3_value_bytes(value) ? "..." : "");
    case SQLITE_BLOB:    return sqlite3_mprintf("a BLOB of %d bytes", sqlite3_value_bytes(value));
    default:             return sqlite3_mprintf("NULL");
  }
}
