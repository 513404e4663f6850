/*
** BloomFiles against the format's definition (../lib/reference.h): header, what bytes are read, units, the sets that a key is in, and what is said of a
** file.
*/
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/bloomfile/bloomfile.h"
#include "../../ext/core/encodings.h"
#include "../../ext/core/hash.h"

static const bloom_encoding *const bloomfile = &bloom_encoding_bloomfile;

/* A file that was made from random keys, and the keys. */
typedef struct made_file {
  uint8_t *bytes;
  size_t num_keys;
  bloom_hash_value *hashes;
  uint32_t *sets;
} made_file;

static bloom_shape shape_of(uint64_t num_sets, uint64_t num_keys, double bits_per_key){
  bloom_shape shape = {0};
  assert_int_equal(bloom_bloomfile_shape(num_sets, num_keys, bits_per_key, SIZE_MAX, &shape), BLOOM_OK);
  return shape;
}

/* Of any shape, also one that is never made. */
static bloom_shape any_shape(uint64_t num_units, size_t unit_bytes, uint32_t num_probes){
  return (bloom_shape){32 + (size_t)num_units*unit_bytes, num_units*unit_bytes*8, num_units, num_probes};
}

static bloom_filter read_back(const uint8_t *bytes, size_t num_bytes){
  bloom_filter file = {0};
  assert_int_equal(bloomfile->read(bytes, num_bytes, &file), 1);
  return file;
}

static made_file make(bloom_shape shape, size_t num_sets, size_t num_keys, rng *random){
  made_file made = {.num_keys = num_keys};
  bloom_hash_run hashes[2] = {{NULL, NULL, 0}}, sets[2] = {{NULL, NULL, 0}};
  size_t i;
  made.bytes = allocated(shape.num_bytes);
  made.hashes = allocated(num_keys * sizeof(*made.hashes));
  made.sets = allocated(num_keys * sizeof(*made.sets));
  for(i=0; i<num_keys; i++){
    made.hashes[i] = rng_next(random);
    made.sets[i] = (uint32_t)rng_below(random, num_sets);
  }
  memset(made.bytes, 0xa5, shape.num_bytes); /* clear() must leave none of it */
  bloom_bloomfile_clear(&shape, made.bytes);
  i = num_keys/3;
  hashes[0] = (bloom_hash_run){&hashes[1], made.hashes, i};
  sets[0] = (bloom_hash_run){&sets[1], made.sets, i};
  hashes[1] = (bloom_hash_run){NULL, made.hashes + i, num_keys - i};
  sets[1] = (bloom_hash_run){NULL, made.sets + i, num_keys - i};
  bloom_bloomfile_add(&shape, made.bytes, hashes, sets);
  return made;
}

static void unmake(made_file *made){
  free(made->bytes);
  free(made->hashes);
  free(made->sets);
}

/* ---- the definition, once more -------------------------------------------- */

static int naive_bit(const uint8_t *bytes, size_t unit_bytes, uint64_t unit, size_t set){
  return bytes[32 + unit*unit_bytes + set/8] >> set%8 & 1;
}

static int naive_is_prime(uint64_t number){
  uint64_t i;
  for(i=2; i<number; i++) if( number%i==0 ) return 0;
  return number>1;
}

/* ---- tests ------------------------------------------------------------------ */

TEST(hashes_are_xxh64_of_the_default_key_bytes){
  assert_int_equal(bloomfile->hash_bytes((const uint8_t *)"hello", 5), 0x26c7827d889f6da3u);
  assert_int_equal(bloomfile->hash_bytes(NULL, 0), 0xef46db3751d8e999u);
  assert_int_equal(bloomfile->hash_int64(1), bloom_xxh64((const uint8_t *)"1", 1));
  assert_int_equal(bloomfile->hash_int64(INT64_MIN), bloom_xxh64((const uint8_t *)"-9223372036854775808", 20));
  assert_int_equal(bloomfile->hash_value_bytes, 8);
}

