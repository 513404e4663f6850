/*
** Making zones, and looking whether each row is in its zone.
*/
#include "index_zones.h"

struct index_zone_merge {
  bloom_index *index;
  int key;
  sqlite3_stmt *write;
  index_zone_row directory, row;
  uint32_t entry;             /* which of the directory's entries is about row */
  int is_open;                /* builder has the last zone */
  int is_resumed;             /* the last zone was in its row before, with fewer rows */
  bloom_zone_builder builder, of_row;
};

/* Writes a row that is there as a BLOB: no trigger or authorizer keeps old zones in its place. */
static int zones_write(index_zone_merge *merge, index_zone_row *row){
  uint8_t bytes[BLOOM_STRIP_BYTES];
  index_reader writer;
  int rc;
  if( !row->is_changed ) return SQLITE_OK;
  bloom_index_zone_row_print(row, bytes);
  bloom_index_reader_start(&writer, merge->index, merge->key, 1);
  rc = bloom_index_blocks_write(&writer, row->number, bytes);
  bloom_index_reader_close(&writer);
  if( rc==SQLITE_CORRUPT_VTAB ){
    rc = bloom_index_row_write(merge->index, merge->key, &merge->write, row->number, bytes,
                               sizeof(bytes));
  }
  if( rc==SQLITE_OK ) row->is_changed = 0;
  return rc;
}

/* Goes to another row, when the one at hand is written. */
static int zones_go(index_zone_merge *merge, index_zone_row *row, sqlite3_int64 number){
  index_reader reader;
  int rc;
  if( row->number==number ) return SQLITE_OK;
  rc = zones_write(merge, row);
  bloom_index_reader_start(&reader, merge->index, merge->key, 0);
  if( rc==SQLITE_OK ) rc = bloom_index_zone_row_read(&reader, number, row);
  bloom_index_reader_close(&reader);
  return rc;
}

static void zones_make(index_zone_row *row, sqlite3_int64 number, uint32_t key_bytes){
  row->number = number;
  row->is_changed = 1;
  row->num_zones = 0;
  row->rows_of_last = BLOOM_ZONE_ROWS;
  row->key_bytes = key_bytes;
  row->room = 0;
}

/* Makes a directory without rows.  How wide its keys are, its first row decides. */
static int zones_make_directory(index_zone_merge *merge, sqlite3_int64 number){
  zones_make(&merge->directory, number, BLOOM_ZONE_WIDE_BYTES);
  merge->directory.room = index_zone_room(BLOOM_ZONE_WIDE_BYTES);
  merge->entry = 0;
  return zones_write(merge, &merge->directory);
}

/* Goes to the zone that has an id, which is covered: *zone of merge->row. */
static int zones_seek(index_zone_merge *merge, sqlite3_int64 id, uint32_t *zone){
  index_zone_row *directory = &merge->directory;
  sqlite3_int64 number = directory->number ? directory->number : INDEX_FIRST_DIRECTORY;
  int rc;
  /* Mostly ids ascend, and what is behind the directory at hand comes next. */
  if( directory->number && id<=directory->last[0] ) number = INDEX_FIRST_DIRECTORY;
  rc = zones_go(merge, directory, number);
  while( rc==SQLITE_OK && bloom_index_zone_row_find(directory, id)==directory->num_zones ){
    if( directory->num_zones<directory->room ) return SQLITE_CORRUPT_VTAB;
    rc = zones_go(merge, directory, directory->number + 1 + directory->room);
  }
  if( rc!=SQLITE_OK ) return rc;
  merge->entry = bloom_index_zone_row_find(directory, id);
  rc = zones_go(merge, &merge->row, directory->number + 1 + merge->entry);
  if( rc!=SQLITE_OK ) return rc;
  *zone = bloom_index_zone_row_find(&merge->row, id);
  return *zone<merge->row.num_zones ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
}

