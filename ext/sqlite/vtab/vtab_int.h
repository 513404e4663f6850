/*
** What the files of the virtual table share.  README.md has the whole picture.
**
** Row 1 of the shadow table name_pages is the layout: all that was decided, under a
** checksum.  The rows after it are pages, each with a header of 32 bytes and then blocks of
** the 'parquet' encoding:
**
**    0  u64  the layout's number, drawn at random whenever the layout changes
**    8  u32  keys: those of its keys that were new, or all there were when it was built
**   12  u32  removed: how many of them rows no longer have, as far as triggers saw
**   16  u32  filled: how many hashes changed bits of it
**   20  u32  0
**   24  u64  checksum of these and the row's number
*/
#ifndef BLOOM_SQLITE_VTAB_INT_H
#define BLOOM_SQLITE_VTAB_INT_H

#include "../source/blob.h"
#include "../source/database.h"
#include "../source/source.h"
#include "../source/tokens.h"
#include "../source/triggers.h"
#include "vtab.h"

#define BLOOM_VTAB_MAX_LAYERS  12
#define BLOOM_VTAB_MAX_COLUMNS 16

/* -- Arguments: vtab_args.c --------------------------------------------------------- */

/* [table, key] [, where = "condition"] [, bits_per_key = number] [, capacity = number] */
typedef struct bloom_vtab_args {
  char *table;    /* NULL: a standalone filter */
  char *columns[BLOOM_VTAB_MAX_COLUMNS]; /* the key's; of a tuple 2 or more */
  int num_columns;
  char *key;      /* an expression in their place; else NULL */
  char *where;    /* NULL: all rows */
  double size;    /* bits per key; below 1 a false-positive rate */
  sqlite3_int64 capacity; /* 0: not given */
} bloom_vtab_args;

/* SQLITE_OK; SQLITE_NOMEM; SQLITE_ERROR with *error to be freed.  bloom_vtab_args_free() is
** for the caller in any case. */
int bloom_vtab_args_read(int num_args, const char *const *texts, bloom_vtab_args *args, char **error);
void bloom_vtab_args_free(bloom_vtab_args *args);
int bloom_vtab_args_copy(const bloom_vtab_args *args, bloom_vtab_args *copy);

/* -- The layout: vtab_layout.c -------------------------------------------------------- */

/* Blocks that have room for so many hashes. */
typedef struct bloom_vtab_layer {
  uint64_t num_blocks;
  sqlite3_int64 capacity;
} bloom_vtab_layer;

typedef struct bloom_vtab_layout {
  uint64_t number;         /* 0: the filter was given up, and has no pages */
  sqlite3_int64 next_row;  /* 0; else pages before it have the next number already: vtab_grow.c */
  unsigned triggers;       /* that the filter has, as bits: 1 << bloom_vtab_trigger */
  int num_columns;         /* of the key; 0: a standalone filter */
  bloom_equality rules[BLOOM_VTAB_MAX_COLUMNS];
  uint64_t blocks_per_page;
  double size;
  sqlite3_int64 min_capacity;
  char built_at[20];       /* UTC */
  uint32_t decimals;       /* how they were read when a REAL was stored; 0: none was: vtab_decimals.c */
  int num_layers;          /* oldest first */
  bloom_vtab_layer layers[BLOOM_VTAB_MAX_LAYERS];
} bloom_vtab_layout;

typedef struct bloom_vtab_page_header {
  uint64_t number;
  uint32_t num_keys, num_removed, num_filled;
} bloom_vtab_page_header;

/* -- The object ------------------------------------------------------------------------- */

