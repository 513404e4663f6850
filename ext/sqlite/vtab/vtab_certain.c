/*
** Whether what the filter says is certain.
**
** It is while the triggers that it needs are there, on one table, before the guard, and the
** key's rules are as they were.  SQLite compiles every statement anew when the schema
** changed, so xBestIndex looks, once for each version of it; xFilter does where xBestIndex
** could not.  Where something is in doubt, every key may be in the filter.
*/
#include "vtab_int.h"

#include <string.h>

#include "../errors.h"

/* Removed keys that a filter need not care about. */
#define MIN_REMOVED_KEYS 1000

/* Sets *doubt to what is wrong with the order of triggers on a table, or with what the mark says. */
static int check_order(bloom_vtab *vtab, const bloom_triggers *own, const char **doubt){
  const int may_be_outrun = (int)(vtab->layout.triggers >> BLOOM_AFTER_INSERT & 1u);
  bloom_vtab_mark mark = BLOOM_MARK_NONE;
  sqlite3_int64 guard;
  int rc = bloom_guard_find(vtab->connection, vtab->schema, vtab->guard, &guard);
  if( rc!=SQLITE_OK ) return rc;
  if( guard==0 ) *doubt = "its guard trigger is gone";
  else if( guard<own->rows[own->num_rows-1].order ) *doubt = "its table was made again, or triggers of its own were";
  else rc = bloom_vtab_read_mark(vtab, &mark);
  if( rc==SQLITE_NOTFOUND ){
    rc = SQLITE_OK;
    if( may_be_outrun ) *doubt = "the row of its guard is gone";
  }
  vtab->is_of_trigger = mark==BLOOM_MARK_UNHEARD;
  if( vtab->is_of_trigger ) *doubt = "its table had an AFTER trigger that was newer";
  else if( mark!=BLOOM_MARK_NONE ) *doubt = "keys came while its pages were gone";
  if( rc!=SQLITE_OK || *doubt || !may_be_outrun ) return rc;
  rc = bloom_vtab_find_newer_trigger(vtab, own->rows[0].table, guard);
  if( vtab->is_outrun ) *doubt = "its table has an AFTER trigger that is newer";
  vtab->is_of_trigger = vtab->is_outrun;
  return rc;
}

/* Sets *doubt unless each that reads the source finds its row as it would be made to now: a column may have
** taken the rowid's name, and the table that of new or old for a time. */
static int check_rows_are_found(const bloom_source *source, const bloom_triggers *triggers, const char **doubt){
  static const bloom_vtab_trigger reading[] = {BLOOM_AFTER_INSERT, BLOOM_AFTER_UPDATE, BLOOM_BEFORE_DELETE};
  size_t i;
  for(i=0; i<BLOOM_COUNT_OF(reading); i++){
    sqlite3_str *sql = sqlite3_str_new(source->connection->db);
    char *condition;
    bloom_vtab_append_row_condition(sql, source, reading[i]==BLOOM_BEFORE_DELETE ? "old" : "new");
    condition = sqlite3_str_finish(sql);
    if( condition==NULL ) return SQLITE_NOMEM;
    if( strstr(triggers->rows[reading[i]].sql, condition)==NULL ) *doubt = "its triggers may find other rows of its table now";
    sqlite3_free(condition);
  }
  return SQLITE_OK;
}

/* The same of the column's rule, and of what the triggers find rows by. */
static int check_key(bloom_vtab *vtab, const bloom_triggers *triggers, const char **doubt){
  bloom_vtab_args args;
  bloom_source source = {.num_columns = 0};
  bloom_vtab_layout now = vtab->layout;
  char *error = NULL;
  int rc = bloom_vtab_args_of_triggers(vtab, triggers, &args);
  if( rc==SQLITE_OK ) rc = bloom_source_read(vtab->connection, vtab->schema, args.table, &source, &error);
  if( rc==SQLITE_OK ) rc = bloom_vtab_find_rules(&source, &args, &now, &error);
  if( rc==SQLITE_OK && (memcmp(now.rules, vtab->layout.rules, (size_t)now.num_columns * sizeof(now.rules[0]))!=0) ){
    *doubt = "its column changed its type or collation";
  }
  if( rc==SQLITE_OK && *doubt==NULL && now.triggers!=vtab->layout.triggers ) *doubt = "it needs triggers that it has not";
  if( rc==SQLITE_OK && *doubt==NULL && (args.where || args.key) ) rc = check_rows_are_found(&source, triggers, doubt);
  if( rc==SQLITE_NOTFOUND || rc==SQLITE_ERROR ){
    *doubt = "its column or its table is another now";
    rc = SQLITE_OK;
  }
  sqlite3_free(error);
  bloom_source_free(&source);
  bloom_vtab_args_free(&args);
  return rc;
}

