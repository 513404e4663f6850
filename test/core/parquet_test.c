/*
** Parquet's filter against the format's definition (../lib/reference.h): header, blocks, what bytes are read, every row of kernels, and what is
** said of a filter.
*/
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"
#include "../../ext/core/parquet/parquet.h"

static const bloom_encoding *const parquet = &bloom_encoding_parquet;

#define MAX_BLOCKS ((uint64_t)BLOOM_PARQUET_MAX_BLOCKS)

static bloom_shape shape_of(uint64_t num_keys, double bits_per_key){
  bloom_shape shape = {0};
  assert_int_equal(parquet->shape(num_keys, bits_per_key, &shape), BLOOM_OK);
  return shape;
}

/* A shape of so many blocks, by a size of 256 bits per key. */
static bloom_shape blocks_of(uint64_t num_blocks){
  const bloom_shape shape = shape_of(num_blocks, 256);
  assert_int_equal(shape.num_slots, num_blocks);
  return shape;
}

static uint8_t *cleared(const bloom_shape *shape){
  uint8_t *filter = allocated(shape->num_bytes);
  memset(filter, 0xa5, shape->num_bytes); /* clear() must leave none of it */
  parquet->clear(shape, filter);
  return filter;
}

static void add_hashes(const bloom_shape *shape, uint8_t *filter, const uint64_t *hashes, size_t num_hashes){
  const bloom_hash_run run = {NULL, hashes, num_hashes};
  parquet->add(shape, filter, &run);
}

static bloom_filter read_back(const uint8_t *bytes, size_t num_bytes){
  bloom_filter filter = {0};
  assert_int_equal(parquet->read(bytes, num_bytes, &filter), 1);
  return filter;
}

static uint64_t *random_hashes(rng *random, size_t num_hashes){
  uint64_t *hashes = allocated(num_hashes * sizeof(*hashes));
  size_t i;
  for(i=0; i<num_hashes; i++) hashes[i] = rng_next(random);
  return hashes;
}

/* ---- shape and header ------------------------------------------------------- */

TEST(the_row){
  assert_string_equal(parquet->name, "parquet");
  assert_int_equal(parquet->hash_value_bytes, 8);
  assert_true(parquet->hash_int64(1)==0x9f29cb17a2a49995u);
  assert_true(parquet->hash_bytes((const uint8_t*)"hello", 5)==0x26c7827d889f6da3u);
}

TEST(shapes){
  static const struct { uint64_t num_keys; double bits_per_key; uint64_t num_blocks; size_t header_bytes; } known[] = {
    {0, 10, 1, 15}, {1, 1, 1, 15}, {1, 100, 1, 15}, {25, 10, 1, 15}, {26, 10, 2, 16},
    {256, 1, 1, 15}, {257, 1, 2, 16}, {128, 2, 1, 15}, {128, 2.0000001, 2, 16},
    {0, 100, 1, 15}, {1000, 10, 40, 16}, {1000, 10.5, 42, 16}, {1000, 0.001, 1, 15},
    {255, 256, 255, 16}, {256, 256, 256, 17}, {32767, 256, 32767, 17}, {32768, 256, 32768, 18},
    {4194303, 256, 4194303, 18}, {4194304, 256, 4194304, 19},
    {67108863, 256, 67108863, 19},
    {1000000, 10, 39063, 18}, {100000000, 10.5, 4101563, 18},
  };
  size_t i;
  for(i=0; i<COUNT_OF(known); i++){
    const bloom_shape shape = shape_of(known[i].num_keys, known[i].bits_per_key);
    assert_int_equal(shape.num_slots, known[i].num_blocks);
    assert_int_equal(shape.num_bytes, known[i].header_bytes + 32*known[i].num_blocks);
    assert_int_equal(shape.num_bits, 256*known[i].num_blocks);
    assert_int_equal(shape.num_probes, 8);
  }
}

/* The header's 31 bits are the limit: 2 GiB less 32 bytes. */
TEST(too_big){
  static const struct { uint64_t num_keys; double bits_per_key; } too_many[] = {
    {67108864, 256}, {67108863, 256.00001}, {UINT64_MAX, 100}, {UINT64_MAX, 1e300}, {1, 1e300}, {17179868929u, 1},
  };
  bloom_shape shape;
  const bloom_shape before = {1, 2, 3, 4};
  size_t i;
  for(i=0; i<COUNT_OF(too_many); i++){
    shape = before;
    assert_int_equal(parquet->shape(too_many[i].num_keys, too_many[i].bits_per_key, &shape), BLOOM_TOO_BIG);
    assert_true(bloom_shapes_are_equal(&shape, &before));
  }
  shape = shape_of(17179868928u, 1);
  assert_int_equal(shape.num_slots, MAX_BLOCKS);
  assert_int_equal(shape.num_bytes, 2147483647u - 31 + 19);
}

