/*
** The tables of an index.
*/
#ifndef BLOOM_SQLITE_INDEX_TABLES_H
#define BLOOM_SQLITE_INDEX_TABLES_H

#include "index_int.h"

/* How many there are, without NAME_canary. */
int bloom_index_num_tables(const bloom_index *index);

/* Makes them; what is in them, bloom_index_reset() writes.  *num_made counts them. */
int bloom_index_tables_create(bloom_index *index, int *num_made);

/* Drops the first of them, or all that there is, whatever stands in their place. */
int bloom_index_tables_drop(bloom_index *index, int num_tables);
int bloom_index_tables_drop_all(bloom_index *index);

/* Renames them, and NAME_canary. */
int bloom_index_tables_rename(bloom_index *index, const char *new_name);

#endif
