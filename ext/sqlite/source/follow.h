/*
** How both virtual tables follow a source: commands, the database that is meant, triggers, and
** marks of a schema.
*/
#ifndef BLOOM_SQLITE_SOURCE_FOLLOW_H
#define BLOOM_SQLITE_SOURCE_FOLLOW_H

#include "sql.h"

/* -- Commands ------------------------------------------------------------------------------- */

/*
** The commands of both virtual tables: INSERT INTO name(name) VALUES ('merge').
*/

typedef enum bloom_command {
  BLOOM_COMMAND_NONE, /* there is no such command */
  BLOOM_COMMAND_MERGE,
  BLOOM_COMMAND_REBUILD,
  BLOOM_COMMAND_CHECK,
  BLOOM_COMMAND_DELETE_ALL /* of a standalone filter */
} bloom_command;

/* What asks for a check. */
typedef enum bloom_checker {
  BLOOM_CHECK_COMMAND, /* 'integrity-check', to which doubts are findings, too */
  BLOOM_CHECK_PRAGMA,  /* PRAGMA integrity_check: a table that is read with care is not damaged */
  BLOOM_CHECK_QUICK    /* PRAGMA quick_check: nothing that takes long */
} bloom_checker;

/* What to say of BLOOM_COMMAND_NONE, behind the module's name. */
#define BLOOM_COMMANDS \
  ": there is no command '%s'; commands are 'merge', 'merge=N' with N of 1 or more, 'rebuild' and" \
  " 'integrity-check'"

/* Returns the command that a text is.  *max_rows is the N of 'merge=N', 0 of 'merge'. */
bloom_command bloom_command_read(const char *text, sqlite3_int64 *max_rows);

/* -- The database that is meant ------------------------------------------------------------- */

/*
** Which database an object of a virtual table means.
**
** Its name is a hint.  With a shared cache SQLite keeps the object while a file is detached, and
** uses it again when the file is attached by another name.  sqlite3_deserialize() puts another
** file under statements that are compiled, while those that are compiled later have an object of
** their own.  So where the name is not the file's any more, the statement fails, and all statements
** are compiled anew.
*/

/* Returns SQLite's object of the file that is open by a database's name, NULL if there is none. */
void *bloom_database_file(sqlite3 *db, const char *schema);

/* Checks that *schema, to be freed, is the name of the file that an object was made for, before any
** of it is read or written.  Else it fails, and *schema is the file's name now, if it has one. */
int bloom_database_locate(
  bloom_connection *connection, const char *module, const char *name, const void *file,
  char **schema, char **error
);

/* Fails because a statement means another file than its object was made for: it is to be run again,
** and is compiled anew then, as are all others. */
int bloom_database_fail_replaced(
  sqlite3 *db, const char *module, const char *name, char **error
);

/* Returns 1 if a statement may run over another file than it was compiled for, though its object's
** address is the same: sqlite3_deserialize() opens databases of the VFS memdb. */
int bloom_database_may_be_swapped(sqlite3 *db, const char *schema);

/* Returns 1 if this SQLite locks the schema while it calls xBestIndex, so that statements may run
** there. Others read it anew where such a statement notices a change, under the one that is being
** compiled. */
static inline int bloom_can_read_in_best_index(void){
  return sqlite3_libversion_number()>=3038002;
}

/* -- Marks of a schema ---------------------------------------------------------------------- */

/*
** Which changes of a schema a check of it survives, without reading the whole schema again.
**
** A check notes the rows of sqlite_schema that it trusts, and the last rowid there is.  Each
** statement that changes a schema adds 1 or more to its version, and what it makes comes behind
** the last row; a number at or below the noted one is free only if another statement dropped the
** last row.  So where objects behind that row account for all statements but one, these are all
** that were made.  The one may have dropped or altered something else, or be VACUUM.
*/

#define BLOOM_SCHEMA_MAX_ROWS 32

/* {0} at first, and never trusted then. */
typedef struct bloom_schema_mark {
  sqlite3_int64 last_row;
  int num_rows; /* above BLOOM_SCHEMA_MAX_ROWS: not to be trusted */
  sqlite3_int64 rows[BLOOM_SCHEMA_MAX_ROWS];
  char *text;   /* what these rows have; NULL: the mark is not to be trusted */
} bloom_schema_mark;

/* Begins a mark, before anything that it stands for is read.  SQLITE_OK or SQLite's error. */
int bloom_schema_mark_begin(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark
);

/* Adds a row that the check trusts; 0: there is none, so that the mark is not to be trusted. */
void bloom_schema_mark_add(bloom_schema_mark *mark, sqlite3_int64 row);

/* Ends it: a check found no doubt.  SQLITE_OK or SQLite's error. */
int bloom_schema_mark_end(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark
);

/* Sets *holds to 1 if, num_changes versions later, the rows are as they were, and only tables,
** views, and indexes on others than the table were made since; the mark is then one of this
** version.  max_others: of other statements, 0 or 1.  SQLITE_OK or an error that is fatal. */
int bloom_schema_mark_holds(
  bloom_connection *connection, const char *schema, bloom_schema_mark *mark,
  sqlite3_int64 num_changes, int max_others, const char *table, int *holds
);

