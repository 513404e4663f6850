/*
** Reading.  `FROM name(?)` and `WHERE key = ?` are one plan; without a key there is one row
** of what there is to know.
**
** LIKE and an OR with something else cannot be answered: SQLite reads the column key instead, which
** is an error, because NULL there would be a wrong "no".  By a collation that is not the column's
** every key may be in the filter.
*/
#include "vtab_int.h"

/* xBestIndex's idxNum; with UNCHECKED the schema is looked at when the statement runs. */
#define PLAN_FACTS 0
#define PLAN_KEY   1
#define UNCHECKED  2
#define PLAN_PARTS 4 /* the key's columns one by one; with PLAN_KEY */

/* Where in idxStr, behind what EXPLAIN QUERY PLAN shows of a plan for a key, there is a letter for
** each collation: that of bloom_collation_names, or ? for another. */
#define KEY_PLAN "a key by "

typedef struct vtab_cursor {
  sqlite3_vtab_cursor base; /* first, for SQLite */
  int is_eof;
  bloom_vtab_doubt doubt; /* when it began */
  sqlite3_value *values[BLOOM_MAX_KEY_COLUMNS]; /* the key that was looked for, or its columns */
  int num_values;
  sqlite3_int64 rowid;
  bloom_vtab_snapshot *snapshot; /* once a column needed it */
} vtab_cursor;

/* Returns the cursor by SQLite's pointer, whose type may need less alignment than ours. */
static vtab_cursor *cursor_of(void *base){
  return base;
}

/* -- Planning ----------------------------------------------------------------------------- */

/* Returns the constraint `=` or IS on a column; -1 if there is none that is usable, -2 if there is
** one that is not.  No key is NULL, so IS finds what `=` does. */
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

/* Plans to look up what the constraints on num_columns columns from first on compare with, if they
** are all there. */
static void plan_key(
  sqlite3_index_info *info, int first, int num_columns, char *collations, int *has_unusable
){
  int i, found[BLOOM_MAX_KEY_COLUMNS] = {0}, is_complete = num_columns>0;
  for(i=0; i<num_columns; i++){
    found[i] = find_equal(info, first + i);
    is_complete &= found[i]>=0;
    *has_unusable |= found[i]==-2;
  }
  if( !is_complete ) return;
  assert(!(info->idxNum & PLAN_KEY)); /* two would be too many arguments */
  for(i=0; i<num_columns; i++){
    bloom_collation collation;
    const int is_known = bloom_collation_named(sqlite3_vtab_collation(info, found[i]), &collation);
    collations[i] = (char)(is_known ? bloom_collation_names[collation][0] : '?');
    info->aConstraintUsage[found[i]].argvIndex = i + 1;
    info->aConstraintUsage[found[i]].omit = 1; /* a key in another form does not equal itself */
  }
  info->idxNum |= PLAN_KEY;
  info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  info->estimatedCost = 1;
}

/* Returns what EXPLAIN QUERY PLAN shows, to be freed. */
static char *plan_name(
  const bloom_vtab *vtab, const sqlite3_index_info *info, const char *collations
){
  const int num_parts = bloom_vtab_num_parts(vtab);
  if( info->idxNum & PLAN_KEY ) return sqlite3_mprintf(KEY_PLAN "%s", collations);
  if( info->colUsed >> (num_parts + BLOOM_VTAB_HANDLE) & 1u ) return sqlite3_mprintf("the handle");
  if( info->colUsed >> (num_parts + BLOOM_VTAB_FILTER) & 1u ) return sqlite3_mprintf("the filter");
  return sqlite3_mprintf("the facts");
}

/* Returns 1 if a condition is on the column for commands, as FTS5 has it for keys: no row would be
** a wrong "no".  IS NULL and IS NOT NULL, which tools ask of every column, are none. */
static int has_condition_on_command(const sqlite3_index_info *info, int num_parts){
  int i;
  for(i=0; i<info->nConstraint; i++){
    if( info->aConstraint[i].iColumn==num_parts + BLOOM_VTAB_COMMAND
        && !bloom_is_null_test(info->aConstraint[i].op) ) return 1;
  }
  return 0;
}

