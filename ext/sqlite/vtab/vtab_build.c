/*
** Making a filter, filling it from its source, and merging.
**
** Filling takes two scans of the source: the first counts keys, so that there is room for twice as
** many, the second sets bits.  A BEFORE trigger writes a key to the journal before its row is in
** the source: were the journal emptied in between, the key would be in neither.  So commands that
** read the source are refused while a statement of the connection may have written some rows but
** not all.
**
** A tool without bloom copies a filter's tables and triggers, but not the virtual table.  CREATE
** takes over tables that have a mark of a filter inside.  It refuses others, and says which SQL
** takes them out of the way.
*/
#include "vtab_int.h"

#include <string.h>

#include "../../core/parquet/parquet.h"

#define PAGES_COLUMNS "(bytes BLOB)"

/* -- What is in the way -------------------------------------------------------------------- */

/* Checks tables with the names and the texts of the filter's that CREATE finds, as in a copy
** without virtual tables.  *are_own_pages stays 1 if they have no row, or the layout of a filter
** with as many columns, which sets *has_keys.  *is_own_journal stays 1 if it has no row, or the
** first one has r alone, or a trigger of the filter's writes to it. */
static int check_left(bloom_vtab *vtab, int *are_own_pages, int *is_own_journal, int *has_keys){
  const char *key = vtab->args.num_columns>1 ? "key_1" : "key";
  sqlite3_int64 has_rows = 0, has_mark = 1;
  int rc = SQLITE_OK;
  *has_keys = 0;
  if( *are_own_pages ){
    rc = bloom_sql_integer(vtab->connection, &has_rows, "SELECT 1 FROM \"%w\".\"%w\" LIMIT 1",
                           vtab->schema, vtab->pages);
  }
  if( rc==SQLITE_OK && has_rows ){
    rc = bloom_vtab_read_layout(vtab);
    bloom_vtab_close_reader(vtab);
    *are_own_pages = *has_keys = rc==SQLITE_OK;
    if( rc==SQLITE_ERROR || rc==SQLITE_CORRUPT_VTAB ){
      bloom_forget_message(&vtab->base);
      rc = SQLITE_OK;
    }
  }
  if( rc==SQLITE_OK && *is_own_journal ){
    rc = bloom_sql_integer(vtab->connection, &has_mark, "SELECT typeof(r) = 'integer' AND %s IS"
                           " NULL FROM \"%w\".\"%w_new\" ORDER BY rowid LIMIT 1", key, vtab->schema,
                           vtab->name);
  }
  if( rc==SQLITE_OK && !has_mark ){
    bloom_follow follow;
    rc = bloom_follow_read(bloom_vtab_follower(vtab), &follow);
    *is_own_journal = follow.own.num_rows>0;
    bloom_follow_free(&follow);
  }
  return rc;
}

int bloom_vtab_check_names(bloom_vtab *vtab, int is_rename, int *has_keys){
  bloom_follower follower = bloom_vtab_follower(vtab);
  const char *name = vtab->name;
  int are_own_pages, is_own_journal = 0;
  int rc = bloom_sql_find_table(vtab->connection, vtab->schema, name, "_pages",
                                PAGES_COLUMNS, &are_own_pages);
  assert( !is_rename || has_keys==NULL );
  if( vtab->args.table==NULL ){
    is_own_journal = has_keys==NULL; /* it needs none */
  }else if( rc==SQLITE_OK ){
    rc = bloom_sql_find_table(vtab->connection, vtab->schema, name, "_new", vtab->journal_columns,
                              &is_own_journal);
  }
  if( rc==SQLITE_OK && has_keys ) rc = check_left(vtab, &are_own_pages, &is_own_journal, has_keys);
  if( rc!=SQLITE_OK ) return rc;
  if( is_rename ) follower.num_triggers = 0;
  return bloom_obstacles_refuse(follower, sqlite3_mprintf(
    "(%d AND type <> 'trigger' AND name = '%q_pages' COLLATE NOCASE)"
    " OR (%d AND type <> 'trigger' AND name = '%q_new' COLLATE NOCASE)"
    " OR (%d AND type = 'index' AND tbl_name COLLATE NOCASE IN ('%q_pages', '%q_new')"
      " AND name NOT BETWEEN 'sqlite_autoindex' AND 'sqlite_autoindex~')",
    !are_own_pages, name, !is_own_journal, name, !is_rename, name, name), has_keys!=NULL);
}

