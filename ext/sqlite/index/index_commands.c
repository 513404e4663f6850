/*
** Commands: 'merge' and 'rebuild', as a whole, and 'integrity-check'.
*/
#include "index_merge.h"
#include "index_source.h"

/* == 'merge' and 'rebuild' ============================================================= */

int bloom_index_reset(bloom_index *index){
  index_layout *layout = bloom_malloc_zeros(sizeof(*layout));
  int i, rc;
  assert( index->config.num_keys>0 );
  if( layout==NULL ) return SQLITE_NOMEM;
  layout->num_generations = 1;
  sqlite3_randomness(sizeof(layout->number), &layout->number);
  layout->generations[0].spans_hash = bloom_mix64(layout->number);
  for(i=0; i<index->config.num_keys; i++){
    const int has_hash_bits = index_properties_of(&index->config.keys[i])->has_hash_bits;
    layout->generations[0].keys[i].hash_bits = has_hash_bits ? INDEX_MIN_HASH_BITS : 0;
  }
  rc = bloom_index_state_insert(index);
  if( rc==SQLITE_OK ) rc = bloom_index_layout_write(index, layout);
  /* Not earlier: as long as the layout names entries, changed rows must be noted. */
  if( rc==SQLITE_OK ) rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_changed\"",
                                         index->schema, index->name);
  if( rc==SQLITE_OK ) rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_spans\"",
                                         index->schema, index->name);
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_%s%d\"", index->schema,
                       index->name, index_properties_of(&index->config.keys[i])->suffix, i + 1);
  }
  sqlite3_free(layout);
  return rc;
}

int bloom_index_begin_command(bloom_index *index){
  const int rc = bloom_index_begin(index, INDEX_NEED_CHECK);
  if( rc!=SQLITE_OK || index->source.has_tables ) return rc;
  return BLOOM_INDEX_FAIL(index, "bloom_index: tables of %s are gone: drop it and create it again",
                          index->name);
}

/* Empties all tables, and merges at most max_rows rows. */
static int commands_start_over(bloom_index *index, sqlite3_int64 max_rows){
  const index_layout *layout;
  int ignored, rc = bloom_index_reset(index);
  if( rc==SQLITE_OK ) rc = bloom_index_layout_read(index, &layout);
  return rc==SQLITE_OK ? bloom_index_merge_core(index, layout, max_rows, &ignored) : rc;
}

/* Fails where a rebuilt index could not be trusted: a trigger may keep notes out, or a statement
** that writes rows runs without the triggers that are made now. */
static int commands_check_rebuild(bloom_index *index){
  char *doubt, *lacked = index->is_of_1_2 ? bloom_index_tables_lacked(index) : NULL;
  int is_mid_write = 0, rc = bloom_index_source_why_not_merge(index, &doubt);
  if( rc==SQLITE_OK && index->is_of_1_2 && lacked==NULL ) rc = SQLITE_NOMEM;
  if( rc==SQLITE_OK ) rc = bloom_index_check_names(index, lacked ? lacked : "NULL", 0);
  sqlite3_free(lacked);
  if( rc==SQLITE_OK && doubt ) rc = bloom_sql_may_be_mid_write(index->connection, &is_mid_write);
  sqlite3_free(doubt);
  if( rc!=SQLITE_OK || !is_mid_write ) return rc;
  return BLOOM_INDEX_FAIL(index, "bloom_index: %s cannot be rebuilt by a trigger, or while another"
                                 " statement of this connection writes", index->name);
}

