/*
** Records: numbers and texts in bytes that end with the XXH64 of all before.  One function for each
** format reads it or writes it, so that its order stands once.
*/
#ifndef BLOOM_SQLITE_SOURCE_RECORD_H
#define BLOOM_SQLITE_SOURCE_RECORD_H

#include <stdint.h>

#include "../sqlite_api.h"

/* One to write begins as {.out = sqlite3_str_new(NULL)}; the caller finishes out. */
typedef struct bloom_record {
  sqlite3_str *out;     /* what it is written to; NULL: it is read */
  const uint8_t *bytes; /* that are read */
  size_t at, num_bytes; /* the next of them; up to the checksum */
  uint64_t checksum;    /* of one that is read, or was written to its end */
  int rc;               /* SQLITE_OK, SQLITE_NOMEM, or SQLITE_CORRUPT_VTAB */
} bloom_record;

/* Returns a record to read, whose bytes stay where they are.  If the checksum is wrong, its rc is
** SQLITE_CORRUPT_VTAB, and it has no bytes. */
bloom_record bloom_record_open(const uint8_t *bytes, size_t num_bytes);

/* Writes the checksum, and sets rc; or fails unless all bytes were read. */
void bloom_record_end(bloom_record *record);

/* Sets SQLITE_CORRUPT_VTAB if is_good is 0, which may only be of a record that is read. */
void bloom_record_expect(bloom_record *record, int is_good);

/* Each of these writes what its pointer points to, or reads it; a text that is read is to be freed.
** If bytes are missing or a number is not min to max, sets SQLITE_CORRUPT_VTAB, and reads 0. */
void bloom_record_bytes(bloom_record *record, uint8_t *bytes, size_t num_bytes);
void bloom_record_u32(bloom_record *record, uint32_t *number, uint32_t min, uint32_t max);
void bloom_record_u64(bloom_record *record, uint64_t *number);
void bloom_record_i64(bloom_record *record, sqlite3_int64 *number);
void bloom_record_int(bloom_record *record, int *number, int min, int max); /* a u32 */
void bloom_record_text(bloom_record *record, char **text); /* a u32, its length, and its bytes */
void bloom_record_go_to(bloom_record *record, size_t at); /* to byte at; writes zeros */

/* Writes *bytes, or sets it to bytes that stay in the record: NULL after an error. */
void bloom_record_view(bloom_record *record, const uint8_t **bytes, size_t num_bytes);

#endif
