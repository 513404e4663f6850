/*
** Reads the source's rows: in intervals of ids that entries leave, or as SQLite plans it.
**
** One inner statement on the source has the conditions in it, so that rows which fail them
** do not leave SQLite's own code.  It may be weaker than what SQLite checks afterwards, never
** stronger: index_pass.c.
*/
#include "index_values.h"
#include "index_source.h"

#include <string.h>

#include "../../core/numeric.h"

typedef struct index_cursor {
  sqlite3_vtab_cursor base; /* first, for SQLite */
  index_plan plan;
  char *plan_text;          /* the idxStr that plan was read from */

  sqlite3_stmt *rows;       /* the inner statement; NULL: none */
  index_form forms[INDEX_MAX_CONDITIONS]; /* it was made for these forms, */
  index_reading reading;    /* this reading, */
  uint32_t num_checks;      /* and this index->num_checks */
  int num_compiled;         /* how often SQLite has compiled it again by itself */
  int num_proven;           /* num_compiled when a row proved that nothing is hidden; or -1 */
  int is_one_row;           /* a condition names the id */

  index_list lists[INDEX_MAX_CONDITIONS];
  index_bounds bounds;      /* of INDEX_READ_SORTED; num_cursors 0: not set */
  index_intervals intervals; /* of INDEX_READ_INTERVALS */
  index_slices *slices;     /* of INDEX_READ_SLICES, else NULL */
  size_t num_read;          /* how many intervals, or slices, were begun */
  int is_first;             /* the next step begins another of them: the schema may have changed */
  int is_eof;

  sqlite3_int64 num_rows;   /* how many rows were returned, the current one among them */
  sqlite3_int64 num_counted; /* how many rows there are, if they were counted; else 0 */
  int has_shown_id;         /* SQLite asked for an id: rows of equal columns differ */
  sqlite3_value *same;      /* of INDEX_PLAN_DISTINCT: the current row's value; else NULL */
  int num_same;             /* its repetitions in sequence, up to CURSOR_MAX_SAME */
} index_cursor;

static index_cursor *index_cursor_of(void *base){
  return base;
}

static bloom_index *index_of_cursor(const index_cursor *cursor){
  return index_of(cursor->base.pVtab);
}

int bloom_index_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **result){
  index_cursor *cursor = bloom_malloc_zeros(sizeof(*cursor));
  (void)vtab;
  if( cursor==NULL ) return SQLITE_NOMEM;
  cursor->is_eof = 1;
  *result = &cursor->base;
  return SQLITE_OK;
}

static int cursor_num_compiled(const index_cursor *cursor){
  assert( cursor->rows );
  return sqlite3_stmt_status(cursor->rows, SQLITE_STMTSTATUS_REPREPARE, 0);
}

static void cursor_give_back(index_cursor *cursor){
  const int is_proven = cursor->rows && cursor->num_proven==cursor_num_compiled(cursor);
  bloom_index_statement_give_back(index_of_cursor(cursor), cursor->rows, is_proven);
  cursor->rows = NULL;
}

static void cursor_free_lists(index_cursor *cursor){
  int i;
  for(i=0; i<cursor->plan.num_conditions; i++) bloom_index_list_free(&cursor->lists[i]);
}

int bloom_index_close(sqlite3_vtab_cursor *base){
  index_cursor *cursor = index_cursor_of(base);
  bloom_index *index = index_of_cursor(cursor);
  if( cursor->bounds.num_cursors>0 && cursor->bounds.number==index->bounds.number ){
    assert( index->bounds.num_cursors>0 );
    index->bounds.num_cursors--;
  }
  cursor_give_back(cursor);
  cursor_free_lists(cursor);
  sqlite3_free(cursor->plan_text);
  sqlite3_free(cursor->intervals.list);
  bloom_index_slices_free(cursor->slices);
  sqlite3_value_free(cursor->same);
  sqlite3_free(cursor);
  return SQLITE_OK;
}

/* -- Stepping ----------------------------------------------------------------------------- */

