/*
** Arguments from tokens.
*/
#include "vtab_int.h"

#include <string.h>

#include "../errors.h"
#include "../key.h"
#include "../size_args.h"

#define GIVEN_TWICE "bloom: option %s is given twice"

/* What an option says: a quoted text, or what stands there as it is.  NULL if there is no
** memory. */
static char *option_text(bloom_token value){
  const int is_quoted = bloom_token_is_name(value) && value.kind!='a' && bloom_token_after(value).num_chars==0;
  return is_quoted ? bloom_token_unquoted(value) : sqlite3_mprintf("%s", value.text);
}

static int read_bits_per_key_option(const char *text, bloom_vtab_args *args, char **error){
  double number;
  int is_exact;
  if( args->size>0 ) return bloom_fail_vtab(error, GIVEN_TWICE, "bits_per_key");
  if( !bloom_read_number(text, &number, &is_exact) || !(number>0 && number<=100) ){
    char buffer[BLOOM_HINT_BYTES];
    const char *hint = bloom_text_hint(text, buffer);
    return bloom_fail_vtab(error, "bloom: bits_per_key must be a number in 1..100, or a rate above 0 and below 1, "
                                  "not %s%s%s", text, hint ? "; " : "", hint ? hint : "");
  }
  args->size = number;
  return SQLITE_OK;
}

static int read_capacity_option(const char *text, bloom_vtab_args *args, char **error){
  double number;
  int is_exact;
  if( args->capacity>0 ) return bloom_fail_vtab(error, GIVEN_TWICE, "capacity");
  if( !bloom_read_number(text, &number, &is_exact) || !(number>=1 && number<=1e12)
   || (double)(sqlite3_int64)number!=number ){
    return bloom_fail_vtab(error, "bloom: capacity must be an integer in 1..1000000000000, not %s", text);
  }
  args->capacity = (sqlite3_int64)number;
  return SQLITE_OK;
}

static int read_option(bloom_token name, bloom_token value, bloom_vtab_args *args, char **error){
  char *text = option_text(value);
  int rc;
  if( text==NULL ) return SQLITE_NOMEM;
  if( bloom_token_is(name, "where") && args->where==NULL ){
    args->where = text;
    return bloom_text_check_expression("where", text, error);
  }
  if( bloom_token_is(name, "where") ){
    rc = bloom_fail_vtab(error, GIVEN_TWICE, "where");
  }else if( bloom_token_is(name, "bits_per_key") ){
    rc = read_bits_per_key_option(text, args, error);
  }else if( bloom_token_is(name, "capacity") ){
    rc = read_capacity_option(text, args, error);
  }else{
    rc = bloom_fail_vtab(error, "bloom: there is no option %.*s; options are where, bits_per_key and capacity",
                                (int)name.num_chars, name.text);
  }
  sqlite3_free(text);
  return rc;
}

/* The argument that is the table. */
static int read_table_name(const char *text, bloom_token first, bloom_vtab_args *args, char **error){
  const bloom_token dot = bloom_token_after(first), table = bloom_token_after(dot);
  if( bloom_token_is_name(first) && dot.kind=='.' && bloom_token_is_name(table) && bloom_token_after(table).num_chars==0 ){
    return bloom_fail_vtab(error, "bloom: argument 1 must be the name of a table, not: %s; write CREATE VIRTUAL TABLE "
                                  "%.*s.name USING bloom(%.*s, ...)", text, (int)first.num_chars, first.text,
                                  (int)table.num_chars, table.text);
  }
  if( !bloom_token_is_name(first) || bloom_token_after(first).num_chars ){
    return bloom_fail_vtab(error, "bloom: argument 1 must be the name of a table, not: %s", text);
  }
  args->table = bloom_token_unquoted(first);
  return args->table ? SQLITE_OK : SQLITE_NOMEM;
}

/* Whether all of a text is (a, ...), with anything as a. */
static int is_list(bloom_token open){
  const bloom_token closing = bloom_token_closing(open);
  bloom_token each = bloom_token_after(open);
  if( bloom_token_after(closing).num_chars ) return 0;
  while( each.text<closing.text && each.kind!=',' ){
    each = bloom_token_after(each.kind=='(' ? bloom_token_closing(each) : each);
  }
  return each.text<closing.text;
}

