/*
** Arguments from tokens.
*/
#include "vtab_int.h"

#include <string.h>

#include "../key.h"
#include "../size_args.h"

#define GIVEN_TWICE "bloom: option %s is given twice"

/* -- Options ------------------------------------------------------------------------- */

/* Returns what an option says, to be freed: a quoted text, or what stands there as it is.  NULL if
** there is no memory. */
static char *option_text(bloom_token value){
  const int is_quoted = bloom_token_is_name(value) && value.kind!='a'
    && bloom_token_after(value).num_chars==0;
  return is_quoted ? bloom_token_unquoted(value) : sqlite3_mprintf("%s", value.text);
}

static int read_bits_per_key_option(const char *text, bloom_vtab_args *args, char **error){
  double number;
  if( args->size>0 ) return bloom_fail_vtab(error, GIVEN_TWICE, "bits_per_key");
  if( !bloom_read_number(text, &number) || !(number>0 && number<=100) ){
    char buffer[BLOOM_HINT_BYTES];
    const char *hint = bloom_text_hint(text, buffer);
    return bloom_fail_vtab(error, "bloom: bits_per_key must be a number in 1..100, or a rate above"
                                  " 0 and below 1, "
                                  "not %s%s%s", text, hint ? "; " : "", hint ? hint : "");
  }
  args->size = number;
  return SQLITE_OK;
}

static int read_capacity_option(const char *text, bloom_vtab_args *args, char **error){
  double number;
  if( args->capacity>0 ) return bloom_fail_vtab(error, GIVEN_TWICE, "capacity");
  if( !bloom_read_number(text, &number) || !(number>=1 && number<=1e12)
   || (double)(sqlite3_int64)number!=number ){
    return bloom_fail_vtab(error, "bloom: capacity must be an integer in 1..1000000000000, not %s",
                           text);
  }
  args->capacity = (sqlite3_int64)number;
  return SQLITE_OK;
}

/* Notes why such a key is refused, and the way out.  A table of bloom 1.1 may have one: it can be
** opened, so that it can be dropped. */
static int refuse_expression(const char *what, const char *text, bloom_vtab_args *args){
  if( args->refusal ) return SQLITE_OK;
  args->refusal = sqlite3_mprintf("bloom: %s, not: %s; use bloom_build(), or a filter of your own:"
                                  " CREATE VIRTUAL TABLE f USING bloom(); INSERT INTO f(key) SELECT"
                                  " ...; and triggers AFTER INSERT and AFTER UPDATE that insert the"
                                  " new row's key", what, text);
  return args->refusal ? SQLITE_OK : SQLITE_NOMEM;
}

static int read_option(bloom_token name, bloom_token value, bloom_vtab_args *args, char **error){
  char *text = option_text(value);
  int rc;
  if( text==NULL ) return SQLITE_NOMEM;
  if( bloom_token_is(name, "where") ){
    rc = refuse_expression("a filter has all rows of its table, and no where", text, args);
  }else if( bloom_token_is(name, "bits_per_key") ){
    rc = read_bits_per_key_option(text, args, error);
  }else if( bloom_token_is(name, "capacity") ){
    rc = read_capacity_option(text, args, error);
  }else{
    rc = bloom_fail_vtab(error, "bloom: there is no option %.*s; options are bits_per_key and"
                                " capacity", (int)name.num_chars, name.text);
  }
  sqlite3_free(text);
  return rc;
}

/* -- Table and key --------------------------------------------------------------------- */

/* Reads the argument that is a column, or (a, b). */
static int read_key(const char *text, bloom_vtab_args *args, char **error){
  bloom_token token = bloom_token_first(text);
  const int is_list = token.kind=='(';
  for(;;){
    if( is_list ) token = bloom_token_after(token);
    if( !bloom_token_is_name(token) ) break;
    if( args->num_columns==BLOOM_MAX_KEY_COLUMNS ){
      return bloom_fail_vtab(error, "bloom: a key has at most %d columns", BLOOM_MAX_KEY_COLUMNS);
    }
    args->columns[args->num_columns] = bloom_token_unquoted(token);
    if( args->columns[args->num_columns++]==NULL ) return SQLITE_NOMEM;
    token = bloom_token_after(token);
    if( !is_list || token.kind!=',' ) break;
  }
  if( is_list && token.kind==')' && args->num_columns>1 ) token = bloom_token_after(token);
  if( args->num_columns>0 && token.num_chars==0 ) return SQLITE_OK;
  return refuse_expression("argument 2 (key) must be a column, or columns in parentheses", text,
                           args);
}

int bloom_vtab_args_read(
  int num_args, const char *const *texts, bloom_vtab_args *args, char **error
){
  int i, num_positional = 0, rc = SQLITE_OK;
  memset(args, 0, sizeof(*args));
  for(i=0; i<num_args && rc==SQLITE_OK; i++){
    const bloom_token first = bloom_token_first(texts[i]), equals = bloom_token_after(first),
      value = bloom_token_after(equals);
    if( first.kind=='a' && equals.kind=='=' && value.kind!='=' ){
      rc = read_option(first, value, args, error);
      continue;
    }
    switch( ++num_positional ){
      case 1:
        if( !bloom_token_is_name(first) || bloom_token_after(first).num_chars ){
          rc = bloom_fail_vtab(error, "bloom: argument 1 must be the name of a table, not: %s%s",
                               texts[i], bloom_token_after(first).kind!='.' ? "" : "; write"
                               " bloom(table, column), and a database before the name of the"
                               " virtual table");
          break;
        }
        args->table = bloom_token_unquoted(first);
        if( args->table==NULL ) rc = SQLITE_NOMEM;
        break;
      case 2:  rc = read_key(texts[i], args, error); break;
      default:
        rc = bloom_fail_vtab(error, "bloom: after table and key come options as name = value, not:"
                                    " %s; a key of several columns is written (a, b)", texts[i]);
    }
  }
  if( rc==SQLITE_OK && num_positional==1 ){
    rc = bloom_fail_vtab(error, "bloom: which key of table %s?  bloom(table, column) or"
                                " bloom(table, (column, column))", args->table);
  }
  if( args->size==0 ) args->size = BLOOM_DEFAULT_BITS_PER_KEY;
  if( args->capacity==0 ) args->capacity = BLOOM_VTAB_DEFAULT_CAPACITY;
  return rc;
}

void bloom_vtab_args_free(bloom_vtab_args *args){
  int i;
  for(i=0; i<args->num_columns; i++) sqlite3_free(args->columns[i]);
  sqlite3_free(args->table);
  sqlite3_free(args->default_value);
  sqlite3_free(args->refusal);
  memset(args, 0, sizeof(*args));
}