TEST(a_file_begins_with_its_header){
  const bloom_shape narrow = shape_of(5, 0, 10), wide = shape_of(33, 1000, 16);
  uint8_t *file = allocated(wide.num_bytes);
  char *hex;
  bloom_bloomfile_clear(&narrow, file);
  hex = hex_of(file, 36);
  assert_string_equal(hex, "ed3497fa" "00010000" "bf00000000000000" "06000000" "04000000" "0000000000000000" "00000000");
  free(hex);
  bloom_bloomfile_clear(&wide, file);
  hex = hex_of(file, 32);
  assert_string_equal(hex, "ed3497fa" "00010000" "813e000000000000" "0b000000" "05000000" "0000000000000000");
  free(hex);
  free(file);
}

TEST(the_number_of_units_is_the_next_prime){
  static const struct { uint64_t num_keys; double bits_per_key; uint64_t num_units; } known[] = {
    /* Rounded up before the prime is looked for; a square of a prime is none. */
    {100, 1.9101, 193}, {961, 1, 967}, {2000, 10, 20011}, {1000003, 1, 1000003},
    /* Those that divide 2^64 - 1 are passed over. */
    {257, 1, 263}, {64, 10, 643}, {65537, 1, 65539},
  };
  uint64_t num_keys;
  size_t i;
  assert_true(naive_is_prime(BLOOM_BLOOMFILE_MIN_UNITS));
  for(num_keys=0; num_keys<3000; num_keys+=7){
    uint64_t expected = num_keys<191 ? 191 : num_keys;
    while( !naive_is_prime(expected) || UINT64_MAX%expected==0 ) expected++;
    assert_int_equal(shape_of(1, num_keys, 1).num_slots, expected);
  }
  for(i=0; i<COUNT_OF(known); i++){
    assert_int_equal(shape_of(1, known[i].num_keys, known[i].bits_per_key).num_slots, known[i].num_units);
  }
}

TEST(a_unit_has_a_bit_for_every_set){
  assert_int_equal(bloom_bloomfile_bytes_for_sets(0), 4);
  assert_int_equal(bloom_bloomfile_bytes_for_sets(32), 4);
  assert_int_equal(bloom_bloomfile_bytes_for_sets(33), 5);
  assert_int_equal(bloom_bloomfile_bytes_for_sets(40), 5);
  assert_int_equal(bloom_bloomfile_bytes_for_sets(10000), 1250);
  assert_int_equal(bloom_bloomfile_bytes_for_sets((uint64_t)1 << 63), (uint64_t)1 << 60);
  assert_int_equal(bloom_bloomfile_bytes_for_sets(UINT64_MAX), (uint64_t)1 << 61);
  assert_int_equal(shape_of(10000, 100, 10).num_bytes, 32 + 1009*1250);
  assert_int_equal(shape_of(10000, 100, 10).num_bits, 1009*10000);
  assert_int_equal(bloom_bloomfile_unit_bytes(&(bloom_shape){.num_slots = 1009, .num_bits = (uint64_t)1009*10000}), 1250);
}

TEST(probes_follow_the_bits_per_key){
  static const struct { double bits_per_key; uint32_t num_probes; } known[] = {{1, 1}, {2.8, 1}, {10, 6}, {16, 11}, {100, 30}};
  size_t i;
  for(i=0; i<COUNT_OF(known); i++) assert_int_equal(shape_of(1, 1, known[i].bits_per_key).num_probes, known[i].num_probes);
}

TEST(what_is_larger_than_allowed_is_too_big){
  bloom_shape shape = {.num_bytes = 7};
  const size_t smallest = 32 + 4*191;
  assert_int_equal(bloom_bloomfile_shape(1, 0, 10, smallest - 1, &shape), BLOOM_TOO_BIG);
  assert_int_equal(bloom_bloomfile_shape(1, 0, 10, 31, &shape), BLOOM_TOO_BIG);
  assert_int_equal(bloom_bloomfile_shape(1, UINT64_MAX, 100, 1000000000, &shape), BLOOM_TOO_BIG);
  assert_int_equal(bloom_bloomfile_shape((uint64_t)1 << 60, 0, 10, 1000000000, &shape), BLOOM_TOO_BIG);
  /* The room ends between the number that was asked for and the next prime. */
  assert_int_equal(bloom_bloomfile_shape(1, 961, 1, 32 + 4*966, &shape), BLOOM_TOO_BIG);
  assert_int_equal(shape.num_bytes, 7);
  assert_int_equal(bloom_bloomfile_shape(1, 961, 1, 32 + 4*967, &shape), BLOOM_OK);
  assert_int_equal(shape.num_bytes, 32 + 4*967);
  assert_int_equal(bloom_bloomfile_shape(1, 0, 10, smallest, &shape), BLOOM_OK);
  assert_int_equal(shape.num_bytes, smallest);
}

