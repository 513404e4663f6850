/*
** Reading.  `FROM name(?)` and `WHERE key = ?` are one plan; without a key there is one row
** of what there is to know.
**
** LIKE, an OR with something else, and a collation that is not the column's cannot be
** answered: SQLite reads the column key instead, which is an error, because NULL there would
** be a wrong "no".
*/
#include "vtab_int.h"

#include "../../core/parquet/parquet.h"
#include "../errors.h"
#include "../key.h"

/* xBestIndex's idxNum; with UNCHECKED the schema is looked at when the statement runs. */
#define PLAN_FACTS 0
#define PLAN_KEY   1
#define UNCHECKED  2
#define WITH_NOCASE 4 /* by this collation, if it is the key's */
#define WITH_RTRIM  8
#define PLAN_PARTS 16 /* the key's columns one by one; with PLAN_KEY */
#define ONLY_UNHEARD 128 /* nothing else is asked */
#define WITH_UNHEARD 64 /* the statement has an AFTER trigger that is newer than the filter's */
#define WITH_UNKNOWN 32 /* it is not known whether the collations are those of the columns */

typedef struct vtab_cursor {
  sqlite3_vtab_cursor base; /* first, for SQLite */
  int is_eof;
  int is_maybe;       /* every key may be in it */
  int is_unheard;     /* it may not hear of the statement's rows */
  sqlite3_value *values[BLOOM_VTAB_MAX_COLUMNS]; /* the key that was looked for, or its columns */
  int num_values;
  sqlite3_int64 rowid;
  bloom_vtab_whole *whole; /* once a column needed it */
} vtab_cursor;

/* From SQLite's pointer, whose type may need less alignment than ours. */
static vtab_cursor *cursor_of(void *base){
  return base;
}

static bloom_vtab *vtab_of(void *base){
  return base;
}

/* -- Planning ----------------------------------------------------------------------------- */

/* 1 if it is the collation of the key, whose layout was read, or may be. */
static int has_collation(const bloom_vtab *vtab, bloom_collation collation){
  return vtab->layout.number==0 || (vtab->layout.num_columns>0 && vtab->layout.rules[0].collation==collation);
}

/* Sets *plan's flags for a comparison by this collation; 0 if it cannot be answered.  BINARY
** takes for equal no more than any.  Where the layout is locked xFilter knows. */
static int plan_collation(bloom_vtab *vtab, const char *name, int *plan){
  bloom_collation collation;
  if( !bloom_collation_named(name, &collation) ) return 0;
  if( collation==BLOOM_COLLATION_BINARY ) return 1;
  if( bloom_vtab_locate(vtab)==SQLITE_OK && bloom_vtab_read_layout(vtab)==SQLITE_OK ) return has_collation(vtab, collation);
  *plan |= collation==BLOOM_COLLATION_NOCASE ? WITH_NOCASE : WITH_RTRIM;
  return 1;
}

/* The constraint on column i of a tuple; -1 if there is none that is usable, -2 if there is one
** that is not. */
static int find_part(bloom_vtab *vtab, sqlite3_index_info *info, int part, int *is_known){
  int i, found = -1;
  for(i=0; i<info->nConstraint; i++){
    bloom_collation collation;
    if( info->aConstraint[i].iColumn!=part || info->aConstraint[i].op!=SQLITE_INDEX_CONSTRAINT_EQ ) continue;
    if( !info->aConstraint[i].usable ){
      found = -2;
      continue;
    }
    if( !bloom_collation_named(sqlite3_vtab_collation(info, i), &collation) ) continue;
    if( collation!=BLOOM_COLLATION_BINARY ){
      const int is_read = bloom_vtab_locate(vtab)==SQLITE_OK && bloom_vtab_read_layout(vtab)==SQLITE_OK;
      if( is_read && vtab->layout.rules[part].collation!=collation ) continue;
      *is_known &= is_read;
    }
    return i;
  }
  return found;
}

