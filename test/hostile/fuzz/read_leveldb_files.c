/*
** Reads any bytes as a LevelDB filter block and as a LevelDB table file, and builds blocks of any
** keys at any offsets: what is read is what table/filter_block.cc answers, nothing is read
** beyond the bytes, and no key is lost.
**
** Input: what to do, then the bytes; for a metaindex they get the trailer and the footer
** that make it one, since no fuzzer finds a checksum.
*/
#include "fuzz.h"

#include "../../../ext/core/leveldb/leveldb.h"
#include "../../../ext/core/leveldb/files.h"

static uint32_t fixed32_at(const uint8_t *bytes){
  return (uint32_t)bytes[0] | (uint32_t)bytes[1]<<8 | (uint32_t)bytes[2]<<16 | (uint32_t)bytes[3]<<24;
}

/* FilterBlockReader::KeyMayMatch(), but "maybe" for base_lg of 64 and more, which it shifts by. */
static int block_may_match(const uint8_t *bytes, size_t n, uint64_t offset, uint32_t hash){
  uint32_t array, start, limit;
  uint64_t slot;
  if( n<5 || (array = fixed32_at(bytes + n - 5))>n - 5 ) return 1;
  if( bytes[n-1]>=64 ) return 1;
  slot = offset >> bytes[n-1];
  if( slot>=(n - 5 - array) / 4 ) return 1;
  start = fixed32_at(bytes + array + 4*slot);
  limit = fixed32_at(bytes + array + 4*slot + 4);
  if( start<=limit && limit<=array ) return reference_may_contain(bytes + start, limit - start, hash);
  return start!=limit;
}

/* Answers as LevelDB does, from the slots that were read. */
static int slots_may_match(const bloom_filter_block *block, int64_t offset, uint32_t hash){
  size_t i;
  for(i=0; i<block->num_slots; i++){
    bloom_filter_slot slot;
    bloom_filter_block_slot(block, i, &slot);
    if( offset>=slot.first_offset && offset<=slot.last_offset ){
      return reference_may_contain(slot.filter, slot.num_bytes, hash);
    }
  }
  return 1;
}

static void check_block(const uint8_t *bytes, size_t num_bytes, int64_t offset, uint32_t hash){
  bloom_filter_block block;
  if( bloom_filter_block_read(bytes, num_bytes, &block)==NULL ){
    const int64_t offsets[] = {0, 1, 2047, 2048, offset, INT64_MAX};
    size_t i;
    for(i=0; i<sizeof(offsets)/sizeof(offsets[0]); i++){
      FUZZ_CHECK(slots_may_match(&block, offsets[i], hash)
                 ==block_may_match(bytes, num_bytes, (uint64_t)offsets[i], hash));
    }
  }else{
    FUZZ_CHECK(block_may_match(bytes, num_bytes, (uint64_t)offset, hash));
  }
}

static void check_file(const uint8_t *bytes, size_t num_bytes, uint32_t hash){
  bloom_ldb_file file;
  if( bloom_ldb_file_read(bytes, num_bytes, &file) ) return;
  FUZZ_CHECK(file.policy_bytes<=BLOOM_POLICY_MAX_BYTES);
  if( file.note==NULL ){
    FUZZ_CHECK(file.block.bytes>=bytes && file.block.bytes + file.block_bytes<=bytes + num_bytes);
    check_block(file.block.bytes, file.block_bytes, 0, hash);
  }
}

