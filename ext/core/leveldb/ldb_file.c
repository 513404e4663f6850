/*
** A LevelDB table file; ldb_file.h has the layout.
*/
#include "ldb_file.h"

#include <string.h>

#include "../bytes.h"
#include "crc32c.h"
#include "../varint.h"

#define LDB_MAGIC_LOW  0x8b80fb57u
#define LDB_MAGIC_HIGH 0xdb477524u

#define FILTER_KEY_PREFIX "filter."
#define FILTER_KEY_PREFIX_BYTES (sizeof(FILTER_KEY_PREFIX) - 1)
#define LEVELDB_POLICY_BYTES (sizeof(BLOOM_LEVELDB_POLICY) - 1)

/* The bytes that are not read yet. */
typedef struct ldb_span {
  const uint8_t *bytes;
  size_t num_bytes;
} ldb_span;

typedef struct ldb_handle {
  uint64_t offset, num_bytes;
} ldb_handle;

static const char metaindex_damaged[] = "the metaindex block is damaged";

/* Takes a varint off the front.  Returns 0 if there is none. */
static int take_varint64(ldb_span *span, uint64_t *value){
  const size_t num_taken = bloom_varint64_read(span->bytes, span->num_bytes, value);
  span->bytes += num_taken;
  span->num_bytes -= num_taken;
  return num_taken>0;
}

static int take_block_handle(ldb_span *span, ldb_handle *handle){
  return take_varint64(span, &handle->offset) && take_varint64(span, &handle->num_bytes);
}

/* Finds a block by its handle and verifies its checksum.  Returns NULL, or what is wrong:
** outside or damaged. */
static const char *read_block(ldb_span file, ldb_handle handle, const char *outside,
                              const char *damaged, ldb_span *block, uint8_t *compression){
  const uint8_t *trailer;
  uint32_t crc;
  if( handle.offset>file.num_bytes || file.num_bytes - handle.offset<BLOOM_LDB_TRAILER_BYTES
   || handle.num_bytes>file.num_bytes - handle.offset - BLOOM_LDB_TRAILER_BYTES ){
    return outside;
  }
  block->bytes = file.bytes + handle.offset;
  block->num_bytes = (size_t)handle.num_bytes;
  trailer = block->bytes + block->num_bytes;
  crc = bloom_crc32c(block->bytes, block->num_bytes + 1);
  if( bloom_crc32c_mask(crc)!=bloom_load32_le(trailer + 1) ) return damaged;
  *compression = trailer[0];
  return NULL;
}

/* A key of the metaindex, cut to the longest that is needed. */
typedef struct metaindex_key {
  uint8_t bytes[FILTER_KEY_PREFIX_BYTES + BLOOM_POLICY_MAX_BYTES];
  uint64_t num_bytes; /* before it was cut */
} metaindex_key;

/* Takes an entry off the front.  *key is the key before, and becomes the entry's.  Returns
** 0 if the entry is damaged. */
static int take_entry(ldb_span *entries, metaindex_key *key, ldb_span *value){
  uint64_t num_shared, num_unshared, num_value_bytes;
  if( !take_varint64(entries, &num_shared) || !take_varint64(entries, &num_unshared)
   || !take_varint64(entries, &num_value_bytes) ) return 0;
  if( num_shared>key->num_bytes || num_unshared>entries->num_bytes
   || num_value_bytes>entries->num_bytes - num_unshared ) return 0;
  if( num_shared<sizeof(key->bytes) ){
    const size_t room = sizeof(key->bytes) - (size_t)num_shared;
    memcpy(key->bytes + num_shared, entries->bytes,
           num_unshared<room ? (size_t)num_unshared : room);
  }
  key->num_bytes = num_shared + num_unshared;
  value->bytes = entries->bytes + num_unshared;
  value->num_bytes = (size_t)num_value_bytes;
  entries->bytes += num_unshared + num_value_bytes;
  entries->num_bytes -= (size_t)(num_unshared + num_value_bytes);
  return 1;
}

static int is_filter_key(const metaindex_key *key){
  return key->num_bytes>=FILTER_KEY_PREFIX_BYTES
      && memcmp(key->bytes, FILTER_KEY_PREFIX, FILTER_KEY_PREFIX_BYTES)==0;
}

static int is_leveldb_filter_key(const metaindex_key *key){
  return key->num_bytes==FILTER_KEY_PREFIX_BYTES + LEVELDB_POLICY_BYTES
      && memcmp(key->bytes, FILTER_KEY_PREFIX BLOOM_LEVELDB_POLICY,
                FILTER_KEY_PREFIX_BYTES + LEVELDB_POLICY_BYTES)==0;
}

