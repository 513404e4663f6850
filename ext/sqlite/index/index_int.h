/*
** The parts of CREATE VIRTUAL TABLE ... USING bloom_index(...), and what they offer each
** other.  One file a subject:
**
**   index.c             the module: create, connect, drop, rename, commands
**   index_args.c        the arguments
**   index_config.c      what blocks were begun with: columns, sizes
**   index_source.c      the source's columns as they are now, and whether all is as it was
**   index_triggers.c    the triggers that note changed rows
**   index_layout.c      how far the blocks reach; NAME_state, which has all of this in one row
**   index_like.c        texts and patterns -> bits, by weighed pieces
**   index_regexp.c      regular expressions -> bits, and which regexp() is trusted
**   index_blocks.c      where blocks, slices and ends of blocks are: NAME_blocks_N
**   index_zones.c       zones of columns with RANGE: making them, and asking them
**   index_merge.c       rows -> blocks
**   index_commands.c    'merge' and 'rebuild'
**   index_changes.c     changed rows -> blocks that are there
**   index_check.c       'integrity-check'
**   index_plan.c        xBestIndex: which conditions pick blocks, or are the source's
**   index_cost.c        what plans cost
**   index_candidates.c  conditions -> intervals of rowids
**   index_pass.c        conditions -> the inner statement
**   index_list.c        lists of IN
**   index_statements.c  statements that are kept
**   index_cursor.c      the source's rows
**
** README.md beside this file has the whole picture.
*/
#ifndef BLOOM_SQLITE_INDEX_INT_H
#define BLOOM_SQLITE_INDEX_INT_H

#include "../../core/signature/block.h"
#include "../../core/signature/regexp.h"
#include "../../core/signature/slices.h"
#include "../../core/signature/zone.h"
#include "../connection.h"
#include "../source/database.h"
#include "../source/equality.h"
#include "../source/sql.h"
#include "../source/triggers.h"

#define INDEX_MAX_KEYS 16

/* -- Conditions --------------------------------------------------------------------- */

/* What is between a column and a value.  Each kind has a row in bloom_index_kinds[]. */
typedef enum index_condition_kind {
  INDEX_EQ, INDEX_IS, INDEX_GT, INDEX_GE, INDEX_LT, INDEX_LE, INDEX_IS_NULL, INDEX_LIKE, INDEX_GLOB,
  INDEX_REGEXP, INDEX_REGEXP_IN_ANY_CASE, INDEX_NUM_KINDS
} index_condition_kind;

typedef struct index_kind {
  unsigned char op;   /* SQLITE_INDEX_CONSTRAINT_... */
  char code;          /* in a plan */
  const char *sql;
  int is_on_ids;      /* it narrows ids */
  int is_pattern;     /* its operator is a function, which the application may have replaced */
  int takes_blocks;   /* blocks may serve it: of a column for LIKE if is_pattern, else for =, or for LIKE */
} index_kind;

extern const index_kind bloom_index_kinds[INDEX_NUM_KINDS];

#define INDEX_MAX_COLLATION 32 /* bytes of a name; comparisons by others are SQLite's alone */

/* A condition of a plan. */
typedef struct index_condition {
  index_condition_kind kind;
  int column;      /* of index->columns; of hidden ids -1 */
  int is_on_id;    /* it compares the id */
  int key;         /* of the config, whose blocks serve it; -1: none */
  int zone;        /* of the config, whose zones serve it; -1: none */
  int is_list;     /* IN: its argument is a list */
  int is_opaque;   /* the application's own LIKE or GLOB, or a regexp() that is not trusted: blocks know nothing of it */
  int is_literal;  /* its value is one in the text of the statement */
  int is_unpassed; /* the source is not to check it */
  int partner;     /* of the two ranges that SQLite makes of LIKE 'begin%', the other; -1: none */
  char collation[INDEX_MAX_COLLATION]; /* to compare by; "": the column's own */
} index_condition;

/* -- index_args.c ------------------------------------------------------------------ */

