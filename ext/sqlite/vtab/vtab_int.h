/*
** What the files of the virtual table share, lowest layer first.  README.md has the whole picture.
*/
#ifndef BLOOM_SQLITE_VTAB_INT_H
#define BLOOM_SQLITE_VTAB_INT_H

#include "../../core/debug.h"
#include "../errors.h"
#include "../source/follow.h"
#include "../source/keys.h"
#include "../source/source.h"
#include "vtab.h"

/* -- Arguments: vtab.c reads them ---------------------------------------------------- */

/* The capacity where none is given. */
#ifdef BLOOM_TINY_TABLES
# define BLOOM_VTAB_DEFAULT_CAPACITY 20
#else
# define BLOOM_VTAB_DEFAULT_CAPACITY 10000
#endif

/* [table, column or (column, column ...)] [, bits_per_key = number] [, capacity = number] */
typedef struct bloom_vtab_args {
  char *table; /* NULL: a standalone filter */
  char *columns[BLOOM_MAX_KEY_COLUMNS];
  int num_columns;
  double size;            /* bits per key; below 1 a false-positive rate */
  sqlite3_int64 capacity; /* the keys that there is room for at least */
  char *refusal;          /* why CREATE refuses such a key; NULL: it does not */
  /* Set by bloom_vtab_read_source(): */
  char *default_value;    /* the text of the column's DEFAULT; NULL: there is none */
  char *id;               /* the name of the INTEGER PRIMARY KEY; NULL: there is none */
  int has_namesake;       /* the table or a column was renamed since CREATE, and another table, view
                          ** or column has its name now */
} bloom_vtab_args;

void bloom_vtab_args_free(bloom_vtab_args *args);

/* -- The object ------------------------------------------------------------------------- */

#define BLOOM_VTAB_MAX_LAYERS 15
#define BLOOM_LAYOUT_BYTES    328
#define BLOOM_BLOCK_BYTES     32

/* capacity: the hashes that its blocks have room for. */
typedef struct bloom_vtab_layer {
  uint64_t num_blocks;
  sqlite3_int64 capacity;
} bloom_vtab_layer;

/* Row 1 of the pages.  A filter over a source has one layer. */
typedef struct bloom_vtab_layout {
  uint64_t number;            /* random; each page has it, too */
  uint32_t blocks_per_page;
  bloom_key_rules rules;
  int num_layers;             /* oldest first */
  bloom_vtab_layer layers[BLOOM_VTAB_MAX_LAYERS];
  /* Of a filter over a source: */
  char merged_at[20];         /* UTC */
  sqlite3_int64 num_filled;   /* hashes that changed bits */
  sqlite3_int64 journal_mark; /* r of the journal's first row */
  uint64_t default_checksum;  /* of the text of the column's DEFAULT */
  uint64_t num_taken;         /* 1 and the rows that merges took since the journal was emptied; 0:
                              ** not known, as bloom 1.2.0 made or merged the filter */
  int is_healing;             /* 'merge=N' repairs the filter: its pages lack keys of rows, */
  sqlite3_int64 next_id;      /* from this id on */
  int is_of_1_2_0;            /* bloom 1.2.0 made it, which had other hashes for so many columns */
  int has_chain;              /* each row of the journal has bits of the r of the row before it */
} bloom_vtab_layout;

/* A row of the journal: its r, and how many distinct hashes the rows up to it have. */
typedef struct bloom_vtab_journal_row {
  sqlite3_int64 mark;
  size_t num_hashes;
} bloom_vtab_journal_row;

