/*
** Reads and writes rows of entries; entries.h describes them, ../../FORMATS.md has the bytes.
*/
#include "entries.h"

#include <string.h>

#include "../bytes.h"
#include "../filter.h"

/* -- What reading and writing share ---------------------------------------------------------- */

/* A gap of ids with this quotient or more is written whole, in 56 bits. */
#define ENTRIES_MAX_QUOTIENT 24

/* Up to so many blocks are written raw, more in Rice codes. */
#define ENTRIES_MAX_RAW 3

/* Returns log2 x, rounded down; of 0, 0. */
static inline uint32_t entries_log2(uint64_t x){
#if defined(__GNUC__)
  return (uint32_t)(63 - __builtin_clzll(x | 1));
#else
  uint32_t log = 0;
  while( x>>=1 ) log++;
  return log;
#endif
}

static inline uint64_t entries_low_bits(uint64_t x, uint32_t num_bits){
  assert( num_bits<64 );
  return x & (((uint64_t)1 << num_bits) - 1);
}

static inline bloom_entries_shape entries_shape_of(uint32_t end_block){
  bloom_entries_shape shape;
  assert( end_block>0 && end_block<=BLOOM_ENTRIES_MAX_BLOCKS );
  shape.end_block = end_block;
  shape.num_segments = bloom_entries_num_segments(end_block);
  shape.reciprocal = ((uint64_t)1 << 32) / shape.num_segments;
  shape.last_blocks = end_block - (shape.num_segments - 1)*BLOOM_SEGMENT_BLOCKS;
  shape.last_bits = shape.last_blocks>1 ? entries_log2(shape.last_blocks - 1) + 1 : 0;
  return shape;
}

static inline uint32_t entries_blocks_in(const bloom_entries_shape *shape, uint32_t segment){
  return segment + 1<shape->num_segments ? BLOOM_SEGMENT_BLOCKS : shape->last_blocks;
}

/* Returns how many bits a raw block takes in a segment. */
static inline uint32_t entries_bits_in(const bloom_entries_shape *shape, uint32_t segment){
  return segment + 1<shape->num_segments ? BLOOM_SEGMENT_LG : shape->last_bits;
}

/* Returns 1 if a list is stored as the blocks that it lacks, which are fewer. */
static inline int entries_are_missing_coded(uint32_t num_blocks, uint32_t num_all){
  return num_blocks==num_all || (num_blocks>ENTRIES_MAX_RAW && 2*num_blocks>num_all);
}

/* Returns a word whose bit i is 1 if base + i is below num_all. */
static inline uint64_t entries_bits_below(uint32_t num_all, uint32_t base){
  assert( base<num_all );
  return num_all - base<64 ? ((uint64_t)1 << (num_all - base)) - 1 : UINT64_MAX;
}

/* Writes the numbers below num_all whose bits are set, ascending. */
static inline void entries_numbers_of(const uint64_t *words, uint32_t num_all, uint16_t *numbers){
  uint32_t base;
  for(base=0; base<num_all; base+=64){
    uint64_t word = words[base/64];
    for(; word; word&=word-1) *numbers++ = (uint16_t)(base + bloom_num_low_zeros64(word));
  }
}

/* Returns the Rice parameter for num_coded of num_all numbers: the greatest with
** num_coded * 2^k <= 0.69 num_all.  0.69 =~ ln 2 [Golomb 1966; Rice 1979]. */
static inline uint32_t entries_rice_k(uint64_t num_coded, uint64_t num_all){
  assert( num_coded>0 && num_all<=BLOOM_ENTRIES_ID_MASK );
  return entries_log2(69*num_all / (100*num_coded));
}

/* -- Reading --------------------------------------------------------------------------------- */

/*
** A row's bytes may be anything.  Each number is checked before it is used.  A position is checked
** after it moved: what is read behind the row is zeros.
*/

/* entries_look() returns at least so many bits. */
#define ENTRIES_LOOK_BITS 57

static inline uint32_t entries_load16(const uint8_t *bytes){
  return bytes[0] | (uint32_t)bytes[1] << 8;
}

