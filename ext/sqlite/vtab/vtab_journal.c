/*
** The journal NAME_new(key, r): keys that triggers wrote down and no 'merge' has taken.
**
** Its first row has no key, or one that the pages have: the row stands for the journal itself.  Row
** 1 of the pages knows its r, so a journal that was emptied or made again is noticed.
**
** Look-ups keep the hashes of its keys as a set, with the first row and the last one.  Triggers
** append rows, each with a random r; a merge takes rows from the head, a ROLLBACK from the end.  So
** while the last row has its rowid and its r, and the first one its rowid, the rows between are
** those of the set, and the ones behind are all that is new.
*/
#include "vtab_int.h"

/* Appends the key's columns, each in a format: "key", or "key_1, key_2 ...". */
static void append_key_columns(
  sqlite3_str *sql, const bloom_vtab *vtab, const char *before, const char *after
){
  int i;
  if( vtab->args.num_columns==1 ) sqlite3_str_appendf(sql, "%skey%s, ", before, after);
  for(i=1; i<=bloom_vtab_num_parts(vtab); i++){
    sqlite3_str_appendf(sql, "%skey_%d%s, ", before, i, after);
  }
}

char *bloom_vtab_journal_columns(const bloom_vtab *vtab){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  sqlite3_str_appendall(sql, "(");
  append_key_columns(sql, vtab, "", "");
  sqlite3_str_appendall(sql, "r)");
  return sqlite3_str_finish(sql);
}

char *bloom_vtab_journal_text(const bloom_vtab *vtab){
  char *columns = bloom_vtab_journal_columns(vtab);
  char *text = columns ? sqlite3_mprintf("\"%w\"%s", vtab->journal, columns) : NULL;
  sqlite3_free(columns);
  return text;
}

/* What is read of a row, and from FIRST_KEY_COLUMN on its key. */
enum { ROWID, MARK, FIRST_ROWID, FIRST_KEY_COLUMN };

/* Sets *row to the statement that reads all rows; or, is_newest, those from the last known one on,
** whose own key, which may be long, is NULL, and the journal's first rowid.  It is to be reset. */
static int begin_rows(bloom_vtab *vtab, int is_newest, sqlite3_stmt **row){
  sqlite3_stmt **rows = &vtab->unmerged.rows[is_newest];
  int rc = SQLITE_OK;
  if( *rows==NULL ){
    sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
    sqlite3_str_appendf(sql, is_newest
      ? "SELECT rowid, r, (SELECT rowid FROM \"%w\".\"%w\" ORDER BY rowid LIMIT 1), "
      : "SELECT rowid, r, 0, ", vtab->schema, vtab->journal);
    append_key_columns(sql, vtab, is_newest ? "CASE WHEN rowid > ?1 THEN " : "",
                       is_newest ? " END" : "");
    sqlite3_str_appendf(sql, "0 FROM \"%w\".\"%w\"%s ORDER BY rowid", vtab->schema, vtab->journal,
                        is_newest ? " WHERE rowid >= ?1" : "");
    rc = bloom_sql_prepare_text(vtab->connection, rows, sqlite3_str_finish(sql));
  }
  *row = *rows;
  return rc==SQLITE_OK && is_newest ? sqlite3_bind_int64(*row, 1, vtab->unmerged.last_rowid) : rc;
}

/* -- Looking up ---------------------------------------------------------------------------- */

