/*
** SQL text for the objects of a virtual table.  Names go in through %w, in quotes.  The
** only other text is the expression and the condition that the user wrote, in the statement
** that makes the table and never again: bloom_table_args_read() looked at them, and SQLite
** is asked whether an index could have them before any of it runs.
*/
#include "vtab_schema.h"

#include <stdarg.h>
#include <string.h>

#include "../errors.h"

typedef enum bloom_table_trigger {
  TRIGGER_BEFORE_INSERT,
  TRIGGER_AFTER_INSERT,
  TRIGGER_BEFORE_UPDATE,
  TRIGGER_AFTER_UPDATE,
  TRIGGER_BEFORE_DELETE,
  NUM_TRIGGERS
} bloom_table_trigger;

static const struct {
  const char *name, *event;
} trigger_rows[NUM_TRIGGERS] = {
  {"before_insert", "BEFORE INSERT"},
  {"after_insert", "AFTER INSERT"},
  {"before_update", "BEFORE UPDATE"},
  {"after_update", "AFTER UPDATE"},
  {"before_delete", "BEFORE DELETE"},
};

static const char *const shadow_tables[] = {"config", "layers", "pages"};
#define NUM_SHADOW_TABLES ((int)(sizeof(shadow_tables) / sizeof(shadow_tables[0])))

/* What a rowid may be called. */
static const char *const rowid_names[] = {"rowid", "_rowid_", "oid"};

/* One column of the followed table. */
typedef struct followed_column {
  char *name;
  bloom_column_kind kind;
  int key_number; /* in the PRIMARY KEY, from 1; 0: not in it */
  int is_generated;
  int has_stand_in; /* NOT NULL with a DEFAULT, which OR REPLACE puts in place of NULL */
} followed_column;

typedef struct followed_table {
  char *name; /* as the schema has it */
  followed_column *columns;
  int num_columns, max_columns;
  int num_keys;          /* columns of the PRIMARY KEY */
  const char *row_name;  /* the rowid's, NULL: WITHOUT ROWID */
  const followed_column *row_column; /* the column that is the rowid, if any */
} followed_table;

static int run_text(sqlite3 *db, char *sql){
  int rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  return rc;
}

int bloom_run(sqlite3 *db, const char *format, ...){
  va_list arguments;
  char *sql;
  va_start(arguments, format);
  sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  return run_text(db, sql);
}

static int prepare_text(sqlite3 *db, sqlite3_stmt **statement, char *sql){
  int rc = SQLITE_NOMEM;
  *statement = NULL;
  if( sql ) rc = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
  sqlite3_free(sql);
  return rc;
}

int bloom_prepare(sqlite3 *db, sqlite3_stmt **statement, const char *format, ...){
  va_list arguments;
  char *sql;
  va_start(arguments, format);
  sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  return prepare_text(db, statement, sql);
}

int bloom_query_integer(sqlite3 *db, sqlite3_int64 *number, const char *format, ...){
  va_list arguments;
  sqlite3_stmt *row;
  char *sql;
  int rc;
  va_start(arguments, format);
  sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  rc = prepare_text(db, &row, sql);
  if( rc==SQLITE_OK ) rc = sqlite3_step(row);
  if( rc==SQLITE_ROW ){
    *number = sqlite3_column_int64(row, 0);
    rc = SQLITE_OK;
  }
  sqlite3_finalize(row);
  return rc;
}