/* SQLite makes one for each connection, and a new one with each schema that it reads. */
typedef struct bloom_vtab {
  sqlite3_vtab base; /* first, for SQLite */
  bloom_connection *connection;
  char *schema, *name;
  void *file;        /* that SQLite had open for this database: bloom_vtab_locate() */
  bloom_database_state state;
  char *pages;       /* the shadow table's name */
  char *guard;       /* that of the table which the guard trigger is on */
  bloom_vtab_args args; /* as the table was made; names may be others since */

  /* Hints: believed where the page that was just read has layout.number. */
  bloom_vtab_layout layout;
  int has_layout;
  int is_hint; /* it was not read within this call */

  /* What look-ups read pages by, NULL: not open.  Closed with the last cursor, so it outlives no
  ** statement; and while one runs, its database is neither detached nor replaced. */
  sqlite3_blob *reader;
  int num_cursors;

  /* What was found at a version of the schema: vtab_certain.c. */
  int is_checked;
  sqlite3_int64 checked_version;
  char *doubt; /* why every key may be in it; NULL: what the filter says is certain */
  int is_outrun;     /* because an AFTER trigger is newer, and no mark says so yet */
  int is_of_trigger; /* because of that or such a mark, and of nothing else */
  const char *replaced; /* a collation of the key that is the application's, when a plan was made */
  int is_lost;   /* no trigger says which table it follows: 'rebuild' can only take the names of CREATE */
} bloom_vtab;

/* Sees to it that vtab->schema is the name of the vtab's database, before any of it is read or
** written.  With a shared cache SQLite keeps this object while a database is detached, and uses
** it again when the file is attached by another name. */
int bloom_vtab_locate(bloom_vtab *vtab);

/* The hidden columns key_1, key_2 ...: a tuple's. */
static inline int bloom_vtab_num_parts(const bloom_vtab *vtab){
  return vtab->args.num_columns>1 ? vtab->args.num_columns : 0;
}

#define BLOOM_BLOCK_BYTES  32
#define BLOOM_HEADER_BYTES 32

/* Blocks of a layer: what SQLite gives memory for in one piece, and less than Parquet's most. */
#define BLOOM_VTAB_MAX_BLOCKS 60000000

int bloom_vtab_damaged(bloom_vtab *vtab, const char *what); /* what a shadow table holds: SQLITE_CORRUPT_VTAB */
int bloom_vtab_failure(bloom_vtab *vtab, int rc);           /* rc, and SQLite's message if there is none yet */
void bloom_vtab_forget_message(bloom_vtab *vtab);           /* for who goes on after a failure */

/* Row 1 is the layout. */
int bloom_vtab_read_layout(bloom_vtab *vtab);
int bloom_vtab_first_layout(bloom_vtab *vtab, bloom_vtab_layout *layout); /* an empty one, number 0: CREATE's */
int bloom_vtab_write_layout(bloom_vtab *vtab, const bloom_vtab_layout *layout);
int bloom_vtab_write_first_layout(bloom_vtab *vtab, const bloom_vtab_layout *layout); /* row 1 may not be there yet */
bloom_blob_place bloom_vtab_place(const bloom_vtab *vtab);

/* The pages of a layer; its first row; the blocks of one of its pages; that page's bytes. */
uint64_t bloom_vtab_num_pages(const bloom_vtab_layout *layout, int layer);
sqlite3_int64 bloom_vtab_first_row(const bloom_vtab_layout *layout, int layer);
uint64_t bloom_vtab_page_blocks(const bloom_vtab_layout *layout, int layer, uint64_t page);
int bloom_vtab_page_bytes(const bloom_vtab_layout *layout, int layer, uint64_t page);

/* A page's header, to and from its bytes.  The second returns 0 if they are not one. */
void bloom_vtab_put_header(const bloom_vtab_page_header *header, sqlite3_int64 row, uint8_t *bytes);
int bloom_vtab_get_header(const uint8_t *bytes, sqlite3_int64 row, bloom_vtab_page_header *header);

/* The number of the layout with one layer more; 1 if a page may have a number. */
uint64_t bloom_vtab_next_number(const bloom_vtab_layout *layout);
int bloom_vtab_has_number(const bloom_vtab_layout *layout, uint64_t number);

/* The layer that comes after num_layers others, with room for so many keys. */
bloom_vtab_layer bloom_vtab_new_layer(double size, int num_layers, sqlite3_int64 capacity);

