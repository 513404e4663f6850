/*
** Statements that are kept on the table object, so that a look-up need not compile what the last
** one did.
**
** Each is reset when it is given back, and then delays no COMMIT, VACUUM or DROP.  SQLite compiles
** one again by itself where the schema changed.  xDisconnect frees them.
**
** An authorizer may have hidden something when one was compiled, and SQLite does not tell when it
** is gone.  So what finds rows is kept no longer than until the next plan is made, unless its
** results prove that nothing is hidden: a row of entries has a checksum, a hidden id is NULL.
*/
#include "index_int.h"

#include <stdarg.h>
#include <string.h>

#include "../../core/debug.h"

#define MAX_KEPT 12

struct index_statement {
  sqlite3_stmt *statement;
  char *sql;
  int is_taken;
  int is_lasting; /* it finds no rows, and is kept when a plan is made */
  int is_stale;   /* a plan was made since it was taken */
  index_statement *next; /* the one that was taken before this one */
};

static void statement_free(index_statement *kept){
  sqlite3_finalize(kept->statement);
  sqlite3_free(kept->sql);
  sqlite3_free(kept);
}

/* Unlinks the one at *place. */
static index_statement *statement_unlink(index_statement **place){
  index_statement *kept = *place;
  *place = kept->next;
  return kept;
}

/* Frees the one that was not taken for the longest time, if there are many. */
static void statements_forget_one(bloom_index *index){
  index_statement **place, **last = NULL;
  int num_kept = 0;
  for(place=&index->statements; *place; place=&(*place)->next){
    num_kept++;
    if( !(*place)->is_taken ) last = place;
  }
  if( num_kept>=MAX_KEPT && last ) statement_free(statement_unlink(last));
}

static int statement_take(bloom_index *index, char *sql, int is_lasting,
                          sqlite3_stmt **statement){
  index_statement **place, *kept = NULL;
  *statement = NULL;
  if( sql==NULL ) return SQLITE_NOMEM;
  for(place=&index->statements; *place
      && ((*place)->is_taken || (*place)->is_lasting!=is_lasting || strcmp((*place)->sql, sql)!=0);
      place=&(*place)->next){}
  if( *place ){
    kept = statement_unlink(place);
    sqlite3_free(sql);
  }else{
    int rc;
    statements_forget_one(index);
    kept = sqlite3_malloc64(sizeof(*kept));
    if( kept==NULL ){
      sqlite3_free(sql);
      return SQLITE_NOMEM;
    }
    *kept = (index_statement){.sql = sql, .is_lasting = is_lasting};
    rc = bloom_sql_prepare(index->connection, &kept->statement, "%s", sql);
    if( rc!=SQLITE_OK ){
      statement_free(kept);
      return rc;
    }
  }
  kept->next = index->statements;
  index->statements = kept;
  kept->is_taken = 1;
  *statement = kept->statement;
  return SQLITE_OK;
}

int bloom_index_statement_take(bloom_index *index, char *sql, sqlite3_stmt **statement){
  return statement_take(index, sql, 0, statement);
}

void bloom_index_statement_give_back(bloom_index *index, sqlite3_stmt *statement){
  index_statement **place = &index->statements;
  if( statement==NULL ) return;
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  while( (*place)->statement!=statement ) place = &(*place)->next;
  (*place)->is_taken = 0;
  /* Another file may come under it, which SQLite does not notice. */
  if( (*place)->is_stale || !index->is_steady ) statement_free(statement_unlink(place));
}

void bloom_index_statements_free(bloom_index *index){
  bloom_index_fixed_forget(index);
  while( index->statements ) statement_free(statement_unlink(&index->statements));
}

void bloom_index_fixed_forget(bloom_index *index){
  int i;
  for(i=0; i<INDEX_NUM_FIXED; i++){
    sqlite3_finalize(index->fixed[i]);
    index->fixed[i] = NULL;
  }
}

int bloom_index_fixed_take(bloom_index *index, int fixed, sqlite3_stmt **statement,
                           const char *format, ...){
  va_list arguments;
  char *sql;
  int rc = SQLITE_OK;
  assert( fixed>=0 && fixed<INDEX_NUM_FIXED );
  assert( index->fixed[fixed]==NULL || !sqlite3_stmt_busy(index->fixed[fixed]) );
  if( index->fixed[fixed]==NULL ){
    va_start(arguments, format);
    sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    rc = bloom_sql_prepare_text(index->connection, &index->fixed[fixed], sql);
  }
  *statement = index->fixed[fixed];
  return rc;
}

void bloom_index_fixed_give_back(bloom_index *index, int fixed, int is_proven){
  sqlite3_reset(index->fixed[fixed]);
  index->is_proven[fixed] = is_proven!=0;
  /* Another file may come under it, which SQLite does not notice. */
  if( !index->is_steady ){
    sqlite3_finalize(index->fixed[fixed]);
    index->fixed[fixed] = NULL;
  }
}

void bloom_index_statements_forget(bloom_index *index){
  index_statement **place = &index->statements;
  int i;
  for(i=0; i<INDEX_NUM_FIXED; i++){
    if( index->is_proven[i] ) continue;
    sqlite3_finalize(index->fixed[i]);
    index->fixed[i] = NULL;
  }
  while( *place ){
    (*place)->is_stale = !(*place)->is_lasting;
    if( (*place)->is_stale && !(*place)->is_taken ) statement_free(statement_unlink(place));
    else place = &(*place)->next;
  }
}

int bloom_index_statement_integer(bloom_index *index, int is_lasting, sqlite3_int64 *number,
                                  const char *format, ...){
  va_list arguments;
  sqlite3_stmt *row;
  char *sql;
  int rc;
  va_start(arguments, format);
  sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  rc = statement_take(index, sql, is_lasting, &row);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW && sqlite3_column_type(row, 0)!=SQLITE_NULL ){
    *number = sqlite3_column_int64(row, 0);
  }
  bloom_index_statement_give_back(index, row);
  return rc==SQLITE_ROW || rc==SQLITE_DONE ? SQLITE_OK : rc;
}
