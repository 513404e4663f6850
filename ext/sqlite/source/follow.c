/*
** How both virtual tables follow a source: commands, the database that is meant, and what the
** schema has of a virtual table.
*/
#include "follow.h"

#include <stdint.h>
#include <string.h>

#include "../../core/debug.h"
#include "../errors.h"

/* -- Commands ------------------------------------------------------------------------------- */

int bloom_command_run(sqlite3_vtab *table, sqlite3_value *value){
  const bloom_module *module = (const bloom_module *)table->pModule;
  const char *text;
  char *finding = NULL;
  int rc;
  assert( sqlite3_value_type(value)!=SQLITE_NULL );
  text = (const char *)sqlite3_value_text(value);
  if( text==NULL ) return SQLITE_NOMEM;
  if( sqlite3_stricmp(text, "merge")==0 ) return module->merge(table, 0);
  if( sqlite3_strnicmp(text, "merge=", 6)==0 ){
    const char *digit;
    sqlite3_int64 max_rows = 0;
    for(digit=text+6; *digit>='0' && *digit<='9'; digit++){
      if( max_rows<INT64_MAX/20 ) max_rows = 10 * max_rows + (*digit - '0');
    }
    if( *digit==0 && max_rows>0 ) return module->merge(table, max_rows);
  }
  if( sqlite3_stricmp(text, "rebuild")==0 ) return module->rebuild(table);
  if( module->delete_all && sqlite3_stricmp(text, "delete-all")==0 ){
    return module->delete_all(table);
  }
  if( sqlite3_stricmp(text, "integrity-check")!=0 ){
    return bloom_fail_vtab(&table->zErrMsg, "%s: there is no command '%s'; commands are 'merge',"
                                            " 'merge=N' with N of 1 or more, 'rebuild' and"
                                            " 'integrity-check'%s", module->name, text,
                           module->delete_all ? "; of a standalone filter 'delete-all', too" : "");
  }
  rc = module->check(table, BLOOM_CHECK_COMMAND, &finding);
  assert( rc==SQLITE_OK || finding==NULL );
  if( rc==SQLITE_OK && finding ){
    bloom_forget_message(table);
    table->zErrMsg = finding; /* without a copy, for which there may be no memory */
    return SQLITE_CORRUPT_VTAB;
  }
  sqlite3_free(finding);
  return rc;
}

int bloom_integrity(sqlite3_vtab *table, const char *schema, const char *name, int is_quick,
                    char **finding){
  const bloom_module *module = (const bloom_module *)table->pModule;
  (void)schema; (void)name;
  return module->check(table, is_quick ? BLOOM_CHECK_QUICK : BLOOM_CHECK_PRAGMA, finding);
}

char *bloom_command_say(char *words, const char *name, const char *command, const char *effect){
  char *quoted = words ? bloom_sql_name(name) : NULL;
  char *text = quoted ? sqlite3_mprintf("%s; INSERT INTO %s(%s) VALUES ('%s') %s", words, quoted,
                                        quoted, command, effect) : NULL;
  sqlite3_free(quoted);
  sqlite3_free(words);
  return text;
}

/* -- The database that is meant ------------------------------------------------------------- */

void *bloom_database_file(sqlite3 *db, const char *schema){
  sqlite3_file *file = NULL;
  return sqlite3_file_control(db, schema, SQLITE_FCNTL_FILE_POINTER, &file)==SQLITE_OK
    ? file : NULL;
}

int bloom_database_may_be_swapped(sqlite3 *db, const char *schema){
  sqlite3_vfs *vfs = NULL;
  /* sqlite3_deserialize() replaces the file, and SQLite does not compile statements anew. */
  sqlite3_file_control(db, schema, SQLITE_FCNTL_VFS_POINTER, &vfs);
  return vfs==NULL || strcmp(vfs->zName, "memdb")==0;
}

int bloom_database_fail_replaced(bloom_follower follower){
  sqlite3 *db = follower.connection->db;
  int is_on = 0;
  /* When an option changes, SQLite compiles all statements anew at their next run. */
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, -1, &is_on);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, !is_on, &is_on);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, !is_on, &is_on);
  return bloom_fail_vtab(follower.error, "%s: the database of %s was detached or replaced since"
                                         " this statement was prepared: run it again",
                         follower.module, follower.name);
}

