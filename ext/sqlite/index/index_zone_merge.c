/*
** Widening zones, and looking whether values are in theirs.
*/
#include "index_zones.h"

#include <string.h>

/* A row at hand. */
typedef struct merge_zones {
  uint32_t number; /* UINT32_MAX: none is at hand */
  int is_changed;
  bloom_zone zones[BLOOM_ZONES_PER_ROW];
} merge_zones;

struct index_zone_merge {
  bloom_index *index;
  const index_generation *generation;
  int key;
  uint32_t num_directories; /* that are on disk */
  sqlite3_stmt *write;
  merge_zones directory, row;
};

int bloom_index_zones_start(bloom_index *index, const index_generation *generation, int key,
                            index_zone_merge **result){
  index_zone_merge *merge = sqlite3_malloc64(sizeof(*merge));
  *result = merge;
  if( merge==NULL ) return SQLITE_NOMEM;
  merge->index = index;
  merge->generation = generation;
  merge->key = key;
  merge->num_directories = bloom_index_zones_num_directories(generation);
  merge->write = NULL;
  merge->directory.number = merge->row.number = UINT32_MAX;
  merge->directory.is_changed = merge->row.is_changed = 0;
  return bloom_index_learn_encoding(index);
}

void bloom_index_zones_free(index_zone_merge *merge){
  if( merge ) sqlite3_finalize(merge->write);
  sqlite3_free(merge);
}

/* Compares a row with what is stored: a trigger on the table may have kept it out, and old zones
** lose rows. */
static int merge_compare_stored(const index_zone_merge *merge, sqlite3_int64 rowid,
                                const uint8_t *bytes, size_t num_bytes){
  bloom_index *index = merge->index;
  char *table = sqlite3_mprintf("%s_zones%d", index->name, merge->key + 1);
  uint8_t stored[BLOOM_ZONE_ROW_BYTES];
  sqlite3_blob *blob = NULL;
  int rc = table ? sqlite3_blob_open(index->connection->db, index->schema, table, "data", rowid, 0,
                                     &blob) : SQLITE_NOMEM;
  if( rc==SQLITE_OK && (size_t)sqlite3_blob_bytes(blob)!=num_bytes ) rc = SQLITE_ERROR;
  if( rc==SQLITE_OK ) rc = sqlite3_blob_read(blob, stored, (int)num_bytes, 0);
  if( rc==SQLITE_OK && memcmp(stored, bytes, num_bytes)!=0 ) rc = SQLITE_ERROR;
  if( rc==SQLITE_ERROR ){
    sqlite3_free(index->base.zErrMsg);
    index->base.zErrMsg = sqlite3_mprintf("bloom_index: a trigger on %s keeps its rows out: drop"
                                          " it",
                                          table);
  }
  sqlite3_blob_close(blob);
  sqlite3_free(table);
  return rc;
}

/* Writes a row, if it was changed. */
static int merge_write(index_zone_merge *merge, merge_zones *row, index_zone_level level){
  bloom_index *index = merge->index;
  const sqlite3_int64 rowid = bloom_index_zones_rowid(merge->generation->place, level,
                                                      row->number);
  uint8_t bytes[BLOOM_ZONE_ROW_BYTES];
  size_t num_bytes;
  int rc = SQLITE_OK;
  if( !row->is_changed ) return SQLITE_OK;
  num_bytes = bloom_zone_row_pack(row->zones, merge->generation->keys[merge->key].number,
                                  (uint64_t)rowid, bytes);
  if( merge->write==NULL ){
    rc = bloom_sql_prepare(index->connection, &merge->write,
                           "INSERT OR REPLACE INTO \"%w\".\"%w_zones%d\"(rowid, data) VALUES"
                           " (?1, ?2)", index->schema, index->name, merge->key + 1);
  }
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(merge->write, 1, rowid);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob(merge->write, 2, bytes, (int)num_bytes, SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, merge->write);
  if( rc==SQLITE_DONE ) rc = sqlite3_reset(merge->write);
  if( rc==SQLITE_OK ) rc = merge_compare_stored(merge, rowid, bytes, num_bytes);
  if( rc==SQLITE_OK ) row->is_changed = 0;
  return rc;
}

