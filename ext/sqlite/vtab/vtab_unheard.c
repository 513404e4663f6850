/*
** Rows of which the filter may not hear.
**
** An AFTER trigger that is newer than the filter's fires first, and by RAISE(IGNORE) or RAISE(FAIL)
** it can keep a row and stop the triggers that would tell the filter.  While it is there every key
** may be in the filter.  Once it is dropped nothing would tell, so BEFORE triggers, which it cannot
** stop, leave a mark that stays until 'rebuild':
**
**   BEFORE INSERT ON "t" WHEN (SELECT unheard FROM "f") BEGIN INSERT INTO "f"(unheard) VALUES (1); END
**
** SQLite plans that SELECT whenever it compiles a statement with this trigger, so the plan knows
** whether the same statement has a newer one.
*/
#include "vtab_int.h"

/* 1 if a trigger is one AFTER, as far as its text tells: BEFORE is what it is without, and a text without ON tells
** nothing. A trigger may be called begin without quotes, but not on. */
static int may_be_after(const char *sql){
  bloom_token token = bloom_token_first(sql);
  for(; token.num_chars && !bloom_token_is(token, "ON"); token=bloom_token_after(token)){
    if( bloom_token_is(token, "AFTER") ) return 1;
  }
  return token.num_chars==0;
}

/* 1 if a table's text is a filter's: CREATE VIRTUAL TABLE name USING bloom. */
static int is_filter(const char *sql){
  bloom_token token = bloom_token_after(bloom_token_first(sql));
  if( !bloom_token_is(token, "VIRTUAL") ) return 0;
  while( token.num_chars && !bloom_token_is(token, "USING") ) token = bloom_token_after(token);
  return bloom_token_names(bloom_token_after(token), "bloom");
}

/* Whether a trigger only tells another filter of a key.  One that looks so may be the user's, and write to
** a table that refuses the row, or stop by itself. */
static int find_can_stop(const bloom_vtab *vtab, const char *sql, int *can_stop){
  char *target;
  int rc;
  *can_stop = 1;
  if( !bloom_vtab_is_filters_trigger(sql) ) return SQLITE_OK;
  rc = bloom_trigger_target(vtab->connection, vtab->schema, sql, &target);
  *can_stop = target==NULL || !is_filter(target);
  sqlite3_free(target);
  return rc;
}

int bloom_vtab_find_newer_trigger(bloom_vtab *vtab, const char *table, sqlite3_int64 guard){
  bloom_triggers all;
  int i, rc = bloom_triggers_read_on(vtab->connection, vtab->schema, table, &all);
  for(i=0; i<all.num_rows && rc==SQLITE_OK; i++){
    int can_stop;
    if( all.rows[i].order<=guard || !may_be_after(all.rows[i].sql) ) continue;
    rc = find_can_stop(vtab, all.rows[i].sql, &can_stop);
    vtab->is_outrun |= can_stop;
  }
  bloom_triggers_free(&all);
  return rc;
}

void bloom_vtab_append_unheard(sqlite3_str *sql, const bloom_vtab *vtab){
  sqlite3_str_appendf(sql, "(SELECT unheard FROM \"%w\")", vtab->name);
}

void bloom_vtab_append_late_watch(
  sqlite3_str *sql, const bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, int is_insert
){
  const char *glue = ", CASE WHEN ";
  int i;
  for(i=0; i<args->num_columns; i++){
    const bloom_source_column *column = bloom_source_find(source, args->columns[i]);
    if( column==NULL || !bloom_vtab_is_decided_late(source, column) || (column==source->row_column && !is_insert) ) continue;
    sqlite3_str_appendall(sql, glue);
    if( column->is_generated ) sqlite3_str_appendall(sql, "1");
    else sqlite3_str_appendf(sql, "\"new\".\"%w\" IS %s", column->name, column==source->row_column ? "-1" : "NULL");
    glue = " OR ";
  }
  if( glue[0]==',' ){
    sqlite3_str_appendall(sql, ", NULL");
    return;
  }
  sqlite3_str_appendall(sql, " THEN ");
  bloom_vtab_append_unheard(sql, vtab);
  sqlite3_str_appendall(sql, " END");
}

/* -- The mark --------------------------------------------------------------------------------- */

static bloom_blob_place mark_place(const bloom_vtab *vtab){
  return (bloom_blob_place){vtab->connection->db, vtab->schema, vtab->guard, "unused"};
}

int bloom_vtab_read_mark(const bloom_vtab *vtab, bloom_vtab_mark *mark){
  uint8_t byte = BLOOM_MARK_NONE;
  int rc = bloom_blob_read_row(mark_place(vtab), 1, &byte, 1);
  *mark = byte==BLOOM_MARK_NONE || byte==BLOOM_MARK_UNHEARD ? byte : BLOOM_MARK_DAMAGED;
  return rc;
}

int bloom_vtab_write_mark(bloom_vtab *vtab, bloom_vtab_mark mark){
  const uint8_t byte = (uint8_t)mark;
  int rc = bloom_blob_write_row(mark_place(vtab), 1, &byte, 1);
  if( rc!=SQLITE_NOTFOUND ) return rc;
  return bloom_sql_run(vtab->connection, "INSERT OR REPLACE INTO \"%w\".\"%w\"(rowid, unused) VALUES (1, x'%02x')", vtab->schema,
                       vtab->guard, mark);
}

int bloom_vtab_mark_unheard(bloom_vtab *vtab){
  int rc = vtab->args.table ? bloom_vtab_write_mark(vtab, BLOOM_MARK_UNHEARD) : SQLITE_OK;
  if( rc!=SQLITE_ERROR ) return bloom_vtab_failure(vtab, rc);
  /* There is no such table, and the guard trigger went with it. */
  bloom_vtab_forget_message(vtab);
  return SQLITE_OK;
}
