/*
** What the fuzz targets share; fuzz.h describes it.
*/
#include "fuzz.h"

int fuzz_is_replay = 0;

int fuzz_seldom(const uint8_t *data, size_t num_bytes, uint32_t period){
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  size_t i;
  if( fuzz_is_replay && period>16 ) period = 16;
  for(i=0; i<num_bytes; i++) hash = (hash ^ data[i]) * 1099511628211u;
  return (uint32_t)(hash >> 32) % period==0;
}

uint8_t *fuzz_exact(const uint8_t *bytes, size_t num_bytes){
  /* malloc(0) may give NULL, which is no address to compare with. */
  uint8_t *exact = malloc(num_bytes ? num_bytes : 1);
  if( exact==NULL ) abort();
  if( num_bytes==0 ) return exact;
  if( bytes ){
    memcpy(exact, bytes, num_bytes);
  }else{
    memset(exact, 0, num_bytes);
  }
  return exact;
}

uint32_t reference_hash(const uint8_t *key, size_t num_bytes){
  const uint32_t m = 0xc6a4a793;
  uint32_t h = 0xbc9f1d34 ^ (uint32_t)(num_bytes * m);
  size_t i;
  for(i=0; i+4<=num_bytes; i+=4){
    h += key[i] + key[i+1] * 0x100u + key[i+2] * 0x10000u + key[i+3] * 0x1000000u;
    h *= m;
    h ^= h >> 16;
  }
  if( i<num_bytes ){
    if( i+2<num_bytes ) h += key[i+2] * 0x10000u;
    if( i+1<num_bytes ) h += key[i+1] * 0x100u;
    h += key[i];
    h *= m;
    h ^= h >> 24;
  }
  return h;
}

size_t reference_num_bytes(uint64_t num_keys, uint32_t sixteenths){
  uint64_t bits = (num_keys * sixteenths + 15) / 16;
  if( bits<64 ) bits = 64;
  return (size_t)((bits + 7) / 8 + 1);
}

uint32_t reference_num_probes(uint32_t sixteenths){
  const uint32_t num_probes = sixteenths * 69 / 1600;
  return num_probes<1 ? 1 : num_probes>30 ? 30 : num_probes;
}

uint32_t reference_position(uint32_t digest, uint32_t probe, uint64_t num_bits){
  const uint32_t delta = digest / 0x20000 + digest * 0x8000;
  return (uint32_t)((uint32_t)(digest + probe * delta) % num_bits);
}

void reference_add(uint8_t *filter, size_t num_bytes, uint32_t digest){
  uint32_t i;
  for(i=0; i<filter[num_bytes-1]; i++){
    const uint32_t position = reference_position(digest, i, (num_bytes-1) * (uint64_t)8);
    filter[position/8] = (uint8_t)(filter[position/8] | 1 << position%8);
  }
}

int reference_may_contain(const uint8_t *filter, size_t num_bytes, uint32_t digest){
  uint32_t i;
  if( num_bytes<2 ) return 0;
  if( filter[num_bytes-1]>30 ) return 1;
  for(i=0; i<filter[num_bytes-1]; i++){
    const uint32_t position = reference_position(digest, i, (num_bytes-1) * (uint64_t)8);
    if( (filter[position/8] & 1 << position%8)==0 ) return 0;
  }
  return 1;
}
