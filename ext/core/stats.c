/*
** What a filter's bits tell about it.  The two functions of <math.h> that this
** takes are written out: a loadable extension that needs libm would load only
** where libm is found.
*/
#include "stats.h"

#include <string.h>

/* 2^32 / golden ratio: its multiples spread evenly [Knuth, TAOCP 3, 6.4]. */
#define GOLDEN_RATIO_STEP 0x9e3779b1u

/* Digests asked for at once; the sample is a multiple. */
#define FPR_BATCH ((size_t)1024)

/* Words counted before their sums, at most 8 a byte each, could overflow a byte. */
#define POPCOUNT_WORDS ((size_t)31)

static inline uint64_t load_word(const uint8_t *p, size_t num_bytes){
  uint64_t word = 0;
  memcpy(&word, p, num_bytes);
  return word;
}

/* The bits set in each byte of x. */
static inline uint64_t popcount_bytes(uint64_t x){
  x -= (x >> 1) & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
  return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

/* The sum of x's bytes, which may be up to 255 each. */
static inline uint64_t sum_of_bytes(uint64_t x){
  x = (x & 0x00ff00ff00ff00ffu) + ((x >> 8) & 0x00ff00ff00ff00ffu);
  return (x * 0x0001000100010001u) >> 48;
}

uint64_t bloom_bits_set(const bloom_filter *filter){
  size_t num_bytes = (size_t)(filter->num_bits / 8);
  const uint8_t *p = filter->bytes;
  uint64_t bits_set = 0;
  uint64_t sums;
  size_t i;
  /* No multiplication within: compilers make vector code of this loop. */
  for(; num_bytes>=8*POPCOUNT_WORDS; p+=8*POPCOUNT_WORDS, num_bytes-=8*POPCOUNT_WORDS){
    for(sums=0, i=0; i<POPCOUNT_WORDS; i++) sums += popcount_bytes(load_word(p + 8*i, 8));
    bits_set += sum_of_bytes(sums);
  }
  for(; num_bytes>=8; p+=8, num_bytes-=8) bits_set += sum_of_bytes(popcount_bytes(load_word(p, 8)));
  if( num_bytes ) bits_set += sum_of_bytes(popcount_bytes(load_word(p, num_bytes)));
  return bits_set;
}

/* ln(whole / part) for 0 < part <= whole < 2^63: halve the ratio below 2, then
** ln(x) = 2 atanh((x-1)/(x+1)); its argument is at most 1/3 and it is exact
** where the ratio is next to 1. */
static double log_ratio(uint64_t whole, uint64_t part){
  const double ln2 = 0.69314718055994530942;
  double halvings = 0;
  double z, z2, power, sum = 0;
  int n;
  for(; part<=whole/2; part*=2) halvings++;
  z = (double)(whole - part) / ((double)whole + (double)part);
  z2 = z * z;
  power = z;
  for(n=1; n<35; n+=2, power*=z2) sum += power / n;
  return 2 * sum + halvings * ln2;
}

double bloom_estimated_keys(uint64_t num_bits, uint32_t num_probes, uint64_t bits_set){
  return (double)num_bits / num_probes * log_ratio(num_bits, num_bits - bits_set);
}

double bloom_expected_fpr(const bloom_filter *filter, uint64_t bits_set){
  double fill_ratio, fpr = 1;
  uint32_t i;
  if( filter->reading==BLOOM_READ_EMPTY ) return 0;
  if( filter->reading!=BLOOM_READ_BITS ) return 1;
  fill_ratio = (double)bits_set / (double)filter->num_bits;
  for(i=0; i<filter->num_probes; i++) fpr *= fill_ratio;
  return fpr;
}

double bloom_measured_fpr(const bloom_filter *filter){
  bloom_digest digests[FPR_BATCH];
  uint8_t answers[FPR_BATCH];
  bloom_digest digest = 0;
  uint32_t accepted = 0;
  size_t asked, i;
  for(asked=0; asked<BLOOM_FPR_SAMPLE; asked+=FPR_BATCH){
    for(i=0; i<FPR_BATCH; i++, digest+=GOLDEN_RATIO_STEP) digests[i] = digest;
    bloom_filter_may_contain_many(filter, digests, FPR_BATCH, answers);
    for(i=0; i<FPR_BATCH; i++) accepted += answers[i];
  }
  return (double)accepted / BLOOM_FPR_SAMPLE;
}
