/*
** The choice of the lists of a text column; sample.h says what is weighed.
*/
#include "sample.h"

#include <string.h>

#include "../numeric.h"

/* Blocks of one segment, whose entries of a list are coded together. */
#define SAMPLE_SEGMENT_BLOCKS 4096

/* A row of entries is a page of 4,096 bytes; so many of them hold codes, about. */
#define SAMPLE_ROW_OVERHEAD (4096.0/3930)

/* Blocks by which the count of a list is too high, because it was seen. */
#define SAMPLE_UNSEEN 0.5

/* Of the bisection: lambda is known to less than all gains together * 2^-40. */
#define SAMPLE_STEPS 50

void bloom_lists_sample_begin(bloom_lists_sample *sample){
  memset(sample, 0, sizeof(*sample));
}

void bloom_lists_sample_add(bloom_lists_sample *sample, const uint32_t *grams, size_t num_grams){
  size_t i;
  if( bloom_lists_sample_is_full(sample) ) return;
  for(i=0; i<num_grams; i++){
    const uint32_t class = bloom_lists_class(grams[i]);
    uint32_t node = bloom_lists_hash(grams[i]) >> (32 - BLOOM_LISTS_MAX_CUT)
        | (uint32_t)1 << BLOOM_LISTS_MAX_CUT;
    sample->num_grams[class]++;
    /* Where a list is known, what it is cut from is, too. */
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
}

void bloom_lists_sample_end_block(bloom_lists_sample *sample, uint64_t num_bytes){
  if( bloom_lists_sample_is_full(sample) ) return;
  memset(sample->has, 0, sizeof(sample->has));
  sample->num_blocks++;
  sample->num_bytes += num_bytes;
}

/* log2(), of 1 and more. */
static double sample_log2(double ratio){
  return bloom_log_ratio((uint64_t)(ratio*65536), 65536) / 0.69314718055994530942;
}

/* The bits that a list takes for each block of the table, if each has it with probability p. */
static double sample_cost_at(double p, double num_blocks){
  const double segment = num_blocks<SAMPLE_SEGMENT_BLOCKS ? num_blocks : SAMPLE_SEGMENT_BLOCKS;
  const double count = p*segment, few = count<segment/2 ? count : segment - count;
  /* The gap of numbers, then how many blocks: the gamma code; with a chance of count where that
  ** is below 1. */
  const double head = count<1 ? count*3 : 3 + 2*sample_log2(count);
  const double blocks = few<=3 ? few*sample_log2(segment) : few*(sample_log2(segment/few) + 1.5);
  return (head + (blocks<segment ? blocks : segment)) / segment;
}

/* The same for a list that num_with of num_sampled blocks have.  The lists of which a sample has
** few blocks are rarer than they look: others like them were not seen at all, and what has one
** block in the sample is of about half a block in as many. */
static double sample_cost(uint32_t num_with, uint32_t num_sampled, double num_blocks){
  const double seen = (double)num_with/num_sampled;
  const double p = seen - SAMPLE_UNSEEN/num_sampled * (1 - num_sampled/num_blocks);
  return sample_cost_at(p, num_blocks) * seen/p;
}

/* sqrt(), rounded down. */
static double sample_root(uint64_t square){
  uint64_t root = 0, bit;
  for(bit=(uint64_t)1<<31; bit>0; bit/=2){
    if( (root + bit)*(root + bit)<=square ) root += bit;
  }
  return (double)root;
}

/* The share of blocks that a list of a class has on average, if the class is cut so. */
static double sample_density(const bloom_lists_sample *sample, uint32_t class, uint32_t cut){
  const uint32_t num_lists = (uint32_t)1 << cut;
  uint64_t sum = 0;
  uint32_t i;
  for(i=0; i<num_lists; i++) sum += sample->num_with[class][num_lists + i];
  return (double)sum / num_lists / sample->num_blocks;
}

/* Sets the costs and gains of the cuts of a class. */
static void sample_weigh(bloom_lists_sample *sample, uint32_t class){
  const double weight = sample_root((uint64_t)sample->num_grams[class]
                                    * sample->num_with[class][1]);
  uint32_t cut, i;
  for(cut=0; cut<=BLOOM_LISTS_MAX_CUT; cut++){
    const uint16_t *num_with = sample->num_with[class] + ((size_t)1 << cut);
    double cost = 0;
    for(i=0; i<(uint32_t)1<<cut; i++) cost += (double)sample->cost_of[num_with[i]];
    sample->cost[class][cut] = (float)cost;
    sample->gain[class][cut] = (float)(weight * sample_density(sample, class, cut));
  }
}

/* Cuts the classes by lambda.  Returns the bits for each block. */
static double sample_cut(const bloom_lists_sample *sample, double lambda, uint8_t *cut){
  double bits = 0;
  uint32_t class, i;
  for(class=0; class<BLOOM_LISTS_CLASSES; class++){
    const float *cost = sample->cost[class], *gain = sample->gain[class];
    double best = 0;
    cut[class] = BLOOM_LISTS_EVEN_CUT; /* of a class that the sample has not seen */
    if( sample->num_grams[class]==0 ) continue;
    for(i=0; i<=BLOOM_LISTS_MAX_CUT; i++){
      const double sum = (double)gain[i] + lambda*(double)cost[i];
      if( i>0 && sum>=best ) continue;
      best = sum;
      cut[class] = (uint8_t)i;
    }
    bits += (double)cost[cut[class]];
  }
  return bits;
}

bloom_lists_estimate bloom_lists_choose(bloom_lists_sample *sample, uint64_t num_blocks,
                                        double target_fraction, bloom_lists *lists){
  const uint32_t num_sampled = sample->num_blocks;
  double bits_of_text, low = 0, high = 1, bits, sum = 0, num_grams = 0;
  uint32_t i, step;
  if( num_sampled==0 || sample->num_bytes==0 ){
    bloom_lists_even(lists, BLOOM_LISTS_EVEN_CUT);
    return (bloom_lists_estimate){0, 0};
  }
  if( num_blocks<num_sampled ) num_blocks = num_sampled;
  bits_of_text = 8.0*(double)sample->num_bytes / num_sampled; /* of a block */
  for(i=1; i<=num_sampled; i++){
    sample->cost_of[i] = (float)(sample_cost(i, num_sampled, (double)num_blocks)
                                 * SAMPLE_ROW_OVERHEAD);
  }
  sample->cost_of[0] = 0;
  for(i=0; i<BLOOM_LISTS_CLASSES; i++) sample_weigh(sample, i);
  /* More than all gains: nothing is cut that does not save room. */
  for(i=0; i<BLOOM_LISTS_CLASSES; i++) high += sample->num_grams[i];
  high *= 1024;
  for(step=0; step<SAMPLE_STEPS; step++){
    const double lambda = (low + high)/2;
    if( sample_cut(sample, lambda, lists->cut)>target_fraction*bits_of_text ) low = lambda;
    else high = lambda;
  }
  bits = sample_cut(sample, high, lists->cut);
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
