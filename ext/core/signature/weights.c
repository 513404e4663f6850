/*
** What pieces weigh, and how it is learned; weights.h says why.
*/
#include "weights.h"

#include <string.h>

/* Bytes of text that a block is meant for, so that the blocks, with all that is stored beside
** them, take at most 12 % of it. */
#define WEIGHTS_CHUNK_BYTES(bits_per_block) (7*(uint64_t)(bits_per_block)/6)

/* Value 1 in every entry. */
#define WEIGHTS_ONE_PROBE 0x55

void bloom_weights_add(const uint8_t *weights, bloom_block *block, const uint64_t *hashes,
                       size_t num_hashes){
  size_t i;
  for(i=0; i<num_hashes; i++){
    uint16_t bits[4];
    uint32_t num_bits = bloom_signature_piece_bits(hashes[i],
                                                   bloom_weights_probes(weights, hashes[i]),
                                                   block->bits_per_block, bits);
    assert( num_bits<=4 );
    while( num_bits>0 ) bloom_block_set(block, bits[--num_bits]);
  }
}

/* Appends a bit that is not there yet. */
static size_t weights_append(uint16_t bit, uint16_t *bits, size_t num_bits){
  size_t i;
  for(i=0; i<num_bits; i++){
    if( bits[i]==bit ) return num_bits;
  }
  bits[num_bits] = bit;
  return num_bits + 1;
}

size_t bloom_weights_bits(const uint8_t *weights, uint32_t bits_per_block, const uint64_t *hashes,
                          size_t num_hashes, uint16_t *bits, size_t num_bits, size_t max_bits){
  uint32_t num_probes;
  for(num_probes=4; num_probes>0; num_probes/=2){
    size_t i;
    for(i=0; i<num_hashes; i++){
      uint16_t of_piece[4];
      uint32_t j;
      if( bloom_weights_probes(weights, hashes[i])!=num_probes ) continue;
      bloom_signature_piece_bits(hashes[i], num_probes, bits_per_block, of_piece);
      for(j=0; j<num_probes && num_bits<max_bits; j++){
        num_bits = weights_append(of_piece[j], bits, num_bits);
      }
    }
  }
  return num_bits;
}

/* -- Learning -------------------------------------------------------------------- */

void bloom_lesson_begin(bloom_lesson *lesson, uint32_t bits_per_block){
  memset(lesson, 0, sizeof(*lesson));
  lesson->bits_per_block = bits_per_block;
}

/* The number of the chunk at hand, from 1 on; 0 if no more are counted. */
static uint32_t lesson_chunk(bloom_lesson *lesson){
  if( !lesson->is_chunk_open ){
    if( lesson->num_chunks==BLOOM_LESSON_MAX_CHUNKS ) return 0;
    lesson->num_chunks++;
    lesson->is_chunk_open = 1;
    lesson->chunk_bytes = 0;
  }
  return lesson->num_chunks;
}

void bloom_lesson_add(bloom_lesson *lesson, const uint64_t *hashes, size_t num_hashes){
  const uint32_t chunk = lesson_chunk(lesson);
  size_t i;
  if( chunk==0 ) return;
  for(i=0; i<num_hashes; i++){
    const uint32_t entry = bloom_weights_entry(hashes[i]);
    if( lesson->last_with[entry]!=chunk ){
      lesson->last_with[entry] = (uint16_t)chunk;
      lesson->num_with[entry]++;
    }
  }
}

void bloom_lesson_end_row(bloom_lesson *lesson, uint64_t num_bytes){
  if( lesson_chunk(lesson)==0 ) return;
  lesson->chunk_bytes += num_bytes;
  if( lesson->chunk_bytes>=WEIGHTS_CHUNK_BYTES(lesson->bits_per_block) ) lesson->is_chunk_open = 0;
}

/* The value of an entry that num_with chunks of num_chunks have; limit is t * num_chunks * 64. */
static uint32_t lesson_value(uint64_t num_with, uint64_t num_chunks, uint64_t limit){
  if( 5*num_with>4*num_chunks || 64*num_with>limit ) return 0;
  return 512*num_with>limit ? 1 : 4096*num_with>limit ? 2 : 3;
}

/* 1 if blocks have room for the entries' probes: half of a block's bits are set when there
** were ln 2 times as many. */
static int lesson_has_room(const bloom_lesson *lesson, uint64_t limit){
  const uint64_t room = (uint64_t)lesson->bits_per_block * lesson->num_chunks * 693/1000;
  uint64_t num_probes = 0; /* of all chunks */
  uint32_t i;
  for(i=0; i<BLOOM_WEIGHTS_ENTRIES; i++){
    num_probes += (uint64_t)lesson->num_with[i]
        * (1u << lesson_value(lesson->num_with[i], lesson->num_chunks, limit) >> 1);
  }
  return num_probes<=room;
}

int bloom_lesson_finish(const bloom_lesson *lesson, uint8_t weights[BLOOM_WEIGHTS_BYTES]){
  uint64_t limit = 0, step;
  uint32_t i;
  if( lesson->num_chunks<BLOOM_LESSON_MIN_CHUNKS ){
    memset(weights, WEIGHTS_ONE_PROBE, BLOOM_WEIGHTS_BYTES);
    return 0;
  }
  /* The largest for which there is room, bit by bit; above 64*64 chunks nothing changes. */
  for(step=(uint64_t)1<<28; step>0; step/=2){
    if( lesson_has_room(lesson, limit + step) ) limit += step;
  }
  memset(weights, 0, BLOOM_WEIGHTS_BYTES);
  for(i=0; i<BLOOM_WEIGHTS_ENTRIES; i++){
    weights[i/4] |= (uint8_t)(lesson_value(lesson->num_with[i], lesson->num_chunks,
                                           limit) << 2*(i%4));
  }
  return 1;
}
