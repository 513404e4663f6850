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

#include "../errors.h"

/* -- Columns ----------------------------------------------------------------------------- */

/* What makes a column one that triggers do not see as it is stored. */
static int refuse_column(
  const bloom_source *source, const bloom_source_column *column, const char *what, char **error
){
  return bloom_fail_vtab(error, "bloom: column %s of table %s %s; use bloom_build(), or a filter of"
                                " your own and triggers: CREATE VIRTUAL TABLE f USING bloom();"
                                " CREATE TRIGGER f_insert AFTER INSERT ON %s BEGIN INSERT INTO"
                                " f(key) VALUES (new.%s); END; and the same AFTER UPDATE",
                         column->name, source->name, what, source->name, column->name);
}

int bloom_vtab_add_default(
  bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, bloom_vtab_batch *batch
){
  sqlite3_stmt *row;
  int rc;
  if( args->num_columns>1 ) return SQLITE_OK;
  rc = bloom_source_prepare_default(source, bloom_source_find(source, args->columns[0]), &row);
  while( rc==SQLITE_OK && row && (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    rc = bloom_vtab_batch_add(batch, row, 0);
  }
  return bloom_sql_end(row, rc);
}

/* Finds a key's column; *name is then as the schema has it. */
static int find_key_column(
  const bloom_source *source, char **name, const bloom_source_column **column, char **error
){
  const bloom_source_column *found = bloom_source_find(source, *name);
  char *as_declared;
  if( found==NULL && bloom_source_is_rowid_name(*name) ){
    return bloom_fail_vtab(error, "bloom: a filter has no rowids: SQLite may choose one after"
                                  " triggers have run, and VACUUM may change it");
  }
  if( found==NULL ){
    return bloom_fail_vtab(error, "bloom: there is no column %s in table %s", *name, source->name);
  }
  if( found==source->row_column ){
    return refuse_column(source, found,
                         "is the rowid, which SQLite may choose after triggers have run, "
                         "and which is looked up fast", error);
  }
  if( found->is_generated ){
    return refuse_column(source, found, "is generated, and may change after triggers have run",
                         error);
  }
  as_declared = sqlite3_mprintf("%s", found->name);
  if( as_declared==NULL ) return SQLITE_NOMEM;
  sqlite3_free(*name);
  *name = as_declared;
  *column = found;
  return SQLITE_OK;
}

/* Fails where the DEFAULT cannot be foreseen, and notes what it is. */
static int check_default(
  const bloom_source *source, const bloom_source_column *column, bloom_vtab_layout *layout,
  char **error
){
  sqlite3_stmt *row;
  int rc = bloom_source_prepare_default(source, column, &row);
  if( rc==SQLITE_NOTFOUND ){
    rc = refuse_column(source, column,
                       "has a DEFAULT that is no constant, which OR REPLACE may store after"
                       " triggers have run", error);
  }
  if( rc==SQLITE_OK && row && layout->rules.num_columns>1 ){
    rc = refuse_column(source, column,
                       "has a DEFAULT, which OR REPLACE may store after triggers have run, and"
                       " cannot be in a key of several columns", error);
  }
  if( row ){
    layout->default_checksum = bloom_checksum(column->default_value, strlen(column->default_value));
  }
  sqlite3_finalize(row);
  return rc;
}

int bloom_vtab_read_source(
  bloom_vtab *vtab, bloom_vtab_args *args, bloom_source *source, bloom_vtab_layout *layout,
  char **error
){
  int i, rc = bloom_source_read(vtab->connection, vtab->schema, args->table, source, error);
  layout->default_checksum = 0;
  layout->rules.num_columns = args->num_columns;
  for(i=0; i<args->num_columns && rc==SQLITE_OK; i++){
    const bloom_source_column *column = NULL;
    rc = find_key_column(source, &args->columns[i], &column, error);
    if( rc!=SQLITE_OK || column==NULL ) break;
    rc = bloom_source_equality(source, column, &layout->rules.columns[i], error);
    if( rc==SQLITE_OK ) rc = check_default(source, column, layout, error);
  }
  return bloom_source_failure(vtab->connection->db, rc, error);
}

int bloom_vtab_prepare_keys(
  bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, int is_count,
  sqlite3_stmt **row
){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  int i;
  if( is_count ) sqlite3_str_appendall(sql, "SELECT count(*)");
  for(i=0; !is_count && i<args->num_columns; i++){
    sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"", i ? ", " : "SELECT ", source->name,
                        args->columns[i]);
  }
  sqlite3_str_appendf(sql, " FROM \"%w\".\"%w\"", source->schema, source->name);
  for(i=0; i<args->num_columns; i++){
    sqlite3_str_appendf(sql, " %s \"%w\".\"%w\" IS NOT NULL", i ? "AND" : "WHERE", source->name,
                        args->columns[i]);
  }
  return bloom_sql_prepare_text(vtab->connection, row, sqlite3_str_finish(sql));
}

/* -- Doubt ---------------------------------------------------------------------------------- */

