/*
** Entries of bloom_index: pairs (token, block), which say which blocks hold a token.  Sorted, they
** are stored in rows that fill a page of 4 KB each.
**
**   block    a range of ids, by its number, below 2^28
**   segment  2^12 blocks with consecutive numbers
**   list     the blocks of one token in one segment, ascending; its id is
**            token * num_segments + segment, below 2^56
**   row      lists with ascending ids, at most 4,056 bytes; a list is never divided
**   run      rows with ascending ids.  end_block, above all its block numbers, is fixed, and
**            with it the number of segments.  Each row holds the last id of the row before
**            it, so that a missing row is noticed.
**
** A row's rowid is slot<<56 | id of its last list; the slot is the run's.  So the only row that can
** hold the list with an id is the first one whose rowid is slot<<56 | id or more.
**
** The caller owns all memory.
** ../../FORMATS.md describes the bytes.
*/
#ifndef BLOOM_CORE_ENTRIES_ENTRIES_H
#define BLOOM_CORE_ENTRIES_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#include "../debug.h"
#include "../hash.h"
#include "../numeric.h"

/* Bytes of a row, at most.  Tests set smaller rows and segments, so that small runs have many. */
#ifndef BLOOM_ENTRIES_ROW_BYTES
# define BLOOM_ENTRIES_ROW_BYTES 4056
#endif
#ifndef BLOOM_SEGMENT_LG
# define BLOOM_SEGMENT_LG 12
#endif
#define BLOOM_SEGMENT_BLOCKS (1u << BLOOM_SEGMENT_LG)

/* Limits: the blocks of a run, the lists of a row, the bits of an id. */
#define BLOOM_ENTRIES_MAX_BLOCKS (1u << 28)
#define BLOOM_ENTRIES_MAX_LISTS 4096
#define BLOOM_ENTRIES_ID_BITS 56
#define BLOOM_ENTRIES_ID_MASK (((uint64_t)1 << BLOOM_ENTRIES_ID_BITS) - 1)

/* The `before` of a run's first row. */
#define BLOOM_ENTRIES_NO_ID UINT64_MAX

/* The bytes of a row's header, and of a skip behind it; the most skips that the writer makes. */
#define BLOOM_ENTRIES_HEADER_BYTES 34
#define BLOOM_ENTRIES_SKIP_BYTES 6
#define BLOOM_ENTRIES_MAX_SKIPS 15

/* The most bits of a list: 80 of its gap, its number of blocks, and its blocks.  These take at most
** 1.0175 bits for each block of the segment: Rice codes with k = 1 of 0.345 of them. */
#define BLOOM_ENTRIES_LIST_BITS \
  (80 + 2*BLOOM_SEGMENT_LG + 1 + BLOOM_SEGMENT_BLOCKS + BLOOM_SEGMENT_BLOCKS/50 + 8)
_Static_assert(BLOOM_SEGMENT_LG>=6 && BLOOM_SEGMENT_LG<=12, "a list has at most 4,096");
_Static_assert(8*BLOOM_ENTRIES_HEADER_BYTES + BLOOM_ENTRIES_LIST_BITS<=8*BLOOM_ENTRIES_ROW_BYTES,
               "each list fits a row");
_Static_assert(8*BLOOM_ENTRIES_ROW_BYTES<=UINT16_MAX, "skips hold offsets of 16 bits");

/* Returns how many segments the blocks below end_block have. */
static inline uint32_t bloom_entries_num_segments(uint32_t end_block){
  assert( end_block<=BLOOM_ENTRIES_MAX_BLOCKS );
  return (end_block + BLOOM_SEGMENT_BLOCKS - 1) >> BLOOM_SEGMENT_LG;
}

/* Returns the rowid of a row. */
static inline uint64_t bloom_entries_rowid(uint32_t slot, uint64_t last_id){
  assert( slot<256 && last_id<=BLOOM_ENTRIES_ID_MASK );
  return (uint64_t)slot << BLOOM_ENTRIES_ID_BITS | last_id;
}

/* Returns the checksum of a row of entries or zones, which its first 8 bytes hold. */
static inline uint64_t bloom_entries_checksum(const uint8_t *bytes, size_t num_bytes,
                                              uint64_t run_number, uint64_t rowid){
  assert( num_bytes>=8 );
  return bloom_mix64(bloom_xxh3(bytes + 8, num_bytes - 8)
                     ^ bloom_mix64(run_number + bloom_mix64(rowid)));
}

/* The segments of a run: what follows from its end_block. */
typedef struct bloom_entries_shape {
  uint32_t end_block;
  uint32_t num_segments;
  uint64_t reciprocal;    /* 2^32 / num_segments, rounded down */
  uint32_t last_blocks;   /* blocks of the last segment, 1 .. BLOOM_SEGMENT_BLOCKS */
  uint32_t last_bits;     /* bits of their numbers */
} bloom_entries_shape;

