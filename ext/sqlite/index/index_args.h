/*
** The arguments of CREATE VIRTUAL TABLE.
*/
#ifndef BLOOM_SQLITE_INDEX_ARGS_H
#define BLOOM_SQLITE_INDEX_ARGS_H

#include "index_int.h"

/* What the user wrote: bloom_index(table, column [LIKE [REGEXP]], ... [, option = value]). */
typedef struct index_args {
  char *source;
  char *columns[INDEX_MAX_KEYS];
  uint8_t is_like[INDEX_MAX_KEYS];
  uint8_t is_regexp[INDEX_MAX_KEYS];
  uint8_t is_range[INDEX_MAX_KEYS];
  int num_columns;
  uint32_t num_probes;     /* 0: not given; then they grow with the table */
} index_args;

/* SQLITE_OK, SQLITE_NOMEM, or SQLITE_ERROR with *error, to be freed.  bloom_index_args_free() is
** for the caller in any case. */
int bloom_index_args_read(int num_args, const char *const *texts, index_args *args, char **error);
void bloom_index_args_free(index_args *args);

#endif