int bloom_database_locate(bloom_follower follower, const void *file, char **schema){
  bloom_connection *connection = follower.connection;
  sqlite3_stmt *row;
  int rc;
  if( bloom_database_file(connection->db, *schema)==file ) return SQLITE_OK;
  rc = bloom_sql_prepare(connection, &row, "PRAGMA database_list");
  while( rc==SQLITE_OK && (rc = bloom_sql_step(connection, row))==SQLITE_ROW ){
    char *name;
    rc = bloom_sql_copy_text(row, 1, &name);
    if( name && bloom_database_file(connection->db, name)==file ){
      char *before = *schema;
      *schema = name;
      name = before;
      rc = SQLITE_DONE;
    }
    sqlite3_free(name);
  }
  rc = bloom_sql_end(row, rc);
  return rc==SQLITE_OK ? bloom_database_fail_replaced(follower) : rc;
}

/* -- Triggers ------------------------------------------------------------------------------- */

void bloom_follow_free(bloom_follow *follow){
  int i;
  for(i=0; i<follow->own.num_rows; i++){
    sqlite3_free(follow->own.rows[i].name);
    sqlite3_free(follow->own.rows[i].table);
    sqlite3_free(follow->own.rows[i].sql);
  }
  sqlite3_free(follow->own.rows);
  follow->own = (bloom_triggers){NULL, 0, 0};
}

/* A row of sqlite_schema.  Its texts are valid until the next step. */
typedef struct schema_object {
  const char *type, *name, *table, *sql;
} schema_object;

/* Compiles a SELECT of all triggers, and of what is on the virtual table or on tables whose names
** begin with its name and _.  The next character after _ is `. */
static int prepare_objects(bloom_follower follower, sqlite3_stmt **row){
  return bloom_sql_prepare(follower.connection, row,
    "SELECT type, name, tbl_name, sql FROM \"%w\".sqlite_master WHERE type = 'trigger'"
    " OR tbl_name COLLATE NOCASE BETWEEN '%q' AND '%q`' ORDER BY rowid", follower.schema,
    follower.name, follower.name);
}

/* Reads type, name, tbl_name and sql from a row.  SQLITE_OK or SQLITE_NOMEM. */
static int read_object(sqlite3_stmt *row, schema_object *object){
  int rc = bloom_sql_column_text(row, 0, &object->type);
  if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 1, &object->name);
  if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 2, &object->table);
  return rc==SQLITE_OK ? bloom_sql_column_text(row, 3, &object->sql) : rc;
}

/* Steps to the next row without a NULL: SQLITE_ROW, SQLITE_DONE or an error.  An index that SQLite
** made has no text, and what an authorizer hides is NULL. */
static int step_object(bloom_follower follower, sqlite3_stmt *row, schema_object *object){
  int rc;
  while( (rc = bloom_sql_step(follower.connection, row))==SQLITE_ROW ){
    rc = read_object(row, object);
    if( rc!=SQLITE_OK ) return rc;
    if( object->type && object->name && object->table && object->sql ) return SQLITE_ROW;
  }
  return rc;
}

static int add_trigger(bloom_triggers *triggers, const schema_object *trigger, int kind){
  bloom_trigger *copy;
  if( BLOOM_GROW(triggers->rows, triggers->num_rows, triggers->max_rows) ) return SQLITE_NOMEM;
  copy = &triggers->rows[triggers->num_rows++];
  *copy = (bloom_trigger){sqlite3_mprintf("%s", trigger->name),
                          sqlite3_mprintf("%s", trigger->table),
                          sqlite3_mprintf("%s", trigger->sql), kind};
  return copy->name && copy->table && copy->sql ? SQLITE_OK : SQLITE_NOMEM;
}

/* Returns 1 if a table's name is that of the follower and a suffix. */
static int is_table(bloom_follower follower, const char *table, const char *suffix){
  const size_t num_chars = strlen(follower.name);
  return sqlite3_strnicmp(table, follower.name, (int)num_chars)==0
    && sqlite3_stricmp(table + num_chars, suffix)==0;
}

bloom_token bloom_trigger_action(const char *sql){
  return bloom_token_find(bloom_token_first(sql), "BEGIN");
}

/* Triggers that only write to a table which refuses no row, and the columns of that table: patterns
** of the texts that vtab_source.c and index_source.c make, and made in 1.2.  A new text needs a row
** here: else such a trigger puts each older bloom_index on its table in doubt. */
static const struct {
  const char *trigger, *columns;
} harmless_triggers[] = {
  {"* BEGIN INSERT INTO \"*_new\"(key*, r) VALUES (new.*, random()); END", "(key*, r)"},
  {"* BEGIN INSERT INTO \"*_new\"(key*, r) VALUES (new.*, (random() << 24) | (SELECT r >> 24 &"
   " 16777215 FROM \"*_new\" ORDER BY rowid DESC LIMIT 1)); END", "(key*, r)"},
  {"* BEGIN INSERT INTO \"*_changed\"(id) VALUES (*); END", "(id INTEGER UNIQUE)"},
  {"* BEGIN INSERT INTO \"*_changed\"(id, rowid) VALUES (*, CASE WHEN EXISTS (SELECT 1 FROM"
   " \"*_changed\" AS c WHERE c.rowid = ~*) THEN NULL ELSE ~* END); END", "(id INTEGER UNIQUE)"}
};