/* -- Keys: vtab_keys.c ---------------------------------------------------------------------- */

/* More combinations of its values' hashes than a key is looked for by. */
#define BLOOM_VTAB_MAX_ASKED 256

/* A key: the columns of a tuple one by one, or a value, which of a tuple is bloom_tuple()'s. */
typedef struct bloom_vtab_key {
  sqlite3_value *value;
  sqlite3_value **parts; /* NULL: the value counts */
} bloom_vtab_key;

typedef struct bloom_vtab_hashes {
  int num_hashes; /* 0: NULL, which is no key */
  int is_maybe;   /* to look for it takes too many hashes: it may be there */
  int is_invalid; /* no tuple of so many values */
  int is_decimal; /* an expression's REAL that is no integer */
  bloom_hash_value hashes[BLOOM_VTAB_MAX_ASKED];
} bloom_vtab_hashes;

/* What reads the values of tuples; {connection, NULL} at first. */
typedef struct bloom_vtab_tuples {
  bloom_connection *connection;
  sqlite3_stmt *row;
} bloom_vtab_tuples;

/* The hashes to store a key by or, is_query, to look for it by.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_vtab_hash_key(
  const bloom_vtab_layout *layout, bloom_vtab_tuples *tuples, bloom_vtab_key key, int is_query, bloom_vtab_hashes *hashes
);
/* One hash, where nothing more is needed of a key. */
int bloom_vtab_any_hash(const bloom_vtab *vtab, bloom_vtab_key key, bloom_hash_value *hash);
void bloom_vtab_tuples_end(bloom_vtab_tuples *tuples);

/* -- Pages: vtab_pages.c, vtab_grow.c -------------------------------------------- */

/* Sets *may_contain and, where it is 1, *hash, one of the key's. */
int bloom_vtab_look_up(bloom_vtab *vtab, bloom_vtab_key key, int *may_contain, bloom_hash_value *hash);
void bloom_vtab_close_reader(bloom_vtab *vtab);

/* Adds a key, takes one for removed; each may be NULL. */
int bloom_vtab_change(bloom_vtab *vtab, bloom_vtab_key added, sqlite3_value *removed);

/* Takes a step towards one more layer, four times the last, if that one is full; leaves all as
** it is where that cannot be done now. */
int bloom_vtab_grow_if_full(bloom_vtab *vtab);

/* Draws the number of a layout anew, gives it to all pages and writes the layout. */
int bloom_vtab_renumber(bloom_vtab *vtab, bloom_vtab_layout *layout);

/* rc, or, where what is written in halves would stay, SQLITE_IOERR: after that SQLite takes
** back the statement or the transaction. */
int bloom_vtab_take_back(bloom_vtab *vtab, int rc);

/* -- Decimals: vtab_decimals.c -------------------------------------------------------------------- */

/* Sets *is_other to whether the SQLite that runs reads decimals otherwise than one under which
** keys were stored. */
int bloom_vtab_reads_otherwise(bloom_connection *connection, const bloom_vtab_layout *layout, int *is_other);

/* Says in *layout that it stores a REAL; the second in the database, too. */
int bloom_vtab_set_decimals(bloom_connection *connection, bloom_vtab_layout *layout);
int bloom_vtab_store_decimal(bloom_vtab *vtab);

/* -- All pages at once: vtab_whole.c ---------------------------------------------------------- */

typedef struct bloom_vtab_whole {
  bloom_vtab_layout layout;
  int is_maybe;          /* every key may be in it */
  int reads_otherwise;   /* because SQLite reads decimals otherwise */
  bloom_handle *handle;  /* NULL until it was asked for */
  sqlite3_int64 num_keys, num_removed;
  int is_full;           /* a page has more than its share */
  uint8_t *bytes;        /* of all filters; NULL: headers alone were read */
  bloom_filter filters[BLOOM_VTAB_MAX_LAYERS];
  bloom_vtab_tuples tuples;
} bloom_vtab_whole;

