/*
** The list of encodings, and reading any bytes as a filter.
*/
#include "encodings.h"

#include "bloomfile/bloomfile.h"
#include "debug.h"
#include "leveldb/leveldb.h"
#include "parquet/parquet.h"

/* LevelDB's comes last: it has no magic bytes and accepts any.  All others have some, and a
** header. */
const bloom_encoding *const bloom_encodings[4] = {
  &bloom_encoding_bloomfile,
  &bloom_encoding_parquet,
  &bloom_encoding_leveldb,
  NULL
};

const bloom_encoding *const bloom_default_encoding = &bloom_encoding_leveldb;

const bloom_encoding *bloom_encoding_named(const char *name){
  const bloom_encoding *const *row;
  assert( name!=NULL );
  for(row=bloom_encodings; *row; row++){
    const char *small = (*row)->name, *text = name;
    if( (*row)->add==NULL ) continue;
    /* Encodings' names have small letters only, and a capital lacks the bit 0x20. */
    for(; *small && *small==(*text | 0x20); small++) text++;
    if( *small==*text ) break;
  }
  return *row;
}

/* -- Damaged filters ------------------------------------------------------------------------- */

/*
** A filter that was cut short, or has bytes behind it, still has its header.  Read as LevelDB's it
** would deny most of its keys.
*/

static int damaged_may_contain(const bloom_filter *filter, bloom_hash_value hash){
  (void)filter, (void)hash;
  return 1;
}

#define DAMAGED "damaged: its header is invalid or states another length"

static const char *damaged_readonly_reason(const bloom_filter *filter){
  (void)filter;
  return DAMAGED;
}

static void damaged_describe(const bloom_filter *filter, int count_bits, bloom_facts *facts){
  const bloom_encoding *const *row = bloom_encodings;
  (void)count_bits;
  assert( filter->shape.num_bytes>0 );
  while( row[1] && (*row)->magic!=filter->bytes[0] ) row++;
  *facts = bloom_no_facts;
  facts->encoding = (*row)->name;
  facts->expected_fpr = 1;
  facts->note = DAMAGED ", so it may contain every key";
}

/* Not in bloom_encodings: it stands for filters of any encoding, and writes none. */
static const bloom_encoding encoding_damaged = {
  .name = "damaged",
  .hash_value_bytes = 8,
  .hash_int64 = bloom_parquet_hash_int64,
  .hash_bytes = bloom_xxh64,
  .may_contain = damaged_may_contain,
  .why_no_add = DAMAGED,
  .magic = BLOOM_NO_MAGIC,
  .readonly_reason = damaged_readonly_reason,
  .describe = damaged_describe,
};

void bloom_filter_read(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter){
  const int first = num_bytes ? bytes[0] : BLOOM_NO_MAGIC;
  const bloom_encoding *const *row = bloom_encodings;
  assert( bytes || num_bytes==0 );
  /* Encodings differ in the first byte. */
  while( row[1] && (*row)->magic!=first ) row++;
  if( !(*row)->read(bytes, num_bytes, filter) ){
    if( (*row)->has_header(bytes, num_bytes) ){
      *filter = (bloom_filter){
        .encoding = &encoding_damaged,
        .bytes = bytes,
        .bits = bytes,
        .shape.num_bytes = num_bytes,
      };
    }else{
      (void)bloom_encoding_leveldb.read(bytes, num_bytes, filter);
    }
  }
  assert( filter->encoding && filter->bytes==bytes && filter->shape.num_bytes==num_bytes );
}
