/*
** Reading, and checking.  `FROM name(?)` and `WHERE key = ?` are one plan; without a key there is
** one row of facts.
**
** A snapshot is a copy of pages and journal in memory, for handles, facts and checks.  It is read
** once for each cursor that needs it, and lives as long as the cursor.
**
** LIKE, and an OR with another condition, are no look-ups: SQLite reads the column key instead,
** which is an error, because NULL there would be a wrong "no".  By a collation that is not the
** column's every key may be in the filter.
*/
#include "vtab_int.h"

#include <string.h>

#include "../../core/parquet/parquet.h"
#include "../handle.h"

/* idxStr of a plan for a key, as EXPLAIN QUERY PLAN shows it.  Behind it is the first letter of the
** collation of each of its columns, one of bloom_collation_names, or ? for another. */
#define KEY_PLAN "a key by "

/* A note advises a 'merge' of more than MANY_UNMERGED keys, or of FEW_UNMERGED that are more than a
** tenth of the merged ones. */
#define MANY_UNMERGED 10000
#define FEW_UNMERGED  1000

typedef struct vtab_snapshot {
  bloom_vtab_layout layout;
  bloom_vtab_doubt doubt;
  bloom_handle *handle;  /* NULL until it was asked for */
  sqlite3_int64 num_keys, num_unmerged;
  uint8_t *bytes[BLOOM_VTAB_MAX_LAYERS]; /* of the filters */
  bloom_filter filters[BLOOM_VTAB_MAX_LAYERS];
  bloom_hash_set unmerged;
  bloom_tuple_reader tuples;
} vtab_snapshot;

typedef struct vtab_cursor {
  sqlite3_vtab_cursor base; /* first, for SQLite */
  int is_eof;
  sqlite3_value *values[BLOOM_MAX_KEY_COLUMNS]; /* the key that is looked up, or its columns */
  int num_values;
  sqlite3_int64 rowid;
  vtab_snapshot *snapshot; /* NULL until a column needs it */
} vtab_cursor;

/* Returns the cursor by SQLite's pointer, whose type may need less alignment than ours. */
static vtab_cursor *cursor_of(void *base){
  return base;
}

/* Returns the doubt of a look-up: uncommitted pages may be those of a merge that another connection
** rolls back. */
static bloom_vtab_doubt doubt_of_reader(const bloom_vtab *vtab){
  return !vtab->doubt && vtab->is_uncommitted ? BLOOM_VTAB_UNCOMMITTED
    : bloom_vtab_doubt_of_merge(vtab);
}

/* -- Planning ----------------------------------------------------------------------------- */

/* Returns the number of the usable constraint `=` or IS on a column; -1: there is none, -2: there
** are only unusable ones.  No key is NULL, so IS finds what `=` does. */
static int find_equal(const sqlite3_index_info *info, int column){
  int i, found = -1;
  for(i=0; i<info->nConstraint; i++){
    if( info->aConstraint[i].iColumn!=column
        || (info->aConstraint[i].op!=SQLITE_INDEX_CONSTRAINT_EQ
            && info->aConstraint[i].op!=SQLITE_INDEX_CONSTRAINT_IS) ){
      continue;
    }
    if( info->aConstraint[i].usable ) return i;
    found = -2;
  }
  return found;
}

/* Plans a look-up by the constraints on num_columns columns from first on, if each of them has
** one. */
static void plan_key(sqlite3_index_info *info, int first, int num_columns, char *collations,
                     int *has_unusable){
  int i, found[BLOOM_MAX_KEY_COLUMNS] = {0}, is_complete = num_columns>0;
  for(i=0; i<num_columns; i++){
    found[i] = find_equal(info, first + i);
    is_complete &= found[i]>=0;
    *has_unusable |= found[i]==-2;
  }
  if( !is_complete ) return;
  assert( info->idxNum==0 ); /* two would be too many arguments */
  for(i=0; i<num_columns; i++){
    bloom_collation collation;
    const int is_known = bloom_collation_named(sqlite3_vtab_collation(info, found[i]), &collation);
    collations[i] = (char)(is_known ? bloom_collation_names[collation][0] : '?');
    info->aConstraintUsage[found[i]].argvIndex = i + 1;
    info->aConstraintUsage[found[i]].omit = 1; /* a key in another form does not equal itself */
  }
  info->idxNum = num_columns;
  info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  info->estimatedCost = 1;
}

