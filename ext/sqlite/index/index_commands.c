/*
** Commands: 'merge' and 'rebuild', as a whole.
*/
#include "index_merge.h"
#include "index_source.h"

#include <string.h>

#include "../errors.h"

/* Empties a column's table. */
static int merge_reset_key(bloom_index *index, int key){
  return bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_%s%d\"", index->schema,
                       index->name, bloom_index_table_suffix(&index->config.keys[key]), key + 1);
}

int bloom_index_reset(bloom_index *index){
  index_layout *layout = sqlite3_malloc64(sizeof(*layout));
  int i, rc;
  if( layout==NULL ) return SQLITE_NOMEM;
  memset(layout, 0, sizeof(*layout));
  layout->num_generations = 1;
  sqlite3_randomness(sizeof(layout->number), &layout->number);
  layout->generations[0].spans_hash = bloom_index_spans_hash(layout->number);
  for(i=0; i<index->config.num_keys; i++){
    if( bloom_index_has_tokens(&index->config.keys[i]) ){
      layout->generations[0].keys[i].hash_bits = INDEX_MIN_HASH_BITS;
    }
  }
  rc = bloom_index_state_insert(index);
  if( rc==SQLITE_OK ) rc = bloom_index_layout_write(index, layout, NULL);
  /* Only now: while entries cover rows, what changed has to be known. */
  if( rc==SQLITE_OK ) rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_changed\"",
                                         index->schema, index->name);
  if( rc==SQLITE_OK ) rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_spans\"",
                                         index->schema, index->name);
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++) rc = merge_reset_key(index, i);
  sqlite3_free(layout);
  return rc;
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

/* Makes all entries again, of at most max_rows rows. */
static int commands_start_over(bloom_index *index, sqlite3_int64 max_rows){
  const index_layout *layout;
  int ignored, rc = bloom_index_reset(index);
  if( rc==SQLITE_OK ) rc = bloom_index_layout_read(index, &layout);
  return rc==SQLITE_OK ? bloom_index_merge_core(index, layout, max_rows, &ignored) : rc;
}

/* Refuses to rebuild what would not be sure then: notes may be kept out, or, where triggers are
** made now, the statement that writes rows has not got them. */
static int commands_check_rebuild(bloom_index *index, const index_source *source, char **error){
  char *doubt;
  int has_rows = 0, rc = bloom_index_source_why_not_merge(index, source, &doubt);
  if( source->has_trigger_on_notes ){
    sqlite3_free(doubt);
    return bloom_index_triggers_refuse_notes(index, error);
  }
  if( rc==SQLITE_OK ) rc = bloom_index_triggers_refuse_others(index, error);
  if( rc==SQLITE_OK && doubt ) rc = bloom_sql_has_rows_on_their_way(index->connection, &has_rows);
  sqlite3_free(doubt);
  if( rc!=SQLITE_OK || !has_rows ) return rc;
  return bloom_fail_vtab(error, "bloom_index: %s cannot be rebuilt by a trigger, or while another"
                                " statement writes: rows are on their way", index->name);
}

/* Makes entries of at most max_rows rows, and the triggers, for the source as it is now. */
static int commands_rebuild(bloom_index *index, const index_source *source, sqlite3_int64 max_rows,
                            char **error){
  const uint64_t checksum = index->config.checksum;
  const int is_of_1_2 = index->is_of_1_2;
  int rc;
  index->is_config_stale = 1;
  sqlite3_free(index->config.source);
  index->config.source = sqlite3_mprintf("%s", source->name);
  rc = index->config.source ? bloom_index_config_renew(index, error) : SQLITE_NOMEM;
  if( rc==SQLITE_OK && is_of_1_2 ){
    rc = bloom_index_tables_upgrade(index);
    index->is_of_1_2 = rc!=SQLITE_OK;
  }
  if( rc==SQLITE_OK ) rc = bloom_index_canary_write(index);
  if( rc==SQLITE_OK ) rc = commands_start_over(index, max_rows);
  /* Other connections read the configuration when the schema changes. */
  if( rc==SQLITE_OK && (is_of_1_2 || source->doubt || checksum!=index->config.checksum) ){
    rc = bloom_index_triggers_make(index, source->name, 0);
  }
  index->is_config_stale &= rc!=SQLITE_OK;
  index->is_checked = 0;
  return rc;
}

