/*
** The triggers by which a virtual table follows its source.
**
** SQLite keeps their text true when tables and columns are renamed, and guards it by
** trusted_schema.  They are found by what they do: their bodies begin in one way, which names
** the virtual table or a shadow table of it.
**
** The guard trigger does nothing.  It is made last, on a table that is bloom's own, but no
** shadow table: defensive connections refuse a schema that has a trigger on one.  A source that was
** made again, triggers put back from their text, has triggers that come after the guard in
** sqlite_schema, by rowid: VACUUM and ALTER keep that order.
*/
#ifndef BLOOM_SQLITE_SOURCE_TRIGGERS_H
#define BLOOM_SQLITE_SOURCE_TRIGGERS_H

#include "sql.h"

typedef struct bloom_trigger {
  char *name;
  char *table;         /* that it is on */
  char *sql;
  sqlite3_int64 order; /* sqlite_schema.rowid */
} bloom_trigger;

typedef struct bloom_triggers {
  bloom_trigger *rows; /* in the order of sqlite_schema */
  int num_rows, max_rows;
} bloom_triggers;

/* Reads all triggers on a table.  bloom_triggers_free() is for the caller in any case. */
int bloom_triggers_read_on(
  bloom_connection *connection, const char *schema, const char *table, bloom_triggers *triggers
);

/* Reads those of a schema which first write to the table whose name is name and suffix, and for
** which is_own, if it is not NULL, returns 1 when it is given their name. */
int bloom_triggers_read_writing_to(
  bloom_connection *connection, const char *schema, const char *name, const char *suffix,
  int (*is_own)(const char *name), bloom_triggers *triggers
);

void bloom_triggers_free(bloom_triggers *triggers);

/* Drops what bloom_triggers_read_writing_to() reads. */
int bloom_triggers_drop_writing_to(
  bloom_connection *connection, const char *schema, const char *name, const char *suffix,
  int (*is_own)(const char *name)
);

/* Sets *can_stop to whether a trigger may keep others from firing, as RAISE(IGNORE) does: those of
** a filter or a bloom_index only write to a table of theirs, and cannot. */
int bloom_trigger_can_stop(
  bloom_connection *connection, const char *schema, const char *sql, int *can_stop
);

/* 1 if they are all on one table, and there is one. */
int bloom_triggers_are_on_one_table(const bloom_triggers *triggers);

/* The ` BEGIN INSERT INTO "name"(` of triggers that write to the table whose name is name and
** suffix, to be freed. */
char *bloom_trigger_body_begin(const char *name, const char *suffix);

/* Makes the trigger of a virtual table whose name is table and suffix.  definition, from BEFORE or
** AFTER on, is freed; NULL: SQLITE_NOMEM. */
int bloom_trigger_create(
  bloom_connection *connection, const char *schema, const char *table, const char *suffix,
  char *definition
);

/* The form of guards: a trigger of it does nothing, whoever made it. */
#define BLOOM_GUARD_FORM "* WHEN 0 BEGIN SELECT 0; END"

/* Makes the guard on a table, "name_guard", or makes it again. */
int bloom_guard_create(
  bloom_connection *connection, const char *schema, const char *name, const char *table
);

/* The guard's text in sqlite_schema, to be freed. */
char *bloom_guard_text(const char *name, const char *table);

/* Sets *order to the guard's place in sqlite_schema; 0 if there is none. */
int bloom_guard_find(
  bloom_connection *connection, const char *schema, const char *name, const char *table,
  sqlite3_int64 *order
);

#endif
