/*
** The journal NAME_new(key, r): keys that triggers wrote and no 'merge' has taken yet.
**
** The first row stands for the journal itself: it has no key, or one that the pages have.  Row 1 of
** the pages has its r, so a journal that was emptied or made again is noticed.
**
** Rows are a chain: r has 40 random bits and, below them, 24 of the 40 of the row before.  When a
** merge has taken rows, the new first row has the 40 bits of the last of them.  So rows that a tool
** inserts from a copy of the file, among those of the triggers or in their place, are noticed.
** Triggers of bloom 1.2.0 write 64 random bits.
**
** Look-ups keep in memory the hashes of the journal's keys, in the order of rows, and each row's r.
** Triggers append rows; a merge takes rows from the head, a ROLLBACK from the end.  So where the
** last row in memory still has its rowid and its r, all rows before it are in memory or in the
** pages, and only rows behind it are to be read.  The ROLLBACK of a merge puts rows back at the
** head: the layout, which counts the rows that merges took, has fewer of them then.
*/
#include "vtab_int.h"

/* So many rows in memory that the pages have by now are no reason to read the journal anew. */
#define FEW_ROWS 1000

/* The columns of a row that is read; its key begins at FIRST_KEY_COLUMN. */
enum { ROWID, MARK, FIRST_KEY_COLUMN };

/* Sets *row to the statement that reads the rows from rowid `from` on, to be reset.  It reads NULL
** for the key of the row with that rowid, which is known and may be long. */
static int find_rows(bloom_vtab *vtab, sqlite3_int64 from, sqlite3_stmt **row){
  sqlite3_stmt **statement = &vtab->unmerged.statement;
  int rc = SQLITE_OK;
  assert( *statement==NULL || !sqlite3_stmt_busy(*statement) );
  if( *statement==NULL ){
    const int num_parts = bloom_vtab_num_parts(vtab);
    sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
    int i;
    sqlite3_str_appendall(sql, "SELECT rowid, r, ");
    if( num_parts==0 ) sqlite3_str_appendall(sql, "CASE WHEN rowid > ?1 THEN key END, ");
    for(i=1; i<=num_parts; i++){
      sqlite3_str_appendf(sql, "CASE WHEN rowid > ?1 THEN key_%d END, ", i);
    }
    sqlite3_str_appendf(sql, "0 FROM \"%w\".\"%w_new\" WHERE rowid >= ?1 ORDER BY rowid",
                        vtab->schema, vtab->name);
    rc = bloom_sql_prepare_text(vtab->connection, statement, sqlite3_str_finish(sql));
  }
  *row = *statement;
  return rc==SQLITE_OK ? sqlite3_bind_int64(*row, 1, from) : rc;
}

/* -- The set of hashes, by linear probing: hashes need no other hash ------------------------ */

#define FIRST_SLOTS 64

static void hash_set_put(bloom_hash_set *set, uint64_t hash){
  size_t i = (size_t)hash & (set->num_slots - 1);
  assert( hash!=0 && 2*(set->num_hashes + 1)<=set->num_slots );
  while( set->slots[i] ) i = (i + 1) & (set->num_slots - 1);
  set->slots[i] = hash;
  set->num_hashes++;
}

/* Adds a hash.  SQLITE_OK; or SQLITE_NOMEM, with the set unchanged. */
static int hash_set_add(bloom_hash_set *set, bloom_hash_value hash){
  if( bloom_hash_set_has(set, hash) ) return SQLITE_OK;
  if( 2*(set->num_hashes + 1)>set->num_slots ){
    bloom_hash_set larger = {.num_slots = set->num_slots ? 2 * set->num_slots : FIRST_SLOTS};
    size_t i;
    larger.slots = bloom_malloc_zeros(larger.num_slots * sizeof(*larger.slots));
    if( larger.slots==NULL ) return SQLITE_NOMEM;
    for(i=0; i<set->num_slots; i++){
      if( set->slots[i] ) hash_set_put(&larger, set->slots[i]);
    }
    sqlite3_free(set->slots);
    *set = larger;
  }
  hash_set_put(set, hash ? hash : 1);
  assert( bloom_hash_set_has(set, hash) );
  return SQLITE_OK;
}

