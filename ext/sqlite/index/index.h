/*
** What bloom.c registers: the module behind CREATE VIRTUAL TABLE ... USING bloom_index(...).
** Its client data is the connection's, of connection.h.
*/
#ifndef BLOOM_SQLITE_INDEX_H
#define BLOOM_SQLITE_INDEX_H

#include "../source/follow.h"
#include "../tvf.h"

extern const bloom_module bloom_index_module;

/* bloom_index_list(list): the values of a list that the module itself binds; none for others. */
extern const bloom_tvf bloom_index_list_tvf;

/* bloom_index_info(name [, database]): the state of a virtual table of either kind. */
extern const bloom_tvf bloom_index_info_tvf;

#endif