/* -- Filling ------------------------------------------------------------------------------ */

/* Fails, before anything is changed, if the pages are more than the database may have, or larger
** than the connection allows.  is_create: also if no filter has the rate or the capacity that was
** asked for; a merge of a table that has grown must not fail so. */
static int check_size(bloom_vtab *vtab, const bloom_vtab_layout *layout, int is_create){
  const sqlite3_int64 capacity = layout->layers[0].capacity;
  const sqlite3_int64 num_pages = (sqlite3_int64)bloom_vtab_num_pages(layout, 0);
  const int row_bytes = bloom_vtab_page_bytes(layout, 0, 0) + BLOOM_LAYOUT_BYTES; /* of either */
  const int max_bytes = sqlite3_limit(vtab->connection->db, SQLITE_LIMIT_LENGTH, -1);
  sqlite3_int64 max_pages = 0;
  double best_rate;
  int rc;
  assert( layout->num_layers==1 );
  if( is_create && vtab->args.size<1 && !bloom_encoding_parquet.min_bits_per_key_x10(
      vtab->args.size, (uint64_t)capacity, &best_rate) ){
    /* Rounded up, never down: it is a promise. */
    return BLOOM_VTAB_FAIL(vtab, "bloom: bits_per_key %.15g is out of reach of a filter with room"
                                 " for %lld keys; %.3g is in reach", vtab->args.size, capacity,
                           best_rate * 1.01);
  }
  if( is_create && capacity<vtab->args.capacity ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: capacity %lld is out of reach with bits_per_key %.15g;"
                                 " %lld is in reach", vtab->args.capacity, vtab->args.size,
                           capacity);
  }
  if( max_bytes<row_bytes ){
    rc = BLOOM_VTAB_FAIL(vtab, "bloom: %s needs rows of %d bytes, and SQLITE_LIMIT_LENGTH is %d",
                         vtab->name, row_bytes, max_bytes);
    return rc==SQLITE_ERROR ? SQLITE_TOOBIG : rc;
  }
  rc = bloom_sql_integer(vtab->connection, &max_pages, "PRAGMA \"%w\".max_page_count",
                         vtab->schema);
  if( rc!=SQLITE_OK || num_pages<=max_pages ) return rc;
  return BLOOM_VTAB_FAIL(vtab, "bloom: %s needs %lld pages, and its database may have %lld at most",
                         vtab->name, num_pages, max_pages);
}

/* Fails if an authorizer hides a column of the key by SQLITE_IGNORE: SQLite compiles a NULL in its
** place then, and a filter without its keys would be filled.  is_healing: also if the source has no
** INTEGER PRIMARY KEY, or an authorizer hides it. */
static int check_can_read(bloom_vtab *vtab, const bloom_vtab_args *args, int is_healing){
  int i, rc = SQLITE_OK;
  if( is_healing && args->id==NULL ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: table %s has no INTEGER PRIMARY KEY, so 'merge=N' cannot"
                                 " repair %s; INSERT INTO %s(%s) VALUES ('merge') can",
                           args->table, vtab->name, vtab->quoted_name, vtab->quoted_name);
  }
  for(i=0; i<args->num_columns && rc==SQLITE_OK; i++){
    sqlite3_stmt *opcode;
    int is_read = 0;
    rc = bloom_sql_prepare(vtab->connection, &opcode, "EXPLAIN SELECT \"%w\".\"%w\" FROM"
                           " \"%w\".\"%w\"", args->table, args->columns[i], vtab->schema,
                           args->table);
    while( rc==SQLITE_OK && !is_read
           && (rc = bloom_sql_step(vtab->connection, opcode))==SQLITE_ROW ){
      const char *name;
      rc = bloom_sql_column_text(opcode, 1, &name);
      is_read = rc==SQLITE_OK && name && strcmp(name, "Column")==0;
    }
    rc = bloom_sql_end(opcode, rc);
    if( rc==SQLITE_OK && !is_read ){
      rc = BLOOM_VTAB_FAIL(vtab, "bloom: an authorizer of this connection hides column %s of table"
                                 " %s, so %s cannot be filled from it", args->columns[i],
                           args->table, vtab->name);
    }
  }
  return rc;
}

