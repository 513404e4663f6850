/*
** Combining the hashes of values.
*/
#include "keys.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/debug.h"
#include "../../core/parquet/parquet.h"
#include "../../core/tuple.h"
#include "../key.h"
#include "sql.h"

/* One unit is a factor of 2 in the hashes to store a key by.  A number has up to 2 hashes in a
** column of numbers, one unit, and up to 4 in one that can hold TEXT, two units. */
#define MAX_EXACT_UNITS 6

/* A larger INTEGER in a tuple may have been a REAL, whose text is another. */
#define MAX_PLAIN_INTEGER 1000000000000

/* The most hashes that a key is stored by: those of all units. */
#define MAX_STORED (1 << MAX_EXACT_UNITS)

static bloom_hash_value hash_of_two(bloom_hash_value first, bloom_hash_value second){
  uint8_t bytes[16];
  bloom_store64_le(bytes, first);
  bloom_store64_le(bytes + 8, second);
  return bloom_xxh64(bytes, sizeof(bytes));
}

static void add_hashes(bloom_key_hashes *part, const bloom_key_hashes *hashes){
  int i;
  part->is_maybe |= hashes->is_maybe;
  for(i=0; i<hashes->num_hashes; i++) bloom_push_hash(part, hashes->hashes[i]);
}

/* Combines each combination so far with each hash of a part.  If they are more than max_hashes,
** keeps none, and the key may be there. */
static void combine(bloom_combined_hashes *hashes, const bloom_key_hashes *part, int max_hashes){
  const int num_before = hashes->num_hashes;
  int i, j;
  assert( part->num_hashes>0 && max_hashes<=BLOOM_MAX_QUERY_HASHES );
  hashes->num_hashes = num_before * part->num_hashes;
  if( hashes->num_hashes>max_hashes ){
    hashes->num_hashes = 0;
    hashes->is_maybe = 1;
    return;
  }
  for(i=part->num_hashes-1; i>=0; i--){
    for(j=0; j<num_before; j++){
      hashes->hashes[i*num_before + j] = hash_of_two(hashes->hashes[j], part->hashes[i]);
    }
  }
}

/* Adds the hashes of a value to *part, and those of its cells to *cells, which may be NULL. */
static int hash_value(sqlite3 *db, bloom_equality rule, sqlite3_value *value, bloom_hash_use use,
                      bloom_key_hashes *part, bloom_key_hashes *cells){
  bloom_key_hashes hashes;
  int rc = bloom_hashes_of_value(db, rule, value, use, &hashes);
  if( rc==SQLITE_OK ) add_hashes(part, &hashes);
  if( rc!=SQLITE_OK || cells==NULL ) return rc;
  rc = bloom_cell_hashes(value, use>=BLOOM_TO_LOOK_FOR, &hashes);
  if( rc==SQLITE_OK ) add_hashes(cells, &hashes);
  return rc;
}

/* Hashes a value of a tuple.  A plain one, which has one hash whatever its column, takes a fifth of
** the time of SELECT ?1; that reads the others, an INTEGER also as the REAL that it may have been.
** It must not read a plain TEXT: in a UTF-16 database SQLite makes U+FFFD of surrogates, and some
** versions of U+FFFE.  SQLITE_EMPTY where SQL cannot run now. */
static int hash_read_value(bloom_tuple_reader *reader, bloom_equality rule, bloom_tuple_value value,
                           bloom_key_hashes *part, bloom_key_hashes *cells){
  bloom_key_hashes plain = {.num_hashes = 0};
  int rc = SQLITE_OK;
  if( value.tag==BLOOM_TUPLE_TEXT ){
    rc = bloom_plain_text_hash(rule, value.bytes, value.num_bytes, &plain);
  }else if( value.tag==BLOOM_TUPLE_BLOB ){
    plain.hashes[plain.num_hashes++] = bloom_xxh64(value.bytes, value.num_bytes);
  }else if( value.tag==BLOOM_TUPLE_INTEGER
            && value.integer<=MAX_PLAIN_INTEGER && value.integer>=-MAX_PLAIN_INTEGER
            && (rule.kind==BLOOM_COLUMN_NUMBER
                || !bloom_db_has_few_digits(reader->connection->db)) ){
    plain.hashes[plain.num_hashes++] = bloom_parquet_hash_int64(value.integer);
  }
  assert( plain.num_hashes<=1 );
  add_hashes(part, &plain);
  if( rc!=SQLITE_OK || (plain.num_hashes>0 && cells==NULL) ) return rc;
  assert( value.tag!=BLOOM_TUPLE_BLOB ); /* BLOBs are plain, and have no cells */
  if( reader->connection->is_running ) return SQLITE_EMPTY;
  if( reader->row==NULL ) rc = bloom_sql_prepare(reader->connection, &reader->row, "SELECT ?1");
  while( rc==SQLITE_OK ){
    sqlite3_stmt *row = reader->row;
    if( value.tag==BLOOM_TUPLE_INTEGER ) rc = sqlite3_bind_int64(row, 1, value.integer);
    else if( value.tag==BLOOM_TUPLE_REAL ) rc = sqlite3_bind_double(row, 1, value.real);
    else rc = sqlite3_bind_text(row, 1, (const char *)value.bytes, (int)value.num_bytes,
                                SQLITE_STATIC);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(reader->connection, row);
    if( rc==SQLITE_ROW ){
      rc = hash_value(reader->connection->db, rule, sqlite3_column_value(row, 0),
                      BLOOM_TO_LOOK_FOR, part, cells);
    }
    sqlite3_reset(row);
    if( value.tag!=BLOOM_TUPLE_INTEGER ) break;
    value.tag = BLOOM_TUPLE_REAL;
    value.real = (double)value.integer;
  }
  return rc;
}

