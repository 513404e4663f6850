/*
** The list of encodings, and reading any bytes as a filter.
*/
#include "encodings.h"

#include "bloomfile/bloomfile.h"
#include "leveldb/leveldb.h"
#include "parquet/parquet.h"

/* LevelDB's comes last: it has no magic bytes and accepts any.  All others have some. */
const bloom_encoding *const bloom_encodings[] = {
  &bloom_encoding_bloomfile,
  &bloom_encoding_parquet,
  &bloom_encoding_leveldb,
  NULL
};

const bloom_encoding *const bloom_written_encodings[] = {&bloom_encoding_parquet, &bloom_encoding_leveldb, NULL};

const bloom_encoding *const bloom_default_encoding = &bloom_encoding_leveldb;

/* ASCII's letters, in any case. */
static int encodings_lower(char letter){
  return letter>='A' && letter<='Z' ? letter - 'A' + 'a' : letter;
}

static int encodings_are_equal(const char *a, const char *b){
  while( *a && encodings_lower(*a)==encodings_lower(*b) ){
    a++;
    b++;
  }
  return *a==*b;
}

const bloom_encoding *bloom_encoding_named(const char *name){
  const bloom_encoding *const *row;
  for(row=bloom_written_encodings; *row && !encodings_are_equal((*row)->name, name); row++){}
  return *row;
}

void bloom_filter_read(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter){
  const int first = num_bytes ? bytes[0] : BLOOM_NO_MAGIC;
  const bloom_encoding *const *row;
  for(row=bloom_encodings; row[1]; row++){
    if( (*row)->magic==first && (*row)->read(bytes, num_bytes, filter) ) return;
  }
  (void)(*row)->read(bytes, num_bytes, filter);
}
