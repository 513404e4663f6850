/*
** bloom_index_info(name [, database]): table-valued; one row, the state of a virtual table of
** either kind as it is now, with the SQL that cures what is wrong.
**
** It is the only function that runs SQL.  It reads a bloom_index by an object of its own, so that
** it need not trust what SQLite's object has in memory, and a filter by a SELECT.  Columns that the
** query does not read cost nothing.
*/
#include "index.h"
#include "index_merge.h"
#include "index_source.h"

#include <string.h>

#include "../../core/hash.h"
#include "../connection.h"
#include "../source/sql.h"
#include "../vtab/vtab.h"

/* Column numbers, in the order of the schema. */
enum {
  COLUMN_ROWS, COLUMN_MERGED, COLUMN_UNMERGED, COLUMN_CHANGED, COLUMN_BYTES, COLUMN_SERVES,
  COLUMN_NOTE, NUM_COLUMNS
};

#define COLUMN_BIT(column) (1u << (column))

typedef struct info_cursor {
  bloom_tvf_cursor base; /* first */
  bloom_connection *connection; /* NULL except in info_start() */
  char *schema, *name;   /* as SQLite has them */
  int is_index;          /* USING bloom_index; else USING bloom */
  unsigned has;          /* COLUMN_BIT() of the numbers that are set */
  sqlite3_int64 numbers[NUM_COLUMNS];
  char *note;
} info_cursor;

static void info_clear(bloom_tvf_cursor *cursor){
  info_cursor *info = (info_cursor *)cursor;
  sqlite3_free(info->schema);
  sqlite3_free(info->name);
  sqlite3_free(info->note);
}

static int info_wants(const info_cursor *info, unsigned columns){
  return (info->base.columns & columns)!=0;
}

static void info_set(info_cursor *info, int column, sqlite3_int64 number){
  assert( column>=0 && column<COLUMN_NOTE );
  info->numbers[column] = number;
  info->has |= COLUMN_BIT(column);
}

/* Sets the note, which is freed with the cursor; NULL: SQLITE_NOMEM. */
static int info_set_note(info_cursor *info, char *note){
  assert( info->note==NULL );
  info->note = note;
  return note ? SQLITE_OK : SQLITE_NOMEM;
}

/* Sets the note to an error's message without the module before it. */
static int info_take_error(info_cursor *info, const char *error){
  const char *words = strncmp(error, "bloom", 5)==0 ? strstr(error, ": ") : NULL;
  info_set(info, COLUMN_SERVES, 0);
  return info_set_note(info, sqlite3_mprintf("%s", words ? words + 2 : error));
}

/* -- Finding the table ------------------------------------------------------------------------ */

/* Sets *is_there to whether a database has a table or view of this name, and *is_own to whether it
** is a virtual table of bloom's; then sets info->schema, info->name and info->is_index. */
static int info_find_in(info_cursor *info, const char *schema, const char *name, int *is_there,
                        int *is_own){
  sqlite3_stmt *row;
  const char *sql = NULL;
  int is_virtual = 0;
  int rc = bloom_sql_row(info->connection, &row, "SELECT m.name, m.sql, m.rootpage = 0"
                         " AND m.type = 'table' FROM \"%w\".sqlite_master AS m WHERE m.type IN"
                         " ('table', 'view') AND m.name = %Q COLLATE NOCASE", schema, name);
  assert( info->schema==NULL && info->name==NULL );
  *is_there = rc==SQLITE_ROW;
  *is_own = 0;
  if( rc==SQLITE_ROW ){
    is_virtual = sqlite3_column_int(row, 2);
    rc = bloom_sql_copy_text(row, 0, &info->name);
    if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 1, &sql);
  }
  if( is_virtual && rc==SQLITE_OK && sql && info->name ){
    const bloom_token using = bloom_token_find(bloom_token_first(sql), "using");
    char *module = bloom_token_unquoted(bloom_token_after(using));
    if( module==NULL ) rc = SQLITE_NOMEM;
    info->is_index = sqlite3_stricmp(module, "bloom_index")==0;
    *is_own = info->is_index || sqlite3_stricmp(module, "bloom")==0;
    sqlite3_free(module);
  }
  rc = bloom_sql_end(row, rc);
  if( rc!=SQLITE_OK || !*is_own ) return rc;
  info->schema = sqlite3_mprintf("%s", schema);
  return info->schema ? SQLITE_OK : SQLITE_NOMEM;
}