/* Adds the keys of a SELECT's rows, and ends the SELECT. */
static int add_selected_keys(bloom_vtab_batch *batch, sqlite3_stmt *row, int rc){
  bloom_vtab *vtab = batch->vtab;
  while( rc==SQLITE_OK && row && (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    rc = bloom_vtab_batch_add(batch, row, 0);
  }
  if( rc!=SQLITE_DONE ) bloom_vtab_failure(vtab, rc);
  rc = bloom_sql_end(row, rc);
  return rc==SQLITE_OK ? bloom_vtab_batch_finish(batch) : rc;
}

/* Adds keys of the source by a SELECT, which is freed, and the column's DEFAULT, which OR REPLACE
** may store in place of a NULL. */
static int add_source_keys(bloom_vtab_batch *batch, const bloom_vtab_args *args, char *sql){
  bloom_connection *connection = batch->vtab->connection;
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare_text(connection, &row, sql);
  rc = add_selected_keys(batch, row, rc);
  if( rc!=SQLITE_OK ) return rc;
  batch->is_new = 0; /* the DEFAULT may be the key of a row, which was counted */
  rc = bloom_source_prepare_default(connection, args->default_value, &row);
  return add_selected_keys(batch, row, rc);
}

static int set_merged_at(bloom_vtab *vtab, bloom_vtab_layout *layout){
  const char *text = NULL;
  sqlite3_stmt *row;
  int rc = bloom_sql_row(vtab->connection, &row,
                         "SELECT strftime('%%Y-%%m-%%d %%H:%%M:%%S', 'now')");
  if( rc==SQLITE_ROW ) rc = bloom_sql_column_text(row, 0, &text);
  sqlite3_snprintf(sizeof(layout->merged_at), layout->merged_at, "%s", text ? text : "");
  return bloom_sql_end(row, rc);
}

/* Returns rc.  Within BEGIN returns SQLITE_IOERR for an error after which SQLite would leave a
** half-made filter: SQLite rolls back the transaction then, as after an interrupt. */
static int take_back(bloom_vtab *vtab, int rc){
  if( rc==SQLITE_OK || bloom_sql_is_fatal(rc) || (rc & 0xff)==SQLITE_INTERRUPT
   || sqlite3_get_autocommit(vtab->connection->db) ){
    return rc;
  }
  bloom_vtab_failure(vtab, rc);
  return SQLITE_IOERR;
}

/* Fills the filter from its source; args is NULL: empties a standalone one.  *layout has the rules
** of the key, and gets the rest.  Where it is healing, the pages stay empty, and have the room that
** they had. */
static int fill(bloom_vtab *vtab, const bloom_vtab_args *args, bloom_vtab_layout *layout,
                int is_create){
  bloom_vtab_batch batch = {.vtab = vtab, .layout = layout, .is_new = 1};
  sqlite3_int64 num_keys = 0;
  int rc = bloom_vtab_new_layout(vtab, layout);
  assert( (args!=NULL)==(vtab->args.table!=NULL) && layout->num_layers==0 );
  if( rc==SQLITE_OK ) rc = set_merged_at(vtab, layout);
  if( layout->is_healing ){
    if( vtab->has_layout ) num_keys = vtab->layout.layers[0].capacity / 2;
  }else if( rc==SQLITE_OK && args ){
    char *sql = bloom_vtab_keys_sql(vtab, args, 1);
    rc = sql ? bloom_sql_integer(vtab->connection, &num_keys, "%s", sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
  }
  if( rc!=SQLITE_OK ) return rc;
  bloom_vtab_add_layer(vtab, layout,
                       2 * num_keys>vtab->args.capacity ? 2 * num_keys : vtab->args.capacity);
  rc = check_size(vtab, layout, is_create);
  if( rc!=SQLITE_OK ) return rc;
  bloom_vtab_close_reader(vtab);
  rc = bloom_sql_run(vtab->connection, "DELETE FROM \"%w\".\"%w\"", vtab->schema, vtab->pages);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_run(vtab->connection,
                       "INSERT INTO \"%w\".\"%w\"(rowid, bytes) VALUES (1, zeroblob(%d))",
                       vtab->schema, vtab->pages, BLOOM_LAYOUT_BYTES);
  }
  if( rc==SQLITE_OK ) rc = bloom_vtab_insert_pages(vtab, layout);
  if( rc==SQLITE_OK && args ) rc = bloom_vtab_empty_journal(vtab, layout);
  if( rc==SQLITE_OK && args && !layout->is_healing ){
    rc = add_source_keys(&batch, args, bloom_vtab_keys_sql(vtab, args, 0));
  }
  assert( rc!=SQLITE_OK || batch.num_hashes[0] + batch.num_hashes[1]==0 );
  if( rc==SQLITE_OK ) rc = bloom_vtab_write_layout(vtab, layout);
  bloom_vtab_batch_free(&batch);
  /* SQLite rolls back a CREATE that fails, but not an INSERT of one row. */
  return is_create ? rc : take_back(vtab, rc);
}

/* -- Making --------------------------------------------------------------------------------- */

/* Makes the tables, of a filter over a source the triggers, and the filter in its pages. */
static int make_all(bloom_vtab *vtab, const bloom_vtab_args *args, bloom_vtab_layout *layout,
                    int is_create){
  int rc = bloom_sql_run(vtab->connection, "CREATE TABLE IF NOT EXISTS \"%w\".\"%w\""
                         PAGES_COLUMNS, vtab->schema, vtab->pages);
  if( rc==SQLITE_OK && args ){
    rc = bloom_sql_run(vtab->connection, "CREATE TABLE IF NOT EXISTS \"%w\".\"%w_new\"%s",
                       vtab->schema, vtab->name, vtab->journal_columns);
    if( rc==SQLITE_OK ) rc = bloom_vtab_create_triggers(vtab, args, layout->is_healing);
  }
  return rc==SQLITE_OK ? fill(vtab, args, layout, is_create) : rc;
}

/* Fails because another statement may be mid write, or the one whose trigger runs this. */
static int refuse_mid_write(bloom_vtab *vtab, const char *done, const char *hint){
  return BLOOM_VTAB_FAIL(vtab, "bloom: %s cannot be %s by a trigger, or while another statement of"
                               " this connection writes%s", vtab->name, done, hint);
}

int bloom_vtab_make(bloom_vtab *vtab){
  bloom_vtab_args *args = vtab->args.table ? &vtab->args : NULL;
  bloom_vtab_layout layout = {.num_layers = 0};
  int have_keys, rc = bloom_vtab_check_names(vtab, 0, &have_keys);
  if( rc!=SQLITE_OK ) return bloom_vtab_failure(vtab, rc);
  /* The pages are the only copy of these keys. */
  if( have_keys && args==NULL ) return SQLITE_OK;
  assert( vtab->args.refusal==NULL && (args==NULL)==(vtab->args.num_columns==0) );
  vtab->has_layout = 0;
  if( args ){
    rc = bloom_source_refuse_shadow(bloom_vtab_follower(vtab), args->table);
    if( rc==SQLITE_OK ) rc = bloom_vtab_read_source(vtab, args, &layout);
    if( rc==SQLITE_OK ) rc = check_can_read(vtab, args, 0);
    if( rc==SQLITE_OK && bloom_sql_has_two_writers(vtab->connection) ){
      rc = refuse_mid_write(vtab, "made", "");
    }
  }
  if( rc==SQLITE_OK ) rc = make_all(vtab, args, &layout, 1);
  rc = bloom_vtab_failure(vtab, rc);
  if( rc!=SQLITE_OK ) bloom_vtab_drop(vtab);
  return rc;
}

/* Drops what its name and text prove to be the filter's.  Tables go before triggers: SQLite refuses
** to drop a table while a query is open.  Were triggers gone by then, SQLite would put them back,
** and read the schema anew in the middle of a later statement. */
int bloom_vtab_drop(bloom_vtab *vtab){
  static const char *const suffixes[] = {"_pages", "_guard" /* of bloom 1.1 */, "_new"};
  const char *columns[] = {PAGES_COLUMNS, "(unused)", vtab->journal_columns};
  const int num_tables = vtab->args.table ? 3 : 1;
  int i, rc = SQLITE_OK;
  for(i=0; i<num_tables && rc==SQLITE_OK; i++){
    rc = bloom_sql_drop(vtab->connection, vtab->schema, vtab->name, suffixes[i], columns[i]);
  }
  if( rc!=SQLITE_OK || vtab->args.table==NULL ) return rc;
  return bloom_follow_drop(bloom_vtab_follower(vtab), 1);
}

/* -- Commands ---------------------------------------------------------------------------------- */

/* Refuses to merge a filter that is in doubt. */
static int fail_in_doubt(bloom_vtab *vtab, bloom_vtab_doubt doubt){
  char *text = bloom_vtab_say_doubt(vtab, doubt);
  return text ? BLOOM_VTAB_FAIL(vtab, "bloom: %s: %z", vtab->name, text) : SQLITE_NOMEM;
}

/* Makes the filter anew from the source that its triggers name or, without triggers, CREATE; as a
** 'merge' only if that is provably the same.  Refuses before it changes anything, as within BEGIN
** nothing would be rolled back.  is_damaged: tables and triggers are made anew, too.  is_healing:
** heal_rows() adds the keys. */
static int rebuild(bloom_vtab *vtab, int is_merge, int is_damaged, int is_healing){
  bloom_vtab_triggers triggers = {.are_newest = 0};
  bloom_vtab_args *args = &triggers.args;
  bloom_vtab_layout layout = {.is_healing = is_healing, .next_id = INT64_MIN};
  bloom_vtab_doubt doubt = BLOOM_VTAB_CERTAIN;
  int rc;
  assert( vtab->args.table && (is_merge || !is_healing) );
  bloom_forget_message(&vtab->base);
  bloom_vtab_close_reader(vtab);
  rc = bloom_vtab_check_names(vtab, 0, NULL);
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_triggers(vtab, &triggers);
  if( rc==SQLITE_OK ){
    if( args->table==NULL ){
      doubt = BLOOM_VTAB_NO_SOURCE;
      args = &vtab->args;
    }
    rc = bloom_vtab_read_source(vtab, args, &layout);
    if( rc==SQLITE_OK && !doubt && args->has_namesake ) doubt = BLOOM_VTAB_HAS_NAMESAKE;
    /* No trigger names the source, and this one's key is not the layout's; or the source was
    ** renamed, and another has its name. */
    if( rc==SQLITE_OK && is_merge && (doubt==BLOOM_VTAB_HAS_NAMESAKE
        || (doubt && !(vtab->has_layout && bloom_vtab_has_same_key(&layout, &vtab->layout)))) ){
      bloom_vtab_args_free(&triggers.args);
      return fail_in_doubt(vtab, doubt);
    }
    if( rc==SQLITE_OK && doubt==BLOOM_VTAB_HAS_NAMESAKE ){
      args = &vtab->args;
      rc = bloom_vtab_read_source(vtab, args, &layout);
    }
    if( vtab->base.zErrMsg && doubt ){
      BLOOM_VTAB_FAIL(vtab, "%s; if its table or column was renamed, drop %s and create it again",
                      vtab->base.zErrMsg, vtab->name);
    }
  }
  if( rc==SQLITE_OK ) rc = check_can_read(vtab, args, is_healing);
  if( rc==SQLITE_OK && !is_damaged && !is_healing && !vtab->doubt && triggers.are_newest ){
    rc = fill(vtab, args, &layout, 0);
  }else if( rc==SQLITE_OK ){
    rc = take_back(vtab, make_all(vtab, args, &layout, 0));
  }
  bloom_vtab_args_free(&triggers.args);
  vtab->is_checked = 0;
  return rc;
}

int bloom_vtab_rebuild(sqlite3_vtab *base){
  bloom_vtab *vtab = bloom_vtab_of(base);
  int is_mid_write, rc;
  if( vtab->args.table==NULL ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: %s has no source table to rebuild it from", vtab->name);
  }
  rc = bloom_sql_may_be_mid_write(vtab->connection, &is_mid_write);
  if( rc!=SQLITE_OK ) return rc;
  if( is_mid_write ) return refuse_mid_write(vtab, "rebuilt", "; 'merge' can run there");
  rc = bloom_vtab_open(vtab, BLOOM_VTAB_DOUBT);
  return rc==SQLITE_OK || rc==SQLITE_CORRUPT_VTAB ? rebuild(vtab, 0, rc!=SQLITE_OK, 0) : rc;
}

/* Empties a standalone filter, and gives it the room that CREATE did. */
int bloom_vtab_delete_all(sqlite3_vtab *base){
  bloom_vtab *vtab = bloom_vtab_of(base);
  bloom_vtab_layout layout = {.num_layers = 0};
  int rc;
  if( vtab->args.table ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: keys of %s come from its source table alone: 'rebuild'"
                                 " forgets those that it no longer has", vtab->name);
  }
  rc = bloom_vtab_open(vtab, BLOOM_VTAB_PLACE);
  return rc==SQLITE_OK ? fill(vtab, NULL, &layout, 0) : rc;
}