int bloom_vtab_best_index(sqlite3_vtab *base, sqlite3_index_info *info){
  bloom_vtab *vtab = bloom_vtab_of(base);
  const int num_parts = bloom_vtab_num_parts(vtab), key = num_parts + BLOOM_VTAB_KEY;
  char collations[BLOOM_MAX_KEY_COLUMNS + 1] = {0};
  int has_unusable = 0;
  int rc = bloom_can_read_in_best_index() && !vtab->connection->is_running
    ? bloom_vtab_open(vtab, BLOOM_VTAB_DOUBT) : SQLITE_BUSY;
  if( vtab->num_cursors==0 ) bloom_vtab_close_reader(vtab);
  if( bloom_sql_is_fatal(rc) ) return rc;
  bloom_vtab_forget_message(vtab);
  info->idxNum = rc!=SQLITE_OK ? UNCHECKED : PLAN_FACTS;
  info->estimatedRows = 1;
  info->estimatedCost = 10;
  if( has_condition_on_command(info, num_parts) ){
    return bloom_vtab_fail(vtab, "bloom: column %s of %s takes commands alone: test a key by FROM"
                                 " %s(...), or WHERE key = ...",
                           vtab->name, vtab->name, vtab->quoted_name);
  }
  plan_key(info, 0, num_parts, collations, &has_unusable);
  if( info->idxNum & PLAN_KEY ) info->idxNum |= PLAN_PARTS;
  /* The argument behind the key's last one: a handle equals nothing, and no row would be a wrong
  ** "no". */
  if( find_equal(info, key + 1)!=-1 || (info->idxNum & PLAN_KEY && find_equal(info, key)!=-1) ){
    return bloom_vtab_fail(vtab, "bloom: %s(...) has more arguments than its key has values",
                           vtab->name);
  }
  plan_key(info, key, 1, collations, &has_unusable);
  if( info->idxNum & PLAN_KEY ) has_unusable = 0;
  info->idxStr = plan_name(vtab, info, collations);
  info->needToFreeIdxStr = 1;
  if( info->idxStr==NULL ) return SQLITE_NOMEM;
  /* The key is there, but this join order would need it too early. */
  return has_unusable ? SQLITE_CONSTRAINT : SQLITE_OK;
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

/* Forgets all that the cursor read. */
static void forget_reading(vtab_cursor *cursor){
  while( cursor->num_values>0 ) sqlite3_value_free(cursor->values[--cursor->num_values]);
  bloom_vtab_snapshot_free(cursor->snapshot);
  cursor->snapshot = NULL;
  cursor->is_eof = 1;
}

int bloom_vtab_close_cursor(sqlite3_vtab_cursor *base){
  bloom_vtab *vtab = bloom_vtab_of(base->pVtab);
  forget_reading(cursor_of(base));
  sqlite3_free(base);
  assert(vtab->num_cursors>0);
  if( --vtab->num_cursors==0 ) bloom_vtab_close_reader(vtab);
  return SQLITE_OK;
}

/* Returns 1 if the key's columns compare by these collations, or by BINARY, which takes for equal
** no more than any. Of a tuple's one value, a BLOB, they say nothing. */
static int have_collations(const bloom_key_rules *rules, const char *collations, int num_values){
  int i;
  if( num_values<rules->num_columns ) return 1;
  for(i=0; collations[i]; i++){
    const char own = (char)(i<rules->num_columns
      ? bloom_collation_names[rules->columns[i].collation][0] : 'B');
    if( collations[i]!='B' && collations[i]!=own ) return 0;
  }
  return 1;
}

/* Looks a key up in the pages, then in the journal, of a vtab that is open. */
static int look_up(
  bloom_vtab *vtab, bloom_key_values key, const char *collations, int *may_contain,
  sqlite3_int64 *rowid
){
  bloom_tuple_reader tuples = {vtab->connection, NULL};
  bloom_combined_hashes asked;
  int is_intact = 1, rc = bloom_vtab_read_layout(vtab);
  *may_contain = 0;
  if( rc==SQLITE_OK ) rc = bloom_hashes_of_key(&vtab->layout.rules, &tuples, key, &asked);
  bloom_tuple_reader_end(&tuples);
  if( rc==SQLITE_OK && asked.is_invalid ){
    return bloom_vtab_fail(vtab, "bloom: a key of %s has %d columns: FROM %s(...) with so many"
                                 " values, or key = bloom_tuple(...)", vtab->name,
                           vtab->layout.rules.num_columns, vtab->name);
  }
  if( rc!=SQLITE_OK ) return rc;
  assert(asked.num_hashes>0 || asked.is_maybe); /* the key is not NULL */
  *may_contain = bloom_vtab_doubt_of_reader(vtab) || asked.is_maybe
    || !have_collations(&vtab->layout.rules, collations,
                        key.parts ? vtab->layout.rules.num_columns : 1);
  if( !*may_contain ) rc = bloom_vtab_test_pages(vtab, &asked, may_contain);
  if( rc==SQLITE_OK && !*may_contain && vtab->args.table ){
    int i;
    /* SQL of bloom's own calls back: the journal cannot be read. */
    if( vtab->connection->is_running ) is_intact = 0;
    else rc = bloom_vtab_read_journal(vtab, &is_intact);
    *may_contain = !is_intact;
    for(i=0; i<asked.num_hashes && !*may_contain; i++){
      *may_contain = bloom_hash_set_has(&vtab->unmerged.hashes, asked.hashes[i]);
    }
    /* SQLite lets a statement run on while its own connection drops a trigger. */
    if( rc==SQLITE_OK && !*may_contain && vtab->checked_compiled!=bloom_vtab_num_compiled(vtab) ){
      rc = bloom_vtab_open(vtab, BLOOM_VTAB_LOOK_UP_UNCHECKED);
      *may_contain = bloom_vtab_doubt_of_reader(vtab)!=BLOOM_VTAB_CERTAIN;
    }
  }
  /* Not one for all keys: of key = 1 OR key = 2 SQLite would take the two for one row. */
  *rowid = (sqlite3_int64)asked.first;
  return rc;
}

/* Begins a query; args, by PLAN_KEY: the key, by PLAN_PARTS its columns. */
int bloom_vtab_filter(
  sqlite3_vtab_cursor *base, int plan, const char *text, int num_args, sqlite3_value **args
){
  vtab_cursor *cursor = cursor_of(base);
  bloom_vtab *vtab = bloom_vtab_of(base->pVtab);
  int i, may_contain, rc;
  forget_reading(cursor);
  rc = bloom_vtab_open(vtab, plan & UNCHECKED ? BLOOM_VTAB_LOOK_UP_UNCHECKED : BLOOM_VTAB_LOOK_UP);
  if( rc!=SQLITE_OK ) return rc;
  cursor->doubt = bloom_vtab_doubt_of_reader(vtab);
  cursor->rowid = 1;
  cursor->is_eof = 0;
  if( !(plan & PLAN_KEY) ) return SQLITE_OK;
  cursor->is_eof = 1;
  for(i=0; i<num_args; i++){
    if( sqlite3_value_type(args[i])==SQLITE_NULL ) return SQLITE_OK;
  }
  rc = look_up(vtab, (bloom_key_values){.value = args[0], .parts = plan & PLAN_PARTS ? args : NULL},
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
  if( cursor->snapshot==NULL ){
    rc = bloom_vtab_read_snapshot(vtab, cursor->doubt, &cursor->snapshot);
  }
  if( rc!=SQLITE_OK ) return bloom_vtab_failure(vtab, rc);
  return column==BLOOM_VTAB_HANDLE
    ? bloom_vtab_snapshot_handle(vtab, cursor->snapshot, context)
    : bloom_vtab_snapshot_column(vtab, cursor->snapshot, context, column);
}
