/*
** BloomFile: the filters of many sets side by side, so that one look-up finds all sets that may
** hold a key.  ../../FORMATS.md has the layout: a header of 32 bytes, then units.
**
** Unit i holds bit i of the filters of all sets.  So the AND of the units that a key's probes pick
** has a bit for each set that may hold the key.  Probe i picks unit (hash + i*delta) mod 2^64 mod
** num_units, where delta is the hash rotated left by 31 [Kirsch, Mitzenmacher 2006: one hash drives
** every probe].
*/
#ifndef BLOOM_CORE_BLOOMFILE_H
#define BLOOM_CORE_BLOOMFILE_H

#include "../debug.h"
#include "../filter.h"

#define BLOOM_BLOOMFILE_TAG          0xfa9734edu
#define BLOOM_BLOOMFILE_VERSION      0x0100u
#define BLOOM_BLOOMFILE_HEADER_BYTES 32
#define BLOOM_BLOOMFILE_MAX_PROBES   100

/* The least number of units of a file that is built; a prime.  With fewer units all probes of a key
** would too often pick one unit. */
#define BLOOM_BLOOMFILE_MIN_UNITS 191

/* SQL does not build files by this encoding's name, as a key alone does not say its set. */
extern const bloom_encoding bloom_encoding_bloomfile;

/* Returns the bytes of each unit, from the shape of a file. */
static inline size_t bloom_bloomfile_unit_bytes(const bloom_shape *shape){
  assert( shape->num_slots>0 && shape->num_bits/8%shape->num_slots==0 );
  return (size_t)(shape->num_bits / 8 / shape->num_slots);
}

/* Returns the bytes of a unit for sets 0 .. num_sets-1: at least 4, as the format's description has
** it. */
static inline uint64_t bloom_bloomfile_bytes_for_sets(uint64_t num_sets){
  return num_sets<=32 ? 4 : num_sets/8 + (num_sets%8>0);
}

/*
** Sets *shape to the shape of a file for sets 0 .. num_sets-1, of which the largest has num_keys
** keys, at bits_per_key bits each, a finite number > 0.  The number of units is rounded up to a
** prime that does not divide 2^64 - 1: if it had a divisor in common with a key's delta, the key's
** probes would pick few units; of one that divides 2^64 - 1, the delta's rest follows from the
** hash's.
**
** BLOOM_TOO_BIG, with *shape untouched, if the file would have more than max_bytes.  The
** time grows with the square root of the number of units.
*/
bloom_status bloom_bloomfile_shape(uint64_t num_sets, uint64_t num_keys, double bits_per_key,
                                   size_t max_bytes, bloom_shape *shape);

/* Returns the shape of the same file with units of unit_bytes bytes; *shape fits in size_t. */
bloom_shape bloom_bloomfile_with_unit_bytes(const bloom_shape *shape, size_t unit_bytes);

/* Writes a file without keys to file[0 .. shape->num_bytes). */
void bloom_bloomfile_clear(const bloom_shape *shape, uint8_t *file);

/* Adds the keys that have these hashes, each to its set.  sets is a chain of runs as long
** as those of hashes; its uint32_t are below 8 * unit bytes. */
void bloom_bloomfile_add(const bloom_shape *shape, uint8_t *file, const bloom_hash_run *hashes,
                         const bloom_hash_run *sets);

/* Copies a file's units into another file with as many units, longer or shorter ones.
** The bytes that longer units have more become 0.  Shorter units may be written to the
** memory that they are read from. */
void bloom_bloomfile_copy_units(const bloom_shape *from, const uint8_t *from_file,
                                const bloom_shape *to, uint8_t *to_file);

/* Writes the sets that may hold a key to mask[0 .. unit bytes), as bits in the order of a
** unit, unless mask is NULL, and adds their number to *num_sets, unless that is NULL.  Returns 1
** if there are any, 0 if there are none, and -1 if the file's interrupt stopped it. */
int bloom_bloomfile_sets(const bloom_filter *file, bloom_hash_value hash, uint8_t *mask,
                         uint64_t *num_sets);

/* -- Statistics: of rates the mean over the sets that have keys ------------------------------ */

/* Returns the rate, 0..1, of a set of num_keys different keys in num_units units: the textbook's,
** and the rate of hashes that are a key's, shifted by some probes.  num_units is a prime or, near
** enough, any number.  Measured rates are 0.4 to 1.05 of this one, smaller rates less of it. */
double bloom_bloomfile_modelled_fpr(uint64_t num_keys, double num_units, uint32_t num_probes);

#endif