#define MARKS "1c1c00001c1c00001c1c000000"

TEST(headers){
  static const struct { uint64_t num_blocks; const char *header; } known[] = {
    {1, "1540" MARKS}, {2, "158001" MARKS}, {3, "15c001" MARKS}, {128, "158040" MARKS},
    {255, "15c07f" MARKS}, {256, "15808001" MARKS}, {32768, "1580808001" MARKS},
    {4194304, "158080808001" MARKS}, {67108863, "15c0ffffff0f" MARKS},
  };
  size_t i;
  for(i=0; i<COUNT_OF(known); i++){
    const bloom_shape shape = blocks_of(known[i].num_blocks);
    const size_t num_header = strlen(known[i].header)/2;
    uint8_t *filter;
    char *hex;
    size_t j;
    if( shape.num_bytes>(256u << 20) ) continue; /* see the_largest_is_read() */
    filter = cleared(&shape);
    hex = hex_of(filter, num_header);
    assert_string_equal(hex, known[i].header);
    for(j=num_header; j<shape.num_bytes; j++) assert_int_equal(filter[j], 0);
    free(hex);
    free(filter);
  }
}

TEST(what_is_written_is_read){
  uint64_t num_blocks;
  for(num_blocks=1; num_blocks<3000; num_blocks++){
    const bloom_shape shape = blocks_of(num_blocks);
    uint8_t *filter = cleared(&shape);
    bloom_filter read = {0};
    assert_int_equal(parquet->read(filter, shape.num_bytes, &read), 1);
    assert_ptr_equal(read.encoding, parquet);
    assert_ptr_equal(read.bytes, filter);
    assert_ptr_equal(read.bits, filter + shape.num_bytes - 32*num_blocks);
    assert_true(bloom_shapes_are_equal(&read.shape, &shape));
    assert_true(parquet->readonly_reason==NULL);
    free(filter);
  }
}

/* Reading looks at the header alone: the blocks need not be there. */
TEST(the_largest_is_read){
  size_t num_bytes, num_read = 0;
  uint8_t *header = bytes_of("15c0ffffff0f" MARKS, &num_bytes);
  bloom_filter filter = {0};
  for(num_bytes=19+((size_t)MAX_BLOCKS-1)*32; num_bytes<=19+((size_t)MAX_BLOCKS+1)*32; num_bytes++){
    const int is_read = parquet->read(header, num_bytes, &filter);
    assert_int_equal(is_read, num_bytes==19+MAX_BLOCKS*32);
    num_read += (size_t)is_read;
  }
  assert_int_equal(num_read, 1);
  assert_int_equal(filter.shape.num_slots, MAX_BLOCKS);
  free(header);
}

/* ---- what is not read ------------------------------------------------------- */

static void assert_not_read(const uint8_t *bytes, size_t num_bytes, const char *why){
  const bloom_interrupt interrupt = {0};
  const bloom_filter before = {NULL, bytes, bytes, {1, 2, 3, 4}, 5, &interrupt};
  bloom_filter filter = before;
  uint8_t *exact = exact_copy(bytes, num_bytes);
  if( parquet->read(exact, num_bytes, &filter) ) fail_msg("read: %s, %zu bytes", why, num_bytes);
  assert_true(filter.encoding==before.encoding && filter.bytes==bytes && filter.bits==bytes);
  assert_true(bloom_shapes_are_equal(&filter.shape, &before.shape) && filter.shape.num_bits==before.shape.num_bits);
  assert_true(filter.reciprocal==before.reciprocal && filter.interrupt==before.interrupt);
  free(exact);
}

TEST(cut_and_longer){
  static const uint64_t sizes[] = {1, 2, 3, 128, 300};
  size_t s, num_bytes;
  for(s=0; s<COUNT_OF(sizes); s++){
    const bloom_shape shape = blocks_of(sizes[s]);
    uint8_t *filter = cleared(&shape);
    uint8_t *longer = allocated(shape.num_bytes + 100);
    memset(longer, 0, shape.num_bytes + 100);
    memcpy(longer, filter, shape.num_bytes);
    for(num_bytes=0; num_bytes<shape.num_bytes+100; num_bytes++){
      if( num_bytes!=shape.num_bytes ) assert_not_read(longer, num_bytes, "cut or longer");
    }
    free(longer);
    free(filter);
  }
}

