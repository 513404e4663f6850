/*
** What the fuzz targets share; fuzz.h describes it.
*/
#include "fuzz.h"

int fuzz_is_replay = 0;
const char *fuzz_label = NULL;

int fuzz_seldom(const uint8_t *data, size_t num_bytes, uint32_t period){
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  size_t i;
  if( fuzz_is_replay && period>16 ) period = 16;
  for(i=0; i<num_bytes; i++) hash = (hash ^ data[i]) * 1099511628211u;
  return (uint32_t)(hash >> 32) % period==0;
}

uint8_t *fuzz_exact(const uint8_t *bytes, size_t num_bytes){
  /* malloc(0) may return NULL, which is no address to compare with. */
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
