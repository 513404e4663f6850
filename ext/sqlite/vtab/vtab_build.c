/*
** Making a filter, filling it from its source, and giving it up where it is damaged.
**
** It takes two scans of the source.  The first counts the keys, the second sets bits in
** memory, and then the pages are written.  There is room for twice the keys.
*/
#include "vtab_int.h"

#include "../../core/parquet/parquet.h"
#include "../../core/parquet/split_block.h"
#include "../errors.h"

/* The pages of a filter that is being built, as they will be written. */
typedef struct page_builder {
  const bloom_vtab_layout *layout;
  uint8_t *pages;
  bloom_vtab_page_header *headers;
  uint64_t num_pages, num_written;
  int has_decimals; /* a key is one */
} page_builder;

static size_t full_page_bytes(const bloom_vtab_layout *layout){
  return BLOOM_HEADER_BYTES + BLOOM_BLOCK_BYTES * (size_t)layout->blocks_per_page;
}

static int start_pages(page_builder *builder, const bloom_vtab_layout *layout){
  *builder = (page_builder){.layout = layout, .num_pages = bloom_vtab_num_pages(layout, 0)};
  builder->pages = bloom_malloc_zeros(builder->num_pages * full_page_bytes(layout));
  builder->headers = bloom_malloc_zeros(builder->num_pages * sizeof(*builder->headers));
  return builder->pages && builder->headers ? SQLITE_OK : SQLITE_NOMEM;
}

static void free_pages(page_builder *builder){
  sqlite3_free(builder->pages);
  sqlite3_free(builder->headers);
}

static void add_to_pages(page_builder *builder, const bloom_vtab_hashes *hashes){
  const bloom_vtab_layout *layout = builder->layout;
  int i;
  builder->has_decimals |= hashes->is_decimal;
  for(i=0; i<hashes->num_hashes; i++){
    const uint64_t number = bloom_split_block_number(hashes->hashes[i], layout->layers[0].num_blocks);
    const uint64_t page = number / layout->blocks_per_page, at = number % layout->blocks_per_page;
    uint8_t *block = builder->pages + page * full_page_bytes(layout) + BLOOM_HEADER_BYTES + at * BLOOM_BLOCK_BYTES;
    bloom_vtab_page_header *header = &builder->headers[page];
    if( i==0 && header->num_keys<UINT32_MAX ) header->num_keys++;
    if( bloom_split_block_may_contain(block, hashes->hashes[i]) ) continue;
    bloom_split_block_add(block, hashes->hashes[i]);
    header->num_filled++;
  }
}

/* Writes all pages over those that are there, takes away what is beyond, and the layout last. */
static int write_pages(bloom_vtab *vtab, page_builder *builder){
  const bloom_vtab_layout *layout = builder->layout;
  sqlite3_stmt *insert;
  uint64_t page;
  int rc = bloom_sql_prepare(vtab->connection, &insert, "INSERT OR REPLACE INTO \"%w\".\"%w\"(rowid, bytes) VALUES (?1, ?2)",
                             vtab->schema, vtab->pages);
  for(page=0; page<builder->num_pages && rc==SQLITE_OK; page++){
    uint8_t *bytes = builder->pages + page * full_page_bytes(layout);
    const sqlite3_int64 row = 2 + (sqlite3_int64)page;
    builder->headers[page].number = layout->number;
    bloom_vtab_put_header(&builder->headers[page], row, bytes);
    sqlite3_bind_int64(insert, 1, row);
    rc = sqlite3_bind_blob(insert, 2, bytes, bloom_vtab_page_bytes(layout, 0, page), SQLITE_STATIC);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, insert);
    if( rc==SQLITE_DONE ) rc = SQLITE_OK;
    builder->num_written += rc==SQLITE_OK;
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_run(vtab->connection, "DELETE FROM \"%w\".\"%w\" WHERE rowid NOT BETWEEN 1 AND %lld", vtab->schema, vtab->pages,
                       (sqlite3_int64)builder->num_pages + 1);
  }
  return rc==SQLITE_OK ? bloom_vtab_write_first_layout(vtab, layout) : rc;
}

/* Fails if the pages are more than the database may have. */
static int check_room(bloom_vtab *vtab, const bloom_vtab_layout *layout){
  sqlite3_int64 max_pages = 0;
  const sqlite3_int64 num_pages = (sqlite3_int64)bloom_vtab_num_pages(layout, 0);
  int rc = bloom_sql_integer(vtab->connection, &max_pages, "PRAGMA \"%w\".max_page_count", vtab->schema);
  if( rc!=SQLITE_OK || num_pages<=max_pages ) return rc;
  return bloom_fail_vtab(&vtab->base.zErrMsg, "bloom: %s needs %lld pages, and its database may have %lld at most",
                                              vtab->name, num_pages, max_pages);
}