/* What the user wrote: bloom_index(table, column [LIKE [REGEXP]], ... [, option = value]). */
typedef struct index_args {
  char *source;
  char *columns[INDEX_MAX_KEYS];
  uint8_t is_like[INDEX_MAX_KEYS];
  uint8_t is_regexp[INDEX_MAX_KEYS];
  uint8_t is_range[INDEX_MAX_KEYS];
  int num_columns;
  uint32_t num_probes;     /* 0: not given; then they grow with the table */
} index_args;

/* SQLITE_OK, SQLITE_NOMEM, or SQLITE_ERROR with *error, to be freed.  bloom_index_args_free() is
** for the caller in any case. */
int bloom_index_args_read(int num_args, const char *const *texts, index_args *args, char **error);
void bloom_index_args_free(index_args *args);

/* -- index_config.c ---------------------------------------------------------------- */

/* A column that has blocks: what the configuration says of it, and where it is in the source now. */
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
  int has_hidden_ids;  /* there is no INTEGER PRIMARY KEY: NAME_canary tells whether ids are others since */
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
  INDEX_ACCESS_SCAN, INDEX_ACCESS_ROW, INDEX_ACCESS_KEY, INDEX_ACCESS_SHORT_RANGE, INDEX_ACCESS_RANGE
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
  index_columns columns; /* that SQLite was told, once is_declared; none where the source was gone */
  int is_declared;
  index_columns_state columns_state;
  uint32_t num_checks;   /* of the source: what was compiled before the last one may be another now */
  int command_column;    /* which has the index's name */
  int is_config_stale;   /* a command failed that had changed it */

  /* What was found at a version of the schema: bloom_index_source_doubt(). */
  int is_checked;
  sqlite3_int64 checked_version;
  char *doubt; /* why blocks cannot be believed; NULL: they can */
  int has_triggers; /* all of ours are on the source */

  index_statement *statements; /* that are kept */
  index_known_access accesses[INDEX_NUM_ACCESSES]; /* of the source since check number accesses_checks */
  uint32_t accesses_checks, next_access;

  sqlite3_int64 letter_bytes; /* of 'a': 1 in UTF-8, 2 in UTF-16; 0: not known yet */
  const char *damage; /* NULL, or what follows the name where the table cannot be used: all but DROP fails */
  int is_of_1_1;      /* the damage is that it was made by 1.1, whose tables were others */
  uint64_t number;    /* of the layout, as it was read or written last: checksums are under it */
  uint64_t damaged_number; /* of one with blocks that a query found damaged; 0: none */
} bloom_index;

/* SQLite's pointer to it, which is aligned for what SQLite knows of it alone. */
static inline bloom_index *index_of(void *base){
  return base;
}

/* Sets config's keys and sizes by the arguments, and what they are among index->columns. */
int bloom_index_config_set(bloom_index *index, const index_args *args, char **error);

/* Sets config to what the columns are now, whose positions are known, for blocks that are begun anew. */
int bloom_index_config_renew(bloom_index *index, char **error);

/* Sets config->checksum, and *bytes to what is stored, to be freed in any case. */
int bloom_index_config_print(index_config *config, char **bytes, int *num_bytes);

/* Reads index->config, or sets index->damage. */
int bloom_index_config_read(bloom_index *index);

/* Sets *is_same to whether the database still has what index->config was read from. */
int bloom_index_config_compare(bloom_index *index, int *is_same);
void bloom_index_config_free(index_config *config);

/* Makes NAME_canary with its row where rowids are hidden. */
int bloom_index_canary_write(bloom_index *index);

/* Sets *is_same to whether hidden rowids are those that they were; true where there are none. */
int bloom_index_canary_compare(bloom_index *index, int *is_same);

/* The columns of NAME_changed and NAME_canary. */
#define INDEX_CHANGED_COLUMNS "(id INTEGER UNIQUE)"
#define INDEX_CANARY_COLUMN   "moved_by_vacuum"

/* -- index_triggers.c -------------------------------------------------------------- */

/* Makes the triggers on the source, in place of those that there are. */
int bloom_index_triggers_make(bloom_index *index, const char *source);
int bloom_index_triggers_drop(bloom_index *index);

