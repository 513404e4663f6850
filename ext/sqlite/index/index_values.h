/*
** What values are found by, and what conditions and patterns look for: lists of texts, and keys of
** zones.
*/
#ifndef BLOOM_SQLITE_INDEX_VALUES_H
#define BLOOM_SQLITE_INDEX_VALUES_H

#include "../../core/entries/regexp.h"
#include "../../core/entries/texts.h"
#include "../../core/entries/zone.h"

#include "index_plan.h"

/* -- index_texts.c --------------------------------------------------------------------- */

/* A pattern's further ranges are not looked up. */
#define INDEX_MAX_RANGES 256

/* Writes to ranges[], which has room for INDEX_MAX_RANGES, the lists of a text that matches a
** condition's pattern of LIKE or GLOB, or equals its value: one list of each range.  Returns how
** many ranges, 0 where every block may have such a text.  A TEXT is in UTF-8. */
size_t bloom_index_needle(const bloom_index *index, const bloom_lists *lists,
                          const index_condition *condition, sqlite3_value *value,
                          bloom_lists_range *ranges);

/* Leaves a pattern to SQLite alone if entries cannot serve the function of its operator: a like()
** or glob() of the application, or a regexp() which samples show to be of another kind than that
** which patterns are read for.  The source does not get it either, since it may fail of rows that
** earlier conditions leave out. */
int bloom_index_like_check(bloom_index *index, index_condition *condition);

/* Sets the condition's key to none if lists cannot serve its pattern: one that has no ranges.
** literal is the pattern, or NULL where it is no literal, and nothing is known.  SQLITE_OK or
** SQLITE_NOMEM. */
int bloom_index_like_read_literal(index_condition *condition, sqlite3_value *literal);

/* Sets *are_built_in to whether all functions of these names and numbers of arguments are SQLite's
** own. */
typedef struct index_function {
  const char *name;
  int num_args;
} index_function;
int bloom_index_are_built_in(bloom_index *index, const index_function *functions, int num_functions,
                             int *are_built_in);

/* Returns 1 if a REAL's text may begin with this text, though it is no number: a sign, a beginning
** of "Inf", or digits and an e. */
int bloom_index_begins_number(const unsigned char *text);

/* -- index_texts.c: regular expressions ------------------------------------------------ */

/* Reads a pattern; one that is no TEXT requires nothing.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_index_regexp_read(sqlite3_value *pattern, index_condition_kind kind,
                            bloom_regexp *regexp);

/* -- index_zones.c --------------------------------------------------------------------- */

/* Rows of zones, and directories, which have an entry like a zone for each of 32 rows. */
typedef enum index_zone_level { INDEX_ZONES, INDEX_ZONE_DIRECTORY } index_zone_level;

/* The low bits of a zone's number, or of a row's, which say its place in the row, or directory. */
#define INDEX_ZONE_MASK (BLOOM_ZONES_PER_ROW - 1)

/* Reads a row.  SQLITE_CORRUPT_VTAB where it is missing or damaged. */
int bloom_index_zones_read(bloom_index *index, const index_generation *generation, int key,
                           index_zone_level level, uint32_t number, bloom_zone *zones);

/* Returns how many directories the spans of a generation have. */
uint32_t bloom_index_zones_num_directories(const index_generation *generation);

/* Returns how a column's texts are compared. */
static inline bloom_zone_order bloom_index_zone_order(const bloom_index *index, int key){
  _Static_assert((int)BLOOM_ZONE_NOCASE==(int)BLOOM_COLLATION_NOCASE
                 && (int)BLOOM_ZONE_RTRIM==(int)BLOOM_COLLATION_RTRIM, "one is the other");
  return (bloom_zone_order)index->config.keys[key].equality.collation;
}

/* What a condition asks of the zones of a column. */
typedef struct index_zone_test {
  int key;
  bloom_zone_span *spans; /* sorted; to be freed */
  size_t num_spans, max_spans;
} index_zone_test;

/* Sets *test to what a condition asks for with a value, a TEXT in UTF-8, or with a list.  The value
** is NULL only for IS, IS NULL and IS NOT NULL.  The caller frees the spans. */
int bloom_index_zones_test(bloom_index *index, const index_condition *condition,
                           sqlite3_value *value, const index_list *list, index_zone_test *test);

/* Adds to *result the blocks whose zones of a column meet all tests of that column, and which
** `within` has, too, unless it is NULL. */
int bloom_index_zones_look_up(bloom_index *index, const index_generation *generation, int key,
                              const index_zone_test *tests, int num_tests,
                              const index_block_set *within, index_block_set *result);

/* -- index_zones.c: merging ------------------------------------------------------------ */

/* A column's zones that are changed. */
typedef struct index_zone_merge index_zone_merge;

/* Begins to change a column's zones.  Returns what the caller frees; NULL when out of memory. */
index_zone_merge *bloom_index_zones_new(bloom_index *index, const index_generation *generation,
                                        int key);

/* Adds a row's value to the zone that has the row's block; unless is_found is NULL, only sets it to
** whether that has the value. */
int bloom_index_zones_add(index_zone_merge *merge, uint32_t block, sqlite3_value *value,
                          int *is_found);

/* Writes what is in memory. */
int bloom_index_zones_write(index_zone_merge *merge);

/* Deletes a column's rows of the generation that had this place. */
int bloom_index_zones_delete(bloom_index *index, int key, uint32_t place);

#endif
