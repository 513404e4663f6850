/*
** The data that all functions and modules of one connection share, however often the extension was
** loaded into it.
*/
#ifndef BLOOM_SQLITE_CONNECTION_H
#define BLOOM_SQLITE_CONNECTION_H

#include "../core/filter.h"
#include "sqlite_api.h"

#define BLOOM_MAX_DAMAGED 8

/* A size that was found for a rate, which takes 0.002 ms and more. */
typedef struct bloom_found_size {
  const bloom_encoding *encoding; /* NULL: none was found yet */
  double rate;
  uint64_t num_keys;
  uint32_t tenths; /* of a bit per key */
} bloom_found_size;

typedef struct bloom_connection {
  sqlite3 *db;
  struct bloom_handle *kept; /* closed handles with large buffers, for the next ones: handle.c */
  size_t num_kept_bytes;
  bloom_found_size last_size; /* groups and frames often have as many keys as the last one */
  int is_running; /* a statement of bloom's own is compiled or takes a step: source/sql.h */
  /* Numbers of layouts of a bloom_index that a query found damaged, the last ones. */
  uint64_t damaged[BLOOM_MAX_DAMAGED];
  unsigned num_damaged;
  int num_users;
  struct bloom_connection *next;
} bloom_connection;

/* Returns the connection's data, made if there is none, to be released; NULL if there is no
** memory.  bloom_connection_hold() adds a user to data that is there. */
bloom_connection *bloom_connection_get(sqlite3 *db);
void bloom_connection_hold(bloom_connection *connection);
void bloom_connection_release(void *data);

/* Notes that the entries of this layout are damaged; the second returns 1 if that was noted.  A
** layout's number is random, and never 0. */
void bloom_connection_note_damage(bloom_connection *connection, uint64_t number);
int bloom_connection_knows_damage(const bloom_connection *connection, uint64_t number);

/* Returns 1 if PRAGMA integrity_check or quick_check runs on the connection.  With a shared cache
** SQLite calls xIntegrity of any connection's object.  A call that uses a connection other than the
** checking one waits for ever, as FTS5's does. */
int bloom_connection_is_checking(const bloom_connection *connection);

/* -- Interrupts ------------------------------------------------------------------------------ */

/* A filter that is read during one call, which an interrupt ends: its bytes may be 1 GB, and SQLite
** itself looks for interrupts only between the calls of a function. */
typedef struct bloom_stoppable {
  bloom_filter filter;
  bloom_interrupt interrupt;
  sqlite3 *db;
  int is_stopped; /* once 1, the filter is not read further, and the result is SQLITE_INTERRUPT */
} bloom_stoppable;

/* Sets *stoppable to a copy of a filter, reading which an interrupt of the connection stops.
** *stoppable must not be moved. */
void bloom_stoppable_init(bloom_stoppable *stoppable, sqlite3 *db, const bloom_filter *filter);

#endif
