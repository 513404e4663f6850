/*
** Reads any bytes as a filter: every answer is LevelDB's, nothing is read
** beyond the bytes, and no key is lost by adding or merging.
**
** Input: number of bytes of a key, the key, then the filter; for merging, the
** first and the second half of the filter's bits are two filters.
*/
#include "fuzz.h"

#include "../../../ext/core/bits.h"
#include "../../../ext/core/encodings.h"
#include "../../../ext/core/leveldb/leveldb.h"
#include "../../../ext/core/leveldb/hash.h"

#define NUM_HASHES 16

static uint64_t count_bits(const uint8_t *bytes, size_t num_bytes){
  uint64_t count = 0;
  size_t i;
  for(i=0; i<num_bytes; i++){
    unsigned byte = bytes[i];
    for(; byte; byte>>=1) count += byte & 1;
  }
  return count;
}

static void check_reading(const bloom_filter *filter, size_t num_bytes, unsigned last){
  FUZZ_CHECK(filter->encoding==&bloom_encoding_leveldb);
  FUZZ_CHECK(filter->shape.num_bytes==num_bytes);
  FUZZ_CHECK(filter->shape.num_probes==(num_bytes<2 || last>30 ? 0 : last));
  FUZZ_CHECK(filter->shape.num_bits==(num_bytes ? (num_bytes-1)*8 : 0));
  FUZZ_CHECK((filter->encoding->readonly_reason(filter)==NULL)==(filter->shape.num_probes>0));
}

static void check_facts(const bloom_filter *filter, unsigned last, int seldom){
  const size_t num_bytes = filter->shape.num_bytes;
  const int has_bits = filter->shape.num_probes>0;
  bloom_facts facts, cheap;
  filter->encoding->describe(filter, 1, &facts);
  filter->encoding->describe(filter, 0, &cheap);
  FUZZ_CHECK(cheap.encoding==facts.encoding && cheap.num_bits==facts.num_bits && cheap.num_probes==facts.num_probes);
  FUZZ_CHECK(facts.expected_fpr>=0 && facts.expected_fpr<=1);
  FUZZ_CHECK((facts.encoding==NULL)==(num_bytes>=2 && last>30));
  FUZZ_CHECK(facts.encoding==NULL ? facts.bits_set<0
             : facts.bits_set==(int64_t)(num_bytes ? count_bits(filter->bytes, num_bytes-1) : 0));
  FUZZ_CHECK((facts.estimated_keys>=0)==(has_bits && facts.bits_set<facts.num_bits));
  if( facts.estimated_keys>=0 ){
    /* One bit of n set by one probe: a little over a key; one bit left: n ln n. */
    FUZZ_CHECK(facts.bits_set ? facts.estimated_keys>=(double)facts.bits_set/(double)facts.num_probes*0.999999
               : facts.estimated_keys<1e-9);
    FUZZ_CHECK(facts.estimated_keys<=(double)facts.num_bits * 45);
  }
  if( seldom ){
    const double measured_fpr = filter->encoding->measured_fpr(filter);
    FUZZ_CHECK(measured_fpr>=0 && measured_fpr<=1);
    if( num_bytes<2 ) FUZZ_CHECK(measured_fpr<=0);
    if( num_bytes>=2 && !has_bits ) FUZZ_CHECK(measured_fpr>=1);
  }
}

/* Adds the first hashes; what was found before is found still. */
static void check_add(const bloom_filter *filter, const uint32_t *hashes, const uint8_t *answers){
  const bloom_shape shape = filter->shape;
  const size_t num_added = hashes[0] % 5;
  uint8_t *grown = fuzz_exact(filter->bytes, filter->shape.num_bytes);
  uint8_t *expected = fuzz_exact(filter->bytes, filter->shape.num_bytes);
  const bloom_hash_run run = {NULL, hashes, num_added};
  size_t i;
  bloom_leveldb_add(&shape, grown, &run);
  for(i=0; i<num_added; i++) reference_add(expected, filter->shape.num_bytes, hashes[i]);
  FUZZ_CHECK(memcmp(grown, expected, filter->shape.num_bytes)==0);
  for(i=0; i<NUM_HASHES; i++){
    if( i<num_added || answers[i] ) FUZZ_CHECK(reference_may_contain(grown, filter->shape.num_bytes, hashes[i]));
  }
  free(grown);
  free(expected);
}

