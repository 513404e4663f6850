/*
** Conditions -> the inner statement.
**
** SQLite tells a virtual table the value that a column is compared with, and not the affinity of
** that side, by which it may convert the column.  So each condition is passed in a form that is
** true of at least the rows of which SQLite's own comparison, which follows, is true.  A is the
** column's affinity, E that of the other side:
**
**   A                 the value            form
**   a number's        any                  c op ?, exact: it is converted in any case
**   TEXT, none        NULL, BLOB           c op ?, exact: nothing is converted
**   TEXT, none        TEXT, of a literal   c op ?, exact: E is none, or TEXT
**                     or a parameter
**     a parameter     no number, < and <=  c < ? OR c <= infinity: E may be numeric, through
**                                          u.d = ?1 AND c < u.d
**   TEXT, none        other TEXT           =, IS, > and >= if it is no number; else nothing
**   TEXT              a number             =, IS: as a number, and as its text, too
**   none              a number             > and >=: as it is; else as a number, too
**   TEXT, none        a text; none: number <>, IS NOT: as it is, for what differs as a number does
**                                          as a text, too
**   TEXT              a number             <>, IS NOT: an INTEGER literal, as it is; else nothing,
**                                          for beside a column without affinity '1' differs from 1,
**                                          and a REAL becomes a text of 15 digits
**
** LIKE finds BLOBs, too: the upper end of a range that SQLite may have made of `LIKE 'begin%'` lets
** them pass, if there are any.  No end is passed where LIKE may find numbers.
**
** 100,000 random queries on SQLite 3.40.1 and 3.54.1 found these cases.
*/
#include "index_source.h"
#include "index_values.h"

#include <stdlib.h>
#include <string.h>

/* -- Forms --------------------------------------------------------------------------------- */

static index_form pass_form_of_text(const bloom_index *index, index_condition condition,
                                    char affinity, sqlite3_value *value){
  const int is_below = condition.kind==INDEX_LT || condition.kind==INDEX_LE;
  const int is_numeric = affinity!='t' && affinity!='b';
  const index_group group = index_group_of(condition.kind);
  /* 1: it is a parameter's; SQLite tells from 3.28 on. */
  const int is_bound = sqlite3_libversion_number()>=3028000 && sqlite3_value_frombind(value);
  const unsigned char *text = sqlite3_value_text(value), *ascii_end = text;
  int may_be_number;
  assert( (text==NULL || sqlite3_value_type(value)==SQLITE_TEXT) && group<INDEX_NULL_TEST );
  /* Binding takes a byte order mark from UTF-16, which begins with 0xEF in UTF-8. */
  if( text==NULL || (text[0]==0xEF && index->letter_bytes!=1) ) return INDEX_FORM_NONE;
  if( condition.is_literal ) return condition.is_end ? INDEX_FORM_END : INDEX_FORM_PLAIN;
  /* It may be an end that SQLite made of `LIKE 'begin%'`, which may find BLOBs or numbers outside
  ** of it.  From 3.38 on xBestIndex sees such ends, which are literals. */
  if( !is_bound && group==INDEX_RANGE && sqlite3_libversion_number()<3038000 ){
    while( *ascii_end && *ascii_end<0x80 ) ascii_end++;
    if( condition.kind!=INDEX_GE ? is_numeric && condition.kind!=INDEX_GT
        : *ascii_end || (affinity!='t' && bloom_index_begins_number(text)) ) return INDEX_FORM_NONE;
  }
  if( is_numeric || group==INDEX_DIFFERENCE ) return INDEX_FORM_PLAIN;
  may_be_number = bloom_text_may_be_number(value);
  if( is_bound ) return is_below && !may_be_number ? INDEX_FORM_BELOW : INDEX_FORM_PLAIN;
  return is_below || may_be_number ? INDEX_FORM_NONE : INDEX_FORM_PLAIN;
}