int bloom_vtab_best_index(sqlite3_vtab *base, sqlite3_index_info *info){
  bloom_vtab *vtab = bloom_vtab_of(base);
  const int num_parts = bloom_vtab_num_parts(vtab), key = num_parts + BLOOM_VTAB_KEY;
  char collations[BLOOM_MAX_KEY_COLUMNS + 1] = {0};
  int i, has_unusable = 0;
  int rc = bloom_can_read_in_best_index() && !vtab->connection->is_running
    ? bloom_vtab_open(vtab, BLOOM_VTAB_DOUBT) : SQLITE_BUSY;
  if( vtab->num_cursors==0 ) bloom_vtab_close_reader(vtab);
  if( bloom_sql_is_fatal(rc) ) return rc;
  bloom_forget_message(&vtab->base);
  if( rc!=SQLITE_OK ) vtab->is_current = 0;
  info->idxNum = 0; /* arguments of xFilter: one key, or its columns one by one; none for facts */
  info->estimatedRows = 1;
  info->estimatedCost = 10;
  for(i=0; i<info->nConstraint; i++){
    /* FTS5 looks up by the column that has the table's name; here no row would be a wrong "no".  IS
    ** NULL and IS NOT NULL, which tools ask of every column, do no harm. */
    if( info->aConstraint[i].iColumn!=num_parts + BLOOM_VTAB_COMMAND
        || bloom_is_null_test(info->aConstraint[i].op) ) continue;
    return BLOOM_VTAB_FAIL(vtab, "bloom: column %s of %s takes commands alone: test a key by FROM"
                                 " %s(...), or WHERE key = ...",
                           vtab->name, vtab->name, vtab->quoted_name);
  }
  plan_key(info, 0, num_parts, collations, &has_unusable);
  /* An argument too many is a condition on the column behind the key.  No row meets it, which would
  ** be a wrong "no". */
  if( find_equal(info, key + 1)!=-1 || (info->idxNum>0 && find_equal(info, key)!=-1) ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: %s(...) has more arguments than its key has values",
                           vtab->name);
  }
  plan_key(info, key, 1, collations, &has_unusable);
  if( info->idxNum>0 ) has_unusable = 0;
  info->idxStr = sqlite3_mprintf("%s%s", info->idxNum>0 ? KEY_PLAN
    : info->colUsed >> (num_parts + BLOOM_VTAB_HANDLE) & 1u ? "the handle"
    : info->colUsed >> (num_parts + BLOOM_VTAB_FILTER) & 1u ? "the filter" : "the facts",
    collations);
  info->needToFreeIdxStr = 1;
  if( info->idxStr==NULL ) return SQLITE_NOMEM;
  /* The key is there, but this join order would need it too early. */
  return has_unusable ? SQLITE_CONSTRAINT : SQLITE_OK;
}

/* -- Snapshots ----------------------------------------------------------------------------- */

static void snapshot_free(vtab_snapshot *snapshot){
  int layer;
  if( snapshot==NULL ) return;
  if( snapshot->handle ) bloom_handle_close(snapshot->handle);
  sqlite3_finalize(snapshot->tuples.row);
  sqlite3_free(snapshot->unmerged.slots);
  for(layer=0; layer<BLOOM_VTAB_MAX_LAYERS; layer++) sqlite3_free(snapshot->bytes[layer]);
  sqlite3_free(snapshot);
}

