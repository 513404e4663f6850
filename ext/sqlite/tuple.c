/*
** Writes the tuple of SQL values.
*/
#include "tuple.h"

#include <string.h>

#include "../core/bytes.h"
#include "key.h"

/* The bytes of a tuple, as far as there is room for them; num_bytes counts all. */
typedef struct tuple_writer {
  uint8_t *out;
  uint64_t room;
  uint64_t num_bytes;
} tuple_writer;

/* Where the next num_bytes go; NULL if there is no room. */
static inline uint8_t *tuple_place(tuple_writer *writer, uint64_t num_bytes){
  const uint64_t offset = writer->num_bytes;
  writer->num_bytes += num_bytes;
  return writer->num_bytes<=writer->room ? writer->out + offset : NULL;
}

static inline void tuple_put_number(tuple_writer *writer, bloom_tuple_tag tag, uint64_t bits){
  uint8_t *place = tuple_place(writer, BLOOM_TUPLE_NUMBER_BYTES);
  if( place==NULL ) return;
  place[0] = (uint8_t)tag;
  bloom_store64_le(place + 1, bits);
}

static void tuple_put_real(tuple_writer *writer, double real){
  bloom_key key;
  if( bloom_real_key_of(real, &key)==BLOOM_KEY_INTEGER ){
    tuple_put_number(writer, BLOOM_TUPLE_INTEGER, (uint64_t)key.integer);
  }else{
    tuple_put_number(writer, BLOOM_TUPLE_REAL, bloom_load64_le(key.bytes));
  }
}

/* bytes may be NULL if there are none. */
static void tuple_put_bytes(tuple_writer *writer, bloom_tuple_tag tag, const void *bytes,
                            uint32_t num_bytes){
  uint8_t *place = tuple_place(writer, BLOOM_TUPLE_HEADER_BYTES + (uint64_t)num_bytes);
  if( place==NULL ) return;
  place[0] = (uint8_t)tag;
  bloom_store32_le(place + 1, num_bytes);
  if( num_bytes ) memcpy(place + BLOOM_TUPLE_HEADER_BYTES, bytes, num_bytes);
}

bloom_tuple_status bloom_tuple_write(
  int num_values, sqlite3_value **values, uint8_t *out, uint64_t room, uint64_t *num_bytes
){
  tuple_writer writer = {NULL, room, 0};
  int i;
  writer.out = out;
  for(i=0; i<num_values; i++){
    const int type = sqlite3_value_type(values[i]);
    const void *bytes;
    uint32_t length;
    switch( type ){
      case SQLITE_INTEGER:
        tuple_put_number(&writer, BLOOM_TUPLE_INTEGER, (uint64_t)sqlite3_value_int64(values[i]));
        break;
      case SQLITE_FLOAT:
        tuple_put_real(&writer, sqlite3_value_double(values[i]));
        break;
      case SQLITE_NULL:
        return BLOOM_TUPLE_HAS_NULL;
      default:
        bytes = type==SQLITE_TEXT ? sqlite3_value_text(values[i]) : sqlite3_value_blob(values[i]);
        /* The length last: the call above may have converted the value. */
        length = (uint32_t)sqlite3_value_bytes(values[i]);
        /* An empty BLOB has no address. */
        if( bytes==NULL && (type==SQLITE_TEXT || length>0) ) return BLOOM_TUPLE_NOMEM;
        tuple_put_bytes(&writer, type==SQLITE_TEXT ? BLOOM_TUPLE_TEXT : BLOOM_TUPLE_BLOB, bytes,
                        length);
        break;
    }
  }
  *num_bytes = writer.num_bytes;
  return BLOOM_TUPLE_WRITTEN;
}
