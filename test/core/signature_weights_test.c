/*
** Weights of pieces: the table, what is learned from texts, and the promise that whatever
** bytes the table has, a block with a text is found by each pattern that is cut from it.
*/
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/signature/pattern.h"
#include "../../ext/core/signature/weights.h"

#define MAX_BITS 256

/* What each test learns, and the table that it fills. */
static bloom_lesson the_lesson, *const lesson = &the_lesson;
static uint8_t weights[BLOOM_WEIGHTS_BYTES];

/* The entry and the probes of a piece, from the definition. */
static uint32_t naive_entry(uint64_t hash){
  return (uint32_t)(hash * 11400714819323198485u >> 47);
}

static uint32_t naive_probes(uint64_t hash){
  static const uint32_t probes[4] = {0, 1, 2, 4};
  const uint32_t entry = naive_entry(hash);
  return probes[weights[entry/4] / (1u << entry%4*2) % 4];
}

/* A text of words, of which a few are common: what a log is like. */
static size_t random_words(rng *random, uint8_t *text, size_t max_bytes){
  size_t length = 0;
  while( length+24<max_bytes ){
    const size_t kind = rng_below(random, 8);
    if( kind<5 ){
      static const char *const words[] = {"request ", "Finished ", "time_out ", "of user ", "na\xc3\xafve "};
      memcpy(text + length, words[kind], strlen(words[kind]));
      length += strlen(words[kind]);
    }else{
      size_t i, num_letters = 1 + rng_below(random, 12);
      for(i=0; i<num_letters; i++) text[length++] = (uint8_t)("0123456789abcdefxyz"[rng_below(random, kind==5 ? 10 : 19)]);
      text[length++] = ' ';
    }
  }
  return length;
}

static void add_text(bloom_block *block, const uint8_t *text, size_t num_bytes){
  uint64_t hashes[BLOOM_PIECES_ROOM];
  bloom_pieces pieces;
  size_t count;
  bloom_pieces_begin(&pieces, text, num_bytes);
  while( (count = bloom_pieces_next(&pieces, hashes))>0 ) bloom_weights_add(weights, block, hashes, count);
}

static size_t bits_of_needle(uint32_t bits_per_block, const uint8_t *needle, size_t num_bytes, uint16_t *bits,
                             size_t max_bits){
  uint64_t hashes[BLOOM_PIECES_ROOM];
  bloom_pattern pattern;
  size_t count, num_bits = 0;
  bloom_pattern_begin(&pattern, BLOOM_PATTERN_LIKE, needle, num_bytes);
  while( (count = bloom_pattern_next(&pattern, hashes))>0 ){
    num_bits = bloom_weights_bits(weights, bits_per_block, hashes, count, bits, num_bits, max_bits);
  }
  return num_bits;
}

static void learn_row(const uint8_t *text, size_t num_bytes){
  uint64_t hashes[BLOOM_PIECES_ROOM];
  bloom_pieces pieces;
  size_t count;
  bloom_pieces_begin(&pieces, text, num_bytes);
  while( (count = bloom_pieces_next(&pieces, hashes))>0 ) bloom_lesson_add(lesson, hashes, count);
  bloom_lesson_end_row(lesson, num_bytes);
}

/* ---- tests ------------------------------------------------------------------ */

TEST(an_entry_says_how_many_probes){
  rng random = rng_stream(1);
  size_t round, seen[5] = {0};
  rng_bytes(&random, weights, BLOOM_WEIGHTS_BYTES);
  for(round=0; round<200000; round++){
    const uint64_t hash = rng_next(&random);
    const uint32_t probes = bloom_weights_probes(weights, hash);
    assert_int_equal(bloom_weights_entry(hash), naive_entry(hash));
    assert_int_equal(probes, naive_probes(hash));
    seen[probes]++;
  }
  assert_true(seen[0] && seen[1] && seen[2] && seen[4]);
  assert_int_equal(bloom_weights_entry(UINT64_MAX), 50065);
}

