/*
** The shape of LevelDB's filter, the false positive rate that it really has, and the number of
** keys, estimated from the bits that are set.
**
** The textbook's (1 - e^(-num_probes/bits_per_key))^num_probes holds for
** probes that are independent.  These are not, above all not probe 2:
**
**   probe i  = hash + i*delta mod 2^32, delta = hash rotated right by 17,
**              which is hash * 2^15 modulo 2^32-1; so
**   probe 2  = hash * 65537 modulo 2^32-1, and 65537 divides 2^32-1.
**
** Hence probe 2 takes only 196,608 values, 65537*s - w: s in 0..65535, w in
** 0..2 the times that the sum passed 2^32.  Beyond some 30,000 keys most of
** them are taken: probe 2 tests little, and whatever probe meets one of those
** positions is more likely to find its bit set.  Hashes whose probes all meet
** them, through multiples of num_bits, are the resonances.  To a lesser degree
** probes 1, 4, 7, ... depend on the hash modulo 3, probes 3, 8, 13, ... modulo 5, which adds
** a few percent where num_bits is a multiple of these.  Where 257, 65537 or several of them
** divide it, keys that are equal modulo these have all their probes in the same
** classes of positions.
*/
#ifndef BLOOM_CORE_SIZING_H
#define BLOOM_CORE_SIZING_H

#include "../filter.h"

#define BLOOM_LEVELDB_MIN_BITS 64 /* fewer would mean a high false positive rate for few keys */

/* Returns how many of num_bits bits keys can set. */
static inline uint64_t bloom_leveldb_reached_bits(uint64_t num_bits){
  return num_bits<=UINT32_MAX ? num_bits : (uint64_t)UINT32_MAX + 1;
}

/*
** Sets *shape to the shape of a filter for num_keys keys (duplicates counted) at bits_per_key
** bits each: ceil(num_keys * bits_per_key) bits, at least 64, rounded up to full bytes.
** bits_per_key is a finite number > 0; if it is an integer, the shape is LevelDB's.  The product
** is computed as a double, exact up to 2^53 bits.  BLOOM_TOO_BIG, with *shape untouched, from
** 2^63 bits on, or where the bytes do not fit in size_t.
*/
bloom_status bloom_leveldb_shape(uint64_t num_keys, double bits_per_key, bloom_shape *shape);

/*
** Returns the false positive rate, 0..1, of a filter of this shape with num_keys different keys:
** the mean over 9,728 hashes of the probability that all bits of a hash are set, plus that of a
** key of the same hash, num_keys / 2^32.  Takes some 3 ms where probe 2 matters.  No table of
** rates would do: with 100,000 keys at 16 to 22 bits a tenth of a bit more or less is up to four
** times the rate.
**
** Measured rates are within 10 % for 1e3..1e7 keys at 4..20 bits per key,
** resonances included: test/core/fpr_grid.csv of commit 3ed1a4e3.
** So are those of other numbers from 100 on at 5..24 bits, in the mean over many filters
** of a size (leveldb_sizing_test.c has some), and from 10,000 on for each filter.  But within 256
** bits of a multiple of 65535 to 65537 bits, above 11 bits per key, the real rate is up to 1.7
** times the modelled one; at the multiples of 65535 and 65537 themselves it is not.  Below 20 keys
** the real rate is higher: for 0.1 % it is 5 times that with 1 key, 2.8 with 5, 1.3 with 10, in the
** mean.
*/
double bloom_modelled_fpr(const bloom_shape *shape, double num_keys);

/*
** Returns how many different keys set bits_set bits, fewer than num_bits, in a filter of this shape
** with at least one probe, by the same model.  Probe 2 sets few bits that others leave.  Takes up
** to some 2 ms.
*/
double bloom_modelled_keys(const bloom_shape *shape, uint64_t bits_set);

/*
** Returns a size, in tenths of a bit per key, 10..1000, at which num_keys keys have this rate,
** 0 < fpr < 1: the smallest of those that are no outliers.  0 if there is none; *best_fpr, set then
** only, is the least rate of all these sizes, 1 if none fits.  Takes some 0.002 ms, and 0.2 if
** there is none.
**
** Outliers are sizes where far more hashes resonate than where they are a tenth of a bit larger or
** smaller: with 16,000 to 300,000 keys every third or fourth size, beyond a million keys one in
** thirty.  The rates of other sizes follow from a table.  From 50 keys on they are within 10 % of
** the modelled ones, except for one size in 30 with 16,000 to 120,000 keys (up to 1.35 times as
** much) and one in 200 with other numbers.  The size is at most 6 % and 0.4 bits above the smallest
** one with that rate; for one number of keys in a thousand about a bit.
*/
uint32_t bloom_min_bits_per_key_x10(double fpr, uint64_t num_keys, double *best_fpr);

#endif
