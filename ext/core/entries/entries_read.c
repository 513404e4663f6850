/*
** Reads rows of entries; entries.h describes them, ../../FORMATS.md has the bytes.
**
** A row's bytes may be anything.  Each number that they give is checked before it is used, and
** each position when it was moved: behind the row there are zeros.
*/
#include <string.h>

#include "../bits.h"
#include "../bytes.h"
#include "entries_shape.h"

/* The bits that a look at a row shows at least. */
#define ENTRIES_LOOK_BITS 57

/* The most bits of a number of blocks; one that is longer is damaged. */
#define ENTRIES_COUNT_BITS (2*BLOOM_SEGMENT_LG + 3)

static inline uint32_t entries_load16(const uint8_t *bytes){
  return bytes[0] | (uint32_t)bytes[1] << 8;
}

/* Returns the bits from a position on, 57 at least, the first one lowest; zeros behind the row. */
static inline uint64_t entries_look(const bloom_entries_row *row, uint32_t at){
  const uint32_t byte = at/8;
  uint32_t shift;
  if( byte + 8<=row->num_bytes ) return bloom_load64_le(row->bytes + byte) >> at%8;
  shift = 8*(byte + 8 - row->num_bytes) + at%8;
  return shift<64 ? bloom_load64_le(row->bytes + row->num_bytes - 8) >> shift : 0;
}

/* 1 if a position lies behind the row. */
static inline int entries_is_behind(const bloom_entries_row *row, uint32_t at){
  return at>8*row->num_bytes;
}

static int entries_fail(bloom_entries_row *row){
  row->is_damaged = 1;
  row->num_blocks = 0;
  return -1;
}

/* Position of the first list. */
static inline uint32_t entries_lists_at(const bloom_entries_row *row){
  return 8*(BLOOM_ENTRIES_HEADER_BYTES + BLOOM_ENTRIES_SKIP_BYTES*row->num_skips);
}

int bloom_entries_open(bloom_entries_row *row, const uint8_t *bytes, size_t num_bytes,
                       uint64_t run_number, uint64_t rowid){
  uint32_t end_block;
  memset(row, 0, sizeof(*row));
  row->is_damaged = 1;
  if( num_bytes<BLOOM_ENTRIES_HEADER_BYTES + 1 || num_bytes>BLOOM_ENTRIES_ROW_BYTES ) return 0;
  if( bloom_load64_le(bytes)!=entries_checksum(bytes, num_bytes, run_number, rowid) ) return 0;
  row->bytes = bytes;
  row->num_bytes = (uint32_t)num_bytes;
  row->before = bloom_load64_le(bytes + 8);
  row->first = bloom_load64_le(bytes + 16);
  row->last = rowid & BLOOM_ENTRIES_ID_MASK;
  end_block = bloom_load32_le(bytes + 24);
  row->num_lists = entries_load16(bytes + 28);
  row->lists_per_skip = entries_load16(bytes + 30);
  row->gap_k = bytes[32];
  if( row->before!=BLOOM_ENTRIES_NO_ID && row->before>=row->first ) return 0;
  if( row->num_lists<1 || row->num_lists>BLOOM_ENTRIES_MAX_LISTS ) return 0;
  /* The other ids lie between the two. */
  if( row->first>row->last || row->last - row->first<row->num_lists - 1 ) return 0;
  if( row->num_lists==1 && row->first!=row->last ) return 0;
  if( end_block<1 || end_block>BLOOM_ENTRIES_MAX_BLOCKS ) return 0;
  if( row->gap_k>=BLOOM_ENTRIES_ID_BITS || bytes[33]!=0 ) return 0;
  if( row->lists_per_skip ) row->num_skips = (row->num_lists - 1) / row->lists_per_skip;
  if( entries_lists_at(row)>=8*row->num_bytes ) return 0;
  row->shape = entries_shape_of(end_block);
  row->is_damaged = 0;
  return 1;
}

