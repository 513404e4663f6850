/*
** Statements that are kept.
*/
#ifndef BLOOM_SQLITE_INDEX_STATEMENTS_H
#define BLOOM_SQLITE_INDEX_STATEMENTS_H

#include "index_int.h"

/* Takes a kept statement of this text, or compiles it.  sql is freed; NULL is want of memory.
** It is to be given back, which resets it; NULL may be, too. */
int bloom_index_statement_take(bloom_index *index, char *sql, index_statement **taken,
                               sqlite3_stmt **statement);
void bloom_index_statement_give_back(bloom_index *index, index_statement *taken);
void bloom_index_statements_free(bloom_index *index);

/* Forgets them, but for those that are lasting. */
void bloom_index_statements_forget(bloom_index *index);

/* Sets *number to the first column of the first row of a kept statement, which a format of
** sqlite3_mprintf() makes, unless that is NULL.  is_lasting: it tells costs, or versions of the
** schema, so that an authorizer may hide it for longer than SQLite hears of it. */
int bloom_index_statement_integer(bloom_index *index, int is_lasting, sqlite3_int64 *number,
                                  const char *format, ...);

#endif