/* Fails if no filter has the rate that was asked for.  A rebuild takes what is in reach: a table
** that grew must not fail one night. */
static int check_rate(bloom_vtab *vtab, const bloom_vtab_layout *layout){
  const sqlite3_int64 capacity = layout->layers[0].capacity;
  double best_rate;
  if( layout->size>=1 || vtab->has_layout ) return SQLITE_OK;
  if( bloom_encoding_parquet.min_bits_per_key_x10(layout->size, (uint64_t)capacity, &best_rate) ) return SQLITE_OK;
  /* Rounded up, never down: it is a promise. */
  return bloom_fail_vtab(&vtab->base.zErrMsg, "bloom: bits_per_key %.15g is out of reach of a filter with room for "
                                              "%lld keys; %.3g is in reach", layout->size, capacity, best_rate * 1.01);
}

/* Adds all keys of the source. */
static int add_source_keys(bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, page_builder *builder){
  sqlite3_value *parts[BLOOM_VTAB_MAX_COLUMNS];
  sqlite3_stmt *row;
  int rc = bloom_vtab_prepare_keys(vtab, source, args, 0, &row);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    const bloom_vtab_key key = bloom_vtab_key_of_row(builder->layout, row, parts);
    bloom_vtab_hashes hashes;
    rc = bloom_vtab_hash_key(builder->layout, NULL, key, 0, &hashes);
    if( rc==SQLITE_OK ) add_to_pages(builder, &hashes);
  }
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  bloom_vtab_failure(vtab, rc);
  sqlite3_finalize(row);
  return rc;
}

static int count_source_keys(bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, sqlite3_int64 *num_keys){
  sqlite3_stmt *row;
  int rc = bloom_vtab_prepare_keys(vtab, source, args, 1, &row);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, row);
  if( rc==SQLITE_ROW ){
    *num_keys = sqlite3_column_int64(row, 0);
    rc = SQLITE_OK;
  }
  bloom_vtab_failure(vtab, rc);
  sqlite3_finalize(row);
  return rc;
}

static int set_built_at(bloom_vtab *vtab, bloom_vtab_layout *layout){
  sqlite3_stmt *row;
  const char *text = NULL;
  int rc = bloom_sql_prepare(vtab->connection, &row, "SELECT strftime('%%Y-%%m-%%d %%H:%%M:%%S', 'now')");
  if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, row);
  if( rc==SQLITE_ROW ) rc = bloom_sql_column_text(row, 0, &text);
  sqlite3_snprintf(sizeof(layout->built_at), layout->built_at, "%s", text ? text : "");
  sqlite3_finalize(row);
  return rc;
}

/* Fills the filter from its source, which may be NULL, by a layout that has everything but its
** number and its layers. */
static int fill(bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, bloom_vtab_layout *layout){
  page_builder builder;
  sqlite3_int64 num_keys = 0;
  int rc = bloom_sql_run(vtab->connection, "CREATE TABLE IF NOT EXISTS \"%w\".\"%w\"(bytes BLOB)", vtab->schema, vtab->pages);
  if( rc==SQLITE_OK ) rc = set_built_at(vtab, layout);
  if( rc==SQLITE_OK && source ) rc = count_source_keys(vtab, source, args, &num_keys);
  if( rc!=SQLITE_OK ) return bloom_vtab_failure(vtab, rc);
  sqlite3_randomness(sizeof(layout->number), &layout->number);
  layout->decimals = 0;
  layout->next_row = 0;
  layout->num_layers = 1;
  layout->layers[0] = bloom_vtab_new_layer(layout->size, 0, 2 * num_keys>layout->min_capacity ? 2 * num_keys : layout->min_capacity);
  rc = check_rate(vtab, layout);
  if( rc==SQLITE_OK ) rc = check_room(vtab, layout);
  if( rc!=SQLITE_OK ) return bloom_vtab_failure(vtab, rc);
  rc = start_pages(&builder, layout);
  if( rc==SQLITE_OK && source ) rc = add_source_keys(vtab, source, args, &builder);
  if( rc==SQLITE_OK && builder.has_decimals ) rc = bloom_vtab_set_decimals(vtab->connection, layout);
  if( rc==SQLITE_OK ){
    vtab->has_layout = 0;
    rc = write_pages(vtab, &builder);
    if( builder.num_written ) rc = bloom_vtab_take_back(vtab, rc);
  }
  free_pages(&builder);
  return bloom_vtab_failure(vtab, rc);
}

