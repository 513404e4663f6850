/*
** bloom_ldb(file): table-valued; the filters of a LevelDB table file (.ldb, .sst), whose
** bytes are the argument.  It returns one row for each, like bloom_filter_block(), and the
** name of the policy that wrote them.
**
** (1) If bloom cannot read the filters of a file, there is one row: a filter that may
**     contain every key, at all offsets, and a note that says why.  So no query loses a
**     key.  Such are a file without a filter, one of another policy, one whose metaindex
**     or filter block is compressed, one with fewer filters than its data blocks need, and a
**     file that is missing: NULL.
** (2) Bytes that are not a complete table file are an error that says what is wrong: the
**     magic number, a handle, a checksum.
*/
#include <string.h>

#include "../../core/leveldb/ldb_file.h"
#include "../errors.h"
#include "filter_block_rows.h"
#include "functions.h"

enum { COLUMN_POLICY = BLOOM_NUM_SLOT_COLUMNS, NUM_LDB_COLUMNS };

typedef struct ldb_cursor {
  bloom_filter_block_rows slots; /* first */
  uint8_t policy[BLOOM_POLICY_MAX_BYTES];
  size_t policy_bytes; /* 0: NULL */
} ldb_cursor;

/* Why the filters cannot be read; NULL if they can. */
static const char *ldb_note(const bloom_ldb_file *file){
  const int is_snappy = file->compression==BLOOM_COMPRESSION_SNAPPY;
  switch( file->filter ){
    case BLOOM_LDB_NO_FILTER:
      return "no filter: written without one, so the file may contain every key";
    case BLOOM_LDB_OTHER_POLICY:
      return "another policy: its filters are not read, so the file may contain every key";
    case BLOOM_LDB_METAINDEX_COMPRESSED:
      return is_snappy
          ? "metaindex compressed by Snappy: it is not read, so the file may contain every key"
          : "metaindex compressed: it is not read, so the file may contain every key";
    case BLOOM_LDB_FILTER_COMPRESSED:
      return is_snappy
          ? "filter block compressed by Snappy: it is not read, so the file may contain every key"
          : "filter block compressed: it is not read, so the file may contain every key";
    case BLOOM_LDB_TOO_FEW_FILTERS:
      return "too few filters: data blocks have none, so the file may contain every key";
    case BLOOM_LDB_HAS_FILTERS:
      break;
  }
  return NULL;
}

static int ldb_start(bloom_tvf_cursor *cursor, sqlite3_value **args){
  ldb_cursor *ldb = (ldb_cursor *)cursor;
  bloom_ldb_file file;
  const uint8_t *bytes;
  size_t num_bytes;
  const char *wrong, *note;
  int rc = bloom_filter_block_rows_arg(&ldb->slots, args[0],
                                       "(file) must be a BLOB, the bytes of a LevelDB table file",
                                       &bytes, &num_bytes);
  if( rc!=SQLITE_OK ) return rc;
  if( bytes==NULL ){
    bloom_filter_block_rows_start_without(&ldb->slots,
                                          "no file: NULL, so it may contain every key");
    return SQLITE_OK;
  }
  wrong = bloom_ldb_file_read(bytes, num_bytes, &file);
  if( wrong ){
    return bloom_fail_vtab(&cursor->base.pVtab->zErrMsg,
                           "bloom_ldb(): argument 1 (file) is not a complete LevelDB table file:"
                           " %s", wrong);
  }
  ldb->policy_bytes = file.policy_bytes;
  memcpy(ldb->policy, file.policy, file.policy_bytes);
  note = ldb_note(&file);
  if( note==NULL ){
    return bloom_filter_block_rows_start(&ldb->slots, file.block.bytes, file.block_bytes);
  }
  bloom_filter_block_rows_start_without(&ldb->slots, note);
  return SQLITE_OK;
}

static void ldb_column(const bloom_tvf_cursor *cursor, sqlite3_context *context, int column){
  const ldb_cursor *ldb = (const ldb_cursor *)cursor;
  if( column!=COLUMN_POLICY ){
    bloom_filter_block_rows_column(cursor, context, column);
  }else if( ldb->policy_bytes ){
    sqlite3_result_text64(context, (const char *)ldb->policy, ldb->policy_bytes, SQLITE_TRANSIENT,
                          SQLITE_UTF8);
  }
}

const bloom_tvf bloom_ldb_tvf = {
  .name = "bloom_ldb",
  .call = "bloom_ldb(file)",
  .schema = "CREATE TABLE bloom_ldb(" BLOOM_SLOT_COLUMNS ", policy TEXT, argument HIDDEN)",
  .num_columns = NUM_LDB_COLUMNS,
  .num_args = 1,
  .num_rows = BLOOM_USUAL_SLOTS,
  .cursor_bytes = sizeof(ldb_cursor),
  .start = ldb_start,
  .next = bloom_filter_block_rows_next,
  .column = ldb_column,
  .clear = bloom_filter_block_rows_clear,
};