/* Fails with SQLITE_ERROR: after SQLITE_SCHEMA SQLite would run the statement from its beginning,
** and return its first rows again. */
static int cursor_say_schema_changed(bloom_index *index){
  return BLOOM_INDEX_FAIL(index, "bloom_index: the schema of table %s changed while the statement"
                          " ran", index->columns.name);
}

/* Ends a look-up.  A statement that is reset delays no COMMIT. */
static void cursor_end(index_cursor *cursor){
  cursor->is_eof = 1;
  if( cursor->rows ) sqlite3_reset(cursor->rows);
}

/* Ends a look-up that failed with rc, and says why. */
static int cursor_failure(index_cursor *cursor, int rc){
  bloom_index *index = index_of_cursor(cursor);
  rc = bloom_index_failure(index, rc);
  cursor_end(cursor);
  return rc;
}

/* Checks that names still mean the same columns, after a step that returned rc: where the schema
** changed since the interval before, SQLite compiled the statement again.  Returns rc, or fails. */
static int cursor_check_columns(index_cursor *cursor, int rc){
  bloom_index *index = index_of_cursor(cursor);
  const int num_compiled = cursor_num_compiled(cursor);
  char *error = NULL;
  int rc_of_source;
  if( num_compiled==cursor->num_compiled && rc!=SQLITE_ERROR ) return rc;
  cursor->num_compiled = num_compiled;
  /* SQLite's message, before another statement replaces it. */
  if( rc==SQLITE_ERROR ) bloom_fail_vtab(&error, "bloom_index: %s",
                                         bloom_sql_message(index->connection->db, rc));
  rc_of_source = bloom_index_begin(index, INDEX_NEED_SOURCE);
  bloom_forget_message(&index->base);
  index->base.zErrMsg = error;
  if( rc_of_source!=SQLITE_OK && rc_of_source!=SQLITE_ERROR ) return rc_of_source;
  if( rc_of_source==SQLITE_OK
     && (rc!=SQLITE_ERROR || cursor->num_checks==index->num_checks) ) return rc;
  return cursor_say_schema_changed(index);
}

/* Takes an inner statement of these forms and this reading, unless it is the one at hand. */
static int cursor_prepare(index_cursor *cursor, const index_form *forms, index_reading reading){
  bloom_index *index = index_of_cursor(cursor);
  const size_t num_bytes = sizeof(forms[0]) * (size_t)cursor->plan.num_conditions;
  int rc;
  assert( reading!=INDEX_READ_COST );
  if( cursor->rows && cursor->num_checks==index->num_checks && reading==cursor->reading
     && memcmp(forms, cursor->forms, num_bytes)==0 ) return SQLITE_OK;
  cursor_give_back(cursor);
  memmove(cursor->forms, forms, num_bytes);
  cursor->reading = reading;
  cursor->num_checks = index->num_checks;
  cursor->num_proven = -1;
  rc = bloom_index_statement_take_text(index, INDEX_USE_BY_TEXT, bloom_index_pass_statement(index,
      &cursor->plan, forms, reading), &cursor->rows);
  if( rc==SQLITE_OK ) cursor->num_compiled = cursor_num_compiled(cursor);
  return rc;
}

/* Returns the number of the inner statement's result that has a used column. */
static int cursor_result_of(const index_plan *plan, int column){
  const sqlite3_uint64 below = ((sqlite3_uint64)1 << (column<63 ? column : 63)) - 1;
  const sqlite3_uint64 num_below = bloom_popcount_bytes(plan->columns_used & below)
    * 0x0101010101010101u >> 56;
  assert( bloom_index_uses_column(plan, column) );
  return 1 + (int)num_below + (column>63 ? column - 63 : 0);
}

