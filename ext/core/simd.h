/*
** Which vector code this build has.  Functions get it by target attributes and are
** chosen at run time: the binary does not depend on the machine that built it.
*/
#ifndef BLOOM_CORE_SIMD_H
#define BLOOM_CORE_SIMD_H

#include <stdint.h>

/* -DBLOOM_NO_SIMD leaves the scalar kernels alone. */
#if defined(__GNUC__) && defined(__x86_64__) && !defined(BLOOM_NO_SIMD)
#define BLOOM_SIMD_X86 1
#else
#define BLOOM_SIMD_X86 0
#endif
#if defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON) && !defined(BLOOM_NO_SIMD)
#define BLOOM_SIMD_NEON 1
#else
#define BLOOM_SIMD_NEON 0
#endif

#endif
