/*
** Keys of Parquet's DECIMAL columns; decimal_key.h has the rules.
*/
#include "decimal_key.h"

#include <string.h>

#include "../bytes.h"
#include "../debug.h"

/* -- The type -------------------------------------------------------------------------------- */

/* Reads a number of one or two digits.  Returns what follows it; NULL if there is none. */
static const char *decimal_key_read_number(const char *text, unsigned *number){
  int i;
  while( *text==' ' ) text++;
  *number = 0;
  for(i=0; i<2 && *text>='0' && *text<='9'; i++) *number = 10 * *number + (unsigned)(*text++ - '0');
  return i ? text : NULL;
}

/* Returns the fewest bytes that hold every number of so many digits and its sign: 10^p has
** floor(p * log2(10)) + 1 bits. */
static unsigned decimal_key_min_bytes(unsigned precision){
  return (precision * 33219 / 10000 + 2 + 7) / 8;
}

int bloom_decimal_type_read(const char *name, bloom_decimal_type *type){
  static const char word[] = "decimal(";
  bloom_decimal_type read = {.num_bytes = 0};
  size_t i;
  for(i=0; word[i]; i++, name++){
    const int small = *name>='A' && *name<='Z' ? *name + ('a' - 'A') : *name;
    if( small!=word[i] ) return 0;
  }
  name = decimal_key_read_number(name, &read.precision);
  if( name==NULL || *name!=',' ) return 0;
  name = decimal_key_read_number(name + 1, &read.scale);
  if( name==NULL ) return 0;
  if( *name==',' ){
    name = decimal_key_read_number(name + 1, &read.num_bytes);
    if( name==NULL || read.num_bytes==0 ) return 0;
  }
  if( strcmp(name, ")")!=0 ) return 0;
  if( read.precision<1 || read.precision>BLOOM_DECIMAL_MAX_PRECISION ) return 0;
  if( read.scale>read.precision || read.num_bytes>BLOOM_DECIMAL_KEY_MAX_BYTES ) return 0;
  read.is_big_endian = read.num_bytes>0 || read.precision>18;
  if( !read.is_big_endian ){
    read.num_bytes = read.precision<=9 ? 4 : 8;
  }else if( read.num_bytes==0 ){
    read.num_bytes = decimal_key_min_bytes(read.precision);
  }
  if( read.num_bytes<decimal_key_min_bytes(read.precision) ) return 0;
  assert( read.num_bytes<=BLOOM_DECIMAL_KEY_MAX_BYTES );
  *type = read;
  return 1;
}

/* -- Keys ------------------------------------------------------------------------------------ */

/* An integer of at most max_digits digits, 38 at most. */
typedef struct decimal_key_number {
  uint8_t bytes[BLOOM_DECIMAL_KEY_MAX_BYTES]; /* little-endian */
  unsigned num_digits, max_digits;
} decimal_key_number;

/* Appends a digit.  Returns 0 if it is one too many. */
static int decimal_key_push(decimal_key_number *number, unsigned digit){
  unsigned carry = digit;
  size_t i;
  assert( digit<=9 && number->max_digits<=BLOOM_DECIMAL_MAX_PRECISION );
  if( number->num_digits || digit ) number->num_digits++;
  if( number->num_digits>number->max_digits ) return 0;
  for(i=0; i<sizeof(number->bytes); i++){
    carry += number->bytes[i] * 10u;
    number->bytes[i] = (uint8_t)carry;
    carry >>= 8;
  }
  assert( carry==0 );
  return 1;
}

size_t bloom_decimal_key_of_text(const bloom_decimal_type *type, const uint8_t *text,
                                 size_t num_bytes, uint8_t key[BLOOM_DECIMAL_KEY_MAX_BYTES]){
  decimal_key_number number = {.max_digits = type->precision};
  unsigned scale = type->scale; /* digits that are to follow the point */
  int has_point = 0, has_digit = 0;
  unsigned carry = 1;
  size_t i = num_bytes>0 && (text[0]=='-' || text[0]=='+');
  assert( text || num_bytes==0 );
  assert( type->scale<=type->precision && type->num_bytes<=BLOOM_DECIMAL_KEY_MAX_BYTES );
  for(; i<num_bytes; i++){
    if( text[i]=='.' && !has_point ){
      has_point = 1;
      continue;
    }
    if( text[i]<'0' || text[i]>'9' ) return 0;
    has_digit = 1;
    if( has_point && scale==0 ){
      if( text[i]!='0' ) return 0;
      continue;
    }
    if( !decimal_key_push(&number, (unsigned)(text[i] - '0')) ) return 0;
    scale -= (unsigned)has_point;
  }
  for(; scale; scale--){
    if( !decimal_key_push(&number, 0) ) return 0;
  }
  if( !has_digit ) return 0;
  for(i=0; i<sizeof(number.bytes) && text[0]=='-'; i++){ /* two's complement */
    carry += (uint8_t)~number.bytes[i];
    number.bytes[i] = (uint8_t)carry;
    carry >>= 8;
  }
  for(i=0; i<type->num_bytes; i++){
    key[i] = number.bytes[type->is_big_endian ? type->num_bytes - 1 - i : i];
  }
  return type->num_bytes;
}

size_t bloom_decimal_key_of_int64(const bloom_decimal_type *type, int64_t number,
                                  uint8_t key[BLOOM_DECIMAL_KEY_MAX_BYTES]){
  uint8_t room[BLOOM_DECIMAL_MAX_BYTES];
  size_t num_bytes;
  const uint8_t *text = bloom_decimal(number, room, &num_bytes);
  return bloom_decimal_key_of_text(type, text, num_bytes, key);
}

/* Writes the key of the decimal nearest to a REAL.  10^22 is the largest power of ten that a
** double holds exactly, and 15 digits are exact, so that the quotient is rounded once: to the
** REAL nearest to the decimal.  The product is less than 1/4 off, so that no other decimal comes
** into question. */
size_t bloom_decimal_key_of_real(const bloom_decimal_type *type, double number,
                                 uint8_t key[BLOOM_DECIMAL_KEY_MAX_BYTES]){
  const double limit = 1e15;
  bloom_decimal_type whole = *type;
  double power = 1, product, nearest;
  int64_t unscaled;
  unsigned i;
  if( type->scale>22 ) return 0;
  for(i=0; i<type->scale; i++) power *= 10;
  product = number * power;
  if( !(product>-limit && product<limit) ) return 0;
  unscaled = (int64_t)(product<0 ? product - 0.5 : product + 0.5);
  nearest = (double)unscaled / power;
  if( nearest<number || nearest>number ) return 0;
  whole.scale = 0;
  return bloom_decimal_key_of_int64(&whole, unscaled, key);
}
