/*
** assert() for what only a mistake in this code could break, never for what a caller or a
** file can.  It costs nothing but in tests, which compile with -DBLOOM_DEBUG: no program that
** bloom is compiled into has to know that it is there.
*/
#ifndef BLOOM_CORE_DEBUG_H
#define BLOOM_CORE_DEBUG_H

#if !defined(BLOOM_DEBUG) && !defined(NDEBUG)
# define NDEBUG 1
#endif
#include <assert.h>
#include <stddef.h>

#ifndef __cplusplus
/* Lengths of 32 bits are cast to size_t throughout. */
_Static_assert(sizeof(size_t)>=4, "sizes have 32 bits");
#endif

#endif