/* Returns 1 if a trigger has one statement, and no RAISE(). */
static int is_one_statement(const char *sql){
  bloom_token token = bloom_trigger_action(sql);
  int num_statements = 0;
  if( bloom_token_find(bloom_token_first(sql), "RAISE").num_chars ) return 0; /* or in its WHEN */
  for(; token.num_chars; token=bloom_token_after(token)) num_statements += token.kind==';';
  return num_statements==1;
}

/* Sets *can_stop to 1 if a trigger may keep others from firing.  Those in the list above cannot.  A
** trigger of DELETE fires in a REPLACE before the new row is stored, so if it stops others, it
** keeps the row out as well. */
static int find_can_stop(bloom_follower follower, const char *sql, int *can_stop){
  const bloom_token name = bloom_token_after(bloom_token_after(bloom_token_first(sql)));
  bloom_token event = bloom_token_after(name);
  int is_harmless, rc = SQLITE_OK;
  size_t i;
  if( bloom_token_is(event, "BEFORE") || bloom_token_is(event, "AFTER") ){
    event = bloom_token_after(event);
  }
  is_harmless = bloom_token_is(event, "DELETE");
  for(i=0; i<BLOOM_COUNT_OF(harmless_triggers) && rc==SQLITE_OK && !is_harmless; i++){
    char *target;
    if( sqlite3_strglob(harmless_triggers[i].trigger, sql)!=0
        || !is_one_statement(sql) ) continue;
    target = bloom_token_unquoted(bloom_token_after(bloom_token_find(bloom_trigger_action(sql),
                                                                     "INTO")));
    rc = target ? bloom_sql_find_table(follower.connection, follower.schema, target, "",
                                       harmless_triggers[i].columns, &is_harmless) : SQLITE_NOMEM;
    sqlite3_free(target);
  }
  if( !is_harmless ) *can_stop = 1;
  return rc;
}

/* Returns what a trigger of bloom's has behind INSERT INTO; "" for another trigger. */
static const char *action_of(const char *sql){
  static const char begin[] = "BEGIN INSERT INTO ";
  const char *action = bloom_trigger_action(sql).text;
  return strncmp(action, begin, sizeof(begin) - 1)==0 ? action + sizeof(begin) - 1 : "";
}

/* Returns the place of a trigger among the follower's own; -1: it is the user's.  is_any_table: it
** may also write to a table of any name what a filter writes to its journal. */
static int kind_of(bloom_follower follower, const schema_object *trigger, int is_any_table){
  const char *event = bloom_sql_behind(trigger->sql, "CREATE TRIGGER ", trigger->name, "");
  const char *action = action_of(trigger->sql);
  size_t num_chars;
  int i = 0;
  assert( trigger->name && trigger->table && trigger->sql ); /* of step_object() */
  while( i<follower.num_triggers
         && !is_table(follower, trigger->name, follower.triggers[i].suffix) ) i++;
  if( i==follower.num_triggers || event==NULL || !is_one_statement(trigger->sql) ) return -1;
  num_chars = strlen(follower.triggers[i].event);
  return *event==' ' && strncmp(event + 1, follower.triggers[i].event, num_chars)==0
      && event[num_chars+1]==' '
      && (bloom_sql_behind(action, "", follower.name, follower.written)
          || (is_any_table
              && sqlite3_strglob("\"*\"(key*, r) VALUES (new.*random()*; END", action)==0))
    ? i : -1;
}

/* Returns 1 for a guard, of whatever virtual table: its name ends in _guard. */
static int is_guard(const schema_object *trigger){
  const char *rest = bloom_sql_behind(trigger->sql, "CREATE TRIGGER ", trigger->name, "");
  if( rest ) rest = bloom_sql_behind(rest, " AFTER UPDATE ON ", trigger->table, "");
  return rest && strcmp(rest, " WHEN 0 BEGIN SELECT 0; END")==0
    && sqlite3_strglob("*_guard", trigger->name)==0;
}