TEST(every_byte_of_the_header_counts){
  static const uint64_t sizes[] = {1, 2, 3, 4, 128, 256, 40000};
  size_t s, i;
  int value;
  for(s=0; s<COUNT_OF(sizes); s++){
    const bloom_shape shape = blocks_of(sizes[s]);
    uint8_t *filter = cleared(&shape);
    const size_t num_header = shape.num_bytes - (size_t)sizes[s]*32;
    for(i=0; i<num_header; i++){
      const uint8_t right = filter[i];
      for(value=0; value<256; value++){
        bloom_filter read;
        filter[i] = (uint8_t)value;
        assert_int_equal(parquet->read(filter, shape.num_bytes, &read), value==right);
      }
      filter[i] = right;
    }
    free(filter);
  }
}

/* Headers that lie, or are not the shortest of their number; zeros behind them to each
** length from none to the one that they tell and some more. */
TEST(headers_that_lie){
  static const char *const lying[] = {
    "1500" MARKS,             /* no blocks */
    "158000" MARKS,           /* none, in two bytes */
    "153e" MARKS, "1542" MARKS, "1510" MARKS, /* 31, 33 and 8 bytes: no whole block */
    "1541" MARKS, "153f" MARKS, "1501" MARKS, /* -33, -32 and -1 bytes */
    "15c000" MARKS,           /* 32 bytes in a number of two bytes */
    "15c08000" MARKS, "15c0808080808080808000" MARKS,
    "158080808010" MARKS,     /* 2^31 bytes... */
    "15c080808010" MARKS,     /* and one block more */
    "158080808020" MARKS,     /* 2^32 */
    "15c080808020" MARKS,     /* 2^32 + 32 */
    "15c0808080808080808001" MARKS, /* 2^63 and some */
    "15ffffffff0f" MARKS, "15ffffffffffffffffff01" MARKS, "15ffffffffffffffffffffffffffffffff",
    "1640" MARKS, "0540" MARKS, "2540" MARKS, /* another type, another field */
    "15401c1c00001c1c00001c1c000001",         /* no end */
    "15401c1c00001c1c00002c1c000000",
    "15401c2c00001c1c00001c1c000000",         /* another algorithm */
    "15401c1c00001c2c00001c1c000000",         /* another hash */
    "15401c1c00001c1c00001c2c000000",         /* compressed */
  };
  uint8_t bytes[400];
  size_t i, num_bytes, num_header;
  assert_not_read(NULL, 0, "nothing");
  for(i=0; i<COUNT_OF(lying); i++){
    uint8_t *header = bytes_of(lying[i], &num_header);
    memset(bytes, 0, sizeof(bytes));
    memcpy(bytes, header, num_header);
    for(num_bytes=0; num_bytes<sizeof(bytes); num_bytes++) assert_not_read(bytes, num_bytes, lying[i]);
    free(header);
  }
}

/* ---- damaged ------------------------------------------------------------------ */

static void assert_damaged(const uint8_t *bytes, size_t num_bytes, int is_damaged, const char *why){
  uint8_t *exact = exact_copy(bytes, num_bytes);
  bloom_filter filter;
  bloom_facts facts;
  int64_t key;
  bloom_filter_read(exact, num_bytes, &filter);
  if( !is_damaged ){
    if( filter.encoding!=&bloom_encoding_leveldb ) fail_msg("not LevelDB's: %s, %zu bytes", why, num_bytes);
    free(exact);
    return;
  }
  filter.encoding->describe(&filter, 1, &facts);
  if( facts.note==NULL || strncmp(facts.note, "damaged: ", 9)!=0 ) fail_msg("not damaged: %s, %zu bytes", why, num_bytes);
  assert_string_equal(facts.encoding, "parquet");
  assert_true(facts.expected_fpr>=1 && facts.num_bits<0);
  /* Measuring asks about 131072 hashes. */
  assert_true(num_bytes%64!=0 || bloom_measured_fpr(&filter)>=1);
  assert_true(filter.bytes==exact && filter.shape.num_bytes==num_bytes);
  assert_non_null(filter.encoding->readonly_reason(&filter));
  for(key=0; key<100; key++){
    assert_int_equal(filter.encoding->may_contain(&filter, filter.encoding->hash_int64(key)), 1);
    assert_int_equal(filter.encoding->may_contain(&filter, filter.encoding->hash_bytes(exact, (size_t)key%num_bytes)), 1);
  }
  free(exact);
}

