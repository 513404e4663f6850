/*
** Lists of a text column: their numbers and their stored bytes, from the definition, and the
** choice of the cuts: what is predicted is what the entries take, and no class could have more
** lists for what another one saves.
*/
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/entries/sample.h"

static bloom_lists the_lists, *const lists = &the_lists;
static bloom_lists_sample the_sample, *const sample = &the_sample;

/* ---- the definition, once more -------------------------------------------- */

static uint32_t naive_hash(uint32_t x){
  x ^= x / 65536;
  x *= 2246822507u;
  x ^= x / 8192;
  x *= 3266489909u;
  return x ^ x / 65536;
}

static uint32_t naive_list(uint32_t gram){
  const uint32_t class = naive_hash(gram / 256) / 262144;
  uint32_t list = 0, i;
  for(i=0; i<class; i++) list += 1u << lists->cut[i];
  return list + (lists->cut[class] ? naive_hash(gram) >> (32 - lists->cut[class]) : 0);
}

static void cut_at_random(rng *random){
  uint32_t i;
  for(i=0; i<BLOOM_LISTS_CLASSES; i++) lists->cut[i] = (uint8_t)rng_below(random, BLOOM_LISTS_MAX_CUT + 1);
  for(i=0; i<BLOOM_LISTS_EDGES; i++) lists->edge_bits[i] = (uint8_t)rng_below(random, BLOOM_LISTS_MAX_EDGE_BITS + 1);
  bloom_lists_number(lists);
}

/* A text like a log's row: words, of which a few are common, digits and identifiers. */
static size_t random_row(rng *random, char *row, size_t room){
  static const char *const words[] = {"request", "finished", "timeout of upstream", "user", "session", "wrote rows", "connection closed"};
  return (size_t)snprintf(row, room, "%s %zu: %s %012llx in %zu ms", words[rng_below(random, COUNT_OF(words))], rng_below(random, 100000),
                          words[rng_below(random, COUNT_OF(words))], (unsigned long long)(rng_next(random) >> 16), rng_below(random, 3000));
}

/* ---- tests ------------------------------------------------------------------ */

TEST(numbers_are_by_the_definition){
  rng random = rng_stream(1);
  size_t round, i;
  for(round=0; round<test_share(20); round++){
    cut_at_random(&random);
    for(i=0; i<200; i++){
      const uint32_t gram = (uint32_t)rng_next(&random) | 0x100, list = naive_list(gram);
      const bloom_lists_range range = bloom_lists_of_class(lists, gram);
      assert_int_equal(bloom_lists_of_gram(lists, gram), list);
      assert_int_equal(range.num_lists, 1u << lists->cut[naive_hash(gram / 256) >> 18]);
      assert_true(range.first<=list && list-range.first<range.num_lists);
      assert_true(list<bloom_lists_any(lists));
    }
    for(i=0; i<200; i++){
      const uint32_t kind = (uint32_t)i%BLOOM_LISTS_EDGES, three = (uint32_t)rng_next(&random), four = (uint32_t)rng_next(&random);
      const uint32_t edge = bloom_lists_edge((bloom_lists_edge_kind)kind, three, four), bits = lists->edge_bits[kind];
      const uint32_t hash = (naive_hash(three) >> 24) * 256 + (naive_hash(four) >> 24), list = bloom_lists_of_gram(lists, edge);
      const bloom_lists_range range = bloom_lists_of_edges(lists, edge);
      uint32_t first = bloom_lists_any(lists) + 1, j;
      for(j=0; j<kind; j++) first += 1u << lists->edge_bits[j];
      assert_int_equal(list, first + hash / (1u << (16 - bits)));
      assert_true(list<lists->num_lists && range.first<=list && list-range.first<range.num_lists);
      assert_int_equal(range.num_lists, bits>8 ? 1u << (bits - 8) : 1);
    }
  }
  bloom_lists_even(lists, 7);
  memset(lists->edge_bits, BLOOM_LISTS_MAX_EDGE_BITS, BLOOM_LISTS_EDGES);
  bloom_lists_number(lists);
  assert_int_equal(lists->num_lists, BLOOM_LISTS_MAX);
  bloom_lists_even(lists, 0);
  assert_int_equal(bloom_lists_any(lists), BLOOM_LISTS_CLASSES);
}

