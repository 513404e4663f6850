/*
** Values -> entries in memory.
*/
#include "index_merge.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_FIRST_ROOM 1024

/* Fewer are sorted by qsort(). */
#define PAIRS_FEW 4096
#define PAIRS_DIGIT_BITS 11

int bloom_index_pairs_start(index_pairs *pairs, const bloom_lists *lists){
  memset(pairs, 0, sizeof(*pairs));
  if( lists ){
    const size_t num_words = lists->num_lists/64 + 1;
    pairs->has = sqlite3_malloc64(num_words * sizeof(*pairs->has));
    if( pairs->has==NULL ) return SQLITE_NOMEM;
    memset(pairs->has, 0, num_words * sizeof(*pairs->has));
  }
  return SQLITE_OK;
}

void bloom_index_pairs_free(index_pairs *pairs){
  sqlite3_free(pairs->list);
  sqlite3_free(pairs->has);
  memset(pairs, 0, sizeof(*pairs));
}

/* Forgets which lists the block at hand is in. */
static void pairs_end_block(index_pairs *pairs){
  size_t i;
  for(i=pairs->first_of_block; pairs->has && i<pairs->num_pairs; i++){
    pairs->has[pairs->list[i] >> INDEX_PAIR_BLOCK_BITS >> 6] = 0;
  }
  pairs->first_of_block = pairs->num_pairs;
}

void bloom_index_pairs_clear(index_pairs *pairs){
  pairs_end_block(pairs);
  pairs->num_pairs = pairs->first_of_block = 0;
}

/* Makes room for more. */
static int pairs_reserve(index_pairs *pairs, size_t num_more){
  if( pairs->max_pairs - pairs->num_pairs<num_more ){
    const size_t max_pairs = 2*pairs->max_pairs + PAIRS_FIRST_ROOM + num_more;
    uint64_t *list = sqlite3_realloc64(pairs->list, max_pairs * sizeof(*list));
    if( list==NULL ) return SQLITE_NOMEM;
    pairs->list = list;
    pairs->max_pairs = max_pairs;
  }
  return SQLITE_OK;
}

/* Adds the lists of a text. */
static int pairs_add_text(index_pairs *pairs, const index_key *key, const bloom_lists *lists,
                          uint32_t block, sqlite3_value *value){
  uint32_t numbers[BLOOM_TEXT_ROOM];
  index_text text;
  size_t num_numbers, i;
  if( block!=pairs->block ) pairs_end_block(pairs);
  pairs->block = block;
  bloom_index_text_begin(&text, key, value);
  while( (num_numbers = bloom_index_text_next(&text, lists, numbers))>0 ){
    const int rc = pairs_reserve(pairs, num_numbers);
    if( rc!=SQLITE_OK ) return rc;
    for(i=0; i<num_numbers; i++){
      uint64_t *word = &pairs->has[numbers[i]/64];
      const uint64_t bit = (uint64_t)1 << numbers[i]%64;
      pairs->list[pairs->num_pairs] = (uint64_t)numbers[i] << INDEX_PAIR_BLOCK_BITS | block;
      pairs->num_pairs += (*word & bit)==0;
      *word |= bit;
    }
  }
  return SQLITE_OK;
}

int bloom_index_pairs_add(index_pairs *pairs, const index_key *key, uint32_t hash_bits,
                          const bloom_lists *lists, uint32_t block, sqlite3_value *value){
  bloom_key_hashes hashes;
  int i, rc;
  if( key->is_like ) return pairs_add_text(pairs, key, lists, block, value);
  rc = bloom_insert_hashes(key->equality, value, &hashes);
  if( rc==SQLITE_OK ) rc = pairs_reserve(pairs, BLOOM_MAX_KEY_HASHES);
  for(i=0; rc==SQLITE_OK && i<hashes.num_hashes; i++){
    pairs->list[pairs->num_pairs++] = hashes.hashes[i] >> (64 - hash_bits) << INDEX_PAIR_BLOCK_BITS
        | block;
  }
  return rc;
}

/* -- Sorting ---------------------------------------------------------------------------------- */

static int pairs_compare(const void *a, const void *b){
  const uint64_t of_a = *(const uint64_t *)a, of_b = *(const uint64_t *)b;
  return (of_a>of_b) - (of_a<of_b);
}

/* Sorts by the digit of `shift` bits and up, and keeps the order of equal ones. */
static void pairs_sort_by_digit(const uint64_t *from, uint64_t *to, size_t num_pairs, int shift){
  size_t first[1 << PAIRS_DIGIT_BITS] = {0}, i, sum = 0;
  for(i=0; i<num_pairs; i++) first[from[i] >> shift & ((1 << PAIRS_DIGIT_BITS) - 1)]++;
  for(i=0; i<(1 << PAIRS_DIGIT_BITS); i++){
    const size_t num = first[i];
    first[i] = sum;
    sum += num;
  }
  for(i=0; i<num_pairs; i++){
    to[first[from[i] >> shift & ((1 << PAIRS_DIGIT_BITS) - 1)]++] = from[i];
  }
}

/* Sorts many pairs by the bits in which they differ; by those of blocks only if blocks do not
** ascend. */
static int pairs_sort_many(index_pairs *pairs){
  const uint64_t mask = ((uint64_t)1 << INDEX_PAIR_BLOCK_BITS) - 1;
  uint64_t *other = sqlite3_malloc64(pairs->max_pairs * sizeof(*other));
  uint64_t differ = 0;
  size_t i;
  int shift = INDEX_PAIR_BLOCK_BITS;
  if( other==NULL ) return SQLITE_NOMEM;
  for(i=1; i<pairs->num_pairs; i++){
    differ |= pairs->list[i] ^ pairs->list[0];
    if( (pairs->list[i] & mask)<(pairs->list[i-1] & mask) ) shift = 0;
  }
  for(; shift<64 && differ>>shift; shift+=PAIRS_DIGIT_BITS){
    uint64_t *sorted = other;
    pairs_sort_by_digit(pairs->list, other, pairs->num_pairs, shift);
    other = pairs->list;
    pairs->list = sorted;
  }
  sqlite3_free(other);
  return SQLITE_OK;
}

int bloom_index_pairs_sort(index_pairs *pairs){
  size_t i, num_left = 0;
  int rc = SQLITE_OK;
  pairs_end_block(pairs);
  if( pairs->num_pairs==0 ) return SQLITE_OK;
  if( pairs->num_pairs>=PAIRS_FEW ) rc = pairs_sort_many(pairs);
  else qsort(pairs->list, pairs->num_pairs, sizeof(pairs->list[0]), pairs_compare);
  if( rc!=SQLITE_OK ) return rc;
  for(i=0; i<pairs->num_pairs; i++){
    if( i==0 || pairs->list[i]!=pairs->list[num_left-1] ) pairs->list[num_left++] = pairs->list[i];
  }
  pairs->num_pairs = pairs->first_of_block = num_left;
  return SQLITE_OK;
}
