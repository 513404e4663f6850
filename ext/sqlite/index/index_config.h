/*
** What blocks were begun with, and the canary.
*/
#ifndef BLOOM_SQLITE_INDEX_CONFIG_H
#define BLOOM_SQLITE_INDEX_CONFIG_H

#include "index_args.h"
#include "index_int.h"

/* Sets config's keys and sizes by the arguments, and what they are among index->columns. */
int bloom_index_config_set(bloom_index *index, const index_args *args, char **error);

/* Sets config to what the columns are now, whose positions are known, for blocks that are begun
** anew. */
int bloom_index_config_renew(bloom_index *index, char **error);

/* Sets config->checksum, and *bytes to what is stored, to be freed in any case. */
int bloom_index_config_print(index_config *config, char **bytes, int *num_bytes);

/* Reads index->config, or sets index->damage. */
int bloom_index_config_read(bloom_index *index);

/* Sets *is_same to whether the database still has what index->config was read from. */
int bloom_index_config_compare(bloom_index *index, int *is_same);
void bloom_index_config_free(index_config *config);

/* Makes NAME_canary with its row where rowids are hidden. */
int bloom_index_canary_write(bloom_index *index);

/* Sets *is_same to whether hidden rowids are those that they were; true where there are none. */
int bloom_index_canary_compare(bloom_index *index, int *is_same);

/* The columns of NAME_changed and NAME_canary. */
#define INDEX_CHANGED_COLUMNS "(id INTEGER UNIQUE)"
#define INDEX_CANARY_COLUMN   "moved_by_vacuum"

#endif
