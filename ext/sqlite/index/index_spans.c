/*
** The numbers of blocks.
**
** NAME_spans(data BLOB): row place * 2^20 + 1 + n/500 of a generation's place has the keys of spans
** 500 * (n/500) and up, 8 bytes each.  A span's key is id >> (shift + 10).  Spans are only added,
** and the layout has their number and a hash of their keys in order, so rows need no checksum, and
** what a merge that failed left behind the last one is not read.
*/
#include "index_entries.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/numeric.h"

#define SPANS_OF_PLACE ((sqlite3_int64)1 << 20)

uint64_t bloom_index_spans_hash(uint64_t number){
  return bloom_mix64(number);
}

static uint64_t spans_hash_next(uint64_t hash, sqlite3_int64 key){
  return bloom_mix64(hash ^ (uint64_t)key * BLOOM_GOLDEN_RATIO);
}

void bloom_index_spans_free(bloom_index *index){
  int i;
  for(i=0; i<INDEX_MAX_GENERATIONS; i++){
    if( index->spans[i] ){
      sqlite3_free(index->spans[i]->keys);
      sqlite3_free(index->spans[i]->by_key);
    }
    sqlite3_free(index->spans[i]);
    index->spans[i] = NULL;
  }
}

/* Returns the place in by_key[] of the first span whose key is `key` or more. */
static uint32_t spans_find(const index_spans *spans, sqlite3_int64 key){
  uint32_t first = 0, last = spans->num_spans;
  while( first<last ){
    const uint32_t middle = first + (last - first)/2;
    if( spans->keys[spans->by_key[middle]]<key ) first = middle + 1; else last = middle;
  }
  return first;
}

/* Appends a span.  SQLITE_CORRUPT_VTAB where its key is there. */
static int spans_append(index_spans *spans, sqlite3_int64 key){
  uint32_t at;
  if( spans->num_spans==spans->max_spans ){
    const uint32_t max_spans = 2*spans->max_spans + 64;
    sqlite3_int64 *keys = sqlite3_realloc64(spans->keys, max_spans * sizeof(*keys));
    uint32_t *by_key;
    if( keys==NULL ) return SQLITE_NOMEM;
    spans->keys = keys;
    by_key = sqlite3_realloc64(spans->by_key, max_spans * sizeof(*by_key));
    if( by_key==NULL ) return SQLITE_NOMEM;
    spans->by_key = by_key;
    spans->max_spans = max_spans;
  }
  at = spans_find(spans, key);
  if( at<spans->num_spans && spans->keys[spans->by_key[at]]==key ) return SQLITE_CORRUPT_VTAB;
  memmove(spans->by_key + at + 1, spans->by_key + at,
          (spans->num_spans - at) * sizeof(*spans->by_key));
  spans->by_key[at] = spans->num_spans;
  spans->keys[spans->num_spans++] = key;
  spans->hash = spans_hash_next(spans->hash, key);
  return SQLITE_OK;
}

/* Reads the rows of a generation's place. */
static int spans_read_rows(bloom_index *index, const index_generation *generation,
                           index_spans *spans){
  sqlite3_stmt *rows;
  const sqlite3_int64 first = generation->place*SPANS_OF_PLACE + 1;
  sqlite3_int64 number = first;
  int rc = bloom_index_statement_take(index, sqlite3_mprintf("SELECT s.rowid, s.data FROM"
                                      " \"%w\".\"%w_spans\" AS s WHERE s.rowid >= ?1 ORDER BY"
                                      " s.rowid", index->schema, index->name), &rows);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(rows, 1, first);
  while( rc==SQLITE_OK && spans->num_spans<generation->num_spans ){
    const uint8_t *bytes;
    size_t num_bytes, i;
    rc = bloom_sql_step(index->connection, rows);
    if( rc!=SQLITE_ROW ) break;
    rc = SQLITE_OK;
    bytes = sqlite3_column_blob(rows, 1);
    num_bytes = (size_t)sqlite3_column_bytes(rows, 1);
    if( bytes==NULL || sqlite3_column_int64(rows, 0)!=number++ ) break;
    for(i=0; i<num_bytes/8 && i<INDEX_SPANS_PER_ROW && spans->num_spans<generation->num_spans
        && rc==SQLITE_OK; i++){
      rc = spans_append(spans, (sqlite3_int64)bloom_load64_le(bytes + 8*i));
    }
    if( i<INDEX_SPANS_PER_ROW ) break;
  }
  bloom_index_statement_give_back(index, rows);
  if( rc!=SQLITE_OK && rc!=SQLITE_DONE ) return rc;
  return spans->num_spans==generation->num_spans && spans->hash==generation->spans_hash ? SQLITE_OK
      : SQLITE_CORRUPT_VTAB;
}