int bloom_follow_read(bloom_follower follower, bloom_follow *follow){
  const size_t num_chars = strlen(follower.name);
  schema_object object;
  sqlite3_stmt *row;
  int rc = prepare_objects(follower, &row);
  memset(follow, 0, sizeof(*follow));
  while( rc==SQLITE_OK && (rc = step_object(follower, row, &object))==SQLITE_ROW ){
    const int is_trigger = strcmp(object.type, "trigger")==0;
    const int kind = is_trigger ? kind_of(follower, &object, 0) : -1;
    const int is_written = is_table(follower, object.table, follower.written);
    const char *source = follow->own.num_rows ? follow->own.rows[0].table : "";
    const int is_on_source = sqlite3_stricmp(source, object.table)==0;
    rc = SQLITE_OK;
    if( !is_trigger ){
      const char *columns = bloom_sql_behind(object.sql, "CREATE TABLE ", object.name, "");
      const int is_own = columns && sqlite3_strnicmp(object.name, follower.name, (int)num_chars)==0
        && follower.is_own_table(follower.data, object.name + num_chars, columns);
      follow->is_seen |= sqlite3_stricmp(object.table, follower.name)==0;
      follow->num_tables += is_own;
      follow->has_other_objects |= !is_own && is_written;
    }else if( kind>=0 ){
      follow->are_on_one_table = follow->own.num_rows==0
        || (follow->are_on_one_table && is_on_source);
      follow->is_made_again |= follow->has_guard;
      rc = add_trigger(&follow->own, &object, kind);
    }else if( is_table(follower, object.name, "_guard") && is_guard(&object)
              && is_table(follower, object.table, follower.guarded) ){
      follow->has_guard = 1;
    }else if( is_written ){
      follow->has_other_triggers = 1;
    }else if( follow->has_guard && is_on_source ){
      rc = find_can_stop(follower, object.sql, &follow->may_be_stopped);
    }
  }
  if( !follow->has_guard ) follow->is_made_again = follow->own.num_rows>0;
  assert( rc!=SQLITE_DONE || !follow->are_on_one_table || follow->own.num_rows>0 );
  return bloom_sql_end(row, rc);
}

bloom_token bloom_token_after_new(bloom_token token){
  while( token.num_chars && !(bloom_token_is(token, "new") && bloom_token_after(token).kind=='.') ){
    token = bloom_token_after(token);
  }
  return bloom_token_after(bloom_token_after(token));
}

char *bloom_guard_text(bloom_follower follower){
  return sqlite3_mprintf("CREATE TRIGGER \"%w_guard\" AFTER UPDATE ON \"%w%s\" WHEN 0 BEGIN SELECT"
                         " 0; END", follower.name, follower.name, follower.guarded);
}

/* Returns 1 for a trigger of a filter of bloom 1.0 or 1.1. */
static int is_of_1_1(bloom_follower follower, const schema_object *trigger){
  const char *columns = bloom_sql_behind(action_of(trigger->sql), "", follower.name, "");
  const bloom_token column = bloom_token_after(bloom_token_first(columns ? columns : ""));
  const size_t num_chars = strlen(follower.name);
  return strncmp(trigger->name, follower.name, num_chars)==0 && trigger->name[num_chars]=='_'
    && (bloom_token_is(column, "key") || bloom_token_is(column, "removed")
        || bloom_token_is(column, "unheard"));
}

int bloom_follow_drop(bloom_follower follower, int is_for_good){
  bloom_follow dropped = {.is_seen = 0};
  schema_object object;
  sqlite3_stmt *row;
  int i, rc = prepare_objects(follower, &row);
  while( rc==SQLITE_OK && (rc = step_object(follower, row, &object))==SQLITE_ROW ){
    const int is_one = strcmp(object.type, "trigger")==0
      && (kind_of(follower, &object, is_for_good)>=0
          || (is_for_good && is_of_1_1(follower, &object))
          || (is_table(follower, object.table, follower.guarded) && is_guard(&object)));
    rc = is_one ? add_trigger(&dropped.own, &object, 0) : SQLITE_OK;
  }
  rc = bloom_sql_end(row, rc);
  for(i=0; i<dropped.own.num_rows && rc==SQLITE_OK; i++){ /* once all are read */
    rc = bloom_sql_run(follower.connection, "DROP TRIGGER \"%w\".\"%w\"", follower.schema,
                       dropped.own.rows[i].name);
  }
  bloom_follow_free(&dropped);
  return rc;
}

int bloom_trigger_create(bloom_follower follower, char *sql){
  static const char begin[] = "CREATE TRIGGER ";
  int rc = SQLITE_NOMEM;
  assert( sql==NULL || strncmp(sql, begin, sizeof(begin) - 1)==0 );
  if( sql ) rc = bloom_sql_run(follower.connection, "%s\"%w\".%s", begin, follower.schema,
                               sql + sizeof(begin) - 1);
  sqlite3_free(sql);
  return rc;
}