int bloom_index_zones_reset(bloom_index *index, int key){
  index_zone_merge *merge;
  int rc = bloom_index_zones_start(index, key, &merge);
  if( rc==SQLITE_OK ) rc = zones_make_directory(merge, INDEX_FIRST_DIRECTORY);
  bloom_index_zones_free(merge);
  return rc;
}

int bloom_index_zones_start(bloom_index *index, int key, index_zone_merge **result){
  index_zone_merge *merge = sqlite3_malloc64(sizeof(*merge));
  *result = merge;
  if( merge==NULL ) return SQLITE_NOMEM;
  merge->index = index;
  merge->key = key;
  merge->write = NULL;
  merge->directory.number = merge->row.number = 0;
  merge->directory.is_changed = merge->row.is_changed = 0;
  merge->is_open = merge->is_resumed = 0;
  return bloom_index_learn_encoding(index);
}

void bloom_index_zones_free(index_zone_merge *merge){
  if( merge ) sqlite3_finalize(merge->write);
  sqlite3_free(merge);
}

int bloom_index_zones_widen(index_zone_merge *merge, sqlite3_int64 id, sqlite3_value *value){
  bloom_zone_span span;
  uint32_t zone = 0;
  int rc = bloom_index_zone_span_of(merge->index, merge->key, value, 1, &span);
  if( rc==SQLITE_OK ) rc = zones_seek(merge, id, &zone);
  if( rc!=SQLITE_OK ) return rc;
  merge->row.is_changed |= bloom_zone_widen(&merge->row.zones[zone], span);
  merge->directory.is_changed |= bloom_zone_widen(&merge->directory.zones[merge->entry], span);
  return rc;
}

/* Takes the zone that has the last covered row out of its row, to go on with it. */
static int zones_resume(index_zone_merge *merge, int has_covered, sqlite3_int64 covered){
  index_zone_row *row = &merge->row;
  uint32_t zone = 0;
  int rc;
  bloom_zone_start(&merge->builder);
  merge->is_open = 1;
  if( !has_covered ){
    rc = zones_go(merge, &merge->directory, INDEX_FIRST_DIRECTORY);
    merge->entry = merge->directory.num_zones = 0;
    if( rc==SQLITE_OK ) zones_make(row, INDEX_FIRST_DIRECTORY + 1, BLOOM_ZONE_NARROW_BYTES);
    row->rows_of_last = 0;
    return rc;
  }
  rc = zones_seek(merge, covered, &zone);
  if( rc!=SQLITE_OK ) return rc;
  /* What is behind is of a merge that stopped half-way. */
  if( zone + 1<row->num_zones ) row->rows_of_last = BLOOM_ZONE_ROWS;
  row->num_zones = zone;
  row->is_changed = 1;
  merge->directory.num_zones = merge->entry;
  merge->directory.is_changed = 1;
  bloom_zone_add_zone(&merge->builder, &row->zones[zone]);
  merge->is_resumed = 1;
  return SQLITE_OK;
}

/* Writes the row at hand, and makes the directory's entry for it. */
static int zones_end_row(index_zone_merge *merge){
  index_zone_row *row = &merge->row, *directory = &merge->directory;
  uint32_t i;
  bloom_zone_start(&merge->of_row);
  for(i=0; i<row->num_zones; i++) bloom_zone_add_zone(&merge->of_row, &row->zones[i]);
  if( merge->entry==0 ){
    directory->key_bytes = row->key_bytes;
    directory->room = index_zone_room(row->key_bytes);
  }
  directory->zones[merge->entry] = bloom_zone_finish(&merge->of_row);
  directory->last[merge->entry] = row->last[row->num_zones-1];
  directory->num_zones = merge->entry + 1;
  directory->is_changed = 1;
  row->is_changed = 1;
  return zones_write(merge, row);
}

