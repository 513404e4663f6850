/*
** xBestIndex: which conditions pick blocks, and what a plan costs.
**
** The plan is text, which EXPLAIN QUERY PLAN shows.  Each argument of xFilter has a code and
** the letter of its indexed column: a capital where the blocks do not serve it, a digit and what
** follows it where it is a list, of IN.  Then come `d.` for descending ids, `a.` if everything is
** to be read, `c.` if the source is still to be checked, and behind `u` the columns
** that are used, in hexadecimal.  Behind a colon stands the same for people:
**
**   =a>au25: trace_id=? AND id>?
*/
#include "index_int.h"

#include <stdlib.h>
#include <string.h>

#include "../errors.h"

/* Rows that a key has, about; and what a row costs that is read through the inner statement. */
#define INDEX_ROWS_OF_KEY  10.0
#define INDEX_ROWS_OF_LIST 25.0 /* values of IN, as SQLite takes a subquery to have */
#define INDEX_COST_OF_ROW  1.5
#define INDEX_COST_OF_SCAN 2.5

/* 1 if a comparison by this collation finds no more than the column's blocks do. */
static int plan_is_collation_usable(const index_key *key, const char *name){
  bloom_collation collation;
  if( !bloom_collation_named(name, &collation) ) return 0;
  return collation==BLOOM_COLLATION_BINARY || collation==key->equality.collation;
}

/* The indexed column that serves a condition on a column; -1: none. */
static int plan_find_key(const bloom_index *index, int column, int is_like){
  int i;
  for(i=0; i<index->config.num_keys; i++){
    const index_key *key = &index->config.keys[i];
    if( key->column==column && key->is_like==is_like && key->doubt==NULL ) return i;
  }
  return -1;
}

/* Sets *condition if the blocks, or ids, serve a constraint. */
static int plan_condition(const bloom_index *index, sqlite3_index_info *info, int number, index_condition *condition){
  const struct sqlite3_index_constraint *constraint = &info->aConstraint[number];
  const int is_id = constraint->iColumn<0 || constraint->iColumn==index->columns.id_column;
  condition->key = condition->is_opaque = condition->is_list = 0;
  if( is_id ){
    switch( constraint->op ){
      case SQLITE_INDEX_CONSTRAINT_EQ: condition->kind = INDEX_ID_EQ; return 1;
      case SQLITE_INDEX_CONSTRAINT_GT: condition->kind = INDEX_ID_GT; return 1;
      case SQLITE_INDEX_CONSTRAINT_GE: condition->kind = INDEX_ID_GE; return 1;
      case SQLITE_INDEX_CONSTRAINT_LT: condition->kind = INDEX_ID_LT; return 1;
      case SQLITE_INDEX_CONSTRAINT_LE: condition->kind = INDEX_ID_LE; return 1;
      default: return 0;
    }
  }
  if( constraint->op==SQLITE_INDEX_CONSTRAINT_LIKE || constraint->op==SQLITE_INDEX_CONSTRAINT_GLOB ){
    condition->key = plan_find_key(index, constraint->iColumn, 1);
    condition->kind = constraint->op==SQLITE_INDEX_CONSTRAINT_LIKE ? INDEX_LIKE : INDEX_GLOB;
    return condition->key>=0;
  }
  if( constraint->op==SQLITE_INDEX_CONSTRAINT_REGEXP ){
    condition->key = plan_find_key(index, constraint->iColumn, 1);
    condition->kind = INDEX_REGEXP;
    return condition->key>=0 && index->config.keys[condition->key].is_regexp;
  }
  if( constraint->op!=SQLITE_INDEX_CONSTRAINT_EQ && constraint->op!=SQLITE_INDEX_CONSTRAINT_IS ) return 0;
  condition->key = plan_find_key(index, constraint->iColumn, 0);
  if( condition->key<0 ) condition->key = plan_find_key(index, constraint->iColumn, 1);
  condition->kind = constraint->op==SQLITE_INDEX_CONSTRAINT_EQ ? INDEX_EQ : INDEX_IS;
  return condition->key>=0 && plan_is_collation_usable(&index->config.keys[condition->key], sqlite3_vtab_collation(info, number));
}

const char *index_operator(index_condition_kind kind){
  switch( kind ){
    case INDEX_EQ:
    case INDEX_ID_EQ: return "=";
    case INDEX_IS:    return "IS";
    case INDEX_LIKE:  return "LIKE";
    case INDEX_GLOB:  return "GLOB";
    case INDEX_REGEXP:
    case INDEX_REGEXP_IN_ANY_CASE: return "REGEXP";
    case INDEX_ID_GT: return ">";
    case INDEX_ID_GE: return ">=";
    case INDEX_ID_LT: return "<";
    case INDEX_ID_LE: return "<=";
  }
  return "?";
}