/* Also in ../../ext/FORMATS.md. */
TEST(known_lists){
  bloom_lists_even(lists, 7);
  assert_int_equal(bloom_lists_of_gram(lists, 0x6b796f74), naive_list(0x6b796f74)); /* kyot */
  assert_int_equal(naive_hash(0x6b796f74), 0x04b53975);
  assert_int_equal(bloom_lists_of_gram(lists, 0x6b796f74), 199298);
}

/* Grams of digits, of letters and of Chinese fill lists evenly: by chance alone the fullest of
** 64 has less than twice the mean. */
TEST(lists_are_spread_evenly){
  static uint32_t by_class[BLOOM_LISTS_CLASSES];
  uint32_t a, i, fullest = 0;
  bloom_lists_even(lists, 7);
  for(a=0; a<1000000; a++){ /* six digits' first three, then all next ones */
    const uint32_t trigram = ('0' + a%10)<<16 | ('0' + a/10%10)<<8 | ('0' + a/100%10);
    if( a<1000 ) by_class[bloom_lists_class(trigram << 8)]++;
  }
  for(i=0; i<BLOOM_LISTS_CLASSES; i++) if( by_class[i]>fullest ) fullest = by_class[i];
  assert_true(fullest<=4);
  memset(by_class, 0, sizeof(by_class));
  for(a=0; a<26*26*26; a++) by_class[bloom_lists_class((('a' + a%26)<<16 | ('a' + a/26%26)<<8 | ('a' + a/676)) << 8)]++;
  for(i=0, fullest=0; i<BLOOM_LISTS_CLASSES; i++) if( by_class[i]>fullest ) fullest = by_class[i];
  assert_in_range(fullest, 4, 10);
  for(a=0; a<100; a++){ /* of one class, by the next byte */
    uint32_t num_different = 0, last_of[128] = {0};
    for(i=0; i<64; i++){
      const uint32_t gram = (0xe4b801u + a*64) << 8 | (0x80 + i);
      const uint32_t list = bloom_lists_of_gram(lists, gram) - bloom_lists_of_class(lists, gram).first;
      num_different += last_of[list]++==0;
    }
    assert_in_range(num_different, 36, 64); /* of 64 draws among 128, 50.6 */
  }
}

TEST(stored_bytes){
  rng random = rng_stream(2);
  static bloom_lists before, again;
  uint8_t bytes[BLOOM_LISTS_BYTES + 1];
  uint32_t i;
  cut_at_random(&random);
  before = *lists;
  bytes[BLOOM_LISTS_BYTES] = 0xa5;
  bloom_lists_pack(lists, bytes);
  assert_int_equal(bytes[BLOOM_LISTS_BYTES], 0xa5);
  for(i=0; i<BLOOM_LISTS_CLASSES; i++){ /* bit 3 * i is the lowest of cut[i] */
    const uint32_t bit = 3*i;
    assert_int_equal((bytes[bit/8] >> bit%8 & 1) + 2*(bytes[(bit+1)/8] >> (bit+1)%8 & 1) + 4*(bytes[(bit+2)/8] >> (bit+2)%8 & 1), lists->cut[i]);
  }
  assert_int_equal(bloom_lists_unpack(&again, bytes), 1);
  assert_memory_equal(&again, &before, sizeof(again));
  assert_memory_equal(bytes + 6144, lists->edge_bits, BLOOM_LISTS_EDGES);
  for(i=0; i<test_share(500); i++){
    uint8_t damaged[BLOOM_LISTS_BYTES];
    memcpy(damaged, bytes, BLOOM_LISTS_BYTES);
    damaged[BLOOM_LISTS_BYTES - 1 - i%3] = (uint8_t)(17 + rng_below(&random, 239));
    assert_int_equal(bloom_lists_unpack(&again, damaged), 0);
    assert_memory_equal(&again, &before, sizeof(again));
  }
}

