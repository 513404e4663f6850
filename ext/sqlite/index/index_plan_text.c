/*
** Plans as text: what xBestIndex hands to xFilter, and EXPLAIN QUERY PLAN shows.
**
** idxNum has the bits of index_plan_flag.  idxStr is what people read, and in brackets three fields
** with semicolons between them:
**
**   trace_id = ? by entries; id > ? by id [=1b0,>i;2-;u25]
**
** The first field has the conditions in the order of xFilter's arguments, with commas between them.
** Each is the code of its operator (bloom_index_kinds[]), its column's number, or `i` for the id,
** and then any of these:
**
**   b1    entries of indexed column 1 may serve it
**   z2    zones of indexed column 2 may serve it
**   n     its argument is the list of an IN
**   t     its value is a literal
**   x     the source does not check it
**   a     the source may be searched by its beginning
**   p2    condition 2 is the other range of a LIKE
**   c"n"  it compares by collation n
**
** The second field is the order: each column's number, -1 for the id, with + or - behind it; then
** `l` if there is a LIMIT, and `o` if there is an OFFSET.  The third is `u` and the columns that
** are used, in hexadecimal.
*/
#include "index_plan.h"
#include "index_source.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/debug.h"

const index_kind bloom_index_kinds[INDEX_NUM_KINDS] = {
  [INDEX_EQ]      = {SQLITE_INDEX_CONSTRAINT_EQ,     '=', "=",       INDEX_EQUALITY},
  [INDEX_IS]      = {SQLITE_INDEX_CONSTRAINT_IS,     'i', "IS",      INDEX_EQUALITY},
  [INDEX_GT]      = {SQLITE_INDEX_CONSTRAINT_GT,     '>', ">",       INDEX_RANGE},
  [INDEX_GE]      = {SQLITE_INDEX_CONSTRAINT_GE,     'G', ">=",      INDEX_RANGE},
  [INDEX_LT]      = {SQLITE_INDEX_CONSTRAINT_LT,     '<', "<",       INDEX_RANGE},
  [INDEX_LE]      = {SQLITE_INDEX_CONSTRAINT_LE,     'L', "<=",      INDEX_RANGE},
  [INDEX_NE]      = {SQLITE_INDEX_CONSTRAINT_NE,     'd', "<>",      INDEX_DIFFERENCE},
  [INDEX_IS_NOT]  = {SQLITE_INDEX_CONSTRAINT_ISNOT,  'I', "IS NOT",  INDEX_DIFFERENCE},
  [INDEX_IS_NULL] = {SQLITE_INDEX_CONSTRAINT_ISNULL, 'n', "IS NULL", INDEX_NULL_TEST},
  [INDEX_IS_NOT_NULL] = {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, 'N', "IS NOT NULL", INDEX_NULL_TEST},
  [INDEX_LIKE]    = {SQLITE_INDEX_CONSTRAINT_LIKE,   'l', "LIKE",    INDEX_PATTERN},
  [INDEX_GLOB]    = {SQLITE_INDEX_CONSTRAINT_GLOB,   'g', "GLOB",    INDEX_PATTERN},
  [INDEX_REGEXP]  = {SQLITE_INDEX_CONSTRAINT_REGEXP, 'r', "REGEXP",  INDEX_EXPRESSION},
  [INDEX_REGEXP_IN_ANY_CASE] = {0, 'R', "REGEXP", INDEX_EXPRESSION}, /* as samples tell */
};

static void plan_print_condition(sqlite3_str *text, const index_condition *condition){
  sqlite3_str_appendchar(text, 1, bloom_index_kinds[condition->kind].code);
  if( condition->is_on_id ) sqlite3_str_appendall(text, "i");
  else sqlite3_str_appendf(text, "%d", condition->column);
  if( condition->key>=0 ) sqlite3_str_appendf(text, "b%d", condition->key);
  if( condition->zone>=0 ) sqlite3_str_appendf(text, "z%d", condition->zone);
  if( condition->is_list ) sqlite3_str_appendall(text, "n");
  if( condition->is_literal ) sqlite3_str_appendall(text, "t");
  if( condition->is_unpassed ) sqlite3_str_appendall(text, "x");
  if( condition->has_beginning ) sqlite3_str_appendall(text, "a");
  if( condition->partner>=0 ) sqlite3_str_appendf(text, "p%d", condition->partner);
  if( condition->collation[0] ) sqlite3_str_appendf(text, "c\"%w\"", condition->collation);
}

