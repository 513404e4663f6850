/*
** The tables of an index: making, renaming and dropping them.
**
** A column's number stands behind the suffix without an underscore: SQLite up to 3.40 takes for a
** shadow table's suffix what is behind the last one.  Rowids of entries must stay as they are, and
** VACUUM changes those of a table that has neither an index nor an INTEGER PRIMARY KEY.  A PRIMARY
** KEY would take a table into changesets; so tables of entries and zones have an empty index.
*/
#include "index_source.h"

#include <string.h>

/* Tables have numbers: first these three, of which bloom 1.2 has two; then one for each indexed
** column; then one of bloom 1.2 for each; and last NAME_canary. */
#define INDEX_NUM_TABLES    3
#define INDEX_TABLES_OF_1_2 2

/* The column of spans, entries and zones. */
#define INDEX_DATA_COLUMN "(data BLOB)"

/* A table: its name is the index's and suffix; its columns match form, a pattern of GLOB, and so do
** those of bloom 1.2. */
typedef struct index_table {
  char suffix[24];
  const char *columns, *form;
} index_table;

static const index_table tables_first[INDEX_NUM_TABLES] = {
  {"_state", "(covered INTEGER, config BLOB, layout BLOB)",
   "(covered INTEGER*config BLOB, layout BLOB*)"},
  {"_changed", "(id INTEGER UNIQUE)", "(id INTEGER UNIQUE)"},
  {"_spans", INDEX_DATA_COLUMN, INDEX_DATA_COLUMN}
};

int bloom_index_num_tables(const bloom_index *index){
  return INDEX_NUM_TABLES + index->config.num_keys;
}

/* Returns how many tables have numbers. */
static int tables_num_all(const index_config *config){
  return INDEX_NUM_TABLES + 2*config->num_keys + 1;
}

/* Returns table number i. */
static index_table tables_get(const index_config *config, int i){
  const int key = i - INDEX_NUM_TABLES;
  index_table table = {.columns = INDEX_DATA_COLUMN, .form = INDEX_DATA_COLUMN};
  assert( i>=0 && i<tables_num_all(config) );
  if( key<0 ) table = tables_first[i];
  else if( key<config->num_keys ){
    sqlite3_snprintf(sizeof(table.suffix), table.suffix, "_%s%d",
                     index_properties_of(&config->keys[key])->suffix, key + 1);
  }else if( key<2*config->num_keys ){
    sqlite3_snprintf(sizeof(table.suffix), table.suffix, "_blocks_%d", key - config->num_keys + 1);
  }else{
    table = (index_table){"_canary", INDEX_CANARY_FORM, INDEX_CANARY_FORM};
  }
  return table;
}

/* A table that a copy left has the right text; no row, unless a state with a right checksum is
** there; and the index that keeps its rowids, if it needs one.  All that it has can be made again
** from the source. */
int bloom_index_tables_find_left(bloom_index *index, int has_state, unsigned *left,
                                 char **names){
  sqlite3_str *list = sqlite3_str_new(NULL);
  int i, is_left, rc = SQLITE_OK;
  _Static_assert(INDEX_NUM_TABLES + INDEX_MAX_KEYS<=32, "*left has a bit for each table");
  *left = 0;
  sqlite3_str_appendall(list, "NULL");
  for(i=0; i<bloom_index_num_tables(index) && rc==SQLITE_OK; i++){
    const index_table table = tables_get(&index->config, i);
    sqlite3_int64 has_rows = 0, has_index = strcmp(table.columns, INDEX_DATA_COLUMN)!=0;
    rc = bloom_sql_find_table(index->connection, index->schema, index->name, table.suffix,
                              table.columns, &is_left);
    if( rc==SQLITE_OK && is_left && !has_state ){
      rc = bloom_sql_integer(index->connection, &has_rows, "SELECT 1 FROM \"%w\".\"%w%s\" LIMIT 1",
                             index->schema, index->name, table.suffix);
    }
    if( rc==SQLITE_OK && is_left && !has_index ){
      rc = bloom_sql_integer(index->connection, &has_index, "SELECT 1 FROM \"%w\".sqlite_master"
                             " WHERE type = 'index' AND tbl_name = '%q%s' COLLATE NOCASE AND name"
                             " BETWEEN 'bloom_keeps_rowids_' AND 'bloom_keeps_rowids_~'",
                             index->schema, index->name, table.suffix);
    }
    if( rc==SQLITE_OK && is_left && has_index && !has_rows ) *left |= 1u << i;
    else sqlite3_str_appendf(list, ", '%q%s'", index->name, table.suffix);
  }
  *names = sqlite3_str_finish(list);
  return rc!=SQLITE_OK || *names ? rc : SQLITE_NOMEM;
}

int bloom_index_tables_create(bloom_index *index, unsigned left, int *num_made){
  int i, rc = SQLITE_OK;
  assert( left>>bloom_index_num_tables(index)==0 );
  for(i=0; i<bloom_index_num_tables(index) && rc==SQLITE_OK; i++){
    const index_table table = tables_get(&index->config, i);
    const int is_left = (int)(left >> i & 1);
    uint64_t number;
    if( !is_left ){
      rc = bloom_sql_run(index->connection, "CREATE TABLE \"%w\".\"%w%s\"%s", index->schema,
                         index->name, table.suffix, table.columns);
    }
    if( !is_left && rc==SQLITE_OK && strcmp(table.columns, INDEX_DATA_COLUMN)==0 ){
      /* SQLite renames no index, and drops none while ALTER TABLE runs: so the name of the empty
      ** index that keeps rowids has a random number in place of the table's name. */
      sqlite3_randomness(sizeof(number), &number);
      rc = bloom_sql_run(index->connection, "CREATE INDEX \"%w\".bloom_keeps_rowids_%016llx ON"
                         " \"%w%s\"(data) WHERE 0", index->schema, (unsigned long long)number,
                         index->name, table.suffix);
    }
    *num_made += rc==SQLITE_OK;
  }
  return rc;
}