index_form bloom_index_pass_form(const bloom_index *index, const index_condition *condition,
                                 sqlite3_value *value, const index_list *list){
  const index_group group = index_group_of(condition->kind);
  const char affinity = bloom_index_affinity(index, condition);
  const int is_numeric = affinity!='t' && affinity!='b';
  const int type = value ? sqlite3_value_type(value) : SQLITE_NULL;
  assert( !condition->is_list || (list && condition->kind==INDEX_EQ) );
  if( condition->is_unpassed ) return INDEX_FORM_NONE;
  /* CAST(123 AS BLOB) remembers that its bytes are UTF-16; a bound BLOB would not. */
  if( group==INDEX_PATTERN ){
    return type==SQLITE_BLOB && index->letter_bytes!=1 ? INDEX_FORM_NONE : INDEX_FORM_PLAIN;
  }
  if( group==INDEX_EXPRESSION ) return INDEX_FORM_LITERAL;
  if( group==INDEX_NULL_TEST ) return INDEX_FORM_NULL_TEST;
  if( condition->is_list ){
    /* SQLite 3.40.1 crashes over any table-valued function once sqlite3_deserialize() replaced
    ** main. */
    if( bloom_database_may_be_swapped(index->connection->db, "main") ) return INDEX_FORM_NONE;
    return list->has_numbers && !is_numeric ? INDEX_FORM_LIST_OF_NUMBERS : INDEX_FORM_LIST;
  }
  if( type==SQLITE_TEXT ) return pass_form_of_text(index, *condition, affinity, value);
  if( is_numeric || (type!=SQLITE_INTEGER && type!=SQLITE_FLOAT) ) return INDEX_FORM_PLAIN;
  if( group==INDEX_EQUALITY ) return INDEX_FORM_NUMBER;
  if( group==INDEX_DIFFERENCE ){
    return affinity=='b' || (condition->is_literal && type==SQLITE_INTEGER) ? INDEX_FORM_PLAIN
      : INDEX_FORM_NONE;
  }
  if( affinity=='t' ) return INDEX_FORM_NONE;
  return condition->kind==INDEX_GT || condition->kind==INDEX_GE ? INDEX_FORM_PLAIN
    : INDEX_FORM_NUMBER;
}

/* -- The statement --------------------------------------------------------------------------- */

/* Returns the second parameter of condition i: behind those of conditions, LIMIT and OFFSET. */
static int pass_second(int i){
  assert( i>=0 && i<INDEX_MAX_CONDITIONS );
  return 5 + INDEX_MAX_CONDITIONS + i;
}

/* Each form as SQL.  @ is the column, with a collation, # the operator, ? and $ are the condition's
** parameters, & is the id, and ! the source. */
static const char *const pass_forms[] = {
  /* Of `=`: where SQLite 3.31 asks for the values of an IN one by one, it lets NULLs pass. */
  [INDEX_FORM_NONE]            = "x.@ IS NOT NULL",
  /* Without the plus SQLite compiles the statement again for another value. */
  [INDEX_FORM_PLAIN]           = "x.@ # +?",
  [INDEX_FORM_NULL_TEST]       = "x.@ #",
  [INDEX_FORM_BELOW]           = "x.@ # +? OR x.@ <= CAST(9e999 AS REAL)",
  [INDEX_FORM_END]             = "x.@ # +? OR x.@ >= x''",
  [INDEX_FORM_NUMBER]          = "x.@ # CAST(? AS NUMERIC) OR x.@ # +?",
  /* In the index a number is itself, a text that begins with a blank, a sign, a point or 0, or one
  ** that begins with its digits. */
  [INDEX_FORM_NUMBER_BY_INDEX] = ("(x.@ # CAST(? AS NUMERIC) OR x.@ # +?) AND x.& IN ("
    "SELECT y.& FROM ! AS y WHERE y.@ = +?"
    " UNION ALL SELECT y.& FROM ! AS y WHERE y.@ >= '' AND y.@ < '1' AND y.@ = CAST(? AS NUMERIC)"
    " UNION ALL SELECT y.& FROM bloom_index_list($) AS l CROSS JOIN ! AS y WHERE y.@ >= l.value"
    " AND y.@ < l.value || CASE WHEN l.is_number THEN '1' ELSE 'f' END"
    " AND y.@ = CAST(? AS NUMERIC))"),
  [INDEX_FORM_LIST]            = "x.@ IN (SELECT l.value FROM bloom_index_list(?) AS l)",
  [INDEX_FORM_LIST_OF_NUMBERS] = ("x.@ IN (SELECT l.value FROM bloom_index_list(?) AS l WHERE NOT"
    " l.is_number) OR x.@ IN (SELECT CAST(l.value AS NUMERIC) FROM bloom_index_list(?) AS l WHERE"
    " l.is_number)"),
  /* SQLite calls regexp() itself, for rows that meet the conditions before it.  Only regexp() knows
  ** the text of a REAL or a BLOB. */
  [INDEX_FORM_LITERAL]         = ("? IS NULL OR instr(CASE WHEN $ THEN lower(x.@) ELSE x.@ END, ?)"
    " OR typeof(x.@) IN ('real', 'blob')"),
};