int bloom_index_rebuild(bloom_index *index, char **error){
  index_source source;
  int rc = commands_check_source(index, &source, error);
  if( rc==SQLITE_OK ) rc = commands_check_rebuild(index, &source, error);
  if( rc==SQLITE_OK ) rc = commands_rebuild(index, &source, INDEX_MERGE_ALL, error);
  bloom_index_source_free(&source);
  return rc;
}

/* Sets *is_damaged if entries cannot be believed, though the source's triggers are as they were. */
static int merge_is_damaged(bloom_index *index, const index_layout **layout, int *is_damaged){
  int rc = bloom_index_layout_read(index, layout);
  if( rc==SQLITE_OK ) rc = bloom_index_runs_check(index, *layout);
  *is_damaged = (rc & 0xff)==SQLITE_CORRUPT
      || (rc==SQLITE_OK && bloom_connection_knows_damage(index->connection, (*layout)->number));
  return (rc & 0xff)==SQLITE_CORRUPT ? SQLITE_OK : rc;
}

/* Takes rows of a source that is in no doubt; what is damaged is made again. */
static int merge_rows(bloom_index *index, sqlite3_int64 max_rows){
  const index_layout *layout;
  int is_damaged, wants_rebuild = 0, rc = merge_is_damaged(index, &layout, &is_damaged);
  if( rc==SQLITE_OK && !is_damaged ){
    rc = bloom_index_merge_core(index, layout, max_rows, &wants_rebuild);
  }
  if( (rc & 0xff)==SQLITE_CORRUPT ){
    is_damaged = 1;
    rc = SQLITE_OK;
  }
  if( rc!=SQLITE_OK || !(is_damaged || wants_rebuild) ) return rc;
  return commands_start_over(index, wants_rebuild ? INDEX_MERGE_ALL : max_rows);
}

/* Does what 'rebuild' does, of max_rows rows, where the doubt is in the file; else fails. */
static int merge_heal(bloom_index *index, const index_source *source, const char *doubt,
                      sqlite3_int64 max_rows, char **error){
  sqlite3_int64 is_seen = 0;
  /* An authorizer that hides rows of the schema is the connection's own. */
  int rc = bloom_sql_integer(index->connection, &is_seen, "SELECT 1 FROM \"%w\".sqlite_master"
                             " WHERE type = 'table' AND rootpage = 0 AND sql IS NOT NULL"
                             " AND name = %Q COLLATE NOCASE AND tbl_name = %Q COLLATE NOCASE",
                             index->schema, index->name, index->name);
  if( rc==SQLITE_OK ) rc = commands_check_rebuild(index, source, error);
  if( rc!=SQLITE_OK ) return rc;
  if( !is_seen || !bloom_index_source_can_heal(index, source) ){
    return bloom_fail_vtab(error, "bloom_index: %s: %s", index->name, doubt);
  }
  return commands_rebuild(index, source, max_rows, error);
}

int bloom_index_merge(bloom_index *index, sqlite3_int64 max_rows, char **error){
  index_source source;
  char *doubt = NULL;
  int is_mid_write = 0, rc = commands_check_source(index, &source, error);
  const int is_usable = rc!=SQLITE_ERROR;
  if( rc==SQLITE_OK ) rc = bloom_index_source_why_not_merge(index, &source, &doubt);
  if( rc==SQLITE_OK && doubt==NULL ){
    rc = merge_rows(index, max_rows);
  }else if( rc==SQLITE_OK || !is_usable ){
    /* A trigger's 'merge' must not fail a write, and triggers that are made now would miss it. */
    const int mid_rc = bloom_sql_has_rows_on_their_way(index->connection, &is_mid_write);
    if( mid_rc!=SQLITE_OK || is_mid_write ){
      sqlite3_free(*error);
      *error = NULL;
      rc = mid_rc;
    }else if( is_usable ){
      rc = merge_heal(index, &source, doubt, max_rows, error);
    }
  }
  sqlite3_free(doubt);
  bloom_index_source_free(&source);
  return rc;
}
