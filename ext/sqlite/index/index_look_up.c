/*
** The blocks of one column -> intervals of ids: which blocks have all bits of a test?
**
** Slices that share a row are read together, those of the fullest rows first, and a row is not read
** where none of its blocks is left.
*/
#include "index_candidates.h"

#include <stdlib.h>
#include <string.h>

/* Appends the ids of a block, finished or open, to result, in no order. */
static int look_up_add_block(index_reader *reader, const index_layout *layout, uint64_t block,
                             index_intervals *result){
  index_end end = {.first = layout->keys[reader->key].open_first, .last = layout->covered};
  if( block<layout->keys[reader->key].num_blocks ){
    const int rc = bloom_index_reader_end(reader, block, &end);
    if( rc!=SQLITE_OK ) return rc;
  }
  return end.first<=end.last ? bloom_index_intervals_append(result, end.first, end.last)
    : SQLITE_OK;
}

/* A slice, or what of it lies in one strip. */
typedef struct slice_part {
  sqlite3_int64 row;
  uint32_t offset, num_bytes;
  uint32_t at;     /* the first byte of the candidates that it is about */
  uint32_t number; /* its place among all parts, where the rarest bits come first */
  uint32_t num_beside; /* how many parts are in its row */
} slice_part;

static int slice_parts_by_row(const void *a, const void *b){
  const slice_part *of_a = a, *of_b = b;
  if( of_a->row!=of_b->row ) return of_a->row<of_b->row ? -1 : 1;
  return (int)of_a->number - (int)of_b->number;
}

/* Rows that tell most come first, and parts of one row stay together: number is that of its
** first part. */
static int slice_parts_by_use(const void *a, const void *b){
  const slice_part *of_a = a, *of_b = b;
  if( of_a->num_beside!=of_b->num_beside ) return of_a->num_beside>of_b->num_beside ? -1 : 1;
  return of_a->number!=of_b->number ? (of_a->number<of_b->number ? -1 : 1) : 0;
}

/* Lists what is to be read of a group for bits in bands first_band .. last_band-1, in the order
** in which it is best read.  Returns the number of parts, at most two for each bit. */
static size_t slice_parts_list(const index_reader *reader, index_group group, uint32_t first_band,
                               uint32_t last_band,
                               const uint16_t *bits, size_t num_bits, slice_part *parts){
  const uint32_t slice_bytes = 8*group.num_units;
  size_t i, first, end, num_parts = 0;
  for(i=0; i<num_bits; i++){
    uint32_t at = 0;
    if( bits[i]/BLOOM_BAND_BITS<first_band || bits[i]/BLOOM_BAND_BITS>=last_band ) continue;
    while( at<slice_bytes ){
      const bloom_slice_place place = bloom_slice_find(group.num_units, bits[i], at);
      const uint32_t left = BLOOM_STRIP_BYTES - place.offset;
      parts[num_parts] = (slice_part){
        .row = bloom_index_row_of_strip(reader->index, reader->key, group.unit + place.strip,
                                        place.band),
        .offset = place.offset, .num_bytes = slice_bytes - at<left ? slice_bytes - at
          : left, .at = at, .number = (uint32_t)num_parts
      };
      at += parts[num_parts++].num_bytes;
    }
  }
  if( group.num_units==BLOOM_GROUP_MAX_UNITS ) return num_parts; /* a row has one part of it */
  qsort(parts, num_parts, sizeof(*parts), slice_parts_by_row);
  for(first=0; first<num_parts; first=end){
    for(end=first+1; end<num_parts && parts[end].row==parts[first].row; end++){}
    for(i=first; i<end; i++){
      parts[i].num_beside = (uint32_t)(end - first);
      parts[i].number = parts[first].number;
    }
  }
  qsort(parts, num_parts, sizeof(*parts), slice_parts_by_use);
  return num_parts;
}

/* Takes those of a group's blocks out of the candidates that lack a bit.  What cannot matter is
** not read. */
static int look_up_test_group(index_reader *reader, index_group group, uint32_t first_band,
                              uint32_t last_band,
                                 const uint16_t *bits, size_t num_bits, uint8_t *candidates){
  slice_part parts[2*INDEX_MAX_BITS];
  uint8_t slice[BLOOM_STRIP_BYTES];
  size_t i, num_parts;
  int rc = SQLITE_OK;
  if( !bloom_slice_has_any(candidates, (size_t)8*group.num_units) ) return SQLITE_OK;
  num_parts = slice_parts_list(reader, group, first_band, last_band, bits, num_bits, parts);
  for(i=0; i<num_parts && rc==SQLITE_OK; i++){
    const slice_part part = parts[i];
    if( !bloom_slice_has_any(candidates + part.at, part.num_bytes) ) continue;
    rc = bloom_index_reader_read(reader, part.row, slice, part.num_bytes, part.offset);
    if( rc==SQLITE_OK ) bloom_slice_and(candidates + part.at, slice, part.num_bytes);
  }
  return rc;
}

/* Sets candidates[] to the blocks of a group that have all bits of a list, of those that are
** candidates already.  A group whose join goes on is one in some bands, and several in others. */
static int look_up_test_list(index_reader *reader, const index_key_layout *layout,
                             index_group group, const uint16_t *bits, size_t num_bits,
                                uint8_t *candidates){
  const uint32_t num_bands = index_num_bands(reader->index, reader->key);
  const int is_joining = layout->join_units>0 && group.unit==bloom_index_join_unit(layout);
  const uint32_t num_joined = is_joining ? layout->join_bands : num_bands;
  uint32_t i;
  int rc = look_up_test_group(reader, group, 0, num_joined, bits, num_bits, candidates);
  for(i=0; i<group.num_units && num_joined<num_bands && rc==SQLITE_OK; ){
    const index_group apart = bloom_index_group_at(layout, group.unit + i, 0);
    rc = look_up_test_group(reader, apart, num_joined, num_bands, bits, num_bits,
                            candidates + 8*(size_t)i);
    i += apart.num_units;
  }
  return rc;
}

