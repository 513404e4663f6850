/*
** Slices of bloom_index: what is written for every tier, compared bit for bit with the
** blocks themselves, and the search of all of them at once.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/signature/block.h"
#include "../../ext/core/signature/slices.h"

static const uint32_t tier_blocks[3] = {64, 448, 4032};

/* Random blocks, sparse, half full or dense. */
static uint8_t *random_blocks(rng *random, size_t num_blocks, uint32_t bits_per_block){
  const size_t num_bytes = num_blocks*(bits_per_block/8);
  uint8_t *bytes = allocated(num_bytes);
  const size_t kind = rng_below(random, 3);
  size_t i;
  rng_bytes(random, bytes, num_bytes);
  for(i=0; kind!=1 && i<num_bytes; i++){
    const uint64_t word = rng_next(random);
    const uint8_t other = (uint8_t)(word & rng_next(random));
    bytes[i] = (uint8_t)(kind==0 ? bytes[i] & other : bytes[i] | other);
  }
  return bytes;
}

/* A group as one string of bytes, as the definition has it. */
static uint8_t *naive_group(const uint8_t *blocks, size_t num_blocks, uint32_t bits_per_block){
  const size_t slice_bytes = num_blocks/8;
  uint8_t *group = calloc(bits_per_block, slice_bytes);
  size_t block, bit;
  assert_non_null(group);
  for(block=0; block<num_blocks; block++){
    for(bit=0; bit<bits_per_block; bit++){
      if( blocks[block*(bits_per_block/8) + bit/8] >> bit%8 & 1 ){
        group[bit*slice_bytes + block/8] = (uint8_t)(group[bit*slice_bytes + block/8] | 1u << block%8);
      }
    }
  }
  return group;
}

/* The core's group of tier 0, its strips one after the other. */
static uint8_t *group_of_blocks(const uint8_t *blocks, uint32_t bits_per_block){
  uint8_t *group = allocated((size_t)bits_per_block*8);
  const uint8_t *each[64];
  uint8_t strip_bytes[BLOOM_SLICE_STRIP_BYTES + 1];
  uint32_t i, strip, at = 0;
  for(i=0; i<64; i++) each[i] = blocks + (size_t)i*(bits_per_block/8);
  for(strip=0; strip<bloom_tier_strips(0, bits_per_block); strip++){
    uint32_t num_bytes;
    memset(strip_bytes, 0xa5, sizeof(strip_bytes));
    num_bytes = bloom_strip_of_blocks(each, bits_per_block, strip, strip_bytes);
    assert_int_equal(num_bytes, bloom_strip_bytes(0, bits_per_block, strip));
    assert_int_equal(strip_bytes[num_bytes], 0xa5);
    memcpy(group + at, strip_bytes, num_bytes);
    at += num_bytes;
  }
  assert_int_equal(at, bits_per_block*8);
  return group;
}

/* Groups of one tier joined; each source strip is as long as it is, no byte more. */
static uint8_t *group_of_groups(int tier, uint8_t *const *groups, uint32_t bits_per_block){
  const uint32_t num_joined = bloom_tier_joined(tier), num_bytes = bits_per_block*(tier_blocks[tier + 1]/8);
  uint8_t *group = allocated(num_bytes);
  uint32_t strip, at = 0, i;
  for(strip=0; strip<bloom_tier_strips(tier + 1, bits_per_block); strip++){
    const uint32_t source = bloom_strip_source(tier, strip);
    uint8_t *sources[BLOOM_SLICE_MAX_JOINED], strip_bytes[BLOOM_SLICE_STRIP_BYTES];
    const uint8_t *borrowed[BLOOM_SLICE_MAX_JOINED];
    uint32_t written;
    for(i=0; i<num_joined; i++){
      borrowed[i] = sources[i] = exact_copy(groups[i] + (size_t)source*BLOOM_SLICE_STRIP_BYTES,
                                            bloom_strip_bytes(tier, bits_per_block, source));
    }
    written = bloom_strip_of_strips(tier, borrowed, bits_per_block, strip, strip_bytes);
    assert_int_equal(written, bloom_strip_bytes(tier + 1, bits_per_block, strip));
    memcpy(group + at, strip_bytes, written);
    at += written;
    for(i=0; i<num_joined; i++) free(sources[i]);
  }
  assert_int_equal(at, num_bytes);
  return group;
}

/* ---- tests ------------------------------------------------------------------ */