/* Why every key may be in a filter. */
typedef enum bloom_vtab_doubt {
  BLOOM_VTAB_CERTAIN, /* none: its answers are certain */
  /* Reasons of this connection, which are not in the file: */
  BLOOM_VTAB_UNREADABLE_SCHEMA, BLOOM_VTAB_DENIED_SCHEMA, BLOOM_VTAB_UNCOMMITTED,
  BLOOM_VTAB_HAS_TEMP_TRIGGER,
  /* 'rebuild' repairs these by the names that CREATE was given: no trigger names the source; the
  ** source was renamed, and another has its name. */
  BLOOM_VTAB_NO_SOURCE, BLOOM_VTAB_HAS_NAMESAKE,
  /* 'merge' repairs these: */
  BLOOM_VTAB_NO_TRIGGERS, BLOOM_VTAB_OLD_GUARD, BLOOM_VTAB_NO_GUARD, BLOOM_VTAB_NO_JOURNAL,
  BLOOM_VTAB_OTHER_JOURNAL, BLOOM_VTAB_HAS_OTHERS, BLOOM_VTAB_NO_COLUMN, BLOOM_VTAB_OTHER_COLUMN,
  BLOOM_VTAB_BROKEN_JOURNAL, BLOOM_VTAB_OF_1_2_0, BLOOM_VTAB_HEALING
} bloom_vtab_doubt;

/* Hashes.  Memory set to zero is an empty set; slots are to be freed. */
typedef struct bloom_hash_set {
  uint64_t *slots;  /* open addressing; 0: free */
  size_t num_slots; /* a power of two, at least twice the hashes; 0 at first */
  size_t num_hashes;
} bloom_hash_set;

/* Returns 1 if a hash is in the set.  Inline because it runs once a row. */
static inline int bloom_hash_set_has(const bloom_hash_set *set, bloom_hash_value hash){
  const uint64_t wanted = hash ? hash : 1; /* 0 and 1 are one, which costs a false positive */
  size_t i;
  assert( 2*set->num_hashes<=set->num_slots ); /* some slot is free, so the search ends */
  if( set->num_slots==0 ) return 0;
  for(i=(size_t)wanted & (set->num_slots - 1); set->slots[i]; i=(i + 1) & (set->num_slots - 1)){
    if( set->slots[i]==wanted ) return 1;
  }
  return 0;
}

/* What look-ups know of the journal: vtab_journal.c. */
typedef struct bloom_vtab_unmerged {
  sqlite3_stmt *statement; /* NULL, or reset */
  /* Of the journal's rows when it was read; a ROLLBACK may have taken the last ones since. */
  int is_known;
  sqlite3_int64 lowest_rowid; /* of rows[0]; none is missing between two of them */
  bloom_vtab_journal_row *rows;
  size_t num_rows, max_rows;
  bloom_hash_set hashes;
  bloom_hash_value *order;    /* the hashes, in the order of rows */
  size_t max_order;
  uint64_t num_taken;         /* the layout's, when rows[0] was the journal's first row */
} bloom_vtab_unmerged;

/* SQLite makes one for each connection, and a new one with each schema that it reads. */
typedef struct bloom_vtab {
  sqlite3_vtab base; /* first, for SQLite */
  bloom_connection *connection;
  char *schema, *name;
  char *quoted_name;     /* as it is written in SQL */
  char *pages;           /* the name of its table; that of the journal is NAME_new */
  char *journal_columns; /* (key, r), or (key_1, key_2 ..., r) */
  void *file;            /* that SQLite had open for this database: bloom_vtab_open() */
  bloom_vtab_args args;  /* as the table was made; names may be others since */

  /* Row 1 as it was read last, and what it says. */
  int has_layout;
  uint8_t layout_bytes[BLOOM_LAYOUT_BYTES];
  bloom_vtab_layout layout;

  /* Reads pages; NULL: not open.  The last cursor closes it, so it outlives no statement; and while
  ** one runs, SQLite neither detaches nor replaces its database. */
  sqlite3_blob *reader;
  int num_cursors;

  bloom_vtab_unmerged unmerged;

  /* What was found at these versions of the schema and of the TEMP one: vtab_source.c. */
  int is_checked;
  int is_current; /* no xBestIndex has failed to check since */
  sqlite3_int64 checked_version, checked_temp_version;
  int checked_compiled;  /* how often the statement that reads the journal had been compiled */
  bloom_vtab_doubt schema_doubt; /* but for what TEMP has */
  bloom_vtab_doubt doubt;   /* also set where is_checked is 0: the check failed */
  int is_uncommitted; /* the connection reads what others may roll back */
} bloom_vtab;