/* Appends the command that helps; name is the index's as SQL. */
static void plan_print_merge(sqlite3_str *text, const char *name, const char *effect){
  sqlite3_str_appendf(text, "; INSERT INTO %s(%s) VALUES ('merge') %s", name, name, effect);
}

static void plan_print_remark(const bloom_index *index, sqlite3_str *text,
                              const index_plan_remark *remark, int *is_nomem){
  char *name = bloom_sql_name(index->name);
  if( name==NULL ) *is_nomem = 1;
  if( remark->doubt ){
    sqlite3_str_appendf(text, "; reads the whole table: %s", remark->doubt);
    if( remark->is_damaged ) plan_print_merge(text, name, "repairs it");
  }else if( remark->doubted_key>=0 ){
    char *column = sqlite3_mprintf("column %s", bloom_index_key_name(index, remark->doubted_key));
    char *doubt = column ? bloom_index_source_say(index, column,
        index->config.keys[remark->doubted_key].doubt) : NULL;
    if( doubt ) sqlite3_str_appendf(text, "; %s", doubt);
    else *is_nomem = 1;
    sqlite3_free(column);
    sqlite3_free(doubt);
  }else if( remark->is_outweighed ){
    sqlite3_str_appendall(text,
                          "; reads the whole table: too many rows changed since the last merge");
    plan_print_merge(text, name, "makes it faster");
  }else if( remark->num_unmerged>0 ){
    sqlite3_str_appendf(text, "; reads up to %lld rows that are not merged",
                        remark->num_unmerged);
    plan_print_merge(text, name, "makes it faster");
  }
  sqlite3_free(name);
}

/* Appends a condition, and what answers it. */
static void plan_print_words(const bloom_index *index, sqlite3_str *text, const index_plan *plan,
                             const index_condition *condition){
  const int has_entries = !(plan->flags & (INDEX_PLAN_FREE | INDEX_PLAN_READS_ALL));
  const char *by = "the table";
  if( has_entries && condition->key>=0 ) by = "entries";
  else if( has_entries && condition->zone>=0 ) by = "zones";
  else if( condition->is_on_id ) by = "id";
  else if( condition->is_unpassed ) by = "SQLite";
  sqlite3_str_appendf(text, "%s %s%s by %s", bloom_index_name_of(index, condition),
                      condition->is_list ? "IN" : bloom_index_kinds[condition->kind].sql,
                      index_group_of(condition->kind)==INDEX_NULL_TEST ? "" : " ?", by);
}

/* Appends why no entries are asked, where patterns have nothing to look for. */
static void plan_print_short(sqlite3_str *text, const index_plan *plan){
  int i, is_short = 0;
  if( plan->flags & INDEX_PLAN_SLICES ) return; /* a LIMIT ends it before */
  for(i=0; i<plan->num_conditions; i++){
    const index_condition *condition = &plan->conditions[i];
    if( condition->key>=0 || condition->zone>=0 || condition->is_on_id ) return;
    is_short |= condition->is_short;
  }
  if( is_short ){
    sqlite3_str_appendall(text, "; reads the whole table: the piece has less than 3 bytes");
  }
}

