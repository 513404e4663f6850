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
  /* As bloom_index_regexp_check() finds: ^ may begin a line, and case is ignored. */
  [INDEX_REGEXP_BY_LINE] = {0, "REGEXP", INDEX_EXPRESSION},
  [INDEX_REGEXP_IN_ANY_CASE] = {0, "REGEXP", INDEX_EXPRESSION},
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

/* The plan says how many rows are not merged if they are as many. */
#define PLAN_MANY_UNMERGED 1000

/* Appends the remark, and the SQL that helps.  SQLITE_OK or SQLITE_NOMEM. */
static int plan_print_remark(const bloom_index *index, sqlite3_str *text,
                             const index_plan_remark *remark){
  const int key = remark->doubted_key;
  const char *effect = remark->effect;
  char *name, *doubt = NULL;
  int is_nomem = 0;
  if( effect ){
    sqlite3_str_appendf(text, "; reads the whole table: %s", remark->doubt);
  }else if( remark->doubt || key>=0 ){
    doubt = bloom_index_doubt_text(index, remark->doubt ? -1 : key);
    is_nomem |= doubt==NULL;
    sqlite3_str_appendf(text, remark->doubt ? "; reads the whole table: %s" : "; %s", doubt);
  }else if( remark->num_unmerged>=PLAN_MANY_UNMERGED ){
    effect = "makes it faster";
    sqlite3_str_appendf(text, "; reads up to %lld rows that are not merged", remark->num_unmerged);
  }
  if( effect ){
    name = bloom_sql_name(index->name);
    is_nomem |= name==NULL;
    sqlite3_str_appendf(text, "; INSERT INTO %s(%s) VALUES ('merge') %s", name, name, effect);
    sqlite3_free(name);
  }
  sqlite3_free(doubt);
  return is_nomem ? SQLITE_NOMEM : SQLITE_OK;
}

/* Appends a condition, and what answers it. */
static void plan_print_words(const bloom_index *index, sqlite3_str *text, const index_plan *plan,
                             const index_condition *condition){
  const int has_entries = !(plan->flags & INDEX_PLAN_FREE);
  const char *by = has_entries && condition->key>=0 ? "entries"
    : has_entries && condition->zone>=0 ? "zones" : condition->is_on_id ? "id"
    : condition->is_unpassed ? "SQLite" : "the table";
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

/* Appends the plan as bloom_index_plan_read() reads it. */
static void plan_print_code(sqlite3_str *text, const index_plan *plan){
  int i;
  sqlite3_str_appendall(text, " [");
  for(i=0; i<plan->num_conditions; i++){
    const index_condition *condition = &plan->conditions[i];
    sqlite3_str_appendf(text, "%llx", plan_pack(condition));
    if( condition->collation[0] ) sqlite3_str_appendf(text, "\"%s\"", condition->collation);
    sqlite3_str_appendall(text, ",");
  }
  sqlite3_str_appendall(text, ";");
  for(i=0; i<plan->num_orders; i++){
    sqlite3_str_appendf(text, "%x,", 2*(plan->orders[i].column + 1)
                        + plan->orders[i].is_descending);
  }
  sqlite3_str_appendf(text, ";%d;%llx]", plan->num_limits, plan->columns_used);
}

char *bloom_index_plan_print(const bloom_index *index, const index_plan *plan,
                             const index_plan_remark *remark){
  sqlite3_str *text = sqlite3_str_new(NULL);
  char *result;
  int i, rc;
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
  rc = plan_print_remark(index, text, remark);
  plan_print_code(text, plan);
  result = sqlite3_str_finish(text);
  if( rc==SQLITE_OK ) return result;
  sqlite3_free(result);
  return NULL;
}

/* Returns the number at *text, which moves behind it. */
static sqlite3_uint64 plan_take_number(const char **text){
  char *end;
  const sqlite3_uint64 number = strtoull(*text, &end, 16);
  *text = end;
  return number;
}

void bloom_index_plan_read(int number, const char *text, index_plan *plan){
  memset(plan, 0, sizeof(*plan));
  plan->flags = number;
  text = strrchr(text, '[') + 1; /* no collation in it has that character, or a quote */
  for(; *text!=';'; text++){
    index_condition *condition = &plan->conditions[plan->num_conditions++];
    *condition = plan_unpack(plan_take_number(&text));
    if( *text=='"' ){
      const int num_bytes = (int)strcspn(++text, "\"");
      memcpy(condition->collation, text, (size_t)num_bytes);
      text += num_bytes + 1;
    }
  }
  for(text++; *text!=';'; text++){
    const int order = (int)plan_take_number(&text);
    plan->orders[plan->num_orders++] = (index_order){order/2 - 1, order & 1};
  }
  text++;
  plan->num_limits = (int)plan_take_number(&text);
  text++;
  plan->columns_used = plan_take_number(&text);
}