void bloom_schema_mark_free(bloom_schema_mark *mark);

/* -- Triggers ------------------------------------------------------------------------------- */

/*
** The triggers by which a virtual table follows its source.
**
** SQLite keeps their text true when tables and columns are renamed, and guards it by
** trusted_schema.  A trigger is bloom's if its name, its table and its text together say so; any
** other is the user's, and stays.
**
** The guard trigger does nothing.  It is made last, on a table that is bloom's own, but no shadow
** table: defensive connections refuse a schema that has a trigger on one.  A source that was made
** again, triggers put back from their text, has triggers that come after the guard in
** sqlite_schema, by rowid: VACUUM and ALTER keep that order.
*/

/* Sets *is_own to whether a trigger is one that bloom made.  SQLITE_OK or SQLITE_NOMEM. */
typedef int bloom_is_own_trigger(
  const void *data, const char *name, const char *table, const char *sql, int *is_own
);

/* A virtual table, and what it has to follow its source by. */
typedef struct bloom_follower {
  bloom_connection *connection;
  const char *module, *schema, *name;
  const char *guarded;          /* the suffix of the table that has the guard: "_new" */
  const char *written;          /* of the table that its triggers write to */
  bloom_is_own_trigger *is_own; /* gets data */
  const void *data;
} bloom_follower;

typedef struct bloom_trigger {
  char *name;
  char *table;         /* that it is on */
  char *sql;
  sqlite3_int64 order; /* sqlite_schema.rowid */
} bloom_trigger;

typedef struct bloom_triggers {
  bloom_trigger *rows; /* in the order of sqlite_schema */
  int num_rows;
  size_t max_rows;
} bloom_triggers;

/* What a schema has of a follower. */
typedef struct bloom_follow {
  bloom_triggers own;
  bloom_triggers newer;  /* others on the table of its own, which came after the guard */
  int are_on_one_table;  /* its own; there is one */
  sqlite3_int64 guard;   /* its row in sqlite_schema; 0: it is gone */
  int is_made_again;     /* one of its own is not before the guard */
  int has_others;        /* other triggers are on the table that its own write to */
} bloom_follow;

/* Reads that, in one pass, and adds what proves it to a mark, which may be NULL.
** bloom_follow_free() is for the caller in any case. */
int bloom_follow_read(
  const bloom_follower *follower, bloom_schema_mark *mark, bloom_follow *follow
);
void bloom_follow_free(bloom_follow *follow);

/* Drops the triggers for which is_own, which gets follower->data, says yes. */
int bloom_follow_drop(const bloom_follower *follower, bloom_is_own_trigger *is_own);

/* Sets *is_seen to whether the schema shows the follower: an authorizer may hide it. */
int bloom_follow_is_seen(const bloom_follower *follower, sqlite3_int64 *is_seen);

/* Returns the number of the suffix that the name of a trigger ends with, behind that of the virtual
** table; num_suffixes if it is none of them. */
int bloom_trigger_number(
  const char *table, const char *name, const char *const *suffixes, int num_suffixes
);

/* Returns the BEGIN of a trigger's text, from where on it says what the trigger does. */
bloom_token bloom_trigger_action(const char *sql);

/* Sets *has_form to whether a trigger's text is CREATE TRIGGER "name" EVENT ON "table" WHEN, a
** condition, and action.  event and action are freed; NULL: SQLITE_NOMEM. */
int bloom_trigger_has_form(
  const char *name, const char *table, const char *sql, char *event, char *action,
  int *has_form
);

/* Sets *can_stop to whether a trigger may keep others from firing, as RAISE(IGNORE) does: those of
** a filter or a bloom_index only write to a table of theirs, and cannot. */
int bloom_trigger_can_stop(
  bloom_connection *connection, const char *schema, const char *sql, int *can_stop
);

/* Makes a follower's trigger whose name ends with suffix.  definition, from BEFORE or AFTER on, is
** freed; NULL: SQLITE_NOMEM. */
int bloom_trigger_create(const bloom_follower *follower, const char *suffix, char *definition);

/* Drops the guards on its table; or makes the guard, in place of those. */
int bloom_guard_drop(const bloom_follower *follower);
int bloom_guard_create(const bloom_follower *follower);

/* Returns the guard's text in sqlite_schema, to be freed. */
char *bloom_guard_text(const bloom_follower *follower);

/* -- What is in the way -------------------------------------------------------------------- */

/* Fails if rows of sqlite_master for which a condition, where, is true are the user's, and names
** all of them, with the SQL that takes them away, triggers first.  where is freed; NULL:
** SQLITE_NOMEM.  is_create: triggers of the follower's own go with them, which would write to a
** table that gets another name. */
int bloom_obstacles_refuse(
  const bloom_follower *follower, char *where, int is_create, char **error
);

#endif