/* Returns 1 if the current row has the value of the row before it, and keeps its own. */
static int cursor_is_same(index_cursor *cursor){
  const int result = cursor_result_of(&cursor->plan, cursor->plan.orders[0].column);
  sqlite3_stmt *rows = cursor->rows;
  sqlite3_value *same = cursor->same;
  const int type = sqlite3_column_type(rows, result);
  int is_same = same && type==sqlite3_value_type(same);
  assert( cursor->plan.num_orders==1 && cursor->plan.num_conditions==0 );
  if( is_same && (type==SQLITE_INTEGER || type==SQLITE_FLOAT) ){
    const double a = sqlite3_column_double(rows, result), b = sqlite3_value_double(same);
    is_same = a<=b && a>=b && sqlite3_column_int64(rows, result)==sqlite3_value_int64(same);
  }else if( is_same && type!=SQLITE_NULL ){
    const void *bytes = sqlite3_column_blob(rows, result), *last = sqlite3_value_blob(same);
    const int num_bytes = sqlite3_column_bytes(rows, result);
    is_same = num_bytes==sqlite3_value_bytes(same)
      && (num_bytes==0 || (bytes && last && memcmp(bytes, last, (size_t)num_bytes)==0));
  }
  if( is_same ) return 1;
  sqlite3_value_free(same);
  cursor->same = sqlite3_value_dup(sqlite3_column_value(rows, result));
  return 0;
}

static int cursor_has_regexp(const index_plan *plan){
  int i = 0;
  while( i<plan->num_conditions && !index_is_regexp(plan->conditions[i].kind) ) i++;
  return i<plan->num_conditions;
}

/* Returns the interval that is read after `number` others. */
static index_interval cursor_interval(const index_cursor *cursor, size_t number){
  const index_intervals *intervals = &cursor->intervals;
  assert( cursor->reading==INDEX_READ_INTERVALS && number<intervals->num_intervals );
  assert( cursor->plan.num_orders==0 || cursor->plan.orders[0].column<0 );
  return intervals->list[cursor->plan.orders[0].is_descending
                         ? intervals->num_intervals - 1 - number : number];
}

/* Begins the next interval or slice, or the NULLs behind all values; else sets is_eof. */
static int cursor_go_on(index_cursor *cursor){
  index_interval next;
  int rc = SQLITE_OK;
  assert( cursor->rows && !cursor->is_eof );
  if( cursor->reading==INDEX_READ_BEHIND && cursor->plan.orders[0].is_descending ){
    cursor->is_first = 1; /* `<` finds no NULL */
    return cursor_prepare(cursor, cursor->forms, INDEX_READ_NULLS);
  }
  cursor->is_first = cursor->num_read>0;
  if( cursor->reading==INDEX_READ_SLICES ){
    rc = bloom_index_slices_next(cursor->slices, cursor->rows, &cursor->is_eof);
  }else if( cursor->reading!=INDEX_READ_INTERVALS
         || cursor->num_read==cursor->intervals.num_intervals ){
    cursor->is_eof = 1;
  }else{
    next = cursor_interval(cursor, cursor->num_read);
    /* A statement that was reset takes integers without fail. */
    sqlite3_bind_int64(cursor->rows, 1, next.first);
    sqlite3_bind_int64(cursor->rows, 2, next.last);
  }
  cursor->num_read++;
  return rc;
}

/* After so many repetitions of a value the next one is searched for, and each one after it. */
#define CURSOR_MAX_SAME 4

/* Rows that are read before the others are counted: EXISTS and LIMIT 1 ask as count(*) does. */
#define CURSOR_READ_BEFORE_COUNT 256