/* Looks at the schema. */
static int find_doubt(bloom_vtab *vtab, const char **doubt){
  bloom_triggers triggers;
  int rc;
  const char *of_key = NULL;
  *doubt = NULL;
  vtab->is_outrun = vtab->is_of_trigger = vtab->is_lost = 0;
  if( vtab->layout.number==0 ) return SQLITE_OK; /* it has no pages, which is damage */
  rc = bloom_vtab_read_triggers(vtab, &triggers);
  if( rc==SQLITE_OK ){
    const unsigned kinds = bloom_vtab_trigger_kinds(&triggers);
    const int is_one_table = bloom_triggers_are_on_one_table(&triggers);
    if( kinds!=vtab->layout.triggers ) *doubt = "triggers of its own are gone, or their table is";
    else if( !is_one_table ) *doubt = "triggers of its own are on another table";
    vtab->is_lost = !is_one_table || !(kinds >> BLOOM_BEFORE_DELETE & 1u);
  }
  if( rc==SQLITE_OK && *doubt==NULL ) rc = check_order(vtab, &triggers, doubt);
  if( rc==SQLITE_OK && (*doubt==NULL || vtab->is_of_trigger) ) rc = check_key(vtab, &triggers, &of_key);
  if( of_key ){
    *doubt = of_key;
    vtab->is_of_trigger = 0;
  }
  bloom_triggers_free(&triggers);
  return rc;
}

static int set_doubt(bloom_vtab *vtab, const char *doubt){
  sqlite3_free(vtab->doubt);
  vtab->doubt = doubt ? sqlite3_mprintf("%s", doubt) : NULL;
  return doubt && vtab->doubt==NULL ? SQLITE_NOMEM : SQLITE_OK;
}

int bloom_vtab_check_source(bloom_vtab *vtab, int *is_certain){
  sqlite3_int64 version = 0;
  const char *doubt = NULL;
  int rc;
  *is_certain = 1;
  if( vtab->args.table==NULL ) return SQLITE_OK;
  *is_certain = 0;
  if( vtab->connection->is_running ) return SQLITE_OK; /* not now: it may be in it */
  rc = bloom_sql_integer(vtab->connection, &version, "PRAGMA \"%w\".schema_version", vtab->schema);
  if( rc==SQLITE_OK && (!vtab->is_checked || vtab->checked_version!=version || bloom_database_may_be_swapped(vtab->connection->db, vtab->schema)) ){
    vtab->is_checked = 0;
    rc = bloom_vtab_read_layout(vtab);
    if( rc!=SQLITE_OK ) return rc;
    rc = find_doubt(vtab, &doubt);
    if( rc==SQLITE_OK ) rc = set_doubt(vtab, doubt);
    vtab->is_checked = rc==SQLITE_OK;
    vtab->checked_version = version;
  }
  *is_certain = rc==SQLITE_OK && vtab->doubt==NULL;
  return bloom_vtab_failure(vtab, rc);
}

int bloom_vtab_note(const bloom_vtab *vtab, const bloom_vtab_whole *whole, char **note){
  const int is_lost = whole->is_maybe && vtab->doubt && vtab->is_lost;
  const char *why = NULL;
  *note = NULL;
  if( whole->is_maybe && vtab->replaced ){
    *note = sqlite3_mprintf("every key may be in it on this connection, because collation %s is not SQLite's own", vtab->replaced);
    return *note ? SQLITE_OK : SQLITE_NOMEM;
  }
  if( whole->is_maybe && vtab->doubt ) why = vtab->doubt;
  else if( whole->is_maybe && whole->reads_otherwise ) why = "SQLite reads decimals otherwise now";
  else if( whole->is_maybe ) why = "the schema cannot be read now";
  else if( vtab->args.table==NULL ) return SQLITE_OK;
  else if( whole->layout.num_layers>1 ) why = "it has more than one layer";
  else if( whole->is_full ) why = "it has more keys than room";
  else if( whole->num_removed>=MIN_REMOVED_KEYS && whole->num_removed>whole->num_keys / 5 ) why = "more than a fifth of its keys is gone";
  if( why==NULL ) return SQLITE_OK;
  *note = sqlite3_mprintf("%s%s; INSERT INTO %s(%s) VALUES ('rebuild') %s%s%s%s",
                          whole->is_maybe ? "every key may be in it, because " : "", why, vtab->name, vtab->name,
                          whole->is_maybe ? "repairs it" : "makes it smaller", is_lost ? ", if its table is still called " : "",
                          is_lost ? vtab->args.table : "", is_lost ? "; else drop it and create it again" : "");
  return *note ? SQLITE_OK : SQLITE_NOMEM;
}