/* Plans a look-up by all columns of a tuple, if they are all there. */
static void plan_parts(bloom_vtab *vtab, sqlite3_index_info *info, int *has_unusable){
  int part, is_known = 1, found[BLOOM_VTAB_MAX_COLUMNS] = {0};
  const int num_parts = bloom_vtab_num_parts(vtab);
  int is_complete = num_parts>0;
  for(part=0; part<num_parts; part++){
    found[part] = find_part(vtab, info, part, &is_known);
    if( found[part]<0 ) is_complete = 0;
    if( found[part]==-2 ) *has_unusable = 1;
  }
  if( !is_complete ) return;
  for(part=0; part<num_parts; part++){
    info->aConstraintUsage[found[part]].argvIndex = part + 1;
    info->aConstraintUsage[found[part]].omit = 1;
  }
  info->idxNum |= PLAN_KEY | PLAN_PARTS | (is_known ? 0 : WITH_UNKNOWN);
  info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  info->estimatedCost = 1;
}

/* What EXPLAIN QUERY PLAN shows. */
static const char *plan_name(const bloom_vtab *vtab, const sqlite3_index_info *info){
  const int num_parts = bloom_vtab_num_parts(vtab);
  if( info->idxNum & PLAN_KEY ) return "a key";
  if( info->colUsed >> (num_parts + BLOOM_VTAB_HANDLE) & 1u ) return "the handle";
  if( info->colUsed >> (num_parts + BLOOM_VTAB_FILTER) & 1u ) return "the filter";
  if( info->idxNum & ONLY_UNHEARD ) return "newer triggers";
  return "the facts";
}

/* Plans to look up what a constraint compares the key with. */
static void plan_key(bloom_vtab *vtab, sqlite3_index_info *info, int constraint, int *has_unusable){
  if( info->idxNum & PLAN_KEY ) return;
  *has_unusable |= !info->aConstraint[constraint].usable;
  if( !info->aConstraint[constraint].usable ) return;
  /* Of a tuple, which is a BLOB, collations say nothing. */
  if( vtab->args.num_columns<2 && !plan_collation(vtab, sqlite3_vtab_collation(info, constraint), &info->idxNum) ) return;
  info->aConstraintUsage[constraint].argvIndex = 1;
  info->aConstraintUsage[constraint].omit = 1; /* a key in another form does not equal itself */
  info->idxNum |= PLAN_KEY;
  info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  info->estimatedCost = 1;
}

int bloom_vtab_best_index(sqlite3_vtab *base, sqlite3_index_info *info){
  bloom_vtab *vtab = vtab_of(base);
  int i, is_certain, has_unusable = 0;
  int rc = bloom_can_read_in_best_index() && !vtab->connection->is_running ? bloom_vtab_locate(vtab) : SQLITE_BUSY;
  if( rc==SQLITE_OK ) rc = bloom_vtab_check_answers(vtab, &is_certain);
  if( bloom_sql_is_fatal(rc) ) return rc;
  bloom_vtab_forget_message(vtab);
  info->idxNum = (rc!=SQLITE_OK || vtab->replaced ? UNCHECKED : PLAN_FACTS) | (vtab->is_outrun ? WITH_UNHEARD : 0);
  if( info->colUsed==(sqlite3_uint64)1 << (bloom_vtab_num_parts(vtab) + BLOOM_VTAB_UNHEARD) ) info->idxNum |= ONLY_UNHEARD;
  info->estimatedRows = 1;
  info->estimatedCost = 10;
  plan_parts(vtab, info, &has_unusable);
  for(i=0; i<info->nConstraint; i++){
    const int column = info->aConstraint[i].iColumn - bloom_vtab_num_parts(vtab);
    if( info->aConstraint[i].op!=SQLITE_INDEX_CONSTRAINT_EQ ) continue;
    /* The argument behind the key's last one: a handle equals nothing, and no row would be a wrong "no". */
    if( column==BLOOM_VTAB_HANDLE || (column==BLOOM_VTAB_KEY && info->idxNum & PLAN_PARTS) ){
      return bloom_fail_vtab(&base->zErrMsg, "bloom: %s(...) has more arguments than its key has values", vtab->name);
    }
    if( column==BLOOM_VTAB_KEY ) plan_key(vtab, info, i, &has_unusable);
  }
  if( info->idxNum & PLAN_KEY ) has_unusable = 0;
  info->idxStr = sqlite3_mprintf("%s", plan_name(vtab, info));
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
  vtab_of(base)->num_cursors++;
  *result = &cursor->base;
  return SQLITE_OK;
}

