/*
** Hashes for bloom_filter(), whose filters live for one statement: if any `=` can find two values
** equal, they share at least one hash.
**
** `=` compares by the affinities and the collation of its two sides, which SQLite does not tell a
** function.  So a value has a hash for each way in which it may be compared, by any affinities and
** by BINARY, NOCASE or RTRIM.  Filters that follow a column know its affinity and collation, and
** need fewer hashes: source/equality.h.
**
**   INTEGER   the INTEGER
**   REAL      the INTEGER that it is equal to or near to; unless that is enough, its cell (key.h),
**             for TEXT affinity compares REALs by their texts
**   TEXT      the INTEGER ('01', ' 1') or REAL ('1.0', '1e3') that numeric affinity makes of it;
**             else the text
**   BLOB      the bytes
**
** A text is hashed without the blanks at its end, in small letters, up to its first NUL, behind
** which NOCASE does not compare.  SQLite searches an index on a REAL column for the REAL next to an
** INTEGER beyond 2^53, so such INTEGERs are looked up as REALs, too, or may be there.
**
** Where the application has SQLite write REALs with fewer than 15 digits there is no filter.
** Source: sqlite.org/datatype3.html, sections 3, 4.2 and 7.1.
*/
#ifndef BLOOM_SQLITE_EQUAL_KEYS_H
#define BLOOM_SQLITE_EQUAL_KEYS_H

#include "key.h"
#include "source/equality.h"
#include "sqlite_api.h"

/* Which kinds of keys the filter holds, so that a look-up skips hashes that could match none. */
typedef struct bloom_equal_kinds {
  char has_large_integer; /* beyond 2^53 */
  char has_large_real;    /* beyond 2^53 */
} bloom_equal_kinds;

/* Sets *hashes to those to store a value by, and adds its kind to *kinds; or, is_query, to those to
** look it up by among keys of these kinds.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_equal_hashes_of(bloom_equal_kinds *kinds, int is_query, sqlite3_value *value,
                          bloom_key_hashes *hashes);

/* Returns 1 and sets *hash if a TEXT, with a NUL behind it, has one hash: it is few digits and
** nothing else, or it is no number and has no NUL.  Else returns 0, with *hash undefined. */
int bloom_equal_plain_text(const uint8_t *text, size_t num_bytes, uint64_t *hash);

/* Returns 1 and sets *hash if a REAL has one hash: it is an integer, or far from any and from other
** cells. */
int bloom_equal_plain_real(double real, uint64_t *hash);

/* Returns 1 and sets *hash if a value has one hash, to store it and to look it up by, as most
** values have: without it a row of bloom_filter() and of a look-up takes 13 to 37 % longer.  Inline
** because it runs once a row. */
static inline int bloom_has_one_hash(sqlite3_value *value, uint64_t *hash){
  const int type = sqlite3_value_type(value);
  if( type==SQLITE_INTEGER ){
    const int64_t integer = sqlite3_value_int64(value);
    *hash = bloom_parquet_hash_int64(integer);
    return !bloom_is_large_integer(integer);
  }
  if( type==SQLITE_TEXT ){
    const uint8_t *text = sqlite3_value_text(value);
    return text && bloom_equal_plain_text(text, (size_t)sqlite3_value_bytes(value), hash);
  }
  return type==SQLITE_FLOAT && bloom_equal_plain_real(sqlite3_value_double(value), hash);
}

#endif
