/*
** A merge that runs: what index_merge.c, index_changes.c and index_commands.c share.
*/
#ifndef BLOOM_SQLITE_INDEX_MERGE_H
#define BLOOM_SQLITE_INDEX_MERGE_H

#include "index_int.h"

#define INDEX_NOTE_WORN "a fifth of the rows is gone, or blocks are too full by changed rows; 'rebuild' pays"

/* One column's blocks. */
typedef struct index_merge_key {
  uint8_t *slots;      /* 64 blocks */
  uint64_t in_memory;  /* bit s: slot s is what the row has, or newer */
  uint64_t is_changed; /* bit s: slot s is to be written */
  bloom_block open;    /* its bytes are in slots */
  uint8_t ends[INDEX_ENDS_BYTES]; /* of the open block's row of ends */
  int has_ends, are_ends_changed;
  sqlite3_int64 num_rows; /* of NAME_blocks_N */
  sqlite3_stmt *insert, *update; /* NULL until they are used */
} index_merge_key;

typedef struct index_merge_state {
  bloom_index *index;
  index_layout layout; /* as it will be */
  index_weights weights;
  index_merge_key keys[INDEX_MAX_KEYS];
  uint8_t *strips;     /* room for those that are joined */
  int is_dirty;        /* the layout on disk says so */
  int num_new_groups;
  sqlite3_int64 done_until; /* changed rows up to this id need not be noted any more */
} index_merge_state;

/* -- index_merge.c ------------------------------------------------------------------------- */

/* Takes rows into blocks.  *wants_rebuild: that would be better, and blocks are as they were
** if the changed rows alone say so. */
int index_merge_core(bloom_index *index, index_layout *layout, sqlite3_int64 max_rows, int *wants_rebuild);

/* Says on disk that blocks are not to be believed, until the merge comes to its end. */
int index_merge_mark_dirty(index_merge_state *merge);

/* A block that is in no group, as bytes in memory; the open block's row of ends, in memory. */
int index_merge_slot(index_merge_state *merge, int key, uint32_t slot, uint8_t **bytes);
int index_merge_ends(index_merge_state *merge, int key);

/* The id and the indexed columns of rows whose id meets a condition, in ascending order. */
int index_merge_prepare_rows(bloom_index *index, sqlite3_stmt **rows, const char *condition);

/* -- index_changes.c ----------------------------------------------------------------------- */

/* Adds the keys of changed rows to the blocks that hold their ids, and takes them from
** *num_left.  *wants_rebuild is set where so much changed that it is better. */
int index_merge_changed(index_merge_state *merge, sqlite3_int64 *num_left, int *wants_rebuild);

/* Sets *is_worn if, by a sample of blocks, a fifth of the rows is gone. */
int index_merge_is_worn(index_merge_state *merge, int *is_worn);

#endif
