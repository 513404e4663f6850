/*
** Parquet's filter: hash of 64 bits -> 8 bits of one block.
**
**   +---------------------+-----------------------------------+
**   | header, 15-19 bytes | num_blocks blocks of 32 bytes     |
**   +---------------------+-----------------------------------+
**
** The header is Thrift's compact form of the bytes of all blocks and of three marks,
** SPLIT_BLOCK, XXHASH and UNCOMPRESSED:
**
**   15, varint(2 * bytes), 1c 1c 00 00, 1c 1c 00 00, 1c 1c 00 00, 00
**
** There is one header for each number of blocks: bytes with another one, or of another
** length than it says, are not read as this encoding.
** Source: apache/parquet-format, BloomFilter.md and parquet.thrift (BloomFilterHeader).
*/
#ifndef BLOOM_CORE_PARQUET_PARQUET_H
#define BLOOM_CORE_PARQUET_PARQUET_H

#include "../filter.h"

#define BLOOM_PARQUET_MIN_HEADER_BYTES 15
#define BLOOM_PARQUET_MAX_HEADER_BYTES 19

/* The header holds the bytes of all blocks in 31 bits. */
#define BLOOM_PARQUET_MAX_BLOCKS 67108863u

extern const bloom_encoding bloom_encoding_parquet;

/*
** The false positive rate, 0..1, that num_keys different keys make in num_blocks
** blocks, 1..BLOOM_PARQUET_MAX_BLOCKS: the sum over all numbers of keys in a block of
** how likely that number is, times how likely eight bits are all set by so many.
** Keys fall on blocks as balls into bins: most false positives are in the fullest.
*/
double bloom_parquet_modelled_fpr(uint64_t num_keys, uint64_t num_blocks);

#endif