/* Returns the bits from a position on, the first one lowest. */
static inline uint64_t entries_look(const bloom_entries_row *row, uint32_t at){
  const uint32_t byte = at/8;
  uint32_t shift;
  if( byte + 8<=row->num_bytes ) return bloom_load64_le(row->bytes + byte) >> at%8;
  shift = 8*(byte + 8 - row->num_bytes) + at%8;
  return shift<64 ? bloom_load64_le(row->bytes + row->num_bytes - 8) >> shift : 0;
}

/* Returns 1 if a position lies behind the row. */
static inline int entries_is_behind(const bloom_entries_row *row, uint32_t at){
  return at>8*row->num_bytes;
}

static int entries_fail(bloom_entries_row *row){
  row->is_damaged = 1;
  row->num_blocks = 0;
  return -1;
}

/* Returns the position of the first list. */
static inline uint32_t entries_lists_at(const bloom_entries_row *row){
  return 8*(BLOOM_ENTRIES_HEADER_BYTES + BLOOM_ENTRIES_SKIP_BYTES*row->num_skips);
}

int bloom_entries_open(bloom_entries_row *row, const uint8_t *bytes, size_t num_bytes,
                       uint64_t run_number, uint64_t rowid){
  uint32_t end_block;
  memset(row, 0, sizeof(*row));
  row->is_damaged = 1;
  if( num_bytes<=BLOOM_ENTRIES_HEADER_BYTES || num_bytes>BLOOM_ENTRIES_ROW_BYTES ) return 0;
  if( bloom_load64_le(bytes)!=bloom_entries_checksum(bytes, num_bytes, run_number, rowid) ){
    return 0;
  }
  row->bytes = bytes;
  row->num_bytes = (uint32_t)num_bytes;
  row->before = bloom_load64_le(bytes + 8);
  row->first = bloom_load64_le(bytes + 16);
  row->last = rowid & BLOOM_ENTRIES_ID_MASK;
  end_block = bloom_load32_le(bytes + 24);
  row->num_lists = entries_load16(bytes + 28);
  row->lists_per_skip = entries_load16(bytes + 30);
  row->gap_k = bytes[32];
  if( row->num_lists<1 || row->num_lists>BLOOM_ENTRIES_MAX_LISTS || row->first>row->last
   || (row->before!=BLOOM_ENTRIES_NO_ID && row->before>=row->first) /* all ids differ */
   || (row->num_lists==1 ? row->first!=row->last : row->last - row->first<row->num_lists - 1)
   || end_block<1 || end_block>BLOOM_ENTRIES_MAX_BLOCKS
   || row->gap_k>=BLOOM_ENTRIES_ID_BITS || bytes[33]!=0 ) return 0;
  if( row->lists_per_skip ) row->num_skips = (row->num_lists - 1) / row->lists_per_skip;
  if( entries_lists_at(row)>=8*row->num_bytes ) return 0;
  row->shape = entries_shape_of(end_block);
  row->is_damaged = 0;
  return 1;
}

/*
** Blocks are read as bits.  Each of these functions reads num_coded ascending numbers below num_all
** at a position that it moves behind them, and sets their bits in words, unless that is NULL: then
** only the position counts.  Returns 0 if they are damaged.
*/

static inline void entries_set_bit(uint64_t *words, uint32_t number){
  if( words ) words[number/64] |= (uint64_t)1 << number%64;
}

/* Reads raw numbers, 3 at most, and writes them to numbers[]. */
static int entries_read_raw(const bloom_entries_row *row, uint32_t *at, uint32_t num_coded,
                            uint32_t num_all, uint16_t numbers[ENTRIES_MAX_RAW]){
  const uint32_t num_bits = entries_bits_in(&row->shape, row->segment);
  uint64_t bits = entries_look(row, *at);
  uint32_t i;
  assert( num_coded<=ENTRIES_MAX_RAW );
  for(i=0; i<num_coded; i++){
    numbers[i] = (uint16_t)entries_low_bits(bits, num_bits);
    if( numbers[i]>=num_all || (i>0 && numbers[i]<=numbers[i-1]) ) return 0;
    bits >>= num_bits;
  }
  *at += num_coded*num_bits;
  return !entries_is_behind(row, *at);
}

