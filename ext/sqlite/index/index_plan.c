/*
** A plan: whether entries find the rows or SQLite plans the inner statement, what becomes of ORDER
** BY and LIMIT, and how the plan goes from xBestIndex to xFilter.
**
** idxNum has the bits of index_plan_flag.  idxStr has words that EXPLAIN QUERY PLAN shows, and in
** brackets four fields of hexadecimal numbers, with semicolons between them:
**
**   trace_id = ? by entries; id > ? by id [210010,108002,;1,;0;25]
**
** 1. the conditions in the order of xFilter's arguments, each as plan_write() packs it, with its
**    collation in quotes behind it, if it has one
** 2. the terms of the order: 2*(column + 1), and 1 more if it is descending
** 3. num_limits
** 4. columns_used
*/
#include "index_plan.h"
#include "index_source.h"

#include <stdlib.h>
#include <string.h>

/* Why a query is slower than it could be, as EXPLAIN QUERY PLAN shows. */
typedef struct index_plan_remark {
  const char *doubt;  /* why the whole table is read; NULL: it is not */
  const char *effect; /* what 'merge' does about it; NULL: it is the source's doubt */
  sqlite3_int64 num_unmerged; /* about how many rows are not merged */
} index_plan_remark;

#ifndef SQLITE_INDEX_CONSTRAINT_LIMIT
# define SQLITE_INDEX_CONSTRAINT_LIMIT  73 /* from 3.38 on */
# define SQLITE_INDEX_CONSTRAINT_OFFSET 74
#endif

static int plan_is_by_id(const index_plan *plan){
  return plan->num_orders>0 && plan->orders[0].column<0;
}

/* Sets num_wanted, and num_limits if SQLite leaves out none of the source's rows, so that the
** source may stop at the LIMIT.  SQLite 3.38 to 3.40 pass a LIMIT though they check `a = c`, both
** of one table, themselves; 3.52 is known not to.  SQLite leaves out checks of the first 16
** constraints alone, and never that of (a, b) > (?, ?), which it passes as a >= ?. */
static void plan_read_limits(sqlite3_index_info *info, index_plan *plan){
  int i, can_stop = sqlite3_libversion_number()>=3052000;
  for(i=0; i<info->nConstraint; i++){
    const int op = info->aConstraint[i].op;
    sqlite3_value *literal = bloom_index_literal(info, i);
    if( !info->aConstraint[i].usable ) can_stop = 0;
    if( op==SQLITE_INDEX_CONSTRAINT_LIMIT || op==SQLITE_INDEX_CONSTRAINT_OFFSET ){
      const sqlite3_int64 num_rows = literal ? sqlite3_value_int64(literal) : 0;
      plan->num_limits++;
      /* When SQLite compares a sorter with an index, it leaves OFFSET out of account. */
      if( op==SQLITE_INDEX_CONSTRAINT_LIMIT && num_rows>0 && num_rows<1000000 ){
        plan->num_wanted = (int)num_rows;
      }
    }else if( i>=16 || !info->aConstraintUsage[i].omit
           || (literal==NULL && (op==SQLITE_INDEX_CONSTRAINT_GE
                                 || op==SQLITE_INDEX_CONSTRAINT_LE)) ) can_stop = 0;
  }
  if( !can_stop ) plan->num_limits = 0;
  assert( plan->num_limits<=2 );
}

/* Returns 1 if entries or zones serve a condition.  but_beginnings: a pattern with a beginning does
** not count if entries serve it. */
static int plan_has_blocks(const index_plan *plan, int but_beginnings){
  int i;
  for(i=0; i<plan->num_conditions; i++){
    const index_condition condition = plan->conditions[i];
    if( condition.zone>=0 ) return 1;
    if( condition.key>=0 && !(but_beginnings && condition.has_beginning) ) return 1;
  }
  return 0;
}