/* -- Making and taking away ------------------------------------------------------------------ */

/* Fails if the name of a table that is to be made is in use. */
static int refuse_names_in_use(bloom_vtab *vtab, char **error){
  const char *type, *name;
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare(vtab->connection, &row,
    "SELECT type, name FROM \"%w\".sqlite_master WHERE type <> 'trigger' AND name COLLATE NOCASE IN (%Q, %Q)",
    vtab->schema, vtab->pages, vtab->guard);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, row);
  if( rc==SQLITE_ROW ){
    rc = bloom_sql_column_text(row, 0, &type);
    if( rc==SQLITE_OK ) rc = bloom_sql_column_text(row, 1, &name);
    if( rc==SQLITE_OK ) rc = bloom_fail_vtab(error, "bloom: the name of %s %s is needed, but taken", type, name);
  }
  return bloom_sql_end(row, rc);
}

/* Makes triggers, and the filter in its pages. */
static int follow(bloom_vtab *vtab, bloom_source *source, bloom_vtab_args *args, bloom_vtab_layout *layout){
  int rc = bloom_vtab_create_triggers(vtab, source, args, layout->triggers);
  if( rc==SQLITE_OK ) rc = fill(vtab, source, args, layout);
  /* No shadow table: from 3.54 on a defensive connection reads no schema that has a trigger on one. */
  if( rc==SQLITE_OK ) rc = bloom_sql_run(vtab->connection, "CREATE TABLE IF NOT EXISTS \"%w\".\"%w\"(unused)", vtab->schema, vtab->guard);
  if( rc==SQLITE_OK ) rc = bloom_sql_run(vtab->connection, "DELETE FROM \"%w\".\"%w\"", vtab->schema, vtab->guard);
  if( rc==SQLITE_OK ) rc = bloom_vtab_write_mark(vtab, BLOOM_MARK_NONE);
  if( rc==SQLITE_OK ) rc = bloom_guard_create(vtab->connection, vtab->schema, vtab->name, vtab->guard);
  return rc;
}

int bloom_vtab_make(bloom_vtab *vtab, char **error){
  bloom_vtab_layout layout;
  bloom_source source = {.num_columns = 0};
  int rc = refuse_names_in_use(vtab, error);
  if( rc!=SQLITE_OK ) return bloom_source_failure(vtab->connection->db, rc, error);
  rc = bloom_vtab_first_layout(vtab, &layout);
  if( rc==SQLITE_OK && vtab->args.table==NULL ){
    rc = fill(vtab, NULL, NULL, &layout);
  }else if( rc==SQLITE_OK ){
    rc = bloom_vtab_read_source(vtab, &vtab->args, &source, &layout, error);
    if( rc==SQLITE_OK ) rc = follow(vtab, &source, &vtab->args, &layout);
  }
  if( rc!=SQLITE_OK ){
    if( *error==NULL ){
      *error = vtab->base.zErrMsg;
      vtab->base.zErrMsg = NULL;
    }
    bloom_source_failure(vtab->connection->db, rc, error);
    bloom_vtab_drop(vtab);
  }
  bloom_source_free(&source);
  return rc;
}

/* The arguments as they are now, or, where triggers do not say, as the table was made. */
static int find_args(bloom_vtab *vtab, const bloom_triggers *triggers, bloom_vtab_args *args){
  int rc = bloom_vtab_args_of_triggers(vtab, triggers, args);
  if( rc!=SQLITE_NOTFOUND ) return rc;
  bloom_vtab_args_free(args);
  return bloom_vtab_args_copy(&vtab->args, args);
}

static int rebuild_from(bloom_vtab *vtab, bloom_triggers *triggers, int is_certain, char **error){
  bloom_vtab_args args;
  bloom_source source = {.num_columns = 0};
  bloom_vtab_layout layout = vtab->layout;
  const sqlite3_int64 capacity = layout.layers[layout.num_layers-1].capacity;
  int rc = find_args(vtab, triggers, &args);
  /* No more room than there are pages for, whatever the layout says. */
  if( layout.min_capacity>capacity ) layout.min_capacity = capacity;
  /* What is refused is so before anything changes: in a transaction nothing takes it back. */
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_source(vtab, &args, &source, &layout, error);
  if( rc==SQLITE_OK && is_certain ){
    rc = fill(vtab, &source, &args, &layout);
  }else if( rc==SQLITE_OK ){
    rc = bloom_triggers_drop(vtab->connection, vtab->schema, triggers);
    if( rc==SQLITE_OK ) rc = follow(vtab, &source, &args, &layout);
  }
  bloom_source_free(&source);
  bloom_vtab_args_free(&args);
  return rc;
}

