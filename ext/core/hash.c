/*
** Hashes of bytes; hash.h has their sources.
*/
#include "hash.h"

#include "bytes.h"
#include "debug.h"
#include "numeric.h"

/* -- xxHash ---------------------------------------------------------------------------------- */

/* Compiles xxHash into this file: no library to load, no symbol to export. */
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t bloom_xxh64(const uint8_t *bytes, size_t num_bytes){
  assert( bytes || num_bytes==0 );
  return bytes ? XXH64(bytes, num_bytes, 0) : XXH64("", 0, 0);
}

uint64_t bloom_xxh3(const uint8_t *bytes, size_t num_bytes){
  assert( bytes || num_bytes==0 );
  return bytes ? XXH3_64bits(bytes, num_bytes) : XXH3_64bits("", 0);
}

/* -- SipHash-2-4: 2 rounds for every 8 bytes, 4 at the end ----------------------------------- */

#define WORD_BYTES 8

typedef struct siphash_state {
  uint64_t v0, v1, v2, v3;
} siphash_state;

static inline void siphash_rounds(siphash_state *s, int num_rounds){
  int i;
  for(i=0; i<num_rounds; i++){
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = bloom_rotate_left64(s->v1, 13) ^ s->v0;
    s->v3 = bloom_rotate_left64(s->v3, 16) ^ s->v2;
    s->v0 = bloom_rotate_left64(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = bloom_rotate_left64(s->v1, 17) ^ s->v2;
    s->v3 = bloom_rotate_left64(s->v3, 21) ^ s->v0;
    s->v2 = bloom_rotate_left64(s->v2, 32);
  }
}

static inline void siphash_word(siphash_state *s, uint64_t word){
  s->v3 ^= word;
  siphash_rounds(s, 2);
  s->v0 ^= word;
}

uint64_t bloom_siphash(const uint8_t *secret, const uint8_t *bytes, size_t num_bytes){
  const uint64_t k0 = bloom_load64_le(secret), k1 = bloom_load64_le(secret + WORD_BYTES);
  /* "somepseudorandomlygeneratedbytes" */
  siphash_state s = {
    k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u,
    k1 ^ 0x7465646279746573u
  };
  /* The last word's top byte is the length modulo 256. */
  uint64_t last = (uint64_t)num_bytes << 56;
  size_t i;
  assert( secret && (bytes || num_bytes==0) );
  for(i=0; num_bytes-i>=WORD_BYTES; i+=WORD_BYTES) siphash_word(&s, bloom_load64_le(bytes + i));
  for(; i<num_bytes; i++) last |= (uint64_t)bytes[i] << (8 * (i % WORD_BYTES));
  siphash_word(&s, last);
  s.v2 ^= 0xff;
  siphash_rounds(&s, 4);
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* -- Partitions ------------------------------------------------------------------------------ */

/* Computes the upper 64 bits of hash * num_partitions by halves of 32 bits: not every compiler has
** a 128-bit type. */
uint64_t bloom_partition_of(const uint8_t *key, size_t num_bytes, uint64_t num_partitions){
  const uint64_t hash = bloom_xxh3(key, num_bytes), low = hash & UINT32_MAX, high = hash >> 32;
  const uint64_t other_low = num_partitions & UINT32_MAX, other_high = num_partitions >> 32;
  const uint64_t high_low = high * other_low + (low * other_low >> 32);
  const uint64_t low_high = low * other_high + (high_low & UINT32_MAX);
  const uint64_t partition = high * other_high + (high_low >> 32) + (low_high >> 32);
  assert( partition<num_partitions );
  return partition;
}
