/*
** How far the blocks reach, where blocks, slices and ends of blocks are, and reading them.
*/
#ifndef BLOOM_SQLITE_INDEX_BLOCKS_H
#define BLOOM_SQLITE_INDEX_BLOCKS_H

#include "../../core/signature/block.h"
#include "../../core/signature/slices.h"

#include "index_int.h"

/* -- index_layout.c ----------------------------------------------------------------------- */

/* The sizes of groups between full ones and units that are groups by themselves: each is
** at least three times the next. */
#define INDEX_MAX_SIZES 9

typedef struct index_key_layout {
  uint64_t num_blocks; /* finished blocks, dead ones too */
  uint64_t num_dead;   /* blocks that were made again elsewhere, or lost their rows */
  uint64_t bits_set;   /* in finished blocks that are not dead */
  sqlite3_int64 open_first; /* ids from here on are in the open block */
  uint32_t open_rows;  /* rows in the open block */
  uint32_t open_bits;  /* bits set in it */
  uint32_t num_full;   /* groups of INDEX_MAX_UNITS units, which come first */
  uint32_t num_sizes;
  uint32_t sizes[INDEX_MAX_SIZES];
  /* A join that goes on over several merges.  It makes one group, of join_units units, of those
  ** from sizes[join_from] on and of units behind them; bands below join_bands are joined already.
  ** join_units 0: there is no join. */
  uint32_t join_from, join_units, join_bands;
} index_key_layout;

/* How far the blocks reach. */
typedef struct index_layout {
  int has_covered;       /* some rows are in blocks */
  int is_dirty;          /* a merge did not come to its end: no block is to be believed */
  sqlite3_int64 covered; /* rows up to this id are in blocks, or noted as changed */
  uint64_t num_rows;     /* how many rows went into blocks */
  uint64_t num_built;    /* what num_rows was when all blocks were made last */
  sqlite3_int64 first;   /* no merged row has a lower id */
  uint32_t num_probes;   /* the probes of a key */
  uint64_t number;       /* drawn at random when all blocks are made again */
  index_key_layout keys[INDEX_MAX_KEYS];
} index_layout;

/* Units that lie one after the other, joined. */
typedef struct index_group {
  uint64_t unit; /* the first */
  uint32_t num_units;
} index_group;

/* How many blocks are in units; the others, which come behind, are in slots. */
uint64_t bloom_index_blocks_in_units(const bloom_index *index, const index_layout *layout, int key);

/* The group that has a unit: in bands that are joined already, or, !is_joined, in the others. */
index_group bloom_index_group_at(const index_key_layout *layout, uint64_t unit, int is_joined);

/* The first unit of the join at hand. */
uint64_t bloom_index_join_unit(const index_key_layout *layout);

/* SQLITE_OK; SQLITE_CORRUPT_VTAB where it is damaged. */
int bloom_index_layout_read(bloom_index *index, index_layout *layout);
int bloom_index_layout_write(bloom_index *index, const index_layout *layout);

/* Makes the one row of NAME_state, with index->config, in place of those that there are. */
int bloom_index_state_insert(bloom_index *index);

/* Sets *is_equal to whether NAME_state says that the layout's rows are covered. */
int bloom_index_state_compare(bloom_index *index, const index_layout *layout, int *is_equal);

/* Writes what triggers and people see: `covered`, and a note, which may be NULL. */
int bloom_index_state_write(bloom_index *index, const index_layout *layout, const char *note);

/* -- index_blocks.c ----------------------------------------------------------------------- */

/* How many bands a block has: powers of two.  Tests make small blocks, so that small tables have
** many. */
#ifndef INDEX_KEY_BANDS
# define INDEX_KEY_BANDS  16
# define INDEX_LIKE_BANDS 32
#endif
#ifndef INDEX_MAX_UNITS
# define INDEX_MAX_UNITS  BLOOM_GROUP_MAX_UNITS
#endif
#define INDEX_MAX_BANDS (INDEX_KEY_BANDS>INDEX_LIKE_BANDS ? INDEX_KEY_BANDS : INDEX_LIKE_BANDS)
#define INDEX_MAX_BLOCK_BYTES (INDEX_MAX_BANDS * BLOOM_BAND_BITS/8)

static inline uint32_t index_num_bands(const bloom_index *index, int key){
  return index->config.keys[key].is_like ? INDEX_LIKE_BANDS : INDEX_KEY_BANDS;
}

static inline uint32_t index_block_bits(const bloom_index *index, int key){
  return index_num_bands(index, key) * BLOOM_BAND_BITS;
}

