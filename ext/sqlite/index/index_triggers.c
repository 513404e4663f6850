/*
** The triggers that note the ids of changed rows, and whether the source is as it was.
**
**   NAME_changed(id)   ids at or below `covered` whose rows changed: they are read like rows
**                      that are in no block, until 'merge' adds their keys to the block
**
** The triggers touch plain tables only, so that who writes needs no extension.  Who changes a
** row is told before and after: another trigger may keep the row and stop ours by
** RAISE(IGNORE), or change it on the way.  Before an INSERT SQLite may not have chosen the id
** yet: it is -1 then.  (So row -1 is always read.)
*/
#include "index_int.h"

#include <string.h>

#include "../errors.h"
#include "../source/triggers.h"

#define NUM_INDEX_TRIGGERS 4

/* Ours are found by what their bodies begin with, which names a table that is ours alone. */
static char *index_trigger_body(const bloom_index *index){
  char *changed = sqlite3_mprintf("%s_changed", index->name);
  char *body = changed ? bloom_trigger_body_begin(changed) : NULL;
  sqlite3_free(changed);
  return body;
}

static int index_triggers_read(bloom_index *index, bloom_triggers *triggers){
  char *body = index_trigger_body(index);
  int rc = SQLITE_NOMEM;
  memset(triggers, 0, sizeof(*triggers));
  if( body ) rc = bloom_triggers_read(index->connection, index->schema, NULL, body, NULL, triggers);
  sqlite3_free(body);
  return rc;
}

/* -- Making ----------------------------------------------------------------------------- */

/* Appends the condition that an indexed column, or the id, has another value.  BINARY, as
** LIKE tells values apart that a column's collation does not. */
static void index_append_is_changed(const bloom_index *index, sqlite3_str *sql, const char *id){
  int i;
  sqlite3_str_appendf(sql, "(old.\"%w\" IS NOT new.\"%w\"", id, id);
  for(i=0; i<index->config.num_keys; i++){
    const char *name = index->config.columns[index->config.keys[i].column].name;
    sqlite3_str_appendf(sql, " OR old.\"%w\" COLLATE BINARY IS NOT new.\"%w\"", name, name);
  }
  sqlite3_str_appendall(sql, ") AND ");
}

/* Makes one: event and when are SQL, values what is noted.  Not OR IGNORE: the statement's own
** OR clause would take its place. */
static int index_trigger_make(bloom_index *index, const char *suffix, const char *event, const char *source, char *when, char *values){
  char *body = index_trigger_body(index);
  int rc = SQLITE_NOMEM;
  if( when && values && body ){
    rc = bloom_sql_run(index->connection, "CREATE TRIGGER \"%w\".\"%w_%s\" %s ON \"%w\" WHEN %s <= (SELECT covered FROM \"%w_state\")"
      "%sid) VALUES %s ON CONFLICT DO NOTHING; END",
      index->schema, index->name, suffix, event, source, when, index->name, body, values);
  }
  sqlite3_free(body);
  sqlite3_free(when);
  sqlite3_free(values);
  return rc;
}

int index_triggers_make(bloom_index *index, const char *source){
  const char *id = index->config.columns[index->config.id_column].name;
  char *state = sqlite3_mprintf("%s_state", index->name);
  sqlite3_str *sql;
  int rc = state ? index_triggers_drop(index) : SQLITE_NOMEM;
  if( rc==SQLITE_OK ){
    rc = index_trigger_make(index, "before_insert", "BEFORE INSERT", source,
      sqlite3_mprintf("new.\"%w\" <> -1 AND new.\"%w\"", id, id), sqlite3_mprintf("(new.\"%w\")", id));
  }
  if( rc==SQLITE_OK ){
    rc = index_trigger_make(index, "after_insert", "AFTER INSERT", source,
      sqlite3_mprintf("new.\"%w\"", id), sqlite3_mprintf("(new.\"%w\")", id));
  }
  if( rc==SQLITE_OK ){
    sql = sqlite3_str_new(NULL);
    index_append_is_changed(index, sql, id);
    sqlite3_str_appendf(sql, "CASE WHEN old.\"%w\" < new.\"%w\" THEN old.\"%w\" ELSE new.\"%w\" END", id, id, id, id);
    rc = index_trigger_make(index, "before_update", "BEFORE UPDATE", source,
      sqlite3_str_finish(sql), sqlite3_mprintf("(old.\"%w\"), (new.\"%w\")", id, id));
  }
  if( rc==SQLITE_OK ){
    sql = sqlite3_str_new(NULL);
    index_append_is_changed(index, sql, id);
    sqlite3_str_appendf(sql, "new.\"%w\"", id);
    rc = index_trigger_make(index, "after_update", "AFTER UPDATE", source, sqlite3_str_finish(sql), sqlite3_mprintf("(new.\"%w\")", id));
  }
  if( rc==SQLITE_OK ) rc = bloom_guard_create(index->connection, index->schema, index->name, state);
  sqlite3_free(state);
  return rc;
}