/* Grams are counted once a block at each node of their class's tree. */
TEST(samples_count_blocks){
  const uint32_t gram = 0x61626364, other = 0x61626300, class = naive_hash(0x616263) >> 18; /* abcd, abc0 */
  const uint32_t grams[3] = {gram, other, gram};
  uint32_t node;
  memset(sample, 0xa5, sizeof(*sample));
  bloom_lists_sample_begin(sample);
  bloom_lists_sample_add(sample, grams, 3);
  bloom_lists_sample_end_block(sample, 100);
  bloom_lists_sample_add_text(sample, (const uint8_t *)"ABCD", 4, 0);
  bloom_lists_sample_end_block(sample, 50);
  bloom_lists_sample_add_text(sample, (const uint8_t *)"\0x\0abc", 6, 1);
  bloom_lists_sample_end_block(sample, 0);
  bloom_lists_sample_end_block(sample, 7);
  assert_int_equal(sample->num_blocks, 4);
  assert_int_equal(sample->num_bytes, 157);
  assert_int_equal(sample->num_grams[class], 5);
  assert_int_equal(sample->num_with[class][1], 3);
  for(node=1; node<BLOOM_LISTS_NODES; node++){
    const uint32_t level = node<2 ? 0 : node<4 ? 1 : node<8 ? 2 : node<16 ? 3 : node<32 ? 4 : node<64 ? 5 : node<128 ? 6 : 7;
    const uint32_t first = level ? naive_hash(gram) >> (32 - level) : 0, second = level ? naive_hash(other) >> (32 - level) : 0;
    const uint32_t place = node - (1u << level), has_first = place==first, has_second = place==second;
    assert_int_equal(sample->num_with[class][node], has_first && has_second ? 3 : 2*has_first + 2*has_second);
  }
}

TEST(nothing_to_choose_by){
  const uint32_t gram = 0x61626364;
  uint32_t i, round;
  bloom_lists_sample_begin(sample);
  for(round=0; round<2; round++){
    bloom_lists_estimate estimate;
    memset(lists, 0xa5, sizeof(*lists));
    estimate = bloom_lists_choose(sample, 0, BLOOM_LISTS_TARGET, lists);
    for(i=0; i<BLOOM_LISTS_CLASSES; i++) assert_int_equal(lists->cut[i], BLOOM_LISTS_EVEN_CUT);
    assert_int_equal(lists->base[BLOOM_LISTS_CLASSES], BLOOM_LISTS_CLASSES << BLOOM_LISTS_EVEN_CUT);
    assert_true(estimate.fraction>=0 && estimate.fraction<=0 && estimate.density>=0 && estimate.density<=0);
    bloom_lists_sample_end_block(sample, 0); /* a block without texts */
  }
  /* Classes that the sample has not seen stay as they are; a class that is seen gets all it can. */
  bloom_lists_sample_add(sample, &gram, 1);
  bloom_lists_sample_end_block(sample, 1000000);
  bloom_lists_choose(sample, 0, BLOOM_LISTS_TARGET, lists);
  for(i=0; i<BLOOM_LISTS_CLASSES; i++) assert_int_equal(lists->cut[i], i==bloom_lists_class(gram) ? BLOOM_LISTS_MAX_CUT : BLOOM_LISTS_EVEN_CUT);
}

enum { ROWS_PER_BLOCK = 100 };

