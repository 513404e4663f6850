/*
** Texts and patterns -> bits.
*/
#ifndef BLOOM_SQLITE_INDEX_LIKE_H
#define BLOOM_SQLITE_INDEX_LIKE_H

#include "../../core/signature/block.h"

#include "index_blocks.h"
#include "index_conditions.h"

/* The weights of pieces, for each column that is indexed for LIKE. */
typedef struct index_weights {
  uint8_t *tables[INDEX_MAX_KEYS];
} index_weights;

/* Reads those of one column, or of all; bloom_index_weights_free() is for the caller. */
int bloom_index_weights_read_key(index_reader *reader, index_weights *weights);
int bloom_index_weights_read(const bloom_index *index, index_weights *weights);
void bloom_index_weights_free(index_weights *weights);

/* Learns them from the first rows, and writes them. */
int bloom_index_weights_learn(bloom_index *index);

/* 1 if there was too little text to learn from. */
int bloom_index_weights_are_untaught(const index_weights *weights);

/* 1 if nothing can be said of a value, so that its block is to accept everything. */
int bloom_index_like_is_silent(sqlite3_value *value);

/* Adds the pieces of a column's value to a block. */
void bloom_index_like_add(const index_key *key, const uint8_t *weights, sqlite3_value *value,
                          bloom_block *block);

/* Writes the bits that a block must have if it has a text that matches: their number, 0 if
** every text may. */
int bloom_index_like_bits(const bloom_index *index, const uint8_t *weights,
                          index_condition condition, sqlite3_value *pattern,
                    uint16_t *bits, size_t max_bits, size_t *num_bits);

/* Writes the bits that a block must have if it has a text that equals value.  Blocks know
** nothing of numbers and BLOBs: then there are none. */
int bloom_index_like_equal_bits(const bloom_index *index, const uint8_t *weights, int key,
                                sqlite3_value *value,
                          uint16_t *bits, size_t max_bits, size_t *num_bits);

/* Sets condition->is_opaque if another function than SQLite's own serves the operator; for
** REGEXP as bloom_index_regexp_check(). */
int bloom_index_like_check(bloom_index *index, index_condition *condition);

/* Sets *are_built_in to whether SQLite's own functions have these names. */
typedef struct index_function {
  const char *name;
  int num_args;
} index_function;
int bloom_index_are_built_in(bloom_index *index, const index_function *functions, int num_functions,
                             int *are_built_in);

#endif