/* A header that is complete, and another length than it states. */
TEST(another_length_is_damage){
  static const uint64_t sizes[] = {1, 2, 3, 128, 300};
  size_t s, num_bytes;
  for(s=0; s<COUNT_OF(sizes); s++){
    const bloom_shape shape = blocks_of(sizes[s]);
    const size_t num_header = shape.num_bytes - 32*(size_t)sizes[s];
    uint8_t *longer = allocated(shape.num_bytes + 100), *filter = cleared(&shape);
    memset(longer, 1, shape.num_bytes + 100);
    memcpy(longer, filter, shape.num_bytes);
    for(num_bytes=0; num_bytes<shape.num_bytes+100; num_bytes++){
      if( num_bytes!=shape.num_bytes ) assert_damaged(longer, num_bytes, num_bytes>=num_header, "cut or longer");
    }
    free(longer);
    free(filter);
  }
}

TEST(invalid_headers_are_damage){
  static const struct { const char *header; int is_damaged; } known[] = {
    {"1500" MARKS, 1}, {"153e" MARKS, 1}, {"1541" MARKS, 1}, {"15c000" MARKS, 1}, {"158080808010" MARKS, 1},
    {"15c0808080808080808001" MARKS, 1}, {"15ffffffffffffffffff7f" MARKS, 1},
    {"1580101c001c001c0000", 1}, {"15401c001c1c00001c0000", 1}, /* @dsnp/parquetjs leaves the kinds out */
    {"15401c001c001c0001", 0}, {"15401c001c000000", 0}, {"15401c011c001c0000", 0},
    {"15ffffffffffffffffffff01" MARKS, 0},            /* no number: 11 bytes */
    {"15ffffffffffffffffffffffffffffffffffff", 0},
    {"15401c2c00001c1c00001c1c000000", 1}, {"15401c1c00001cfc00001c1c000000", 1}, {"15401c1c00001c1c00001c2c000000", 1},
    {"15401c2d00001c1c00001c1c000000", 0}, {"15401c1c00002c1c00001c1c000000", 0}, {"15401c1c00001c1c00001c1c000001", 0},
    {"15401c1c01001c1c00001c1c000000", 0}, {"15401c1c00011c1c00001c1c000000", 0}, {"1640" MARKS, 0}, {"0540" MARKS, 0},
  };
  uint8_t bytes[200];
  size_t i, num_bytes, num_header;
  for(i=0; i<COUNT_OF(known); i++){
    uint8_t *header = bytes_of(known[i].header, &num_header);
    memset(bytes, 0, sizeof(bytes));
    memcpy(bytes, header, num_header);
    for(num_bytes=0; num_bytes<sizeof(bytes); num_bytes++){
      assert_damaged(bytes, num_bytes, known[i].is_damaged && num_bytes>=num_header, known[i].header);
    }
    free(header);
  }
}

/* ---- bits ------------------------------------------------------------------- */

/* The rows that can run here, in turn; NULL behind the last one. */
static const bloom_parquet_kernels *next_kernels(size_t *row){
  const size_t at = BLOOM_FIRST_KERNELS + (*row)++;
  return at<BLOOM_NUM_KERNELS ? &bloom_parquet_all_kernels[at] : NULL;
}

TEST(rows_end_with_scalar){
  const char *expected = getenv("BLOOM_TEST_KERNELS");
  assert_string_equal(bloom_parquet_all_kernels[BLOOM_NUM_KERNELS-1].name, "scalar");
#if defined(__GNUC__) && defined(__x86_64__) && !defined(BLOOM_NO_SIMD)
  assert_int_equal(BLOOM_NUM_KERNELS, 2);
  assert_string_equal(bloom_parquet_all_kernels[0].name, "avx2");
  assert_int_equal(BLOOM_FIRST_KERNELS, !__builtin_cpu_supports("avx2"));
#else
  assert_int_equal(BLOOM_NUM_KERNELS, 1);
  assert_int_equal(BLOOM_FIRST_KERNELS, 0);
#endif
  /* A build for another machine says which row that machine must choose. */
  if( expected ) assert_string_equal(bloom_parquet_all_kernels[BLOOM_FIRST_KERNELS].name, expected);
}

