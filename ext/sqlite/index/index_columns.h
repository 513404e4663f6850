/*
** The source's columns.
*/
#ifndef BLOOM_SQLITE_INDEX_COLUMNS_H
#define BLOOM_SQLITE_INDEX_COLUMNS_H

#include "index_int.h"

/* Reads the columns of a table.  SQLITE_ERROR and *error where it has no rowid. */
int bloom_index_columns_read(bloom_index *index, const char *table, index_columns *columns,
                             char **error);
void bloom_index_columns_free(index_columns *columns);

/* The column of this name; -1: there is none. */
int bloom_index_columns_find(const index_columns *columns, const char *name);

/* A column's affinity: 'i'nteger, 'r'eal, 'n'umeric, 't'ext, or 'b'lob, which is none. */
char bloom_index_affinity_of(const char *type);

/* Fails, because SQLite was told other columns than there are; says what cures it. */
int bloom_index_columns_fail(bloom_index *index, char **error);

/* The CREATE TABLE that sqlite3_declare_vtab() takes, to be freed; sets index->command_column. */
char *bloom_index_columns_declaration(bloom_index *index);

/* How the source's columns are, beside those that SQLite was told. */
index_columns_state bloom_index_columns_compare(const index_columns *declared,
                                                const index_columns *now);

#endif
