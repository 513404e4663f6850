/*
** One more layer.  All pages have to get the number of the new layout, or who has the old one in
** memory would not look at the new layer.  Statements that add keys do that a few pages at a time,
** because SQLite keeps a statement's journal in memory while it has fewer than 16 pages, and one
** that did not fit slows the whole transaction down.  Until the last page has it, a page may have
** the number or the next one; who finds the next one does not trust the layout in memory.
*/
#include "vtab_int.h"

#ifdef BLOOM_TINY_TABLES
# define PAGES_A_STEP 1
#else
# define PAGES_A_STEP 4
#endif

int bloom_vtab_take_back(bloom_vtab *vtab, int rc){
  if( rc==SQLITE_OK || bloom_sql_is_fatal(rc) ) return rc;
  bloom_vtab_failure(vtab, rc);
  return sqlite3_get_autocommit(vtab->connection->db) ? rc : SQLITE_IOERR;
}

/* Gives the pages from first to before end, which must be of the layout, a number; those from first_new
** on are new.  Where num_filled is not NULL, it only sums up what fills them. */
static int number_pages(
  bloom_vtab *vtab, uint64_t number, sqlite3_int64 first, sqlite3_int64 first_new, sqlite3_int64 end, sqlite3_int64 *num_filled
){
  sqlite3_blob *blob = NULL;
  sqlite3_int64 row;
  int rc = bloom_blob_open(bloom_vtab_place(vtab), first, num_filled==NULL, 0, &blob);
  for(row=first; row<end && rc==SQLITE_OK; row++){
    uint8_t bytes[BLOOM_HEADER_BYTES];
    bloom_vtab_page_header header = {0, 0, 0, 0};
    if( row>first ) rc = bloom_blob_move(blob, row, 0);
    if( rc==SQLITE_OK && row<first_new ) rc = sqlite3_blob_read(blob, bytes, sizeof(bytes), 0);
    if( rc!=SQLITE_OK ) break;
    if( row<first_new && !(bloom_vtab_get_header(bytes, row, &header) && bloom_vtab_has_number(&vtab->layout, header.number)) ){
      rc = SQLITE_NOTFOUND;
      break;
    }
    if( num_filled ){
      *num_filled += header.num_filled;
      continue;
    }
    header.number = number;
    bloom_vtab_put_header(&header, row, bytes);
    rc = sqlite3_blob_write(blob, bytes, sizeof(bytes), 0);
  }
  return bloom_blob_close(blob, rc);
}

/* The row after the last page. */
static sqlite3_int64 end_row(const bloom_vtab_layout *layout){
  return bloom_vtab_first_row(layout, layout->num_layers);
}

/* Makes a layout the filter's, after rc. */
static int set_layout(bloom_vtab *vtab, const bloom_vtab_layout *layout, int rc){
  if( rc==SQLITE_OK ) rc = bloom_vtab_write_layout(vtab, layout);
  if( rc==SQLITE_NOTFOUND ) rc = bloom_vtab_damaged(vtab, "a page");
  if( rc==SQLITE_OK ) vtab->layout = *layout;
  else vtab->has_layout = 0;
  /* Of damage a source's filter is given up, halves and all. */
  return rc==SQLITE_CORRUPT_VTAB && vtab->args.table ? rc : bloom_vtab_take_back(vtab, rc);
}

int bloom_vtab_renumber(bloom_vtab *vtab, bloom_vtab_layout *layout){
  const sqlite3_int64 end = end_row(layout);
  sqlite3_randomness(sizeof(layout->number), &layout->number);
  layout->next_row = 0;
  return set_layout(vtab, layout, number_pages(vtab, layout->number, 2, end, end, NULL));
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

/* 1 if there can be a layer more. */
static int can_grow(const bloom_vtab *vtab){
  const bloom_vtab_layout *layout = &vtab->layout;
  return layout->num_layers<BLOOM_VTAB_MAX_LAYERS && layout->layers[layout->num_layers-1].num_blocks<BLOOM_VTAB_MAX_BLOCKS / 4
      && !vtab->connection->is_running;
}

/* Gives some more pages the next number. */
static int prepare_pages(bloom_vtab *vtab){
  bloom_vtab_layout layout = vtab->layout;
  const sqlite3_int64 first = layout.next_row, end = end_row(&layout);
  int rc;
  layout.next_row = end - first>PAGES_A_STEP ? first + PAGES_A_STEP : end;
  rc = number_pages(vtab, bloom_vtab_next_number(&layout), first, layout.next_row, layout.next_row, NULL);
  return set_layout(vtab, &layout, rc);
}

/* Adds a layer, four times the last; all other pages have the next number. */
static int grow(bloom_vtab *vtab){
  sqlite3 *db = vtab->connection->db;
  const sqlite3_int64 rowid = sqlite3_last_insert_rowid(db), first_new = end_row(&vtab->layout);
  bloom_vtab_layout layout = vtab->layout;
  int rc;
  layout.layers[layout.num_layers] = bloom_vtab_new_layer(layout.size, layout.num_layers, 4 * layout.layers[layout.num_layers-1].capacity);
  layout.num_layers++;
  layout.number = bloom_vtab_next_number(&layout);
  layout.next_row = 0;
  rc = insert_pages(vtab, &layout);
  sqlite3_set_last_insert_rowid(db, rowid);
  /* Nothing was written: the last layer takes more than its share. */
  if( rc!=SQLITE_OK ) return (rc & 0xff)==SQLITE_IOERR || (rc & 0xff)==SQLITE_INTERRUPT ? rc : SQLITE_OK;
  return set_layout(vtab, &layout, number_pages(vtab, layout.number, first_new, first_new, end_row(&layout), NULL));
}

int bloom_vtab_grow_if_full(bloom_vtab *vtab){
  bloom_vtab_layout layout;
  sqlite3_int64 num_filled = 0;
  /* A ROLLBACK changes next_row, but no page's number tells. */
  int rc = bloom_vtab_read_layout(vtab);
  vtab->is_hint = 0;
  if( rc!=SQLITE_OK || !can_grow(vtab) ) return rc;
  layout = vtab->layout;
  if( layout.next_row==0 ){
    const int last = layout.num_layers - 1;
    const sqlite3_int64 end = end_row(&layout);
    rc = number_pages(vtab, 0, bloom_vtab_first_row(&layout, last), end, end, &num_filled);
    if( rc!=SQLITE_OK || num_filled<layout.layers[last].capacity ) return rc;
    layout.next_row = 2;
    return set_layout(vtab, &layout, SQLITE_OK);
  }
  if( layout.next_row<end_row(&layout) ) rc = prepare_pages(vtab);
  return rc==SQLITE_OK && vtab->layout.next_row==end_row(&vtab->layout) ? grow(vtab) : rc;
}
