/*
** The list of encodings, above their folders: the one place that knows them all.
*/
#ifndef BLOOM_CORE_ENCODINGS_H
#define BLOOM_CORE_ENCODINGS_H

#include "filter.h"

/* Every encoding, in the order in which they try whether bytes are theirs;
** the last takes any.  NULL ends. */
extern const bloom_encoding *const bloom_encodings[];

/* The encoding of what does not say another: LevelDB's. */
extern const bloom_encoding *const bloom_default_encoding;

/* The encoding of this name that filters are built in; NULL if there is none. */
const bloom_encoding *bloom_encoding_named(const char *name);

/* Reads any bytes as a filter; *filter is usable in any case.  bytes may be NULL if
** num_bytes is 0. */
void bloom_filter_read(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter);

#endif