/* Sets *num_rows to about how many rows there are, if that is known, and the remark, if there is
** none yet, to what the layout tells.  Damage does not change the plan: it may be repaired before
** xFilter, which finds it itself. */
static int plan_read_layout(bloom_index *index, const index_plan *plan, double *num_rows,
                            index_plan_remark *remark){
  const index_layout *layout = NULL;
  sqlite3_int64 last = 0;
  int is_outweighed = 0, rc = bloom_index_layout_read(index, &layout);
  if( bloom_sql_is_fatal(rc) ) return rc;
  if( rc!=SQLITE_OK ) layout = NULL;
  if( remark->doubt==NULL
   && (layout ? bloom_connection_knows_damage(index->connection, layout->number)
              : (rc & 0xff)==SQLITE_CORRUPT) ){
    remark->doubt = "a page of the index is damaged";
    remark->effect = "repairs it";
  }
  rc = bloom_index_last_id(index, &last);
  if( rc==SQLITE_OK && layout && layout->has_covered ){
    *num_rows = bloom_index_cost_num_rows(layout, last);
  }else if( rc==SQLITE_OK && last>=0 && (double)last<INDEX_MAX_ROWS ) *num_rows = (double)last;
  if( rc==SQLITE_OK && layout && remark->doubt==NULL && plan_has_blocks(plan, 0) ){
    remark->num_unmerged = (sqlite3_int64)(*num_rows - (double)layout->num_rows);
    /* Tables in doubt are not read: one may be a view without end. */
    if( layout->has_covered ) rc = bloom_index_cost_is_outweighed(index, layout, &is_outweighed);
    if( is_outweighed ){
      remark->doubt = "too many rows changed since the last merge";
      remark->effect = "makes it faster";
    }
  }
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
}

/* Finds how SQLite would read the source by the plan's conditions, in any order or the plan's.
** Where xBestIndex cannot read, it is taken to be a scan. */
static int plan_find_access(bloom_index *index, index_plan *plan, int is_ordered,
                            index_access *access){
  const int num_orders = plan->num_orders;
  index_form forms[INDEX_MAX_CONDITIONS];
  const index_list list = {0};
  int i, may_search = is_ordered && num_orders>0, rc = SQLITE_OK;
  *access = (index_access){.way = INDEX_ACCESS_SCAN};
  /* An index of the source may serve the order, or a condition. */
  for(i=0; i<plan->num_conditions && !may_search; i++){
    const index_condition *condition = &plan->conditions[i];
    may_search = index_group_of(condition->kind)!=INDEX_DIFFERENCE
      && (condition->has_beginning || !index_is_pattern(condition->kind));
  }
  if( !may_search || plan->flags & INDEX_PLAN_UNCHECKED ) return SQLITE_OK;
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK; i++){
    const index_condition *condition = &plan->conditions[i];
    index_list prefixes = {.num_values = 0};
    forms[i] = bloom_index_pass_form(index, condition, plan->literals[i], &list);
    rc = bloom_index_numbers_form(index, condition, plan->literals[i], &prefixes, &forms[i]);
    bloom_index_list_free(&prefixes);
  }
  if( !is_ordered ) plan->num_orders = 0;
  if( rc==SQLITE_OK ){
    assert( i==plan->num_conditions ); /* each has its form */
    char *sql = bloom_index_pass_statement(index, plan, forms, INDEX_READ_COST);
    rc = bloom_index_cost_access(index, sql, access);
  }
  plan->num_orders = num_orders;
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK; /* xFilter reports other errors */
}

