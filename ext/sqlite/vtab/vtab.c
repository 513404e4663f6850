/*
** CREATE VIRTUAL TABLE name USING bloom(...): a filter that stays up to date.
**
**   SELECT count(*) FROM name(?)             0: surely no such key, 1: there may be
**   SELECT ... FROM name WHERE key = ?       the same: no row or one
**   SELECT * FROM name                       one row of what there is to know
**   (SELECT handle FROM name)                for bloom_may_contain() in scans
**   INSERT INTO name(key) VALUES (?)         adds: what the triggers do, and sets of their own
**   INSERT INTO name(name) VALUES ('rebuild')
**
** Here are the methods that SQLite calls.  What they stand on: vtab_args.c reads the
** arguments, vtab_schema.c makes tables, view and triggers, vtab_store.c keeps the
** filter, equality.c knows what `=` takes for equal.
*/
#include <string.h>

#include "../../core/parquet/parquet.h"
#include "../errors.h"
#include "vtab.h"
#include "vtab_store.h"

/* Column numbers, in the order of declare(). */
enum {
  COLUMN_TABLE_NUM_KEYS,
  COLUMN_TABLE_NUM_REMOVED,
  COLUMN_TABLE_CAPACITY,
  COLUMN_TABLE_BITS_PER_KEY,
  COLUMN_TABLE_NUM_LAYERS,
  COLUMN_TABLE_NUM_PAGES,
  COLUMN_TABLE_BYTES,
  COLUMN_TABLE_EXPECTED_FPR,
  COLUMN_TABLE_REBUILT_AT,
  /* Hidden from here on; the first is what name(?) gives. */
  COLUMN_TABLE_KEY,
  COLUMN_TABLE_HANDLE,
  COLUMN_TABLE_FILTER,
  COLUMN_TABLE_REMOVED, /* written by triggers: a key that a row had */
  COLUMN_TABLE_COMMAND, /* has the table's own name */
  NUM_TABLE_COLUMNS
};

static const char *const kept_columns[COLUMN_TABLE_COMMAND] = {
  "num_keys", "num_removed", "capacity", "bits_per_key", "num_layers", "num_pages", "bytes",
  "expected_fpr", "rebuilt_at", "key", "handle", "filter", "removed"
};

/* xBestIndex's idxNum. */
#define PLAN_ALL 0
#define PLAN_KEY 1

typedef struct bloom_table {
  sqlite3_vtab base; /* first, for SQLite */
  bloom_store *store;
} bloom_table;

typedef struct kept_cursor {
  sqlite3_vtab_cursor base; /* first, for SQLite */
  int is_eof;
  sqlite3_value *key; /* that was asked for */
  sqlite3_int64 rowid;
  bloom_whole *whole; /* whose handle it gave: good as long as the statement runs */
} kept_cursor;

/* Hands an error on: SQLite frees the message. */
static int give_error(sqlite3_vtab *vtab, int rc){
  bloom_store *store = ((bloom_table *)vtab)->store;
  if( rc!=SQLITE_OK && store->error ){
    sqlite3_free(vtab->zErrMsg);
    vtab->zErrMsg = store->error;
    store->error = NULL;
  }
  return rc;
}

/* -- Making and opening -------------------------------------------------------------- */

static int declare(sqlite3 *db, const char *name, char **error){
  char *schema;
  int i, rc;
  for(i=0; i<COLUMN_TABLE_COMMAND; i++){
    if( sqlite3_stricmp(name, kept_columns[i])==0 ) return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_OWN_COLUMN, name));
  }
  schema = sqlite3_mprintf(
    "CREATE TABLE x(num_keys INTEGER, num_removed INTEGER, capacity INTEGER, bits_per_key REAL,"
    " num_layers INTEGER, num_pages INTEGER, bytes INTEGER, expected_fpr REAL, rebuilt_at TEXT,"
    " key HIDDEN, handle HIDDEN, filter HIDDEN, removed HIDDEN, \"%w\" HIDDEN)", name);
  if( schema==NULL ) return SQLITE_NOMEM;
  rc = sqlite3_declare_vtab(db, schema);
  sqlite3_free(schema);
  if( rc==SQLITE_OK ) sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  return rc;
}

