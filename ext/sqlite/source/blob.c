/*
** sqlite3_blob, opened for each call.
*/
#include "blob.h"

#include "../../core/hash.h"

/* SQLITE_ERROR is how SQLite says that there is no such table, column, row or BLOB. */
static int check_blob(int rc, sqlite3_blob *blob, int num_bytes){
  if( rc==SQLITE_ERROR ) return SQLITE_NOTFOUND;
  if( rc==SQLITE_OK && sqlite3_blob_bytes(blob)!=num_bytes ) return SQLITE_NOTFOUND;
  return rc;
}

int bloom_blob_open(
  bloom_blob_place place, sqlite3_int64 row, int is_writable, int num_bytes, sqlite3_blob **blob
){
  int rc;
  *blob = NULL;
  rc = sqlite3_blob_open(place.db, place.schema, place.table, place.column, row, is_writable, blob);
  return check_blob(rc, *blob, num_bytes);
}

int bloom_blob_move(sqlite3_blob *blob, sqlite3_int64 row, int num_bytes){
  return check_blob(sqlite3_blob_reopen(blob, row), blob, num_bytes);
}

int bloom_blob_close(sqlite3_blob *blob, int rc){
  const int close_rc = sqlite3_blob_close(blob);
  return rc==SQLITE_OK ? close_rc : rc;
}

int bloom_blob_write_row(
  bloom_blob_place place, sqlite3_int64 row, const void *bytes, int num_bytes
){
  sqlite3_blob *blob;
  int rc = bloom_blob_open(place, row, 1, num_bytes, &blob);
  if( rc==SQLITE_OK ) rc = sqlite3_blob_write(blob, bytes, num_bytes, 0);
  return bloom_blob_close(blob, rc);
}

uint64_t bloom_checksum(const void *bytes, size_t num_bytes){
  return bloom_xxh64(bytes, num_bytes);
}
