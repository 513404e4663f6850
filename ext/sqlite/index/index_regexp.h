/*
** Regular expressions -> bits, and which regexp() is trusted.
*/
#ifndef BLOOM_SQLITE_INDEX_REGEXP_H
#define BLOOM_SQLITE_INDEX_REGEXP_H

#include "../../core/signature/regexp.h"

#include "index_conditions.h"
#include "index_look_up.h"

/* Sets condition->is_opaque if the application's regexp() is not known to be one that patterns are
** read for, and its kind by whether it ignores case. */
int bloom_index_regexp_check(bloom_index *index, index_condition *condition);

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