/* The names that the triggers know the id and the indexed columns by, as renames left them. */
typedef struct index_trigger_names {
  char *id; /* NULL: the triggers are gone */
  char *keys[INDEX_MAX_KEYS];
} index_trigger_names;

int bloom_index_triggers_read(bloom_index *index, bloom_triggers *triggers);
int bloom_index_triggers_names(const bloom_index *index, const bloom_triggers *triggers, index_trigger_names *names);
void bloom_index_trigger_names_free(index_trigger_names *names);

#define INDEX_NUM_TRIGGERS 5

/* -- index_source.c ---------------------------------------------------------------- */

/* In SQL of ours the source is x, and each of its columns is qualified by that: a name that is
** gone is an error then, and never a text. */
#define INDEX_SOURCE "\"%w\".\"%w\" AS x"

/* Appends an indexed column, or NULL if it is gone; its name for people. */
void bloom_index_append_key(const bloom_index *index, sqlite3_str *sql, int key);
const char *bloom_index_key_name(const bloom_index *index, int key);

/* The SELECT of the last id, to be freed. */
char *bloom_index_source_last_id(const bloom_index *index);

/* The source as it is now. */
typedef struct index_source {
  char *name;  /* what it is called, NULL if it is gone */
  char *doubt; /* NULL, or why blocks cannot be believed: the whole source is read then */
  int may_be_well; /* the doubt is a trigger of the user's alone, and no damage */
  int has_tables;  /* those of the index are there, as tables: else no command can run */
} index_source;

/* Reads the columns of a table.  SQLITE_ERROR and *error where it has no rowid. */
int bloom_index_columns_read(bloom_index *index, const char *table, index_columns *columns, char **error);
void bloom_index_columns_free(index_columns *columns);

/* A column's affinity: 'i'nteger, 'r'eal, 'n'umeric, 't'ext, or 'b'lob, which is none. */
char bloom_index_affinity_of(const char *type);

/* Fails, because SQLite was told other columns than there are; says what cures it. */
int bloom_index_columns_fail(bloom_index *index, char **error);

/* The CREATE TABLE that sqlite3_declare_vtab() takes, to be freed; sets index->command_column. */
char *bloom_index_columns_declaration(bloom_index *index);

/* Looks at triggers and columns, which it takes where none were declared yet.  SQLITE_OK; SQLITE_ERROR
** with *error where there is no such table any more, or another column in the place of one.
** bloom_index_source_free() is for the caller. */
int bloom_index_source_check(bloom_index *index, index_source *source, char **error);
void bloom_index_source_free(index_source *source);

/* The same for queries, which need to know the doubt alone; looks once at each version of the
** schema.  *doubt is the index's. */
int bloom_index_source_doubt(bloom_index *index, const char **doubt, char **error);

/* Why 'merge' must not take rows: the doubt, or that of a column, to be freed; *doubt is NULL if
** there is none. */
int bloom_index_source_why_not_merge(const bloom_index *index, const index_source *source, char **doubt);

/* Sees to it that index->schema is the name of the index's database, and index->config what the
** index there was made with, before any of it is read or written.  SQLITE_ERROR and zErrMsg if
** that cannot be.  The first does not look at the config. */
int bloom_index_locate_database(bloom_index *index);
int bloom_index_locate(bloom_index *index);

/* -- index_layout.c ---------------------------------------------------------------- */

/* The sizes of groups between full ones and units that are groups by themselves: each is
** at least three times the next. */
#define INDEX_MAX_SIZES 9

typedef struct index_key_layout {
  uint64_t num_blocks; /* finished */
  uint64_t num_dead;   /* of these; made again elsewhere, or their rows are gone */
  uint64_t bits_set;   /* in the others */
  sqlite3_int64 open_first; /* ids from here on are in the open block */
  uint32_t open_rows;
  uint32_t open_bits;  /* set in it */
  uint32_t num_full;   /* groups of INDEX_MAX_UNITS units, at the beginning */
  uint32_t num_sizes;
  uint32_t sizes[INDEX_MAX_SIZES];
  /* A join that goes on over several merges: of groups sizes[join_from] .. and units behind them.
  ** Bands below join_bands are of the joined group already. */
  uint32_t join_from, join_units, join_bands; /* join_units 0: there is none */
} index_key_layout;

