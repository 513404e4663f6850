/*
** Which vector code this build has.  Vector functions have target attributes and are
** chosen at run time, so the binary does not depend on the machine that built it.
*/
#ifndef BLOOM_CORE_SIMD_H
#define BLOOM_CORE_SIMD_H

#include <stdint.h>

/* With -DBLOOM_NO_SIMD there are the scalar kernels only. */
#if defined(__GNUC__) && defined(__x86_64__) && !defined(BLOOM_NO_SIMD)
#define BLOOM_SIMD_X86 1
#else
#define BLOOM_SIMD_X86 0
#endif

#endif