/* Reads Rice codes with k = 0: bit i is 0 if number i is there. */
static int entries_read_bitmap(const bloom_entries_row *row, uint32_t *at, uint32_t num_coded,
                               uint32_t num_all, uint64_t *words){
  uint32_t base, num_left = num_coded;
  for(base=0; base<num_all; base+=64){
    const uint64_t low = entries_low_bits(entries_look(row, *at + base), 32);
    uint64_t there = ~(low | entries_look(row, *at + base + 32) << 32);
    const uint32_t num_here = (uint32_t)(bloom_popcount_bytes(there) * 0x0101010101010101u >> 56);
    uint32_t number = base;
    if( num_here>=num_left ){
      uint64_t last = there;
      for(; num_left>1; num_left--) last &= last - 1;
      last &= ~last + 1; /* the list's last number; what follows is another list's */
      number += bloom_num_low_zeros64(last);
      there &= last | (last - 1);
      num_left = 0;
    }
    if( words ) words[base/64] = there;
    if( num_left==0 ){
      *at += number + 1;
      return number<num_all && !entries_is_behind(row, *at);
    }
    num_left -= num_here;
  }
  return 0;
}

/* Reads Rice codes with k > 0. */
static int entries_read_codes(const bloom_entries_row *row, uint32_t *at, uint32_t k,
                              uint32_t num_coded, uint32_t num_all, uint64_t *words){
  uint32_t end = 0, i = 0; /* all numbers so far are below end */
  assert( k>0 && k<=BLOOM_SEGMENT_LG );
  while( i<num_coded ){
    /* As many codes as one look shows, inverted: a 1 ends a quotient.  Bit 63 is behind them. */
    uint64_t bits = ~entries_look(row, *at) | (uint64_t)1 << 63;
    uint32_t num_left = ENTRIES_LOOK_BITS;
    for(; i<num_coded; i++){
      const uint32_t quotient = bloom_num_low_zeros64(bits) + 1; /* with its end */
      if( quotient + k>num_left ) break;
      bits >>= quotient;
      end += (quotient<<k) - (uint32_t)entries_low_bits(bits, k);
      if( end>num_all ) return 0;
      entries_set_bit(words, end - 1);
      bits >>= k;
      num_left -= quotient + k;
    }
    if( num_left==ENTRIES_LOOK_BITS ){
      /* A longer code: some of its ones. */
      end += ENTRIES_LOOK_BITS/2u << k;
      num_left -= ENTRIES_LOOK_BITS/2;
      if( end>num_all ) return 0;
    }
    *at += ENTRIES_LOOK_BITS - num_left;
    if( entries_is_behind(row, *at) ) return 0;
  }
  return 1;
}

/* Reads the coded blocks of the list at hand: its own or the missing ones.  Sets next_at. */
static int entries_read_coded(bloom_entries_row *row, uint64_t *words){
  const uint32_t num_all = entries_blocks_in(&row->shape, row->segment);
  const uint32_t num_coded = entries_are_missing_coded(row->num_blocks, num_all)
      ? num_all - row->num_blocks : row->num_blocks;
  uint32_t k;
  assert( row->num_blocks>0 && row->num_blocks<=num_all );
  row->next_at = row->blocks_at;
  if( num_coded<=ENTRIES_MAX_RAW ){
    uint16_t raw[ENTRIES_MAX_RAW];
    uint32_t i;
    const int is_good = entries_read_raw(row, &row->next_at, num_coded, num_all, raw);
    for(i=0; is_good && i<num_coded; i++) entries_set_bit(words, raw[i]);
    return is_good;
  }
  k = entries_rice_k(num_coded, num_all);
  return k==0 ? entries_read_bitmap(row, &row->next_at, num_coded, num_all, words)
      : entries_read_codes(row, &row->next_at, k, num_coded, num_all, words);
}

/* Reads the code of a gap of ids at a position, which it moves behind it. */
static inline uint64_t entries_read_gap(const bloom_entries_row *row, uint32_t *at){
  const uint64_t bits = entries_look(row, *at);
  const uint32_t quotient = bloom_num_low_zeros64(~bits | (uint64_t)1 << ENTRIES_MAX_QUOTIENT);
  const int is_whole = quotient==ENTRIES_MAX_QUOTIENT;
  const uint32_t rest_at = *at + quotient + !is_whole;
  const uint32_t num_bits = is_whole ? BLOOM_ENTRIES_ID_BITS : row->gap_k;
  const uint64_t rest = entries_low_bits(entries_look(row, rest_at), num_bits);
  *at = rest_at + num_bits;
  return (is_whole ? rest : (uint64_t)quotient << row->gap_k | rest) + 1;
}