/* Writes the row at hand, and makes its entry of the directory. */
static int merge_leave_row(index_zone_merge *merge){
  merge_zones *row = &merge->row;
  bloom_zone *entry = &merge->directory.zones[row->number & INDEX_ZONE_MASK];
  bloom_zone all = bloom_zone_empty();
  uint32_t i;
  if( !row->is_changed ) return SQLITE_OK;
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++) bloom_zone_unite(&all, &row->zones[i]);
  merge->directory.is_changed |= memcmp(entry, &all, sizeof(all))!=0;
  *entry = all;
  return merge_write(merge, row, INDEX_ZONES);
}

/* Goes to another row; has_row: it is on disk. */
static int merge_read(index_zone_merge *merge, merge_zones *row, index_zone_level level,
                      uint32_t number, int has_row){
  uint32_t i;
  int rc = SQLITE_OK;
  row->number = UINT32_MAX;
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++) row->zones[i] = bloom_zone_empty();
  if( has_row ) rc = bloom_index_zones_read(merge->index, merge->generation, merge->key, level,
                                            number, row->zones);
  if( rc==SQLITE_OK ) row->number = number;
  return rc;
}

/* Sets *zone to that of a block, and *entry to its row's in the directory; the row is at hand
** then. */
static int merge_go(index_zone_merge *merge, uint32_t block, bloom_zone **zone,
                    bloom_zone **entry){
  const uint32_t number = block >> merge->generation->zone_lg;
  const uint32_t row = number >> BLOOM_ZONES_LG, directory = row >> BLOOM_ZONES_LG;
  int rc = SQLITE_OK;
  *zone = &merge->row.zones[number & INDEX_ZONE_MASK];
  *entry = &merge->directory.zones[row & INDEX_ZONE_MASK];
  if( merge->row.number==row ) return SQLITE_OK;
  rc = merge_leave_row(merge);
  merge->row.number = UINT32_MAX;
  if( rc==SQLITE_OK && merge->directory.number!=directory ){
    rc = merge_write(merge, &merge->directory, INDEX_ZONE_DIRECTORY);
    if( rc==SQLITE_OK ) rc = merge_read(merge, &merge->directory, INDEX_ZONE_DIRECTORY, directory,
                                        directory<merge->num_directories);
    if( directory>=merge->num_directories ) merge->num_directories = directory + 1;
  }
  if( rc!=SQLITE_OK ) return rc;
  return merge_read(merge, &merge->row, INDEX_ZONES, row, bloom_zone_is_there(*entry));
}

int bloom_index_zones_add(index_zone_merge *merge, uint32_t block, sqlite3_value *value){
  bloom_zone_span span;
  bloom_zone *zone, *entry;
  int rc = bloom_index_zone_span_of(merge->index, merge->key, value, 1, &span);
  if( rc==SQLITE_OK ) rc = merge_go(merge, block, &zone, &entry);
  if( rc!=SQLITE_OK ) return rc;
  merge->row.is_changed |= bloom_zone_add(zone, span);
  /* A merge that stopped half-way wrote rows, and perhaps not the directory. */
  merge->row.is_changed |= !bloom_zone_has(entry, &span);
  return SQLITE_OK;
}

int bloom_index_zones_write(index_zone_merge *merge){
  const int rc = merge_leave_row(merge);
  return rc==SQLITE_OK ? merge_write(merge, &merge->directory, INDEX_ZONE_DIRECTORY) : rc;
}

int bloom_index_zones_delete(bloom_index *index, int key, uint32_t place){
  return bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_zones%d\" WHERE rowid BETWEEN"
                       " %lld AND %lld", index->schema, index->name, key + 1,
                       bloom_index_zones_rowid(place, INDEX_ZONES, 0),
                       bloom_index_zones_rowid(place, INDEX_ZONE_DIRECTORY, UINT32_MAX));
}

int bloom_index_zones_check(index_zone_merge *merge, uint32_t block, sqlite3_value *value,
                            int *is_found){
  bloom_zone_span span;
  bloom_zone *zone, *entry;
  int rc = bloom_index_zone_span_of(merge->index, merge->key, value, 0, &span);
  if( rc==SQLITE_OK ) rc = merge_go(merge, block, &zone, &entry);
  if( rc==SQLITE_OK ) *is_found = bloom_zone_has(zone, &span) && bloom_zone_has(entry, &span);
  return rc;
}
