/*
** The list of encodings, and reading by it.
*/
#include "filter.h"

#include <string.h>

#include "leveldb/leveldb.h"

/* The first row that recognizes the bytes reads them. */
static const bloom_encoding *const bloom_encodings[] = {
  &bloom_encoding_leveldb,
};

void bloom_filter_read(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter){
  size_t i;
  for(i=0; i<sizeof(bloom_encodings)/sizeof(bloom_encodings[0]); i++){
    if( bloom_encodings[i]->read(bytes, num_bytes, filter) ) return;
  }
  *filter = (bloom_filter){
    .encoding = NULL,
    .bytes = bytes,
    .num_bytes = num_bytes,
    .reading = BLOOM_READ_RESERVED,
  };
}

void bloom_filter_may_contain_many(const bloom_filter *filter, const bloom_digest *digests,
                                   size_t num_digests, uint8_t *answers){
  if( filter->encoding ){
    filter->encoding->may_contain_many(filter, digests, num_digests, answers);
  }else if( num_digests ){
    memset(answers, 1, num_digests);
  }
}