/* Widths on both sides of a word, of a block that is ANDed at once, of two. */
static const size_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 63, 64, 65, 511, 512, 513, 516, 1023, 1024, 1030, 1250};

TEST(files_are_written_as_defined){
  size_t w;
  for(w=0; w<COUNT_OF(widths); w++){
    rng random = rng_stream(1000 + w);
    const bloom_shape shape = any_shape(1 + rng_below(&random, 300), widths[w], 1 + (uint32_t)rng_below(&random, 12));
    made_file made = make(shape, widths[w]*8, 40 + widths[w]*4, &random), other;
    bloom_filter read;
    uint8_t *expected = allocated(shape.num_bytes);
    size_t i;
    uint32_t j;
    memcpy(expected, made.bytes, 32);
    memset(expected + 32, 0, shape.num_bytes - 32);
    for(i=0; i<made.num_keys; i++){
      for(j=0; j<shape.num_probes; j++){
        const uint64_t unit = reference_unit(made.hashes[i], j, shape.num_slots);
        expected[32 + unit*widths[w] + made.sets[i]/8] |= (uint8_t)(1u << made.sets[i]%8);
      }
    }
    assert_memory_equal(made.bytes, expected, shape.num_bytes);
    /* Merged with a file of other keys: it has the bits of both. */
    other = make(shape, widths[w]*8, 40, &random);
    read = read_back(other.bytes, shape.num_bytes);
    for(i=32; i<shape.num_bytes; i++) expected[i] |= other.bytes[i];
    assert_int_equal(bloom_merge_filter(made.bytes, &read), 1);
    assert_memory_equal(made.bytes, expected, shape.num_bytes);
    unmake(&other);
    free(expected);
    unmake(&made);
  }
}

/* Every set that has the key, and what any other reader finds too. */
TEST(probing_returns_the_sets_of_the_definition){
  size_t w;
  for(w=0; w<COUNT_OF(widths); w++){
    rng random = rng_stream(2000 + w);
    const bloom_shape shape = any_shape(191, widths[w], w%5==0 ? 1 : (uint32_t)(2 + w%7));
    made_file made = make(shape, widths[w]*8, widths[w]*8*20, &random);
    uint8_t *exact = exact_copy(made.bytes, shape.num_bytes);
    const bloom_filter file = read_back(exact, shape.num_bytes);
    size_t round, set;
    for(round=0; round<40; round++){
      const size_t key = rng_below(&random, made.num_keys);
      const bloom_hash_value hash = round%2 ? made.hashes[key] : rng_next(&random);
      uint8_t *mask = allocated(widths[w]);
      int is_any = 0;
      memset(mask, 0xa5, widths[w]);
      assert_int_equal(bloom_bloomfile_sets(&file, hash, mask, NULL), bloomfile->may_contain(&file, hash));
      for(set=0; set<widths[w]*8; set++){
        const int has = reference_set_may_contain(made.bytes, shape.num_slots, shape.num_probes, widths[w], hash, set);
        assert_int_equal(mask[set/8] >> set%8 & 1, has);
        is_any |= has;
      }
      assert_int_equal(bloomfile->may_contain(&file, hash), is_any);
      if( round%2 ) assert_int_equal(mask[made.sets[key]/8] >> made.sets[key]%8 & 1, 1);
      free(mask);
    }
    assert_memory_equal(exact, made.bytes, shape.num_bytes);
    free(exact);
    unmake(&made);
  }
}

