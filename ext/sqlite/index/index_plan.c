/*
** xBestIndex: constraints become conditions; whether SQLite plans the inner statement or entries
** do, and what becomes of ORDER BY and LIMIT.
*/
#include "index_source.h"
#include "index_values.h"

#include <string.h>

/* == Conditions ======================================================================== */

/*
** Constraints of xBestIndex as conditions: which columns serve them, how the source may compare,
** and what SQLite need not check.
*/

/* Returns 1 if a comparison by this collation finds no more than the column's entries do. */
static int plan_is_collation_usable(const index_key *key, const char *name){
  bloom_collation collation;
  if( !bloom_collation_named(name, &collation) ) return 0;
  return collation==BLOOM_COLLATION_BINARY || collation==key->equality.collation;
}

/* Returns 1 if the zones of an indexed column serve a condition on it. */
static int plan_zones_serve(const index_key *key, const index_condition *condition,
                            const char *collation){
  const index_group group = index_group_of(condition->kind);
  if( group==INDEX_EQUALITY ) return plan_is_collation_usable(key, collation);
  if( group!=INDEX_RANGE ) return group==INDEX_NULL_TEST || group==INDEX_PATTERN;
  /* The latter as SQLite makes of LIKE 'begin%'. */
  return sqlite3_stricmp(key->collation, collation)==0
    || (sqlite3_stricmp(key->collation, "BINARY")==0
        && sqlite3_stricmp(condition->collation, "NOCASE")==0);
}

/* Returns 1 if the entries of an indexed column serve a condition on it. */
static int plan_entries_serve(const index_key *key, const index_condition *condition,
                              const char *collation){
  const index_group group = index_group_of(condition->kind);
  if( group==INDEX_EQUALITY ) return plan_is_collation_usable(key, collation);
  return group==INDEX_PATTERN ? key->is_like : group==INDEX_EXPRESSION && key->is_regexp;
}

/* Sets the indexed columns that serve a condition. */
static void plan_set_keys(const bloom_index *index, index_condition *condition,
                          const char *collation){
  int i;
  for(i=0; i<index->config.num_keys && !condition->is_on_id; i++){
    const index_key *key = &index->config.keys[i];
    if( key->column!=condition->column || key->doubt ) continue;
    if( key->is_range ){
      if( plan_zones_serve(key, condition, collation) ) condition->zone = i;
    }else if( plan_entries_serve(key, condition, collation)
           && (condition->key<0 || key->is_like==index_is_pattern(condition->kind)) ){
      condition->key = i; /* a whole text has its grams, too; tokens of values tell more */
    }
  }
}

/* Returns a constraint's value, if it is a literal, from 3.38 on; else NULL.  SQLite before 3.54
** shows 0x80000000 as a TEXT, and CAST(1.50 AS TEXT) as '1.50': only xFilter knows the value. */
static sqlite3_value *plan_literal(sqlite3_index_info *info, int number){
  sqlite3_value *value = NULL;
  (void)info; (void)number;
#if SQLITE_VERSION_NUMBER >= 3038000
  if( sqlite3_libversion_number()>=3038000
     && sqlite3_vtab_rhs_value(info, number, &value)!=SQLITE_OK ) value = NULL;
#endif
  return value;
}

/* Returns the text of a literal; NULL: it is none, or memory failed. */
static const unsigned char *plan_text(sqlite3_value *literal){
  return literal && sqlite3_value_type(literal)==SQLITE_TEXT ? sqlite3_value_text(literal) : NULL;
}

/* Returns the last byte of a literal's text; 0 if it is none. */
static int plan_last_byte(sqlite3_value *literal){
  const unsigned char *text = plan_text(literal);
  const int num_bytes = text ? sqlite3_value_bytes(literal) : 0;
  return num_bytes>0 ? text[num_bytes-1] : 0;
}

