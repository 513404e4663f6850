/*
** What has the names of a filter's tables and triggers already.
**
** A tool without bloom copies tables and triggers of a filter, and not the virtual table.  CREATE
** takes over what a mark inside tells to be such a filter's; and what is not, it names, with the
** SQL that takes it out of the way.
*/
#include "vtab_int.h"

#include <string.h>

/* -- What was left ------------------------------------------------------------------------- */

/* Sets *is_own to whether a table has a name, and a text behind CREATE TABLE, which is freed. */
static int has_text(const bloom_vtab *vtab, const char *name, char *text, int *is_own){
  sqlite3_int64 is_same = 0;
  const int rc = text ? bloom_sql_integer(vtab->connection, &is_same,
      "SELECT 1 FROM \"%w\".sqlite_master WHERE type = 'table' AND rootpage > 0"
      " AND name = %Q COLLATE NOCASE AND sql = 'CREATE TABLE %q'", vtab->schema, name, text)
    : SQLITE_NOMEM;
  sqlite3_free(text);
  *is_own = is_same!=0;
  return rc;
}

/* Finds pages: they are own if they have no row, or the layout of such a filter. */
static int find_left_pages(bloom_vtab *vtab, int *is_own, int *has_keys){
  sqlite3_int64 has_rows = 0;
  int rc = has_text(vtab, vtab->pages,
                    sqlite3_mprintf("\"%w\"" BLOOM_VTAB_PAGES_COLUMNS, vtab->pages), is_own);
  *has_keys = 0;
  if( rc!=SQLITE_OK || !*is_own ) return rc;
  rc = bloom_sql_integer(vtab->connection, &has_rows, "SELECT 1 FROM \"%w\".\"%w\" LIMIT 1",
                         vtab->schema, vtab->pages);
  if( rc!=SQLITE_OK || !has_rows ) return rc;
  /* The mark: the layout of a filter that has as many columns. */
  rc = bloom_vtab_read_layout(vtab);
  bloom_vtab_close_reader(vtab);
  *is_own = *has_keys = rc==SQLITE_OK;
  if( rc!=SQLITE_ERROR && rc!=SQLITE_CORRUPT_VTAB ) return rc;
  bloom_vtab_forget_message(vtab);
  return SQLITE_OK;
}

/* Sets *is_own to whether the journal's table was left by a filter: it has no row, or the first one
** has a number alone, or a trigger of the filter's writes to it. */
static int find_left_journal(bloom_vtab *vtab, int *is_own){
  const char *key = vtab->args.num_columns>1 ? "key_1" : "key";
  sqlite3_int64 has_mark = 1;
  bloom_triggers triggers;
  int rc;
  *is_own = 0;
  if( vtab->args.table==NULL ) return SQLITE_OK;
  rc = has_text(vtab, vtab->journal, bloom_vtab_journal_text(vtab), is_own);
  if( rc!=SQLITE_OK || !*is_own ) return rc;
  rc = bloom_sql_integer(vtab->connection, &has_mark, "SELECT typeof(r) = 'integer' AND %s IS NULL"
                         " FROM \"%w\".\"%w\" ORDER BY rowid LIMIT 1", key, vtab->schema,
                         vtab->journal);
  if( rc!=SQLITE_OK || has_mark ) return rc;
  rc = bloom_triggers_read_own(vtab->connection, vtab->schema, bloom_vtab_is_own_trigger, vtab,
                               &triggers);
  *is_own = triggers.num_rows>0;
  bloom_triggers_free(&triggers);
  return rc;
}

int bloom_vtab_find_left(bloom_vtab *vtab, bloom_vtab_left *left){
  int rc;
  *left = (bloom_vtab_left){0};
  rc = find_left_pages(vtab, &left->are_own_pages, &left->have_keys);
  return rc==SQLITE_OK ? find_left_journal(vtab, &left->is_own_journal) : rc;
}

/* -- What is in the way -------------------------------------------------------------------- */

/* Sets *is_own to whether what may be in the way is a trigger of the filter's, or a guard on its
** journal. */
static int is_own_object(const bloom_vtab *vtab, sqlite3_stmt *row, int *is_own){
  const char *type, *name = NULL, *table = NULL, *sql = NULL;
  int rc = bloom_sql_column_text(row, 0, &type);
  *is_own = 0;
  if( rc!=SQLITE_OK || strcmp(type, "trigger")!=0 ) return rc;
  rc = bloom_sql_column_text(row, 1, &name);
  if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 2, &table);
  if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 3, &sql);
  if( rc!=SQLITE_OK || name==NULL || table==NULL || sql==NULL ) return rc;
  return sqlite3_stricmp(table, vtab->journal)==0
    ? bloom_guard_is_own(NULL, name, table, sql, is_own)
    : bloom_vtab_is_own_trigger(vtab, name, table, sql, is_own);
}

