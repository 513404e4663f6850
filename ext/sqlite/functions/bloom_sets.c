/*
** bloom_sets(file, key): table-valued; the sets of a BloomFile that may hold the key, one
** row each, ascending; file is a BLOB or a handle.
**
** (1) No rows for a NULL file or key.
** (2) Bytes that are no BloomFile are an error: a filter of one set has no numbers.
*/
#include <string.h>

#include "../../core/bloomfile/bloomfile.h"
#include "../errors.h"
#include "../filter_arg.h"
#include "functions.h"
#include "../interrupt.h"
#include "../key.h"

/* Behind it: what it is instead, what was meant. */
#define NO_BLOOMFILE "bloom_sets(): argument 1 (file) must be a BloomFile, a BLOB or a handle " \
                     "from bloom_open(), not "

/* Estimates for SQLite's planner: few rows beside a table's, and a call that costs more
** than a row.  So the function comes before tables that are looked up by its rows. */
#define SETS_USUAL_ROWS 10
#define SETS_COST       200

typedef struct sets_cursor {
  bloom_tvf_cursor base; /* first */
  uint8_t *mask;           /* bit s%8 of byte s/8 for set s; NULL if there is none */
  size_t num_mask_bytes;
  size_t next_byte;        /* of mask, after the one in bits */
  unsigned bits;           /* of a byte of mask, those that are not rows yet */
  sqlite3_int64 set_number;
  uint64_t first_rowid;    /* of set 0, if there is one */
} sets_cursor;

static void sets_next(bloom_tvf_cursor *cursor){
  sets_cursor *sets = (sets_cursor *)cursor;
  uint64_t rowid;
  unsigned bit = 0;
  while( sets->bits==0 ){
    uint64_t word;
    while( sets->num_mask_bytes - sets->next_byte>=8 ){ /* of a huge file most are 0 */
      memcpy(&word, sets->mask + sets->next_byte, 8);
      if( word ) break;
      sets->next_byte += 8;
    }
    if( sets->next_byte==sets->num_mask_bytes ) return;
    sets->bits = sets->mask[sets->next_byte++];
  }
  while( !(sets->bits >> bit & 1) ) bit++;
  sets->bits &= sets->bits - 1;
  sets->set_number = (sqlite3_int64)(sets->next_byte - 1) * 8 + bit;
  rowid = sets->first_rowid + (uint64_t)sets->set_number;
  cursor->rowid = (sqlite3_int64)rowid;
  cursor->has_row = 1;
}

/* What was meant, if file and key are swapped. */
static const char *sets_hint(bloom_tvf_cursor *cursor, sqlite3_value *key){
  const void *handle = sqlite3_value_pointer(key, bloom_handle_type);
  const int is_file = sqlite3_value_type(key)==SQLITE_BLOB
      || bloom_handle_find(bloom_tvf_db(cursor), handle);
  return is_file ? "; the file comes first" : "";
}

static int sets_file_arg(bloom_tvf_cursor *cursor, sqlite3_value *value, sqlite3_value *key,
                         bloom_filter *storage, const bloom_filter **file){
  char **error = &cursor->base.pVtab->zErrMsg;
  switch( bloom_filter_arg(bloom_tvf_db(cursor), value, storage, file) ){
    case BLOOM_ARG_NULL:      *file = NULL; return SQLITE_OK;
    case BLOOM_ARG_NOMEM:     return SQLITE_NOMEM;
    case BLOOM_ARG_NO_FILTER:
      return bloom_fail_vtab(error, NO_BLOOMFILE "%s%s",
                             bloom_no_filter_name(bloom_tvf_db(cursor), value),
                             sets_hint(cursor, key));
    case BLOOM_ARG_FILTER:    break;
  }
  if( (*file)->encoding==&bloom_encoding_bloomfile ) return SQLITE_OK;
  return bloom_fail_vtab(error, NO_BLOOMFILE "%lld bytes that are none%s",
                         (sqlite3_int64)(*file)->shape.num_bytes, sets_hint(cursor, key));
}

static int sets_start(bloom_tvf_cursor *cursor, sqlite3_value **args){
  sets_cursor *sets = (sets_cursor *)cursor;
  bloom_filter storage;
  const bloom_filter *file;
  bloom_stoppable stoppable;
  bloom_hash_value hash;
  bloom_key_kind kind;
  int rc = sets_file_arg(cursor, args[0], args[1], &storage, &file);
  if( rc!=SQLITE_OK || file==NULL ) return rc;
  kind = bloom_hash_of_key(file->encoding, args[1], &hash);
  if( kind==BLOOM_KEY_NULL ) return SQLITE_OK;
  if( kind==BLOOM_KEY_NOMEM ) return SQLITE_NOMEM;
  sets->num_mask_bytes = bloom_bloomfile_unit_bytes(&file->shape);
  sets->mask = sqlite3_malloc64(sets->num_mask_bytes);
  if( sets->mask==NULL ) return SQLITE_NOMEM;
  bloom_stoppable_init(&stoppable, bloom_tvf_db(cursor), file);
  rc = bloom_bloomfile_sets(&stoppable.filter, hash, sets->mask, NULL);
  if( rc<=0 ) return rc<0 ? SQLITE_INTERRUPT : SQLITE_OK;
  if( cursor->wants_rowids ){
    rc = bloom_hash_of_bytes(bloom_tvf_db(cursor), file->bytes, file->shape.num_bytes,
                             &sets->first_rowid);
    if( rc!=SQLITE_OK ) return rc;
    sets->first_rowid += hash;
  }
  sets_next(cursor);
  return SQLITE_OK;
}

static void sets_column(const bloom_tvf_cursor *cursor, sqlite3_context *context, int column){
  (void)column;
  sqlite3_result_int64(context, ((const sets_cursor *)cursor)->set_number);
}

static void sets_clear(bloom_tvf_cursor *cursor){
  sqlite3_free(((sets_cursor *)cursor)->mask);
}

const bloom_tvf bloom_sets_tvf = {
  .name = "bloom_sets",
  .call = "bloom_sets(file, key)",
  .schema =
      "CREATE TABLE bloom_sets(set_number INTEGER, argument_1 BLOB HIDDEN, argument_2 BLOB HIDDEN)",
  .num_columns = 1,
  .num_args = 2,
  .num_rows = SETS_USUAL_ROWS,
  .cost = SETS_COST,
  .cursor_bytes = sizeof(sets_cursor),
  .start = sets_start,
  .next = sets_next,
  .column = sets_column,
  .clear = sets_clear,
};