/* A plain 'merge' checks the headers of so many pages at most: 1 ms. */
#define FEW_PAGES 1024

/* Takes at most max_rows keys, 0: all, into the pages.  Sets *doubt, and takes none, where the
** journal is broken.  Nothing is compiled once the journal is cut, so an authorizer can refuse a
** merge only before: that leaves bits without keys, which is harmless.  SQLite rolls back other
** failures. */
static int merge_keys(bloom_vtab *vtab, sqlite3_int64 max_rows, bloom_vtab_doubt *doubt){
  bloom_vtab_layout layout;
  bloom_vtab_batch batch = {.vtab = vtab, .layout = &layout};
  int rc = SQLITE_OK;
  assert( vtab->args.table && vtab->has_layout && !vtab->layout.is_healing );
  assert( max_rows>=0 && !*doubt );
  /* Damage that look-ups met; of a filter with few pages also any in headers, below. */
  if( bloom_connection_knows_damage(vtab->connection, vtab->layout.number) ) return SQLITE_NOTFOUND;
  if( max_rows==0 ){
    bloom_vtab_page_header sums;
    sqlite3_int64 num_rows = 0;
    int is_mid_write = 1;
    if( bloom_vtab_num_pages(&vtab->layout, 0)<=FEW_PAGES ){
      rc = bloom_vtab_read_layer(vtab, &vtab->layout, 0, &sums, NULL);
    }
    if( rc==SQLITE_OK ) rc = bloom_vtab_count_unmerged(vtab, &num_rows);
    /* Where keys need more room than there is, makes it, unless a statement is mid write. */
    if( rc==SQLITE_OK && num_rows>vtab->layout.layers[0].capacity - vtab->layout.num_filled ){
      rc = bloom_sql_may_be_mid_write(vtab->connection, &is_mid_write);
    }
    if( rc!=SQLITE_OK ) return rc;
    if( !is_mid_write ) return rebuild(vtab, 1, 0, 0);
  }
  layout = vtab->layout;
  bloom_vtab_close_reader(vtab);
  rc = set_merged_at(vtab, &layout);
  if( rc==SQLITE_OK ) rc = bloom_vtab_take_unmerged(vtab, max_rows, &batch);
  if( rc==SQLITE_EMPTY ){
    *doubt = BLOOM_VTAB_BROKEN_JOURNAL;
    rc = SQLITE_OK;
  }else if( rc==SQLITE_OK && batch.has_written ){
    rc = bloom_vtab_write_layout(vtab, &layout);
  }
  bloom_vtab_batch_free(&batch);
  return rc;
}

