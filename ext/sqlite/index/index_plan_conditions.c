/*
** Constraints of xBestIndex as conditions: which columns serve them, how the source may compare,
** and what SQLite need not check.
*/
#include "index_source.h"
#include "index_texts.h"
#include "index_zones.h"

#include <string.h>

/* 1 if a comparison by this collation finds no more than the column's entries do. */
static int plan_is_collation_usable(const index_key *key, const char *name){
  bloom_collation collation;
  if( !bloom_collation_named(name, &collation) ) return 0;
  return collation==BLOOM_COLLATION_BINARY || collation==key->equality.collation;
}

/* The indexed column that serves a condition; -1: none. */
static int plan_find_key(const bloom_index *index, index_condition condition,
                         const char *collation){
  const index_kind kind = bloom_index_kinds[condition.kind];
  int i, found = -1;
  if( condition.is_on_id || !kind.takes_blocks ) return -1;
  for(i=0; i<index->config.num_keys; i++){
    const index_key *key = &index->config.keys[i];
    if( key->column!=condition.column || key->is_range || key->doubt
       || (kind.is_pattern && !key->is_like) ) continue;
    if( index_is_regexp(condition.kind) && !key->is_regexp ) continue;
    if( !kind.is_pattern && !plan_is_collation_usable(key, collation) ) continue;
    /* A whole text has its grams, too; tokens of values tell more. */
    if( found<0 || key->is_like==kind.is_pattern ) found = i;
  }
  return found;
}

/* The indexed column whose zones serve a condition; -1: none. */
static int plan_find_zone(const bloom_index *index, index_condition condition,
                          const char *collation){
  const int is_equality = condition.kind==INDEX_EQ || condition.kind==INDEX_IS;
  int i;
  if( condition.is_on_id || index_is_regexp(condition.kind) ) return -1;
  for(i=0; i<index->config.num_keys; i++){
    const index_key *key = &index->config.keys[i];
    if( key->column!=condition.column || !key->is_range || key->doubt ) continue;
    if( index_is_null_test(condition.kind)
     || bloom_index_kinds[condition.kind].is_pattern ) return i;
    return is_equality ? (plan_is_collation_usable(key, collation) ? i : -1)
      : sqlite3_stricmp(key->collation, collation)==0 ? i : -1;
  }
  return -1;
}

sqlite3_value *bloom_index_plan_literal(sqlite3_index_info *info, int number){
  sqlite3_value *value = NULL;
  (void)info; (void)number;
#if SQLITE_VERSION_NUMBER >= 3038000
  if( sqlite3_libversion_number()>=3038000
     && sqlite3_vtab_rhs_value(info, number, &value)!=SQLITE_OK ) value = NULL;
#endif
  return value;
}

/* Sets how the source may compare by a collation that SQLite names: by the column's own, which
** finds at least as much, by that one, or not at all.  Of (a, b) > (x, y) SQLite may name that of y
** for a, and nothing tells it from a > x if x is no literal. */
static void plan_set_collation(const bloom_index *index, index_condition *condition,
                               sqlite3_index_info *info, int number){
  const char *told = sqlite3_vtab_collation(info, number);
  const char *declared;
  bloom_collation ignored;
  int is_equality;
  if( condition->is_on_id || index_is_null_test(condition->kind)
     || bloom_index_kinds[condition->kind].is_pattern ) return;
  declared = index->columns.list[condition->column].collation;
  is_equality = condition->kind==INDEX_EQ || condition->kind==INDEX_IS;
  if( sqlite3_stricmp(told, declared)==0 ) return;
  if( is_equality && sqlite3_stricmp(told, "BINARY")==0 && bloom_collation_named(declared,
      &ignored) ) return;
  if( strlen(told)>=INDEX_MAX_COLLATION || strchr(told, '[') /* begins a plan's code */
     || (is_equality ? sqlite3_stricmp(declared, "BINARY")!=0
                     : bloom_index_plan_literal(info, number)==NULL) ){
    condition->is_unpassed = 1;
  }else{
    sqlite3_snprintf(INDEX_MAX_COLLATION, condition->collation, "%s", told);
  }
}

