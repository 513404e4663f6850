/*
** What xBestIndex is told -> the conditions of a plan.
**
** Each constraint of a kind in bloom_index_kinds[] is a condition if entries, zones, ids or the
** source can answer it.  It is passed to the source in a form that finds at least SQLite's rows
** (index_pass.c); SQLite need not check it again where the form is known to find no others.
**
** SQLite adds two constraints to `LIKE 'begin%'`: >= 'BEGIN' and < 'begio', its ends.  LIKE finds
** BLOBs, too, and texts of numbers, and ill-formed texts, which are outside of the ends: so what
** may be such an end is passed with care, and the ends of a pattern that is passed itself are not.
*/
#include "index_values.h"

#include <string.h>

const index_kind bloom_index_kinds[INDEX_NUM_KINDS] = {
  [INDEX_EQ]      = {SQLITE_INDEX_CONSTRAINT_EQ,     "=",       INDEX_EQUALITY, 20},
  [INDEX_IS]      = {SQLITE_INDEX_CONSTRAINT_IS,     "IS",      INDEX_EQUALITY, 20},
  [INDEX_GT]      = {SQLITE_INDEX_CONSTRAINT_GT,     ">",       INDEX_RANGE, 4},
  [INDEX_GE]      = {SQLITE_INDEX_CONSTRAINT_GE,     ">=",      INDEX_RANGE, 4},
  [INDEX_LT]      = {SQLITE_INDEX_CONSTRAINT_LT,     "<",       INDEX_RANGE, 4},
  [INDEX_LE]      = {SQLITE_INDEX_CONSTRAINT_LE,     "<=",      INDEX_RANGE, 4},
  [INDEX_NE]      = {SQLITE_INDEX_CONSTRAINT_NE,     "<>",      INDEX_DIFFERENCE, 1},
  [INDEX_IS_NOT]  = {SQLITE_INDEX_CONSTRAINT_ISNOT,  "IS NOT",  INDEX_DIFFERENCE, 1},
  [INDEX_IS_NULL] = {SQLITE_INDEX_CONSTRAINT_ISNULL, "IS NULL", INDEX_NULL_TEST, 4},
  [INDEX_IS_NOT_NULL] = {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, "IS NOT NULL", INDEX_NULL_TEST, 1},
  [INDEX_LIKE]    = {SQLITE_INDEX_CONSTRAINT_LIKE,   "LIKE",    INDEX_PATTERN, 20},
  [INDEX_GLOB]    = {SQLITE_INDEX_CONSTRAINT_GLOB,   "GLOB",    INDEX_PATTERN, 20},
  [INDEX_REGEXP]  = {SQLITE_INDEX_CONSTRAINT_REGEXP, "REGEXP",  INDEX_EXPRESSION, 20},
  /* As regexp_check() finds: ^ or $ may be within a text, and case is ignored. */
  [INDEX_REGEXP_BY_LINE]     = {0, "REGEXP", INDEX_EXPRESSION, 20},
  [INDEX_REGEXP_IN_ANY_CASE] = {0, "REGEXP", INDEX_EXPRESSION, 20},
};

/* -- Literals ------------------------------------------------------------------------------- */

sqlite3_value *bloom_index_literal(sqlite3_index_info *info, int number){
  sqlite3_value *value = NULL;
  assert( number>=0 && number<info->nConstraint );
  (void)info; (void)number;
#if SQLITE_VERSION_NUMBER >= 3038000
  if( sqlite3_libversion_number()>=3038000
     && sqlite3_vtab_rhs_value(info, number, &value)!=SQLITE_OK ) value = NULL;
#endif
  return value;
}

/* Returns the text of a literal; NULL: it is none, or memory failed. */
static const unsigned char *conditions_text(sqlite3_value *literal){
  return literal && sqlite3_value_type(literal)==SQLITE_TEXT ? sqlite3_value_text(literal) : NULL;
}

