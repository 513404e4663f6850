/*
** The storage of an index: its layout, the numbers of blocks, runs of entries, and look-ups.
**
** A block is the rows with one id >> shift.  1,024 blocks side by side are a span, which gets a
** number when its first row is merged; a block's number is its span's, times 1,024, plus its place
** in the span.  Where ids are nearer to each other than elsewhere, a span of smaller blocks is
** added: a row is in the smallest block that has its id, so a block has the ids that are in no
** smaller one.  An entry is a pair (token, block); ../../core/entries says what tokens are and how
** entries become rows of bytes.  A run is the entries that one merge wrote, or that a join made of
** several runs: ascending rows of NAME_entriesN, or one small row in the layout.  A look-up of a
** token reads all runs.
*/
#ifndef BLOOM_SQLITE_INDEX_ENTRIES_H
#define BLOOM_SQLITE_INDEX_ENTRIES_H

#include "../../core/entries/entries.h"
#include "../../core/entries/texts.h"

#include "index_int.h"

/* -- index_config.c -------------------------------------------------------------------- */

/* The bits of a key's token: with a block's number, of 28 bits, it has 64 bits at most. */
#define INDEX_MIN_HASH_BITS 20
#define INDEX_MAX_HASH_BITS 36
#define INDEX_END_TOKEN     ((uint64_t)1 << INDEX_MAX_HASH_BITS)

/* Each run of a column has a slot of its own, the first byte of its rowids in NAME_entriesN. */
#define INDEX_NUM_SLOTS 127
#define INDEX_LAST_LIST BLOOM_ENTRIES_ID_MASK

/* Where a column has so many runs, some are joined at once.  The room is for those that a merge and
** a join add before. */
#define INDEX_MAX_RUNS 24
#define INDEX_ROOM_RUNS (INDEX_MAX_RUNS + 8)
#define INDEX_MAX_GENERATIONS 2

typedef enum index_run_role {
  INDEX_RUN_PLAIN,
  INDEX_RUN_SOURCE, /* a join copies its lists: those behind the target's last one are left */
  INDEX_RUN_TARGET, /* the join writes them here */
  INDEX_RUN_IN_LAYOUT /* of keys: its one row is there; the next merge writes it with its own */
} index_run_role;

typedef struct index_run {
  uint64_t number;    /* random, in the checksums of its rows: other runs' rows fail these */
  uint64_t last;      /* id of its last list; UINT64_MAX: it has no row yet */
  uint64_t num_pairs; /* entries that were written */
  uint32_t num_rows;  /* rows of NAME_entriesN that were written */
  uint32_t end_block; /* all block numbers are below */
  uint32_t slot;      /* the first byte of its rowids */
  index_run_role role;
  const uint8_t *row; /* of INDEX_RUN_IN_LAYOUT, as long as the layout's bytes live */
  uint32_t row_bytes;
} index_run;

/* Rows of all columns in the layout have so many bytes at most: the row of NAME_state, which each
** merge writes and each look-up reads, fits a page. */
#ifndef INDEX_LAYOUT_ROW_BYTES
# define INDEX_LAYOUT_ROW_BYTES 3072
#endif

typedef struct index_key_layout {
  uint32_t hash_bits;    /* bits of a key's token; 0: it has text, or zones */
  uint64_t number;       /* random: of a LIKE column's lists, or of zones */
  uint32_t num_runs;
  index_run runs[INDEX_ROOM_RUNS];
} index_key_layout;

/* Entries with the blocks, tokens and lists of one choice: bloom_index_choose(). */
typedef struct index_generation {
  uint32_t place;      /* 0 or 1: which rows of NAME_spans, lists and zones are its own */
  uint32_t shift;      /* of ids, unless blocks are divided */
  uint32_t zone_lg;    /* a zone has 2^zone_lg blocks, at most a span */
  uint32_t block_rows; /* rows of a block, about */
  uint32_t num_spans;
  uint64_t spans_hash; /* of all of them; of none, bloom_mix64() of the layout's number + place */
  uint64_t num_built;  /* rows when shift, hash_bits and lists were chosen */
  uint64_t num_rows;   /* rows merged since it was begun; a changed row counts again */
  index_key_layout keys[INDEX_MAX_KEYS];
} index_generation;