int bloom_column_text(sqlite3_stmt *row, int column, const char **text){
  const int type = sqlite3_column_type(row, column);
  *text = (const char *)sqlite3_column_text(row, column);
  return *text==NULL && type!=SQLITE_NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* The code of a failure, SQLite's message kept as ours. */
static int failure(sqlite3 *db, int rc, char **error){
  if( rc!=SQLITE_NOMEM && *error==NULL ) *error = sqlite3_mprintf("bloom: %s", sqlite3_errmsg(db));
  return rc;
}

/* -- The table that is followed ------------------------------------------------- */

static void free_followed(followed_table *table){
  int i;
  for(i=0; i<table->num_columns; i++) sqlite3_free(table->columns[i].name);
  sqlite3_free(table->columns);
  sqlite3_free(table->name);
}

static const followed_column *find_column(const followed_table *table, const char *name){
  int i;
  for(i=0; i<table->num_columns; i++){
    if( sqlite3_stricmp(table->columns[i].name, name)==0 ) return &table->columns[i];
  }
  return NULL;
}

/* Finds the table's name as the schema has it. */
static int find_table(bloom_table_name name, const char *table_name, followed_table *table, char **error){
  sqlite3_stmt *query;
  const char *text;
  int rc = bloom_prepare(name.db, &query,
    "SELECT name, type = 'view' FROM \"%w\".sqlite_master WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE",
    name.schema);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_text(query, 1, table_name, -1, SQLITE_STATIC);
  if( rc==SQLITE_OK ){
    rc = sqlite3_step(query);
    if( rc==SQLITE_ROW && sqlite3_column_int(query, 1) ){
      rc = bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_VIEW, table_name));
    }else if( rc==SQLITE_ROW ){
      rc = bloom_column_text(query, 0, &text);
      if( rc==SQLITE_OK ) table->name = sqlite3_mprintf("%s", text);
      if( table->name==NULL ) rc = SQLITE_NOMEM;
    }else if( rc==SQLITE_DONE ){
      rc = bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_MISSING, table_name, name.schema));
    }
  }
  if( rc!=SQLITE_OK ) failure(name.db, rc, error);
  sqlite3_finalize(query);
  return rc;
}

static int add_column(followed_table *table, sqlite3_stmt *row){
  followed_column *column;
  const char *name, *type;
  if( bloom_column_text(row, 1, &name)!=SQLITE_OK || bloom_column_text(row, 2, &type)!=SQLITE_OK ) return SQLITE_NOMEM;
  if( table->num_columns==table->max_columns ){
    const int max_columns = table->max_columns ? 2 * table->max_columns : 16;
    followed_column *columns = sqlite3_realloc64(table->columns, (sqlite3_uint64)max_columns * sizeof(*columns));
    if( columns==NULL ) return SQLITE_NOMEM;
    table->columns = columns;
    table->max_columns = max_columns;
  }
  column = &table->columns[table->num_columns];
  column->name = sqlite3_mprintf("%s", name);
  if( column->name==NULL ) return SQLITE_NOMEM;
  column->kind = bloom_column_kind_of(type);
  column->key_number = sqlite3_column_int(row, 5);
  column->is_generated = sqlite3_column_int(row, 6)!=0;
  column->has_stand_in = sqlite3_column_int(row, 3) && sqlite3_column_type(row, 4)!=SQLITE_NULL;
  table->num_keys += column->key_number>0;
  table->num_columns++;
  return SQLITE_OK;
}

static int read_columns(bloom_table_name name, followed_table *table){
  sqlite3_stmt *query;
  int rc = bloom_prepare(name.db, &query, "PRAGMA \"%w\".table_xinfo(\"%w\")", name.schema, table->name);
  while( rc==SQLITE_OK && (rc = sqlite3_step(query))==SQLITE_ROW ) rc = add_column(table, query);
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  sqlite3_finalize(query);
  return rc;
}

/* Finds what identifies a row: a name of the rowid that no column has, and the column that
** is the rowid: the one of a PRIMARY KEY that has no index. */
static int find_row_name(bloom_table_name name, followed_table *table){
  sqlite3_stmt *query;
  const char *origin;
  int rc, i, has_index = 0;
  for(i=0; i<3 && table->row_name==NULL; i++){
    if( find_column(table, rowid_names[i]) ) continue;
    rc = sqlite3_table_column_metadata(name.db, name.schema, table->name, rowid_names[i], NULL, NULL, NULL, NULL, NULL);
    if( rc==SQLITE_OK ) table->row_name = rowid_names[i];
    else if( rc!=SQLITE_ERROR ) return rc; /* not that there is no such column */
  }
  if( table->num_keys!=1 ) return SQLITE_OK;
  rc = bloom_prepare(name.db, &query, "PRAGMA \"%w\".index_list(\"%w\")", name.schema, table->name);
  while( rc==SQLITE_OK && (rc = sqlite3_step(query))==SQLITE_ROW ){
    rc = bloom_column_text(query, 3, &origin);
    has_index |= sqlite3_stricmp(origin, "pk")==0; /* not so of NULL */
  }
  sqlite3_finalize(query);
  if( rc!=SQLITE_DONE ) return rc;
  for(i=0; i<table->num_columns && !has_index; i++){
    if( table->columns[i].key_number ){
      table->row_column = &table->columns[i];
      table->row_name = table->columns[i].name;
    }
  }
  return SQLITE_OK;
}

