/*
** Parquet's filter; parquet.h has the layout.
*/
#include "parquet.h"

#include <string.h>

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
  assert( num_blocks>0 && num_blocks<=BLOOM_PARQUET_MAX_BLOCKS );
  assert( num_bytes+sizeof(parquet_header_end)<=BLOOM_PARQUET_MAX_HEADER_BYTES );
  header[0] = PARQUET_MAGIC;
  memcpy(header + num_bytes, parquet_header_end, sizeof(parquet_header_end));
  return num_bytes + sizeof(parquet_header_end);
}

static bloom_shape parquet_shape_of(uint64_t num_blocks){
  uint8_t header[BLOOM_PARQUET_MAX_HEADER_BYTES];
  return (bloom_shape){
    .num_bytes = bloom_parquet_put_header(num_blocks, header)
               + (size_t)num_blocks * BLOOM_SPLIT_BLOCK_BYTES,
    .num_bits = num_blocks * PARQUET_BLOCK_BITS,
    .num_slots = num_blocks,
    .num_probes = BLOOM_SPLIT_BLOCK_WORDS,
  };
}

static bloom_status parquet_shape(uint64_t num_keys, double bits_per_key, bloom_shape *shape){
  const double wanted_blocks = (double)num_keys * bits_per_key / PARQUET_BLOCK_BITS;
  uint64_t num_blocks;
  assert( bits_per_key>0 );
  if( wanted_blocks>BLOOM_PARQUET_MAX_BLOCKS ) return BLOOM_TOO_BIG;
  num_blocks = (uint64_t)wanted_blocks;
  if( num_blocks==0 || (double)num_blocks<wanted_blocks ) num_blocks++;
  assert( (double)num_blocks>=wanted_blocks );
  *shape = parquet_shape_of(num_blocks);
  return BLOOM_OK;
}

static void parquet_clear(const bloom_shape *shape, uint8_t *filter){
  const size_t num_bytes = bloom_parquet_put_header(shape->num_slots, filter);
  assert( shape->num_bytes==num_bytes + shape->num_slots*BLOOM_SPLIT_BLOCK_BYTES );
  memset(filter + num_bytes, 0, shape->num_bytes - num_bytes);
}

static void parquet_add(const bloom_shape *shape, uint8_t *filter, const bloom_hash_run *runs){
  const bloom_parquet_kernels *kernels = &bloom_parquet_all_kernels[BLOOM_FIRST_KERNELS];
  uint8_t *blocks = filter + shape->num_bytes - (size_t)shape->num_slots * BLOOM_SPLIT_BLOCK_BYTES;
  assert( blocks>filter && blocks<=filter + BLOOM_PARQUET_MAX_HEADER_BYTES );
  for(; runs; runs=runs->next){
    kernels->add(blocks, shape->num_slots, runs->hashes, runs->num_hashes);
  }
}

/* Reads a filter.  The length says how many blocks there must be, because headers differ in length
** by less than a block; the number of blocks determines each byte of the header. */
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

/* Returns 1 if the bytes begin with a header.  Algorithm, hash and compression may be any, also of
** later versions of the format: each is a struct of one empty struct, whose field number says
** which. Some writers leave out the inner struct. */
static int parquet_has_header(const uint8_t *bytes, size_t num_bytes){
  uint64_t number;
  size_t at;
  int i;
  if( num_bytes==0 || bytes[0]!=PARQUET_MAGIC ) return 0;
  at = 1 + bloom_varint64_read(bytes + 1, num_bytes - 1, &number);
  if( at==1 ) return 0;
  for(i=0; i<3; i++){
    const size_t num_left = num_bytes - at;
    if( num_left>=4 && bytes[at]==0x1c && (bytes[at + 1] & 0x0f)==0x0c
     && bytes[at + 2]==0 && bytes[at + 3]==0 ) at += 4;
    else if( num_left>=2 && bytes[at]==0x1c && bytes[at + 1]==0 ) at += 2;
    else return 0;
  }
  return at<num_bytes && bytes[at]==0;
}

static int parquet_may_contain(const bloom_filter *filter, bloom_hash_value hash){
  const uint64_t number = bloom_split_block_number(hash, filter->shape.num_slots);
  return bloom_split_block_may_contain(filter->bits + number*BLOOM_SPLIT_BLOCK_BYTES, hash);
}

/* -- Statistics ------------------------------------------------------------------------------ */

/*
** The load of a block is its number of keys.  A bit of a word is set with probability
** 1 - (31/32)^load, independently in each of the eight words, so the rate follows from
** the loads.
*/

/* A key sets all bits of another one in its block if the lower halves of their hashes are equal. */
#define PARQUET_MASKS 4294967296.0 /* 2^32 */

/* A less likely load does not change the digits of a rate, which is above 2^-32. */
#define PARQUET_NEGLIGIBLE 1e-20

/* If the probability of an empty block is below e^-600, nearly all bits are set. */
#define PARQUET_FULL 600

/* The largest filter that all readers of Parquet accept. */
#define PARQUET_CUSTOMARY_BYTES (128u << 20)

/* Returns the rate in a block of load keys; missed is (31/32)^load. */
static double parquet_block_fpr(double load, double missed){
  const double fill_ratio = 1 - missed;
  const double square = fill_ratio * fill_ratio;
  const double fpr = square * square * (square * square) + load / PARQUET_MASKS;
  assert( load>=0 && missed>=0 && missed<=1 );
  return fpr<1 ? fpr : 1;
}

