/*
** The triggers that note changed rows.
*/
#ifndef BLOOM_SQLITE_INDEX_TRIGGERS_H
#define BLOOM_SQLITE_INDEX_TRIGGERS_H

#include "../source/triggers.h"

#include "index_int.h"

/* Makes the triggers on the source, in place of those that there are. */
int bloom_index_triggers_make(bloom_index *index, const char *source);
int bloom_index_triggers_drop(bloom_index *index);

/* The names that the triggers know the id and the indexed columns by, as renames left them. */
typedef struct index_trigger_names {
  char *id; /* NULL: the triggers are gone */
  char *keys[INDEX_MAX_KEYS];
} index_trigger_names;

int bloom_index_triggers_read(bloom_index *index, bloom_triggers *triggers);
int bloom_index_triggers_names(const bloom_index *index, const bloom_triggers *triggers,
                               index_trigger_names *names);
void bloom_index_trigger_names_free(index_trigger_names *names);

#define INDEX_NUM_TRIGGERS 5

#endif