/* Sets how the source may compare by a collation that SQLite names: by the column's own, which
** finds at least as much, by that one, or not at all.  Of (a, b) > (x, y) SQLite may name that of y
** for a, and nothing tells it from a > x if x is no literal. */
static void plan_set_collation(const bloom_index *index, index_condition *condition,
                               sqlite3_index_info *info, int number){
  const int is_equality = index_group_of(condition->kind)==INDEX_EQUALITY;
  const char *told = sqlite3_vtab_collation(info, number), *declared;
  bloom_collation ignored;
  if( condition->is_on_id || index_group_of(condition->kind)>=INDEX_NULL_TEST ) return;
  declared = index->columns.list[condition->column].collation;
  if( sqlite3_stricmp(told, declared)==0 ) return;
  if( is_equality && sqlite3_stricmp(told, "BINARY")==0 && bloom_collation_named(declared,
      &ignored) ) return;
  if( strlen(told)>=INDEX_MAX_COLLATION || strpbrk(told, "[\"") /* a plan's code has these */
     || (is_equality ? sqlite3_stricmp(declared, "BINARY")!=0
                     : plan_literal(info, number)==NULL) ){
    condition->is_unpassed = 1;
  }else{
    sqlite3_snprintf(INDEX_MAX_COLLATION, condition->collation, "%s", told);
  }
}

/* Sets *condition if a constraint can be answered: by entries, ids, or the source. */
static int plan_condition(const bloom_index *index, sqlite3_index_info *info, int number,
                          index_condition *condition){
  const struct sqlite3_index_constraint *constraint = &info->aConstraint[number];
  int kind = 0;
  while( kind<INDEX_NUM_KINDS && bloom_index_kinds[kind].op!=constraint->op ) kind++;
  if( kind==INDEX_NUM_KINDS || constraint->iColumn>=index->columns.num_columns ) return 0;
  *condition = INDEX_CONDITION(kind);
  condition->column = constraint->iColumn;
  condition->is_on_id = (constraint->iColumn<0 || constraint->iColumn==index->columns.id_column)
    && !index_is_pattern(condition->kind);
  if( constraint->iColumn<0 && !condition->is_on_id ) return 0;
  plan_set_collation(index, condition, info, number);
  plan_set_keys(index, condition, sqlite3_vtab_collation(info, number));
  /* Up to 3.44 these leak out of the ON clauses of outer joins. */
  if( (index_is_pattern(condition->kind) ? condition->key<0
       : kind==INDEX_IS_NOT_NULL || index_group_of(condition->kind)==INDEX_DIFFERENCE)
     && sqlite3_libversion_number()<3052000 ) return 0;
  return condition->key>=0 || condition->zone>=0 || !condition->is_unpassed;
}

/* Returns 1 if a constraint may be an end of the range that SQLite makes of `LIKE 'begin%'`:
** >= 'BEGIN', or < 'begio'.  It shows them as literals, from 3.38 on. */
static int plan_is_end(sqlite3_index_info *info, int number){
  const struct sqlite3_index_constraint *all = info->aConstraint;
  const int is_begin = all[number].op==SQLITE_INDEX_CONSTRAINT_GE;
  const int last = plan_last_byte(plan_literal(info, number));
  int i;
  if( last==0 || (!is_begin && all[number].op!=SQLITE_INDEX_CONSTRAINT_LT) ) return 0;
  for(i=0; i<info->nConstraint; i++){
    int begin, end, other;
    if( all[i].iColumn!=all[number].iColumn || all[i].op!=(is_begin ? SQLITE_INDEX_CONSTRAINT_LT
                                                           : SQLITE_INDEX_CONSTRAINT_GE) ) continue;
    other = plan_last_byte(plan_literal(info, i));
    begin = is_begin ? last : other;
    end = is_begin ? other : last;
    if( begin!=0 && (begin + 1==end || (begin | 0x20) + 1==end) ) return 1;
  }
  return 0;
}

/* Returns 1 if a pattern has a beginning: SQLite made a range of it, or it is a literal, and the
** column is TEXT.  If that looks like a number, SQLite makes no range of it for a virtual table,
** but for the source, where nothing is one. */
static int plan_has_beginning(const bloom_index *index, sqlite3_index_info *info,
                              const index_condition *condition, sqlite3_value *literal){
  const unsigned char *text = plan_text(literal);
  int i;
  for(i=0; i<info->nConstraint; i++){
    if( info->aConstraint[i].iColumn==condition->column && plan_is_end(info, i) ) return 1;
  }
  return text && bloom_index_affinity(index, condition)=='t'
    && !index_is_regexp(condition->kind)
    && bloom_index_like_beginning(condition->kind, text)>0;
}

