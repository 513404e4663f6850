/*
** The source as it is now: its columns, and whether entries can be trusted.
**
** The virtual table has the columns that the source had when SQLite connected it, which it does
** again after each ALTER TABLE.  The configuration has what the indexed columns were when their
** entries were begun; each is looked for under the name that the triggers have for it.  The entries
** of a column that is not as it was are not used, and no query fails because of it.
*/
#include "index_source.h"

#include <string.h>

#include "../../core/debug.h"

/* -- Indexed columns ------------------------------------------------------------------------ */

const char *bloom_index_key_name(const bloom_index *index, int key){
  const index_key *indexed = &index->config.keys[key];
  assert( key>=0 && key<index->config.num_keys && indexed->column<index->columns.num_columns );
  return indexed->column>=0 ? index->columns.list[indexed->column].name : indexed->name;
}

int bloom_index_last_id(bloom_index *index, sqlite3_int64 *last){
  sqlite3_int64 found = INT64_MIN;
  int rc;
  if( index->facts.known & INDEX_FACT_LAST ){
    *last = index->facts.last;
    return SQLITE_OK;
  }
  rc = bloom_index_statement_integer(index, INDEX_USE_LAST_ID, &found, INDEX_LAST_ID,
                                     index->columns.id_name, index->schema, index->columns.name);
  if( rc!=SQLITE_OK || found==INT64_MIN ) return rc;
  *last = found;
  bloom_index_note(index, INDEX_FACT_LAST);
  index->facts.last = found;
  return SQLITE_OK;
}

int bloom_index_source_rows(bloom_index *index, sqlite3_stmt **rows, const char *condition){
  const char *id = index->columns.id_name;
  sqlite3_str *sql = sqlite3_str_new(index->connection->db);
  int i;
  assert( id && index->columns.name );
  sqlite3_str_appendf(sql, "SELECT x.\"%w\"", id);
  for(i=0; i<index->config.num_keys; i++){
    if( index->config.keys[i].column<0 ) sqlite3_str_appendall(sql, ", NULL");
    else sqlite3_str_appendf(sql, ", x.\"%w\"", bloom_index_key_name(index, i));
  }
  sqlite3_str_appendf(sql, " FROM " INDEX_SOURCE " NOT INDEXED WHERE x.\"%w\" %s ORDER BY x.\"%w\"",
                      index->schema, index->columns.name, id, condition, id);
  return bloom_sql_prepare_text(index->connection, rows, sqlite3_str_finish(sql));
}

/* This one is about the connection's SQLite, not about the file. */
static const char doubt_of_version[] = "is generated, and another version of SQLite merged it";

/* Sets the place of each indexed column among the source's, and its doubt.  names is the text of
** the trigger after an UPDATE, which SQLite keeps true when columns are renamed: behind `new.`
** stand, in this order, the id, the indexed columns that were there when it was made, and some of
** these again; "": it is gone, and the recorded names count.  Sets *has_id to whether the source's
** id has the id's name. */
static int source_find_keys(bloom_index *index, const char *names, int *has_id){
  const bloom_source *columns = &index->columns;
  bloom_token token = bloom_token_after_new(bloom_token_first(names));
  char *name = bloom_token_unquoted(token);
  int i;
  *has_id = token.num_chars==0 || (name && sqlite3_stricmp(name, columns->id_name)==0);
  for(i=0; i<index->config.num_keys && name; i++){
    index_key *key = &index->config.keys[i];
    const bloom_source_column *column;
    sqlite3_free(name);
    if( !key->is_gone ) token = bloom_token_after_new(token);
    name = bloom_token_unquoted(token);
    if( name==NULL ) break;
    key->column = bloom_source_find(columns, key->is_gone || token.num_chars==0 ? key->name : name);
    key->doubt = NULL;
    column = key->column>=0 ? &columns->list[key->column] : NULL;
    if( column==NULL && !key->is_gone ) key->doubt = "is gone";
    else if( column && key->is_gone ) key->doubt = "is there again";
    else if( column && column->affinity!=key->affinity ) key->doubt = "has another type";
    else if( column && sqlite3_stricmp(column->collation, key->collation)!=0 ){
      key->doubt = "has another collation";
    }else if( key->is_virtual && index->config.version!=(uint32_t)sqlite3_libversion_number() ){
      key->doubt = doubt_of_version;
    }
  }
  sqlite3_free(name);
  return i==index->config.num_keys ? SQLITE_OK : SQLITE_NOMEM;
}