/* Writes the plan as text, to be freed by SQLite. */
static char *plan_print(const bloom_index *index, const index_plan *plan, const char *doubt, int doubted_key){
  sqlite3_str *text = sqlite3_str_new(NULL);
  int i;
  for(i=0; i<plan->num_conditions; i++){
    const index_condition condition = plan->conditions[i];
    sqlite3_str_appendf(text, "%c%c", (char)condition.kind, (char)((condition.is_list ? '0' : condition.is_opaque ? 'A' : 'a') + condition.key));
  }
  if( plan->is_descending ) sqlite3_str_appendall(text, "d.");
  if( plan->reads_all ) sqlite3_str_appendall(text, "a.");
  if( plan->is_unchecked ) sqlite3_str_appendall(text, "c.");
  sqlite3_str_appendf(text, "u%llx: ", plan->columns_used);
  for(i=0; i<plan->num_conditions; i++){
    const index_condition condition = plan->conditions[i];
    const char *name = index_is_on_id(condition.kind) ? index->columns.id_name : index_key_name(index, condition.key);
    sqlite3_str_appendf(text, "%s%s %s ?", i ? " AND " : "", name,
                        condition.is_list ? "IN" : index_operator(condition.kind));
  }
  if( doubt ) sqlite3_str_appendf(text, "%s(reads the whole table: %s)", plan->num_conditions ? " " : "", doubt);
  else if( doubted_key>=0 ) sqlite3_str_appendf(text, "%s(column %s %s; 'rebuild' repairs it)", plan->num_conditions ? " " : "",
                                                index_key_name(index, doubted_key), index->config.keys[doubted_key].doubt);
  return sqlite3_str_finish(text);
}

/* An indexed column whose blocks a condition would ask, were they not out of use; -1: none. */
static int plan_find_doubted_key(const bloom_index *index, const sqlite3_index_info *info){
  int i, key;
  for(key=0; key<index->config.num_keys; key++){
    for(i=0; i<info->nConstraint && index->config.keys[key].doubt; i++){
      if( info->aConstraint[i].iColumn==index->config.keys[key].column ) return key;
    }
  }
  return -1;
}

void index_plan_read(const char *text, index_plan *plan){
  memset(plan, 0, sizeof(*plan));
  for(; text[0]!='u'; text+=2){
    if( text[0]=='d' ){
      plan->is_descending = 1;
    }else if( text[0]=='a' ){
      plan->reads_all = 1;
    }else if( text[0]=='c' ){
      plan->is_unchecked = 1;
    }else{
      const int begin = text[1]<'A' ? '0' : text[1]<'a' ? 'A' : 'a';
      plan->conditions[plan->num_conditions++] = (index_condition){
        .kind = (index_condition_kind)text[0], .key = text[1] - begin, .is_list = begin=='0', .is_opaque = begin=='A'
      };
    }
  }
  for(text++; *text!=':'; text++){
    plan->columns_used = plan->columns_used<<4 | (sqlite3_uint64)(*text<='9' ? *text - '0' : *text - 'a' + 10);
  }
}

/* Rows of a table of which nothing is known, as SQLite has it. */
#define INDEX_UNKNOWN_ROWS 1048576.0

/* Sets *num_rows to about how many rows there are, the merged ones, and *doubt, if there is none
** yet, to why blocks cannot be believed.  It may be repaired before the plan runs, so that xFilter
** finds it by itself. */
static int plan_read_layout(bloom_index *index, double *num_rows, const char **doubt){
  index_layout layout;
  const int rc = index_layout_read(index, &layout);
  const int is_damaged = (rc & 0xff)==SQLITE_CORRUPT || (rc==SQLITE_OK && layout.number==index->damaged_number);
  if( rc==SQLITE_OK && layout.has_covered ) *num_rows = (double)layout.num_rows;
  if( *doubt==NULL && is_damaged ) *doubt = "a page of the index is damaged; 'merge' repairs it";
  if( *doubt==NULL && rc==SQLITE_OK && layout.is_dirty ) *doubt = "a merge did not come to its end; 'merge' repairs it";
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
}

/* Sets what the plan costs. */
static void plan_set_cost(const index_plan *plan, double num_rows, int reads_all, sqlite3_index_info *info){
  double rows = num_rows, shadow_reads = 0;
  int i, has_key = 0, has_list = 0, is_unique = 0;
  for(i=0; i<plan->num_conditions; i++){
    const index_condition_kind kind = plan->conditions[i].kind;
    has_list |= plan->conditions[i].is_list;
    if( kind==INDEX_ID_EQ && plan->conditions[i].is_list ){
      if( rows>INDEX_ROWS_OF_LIST ) rows = INDEX_ROWS_OF_LIST;
    }else if( kind==INDEX_ID_EQ ){
      is_unique = 1;
    }else if( index_is_on_id(kind) ){
      rows /= 4;
    }else{
      has_key = 1;
      shadow_reads += (plan->conditions[i].is_list ? INDEX_ROWS_OF_LIST : 1) * (20 + num_rows/100000);
    }
  }
  if( has_key && !reads_all && rows>INDEX_ROWS_OF_KEY*(has_list ? INDEX_ROWS_OF_LIST : 1) ){
    rows = INDEX_ROWS_OF_KEY * (has_list ? INDEX_ROWS_OF_LIST : 1);
  }
  if( is_unique ){
    rows = 1;
    info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  }
  info->estimatedRows = rows<1 ? 1 : (sqlite3_int64)rows;
  info->estimatedCost = shadow_reads + rows*(rows<num_rows ? INDEX_COST_OF_ROW : INDEX_COST_OF_SCAN) + 1;
}

