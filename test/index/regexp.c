/*
** regexp() for tests, as an extension to load: the C library's extended expressions, of any bytes.
** SQLite's own shell has one, its library none.
**
**   sqlite3_regexp_init     as it is
**   sqlite3_regexpi_init    ignores case
*/
#include <regex.h>
#include <sqlite3ext.h>
#include <stdint.h>
#include <string.h>

SQLITE_EXTENSION_INIT1

static void free_code(void *code){
  regfree(code);
  sqlite3_free(code);
}

/* The compiled pattern, kept with the statement; NULL after an error. */
static regex_t *code_of(sqlite3_context *context, sqlite3_value *pattern){
  const char *text = (const char *)sqlite3_value_text(pattern);
  regex_t *code = sqlite3_get_auxdata(context, 0);
  char message[200];
  int failure;
  if( code ) return code;
  code = text ? sqlite3_malloc64(sizeof(*code)) : NULL;
  if( code==NULL ){
    sqlite3_result_error_nomem(context);
    return NULL;
  }
  failure = regcomp(code, text, REG_EXTENDED | (int)(intptr_t)sqlite3_user_data(context));
  if( failure ){
    regerror(failure, code, message, sizeof(message));
    sqlite3_free(code);
    sqlite3_result_error(context, message, -1);
    return NULL;
  }
  sqlite3_set_auxdata(context, 0, code, free_code);
  /* Kept, or freed at once for want of memory. */
  code = sqlite3_get_auxdata(context, 0);
  if( code==NULL ) sqlite3_result_error_nomem(context);
  return code;
}

static void regexp(sqlite3_context *context, int num_args, sqlite3_value **args){
  regex_t *code;
  const char *text;
  regmatch_t all = {0, 0};
  (void)num_args;
  if( sqlite3_value_type(args[0])==SQLITE_NULL || sqlite3_value_type(args[1])==SQLITE_NULL ) return;
  code = code_of(context, args[0]);
  text = code ? (const char *)sqlite3_value_text(args[1]) : NULL;
  if( code==NULL ) return;
  if( text==NULL ){
    sqlite3_result_error_nomem(context);
    return;
  }
#ifdef REG_STARTEND
  all.rm_eo = sqlite3_value_bytes(args[1]);
  sqlite3_result_int(context, regexec(code, text, 1, &all, REG_STARTEND)==0);
#else
  (void)all;
  sqlite3_result_int(context, regexec(code, text, 0, NULL, 0)==0);
#endif
}

int sqlite3_regexp_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);
int sqlite3_regexpi_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

int sqlite3_regexp_init(sqlite3 *db, char **error, const sqlite3_api_routines *api){
  (void)error;
  SQLITE_EXTENSION_INIT2(api)
  return sqlite3_create_function(db, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, regexp, NULL, NULL);
}

int sqlite3_regexpi_init(sqlite3 *db, char **error, const sqlite3_api_routines *api){
  (void)error;
  SQLITE_EXTENSION_INIT2(api)
  return sqlite3_create_function(db, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, (void *)(intptr_t)REG_ICASE, regexp, NULL, NULL);
}
