/*
** SQL values -> the bytes of a tuple (core/tuple.h, which also reads them back).
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
** BLOOM_TUPLE_WRITTEN *num_bytes is how many the tuple has.  If they are more than the
** room, it was not written whole, and a second call with so much room writes it.
*/
bloom_tuple_status bloom_tuple_write(
  int num_values,
  sqlite3_value **values,
  uint8_t *out,
  uint64_t room,
  uint64_t *num_bytes
);

#endif