/* Makes the plan one without entries: SQLite plans the inner statement, which has the order and the
** LIMIT where that pays.  access, ordered: how SQLite would read the source in any order, and in
** the plan's. */
static void plan_take_free(const bloom_index *index, sqlite3_index_info *info, index_plan *plan,
                           const index_access *access, const index_access *ordered){
  const index_order *order = &plan->orders[0];
  int i;
  const int is_checked = !(plan->flags & INDEX_PLAN_UNCHECKED);
  /* The query's sorter keeps no more rows than its LIMIT; one in the inner statement keeps all.
  ** DISTINCT needs no order: it is not worth a sorter, or a scan in place of a search. */
  const int is_dear = ordered->sorts
    || (bloom_vtab_is_distinct(info) && (ordered->sorts_last || (ordered->way==INDEX_ACCESS_SCAN
                                                                 && access->way!=ordered->way)));
  plan->flags |= INDEX_PLAN_FREE;
  /* For a pattern that an index may serve SQLite compiles the statement again for each look-up. */
  for(i=0; i<plan->num_conditions && is_checked && !ordered->has_range; i++){
    plan->conditions[i].has_beginning = 0;
  }
  if( !plan_is_by_id(plan) && (!is_checked || (plan->num_limits==0 && is_dear)) ){
    plan->num_orders = 0;
  }
  if( info->nOrderBy>0 && plan->num_orders==0 ) plan->num_limits = 0;
  for(i=0; i<info->nConstraint && plan->num_limits>0; i++){
    const int number = info->aConstraint[i].op - SQLITE_INDEX_CONSTRAINT_LIMIT;
    if( number!=0 && number!=1 ) continue; /* the latter is OFFSET */
    assert( number<plan->num_limits );
    info->aConstraintUsage[i].argvIndex = plan->num_conditions + number + 1;
    info->aConstraintUsage[i].omit = 1;
  }
  /* Without conditions a query may need the number of rows alone, or each value of one column once.
  ** The cursor compares values by their bytes in UTF-8.  In a column without a type 1 and 1.0 are
  ** equal, and other bytes. */
  if( info->nConstraint>0 ) return;
  if( info->nOrderBy==0 && info->colUsed==0 ) plan->flags |= INDEX_PLAN_COUNTED;
  if( plan->num_orders==1 && order->column>=0 && order->column<63
     && info->colUsed==(sqlite3_uint64)1 << order->column && bloom_vtab_is_distinct(info)
     && index->columns.list[order->column].affinity!='b'
     && sqlite3_stricmp(index->columns.list[order->column].collation, "BINARY")==0
     && index->letter_bytes==1 ){
    plan->flags |= INDEX_PLAN_DISTINCT;
  }
}

/* Chooses whether entries, slices of the order or SQLite find the rows.  has_entries: entries are
** not in doubt. */
static int plan_choose(bloom_index *index, sqlite3_index_info *info, index_plan *plan,
                       double num_rows, int has_entries){
  const int is_by_id = plan_is_by_id(plan);
  const int key = plan->num_orders>0 && !is_by_id
    ? bloom_index_order_key(index, plan->orders[0].column) : -1;
  index_access access, ordered;
  index_cost cost, of_blocks;
  int is_sliced = 0, rc = plan_find_access(index, plan, 0, &access);
  /* Zones may give the order in less time than a sorter takes. */
  if( rc==SQLITE_OK && key>=0 && has_entries && !(plan->flags & INDEX_PLAN_UNCHECKED) ){
    rc = bloom_index_order_pays(index, key, &is_sliced);
  }
  if( rc!=SQLITE_OK ) return rc;
  assert( num_rows>=0 && num_rows<=INDEX_MAX_ROWS );
  cost = bloom_index_cost_free(plan, &access, num_rows);
  of_blocks = bloom_index_cost_blocks(plan, num_rows);
  ordered = access;
  /* Where an index of the source has a pattern's beginning, entries would leave as many rows. */
  if( has_entries && plan_has_blocks(plan, access.way==INDEX_ACCESS_SHORT_RANGE)
   && (access.way==INDEX_ACCESS_SCAN || of_blocks.cost<cost.cost) ){
    /* Rows come by their ids, or in slices; where xFilter gives entries up, in the same order. */
    cost = of_blocks;
    if( !is_by_id && !is_sliced ) plan->num_orders = 0;
  }else{
    plan_read_limits(info, plan);
    if( plan->num_orders>0 && !is_by_id ) rc = plan_find_access(index, plan, 1, &ordered);
    /* Slices are in place of a scan and a sorter. */
    is_sliced &= ordered.way==INDEX_ACCESS_SCAN && ordered.sorts;
    if( is_sliced ) plan->num_limits = 0;
    else plan_take_free(index, info, plan, &access, &ordered);
  }
  if( is_sliced ) plan->flags |= INDEX_PLAN_SLICES;
  /* A LIMIT counts rows in the order, and of all intervals. */
  assert( plan->num_limits==0 || (plan->flags & INDEX_PLAN_FREE
                                  && (info->nOrderBy==0 || plan->num_orders>0)) );
  assert( !is_sliced || (plan->num_orders>0 && plan->orders[0].column>=0) );
  assert( !is_sliced || !(plan->flags & INDEX_PLAN_FREE) );
  info->orderByConsumed = plan->num_orders>0;
  info->estimatedRows = cost.num_rows<1 ? 1 : (sqlite3_int64)cost.num_rows;
  info->estimatedCost = cost.cost;
  if( bloom_index_cost_is_one_row(plan) ) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  return rc;
}