int index_triggers_drop(bloom_index *index){
  bloom_triggers triggers;
  int rc = index_triggers_read(index, &triggers);
  if( rc==SQLITE_OK ) rc = bloom_triggers_drop(index->connection, index->schema, &triggers);
  bloom_triggers_free(&triggers);
  return rc;
}

/* -- Checking --------------------------------------------------------------------------- */

void index_source_free(index_source *source){
  sqlite3_free(source->name);
  sqlite3_free(source->doubt);
  memset(source, 0, sizeof(*source));
}

static int index_set_doubt(index_source *source, const char *doubt){
  if( source->doubt ) return SQLITE_OK;
  source->doubt = sqlite3_mprintf("%s", doubt);
  return source->doubt ? SQLITE_OK : SQLITE_NOMEM;
}

/* Doubts what a newer trigger on the source may keep from ours, and triggers of ours that were
** made again with the table. */
static int index_check_order(bloom_index *index, index_source *source, const bloom_triggers *ours){
  bloom_triggers all;
  sqlite3_int64 guard = 0;
  char *state = sqlite3_mprintf("%s_state", index->name);
  int i, rc = SQLITE_NOMEM;
  if( state ) rc = bloom_guard_find(index->connection, index->schema, state, &guard);
  sqlite3_free(state);
  if( rc!=SQLITE_OK ) return rc;
  for(i=0; i<ours->num_rows && rc==SQLITE_OK; i++){
    if( ours->rows[i].order>guard ) rc = index_set_doubt(source, "the table was made again since the last merge; 'rebuild' repairs it");
  }
  if( rc!=SQLITE_OK ) return rc;
  rc = bloom_triggers_read_on(index->connection, index->schema, source->name, &all);
  for(i=0; i<all.num_rows && rc==SQLITE_OK; i++){
    int can_stop = 0;
    if( all.rows[i].order>guard ) rc = bloom_trigger_can_stop(index->connection, index->schema, all.rows[i].sql, &can_stop);
    if( rc!=SQLITE_OK || !can_stop ) continue;
    source->may_be_well |= source->doubt==NULL;
    rc = index_set_doubt(source, "the table has a trigger that is newer than the index; 'rebuild' repairs it");
  }
  bloom_triggers_free(&all);
  return rc;
}

/* Doubts tables of the index that are no tables any more: a view may have rows without end. */
static int index_check_tables(bloom_index *index, index_source *source){
  sqlite3_str *names = sqlite3_str_new(index->connection->db);
  sqlite3_int64 num_tables = 0;
  char *list;
  int i, rc = SQLITE_NOMEM;
  sqlite3_str_appendf(names, "'%q_layout', '%q_state', '%q_changed'", index->name, index->name, index->name);
  for(i=1; i<=index->config.num_keys; i++) sqlite3_str_appendf(names, ", '%q_blocks_%d'", index->name, i);
  list = sqlite3_str_finish(names);
  if( list ){
    rc = bloom_sql_integer(index->connection, &num_tables, "SELECT count(*) FROM \"%w\".sqlite_master WHERE type = 'table'"
      " AND rootpage > 0 AND name COLLATE NOCASE IN (%s)", index->schema, list);
  }
  sqlite3_free(list);
  source->has_tables = num_tables==3 + index->config.num_keys;
  if( rc!=SQLITE_OK || source->has_tables ) return rc;
  return index_set_doubt(source, "tables of the index are gone: drop it and create it again");
}

