/*
** The list of encodings: the one place that knows them all.
*/
#ifndef BLOOM_CORE_ENCODINGS_H
#define BLOOM_CORE_ENCODINGS_H

#include "filter.h"

/* Every encoding, in the order in which each tries to read bytes as its own; the last
** accepts any bytes.  NULL ends the list.  Its length stands here, too, since in the amalgamation
** the list is static. */
extern const bloom_encoding *const bloom_encodings[4];

/* The names of those that filters can be built in, for a message. */
#define BLOOM_ENCODING_NAMES "'parquet' or 'leveldb'"

/* The encoding of a filter for which no other was named: LevelDB's. */
extern const bloom_encoding *const bloom_default_encoding;

/* Returns the encoding of this name, in any case, if filters can be built in it; else NULL. */
const bloom_encoding *bloom_encoding_named(const char *name);

/* Reads any bytes as a filter.  *filter is usable, whatever the bytes; bytes may be NULL
** if num_bytes is 0.  Bytes that begin with a complete header of an encoding but are no filter of
** it are damaged: they may contain every key, and cannot be changed. */
void bloom_filter_read(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter);

#endif