/* Reads a quotient, ones that a zero ends, at a position that it moves; 0 if there are more than
** `most`. */
static inline int entries_read_unary(const bloom_entries_row *row, uint32_t *at, uint32_t most,
                                     uint32_t *quotient){
  uint32_t num_ones = 0;
  for(;;){
    const uint64_t zeros = ~entries_look(row, *at) | (uint64_t)1 << (ENTRIES_LOOK_BITS - 1);
    const uint32_t num_here = bloom_num_low_zeros64(zeros);
    num_ones += num_here;
    *at += num_here;
    if( num_ones>most ) return 0;
    if( num_here<ENTRIES_LOOK_BITS - 1 ) break;
  }
  *at += 1;
  *quotient = num_ones;
  return 1;
}

/* Reads Rice codes with k = 0: bit i is 0 if number i is there.  See entries_read_rice(). */
static int entries_read_bitmap(const bloom_entries_row *row, uint32_t *at, uint32_t num_coded,
                               uint32_t num_all, uint16_t *numbers){
  const uint32_t step = 56;
  uint32_t base, num_left = num_coded;
  for(base=0; base<num_all; base+=step){
    uint64_t there = entries_low_bits(~entries_look(row, *at + base), step);
    if( numbers==NULL ){
      const uint64_t num_of_bytes = bloom_popcount_bytes(there);
      const uint32_t num_here = (uint32_t)(num_of_bytes * 0x0101010101010101u >> 56);
      if( num_here<num_left ){
        num_left -= num_here;
        continue;
      }
    }
    for(; there; there&=there-1){
      const uint32_t number = base + bloom_num_low_zeros64(there);
      if( number>=num_all ) return 0;
      if( numbers ) *numbers++ = (uint16_t)number;
      if( --num_left==0 ){
        *at += number + 1;
        return !entries_is_behind(row, *at);
      }
    }
  }
  return 0;
}

/* Reads Rice codes of num_coded numbers below num_all, ascending, at a position that it moves.
** Writes them unless numbers is NULL.  Returns 0 if they are damaged. */
static int entries_read_rice(const bloom_entries_row *row, uint32_t *at, uint32_t num_coded,
                             uint32_t num_all, uint16_t *numbers){
  const uint32_t k = entries_rice_k(num_coded, num_all);
  uint32_t position = *at, number = 0, i = 0;
  assert( k<=BLOOM_SEGMENT_LG );
  if( k==0 ) return entries_read_bitmap(row, at, num_coded, num_all, numbers);
  while( i<num_coded ){
    /* As many codes as one look shows. */
    uint64_t bits = entries_look(row, position);
    uint32_t num_left = ENTRIES_LOOK_BITS;
    uint32_t quotient;
    for(; i<num_coded; i++){
      const uint64_t zeros = ~bits | (uint64_t)1 << (ENTRIES_LOOK_BITS - 1);
      quotient = bloom_num_low_zeros64(zeros);
      if( quotient + 1 + k>num_left ) break;
      bits >>= quotient + 1;
      number += quotient<<k | (uint32_t)entries_low_bits(bits, k);
      if( number>=num_all ) return 0;
      if( numbers ) numbers[i] = (uint16_t)number;
      number++;
      bits >>= k;
      num_left -= quotient + 1 + k;
    }
    position += ENTRIES_LOOK_BITS - num_left;
    if( num_left==ENTRIES_LOOK_BITS && i<num_coded ){
      /* One that is longer. */
      if( !entries_read_unary(row, &position, num_all, &quotient) ) return 0;
      number += quotient<<k | (uint32_t)entries_low_bits(entries_look(row, position), k);
      position += k;
      if( number>=num_all ) return 0;
      if( numbers ) numbers[i] = (uint16_t)number;
      number++;
      i++;
    }
    if( entries_is_behind(row, position) ) return 0;
  }
  *at = position;
  return 1;
}

