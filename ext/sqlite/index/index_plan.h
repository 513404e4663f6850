/*
** From a query on the index to the inner statement on its source.
**
** xBestIndex makes a plan: conditions from what SQLite tells (index_conditions.c), their costs
** (index_cost.c), and the cheapest way to the rows, as text (index_plan.c).  xFilter reads the
** plan, finds the ids of rows that may meet the conditions (index_candidates.c, index_order.c), and
** passes the conditions to the source in one statement (index_pass.c), which the cursor steps.
*/
#ifndef BLOOM_SQLITE_INDEX_PLAN_H
#define BLOOM_SQLITE_INDEX_PLAN_H

#include "index_entries.h"

/* -- index_conditions.c ---------------------------------------------------------------- */

/* The operator between a column and a value: a row of bloom_index_kinds[]. */
typedef enum index_condition_kind {
  INDEX_EQ, INDEX_IS, INDEX_GT, INDEX_GE, INDEX_LT, INDEX_LE, INDEX_NE, INDEX_IS_NOT,
  INDEX_IS_NULL, INDEX_IS_NOT_NULL, INDEX_LIKE, INDEX_GLOB, INDEX_REGEXP,
  INDEX_REGEXP_BY_LINE, INDEX_REGEXP_IN_ANY_CASE, INDEX_NUM_KINDS
} index_condition_kind;

typedef struct index_kind {
  int op; /* SQLITE_INDEX_CONSTRAINT_...; 0: a kind that SQLite does not tell */
  const char *sql;
  index_group group;
  int rows_of_one; /* costs assume that it is true of one row in so many */
} index_kind;

extern const index_kind bloom_index_kinds[INDEX_NUM_KINDS];

static inline index_group index_group_of(index_condition_kind kind){
  assert( (unsigned)kind<INDEX_NUM_KINDS && bloom_index_kinds[kind].sql );
  return bloom_index_kinds[kind].group;
}

/* By the order of kinds, since index_texts.c does not depend on index_conditions.c. */
static inline int index_is_pattern(index_condition_kind kind){
  return kind>=INDEX_LIKE && kind<INDEX_NUM_KINDS;
}

static inline int index_is_regexp(index_condition_kind kind){
  return kind>=INDEX_REGEXP && kind<INDEX_NUM_KINDS;
}

/* Bytes of a collation's name, with its NUL.  If it is longer, the condition is not passed. */
#define INDEX_MAX_COLLATION 32

/* `column operator value`, where the value is xFilter's argument with the condition's number. */
typedef struct index_condition {
  index_condition_kind kind;
  int column;      /* the column's place in index->columns; -1: the hidden rowid */
  int is_on_id;    /* the column is the id */
  int key;         /* the indexed column whose entries serve it; -1: none */
  int zone;        /* the indexed column whose zones serve it; -1: none */
  int is_list;     /* it is an IN, and its argument is a list */
  int is_literal;  /* the value is a literal in the query's text */
  int is_unpassed; /* SQLite alone checks it: it is not passed to the source */
  int is_short;    /* a literal pattern without a piece of 3 bytes; xFilter does not know it */
  int is_end;      /* a `<` that SQLite may have added to LIKE 'begin%', which finds BLOBs, too */
  int has_beginning; /* a pattern or such an end, which an index of the source may serve */
  char collation[INDEX_MAX_COLLATION]; /* it compares by this one; "": by the column's own */
} index_condition;

/* Returns the affinity of what a condition compares. */
static inline char bloom_index_affinity(const bloom_index *index, const index_condition *condition){
  if( condition->is_on_id ) return 'i';
  assert( condition->column>=0 && condition->column<index->columns.num_columns );
  return index->columns.list[condition->column].affinity;
}

/* Returns the name of what a condition compares. */
static inline const char *bloom_index_name_of(const bloom_index *index,
                                              const index_condition *condition){
  if( condition->is_on_id ) return index->columns.id_name;
  assert( condition->column>=0 && condition->column<index->columns.num_columns );
  return index->columns.list[condition->column].name;
}

/* -- index_plan.c ---------------------------------------------------------------------- */

#define INDEX_MAX_CONDITIONS 16
#define INDEX_MAX_ORDERS     8

/* The bits of idxNum. */
typedef enum index_plan_flag {
  INDEX_PLAN_FREE      = 1,  /* no entries are asked: SQLite plans the inner statement */
  INDEX_PLAN_SLICES    = 2,  /* rows come in the order of a column with zones: index_order.c */
  INDEX_PLAN_COUNTED   = 4,  /* no column is used: rows may be counted instead of read */
  INDEX_PLAN_DISTINCT  = 8,  /* one row for each value of the order's column is enough */
  INDEX_PLAN_UNCHECKED = 16  /* xBestIndex could not read the source: xFilter checks it */
} index_plan_flag;