/* Sets *condition if a constraint can be answered: by entries, ids, or the source. */
static int plan_condition(const bloom_index *index, sqlite3_index_info *info, int number,
                          index_condition *condition){
  const struct sqlite3_index_constraint *constraint = &info->aConstraint[number];
  const char *told;
  int kind = 0;
  while( kind<INDEX_NUM_KINDS && bloom_index_kinds[kind].op!=constraint->op ) kind++;
  if( kind==INDEX_NUM_KINDS || constraint->iColumn>=index->columns.num_columns ) return 0;
  *condition = INDEX_CONDITION(kind);
  condition->column = constraint->iColumn;
  condition->is_on_id = (constraint->iColumn<0 || constraint->iColumn==index->columns.id_column)
    && !bloom_index_kinds[kind].is_pattern;
  if( constraint->iColumn<0 && !condition->is_on_id ) return 0;
  told = sqlite3_vtab_collation(info, number);
  plan_set_collation(index, condition, info, number);
  condition->key = plan_find_key(index, *condition, told);
  condition->zone = plan_find_zone(index, *condition, told);
  /* Up to 3.44 these leak out of the ON clauses of outer joins. */
  if( bloom_index_kinds[kind].is_pattern && condition->key<0
     && sqlite3_libversion_number()<3052000 ) return 0;
  if( kind==INDEX_IS_NOT_NULL
     && (condition->zone<0 || sqlite3_libversion_number()<3052000) ) return 0;
  return condition->key>=0 || condition->zone>=0 || !condition->is_unpassed;
}

/* 1 if there is a constraint < or >= on a column.  SQLite makes these of `LIKE 'begin%'` and
** filters by them: if LIKE is omitted in an ON clause, an outer join loses its rows. */
static int plan_has_range(const sqlite3_index_info *info, int column){
  int i;
  for(i=0; i<info->nConstraint; i++){
    const int op = info->aConstraint[i].op;
    if( info->aConstraint[i].iColumn==column && (op==SQLITE_INDEX_CONSTRAINT_GE
                                                 || op==SQLITE_INDEX_CONSTRAINT_LT) ) return 1;
  }
  return 0;
}

/* The last byte of a literal TEXT; 0 if it is none. */
static int plan_last_byte(sqlite3_value *literal){
  sqlite3_value *copy = literal && sqlite3_value_type(literal)==SQLITE_TEXT
    ? sqlite3_value_dup(literal) : NULL;
  const unsigned char *text = copy ? sqlite3_value_text(copy) : NULL;
  const int num_bytes = text ? sqlite3_value_bytes(copy) : 0;
  const int last = num_bytes>0 ? text[num_bytes - 1] : 0;
  sqlite3_value_free(copy);
  return last;
}

/* 1 if two literals may be the ends that SQLite made of `LIKE 'begin%'`: >= 'BEGIN', < 'begio'. */
static int plan_are_ends(sqlite3_value *first, sqlite3_value *second){
  const int begin = plan_last_byte(first), end = plan_last_byte(second);
  return begin!=0 && (begin + 1==end || (begin | 0x20) + 1==end);
}

/* 1 if SQLite read the beginning of a column's pattern, and made a range of it. */
static int plan_has_beginning(sqlite3_index_info *info, int column){
  int i, j;
  for(i=0; i<info->nConstraint; i++){
    if( info->aConstraint[i].iColumn!=column
       || info->aConstraint[i].op!=SQLITE_INDEX_CONSTRAINT_GE ) continue;
    for(j=0; j<info->nConstraint; j++){
      if( info->aConstraint[j].iColumn==column
         && info->aConstraint[j].op==SQLITE_INDEX_CONSTRAINT_LT
         && plan_are_ends(bloom_index_plan_literal(info, i), bloom_index_plan_literal(info, j)) ){
        return 1;
      }
    }
  }
  return 0;
}

/* 1 if each byte of a literal TEXT is ASCII.  Of others the plan cannot tell what xFilter gets,
** which passes no text that begins with a byte order mark: in UTF-16 databases SQLite shows
** CAST(x'...' AS TEXT) as if the bytes were UTF-8. */
static int plan_is_ascii(sqlite3_value *literal){
  sqlite3_value *copy = sqlite3_value_dup(literal);
  const unsigned char *text = copy ? sqlite3_value_text(copy) : NULL;
  const int num_bytes = text ? sqlite3_value_bytes(copy) : 0;
  int i = 0;
  while( i<num_bytes && text[i]<0x80 ) i++;
  sqlite3_value_free(copy);
  return text!=NULL && i==num_bytes;
}

