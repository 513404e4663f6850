/*
** The hashes of a key of one column or several, by the rules of its columns.
**
** A key of one column has the hashes of its value.  A tuple has a hash for each combination of its
** values' hashes: where `=` holds for each column, it is looked for by one that it is stored by.
**
** Combinations are limited.  In a key of more than three columns, numbers have all their hashes up
** to a limit, and each later number has its cell alone: which ones depends on the columns and on
** which values are numbers, so it is the same for equal keys.  A key that would be looked for by
** too many combinations may be there.
*/
#ifndef BLOOM_SQLITE_SOURCE_KEYS_H
#define BLOOM_SQLITE_SOURCE_KEYS_H

#include "equality.h"

#define BLOOM_MAX_KEY_COLUMNS 16

/* The rules of a key's columns.  None: a key is what the encoding takes it for. */
typedef struct bloom_key_rules {
  int num_columns;
  bloom_equality columns[BLOOM_MAX_KEY_COLUMNS];
} bloom_key_rules;

/* In keys of more columns, numbers may have their cells alone. */
#define BLOOM_MAX_SURE_COLUMNS 3

/* A key: a tuple's columns one by one, or one value, which is bloom_tuple()'s BLOB for a tuple. */
typedef struct bloom_key_values {
  sqlite3_value *value;  /* read where parts is NULL */
  sqlite3_value **parts;
} bloom_key_values;

/* The most hashes that a key is looked for by. */
#define BLOOM_MAX_QUERY_HASHES 256

typedef struct bloom_combined_hashes {
  int num_hashes; /* 0: NULL, which is no key */
  int is_maybe;   /* it may be there: it takes too many hashes, or REALs have few digits */
  int is_invalid; /* no tuple of so many values */
  bloom_hash_value first; /* the combination of each value's first hash: it tells keys apart */
  bloom_hash_value hashes[BLOOM_MAX_QUERY_HASHES];
} bloom_combined_hashes;

/* The statement that reads the values of tuples; {connection, NULL} at first.  The caller finalizes
** row. */
typedef struct bloom_tuple_reader {
  bloom_connection *connection;
  sqlite3_stmt *row;
} bloom_tuple_reader;

/* Sets the hashes to look for a key by; reader is NULL: to store it by, which needs a tuple's
** parts.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_hashes_of_key(const bloom_key_rules *rules, bloom_tuple_reader *reader,
                        bloom_key_values key, bloom_combined_hashes *hashes);

#endif