/* Whatever the table: each needle of a row finds the row's block. */
TEST(no_table_loses_a_row){
  rng random = rng_stream(2);
  size_t round, num_with_bits = 0;
  for(round=0; round<test_share(300); round++){
    const uint32_t bits_per_block = 1024u << rng_below(&random, 7);
    uint8_t text[600], *bytes = allocated(bits_per_block/8);
    const size_t num_bytes = random_words(&random, text, 30 + rng_below(&random, 570));
    bloom_block block;
    size_t i;
    if( round%4==0 ) memset(weights, (int)rng_below(&random, 256), BLOOM_WEIGHTS_BYTES);
    else rng_bytes(&random, weights, BLOOM_WEIGHTS_BYTES);
    bloom_block_clear(&block, bytes, bits_per_block);
    add_text(&block, text, num_bytes);
    for(i=0; i<100; i++){
      const size_t begin = rng_below(&random, num_bytes), length = rng_below(&random, num_bytes - begin + 1);
      const size_t max_bits = rng_below(&random, 2) ? MAX_BITS : rng_below(&random, 20);
      uint16_t bits[MAX_BITS];
      size_t num_bits;
      if( (text[begin] & 0xc0)==0x80 ) continue; /* within a character */
      num_bits = bits_of_needle(bits_per_block, text + begin, length, bits, max_bits);
      assert_true(num_bits<=max_bits);
      assert_true(bloom_block_has_bits(bytes, bits, num_bits));
      num_with_bits += num_bits>0;
    }
    free(bytes);
  }
  assert_true(num_with_bits>test_share(300)*20);
}

TEST(bits_of_rare_pieces_come_first_and_once){
  rng random = rng_stream(3);
  size_t round;
  for(round=0; round<test_share(500); round++){
    uint64_t hashes[20];
    uint16_t bits[MAX_BITS], expected[MAX_BITS], few[MAX_BITS];
    size_t num_hashes = rng_below(&random, 20), num_bits, num_expected = 0, max_bits, i, j, k;
    uint32_t probes;
    rng_bytes(&random, weights, BLOOM_WEIGHTS_BYTES);
    for(i=0; i<num_hashes; i++) hashes[i] = i && rng_below(&random, 4)==0 ? hashes[i-1] : rng_next(&random);
    for(probes=4; probes>0; probes/=2){
      for(i=0; i<num_hashes; i++){
        uint16_t own[4];
        if( naive_probes(hashes[i])!=probes ) continue;
        bloom_signature_piece_bits(hashes[i], probes, 1024, own);
        for(j=0; j<probes; j++){
          for(k=0; k<num_expected && expected[k]!=own[j]; k++){}
          if( k==num_expected ) expected[num_expected++] = own[j];
        }
      }
    }
    num_bits = bloom_weights_bits(weights, 1024, hashes, num_hashes, bits, 0, MAX_BITS);
    assert_int_equal(num_bits, num_expected);
    if( num_bits ) assert_memory_equal(bits, expected, num_bits*sizeof(bits[0]));
    max_bits = rng_below(&random, num_bits + 1);
    assert_int_equal(bloom_weights_bits(weights, 1024, hashes, num_hashes, few, 0, max_bits), max_bits);
    if( max_bits ) assert_memory_equal(few, expected, max_bits*sizeof(bits[0]));
    /* Appended: what is there stays, and nothing is new. */
    assert_int_equal(bloom_weights_bits(weights, 1024, hashes, num_hashes, bits, num_bits, MAX_BITS), num_bits);
  }
}

