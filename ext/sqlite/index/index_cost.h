/*
** What plans cost.
*/
#ifndef BLOOM_SQLITE_INDEX_COST_H
#define BLOOM_SQLITE_INDEX_COST_H

#include "index_layout.h"
#include "index_plan.h"

typedef struct index_cost {
  double cost, num_rows;
  int is_one_row;
} index_cost;

/* Finds how SQLite would run a statement, which is freed; NULL is want of memory. */
int bloom_index_cost_access(bloom_index *index, char *sql, index_access *access);
void bloom_index_accesses_free(bloom_index *index);

/* About how many rows there are: the merged ones, and the ids behind them.  layout may be NULL. */
int bloom_index_cost_rows(bloom_index *index, const index_layout *layout, double *num_rows);

/* More rows than these in no block are worth a 'merge': a tenth, or 100,000. */
sqlite3_int64 bloom_index_cost_most_unmerged(const index_layout *layout);

/* Sets *is_outweighed if so many rows changed that reading all costs less than blocks do. */
int bloom_index_cost_is_outweighed(bloom_index *index, double num_rows, int *is_outweighed);

/* Returns how many rows of a scan cost as much as looking for a list of values. */
double bloom_index_cost_rows_of_list(double num_rows, size_t num_values);

void bloom_index_cost_free(const index_plan *plan, const index_access *access, double num_rows,
                           index_cost *cost);
void bloom_index_cost_blocks(const index_plan *plan, double num_rows, index_cost *cost);

#endif