/* Finds the table in a database; or, where schema is NULL, as SQLite does: in TEMP, the main
** database, and the attached ones. */
static int info_find(info_cursor *info, const char *name, const char *schema, char **error){
  sqlite3_stmt *row = NULL;
  int is_there, is_own, rc;
  if( schema && sqlite3_db_filename(info->connection->db, schema)==NULL ){
    return bloom_fail_vtab(error, "bloom_index_info(): there is no database %s", schema);
  }
  rc = info_find_in(info, schema ? schema : "temp", name, &is_there, &is_own);
  if( rc==SQLITE_OK && schema==NULL && !is_there ){
    rc = bloom_sql_prepare(info->connection, &row, "PRAGMA database_list");
  }
  while( rc==SQLITE_OK && row && !is_there
         && (rc = bloom_sql_step(info->connection, row))==SQLITE_ROW ){
    const char *each = NULL;
    rc = bloom_sql_column_text(row, 1, &each);
    if( rc==SQLITE_OK && each ) rc = info_find_in(info, each, name, &is_there, &is_own);
  }
  rc = bloom_sql_end(row, rc);
  if( rc!=SQLITE_OK || is_own ) return rc;
  return bloom_fail_vtab(error, is_there ? "bloom_index_info(): %s%s%s is neither a bloom_index nor"
                         " a filter: name a virtual table USING bloom_index or bloom"
                         : "bloom_index_info(): there is no table %s%s%s", schema ? schema : "",
                         schema ? "." : "", name);
}

/* -- A bloom_index ------------------------------------------------------------------------ */

/* Sets serves, and the note that says why entries do not serve, or what makes them serve better. */
static int info_find_note(info_cursor *info, bloom_index *index, const index_layout *layout,
                          int is_damaged){
  const sqlite3_int64 num_unmerged = info->numbers[COLUMN_UNMERGED];
  sqlite3_int64 most_unmerged = 0;
  char *words = NULL;
  int is_outweighed = 0, rc = bloom_index_source_why_not_merge(index, &words);
  info_set(info, COLUMN_SERVES, 0);
  if( rc!=SQLITE_OK || words ) return rc==SQLITE_OK ? info_set_note(info, words) : rc;
  if( is_damaged ){
    words = sqlite3_mprintf("a page of the index is damaged");
    return info_set_note(info, bloom_command_say(words, index->name, "merge", "repairs it"));
  }
  assert( layout );
  if( layout->has_covered ){
    const uint64_t tenth = layout->num_rows/10; /* of the rows: more, and a 'merge' pays */
    most_unmerged = tenth<1000 ? 1000 : tenth<100000 ? (sqlite3_int64)tenth : 100000;
    rc = bloom_index_cost_is_outweighed(index, layout, &is_outweighed);
  }
  if( rc!=SQLITE_OK ) return rc;
  info_set(info, COLUMN_SERVES, !is_outweighed && (layout->has_covered || num_unmerged==0));
  if( is_outweighed ){
    words = sqlite3_mprintf("%lld rows changed since they were merged, and every query reads the"
                            " whole table", info->numbers[COLUMN_CHANGED]);
  }else if( num_unmerged>most_unmerged ){
    words = sqlite3_mprintf("%lld rows are not merged, and every query reads them", num_unmerged);
  }else{
    return SQLITE_OK;
  }
  return info_set_note(info, bloom_command_say(words, index->name, "merge",
                                               "makes queries faster"));
}