/* The bits of the numbers of a list's blocks, ascending, by the codec's rules. */
static double naive_bits(const uint16_t *blocks, uint32_t count, uint32_t num_blocks){
  double bits;
  uint32_t i, k = 0, raw = 0;
  int32_t last = -1;
  for(bits=1, i=count; i>1; i/=2) bits += 2; /* gamma */
  if( count==num_blocks ) return bits;
  while( 1u << raw < num_blocks ) raw++;
  if( count<=3 || num_blocks-count<=3 ) return bits + raw*(count<=3 ? count : num_blocks - count);
  if( 2*count>num_blocks ) return bits + num_blocks; /* of the missing ones, at most so many */
  while( count * (2u << k) * 100<=69*num_blocks ) k++;
  for(i=0; i<count; last=blocks[i++]) bits += ((uint32_t)(blocks[i] - last - 1) >> k) + 1 + k;
  return bits;
}

static uint64_t has[BLOOM_LISTS_MAX/64 + 1];
static uint16_t *blocks_of_list;
static uint32_t *num_of_list;

/* What the entries of all blocks take, rows of entries and gaps of their numbers included. */
static double entries_bits(uint64_t seed, uint32_t num_blocks){
  const uint32_t num_lists = lists->num_lists;
  rng random = rng_stream(seed);
  double bits = 0, num_present = 0;
  uint32_t block, row, i;
  blocks_of_list = allocated((size_t)num_lists*num_blocks*sizeof(uint16_t));
  num_of_list = allocated(num_lists*sizeof(uint32_t));
  memset(num_of_list, 0, num_lists*sizeof(uint32_t));
  for(block=0; block<num_blocks; block++){
    for(row=0; row<ROWS_PER_BLOCK; row++){
      char text[200];
      uint32_t numbers[BLOOM_TEXT_ROOM];
      bloom_text reading;
      size_t j;
      bloom_text_begin(&reading, (const uint8_t *)text, random_row(&random, text, sizeof(text)), 0);
      while( bloom_text_is_open(&reading) ){
        const size_t count = bloom_text_next_lists(&reading, lists, has, numbers);
        for(j=0; j<count; j++){
          has[numbers[j]/64] = 0;
          uint16_t *blocks = blocks_of_list + (size_t)numbers[j]*num_blocks;
          uint32_t *num = num_of_list + numbers[j];
          if( *num==0 || blocks[*num - 1]!=block ) blocks[(*num)++] = (uint16_t)block;
        }
      }
    }
  }
  for(i=0; i<num_lists; i++){
    if( num_of_list[i]==0 ) continue;
    num_present++;
    bits += naive_bits(blocks_of_list + (size_t)i*num_blocks, num_of_list[i], num_blocks);
  }
  free(blocks_of_list);
  free(num_of_list);
  bits += num_present * (1.5 + log2(num_lists / num_present)); /* gaps */
  return bits * 4096 / 3950;
}

static void sample_rows(uint64_t seed, uint32_t num_blocks, uint64_t *text_bytes){
  rng random = rng_stream(seed);
  uint32_t block, row;
  *text_bytes = 0;
  bloom_lists_sample_begin(sample);
  for(block=0; block<num_blocks; block++){
    uint64_t num_bytes = 0;
    for(row=0; row<ROWS_PER_BLOCK; row++){
      char text[200];
      const size_t length = random_row(&random, text, sizeof(text));
      bloom_lists_sample_add_text(sample, (const uint8_t *)text, length, 0);
      num_bytes += length;
    }
    bloom_lists_sample_end_block(sample, num_bytes);
    *text_bytes += num_bytes;
  }
}

TEST(the_size_is_as_predicted){
  static const struct { uint32_t num_blocks; double target; } cases[] = {{300, 0.117}, {300, 0.1}, {60, 0.15}, {1000, 0.117}};
  size_t i;
  for(i=0; i<test_share(COUNT_OF(cases)); i++){
    uint64_t text_bytes;
    bloom_lists_estimate estimate;
    double bits;
    sample_rows(3, cases[i].num_blocks, &text_bytes);
    estimate = bloom_lists_choose(sample, cases[i].num_blocks, cases[i].target, lists);
    assert_true(estimate.fraction<=cases[i].target && estimate.fraction>0.98*cases[i].target);
    bits = entries_bits(3, cases[i].num_blocks);
    assert_close(bits / 8 / (double)text_bytes, estimate.fraction, 0.05, "the share of the text"); /* edges are taken to be even */
  }
}