/* Appends condition i in a form.  Its parameter is ?(3+i). */
static void pass_append_condition(const bloom_index *index, sqlite3_str *sql,
                                  const index_plan *plan, int i, index_form form,
                                  index_reading reading){
  const index_condition condition = plan->conditions[i];
  const char *text = pass_forms[form];
  assert( i>=0 && i<plan->num_conditions && (size_t)form<BLOOM_COUNT_OF(pass_forms) );
  /* No form may be true of fewer rows than the condition. */
  assert( !condition.is_unpassed || form==INDEX_FORM_NONE );
  assert( !condition.is_list || form==INDEX_FORM_NONE || form==INDEX_FORM_LIST
          || form==INDEX_FORM_LIST_OF_NUMBERS );
  if( form==INDEX_FORM_PLAIN && condition.has_beginning && index_is_pattern(condition.kind)
   && reading!=INDEX_READ_INTERVALS && reading!=INDEX_READ_SLICES ){
    /* Without the plus SQLite searches an index for the beginning of a pattern, and misses the REAL
    ** infinity: as it does in the query itself. */
    text = reading!=INDEX_READ_COST ? "x.@ # ?" : condition.kind==INDEX_GLOB ? "x.@ # 'a*'"
      : "x.@ # 'a%'";
  }
  sqlite3_str_appendall(sql, " AND (");
  for(; *text; text++){
    switch( *text ){
      case '@':
        sqlite3_str_appendf(sql, "\"%w\"", bloom_index_name_of(index, &condition));
        if( condition.collation[0] ){
          sqlite3_str_appendf(sql, " COLLATE \"%w\"", condition.collation);
        }
        break;
      case '#': sqlite3_str_appendall(sql, bloom_index_kinds[condition.kind].sql); break;
      case '?': sqlite3_str_appendf(sql, "?%d", 3 + i); break;
      case '$': sqlite3_str_appendf(sql, "?%d", pass_second(i)); break;
      case '&': sqlite3_str_appendf(sql, "\"%w\"", index->columns.id_name); break;
      case '!':
        sqlite3_str_appendf(sql, "\"%w\".\"%w\"", index->schema, index->columns.name);
        break;
      default:  sqlite3_str_appendchar(sql, 1, *text);
    }
  }
  sqlite3_str_appendall(sql, ")");
}