/* Looks for what has the source's name.  A virtual table may be one that SQLite keeps from views
** and triggers, to which this one would open it. */
static int index_check_name(bloom_index *index, index_source *source, char **error){
  sqlite3_stmt *row;
  int is_virtual = 0, rc = bloom_sql_prepare(index->connection, &row, "SELECT type = 'view', rootpage = 0 FROM \"%w\".sqlite_master"
    " WHERE type IN ('table', 'view') AND name = %Q COLLATE NOCASE", index->schema, source->name);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW ){
    source->is_view = sqlite3_column_int(row, 0);
    is_virtual = !source->is_view && sqlite3_column_int(row, 1);
  }
  sqlite3_finalize(row);
  if( rc==SQLITE_DONE ){
    return bloom_fail_vtab(error, "bloom_index: there is no table %s any more, and no trigger of %s that would know its new name: "
                                  "drop %s and create it again", source->name, index->name, index->name);
  }
  if( is_virtual ) return bloom_fail_vtab(error, "bloom_index: %s is a virtual table now, which an index does not read: drop %s", source->name, index->name);
  return rc==SQLITE_ROW ? SQLITE_OK : rc;
}

/* The statement by which a view tells the collations of its columns, to be freed: 0 for BINARY,
** 1 for NOCASE, 2 for RTRIM.  SQLite has no other way to ask, and a SELECT's columns are those of
** its first part. */
static char *index_collations_of_view(const bloom_index *index, const char *view){
  sqlite3_str *tried = sqlite3_str_new(NULL), *names = sqlite3_str_new(NULL), *texts = sqlite3_str_new(NULL);
  char *of_tried, *of_names, *of_texts, *sql = NULL;
  int i;
  for(i=0; i<index->config.num_columns; i++){
    const char *name = index->config.columns[i].name, *comma = i ? ", " : "";
    sqlite3_str_appendf(tried, "%s(\"%w\" = 'A') + 2*(\"%w\" = 'a ')", comma, name, name);
    sqlite3_str_appendf(names, "%s\"%w\"", comma, name);
    sqlite3_str_appendf(texts, "%s'a'", comma);
  }
  of_tried = sqlite3_str_finish(tried);
  of_names = sqlite3_str_finish(names);
  of_texts = sqlite3_str_finish(texts);
  if( of_tried && of_names && of_texts ){
    sql = sqlite3_mprintf("SELECT %s FROM (SELECT %s FROM \"%w\".\"%w\" WHERE 0 UNION ALL SELECT %s LIMIT 1)", of_tried, of_names, index->schema, view, of_texts);
  }
  sqlite3_free(of_tried);
  sqlite3_free(of_names);
  sqlite3_free(of_texts);
  return sql;
}

/* Sets *is_same to whether the columns of a view are those of the index, and compare like them. */
static int index_compare_view(bloom_index *index, const char *view, int *is_same){
  const index_config *config = &index->config;
  sqlite3_stmt *row;
  int num_columns = 0, rc = bloom_sql_prepare(index->connection, &row, "PRAGMA \"%w\".table_xinfo(%Q)", index->schema, view);
  *is_same = 1;
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
    const index_source_column *column = &config->columns[num_columns++];
    const char *name, *type;
    rc = bloom_sql_column_text(row, 1, &name);
    if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 2, &type);
    if( rc==SQLITE_OK && num_columns<=config->num_columns && sqlite3_stricmp(name, column->name)==0 && bloom_column_kind_of(type)==bloom_column_kind_of(column->type) ) continue;
    *is_same = 0;
    break;
  }
  sqlite3_finalize(row);
  if( num_columns<config->num_columns ) *is_same = 0;
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  if( rc!=SQLITE_OK || !*is_same ) return rc;
  rc = bloom_sql_prepare_text(index->connection, &row, index_collations_of_view(index, view));
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  while( rc==SQLITE_ROW && *is_same && num_columns-->0 ){
    bloom_collation collation;
    if( !bloom_collation_named(config->columns[num_columns].collation, &collation) || sqlite3_column_int(row, num_columns)!=(int)collation ) *is_same = 0;
  }
  sqlite3_finalize(row);
  return rc==SQLITE_ROW ? SQLITE_OK : rc;
}

