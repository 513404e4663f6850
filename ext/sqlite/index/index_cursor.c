/*
** Reading: the source's rows, in intervals of ids.
**
** One inner statement on the source has the conditions in it, so that rows which fail them
** do not leave SQLite's own code.  It may be weaker than what SQLite checks afterwards, never
** stronger: of a value alone nobody can tell the affinity that `=` gives it.
*/
#include "index_int.h"

#include <string.h>

#include "../errors.h"

typedef struct index_cursor {
  sqlite3_vtab_cursor base; /* first, for SQLite */
  index_plan plan;
  char *plan_text;          /* that rows was compiled for */
  uint32_t num_checks;      /* of the source, then */
  sqlite3_stmt *rows;
  int is_first;             /* of a later interval rows is to make its first step */
  int num_compiled;         /* how often SQLite compiled rows again, by itself */
  int is_rows_of_all;       /* rows has no interval: it reads the whole table */
  uint32_t checks;          /* conditions that rows has */
  int *result_columns;      /* of rows, for each column of the source; -1: not used */
  index_intervals intervals;
  size_t num_read;          /* intervals that rows has begun with */
  int is_eof;
} index_cursor;

static index_cursor *index_cursor_of(void *base){
  return base;
}

int index_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **result){
  index_cursor *cursor = sqlite3_malloc64(sizeof(*cursor));
  (void)vtab;
  if( cursor==NULL ) return SQLITE_NOMEM;
  memset(cursor, 0, sizeof(*cursor));
  cursor->is_eof = 1;
  *result = &cursor->base;
  return SQLITE_OK;
}

static void cursor_forget_plan(index_cursor *cursor){
  sqlite3_finalize(cursor->rows);
  cursor->rows = NULL;
  sqlite3_free(cursor->plan_text);
  cursor->plan_text = NULL;
  sqlite3_free(cursor->result_columns);
  cursor->result_columns = NULL;
}

int index_close(sqlite3_vtab_cursor *base){
  index_cursor *cursor = index_cursor_of(base);
  cursor_forget_plan(cursor);
  sqlite3_free(cursor->intervals.list);
  sqlite3_free(cursor);
  return SQLITE_OK;
}

/* -- The inner statement ------------------------------------------------------------------ */

static const char *cursor_key_name(const bloom_index *index, index_condition condition){
  return index_key_name(index, condition.key);
}

/* Parameters: ?1 and ?2 the interval, and condition i has ?(3+i).  Checked are those conditions
** of which checks has the bit, and others by SQLite alone. */
static void cursor_append_condition(const bloom_index *index, sqlite3_str *sql, index_condition condition, int number){
  /* The longest literal of a pattern, if it has one, is looked for before regexp() is called. */
  if( index_is_regexp(condition.kind) && !condition.is_opaque ){
    const char *name = cursor_key_name(index, condition);
    const int exact = 3 + INDEX_MAX_CONDITIONS + number, in_any_case = exact + INDEX_MAX_CONDITIONS;
    sqlite3_str_appendf(sql, " AND (?%d IS NULL OR instr(x.\"%w\", ?%d)) AND (?%d IS NULL OR instr(lower(x.\"%w\"), ?%d))",
                        exact, name, exact, in_any_case, name, in_any_case);
  }
  /* Without the plus SQLite may compile the statement again for each value. */
  sqlite3_str_appendf(sql, " AND x.\"%w\" %s +?%d", cursor_key_name(index, condition), index_operator(condition.kind), 3 + number);
}

static int cursor_is_column_used(const index_plan *plan, int column){
  return (int)(plan->columns_used >> (column<63 ? column : 63) & 1);
}

