/*
** The core's vocabulary, and the path of one key:
**
**   SQL value       --sqlite/key_bytes.h-->        key bytes
**   key bytes       --leveldb/hash.h-->            digest (32 bits)
**   digest          --leveldb/leveldb.h-->        probe positions -> bits
**
** The core is pure C11: it knows no SQLite, allocates nothing, keeps no
** mutable state.  Filters are plain bytes; ../FORMATS.md has their layout.
**
** A new encoding is one file beside leveldb/leveldb.c and one row in the
** list of encodings in filter.c.
*/
#ifndef BLOOM_CORE_FILTER_H
#define BLOOM_CORE_FILTER_H

#include <stddef.h>
#include <stdint.h>

/* Result of a core function that can fail. */
typedef enum bloom_status {
  BLOOM_OK = 0,
  BLOOM_TOO_BIG /* a size that does not fit in size_t */
} bloom_status;

/* The hash value of one key. Keys with equal digests are one key to a filter. */
typedef uint32_t bloom_digest;

/* Bytes that lie elsewhere: one of many keys. */
typedef struct bloom_span {
  const uint8_t *bytes; /* may be NULL if num_bytes is 0 */
  size_t num_bytes;
} bloom_span;

/* Digests in a chain of runs, so that a set can grow without being copied. */
typedef struct bloom_digest_run {
  const struct bloom_digest_run *next; /* NULL ends the chain */
  const bloom_digest *digests;
  size_t num_digests;
} bloom_digest_run;

/* The shape of a filter to be written: all that depends on the number of keys
** and the bits per key.  Filters merge when their shapes are equal. */
typedef struct bloom_shape {
  size_t num_bytes;    /* of the whole filter: bits and probe byte */
  uint64_t num_bits;   /* a multiple of 8 */
  uint32_t num_probes; /* bits tested per key */
} bloom_shape;

/* How a filter answers. */
typedef enum bloom_reading {
  BLOOM_READ_BITS,      /* by its bits */
  BLOOM_READ_EMPTY,     /* too short to hold a bit: contains nothing */
  BLOOM_READ_NO_PROBES, /* tests no bit: may contain every key */
  BLOOM_READ_RESERVED   /* an encoding not known here: may contain every key */
} bloom_reading;

/* A filter read from bytes, which it borrows: they must outlive it.
** Reading never fails; what cannot be understood may contain every key. */
typedef struct bloom_filter {
  const struct bloom_encoding *encoding; /* NULL if BLOOM_READ_RESERVED */
  const uint8_t *bytes;                  /* may be NULL if num_bytes is 0 */
  size_t num_bytes;                      /* bits and probe byte */
  uint64_t num_bits;                     /* that keys can set; 0 unless understood */
  uint64_t reciprocal;                   /* of num_bits, as the encoding wants it */
  uint32_t num_probes;                   /* 0..30; 0 where there is no probe byte */
  bloom_reading reading;
} bloom_filter;

/* One way of writing a filter as bytes: a row in the list of encodings. */
typedef struct bloom_encoding {
  const char *name;

  /* Reads *filter from bytes.  Returns 0, *filter untouched, if the bytes are
  ** marked as another encoding's. */
  int (*read)(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter);

  /* 1 if a key of this digest may be in *filter, 0 if it surely is not. */
  int (*may_contain)(const bloom_filter *filter, bloom_digest digest);

  /* The same of many digests: answers[i] = may_contain(filter, digests[i]). */
  void (*may_contain_many)(const bloom_filter *filter, const bloom_digest *digests,
                           size_t num_digests, uint8_t *answers);
} bloom_encoding;

/* Reads any num_bytes bytes as a filter.  Always gives a usable *filter. */
void bloom_filter_read(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter);

/* 1 if a key of this digest may be in the filter, 0 if it surely is not.  Not by
** ||, which branches on the answer: 20 ns instead of 12 where it is random. */
static inline int bloom_filter_may_contain(const bloom_filter *filter, bloom_digest digest){
  return filter->encoding ? filter->encoding->may_contain(filter, digest) : 1;
}

/* The shape of a filter that was read as bits. */
static inline bloom_shape bloom_filter_shape(const bloom_filter *filter){
  return (bloom_shape){filter->num_bytes, (uint64_t)(filter->num_bytes-1) * 8, filter->num_probes};
}

/* answers[i] = bloom_filter_may_contain(filter, digests[i]), in batches: several
** times faster, most of all where the filter is larger than a cache. */
void bloom_filter_may_contain_many(const bloom_filter *filter, const bloom_digest *digests,
                                   size_t num_digests, uint8_t *answers);

#endif