/* args: module, database, table, arguments */
static int kept_open(
  sqlite3 *db, void *hub, const char *const *args, int is_new, sqlite3_vtab **vtab, char **error
){
  bloom_table *table;
  int rc = declare(db, args[2], error);
  if( rc!=SQLITE_OK ) return rc;
  table = sqlite3_malloc64(sizeof(*table));
  if( table==NULL ) return SQLITE_NOMEM;
  memset(table, 0, sizeof(*table));
  table->store = bloom_store_open(hub, db, args[1], args[2], is_new);
  if( table->store==NULL ){
    sqlite3_free(table);
    return SQLITE_NOMEM;
  }
  *vtab = &table->base;
  return SQLITE_OK;
}

static int kept_disconnect(sqlite3_vtab *vtab){
  bloom_store_close(((bloom_table *)vtab)->store);
  sqlite3_free(vtab->zErrMsg); /* SQLite takes some methods' alone */
  sqlite3_free(vtab);
  return SQLITE_OK;
}

/* Reads nothing: a table that is damaged can be dropped. */
static int kept_connect(
  sqlite3 *db, void *hub, int num_args, const char *const *args, sqlite3_vtab **vtab, char **error
){
  (void)num_args;
  return kept_open(db, hub, args, 0, vtab, error);
}

static int kept_create(
  sqlite3 *db, void *hub, int num_args, const char *const *args, sqlite3_vtab **vtab, char **error
){
  const sqlite3_int64 rowid = sqlite3_last_insert_rowid(db);
  bloom_table_args given;
  bloom_table_config config = {0};
  bloom_store *store;
  int rc = bloom_table_args_read(num_args - 3, args + 3, &given, error);
  if( rc==SQLITE_OK ) rc = kept_open(db, hub, args, 1, vtab, error);
  if( rc!=SQLITE_OK ){
    bloom_table_args_free(&given);
    return rc;
  }
  store = ((bloom_table *)*vtab)->store;
  rc = bloom_table_schema_create(bloom_store_name(store), &given, &config, error);
  bloom_table_args_free(&given);
  if( rc==SQLITE_OK ){
    rc = bloom_store_create(store, &config); /* takes the configuration over */
    if( rc!=SQLITE_OK ){
      sqlite3_free(*error);
      *error = store->error;
      store->error = NULL;
      bloom_table_schema_drop(bloom_store_name(store), config.is_following ? config.names_prefix : NULL);
    }
  }else{
    sqlite3_free(config.names_prefix);
  }
  sqlite3_set_last_insert_rowid(db, rowid);
  if( rc!=SQLITE_OK ){
    kept_disconnect(*vtab);
    *vtab = NULL;
  }
  return rc;
}

static int kept_destroy(sqlite3_vtab *vtab){
  int rc = bloom_store_destroy(((bloom_table *)vtab)->store);
  if( rc!=SQLITE_OK ) return give_error(vtab, rc);
  return kept_disconnect(vtab);
}

/* -- Reading ------------------------------------------------------------------------------ */