/* is_all: without an interval, which SQLite would compare with each row's id. */
static int cursor_prepare(index_cursor *cursor, int is_all, uint32_t checks){
  bloom_index *index = index_of(cursor->base.pVtab);
  const index_columns *columns = &index->columns;
  const char *id = columns->id_name;
  sqlite3_str *sql;
  int i, num_results = 1;
  cursor->result_columns = sqlite3_malloc64(((size_t)columns->num_columns + 1) * sizeof(*cursor->result_columns));
  if( cursor->result_columns==NULL ) return SQLITE_NOMEM;
  sql = sqlite3_str_new(index->connection->db);
  sqlite3_str_appendf(sql, "SELECT x.\"%w\"", id);
  for(i=0; i<columns->num_columns; i++){
    cursor->result_columns[i] = i==columns->id_column ? 0 : -1;
    if( i==columns->id_column || !cursor_is_column_used(&cursor->plan, i) ) continue;
    cursor->result_columns[i] = num_results++;
    sqlite3_str_appendf(sql, ", x.\"%w\"", columns->list[i].name);
  }
  sqlite3_str_appendf(sql, " FROM " INDEX_SOURCE, index->schema, index->source_name);
  cursor->is_rows_of_all = is_all;
  cursor->checks = checks;
  sqlite3_str_appendall(sql, " NOT INDEXED WHERE ");
  if( is_all ) sqlite3_str_appendall(sql, "1");
  else sqlite3_str_appendf(sql, "x.\"%w\" BETWEEN ?1 AND ?2", id);
  for(i=0; i<cursor->plan.num_conditions; i++){
    const index_condition condition = cursor->plan.conditions[i];
    if( checks >> i & 1 ) cursor_append_condition(index, sql, condition, i);
    /* Of one value of IN at a time SQLite 3.31 lets rows with NULL pass. */
    else if( condition.kind==INDEX_EQ ) sqlite3_str_appendf(sql, " AND x.\"%w\" IS NOT NULL", cursor_key_name(index, condition));
  }
  sqlite3_str_appendf(sql, " ORDER BY x.\"%w\"%s", id, cursor->plan.is_descending ? " DESC" : "");
  return bloom_sql_prepare_text(index->connection, &cursor->rows, sqlite3_str_finish(sql));
}

/* 1 if `column = +?` is true wherever SQLite's own comparison of column and value may be,
** whatever affinity the value came with. */
static int cursor_is_check_safe(const bloom_index *index, index_condition condition, sqlite3_value *value){
  const bloom_column_kind kind = index->config.keys[condition.key].equality.kind;
  const int type = sqlite3_value_type(value);
  if( index_is_pattern(condition.kind) ) return 1; /* the same function */
  if( type==SQLITE_TEXT ){
    /* Binding takes a byte order mark from UTF-16, which begins with 0xEF in UTF-8. */
    const unsigned char *text = sqlite3_value_text(value);
    if( text==NULL || text[0]==0xEF ) return 0;
    return kind==BLOOM_COLUMN_NUMBER || (kind==BLOOM_COLUMN_TEXT && !bloom_text_may_be_number(value));
  }
  return kind==BLOOM_COLUMN_NUMBER || type==SQLITE_BLOB || type==SQLITE_NULL;
}

/* The conditions that the inner statement checks, a bit each: those on ids are in the interval,
** and in a list SQLite looks for a row's value. */
static uint32_t cursor_checks(const index_cursor *cursor, sqlite3_value **args){
  const bloom_index *index = index_of(cursor->base.pVtab);
  uint32_t checks = 0;
  int i;
  for(i=0; i<cursor->plan.num_conditions; i++){
    const index_condition condition = cursor->plan.conditions[i];
    if( index_is_on_id(condition.kind) || condition.is_list ) continue;
    if( cursor_is_check_safe(index, condition, args[i]) ) checks |= (uint32_t)1 << i;
  }
  return checks;
}

/* Binds a pattern: of UTF-16 that begins with U+FEFF or U+FFFE sqlite3_bind_value() would take
** that for a byte order mark.  What UTF-8 cannot say LIKE and GLOB do not tell apart. */
static int cursor_bind_pattern(sqlite3_stmt *rows, int number, sqlite3_value *value){
  sqlite3_value *copy;
  const unsigned char *text;
  int rc;
  if( sqlite3_value_type(value)!=SQLITE_TEXT ) return sqlite3_bind_value(rows, number, value);
  copy = sqlite3_value_dup(value);
  text = copy ? sqlite3_value_text(copy) : NULL;
  if( text==NULL ) rc = SQLITE_NOMEM;
  else if( text[0]!=0xEF ) rc = sqlite3_bind_value(rows, number, value);
  else rc = sqlite3_bind_text64(rows, number, (const char *)text, (sqlite3_uint64)sqlite3_value_bytes(copy), SQLITE_TRANSIENT, SQLITE_UTF8);
  sqlite3_value_free(copy);
  return rc;
}