/* Sets *is_own to 0 if random() is not SQLite's, as far as its list says. */
static int find_own_random(bloom_vtab *vtab, int *is_own){
  sqlite3_stmt *row;
  /* Not FROM pragma_function_list: behind sqlite3_deserialize() SQLite 3.40.1 crashes over it. */
  int rc = bloom_sql_prepare(vtab->connection, &row, "PRAGMA function_list");
  *is_own = 1;
  while( rc==SQLITE_OK && (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    const char *name;
    rc = bloom_sql_column_text(row, 0, &name);
    if( sqlite3_stricmp(name, "random")==0 && !sqlite3_column_int(row, 1) ) *is_own = 0;
  }
  rc = bloom_sql_end(row, rc);
  if( rc!=SQLITE_OK ) *is_own = 0; /* kept from it */
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
}

int bloom_vtab_num_compiled(const bloom_vtab *vtab){
  int i, sum = 0;
  for(i=0; i<2; i++){
    sqlite3_stmt *rows = vtab->unmerged.rows[i];
    if( rows ) sum += 1 + sqlite3_stmt_status(rows, SQLITE_STMTSTATUS_REPREPARE, 0);
  }
  return sum;
}

/* Sets *is_random to 0 if the application has put a function of its own in place of SQLite's
** random(), which may repeat its numbers.  SQLite compiles all statements anew then, but not of one
** for any number of arguments: so it is asked, too, whether it returns the same again, when this
** connection has written. */
static int check_random(bloom_vtab *vtab, int *is_random){
  bloom_vtab_unmerged *unmerged = &vtab->unmerged;
  const int num_changes = sqlite3_total_changes(vtab->connection->db);
  const int num_compiled = bloom_vtab_num_compiled(vtab);
  sqlite3_int64 is_same = 0;
  int rc = SQLITE_OK;
  if( unmerged->num_compiled!=num_compiled ) rc = find_own_random(vtab, &unmerged->is_random);
  if( rc==SQLITE_OK && unmerged->is_random
      && (unmerged->num_compiled!=num_compiled || unmerged->num_changes!=num_changes) ){
    rc = bloom_sql_integer(vtab->connection, &is_same, "SELECT random() = random()");
  }
  *is_random = rc==SQLITE_OK && unmerged->is_random && !is_same;
  unmerged->num_compiled = rc==SQLITE_OK && !is_same ? num_compiled : 0;
  unmerged->num_changes = num_changes;
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
}

void bloom_vtab_forget_journal(bloom_vtab *vtab){
  vtab->unmerged.is_known = 0;
  bloom_hash_set_clear(&vtab->unmerged.hashes);
}

void bloom_vtab_close_journal(bloom_vtab *vtab){
  bloom_vtab_forget_journal(vtab);
  sqlite3_finalize(vtab->unmerged.rows[0]);
  sqlite3_finalize(vtab->unmerged.rows[1]);
  vtab->unmerged.rows[0] = vtab->unmerged.rows[1] = NULL;
  vtab->unmerged.num_compiled = 0;
  vtab->checked_compiled = 0;
}

/* 0 if a row behind the first one lacks its key, or a part of it.  Triggers write no NULL: somebody
** put it there, or an authorizer that answers SQLITE_IGNORE hides the key from this connection. */
static int has_key(const bloom_vtab *vtab, sqlite3_stmt *row){
  int i;
  for(i=0; i<vtab->layout.rules.num_columns; i++){
    if( sqlite3_column_type(row, FIRST_KEY_COLUMN + i)==SQLITE_NULL ) return 0;
  }
  return 1;
}

static int add_row_to_set(bloom_vtab *vtab, sqlite3_stmt *row){
  bloom_combined_hashes hashes;
  int i, rc = bloom_vtab_hashes_of_row(&vtab->layout.rules, row, FIRST_KEY_COLUMN, &hashes);
  for(i=0; rc==SQLITE_OK && i<hashes.num_hashes; i++){
    rc = bloom_hash_set_add(&vtab->unmerged.hashes, hashes.hashes[i]);
  }
  return rc;
}

/* Reads the newest rows into what is known, or all of them into nothing.  SQLITE_NOTFOUND if what
** is known is of another journal, SQLITE_EMPTY if it says nothing. */
static int read_rows(bloom_vtab *vtab){
  bloom_vtab_unmerged *unmerged = &vtab->unmerged;
  sqlite3_stmt *row;
  int has_row = 0, are_random = 1, rc = begin_rows(vtab, unmerged->is_known, &row);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    const int is_first = !has_row;
    const sqlite3_int64 rowid = sqlite3_column_int64(row, ROWID),
      mark = sqlite3_column_int64(row, MARK);
    has_row = 1;
    rc = SQLITE_OK;
    if( is_first && unmerged->is_known ){
      if( sqlite3_column_int64(row, FIRST_ROWID)!=unmerged->first_rowid
          || rowid!=unmerged->last_rowid || mark!=unmerged->last_mark ){
        rc = SQLITE_NOTFOUND;
      }
      continue;
    }
    if( is_first ){
      unmerged->first_rowid = rowid;
      unmerged->first_mark = mark;
    }
    are_random &= sqlite3_column_type(row, MARK)==SQLITE_INTEGER;
    unmerged->last_rowid = rowid;
    unmerged->last_mark = mark;
    rc = rowid==unmerged->first_rowid || has_key(vtab, row) ? add_row_to_set(vtab, row)
      : SQLITE_EMPTY;
  }
  if( rc==SQLITE_DONE && !has_row ) rc = unmerged->is_known ? SQLITE_NOTFOUND : SQLITE_EMPTY;
  if( rc==SQLITE_DONE ){
    /* Behind the largest rowid SQLite chooses any. */
    unmerged->is_known = are_random && unmerged->last_rowid<INT64_MAX;
    rc = SQLITE_OK;
  }
  sqlite3_reset(row);
  return rc;
}