/* Fails if there is a condition on the column for commands, where FTS5 has patterns, except IS NULL
** and IS NOT NULL, which tools ask of every column; or if a column is used whose collation the
** connection does not have. */
static int plan_check_columns(bloom_index *index, const sqlite3_index_info *info,
                              const index_plan *plan){
  int i;
  for(i=0; i<info->nConstraint && index->columns.num_columns>0; i++){
    if( info->aConstraint[i].iColumn<index->columns.num_columns
       || bloom_is_null_test(info->aConstraint[i].op) ) continue;
    return BLOOM_INDEX_FAIL(index, "bloom_index: column %s of %s takes commands alone: write"
                            " conditions on the columns of its table", index->name, index->name);
  }
  for(i=0; i<index->columns.num_columns; i++){
    const bloom_source_column column = index->columns.list[i];
    if( !column.has_no_collation || !bloom_index_uses_column(plan, i) ) continue;
    return BLOOM_INDEX_FAIL(index, "bloom_index: column %s has the collation %s, which this"
                            " connection does not have", column.name, column.collation);
  }
  return SQLITE_OK;
}

/* -- As text --------------------------------------------------------------------------------- */

/* Returns an indexed column whose entries are in doubt, and on which there is a constraint; -1:
** none. */
static int plan_find_doubted_key(const bloom_index *index, const sqlite3_index_info *info){
  int i, key;
  for(key=0; key<index->config.num_keys; key++){
    for(i=0; i<info->nConstraint && index->config.keys[key].doubt; i++){
      if( info->aConstraint[i].iColumn==index->config.keys[key].column ) return key;
    }
  }
  return -1;
}

/* Fewer rows that are not merged are not worth a remark. */
#define PLAN_MANY_UNMERGED 1000

/* Appends why the query is slower than it need be, and the SQL that helps.  SQLITE_OK or
** SQLITE_NOMEM. */
static int plan_print_remark(const bloom_index *index, const sqlite3_index_info *info,
                             const index_plan *plan, const index_plan_remark *remark,
                             sqlite3_str *text){
  const int key = plan_find_doubted_key(index, info);
  const char *effect = remark->effect;
  char *doubt = NULL;
  int i, is_nomem = 0, is_short = 0, is_served = remark->doubt!=NULL;
  /* A pattern has no piece to look for, and all conditions are left to the table.  In slices a
  ** LIMIT may end the query before all of it is read. */
  for(i=0; i<plan->num_conditions && !is_served; i++){
    const index_condition *condition = &plan->conditions[i];
    is_served = condition->key>=0 || condition->zone>=0 || condition->is_on_id;
    is_short |= condition->is_short;
  }
  if( is_short && !is_served && !(plan->flags & INDEX_PLAN_SLICES) ){
    sqlite3_str_appendall(text, "; reads the whole table: the piece has less than 3 bytes");
  }
  if( effect ){
    sqlite3_str_appendf(text, "; reads the whole table: %s", remark->doubt);
  }else if( remark->doubt || key>=0 ){
    doubt = bloom_index_doubt_text(index, remark->doubt ? -1 : key);
    is_nomem |= doubt==NULL;
    sqlite3_str_appendf(text, remark->doubt ? "; reads the whole table: %s" : "; %s", doubt);
  }else if( remark->num_unmerged>=PLAN_MANY_UNMERGED ){
    effect = "makes it faster";
    sqlite3_str_appendf(text, "; reads up to %lld rows that are not merged", remark->num_unmerged);
  }
  if( effect ){
    char *name = bloom_sql_name(index->name);
    is_nomem |= name==NULL;
    sqlite3_str_appendf(text, "; INSERT INTO %s(%s) VALUES ('merge') %s", name, name, effect);
    sqlite3_free(name);
  }
  sqlite3_free(doubt);
  return is_nomem ? SQLITE_NOMEM : SQLITE_OK;
}