/* -- SQL text --------------------------------------------------------------------- */

/* A condition that finds the row of trigger's new or old: "t"."id" = new."id". */
static void append_row_condition(sqlite3_str *sql, const followed_table *table, const char *version){
  const char *glue = "";
  int i;
  if( table->row_name ){
    sqlite3_str_appendf(sql, "\"%w\".\"%w\" = %s.\"%w\"", table->name, table->row_name, version, table->row_name);
    return;
  }
  for(i=0; i<table->num_columns; i++){
    const char *column = table->columns[i].name;
    if( table->columns[i].key_number==0 ) continue;
    sqlite3_str_appendf(sql, "%s\"%w\".\"%w\" = %s.\"%w\"", glue, table->name, column, version, column);
    glue = " AND ";
  }
}

/* The new row under the table's name.  The first half has no rows, but gives the columns
** their affinities and collations, which new."column" has not all of; for an affinity of
** TEXT from 3.44 on the second half must be text too.  LIMIT keeps the two together. */
static void append_new_row(sqlite3_str *sql, const followed_table *table){
  int i;
  sqlite3_str_appendall(sql, "(SELECT ");
  for(i=0; i<table->num_columns; i++){
    sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"", i ? ", " : "", table->name, table->columns[i].name);
  }
  sqlite3_str_appendf(sql, " FROM \"%w\" WHERE 0 UNION ALL SELECT ", table->name);
  for(i=0; i<table->num_columns; i++){
    sqlite3_str_appendf(sql, "%snew.\"%w\"%s", i ? ", " : "", table->columns[i].name,
                        table->columns[i].kind==BLOOM_COLUMN_TEXT ? "||''" : "");
  }
  sqlite3_str_appendf(sql, " LIMIT 1) AS \"%w\"", table->name);
}

/* The key as it stands in a SELECT from the table.  The line's end closes a comment. */
static void append_key(sqlite3_str *sql, const bloom_table_args *args, const followed_table *table){
  if( args->is_column ){
    sqlite3_str_appendf(sql, "\"%w\".\"%w\"", table->name, args->key);
  }else{
    sqlite3_str_appendf(sql, "(%s\n)", args->key);
  }
}

static void append_where(sqlite3_str *sql, const bloom_table_args *args){
  if( args->where ) sqlite3_str_appendf(sql, "(%s\n)", args->where);
  else sqlite3_str_appendall(sql, "1");
}

/* SELECT key FROM the row that the table has as trigger's new or old. */
static void append_stored_key(
  sqlite3_str *sql, const bloom_table_args *args, const followed_table *table, const char *version
){
  sqlite3_str_appendall(sql, "SELECT ");
  append_key(sql, args, table);
  sqlite3_str_appendf(sql, " FROM \"%w\" WHERE ", table->name);
  append_row_condition(sql, table, version);
  sqlite3_str_appendall(sql, " AND ");
  append_where(sql, args);
}

/* SELECT key FROM the new row before it is stored. */
static void append_coming_key(sqlite3_str *sql, const bloom_table_args *args, const followed_table *table){
  sqlite3_str_appendall(sql, "SELECT ");
  append_key(sql, args, table);
  sqlite3_str_appendall(sql, " FROM ");
  append_new_row(sql, table);
  sqlite3_str_appendall(sql, " WHERE ");
  append_where(sql, args);
}