/* Returns 1 if a literal is a TEXT, and surely one to xFilter, too.  In UTF-16 databases SQLite
** shows CAST(x'...' AS TEXT) as if the bytes were UTF-8, and before 3.54 it shows the characters of
** the number 0x80000000. */
static int conditions_is_plain_text(sqlite3_value *literal){
  const unsigned char *text = conditions_text(literal);
  const int num_bytes = text ? sqlite3_value_bytes(literal) : 0;
  int i = 0;
  if( text==NULL || sqlite3_strnicmp((const char *)text + (*text=='-'), "0x", 2)==0 ) return 0;
  while( i<num_bytes && text[i]<0x80 ) i++;
  return i==num_bytes;
}

void bloom_index_see_end(bloom_index *index, sqlite3_index_info *info){
  int i;
  assert( index->like_end );
  for(i=0; i<info->nConstraint && index->like_end; i++){
    const unsigned char *text = info->aConstraint[i].op==SQLITE_INDEX_CONSTRAINT_GE
      ? conditions_text(bloom_index_literal(info, i)) : NULL;
    if( text && strcmp((const char *)text, index->like_end)==0 ) index->like_end = NULL;
  }
}

/* -- The ends of LIKE 'begin%' -------------------------------------------------------------- */

/* Returns 1 if two texts are as SQLite makes them of a beginning: in capitals and in small letters
** where case is ignored; and the last character of the second one is the next one. */
static int conditions_are_ends(const unsigned char *begin, const unsigned char *end,
                               int ignores_case){
  if( begin==NULL || end==NULL || *begin==0 || *end==0 ) return 0;
  for(;; begin++, end++){
    const int is_last = begin[1]==0;
    int c = *begin;
    if( ignores_case && c>='a' && c<='z' ) return 0;
    if( ignores_case && c>='A' && c<='Z' ) c |= 0x20;
    if( c + is_last!=*end || (end[1]==0)!=is_last ) return 0;
    if( is_last ) return 1;
  }
}

/* Returns the lower one of a pair of ends, if a constraint may be one of them and the other one is
** there; or NULL.  SQLite shows both as literals, from 3.38 on. */
static const unsigned char *conditions_begin(sqlite3_index_info *info, int number){
  const struct sqlite3_index_constraint *all = info->aConstraint;
  const int is_begin = all[number].op==SQLITE_INDEX_CONSTRAINT_GE;
  const int other = is_begin ? SQLITE_INDEX_CONSTRAINT_LT : SQLITE_INDEX_CONSTRAINT_GE;
  const char *collation = sqlite3_vtab_collation(info, number);
  const int ignores_case = sqlite3_stricmp(collation, "NOCASE")==0;
  int i;
  if( !is_begin && all[number].op!=SQLITE_INDEX_CONSTRAINT_LT ) return NULL;
  if( !ignores_case && sqlite3_stricmp(collation, "BINARY")!=0 ) return NULL;
  for(i=0; i<info->nConstraint; i++){
    const unsigned char *begin, *end;
    if( all[i].iColumn!=all[number].iColumn || all[i].op!=other ) continue;
    begin = conditions_text(bloom_index_literal(info, is_begin ? number : i));
    end = conditions_text(bloom_index_literal(info, is_begin ? i : number));
    if( conditions_are_ends(begin, end, ignores_case) ) return begin;
  }
  return NULL;
}

/* Returns 1 if a LIKE or GLOB may begin with a text.  A pattern that is no literal may. */
static int conditions_begins_with(sqlite3_index_info *info, int number,
                                  const unsigned char *begin){
  const unsigned char *pattern = conditions_text(bloom_index_literal(info, number));
  return pattern==NULL || sqlite3_strnicmp((const char *)pattern, (const char *)begin,
                                           (int)strlen((const char *)begin))==0;
}

