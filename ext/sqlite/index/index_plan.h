/*
** Plans: what xBestIndex decides and xFilter reads.
*/
#ifndef BLOOM_SQLITE_INDEX_PLAN_H
#define BLOOM_SQLITE_INDEX_PLAN_H

#include "index_conditions.h"
#include "index_int.h"

#define INDEX_MAX_CONDITIONS 16
#define INDEX_MAX_ORDERS     8

/* The bits of idxNum. */
typedef enum index_plan_flag {
  INDEX_PLAN_DESCENDING = 1, /* ids come in descending order */
  INDEX_PLAN_FREE       = 2, /* no blocks: SQLite plans the inner statement */
  INDEX_PLAN_READS_ALL  = 4, /* blocks are not to be believed */
  INDEX_PLAN_UNCHECKED  = 8  /* the source could not be looked at when the plan was made */
} index_plan_flag;

typedef struct index_order {
  int column; /* -1: the id */
  int is_descending;
} index_order;

typedef struct index_plan {
  int flags;
  index_condition conditions[INDEX_MAX_CONDITIONS];
  int num_conditions;
  index_order orders[INDEX_MAX_ORDERS]; /* that the rows are to have */
  int num_orders;
  int limit;                   /* the argument that is LIMIT's; -1: none */
  sqlite3_uint64 columns_used; /* as SQLite has it: the last bit is of all from 63 on */
} index_plan;

static inline int index_is_regexp(index_condition_kind kind){
  return kind==INDEX_REGEXP || kind==INDEX_REGEXP_IN_ANY_CASE;
}

int bloom_index_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);

/* Sets the plan's conditions to the constraints that blocks, ids or the source can answer. */
int bloom_index_plan_conditions(bloom_index *index, sqlite3_index_info *info, index_plan *plan);

/* A constraint's value, if it is a literal, from 3.38 on; else NULL. */
sqlite3_value *bloom_index_plan_literal(sqlite3_index_info *info, int number);

void bloom_index_plan_read(int number, const char *text, index_plan *plan);

/* Why a query is slower than it need be, which EXPLAIN says. */
typedef struct index_plan_remark {
  const char *doubt;          /* NULL, or why blocks are not believed */
  /* an indexed column whose blocks would serve, were they not out of use; -1: none */
  int doubted_key;
  int is_outweighed;          /* so many rows changed that reading all costs less */
  sqlite3_int64 num_unmerged; /* ids that no block has, where they are many; else 0 */
} index_plan_remark;

/* The plan as text, to be freed by SQLite; NULL is want of memory. */
char *bloom_index_plan_print(const bloom_index *index, const index_plan *plan,
                             const index_plan_remark *remark);

#endif
