/*
** The choice of the lists of a text column; sample.h says what is weighed.
*/
#include "sample.h"

#include <string.h>

#include "../numeric.h"

/* A list's blocks are coded by segments of so many: entries.h. */
#define SAMPLE_SEGMENT_BLOCKS 4096

/* The bytes of a page, divided by those of the codes in it, about. */
#define SAMPLE_ROW_OVERHEAD (4096.0/3930)

/* Lists that no block of the sample has are not counted, so that a list's number of blocks in the
** sample is too high on average: by about so many. */
#define SAMPLE_UNSEEN 0.5

/* Prices are 2^-16 .. 2^48, in 64 octaves of 256 steps. */
#define SAMPLE_PRICES (1u << 14)

/* If all edges of a kind differ, a list of them has one block of so many, or of up to twice as
** many: beginnings, ends, whole texts. */
static const uint32_t sample_edge_rarity[BLOOM_LISTS_EDGES] = {256, 16, 32};

/* Ends of texts whose mean length is more than so many bytes have no lists if these would take more
** than this share of the texts' bytes. */
#define SAMPLE_END_BYTES 64
#define SAMPLE_END_SHARE 0.005

/* Classes get at least this share of the room, whatever edges take. */
#define SAMPLE_CLASSES_SHARE 0.5

void bloom_lists_sample_begin(bloom_lists_sample *sample){
  memset(sample, 0, sizeof(*sample));
}

void bloom_lists_sample_add(bloom_lists_sample *sample, const uint32_t *grams, size_t num_grams){
  uint32_t classes[BLOOM_TEXT_ROOM], hashes[BLOOM_TEXT_ROOM];
  size_t i;
  assert( num_grams<=BLOOM_TEXT_ROOM && sample->num_blocks<BLOOM_LISTS_SAMPLE_BLOCKS );
  bloom_lists_hash_grams(grams, num_grams, classes, hashes);
  for(i=0; i<num_grams; i++){
    const uint32_t class = classes[i], edge = grams[i] >> 16;
    uint32_t node = hashes[i] >> (32 - BLOOM_LISTS_MAX_CUT) | (uint32_t)1 << BLOOM_LISTS_MAX_CUT;
    if( bloom_lists_is_edge(grams[i]) ){
      uint64_t *word = &sample->has_edge[grams[i] & 0xff][edge/64];
      sample->num_edges[grams[i] & 0xff] += (*word >> edge%64 & 1)==0;
      *word |= (uint64_t)1 << edge%64;
      continue;
    }
    sample->num_grams[class]++;
    if( (sample->has[class][0] & 2)==0 ) sample->seen[sample->num_seen++] = (uint16_t)class;
    /* A node that is marked has marked ancestors. */
    for(; node>0 && (sample->has[class][node/64] >> node%64 & 1)==0; node/=2){
      sample->has[class][node/64] |= (uint64_t)1 << node%64;
      sample->num_with[class][node]++;
    }
  }
}

void bloom_lists_sample_add_text(bloom_lists_sample *sample, const uint8_t *text, size_t num_bytes,
                                 int passes_nul){
  uint32_t grams[BLOOM_TEXT_ROOM];
  bloom_text reading;
  size_t num_grams;
  bloom_text_begin(&reading, text, num_bytes, passes_nul);
  while( (num_grams = bloom_text_next(&reading, grams))>0 ){
    bloom_lists_sample_add(sample, grams, num_grams);
  }
  sample->num_texts++;
}

void bloom_lists_sample_end_block(bloom_lists_sample *sample, uint64_t num_bytes){
  uint32_t i;
  assert( sample->num_blocks<BLOOM_LISTS_SAMPLE_BLOCKS );
  for(i=0; i<sample->num_seen; i++){
    memset(sample->has[sample->seen[i]], 0, sizeof(sample->has[0]));
  }
  sample->num_seen = 0;
  memset(sample->has_edge, 0, sizeof(sample->has_edge));
  sample->num_blocks++;
  sample->num_bytes += num_bytes;
}

