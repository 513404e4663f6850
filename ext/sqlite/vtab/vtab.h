/*
** What bloom.c registers: the module behind CREATE VIRTUAL TABLE ... USING bloom(...).
*/
#ifndef BLOOM_SQLITE_VTAB_H
#define BLOOM_SQLITE_VTAB_H

#include "../sqlite_api.h"

/* Each connection has data of its own for it.
** SQLite reads xIntegrity, which follows xShadowName, from 3.44 on.  Older headers lack it:
** there it is what comes after the module. */
typedef struct bloom_module_with_integrity {
  sqlite3_module module;
  int (*integrity)(sqlite3_vtab *, const char *, const char *, int, char **);
} bloom_module_with_integrity;

extern const bloom_module_with_integrity bloom_vtab_module;
void *bloom_vtab_connection_new(void);
void bloom_vtab_connection_free(void *data);

#endif