/* The version of the schema that SQLite has in memory stands in the programs that it compiles;
** -1 if not. */
static int version_in_memory(bloom_store *store, sqlite3_int64 *version){
  sqlite3_stmt *row;
  int rc = bloom_prepare(store->db, &row, "EXPLAIN SELECT 1 FROM \"%w\".sqlite_master", store->schema);
  *version = -1;
  while( rc==SQLITE_OK && (rc = sqlite3_step(row))==SQLITE_ROW ){
    const char *opcode;
    rc = bloom_column_text(row, 1, &opcode);
    if( rc==SQLITE_OK && opcode && strcmp(opcode, "Transaction")==0 ) *version = (unsigned)sqlite3_column_int(row, 4);
  }
  sqlite3_finalize(row);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/* This version locks the schema while it calls xBestIndex. */
#ifdef BLOOM_TINY_TABLES
# define FIRST_THAT_LOCKS 1000000000 /* for tests: none does */
#else
# define FIRST_THAT_LOCKS 3038002
#endif

/* SQLITE_SCHEMA if another connection changed the schema and SQLite has not yet noticed.  Newer
** versions say so themselves.  Older ones read the schema anew when a statement of ours
** notices it: the one that is being prepared would then go to the pages of old tables. */
static int check_memory(bloom_store *store, unsigned version){
  sqlite3_int64 in_memory;
  int rc;
  if( sqlite3_libversion_number()>=FIRST_THAT_LOCKS ) return SQLITE_OK;
  rc = version_in_memory(store, &in_memory);
  if( rc!=SQLITE_OK ) return rc;
  return in_memory==version ? SQLITE_OK : SQLITE_SCHEMA;
}

static int check_schema(bloom_store *store, unsigned version){
  char *finding;
  int rc;
  if( store->has_config && store->has_checked_schema && store->checked_schema==version ) return SQLITE_OK;
  rc = check_memory(store, version);
  if( rc!=SQLITE_OK ) return rc;
  /* Another connection may have made the table anew. */
  bloom_store_forget_config(store);
  rc = bloom_store_read_config(store);
  if( rc!=SQLITE_OK || !store->config.is_following ) return rc;
  rc = bloom_table_schema_check(bloom_store_name(store), &store->config, &finding);
  if( rc!=SQLITE_OK ) return rc;
  if( finding ){
    sqlite3_free(store->error);
    store->error = finding;
    return SQLITE_ERROR;
  }
  store->checked_schema = version;
  store->has_checked_schema = 1;
  return SQLITE_OK;
}

/* Looks, once for each version of the schema, whether the triggers are there and the column
** is as it was. */
static int check_triggers(bloom_store *store){
  sqlite3_stmt *row;
  int rc = bloom_prepare(store->db, &row, "PRAGMA \"%w\".schema_version", store->schema);
  if( rc==SQLITE_OK ) rc = sqlite3_step(row);
  /* While it runs nobody else changes the schema. */
  if( rc==SQLITE_ROW ) rc = check_schema(store, (unsigned)sqlite3_column_int64(row, 0));
  sqlite3_finalize(row);
  return rc;
}

/* 1 if a comparison by this collation is answered as the filter's rule has it: BINARY takes
** for equal no more than any. */
static int is_collation_known(const bloom_store *store, const char *name){
  bloom_collation collation;
  if( !bloom_collation_named(name, &collation) ) return 0;
  return collation==BLOOM_COLLATION_BINARY || collation==store->config.rule.collation;
}

static int kept_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info){
  bloom_store *store = ((bloom_table *)vtab)->store;
  int i, has_unusable = 0, rc = bloom_store_enter(store);
  if( rc==SQLITE_OK ){
    rc = check_triggers(store);
    bloom_store_leave(store);
  }
  /* Another connection changed the schema, which cannot be read again just now: SQLite
  ** notices too when the statement runs, and prepares it anew. */
  if( (rc & 0xff)==SQLITE_SCHEMA ) rc = SQLITE_OK;
  if( rc!=SQLITE_OK ) return give_error(vtab, rc);
  info->idxNum = PLAN_ALL;
  info->estimatedRows = 1;
  info->estimatedCost = 10;
  for(i=0; i<info->nConstraint; i++){
    if( info->aConstraint[i].iColumn!=COLUMN_TABLE_KEY ) continue;
    if( info->aConstraint[i].op!=SQLITE_INDEX_CONSTRAINT_EQ ) continue;
    if( !info->aConstraint[i].usable ){
      has_unusable = 1;
      continue;
    }
    if( !is_collation_known(store, sqlite3_vtab_collation(info, i)) ) continue;
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1; /* a key in another form does not equal itself */
    info->idxNum = PLAN_KEY;
    info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    info->estimatedCost = 1;
    return SQLITE_OK;
  }
  /* The key is there, but this join order would need it too early. */
  return has_unusable ? SQLITE_CONSTRAINT : SQLITE_OK;
}

/* From SQLite's pointer, whose type may need less alignment than ours. */
static kept_cursor *kept_cursor_of(void *base){
  return base;
}

static int kept_open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **result){
  kept_cursor *cursor = sqlite3_malloc64(sizeof(*cursor));
  (void)vtab;
  if( cursor==NULL ) return SQLITE_NOMEM;
  memset(cursor, 0, sizeof(*cursor));
  cursor->is_eof = 1;
  *result = &cursor->base;
  return SQLITE_OK;
}

static int kept_close_cursor(sqlite3_vtab_cursor *base){
  kept_cursor *cursor = kept_cursor_of(base);
  sqlite3_value_free(cursor->key);
  if( cursor->whole ) bloom_whole_release(cursor->whole);
  sqlite3_free(base);
  return SQLITE_OK;
}

