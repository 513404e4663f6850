/*
** Texts, patterns and regular expressions -> bits, and which functions are trusted.
*/
#ifndef BLOOM_SQLITE_INDEX_LIKE_H
#define BLOOM_SQLITE_INDEX_LIKE_H

#include "../../core/signature/block.h"
#include "../../core/signature/regexp.h"

#include "index_candidates.h"

/* -- index_like.c ------------------------------------------------------------------------- */

/* Sets *weights, to be freed, to the weights of a LIKE column's pieces; NULL for other columns. */
int bloom_index_weights_read(const bloom_index *index, int key, uint8_t **weights);

/* Learns those of all columns from the first rows, and writes them. */
int bloom_index_weights_learn(bloom_index *index);

/* Sets *are_untaught if there was too little text to learn those of a column from. */
int bloom_index_weights_are_untaught(const bloom_index *index, int *are_untaught);

/* 1 if nothing can be said of a value, so that its block is to accept everything. */
int bloom_index_like_is_silent(sqlite3_value *value);

/* Adds the pieces of a column's value to a block. */
void bloom_index_like_add(const index_key *key, const uint8_t *weights, sqlite3_value *value,
                          bloom_block *block);

/* Adds the bits of a text's pieces to those that a block must have, as far as there is room. */
void bloom_index_test_add_pieces(index_test *test, const uint8_t *weights, uint32_t bits_per_block,
                                 const uint8_t *text, size_t num_bytes);

/* Sets what a block must have if it has a text that matches a pattern, or that equals a value; no
** bits if every block may.  Blocks know nothing of numbers and BLOBs.  A TEXT is in UTF-8. */
int bloom_index_like_test(const bloom_index *index, const uint8_t *weights,
                          index_condition condition, sqlite3_value *pattern, index_test *test);
void bloom_index_like_equal_test(const bloom_index *index, const uint8_t *weights, int key,
                                 sqlite3_value *value, index_test *test);

/* Leaves a pattern to SQLite alone if blocks cannot serve its operator's function: a like() or
** glob() that is the application's own, a regexp() by bloom_index_regexp_check().  Such a function
** may fail, on rows that conditions before it in the query keep from it. */
int bloom_index_like_check(bloom_index *index, index_condition *condition);

/* Takes the key from a pattern that has nothing which blocks know, if it is a literal, else NULL.
** SQLITE_OK or SQLITE_NOMEM. */
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

/* Adds the bits that a block must have for a term, as far as there is room. */
void bloom_index_regexp_test(const bloom_regexp *regexp, uint32_t term, const uint8_t *weights,
                             uint32_t bits_per_block, index_test *test);

/* Sets *literal to the longest bytes that each matching text has, and returns how many they are. */
size_t bloom_index_regexp_literal(const bloom_regexp *regexp, const uint8_t **literal);

#endif