static int read_snapshot(bloom_vtab *vtab, vtab_snapshot **result){
  const bloom_hash_set *hashes = &vtab->unmerged.hashes;
  const bloom_vtab_layout *layout;
  vtab_snapshot *snapshot;
  int layer, rc = bloom_vtab_read_layout(vtab);
  *result = NULL;
  if( rc!=SQLITE_OK ) return rc;
  snapshot = bloom_malloc_zeros(sizeof(*snapshot));
  if( snapshot==NULL ) return SQLITE_NOMEM;
  snapshot->layout = vtab->layout;
  snapshot->doubt = doubt_of_reader(vtab);
  snapshot->tuples.connection = vtab->connection;
  if( vtab->args.table && !snapshot->doubt ){
    int is_intact = 1;
    rc = bloom_vtab_count_unmerged(vtab, &snapshot->num_unmerged);
    if( rc==SQLITE_OK ) rc = bloom_vtab_read_journal(vtab, &is_intact);
    if( rc==SQLITE_OK && hashes->num_slots>0 ){
      const size_t num_bytes = hashes->num_slots * sizeof(*hashes->slots);
      snapshot->unmerged = *hashes;
      snapshot->unmerged.slots = sqlite3_malloc64(num_bytes);
      if( snapshot->unmerged.slots ) memcpy(snapshot->unmerged.slots, hashes->slots, num_bytes);
      else rc = SQLITE_NOMEM;
    }
    if( rc==SQLITE_OK ) rc = bloom_vtab_open(vtab, BLOOM_VTAB_LOOK_UP); /* as it is by now */
    snapshot->doubt = is_intact ? doubt_of_reader(vtab) : BLOOM_VTAB_BROKEN_JOURNAL;
  }
  layout = &snapshot->layout;
  for(layer=0; layer<layout->num_layers && rc==SQLITE_OK; layer++){
    const uint64_t num_blocks = layout->layers[layer].num_blocks;
    bloom_vtab_page_header header;
    bloom_shape shape = {0};
    uint8_t *bytes;
    /* The last page is read before memory is allocated: a damaged layout may have too many. */
    rc = bloom_vtab_read_page(vtab, layout, layer, bloom_vtab_num_pages(layout, layer) - 1,
                              &header);
    if( rc!=SQLITE_OK ) break;
    bloom_encoding_parquet.shape(num_blocks, 8 * BLOOM_BLOCK_BYTES, &shape);
    bytes = snapshot->bytes[layer] = sqlite3_malloc64(shape.num_bytes);
    rc = bytes ? bloom_vtab_read_layer(vtab, layout, layer, &header, bytes + shape.num_bytes
                                       - num_blocks * BLOOM_BLOCK_BYTES) : SQLITE_NOMEM;
    if( rc!=SQLITE_OK ) break;
    snapshot->num_keys += (sqlite3_int64)header.num_keys;
    bloom_parquet_put_header(shape.num_slots, bytes);
    bloom_encoding_parquet.read(bytes, shape.num_bytes, &snapshot->filters[layer]);
    assert( snapshot->filters[layer].shape.num_slots==num_blocks );
  }
  if( rc==SQLITE_OK ) *result = snapshot;
  else snapshot_free(snapshot);
  return rc;
}

/* -- Handles --------------------------------------------------------------------------------- */

/* Tests the hashes of a key; rc is what bloom_hashes_of_key() returned.  Returns 1, 0,
** BLOOM_TEST_NULL or BLOOM_TEST_NOMEM. */
static int snapshot_test(const vtab_snapshot *snapshot, int rc, const bloom_combined_hashes *asked){
  int i, layer;
  if( rc==SQLITE_NOMEM ) return BLOOM_TEST_NOMEM;
  if( rc!=SQLITE_OK || asked->is_maybe ) return 1;
  if( asked->num_hashes==0 ) return BLOOM_TEST_NULL;
  for(i=0; i<asked->num_hashes; i++){
    const bloom_hash_value hash = asked->hashes[i];
    if( bloom_hash_set_has(&snapshot->unmerged, hash) ) return 1;
    for(layer=snapshot->layout.num_layers-1; layer>=0; layer--){
      if( bloom_encoding_parquet.may_contain(&snapshot->filters[layer], hash) ) return 1;
    }
  }
  return 0;
}

