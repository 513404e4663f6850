/*
** Triggers, as sqlite_schema has them.
*/
#include "triggers.h"

#include <string.h>

#include "../../core/debug.h"
#include "tokens.h"

void bloom_triggers_free(bloom_triggers *triggers){
  int i;
  for(i=0; i<triggers->num_rows; i++){
    sqlite3_free(triggers->rows[i].name);
    sqlite3_free(triggers->rows[i].table);
    sqlite3_free(triggers->rows[i].sql);
  }
  sqlite3_free(triggers->rows);
  *triggers = (bloom_triggers){NULL, 0, 0};
}

static int add_trigger(bloom_triggers *triggers, sqlite3_stmt *row){
  bloom_trigger *trigger;
  if( triggers->num_rows==triggers->max_rows ){
    const int max_rows = 2 * triggers->max_rows + 8;
    bloom_trigger *rows = sqlite3_realloc64(triggers->rows,
                                            (sqlite3_uint64)max_rows * sizeof(*rows));
    if( rows==NULL ) return SQLITE_NOMEM;
    triggers->rows = rows;
    triggers->max_rows = max_rows;
  }
  trigger = &triggers->rows[triggers->num_rows++];
  *trigger = (bloom_trigger){.order = sqlite3_column_int64(row, 0)};
  if( bloom_sql_copy_text(row, 1, &trigger->name)!=SQLITE_OK ) return SQLITE_NOMEM;
  if( bloom_sql_copy_text(row, 2, &trigger->table)!=SQLITE_OK ) return SQLITE_NOMEM;
  return bloom_sql_copy_text(row, 3, &trigger->sql);
}

/* Reads the triggers on a table, NULL: on any, for which is_own, if it is not NULL, says yes. */
static int read_triggers(
  bloom_connection *connection, const char *schema, const char *table, bloom_is_own_trigger *is_own,
  const void *data, bloom_triggers *triggers
){
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare(connection, &row,
    "SELECT rowid, name, tbl_name, sql FROM \"%w\".sqlite_master WHERE type = 'trigger' ORDER BY"
    " rowid", schema);
  *triggers = (bloom_triggers){NULL, 0, 0};
  while( rc==SQLITE_OK && (rc = bloom_sql_step(connection, row))==SQLITE_ROW ){
    const char *name, *its_table = NULL, *sql = NULL;
    int is_one = 1;
    rc = bloom_sql_column_text(row, 1, &name);
    if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 2, &its_table);
    if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 3, &sql);
    if( rc!=SQLITE_OK || name==NULL || its_table==NULL || sql==NULL ) continue;
    if( table && sqlite3_stricmp(its_table, table)!=0 ) continue;
    if( is_own ) rc = is_own(data, name, its_table, sql, &is_one);
    if( rc==SQLITE_OK && is_one ) rc = add_trigger(triggers, row);
  }
  return bloom_sql_end(row, rc);
}

int bloom_triggers_read_on(
  bloom_connection *connection, const char *schema, const char *table, bloom_triggers *triggers
){
  return read_triggers(connection, schema, table, NULL, NULL, triggers);
}

int bloom_triggers_read_own(
  bloom_connection *connection, const char *schema, bloom_is_own_trigger *is_own, const void *data,
  bloom_triggers *triggers
){
  return read_triggers(connection, schema, NULL, is_own, data, triggers);
}

int bloom_triggers_are_on_one_table(const bloom_triggers *triggers){
  int i;
  for(i=1; i<triggers->num_rows; i++){
    if( sqlite3_stricmp(triggers->rows[i].table, triggers->rows[0].table)!=0 ) return 0;
  }
  return triggers->num_rows>0;
}

/* Triggers that only write to a table which refuses no row, and that table: a filter's, a
** bloom_index's. */
static const struct {
  const char *trigger, *table;
} harmless_triggers[] = {
  {"* BEGIN INSERT INTO \"*_new\"(key*, r) VALUES (new.*, random()); END",
   "CREATE TABLE *_new*(key*, r)"},
  {"* BEGIN INSERT INTO \"*_changed\"(id) VALUES (*); END",
   "CREATE TABLE *_changed*(id INTEGER UNIQUE)"}
};

/* Sets *target, to be freed, to the table that the first INSERT writes to; to NULL if there is
** another statement, or RAISE().  SQLITE_OK or SQLITE_NOMEM. */
static int find_only_target(const char *sql, char **target){
  bloom_token token, into = bloom_token_first("");
  int num_statements = 0;
  *target = NULL;
  for(token=bloom_token_first(sql); token.num_chars; token=bloom_token_after(token)){
    if( bloom_token_is(token, "RAISE") ) return SQLITE_OK;
    if( bloom_token_is(token, "INTO") ) into = token;
    num_statements += token.kind==';';
  }
  if( num_statements!=1 ) return SQLITE_OK;
  *target = bloom_token_unquoted(bloom_token_after(into));
  return *target ? SQLITE_OK : SQLITE_NOMEM;
}

/* 1 for a trigger of DELETE.  By REPLACE it fires before the new row is there: what it stops is not
** stored either. */
static int is_of_delete(const char *sql){
  const bloom_token name = bloom_token_after(bloom_token_after(bloom_token_first(sql)));
  bloom_token token = bloom_token_after(name);
  if( bloom_token_is(token, "BEFORE") || bloom_token_is(token, "AFTER") ){
    token = bloom_token_after(token);
  }
  return bloom_token_is(token, "DELETE");
}

