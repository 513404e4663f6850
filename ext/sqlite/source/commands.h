/*
** The commands of both virtual tables: INSERT INTO name(name) VALUES ('merge').
*/
#ifndef BLOOM_SQLITE_SOURCE_COMMANDS_H
#define BLOOM_SQLITE_SOURCE_COMMANDS_H

#include "../sqlite_api.h"

typedef enum bloom_command {
  BLOOM_COMMAND_NONE, /* there is no such command */
  BLOOM_COMMAND_MERGE,
  BLOOM_COMMAND_REBUILD,
  BLOOM_COMMAND_CHECK,
  BLOOM_COMMAND_DELETE_ALL /* of a standalone filter */
} bloom_command;

/* Who asks whether all is well. */
typedef enum bloom_checker {
  BLOOM_CHECK_COMMAND, /* 'integrity-check', to which doubts are findings, too */
  BLOOM_CHECK_PRAGMA,  /* PRAGMA integrity_check: a table that is read with care is not damaged */
  BLOOM_CHECK_QUICK    /* PRAGMA quick_check: nothing that takes long */
} bloom_checker;

/* What to say of BLOOM_COMMAND_NONE, behind the module's name. */
#define BLOOM_COMMANDS \
  ": there is no command '%s'; commands are 'merge', 'merge=N' with N of 1 or more, 'rebuild' and" \
  " 'integrity-check'"

/* The command that a text is.  *max_rows is the N of 'merge=N', 0 of 'merge'. */
bloom_command bloom_command_read(const char *text, sqlite3_int64 *max_rows);

#endif
