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

/* The number of an array's elements. */
#define BLOOM_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Asks in xBestIndex for the whole list of a constraint that is an IN, and returns 1 if xFilter
** gets it: from 3.38 on. */
static inline int bloom_vtab_takes_list(sqlite3_index_info *info, int constraint){
#if SQLITE_VERSION_NUMBER >= 3038000
  return sqlite3_libversion_number()>=3038000 && sqlite3_vtab_in(info, constraint, 1);
#else
  (void)info;
  (void)constraint;
  return 0;
#endif
}

/* Steps in xFilter through the list of such an IN: SQLITE_OK with *value set, or SQLITE_DONE. */
static inline int bloom_vtab_list_value(sqlite3_value *list, int is_first, sqlite3_value **value){
#if SQLITE_VERSION_NUMBER >= 3038000
  return is_first ? sqlite3_vtab_in_first(list, value) : sqlite3_vtab_in_next(list, value);
#else
  (void)list;
  (void)is_first;
  (void)value;
  return SQLITE_DONE;
#endif
}

/* Returns 1 if SQLite needs only one of the rows with the same values in the used columns; known
** from 3.38 on. */
static inline int bloom_vtab_is_distinct(sqlite3_index_info *info){
#if SQLITE_VERSION_NUMBER >= 3038000
  return sqlite3_libversion_number()>=3038000 && sqlite3_vtab_distinct(info)>=2;
#else
  (void)info;
  return 0;
#endif
}

/* Returns 1 if a constraint may be an IN that bloom_vtab_takes_list() does not tell from `=`:
** SQLite marks only the first 32 constraints. */
static inline int bloom_vtab_hides_list(int constraint){
  return constraint>=32 && sqlite3_libversion_number()>=3038000;
}

/* Returns 1 if sqlite3_interrupt() was called and the running statement must stop. */
static inline int bloom_db_is_interrupted(sqlite3 *db){
  sqlite3_stmt *none = NULL;
#if SQLITE_VERSION_NUMBER >= 3041000
  if( sqlite3_libversion_number()>=3041000 ) return sqlite3_is_interrupted(db);
#endif
  /* Before 3.41 only the parser tells: after an interrupt it stops at the first space.  This text
  ** makes no statement. */
  return sqlite3_prepare_v2(db, " ", -1, &none, NULL)==SQLITE_INTERRUPT;
}

/* Returns 1 for the operator IS NULL or IS NOT NULL of a constraint. */
static inline int bloom_is_null_test(int op){
  return op==SQLITE_INDEX_CONSTRAINT_ISNULL || op==SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
}

/* Returns how many digits SQLite writes a REAL with.  From 3.52 on they are 17, and from a later
** release on an application can choose, by SQLITE_DBCONFIG_FP_DIGITS; where it cannot,
** sqlite3_db_config() leaves the number as it is. */
#define BLOOM_USUAL_REAL_DIGITS 17
static inline int bloom_db_real_digits(sqlite3 *db){
  const int fp_digits = 1023;
  int num_digits = BLOOM_USUAL_REAL_DIGITS;
  if( sqlite3_libversion_number()>=3052000 ) (void)sqlite3_db_config(db, fp_digits, 0, &num_digits);
  return num_digits;
}

/* Returns 1 if the connection has a transaction that may write to a database, as far as SQLite
** says: from 3.34 on. */
static inline int bloom_db_is_writing(sqlite3 *db, const char *schema){
#if SQLITE_VERSION_NUMBER >= 3034000
  return sqlite3_libversion_number()>=3034000 && sqlite3_txn_state(db, schema)==SQLITE_TXN_WRITE;
#else
  (void)db;
  (void)schema;
  return 0;
#endif
}

/* What SQLite tells of the content of a database. */
typedef enum bloom_content {
  BLOOM_CONTENT_UNKNOWN,  /* nothing */
  BLOOM_CONTENT_NUMBERED, /* its number, as of the last transaction of the connection */
  BLOOM_CONTENT_READ      /* its number; a transaction reads it now */
} bloom_content;

/* Sets *number to that of the content: while the database is attached, each content has another.
** None is known before SQLite 3.34, or while this connection, or one that shares its cache, writes;
** nor in memory and in temporary files, where PRAGMA journal_mode = OFF lets a ROLLBACK leave what
** was written under the same number. */
static inline bloom_content bloom_db_content(sqlite3 *db, const char *schema, unsigned *number){
#if SQLITE_VERSION_NUMBER >= 3034000
  const char *path = sqlite3_db_filename(db, schema);
  int state, used, own_used, ignored;
  if( sqlite3_libversion_number()<3034000 || path==NULL || *path==0 ) return BLOOM_CONTENT_UNKNOWN;
  state = sqlite3_txn_state(db, schema);
  if( state!=SQLITE_TXN_NONE && state!=SQLITE_TXN_READ ) return BLOOM_CONTENT_UNKNOWN;
  if( sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED, &used, &ignored, 0)!=SQLITE_OK
   || sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED_SHARED, &own_used, &ignored, 0)!=SQLITE_OK
   || used!=own_used
   || sqlite3_file_control(db, schema, SQLITE_FCNTL_DATA_VERSION, number)!=SQLITE_OK ){
    return BLOOM_CONTENT_UNKNOWN;
  }
  return state==SQLITE_TXN_READ ? BLOOM_CONTENT_READ : BLOOM_CONTENT_NUMBERED;
#else
  (void)db;
  (void)schema;
  (void)number;
  return BLOOM_CONTENT_UNKNOWN;
#endif
}

/* Returns the most bytes that a value may have on the connection. */
static inline size_t bloom_max_value_bytes(sqlite3_context *context){
  return (size_t)sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
}

static inline int bloom_is_interrupted(sqlite3_context *context){
  return bloom_db_is_interrupted(sqlite3_context_db_handle(context));
}

#endif
