/*
** The source of a filter: the rules of its key, and whether the schema still is as it has to be.
**
** Answers are certain while the filter's triggers are there, on one table and before the guard, the
** key's columns are what they were, and nothing else stands on the journal.  The guard is a
** trigger on the journal that never fires.  SQLite compiles every statement anew when the schema
** changed, so xBestIndex looks, once for each version of it; xFilter does where xBestIndex could
** not.  Where something is in doubt, every key may be in the filter.
*/
#include "vtab_int.h"

#include <string.h>

/* -- Columns ----------------------------------------------------------------------------- */

/* What makes a column one that triggers do not see as it is stored. */
static int refuse_column(
  bloom_vtab *vtab, const bloom_source *source, const bloom_source_column *column, const char *what
){
  return bloom_vtab_fail(vtab, "bloom: column %s of table %s %s; use bloom_build(), or a filter of"
                               " your own and triggers: CREATE VIRTUAL TABLE f USING bloom();"
                               " CREATE TRIGGER f_insert AFTER INSERT ON %s BEGIN INSERT INTO"
                               " f(key) VALUES (new.%s); END; and the same AFTER UPDATE",
                         column->name, source->name, what, source->name, column->name);
}

/* Makes *name, to be freed, another one. */
static int replace_name(char **name, const char *other){
  char *copy = sqlite3_mprintf("%s", other);
  if( copy==NULL ) return SQLITE_NOMEM;
  sqlite3_free(*name);
  *name = copy;
  return SQLITE_OK;
}

/* Finds a key's column; *name is then as the schema has it. */
static int find_key_column(
  bloom_vtab *vtab, const bloom_source *source, char **name, const bloom_source_column **column
){
  const bloom_source_column *found = *column = bloom_source_find(source, *name);
  if( found==NULL && bloom_source_is_rowid_name(*name) ){
    return bloom_vtab_fail(vtab, "bloom: a filter has no rowids: SQLite may choose one after"
                                 " triggers have run, and VACUUM may change it");
  }
  if( found==NULL ){
    return bloom_vtab_fail(vtab, "bloom: there is no column %s in table %s", *name, source->name);
  }
  if( found==source->row_column ){
    return refuse_column(vtab, source, found, "is the rowid, which SQLite may choose after triggers"
                                              " have run, and which is looked up fast");
  }
  if( found->is_generated ){
    return refuse_column(vtab, source, found, "is generated, and may change after triggers have"
                                              " run");
  }
  return replace_name(name, found->name);
}

/* Fails where the DEFAULT cannot be foreseen, and notes what it is. */
static int check_default(
  bloom_vtab *vtab, const bloom_source *source, const bloom_source_column *column,
  bloom_vtab_args *args, bloom_vtab_layout *layout
){
  const char *text = column->default_value;
  sqlite3_stmt *row;
  int rc = bloom_source_prepare_default(vtab->connection, text, &row);
  const int has_value = row!=NULL;
  sqlite3_finalize(row);
  if( rc==SQLITE_NOTFOUND ){
    return refuse_column(vtab, source, column, "has a DEFAULT that is no constant, which OR REPLACE"
                                               " may store after triggers have run");
  }
  if( rc!=SQLITE_OK || !has_value ) return rc;
  if( args->num_columns>1 ){
    return refuse_column(vtab, source, column, "has a DEFAULT, which OR REPLACE may store after"
                                               " triggers have run, and cannot be in a key of"
                                               " several columns");
  }
  layout->default_checksum = bloom_checksum(text, strlen(text));
  return replace_name(&args->default_value, text);
}

/* Sets args->has_namesake. */
static int find_namesakes(bloom_vtab *vtab, const bloom_source *source, bloom_vtab_args *args){
  const bloom_vtab_args *made = &vtab->args;
  sqlite3_int64 has_table = 0;
  int i, rc = SQLITE_OK;
  args->has_namesake = 0;
  for(i=0; i<args->num_columns; i++){
    const bloom_source_column *found = bloom_source_find(source, made->columns[i]);
    args->has_namesake |= sqlite3_stricmp(args->columns[i], made->columns[i])!=0 && found
      && sqlite3_stricmp(found->name, made->columns[i])==0; /* not the rowid by its other names */
  }
  if( sqlite3_stricmp(args->table, made->table)!=0 ){
    /* Without a function: one that an authorizer denies is an error as of a table that is gone. */
    rc = bloom_sql_integer(vtab->connection, &has_table, "SELECT EXISTS(SELECT 1"
                           " FROM \"%w\".sqlite_master WHERE type IN ('table', 'view')"
                           " AND name = %Q COLLATE NOCASE)", vtab->schema, made->table);
  }
  args->has_namesake |= has_table!=0;
  return rc;
}