/* -- Checking all of it ----------------------------------------------------------------------- */

/* Counts the keys of the source that the filter denies. */
static int count_missed(bloom_vtab *vtab, bloom_vtab_whole *whole, sqlite3_int64 *num_keys, sqlite3_int64 *num_missed){
  bloom_triggers triggers;
  bloom_vtab_args args = {.table = NULL};
  bloom_source source = {.num_columns = 0};
  bloom_vtab_layout now = whole->layout;
  sqlite3_value *parts[BLOOM_VTAB_MAX_COLUMNS];
  sqlite3_stmt *row = NULL;
  char *error = NULL;
  int rc = bloom_vtab_read_triggers(vtab, &triggers);
  if( rc==SQLITE_OK ) rc = bloom_vtab_args_of_triggers(vtab, &triggers, &args);
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_source(vtab, &args, &source, &now, &error); /* text of a hostile file, too */
  if( rc==SQLITE_OK ) rc = bloom_vtab_prepare_keys(vtab, &source, &args, 0, &row);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    rc = SQLITE_OK;
    switch( bloom_vtab_whole_test(whole, bloom_vtab_key_of_row(&whole->layout, row, parts)) ){
      case 0: ++*num_missed; break;
      case BLOOM_TEST_NULL: --*num_keys; break;
      case BLOOM_TEST_NOMEM: rc = SQLITE_NOMEM; break;
      default: break;
    }
    ++*num_keys;
  }
  rc = bloom_sql_end(row, rc);
  if( error ) bloom_fail_vtab(&vtab->base.zErrMsg, "%z", error);
  bloom_source_free(&source);
  bloom_vtab_args_free(&args);
  bloom_triggers_free(&triggers);
  return bloom_vtab_failure(vtab, rc);
}

/* What is found, or an error. */
static int check_whole(bloom_vtab *vtab, int is_quick, char **finding){
  bloom_vtab_whole *whole = NULL;
  sqlite3_int64 num_keys = 0, num_missed = 0;
  int is_certain, rc = bloom_vtab_read_whole(vtab, is_quick, &whole);
  if( rc==SQLITE_OK ) rc = bloom_vtab_check_answers(vtab, &is_certain);
  /* A newer trigger may be a harmless one: what it kept from the filter is counted.  By a collation that is
  ** the application's the keys would be others. */
  if( rc==SQLITE_OK && ((!is_certain && !vtab->is_of_trigger && vtab->replaced==NULL) || whole->is_maybe) ){
    whole->is_maybe = 1;
    rc = bloom_vtab_note(vtab, whole, finding);
    if( rc==SQLITE_OK ) *finding = sqlite3_mprintf("bloom: %s: %z", vtab->name, *finding);
    if( *finding==NULL ) rc = SQLITE_NOMEM;
  }else if( rc==SQLITE_OK && !is_quick && vtab->args.table && vtab->replaced==NULL ){
    rc = count_missed(vtab, whole, &num_keys, &num_missed);
  }
  if( rc==SQLITE_OK && num_missed>0 ){
    *finding = sqlite3_mprintf("bloom: %s misses %lld of the %lld keys of its source table; INSERT INTO %s(%s) VALUES "
                               "('rebuild') repairs it", vtab->name, num_missed, num_keys, vtab->name, vtab->name);
    if( *finding==NULL ) rc = SQLITE_NOMEM;
  }
  bloom_vtab_whole_free(whole);
  return rc;
}

int bloom_vtab_check(bloom_vtab *vtab, int is_quick, char **finding){
  int rc;
  *finding = NULL;
  rc = check_whole(vtab, is_quick, finding);
  if( (rc & 0xff)!=SQLITE_CORRUPT || vtab->base.zErrMsg==NULL ) return rc;
  *finding = vtab->base.zErrMsg;
  vtab->base.zErrMsg = NULL;
  return SQLITE_OK;
}