/* What the trigger of a column does. */
static void append_column_action(
  sqlite3_str *sql, bloom_table_name name, const char *column, bloom_table_trigger trigger
){
  switch( trigger ){
    case TRIGGER_BEFORE_INSERT:
    case TRIGGER_AFTER_INSERT:
      sqlite3_str_appendf(sql, " BEGIN INSERT INTO \"%w\"(key) VALUES (new.\"%w\")", name.table, column);
      break;
    case TRIGGER_BEFORE_UPDATE:
      sqlite3_str_appendf(sql, " WHEN new.\"%w\" IS NOT old.\"%w\" COLLATE BINARY"
        " BEGIN INSERT INTO \"%w\"(key, removed) VALUES (new.\"%w\", old.\"%w\")",
        column, column, name.table, column, column);
      break;
    case TRIGGER_AFTER_UPDATE:
      sqlite3_str_appendf(sql, " WHEN new.\"%w\" IS NOT old.\"%w\" COLLATE BINARY"
        " BEGIN INSERT INTO \"%w\"(key) VALUES (new.\"%w\")", column, column, name.table, column);
      break;
    case TRIGGER_BEFORE_DELETE:
    case NUM_TRIGGERS:
      sqlite3_str_appendf(sql, " BEGIN INSERT INTO \"%w\"(removed) VALUES (old.\"%w\")", name.table, column);
      break;
  }
}

/* What the trigger of an expression, or under a condition, does. */
static void append_expression_action(
  sqlite3_str *sql,
  bloom_table_name name,
  const bloom_table_args *args,
  const followed_table *table,
  bloom_table_trigger trigger
){
  switch( trigger ){
    case TRIGGER_BEFORE_INSERT:
      sqlite3_str_appendf(sql, " BEGIN INSERT INTO \"%w\"(key) ", name.table);
      append_coming_key(sql, args, table);
      break;
    case TRIGGER_AFTER_INSERT:
    case TRIGGER_AFTER_UPDATE:
      sqlite3_str_appendf(sql, " BEGIN INSERT INTO \"%w\"(key) ", name.table);
      append_stored_key(sql, args, table, "new");
      break;
    case TRIGGER_BEFORE_UPDATE:
      sqlite3_str_appendf(sql, " BEGIN INSERT INTO \"%w\"(key, removed) VALUES ((", name.table);
      append_coming_key(sql, args, table);
      sqlite3_str_appendall(sql, "), (");
      append_stored_key(sql, args, table, "old");
      sqlite3_str_appendall(sql, "))");
      break;
    case TRIGGER_BEFORE_DELETE:
    case NUM_TRIGGERS:
      sqlite3_str_appendf(sql, " BEGIN INSERT INTO \"%w\"(removed) ", name.table);
      append_stored_key(sql, args, table, "old");
      break;
  }
}

static int create_trigger(
  bloom_table_name name,
  const bloom_table_args *args,
  const followed_table *table,
  bloom_table_trigger trigger
){
  sqlite3_str *sql = sqlite3_str_new(name.db);
  sqlite3_str_appendf(sql, "CREATE TRIGGER \"%w\".\"%w_%s\" %s ON \"%w\"", name.schema, name.table,
                      trigger_rows[trigger].name, trigger_rows[trigger].event, table->name);
  if( args->is_column && args->where==NULL ) append_column_action(sql, name, args->key, trigger);
  else append_expression_action(sql, name, args, table, trigger);
  sqlite3_str_appendall(sql, "; END");
  return run_text(name.db, sqlite3_str_finish(sql));
}

static int create_view(bloom_table_name name, const bloom_table_args *args, const followed_table *table){
  sqlite3_str *sql = sqlite3_str_new(name.db);
  sqlite3_str_appendf(sql, "CREATE VIEW \"%w\".\"%w_keys\" AS SELECT ", name.schema, name.table);
  append_key(sql, args, table);
  sqlite3_str_appendf(sql, " AS key FROM \"%w\" WHERE ", table->name);
  append_where(sql, args);
  return run_text(name.db, sqlite3_str_finish(sql));
}

/* SQLite says whether an index could be made of the expression and the condition: of this
** table's columns alone, without subqueries, and the same at any time.  Nothing runs. */
static int check_as_index(bloom_table_name name, const bloom_table_args *args, const followed_table *table){
  sqlite3_str *sql = sqlite3_str_new(name.db);
  sqlite3_stmt *unused;
  int rc;
  sqlite3_str_appendf(sql, "CREATE INDEX \"%w\".\"%w_check\" ON \"%w\"(", name.schema, name.table, table->name);
  if( args->is_column ) sqlite3_str_appendf(sql, "\"%w\"", args->key);
  else sqlite3_str_appendf(sql, "(%s\n)", args->key);
  sqlite3_str_appendall(sql, ") WHERE ");
  append_where(sql, args);
  rc = prepare_text(name.db, &unused, sqlite3_str_finish(sql));
  sqlite3_finalize(unused);
  return rc;
}