/* The same of numbers that are raw if they are few. */
static int entries_read_numbers(const bloom_entries_row *row, uint32_t *at, uint32_t num_coded,
                                uint32_t num_all, uint16_t *numbers){
  uint32_t i, num_bits;
  uint64_t bits;
  if( num_coded>ENTRIES_MAX_RAW ) return entries_read_rice(row, at, num_coded, num_all, numbers);
  num_bits = entries_bits_in(&row->shape, row->segment);
  bits = entries_look(row, *at);
  *at += num_coded*num_bits;
  if( entries_is_behind(row, *at) ) return 0;
  for(i=0; numbers && i<num_coded; i++){
    numbers[i] = (uint16_t)entries_low_bits(bits, num_bits);
    if( numbers[i]>=num_all || (i>0 && numbers[i]<=numbers[i-1]) ) return 0;
    bits >>= num_bits;
  }
  return 1;
}

/* Reads the blocks of the list at hand, or finds where they end if blocks is NULL.  Sets next_at;
** returns 0 if they are damaged. */
static int entries_read_blocks(bloom_entries_row *row, uint16_t *blocks){
  const uint32_t num_all = entries_blocks_in(&row->shape, row->segment);
  const uint32_t num_missing = num_all - row->num_blocks;
  uint32_t at = row->blocks_at;
  if( entries_are_missing_coded(row->num_blocks, num_all) ){
    uint16_t missing[BLOOM_SEGMENT_BLOCKS/2 + 1];
    if( !entries_read_numbers(row, &at, num_missing, num_all, blocks ? missing : NULL) ) return 0;
    if( blocks ) entries_complement(missing, num_missing, num_all, blocks);
  }else if( !entries_read_numbers(row, &at, row->num_blocks, num_all, blocks) ){
    return 0;
  }
  row->next_at = at;
  return 1;
}

/* Reads the code of a gap of ids at a position, which it moves behind it.  Sets *rest to the
** bits there, those that show how many blocks there are at least. */
static inline uint64_t entries_read_gap(const bloom_entries_row *row, uint32_t *at,
                                        uint64_t *rest){
  const uint64_t bits = entries_look(row, *at);
  const uint32_t quotient = bloom_num_low_zeros64(~bits | (uint64_t)1 << ENTRIES_MAX_QUOTIENT);
  const uint32_t num_bits = quotient + 1 + row->gap_k;
  uint64_t gap;
  if( quotient<ENTRIES_MAX_QUOTIENT && num_bits + ENTRIES_COUNT_BITS<=ENTRIES_LOOK_BITS ){
    *at += num_bits;
    *rest = bits >> num_bits;
    gap = (uint64_t)quotient << row->gap_k | entries_low_bits(bits >> (quotient + 1), row->gap_k);
    return gap + 1;
  }
  if( quotient<ENTRIES_MAX_QUOTIENT ){
    gap = (uint64_t)quotient << row->gap_k;
    gap |= entries_low_bits(entries_look(row, *at + quotient + 1), row->gap_k);
    *at += num_bits;
  }else{
    gap = entries_low_bits(entries_look(row, *at + quotient), BLOOM_ENTRIES_ID_BITS);
    *at += quotient + BLOOM_ENTRIES_ID_BITS;
  }
  *rest = entries_look(row, *at);
  return gap + 1;
}

