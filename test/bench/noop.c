/* A function of two arguments that does nothing with them: the price of any such call. */
#include <stddef.h>

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

static void noop(sqlite3_context *context, int num_args, sqlite3_value **args){
  (void)num_args; (void)args;
  sqlite3_result_int(context, 1);
}

int sqlite3_noop_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
int sqlite3_noop_init(sqlite3 *db, char **message, const sqlite3_api_routines *api){
  SQLITE_EXTENSION_INIT2(api);
  (void)message;
  return sqlite3_create_function(db, "noop", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, noop, NULL, NULL);
}
