/*
** Numbers that several encodings need.  The two functions of <math.h> are written out here:
** an extension that needs libm would load only where libm is found.
*/
#ifndef BLOOM_CORE_NUMERIC_H
#define BLOOM_CORE_NUMERIC_H

#include <stdint.h>
#include <string.h>
#include "debug.h"

/* 2^64 divided by the golden ratio: its multiples spread evenly [Knuth, TAOCP 3, 6.4]. */
#define BLOOM_GOLDEN_RATIO 0x9e3779b97f4a7c15u

/* Returns bits_per_key * 0.69 rounded down, in 1..30; 0.69 =~ ln 2. Source: LevelDB
** util/bloom.cc, BloomFilterPolicy(). */
static inline uint32_t bloom_num_probes(double bits_per_key){
  const double num_probes = bits_per_key * 0.69;
  assert( bits_per_key>0 );
  return num_probes<1 ? 1 : num_probes>30 ? 30 : (uint32_t)num_probes;
}

/* Returns the whole bits per key, 1..100, below which no filter has this rate, except one of few
** keys, whose size is rounded up.  n bits per key reach 0.6185^n at best, with independent probes
** of the best number.  The models may err by a tenth of the rate. */
static inline uint32_t bloom_least_bits_per_key(double fpr){
  double reached = 0.6185;
  uint32_t least = 1;
  assert( fpr>0 && fpr<1 );
  for(; reached*0.6185>=fpr*1.1 && least<100; least++) reached *= 0.6185;
  return least;
}

/* Returns the number of zeros below the lowest set bit of x, which is not 0. */
static inline uint32_t bloom_num_low_zeros64(uint64_t x){
#if defined(__GNUC__)
  assert( x!=0 );
  return (uint32_t)__builtin_ctzll(x);
#else
  uint32_t num_zeros = 0;
  assert( x!=0 );
  for(; (x & 1)==0; x>>=1) num_zeros++;
  return num_zeros;
#endif
}

/* Returns the number of bits set in each byte of x, in that byte. */
static inline uint64_t bloom_popcount_bytes(uint64_t x){
  x -= (x >> 1) & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
  return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

static inline uint64_t bloom_rotate_left64(uint64_t x, int num_bits){
  assert( num_bits>0 && num_bits<64 );
  return x << num_bits | x >> (64 - num_bits);
}

/* Returns x mixed, so that each bit depends on all bits: the last steps of XXH64, a bijection.
** Source: xxHash, doc/xxhash_spec.md. */
static inline uint64_t bloom_mix64(uint64_t x){
  x = (x ^ x >> 33) * 0xc2b2ae3d27d4eb4fu;
  x = (x ^ x >> 29) * 0x165667b19e3779f9u;
  return x ^ x >> 32;
}

/* Returns the i-th of hashes that have no pattern in common with those of keys: SplitMix64
** [Steele, Lea, Flood 2014]. */
static inline uint64_t bloom_sample_hash(uint64_t i){
  i *= BLOOM_GOLDEN_RATIO;
  i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
  i = (i ^ i >> 27) * 0x94d049bb133111ebu;
  return i ^ i >> 31;
}

/* Returns e^-x for x >= 0, with a relative error of at most 1e-12; 0 from x = 700 on.  With k = x
** / ln 2, rounded, and r = k ln 2 - x, it is 2^-k * e^r, |r| < 0.35. */
static inline double bloom_exp_minus(double x){
  const double ln2 = 0.69314718055994530942;
  const uint64_t k = (uint64_t)((x<700 ? x : 700) / ln2 + 0.5);
  const uint64_t power_bits = (1023 - k) << 52; /* of 2^-k, IEEE 754 */
  const double r = (double)k * ln2 - x;
  double power, sum = 1;
  int n;
  assert( x>=0 );
  memcpy(&power, &power_bits, sizeof(power));
  for(n=10; n>0; n--) sum = 1 + r * (1.0 / n) * sum;
  return x<700 ? power * sum : 0;
}

/* Returns ln(whole / part) for 0 < part <= whole < 2^63; precise also where the ratio is close to
** 1. */
static inline double bloom_log_ratio(uint64_t whole, uint64_t part){
  const double ln2 = 0.69314718055994530942;
  double halvings = 0;
  double z, z2, power, sum = 0;
  int n;
  assert( part>0 && part<=whole && whole>>63==0 );
  /* Halve the ratio below 2, then ln(x) = 2 atanh((x-1)/(x+1)): its argument is at
  ** most 1/3. */
  for(; part<=whole/2; part*=2) halvings++;
  z = (double)(whole - part) / ((double)whole + (double)part);
  z2 = z * z;
  power = z;
  for(n=1; n<35; n+=2, power*=z2) sum += power / n;
  return 2 * sum + halvings * ln2;
}

#endif
