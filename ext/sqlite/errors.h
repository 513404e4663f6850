/*
** Every error message of bloom, and the functions that set one.
** A message names the function, the argument and the range.  The comment above a format
** lists what its %s and %d stand for.
*/
#ifndef BLOOM_SQLITE_ERRORS_H
#define BLOOM_SQLITE_ERRORS_H

#include "sqlite_api.h"

/* function, type of the value, what was meant */
#define BLOOM_ERROR_FILTER \
  "%s(): argument 1 (filter) must be a BLOB or a handle from bloom_open(), not %s%s"

/* function */
#define BLOOM_ERROR_HANDLE_AS_KEY "%s(): argument 2 (key) is a handle from bloom_open(); the filter comes first"

/* function, its call as it is written */
#define BLOOM_ERROR_ARGUMENT_MISSING  "%s() needs an argument: %s"
#define BLOOM_ERROR_ARGUMENTS_MISSING "%s() needs its arguments: %s; where an OR parts them, write them in each arm, or IN"

/* function */
#define BLOOM_ERROR_UNREADABLE_ARGUMENT  "%s(): its argument cannot be read back as a column"
#define BLOOM_ERROR_UNREADABLE_ARGUMENTS \
  "%s(): its arguments cannot be read back as columns; where an OR parts them, write them in each arm, or IN"

/* function, type of the value */
#define BLOOM_ERROR_BLOCK "%s(): argument 1 (block) must be a BLOB, a LevelDB filter block, not %s"
#define BLOOM_ERROR_FILE "%s(): argument 1 (file) must be a BLOB, the bytes of a LevelDB table file, not %s"

/* function, what is wrong */
#define BLOOM_ERROR_BLOCK_UNREADABLE "%s(): argument 1 (block) is no LevelDB filter block: %s"
#define BLOOM_ERROR_FILE_UNREADABLE  "%s(): argument 1 (file) is not a complete LevelDB table file: %s"

/* function, what it is instead, what was meant */
#define BLOOM_ERROR_BLOOMFILE \
  "%s(): argument 1 (file) must be a BloomFile, a BLOB or a handle from bloom_open(), not %s%s"

/* function, what it is instead */
#define BLOOM_ERROR_UNCHANGEABLE \
  "%s(): argument 1 (filter) must be a filter that keys can be added to; the filter is %s"

/* function, bits and probes of the first filter, bits and probes of the other, what else
** must be equal */
#define BLOOM_ERROR_SHAPES \
  "%s(): filters must have one shape, not %lld bits and %d probes and then %lld bits and %d probes; " \
  "build them with equal bits_per_key and capacity"

/* function, units of the first file, bytes of each, probes, the same of the other */
#define BLOOM_ERROR_SET_SHAPES \
  "%s(): files must have one shape, not %lld units of %lld bytes and %d probes and then %lld units of " \
  "%lld bytes and %d probes; build them with equal bits_per_key and capacity for equal sets"

/* function, encoding of the first filter, encoding of the other */
#define BLOOM_ERROR_ENCODINGS \
  "%s(): filters must have one encoding, not '%s' and then '%s'"

/* function */
#define BLOOM_ERROR_NO_ARGS   "%s(): argument 1 (filter) is missing"
#define BLOOM_ERROR_NO_VALUES "%s(): argument 1 (value) is missing"

/* For bloom_fail_arg(): function, argument number, the value as an SQL literal */
#define BLOOM_ERROR_BITS_PER_KEY \
  "%s(): argument %d (bits_per_key) must be a number in 1..100, or a rate above 0 and below 1, not %s"
#define BLOOM_ERROR_CAPACITY \
  "%s(): argument %d (capacity) must be an integer in 0..9223372036854775807, not %s"
#define BLOOM_ERROR_NUM_PARTITIONS \
  "%s(): argument %d (num_partitions) must be an integer in 1..9223372036854775807, not %s"
#define BLOOM_ERROR_FPR \
  "%s(): argument %d (false_positive_rate) must be a number between 0 and 1, not %s"
#define BLOOM_ERROR_NUM_KEYS \
  "%s(): argument %d (num_keys) must be an integer in 0..9223372036854775807, not %s"
#define BLOOM_ERROR_BLOCK_OFFSET \
  "%s(): argument %d (block_offset) must be an integer in 0..9223372036854775807, not %s"
#define BLOOM_ERROR_KEY_TYPE \
  "%s(): argument %d (type) must be 'int32', 'int64', 'float', 'double', 'uuid', 'fixed32', 'fixed64', " \
  "'big32', 'big64', 'varint32', 'varint64' or, with a secret, 'siphash', not %s"
#define BLOOM_ERROR_SECRET_TYPE "%s(): argument %d (type) must be 'siphash' where a secret is given, not %s"
#define BLOOM_ERROR_SET_NUMBER \
  "%s(): argument %d (set_number) must be an integer in 0..9223372036854775807, not %s"

