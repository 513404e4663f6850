/*
** What bloom.c registers: the module behind CREATE VIRTUAL TABLE ... USING bloom(...).  Its
** client data is the connection's, of connection.h.
*/
#ifndef BLOOM_SQLITE_VTAB_H
#define BLOOM_SQLITE_VTAB_H

#include "../sqlite_api.h"

extern const bloom_module_with_integrity bloom_vtab_module;

#endif