int bloom_vtab_read_source(bloom_vtab *vtab, bloom_vtab_args *args, bloom_vtab_layout *layout){
  bloom_source source;
  int i, rc = bloom_source_read(vtab->connection, vtab->schema, args->table, &source,
                                &vtab->base.zErrMsg);
  if( rc==SQLITE_OK ) rc = replace_name(&args->table, source.name);
  args->source_row = source.row;
  sqlite3_free(args->default_value);
  args->default_value = NULL;
  layout->default_checksum = 0;
  layout->rules.num_columns = args->num_columns;
  layout->rules.has_cells = args->num_columns>BLOOM_MAX_SURE_COLUMNS;
  for(i=0; i<args->num_columns && rc==SQLITE_OK; i++){
    const bloom_source_column *column;
    rc = find_key_column(vtab, &source, &args->columns[i], &column);
    if( rc!=SQLITE_OK ) break;
    rc = bloom_source_equality(&source, column, &layout->rules.columns[i], &vtab->base.zErrMsg);
    if( rc==SQLITE_OK ) rc = check_default(vtab, &source, column, args, layout);
  }
  if( rc==SQLITE_OK ) rc = find_namesakes(vtab, &source, args);
  bloom_source_free(&source);
  return bloom_vtab_failure(vtab, rc);
}

char *bloom_vtab_keys_sql(const bloom_vtab *vtab, const bloom_vtab_args *args, int is_count){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  const int is_one = args->num_columns==1;
  int i;
  if( is_count ) sqlite3_str_appendall(sql, "SELECT count(*)");
  for(i=0; !is_count && i<args->num_columns; i++){
    sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"", i ? ", " : "SELECT ", args->table,
                        args->columns[i]);
  }
  sqlite3_str_appendf(sql, " FROM \"%w\".\"%w\"", vtab->schema, args->table);
  /* No chain of AND: a program may limit the depth of expressions to 10. */
  sqlite3_str_appendall(sql, is_one ? " WHERE" : " WHERE CASE");
  for(i=0; i<args->num_columns; i++){
    sqlite3_str_appendf(sql, is_one ? " \"%w\".\"%w\" IS NOT NULL"
                                    : " WHEN \"%w\".\"%w\" IS NULL THEN 0", args->table,
                        args->columns[i]);
  }
  if( !is_one ) sqlite3_str_appendall(sql, " ELSE 1 END");
  return sqlite3_str_finish(sql);
}

/* -- Doubt ---------------------------------------------------------------------------------- */

#define HAS_OTHERS "its journal has a trigger, or an index, which has to go first"

/* Reads what stands on the journal: *journal and *guard are its place and the guard's, 0 if they
** are gone. */
static int check_journal(
  bloom_vtab *vtab, sqlite3_int64 *journal, sqlite3_int64 *guard, const char **doubt
){
  char *table_text = bloom_vtab_journal_text(vtab),
    *guard_text = bloom_guard_text(vtab->name, vtab->journal);
  sqlite3_stmt *row = NULL;
  int rc = table_text && guard_text ? bloom_sql_row(vtab->connection, &row,
      "SELECT total(type = 'table' AND sql = 'CREATE TABLE %q'), max(CASE sql WHEN %Q THEN rowid"
      " END), count(*), max(CASE type WHEN 'table' THEN rowid END) FROM \"%w\".sqlite_master"
      " WHERE tbl_name = %Q COLLATE NOCASE", table_text, guard_text, vtab->schema, vtab->journal)
    : SQLITE_NOMEM;
  sqlite3_free(table_text);
  sqlite3_free(guard_text);
  *journal = *guard = 0;
  if( rc==SQLITE_ROW ){
    const int has_table = sqlite3_column_int(row, 0);
    int has_others;
    *guard = sqlite3_column_int64(row, 1);
    *journal = sqlite3_column_int64(row, 3);
    has_others = sqlite3_column_int64(row, 2)>has_table + (*guard>0);
    if( !has_table ){
      *doubt = has_others ? "its journal is another table, which has to go first"
                          : "its journal is gone";
    }else if( has_others ){
      *doubt = HAS_OTHERS;
    }else if( *guard==0 ){
      *doubt = "its guard trigger is gone";
    }
  }
  return bloom_sql_end(row, rc);
}

