/*
** The source's rows.
*/
#ifndef BLOOM_SQLITE_INDEX_CURSOR_H
#define BLOOM_SQLITE_INDEX_CURSOR_H

#include "index_int.h"

int bloom_index_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **result);
int bloom_index_close(sqlite3_vtab_cursor *base);
int bloom_index_filter(sqlite3_vtab_cursor *base, int number, const char *text, int num_args,
                       sqlite3_value **args);
int bloom_index_next(sqlite3_vtab_cursor *base);
int bloom_index_eof(sqlite3_vtab_cursor *base);
int bloom_index_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);
int bloom_index_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid);

#endif
