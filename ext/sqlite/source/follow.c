/*
** How both virtual tables follow a source: commands, the database that is meant, triggers, and
** marks of a schema.
*/
#include "follow.h"

#include <stdint.h>
#include <string.h>

#include "../../core/debug.h"
#include "../errors.h"

/* -- Commands ------------------------------------------------------------------------------- */

bloom_command bloom_command_read(const char *text, sqlite3_int64 *max_rows){
  *max_rows = 0;
  if( sqlite3_stricmp(text, "merge")==0 ) return BLOOM_COMMAND_MERGE;
  if( sqlite3_stricmp(text, "rebuild")==0 ) return BLOOM_COMMAND_REBUILD;
  if( sqlite3_stricmp(text, "integrity-check")==0 ) return BLOOM_COMMAND_CHECK;
  if( sqlite3_stricmp(text, "delete-all")==0 ) return BLOOM_COMMAND_DELETE_ALL;
  if( sqlite3_strnicmp(text, "merge=", 6)!=0 ) return BLOOM_COMMAND_NONE;
  for(text+=6; *text>='0' && *text<='9'; text++){
    if( *max_rows<INT64_MAX/20 ) *max_rows = 10 * *max_rows + (*text - '0');
  }
  return *text==0 && *max_rows>0 ? BLOOM_COMMAND_MERGE : BLOOM_COMMAND_NONE;
}

/* -- The database that is meant ------------------------------------------------------------- */

void *bloom_database_file(sqlite3 *db, const char *schema){
  sqlite3_file *file = NULL;
  return sqlite3_file_control(db, schema, SQLITE_FCNTL_FILE_POINTER, &file)==SQLITE_OK
    ? file : NULL;
}

int bloom_database_may_be_swapped(sqlite3 *db, const char *schema){
  sqlite3_vfs *vfs = NULL;
  /* sqlite3_deserialize() puts another file in place, and SQLite compiles nothing anew. */
  sqlite3_file_control(db, schema, SQLITE_FCNTL_VFS_POINTER, &vfs);
  return vfs==NULL || strcmp(vfs->zName, "memdb")==0;
}

/* Sets *schema, to be freed, to the name that a file is open by; NULL if it has none. */
static int find_name(bloom_connection *connection, const void *file, char **schema){
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare(connection, &row, "PRAGMA database_list");
  *schema = NULL;
  while( rc==SQLITE_OK && (rc = bloom_sql_step(connection, row))==SQLITE_ROW ){
    sqlite3_free(*schema);
    rc = bloom_sql_copy_text(row, 1, schema);
    if( rc==SQLITE_OK && bloom_database_file(connection->db, *schema)==file ) break;
  }
  if( rc!=SQLITE_OK ){
    sqlite3_free(*schema);
    *schema = NULL;
  }
  return bloom_sql_end(row, rc);
}

int bloom_database_fail_replaced(
  sqlite3 *db, const char *module, const char *name, char **error
){
  int is_on = 0;
  /* Where an option changes, SQLite compiles all statements anew when they run next. */
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, -1, &is_on);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, !is_on, &is_on);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, !is_on, &is_on);
  return bloom_fail_vtab(error, "%s: the database of %s was detached or replaced since this"
                                " statement was prepared: run it again", module, name);
}

int bloom_database_locate(
  bloom_connection *connection, const char *module, const char *name, const void *file,
  char **schema, char **error
){
  char *now;
  int rc;
  if( bloom_database_file(connection->db, *schema)==file ) return SQLITE_OK;
  rc = find_name(connection, file, &now);
  if( rc!=SQLITE_OK ) return rc;
  if( now ){
    sqlite3_free(*schema);
    *schema = now;
  }
  return bloom_database_fail_replaced(connection->db, module, name, error);
}

/* -- Triggers ------------------------------------------------------------------------------- */

static void triggers_free(bloom_triggers *triggers){
  int i;
  for(i=0; i<triggers->num_rows; i++){
    sqlite3_free(triggers->rows[i].name);
    sqlite3_free(triggers->rows[i].table);
    sqlite3_free(triggers->rows[i].sql);
  }
  sqlite3_free(triggers->rows);
  *triggers = (bloom_triggers){NULL, 0, 0};
}