double bloom_parquet_modelled_fpr(uint64_t num_keys, uint64_t num_blocks){
  const double keys = (double)num_keys, blocks = (double)num_blocks;
  double load, likely, none, missed = 1, fpr = 0;
  assert( num_blocks>0 && num_blocks<=BLOOM_PARQUET_MAX_BLOCKS );
  if( num_blocks==1 ){
    return parquet_block_fpr(keys, bloom_exp_minus(keys * bloom_log_ratio(32, 31)));
  }
  none = keys * bloom_log_ratio(num_blocks, num_blocks-1);
  if( none>PARQUET_FULL ) return 1;
  /* Each term of the binomial distribution is computed from the one before. */
  likely = bloom_exp_minus(none);
  for(load=0; load<keys/blocks || likely>PARQUET_NEGLIGIBLE; load++){
    fpr += likely * parquet_block_fpr(load, missed);
    likely *= (keys - load) / (load + 1) / (blocks - 1);
    missed *= 31.0/32;
  }
  return fpr;
}

/* Returns the rate of num_keys keys at this size; 1 if there is no filter so large. */
static double parquet_fpr_at(uint64_t num_keys, uint32_t bits_per_key_x10){
  bloom_shape shape;
  if( parquet_shape(num_keys, bits_per_key_x10 / 10.0, &shape)!=BLOOM_OK ) return 1;
  return bloom_parquet_modelled_fpr(num_keys, shape.num_slots);
}

/* Returns the smallest size with this rate, by a binary search: more blocks have fewer false
** positives. */
static uint32_t parquet_min_bits_per_key_x10(double fpr, uint64_t num_keys, double *best_fpr){
  uint32_t low = BLOOM_MIN_TENTH_BITS, high = BLOOM_MAX_TENTH_BITS;
  bloom_shape shape;
  double best;
  assert( fpr>0 && fpr<1 );
  while( high>low && parquet_shape(num_keys, high / 10.0, &shape)!=BLOOM_OK ) high--;
  best = parquet_fpr_at(num_keys, high);
  if( best>fpr ){
    *best_fpr = best;
    return 0;
  }
  while( low<high ){
    const uint32_t middle = (low + high) / 2;
    if( parquet_fpr_at(num_keys, middle)<=fpr ) high = middle;
    else low = middle + 1;
  }
  assert( parquet_fpr_at(num_keys, high)<=fpr );
  return high;
}

#define PARQUET_STEP_BLOCKS (BLOOM_STEP_BYTES / BLOOM_SPLIT_BLOCK_BYTES)

static void parquet_describe(const bloom_filter *filter, int count_bits, bloom_facts *facts){
  const bloom_shape *shape = &filter->shape;
  const uint64_t bits_of_probe = shape->num_bits / shape->num_probes;
  const uint8_t *block = filter->bits;
  uint64_t bits_set = 0, i;
  double sum = 0;
  *facts = bloom_no_facts;
  facts->encoding = filter->encoding->name;
  facts->num_bits = (int64_t)shape->num_bits;
  facts->num_probes = (int64_t)shape->num_probes;
  if( shape->num_bits/8>PARQUET_CUSTOMARY_BYTES ){
    facts->note = "large: over 128 MiB, the most that readers of Parquet files are sure to take";
  }
  if( !count_bits ) return;
  for(i=0; i<shape->num_slots; i++, block+=BLOOM_SPLIT_BLOCK_BYTES){
    uint64_t product = 1; /* at most 32^8 */
    size_t pair;
    if( i%PARQUET_STEP_BLOCKS==0 && i && bloom_is_stopped(filter) ) break;
    for(pair=0; pair<BLOOM_SPLIT_BLOCK_BYTES; pair+=8){
      uint64_t words;
      memcpy(&words, block + pair, sizeof(words)); /* two words, in either byte order */
      /* The bits set in each, in its place. */
      words = bloom_popcount_bytes(words);
      words += words >> 8;
      words = (words + (words >> 16)) & 0x0000003f0000003fu;
      bits_set += (words & UINT32_MAX) + (words >> 32);
      product *= (words & UINT32_MAX) * (words >> 32);
    }
    assert( product<=(uint64_t)1 << 40 );
    sum += (double)product;
  }
  /* The mean over the blocks of the probability that a hash's eight bits are all set. */
  facts->expected_fpr = sum / 1099511627776.0 / (double)shape->num_slots; /* 32^8 */
  assert( bits_set<=shape->num_bits );
  facts->bits_set = (int64_t)bits_set;
  facts->fill_ratio = (double)bits_set / (double)shape->num_bits;
  if( bits_set==shape->num_bits ){
    facts->note = "saturated: every bit is set, so it may contain every key";
    return;
  }
  /* Each key leaves a share of 1 - 1/bits_of_probe of all bits unchanged. */
  facts->estimated_keys = bloom_log_ratio(shape->num_bits, shape->num_bits - bits_set)
      / bloom_log_ratio(bits_of_probe, bits_of_probe - 1);
  if( facts->fill_ratio>BLOOM_NEARLY_SATURATED ){ /* at 6 bits per key it is 0.74 */
    facts->note = "nearly saturated: over 3/4 of its bits are set; rebuild it with more bits";
  }
}

const bloom_encoding bloom_encoding_parquet = {
  .name = "parquet",
  .hash_value_bytes = 8,
  .hash_int64 = bloom_parquet_hash_int64,
  .hash_bytes = bloom_xxh64,
  .may_contain = parquet_may_contain,
  .shape = parquet_shape,
  .clear = parquet_clear,
  .add = parquet_add,
  .min_bits_per_key_x10 = parquet_min_bits_per_key_x10,
  .magic = PARQUET_MAGIC,
  .read = parquet_read,
  .has_header = parquet_has_header,
  .describe = parquet_describe,
};