/* How far the blocks reach. */
typedef struct index_layout {
  int has_covered;       /* 0: no row is in a block */
  int is_dirty;          /* a merge did not come to its end: no block is to be believed */
  sqlite3_int64 covered; /* rows up to this id are in blocks, or noted as changed */
  uint64_t num_rows;     /* that went into blocks */
  uint64_t num_built;    /* the same when all blocks were made last */
  sqlite3_int64 first;   /* no merged row has a lower id */
  uint32_t num_probes;   /* of a key */
  uint64_t number;       /* drawn at random when all blocks are made again */
  index_key_layout keys[INDEX_MAX_KEYS];
} index_layout;

/* Units that lie one after the other, joined. */
typedef struct index_group {
  uint64_t unit; /* the first */
  uint32_t num_units;
} index_group;

/* The blocks that are in units: those behind them are in slots. */
uint64_t bloom_index_blocks_in_units(const bloom_index *index, const index_layout *layout, int key);

/* The group that begins with a unit, once the join at hand is done, or as it is in the bands that
** are not joined yet. */
index_group bloom_index_group_at(const index_key_layout *layout, uint64_t unit, int is_joined);

/* The first unit of the join at hand. */
uint64_t bloom_index_join_unit(const index_key_layout *layout);

/* SQLITE_OK; SQLITE_CORRUPT_VTAB where it is damaged. */
int bloom_index_layout_read(bloom_index *index, index_layout *layout);
int bloom_index_layout_write(bloom_index *index, const index_layout *layout);

/* Makes the one row of NAME_state, with index->config, in place of those that there are. */
int bloom_index_state_insert(bloom_index *index);

/* What triggers and people see is `covered` and the note.  Sets *is_equal to whether the same rows are
** covered there; writes it, with a note, which may be NULL. */
int bloom_index_state_compare(bloom_index *index, const index_layout *layout, int *is_equal);
int bloom_index_state_write(bloom_index *index, const index_layout *layout, const char *note);

/* -- index_blocks.c ---------------------------------------------------------------- */

/* Bands of a block, powers of two.  Tests make small blocks, so that small tables have many. */
#ifndef INDEX_KEY_BANDS
# define INDEX_KEY_BANDS  16
# define INDEX_LIKE_BANDS 32
#endif
#ifndef INDEX_MAX_UNITS
# define INDEX_MAX_UNITS  BLOOM_GROUP_MAX_UNITS
#endif
#define INDEX_MAX_BLOCK_BYTES ((INDEX_KEY_BANDS>INDEX_LIKE_BANDS ? INDEX_KEY_BANDS : INDEX_LIKE_BANDS) * BLOOM_BAND_BITS/8)

static inline uint32_t index_num_bands(const bloom_index *index, int key){
  return index->config.keys[key].is_like ? INDEX_LIKE_BANDS : INDEX_KEY_BANDS;
}

static inline uint32_t index_block_bits(const bloom_index *index, int key){
  return index_num_bands(index, key) * BLOOM_BAND_BITS;
}

static inline uint32_t index_block_bytes(const bloom_index *index, int key){
  return index_block_bits(index, key) / 8;
}

/* Blocks are numbered from 0.  A slot is a place in a row of a block that is in no unit yet, and
** of the open one. */
static inline uint32_t index_num_slots(const bloom_index *index, int key){
  return BLOOM_STRIP_BYTES / index_block_bytes(index, key);
}

/* What is known of a finished block.  The blocks' intervals of ids, and the open one's, have each
** id up to covered once, but in no order where blocks were made again. */
typedef struct index_end {
  sqlite3_int64 first, last; /* ids of its rows lie between; first > last: it is dead */
  uint32_t num_rows;
  uint32_t bits_set;
} index_end;

#define INDEX_END_BYTES    24
#define INDEX_ENDS_BLOCKS  168 /* whose ends are in one row, and fill a page */
#define INDEX_CHAPTER_ENDS 8   /* rows that are made together, and have the ends of 21 units */

index_end bloom_index_end_load(const uint8_t *bytes);
void bloom_index_end_store(uint8_t *bytes, index_end end);