/* Which rows are merged, and where their entries are. */
typedef struct index_layout {
  int has_covered;       /* some rows are merged */
  sqlite3_int64 covered; /* rows up to this id are merged, or noted as changed */
  sqlite3_int64 first;   /* no merged row has a lower id */
  uint64_t num_rows;     /* about how many rows are merged; each merged change counts, too */
  uint64_t number;       /* random, another one when all is merged again */
  uint64_t hash;         /* of the bytes that it was read from */
  /* Two during a rebuild: the second one has the ids up to `bound`, the first one those above. */
  int num_generations;
  sqlite3_int64 bound;
  index_generation generations[INDEX_MAX_GENERATIONS];
} index_layout;

/* Returns the number of merged rows for each id between the first and the last, at most 1. */
static inline double bloom_index_density(const index_layout *layout){
  const double num_ids = (double)layout->covered - (double)layout->first + 1;
  return num_ids>(double)layout->num_rows ? (double)layout->num_rows/num_ids : 1;
}

/* Sets *layout to that in the one row of NAME_state; it is valid until the next call.
** SQLITE_CORRUPT_VTAB where it is damaged, or `covered` is not the layout's. */
int bloom_index_layout_read(bloom_index *index, const index_layout **layout);

/* Writes the layout and `covered` in one statement. */
int bloom_index_layout_write(bloom_index *index, index_layout *layout);

/* Writes one row of NAME_state, with index->config and without a layout, in place of all others. */
int bloom_index_state_insert(bloom_index *index);

/* Frees what bloom_index_layout_read() keeps. */
void bloom_index_layout_free(bloom_index *index);

/* -- index_entries.c: the numbers of blocks -------------------------------------------- */

/* Tests make small spans, and small rows of them. */
#ifndef INDEX_SPAN_LG
# define INDEX_SPAN_LG 10
# define INDEX_SPANS_PER_ROW 440
#endif
#define INDEX_MAX_SPANS (BLOOM_ENTRIES_MAX_BLOCKS >> INDEX_SPAN_LG)

/* The blocks with one id >> shift >> INDEX_SPAN_LG, which is the key. */
typedef struct index_span {
  sqlite3_int64 key;
  uint32_t shift;
} index_span;

/* The spans of a generation, in the order of their numbers. */
typedef struct index_spans {
  uint32_t num_spans;
  uint32_t shift;  /* of those that are added */
  uint64_t shifts; /* of all: a bit for each that a span has */
  uint64_t hash;
  index_span *list;
  uint32_t *by_key; /* their numbers, by ascending shifts, then keys */
  size_t max_list, max_by_key;
} index_spans;

/* Sets *result to a generation's, from memory if they are there.  It lives until the next call for
** this place. */
int bloom_index_spans_read(bloom_index *index, const index_layout *layout,
                           const index_generation *generation, index_spans **result);

/* Sets *block to the number of an id's block; adds a span if none has the id.  SQLITE_FULL if there
** are no numbers left. */
int bloom_index_spans_add(index_spans *spans, sqlite3_int64 id, uint32_t *block);

/* Returns 1 if a span has an id, and sets *block to the number of its block. */
int bloom_index_spans_has(const index_spans *spans, sqlite3_int64 id, uint32_t *block);

/* Adds a span of smaller blocks that has an id, where there is none yet.  All merged rows that it
** has must be merged again. */
int bloom_index_spans_divide(index_spans *spans, sqlite3_int64 id, uint32_t shift);

/* Returns the place in by_key[] of the first span with this shift whose key is `key` or more, or of
** the first one with a larger shift. */
uint32_t bloom_index_spans_find(const index_spans *spans, uint32_t shift, sqlite3_int64 key);

