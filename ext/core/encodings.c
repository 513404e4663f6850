/*
** The list of encodings, and reading any bytes as a filter.
*/
#include "encodings.h"

#include "bloomfile/bloomfile.h"
#include "leveldb/leveldb.h"
#include "parquet/parquet.h"

/* LevelDB's comes last: it has no magic bytes and accepts any.  All others have some. */
const bloom_encoding *const bloom_encodings[4] = {
  &bloom_encoding_bloomfile,
  &bloom_encoding_parquet,
  &bloom_encoding_leveldb,
  NULL
};

const bloom_encoding *const bloom_written_encodings[3] = {&bloom_encoding_parquet,
                                                          &bloom_encoding_leveldb, NULL};

const bloom_encoding *const bloom_default_encoding = &bloom_encoding_leveldb;

/* 1 if text is name, which has small letters alone, in any case: a capital is the letter
** without 0x20. */
static int encodings_is_name(const char *name, const char *text){
  for(; *name && *name==(*text | 0x20); name++) text++;
  return *name==*text;
}

const bloom_encoding *bloom_encoding_named(const char *name){
  const bloom_encoding *const *row;
  for(row=bloom_written_encodings; *row && !encodings_is_name((*row)->name, name); row++){}
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
