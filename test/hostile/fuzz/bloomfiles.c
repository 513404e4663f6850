/*
** BloomFiles: what was added is found, every answer is that of a reader written from the
** format's rules alone, and any bytes behind a header, or in it, are safe to read.
**
** Input: bytes of a unit, number of units, probes, keys; the keys' hashes and sets; what
** is changed in the header; then bits to flip.
*/
#include "fuzz.h"

#include "../../../ext/core/bloomfile/bloomfile.h"
#include "../../../ext/core/encodings.h"

#define MAX_KEYS         40
#define MAX_UNIT_BYTES   600
#define HEADER_BYTES     32

static int naive_has(const uint8_t *file, const bloom_shape *shape, uint64_t hash, size_t set){
  return reference_set_may_contain(file, shape->num_slots, shape->num_probes,
                                   (shape->num_bytes - HEADER_BYTES) / (size_t)shape->num_slots, hash, set);
}

/* Every set's answer to a hash. */
static void check_answer(const bloom_filter *file, uint64_t hash){
  const size_t unit_bytes = bloom_bloomfile_unit_bytes(&file->shape);
  uint8_t *mask = fuzz_exact(NULL, unit_bytes);
  const int is_any = bloom_bloomfile_sets(file, hash, mask, NULL);
  int found = 0;
  size_t set;
  for(set=0; set<8*unit_bytes; set++){
    const int has = naive_has(file->bytes, &file->shape, hash, set);
    FUZZ_CHECK((mask[set/8] >> set%8 & 1)==has);
    found |= has;
  }
  FUZZ_CHECK(is_any==found && file->encoding->may_contain(file, hash)==found);
  free(mask);
}

static void check_facts(const bloom_filter *file, int seldom){
  const bloom_shape *shape = &file->shape;
  const size_t unit_bytes = bloom_bloomfile_unit_bytes(shape);
  int64_t num_sets = 0, bits_set = 0;
  bloom_facts facts;
  size_t set;
  uint64_t unit;
  file->encoding->describe(file, 1, &facts);
  for(set=0; set<8*unit_bytes; set++){
    int64_t count = 0;
    for(unit=0; unit<shape->num_slots; unit++) count += file->bits[(size_t)unit*unit_bytes + set/8] >> set%8 & 1;
    bits_set += count;
    num_sets += count>0;
  }
  FUZZ_CHECK(facts.num_sets==num_sets && facts.bits_set==bits_set);
  FUZZ_CHECK(facts.fill_ratio>=0 && facts.fill_ratio<=1.000001 && facts.expected_fpr>=0 && facts.expected_fpr<=1.000001);
  if( seldom ){
    const double measured_fpr = bloom_measured_fpr(file);
    FUZZ_CHECK(measured_fpr>=0 && measured_fpr<=1);
  }
}

/* Merging with itself changes nothing; wider and narrow again it is what it was. */
static void check_copies(const bloom_filter *file){
  const bloom_shape wide = bloom_bloomfile_with_unit_bytes(&file->shape, bloom_bloomfile_unit_bytes(&file->shape) + 3);
  uint8_t *copy = fuzz_exact(file->bytes, file->shape.num_bytes);
  uint8_t *wider = fuzz_exact(NULL, wide.num_bytes);
  bloom_merge_filter(copy, file);
  FUZZ_CHECK(memcmp(copy, file->bytes, file->shape.num_bytes)==0);
  bloom_bloomfile_copy_units(&file->shape, file->bytes, &wide, wider);
  bloom_bloomfile_copy_units(&wide, wider, &file->shape, wider);
  FUZZ_CHECK(memcmp(wider, file->bytes, file->shape.num_bytes)==0);
  free(copy);
  free(wider);
}

/* Bytes of which some may be wrong: a BloomFile whose header says what is there, or none. */
static void check_any_bytes(const uint8_t *bytes, size_t num_bytes, uint64_t hash){
  bloom_filter file;
  bloom_filter_read(bytes, num_bytes, &file);
  if( file.encoding!=&bloom_encoding_bloomfile ){
    file.encoding->may_contain(&file, hash);
    return;
  }
  FUZZ_CHECK(file.shape.num_bytes==num_bytes && file.shape.num_slots>=1);
  FUZZ_CHECK(file.shape.num_probes>=1 && file.shape.num_probes<=BLOOM_BLOOMFILE_MAX_PROBES);
  FUZZ_CHECK(HEADER_BYTES + file.shape.num_slots*bloom_bloomfile_unit_bytes(&file.shape)==num_bytes);
  check_answer(&file, hash);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_data_bytes){
  fuzz_input input = {data, num_data_bytes};
  uint64_t hashes[MAX_KEYS];
  uint32_t sets[MAX_KEYS];
  bloom_hash_run hash_run = {NULL, hashes, 0}, set_run = {NULL, sets, 0};
  bloom_shape shape;
  bloom_filter file;
  uint8_t *bytes;
  size_t i, num_keys;
  const size_t unit_bytes = 1 + fuzz_u16(&input) % MAX_UNIT_BYTES;
  const uint64_t num_units = 1 + fuzz_byte(&input);
  shape.num_probes = 1 + fuzz_byte(&input) % BLOOM_BLOOMFILE_MAX_PROBES;
  shape.num_slots = num_units;
  shape.num_bits = num_units * unit_bytes * 8;
  shape.num_bytes = HEADER_BYTES + (size_t)num_units * unit_bytes;
  num_keys = fuzz_byte(&input) % MAX_KEYS;
  for(i=0; i<num_keys; i++){
    hashes[i] = fuzz_u64(&input);
    sets[i] = fuzz_u16(&input) % (uint32_t)(8*unit_bytes);
  }
  hash_run.num_hashes = set_run.num_hashes = num_keys;

  bytes = fuzz_exact(NULL, shape.num_bytes);
  bloom_bloomfile_clear(&shape, bytes);
  bloom_bloomfile_add(&shape, bytes, &hash_run, &set_run);
  bloom_filter_read(bytes, shape.num_bytes, &file);
  FUZZ_CHECK(file.encoding==&bloom_encoding_bloomfile);
  FUZZ_CHECK(bloom_shapes_are_equal(&file.shape, &shape));
  for(i=0; i<num_keys; i++){
    FUZZ_CHECK(naive_has(bytes, &shape, hashes[i], sets[i]));
    if( i<4 ) check_answer(&file, hashes[i]);
  }
  check_answer(&file, fuzz_u64(&input));
  check_facts(&file, fuzz_seldom(data, num_data_bytes, 2048));
  check_copies(&file);

  /* Bytes of the header, then any bits. */
  while( input.num_left>=3 ){
    const size_t at = fuzz_u16(&input);
    bytes[at<0x8000 ? at % HEADER_BYTES : at % shape.num_bytes] ^= fuzz_byte(&input);
  }
  check_any_bytes(bytes, shape.num_bytes, hashes[0] = num_units * 0x9e3779b97f4a7c15u);
  free(bytes);
  return 0;
}