/* Looks at a row after the step to it, and counts all rows if SQLite asks for neither columns nor
** ids.  If it asks for an id after all, bloom_index_rowid() reads them. */
static int cursor_see_row(index_cursor *cursor, int is_distinct){
  bloom_index *index = index_of_cursor(cursor);
  const index_function count = {"count", 0};
  int is_built_in = 0, rc;
  /* SQLite compares the id with the end of the interval, even in a table whose pages are damaged.
  ** A hidden id is NULL. */
  assert( cursor->reading!=INDEX_READ_INTERVALS
          || sqlite3_column_type(cursor->rows, 0)!=SQLITE_INTEGER
          || (cursor->plan.orders[0].is_descending
              ? sqlite3_column_int64(cursor->rows, 0)
                >=cursor_interval(cursor, cursor->num_read - 1).first
              : sqlite3_column_int64(cursor->rows, 0)
                <=cursor_interval(cursor, cursor->num_read - 1).last) );
  if( cursor->num_rows==1 && cursor->num_proven!=cursor->num_compiled ){
    /* Without a NULL the row proves that no authorizer hid something when the statement was
    ** compiled.  A hidden column is NULL, which meets no condition but a regular expression's;
    ** columns of conditions are among the results. */
    const int num_results = sqlite3_column_count(cursor->rows);
    int i = 0;
    while( i<num_results && sqlite3_column_type(cursor->rows, i)!=SQLITE_NULL ) i++;
    if( i==num_results && !cursor_has_regexp(&cursor->plan) ){
      cursor->num_proven = cursor->num_compiled;
    }
  }
  if( is_distinct ){
    const int is_same = cursor_is_same(cursor);
    if( cursor->num_same<CURSOR_MAX_SAME ) cursor->num_same = is_same ? cursor->num_same + 1 : 0;
  }
  if( cursor->num_rows!=CURSOR_READ_BEFORE_COUNT || cursor->has_shown_id
   || !(cursor->plan.flags & INDEX_PLAN_COUNTED) || cursor->reading!=INDEX_READ_FREE ){
    return SQLITE_OK;
  }
  rc = bloom_index_are_built_in(index, &count, 1, &is_built_in);
  if( rc!=SQLITE_OK || !is_built_in ) return rc;
  rc = bloom_index_statement_integer(index, INDEX_USE_BY_TEXT, &cursor->num_counted,
                                     "SELECT count(*) FROM " INDEX_SOURCE, index->schema,
                                     index->columns.name);
  if( rc==SQLITE_OK && cursor->num_counted>0 ) sqlite3_reset(cursor->rows);
  return rc;
}

/* Goes to the next row, in this interval or slice or a later one. */
static int cursor_advance(index_cursor *cursor){
  const int is_distinct = cursor->plan.flags & INDEX_PLAN_DISTINCT
    && (cursor->reading==INDEX_READ_FREE || cursor->reading==INDEX_READ_BEHIND);
  int is_begun = cursor->num_read>0
    || (cursor->reading!=INDEX_READ_INTERVALS && cursor->reading!=INDEX_READ_SLICES);
  int rc = SQLITE_OK;
  assert( cursor->rows && !cursor->is_eof );
  cursor->num_rows++;
  if( cursor->num_counted>0 ){
    cursor->is_eof = cursor->num_rows>cursor->num_counted;
    return SQLITE_OK;
  }
  /* Where values are repeated, and SQLite has asked for no id, the next value is searched for. */
  if( is_distinct && !cursor->has_shown_id && cursor->num_same>=CURSOR_MAX_SAME && cursor->same
     && sqlite3_value_type(cursor->same)!=SQLITE_NULL ){
    assert( cursor->plan.num_limits==0 );
    rc = cursor_prepare(cursor, cursor->forms, INDEX_READ_BEHIND);
    if( rc==SQLITE_OK ){
      sqlite3_reset(cursor->rows);
      cursor->is_first = 1;
      rc = bloom_sql_bind(cursor->rows, 1, cursor->same);
    }
  }
  while( rc==SQLITE_OK && !cursor->is_eof ){
    if( is_begun ){
      rc = bloom_sql_step(index_of_cursor(cursor)->connection, cursor->rows);
      if( cursor->is_first ) rc = cursor_check_columns(cursor, rc);
      cursor->is_first = 0;
      if( rc!=SQLITE_DONE ) break;
      sqlite3_reset(cursor->rows);
    }
    is_begun = 1;
    rc = cursor_go_on(cursor);
  }
  if( rc==SQLITE_ROW ) rc = cursor_see_row(cursor, is_distinct);
  return rc==SQLITE_OK ? rc : cursor_failure(cursor, rc);
}

/* -- Looking up ------------------------------------------------------------------------------ */

