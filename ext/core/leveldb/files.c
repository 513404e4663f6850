/*
** LevelDB's files; files.h has their layouts.
*/
#include "files.h"

#include <string.h>

#include "../bytes.h"
#include "../debug.h"
#include "leveldb.h"

/* -- Filter blocks --------------------------------------------------------------------------- */

const uint8_t bloom_any_key_filter[BLOOM_ANY_KEY_FILTER_BYTES] = {0x00, 0x00};

const char *bloom_filter_block_read(const uint8_t *bytes, size_t num_bytes,
                                    bloom_filter_block *block){
  uint32_t filters_bytes;
  if( num_bytes<BLOOM_FILTER_BLOCK_MIN_BYTES ) return "it has fewer than 5 bytes";
  filters_bytes = bloom_load32_le(bytes + num_bytes - BLOOM_FILTER_BLOCK_MIN_BYTES);
  if( filters_bytes>num_bytes - BLOOM_FILTER_BLOCK_MIN_BYTES ){
    return "its offsets begin past its end";
  }
  *block = (bloom_filter_block){
    .bytes = bytes,
    .filters_bytes = filters_bytes,
    .num_slots = (num_bytes - BLOOM_FILTER_BLOCK_MIN_BYTES - filters_bytes) / 4,
    .base_lg = bytes[num_bytes-1],
  };
  assert( BLOOM_FILTER_BLOCK_MIN_BYTES + filters_bytes + 4*block->num_slots<=num_bytes );
  return NULL;
}

/* Returns number << base_lg, at most INT64_MAX. */
static int64_t offset_of_slot(uint64_t number, uint32_t base_lg){
  if( number==0 ) return 0;
  if( base_lg>=63 || number > (uint64_t)INT64_MAX >> base_lg ) return INT64_MAX;
  return (int64_t)(number << base_lg);
}

void bloom_filter_block_slot(const bloom_filter_block *block, size_t slot,
                             bloom_filter_slot *found){
  /* Behind it there is always another offset: that of the next slot, or end. */
  const uint8_t *offset = block->bytes + block->filters_bytes + 4*slot;
  const uint32_t start = bloom_load32_le(offset);
  const uint32_t limit = bloom_load32_le(offset + 4);
  const int64_t next = offset_of_slot((uint64_t)slot + 1, block->base_lg);
  assert( slot<block->num_slots );
  *found = (bloom_filter_slot){
    .first_offset = offset_of_slot(slot, block->base_lg),
    .last_offset = next==INT64_MAX ? INT64_MAX : next - 1,
  };
  if( found->first_offset==INT64_MAX ) found->last_offset = INT64_MAX - 1; /* no offset */
  /* Equal offsets are an empty slot, wherever they point: LevelDB's rule. */
  if( start==limit && block->base_lg<64 ) return;
  if( start>limit || limit>block->filters_bytes || block->base_lg>=64 ){
    found->filter = bloom_any_key_filter;
    found->num_bytes = BLOOM_ANY_KEY_FILTER_BYTES;
    found->is_damaged = 1;
    return;
  }
  found->filter = block->bytes + start;
  found->num_bytes = limit - start;
  assert( found->num_bytes<=block->filters_bytes );
}

bloom_status bloom_filter_block_write(const uint32_t *num_keys, size_t num_slots,
                                      const double *bits_per_key, uint8_t *bytes,
                                      size_t *num_bytes){
  const uint64_t end_bytes = BLOOM_FILTER_BLOCK_MIN_BYTES + 4*(uint64_t)num_slots;
  uint8_t *offset = bytes ? bytes + (*num_bytes - (size_t)end_bytes) : NULL;
  uint64_t filters_bytes = 0;
  size_t i;
  assert( num_keys || num_slots==0 );
  for(i=0; i<num_slots; i++){
    bloom_shape shape = {0};
    assert( num_keys[i]==0 || bits_per_key[num_keys[i]]>0 );
    if( num_keys[i]
     && bloom_leveldb_shape(num_keys[i], bits_per_key[num_keys[i]], &shape)!=BLOOM_OK ){
      return BLOOM_TOO_BIG;
    }
    if( bytes ){
      if( shape.num_bytes ) bloom_leveldb_clear(&shape, bytes + filters_bytes);
      bloom_store32_le(offset + 4*i, (uint32_t)filters_bytes);
    }
    filters_bytes += shape.num_bytes;
    if( filters_bytes + end_bytes>UINT32_MAX ) return BLOOM_TOO_BIG;
  }
  if( bytes ){
    assert( offset==bytes + filters_bytes );
    bloom_store32_le(offset + 4*i, (uint32_t)filters_bytes);
    offset[4*i + 4] = BLOOM_FILTER_BLOCK_BASE_LG;
  }
  *num_bytes = (size_t)(filters_bytes + end_bytes);
  return BLOOM_OK;
}

