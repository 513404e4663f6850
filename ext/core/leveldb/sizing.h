/*
** The false positive rate that LevelDB's filter really has, and the keys that its bits tell of.
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
** them, through multiples of num_bits, are the resonances.  Less of the same:
** probes 1, 4, 7, ... keep some of the hash modulo 3, likewise for 5 and 17,
** which matters where num_bits is a multiple of these.  Where 257, 65537 or several of them
** divide it, a key is one of few that have all their probes together.
*/
#ifndef BLOOM_CORE_SIZING_H
#define BLOOM_CORE_SIZING_H

#include "../filter.h"

/*
** The false positive rate, 0..1, of a filter of this shape with num_keys
** different keys: the mean over at most 9,728 hashes of the probability that all
** bits of a hash are set, plus that of a key of the same hash,
** num_keys / 2^32.  The mean is left out where the textbook's rate is less than
** 1/256 of the rest.  Takes up to some 3 ms.
**
** Measured rates are within 10 % for 1e3..1e7 keys at 4..20 bits per key,
** resonances included: test/core/fpr_grid.csv, made by fpr_grid.c.
** So are those of other numbers from 100 on at 5..24 bits, in the mean over many filters
** of a size (fpr_grid.c), and from 10,000 on for each filter.  But within 256 bits of a multiple
** of 65535 to 65537 bits, above 11 bits per key, the real rate is up to 1.7 times the modelled
** one; at the multiples of 65535 and 65537 themselves it is not.  Below 20 keys the real rate
** is higher: for 0.1 % it is 5 times that with 1 key, 2.8 with 5, 1.3 with 10, in the mean.
*/
double bloom_modelled_fpr(const bloom_shape *shape, double num_keys);

/*
** The number of different keys of which a filter of this shape has so many bits set,
** fewer than num_bits, by the same model; num_probes is at least 1.  What a probe sets is
** what the others left, and of probe 2 it is little.  Takes up to some 2 ms.
*/
double bloom_modelled_keys(const bloom_shape *shape, uint64_t bits_set);

/*
** The smallest size, in tenths of a bit per key, 10..1000, at which num_keys
** keys have at most this modelled rate, 0 < fpr < 1.  0 if there is none;
** *best_fpr, set then only, is the least rate of all these sizes, 1 if none fits.
** Tries them all in turn, most of them for a moment: a few ms, 41 at the worst that was
** seen, with the machine busy.
*/
uint32_t bloom_min_bits_per_key_x10(double fpr, uint64_t num_keys, double *best_fpr);

#endif