TEST(chunks_have_their_size_and_rows_are_not_divided){
  const uint64_t hashes[3] = {1, 2, 1};
  const uint32_t one = naive_entry(1), two = naive_entry(2);
  memset(lesson, 0xa5, sizeof(*lesson));
  bloom_lesson_begin(lesson, 1024); /* chunks of 1,194 bytes */
  bloom_lesson_add(lesson, hashes, 3);
  bloom_lesson_add(lesson, hashes, 1);
  bloom_lesson_end_row(lesson, 1193);
  bloom_lesson_add(lesson, hashes, 1);
  bloom_lesson_end_row(lesson, 1);
  assert_int_equal(lesson->num_chunks, 1);
  assert_int_equal(lesson->num_with[one], 1);
  assert_int_equal(lesson->num_with[two], 1);
  bloom_lesson_add(lesson, hashes, 1);
  bloom_lesson_end_row(lesson, 5000000000u);
  bloom_lesson_end_row(lesson, 0); /* a row without pieces begins a chunk, too */
  bloom_lesson_end_row(lesson, 1194);
  bloom_lesson_add(lesson, hashes, 1);
  assert_int_equal(lesson->num_chunks, 4);
  assert_int_equal(lesson->num_with[one], 3);
  assert_int_equal(lesson->num_with[two], 1);
}

TEST(counting_ends_where_numbers_do){
  const uint64_t hash = 77;
  int i;
  bloom_lesson_begin(lesson, 1024);
  for(i=0; i<BLOOM_LESSON_MAX_CHUNKS+10; i++){
    bloom_lesson_add(lesson, &hash, 1);
    bloom_lesson_end_row(lesson, 2000);
  }
  assert_int_equal(lesson->num_chunks, BLOOM_LESSON_MAX_CHUNKS);
  assert_int_equal(lesson->num_with[naive_entry(hash)], BLOOM_LESSON_MAX_CHUNKS);
  assert_int_equal(bloom_lesson_finish(lesson, weights), 1);
  assert_int_equal(bloom_weights_probes(weights, hash), 0);
  assert_int_equal(bloom_weights_probes(weights, 78), 4);
}

TEST(too_little_text_teaches_nothing){
  const uint64_t hash = 77;
  int i;
  bloom_lesson_begin(lesson, 8192);
  for(i=0; i<63; i++){
    bloom_lesson_add(lesson, &hash, 1);
    bloom_lesson_end_row(lesson, 9557);
  }
  assert_int_equal(bloom_lesson_finish(lesson, weights), 0);
  for(i=0; i<BLOOM_WEIGHTS_BYTES; i++) assert_int_equal(weights[i], 0x55);
  bloom_lesson_end_row(lesson, 1);
  assert_int_equal(bloom_lesson_finish(lesson, weights), 1);
  assert_int_equal(bloom_weights_probes(weights, hash), 0);
}

/* The probes of an entry that so many chunks have, by a limit of t * num_chunks * 64. */
static uint32_t naive_probes_at(uint64_t num_with, uint64_t num_chunks, uint64_t limit){
  if( 5*num_with>4*num_chunks ) return 0;
  return 4096*num_with<=limit ? 4 : 512*num_with<=limit ? 2 : 64*num_with<=limit;
}