/* There is a price at which no class would take another cut; what needles read is by the definition. */
TEST(no_class_wants_another_cut){
  uint64_t text_bytes;
  double least = 0, most = 1e30, sum = 0, num_grams = 0;
  bloom_lists_estimate estimate;
  uint32_t class, cut, i;
  sample_rows(4, 200, &text_bytes);
  estimate = bloom_lists_choose(sample, 5000, 0.08, lists);
  for(class=0; class<BLOOM_LISTS_CLASSES; class++){
    const uint32_t chosen = lists->cut[class];
    const float *cost = sample->cost[class], *reads = sample->reads[class];
    if( sample->num_grams[class]==0 ) continue;
    for(cut=0; cut<=BLOOM_LISTS_MAX_CUT; cut++){
      const double times = sample->num_grams[class];
      const double weight = floor(sqrt(times * floor(sqrt(times * sample->num_with[class][1]))));
      double density = 0, more, less;
      for(i=0; i<1u<<cut; i++) density += sample->num_with[class][(1u << cut) + i] / 200.0 / (1u << cut);
      assert_close((double)reads[cut], weight*density, 1e-5, "reads");
      if( cut==chosen ) sum += density * sample->num_grams[class];
      more = (double)cost[chosen] - (double)cost[cut];
      less = (double)reads[cut] - (double)reads[chosen];
      if( more>1e-9 && less/more<most ) most = less/more;
      if( more<-1e-9 && less/more>least ) least = less/more;
    }
    num_grams += sample->num_grams[class];
  }
  assert_true(most>0 && least<=most*1.0001);
  assert_close(estimate.density, sum/num_grams, 1e-4, "the density");
}

/* Beginnings have lists, ends of long texts none if they differ, and whole texts only if they are short. */
TEST(edges_by_the_length_of_texts){
  static const struct { uint32_t num_bytes; int has_end, has_whole; } cases[] = {{8, 1, 1}, {32, 1, 1}, {33, 1, 0}, {64, 1, 0}, {65, 0, 0}, {200, 0, 0}};
  rng random = rng_stream(6);
  size_t i;
  for(i=0; i<COUNT_OF(cases); i++){
    const uint32_t num_bytes = cases[i].num_bytes;
    uint32_t block, row, j;
    bloom_lists_sample_begin(sample);
    for(block=0; block<50; block++){
      for(row=0; row<ROWS_PER_BLOCK; row++){
        uint8_t text[200];
        for(j=0; j<num_bytes; j++) text[j] = (uint8_t)('a' + rng_below(&random, 26));
        bloom_lists_sample_add_text(sample, text, num_bytes, 0);
      }
      bloom_lists_sample_end_block(sample, (uint64_t)num_bytes*ROWS_PER_BLOCK);
    }
    bloom_lists_choose(sample, 50, BLOOM_LISTS_TARGET, lists);
    assert_true(lists->edge_bits[BLOOM_LISTS_BEGIN]>0);
    assert_int_equal(lists->edge_bits[BLOOM_LISTS_END]>0, cases[i].has_end);
    assert_int_equal(lists->edge_bits[BLOOM_LISTS_WHOLE]>0, cases[i].has_whole);
  }
}

/* More room makes lists shorter, and larger blocks do, too. */
TEST(more_room_makes_more_lists){
  uint64_t text_bytes;
  bloom_lists_estimate last = {0, 1};
  uint32_t last_num = 0, i;
  sample_rows(5, 400, &text_bytes);
  for(i=10; i<16; i++){
    const bloom_lists_estimate estimate = bloom_lists_choose(sample, 400, 0.01*i, lists);
    assert_true(estimate.fraction<=0.01*i);
    assert_true(estimate.fraction>=last.fraction && estimate.density<=last.density);
    assert_true(bloom_lists_any(lists)>last_num);
    last = estimate;
    last_num = bloom_lists_any(lists);
  }
}

RUN_TESTS()