char *bloom_index_doubt_text(const bloom_index *index, int key){
  const char *doubt = key<0 ? index->source.doubt : index->config.keys[key].doubt;
  char *words = key<0 ? sqlite3_mprintf("%s", doubt)
    : sqlite3_mprintf("column %s %s", bloom_index_key_name(index, key), doubt);
  assert( doubt );
  /* Where tables are gone the doubt says what to do. */
  if( key<0 && !index->source.has_tables ) return words;
  return bloom_command_say(words, index->name, index->source.can_heal ? "merge" : "rebuild",
                           "repairs it");
}

int bloom_index_source_why_not_merge(const bloom_index *index, char **doubt){
  int key = -1;
  *doubt = NULL;
  if( index->source.doubt==NULL ){
    for(key=0; key<index->config.num_keys && index->config.keys[key].doubt==NULL; key++){}
    if( key==index->config.num_keys ) return SQLITE_OK;
  }
  *doubt = bloom_index_doubt_text(index, key);
  return *doubt ? SQLITE_OK : SQLITE_NOMEM;
}

/* == Triggers ========================================================================== */

/*
** The triggers that note the ids of changed rows.
**
**   NAME_changed(id)   ids at or below `covered` whose rows changed: they are read like rows
**                      that are not merged, until 'merge' adds entries of them
**
** The triggers use plain tables and SQL of SQLite 3.7.8, so that a program that writes needs no
** extension.  An id is noted before and after a change: another trigger may keep the row and stop
** ours by RAISE(IGNORE), or change it on the way.  Before an INSERT SQLite may not have chosen the
** id yet: it is -1 then, so that row -1 is noted after it alone.
**
** SQLite keeps the names in them true, and so they say what the columns are called now.
*/

enum {
  INDEX_BEFORE_INSERT, INDEX_AFTER_INSERT, INDEX_BEFORE_MOVE, INDEX_BEFORE_UPDATE,
  INDEX_AFTER_UPDATE, /* its text tells names: source_find_keys() */
  INDEX_NUM_TRIGGERS
};

static const bloom_trigger_kind index_triggers[INDEX_NUM_TRIGGERS] = {
  [INDEX_BEFORE_INSERT] = {"_before_insert", "BEFORE INSERT"},
  [INDEX_AFTER_INSERT]  = {"_after_insert", "AFTER INSERT"},
  [INDEX_BEFORE_MOVE]   = {"_before_move", "BEFORE UPDATE"},
  [INDEX_BEFORE_UPDATE] = {"_before_update", "BEFORE UPDATE"},
  [INDEX_AFTER_UPDATE]  = {"_after_update", "AFTER UPDATE"}
};

/* The row whose id each trigger notes, and its condition: a format of the id's name, or NULL for
** triggers_is_changed(). */
static const struct {
  const char *row, *when;
} index_trigger_notes[INDEX_NUM_TRIGGERS] = {
  [INDEX_BEFORE_INSERT] = {"new", "new.\"%w\" <> -1 AND "},
  [INDEX_AFTER_INSERT]  = {"new", ""},
  [INDEX_BEFORE_MOVE]   = {"old", "new.\"%w\" IS NOT old.\"%w\" AND "},
  [INDEX_BEFORE_UPDATE] = {"new", NULL},
  [INDEX_AFTER_UPDATE]  = {"new", NULL}
};

static bloom_follower index_follower(bloom_index *index){
  return (bloom_follower){index->connection, "bloom_index", index->schema, index->name,
                          &index->base.zErrMsg, "_state", "_changed", index_triggers,
                          INDEX_NUM_TRIGGERS, bloom_index_tables_is_own, index};
}

int bloom_index_check_names(bloom_index *index, const char *tables, int is_create){
  return bloom_obstacles_refuse(index_follower(index), sqlite3_mprintf(
    "(type <> 'trigger' AND name COLLATE NOCASE IN (%s)) OR (%d AND type <> 'trigger'"
    " AND name = '%q_canary' COLLATE NOCASE AND NOT (type = 'table' AND rootpage > 0"
    " AND substr(sql, -%d) = '" INDEX_CANARY_FORM "'))", tables, index->columns.id_column<0,
    index->name, (int)strlen(INDEX_CANARY_FORM)), is_create);
}

int bloom_index_triggers_drop(bloom_index *index){
  return bloom_follow_drop(index_follower(index), 0);
}

/* == The source as it is now =========================================================== */