static int blocks_may_contain(const uint8_t *blocks, uint64_t num_blocks, uint64_t hash){
  return bloom_split_block_may_contain(blocks + 32*bloom_split_block_number(hash, num_blocks), hash);
}

/* Blocks of every alignment; enough hashes for all that is fetched ahead. */
TEST(rows_give_the_same_bits){
  static const uint64_t num_blocks[] = {1, 2, 3, 7, 64, 1000, 4097};
  static const size_t num_hashes[] = {0, 1, 2, 31, 32, 33, 34, 100, 511, 512, 513, 600, 3000};
  size_t b, n, i;
  for(b=0; b<COUNT_OF(num_blocks); b++){
    for(n=0; n<COUNT_OF(num_hashes); n++){
      rng random = rng_stream(100*b + n);
      const size_t num_bytes = (size_t)num_blocks[b]*32;
      const size_t at = rng_below(&random, 32);
      uint64_t *hashes = random_hashes(&random, num_hashes[n]);
      uint8_t *expected = allocated(num_bytes);
      uint8_t *memory = allocated(at + num_bytes);
      const bloom_parquet_kernels *kernels;
      size_t row = 0;
      if( num_hashes[n]>1 ) hashes[1] = hashes[0];
      if( num_hashes[n]>30 ) hashes[2] = 0, hashes[3] = UINT64_MAX;
      memset(expected, 0, num_bytes);
      for(i=0; i<8*num_hashes[n]; i++){
        const uint64_t bit = reference_block_bit(hashes[i/8], num_blocks[b], i%8);
        expected[bit/8] = (uint8_t)(expected[bit/8] | 1 << bit%8);
      }
      while( (kernels = next_kernels(&row))!=NULL ){
        uint8_t *blocks = memory + at; /* ends where its memory ends */
        memset(blocks, 0, num_bytes);
        kernels->add(blocks, num_blocks[b], hashes, num_hashes[n]);
        assert_memory_equal(blocks, expected, num_bytes);
        for(i=0; i<num_hashes[n]; i++) assert_int_equal(blocks_may_contain(blocks, num_blocks[b], hashes[i]), 1);
        for(i=0; i<1000; i++){
          const uint64_t hash = rng_next(&random);
          assert_int_equal(blocks_may_contain(blocks, num_blocks[b], hash),
                           reference_block_may_contain(expected, num_blocks[b], hash));
        }
      }
      free(memory);
      free(expected);
      free(hashes);
    }
  }
}

/* The largest filter's first and last block, and as many blocks as there can be. */
TEST(block_numbers){
  static const struct { uint64_t hash, num_blocks, number; } known[] = {
    {UINT64_MAX, 1, 0}, {UINT64_MAX, 3, 2}, {UINT32_MAX, 3, 0}, {UINT64_MAX, 67108863, 67108862},
    {UINT64_MAX, (uint64_t)1 << 32, UINT32_MAX},
  };
  rng random = rng_stream(4);
  size_t i;
  for(i=0; i<COUNT_OF(known); i++){
    assert_int_equal(bloom_split_block_number(known[i].hash, known[i].num_blocks), known[i].number);
  }
  for(i=0; i<100000; i++){
    const uint64_t hash = rng_next(&random), num_blocks = 1 + (rng_next(&random) >> (33 + i%31));
    assert_int_equal(bloom_split_block_number(hash, num_blocks), reference_block_bit(hash, num_blocks, 0)/256);
  }
}

/* One bit of a key missing, each in turn: then it is not there. */
TEST(a_block_misses_each_bit){
  rng random = rng_stream(7);
  size_t round;
  uint32_t j;
  for(round=0; round<test_share(2000); round++){
    const uint64_t hash = rng_next(&random);
    uint8_t blocks[3*32];
    for(j=0; j<8; j++){
      const uint64_t bit = reference_block_bit(hash, 3, j);
      memset(blocks, 0xff, sizeof(blocks));
      assert_int_equal(blocks_may_contain(blocks, 3, hash), 1);
      blocks[bit/8] = (uint8_t)(blocks[bit/8] & ~(1 << bit%8));
      assert_int_equal(blocks_may_contain(blocks, 3, hash), 0);
    }
  }
}

/* ---- what is said of a filter ------------------------------------------------ */

