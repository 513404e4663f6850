/*
** The triggers that note the ids of changed rows.
**
**   NAME_changed(id)   ids at or below `covered` whose rows changed: they are read like rows
**                      that are in no block, until 'merge' adds their keys to the block
**
** The triggers touch plain tables only, so that who writes needs no extension, in words that
** SQLite 3.7.8 reads.  Who changes a row is told
** before and after: another trigger may keep the row and stop ours by RAISE(IGNORE), or change it
** on the way.  Before an INSERT SQLite may not have chosen the id yet: it is -1 then.  (So row -1
** is always read.)
**
** SQLite keeps the names in them true, and so they say what the columns are called now.
*/
#include "index_source.h"

#include <string.h>

#include "../errors.h"
#include "../source/tokens.h"

int bloom_index_triggers_read(bloom_index *index, bloom_triggers *triggers){
  return bloom_triggers_read_writing_to(index->connection, index->schema, index->name, "_changed",
                                        NULL, triggers);
}

int bloom_index_triggers_drop(bloom_index *index){
  return bloom_triggers_drop_writing_to(index->connection, index->schema, index->name, "_changed",
                                        NULL);
}

/* -- Names ------------------------------------------------------------------------------ */

void bloom_index_trigger_names_free(index_trigger_names *names){
  int i;
  sqlite3_free(names->id);
  for(i=0; i<INDEX_MAX_KEYS; i++) sqlite3_free(names->keys[i]);
  memset(names, 0, sizeof(*names));
}

/* 1 if a trigger, CREATE TRIGGER name AFTER UPDATE ..., is that. */
static int triggers_is_after_update(const char *sql){
  const bloom_token name = bloom_token_after(bloom_token_after(bloom_token_first(sql)));
  return bloom_token_is(bloom_token_after(name), "AFTER")
    && bloom_token_is(bloom_token_after(bloom_token_after(name)), "UPDATE");
}

/* Those of `new.` in the trigger after an UPDATE come in this order: the id, the indexed columns,
** and some of these again.  A column that was gone when it was made has none. */
int bloom_index_triggers_names(const bloom_index *index, const bloom_triggers *triggers,
                               index_trigger_names *names){
  bloom_token token;
  int i, key = -1;
  memset(names, 0, sizeof(*names));
  for(i=0; i<triggers->num_rows && !triggers_is_after_update(triggers->rows[i].sql); i++){}
  if( i==triggers->num_rows ) return SQLITE_OK;
  for(token=bloom_token_first(triggers->rows[i].sql); token.num_chars
      && key<index->config.num_keys; token=bloom_token_after(token)){
    char **name;
    if( !bloom_token_is(token, "new") || bloom_token_after(token).kind!='.' ) continue;
    token = bloom_token_after(bloom_token_after(token));
    while( key>=0 && key<index->config.num_keys && index->config.keys[key].is_gone ) key++;
    if( key==index->config.num_keys ) break;
    name = key<0 ? &names->id : &names->keys[key];
    *name = bloom_token_unquoted(token);
    if( *name==NULL ){
      bloom_index_trigger_names_free(names);
      return SQLITE_NOMEM;
    }
    key++;
  }
  return SQLITE_OK;
}

/* -- Making ----------------------------------------------------------------------------- */

/* Appends the comparison with number i: of the id, then of the indexed columns.  BINARY, as LIKE
** tells values apart that a column's collation does not.  A column that is not stored may change
** for one version of SQLite and not for another, so each UPDATE counts: its comparison is always
** true. */
static void triggers_append_comparison(const bloom_index *index, sqlite3_str *sql, int i){
  const char *name = i==0 ? index->columns.id_name : bloom_index_key_name(index, i - 1);
  const int is_key = i>0;
  if( is_key && index->config.keys[i-1].is_gone ) sqlite3_str_appendall(sql, "0");
  else if( is_key && index->config.keys[i-1].is_virtual ) sqlite3_str_appendf(sql,
      "(new.\"%w\" IS NULL) IS NOT NULL", name);
  else sqlite3_str_appendf(sql, "old.\"%w\"%s IS NOT new.\"%w\"", name, is_key ? " COLLATE BINARY"
                           : "", name);
}