char *bloom_index_pass_statement(const bloom_index *index, const index_plan *plan,
                                 const index_form *forms, index_reading reading){
  const char *id = index->columns.id_name, *name = NULL; /* of the order's first column */
  const char *plus = reading==INDEX_READ_SORTED ? "+" : "";
  const int is_free = reading!=INDEX_READ_INTERVALS && reading!=INDEX_READ_SLICES;
  const int is_cost = reading==INDEX_READ_COST, slice = INDEX_SLICE_PARAMETER;
  const index_order *orders = plan->orders;
  sqlite3_str *sql = sqlite3_str_new(index->connection->db);
  int i;
  if( plan->num_orders>0 && orders->column>=0 ) name = index->columns.list[orders->column].name;
  /* A LIMIT counts the rows of one statement. */
  assert( plan->num_limits==0 || reading==INDEX_READ_FREE || reading==INDEX_READ_SORTED
          || is_cost );
  assert( name || (reading!=INDEX_READ_SLICES && reading!=INDEX_READ_BEHIND
                   && reading!=INDEX_READ_NULLS) );
  assert( index->columns.id_name && plan->num_orders<=INDEX_MAX_ORDERS );
  sqlite3_str_appendf(sql, "%sSELECT x.\"%w\"", is_cost ? "EXPLAIN QUERY PLAN " : "", id);
  for(i=0; i<index->columns.num_columns; i++){
    if( bloom_index_uses_column(plan, i) ) sqlite3_str_appendf(sql, ", x.\"%w\"",
                                                               index->columns.list[i].name);
  }
  sqlite3_str_appendf(sql, " FROM %s" INDEX_SOURCE "%s WHERE ", reading==INDEX_READ_SLICES
                      ? "bloom_index_list(?1) AS r CROSS JOIN " : "", index->schema,
                      index->columns.name, is_free ? "" : " NOT INDEXED");
  switch( reading ){
    case INDEX_READ_FREE: case INDEX_READ_COST: sqlite3_str_appendall(sql, "1"); break;
    case INDEX_READ_BEHIND:
      sqlite3_str_appendf(sql, "x.\"%w\" %c +?1", name, orders->is_descending ? '<' : '>');
      break;
    case INDEX_READ_NULLS: sqlite3_str_appendf(sql, "x.\"%w\" IS NULL", name); break;
    case INDEX_READ_SLICES:
      sqlite3_str_appendf(sql, "x.\"%w\" BETWEEN r.value AND r.last", id);
      break;
    case INDEX_READ_INTERVALS: case INDEX_READ_SORTED:
      sqlite3_str_appendf(sql, "x.\"%w\" BETWEEN ?1 AND ?2", id);
      break;
  }
  for(i=0; i<plan->num_conditions; i++){
    if( forms[i]==INDEX_FORM_NONE && plan->conditions[i].kind!=INDEX_EQ ) continue;
    pass_append_condition(index, sql, plan, i, forms[i], reading);
  }
  /* The ends of a slice are behind the conditions, which leave fewer rows.  With a plus a column
  ** has no affinity, and is compared as it is sorted. */
  if( reading==INDEX_READ_SLICES ){
    sqlite3_str_appendf(sql, " AND (+x.\"%w\" >= ?%d OR ?%d) AND (+x.\"%w\" < ?%d OR x.\"%w\" IS"
                        " NULL OR ?%d)", name, slice, slice + 1, name, slice + 2, name, slice + 3);
  }
  /* +x.id cannot come from an index, so that SQLite reads all rows into a sorter before it returns
  ** the first one.  Where an interval is read in no order, SQLite 3.54 may search the id by a
  ** condition of the query instead of ?2, and read far behind the interval. */
  for(i=0; i<plan->num_orders; i++){
    sqlite3_str_appendf(sql, "%s %sx.\"%w\"%s", i ? "," : " ORDER BY", plus, orders[i].column<0
                        ? id : index->columns.list[orders[i].column].name,
                        orders[i].is_descending ? " DESC" : "");
  }
  if( plan->num_orders==0 && (*plus || reading==INDEX_READ_INTERVALS) ){
    sqlite3_str_appendf(sql, " ORDER BY %sx.\"%w\"", plus, id);
  }
  for(i=0; i<plan->num_limits && !is_cost; i++){
    sqlite3_str_appendf(sql, " %s ?%d", i ? "OFFSET" : "LIMIT", 3 + plan->num_conditions + i);
  }
  if( is_cost && plan->num_wanted>0 ) sqlite3_str_appendf(sql, " LIMIT %d", plan->num_wanted);
  return sqlite3_str_finish(sql);
}