/* Merges at most max_rows rows again, and makes the triggers, for the source as it is now. */
static int commands_rebuild(bloom_index *index, sqlite3_int64 max_rows){
  const uint64_t checksum = index->config.checksum;
  const int is_of_1_2 = index->is_of_1_2;
  int rc;
  assert( index->is_checked && index->source.has_tables && max_rows>0 );
  sqlite3_free(index->config.source);
  index->config.source = sqlite3_mprintf("%s", index->columns.name);
  rc = index->config.source ? bloom_index_config_renew(index) : SQLITE_NOMEM;
  if( rc==SQLITE_OK && is_of_1_2 ){
    rc = bloom_index_tables_upgrade(index);
    index->is_of_1_2 = rc!=SQLITE_OK;
  }
  if( rc==SQLITE_OK ) rc = bloom_index_canary_write(index);
  if( rc==SQLITE_OK ) rc = commands_start_over(index, max_rows);
  /* Other connections read the configuration when the schema changes. */
  if( rc==SQLITE_OK
     && (is_of_1_2 || index->source.doubt || checksum!=index->config.checksum) ){
    rc = bloom_index_triggers_make(index, 0);
  }
  if( rc!=SQLITE_OK ) index->config.checksum = 0; /* what it wrote is taken back */
  index->is_checked = 0;
  return rc;
}

int bloom_index_rebuild(sqlite3_vtab *vtab){
  bloom_index *index = index_of(vtab);
  int rc = bloom_index_begin_command(index);
  if( rc==SQLITE_OK ) rc = commands_check_rebuild(index);
  return rc==SQLITE_OK ? commands_rebuild(index, INDEX_MERGE_ALL) : rc;
}

int bloom_index_layout_check(bloom_index *index, const index_layout **layout, int *is_damaged){
  index_run_reader *reader = sqlite3_malloc64(sizeof(*reader));
  uint32_t j;
  int i, key, rc = bloom_index_layout_read(index, layout);
  if( rc==SQLITE_OK && reader==NULL ) rc = SQLITE_NOMEM;
  for(i=0; rc==SQLITE_OK && i<(*layout)->num_generations; i++){
    for(key=0; key<index->config.num_keys; key++){
      /* The last row of each run must be there: a dump, say, gives rows other rowids. */
      const index_key_layout *of_key = &(*layout)->generations[i].keys[key];
      for(j=0; j<of_key->num_runs && rc==SQLITE_OK; j++){
        *reader = (index_run_reader){.index = index, .of_key = of_key, .key = key};
        rc = bloom_index_run_seek(reader, &of_key->runs[j], of_key->runs[j].last);
      }
    }
  }
  sqlite3_free(reader);
  *is_damaged = (rc & 0xff)==SQLITE_CORRUPT
      || (rc==SQLITE_OK && bloom_connection_knows_damage(index->connection, (*layout)->number));
  return (rc & 0xff)==SQLITE_CORRUPT ? SQLITE_OK : rc;
}

int bloom_index_merge(sqlite3_vtab *vtab, sqlite3_int64 max_rows){
  bloom_index *index = index_of(vtab);
  char *doubt = NULL;
  int is_mid_write = 0, rc = bloom_index_begin_command(index);
  const int is_usable = rc!=SQLITE_ERROR;
  assert( max_rows>=0 );
  if( max_rows==0 ) max_rows = INDEX_MERGE_ALL;
  if( rc==SQLITE_OK ) rc = bloom_index_source_why_not_merge(index, &doubt);
  if( rc==SQLITE_OK && doubt==NULL ){
    const index_layout *layout;
    int is_damaged, wants_rebuild = 0;
    rc = bloom_index_layout_check(index, &layout, &is_damaged);
    if( rc==SQLITE_OK && !is_damaged ){
      rc = bloom_index_merge_core(index, layout, max_rows, &wants_rebuild);
      is_damaged = (rc & 0xff)==SQLITE_CORRUPT;
    }
    /* Where entries are damaged, all is merged again, too. */
    if( is_damaged || wants_rebuild ){
      rc = commands_start_over(index, wants_rebuild ? INDEX_MERGE_ALL : max_rows);
    }
  }else if( rc==SQLITE_OK || !is_usable ){
    /* Within a write 'merge' must not fail that, and triggers that it made would miss the row. */
    const int mid_rc = bloom_sql_may_be_mid_write(index->connection, &is_mid_write);
    if( mid_rc!=SQLITE_OK || is_mid_write ){
      bloom_forget_message(&index->base);
      rc = mid_rc;
    }else if( is_usable ){
      /* If the doubt is in the file, it does what 'rebuild' does. */
      rc = commands_check_rebuild(index);
      if( rc==SQLITE_OK ){
        rc = index->source.can_heal ? commands_rebuild(index, max_rows)
          : BLOOM_INDEX_FAIL(index, "bloom_index: %s: %s", index->name, doubt);
      }
    }
  }
  sqlite3_free(doubt);
  return rc;
}

