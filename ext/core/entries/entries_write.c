/*
** Writes rows of entries; entries.h describes them, ../../FORMATS.md has the bytes.
**
** A list is appended at once, and taken back if it does not fit: there is room for one more
** than a row has.  So nothing is encoded twice, and sizes are exact.
*/
#include <string.h>

#include "../bytes.h"
#include "entries_shape.h"

/* The writer makes at most one skip per so many bytes of lists: 15 skips in a row. */
#define ENTRIES_BYTES_PER_SKIP (BLOOM_ENTRIES_ROW_BYTES/16 + 16)
_Static_assert(BLOOM_ENTRIES_ROW_BYTES/ENTRIES_BYTES_PER_SKIP<=BLOOM_ENTRIES_MAX_SKIPS,
               "the writer has room for its skips");

/* Appends the low num_bits bits, 56 at most, of x, whose others are 0. */
static inline void entries_append(bloom_entries_writer *writer, uint64_t x, uint32_t num_bits){
  assert( num_bits<=56 && x>>num_bits==0 && writer->word_bits<8 );
  writer->word |= x << writer->word_bits;
  writer->word_bits += num_bits;
  bloom_store64_le(writer->bytes + writer->num_bytes, writer->word);
  writer->num_bytes += writer->word_bits/8;
  writer->word >>= writer->word_bits & ~7u;
  writer->word_bits &= 7;
}

static void entries_append_rice(bloom_entries_writer *writer, uint32_t x, uint32_t k){
  uint32_t quotient = x >> k;
  for(; quotient>32; quotient-=32) entries_append(writer, UINT32_MAX, 32);
  entries_append(writer, (((uint64_t)1 << quotient) - 1) | entries_low_bits(x, k) << (quotient + 1),
                 quotient + 1 + k);
}

static void entries_append_gap(bloom_entries_writer *writer, uint64_t gap){
  const uint64_t quotient = (gap - 1) >> writer->gap_k;
  if( quotient>=ENTRIES_MAX_QUOTIENT ){
    entries_append(writer, ((uint64_t)1 << ENTRIES_MAX_QUOTIENT) - 1, ENTRIES_MAX_QUOTIENT);
    entries_append(writer, gap - 1, BLOOM_ENTRIES_ID_BITS);
    return;
  }
  entries_append(writer, ((uint64_t)1 << quotient) - 1, (uint32_t)quotient + 1);
  entries_append(writer, entries_low_bits(gap - 1, writer->gap_k), writer->gap_k);
}

/* Appends num_coded ascending numbers below num_all, num_bits each where they are few. */
static void entries_append_numbers(bloom_entries_writer *writer, const uint16_t *numbers,
                                   uint32_t num_coded, uint32_t num_all, uint32_t num_bits){
  uint32_t i, k, next = 0;
  if( num_coded<=ENTRIES_MAX_RAW ){
    for(i=0; i<num_coded; i++) entries_append(writer, numbers[i], num_bits);
    return;
  }
  k = entries_rice_k(num_coded, num_all);
  for(i=0; i<num_coded; i++){
    entries_append_rice(writer, numbers[i] - next, k);
    next = numbers[i] + 1u;
  }
}

