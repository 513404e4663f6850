/*
** LevelDB's hash: multiply and xor-shift over 32-bit little-endian words.
** Source: LevelDB util/hash.cc.
*/
#include "leveldb_hash.h"

#include "bytes.h"
#include "kernels.h"

bloom_digest bloom_leveldb_hash(const uint8_t *key, size_t num_bytes){
  uint32_t digest = LEVELDB_HASH_SEED ^ ((uint32_t)num_bytes * LEVELDB_HASH_MULTIPLIER);
  for(; num_bytes>=4; key+=4, num_bytes-=4){
    digest = (digest + bloom_load32_le(key)) * LEVELDB_HASH_MULTIPLIER;
    digest ^= digest >> 16;
  }
  if( num_bytes ){
    /* Tail bytes are unsigned; RocksDB's function of this name differs here. */
    uint32_t tail = key[0];
    if( num_bytes>1 ) tail |= (uint32_t)key[1] << 8;
    if( num_bytes>2 ) tail |= (uint32_t)key[2] << 16;
    digest = (digest + tail) * LEVELDB_HASH_MULTIPLIER;
    digest ^= digest >> 24;
  }
  return digest;
}

void bloom_leveldb_hash_many(const bloom_span *keys, size_t num_keys, bloom_digest *digests){
  bloom_best_kernels()->hash(keys, num_keys, digests);
}

/* Eight decimal digits of value < 10^8 as text, the first in the lowest byte:
** halves, quarters and digits are split off in parallel.  Dividing by 100 and
** by 10 are multiplications by 10486/2^20 and 103/2^10, exact in this range. */
static inline uint64_t eight_digits(uint32_t value){
  uint64_t halves = value/10000 | (uint64_t)(value%10000) << 32;
  uint64_t high = (halves * 10486 >> 20) & 0x0000007f0000007fu;
  uint64_t quarters = high | (halves - high*100) << 16;
  high = (quarters * 103 >> 10) & 0x000f000f000f000fu;
  return high | (quarters - high*10) << 8;
}

/* Zero bytes below the first that is not; word is not 0. */
static inline unsigned num_low_zero_bytes(uint64_t word){
#if defined(__GNUC__)
  return (unsigned)__builtin_ctzll(word) / 8;
#else
  unsigned num_bytes = 0;
  for(; (word & 0xff)==0; word>>=8) num_bytes++;
  return num_bytes;
#endif
}

bloom_digest bloom_leveldb_hash_int64(int64_t value){
  const uint64_t zeros = 0x3030303030303030u; /* eight of '0' */
  /* Negated as unsigned: -INT64_MIN does not fit in int64_t. */
  const uint64_t magnitude = value<0 ? 0 - (uint64_t)value : (uint64_t)value;
  uint64_t text[3] = {0, 0, 0}; /* little-endian: the first byte is the lowest */
  unsigned num_bytes, num_leading;
  uint32_t digest;

  if( magnitude<100000000 ){
    text[0] = eight_digits((uint32_t)magnitude);
    /* 0 has one digit. */
    num_leading = num_low_zero_bytes(text[0] | (uint64_t)1 << 56);
    text[0] = (text[0] | zeros) >> 8*num_leading;
    num_bytes = 8 - num_leading;
  }else{
    const uint64_t upper = magnitude / 100000000;
    const uint64_t last = eight_digits((uint32_t)(magnitude % 100000000)) | zeros;
    if( upper<100000000 ){
      text[0] = eight_digits((uint32_t)upper);
      text[1] = last;
      num_bytes = 16;
    }else{
      text[0] = eight_digits((uint32_t)(upper / 100000000));
      text[1] = eight_digits((uint32_t)(upper % 100000000)) | zeros;
      text[2] = last;
      num_bytes = 24;
    }
    num_leading = num_low_zero_bytes(text[0]);
    num_bytes -= num_leading;
    /* Two shifts: one by 64 would be undefined. */
    text[0] = (text[0] | zeros) >> 8*num_leading | text[1] << 8 << (56 - 8*num_leading);
    text[1] = text[1] >> 8*num_leading | text[2] << 8 << (56 - 8*num_leading);
    text[2] >>= 8*num_leading;
  }
  if( value<0 ){
    text[2] = text[2] << 8 | text[1] >> 56;
    text[1] = text[1] << 8 | text[0] >> 56;
    text[0] = text[0] << 8 | '-';
    num_bytes++;
  }

  /* bloom_leveldb_hash(), the tail's different shift chosen without a branch. */
  digest = LEVELDB_HASH_SEED ^ (num_bytes * LEVELDB_HASH_MULTIPLIER);
  for(;;){
    digest = (digest + (uint32_t)text[0]) * LEVELDB_HASH_MULTIPLIER;
    digest ^= digest >> (num_bytes>=4 ? 16 : 24);
    if( num_bytes<=4 ) return digest;
    num_bytes -= 4;
    text[0] = text[0] >> 32 | text[1] << 32;
    text[1] = text[1] >> 32 | text[2] << 32;
    text[2] >>= 32;
  }
}