/* Moves to the list with an id. */
static inline void entries_set_id(bloom_entries_row *row, uint64_t id){
  assert( row->shape.num_segments>0 );
  row->id = id;
  row->segment = (uint32_t)(id % row->shape.num_segments);
}

/* Moves to the list that lies `gap` behind the one at hand.  A product with the reciprocal is fast,
** and too small by 1 at most.  An id is below 2^56, and a gap at most 24 * 2^55. */
static inline void entries_add_to_id(bloom_entries_row *row, uint64_t gap){
  const uint64_t sum = row->segment + gap, num_segments = row->shape.num_segments;
  uint64_t rest;
  assert( num_segments>0 );
  row->id += gap;
  rest = sum<=UINT32_MAX ? sum - (sum * row->shape.reciprocal >> 32) * num_segments
      : sum % num_segments;
  row->segment = (uint32_t)(rest>=num_segments ? rest - num_segments : rest);
  assert( row->segment==row->id % num_segments );
}

/* Begins the list that has the id at hand: reads at a position how many blocks it has. */
static inline int entries_begin_list(bloom_entries_row *row, uint32_t at){
  const uint64_t bits = entries_look(row, at);
  const uint32_t log = bloom_num_low_zeros64(bits | (uint64_t)1 << (BLOOM_SEGMENT_LG + 1));
  const uint32_t num_blocks = 1u<<log | (uint32_t)entries_low_bits(bits >> (log + 1), log);
  const uint32_t num_all = entries_blocks_in(&row->shape, row->segment);
  row->num_begun++;
  row->num_blocks = num_blocks;
  row->blocks_at = at + 2*log + 1;
  row->next_at = 0;
  if( num_blocks<=ENTRIES_MAX_RAW && num_blocks<num_all ){
    row->next_at = row->blocks_at + num_blocks*entries_bits_in(&row->shape, row->segment);
  }
  /* The last list has the last id, and no other one has. */
  if( (row->num_begun<row->num_lists ? row->id>=row->last : row->id!=row->last)
   || num_blocks>num_all || entries_is_behind(row, row->blocks_at) ){
    return entries_fail(row);
  }
  return 1;
}

int bloom_entries_next(bloom_entries_row *row){
  uint32_t at = row->next_at;
  if( row->is_damaged ) return -1;
  if( row->num_begun==row->num_lists ){
    row->num_blocks = 0;
    return 0;
  }
  if( row->num_begun==0 ){
    entries_set_id(row, row->first);
    return entries_begin_list(row, entries_lists_at(row));
  }
  if( at==0 ){
    if( !entries_read_coded(row, NULL) ) return entries_fail(row);
    at = row->next_at;
  }
  entries_add_to_id(row, entries_read_gap(row, &at));
  return entries_begin_list(row, at);
}

/* Moves to the last list that has a skip and an id up to `id`, if that is behind the list at hand.
** Returns 1, or -1 if the row is damaged. */
static int entries_take_skip(bloom_entries_row *row, uint64_t id){
  const uint8_t *skips = row->bytes + BLOOM_ENTRIES_HEADER_BYTES, *skip;
  const uint64_t delta = id - row->first;
  uint32_t low = 0, high = row->num_skips, num_before, at;
  uint64_t skip_id;
  assert( id>=row->first );
  while( low<high ){
    const uint32_t middle = (low + high)/2;
    if( bloom_load32_le(skips + BLOOM_ENTRIES_SKIP_BYTES*(size_t)middle)<=delta ) low = middle + 1;
    else high = middle;
  }
  num_before = low*row->lists_per_skip;
  if( low==0 || num_before<row->num_begun ) return 1;
  skip = skips + BLOOM_ENTRIES_SKIP_BYTES*(size_t)(low - 1);
  skip_id = row->first + bloom_load32_le(skip);
  if( row->num_begun>0 && skip_id<=row->id ) return entries_fail(row);
  at = entries_lists_at(row) + entries_load16(skip + 4);
  entries_read_gap(row, &at);
  row->num_begun = num_before;
  entries_set_id(row, skip_id);
  return entries_begin_list(row, at);
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
  /* The last list has such an id. */
  while( found==1 && (row->num_blocks==0 || row->id<id) ){
    /* Passes lists of one block, as most of keys are, with ids below `id`. */
    while( row->next_at>0 && row->num_begun + 1<row->num_lists ){
      const uint64_t bits = entries_look(row, row->next_at);
      const uint32_t quotient = bloom_num_low_zeros64(~bits | (uint64_t)1 << ENTRIES_MAX_QUOTIENT);
      const uint32_t num_bits = quotient + 1 + row->gap_k;
      const uint64_t gap = ((uint64_t)quotient << row->gap_k
                            | entries_low_bits(bits >> (quotient + 1), row->gap_k)) + 1;
      if( quotient==ENTRIES_MAX_QUOTIENT || num_bits>=ENTRIES_LOOK_BITS
       || !(bits >> num_bits & 1) || row->id + gap>=id ) break;
      entries_add_to_id(row, gap);
      row->num_begun++;
      row->next_at += num_bits + 1 + entries_bits_in(&row->shape, row->segment);
    }
    found = bloom_entries_next(row);
  }
  assert( found!=1 || row->id>=id );
  return found;
}