/* A term of ORDER BY. */
typedef struct index_order {
  int column; /* its place in index->columns; -1: the id */
  int is_descending;
} index_order;

/* How rows are found.  literals and num_wanted are for xBestIndex alone. */
typedef struct index_plan {
  int flags; /* index_plan_flag */
  index_condition conditions[INDEX_MAX_CONDITIONS];
  int num_conditions;
  sqlite3_value *literals[INDEX_MAX_CONDITIONS]; /* the conditions' values; NULL: not known yet */
  index_order orders[INDEX_MAX_ORDERS]; /* the order in which rows come */
  int num_orders;
  int num_limits; /* arguments behind those of the conditions; 1: LIMIT, 2: LIMIT and OFFSET */
  int num_wanted; /* rows of a literal LIMIT; 0: not known */
  sqlite3_uint64 columns_used; /* SQLite's colUsed: bit 63 is for all columns from 63 on */
} index_plan;

/* Returns 1 if the query may read a column. */
static inline int bloom_index_uses_column(const index_plan *plan, int column){
  assert( column>=0 );
  return (int)(plan->columns_used >> (column<63 ? column : 63) & 1);
}

/* xBestIndex. */
int bloom_index_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);

/* Sets *plan, without its flags, to what xBestIndex wrote to idxStr. */
void bloom_index_plan_read(const char *text, index_plan *plan);

/* -- index_conditions.c: the conditions of a plan -------------------------------------- */

/* Returns a constraint's value if it is a literal, else NULL; before SQLite 3.38 always NULL.
** xFilter may get another value: before 3.54 SQLite shows 0x80000000 as a TEXT, and
** CAST(1.50 AS TEXT) as '1.50'. */
sqlite3_value *bloom_index_literal(sqlite3_index_info *info, int number);

/* Adds to a plan the constraints that entries, zones, ids or the source can answer, and says which
** of them SQLite need not check.  Sets INDEX_PLAN_UNCHECKED where it cannot be seen whether a
** pattern's function is SQLite's own. */
int bloom_index_conditions(bloom_index *index, sqlite3_index_info *info, index_plan *plan);

/* Sets index->like_end to NULL if a constraint `>=` has that text. */
void bloom_index_see_end(bloom_index *index, sqlite3_index_info *info);

/* -- index_cost.c ---------------------------------------------------------------------- */

/* As SQLite's estimatedCost and estimatedRows. */
typedef struct index_cost {
  double cost, num_rows;
} index_cost;

/* How SQLite finds rows of the source. */
typedef enum index_access_way {
  INDEX_ACCESS_SCAN,        /* it reads all */
  INDEX_ACCESS_ROW,         /* by the id */
  INDEX_ACCESS_KEY,         /* by `=` on the first column of an index */
  INDEX_ACCESS_SHORT_RANGE, /* between two ends in an index, or by OR of several searches */
  INDEX_ACCESS_RANGE        /* from or up to one end in an index */
} index_access_way;

/* What EXPLAIN QUERY PLAN says of the inner statement. */
typedef struct index_access {
  index_access_way way;
  int sorts;      /* all rows are sorted */
  int sorts_last; /* rows that are equal in the first terms of the order are sorted */
  int has_range;  /* a search has two ends, as for a pattern's beginning */
} index_access;

/* Sets *access by a statement that begins with EXPLAIN QUERY PLAN, and frees it; NULL when out of
** memory. */
int bloom_index_cost_access(bloom_index *index, char *sql, index_access *access);

/* More rows than a file can have, while ids may be far apart. */
#define INDEX_MAX_ROWS 1e12

/* Returns about how many rows the source has: the merged ones, and those behind them up to the last
** id. */
double bloom_index_cost_num_rows(const index_layout *layout, sqlite3_int64 last);

/* Returns how many changed rows a look-up reads at most: where there are more, it costs less to
** read the whole source. */
sqlite3_int64 bloom_index_cost_most_changed(const index_layout *layout);

/* Sets *is_outweighed to whether more rows changed than that. */
int bloom_index_cost_is_outweighed(bloom_index *index, const index_layout *layout,
                                   int *is_outweighed);

/* Returns 1 if a plan has `id = ?`, so that there is one row at most. */
int bloom_index_cost_is_one_row(const index_plan *plan);

