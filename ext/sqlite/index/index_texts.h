/*
** Texts, patterns and regular expressions -> lists of entries, and which functions are trusted.
*/
#ifndef BLOOM_SQLITE_INDEX_TEXTS_H
#define BLOOM_SQLITE_INDEX_TEXTS_H

#include "../../core/entries/texts.h"
#include "../../core/entries/regexp.h"

#include "index_candidates.h"

/* -- index_texts.c ------------------------------------------------------------------------ */

/* A value whose lists are read. */
typedef struct index_text {
  bloom_text reading;
  int is_any;  /* it has no grams: its block is always read */
  int is_none; /* it is in no list, or all were returned */
  char digits[24];
} index_text;

/* Begins to read the lists of a LIKE column's value, which must live as long as it is read. */
void bloom_index_text_begin(index_text *text, const index_key *key, sqlite3_value *value);

/* Writes the numbers of the next lists, duplicates included.  Returns how many, 0 at the end. */
size_t bloom_index_text_next(index_text *text, const bloom_lists *lists,
                             uint32_t numbers[BLOOM_TEXT_ROOM]);

/* Further ones are not looked up. */
#define INDEX_MAX_RANGES 256

/* Write to ranges[], which has room for INDEX_MAX_RANGES, the lists that a text must be in that
** LIKE or GLOB finds, that equals a value, or that has all literals of a term of a regular
** expression.  Return how many, 0 where every block may have such a text.  A TEXT is in UTF-8. */
size_t bloom_index_needle_like(const bloom_index *index, const bloom_lists *lists,
                               index_condition_kind kind, sqlite3_value *pattern,
                               bloom_lists_range *ranges);
size_t bloom_index_needle_equal(const bloom_index *index, const bloom_lists *lists, int key,
                                sqlite3_value *value, bloom_lists_range *ranges);
size_t bloom_index_needle_regexp(const bloom_regexp *regexp, uint32_t term,
                                 const bloom_lists *lists, bloom_lists_range *ranges);

/* Leaves a pattern to SQLite alone if entries cannot serve its operator's function: a like() or
** glob() that is the application's own, a regexp() by bloom_index_regexp_check().  Such a function
** may fail, on rows that conditions before it in the query keep from it. */
int bloom_index_like_check(bloom_index *index, index_condition *condition);

/* Looks for index->like_end among what xBestIndex is asked, and sets it to NULL if it is there. */
void bloom_index_like_see(bloom_index *index, sqlite3_index_info *info);

/* How many bytes a pattern of LIKE or GLOB has before the first wildcard, or what is not ASCII. */
size_t bloom_index_like_beginning(index_condition_kind kind, const unsigned char *pattern);

/* Takes the key from a pattern that has no list, if it is a literal, else NULL.  SQLITE_OK or
** SQLITE_NOMEM. */
int bloom_index_like_read_literal(index_condition *condition, sqlite3_value *literal);

/* Sets *are_built_in to whether SQLite's own functions have these names. */
typedef struct index_function {
  const char *name;
  int num_args;
} index_function;
int bloom_index_are_built_in(bloom_index *index, const index_function *functions, int num_functions,
                             int *are_built_in);

/* -- index_regexp.c ----------------------------------------------------------------------- */

/* Sets *is_trusted to whether the application's regexp() is known to be one that patterns are
** read for, and the condition's kind by whether it ignores case. */
int bloom_index_regexp_check(bloom_index *index, index_condition *condition, int *is_trusted);

/* Reads a pattern, which requires nothing if it is no TEXT.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_index_regexp_read(sqlite3_value *pattern, index_condition_kind kind,
                            bloom_regexp *regexp);

/* Calls regexp() once, if the source has a row: an error if the pattern is one to it. */
int bloom_index_regexp_try(bloom_index *index, sqlite3_value *pattern);

/* Sets *literal to the longest bytes that each matching text has, and returns how many they are. */
size_t bloom_index_regexp_literal(const bloom_regexp *regexp, const uint8_t **literal);

#endif
