/*
** What fpr_model.c and sizing.c share: arithmetic of probe 2; sizing.h has its reasons.
*/
#ifndef BLOOM_CORE_FPR_MODEL_H
#define BLOOM_CORE_FPR_MODEL_H

#include "../filter.h"

#define HASHES 4294967296.0 /* 2^32 */

/* Probe 2 takes the values PROBE2_STEP*s - w. */
#define PROBE2_STEP      65537u
#define PROBE2_NUM_STEPS 65536u

/* Below this, values of probe 2 meet in every position: it is like any other probe. */
#define PROBE2_MIN_BITS 65536

/* 1 if probe 2 is treated apart. */
static inline uint32_t has_probe2(const bloom_shape *shape){
  return shape->num_probes>2 && shape->num_bits>=PROBE2_MIN_BITS;
}

static inline uint32_t add_mod_65537(uint32_t a, uint32_t b){
  return a + b - (a + b<PROBE2_STEP ? 0 : PROBE2_STEP);
}

static inline uint32_t multiply_mod_65537(uint32_t a, uint32_t b){
  return (uint32_t)((uint64_t)a * b % PROBE2_STEP);
}

/* 1/x modulo the prime 65537, 0 for 0: x^65535 [Fermat], the product of all
** sixteen powers x^(2^i). */
static inline uint32_t inverse_mod_65537(uint32_t x){
  uint32_t inverse = 1, i;
  for(i=0; i<16; i++, x=multiply_mod_65537(x, x)) inverse = multiply_mod_65537(inverse, x);
  return inverse;
}

static inline double at_most(double number, double most){
  return number<most ? number : most;
}

/* The probability that a key has a hash of its own that resembles neither itself nor a stored one;
** shape->num_bits are reached bits. */
double bloom_fpr_unlike_others(const bloom_shape *shape, double num_keys);

#endif