/* By counting bits one by one, with libm. */
static void check_facts(const uint8_t *bytes, size_t num_bytes){
  const bloom_filter filter = read_back(bytes, num_bytes);
  const uint64_t num_blocks = filter.shape.num_slots, num_bits = 256*num_blocks;
  bloom_facts facts;
  double fpr = 0, expected_keys;
  uint64_t bits_set = 0, block, word, bit;
  for(block=0; block<num_blocks; block++){
    double all_set = 1;
    for(word=0; word<8; word++){
      uint32_t count = 0;
      for(bit=0; bit<32; bit++){
        const uint64_t i = 256*block + 32*word + bit;
        count += (uint32_t)filter.bits[i/8] >> i%8 & 1;
      }
      bits_set += count;
      all_set *= count/32.0;
    }
    fpr += all_set;
  }
  memset(&facts, 0x5a, sizeof(facts));
  parquet->describe(&filter, 1, &facts);
  assert_string_equal(facts.encoding, "parquet");
  assert_int_equal(facts.num_bits, num_bits);
  assert_int_equal(facts.num_probes, 8);
  assert_int_equal(facts.bits_set, bits_set);
  assert_close(facts.fill_ratio, (double)bits_set/(double)num_bits, 1e-15, "fill_ratio");
  assert_close(facts.expected_fpr, fpr/(double)num_blocks, 1e-9, "expected_fpr");
  if( bits_set==0 || bits_set==num_bits ){
    assert_true(bloom_measured_fpr(&filter)==(bits_set ? 1 : 0));
  }
  if( bits_set==num_bits ){
    assert_true(facts.estimated_keys<0);
    assert_string_equal(facts.note, "saturated: every bit is set, so it may contain every key");
    return;
  }
  expected_keys = log1p(-(double)bits_set/(double)num_bits) / log1p(-1/(32*(double)num_blocks));
  assert_close(facts.estimated_keys, expected_keys, 1e-9, "estimated_keys");
  if( (double)bits_set>0.75*(double)num_bits ){
    assert_non_null(facts.note);
    assert_memory_equal(facts.note, "nearly saturated:", 17);
  }else{
    assert_true(facts.note==NULL);
  }
}

TEST(facts_of_filters){
  static const uint64_t sizes[] = {1, 2, 3, 10, 128, 1000};
  size_t s, load, i;
  for(s=0; s<COUNT_OF(sizes); s++){
    const bloom_shape shape = blocks_of(sizes[s]);
    for(load=0; load<100; load+=load<3 ? 1 : 13){
      rng random = rng_stream(3000 + 200*s + load);
      uint64_t *hashes = random_hashes(&random, load*(size_t)sizes[s]);
      uint8_t *filter = cleared(&shape);
      add_hashes(&shape, filter, hashes, load*(size_t)sizes[s]);
      check_facts(filter, shape.num_bytes);
      free(filter);
      free(hashes);
    }
    /* All bits set; all but one, each of the first block's in turn; one alone. */
    {
      uint8_t *filter = cleared(&shape);
      uint8_t *blocks = filter + shape.num_bytes - (size_t)sizes[s]*32;
      memset(blocks, 0xff, (size_t)sizes[s]*32);
      check_facts(filter, shape.num_bytes);
      for(i=0; i<256; i++){
        blocks[i/8] ^= (uint8_t)(1u << i%8);
        check_facts(filter, shape.num_bytes);
        blocks[i/8] ^= (uint8_t)(1u << i%8);
      }
      memset(blocks, 0, (size_t)sizes[s]*32);
      blocks[31] = 0x80;
      check_facts(filter, shape.num_bytes);
      free(filter);
    }
  }
}

/* The bits are not read unless they are asked for: here they are not there. */
TEST(facts_without_counting){
  static const struct { const char *header; uint64_t num_blocks; int is_large; } known[] = {
    {"1540" MARKS, 1, 0}, {"158080808001" MARKS, 4194304, 0}, {"15c080808001" MARKS, 4194305, 1},
    {"15c0ffffff0f" MARKS, 67108863, 1},
  };
  size_t i, num_header;
  for(i=0; i<COUNT_OF(known); i++){
    uint8_t *header = bytes_of(known[i].header, &num_header);
    const bloom_filter filter = read_back(header, num_header + (size_t)known[i].num_blocks*32);
    bloom_facts facts;
    memset(&facts, 0x5a, sizeof(facts));
    parquet->describe(&filter, 0, &facts);
    assert_string_equal(facts.encoding, "parquet");
    assert_int_equal(facts.num_bits, 256*known[i].num_blocks);
    assert_int_equal(facts.num_probes, 8);
    assert_true(facts.bits_set<0 && facts.fill_ratio<0 && facts.estimated_keys<0 && facts.expected_fpr<0);
    if( known[i].is_large ) assert_memory_equal(facts.note, "large: over 128 MiB", 19);
    else assert_true(facts.note==NULL);
    free(header);
  }
}

