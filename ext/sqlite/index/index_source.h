/*
** The source table of an index, its triggers, the configuration, and the index's own tables.
*/
#ifndef BLOOM_SQLITE_INDEX_SOURCE_H
#define BLOOM_SQLITE_INDEX_SOURCE_H

#include "index_int.h"

/* -- index_source.c -------------------------------------------------------------------- */

/* Our SQL calls the source x, and writes each column as x."column": one that is gone is an error
** then, and never a text. */
#define INDEX_SOURCE "\"%w\".\"%w\" AS x"

/* Returns an indexed column's name now, or, if it is gone, the recorded one. */
const char *bloom_index_key_name(const bloom_index *index, int key);

/* The SELECT of the last id: a format of the id's name, the schema and the table. */
#define INDEX_LAST_ID "SELECT max(x.\"%w\") FROM " INDEX_SOURCE

/* Sets *last to the last id, where it is not hidden by an authorizer and the source has rows. */
int bloom_index_last_id(bloom_index *index, sqlite3_int64 *last);

/* Compiles a SELECT of the id and the indexed columns of rows whose id meets a condition, such as
** "= ?1", in ascending order. */
int bloom_index_source_rows(bloom_index *index, sqlite3_stmt **rows, const char *condition);

/* Reads a table by bloom_source_read(); is_create: strictly, and refuses a shadow table.
** SQLITE_ERROR also where the rowid has no name. */
int bloom_index_source_read(bloom_index *index, const char *table, int is_create,
                            bloom_source *source);

/* Fails because the source has other columns than SQLite was told, and says what tells it. */
int bloom_index_columns_fail(bloom_index *index);

/* What a method needs to know. */
typedef enum index_need {
  INDEX_NEED_PLACE,  /* where the index's tables are */
  INDEX_NEED_SOURCE, /* and the configuration, and the source as it is at this version of the
                     ** schema: all that a query needs */
  INDEX_NEED_CHECK   /* and the source as it is now, whatever the version: of commands */
} index_need;

/* Sets index->letter_bytes.  The encoding of a database never changes. */
int bloom_index_learn_encoding(bloom_index *index);

/* Begins a method, before any of the index is read or written, so that nothing below asks again.
** Sets index->columns, where none were declared yet, and index->source.  Fails by
** bloom_database_locate(), or where the file has another configuration than index->config; where
** index->damage is set; with SQLITE_ERROR where the source is gone, or has another column in the
** place of one. */
int bloom_index_begin(bloom_index *index, index_need need);

/* Returns the doubt of the source, or, if key is not -1, that of an indexed column, with the SQL
** that cures it, to be freed; NULL when out of memory. */
char *bloom_index_doubt_text(const bloom_index *index, int key);

/* Sets *doubt, to be freed, to why 'merge' must not take rows: the text of the source's doubt, or
** of a column's; NULL if it may. */
int bloom_index_source_why_not_merge(const bloom_index *index, char **doubt);

/* Makes the triggers on the source, in place of those that there are; none where a column is gone.
** is_in_doubt: the guard comes first, so that the doubt stays. */
int bloom_index_triggers_make(bloom_index *index, int is_in_doubt);
int bloom_index_triggers_drop(bloom_index *index);

/* Fails by bloom_obstacles_refuse() if something of the user's has a name that the index needs, or
** is a trigger on NAME_changed, which may keep notes out.  tables: names as SQL, which nothing may
** have. */
int bloom_index_check_names(bloom_index *index, const char *tables, int is_create);

/* -- index_config.c; of the layout, index_entries.h ------------------------------------ */

/* Sets index->config to what its columns are now, before their entries are made anew. */
int bloom_index_config_renew(bloom_index *index);

/* Reads index->config, or sets index->damage. */
int bloom_index_config_read(bloom_index *index);

/* Sets *is_same to whether the file has the configuration that index->config is. */
int bloom_index_config_compare(bloom_index *index, int *is_same);
void bloom_index_config_free(index_config *config);

/* -- index_tables.c -------------------------------------------------------------------- */

/* Returns how many tables an index has, without NAME_canary. */
int bloom_index_num_tables(const bloom_index *index);

/* Sets the bits in *left of the tables that a copy without virtual tables left, and *names, to be
** freed in any case, to the names of the others, as SQL.  has_state: a state with a right checksum
** is there. */
int bloom_index_tables_find_left(bloom_index *index, int has_state, unsigned *left,
                                 char **names);

/* Makes the others, and counts in *num_made all that are there.  bloom_index_reset() fills them. */
int bloom_index_tables_create(bloom_index *index, unsigned left, int *num_made);

/* Returns the names of the tables that an index of bloom 1.2 lacks, as a list in SQL, to be freed;
** NULL if there is no memory. */
char *bloom_index_tables_lacked(const bloom_index *index);

/* Makes the tables that an index of bloom 1.2 lacks, and empties its tables of blocks, which stay
** until the index is dropped. */
int bloom_index_tables_upgrade(bloom_index *index);

/* Drops the first num_tables of the tables that the arguments of CREATE ask for; INT_MAX: all, with
** NAME_canary and those of bloom 1.2. */
int bloom_index_tables_drop(bloom_index *index, int num_tables);

/* Returns 1 if a table is one of those of the index, data: a follower's is_own_table. */
int bloom_index_tables_is_own(const void *data, const char *suffix, const char *columns);

/* Renames the tables that are there. */
int bloom_index_tables_rename(bloom_index *index, const char *new_name);

/* Makes NAME_canary with its row, if rowids are hidden. */
int bloom_index_canary_write(bloom_index *index);

/* Sets *is_same to whether hidden rowids are as they were; 1 where rowids are not hidden. */
int bloom_index_canary_compare(bloom_index *index, int *is_same);

/* The column of NAME_canary. */
#define INDEX_CANARY_FORM "(moved_by_vacuum)"

#endif
