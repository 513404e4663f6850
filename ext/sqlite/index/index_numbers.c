/*
** Texts that look like numbers, in the source's own indexes.
**
** Nobody tells a virtual table the affinity that the other side of a comparison has.  Where it is a
** number's, `column = 5` is true of the texts '5', '5.0' and ' 05e0', and a text that looks like a
** number is below every one that does not.  No index has these side by side, so that the source
** would be read whole, though nearly always the other side has no affinity.
**
**   column = 5        texts equal to a number begin with its digits, with those of the numbers next
**                     to it, or with what stands before digits: few ranges of an index
**   column < 'x'      if no text behind 'x' looks like a number, all that do are below it, too.
**                     Behind '2024-05-01' one would begin with digits, so that an index leads from
**                     each text that is there to the next one that may be a number: of dates,
**                     one in each year
**
** Both hold by ASCII's order, which the built-in collations have of digits: in UTF-8.
*/
#include "index_source.h"
#include "index_zones.h"

#include <string.h>

/* Sets *has_index to whether an index of the source's own serves `column operator ?`, and has texts
** in ASCII's order. */
static int numbers_have_index(bloom_index *index, const index_condition *condition,
                              const char *operator, int *has_index){
  const index_column_info *column = &index->columns.list[condition->column];
  bloom_collation collation;
  index_access access;
  int rc;
  *has_index = 0;
  if( condition->is_on_id || condition->collation[0]
   || !bloom_collation_named(column->collation, &collation) ) return SQLITE_OK;
  rc = bloom_index_learn_encoding(index);
  if( rc!=SQLITE_OK || index->letter_bytes!=1 ) return rc;
  rc = bloom_index_cost_access(index, sqlite3_mprintf("SELECT 1 FROM " INDEX_SOURCE
      " WHERE x.\"%w\" %s +?1 ORDER BY x.\"%w\"", index->schema, index->source_name,
      column->name, operator, column->name), &access);
  *has_index = rc==SQLITE_OK && access.way!=INDEX_ACCESS_SCAN && !access.sorts;
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
}

/* -- Equal to a number ----------------------------------------------------------------------- */

/* Digits that count: versions of SQLite read what has more as neighbouring REALs. */
#define NUMBERS_DIGITS 9

/* Adds what texts begin with whose digits begin with these: no decimal point among them, or one at
** any place.  Digits that end with zeros are followed by more of them, or by an exponent. */
static void numbers_add(index_list *list, sqlite3_int64 digits){
  char text[NUMBERS_DIGITS + 2];
  size_t num_digits, point;
  const char *end;
  sqlite3_snprintf(sizeof(text), text, "%lld", digits);
  num_digits = strlen(text);
  while( text[num_digits-1]=='0' ) num_digits--;
  for(point=1; point<=num_digits; point++){
    for(end=num_digits<NUMBERS_DIGITS ? "eE" : ""; end; end = *end ? end + 1 : NULL){
      index_prefix *prefix = &list->prefixes[list->num_values++];
      prefix->has_zeros = num_digits<NUMBERS_DIGITS && *end==0;
      sqlite3_snprintf(sizeof(prefix->text), prefix->text, "%.*s%s%.*s%.*s", (int)point, text,
                       point<num_digits ? "." : "", (int)(num_digits - point), text + point,
                       *end!=0, end);
    }
  }
}

/* Sets *list to what texts begin with that are equal to a number, and do not begin with blanks, a
** sign, a zero or a point; *is_set, unless they may begin with any digit: '5e-400' is 0. */
static int numbers_list(index_list *list, double number, int *is_set){
  char text[NUMBERS_DIGITS + 16];
  sqlite3_int64 digits = 0, first = 1;
  int i;
  if( number<0 ) number = -number;
  *is_set = number>1e-300 && number<1e300;
  bloom_index_list_free(list);
  if( !*is_set ) return SQLITE_OK;
  list->prefixes = sqlite3_malloc64(9*NUMBERS_DIGITS * sizeof(list->prefixes[0]));
  if( list->prefixes==NULL ) return SQLITE_NOMEM;
  /* 1.23456789e+05 */
  sqlite3_snprintf(sizeof(text), text, "%.*e", NUMBERS_DIGITS - 1, number);
  for(i=0; text[i]!='e' && text[i]; i++){
    if( text[i]!='.' ) digits = 10*digits + (text[i] - '0');
  }
  for(i=1; i<NUMBERS_DIGITS; i++) first *= 10;
  /* A text of more digits may begin with those of the number below, and, as these are rounded, of
  ** that above. */
  numbers_add(list, digits);
  numbers_add(list, digits>first ? digits - 1 : 10*first - 1);
  numbers_add(list, digits<10*first - 1 ? digits + 1 : first);
  return SQLITE_OK;
}

