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

/* -- index_pairs.c --------------------------------------------------------------------- */

/* The entries of a column that are in memory: pairs, token << 28 | block each.  Of texts, once
** there are many, those of earlier blocks are gaps, of a byte mostly, in chunks of memory that lead
** to each other: one chain for each list. */
typedef struct index_pairs {
  const index_key *key;
  uint32_t hash_bits;       /* of keys */
  const bloom_lists *lists; /* of texts, else NULL */
  uint64_t *list;           /* pairs */
  size_t num_listed, max_listed;
  size_t first_of_block;    /* those from here on are of one block, each once: texts only */
  uint32_t block;
  uint64_t *has;            /* of texts, a bit for each list that the block is in; else NULL */
  struct index_gaps *gaps;  /* for each list; NULL: there are no chains */
  uint8_t *chunks;
  size_t num_bytes, max_bytes; /* of chunks */
  int is_unordered;         /* the blocks of a chain do not ascend */
  int is_taken;             /* lists are being taken: */
  size_t num_taken;         /* pairs of list[] that were */
  uint32_t next_token;      /* the chains from this one on were not */
} index_pairs;

#define INDEX_PAIR_BLOCK_BITS 28
#define INDEX_PAIR_BLOCK_MASK (((uint32_t)1 << INDEX_PAIR_BLOCK_BITS) - 1)

/* Bytes of pairs in memory, of all columns, and pairs of texts that are not in chains.  Tests take
** fewer. */
#ifndef INDEX_MAX_BYTES
# define INDEX_MAX_BYTES ((size_t)64 << 20)
# define INDEX_LISTED_PAIRS ((size_t)1 << 16)
#endif

/* Begins without pairs of a column.  bloom_index_pairs_free() is for the caller in any case. */
int bloom_index_pairs_start(index_pairs *pairs, bloom_index *index,
                            const index_generation *generation, int key);
void bloom_index_pairs_free(index_pairs *pairs);

/* Adds the entries of a value of the column, in a block. */
int bloom_index_pairs_add(index_pairs *pairs, uint32_t block, sqlite3_value *value);

/* Returns the bytes that pairs take, with those for sorting them. */
static inline size_t bloom_index_pairs_bytes(const index_pairs *pairs){
  return pairs->num_bytes + 2*sizeof(*pairs->list)*pairs->num_listed;
}

/* Returns about the mean gap of the ids of the lists that they make in a run. */
uint64_t bloom_index_pairs_mean_gap(const index_pairs *pairs, uint32_t num_segments);

/* Takes the lists that pairs make, one after the other (index_next_list).  Behind the last one
** there are no pairs. */
int bloom_index_pairs_next(void *pairs, index_entry_list *list, int *is_found);

/* -- index_merge.c --------------------------------------------------------------------- */

/* Takes rows into entries.  Sets *wants_rebuild, and does nothing, if it is better to make all
** again. */
int bloom_index_merge_core(bloom_index *index, const index_layout *before, sqlite3_int64 max_rows,
                           int *wants_rebuild);

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

/* Reads the layout.  Sets *is_damaged if entries cannot be trusted, though the source's triggers
** are as they were. */
int bloom_index_layout_check(bloom_index *index, const index_layout **layout, int *is_damaged);

/* Sets *finding, to be freed, to what is wrong, such as a row without its entry, or to NULL. */
int bloom_index_check(bloom_index *index, bloom_checker checker, char **finding);

#endif
