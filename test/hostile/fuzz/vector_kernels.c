/*
** Every row of kernels that runs here against the scalar row's reference: the
** format's definition, computed bit by bit.  Rows may differ in speed alone.
**
** Input: which sizes and probes, then hashes.
*/
#include "fuzz.h"

#include "../../../ext/core/encodings.h"
#include "../../../ext/core/leveldb/leveldb.h"
#include "../../../ext/core/parquet/kernels.h"

#define MAX_HASHES 100
#define MAX_PROBES  30
#define MAX_BYTES   300

typedef struct kernel_case {
  uint64_t num_bits;    /* of a filter that need not exist */
  size_t num_bytes;     /* of a filter that does */
  uint32_t num_probes;
  bloom_leveldb_part part;      /* what positions() keeps */
  size_t num_hashes;
  uint32_t hashes[MAX_HASHES];
} kernel_case;

static void read_case(fuzz_input *input, kernel_case *kase){
  size_t i;
  const uint8_t shift = fuzz_byte(input);
  kase->num_bytes = 2 + fuzz_u16(input) % (MAX_BYTES - 1);
  kase->num_bits = (fuzz_u64(input) >> (1 + shift%58)) / 8 * 8 + 8;
  kase->num_probes = 1 + fuzz_byte(input) % MAX_PROBES;
  kase->part.begin = fuzz_u32(input);
  kase->part.num_bits = fuzz_u32(input) >> shift%31;
  /* A part is not empty and ends at 2^32. */
  if( kase->part.num_bits==0 ) kase->part.num_bits = 1;
  if( kase->part.num_bits>UINT32_MAX-kase->part.begin ){
    kase->part.num_bits = UINT32_MAX - kase->part.begin + (kase->part.begin>0);
  }
  kase->num_hashes = input->num_left/4<MAX_HASHES ? input->num_left/4 : MAX_HASHES;
  for(i=0; i<kase->num_hashes; i++){
    kase->hashes[i] = fuzz_u32(input);
    /* Just around multiples of the size a quotient may be off by one. */
    if( shift & 0x80 ) kase->hashes[i] = (uint32_t)(kase->num_bits * (kase->hashes[i]>>2)) - kase->hashes[i]%4;
  }
}

static int compare_positions(const void *a, const void *b){
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x>y) - (x<y);
}

/* All positions, whose order is the row's own, then those of the part by them. */
static void check_positions(const bloom_leveldb_kernels *kernels, const kernel_case *kase){
  const bloom_leveldb_divisor divisor = bloom_leveldb_divisor_of(bloom_leveldb_reached_bits(kase->num_bits));
  const size_t num_padded = kase->num_hashes / BLOOM_LEVELDB_MAX_LANES * BLOOM_LEVELDB_MAX_LANES;
  const size_t num_positions = num_padded * kase->num_probes;
  const size_t size = num_positions * sizeof(uint32_t);
  uint32_t *positions, *expected;
  size_t num_expected = 0, i;
  uint32_t j;
  if( num_padded==0 ) return;
  positions = malloc(size);
  expected = malloc(size);
  if( positions==NULL || expected==NULL ) abort();
  kernels->positions(NULL, divisor, kase->num_probes, kase->hashes, num_padded, positions);
  for(i=0; i<num_positions; i++){
    if( positions[i]>=kase->part.begin && positions[i]-kase->part.begin<kase->part.num_bits ){
      expected[num_expected++] = positions[i];
    }
  }
  FUZZ_CHECK(kernels->positions(&kase->part, divisor, kase->num_probes, kase->hashes, num_padded, positions)
             ==num_expected);
  FUZZ_CHECK(memcmp(positions, expected, num_expected * sizeof(uint32_t))==0);
  for(i=0; i<num_padded; i++){
    for(j=0; j<kase->num_probes; j++){
      expected[i*kase->num_probes + j] = reference_position(kase->hashes[i], j, kase->num_bits);
    }
  }
  kernels->positions(NULL, divisor, kase->num_probes, kase->hashes, num_padded, positions);
  qsort(positions, num_positions, sizeof(*positions), compare_positions);
  qsort(expected, num_positions, sizeof(*expected), compare_positions);
  FUZZ_CHECK(memcmp(positions, expected, size)==0);
  free(positions);
  free(expected);
}

