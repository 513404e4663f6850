/*
** Lists of IN.
*/
#ifndef BLOOM_SQLITE_INDEX_LIST_H
#define BLOOM_SQLITE_INDEX_LIST_H

#include "index_int.h"

/* The values of IN but NULL.  memset() to zero is an empty one. */
typedef struct index_list {
  sqlite3_value **values;
  size_t num_values;
  int has_numbers, has_others; /* INTEGER or REAL; TEXT or BLOB */
} index_list;

/* Copies what SQLite has, an argument of xFilter.  bloom_index_list_free() is for the caller. */
int bloom_index_list_copy(sqlite3_value *values, index_list *list);
void bloom_index_list_free(index_list *list);

/* A copy of a value, which the caller frees; a TEXT is read as UTF-8 there, since reading would
** change one that is ill-formed UTF-16.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_index_list_value(const index_list *list, size_t number, sqlite3_value **copy);

/* Binds it as the argument of bloom_index_list(); it must outlive the statement's steps. */
int bloom_index_list_bind(sqlite3_stmt *statement, int number, index_list *list);

#endif