/* Returns 1 if each byte of a literal TEXT is ASCII.  Of others the plan cannot tell what xFilter
** gets, which passes no text that begins with a byte order mark: in UTF-16 databases SQLite shows
** CAST(x'...' AS TEXT) as if the bytes were UTF-8. */
static int plan_is_ascii(sqlite3_value *literal){
  const unsigned char *text = plan_text(literal);
  const int num_bytes = text ? sqlite3_value_bytes(literal) : 0;
  int i = 0;
  while( i<num_bytes && text[i]<0x80 ) i++;
  return text && i==num_bytes;
}

/* Returns 1 if SQLite may have made a range of `LIKE 'begin%'`, to which ill-formed texts may be
** the same as others, or whose rows are numbers, too. */
static int plan_is_of_pattern(const bloom_index *index, const index_condition *condition,
                              sqlite3_value *literal){
  if( (condition->kind!=INDEX_GE && condition->kind!=INDEX_LT) || literal==NULL
   || sqlite3_value_type(literal)!=SQLITE_TEXT ) return 0;
  if( !plan_is_ascii(literal) ) return 1;
  return condition->kind==INDEX_GE && !condition->is_on_id
    && bloom_index_affinity(index, condition)!='t'
    && bloom_index_begins_number(plan_text(literal));
}

/* Returns 1 if a TEXT may be a numeric literal: of 0x80000000 SQLite before 3.54 shows these
** characters, and xFilter gets an INTEGER.  Digits alone are a TEXT: each SQLite reads them. */
static int plan_may_be_number(sqlite3_value *literal){
  const char *at = (const char *)plan_text(literal);
  int may_be;
  if( at==NULL ) return 1;
  at += *at=='-';
  may_be = (*at=='.' || (*at>='0' && *at<='9')) && at[strspn(at, "0123456789")]!=0;
  for(; *at && may_be; at++){
    const int is_sign = *at=='+' || *at=='-';
    may_be = is_sign ? (at[-1] | 0x20)=='e' : *at=='.' || *at=='_' || (*at>='0' && *at<='9')
      || ((*at | 0x20)>='a' && (*at | 0x20)<='z');
  }
  return may_be;
}

/* Returns 1 if SQLite need not check a condition: the source does, and compares as SQLite would. */
static int plan_can_omit(bloom_index *index, sqlite3_index_info *info, int number,
                         const index_condition *condition, sqlite3_value *literal, int flags){
  const index_group group = index_group_of(condition->kind);
  char affinity;
  if( condition->is_unpassed || condition->is_list ) return 0;
  /* A pattern that is a BLOB means other characters in UTF-16, so it is not passed.  SQLite filters
  ** by the range that it makes of one with a beginning: if that were omitted in an ON clause, an
  ** outer join would lose its rows. */
  if( index_is_pattern(condition->kind) ){
    return index->letter_bytes==1 && group==INDEX_PATTERN && !(flags & INDEX_PLAN_UNCHECKED)
      && !condition->has_beginning;
  }
  if( group==INDEX_NULL_TEST ) return 1;
  if( !condition->is_on_id ){
    /* Of <> and IS NOT SQLite tells BINARY, whatever it compares by: a literal has no COLLATE. */
    if( group==INDEX_DIFFERENCE && (literal==NULL || condition->collation[0]) ) return 0;
    if( condition->collation[0]==0
     && sqlite3_stricmp(sqlite3_vtab_collation(info, number),
                        index->columns.list[condition->column].collation)!=0 ) return 0;
    switch( literal ? sqlite3_value_type(literal) : SQLITE_INTEGER ){
      case SQLITE_TEXT: return plan_is_ascii(literal) && !plan_may_be_number(literal);
      case SQLITE_BLOB: case SQLITE_NULL: return 1;
      default: break;
    }
  }
  /* Beside numbers all is converted, in the source as here. */
  affinity = bloom_index_affinity(index, condition);
  return affinity!='t' && affinity!='b' && !(flags & INDEX_PLAN_UNCHECKED)
      && index->letter_bytes==1;
}