/* -- Binding ---------------------------------------------------------------------------------- */

/* Binds the longest bytes that all terms of a regular expression require, or NULL where there are
** none, and whether they may be in any case. */
static int pass_bind_literal(bloom_index *index, sqlite3_stmt *rows, int i,
                             index_condition_kind kind, sqlite3_value *value){
  bloom_regexp regexp;
  const uint8_t *longest = NULL;
  size_t num_bytes = 0;
  uint64_t in_all = ~(uint64_t)0;
  uint32_t j, at, first;
  int rc = bloom_index_regexp_read(value, kind, &regexp);
  assert( index_is_regexp(kind) );
  if( rc==SQLITE_OK && regexp.num_literals>0 ){
    /* A wrong pattern is an error as on the table, though regexp() may be called for no row. */
    sqlite3_stmt *call;
    rc = bloom_sql_prepare(index->connection, &call, "SELECT '' REGEXP ?1 FROM " INDEX_SOURCE
                           " LIMIT 1", index->schema, index->columns.name);
    if( rc==SQLITE_OK ) rc = bloom_sql_bind(call, 1, value);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, call);
    rc = bloom_sql_end(call, rc);
  }
  if( rc!=SQLITE_OK ) return rc;
  for(j=0; j<regexp.required.num_terms; j++) in_all &= regexp.required.terms[j];
  for(j=0; j<regexp.num_literals; j++){
    const uint32_t end = regexp.literals[j].first + (uint32_t)regexp.literals[j].num_bytes;
    if( !(in_all >> j & 1) ) continue;
    for(at=first=regexp.literals[j].first; at<=end; at++){
      /* Bytes of ASCII alone: a text may have other characters in ill-formed bytes. */
      if( at<end && regexp.bytes[at]<0x80 ) continue;
      if( at - first>num_bytes ){
        num_bytes = at - first;
        longest = regexp.bytes + first;
      }
      first = at + 1;
    }
  }
  sqlite3_bind_int(rows, pass_second(i), regexp.ignores_case);
  return sqlite3_bind_text64(rows, 3 + i, (const char *)longest, num_bytes, SQLITE_TRANSIENT,
                             SQLITE_UTF8);
}

int bloom_index_pass_bind(bloom_index *index, sqlite3_stmt *rows, const index_plan *plan,
                          const index_form *forms, sqlite3_value **args, index_list *lists){
  int i, rc = SQLITE_OK;
  for(i=0; i<plan->num_conditions && rc==SQLITE_OK; i++){
    const index_condition condition = plan->conditions[i];
    assert( forms[i]!=INDEX_FORM_LITERAL || index_is_regexp(condition.kind) );
    if( forms[i]==INDEX_FORM_NONE || forms[i]==INDEX_FORM_NULL_TEST ) continue;
    if( forms[i]==INDEX_FORM_LITERAL ){
      rc = pass_bind_literal(index, rows, i, condition.kind, args[i]);
    }else if( condition.is_list ) rc = bloom_index_list_bind(rows, 3 + i, &lists[i]);
    else if( index_is_pattern(condition.kind) && sqlite3_value_type(args[i])==SQLITE_TEXT ){
      /* LIKE and GLOB compare UTF-8.  sqlite3_bind_value() takes U+FEFF or U+FFFE at the beginning
      ** of UTF-16 for a byte order mark. */
      sqlite3_value *copy;
      rc = bloom_index_value_copy(args[i], &copy);
      if( rc==SQLITE_OK ){
        rc = sqlite3_bind_text64(rows, 3 + i, (const char *)sqlite3_value_text(copy),
                                 (sqlite3_uint64)sqlite3_value_bytes(copy), SQLITE_TRANSIENT,
                                 SQLITE_UTF8);
      }
      sqlite3_value_free(copy);
    }else rc = bloom_sql_bind(rows, 3 + i, args[i]);
    if( rc==SQLITE_OK && forms[i]==INDEX_FORM_NUMBER_BY_INDEX ){
      rc = bloom_index_list_bind(rows, pass_second(i), &lists[i]);
    }
  }
  for(; i<plan->num_conditions + plan->num_limits && rc==SQLITE_OK; i++){
    rc = bloom_sql_bind(rows, 3 + i, args[i]);
  }
  return rc;
}

