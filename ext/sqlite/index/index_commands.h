/*
** Commands, and the integrity-check.
*/
#ifndef BLOOM_SQLITE_INDEX_COMMANDS_H
#define BLOOM_SQLITE_INDEX_COMMANDS_H

#include "index_int.h"

#define INDEX_MERGE_ALL INT64_MAX

/* Takes at most max_rows rows into blocks: first those that changed, then new ones. */
int bloom_index_merge(bloom_index *index, sqlite3_int64 max_rows, char **error);

/* Empties all tables: no row is covered then. */
int bloom_index_reset(bloom_index *index);

/* Builds all blocks again, and makes the triggers again. */
int bloom_index_rebuild(bloom_index *index, char **error);

/* Sets *finding, to be freed, if a row is not found by the blocks that should have it; else
** to NULL. */
int bloom_index_check(bloom_index *index, int is_quick, char **finding);

#endif