/* Returns 1 if SQLite may have made this end of a LIKE or GLOB that is taken itself.  From 3.38 on
** it shows its ends as literals. */
static int plan_is_range_of_pattern(const bloom_index *index, sqlite3_index_info *info, int number){
  const struct sqlite3_index_constraint *constraint = &info->aConstraint[number];
  index_condition pattern;
  int i;
  if( constraint->op!=SQLITE_INDEX_CONSTRAINT_GE
     && constraint->op!=SQLITE_INDEX_CONSTRAINT_LT ) return 0;
  if( sqlite3_libversion_number()>=3038000 && !plan_is_end(info, number) ) return 0;
  for(i=0; i<info->nConstraint; i++){
    if( info->aConstraint[i].iColumn==constraint->iColumn && info->aConstraint[i].usable
     && plan_condition(index, info, i, &pattern) && index_is_pattern(pattern.kind) ) return 1;
  }
  return 0;
}

/* Finds whether entries serve a pattern, and whether the source may call its function. */
static int plan_check_pattern(bloom_index *index, index_plan *plan, sqlite3_value *literal,
                              index_condition *condition){
  int rc = bloom_index_like_read_literal(condition, literal);
  if( rc!=SQLITE_OK || plan->flags & INDEX_PLAN_UNCHECKED ) return rc;
  rc = bloom_index_like_check(index, condition);
  if( rc==SQLITE_OK || bloom_sql_is_fatal(rc) ) return rc;
  /* An interrupt, or what an authorizer refuses: xFilter looks once more, and says so. */
  plan->flags |= INDEX_PLAN_UNCHECKED;
  return SQLITE_OK;
}

/* Sets the plan's conditions to the constraints that entries, ids or the source can answer. */
static int plan_conditions(bloom_index *index, sqlite3_index_info *info, index_plan *plan){
  int i, rc = SQLITE_OK;
  for(i=0; i<info->nConstraint && rc==SQLITE_OK && plan->num_conditions<INDEX_MAX_CONDITIONS; i++){
    index_condition condition;
    sqlite3_value *literal;
    if( !info->aConstraint[i].usable || !plan_condition(index, info, i, &condition)
        || plan_is_range_of_pattern(index, info, i) ){
      continue;
    }
    /* If SQLite asked for one value at a time, it would compare the column with it without the
    ** affinity that IN has. */
    if( condition.kind==INDEX_EQ ) condition.is_list = bloom_vtab_takes_list(info, i);
    if( condition.kind==INDEX_EQ && !condition.is_list && bloom_vtab_hides_list(i) ) continue;
    literal = condition.is_list ? NULL : plan_literal(info, i);
    condition.is_literal = literal!=NULL;
    if( index_is_pattern(condition.kind) ){
      condition.has_beginning = plan_has_beginning(index, info, &condition, literal);
      rc = plan_check_pattern(index, plan, literal, &condition);
      if( condition.is_unpassed ) continue;
    }
    if( plan_is_of_pattern(index, &condition, literal) ) condition.is_unpassed = 1;
    info->aConstraintUsage[i].omit = plan_can_omit(index, info, i, &condition, literal,
                                                      plan->flags)!=0;
    if( condition.kind==INDEX_LT && plan_is_end(info, i) ){
      condition.is_end = condition.has_beginning = 1;
      info->aConstraintUsage[i].omit = 0;
    }
    plan->conditions[plan->num_conditions++] = condition;
    info->aConstraintUsage[i].argvIndex = plan->num_conditions;
  }
  return rc;
}

/* == The plan ========================================================================== */

#ifndef SQLITE_INDEX_CONSTRAINT_LIMIT
# define SQLITE_INDEX_CONSTRAINT_LIMIT  73 /* from 3.38 on */
# define SQLITE_INDEX_CONSTRAINT_OFFSET 74
#endif