/* Returns log2 of a ratio of 1 or more. */
static double sample_log2(double ratio){
  assert( ratio>=1 );
  return bloom_log_ratio((uint64_t)(ratio*65536), 65536) / 0.69314718055994530942;
}

/* Returns the bits that a list takes, divided by the blocks of the table, if a block has it with
** probability p. */
static double sample_cost_at(double p, double num_blocks){
  const double segment = num_blocks<SAMPLE_SEGMENT_BLOCKS ? num_blocks : SAMPLE_SEGMENT_BLOCKS;
  const double count = p*segment, few = count<segment/2 ? count : segment - count;
  /* In each segment that has the list: the gap of ids, and the number of blocks in gamma code.
  ** Where count is below 1, it is the probability that a segment has it. */
  const double head = count<1 ? count*3 : 3 + 2*sample_log2(count);
  const double blocks = few<=3 ? few*sample_log2(segment) : few*(sample_log2(segment/few) + 1.5);
  return (head + (blocks<segment ? blocks : segment)) / segment;
}

/* Returns the square root, rounded down. */
static double sample_root(uint64_t square){
  uint64_t root = 0, bit;
  for(bit=(uint64_t)1<<31; bit>0; bit/=2){
    if( (root + bit)*(root + bit)<=square ) root += bit;
  }
  assert( root*root<=square );
  return (double)root;
}

/* Returns the share of the blocks that one of a class's lists has, on average. */
static double sample_density(const bloom_lists_sample *sample, uint32_t class, uint32_t cut){
  const uint32_t num_lists = (uint32_t)1 << cut;
  uint64_t sum = 0;
  uint32_t i;
  assert( cut<=BLOOM_LISTS_MAX_CUT && sample->num_blocks>0 );
  for(i=0; i<num_lists; i++) sum += sample->num_with[class][num_lists + i];
  return (double)sum / num_lists / sample->num_blocks;
}

/* Sets cost and reads of all cuts of a class. */
static void sample_weigh(bloom_lists_sample *sample, uint32_t class){
  const double num_grams = sample->num_grams[class];
  const double root = sample_root((uint64_t)sample->num_grams[class] * sample->num_with[class][1]);
  const double weight = sample_root((uint64_t)(num_grams*root));
  uint32_t cut, i;
  for(cut=0; cut<=BLOOM_LISTS_MAX_CUT; cut++){
    const uint16_t *num_with = sample->num_with[class] + ((size_t)1 << cut);
    double cost = 0;
    for(i=0; i<(uint32_t)1<<cut; i++) cost += (double)sample->cost_of[num_with[i]];
    sample->cost[class][cut] = (float)cost;
    sample->reads[class][cut] = (float)(weight * sample_density(sample, class, cut));
  }
}

/* Chooses the cuts of all classes at a price, which has the number 0 .. SAMPLE_PRICES - 1.  Returns
** the bits that they take, divided by the blocks of the table. */
static double sample_cut(const bloom_lists_sample *sample, uint32_t number, uint8_t *cut){
  const double price = (double)(256 + number%256) * (double)((uint64_t)1 << number/256)
      / (1 << 24);
  double bits = 0;
  uint32_t class, i;
  assert( number<SAMPLE_PRICES );
  for(class=0; class<BLOOM_LISTS_CLASSES; class++){
    const float *cost = sample->cost[class], *reads = sample->reads[class];
    double best = 0;
    cut[class] = BLOOM_LISTS_EVEN_CUT; /* of classes that are not in the sample */
    if( sample->num_grams[class]==0 ) continue;
    for(i=0; i<=BLOOM_LISTS_MAX_CUT; i++){
      const double sum = (double)reads[i] + price*(double)cost[i];
      if( i>0 && sum>=best ) continue;
      best = sum;
      cut[class] = (uint8_t)i;
    }
    bits += (double)cost[cut[class]];
  }
  return bits;
}

