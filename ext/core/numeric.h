/*
** The two functions of <math.h> that estimates take, written out: a loadable
** extension that needs libm would load only where libm is found.
*/
#ifndef BLOOM_CORE_NUMERIC_H
#define BLOOM_CORE_NUMERIC_H

#include <stdint.h>

/* e^-x for x >= 0, to 1e-11 of it. */
double bloom_exp_minus(double x);

/* ln(whole / part) for 0 < part <= whole < 2^63; exact where the ratio is next to 1. */
double bloom_log_ratio(uint64_t whole, uint64_t part);

#endif