/* Returns an indexed column whose entries a condition would ask, were they not out of use; -1:
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

/* Sets the order that is asked for, if the source could have it. */
static void plan_set_orders(const bloom_index *index, const sqlite3_index_info *info,
                            index_plan *plan){
  int i;
  plan->num_orders = 0;
  for(i=0; i<info->nOrderBy; i++){
    const int column = info->aOrderBy[i].iColumn;
    const int is_id = column<0 || column==index->columns.id_column;
    if( i==INDEX_MAX_ORDERS || column>=index->columns.num_columns ) break;
    plan->orders[plan->num_orders++] = (index_order){is_id ? -1 : column,
                                                     info->aOrderBy[i].desc!=0};
    if( is_id ) return; /* no two rows have the same */
  }
  if( i<info->nOrderBy ) plan->num_orders = 0;
}

static int plan_is_by_id(const index_plan *plan){
  return plan->num_orders>0 && plan->orders[0].column<0;
}

/* Sets limits[] to the constraints LIMIT and OFFSET, and returns how many there are, if SQLite
** leaves out none of the source's rows: then the source may stop there.  SQLite 3.38, which began
** to pass them, and 3.40 keep `a = c` of one table to themselves: 3.52 is known not to.  SQLite
** leaves out checks, as it is told, of the first 16 constraints alone, and never that of
** (a, b) > (?, ?), which it passes as a >= ?. */
static int plan_find_limits(sqlite3_index_info *info, int limits[2]){
  int i;
  limits[0] = limits[1] = -1;
  for(i=0; i<info->nConstraint; i++){
    const struct sqlite3_index_constraint constraint = info->aConstraint[i];
    if( constraint.op==SQLITE_INDEX_CONSTRAINT_LIMIT ) limits[0] = i;
    else if( constraint.op==SQLITE_INDEX_CONSTRAINT_OFFSET ) limits[1] = i;
    else if( i>=16 || !info->aConstraintUsage[i].omit ) return 0;
    else if( (constraint.op==SQLITE_INDEX_CONSTRAINT_GE
              || constraint.op==SQLITE_INDEX_CONSTRAINT_LE)
             && plan_literal(info, i)==NULL ) return 0;
    if( !constraint.usable ) return 0;
  }
  if( sqlite3_libversion_number()<3052000 || limits[0]<0 ) return 0;
  return limits[1]>=0 ? 2 : 1;
}

/* Returns how many rows a literal LIMIT, with its OFFSET, asks for; 0: it is not known. */
static int plan_num_wanted(sqlite3_index_info *info){
  sqlite3_int64 num_rows = 0;
  int i, has_limit = 0;
  for(i=0; i<info->nConstraint; i++){
    const int op = info->aConstraint[i].op;
    sqlite3_value *value = op==SQLITE_INDEX_CONSTRAINT_LIMIT || op==SQLITE_INDEX_CONSTRAINT_OFFSET
      ? plan_literal(info, i) : NULL;
    if( value==NULL || sqlite3_value_type(value)!=SQLITE_INTEGER ) continue;
    has_limit |= op==SQLITE_INDEX_CONSTRAINT_LIMIT;
    if( sqlite3_value_int64(value)>0 && sqlite3_value_int64(value)<1000000 ){
      num_rows += sqlite3_value_int64(value);
    }
  }
  return has_limit ? (int)num_rows : 0;
}

static int plan_has_blocks(const index_plan *plan){
  int i;
  for(i=0; i<plan->num_conditions; i++){
    const index_condition condition = plan->conditions[i];
    if( condition.zone>=0 || condition.key>=0 ) return 1;
  }
  return 0;
}