/* Returns 1 if a constraint `<` may be an end of a pattern: of a LIKE or GLOB that is a constraint,
** too, or of LIKE with ESCAPE, which xBestIndex is not told.  Ends of LIKE with ESCAPE compare by
** NOCASE, or by BINARY after PRAGMA case_sensitive_like.  begin: conditions_begin(). */
static int conditions_is_end(bloom_index *index, sqlite3_index_info *info, const index_plan *plan,
                             int number, const unsigned char *begin){
  const struct sqlite3_index_constraint *all = info->aConstraint;
  sqlite3_int64 ignores_case = 0;
  int i, rc;
  if( begin==NULL || all[number].op!=SQLITE_INDEX_CONSTRAINT_LT ) return 0;
  if( sqlite3_stricmp(sqlite3_vtab_collation(info, number), "NOCASE")==0 ) return 1;
  for(i=0; i<info->nConstraint; i++){
    if( all[i].iColumn==all[number].iColumn
     && (all[i].op==SQLITE_INDEX_CONSTRAINT_LIKE || all[i].op==SQLITE_INDEX_CONSTRAINT_GLOB)
     && conditions_begins_with(info, i, begin) ) return 1;
  }
  if( plan->flags & INDEX_PLAN_UNCHECKED ) return 1;
  rc = bloom_index_statement_integer(index, INDEX_USE_FOR_COST, &ignores_case,
                                     "SELECT 'A' LIKE 'a' ESCAPE '!'");
  return rc!=SQLITE_OK || !ignores_case;
}

/* -- What serves a condition ---------------------------------------------------------------- */

/* Returns 1 if the entries or zones of an indexed column serve a condition on it, which compares by
** a collation. */
static int conditions_does_serve(const index_key *key, const index_condition *condition,
                                 const char *collation){
  const index_group group = index_group_of(condition->kind);
  bloom_collation known;
  assert( !condition->is_on_id && condition->column==key->column && !key->doubt );
  if( !index_serves(key, group) ) return 0;
  /* It must find no more than the key's collation does. */
  if( group==INDEX_EQUALITY ) return bloom_collation_named(collation, &known)
    && (known==BLOOM_COLLATION_BINARY || known==key->equality.collation);
  /* Ends of LIKE compare by NOCASE. */
  return group!=INDEX_RANGE || sqlite3_stricmp(key->collation, collation)==0
    || (sqlite3_stricmp(key->collation, "BINARY")==0
        && sqlite3_stricmp(condition->collation, "NOCASE")==0);
}

/* Sets how the source compares where SQLite names a collation: by the column's own, which finds at
** least as much; by that one; or not at all.  For (a, b) > (x, y) SQLite may name y's collation for
** a; if x is no literal, this cannot be told from a > x. */
static void conditions_set_collation(const bloom_index *index, index_condition *condition,
                                     sqlite3_index_info *info, int number){
  const int is_equality = index_group_of(condition->kind)==INDEX_EQUALITY;
  const char *told = sqlite3_vtab_collation(info, number), *declared;
  bloom_collation known;
  if( condition->is_on_id || index_group_of(condition->kind)>=INDEX_NULL_TEST ) return;
  assert( condition->column>=0 && condition->column<index->columns.num_columns );
  declared = index->columns.list[condition->column].collation;
  if( sqlite3_stricmp(told, declared)==0
   || (is_equality && sqlite3_stricmp(told, "BINARY")==0
       && bloom_collation_named(declared, &known)) ) return;
  if( strlen(told)>=INDEX_MAX_COLLATION || strpbrk(told, "[\"") /* a plan's code has these */
   || (is_equality ? sqlite3_stricmp(declared, "BINARY")!=0
                   : bloom_index_literal(info, number)==NULL) ){
    condition->is_unpassed = 1;
  }else{
    sqlite3_snprintf(INDEX_MAX_COLLATION, condition->collation, "%s", told);
  }
}