/* -- Below a text ------------------------------------------------------------------------------ */

static size_t numbers_skip(const char *text, const char *chars){
  return strspn(text, chars);
}

/* How many bytes a text that looks like a number, of every version of SQLite, may begin with. */
static size_t numbers_prefix(const char *text){
  static const char blanks[] = " \t\n\v\f\r", digits[] = "0123456789";
  const char *at = text + numbers_skip(text, blanks);
  at += *at=='+' || *at=='-';
  at += numbers_skip(at, digits);
  at += *at=='.';
  at += numbers_skip(at, digits);
  if( *at=='e' || *at=='E' ){
    at++;
    at += *at=='+' || *at=='-';
    at += numbers_skip(at, digits);
  }
  at += numbers_skip(at, blanks);
  return (size_t)(at - text);
}

/* Searches of an index that are tried. */
#define NUMBERS_SEARCHES 40

/* Makes of a text the least one behind it that may look like a number, or may be before such a one;
** *is_itself: the text itself may be it.  0: there is none. */
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

/* Sets *is_none to whether no text of a column that comes behind this one looks like a number. */
static int numbers_none_behind(bloom_index *index, const index_condition *condition,
                               sqlite3_value *value, int *is_none){
  const char *name = index->columns.list[condition->column].name;
  char *text = sqlite3_mprintf("%s", sqlite3_value_text(value));
  int num_searches = 0, is_itself, has_index = 0, rc = SQLITE_OK;
  *is_none = 0;
  if( text==NULL ) return SQLITE_NOMEM;
  rc = numbers_have_index(index, condition, ">", &has_index);
  while( has_index && rc==SQLITE_OK && !*is_none && num_searches++<NUMBERS_SEARCHES ){
    sqlite3_stmt *row = NULL;
    if( !numbers_next(text, &is_itself) ){
      *is_none = 1;
      break;
    }
    rc = bloom_index_statement_take(index, sqlite3_mprintf("SELECT x.\"%w\" FROM " INDEX_SOURCE
        " WHERE x.\"%w\" %s +?1 AND x.\"%w\" < ':' ORDER BY x.\"%w\" LIMIT 1", name, index->schema,
        index->source_name, name, is_itself ? ">=" : ">", name, name), &row);
    if( rc==SQLITE_OK ) rc = sqlite3_bind_text(row, 1, text, -1, SQLITE_TRANSIENT);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
    if( rc==SQLITE_DONE ) *is_none = 1;
    if( rc==SQLITE_ROW ){
      sqlite3_free(text);
      rc = bloom_sql_copy_text(row, 0, &text);
      if( rc==SQLITE_OK && (text==NULL || text[numbers_prefix(text)]==0) ) has_index = 0;
    }
    bloom_index_statement_give_back(index, row);
    if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  }
  sqlite3_free(text);
  return rc;
}

/* -- Forms ------------------------------------------------------------------------------------- */

int bloom_index_numbers_form(bloom_index *index, const index_condition *condition,
                             sqlite3_value *value, index_list *list, index_form *form){
  const int is_equality = condition->kind==INDEX_EQ || condition->kind==INDEX_IS;
  int is_usable = 0, rc = SQLITE_OK;
  if( *form==INDEX_FORM_BELOW ){
    rc = numbers_none_behind(index, condition, value, &is_usable);
    if( is_usable ) *form = INDEX_FORM_PLAIN;
  }else if( is_equality && (*form==INDEX_FORM_NUMBER || *form==INDEX_FORM_NUMBER_OR_TEXT)
            && !bloom_database_may_be_swapped(index->connection->db, "main") ){
    rc = numbers_have_index(index, condition, "=", &is_usable);
    if( rc==SQLITE_OK && is_usable ) rc = numbers_list(list, sqlite3_value_double(value),
                                                       &is_usable);
    if( rc==SQLITE_OK && is_usable ) *form = INDEX_FORM_NUMBER_BY_INDEX;
  }
  return rc;
}
