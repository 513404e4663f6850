/*
** Commands, and a merge that runs: what index_merge.c, index_units.c and index_changes.c share.
*/
#ifndef BLOOM_SQLITE_INDEX_MERGE_H
#define BLOOM_SQLITE_INDEX_MERGE_H

#include "../source/commands.h"
#include "index_like.h"
#include "index_zones.h"

#define INDEX_NOTE_WORN \
  "a fifth of the rows is gone, or blocks are too full by changed rows; 'rebuild' pays"
#define INDEX_NOTE_GROWN \
  "there are twice the rows that blocks were made for; 'rebuild' pays"
#define INDEX_NOTE_UNMERGED \
  "a tenth of the rows, or 100,000, are in no block yet, and every query reads them; 'merge' pays"

/* How many rows joins may write in a merge: INDEX_JOIN_ROWS, and those of INDEX_JOIN_UNITS units
** for each unit that the merge finished, so that joins keep up.  Tests make them stay behind. */
#ifndef INDEX_JOIN_ROWS
# define INDEX_JOIN_ROWS  512
# define INDEX_JOIN_UNITS 10
#endif

/* One column's blocks. */
typedef struct index_merge_key {
  uint8_t *slots;          /* the unit at hand: block b is at slot b%64 */
  bloom_block open;        /* its bytes are memory of its own */
  uint64_t num_in_units;   /* blocks that are in units; those behind them are in slots */
  uint8_t ends[BLOOM_STRIP_BYTES]; /* a row of ends, if has_ends */
  uint64_t ends_of;        /* a block whose end is in that row */
  int has_ends, are_ends_changed;
  int is_before_large;     /* the block before has many rows, and does not accept everything */
  sqlite3_int64 num_rows;  /* how many rows NAME_blocks_N has */
  sqlite3_stmt *write;     /* bloom_index_row_write()'s */
  uint8_t *weights;        /* of a LIKE column's pieces, else NULL */
  index_zone_merge *zones; /* NULL: it has blocks */
} index_merge_key;

typedef struct index_merge_state {
  bloom_index *index;
  index_layout layout; /* what it will be at the end */
  index_merge_key keys[INDEX_MAX_KEYS];
  int is_dirty;        /* the layout on disk says so */
  int64_t join_rows;   /* how many rows joins may still write */
  int num_new_units;
  sqlite3_int64 done_until; /* changed rows up to this id need not be noted any more */
} index_merge_state;

/* -- index_merge.c ------------------------------------------------------------------------- */

/* Takes rows into blocks.  Sets *wants_rebuild if it is better to make all again; if the changed
** rows alone tell that, nothing was done. */
int bloom_index_merge_core(bloom_index *index, index_layout *layout, sqlite3_int64 max_rows,
                           int *wants_rebuild);

/* Says on disk that blocks are not to be believed, until the merge comes to its end. */
int bloom_index_merge_mark_dirty(index_merge_state *merge);

/* The bytes of a block that is in no unit. */
uint8_t *bloom_index_merge_slot(const index_merge_state *merge, int key, uint64_t block);

/* Adds a finished block behind the others. */
int bloom_index_merge_append(index_merge_state *merge, int key, const bloom_block *block,
                             index_end end);

/* Sets *bytes to the end of a finished block in memory; is_changed: the caller changes it. */
int bloom_index_merge_end(index_merge_state *merge, int key, uint64_t block, int is_changed,
                          uint8_t **bytes);

/* Writes what is in slots, and the ends in memory. */
int bloom_index_merge_write_slots(index_merge_state *merge, int key);

/* Joins units with groups before them, as far as the merge may. */
int bloom_index_merge_join(index_merge_state *merge, int key);

/* Where one row sets all bits of a block, the block takes so many rows. */
#define INDEX_ROWS_OF_FULL_BLOCK 256

static inline int bloom_index_is_block_full(const bloom_block *block){
  return block->bits_set==block->bits_per_block;
}

/* 1 if a block of so many rows is to be finished before a row with this value: nothing can be said
** of the row, which would spoil it, or the block has such a row, and they are rare. */
int bloom_index_is_block_spoiled(const bloom_index *index, int key, const bloom_block *block,
                                 uint64_t num_rows, int is_before_large, sqlite3_value *value);

/* Ends the open block with this id. */
int bloom_index_merge_finish_block(index_merge_state *merge, int key, sqlite3_int64 id);

/* Compiles a SELECT of the id and the indexed columns of rows whose id meets a condition, such as
** "= ?1", in ascending order. */
int bloom_index_merge_prepare_rows(bloom_index *index, sqlite3_stmt **rows, const char *condition);

/* -- index_changes.c ----------------------------------------------------------------------- */

/* Adds the keys of changed rows to the blocks that hold their ids, and takes them from
** *num_left.  *wants_rebuild is set where so much changed that it is better. */
int bloom_index_merge_changed(index_merge_state *merge, sqlite3_int64 *num_left,
                              int *wants_rebuild);

/* Sets *is_worn if, by a sample of blocks, a fifth of the rows is gone. */
int bloom_index_merge_is_worn(index_merge_state *merge, int *is_worn);

/* Adds a value of an indexed column to a block; weights are those of a LIKE column. */
int bloom_index_add_value(const bloom_index *index, int key, const uint8_t *weights,
                          uint32_t num_probes, sqlite3_value *value, bloom_block *block);

/* -- index_commands.c, index_check.c ------------------------------------------------------ */

#define INDEX_MERGE_ALL INT64_MAX

/* 'merge': takes at most max_rows rows into blocks, first those that changed, then new ones. */
int bloom_index_merge(bloom_index *index, sqlite3_int64 max_rows, char **error);

/* Empties all tables: no row is covered then. */
int bloom_index_reset(bloom_index *index);

/* Fails because a table of the index is gone, or is another. */
int bloom_index_fail_no_tables(const bloom_index *index, char **error);

/* 'rebuild': builds all blocks again, and makes the triggers again. */
int bloom_index_rebuild(bloom_index *index, char **error);

/* Sets *finding, to be freed, to what is wrong, such as a row that its block lacks, or to NULL. */
int bloom_index_check(bloom_index *index, bloom_checker checker, char **finding);

#endif
