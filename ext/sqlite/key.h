/*
** Which key an SQL value is: an integer or bytes, by the table of ../FUNCTIONS.md.  Each encoding
** decides how an integer becomes bytes; by the default rule they are its decimal text.  The text of
** a REAL is never used, because it depends on the version of SQLite.
*/
#ifndef BLOOM_SQLITE_KEY_H
#define BLOOM_SQLITE_KEY_H

#include <string.h>

#include "../core/parquet/parquet.h"
#include "sqlite_api.h"

typedef enum bloom_key_kind {
  BLOOM_KEY_INTEGER,
  BLOOM_KEY_BYTES,
  BLOOM_KEY_NULL, /* SQL NULL: no key */
  BLOOM_KEY_NOMEM /* no memory to convert the value */
} bloom_key_kind;

/* A key, valid until its value is used again or freed.  Its bytes may lie inside this
** struct, so the struct must not be copied. */
typedef struct bloom_key {
  int64_t integer;      /* of BLOOM_KEY_INTEGER */
  const uint8_t *bytes; /* of BLOOM_KEY_BYTES; may be NULL if num_bytes is 0 */
  size_t num_bytes;
  uint8_t buffer[8];
} bloom_key;

/* Returns 1 and sets *integer if a REAL equals a 64-bit integer, else returns 0.  Outside of
** the range the cast would be undefined. */
static inline int bloom_real_is_integer(double real, int64_t *integer){
  const double two_63 = 9223372036854775808.0;
  if( !(real>=-two_63 && real<two_63 && (double)(int64_t)real==real) ) return 0;
  *integer = (int64_t)real;
  return 1;
}

/* Returns 1 if a character is a blank, as SQLite has them. */
int bloom_is_space(char c);

/* Reads a text that is a number without a sign, with blanks around it or not: digits, a point, an
** exponent.  strtod() would expect the locale's point.  Returns 0 if the text is no such number. */
int bloom_read_number(const char *text, double *number);

/* Returns the key of a REAL: BLOOM_KEY_INTEGER or BLOOM_KEY_BYTES. */
bloom_key_kind bloom_real_key_of(double value, bloom_key *key);

/* Returns the key of a REAL or a BLOB. */
bloom_key_kind bloom_key_of_slow(sqlite3_value *value, bloom_key *key);

/* Reads the key of a function's argument as bytes by the default rule: an integer is its decimal
** text, which is written to decimal, BLOOM_DECIMAL_MAX_BYTES.  1 if it is a key; 0 if it is NULL,
** or if there is no memory, which is context's error then. */
int bloom_key_bytes_arg(sqlite3_context *context, sqlite3_value *value, uint8_t *decimal,
                        bloom_key *key);

/* Returns the key that a value is.  Inline because it runs once a row. */
static inline bloom_key_kind bloom_key_of(sqlite3_value *value, bloom_key *key){
  switch( sqlite3_value_type(value) ){
    case SQLITE_INTEGER:
      key->integer = sqlite3_value_int64(value);
      return BLOOM_KEY_INTEGER;
    case SQLITE_TEXT:
      key->bytes = sqlite3_value_text(value);
      if( key->bytes==NULL ) return BLOOM_KEY_NOMEM;
      /* The length comes last because the call above may have converted the value. */
      key->num_bytes = (size_t)sqlite3_value_bytes(value);
      return BLOOM_KEY_BYTES;
    case SQLITE_NULL:
      return BLOOM_KEY_NULL;
    default:
      return bloom_key_of_slow(value, key);
  }
}

/* Returns the hash of a key of this kind; 0 if it is none. */
static inline bloom_hash_value bloom_hash_of(const bloom_encoding *encoding, bloom_key_kind kind,
                                             const bloom_key *key){
  if( kind==BLOOM_KEY_INTEGER ) return encoding->hash_int64(key->integer);
  return kind==BLOOM_KEY_BYTES ? encoding->hash_bytes(key->bytes, key->num_bytes) : 0;
}

/* Sets *hash to the hash of a value's key, and returns the key's kind. */
static inline bloom_key_kind bloom_hash_of_key(const bloom_encoding *encoding,
                                               sqlite3_value *value, bloom_hash_value *hash){
  bloom_key key;
  const bloom_key_kind kind = bloom_key_of(value, &key);
  *hash = bloom_hash_of(encoding, kind, &key);
  return kind;
}

/* -- Cells of REALs: which REALs may be equal, as numbers or as texts ------------------------ */

/*
** SQLite writes a REAL with 15 digits or more, unless an application tells it otherwise, and its
** versions read some decimals as neighbouring REALs.  A step leads from one REAL to the next.
** REALs with the same 15 digits are at most 90 steps apart; a text and the REAL that it is read as
** at most 45, plus the few by which reading errs.  So where texts may be compared a REAL is stored
** by its cell, 4,096 steps, and looked up by all cells within 128 steps: for one REAL in 16 these
** are two.  Of today's Unix times a cell is less than a thousandth of a second.
**
** A whole REAL is stored by its INTEGER alone, one that is near an INTEGER by both.
*/

#define BLOOM_CELL_MAX_STEPS 128
#define BLOOM_CELL_STEPS_LG  12

/* From here on SQLite may write a REAL as an integer that is not the nearest one, 671190997896998.5
** as ...998.0. */
#define BLOOM_MIN_CUT_INTEGER 1e14

/* Integers that are at least this large may share a REAL with others. */
#define BLOOM_LARGE_INTEGER ((int64_t)1 << 53)

static inline int bloom_is_large_integer(int64_t integer){
  return integer>=BLOOM_LARGE_INTEGER || integer<=-BLOOM_LARGE_INTEGER;
}

/* Returns 1 if the application has SQLite write REALs with so few digits that those of one text may
** lie in different cells. */
static inline int bloom_db_has_few_digits(sqlite3 *db){
  return bloom_db_real_digits(db)<15;
}

/* Returns how many steps a REAL is from 0. */
static inline uint64_t bloom_steps_of(double real){
  uint64_t bits;
  memcpy(&bits, &real, sizeof(bits));
  return bits & INT64_MAX;
}

/* Returns the cell of a REAL by its steps.  REALs of few binary digits lie in the middle of
** theirs. */
static inline uint64_t bloom_cell_of(uint64_t steps){
  return (steps + (1 << (BLOOM_CELL_STEPS_LG-1))) >> BLOOM_CELL_STEPS_LG;
}

static inline uint64_t bloom_first_cell(uint64_t steps){
  return bloom_cell_of(steps>BLOOM_CELL_MAX_STEPS ? steps - BLOOM_CELL_MAX_STEPS : 0);
}

static inline uint64_t bloom_last_cell(uint64_t steps){
  return bloom_cell_of(steps + BLOOM_CELL_MAX_STEPS);
}

/* Returns the hash of a cell on the side of 0 that real is on; hardly any INTEGER shares it. */
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

/* Returns 1 if a REAL is stored by its INTEGER alone. */
static inline int bloom_real_is_whole(double real){
  int64_t integer;
  return real>-BLOOM_MIN_CUT_INTEGER && real<BLOOM_MIN_CUT_INTEGER
      && bloom_real_is_integer(real, &integer);
}

#endif