/* Reads what stands on the journal: *guard is the guard's place, 0 if it is gone. */
static int check_journal(bloom_vtab *vtab, sqlite3_int64 *guard, const char **doubt){
  char *table_text = bloom_vtab_journal_text(vtab),
    *guard_text = bloom_guard_text(vtab->name, vtab->journal);
  sqlite3_int64 num_others = 0;
  sqlite3_stmt *row = NULL;
  int has_table = 0, rc = table_text && guard_text ? bloom_sql_prepare(vtab->connection, &row,
      "SELECT total(type = 'table' AND sql = 'CREATE TABLE %q'), max(CASE sql WHEN %Q THEN rowid"
      " END), count(*) + (SELECT count(*) FROM sqlite_temp_master WHERE type = 'trigger'"
      " AND tbl_name = %Q COLLATE NOCASE AND '%q' <> 'temp' COLLATE NOCASE)"
      " FROM \"%w\".sqlite_master WHERE tbl_name = %Q COLLATE NOCASE", table_text, guard_text,
      vtab->journal, vtab->schema, vtab->schema, vtab->journal) : SQLITE_NOMEM;
  sqlite3_free(table_text);
  sqlite3_free(guard_text);
  *guard = 0;
  if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, row);
  if( rc==SQLITE_ROW ){
    has_table = sqlite3_column_int(row, 0);
    *guard = sqlite3_column_int64(row, 1);
    num_others = sqlite3_column_int64(row, 2) - has_table - (*guard>0);
  }
  rc = bloom_sql_end(row, rc);
  if( rc!=SQLITE_OK ) return rc;
  if( !has_table ) *doubt = num_others ? "its journal is another table" : "its journal is gone";
  else if( num_others>0 ) *doubt = "its journal has a trigger or an index";
  else if( *guard==0 ) *doubt = "its guard trigger is gone";
  return SQLITE_OK;
}

/* Sets *doubt unless the key's columns are what they were. */
static int check_columns(bloom_vtab *vtab, bloom_vtab_args *args, const char **doubt){
  bloom_source source = {.num_columns = 0};
  bloom_vtab_layout now = vtab->layout;
  char *error = NULL;
  int rc = bloom_vtab_read_source(vtab, args, &source, &now, &error);
  if( rc==SQLITE_OK && (memcmp(now.rules.columns, vtab->layout.rules.columns,
                               (size_t)now.rules.num_columns * sizeof(now.rules.columns[0]))!=0
   || now.default_checksum!=vtab->layout.default_checksum) ){
    *doubt = "its column changed its type, collation or DEFAULT";
  }
  if( rc==SQLITE_ERROR ){
    *doubt = "its column or its table is another now";
    rc = SQLITE_OK;
  }
  sqlite3_free(error);
  bloom_source_free(&source);
  return rc;
}

static int find_doubt(bloom_vtab *vtab, const char **doubt){
  bloom_vtab_triggers triggers;
  sqlite3_int64 guard;
  int rc = bloom_vtab_read_triggers(vtab, &triggers);
  *doubt = NULL;
  if( rc==SQLITE_OK ){
    vtab->is_source_unknown = triggers.args.table==NULL;
    rc = check_journal(vtab, &guard, doubt);
    if( !triggers.are_all ) *doubt = "triggers of its own are gone, or their table is";
    else if( *doubt==NULL && guard<triggers.last ){
      *doubt = "its table was made again, or triggers of its own were";
    }
  }
  if( rc==SQLITE_OK && *doubt==NULL ) rc = check_columns(vtab, &triggers.args, doubt);
  bloom_vtab_args_free(&triggers.args);
  return rc;
}

int bloom_vtab_check_schema(bloom_vtab *vtab, int *is_certain){
  sqlite3_int64 version = 0, temp_version = 0, is_uncommitted = 0;
  const char *doubt;
  int rc;
  *is_certain = 1;
  if( vtab->args.table==NULL ) return SQLITE_OK;
  *is_certain = 0;
  if( vtab->connection->is_running ) return SQLITE_OK; /* not now: it may be in it */
  rc = bloom_sql_integer(vtab->connection, &version, "PRAGMA \"%w\".schema_version", vtab->schema);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_integer(vtab->connection, &temp_version, "PRAGMA temp.schema_version");
  }
  if( rc==SQLITE_OK ){
    rc = bloom_sql_integer(vtab->connection, &is_uncommitted, "PRAGMA read_uncommitted");
  }
  vtab->is_uncommitted = is_uncommitted!=0;
  if( rc==SQLITE_OK && (!vtab->is_checked || vtab->checked_version!=version
                        || vtab->checked_temp_version!=temp_version
   || bloom_database_may_be_swapped(vtab->connection->db, vtab->schema)) ){
    vtab->is_checked = 0;
    rc = bloom_vtab_read_layout(vtab);
    if( rc!=SQLITE_OK ) return rc;
    rc = find_doubt(vtab, &doubt);
    vtab->is_checked = rc==SQLITE_OK;
    if( rc==SQLITE_OK ) vtab->doubt = doubt;
    vtab->checked_version = version;
    vtab->checked_temp_version = temp_version;
  }
  if( rc==SQLITE_OK ) vtab->checked_compiled = bloom_vtab_num_compiled(vtab);
  *is_certain = rc==SQLITE_OK && bloom_vtab_doubt(vtab)==NULL;
  return bloom_vtab_failure(vtab, rc);
}

const char *bloom_vtab_doubt(const bloom_vtab *vtab){
  /* A merge may be rolled back between the journal and the pages. */
  return vtab->doubt==NULL && vtab->is_uncommitted ? "PRAGMA read_uncommitted is on" : vtab->doubt;
}

char *bloom_vtab_say_doubt(const bloom_vtab *vtab, const char *why){
  const char *name = vtab->quoted_name;
  if( vtab->doubt==NULL && vtab->is_uncommitted ){
    return sqlite3_mprintf("every key may be in it, because %s", why);
  }
  if( vtab->doubt && vtab->is_source_unknown ){
    return sqlite3_mprintf("every key may be in it, because %s; INSERT INTO %s(%s) VALUES"
                           " ('rebuild') repairs it, if its table is still called %s; else drop it"
                           " and create it again", why, name, name, vtab->args.table);
  }
  return sqlite3_mprintf("every key may be in it, because %s; INSERT INTO %s(%s) VALUES"
                         " ('rebuild') repairs it", why, name, name);
}
