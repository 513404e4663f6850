/*
** The filters of a LevelDB filter block as rows, for bloom_filter_block() and bloom_ldb().
** They are in bloom_filter_block.c.
*/
#ifndef BLOOM_SQLITE_FILTER_BLOCK_ROWS_H
#define BLOOM_SQLITE_FILTER_BLOCK_ROWS_H

#include "../../core/leveldb/filter_block.h"
#include "../tvf.h"

/* The columns that these functions share; a function may have more after them. */
enum {
  BLOOM_COLUMN_SLOT,
  BLOOM_COLUMN_FIRST_OFFSET,
  BLOOM_COLUMN_LAST_OFFSET,
  BLOOM_COLUMN_FILTER,
  BLOOM_COLUMN_NOTE,
  BLOOM_NUM_SLOT_COLUMNS
};

#define BLOOM_SLOT_COLUMNS \
  "slot INTEGER, first_offset INTEGER, last_offset INTEGER, filter BLOB, note TEXT"

/* About how many rows a block has. */
#define BLOOM_USUAL_SLOTS 1000

typedef struct bloom_filter_block_rows {
  bloom_tvf_cursor base; /* first */
  uint8_t *bytes;          /* a copy of the block; NULL: there are no filters, but one row */
  bloom_filter_block block;
  size_t slot;
  bloom_filter_slot found;
  uint64_t num_left;       /* bytes that filters may take from here on */
  int is_used_up;          /* found would have taken more */
  const char *note;        /* of the one row, static */
} bloom_filter_block_rows;

/* Reads the argument, a BLOB; rowids depend on its bytes.  what says for another value's
** error what it must be.  For NULL it returns SQLITE_OK with *bytes NULL.  Otherwise *bytes
** is not NULL, even for an empty BLOB, and valid until the value is used again. */
int bloom_filter_block_rows_arg(bloom_filter_block_rows *cursor, sqlite3_value *value,
                                const char *what, const uint8_t **bytes, size_t *num_bytes);

/* Copies the block and goes to its first filter.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_filter_block_rows_start(bloom_filter_block_rows *cursor, const uint8_t *block,
                                  size_t num_bytes);

/* Makes one row: a filter that may contain every key, at all offsets, and a note that says
** why. */
void bloom_filter_block_rows_start_without(bloom_filter_block_rows *cursor, const char *note);

/* The members next, column and clear of a bloom_tvf. */
void bloom_filter_block_rows_next(bloom_tvf_cursor *cursor);
void bloom_filter_block_rows_column(const bloom_tvf_cursor *cursor, sqlite3_context *context,
                                    int column);
void bloom_filter_block_rows_clear(bloom_tvf_cursor *cursor);

#endif
