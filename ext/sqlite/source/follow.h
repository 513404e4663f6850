/*
** How both virtual tables follow a source: commands, the database that is meant, and what the
** schema has of a virtual table.
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

/* Returns words, which are freed, and behind them the SQL of a command of a virtual table, and what
** it does, "repairs it".  To be freed; NULL when out of memory, or words are NULL. */
char *bloom_command_say(
  char *words, const char *name, const char *command, const char *effect
);

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

/* Sets *is_own to whether an object of the schema, on or called table, is one that bloom made for a
** virtual table, data.  SQLITE_OK or SQLITE_NOMEM. */
typedef int bloom_is_own(
  const void *data, const char *name, const char *table, const char *sql, int *is_own
);

/* A virtual table, and what it has to follow its source by. */
typedef struct bloom_follower {
  bloom_connection *connection;
  const char *module, *schema, *name;
  const char *guarded;         /* the suffix of the table that has the guard: "_new" */
  const char *written;         /* of the table that its triggers write to */
  bloom_is_own *is_own;        /* of triggers */
  bloom_is_own *is_own_table;
  const void *data;            /* of these two */
} bloom_follower;

typedef struct bloom_trigger {
  char *name;
  char *table; /* that it is on */
  char *sql;
} bloom_trigger;

typedef struct bloom_triggers {
  bloom_trigger *rows; /* in the order of sqlite_schema */
  int num_rows;
  size_t max_rows;
} bloom_triggers;

/* What a schema has of a follower. */
typedef struct bloom_follow {
  int is_seen;           /* it itself: else an authorizer hides the schema */
  bloom_triggers own;
  bloom_triggers newer;  /* others on the table of its own, which came after the guard */
  int are_on_one_table;  /* its own; there is one */
  int has_guard;
  int is_made_again;     /* one of its own is not before the guard */
  int num_tables;        /* its own tables */
  /* On the table that its own triggers write to, or in its place: */
  int has_other_triggers;
  int has_other_objects; /* tables, views, indexes */
} bloom_follow;

/* Reads that, in one scan of the schema.  bloom_follow_free() is for the caller in any case. */
int bloom_follow_read(const bloom_follower *follower, bloom_follow *follow);
void bloom_follow_free(bloom_follow *follow);

/* Drops the triggers for which is_own, which gets follower->data, says yes. */
int bloom_follow_drop(const bloom_follower *follower, bloom_is_own *is_own);

/* Returns the number of the suffix that the name of a trigger ends with, behind that of the virtual
** table; num_suffixes if it is none of them. */
int bloom_trigger_number(
  const char *table, const char *name, const char *const *suffixes, int num_suffixes
);

/* Returns the BEGIN of a trigger's text, from where on it says what the trigger does. */
bloom_token bloom_trigger_action(const char *sql);

/* Returns 1 if a trigger has one statement, and no RAISE(). */
int bloom_trigger_is_one_statement(const char *sql);

/* Returns 1 if two triggers' texts are the same but for the conditions behind WHEN. */
int bloom_trigger_has_form(const char *sql, const char *form);

/* Returns the name behind the next `new.` from token on; the end if there is none. */
bloom_token bloom_token_after_new(bloom_token token);

/* Sets *can_stop to whether a trigger may keep others from firing, as RAISE(IGNORE) does: those of
** a filter or a bloom_index only write to a table of theirs, and cannot. */
int bloom_trigger_can_stop(
  bloom_connection *connection, const char *schema, const char *sql, int *can_stop
);

/* Makes a trigger by its text in sqlite_schema, which is freed; NULL: SQLITE_NOMEM. */
int bloom_trigger_create(const bloom_follower *follower, char *sql);

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