/* Removes a hash that is in the set.  Moves hashes that linear probing put behind it into the free
** slot, so that no search ends too early. */
static void hash_set_remove(bloom_hash_set *set, bloom_hash_value hash){
  const size_t mask = set->num_slots - 1;
  const uint64_t removed = hash ? hash : 1;
  size_t i = (size_t)removed & mask, free;
  assert( bloom_hash_set_has(set, hash) );
  while( set->slots[i]!=removed ) i = (i + 1) & mask;
  for(free=i; set->slots[i = (i + 1) & mask]; ){
    /* A hash whose search begins behind the free slot stays. */
    if( ((i - (size_t)set->slots[i]) & mask)<((i - free) & mask) ) continue;
    set->slots[free] = set->slots[i];
    free = i;
  }
  set->slots[free] = 0;
  set->num_hashes--;
  assert( !bloom_hash_set_has(set, hash) );
}

/* -- Looking up ---------------------------------------------------------------------------- */

/* Frees what is known of the journal. */
static void forget_journal(bloom_vtab *vtab){
  bloom_vtab_unmerged *unmerged = &vtab->unmerged;
  sqlite3_free(unmerged->hashes.slots);
  sqlite3_free(unmerged->order);
  sqlite3_free(unmerged->rows);
  *unmerged = (bloom_vtab_unmerged){.statement = unmerged->statement};
}

void bloom_vtab_close_journal(bloom_vtab *vtab){
  forget_journal(vtab);
  sqlite3_finalize(vtab->unmerged.statement);
  vtab->unmerged.statement = NULL;
  vtab->checked_compiled = 0;
}

/* The low bits of r, which are those of the row before. */
#define LINK_BITS 24
#define LINK_MASK (((uint64_t)1 << LINK_BITS) - 1)

/* Returns 1 if triggers may have written a row behind the one with rowid last and r last_mark;
** is_first: if it is the first row, as the layout has it.  Triggers write no NULL: a tool did, or
** an authorizer that answers SQLITE_IGNORE hides the key from this connection. */
static int is_next(const bloom_vtab *vtab, sqlite3_stmt *row, int is_first, sqlite3_int64 last,
                   sqlite3_int64 last_mark){
  const uint64_t mark = (uint64_t)sqlite3_column_int64(row, MARK);
  int i;
  if( is_first ) return (sqlite3_int64)mark==vtab->layout.journal_mark;
  if( sqlite3_column_int64(row, ROWID) - 1!=last ) return 0;
  for(i=0; i<vtab->layout.rules.num_columns; i++){
    if( sqlite3_column_type(row, FIRST_KEY_COLUMN + i)==SQLITE_NULL ) return 0;
  }
  return !vtab->layout.has_chain || (sqlite3_column_type(row, MARK)==SQLITE_INTEGER
      && (mark & LINK_MASK)==((uint64_t)last_mark >> LINK_BITS & LINK_MASK));
}

