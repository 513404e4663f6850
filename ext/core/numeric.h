/*
** The two functions of <math.h> that estimates need, written out here: an extension that
** needs libm would load only where libm is found.
*/
#ifndef BLOOM_CORE_NUMERIC_H
#define BLOOM_CORE_NUMERIC_H

#include <stdint.h>
#include <string.h>

/* e^-x for x >= 0, with a relative error of at most 1e-12; 0 from x = 700 on.  With
** k = x / ln 2, rounded, and r = k ln 2 - x, it is 2^-k * e^r, |r| < 0.35.  It is inline
** and has no branch because sizing calls it some 100,000 times. */
static inline double bloom_exp_minus(double x){
  const double ln2 = 0.69314718055994530942;
  const uint64_t k = (uint64_t)((x<700 ? x : 700) / ln2 + 0.5);
  const uint64_t power_bits = (1023 - k) << 52; /* of 2^-k, IEEE 754 */
  const double r = (double)k * ln2 - x;
  double power, sum = 1;
  int n;
  memcpy(&power, &power_bits, sizeof(power));
  for(n=10; n>0; n--) sum = 1 + r * (1.0 / n) * sum;
  return x<700 ? power * sum : 0;
}

/* ln(whole / part) for 0 < part <= whole < 2^63; precise also where the ratio is close
** to 1. */
double bloom_log_ratio(uint64_t whole, uint64_t part);

#endif
