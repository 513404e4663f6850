/*
** Going through the bytes of a large filter, which an interrupt ends: they may be 1 GB, and
** SQLite looks for an interrupt only between the calls of a function.
*/
#ifndef BLOOM_SQLITE_INTERRUPT_H
#define BLOOM_SQLITE_INTERRUPT_H

#include "../core/filter.h"
#include "sqlite_api.h"

/* A filter that was read for one call, with what ends the call. */
typedef struct bloom_stoppable {
  bloom_filter filter;
  bloom_interrupt interrupt;
  sqlite3 *db;
  int is_stopped; /* once 1, the filter is not read further, and the result is SQLITE_INTERRUPT */
} bloom_stoppable;

/* Makes a copy of a filter, maybe a handle's, that an interrupt of the connection stops.  It
** must stay where it is. */
void bloom_stoppable_init(bloom_stoppable *stoppable, sqlite3 *db, const bloom_filter *filter);

/* Copies bytes that do not overlap; (NULL, 0) is none.  SQLITE_OK or SQLITE_INTERRUPT. */
int bloom_copy_bytes(sqlite3 *db, uint8_t *to, const uint8_t *from, size_t num_bytes);

/* Sets *hash to a hash of bytes, for rowids.  SQLITE_OK or SQLITE_INTERRUPT. */
int bloom_hash_of_bytes(sqlite3 *db, const uint8_t *bytes, size_t num_bytes, uint64_t *hash);

#endif