TEST(a_key_s_answer_is_its_hash_s){
  const bloom_shape shape = shape_of(3, 20, 10);
  const bloom_hash_value hashes[2] = {bloomfile->hash_int64(-77), bloomfile->hash_bytes((const uint8_t *)"key", 3)};
  const uint32_t sets[2] = {1, 2};
  const bloom_hash_run hash_run = {NULL, hashes, 2}, set_run = {NULL, sets, 2};
  uint8_t *bytes = allocated(shape.num_bytes);
  bloom_filter file;
  bloom_bloomfile_clear(&shape, bytes);
  file = read_back(bytes, shape.num_bytes);
  assert_int_equal(bloomfile->may_contain(&file, bloomfile->hash_int64(-77)), 0);
  bloom_bloomfile_add(&shape, bytes, &hash_run, &set_run);
  assert_int_equal(bloomfile->may_contain(&file, bloomfile->hash_int64(-77)), 1);
  assert_int_equal(bloomfile->may_contain(&file, bloomfile->hash_bytes((const uint8_t *)"-77", 3)), 1);
  assert_int_equal(bloomfile->may_contain(&file, bloomfile->hash_bytes((const uint8_t *)"key", 3)), 1);
  assert_int_equal(bloomfile->may_contain(&file, bloomfile->hash_bytes((const uint8_t *)"kez", 3)), 0);
  free(bytes);
}

static void store32(uint8_t *p, uint32_t value){
  int i;
  for(i=0; i<4; i++) p[i] = (uint8_t)(value >> 8*i);
}

/* Checks that bytes which are no BloomFile are LevelDB's, or, where tag, version and 0 stand, damaged. */
static void check_no_bloomfile(const uint8_t *bytes, size_t num_bytes, const bloom_filter *file){
  static const uint8_t zeros[8];
  if( num_bytes>=32 && memcmp(bytes, "\xed\x34\x97\xfa\0\1\0\0", 8)==0 && memcmp(bytes + 24, zeros, 8)==0 ){
    bloom_facts facts;
    file->encoding->describe(file, 1, &facts);
    assert_string_equal(facts.encoding, "bloomfile");
    assert_string_equal(facts.note, "damaged: its header is invalid or states another length, so it may contain every key");
    assert_int_equal(file->encoding->may_contain(file, file->encoding->hash_int64(1)), 1);
    assert_int_equal(file->encoding->may_contain(file, file->encoding->hash_bytes(bytes, num_bytes)), 1);
    assert_non_null(file->encoding->readonly_reason(file));
  }else{
    assert_ptr_equal(file->encoding, bloom_default_encoding);
  }
}

/* Reads bytes that end where they end, with one field changed. */
static int is_read_with(const uint8_t *bytes, size_t num_bytes, size_t offset, uint32_t value){
  uint8_t *exact = exact_copy(bytes, num_bytes);
  bloom_filter file;
  int is_read;
  store32(exact + offset, value);
  bloom_filter_read(exact, num_bytes, &file);
  is_read = file.encoding==bloomfile;
  if( !is_read ) check_no_bloomfile(exact, num_bytes, &file);
  free(exact);
  return is_read;
}

