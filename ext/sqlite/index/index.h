/*
** What bloom.c registers: the module behind CREATE VIRTUAL TABLE ... USING bloom_index(...).
** Its client data is the connection's, of connection.h.
*/
#ifndef BLOOM_SQLITE_INDEX_H
#define BLOOM_SQLITE_INDEX_H

#include "../sqlite_api.h"

extern const bloom_module_with_integrity bloom_index_module;

#endif