/* Of a column that has an index sqlite3_blob writes nothing. */
static int refuse_indexed_pages(bloom_vtab *vtab){
  sqlite3_int64 is_indexed = 0;
  int rc = bloom_sql_integer(vtab->connection, &is_indexed, "SELECT 1 FROM \"%w\".sqlite_master"
    " WHERE type = 'index' AND tbl_name = %Q COLLATE NOCASE", vtab->schema, vtab->pages);
  if( rc!=SQLITE_OK || !is_indexed ) return rc;
  return bloom_fail_vtab(&vtab->base.zErrMsg, "bloom: %s has an index, which keeps bloom from writing to it: drop the index first",
                         vtab->pages);
}

int bloom_vtab_rebuild(bloom_vtab *vtab){
  sqlite3 *db = vtab->connection->db;
  const sqlite3_int64 rowid = sqlite3_last_insert_rowid(db);
  bloom_triggers triggers = {NULL, 0, 0};
  char *error = NULL;
  int is_certain = 0, has_rows, rc;
  if( vtab->args.table==NULL ){
    return bloom_fail_vtab(&vtab->base.zErrMsg, "bloom: %s has no source table to rebuild it from", vtab->name);
  }
  rc = bloom_sql_has_rows_on_their_way(vtab->connection, &has_rows);
  if( rc==SQLITE_OK && has_rows ){
    return bloom_fail_vtab(&vtab->base.zErrMsg, "bloom: %s cannot be rebuilt by a trigger, or while another statement "
                                                "writes: rows are on their way", vtab->name);
  }
  if( rc==SQLITE_OK ) rc = refuse_indexed_pages(vtab);
  if( rc==SQLITE_OK ) rc = bloom_vtab_check_source(vtab, &is_certain);
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_layout(vtab);
  if( rc==SQLITE_CORRUPT_VTAB ){
    bloom_vtab_forget_message(vtab);
    rc = bloom_vtab_first_layout(vtab, &vtab->layout);
  }
  if( rc==SQLITE_OK && vtab->layout.number==0 ){
    is_certain = 0;
    vtab->has_layout = 1; /* so that a rate is made of what is in reach */
  }
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_triggers(vtab, &triggers);
  if( rc==SQLITE_OK ) rc = rebuild_from(vtab, &triggers, is_certain, &error);
  if( error ){
    bloom_fail_vtab(&vtab->base.zErrMsg, vtab->is_lost ? "%z; if its table or column was renamed, drop %s and create it again" : "%z",
                    error, vtab->name);
  }
  bloom_triggers_free(&triggers);
  vtab->is_checked = 0;
  sqlite3_set_last_insert_rowid(db, rowid);
  return bloom_vtab_failure(vtab, rc);
}

/* The layout in memory may be another connection's, too, and the damage another page's than this one's
** alone: so all pages go, and none fits any layout. */
static int remove_pages(bloom_vtab *vtab){
  int rc = vtab->has_layout ? SQLITE_OK : bloom_vtab_first_layout(vtab, &vtab->layout);
  vtab->layout.number = 0;
  vtab->layout.next_row = 0;
  vtab->has_layout = 0;
  if( rc==SQLITE_OK ) rc = bloom_vtab_write_first_layout(vtab, &vtab->layout);
  if( rc==SQLITE_OK || rc==SQLITE_NOTFOUND ){
    rc = bloom_sql_run(vtab->connection, "DELETE FROM \"%w\".\"%w\" WHERE rowid <> 1", vtab->schema, vtab->pages);
  }
  /* There is no such table: it may come back. */
  if( rc!=SQLITE_ERROR ) return rc;
  return bloom_vtab_write_mark(vtab, BLOOM_MARK_DAMAGED);
}

int bloom_vtab_give_up(bloom_vtab *vtab, int rc){
  sqlite3 *db = vtab->connection->db;
  const sqlite3_int64 rowid = sqlite3_last_insert_rowid(db);
  if( rc!=SQLITE_CORRUPT_VTAB || vtab->args.table==NULL || vtab->connection->is_running ) return rc;
  if( !vtab->has_layout || vtab->layout.number!=0 ){
    rc = remove_pages(vtab);
    sqlite3_set_last_insert_rowid(db, rowid);
    if( rc!=SQLITE_OK ) return rc==SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc;
  }
  bloom_vtab_forget_message(vtab);
  return SQLITE_OK;
}