/* Sets *condition and returns 1 if entries, zones, ids or the source can answer a constraint. */
static int conditions_read(const bloom_index *index, sqlite3_index_info *info, int number,
                           index_condition *condition){
  const struct sqlite3_index_constraint constraint = info->aConstraint[number];
  const char *collation;
  int i, kind = 0;
  while( kind<INDEX_NUM_KINDS && bloom_index_kinds[kind].op!=constraint.op ) kind++;
  if( kind==INDEX_NUM_KINDS || constraint.iColumn>=index->columns.num_columns ) return 0;
  *condition = (index_condition){.kind = (index_condition_kind)kind, .column = constraint.iColumn,
                                 .key = -1, .zone = -1};
  condition->is_on_id = (constraint.iColumn<0 || constraint.iColumn==index->columns.id_column)
    && !index_is_pattern(condition->kind);
  if( constraint.iColumn<0 && !condition->is_on_id ) return 0;
  conditions_set_collation(index, condition, info, number);
  collation = sqlite3_vtab_collation(info, number);
  for(i=0; i<index->config.num_keys && !condition->is_on_id; i++){
    const index_key *keys = index->config.keys, *key = &keys[i];
    if( key->column!=condition->column || key->doubt
     || !conditions_does_serve(key, condition, collation) ) continue;
    switch( key->kind ){
      case INDEX_KEY_HASHES: case INDEX_KEY_TEXTS: case INDEX_KEY_REGEXP:
        /* A whole text has its grams, too; tokens of values tell more. */
        if( condition->key<0 || key->kind<keys[condition->key].kind ) condition->key = i;
        break;
      case INDEX_KEY_ZONES: condition->zone = i;
    }
  }
  /* Up to 3.44 these leak out of the ON clauses of outer joins; in 3.52 they do not. */
  if( (index_is_pattern(condition->kind) ? condition->key<0
       : kind==INDEX_IS_NOT_NULL || index_group_of(condition->kind)==INDEX_DIFFERENCE)
     && sqlite3_libversion_number()<3052000 ) return 0;
  return condition->key>=0 || condition->zone>=0 || !condition->is_unpassed;
}

/* -- What SQLite need not check ------------------------------------------------------------- */

/* Returns 1 if SQLite need not check a condition: the source does, and compares as SQLite would. */
static int conditions_can_omit(const bloom_index *index, sqlite3_index_info *info, int number,
                               const index_condition *condition, sqlite3_value *literal,
                               int is_checked){
  const struct sqlite3_index_constraint *all = info->aConstraint;
  const index_group group = index_group_of(condition->kind);
  char affinity;
  if( condition->is_unpassed || condition->is_list || condition->is_end ) return 0;
  /* A pattern that is a BLOB means other characters in UTF-16, so it is not passed.  SQLite filters
  ** by the ends that it makes of a pattern: if this were omitted in an ON clause, an outer join
  ** would lose its rows. */
  if( index_is_pattern(condition->kind) ){
    int i;
    for(i=0; i<info->nConstraint; i++){
      if( all[i].iColumn==all[number].iColumn
       && (all[i].op==SQLITE_INDEX_CONSTRAINT_GE
           || all[i].op==SQLITE_INDEX_CONSTRAINT_LT) ) return 0;
    }
    return index->letter_bytes==1 && group==INDEX_PATTERN && is_checked;
  }
  if( group==INDEX_NULL_TEST ) return 1;
  if( !condition->is_on_id ){
    /* Of <> and IS NOT SQLite tells BINARY, whatever it compares by: a literal has no COLLATE. */
    if( group==INDEX_DIFFERENCE && (literal==NULL || condition->collation[0]) ) return 0;
    if( condition->collation[0]==0
     && sqlite3_stricmp(sqlite3_vtab_collation(info, number),
                        index->columns.list[condition->column].collation)!=0 ) return 0;
    switch( literal ? sqlite3_value_type(literal) : SQLITE_INTEGER ){
      case SQLITE_TEXT: return conditions_is_plain_text(literal);
      case SQLITE_BLOB: case SQLITE_NULL: return 1;
      default: break;
    }
  }
  /* A column of numbers converts the other side, in the source as here. */
  affinity = bloom_index_affinity(index, condition);
  return affinity!='t' && affinity!='b' && is_checked && index->letter_bytes==1;
}

/* -- All of them ----------------------------------------------------------------------------- */