/* Sets *doubt if a trigger of TEMP stands on the journal.  There may be the guard of a filter with
** the same name. */
static int check_temp(bloom_vtab *vtab, const char **doubt){
  char *guard_text = bloom_guard_text(vtab->name, vtab->journal);
  sqlite3_int64 has_trigger = 0;
  int rc = SQLITE_NOMEM;
  if( guard_text ){
    rc = bloom_sql_integer(vtab->connection, &has_trigger, "SELECT EXISTS(SELECT 1"
                           " FROM sqlite_temp_master WHERE CASE type WHEN 'trigger' THEN sql <> %Q"
                           " END AND tbl_name = %Q COLLATE NOCASE)", guard_text, vtab->journal);
  }
  sqlite3_free(guard_text);
  if( rc==SQLITE_OK && has_trigger ){
    *doubt = "a TEMP trigger of this connection is on its journal: drop that trigger";
  }
  return rc;
}

/* Sets *doubt unless the key's columns are what they were. */
static int check_columns(bloom_vtab *vtab, bloom_vtab_args *args, const char **doubt){
  const bloom_key_rules *rules = &vtab->layout.rules;
  bloom_vtab_layout now = vtab->layout;
  const int rc = bloom_vtab_read_source(vtab, args, &now);
  if( rc==SQLITE_ERROR ){
    bloom_vtab_forget_message(vtab);
    *doubt = "its column or its table is another now";
    return SQLITE_OK;
  }
  if( rc==SQLITE_OK && (memcmp(now.rules.columns, rules->columns,
                               (size_t)rules->num_columns * sizeof(rules->columns[0]))!=0
                        || now.default_checksum!=vtab->layout.default_checksum) ){
    *doubt = "its column changed its type, collation or DEFAULT";
  }
  return rc;
}

/* Marks the rows that prove that there is no doubt.  A source that was renamed has no mark: other
** changes than of these rows matter to it. */
static int mark_schema(
  bloom_vtab *vtab, const bloom_vtab_triggers *triggers, sqlite3_int64 journal, sqlite3_int64 guard
){
  int i;
  if( sqlite3_stricmp(triggers->args.table, vtab->args.table)!=0 ) return SQLITE_OK;
  for(i=0; i<triggers->num_triggers; i++) bloom_schema_mark_add(&vtab->mark, triggers->rows[i]);
  bloom_schema_mark_add(&vtab->mark, triggers->args.source_row);
  bloom_schema_mark_add(&vtab->mark, journal);
  bloom_schema_mark_add(&vtab->mark, guard);
  return bloom_schema_mark_end(vtab->connection, vtab->schema, &vtab->mark);
}

/* Sets *doubt to what the schema says, that of TEMP left out. */
static int find_doubt(bloom_vtab *vtab, const char **doubt){
  bloom_vtab_triggers triggers = {.num_triggers = 0};
  sqlite3_int64 journal = 0, guard = 0;
  int rc = bloom_schema_mark_begin(vtab->connection, vtab->schema, &vtab->mark);
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_triggers(vtab, &triggers);
  *doubt = NULL;
  if( rc==SQLITE_OK ){
    vtab->is_source_unknown = triggers.args.table==NULL;
    rc = check_journal(vtab, &journal, &guard, doubt);
    if( !triggers.are_all ) *doubt = BLOOM_VTAB_NO_TRIGGERS;
    else if( *doubt==NULL && guard<triggers.rows[triggers.num_triggers-1] ){
      *doubt = "its table was made again, or triggers of its own were";
    }
  }
  if( rc==SQLITE_OK && *doubt==NULL ) rc = check_columns(vtab, &triggers.args, doubt);
  vtab->has_namesake = rc==SQLITE_OK && *doubt==NULL && triggers.args.has_namesake;
  if( vtab->has_namesake ) *doubt = BLOOM_VTAB_HAS_NAMESAKE;
  if( rc==SQLITE_OK && *doubt==NULL ) rc = mark_schema(vtab, &triggers, journal, guard);
  bloom_vtab_args_free(&triggers.args);
  return rc;
}

