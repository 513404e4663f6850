/*
** assert() states what only a mistake in this code could break, never what an SQL user, a file or
** failing memory can.  It is compiled with -DBLOOM_DEBUG alone, as tests do: a program that bloom
** is compiled into need not define NDEBUG.
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
