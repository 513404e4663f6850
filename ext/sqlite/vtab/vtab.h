/*
** What bloom.c registers: the module behind CREATE VIRTUAL TABLE ... USING bloom(...).  Its
** client data is the connection's, of connection.h.
*/
#ifndef BLOOM_SQLITE_VTAB_H
#define BLOOM_SQLITE_VTAB_H

#include "../source/follow.h"

extern const bloom_module bloom_vtab_module;

/* What the note of a filter begins with that answers "maybe" to every key. */
#define BLOOM_VTAB_SAYS_MAYBE "every key may be in it,"

#endif
