/*
** LevelDB's hash of many keys, and of integers.
**
** An integer's text is rendered three digits at a time: a fixed-point number
** whose whole part is the first three is multiplied by 1000, and the next three
** come up.  Few instructions matter more than few cycles here: SQLite's own
** work goes on beside them.
*/
#include "hash.h"

#include "../bytes.h"
#include "kernels.h"

void bloom_leveldb_hash_many(const bloom_span *keys, size_t num_keys, bloom_digest *digests){
  bloom_best_kernels()->hash(keys, num_keys, digests);
}

/* "000\0" "001\0" ... "999\0": 4 KB, which stay in L1 while they are used. */
#define ONES(tens) tens "0\0" tens "1\0" tens "2\0" tens "3\0" tens "4\0" \
                   tens "5\0" tens "6\0" tens "7\0" tens "8\0" tens "9\0"
#define TENS(hundreds) ONES(hundreds "0") ONES(hundreds "1") ONES(hundreds "2") ONES(hundreds "3") \
  ONES(hundreds "4") ONES(hundreds "5") ONES(hundreds "6") ONES(hundreds "7") ONES(hundreds "8") \
  ONES(hundreds "9")
static const char bloom_digit_triples[] =
  TENS("0") TENS("1") TENS("2") TENS("3") TENS("4") TENS("5") TENS("6") TENS("7") TENS("8") TENS("9");

/* The whole part, below 1000, of a fixed-point number as text of three digits,
** the first in the lowest byte. */
static inline uint32_t three_digits(uint64_t number, unsigned num_fraction_bits){
  const size_t whole = (size_t)(number >> num_fraction_bits);
  return bloom_load32_le((const uint8_t *)bloom_digit_triples + 4*whole);
}

static inline uint64_t fraction_of(uint64_t number, unsigned num_fraction_bits){
  return number & (((uint64_t)1 << num_fraction_bits) - 1);
}

/* One word of a key. */
static inline uint32_t hash_word(uint32_t digest, uint32_t word, unsigned shift){
  digest = (digest + word) * LEVELDB_HASH_MULTIPLIER;
  return digest ^ digest >> shift;
}

/* Decimal digits of value < 10^9. */
static inline unsigned num_digits_of(uint32_t value){
#if defined(__GNUC__)
  /* By number of the highest bit: digits in the upper half; where a power of ten lies
  ** among such values, less that power, so that those from it on carry into the upper
  ** half [Willets; Lemire 2021, "Computing the number of digits of an integer even
  ** faster"]. */
#define DIGITS(d)             ((uint64_t)(d) << 32)
#define DIGITS_FROM(d, power) (((uint64_t)(d) << 32) - (power))
  static const uint64_t digits[] = {
    DIGITS(1), DIGITS(1), DIGITS(1), DIGITS_FROM(2, 10),
    DIGITS(2), DIGITS(2), DIGITS_FROM(3, 100),
    DIGITS(3), DIGITS(3), DIGITS_FROM(4, 1000),
    DIGITS(4), DIGITS(4), DIGITS(4), DIGITS_FROM(5, 10000),
    DIGITS(5), DIGITS(5), DIGITS_FROM(6, 100000),
    DIGITS(6), DIGITS(6), DIGITS_FROM(7, 1000000),
    DIGITS(7), DIGITS(7), DIGITS(7), DIGITS_FROM(8, 10000000),
    DIGITS(8), DIGITS(8), DIGITS_FROM(9, 100000000),
    DIGITS(9), DIGITS(9), DIGITS(9),
  };
  return (unsigned)((value + digits[31 ^ __builtin_clz(value | 1)]) >> 32);
#else
  return 1u + (value>9) + (value>99) + (value>999) + (value>9999)
    + (value>99999) + (value>999999) + (value>9999999) + (value>99999999);
#endif
}

