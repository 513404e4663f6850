/*
** Intervals of ids, and lists of values, which the inner statement reads.
*/
#include "index_plan.h"
#include "index.h"

#include <stdlib.h>
#include <string.h>

/* == Intervals ========================================================================= */

/*
** Sets of ids as intervals in ascending order: their intersections and unions.
*/

int bloom_index_intervals_add(index_intervals *intervals, sqlite3_int64 first, sqlite3_int64 last){
  index_interval *before = intervals->num_intervals>0
    ? &intervals->list[intervals->num_intervals-1] : NULL;
  if( first>last ) return SQLITE_OK;
  if( before && first>=before->first && (before->last==INT64_MAX || first<=before->last + 1) ){
    if( before->last<last ) before->last = last;
    return SQLITE_OK;
  }
  if( BLOOM_GROW(intervals->list, intervals->num_intervals, intervals->max_intervals) ){
    return SQLITE_NOMEM;
  }
  intervals->list[intervals->num_intervals++] = (index_interval){first, last};
  return SQLITE_OK;
}

static int intervals_compare(const void *a, const void *b){
  const sqlite3_int64 of_a = ((const index_interval *)a)->first;
  const sqlite3_int64 of_b = ((const index_interval *)b)->first;
  return (of_a>of_b) - (of_a<of_b);
}

void bloom_index_intervals_sort(index_intervals *intervals){
  const size_t num_intervals = intervals->num_intervals;
  size_t i;
  if( num_intervals==0 ) return;
  qsort(intervals->list, num_intervals, sizeof(intervals->list[0]), intervals_compare);
  /* No more are written than were read before. */
  intervals->num_intervals = 0;
  for(i=0; i<num_intervals; i++){
    bloom_index_intervals_add(intervals, intervals->list[i].first, intervals->list[i].last);
    assert( intervals->num_intervals>0 && intervals->num_intervals<=i + 1 );
  }
}

int bloom_index_intervals_intersect(index_intervals *intervals, const index_intervals *others){
  index_intervals both = {0};
  size_t i = 0, j = 0;
  int rc = SQLITE_OK;
  assert( intervals!=others );
  while( rc==SQLITE_OK && i<intervals->num_intervals && j<others->num_intervals ){
    const index_interval a = intervals->list[i], b = others->list[j];
    assert( a.first<=a.last && b.first<=b.last );
    assert( i==0 || intervals->list[i-1].last<a.first );
    assert( j==0 || others->list[j-1].last<b.first );
    rc = bloom_index_intervals_add(&both, a.first>b.first ? a.first : b.first,
                                   a.last<b.last ? a.last : b.last);
    if( a.last<b.last ) i++; else j++;
  }
  sqlite3_free(rc==SQLITE_OK ? intervals->list : both.list);
  if( rc==SQLITE_OK ) *intervals = both;
  return rc;
}

int bloom_index_intervals_unite(index_intervals *intervals, const index_intervals *others){
  size_t i;
  int rc = SQLITE_OK;
  assert( intervals!=others );
  for(i=0; i<others->num_intervals && rc==SQLITE_OK; i++){
    rc = bloom_index_intervals_add(intervals, others->list[i].first, others->list[i].last);
  }
  if( others->num_intervals>0 ) bloom_index_intervals_sort(intervals);
  return rc;
}

double bloom_index_interval_rows(const index_layout *layout, index_interval interval){
  const double first = (double)(interval.first>layout->first ? interval.first : layout->first);
  const double last = (double)(interval.last<layout->covered ? interval.last : layout->covered);
  assert( layout->has_covered );
  return last<first ? 0 : (last - first + 1) * bloom_index_density(layout);
}

double bloom_index_intervals_rows(const index_layout *layout, const index_intervals *intervals){
  double num_rows = 0;
  size_t i;
  for(i=0; i<intervals->num_intervals; i++){
    num_rows += bloom_index_interval_rows(layout, intervals->list[i]);
  }
  return num_rows;
}

/* -- Conditions on the id -------------------------------------------------------------------- */

index_interval bloom_index_interval_of_id(index_condition_kind kind, sqlite3_value *value){
  const index_interval all = {INT64_MIN, INT64_MAX}, none = {INT64_MAX, INT64_MIN};
  const int type = sqlite3_value_type(value);
  const int is_lower = kind==INDEX_GT || kind==INDEX_GE;
  const int is_upper = kind==INDEX_LT || kind==INDEX_LE;
  int is_between = 0, is_next, is_previous; /* the value is id, or between id and id + 1 */
  sqlite3_int64 id;
  assert( kind==INDEX_EQ || index_group_of(kind)==INDEX_RANGE );
  if( type==SQLITE_NULL ) return none;
  if( type==SQLITE_FLOAT ){
    const double real = sqlite3_value_double(value);
    if( real>=0x1p63 ) return is_upper ? all : none;
    if( real<-0x1p63 ) return is_lower ? all : none;
    id = (sqlite3_int64)real;
    if( (double)id>real ) id--;
    is_between = (double)id!=real;
  }else if( type==SQLITE_INTEGER ){
    id = sqlite3_value_int64(value);
  }else{
    return all;
  }
  is_next = kind==INDEX_GT || (kind==INDEX_GE && is_between);
  is_previous = kind==INDEX_LT && !is_between;
  if( (kind==INDEX_EQ && is_between) || (is_next && id==INT64_MAX)
   || (is_previous && id==INT64_MIN) ) return none;
  return (index_interval){is_upper ? INT64_MIN : id + is_next, is_lower ? INT64_MAX
                          : id - is_previous};
}