/* Sets the cursor's bounds, once: the ids of the source before the running statement wrote.  They
** are those of another open cursor if it set them in the same run, and no change was counted since.
** A trigger's statements count their changes one by one, so that each has bounds of its own.  Those
** of an empty source have no id. */
static int cursor_set_bounds(index_cursor *cursor){
  bloom_index *index = index_of_cursor(cursor);
  const char *id = index->columns.id_name;
  sqlite3 *db = index->connection->db;
  sqlite3_stmt *row;
  index_bounds now = {.writer = bloom_sql_writer(index->connection, NULL), .num_cursors = 1,
                     .num_changes = sqlite3_total_changes(db)};
  int rc;
  assert( now.writer!=NULL );
  if( cursor->bounds.num_cursors>0 ) return SQLITE_OK;
  now.num_runs = sqlite3_stmt_status(now.writer, SQLITE_STMTSTATUS_RUN, 0);
  if( index->bounds.num_cursors>0 && now.writer==index->bounds.writer
     && now.num_runs==index->bounds.num_runs && now.num_changes==index->bounds.num_changes ){
    index->bounds.num_cursors++;
    cursor->bounds = index->bounds;
    return SQLITE_OK;
  }
  rc = bloom_sql_row(index->connection, &row, "SELECT (SELECT min(x.\"%w\") FROM " INDEX_SOURCE "),"
                     " (SELECT max(x.\"%w\") FROM " INDEX_SOURCE ")", id, index->schema,
                     index->columns.name, id, index->schema, index->columns.name);
  if( rc==SQLITE_ROW ){
    const int is_empty = sqlite3_column_type(row, 0)==SQLITE_NULL;
    now.number = index->bounds.number + 1;
    now.first = is_empty ? 1 : sqlite3_column_int64(row, 0);
    now.last = is_empty ? 0 : sqlite3_column_int64(row, 1);
    cursor->bounds = index->bounds = now;
  }
  return bloom_sql_end(row, rc);
}

/* Sets *reading to what is to be read, with its intervals, slices or bounds, and forms to how
** conditions are passed. */
static int cursor_look_up(index_cursor *cursor, sqlite3_value **args, index_form *forms,
                          index_reading *reading){
  bloom_index *index = index_of_cursor(cursor);
  const index_plan *plan = &cursor->plan;
  sqlite3_value *copies[INDEX_MAX_CONDITIONS] = {NULL};
  sqlite3_value *values[INDEX_MAX_CONDITIONS] = {NULL};
  int i, has_triggers = 1, is_free, rc = SQLITE_OK;
  /* Without triggers on t, INSERT INTO t SELECT ... FROM i writes rows while it reads. */
  sqlite3_db_config(index->connection->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &has_triggers);
  has_triggers &= index->source.has_triggers;
  is_free = !has_triggers || plan->flags & INDEX_PLAN_FREE;
  assert( is_free || (index->source.doubt==NULL && plan->num_limits==0) );
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK; i++){
    if( plan->conditions[i].is_list ) rc = bloom_index_list_copy(args[i], &cursor->lists[i]);
    values[i] = args[i];
    if( rc!=SQLITE_OK || sqlite3_value_type(args[i])!=SQLITE_TEXT ) continue;
    /* sqlite3_value_text() changes UTF-16; what is ill-formed must be bound as it is. */
    if( index->letter_bytes!=1 ) values[i] = copies[i] = sqlite3_value_dup(args[i]);
    /* It is called here first, where memory may fail: bloom_index_pass_form() cannot fail. */
    if( values[i]==NULL || sqlite3_value_text(values[i])==NULL ) rc = SQLITE_NOMEM;
  }
  if( rc==SQLITE_OK && !is_free && plan->flags & INDEX_PLAN_SLICES ){
    rc = bloom_index_slices_start(index, plan, values, cursor->lists, &cursor->slices, &is_free);
  }else if( rc==SQLITE_OK && !is_free ){
    rc = bloom_index_candidates(index, plan, values, cursor->lists, &cursor->intervals, NULL,
                                &is_free);
  }
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK; i++){
    forms[i] = bloom_index_pass_form(index, &plan->conditions[i], values[i], &cursor->lists[i]);
    /* The source would read the list for each interval: SQLite checks it. */
    if( plan->conditions[i].is_list && !is_free && !cursor->slices ) forms[i] = INDEX_FORM_NONE;
    if( is_free ) rc = bloom_index_numbers_form(index, &plan->conditions[i], values[i],
                                                &cursor->lists[i], &forms[i]);
  }
  *reading = !is_free ? (cursor->slices ? INDEX_READ_SLICES : INDEX_READ_INTERVALS)
    : has_triggers || !bloom_sql_writer(index->connection, NULL) ? INDEX_READ_FREE
                                                                 : INDEX_READ_SORTED;
  assert( rc!=SQLITE_OK || *reading!=INDEX_READ_SLICES || cursor->slices );
  if( rc==SQLITE_OK && *reading==INDEX_READ_SORTED ) rc = cursor_set_bounds(cursor);
  for(i=0; i<plan->num_conditions; i++) sqlite3_value_free(copies[i]);
  return rc;
}

