/*
** LevelDB's files; files.h has their layouts.
*/
#include "files.h"

#include <string.h>

#include "../bytes.h"
#include "../debug.h"
#include "leveldb.h"

/* -- Filter blocks ---------------------------------------------------------- */

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
}

/* Sets *shape to the shape of a slot's filter, all 0 for a slot without keys. */
static bloom_status slot_shape(uint32_t num_keys, const bloom_filter_block_bits *bits,
                               bloom_shape *shape){
  *shape = (bloom_shape){0};
  assert( bits->tenths || bits->bits_per_key>0 );
  if( num_keys==0 ) return BLOOM_OK;
  return bloom_leveldb_shape(num_keys,
                             bits->tenths ? bits->tenths[num_keys] / 10.0 : bits->bits_per_key,
                             shape);
}

bloom_status bloom_filter_block_size(const uint32_t *num_keys, size_t num_slots,
                                     const bloom_filter_block_bits *bits, size_t *num_bytes){
  uint64_t block_bytes = BLOOM_FILTER_BLOCK_MIN_BYTES + 4*(uint64_t)num_slots;
  size_t i;
  for(i=0; i<num_slots; i++){
    bloom_shape shape;
    if( slot_shape(num_keys[i], bits, &shape)!=BLOOM_OK ) return BLOOM_TOO_BIG;
    block_bytes += shape.num_bytes;
    if( block_bytes>UINT32_MAX ) return BLOOM_TOO_BIG;
  }
  *num_bytes = (size_t)block_bytes;
  return BLOOM_OK;
}

void bloom_filter_block_clear(const uint32_t *num_keys, size_t num_slots,
                              const bloom_filter_block_bits *bits,
                              uint8_t *bytes, size_t num_bytes){
  uint8_t *offset = bytes + num_bytes - BLOOM_FILTER_BLOCK_MIN_BYTES - 4*num_slots;
  size_t filters_bytes = 0;
  size_t i;
  for(i=0; i<num_slots; i++, offset+=4){
    bloom_shape shape;
    slot_shape(num_keys[i], bits, &shape);
    if( shape.num_bytes ) bloom_leveldb_clear(&shape, bytes + filters_bytes);
    bloom_store32_le(offset, (uint32_t)filters_bytes);
    filters_bytes += shape.num_bytes;
  }
  assert( offset==bytes + filters_bytes + 4*num_slots );
  bloom_store32_le(offset, (uint32_t)filters_bytes);
  offset[4] = BLOOM_FILTER_BLOCK_BASE_LG;
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

/* -- Table files ------------------------------------------------------------ */

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

/* A key of the metaindex, cut to the longest that is looked at. */
typedef struct metaindex_key {
  uint8_t bytes[FILTER_KEY_PREFIX_BYTES + BLOOM_POLICY_MAX_BYTES];
  uint64_t num_bytes; /* before it was cut */
} metaindex_key;

/* Reads an entry and moves the span past it.  *key is the key of the entry before, which the entry
** continues, and is set to its own.  Returns 0 if the entry is damaged. */
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

/* Finds LevelDB's policy in the metaindex, else the first one.  Sets ldb->note and ldb->policy,
** and, of LevelDB's policy, *value.  Returns NULL, or what is wrong. */
static const char *find_filter(ldb_span metaindex, bloom_ldb_file *ldb, ldb_span *value){
  static const char ours[] = FILTER_KEY_PREFIX BLOOM_LEVELDB_POLICY;
  metaindex_key key = {{0}, 0};
  uint32_t num_restarts;
  int has_policy = 0;
  if( metaindex.num_bytes<4 ) return metaindex_damaged;
  num_restarts = bloom_load32_le(metaindex.bytes + metaindex.num_bytes - 4);
  if( num_restarts>metaindex.num_bytes/4 - 1 ) return metaindex_damaged;
  metaindex.num_bytes -= 4 + 4*(size_t)num_restarts;
  while( metaindex.num_bytes ){
    int is_ours;
    if( !take_entry(&metaindex, &key, value) ) return metaindex_damaged;
    is_ours = key.num_bytes==sizeof(ours) - 1 && memcmp(key.bytes, ours, sizeof(ours) - 1)==0;
    if( key.num_bytes<FILTER_KEY_PREFIX_BYTES || (has_policy && !is_ours)
     || memcmp(key.bytes, ours, FILTER_KEY_PREFIX_BYTES)!=0 ) continue;
    has_policy = 1;
    ldb->note = is_ours ? NULL : BLOOM_LDB_OTHER_POLICY;
    ldb->policy_bytes = (size_t)(key.num_bytes<sizeof(key.bytes) ? key.num_bytes
                                                                 : sizeof(key.bytes));
    ldb->policy_bytes -= FILTER_KEY_PREFIX_BYTES;
    memcpy(ldb->policy, key.bytes + FILTER_KEY_PREFIX_BYTES, ldb->policy_bytes);
    if( is_ours ) break;
  }
  return NULL;
}

/* Reads the metaindex, then the filter block, into *ldb.  Returns NULL, or what is wrong. */
static const char *read_filters(ldb_span file, ldb_handle metaindex_handle, bloom_ldb_file *ldb){
  ldb_span metaindex, filter_block, value = {NULL, 0};
  const bloom_filter_block *block = &ldb->block;
  ldb_handle filter_handle;
  uint8_t compression;
  const char *wrong = read_block(file, metaindex_handle,
                                 "the metaindex block lies outside of the file",
                                 "the metaindex block does not have its checksum", &metaindex,
                                 &compression);
  if( wrong==NULL && compression ) ldb->note = BLOOM_LDB_METAINDEX_COMPRESSED;
  else if( wrong==NULL ) wrong = find_filter(metaindex, ldb, &value);
  if( wrong || ldb->note ) return wrong;
  if( !take_block_handle(&value, &filter_handle) ) return metaindex_damaged;
  wrong = read_block(file, filter_handle, "the filter block lies outside of the file",
                     "the filter block does not have its checksum", &filter_block, &compression);
  if( wrong==NULL && compression ) ldb->note = BLOOM_LDB_FILTER_COMPRESSED;
  if( wrong || compression ) return wrong;
  ldb->block_bytes = filter_block.num_bytes;
  if( bloom_filter_block_read(filter_block.bytes, filter_block.num_bytes, &ldb->block) ){
    return "the filter block is damaged";
  }
  /* LevelDB writes a slot for each 2^base_lg bytes before the filter block, and one for the rest if
  ** a data block begins there. */
  if( block->num_slots==0 ? filter_handle.offset>0
      : block->base_lg<64 && block->num_slots < filter_handle.offset >> block->base_lg ){
    ldb->note = BLOOM_LDB_TOO_FEW_FILTERS;
  }
  return NULL;
}

const char *bloom_ldb_file_read(const uint8_t *bytes, size_t num_bytes, bloom_ldb_file *ldb){
  bloom_ldb_file found = {.note = BLOOM_LDB_NO_FILTER};
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