static uint32_t reference_masked_crc32c(const uint8_t *bytes, size_t num_bytes){
  uint32_t crc = UINT32_MAX;
  size_t i;
  int bit;
  for(i=0; i<num_bytes; i++){
    crc ^= bytes[i];
    for(bit=0; bit<8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void put32(uint8_t *bytes, uint32_t value){
  int i;
  for(i=0; i<4; i++) bytes[i] = (uint8_t)(value >> (8*i));
}

/* A file whose metaindex is any bytes, behind a filter block of one key's filter, with
** checksums that are right. */
static void check_metaindex(const uint8_t *metaindex, size_t num_bytes, uint8_t compression, uint32_t hash){
  static const uint8_t block[] = {1, 2, 3, 4, 5, 6, 7, 8, 6, 0, 0, 0, 0, 9, 0, 0, 0, 11};
  const size_t begin = sizeof(block) + 5;
  const size_t size = begin + num_bytes + 5 + 48;
  uint8_t *file = fuzz_exact(NULL, size);
  uint8_t *footer = file + size - 48;
  memcpy(file, block, sizeof(block));
  put32(file + sizeof(block) + 1, reference_masked_crc32c(file, sizeof(block) + 1));
  if( num_bytes ) memcpy(file + begin, metaindex, num_bytes);
  file[begin + num_bytes] = compression;
  put32(file + begin + num_bytes + 1, reference_masked_crc32c(file + begin, num_bytes + 1));
  footer[0] = (uint8_t)begin;
  footer[1] = (uint8_t)(0x80 | (num_bytes & 0x7f));
  footer[2] = (uint8_t)(num_bytes >> 7);
  put32(footer + 40, 0x8b80fb57u);
  put32(footer + 44, 0xdb477524u);
  check_file(file, size, hash);
  free(file);
}

#define MAX_SLOTS 20

/* Any numbers of keys in up to MAX_SLOTS slots; the block has them all and is well formed. */
static void check_building(fuzz_input *input){
  uint32_t num_keys[MAX_SLOTS];
  double bits[20]; /* by the number of keys */
  const size_t num_slots = fuzz_byte(input) % (MAX_SLOTS + 1);
  const double bits_per_key = 1 + fuzz_byte(input) % 100;
  uint32_t hash = fuzz_u32(input);
  const uint32_t first = hash;
  bloom_filter_block block;
  uint8_t *bytes;
  size_t num_bytes = 0, slot;
  for(slot=0; slot<num_slots; slot++) num_keys[slot] = fuzz_byte(input) % 20;
  for(slot=0; slot<20; slot++) bits[slot] = bits_per_key;
  FUZZ_CHECK(bloom_filter_block_write(num_keys, num_slots, bits, NULL, &num_bytes)==BLOOM_OK);
  bytes = fuzz_exact(NULL, num_bytes);
  FUZZ_CHECK(bloom_filter_block_write(num_keys, num_slots, bits, bytes, &num_bytes)==BLOOM_OK);
  FUZZ_CHECK(bloom_filter_block_read(bytes, num_bytes, &block)==NULL && block.num_slots==num_slots);
  for(slot=0; slot<num_slots; slot++){
    uint32_t i;
    for(i=0; i<num_keys[slot]; i++, hash=hash*1664525u+1013904223u){
      const bloom_hash_run run = {NULL, &hash, 1};
      bloom_filter_block_add(&block, bytes, slot, &run);
    }
  }
  hash = first;
  for(slot=0; slot<num_slots; slot++){
    uint32_t i;
    bloom_filter_slot found;
    bloom_filter_block_slot(&block, slot, &found);
    FUZZ_CHECK(!found.is_damaged && (found.num_bytes==0)==(num_keys[slot]==0));
    for(i=0; i<num_keys[slot]; i++, hash=hash*1664525u+1013904223u){
      FUZZ_CHECK(block_may_match(bytes, num_bytes, (uint64_t)slot << 11, hash));
    }
  }
  free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_data_bytes){
  fuzz_input input = {data, num_data_bytes};
  const uint8_t what = fuzz_byte(&input);
  const uint32_t hash = what & 4 ? fuzz_u32(&input) : 0x12345678;
  const int64_t offset = what & 8 ? (int64_t)(fuzz_u64(&input) >> 1) : 5000;
  const uint8_t compression = what & 16 ? fuzz_byte(&input) : 0;
  size_t num_bytes;
  const uint8_t *bytes;
  uint8_t *exact;
  if( what % 4==3 ){
    check_building(&input);
    return 0;
  }
  bytes = fuzz_bytes(&input, 10000, &num_bytes);
  exact = fuzz_exact(bytes, num_bytes);
  switch( what % 4 ){
    case 0:  check_block(exact, num_bytes, offset, hash); break;
    case 1:  check_file(exact, num_bytes, hash); break;
    default: check_metaindex(exact, num_bytes, compression, hash); break;
  }
  free(exact);
  return 0;
}
