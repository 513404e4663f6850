/*
** The tables of an index: making, renaming and dropping them.
**
** SQLite up to 3.40 takes for a shadow table's suffix what stands behind the last underscore of its
** name, so that the number of a column follows without one.  Rowids of entries must stay as they
** are: VACUUM gives other ones to the rows of a table without an index and INTEGER PRIMARY KEY.  A
** PRIMARY KEY would take the tables into changesets; so those of entries and zones have an
** index, which is empty.
*/
#include "index_source.h"

#include <string.h>

/* Besides these an index has one table for each indexed column. */
#define INDEX_NUM_TABLES 3
static const char *const table_suffixes[INDEX_NUM_TABLES] = {"state", "changed", "spans"};

/* The first ones are there in bloom 1.2, too; its tables of columns are NAME_blocks_N. */
#define INDEX_TABLES_OF_1_2 2

/* The columns of these.  An id is noted once.  No PRIMARY KEY, which would take it into changesets;
** an index of its own would keep the old name when the table is renamed. */
#define INDEX_DATA_COLUMN "(data BLOB)"
static const char *const table_columns[INDEX_NUM_TABLES] = {
  "(covered INTEGER, note TEXT, bytes INTEGER, config BLOB, layout BLOB)",
  INDEX_CHANGED_COLUMNS,
  INDEX_DATA_COLUMN
};

const char *bloom_index_table_suffix(const index_key *key){
  return key->is_range ? "zones" : "entries";
}

/* == NAME_canary ======================================================================= */

/*
** NAME_canary is there if the source has hidden rowids, which VACUUM and dumps may change: they
** give its one row, of rowid 7, another one too.  Backups and VACUUM INTO keep both.
*/
#define CANARY_ROWID 7

/* Sets *is_there to whether NAME_canary is: a table or a view of the user's may have that name. */
static int canary_find(bloom_index *index, sqlite3_int64 *is_there){
  *is_there = 0;
  return bloom_sql_integer(index->connection, is_there, "SELECT 1 FROM \"%w\".sqlite_master"
                           " WHERE type = 'table' AND rootpage > 0"
                           " AND name = '%q_canary' COLLATE NOCASE AND sql GLOB '"
                           INDEX_CANARY_FORM "'", index->schema, index->name);
}

int bloom_index_canary_write(bloom_index *index){
  sqlite3_int64 is_there;
  int rc;
  if( !index->config.has_hidden_ids ) return SQLITE_OK;
  rc = canary_find(index, &is_there);
  if( rc==SQLITE_OK ){
    /* CREATE fails where the name is taken. */
    rc = bloom_sql_run(index->connection, is_there ? "DELETE FROM \"%w\".\"%w_canary\""
                       : "CREATE TABLE \"%w\".\"%w_canary\"(" INDEX_CANARY_COLUMN ")",
                       index->schema, index->name);
  }
  if( rc!=SQLITE_OK ) return rc;
  return bloom_sql_run(index->connection,
                       "INSERT INTO \"%w\".\"%w_canary\"(rowid, " INDEX_CANARY_COLUMN ")"
                       " VALUES (%d, NULL)",
                       index->schema, index->name, CANARY_ROWID);
}

int bloom_index_canary_compare(bloom_index *index, int *is_same){
  sqlite3_int64 rowid = 0, is_there = 0;
  int rc = SQLITE_OK;
  if( index->config.has_hidden_ids ) rc = canary_find(index, &is_there);
  if( rc==SQLITE_OK && is_there ){
    rc = bloom_sql_integer(index->connection, &rowid,
                           "SELECT c.rowid FROM \"%w\".\"%w_canary\" AS "
                           "c", index->schema, index->name);
  }
  *is_same = !index->config.has_hidden_ids || rowid==CANARY_ROWID;
  return rc;
}

/* == The tables ======================================================================== */

/* Returns the name of table number i, to be freed: first come those of table_suffixes[]. */
static char *tables_name(const bloom_index *index, const index_config *config, int i){
  const int key = i - INDEX_NUM_TABLES;
  if( key<0 ) return sqlite3_mprintf("%s_%s", index->name, table_suffixes[i]);
  return sqlite3_mprintf("%s_%s%d", index->name, bloom_index_table_suffix(&config->keys[key]),
                         key + 1);
}