int bloom_index_tables_is_own(const void *data, const char *suffix, const char *columns){
  const bloom_index *index = data;
  int i, is_own = 0;
  for(i=0; i<bloom_index_num_tables(index) && !is_own; i++){
    const index_table table = tables_get(&index->config, i);
    is_own = sqlite3_stricmp(suffix, table.suffix)==0 && sqlite3_strglob(table.form, columns)==0;
  }
  return is_own;
}

/* Tables go before triggers: bloom_vtab_drop() says why. */
int bloom_index_tables_drop(bloom_index *index, int num_tables){
  const index_config *config = &index->arguments;
  int i, rc = SQLITE_OK;
  for(i=0; i<tables_num_all(config) && i<num_tables && rc==SQLITE_OK; i++){
    const index_table table = tables_get(config, i);
    rc = bloom_sql_drop(index->connection, index->schema, index->name, table.suffix, table.form);
  }
  return rc;
}

/* Runs SQL on those of the tables first .. end - 1 that are there: a format of the schema, the
** index's name and the suffix, then new_name and the suffix. */
static int tables_run(bloom_index *index, int first, int end, const char *format,
                      const char *new_name){
  int i, rc = SQLITE_OK;
  for(i=first; i<end && rc==SQLITE_OK; i++){
    const index_table table = tables_get(&index->config, i);
    int is_there;
    rc = bloom_sql_find_table(index->connection, index->schema, index->name, table.suffix,
                              table.form, &is_there);
    if( rc==SQLITE_OK && is_there ){
      rc = bloom_sql_run(index->connection, format, index->schema, index->name, table.suffix,
                         new_name, table.suffix);
    }
  }
  return rc;
}

char *bloom_index_tables_lacked(const bloom_index *index){
  sqlite3_str *list = sqlite3_str_new(NULL);
  int i;
  sqlite3_str_appendall(list, "NULL");
  for(i=INDEX_TABLES_OF_1_2; i<bloom_index_num_tables(index); i++){
    const index_table table = tables_get(&index->config, i);
    sqlite3_str_appendf(list, ", '%q%s'", index->name, table.suffix);
  }
  return sqlite3_str_finish(list);
}

int bloom_index_tables_upgrade(bloom_index *index){
  /* SQLite drops no table while a command runs. */
  int num_made = 0, rc = tables_run(index, bloom_index_num_tables(index),
                                    tables_num_all(&index->config) - 1,
                                    "DELETE FROM \"%w\".\"%w%s\"", NULL);
  if( rc==SQLITE_OK ){
    rc = bloom_index_tables_create(index, (1u << INDEX_TABLES_OF_1_2) - 1, &num_made);
  }
  return rc;
}

int bloom_index_tables_rename(bloom_index *index, const char *new_name){
  return tables_run(index, 0, tables_num_all(&index->config),
                    "ALTER TABLE \"%w\".\"%w%s\" RENAME TO \"%w%s\"", new_name);
}

/* == NAME_canary ======================================================================= */

/*
** NAME_canary is there if the source has hidden rowids, which VACUUM and dumps may change: they
** give its one row, of rowid 7, another one too.  Backups and VACUUM INTO keep both.  Something of
** the user's may have that name.
*/
#define CANARY_ROWID 7

int bloom_index_canary_write(bloom_index *index){
  int is_there, rc;
  if( !index->config.has_hidden_ids ) return SQLITE_OK;
  rc = bloom_sql_find_table(index->connection, index->schema, index->name, "_canary",
                            INDEX_CANARY_FORM, &is_there);
  if( rc==SQLITE_OK ){
    /* CREATE fails where that is the user's. */
    rc = bloom_sql_run(index->connection, is_there ? "DELETE FROM \"%w\".\"%w_canary\""
                       : "CREATE TABLE \"%w\".\"%w_canary\"" INDEX_CANARY_FORM, index->schema,
                       index->name);
  }
  if( rc!=SQLITE_OK ) return rc;
  return bloom_sql_run(index->connection, "INSERT INTO \"%w\".\"%w_canary\"(rowid,"
                       " moved_by_vacuum) VALUES (%d, NULL)", index->schema, index->name,
                       CANARY_ROWID);
}

int bloom_index_canary_compare(bloom_index *index, int *is_same){
  sqlite3_int64 rowid = 0;
  int is_there, rc;
  *is_same = !index->config.has_hidden_ids;
  if( *is_same ) return SQLITE_OK;
  rc = bloom_sql_find_table(index->connection, index->schema, index->name, "_canary",
                            INDEX_CANARY_FORM, &is_there);
  if( rc==SQLITE_OK && is_there ){
    rc = bloom_sql_integer(index->connection, &rowid, "SELECT c.rowid FROM \"%w\".\"%w_canary\" AS"
                           " c", index->schema, index->name);
  }
  *is_same = rowid==CANARY_ROWID;
  return rc;
}
