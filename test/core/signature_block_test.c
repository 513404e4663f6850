/*
** Blocks of bloom_index: which bits a hash has, when a block is finished, and how often
** it accepts what it does not hold.
*/
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/signature/block.h"

static const uint32_t sizes[] = {1008, 2016, 8064, 16128, 64512};

/* ---- the definition, once more -------------------------------------------- */

/* The end of XXH64 (doc/xxhash_spec.md). */
static uint64_t naive_avalanche(uint64_t x){
  x ^= x >> 33;
  x *= 14029467366897019727u;
  x ^= x >> 29;
  x *= 1609587929392839161u;
  x ^= x >> 32;
  return x;
}

/* Draw number i of a hash: 16 bits. */
static uint32_t naive_draw(uint64_t hash, uint32_t i){
  const uint64_t word = i/4 ? naive_avalanche(hash + i/4*11400714819323198485u) : hash;
  return (uint32_t)(word / ((uint64_t)1 << i%4*16) % 65536);
}

/* The bit that a probe of a key tests. */
static uint32_t naive_bit(uint64_t hash, uint32_t num_probes, uint32_t probe, uint32_t bits_per_block){
  const uint32_t num_bands = bits_per_block/504, num_used = num_probes>=17 ? 3 : 2, draw = naive_draw(hash, 0);
  const uint32_t distance = draw/256%2 ? draw/256 : draw/256 + 1;
  assert_true(num_bands>0);
  return (draw + probe%num_used*distance) % num_bands * 504 + naive_draw(hash, probe + 1)*504/65536;
}

static uint32_t naive_count(const uint8_t *bytes, uint32_t bits_per_block){
  uint32_t bit, count = 0;
  for(bit=0; bit<bits_per_block; bit++) count += bytes[bit/8]/(1u << bit%8)%2;
  return count;
}

/* ---- tests ------------------------------------------------------------------ */

/* Also in ../../ext/FORMATS.md. */
TEST(known_bits){
  static const uint16_t expected[8] = {304, 7730, 35, 7965, 97, 7724, 345, 7711};
  uint16_t bits[8];
  size_t i;
  assert_int_equal(bloom_signature_bits(0x123456789abcdef0u, 8, 16, bits), 8);
  for(i=0; i<8; i++) assert_int_equal(bits[i], expected[i]);
}

TEST(bits_are_those_of_the_definition){
  rng random = rng_stream(1);
  size_t round;
  for(round=0; round<test_share(20000); round++){
    const uint64_t hash = rng_next(&random) >> rng_below(&random, 64);
    const uint32_t size = sizes[rng_below(&random, COUNT_OF(sizes))], num_probes = 1 + (uint32_t)rng_below(&random, BLOOM_SIGNATURE_MAX_PROBES);
    uint16_t bits[BLOOM_SIGNATURE_MAX_PROBES], of_piece[9];
    uint32_t i;
    bloom_signature_bits(hash, num_probes, size/504, bits);
    for(i=0; i<num_probes; i++) assert_int_equal(bits[i], naive_bit(hash, num_probes, i, size));
    bloom_signature_piece_bits(hash, 9, size, of_piece);
    for(i=0; i<9; i++) assert_int_equal(of_piece[i], (uint64_t)naive_draw(hash, i)*size/65536);
  }
}

TEST(a_block_has_the_bits_of_its_keys_and_counts_them){
  rng random = rng_stream(2);
  size_t round;
  for(round=0; round<test_share(200); round++){
    const uint32_t size = sizes[rng_below(&random, COUNT_OF(sizes))];
    const uint32_t num_probes = 1 + (uint32_t)rng_below(&random, BLOOM_SIGNATURE_MAX_PROBES);
    uint8_t *bytes = allocated(size/8), *expected = allocated(size/8);
    bloom_block block, resumed;
    uint32_t num_expected = 0;
    memset(bytes, 0xa5, size/8);
    memset(expected, 0, size/8);
    bloom_block_clear(&block, bytes, size);
    while( !bloom_block_is_finished(&block) ){
      const uint64_t hash = rng_next(&random);
      uint16_t bits[BLOOM_SIGNATURE_MAX_PROBES] = {0};
      uint32_t i;
      assert_true(num_expected<size/2);
      bloom_block_add(&block, hash, num_probes);
      for(i=0; i<num_probes; i++){
        const uint32_t bit = naive_bit(hash, num_probes, i, size);
        num_expected += 1 - expected[bit/8]/(1u << bit%8)%2;
        expected[bit/8] = (uint8_t)(expected[bit/8] | 1u << bit%8);
      }
      assert_memory_equal(bytes, expected, size/8);
      assert_int_equal(block.bits_set, num_expected);
      bloom_signature_bits(hash, num_probes, size/504, bits);
      assert_true(bloom_block_has_bits(bytes, bits, num_probes));
      bloom_block_resume(&resumed, bytes, size);
      assert_int_equal(resumed.bits_set, block.bits_set);
    }
    assert_true(num_expected>=size/2);
    assert_int_equal(num_expected, naive_count(bytes, size));
    free(bytes);
    free(expected);
  }
}