TEST(tiers_fill_strips){
  int tier;
  for(tier=0; tier<BLOOM_SLICE_TIERS; tier++){
    assert_int_equal(bloom_tier_blocks(tier), tier_blocks[tier]);
    assert_int_equal(bloom_tier_slice_bytes(tier), tier_blocks[tier]/8);
    assert_int_equal(BLOOM_SLICE_STRIP_BYTES % bloom_tier_slice_bytes(tier), 0);
    assert_true(bloom_tier_slice_bytes(tier)<=BLOOM_SLICE_MAX_BYTES && bloom_tier_slice_bytes(tier)%8==0);
    if( tier<2 ) assert_int_equal(bloom_tier_joined(tier)*tier_blocks[tier], tier_blocks[tier + 1]);
  }
  assert_int_equal(bloom_tier_strips(0, 8192), 17);
  assert_int_equal(bloom_tier_strips(1, 8192), 114);
  assert_int_equal(bloom_tier_strips(2, 8192), 1024);
  assert_int_equal(bloom_strip_bytes(0, 8192, 16), 1024);
  assert_int_equal(bloom_strip_bytes(1, 8192, 113), 56*56);
  assert_int_equal(bloom_tier_strips(0, 16384), 33);
  assert_int_equal(bloom_tier_strips(2, 65536), 8192);
  assert_int_equal(bloom_strip_bytes(2, 65536, 8191), 4032);
}

TEST(slices_lie_one_after_the_other){
  uint32_t bits_per_block, bit, block;
  int tier;
  for(tier=0; tier<BLOOM_SLICE_TIERS; tier++){
    for(bits_per_block=1024; bits_per_block<=65536; bits_per_block*=2){
      for(bit=0; bit<bits_per_block; bit++){
        const bloom_slice_place place = bloom_slice_find(tier, bit);
        assert_int_equal((uint64_t)place.strip*4032 + place.offset, (uint64_t)bit*(tier_blocks[tier]/8));
        assert_true(place.strip<bloom_tier_strips(tier, bits_per_block));
        assert_true(place.offset + tier_blocks[tier]/8 <= bloom_strip_bytes(tier, bits_per_block, place.strip));
      }
    }
    for(block=0; block<tier_blocks[tier]; block+=7){
      uint8_t mask;
      const bloom_slice_place place = bloom_slice_find_block(tier, 1000, block, &mask);
      assert_int_equal((uint64_t)place.strip*4032 + place.offset, 1000*(tier_blocks[tier]/8) + block/8);
      assert_int_equal(mask, 1u << block%8);
    }
  }
}

TEST(blocks_are_turned_over){
  rng random = rng_stream(1);
  uint32_t bits_per_block;
  for(bits_per_block=1024; bits_per_block<=65536; bits_per_block*=2){
    uint8_t *blocks = random_blocks(&random, 64, bits_per_block);
    uint8_t *group = group_of_blocks(blocks, bits_per_block), *expected = naive_group(blocks, 64, bits_per_block);
    assert_memory_equal(group, expected, (size_t)bits_per_block*8);
    free(blocks);
    free(group);
    free(expected);
  }
}

/* One bit in one block: known bytes. */
TEST(known_strips){
  uint8_t blocks[64][128] = {{0}}, strip[BLOOM_SLICE_STRIP_BYTES];
  const uint8_t *each[64];
  uint32_t i, j, sum = 0;
  blocks[10][63] = 0x20; /* block 10, bit 509: slice 5 of strip 1 */
  for(i=0; i<64; i++) each[i] = blocks[i];
  assert_int_equal(bloom_strip_of_blocks(each, 1024, 0, strip), 4032);
  for(j=0; j<4032; j++) sum += strip[j];
  assert_int_equal(sum, 0);
  assert_int_equal(bloom_strip_of_blocks(each, 1024, 1, strip), 4032);
  for(j=0; j<4032; j++) sum += strip[j];
  assert_int_equal(sum, 4);
  assert_int_equal(strip[5*8 + 1], 4);
  assert_int_equal(bloom_strip_of_blocks(each, 1024, 2, strip), 128);
}

/* Also in ../../ext/FORMATS.md, from the specification in Python. */
TEST(a_known_group){
  static uint8_t blocks[64*128];
  uint8_t *group;
  uint64_t b, i;
  for(b=0; b<64; b++){
    bloom_block block;
    bloom_block_clear(&block, blocks + b*128, 1024);
    for(i=0; i<40; i++) bloom_block_add(&block, bloom_signature_mix(64*b + i), 12);
  }
  assert_int_equal(checksum_of(blocks, 128), 0x554476842f28bc7du);
  group = group_of_blocks(blocks, 1024);
  assert_int_equal(checksum_of(group, 8192), 0x2c5659c267a01f77u);
  free(group);
}

