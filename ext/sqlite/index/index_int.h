/*
** The object of a bloom_index, which all files of this folder share, and the statements that it
** keeps.  README.md says which file does what.
*/
#ifndef BLOOM_SQLITE_INDEX_INT_H
#define BLOOM_SQLITE_INDEX_INT_H

#include "../connection.h"
#include "../errors.h"
#include "../source/follow.h"
#include "../source/source.h"

#define INDEX_MAX_KEYS 16

/* What a condition asks for: bits.  The last two are functions, which the application may have
** replaced: LIKE and GLOB, and REGEXP. */
typedef enum index_group {
  INDEX_EQUALITY = 1, INDEX_RANGE = 2, INDEX_DIFFERENCE = 4, INDEX_NULL_TEST = 8,
  INDEX_PATTERN = 16, INDEX_EXPRESSION = 32
} index_group;

/* What a column is indexed by.  Of several kinds of entries that serve a condition the first one
** leaves the fewest blocks. */
typedef enum index_key_kind {
  INDEX_KEY_HASHES, /* entries of its values */
  INDEX_KEY_TEXTS,  /* entries of the pieces of its texts, up to a NUL */
  INDEX_KEY_REGEXP, /* and of those behind it */
  INDEX_KEY_ZONES   /* least and greatest values */
} index_key_kind;
#define INDEX_NUM_KEY_KINDS (INDEX_KEY_ZONES + 1)

/* A row of bloom_index_key_kinds[].  A kind needs a `case` of each `switch` on kinds, too: none has
** a default, so that compilers name those that lack it.  What it does not serve of its groups is
** for bloom_index_like_read_literal() to refuse. */
typedef struct index_key_properties {
  const char *words[3]; /* behind the column in CREATE, which names it once with the first one */
  uint32_t bits;     /* of the configuration */
  uint32_t groups;   /* of conditions that it serves: index_group */
  int has_hash_bits; /* its tokens are bits of hashes */
  int has_lists;     /* its tokens are lists, which bloom_index_choose() chooses */
  int is_of_texts;   /* it indexes values as texts: under any collation, those of the id, too; and 1
                     ** and 1.0 differ, which `IS NOT` takes for equal */
  const char *suffix; /* of its table: NAME_, this, and the column's number from 1 */
} index_key_properties;
extern const index_key_properties bloom_index_key_kinds[INDEX_NUM_KEY_KINDS];

/* A column that is indexed: what the configuration says of it, and where it is in the source. */
typedef struct index_key {
  index_key_kind kind;
  /* What the column was when it was merged first; ALTER TABLE may have changed it since. */
  char *name;
  char *collation;
  char affinity;   /* bloom_affinity_of() */
  int is_virtual;  /* it was generated, and not stored */
  int is_gone;     /* there was no such column, and it has no entries */
  bloom_equality equality; /* the rule of `=` that follows from affinity and collation */

  int column;        /* its place in index->columns now; -1: it is gone */
  const char *doubt; /* why its entries are not used, as words behind "column k "; NULL: they are */
} index_key;

/* What CREATE decides, and each 'rebuild' again. */
typedef struct index_config {
  char *source; /* the table's name then; ALTER TABLE may have renamed it since */
  index_key keys[INDEX_MAX_KEYS];
  int num_keys;
  int is_unmerged; /* CREATE merges no rows, but leaves them to 'merge' */
  /* The source has no INTEGER PRIMARY KEY: NAME_canary tells whether its rowids changed since. */
  int has_hidden_ids;
  uint32_t version;  /* of the SQLite that computed the values of virtual columns for entries */
  uint64_t checksum; /* of the bytes that were read or written last; 0: bloom_index_begin() reads
                     ** them again */
} index_config;

typedef struct index_statement index_statement;

/* What a kept statement is for.  One of the last two uses is found by its text; the others, which
** each look-up needs, by their use alone. */
typedef enum index_use {
  INDEX_USE_VERSION, /* of the schema */
  INDEX_USE_STATE,
  INDEX_USE_LAST_ID,
  INDEX_USE_CHANGED,
  INDEX_USE_ENTRIES, /* of the first indexed column; those of the others follow */
  INDEX_USE_BY_TEXT = INDEX_USE_ENTRIES + INDEX_MAX_KEYS,
  INDEX_USE_FOR_COST /* costs alone depend on it, so it counts as proven: index_statements.c */
} index_use;

/* The source's columns now, compared with those that were declared to SQLite. */
typedef enum index_columns_state {
  INDEX_COLUMNS_SAME,
  INDEX_COLUMNS_MORE, /* the same, and others behind them */
  INDEX_COLUMNS_OTHER
} index_columns_state;

/* The source as it was when it was looked at last. */
typedef struct index_source {
  const char *doubt; /* why the whole source is read; NULL: entries are trusted.
                     ** bloom_index_doubt_text() adds the cure */
  int is_by_trigger_alone; /* the doubt is about a trigger of the user's, and nothing is damaged */
  int has_triggers;  /* all of ours are on it */
  int has_tables;    /* the index's own tables are there: else no command can run */
  int can_heal;      /* 'merge' may do what 'rebuild' does: there is a doubt, no authorizer hides
                     ** the schema, and the source is that of the triggers, or, without any, has
                     ** the recorded name and columns that are equal */
} index_source;

/* What is known of one content of the database, so that it need not be read again. */
typedef enum index_fact {
  INDEX_FACT_SCHEMA = 1,      /* index->checked_version is the schema's */
  INDEX_FACT_LAYOUT = 2,      /* index->layout is the layout */
  INDEX_FACT_LAST = 4,        /* `last` is the source's last id */
  INDEX_FACT_FEW_CHANGED = 8, /* bloom_index_cost_is_outweighed() would set 0 */
  INDEX_FACT_NONE_CHANGED = 16, /* NAME_changed is empty */
  INDEX_FACT_ALL_HAVE_GRAMS = 32 /* the list that each pattern is looked for in is empty, of the
                                 ** first indexed column and place 0; bits of the others follow */
} index_fact;

