/*
** Compiled statements that the table object keeps for the next look-up, and what it knows of the
** file's content.
**
** Each statement is reset when it is given back, and delays no COMMIT, VACUUM or DROP then.  SQLite
** compiles it again by itself where the schema changed.  xDisconnect frees them all.
**
** If an authorizer hid something when a statement was compiled, that stays hidden after the
** authorizer is gone, and SQLite does not tell.  So a statement is freed at the next plan, unless
** its results proved that nothing is hidden: a row of entries has a checksum, a hidden id is NULL.
*/
#include "index_int.h"

#include <stdarg.h>
#include <string.h>

/* So many statements that are found by their text are kept. */
#define MAX_BY_TEXT 24

struct index_statement {
  sqlite3_stmt *statement;
  int use; /* index_use */
  int is_taken;
  int is_proven;
  int is_stale; /* it is freed when it is given back */
  index_statement *next; /* the one that was taken before this one */
};

static void statement_free(index_statement **place){
  index_statement *kept = *place;
  assert( !kept->is_taken );
  *place = kept->next;
  sqlite3_finalize(kept->statement);
  sqlite3_free(kept);
}

/* Takes a kept statement of this use, and of this text unless that is NULL; NULL: there is none. */
static sqlite3_stmt *statement_find(bloom_index *index, int use, const char *sql){
  index_statement **place = &index->statements, *kept;
  assert( sql || use<INDEX_USE_BY_TEXT ); /* those of other uses differ by their text alone */
  while( (kept = *place)!=NULL && (kept->is_taken || kept->use!=use
                                   || (sql && strcmp(sqlite3_sql(kept->statement), sql)!=0)) ){
    place = &kept->next;
  }
  if( kept==NULL ) return NULL;
  *place = kept->next;
  kept->next = index->statements;
  index->statements = kept;
  kept->is_taken = 1;
  return kept->statement;
}

int bloom_index_statement_take_text(bloom_index *index, int use, char *sql,
                                    sqlite3_stmt **statement){
  index_statement *kept, **place, **last = NULL;
  int num_by_text = 0, rc;
  *statement = sql ? statement_find(index, use, sql) : NULL;
  if( *statement ){
    sqlite3_free(sql);
    return SQLITE_OK;
  }
  rc = bloom_sql_prepare_text(index->connection, statement, sql);
  kept = rc==SQLITE_OK ? sqlite3_malloc64(sizeof(*kept)) : NULL;
  if( kept==NULL ){
    sqlite3_finalize(*statement);
    *statement = NULL;
    return rc==SQLITE_OK ? SQLITE_NOMEM : rc;
  }
  /* If too many are found by their text, the one that was taken longest ago is freed. */
  for(place=&index->statements; *place; place=&(*place)->next){
    if( (*place)->use<INDEX_USE_BY_TEXT ) continue;
    num_by_text++;
    if( !(*place)->is_taken ) last = place;
  }
  if( num_by_text>=MAX_BY_TEXT && last ) statement_free(last);
  *kept = (index_statement){*statement, use, .is_taken = 1, .next = index->statements};
  index->statements = kept;
  return SQLITE_OK;
}

static int statement_take(bloom_index *index, int use, sqlite3_stmt **statement,
                          const char *format, va_list arguments){
  *statement = use<INDEX_USE_BY_TEXT ? statement_find(index, use, NULL) : NULL;
  return *statement ? SQLITE_OK
    : bloom_index_statement_take_text(index, use, sqlite3_vmprintf(format, arguments), statement);
}

int bloom_index_statement_take(bloom_index *index, int use, sqlite3_stmt **statement,
                               const char *format, ...){
  va_list arguments;
  int rc;
  va_start(arguments, format);
  rc = statement_take(index, use, statement, format, arguments);
  va_end(arguments);
  return rc;
}

void bloom_index_statement_give_back(bloom_index *index, sqlite3_stmt *statement, int is_proven){
  index_statement **place = &index->statements;
  if( statement==NULL ) return;
  sqlite3_reset(statement);
  while( (*place)->statement!=statement ) place = &(*place)->next;
  assert( (*place)->is_taken );
  /* Other uses bind ids, which may stay. */
  if( (*place)->use==INDEX_USE_BY_TEXT ) sqlite3_clear_bindings(statement);
  (*place)->is_taken = 0;
  (*place)->is_proven = is_proven || (*place)->use==INDEX_USE_FOR_COST;
  /* Where the database's file may be replaced, SQLite does not notice. */
  if( (*place)->is_stale || !index->is_steady ) statement_free(place);
}

void bloom_index_statements_forget(bloom_index *index, int are_all){
  index_statement **place = &index->statements;
  while( *place ){
    index_statement *kept = *place;
    kept->is_stale |= are_all || !kept->is_proven;
    if( kept->is_stale && !kept->is_taken ) statement_free(place);
    else place = &kept->next;
  }
}

int bloom_index_statement_integer(bloom_index *index, int use, sqlite3_int64 *number,
                                  const char *format, ...){
  va_list arguments;
  sqlite3_stmt *row;
  int is_found, rc;
  va_start(arguments, format);
  rc = statement_take(index, use, &row, format, arguments);
  va_end(arguments);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  is_found = rc==SQLITE_ROW && sqlite3_column_type(row, 0)!=SQLITE_NULL;
  if( is_found ) *number = sqlite3_column_int64(row, 0);
  bloom_index_statement_give_back(index, row, is_found);
  return rc==SQLITE_ROW || rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* -- Facts of the content ------------------------------------------------------------------- */

void bloom_index_see(bloom_index *index){
  index_facts *facts = &index->facts;
  unsigned number = 0;
  facts->state = index->is_steady
    ? bloom_db_content(index->connection->db, index->schema, &number) : BLOOM_CONTENT_UNKNOWN;
  if( facts->state==BLOOM_CONTENT_UNKNOWN || number!=facts->content ) facts->known = 0;
  facts->content = number;
}

void bloom_index_note(bloom_index *index, uint64_t fact){
  assert( fact>0 && (fact & (fact - 1))==0 );
  /* Between two transactions another connection may have written. */
  if( index->facts.state==BLOOM_CONTENT_NUMBERED ) bloom_index_see(index);
  if( index->facts.state!=BLOOM_CONTENT_UNKNOWN ) index->facts.known |= fact;
}

/* -- Failures -------------------------------------------------------------------------------- */

int bloom_index_failure(bloom_index *index, int rc){
  return bloom_sql_failure(index->connection, "bloom_index", index->name, rc,
                           &index->base.zErrMsg);
}
