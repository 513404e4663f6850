/*
** The virtual table of bloom_index as it is in memory, which all its parts share, and the
** statements that it keeps.  README.md says which part does what; the other headers, what parts offer.
*/
#ifndef BLOOM_SQLITE_INDEX_INT_H
#define BLOOM_SQLITE_INDEX_INT_H

#include "../connection.h"
#include "../source/database.h"
#include "../source/equality.h"
#include "../source/sql.h"

#define INDEX_MAX_KEYS 16

/* A column that has blocks: what the configuration says of it, and where it is in the source
** now. */
typedef struct index_key {
  int is_like; /* blocks hold pieces of its text, for LIKE and GLOB; else its values, for = */
  int is_regexp; /* those for REGEXP, too: also of what is behind a NUL */
  int is_range; /* it has zones in place of blocks: index_zones.c */
  char *name;      /* when its blocks were begun; ALTER TABLE may have changed it since */
  char *collation; /* then, and so are these: */
  char affinity;   /* bloom_index_affinity_of() */
  int is_virtual;  /* a generated column that is not stored */
  int is_gone;     /* there was no such column, and its blocks are empty */
  bloom_equality equality; /* follows from these */

  int column;        /* of index->columns; -1: there is none now */
  const char *doubt; /* NULL, or why its blocks are of no use: what follows "column k " */
} index_key;

/* What is decided when the table is made, and anew by 'rebuild'. */
typedef struct index_config {
  char *source; /* the table's name then; ALTER TABLE RENAME may have changed it */
  index_key keys[INDEX_MAX_KEYS];
  int num_keys;
  /* there is no INTEGER PRIMARY KEY: NAME_canary tells whether ids are others since */
  int has_hidden_ids;
  uint32_t num_probes; /* of a key, for =; 0: they grow with the table */
  uint32_t version;    /* of SQLite, which computed what virtual columns have in blocks */
  uint64_t checksum;   /* of its bytes, as they were read or written last */
} index_config;

/* A column of the source.  type is "" where it is none, as is ANY of a STRICT table. */
typedef struct index_column_info {
  char *name, *type, *collation;
} index_column_info;

/* All of them, as they are declared to SQLite. */
typedef struct index_columns {
  index_column_info *list;
  int num_columns, max_columns;
  int id_column; /* the INTEGER PRIMARY KEY; -1: the rowid is hidden */
  char *id_name; /* its name, or one of the rowid's that no column has */
} index_columns;

typedef struct index_statement index_statement;

/* How SQLite reads the source by the inner statement: EXPLAIN QUERY PLAN. */
typedef enum index_access_way {
  INDEX_ACCESS_SCAN, INDEX_ACCESS_ROW, INDEX_ACCESS_KEY, INDEX_ACCESS_SHORT_RANGE,
  INDEX_ACCESS_RANGE
} index_access_way;

typedef struct index_access {
  index_access_way way;
  int is_or;
  int sorts; /* for its order, or GROUP BY */
} index_access;

typedef struct index_known_access {
  char *sql;
  index_access access;
} index_known_access;

#define INDEX_NUM_ACCESSES 16

/* How the source's columns are, beside those that SQLite was told. */
typedef enum index_columns_state {
  INDEX_COLUMNS_SAME,
  INDEX_COLUMNS_MORE, /* there are others behind them */
  INDEX_COLUMNS_OTHER
} index_columns_state;

/* The virtual table. */
typedef struct bloom_index {
  sqlite3_vtab base; /* first, for SQLite */
  bloom_connection *connection;
  char *schema, *name;
  void *file;         /* that SQLite had open for this database: bloom_index_locate() */
  bloom_database_state state;
  char *source_name;  /* as it was called when a statement was last compiled */
  index_config config;
  int num_blocks_tables; /* by the arguments, which are there where the configuration is not */
  /* that SQLite was told, once is_declared; none where the source was gone */
  index_columns columns;
  int is_declared;
  index_columns_state columns_state;
  /* of the source: what was compiled before the last one may be another now */
  uint32_t num_checks;
  int command_column;    /* which has the index's name */
  int is_config_stale;   /* a command failed that had changed it */

  /* What was found at a version of the schema: bloom_index_source_doubt(). */
  int is_checked;
  sqlite3_int64 checked_version;
  char *doubt; /* why blocks cannot be believed; NULL: they can */
  int has_triggers; /* all of ours are on the source */

  index_statement *statements; /* that are kept */
  /* of the source since check number accesses_checks */
  index_known_access accesses[INDEX_NUM_ACCESSES];
  uint32_t accesses_checks, next_access;

  sqlite3_int64 letter_bytes; /* of 'a': 1 in UTF-8, 2 in UTF-16; 0: not known yet */
  /* NULL, or what follows the name where the table cannot be used: all but DROP fails */
  const char *damage;
  int is_of_1_1;      /* the damage is that it was made by 1.1, whose tables were others */
  uint64_t number;    /* of the layout, as it was read or written last: checksums are under it */
  uint64_t damaged_number; /* of one with blocks that a query found damaged; 0: none */
} bloom_index;

/* SQLite's pointer to it, which is aligned for what SQLite knows of it alone. */
static inline bloom_index *index_of(void *base){
  return base;
}

/* -- index_statements.c ------------------------------------------------------------------- */

/* Takes a kept statement of this text, or compiles it.  sql is freed; NULL is want of memory.
** It is to be given back, which resets it; NULL may be, too. */
int bloom_index_statement_take(bloom_index *index, char *sql, index_statement **taken,
                               sqlite3_stmt **statement);
void bloom_index_statement_give_back(bloom_index *index, index_statement *taken);
void bloom_index_statements_free(bloom_index *index);

/* Forgets them, but for those that are lasting. */
void bloom_index_statements_forget(bloom_index *index);

/* Sets *number to the first column of the first row of a kept statement, which a format of
** sqlite3_mprintf() makes, unless that is NULL.  is_lasting: it tells costs, or versions of the
** schema, so that an authorizer may hide it for longer than SQLite hears of it. */
int bloom_index_statement_integer(bloom_index *index, int is_lasting, sqlite3_int64 *number,
                                  const char *format, ...);

#endif
