/*
** Blocks in the making; block.h describes them.
*/
#include "block.h"

#include <string.h>

#include "../bits.h"

void bloom_block_clear(bloom_block *block, uint8_t *bytes, uint32_t bits_per_block){
  memset(bytes, 0, bits_per_block/8);
  *block = (bloom_block){bytes, bits_per_block, 0};
}

void bloom_block_resume(bloom_block *block, uint8_t *bytes, uint32_t bits_per_block){
  *block = (bloom_block){bytes, bits_per_block,
                         (uint32_t)bloom_count_bits(bytes, bits_per_block/8)};
}

void bloom_block_fill(bloom_block *block){
  memset(block->bytes, 0xff, block->bits_per_block/8);
  block->bits_set = block->bits_per_block;
}

void bloom_block_merge(bloom_block *block, const uint8_t *other){
  uint32_t i;
  for(i=0; i<block->bits_per_block/8; i++) block->bytes[i] |= other[i];
  block->bits_set = (uint32_t)bloom_count_bits(block->bytes, block->bits_per_block/8);
}