/* Adds the rows that a statement has from its next step on, behind those that are known.
** SQLITE_EMPTY if they are not those that triggers wrote. */
static int add_rows(bloom_vtab *vtab, sqlite3_stmt *row){
  bloom_vtab_unmerged *unmerged = &vtab->unmerged;
  bloom_hash_set *set = &unmerged->hashes;
  bloom_combined_hashes hashes;
  int has_marks = 1, j, rc;
  while( (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    const size_t i = unmerged->num_rows;
    const sqlite3_int64 last = i>0 ? unmerged->lowest_rowid + (sqlite3_int64)i - 1 : 0;
    if( !is_next(vtab, row, i==0, last, i>0 ? unmerged->rows[i-1].mark : 0) ) return SQLITE_EMPTY;
    if( i==0 ) unmerged->lowest_rowid = sqlite3_column_int64(row, ROWID);
    /* An r whose own bits are 0, or that is no INTEGER, does not tell its row from others. */
    has_marks &= sqlite3_column_type(row, MARK)==SQLITE_INTEGER
      && (!vtab->layout.has_chain || (uint64_t)sqlite3_column_int64(row, MARK) >> LINK_BITS);
    rc = BLOOM_GROW(unmerged->rows, i, unmerged->max_rows);
    if( rc==SQLITE_OK ){
      rc = bloom_vtab_hashes_of_row(&vtab->layout.rules, NULL, row, FIRST_KEY_COLUMN, &hashes);
    }
    for(j=0; rc==SQLITE_OK && j<hashes.num_hashes; j++){
      const size_t num_hashes = set->num_hashes;
      rc = BLOOM_GROW(unmerged->order, num_hashes, unmerged->max_order);
      if( rc==SQLITE_OK ) rc = hash_set_add(set, hashes.hashes[j]);
      if( set->num_hashes>num_hashes ) unmerged->order[num_hashes] = hashes.hashes[j];
    }
    if( rc!=SQLITE_OK ) return rc;
    unmerged->rows[i] = (bloom_vtab_journal_row){sqlite3_column_int64(row, MARK), set->num_hashes};
    unmerged->num_rows++;
  }
  if( rc!=SQLITE_DONE ) return rc;
  if( unmerged->num_rows==0 ) return SQLITE_EMPTY;
  /* Behind the largest rowid SQLite chooses rowids at random. */
  unmerged->is_known = has_marks
    && unmerged->lowest_rowid<=INT64_MAX - (sqlite3_int64)unmerged->num_rows;
  return SQLITE_OK;
}

/* Finds the last row in memory that the journal has, and forgets those behind it.  Sets *row to the
** statement that has read it, and reads those behind it next, to be reset.  SQLITE_NOTFOUND if
** there is none, or if rows before it may not be in memory or in the pages. */
static int find_last_row(bloom_vtab *vtab, sqlite3_stmt **row){
  bloom_vtab_unmerged *unmerged = &vtab->unmerged;
  const uint64_t num_taken = vtab->layout.num_taken - unmerged->num_taken;
  const sqlite3_int64 lowest = unmerged->lowest_rowid;
  sqlite3_int64 last = lowest + (sqlite3_int64)unmerged->num_rows - 1;
  size_t number;
  int rc;
  assert( unmerged->is_known && unmerged->num_rows>0 );
  /* Where merges took fewer rows by now than when rows[0] was the journal's first, rows before it
  ** are back.  Where they took many more, the pages have most of what is in memory. */
  if( vtab->layout.journal_mark!=unmerged->rows[0].mark
      && (unmerged->num_taken==0 || vtab->layout.num_taken<unmerged->num_taken
          || 4 * num_taken>3 * unmerged->num_rows + FEW_ROWS) ) return SQLITE_NOTFOUND;
  rc = find_rows(vtab, last, row);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, *row);
  if( rc==SQLITE_DONE ){
    /* A ROLLBACK took it: is the journal's last row in memory? */
    sqlite3_reset(*row);
    rc = bloom_sql_integer(vtab->connection, &last, "SELECT rowid FROM \"%w\".\"%w_new\""
                           " ORDER BY rowid DESC LIMIT 1", vtab->schema, vtab->name);
    if( rc==SQLITE_OK ) rc = find_rows(vtab, last, row);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, *row);
  }
  if( rc!=SQLITE_ROW ) return rc==SQLITE_DONE ? SQLITE_NOTFOUND : rc;
  number = (size_t)((uint64_t)last - (uint64_t)lowest);
  if( number>=unmerged->num_rows || sqlite3_column_int64(*row, ROWID)!=last
      || sqlite3_column_int64(*row, MARK)!=unmerged->rows[number].mark ) return SQLITE_NOTFOUND;
  assert( unmerged->rows[number].num_hashes<=unmerged->hashes.num_hashes );
  unmerged->num_rows = number + 1;
  while( unmerged->hashes.num_hashes>unmerged->rows[number].num_hashes ){
    hash_set_remove(&unmerged->hashes, unmerged->order[unmerged->hashes.num_hashes - 1]);
  }
  return SQLITE_OK;
}

int bloom_vtab_read_journal(bloom_vtab *vtab, int *is_intact){
  sqlite3_stmt *row = NULL;
  int rc = vtab->unmerged.is_known ? find_last_row(vtab, &row) : SQLITE_NOTFOUND;
  assert( vtab->args.table && vtab->has_layout );
  if( rc==SQLITE_NOTFOUND ){ /* all rows are read */
    sqlite3_reset(row);
    forget_journal(vtab);
    vtab->unmerged.num_taken = vtab->layout.num_taken;
    rc = find_rows(vtab, INT64_MIN, &row);
  }
  if( rc==SQLITE_OK ) rc = add_rows(vtab, row);
  sqlite3_reset(row);
  assert( rc!=SQLITE_NOTFOUND );
  assert( rc!=SQLITE_OK || (vtab->unmerged.num_rows>0
      && vtab->unmerged.rows[vtab->unmerged.num_rows-1].num_hashes
         ==vtab->unmerged.hashes.num_hashes) );
  *is_intact = rc==SQLITE_OK;
  if( rc!=SQLITE_OK ) forget_journal(vtab);
  return rc==SQLITE_EMPTY ? SQLITE_OK : rc;
}

