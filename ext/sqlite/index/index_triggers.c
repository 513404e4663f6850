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
#include "index_source.h"

#include <string.h>

#include "../errors.h"
#include "../source/sql.h"

/* A trigger's name is that of the index and suffix; it notes the id of the row that its event has
** as old or new. */
static const struct {
  const char *suffix, *event, *row;
} index_triggers[INDEX_NUM_TRIGGERS] = {
  {"_before_insert", "BEFORE INSERT", "new"}, {"_after_insert", "AFTER INSERT", "new"},
  {"_before_move", "BEFORE UPDATE", "old"}, {"_before_update", "BEFORE UPDATE", "new"},
  {"_after_update", "AFTER UPDATE", "new"}
};

/* Returns the number of the trigger that has a name; INDEX_NUM_TRIGGERS if none has. */
static int triggers_number(const bloom_index *index, const char *name){
  const size_t num_chars = strlen(index->name);
  int i = 0;
  if( strlen(name)<num_chars || sqlite3_strnicmp(name, index->name, (int)num_chars)!=0 ){
    return INDEX_NUM_TRIGGERS;
  }
  name += num_chars;
  while( i<INDEX_NUM_TRIGGERS && sqlite3_stricmp(name, index_triggers[i].suffix)!=0 ) i++;
  return i;
}

/* Sets *is_own to whether a trigger is one of the index's, data: it has the name and the form of
** one, and all it does is to note ids.  Those of bloom 1.1 have a clause behind the VALUES. */
static int triggers_is_own(const void *data, const char *name, const char *table, const char *sql,
                           int *is_own){
  const bloom_index *index = data;
  const int number = triggers_number(index, name);
  const bloom_token action = bloom_trigger_action(sql);
  bloom_token token = action;
  char *begin, *what;
  int num_statements = 0;
  *is_own = 0;
  if( number==INDEX_NUM_TRIGGERS ) return SQLITE_OK;
  begin = sqlite3_mprintf("CREATE TRIGGER \"%w\" %s ON \"%w\" WHEN ", name,
                          index_triggers[number].event, table);
  what = sqlite3_mprintf("BEGIN INSERT INTO \"%w_changed\"(id) VALUES (", index->name);
  for(; token.num_chars; token=bloom_token_after(token)) num_statements += token.kind==';';
  *is_own = begin && what && num_statements==1 && strncmp(sql, begin, strlen(begin))==0
    && strncmp(action.text, what, strlen(what))==0;
  num_statements = begin && what;
  sqlite3_free(begin);
  sqlite3_free(what);
  return num_statements ? SQLITE_OK : SQLITE_NOMEM;
}

/* Sets *is_other to whether a trigger has a name of the index's, data, and is the user's. */
static int triggers_is_in_the_way(const void *data, const char *name, const char *table,
                                  const char *sql, int *is_other){
  const bloom_index *index = data;
  char *guard = sqlite3_mprintf("%s_guard", index->name);
  int is_own = 1, rc = guard ? SQLITE_OK : SQLITE_NOMEM;
  if( guard && sqlite3_stricmp(name, guard)==0 ){
    rc = bloom_guard_is_own(NULL, name, table, sql, &is_own);
  }else if( guard && triggers_number(index, name)<INDEX_NUM_TRIGGERS ){
    rc = triggers_is_own(data, name, table, sql, &is_own);
  }
  sqlite3_free(guard);
  *is_other = !is_own;
  return rc;
}

/* Fails because of a trigger of the user's. */
static int triggers_refuse(const bloom_index *index, const char *trigger, char **error){
  char *schema = bloom_sql_name(index->schema), *name = bloom_sql_name(trigger);
  const int is_main = sqlite3_stricmp(index->schema, "main")==0;
  const int rc = schema && name
    ? bloom_fail_vtab(error, "bloom_index: trigger %s is in the way of %s: DROP TRIGGER %s%s%s",
                      trigger, index->name, is_main ? "" : schema, is_main ? "" : ".", name)
    : SQLITE_NOMEM;
  sqlite3_free(schema);
  sqlite3_free(name);
  return rc;
}

int bloom_index_triggers_refuse_others(bloom_index *index, char **error){
  bloom_triggers others;
  int rc = bloom_triggers_read_own(index->connection, index->schema, triggers_is_in_the_way, index,
                                   &others);
  if( rc==SQLITE_OK && others.num_rows>0 ){
    rc = triggers_refuse(index, others.rows[0].name, error);
  }
  bloom_triggers_free(&others);
  return rc;
}

int bloom_index_triggers_refuse_notes(bloom_index *index, char **error){
  bloom_triggers others = {.num_rows = 0};
  char *table = sqlite3_mprintf("%s_changed", index->name);
  int rc = SQLITE_NOMEM;
  if( table ) rc = bloom_triggers_read_on(index->connection, index->schema, table, &others);
  if( rc==SQLITE_OK && others.num_rows>0 ) rc = triggers_refuse(index, others.rows[0].name, error);
  bloom_triggers_free(&others);
  sqlite3_free(table);
  return rc;
}

int bloom_index_triggers_read(bloom_index *index, bloom_triggers *triggers){
  return bloom_triggers_read_own(index->connection, index->schema, triggers_is_own, index,
                                 triggers);
}

int bloom_index_triggers_drop(bloom_index *index){
  return bloom_triggers_drop_own(index->connection, index->schema, triggers_is_own, index);
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

/* Makes one, which notes an id that is covered, unless it is noted: then nothing is refused,
** whatever the OR clause of the statement, which would take the place of one here.  when is SQL,
** and freed. */
static int index_trigger_make(bloom_index *index, int number, const char *source, char *when){
  const char *row = index_triggers[number].row, *id = index->columns.id_name;
  int rc = SQLITE_NOMEM;
  if( when ){
    rc = bloom_sql_run(index->connection,
                       "CREATE TRIGGER \"%w\".\"%w%s\" %s ON \"%w\" WHEN %s(%s.\"%w\" <= (SELECT"
                       " covered FROM \"%w_state\") AND NOT EXISTS (SELECT 1 FROM \"%w_changed\""
                       " AS c WHERE c.id = %s.\"%w\")) BEGIN INSERT INTO \"%w_changed\"(id) VALUES"
                       " (%s.\"%w\"); END",
                       index->schema, index->name, index_triggers[number].suffix,
                       index_triggers[number].event, source, when, row, id, index->name,
                       index->name, row, id, index->name, row, id);
  }
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

/* Returns the condition of a trigger by its number, and AND, to be freed. */
static char *triggers_when(const bloom_index *index, int number){
  const char *id = index->columns.id_name;
  switch( number ){
    case 0:  return sqlite3_mprintf("new.\"%w\" <> -1 AND ", id);
    case 1:  return sqlite3_mprintf("");
    case 2:  return sqlite3_mprintf("new.\"%w\" IS NOT old.\"%w\" AND ", id, id);
    default: return triggers_is_changed(index);
  }
}

static int triggers_make_all(bloom_index *index, const char *source){
  int i, rc = SQLITE_OK;
  for(i=0; i<INDEX_NUM_TRIGGERS && rc==SQLITE_OK; i++){
    rc = index_trigger_make(index, i, source, triggers_when(index, i));
  }
  return rc;
}

/* 1 if the source has each column that entries were begun with.  A trigger on one that is gone
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
