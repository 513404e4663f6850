/*
** What the core's tests share; support.h describes it.
*/
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"

#define DEFAULT_SEED 0xb100f11735eedu

void *allocated(size_t num_bytes){
  void *p = malloc(num_bytes ? num_bytes : 1);
  if( p==NULL ){
    fprintf(stderr, "out of memory: %zu bytes\n", num_bytes);
    abort();
  }
  return p;
}

uint64_t env_number(const char *name, uint64_t fallback){
  const char *text = getenv(name);
  return text && *text ? strtoull(text, NULL, 0) : fallback;
}

uint64_t test_seed(void){
  return env_number("BLOOM_TEST_SEED", DEFAULT_SEED);
}

size_t test_share(size_t count){
  size_t share = count * (size_t)env_number("BLOOM_TEST_SHARE", 100) / 100;
  return share ? share : 1;
}

uint64_t rng_next(rng *random){
  uint64_t x = random->state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

rng rng_stream(uint64_t stream){
  /* Scattered: neighbouring streams must not be one sequence shifted by one. */
  rng random = { stream };
  random.state = rng_next(&random) ^ test_seed();
  return random;
}

size_t rng_below(rng *random, size_t limit){
  return (size_t)(rng_next(random) % limit);
}

void rng_bytes(rng *random, uint8_t *bytes, size_t num_bytes){
  size_t i;
  uint64_t word = 0;
  for(i=0; i<num_bytes; i++, word>>=8){
    if( i%8==0 ) word = rng_next(random);
    bytes[i] = (uint8_t)word;
  }
}

char *hex_of(const uint8_t *bytes, size_t num_bytes){
  char *hex = allocated(2*num_bytes + 1);
  size_t i;
  for(i=0; i<num_bytes; i++){
    hex[2*i] = "0123456789abcdef"[bytes[i] >> 4];
    hex[2*i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  hex[2*num_bytes] = 0;
  return hex;
}

uint8_t *bytes_of(const char *hex, size_t *num_bytes){
  uint8_t *bytes;
  size_t i;
  *num_bytes = strlen(hex)/2;
  bytes = allocated(*num_bytes);
  for(i=0; i<*num_bytes; i++){
    char pair[3] = { hex[2*i], hex[2*i + 1], 0 };
    bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
  }
  return bytes;
}

uint8_t *exact_copy(const uint8_t *bytes, size_t num_bytes){
  uint8_t *copy = malloc(num_bytes); /* not allocated(): 0 bytes are none */
  if( num_bytes ){
    if( copy==NULL ) abort();
    memcpy(copy, bytes, num_bytes);
  }
  return copy;
}

int stop_reading(void *data){
  stopper *stops = data;
  return ++stops->num_calls>=stops->stop_at;
}

static key_set key_set_new(size_t num_keys, size_t num_owned_bytes){
  return (key_set){
    .keys = allocated(num_keys*sizeof(uint8_t*)),
    .lengths = allocated(num_keys*sizeof(size_t)),
    .num_keys = num_keys,
    .owned = allocated(num_owned_bytes),
  };
}

key_set key_set_of_texts(const char *const *texts, size_t num_texts){
  key_set set = key_set_new(num_texts, 0);
  size_t i;
  for(i=0; i<num_texts; i++){
    set.keys[i] = (const uint8_t*)texts[i];
    set.lengths[i] = strlen(texts[i]);
  }
  return set;
}

key_set key_set_of_decimals(int64_t first, size_t num_keys){
  key_set set = key_set_new(num_keys, BLOOM_DECIMAL_MAX_BYTES*num_keys + 1);
  size_t i;
  for(i=0; i<num_keys; i++){
    char text[32];
    uint8_t *key = set.owned + BLOOM_DECIMAL_MAX_BYTES*i;
    /* By printf: the keys of a golden filter must not hang on our decimals. */
    int length = snprintf(text, sizeof(text), "%" PRId64, first + (int64_t)i);
    memcpy(key, text, (size_t)length);
    set.keys[i] = key;
    set.lengths[i] = (size_t)length;
  }
  return set;
}

key_set key_set_random(rng *random, size_t num_keys){
  key_set set = key_set_new(num_keys, 64*num_keys + 1);
  /* A third each: all lengths, one length, few bytes (many duplicates). */
  const size_t kind = rng_below(random, 3);
  const size_t one_length = rng_below(random, 65);
  size_t i;
  for(i=0; i<num_keys; i++){
    uint8_t *key = set.owned + 64*i;
    size_t length = kind==0 ? rng_below(random, 65) : kind==1 ? one_length : rng_below(random, 3);
    rng_bytes(random, key, length);
    set.keys[i] = key;
    set.lengths[i] = length;
    if( i && rng_below(random, 16)==0 ){
      size_t twin = rng_below(random, i);
      set.keys[i] = set.keys[twin];
      set.lengths[i] = set.lengths[twin];
    }
  }
  return set;
}

void key_set_free(key_set *set){
  free(set->keys);
  free(set->lengths);
  free(set->owned);
  *set = (key_set){ 0 };
}

uint32_t *key_set_hashes(const key_set *set){
  uint32_t *hashes = allocated(set->num_keys*sizeof(uint32_t));
  size_t i;
  for(i=0; i<set->num_keys; i++) hashes[i] = bloom_leveldb_hash(set->keys[i], set->lengths[i]);
  return hashes;
}

bloom_shape leveldb_shape(uint64_t num_bits, uint32_t num_probes){
  return (bloom_shape){
    .num_bytes = (size_t)(num_bits/8) + 1,
    .num_bits = num_bits,
    .num_slots = bloom_leveldb_reached_bits(num_bits),
    .num_probes = num_probes,
  };
}

void add_in_runs(const bloom_encoding *encoding, const bloom_shape *shape, uint8_t *filter,
                 const void *hashes, size_t num_hashes, rng *random){
  const uint8_t *next = hashes;
  bloom_hash_run runs[8];
  size_t num_runs = 0, used = 0, i;
  while( num_runs<COUNT_OF(runs) ){
    size_t left = num_hashes - used;
    size_t length = num_runs==COUNT_OF(runs)-1 ? left : rng_below(random, left + 1);
    if( rng_below(random, 4)==0 && num_runs<COUNT_OF(runs)-1 ) length = 0;
    runs[num_runs++] = (bloom_hash_run){ NULL, length ? next : NULL, length };
    next += length*encoding->hash_value_bytes;
    used += length;
  }
  for(i=0; i+1<num_runs; i++) runs[i].next = &runs[i+1];
  encoding->add(shape, filter, runs);
}

uint8_t *build_filter(uint32_t *hashes, size_t num_hashes, double bits_per_key,
                      rng *order, size_t *num_bytes){
  bloom_shape shape;
  uint8_t *filter;
  if( bloom_leveldb_shape(num_hashes, bits_per_key, &shape)!=BLOOM_OK ){
    fprintf(stderr, "no shape for %zu keys at %g bits\n", num_hashes, bits_per_key);
    abort();
  }
  filter = allocated(shape.num_bytes);
  memset(filter, 0xa5, shape.num_bytes); /* bloom_leveldb_clear() must leave none of it */
  bloom_leveldb_clear(&shape, filter);
  if( order ){
    size_t i;
    for(i=num_hashes; i>1; i--){
      size_t other = rng_below(order, i);
      uint32_t hash = hashes[i-1];
      hashes[i-1] = hashes[other];
      hashes[other] = hash;
    }
    add_in_runs(&bloom_encoding_leveldb, &shape, filter, hashes, num_hashes, order);
  }else{
    bloom_hash_run run = { NULL, hashes, num_hashes };
    bloom_leveldb_add(&shape, filter, &run);
  }
  *num_bytes = shape.num_bytes;
  return filter;
}

uint8_t *build_filter_of(const key_set *set, double bits_per_key, size_t *num_bytes){
  uint32_t *hashes = key_set_hashes(set);
  uint8_t *filter = build_filter(hashes, set->num_keys, bits_per_key, NULL, num_bytes);
  free(hashes);
  return filter;
}

uint8_t *random_filter(rng *random, size_t num_hashes, double bits_per_key, bloom_filter *read){
  uint32_t *hashes = allocated(num_hashes * sizeof(*hashes));
  size_t num_bytes, i;
  uint8_t *bytes;
  for(i=0; i<num_hashes; i++) hashes[i] = (uint32_t)(rng_next(random) >> 32);
  bytes = build_filter(hashes, num_hashes, bits_per_key, NULL, &num_bytes);
  bloom_filter_read(bytes, num_bytes, read);
  free(hashes);
  return bytes;
}

size_t count_accepted(const bloom_filter *filter, rng *random, size_t num_probed){
  size_t num_accepted = 0, i;
  for(i=0; i<num_probed; i++){
    num_accepted += (size_t)filter->encoding->may_contain(filter, (uint32_t)(rng_next(random) >> 32));
  }
  return num_accepted;
}

uint64_t checksum_of(const uint8_t *bytes, size_t num_bytes){
  uint64_t sum = 0xcbf29ce484222325u;
  size_t i;
  for(i=0; i<num_bytes; i++) sum = (sum ^ bytes[i]) * 0x100000001b3u;
  return sum;
}

int may_contain(const uint8_t *filter, size_t num_bytes, uint32_t hash){
  bloom_filter parsed;
  bloom_filter_read(filter, num_bytes, &parsed);
  return parsed.encoding->may_contain(&parsed, hash);
}