/* ---- rates and sizes ---------------------------------------------------------- */

/* Term by term from the binomial distribution's definition. */
static double reference_fpr(uint64_t num_keys, uint64_t num_blocks){
  const double n = (double)num_keys, b = (double)num_blocks;
  double sum = 0;
  uint64_t load;
  for(load=0; load<=num_keys && load<2000; load++){
    const double l = (double)load;
    const double log_of = lgamma(n+1) - lgamma(l+1) - lgamma(n-l+1)
                        + (num_blocks>1 ? -l*log(b) + (n-l)*log1p(-1/b) : load==num_keys ? 0 : -1e6);
    const double fpr = pow(1 - pow(31/32.0, l), 8) + l/4294967296.0;
    sum += exp(log_of) * (fpr<1 ? fpr : 1);
  }
  return sum;
}

TEST(modelled_rates){
  static const uint64_t num_keys[] = {0, 1, 2, 3, 25, 26, 100, 1000, 20000, 1000000, 100000000};
  static const double bits_per_key[] = {1, 2, 4, 7.3, 10, 16, 33, 100};
  size_t n, b;
  for(n=0; n<COUNT_OF(num_keys); n++){
    for(b=0; b<COUNT_OF(bits_per_key); b++){
      const uint64_t num_blocks = shape_of(num_keys[n], bits_per_key[b]).num_slots;
      const double fpr = bloom_parquet_modelled_fpr(num_keys[n], num_blocks);
      /* lgamma() of 1e8 has a relative error of some 1e-7 left in the differences. */
      assert_close(fpr, reference_fpr(num_keys[n], num_blocks), num_keys[n]>1000000 ? 1e-5 : 1e-7, "modelled rate");
    }
  }
  /* Measured with a million keys, by others: at 8, 10, 12, 16, 20 bits per key. */
  assert_close(bloom_parquet_modelled_fpr(1000000, 31250), 0.0332, 0.005, "8 bits");
  assert_close(bloom_parquet_modelled_fpr(1000000, 39063), 0.0127, 0.005, "10 bits");
  assert_close(bloom_parquet_modelled_fpr(1000000, 46875), 0.00544, 0.005, "12 bits");
  assert_close(bloom_parquet_modelled_fpr(1000000, 62500), 0.00132, 0.005, "16 bits");
  assert_close(bloom_parquet_modelled_fpr(1000000, 78125), 0.00042, 0.005, "20 bits");
  /* Fuller than any size here would make it. */
  assert_close(bloom_parquet_modelled_fpr(500, 1), 1, 1e-5, "500 keys in a block");
  assert_close(bloom_parquet_modelled_fpr(100000, 1), 1, 1e-5, "100,000 keys in a block");
  assert_close(bloom_parquet_modelled_fpr(1190, 2), 1, 1e-5, "595 keys in each of two");
  assert_close(bloom_parquet_modelled_fpr(UINT64_MAX, 5), 1, 1e-5, "most keys");
}

static double fpr_of_size(uint64_t num_keys, uint32_t bits_per_key_x10){
  bloom_shape shape;
  if( parquet->shape(num_keys, bits_per_key_x10/10.0, &shape)!=BLOOM_OK ) return 1;
  return bloom_parquet_modelled_fpr(num_keys, shape.num_slots);
}

/* The first of all sizes that has the rate. */
static uint32_t naive_bits_per_key_x10(double fpr, uint64_t num_keys){
  uint32_t bits_per_key_x10;
  for(bits_per_key_x10=10; bits_per_key_x10<=1000; bits_per_key_x10++){
    if( fpr_of_size(num_keys, bits_per_key_x10)<=fpr ) return bits_per_key_x10;
  }
  return 0;
}