/* The digest of the text of value < 10^9. */
static inline bloom_digest hash_nine_digits(uint32_t value){
  /* By number of digits n: 10^(3-n), 54 bits of fraction, rounded up.  That adds
  ** less than value * 2^-54: too little to reach the last digit. */
  static const uint64_t scales[] = {
    0, 1801439850948198400u, 180143985094819840u, 18014398509481984u, 1801439850948199u,
    180143985094820u, 18014398509482u, 1801439850949u, 180143985095u, 18014398510u,
  };
  const unsigned num_digits = num_digits_of(value);
  uint64_t number = value * scales[num_digits];
  const uint32_t first = three_digits(number, 54);
  uint32_t digest = LEVELDB_HASH_SEED ^ (num_digits * LEVELDB_HASH_MULTIPLIER);
  uint32_t second, third;
  uint64_t text; /* little-endian: the first byte is the lowest; zeros follow the digits */
  number = fraction_of(number, 54) * 1000;
  second = three_digits(number, 54);
  number = fraction_of(number, 54) * 1000;
  third = three_digits(number, 54);
  text = first | (uint64_t)second << 24 | (uint64_t)third << 48;
  if( num_digits==9 ){
    digest = hash_word(digest, (uint32_t)text, 16);
    digest = hash_word(digest, (uint32_t)(text >> 32), 16);
    return hash_word(digest, third >> 16, 24);
  }
  text &= UINT64_MAX >> (64 - 8*num_digits);
  if( num_digits<=4 ) return hash_word(digest, (uint32_t)text, num_digits==4 ? 16 : 24);
  digest = hash_word(digest, (uint32_t)text, 16);
  return hash_word(digest, (uint32_t)(text >> 32), num_digits==8 ? 16 : 24);
}

/* Eight decimal digits of value < 10^8 as text, the first in the lowest byte. */
static inline uint64_t eight_digits(uint32_t value){
  uint64_t number = value * (uint64_t)351843721; /* 2^45 / 10^5, rounded up */
  uint64_t text = three_digits(number, 45);
  number = fraction_of(number, 45) * 1000;
  text |= (uint64_t)three_digits(number, 45) << 24;
  number = fraction_of(number, 45) * 100;
  return text | (uint64_t)(three_digits(number, 45) >> 8) << 48;
}

/* Bytes '0' below the first that is not; there is one. */
static inline unsigned num_leading_zeros(uint64_t text){
  uint64_t digits = text ^ 0x3030303030303030u;
#if defined(__GNUC__)
  return (unsigned)__builtin_ctzll(digits) / 8;
#else
  unsigned num_zeros = 0;
  for(; (digits & 0xff)==0; digits>>=8) num_zeros++;
  return num_zeros;
#endif
}

bloom_digest bloom_leveldb_hash_int64(int64_t value){
  /* Negated as unsigned: -INT64_MIN does not fit in int64_t. */
  const uint64_t magnitude = value<0 ? 0 - (uint64_t)value : (uint64_t)value;
  uint64_t text[3] = {0, 0, 0}; /* little-endian: the first byte is the lowest */
  unsigned num_bytes, num_leading;
  uint32_t digest;
  if( (uint64_t)value<1000000000 ) return hash_nine_digits((uint32_t)value);

  if( magnitude<100000000 ){
    text[0] = eight_digits((uint32_t)magnitude);
    num_bytes = 8;
  }else{
    const uint64_t upper = magnitude / 100000000;
    const uint64_t last = eight_digits((uint32_t)(magnitude % 100000000));
    if( upper<100000000 ){
      text[0] = eight_digits((uint32_t)upper);
      text[1] = last;
      num_bytes = 16;
    }else{
      text[0] = eight_digits((uint32_t)(upper / 100000000));
      text[1] = eight_digits((uint32_t)(upper % 100000000));
      text[2] = last;
      num_bytes = 24;
    }
  }
  num_leading = num_leading_zeros(text[0]);
  num_bytes -= num_leading;
  /* Two shifts: one by 64 would be undefined. */
  text[0] = text[0] >> 8*num_leading | text[1] << 8 << (56 - 8*num_leading);
  text[1] = text[1] >> 8*num_leading | text[2] << 8 << (56 - 8*num_leading);
  text[2] >>= 8*num_leading;
  if( value<0 ){
    text[2] = text[2] << 8 | text[1] >> 56;
    text[1] = text[1] << 8 | text[0] >> 56;
    text[0] = text[0] << 8 | '-';
    num_bytes++;
  }

  digest = LEVELDB_HASH_SEED ^ (num_bytes * LEVELDB_HASH_MULTIPLIER);
  for(;;){
    digest = hash_word(digest, (uint32_t)text[0], num_bytes>=4 ? 16 : 24);
    if( num_bytes<=4 ) return digest;
    num_bytes -= 4;
    text[0] = text[0] >> 32 | text[1] << 32;
    text[1] = text[1] >> 32 | text[2] << 32; /* text[2] is the last word, if any */
  }
}
