/*
** Hashes of the values of a followed column.  A value is stored by some hashes, and looked for by
** some: whenever `column = value` is true, whatever column or literal the value comes from, it is
** looked for by one of the hashes that the column's value is stored by.  bloom_filter() has another
** rule (../functions/bloom_filter.c): here the affinity and the collation of the column are known,
** so a value is stored by one hash mostly, by 4 at most; there neither is known, and each value has
** a hash for every way in which it may be compared.
**
**   stored       by its key: TEXT with its collation undone; a TEXT that is a number has that
**                number's key instead, or both where it is beyond 64 bits, has a long exponent,
**                more than 200 digits or a NUL
**   looked for   by all keys that equal values may be stored by
**
** Where the column can hold TEXT, the key of a REAL is its cell: texts of it may have fewer digits,
** and versions of SQLite read some decimals as neighbouring REALs (../key.h).
**
** The running SQLite reads texts as numbers.  Source: sqlite.org/datatype3.html, sections 4.2, 7.1.
*/
#ifndef BLOOM_SQLITE_SOURCE_EQUALITY_H
#define BLOOM_SQLITE_SOURCE_EQUALITY_H

#include "../../core/debug.h"
#include "../../core/filter.h"
#include "../connection.h"

/* What values a column can hold. */
typedef enum bloom_column_kind {
  BLOOM_COLUMN_NONE,   /* keys are the encoding's, and nothing is undone */
  BLOOM_COLUMN_NUMBER, /* affinity INTEGER, REAL or NUMERIC: no TEXT that is a number */
  BLOOM_COLUMN_TEXT,   /* affinity TEXT: TEXT and BLOBs */
  BLOOM_COLUMN_ANY     /* no affinity: all */
} bloom_column_kind;

typedef enum bloom_collation {
  BLOOM_COLLATION_BINARY,
  BLOOM_COLLATION_NOCASE,
  BLOOM_COLLATION_RTRIM
} bloom_collation;

/* Their names.  SQLite has no others of its own. */
#define BLOOM_NUM_COLLATIONS 3
extern const char *const bloom_collation_names[BLOOM_NUM_COLLATIONS];

typedef struct bloom_equality {
  bloom_column_kind kind;
  bloom_collation collation;
} bloom_equality;

/* A value has 6 at most; an INTEGER in a tuple, which may have been a REAL, has those of both. */
#define BLOOM_MAX_KEY_HASHES 12

/* The hashes of one value. */
typedef struct bloom_key_hashes {
  int num_hashes; /* 0: NULL, which is no key and equals nothing */
  int is_maybe;   /* to look for: the value may be there, whatever its hashes */
  bloom_hash_value hashes[BLOOM_MAX_KEY_HASHES];
} bloom_key_hashes;

/* Adds a hash, unless it is there: hashes are distinct. */
static inline void bloom_push_hash(bloom_key_hashes *hashes, bloom_hash_value hash){
  int i;
  for(i=0; i<hashes->num_hashes; i++){
    if( hashes->hashes[i]==hash ) return;
  }
  assert( hashes->num_hashes<BLOOM_MAX_KEY_HASHES ); /* no value has more */
  hashes->hashes[hashes->num_hashes++] = hash;
}

/* Returns a column's affinity by its declared type: 'i'nteger, 'r'eal, 'n'umeric, 't'ext, or
** 'b'lob, which is no affinity. */
char bloom_affinity_of(const char *type);

/* Returns 1 if bloom_affinity_of() returns such a letter, else 0. */
int bloom_is_affinity(char letter);

/* Returns the kind of a column by its affinity. */
bloom_column_kind bloom_column_kind_of_affinity(char affinity);

/* Returns 1 and sets *collation if the name is that of one of SQLite's own, else 0.  It may be
** NULL. */
int bloom_collation_named(const char *name, bloom_collation *collation);

/* What the hashes of a value are for. */
typedef enum bloom_hash_use {
  BLOOM_TO_STORE,
  BLOOM_TO_STORE_NUMBER, /* a TEXT that is a number without its text's hash: whatever equals it is
                         ** looked for by its number, too */
  BLOOM_TO_LOOK_FOR,     /* a REAL that may be compared as a text may be there if the connection
                         ** writes REALs with few digits */
  BLOOM_TO_LOOK_FOR_LITERAL /* a literal has no affinity: a column of affinity TEXT is compared with
                         ** its text alone, so a TEXT of many digits, or of infinity, is not looked
                         ** for by its number */
} bloom_hash_use;

/* Sets the hashes of a value.  db is not used to store it.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_hashes_of_value(sqlite3 *db, bloom_equality rule, sqlite3_value *value,
                          bloom_hash_use use, bloom_key_hashes *hashes);

/* Returns 1 if a TEXT may be equal to a number: it may look like one, or is that of infinity. */
int bloom_bytes_may_equal_number(const uint8_t *text, size_t num_bytes);

/* Sets *is_number to whether a value is a number, or a TEXT that may be equal to one; it is the
** same for values that some `=` finds equal.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_may_equal_number(sqlite3_value *value, int *is_number);

/* Sets *hashes to the hash of such a value's cell, to store it by; is_query: to those of all cells
** near it, to look for it by.  Where `=` holds, whatever the column, they have one in common.
** Numbers whose first 12 digits agree may share a cell.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_cell_hashes(sqlite3_value *value, int is_query, bloom_key_hashes *hashes);

/* Sets the one hash, to store and to look for, of a TEXT that is no number, given as its bytes;
** sets none if it may be a number.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_plain_text_hash(bloom_equality rule, const uint8_t *text, size_t num_bytes,
                          bloom_key_hashes *hashes);

/* Returns 0 if a TEXT is no number to SQLite; BLOOM_IS_NUMBER if it surely is one; 1 if it may be,
** or when out of memory.  The second takes its bytes, and returns BLOOM_IS_INTEGER for an integer
** of 64 bits, 1 for all that may be another number. */
#define BLOOM_IS_NUMBER  2
#define BLOOM_IS_INTEGER 2
int bloom_text_may_be_number(sqlite3_value *value);
int bloom_bytes_may_be_number(const uint8_t *text, size_t num_bytes);

#endif