/* Combines the hashes of all columns' values: parts, or, where that is NULL, a tuple's bytes, to
** look for it. */
static int hash_columns(const bloom_key_rules *rules, bloom_tuple_reader *reader,
                        sqlite3_value **parts, const uint8_t *bytes, const uint8_t *end,
                        bloom_combined_hashes *hashes){
  const int is_query = reader!=NULL;
  const int max_hashes = is_query ? BLOOM_MAX_QUERY_HASHES : MAX_STORED;
  bloom_tuple_value value;
  int i, num_units = 0;
  assert( parts || (is_query && bytes) );
  hashes->num_hashes = 1;
  hashes->hashes[0] = hashes->first = 0;
  for(i=0; i<rules->num_columns; i++){
    const bloom_equality rule = rules->columns[i];
    bloom_key_hashes part, cells, *wanted = NULL;
    int is_number, is_limited, rc = SQLITE_OK;
    part.num_hashes = part.is_maybe = cells.num_hashes = cells.is_maybe = 0;
    if( parts ){
      rc = bloom_may_equal_number(parts[i], &is_number);
    }else{
      bloom_tuple_read(&bytes, end, &value);
      is_number = value.tag==BLOOM_TUPLE_INTEGER || value.tag==BLOOM_TUPLE_REAL
        || (value.tag==BLOOM_TUPLE_TEXT
            && bloom_bytes_may_equal_number(value.bytes, value.num_bytes));
    }
    if( rc!=SQLITE_OK ) return rc;
    is_limited = rules->num_columns>BLOOM_MAX_SURE_COLUMNS && is_number;
    if( is_limited ){
      num_units += rule.kind==BLOOM_COLUMN_NUMBER ? 1 : 2;
      if( num_units>MAX_EXACT_UNITS ) wanted = &cells;
    }
    if( parts==NULL ){
      rc = hash_read_value(reader, rule, value, &part, wanted);
    }else if( is_query ){
      rc = hash_value(reader->connection->db, rule, parts[i], BLOOM_TO_LOOK_FOR, &part, wanted);
    }else{
      /* A TEXT in a column of numbers, such as '9007199254740993' with a NUL, would have a third
      ** hash, that of its text, where one unit allows 2. */
      rc = hash_value(NULL, rule, parts[i], is_limited && !wanted && rule.kind==BLOOM_COLUMN_NUMBER
                      ? BLOOM_TO_STORE_NUMBER : BLOOM_TO_STORE, &part, wanted);
    }
    if( rc!=SQLITE_OK ) return rc;
    /* No value is NULL.  What is no number has one hash, a number as many as its units at most. */
    assert( part.num_hashes>0 && (is_number || part.num_hashes==1) );
    assert( is_query || wanted
            || part.num_hashes<=(is_limited && rule.kind==BLOOM_COLUMN_NUMBER ? 2 : 4) );
    hashes->is_maybe |= part.is_maybe;
    hashes->first = hash_of_two(hashes->first, part.hashes[0]);
    combine(hashes, wanted ? wanted : &part, max_hashes);
  }
  assert( is_query || (hashes->num_hashes>0 && !hashes->is_maybe) );
  assert( parts || bytes==end );
  return SQLITE_OK;
}

int bloom_hashes_of_key(const bloom_key_rules *rules, bloom_tuple_reader *reader,
                        bloom_key_values key, bloom_combined_hashes *hashes){
  const uint8_t *bytes = NULL;
  size_t num_bytes;
  int rc;
  assert( rules->num_columns>=0 && rules->num_columns<=BLOOM_MAX_KEY_COLUMNS );
  hashes->num_hashes = hashes->is_maybe = hashes->is_invalid = 0;
  if( rules->num_columns<2 ){
    bloom_equality rule = {BLOOM_COLUMN_NONE, BLOOM_COLLATION_BINARY};
    bloom_key_hashes few = {.num_hashes = 0};
    if( rules->num_columns==1 ) rule = rules->columns[0];
    rc = bloom_hashes_of_value(reader ? reader->connection->db : NULL, rule, key.value,
                               reader ? BLOOM_TO_LOOK_FOR : BLOOM_TO_STORE, &few);
    if( rc!=SQLITE_OK ) return rc;
    hashes->is_maybe = few.is_maybe;
    hashes->num_hashes = few.num_hashes;
    hashes->first = few.hashes[0];
    assert( reader || !hashes->is_maybe );
    memcpy(hashes->hashes, few.hashes, (size_t)few.num_hashes * sizeof(few.hashes[0]));
    return SQLITE_OK;
  }
  if( key.parts ){
    int i;
    for(i=0; i<rules->num_columns; i++){
      if( sqlite3_value_type(key.parts[i])==SQLITE_NULL ) return SQLITE_OK;
    }
    return hash_columns(rules, reader, key.parts, NULL, NULL, hashes);
  }
  assert( reader!=NULL );
  if( sqlite3_value_type(key.value)==SQLITE_NULL ) return SQLITE_OK;
  if( sqlite3_value_type(key.value)==SQLITE_BLOB ) bytes = sqlite3_value_blob(key.value);
  num_bytes = bytes ? (size_t)sqlite3_value_bytes(key.value) : 0;
  hashes->is_invalid = hashes->is_maybe =
    bloom_tuple_num_values(bytes, num_bytes)!=rules->num_columns;
  if( hashes->is_invalid ) return SQLITE_OK;
  rc = hash_columns(rules, reader, NULL, bytes, bytes + num_bytes, hashes);
  if( rc!=SQLITE_EMPTY ) return rc;
  hashes->is_maybe = 1;
  hashes->num_hashes = 0;
  hashes->first = bloom_xxh64(bytes, num_bytes);
  return SQLITE_OK;
}