/* Returns the table by SQLite's pointer, whose type may need less alignment than ours. */
static inline bloom_vtab *bloom_vtab_of(void *base){
  return base;
}

/* Fails with a message, a format and its arguments: SQLITE_ERROR or SQLITE_NOMEM. */
#define BLOOM_VTAB_FAIL(vtab, ...) bloom_fail_vtab(&(vtab)->base.zErrMsg, __VA_ARGS__)

/* Returns how many hidden columns key_1, key_2 ... there are: a tuple's. */
static inline int bloom_vtab_num_parts(const bloom_vtab *vtab){
  return vtab->args.num_columns>1 ? vtab->args.num_columns : 0;
}

/* -- The layout and pages' headers: vtab_pages.c ----------------------------------------- */

/* Of a page, in which each number has 32 bits, or the sums of a layer's pages. */
typedef struct bloom_vtab_page_header {
  uint64_t num_keys;   /* keys that were new, and all keys that it was built of */
  uint64_t num_filled; /* hashes that changed bits */
} bloom_vtab_page_header;

/* Ends each method, as functions that fail may return a code alone.  Sets SQLite's message if there
** is none yet.  Returns rc; SQLITE_CORRUPT_VTAB for SQLITE_NOTFOUND, a page that is damaged. */
int bloom_vtab_failure(bloom_vtab *vtab, int rc);

void bloom_vtab_close_reader(bloom_vtab *vtab);

/* Reads vtab->layout, row 1, by the reader; writes a row 1. */
int bloom_vtab_read_layout(bloom_vtab *vtab);
int bloom_vtab_write_layout(bloom_vtab *vtab, bloom_vtab_layout *layout);

/* Sets the number and the page size of a layout that has rules and no layers. */
int bloom_vtab_new_layout(bloom_vtab *vtab, bloom_vtab_layout *layout);

/* Appends a layer with room for so many keys. */
void bloom_vtab_add_layer(const bloom_vtab *vtab, bloom_vtab_layout *layout,
                          sqlite3_int64 capacity);

/* Returns how many keys all layers have room for. */
sqlite3_int64 bloom_vtab_room(const bloom_vtab_layout *layout);

/* Returns the number of pages of a layer; the bytes of one of them. */
uint64_t bloom_vtab_num_pages(const bloom_vtab_layout *layout, int layer);
int bloom_vtab_page_bytes(const bloom_vtab_layout *layout, int layer, uint64_t page);

/* Moves the reader to a page, and reads its header.  SQLITE_NOTFOUND if the row is no page of the
** layout's. */
int bloom_vtab_read_page(bloom_vtab *vtab, const bloom_vtab_layout *layout, int layer,
                         uint64_t page, bloom_vtab_page_header *header);

/* Checks the headers of a layer's pages, and sums them up.  blocks gets all blocks; NULL: they are
** not read. */
int bloom_vtab_read_layer(bloom_vtab *vtab, const bloom_vtab_layout *layout, int layer,
                          bloom_vtab_page_header *sums, uint8_t *blocks);

/* -- Pages, the same file -------------------------------------------------------------------- */

/* Sets the hashes of a row's key, whose columns begin at first: bloom_hashes_of_key(). */
int bloom_vtab_hashes_of_row(const bloom_key_rules *rules, bloom_tuple_reader *reader,
                             sqlite3_stmt *row, int first, bloom_combined_hashes *hashes);

/* Sets *may_contain to whether a layer of vtab->layout has one of the hashes. */
int bloom_vtab_test_pages(bloom_vtab *vtab, const bloom_combined_hashes *hashes, int *may_contain);

/* Adds a key to a standalone filter, and a layer where the last one is full. */
int bloom_vtab_add_key(bloom_vtab *vtab, bloom_key_values key);

/* Inserts empty pages for the last layer. */
int bloom_vtab_insert_pages(bloom_vtab *vtab, const bloom_vtab_layout *layout);

