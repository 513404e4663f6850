/*
** Table-valued functions: one module for all of them.
*/
#include "tvf.h"

#include <string.h>

#include "../core/debug.h"
#include "errors.h"

#define IN_EACH_ARM "; where an OR parts them, write them in each arm, or IN"

/* The cost of a plan without the arguments. */
#define COST_WITHOUT_ARGUMENTS 1e99

/* The bit of idxNum, above those of the columns, that means wants_rowids. */
#define ROWIDS_BIT (1u << 30)

typedef struct tvf_vtab {
  sqlite3_vtab base; /* first, for SQLite */
  const bloom_tvf *function;
  sqlite3 *db;
  int wants_rowids;  /* rowids must differ from argument to argument: tvf.h */
} tvf_vtab;

static int tvf_connect(sqlite3 *db, void *data, int num_args, const char *const *args,
                       sqlite3_vtab **vtab, char **error){
  const bloom_tvf *function = data;
  tvf_vtab *connected;
  int rc = sqlite3_declare_vtab(db, function->schema);
  assert( function->num_columns<=30 && function->cursor_bytes>=sizeof(bloom_tvf_cursor) );
  assert( function->num_optional<function->num_args && function->num_rows>0 );
  (void)num_args; (void)args; (void)error;
  if( rc!=SQLITE_OK ) return rc;
  connected = sqlite3_malloc64(sizeof(*connected));
  if( connected==NULL ) return SQLITE_NOMEM;
  *connected = (tvf_vtab){.function = function, .db = db};
  *vtab = &connected->base;
  sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  return SQLITE_OK;
}

static int tvf_disconnect(sqlite3_vtab *vtab){
  sqlite3_free(vtab);
  return SQLITE_OK;
}

static int tvf_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info){
  tvf_vtab *connected = (tvf_vtab *)vtab;
  const bloom_tvf *function = connected->function;
  unsigned found = 0, unusable = 0; /* arguments, as bits */
  int i;
  for(i=0; i<info->nConstraint; i++){
    const int arg = info->aConstraint[i].iColumn - function->num_columns;
    const unsigned char op = info->aConstraint[i].op;
    if( arg<0
     || (op!=SQLITE_INDEX_CONSTRAINT_EQ && op!=SQLITE_INDEX_CONSTRAINT_IS
         && op!=SQLITE_INDEX_CONSTRAINT_ISNULL) ){
      continue;
    }
    assert( arg<function->num_args );
    if( !info->aConstraint[i].usable ){
      unusable |= 1u << arg;
    }else if( !(found & 1u << arg) ){
      found |= 1u << arg;
      info->aConstraintUsage[i].argvIndex = arg + 1;
      info->aConstraintUsage[i].omit = 1; /* a handle equals nothing */
    }
  }
  /* The arguments are there, but this join order needs them too early. */
  if( unusable & ~found ) return SQLITE_CONSTRAINT;
  if( ~found & ((1u << (function->num_args - function->num_optional)) - 1) ){
    for(i=0; i<info->nConstraint; i++) info->aConstraintUsage[i].argvIndex = 0;
    connected->wants_rowids = 1;
    info->estimatedCost = COST_WITHOUT_ARGUMENTS;
    return SQLITE_OK;
  }
  info->idxNum = (int)((info->colUsed & ((1u << function->num_columns) - 1))
                       | (connected->wants_rowids ? ROWIDS_BIT : 0));
  if( function->num_rows==1 ) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  info->estimatedCost = function->cost ? function->cost : function->num_rows;
  info->estimatedRows = function->num_rows;
  return SQLITE_OK;
}

/* Returns a cursor from SQLite's pointer to it.  The void pointer avoids a warning: the type of
** SQLite's pointer may need less alignment than ours. */
static bloom_tvf_cursor *tvf_cursor_of(void *cursor){
  return cursor;
}