void bloom_follow_free(bloom_follow *follow){
  triggers_free(&follow->own);
  triggers_free(&follow->newer);
}

/* Compiles a SELECT of all triggers. */
static int prepare_triggers(const bloom_follower *follower, sqlite3_stmt **row){
  return bloom_sql_prepare(follower->connection, row,
    "SELECT rowid, name, tbl_name, sql FROM \"%w\".sqlite_master WHERE type = 'trigger' ORDER BY"
    " rowid", follower->schema);
}

/* A trigger, as a row has it until the next step. */
typedef struct trigger_row {
  const char *name, *table, *sql;
  sqlite3_int64 order;
} trigger_row;

/* Steps to the next trigger that nothing hides: SQLITE_ROW, SQLITE_DONE or an error. */
static int step_trigger(const bloom_follower *follower, sqlite3_stmt *row, trigger_row *trigger){
  int rc;
  while( (rc = bloom_sql_step(follower->connection, row))==SQLITE_ROW ){
    trigger->order = sqlite3_column_int64(row, 0);
    rc = bloom_sql_column_text(row, 1, &trigger->name);
    if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 2, &trigger->table);
    if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 3, &trigger->sql);
    if( rc!=SQLITE_OK ) return rc;
    if( trigger->name && trigger->table && trigger->sql ) return SQLITE_ROW;
  }
  return rc;
}

static int add_trigger(bloom_triggers *triggers, const trigger_row *trigger){
  bloom_trigger *copy;
  if( BLOOM_GROW(triggers->rows, triggers->num_rows, triggers->max_rows) ) return SQLITE_NOMEM;
  copy = &triggers->rows[triggers->num_rows++];
  *copy = (bloom_trigger){
    .name = sqlite3_mprintf("%s", trigger->name), .table = sqlite3_mprintf("%s", trigger->table),
    .sql = sqlite3_mprintf("%s", trigger->sql), .order = trigger->order
  };
  return copy->name && copy->table && copy->sql ? SQLITE_OK : SQLITE_NOMEM;
}

/* Returns 1 if a table's name is that of the follower and a suffix. */
static int is_table(const bloom_follower *follower, const char *table, const char *suffix){
  const size_t num_chars = strlen(follower->name);
  return sqlite3_strnicmp(table, follower->name, (int)num_chars)==0
    && sqlite3_stricmp(table + num_chars, suffix)==0;
}

int bloom_follow_read(
  const bloom_follower *follower, bloom_schema_mark *mark, bloom_follow *follow
){
  char *guard = bloom_guard_text(follower);
  trigger_row trigger;
  sqlite3_stmt *row = NULL;
  int rc = guard ? prepare_triggers(follower, &row) : SQLITE_NOMEM;
  memset(follow, 0, sizeof(*follow));
  follow->are_on_one_table = 1;
  while( rc==SQLITE_OK && (rc = step_trigger(follower, row, &trigger))==SQLITE_ROW ){
    const char *source = follow->own.num_rows ? follow->own.rows[0].table : "";
    int is_own;
    rc = follower->is_own(follower->data, trigger.name, trigger.table, trigger.sql, &is_own);
    if( rc==SQLITE_OK && is_own ){
      if( source[0] ) follow->are_on_one_table &= sqlite3_stricmp(source, trigger.table)==0;
      follow->is_made_again |= follow->guard>0;
      rc = add_trigger(&follow->own, &trigger);
      if( mark ) bloom_schema_mark_add(mark, trigger.order);
    }else if( rc==SQLITE_OK && follow->guard==0 && strcmp(trigger.sql, guard)==0 ){
      follow->guard = trigger.order;
    }else if( rc==SQLITE_OK && is_table(follower, trigger.table, follower->written) ){
      follow->has_others = 1;
    }else if( rc==SQLITE_OK && follow->guard>0 && sqlite3_stricmp(source, trigger.table)==0 ){
      rc = add_trigger(&follow->newer, &trigger);
    }
  }
  sqlite3_free(guard);
  if( follow->own.num_rows==0 ) follow->are_on_one_table = 0;
  if( follow->guard==0 ) follow->is_made_again = follow->own.num_rows>0;
  if( mark ) bloom_schema_mark_add(mark, follow->guard);
  return bloom_sql_end(row, rc);
}