int bloom_index_source_read(bloom_index *index, const char *table, int is_create,
                            bloom_source *source){
  int rc = bloom_source_read(index_follower(index), table, is_create, source);
  if( rc==SQLITE_OK && is_create ) rc = bloom_source_refuse_shadow(index_follower(index), table);
  if( rc!=SQLITE_OK || source->id_name ) return rc;
  return BLOOM_INDEX_FAIL(index, "bloom_index: table %s has no rowid that can be named, being"
                                 " WITHOUT ROWID or having columns rowid, _rowid_ and oid: make it"
                                 " with an INTEGER PRIMARY KEY, or a filter on it, USING bloom",
                          table);
}

int bloom_index_columns_fail(bloom_index *index){
  /* SQLite 3.31 takes RESET for OFF, without a word. */
  const int has_reset = sqlite3_libversion_number()>=3038000;
  return BLOOM_INDEX_FAIL(index, "bloom_index: table %s has other columns than SQLite knows of %s:"
                                 " %sany ALTER TABLE, or opening the connection anew tells it",
                          index->columns.name ? index->columns.name : index->config.source,
                          index->name, has_reset ? "PRAGMA writable_schema = RESET, " : "");
}

/* Sets index->columns where none were declared yet, else compares them with the table's. */
static int index_check_columns(bloom_index *index, const char *table){
  bloom_source *declared = &index->columns, now;
  int i, is_other, rc = bloom_index_source_read(index, table, 0, &now);
  /* A view's ids may be NULL, or come twice.  A virtual table may be one that SQLite keeps from
  ** views and triggers, to which this one would open it. */
  if( rc==SQLITE_ERROR && index->base.zErrMsg ){
    rc = BLOOM_INDEX_FAIL(index, "%s; drop %s, and create it on the table that you mean",
                          index->base.zErrMsg, index->name);
  }
  if( rc==SQLITE_OK && !index->is_declared ){
    bloom_source_free(declared);
    *declared = now;
    index->columns_state = INDEX_COLUMNS_SAME;
    return SQLITE_OK;
  }
  is_other = now.num_columns<declared->num_columns || declared->num_columns==0;
  for(i=0; i<declared->num_columns && rc==SQLITE_OK && !is_other; i++){
    const bloom_source_column a = declared->list[i], b = now.list[i];
    is_other = sqlite3_stricmp(a.name, b.name)!=0 || strcmp(a.type, b.type)!=0
      || sqlite3_stricmp(a.collation, b.collation)!=0 || a.is_not_null>b.is_not_null;
  }
  if( rc==SQLITE_OK && is_other ){
    index->columns_state = INDEX_COLUMNS_OTHER;
    rc = bloom_index_columns_fail(index);
  }else if( rc==SQLITE_OK ){
    /* What SQLite was not told: which columns are virtual, and the id. */
    char *name = declared->name, *id_name = declared->id_name;
    for(i=0; i<declared->num_columns; i++) declared->list[i].is_virtual = now.list[i].is_virtual;
    declared->is_partial = now.is_partial;
    declared->id_column = now.id_column;
    declared->name = now.name;
    declared->id_name = now.id_name;
    now.name = name;
    now.id_name = id_name;
    index->columns_state = now.num_columns==declared->num_columns ? INDEX_COLUMNS_SAME
      : INDEX_COLUMNS_MORE;
  }
  bloom_source_free(&now);
  return rc;
}