/* Forgets all that the cursor read. */
static void forget_reading(vtab_cursor *cursor){
  while( cursor->num_values>0 ) sqlite3_value_free(cursor->values[--cursor->num_values]);
  bloom_vtab_whole_free(cursor->whole);
  cursor->whole = NULL;
  cursor->is_eof = 1;
}

int bloom_vtab_close_cursor(sqlite3_vtab_cursor *base){
  bloom_vtab *vtab = vtab_of(base->pVtab);
  forget_reading(cursor_of(base));
  sqlite3_free(base);
  if( --vtab->num_cursors==0 ) bloom_vtab_close_reader(vtab);
  return SQLITE_OK;
}

/* Keeps the key that was found, for its columns. */
static int keep_values(vtab_cursor *cursor, sqlite3_value **values, int num_values){
  while( cursor->num_values<num_values ){
    sqlite3_value *copy = sqlite3_value_dup(values[cursor->num_values]);
    if( copy==NULL ) return SQLITE_NOMEM;
    cursor->values[cursor->num_values++] = copy;
  }
  return SQLITE_OK;
}

/* For a trigger of the statement: the plan knows, unless the schema was locked. */
static int filter_unheard(vtab_cursor *cursor, int plan){
  bloom_vtab *vtab = vtab_of(cursor->base.pVtab);
  int is_certain, rc = SQLITE_OK;
  cursor->is_unheard = (plan & WITH_UNHEARD)!=0;
  if( plan & UNCHECKED ){
    rc = bloom_vtab_locate(vtab);
    if( rc==SQLITE_OK ) rc = bloom_vtab_check_source(vtab, &is_certain);
    cursor->is_unheard = rc!=SQLITE_OK || !vtab->is_checked || vtab->is_outrun;
    bloom_vtab_forget_message(vtab);
  }
  cursor->is_eof = 0;
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
}

