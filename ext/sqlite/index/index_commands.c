/*
** Commands: 'merge' and 'rebuild', as a whole.
*/
#include "index_merge.h"
#include "index_source.h"

#include <string.h>

#include "../errors.h"

/* A table of fewer rows is built again in no time. */
#define INDEX_FEW_ROWS 20000

/* Makes a column's first rows, before any block. */
static int merge_reset_blocks(bloom_index *index, int key){
  sqlite3_stmt *write = NULL;
  int i, rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_blocks_%d\"", index->schema,
                            index->name, key + 1);
  if( rc==SQLITE_OK && index->config.keys[key].is_range ){
    return bloom_index_zones_reset(index, key);
  }
  for(i=1; i<=INDEX_ROW_OF_WEIGHTS && rc==SQLITE_OK; i++){
    rc = bloom_index_row_write(index, key, &write, i, NULL, 0);
  }
  sqlite3_finalize(write);
  return rc;
}

int bloom_index_reset(bloom_index *index){
  index_layout layout;
  int i, rc;
  memset(&layout, 0, sizeof(layout));
  layout.num_probes = 1;
  sqlite3_randomness(sizeof(layout.number), &layout.number);
  for(i=0; i<index->config.num_keys; i++) layout.keys[i].open_first = INT64_MIN;
  rc = bloom_index_state_insert(index);
  if( rc==SQLITE_OK ) rc = bloom_index_layout_write(index, &layout);
  /* Only now: while blocks cover rows, what changed has to be known. */
  if( rc==SQLITE_OK ) rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_changed\"",
                                         index->schema, index->name);
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++) rc = merge_reset_blocks(index, i);
  return rc==SQLITE_OK ? bloom_index_state_write(index, &layout, NULL) : rc;
}

int bloom_index_fail_no_tables(const bloom_index *index, char **error){
  return bloom_fail_vtab(error, "bloom_index: tables of %s are gone: drop it and create it again",
                         index->name);
}

/* Checks the source for a command, which cannot run where the index has no tables. */
static int commands_check_source(bloom_index *index, index_source *source, char **error){
  const int rc = bloom_index_source_check(index, source, error);
  return rc!=SQLITE_OK || source->has_tables ? rc : bloom_index_fail_no_tables(index, error);
}

/* Builds all blocks again, of at most max_rows rows. */
static int commands_start_over(bloom_index *index, sqlite3_int64 max_rows){
  index_layout layout;
  int ignored, rc = bloom_index_reset(index);
  if( rc==SQLITE_OK ) rc = bloom_index_layout_read(index, &layout);
  return rc==SQLITE_OK ? bloom_index_merge_core(index, &layout, max_rows, &ignored) : rc;
}

/* Refuses to rebuild what would not be sure then: notes may be kept out, or, where triggers are
** made now, the statement that writes rows has not got them. */
static int commands_check_rebuild(bloom_index *index, const index_source *source, char **error){
  char *doubt;
  int has_rows = 0, rc = bloom_index_source_why_not_merge(index, source, &doubt);
  if( source->has_trigger_on_notes ){
    sqlite3_free(doubt);
    return bloom_fail_vtab(error, "bloom_index: a trigger on %s_changed is in the way of %s: drop"
                                  " it", index->name, index->name);
  }
  if( rc==SQLITE_OK ) rc = bloom_index_triggers_refuse_others(index, error);
  if( rc==SQLITE_OK && doubt ) rc = bloom_sql_has_rows_on_their_way(index->connection, &has_rows);
  sqlite3_free(doubt);
  if( rc!=SQLITE_OK || !has_rows ) return rc;
  return bloom_fail_vtab(error, "bloom_index: %s cannot be rebuilt by a trigger, or while another"
                                " statement writes: rows are on their way", index->name);
}

int bloom_index_rebuild(bloom_index *index, char **error){
  index_source source;
  const uint64_t checksum = index->config.checksum;
  int rc = commands_check_source(index, &source, error);
  if( rc==SQLITE_OK ) rc = commands_check_rebuild(index, &source, error);
  if( rc==SQLITE_OK ){
    index->is_config_stale = 1;
    sqlite3_free(index->config.source);
    index->config.source = sqlite3_mprintf("%s", source.name);
    rc = index->config.source ? bloom_index_config_renew(index, error) : SQLITE_NOMEM;
  }
  if( rc==SQLITE_OK ) rc = bloom_index_canary_write(index);
  if( rc==SQLITE_OK ) rc = commands_start_over(index, INDEX_MERGE_ALL);
  /* Other connections read the configuration when the schema changes. */
  if( rc==SQLITE_OK && (source.doubt || checksum!=index->config.checksum) ){
    rc = bloom_index_triggers_make(index, source.name, 0);
  }
  index->is_config_stale &= rc!=SQLITE_OK;
  index->is_checked = 0;
  bloom_index_source_free(&source);
  return rc;
}

/* Sets *is_damaged if blocks cannot be believed, though the source's triggers are as they were. */
static int merge_is_damaged(bloom_index *index, index_layout *layout, int *is_damaged){
  int is_equal = 0, rc = bloom_index_layout_read(index, layout);
  if( rc==SQLITE_OK ) rc = bloom_index_state_compare(index, layout, &is_equal);
  *is_damaged = (rc & 0xff)==SQLITE_CORRUPT || layout->is_dirty || !is_equal
    || layout->number==index->damaged_number;
  return (rc & 0xff)==SQLITE_CORRUPT ? SQLITE_OK : rc;
}

int bloom_index_merge(bloom_index *index, sqlite3_int64 max_rows, char **error){
  index_source source;
  index_layout layout;
  char *doubt = NULL;
  int is_damaged = 0, wants_rebuild = 0;
  int rc = commands_check_source(index, &source, error);
  if( rc==SQLITE_OK ) rc = bloom_index_source_why_not_merge(index, &source, &doubt);
  if( rc==SQLITE_OK ) rc = merge_is_damaged(index, &layout, &is_damaged);
  if( rc==SQLITE_OK && doubt ){
    /* Only 'rebuild' makes triggers again, and blocks of columns that are not what they were. */
    if( is_damaged ) rc = bloom_index_reset(index);
    if( rc==SQLITE_OK && is_damaged ) rc = bloom_index_layout_read(index, &layout);
    if( rc==SQLITE_OK ) rc = bloom_index_state_write(index, &layout, doubt);
  }else if( rc==SQLITE_OK ){
    if( !is_damaged && max_rows==INDEX_MERGE_ALL && layout.has_covered
       && layout.num_rows<INDEX_FEW_ROWS ){
      rc = bloom_index_weights_are_untaught(index, &wants_rebuild);
    }
    if( rc==SQLITE_OK && !is_damaged && !wants_rebuild ){
      rc = bloom_index_merge_core(index, &layout, max_rows, &wants_rebuild);
    }
    if( (rc & 0xff)==SQLITE_CORRUPT ){
      is_damaged = 1;
      rc = SQLITE_OK;
    }
    if( rc==SQLITE_OK && (is_damaged || (wants_rebuild && max_rows==INDEX_MERGE_ALL)) ){
      rc = commands_start_over(index, max_rows);
    }
  }
  sqlite3_free(doubt);
  bloom_index_source_free(&source);
  return rc;
}
