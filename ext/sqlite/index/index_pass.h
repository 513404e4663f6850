/*
** Conditions -> the inner statement.
*/
#ifndef BLOOM_SQLITE_INDEX_PASS_H
#define BLOOM_SQLITE_INDEX_PASS_H

#include "index_list.h"
#include "index_plan.h"

/* How a condition is passed to the source. */
typedef enum index_form {
  INDEX_FORM_NONE,
  INDEX_FORM_PLAIN,
  INDEX_FORM_BELOW,          /* or it is a number */
  INDEX_FORM_PREFIX,         /* with its partner, or it is a BLOB */
  INDEX_FORM_NUMBER,         /* the column as a number */
  INDEX_FORM_NUMBER_OR_TEXT,
  INDEX_FORM_LIST,
  INDEX_FORM_LIST_OF_NUMBERS,
  INDEX_FORM_LIST_OF_BOTH
} index_form;

/* What the inner statement reads. */
typedef enum index_reading {
  INDEX_READ_INTERVALS, /* one after the other: ?1 to ?2 */
  INDEX_READ_FREE,      /* what SQLite likes */
  INDEX_READ_BOUNDED    /* the same, of the ids that there are when it begins: without our triggers
                        ** `INSERT INTO t SELECT ... FROM i` would never end */
} index_reading;

/* The form for a value; NULL: one that is yet unknown.  list is that of a condition that has
** one. */
index_form bloom_index_pass_form(const bloom_index *index, index_condition condition,
                                 sqlite3_value *value, const index_list *list);

/* 1 if a text is ASCII, up to a NUL. */
int bloom_index_pass_is_ascii(const unsigned char *text);

/* The inner statement, to be freed: the id, then the columns that are used. */
char *bloom_index_pass_statement(const bloom_index *index, const index_plan *plan,
                                 const index_form *forms, index_reading reading);

/* Writes which of its results a column is, -1: none; their number. */
int bloom_index_pass_results(const bloom_index *index, const index_plan *plan, int *results);

int bloom_index_pass_bind(bloom_index *index, sqlite3_stmt *rows, const index_plan *plan,
                          const index_form *forms, sqlite3_value **args, index_list *lists);

#endif