/* Appends the plan as bloom_index_plan_read() reads it. */
static void plan_write(const index_plan *plan, sqlite3_str *text){
  _Static_assert(INDEX_NUM_KINDS<=16 && INDEX_MAX_KEYS<=31, "they fit into 4 and 5 bits");
  int i;
  sqlite3_str_appendall(text, " [");
  for(i=0; i<plan->num_conditions; i++){
    const index_condition *condition = &plan->conditions[i];
    const int flags = condition->is_on_id | condition->is_list << 1 | condition->is_literal << 2
      | condition->is_unpassed << 3 | condition->has_beginning << 4 | condition->is_end << 5;
    assert( ((condition->is_on_id | condition->is_list | condition->is_literal
              | condition->is_unpassed | condition->has_beginning | condition->is_end) & ~1)==0 );
    assert( condition->key>=-1 && condition->key<INDEX_MAX_KEYS );
    assert( condition->zone>=-1 && condition->zone<INDEX_MAX_KEYS );
    assert( strpbrk(condition->collation, "[\"")==NULL );
    sqlite3_str_appendf(text, "%llx", (sqlite3_uint64)condition->kind
                        | (sqlite3_uint64)(condition->key + 1) << 4
                        | (sqlite3_uint64)(condition->zone + 1) << 9 | (sqlite3_uint64)flags << 14
                        | (sqlite3_uint64)(condition->column + 1) << 20);
    if( condition->collation[0] ) sqlite3_str_appendf(text, "\"%s\"", condition->collation);
    sqlite3_str_appendall(text, ",");
  }
  sqlite3_str_appendall(text, ";");
  for(i=0; i<plan->num_orders; i++){
    sqlite3_str_appendf(text, "%x,", 2*(plan->orders[i].column + 1)
                        + plan->orders[i].is_descending);
  }
  sqlite3_str_appendf(text, ";%d;%llx]", plan->num_limits, plan->columns_used);
}

/* Returns the plan as text, to be freed by SQLite; NULL when out of memory. */
static char *plan_print(const bloom_index *index, const sqlite3_index_info *info,
                        const index_plan *plan, const index_plan_remark *remark){
  const int has_entries = !(plan->flags & INDEX_PLAN_FREE);
  sqlite3_str *text = sqlite3_str_new(NULL);
  char *result;
  int i, rc;
  for(i=0; i<plan->num_conditions; i++){
    const index_condition *condition = &plan->conditions[i];
    const char *by = has_entries && condition->key>=0 ? "entries"
      : has_entries && condition->zone>=0 ? "zones" : condition->is_on_id ? "id"
      : condition->is_unpassed ? "SQLite" : "the table";
    sqlite3_str_appendf(text, "%s%s %s%s by %s", i ? "; " : "",
                        bloom_index_name_of(index, condition),
                        condition->is_list ? "IN" : bloom_index_kinds[condition->kind].sql,
                        index_group_of(condition->kind)==INDEX_NULL_TEST ? "" : " ?", by);
  }
  if( plan->num_conditions==0 ) sqlite3_str_appendall(text, "all rows");
  if( plan->flags & INDEX_PLAN_SLICES ){
    sqlite3_str_appendf(text, "; ORDER BY %s by zones",
                        index->columns.list[plan->orders[0].column].name);
  }
  rc = plan_print_remark(index, info, plan, remark, text);
  plan_write(plan, text);
  result = sqlite3_str_finish(text);
  if( rc==SQLITE_OK ) return result;
  sqlite3_free(result);
  return NULL;
}

/* Returns the number at *text, which moves behind it. */
static sqlite3_uint64 plan_take_number(const char **text){
  char *end;
  const sqlite3_uint64 number = strtoull(*text, &end, 16);
  *text = end;
  return number;
}