/* == Lists ============================================================================= */

/*
** Lists of IN: copies of their values, and bloom_index_list(list), which returns the values of one,
** or intervals of ids, to the inner statement.
*/

/* A list is a pointer value of this type, which no SQL can make. */
#define LIST_TYPE "bloom_index_list"

void bloom_index_list_free(index_list *list){
  size_t i;
  for(i=0; i<list->num_values && list->values; i++) sqlite3_value_free(list->values[i]);
  sqlite3_free(list->values);
  sqlite3_free(list->prefixes);
  memset(list, 0, sizeof(*list));
}

int bloom_index_list_copy(sqlite3_value *values, index_list *list){
  sqlite3_value *value = NULL;
  size_t max_values = 0;
  int is_first = 1, rc;
  assert( list->values==NULL && list->prefixes==NULL && list->num_values==0 );
  for(; (rc = bloom_vtab_list_value(values, is_first, &value))==SQLITE_OK; is_first = 0){
    const int type = sqlite3_value_type(value);
    if( type==SQLITE_NULL ) continue; /* equals nothing */
    if( BLOOM_GROW(list->values, list->num_values, max_values) ) return SQLITE_NOMEM;
    list->values[list->num_values] = sqlite3_value_dup(value);
    if( list->values[list->num_values]==NULL ) return SQLITE_NOMEM;
    list->num_values++;
    list->has_numbers |= type==SQLITE_INTEGER || type==SQLITE_FLOAT;
  }
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

int bloom_index_value_copy(sqlite3_value *value, sqlite3_value **copy){
  *copy = sqlite3_value_dup(value);
  if( *copy && (sqlite3_value_type(*copy)!=SQLITE_TEXT || sqlite3_value_text(*copy)) ){
    return SQLITE_OK;
  }
  sqlite3_value_free(*copy);
  *copy = NULL;
  return SQLITE_NOMEM;
}

int bloom_index_list_bind(sqlite3_stmt *statement, int number, index_list *list){
  assert( list->intervals==NULL || list->num_values==0 );
  assert( list->values==NULL || list->prefixes==NULL );
  return sqlite3_bind_pointer(statement, number, list, LIST_TYPE, NULL);
}

/* -- bloom_index_list(list): value, is_number, last ---------------------------------------- */

typedef struct list_cursor {
  bloom_tvf_cursor base; /* first; its rowid is a value's place in the list */
  const index_list *list;
} list_cursor;

static size_t list_length(const index_list *list){
  return list->intervals ? list->intervals->num_intervals : list->num_values;
}

static void list_next(bloom_tvf_cursor *base){
  const list_cursor *cursor = (const list_cursor *)base;
  base->rowid++;
  base->has_row = (size_t)base->rowid<list_length(cursor->list);
}

static int list_start(bloom_tvf_cursor *base, sqlite3_value **args){
  list_cursor *cursor = (list_cursor *)base;
  cursor->list = sqlite3_value_pointer(args[0], LIST_TYPE);
  base->has_row = cursor->list && list_length(cursor->list)>0;
  base->rowid = 0;
  return SQLITE_OK;
}

static void list_column(const bloom_tvf_cursor *base, sqlite3_context *context, int column){
  const index_list *list = ((const list_cursor *)base)->list;
  const size_t number = (size_t)base->rowid;
  assert( number<list_length(list) && column<bloom_index_list_tvf.num_columns );
  if( list->intervals ){
    const index_interval interval = list->intervals->list[number];
    sqlite3_result_int64(context, column==0 ? interval.first : interval.last);
  }else if( list->prefixes ){
    const index_prefix *prefix = &list->prefixes[number];
    if( column==0 ) sqlite3_result_text(context, prefix->text, -1, SQLITE_TRANSIENT);
    else sqlite3_result_int(context, prefix->has_zeros);
  }else if( column==0 ){
    sqlite3_result_value(context, list->values[number]);
  }else{
    const int type = sqlite3_value_type(list->values[number]);
    sqlite3_result_int(context, type==SQLITE_INTEGER || type==SQLITE_FLOAT);
  }
}

const bloom_tvf bloom_index_list_tvf = {
  .name = "bloom_index_list",
  .call = "bloom_index_list(list)",
  .schema = "CREATE TABLE bloom_index_list(value, is_number INTEGER, last, argument_1 HIDDEN)",
  .num_columns = 3,
  .num_args = 1,
  .num_rows = 25,
  .cost = 25,
  .cursor_bytes = sizeof(list_cursor),
  .start = list_start,
  .next = list_next,
  .column = list_column,
};