static int test_value(void *data, int num_keys, sqlite3_value **keys){
  vtab_snapshot *snapshot = data;
  bloom_combined_hashes asked;
  assert( num_keys==1 );
  (void)num_keys;
  if( snapshot->doubt ) return sqlite3_value_type(keys[0])==SQLITE_NULL ? BLOOM_TEST_NULL : 1;
  return snapshot_test(snapshot, bloom_hashes_of_key(&snapshot->layout.rules, &snapshot->tuples,
      (bloom_key_values){.value = keys[0]}, &asked), &asked);
}

/* -- Facts ------------------------------------------------------------------------------------- */

static sqlite3_int64 layers_bytes(const bloom_vtab_layout *layout){
  sqlite3_int64 num_bytes = 0;
  int i;
  for(i=0; i<layout->num_layers; i++){
    num_bytes += (sqlite3_int64)layout->layers[i].num_blocks * BLOOM_BLOCK_BYTES;
  }
  return num_bytes;
}

/* Sets *note, to be freed, to what users should know of the filter, or to NULL. */
static int find_note(const bloom_vtab *vtab, const vtab_snapshot *snapshot, char **note){
  const bloom_vtab_layout *layout = &snapshot->layout;
  const sqlite3_int64 num_unmerged = snapshot->num_unmerged, num_keys = snapshot->num_keys,
    capacity = layout->layers[0].capacity;
  *note = NULL;
  if( vtab->args.table==NULL ){
    /* A filter with more than twice the keys of its first layer has more bytes than a new one. */
    bloom_vtab_layout fresh = {.blocks_per_page = layout->blocks_per_page};
    if( num_keys<BLOOM_VTAB_DEFAULT_CAPACITY || num_keys / 2<=capacity ) return SQLITE_OK;
    bloom_vtab_add_layer(vtab, &fresh, num_keys);
    *note = sqlite3_mprintf("it has outgrown its capacity of %lld%s: it has %d layers and %lld"
                            " bytes; a new filter with capacity = %lld has one layer and %lld"
                            " bytes", capacity,
                            num_keys / 5 * 4>bloom_vtab_room(layout) ? ", and is over-full" : "",
                            layout->num_layers, layers_bytes(layout), num_keys,
                            layers_bytes(&fresh));
  }else if( snapshot->doubt ){
    *note = bloom_vtab_say_doubt(vtab, snapshot->doubt);
  }else if( num_unmerged>MANY_UNMERGED
            || (num_unmerged>=FEW_UNMERGED && num_unmerged>num_keys / 10) ){
    *note = bloom_command_say(sqlite3_mprintf("%lld keys are not merged", num_unmerged), vtab->name,
                              "merge", "makes look-ups faster");
  }else if( layout->num_filled>capacity ){
    *note = bloom_command_say(sqlite3_mprintf("it has more keys than room"), vtab->name, "rebuild",
                              "makes it larger");
  }else{
    return SQLITE_OK;
  }
  return *note ? SQLITE_OK : SQLITE_NOMEM;
}