/* Compares the source's columns with those of the index. */
static int index_check_columns(bloom_index *index, index_source *source, char **error){
  index_config now = {.source = NULL};
  int is_same = 0, rc;
  if( source->is_view ){
    rc = index_compare_view(index, source->name, &is_same);
    if( rc==SQLITE_ERROR ) return bloom_fail_vtab(error, "bloom_index: view %s: %s", source->name, bloom_sql_message(index->connection->db, rc));
    if( rc==SQLITE_OK && is_same ) return index_set_doubt(source, "the table is a view now; 'rebuild' repairs it once it is a table again");
  }else{
    rc = index_config_of_source(index, source->name, &now, error);
    if( rc==SQLITE_OK ) is_same = index_config_same_columns(&now, &index->config);
    index_config_free(&now);
  }
  if( rc!=SQLITE_OK || is_same ) return rc;
  return bloom_fail_vtab(error, "bloom_index: %s %s has other columns than when %s was made: drop %s and create it again",
                                source->is_view ? "view" : "table", source->name, index->name, index->name);
}

int index_source_check(bloom_index *index, index_source *source, char **error){
  bloom_triggers ours;
  int rc = index_triggers_read(index, &ours);
  memset(source, 0, sizeof(*source));
  if( rc==SQLITE_OK ){
    source->name = sqlite3_mprintf("%s", ours.num_rows ? ours.rows[0].table : index->config.source);
    if( source->name==NULL ) rc = SQLITE_NOMEM;
  }
  if( rc==SQLITE_OK ) rc = index_check_name(index, source, error);
  if( rc==SQLITE_OK ) rc = index_check_columns(index, source, error);
  if( rc==SQLITE_OK && (ours.num_rows!=NUM_INDEX_TRIGGERS || !bloom_triggers_are_on_one_table(&ours)) ){
    rc = index_set_doubt(source, "triggers on the table are gone; 'rebuild' repairs it");
  }
  if( rc==SQLITE_OK ) rc = index_check_tables(index, source);
  if( rc==SQLITE_OK ) rc = index_check_order(index, source, &ours);
  bloom_triggers_free(&ours);
  if( rc==SQLITE_OK ){
    sqlite3_free(index->source_name);
    index->source_name = sqlite3_mprintf("%s", source->name);
    if( index->source_name==NULL ) rc = SQLITE_NOMEM;
  }
  return rc;
}

int index_source_doubt(bloom_index *index, const char **doubt, char **error){
  sqlite3_int64 version = 0;
  int rc = bloom_sql_integer(index->connection, &version, "PRAGMA \"%w\".schema_version", index->schema);
  *doubt = NULL;
  if( rc!=SQLITE_OK ) return rc;
  if( !index->is_checked || index->checked_version!=version || bloom_database_may_be_swapped(index->connection->db, index->schema) ){
    index_source source;
    index->is_checked = 0;
    rc = index_source_check(index, &source, error);
    if( rc==SQLITE_OK ){
      sqlite3_free(index->doubt);
      index->doubt = source.doubt;
      index->is_view = source.is_view;
      source.doubt = NULL;
      index->is_checked = 1;
      index->checked_version = version;
    }
    index_source_free(&source);
  }
  if( rc==SQLITE_OK ) *doubt = index->doubt;
  return rc;
}

int index_locate_database(bloom_index *index){
  int is_changed, rc = bloom_database_locate(index->connection, &index->schema, index->file, &index->state, &is_changed);
  if( is_changed ) index->is_checked = 0;
  if( rc!=SQLITE_NOTFOUND ) return rc;
  return bloom_fail_vtab(&index->base.zErrMsg, "bloom_index: the database of %s was detached or replaced while its cache is shared: "
                                               "open the connection anew", index->name);
}

int index_locate(bloom_index *index){
  int is_same = 1, rc = index_locate_database(index);
  if( rc!=SQLITE_OK || !bloom_database_may_be_swapped(index->connection->db, index->schema) ) return rc;
  rc = index_config_compare(index, &is_same);
  if( rc!=SQLITE_OK || is_same ) return rc;
  return bloom_fail_vtab(&index->base.zErrMsg, "bloom_index: the database of %s was replaced by another: prepare the statement anew", index->name);
}
