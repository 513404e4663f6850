/*
** Rows of a shadow table as bytes, by sqlite3_blob: no view, trigger or CHECK of a hostile
** file runs.  What is opened to be written is closed again within the call.
*/
#ifndef BLOOM_SQLITE_SOURCE_BLOB_H
#define BLOOM_SQLITE_SOURCE_BLOB_H

#include "../connection.h"

/* Where a value is: a rowid table's column. */
typedef struct bloom_blob_place {
  sqlite3 *db;
  const char *schema, *table, *column;
} bloom_blob_place;

/* Opens the value in a row, which must hold num_bytes.  SQLITE_OK; SQLITE_NOTFOUND where there is
** no such table, row or BLOB, or it has another size; else SQLite's error.  *blob is to be
** closed by sqlite3_blob_close(), which takes NULL. */
int bloom_blob_open(
  bloom_blob_place place, sqlite3_int64 row, int is_writable, int num_bytes, sqlite3_blob **blob
);

/* Moves an open blob to another row, whose value must hold num_bytes.  Returns what opening it
** would. */
int bloom_blob_move(sqlite3_blob *blob, sqlite3_int64 row, int num_bytes);

/* Closes what was written to: rc, or, where that is SQLITE_OK, the error of closing. */
int bloom_blob_close(sqlite3_blob *blob, int rc);

/* Writes one whole value of num_bytes. */
int bloom_blob_write_row(
  bloom_blob_place place, sqlite3_int64 row, const void *bytes, int num_bytes
);

/* Tells bytes that bloom wrote from others; no secret. */
uint64_t bloom_checksum(const void *bytes, size_t num_bytes);

#endif