void bloom_filter_block_add(const bloom_filter_block *block, uint8_t *bytes, size_t slot,
                            const bloom_hash_run *runs){
  bloom_filter_slot found;
  bloom_filter filter;
  bloom_filter_block_slot(block, slot, &found);
  assert( !found.is_damaged && found.num_bytes>=BLOOM_LEVELDB_MIN_BYTES );
  bloom_encoding_leveldb.read(found.filter, found.num_bytes, &filter);
  bloom_leveldb_add(&filter.shape, bytes + (found.filter - block->bytes), runs);
}

/* -- Table files ----------------------------------------------------------------------------- */

#define LDB_MAGIC_LOW  0x8b80fb57u
#define LDB_MAGIC_HIGH 0xdb477524u

#define FILTER_KEY_PREFIX "filter."
#define FILTER_KEY_PREFIX_BYTES (sizeof(FILTER_KEY_PREFIX) - 1)

/* Bytes that are still to be read. */
typedef struct ldb_span {
  const uint8_t *bytes;
  size_t num_bytes;
} ldb_span;

typedef struct ldb_handle {
  uint64_t offset, num_bytes;
} ldb_handle;

static const char metaindex_damaged[] = "the metaindex block is damaged";

/* Reads a varint and moves the span past it.  Returns 0 if there is none. */
static int take_varint64(ldb_span *span, uint64_t *value){
  const size_t num_taken = bloom_varint64_read(span->bytes, span->num_bytes, value);
  span->bytes += num_taken;
  span->num_bytes -= num_taken;
  return num_taken>0;
}

static int take_block_handle(ldb_span *span, ldb_handle *handle){
  return take_varint64(span, &handle->offset) && take_varint64(span, &handle->num_bytes);
}

/* Finds a block by its handle and verifies its checksum.  Returns NULL with *block and *compression
** set; else outside or damaged, the end of a message. */
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