int bloom_trigger_can_stop(
  bloom_connection *connection, const char *schema, const char *sql, int *can_stop
){
  sqlite3_int64 is_harmless = is_of_delete(sql);
  size_t i;
  int rc = SQLITE_OK;
  for(i=0; i<BLOOM_COUNT_OF(harmless_triggers) && rc==SQLITE_OK && !is_harmless; i++){
    char *target;
    if( sqlite3_strglob(harmless_triggers[i].trigger, sql)!=0 ) continue;
    rc = find_only_target(sql, &target);
    if( target==NULL ) continue;
    rc = bloom_sql_integer(connection, &is_harmless,
                           "SELECT sql GLOB %Q FROM \"%w\".sqlite_master WHERE type = 'table'"
                           " AND name = %Q COLLATE NOCASE", harmless_triggers[i].table, schema,
                           target);
    sqlite3_free(target);
  }
  *can_stop = !is_harmless;
  return rc;
}

bloom_token bloom_trigger_action(const char *sql){
  bloom_token token = bloom_token_first(sql);
  while( token.num_chars && !bloom_token_is(token, "BEGIN") ) token = bloom_token_after(token);
  return token;
}

int bloom_trigger_has_form(
  const char *name, const char *table, const char *sql, char *event, char *action,
  int *has_form
){
  char *begin = event ? sqlite3_mprintf("CREATE TRIGGER \"%w\" %s ON \"%w\" WHEN ", name, event,
                                        table) : NULL;
  const int has_memory = begin && action;
  *has_form = has_memory && strncmp(sql, begin, strlen(begin))==0
    && strcmp(bloom_trigger_action(sql).text, action)==0;
  sqlite3_free(begin);
  sqlite3_free(event);
  sqlite3_free(action);
  return has_memory ? SQLITE_OK : SQLITE_NOMEM;
}

/* Drops those that were read with the code rc, and frees all. */
static int drop_triggers(
  bloom_connection *connection, const char *schema, bloom_triggers *triggers, int rc
){
  int i;
  for(i=0; i<triggers->num_rows && rc==SQLITE_OK; i++){
    rc = bloom_sql_run(connection, "DROP TRIGGER \"%w\".\"%w\"", schema, triggers->rows[i].name);
  }
  bloom_triggers_free(triggers);
  return rc;
}

int bloom_triggers_drop_own(
  bloom_connection *connection, const char *schema, bloom_is_own_trigger *is_own, const void *data
){
  bloom_triggers triggers;
  const int rc = bloom_triggers_read_own(connection, schema, is_own, data, &triggers);
  return drop_triggers(connection, schema, &triggers, rc);
}

int bloom_trigger_create(
  bloom_connection *connection, const char *schema, const char *table, const char *suffix,
  char *definition
){
  const int rc = definition ? bloom_sql_run(connection, "CREATE TRIGGER \"%w\".\"%w%s\" %s",
                                            schema, table, suffix, definition) : SQLITE_NOMEM;
  sqlite3_free(definition);
  return rc;
}

/* What a guard does, and when. */
#define GUARD "AFTER UPDATE ON \"%w\" WHEN 0 BEGIN SELECT 0; END"

#define GUARD_SUFFIX "_guard"

int bloom_guard_is_own(
  const void *data, const char *name, const char *table, const char *sql, int *is_own
){
  const size_t num_chars = strlen(name), end = sizeof(GUARD_SUFFIX) - 1;
  char *text;
  (void)data;
  *is_own = 0;
  if( num_chars<end || strcmp(name + num_chars - end, GUARD_SUFFIX)!=0 ) return SQLITE_OK;
  text = sqlite3_mprintf("CREATE TRIGGER \"%w\" " GUARD, name, table);
  *is_own = text && strcmp(text, sql)==0;
  sqlite3_free(text);
  return text ? SQLITE_OK : SQLITE_NOMEM;
}

int bloom_guard_drop(bloom_connection *connection, const char *schema, const char *table){
  bloom_triggers guards;
  const int rc = read_triggers(connection, schema, table, bloom_guard_is_own, NULL, &guards);
  return drop_triggers(connection, schema, &guards, rc);
}

int bloom_guard_create(
  bloom_connection *connection, const char *schema, const char *name, const char *table
){
  const int rc = bloom_guard_drop(connection, schema, table);
  if( rc!=SQLITE_OK ) return rc;
  return bloom_trigger_create(connection, schema, name, GUARD_SUFFIX,
                              sqlite3_mprintf(GUARD, table));
}

char *bloom_guard_text(const char *name, const char *table){
  return sqlite3_mprintf("CREATE TRIGGER \"%w" GUARD_SUFFIX "\" " GUARD, name, table);
}

int bloom_guard_find(
  bloom_connection *connection, const char *schema, const char *name, const char *table,
  sqlite3_int64 *order
){
  char *text = bloom_guard_text(name, table);
  int rc = SQLITE_NOMEM;
  *order = 0;
  if( text ){
    rc = bloom_sql_integer(connection, order, "SELECT rowid FROM \"%w\".sqlite_master"
                           " WHERE type = 'trigger' AND sql = %Q", schema, text);
  }
  sqlite3_free(text);
  return rc;
}