/* Reads a or (a, b) if that is what the key is: args has no columns if it is not. */
static int read_columns(bloom_token token, bloom_vtab_args *args, char **error){
  const int is_alone = bloom_token_is_name(token) && bloom_token_after(token).num_chars==0;
  int num_columns = is_alone;
  bloom_token each = token;
  while( each.kind==(num_columns ? ',' : '(') && bloom_token_is_name(bloom_token_after(each)) ){
    each = bloom_token_after(bloom_token_after(each));
    num_columns++;
  }
  if( !is_alone && (token.kind!='(' || !is_list(token)) ) return SQLITE_OK;
  if( !is_alone && (num_columns<2 || each.kind!=')') ){
    return bloom_fail_vtab(error, "bloom: argument 2 (key) must have columns alone in parentheses, not: %s; write "
                                  "bloom_tuple%s", token.text, token.text);
  }
  if( num_columns>BLOOM_VTAB_MAX_COLUMNS ){
    return bloom_fail_vtab(error, "bloom: a key has at most %d columns", BLOOM_VTAB_MAX_COLUMNS);
  }
  while( args->num_columns<num_columns ){
    if( !is_alone ) token = bloom_token_after(token);
    args->columns[args->num_columns] = bloom_token_unquoted(token);
    if( args->columns[args->num_columns++]==NULL ) return SQLITE_NOMEM;
    token = bloom_token_after(token);
  }
  return SQLITE_OK;
}

/* The argument that is a column, columns or an expression. */
static int read_key(const char *text, bloom_token first, bloom_vtab_args *args, char **error){
  int rc = read_columns(first, args, error);
  if( rc!=SQLITE_OK || args->num_columns ) return rc;
  args->key = sqlite3_mprintf("%s", text);
  return args->key ? bloom_text_check_expression("key", text, error) : SQLITE_NOMEM;
}

/* An argument of the form word = value, but not word == value. */
static int is_option(bloom_token name){
  const bloom_token equals = bloom_token_after(name);
  return name.kind=='a' && equals.kind=='=' && bloom_token_after(equals).kind!='=';
}

int bloom_vtab_args_read(int num_args, const char *const *texts, bloom_vtab_args *args, char **error){
  int i, num_positional = 0, rc = SQLITE_OK;
  memset(args, 0, sizeof(*args));
  for(i=0; i<num_args && rc==SQLITE_OK; i++){
    const bloom_token first = bloom_token_first(texts[i]);
    if( is_option(first) ){
      rc = read_option(first, bloom_token_after(bloom_token_after(first)), args, error);
      continue;
    }
    switch( ++num_positional ){
      case 1:  rc = read_table_name(texts[i], first, args, error); break;
      case 2:  rc = read_key(texts[i], first, args, error); break;
      default: rc = bloom_fail_vtab(error, "bloom: after table and key come options as name = value, not: %s",
                                           texts[i]); break;
    }
  }
  if( rc==SQLITE_OK && num_positional==1 ){
    rc = bloom_fail_vtab(error, "bloom: which key of table %s?  bloom(table, column) or bloom(table, expression)",
                                args->table);
  }
  if( rc==SQLITE_OK && num_positional==0 && args->where ){
    rc = bloom_fail_vtab(error, "bloom: where needs a source table: bloom(table, key, where = ...)");
  }
  if( args->size==0 ) args->size = BLOOM_DEFAULT_BITS_PER_KEY;
  return rc;
}

void bloom_vtab_args_free(bloom_vtab_args *args){
  int i;
  for(i=0; i<args->num_columns; i++) sqlite3_free(args->columns[i]);
  sqlite3_free(args->table);
  sqlite3_free(args->key);
  sqlite3_free(args->where);
  memset(args, 0, sizeof(*args));
}

static char *copied(const char *text, int *rc){
  char *copy = text ? sqlite3_mprintf("%s", text) : NULL;
  if( text && copy==NULL ) *rc = SQLITE_NOMEM;
  return copy;
}

int bloom_vtab_args_copy(const bloom_vtab_args *args, bloom_vtab_args *copy){
  int i, rc = SQLITE_OK;
  *copy = *args;
  for(i=0; i<args->num_columns; i++) copy->columns[i] = copied(args->columns[i], &rc);
  copy->table = copied(args->table, &rc);
  copy->key = copied(args->key, &rc);
  copy->where = copied(args->where, &rc);
  return rc;
}