/* Begins the list with this id and segment: reads how many blocks it has from bits, which are
** those of a position. */
static inline int entries_begin_list(bloom_entries_row *row, uint64_t id, uint32_t segment,
                                     uint64_t bits, uint32_t at){
  const uint32_t log = bloom_num_low_zeros64(bits | (uint64_t)1 << (BLOOM_SEGMENT_LG + 1));
  const uint32_t num_blocks = 1u<<log | (uint32_t)entries_low_bits(bits >> (log + 1), log);
  const uint32_t num_all = entries_blocks_in(&row->shape, segment);
  row->num_begun++;
  row->id = id;
  row->segment = segment;
  row->num_blocks = num_blocks;
  row->blocks_at = at + 2*log + 1;
  row->next_at = 0;
  if( num_blocks<=ENTRIES_MAX_RAW && num_blocks<num_all ){
    row->next_at = row->blocks_at + num_blocks*entries_bits_in(&row->shape, segment);
  }
  /* Only the last list has the last id. */
  if( (row->num_begun<row->num_lists ? id>=row->last : id!=row->last)
   || num_blocks>num_all || entries_is_behind(row, row->blocks_at) ){
    return entries_fail(row);
  }
  return 1;
}

/* bloom_entries_next(), for the loop of bloom_entries_seek() too. */
static inline int entries_next(bloom_entries_row *row){
  uint64_t gap, rest;
  uint32_t at;
  if( row->num_begun==row->num_lists ){
    row->num_blocks = 0;
    return 0;
  }
  if( row->num_begun==0 ){
    at = entries_lists_at(row);
    return entries_begin_list(row, row->first, (uint32_t)(row->first % row->shape.num_segments),
                              entries_look(row, at), at);
  }
  if( row->next_at==0 && !entries_read_blocks(row, NULL) ) return entries_fail(row);
  at = row->next_at;
  gap = entries_read_gap(row, &at, &rest);
  /* An id is below 2^56, and a gap at most 24 * 2^55. */
  return entries_begin_list(row, row->id + gap,
                            entries_segment_behind(&row->shape, row->segment, gap), rest, at);
}

int bloom_entries_next(bloom_entries_row *row){
  return row->is_damaged ? -1 : entries_next(row);
}

/* Moves to the last list that a skip leads to, that is not behind `id`, and that lies behind the
** one at hand, if there is one.  Returns 1, or -1 if it is damaged. */
static int entries_take_skip(bloom_entries_row *row, uint64_t id){
  const uint8_t *skips = row->bytes + BLOOM_ENTRIES_HEADER_BYTES, *skip;
  const uint64_t delta = id - row->first;
  uint32_t low = 0, high = row->num_skips, num_before, at;
  uint64_t skip_id, rest;
  while( low<high ){
    const uint32_t middle = (low + high)/2;
    if( bloom_load32_le(skips + BLOOM_ENTRIES_SKIP_BYTES*middle)<=delta ) low = middle + 1;
    else high = middle;
  }
  num_before = low*row->lists_per_skip;
  if( low==0 || num_before<row->num_begun ) return 1;
  skip = skips + BLOOM_ENTRIES_SKIP_BYTES*(low - 1);
  skip_id = row->first + bloom_load32_le(skip);
  if( row->num_begun>0 && skip_id<=row->id ) return entries_fail(row);
  at = entries_lists_at(row) + entries_load16(skip + 4);
  entries_read_gap(row, &at, &rest);
  row->num_begun = num_before;
  return entries_begin_list(row, skip_id, (uint32_t)(skip_id % row->shape.num_segments), rest, at);
}

int bloom_entries_seek(bloom_entries_row *row, uint64_t id){
  int found = 1;
  if( row->is_damaged ) return -1;
  if( id>row->last ){
    row->num_begun = row->num_lists;
    row->num_blocks = 0;
    return 0;
  }
  if( row->num_blocks>0 && row->id>=id ) return 1;
  if( row->num_skips>0 && id>row->first ) found = entries_take_skip(row, id);
  /* There is one, as the last list has the last id. */
  while( found==1 && (row->num_blocks==0 || row->id<id) ) found = entries_next(row);
  return found;
}

int bloom_entries_read(bloom_entries_row *row, uint16_t blocks[BLOOM_SEGMENT_BLOCKS]){
  if( row->is_damaged || row->num_blocks==0 ) return -1;
  if( !entries_read_blocks(row, blocks) ) return entries_fail(row);
  return (int)row->num_blocks;
}