/* Sets index->source to what its table is now, that of the triggers if there are any; where it
** fails, that stays as it was. */
static int source_look(bloom_index *index){
  index_source source = {.doubt = NULL};
  bloom_follow follow;
  const char *names = "";
  int i, has_id = 1, has_same_ids = 1, num_changed = 0, is_by_triggers;
  int rc = bloom_follow_read(index_follower(index), &follow);
  if( rc==SQLITE_OK ){
    rc = index_check_columns(index, follow.own.num_rows ? follow.own.rows[0].table
                             : index->config.source);
  }
  for(i=0; i<follow.own.num_rows; i++){
    if( follow.own.rows[i].kind==INDEX_AFTER_UPDATE ) names = follow.own.rows[i].sql;
  }
  if( rc==SQLITE_OK ) rc = source_find_keys(index, names, &has_id);
  if( rc==SQLITE_OK ) rc = bloom_index_canary_compare(index, &has_same_ids);
  is_by_triggers = follow.are_on_one_table;
  source.has_triggers = is_by_triggers && follow.own.num_rows==INDEX_NUM_TRIGGERS;
  source.has_tables = index->is_of_1_2 || follow.num_tables==bloom_index_num_tables(index);
  if( !source.has_tables ){ /* they are not read: one may be a view without end */
    source.doubt = "tables of the index are gone: drop it and create it again";
  }else if( !has_id ){
    source.doubt = "the table's rowid has another name";
  }else if( (index->columns.id_column<0)!=index->config.has_hidden_ids ){
    source.doubt = "the table has other ids";
  }else if( !has_same_ids ){
    source.doubt = "rowids may be others since a VACUUM or a copy, as the table has no INTEGER"
                   " PRIMARY KEY";
  }else if( !source.has_triggers ){
    source.doubt = "triggers on the table are gone";
  }else if( index->is_of_1_2 ){
    source.doubt = "its blocks are those of bloom 1.2";
  }else if( follow.has_other_triggers ){
    source.doubt = "its table of changed rows has a trigger: drop that";
  }else if( follow.is_made_again ){
    source.doubt = "the table was made again since the last merge";
  }else if( follow.may_be_stopped ){
    source.is_by_trigger_alone = 1;
    source.doubt = "the table has a trigger that is newer than the index";
  }
  for(i=0; i<index->config.num_keys; i++){
    const char *doubt = index->config.keys[i].doubt;
    num_changed += doubt && doubt!=doubt_of_version;
  }
  source.can_heal = follow.is_seen && source.has_tables && !follow.has_other_triggers
    && (is_by_triggers ? source.doubt || num_changed>0
                       : follow.own.num_rows==0 && num_changed==0);
  bloom_follow_free(&follow);
  assert( source.doubt || (source.has_triggers && source.has_tables) );
  if( rc==SQLITE_OK ) index->source = source;
  return rc;
}

/* -- Beginning a method --------------------------------------------------------------------- */

/* No version of a schema, which has 32 bits. */
#define INDEX_NO_VERSION INT64_MIN

int bloom_index_learn_encoding(bloom_index *index){
  return index->letter_bytes ? SQLITE_OK
      : bloom_sql_integer(index->connection, &index->letter_bytes,
                          "SELECT 1 + (CAST('a' AS BLOB) <> x'61')");
}

int bloom_index_begin(bloom_index *index, index_need need){
  sqlite3_int64 version = INDEX_NO_VERSION;
  int is_same = 1, may_be_known, rc;
  rc = bloom_database_locate(index_follower(index), index->file, &index->schema);
  index->is_steady = !bloom_database_may_be_swapped(index->connection->db, index->schema);
  if( rc!=SQLITE_OK ){
    index->is_checked = 0;
    bloom_index_statements_forget(index, 1);
  }
  if( rc!=SQLITE_OK || need==INDEX_NEED_PLACE ) return rc;

  /* index->config must be the configuration in the file. */
  if( index->config.checksum==0 ){ /* a command that changed it failed */
    bloom_index_config_free(&index->config);
    rc = bloom_index_config_read(index);
    index->is_checked = 0;
  }
  if( rc==SQLITE_OK && index->damage ){
    return BLOOM_INDEX_FAIL(index, "bloom_index: %s %s", index->name, index->damage);
  }
  if( rc==SQLITE_OK && !index->is_steady ) rc = bloom_index_config_compare(index, &is_same);
  if( rc==SQLITE_OK && !is_same ) rc = bloom_database_fail_replaced(index_follower(index));
  if( rc==SQLITE_OK ) rc = bloom_index_learn_encoding(index);
  if( rc!=SQLITE_OK ) return rc;

  /* index->source may be that of this version of the schema already. */
  may_be_known = index->is_checked && index->is_steady && need!=INDEX_NEED_CHECK;
  bloom_index_see(index);
  if( may_be_known && index->facts.state==BLOOM_CONTENT_READ
   && index->facts.known & INDEX_FACT_SCHEMA ) return SQLITE_OK;
  rc = bloom_index_statement_integer(index, INDEX_USE_VERSION, &version,
                                     "PRAGMA \"%w\".schema_version", index->schema);
  if( rc==SQLITE_AUTH ) rc = SQLITE_OK; /* where an authorizer refuses it the source is looked at
                                        ** each time */
  if( rc==SQLITE_OK && may_be_known && version!=INDEX_NO_VERSION
   && version==index->checked_version ){
    bloom_index_note(index, INDEX_FACT_SCHEMA);
    return SQLITE_OK;
  }
  index->facts.known = 0;
  if( rc!=SQLITE_OK ) return rc;
  index->is_checked = 0;
  bloom_index_statements_forget(index, 1);
  rc = source_look(index);
  if( rc!=SQLITE_OK ) return rc;
  assert( index->columns.id_name );
  index->is_checked = 1;
  index->num_checks++;
  index->checked_version = version;
  return SQLITE_OK;
}