/* args[0], by PLAN_KEY: the key. */
static int kept_filter(
  sqlite3_vtab_cursor *base, int plan, const char *text, int num_args, sqlite3_value **args
){
  kept_cursor *cursor = kept_cursor_of(base);
  bloom_store *store = ((bloom_table *)base->pVtab)->store;
  bloom_key_hashes asked;
  int may_contain = 0, rc;
  (void)text; (void)num_args;
  sqlite3_value_free(cursor->key);
  cursor->key = NULL;
  cursor->is_eof = 1;
  rc = bloom_store_enter(store);
  if( rc!=SQLITE_OK ) return give_error(base->pVtab, rc);
  rc = bloom_store_refresh(store);
  if( rc==SQLITE_OK && plan==PLAN_KEY ){
    rc = bloom_query_hashes(&bloom_encoding_parquet, store->config.rule, args[0], &asked);
    if( rc==SQLITE_OK ) rc = bloom_store_ask(store, &asked, &may_contain);
  }
  bloom_store_leave(store);
  if( rc!=SQLITE_OK ) return give_error(base->pVtab, rc);
  if( plan==PLAN_ALL ){
    cursor->rowid = 1;
    cursor->is_eof = 0;
    return SQLITE_OK;
  }
  if( !may_contain ) return SQLITE_OK;
  /* Not one for all keys: of key = 1 OR key = 2 SQLite would take the two for one row. */
  cursor->rowid = (sqlite3_int64)asked.hashes[0];
  cursor->key = sqlite3_value_dup(args[0]);
  if( cursor->key==NULL ) return SQLITE_NOMEM;
  cursor->is_eof = 0;
  return SQLITE_OK;
}

static int kept_next(sqlite3_vtab_cursor *base){
  kept_cursor_of(base)->is_eof = 1;
  return SQLITE_OK;
}

static int kept_eof(sqlite3_vtab_cursor *base){
  return kept_cursor_of(base)->is_eof;
}

static int kept_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid){
  *rowid = kept_cursor_of(base)->rowid;
  return SQLITE_OK;
}

/* A key that is not there passes if one layer says so. */
static double expected_fpr(const bloom_whole *whole){
  double all_deny = 1;
  int layer;
  for(layer=0; layer<whole->num_layers; layer++){
    bloom_facts facts;
    bloom_encoding_parquet.describe(&whole->filters[layer], 1, &facts);
    all_deny *= 1 - facts.expected_fpr;
  }
  return 1 - all_deny;
}

/* The columns for which all pages are read. */
static int result_whole(kept_cursor *cursor, sqlite3_context *context, int column){
  bloom_store *store = ((bloom_table *)cursor->base.pVtab)->store;
  bloom_whole *whole;
  int rc = bloom_store_whole(store, &whole);
  if( rc!=SQLITE_OK ) return rc;
  if( column==COLUMN_TABLE_EXPECTED_FPR ){
    sqlite3_result_double(context, expected_fpr(whole));
  }else if( column==COLUMN_TABLE_FILTER ){
    const bloom_filter *filter = &whole->filters[0];
    if( whole->num_layers==1 ) sqlite3_result_blob64(context, filter->bytes, filter->shape.num_bytes, SQLITE_TRANSIENT);
  }else{
    rc = bloom_store_open_handle(store, whole);
    if( rc==SQLITE_OK ){
      bloom_handle_result(context, whole->handle);
      if( cursor->whole ) bloom_whole_release(cursor->whole);
      cursor->whole = whole;
      return SQLITE_OK;
    }
  }
  bloom_whole_release(whole);
  return rc;
}