/* 1 if there is a constraint < or >= on a column.  SQLite makes these of `LIKE 'begin%'` and
** filters by them: if LIKE is omitted in an ON clause, an outer join loses its rows. */
static int plan_has_range(const sqlite3_index_info *info, int column){
  int i;
  for(i=0; i<info->nConstraint; i++){
    const int op = info->aConstraint[i].op;
    if( info->aConstraint[i].iColumn==column && (op==SQLITE_INDEX_CONSTRAINT_GE || op==SQLITE_INDEX_CONSTRAINT_LT) ) return 1;
  }
  return 0;
}

/* Takes the constraints that can be answered. */
static int plan_conditions(bloom_index *index, sqlite3_index_info *info, index_plan *plan){
  int i, rc = SQLITE_OK;
  for(i=0; i<info->nConstraint && rc==SQLITE_OK && plan->num_conditions<INDEX_MAX_CONDITIONS; i++){
    index_condition condition;
    if( !info->aConstraint[i].usable || !plan_condition(index, info, i, &condition) ) continue;
    if( !plan->is_unchecked && index_is_pattern(condition.kind) ) rc = index_like_check(index, &condition);
    if( rc!=SQLITE_OK && !bloom_sql_is_fatal(rc) ){
      /* An interrupt, or what an authorizer refuses: xFilter looks once more, and says so. */
      plan->is_unchecked = 1;
      rc = SQLITE_OK;
    }
    /* Of one value at a time SQLite would compare the column with it, without the affinity that
    ** IN has. */
    if( condition.kind==INDEX_EQ || condition.kind==INDEX_ID_EQ ) condition.is_list = bloom_vtab_takes_list(info, i);
    plan->conditions[plan->num_conditions++] = condition;
    info->aConstraintUsage[i].argvIndex = plan->num_conditions;
    /* The inner statement calls the same function. */
    if( index_is_pattern(condition.kind) ) info->aConstraintUsage[i].omit = !plan_has_range(info, info->aConstraint[i].iColumn);
  }
  return rc;
}

int index_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info){
  bloom_index *index = index_of(vtab);
  index_plan plan = {.num_conditions = 0};
  const char *doubt = NULL;
  double num_rows = INDEX_UNKNOWN_ROWS;
  int rc = SQLITE_BUSY;
  if( index->damage ) return bloom_fail_vtab(&vtab->zErrMsg, "bloom_index: %s %s", index->name, index->damage);
  if( bloom_can_read_in_best_index() ) rc = index_locate(index);
  if( rc==SQLITE_OK ) rc = index_source_doubt(index, &doubt, &vtab->zErrMsg);
  if( rc==SQLITE_OK && index->columns_state==INDEX_COLUMNS_MORE ) rc = index_columns_fail(index, &vtab->zErrMsg);
  if( rc!=SQLITE_OK && rc!=SQLITE_ERROR && !bloom_sql_is_fatal(rc) ){
    /* Somebody's lock, say: xFilter looks once more, as SQLite knows no such error here. */
    plan.is_unchecked = 1;
    rc = SQLITE_OK;
  }
  plan.reads_all = doubt!=NULL;
  plan.columns_used = info->colUsed;
  if( rc==SQLITE_OK ) rc = plan_conditions(index, info, &plan);
  if( rc==SQLITE_OK && info->nOrderBy==1
   && (info->aOrderBy[0].iColumn<0 || info->aOrderBy[0].iColumn==index->columns.id_column) ){
    info->orderByConsumed = 1;
    plan.is_descending = info->aOrderBy[0].desc!=0;
  }
  if( rc==SQLITE_OK && !plan.is_unchecked ) rc = plan_read_layout(index, &num_rows, &doubt);
  if( rc==SQLITE_OK ){
    plan_set_cost(&plan, num_rows, doubt!=NULL, info);
    info->idxStr = plan_print(index, &plan, doubt, plan_find_doubted_key(index, info));
    info->needToFreeIdxStr = 1;
    if( info->idxStr==NULL ) rc = SQLITE_NOMEM;
  }
  return rc;
}