int bloom_vtab_read_journal(bloom_vtab *vtab, int *is_intact){
  bloom_vtab_unmerged *unmerged = &vtab->unmerged;
  int is_random = 0, rc = SQLITE_NOTFOUND;
  assert(vtab->args.table && vtab->has_layout);
  *is_intact = 0;
  /* A row or none is as soon read anew.  A merge that was rolled back, and another one, may leave
  ** the same rows but for the first one's mark. */
  if( unmerged->is_known && unmerged->first_rowid!=unmerged->last_rowid
      && unmerged->layout_mark==vtab->layout.journal_mark ){
    rc = read_rows(vtab);
    if( rc==SQLITE_OK ) rc = check_random(vtab, &is_random);
    if( rc==SQLITE_OK && !is_random ) rc = SQLITE_NOTFOUND;
  }
  if( rc==SQLITE_NOTFOUND ){
    bloom_vtab_forget_journal(vtab);
    rc = read_rows(vtab);
    unmerged->layout_mark = vtab->layout.journal_mark;
  }
  assert(rc!=SQLITE_NOTFOUND); /* what was just forgotten cannot be another journal's */
  if( rc==SQLITE_OK ){
    *is_intact = unmerged->first_mark==vtab->layout.journal_mark;
    return SQLITE_OK;
  }
  bloom_vtab_forget_journal(vtab);
  return rc==SQLITE_EMPTY ? SQLITE_OK : rc;
}

/* -- Merging ----------------------------------------------------------------------------------- */

/* Rowids have no gaps: rows are appended, and taken from the head or the end.  So none is read. */
int bloom_vtab_count_unmerged(bloom_vtab *vtab, sqlite3_int64 *num_rows){
  return bloom_sql_integer(vtab->connection, num_rows,
    "SELECT (SELECT max(rowid) FROM \"%w\".\"%w\") - (SELECT min(rowid) FROM \"%w\".\"%w\")",
    vtab->schema, vtab->journal, vtab->schema, vtab->journal);
}

/* Deletes rows, and puts one with a new mark at rowid.  Both are compiled before one runs: else an
** authorizer that refuses the second one would leave a journal that is not the layout's. */
static int cut_journal(
  bloom_vtab *vtab, const char *where, sqlite3_int64 rowid, bloom_vtab_layout *layout
){
  sqlite3_stmt *cut, *put = NULL;
  int rc = bloom_sql_prepare(vtab->connection, &cut, "DELETE FROM \"%w\".\"%w\"%s", vtab->schema,
                             vtab->journal, where);
  sqlite3_randomness(sizeof(layout->journal_mark), &layout->journal_mark);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_prepare(vtab->connection, &put,
                           "INSERT OR REPLACE INTO \"%w\".\"%w\"(rowid, r) VALUES (?1, %lld)",
                           vtab->schema, vtab->journal, layout->journal_mark);
  }
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(put, 1, rowid);
  if( rc==SQLITE_OK && where[0] ) rc = sqlite3_bind_int64(cut, 1, rowid);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, cut);
  rc = bloom_sql_end(cut, rc);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, put);
  return bloom_sql_end(put, rc);
}

int bloom_vtab_empty_journal(bloom_vtab *vtab, bloom_vtab_layout *layout){
  return cut_journal(vtab, "", 1, layout);
}

int bloom_vtab_take_unmerged(bloom_vtab *vtab, sqlite3_int64 max_rows, bloom_vtab_batch *batch){
  sqlite3_int64 last = 0, num_rows = 0; /* the journal's first row counts, too */
  sqlite3_stmt *row;
  int rc = begin_rows(vtab, 0, &row);
  while( rc==SQLITE_OK && (max_rows==0 || num_rows<=max_rows)
         && (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    const int is_intact = num_rows>0 ? has_key(vtab, row)
      : sqlite3_column_int64(row, MARK)==batch->layout->journal_mark;
    rc = is_intact ? bloom_vtab_batch_add(batch, row, FIRST_KEY_COLUMN) : SQLITE_EMPTY;
    last = sqlite3_column_int64(row, ROWID);
    num_rows++;
  }
  if( rc==SQLITE_DONE ) rc = num_rows>0 ? SQLITE_OK : SQLITE_EMPTY;
  if( rc!=SQLITE_EMPTY ) bloom_vtab_failure(vtab, rc); /* before the reset forgets why */
  sqlite3_reset(row);
  if( rc==SQLITE_OK ) rc = bloom_vtab_batch_finish(batch);
  if( rc!=SQLITE_OK || num_rows==1 ) return rc;
  batch->has_written = 1;
  if( max_rows==0 ) return bloom_vtab_empty_journal(vtab, batch->layout);
  return cut_journal(vtab, " WHERE rowid < ?1", last, batch->layout);
}