/* -- What is in the way -------------------------------------------------------------------- */

/* Appends the SQL that removes an object, or renames it if it is a table: that may have the only
** copy of a standalone filter's keys, which CREATE with the new name takes over. */
static int append_cure(sqlite3_str *cure, const char *schema, const char *type, const char *name){
  static const char suffix[] = "_pages";
  const int renames = strcmp(type, "table")==0;
  const size_t num_chars = strlen(name), end = sizeof(suffix) - 1;
  const int has_suffix = num_chars>end && sqlite3_stricmp(name + num_chars - end, suffix)==0;
  char *its_schema = bloom_sql_name(schema), *old_name = bloom_sql_name(name);
  char *kept = sqlite3_mprintf("%.*s_kept%s", (int)(num_chars - (has_suffix ? end : 0)), name,
                               has_suffix ? suffix : "");
  char *new_name = kept ? bloom_sql_name(kept) : NULL;
  const int is_main = sqlite3_stricmp(schema, "main")==0;
  const int has_memory = its_schema && old_name && new_name;
  if( has_memory ){
    sqlite3_str_appendf(cure, "%s%s %s%s%s", sqlite3_str_length(cure) ? "; " : "",
                        renames ? "ALTER TABLE" : strcmp(type, "view")==0 ? "DROP VIEW"
                        : strcmp(type, "index")==0 ? "DROP INDEX" : "DROP TRIGGER",
                        is_main ? "" : its_schema, is_main ? "" : ".", old_name);
    if( renames ) sqlite3_str_appendf(cure, " RENAME TO %s", new_name);
  }
  sqlite3_free(its_schema);
  sqlite3_free(old_name);
  sqlite3_free(kept);
  sqlite3_free(new_name);
  return has_memory ? SQLITE_OK : SQLITE_NOMEM;
}

int bloom_obstacles_refuse(bloom_follower follower, char *where, int is_create){
  sqlite3_str *names, *cure, *sql;
  char *names_text, *cure_text;
  sqlite3_stmt *row;
  int num_obstacles = 0, rc;
  if( where==NULL ) return SQLITE_NOMEM;
  sql = sqlite3_str_new(follower.connection->db);
  sqlite3_str_appendf(sql, "SELECT type, name, tbl_name, sql FROM \"%w\".sqlite_master"
                           " WHERE (%z)", follower.schema, where);
  if( follower.num_triggers ){
    int i;
    sqlite3_str_appendf(sql, " OR (type = 'trigger' AND (tbl_name = '%q%s' COLLATE NOCASE"
                             " OR name COLLATE NOCASE IN ('%q_guard'", follower.name,
                        follower.written, follower.name);
    for(i=0; i<follower.num_triggers; i++){
      sqlite3_str_appendf(sql, ", '%q%s'", follower.name, follower.triggers[i].suffix);
    }
    sqlite3_str_appendall(sql, ")))");
  }
  sqlite3_str_appendall(sql, " ORDER BY type <> 'trigger', type <> 'index', name");
  rc = bloom_sql_prepare_text(follower.connection, &row, sqlite3_str_finish(sql));
  names = sqlite3_str_new(NULL);
  cure = sqlite3_str_new(NULL);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(follower.connection, row))==SQLITE_ROW ){
    schema_object object;
    int is_own;
    rc = read_object(row, &object);
    if( rc==SQLITE_OK && (object.type==NULL || object.name==NULL) ) rc = SQLITE_AUTH; /* hidden */
    if( rc!=SQLITE_OK ) break;
    is_own = strcmp(object.type, "trigger")==0 && object.table && object.sql
      && (is_guard(&object) || kind_of(follower, &object, 0)>=0);
    if( is_own && !is_create ) continue;
    rc = append_cure(cure, follower.schema, object.type, object.name);
    if( is_own ) continue;
    sqlite3_str_appendf(names, "%s%s %s", num_obstacles ? ", " : "", object.type, object.name);
    num_obstacles++;
  }
  rc = bloom_sql_end(row, rc);
  names_text = sqlite3_str_finish(names);
  cure_text = sqlite3_str_finish(cure);
  if( rc==SQLITE_OK && num_obstacles>0 ){
    rc = names_text && cure_text ? bloom_fail_vtab(follower.error, "%s: %s %s in the way of %s: %s",
        follower.module, names_text, num_obstacles>1 ? "are" : "is", follower.name, cure_text)
      : SQLITE_NOMEM;
  }
  sqlite3_free(names_text);
  sqlite3_free(cure_text);
  return rc;
}
