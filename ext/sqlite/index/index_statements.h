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

/* Forgets them, but for those of bloom_index_statement_integer(). */
void bloom_index_statements_forget(bloom_index *index);

/* Sets *number to the first column of the first row of such a statement, unless that is NULL.
** For what tells costs, and versions of the schema: an authorizer may hide it for longer than
** SQLite hears of it. */
int bloom_index_statement_integer(bloom_index *index, char *sql, sqlite3_int64 *number);

#endif
