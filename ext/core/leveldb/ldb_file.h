/*
** A LevelDB table file (.ldb, .sst): the way from its end to its filter block.
**
**   +-------------+--------------+-----------+-------------+--------+
**   | data blocks | filter block | metaindex | index block | footer |
**   +-------------+--------------+-----------+-------------+--------+
**
** A handle is a block's file offset and size, two varint64.  Each block is followed
** by a trailer of 5 bytes: its compression (0 none, 1 Snappy) and the masked CRC-32C
** of the block and that byte.
**
**   footer, 48 bytes: handle of the metaindex, handle of the index, zeros up to byte
**   40, magic number 0xdb4775248b80fb57
**
** The metaindex maps "filter." and the policy's name to the filter block's handle.
** It is a block of entries, each with a key that may share its beginning with the key
** before, then the offsets of entries that share nothing, and their number:
**
**   entry: shared, unshared, value_bytes (varint32 each), unshared bytes of key, value
**   end:   offsets, fixed32 each; their number, fixed32
**
** Source: LevelDB doc/table_format.md, table/format.cc, table/block.cc.
*/
#ifndef BLOOM_CORE_LEVELDB_LDB_FILE_H
#define BLOOM_CORE_LEVELDB_LDB_FILE_H

#include "filter_block.h"

#define BLOOM_TABLE_FOOTER_BYTES  48
#define BLOOM_TABLE_TRAILER_BYTES 5

/* The first byte of a trailer. */
#define BLOOM_COMPRESSION_SNAPPY 1

/* Longer names of policies are cut. */
#define BLOOM_POLICY_MAX_BYTES 128

/* The policy that writes LevelDB's filters. */
#define BLOOM_LEVELDB_POLICY "leveldb.BuiltinBloomFilter2"

typedef enum bloom_table_filter {
  BLOOM_TABLE_HAS_FILTERS,        /* block is set */
  BLOOM_TABLE_NO_FILTER,          /* written without a policy */
  BLOOM_TABLE_OTHER_POLICY,
  BLOOM_TABLE_METAINDEX_COMPRESSED,
  BLOOM_TABLE_FILTER_COMPRESSED   /* LevelDB never does */
} bloom_table_filter;

/* What a table file's end says of its filters. */
typedef struct bloom_ldb_file {
  bloom_table_filter filter;
  bloom_filter_block block; /* borrows the file's bytes */
  size_t block_bytes;       /* of block, all of it */
  uint8_t compression;      /* of what is compressed */
  uint8_t policy[BLOOM_POLICY_MAX_BYTES];
  size_t policy_bytes;      /* 0 if there is no policy, or it is not known */
} bloom_ldb_file;

/* Reads the bytes of a whole file.  Returns NULL and sets *table; or what is wrong
** with them, in words that a message ends with.  Checksums are verified; of what lies
** before the filter block nothing is read. */
const char *bloom_ldb_file_read(const uint8_t *bytes, size_t num_bytes, bloom_ldb_file *table);

#endif