/* Returns a column of the row of facts. */
static int result_fact(bloom_vtab *vtab, vtab_snapshot *snapshot, sqlite3_context *context,
                       int column){
  const bloom_vtab_layout *layout = &snapshot->layout;
  double all_deny = snapshot->doubt ? 0 : 1;
  bloom_facts facts;
  char *note;
  int i, rc = SQLITE_OK;
  assert( column<=BLOOM_VTAB_FILTER && column!=BLOOM_VTAB_KEY );
  switch( column ){
    case BLOOM_VTAB_NUM_KEYS:     sqlite3_result_int64(context, snapshot->num_keys); break;
    case BLOOM_VTAB_UNMERGED:     sqlite3_result_int64(context, snapshot->num_unmerged); break;
    case BLOOM_VTAB_CAPACITY:     sqlite3_result_int64(context, bloom_vtab_room(layout)); break;
    case BLOOM_VTAB_BITS_PER_KEY: sqlite3_result_double(context, vtab->args.size); break;
    case BLOOM_VTAB_EXPECTED_FPR: /* at which keys that are not there pass */
      for(i=0; i<layout->num_layers; i++){
        bloom_encoding_parquet.describe(&snapshot->filters[i], 1, &facts);
        all_deny *= 1 - facts.expected_fpr;
      }
      sqlite3_result_double(context, 1 - all_deny);
      break;
    case BLOOM_VTAB_MERGED_AT:
      if( vtab->args.table ) sqlite3_result_text(context, layout->merged_at, -1, SQLITE_TRANSIENT);
      break;
    case BLOOM_VTAB_NOTE:
      rc = find_note(vtab, snapshot, &note);
      if( note ) sqlite3_result_text(context, note, -1, sqlite3_free);
      break;
    case BLOOM_VTAB_HANDLE:
      if( snapshot->handle==NULL ){
        rc = bloom_handle_open(vtab->connection, 0, &snapshot->handle);
        if( rc==SQLITE_FULL ){
          return BLOOM_VTAB_FAIL(vtab, "bloom: all handles that a process can have are open");
        }
        if( rc!=SQLITE_OK ) return rc;
        snapshot->handle->num_keys = BLOOM_ONE_KEY;
        snapshot->handle->test = test_value;
        snapshot->handle->test_data = snapshot;
      }
      bloom_handle_result(context, snapshot->handle, 0);
      break;
    case BLOOM_VTAB_FILTER:
      /* NULL, which says maybe: a filter over a table hashes keys by equality.h, which
      ** bloom_may_contain(BLOB, key) does not, and several layers are not one filter. */
      if( vtab->args.table || layout->num_layers>1 ) break;
      sqlite3_result_blob64(context, snapshot->bytes[0], snapshot->filters[0].shape.num_bytes,
                            SQLITE_TRANSIENT);
      break;
    default:                      sqlite3_result_int64(context, layers_bytes(layout)); break;
  }
  return rc;
}

/* -- The cursor ------------------------------------------------------------------------------ */

int bloom_vtab_open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **result){
  vtab_cursor *cursor = sqlite3_malloc64(sizeof(*cursor));
  if( cursor==NULL ) return SQLITE_NOMEM;
  *cursor = (vtab_cursor){.is_eof = 1};
  bloom_vtab_of(base)->num_cursors++;
  *result = &cursor->base;
  return SQLITE_OK;
}

/* Frees what the cursor has read. */
static void forget_reading(vtab_cursor *cursor){
  while( cursor->num_values>0 ) sqlite3_value_free(cursor->values[--cursor->num_values]);
  snapshot_free(cursor->snapshot);
  cursor->snapshot = NULL;
  cursor->is_eof = 1;
}

int bloom_vtab_close_cursor(sqlite3_vtab_cursor *base){
  bloom_vtab *vtab = bloom_vtab_of(base->pVtab);
  forget_reading(cursor_of(base));
  sqlite3_free(base);
  assert( vtab->num_cursors>0 );
  if( --vtab->num_cursors==0 ) bloom_vtab_close_reader(vtab);
  return SQLITE_OK;
}