TEST(smallest_sizes){
  static const struct { double fpr; uint64_t num_keys; uint32_t bits_per_key_x10; } known[] = {
    {0.5, 1000000, 33}, {0.1, 1000000, 60}, {0.01, 1000000, 106}, {0.001, 1000000, 169}, {0.0001, 1000000, 264},
    {0.01, 100000000, 106}, {0.001, 100000000, 169}, {0.01, 1, 10}, {0.01, 0, 10}, {1e-9, 1, 10},
  };
  static const double rates[] = {0.999, 0.3, 0.05, 0.01, 0.00123, 1e-4, 1e-6, 2e-7, 1.2e-7, 1e-9, 1e-12};
  static const uint64_t num_keys[] = {0, 1, 2, 10, 26, 100, 1234, 20000, 1000000, 100000000, 1000000000, 5000000000u,
                                      17179868928u, 17179868929u, 100000000000u, UINT64_MAX};
  size_t i, r;
  for(i=0; i<COUNT_OF(known); i++){
    double best = -1;
    assert_int_equal(parquet->min_bits_per_key_x10(known[i].fpr, known[i].num_keys, &best), known[i].bits_per_key_x10);
    assert_true(best<0);
  }
  for(i=0; i<COUNT_OF(num_keys); i++){
    for(r=0; r<COUNT_OF(rates); r++){
      double best = -1;
      const uint32_t expected = naive_bits_per_key_x10(rates[r], num_keys[i]);
      const uint32_t given = parquet->min_bits_per_key_x10(rates[r], num_keys[i], &best);
      assert_int_equal(given, expected);
      if( given ){
        assert_true(best<0);
      }else{
        assert_true(best>rates[r] && best<=1);
        /* It is in reach, unless no size is. */
        if( best<1 ) assert_true(naive_bits_per_key_x10(best, num_keys[i])>0);
      }
    }
  }
}

/* What filters of real hashes accept: as modelled, for each kind of key, and as
** measured_fpr and expected_fpr say. */
TEST(rates_are_as_modelled){
  enum { HEXADECIMAL, CONSECUTIVE, NUMBERED, NUM_KINDS };
  static const size_t num_keys[] = {100, 20000, 1000000};
  static const double bits_per_key[] = {6, 10, 16};
  size_t n, b, kind, i;
  for(n=0; n<COUNT_OF(num_keys); n++){
    for(b=0; b<COUNT_OF(bits_per_key); b++){
      for(kind=0; kind<NUM_KINDS; kind++){
        const size_t present = num_keys[n]<=20000 ? num_keys[n] : test_share(num_keys[n]);
        const size_t num_absent = test_share(1000000);
        const bloom_shape shape = shape_of(present, bits_per_key[b]);
        const double model = bloom_parquet_modelled_fpr(present, shape.num_slots);
        /* Of a rate that is measured, and of one that varies from filter to filter. */
        const double spread = 6*model/sqrt((double)shape.num_slots);
        const double error = 5*sqrt(model/(double)num_absent) + spread;
        uint8_t *bytes = cleared(&shape);
        bloom_filter filter;
        bloom_facts facts;
        size_t num_accepted = 0;
        uint64_t hash;
        for(i=0; i<present+num_absent; i++){
          if( kind==CONSECUTIVE ){
            hash = parquet->hash_int64((int64_t)i);
          }else{
            char text[32];
            int length = kind==HEXADECIMAL ? snprintf(text, sizeof(text), "%016llx", (unsigned long long)i * 0x9e3779b97f4a7c15u)
                                       : snprintf(text, sizeof(text), "cust-%011zu", i);
            hash = parquet->hash_bytes((const uint8_t*)text, (size_t)length);
          }
          if( i<present ){
            add_hashes(&shape, bytes, &hash, 1);
          }else{
            if( i==present ) filter = read_back(bytes, shape.num_bytes);
            num_accepted += (size_t)parquet->may_contain(&filter, hash);
          }
        }
        if( fabs((double)num_accepted/(double)num_absent - model)>error ){
          fail_msg("%zu keys of kind %zu at %g bits: %zu of %zu accepted, expected %.4g", present, kind,
                   bits_per_key[b], num_accepted, num_absent, model*(double)num_absent);
        }
        parquet->describe(&filter, 1, &facts);
        assert_true(fabs(facts.expected_fpr - model)<=spread);
        if( present>=10000 ) assert_close(facts.estimated_keys, (double)present, 0.02, "estimated_keys");
        assert_true(fabs(bloom_measured_fpr(&filter) - facts.expected_fpr)<=5*sqrt(facts.expected_fpr/131072));
        free(bytes);
      }
    }
  }
}

/* The quickest first: the check of mutants stops at the first that fails. */
RUN_TESTS()