/* Two halves of the bits with one probe byte: what either has, the union has. */
static void check_merge(const bloom_filter *filter, const uint32_t *hashes){
  const size_t half = (filter->shape.num_bytes - 1) / 2;
  bloom_filter other;
  uint8_t *left, *right, *both;
  size_t i;
  if( half==0 ) return;
  left = fuzz_exact(filter->bytes, half + 1);
  right = fuzz_exact(filter->bytes + half, half + 1);
  left[half] = right[half] = (uint8_t)filter->shape.num_probes;
  both = fuzz_exact(left, half + 1);
  bloom_encoding_leveldb.read(right, half + 1, &other);
  FUZZ_CHECK(bloom_merge_filter(both, &other)==1);
  FUZZ_CHECK(both[half]==filter->shape.num_probes);
  for(i=0; i<half; i++) FUZZ_CHECK(both[i]==(left[i] | right[i]));
  for(i=0; i<NUM_HASHES; i+=4){
    if( reference_may_contain(left, half + 1, hashes[i]) || reference_may_contain(right, half + 1, hashes[i]) ){
      FUZZ_CHECK(reference_may_contain(both, half + 1, hashes[i]));
    }
  }
  free(left);
  free(right);
  free(both);
}

/* Reads, tests and describes a filter without harm, and the results agree with each other. */
static void check_other_encoding(const bloom_filter *filter, const uint8_t *key, size_t num_key_bytes){
  const bloom_encoding *encoding = filter->encoding;
  bloom_facts facts;
  const int answer = encoding->may_contain_bytes(filter, key, num_key_bytes);
  FUZZ_CHECK(answer==encoding->may_contain(filter, encoding->hash_bytes(key, num_key_bytes)));
  encoding->describe(filter, 1, &facts);
  FUZZ_CHECK(facts.encoding==encoding->name && facts.bits_set<=facts.num_bits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_data_bytes){
  fuzz_input input = {data, num_data_bytes};
  uint32_t hashes[NUM_HASHES];
  uint8_t answers[NUM_HASHES];
  bloom_filter filter;
  size_t num_key_bytes, num_bytes, i;
  unsigned last;
  const size_t max_key_bytes = fuzz_byte(&input) % 24;
  const uint8_t *key = fuzz_bytes(&input, max_key_bytes, &num_key_bytes);
  uint8_t *exact_key = fuzz_exact(key, num_key_bytes);
  const uint8_t *bytes = fuzz_bytes(&input, SIZE_MAX, &num_bytes);
  uint8_t *exact = fuzz_exact(bytes, num_bytes);

  hashes[0] = bloom_leveldb_hash(exact_key, num_key_bytes);
  FUZZ_CHECK(hashes[0]==reference_hash(exact_key, num_key_bytes));
  /* Any hashes, and some that only small filters tell apart. */
  for(i=1; i<NUM_HASHES; i++) hashes[i] = i<8 ? (uint32_t)i - 4 : hashes[i-1] * 1664525u + 1013904223u;

  /* No bytes may come without an address. */
  bloom_filter_read(num_bytes || num_key_bytes%2 ? exact : NULL, num_bytes, &filter);
  if( filter.encoding!=&bloom_encoding_leveldb ){
    /* Another encoding's, by chance or by the fuzzer's wit: it has targets of its own. */
    check_other_encoding(&filter, exact_key, num_key_bytes);
    FUZZ_CHECK(bloom_encoding_leveldb.read(exact, num_bytes, &filter)==1);
  }
  last = num_bytes ? exact[num_bytes-1] : 0;
  check_reading(&filter, num_bytes, last);
  for(i=0; i<NUM_HASHES; i++){
    answers[i] = (uint8_t)filter.encoding->may_contain(&filter, hashes[i]);
    FUZZ_CHECK(answers[i]==reference_may_contain(exact, num_bytes, hashes[i]));
  }
  FUZZ_CHECK(filter.encoding->may_contain_bytes(&filter, exact_key, num_key_bytes)==answers[0]);
  check_facts(&filter, last, fuzz_seldom(data, num_data_bytes, 2048));
  if( filter.shape.num_probes>0 ){
    check_add(&filter, hashes, answers);
    check_merge(&filter, hashes);
  }
  /* Reading changes nothing. */
  FUZZ_CHECK(num_bytes==0 || memcmp(exact, bytes, num_bytes)==0);
  free(exact_key);
  free(exact);
  return 0;
}
