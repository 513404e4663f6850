/*
** Plans as text: what xBestIndex hands to xFilter, and EXPLAIN QUERY PLAN shows.
**
** idxNum has the bits of index_plan_flag.  idxStr is what people read, and in brackets four fields
** of hexadecimal numbers, with semicolons between them:
**
**   trace_id = ? by entries; id > ? by id [2000010,1080002,;1,;0;25]
**
** They are the conditions in the order of xFilter's arguments, each as plan_pack() makes it, with
** the collation behind it in quotes that it compares by; the columns of the order, plus 1, times 2,
** plus 1 if it is descending; how many of LIMIT and OFFSET there are; and the columns used.
*/
#include "index_plan.h"
#include "index_source.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/debug.h"

const index_kind bloom_index_kinds[INDEX_NUM_KINDS] = {
  [INDEX_EQ]      = {SQLITE_INDEX_CONSTRAINT_EQ,     "=",       INDEX_EQUALITY},
  [INDEX_IS]      = {SQLITE_INDEX_CONSTRAINT_IS,     "IS",      INDEX_EQUALITY},
  [INDEX_GT]      = {SQLITE_INDEX_CONSTRAINT_GT,     ">",       INDEX_RANGE},
  [INDEX_GE]      = {SQLITE_INDEX_CONSTRAINT_GE,     ">=",      INDEX_RANGE},
  [INDEX_LT]      = {SQLITE_INDEX_CONSTRAINT_LT,     "<",       INDEX_RANGE},
  [INDEX_LE]      = {SQLITE_INDEX_CONSTRAINT_LE,     "<=",      INDEX_RANGE},
  [INDEX_NE]      = {SQLITE_INDEX_CONSTRAINT_NE,     "<>",      INDEX_DIFFERENCE},
  [INDEX_IS_NOT]  = {SQLITE_INDEX_CONSTRAINT_ISNOT,  "IS NOT",  INDEX_DIFFERENCE},
  [INDEX_IS_NULL] = {SQLITE_INDEX_CONSTRAINT_ISNULL, "IS NULL", INDEX_NULL_TEST},
  [INDEX_IS_NOT_NULL] = {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, "IS NOT NULL", INDEX_NULL_TEST},
  [INDEX_LIKE]    = {SQLITE_INDEX_CONSTRAINT_LIKE,   "LIKE",    INDEX_PATTERN},
  [INDEX_GLOB]    = {SQLITE_INDEX_CONSTRAINT_GLOB,   "GLOB",    INDEX_PATTERN},
  [INDEX_REGEXP]  = {SQLITE_INDEX_CONSTRAINT_REGEXP, "REGEXP",  INDEX_EXPRESSION},
  [INDEX_REGEXP_IN_ANY_CASE] = {0, "REGEXP", INDEX_EXPRESSION}, /* as samples tell */
};

/* Returns what makes up a condition, but its collation. */
static sqlite3_uint64 plan_pack(const index_condition *condition){
  const int flags = condition->is_on_id | condition->is_list << 1 | condition->is_literal << 2
    | condition->is_unpassed << 3 | condition->has_beginning << 4 | condition->is_end << 5;
  return (sqlite3_uint64)condition->kind | (sqlite3_uint64)(condition->key + 1) << 4
    | (sqlite3_uint64)(condition->zone + 1) << 9 | (sqlite3_uint64)flags << 14
    | (sqlite3_uint64)(condition->column + 1) << 20;
}

static index_condition plan_unpack(sqlite3_uint64 packed){
  return (index_condition){
    .kind = (index_condition_kind)(packed & 15), .key = (int)(packed >> 4 & 31) - 1,
    .zone = (int)(packed >> 9 & 31) - 1,
    .is_on_id = packed >> 14 & 1, .is_list = packed >> 15 & 1, .is_literal = packed >> 16 & 1,
    .is_unpassed = packed >> 17 & 1, .has_beginning = packed >> 18 & 1,
    .is_end = packed >> 19 & 1, .column = (int)(packed >> 20) - 1
  };
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
    sqlite3_str_appendf(text, "%llx", plan_pack(&plan->conditions[i]));
    if( plan->conditions[i].collation[0] ){
      sqlite3_str_appendf(text, "\"%w\"", plan->conditions[i].collation);
    }
    sqlite3_str_appendall(text, ",");
  }
  sqlite3_str_appendall(text, ";");
  for(i=0; i<plan->num_orders; i++){
    sqlite3_str_appendf(text, "%x,", 2*(plan->orders[i].column + 1)
                        + plan->orders[i].is_descending);
  }
  sqlite3_str_appendf(text, ";%d;%llx]", (plan->limit>=0) + (plan->offset>=0), plan->columns_used);
  if( !is_nomem ) return sqlite3_str_finish(text);
  sqlite3_free(sqlite3_str_finish(text));
  return NULL;
}

/* Returns the number at *text, which moves behind it. */
static sqlite3_uint64 plan_take_number(const char **text){
  char *end;
  const sqlite3_uint64 number = strtoull(*text, &end, 16);
  *text = end;
  return number;
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

void bloom_index_plan_read(int number, const char *text, index_plan *plan){
  int num_limits;
  memset(plan, 0, sizeof(*plan));
  plan->flags = number;
  text = strrchr(text, '[') + 1; /* no collation in it has that character */
  for(; *text!=';'; text++){
    index_condition *condition = &plan->conditions[plan->num_conditions++];
    *condition = plan_unpack(plan_take_number(&text));
    if( *text=='"' ) plan_take_collation(&text, condition->collation);
  }
  for(text++; *text!=';'; text++){
    const int order = (int)plan_take_number(&text);
    plan->orders[plan->num_orders++] = (index_order){order/2 - 1, order & 1};
  }
  text++;
  num_limits = (int)plan_take_number(&text);
  plan->limit = num_limits>0 ? plan->num_conditions : -1;
  plan->offset = num_limits>1 ? plan->num_conditions + 1 : -1;
  text++;
  plan->columns_used = plan_take_number(&text);
}