TEST(a_header_that_is_wrong_makes_no_bloomfile){
  static const struct { size_t offset; uint32_t value; int is_read; } fields[] = {
    {0, 0xfa9734ed, 1}, {0, 0xed3497fa, 0}, {4, 0x0101, 0}, {4, 0x00010000, 0}, {8, 5, 0}, {8, 0, 0}, {12, 1, 0},
    {12, 0x40000000, 0}, /* times 4 it is 2^64 more */
    {16, 0, 0}, {16, 100, 1}, {16, 101, 0}, {16, UINT32_MAX, 0}, {20, 0, 0}, {20, 3, 0}, {20, 24, 0}, {24, 1, 0},
    {28, 1, 0},
  };
  const bloom_shape shape = any_shape(6, 4, 3);
  uint8_t bytes[56 + 8] = {0};
  size_t num_bytes, bit, i;
  bloom_bloomfile_clear(&shape, bytes);
  for(i=0; i<COUNT_OF(fields); i++){
    assert_int_equal(is_read_with(bytes, 56, fields[i].offset, fields[i].value), fields[i].is_read);
  }
  /* Any bit of the header counts, but for the number of probes, which may be another. */
  for(bit=0; bit<256; bit++){
    const size_t probes = (size_t)16*8;
    uint8_t flipped[56];
    bloom_filter file;
    memcpy(flipped, bytes, 56);
    flipped[bit/8] ^= (uint8_t)(1u << bit%8);
    bloom_filter_read(flipped, 56, &file);
    assert_int_equal(file.encoding==bloomfile, bit>=probes+2 && bit<=probes+6 ? 1 : bit==probes || bit==probes+1);
  }
  for(num_bytes=0; num_bytes<=sizeof(bytes); num_bytes++){
    uint8_t *exact = exact_copy(bytes, num_bytes);
    bloom_filter file;
    bloom_filter_read(exact, num_bytes, &file);
    assert_int_equal(file.encoding==bloomfile, num_bytes==56);
    if( num_bytes!=56 ) check_no_bloomfile(exact, num_bytes, &file);
    free(exact);
  }
  /* No units at all, rightly counted. */
  store32(bytes + 8, 0);
  assert_int_equal(is_read_with(bytes, 32, 24, 0), 0);
}

TEST(units_are_made_wider_and_narrower){
  const bloom_shape narrow = any_shape(193, 4, 6), wide = bloom_bloomfile_with_unit_bytes(&narrow, 13);
  rng random = rng_stream(4);
  made_file made = make(narrow, 32, 500, &random), expected = make(wide, 1, 0, &random);
  uint8_t *copy = allocated(wide.num_bytes);
  const bloom_hash_run hashes = {NULL, made.hashes, 500}, sets = {NULL, made.sets, 500};
  assert_int_equal(wide.num_bytes, 32 + 193*13);
  assert_int_equal(wide.num_slots, 193);
  bloom_bloomfile_add(&wide, expected.bytes, &hashes, &sets);
  memset(copy, 0xa5, wide.num_bytes);
  bloom_bloomfile_copy_units(&narrow, made.bytes, &wide, copy);
  assert_memory_equal(copy, expected.bytes, wide.num_bytes);
  bloom_bloomfile_copy_units(&wide, copy, &narrow, copy);
  assert_memory_equal(copy, made.bytes, narrow.num_bytes);
  free(copy);
  unmake(&made);
  unmake(&expected);
}

TEST(facts_are_sums_over_the_sets_with_keys){
  size_t w;
  for(w=0; w<COUNT_OF(widths); w++){
    rng random = rng_stream(5000 + w);
    const bloom_shape shape = any_shape(rng_below(&random, 2) ? 1021 : 257, widths[w], 1 + (uint32_t)(w%8));
    /* In the first sets alone: the others have no keys and count for nothing. */
    made_file made = make(shape, 1 + widths[w]*5, widths[w]*100, &random);
    const bloom_filter file = read_back(made.bytes, shape.num_bytes);
    double expected_fpr = 0, estimated_keys = 0;
    uint64_t bits_set = 0, num_sets = 0, num_full = 0;
    bloom_facts facts, cheap;
    size_t set;
    for(set=0; set<widths[w]*8; set++){
      uint64_t count = 0, unit;
      for(unit=0; unit<shape.num_slots; unit++) count += (uint64_t)naive_bit(made.bytes, widths[w], unit, set);
      if( count==0 ) continue;
      num_sets++;
      num_full += count==shape.num_slots;
      bits_set += count;
      expected_fpr += pow((double)count / (double)shape.num_slots, shape.num_probes);
      estimated_keys -= (double)shape.num_slots / shape.num_probes * log(1 - (double)count / (double)shape.num_slots);
    }
    bloomfile->describe(&file, 1, &facts);
    bloomfile->describe(&file, 0, &cheap);
    assert_string_equal(facts.encoding, "bloomfile");
    assert_int_equal(facts.num_bits, shape.num_slots*widths[w]*8);
    assert_int_equal(facts.num_probes, shape.num_probes);
    assert_int_equal(facts.num_sets, num_sets);
    assert_int_equal(facts.bits_set, bits_set);
    assert_close(facts.fill_ratio, (double)bits_set / (double)(num_sets*shape.num_slots), 1e-12, "fill_ratio");
    assert_close(facts.expected_fpr, expected_fpr / (double)num_sets, 1e-9, "expected_fpr");
    if( num_full ) assert_true(facts.estimated_keys<0);
    else assert_close(facts.estimated_keys, estimated_keys, 1e-9, "estimated_keys");
    assert_int_equal(cheap.num_bits, facts.num_bits);
    assert_int_equal(cheap.num_sets, -1);
    unmake(&made);
  }
}

