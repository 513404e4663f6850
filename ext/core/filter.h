/*
** What every file of the core builds on: its vocabulary, what an encoding is, and the path of one
** key from SQL value to bits:
**
**   SQL value          --sqlite/key.h-->               integer or bytes
**   integer or bytes   --an encoding's hash-->         hash, 32 or 64 bits
**   hash               --an encoding's add or test-->  bits
**
** An encoding is one way of writing a filter as bytes; ../FORMATS.md has the layouts.  Each has a
** folder beside this file and a row in the list of encodings.c, the only file that knows them: no
** encoding knows another.  The core is pure C11: it does not know SQLite, allocates nothing, and
** keeps no mutable state.
*/
#ifndef BLOOM_CORE_FILTER_H
#define BLOOM_CORE_FILTER_H

#include <stddef.h>
#include <stdint.h>

/* Result of a core function that can fail. */
typedef enum bloom_status {
  BLOOM_OK = 0,
  BLOOM_TOO_BIG /* a size does not fit in size_t */
} bloom_status;

/* The hash value of one key, in the low hash_value_bytes bytes. */
typedef uint64_t bloom_hash_value;

/* Hashes in a chain of runs, so that a set can grow without being copied. */
typedef struct bloom_hash_run {
  const struct bloom_hash_run *next; /* NULL ends the chain */
  const void *hashes; /* uint32_t or uint64_t, as the encoding's hash_value_bytes says */
  size_t num_hashes;
} bloom_hash_run;

/* The sizes that follow from the number of keys and the bits per key.  Filters of one encoding can
** be merged if their shapes are equal. */
typedef struct bloom_shape {
  size_t num_bytes;    /* of the whole filter */
  uint64_t num_bits;   /* of its bit array */
  uint64_t num_slots;  /* that a hash picks from: LevelDB's bits that probes can reach, Parquet's
                       ** blocks, a BloomFile's units */
  uint32_t num_probes; /* bits tested per key */
} bloom_shape;

/* Scans of large filters look for an interrupt after so many bytes, which take a few ms at most. */
#define BLOOM_STEP_BYTES ((size_t)1 << 19)

typedef struct bloom_interrupt {
  int (*is_interrupted)(void *data);
  void *data;
} bloom_interrupt;

/* A filter that was read from bytes.  It borrows them: they must outlive it. */
typedef struct bloom_filter {
  const struct bloom_encoding *encoding; /* never NULL */
  const uint8_t *bytes; /* the whole filter, shape.num_bytes; may be NULL if that is 0 */
  const uint8_t *bits;  /* its bit array, within bytes */
  bloom_shape shape;    /* 0 slots or 0 probes mean what the encoding says */
  uint64_t reciprocal;  /* of num_slots, if the encoding needs it */
  /* Polled by functions that read the whole filter; NULL: never interrupted. */
  const bloom_interrupt *interrupt;
} bloom_filter;

/* Returns 1 if a scan of the filter must end; its result is of no use then. */
static inline int bloom_is_stopped(const bloom_filter *filter){
  return filter->interrupt && filter->interrupt->is_interrupted(filter->interrupt->data);
}

/* What bloom_info() says about a filter.  Negative or NULL: it does not apply, or is unknown. */
typedef struct bloom_facts {
  const char *encoding;
  int64_t num_bits;      /* that keys can set */
  int64_t num_probes;
  int64_t bits_set;
  double fill_ratio;     /* bits_set / num_bits */
  double estimated_keys; /* the most likely number of distinct keys */
  double expected_fpr;   /* the false positive rate, 0..1, that follows from bits_set */
  int64_t num_sets;      /* a BloomFile's sets that have keys; rates are the mean over them */
  const char *note;      /* a warning in plain words, or NULL */
} bloom_facts;

static const bloom_facts bloom_no_facts = {NULL, -1, -1, -1, -1, -1, -1, -1, NULL};

#define BLOOM_NO_MAGIC (-1)

/* The sizes that a rate may lead to, in tenths of a bit per key. */
#define BLOOM_MIN_TENTH_BITS 10
#define BLOOM_MAX_TENTH_BITS 1000

/* The number of hashes that bloom_measured_fpr() tests, at most. */
#define BLOOM_FPR_SAMPLE 131072

/* Above this fill bloom_info()'s note warns. */
#define BLOOM_NEARLY_SATURATED 0.75