static inline uint32_t index_block_bytes(const bloom_index *index, int key){
  return index_block_bits(index, key) / 8;
}

/* Blocks are numbered from 0.  A slot is a place in a row of a block that is in no unit yet, and
** of the open one. */
static inline uint32_t index_num_slots(const bloom_index *index, int key){
  return BLOOM_STRIP_BYTES / index_block_bytes(index, key);
}

/* What is known of a finished block.  The intervals of all blocks, the open one's too, have each id
** up to `covered` once, but are in no order where blocks were made again. */
typedef struct index_end {
  sqlite3_int64 first, last; /* the interval of its rows' ids; first > last: it is dead */
  uint32_t num_rows;
  uint32_t bits_set;
} index_end;

#define INDEX_END_BYTES    24
#define INDEX_ENDS_BLOCKS  168 /* blocks whose ends are in one row, which fills a page */
#define INDEX_CHAPTER_ENDS 8   /* rows of ends that are made together, for 21 units */

index_end bloom_index_end_load(const uint8_t *bytes);
void bloom_index_end_store(uint8_t *bytes, index_end end);

/* Rows of NAME_blocks_N, 1 .. n without a gap. */
#define INDEX_ROW_OF_SLOTS   1
#define INDEX_ROW_OF_WEIGHTS 2 /* it is empty but for LIKE columns */
sqlite3_int64 bloom_index_row_of_ends(const bloom_index *index, int key, uint64_t block);
sqlite3_int64 bloom_index_row_of_strip(const bloom_index *index, int key, uint64_t unit,
                                       uint32_t band);

/* Reads rows of a column's blocks.  bloom_index_reader_close() leaves nothing open. */
typedef struct index_reader {
  const bloom_index *index;
  int key, is_writable;
  sqlite3_blob *blob;    /* NULL before the first row */
  sqlite3_int64 row;     /* the row that is open; 0: none */
  sqlite3_int64 ends_of; /* the row that is in ends[]; 0: none */
  uint8_t ends[BLOOM_STRIP_BYTES];
} index_reader;

void bloom_index_reader_start(index_reader *reader, const bloom_index *index, int key,
                              int is_writable);
void bloom_index_reader_close(index_reader *reader);

/* Reads bytes of a row.  SQLITE_CORRUPT_VTAB where there are none, or they are not those that
** were written there. */
int bloom_index_reader_read(index_reader *reader, sqlite3_int64 row, void *bytes,
                            uint32_t num_bytes, uint32_t offset);

/* Reads the end of a finished block. */
int bloom_index_reader_end(index_reader *reader, uint64_t block, index_end *end);

/* Reads the first bytes of one row, without a reader. */
int bloom_index_row_read(const bloom_index *index, int key, sqlite3_int64 row, void *bytes,
                         uint32_t num_bytes);

/* Makes a row, or gives it other bytes, whose number is a multiple of INDEX_PART_BYTES; 0 for a row
** that is yet empty.  *statement, to be finalized, is compiled the first time. */
#define INDEX_STORED_BYTES (BLOOM_STRIP_BYTES + 24) /* of most rows, with checksums */
int bloom_index_row_write(bloom_index *index, int key, sqlite3_stmt **statement, sqlite3_int64 row,
                          const uint8_t *bytes, uint32_t num_bytes);

/* A part of a row, which has a checksum. */
#define INDEX_PART_BYTES 1008
typedef struct index_part {
  uint32_t number; /* of the row's parts */
  uint32_t first;  /* the place of its first byte among the row's */
  uint8_t bytes[INDEX_PART_BYTES + 8]; /* the checksum is behind them */
} index_part;

/* Reads the part of a row that has the byte at offset; writes it to the row that is open. */
int bloom_index_part_read(index_reader *reader, sqlite3_int64 row, uint32_t offset,
                          index_part *part);
int bloom_index_part_write(index_reader *reader, index_part *part);

/* Writes all bytes of a row that has as many. */
int bloom_index_blocks_write(index_reader *reader, sqlite3_int64 row,
                             const uint8_t bytes[BLOOM_STRIP_BYTES]);

/* A finished block and where it is. */
typedef struct index_placed_end {
  index_end end;
  uint64_t block;
  /* index_changes.c sets how many of its rows changed, and whether it is to be made again. */
  uint32_t num_changed;
  int is_remade;
} index_placed_end;

/* Reads the ends of all blocks of a column that are not dead, in the order of their ids; *ends
** is to be freed.  SQLITE_CORRUPT_VTAB where they do not have each id once. */
int bloom_index_ends_read(const bloom_index *index, const index_layout *layout, int key,
                          index_placed_end **ends, size_t *num_ends);

#endif