static int result_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column){
  kept_cursor *cursor = kept_cursor_of(base);
  bloom_store *store = ((bloom_table *)base->pVtab)->store;
  const bloom_layer *last;
  sqlite3_int64 sum = 0;
  int i, rc;
  /* What the transaction added counts. */
  rc = bloom_store_write_pending(store);
  if( rc==SQLITE_OK ) rc = bloom_store_refresh(store);
  if( rc!=SQLITE_OK ) return give_error(base->pVtab, rc);
  last = &store->layers[store->num_layers-1];
  switch( column ){
    case COLUMN_TABLE_NUM_KEYS:
      for(i=0; i<store->num_layers; i++) sum += store->layers[i].num_keys;
      sqlite3_result_int64(context, sum);
      break;
    case COLUMN_TABLE_NUM_REMOVED:
      sqlite3_result_int64(context, store->layers[0].num_removed + store->num_removed);
      break;
    case COLUMN_TABLE_CAPACITY:
      for(i=0; i<store->num_layers; i++) sum += store->layers[i].capacity;
      sqlite3_result_int64(context, sum);
      break;
    case COLUMN_TABLE_BITS_PER_KEY:
      sqlite3_result_double(context, store->config.bits_per_key);
      break;
    case COLUMN_TABLE_NUM_LAYERS:
      sqlite3_result_int(context, store->num_layers);
      break;
    case COLUMN_TABLE_NUM_PAGES:
      for(i=0; i<store->num_layers; i++) sum += (sqlite3_int64)bloom_store_pages(store, i);
      sqlite3_result_int64(context, sum);
      break;
    case COLUMN_TABLE_BYTES:
      for(i=0; i<store->num_layers; i++) sum += (sqlite3_int64)store->layers[i].num_blocks * 32;
      sqlite3_result_int64(context, sum);
      break;
    case COLUMN_TABLE_EXPECTED_FPR:
    case COLUMN_TABLE_HANDLE:
    case COLUMN_TABLE_FILTER:
      return give_error(base->pVtab, result_whole(cursor, context, column));
    case COLUMN_TABLE_REBUILT_AT:
      sqlite3_result_text(context, last->rebuilt_at, -1, SQLITE_TRANSIENT);
      break;
    case COLUMN_TABLE_KEY:
      if( cursor->key ){
        sqlite3_result_value(context, cursor->key);
      }else{
        bloom_fail(context, BLOOM_ERROR_TABLE_KEY, bloom_store_name(store).table, bloom_store_name(store).table);
      }
      break;
    default: /* removed, the command: written only */
      break;
  }
  return SQLITE_OK;
}

static int kept_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column){
  bloom_store *store = ((bloom_table *)base->pVtab)->store;
  int rc = bloom_store_enter(store);
  if( rc!=SQLITE_OK ) return give_error(base->pVtab, rc);
  rc = result_column(base, context, column);
  bloom_store_leave(store);
  return rc;
}

/* -- Writing -------------------------------------------------------------------------------- */

static int run_command(sqlite3_vtab *vtab, sqlite3_value *value){
  bloom_store *store = ((bloom_table *)vtab)->store;
  const char *command = (const char *)sqlite3_value_text(value);
  if( command==NULL ) return SQLITE_NOMEM;
  if( sqlite3_stricmp(command, "rebuild")==0 ){
    int rc = bloom_store_rebuild(store);
    if( rc==SQLITE_OK ) rc = check_triggers(store);
    return give_error(vtab, rc);
  }
  if( sqlite3_stricmp(command, "integrity-check")==0 ){
    char *finding;
    int rc = bloom_store_check(store, 0, &finding);
    if( rc!=SQLITE_OK ) return give_error(vtab, rc);
    if( finding==NULL ) return SQLITE_OK;
    bloom_say(&vtab->zErrMsg, finding);
    return SQLITE_CORRUPT_VTAB;
  }
  return bloom_say(&vtab->zErrMsg, sqlite3_mprintf(BLOOM_ERROR_TABLE_COMMAND, command));
}

/* args: old rowid, new rowid, columns */
static int insert_row(sqlite3_vtab *vtab, int num_args, sqlite3_value **args, sqlite3_int64 *rowid){
  bloom_store *store = ((bloom_table *)vtab)->store;
  sqlite3_value **columns = args + 2;
  bloom_key_hashes added, removed;
  int i, rc;
  if( num_args==1 || sqlite3_value_type(args[0])!=SQLITE_NULL ){
    return bloom_say(&vtab->zErrMsg, sqlite3_mprintf(BLOOM_ERROR_TABLE_FORGET, bloom_store_name(store).table));
  }
  *rowid = sqlite3_last_insert_rowid(store->db);
  if( sqlite3_value_type(columns[COLUMN_TABLE_COMMAND])!=SQLITE_NULL ){
    return run_command(vtab, columns[COLUMN_TABLE_COMMAND]);
  }
  for(i=0; i<COLUMN_TABLE_REMOVED; i++){
    if( i!=COLUMN_TABLE_KEY && sqlite3_value_type(columns[i])!=SQLITE_NULL ){
      return bloom_say(&vtab->zErrMsg, sqlite3_mprintf(BLOOM_ERROR_TABLE_WRITE, kept_columns[i], bloom_store_name(store).table));
    }
  }
  rc = bloom_store_refresh_to_write(store);
  if( rc==SQLITE_OK ){
    rc = bloom_insert_hashes(&bloom_encoding_parquet, store->config.rule, columns[COLUMN_TABLE_KEY], &added);
  }
  if( rc==SQLITE_OK ){
    rc = bloom_insert_hashes(&bloom_encoding_parquet, store->config.rule, columns[COLUMN_TABLE_REMOVED], &removed);
  }
  if( rc==SQLITE_OK ) rc = bloom_store_change(store, &added, &removed);
  return give_error(vtab, rc);
}

