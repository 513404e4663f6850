/*
** What bloom.c registers: the module behind CREATE VIRTUAL TABLE ... USING bloom(...).  Its
** client data is the connection's, of connection.h.
**
** SQLite reads xIntegrity, which follows xShadowName, from 3.44 on.  Older headers lack it:
** there it is what comes after the module.
*/
#ifndef BLOOM_SQLITE_VTAB_H
#define BLOOM_SQLITE_VTAB_H

#include "../sqlite_api.h"

typedef struct bloom_module_with_integrity {
  sqlite3_module module;
  int (*integrity)(sqlite3_vtab *, const char *, const char *, int, char **);
} bloom_module_with_integrity;

extern const bloom_module_with_integrity bloom_vtab_module;

#endif
