/*
** Slices: finished blocks turned over, so that one short read tells of many blocks whether
** they have a bit.
**
** A group is 64, 448 or 4,032 blocks: tier 0, 1, 2.  Its slice i has bit i of all of them:
** block b's is bit b%8 of byte b/8.  A group's bytes are its slices one after the other,
** cut into strips of 4,032 bytes, which fill a page of 4 KB as a row:
**
**   tier    blocks    bytes of a slice    slices of a strip    strips at 8,192 bits
**     0         64            8                  504                   17
**     1        448           56                   72                  114
**     2      4,032          504                    8                1,024
**
** No slice lies in two strips.  A group's last strip may be shorter: it ends with the last
** slice.  Groups of one tier that lie one after the other make one of the next: 7 of tier
** 0, 9 of tier 1; each of its slices is theirs, side by side.  So the blocks' order stays,
** and a strip is written from one strip of each.
** The idea: bit-sliced signature files; Goodwin et al. 2017, "BitFunnel".
*/
#ifndef BLOOM_CORE_SIGNATURE_SLICES_H
#define BLOOM_CORE_SIGNATURE_SLICES_H

#include "signature.h"

#define BLOOM_SLICE_TIERS       3
#define BLOOM_SLICE_STRIP_BYTES 4032

/* Of the last tier; bitmaps of candidates have room for as many bits. */
#define BLOOM_SLICE_MAX_BYTES 504

/* What tier 0 is made of, blocks, and the most groups that are joined. */
#define BLOOM_SLICE_BLOCKS     64
#define BLOOM_SLICE_MAX_JOINED 9

/* The blocks of a group. */
static inline uint32_t bloom_tier_blocks(int tier){
  return tier==0 ? 64 : tier==1 ? 448 : 4032;
}

/* The bytes of a slice: a divisor of BLOOM_SLICE_STRIP_BYTES. */
static inline uint32_t bloom_tier_slice_bytes(int tier){
  return bloom_tier_blocks(tier)/8;
}

/* The groups of this tier, 0 or 1, that make one of the next. */
static inline uint32_t bloom_tier_joined(int tier){
  return tier==0 ? 7 : 9;
}

/* Where bytes of a group lie. */
typedef struct bloom_slice_place {
  uint32_t strip;
  uint32_t offset; /* in it */
} bloom_slice_place;

/* Where the slice of a bit begins. */
static inline bloom_slice_place bloom_slice_find(int tier, uint32_t bit){
  const uint32_t offset = bit * bloom_tier_slice_bytes(tier);
  return (bloom_slice_place){offset / BLOOM_SLICE_STRIP_BYTES, offset % BLOOM_SLICE_STRIP_BYTES};
}

/* The strips of a group. */
static inline uint32_t bloom_tier_strips(int tier, uint32_t bits_per_block){
  return (bits_per_block*bloom_tier_slice_bytes(tier) + BLOOM_SLICE_STRIP_BYTES - 1) / BLOOM_SLICE_STRIP_BYTES;
}

/* The bytes of a strip, 0 .. bloom_tier_strips()-1. */
static inline uint32_t bloom_strip_bytes(int tier, uint32_t bits_per_block, uint32_t strip){
  const uint32_t left = bits_per_block*bloom_tier_slice_bytes(tier) - strip*BLOOM_SLICE_STRIP_BYTES;
  return left<BLOOM_SLICE_STRIP_BYTES ? left : BLOOM_SLICE_STRIP_BYTES;
}

/* -- Writing -------------------------------------------------------------------- */

/* Writes a strip of tier 0 from 64 blocks, of bits_per_block / 8 bytes each; returns its
** bytes. */
uint32_t bloom_strip_of_blocks(const uint8_t *const blocks[BLOOM_SLICE_BLOCKS], uint32_t bits_per_block,
                               uint32_t strip, uint8_t out[BLOOM_SLICE_STRIP_BYTES]);

/* The strip that each joined group has to bring for a strip of tier + 1. */
static inline uint32_t bloom_strip_source(int tier, uint32_t strip){
  return strip / bloom_tier_joined(tier);
}

/* Writes a strip of tier + 1 from strip bloom_strip_source() of each of bloom_tier_joined(tier)
** groups, which have bloom_strip_bytes() bytes; tier is 0 or 1.  Returns its bytes. */
uint32_t bloom_strip_of_strips(int tier, const uint8_t *const *sources, uint32_t bits_per_block, uint32_t strip,
                               uint8_t out[BLOOM_SLICE_STRIP_BYTES]);

/* Where a block, 0 .. bloom_tier_blocks()-1, has its bit in a group: the byte's place, and
** the bit in it as a mask. */
static inline bloom_slice_place bloom_slice_find_block(int tier, uint32_t bit, uint32_t block, uint8_t *mask){
  bloom_slice_place place = bloom_slice_find(tier, bit);
  place.offset += block/8;
  *mask = (uint8_t)(1u << block%8);
  return place;
}

/* -- Reading -------------------------------------------------------------------- */

/* Takes the blocks without the slice's bit out of the candidates: ANDs num_bytes bytes, a
** multiple of 8.  Returns 0 if none is left: what else would be ANDed cannot matter. */
int bloom_slice_and(uint8_t *candidates, const uint8_t *slice, size_t num_bytes);

/* The first candidate at or after block from; num_blocks if there is none. */
uint32_t bloom_slice_next(const uint8_t *candidates, uint32_t num_blocks, uint32_t from);

#endif
