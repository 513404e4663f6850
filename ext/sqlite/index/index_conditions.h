/*
** Conditions: what is between a column and a value.
*/
#ifndef BLOOM_SQLITE_INDEX_CONDITIONS_H
#define BLOOM_SQLITE_INDEX_CONDITIONS_H

#include "index_int.h"

/* The operator between a column and a value.  Each kind has a row in bloom_index_kinds[]. */
typedef enum index_condition_kind {
  INDEX_EQ, INDEX_IS, INDEX_GT, INDEX_GE, INDEX_LT, INDEX_LE, INDEX_IS_NULL, INDEX_LIKE, INDEX_GLOB,
  INDEX_REGEXP, INDEX_REGEXP_IN_ANY_CASE, INDEX_NUM_KINDS
} index_condition_kind;

typedef struct index_kind {
  int op;             /* SQLITE_INDEX_CONSTRAINT_... */
  char code;          /* in a plan */
  const char *sql;
  int is_on_ids;      /* it narrows ids */
  int is_pattern;     /* its operator is a function, which the application may have replaced */
  /* blocks may serve it: of a column for LIKE if is_pattern, else for =, or for LIKE */
  int takes_blocks;
} index_kind;

extern const index_kind bloom_index_kinds[INDEX_NUM_KINDS];

#define INDEX_MAX_COLLATION 32 /* bytes of a name; comparisons by others are SQLite's alone */

/* A condition of a plan. */
typedef struct index_condition {
  index_condition_kind kind;
  int column;      /* of index->columns; of hidden ids -1 */
  int is_on_id;    /* it compares the id */
  int key;         /* of the config, whose blocks serve it; -1: none */
  int zone;        /* of the config, whose zones serve it; -1: none */
  int is_list;     /* IN: its argument is a list */
  /* the application's own LIKE or GLOB, or a regexp() that is not trusted: blocks know nothing
  ** of it */
  int is_opaque;
  int is_literal;  /* its value is one in the text of the statement */
  int is_unpassed; /* the source is not to check it */
  int partner;     /* of the two ranges that SQLite makes of LIKE 'begin%', the other; -1: none */
  char collation[INDEX_MAX_COLLATION]; /* to compare by; "": the column's own */
} index_condition;

#endif
