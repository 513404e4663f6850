/*
** Chooses, before the rows of a table are merged, the size of blocks (the shift of ids), the bits
** of keys' tokens, the lists of texts, and the size of zones.
**
** Rows at places that are spread over the ids are a sample: how many bytes has a row, and how many
** rows has a block, by each shift?  A block gets rows of three quarters of a page at least: smaller
** blocks have more entries, and no fewer pages to read.  If there are texts, blocks are twice as
** large, and larger while a list would have too many of them.
*/
#include "index_merge.h"
#include "index_source.h"

#include "../../core/entries/sample.h"

/* Places in the table, and rows that are read at each. */
#define SAMPLE_PLACES 64
#define SAMPLE_ROWS   256

/* Blocks of texts that are read to choose the shift; and then to choose lists: at most so many, and
** so many bytes of rows. */
#define SAMPLE_SHIFT_PLACES 64
#define SAMPLE_TEXT_PLACES  512
#define SAMPLE_TEXT_BYTES   4e6
_Static_assert(SAMPLE_TEXT_PLACES<BLOOM_LISTS_SAMPLE_BLOCKS, "a sample has room for them");

/* The least bytes of a block's rows; the least and the most if there are texts.  Tests have small
** blocks, so that small tables have many. */
#ifndef INDEX_BLOCK_BYTES
# define INDEX_BLOCK_BYTES 3072.0
#endif
#define SAMPLE_FEW_BLOCKS    40 /* with fewer blocks no texts are read */
#define TEXT_BLOCK_BYTES     (2*INDEX_BLOCK_BYTES)
#define TEXT_BLOCK_MAX_BYTES (12*INDEX_BLOCK_BYTES)
#define MAX_SHIFT       62

/* The least rows of a zone, on average; twice as many are the most, unless a block has more. */
#ifndef INDEX_ZONE_ROWS
# define INDEX_ZONE_ROWS 192.0
#endif

/* Blocks become larger while a gram's list has more than this share of them, on average. */
#define SAMPLE_MAX_DENSITY 0.06

/* What is known of the rows. */
typedef struct index_rows {
  sqlite3_int64 first, last;        /* ids of the table */
  double num_rows, bytes_per_row;   /* estimates */
  double per_block[MAX_SHIFT + 1];  /* rows of a block, by shift: estimates */
} index_rows;

/* Returns the id of place i of num_places that are spread over first .. last. */
static sqlite3_int64 sample_place(const index_rows *rows, uint32_t i, uint32_t num_places){
  const uint64_t range = (uint64_t)rows->last - (uint64_t)rows->first;
  assert( i<num_places );
  return (sqlite3_int64)((uint64_t)rows->first + range/num_places*i);
}

/* Returns about how many bytes a row takes in the table; the statement has its id, then all its
** columns. */
static double sample_row_bytes(sqlite3_stmt *row){
  double num_bytes = 8;
  int i;
  for(i=1; i<sqlite3_column_count(row); i++){
    switch( sqlite3_column_type(row, i) ){
      case SQLITE_INTEGER: num_bytes += 5; break;
      case SQLITE_FLOAT: num_bytes += 9; break;
      case SQLITE_NULL: num_bytes += 1; break;
      default: num_bytes += 2 + sqlite3_column_bytes(row, i);
    }
  }
  return num_bytes;
}