/* Makes one table, and, where its rows are found by their rowids, the index that keeps these.
** SQLite renames no index, and drops none while ALTER TABLE runs, so that its name has a random
** number in place of the table's name. */
static int tables_create_one(bloom_index *index, int i){
  char *name = tables_name(index, &index->config, i);
  const char *columns = i<INDEX_NUM_TABLES ? table_columns[i] : INDEX_DATA_COLUMN;
  uint64_t number;
  int rc = name ? bloom_sql_run(index->connection, "CREATE TABLE \"%w\".\"%w\"%s", index->schema,
                                name, columns) : SQLITE_NOMEM;
  if( rc==SQLITE_OK && strcmp(columns, INDEX_DATA_COLUMN)==0 ){
    sqlite3_randomness(sizeof(number), &number);
    rc = bloom_sql_run(index->connection, "CREATE INDEX \"%w\".bloom_keeps_rowids_%016llx ON"
                       " \"%w\"(data) WHERE 0", index->schema, (unsigned long long)number, name);
  }
  sqlite3_free(name);
  return rc;
}

/* Sets *is_there to whether there is a table of this name and form. */
static int tables_find(bloom_index *index, const char *name, const char *form,
                       sqlite3_int64 *is_there){
  *is_there = 0;
  if( name==NULL ) return SQLITE_NOMEM;
  return bloom_sql_integer(index->connection, is_there, "SELECT 1 FROM \"%w\".sqlite_master WHERE"
                           " type = 'table' AND rootpage > 0 AND name = %Q COLLATE NOCASE AND"
                           " sql GLOB %Q", index->schema, name, form);
}

/* Sets *is_left to whether table number i is one that a copy without virtual tables left: it has
** the text of one, and no row, or a state with a right checksum lies beside it; and the index that
** keeps its rowids, if it needs one.  All that it has can be made of the source again. */
static int tables_find_left(bloom_index *index, int i, int has_state, int *is_left){
  char *name = tables_name(index, &index->config, i);
  const char *columns = i<INDEX_NUM_TABLES ? table_columns[i] : INDEX_DATA_COLUMN;
  char *form = name ? sqlite3_mprintf("CREATE TABLE \"%w\"%s", name, columns) : NULL;
  sqlite3_int64 is_there = 0, has_rows = 0, has_index = strcmp(columns, INDEX_DATA_COLUMN)!=0;
  int rc = form ? tables_find(index, name, form, &is_there) : SQLITE_NOMEM;
  if( rc==SQLITE_OK && is_there && !has_state ){
    rc = bloom_sql_integer(index->connection, &has_rows, "SELECT 1 FROM \"%w\".\"%w\" LIMIT 1",
                           index->schema, name);
  }
  if( rc==SQLITE_OK && is_there && !has_index ){
    rc = bloom_sql_integer(index->connection, &has_index, "SELECT 1 FROM \"%w\".sqlite_master"
                           " WHERE type = 'index' AND tbl_name = %Q COLLATE NOCASE AND name GLOB"
                           " 'bloom_keeps_rowids_*'", index->schema, name);
  }
  *is_left = is_there && has_index && !has_rows;
  sqlite3_free(name);
  sqlite3_free(form);
  return rc;
}

int bloom_index_tables_missing(bloom_index *index, int has_state, char **names){
  sqlite3_str *list = sqlite3_str_new(NULL);
  int i, is_left, rc = SQLITE_OK;
  sqlite3_str_appendall(list, "NULL");
  for(i=0; i<bloom_index_num_tables(index) && rc==SQLITE_OK; i++){
    char *name = tables_name(index, &index->config, i);
    rc = name ? tables_find_left(index, i, has_state, &is_left) : SQLITE_NOMEM;
    if( rc==SQLITE_OK && !is_left ) sqlite3_str_appendf(list, ", %Q", name);
    sqlite3_free(name);
  }
  *names = sqlite3_str_finish(list);
  return rc!=SQLITE_OK || *names ? rc : SQLITE_NOMEM;
}

int bloom_index_tables_create(bloom_index *index, int has_state, int *num_made){
  int i, rc = SQLITE_OK;
  for(i=0; i<bloom_index_num_tables(index) && rc==SQLITE_OK; i++){
    int is_left;
    rc = tables_find_left(index, i, has_state, &is_left);
    if( rc==SQLITE_OK && !is_left ) rc = tables_create_one(index, i);
    if( rc==SQLITE_OK ) ++*num_made;
  }
  return rc;
}

/* Returns the form of what follows the name of table number i: of bloom 1.2, too. */
static const char *tables_form(int i){
  return i==0 ? "(covered INTEGER*note TEXT*config BLOB, layout BLOB*)"
    : i==1 ? INDEX_CHANGED_COLUMNS : "(data BLOB)";
}

int bloom_index_tables_own(const bloom_index *index, const char *name, const char *sql,
                           int *is_own){
  char *begin = sqlite3_mprintf("CREATE TABLE \"%w\"", name);
  int i;
  *is_own = 0;
  for(i=0; begin && i<bloom_index_num_tables(index) && !*is_own; i++){
    char *its_name = tables_name(index, &index->config, i);
    if( its_name==NULL ) break;
    *is_own = sqlite3_stricmp(name, its_name)==0 && strncmp(sql, begin, strlen(begin))==0
      && sqlite3_strglob(tables_form(i), sql + strlen(begin))==0;
    sqlite3_free(its_name);
  }
  sqlite3_free(begin);
  return begin && (*is_own || i==bloom_index_num_tables(index)) ? SQLITE_OK : SQLITE_NOMEM;
}