/* Hashes that are to be added to the pages of a filter of one layer, a million at a time. */
typedef struct bloom_vtab_batch {
  bloom_vtab *vtab;
  bloom_vtab_layout *layout; /* its num_filled is counted on */
  int is_new;      /* pages were empty: each key counts in num_keys, duplicates too */
  int has_written;
  size_t num_hashes[2], max_hashes[2];
  bloom_hash_value *hashes[2]; /* the first hash of each key; its others */
} bloom_vtab_batch;

/* Adds the key of a row, whose columns begin at first. */
int bloom_vtab_batch_add(bloom_vtab_batch *batch, sqlite3_stmt *row, int first);
int bloom_vtab_batch_finish(bloom_vtab_batch *batch); /* writes what is left */
void bloom_vtab_batch_free(bloom_vtab_batch *batch);

/* -- The journal: vtab_journal.c ------------------------------------------------------------ */

/* Reads into vtab->unmerged what the journal has now.  Sets *is_intact to 0 if it is not the
** journal that vtab->layout means, or has rows that triggers did not write. */
int bloom_vtab_read_journal(bloom_vtab *vtab, int *is_intact);

/* Frees what is in vtab->unmerged, and finalizes its statement. */
void bloom_vtab_close_journal(bloom_vtab *vtab);

/* Counts the rows that were not merged. */
int bloom_vtab_count_unmerged(bloom_vtab *vtab, sqlite3_int64 *num_rows);

/* Adds the keys of at most max_rows rows behind the first, 0: all, to the pages, and takes these
** rows from the journal; batch->layout is then to be written.  SQLITE_EMPTY if the journal is not
** the one that the layout means. */
int bloom_vtab_take_unmerged(bloom_vtab *vtab, sqlite3_int64 max_rows, bloom_vtab_batch *batch);

/* Empties the journal but for a new first row, which the layout, to be written, then means. */
int bloom_vtab_empty_journal(bloom_vtab *vtab, bloom_vtab_layout *layout);

/* -- Triggers: vtab_source.c ----------------------------------------------------------------- */

/* Returns what a filter follows its source by. */
bloom_follower bloom_vtab_follower(bloom_vtab *vtab);

/* Makes the triggers of a filter, and the guard. */
int bloom_vtab_create_triggers(bloom_vtab *vtab, const bloom_vtab_args *args, int is_healing);

/* The filter's triggers as the schema has them, and the arguments that their text tells. */
typedef struct bloom_vtab_triggers {
  bloom_vtab_doubt doubt; /* of them and of the journal, columns left out */
  int are_of_each_update; /* they see each UPDATE, as while 'merge=N' repairs a filter */
  int are_newest;         /* each has the newest text */
  int is_seen;            /* no authorizer hides the schema */
  /* the table and the columns, as they are called now; else table is NULL */
  bloom_vtab_args args;
} bloom_vtab_triggers;

/* Reads them.  bloom_vtab_args_free(&triggers->args) is for the caller, also after an error. */
int bloom_vtab_read_triggers(bloom_vtab *vtab, bloom_vtab_triggers *triggers);

/* -- The source, the same file ----------------------------------------------------------------- */

/* Reads the rules of the key from the source into *layout; the names in *args are then as the
** schema has them.  SQLITE_ERROR where there is no such key, or it is one that triggers do not
** see. */
int bloom_vtab_read_source(bloom_vtab *vtab, bloom_vtab_args *args, bloom_vtab_layout *layout);

/* Returns 1 if the keys of two layouts of a filter have the same rules, and the same DEFAULT. */
int bloom_vtab_has_same_key(const bloom_vtab_layout *a, const bloom_vtab_layout *b);

/* Returns a SELECT of the keys of a source that was read, or of their number, to be freed. */
char *bloom_vtab_keys_sql(const bloom_vtab *vtab, const bloom_vtab_args *args, int is_count);