/* == 'integrity-check' ================================================================= */

/*
** Each row must have the entries of its values, unless it is noted as changed.
*/

/* The check of a column. */
typedef struct index_checker {
  bloom_index *index;
  const index_layout *layout;
  int key;
  sqlite3_stmt *rows, *rows_of_block; /* ?1 and ?2 are the first and the last id */
  char **finding;
} index_checker;

/* Sets *finding to words about the index, which are freed, and the command that repairs it. */
static int index_check_say_repair(const bloom_index *index, char *words, const char *command,
                                  char **finding){
  char *whole = words ? sqlite3_mprintf("bloom_index: %s%z", index->name, words) : NULL;
  *finding = bloom_command_say(whole, index->name, command, "repairs it");
  return *finding ? SQLITE_OK : SQLITE_NOMEM;
}

/* Sets the finding that entries of the column, or `by`, "the zones of ", lack a row. */
static int index_check_say_missing(const index_checker *checker, sqlite3_int64 id, const char *by){
  char *words = sqlite3_mprintf(" misses row %lld by %scolumn %s", id, by,
                                bloom_index_key_name(checker->index, checker->key));
  return index_check_say_repair(checker->index, words, "rebuild", checker->finding);
}

/* -- Rows ------------------------------------------------------------------------------------ */