/* Drops tables.  index_drop() does before triggers, for the reason that bloom_vtab_drop() gives. */
int bloom_index_tables_drop(bloom_index *index, int num_tables){
  int i, rc = SQLITE_OK;
  for(i=0; i<num_tables && rc==SQLITE_OK; i++){
    rc = bloom_sql_drop(index->connection, index->schema, tables_name(index, &index->config, i),
                        tables_form(i));
  }
  return rc;
}

int bloom_index_num_tables(const bloom_index *index){
  return INDEX_NUM_TABLES + index->config.num_keys;
}

/* The name of column i's table of bloom 1.2, to be freed; and what its SQL ends with. */
#define TABLES_FORM_OF_1_2 "(data BLOB)"
static char *tables_name_of_1_2(const bloom_index *index, int i){
  return sqlite3_mprintf("%s_blocks_%d", index->name, i + 1);
}

/* Empties the tables of blocks, as SQLite drops no table while a command runs. */
static int tables_empty_1_2(bloom_index *index){
  int i, rc = SQLITE_OK;
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    char *name = tables_name_of_1_2(index, i);
    sqlite3_int64 is_there;
    rc = tables_find(index, name, "*" TABLES_FORM_OF_1_2, &is_there);
    if( rc==SQLITE_OK && is_there ){
      rc = bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w\"", index->schema, name);
    }
    sqlite3_free(name);
  }
  return rc;
}

int bloom_index_tables_upgrade(bloom_index *index){
  sqlite3_stmt *probe;
  int i, rc = bloom_sql_prepare(index->connection, &probe, "SELECT s.bytes FROM \"%w\".\"%w_state\""
                                " AS s", index->schema, index->name);
  sqlite3_finalize(probe);
  if( rc==SQLITE_ERROR ){
    rc = bloom_sql_run(index->connection, "ALTER TABLE \"%w\".\"%w_state\" ADD COLUMN"
                       " bytes INTEGER",
                       index->schema, index->name);
  }
  if( rc==SQLITE_OK ) rc = tables_empty_1_2(index);
  for(i=INDEX_TABLES_OF_1_2; i<bloom_index_num_tables(index) && rc==SQLITE_OK; i++){
    rc = tables_create_one(index, i);
  }
  return rc;
}

int bloom_index_tables_drop_all(bloom_index *index){
  const index_config *config = &index->arguments;
  int i, rc = SQLITE_OK;
  for(i=0; i<config->num_keys && rc==SQLITE_OK; i++){
    rc = bloom_sql_drop(index->connection, index->schema, tables_name_of_1_2(index, i),
                        TABLES_FORM_OF_1_2);
  }
  for(i=0; i<INDEX_NUM_TABLES + config->num_keys && rc==SQLITE_OK; i++){
    rc = bloom_sql_drop(index->connection, index->schema, tables_name(index, config, i),
                        tables_form(i));
  }
  return rc==SQLITE_OK ? bloom_sql_drop(index->connection, index->schema,
                                        sqlite3_mprintf("%s_canary", index->name),
                                        INDEX_CANARY_FORM) : rc;
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

/* Renames those of bloom 1.2 that are there. */
static int tables_rename_1_2(bloom_index *index, const char *new_name){
  int i, rc = SQLITE_OK;
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    char *name = tables_name_of_1_2(index, i);
    sqlite3_int64 is_there;
    rc = tables_find(index, name, "*" TABLES_FORM_OF_1_2, &is_there);
    if( rc==SQLITE_OK && is_there ) rc = tables_rename_one(index, name, new_name);
    else sqlite3_free(name);
  }
  return rc;
}

int bloom_index_tables_rename(bloom_index *index, const char *new_name){
  const int num_tables = index->is_of_1_2 ? INDEX_TABLES_OF_1_2 : bloom_index_num_tables(index);
  sqlite3_int64 has_canary;
  int i, rc = canary_find(index, &has_canary);
  for(i=0; i<num_tables && rc==SQLITE_OK; i++){
    rc = tables_rename_one(index, tables_name(index, &index->config, i), new_name);
  }
  if( rc==SQLITE_OK ) rc = tables_rename_1_2(index, new_name);
  if( rc!=SQLITE_OK || !has_canary ) return rc;
  return tables_rename_one(index, sqlite3_mprintf("%s_canary", index->name), new_name);
}