TEST(measuring_counts_the_sets_with_keys){
  const bloom_shape shape = any_shape(10007, 13, 6);
  rng random = rng_stream(6);
  made_file made = make(shape, 50, 50000, &random);
  const bloom_filter file = read_back(made.bytes, shape.num_bytes);
  bloom_facts facts;
  bloomfile->describe(&file, 1, &facts);
  assert_int_equal(facts.num_sets, 50);
  assert_close(bloom_measured_fpr(&file), facts.expected_fpr, 0.03, "measured_fpr");
  unmake(&made);
}

/* The measured rate of a file whose num_sets sets have num_keys random keys each. */
static double rate_of_random_keys(bloom_shape shape, size_t num_sets, size_t num_keys, uint64_t stream){
  rng random = rng_stream(stream);
  bloom_hash_value *hashes = allocated(num_sets * sizeof(*hashes));
  uint32_t *sets = allocated(num_sets * sizeof(*sets));
  uint8_t *bytes = allocated(shape.num_bytes);
  const bloom_hash_run hash_run = {NULL, hashes, num_sets}, set_run = {NULL, sets, num_sets};
  bloom_filter file;
  size_t round, set;
  double rate;
  bloom_bloomfile_clear(&shape, bytes);
  for(round=0; round<num_keys; round++){
    for(set=0; set<num_sets; set++) hashes[set] = rng_next(&random), sets[set] = (uint32_t)set;
    bloom_bloomfile_add(&shape, bytes, &hash_run, &set_run);
  }
  file = read_back(bytes, shape.num_bytes);
  rate = bloom_measured_fpr(&file);
  free(bytes);
  free(hashes);
  free(sets);
  return rate;
}

/* At 10 bits per key as few units as there can be are within 1.25 of theory. */
TEST(few_units_are_near_theory){
  static const size_t num_keys[] = {19, 20, 25, 40, 100};
  size_t i;
  for(i=0; i<COUNT_OF(num_keys); i++){
    const bloom_shape shape = shape_of((uint64_t)1250*8, num_keys[i], 10);
    const double theory = pow(1 - exp(-6.0 * (double)num_keys[i] / (double)shape.num_slots), 6);
    const double measured = rate_of_random_keys(shape, 10000, num_keys[i], 7000 + i);
    assert_in_range((uint64_t)(measured * 1e6), (uint64_t)(theory * 0.98e6), (uint64_t)(theory * 1.25e6));
  }
}

/* The rate that a size is chosen by is at least the one that is measured, and no more than
** it must be where that is not all of it. */
TEST(the_model_is_above_what_is_measured){
  static const struct { size_t num_keys; double fpr; } cases[] = {
    {5, 0.01}, {20, 0.05}, {20, 0.01}, {64, 0.01}, {100, 0.2}, {100, 0.001}, {500, 0.01}, {2000, 0.001}, {2000, 0.0001},
  };
  const size_t num_sets = test_share(8000);
  size_t i;
  for(i=0; i<COUNT_OF(cases); i++){
    double best;
    const uint32_t tenths = bloomfile->min_bits_per_key_x10(cases[i].fpr, cases[i].num_keys, &best);
    const bloom_shape shape = shape_of(num_sets, cases[i].num_keys, tenths / 10.0);
    const double measured = rate_of_random_keys(shape, num_sets, cases[i].num_keys, 7100 + i);
    assert_in_range(tenths, 10, 1000);
    if( measured>cases[i].fpr*1.03 || (tenths>10 && shape.num_slots>191 && measured<cases[i].fpr*0.4) ){
      fail_msg("%zu keys at %g: %u tenths, measured %g", cases[i].num_keys, cases[i].fpr, tenths, measured);
    }
    /* A tenth less is not enough, by the model. */
    assert_true(tenths==10 || bloomfile->min_bits_per_key_x10(cases[i].fpr*1.2, cases[i].num_keys, &best)<=tenths);
  }
}