/* Appends what takes an object out of the way.  No table is dropped: it may have the only copy of a
** standalone filter's keys, and CREATE of the new name takes them over. */
static int append_cure(
  const bloom_vtab *vtab, sqlite3_str *cure, const char *type, const char *name
){
  static const char suffix[] = "_pages";
  const int is_table = strcmp(type, "table")==0;
  const size_t num_chars = strlen(name), end = sizeof(suffix) - 1;
  const int has_suffix = num_chars>end && sqlite3_stricmp(name + num_chars - end, suffix)==0;
  char *schema = bloom_sql_name(vtab->schema), *old_name = bloom_sql_name(name);
  char *kept = sqlite3_mprintf("%.*s_kept%s", (int)(num_chars - (has_suffix ? end : 0)), name,
                               has_suffix ? suffix : "");
  char *new_name = kept ? bloom_sql_name(kept) : NULL;
  const int is_main = sqlite3_stricmp(vtab->schema, "main")==0;
  const int has_memory = schema && old_name && new_name;
  if( has_memory ){
    sqlite3_str_appendf(cure, "%s%s %s%s%s", sqlite3_str_length(cure) ? "; " : "",
                        is_table ? "ALTER TABLE" : strcmp(type, "view")==0 ? "DROP VIEW"
                        : strcmp(type, "index")==0 ? "DROP INDEX" : "DROP TRIGGER",
                        is_main ? "" : schema, is_main ? "" : ".", old_name);
    if( is_table ) sqlite3_str_appendf(cure, " RENAME TO %s", new_name);
  }
  sqlite3_free(schema);
  sqlite3_free(old_name);
  sqlite3_free(kept);
  sqlite3_free(new_name);
  return has_memory ? SQLITE_OK : SQLITE_NOMEM;
}

/* Goes through what may be in the way: appends the names of what is, and their number, and the SQL
** that takes all of it out of the way.  Triggers of the filter's own come along on CREATE: they
** would go on writing to the table that gets another name. */
static int list_obstacles(
  const bloom_vtab *vtab, sqlite3_stmt *row, int is_create, sqlite3_str *names, sqlite3_str *cure,
  int *num_obstacles
){
  int is_own, rc = SQLITE_OK;
  while( rc==SQLITE_OK && (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    const char *type = NULL, *name = NULL;
    rc = is_own_object(vtab, row, &is_own);
    if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 0, &type);
    if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 1, &name);
    if( rc==SQLITE_OK && (type==NULL || name==NULL) ) rc = SQLITE_AUTH; /* it hides them */
    if( rc!=SQLITE_OK || (is_own && !is_create) ) continue;
    rc = append_cure(vtab, cure, type, name);
    if( is_own ) continue;
    sqlite3_str_appendf(names, "%s%s %s", *num_obstacles ? ", " : "", type, name);
    ++*num_obstacles;
  }
  return rc;
}

int bloom_vtab_refuse_what_is_in_the_way(
  bloom_vtab *vtab, bloom_vtab_change change, bloom_vtab_left left
){
  const int has_source = vtab->args.table!=NULL, is_rename = change==BLOOM_VTAB_RENAME;
  const int is_create = change==BLOOM_VTAB_CREATE;
  char *pages = sqlite3_mprintf("\"%w\"" BLOOM_VTAB_PAGES_COLUMNS, vtab->pages);
  char *journal = bloom_vtab_journal_text(vtab);
  char *triggers = bloom_vtab_trigger_names(vtab);
  sqlite3_str *names = sqlite3_str_new(NULL), *cure = sqlite3_str_new(NULL);
  char *names_text, *cure_text;
  sqlite3_stmt *row = NULL;
  int num_obstacles = 0, rc = pages && journal && triggers ? bloom_sql_prepare(vtab->connection,
      &row, "SELECT type, name, tbl_name, sql FROM \"%w\".sqlite_master WHERE"
      " (%d AND type <> 'trigger' AND name = %Q COLLATE NOCASE)"
      " OR (%d AND type <> 'trigger' AND name = %Q COLLATE NOCASE)"
      " OR (%d AND type IN ('table', 'view') AND name = %Q COLLATE NOCASE"
        " AND sql IS NOT 'CREATE TABLE %q')"
      " OR (type IN ('table', 'view') AND name = %Q COLLATE NOCASE"
        " AND sql IS NOT 'CREATE TABLE %q')"
      " OR (%d AND type = 'index' AND tbl_name COLLATE NOCASE IN (%Q, %Q)"
        " AND name NOT LIKE 'sqlite_autoindex%%')"
      " OR (%d AND type = 'trigger' AND (tbl_name = %Q COLLATE NOCASE"
        " OR name COLLATE NOCASE IN (%s)))"
      " ORDER BY type <> 'trigger', type <> 'index', name",
      vtab->schema, is_create && !left.are_own_pages, vtab->pages,
      is_create && !left.is_own_journal,
      vtab->journal, has_source, vtab->journal, journal, vtab->pages, pages, !is_rename,
      vtab->pages, vtab->journal, has_source && !is_rename, vtab->journal,
      triggers) : SQLITE_NOMEM;
  sqlite3_free(pages);
  sqlite3_free(journal);
  sqlite3_free(triggers);
  if( rc==SQLITE_OK ) rc = list_obstacles(vtab, row, is_create, names, cure, &num_obstacles);
  rc = bloom_sql_end(row, rc);
  names_text = sqlite3_str_finish(names);
  cure_text = sqlite3_str_finish(cure);
  if( rc==SQLITE_OK && num_obstacles>0 ){
    rc = names_text && cure_text ? bloom_vtab_fail(vtab, "bloom: %s %s in the way of %s: %s",
        names_text, num_obstacles>1 ? "are" : "is", vtab->name, cure_text) : SQLITE_NOMEM;
  }
  sqlite3_free(names_text);
  sqlite3_free(cure_text);
  return rc;
}