/* Rows of NAME_blocks_N, 1 .. n without a gap. */
#define INDEX_ROW_OF_SLOTS   1
#define INDEX_ROW_OF_WEIGHTS 2 /* those of a LIKE column's pieces; else empty */
sqlite3_int64 bloom_index_row_of_ends(const bloom_index *index, int key, uint64_t block);
sqlite3_int64 bloom_index_row_of_strip(const bloom_index *index, int key, uint64_t unit, uint32_t band);

/* Reads rows of a column's blocks.  Nothing is open behind bloom_index_reader_close(). */
typedef struct index_reader {
  const bloom_index *index;
  int key, is_writable;
  sqlite3_blob *blob;    /* NULL before the first row */
  sqlite3_int64 row;     /* that it is at */
  sqlite3_int64 ends_of; /* row of the ends in ends[], 0: none */
  uint8_t ends[BLOOM_STRIP_BYTES];
} index_reader;

void bloom_index_reader_start(index_reader *reader, const bloom_index *index, int key, int is_writable);
void bloom_index_reader_close(index_reader *reader);

/* Reads bytes of a row.  SQLITE_CORRUPT_VTAB where there are none, or they are not those that
** were written there. */
int bloom_index_reader_read(index_reader *reader, sqlite3_int64 row, void *bytes, uint32_t num_bytes, uint32_t offset);
int bloom_index_reader_end(index_reader *reader, uint64_t block, index_end *end);

/* A row's bytes as they are stored, with checksums: out has room for bloom_index_stored_bytes().
** num_bytes is a multiple of INDEX_PART_BYTES. */
#define INDEX_STORED_BYTES (BLOOM_STRIP_BYTES + 24) /* of most rows */
uint32_t bloom_index_stored_bytes(uint32_t num_bytes);
void bloom_index_row_store(const bloom_index *index, int key, sqlite3_int64 row, const uint8_t *bytes, uint32_t num_bytes, uint8_t *out);

/* A part of a row, which has a checksum. */
#define INDEX_PART_BYTES 1008
typedef struct index_part {
  uint32_t number, first; /* first: its place in the row's bytes */
  uint8_t bytes[INDEX_PART_BYTES + 8]; /* and the checksum */
} index_part;

/* Reads the part of a row that has the byte at offset; writes it, where the reader is at. */
int bloom_index_part_read(index_reader *reader, sqlite3_int64 row, uint32_t offset, index_part *part);
int bloom_index_part_write(index_reader *reader, index_part *part);

/* Writes a whole row that is there. */
int bloom_index_blocks_write(index_reader *reader, sqlite3_int64 row, const uint8_t bytes[BLOOM_STRIP_BYTES]);

/* A finished block and where it is. */
typedef struct index_placed_end {
  index_end end;
  uint64_t block;
  uint32_t num_changed; /* for index_changes.c; else 0 */
  int is_remade;
} index_placed_end;

/* Reads the ends of all blocks of a column that are not dead, in the order of their ids; *ends is to
** be freed.  SQLITE_CORRUPT_VTAB where they do not have each id once. */
int bloom_index_ends_read(const bloom_index *index, const index_layout *layout, int key, index_placed_end **ends, size_t *num_ends);

/* A statement that makes a row of NAME_blocks_N (?1 its number, ?2 its bytes), or gives it
** other bytes. */
int bloom_index_blocks_prepare_insert(bloom_index *index, int key, sqlite3_stmt **statement);
int bloom_index_blocks_prepare_update(bloom_index *index, int key, sqlite3_stmt **statement);

/* -- index_like.c -------------------------------------------------------------------- */

