/*
** Commands, and the parts of a merge.
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
  uint32_t block_rows; /* rows of a block, about */
  uint32_t hash_bits;  /* of a key's token */
  bloom_lists *lists[INDEX_MAX_KEYS]; /* of LIKE columns */
} index_choice;

/* Chooses for the table as it is now.  The caller frees the lists in any case. */
int bloom_index_choose(bloom_index *index, index_choice *choice);

/* -- index_pairs.c --------------------------------------------------------------------- */

/* The entries of a column that are in memory: pairs, token << 28 | block each.  Of texts, once
** there are many, those of earlier blocks are gaps, of a byte mostly, in chunks of memory that lead
** to each other: one chain for each list. */
typedef struct index_pairs {
  const index_key *key;
  index_zone_merge *zones;  /* of a RANGE column, which has no pairs; else NULL */
  uint32_t hash_bits;       /* of keys */
  const bloom_lists *lists; /* of texts, else NULL */
  uint64_t *list;           /* pairs */
  size_t num_listed, max_listed;
  size_t first_of_block;    /* of texts: those from here on are of `block`, each once */
  uint32_t block;
  uint64_t *has;            /* of texts: a bit for each list that `block` is in; else NULL */
  struct index_gaps *gaps;  /* for each list; NULL: there are no chains */
  uint8_t *chunks;
  size_t num_bytes, max_bytes; /* of chunks */
  int is_unordered;         /* the blocks of a chain do not ascend */
  int is_taken;             /* bloom_index_pairs_next() takes lists: no pairs are added */
  size_t num_taken;         /* how many of list[] are taken */
  uint32_t next_token;      /* the first chain that is not taken */
} index_pairs;

#define INDEX_PAIR_BLOCK_BITS 28
#define INDEX_PAIR_BLOCK_MASK (((uint32_t)1 << INDEX_PAIR_BLOCK_BITS) - 1)

/* The most bytes of pairs in memory, of all columns, and the most pairs of a text column that are
** not in chains.  Tests set less. */
#ifndef INDEX_MAX_BYTES
# define INDEX_MAX_BYTES ((size_t)64 << 20)
# define INDEX_LISTED_PAIRS ((size_t)1 << 16)
#endif

/* Begins without pairs.  The caller frees *pairs in any case. */
int bloom_index_pairs_start(index_pairs *pairs, bloom_index *index,
                            const index_generation *generation, int key);
void bloom_index_pairs_free(index_pairs *pairs);

/* Adds the entries of a value of the column, in a block; or the value to the block's zone: unless
** is_found is NULL, only sets it to whether that has the value. */
int bloom_index_pairs_add(index_pairs *pairs, uint32_t block, sqlite3_value *value, int *is_found);

/* Adds the entries of a column's run, which are of keys. */
int bloom_index_pairs_add_run(index_pairs *pairs, const index_column *column, int run);

/* Returns the bytes that pairs take, those for sorting them included. */
static inline size_t bloom_index_pairs_bytes(const index_pairs *pairs){
  return pairs->num_bytes + 2*sizeof(*pairs->list)*pairs->num_listed;
}

/* Estimates the mean gap of the ids that the lists of pairs have in a run. */
uint64_t bloom_index_pairs_mean_gap(const index_pairs *pairs, uint32_t end_block);

/* Takes the lists of an index_pairs, in order: an index_next_list.  After the last one there are no
** pairs, and others can be added. */
int bloom_index_pairs_next(void *source, index_entry_list *list, int *is_found);

/* -- index_merge.c --------------------------------------------------------------------- */

/* Merges at most max_rows rows.  Sets *wants_rebuild, and writes no layout, if all is better merged
** again. */
int bloom_index_merge_core(bloom_index *index, const index_layout *before, sqlite3_int64 max_rows,
                           int *wants_rebuild);

/* -- index_commands.c ------------------------------------------------------------------ */

#define INDEX_MERGE_ALL INT64_MAX

/* Fewer rows are merged again as a whole, whatever 'merge=N' says: it takes little time. */
#ifndef INDEX_FEW_ROWS
# define INDEX_FEW_ROWS 64000
#endif

/* Runs 'merge': takes at most max_rows rows, 0: all, first those that changed, then new ones. */
int bloom_index_merge(sqlite3_vtab *vtab, sqlite3_int64 max_rows);

/* Empties all tables: no row is merged then. */
int bloom_index_reset(bloom_index *index);

/* Begins a command.  Fails if a table of the index is gone, or is another. */
int bloom_index_begin_command(bloom_index *index);

/* Runs 'rebuild': merges all rows again, and makes the triggers. */
int bloom_index_rebuild(sqlite3_vtab *vtab);

/* Reads the layout.  Sets *is_damaged if that, a run's end, or what this connection read before is
** damaged. */
int bloom_index_layout_check(bloom_index *index, const index_layout **layout, int *is_damaged);

/* Sets *finding, to be freed, to what is wrong, such as a row without its entry, or to NULL. */
int bloom_index_check(sqlite3_vtab *vtab, bloom_checker checker, char **finding);

#endif