void bloom_index_plan_read(const char *text, index_plan *plan){
  memset(plan, 0, sizeof(*plan));
  text = strrchr(text, '['); /* no collation in it has that character, or a quote */
  assert( text );
  for(text++; *text!=';'; text++){
    index_condition *condition = &plan->conditions[plan->num_conditions++];
    const sqlite3_uint64 packed = plan_take_number(&text);
    const int flags = (int)(packed >> 14 & 63);
    assert( plan->num_conditions<=INDEX_MAX_CONDITIONS && (packed & 15)<INDEX_NUM_KINDS );
    *condition = (index_condition){
      .kind = (index_condition_kind)(packed & 15), .key = (int)(packed >> 4 & 31) - 1,
      .zone = (int)(packed >> 9 & 31) - 1, .column = (int)(packed >> 20) - 1,
      .is_on_id = flags & 1, .is_list = flags >> 1 & 1, .is_literal = flags >> 2 & 1,
      .is_unpassed = flags >> 3 & 1, .has_beginning = flags >> 4 & 1, .is_end = flags >> 5 & 1
    };
    if( *text=='"' ){
      const int num_bytes = (int)strcspn(++text, "\"");
      assert( num_bytes<INDEX_MAX_COLLATION );
      memcpy(condition->collation, text, (size_t)num_bytes);
      text += num_bytes + 1;
    }
    assert( *text==',' );
  }
  for(text++; *text!=';'; text++){
    const int order = (int)plan_take_number(&text);
    assert( plan->num_orders<INDEX_MAX_ORDERS && *text==',' );
    plan->orders[plan->num_orders++] = (index_order){order/2 - 1, order & 1};
  }
  text++;
  plan->num_limits = (int)plan_take_number(&text);
  text++;
  plan->columns_used = plan_take_number(&text);
  assert( plan->num_limits<=2 && strcmp(text, "]")==0 );
}

/* -- xBestIndex ------------------------------------------------------------------------------ */

int bloom_index_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info){
  bloom_index *index = index_of(vtab);
  index_plan plan = {.columns_used = info->colUsed};
  index_plan_remark remark = {.doubt = NULL};
  double num_rows = 1048576; /* SQLite's estimate for a table that was not analyzed */
  int i, has_entries, rc;
  if( index->like_end ){
    bloom_index_see_end(index, info);
    return SQLITE_OK;
  }
  if( index->damage ) return bloom_index_begin(index, INDEX_NEED_SOURCE);
  rc = plan_check_columns(index, info, &plan);
  if( rc!=SQLITE_OK ) return rc;
  bloom_index_statements_forget(index, 0);
  rc = bloom_can_read_in_best_index() ? bloom_index_begin(index, INDEX_NEED_SOURCE) : SQLITE_BUSY;
  if( rc==SQLITE_OK ) remark.doubt = index->source.doubt;
  if( rc==SQLITE_OK && index->columns_state==INDEX_COLUMNS_MORE ){
    rc = bloom_index_columns_fail(index);
  }
  if( rc!=SQLITE_OK && rc!=SQLITE_ERROR && !bloom_sql_is_fatal(rc) ){
    /* A lock, say.  If xBestIndex failed, the query would return SQLITE_ERROR in place of that
    ** code; so xFilter fails. */
    plan.flags |= INDEX_PLAN_UNCHECKED;
    rc = SQLITE_OK;
  }
  has_entries = remark.doubt==NULL;
  if( rc==SQLITE_OK ) rc = bloom_index_conditions(index, info, &plan);
  if( rc==SQLITE_OK && !(plan.flags & INDEX_PLAN_UNCHECKED) ){
    rc = plan_read_layout(index, &plan, &num_rows, &remark);
  }
  if( rc!=SQLITE_OK ) return rc;
  /* The order is that of ORDER BY, or none if that has other columns than the source, or too many.
  ** Terms behind an id are left out: no two rows have it in common. */
  for(i=0; i<info->nOrderBy; i++){
    const int column = info->aOrderBy[i].iColumn;
    const int is_id = column<0 || column==index->columns.id_column;
    if( i==INDEX_MAX_ORDERS || column>=index->columns.num_columns ){
      plan.num_orders = 0;
      break;
    }
    plan.orders[plan.num_orders++] = (index_order){is_id ? -1 : column,
                                                   info->aOrderBy[i].desc!=0};
    if( is_id ) break;
  }
  rc = plan_choose(index, info, &plan, num_rows, has_entries);
  if( rc!=SQLITE_OK ) return rc;
  info->idxNum = plan.flags;
  info->idxStr = plan_print(index, info, &plan, &remark);
  info->needToFreeIdxStr = 1;
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}
