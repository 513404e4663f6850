/*
** How many units a BloomFile should have: the false positive rate that double hashing
** really gives, beside theory, (1 - e^(-probes * keys / units)) ^ probes, by number of units
** and bits per key.  Primes of all sizes, and powers of two beside them.
**
**     bloomfile_units
**
** A file has 2,000 sets, each of units / bits_per_key random hashes; all sets are tested
** for 200,000 random ones.  Prints the rate, its ratio to theory, and what it is over theory
** times the number of units.
*/
#include "bench.h"

#include <math.h>

#include "../../ext/core/bloomfile/bloomfile.h"

#define NUM_SETS  2000
#define NUM_TESTED 200000

static uint64_t next_hash(void){
  static uint64_t number;
  return random_of(number++);
}

static uint64_t count_bits(const uint8_t *bytes, size_t num_bytes){
  uint64_t count = 0;
  size_t i;
  for(i=0; i<num_bytes; i++){
    unsigned byte = bytes[i];
    for(; byte; byte&=byte-1) count++;
  }
  return count;
}

static double measured_rate(const bloom_shape *shape, uint8_t *bytes, int num_keys){
  static bloom_hash_value hashes[NUM_SETS];
  static uint32_t sets[NUM_SETS];
  static uint8_t mask[NUM_SETS/8];
  bloom_hash_run hash_run = {NULL, hashes, NUM_SETS}, set_run = {NULL, sets, NUM_SETS};
  bloom_filter file;
  uint64_t num_accepted = 0;
  int key, i;
  bloom_bloomfile_clear(shape, bytes);
  for(key=0; key<num_keys; key++){
    for(i=0; i<NUM_SETS; i++) hashes[i] = next_hash(), sets[i] = (uint32_t)i;
    bloom_bloomfile_add(shape, bytes, &hash_run, &set_run);
  }
  if( !bloom_encoding_bloomfile.read(bytes, shape->num_bytes, &file) ) exit(1);
  for(i=0; i<NUM_TESTED; i++){
    if( bloom_bloomfile_sets(&file, next_hash(), mask) ) num_accepted += count_bits(mask, sizeof(mask));
  }
  return (double)num_accepted / NUM_TESTED / NUM_SETS;
}

int main(void){
  static const int all_units[] = {67, 64, 127, 128, 191, 251, 256, 509, 512, 1021, 1024, 4093, 4096};
  static const int all_bits[] = {8, 10, 12, 16};
  FILE *out = open_results("bloomfile-units", NULL, "rate of files of 2,000 sets of random hashes",
                           "units\tbits_per_key\tkeys\trate_percent\ttheory_percent");
  uint8_t *bytes = (uint8_t *)malloc(32 + (size_t)4096 * (NUM_SETS/8));
  size_t u, b;
  if( bytes==NULL ) return 1;
  printf("%6s %5s %9s %9s %8s %12s\n", "units", "bits", "rate %", "theory %", "/theory", "over * units");
  for(b=0; b<sizeof(all_bits)/sizeof(all_bits[0]); b++){
    for(u=0; u<sizeof(all_units)/sizeof(all_units[0]); u++){
      const int num_units = all_units[u], num_keys = num_units / all_bits[b];
      bloom_shape shape, other;
      double rate, theory;
      bloom_bloomfile_shape(NUM_SETS, 0, all_bits[b], SIZE_MAX, &shape); /* for the probes */
      other = (bloom_shape){32 + (size_t)num_units*(NUM_SETS/8), (uint64_t)num_units*NUM_SETS, (uint64_t)num_units, shape.num_probes};
      rate = measured_rate(&other, bytes, num_keys);
      theory = pow(1 - exp(-(double)other.num_probes * num_keys / num_units), other.num_probes);
      printf("%6d %5d %9.4f %9.4f %8.2f %12.2f\n", num_units, all_bits[b], 100*rate, 100*theory, rate/theory, (rate-theory)*num_units);
      if( out ) fprintf(out, "%d\t%d\t%d\t%.6f\t%.6f\n", num_units, all_bits[b], num_keys, 100*rate, 100*theory);
    }
  }
  free(bytes);
  return out ? fclose(out)!=0 : 0;
}