/* Looks a key up in the pages, then in the journal, of a vtab that is open. */
static int look_up(bloom_vtab *vtab, bloom_key_values key, const char *collations, int *may_contain,
                   sqlite3_int64 *rowid){
  bloom_tuple_reader tuples = {vtab->connection, NULL};
  const bloom_key_rules *rules = &vtab->layout.rules;
  bloom_combined_hashes asked;
  int i, is_intact = 1, rc = bloom_vtab_read_layout(vtab);
  *may_contain = 0;
  assert( vtab->args.table==NULL || vtab->is_checked || vtab->doubt );
  if( rc==SQLITE_OK ) rc = bloom_hashes_of_key(rules, &tuples, key, &asked);
  sqlite3_finalize(tuples.row);
  if( rc==SQLITE_OK && asked.is_invalid ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: a key of %s has %d columns: FROM %s(...) with so many"
                                 " values, or key = bloom_tuple(...)", vtab->name,
                           rules->num_columns, vtab->name);
  }
  if( rc!=SQLITE_OK ) return rc;
  assert( asked.num_hashes>0 || asked.is_maybe ); /* the key is not NULL */
  *may_contain = doubt_of_reader(vtab) || asked.is_maybe;
  /* What is equal by BINARY is so by each collation; one that is not the column's may find more
  ** equal.  A tuple's BLOB has no collation. */
  for(i=0; (key.parts || rules->num_columns<2) && collations[i]; i++){
    *may_contain |= collations[i]!='B' && (i>=rules->num_columns
      || collations[i]!=bloom_collation_names[rules->columns[i].collation][0]);
  }
  if( !*may_contain ) rc = bloom_vtab_test_pages(vtab, &asked, may_contain);
  if( rc==SQLITE_OK && !*may_contain && vtab->args.table ){
    /* Where a statement of bloom's calls this, no other can run to read the journal. */
    if( vtab->connection->is_running ) is_intact = 0;
    else rc = bloom_vtab_read_journal(vtab, &is_intact);
    *may_contain = !is_intact;
    for(i=0; i<asked.num_hashes && !*may_contain; i++){
      *may_contain = bloom_hash_set_has(&vtab->unmerged.hashes, asked.hashes[i]);
    }
    if( rc==SQLITE_OK && !*may_contain ){
      rc = bloom_vtab_open(vtab, BLOOM_VTAB_LOOK_UP); /* as it is by now */
      *may_contain = doubt_of_reader(vtab)!=BLOOM_VTAB_CERTAIN;
    }
  }
  /* Keys differ in it: of key = 1 OR key = 2 SQLite takes rows of one rowid for one row. */
  *rowid = (sqlite3_int64)asked.first;
  return rc;
}

/* Begins a query; args: the key, or its columns one by one; none: facts are asked for. */
int bloom_vtab_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int num_args,
                      sqlite3_value **args){
  vtab_cursor *cursor = cursor_of(base);
  bloom_vtab *vtab = bloom_vtab_of(base->pVtab);
  int i, may_contain, rc;
  assert( plan==num_args && (plan==0 || strlen(text)==sizeof(KEY_PLAN) - 1 + (size_t)plan) );
  (void)plan;
  forget_reading(cursor);
  rc = bloom_vtab_open(vtab, BLOOM_VTAB_LOOK_UP);
  if( rc!=SQLITE_OK ) return rc;
  cursor->rowid = 1;
  cursor->is_eof = 0;
  if( num_args==0 ) return SQLITE_OK;
  cursor->is_eof = 1;
  for(i=0; i<num_args; i++){
    if( sqlite3_value_type(args[i])==SQLITE_NULL ) return SQLITE_OK;
  }
  rc = look_up(vtab, (bloom_key_values){.value = args[0], .parts = num_args>1 ? args : NULL},
               text + sizeof(KEY_PLAN) - 1, &may_contain, &cursor->rowid);
  if( rc!=SQLITE_OK || !may_contain ) return bloom_vtab_failure(vtab, rc);
  while( cursor->num_values<num_args ){
    sqlite3_value *copy = sqlite3_value_dup(args[cursor->num_values]);
    if( copy==NULL ) return SQLITE_NOMEM;
    cursor->values[cursor->num_values++] = copy;
  }
  cursor->is_eof = 0;
  return SQLITE_OK;
}

int bloom_vtab_next(sqlite3_vtab_cursor *base){
  cursor_of(base)->is_eof = 1;
  return SQLITE_OK;
}

int bloom_vtab_eof(sqlite3_vtab_cursor *base){
  return cursor_of(base)->is_eof;
}

int bloom_vtab_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid){
  *rowid = cursor_of(base)->rowid;
  return SQLITE_OK;
}

/* -- Columns --------------------------------------------------------------------------------- */

