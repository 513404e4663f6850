/*
** The source, what of it the index knows and notes, and the index's own tables.
*/
#ifndef BLOOM_SQLITE_INDEX_SOURCE_H
#define BLOOM_SQLITE_INDEX_SOURCE_H

#include "index_int.h"

/* -- index_source.c -------------------------------------------------------------------- */

/* In SQL of ours the source is x, and each of its columns is qualified by that: a name that is
** gone is an error then, and never a text. */
#define INDEX_SOURCE "\"%w\".\"%w\" AS x"

/* Returns an indexed column's name, for people. */
const char *bloom_index_key_name(const bloom_index *index, int key);

/* Select the first and the last id; they are formats of the id's name, the schema and the table. */
#define INDEX_FIRST_ID "SELECT min(x.\"%w\") FROM " INDEX_SOURCE
#define INDEX_LAST_ID  "SELECT max(x.\"%w\") FROM " INDEX_SOURCE

/* Sets *first and *last to these ids, if there are rows. */
int bloom_index_source_ids(bloom_index *index, sqlite3_int64 *first, sqlite3_int64 *last);

/* Compiles a SELECT of the id and the indexed columns of rows whose id meets a condition, such as
** "= ?1", in ascending order. */
int bloom_index_source_rows(bloom_index *index, sqlite3_stmt **rows, const char *condition);

/* Reads a table and its columns.  SQLITE_ERROR where it has no rowid; is_strict:
** bloom_source_read(). */
int bloom_index_source_read(bloom_index *index, const char *table, int is_strict,
                            bloom_source *source);

/* Fails, because SQLite was told other columns than there are, and says what cures it. */
int bloom_index_columns_fail(bloom_index *index);

/* What a method needs to know. */
typedef enum index_need {
  INDEX_NEED_PLACE,  /* where the index's tables are */
  INDEX_NEED_SOURCE, /* and the configuration, and the source as it is at this version of the
                     ** schema: all that a query needs */
  INDEX_NEED_CHECK   /* and the source as it is now, whatever the version: of commands */
} index_need;

/* Learns whether texts are UTF-16, which a database is for ever. */
int bloom_index_learn_encoding(bloom_index *index);

/* Begins a method, before any of the index is read or written: nothing below asks again.  Fails
** where index->schema does not name the object's file any more, bloom_database_locate(), or another
** configuration is there than index->config; with index->damage; with SQLITE_ERROR where the table
** is gone, or another column is in the place of one.  Else index->columns, where none were declared
** yet, and index->source are what it finds. */
int bloom_index_begin(bloom_index *index, index_need need);

/* Returns the source's doubt, or, key is not -1, that of an indexed column, with the SQL that cures
** it, to be freed; NULL when out of memory. */
char *bloom_index_doubt_text(const bloom_index *index, int key);

/* Sets *doubt, to be freed, to why 'merge' must not take rows: the source's doubt, or a column's;
** NULL: it may. */
int bloom_index_source_why_not_merge(const bloom_index *index, char **doubt);

/* Makes the triggers on the source, in place of those that there are.  In doubt they are newer than
** the guard, which keeps the index in doubt; where a column is gone there are none then. */
int bloom_index_triggers_make(bloom_index *index, const char *source, int is_in_doubt);
int bloom_index_triggers_drop(bloom_index *index);

/* Fails if something of the user's has a name that the index needs, or is a trigger on
** NAME_changed, which may keep notes out; and names all of it, with the SQL that takes it away.
** tables: names as SQL, which nothing else may have. */
int bloom_index_check_names(bloom_index *index, const char *tables, int is_create);

#define INDEX_NUM_TRIGGERS 5

/* -- index_config.c; of the layout, index_entries.h ------------------------------------ */

/* Finds the columns of index->config, as the arguments name them, among index->columns. */
int bloom_index_config_set(bloom_index *index);

/* Sets index->config to what its columns are now, since their entries are begun anew. */
int bloom_index_config_renew(bloom_index *index);

/* Reads index->config, or sets index->damage. */
int bloom_index_config_read(bloom_index *index);

/* Sets *is_same to whether the database still has what index->config was read from. */
int bloom_index_config_compare(bloom_index *index, int *is_same);
void bloom_index_config_free(index_config *config);

/* -- index_tables.c -------------------------------------------------------------------- */

/* Returns how many tables an index has, without NAME_canary. */
int bloom_index_num_tables(const bloom_index *index);

/* Returns what a column's table is called behind the index's name, its number aside. */
const char *bloom_index_table_suffix(const index_key *key);

/* Finds the tables that a copy without virtual tables left: bits of *left.  *names, to be freed in
** any case, are the others, as SQL.  has_state: a state with a right checksum is there. */
int bloom_index_tables_find_left(bloom_index *index, int has_state, unsigned *left,
                                 char **names);

/* Makes the others, and counts all in *num_made; bloom_index_reset() fills them. */
int bloom_index_tables_create(bloom_index *index, unsigned left, int *num_made);

/* Makes those that an index of bloom 1.2 has not got.  Its tables of blocks stay, empty, until the
** index is dropped. */
int bloom_index_tables_upgrade(bloom_index *index);

/* Drops, by the arguments of CREATE, the first num_tables of them; INT_MAX: all, those of bloom 1.2
** and NAME_canary, too. */
int bloom_index_tables_drop(bloom_index *index, int num_tables);

/* Sets *is_own to whether a table is one of those of the index, data: a bloom_is_own. */
int bloom_index_tables_is_own(const void *data, const char *name, const char *table,
                              const char *sql, int *is_own);

/* Renames those that are there. */
int bloom_index_tables_rename(bloom_index *index, const char *new_name);

/* Makes NAME_canary with its row where rowids are hidden. */
int bloom_index_canary_write(bloom_index *index);

/* Sets *is_same to whether hidden rowids are those that they were; true where there are none. */
int bloom_index_canary_compare(bloom_index *index, int *is_same);

/* The columns of NAME_changed and NAME_canary. */
#define INDEX_CHANGED_COLUMNS "(id INTEGER UNIQUE)"
#define INDEX_CANARY_COLUMN   "moved_by_vacuum"
#define INDEX_CANARY_FORM     "(" INDEX_CANARY_COLUMN ")"

#endif
