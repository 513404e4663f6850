/*
** Builds and tests filters: equal to the reference byte for byte, whatever
** the order and however the keys are split, and never a wrong "no".
**
** Input: bits_per_key in sixteenths, capacity, a seed for the order, then keys:
** each a byte that says what it is and, for most, bytes of it.
*/
#include "fuzz.h"

#include <inttypes.h>

#include "../../../ext/core/bits.h"
#include "../../../ext/core/decimal.h"
#include "../../../ext/core/encodings.h"
#include "../../../ext/core/leveldb/leveldb.h"

#define MAX_KEYS 100

typedef struct key_span {
  const uint8_t *bytes;
  size_t num_bytes;
} key_span;

typedef struct key_list {
  key_span spans[MAX_KEYS];
  uint32_t hashes[MAX_KEYS]; /* the reference's */
  size_t num_keys;
} key_list;

static void add_key(key_list *list, const uint8_t *bytes, size_t num_bytes){
  if( list->num_keys==MAX_KEYS ) return;
  list->hashes[list->num_keys] = reference_hash(bytes, num_bytes);
  list->spans[list->num_keys].bytes = fuzz_exact(bytes, num_bytes);
  list->spans[list->num_keys].num_bytes = num_bytes;
  list->num_keys++;
}

/* The decimal text of an integer is a key; three ways to its hash. */
static void add_integer(key_list *list, int64_t value){
  char text[32];
  uint8_t decimal[BLOOM_DECIMAL_MAX_BYTES];
  size_t num_bytes;
  const size_t num_chars = (size_t)snprintf(text, sizeof(text), "%" PRId64, value);
  const uint32_t hash = reference_hash((const uint8_t*)text, num_chars);
  const uint8_t *written = bloom_decimal(value, decimal, &num_bytes);
  FUZZ_CHECK(num_bytes==num_chars && memcmp(written, text, num_chars)==0);
  FUZZ_CHECK(bloom_leveldb_hash_int64(value)==hash);
  add_key(list, (const uint8_t*)text, num_chars);
}

static void read_keys(fuzz_input *input, key_list *list){
  list->num_keys = 0;
  while( input->num_left && list->num_keys<MAX_KEYS ){
    const uint8_t kind = fuzz_byte(input);
    const uint8_t *bytes;
    size_t num_bytes;
    if( kind<200 ){
      bytes = fuzz_bytes(input, kind % 40, &num_bytes);
      add_key(list, bytes, num_bytes);
    }else if( kind<220 ){
      add_integer(list, (int64_t)(fuzz_u64(input) >> (kind - 200) * 3));
    }else if( kind<230 ){
      /* The last key once more: duplicates count. */
      const key_span *last = &list->spans[list->num_keys ? list->num_keys-1 : 0];
      if( list->num_keys ) add_key(list, last->bytes, last->num_bytes);
    }else{
      int64_t value = (int16_t)fuzz_u16(input);
      int i;
      for(i=0; i<kind-229; i++) add_integer(list, value + i);
    }
  }
}