/* -- Making ----------------------------------------------------------------------- */

/* The key's column, by its own name or as the rowid, and its rule. */
static int find_key_column(
  bloom_table_name name,
  const followed_table *table,
  const char *key,
  bloom_equality *rule,
  const followed_column **column,
  char **error
){
  const char *collation;
  int i, rc;
  *column = find_column(table, key);
  for(i=0; i<3 && *column==NULL; i++){
    if( sqlite3_stricmp(key, rowid_names[i])!=0 || table->row_name==NULL ) continue;
    *column = table->row_column;
    if( *column==NULL ) return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_ROWID, table->name));
  }
  if( *column==NULL ) return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_COLUMN, key, table->name));
  rc = sqlite3_table_column_metadata(name.db, name.schema, table->name, (*column)->name,
                                     NULL, &collation, NULL, NULL, NULL);
  if( rc!=SQLITE_OK ) return rc;
  rule->kind = (*column)->kind;
  if( !bloom_collation_named(collation, &rule->collation) ){
    return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_COLLATION, (*column)->name, table->name, collation));
  }
  return SQLITE_OK;
}

/* 1 if SQLite may choose a column's value after BEFORE triggers have run. */
static int is_decided_late(const followed_table *table, const followed_column *column){
  return column->is_generated || column->has_stand_in || column==table->row_column;
}

static int create_followers(
  bloom_table_name name,
  const bloom_table_args *given,
  bloom_table_config *config,
  char **error
){
  bloom_table_args args = *given;
  const int is_plain = args.is_column && args.where==NULL;
  followed_table table = {0};
  const followed_column *column = NULL;
  int rc, i;
  rc = find_table(name, args.table, &table, error);
  if( rc==SQLITE_OK ) rc = read_columns(name, &table);
  if( rc==SQLITE_OK ) rc = find_row_name(name, &table);
  if( rc==SQLITE_OK && args.is_column ) rc = find_key_column(name, &table, args.key, &config->rule, &column, error);
  if( column ) args.key = column->name;
  if( rc==SQLITE_OK && !is_plain && table.row_name==NULL && table.num_keys==0 ){
    rc = bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_NO_ROW_NAME, table.name));
  }
  if( rc==SQLITE_OK && !is_plain ) rc = check_as_index(name, &args, &table);
  if( rc==SQLITE_OK ) rc = create_view(name, &args, &table);
  for(i=0; i<NUM_TRIGGERS && rc==SQLITE_OK; i++){
    /* Of most plain columns BEFORE knows what is stored. */
    if( i==TRIGGER_AFTER_INSERT && is_plain && !is_decided_late(&table, column) ) continue;
    rc = create_trigger(name, &args, &table, (bloom_table_trigger)i);
    if( rc==SQLITE_OK ) config->triggers |= 1u << i;
  }
  if( rc!=SQLITE_OK ) failure(name.db, rc, error);
  free_followed(&table);
  return rc;
}

static int create_shadow_tables(bloom_table_name name){
  return bloom_run(name.db,
    "CREATE TABLE \"%w\".\"%w_config\"(format INTEGER PRIMARY KEY, is_following, kind, collation, triggers,"
    " bits_per_key, min_capacity, blocks_per_page, names_prefix, seal);"
    "CREATE TABLE \"%w\".\"%w_layers\"(layer INTEGER PRIMARY KEY, num_blocks, num_keys, num_removed, capacity,"
    " bits_per_key, rebuilt_at, seal);"
    "CREATE TABLE \"%w\".\"%w_pages\"(page INTEGER PRIMARY KEY, blocks)",
    name.schema, name.table, name.schema, name.table, name.schema, name.table);
}