/* Reads headers alone, or everything; *result is to be freed. */
int bloom_vtab_read_whole(bloom_vtab *vtab, int headers_alone, bloom_vtab_whole **result);
void bloom_vtab_whole_free(bloom_vtab_whole *whole);

/* 1 or 0; BLOOM_TEST_NULL or BLOOM_TEST_NOMEM.  The first is for handles. */
int bloom_vtab_whole_may_contain(void *data, sqlite3_value *key);
int bloom_vtab_whole_test(bloom_vtab_whole *whole, bloom_vtab_key key);
double bloom_vtab_whole_fpr(const bloom_vtab_whole *whole); /* the chance of a key that is not there */

/* The result of a column for which headers are enough. */
int bloom_vtab_whole_fact(const bloom_vtab *vtab, const bloom_vtab_whole *whole, sqlite3_context *context, int column);

/* What is to be said of a filter: *note, to be freed, NULL: nothing. */
int bloom_vtab_note(const bloom_vtab *vtab, const bloom_vtab_whole *whole, char **note);

/* -- The source: vtab_follow.c, vtab_rules.c, vtab_certain.c, vtab_build.c ----------------------- */

/* Reads the arguments as they are now from the triggers' text.  SQLITE_NOTFOUND if it does not say. */
int bloom_vtab_args_of_triggers(const bloom_vtab *vtab, const bloom_triggers *triggers, bloom_vtab_args *args);

typedef enum bloom_vtab_trigger {
  BLOOM_BEFORE_INSERT, BLOOM_AFTER_INSERT, BLOOM_BEFORE_UPDATE, BLOOM_AFTER_UPDATE, BLOOM_BEFORE_DELETE, BLOOM_NUM_TRIGGERS
} bloom_vtab_trigger;

/* Reads the triggers that the filter has. */
int bloom_vtab_read_triggers(const bloom_vtab *vtab, bloom_triggers *triggers);
unsigned bloom_vtab_trigger_kinds(const bloom_triggers *triggers); /* as bits; 0 if there are two of one */
int bloom_vtab_is_filters_trigger(const char *sql); /* 1 if it is one that a filter made for itself */

/* 1 if a column of a row is not decided before BEFORE triggers run. */
int bloom_vtab_is_decided_late(const bloom_source *source, const bloom_source_column *column);

/* Says in *layout what the key's rules are and which triggers it needs.  The second reads the source
** before, and checks what the user wrote, too: each time that it is about to run. */
int bloom_vtab_find_rules(const bloom_source *source, bloom_vtab_args *args, bloom_vtab_layout *layout, char **error);
int bloom_vtab_read_source(bloom_vtab *vtab, bloom_vtab_args *args, bloom_source *source, bloom_vtab_layout *layout, char **error);

/* A condition that finds the row of new or old: AND "t"."id" = new."id". */
void bloom_vtab_append_row_condition(sqlite3_str *sql, const bloom_source *source, const char *version);
int bloom_vtab_create_triggers(bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, unsigned kinds);

/* Compiles a SELECT of the keys of the source, a tuple's columns as so many, or of their number;
** after the check. */
int bloom_vtab_prepare_keys(bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, int is_count, sqlite3_stmt **row);
/* The key of a row of it; parts has room for a tuple's. */
bloom_vtab_key bloom_vtab_key_of_row(const bloom_vtab_layout *layout, sqlite3_stmt *row, sqlite3_value **parts);

/* Finds vtab->doubt out, if the schema is another since.  *is_certain is 1 if the filter's
** answers are certain.  Where it fails with SQLITE_BUSY, SQLITE_AUTH and the like nothing is
** known. */
int bloom_vtab_check_source(bloom_vtab *vtab, int *is_certain);
int bloom_vtab_check_answers(bloom_vtab *vtab, int *is_certain); /* vtab->replaced, too */

