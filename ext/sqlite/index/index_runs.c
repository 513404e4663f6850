/*
** Runs: rows of NAME_entriesN, read and written.
**
** NAME_entriesN(data BLOB) has the runs of all generations of column N.  The rowid of a row is
** slot << 56 | id of its last list, and so the first row at or behind slot << 56 | id has the list
** with this id, if the run has one.  Each row also knows the last list of the row before it: a row
** that is missing is damage, not an absent token.  (VACUUM keeps rowids of tables with an index,
** and an empty one is enough: index_tables.c.  Where one is lost all the same, checksums fail.)
*/
#include "index_entries.h"

#include <string.h>

static sqlite3_int64 run_rowid(uint32_t slot, uint64_t id){
  return (sqlite3_int64)bloom_entries_rowid(slot, id);
}

/* -- Reading -------------------------------------------------------------------------------- */

/* Reads the row of a run that has the first list at or behind wanted, which is no higher than the
** run's last one. */
static int run_load(index_run_reader *reader, const index_run *run, uint64_t wanted){
  bloom_index *index = reader->index;
  sqlite3_stmt *row;
  int rc = bloom_index_fixed_take(index, INDEX_FIXED_ENTRIES + reader->key, &row,
                                  "SELECT e.rowid, e.data FROM \"%w\".\"%w_entries%d\" AS e"
                                  " WHERE e.rowid >= ?1 ORDER BY e.rowid LIMIT 1", index->schema,
                                  index->name, reader->key + 1);
  reader->run = NULL;
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(row, 1, run_rowid(run->slot, wanted));
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW ){
    const uint64_t rowid = (uint64_t)sqlite3_column_int64(row, 0);
    const void *bytes = sqlite3_column_blob(row, 1);
    const size_t num_bytes = (size_t)sqlite3_column_bytes(row, 1);
    rc = SQLITE_CORRUPT_VTAB;
    if( bytes && num_bytes<=sizeof(reader->bytes) && rowid>>BLOOM_ENTRIES_ID_BITS==run->slot ){
      memcpy(reader->bytes, bytes, num_bytes);
      if( bloom_entries_open(&reader->row, reader->bytes, num_bytes, run->number, rowid) ){
        const uint64_t before = reader->row.before;
        if( (before==BLOOM_ENTRIES_NO_ID || before<wanted) && reader->row.last<=run->last
           && reader->row.shape.end_block==run->end_block ){
          reader->run = run;
          rc = SQLITE_OK;
        }
      }
    }
  }else if( rc==SQLITE_DONE || rc==SQLITE_ERROR ){
    rc = SQLITE_CORRUPT_VTAB;
  }
  bloom_index_fixed_give_back(index, INDEX_FIXED_ENTRIES + reader->key);
  return rc;
}

int bloom_index_run_seek(index_run_reader *reader, const index_run *run, uint64_t wanted,
                         int *is_found){
  *is_found = 0;
  if( run->last==UINT64_MAX || wanted>run->last ) return SQLITE_OK;
  if( reader->run!=run || reader->row.num_blocks==0 || wanted<reader->row.id
     || wanted>reader->row.last ){
    const int rc = run_load(reader, run, wanted);
    if( rc!=SQLITE_OK ) return rc;
  }
  *is_found = bloom_entries_seek(&reader->row, wanted)==1;
  return *is_found ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
}

int bloom_index_run_next(index_run_reader *reader, int *is_found){
  const index_run *run = reader->run;
  const int found = bloom_entries_next(&reader->row);
  *is_found = found==1;
  if( found<0 ) return SQLITE_CORRUPT_VTAB;
  if( found==1 || reader->row.last==run->last ) return SQLITE_OK;
  return bloom_index_run_seek(reader, run, reader->row.last + 1, is_found);
}

int bloom_index_run_blocks(index_run_reader *reader, uint16_t *blocks, uint32_t *num_blocks){
  const int num_read = bloom_entries_read(&reader->row, blocks);
  *num_blocks = num_read>0 ? (uint32_t)num_read : 0;
  return num_read>0 ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
}

uint64_t bloom_index_run_first(const index_key_layout *key, const index_run *run){
  const uint32_t num_segments = bloom_entries_num_segments(run->end_block);
  uint32_t i;
  if( run->role!=INDEX_RUN_SOURCE ) return 0;
  for(i=0; i<key->num_runs; i++){
    const index_run *target = &key->runs[i];
    if( target->role==INDEX_RUN_TARGET && target->last!=UINT64_MAX ){
      const uint32_t num_of_target = bloom_entries_num_segments(target->end_block);
      const uint64_t next = target->last + 1, segment = next%num_of_target;
      return next/num_of_target*num_segments + (segment<num_segments ? segment : num_segments);
    }
  }
  return 0;
}