static int kept_update(sqlite3_vtab *vtab, int num_args, sqlite3_value **args, sqlite3_int64 *rowid){
  bloom_store *store = ((bloom_table *)vtab)->store;
  int rc = bloom_store_enter(store);
  if( rc!=SQLITE_OK ) return give_error(vtab, rc);
  rc = insert_row(vtab, num_args, args, rowid);
  bloom_store_leave(store);
  return rc;
}

static int kept_begin(sqlite3_vtab *vtab){
  bloom_store_begin(((bloom_table *)vtab)->store);
  return SQLITE_OK;
}

static int kept_sync(sqlite3_vtab *vtab){
  return give_error(vtab, bloom_store_sync(((bloom_table *)vtab)->store));
}

static int kept_commit(sqlite3_vtab *vtab){
  bloom_store_commit(((bloom_table *)vtab)->store);
  return SQLITE_OK;
}

static int kept_rollback(sqlite3_vtab *vtab){
  bloom_store_rollback(((bloom_table *)vtab)->store);
  return SQLITE_OK;
}

static int kept_savepoint(sqlite3_vtab *vtab, int number){
  return give_error(vtab, bloom_store_savepoint(((bloom_table *)vtab)->store, number));
}

static int kept_release(sqlite3_vtab *vtab, int number){
  bloom_store_release(((bloom_table *)vtab)->store, number);
  return SQLITE_OK;
}

static int kept_rollback_to(sqlite3_vtab *vtab, int number){
  bloom_store_rollback_to(((bloom_table *)vtab)->store, number);
  return SQLITE_OK;
}

static int kept_rename(sqlite3_vtab *vtab, const char *new_name){
  bloom_store *store = ((bloom_table *)vtab)->store;
  int i, is_rewritten = 1;
  int rc = bloom_store_read_config(store);
  if( rc==SQLITE_OK && store->config.is_following ){
    rc = bloom_table_schema_check_rename(bloom_store_name(store), &store->config, new_name, &is_rewritten);
  }
  if( rc!=SQLITE_OK ) return give_error(vtab, rc);
  if( !is_rewritten ) return bloom_say(&vtab->zErrMsg, sqlite3_mprintf(BLOOM_ERROR_TABLE_LEGACY));
  for(i=0; i<COLUMN_TABLE_COMMAND; i++){
    if( sqlite3_stricmp(new_name, kept_columns[i])==0 ){
      return bloom_say(&vtab->zErrMsg, sqlite3_mprintf(BLOOM_ERROR_TABLE_OWN_COLUMN, new_name));
    }
  }
  return give_error(vtab, bloom_store_rename(store, new_name));
}

static int kept_shadow_name(const char *name){
  return sqlite3_stricmp(name, "config")==0 || sqlite3_stricmp(name, "layers")==0 || sqlite3_stricmp(name, "pages")==0;
}

/* PRAGMA integrity_check.  is_quick: PRAGMA quick_check. */
static int kept_integrity(sqlite3_vtab *vtab, const char *schema, const char *name, int is_quick, char **finding){
  (void)schema; (void)name;
  return give_error(vtab, bloom_store_check(((bloom_table *)vtab)->store, is_quick, finding));
}

const bloom_module_with_integrity bloom_vtab_module = {
  .module = {
    .iVersion = 4,
    .xCreate = kept_create,
    .xConnect = kept_connect,
    .xBestIndex = kept_best_index,
    .xDisconnect = kept_disconnect,
    .xDestroy = kept_destroy,
    .xOpen = kept_open_cursor,
    .xClose = kept_close_cursor,
    .xFilter = kept_filter,
    .xNext = kept_next,
    .xEof = kept_eof,
    .xColumn = kept_column,
    .xRowid = kept_rowid,
    .xUpdate = kept_update,
    .xBegin = kept_begin,
    .xSync = kept_sync,
    .xCommit = kept_commit,
    .xRollback = kept_rollback,
    .xRename = kept_rename,
    .xSavepoint = kept_savepoint,
    .xRelease = kept_release,
    .xRollbackTo = kept_rollback_to,
    .xShadowName = kept_shadow_name,
#if SQLITE_VERSION_NUMBER >= 3044000
    .xIntegrity = kept_integrity,
#endif
  },
  .integrity = kept_integrity,
};