/* Binds the longest literal of a regular expression as it is, or in lower case; NULL where there is none. */
static int cursor_bind_literal(bloom_index *index, sqlite3_stmt *rows, int number, index_condition_kind kind, sqlite3_value *value){
  const int exact = 3 + INDEX_MAX_CONDITIONS + number, in_any_case = exact + INDEX_MAX_CONDITIONS;
  bloom_regexp regexp;
  const uint8_t *literal = NULL;
  size_t num_bytes;
  int rc = index_regexp_read(value, kind, &regexp);
  /* A wrong pattern is an error as on the table, though regexp() may be called for no row. */
  if( rc==SQLITE_OK && regexp.num_literals>0 ) rc = index_regexp_try(index, value);
  if( rc!=SQLITE_OK ) return rc;
  num_bytes = index_regexp_literal(&regexp, &literal);
  rc = sqlite3_bind_null(rows, regexp.ignores_case ? exact : in_any_case);
  if( rc!=SQLITE_OK ) return rc;
  return sqlite3_bind_text64(rows, regexp.ignores_case ? in_any_case : exact, (const char *)literal, num_bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static int cursor_bind_conditions(index_cursor *cursor, sqlite3_value **args){
  int i, rc = SQLITE_OK;
  for(i=0; i<cursor->plan.num_conditions && rc==SQLITE_OK; i++){
    const index_condition condition = cursor->plan.conditions[i];
    if( !(cursor->checks >> i & 1) ) continue;
    if( index_is_regexp(condition.kind) && !condition.is_opaque ){
      rc = cursor_bind_literal(index_of(cursor->base.pVtab), cursor->rows, i, condition.kind, args[i]);
    }
    if( rc!=SQLITE_OK ) return rc;
    if( index_is_pattern(condition.kind) ) rc = cursor_bind_pattern(cursor->rows, 3 + i, args[i]);
    else rc = sqlite3_bind_value(cursor->rows, 3 + i, args[i]);
  }
  return rc;
}

/* Not SQLITE_SCHEMA: SQLite would run the statement again, behind the rows that it has returned. */
static int cursor_say_schema_changed(bloom_index *index){
  return bloom_fail_vtab(&index->base.zErrMsg, "bloom_index: the schema of table %s changed while the statement ran", index->source_name);
}

/* -- Stepping ----------------------------------------------------------------------------- */

/* Keeps SQLite's message of an inner statement that failed. */
static int cursor_failure(index_cursor *cursor, int rc){
  bloom_index *index = index_of(cursor->base.pVtab);
  cursor->is_eof = 1;
  if( rc!=SQLITE_NOMEM && index->base.zErrMsg==NULL ){
    index->base.zErrMsg = sqlite3_mprintf("bloom_index: %s", bloom_sql_message(index->connection->db, rc));
  }
  return rc;
}

/* SQLite compiles rows again if the schema changed since the interval before: names may mean other
** columns then. */
static int cursor_check_columns(index_cursor *cursor, int rc){
  bloom_index *index = index_of(cursor->base.pVtab);
  const int num_compiled = sqlite3_stmt_status(cursor->rows, SQLITE_STMTSTATUS_REPREPARE, 0);
  const char *doubt;
  char *error = NULL;
  int rc_of_source;
  if( num_compiled==cursor->num_compiled && rc!=SQLITE_ERROR ) return rc;
  cursor->num_compiled = num_compiled;
  rc_of_source = index_source_doubt(index, &doubt, &error);
  sqlite3_free(error);
  if( rc_of_source!=SQLITE_OK && rc_of_source!=SQLITE_ERROR ) return rc_of_source;
  if( rc_of_source==SQLITE_OK && (rc!=SQLITE_ERROR || cursor->num_checks==index->num_checks) ) return rc;
  return cursor_say_schema_changed(index);
}

/* Goes to the next row, in this interval or a later one. */
static int cursor_advance(index_cursor *cursor){
  const bloom_index *index = index_of(cursor->base.pVtab);
  const index_intervals *intervals = &cursor->intervals;
  for(;;){
    if( cursor->num_read>0 ){
      int rc = bloom_sql_step(index->connection, cursor->rows);
      if( cursor->is_first ) rc = cursor_check_columns(cursor, rc);
      cursor->is_first = 0;
      if( rc==SQLITE_ROW ) return SQLITE_OK;
      if( rc!=SQLITE_DONE ) return cursor_failure(cursor, rc);
      sqlite3_reset(cursor->rows);
    }
    if( cursor->num_read==intervals->num_intervals ){
      cursor->is_eof = 1;
      return SQLITE_OK;
    }
    const index_interval next = intervals->list[cursor->plan.is_descending ? intervals->num_intervals - 1 - cursor->num_read : cursor->num_read];
    cursor->num_read++;
    cursor->is_first = cursor->num_read>1;
    if( cursor->is_rows_of_all ) continue;
    /* A statement that was reset takes integers without fail. */
    sqlite3_bind_int64(cursor->rows, 1, next.first);
    sqlite3_bind_int64(cursor->rows, 2, next.last);
  }
}

/* Looks at what xBestIndex could not, or what may be another since: a statement that is held goes on
** while the schema changes under it. */
static int cursor_check_source(index_cursor *cursor){
  bloom_index *index = index_of(cursor->base.pVtab);
  index_plan *plan = &cursor->plan;
  const char *doubt;
  int i, rc;
  rc = index_source_doubt(index, &doubt, &index->base.zErrMsg);
  if( rc==SQLITE_ERROR && index->columns_state==INDEX_COLUMNS_OTHER ){
    return cursor_say_schema_changed(index);
  }
  if( doubt ) plan->reads_all = 1;
  for(i=0; i<plan->num_conditions && plan->is_unchecked && rc==SQLITE_OK; i++){
    if( index_is_pattern(plan->conditions[i].kind) ) rc = index_like_check(index, &plan->conditions[i]);
  }
  return rc;
}

/* Finds what is to be read, and the conditions that the inner statement checks. */
static int cursor_look_up(index_cursor *cursor, sqlite3_value **args, uint32_t *checks){
  sqlite3_value *copies[INDEX_MAX_CONDITIONS] = {NULL};
  sqlite3_value *values[INDEX_MAX_CONDITIONS] = {NULL};
  int i, rc = SQLITE_OK;
  for(i=0; i<cursor->plan.num_conditions && rc==SQLITE_OK; i++){
    values[i] = args[i];
    if( sqlite3_value_type(args[i])!=SQLITE_TEXT ) continue;
    /* Reading UTF-16 as UTF-8 converts a value, and one that is ill-formed would be another then. */
    values[i] = copies[i] = sqlite3_value_dup(args[i]);
    if( copies[i]==NULL ) rc = SQLITE_NOMEM;
  }
  if( rc==SQLITE_OK ) rc = index_candidates(index_of(cursor->base.pVtab), &cursor->plan, values, &cursor->intervals);
  if( rc==SQLITE_OK ) *checks = cursor_checks(cursor, values);
  while( i>0 ) sqlite3_value_free(copies[--i]);
  return rc;
}

int index_filter(sqlite3_vtab_cursor *base, int number, const char *text, int num_args, sqlite3_value **args){
  index_cursor *cursor = index_cursor_of(base);
  bloom_index *index = index_of(base->pVtab);
  uint32_t checks = 0;
  int is_all, rc;
  (void)number;
  (void)num_args;
  cursor->is_eof = 1;
  cursor->num_read = 0;
  if( cursor->rows ) sqlite3_reset(cursor->rows);
  index_plan_read(text, &cursor->plan);
  rc = index_locate(index);
  if( rc==SQLITE_OK ) rc = cursor_check_source(cursor);
  if( rc==SQLITE_OK ) rc = cursor_look_up(cursor, args, &checks);
  if( rc!=SQLITE_OK ) return cursor_failure(cursor, rc);
  if( cursor->intervals.num_intervals==0 ) return SQLITE_OK;
  is_all = cursor->intervals.num_intervals==1 && cursor->intervals.list[0].first==INT64_MIN && cursor->intervals.list[0].last==INT64_MAX;
  if( cursor->plan_text==NULL || cursor->num_checks!=index->num_checks || is_all!=cursor->is_rows_of_all || checks!=cursor->checks || strcmp(cursor->plan_text, text)!=0 ){
    cursor_forget_plan(cursor);
    rc = cursor_prepare(cursor, is_all, checks);
    if( rc==SQLITE_OK ){
      cursor->num_checks = index->num_checks;
      cursor->num_compiled = 0;
      cursor->plan_text = sqlite3_mprintf("%s", text);
      if( cursor->plan_text==NULL ) rc = SQLITE_NOMEM;
    }
  }
  if( rc==SQLITE_OK ) rc = cursor_bind_conditions(cursor, args);
  if( rc!=SQLITE_OK ) return cursor_failure(cursor, rc);
  cursor->is_eof = 0;
  return cursor_advance(cursor);
}

int index_next(sqlite3_vtab_cursor *base){
  return cursor_advance(index_cursor_of(base));
}

int index_eof(sqlite3_vtab_cursor *base){
  return index_cursor_of(base)->is_eof;
}

int index_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column){
  const index_cursor *cursor = index_cursor_of(base);
  const bloom_index *index = index_of(base->pVtab);
  if( column<index->columns.num_columns && cursor->result_columns[column]>=0 ){
    sqlite3_result_value(context, sqlite3_column_value(cursor->rows, cursor->result_columns[column]));
  }
  return SQLITE_OK;
}

int index_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid){
  *rowid = sqlite3_column_int64(index_cursor_of(base)->rows, 0);
  return SQLITE_OK;
}