int bloom_index_begins_number(const unsigned char *text){
  const char *begin = (const char *)text + (*text=='-'), *next = begin;
  if( *begin==0 ) return *text=='-';
  if( sqlite3_strnicmp(begin, "Inf", (int)strlen(begin))==0 ) return 1;
  while( (*next>='0' && *next<='9') || *next=='.' ) next++;
  if( next==begin || (*next!='e' && *next!='E') ) return 0;
  next++;
  if( *next=='+' || *next=='-' ) next++;
  return *next==0;
}

/* 1 if SQLite may have made a range of `LIKE 'begin%'`, to which ill-formed texts may be the
** same as others, or whose rows are numbers, too. */
static int plan_is_of_pattern(const bloom_index *index, const index_condition *condition,
                              sqlite3_value *literal){
  sqlite3_value *copy;
  const unsigned char *text;
  int begins_number;
  if( (condition->kind!=INDEX_GE && condition->kind!=INDEX_LT) || literal==NULL
   || sqlite3_value_type(literal)!=SQLITE_TEXT ) return 0;
  if( !plan_is_ascii(literal) ) return 1;
  if( condition->kind==INDEX_LT || condition->is_on_id
   || bloom_affinity_of(index->columns.list[condition->column].type)=='t' ) return 0;
  copy = sqlite3_value_dup(literal);
  text = copy ? sqlite3_value_text(copy) : NULL;
  begins_number = text==NULL || bloom_index_begins_number(text);
  sqlite3_value_free(copy);
  return begins_number;
}

/* Returns 1 if a TEXT may be a numeric literal: of 0x80000000 SQLite before 3.54 shows these
** characters, and xFilter gets an INTEGER.  Digits alone are a TEXT: each SQLite reads them. */
static int plan_may_be_number(sqlite3_value *text){
  sqlite3_value *copy = sqlite3_value_dup(text);
  const unsigned char *at = copy ? sqlite3_value_text(copy) : NULL;
  int may_be = 1;
  if( at ){
    at += *at=='-';
    may_be = (*at=='.' || (*at>='0' && *at<='9')) && at[strspn((const char *)at, "0123456789")]!=0;
    for(; *at && may_be; at++){
      const int is_sign = *at=='+' || *at=='-';
      may_be = is_sign ? (at[-1] | 0x20)=='e' : *at=='.' || *at=='_' || (*at>='0' && *at<='9')
        || ((*at | 0x20)>='a' && (*at | 0x20)<='z');
    }
  }
  sqlite3_value_free(copy);
  return may_be;
}

/* 1 if SQLite need not check a condition: the source does, and compares as SQLite would. */
static int plan_can_omit(const bloom_index *index, sqlite3_index_info *info, int number,
                         const index_condition *condition, sqlite3_value *literal, int flags){
  const char *told;
  if( condition->is_unpassed || condition->is_list ) return 0;
  /* A pattern that is a BLOB means other characters in UTF-16, so it is not passed. */
  if( bloom_index_kinds[condition->kind].is_pattern ){
    return index->letter_bytes==1 && !index_is_regexp(condition->kind)
      && !(flags & INDEX_PLAN_UNCHECKED)
      && !plan_has_range(info, info->aConstraint[number].iColumn);
  }
  if( condition->kind==INDEX_IS_NULL ) return 1;
  if( literal==NULL || condition->is_on_id ) return 0;
  told = sqlite3_vtab_collation(info, number);
  if( condition->collation[0]==0
     && sqlite3_stricmp(told, index->columns.list[condition->column].collation)!=0 ) return 0;
  if( sqlite3_value_type(literal)!=SQLITE_TEXT ){
    return sqlite3_value_type(literal)==SQLITE_BLOB || sqlite3_value_type(literal)==SQLITE_NULL;
  }
  return plan_is_ascii(literal) && !plan_may_be_number(literal);
}

/* 1 if a constraint may be the other end of the range of a pattern. */
static int plan_is_other_end(sqlite3_index_info *info, int number, int other){
  const struct sqlite3_index_constraint *all = info->aConstraint;
  const int begin = all[number].op==SQLITE_INDEX_CONSTRAINT_GE ? number : other;
  const int end = begin==number ? other : number;
  return all[begin].op==SQLITE_INDEX_CONSTRAINT_GE && all[end].op==SQLITE_INDEX_CONSTRAINT_LT
      && all[begin].iColumn==all[end].iColumn
      && plan_are_ends(bloom_index_plan_literal(info, begin), bloom_index_plan_literal(info, end));
}