char *bloom_index_plan_print(const bloom_index *index, const index_plan *plan,
                             const index_plan_remark *remark){
  sqlite3_str *text = sqlite3_str_new(NULL);
  int i, is_nomem = 0;
  for(i=0; i<plan->num_conditions; i++){
    if( i ) sqlite3_str_appendall(text, "; ");
    plan_print_words(index, text, plan, &plan->conditions[i]);
  }
  if( plan->num_conditions==0 ) sqlite3_str_appendall(text, "all rows");
  if( plan->flags & INDEX_PLAN_SLICES ){
    sqlite3_str_appendf(text, "; ORDER BY %s by zones",
                        index->columns.list[plan->orders[0].column].name);
  }
  if( remark->doubt==NULL ) plan_print_short(text, plan);
  plan_print_remark(index, text, remark, &is_nomem);
  sqlite3_str_appendall(text, " [");
  for(i=0; i<plan->num_conditions; i++){
    if( i ) sqlite3_str_appendall(text, ",");
    plan_print_condition(text, &plan->conditions[i]);
  }
  sqlite3_str_appendall(text, ";");
  for(i=0; i<plan->num_orders; i++){
    sqlite3_str_appendf(text, "%d%s", plan->orders[i].column, plan->orders[i].is_descending ? "-"
                        : "+");
  }
  if( plan->limit>=0 ) sqlite3_str_appendall(text, plan->offset>=0 ? "lo" : "l");
  sqlite3_str_appendf(text, ";u%llx]", plan->columns_used);
  if( !is_nomem ) return sqlite3_str_finish(text);
  sqlite3_free(sqlite3_str_finish(text));
  return NULL;
}

/* Returns the number at *text, which moves behind it. */
static int plan_take_number(const char **text){
  char *end;
  const long number = strtol(*text, &end, 10);
  *text = end;
  return (int)number;
}

static void plan_take_collation(const char **text, char *collation){
  const char *at = *text + 1; /* it begins with a quote */
  size_t length = 0;
  for(; at[0]!='"' || at[1]=='"'; at++){
    if( at[0]=='"' ) at++; /* a quote within it is doubled */
    collation[length++] = at[0];
  }
  collation[length] = 0;
  *text = at + 1;
}

static const char *plan_read_condition(const char *text, index_condition *condition){
  int kind = 0;
  while( bloom_index_kinds[kind].code!=text[0] ){
    kind++;
    assert( kind<INDEX_NUM_KINDS );
  }
  *condition = INDEX_CONDITION(kind);
  text++;
  if( text[0]=='i' ){
    condition->is_on_id = 1;
    text++;
  }else{
    condition->column = plan_take_number(&text);
  }
  while( text[0]!=',' && text[0]!=';' ){
    switch( *text++ ){
      case 'b': condition->key = plan_take_number(&text); break;
      case 'z': condition->zone = plan_take_number(&text); break;
      case 'n': condition->is_list = 1; break;
      case 't': condition->is_literal = 1; break;
      case 'x': condition->is_unpassed = 1; break;
      case 'a': condition->has_beginning = 1; break;
      case 'p': condition->partner = plan_take_number(&text); break;
      case 'c': plan_take_collation(&text, condition->collation); break;
      default: break;
    }
  }
  return text;
}

void bloom_index_plan_read(int number, const char *text, index_plan *plan){
  memset(plan, 0, sizeof(*plan));
  plan->flags = number;
  plan->limit = plan->offset = -1;
  text = strrchr(text, '[') + 1; /* no collation in it has that character */
  while( text[0]!=';' ){
    text = plan_read_condition(text, &plan->conditions[plan->num_conditions++]);
    if( text[0]==',' ) text++;
  }
  for(text++; text[0]!=';'; text++){
    if( text[0]=='l' ){
      plan->limit = plan->num_conditions;
    }else if( text[0]=='o' ){
      plan->offset = plan->num_conditions + 1;
    }else{
      const int column = plan_take_number(&text);
      plan->orders[plan->num_orders++] = (index_order){.column = column,
                                                       .is_descending = text[0]=='-'};
    }
  }
  for(text+=2; *text!=']'; text++){
    plan->columns_used = plan->columns_used<<4 | (sqlite3_uint64)(*text<='9' ? *text - '0'
        : *text - 'a' + 10);
  }
}