TEST(rates_of_few_keys_are_out_of_reach){
  double best = 0;
  assert_int_equal(bloomfile->min_bits_per_key_x10(1e-9, 100, &best), 0);
  assert_true(best>1e-9 && best<0.001);
  assert_true(bloomfile->min_bits_per_key_x10(best*1.01, 100, &best)>0);
  assert_int_equal(bloomfile->min_bits_per_key_x10(1e-9, 0, &best), 10);
  assert_true(bloomfile->min_bits_per_key_x10(0.01, (uint64_t)1<<62, &best)>0);
  /* So many keys in so few units that each hash is some key's, shifted. */
  assert_true(bloom_bloomfile_modelled_fpr(1000000, 191, 6)>=1 && bloom_bloomfile_modelled_fpr(1000000, 191, 6)<=1);
}

/* -- Reading through, and ending that ------------------------------------------- */

/* It is asked at least once for each megabyte, and after the first yes not again. */
TEST(reading_a_file_can_be_stopped){
  static const struct { uint64_t num_units; size_t unit_bytes; } shapes[] = {
    {1, 1 << 22}, {2, 1 << 21}, {1 << 22, 1}, {1000, 4000}, {1100, 4000}, {200000, 20},
  };
  size_t i;
  for(i=0; i<COUNT_OF(shapes); i++){
    const bloom_shape shape = any_shape(shapes[i].num_units, shapes[i].unit_bytes, 8);
    uint8_t *bytes = allocated(shape.num_bytes);
    stopper stops = {0, 1 << 30};
    const bloom_interrupt interrupt = {stop_reading, &stops};
    int num_measuring;
    bloom_facts facts;
    bloom_filter file;
    bloom_bloomfile_clear(&shape, bytes);
    memset(bytes + 32, 0x55, shape.num_bytes - 32);
    file = read_back(bytes, shape.num_bytes);
    file.interrupt = &interrupt;
    bloomfile->describe(&file, 1, &facts);
    assert_true(stops.num_calls>=(int)(shape.num_bytes >> 20));
    assert_int_equal(facts.num_sets, 4*shapes[i].unit_bytes);
    assert_int_equal(facts.bits_set, 4*shapes[i].unit_bytes * shapes[i].num_units);
    stops.num_calls = 0;
    assert_true(bloom_measured_fpr(&file)>=1);
    assert_true(stops.num_calls>=(int)(shape.num_bytes >> 20));
    num_measuring = stops.num_calls;
    stops = (stopper){0, 3};
    bloomfile->describe(&file, 1, &facts);
    assert_int_equal(stops.num_calls, 3);
    stops = (stopper){0, 3};
    (void)bloom_measured_fpr(&file);
    assert_int_equal(stops.num_calls, 3);
    /* Halfway: the sets are counted, and hashes are tested. */
    stops = (stopper){0, num_measuring/2};
    (void)bloom_measured_fpr(&file);
    assert_int_equal(stops.num_calls, num_measuring/2);
    free(bytes);
  }
}

/* Of each unit, 65536 bytes at a time. */
TEST(looking_for_the_sets_can_be_stopped){
  const size_t unit_bytes = 5 << 16;
  const bloom_shape shape = any_shape(3, unit_bytes, 2);
  uint8_t *bytes = allocated(shape.num_bytes), *mask = allocated(unit_bytes), *expected = allocated(unit_bytes);
  stopper stops = {0, 1 << 30};
  const bloom_interrupt interrupt = {stop_reading, &stops};
  bloom_filter file;
  bloom_bloomfile_clear(&shape, bytes);
  memset(bytes + 32, 0x55, shape.num_bytes - 32);
  memset(expected, 0x55, unit_bytes);
  file = read_back(bytes, shape.num_bytes);
  file.interrupt = &interrupt;
  assert_int_equal(bloom_bloomfile_sets(&file, 12345, mask, NULL), 1);
  assert_memory_equal(mask, expected, unit_bytes);
  assert_int_equal(stops.num_calls, 4);
  stops = (stopper){0, 3};
  assert_int_equal(bloom_bloomfile_sets(&file, 12345, mask, NULL), -1);
  assert_int_equal(stops.num_calls, 3);
  free(bytes);
  free(mask);
  free(expected);
}

