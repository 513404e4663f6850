/*
** The triggers by which a virtual table follows its source.
**
** SQLite keeps their text true when tables and columns are renamed, and guards it by
** trusted_schema.  A trigger is bloom's if its name, its table and its text together say so; any
** other is the user's, and stays.
**
** The guard trigger does nothing.  It is made last, on a table that is bloom's own, but no
** shadow table: defensive connections refuse a schema that has a trigger on one.  A source that was
** made again, triggers put back from their text, has triggers that come after the guard in
** sqlite_schema, by rowid: VACUUM and ALTER keep that order.
*/
#ifndef BLOOM_SQLITE_SOURCE_TRIGGERS_H
#define BLOOM_SQLITE_SOURCE_TRIGGERS_H

#include "sql.h"
#include "tokens.h"

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

/* Sets *is_own to whether a trigger is one that bloom made.  SQLITE_OK or SQLITE_NOMEM. */
typedef int bloom_is_own_trigger(
  const void *data, const char *name, const char *table, const char *sql, int *is_own
);

/* Reads those of a schema for which is_own, which gets data, says yes; or drops them. */
int bloom_triggers_read_own(
  bloom_connection *connection, const char *schema, bloom_is_own_trigger *is_own, const void *data,
  bloom_triggers *triggers
);
int bloom_triggers_drop_own(
  bloom_connection *connection, const char *schema, bloom_is_own_trigger *is_own, const void *data
);

/* Returns the BEGIN of a trigger's text, from where on it says what the trigger does. */
bloom_token bloom_trigger_action(const char *sql);

/* Sets *has_form to whether a trigger's text is CREATE TRIGGER "name" EVENT ON "table" WHEN, a
** condition, and action.  event and action are freed; NULL: SQLITE_NOMEM. */
int bloom_trigger_has_form(
  const char *name, const char *table, const char *sql, char *event, char *action,
  int *has_form
);

void bloom_triggers_free(bloom_triggers *triggers);

/* Sets *can_stop to whether a trigger may keep others from firing, as RAISE(IGNORE) does: those of
** a filter or a bloom_index only write to a table of theirs, and cannot. */
int bloom_trigger_can_stop(
  bloom_connection *connection, const char *schema, const char *sql, int *can_stop
);

/* 1 if they are all on one table, and there is one. */
int bloom_triggers_are_on_one_table(const bloom_triggers *triggers);

/* Makes the trigger of a virtual table whose name is table and suffix.  definition, from BEFORE or
** AFTER on, is freed; NULL: SQLITE_NOMEM. */
int bloom_trigger_create(
  bloom_connection *connection, const char *schema, const char *table, const char *suffix,
  char *definition
);

/* Makes the guard on a table, "name_guard", in place of those that are there. */
int bloom_guard_create(
  bloom_connection *connection, const char *schema, const char *name, const char *table
);

/* Drops the guards on a table. */
int bloom_guard_drop(bloom_connection *connection, const char *schema, const char *table);

/* Says of the guard of any virtual table that it is one.  data is not used. */
bloom_is_own_trigger bloom_guard_is_own;

/* The guard's text in sqlite_schema, to be freed. */
char *bloom_guard_text(const char *name, const char *table);

/* Sets *order to the guard's place in sqlite_schema; 0 if there is none. */
int bloom_guard_find(
  bloom_connection *connection, const char *schema, const char *name, const char *table,
  sqlite3_int64 *order
);

#endif