/* == Making triggers =================================================================== */

/* Returns the condition that the id or an indexed column changed, to be freed.  It is one CASE,
** since a program may limit the depth of expressions to 10, and a chain of OR is deeper. */
static char *triggers_is_changed(const bloom_index *index){
  const char *id = index->columns.id_name;
  sqlite3_str *sql = sqlite3_str_new(NULL);
  int i;
  sqlite3_str_appendf(sql, "CASE WHEN old.\"%w\" IS NOT new.\"%w\" THEN 1", id, id);
  for(i=0; i<index->config.num_keys; i++){
    const index_key *key = &index->config.keys[i];
    const char *name = bloom_index_key_name(index, i);
    if( key->is_gone ) continue;
    assert( key->column>=0 );
    /* BINARY, as LIKE tells values apart that a column's collation does not.  Of a virtual column
    ** it is always true: its value may change for one version of SQLite and not for another. */
    if( key->is_virtual ){
      sqlite3_str_appendf(sql, " WHEN (new.\"%w\" IS NULL) IS NOT NULL THEN 1", name);
    }else{
      sqlite3_str_appendf(sql, " WHEN old.\"%w\" COLLATE BINARY IS NOT new.\"%w\" THEN 1", name,
                          name);
    }
  }
  /* 1 = 1.0, but LIKE sees '1' and '1.0'. */
  for(i=0; i<index->config.num_keys; i++){
    const index_key *key = &index->config.keys[i];
    const char *name = bloom_index_key_name(index, i);
    if( index_properties_of(key)->is_of_texts && !key->is_virtual && !key->is_gone ){
      sqlite3_str_appendf(sql, " WHEN typeof(old.\"%w\") <> typeof(new.\"%w\") THEN 1", name,
                          name);
    }
  }
  sqlite3_str_appendall(sql, " END AND ");
  return sqlite3_str_finish(sql);
}

int bloom_index_triggers_make(bloom_index *index, int is_in_doubt){
  const bloom_follower follower = index_follower(index);
  const char *name = index->name, *id = index->columns.id_name;
  int i, rc = bloom_index_triggers_drop(index);
  assert( id );
  if( rc==SQLITE_OK && is_in_doubt ){
    rc = bloom_trigger_create(follower, bloom_guard_text(follower));
  }
  for(i=0; i<index->config.num_keys; i++){
    /* A trigger on a column that is gone since its entries were made would fail each UPDATE. */
    if( index->config.keys[i].column<0 && !index->config.keys[i].is_gone ) return rc;
  }
  /* Each notes a covered id that is not noted yet: the OR clause of the user's statement would
  ** decide what a conflict with the UNIQUE of notes does.  A note's rowid is ~id, so that a tool
  ** that replays rows by rowid finds the same note in a copy; if another note has that rowid, as
  ** after a dump, SQLite chooses one. */
  for(i=0; i<INDEX_NUM_TRIGGERS && rc==SQLITE_OK; i++){
    const char *row = index_trigger_notes[i].row, *format = index_trigger_notes[i].when;
    char *when = format ? sqlite3_mprintf(format, id, id) : triggers_is_changed(index);
    assert( row && index_triggers[i].suffix ); /* each trigger has its rows */
    rc = when==NULL ? SQLITE_NOMEM : bloom_sql_run(index->connection,
      "CREATE TRIGGER \"%w\".\"%w%s\" %s ON \"%w\" WHEN %s(%s.\"%w\" <= (SELECT covered FROM"
      " \"%w_state\") AND NOT EXISTS (SELECT 1 FROM \"%w_changed\" AS c WHERE c.id = %s.\"%w\"))"
      " BEGIN INSERT INTO \"%w_changed\"(id, rowid) VALUES (%s.\"%w\", CASE WHEN EXISTS (SELECT"
      " 1 FROM \"%w_changed\" AS c WHERE c.rowid = ~%s.\"%w\") THEN NULL ELSE ~%s.\"%w\" END);"
      " END", index->schema, name, index_triggers[i].suffix, index_triggers[i].event,
      index->columns.name, when, row, id, name, name, row, id, name, row, id, name, row, id, row,
      id);
    sqlite3_free(when);
  }
  return rc==SQLITE_OK && !is_in_doubt
    ? bloom_trigger_create(follower, bloom_guard_text(follower)) : rc;
}
