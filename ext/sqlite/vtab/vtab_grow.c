/*
** One more layer, within the statement that found a page full.
*/
#include "vtab_int.h"

int bloom_vtab_take_back(bloom_vtab *vtab, int rc){
  switch( rc & 0xff ){
    case SQLITE_OK:
    case SQLITE_NOMEM:
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return rc;
    default:
      bloom_vtab_failure(vtab, rc);
      return sqlite3_get_autocommit(vtab->connection->db) ? rc : SQLITE_IOERR;
  }
}

/* Gives every page of a layout its number; those of layers from num_written on are empty yet. */
static int number_pages(bloom_vtab *vtab, const bloom_vtab_layout *layout, int num_written){
  const sqlite3_int64 first_new = bloom_vtab_first_row(layout, num_written);
  const sqlite3_int64 end = bloom_vtab_first_row(layout, layout->num_layers);
  sqlite3_blob *blob = NULL;
  sqlite3_int64 row;
  int rc = bloom_blob_open(bloom_vtab_place(vtab), 2, 1, 0, &blob), close_rc;
  for(row=2; row<end && rc==SQLITE_OK; row++){
    uint8_t bytes[BLOOM_HEADER_BYTES];
    bloom_vtab_page_header header = {0, 0, 0, 0};
    if( row>2 ) rc = bloom_blob_move(blob, row, 0);
    if( rc==SQLITE_OK && row<first_new ) rc = sqlite3_blob_read(blob, bytes, sizeof(bytes), 0);
    if( rc==SQLITE_OK && row<first_new && !bloom_vtab_get_header(bytes, row, &header) ) rc = SQLITE_NOTFOUND;
    if( rc!=SQLITE_OK ) break;
    header.number = layout->number;
    bloom_vtab_put_header(&header, row, bytes);
    rc = sqlite3_blob_write(blob, bytes, sizeof(bytes), 0);
  }
  close_rc = sqlite3_blob_close(blob);
  return rc==SQLITE_OK ? close_rc : rc;
}

int bloom_vtab_renumber(bloom_vtab *vtab, bloom_vtab_layout *layout, int num_written){
  int rc;
  sqlite3_randomness(sizeof(layout->number), &layout->number);
  rc = number_pages(vtab, layout, num_written);
  if( rc==SQLITE_OK ) rc = bloom_vtab_write_layout(vtab, layout);
  if( rc==SQLITE_NOTFOUND ) rc = bloom_vtab_damaged(vtab, "a page");
  if( rc==SQLITE_OK ) vtab->layout = *layout;
  else vtab->has_layout = 0;
  return bloom_vtab_take_back(vtab, rc);
}

/* Makes room for the pages of the last layer: all, or none if it fails, for SQLite keeps a
** journal of a statement like this one. */
static int insert_pages(bloom_vtab *vtab, const bloom_vtab_layout *layout){
  const int layer = layout->num_layers - 1;
  const sqlite3_int64 first_row = bloom_vtab_first_row(layout, layer);
  const uint64_t last_page = bloom_vtab_num_pages(layout, layer) - 1;
  const sqlite3_int64 last_row = first_row + (sqlite3_int64)last_page;
  return bloom_sql_run(vtab->connection,
    "INSERT INTO \"%w\".\"%w\"(rowid, bytes)"
    " WITH RECURSIVE pages(i) AS (SELECT %lld UNION ALL SELECT i + 1 FROM pages WHERE i < %lld)"
    " SELECT i, zeroblob(CASE i WHEN %lld THEN %d ELSE %d END) FROM pages", vtab->schema, vtab->pages, first_row, last_row,
    last_row, bloom_vtab_page_bytes(layout, layer, last_page), bloom_vtab_page_bytes(layout, layer, 0));
}

/* Adds a layer, four times the last; leaves all as it is where that cannot be done now. */
static int grow(bloom_vtab *vtab){
  sqlite3 *db = vtab->connection->db;
  const sqlite3_int64 rowid = sqlite3_last_insert_rowid(db);
  bloom_vtab_layout layout = vtab->layout;
  const bloom_vtab_layer *last = &layout.layers[layout.num_layers-1];
  int rc;
  if( layout.num_layers==BLOOM_VTAB_MAX_LAYERS || last->num_blocks>=BLOOM_VTAB_MAX_BLOCKS / 4 ) return SQLITE_OK;
  if( vtab->connection->is_running ) return SQLITE_OK;
  layout.layers[layout.num_layers] = bloom_vtab_new_layer(layout.size, layout.num_layers, 4 * last->capacity);
  layout.num_layers++;
  rc = insert_pages(vtab, &layout);
  sqlite3_set_last_insert_rowid(db, rowid);
  /* Nothing was written: the last layer takes more than its share. */
  if( rc!=SQLITE_OK ) return (rc & 0xff)==SQLITE_IOERR || (rc & 0xff)==SQLITE_INTERRUPT ? rc : SQLITE_OK;
  return bloom_vtab_renumber(vtab, &layout, layout.num_layers - 1);
}

/* Sums up what fills the last layer. */
static int count_filled(bloom_vtab *vtab, sqlite3_int64 *num_filled){
  const bloom_vtab_layout *layout = &vtab->layout;
  const int layer = layout->num_layers - 1;
  const sqlite3_int64 first_row = bloom_vtab_first_row(layout, layer);
  const sqlite3_int64 end = first_row + (sqlite3_int64)bloom_vtab_num_pages(layout, layer);
  sqlite3_blob *blob = NULL;
  sqlite3_int64 row;
  int rc = bloom_blob_open(bloom_vtab_place(vtab), first_row, 0, 0, &blob);
  for(row=first_row; row<end && rc==SQLITE_OK; row++){
    uint8_t bytes[BLOOM_HEADER_BYTES];
    bloom_vtab_page_header header = {0, 0, 0, 0};
    if( row>first_row ) rc = bloom_blob_move(blob, row, 0);
    if( rc==SQLITE_OK ) rc = sqlite3_blob_read(blob, bytes, sizeof(bytes), 0);
    if( rc==SQLITE_OK && !bloom_vtab_get_header(bytes, row, &header) ) rc = SQLITE_NOTFOUND;
    *num_filled += header.num_filled;
  }
  sqlite3_blob_close(blob);
  return rc;
}

int bloom_vtab_grow_if_full(bloom_vtab *vtab){
  sqlite3_int64 num_filled = 0;
  int rc = count_filled(vtab, &num_filled);
  if( rc!=SQLITE_OK || num_filled<vtab->layout.layers[vtab->layout.num_layers-1].capacity ) return rc;
  return grow(vtab);
}