/* Half of the hashes are added, and all are tested. */
static void check_filter(const bloom_leveldb_kernels *kernels, const kernel_case *kase){
  const uint64_t num_bits = (kase->num_bytes-1) * (uint64_t)8;
  const bloom_shape shape = {kase->num_bytes, num_bits, num_bits, kase->num_probes};
  const size_t num_added = kase->num_hashes / 2;
  const bloom_hash_run second = {NULL, kase->hashes + num_added/3, num_added - num_added/3};
  const bloom_hash_run first = {&second, kase->hashes, num_added/3};
  uint8_t *given = fuzz_exact(NULL, shape.num_bytes);
  uint8_t *expected = fuzz_exact(NULL, shape.num_bytes);
  bloom_filter filter;
  size_t i;
  bloom_leveldb_clear(&shape, given);
  bloom_leveldb_add_by(kernels, &shape, given, &first);
  expected[shape.num_bytes-1] = (uint8_t)shape.num_probes;
  for(i=0; i<num_added; i++) reference_add(expected, shape.num_bytes, kase->hashes[i]);
  FUZZ_CHECK(memcmp(given, expected, shape.num_bytes)==0);
  bloom_filter_read(given, shape.num_bytes, &filter);
  for(i=0; i<kase->num_hashes; i++){
    const int answer = filter.encoding->may_contain(&filter, kase->hashes[i]);
    FUZZ_CHECK(answer==reference_may_contain(expected, shape.num_bytes, kase->hashes[i]));
    if( i<num_added ) FUZZ_CHECK(answer==1);
  }
  free(given);
  free(expected);
}

/* Parquet's: pairs of the hashes as one of 64 bits; blocks that begin anywhere. */
static void check_blocks(const bloom_parquet_kernels *kernels, const kernel_case *kase){
  const uint64_t num_blocks = 1 + kase->num_bits % 9;
  const size_t num_bytes = (size_t)num_blocks * BLOOM_SPLIT_BLOCK_BYTES;
  const size_t num_hashes = kase->num_hashes / 2, num_added = num_hashes / 2;
  const size_t at = kase->num_bytes % 32;
  uint64_t hashes[MAX_HASHES/2];
  uint8_t *memory = fuzz_exact(NULL, at + num_bytes);
  uint8_t *expected = fuzz_exact(NULL, num_bytes);
  uint8_t *given = memory + at;
  size_t i;
  for(i=0; i<num_hashes; i++) hashes[i] = (uint64_t)kase->hashes[2*i] << 32 | kase->hashes[2*i + 1];
  for(i=0; i<num_added; i++){
    bloom_split_block_add(expected + bloom_split_block_number(hashes[i], num_blocks)*BLOOM_SPLIT_BLOCK_BYTES, hashes[i]);
  }
  kernels->add(given, num_blocks, hashes, num_added);
  FUZZ_CHECK(memcmp(given, expected, num_bytes)==0);
  for(i=0; i<num_hashes; i++){
    const uint8_t *block = expected + bloom_split_block_number(hashes[i], num_blocks)*BLOOM_SPLIT_BLOCK_BYTES;
    const int answer = kernels->may_contain(given, num_blocks, hashes[i]);
    FUZZ_CHECK(answer==bloom_split_block_may_contain(block, hashes[i]));
    if( i<num_added ) FUZZ_CHECK(answer==1);
  }
  free(memory);
  free(expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_bytes){
  fuzz_input input = {data, num_bytes};
  kernel_case kase;
  size_t row;
  read_case(&input, &kase);
  for(row=0; bloom_leveldb_all_kernels[row]; row++){
    const bloom_leveldb_kernels *kernels = bloom_leveldb_all_kernels[row];
    if( kernels->is_supported && !kernels->is_supported() ) continue;
    check_positions(kernels, &kase);
    check_filter(kernels, &kase);
  }
  for(row=0; bloom_parquet_all_kernels[row]; row++){
    if( bloom_parquet_all_kernels[row]->is_supported && !bloom_parquet_all_kernels[row]->is_supported() ) continue;
    check_blocks(bloom_parquet_all_kernels[row], &kase);
  }
  return 0;
}