static int tvf_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **opened){
  const tvf_vtab *connected = (tvf_vtab *)vtab;
  bloom_tvf_cursor *cursor = bloom_malloc_zeros(connected->function->cursor_bytes);
  if( cursor==NULL ) return SQLITE_NOMEM;
  cursor->function = connected->function;
  cursor->db = connected->db;
  *opened = &cursor->base;
  return SQLITE_OK;
}

/* Frees the rows of a cursor and sets it to one without rows. */
static void clear_cursor(sqlite3_vtab_cursor *cursor){
  bloom_tvf_cursor *tvf_cursor = tvf_cursor_of(cursor);
  const size_t kept_bytes = offsetof(bloom_tvf_cursor, has_row);
  if( tvf_cursor->function->clear ) tvf_cursor->function->clear(tvf_cursor);
  memset((uint8_t *)tvf_cursor + kept_bytes, 0, tvf_cursor->function->cursor_bytes - kept_bytes);
}

static int tvf_close(sqlite3_vtab_cursor *cursor){
  clear_cursor(cursor);
  sqlite3_free(cursor);
  return SQLITE_OK;
}

/* Starts a call.  index_number is what tvf_best_index() set: a bit for each column that is read,
** and ROWIDS_BIT.  There are no args if the query did not pass the arguments. */
static int tvf_filter(sqlite3_vtab_cursor *cursor, int index_number, const char *plan_text,
                      int num_args, sqlite3_value **args){
  bloom_tvf_cursor *tvf_cursor = tvf_cursor_of(cursor);
  const bloom_tvf *function = tvf_cursor->function;
  (void)plan_text;
  clear_cursor(cursor);
  if( num_args==0 ){
    return bloom_fail_vtab(&cursor->pVtab->zErrMsg,
                           function->num_args - function->num_optional==1
                             ? "%s() needs an argument: %s"
                             : "%s() needs its arguments: %s" IN_EACH_ARM, function->name,
                             function->call);
  }
  assert( num_args<=function->num_args );
  tvf_cursor->columns = (unsigned)index_number & (ROWIDS_BIT - 1);
  tvf_cursor->wants_rowids = ((unsigned)index_number & ROWIDS_BIT)!=0;
  tvf_cursor->num_args = num_args;
  return function->start(tvf_cursor, args);
}

static int tvf_next(sqlite3_vtab_cursor *cursor){
  bloom_tvf_cursor *tvf_cursor = tvf_cursor_of(cursor);
  assert( tvf_cursor->has_row );
  tvf_cursor->has_row = 0;
  if( tvf_cursor->function->next ) tvf_cursor->function->next(tvf_cursor);
  return SQLITE_OK;
}

static int tvf_eof(sqlite3_vtab_cursor *cursor){
  return !tvf_cursor_of(cursor)->has_row;
}

static int tvf_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid){
  *rowid = tvf_cursor_of(cursor)->rowid;
  return SQLITE_OK;
}

static int tvf_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column){
  const bloom_tvf_cursor *tvf_cursor = tvf_cursor_of(cursor);
  const bloom_tvf *function = tvf_cursor->function;
  assert( tvf_cursor->has_row && column>=0 );
  if( column<function->num_columns ){
    function->column(tvf_cursor, context, column);
  }else{
    bloom_fail(context, function->num_args==1 ? "%s(): its argument cannot be read back as a column"
                          : "%s(): its arguments cannot be read back as columns" IN_EACH_ARM,
                          function->name);
  }
  return SQLITE_OK;
}

/* xCreate is NULL, so the module can be used as a function only. */
const sqlite3_module bloom_tvf_module = {
  .iVersion = 0,
  .xConnect = tvf_connect,
  .xBestIndex = tvf_best_index,
  .xDisconnect = tvf_disconnect,
  .xOpen = tvf_open,
  .xClose = tvf_close,
  .xFilter = tvf_filter,
  .xNext = tvf_next,
  .xEof = tvf_eof,
  .xColumn = tvf_column,
  .xRowid = tvf_rowid,
};
