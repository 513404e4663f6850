/*
** SQLite's interface for every file of this folder: through the table of pointers that
** .load passes, or directly if the extension is linked statically.
*/
#ifndef BLOOM_SQLITE_API_H
#define BLOOM_SQLITE_API_H

#include <stddef.h>

#ifdef SQLITE_CORE
# include <sqlite3.h>
#else
# include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#endif

/* 1 if sqlite3_interrupt() was called and the running statement must stop. */
static inline int bloom_db_is_interrupted(sqlite3 *db){
  sqlite3_stmt *none = NULL;
#if SQLITE_VERSION_NUMBER >= 3041000
  if( sqlite3_libversion_number()>=3041000 ) return sqlite3_is_interrupted(db);
#endif
  /* Before 3.41 only the parser tells: after an interrupt it stops at the first space of a
  ** text.  No statement comes of this one. */
  return sqlite3_prepare_v2(db, " ", -1, &none, NULL)==SQLITE_INTERRUPT;
}

static inline int bloom_is_interrupted(sqlite3_context *context){
  return bloom_db_is_interrupted(sqlite3_context_db_handle(context));
}

#endif