/* Returns 1 if an indexed column serves a condition, or none is to, -1.  The configuration may be
** another than the plan was made by: it is read again after a 'rebuild' that failed. */
static int cursor_is_served(const bloom_index *index, const index_condition *condition, int key,
                            int has_zones){
  const index_key *column = &index->config.keys[key<0 ? 0 : key];
  if( key<0 ) return 1;
  return key<index->config.num_keys && column->column==condition->column && !column->doubt
    && (column->kind==INDEX_KEY_ZONES)==has_zones
    && index_serves(column, index_group_of(condition->kind));
}

/* Reads the plan, unless it is the one that was read last.  Checks what xBestIndex could not read,
** and what may have changed since: a prepared statement runs again after the schema changed. */
static int cursor_read_plan(index_cursor *cursor, int number, const char *text){
  bloom_index *index = index_of_cursor(cursor);
  index_plan *plan = &cursor->plan;
  const int id_column = index->columns.id_column;
  int i, rc = SQLITE_OK;
  if( cursor->plan_text==NULL || strcmp(cursor->plan_text, text)!=0 ){
    cursor_give_back(cursor);
    sqlite3_free(cursor->plan_text);
    cursor->plan_text = sqlite3_mprintf("%s", text);
    if( cursor->plan_text==NULL ) return SQLITE_NOMEM;
    bloom_index_plan_read(text, plan);
    /* The id is the first result in any case. */
    if( id_column>=0 && id_column<63 ) plan->columns_used &= ~((sqlite3_uint64)1 << id_column);
    cursor->is_one_row = bloom_index_cost_is_one_row(plan);
  }
  plan->flags = index->source.doubt ? number | INDEX_PLAN_FREE : number;
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK; i++){
    index_condition *condition = &plan->conditions[i];
    if( !cursor_is_served(index, condition, condition->key, 0)
     || !cursor_is_served(index, condition, condition->zone, 1) ) plan->flags |= INDEX_PLAN_FREE;
    if( index_is_pattern(condition->kind) && number & INDEX_PLAN_UNCHECKED ){
      rc = bloom_index_like_check(index, condition);
    }
  }
  return rc;
}