/* Makes one, which notes an id that is covered, such as `new."id"`, unless it is noted: then
** nothing is refused, whatever the OR clause of the statement, which would take the place of one
** here.  All are SQL; when is freed. */
static int index_trigger_make(bloom_index *index, const char *suffix, const char *event,
                              const char *source, char *when, const char *id){
  char *body = bloom_trigger_body_begin(index->name, "_changed");
  int rc = SQLITE_NOMEM;
  if( when && body ){
    rc = bloom_sql_run(index->connection,
                       "CREATE TRIGGER \"%w\".\"%w_%s\" %s ON \"%w\" WHEN %s(%s <= (SELECT covered"
                       " FROM \"%w_state\") AND NOT EXISTS (SELECT 1 FROM \"%w_changed\" AS c"
                       " WHERE c.id = %s))%sid) VALUES (%s); END",
                       index->schema, index->name, suffix, event, source, when, id, index->name,
                       index->name, id, body, id);
  }
  sqlite3_free(body);
  sqlite3_free(when);
  return rc;
}

/* The condition that something changed, to be freed.  As one CASE, since a chain of OR would be
** too deep for a program that limits the depth of expressions to 10.  1 and 1.0 are equal, but for
** LIKE they are two texts: so it hears of a new type, too. */
static char *triggers_is_changed(const bloom_index *index){
  sqlite3_str *sql = sqlite3_str_new(NULL);
  int i;
  sqlite3_str_appendall(sql, "CASE");
  for(i=0; i<=index->config.num_keys; i++){
    sqlite3_str_appendall(sql, " WHEN ");
    triggers_append_comparison(index, sql, i);
    sqlite3_str_appendall(sql, " THEN 1");
  }
  for(i=0; i<index->config.num_keys; i++){
    const index_key *key = &index->config.keys[i];
    const char *name = bloom_index_key_name(index, i);
    if( key->is_like && !key->is_virtual && !key->is_gone ){
      sqlite3_str_appendf(sql, " WHEN typeof(old.\"%w\") <> typeof(new.\"%w\") THEN 1", name, name);
    }
  }
  sqlite3_str_appendall(sql, " END AND ");
  return sqlite3_str_finish(sql);
}

static int triggers_make_all(bloom_index *index, const char *source){
  char *old_id = sqlite3_mprintf("old.\"%w\"", index->columns.id_name), *new_id =
      sqlite3_mprintf("new.\"%w\"", index->columns.id_name);
  int rc = SQLITE_NOMEM;
  if( old_id && new_id ){
    rc = index_trigger_make(index, "before_insert", "BEFORE INSERT", source,
                            sqlite3_mprintf("%s <> -1 AND ", new_id), new_id);
  }
  if( rc==SQLITE_OK ) rc = index_trigger_make(index, "after_insert", "AFTER INSERT", source,
                                              sqlite3_mprintf(""), new_id);
  if( rc==SQLITE_OK ){
    rc = index_trigger_make(index, "before_move", "BEFORE UPDATE", source,
                            sqlite3_mprintf("%s IS NOT %s AND ", new_id, old_id), old_id);
  }
  if( rc==SQLITE_OK ) rc = index_trigger_make(index, "before_update", "BEFORE UPDATE", source,
                                              triggers_is_changed(index), new_id);
  if( rc==SQLITE_OK ) rc = index_trigger_make(index, "after_update", "AFTER UPDATE", source,
                                              triggers_is_changed(index), new_id);
  sqlite3_free(old_id);
  sqlite3_free(new_id);
  return rc;
}

/* 1 if the source has each column that blocks were begun with.  A trigger on one that is gone
** would fail each write. */
static int triggers_have_columns(const bloom_index *index){
  int i;
  for(i=0; i<index->config.num_keys; i++){
    if( index->config.keys[i].column<0 && !index->config.keys[i].is_gone ) return 0;
  }
  return 1;
}

int bloom_index_triggers_make(bloom_index *index, const char *source, int is_in_doubt){
  char *state = sqlite3_mprintf("%s_state", index->name);
  int rc = state ? bloom_index_triggers_drop(index) : SQLITE_NOMEM;
  if( rc==SQLITE_OK && is_in_doubt ){
    rc = bloom_guard_create(index->connection, index->schema, index->name, state);
  }
  if( rc==SQLITE_OK && (!is_in_doubt || triggers_have_columns(index)) ){
    rc = triggers_make_all(index, source);
  }
  if( rc==SQLITE_OK && !is_in_doubt ){
    rc = bloom_guard_create(index->connection, index->schema, index->name, state);
  }
  sqlite3_free(state);
  return rc;
}
