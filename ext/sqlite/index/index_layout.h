/*
** How far the blocks reach.
*/
#ifndef BLOOM_SQLITE_INDEX_LAYOUT_H
#define BLOOM_SQLITE_INDEX_LAYOUT_H

#include "../../core/signature/slices.h"

#include "index_int.h"

/* The sizes of groups between full ones and units that are groups by themselves: each is
** at least three times the next. */
#define INDEX_MAX_SIZES 9

typedef struct index_key_layout {
  uint64_t num_blocks; /* finished */
  uint64_t num_dead;   /* of these; made again elsewhere, or their rows are gone */
  uint64_t bits_set;   /* in the others */
  sqlite3_int64 open_first; /* ids from here on are in the open block */
  uint32_t open_rows;
  uint32_t open_bits;  /* set in it */
  uint32_t num_full;   /* groups of INDEX_MAX_UNITS units, at the beginning */
  uint32_t num_sizes;
  uint32_t sizes[INDEX_MAX_SIZES];
  /* A join that goes on over several merges: of groups sizes[join_from] .. and units behind them.
  ** Bands below join_bands are of the joined group already. */
  uint32_t join_from, join_units, join_bands; /* join_units 0: there is none */
} index_key_layout;

/* How far the blocks reach. */
typedef struct index_layout {
  int has_covered;       /* 0: no row is in a block */
  int is_dirty;          /* a merge did not come to its end: no block is to be believed */
  sqlite3_int64 covered; /* rows up to this id are in blocks, or noted as changed */
  uint64_t num_rows;     /* that went into blocks */
  uint64_t num_built;    /* the same when all blocks were made last */
  sqlite3_int64 first;   /* no merged row has a lower id */
  uint32_t num_probes;   /* of a key */
  uint64_t number;       /* drawn at random when all blocks are made again */
  index_key_layout keys[INDEX_MAX_KEYS];
} index_layout;

/* Units that lie one after the other, joined. */
typedef struct index_group {
  uint64_t unit; /* the first */
  uint32_t num_units;
} index_group;

/* The blocks that are in units: those behind them are in slots. */
uint64_t bloom_index_blocks_in_units(const bloom_index *index, const index_layout *layout, int key);

/* The group that begins with a unit, once the join at hand is done, or as it is in the bands that
** are not joined yet. */
index_group bloom_index_group_at(const index_key_layout *layout, uint64_t unit, int is_joined);

/* The first unit of the join at hand. */
uint64_t bloom_index_join_unit(const index_key_layout *layout);

/* SQLITE_OK; SQLITE_CORRUPT_VTAB where it is damaged. */
int bloom_index_layout_read(bloom_index *index, index_layout *layout);
int bloom_index_layout_write(bloom_index *index, const index_layout *layout);

/* Makes the one row of NAME_state, with index->config, in place of those that there are. */
int bloom_index_state_insert(bloom_index *index);

/* What triggers and people see is `covered` and the note.  Sets *is_equal to whether the same
** rows are covered there; writes it, with a note, which may be NULL. */
int bloom_index_state_compare(bloom_index *index, const index_layout *layout, int *is_equal);
int bloom_index_state_write(bloom_index *index, const index_layout *layout, const char *note);

#endif