/* args, by PLAN_KEY: the key, by PLAN_PARTS its columns. */
int bloom_vtab_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int num_args, sqlite3_value **args){
  vtab_cursor *cursor = cursor_of(base);
  bloom_vtab *vtab = vtab_of(base->pVtab);
  bloom_vtab_key key;
  bloom_hash_value hash = 0;
  int i, is_certain, may_contain = 1, rc = SQLITE_OK;
  (void)text;
  forget_reading(cursor);
  if( plan & ONLY_UNHEARD ) return filter_unheard(cursor, plan);
  /* While its statement runs, the file that the reader is on keeps its name. */
  if( vtab->reader==NULL || vtab->state!=BLOOM_DATABASE_SAME ) rc = bloom_vtab_locate(vtab);
  if( rc!=SQLITE_OK ) return rc;
  is_certain = vtab->doubt==NULL;
  if( plan & UNCHECKED || (vtab->reader==NULL && bloom_database_may_be_swapped(vtab->connection->db, vtab->schema)) ){
    rc = bloom_vtab_check_answers(vtab, &is_certain);
  }
  if( plan & WITH_UNKNOWN ) is_certain = 0;
  /* Where an authorizer keeps it from the schema, every key may be in it. */
  if( rc!=SQLITE_OK && rc!=SQLITE_AUTH ) return rc;
  if( plan & (WITH_NOCASE | WITH_RTRIM) ){
    rc = bloom_vtab_read_layout(vtab);
    if( rc!=SQLITE_OK ) return rc;
    is_certain = is_certain && has_collation(vtab, plan & WITH_RTRIM ? BLOOM_COLLATION_RTRIM : BLOOM_COLLATION_NOCASE);
  }
  cursor->is_maybe = !is_certain;
  cursor->rowid = 1;
  cursor->is_eof = 0;
  if( !(plan & PLAN_KEY) ) return SQLITE_OK;
  cursor->is_eof = 1;
  for(i=0; i<num_args; i++){
    if( sqlite3_value_type(args[i])==SQLITE_NULL ) return SQLITE_OK;
  }
  key = (bloom_vtab_key){.value = args[0], .parts = plan & PLAN_PARTS ? args : NULL};
  rc = is_certain ? bloom_vtab_look_up(vtab, key, &may_contain, &hash) : bloom_vtab_any_hash(vtab, key, &hash);
  if( rc!=SQLITE_OK || !may_contain ) return rc;
  /* Not one for all keys: of key = 1 OR key = 2 SQLite would take the two for one row. */
  cursor->rowid = (sqlite3_int64)hash;
  rc = keep_values(cursor, args, num_args);
  cursor->is_eof = rc!=SQLITE_OK;
  return rc;
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

/* Reads what a column needs, once: headers alone, or everything. */
static int need_whole(vtab_cursor *cursor, int headers_alone){
  bloom_vtab *vtab = vtab_of(cursor->base.pVtab);
  int rc;
  if( cursor->whole && (headers_alone || cursor->whole->bytes || cursor->is_maybe) ) return SQLITE_OK;
  bloom_vtab_whole_free(cursor->whole);
  /* Where it is in doubt nobody needs its bits. */
  rc = bloom_vtab_read_whole(vtab, headers_alone || cursor->is_maybe, &cursor->whole);
  if( rc==SQLITE_OK ) cursor->whole->is_maybe |= cursor->is_maybe;
  return rc;
}

static int result_handle(vtab_cursor *cursor, sqlite3_context *context){
  bloom_vtab *vtab = vtab_of(cursor->base.pVtab);
  bloom_vtab_whole *whole = cursor->whole;
  if( whole->handle==NULL ){
    const bloom_handle_status status = bloom_handle_open(vtab->connection->pool, vtab->connection->db, 0, &whole->handle);
    if( status==BLOOM_HANDLE_NOMEM ) return SQLITE_NOMEM;
    if( status==BLOOM_HANDLE_NONE_LEFT ){
      return bloom_fail_vtab(&vtab->base.zErrMsg, "bloom: all handles that a process can have are open");
    }
    whole->handle->test = bloom_vtab_whole_may_contain;
    whole->handle->test_data = whole;
  }
  bloom_handle_result(context, whole->handle, 0);
  return SQLITE_OK;
}

/* The columns for which all pages are read. */
static int result_of_bits(vtab_cursor *cursor, sqlite3_context *context, int column){
  const bloom_filter *filter;
  int rc = need_whole(cursor, 0);
  if( rc!=SQLITE_OK ) return rc;
  if( column==BLOOM_VTAB_HANDLE ) return result_handle(cursor, context);
  if( column==BLOOM_VTAB_EXPECTED_FPR ){
    sqlite3_result_double(context, bloom_vtab_whole_fpr(cursor->whole));
    return SQLITE_OK;
  }
  /* NULL, which says maybe, where one filter does not say all. */
  filter = &cursor->whole->filters[0];
  if( cursor->whole->is_maybe || cursor->whole->layout.num_layers>1 || cursor->whole->layout.num_columns>1 ) return SQLITE_OK;
  sqlite3_result_blob64(context, filter->bytes, filter->shape.num_bytes, SQLITE_TRANSIENT);
  return SQLITE_OK;
}

int bloom_vtab_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column){
  vtab_cursor *cursor = cursor_of(base);
  const bloom_vtab *vtab = vtab_of(base->pVtab);
  const char *name = vtab->name;
  const int num_parts = bloom_vtab_num_parts(vtab);
  int rc;
  if( column<num_parts ){
    /* One value is the whole key. */
    if( cursor->num_values>1 ) sqlite3_result_value(context, cursor->values[column]);
    else bloom_fail(context, "bloom: a key of %s has %d columns: test all of them, FROM %s(...) with so many values", name, num_parts, name);
    return SQLITE_OK;
  }
  column -= num_parts;
  if( column==BLOOM_VTAB_UNHEARD ) sqlite3_result_int(context, cursor->is_unheard);
  switch( column ){
    case BLOOM_VTAB_EXPECTED_FPR:
    case BLOOM_VTAB_HANDLE:
    case BLOOM_VTAB_FILTER:
      return result_of_bits(cursor, context, column);
    case BLOOM_VTAB_KEY:
      if( cursor->num_values==1 ) sqlite3_result_value(context, cursor->values[0]);
      else bloom_fail(context, "bloom: %s has no keys to read: test one, WHERE key = ..., or FROM %s(...)", name, name);
      return SQLITE_OK;
    case BLOOM_VTAB_UNHEARD:
    case BLOOM_VTAB_REMOVED: /* written only */
    case BLOOM_VTAB_COMMAND:
      return SQLITE_OK;
    default: /* headers are enough */
      rc = need_whole(cursor, 1);
      return rc==SQLITE_OK ? bloom_vtab_whole_fact(vtab, cursor->whole, context, column) : rc;
  }
}