/* Looks at what is of another version than when it was looked at last: temporary tables come and go
** more often than others. */
static int check_versions(bloom_vtab *vtab, sqlite3_int64 version, sqlite3_int64 temp_version){
  const int is_temp = sqlite3_stricmp(vtab->schema, "temp")==0;
  const int was_checked = vtab->is_checked
    && !bloom_database_may_be_swapped(vtab->connection->db, vtab->schema);
  const char *doubt = vtab->schema_doubt;
  int is_same = was_checked && vtab->checked_version==version, rc = SQLITE_OK;
  if( is_same && vtab->checked_temp_version==temp_version ) return SQLITE_OK;
  vtab->is_checked = 0;
  if( !is_same ) rc = bloom_vtab_read_layout(vtab);
  if( rc==SQLITE_OK && was_checked && !is_same && doubt==NULL ){
    rc = bloom_schema_mark_holds(vtab->connection, vtab->schema, &vtab->mark,
                                 version - vtab->checked_version, 1, vtab->journal, &is_same);
  }
  if( rc==SQLITE_OK && !is_same ){
    rc = find_doubt(vtab, &doubt);
    if( rc==SQLITE_OK ) vtab->schema_doubt = doubt;
  }
  if( rc==SQLITE_OK && doubt==NULL && !is_temp ) rc = check_temp(vtab, &doubt);
  vtab->is_checked = rc==SQLITE_OK;
  if( rc==SQLITE_OK ) vtab->doubt = doubt;
  vtab->checked_version = version;
  vtab->checked_temp_version = temp_version;
  return rc;
}

int bloom_vtab_check_schema(bloom_vtab *vtab, int *is_certain){
  bloom_connection *connection = vtab->connection;
  sqlite3_int64 version = 0, temp_version = 0, is_uncommitted = 0;
  int rc;
  *is_certain = 1;
  if( vtab->args.table==NULL ) return SQLITE_OK;
  *is_certain = 0;
  if( connection->is_running ) return SQLITE_OK; /* not now: it may be in it */
  rc = bloom_sql_integer(connection, &version, "PRAGMA \"%w\".schema_version", vtab->schema);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_integer(connection, &temp_version, "PRAGMA temp.schema_version");
  }
  if( rc==SQLITE_OK ){
    rc = bloom_sql_integer(connection, &is_uncommitted, "PRAGMA read_uncommitted");
  }
  vtab->is_uncommitted = is_uncommitted!=0;
  if( rc==SQLITE_OK ) rc = check_versions(vtab, version, temp_version);
  if( rc==SQLITE_OK ) vtab->checked_compiled = bloom_vtab_num_compiled(vtab);
  vtab->is_denied = (rc & 0xff)==SQLITE_AUTH;
  *is_certain = rc==SQLITE_OK && bloom_vtab_doubt(vtab)==NULL;
  return bloom_vtab_failure(vtab, rc);
}

const char *bloom_vtab_doubt(const bloom_vtab *vtab){
  if( vtab->is_denied ) return BLOOM_VTAB_DENIED_SCHEMA;
  /* A merge may be rolled back between the journal and the pages. */
  return vtab->doubt==NULL && vtab->is_uncommitted ? "PRAGMA read_uncommitted is on" : vtab->doubt;
}

char *bloom_vtab_say_doubt(const bloom_vtab *vtab, const char *why){
  const char *name = vtab->quoted_name;
  const int is_unknown = vtab->doubt && vtab->is_source_unknown;
  const int is_namesake = vtab->doubt && vtab->has_namesake;
  if( vtab->is_denied || (vtab->is_checked && vtab->doubt && vtab->schema_doubt==NULL)
      || (vtab->doubt==NULL && vtab->is_uncommitted) ){
    return sqlite3_mprintf(BLOOM_VTAB_SAYS_MAYBE " because %s", why);
  }
  return sqlite3_mprintf(BLOOM_VTAB_SAYS_MAYBE " because %s; INSERT INTO %s(%s) VALUES"
                         " ('rebuild') %s%s%s%s", why, name, name,
                         is_namesake ? "takes that one" : "repairs it",
                         is_unknown ? ", if its table is still called " : "",
                         is_unknown ? vtab->args.table : "",
                         is_unknown || is_namesake ? "; else drop it and create it again" : "");
}