/* More hashes than that would take too long. */
TEST(hashes_are_tested_by_the_size_of_the_file){
  const bloom_filter small = {.shape = any_shape(191, 4, 6)}, wide = {.shape = any_shape(1, 1 << 28, 100)};
  assert_int_equal(bloomfile->num_tried(&small), BLOOM_FPR_SAMPLE);
  assert_int_equal(bloomfile->num_tried(&wide), 1);
}

TEST(a_file_without_keys_has_no_sets){
  const bloom_shape shape = shape_of(100, 50, 10);
  uint8_t *bytes = allocated(shape.num_bytes);
  bloom_facts facts;
  bloom_filter file;
  bloom_bloomfile_clear(&shape, bytes);
  file = read_back(bytes, shape.num_bytes);
  bloomfile->describe(&file, 1, &facts);
  assert_int_equal(facts.num_sets, 0);
  assert_int_equal(facts.bits_set, 0);
  assert_true(facts.fill_ratio>=0 && facts.fill_ratio<=0);
  assert_true(facts.expected_fpr>=0 && facts.expected_fpr<=0);
  assert_true(facts.estimated_keys>=0 && facts.estimated_keys<=0);
  assert_true(bloom_measured_fpr(&file)<=0);
  assert_null(facts.note);
  free(bytes);
}

/* Sets so many of the bits of a set, the first ones. */
static void fill_set(uint8_t *bytes, size_t unit_bytes, size_t set, size_t num_units){
  size_t unit;
  for(unit=0; unit<num_units; unit++) bytes[32 + unit*unit_bytes + set/8] |= (uint8_t)(1u << set%8);
}

static const char *note_of(const bloom_shape *shape, const uint8_t *bytes){
  const bloom_filter file = read_back(bytes, shape->num_bytes);
  bloom_facts facts;
  bloomfile->describe(&file, 1, &facts);
  return facts.note ? facts.note : "";
}

TEST(notes_tell_of_the_fullest_set){
  const bloom_shape shape = any_shape(400, 4, 6), small = any_shape(191, 4, 6);
  uint8_t bytes[32 + 4*400];
  size_t set;
  bloom_bloomfile_clear(&shape, bytes);
  for(set=0; set<20; set++) fill_set(bytes, 4, set, 40);
  assert_string_equal(note_of(&shape, bytes), "");
  fill_set(bytes, 4, 3, 180); /* 5.7 times the others' keys, 4.6 times the mean */
  assert_true(strncmp(note_of(&shape, bytes), "uneven", 6)==0);
  fill_set(bytes, 4, 3, 300);
  assert_true(strncmp(note_of(&shape, bytes), "uneven", 6)==0);
  fill_set(bytes, 4, 3, 301);
  assert_true(strncmp(note_of(&shape, bytes), "nearly saturated", 16)==0);
  fill_set(bytes, 4, 3, 400);
  assert_true(strncmp(note_of(&shape, bytes), "saturated", 9)==0);
  /* The smallest files cannot be smaller. */
  bloom_bloomfile_clear(&small, bytes);
  for(set=0; set<20; set++) fill_set(bytes, 4, set, 6);
  fill_set(bytes, 4, 3, 100);
  assert_string_equal(note_of(&small, bytes), "");
}

TEST(it_is_known_but_not_made_by_name){
  assert_null(bloom_encoding_named("bloomfile"));
  assert_true(bloomfile->add==NULL);
  assert_non_null(bloomfile->why_no_add);
  assert_true(bloomfile->readonly_reason==NULL);
}

RUN_TESTS()
