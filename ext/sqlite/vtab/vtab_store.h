/*
** The filter of a virtual table, in its shadow tables and in memory.
**
** On disk it is one layer, of a set of its own as many as it took: blocks of the 'parquet'
** encoding, cut into rows that each fit a page.  In memory are copies of what was read,
** good while the database's data version stands, and the hashes that a transaction added
** and that are not on disk yet.  All objects that SQLite makes for one virtual table on one
** connection, a new one after each change of the schema, share one store.
** ext/sqlite/vtab/README.md says what is kept when, and why no key gets lost.
*/
#ifndef BLOOM_SQLITE_VTAB_STORE_H
#define BLOOM_SQLITE_VTAB_STORE_H

#include "../handle.h"
#include "vtab_schema.h"

/* Each layer holds twice as many keys as the one before: more than there can be. */
#define BLOOM_MAX_LAYERS 48

typedef struct bloom_layer {
  uint64_t num_blocks;
  sqlite3_int64 num_keys;    /* when it was built, and each since that changed it */
  sqlite3_int64 num_removed; /* of these no more in the table, as far as triggers saw */
  sqlite3_int64 capacity;
  double bits_per_key;
  char rebuilt_at[24];       /* UTC */
} bloom_layer;

/* A page in memory. */
typedef struct bloom_page_slot {
  uint64_t generation; /* of the store when it was read: another is out of date */
  sqlite3_int64 page;
  uint8_t *blocks;     /* room for config.blocks_per_page */
} bloom_page_slot;

/* What a savepoint goes back to. */
typedef struct bloom_savepoint {
  size_t num_pending, num_on_disk;
  sqlite3_int64 num_removed;
  size_t name;
  int is_dropped;
} bloom_savepoint;

enum {
  BLOOM_SQL_READ_PAGE, BLOOM_SQL_WRITE_PAGE, BLOOM_SQL_INSERT_PAGE, BLOOM_SQL_READ_LAYERS,
  BLOOM_SQL_WRITE_COUNTS, NUM_BLOOM_SQL
};

/* All layers in memory, shared by those who read them: each a standard filter. */
typedef struct bloom_whole {
  int num_users;
  uint64_t serial; /* of the store's contents */
  bloom_equality rule;
  bloom_handle *handle; /* NULL until there is one */
  int num_layers;
  bloom_filter filters[BLOOM_MAX_LAYERS];
  uint8_t bytes[]; /* of all filters */
} bloom_whole;

typedef struct bloom_store {
  struct bloom_hub *hub;
  struct bloom_store *next;
  int num_users;
  sqlite3 *db;
  char *schema;
  char **names; /* that the table has had in this transaction */
  size_t num_names, name;
  char *error;  /* what went wrong; whoever gives it to SQLite takes it */

  sqlite3_stmt *sql[NUM_BLOOM_SQL];
  int is_sql_stale;         /* sql is of another name: to be compiled anew */
  bloom_table_config config;
  int has_config;
  uint64_t seal;            /* of the configuration */
  unsigned checked_schema;  /* the schema version whose triggers were looked at */
  int has_checked_schema;

  int is_valid;             /* what follows, up to pages */
  unsigned version;         /* the data version that it was read at */
  uint64_t serial;          /* changes whenever the contents may have */
  bloom_layer layers[BLOOM_MAX_LAYERS];
  int num_layers;
  int has_new_counts;       /* layers' counts are ahead of the disk's */
  bloom_page_slot *slots;
  size_t num_slots;
  uint64_t generation;
  bloom_whole *whole;       /* NULL: none, or out of date */

  bloom_hash_value *pending;    /* in the order in which they came */
  size_t num_pending, max_pending;
  size_t num_on_disk;       /* of these, from the first on */
  sqlite3_int64 num_removed;
  bloom_savepoint *savepoints;
  int num_savepoints, max_savepoints;
  int is_in_transaction;    /* between xBegin and xCommit or xRollback */
  int is_current;           /* layers were made good in this transaction, and it writes */
  int is_in_sync;           /* the caches were looked at in xSync */
  int is_dropped;           /* its table is: nothing is written any more */
  int is_inside;            /* between bloom_store_enter() and bloom_store_leave() */
} bloom_store;

/* All stores of a connection; the module's client data. */
typedef struct bloom_hub {
  bloom_store *first; /* oldest first */
  bloom_handle_pool *pool;
} bloom_hub;

/* The store of a table, made if there is none, or if is_new; NULL if there is no memory. */
bloom_store *bloom_store_open(bloom_hub *hub, sqlite3 *db, const char *schema, const char *table, int is_new);
void bloom_store_close(bloom_store *store);

bloom_table_name bloom_store_name(const bloom_store *store);

/* All that follow give an SQLite code, and may set store->error. */

/* Writes the configuration and an empty filter, and fills it if it follows a table. */
int bloom_store_create(bloom_store *store, const bloom_table_config *config);

/* Before and after what reads or writes shadow tables: damaged if that runs already, for
** another's schema may have made views of them, or given them triggers, that ask the table. */
int bloom_store_enter(bloom_store *store);
void bloom_store_leave(bloom_store *store);

/* Reads the configuration, once, until it is forgotten. */
int bloom_store_read_config(bloom_store *store);
void bloom_store_forget_config(bloom_store *store);

/* Makes layers good for the transaction that runs. */
int bloom_store_refresh(bloom_store *store);

/* The same where the transaction writes: nobody else can commit beside it, so it looks
** once. */
int bloom_store_refresh_to_write(bloom_store *store);

/* Adds a key's hashes, takes one for removed; each may have none. */
int bloom_store_change(bloom_store *store, const bloom_key_hashes *added, const bloom_key_hashes *removed);

/* Writes what waits in memory to disk.  Of what is written then, memory keeps what a
** savepoint can take off the disk again without taking away its rows, and the newest. */
int bloom_store_write_pending(bloom_store *store);

/* The pages of a layer. */
uint64_t bloom_store_pages(const bloom_store *store, int layer);

/* Sets *may_contain for the hashes that a key is asked by. */
int bloom_store_ask(bloom_store *store, const bloom_key_hashes *asked, int *may_contain);

/* Builds the filter anew from the table that it follows. */
int bloom_store_rebuild(bloom_store *store);

/* Checks layers and pages, and unless is_quick all keys of the table. *finding, to be freed,
** says what is wrong, NULL: nothing. */
int bloom_store_check(bloom_store *store, int is_quick, char **finding);

/* Sets *result: everything that is written, in one piece, to be released.  After a refresh. */
int bloom_store_whole(bloom_store *store, bloom_whole **result);
void bloom_whole_release(bloom_whole *whole);

/* Gives *whole, which bloom_store_whole() gave, a handle that asks by the column's rule. */
int bloom_store_open_handle(bloom_store *store, bloom_whole *whole);

/* Life of a transaction. */
void bloom_store_begin(bloom_store *store);
int bloom_store_sync(bloom_store *store);
void bloom_store_commit(bloom_store *store);
void bloom_store_rollback(bloom_store *store);
int bloom_store_savepoint(bloom_store *store, int number);
void bloom_store_release(bloom_store *store, int number);
void bloom_store_rollback_to(bloom_store *store, int number);
int bloom_store_rename(bloom_store *store, const char *new_name);
int bloom_store_destroy(bloom_store *store);

#endif