/* A byte in the table that the guard trigger is on: vtab_unheard.c. */
typedef enum bloom_vtab_mark {
  BLOOM_MARK_DAMAGED, /* keys came while pages were gone */
  BLOOM_MARK_NONE,
  BLOOM_MARK_UNHEARD  /* rows came while an AFTER trigger was newer than the filter's */
} bloom_vtab_mark;
int bloom_vtab_read_mark(const bloom_vtab *vtab, bloom_vtab_mark *mark);
int bloom_vtab_write_mark(bloom_vtab *vtab, bloom_vtab_mark mark);
int bloom_vtab_mark_unheard(bloom_vtab *vtab); /* for a BEFORE trigger that found a newer one */

/* Sets vtab->is_outrun if a newer AFTER trigger is on the table. */
int bloom_vtab_find_newer_trigger(bloom_vtab *vtab, const char *table, sqlite3_int64 guard);

/* The SELECT by which a trigger finds that out; the same where only a key that may be decided later needs it. */
void bloom_vtab_append_unheard(sqlite3_str *sql, const bloom_vtab *vtab);
void bloom_vtab_append_late_watch(
  sqlite3_str *sql, const bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, int is_insert
);

/* 'integrity-check': *finding, to be freed, says what is wrong; NULL: nothing. */
int bloom_vtab_check(bloom_vtab *vtab, int is_quick, char **finding);

/* Makes all of it; what was made before an error is gone again. */
int bloom_vtab_make(bloom_vtab *vtab, char **error);
int bloom_vtab_rebuild(bloom_vtab *vtab);

/* rc; of damage SQLITE_OK where a source must be written to all the same: then the filter is empty
** of pages, and every look-up is an error until 'rebuild'. */
int bloom_vtab_give_up(bloom_vtab *vtab, int rc);

/* -- Taking it away: vtab_drop.c ---------------------------------------------------------------- */

/* Drops all of it, whatever of it there is. */
int bloom_vtab_drop(const bloom_vtab *vtab);

/* Fails with what to do if the filter is one of bloom 1.0; SQLITE_OK if it is not. */
int bloom_vtab_refuse_old(bloom_vtab *vtab);

/* -- Methods: vtab_cursor.c ------------------------------------------------------------------------ */

/* Column numbers, in the order of bloom_vtab_columns.  Of a tuple, key_1, key_2 ... come before
** all of them: what name(?, ?) sets. */
enum {
  BLOOM_VTAB_NUM_KEYS, BLOOM_VTAB_NUM_REMOVED, BLOOM_VTAB_CAPACITY, BLOOM_VTAB_BITS_PER_KEY, BLOOM_VTAB_NUM_LAYERS,
  BLOOM_VTAB_NUM_PAGES, BLOOM_VTAB_BYTES, BLOOM_VTAB_EXPECTED_FPR, BLOOM_VTAB_REBUILT_AT, BLOOM_VTAB_NOTE,
  /* Hidden from here on; the first is what name(?) sets. */
  BLOOM_VTAB_KEY,
  BLOOM_VTAB_HANDLE,
  BLOOM_VTAB_FILTER,
  BLOOM_VTAB_REMOVED, /* written by triggers: a key that a row had */
  BLOOM_VTAB_UNHEARD, /* read and written by them: a newer one may keep a row and stop those that would tell it */
  BLOOM_VTAB_COMMAND, /* has the table's own name */
  BLOOM_VTAB_NUM_COLUMNS
};

extern const char *const bloom_vtab_columns[BLOOM_VTAB_COMMAND];

int bloom_vtab_best_index(sqlite3_vtab *base, sqlite3_index_info *info);
int bloom_vtab_open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **result);
int bloom_vtab_close_cursor(sqlite3_vtab_cursor *base);
int bloom_vtab_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int num_args, sqlite3_value **args);
int bloom_vtab_next(sqlite3_vtab_cursor *base);
int bloom_vtab_eof(sqlite3_vtab_cursor *base);
int bloom_vtab_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid);
int bloom_vtab_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);

#endif
