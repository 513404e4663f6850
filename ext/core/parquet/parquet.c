/*
** Parquet's filter; parquet.h has the layout.
*/
#include "parquet.h"

#include <string.h>

#include "../debug.h"
#include "../varint.h"
#include "hash.h"
#include "kernels.h"
#include "stats.h"

#define PARQUET_BLOCK_BITS 256
_Static_assert(PARQUET_BLOCK_BITS==8*BLOOM_SPLIT_BLOCK_BYTES, "a block is its words");

/* How a header begins: Thrift's field 1, a 32-bit integer. */
#define PARQUET_MAGIC 0x15

static const uint8_t parquet_header_end[] = {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0,
                                             0};

size_t bloom_parquet_put_header(uint64_t num_blocks,
                                uint8_t header[BLOOM_PARQUET_MAX_HEADER_BYTES]){
  /* A Thrift integer n >= 0 is written as 2n. */
  const size_t num_bytes = 1 + bloom_varint64_write(2 * num_blocks * BLOOM_SPLIT_BLOCK_BYTES,
                                                    header + 1);
  assert( num_bytes+sizeof(parquet_header_end)<=BLOOM_PARQUET_MAX_HEADER_BYTES );
  header[0] = PARQUET_MAGIC;
  memcpy(header + num_bytes, parquet_header_end, sizeof(parquet_header_end));
  return num_bytes + sizeof(parquet_header_end);
}

static bloom_shape parquet_shape_of(uint64_t num_blocks){
  uint8_t header[BLOOM_PARQUET_MAX_HEADER_BYTES];
  return (bloom_shape){
    .num_bytes = bloom_parquet_put_header(num_blocks,
                                          header) + (size_t)num_blocks * BLOOM_SPLIT_BLOCK_BYTES,
    .num_bits = num_blocks * PARQUET_BLOCK_BITS,
    .num_slots = num_blocks,
    .num_probes = BLOOM_SPLIT_BLOCK_WORDS,
  };
}

static bloom_status parquet_shape(uint64_t num_keys, double bits_per_key, bloom_shape *shape){
  const double wanted_blocks = (double)num_keys * bits_per_key / PARQUET_BLOCK_BITS;
  uint64_t num_blocks;
  if( wanted_blocks>BLOOM_PARQUET_MAX_BLOCKS ) return BLOOM_TOO_BIG;
  num_blocks = (uint64_t)wanted_blocks;
  if( num_blocks==0 || (double)num_blocks<wanted_blocks ) num_blocks++;
  *shape = parquet_shape_of(num_blocks);
  return BLOOM_OK;
}

static void parquet_clear(const bloom_shape *shape, uint8_t *filter){
  const size_t num_bytes = bloom_parquet_put_header(shape->num_slots, filter);
  assert( shape->num_bytes==num_bytes + shape->num_slots*BLOOM_SPLIT_BLOCK_BYTES );
  memset(filter + num_bytes, 0, shape->num_bytes - num_bytes);
}

static void parquet_add(const bloom_shape *shape, uint8_t *filter, const bloom_hash_run *runs){
  const bloom_parquet_kernels *kernels = bloom_parquet_best_kernels();
  uint8_t *blocks = filter + shape->num_bytes - (size_t)shape->num_slots * BLOOM_SPLIT_BLOCK_BYTES;
  assert( blocks>filter && blocks<=filter + BLOOM_PARQUET_MAX_HEADER_BYTES );
  for(; runs; runs=runs->next){
    kernels->add(blocks, shape->num_slots, runs->hashes, runs->num_hashes);
  }
}

/* The length alone says how many blocks there must be, because the lengths of headers
** differ by less than a block.  The number of blocks says every byte of the header. */
static int parquet_read(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter){
  uint8_t header[BLOOM_PARQUET_MAX_HEADER_BYTES];
  const size_t num_header_bytes = num_bytes % BLOOM_SPLIT_BLOCK_BYTES;
  const uint64_t num_blocks = num_bytes / BLOOM_SPLIT_BLOCK_BYTES;
  if( num_blocks==0 || num_blocks>BLOOM_PARQUET_MAX_BLOCKS ) return 0;
  if( bloom_parquet_put_header(num_blocks, header)!=num_header_bytes ) return 0;
  if( memcmp(bytes, header, num_header_bytes)!=0 ) return 0;
  *filter = (bloom_filter){
    .encoding = &bloom_encoding_parquet,
    .bytes = bytes,
    .bits = bytes + num_header_bytes,
    .shape = parquet_shape_of(num_blocks),
  };
  return 1;
}

static int parquet_may_contain(const bloom_filter *filter, bloom_hash_value hash){
  return bloom_parquet_best_kernels()->may_contain(filter->bits, filter->shape.num_slots, hash);
}

static int parquet_may_contain_int64(const bloom_filter *filter, int64_t key){
  return parquet_may_contain(filter, bloom_parquet_hash_int64(key));
}

static int parquet_may_contain_bytes(const bloom_filter *filter, const uint8_t *key,
                                     size_t num_bytes){
  return parquet_may_contain(filter, bloom_parquet_hash_bytes(key, num_bytes));
}

static const bloom_writer parquet_writer = {
  .shape = parquet_shape,
  .clear = parquet_clear,
  .add = parquet_add,
};

const bloom_encoding bloom_encoding_parquet = {
  .name = "parquet",
  .hash_value_bytes = 8,
  .hash_int64 = bloom_parquet_hash_int64,
  .hash_bytes = bloom_parquet_hash_bytes,
  .may_contain = parquet_may_contain,
  .may_contain_int64 = parquet_may_contain_int64,
  .may_contain_bytes = parquet_may_contain_bytes,
  .writer = &parquet_writer,
  .min_bits_per_key_x10 = bloom_parquet_min_bits_per_key_x10,
  .magic = PARQUET_MAGIC,
  .read = parquet_read,
  .describe = bloom_parquet_describe,
  .measured_fpr = bloom_parquet_measured_fpr,
};