/* The weights of pieces, for each column that is indexed for LIKE. */
typedef struct index_weights {
  uint8_t *of_key[INDEX_MAX_KEYS];
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
void bloom_index_like_add(const index_key *key, const uint8_t *weights, sqlite3_value *value, bloom_block *block);

/* Writes the bits that a block must have if it has a text that matches: their number, 0 if
** every text may. */
int bloom_index_like_bits(const bloom_index *index, const uint8_t *weights, index_condition condition, sqlite3_value *pattern,
                    uint16_t *bits, size_t max_bits, size_t *num_bits);

/* The same of a text that is equal to value: of a number or BLOB blocks know nothing. */
int bloom_index_like_equal_bits(const bloom_index *index, const uint8_t *weights, int key, sqlite3_value *value,
                          uint16_t *bits, size_t max_bits, size_t *num_bits);

/* Sets condition->is_opaque if another function than SQLite's own serves the operator; for REGEXP as
** bloom_index_regexp_check(). */
int bloom_index_like_check(bloom_index *index, index_condition *condition);

/* Sets *are_built_in to whether SQLite's own functions have these names. */
typedef struct index_function {
  const char *name;
  int num_args;
} index_function;
int bloom_index_are_built_in(bloom_index *index, const index_function *functions, int num_functions, int *are_built_in);

/* -- index_regexp.c ------------------------------------------------------------------ */

/* Sets condition->is_opaque if the application's regexp() is not known to be one that patterns are
** read for, and its kind by whether it ignores case. */
int bloom_index_regexp_check(bloom_index *index, index_condition *condition);

/* Reads a pattern, which requires nothing if it is no TEXT.  SQLITE_OK or SQLITE_NOMEM. */
int bloom_index_regexp_read(sqlite3_value *pattern, index_condition_kind kind, bloom_regexp *regexp);

/* Calls regexp() once, if the source has a row: an error if the pattern is one to it. */
int bloom_index_regexp_try(bloom_index *index, sqlite3_value *pattern);

/* Writes the bits that a block must have for a term, and returns their number, as bloom_index_like_bits(). */
size_t bloom_index_regexp_bits(const bloom_regexp *regexp, uint32_t term, const uint8_t *weights, uint32_t bits_per_block, uint16_t *bits, size_t max_bits);

/* Sets *literal to the longest bytes that each matching text has, and returns how many they are. */
size_t bloom_index_regexp_literal(const bloom_regexp *regexp, const uint8_t **literal);

/* -- index_commands.c -------------------------------------------------------------- */

#define INDEX_MERGE_ALL INT64_MAX

/* Takes at most max_rows rows into blocks: first those that changed, then new ones. */
int bloom_index_merge(bloom_index *index, sqlite3_int64 max_rows, char **error);

/* Empties all tables: no row is covered then. */
int bloom_index_reset(bloom_index *index);

/* Builds all blocks again, and makes the triggers again. */
int bloom_index_rebuild(bloom_index *index, char **error);

/* -- index_merge.c ----------------------------------------------------------------- */

/* Adds a value of an indexed column to a block. */
int bloom_index_add_value(const bloom_index *index, const index_layout *layout, const index_weights *weights, int key,
                    sqlite3_value *value, bloom_block *block);

/* -- index_check.c ----------------------------------------------------------------- */

/* Sets *finding, to be freed, if a row is not found by the blocks that should have it; else
** to NULL. */
int bloom_index_check(bloom_index *index, int is_quick, char **finding);

/* -- index_plan.c ------------------------------------------------------------------ */

#define INDEX_MAX_CONDITIONS 16
#define INDEX_MAX_ORDERS     8

/* The bits of idxNum. */
typedef enum index_plan_flag {
  INDEX_PLAN_DESCENDING = 1, /* ids come in descending order */
  INDEX_PLAN_FREE       = 2, /* no blocks: SQLite plans the inner statement */
  INDEX_PLAN_READS_ALL  = 4, /* blocks are not to be believed */
  INDEX_PLAN_UNCHECKED  = 8  /* the source could not be looked at when the plan was made */
} index_plan_flag;

typedef struct index_order {
  int column; /* -1: the id */
  int is_descending;
} index_order;

typedef struct index_plan {
  int flags;
  index_condition conditions[INDEX_MAX_CONDITIONS];
  int num_conditions;
  index_order orders[INDEX_MAX_ORDERS]; /* that the rows are to have */
  int num_orders;
  int limit;                   /* the argument that is LIMIT's; -1: none */
  sqlite3_uint64 columns_used; /* as SQLite has it: the last bit is of all from 63 on */
} index_plan;

static inline int index_is_regexp(index_condition_kind kind){
  return kind==INDEX_REGEXP || kind==INDEX_REGEXP_IN_ANY_CASE;
}

int bloom_index_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);
void bloom_index_plan_read(int number, const char *text, index_plan *plan);

