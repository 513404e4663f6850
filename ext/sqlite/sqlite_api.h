/*
** SQLite's interface, as every file of this folder sees it: through the table
** of pointers that .load hands over, or directly where linked statically.
*/
#ifndef BLOOM_SQLITE_API_H
#define BLOOM_SQLITE_API_H

#ifdef SQLITE_CORE
# include <sqlite3.h>
#else
# include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#endif

#endif