/* Reads SAMPLE_ROWS rows at each place, and estimates bytes_per_row and per_block[]. */
static int sample_rows(bloom_index *index, index_rows *rows){
  const char *id = index->columns.id_name;
  double num_blocks[MAX_SHIFT + 1] = {0}, num_bytes = 0, num_read = 0;
  sqlite3_int64 before = 0;
  sqlite3_stmt *row = NULL;
  uint32_t place, shift;
  int rc = bloom_sql_prepare(index->connection, &row, "SELECT x.\"%w\", x.* FROM " INDEX_SOURCE
                         " NOT INDEXED WHERE x.\"%w\" >= ?1 ORDER BY x.\"%w\" LIMIT %d", id,
                         index->schema, index->columns.name, id, id, SAMPLE_ROWS);
  for(place=0; place<SAMPLE_PLACES && rc==SQLITE_OK; place++){
    const sqlite3_int64 from = sample_place(rows, place, SAMPLE_PLACES);
    sqlite3_int64 first = 0, last = 0;
    double of_place = 0, distinct[MAX_SHIFT + 1];
    for(shift=0; shift<=MAX_SHIFT; shift++) distinct[shift] = 1; /* the first row's */
    if( place>0 && from<=before ) continue; /* there are few rows, and these were read */
    sqlite3_bind_int64(row, 1, from);
    while( (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
      const sqlite3_int64 this = sqlite3_column_int64(row, 0);
      uint64_t differ;
      if( of_place==0 ) first = last = this;
      /* Two rows are in different blocks if the shift leaves a bit in which their ids differ. */
      differ = (uint64_t)this ^ (uint64_t)last;
      for(shift=0; shift<=MAX_SHIFT && differ>0; shift++, differ>>=1) distinct[shift]++;
      last = this;
      of_place++;
      num_bytes += sample_row_bytes(row);
    }
    sqlite3_reset(row);
    if( rc!=SQLITE_DONE ) break;
    rc = SQLITE_OK;
    before = last;
    num_read += of_place;
    for(shift=0; shift<=MAX_SHIFT && of_place>0; shift++){
      /* If blocks have more rows than were read, their number follows from the ids' distance. */
      const double by_range = ((double)last - (double)first + 1) / (double)((uint64_t)1 << shift);
      num_blocks[shift] += distinct[shift]<4 && by_range<distinct[shift] && of_place==SAMPLE_ROWS
        ? by_range : distinct[shift];
    }
  }
  sqlite3_finalize(row);
  rows->bytes_per_row = num_read>0 ? num_bytes/num_read : 1;
  for(shift=0; shift<=MAX_SHIFT; shift++){
    rows->per_block[shift] = num_blocks[shift]>0 ? num_read/num_blocks[shift] : 1;
  }
  return rc;
}

/* -- Lists ----------------------------------------------------------------------------------- */

/* Adds a LIKE column's texts in one block at each place to a sample. */
static int sample_texts(bloom_index *index, const index_rows *rows, uint32_t shift, int key,
                        uint32_t num_places, bloom_lists_sample *sample){
  const int is_regexp = index_serves(&index->config.keys[key], INDEX_EXPRESSION);
  sqlite3_int64 block = 0;
  sqlite3_stmt *row = NULL;
  uint32_t place;
  int rc = bloom_index_source_rows(index, &row, ">= ?1");
  assert( index_properties_of(&index->config.keys[key])->has_lists
          && num_places<=BLOOM_LISTS_SAMPLE_BLOCKS );
  bloom_lists_sample_begin(sample);
  for(place=0; place<num_places && rc==SQLITE_OK; place++){
    const sqlite3_int64 wanted = bloom_index_block_of(sample_place(rows, place, num_places), shift);
    int has_row = 0;
    uint64_t num_bytes = 0;
    if( place>0 && wanted<=block ) continue;
    /* The block at this place, or the next one that has a row. */
    sqlite3_bind_int64(row, 1, (sqlite3_int64)((uint64_t)wanted << shift));
    while( (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
      const sqlite3_int64 this = bloom_index_block_of(sqlite3_column_int64(row, 0), shift);
      sqlite3_value *value = sqlite3_column_value(row, key + 1);
      if( has_row && this!=block ) break;
      block = this;
      has_row = 1;
      if( sqlite3_value_type(value)==SQLITE_TEXT ){
        const uint8_t *text = sqlite3_value_text(value);
        const size_t of_text = text ? (size_t)sqlite3_value_bytes(value) : 0;
        bloom_lists_sample_add_text(sample, text, of_text, is_regexp);
        num_bytes += of_text;
      }
    }
    if( has_row ) bloom_lists_sample_end_block(sample, num_bytes);
    sqlite3_reset(row);
    if( rc==SQLITE_ROW || rc==SQLITE_DONE ) rc = SQLITE_OK;
  }
  sqlite3_finalize(row);
  return rc;
}

/* Chooses the lists of all LIKE columns for the shift, and sets *density to the highest of theirs.
** With sample = NULL all classes get the same cut. */
static int sample_lists(bloom_index *index, const index_rows *rows, uint32_t num_places,
                        index_choice *choice, bloom_lists_sample *sample, double *density){
  const double num_blocks = rows->num_rows/rows->per_block[choice->shift] + 1;
  int i, rc = SQLITE_OK;
  *density = 0;
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    bloom_lists_estimate estimate;
    if( !index_properties_of(&index->config.keys[i])->has_lists ) continue;
    if( choice->lists[i]==NULL ) choice->lists[i] = sqlite3_malloc64(sizeof(bloom_lists));
    if( choice->lists[i]==NULL ) return SQLITE_NOMEM;
    if( sample==NULL ){
      bloom_lists_even(choice->lists[i], BLOOM_LISTS_EVEN_CUT);
      continue;
    }
    rc = sample_texts(index, rows, choice->shift, i, num_places, sample);
    if( rc!=SQLITE_OK ) break;
    estimate = bloom_lists_choose(sample, (uint64_t)num_blocks, BLOOM_LISTS_TARGET,
                                  choice->lists[i]);
    if( estimate.density>*density ) *density = estimate.density;
  }
  return rc;
}

/* Raises the shift while lists would have too many of the blocks, and chooses lists. */
static int sample_shift_and_lists(bloom_index *index, const index_rows *rows,
                                  index_choice *choice){
  bloom_lists_sample *sample = NULL;
  double density = 1, num_places;
  int rc = SQLITE_OK;
  /* A sample takes 20 ms, and says little about so few blocks. */
  if( rows->num_rows*rows->bytes_per_row>=SAMPLE_FEW_BLOCKS*TEXT_BLOCK_BYTES ){
    sample = sqlite3_malloc64(sizeof(*sample));
    if( sample==NULL ) return SQLITE_NOMEM;
  }
  while( sample && rc==SQLITE_OK && choice->shift<MAX_SHIFT
        && rows->per_block[choice->shift]*rows->bytes_per_row<TEXT_BLOCK_MAX_BYTES/2 ){
    rc = sample_lists(index, rows, SAMPLE_SHIFT_PLACES, choice, sample, &density);
    if( density<=SAMPLE_MAX_DENSITY ) break;
    choice->shift++;
  }
  assert( rows->per_block[choice->shift]>0 && rows->bytes_per_row>0 );
  num_places = SAMPLE_TEXT_BYTES / (rows->per_block[choice->shift]*rows->bytes_per_row);
  if( num_places>SAMPLE_TEXT_PLACES ) num_places = SAMPLE_TEXT_PLACES;
  if( rc==SQLITE_OK ){
    rc = sample_lists(index, rows, (uint32_t)num_places + 1, choice, sample, &density);
  }
  sqlite3_free(sample);
  return rc;
}

/* -- The choice -------------------------------------------------------------------------------- */

int bloom_index_choose(bloom_index *index, index_choice *choice){
  const char *id = index->columns.id_name, *table = index->columns.name;
  index_rows rows = {.first = 0, .last = -1};
  sqlite3_int64 num_pages = 0, page_bytes = 4096;
  double of_pages, block_bytes = INDEX_BLOCK_BYTES, block_rows;
  int i, has_lists = 0, rc;
  rc = bloom_sql_integer(index->connection, &rows.first, "SELECT min(x.\"%w\") FROM "
                         INDEX_SOURCE, id, index->schema, table);
  if( rc==SQLITE_OK ) rc = bloom_sql_integer(index->connection, &rows.last, INDEX_LAST_ID, id,
                                             index->schema, table);
  *choice = (index_choice){.first = rows.first};
  if( rc==SQLITE_OK ) rc = sample_rows(index, &rows);
  if( rc!=SQLITE_OK ) return rc;
  rc = bloom_sql_integer(index->connection, &num_pages, "PRAGMA \"%w\".page_count", index->schema);
  if( rc==SQLITE_OK ) rc = bloom_sql_integer(index->connection, &page_bytes,
                                             "PRAGMA \"%w\".page_size", index->schema);
  if( rc==SQLITE_AUTH ){
    num_pages = UINT32_MAX;
    rc = SQLITE_OK;
  }
  if( rc!=SQLITE_OK ) return rc;
  /* At most as many rows as there are ids, and as the file's pages can have. */
  of_pages = (double)num_pages * (double)page_bytes / rows.bytes_per_row;
  rows.num_rows = (double)rows.last - (double)rows.first + 1;
  if( of_pages<rows.num_rows ) rows.num_rows = of_pages;
  for(i=0; i<index->config.num_keys; i++){
    has_lists |= index_properties_of(&index->config.keys[i])->has_lists;
  }
  if( has_lists ) block_bytes = TEXT_BLOCK_BYTES;
  while( choice->shift<MAX_SHIFT
        && rows.per_block[choice->shift]*rows.bytes_per_row<block_bytes ) choice->shift++;
  choice->num_rows = rows.num_rows>0 ? (uint64_t)rows.num_rows : 0;
  for(choice->hash_bits=INDEX_MIN_HASH_BITS; choice->hash_bits<INDEX_MAX_HASH_BITS
      && (choice->num_rows >> (choice->hash_bits - 4))>0; choice->hash_bits++){}
  if( has_lists ) rc = sample_shift_and_lists(index, &rows, choice);
  block_rows = rows.per_block[choice->shift];
  if( block_rows<block_bytes/rows.bytes_per_row ) block_rows = block_bytes/rows.bytes_per_row;
  choice->block_rows = block_rows<UINT16_MAX ? (uint32_t)block_rows + 1 : UINT16_MAX;
  while( choice->zone_lg<INDEX_SPAN_LG
        && rows.per_block[choice->shift]*(1u << choice->zone_lg)<INDEX_ZONE_ROWS ){
    choice->zone_lg++;
  }
  assert( choice->block_rows>0 && choice->hash_bits<=INDEX_MAX_HASH_BITS );
  assert( choice->shift<=MAX_SHIFT && choice->zone_lg<=INDEX_SPAN_LG );
  return rc;
}
