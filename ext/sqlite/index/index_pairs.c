/*
** Entries in memory: what a merge adds before it writes a run.
**
** Those of keys are pairs, which are sorted in the end.  Texts have hundreds for each block, a log
** of 80 MB 30 million: these are kept as the gaps between the blocks of each list, a byte or two
** each, which need no sorting.
*/
#include "index_merge.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/bytes.h"

/* Fewer are sorted by qsort(). */
#define PAIRS_FEW 4096
#define PAIRS_DIGIT_BITS 12

/* A chain is made of chunks: the place of the next one, 4 bytes, and 60 bytes of gaps, 7 bits in
** each. */
#define PAIRS_CHUNK_BYTES 64
typedef struct index_gaps {
  uint32_t first, end; /* places in chunks: of the first chunk, and behind the last gap; or 0 */
  uint32_t block;      /* the last block */
} index_gaps;

int bloom_index_pairs_start(index_pairs *pairs, bloom_index *index,
                            const index_generation *generation, int key){
  int rc;
  *pairs = (index_pairs){.key = &index->config.keys[key],
                         .hash_bits = generation->keys[key].hash_bits};
  assert( (pairs->hash_bits>0)==index_properties_of(pairs->key)->has_hash_bits );
  if( pairs->key->kind==INDEX_KEY_ZONES ){
    pairs->zones = bloom_index_zones_new(index, generation, key);
    return pairs->zones ? SQLITE_OK : SQLITE_NOMEM;
  }
  if( !index_properties_of(pairs->key)->has_lists ) return SQLITE_OK;
  rc = bloom_index_lists_read(index, generation, key, &pairs->lists);
  if( rc!=SQLITE_OK ) return rc;
  pairs->has = bloom_malloc_zeros((pairs->lists->num_lists/64 + 1) * sizeof(*pairs->has));
  return pairs->has ? SQLITE_OK : SQLITE_NOMEM;
}

void bloom_index_pairs_free(index_pairs *pairs){
  sqlite3_free(pairs->zones);
  sqlite3_free(pairs->gaps);
  sqlite3_free(pairs->chunks);
  sqlite3_free(pairs->list);
  sqlite3_free(pairs->has);
  memset(pairs, 0, sizeof(*pairs));
}

/* Makes room for so many pairs more. */
static int pairs_grow(index_pairs *pairs, size_t num_more){
  return bloom_grow(&pairs->list, pairs->num_listed + num_more, &pairs->max_listed,
                    sizeof(*pairs->list));
}

/* Appends the pairs, of whole blocks, to their chains. */
static int pairs_chain(index_pairs *pairs){
  size_t i;
  int rc;
  assert( pairs->first_of_block==pairs->num_listed );
  if( pairs->gaps==NULL ){
    pairs->gaps = bloom_malloc_zeros(pairs->lists->num_lists * sizeof(*pairs->gaps));
    if( pairs->gaps==NULL ) return SQLITE_NOMEM;
  }
  rc = bloom_grow(&pairs->chunks, pairs->num_bytes + PAIRS_CHUNK_BYTES*pairs->num_listed,
                  &pairs->max_bytes, 1);
  if( rc!=SQLITE_OK ) return rc;
  for(i=0; i<pairs->num_listed; i++){
    index_gaps *gaps = &pairs->gaps[pairs->list[i] >> INDEX_PAIR_BLOCK_BITS];
    const uint32_t block = (uint32_t)pairs->list[i] & INDEX_PAIR_BLOCK_MASK;
    uint32_t gap = block - gaps->block; /* modulo 2^32 */
    assert( pairs->list[i]>>INDEX_PAIR_BLOCK_BITS<pairs->lists->num_lists );
    /* Ids ascend, but spans are numbered as they came, and new rows follow changed ones. */
    pairs->is_unordered |= gaps->end>0 && block<=gaps->block;
    gaps->block = block;
    do{
      if( gaps->end%PAIRS_CHUNK_BYTES==0 ){
        const uint32_t next = (uint32_t)pairs->num_bytes;
        if( gaps->end==0 ) gaps->first = next;
        else bloom_store32_le(pairs->chunks + gaps->end - PAIRS_CHUNK_BYTES, next);
        gaps->end = next + 4;
        pairs->num_bytes += PAIRS_CHUNK_BYTES;
      }
      pairs->chunks[gaps->end++] = (uint8_t)(gap>0x7f ? gap | 0x80 : gap);
      gap >>= 7;
    }while( gap>0 );
  }
  assert( pairs->num_bytes<=pairs->max_bytes && pairs->num_bytes<=UINT32_MAX );
  pairs->num_listed = pairs->first_of_block = 0;
  return SQLITE_OK;
}

