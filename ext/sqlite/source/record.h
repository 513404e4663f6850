/*
** Records: numbers and texts in bytes that end with the XXH64 of all before.  One function for each
** format reads it or writes it, so that its order stands once.
*/
#ifndef BLOOM_SQLITE_SOURCE_RECORD_H
#define BLOOM_SQLITE_SOURCE_RECORD_H

#include <stdint.h>

#include "../sqlite_api.h"

typedef struct bloom_record {
  sqlite3_str *out;          /* what it is written to; NULL: it is read */
  const uint8_t *next, *end; /* what is left to be read */
  uint64_t checksum;         /* of one that is read, or was written to its end */
  int rc;                    /* SQLITE_OK, SQLITE_NOMEM, or SQLITE_CORRUPT_VTAB */
} bloom_record;

/* Returns a record to read, whose bytes stay where they are.  If the checksum is wrong, its rc is
** SQLITE_CORRUPT_VTAB, and it has no bytes. */
bloom_record bloom_record_open(const uint8_t *bytes, size_t num_bytes);

/* Returns a record to write.  bloom_record_finish() frees it. */
bloom_record bloom_record_new(void);

/* Ends a record that is written.  Returns its rc, and sets *bytes, to be freed in any case. */
int bloom_record_finish(bloom_record *record, char **bytes, int *num_bytes);

/* Sets SQLITE_CORRUPT_VTAB if is_good is 0, as it may be in a record that is read alone. */
void bloom_record_expect(bloom_record *record, int is_good);

/* Fails unless a record that is read was read to its end. */
void bloom_record_expect_end(bloom_record *record);

/* Each of these writes what its pointer points to, or reads it.  If there are not enough bytes,
** numbers are read as 0. */
void bloom_record_bytes(bloom_record *record, uint8_t *bytes, size_t num_bytes);
void bloom_record_u32(bloom_record *record, uint32_t *number);
void bloom_record_u64(bloom_record *record, uint64_t *number);
void bloom_record_i64(bloom_record *record, sqlite3_int64 *number);

/* Bytes that are left in the record that is read: *bytes, NULL after an error. */
void bloom_record_view(bloom_record *record, const uint8_t **bytes, size_t num_bytes);

/* A text, to be freed if it was read: its length as a u32, and its bytes. */
void bloom_record_text(bloom_record *record, char **text);

#endif