/* Finds the other end of the range that condition i is one of, if SQLite may have made it of
** `column LIKE 'begin%'`: BLOBs lie outside of it, so that the two are passed together, or none. */
static void plan_find_partner(sqlite3_index_info *info, index_plan *plan, const int *of, int i){
  index_condition *condition = &plan->conditions[i];
  int number, j, has_other = 0;
  for(number=0; number<info->nConstraint && condition->partner<0; number++){
    if( !plan_is_other_end(info, of[i], number) ) continue;
    has_other = 1;
    for(j=0; j<plan->num_conditions && of[j]!=number; j++){}
    if( j==plan->num_conditions || plan->conditions[j].partner>=0
     || sqlite3_stricmp(plan->conditions[j].collation, condition->collation)!=0 ) continue;
    condition->partner = j;
    plan->conditions[j].partner = i;
    info->aConstraintUsage[number].omit = 0;
  }
  if( !has_other ) return;
  info->aConstraintUsage[of[i]].omit = 0;
  if( condition->partner<0 ) condition->is_unpassed = 1;
}

static void plan_find_partners(sqlite3_index_info *info, index_plan *plan, const int *of){
  int i;
  for(i=0; i<plan->num_conditions; i++) plan_find_partner(info, plan, of, i);
  for(i=0; i<plan->num_conditions; i++){
    const int partner = plan->conditions[i].partner;
    if( partner>=0 && plan->conditions[partner].is_unpassed ) plan->conditions[i].is_unpassed = 1;
  }
}

/* 1 if SQLite may have made this end of a LIKE or GLOB that is taken itself.  From 3.38 on it shows
** its ends as literals. */
static int plan_is_range_of_pattern(const bloom_index *index, sqlite3_index_info *info, int number){
  const struct sqlite3_index_constraint *constraint = &info->aConstraint[number];
  const int tells_literals = sqlite3_libversion_number()>=3038000;
  index_condition pattern;
  int i, may_be = 0, is_taken = 0;
  if( constraint->op!=SQLITE_INDEX_CONSTRAINT_GE
     && constraint->op!=SQLITE_INDEX_CONSTRAINT_LT ) return 0;
  for(i=0; i<info->nConstraint && !(may_be && is_taken); i++){
    if( info->aConstraint[i].iColumn!=constraint->iColumn ) continue;
    may_be |= !tells_literals || plan_is_other_end(info, number, i);
    is_taken |= info->aConstraint[i].usable && plan_condition(index, info, i, &pattern)
      && bloom_index_kinds[pattern.kind].is_pattern;
  }
  return may_be && is_taken;
}

/* Finds whether entries serve a pattern, and whether the source may call its function. */
static int plan_check_pattern(bloom_index *index, index_plan *plan, sqlite3_value *literal,
                              index_condition *condition){
  int rc = bloom_index_like_read_literal(condition, literal);
  if( rc!=SQLITE_OK || plan->flags & INDEX_PLAN_UNCHECKED ) return rc;
  rc = bloom_index_learn_encoding(index);
  if( rc==SQLITE_OK ) rc = bloom_index_like_check(index, condition);
  if( rc==SQLITE_OK || bloom_sql_is_fatal(rc) ) return rc;
  /* An interrupt, or what an authorizer refuses: xFilter looks once more, and says so. */
  plan->flags |= INDEX_PLAN_UNCHECKED;
  return SQLITE_OK;
}

int bloom_index_plan_conditions(bloom_index *index, sqlite3_index_info *info, index_plan *plan){
  int of[INDEX_MAX_CONDITIONS];
  int i, rc = SQLITE_OK;
  plan->num_conditions = 0;
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
    literal = condition.is_list ? NULL : bloom_index_plan_literal(info, i);
    condition.is_literal = literal!=NULL;
    if( bloom_index_kinds[condition.kind].is_pattern ){
      condition.has_beginning = plan_has_beginning(info, info->aConstraint[i].iColumn);
      rc = plan_check_pattern(index, plan, literal, &condition);
      if( condition.is_unpassed ) continue;
    }
    if( plan_is_of_pattern(index, &condition, literal) ) condition.is_unpassed = 1;
    info->aConstraintUsage[i].omit = plan_can_omit(index, info, i, &condition, literal,
                                                      plan->flags)!=0;
    of[plan->num_conditions] = i;
    plan->conditions[plan->num_conditions++] = condition;
    info->aConstraintUsage[i].argvIndex = plan->num_conditions;
  }
  plan_find_partners(info, plan, of);
  return rc;
}
