/*
** Parquet's filter: a hash of 64 bits sets 8 bits of one block.
**
**   +---------------------+-----------------------------------+
**   | header, 15-19 bytes | num_blocks blocks of 32 bytes     |
**   +---------------------+-----------------------------------+
**
** The header is a struct in Thrift's compact form: the number of bytes of all blocks, then
** the algorithm SPLIT_BLOCK, the hash XXHASH and the compression UNCOMPRESSED:
**
**   15, varint(2 * bytes), 1c 1c 00 00, 1c 1c 00 00, 1c 1c 00 00, 00
**
** Each number of blocks has exactly one header.  Bytes with another header, or of another
** length than the header says, are not read as this encoding; if the header is complete,
** they are damaged.
** Source: apache/parquet-format, BloomFilter.md and parquet.thrift (BloomFilterHeader).
*/
#ifndef BLOOM_CORE_PARQUET_PARQUET_H
#define BLOOM_CORE_PARQUET_PARQUET_H

#include "../filter.h"

#define BLOOM_PARQUET_MIN_HEADER_BYTES 15
#define BLOOM_PARQUET_MAX_HEADER_BYTES 19

/* The header has 31 bits for the number of bytes of all blocks. */
#define BLOOM_PARQUET_MAX_BLOCKS 67108863u

extern const bloom_encoding bloom_encoding_parquet;

/* Writes the header of num_blocks blocks; returns its length in bytes. */
size_t bloom_parquet_put_header(uint64_t num_blocks,
                                uint8_t header[BLOOM_PARQUET_MAX_HEADER_BYTES]);

/*
** The false positive rate, 0..1, of num_blocks blocks, 1..BLOOM_PARQUET_MAX_BLOCKS, with
** num_keys different keys.  Keys fall on blocks like balls into bins, and most false
** positives are in the fullest blocks.  So the rate is a sum over all numbers of keys that
** a block may have: the probability of that number, times the probability that so many
** keys set all eight bits.
*/
double bloom_parquet_modelled_fpr(uint64_t num_keys, uint64_t num_blocks);

#endif