/* Looks in the metaindex for LevelDB's policy, or else takes the first one.  Sets
** ldb->filter and its policy, and *value if the policy is LevelDB's. */
static const char *find_filter(ldb_span metaindex, bloom_ldb_file *ldb, ldb_span *value){
  metaindex_key key = {{0}, 0};
  uint32_t num_restarts;
  if( metaindex.num_bytes<4 ) return metaindex_damaged;
  num_restarts = bloom_load32_le(metaindex.bytes + metaindex.num_bytes - 4);
  if( num_restarts>metaindex.num_bytes/4 - 1 ) return metaindex_damaged;
  metaindex.num_bytes -= 4 + 4*(size_t)num_restarts;
  while( metaindex.num_bytes ){
    ldb_span entry_value;
    if( !take_entry(&metaindex, &key, &entry_value) ) return metaindex_damaged;
    if( is_leveldb_filter_key(&key) ){
      ldb->filter = BLOOM_LDB_HAS_FILTERS;
      *value = entry_value;
    }else if( ldb->filter==BLOOM_LDB_NO_FILTER && is_filter_key(&key) ){
      ldb->filter = BLOOM_LDB_OTHER_POLICY;
    }else{
      continue;
    }
    ldb->policy_bytes =
        (size_t)(key.num_bytes<sizeof(key.bytes) ? key.num_bytes : sizeof(key.bytes))
                        - FILTER_KEY_PREFIX_BYTES;
    memcpy(ldb->policy, key.bytes + FILTER_KEY_PREFIX_BYTES, ldb->policy_bytes);
    if( ldb->filter==BLOOM_LDB_HAS_FILTERS ) break;
  }
  return NULL;
}

/* LevelDB writes a slot for each 2^base_lg bytes before the filter block, and one for the rest if a
** data block begins there. */
static int has_too_few_slots(const bloom_filter_block *block, uint64_t offset){
  if( block->num_slots==0 ) return offset>0;
  return block->base_lg<64 && block->num_slots < offset >> block->base_lg;
}

/* Reads the metaindex and then the filter block.  Returns NULL, or what is wrong. */
static const char *read_filters(ldb_span file, ldb_handle metaindex_handle, bloom_ldb_file *ldb){
  ldb_span metaindex, filter_block, value = {NULL, 0};
  ldb_handle filter_handle;
  const char *wrong = read_block(file, metaindex_handle,
                                 "the metaindex block lies outside of the file",
                                 "the metaindex block does not have its checksum", &metaindex,
                                 &ldb->compression);
  if( wrong ) return wrong;
  if( ldb->compression ){
    ldb->filter = BLOOM_LDB_METAINDEX_COMPRESSED;
    return NULL;
  }
  wrong = find_filter(metaindex, ldb, &value);
  if( wrong || ldb->filter!=BLOOM_LDB_HAS_FILTERS ) return wrong;
  if( !take_block_handle(&value, &filter_handle) ) return metaindex_damaged;
  wrong = read_block(file, filter_handle, "the filter block lies outside of the file",
                     "the filter block does not have its checksum", &filter_block,
                     &ldb->compression);
  if( wrong ) return wrong;
  if( ldb->compression ){
    ldb->filter = BLOOM_LDB_FILTER_COMPRESSED;
    return NULL;
  }
  ldb->block_bytes = filter_block.num_bytes;
  if( bloom_filter_block_read(filter_block.bytes, filter_block.num_bytes, &ldb->block) ){
    return "the filter block is damaged";
  }
  if( has_too_few_slots(&ldb->block, filter_handle.offset) ){
    ldb->filter = BLOOM_LDB_TOO_FEW_FILTERS;
  }
  return NULL;
}

const char *bloom_ldb_file_read(const uint8_t *bytes, size_t num_bytes, bloom_ldb_file *ldb){
  bloom_ldb_file found = {.filter = BLOOM_LDB_NO_FILTER};
  const uint8_t *footer;
  ldb_span handles;
  ldb_handle metaindex, index;
  const char *wrong;
  if( num_bytes<BLOOM_LDB_FOOTER_BYTES ) return "it has fewer than 48 bytes";
  footer = bytes + num_bytes - BLOOM_LDB_FOOTER_BYTES;
  if( bloom_load32_le(footer + 40)!=LDB_MAGIC_LOW || bloom_load32_le(footer + 44)!=LDB_MAGIC_HIGH ){
    return "its last 8 bytes are not LevelDB's magic number";
  }
  handles = (ldb_span){footer, 40};
  if( !take_block_handle(&handles, &metaindex) || !take_block_handle(&handles, &index) ){
    return "its footer is damaged";
  }
  wrong = read_filters((ldb_span){bytes, num_bytes - BLOOM_LDB_FOOTER_BYTES}, metaindex, &found);
  if( wrong==NULL ) *ldb = found;
  return wrong;
}
