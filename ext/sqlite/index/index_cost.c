/*
** What a plan costs, in steps of SQLite's virtual machine: by SQLite's own plan of the inner
** statement, which EXPLAIN QUERY PLAN shows, and by entries.
*/
#include "index_plan.h"
#include "index_source.h"

#include <string.h>

#define COST_OF_ROW      3.3  /* a row of a scan: 3 as SQLite estimates it, and a tenth more */
#define COST_OF_SEARCH   40.0 /* the first row of a search in an index */
#define COST_OF_FOUND    6.0  /* each further row of it */

/* To read a changed row takes as long as so many rows of a scan. */
#define ROWS_OF_CHANGED  12.0

#define ROWS_OF_KEY      10.0 /* rows of one value: SQLite's estimate without statistics */
#define VALUES_OF_LIST   25.0 /* values of a list: SQLite's estimate for a subquery */

/* -- What SQLite would do ------------------------------------------------------------------- */

int bloom_index_cost_access(bloom_index *index, char *sql, index_access *access){
  sqlite3_stmt *row;
  int is_or = 0, rc = bloom_index_statement_take_text(index, INDEX_USE_FOR_COST, sql, &row);
  memset(access, 0, sizeof(*access));
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
    const char *line = NULL;
    rc = bloom_sql_column_text(row, 3, &line);
    if( line==NULL ) continue;
    if( strncmp(line, "USE TEMP B-TREE FOR ORDER", 25)==0 ) access->sorts = 1;
    else if( strncmp(line, "USE TEMP B-TREE", 15)==0 ) access->sorts_last = 1;
    else if( strncmp(line, "MULTI-INDEX OR", 14)==0 ) is_or = 1;
    else if( strncmp(line, "SEARCH ", 7)==0 ){ /* of the source: lists of IN are scanned */
      const int is_below = strstr(line, "<?")!=NULL, is_above = strstr(line, ">?")!=NULL;
      access->has_range |= is_below && is_above;
      if( strstr(line, " INTEGER PRIMARY KEY (rowid=?)") ) access->way = INDEX_ACCESS_ROW;
      else if( strstr(line, "=?") ) access->way = INDEX_ACCESS_KEY;
      else access->way = is_below && is_above ? INDEX_ACCESS_SHORT_RANGE : INDEX_ACCESS_RANGE;
    }
  }
  /* Each arm of an OR is a search with a line, and the last one does not tell of the others. */
  if( is_or ) access->way = INDEX_ACCESS_SHORT_RANGE;
  bloom_index_statement_give_back(index, row, 0);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* -- Rows ---------------------------------------------------------------------------------- */

double bloom_index_cost_num_rows(const index_layout *layout, sqlite3_int64 last){
  const double behind = (double)last - (double)layout->covered;
  /* Ids behind the merged rows have gaps as those of merged rows have. */
  const double more = behind>0 ? behind*bloom_index_density(layout) : 0;
  const double num_rows = (double)layout->num_rows + more;
  assert( layout->has_covered && num_rows>=0 );
  return num_rows<INDEX_MAX_ROWS ? num_rows : INDEX_MAX_ROWS;
}

sqlite3_int64 bloom_index_cost_most_changed(const index_layout *layout){
  assert( layout->has_covered );
  return (sqlite3_int64)(((double)layout->num_rows + 1000) / ROWS_OF_CHANGED);
}

int bloom_index_cost_is_outweighed(bloom_index *index, const index_layout *layout,
                                   int *is_outweighed){
  sqlite3_int64 is_more = 0;
  int rc;
  *is_outweighed = 0;
  if( index->facts.known & (INDEX_FACT_NONE_CHANGED | INDEX_FACT_FEW_CHANGED) ) return SQLITE_OK;
  rc = bloom_index_statement_integer(index, INDEX_USE_FOR_COST, &is_more,
      "SELECT 1 FROM \"%w\".\"%w_changed\" AS c LIMIT 1 OFFSET %lld", index->schema, index->name,
      bloom_index_cost_most_changed(layout));
  *is_outweighed = rc!=SQLITE_OK || is_more;
  if( !*is_outweighed ) bloom_index_note(index, INDEX_FACT_FEW_CHANGED);
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK; /* without NAME_changed all is read */
}

/* -- Plans ----------------------------------------------------------------------------------- */

int bloom_index_cost_is_one_row(const index_plan *plan){
  int i;
  for(i=0; i<plan->num_conditions; i++){
    const index_condition condition = plan->conditions[i];
    if( condition.is_on_id && condition.kind==INDEX_EQ && !condition.is_list ) return 1;
  }
  return 0;
}

index_cost bloom_index_cost_free(const index_plan *plan, const index_access *access,
                                 double num_rows){
  const int is_scan = access->way==INDEX_ACCESS_SCAN;
  index_cost cost;
  double rows = num_rows;
  int i;
  assert( num_rows>=0 && plan->num_conditions<=INDEX_MAX_CONDITIONS );
  switch( access->way ){
    case INDEX_ACCESS_SCAN: break;
    case INDEX_ACCESS_ROW: rows = 1; break;
    case INDEX_ACCESS_KEY: rows = ROWS_OF_KEY; break;
    case INDEX_ACCESS_SHORT_RANGE: rows /= 64; break;
    case INDEX_ACCESS_RANGE: rows /= 4; break;
  }
  if( rows>num_rows ) rows = num_rows;
  cost = (index_cost){COST_OF_SEARCH + rows * (is_scan ? COST_OF_ROW : COST_OF_FOUND), rows};
  for(i=0; i<plan->num_conditions && is_scan; i++){
    cost.num_rows /= bloom_index_kinds[plan->conditions[i].kind].rows_of_one;
  }
  assert( cost.cost>0 && cost.num_rows>=0 && cost.num_rows<=num_rows );
  return cost;
}

index_cost bloom_index_cost_blocks(const index_plan *plan, double num_rows){
  double num_values = 0, rows = num_rows;
  int i, num_ends = 0;
  assert( num_rows>=0 && plan->num_conditions<=INDEX_MAX_CONDITIONS );
  for(i=0; i<plan->num_conditions; i++){
    const index_condition condition = plan->conditions[i];
    assert( !condition.is_on_id || (condition.key<0 && condition.zone<0) );
    if( condition.zone>=0 ){
      if( index_group_of(condition.kind)==INDEX_EQUALITY ) rows /= 64;
      else if( condition.kind==INDEX_IS_NULL ) rows /= 16;
      else rows /= num_ends++==0 ? 4 : 16; /* two ends are a short range, as SQLite takes them */
    }
    if( condition.is_on_id ) rows /= 4;
    if( condition.key>=0 ) num_values += condition.is_list ? VALUES_OF_LIST : 1;
  }
  if( num_values>0 && rows>ROWS_OF_KEY*num_values ) rows = ROWS_OF_KEY*num_values;
  if( bloom_index_cost_is_one_row(plan) ) rows = 1;
  return (index_cost){
    .cost = COST_OF_ROW * (num_values>0 ? INDEX_ROWS_OF_LOOK_UP*(num_values + 1)/2.0 : 0)
      + COST_OF_SEARCH + num_rows/1000 + COST_OF_FOUND*rows,
    .num_rows = rows
  };
}