int bloom_entries_read_bits(bloom_entries_row *row, uint64_t bits[BLOOM_SEGMENT_BLOCKS/64]){
  const uint32_t num_all = entries_blocks_in(&row->shape, row->segment);
  if( row->num_blocks==0 ) return -1;
  memset(bits, 0, BLOOM_SEGMENT_BLOCKS/8);
  if( !entries_read_coded(row, bits) ) return entries_fail(row);
  if( entries_are_missing_coded(row->num_blocks, num_all) ){
    uint32_t i;
    for(i=0; i<num_all; i+=64) bits[i/64] ^= entries_bits_below(num_all, i);
  }
  assert( bloom_count_bits((const uint8_t *)bits, BLOOM_SEGMENT_BLOCKS/8)==row->num_blocks );
  return (int)row->num_blocks;
}

int bloom_entries_read(bloom_entries_row *row, uint16_t blocks[BLOOM_SEGMENT_BLOCKS]){
  const uint32_t num_all = entries_blocks_in(&row->shape, row->segment);
  /* Short lists, as most of keys are, need no array of bits. */
  if( row->num_blocks>0 && row->num_blocks<=ENTRIES_MAX_RAW && row->num_blocks<num_all ){
    row->next_at = row->blocks_at;
    if( !entries_read_raw(row, &row->next_at, row->num_blocks, num_all, blocks) ){
      return entries_fail(row);
    }
  }else{
    uint64_t bits[BLOOM_SEGMENT_BLOCKS/64];
    if( bloom_entries_read_bits(row, bits)<0 ) return -1;
    entries_numbers_of(bits, num_all, blocks);
  }
  return (int)row->num_blocks;
}

/* -- Writing --------------------------------------------------------------------------------- */

/*
** A list is appended, and removed again if the row is then too long: the buffer has room for one
** list more than a row.  So no size is estimated, and only a row's first list is coded twice.
*/

/* The writer makes at most one skip per so many bytes of lists: 15 skips in a row. */
#define ENTRIES_BYTES_PER_SKIP (BLOOM_ENTRIES_ROW_BYTES/16 + 16)
_Static_assert(BLOOM_ENTRIES_ROW_BYTES/ENTRIES_BYTES_PER_SKIP<=BLOOM_ENTRIES_MAX_SKIPS,
               "the writer has room for its skips");

/* Appends the low num_bits bits, 56 at most, of x, whose others are 0. */
static inline void entries_append(bloom_entries_writer *writer, uint64_t x, uint32_t num_bits){
  const uint64_t word = writer->word | x << writer->word_bits;
  const uint32_t all_bits = writer->word_bits + num_bits;
  assert( num_bits<=56 && x>>num_bits==0 && writer->word_bits<8 );
  assert( writer->num_bytes+8<=sizeof(writer->bytes) );
  bloom_store64_le(writer->bytes + writer->num_bytes, word);
  writer->num_bytes += all_bits/8;
  writer->word = word >> (all_bits & ~7u);
  writer->word_bits = all_bits & 7;
}