/* 1 if an object of one of the names that are to be made is there already: then *error. */
static int refuse_names_in_use(bloom_table_name name, char **error){
  sqlite3_stmt *query;
  int rc = bloom_prepare(name.db, &query,
    "SELECT type, name FROM \"%w\".sqlite_master WHERE name COLLATE NOCASE IN ("
    "%Q||'_config', %Q||'_layers', %Q||'_pages', %Q||'_keys', %Q||'_check', %Q||'_before_insert',"
    " %Q||'_after_insert', %Q||'_before_update', %Q||'_after_update', %Q||'_before_delete')",
    name.schema, name.table, name.table, name.table, name.table, name.table, name.table, name.table,
    name.table, name.table, name.table);
  if( rc==SQLITE_OK ) rc = sqlite3_step(query);
  if( rc==SQLITE_ROW ){
    const char *type, *text;
    rc = bloom_column_text(query, 0, &type);
    if( rc==SQLITE_OK ) rc = bloom_column_text(query, 1, &text);
    if( rc==SQLITE_OK ) rc = bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_NAME_IN_USE, type, text));
  }else if( rc==SQLITE_DONE ){
    rc = SQLITE_OK;
  }
  sqlite3_finalize(query);
  return rc;
}

int bloom_table_schema_create(
  bloom_table_name name,
  const bloom_table_args *args,
  bloom_table_config *config,
  char **error
){
  sqlite3_int64 num_bytes = 0;
  int rc = refuse_names_in_use(name, error);
  if( rc!=SQLITE_OK ) return failure(name.db, rc, error);
  rc = bloom_query_integer(name.db, &num_bytes, "PRAGMA \"%w\".page_size", name.schema);
  config->names_prefix = sqlite3_mprintf("%s", name.table);
  if( config->names_prefix==NULL ) rc = SQLITE_NOMEM;
  config->is_following = args->table!=NULL;
  config->bits_per_key = args->bits_per_key;
  config->min_capacity = args->capacity>0 ? args->capacity : BLOOM_TABLE_MIN_CAPACITY;
  /* With the row around it and all that may be reserved in a page, a row fits in one. */
  config->blocks_per_page = num_bytes * 7 / 8 / 32;
  if( rc==SQLITE_OK ) rc = create_shadow_tables(name);
  if( rc==SQLITE_OK && args->table ) rc = create_followers(name, args, config, error);
  if( rc!=SQLITE_OK ){
    failure(name.db, rc, error);
    bloom_table_schema_drop(name, name.table);
  }
  return rc;
}

int bloom_table_schema_drop(bloom_table_name name, const char *names_prefix){
  int i, rc = SQLITE_OK;
  for(i=0; i<NUM_TRIGGERS && names_prefix && rc==SQLITE_OK; i++){
    rc = bloom_run(name.db, "DROP TRIGGER IF EXISTS \"%w\".\"%w_%s\"", name.schema, names_prefix, trigger_rows[i].name);
  }
  if( rc==SQLITE_OK && names_prefix ){
    rc = bloom_run(name.db, "DROP VIEW IF EXISTS \"%w\".\"%w_keys\"", name.schema, names_prefix);
  }
  for(i=0; i<NUM_SHADOW_TABLES && rc==SQLITE_OK; i++){
    rc = bloom_run(name.db, "DROP TABLE IF EXISTS \"%w\".\"%w_%s\"", name.schema, name.table, shadow_tables[i]);
  }
  return rc;
}

int bloom_table_schema_rename(bloom_table_name name, const char *new_name){
  int i, rc = SQLITE_OK;
  for(i=0; i<NUM_SHADOW_TABLES && rc==SQLITE_OK; i++){
    rc = bloom_run(name.db, "ALTER TABLE \"%w\".\"%w_%s\" RENAME TO \"%w_%s\"",
                   name.schema, name.table, shadow_tables[i], new_name, shadow_tables[i]);
  }
  return rc;
}

/* Reads a name in double quotes, if *text begins with one, into *name, to be freed, and puts
** *text behind it.  SQLITE_OK or SQLITE_NOMEM. */
static int read_quoted(const char **text, char **name){
  const char *at = *text;
  size_t num_chars = 0;
  if( *at!='"' ) return SQLITE_OK;
  *name = sqlite3_malloc64(strlen(at));
  if( *name==NULL ) return SQLITE_NOMEM;
  for(at++; *at; at++){
    if( *at=='"' && *++at!='"' ) break;
    (*name)[num_chars++] = *at;
  }
  (*name)[num_chars] = 0;
  *text = at;
  return SQLITE_OK;
}