/* == Numbers, by indexes of the source ================================================= */

/*
** Texts that look like numbers, in the source's own indexes.
**
** If the other side of a comparison has a number's affinity, `column = 5` is true of the texts '5',
** '5.0' and ' 05e0', and each text that looks like a number is below each that does not.  No index
** has these side by side, and the whole source would be read, though the other side nearly always
** has no affinity.
**
**   column = 5        texts that equal a number begin with its digits, with those of a number next
**                     to it, or with a blank, a sign, a point or 0: few ranges of an index
**   column < 'x'      if no text behind 'x' looks like a number, all that do are below 'x' in the
**                     index, too.  To find one, an index is searched from each text that is there
**                     for the next one that may be a number: among dates, once for each year
**
** Both need ASCII's order of digits, which the built-in collations have in UTF-8.
*/

/* Sets *has_index to whether an index of the source's own serves `column operator ?`, and has texts
** in ASCII's order. */
static int numbers_have_index(bloom_index *index, const index_condition *condition,
                              const char *operator, int *has_index){
  const bloom_source_column *column = &index->columns.list[condition->column];
  bloom_collation collation;
  index_access access;
  int rc;
  assert( !condition->is_on_id && condition->column<index->columns.num_columns );
  *has_index = 0;
  if( condition->collation[0] || index->letter_bytes!=1
   || !bloom_collation_named(column->collation, &collation) ) return SQLITE_OK;
  rc = bloom_index_cost_access(index, sqlite3_mprintf("EXPLAIN QUERY PLAN SELECT 1 FROM "
      INDEX_SOURCE " WHERE x.\"%w\" %s +?1 ORDER BY x.\"%w\"", index->schema, index->columns.name,
      column->name, operator, column->name), &access);
  *has_index = rc==SQLITE_OK && access.way!=INDEX_ACCESS_SCAN && !access.sorts;
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
}

/* -- Equal to a number ----------------------------------------------------------------------- */

/* Digits that are compared.  Of texts with more, versions of SQLite make neighbouring REALs. */
#define NUMBERS_DIGITS 9

/* Each of three numbers has 8 places of a point with 3 ends, or 9 with one. */
#define NUMBERS_MAX_PREFIXES ((size_t)3*3*(NUMBERS_DIGITS - 1))

/* Adds the beginnings of texts whose first digits are these, with a decimal point at any place or
** none.  Zeros at the end are left out: in a text zeros may follow, or an exponent. */
static void numbers_add(index_list *list, sqlite3_int64 digits){
  char text[NUMBERS_DIGITS + 2];
  size_t num_digits, point;
  const char *end;
  sqlite3_snprintf(sizeof(text), text, "%lld", digits);
  num_digits = strlen(text);
  assert( digits>0 && num_digits==NUMBERS_DIGITS );
  while( text[num_digits-1]=='0' ) num_digits--;
  for(point=1; point<=num_digits; point++){
    for(end=num_digits<NUMBERS_DIGITS ? "eE" : ""; end; end = *end ? end + 1 : NULL){
      index_prefix *prefix = &list->prefixes[list->num_values++];
      assert( list->num_values<=NUMBERS_MAX_PREFIXES );
      prefix->has_zeros = (char)(num_digits<NUMBERS_DIGITS && *end==0);
      sqlite3_snprintf(sizeof(prefix->text), prefix->text, "%.*s%s%.*s%.*s", (int)point, text,
                       point<num_digits ? "." : "", (int)(num_digits - point), text + point,
                       *end!=0, end);
    }
  }
}