/* Reads the state of an index whose source is found. */
static int info_read_source(info_cursor *info, bloom_index *index){
  bloom_connection *connection = info->connection;
  const char *schema = index->schema, *name = index->name, *source = index->columns.name;
  sqlite3_int64 *numbers = info->numbers;
  const index_layout *layout = NULL;
  int is_damaged = 0, rc = SQLITE_OK;
  assert( index->is_checked );
  /* Tables that are gone are not read: one may be a view with rows without end. */
  if( index->source.has_tables && !index->is_of_1_2 ){
    rc = bloom_index_layout_check(index, &layout, &is_damaged);
  }
  if( rc==SQLITE_OK && info_wants(info, COLUMN_BIT(COLUMN_ROWS) | COLUMN_BIT(COLUMN_MERGED)) ){
    rc = bloom_sql_integer(connection, &numbers[COLUMN_ROWS], "SELECT count(*) FROM " INDEX_SOURCE,
                           schema, source);
    info->has |= COLUMN_BIT(COLUMN_ROWS);
  }
  if( rc==SQLITE_OK && layout && info_wants(info, ~COLUMN_BIT(COLUMN_BYTES)) ){
    rc = bloom_sql_integer(connection, &numbers[COLUMN_UNMERGED], layout->has_covered
        ? "SELECT count(*) FROM " INDEX_SOURCE " NOT INDEXED WHERE x.\"%w\" > %lld"
        : "SELECT count(*) FROM " INDEX_SOURCE, schema, source, index->columns.id_name,
        layout->covered);
    if( rc==SQLITE_OK ) rc = bloom_sql_integer(connection, &numbers[COLUMN_CHANGED], "SELECT"
                                               " count(*) FROM \"%w\".\"%w_changed\"", schema,
                                               name);
    numbers[COLUMN_MERGED] = numbers[COLUMN_ROWS] - numbers[COLUMN_UNMERGED];
    info->has |= COLUMN_BIT(COLUMN_UNMERGED) | COLUMN_BIT(COLUMN_CHANGED)
      | COLUMN_BIT(COLUMN_MERGED);
  }
  if( rc==SQLITE_OK && layout && info_wants(info, COLUMN_BIT(COLUMN_BYTES)) ){
    sqlite3_int64 num_rows = 0;
    uint32_t j;
    int i, key;
    /* Each row of entries has a page of 4 KB; the tables of spans and of zones have whole pages. */
    for(i=0; i<layout->num_generations; i++){
      for(key=0; key<index->config.num_keys; key++){
        const index_key_layout *of_key = &layout->generations[i].keys[key];
        for(j=0; j<of_key->num_runs; j++) num_rows += of_key->runs[j].num_rows;
      }
    }
    info_set(info, COLUMN_BYTES, 4096*num_rows);
    for(i=-1; i<index->config.num_keys && rc==SQLITE_OK; i++){
      sqlite3_int64 num_bytes = 0;
      if( i>=0 && index->config.keys[i].kind!=INDEX_KEY_ZONES ) continue;
      rc = bloom_sql_integer(connection, &num_bytes, i<0
          ? "SELECT sum(length(t.data)) FROM \"%w\".\"%w_spans\" AS t"
          : "SELECT sum(length(t.data)) FROM \"%w\".\"%w_zones%d\" AS t", schema, name, i + 1);
      numbers[COLUMN_BYTES] += (num_bytes + 4095) / 4096 * 4096;
    }
  }
  return rc==SQLITE_OK ? info_find_note(info, index, layout, is_damaged) : rc;
}

static int info_read_index(info_cursor *info, char **error){
  bloom_index *index = bloom_index_new(info->connection, info->schema, info->name);
  int rc = index ? bloom_index_config_read(index) : SQLITE_NOMEM;
  if( rc==SQLITE_OK && index->damage ){
    rc = info_take_error(info, index->damage);
  }else if( rc==SQLITE_OK ){
    rc = bloom_index_begin(index, INDEX_NEED_SOURCE);
    if( rc==SQLITE_OK ) rc = info_read_source(info, index);
    else if( rc==SQLITE_ERROR && index->base.zErrMsg ){
      rc = info_take_error(info, index->base.zErrMsg);
    }
  }
  if( index==NULL ) return rc;
  rc = bloom_index_failure(index, rc);
  if( rc!=SQLITE_OK ){
    *error = index->base.zErrMsg;
    index->base.zErrMsg = NULL;
  }
  bloom_index_free(index);
  return rc;
}

/* -- A filter ------------------------------------------------------------------------------ */