int bloom_index_spans_read(bloom_index *index, const index_layout *layout,
                           const index_generation *generation, index_spans **result){
  index_spans *spans = index->spans[generation->place];
  int rc;
  *result = NULL;
  if( spans==NULL ){
    spans = index->spans[generation->place] = sqlite3_malloc64(sizeof(*spans));
    if( spans==NULL ) return SQLITE_NOMEM;
    memset(spans, 0, sizeof(*spans));
    spans->hash = ~generation->spans_hash;
  }
  *result = spans;
  if( spans->hash==generation->spans_hash && spans->num_spans==generation->num_spans
     && spans->shift==generation->shift ) return SQLITE_OK;
  spans->place = generation->place;
  spans->shift = generation->shift;
  spans->num_spans = 0;
  spans->hash = bloom_index_spans_hash(layout->number + generation->place);
  rc = spans_read_rows(index, generation, spans);
  spans->num_written = spans->num_spans;
  if( rc!=SQLITE_OK ) spans->hash = ~generation->spans_hash; /* not to be taken for good */
  return rc;
}

int bloom_index_spans_add(index_spans *spans, sqlite3_int64 id, uint32_t *block){
  const sqlite3_int64 number = bloom_index_block_of(id, spans->shift);
  const sqlite3_int64 key = bloom_index_block_of(number, INDEX_SPAN_LG);
  uint32_t span, at = spans_find(spans, key);
  if( at<spans->num_spans && spans->keys[spans->by_key[at]]==key ){
    span = spans->by_key[at];
  }else{
    int rc;
    if( spans->num_spans==INDEX_MAX_SPANS ) return SQLITE_FULL;
    span = spans->num_spans;
    rc = spans_append(spans, key);
    if( rc!=SQLITE_OK ) return rc;
  }
  *block = span << INDEX_SPAN_LG | ((uint32_t)number & ((1u << INDEX_SPAN_LG) - 1));
  return SQLITE_OK;
}

int bloom_index_spans_write(bloom_index *index, index_spans *spans, index_generation *generation){
  uint32_t row = spans->num_written/INDEX_SPANS_PER_ROW, i;
  sqlite3_stmt *write = NULL;
  int rc = SQLITE_OK;
  generation->num_spans = spans->num_spans;
  generation->spans_hash = spans->hash;
  if( spans->num_written==spans->num_spans ) return SQLITE_OK;
  rc = bloom_sql_prepare(index->connection, &write, "INSERT OR REPLACE INTO \"%w\".\"%w_spans\""
                         "(rowid, data) VALUES (?1, ?2)", index->schema, index->name);
  for(; rc==SQLITE_OK && row*INDEX_SPANS_PER_ROW<spans->num_spans; row++){
    uint8_t bytes[8*INDEX_SPANS_PER_ROW];
    const uint32_t left = spans->num_spans - row*INDEX_SPANS_PER_ROW;
    const uint32_t num_keys = left<INDEX_SPANS_PER_ROW ? left : INDEX_SPANS_PER_ROW;
    for(i=0; i<num_keys; i++){
      bloom_store64_le(bytes + (size_t)8*i, (uint64_t)spans->keys[row*INDEX_SPANS_PER_ROW + i]);
    }
    sqlite3_bind_int64(write, 1, spans->place*SPANS_OF_PLACE + 1 + row);
    rc = sqlite3_bind_blob(write, 2, bytes, (int)(8*num_keys), SQLITE_TRANSIENT);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, write);
    if( rc==SQLITE_DONE ) rc = sqlite3_reset(write);
  }
  sqlite3_finalize(write);
  if( rc==SQLITE_OK ) spans->num_written = spans->num_spans;
  return rc;
}