int bloom_vtab_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column){
  vtab_cursor *cursor = cursor_of(base);
  bloom_vtab *vtab = bloom_vtab_of(base->pVtab);
  const char *name = vtab->name;
  const int num_parts = bloom_vtab_num_parts(vtab);
  int rc = SQLITE_OK;
  assert( cursor->num_values<=1 || cursor->num_values==num_parts );
  if( column<num_parts ){
    /* One value is the whole key. */
    if( cursor->num_values>1 ) sqlite3_result_value(context, cursor->values[column]);
    else bloom_fail(context, "bloom: a key of %s has %d columns: test all of them, FROM %s(...)"
                             " with so many values", name, num_parts, vtab->quoted_name);
    return SQLITE_OK;
  }
  column -= num_parts;
  if( column==BLOOM_VTAB_KEY ){
    if( cursor->num_values==1 ) sqlite3_result_value(context, cursor->values[0]);
    else bloom_fail(context, "bloom: %s has no keys to read: test one, WHERE key = ..., or FROM"
                             " %s(...); beside a RIGHT or FULL JOIN of it, in a subquery", name,
                    name);
    return SQLITE_OK;
  }
  if( column>BLOOM_VTAB_FILTER ) return SQLITE_OK; /* written only */
  if( cursor->snapshot==NULL ) rc = read_snapshot(vtab, &cursor->snapshot);
  if( rc!=SQLITE_OK ) return bloom_vtab_failure(vtab, rc);
  return result_fact(vtab, cursor->snapshot, context, column);
}

/* -- Checking ---------------------------------------------------------------------------------- */

/* Sets *finding, to be freed, if the filter denies keys of the source. */
static int find_missed(bloom_vtab *vtab, vtab_snapshot *snapshot, char **finding){
  bloom_vtab_triggers triggers;
  bloom_vtab_layout now = snapshot->layout;
  bloom_combined_hashes asked;
  sqlite3_int64 num_keys = 0, num_missed = 0;
  sqlite3_stmt *row = NULL;
  int rc = bloom_vtab_read_triggers(vtab, &triggers);
  assert( vtab->args.table && !snapshot->doubt );
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_source(vtab, &triggers.args, &now);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_prepare_text(vtab->connection, &row,
                                bloom_vtab_keys_sql(vtab, &triggers.args, 0));
  }
  while( rc==SQLITE_OK && (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    const int test = snapshot_test(snapshot, bloom_vtab_hashes_of_row(&snapshot->layout.rules,
        &snapshot->tuples, row, 0, &asked), &asked);
    rc = test==BLOOM_TEST_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
    num_keys++;
    num_missed += test==0;
  }
  rc = bloom_sql_end(row, rc);
  bloom_vtab_args_free(&triggers.args);
  if( rc!=SQLITE_OK || num_missed==0 ) return rc;
  *finding = sqlite3_mprintf("bloom: %s misses %lld of the %lld keys of its source table",
                             vtab->name, num_missed, num_keys);
  *finding = bloom_command_say(*finding, vtab->name, "rebuild", "repairs it");
  return *finding ? SQLITE_OK : SQLITE_NOMEM;
}

int bloom_vtab_check(sqlite3_vtab *base, bloom_checker checker, char **finding){
  bloom_vtab *vtab = bloom_vtab_of(base);
  vtab_snapshot *snapshot = NULL;
  int rc;
  *finding = NULL;
  if( checker!=BLOOM_CHECK_COMMAND && !bloom_connection_is_checking(vtab->connection) ){
    return SQLITE_OK;
  }
  rc = bloom_vtab_open(vtab, BLOOM_VTAB_DOUBT);
  if( rc==SQLITE_OK ) rc = read_snapshot(vtab, &snapshot);
  if( snapshot && snapshot->doubt && checker==BLOOM_CHECK_COMMAND ){
    rc = find_note(vtab, snapshot, finding);
    if( rc==SQLITE_OK ) *finding = sqlite3_mprintf("bloom: %s: %z", vtab->name, *finding);
    if( *finding==NULL ) rc = SQLITE_NOMEM;
  }else if( snapshot && !snapshot->doubt && checker!=BLOOM_CHECK_QUICK && vtab->args.table ){
    rc = find_missed(vtab, snapshot, finding);
  }
  snapshot_free(snapshot);
  rc = bloom_vtab_failure(vtab, rc);
  if( vtab->num_cursors==0 ) bloom_vtab_close_reader(vtab);
  if( (rc & 0xff)!=SQLITE_CORRUPT || vtab->base.zErrMsg==NULL ) return rc;
  *finding = vtab->base.zErrMsg;
  vtab->base.zErrMsg = NULL;
  return SQLITE_OK;
}