/* -- index_cost.c ------------------------------------------------------------------- */

typedef struct index_cost {
  double cost, num_rows;
  int is_one_row;
} index_cost;

/* Finds how SQLite would run a statement, which is freed; NULL is want of memory. */
int bloom_index_cost_access(bloom_index *index, char *sql, index_access *access);
void bloom_index_accesses_free(bloom_index *index);

/* About how many rows there are: the merged ones, and the ids behind them.  layout may be NULL. */
int bloom_index_cost_rows(bloom_index *index, const index_layout *layout, double *num_rows);

/* More rows than these in no block are worth a 'merge': a tenth, or 100,000. */
sqlite3_int64 bloom_index_cost_most_unmerged(const index_layout *layout);

/* Sets *is_outweighed if so many rows changed that reading all costs less than blocks do. */
int bloom_index_cost_is_outweighed(bloom_index *index, double num_rows, int *is_outweighed);

/* As many rows of a scan cost what looking for the values of a list does, beyond the first. */
double bloom_index_cost_rows_of_list(double num_rows, size_t num_values);

void bloom_index_cost_free(const index_plan *plan, const index_access *access, double num_rows, index_cost *cost);
void bloom_index_cost_blocks(const index_plan *plan, double num_rows, index_cost *cost);

/* -- index_statements.c -------------------------------------------------------------- */

/* Takes a kept statement of this text, or compiles it.  sql is freed; NULL is want of memory.  It is to
** be given back, which resets it; NULL may be, too. */
int bloom_index_statement_take(bloom_index *index, char *sql, index_statement **taken, sqlite3_stmt **statement);
void bloom_index_statement_give_back(bloom_index *index, index_statement *taken);
void bloom_index_statements_free(bloom_index *index);

/* Forgets them, but for those of bloom_index_statement_integer(). */
void bloom_index_statements_forget(bloom_index *index);

/* Sets *number to the first column of the first row of such a statement, unless that is NULL.  For what
** tells costs, and versions of the schema: an authorizer may hide it for longer than SQLite hears of it. */
int bloom_index_statement_integer(bloom_index *index, char *sql, sqlite3_int64 *number);

/* -- index_list.c --------------------------------------------------------------------- */

/* The values of IN but NULL.  memset() to zero is an empty one. */
typedef struct index_list {
  sqlite3_value **values;
  size_t num_values;
  int has_numbers, has_others; /* INTEGER or REAL; TEXT or BLOB */
} index_list;

/* Copies what SQLite has, an argument of xFilter.  bloom_index_list_free() is for the caller. */
int bloom_index_list_copy(sqlite3_value *values, index_list *list);
void bloom_index_list_free(index_list *list);

/* Binds it as the argument of bloom_index_list(); it must outlive the statement's steps. */
int bloom_index_list_bind(sqlite3_stmt *statement, int number, index_list *list);

/* -- index_pass.c --------------------------------------------------------------------- */

/* How a condition is passed to the source. */
typedef enum index_form {
  INDEX_FORM_NONE,
  INDEX_FORM_PLAIN,
  INDEX_FORM_BELOW,          /* or it is a number */
  INDEX_FORM_PREFIX,         /* with its partner, or it is a BLOB */
  INDEX_FORM_NUMBER,         /* the column as a number */
  INDEX_FORM_NUMBER_OR_TEXT,
  INDEX_FORM_LIST,
  INDEX_FORM_LIST_OF_NUMBERS,
  INDEX_FORM_LIST_OF_BOTH
} index_form;

/* What the inner statement reads. */
typedef enum index_reading {
  INDEX_READ_INTERVALS, /* one after the other: ?1 to ?2 */
  INDEX_READ_FREE,      /* what SQLite likes */
  INDEX_READ_BOUNDED    /* the same, of the ids that there are when it begins: without our triggers
                        ** `INSERT INTO t SELECT ... FROM i` would never end */
} index_reading;

