/*
** Cells of REALs: which REALs may be equal, as numbers or as texts.
**
** SQLite writes a REAL with 15 digits or more, unless an application tells it otherwise, and its
** versions read some decimals as neighbouring REALs.  REALs with the same 15 digits are at most 90
** steps, from one REAL to the next, apart; a text and what it is read as 45, and a few that the
** reading is wrong by.  So where texts may be compared a REAL is stored by its cell, and asked for
** by all cells that are near: one in 16 by two.  A cell is narrower than a thousandth of a second
** among today's Unix times.
**
** A whole REAL is known by its INTEGER alone, and one that is near to an INTEGER by both.
** Inline because bloom_filter() needs it once a row.
*/
#ifndef BLOOM_SQLITE_REAL_CELLS_H
#define BLOOM_SQLITE_REAL_CELLS_H

#include <string.h>

#include "../core/parquet/parquet.h"
#include "key.h"

#define BLOOM_CELL_MAX_STEPS 128
#define BLOOM_CELL_STEPS_LG  12

/* Below this SQLite writes no REAL as an integer that is not the nearest one.  From here on
** 671190997896998.5 may be ...998.0. */
#define BLOOM_MIN_CUT_INTEGER 1e14

/* Integers that are at least this large may share a REAL with others. */
#define BLOOM_LARGE_INTEGER ((int64_t)1 << 53)

static inline int bloom_is_large_integer(int64_t integer){
  return integer>=BLOOM_LARGE_INTEGER || integer<=-BLOOM_LARGE_INTEGER;
}

/* Returns 1 if the application has SQLite write REALs with so few digits that cells do not tell. */
static inline int bloom_db_has_few_digits(sqlite3 *db){
  return bloom_db_real_digits(db)<15;
}

/* Returns a REAL's place among all of its sign, from 0 on. */
static inline uint64_t bloom_steps_of(double real){
  uint64_t bits;
  memcpy(&bits, &real, sizeof(bits));
  return bits & INT64_MAX;
}

/* Returns the cell of a place.  REALs of few binary digits are in the middle of theirs. */
static inline uint64_t bloom_cell_of(uint64_t steps){
  return (steps + (1 << (BLOOM_CELL_STEPS_LG-1))) >> BLOOM_CELL_STEPS_LG;
}

static inline uint64_t bloom_first_cell(uint64_t steps){
  return bloom_cell_of(steps>BLOOM_CELL_MAX_STEPS ? steps - BLOOM_CELL_MAX_STEPS : 0);
}

static inline uint64_t bloom_last_cell(uint64_t steps){
  return bloom_cell_of(steps + BLOOM_CELL_MAX_STEPS);
}

/* Returns the hash of a cell among the REALs of this one's sign; hardly an INTEGER's. */
static inline uint64_t bloom_hash_of_cell(double real, uint64_t cell){
  return ~bloom_parquet_hash_int64((int64_t)(cell | (uint64_t)(real<0) << 63));
}

/* Returns 1 and sets *integer if a REAL is a small integer, or so near to one that it may be
** written as it. */
static inline int bloom_real_is_near_integer(double real, int64_t *integer){
  const double two_52 = 4503599627370496.0; /* beyond it all are integers */
  uint64_t steps, integer_steps;
  if( bloom_real_is_integer(real, integer) ) return !bloom_is_large_integer(*integer);
  if( !(real>-two_52 && real<two_52) ) return 0;
  *integer = (int64_t)(real<0 ? real - 0.5 : real + 0.5);
  steps = bloom_steps_of(real);
  integer_steps = bloom_steps_of((double)*integer);
  return steps + BLOOM_CELL_MAX_STEPS>=integer_steps
      && steps<=integer_steps + BLOOM_CELL_MAX_STEPS;
}

/* Returns 1 if its INTEGER tells all of a REAL. */
static inline int bloom_real_is_whole(double real){
  int64_t integer;
  return real>-BLOOM_MIN_CUT_INTEGER && real<BLOOM_MIN_CUT_INTEGER
      && bloom_real_is_integer(real, &integer);
}

#endif
