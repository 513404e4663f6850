/*
** The classes of a text column and how they are cut; lists.h says what they are.
*/
#include "lists.h"

#include <string.h>

void bloom_lists_number(bloom_lists *lists){
  uint32_t next = 0, i;
  for(i=0; i<BLOOM_LISTS_CLASSES; i++){
    assert( lists->cut[i]<=BLOOM_LISTS_MAX_CUT );
    lists->base[i] = next;
    next += (uint32_t)1 << lists->cut[i];
  }
  lists->base[BLOOM_LISTS_CLASSES] = next++;
  for(i=0; i<BLOOM_LISTS_EDGES; i++){
    assert( lists->edge_bits[i]<=BLOOM_LISTS_MAX_EDGE_BITS );
    lists->edge_base[i] = next;
    next += (uint32_t)1 << lists->edge_bits[i];
  }
  lists->num_lists = next;
}

void bloom_lists_even(bloom_lists *lists, uint8_t cut){
  memset(lists->cut, cut, sizeof(lists->cut));
  memset(lists->edge_bits, 0, sizeof(lists->edge_bits));
  bloom_lists_number(lists);
}

void bloom_lists_pack(const bloom_lists *lists, uint8_t bytes[BLOOM_LISTS_BYTES]){
  uint32_t i, j;
  for(i=0; i<BLOOM_LISTS_CLASSES; i+=8, bytes+=3){
    uint32_t eight = 0;
    for(j=0; j<8; j++) eight |= (uint32_t)lists->cut[i + j] << 3*j;
    bytes[0] = (uint8_t)eight;
    bytes[1] = (uint8_t)(eight >> 8);
    bytes[2] = (uint8_t)(eight >> 16);
  }
  memcpy(bytes, lists->edge_bits, BLOOM_LISTS_EDGES);
}

int bloom_lists_unpack(bloom_lists *lists, const uint8_t bytes[BLOOM_LISTS_BYTES]){
  uint8_t cut[BLOOM_LISTS_CLASSES];
  uint32_t i, j;
  for(i=0; i<BLOOM_LISTS_CLASSES; i+=8, bytes+=3){
    const uint32_t eight = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;
    for(j=0; j<8; j++){
      cut[i + j] = (uint8_t)(eight >> 3*j & 7);
      if( cut[i + j]>BLOOM_LISTS_MAX_CUT ) return 0;
    }
  }
  for(i=0; i<BLOOM_LISTS_EDGES; i++) if( bytes[i]>BLOOM_LISTS_MAX_EDGE_BITS ) return 0;
  memcpy(lists->cut, cut, sizeof(cut));
  memcpy(lists->edge_bits, bytes, BLOOM_LISTS_EDGES);
  bloom_lists_number(lists);
  return 1;
}
