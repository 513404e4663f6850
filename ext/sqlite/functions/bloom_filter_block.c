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
#include "filter_block_rows.h"

#include <string.h>

#include "../../core/partition.h"
#include "../errors.h"
#include "functions.h"
#include "../handle.h"

/* Rowids begin at a hash of the argument, which is below this. */
#define ROWID_SPAN ((uint64_t)1 << 62)

/* What filters may take together, by the bytes of their block: one wrong offset makes it two. */
#define MAX_FILTERS_BY_BLOCK 4

int bloom_filter_block_rows_arg(bloom_filter_block_rows *cursor, sqlite3_value *value,
                                const char *what,
                    const uint8_t **bytes, size_t *num_bytes){
  const int type = sqlite3_value_type(value);
  const void *pointer = sqlite3_value_pointer(value, BLOOM_HANDLE_TYPE);
  const int is_handle = pointer && bloom_handle_find(bloom_tvf_db(&cursor->base), pointer);
  *bytes = NULL;
  *num_bytes = 0;
  /* The type of a handle is NULL, too. */
  if( type==SQLITE_NULL && !is_handle ) return SQLITE_OK;
  if( type!=SQLITE_BLOB ){
    return bloom_fail_vtab(&cursor->base.base.pVtab->zErrMsg, "%s(): argument 1 %s, not %s",
                           bloom_tvf_of(&cursor->base)->name, what,
                           is_handle ? "a handle" : bloom_type_name(value));
  }
  *bytes = sqlite3_value_blob(value);
  *num_bytes = (size_t)sqlite3_value_bytes(value);
  if( *bytes==NULL ){
    if( *num_bytes ) return SQLITE_NOMEM;
    *bytes = (const uint8_t *)"";
  }
  if( cursor->base.wants_rowids ){
    cursor->base.rowid = (sqlite3_int64)bloom_partition_of(*bytes, *num_bytes, ROWID_SPAN);
  }
  return SQLITE_OK;
}

int bloom_filter_block_rows_start(bloom_filter_block_rows *cursor, const uint8_t *block,
                                  size_t num_bytes){
  cursor->bytes = sqlite3_malloc64(num_bytes);
  if( cursor->bytes==NULL ) return SQLITE_NOMEM;
  memcpy(cursor->bytes, block, num_bytes);
  /* This cannot fail: the block was read before. */
  bloom_filter_block_read(cursor->bytes, num_bytes, &cursor->block);
  cursor->slot = SIZE_MAX;
  cursor->num_left = MAX_FILTERS_BY_BLOCK * (uint64_t)num_bytes;
  bloom_filter_block_rows_next(&cursor->base);
  return SQLITE_OK;
}

void bloom_filter_block_rows_start_without(bloom_filter_block_rows *cursor, const char *note){
  cursor->found = (bloom_filter_slot){
    .filter = bloom_any_key_filter,
    .num_bytes = BLOOM_ANY_KEY_FILTER_BYTES,
    .first_offset = 0,
    .last_offset = INT64_MAX,
  };
  cursor->note = note;
  cursor->base.has_row = 1;
}

/* Filters of a block that is as it should be take no more than its bytes together.  Offsets
** that go back and forth could make each of them as long as the block. */
static void bound_filter(bloom_filter_block_rows *slots){
  bloom_filter_slot *found = &slots->found;
  slots->is_used_up = found->num_bytes>slots->num_left;
  if( slots->is_used_up ){
    found->filter = bloom_any_key_filter;
    found->num_bytes = BLOOM_ANY_KEY_FILTER_BYTES;
  }else{
    slots->num_left -= found->num_bytes;
  }
}

void bloom_filter_block_rows_next(bloom_tvf_cursor *cursor){
  bloom_filter_block_rows *slots = (bloom_filter_block_rows *)cursor;
  if( slots->bytes==NULL || ++slots->slot==slots->block.num_slots ) return;
  bloom_filter_block_slot(&slots->block, slots->slot, &slots->found);
  slots->is_used_up = 0;
  if( !slots->found.is_damaged ) bound_filter(slots);
  cursor->rowid++;
  cursor->has_row = 1;
}

/* A warning about a filter of a block, or NULL. */
static const char *slot_note(const bloom_filter_block_rows *slots){
  const bloom_filter_slot *found = &slots->found;
  if( slots->is_used_up ){
    return "damaged: its block's filters overlap too often, so it may contain every key";
  }
  if( slots->block.base_lg>=64 ){
    return "damaged: base_lg is 64 or more, so it may contain every key";
  }
  if( found->is_damaged ){
    return "damaged: its offsets lie outside of the block, so it may contain every key";
  }
  if( found->first_offset>found->last_offset ) return "out of reach: no file offset is so large";
  return NULL;
}

void bloom_filter_block_rows_column(const bloom_tvf_cursor *cursor, sqlite3_context *context,
                                    int column){
  const bloom_filter_block_rows *slots = (const bloom_filter_block_rows *)cursor;
  const bloom_filter_slot *found = &slots->found;
  const int is_somewhere = found->first_offset<=found->last_offset;
  switch( column ){
    case BLOOM_COLUMN_SLOT:
      if( slots->bytes ) sqlite3_result_int64(context, (sqlite3_int64)slots->slot);
      break;
    case BLOOM_COLUMN_FIRST_OFFSET:
      if( is_somewhere ) sqlite3_result_int64(context, found->first_offset);
      break;
    case BLOOM_COLUMN_LAST_OFFSET:
      if( is_somewhere ) sqlite3_result_int64(context, found->last_offset);
      break;
    case BLOOM_COLUMN_FILTER:
      /* An empty filter may have no address, and then the result would be NULL. */
      sqlite3_result_blob64(context, found->num_bytes ? (const void *)found->filter : "",
                            found->num_bytes, SQLITE_TRANSIENT);
      break;
    default: /* BLOOM_COLUMN_NOTE */
      sqlite3_result_text(context, slots->bytes ? slot_note(slots) : slots->note, -1,
                          SQLITE_STATIC);
      break;
  }
}

void bloom_filter_block_rows_clear(bloom_tvf_cursor *cursor){
  sqlite3_free(((bloom_filter_block_rows *)cursor)->bytes);
}

static int filter_block_start(bloom_tvf_cursor *cursor, sqlite3_value **args){
  bloom_filter_block_rows *slots = (bloom_filter_block_rows *)cursor;
  bloom_filter_block block;
  const uint8_t *bytes;
  size_t num_bytes;
  const char *wrong;
  int rc = bloom_filter_block_rows_arg(slots, args[0],
                                       "(block) must be a BLOB, a LevelDB filter block", &bytes,
                                       &num_bytes);
  if( rc!=SQLITE_OK || bytes==NULL ) return rc;
  wrong = bloom_filter_block_read(bytes, num_bytes, &block);
  if( wrong ){
    return bloom_fail_vtab(&cursor->base.pVtab->zErrMsg,
                           "bloom_filter_block(): argument 1 (block) is no LevelDB filter block:"
                           " %s", wrong);
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