/* Writes spans that were added to those that the generation has, and sets their number and hash. */
int bloom_index_spans_write(bloom_index *index, index_generation *generation);

void bloom_index_spans_free(bloom_index *index);

/* Returns id >> shift, rounded down for negative ids, too; shift is 0 .. 63. */
static inline sqlite3_int64 bloom_index_block_of(sqlite3_int64 id, uint32_t shift){
  assert( shift<=63 );
  return id<0 ? ~(sqlite3_int64)(~(uint64_t)id >> shift) : (sqlite3_int64)((uint64_t)id >> shift);
}

/* Return the first and the last id of a block, those of smaller blocks included.  Blocks of a span
** may lie beyond the first or the last 64-bit id: that id is returned for these. */
static inline sqlite3_int64 bloom_index_block_first(const index_spans *spans, uint32_t block){
  const index_span span = spans->list[block >> INDEX_SPAN_LG];
  const sqlite3_int64 number = (sqlite3_int64)((uint64_t)span.key << INDEX_SPAN_LG
                                               | (block & ((1u << INDEX_SPAN_LG) - 1)));
  assert( block>>INDEX_SPAN_LG<spans->num_spans );
  if( number>bloom_index_block_of(INT64_MAX, span.shift) ) return INT64_MAX;
  if( number<bloom_index_block_of(INT64_MIN, span.shift) ) return INT64_MIN;
  return (sqlite3_int64)((uint64_t)number << span.shift);
}

static inline sqlite3_int64 bloom_index_block_last(const index_spans *spans, uint32_t block){
  const uint64_t mask = ((uint64_t)1 << spans->list[block >> INDEX_SPAN_LG].shift) - 1;
  return (sqlite3_int64)((uint64_t)bloom_index_block_first(spans, block) | mask);
}

/* Return the first and the last id of a span. */
static inline sqlite3_int64 bloom_index_span_first(const index_spans *spans, uint32_t span){
  return bloom_index_block_first(spans, span << INDEX_SPAN_LG);
}

static inline sqlite3_int64 bloom_index_span_last(const index_spans *spans, uint32_t span){
  return bloom_index_block_last(spans, ((span + 1) << INDEX_SPAN_LG) - 1);
}

/* -- index_entries.c: runs ------------------------------------------------------------- */

/* Reads the lists of a column's runs, one run after the other.  {index, of_key, key} at first.
** row.num_blocks is 0 where there is no list at hand. */
typedef struct index_run_reader {
  bloom_index *index;
  const index_key_layout *of_key; /* of the column, in a generation */
  int key;
  const index_run *run; /* of the row at hand; NULL: there is none */
  bloom_entries_row row;
  uint8_t bytes[BLOOM_ENTRIES_ROW_BYTES];
} index_run_reader;

/* Moves to the first list of a run whose id is wanted or more, of those that queries read.  Fast if
** it is in the row at hand, and not before the list at hand. */
int bloom_index_run_seek(index_run_reader *reader, const index_run *run, uint64_t wanted);

/* Returns the number of a column's first run that has a role; -1: none has it. */
int bloom_index_run_find(const index_key_layout *key, index_run_role role);

/* A column whose runs are written. */
typedef struct index_column {
  bloom_index *index;
  const index_layout *before; /* the one on disk, whose runs keep their rows and slots */
  const index_layout *layout; /* the one that takes its place at the end */
  index_key_layout *of_key;   /* of the column, and of a generation of this layout */
  int key;
  uint8_t *row;               /* room for a row: a run that has no other may be in the layout */
} index_column;

/* Adds a run without rows, in the lowest slot that neither layout uses. */
int bloom_index_run_add(const index_column *column, uint32_t end_block, index_run **run);

/* A list of entries: the blocks of one token in one segment. */
typedef struct index_entry_list {
  uint64_t token;
  uint32_t segment;
  uint32_t num_blocks;
  uint16_t blocks[BLOOM_SEGMENT_BLOCKS]; /* ascending, numbers within the segment */
} index_entry_list;

