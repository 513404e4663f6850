/*
** The filters of a LevelDB filter block as rows, for the table-valued functions that
** find one.
*/
#ifndef BLOOM_SQLITE_FILTER_BLOCK_ROWS_H
#define BLOOM_SQLITE_FILTER_BLOCK_ROWS_H

#include "../../core/leveldb/filter_block.h"
#include "../tvf.h"

/* Column numbers that these functions share; others follow. */
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

/* About how many rows a block gives. */
#define BLOOM_USUAL_SLOTS 1000

typedef struct bloom_filter_block_rows {
  bloom_tvf_cursor base; /* first */
  uint8_t *bytes;          /* the block's own copy; NULL: one row, for want of filters */
  bloom_filter_block block;
  size_t slot;
  bloom_filter_slot found;
  const char *note;        /* of the one row, static */
} bloom_filter_block_rows;

/* The bytes of the argument, a BLOB, of which rowids follow.  format is the message for
** another value, with a place for the function and one for the type.  SQLITE_OK with
** *bytes NULL for NULL: there are no rows then.  *bytes is valid until the value is next
** used, and not NULL for an empty BLOB. */
int bloom_filter_block_rows_arg(bloom_filter_block_rows *cursor, sqlite3_value *value, const char *format,
                    const uint8_t **bytes, size_t *num_bytes);

/* Goes to the first filter of the block, of which it keeps a copy.  SQLITE_OK or
** SQLITE_NOMEM. */
int bloom_filter_block_rows_start(bloom_filter_block_rows *cursor, const uint8_t *block, size_t num_bytes);

/* One row: a filter that may contain every key, at all offsets, and a note why. */
void bloom_filter_block_rows_start_without(bloom_filter_block_rows *cursor, const char *note);

/* These are a bloom_tvf's next, column and clear. */
void bloom_filter_block_rows_next(bloom_tvf_cursor *cursor);
void bloom_filter_block_rows_column(const bloom_tvf_cursor *cursor, sqlite3_context *context, int column);
void bloom_filter_block_rows_clear(bloom_tvf_cursor *cursor);

#endif
