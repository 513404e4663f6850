/*
** What blocks were begun with, and the canary.
*/
#ifndef BLOOM_SQLITE_INDEX_CONFIG_H
#define BLOOM_SQLITE_INDEX_CONFIG_H

#include "index_int.h"

/* Sets config to what the arguments of CREATE VIRTUAL TABLE say:
** bloom_index(table, column [LIKE [REGEXP] | RANGE], ... [, option = value]).  SQLITE_OK,
** SQLITE_NOMEM, or SQLITE_ERROR with *error.  bloom_index_config_free() is for the caller. */
int bloom_index_args_read(int num_args, const char *const *texts, index_config *config,
                          char **error);

/* Finds the columns of index->config, as the arguments name them, among index->columns. */
int bloom_index_config_set(bloom_index *index, char **error);

/* Sets config to what the columns are now, whose positions are known, for blocks that are begun
** anew. */
int bloom_index_config_renew(bloom_index *index, char **error);

/* Sets config->checksum, and *bytes to what is stored, to be freed in any case. */
int bloom_index_config_print(index_config *config, char **bytes, int *num_bytes);

/* Opens a column of the first row of NAME_suffix; *blob is to be closed.  SQLITE_ERROR where there
** is no such table, column, row or BLOB. */
int bloom_index_state_open(const bloom_index *index, const char *suffix, const char *column,
                           int is_writable, sqlite3_blob **blob);

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