TEST(groups_are_joined_side_by_side){
  static const uint32_t joined_sizes[] = {1024, 2048, 8192};
  rng random = rng_stream(2);
  size_t s;
  for(s=0; s<COUNT_OF(joined_sizes); s++){
    const uint32_t bits_per_block = joined_sizes[s];
    const size_t block_bytes = bits_per_block/8;
    uint8_t *blocks = random_blocks(&random, 4032, bits_per_block), *tops[9], *top, *expected;
    size_t i, j;
    for(i=0; i<9; i++){
      uint8_t *lows[7];
      for(j=0; j<7; j++) lows[j] = group_of_blocks(blocks + (i*448 + j*64)*block_bytes, bits_per_block);
      tops[i] = group_of_groups(0, lows, bits_per_block);
      expected = naive_group(blocks + i*448*block_bytes, 448, bits_per_block);
      assert_memory_equal(tops[i], expected, 448*block_bytes);
      free(expected);
      for(j=0; j<7; j++) free(lows[j]);
    }
    top = group_of_groups(1, tops, bits_per_block);
    expected = naive_group(blocks, 4032, bits_per_block);
    assert_memory_equal(top, expected, 4032*block_bytes);
    free(top);
    free(expected);
    for(i=0; i<9; i++) free(tops[i]);
    free(blocks);
  }
}

TEST(a_search_finds_the_blocks_that_have_all_bits){
  const uint32_t bits_per_block = 1024;
  rng random = rng_stream(3);
  size_t round, num_found = 0, num_stops = 0;
  int tier;
  for(tier=0; tier<BLOOM_SLICE_TIERS; tier++){
    const uint32_t num_blocks = tier_blocks[tier], slice_bytes = num_blocks/8;
    uint8_t *blocks = random_blocks(&random, num_blocks, bits_per_block);
    uint8_t *group = naive_group(blocks, num_blocks, bits_per_block);
    for(round=0; round<test_share(500); round++){
      const uint32_t num_bits = (uint32_t)rng_below(&random, 16);
      uint8_t candidates[BLOOM_SLICE_MAX_BYTES];
      uint16_t bits[16];
      uint32_t i, block, next = 0;
      int is_any = 1;
      memset(candidates, 0xff, sizeof(candidates));
      for(i=0; i<num_bits; i++) bits[i] = (uint16_t)rng_below(&random, bits_per_block);
      for(i=0; i<num_bits && is_any; i++){
        const bloom_slice_place place = bloom_slice_find(tier, bits[i]);
        uint8_t *slice = exact_copy(group + place.strip*(size_t)4032 + place.offset, slice_bytes);
        is_any = bloom_slice_and(candidates, slice, slice_bytes);
        free(slice);
      }
      num_stops += i<num_bits;
      for(block=0; block<num_blocks; block++){
        if( bloom_block_has_bits(blocks + (size_t)block*(bits_per_block/8), bits, num_bits) ){
          assert_true(is_any);
          next = bloom_slice_next(candidates, num_blocks, next);
          assert_int_equal(next++, block);
          num_found++;
        }
      }
      assert_int_equal(bloom_slice_next(candidates, num_blocks, next), num_blocks);
      if( !is_any ) assert_int_equal(next, 0);
    }
    free(blocks);
    free(group);
  }
  assert_true(num_found>0);
  assert_true(num_stops>0);
}

TEST(next_stops_at_the_last_block){
  uint8_t candidates[16] = {0};
  assert_int_equal(bloom_slice_next(candidates, 128, 0), 128);
  candidates[15] = 0x80;
  assert_int_equal(bloom_slice_next(candidates, 128, 0), 127);
  assert_int_equal(bloom_slice_next(candidates, 128, 127), 127);
  assert_int_equal(bloom_slice_next(candidates, 128, 128), 128);
  assert_int_equal(bloom_slice_next(candidates, 100, 0), 100); /* beyond what was asked for */
  candidates[0] = 1;
  assert_int_equal(bloom_slice_next(candidates, 128, 0), 0);
  assert_int_equal(bloom_slice_next(candidates, 128, 1), 127);
}

RUN_TESTS()