/* Sets *list to the next one of a source of lists, in the order of tokens and segments. */
typedef int index_next_list(void *source, index_entry_list *list, int *is_found);

/* Appends lists to a run: all of them, and sets *is_finished; or, if they have more entries, full
** rows with max_pairs entries or a few more: lists that were taken behind these are not written.
** mean_gap is about that of the lists' ids in the run. */
int bloom_index_run_write(const index_column *column, index_run *run, uint64_t mean_gap,
                          uint64_t max_pairs, index_next_list *next, void *source,
                          int *is_finished);

/* Deletes the rows of a run that goes, unless the layout on disk names it. */
int bloom_index_run_drop(const index_column *column, const index_run *run);

/* Deletes rows of a slot whose lists' ids are first .. last. */
int bloom_index_run_delete(bloom_index *index, int key, uint32_t slot, uint64_t first,
                           uint64_t last);

/* Deletes the rows of runs that are in the layout before, and not in that which is on disk now; and
** those of a join's sources that its target has. */
int bloom_index_garbage_delete(bloom_index *index, const index_layout *before,
                               const index_layout *layout, int key);

/* -- index_entries.c: looking up ------------------------------------------------------- */

/* A set of block numbers: a bit for each, by segments; NULL is a segment without blocks. */
typedef struct index_block_set {
  uint32_t num_segments;
  uint64_t **segments;
} index_block_set;

#define INDEX_SEGMENT_WORDS (BLOOM_SEGMENT_BLOCKS/64)

int bloom_index_blocks_make(index_block_set *set, uint32_t num_spans);
void bloom_index_blocks_free(index_block_set *set);
int bloom_index_blocks_add_all(index_block_set *set, uint32_t first, uint32_t last);
uint64_t bloom_index_blocks_count(const index_block_set *set);

/* Adds the blocks of another set, which the caller can then only free. */
void bloom_index_blocks_unite(index_block_set *set, index_block_set *other);

/* Returns the first block of the set from `block` on; UINT32_MAX: there is none. */
uint32_t bloom_index_blocks_next(const index_block_set *set, uint32_t block);

/* Tokens first .. first + num_tokens - 1. */
typedef struct index_tokens {
  uint64_t first;
  uint32_t num_tokens;
} index_tokens;

/* Adds to *result the blocks that have one of the tokens; unless `within` is NULL, only those that
** it has, too.  The ranges ascend. */
int bloom_index_look_up(bloom_index *index, const index_generation *generation, int key,
                        const index_tokens *tokens, size_t num_ranges,
                        const index_block_set *within, index_block_set *result);

/* -- index_joins.c --------------------------------------------------------------------- */

/* Several runs of a column as one source of lists. */
typedef struct index_union index_union;

/* Begins with those runs whose bits are set in `taken`, of each with the first list that queries
** read.  *result is to be freed in any case. */
int bloom_index_union_start(index_union **result, bloom_index *index, int key,
                            const index_key_layout *of_key, uint64_t taken);
int bloom_index_union_next(void *source, index_entry_list *list, int *is_found);

/* Joins runs of a column where that saves look-ups reads.  What a merge copies is limited by
** num_merged, the entries that it wrote; INDEX_JOIN_ALL: no limit, all joins are finished. */
#define INDEX_JOIN_ALL UINT64_MAX
int bloom_index_join(const index_column *column, uint64_t num_merged);

/* -- index_texts.c --------------------------------------------------------------------- */

/* Reads how a LIKE column's grams are cut into lists, or takes that from memory. *lists lives as
** long as the index and its generation. */
int bloom_index_lists_read(bloom_index *index, const index_generation *generation, int key,
                           const bloom_lists **lists);

/* Writes lists under a new number, which is the generation's from then on. */
int bloom_index_lists_write(bloom_index *index, index_generation *generation, int key,
                            const bloom_lists *lists);
void bloom_index_lists_free(bloom_index *index);

#endif
