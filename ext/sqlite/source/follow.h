/*
** How both virtual tables follow a source: commands, the database that is meant, and what the
** schema has of a virtual table.
*/
#ifndef BLOOM_SQLITE_SOURCE_FOLLOW_H
#define BLOOM_SQLITE_SOURCE_FOLLOW_H

#include "sql.h"

/* -- The virtual table ---------------------------------------------------------------------- */

/* A trigger of a virtual table, which has its name and this suffix. */
typedef struct bloom_trigger_kind {
  const char *suffix, *event;
} bloom_trigger_kind;

/* A virtual table that follows a source by triggers. */
typedef struct bloom_follower {
  bloom_connection *connection;
  const char *module, *schema, *name;
  char **error;                /* its message: functions that fail set it, or SQLite's own does */
  const char *guarded;         /* the suffix of the table that has the guard: "_new" */
  const char *written;         /* of the table that its triggers write to */
  const bloom_trigger_kind *triggers;
  int num_triggers;
  /* Returns 1 if bloom made a table for the virtual table data.  The table's name is that of the
  ** virtual table and suffix, and columns is its text from ( on. */
  int (*is_own_table)(const void *data, const char *suffix, const char *columns);
  const void *data;
} bloom_follower;

/* -- Commands ------------------------------------------------------------------------------- */

/*
** The commands of both virtual tables: INSERT INTO name(name) VALUES ('merge').
*/

/* What asks for a check. */
typedef enum bloom_checker {
  BLOOM_CHECK_COMMAND, /* 'integrity-check', to which doubts are findings, too */
  BLOOM_CHECK_PRAGMA,  /* PRAGMA integrity_check: a doubt is no damage */
  BLOOM_CHECK_QUICK    /* PRAGMA quick_check: nothing that takes long */
} bloom_checker;

/* A module and its commands.  SQLite reads xIntegrity, behind xShadowName, from 3.44 on; older
** headers do not have it, and integrity has its place then. */
typedef struct bloom_module {
  sqlite3_module module;
  int (*integrity)(sqlite3_vtab *, const char *, const char *, int, char **);
  const char *name;
  int (*merge)(sqlite3_vtab *, sqlite3_int64 max_rows); /* 0: all */
  int (*rebuild)(sqlite3_vtab *);
  int (*delete_all)(sqlite3_vtab *); /* NULL: there is no such command */
  /* Sets *finding, to be freed, to what is wrong; NULL: nothing. */
  int (*check)(sqlite3_vtab *, bloom_checker checker, char **finding);
} bloom_module;

/* Runs the command that a value names. */
int bloom_command_run(sqlite3_vtab *table, sqlite3_value *value);

/* Runs PRAGMA integrity_check, as xIntegrity; is_quick: PRAGMA quick_check. */
int bloom_integrity(sqlite3_vtab *table, const char *schema, const char *name, int is_quick,
                    char **finding);

/* Returns "WORDS; INSERT INTO NAME(NAME) VALUES ('COMMAND') EFFECT", to be freed; NULL when out of
** memory or where words are NULL.  words are freed. */
char *bloom_command_say(char *words, const char *name, const char *command, const char *effect);

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

/* Returns SQLite's object of the file that a database has open; NULL if it has none. */
void *bloom_database_file(sqlite3 *db, const char *schema);

/* Checks that *schema names the file that a virtual table's object was made for, before any of it
** is read or written.  If not, fails, and sets *schema, to be freed, to the name that the file has
** now, if it has one. */
int bloom_database_locate(bloom_follower follower, const void *file, char **schema);

/* Fails because a statement would read another file than its object was made for.  All statements
** of the connection are compiled anew at their next run. */
int bloom_database_fail_replaced(bloom_follower follower);

/* Returns 1 if another file can have come under a compiled statement without a new address of the
** file's object: after sqlite3_deserialize(), which opens databases of the VFS memdb. */
int bloom_database_may_be_swapped(sqlite3 *db, const char *schema);

/* Returns 1 if statements may run in xBestIndex: this SQLite locks the schema there.  An older one
** would read the schema anew, under the statement that is being compiled, where such a statement
** notices a change. */
static inline int bloom_can_read_in_best_index(void){
  return sqlite3_libversion_number()>=3038002;
}

/* -- Triggers ------------------------------------------------------------------------------- */

/*
** The triggers by which a virtual table follows its source.
**
** SQLite keeps their text true when tables and columns are renamed, and guards it by
** trusted_schema.  A trigger is the virtual table's if it has the name and the event of one, and
** all that it does is to insert a row into the table that these write to; any other is the user's,
** and stays.
**
** The guard trigger does nothing.  It is made last, on a table that is bloom's own, but no shadow
** table: defensive connections refuse a schema that has a trigger on one.  Where a source was made
** again, and its triggers from their text, they come after the guard in sqlite_schema, by rowid:
** VACUUM and ALTER keep that order.
*/

typedef struct bloom_trigger {
  char *name;
  char *table; /* that it is on */
  char *sql;
  int kind;    /* its place in follower->triggers */
} bloom_trigger;

typedef struct bloom_triggers {
  bloom_trigger *rows; /* in the order of sqlite_schema */
  int num_rows;
  size_t max_rows;
} bloom_triggers;

/* What a schema has of a follower: its own triggers and tables, and others that matter to it. */
typedef struct bloom_follow {
  int is_seen;           /* the virtual table itself; 0: an authorizer hides the schema */
  bloom_triggers own;
  int are_on_one_table;  /* all of its own triggers, and there is one */
  int has_guard;
  int is_made_again;     /* one of its own triggers is not before the guard */
  int may_be_stopped;    /* a trigger on their table came after the guard, and may keep them from
                         ** firing, as RAISE(IGNORE) does */
  int num_tables;        /* its own tables */
  /* On the table that its own triggers write to, or in its place: */
  int has_other_triggers;
  int has_other_objects; /* tables, views, indexes */
} bloom_follow;

/* Reads that in one scan of the schema.  The caller calls bloom_follow_free() in any case. */
int bloom_follow_read(bloom_follower follower, bloom_follow *follow);
void bloom_follow_free(bloom_follow *follow);

/* Drops the follower's own triggers, and all guards on the guarded table.  is_for_good: also those
** of a filter whose journal ALTER TABLE renamed, and those of a filter of bloom 1.0 and 1.1, which
** insert keys into the virtual table: that fails, so no trigger of the user's does it. */
int bloom_follow_drop(bloom_follower follower, int is_for_good);

/* Returns the BEGIN of a trigger's text, behind which is what the trigger does. */
bloom_token bloom_trigger_action(const char *sql);

/* Returns the name behind the next `new.` from token on; the end if there is none. */
bloom_token bloom_token_after_new(bloom_token token);

/* Creates a trigger, whose text in sqlite_schema will be sql.  sql is freed; NULL: SQLITE_NOMEM. */
int bloom_trigger_create(bloom_follower follower, char *sql);

/* Returns the text of the follower's guard in sqlite_schema, to be freed. */
char *bloom_guard_text(bloom_follower follower);

/* -- What is in the way -------------------------------------------------------------------- */

/* Fails if objects of the user's are in the way: those that meet the condition where; and of a
** follower with triggers, others that have the name of one or of the guard, or are on the table
** that they write to.  The message names all of them, and the SQL that removes them, triggers
** first.  where is freed; NULL: SQLITE_NOMEM.  is_create: that SQL drops the follower's own
** triggers, too, which would go on writing to a table that it renames. */
int bloom_obstacles_refuse(bloom_follower follower, char *where, int is_create);

#endif
