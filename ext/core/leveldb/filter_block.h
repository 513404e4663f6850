/*
** LevelDB's filter block: the filters of one LevelDB table file (.ldb).
**
**   +----------+-----+------------+------------------------+---------+---------+
**   | filter 0 | ... | filter n-1 | offset of each filter  | end     | base_lg |
**   |          |     |            | fixed32, n of them     | fixed32 | 1 byte  |
**   +----------+-----+------------+------------------------+---------+---------+
**
** Offsets count from the block's first byte; end is where the filters end and the
** offsets begin.  All integers are little-endian.
**
** Filter i is slot i: it has the keys of the data blocks that begin at file offsets
** i << base_lg .. ((i+1) << base_lg) - 1.  If no data block begins there, the slot is
** empty: it has 0 bytes and contains nothing.  LevelDB writes base_lg 11, 2 KiB.  It
** shifts by base_lg, and what 64 and more would shift depends on the processor, so that a
** block of such a base_lg may contain every key.
** Source: LevelDB table/filter_block.cc, doc/table_format.md.
*/
#ifndef BLOOM_CORE_LEVELDB_FILTER_BLOCK_H
#define BLOOM_CORE_LEVELDB_FILTER_BLOCK_H

#include "../filter.h"

#define BLOOM_FILTER_BLOCK_BASE_LG 11

/* end and base_lg, which every block has. */
#define BLOOM_FILTER_BLOCK_MIN_BYTES 5

/* A filter without probes, which may contain every key.  It stands in for filters that
** cannot be read. */
#define BLOOM_ANY_KEY_FILTER_BYTES 2
extern const uint8_t bloom_any_key_filter[BLOOM_ANY_KEY_FILTER_BYTES];

/* -- Reading ------------------------------------------------------------------- */

/* A block that was read from bytes, which it borrows. */
typedef struct bloom_filter_block {
  const uint8_t *bytes;
  size_t filters_bytes; /* where the filters end and their offsets begin */
  size_t num_slots;
  uint32_t base_lg;     /* 0..255: every value is accepted */
} bloom_filter_block;

typedef struct bloom_filter_slot {
  const uint8_t *filter; /* within the block, or bloom_any_key_filter */
  size_t num_bytes;
  int is_damaged;        /* its offsets or base_lg are impossible, so it may contain every key */
  /* The filter has the keys of the data blocks that begin at these file offsets, clamped
  ** to an int64; first > last if no offset is left. */
  int64_t first_offset, last_offset;
} bloom_filter_slot;

/* Reads num_bytes bytes as a filter block.  Returns NULL and sets *block; or, with *block
** untouched, what is wrong, as the end of a message.  LevelDB itself says "maybe" to every
** key if it cannot read a block. */
const char *bloom_filter_block_read(const uint8_t *bytes, size_t num_bytes,
                                    bloom_filter_block *block);

/* Sets *found to a slot, 0 .. block->num_slots-1, read as LevelDB reads it, damaged or
** not. */
void bloom_filter_block_slot(const bloom_filter_block *block, size_t slot,
                             bloom_filter_slot *found);

/* -- Writing ------------------------------------------------------------------- */

/* A block to write has slots up to the last in which a data block begins; num_keys[] has
** the number of keys of each slot, duplicates counted.  bits_per_key is a finite
** number > 0. */

/* What a filter of n keys has a key: tenths[n] / 10, or, without tenths, bits_per_key. */
typedef struct bloom_filter_block_bits {
  double bits_per_key;
  const uint16_t *tenths; /* by number of keys; NULL: all filters have the same */
} bloom_filter_block_bits;

/* The size of the block in bytes.  BLOOM_TOO_BIG, with *num_bytes untouched, if it is 2^32
** or more, which its offsets of 32 bits cannot express. */
bloom_status bloom_filter_block_size(const uint32_t *num_keys, size_t num_slots,
                                     const bloom_filter_block_bits *bits, size_t *num_bytes);

/* Writes a block of num_bytes bytes whose filters have no keys yet. */
void bloom_filter_block_clear(const uint32_t *num_keys, size_t num_slots,
                              const bloom_filter_block_bits *bits,
                              uint8_t *bytes, size_t num_bytes);

/* Adds the keys that have these hashes to a slot, which was written for at least one key.
** *block was read from bytes.  The order does not matter. */
void bloom_filter_block_add(const bloom_filter_block *block, uint8_t *bytes, size_t slot,
                            const bloom_hash_run *runs);

#endif