/* Return what a plan costs: if SQLite plans the inner statement; if entries and zones are read. */
index_cost bloom_index_cost_free(const index_plan *plan, const index_access *access,
                                 double num_rows);
index_cost bloom_index_cost_blocks(const index_plan *plan, double num_rows);

/* -- index_intervals.c: intervals ------------------------------------------------------ */

/* A look-up of entries costs as much as so many rows of a scan. */
#define INDEX_ROWS_OF_LOOK_UP 200

/* If there are more, all ids are read, so that memory is limited. */
#define INDEX_MAX_INTERVALS 1000000

typedef struct index_interval {
  sqlite3_int64 first, last; /* both belong to it */
} index_interval;

/* Returns the ids whose rows a generation of a layout may have. */
static inline index_interval bloom_index_ids_of_generation(const index_layout *layout, int number){
  const sqlite3_int64 bound = layout->bound;
  assert( number>=0 && number<layout->num_generations );
  if( layout->num_generations==1 ) return (index_interval){INT64_MIN, INT64_MAX};
  if( number==1 ) return (index_interval){INT64_MIN, bound};
  return bound<INT64_MAX ? (index_interval){bound + 1, INT64_MAX}
    : (index_interval){INT64_MAX, INT64_MIN};
}

/* Ascending, with gaps in between; after adds in another order, once they are sorted. */
typedef struct index_intervals {
  index_interval *list;
  size_t num_intervals, max_intervals;
} index_intervals;

/* Appends an interval; if it begins in the last one, or next to its end, that is extended.  With
** first > last nothing is appended. */
int bloom_index_intervals_add(index_intervals *intervals, sqlite3_int64 first, sqlite3_int64 last);

/* Sorts intervals, and joins those that overlap or are next to each other. */
void bloom_index_intervals_sort(index_intervals *intervals);

/* Keep the ids that `others` have, too; add the ids of `others`. */
int bloom_index_intervals_intersect(index_intervals *intervals, const index_intervals *others);
int bloom_index_intervals_unite(index_intervals *intervals, const index_intervals *others);

/* Returns about how many merged rows have ids in an interval. */
double bloom_index_interval_rows(const index_layout *layout, index_interval interval);

/* Returns the same for all of several intervals. */
double bloom_index_intervals_rows(const index_layout *layout, const index_intervals *intervals);

/* Returns the ids that a condition on the id may be true of: all, where only SQLite knows. */
index_interval bloom_index_interval_of_id(index_condition_kind kind, sqlite3_value *value);

/* -- index_intervals.c: lists ---------------------------------------------------------- */

/* What texts begin with; has_zeros: a digit other than 0 does not follow. */
typedef struct index_prefix {
  char text[15], has_zeros;
} index_prefix;

/* What bloom_index_list() returns: the values of an IN, without NULLs; or prefixes; or intervals of
** ids.  All zeros is an empty list. */
typedef struct index_list {
  const index_intervals *intervals; /* NULL: it has values */
  sqlite3_value **values;
  index_prefix *prefixes;
  size_t num_values;
  int has_numbers; /* INTEGER or REAL */
} index_list;

/* Copies the list that an argument of xFilter stands for to *list, which is empty.  The caller
** frees it in any case. */
int bloom_index_list_copy(sqlite3_value *values, index_list *list);
void bloom_index_list_free(index_list *list);

/* Sets *copy, which the caller frees, to a copy of a value: to read a TEXT as UTF-8 would change
** the value if it is ill-formed UTF-16.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_index_value_copy(sqlite3_value *value, sqlite3_value **copy);

/* Binds a list as the argument of bloom_index_list(); it must outlive the statement's steps. */
int bloom_index_list_bind(sqlite3_stmt *statement, int number, index_list *list);

/* -- index_candidates.c ---------------------------------------------------------------- */

/* What is looked for among the blocks of a generation. */
typedef struct index_search {
  bloom_index *index;
  const index_generation *generation;
  index_condition condition;
  const bloom_lists *lists;      /* of a LIKE column, else NULL */
  const index_block_set *within; /* no other blocks matter; NULL: all may */
} index_search;

/* Adds to *result the blocks whose entries may meet the condition, with a value or those of a list;
** or sets *is_all. */
int bloom_index_search(index_search *search, sqlite3_value *value, const index_list *list,
                       index_block_set *result, int *is_all);

/* Sets *result to the ids of rows that may meet the plan's conditions, whose values are args and
** lists; or sets *is_too_dear, which is 0, if it costs less to read the whole source.  If unmerged
** is not NULL, it gets the rows that are not merged, or changed since, and *result the others, even
** if these are all. */
int bloom_index_candidates(bloom_index *index, const index_plan *plan, sqlite3_value **args,
                           const index_list *lists, index_intervals *result,
                           index_intervals *unmerged, int *is_too_dear);

