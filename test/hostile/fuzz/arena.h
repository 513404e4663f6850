/*
** An allocator for SQLite that AddressSanitizer can watch, several times as fast
** as its own: small statements are nearly all malloc().
**
** Blocks of a few sizes come from chunks that are never given back.  A block is
** poisoned but for the bytes that were asked for, and when it is free; a free
** one is not used again before many others of its size were freed.
*/
#ifndef BLOOM_TEST_FUZZ_ARENA_H
#define BLOOM_TEST_FUZZ_ARENA_H

/* Makes SQLite use it; before anything else of SQLite is called. */
void arena_install(void);

/* Allocations that were not freed: a leak makes them grow for ever. */
long arena_num_allocations(void);

#endif