/* Entries with given counts: by the definition, with the largest limit there is room for, of all
** at which an entry gets more probes. */
TEST(the_limit_is_as_large_as_there_is_room_for){
  static const uint64_t factors[3] = {64, 512, 4096};
  enum { MAX_CHUNKS = 1063 };
  rng random = rng_stream(4);
  size_t round;
  for(round=0; round<test_share(12); round++){
    const uint32_t num_chunks = 64 + (uint32_t)rng_below(&random, 1000);
    const size_t num_common = round==0 ? 0 : rng_below(&random, 20000);
    uint64_t num_entries[MAX_CHUNKS + 1] = {0}, largest = 0, f, n, m;
    uint32_t i;
    bloom_lesson_begin(lesson, 8192);
    lesson->num_chunks = num_chunks;
    for(i=0; i<num_common; i++){
      lesson->num_with[rng_below(&random, BLOOM_WEIGHTS_ENTRIES)] = (uint16_t)(rng_below(&random, 1 + rng_below(&random, num_chunks + 1)));
    }
    assert_int_equal(bloom_lesson_finish(lesson, weights), 1);
    for(i=0; i<BLOOM_WEIGHTS_ENTRIES; i++) num_entries[lesson->num_with[i]]++;
    for(f=0; f<COUNT_OF(factors); f++){
      for(n=1; n<=num_chunks; n++){
        const uint64_t limit = factors[f]*n;
        uint64_t num_probes = 0;
        for(m=1; m<=num_chunks; m++) num_probes += num_entries[m]*m*naive_probes_at(m, num_chunks, limit);
        if( num_probes<=(uint64_t)8192*num_chunks*693/1000 && limit>largest ) largest = limit;
      }
    }
    for(i=0; i<BLOOM_WEIGHTS_ENTRIES; i++){
      static const uint32_t probes[4] = {0, 1, 2, 4};
      assert_int_equal(probes[weights[i/4] >> i%4*2 & 3], naive_probes_at(lesson->num_with[i], num_chunks, largest));
    }
  }
}

/* Also in ../../ext/FORMATS.md, from the specification in Python. */
TEST(a_known_table){
  static const char *const known[4] = {"user", "st 9", "4711", "xyz"};
  static const uint32_t probes[4] = {0, 0, 4, 4};
  int i;
  bloom_lesson_begin(lesson, 1024);
  for(i=0; i<2500; i++){
    char row[64];
    const int length = snprintf(row, sizeof(row), "request %d of user %d finished", i*7919%100000, i*31%977);
    learn_row((const uint8_t *)row, (size_t)length);
  }
  assert_int_equal(bloom_lesson_finish(lesson, weights), 1);
  assert_int_equal(checksum_of(weights, BLOOM_WEIGHTS_BYTES), 0x827df1c0e09dc373u);
  for(i=0; i<4; i++){
    uint64_t hashes[BLOOM_PIECES_ROOM];
    bloom_pieces pieces;
    size_t count;
    bloom_pieces_begin(&pieces, (const uint8_t *)known[i], strlen(known[i]));
    count = bloom_pieces_next(&pieces, hashes);
    assert_int_equal(bloom_weights_probes(weights, hashes[count - 1]), probes[i]);
  }
}

/* Of text like a log's the blocks take a ninth or less, and absent needles are told. */
TEST(learned_blocks_take_their_share){
  const uint32_t bits_per_block = 8192;
  const size_t num_needles = 6000; /* a hundred for each of 60 blocks */
  rng random = rng_stream(5);
  uint8_t *bytes = allocated(64u << 10), text[100];
  rng rows = random;
  size_t num_text = 0, num_blocks = 0, num_passed = 0, i;
  bloom_block block;
  bloom_lesson_begin(lesson, bits_per_block);
  for(i=0; i<8000; i++) learn_row(text, random_words(&rows, text, sizeof(text)));
  assert_int_equal(bloom_lesson_finish(lesson, weights), 1);
  bloom_block_clear(&block, bytes, bits_per_block);
  for(rows=random; num_blocks<60; ){
    const size_t num_bytes = random_words(&rows, text, sizeof(text));
    add_text(&block, text, num_bytes);
    num_text += num_bytes;
    if( bloom_block_is_finished(&block) ) bloom_block_clear(&block, bytes + 1024 * ++num_blocks, bits_per_block);
  }
  assert_in_range(num_text/(num_blocks*1024), 9, 10);
  for(i=0; i<num_needles; i++){
    static const char needle[] = "hours and days";
    uint16_t bits[MAX_BITS];
    const size_t begin = i%100%10, num_bits = bits_of_needle(bits_per_block, (const uint8_t *)needle + begin, 4, bits, MAX_BITS);
    num_passed += (size_t)bloom_block_has_bits(bytes + 1024*(i/100), bits, num_bits);
  }
  assert_true(num_passed<num_needles/5);
  free(bytes);
}

RUN_TESTS()
