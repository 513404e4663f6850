/*
** SQLite's interface for every file of this folder: through the table of pointers that
** .load passes, or directly if the extension is linked statically.
*/
#ifndef BLOOM_SQLITE_API_H
#define BLOOM_SQLITE_API_H

#ifdef SQLITE_CORE
# include <sqlite3.h>
#else
# include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#endif

/* 1 if sqlite3_interrupt() was called and the statement must stop.  SQLite has this
** question only from 3.41 on; with older libraries or headers the answer is 0. */
static inline int bloom_is_interrupted(sqlite3_context *context){
#if SQLITE_VERSION_NUMBER >= 3041000
  return sqlite3_libversion_number()>=3041000
      && sqlite3_is_interrupted(sqlite3_context_db_handle(context));
#else
  (void)context;
  return 0;
#endif
}

#endif