int bloom_index_runs_check(bloom_index *index, const index_layout *layout){
  index_run_reader *reader = sqlite3_malloc64(sizeof(*reader));
  int i, key, is_found, rc = reader ? SQLITE_OK : SQLITE_NOMEM;
  uint32_t j;
  for(i=0; i<layout->num_generations; i++){
    for(key=0; key<index->config.num_keys; key++){
      const index_key_layout *of_key = &layout->generations[i].keys[key];
      for(j=0; j<of_key->num_runs && rc==SQLITE_OK; j++){
        /* A source that the target has all of has no rows any more. */
        if( bloom_index_run_first(of_key, &of_key->runs[j])>of_key->runs[j].last ) continue;
        reader->index = index;
        reader->key = key;
        reader->run = NULL;
        rc = bloom_index_run_seek(reader, &of_key->runs[j], of_key->runs[j].last, &is_found);
      }
    }
  }
  sqlite3_free(reader);
  return rc;
}

/* -- Writing -------------------------------------------------------------------------------- */

int bloom_index_run_delete(bloom_index *index, int key, uint32_t slot, uint64_t first,
                           uint64_t last){
  return bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_entries%d\" WHERE rowid BETWEEN"
                       " %lld AND %lld", index->schema, index->name, key + 1,
                       run_rowid(slot, first), run_rowid(slot, last));
}

int bloom_index_run_add(bloom_index *index, const index_layout *layout,
                        index_generation *generation, int key, uint32_t end_block,
                        const index_garbage *garbage, index_run **run){
  index_key_layout *of_key = &generation->keys[key];
  uint64_t used[2] = {garbage->slots[0], garbage->slots[1]};
  uint32_t slot = 0, j;
  int i;
  *run = NULL;
  if( of_key->num_runs==INDEX_ROOM_RUNS ) return SQLITE_CORRUPT_VTAB;
  for(i=0; i<layout->num_generations; i++){
    const index_key_layout *other = &layout->generations[i].keys[key];
    for(j=0; j<other->num_runs; j++){
      used[other->runs[j].slot/64] |= (uint64_t)1 << other->runs[j].slot%64;
    }
  }
  while( slot<INDEX_NUM_SLOTS && used[slot/64] >> slot%64 & 1 ) slot++;
  if( slot==INDEX_NUM_SLOTS ) return SQLITE_FULL;
  *run = &of_key->runs[of_key->num_runs++];
  **run = (index_run){.last = UINT64_MAX, .end_block = end_block, .slot = slot, .is_new = 1};
  sqlite3_randomness(sizeof((*run)->number), &(*run)->number);
  /* What a merge left there that failed. */
  return bloom_index_run_delete(index, key, slot, 0, ((uint64_t)1 << BLOOM_ENTRIES_ID_BITS) - 1);
}

void bloom_index_run_start(index_run_writer *writer, bloom_index *index, int key, index_run *run,
                           uint64_t mean_gap){
  writer->index = index;
  writer->key = key;
  writer->run = run;
  writer->insert = NULL;
  bloom_entries_writer_begin(&writer->entries, run->end_block, run->last, mean_gap);
}

/* Writes the row at hand. */
static int run_write_row(index_run_writer *writer){
  bloom_index *index = writer->index;
  uint64_t rowid;
  const size_t num_bytes = bloom_entries_writer_finish(&writer->entries, writer->run->number,
                                                       writer->run->slot, writer->bytes, &rowid);
  int rc = SQLITE_OK;
  if( writer->insert==NULL ){
    rc = bloom_sql_prepare(index->connection, &writer->insert, "INSERT INTO"
                           " \"%w\".\"%w_entries%d\"(rowid, data) VALUES (?1, ?2)", index->schema,
                           index->name, writer->key + 1);
  }
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(writer->insert, 1, (sqlite3_int64)rowid);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob(writer->insert, 2, writer->bytes, (int)num_bytes,
                                             SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, writer->insert);
  if( rc==SQLITE_DONE ) rc = sqlite3_reset(writer->insert);
  writer->run->last = rowid & BLOOM_ENTRIES_ID_MASK;
  writer->run->num_rows++;
  return rc;
}

int bloom_index_run_write(index_run_writer *writer, uint64_t id, const uint16_t *blocks,
                          uint32_t num_blocks, int *is_row){
  *is_row = !bloom_entries_writer_add(&writer->entries, id, blocks, num_blocks);
  if( *is_row ){
    const int rc = run_write_row(writer);
    if( rc!=SQLITE_OK ) return rc;
    bloom_entries_writer_add(&writer->entries, id, blocks, num_blocks);
  }
  return SQLITE_OK;
}

int bloom_index_run_end(index_run_writer *writer, int is_full_only, int rc){
  if( rc==SQLITE_OK && !is_full_only && writer->entries.num_lists>0 ){
    rc = run_write_row(writer);
  }
  sqlite3_finalize(writer->insert);
  writer->insert = NULL;
  return rc;
}
