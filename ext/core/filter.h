/*
** The ground of the core: its vocabulary, what an encoding is, and the path of
** one key from SQL value to bits:
**
**   SQL value  --sqlite/key.h-->                integer or bytes
**   these      --an encoding's hash-->          hash, 32 or 64 bits
**   hash     --an encoding's add or test-->    bits
**
** An encoding is one way of writing a filter as bytes.  Each has a folder beside
** this file (bloomfile/, leveldb/, parquet/) and a row in the list, encodings.c,
** which alone knows them all: no encoding knows another, and nothing here knows the
** list.
** A new encoding is one folder and one row.
**
** The core is pure C11: it knows no SQLite, allocates nothing, keeps no mutable
** state.  Filters are plain bytes; ../FORMATS.md has their layouts.
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

/* The hash value of one key, in its low hash_value_bytes bytes.  Keys with equal
** hashes are one key to a filter. */
typedef uint64_t bloom_hash_value;

/* Hashes in a chain of runs, so that a set can grow without being copied. */
typedef struct bloom_hash_run {
  const struct bloom_hash_run *next; /* NULL ends the chain */
  const void *hashes; /* uint32_t or uint64_t, as the encoding's hash_value_bytes says */
  size_t num_hashes;
} bloom_hash_run;

/* All that the number of keys and the bits per key decide.  Filters of one
** encoding merge when their shapes are equal. */
typedef struct bloom_shape {
  size_t num_bytes;    /* of the whole filter */
  uint64_t num_bits;   /* of its bit array */
  uint64_t num_slots; /* that a hash picks from: LevelDB's bits that probes can
                       ** reach, Parquet's blocks */
  uint32_t num_probes; /* bits tested per key */
} bloom_shape;

/* A filter read from bytes, which it borrows: they must outlive it. */
typedef struct bloom_filter {
  const struct bloom_encoding *encoding; /* never NULL */
  const uint8_t *bytes; /* the whole filter, shape.num_bytes; may be NULL if these are 0 */
  const uint8_t *bits;  /* its bit array, within bytes */
  bloom_shape shape;    /* no places, no probes: as the encoding reads them */
  uint64_t reciprocal;  /* of num_slots, if the encoding wants it */
} bloom_filter;

/* What bloom_info() tells of a filter.  Negative numbers and NULL: there is no
** such thing to tell. */
typedef struct bloom_facts {
  const char *encoding;
  int64_t num_bits;      /* that keys can set */
  int64_t num_probes;
  int64_t bits_set;
  double fill_ratio;     /* bits_set / num_bits */
  double estimated_keys; /* the most likely number of distinct keys */
  double expected_fpr;   /* the false positive rate, 0..1, that the bits set give if probes are independent */
  int64_t num_sets;      /* that have keys, where one filter is of many; rates are the mean over them */
  const char *note;      /* in plain words what is unusual */
} bloom_facts;

/* Nothing to tell. */
static const bloom_facts bloom_no_facts = {NULL, -1, -1, -1, -1, -1, -1, -1, NULL};

#define BLOOM_NO_MAGIC (-1)

/* One way of writing a filter as bytes: a row in the list of encodings. */
typedef struct bloom_encoding {
  const char *name;      /* as SQL writes it */
  uint32_t hash_value_bytes; /* 4 or 8 */

  /* -- Key to hash.  bytes may be NULL if num_bytes is 0. ------------------ */

  bloom_hash_value (*hash_int64)(int64_t key);
  bloom_hash_value (*hash_bytes)(const uint8_t *key, size_t num_bytes);

  /* -- Testing: 1 if the key may be in the filter, 0 if it surely is not ------ */

  int (*may_contain)(const bloom_filter *filter, bloom_hash_value hash);
  /* The same from the key on, so that a row costs one indirect call. */
  int (*may_contain_int64)(const bloom_filter *filter, int64_t key);
  int (*may_contain_bytes)(const bloom_filter *filter, const uint8_t *key, size_t num_bytes);

  /* -- Writing.  An encoding whose filters are not made of keys alone leaves out shape,
  ** clear, add and min_bits_per_key_x10. ---------------------------------------- */

  /* The shape of a filter of num_keys keys (duplicates counted) at bits_per_key
  ** bits each, a finite number > 0.  BLOOM_TOO_BIG, *shape untouched, if its bytes
  ** do not fit in size_t. */
  bloom_status (*shape)(uint64_t num_keys, double bits_per_key, bloom_shape *shape);

  /* Writes a filter without keys to filter[0 .. shape->num_bytes). */
  void (*clear)(const bloom_shape *shape, uint8_t *filter);

  /* Adds the keys of these hashes.  The order does not matter, duplicates change
  ** nothing. */
  void (*add)(const bloom_shape *shape, uint8_t *filter, const bloom_hash_run *runs);

  /* Where add is left out: why, as a message goes on after "the filter is". */
  const char *why_no_add;

  /* Adds all keys of another filter of this shape. */
  void (*merge)(const bloom_shape *shape, uint8_t *filter, const uint8_t *other);

  /* The smallest size, in tenths of a bit per key, 10..1000, at which num_keys keys
  ** have at most this false positive rate, 0 < fpr < 1.  0 if there is none;
  ** *best_fpr, set then only, is a rate that is in reach. */
  uint32_t (*min_bits_per_key_x10)(double fpr, uint64_t num_keys, double *best_fpr);

  /* -- Reading ---------------------------------------------------------------- */

  /* The first byte of every filter, so that others' need not be read to be told apart;
  ** BLOOM_NO_MAGIC if filters begin with any. */
  int magic;

  /* Reads *filter from bytes; *filter is usable, whatever the bytes.  Returns 0,
  ** *filter untouched, if they are not this encoding's. */
  int (*read)(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter);

  /* NULL if keys can be added to the filter, where add is there, and others merged with
  ** it; else what is in the way, as a message goes on after "the filter is". */
  const char *(*readonly_reason)(const bloom_filter *filter);

  /* Tells about a filter; what takes reading its bits only if count_bits. */
  void (*describe)(const bloom_filter *filter, int count_bits, bloom_facts *facts);

  /* The share, 0..1, that the filter accepts of many hashes in no order: the false
  ** positive rate with all that the encoding's probing really costs. */
  double (*measured_fpr)(const bloom_filter *filter);
} bloom_encoding;

/* 1 if filters of these shapes, of one encoding, merge: num_bytes decides num_bits. */
static inline int bloom_shapes_are_equal(const bloom_shape *a, const bloom_shape *b){
  return a->num_bytes==b->num_bytes && a->num_slots==b->num_slots && a->num_probes==b->num_probes;
}

#endif