/* Finds LevelDB's policy in the metaindex, else the first one.  Sets ldb->note and ldb->policy,
** and, of LevelDB's policy, *value.  Returns NULL, or what is wrong. */
static const char *find_filter(ldb_span entries, bloom_ldb_file *ldb, ldb_span *value){
  static const char ours[] = FILTER_KEY_PREFIX BLOOM_LEVELDB_POLICY;
  /* The key of the entry at hand, cut to the longest that is looked at. */
  uint8_t key[FILTER_KEY_PREFIX_BYTES + BLOOM_POLICY_MAX_BYTES] = {0};
  uint64_t key_bytes = 0; /* before it was cut */
  uint64_t num_shared, num_unshared, num_value_bytes;
  uint32_t num_restarts;
  int has_policy = 0, is_ours = 0;
  if( entries.num_bytes<4 ) return metaindex_damaged;
  num_restarts = bloom_load32_le(entries.bytes + entries.num_bytes - 4);
  if( num_restarts>entries.num_bytes/4 - 1 ) return metaindex_damaged;
  entries.num_bytes -= 4 + 4*(size_t)num_restarts;
  while( entries.num_bytes && !is_ours ){
    if( !take_varint64(&entries, &num_shared) || !take_varint64(&entries, &num_unshared)
     || !take_varint64(&entries, &num_value_bytes) ) return metaindex_damaged;
    if( num_shared>key_bytes || num_unshared>entries.num_bytes
     || num_value_bytes>entries.num_bytes - num_unshared ) return metaindex_damaged;
    /* It begins with bytes of the key before. */
    if( num_shared<sizeof(key) ){
      const size_t room = sizeof(key) - (size_t)num_shared;
      memcpy(key + num_shared, entries.bytes, num_unshared<room ? (size_t)num_unshared : room);
    }
    key_bytes = num_shared + num_unshared;
    *value = (ldb_span){entries.bytes + num_unshared, (size_t)num_value_bytes};
    entries.bytes += num_unshared + num_value_bytes;
    entries.num_bytes -= (size_t)(num_unshared + num_value_bytes);
    is_ours = key_bytes==sizeof(ours) - 1 && memcmp(key, ours, sizeof(ours) - 1)==0;
    if( key_bytes<FILTER_KEY_PREFIX_BYTES || (has_policy && !is_ours)
     || memcmp(key, ours, FILTER_KEY_PREFIX_BYTES)!=0 ) continue;
    has_policy = 1;
    ldb->note = is_ours ? NULL : BLOOM_LDB_OTHER_POLICY;
    ldb->policy_bytes = (size_t)(key_bytes<sizeof(key) ? key_bytes : sizeof(key))
        - FILTER_KEY_PREFIX_BYTES;
    assert( ldb->policy_bytes<=BLOOM_POLICY_MAX_BYTES );
    memcpy(ldb->policy, key + FILTER_KEY_PREFIX_BYTES, ldb->policy_bytes);
  }
  return NULL;
}

const char *bloom_ldb_file_read(const uint8_t *bytes, size_t num_bytes, bloom_ldb_file *ldb){
  bloom_ldb_file found = {.note = BLOOM_LDB_NO_FILTER};
  const bloom_filter_block *filters = &found.block;
  ldb_span file, handles, block, value = {NULL, 0};
  ldb_handle metaindex, index, filter_block;
  uint8_t compression;
  const char *wrong;
  if( num_bytes<BLOOM_LDB_FOOTER_BYTES ) return "it has fewer than 48 bytes";
  file = (ldb_span){bytes, num_bytes - BLOOM_LDB_FOOTER_BYTES};
  handles = (ldb_span){bytes + file.num_bytes, 40};
  if( bloom_load32_le(handles.bytes + 40)!=LDB_MAGIC_LOW
   || bloom_load32_le(handles.bytes + 44)!=LDB_MAGIC_HIGH ){
    return "its last 8 bytes are not LevelDB's magic number";
  }
  if( !take_block_handle(&handles, &metaindex) || !take_block_handle(&handles, &index) ){
    return "its footer is damaged";
  }
  wrong = read_block(file, metaindex, "the metaindex block lies outside of the file",
                     "the metaindex block does not have its checksum", &block, &compression);
  if( wrong==NULL && compression ) found.note = BLOOM_LDB_METAINDEX_COMPRESSED;
  else if( wrong==NULL ) wrong = find_filter(block, &found, &value);
  if( wrong ) return wrong;
  if( found.note==NULL ){
    if( !take_block_handle(&value, &filter_block) ) return metaindex_damaged;
    wrong = read_block(file, filter_block, "the filter block lies outside of the file",
                       "the filter block does not have its checksum", &block, &compression);
    if( wrong ) return wrong;
    if( compression ){
      found.note = BLOOM_LDB_FILTER_COMPRESSED;
    }else{
      found.block_bytes = block.num_bytes;
      if( bloom_filter_block_read(block.bytes, block.num_bytes, &found.block) ){
        return "the filter block is damaged";
      }
      /* LevelDB writes a slot for each 2^base_lg bytes before the filter block, and one for the
      ** rest if a data block begins there. */
      if( filters->num_slots==0 ? filter_block.offset>0 : filters->base_lg<64
          && filters->num_slots < filter_block.offset >> filters->base_lg ){
        found.note = BLOOM_LDB_TOO_FEW_FILTERS;
      }
    }
  }
  assert( found.note || filters->bytes );
  *ldb = found;
  return NULL;
}