/* -- Merging ----------------------------------------------------------------------------------- */

/* Rowids have no gaps: rows are appended, and taken from the head or the end.  So the first and the
** last rowid tell. */
int bloom_vtab_count_unmerged(bloom_vtab *vtab, sqlite3_int64 *num_rows){
  return bloom_sql_integer(vtab->connection, num_rows,
    "SELECT (SELECT max(rowid) FROM \"%w\".\"%w_new\")"
    " - (SELECT min(rowid) FROM \"%w\".\"%w_new\")", vtab->schema, vtab->name, vtab->schema,
    vtab->name);
}

/* Deletes rows, and puts a new first one at rowid, in place of the one with the r `replaced`; 0:
** there is none.  Both statements are compiled before one runs: else an authorizer that refuses the
** second would leave a journal that is not the layout's. */
static int cut_journal(bloom_vtab *vtab, const char *where, sqlite3_int64 rowid,
                       sqlite3_int64 replaced, bloom_vtab_layout *layout){
  sqlite3_stmt *cut, *put = NULL;
  int rc = bloom_sql_prepare(vtab->connection, &cut, "DELETE FROM \"%w\".\"%w_new\"%s",
                             vtab->schema, vtab->name, where);
  assert( vtab->args.table && layout->num_layers==1 );
  sqlite3_randomness(sizeof(layout->journal_mark), &layout->journal_mark);
  if( layout->has_chain && replaced!=0 ){
    layout->journal_mark = (sqlite3_int64)(((uint64_t)layout->journal_mark & LINK_MASK)
                                           | ((uint64_t)replaced & ~LINK_MASK));
  }
  if( rc==SQLITE_OK ){
    rc = bloom_sql_prepare(vtab->connection, &put,
                           "INSERT OR REPLACE INTO \"%w\".\"%w_new\"(rowid, r) VALUES (?1, %lld)",
                           vtab->schema, vtab->name, layout->journal_mark);
  }
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(put, 1, rowid);
  if( rc==SQLITE_OK && where[0] ) rc = sqlite3_bind_int64(cut, 1, rowid);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, cut);
  rc = bloom_sql_end(cut, rc);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(vtab->connection, put);
  return bloom_sql_end(put, rc);
}

int bloom_vtab_empty_journal(bloom_vtab *vtab, bloom_vtab_layout *layout){
  layout->num_taken = 1;
  return cut_journal(vtab, "", 1, 0, layout);
}

int bloom_vtab_take_unmerged(bloom_vtab *vtab, sqlite3_int64 max_rows, bloom_vtab_batch *batch){
  sqlite3_int64 last = 0, mark = 0, num_rows = 0; /* the first row counts, too */
  bloom_vtab_layout *layout = batch->layout;
  sqlite3_stmt *row;
  int rc = find_rows(vtab, INT64_MIN, &row);
  assert( batch->vtab==vtab && layout->num_layers==1 && max_rows>=0 );
  while( rc==SQLITE_OK && (max_rows==0 || num_rows<=max_rows)
         && (rc = bloom_sql_step(vtab->connection, row))==SQLITE_ROW ){
    const sqlite3_int64 rowid = sqlite3_column_int64(row, ROWID);
    rc = is_next(vtab, row, num_rows==0, last, mark)
      ? bloom_vtab_batch_add(batch, row, FIRST_KEY_COLUMN) : SQLITE_EMPTY;
    num_rows++;
    last = rowid;
    mark = sqlite3_column_int64(row, MARK);
  }
  if( rc==SQLITE_DONE ) rc = num_rows>0 ? SQLITE_OK : SQLITE_EMPTY;
  if( rc!=SQLITE_EMPTY ) bloom_vtab_failure(vtab, rc); /* before the reset forgets why */
  sqlite3_reset(row);
  if( rc==SQLITE_OK ) rc = bloom_vtab_batch_finish(batch);
  if( rc!=SQLITE_OK || num_rows==1 ) return rc;
  assert( batch->num_hashes[0]==0 && batch->num_hashes[1]==0 ); /* the pages have them all */
  batch->has_written = 1;
  /* SQLite finds no rowid behind the largest. */
  if( max_rows==0 && last==INT64_MAX ) return bloom_vtab_empty_journal(vtab, layout);
  if( layout->num_taken>0 ) layout->num_taken += (uint64_t)num_rows - 1;
  return cut_journal(vtab, max_rows==0 ? "" : " WHERE rowid < ?1", last, mark, layout);
}
