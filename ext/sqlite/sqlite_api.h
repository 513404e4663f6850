/*
** SQLite's interface, as every file of this folder sees it: through the table
** of pointers that .load hands over, or directly where linked statically.
*/
#ifndef BLOOM_SQLITE_API_H
#define BLOOM_SQLITE_API_H

#ifdef SQLITE_CORE
# include <sqlite3.h>
#else
# include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#endif

/* 1 if sqlite3_interrupt() was called and the statement will not go on.  Before 3.41
** SQLite cannot tell, nor could headers older than that: 0. */
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
