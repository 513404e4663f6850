/*
** LevelDB's filter block; filter_block.h has the layout.
*/
#include "filter_block.h"

#include "../bytes.h"
#include "../debug.h"
#include "leveldb.h"

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

/* number << base_lg, or INT64_MAX where that would be more. */
static int64_t offset_of_slot(uint64_t number, uint32_t base_lg){
  if( number==0 ) return 0;
  if( base_lg>=63 || number > (uint64_t)INT64_MAX >> base_lg ) return INT64_MAX;
  return (int64_t)(number << base_lg);
}

void bloom_filter_block_slot(const bloom_filter_block *block, size_t slot,
                             bloom_filter_slot *found){
  /* There is always one more offset: that of the next slot, or end. */
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

/* The shape of a slot's filter: empty if it has no keys. */
static bloom_status slot_shape(uint32_t num_keys, const bloom_filter_block_bits *bits,
                               bloom_shape *shape){
  *shape = (bloom_shape){0};
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