/* -- Reading --------------------------------------------------------------------------------- */

/* A row that is being read.  The caller reads `before`, `first`, `last`, `num_lists` and
** `shape.end_block` after bloom_entries_open(), and `id` to `num_blocks` of the list at hand. */
typedef struct bloom_entries_row {
  uint64_t before, first, last;  /* ids: of the row before, or BLOOM_ENTRIES_NO_ID; of this row */
  uint64_t id;                   /* of the list at hand */
  uint32_t segment;
  uint32_t num_blocks;           /* of the list at hand; 0: there is none */
  uint32_t num_lists;
  bloom_entries_shape shape;

  /* The rest is private.  Positions are bits from the first byte of the row on. */
  const uint8_t *bytes;
  uint32_t num_bytes;
  uint32_t num_begun;            /* the lists up to the one at hand */
  uint32_t lists_per_skip;       /* 0: no skips */
  uint32_t num_skips;
  uint32_t gap_k;                /* Rice parameter of the gaps of ids */
  uint32_t blocks_at;            /* position of the blocks of the list at hand */
  uint32_t next_at;              /* position of the next list; 0: not known yet */
  uint8_t is_damaged;            /* once damage was seen, all calls return -1 */
} bloom_entries_row;

/* Reads the header.  Returns 1, or 0 if the length, the checksum or a field is wrong.  bytes stay
** the caller's, and must outlive row. */
int bloom_entries_open(bloom_entries_row *row, const uint8_t *bytes, size_t num_bytes,
                       uint64_t run_number, uint64_t rowid);

/* Moves to the next list, at first to the first one.  Returns 1; 0 behind the last one; -1 if the
** row is damaged. */
int bloom_entries_next(bloom_entries_row *row);

/* Moves on to the first list whose id is `id` or more, which may be the one at hand.  Returns 1; 0
** if all ids are less, as behind the last list; -1 if the row is damaged. */
int bloom_entries_seek(bloom_entries_row *row, uint64_t id);

/* Writes the blocks of the list at hand, ascending, as numbers within its segment.  Returns
** num_blocks, 1 .. BLOOM_SEGMENT_BLOCKS; -1 if the row is damaged.
**
** A list of all blocks takes no bits for them.  So a hostile row may have 4,096 lists of 4,096
** blocks, 16 million in all. */
int bloom_entries_read(bloom_entries_row *row, uint16_t blocks[BLOOM_SEGMENT_BLOCKS]);

/* Does the same, but sets the bits of the blocks, and clears all others. */
int bloom_entries_read_bits(bloom_entries_row *row, uint64_t bits[BLOOM_SEGMENT_BLOCKS/64]);

/* -- Writing --------------------------------------------------------------------------------- */

/* Writes the rows of a run, one after the other.  All of it is private. */
typedef struct bloom_entries_writer {
  bloom_entries_shape shape;
  uint64_t before, first, last;  /* ids: of the row before; of the row at hand */
  uint32_t num_lists;
  uint32_t gap_k;
  uint32_t lists_per_skip;       /* a power of 2; 0: ids are too far apart for skips */
  uint32_t num_skips;
  uint32_t skip_deltas[BLOOM_ENTRIES_MAX_SKIPS + 1];
  uint16_t skip_offsets[BLOOM_ENTRIES_MAX_SKIPS + 1];
  uint64_t word;                 /* bits that fill no byte yet, and how many */
  uint32_t word_bits;
  uint32_t num_bytes;            /* whole bytes of the row's lists */
  uint8_t bytes[BLOOM_ENTRIES_ROW_BYTES + BLOOM_ENTRIES_LIST_BITS/8 + 16];
} bloom_entries_writer;

/* Begins a run, if `before` is BLOOM_ENTRIES_NO_ID; else goes on behind a row with that last id.
** The first row's gaps of ids are coded for mean_gap, those of each other row for the mean gap of
** the row before it. */
void bloom_entries_writer_begin(bloom_entries_writer *writer, uint32_t end_block, uint64_t before,
                                uint64_t mean_gap);

/* Adds a list of 1 .. BLOOM_SEGMENT_BLOCKS ascending blocks, numbers within its segment.  Its id
** must be higher than those before.  Returns 1; or 0, and adds nothing, if the row at hand is full.
** An empty row has room for every list. */
int bloom_entries_writer_add(bloom_entries_writer *writer, uint64_t id, const uint16_t *blocks,
                             uint32_t num_blocks);

/* Ends the row at hand, which must have a list, and begins the next one.  Sets out and *rowid, and
** returns the number of bytes. */
size_t bloom_entries_writer_finish(bloom_entries_writer *writer, uint64_t run_number,
                                   uint32_t slot, uint8_t out[BLOOM_ENTRIES_ROW_BYTES],
                                   uint64_t *rowid);

#endif
