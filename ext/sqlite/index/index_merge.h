/*
** Commands, and a merge that runs.
*/
#ifndef BLOOM_SQLITE_INDEX_MERGE_H
#define BLOOM_SQLITE_INDEX_MERGE_H

#include "../source/follow.h"
#include "index_values.h"

/* -- index_sample.c -------------------------------------------------------------------- */

/* What is chosen by a sample of the rows. */
typedef struct index_choice {
  sqlite3_int64 first; /* the lowest id */
  uint64_t num_rows;   /* an estimate */
  uint32_t shift;      /* a block is id >> shift */
  uint32_t zone_lg;    /* a zone has 2^zone_lg blocks */
  uint32_t hash_bits;  /* of a key's token */
  bloom_lists *lists[INDEX_MAX_KEYS]; /* of LIKE columns */
} index_choice;

/* Chooses by the table as it is now.  bloom_index_choice_free() is for the caller in any case. */
int bloom_index_choose(bloom_index *index, index_choice *choice);
void bloom_index_choice_free(index_choice *choice);

/* -- index_merge.c: pairs -------------------------------------------------------------- */

/* The entries of a column that are in memory: token << 28 | block each. */
typedef struct index_pairs {
  uint64_t *list;
  size_t num_pairs, max_pairs;
  size_t first_of_block; /* those from here on are of one block, each once: texts only */
  uint32_t block;
  uint64_t *has;         /* of texts, a bit for each list that the block is in; else NULL */
} index_pairs;

#define INDEX_PAIR_BLOCK_BITS 28

/* Pairs in memory, of all columns: 32 MB, and as much to sort them.  Tests take fewer. */
#ifndef INDEX_MAX_PAIRS
# define INDEX_MAX_PAIRS ((size_t)4 << 20)
#endif

/* Begins without pairs.  lists is NULL for a column of keys.  bloom_index_pairs_free() is for the
** caller in any case. */
int bloom_index_pairs_start(index_pairs *pairs, const bloom_lists *lists);
void bloom_index_pairs_free(index_pairs *pairs);

/* Adds the entries of a value of a column, in a block. */
int bloom_index_pairs_add(index_pairs *pairs, const index_key *key, uint32_t hash_bits,
                          const bloom_lists *lists, uint32_t block, sqlite3_value *value);

/* Sorts the pairs and leaves each once. */
int bloom_index_pairs_sort(index_pairs *pairs);

/* Forgets them. */
void bloom_index_pairs_clear(index_pairs *pairs);

/* -- index_merge.c --------------------------------------------------------------------- */

/* Takes rows into entries.  Sets *wants_rebuild, and does nothing, if it is better to make all
** again. */
int bloom_index_merge_core(bloom_index *index, const index_layout *before, sqlite3_int64 max_rows,
                           int *wants_rebuild);

/* Compiles a SELECT of the id and the indexed columns of rows whose id meets a condition, such as
** "= ?1", in ascending order. */
int bloom_index_merge_prepare_rows(bloom_index *index, sqlite3_stmt **rows, const char *condition);

/* -- index_commands.c ------------------------------------------------------------------ */

#define INDEX_MERGE_ALL INT64_MAX

/* Fewer rows are merged again in no time, whatever 'merge=N' says. */
#ifndef INDEX_FEW_ROWS
# define INDEX_FEW_ROWS 64000
#endif

/* Runs 'merge': takes at most max_rows rows into entries, first those that changed, then new
** ones. */
int bloom_index_merge(bloom_index *index, sqlite3_int64 max_rows);

/* Empties all tables: no row is covered then. */
int bloom_index_reset(bloom_index *index);

/* Begins a command, which cannot run where a table of the index is gone, or is another. */
int bloom_index_begin_command(bloom_index *index);

/* Runs 'rebuild': makes all entries again, and the triggers. */
int bloom_index_rebuild(bloom_index *index);

/* Sets *finding, to be freed, to what is wrong, such as a row without its entry, or to NULL. */
int bloom_index_check(bloom_index *index, bloom_checker checker, char **finding);

#endif
