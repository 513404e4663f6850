/*
** Failing.  A message names the function, the argument and the range.  Where SQLite has words of
** its own, for no memory, too big and interrupted, they are sqlite3_result_error_code()'s.
*/
#ifndef BLOOM_SQLITE_ERRORS_H
#define BLOOM_SQLITE_ERRORS_H

#include <stdint.h>

#include "sqlite_api.h"

/* Takes the function's name, the type of the value, and a hint or "". */
#define BLOOM_ERROR_FILTER \
  "%s(): argument 1 (filter) must be a BLOB or a handle from bloom_open(), not %s%s"

/* An argument and its place. */
typedef struct bloom_arg {
  const char *function;
  int number; /* from 1 */
  const char *name;
  sqlite3_value *value;
} bloom_arg;

/* Fails the running function with SQLite's own error for rc, unless that is SQLITE_OK, or
** SQLITE_ERROR, which has a message already. */
void bloom_fail_code(sqlite3_context *context, int rc);

/* Returns memory, more than 0 bytes, to be freed with sqlite3_free(); or NULL, with SQLITE_NOMEM
** set on context. */
void *bloom_malloc_or_fail(sqlite3_context *context, uint64_t num_bytes);

/* Returns memory of zeros, more than 0 bytes, to be freed with sqlite3_free(); NULL if there is
** none. */
void *bloom_malloc_zeros(uint64_t num_bytes);

/* Makes room for num_items items in an array that sqlite3_free() frees; list is the address of its
** pointer, *max_items the number of items that there is room for.  SQLITE_OK; or SQLITE_NOMEM, with
** nothing changed. */
int bloom_grow(void *list, size_t num_items, size_t *max_items, size_t item_bytes);

/* Makes room for one more than num items. */
#define BLOOM_GROW(list, num, max) \
  bloom_grow(&(list), (size_t)(num) + 1, &(max), sizeof(*(list)))

/* Fails the running function with a message, or with SQLITE_NOMEM if there is no memory
** for the text. */
void bloom_fail(sqlite3_context *context, const char *format, ...);

/* Fails the running function because an argument is not what it must be.  hint is what was
** probably meant, or NULL. */
void bloom_fail_arg(sqlite3_context *context, bloom_arg arg, const char *what, const char *hint);

/* Does what bloom_fail_arg() does, but shows literal, which it frees, in place of the argument.
** NULL means that there was no memory for it. */
void bloom_fail_literal(sqlite3_context *context, bloom_arg arg, char *literal, const char *what,
                        const char *hint);

/* Fails a method of a virtual table: replaces *error, which SQLite frees, and returns
** SQLITE_ERROR, or SQLITE_NOMEM. */
int bloom_fail_vtab(char **error, const char *format, ...);

/* Frees the message of a failure that a method goes on after. */
void bloom_forget_message(sqlite3_vtab *table);

/* Returns the type of a value that cannot be a filter, for a message: as typeof() returns it, but
** in capitals. */
const char *bloom_type_name(sqlite3_value *value);

/* Returns a value as an SQL literal for a message, to be freed with sqlite3_free().  A long text
** is cut, with dots after it.  NULL if there is no memory. */
char *bloom_literal(sqlite3_value *value);

#endif