/* Appends the ids of those blocks first .. until-1 that are in a group and pass the test. */
static int look_up_add_group(index_reader *reader, const index_layout *layout,
                             const index_test *test, index_group group, uint64_t first,
                             uint64_t until, index_intervals *result){
  const uint32_t num_blocks = group.num_units * BLOOM_UNIT_BLOCKS;
  const uint64_t of_group = group.unit * BLOOM_UNIT_BLOCKS;
  const uint32_t from = first>of_group ? (uint32_t)(first - of_group) : 0;
  const uint32_t end = until - of_group<num_blocks ? (uint32_t)(until - of_group) : num_blocks;
  uint8_t asked[BLOOM_STRIP_BYTES] = {0}, candidates[BLOOM_STRIP_BYTES] = {0};
  uint8_t of_list[BLOOM_STRIP_BYTES];
  uint32_t block, i;
  int list, rc = SQLITE_OK;
  memset(asked + from/8, 0xff, (end + 7)/8 - from/8);
  asked[from/8] = (uint8_t)(asked[from/8] & 0xff << from%8);
  if( end%8 ) asked[end/8] = (uint8_t)(asked[end/8] & ~(0xffu << end%8));
  for(list=0; list<test->num_lists && rc==SQLITE_OK; list++){
    memcpy(of_list, asked, num_blocks/8);
    rc = look_up_test_list(reader, &layout->keys[reader->key], group,
                           test->bits + (size_t)list*test->num_bits, test->num_bits, of_list);
    for(i=0; i<num_blocks/8; i++) candidates[i] |= of_list[i];
  }
  for(block=bloom_slice_next(candidates, num_blocks, 0); block<num_blocks
      && rc==SQLITE_OK; block=bloom_slice_next(candidates, num_blocks, block + 1)){
    rc = look_up_add_block(reader, layout, of_group + block, result);
  }
  return rc;
}

/* The blocks that are in no unit, the open one too. */
static int look_up_add_slots(index_reader *reader, const index_layout *layout,
                             const index_test *test, index_intervals *result){
  const uint64_t num_blocks = layout->keys[reader->key].num_blocks;
  const uint64_t first = bloom_index_blocks_in_units(reader->index, layout, reader->key);
  uint8_t bytes[BLOOM_STRIP_BYTES];
  uint64_t block;
  int list, rc = bloom_index_reader_read(reader, INDEX_ROW_OF_SLOTS, bytes, sizeof(bytes), 0);
  for(block=first; block<=num_blocks && rc==SQLITE_OK; block++){
    const uint8_t *of_block = bytes + (block - first)*index_block_bytes(reader->index, reader->key);
    int has_all = 0;
    for(list=0; list<test->num_lists && !has_all; list++){
      has_all = bloom_block_has_bits(of_block, test->bits + (size_t)list*test->num_bits,
                                     test->num_bits);
    }
    if( has_all ) rc = look_up_add_block(reader, layout, block, result);
  }
  return rc;
}

/* Sets *block to the first one that ends at or behind an id; all blocks are in the order of ids. */
static int look_up_find_block(index_reader *reader, const index_layout *layout, sqlite3_int64 id,
                              uint64_t *block){
  uint64_t first = 0, last = layout->keys[reader->key].num_blocks;
  while( first<last ){
    const uint64_t middle = first + (last - first)/2;
    index_end end;
    const int rc = bloom_index_reader_end(reader, middle, &end);
    if( rc!=SQLITE_OK ) return rc;
    if( end.last<id ) first = middle + 1; else last = middle;
  }
  *block = first;
  return SQLITE_OK;
}

int bloom_index_look_up(bloom_index *index, const index_layout *layout, int key,
                        const index_test *test, const index_intervals *intervals,
                        index_intervals *result){
  const uint64_t in_units = bloom_index_blocks_in_units(index, layout, key);
  const uint64_t num_units = (in_units + BLOOM_UNIT_BLOCKS - 1) / BLOOM_UNIT_BLOCKS;
  const index_interval asked = {intervals->list[0].first,
                                intervals->list[intervals->num_intervals-1].last};
  index_reader reader;
  uint64_t first = 0, until = in_units, unit;
  int rc = SQLITE_OK;
  bloom_index_reader_start(&reader, index, key, 0);
  /* Where no block was made again, they are in the order of ids. */
  if( layout->keys[key].num_dead==0 && bloom_index_interval_rows(layout,
      asked)<(double)layout->num_rows/2 ){
    rc = look_up_find_block(&reader, layout, asked.first, &first);
    if( rc==SQLITE_OK ) rc = look_up_find_block(&reader, layout, asked.last, &until);
    until = until<in_units ? until + 1 : in_units;
  }
  for(unit=first/BLOOM_UNIT_BLOCKS; first<until && unit<num_units && unit*BLOOM_UNIT_BLOCKS<until
      && rc==SQLITE_OK; ){
    const index_group group = bloom_index_group_at(&layout->keys[key], unit, 1);
    rc = look_up_add_group(&reader, layout, test, group, first, until, result);
    unit = group.unit + group.num_units;
  }
  if( rc==SQLITE_OK ) rc = look_up_add_slots(&reader, layout, test, result);
  bloom_index_reader_close(&reader);
  return rc;
}