/* The form for a value; NULL: one that is yet unknown.  list is that of a condition that has one. */
index_form bloom_index_pass_form(const bloom_index *index, index_condition condition, sqlite3_value *value, const index_list *list);

/* 1 if a text is ASCII, up to a NUL. */
int bloom_index_pass_is_ascii(const unsigned char *text);

/* The inner statement, to be freed: the id, then the columns that are used. */
char *bloom_index_pass_statement(const bloom_index *index, const index_plan *plan, const index_form *forms, index_reading reading);

/* Writes which of its results a column is, -1: none; their number. */
int bloom_index_pass_results(const bloom_index *index, const index_plan *plan, int *results);

int bloom_index_pass_bind(bloom_index *index, sqlite3_stmt *rows, const index_plan *plan, const index_form *forms, sqlite3_value **args, index_list *lists);

/* -- index_candidates.c ------------------------------------------------------------ */

/* What a look-up of blocks costs, in rows of a scan. */
#define INDEX_ROWS_OF_LOOK_UP 1700

typedef struct index_interval {
  sqlite3_int64 first, last; /* both belong to it */
} index_interval;

/* In ascending order, with gaps in between. */
typedef struct index_intervals {
  index_interval *list;
  size_t num_intervals, max_intervals;
} index_intervals;

/* Appends one that begins at or behind the last one's first id. */
int bloom_index_intervals_add(index_intervals *intervals, sqlite3_int64 first, sqlite3_int64 last);

/* The ids that rows may have which meet the conditions.  args and lists are in their order.  Sets
** *is_too_dear if reading the whole source costs less, and result is nothing then. */
int bloom_index_candidates(bloom_index *index, const index_plan *plan, sqlite3_value **args, const index_list *lists, index_intervals *result,
                     int *is_too_dear);

/* -- index_zones.c ----------------------------------------------------------------- */

/* What a condition asks of the zones of a column. */
typedef struct index_zone_test {
  int key;
  bloom_zone_span *spans; /* sorted; to be freed */
  size_t num_spans, max_spans;
} index_zone_test;

/* Sets *test, whose spans are for the caller to free, by a condition's value, which is not NULL, or
** its list. */
int bloom_index_zones_test(bloom_index *index, index_condition condition, sqlite3_value *value, const index_list *list, index_zone_test *test);

/* Adds those ids of within that are in a zone which meets all tests of its column. */
int bloom_index_zones_narrow(bloom_index *index, const index_layout *layout, int key, const index_zone_test *tests, int num_tests,
                       const index_intervals *within, index_intervals *result);

/* A column's zones in the making. */
typedef struct index_zone_merge index_zone_merge;

/* Makes the rows of a column without zones. */
int bloom_index_zones_reset(bloom_index *index, int key);

/* bloom_index_zones_free() is for the caller in any case. */
int bloom_index_zones_start(bloom_index *index, int key, index_zone_merge **result);
void bloom_index_zones_free(index_zone_merge *merge);

/* Adds a changed row's value to the zone that has its id. */
int bloom_index_zones_widen(index_zone_merge *merge, sqlite3_int64 id, sqlite3_value *value);

/* Adds a row behind what the layout says is covered; no changed row can follow. */
int bloom_index_zones_add(index_zone_merge *merge, const index_layout *layout, sqlite3_value *value);

/* Writes what is in memory, when the layout says what is covered. */
int bloom_index_zones_finish(index_zone_merge *merge, const index_layout *layout);

/* Looks for each row in its zone: SQLITE_DONE, or SQLITE_NOTFOUND and the id of one that its zone lacks. */
int bloom_index_zones_check(bloom_index *index, int key, sqlite3_stmt *rows, sqlite3_int64 *id);

/* -- index_cursor.c ---------------------------------------------------------------- */

int bloom_index_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **result);
int bloom_index_close(sqlite3_vtab_cursor *base);
int bloom_index_filter(sqlite3_vtab_cursor *base, int number, const char *text, int num_args, sqlite3_value **args);
int bloom_index_next(sqlite3_vtab_cursor *base);
int bloom_index_eof(sqlite3_vtab_cursor *base);
int bloom_index_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);
int bloom_index_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid);

#endif
