/*
** Taking a filter away, one of bloom 1.0 too.
**
** That one kept it in name_config, name_layers and name_pages, and the source's keys in a view
** prefix_keys, where prefix is the filter's first name.  Nothing of it is read: a user is told to
** make the filter again.
*/
#include "vtab_int.h"

#include "../errors.h"

/* Drops the table of the filter's name and suffix, or the view in its place.  What is neither is
** another's. */
static int drop_table(const bloom_vtab *vtab, const char *suffix){
  sqlite3_int64 is_view = -1;
  const int rc = bloom_sql_integer(vtab->connection, &is_view, "SELECT type = 'view' FROM \"%w\".sqlite_master"
    " WHERE (type = 'view' OR (type = 'table' AND rootpage > 0)) AND name = '%q%s' COLLATE NOCASE",
    vtab->schema, vtab->name, suffix);
  if( rc!=SQLITE_OK || is_view<0 ) return rc;
  return bloom_sql_run(vtab->connection, "DROP %s \"%w\".\"%w%s\"", is_view ? "VIEW" : "TABLE", vtab->schema,
                       vtab->name, suffix);
}

/* Sets *is_old to whether the filter is one of 1.0, by its table name_config. */
static int find_old(const bloom_vtab *vtab, sqlite3_int64 *is_old){
  *is_old = 0;
  return bloom_sql_integer(vtab->connection, is_old, "SELECT 1 FROM \"%w\".sqlite_master"
    " WHERE type = 'table' AND rootpage > 0 AND name = '%q_config' COLLATE NOCASE"
    " AND sql LIKE '%%(format INTEGER PRIMARY KEY, is_following, %%, names_prefix, seal)'", vtab->schema, vtab->name);
}

int bloom_vtab_refuse_old(bloom_vtab *vtab){
  sqlite3_int64 is_old;
  const int rc = find_old(vtab, &is_old);
  if( rc!=SQLITE_OK || !is_old ) return rc;
  return bloom_fail_vtab(&vtab->base.zErrMsg, "bloom: %s was made by bloom 1.0: DROP TABLE %s, and create it again",
                                              vtab->name, vtab->name);
}

/* Drops the view of the keys, which would stand in the way of ALTER TABLE.  It is 1.0's if its
** text begins like that. */
static int drop_view(const bloom_vtab *vtab){
  sqlite3_stmt *row;
  char *name = NULL;
  int rc = bloom_sql_prepare(vtab->connection, &row,
    "SELECT v.name FROM \"%w\".\"%w_config\" AS c JOIN \"%w\".sqlite_master AS v ON v.name = c.names_prefix||'_keys'"
    " WHERE v.type = 'view' AND v.sql LIKE 'CREATE VIEW \"%%\" AS SELECT %% AS key FROM %%'",
    vtab->schema, vtab->name, vtab->schema);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, row);
  if( rc==SQLITE_ROW ) rc = bloom_sql_copy_text(row, 0, &name);
  sqlite3_finalize(row);
  if( bloom_sql_is_fatal(rc) ) return rc;
  /* A damaged config does not keep the rest from being dropped. */
  rc = name ? bloom_sql_run(vtab->connection, "DROP VIEW \"%w\".\"%w\"", vtab->schema, name) : SQLITE_OK;
  sqlite3_free(name);
  return rc;
}

/* Drops what bloom 1.0 made and later versions do not. */
static int drop_old(const bloom_vtab *vtab){
  sqlite3_int64 is_old;
  int rc = find_old(vtab, &is_old);
  if( rc!=SQLITE_OK || !is_old ) return rc;
  rc = drop_view(vtab);
  if( rc==SQLITE_OK ) rc = drop_table(vtab, "_layers");
  return rc==SQLITE_OK ? drop_table(vtab, "_config") : rc;
}

/* Tables go before triggers: SQLite refuses to drop a table while a query is open.  Were triggers gone by
** then, it would put them back, but read the schema anew in the middle of a later statement. */
int bloom_vtab_drop(const bloom_vtab *vtab){
  bloom_triggers triggers;
  int rc = bloom_vtab_read_triggers(vtab, &triggers);
  if( rc==SQLITE_OK ) rc = drop_old(vtab);
  if( rc==SQLITE_OK ) rc = drop_table(vtab, "_pages");
  if( rc==SQLITE_OK && vtab->args.table ) rc = drop_table(vtab, "_guard");
  if( rc==SQLITE_OK && vtab->args.table ) rc = bloom_triggers_drop(vtab->connection, vtab->schema, &triggers);
  bloom_triggers_free(&triggers);
  return rc;
}