/* Sets *num_rows to about how many rows there are, and the remark, if there is none yet, to what
** the layout tells.  Damage may be repaired before the plan runs: xFilter finds it itself. */
static int plan_read_layout(bloom_index *index, const index_plan *plan, double *num_rows,
                            index_plan_remark *remark){
  const index_layout *layout = NULL;
  const int rc_of_layout = bloom_index_layout_read(index, &layout);
  int is_outweighed = 0, rc = rc_of_layout;
  if( rc==SQLITE_OK ? bloom_connection_knows_damage(index->connection, layout->number)
                    : (rc & 0xff)==SQLITE_CORRUPT ){
    if( remark->doubt==NULL ) remark->effect = "repairs it";
    if( remark->doubt==NULL ) remark->doubt = "a page of the index is damaged";
  }
  if( !bloom_sql_is_fatal(rc) ){
    rc = bloom_index_cost_rows(index, rc_of_layout==SQLITE_OK ? layout : NULL, num_rows);
  }
  if( rc==SQLITE_OK && rc_of_layout==SQLITE_OK && remark->doubt==NULL && plan_has_blocks(plan) ){
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

/* Returns 1 if an index of the source may serve a condition, or the order. */
static int plan_may_search(const index_plan *plan){
  int i;
  for(i=0; i<plan->num_conditions; i++){
    const index_condition *condition = &plan->conditions[i];
    if( index_group_of(condition->kind)!=INDEX_DIFFERENCE
     && (condition->has_beginning || !index_is_pattern(condition->kind)) ) return 1;
  }
  return plan->num_orders>0;
}

/* Finds how SQLite would read the source by the plan's conditions, in any order or the plan's. */
static int plan_find_access(bloom_index *index, sqlite3_index_info *info, index_plan *plan,
                            int is_ordered, index_access *access){
  const int num_orders = plan->num_orders;
  index_form forms[INDEX_MAX_CONDITIONS];
  sqlite3_value *literals[INDEX_MAX_CONDITIONS] = {NULL};
  const index_list list = {0};
  char *sql;
  int i, rc = SQLITE_OK;
  *access = (index_access){.way = INDEX_ACCESS_SCAN};
  if( !is_ordered ) plan->num_orders = 0;
  if( !plan_may_search(plan) ) rc = SQLITE_DONE;
  for(i=0; i<info->nConstraint; i++){
    const int number = info->aConstraintUsage[i].argvIndex - 1;
    if( number>=0 && number<plan->num_conditions && plan->conditions[number].is_literal ){
      literals[number] = plan_literal(info, i);
    }
  }
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK; i++){
    index_list prefixes = {.num_values = 0};
    forms[i] = bloom_index_pass_form(index, &plan->conditions[i], literals[i], &list);
    rc = bloom_index_numbers_form(index, &plan->conditions[i], literals[i], &prefixes, &forms[i]);
    bloom_index_list_free(&prefixes);
  }
  if( rc==SQLITE_OK ){
    sql = bloom_index_pass_statement(index, plan, forms, INDEX_READ_COST);
    rc = bloom_index_cost_access(index, sql, access);
  }
  plan->num_orders = num_orders;
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK; /* of other errors xFilter tells */
}

/* Leaves the rows to the source's own ways, with the order and the LIMIT where these keep them.
** access, ordered: how SQLite would read them in any order, and in the plan's. */
static void plan_take_free(sqlite3_index_info *info, index_plan *plan, const index_access *access,
                           const index_access *ordered){
  int limits[2], i;
  const int num_limits = plan_find_limits(info, limits);
  const int is_checked = !(plan->flags & INDEX_PLAN_UNCHECKED);
  /* SQLite's sorter knows of a LIMIT how many rows are worth it.  DISTINCT needs no order: a search
  ** pays more, and to sort all rows does not. */
  const int is_dear = ordered->sorts
    || (bloom_vtab_is_distinct(info) && (ordered->sorts_last || (ordered->way==INDEX_ACCESS_SCAN
                                                                 && access->way!=ordered->way)));
  plan->flags |= INDEX_PLAN_FREE;
  /* A pattern as it is makes SQLite compile the statement again for each look-up. */
  for(i=0; i<plan->num_conditions && is_checked && !ordered->has_range; i++){
    plan->conditions[i].has_beginning = 0;
  }
  if( !plan_is_by_id(plan) && (!is_checked || (num_limits==0 && is_dear)) ) plan->num_orders = 0;
  if( info->nOrderBy==0 || plan->num_orders>0 ) plan->num_limits = num_limits;
  for(i=0; i<plan->num_limits; i++){
    info->aConstraintUsage[limits[i]].argvIndex = plan->num_conditions + i + 1;
    info->aConstraintUsage[limits[i]].omit = 1;
  }
}

/* Sets what rows need not be read for, where nothing is asked of them. */
static void plan_set_unread(bloom_index *index, sqlite3_index_info *info, index_plan *plan){
  const index_order order = plan->orders[0];
  if( info->nConstraint>0 || !(plan->flags & INDEX_PLAN_FREE) ) return;
  if( info->nOrderBy==0 && info->colUsed==0 ) plan->flags |= INDEX_PLAN_COUNTED;
  /* Values that are equal are the same there, which 1 and 1.0 are not in a column without a type.
  ** The cursor compares them as UTF-8. */
  if( plan->num_orders==1 && order.column>=0 && order.column<63 && info->orderByConsumed
     && info->colUsed==(sqlite3_uint64)1 << order.column && bloom_vtab_is_distinct(info)
     && index->columns.list[order.column].affinity!='b'
     && sqlite3_stricmp(index->columns.list[order.column].collation, "BINARY")==0
     && index->letter_bytes==1 ){
    plan->flags |= INDEX_PLAN_DISTINCT;
  }
}

/* Returns 1 if the source's own way is that of all conditions which entries serve: patterns by
** their beginnings, in an index.  Entries would leave as many rows at least. */
static int plan_is_by_beginning(const index_plan *plan, const index_access *access){
  int i;
  for(i=0; i<plan->num_conditions; i++){
    const index_condition condition = plan->conditions[i];
    if( condition.zone>=0 || (condition.key>=0 && !condition.has_beginning) ) return 0;
  }
  return access->way==INDEX_ACCESS_SHORT_RANGE;
}

/* Sets *is_sliced to whether zones give the order that is asked for in less time than a sorter
** takes. */
static int plan_can_slice(bloom_index *index, const index_plan *plan, int *is_sliced){
  const index_order first = plan->orders[0];
  const int key = plan->num_orders>0 && first.column>=0
    ? bloom_index_order_key(index, first.column) : -1;
  *is_sliced = 0;
  return key<0 ? SQLITE_OK : bloom_index_order_pays(index, key, is_sliced);
}

/* Chooses between the source's own ways and entries, and what becomes of the order.  has_entries:
** these are not in doubt. */
static int plan_choose(bloom_index *index, sqlite3_index_info *info, index_plan *plan,
                       double num_rows, int has_entries){
  const int is_by_id = plan_is_by_id(plan), is_checked = !(plan->flags & INDEX_PLAN_UNCHECKED);
  index_access access = {.way = INDEX_ACCESS_SCAN}, ordered;
  index_cost cost, of_blocks;
  int is_sliced = 0, rc = SQLITE_OK;
  if( is_checked ) rc = plan_find_access(index, info, plan, 0, &access);
  if( rc==SQLITE_OK && is_checked && has_entries ) rc = plan_can_slice(index, plan, &is_sliced);
  if( rc!=SQLITE_OK ) return rc;
  cost = bloom_index_cost_free(plan, &access, num_rows);
  of_blocks = bloom_index_cost_blocks(plan, num_rows);
  ordered = access;
  if( has_entries && plan_has_blocks(plan)
     && (access.way==INDEX_ACCESS_SCAN || of_blocks.cost<cost.cost)
     && !plan_is_by_beginning(plan, &access) ){
    /* Rows come by their ids then, or, where xFilter gives entries up, by the same order. */
    cost = of_blocks;
    if( !is_by_id && !is_sliced ) plan->num_orders = 0;
  }else{
    if( plan->num_orders>0 && !is_by_id && is_checked ){
      plan->num_wanted = plan_num_wanted(info);
      rc = plan_find_access(index, info, plan, 1, &ordered);
    }
    /* Slices replace a scan and a sorter. */
    is_sliced &= ordered.way==INDEX_ACCESS_SCAN && ordered.sorts;
    if( !is_sliced ) plan_take_free(info, plan, &access, &ordered);
  }
  if( is_sliced ) plan->flags |= INDEX_PLAN_SLICES;
  info->orderByConsumed = plan->num_orders>0;
  plan_set_unread(index, info, plan);
  info->estimatedRows = cost.num_rows<1 ? 1 : (sqlite3_int64)cost.num_rows;
  info->estimatedCost = cost.cost;
  if( bloom_index_cost_is_one_row(plan) ) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  return rc;
}

/* Refuses a condition on the column for commands, as FTS5 has it for patterns, but IS NULL and IS
** NOT NULL, which tools ask of every column; and to read a column as if it had another
** collation. */
static int plan_check_columns(bloom_index *index, const sqlite3_index_info *info){
  const index_plan plan = {.columns_used = info->colUsed};
  int i;
  for(i=0; i<info->nConstraint && index->columns.num_columns>0; i++){
    if( info->aConstraint[i].iColumn<index->columns.num_columns
       || bloom_is_null_test(info->aConstraint[i].op) ) continue;
    return bloom_fail_vtab(&index->base.zErrMsg,
                           "bloom_index: column %s of %s takes commands alone: write conditions on"
                           " the columns of its table", index->name, index->name);
  }
  for(i=0; i<index->columns.num_columns; i++){
    const bloom_source_column column = index->columns.list[i];
    if( !column.has_no_collation || !bloom_index_uses_column(&plan, i) ) continue;
    return bloom_fail_vtab(&index->base.zErrMsg,
                           "bloom_index: column %s has the collation %s, which this connection"
                           " does not have", column.name, column.collation);
  }
  return SQLITE_OK;
}

/* Looks for index->like_end among the constraints, and sets it to NULL if it is there. */
static void plan_see_end(bloom_index *index, sqlite3_index_info *info){
  int i;
  for(i=0; i<info->nConstraint && index->like_end; i++){
    const unsigned char *text = info->aConstraint[i].op==SQLITE_INDEX_CONSTRAINT_GE
      ? plan_text(plan_literal(info, i)) : NULL;
    if( text && strcmp((const char *)text, index->like_end)==0 ) index->like_end = NULL;
  }
}

int bloom_index_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info){
  bloom_index *index = index_of(vtab);
  index_plan plan = {.columns_used = info->colUsed};
  index_plan_remark remark = {.doubted_key = -1};
  double num_rows = INDEX_UNKNOWN_ROWS;
  int has_entries, rc;
  if( index->like_end ){
    plan_see_end(index, info);
    return SQLITE_OK;
  }
  if( index->damage ) return bloom_index_begin(index, INDEX_NEED_SOURCE);
  rc = plan_check_columns(index, info);
  if( rc!=SQLITE_OK ) return rc;
  bloom_index_statements_forget(index, 0);
  rc = bloom_can_read_in_best_index() ? bloom_index_begin(index, INDEX_NEED_SOURCE) : SQLITE_BUSY;
  if( rc==SQLITE_OK ) remark.doubt = index->source.doubt;
  if( rc==SQLITE_OK && index->columns_state==INDEX_COLUMNS_MORE ){
    rc = bloom_index_columns_fail(index);
  }
  if( rc!=SQLITE_OK && rc!=SQLITE_ERROR && !bloom_sql_is_fatal(rc) ){
    /* A lock, say: xFilter looks once more, as SQLite knows no such error here. */
    plan.flags |= INDEX_PLAN_UNCHECKED;
    rc = SQLITE_OK;
  }
  has_entries = remark.doubt==NULL;
  if( rc==SQLITE_OK ) rc = plan_conditions(index, info, &plan);
  if( rc==SQLITE_OK && !(plan.flags & INDEX_PLAN_UNCHECKED) ){
    rc = plan_read_layout(index, &plan, &num_rows, &remark);
  }
  if( rc!=SQLITE_OK ) return rc;
  plan_set_orders(index, info, &plan);
  rc = plan_choose(index, info, &plan, num_rows, has_entries);
  if( rc!=SQLITE_OK ) return rc;
  remark.doubted_key = plan_find_doubted_key(index, info);
  info->idxNum = plan.flags;
  info->idxStr = bloom_index_plan_print(index, &plan, &remark);
  info->needToFreeIdxStr = 1;
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}