/* Reads a condition that is a pattern: whether it has a beginning, whether entries serve it, and
** whether the source may call its function. */
static int conditions_read_pattern(bloom_index *index, sqlite3_index_info *info, index_plan *plan,
                                   sqlite3_value *literal, index_condition *condition){
  const unsigned char *text = conditions_text(literal);
  int i, rc;
  assert( index_is_pattern(condition->kind) && !condition->is_on_id && !condition->is_list );
  /* Its ends are there, or it is a literal that begins with neither a wildcard nor a byte beyond
  ** ASCII, and the column is TEXT.  If it looks like a number, SQLite adds ends for the source, and
  ** none for a virtual table. */
  condition->has_beginning = text && *text && *text<0x80
    && bloom_index_affinity(index, condition)=='t' && !index_is_regexp(condition->kind)
    && !strchr(condition->kind==INDEX_LIKE ? "%_" : "*?[", *text);
  for(i=0; i<info->nConstraint && !condition->has_beginning; i++){
    condition->has_beginning = info->aConstraint[i].iColumn==condition->column
      && conditions_begin(info, i)!=NULL;
  }
  rc = bloom_index_like_read_literal(condition, literal);
  if( rc!=SQLITE_OK || plan->flags & INDEX_PLAN_UNCHECKED ) return rc;
  rc = bloom_index_like_check(index, condition);
  if( rc==SQLITE_OK || bloom_sql_is_fatal(rc) ) return rc;
  /* An interrupt, or what an authorizer refuses: xFilter checks again, and reports it. */
  plan->flags |= INDEX_PLAN_UNCHECKED;
  return SQLITE_OK;
}

int bloom_index_conditions(bloom_index *index, sqlite3_index_info *info, index_plan *plan){
  const struct sqlite3_index_constraint *all = info->aConstraint;
  int i, j, rc = SQLITE_OK;
  assert( plan->num_conditions==0 );
  for(i=0; i<info->nConstraint && rc==SQLITE_OK && plan->num_conditions<INDEX_MAX_CONDITIONS; i++){
    const unsigned char *begin, *text;
    index_condition condition, pattern;
    sqlite3_value *literal;
    int is_end_of_pattern = 0;
    if( !all[i].usable || !conditions_read(index, info, i, &condition) ) continue;
    /* Zones serve the ends of a pattern that is a condition itself, and the source gets that. */
    begin = conditions_begin(info, i);
    for(j=0; j<info->nConstraint && begin && !is_end_of_pattern; j++){
      is_end_of_pattern = all[j].iColumn==all[i].iColumn && all[j].usable
        && conditions_read(index, info, j, &pattern) && index_is_pattern(pattern.kind)
        && conditions_begins_with(info, j, begin);
    }
    if( is_end_of_pattern && condition.zone<0 ) continue;
    condition.is_unpassed |= is_end_of_pattern;
    /* If SQLite asked for one value at a time, it would compare the column with it without the
    ** affinity that IN has. */
    if( condition.kind==INDEX_EQ ) condition.is_list = bloom_vtab_takes_list(info, i);
    if( condition.kind==INDEX_EQ && !condition.is_list && bloom_vtab_hides_list(i) ) continue;
    literal = condition.is_list ? NULL : bloom_index_literal(info, i);
    condition.is_literal = literal!=NULL;
    if( index_is_pattern(condition.kind) ){
      rc = conditions_read_pattern(index, info, plan, literal, &condition);
      if( condition.is_unpassed ) continue;
    }else if( !condition.is_unpassed && conditions_is_end(index, info, plan, i, begin) ){
      condition.is_end = condition.has_beginning = 1;
    }
    /* An end may leave out rows that its pattern finds and no form lets pass: ill-formed texts, or
    ** numbers. */
    text = conditions_text(literal);
    if( text && (condition.kind==INDEX_GE || condition.kind==INDEX_LT)
     && (!conditions_is_plain_text(literal)
         || (condition.kind==INDEX_GE && !condition.is_on_id
             && bloom_index_affinity(index, &condition)!='t'
             && bloom_index_begins_number(text))) ) condition.is_unpassed = 1;
    info->aConstraintUsage[i].omit = conditions_can_omit(index, info, i, &condition, literal,
                                                         !(plan->flags & INDEX_PLAN_UNCHECKED))!=0;
    /* What the source does not check, or checks more weakly, SQLite does. */
    assert( !info->aConstraintUsage[i].omit
            || !(condition.is_unpassed | condition.is_list | condition.is_end) );
    plan->literals[plan->num_conditions] = literal;
    plan->conditions[plan->num_conditions++] = condition;
    info->aConstraintUsage[i].argvIndex = plan->num_conditions;
  }
  return rc;
}