/* Sets the finding to a row of a block that look-ups of its value do not find, if there is one.
** They may find it though the block lacks one of its tokens: versions of SQLite read some decimals
** as neighbouring REALs. */
static int index_check_find_row(index_checker *checker, const index_generation *generation,
                                index_spans *spans, uint32_t block){
  bloom_index *index = checker->index;
  index_search search = {.index = index, .generation = generation,
                         .condition = {.kind = INDEX_EQ, .key = checker->key}};
  sqlite3_stmt *rows = checker->rows_of_block;
  uint32_t its_block;
  int is_found = 1, rc = SQLITE_OK;
  sqlite3_bind_int64(rows, 1, bloom_index_block_first(spans, block));
  sqlite3_bind_int64(rows, 2, bloom_index_block_last(spans, block));
  while( rc==SQLITE_OK && is_found
        && (rc = bloom_sql_step(index->connection, rows))==SQLITE_ROW ){
    index_block_set found;
    int is_all = 0;
    rc = SQLITE_OK;
    if( !bloom_index_spans_has(spans, sqlite3_column_int64(rows, 0), &its_block)
     || its_block!=block ) continue;
    rc = bloom_index_blocks_make(&found, generation->num_spans);
    if( rc==SQLITE_OK && !index_properties_of(&index->config.keys[checker->key])->has_lists ){
      rc = bloom_index_search(&search, sqlite3_column_value(rows, checker->key + 1), NULL, &found,
                              &is_all);
    }
    is_found = is_all || (rc==SQLITE_OK && bloom_index_blocks_next(&found, block)==block);
    bloom_index_blocks_free(&found);
  }
  if( rc==SQLITE_OK && !is_found ){
    rc = index_check_say_missing(checker, sqlite3_column_int64(rows, 0), "");
  }
  sqlite3_reset(rows);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* Takes the pairs in memory, and looks for a row of the block of each one that is no entry. */
static int index_check_pairs(index_checker *checker, const index_generation *generation,
                             index_spans *spans, index_pairs *pairs){
  index_entry_list wanted, list = {.num_blocks = 0};
  index_union *lists;
  uint32_t i, j;
  int is_wanted, is_found = 1;
  int rc = bloom_index_union_start(&lists, checker->index, checker->key,
                                   &generation->keys[checker->key], UINT64_MAX);
  while( rc==SQLITE_OK && *checker->finding==NULL
        && (rc = bloom_index_pairs_next(pairs, &wanted, &is_wanted))==SQLITE_OK && is_wanted ){
    int is_same;
    while( rc==SQLITE_OK && is_found
          && (list.num_blocks==0 || list.token<wanted.token
              || (list.token==wanted.token && list.segment<wanted.segment)) ){
      rc = bloom_index_union_next(lists, &list, &is_found);
    }
    is_same = is_found && list.token==wanted.token && list.segment==wanted.segment;
    for(i=j=0; i<wanted.num_blocks && rc==SQLITE_OK && *checker->finding==NULL; i++){
      while( is_same && j<list.num_blocks && list.blocks[j]<wanted.blocks[i] ) j++;
      if( is_same && j<list.num_blocks && list.blocks[j]==wanted.blocks[i] ) continue;
      rc = index_check_find_row(checker, generation, spans,
                                wanted.segment*BLOOM_SEGMENT_BLOCKS + wanted.blocks[i]);
    }
  }
  sqlite3_free(lists);
  return rc;
}

/* Compares the entries or zones of a column, in a generation, with all rows that it has. */
static int index_check_column(index_checker *checker, int number){
  bloom_index *index = checker->index;
  const index_layout *layout = checker->layout;
  const index_generation *generation = &layout->generations[number];
  const index_interval own = bloom_index_ids_of_generation(layout, number);
  index_pairs pairs = {.num_listed = 0};
  index_spans *spans;
  uint32_t block;
  int rc = bloom_index_spans_read(index, layout, generation, &spans);
  assert( number<layout->num_generations && *checker->finding==NULL );
  if( rc==SQLITE_OK ) rc = bloom_index_pairs_start(&pairs, index, generation, checker->key);
  sqlite3_bind_int64(checker->rows, 1, own.first);
  sqlite3_bind_int64(checker->rows, 2, own.last<layout->covered ? own.last : layout->covered);
  while( rc==SQLITE_OK && *checker->finding==NULL
        && (rc = bloom_sql_step(index->connection, checker->rows))==SQLITE_ROW ){
    const sqlite3_int64 id = sqlite3_column_int64(checker->rows, 0);
    sqlite3_value *value = sqlite3_column_value(checker->rows, checker->key + 1);
    int is_found;
    rc = bloom_index_spans_add(spans, id, &block);
    /* A span that is added is in memory alone. */
    is_found = spans->num_spans==generation->num_spans;
    if( rc==SQLITE_OK && is_found ) rc = bloom_index_pairs_add(&pairs, block, value, &is_found);
    if( rc==SQLITE_OK && !is_found ){
      rc = index_check_say_missing(checker, id, pairs.zones ? "the zones of " : "");
    }
    if( rc==SQLITE_OK && bloom_index_pairs_bytes(&pairs)>=INDEX_MAX_BYTES ){
      rc = index_check_pairs(checker, generation, spans, &pairs);
    }
  }
  if( rc==SQLITE_DONE ) rc = index_check_pairs(checker, generation, spans, &pairs);
  sqlite3_reset(checker->rows);
  bloom_index_pairs_free(&pairs);
  return rc;
}

/* -- The whole ------------------------------------------------------------------------------- */

/* Checks the source and the layout.  Sets *layout, unless queries use no entries. */
static int index_check_state(bloom_index *index, bloom_checker checker,
                             const index_layout **layout, char **finding){
  char *doubt = NULL;
  int rc = bloom_index_begin(index, INDEX_NEED_CHECK);
  if( rc==SQLITE_OK && !index->source.is_by_trigger_alone ){
    rc = bloom_index_source_why_not_merge(index, &doubt);
  }
  if( rc==SQLITE_ERROR && index->base.zErrMsg ){
    *finding = index->base.zErrMsg;
    index->base.zErrMsg = NULL;
    rc = SQLITE_OK;
  }
  if( rc==SQLITE_OK && checker!=BLOOM_CHECK_COMMAND && (doubt || *finding) && !index->damage ){
    sqlite3_free(doubt);
    sqlite3_free(*finding);
    *finding = NULL;
    return SQLITE_OK;
  }
  if( doubt ){
    *finding = sqlite3_mprintf("bloom_index: %s: %z", index->name, doubt);
    if( *finding==NULL ) rc = SQLITE_NOMEM;
  }
  if( rc!=SQLITE_OK || *finding ) return rc;
  rc = bloom_index_layout_read(index, layout);
  if( (rc & 0xff)!=SQLITE_CORRUPT ) return rc;
  return index_check_say_repair(index, sqlite3_mprintf(": its layout is damaged, or covered was"
                                " changed"), "merge", finding);
}

int bloom_index_check(sqlite3_vtab *vtab, bloom_checker checker, char **finding){
  bloom_index *index = index_of(vtab);
  index_checker check = {.index = index, .finding = finding};
  const index_layout *layout = NULL;
  uint64_t number = 0;
  int rc;
  *finding = NULL;
  if( checker!=BLOOM_CHECK_COMMAND && !bloom_connection_is_checking(index->connection) ){
    return SQLITE_OK;
  }
  rc = bloom_index_begin(index, INDEX_NEED_PLACE);
  if( rc!=SQLITE_OK ) return rc;
  /* Tables may be damaged of which memory has a good copy. */
  bloom_index_spans_free(index);
  bloom_index_lists_free(index);
  rc = index_check_state(index, checker, &layout, finding);
  if( layout ) number = layout->number;
  if( rc==SQLITE_OK && *finding==NULL && layout && layout->has_covered
   && checker!=BLOOM_CHECK_QUICK ){
    char *condition = sqlite3_mprintf("BETWEEN ?1 AND ?2 AND x.\"%w\" NOT IN (SELECT c.id FROM "
                                      "\"%w\".\"%w_changed\" AS c UNION ALL SELECT -1)",
                                      index->columns.id_name, index->schema, index->name);
    int i;
    check.layout = layout;
    rc = condition ? bloom_index_source_rows(index, &check.rows, condition) : SQLITE_NOMEM;
    if( rc==SQLITE_OK ) rc = bloom_index_source_rows(index, &check.rows_of_block, condition);
    for(; check.key<index->config.num_keys; check.key++){
      for(i=0; i<layout->num_generations && rc==SQLITE_OK && *finding==NULL; i++){
        rc = index_check_column(&check, i);
      }
    }
    sqlite3_finalize(check.rows);
    sqlite3_finalize(check.rows_of_block);
    sqlite3_free(condition);
  }
  if( (rc & 0xff)!=SQLITE_CORRUPT ) return rc;
  if( rc!=SQLITE_CORRUPT_VTAB || index->connection->is_running ){
    /* A page of a B-tree is damaged, which 'rebuild' may not repair; or the index calls itself. */
    rc = bloom_index_failure(index, rc);
    *finding = index->base.zErrMsg;
    index->base.zErrMsg = NULL;
    return rc==SQLITE_NOMEM ? rc : SQLITE_OK;
  }
  /* 'merge' repairs it, too, where this connection runs it. */
  if( layout ) bloom_connection_note_damage(index->connection, number);
  return index_check_say_repair(index, sqlite3_mprintf(" is damaged: a page of it"), "rebuild",
                                finding);
}
