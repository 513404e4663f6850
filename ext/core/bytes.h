/*
** Reads and writes fixed-width numbers in the byte order of a file, whatever the
** machine's own is.  Compilers turn each function into one load or store.
*/
#ifndef BLOOM_CORE_BYTES_H
#define BLOOM_CORE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint32_t bloom_load32_le(const uint8_t *p){
  return (uint32_t)p[0] | (uint32_t)p[1]<<8 | (uint32_t)p[2]<<16 | (uint32_t)p[3]<<24;
}

static inline uint64_t bloom_load64_le(const uint8_t *p){
  return (uint64_t)bloom_load32_le(p + 4)<<32 | bloom_load32_le(p);
}

static inline void bloom_store32_le(uint8_t *p, uint32_t value){
  int i;
  for(i=0; i<4; i++) p[i] = (uint8_t)(value >> (8*i));
}

static inline void bloom_store64_le(uint8_t *p, uint64_t value){
  int i;
  for(i=0; i<8; i++) p[i] = (uint8_t)(value >> (8*i));
}

/* A REAL's 8 bytes, IEEE 754. */
static inline void bloom_store_real_le(uint8_t *p, double real){
  uint64_t bits;
  memcpy(&bits, &real, sizeof(bits));
  bloom_store64_le(p, bits);
}

static inline void bloom_store64_be(uint8_t *p, uint64_t value){
  int i;
  for(i=0; i<8; i++) p[i] = (uint8_t)(value >> (56 - 8*i));
}

#endif
