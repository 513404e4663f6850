/*
** bloom_version(): the version of this extension, as text.
*/
#include "../../bloom.h"
#include "functions.h"

void bloom_version(sqlite3_context *context, int num_args, sqlite3_value **args){
  (void)num_args;
  (void)args;
  sqlite3_result_text(context, BLOOM_VERSION, -1, SQLITE_STATIC);
}