/* Forgets which lists the block at hand is in. */
static void pairs_end_block(index_pairs *pairs){
  size_t i;
  for(i=pairs->first_of_block; i<pairs->num_listed; i++){
    pairs->has[pairs->list[i] >> INDEX_PAIR_BLOCK_BITS >> 6] = 0;
  }
  pairs->first_of_block = pairs->num_listed;
}

/* Adds the lists of a text. */
static int pairs_add_text(index_pairs *pairs, uint32_t block, sqlite3_value *value){
  const uint32_t any = bloom_lists_any(pairs->lists);
  const int type = sqlite3_value_type(value);
  char digits[24];
  const uint8_t *text = type==SQLITE_INTEGER ? (const uint8_t *)digits : NULL;
  uint32_t numbers[BLOOM_TEXT_ROOM];
  size_t num_bytes = 0, num_numbers = 0, i;
  bloom_text reading;
  int rc = SQLITE_OK;
  assert( pairs->has );
  if( block!=pairs->block ){
    pairs_end_block(pairs);
    if( pairs->num_listed>=INDEX_LISTED_PAIRS ) rc = pairs_chain(pairs);
    pairs->block = block;
  }
  if( type==SQLITE_INTEGER ){
    sqlite3_snprintf(sizeof(digits), digits, "%lld", sqlite3_value_int64(value));
    num_bytes = strlen(digits);
  }else if( type==SQLITE_TEXT ){
    text = sqlite3_value_text(value);
    num_bytes = text ? (size_t)sqlite3_value_bytes(value) : 0;
  }
  bloom_text_begin(&reading, text, num_bytes, index_serves(pairs->key, INDEX_EXPRESSION));
  /* A REAL or BLOB has no grams and may match, as may a TEXT without memory: it is always read. */
  if( text==NULL && type!=SQLITE_NULL && !(pairs->has[any/64] >> any%64 & 1) ){
    pairs->has[any/64] |= (uint64_t)1 << any%64;
    numbers[num_numbers++] = any;
  }
  while( rc==SQLITE_OK && (rc = pairs_grow(pairs, num_numbers))==SQLITE_OK ){
    for(i=0; i<num_numbers; i++){
      pairs->list[pairs->num_listed++] = (uint64_t)numbers[i] << INDEX_PAIR_BLOCK_BITS | block;
    }
    if( !bloom_text_is_open(&reading) ) break;
    num_numbers = bloom_text_next_lists(&reading, pairs->lists, pairs->has, numbers);
  }
  return rc;
}

int bloom_index_pairs_add(index_pairs *pairs, uint32_t block, sqlite3_value *value, int *is_found){
  const uint32_t hash_bits = pairs->hash_bits;
  bloom_key_hashes hashes;
  int i, rc;
  assert( block<=INDEX_PAIR_BLOCK_MASK && !pairs->is_taken );
  switch( pairs->key->kind ){
    case INDEX_KEY_HASHES: break;
    case INDEX_KEY_TEXTS: case INDEX_KEY_REGEXP: return pairs_add_text(pairs, block, value);
    case INDEX_KEY_ZONES: return bloom_index_zones_add(pairs->zones, block, value, is_found);
  }
  assert( hash_bits>0 && hash_bits<=INDEX_MAX_HASH_BITS );
  rc = bloom_hashes_of_value(NULL, pairs->key->equality, value, BLOOM_TO_STORE, &hashes);
  if( rc==SQLITE_OK ) rc = pairs_grow(pairs, BLOOM_MAX_KEY_HASHES);
  for(i=0; rc==SQLITE_OK && i<hashes.num_hashes; i++){
    pairs->list[pairs->num_listed++] = hashes.hashes[i] >> (64 - hash_bits) << INDEX_PAIR_BLOCK_BITS
        | block;
  }
  return rc;
}

