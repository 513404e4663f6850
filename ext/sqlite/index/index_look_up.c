/*
** Tokens -> blocks: which blocks have one of them?
**
** The tokens are looked up in ascending order, in one run after the other, so that lists which are
** neighbours are read together.  Segments without a candidate are not read.
*/
#include "index_entries.h"

#include <string.h>

#include "../../core/bits.h"
#include "../../core/numeric.h"

/* -- Sets of blocks -------------------------------------------------------------------------- */

int bloom_index_blocks_make(index_block_set *set, uint32_t num_spans){
  const size_t num_blocks = (size_t)num_spans << INDEX_SPAN_LG;
  set->num_segments = (uint32_t)((num_blocks + BLOOM_SEGMENT_BLOCKS - 1) / BLOOM_SEGMENT_BLOCKS);
  set->segments = sqlite3_malloc64(((size_t)set->num_segments + 1) * sizeof(*set->segments));
  if( set->segments==NULL ) return SQLITE_NOMEM;
  memset(set->segments, 0, (size_t)set->num_segments * sizeof(*set->segments));
  return SQLITE_OK;
}

void bloom_index_blocks_free(index_block_set *set){
  uint32_t i;
  for(i=0; set->segments && i<set->num_segments; i++) sqlite3_free(set->segments[i]);
  sqlite3_free(set->segments);
  set->segments = NULL;
}

/* Returns a segment's bits, made if there are none; NULL when out of memory. */
static uint64_t *blocks_segment(index_block_set *set, uint32_t segment){
  if( set->segments[segment]==NULL ){
    set->segments[segment] = sqlite3_malloc64(INDEX_SEGMENT_WORDS * sizeof(uint64_t));
    if( set->segments[segment] ){
      memset(set->segments[segment], 0, INDEX_SEGMENT_WORDS * sizeof(uint64_t));
    }
  }
  return set->segments[segment];
}

int bloom_index_blocks_add_all(index_block_set *set, uint32_t first, uint32_t last){
  for(; first<=last; first++){
    uint64_t *bits = blocks_segment(set, first/BLOOM_SEGMENT_BLOCKS);
    if( bits==NULL ) return SQLITE_NOMEM;
    bits[first%BLOOM_SEGMENT_BLOCKS/64] |= (uint64_t)1 << first%64;
  }
  return SQLITE_OK;
}

uint64_t bloom_index_blocks_count(const index_block_set *set){
  uint64_t num_blocks = 0;
  uint32_t i, j;
  for(i=0; i<set->num_segments; i++){
    for(j=0; set->segments[i] && j<INDEX_SEGMENT_WORDS; j++){
      num_blocks += bloom_popcount_bytes(set->segments[i][j]) * 0x0101010101010101u >> 56;
    }
  }
  return num_blocks;
}

void bloom_index_blocks_intersect(index_block_set *set, const index_block_set *other){
  uint32_t i, j;
  for(i=0; i<set->num_segments; i++){
    uint64_t any = 0;
    for(j=0; set->segments[i] && other->segments[i] && j<INDEX_SEGMENT_WORDS; j++){
      any |= set->segments[i][j] &= other->segments[i][j];
    }
    if( any ) continue;
    sqlite3_free(set->segments[i]);
    set->segments[i] = NULL;
  }
}

void bloom_index_blocks_unite(index_block_set *set, index_block_set *other){
  uint32_t i, j;
  for(i=0; i<set->num_segments; i++){
    if( set->segments[i]==NULL ){
      set->segments[i] = other->segments[i];
      other->segments[i] = NULL;
    }
    for(j=0; other->segments[i] && j<INDEX_SEGMENT_WORDS; j++){
      set->segments[i][j] |= other->segments[i][j];
    }
  }
}

