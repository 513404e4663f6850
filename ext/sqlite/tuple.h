/*
** Writes SQL values as the bytes of a tuple.  core/tuple.h describes and reads them.
*/
#ifndef BLOOM_SQLITE_TUPLE_H
#define BLOOM_SQLITE_TUPLE_H

#include "../core/tuple.h"
#include "sqlite_api.h"

typedef enum bloom_tuple_status {
  BLOOM_TUPLE_WRITTEN,
  BLOOM_TUPLE_HAS_NULL, /* one of the values is NULL: there is no tuple */
  BLOOM_TUPLE_NOMEM     /* no memory to convert a value */
} bloom_tuple_status;

/*
** Writes the tuple of these values to out, which has room for so many bytes.  With
** BLOOM_TUPLE_WRITTEN, *num_bytes is the size of the tuple.  If that is more than the room,
** the tuple is incomplete, and a second call with room for *num_bytes completes it.
*/
bloom_tuple_status bloom_tuple_write(
  int num_values, sqlite3_value **values, uint8_t *out, uint64_t room, uint64_t *num_bytes
);

#endif