int bloom_follow_is_seen(const bloom_follower *follower, sqlite3_int64 *is_seen){
  *is_seen = 0;
  return bloom_sql_integer(follower->connection, is_seen, "SELECT 1 FROM \"%w\".sqlite_master"
                           " WHERE type = 'table' AND rootpage = 0 AND sql IS NOT NULL"
                           " AND name = %Q COLLATE NOCASE AND tbl_name = %Q COLLATE NOCASE",
                           follower->schema, follower->name, follower->name);
}

int bloom_trigger_number(
  const char *table, const char *name, const char *const *suffixes, int num_suffixes
){
  const size_t num_chars = strlen(table);
  int i = 0;
  if( sqlite3_strnicmp(name, table, (int)num_chars)!=0 ) return num_suffixes;
  while( i<num_suffixes && sqlite3_stricmp(name + num_chars, suffixes[i])!=0 ) i++;
  return i;
}

/* Triggers that only write to a table which refuses no row, and that table: a filter's, a
** bloom_index's. */
static const struct {
  const char *trigger, *table;
} harmless_triggers[] = {
  {"* BEGIN INSERT INTO \"*_new\"(key*, r) VALUES (new.*, random()); END",
   "CREATE TABLE *_new*(key*, r)"},
  {"* BEGIN INSERT INTO \"*_new\"(key*, r) VALUES (new.*, (random() << 24) | (SELECT r >> 24 &"
   " 16777215 FROM \"*_new\" ORDER BY rowid DESC LIMIT 1)); END",
   "CREATE TABLE *_new*(key*, r)"},
  {"* BEGIN INSERT INTO \"*_changed\"(id) VALUES (*); END",
   "CREATE TABLE *_changed*(id INTEGER UNIQUE)"},
  {"* BEGIN INSERT INTO \"*_changed\"(id, rowid) VALUES (*, CASE WHEN EXISTS (SELECT 1 FROM"
   " \"*_changed\" AS c WHERE c.rowid = ~*) THEN NULL ELSE ~* END); END",
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

/* Returns 1 for a trigger of DELETE.  By REPLACE it fires before the new row is there: what it
** stops is not stored either. */
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
  int is_harmless = is_of_delete(sql), rc = SQLITE_OK;
  size_t i;
  for(i=0; i<BLOOM_COUNT_OF(harmless_triggers) && rc==SQLITE_OK && !is_harmless; i++){
    char *target;
    const char *table = NULL;
    sqlite3_stmt *row;
    if( sqlite3_strglob(harmless_triggers[i].trigger, sql)!=0 ) continue;
    rc = find_only_target(sql, &target);
    if( target==NULL ) continue;
    /* Not by GLOB, which the application may have replaced, or its authorizer refuse. */
    rc = bloom_sql_row(connection, &row, "SELECT sql FROM \"%w\".sqlite_master WHERE type = 'table'"
                       " AND name = %Q COLLATE NOCASE", schema, target);
    if( rc==SQLITE_ROW ) rc = bloom_sql_column_text(row, 0, &table);
    is_harmless = table && sqlite3_strglob(harmless_triggers[i].table, table)==0;
    rc = bloom_sql_end(row, rc);
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

/* Drops the triggers, on a table or, NULL, on any, for which is_own says yes. */
static int drop_triggers(
  const bloom_follower *follower, const char *suffix, bloom_is_own_trigger *is_own
){
  bloom_triggers triggers = {NULL, 0, 0};
  trigger_row trigger;
  sqlite3_stmt *row;
  int i, is_one, rc = prepare_triggers(follower, &row);
  while( rc==SQLITE_OK && (rc = step_trigger(follower, row, &trigger))==SQLITE_ROW ){
    rc = SQLITE_OK;
    if( suffix && !is_table(follower, trigger.table, suffix) ) continue;
    rc = is_own(follower->data, trigger.name, trigger.table, trigger.sql, &is_one);
    if( rc==SQLITE_OK && is_one ) rc = add_trigger(&triggers, &trigger);
  }
  rc = bloom_sql_end(row, rc);
  for(i=0; i<triggers.num_rows && rc==SQLITE_OK; i++){
    rc = bloom_sql_run(follower->connection, "DROP TRIGGER \"%w\".\"%w\"", follower->schema,
                       triggers.rows[i].name);
  }
  triggers_free(&triggers);
  return rc;
}

int bloom_follow_drop(const bloom_follower *follower, bloom_is_own_trigger *is_own){
  return drop_triggers(follower, NULL, is_own);
}

int bloom_trigger_create(const bloom_follower *follower, const char *suffix, char *definition){
  const int rc = definition
    ? bloom_sql_run(follower->connection, "CREATE TRIGGER \"%w\".\"%w%s\" %s", follower->schema,
                    follower->name, suffix, definition) : SQLITE_NOMEM;
  sqlite3_free(definition);
  return rc;
}

/* What a guard does, and when: a format of its table's name. */
#define GUARD "AFTER UPDATE ON \"%w%s\" WHEN 0 BEGIN SELECT 0; END"

#define GUARD_SUFFIX "_guard"

/* Says of the guard of any virtual table that it is one. */
static int is_guard(
  const void *data, const char *name, const char *table, const char *sql, int *is_own
){
  const size_t num_chars = strlen(name), end = sizeof(GUARD_SUFFIX) - 1;
  char *text;
  (void)data;
  *is_own = 0;
  if( num_chars<end || strcmp(name + num_chars - end, GUARD_SUFFIX)!=0 ) return SQLITE_OK;
  text = sqlite3_mprintf("CREATE TRIGGER \"%w\" " GUARD, name, table, "");
  *is_own = text && strcmp(text, sql)==0;
  sqlite3_free(text);
  return text ? SQLITE_OK : SQLITE_NOMEM;
}

int bloom_guard_drop(const bloom_follower *follower){
  return drop_triggers(follower, follower->guarded, is_guard);
}

int bloom_guard_create(const bloom_follower *follower){
  const int rc = bloom_guard_drop(follower);
  if( rc!=SQLITE_OK ) return rc;
  return bloom_trigger_create(follower, GUARD_SUFFIX,
                              sqlite3_mprintf(GUARD, follower->name, follower->guarded));
}

char *bloom_guard_text(const bloom_follower *follower){
  return sqlite3_mprintf("CREATE TRIGGER \"%w" GUARD_SUFFIX "\" " GUARD, follower->name,
                         follower->name, follower->guarded);
}

/* -- What is in the way -------------------------------------------------------------------- */

/* Appends what takes an object out of the way.  No table is dropped: it may have the only copy of
** a standalone filter's keys, and CREATE of the new name takes them over. */
static int append_cure(sqlite3_str *cure, const char *schema, const char *type, const char *name){
  static const char suffix[] = "_pages";
  const int is_table = strcmp(type, "table")==0;
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
                        is_table ? "ALTER TABLE" : strcmp(type, "view")==0 ? "DROP VIEW"
                        : strcmp(type, "index")==0 ? "DROP INDEX" : "DROP TRIGGER",
                        is_main ? "" : its_schema, is_main ? "" : ".", old_name);
    if( is_table ) sqlite3_str_appendf(cure, " RENAME TO %s", new_name);
  }
  sqlite3_free(its_schema);
  sqlite3_free(old_name);
  sqlite3_free(kept);
  sqlite3_free(new_name);
  return has_memory ? SQLITE_OK : SQLITE_NOMEM;
}

/* Goes through what may be in the way: appends the names of what is, and their number, and the SQL
** that takes all of it out of the way. */
static int list_obstacles(
  const bloom_follower *follower, sqlite3_stmt *row, int is_create, sqlite3_str *names,
  sqlite3_str *cure, int *num_obstacles
){
  int rc = SQLITE_OK;
  while( rc==SQLITE_OK && (rc = bloom_sql_step(follower->connection, row))==SQLITE_ROW ){
    const char *columns[4] = {NULL};
    int i, is_own = 0;
    rc = SQLITE_OK;
    for(i=0; i<4 && rc==SQLITE_OK; i++) rc = bloom_sql_column_text(row, i, &columns[i]);
    if( rc==SQLITE_OK && (columns[0]==NULL || columns[1]==NULL) ) rc = SQLITE_AUTH; /* hidden */
    if( rc==SQLITE_OK && strcmp(columns[0], "trigger")==0 && columns[2] && columns[3] ){
      rc = is_guard(NULL, columns[1], columns[2], columns[3], &is_own);
      if( rc==SQLITE_OK && !is_own ){
        rc = follower->is_own(follower->data, columns[1], columns[2], columns[3], &is_own);
      }
    }
    if( rc!=SQLITE_OK || (is_own && !is_create) ) continue;
    rc = append_cure(cure, follower->schema, columns[0], columns[1]);
    if( is_own ) continue;
    sqlite3_str_appendf(names, "%s%s %s", *num_obstacles ? ", " : "", columns[0], columns[1]);
    ++*num_obstacles;
  }
  return rc;
}

int bloom_obstacles_refuse(
  const bloom_follower *follower, char *where, int is_create, char **error
){
  sqlite3_str *names = sqlite3_str_new(NULL), *cure = sqlite3_str_new(NULL);
  char *names_text, *cure_text;
  sqlite3_stmt *row = NULL;
  int num_obstacles = 0, rc = where ? bloom_sql_prepare(follower->connection, &row,
      "SELECT type, name, tbl_name, sql FROM \"%w\".sqlite_master WHERE %s"
      " ORDER BY type <> 'trigger', type <> 'index', name", follower->schema, where)
    : SQLITE_NOMEM;
  sqlite3_free(where);
  if( rc==SQLITE_OK ) rc = list_obstacles(follower, row, is_create, names, cure, &num_obstacles);
  rc = bloom_sql_end(row, rc);
  names_text = sqlite3_str_finish(names);
  cure_text = sqlite3_str_finish(cure);
  if( rc==SQLITE_OK && num_obstacles>0 ){
    rc = names_text && cure_text ? bloom_fail_vtab(error, "%s: %s %s in the way of %s: %s",
        follower->module, names_text, num_obstacles>1 ? "are" : "is", follower->name, cure_text)
      : SQLITE_NOMEM;
  }
  sqlite3_free(names_text);
  sqlite3_free(cure_text);
  return rc;
}

/* -- Marks of a schema ---------------------------------------------------------------------- */

void bloom_schema_mark_free(bloom_schema_mark *mark){
  sqlite3_free(mark->text);
  *mark = (bloom_schema_mark){.num_rows = 0};
}

static int last_schema_row(bloom_connection *connection, const char *schema, sqlite3_int64 *row){
  return bloom_sql_integer(connection, row, "SELECT rowid FROM \"%w\".sqlite_master"
                                            " ORDER BY rowid DESC LIMIT 1", schema);
}

int bloom_schema_mark_begin(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark
){
  bloom_schema_mark_free(mark);
  return last_schema_row(connection, schema, &mark->last_row);
}

void bloom_schema_mark_add(bloom_schema_mark *mark, sqlite3_int64 row){
  if( row<=0 || mark->num_rows>=BLOOM_SCHEMA_MAX_ROWS ) mark->num_rows = BLOOM_SCHEMA_MAX_ROWS + 1;
  else mark->rows[mark->num_rows++] = row;
}

/* The columns that the functions below read. */
#define COLUMNS "type, name, tbl_name, sql, rootpage"

/* Compiles a SELECT of the rows by their numbers, and of those behind the last. */
static int schema_prepare_rows(
  bloom_connection *connection, const char *schema, const bloom_schema_mark *mark,
  sqlite3_stmt **row
){
  sqlite3_str *sql = sqlite3_str_new(connection->db);
  int i;
  sqlite3_str_appendf(sql, "SELECT " COLUMNS " FROM \"%w\".sqlite_master WHERE rowid IN (", schema);
  for(i=0; i<mark->num_rows; i++) sqlite3_str_appendf(sql, "%s%lld", i ? ", " : "", mark->rows[i]);
  sqlite3_str_appendf(sql, ") UNION ALL SELECT " COLUMNS " FROM \"%w\".sqlite_master"
                           " WHERE rowid > %lld", schema, mark->last_row);
  return bloom_sql_prepare_text(connection, row, sqlite3_str_finish(sql));
}

/* Reads so many rows' text, *text to be freed; NULL if there are fewer. */
static int read_text(
  bloom_connection *connection, sqlite3_stmt *row, int num_rows, char **text
){
  sqlite3_str *str = sqlite3_str_new(connection->db);
  int i, j, rc = SQLITE_ROW;
  for(i=0; i<num_rows && (rc = bloom_sql_step(connection, row))==SQLITE_ROW; i++){
    for(j=0; j<4; j++){
      const char *column;
      if( bloom_sql_column_text(row, j, &column)!=SQLITE_OK ) rc = SQLITE_NOMEM;
      sqlite3_str_appendf(str, "%Q ", column);
    }
    if( rc!=SQLITE_ROW ) break;
  }
  *text = sqlite3_str_finish(str);
  if( rc==SQLITE_ROW && *text ) return SQLITE_OK;
  if( rc==SQLITE_ROW ) rc = SQLITE_NOMEM;
  sqlite3_free(*text);
  *text = NULL;
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

int bloom_schema_mark_end(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark
){
  sqlite3_stmt *row;
  int rc;
  if( mark->num_rows==0 || mark->num_rows>BLOOM_SCHEMA_MAX_ROWS ) return SQLITE_OK;
  rc = schema_prepare_rows(connection, schema, mark, &row);
  if( rc==SQLITE_OK ) rc = read_text(connection, row, mark->num_rows, &mark->text);
  return bloom_sql_end(row, rc);
}

/* Reads the rows behind the last.  *num_made is how many statements they account for; -1 where one
** may be of consequence.  SQLite makes tables and indexes of its own along with others, and dumps
** put virtual tables into the schema, which adds nothing to its version. */
static int count_made(
  bloom_connection *connection, sqlite3_stmt *row, const char *table, int *num_made
){
  int rc;
  *num_made = 0;
  while( (rc = bloom_sql_step(connection, row))==SQLITE_ROW ){
    const char *type = (const char *)sqlite3_column_text(row, 0);
    const char *name = (const char *)sqlite3_column_text(row, 1);
    const char *its_table = (const char *)sqlite3_column_text(row, 2);
    if( type==NULL || name==NULL || its_table==NULL || strcmp(type, "trigger")==0
        || (strcmp(type, "table")==0 && sqlite3_column_int64(row, 4)==0)
        || sqlite3_stricmp(its_table, table)==0 ){
      *num_made = -1;
      return SQLITE_OK;
    }
    *num_made += sqlite3_strnicmp(name, "sqlite_", 7)!=0;
  }
  return rc;
}

int bloom_schema_mark_holds(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark,
  sqlite3_int64 num_changes, int max_others, const char *table, int *holds
){
  sqlite3_stmt *row = NULL;
  sqlite3_int64 last_row = 0;
  char *text = NULL;
  int num_made, rc;
  *holds = 0;
  if( mark->text==NULL || num_changes<=0 ) return SQLITE_OK;
  rc = last_schema_row(connection, schema, &last_row);
  if( rc==SQLITE_OK ) rc = schema_prepare_rows(connection, schema, mark, &row);
  if( rc==SQLITE_OK ) rc = read_text(connection, row, mark->num_rows, &text);
  if( rc==SQLITE_OK && text && strcmp(text, mark->text)==0 ){
    rc = count_made(connection, row, table, &num_made);
    if( rc==SQLITE_DONE ){
      *holds = num_made<=num_changes && num_changes - num_made<=max_others;
    }
  }
  if( *holds ) mark->last_row = last_row;
  sqlite3_free(text);
  rc = bloom_sql_end(row, rc);
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK; /* a full check meets the others again */
}