/* What a method needs to know. */
typedef enum bloom_vtab_need {
  BLOOM_VTAB_PLACE,   /* where the filter's tables are */
  BLOOM_VTAB_DOUBT,   /* and whether its answers are certain, by the schema */
  BLOOM_VTAB_LOOK_UP  /* the same, as xBestIndex found it.  It is checked again where another file
                      ** may have come under the statement, or the journal's was compiled anew:
                      ** SQLite lets a statement run on while its connection drops a trigger.  An
                      ** authorizer's denial is a doubt, and no error. */
} bloom_vtab_need;

/* Begins a method, before any of the filter is read or written.  Fails where vtab->schema does not
** name the object's file any more: bloom_database_locate().  Sets vtab->doubt, by need.  A look-up
** calls it again once it has read the journal. */
int bloom_vtab_open(bloom_vtab *vtab, bloom_vtab_need need);

/* Returns the doubt of a 'merge' that has read the layout: that of the schema, or of the pages. */
static inline bloom_vtab_doubt bloom_vtab_doubt_of_merge(const bloom_vtab *vtab){
  return vtab->doubt ? vtab->doubt : vtab->layout.is_healing ? BLOOM_VTAB_HEALING
    : vtab->layout.is_of_1_2_0 ? BLOOM_VTAB_OF_1_2_0 : BLOOM_VTAB_CERTAIN;
}

/* Returns the note for a doubt, to be freed. */
char *bloom_vtab_say_doubt(const bloom_vtab *vtab, bloom_vtab_doubt doubt);

/* -- What has the filter's names already: vtab_build.c ------------------------------------- */

/* Fails if something of the user's is in the way, by bloom_obstacles_refuse(): a table that has the
** name of one of the filter's, an index or a trigger on one of the filter's, a trigger that has the
** name of one of the filter's.  SQLite does not drop a table while a statement runs, as here, and
** sqlite3_blob cannot write to a column that has an index.  is_rename: tables alone are checked.
** CREATE takes over tables that a filter left, and sets *has_keys if their pages have keys; else
** has_keys is NULL. */
int bloom_vtab_check_names(bloom_vtab *vtab, int is_rename, int *has_keys);

/* -- Making and merging, the same file ------------------------------------------------------- */

int bloom_vtab_make(bloom_vtab *vtab); /* drops what it made if it fails */
int bloom_vtab_drop(bloom_vtab *vtab); /* whatever of it there is */
int bloom_vtab_rebuild(sqlite3_vtab *base);
int bloom_vtab_delete_all(sqlite3_vtab *base);
int bloom_vtab_merge(sqlite3_vtab *base, sqlite3_int64 max_rows); /* 0: all */

/* -- Reading and checking: vtab_cursor.c ------------------------------------------------------- */

/* Column numbers, in the order of vtab_columns in vtab.c.  Before these a tuple has the columns
** key_1, key_2 ..., which name(?, ?) sets. */
enum {
  BLOOM_VTAB_NUM_KEYS, BLOOM_VTAB_UNMERGED, BLOOM_VTAB_CAPACITY, BLOOM_VTAB_BITS_PER_KEY,
  BLOOM_VTAB_BYTES,
  BLOOM_VTAB_EXPECTED_FPR, BLOOM_VTAB_MERGED_AT, BLOOM_VTAB_NOTE,
  /* Hidden from here on; the first is what name(?) sets. */
  BLOOM_VTAB_KEY,
  BLOOM_VTAB_HANDLE,
  BLOOM_VTAB_FILTER,
  BLOOM_VTAB_REMOVED, BLOOM_VTAB_UNHEARD, /* triggers of bloom 1.1 write to these, and fail */
  BLOOM_VTAB_COMMAND /* has the table's own name */
};

int bloom_vtab_check(sqlite3_vtab *base, bloom_checker checker, char **finding);

int bloom_vtab_best_index(sqlite3_vtab *base, sqlite3_index_info *info);
int bloom_vtab_open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **result);
int bloom_vtab_close_cursor(sqlite3_vtab_cursor *base);
int bloom_vtab_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int num_args,
                      sqlite3_value **args);
int bloom_vtab_next(sqlite3_vtab_cursor *base);
int bloom_vtab_eof(sqlite3_vtab_cursor *base);
int bloom_vtab_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid);
int bloom_vtab_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);

#endif