/* function, argument number, its type or size: the secret itself must not get into a log */
#define BLOOM_ERROR_SECRET "%s(): argument %d (secret) must be a BLOB of 16 bytes, not %s"
/* function */
#define BLOOM_ERROR_NO_SECRET "%s(): argument 3 (secret) is missing: 'siphash' takes a BLOB of 16 bytes"

/* function, argument number, names of encodings, the value as an SQL literal */
#define BLOOM_ERROR_ENCODING "%s(): argument %d (encoding) must be %s, not %s"

/* type, what its value must be, the value as an SQL literal */
#define BLOOM_ERROR_KEY_VALUE "bloom_key(): argument 1 (value) for '%s' must be %s, not %s"

/* type, its smallest and largest value, the value as an SQL literal */
#define BLOOM_ERROR_KEY_INTEGER "bloom_key(): argument 1 (value) for '%s' must be an integer in %lld..%lld, not %s"

/* function, argument number, argument name, the rate asked for, number of keys, a rate in
** reach, advice */
#define BLOOM_ERROR_OUT_OF_REACH \
  "%s(): argument %d (%s) %.15g is out of reach of one filter of %lld keys; " \
  "%.3g is in reach%s"

/* function, argument number, argument name, the rate asked for, number of keys, the least of
** the rates from which on a filter is of no use, advice */
#define BLOOM_ERROR_HOPELESS \
  "%s(): argument %d (%s) %.15g is out of reach of one filter of %lld keys, as are all below %.3g%s"

/* function, argument number, argument name, the first value, the other value */
#define BLOOM_ERROR_NOT_CONSTANT \
  "%s(): argument %d (%s) must be the same on every row of a group, not %s and then %s"

/* function, number of keys */
#define BLOOM_ERROR_FRAME \
  "%s(): with argument 3 (capacity) a window frame that drops rows may reach at most " \
  "%d keys ahead of its first row; leave capacity out for longer frames"

/* CREATE VIRTUAL TABLE ... USING bloom(...).  The text that is wrong, or its name. */
#define BLOOM_ERROR_TABLE_EMPTY         "bloom: %s is empty"
#define BLOOM_ERROR_TABLE_NO_EXPRESSION "bloom: %s must be one expression, not: %s"
#define BLOOM_ERROR_TABLE_QUALIFIED "bloom: %s must name columns without the database: %s"
#define BLOOM_ERROR_TABLE_CHANGING \
  "bloom: %s must always return the same for a row, so it cannot have %s"
#define BLOOM_ERROR_TABLE_TWICE         "bloom: option %s is given twice"
#define BLOOM_ERROR_TABLE_BITS_PER_KEY  \
  "bloom: bits_per_key must be a number in 1..100, or a rate above 0 and below 1, not %s%s"
/* rate, keys that there is room for, rate in reach */
#define BLOOM_ERROR_TABLE_OUT_OF_REACH \
  "bloom: bits_per_key %.15g is out of reach of a filter with room for %lld keys; %.3g is in reach"
#define BLOOM_ERROR_TABLE_CAPACITY      "bloom: capacity must be an integer in 1..1000000000000, not %s"
#define BLOOM_ERROR_TABLE_OPTION \
  "bloom: there is no option %.*s; options are where, bits_per_key and capacity"
#define BLOOM_ERROR_TABLE_NAME          "bloom: argument 1 must be the name of a table, not: %s"
/* database.table, database, table */
#define BLOOM_ERROR_TABLE_DATABASE \
  "bloom: argument 1 must be the name of a table, not: %s; write CREATE VIRTUAL TABLE %.*s.name USING bloom(%.*s, ...)"
#define BLOOM_ERROR_TABLE_TOO_MANY \
  "bloom: after table and key come options as name = value, not: %s"
#define BLOOM_ERROR_TABLE_NO_KEY \
  "bloom: which key of table %s?  bloom(table, column) or bloom(table, expression)"
#define BLOOM_ERROR_TABLE_WHERE \
  "bloom: where needs a source table: bloom(table, key, where = ...)"

/* table; database */
#define BLOOM_ERROR_TABLE_MISSING "bloom: there is no table %s in database %s"
#define BLOOM_ERROR_TABLE_VIEW    "bloom: %s is a view; the source of a filter is a table"
/* column, table; then the collation */
#define BLOOM_ERROR_TABLE_COLUMN  "bloom: there is no column %s in table %s"
#define BLOOM_ERROR_TABLE_COLLATION \
  "bloom: column %s of table %s has collation %s, and a filter cannot know which values it takes for equal; " \
  "it knows BINARY, NOCASE and RTRIM"
/* expression */
#define BLOOM_ERROR_TABLE_KEY_COLLATION \
  "bloom: %s has a collation other than BINARY, and a filter over an expression compares bytes; name the column alone, " \
  "or write lower(...) for NOCASE, rtrim(...) for RTRIM"
/* table */
#define BLOOM_ERROR_TABLE_ROWID \
  "bloom: table %s has no INTEGER PRIMARY KEY, and VACUUM may change its rowids"
#define BLOOM_ERROR_TABLE_NO_ROW_NAME \
  "bloom: columns of table %s take all names of the rowid, so no trigger can find its row"