/* Adds the keys of the source's next max_rows rows, by their ids, to a filter that is healing.
** After the last row it has all keys: those of rows that were written meanwhile, or got another id,
** are in the journal.  Begins anew where the triggers that see these are gone, or a page is
** damaged. */
static int heal_rows(bloom_vtab *vtab, sqlite3_int64 max_rows){
  bloom_vtab_triggers triggers = {.are_newest = 0};
  const bloom_vtab_args *args = &triggers.args;
  bloom_vtab_layout layout;
  bloom_vtab_batch batch = {.vtab = vtab, .layout = &layout};
  sqlite3_int64 end = 0;
  sqlite3_stmt *row = NULL;
  char *sql = NULL;
  int rc = bloom_vtab_read_layout(vtab);
  layout = vtab->layout;
  assert( rc!=SQLITE_OK || (layout.is_healing && max_rows>0) );
  bloom_vtab_close_reader(vtab);
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_triggers(vtab, &triggers);
  if( rc==SQLITE_OK && !triggers.are_of_each_update ) rc = SQLITE_NOTFOUND;
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_source(vtab, &triggers.args, &layout);
  if( rc==SQLITE_OK ) rc = check_can_read(vtab, args, 1);
  assert( rc!=SQLITE_OK || args->id );
  if( rc==SQLITE_OK ){
    rc = bloom_sql_row(vtab->connection, &row, "SELECT \"%w\" FROM \"%w\".\"%w\" WHERE \"%w\" >="
                       " %lld ORDER BY 1 LIMIT 1 OFFSET %lld", args->id, vtab->schema, args->table,
                       args->id, layout.next_id, max_rows);
  }
  layout.is_healing = rc==SQLITE_ROW;
  if( layout.is_healing ) end = sqlite3_column_int64(row, 0);
  rc = bloom_sql_end(row, rc);
  if( rc==SQLITE_OK ) sql = bloom_vtab_keys_sql(vtab, args, 0);
  if( sql ){
    sql = sqlite3_mprintf("%z AND \"%w\".\"%w\" BETWEEN %lld AND %lld", sql, args->table, args->id,
                          layout.next_id, layout.is_healing ? end - 1 : INT64_MAX);
  }
  if( rc==SQLITE_OK ) rc = add_source_keys(&batch, args, sql);
  layout.next_id = end;
  if( rc==SQLITE_OK ) rc = bloom_vtab_write_layout(vtab, &layout);
  if( rc==SQLITE_OK && !layout.is_healing ){
    rc = take_back(vtab, bloom_vtab_create_triggers(vtab, args, 0));
  }
  bloom_vtab_batch_free(&batch);
  bloom_vtab_args_free(&triggers.args);
  vtab->is_checked = 0;
  return rc==SQLITE_NOTFOUND ? rebuild(vtab, 1, 1, 1) : rc;
}