int bloom_index_filter(sqlite3_vtab_cursor *base, int number, const char *text, int num_args,
                       sqlite3_value **args){
  index_cursor *cursor = index_cursor_of(base);
  bloom_index *index = index_of(base->pVtab);
  /* The plan is that of the look-up before, and SQLite's own.  Between the two, as a statement
  ** runs, nothing but a change of the schema by the connection can come: SQLite compiles the inner
  ** statement again then, and cursor_check_columns() looks at the source. */
  const int is_repeated = cursor->rows && cursor->reading==INDEX_READ_FREE
    && cursor->plan.flags==number && number & INDEX_PLAN_FREE && !(number & INDEX_PLAN_UNCHECKED)
    && index->is_steady && index->is_checked && cursor->num_checks==index->num_checks
    && strcmp(cursor->plan_text, text)==0;
  index_form forms[INDEX_MAX_CONDITIONS] = {INDEX_FORM_NONE};
  index_reading reading = INDEX_READ_FREE;
  int rc = SQLITE_OK;
  (void)num_args;
  if( !cursor->is_eof ) cursor_end(cursor);
  cursor_free_lists(cursor);
  bloom_index_slices_free(cursor->slices);
  cursor->slices = NULL;
  cursor->num_read = 0;
  cursor->is_first = is_repeated;
  cursor->num_rows = cursor->num_counted = 0;
  cursor->has_shown_id = cursor->num_same = 0;
  sqlite3_value_free(cursor->same);
  cursor->same = NULL;
  if( !is_repeated ) rc = bloom_index_begin(index, INDEX_NEED_SOURCE);
  if( rc==SQLITE_ERROR && index->columns_state==INDEX_COLUMNS_OTHER
   && !(number & INDEX_PLAN_UNCHECKED) ){
    rc = cursor_say_schema_changed(index);
  }
  if( rc==SQLITE_OK && !is_repeated ) rc = cursor_read_plan(cursor, number, text);
  assert( rc!=SQLITE_OK || cursor->plan.num_conditions<=num_args );
  if( rc==SQLITE_OK ) rc = cursor_look_up(cursor, args, forms, &reading);
  if( rc!=SQLITE_OK ) return cursor_failure(cursor, rc);
  /* Binding fails for a wrong regular expression, as the table would. */
  if( reading==INDEX_READ_INTERVALS && cursor->intervals.num_intervals==0
     && !cursor_has_regexp(&cursor->plan) ) return SQLITE_OK;
  rc = cursor_prepare(cursor, forms, reading);
  if( rc==SQLITE_OK ) rc = bloom_index_pass_bind(index, cursor->rows, &cursor->plan, forms, args,
                                                 cursor->lists);
  if( rc!=SQLITE_OK ) return cursor_failure(cursor, rc);
  if( reading==INDEX_READ_SORTED ){
    sqlite3_bind_int64(cursor->rows, 1, cursor->bounds.first);
    sqlite3_bind_int64(cursor->rows, 2, cursor->bounds.last);
  }
  cursor->is_eof = 0;
  return cursor_advance(cursor);
}

int bloom_index_next(sqlite3_vtab_cursor *base){
  index_cursor *cursor = index_cursor_of(base);
  assert( !cursor->is_eof );
  if( !cursor->is_one_row ) return cursor_advance(cursor);
  cursor_end(cursor);
  return SQLITE_OK;
}

int bloom_index_eof(sqlite3_vtab_cursor *base){
  return index_cursor_of(base)->is_eof;
}

int bloom_index_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column){
  const index_cursor *cursor = index_cursor_of(base);
  const bloom_source *columns = &index_of(base->pVtab)->columns;
  assert( !cursor->is_eof );
  if( column<columns->num_columns ){
    const int result = column==columns->id_column ? 0 : cursor_result_of(&cursor->plan, column);
    assert( cursor->num_counted==0 && result<sqlite3_column_count(cursor->rows) );
    sqlite3_result_value(context, sqlite3_column_value(cursor->rows, result));
  }
  return SQLITE_OK;
}

int bloom_index_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid){
  index_cursor *cursor = index_cursor_of(base);
  sqlite3_int64 i;
  int rc = SQLITE_ROW;
  assert( cursor->rows && !cursor->is_eof );
  cursor->has_shown_id = 1;
  /* Once the rows were counted, those up to the current one are still to be read. */
  for(i=0; cursor->num_counted>0 && i<cursor->num_rows && rc==SQLITE_ROW; i++){
    rc = bloom_sql_step(index_of(base->pVtab)->connection, cursor->rows);
  }
  cursor->num_counted = 0;
  *rowid = sqlite3_column_int64(cursor->rows, 0);
  return rc==SQLITE_ROW || rc==SQLITE_DONE ? SQLITE_OK : cursor_failure(cursor, rc);
}