typedef struct index_facts {
  bloom_content state; /* bloom_db_content() */
  unsigned content;    /* its number */
  uint64_t known;      /* index_fact */
  sqlite3_int64 last;
} index_facts;

/* The first and the last id that the source had before a statement of the connection wrote:
** index_cursor.c. */
typedef struct index_bounds {
  sqlite3_int64 first, last;
  sqlite3_stmt *writer;  /* that statement; NULL: none writes */
  int num_runs;          /* its runs, the present one among them */
  int num_changes;       /* sqlite3_total_changes(): of statements that have ended */
  int num_cursors;       /* open cursors that have these bounds */
  uint64_t number;       /* of these bounds alone */
} index_bounds;

/* The virtual table. */
typedef struct bloom_index {
  sqlite3_vtab base; /* first, for SQLite */
  bloom_connection *connection;
  char *schema, *name;
  void *file;         /* the file that SQLite had open for this database: bloom_index_begin() */
  index_config config;
  index_config arguments; /* of CREATE, which can be read where the configuration cannot */
  /* The source's present name and id, and the columns that were declared to SQLite: none if the
  ** source was gone then. */
  bloom_source columns;
  int is_declared;
  index_columns_state columns_state;
  int command_column;    /* the column that has the index's name and takes commands */

  /* What the method found at its beginning: bloom_index_begin(). */
  int is_steady;  /* no other file can come under the database's name while the method runs */
  int is_checked; /* the source was looked at, at this version of the schema */
  sqlite3_int64 checked_version;
  index_source source;
  /* How often the source was looked at.  A statement that was compiled before the last time may
  ** mean other columns now. */
  uint32_t num_checks;

  index_facts facts;           /* bloom_index_see() */
  index_bounds bounds;         /* the ones that were read last */
  index_statement *statements; /* the kept ones, the one that was taken last first */

  /* Bytes of 'a': 1 in UTF-8, 2 in UTF-16; 0: bloom_index_begin() has not found out yet. */
  sqlite3_int64 letter_bytes;
  /* Not NULL while a statement is compiled to see whether SQLite tells xBestIndex this text:
  ** bloom_index_see_end(). */
  const char *like_end;
  /* Why the table cannot be used, as words behind its name: all but DROP fails; NULL: it can. */
  const char *damage;
  int is_of_1_2;      /* its tables are those of bloom 1.2, until 'merge' */
  uint64_t number;    /* the number of the layout that was read or written last, for checksums */
  /* What was read last: bloom_index_layout_read(), _spans_read(), _lists_read(). */
  struct index_layout_kept *layout;
  struct index_spans *spans[2];
  struct index_lists_kept *lists[INDEX_MAX_KEYS][2];
} bloom_index;

static inline const index_key_properties *index_properties_of(const index_key *key){
  return &bloom_index_key_kinds[key->kind];
}

/* Returns 1 if a column's entries or zones serve conditions of a group. */
static inline int index_serves(const index_key *key, index_group group){
  return (index_properties_of(key)->groups & group)!=0;
}

/* Returns the table by SQLite's pointer to its base, without a cast that compilers warn of. */
static inline bloom_index *index_of(void *base){
  return base;
}

/* -- index.c -------------------------------------------------------------------------------- */

/* Makes the object of an index of which nothing is read yet; NULL when out of memory. */
bloom_index *bloom_index_new(bloom_connection *connection, const char *schema, const char *name);
void bloom_index_free(bloom_index *index);

/* -- index_statements.c ------------------------------------------------------------------- */

/* Take a kept statement, or compile one.  Its text is sql, which is freed, and NULL when out of
** memory; or is made by sqlite3_mprintf() of a format.  The caller gives it back. */
int bloom_index_statement_take_text(bloom_index *index, int use, char *sql,
                                    sqlite3_stmt **statement);
int bloom_index_statement_take(bloom_index *index, int use, sqlite3_stmt **statement,
                               const char *format, ...);

/* Resets a statement, unless it is NULL.  is_proven: its results show that no authorizer hid
** anything when it was compiled; then it is kept when a plan is made. */
void bloom_index_statement_give_back(bloom_index *index, sqlite3_stmt *statement, int is_proven);

/* Frees the kept statements that are not proven; are_all: each of them, since their names may mean
** something else now. */
void bloom_index_statements_forget(bloom_index *index, int are_all);

/* Sets *number to the first column of a statement's first row, and counts it as proven, unless
** there is no row, or that is NULL. */
int bloom_index_statement_integer(bloom_index *index, int use, sqlite3_int64 *number,
                                  const char *format, ...);

/* Forgets the facts of another content than the database has now, as far as SQLite tells.  The
** facts that are left hold until the method ends. */
void bloom_index_see(bloom_index *index);

/* Notes a fact that was just read, after bloom_index_see() in the same method. */
void bloom_index_note(bloom_index *index, uint64_t fact);

/* Fails with a message, a format and its arguments: SQLITE_ERROR or SQLITE_NOMEM. */
#define BLOOM_INDEX_FAIL(index, ...) bloom_fail_vtab(&(index)->base.zErrMsg, __VA_ARGS__)

/* Returns rc, and sets the table's message for it, if one is due and there is none yet.  Functions
** that fail return SQLite's code alone; each method ends with this. */
int bloom_index_failure(bloom_index *index, int rc);

#endif
