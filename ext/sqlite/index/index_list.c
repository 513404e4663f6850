/*
** Lists of IN: a copy of what SQLite has, and bloom_index_list(list), which returns its values, or
** intervals of ids, to the inner statement.
*/
#include "index.h"
#include "index_candidates.h"

#include <string.h>

/* A list is a pointer value of this type, which nobody else can make. */
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
  memset(list, 0, sizeof(*list));
  for(; (rc = bloom_vtab_list_value(values, is_first, &value))==SQLITE_OK; is_first = 0){
    const int type = sqlite3_value_type(value);
    if( type==SQLITE_NULL ) continue; /* equals nothing */
    if( list->num_values==max_values ){
      sqlite3_value **more;
      max_values = 2*max_values + 16;
      more = sqlite3_realloc64(list->values, max_values * sizeof(sqlite3_value *));
      if( more==NULL ) return SQLITE_NOMEM;
      list->values = more;
    }
    list->values[list->num_values] = sqlite3_value_dup(value);
    if( list->values[list->num_values]==NULL ) return SQLITE_NOMEM;
    list->num_values++;
    if( type==SQLITE_INTEGER
       || type==SQLITE_FLOAT ) list->has_numbers = 1; else list->has_others = 1;
  }
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

int bloom_index_list_value(const index_list *list, size_t number, sqlite3_value **copy){
  *copy = sqlite3_value_dup(list->values[number]);
  if( *copy==NULL || (sqlite3_value_type(*copy)==SQLITE_TEXT && sqlite3_value_text(*copy)==NULL) ){
    return SQLITE_NOMEM;
  }
  return SQLITE_OK;
}

int bloom_index_list_bind(sqlite3_stmt *statement, int number, index_list *list){
  return sqlite3_bind_pointer(statement, number, list, LIST_TYPE, NULL);
}

/* -- bloom_index_list(list): value, is_number, last ---------------------------------------- */

typedef struct list_cursor {
  bloom_tvf_cursor base; /* first */
  const index_list *list;
  size_t number;
} list_cursor;

static size_t list_length(const index_list *list){
  return list->intervals ? list->intervals->num_intervals : list->num_values;
}

static void list_next(bloom_tvf_cursor *base){
  list_cursor *cursor = (list_cursor *)base;
  cursor->number++;
  base->has_row = cursor->number<list_length(cursor->list);
  base->rowid = (sqlite3_int64)cursor->number;
}

static int list_start(bloom_tvf_cursor *base, sqlite3_value **args){
  list_cursor *cursor = (list_cursor *)base;
  cursor->list = sqlite3_value_pointer(args[0], LIST_TYPE);
  cursor->number = 0;
  base->has_row = cursor->list && list_length(cursor->list)>0;
  base->rowid = 0;
  return SQLITE_OK;
}

static void list_column(const bloom_tvf_cursor *base, sqlite3_context *context, int column){
  const list_cursor *cursor = (const list_cursor *)base;
  const index_list *list = cursor->list;
  if( list->intervals ){
    const index_interval interval = list->intervals->list[cursor->number];
    sqlite3_result_int64(context, column==0 ? interval.first : interval.last);
  }else if( list->prefixes ){
    const index_prefix *prefix = &list->prefixes[cursor->number];
    if( column==0 ) sqlite3_result_text(context, prefix->text, -1, SQLITE_TRANSIENT);
    else sqlite3_result_int(context, prefix->has_zeros);
  }else if( column==0 ){
    sqlite3_result_value(context, list->values[cursor->number]);
  }else{
    const int type = sqlite3_value_type(list->values[cursor->number]);
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