/* Sets *list to the beginnings of texts that equal a number, except texts that begin with a blank,
** a sign, a point or 0.  For 0 and infinity they are the digits from 1 to 9: '5e-400' is 0. */
static int numbers_list(index_list *list, double number){
  const sqlite3_int64 first = 100000000; /* the least number of NUMBERS_DIGITS digits */
  char text[NUMBERS_DIGITS + 16];
  sqlite3_int64 digits;
  if( number<0 ) number = -number;
  assert( number>=0 ); /* SQLite has no NaN */
  bloom_index_list_free(list);
  list->prefixes = sqlite3_malloc64(sizeof(list->prefixes[0]) * NUMBERS_MAX_PREFIXES);
  if( list->prefixes==NULL ) return SQLITE_NOMEM;
  if( number<1e-300 || number>1e300 ){
    while( list->num_values<9 ){
      list->prefixes[list->num_values] = (index_prefix){{(char)('1' + list->num_values)}, 0};
      list->num_values++;
    }
    return SQLITE_OK;
  }
  /* 1.23456789e+05 */
  sqlite3_snprintf(sizeof(text), text, "%.*e", NUMBERS_DIGITS - 1, number);
  assert( text[1]=='.' && text[NUMBERS_DIGITS+1]=='e' );
  digits = first*(text[0] - '0') + strtoll(text + 2, NULL, 10);
  /* A text of more digits may begin with those of the number below, and of that above, since digits
  ** are rounded. */
  numbers_add(list, digits);
  numbers_add(list, digits>first ? digits - 1 : 10*first - 1);
  numbers_add(list, digits<10*first - 1 ? digits + 1 : first);
  return SQLITE_OK;
}

/* -- Below a text ------------------------------------------------------------------------------ */

/* Returns how many of a text's first bytes may begin a text that looks like a number to some
** version of SQLite. */
static size_t numbers_prefix(const char *text){
  static const char blanks[] = " \t\n\v\f\r", digits[] = "0123456789";
  const char *at = text + strspn(text, blanks);
  at += *at=='+' || *at=='-';
  at += strspn(at, digits);
  at += *at=='.';
  at += strspn(at, digits);
  if( *at=='e' || *at=='E' ){
    at++;
    at += *at=='+' || *at=='-';
    at += strspn(at, digits);
  }
  at += strspn(at, blanks);
  return (size_t)(at - text);
}

/* Searches of an index that are tried. */
#define NUMBERS_SEARCHES 40

/* Changes a text to the least one from it on with which a text that looks like a number may begin.
** Sets *is_itself if it was changed: it may look like a number itself.  Returns 0 if there is
** none. */
static int numbers_next(char *text, int *is_itself){
  size_t length = numbers_prefix(text);
  *is_itself = text[length]!=0;
  if( text[length]==0 ) return 1;
  /* Of a number only blanks, digits, signs, points and e may follow. */
  if( (unsigned char)text[length]>='e' ){
    if( length==0 ) return 0;
    length--;
  }
  text[length]++;
  text[length+1] = 0;
  return text[0]<='9';
}

