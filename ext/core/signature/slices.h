/*
** Slices: finished blocks turned over, so that one short read tells of many blocks whether
** they have a bit.
**
** A unit is 64 blocks, a group 1 .. 504 units one after the other.  A group's slice of a bit
** has that bit of all its blocks: block b's is bit b%8 of byte b/8.  The slices of a band, of
** 504 bits, lie one after the other in strips of 4,032 bytes, which fill a page of 4 KB as a
** row each, as many as the group has units:
**
**   units in the group     1      2      63     504
**   bytes of a slice       8     16     504   4,032
**   slices of a strip    504    252       8       1
**
** A slice may lie in two strips, and in a group of 504 units it is one.  Groups that lie one
** after the other are joined band by band: each slice becomes theirs, side by side, and a
** band takes the strips that theirs had.  So the blocks' order stays, nothing moves to other
** rows, and the bands of a group may be joined one today and one tomorrow.
** The idea: bit-sliced signature files; Goodwin et al. 2017, "BitFunnel".
*/
#ifndef BLOOM_CORE_SIGNATURE_SLICES_H
#define BLOOM_CORE_SIGNATURE_SLICES_H

#include "signature.h"

#define BLOOM_UNIT_BLOCKS     64
#define BLOOM_GROUP_MAX_UNITS 504

/* A band of one unit.  Bitmaps of a group's candidates have at most as many bytes. */
#define BLOOM_STRIP_BYTES 4032
_Static_assert(BLOOM_STRIP_BYTES==BLOOM_BAND_BITS*BLOOM_UNIT_BLOCKS/8,
               "a strip is a band of one unit");
_Static_assert(BLOOM_GROUP_MAX_UNITS*BLOOM_UNIT_BLOCKS/8<=BLOOM_STRIP_BYTES,
               "a slice fits into a strip");

/* Where bytes of a group lie. */
typedef struct bloom_slice_place {
  uint32_t band;
  uint32_t strip;  /* of the band, 0 .. num_units-1 */
  uint32_t offset; /* in it */
} bloom_slice_place;

/* Where a byte of the slice of a bit is: byte 0 .. 8*num_units-1. */
static inline bloom_slice_place bloom_slice_find(uint32_t num_units, uint32_t bit, uint32_t byte){
  const uint32_t offset = bit%BLOOM_BAND_BITS * 8*num_units + byte;
  assert( num_units<=BLOOM_GROUP_MAX_UNITS && byte<8*num_units );
  return (bloom_slice_place){bit / BLOOM_BAND_BITS, offset / BLOOM_STRIP_BYTES,
                             offset % BLOOM_STRIP_BYTES};
}

/* -- Writing -------------------------------------------------------------------- */

/* Puts a band's bits of blocks first .. last-1 of a unit into its strip, in place of what was
** there of them; blocks[] has those of 504 bits for each band. */
void bloom_strip_put_blocks(uint8_t strip[BLOOM_STRIP_BYTES],
                            const uint8_t *const blocks[BLOOM_UNIT_BLOCKS],
                            uint32_t first, uint32_t last, uint32_t band);

/* Puts the strips of a band of one group, num_source units, into those of the group of
** num_units that it becomes a part of, from its unit first on.  The strips of a band are one
** string of bytes, of 4,032 bytes a unit. */
void bloom_band_join(uint8_t *strips, uint32_t num_units, const uint8_t *source,
                     uint32_t num_source, uint32_t first);

/* -- Reading -------------------------------------------------------------------- */

/* Takes the blocks without the slice's bit out of the candidates: ANDs num_bytes bytes.  Returns
** 0 if none of these is left. */
int bloom_slice_and(uint8_t *candidates, const uint8_t *slice, size_t num_bytes);

/* 1 if one of num_bytes bytes has a candidate. */
int bloom_slice_has_any(const uint8_t *candidates, size_t num_bytes);

/* The first candidate at or after block from; num_blocks if there is none. */
uint32_t bloom_slice_next(const uint8_t *candidates, uint32_t num_blocks, uint32_t from);

#endif