/* -- index_pass.c ---------------------------------------------------------------------- */

/* How a condition is passed to the source. */
typedef enum index_form {
  INDEX_FORM_NONE,
  INDEX_FORM_PLAIN,
  INDEX_FORM_NULL_TEST,
  INDEX_FORM_BELOW,          /* numbers pass, too */
  INDEX_FORM_END,            /* BLOBs pass, too */
  INDEX_FORM_NUMBER,         /* the column becomes a number, if it can, or the value a text */
  INDEX_FORM_NUMBER_BY_INDEX, /* the same, of rows that an index of the source's leads to */
  INDEX_FORM_LIST,
  INDEX_FORM_LIST_OF_NUMBERS, /* the same for the numbers in it */
  INDEX_FORM_LITERAL         /* of a regular expression: the longest one that it requires */
} index_form;

/* What the inner statement reads. */
typedef enum index_reading {
  INDEX_READ_INTERVALS, /* one interval of ids after the other, from ?1 to ?2 */
  INDEX_READ_SLICES,    /* the intervals of list ?1, and of them one slice of the order */
  INDEX_READ_FREE,      /* all rows, in the way that SQLite chooses */
  INDEX_READ_BEHIND,    /* as FREE, of an order: rows behind the value ?1 */
  INDEX_READ_NULLS,     /* as FREE, of a descending order: NULLs, which are behind all values */
  INDEX_READ_COST,      /* EXPLAIN QUERY PLAN of FREE, with 'a%' for patterns that begin so */
  INDEX_READ_SORTED     /* ids from ?1 to ?2, all of them before the first one is returned */
} index_reading;

/* Returns the form in which a condition is passed.  value is NULL where xBestIndex does not know
** it; list has the values of an IN. */
index_form bloom_index_pass_form(const bloom_index *index, const index_condition *condition,
                                 sqlite3_value *value, const index_list *list);

/* Returns the inner statement, to be freed; NULL when out of memory.  Its results are the id, then
** the columns that are used. */
char *bloom_index_pass_statement(const bloom_index *index, const index_plan *plan,
                                 const index_form *forms, index_reading reading);

/* The first of four parameters of a slice: its lower end, which belongs to it, and whether it has
** none; its upper end, which does not belong to it, and whether it has none. */
#define INDEX_SLICE_PARAMETER (5 + 2*INDEX_MAX_CONDITIONS)

/* Binds the values of conditions, LIMIT and OFFSET. */
int bloom_index_pass_bind(bloom_index *index, sqlite3_stmt *rows, const index_plan *plan,
                          const index_form *forms, sqlite3_value **args, index_list *lists);

/* Replaces *form by one that an index of the source's own serves, if there is one for this value.
** *list, which the caller frees, becomes what that form binds. */
int bloom_index_numbers_form(bloom_index *index, const index_condition *condition,
                             sqlite3_value *value, index_list *list, index_form *form);

/* -- index_order.c --------------------------------------------------------------------- */

/* Rows of a query in the order of a column with zones. */
typedef struct index_slices index_slices;

/* Returns the indexed column whose zones give the order of a column of the source; -1: none. */
int bloom_index_order_key(const bloom_index *index, int column);

/* Sets *pays to whether slices by this indexed column read few rows twice: most of its values
** ascend, or descend, with ids. */
int bloom_index_order_pays(bloom_index *index, int key, int *pays);

/* Begins a look-up; sets *is_too_dear if it costs less to read and sort the whole source.  The
** caller frees *result in any case. */
int bloom_index_slices_start(bloom_index *index, const index_plan *plan, sqlite3_value **args,
                             const index_list *lists, index_slices **result, int *is_too_dear);
void bloom_index_slices_free(index_slices *order);

/* Finds the next slice, and binds it to a statement of INDEX_READ_SLICES; or sets *is_done. */
int bloom_index_slices_next(index_slices *order, sqlite3_stmt *rows, int *is_done);

/* -- index_cursor.c -------------------------------------------------------------------- */

int bloom_index_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **result);
int bloom_index_close(sqlite3_vtab_cursor *base);
int bloom_index_filter(sqlite3_vtab_cursor *base, int number, const char *text, int num_args,
                       sqlite3_value **args);
int bloom_index_next(sqlite3_vtab_cursor *base);
int bloom_index_eof(sqlite3_vtab_cursor *base);
int bloom_index_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);
int bloom_index_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid);

#endif
