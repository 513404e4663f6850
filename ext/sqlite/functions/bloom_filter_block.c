/*
** bloom_filter_block(block): table-valued; the filters of a LevelDB filter block, one
** row each; none for NULL.
**
** (1) slot counts from 0.  The filter has the keys of the data blocks that begin at the
**     file offsets first_offset .. last_offset.  It is as LevelDB wrote it, and empty if no
**     data block begins there.
** (2) Damage is read as LevelDB reads it: a filter whose offsets are impossible may
**     contain every key, and so its row has a filter that says "maybe".  At offsets after
**     those of the last slot there may be any key.
** (3) A block that cannot be read at all is an error; LevelDB would say "maybe" to every
**     key.
*/
#include "../errors.h"
#include "filter_block_rows.h"
#include "functions.h"

static int filter_block_start(bloom_tvf_cursor *cursor, unsigned columns, sqlite3_value **args){
  bloom_filter_block_rows *slots = (bloom_filter_block_rows *)cursor;
  bloom_filter_block block;
  const uint8_t *bytes;
  size_t num_bytes;
  const char *wrong;
  int rc = bloom_filter_block_rows_arg(slots, args[0], "(block) must be a BLOB, a LevelDB filter block", &bytes, &num_bytes);
  (void)columns;
  if( rc!=SQLITE_OK || bytes==NULL ) return rc;
  wrong = bloom_filter_block_read(bytes, num_bytes, &block);
  if( wrong ){
    return bloom_fail_vtab(&cursor->base.pVtab->zErrMsg, "bloom_filter_block(): argument 1 (block) is no LevelDB "
                                                         "filter block: %s", wrong);
  }
  return bloom_filter_block_rows_start(slots, bytes, num_bytes);
}

const bloom_tvf bloom_filter_block_tvf = {
  .name = "bloom_filter_block",
  .call = "bloom_filter_block(block)",
  .schema = "CREATE TABLE bloom_filter_block(" BLOOM_SLOT_COLUMNS ", argument HIDDEN)",
  .num_columns = BLOOM_NUM_SLOT_COLUMNS,
  .num_args = 1,
  .num_rows = BLOOM_USUAL_SLOTS,
  .cursor_bytes = sizeof(bloom_filter_block_rows),
  .start = filter_block_start,
  .next = bloom_filter_block_rows_next,
  .column = bloom_filter_block_rows_column,
  .clear = bloom_filter_block_rows_clear,
};