int bloom_index_pairs_add_run(index_pairs *pairs, const index_column *column, int run){
  index_entry_list list;
  index_union *lists;
  uint32_t i;
  int is_found, rc = bloom_index_union_start(&lists, column->index, column->key, column->of_key,
                                             (uint64_t)1 << run);
  assert( pairs->lists==NULL && !pairs->is_taken );
  while( rc==SQLITE_OK
        && (rc = bloom_index_union_next(lists, &list, &is_found))==SQLITE_OK && is_found ){
    const uint64_t first = list.token << INDEX_PAIR_BLOCK_BITS
      | (uint64_t)list.segment*BLOOM_SEGMENT_BLOCKS;
    rc = pairs_grow(pairs, list.num_blocks);
    for(i=0; i<list.num_blocks && rc==SQLITE_OK; i++){
      pairs->list[pairs->num_listed++] = first + list.blocks[i];
    }
  }
  sqlite3_free(lists);
  return rc;
}

/* -- Sorting ---------------------------------------------------------------------------------- */

static int pairs_compare(const void *a, const void *b){
  const uint64_t of_a = *(const uint64_t *)a, of_b = *(const uint64_t *)b;
  return (of_a>of_b) - (of_a<of_b);
}

/* Sorts many pairs by the bits in which they differ, digit after digit from the lowest; by those of
** blocks only if blocks do not ascend. */
static int pairs_sort_many(index_pairs *pairs){
  const uint64_t mask = INDEX_PAIR_BLOCK_MASK, digits = ((uint64_t)1 << PAIRS_DIGIT_BITS) - 1;
  const size_t num_pairs = pairs->num_listed;
  uint64_t *other = sqlite3_malloc64(pairs->max_listed * sizeof(*other));
  uint64_t differ = 0;
  size_t i;
  int shift = INDEX_PAIR_BLOCK_BITS;
  if( other==NULL ) return SQLITE_NOMEM;
  for(i=1; i<num_pairs; i++){
    differ |= pairs->list[i] ^ pairs->list[0];
    if( (pairs->list[i] & mask)<(pairs->list[i-1] & mask) ) shift = 0;
  }
  for(; shift<64 && differ>>shift; shift+=PAIRS_DIGIT_BITS){
    size_t first[1 << PAIRS_DIGIT_BITS] = {0}, sum = 0;
    uint64_t *from = pairs->list;
    for(i=0; i<num_pairs; i++) first[from[i] >> shift & digits]++;
    for(i=0; i<=digits; i++){
      const size_t num = first[i];
      first[i] = sum;
      sum += num;
    }
    for(i=0; i<num_pairs; i++) other[first[from[i] >> shift & digits]++] = from[i];
    pairs->list = other;
    other = from;
  }
  sqlite3_free(other);
  return SQLITE_OK;
}

/* Sorts pairs, and leaves each once. */
static int pairs_sort(index_pairs *pairs){
  size_t i, num_left = 0;
  if( pairs->num_listed>=PAIRS_FEW ){
    const int rc = pairs_sort_many(pairs);
    if( rc!=SQLITE_OK ) return rc;
  }else if( pairs->num_listed>0 ){
    qsort(pairs->list, pairs->num_listed, sizeof(pairs->list[0]), pairs_compare);
  }
  for(i=0; i<pairs->num_listed; i++){
    assert( i==0 || pairs->list[num_left-1]<=pairs->list[i] );
    if( i>0 && pairs->list[i]==pairs->list[num_left-1] ) continue;
    pairs->list[num_left++] = pairs->list[i];
  }
  pairs->num_listed = num_left;
  return SQLITE_OK;
}

/* -- Taking ----------------------------------------------------------------------------------- */

