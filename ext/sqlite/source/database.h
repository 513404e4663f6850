/*
** Which database an object of a virtual table means.
**
** Its name is a hint.  With a shared cache SQLite keeps the object while a file is detached, and
** uses it again when the file is attached by another name.  sqlite3_deserialize() puts another
** file under statements that are compiled: they mean the new one from then on, while statements
** that are compiled later, and have the same object, mean the file that it was made for.
*/
#ifndef BLOOM_SQLITE_SOURCE_DATABASE_H
#define BLOOM_SQLITE_SOURCE_DATABASE_H

#include "sql.h"

/* SQLite's object of the file that is open by a database's name, NULL if there is none. */
void *bloom_database_file(sqlite3 *db, const char *schema);

/* What an object's name is, as far as is known. */
typedef enum bloom_database_state {
  BLOOM_DATABASE_SAME,     /* that of the file which the object was made for */
  BLOOM_DATABASE_REPLACED, /* that of the file which sqlite3_deserialize() put in its place */
  BLOOM_DATABASE_UNSURE    /* statements of one name or another may mean the object */
} bloom_database_state;

/* Sees to it that *schema, to be freed, is the name of the database that is meant, before any of
** it is read or written.  file: the one that the object was made for, never another.
** *is_changed: nothing that was read before counts.  SQLITE_NOTFOUND where the file has no name any
** more, or another may be meant as well; else SQLITE_OK or SQLite's error. */
int bloom_database_locate(
  bloom_connection *connection, char **schema, const void *file, bloom_database_state *state,
  int *is_changed
);

/* 1 if a statement that was checked when it was compiled may run over another file since. */
int bloom_database_may_be_swapped(sqlite3 *db, const char *schema);

/* 1 if this SQLite locks the schema while it calls xBestIndex, so that statements may run there.
** Others read it anew where such a statement notices a change, under the one that is being
** compiled. */
static inline int bloom_can_read_in_best_index(void){
  return sqlite3_libversion_number()>=3038002;
}

#endif
