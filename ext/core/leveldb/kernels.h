/*
** The loops worth vector code, one row of functions per instruction set.
**
**   keys     --hash-->       digests
**   digests  --positions-->  probe positions  --here, in C-->  bits
**
** Setting bits is plain C for every processor (leveldb.c), and so is
** testing them where a processor does not gather well.  Rows differ in speed,
** never in a bit of what they give: kernels_scalar.c is the reference.  A row is
** chosen per call, from what the processor and its system support; a call handles
** many keys.
*/
#ifndef BLOOM_CORE_KERNELS_H
#define BLOOM_CORE_KERNELS_H

#include "../filter.h"

/* The largest num_lanes; every one divides it. */
#define BLOOM_KERNEL_MAX_LANES 16

/* Filters of fewer bytes are not for may_contain(), which reads words. */
#define BLOOM_KERNEL_MIN_BYTES 4

/* -DBLOOM_NO_SIMD leaves the scalar kernels alone. */
#if defined(__GNUC__) && defined(__x86_64__) && !defined(BLOOM_NO_SIMD)
#define BLOOM_KERNELS_X86 1
#else
#define BLOOM_KERNELS_X86 0
#endif
#if defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON) && !defined(BLOOM_NO_SIMD)
#define BLOOM_KERNELS_NEON 1
#else
#define BLOOM_KERNELS_NEON 0
#endif

/*
** x mod num_bits without a division.
** With reciprocal = floor((2^32 - 1) / num_bits) the quotient x * reciprocal / 2^32
** is right or one too small, so that one conditional subtraction is left to do
** [Warren, Hacker's Delight, 10].  From 2^32 bits on positions are the probes
** themselves: both members are 0, and x stays x.
*/
typedef struct bloom_divisor {
  uint32_t num_bits;
  uint32_t reciprocal;
} bloom_divisor;

/* num_bits > 0. */
static inline bloom_divisor bloom_divisor_of(uint64_t num_bits){
  bloom_divisor divisor = {0, 0};
  if( num_bits<=UINT32_MAX ){
    divisor.num_bits = (uint32_t)num_bits;
    divisor.reciprocal = UINT32_MAX / divisor.num_bits;
  }
  return divisor;
}

static inline uint32_t bloom_mod(uint32_t x, bloom_divisor divisor){
  const uint32_t quotient = (uint32_t)((uint64_t)x * divisor.reciprocal >> 32);
  const uint32_t rest = x - quotient * divisor.num_bits;
  const uint32_t less = rest - divisor.num_bits;
  return rest<less ? rest : less; /* less wraps around if rest < num_bits */
}

/* Double hashing: one digest drives every probe [Kirsch, Mitzenmacher 2006]. */
static inline uint32_t bloom_probe_delta(bloom_digest digest){
  return digest >> 17 | digest << 15;
}

/* The positions begin .. begin+num_bits-1, what one pass over the digests sets;
** num_bits > 0, begin + num_bits at most 2^32. */
typedef struct bloom_part {
  uint32_t begin;
  uint32_t num_bits;
} bloom_part;

static inline uint32_t bloom_is_in(uint32_t position, bloom_part part){
  return position - part.begin < part.num_bits; /* below begin it wraps around */
}

typedef struct bloom_kernels {
  const char *name;
  uint32_t num_lanes; /* digests side by side in what positions() gives: 1 to 16 */

  /* Filters of more bytes are written part after part.  A pass costs
  ** positions_in() of all digests and saves misses, so a row with a faster one
  ** takes smaller parts; 8 MB, 2,048 pages, is what a large TLB reaches, and
  ** hardly slower than what an L2 holds. */
  uint32_t max_part_bytes;

  /* 1 if this processor and its system run these kernels. */
  int (*is_supported)(void);

  /* The digests of num_keys keys. */
  void (*hash)(const bloom_span *keys, size_t num_keys, bloom_digest *digests);

  /* The positions of probes first_probe .. first_probe+num_probes-1 of each
  ** digest: lanes of digests side by side, one probe after the other, then the
  ** next lanes.  num_digests is a multiple of BLOOM_KERNEL_MAX_LANES. */
  void (*positions)(bloom_divisor divisor, uint32_t first_probe, uint32_t num_probes,
                    const bloom_digest *digests, size_t num_digests, uint32_t *positions);

  /* Those of the positions of probes 0 .. num_probes-1 that lie in part, in the
  ** same order; gives their number.  positions[] has room for all of them. */
  size_t (*positions_in)(bloom_part part, bloom_divisor divisor, uint32_t num_probes,
                         const bloom_digest *digests, size_t num_digests, uint32_t *positions);

  /* answers[i] = 1 if the filter, which is read by its bits and has at least
  ** BLOOM_KERNEL_MIN_BYTES, may contain digests[i], else 0.  NULL where testing
  ** what positions() gives is faster. */
  void (*may_contain)(const bloom_filter *filter, const bloom_digest *digests, size_t num_digests,
                      uint8_t *answers);
} bloom_kernels;

extern const bloom_kernels bloom_kernels_scalar;
#if BLOOM_KERNELS_X86
extern const bloom_kernels bloom_kernels_avx2;
extern const bloom_kernels bloom_kernels_avx512;
#endif
#if BLOOM_KERNELS_NEON
extern const bloom_kernels bloom_kernels_neon;
#endif

/* hash() of rows where vector code does not pay. */
void bloom_hash_each(const bloom_span *keys, size_t num_keys, bloom_digest *digests);

/* Every row of this build, the fastest first, the scalar one last; NULL ends. */
extern const bloom_kernels *const bloom_all_kernels[];

/* The fastest row that is supported. */
const bloom_kernels *bloom_best_kernels(void);

/* The same of any such list: its first row that is supported, or its last. */
const bloom_kernels *bloom_kernels_among(const bloom_kernels *const *row);

#endif
