/*
** What partitions do for the false positive rate: one filter of many keys beside
** the same keys in partitions, of the same size in all.
**
**     partitions [num_keys]     default: 1e8 keys; at 10, 12, 16 bits
**
** Keys are texts of 16 hexadecimal digits.  Two million absent keys are asked for
** per row: a rate of 1 % is then within 1.4 % of itself in 19 cases of 20.  Uses the
** core alone, and 4 bytes a key beside the filters.  A filter is sized by its own
** number of keys, as by bloom_build() without a capacity.
*/
#include "lookups.h"

#include <math.h>

#include "../../ext/core/numeric.h"
#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"
#include "../../ext/core/leveldb/hash.h"
#include "../../ext/core/partition.h"

#define NUM_ABSENT 2000000

/* Keys 0 .. num_keys-1, as the hashes of each partition in turn. */
typedef struct grouped_keys {
  uint32_t num_parts;
  uint32_t *hashes;
  uint64_t *ends; /* of each partition's hashes */
} grouped_keys;

static uint32_t part_of(const char *key, uint32_t num_parts){
  return (uint32_t)bloom_partition_of((const uint8_t *)key, KEY_CHARS, num_parts);
}

static uint32_t hash_of(const char *key){
  return bloom_leveldb_hash((const uint8_t *)key, KEY_CHARS);
}

/* Counts, then places: a sort by partition in two passes. */
static void group_keys(grouped_keys *g, uint32_t num_parts, uint64_t num_keys){
  uint64_t sum = 0, i;
  uint32_t part;
  char key[KEY_CHARS + 1];
  g->num_parts = num_parts;
  g->hashes = allocate(num_keys * sizeof(g->hashes[0]));
  g->ends = allocate(num_parts * sizeof(g->ends[0]));
  for(i=0; i<num_keys; i++){
    write_key(i, key);
    g->ends[part_of(key, num_parts)]++;
  }
  for(part=0; part<num_parts; part++){ /* now the begin; each placed key moves it on */
    const uint64_t count = g->ends[part];
    g->ends[part] = sum;
    sum += count;
  }
  for(i=0; i<num_keys; i++){
    write_key(i, key);
    g->hashes[g->ends[part_of(key, num_parts)]++] = hash_of(key);
  }
}

typedef struct parts {
  bloom_shape *shapes;
  uint8_t **filters;
  uint64_t num_bytes;
} parts;

static void build(parts *p, const grouped_keys *g, double bits_per_key){
  uint32_t part;
  p->shapes = allocate(g->num_parts * sizeof(*p->shapes));
  p->filters = allocate(g->num_parts * sizeof(*p->filters));
  p->num_bytes = 0;
  for(part=0; part<g->num_parts; part++){
    const uint64_t begin = part ? g->ends[part-1] : 0;
    const bloom_hash_run run = {NULL, g->hashes + begin, (size_t)(g->ends[part] - begin)};
    if( bloom_leveldb_shape(run.num_hashes, bits_per_key, &p->shapes[part])!=BLOOM_OK ) exit(1);
    p->filters[part] = allocate(p->shapes[part].num_bytes);
    bloom_leveldb_clear(&p->shapes[part], p->filters[part]);
    bloom_leveldb_add(&p->shapes[part], p->filters[part], &run);
    p->num_bytes += p->shapes[part].num_bytes;
  }
}

static double rate_of(const parts *p, uint32_t num_parts, uint64_t num_keys){
  uint64_t num_found = 0, i;
  for(i=0; i<NUM_ABSENT; i++){
    bloom_filter filter;
    char key[KEY_CHARS + 1];
    uint32_t part;
    write_key(num_keys + i, key);
    part = part_of(key, num_parts);
    bloom_filter_read(p->filters[part], p->shapes[part].num_bytes, &filter);
    num_found += (uint64_t)filter.encoding->may_contain(&filter, hash_of(key));
  }
  return (double)num_found / NUM_ABSENT;
}

int main(int argc, char **argv){
  static const double sizes[] = {10, 12, 16};
  const uint64_t num_keys = argc>1 ? (uint64_t)atof(argv[1]) : 100000000;
  FILE *out;
  size_t s, n;
  if( argc>2 || num_keys<20000 ){
    fprintf(stderr, "usage: partitions [num_keys, 20000 or more]\n");
    return 2;
  }
  out = open_results("partitions", NULL, "false positive rates, by brute force",
                     "num_keys\tbits_per_key\tnum_partitions\tnum_bytes\tmeasured_fpr\ttextbook_fpr");
  printf("%llu keys\n%10s %5s %12s %10s %10s\n", (unsigned long long)num_keys,
         "partitions", "bits", "bytes", "measured", "textbook");
  for(n=0; n<4; n++){
    const uint32_t nums_of_parts[] = {4096, 1, (uint32_t)(num_keys/20000), (uint32_t)(num_keys/2000)};
    grouped_keys g;
    group_keys(&g, nums_of_parts[n], num_keys);
    for(s=0; s<sizeof(sizes)/sizeof(sizes[0]); s++){
      const double probes = bloom_num_probes(sizes[s]);
      const double textbook = pow(1 - exp(-probes/sizes[s]), probes);
      double rate;
      uint32_t part;
      parts p;
      build(&p, &g, sizes[s]);
      rate = rate_of(&p, g.num_parts, num_keys);
      printf("%10u %5.0f %12llu %9.3f%% %9.3f%%\n", g.num_parts, sizes[s],
             (unsigned long long)p.num_bytes, 100*rate, 100*textbook);
      fflush(stdout);
      if( out ) fprintf(out, "%llu\t%.0f\t%u\t%llu\t%.4e\t%.4e\n", (unsigned long long)num_keys,
                        sizes[s], g.num_parts, (unsigned long long)p.num_bytes, rate, textbook);
      for(part=0; part<g.num_parts; part++) free(p.filters[part]);
      free(p.filters);
      free(p.shapes);
    }
    free(g.hashes);
    free(g.ends);
  }
  return out ? fclose(out)!=0 : 0;
}
