/*
** What all functions and modules of one connection share, however often the extension was
** loaded into it: the buffers of handles, the sizes that were looked up, and whether SQL of
** bloom's own is running.
*/
#ifndef BLOOM_SQLITE_CONNECTION_H
#define BLOOM_SQLITE_CONNECTION_H

#include "handle.h"

typedef struct bloom_connection {
  sqlite3 *db;
  bloom_handle_pool *pool;
  struct bloom_size_entry *sizes; /* that rates take: size_args.c; NULL before the first */
  int is_running; /* a statement of bloom's own is compiled or takes a step: source/sql.h */
  int num_users;
  struct bloom_connection *next;
} bloom_connection;

/* The connection's data, made if there is none, to be released; NULL if there is no
** memory. */
bloom_connection *bloom_connection_get(sqlite3 *db);
void bloom_connection_release(void *data);

/* 1 if PRAGMA integrity_check or quick_check runs on the connection.  With a shared cache SQLite
** has xIntegrity check by the object of any connection.  To use another one than that which
** checks would wait for ever: FTS5 does. */
int bloom_connection_is_checking(const bloom_connection *connection);

#endif