/* Chooses how many lists a kind of edges has.  Returns the bits that they take, divided by the
** blocks of the table. */
static double sample_choose_edge(const bloom_lists_sample *sample, bloom_lists_edge_kind kind,
                                 double num_blocks, bloom_lists *lists){
  const double of_block = (double)sample->num_edges[kind] / sample->num_blocks;
  uint8_t *bits = &lists->edge_bits[kind];
  double num_lists;
  for(*bits=1; *bits<BLOOM_LISTS_MAX_EDGE_BITS
      && (double)((uint32_t)1 << *bits)<of_block*sample_edge_rarity[kind]; (*bits)++){}
  num_lists = (double)((uint32_t)1 << *bits);
  /* The most lists may be too few: then half of them are in a block. */
  return num_lists * sample_cost_at(of_block/num_lists<0.5 ? of_block/num_lists : 0.5, num_blocks)
      * SAMPLE_ROW_OVERHEAD;
}

bloom_lists_estimate bloom_lists_choose(bloom_lists_sample *sample, uint64_t num_blocks,
                                        double target_fraction, bloom_lists *lists){
  const uint32_t num_sampled = sample->num_blocks;
  const double num_all = (double)(num_blocks>num_sampled ? num_blocks : num_sampled);
  const double mean_bytes = (double)sample->num_bytes / (sample->num_texts ? sample->num_texts : 1);
  double bits_of_text, of_end, wanted, left, bits, sum = 0, num_grams = 0;
  uint32_t i, price = 0;
  if( num_sampled==0 || sample->num_bytes==0 ){
    bloom_lists_even(lists, BLOOM_LISTS_EVEN_CUT);
    return (bloom_lists_estimate){0, 0};
  }
  bits_of_text = 8.0*(double)sample->num_bytes / num_sampled; /* in a block */
  for(i=1; i<=num_sampled; i++){
    /* Includes its share of the lists that are as rare, but by chance not in the sample. */
    const double seen = (double)i/num_sampled;
    const double p = seen - SAMPLE_UNSEEN/num_sampled * (1 - num_sampled/num_all);
    sample->cost_of[i] = (float)(sample_cost_at(p, num_all) * seen/p * SAMPLE_ROW_OVERHEAD);
  }
  sample->cost_of[0] = 0;
  for(i=0; i<BLOOM_LISTS_CLASSES; i++){
    if( sample->num_grams[i]>0 ) sample_weigh(sample, i);
  }
  bits = sample_choose_edge(sample, BLOOM_LISTS_BEGIN, num_all, lists);
  of_end = sample_choose_edge(sample, BLOOM_LISTS_END, num_all, lists);
  if( mean_bytes<=SAMPLE_END_BYTES || of_end<=SAMPLE_END_SHARE*bits_of_text ) bits += of_end;
  else lists->edge_bits[BLOOM_LISTS_END] = 0;
  lists->edge_bits[BLOOM_LISTS_WHOLE] = 0;
  if( mean_bytes<=BLOOM_TEXT_WHOLE ){
    bits += sample_choose_edge(sample, BLOOM_LISTS_WHOLE, num_all, lists);
  }
  wanted = target_fraction*bits_of_text;
  left = wanted - bits;
  if( left<SAMPLE_CLASSES_SHARE*wanted ) left = SAMPLE_CLASSES_SHARE*wanted;
  /* The lowest price at which classes take what is left, or the highest price. */
  for(i=SAMPLE_PRICES/2; i>0; i/=2){
    if( sample_cut(sample, price + i - 1, lists->cut)>left ) price += i;
  }
  bits += sample_cut(sample, price, lists->cut);
  bloom_lists_number(lists);
  for(i=0; i<BLOOM_LISTS_CLASSES; i++){
    sum += sample->num_grams[i] * sample_density(sample, i, lists->cut[i]);
    num_grams += sample->num_grams[i];
  }
  return (bloom_lists_estimate){
    .fraction = bits / bits_of_text,
    .density = num_grams>0 ? sum/num_grams : 0,
  };
}
