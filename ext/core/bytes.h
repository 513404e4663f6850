/*
** Reads and writes numbers as bytes.  Fixed-width ones have the byte order of a file, whatever the
** machine's own is: compilers turn each function into one load or store.
*/
#ifndef BLOOM_CORE_BYTES_H
#define BLOOM_CORE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "numeric.h"

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

/* -- Integers of variable length ------------------------------------------------------------- */

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

/* -- Decimal text ---------------------------------------------------------------------------- */

/* Room for an integer's text, at most 20 bytes, which is written in words of 8 bytes. */
#define BLOOM_DECIMAL_MAX_BYTES 24

/* Writes value's text, as SQL's CAST(x AS TEXT) returns it, to the end of room, without a
** terminator.  Returns where it begins, and sets *num_bytes to its length, 1..20.  Eight digits at
** a time are split into two numbers of four digits, four of two and eight of one, side by side in a
** word, the first lowest.  x*10486 >> 20 is x / 100 below 10^4, x*103 >> 10 is x / 10 below 100. */
static inline const uint8_t *bloom_decimal(int64_t value, uint8_t room[BLOOM_DECIMAL_MAX_BYTES],
                                           size_t *num_bytes){
  /* Negated as unsigned: -INT64_MIN does not fit in int64_t. */
  uint64_t rest = value<0 ? 0 - (uint64_t)value : (uint64_t)value, digits;
  size_t begin = BLOOM_DECIMAL_MAX_BYTES;
  do{
    const uint32_t eight = (uint32_t)(rest % 100000000);
    const uint64_t fours = eight / 10000 | (uint64_t)(eight % 10000) << 32;
    const uint64_t hundreds = fours * 10486 >> 20 & 0x0000007f0000007fu;
    const uint64_t twos = hundreds | (fours - 100*hundreds) << 16;
    const uint64_t tens = twos * 103 >> 10 & 0x000f000f000f000fu;
    digits = tens | (twos - 10*tens) << 8;
    begin -= 8;
    bloom_store64_le(room + begin, digits + 0x3030303030303030u);
    rest /= 100000000;
  }while( rest );
  /* Leading zeros are skipped, but not the last digit. */
  begin += bloom_num_low_zeros64(digits | (uint64_t)1 << 56) / 8;
  if( value<0 ) room[--begin] = '-';
  *num_bytes = BLOOM_DECIMAL_MAX_BYTES - begin;
  assert( *num_bytes>=1 && *num_bytes<=20 );
  return room + begin;
}

/* -- Vector code ----------------------------------------------------------------------------- */

/*
** Which vector code this build has.  Vector functions have target attributes and are
** chosen at run time, so the binary does not depend on the machine that built it.
**
** A list of kernels has a row for each instruction set, AVX2 first, the scalar one last.  Rows
** differ in speed only, and the scalar one is the reference.  This processor and its system support
** the rows from BLOOM_FIRST_KERNELS on.
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