static void entries_append_list(bloom_entries_writer *writer, const uint16_t *blocks,
                                uint32_t num_blocks){
  const uint32_t num_all = entries_blocks_in(&writer->shape, writer->segment);
  const uint32_t num_bits = entries_bits_in(&writer->shape, writer->segment);
  const uint32_t log = entries_log2(num_blocks);
  assert( num_blocks>0 && num_blocks<=num_all && blocks[num_blocks-1]<num_all );
  entries_append(writer, (2*entries_low_bits(num_blocks, log) + 1) << log, 2*log + 1);
  if( entries_are_missing_coded(num_blocks, num_all) ){
    uint16_t missing[BLOOM_SEGMENT_BLOCKS/2 + 1];
    entries_complement(blocks, num_blocks, num_all, missing);
    entries_append_numbers(writer, missing, num_all - num_blocks, num_all, num_bits);
  }else{
    entries_append_numbers(writer, blocks, num_blocks, num_all, num_bits);
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

static void entries_set_gap_k(bloom_entries_writer *writer, uint64_t mean_gap){
  assert( mean_gap<=BLOOM_ENTRIES_ID_MASK );
  writer->gap_k = entries_rice_k(1, mean_gap);
}

void bloom_entries_writer_begin(bloom_entries_writer *writer, uint32_t end_block, uint64_t before,
                                uint64_t mean_gap){
  writer->shape = entries_shape_of(end_block);
  writer->before = before;
  writer->first = writer->last = 0;
  writer->segment = 0;
  entries_set_gap_k(writer, mean_gap);
  entries_begin_row(writer);
}

/* Drops every other skip: the first one, the third one and so on. */
static void entries_halve_skips(bloom_entries_writer *writer){
  uint32_t i;
  for(i=0; i<writer->num_skips/2; i++){
    writer->skip_deltas[i] = writer->skip_deltas[2*i + 1];
    writer->skip_offsets[i] = writer->skip_offsets[2*i + 1];
  }
  writer->num_skips /= 2;
  writer->lists_per_skip *= 2;
}

/* Notes a skip to the list with this id, which lies behind num_lists others at an offset of
** bits, if it is its turn. */
static void entries_note_skip(bloom_entries_writer *writer, uint64_t id, uint32_t offset){
  if( writer->lists_per_skip==0 || writer->num_lists==0 ) return;
  if( id - writer->first>UINT32_MAX ){
    writer->lists_per_skip = writer->num_skips = 0;
  }else if( writer->num_lists%writer->lists_per_skip==0 ){
    writer->skip_deltas[writer->num_skips] = (uint32_t)(id - writer->first);
    writer->skip_offsets[writer->num_skips] = (uint16_t)offset;
    writer->num_skips++;
    if( writer->num_skips*ENTRIES_BYTES_PER_SKIP>offset/8 ) entries_halve_skips(writer);
  }
}

int bloom_entries_writer_add(bloom_entries_writer *writer, uint64_t id, const uint16_t *blocks,
                             uint32_t num_blocks){
  const uint64_t word = writer->word;
  const uint32_t num_bytes = writer->num_bytes, word_bits = writer->word_bits;
  const uint32_t segment = writer->segment;
  size_t row_bytes;
  assert( id<=BLOOM_ENTRIES_ID_MASK );
  if( writer->num_lists==BLOOM_ENTRIES_MAX_LISTS ) return 0;
  if( writer->num_lists==0 ){
    assert( writer->before==BLOOM_ENTRIES_NO_ID || writer->before<id );
    writer->first = id;
    writer->segment = (uint32_t)(id % writer->shape.num_segments);
  }else{
    const uint64_t gap = id - writer->last;
    assert( id>writer->last );
    entries_append_gap(writer, gap);
    writer->segment = entries_segment_behind(&writer->shape, segment, gap);
  }
  entries_append_list(writer, blocks, num_blocks);
  /* With a skip that this list may get. */
  row_bytes = BLOOM_ENTRIES_HEADER_BYTES + writer->num_bytes + (writer->word_bits>0)
            + BLOOM_ENTRIES_SKIP_BYTES*(size_t)(writer->num_skips + (writer->num_lists>0));
  if( row_bytes>BLOOM_ENTRIES_ROW_BYTES ){
    writer->word = word;
    writer->word_bits = word_bits;
    writer->num_bytes = num_bytes;
    writer->segment = segment;
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
  bloom_store64_le(out, entries_checksum(out, num_bytes, run_number, *rowid));
  if( writer->num_lists>1 ){
    entries_set_gap_k(writer, (writer->last - writer->first) / (writer->num_lists - 1));
  }
  writer->before = writer->last;
  entries_begin_row(writer);
  return num_bytes;
}