/* One way of writing a filter as bytes: a row in the list of encodings. */
typedef struct bloom_encoding {
  const char *name;          /* as SQL writes it, in small letters */
  uint32_t hash_value_bytes; /* 4 or 8 */

  /* -- Key to hash.  bytes may be NULL if num_bytes is 0. ------------------------------------ */

  bloom_hash_value (*hash_int64)(int64_t key);
  bloom_hash_value (*hash_bytes)(const uint8_t *key, size_t num_bytes);

  /* -- Testing: 1 if the key may be in the filter, 0 if it surely is not --------------------- */

  int (*may_contain)(const bloom_filter *filter, bloom_hash_value hash);

  /* -- Writing: shape, clear and add are NULL if filters need more than keys ----------------- */

  /* The shape of a filter for num_keys keys (duplicates counted) at bits_per_key bits
  ** each, a finite number > 0.  BLOOM_TOO_BIG, with *shape untouched, if the filter's
  ** bytes do not fit in size_t. */
  bloom_status (*shape)(uint64_t num_keys, double bits_per_key, bloom_shape *shape);

  /* Writes a filter without keys to filter[0 .. shape->num_bytes). */
  void (*clear)(const bloom_shape *shape, uint8_t *filter);

  /* Adds the keys that have these hashes.  Neither their order nor duplicates matter. */
  void (*add)(const bloom_shape *shape, uint8_t *filter, const bloom_hash_run *runs);

  /* Why add is NULL, as the end of a message that begins with "the filter is". */
  const char *why_no_add;

  /* The smallest size, in tenths of a bit per key, 10..1000, at which a filter of
  ** num_keys keys has at most this false positive rate, 0 < fpr < 1.  Returns 0 if there
  ** is none, and only then sets *best_fpr to a rate that can be reached. */
  uint32_t (*min_bits_per_key_x10)(double fpr, uint64_t num_keys, double *best_fpr);

  /* -- Reading ------------------------------------------------------------------------------- */

  /* The first byte of every filter; BLOOM_NO_MAGIC if it may be any. */
  int magic;

  /* Reads *filter from bytes and returns 1; *filter is usable, whatever the bytes.
  ** Returns 0, with *filter untouched, if the bytes are not of this encoding. */
  int (*read)(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter);

  /* Returns 1 if bytes begin with a complete header of this encoding, whatever it states: those
  ** that read() does not take are damaged then.  NULL if magic is BLOOM_NO_MAGIC. */
  int (*has_header)(const uint8_t *bytes, size_t num_bytes);

  /* NULL if the filter can be merged with others and, where the encoding has add(), keys can be
  ** added to it; else why not, as the end of that message.  No function: all filters can. */
  const char *(*readonly_reason)(const bloom_filter *filter);

  /* Describes a filter.  Sets facts that depend on the bits only if count_bits is 1. */
  void (*describe)(const bloom_filter *filter, int count_bits, bloom_facts *facts);

  /* Return what bloom_measured_fpr() is to return, and how many hashes that tests.  NULL: the share
  ** of BLOOM_FPR_SAMPLE hashes that may_contain() accepts. */
  double (*measured_fpr)(const bloom_filter *filter);
  uint64_t (*num_tried)(const bloom_filter *filter);
} bloom_encoding;

/* Returns 1 if filters of these shapes, of one encoding, can be merged.  num_bits need not be
** compared: it follows from num_bytes. */
static inline int bloom_shapes_are_equal(const bloom_shape *a, const bloom_shape *b){
  return a->num_bytes==b->num_bytes && a->num_slots==b->num_slots && a->num_probes==b->num_probes;
}

/* Returns the number of bits set in num_bytes bytes. */
uint64_t bloom_count_bits(const uint8_t *bytes, size_t num_bytes);

/* Counts the bits set in the first num_bytes bytes of a filter's bit array.  Returns 0 if the
** filter's interrupt stopped it, else 1. */
int bloom_count_filter_bits(const bloom_filter *filter, size_t num_bytes, uint64_t *bits_set);

/* Adds all keys of another filter, whose encoding and shape filter has.  Returns 0 if other's
** interrupt stopped it half-way, else 1. */
int bloom_merge_filter(uint8_t *filter, const bloom_filter *other);

/* Returns the share, 0..1, of many hashes without a pattern that the filter accepts: the real false
** positive rate, with all weaknesses of the encoding's probing. */
double bloom_measured_fpr(const bloom_filter *filter);

#endif