static uint32_t next_random(uint32_t *state){
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* Adds all hashes in an order and in runs that the seed decides. */
static void add_in_runs(const bloom_shape *shape, uint8_t *filter, const uint32_t *hashes,
                        size_t num_hashes, uint32_t seed){
  uint32_t shuffled[MAX_KEYS];
  bloom_hash_run runs[8];
  size_t at = 0, i;
  if( num_hashes ) memcpy(shuffled, hashes, num_hashes * sizeof(hashes[0]));
  for(i=num_hashes; i>1; i--){
    const size_t j = next_random(&seed) % i;
    const uint32_t other = shuffled[j];
    shuffled[j] = shuffled[i-1];
    shuffled[i-1] = other;
  }
  for(i=0; i<8; i++){
    size_t num = i==7 ? num_hashes - at : next_random(&seed) % (num_hashes/2 + 2);
    if( num>num_hashes-at ) num = num_hashes - at;
    runs[i].next = i==7 ? NULL : &runs[i+1];
    runs[i].hashes = num ? shuffled + at : NULL;
    runs[i].num_hashes = num;
    at += num;
  }
  bloom_leveldb_add(shape, filter, runs);
}

/* Equal to the reference; two halves merged are the whole; no key is lost. */
static void check_build(const key_list *list, uint64_t capacity, uint32_t sixteenths, uint32_t seed){
  uint32_t hashes[MAX_KEYS];
  bloom_shape shape = {0, 0, 0, 0};
  bloom_filter filter;
  uint8_t *built, *expected, *half;
  const size_t num_keys = list->num_keys;
  const size_t num_first = num_keys ? seed % num_keys : 0;
  size_t i;
  FUZZ_CHECK(bloom_leveldb_shape(capacity, sixteenths / 16.0, &shape)==BLOOM_OK);
  FUZZ_CHECK(shape.num_bytes==reference_num_bytes(capacity, sixteenths));
  FUZZ_CHECK(shape.num_bits==(shape.num_bytes-1)*8);
  FUZZ_CHECK(shape.num_probes==reference_num_probes(sixteenths));

  for(i=0; i<num_keys; i++){
    hashes[i] = bloom_leveldb_hash(list->spans[i].bytes, list->spans[i].num_bytes);
    FUZZ_CHECK(hashes[i]==list->hashes[i]);
  }

  expected = fuzz_exact(NULL, shape.num_bytes);
  expected[shape.num_bytes-1] = (uint8_t)shape.num_probes;
  for(i=0; i<num_keys; i++) reference_add(expected, shape.num_bytes, hashes[i]);

  built = fuzz_exact(NULL, shape.num_bytes);
  bloom_leveldb_clear(&shape, built);
  add_in_runs(&shape, built, hashes, num_keys, seed);
  FUZZ_CHECK(memcmp(built, expected, shape.num_bytes)==0);

  half = fuzz_exact(NULL, shape.num_bytes);
  bloom_leveldb_clear(&shape, half);
  bloom_leveldb_clear(&shape, built);
  add_in_runs(&shape, built, hashes, num_first, seed);
  add_in_runs(&shape, half, hashes + num_first, num_keys - num_first, seed);
  bloom_encoding_leveldb.read(half, shape.num_bytes, &filter);
  FUZZ_CHECK(bloom_merge_filter(built, &filter)==1);
  FUZZ_CHECK(memcmp(built, expected, shape.num_bytes)==0);

  bloom_filter_read(built, shape.num_bytes, &filter);
  FUZZ_CHECK(bloom_shapes_are_equal(&filter.shape, &shape));
  for(i=0; i<num_keys; i++){
    FUZZ_CHECK(filter.encoding->may_contain(&filter, hashes[i])==1);
    FUZZ_CHECK(filter.encoding->may_contain(&filter, filter.encoding->hash_bytes(list->spans[i].bytes, list->spans[i].num_bytes))==1);
  }
  for(i=0; i<8; i++){
    const uint32_t other = next_random(&seed) << 8 ^ next_random(&seed);
    FUZZ_CHECK(filter.encoding->may_contain(&filter, other)==reference_may_contain(expected, shape.num_bytes, other));
  }
  free(built);
  free(expected);
  free(half);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_bytes){
  fuzz_input input = {data, num_bytes};
  const uint32_t sixteenths = 16 + fuzz_u16(&input) % (1600-16+1);
  const uint64_t capacity = fuzz_u16(&input) % 300;
  const uint32_t seed = fuzz_u32(&input);
  key_list list;
  size_t i;
  read_keys(&input, &list);
  check_build(&list, list.num_keys, sixteenths, seed);
  check_build(&list, capacity, sixteenths, seed + 1);
  for(i=0; i<list.num_keys; i++) free((void*)(uintptr_t)list.spans[i].bytes);
  return 0;
}
