/*
** Slices of bloom_index: what is written, compared bit for bit with the blocks themselves,
** for groups of every kind of size, and the search of all of them at once.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/signature/block.h"
#include "../../ext/core/signature/slices.h"

static const uint32_t group_units[] = {1, 2, 3, 7, 10, 63, 100, 300, 503, 504};

/* Random blocks, sparse, half full or dense. */
static uint8_t *random_blocks(rng *random, size_t num_blocks, uint32_t num_bands){
  const size_t num_bytes = num_blocks*num_bands*63;
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

static int has_bit(const uint8_t *bytes, size_t bit){
  return bytes[bit/8] >> bit%8 & 1;
}

/* A band of a group as one string of bytes, as the definition has it. */
static uint8_t *naive_band(const uint8_t *blocks, uint32_t num_units, uint32_t num_bands, uint32_t band){
  const size_t num_blocks = (size_t)num_units*64;
  uint8_t *bytes = calloc(num_units, 4032);
  size_t block, bit;
  assert_non_null(bytes);
  for(block=0; block<num_blocks; block++){
    for(bit=0; bit<504; bit++){
      if( has_bit(blocks + block*num_bands*63, (size_t)band*504 + bit) ){
        bytes[bit*num_blocks/8 + block/8] = (uint8_t)(bytes[bit*num_blocks/8 + block/8] | 1u << block%8);
      }
    }
  }
  return bytes;
}

/* The core's strip of a unit, its blocks put there in several steps, upward or downward, over what
** was there: what is beside the blocks that are put stays. */
static uint8_t *strip_of_unit(rng *random, const uint8_t *blocks, uint32_t num_bands, uint32_t band){
  uint8_t *strip = allocated(4032);
  const uint8_t *each[64];
  const int is_upward = (int)rng_below(random, 2);
  uint32_t i, num_put, num_more;
  rng_bytes(random, strip, 4032);
  for(num_put=0; num_put<64; num_put+=num_more){
    uint32_t first;
    num_more = 1 + (uint32_t)rng_below(random, 64 - num_put);
    first = is_upward ? num_put : 64 - num_put - num_more;
    for(i=0; i<64; i++){
      each[i] = i>=first && i<first+num_more ? blocks + (size_t)i*num_bands*63 : NULL; /* no other is read */
    }
    bloom_strip_put_blocks(strip, each, first, first + num_more, band);
  }
  return strip;
}

/* ---- tests ------------------------------------------------------------------ */

TEST(slices_lie_one_after_the_other){
  size_t g;
  uint32_t bit, byte;
  for(g=0; g<COUNT_OF(group_units); g++){
    const uint32_t num_units = group_units[g];
    for(bit=0; bit<504*3; bit++){
      for(byte=0; byte<8*num_units; byte += 1 + num_units/9){
        const bloom_slice_place place = bloom_slice_find(num_units, bit, byte);
        assert_int_equal(place.band, bit/504);
        assert_true(place.strip<num_units && place.offset<4032);
        assert_int_equal((uint64_t)place.strip*4032 + place.offset, (uint64_t)(bit%504)*8*num_units + byte);
      }
    }
  }
  /* The largest has a slice in each strip. */
  assert_int_equal(bloom_slice_find(504, 16127, 4031).strip, 503);
  assert_int_equal(bloom_slice_find(504, 16127, 4031).offset, 4031);
  assert_int_equal(bloom_slice_find(504, 16127, 4031).band, 31);
}

TEST(blocks_are_turned_over){
  rng random = rng_stream(1);
  uint32_t num_bands, band;
  for(num_bands=2; num_bands<=32; num_bands*=2){
    uint8_t *blocks = random_blocks(&random, 64, num_bands);
    for(band=0; band<num_bands; band++){
      uint8_t *strip = strip_of_unit(&random, blocks, num_bands, band), *expected = naive_band(blocks, 1, num_bands, band);
      assert_memory_equal(strip, expected, 4032);
      free(strip);
      free(expected);
    }
    free(blocks);
  }
}

/* Also in ../../ext/FORMATS.md, from the specification in Python. */
TEST(a_known_group){
  static uint8_t blocks[128*126], bands[2][2*4032], joined[2*4032];
  const uint8_t *each[64];
  uint64_t b, i;
  uint32_t unit, band;
  for(b=0; b<128; b++){
    bloom_block block;
    bloom_block_clear(&block, blocks + b*126, 1008);
    for(i=0; i<40; i++) bloom_block_add(&block, bloom_signature_mix(64*b + i), 12);
  }
  assert_int_equal(checksum_of(blocks, 126), 0xf7a36567a536f5c2u);
  for(unit=0; unit<2; unit++){
    for(i=0; i<64; i++) each[i] = blocks + ((size_t)64*unit + i)*126;
    for(band=0; band<2; band++) bloom_strip_put_blocks(bands[band] + (size_t)unit*4032, each, 0, 64, band);
  }
  for(unit=0; unit<2; unit++) bloom_band_join(joined, 2, bands[1] + (size_t)unit*4032, 1, unit);
  assert_int_equal(checksum_of(joined, sizeof(joined)), 0x5257a23a2d46461bu);
}

TEST(groups_are_joined_side_by_side){
  rng random = rng_stream(3);
  size_t round;
  for(round=0; round<test_share(40); round++){
    const uint32_t num_units = 2 + (uint32_t)rng_below(&random, round%8==0 ? 503 : 40), num_bands = 2;
    uint8_t *blocks = random_blocks(&random, (size_t)num_units*64, num_bands);
    uint8_t *joined = allocated((size_t)num_units*4032), *expected = naive_band(blocks, num_units, num_bands, 1);
    uint32_t first, num_source;
    memset(joined, 0xa5, (size_t)num_units*4032);
    for(first=0; first<num_units; first+=num_source){
      uint8_t *source;
      num_source = 1 + (uint32_t)rng_below(&random, num_units - first);
      source = naive_band(blocks + (size_t)first*64*126, num_source, num_bands, 1);
      bloom_band_join(joined, num_units, source, num_source, first);
      free(source);
    }
    assert_memory_equal(joined, expected, (size_t)num_units*4032);
    free(joined);
    free(expected);
    free(blocks);
  }
}

TEST(a_search_finds_the_blocks_that_have_all_bits){
  rng random = rng_stream(4);
  size_t g, round, num_found = 0, num_stops = 0;
  for(g=0; g<COUNT_OF(group_units); g++){
    const uint32_t num_units = group_units[g], num_blocks = 64*num_units, slice_bytes = 8*num_units;
    uint8_t *blocks = random_blocks(&random, num_blocks, 2), *bands[2];
    bands[0] = naive_band(blocks, num_units, 2, 0);
    bands[1] = naive_band(blocks, num_units, 2, 1);
    for(round=0; round<test_share(100); round++){
      const uint32_t num_bits = (uint32_t)rng_below(&random, 16);
      uint8_t candidates[BLOOM_STRIP_BYTES];
      uint16_t bits[16];
      uint32_t i, block, next = 0;
      int is_any = 1;
      memset(candidates, 0xff, sizeof(candidates));
      for(i=0; i<num_bits; i++) bits[i] = (uint16_t)rng_below(&random, 1008);
      for(i=0; i<num_bits && is_any; i++){
        const bloom_slice_place place = bloom_slice_find(num_units, bits[i], 0);
        uint8_t *slice = exact_copy(bands[place.band] + place.strip*(size_t)4032 + place.offset, slice_bytes);
        is_any = bloom_slice_and(candidates, slice, slice_bytes);
        assert_int_equal(is_any, bloom_slice_has_any(candidates, slice_bytes));
        free(slice);
      }
      num_stops += i<num_bits;
      for(block=0; block<num_blocks; block++){
        if( bloom_block_has_bits(blocks + (size_t)block*126, bits, num_bits) ){
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
    free(bands[0]);
    free(bands[1]);
  }
  assert_true(num_found>0);
  assert_true(num_stops>0);
}

TEST(next_stops_at_the_last_block){
  uint8_t candidates[16] = {0};
  assert_false(bloom_slice_has_any(candidates, 16));
  assert_int_equal(bloom_slice_next(candidates, 128, 0), 128);
  candidates[15] = 0x80;
  assert_true(bloom_slice_has_any(candidates, 16));
  assert_false(bloom_slice_has_any(candidates, 8));
  assert_int_equal(bloom_slice_next(candidates, 128, 0), 127);
  assert_int_equal(bloom_slice_next(candidates, 128, 127), 127);
  assert_int_equal(bloom_slice_next(candidates, 128, 128), 128);
  assert_int_equal(bloom_slice_next(candidates, 100, 0), 100); /* beyond what was asked for */
  candidates[0] = 1;
  assert_int_equal(bloom_slice_next(candidates, 128, 0), 0);
  assert_int_equal(bloom_slice_next(candidates, 128, 1), 127);
}

RUN_TESTS()