/* Sets *is_none to whether no text of a column behind this one looks like a number; 0 if no index
** tells. */
static int numbers_none_behind(bloom_index *index, const index_condition *condition,
                               sqlite3_value *value, int *is_none){
  const char *name = index->columns.list[condition->column].name;
  char *text = sqlite3_mprintf("%s", sqlite3_value_text(value));
  int num_searches = 0, is_itself, has_index = 0, rc = SQLITE_OK;
  assert( condition->kind==INDEX_LT || condition->kind==INDEX_LE );
  *is_none = 0;
  if( text==NULL ) return SQLITE_NOMEM;
  rc = numbers_have_index(index, condition, ">", &has_index);
  while( has_index && rc==SQLITE_OK && !*is_none && num_searches++<NUMBERS_SEARCHES ){
    sqlite3_stmt *row = NULL;
    if( !numbers_next(text, &is_itself) ){
      *is_none = 1;
      break;
    }
    rc = bloom_index_statement_take(index, INDEX_USE_BY_TEXT, &row, "SELECT x.\"%w\" FROM "
                                    INDEX_SOURCE " WHERE x.\"%w\" %s +?1 AND x.\"%w\" < ':'"
                                    " ORDER BY x.\"%w\" LIMIT 1", name, index->schema,
                                    index->columns.name, name, is_itself ? ">=" : ">", name, name);
    if( rc==SQLITE_OK ) rc = sqlite3_bind_text(row, 1, text, -1, SQLITE_TRANSIENT);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
    if( rc==SQLITE_DONE ) *is_none = 1;
    if( rc==SQLITE_ROW ){
      sqlite3_free(text);
      rc = bloom_sql_copy_text(row, 0, &text);
      if( rc==SQLITE_OK && (text==NULL || text[numbers_prefix(text)]==0) ) has_index = 0;
    }
    bloom_index_statement_give_back(index, row, 0);
    if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  }
  sqlite3_free(text);
  return rc;
}

/* -- Forms ------------------------------------------------------------------------------------- */

/* Sets *is_none to whether a column has no BLOBs, if an index tells. */
static int numbers_no_blobs(bloom_index *index, const index_condition *condition, int *is_none){
  const bloom_source_column *column = &index->columns.list[condition->column];
  char *sql = sqlite3_mprintf("SELECT 1 FROM " INDEX_SOURCE " WHERE x.\"%w\" COLLATE \"%w\" >= x''"
                              " LIMIT 1", index->schema, index->columns.name, column->name,
                              condition->collation[0] ? condition->collation : column->collation);
  sqlite3_int64 has_blob = 0;
  index_access access;
  int rc = sql ? bloom_index_cost_access(index, sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql),
                                         &access) : SQLITE_NOMEM;
  if( rc==SQLITE_OK && access.way!=INDEX_ACCESS_SCAN ){
    rc = bloom_index_statement_integer(index, INDEX_USE_BY_TEXT, &has_blob, "%s", sql);
    *is_none = rc==SQLITE_OK && !has_blob;
  }
  sqlite3_free(sql);
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
}

int bloom_index_numbers_form(bloom_index *index, const index_condition *condition,
                             sqlite3_value *value, index_list *list, index_form *form){
  int is_usable = 0, rc = SQLITE_OK;
  assert( value || (*form!=INDEX_FORM_BELOW && *form!=INDEX_FORM_NUMBER) );
  if( *form==INDEX_FORM_BELOW ){
    rc = numbers_none_behind(index, condition, value, &is_usable);
  }else if( *form==INDEX_FORM_END && condition->has_beginning && !condition->is_on_id ){
    rc = numbers_no_blobs(index, condition, &is_usable);
  }else if( *form==INDEX_FORM_NUMBER && index_group_of(condition->kind)==INDEX_EQUALITY
            && !bloom_database_may_be_swapped(index->connection->db, "main") ){
    rc = numbers_have_index(index, condition, "=", &is_usable);
    if( is_usable ) rc = numbers_list(list, sqlite3_value_double(value));
    assert( rc!=SQLITE_OK || !is_usable || (list->prefixes && list->num_values>0) );
  }
  if( is_usable ){
    *form = *form==INDEX_FORM_NUMBER ? INDEX_FORM_NUMBER_BY_INDEX : INDEX_FORM_PLAIN;
  }
  return rc;
}
