/*
** One block: the bits of some consecutive rows, and when it is finished.
**
**   63 bytes for each band of 504 bits; bit i is (byte[i / 8] >> (i % 8)) & 1
**
** Rows are added until half of the bits are set: the information of a bit is greatest
** there, and num_probes probes of an absent key pass at a rate of 2^-num_probes, whatever
** the rows are.  A row is never divided: one with many pieces may overfill its block, and
** one with more than a block can hold leaves every bit set, which accepts everything.
*/
#ifndef BLOOM_CORE_SIGNATURE_BLOCK_H
#define BLOOM_CORE_SIGNATURE_BLOCK_H

#include "signature.h"

/* A block in the making, its bits in the caller's memory. */
typedef struct bloom_block {
  uint8_t *bytes;          /* bits_per_block / 8 */
  uint32_t bits_per_block; /* 504 for each band */
  uint32_t bits_set;
} bloom_block;

/* A block without keys. */
void bloom_block_clear(bloom_block *block, uint8_t *bytes, uint32_t bits_per_block);

/* Goes on with a block that was stored: counts its bits. */
void bloom_block_resume(bloom_block *block, uint8_t *bytes, uint32_t bits_per_block);

/* Sets every bit: for a row about which nothing can be said.  The block accepts everything,
** and keys that are added to it change nothing. */
void bloom_block_fill(bloom_block *block);

/* ORs another block of this size into it. */
void bloom_block_merge(bloom_block *block, const uint8_t *other);

static inline void bloom_block_set(bloom_block *block, uint32_t bit){
  uint8_t *byte = block->bytes + bit/8;
  assert( bit<block->bits_per_block );
  block->bits_set += (~(uint32_t)*byte >> bit%8) & 1;
  *byte = (uint8_t)(*byte | 1u << bit%8);
}

/* Adds a key by its hash. */
static inline void bloom_block_add(bloom_block *block, uint64_t hash, uint32_t num_probes){
  uint16_t bits[BLOOM_SIGNATURE_MAX_PROBES];
  uint32_t i;
  assert( num_probes<=BLOOM_SIGNATURE_MAX_PROBES );
  bloom_signature_bits(hash, num_probes, block->bits_per_block / BLOOM_BAND_BITS, bits);
  for(i=0; i<num_probes; i++) bloom_block_set(block, bits[i]);
}

/* 1 if the row that was added last is to be the block's last one. */
static inline int bloom_block_is_finished(const bloom_block *block){
  return block->bits_set >= block->bits_per_block/2;
}

/* 1 if two thirds of the bits are set: keys of changed rows were added to a finished block,
** and it accepts much more than others do. */
static inline int bloom_block_is_overfull(uint32_t bits_set, uint32_t bits_per_block){
  return 3*(uint64_t)bits_set >= 2*(uint64_t)bits_per_block;
}

/* 1 if a block's bytes have all of these bits, which are below its bits_per_block: it may
** hold what they stand for.  No bits: 1. */
static inline int bloom_block_has_bits(const uint8_t *bytes, const uint16_t *bits, size_t num_bits){
  size_t i;
  for(i=0; i<num_bits; i++){
    if( (bytes[bits[i]/8] >> bits[i]%8 & 1)==0 ) return 0;
  }
  return 1;
}

#endif
