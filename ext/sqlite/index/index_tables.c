/*
** The tables of an index: making, renaming and dropping them.
*/
#include "index_source.h"

#include <string.h>

/* Besides these an index has one table of blocks for each indexed column. */
#define INDEX_NUM_TABLES 2
static const char *const table_suffixes[INDEX_NUM_TABLES] = {"state", "changed"};

/* The name of table number i, to be freed: first come those of table_suffixes[]. */
static char *tables_name(const bloom_index *index, int i){
  if( i<INDEX_NUM_TABLES ) return sqlite3_mprintf("%s_%s", index->name, table_suffixes[i]);
  return sqlite3_mprintf("%s_blocks_%d", index->name, i - INDEX_NUM_TABLES + 1);
}

/* What follows the name of table number i in its CREATE TABLE, to be freed. */
static char *tables_columns(const bloom_index *index, int i){
  sqlite3_str *sql;
  int key;
  if( i>=INDEX_NUM_TABLES ) return sqlite3_mprintf("(data BLOB)");
  /* An id is noted once.  No PRIMARY KEY, which would take it into changesets; an index of its
  ** own would keep the old name when the table is renamed. */
  if( i>0 ) return sqlite3_mprintf("%s", INDEX_CHANGED_COLUMNS);
  sql = sqlite3_str_new(NULL);
  sqlite3_str_appendall(sql, "(covered INTEGER, changed_rows INTEGER, note TEXT");
  for(key=1; key<=index->config.num_keys; key++){
    sqlite3_str_appendf(sql, ", blocks_%d INTEGER, bytes_%d INTEGER, fill_%d REAL", key, key, key);
  }
  sqlite3_str_appendall(sql, ", config BLOB, layout BLOB)");
  return sqlite3_str_finish(sql);
}

int bloom_index_tables_create(bloom_index *index, int *num_made){
  int i, rc = SQLITE_OK;
  for(i=0; i<INDEX_NUM_TABLES + index->config.num_keys && rc==SQLITE_OK; i++){
    char *name = tables_name(index, i), *columns = tables_columns(index, i);
    rc = name && columns ? bloom_sql_run(index->connection, "CREATE TABLE \"%w\".\"%w\"%s",
                                         index->schema, name, columns) : SQLITE_NOMEM;
    sqlite3_free(name);
    sqlite3_free(columns);
    if( rc==SQLITE_OK ) ++*num_made;
  }
  return rc;
}

/* The form of what follows the name of table number i: of whatever columns, and of bloom 1.1. */
static const char *tables_form(int i){
  return i==0 ? "(covered INTEGER, changed_rows INTEGER, note TEXT*" : i==1 ? INDEX_CHANGED_COLUMNS
    : "(data BLOB)";
}

int bloom_index_tables_own(const bloom_index *index, const char *name, const char *sql,
                           int *is_own){
  char *begin = sqlite3_mprintf("CREATE TABLE \"%w\"", name);
  int i;
  *is_own = 0;
  for(i=0; begin && i<bloom_index_num_tables(index) && !*is_own; i++){
    char *its_name = tables_name(index, i);
    if( its_name==NULL ) break;
    *is_own = sqlite3_stricmp(name, its_name)==0 && strncmp(sql, begin, strlen(begin))==0
      && sqlite3_strglob(tables_form(i), sql + strlen(begin))==0;
    sqlite3_free(its_name);
  }
  sqlite3_free(begin);
  return begin && (*is_own || i==bloom_index_num_tables(index)) ? SQLITE_OK : SQLITE_NOMEM;
}

/* index_drop() drops tables before triggers, for the reason that bloom_vtab_drop() gives. */
int bloom_index_tables_drop(bloom_index *index, int num_tables){
  int i, rc = SQLITE_OK;
  for(i=0; i<num_tables && rc==SQLITE_OK; i++){
    rc = bloom_sql_drop(index->connection, index->schema, tables_name(index, i), tables_form(i));
  }
  return rc;
}

int bloom_index_num_tables(const bloom_index *index){
  return INDEX_NUM_TABLES + index->config.num_keys;
}

int bloom_index_tables_drop_all(bloom_index *index){
  static const char *const others[] = {"canary", "config", "layout"}; /* the last two of 1.1 */
  int i, rc = bloom_index_tables_drop(index, INDEX_NUM_TABLES + index->num_blocks_tables);
  for(i=0; i<(index->is_of_1_1 ? 3 : 1) && rc==SQLITE_OK; i++){
    rc = bloom_sql_drop(index->connection, index->schema,
                        sqlite3_mprintf("%s_%s", index->name, others[i]),
                        i==0 ? INDEX_CANARY_FORM : "(data BLOB)");
  }
  return rc;
}

/* Renames a table, NAME_suffix; its name is freed. */
static int tables_rename_one(bloom_index *index, char *table, const char *new_name){
  int rc = SQLITE_NOMEM;
  if( table ){
    rc = bloom_sql_run(index->connection, "ALTER TABLE \"%w\".\"%w\" RENAME TO \"%w%w\"",
                       index->schema, table, new_name, table + strlen(index->name));
  }
  sqlite3_free(table);
  return rc;
}

int bloom_index_tables_rename(bloom_index *index, const char *new_name){
  sqlite3_int64 has_canary;
  int i, rc = bloom_index_canary_find(index, &has_canary);
  for(i=0; i<bloom_index_num_tables(index) && rc==SQLITE_OK; i++){
    rc = tables_rename_one(index, tables_name(index, i), new_name);
  }
  if( rc!=SQLITE_OK || !has_canary ) return rc;
  return tables_rename_one(index, sqlite3_mprintf("%s_canary", index->name), new_name);
}