/* Appends Rice codes of ascending numbers. */
static void entries_append_rice(bloom_entries_writer *writer, const uint16_t *numbers,
                                uint32_t num_coded, uint32_t k){
  uint32_t next = 0, i;
  assert( k<=BLOOM_SEGMENT_LG );
  for(i=0; i<num_coded; i++){
    const uint32_t x = numbers[i] - next;
    uint32_t quotient = x >> k;
    assert( numbers[i]>=next );
    next = numbers[i] + 1u;
    for(; quotient>32; quotient-=32) entries_append(writer, UINT32_MAX, 32);
    entries_append(writer, (((uint64_t)1 << quotient) - 1)
                           | entries_low_bits(x, k) << (quotient + 1), quotient + 1 + k);
  }
}

static void entries_append_gap(bloom_entries_writer *writer, uint64_t gap){
  const uint64_t quotient = (gap - 1) >> writer->gap_k;
  assert( gap>0 );
  if( quotient>=ENTRIES_MAX_QUOTIENT ){
    entries_append(writer, ((uint64_t)1 << ENTRIES_MAX_QUOTIENT) - 1, ENTRIES_MAX_QUOTIENT);
    entries_append(writer, gap - 1, BLOOM_ENTRIES_ID_BITS);
    return;
  }
  entries_append(writer, ((uint64_t)1 << quotient) - 1, (uint32_t)quotient + 1);
  entries_append(writer, entries_low_bits(gap - 1, writer->gap_k), writer->gap_k);
}

/* Appends a list of a segment. */
static void entries_append_list(bloom_entries_writer *writer, uint32_t segment,
                                const uint16_t *blocks, uint32_t num_blocks){
  const uint32_t num_all = entries_blocks_in(&writer->shape, segment);
  const uint32_t log = entries_log2(num_blocks);
  uint16_t missing[BLOOM_SEGMENT_BLOCKS/2];
  const uint16_t *numbers = blocks;
  uint32_t num_coded = num_blocks, i;
  assert( num_blocks>0 && num_blocks<=num_all && blocks[num_blocks-1]<num_all );
  entries_append(writer, (2*entries_low_bits(num_blocks, log) + 1) << log, 2*log + 1);
  if( entries_are_missing_coded(num_blocks, num_all) ){
    uint64_t words[BLOOM_SEGMENT_BLOCKS/64];
    for(i=0; i<num_all; i+=64) words[i/64] = entries_bits_below(num_all, i);
    for(i=0; i<num_blocks; i++) words[blocks[i]/64] ^= (uint64_t)1 << blocks[i]%64;
    entries_numbers_of(words, num_all, missing);
    numbers = missing;
    num_coded = num_all - num_blocks;
  }
  if( num_coded>ENTRIES_MAX_RAW ){
    entries_append_rice(writer, numbers, num_coded, entries_rice_k(num_coded, num_all));
    return;
  }
  for(i=0; i<num_coded; i++){
    entries_append(writer, numbers[i], entries_bits_in(&writer->shape, segment));
  }
}

static void entries_begin_row(bloom_entries_writer *writer){
  writer->num_lists = 0;
  writer->lists_per_skip = 1;
  writer->num_skips = 0;
  writer->word = 0;
  writer->word_bits = 0;
  writer->num_bytes = 0;
}

void bloom_entries_writer_begin(bloom_entries_writer *writer, uint32_t end_block, uint64_t before,
                                uint64_t mean_gap){
  assert( before==BLOOM_ENTRIES_NO_ID || before<=BLOOM_ENTRIES_ID_MASK );
  writer->shape = entries_shape_of(end_block);
  writer->before = before;
  writer->first = writer->last = 0;
  writer->gap_k = entries_rice_k(1, mean_gap);
  entries_begin_row(writer);
}

