/*
** LevelDB's files: the filter block, and where it stands in a table file (.ldb, .sst).
** ../../FORMATS.md has their layouts.
*/
#ifndef BLOOM_CORE_LEVELDB_FILES_H
#define BLOOM_CORE_LEVELDB_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "../debug.h"
#include "../filter.h"

/* -- CRC-32C --------------------------------------------------------------------------------- */

/* LevelDB's checksum is CRC-32C (Castagnoli), stored "masked".  Sources: RFC 3720, section 12.1 and
** appendix B.4 (the polynomial, test vectors); LevelDB util/crc32c.h (the mask).  This table has
** the remainders of each four bits by the polynomial 0x1edc6f41, the lowest bit first. */
static const uint32_t crc32c_of_4_bits[16] = {
  0x00000000u, 0x105ec76fu, 0x20bd8edeu, 0x30e349b1u,
  0x417b1dbcu, 0x5125dad3u, 0x61c69362u, 0x7198540du,
  0x82f63b78u, 0x92a8fc17u, 0xa24bb5a6u, 0xb21572c9u,
  0xc38d26c4u, 0xd3d3e1abu, 0xe330a81au, 0xf36e6f75u
};

/* Returns the CRC-32C of bytes, which may be NULL if num_bytes is 0, four bits at a time.  A faster
** way would not be noticed: a filter block is a hundredth of its file. */
static inline uint32_t bloom_crc32c(const uint8_t *bytes, size_t num_bytes){
  uint32_t crc = UINT32_MAX;
  size_t i;
  assert( bytes || num_bytes==0 );
  for(i=0; i<num_bytes; i++){
    crc ^= bytes[i];
    crc = crc >> 4 ^ crc32c_of_4_bits[crc & 15];
    crc = crc >> 4 ^ crc32c_of_4_bits[crc & 15];
  }
  return ~crc;
}

/* Returns the checksum as LevelDB stores it: rotated and shifted by a constant, because the CRC
** of bytes that contain CRCs protects them badly. */
static inline uint32_t bloom_crc32c_mask(uint32_t crc){
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* -- Filter blocks --------------------------------------------------------------------------- */

/*
** Filter i is slot i: it has the keys of the data blocks that begin at file offsets i << base_lg
** .. ((i+1) << base_lg) - 1.  If no data block begins there, the slot is empty: it has 0 bytes and
** contains nothing.  What LevelDB's shift by a base_lg of 64 or more gives depends on the
** processor, so a block with one may contain every key.
** Source: LevelDB table/filter_block.cc, doc/table_format.md.
*/

#define BLOOM_FILTER_BLOCK_BASE_LG 11

/* end and base_lg, which every block has. */
#define BLOOM_FILTER_BLOCK_MIN_BYTES 5

/* A filter without probes, which may contain every key, in place of a filter that is not read. */
#define BLOOM_ANY_KEY_FILTER_BYTES 2
extern const uint8_t bloom_any_key_filter[BLOOM_ANY_KEY_FILTER_BYTES];

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

/* Writes a block whose filters have no keys yet to bytes[0 .. *num_bytes); or, if bytes is NULL,
** sets *num_bytes to its size.  It has slots up to the last in which a data block begins;
** num_keys[] has the number of keys of each slot, duplicates counted.  A filter of n keys has
** bits_per_key[n] bits a key, a finite number > 0.  BLOOM_TOO_BIG, with *num_bytes untouched, if
** the size is 2^32 or more, which the block's offsets of 32 bits cannot express. */
bloom_status bloom_filter_block_write(const uint32_t *num_keys, size_t num_slots,
                                      const double *bits_per_key, uint8_t *bytes,
                                      size_t *num_bytes);

/* Adds the keys that have these hashes, in any order, to a slot that was written for at least one
** key.  *block was read from bytes. */
void bloom_filter_block_add(const bloom_filter_block *block, uint8_t *bytes, size_t slot,
                            const bloom_hash_run *runs);

/* -- Table files ----------------------------------------------------------------------------- */

/*
** A handle is a block's file offset and size.  Each block is followed by a trailer: its compression
** (0: none) and the masked CRC-32C of the block and that byte.  The metaindex maps "filter." and
** the policy's name to the filter block's handle, in entries whose keys may share their beginning
** with the key before.
** Source: LevelDB doc/table_format.md, table/format.cc, table/block.cc.
*/

#define BLOOM_LDB_FOOTER_BYTES  48
#define BLOOM_LDB_TRAILER_BYTES 5

/* Longer names of policies are cut to this. */
#define BLOOM_POLICY_MAX_BYTES 128

/* The policy that writes LevelDB's filters. */
#define BLOOM_LEVELDB_POLICY "leveldb.BuiltinBloomFilter2"

/* Notes that say why filters are not read. */
#define BLOOM_LDB_NO_FILTER "no filter: written without one, so the file may contain every key"
#define BLOOM_LDB_OTHER_POLICY \
  "another policy: its filters are not read, so the file may contain every key"
#define BLOOM_LDB_METAINDEX_COMPRESSED \
  "metaindex compressed: it is not read, so the file may contain every key"
#define BLOOM_LDB_FILTER_COMPRESSED /* LevelDB never does */ \
  "filter block compressed: it is not read, so the file may contain every key"
#define BLOOM_LDB_TOO_FEW_FILTERS /* never LevelDB's */ \
  "too few filters: data blocks have none, so the file may contain every key"

/* What the end of a table file says about its filters. */
typedef struct bloom_ldb_file {
  const char *note;         /* one of the notes above; NULL: block is set */
  bloom_filter_block block; /* borrows the file's bytes */
  size_t block_bytes;       /* size of the block */
  uint8_t policy[BLOOM_POLICY_MAX_BYTES];
  size_t policy_bytes;      /* 0 if there is no policy, or it is not known */
} bloom_ldb_file;

/* Reads the bytes of a complete file.  Returns NULL and sets *ldb; or what is wrong with
** them, as the end of a message.  Checksums are verified.  Nothing before the filter block
** is read. */
const char *bloom_ldb_file_read(const uint8_t *bytes, size_t num_bytes, bloom_ldb_file *ldb);

#endif