/* type, name */
#define BLOOM_ERROR_TABLE_NAME_IN_USE "bloom: the name of %s %s is needed, but taken"

/* table */
#define BLOOM_ERROR_TABLE_VIRTUAL "bloom: %s is a virtual table; a filter follows an ordinary one"
#define BLOOM_ERROR_TABLE_SHADOW \
  "bloom: %s is a shadow table, which its virtual table alone writes to; a filter follows an ordinary table"
/* name */
#define BLOOM_ERROR_TABLE_ROWID_NAME \
  "bloom: %s names the rowid, which a trigger cannot do; name the INTEGER PRIMARY KEY column"

/* name of the virtual table; what of it */
#define BLOOM_ERROR_TABLE_DAMAGED "bloom: %s is damaged: %s"
/* name of the virtual table, twice */
#define BLOOM_ERROR_TABLE_OLD     "bloom: %s was made by bloom 1.0: DROP TABLE %s, and create it again"
#define BLOOM_ERROR_TABLE_REENTERED "bloom: the database is damaged: its tables call back what reads them"
#define BLOOM_ERROR_TABLE_LOST \
  "bloom: the database of %s was detached or replaced while its cache is shared: open the connection anew"
#define BLOOM_ERROR_TABLE_NO_REBUILD "bloom: %s has no source table to rebuild it from"
#define BLOOM_ERROR_TABLE_ON_THEIR_WAY \
  "bloom: %s cannot be rebuilt by a trigger, or while another statement writes: rows are on their way"

/* name, pages, pages */
#define BLOOM_ERROR_TABLE_TOO_LARGE "bloom: %s needs %lld pages, and its database may have %lld at most"

/* What a note says, and 'integrity-check' with the name before it.  name, name */
#define BLOOM_NOTE_REPAIR "every key may be in it, because %s; INSERT INTO %s(%s) VALUES ('rebuild') repairs it"
#define BLOOM_NOTE_REBUILD_PAYS "%s; INSERT INTO %s(%s) VALUES ('rebuild') makes it smaller"
/* name, note */
#define BLOOM_ERROR_TABLE_UNCERTAIN "bloom: %s: %s"
/* name, keys that it misses, keys, name, name */
#define BLOOM_ERROR_TABLE_MISSES \
  "bloom: %s misses %lld of the %lld keys of its source table; INSERT INTO %s(%s) VALUES ('rebuild') repairs it"
/* name */
#define BLOOM_ERROR_TABLE_OWN_COLUMN \
  "bloom: the virtual table cannot be called %s: a column of it is"
#define BLOOM_ERROR_TABLE_KEY \
  "bloom: %s has no keys to read: test one, WHERE key = ..., or FROM %s(...)"
/* name, columns of a key */
#define BLOOM_ERROR_TABLE_NO_TUPLE \
  "bloom: a key of %s has %d columns: FROM %s(...) with so many values, or key = bloom_tuple(...)"
#define BLOOM_ERROR_TABLE_MANY_COLUMNS "bloom: a key has at most %d columns"
#define BLOOM_ERROR_TABLE_COMMAND \
  "bloom: there is no command '%s'; commands are 'rebuild' and 'integrity-check'"
#define BLOOM_ERROR_TABLE_FORGET \
  "bloom: rows of %s cannot be deleted or changed: a Bloom filter cannot forget a key"
#define BLOOM_ERROR_TABLE_HANDLES "bloom: all handles that a process can have are open"
#define BLOOM_ERROR_TABLE_WRITE "bloom: column %s of %s cannot be written, only key"
#define BLOOM_ERROR_TABLE_LEGACY \
  "bloom: renaming needs PRAGMA legacy_alter_table = OFF, so that triggers keep their table"

/* An argument and its place, for an error message. */
typedef struct bloom_arg {
  const char *function;
  int number; /* from 1 */
  sqlite3_value *value;
} bloom_arg;

/* Fails the running function with a message, or with SQLITE_NOMEM if there is no memory
** for the text. */
void bloom_fail(sqlite3_context *context, const char *format, ...);

/* The same because of an argument: format is one of those for bloom_fail_arg(). */
void bloom_fail_arg(sqlite3_context *context, const char *format, bloom_arg arg);

/* The same, and behind it what was probably meant; NULL: nothing. */
void bloom_fail_arg_hint(sqlite3_context *context, const char *format, bloom_arg arg, const char *hint);

/* The type of a value that cannot be a filter, for a message: as typeof() returns it, but
** in capitals. */
const char *bloom_type_name(sqlite3_value *value);

/* A value as an SQL literal for a message, to be freed with sqlite3_free().  A long text
** is cut, with dots after it.  NULL if there is no memory. */
char *bloom_literal(sqlite3_value *value);

/* The same for a REAL. */
char *bloom_real_literal(double number);

/* Replaces *error by message, a text of sqlite3_mprintf(), and returns SQLITE_ERROR; or
** SQLITE_NOMEM if message is NULL because there was no memory for it. */
int bloom_say(char **error, char *message);

#endif
