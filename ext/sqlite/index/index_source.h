/*
** The source as it is now, and whether blocks can be believed.
*/
#ifndef BLOOM_SQLITE_INDEX_SOURCE_H
#define BLOOM_SQLITE_INDEX_SOURCE_H

#include "index_int.h"

/* In SQL of ours the source is x, and each of its columns is qualified by that: a name that is
** gone is an error then, and never a text. */
#define INDEX_SOURCE "\"%w\".\"%w\" AS x"

/* Appends an indexed column, or NULL if it is gone; its name for people. */
void bloom_index_append_key(const bloom_index *index, sqlite3_str *sql, int key);
const char *bloom_index_key_name(const bloom_index *index, int key);

/* The first and the last id of the source: of its id, its schema and its name. */
#define INDEX_FIRST_ID "SELECT min(x.\"%w\") FROM " INDEX_SOURCE
#define INDEX_LAST_ID  "SELECT max(x.\"%w\") FROM " INDEX_SOURCE

/* Sets both, if there are rows. */
int bloom_index_source_ids(bloom_index *index, sqlite3_int64 *first, sqlite3_int64 *last);

/* Fails, as the table cannot be used for what index->damage says. */
int bloom_index_fail_damaged(bloom_index *index);

/* The source as it is now. */
typedef struct index_source {
  char *name;  /* what it is called, NULL if it is gone */
  char *doubt; /* NULL, or why blocks cannot be believed: the whole source is read then */
  int is_by_trigger_alone; /* nothing is damaged: the doubt is about a trigger of the user's */
  int has_tables;  /* those of the index are there, as tables: else no command can run */
} index_source;

/* Looks at triggers and columns, which it takes where none were declared yet.  SQLITE_OK;
** SQLITE_ERROR with *error where there is no such table any more, or another column in the place
** of one. bloom_index_source_free() is for the caller. */
int bloom_index_source_check(bloom_index *index, index_source *source, char **error);
void bloom_index_source_free(index_source *source);

/* Sets *doubt for queries, which need no more; it belongs to the index.  The source is looked at
** once for each version of the schema. */
int bloom_index_source_doubt(bloom_index *index, const char **doubt, char **error);

/* Why 'merge' must not take rows: the doubt, or that of a column, to be freed; *doubt is NULL if
** there is none. */
int bloom_index_source_why_not_merge(const bloom_index *index, const index_source *source,
                                     char **doubt);

/* Sees to it that index->schema is the name of the index's database, and index->config what the
** index there was made with, before any of it is read or written.  SQLITE_ERROR and zErrMsg if
** that cannot be.  The first does not look at the config. */
int bloom_index_locate_database(bloom_index *index);
int bloom_index_locate(bloom_index *index);

#endif