int bloom_vtab_merge(sqlite3_vtab *base, sqlite3_int64 max_rows){
  bloom_vtab *vtab = bloom_vtab_of(base);
  bloom_vtab_doubt doubt = BLOOM_VTAB_CERTAIN;
  int is_mid_write, rc;
  if( vtab->args.table==NULL ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: %s has no source table, so there is nothing to merge",
                           vtab->name);
  }
  rc = bloom_vtab_open(vtab, BLOOM_VTAB_DOUBT);
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_layout(vtab);
  if( rc==SQLITE_OK ) doubt = bloom_vtab_doubt_of_merge(vtab);
  if( rc==SQLITE_OK && !doubt ) rc = bloom_vtab_failure(vtab, merge_keys(vtab, max_rows, &doubt));
  if( !doubt && (rc!=SQLITE_CORRUPT_VTAB || vtab->connection->is_running) ) return rc;
  assert( doubt ? rc==SQLITE_OK : rc==SQLITE_CORRUPT_VTAB );
  /* It is in doubt, or damaged.  In a trigger, or while another statement writes, this does nothing
  ** and does not fail: rows of the source may be mid write. */
  rc = bloom_sql_may_be_mid_write(vtab->connection, &is_mid_write);
  if( rc!=SQLITE_OK || is_mid_write ){
    bloom_forget_message(&vtab->base);
    return rc;
  }
  if( doubt && doubt<BLOOM_VTAB_NO_SOURCE ) return fail_in_doubt(vtab, doubt);
  if( max_rows==0 || doubt!=BLOOM_VTAB_HEALING ) rc = rebuild(vtab, 1, !doubt, max_rows>0);
  return rc==SQLITE_OK && max_rows>0 ? heal_rows(vtab, max_rows) : rc;
}