uint32_t bloom_index_blocks_next(const index_block_set *set, uint32_t block){
  uint32_t i = block/BLOOM_SEGMENT_BLOCKS, j = block%BLOOM_SEGMENT_BLOCKS;
  for(; i<set->num_segments; i++, j=0){
    const uint64_t *bits = set->segments[i];
    for(; bits && j<BLOOM_SEGMENT_BLOCKS; j=(j/64 + 1)*64){
      const uint64_t word = bits[j/64] >> j%64;
      if( word ) return i*BLOOM_SEGMENT_BLOCKS + j + bloom_num_low_zeros64(word);
    }
  }
  return UINT32_MAX;
}

/* -- Looking up ------------------------------------------------------------------------------- */

/* Returns the first segment at or behind one that may have candidates; num_segments if there is
** none. */
static uint32_t look_up_segment(const index_block_set *within, uint32_t segment,
                                uint32_t num_segments){
  while( within && segment<num_segments && within->segments[segment]==NULL ) segment++;
  return segment;
}

/* Adds the blocks of the list at hand. */
static int look_up_add_list(index_run_reader *reader, uint32_t segment, index_block_set *result){
  uint16_t blocks[BLOOM_SEGMENT_BLOCKS];
  uint64_t *bits = blocks_segment(result, segment);
  uint32_t num_blocks, i;
  int rc = bits ? SQLITE_OK : SQLITE_NOMEM;
  if( rc==SQLITE_OK ) rc = bloom_index_run_blocks(reader, blocks, &num_blocks);
  for(i=0; rc==SQLITE_OK && i<num_blocks; i++){
    bits[blocks[i]/64] |= (uint64_t)1 << blocks[i]%64;
  }
  return rc;
}

/* Adds what a run has of a range of tokens, whose lists have ids first .. last-1 of those that
** queries read of it. */
static int look_up_range(index_run_reader *reader, const index_run *run, uint64_t first,
                         uint64_t last, const index_block_set *within, index_block_set *result){
  const uint32_t num_segments = bloom_entries_num_segments(run->end_block);
  uint64_t id = first;
  int is_found, rc = SQLITE_OK;
  while( id<last ){
    const uint32_t segment = (uint32_t)(id % num_segments);
    const uint32_t wanted = look_up_segment(within, segment, num_segments);
    id += wanted - segment;
    if( wanted==num_segments ) continue;
    if( id>=last ) break;
    rc = bloom_index_run_seek(reader, run, id, &is_found);
    if( rc!=SQLITE_OK || !is_found || reader->row.id>=last ) break;
    if( reader->row.id==id || within==NULL || within->segments[reader->row.id%num_segments] ){
      rc = look_up_add_list(reader, (uint32_t)(reader->row.id % num_segments), result);
      if( rc!=SQLITE_OK ) break;
    }
    id = reader->row.id + 1;
  }
  return rc;
}

int bloom_index_look_up(bloom_index *index, const index_generation *generation, int key,
                        const index_tokens *tokens, size_t num_ranges,
                        const index_block_set *within, index_block_set *result){
  const index_key_layout *of_key = &generation->keys[key];
  index_run_reader *reader = sqlite3_malloc64(sizeof(*reader));
  uint32_t i;
  size_t j;
  int rc = SQLITE_OK;
  if( reader==NULL ) return SQLITE_NOMEM;
  reader->index = index;
  reader->key = key;
  reader->run = NULL;
  for(i=0; i<of_key->num_runs && rc==SQLITE_OK; i++){
    const index_run *run = &of_key->runs[i];
    const uint32_t num_segments = bloom_entries_num_segments(run->end_block);
    const uint64_t least = bloom_index_run_first(of_key, run);
    for(j=0; j<num_ranges && rc==SQLITE_OK; j++){
      const uint64_t first = tokens[j].first * num_segments;
      const uint64_t last = first + (uint64_t)tokens[j].num_tokens * num_segments;
      rc = look_up_range(reader, run, first>least ? first : least, last, within, result);
    }
  }
  sqlite3_free(reader);
  return rc;
}
