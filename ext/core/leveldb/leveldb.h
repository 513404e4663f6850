/*
** LevelDB's filter, "leveldb.BuiltinBloomFilter2": from hash to bits.
**
**   +--------------------------------+------------+
**   | bits, num_bits/8 bytes         | num_probes |
**   +--------------------------------+------------+
**
** Bit i is bit i%8 of byte i/8.  Probe j of a hash tests bit
** (hash + j*delta) mod 2^32 mod num_bits, delta = hash rotated right by 17
** [Kirsch, Mitzenmacher 2006: one hash drives every probe].
** Positions have 32 bits, so bits from 2^32 on are never set.
**
** Any bytes can be read.  For bytes that are no filter the answer is LevelDB's, the same
** for every key:
**
**   too short   fewer than 2 bytes         0: contains nothing
**   no probes   the last byte is 0         1
**   reserved    the last byte is over 30,  1
**               for encodings to come
**
** Source: LevelDB util/bloom.cc.
*/
#ifndef BLOOM_CORE_LEVELDB_H
#define BLOOM_CORE_LEVELDB_H

#include "../filter.h"
#include "kernels.h"
#include "sizing.h"

#define BLOOM_LEVELDB_MIN_BYTES  2  /* fewer are too short */
#define BLOOM_LEVELDB_MAX_PROBES 30 /* larger probe bytes are reserved for other encodings */

extern const bloom_encoding bloom_encoding_leveldb;

/* Writes a filter without keys to filter[0 .. shape->num_bytes). */
void bloom_leveldb_clear(const bloom_shape *shape, uint8_t *filter);

/*
** Adds the keys that have these hashes to a filter of this shape; shape->num_probes is
** 1..30.  Neither their order nor duplicates matter.
*/
void bloom_leveldb_add(const bloom_shape *shape, uint8_t *filter, const bloom_hash_run *runs);

/* bloom_leveldb_add() with kernels that the caller chooses, for tests and benchmarks. */
void bloom_leveldb_add_by(const bloom_leveldb_kernels *kernels, const bloom_shape *shape,
                          uint8_t *filter, const bloom_hash_run *runs);

#endif