/* Makes a skip to the list with this id, which has num_lists others and `offset` bits before it, if
** num_lists is a multiple of lists_per_skip. */
static void entries_note_skip(bloom_entries_writer *writer, uint64_t id, uint32_t offset){
  uint32_t i;
  if( writer->lists_per_skip==0 || writer->num_lists==0 ) return;
  if( id - writer->first>UINT32_MAX ) writer->lists_per_skip = writer->num_skips = 0;
  else if( (writer->num_lists & (writer->lists_per_skip - 1))==0 ){
    assert( writer->num_skips<=BLOOM_ENTRIES_MAX_SKIPS && offset<=UINT16_MAX );
    writer->skip_deltas[writer->num_skips] = (uint32_t)(id - writer->first);
    writer->skip_offsets[writer->num_skips] = (uint16_t)offset;
    writer->num_skips++;
    if( writer->num_skips*ENTRIES_BYTES_PER_SKIP<=offset/8 ) return;
    /* Every other one is dropped: the first one, the third one and so on. */
    writer->num_skips /= 2;
    writer->lists_per_skip *= 2;
    for(i=0; i<writer->num_skips; i++){
      writer->skip_deltas[i] = writer->skip_deltas[2*i + 1];
      writer->skip_offsets[i] = writer->skip_offsets[2*i + 1];
    }
  }
}

int bloom_entries_writer_add(bloom_entries_writer *writer, uint64_t id, const uint16_t *blocks,
                             uint32_t num_blocks){
  const uint64_t word = writer->word;
  const uint32_t num_bytes = writer->num_bytes, word_bits = writer->word_bits;
  size_t row_bytes;
  assert( id<=BLOOM_ENTRIES_ID_MASK );
  if( writer->num_lists==BLOOM_ENTRIES_MAX_LISTS ) return 0;
  if( writer->num_lists==0 ){
    assert( writer->before==BLOOM_ENTRIES_NO_ID || writer->before<id );
    writer->first = id;
  }else{
    assert( id>writer->last );
    entries_append_gap(writer, id - writer->last);
  }
  entries_append_list(writer, (uint32_t)(id % writer->shape.num_segments), blocks, num_blocks);
  /* The list may get a skip. */
  row_bytes = BLOOM_ENTRIES_HEADER_BYTES + writer->num_bytes + (writer->word_bits>0)
            + BLOOM_ENTRIES_SKIP_BYTES*(size_t)(writer->num_skips + (writer->num_lists>0));
  if( row_bytes>BLOOM_ENTRIES_ROW_BYTES ){
    assert( writer->num_lists>0 );
    writer->word = word;
    writer->word_bits = word_bits;
    writer->num_bytes = num_bytes;
    entries_append(writer, 0, 0);
    return 0;
  }
  entries_note_skip(writer, id, 8*num_bytes + word_bits);
  writer->last = id;
  writer->num_lists++;
  return 1;
}

size_t bloom_entries_writer_finish(bloom_entries_writer *writer, uint64_t run_number,
                                   uint32_t slot, uint8_t out[BLOOM_ENTRIES_ROW_BYTES],
                                   uint64_t *rowid){
  const uint32_t lists_per_skip = writer->num_skips ? writer->lists_per_skip : 0;
  const uint32_t list_bytes = writer->num_bytes + (writer->word_bits>0);
  uint8_t *end = out + BLOOM_ENTRIES_HEADER_BYTES;
  size_t num_bytes;
  uint32_t i;
  assert( writer->num_lists>0 );
  bloom_store64_le(out + 8, writer->before);
  bloom_store64_le(out + 16, writer->first);
  bloom_store32_le(out + 24, writer->shape.end_block);
  bloom_store32_le(out + 28, writer->num_lists | lists_per_skip<<16);
  out[32] = (uint8_t)writer->gap_k;
  out[33] = 0;
  for(i=0; i<writer->num_skips; i++){
    bloom_store32_le(end, writer->skip_deltas[i]);
    end[4] = (uint8_t)writer->skip_offsets[i];
    end[5] = (uint8_t)(writer->skip_offsets[i] >> 8);
    end += BLOOM_ENTRIES_SKIP_BYTES;
  }
  memcpy(end, writer->bytes, list_bytes);
  num_bytes = (size_t)(end - out) + list_bytes;
  assert( num_bytes<=BLOOM_ENTRIES_ROW_BYTES );
  *rowid = bloom_entries_rowid(slot, writer->last);
  bloom_store64_le(out, bloom_entries_checksum(out, num_bytes, run_number, *rowid));
  if( writer->num_lists>1 ){
    writer->gap_k = entries_rice_k(1, (writer->last - writer->first) / (writer->num_lists - 1));
  }
  writer->before = writer->last;
  entries_begin_row(writer);
  return num_bytes;
}