TEST(has_bits_wants_all_of_them){
  uint8_t bytes[128] = {0};
  static const uint16_t bits[3] = {0, 9, 1023};
  assert_true(bloom_block_has_bits(bytes, bits, 0));
  assert_false(bloom_block_has_bits(bytes, bits, 1));
  bytes[0] = 1;
  assert_true(bloom_block_has_bits(bytes, bits, 1));
  assert_false(bloom_block_has_bits(bytes, bits, 2));
  bytes[1] = 2;
  bytes[127] = 0x80;
  assert_true(bloom_block_has_bits(bytes, bits, 3));
  bytes[1] = 0xfd;
  assert_false(bloom_block_has_bits(bytes, bits, 3));
}

TEST(a_full_block_accepts_everything){
  uint8_t bytes[1009];
  uint16_t bits[BLOOM_SIGNATURE_MAX_PROBES];
  rng random = rng_stream(3);
  bloom_block block;
  int i;
  bytes[1008] = 7;
  bloom_block_clear(&block, bytes, 8064);
  bloom_block_add(&block, 1, 12);
  bloom_block_fill(&block);
  assert_true(bloom_block_is_finished(&block));
  assert_int_equal(block.bits_set, 8064);
  for(i=0; i<1000; i++){
    const uint64_t hash = rng_next(&random);
    bloom_block_add(&block, hash, 12);
    bloom_signature_bits(hash, 32, 16, bits);
    assert_true(bloom_block_has_bits(bytes, bits, 32));
  }
  assert_int_equal(block.bits_set, 8064);
  assert_int_equal(bytes[1008], 7);
}

TEST(merging_is_adding_the_other_s_keys){
  rng random = rng_stream(4);
  uint8_t one[1008], other[1008], both[1008];
  bloom_block a, b, c;
  int i;
  bloom_block_clear(&a, one, 8064);
  bloom_block_clear(&b, other, 8064);
  bloom_block_clear(&c, both, 8064);
  for(i=0; i<200; i++){
    const uint64_t hash = rng_next(&random);
    bloom_block_add(i%3 ? &a : &b, hash, 12);
    bloom_block_add(&c, hash, 12);
  }
  bloom_block_merge(&a, other);
  assert_memory_equal(one, both, 1008);
  assert_int_equal(a.bits_set, c.bits_set);
}

TEST(overfull_is_two_thirds){
  assert_false(bloom_block_is_overfull(5375, 8064));
  assert_true(bloom_block_is_overfull(5376, 8064));
  assert_true(bloom_block_is_overfull(64512, 64512));
}

/* A block that is half full accepts an absent key at a rate of 2^-probes, and a little more, as
** the probes lie in few bands. */
TEST(absent_keys_pass_as_theory_says){
  static const uint32_t num_probes[] = {1, 2, 4, 5, 8, 10, 12};
  rng random = rng_stream(5);
  size_t i, s;
  for(i=0; i<COUNT_OF(num_probes); i++){
    for(s=2; s<4; s++){
      const uint32_t size = sizes[s], probes = num_probes[i];
      const size_t num_blocks = 8, num_asked = test_share(400000);
      double passed = 0, expected = 0;
      size_t b;
      for(b=0; b<num_blocks; b++){
        uint8_t bytes[2048];
        bloom_block block;
        size_t asked;
        bloom_block_clear(&block, bytes, size);
        while( !bloom_block_is_finished(&block) ) bloom_block_add(&block, rng_next(&random), probes);
        expected += (double)num_asked * pow((double)block.bits_set / size, probes);
        for(asked=0; asked<num_asked; asked++){
          uint16_t bits[16];
          bloom_signature_bits(rng_next(&random), probes, size/504, bits);
          passed += bloom_block_has_bits(bytes, bits, probes);
        }
      }
      /* Five times the spread, and a twentieth: probes may meet in one bit. */
      if( passed<expected*0.95 - 5*sqrt(expected) || passed>expected*(1.05 + probes*probes/700.0) + 5*sqrt(expected) ){
        fail_msg("%u probes, %u bits: %.0f passed, expected %.0f", probes, size, passed, expected);
      }
    }
  }
}

RUN_TESTS()