/* Sets *is_same to whether the column that the view reads is one of this rule.  view_sql is
** the text of create_view(), in which SQLite keeps the names true. */
static int check_rule(bloom_table_name name, const bloom_table_config *config, const char *view_sql, int *is_same){
  char *begin = sqlite3_mprintf("CREATE VIEW \"%w_keys\" AS SELECT ", config->names_prefix);
  char *table = NULL, *column = NULL;
  const char *text, *type, *collation_name;
  bloom_collation collation;
  int rc = SQLITE_OK;
  *is_same = 0;
  if( begin==NULL ) return SQLITE_NOMEM;
  if( strncmp(view_sql, begin, strlen(begin))==0 ){
    text = view_sql + strlen(begin);
    rc = read_quoted(&text, &table);
    if( rc==SQLITE_OK && *text++=='.' ) rc = read_quoted(&text, &column);
  }
  if( rc==SQLITE_OK && table && column ){
    rc = sqlite3_table_column_metadata(name.db, name.schema, table, column, &type, &collation_name, NULL, NULL, NULL);
    if( rc==SQLITE_OK ){
      *is_same = bloom_column_kind_of(type)==config->rule.kind
        && bloom_collation_named(collation_name, &collation) && collation==config->rule.collation;
    }else if( rc==SQLITE_ERROR ){
      rc = SQLITE_OK; /* no such column */
    }
  }
  sqlite3_free(begin);
  sqlite3_free(table);
  sqlite3_free(column);
  return rc;
}

int bloom_table_schema_check(bloom_table_name name, const bloom_table_config *config, char **finding){
  sqlite3_stmt *query;
  const char *prefix = config->names_prefix, *view_sql;
  int i, num_triggers = 0, is_same = 1;
  int rc = bloom_prepare(name.db, &query,
    "SELECT count(*), count(DISTINCT t.tbl_name), max(v.sql)"
    " FROM \"%w\".sqlite_master AS t, \"%w\".sqlite_master AS v"
    " WHERE t.type = 'trigger' AND t.name IN (%Q||'_before_insert', %Q||'_after_insert', %Q||'_before_update',"
    " %Q||'_after_update', %Q||'_before_delete') AND v.type = 'view' AND v.name = %Q||'_keys'"
    " AND instr(lower(v.sql), lower(' FROM \"' || replace(t.tbl_name, '\"', '\"\"') || '\" WHERE '))",
    name.schema, name.schema, prefix, prefix, prefix, prefix, prefix, prefix);
  *finding = NULL;
  for(i=0; i<NUM_TRIGGERS; i++) num_triggers += (config->triggers >> i & 1u)!=0;
  if( rc==SQLITE_OK ) rc = sqlite3_step(query);
  if( rc==SQLITE_ROW ){
    const int is_there = sqlite3_column_int(query, 0)==num_triggers && sqlite3_column_int(query, 1)==1;
    rc = bloom_column_text(query, 2, &view_sql);
    if( rc==SQLITE_OK && is_there && config->rule.kind!=BLOOM_COLUMN_EXPRESSION ){
      rc = check_rule(name, config, view_sql, &is_same);
    }
    if( rc==SQLITE_OK && !(is_there && is_same) ){
      *finding = is_there ? sqlite3_mprintf(BLOOM_ERROR_TABLE_RULE, name.table, name.table)
                          : sqlite3_mprintf(BLOOM_ERROR_TABLE_TRIGGERS, name.table);
      if( *finding==NULL ) rc = SQLITE_NOMEM;
    }
  }
  sqlite3_finalize(query);
  return rc;
}

int bloom_table_schema_check_rename(
  bloom_table_name name,
  const bloom_table_config *config,
  const char *new_name,
  int *is_rewritten
){
  sqlite3_int64 count = 0;
  int rc = bloom_query_integer(name.db, &count,
    "SELECT count(*) FROM \"%w\".sqlite_master WHERE type = 'trigger' AND name = %Q||'_before_insert'"
    " AND instr(sql, '\"' || replace(%Q, '\"', '\"\"') || '\"')",
    name.schema, config->names_prefix, new_name);
  *is_rewritten = count>0;
  return rc;
}
