/*
** Finds the filter block of a LevelDB table file (.ldb, .sst) from the file's end.
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
** The metaindex maps "filter." and the policy's name to the filter block's handle.  It is
** a block of entries, whose keys may share their beginning with the key before.  After the
** entries come the offsets of those that share nothing, and the number of these offsets:
**
**   entry: shared, unshared, value_bytes (varint32 each), unshared bytes of the key, value
**   end:   offsets (fixed32 each), number of offsets (fixed32)
**
** Source: LevelDB doc/table_format.md, table/format.cc, table/block.cc.
*/
#ifndef BLOOM_CORE_LEVELDB_LDB_FILE_H
#define BLOOM_CORE_LEVELDB_LDB_FILE_H

#include "filter_block.h"

#define BLOOM_LDB_FOOTER_BYTES  48
#define BLOOM_LDB_TRAILER_BYTES 5

/* The first byte of a trailer. */
#define BLOOM_COMPRESSION_SNAPPY 1

/* Longer names of policies are cut to this. */
#define BLOOM_POLICY_MAX_BYTES 128

/* The policy that writes LevelDB's filters. */
#define BLOOM_LEVELDB_POLICY "leveldb.BuiltinBloomFilter2"

typedef enum bloom_ldb_filter {
  BLOOM_LDB_HAS_FILTERS,        /* block is set */
  BLOOM_LDB_NO_FILTER,          /* written without a policy */
  BLOOM_LDB_OTHER_POLICY,
  BLOOM_LDB_METAINDEX_COMPRESSED,
  BLOOM_LDB_FILTER_COMPRESSED,  /* LevelDB never does */
  BLOOM_LDB_TOO_FEW_FILTERS     /* of data blocks before the filter block: never LevelDB's */
} bloom_ldb_filter;

/* What the end of the file says about its filters. */
typedef struct bloom_ldb_file {
  bloom_ldb_filter filter;
  bloom_filter_block block; /* borrows the file's bytes */
  size_t block_bytes;       /* size of the block */
  uint8_t compression;      /* of the block that is compressed, if filter says so */
  uint8_t policy[BLOOM_POLICY_MAX_BYTES];
  size_t policy_bytes;      /* 0 if there is no policy, or it is not known */
} bloom_ldb_file;

/* Reads the bytes of a complete file.  Returns NULL and sets *ldb; or what is wrong with
** them, as the end of a message.  Checksums are verified.  Nothing before the filter block
** is read. */
const char *bloom_ldb_file_read(const uint8_t *bytes, size_t num_bytes, bloom_ldb_file *ldb);

#endif