/* Reads the filter by a SELECT.  This does not set connection->is_running, under which a filter's
** methods run no SQL; and it runs nothing but them, for the table was found to be a filter. */
static int info_read_filter(info_cursor *info, char **error){
  static const int columns[] = {COLUMN_MERGED, COLUMN_UNMERGED, COLUMN_BYTES};
  sqlite3 *db = info->connection->db;
  sqlite3_stmt *row = NULL;
  const char *note = NULL;
  char *sql = sqlite3_mprintf("SELECT num_keys, unmerged, bytes, note FROM \"%w\".\"%w\"",
                              info->schema, info->name);
  int rc = sql ? sqlite3_prepare_v2(db, sql, -1, &row, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  if( rc==SQLITE_OK ) rc = sqlite3_step(row);
  if( rc==SQLITE_ROW ){
    size_t i;
    for(i=0; i<BLOOM_COUNT_OF(columns); i++){
      info_set(info, columns[i], sqlite3_column_int64(row, (int)i));
    }
    rc = bloom_sql_column_text(row, 3, &note);
    if( rc==SQLITE_OK && note ) rc = info_set_note(info, sqlite3_mprintf("%s", note));
    info_set(info, COLUMN_SERVES, note==NULL || strncmp(note, BLOOM_VTAB_SAYS_MAYBE,
                                                        strlen(BLOOM_VTAB_SAYS_MAYBE))!=0);
  }else if( rc==SQLITE_ERROR || (rc & 0xff)==SQLITE_CORRUPT ){
    rc = info_take_error(info, sqlite3_errmsg(db));
  }else if( rc!=SQLITE_DONE ){
    rc = bloom_sql_failure(info->connection, "bloom_index_info()", info->name, rc, error);
  }
  sqlite3_finalize(row);
  return rc==SQLITE_ROW || rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* -- The function -------------------------------------------------------------------------- */

/* Begins a call.  args: the table's name, and that of its database, which may be missing. */
static int info_start(bloom_tvf_cursor *cursor, sqlite3_value **args){
  info_cursor *info = (info_cursor *)cursor;
  char **error = &cursor->base.pVtab->zErrMsg, *words = NULL;
  const int has_schema = cursor->num_args>1 && sqlite3_value_type(args[1])!=SQLITE_NULL;
  const char *name = (const char *)sqlite3_value_text(args[0]);
  const char *schema = has_schema ? (const char *)sqlite3_value_text(args[1]) : NULL;
  uint64_t rowid = 1;
  int rc;
  if( sqlite3_value_type(args[0])==SQLITE_NULL ) return SQLITE_OK;
  if( name==NULL || (has_schema && schema==NULL) ) return SQLITE_NOMEM;
  info->connection = bloom_connection_get(cursor->db);
  if( info->connection==NULL ) return SQLITE_NOMEM;
  rc = info_find(info, name, schema, &words);
  if( rc==SQLITE_OK ){
    rc = info->is_index ? info_read_index(info, &words) : info_read_filter(info, &words);
  }
  rc = bloom_sql_failure(info->connection, "bloom_index_info()", name, rc, &words);
  if( words ){
    sqlite3_free(*error);
    *error = words;
  }
  if( cursor->wants_rowids ) rowid = bloom_xxh3((const uint8_t *)name, strlen(name));
  bloom_connection_release(info->connection);
  info->connection = NULL;
  cursor->rowid = (sqlite3_int64)rowid;
  cursor->has_row = rc==SQLITE_OK;
  return rc;
}

static void info_column(const bloom_tvf_cursor *cursor, sqlite3_context *context, int column){
  const info_cursor *info = (const info_cursor *)cursor;
  assert( column>=0 && column<NUM_COLUMNS && info->connection==NULL );
  if( column==COLUMN_NOTE ){
    sqlite3_result_text(context, info->note, -1, SQLITE_TRANSIENT);
  }else if( info->has & COLUMN_BIT(column) ){
    sqlite3_result_int64(context, info->numbers[column]);
  }
}

const bloom_tvf bloom_index_info_tvf = {
  .name = "bloom_index_info",
  .call = "bloom_index_info(name)",
  .schema = "CREATE TABLE bloom_index_info(rows INTEGER, merged INTEGER, unmerged INTEGER,"
            " changed INTEGER, bytes INTEGER, serves INTEGER, note TEXT, argument_1 HIDDEN,"
            " argument_2 HIDDEN)",
  .num_columns = NUM_COLUMNS,
  .num_args = 2,
  .num_optional = 1,
  .num_rows = 1,
  .cost = 1000,
  .cursor_bytes = sizeof(info_cursor),
  .start = info_start,
  .column = info_column,
  .clear = info_clear,
};
