/*
** Reads and writes fixed-width numbers in the byte order of a file, whatever the
** machine's own is.  Compilers turn each function into one load or store.
*/
#ifndef BLOOM_CORE_BYTES_H
#define BLOOM_CORE_BYTES_H

#include <stddef.h>
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

/* Writes a REAL's 8 bytes, IEEE 754. */
static inline void bloom_store_real_le(uint8_t *p, double real){
  uint64_t bits;
  memcpy(&bits, &real, sizeof(bits));
  bloom_store64_le(p, bits);
}

static inline uint64_t bloom_load64_be(const uint8_t *p){
  return (uint64_t)p[0]<<56 | (uint64_t)p[1]<<48 | (uint64_t)p[2]<<40 | (uint64_t)p[3]<<32
    | (uint64_t)p[4]<<24 | (uint64_t)p[5]<<16 | (uint64_t)p[6]<<8 | (uint64_t)p[7];
}

static inline void bloom_store64_be(uint8_t *p, uint64_t value){
  int i;
  for(i=0; i<8; i++) p[i] = (uint8_t)(value >> (56 - 8*i));
}

/* -- Integers of variable length -------------------------------------------- */

/*
** The integers of variable width of LevelDB and of Thrift: seven bits a byte, the lowest
** first; the top bit says that another byte follows.  32 bits take at most 5 bytes, 64 bits
** at most 10.
** Source: LevelDB util/coding.cc.
*/

#define BLOOM_VARINT64_MAX_BYTES 10

/* Reads an integer from bytes[0 .. num_bytes).  Returns the number of bytes that it has;
** 0, with *value untouched, if the bytes end before the integer does, or the integer has
** more than 10 bytes.  Bits past the 64th are dropped, as LevelDB drops them. */
static inline size_t bloom_varint64_read(const uint8_t *bytes, size_t num_bytes, uint64_t *value){
  uint64_t read = 0;
  size_t i;
  for(i=0; i<num_bytes && i<BLOOM_VARINT64_MAX_BYTES; i++){
    read |= (uint64_t)(bytes[i] & 0x7f) << (7*i);
    if( bytes[i]<0x80 ){
      *value = read;
      return i + 1;
    }
  }
  return 0;
}

/* Writes an integer and returns the number of bytes, at most BLOOM_VARINT64_MAX_BYTES.
** Below 2^32 the bytes are those of LevelDB's varint32, too. */
static inline size_t bloom_varint64_write(uint64_t value, uint8_t *bytes){
  size_t num_bytes = 0;
  for(; value>=0x80; value>>=7) bytes[num_bytes++] = (uint8_t)(value | 0x80);
  bytes[num_bytes++] = (uint8_t)value;
  return num_bytes;
}

/* -- Vector code ------------------------------------------------------------ */

/*
** Which vector code this build has.  Vector functions have target attributes and are
** chosen at run time, so the binary does not depend on the machine that built it.
**
** A list of kernels has a row for each instruction set, AVX2 first, the scalar one last.  Rows
** differ in speed only, and the scalar one is the reference.  This processor and its system can run
** those from BLOOM_FIRST_KERNELS on.
*/

/* With -DBLOOM_NO_SIMD there are the scalar kernels only. */
#if defined(__GNUC__) && defined(__x86_64__) && !defined(BLOOM_NO_SIMD)
#define BLOOM_SIMD_X86 1
#define BLOOM_FIRST_KERNELS (__builtin_cpu_supports("avx2") ? 0 : 1)
#else
#define BLOOM_SIMD_X86 0
#define BLOOM_FIRST_KERNELS 0
#endif
#define BLOOM_NUM_KERNELS (BLOOM_SIMD_X86 + 1)

#endif