/* Replaces the pairs in list[] by those of a chain. */
static int pairs_unchain(index_pairs *pairs, uint32_t token){
  const index_gaps gaps = pairs->gaps[token];
  uint32_t chunk = gaps.first, block = 0, gap = 0, shift = 0;
  pairs->num_listed = pairs->num_taken = 0;
  assert( gaps.first<=gaps.end && gaps.end<=pairs->num_bytes );
  while( chunk<gaps.end ){
    const int is_last = gaps.end - chunk<=PAIRS_CHUNK_BYTES;
    const uint8_t *next = pairs->chunks + chunk + 4;
    const uint8_t *const end = pairs->chunks + (is_last ? gaps.end : chunk + PAIRS_CHUNK_BYTES);
    const int rc = pairs_grow(pairs, PAIRS_CHUNK_BYTES);
    uint64_t *to = pairs->list + pairs->num_listed;
    if( rc!=SQLITE_OK ) return rc;
    for(; next<end; next++){
      gap |= (*next & 0x7fu) << shift;
      shift += 7;
      if( *next>0x7f ) continue;
      assert( gap>0 || to==pairs->list || pairs->is_unordered );
      block += gap;
      gap = shift = 0;
      *to++ = (uint64_t)token << INDEX_PAIR_BLOCK_BITS | block;
    }
    pairs->num_listed = (size_t)(to - pairs->list);
    chunk = is_last ? gaps.end : bloom_load32_le(pairs->chunks + chunk);
  }
  assert( shift==0 ); /* the last gap is whole */
  return pairs->is_unordered ? pairs_sort(pairs) : SQLITE_OK;
}

uint64_t bloom_index_pairs_mean_gap(const index_pairs *pairs, uint32_t end_block){
  const uint64_t num_tokens = pairs->lists ? pairs->lists->num_lists
      : (uint64_t)1 << pairs->hash_bits;
  /* Most chains are one chunk. */
  const uint64_t num_lists = pairs->num_listed + pairs->num_bytes/PAIRS_CHUNK_BYTES;
  return num_tokens*bloom_entries_num_segments(end_block)/(num_lists + 1) + 1;
}

int bloom_index_pairs_next(void *source, index_entry_list *list, int *is_found){
  index_pairs *pairs = source;
  const uint64_t *next;
  uint64_t pair;
  int rc = SQLITE_OK;
  if( !pairs->is_taken ){
    pairs->is_taken = 1;
    if( pairs->has ) pairs_end_block(pairs);
    rc = pairs->gaps ? pairs_chain(pairs) : pairs_sort(pairs);
  }
  while( rc==SQLITE_OK && pairs->num_taken==pairs->num_listed
        && pairs->gaps && pairs->next_token<pairs->lists->num_lists ){
    rc = pairs_unchain(pairs, pairs->next_token++);
  }
  *is_found = rc==SQLITE_OK && pairs->num_taken<pairs->num_listed;
  if( !*is_found ){
    sqlite3_free(pairs->gaps);
    sqlite3_free(pairs->chunks);
    *pairs = (index_pairs){.key = pairs->key, .zones = pairs->zones, .has = pairs->has,
                           .hash_bits = pairs->hash_bits, .lists = pairs->lists,
                           .list = pairs->list, .max_listed = pairs->max_listed};
    return rc;
  }
  next = pairs->list + pairs->num_taken;
  pair = *next;
  list->token = pair >> INDEX_PAIR_BLOCK_BITS;
  list->segment = ((uint32_t)pair & INDEX_PAIR_BLOCK_MASK) / BLOOM_SEGMENT_BLOCKS;
  list->num_blocks = 0;
  do{
    assert( list->num_blocks<BLOOM_SEGMENT_BLOCKS && (list->num_blocks==0 || next[-1]<next[0]) );
    list->blocks[list->num_blocks++] = (uint16_t)(*next++ % BLOOM_SEGMENT_BLOCKS);
  }while( next<pairs->list + pairs->num_listed && *next>>BLOOM_SEGMENT_LG==pair>>BLOOM_SEGMENT_LG );
  pairs->num_taken = (size_t)(next - pairs->list);
  return SQLITE_OK;
}
