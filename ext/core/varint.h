/*
** The integers of variable width of LevelDB and of Thrift: seven bits a byte, the lowest
** first; the top bit says that another byte follows.  32 bits take at most 5 bytes, 64 bits
** at most 10.
** Source: LevelDB util/coding.cc.
*/
#ifndef BLOOM_CORE_VARINT_H
#define BLOOM_CORE_VARINT_H

#include <stddef.h>
#include <stdint.h>

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

#endif