/* Begins a row behind the one at hand, and a directory where that one is full, or its keys are
** shorter than those of the row. */
static int zones_next_row(index_zone_merge *merge, uint32_t key_bytes){
  index_zone_row *directory = &merge->directory;
  int rc = zones_end_row(merge);
  merge->entry++;
  if( directory->key_bytes<key_bytes && directory->room>merge->entry ){
    directory->room = merge->entry;
  }
  if( rc==SQLITE_OK && merge->entry>=directory->room ){
    rc = zones_write(merge, directory);
    if( rc==SQLITE_OK ) rc = zones_make_directory(merge, directory->number + 1 + directory->room);
  }
  zones_make(&merge->row, directory->number + 1 + merge->entry, key_bytes);
  return rc;
}

/* Puts the zone in the making behind those of its row, or in the next row where it needs more
** room.  One that was in the row stays, if with shorter keys: a merge that stops must not lose it.
** */
static int zones_put(index_zone_merge *merge, sqlite3_int64 last){
  index_zone_row *row = &merge->row;
  const bloom_zone zone = bloom_zone_finish(&merge->builder);
  const uint32_t rows_of_last = row->rows_of_last;
  uint32_t key_bytes = bloom_zone_key_bytes(&zone);
  int rc = SQLITE_OK;
  if( key_bytes<row->key_bytes ) key_bytes = row->key_bytes;
  if( row->num_zones>=index_zone_room(key_bytes) && merge->is_resumed ){
    key_bytes = row->key_bytes;
  }else if( row->num_zones>=index_zone_room(key_bytes) ){
    key_bytes = bloom_zone_key_bytes(&zone);
    rc = zones_next_row(merge, key_bytes);
  }
  if( rc!=SQLITE_OK ) return rc;
  row->key_bytes = key_bytes;
  row->zones[row->num_zones] = zone;
  row->last[row->num_zones++] = last;
  row->rows_of_last = rows_of_last;
  row->is_changed = 1;
  return SQLITE_OK;
}

int bloom_index_zones_add(index_zone_merge *merge, const index_layout *layout,
                          sqlite3_value *value){
  bloom_zone_span span;
  int rc = bloom_index_zone_span_of(merge->index, merge->key, value, 1, &span);
  if( rc==SQLITE_OK && !merge->is_open ){
    rc = zones_resume(merge, layout->has_covered, layout->covered);
  }
  if( rc==SQLITE_OK && merge->row.rows_of_last==BLOOM_ZONE_ROWS ){
    rc = zones_put(merge, layout->covered);
    bloom_zone_start(&merge->builder);
    merge->row.rows_of_last = 0;
    merge->is_resumed = 0;
  }
  if( rc!=SQLITE_OK ) return rc;
  bloom_zone_add(&merge->builder, span);
  merge->row.rows_of_last++;
  return SQLITE_OK;
}

int bloom_index_zones_finish(index_zone_merge *merge, const index_layout *layout){
  int rc = SQLITE_OK;
  if( merge->is_open ){
    rc = zones_put(merge, layout->covered);
    if( rc==SQLITE_OK ) rc = zones_end_row(merge);
  }
  if( rc==SQLITE_OK ) rc = zones_write(merge, &merge->row);
  return rc==SQLITE_OK ? zones_write(merge, &merge->directory) : rc;
}

/* -- Checking -------------------------------------------------------------------------------- */

int bloom_index_zones_check(bloom_index *index, int key, sqlite3_stmt *rows, sqlite3_int64 *id){
  index_zone_merge *merge;
  int is_found = 1, rc = bloom_index_zones_start(index, key, &merge);
  while( rc==SQLITE_OK && is_found && (rc = bloom_sql_step(index->connection, rows))==SQLITE_ROW ){
    bloom_zone_span span;
    uint32_t zone = 0;
    *id = sqlite3_column_int64(rows, 0);
    rc = bloom_index_zone_span_of(index, key, sqlite3_column_value(rows, key + 1), 0, &span);
    if( rc==SQLITE_OK ) rc = zones_seek(merge, *id, &zone);
    is_found = rc!=SQLITE_OK
        || (bloom_zone_has(&merge->row.zones[zone], &span)
            && bloom_zone_has(&merge->directory.zones[merge->entry], &span));
  }
  bloom_index_zones_free(merge);
  return is_found ? rc : SQLITE_NOTFOUND;
}
