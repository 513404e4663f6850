/*
** Zones; zone.h describes them.
*/
#include "zone.h"

#include <string.h>

#include "entries.h"

/* Classes; the last one is above every value. */
enum { CLASS_NULL = 0, CLASS_NUMBER = 1, CLASS_TEXT = 2, CLASS_BLOB = 3, CLASS_ABOVE = 255 };

#define ZONE_NOTHING {{{CLASS_ABOVE}}, {{CLASS_NULL}}}
const bloom_zone_span bloom_zone_nothing = ZONE_NOTHING;
const bloom_zone_span bloom_zone_everything = {{{CLASS_NUMBER}}, {{CLASS_ABOVE}}};
const bloom_zone_span bloom_zone_of_null = {{{CLASS_NULL}}, {{CLASS_NULL}}};
const bloom_zone_span bloom_zone_of_texts = {{{CLASS_TEXT}}, {{CLASS_BLOB}}};
const bloom_zone_span bloom_zone_of_blobs = {{{CLASS_BLOB}}, {{CLASS_BLOB}}};

const bloom_zone bloom_zone_empty = {{ZONE_NOTHING, ZONE_NOTHING, ZONE_NOTHING}};

/* -- Keys ------------------------------------------------------------------------------------ */

bloom_zone_span bloom_zone_of_number(double real, int is_inexact){
  const uint64_t step = is_inexact ? 1 : 0;
  bloom_zone_span span = {{{CLASS_NUMBER}}, {{CLASS_NUMBER}}};
  uint64_t bits;
  assert( real==real );
  real += 0.0; /* -0.0 is 0.0 */
  memcpy(&bits, &real, sizeof(bits));
  /* Unsigned, in the order of REALs: the sign bit turned, or all bits of a negative number. */
  bits = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
  bloom_store64_be(span.min.bytes + 1, bits - step);
  bloom_store64_be(span.max.bytes + 1, bits + step);
  return span;
}

bloom_zone_span bloom_zone_of_text(const uint8_t *text, size_t num_bytes, bloom_zone_order order,
                                   int is_ascii){
  bloom_zone_span span = {{{CLASS_TEXT}}, {{0}}};
  size_t i;
  assert( text || num_bytes==0 );
  /* RTRIM compares without the blanks at the end. */
  while( order==BLOOM_ZONE_RTRIM && num_bytes>0 && text[num_bytes-1]==' ' ) num_bytes--;
  for(i=0; i<num_bytes && i<BLOOM_ZONE_TEXT_BYTES; i++){
    uint8_t byte = text[i];
    if( is_ascii && byte>=0x80 ){
      span.max = span.min;
      memset(span.max.bytes + 1 + i, 0xff, BLOOM_ZONE_TEXT_BYTES - i);
      return span;
    }
    if( order==BLOOM_ZONE_NOCASE ){
      /* Behind a NUL in both texts NOCASE compares their lengths alone. */
      if( byte==0 ) break;
      if( byte>='A' && byte<='Z' ) byte = (uint8_t)(byte + ('a' - 'A'));
    }
    span.min.bytes[1 + i] = byte;
  }
  span.max = span.min;
  return span;
}

bloom_zone_span bloom_zone_hull(bloom_zone_span a, bloom_zone_span b){
  if( bloom_zone_compare(&b.min, &a.min)<0 ) a.min = b.min;
  if( bloom_zone_compare(&b.max, &a.max)>0 ) a.max = b.max;
  return a;
}

bloom_zone_value bloom_zone_value_of(const bloom_zone_key *key){
  bloom_zone_value value = {.kind = BLOOM_ZONE_NO_VALUE};
  if( key->bytes[0]==CLASS_NUMBER || key->bytes[0]==CLASS_NULL ){
    uint64_t bits = bloom_load64_be(key->bytes + 1);
    bits = bits >> 63 ? bits & ~((uint64_t)1 << 63) : ~bits;
    memcpy(&value.real, &bits, sizeof(bits));
    if( key->bytes[0]==CLASS_NULL ) value.real = -1e300*1e300;
    if( value.real==value.real ) value.kind = BLOOM_ZONE_NUMBER; /* no NaN */
  }
  if( key->bytes[0]==CLASS_TEXT ){
    value.kind = BLOOM_ZONE_TEXT;
    value.num_bytes = BLOOM_ZONE_TEXT_BYTES;
    memcpy(value.text, key->bytes + 1, BLOOM_ZONE_TEXT_BYTES);
    while( value.num_bytes>0 && (value.text[value.num_bytes-1]==0
                                 || value.text[value.num_bytes-1]==0xff) ) value.num_bytes--;
  }
  return value;
}

/* -- Zones ----------------------------------------------------------------------------------- */

/* Returns how far b lies above a, as the difference of two large numbers. */
static bloom_zone_key zone_gap(const bloom_zone_key *a, const bloom_zone_key *b){
  bloom_zone_key gap;
  int i, borrow = 0;
  for(i=(int)sizeof(gap.bytes)-1; i>=0; i--){
    const int byte = b->bytes[i] - a->bytes[i] - borrow;
    borrow = byte<0;
    gap.bytes[i] = (uint8_t)byte;
  }
  return gap;
}

int bloom_zone_is_there(const bloom_zone *zone){
  return !bloom_zone_is_empty(&zone->spans[0]) || !bloom_zone_is_empty(&zone->spans[2]);
}

int bloom_zone_add(bloom_zone *zone, bloom_zone_span span){
  bloom_zone_span spans[3] = {zone->spans[0], zone->spans[1], span};
  size_t num_spans;
  if( bloom_zone_has(zone, &span) ) return 0;
  if( span.max.bytes[0]==CLASS_NULL ){
    zone->spans[2] = span;
    return 1;
  }
  num_spans = bloom_zone_sort(spans, 3);
  if( num_spans==3 ){
    const bloom_zone_key below = zone_gap(&spans[0].max, &spans[1].min);
    const bloom_zone_key above = zone_gap(&spans[1].max, &spans[2].min);
    const int is_above = bloom_zone_compare(&above, &below)>0; /* the larger gap */
    if( is_above ) spans[0] = bloom_zone_hull(spans[0], spans[1]);
    spans[1] = is_above ? spans[2] : bloom_zone_hull(spans[1], spans[2]);
  }
  zone->spans[0] = spans[0];
  zone->spans[1] = num_spans>1 ? spans[1] : bloom_zone_nothing;
  assert( bloom_zone_has(zone, &span) );
  assert( num_spans==1 || bloom_zone_compare(&zone->spans[0].max, &zone->spans[1].min)<0 );
  return 1;
}

void bloom_zone_unite(bloom_zone *zone, const bloom_zone *other){
  int i;
  for(i=0; i<3; i++){
    if( !bloom_zone_is_empty(&other->spans[i]) ) bloom_zone_add(zone, other->spans[i]);
  }
}

int bloom_zone_has(const bloom_zone *zone, const bloom_zone_span *span){
  int i;
  assert( !bloom_zone_is_empty(span) );
  for(i=0; i<3; i++){
    if( bloom_zone_compare(&zone->spans[i].min, &span->min)<=0
     && bloom_zone_compare(&span->max, &zone->spans[i].max)<=0 ) return 1;
  }
  return 0;
}

/* -- Packed ---------------------------------------------------------------------------------- */

/* A row, little-endian:
**   0   u64  checksum of the rest (bloom_entries_checksum())
**   8   u32  a bit for each zone that has a first span
**   12  u32  a bit for each that has a second one
**   16  u32  a bit for each that has NULL
**   20  u8   p: with so many bytes all keys begin
**   21  u8   w: so many are kept of each key behind these
**   22  ..   the p bytes; then the smallest and the largest key of each span of values
** Behind these bytes a key has zeros. */

size_t bloom_zone_row_pack(const bloom_zone *zones, uint64_t number, uint64_t rowid, uint8_t *out){
  const bloom_zone_key *keys[4*BLOOM_ZONES_PER_ROW];
  uint32_t bits[3] = {0, 0, 0}, num_keys = 0, kept = 0, prefix = sizeof(bloom_zone_key), i, j;
  uint8_t *next = out + BLOOM_ZONE_ROW_HEAD;
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++){
    for(j=0; j<3; j++){
      if( bloom_zone_is_empty(&zones[i].spans[j]) ) continue;
      bits[j] |= 1u << i;
      if( j==2 ) continue;
      keys[num_keys++] = &zones[i].spans[j].min;
      keys[num_keys++] = &zones[i].spans[j].max;
    }
  }
  for(i=0; i<num_keys; i++){
    for(j=sizeof(bloom_zone_key); j>kept && keys[i]->bytes[j-1]==0; j--){}
    kept = j;
    while( memcmp(keys[0]->bytes, keys[i]->bytes, prefix)!=0 ) prefix--;
  }
  if( prefix>kept ) prefix = kept;
  for(i=0; i<3; i++) bloom_store32_le(out + 8 + 4*(size_t)i, bits[i]);
  out[20] = (uint8_t)prefix;
  out[21] = (uint8_t)(kept - prefix);
  if( num_keys>0 ) memcpy(next, keys[0]->bytes, prefix);
  next += prefix;
  for(i=0; i<num_keys; i++, next+=kept-prefix){
    memcpy(next, keys[i]->bytes + prefix, kept - prefix);
  }
  assert( next<=out + BLOOM_ZONE_ROW_BYTES );
  bloom_store64_le(out, bloom_entries_checksum(out, (size_t)(next - out), number, rowid));
  return (size_t)(next - out);
}

int bloom_zone_row_unpack(const uint8_t *bytes, size_t num_bytes, uint64_t number, uint64_t rowid,
                          bloom_zone *zones){
  const uint8_t *next, *end = bytes + num_bytes;
  bloom_zone_key key = {{0}};
  size_t prefix, kept;
  uint32_t i, j;
  if( num_bytes<BLOOM_ZONE_ROW_HEAD || num_bytes>BLOOM_ZONE_ROW_BYTES
     || bloom_load64_le(bytes)!=bloom_entries_checksum(bytes, num_bytes, number, rowid)
     || (size_t)bytes[20] + bytes[21]>sizeof(bloom_zone_key)
     || bytes[20]>num_bytes - BLOOM_ZONE_ROW_HEAD ) return 0;
  prefix = bytes[20];
  kept = bytes[21];
  assert( prefix + kept<=sizeof(key) );
  memcpy(key.bytes, bytes + BLOOM_ZONE_ROW_HEAD, prefix);
  next = bytes + BLOOM_ZONE_ROW_HEAD + prefix;
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++){
    zones[i] = bloom_zone_empty;
    if( bloom_load32_le(bytes + 16) >> i & 1 ) zones[i].spans[2] = bloom_zone_of_null;
    for(j=0; j<2; j++){
      bloom_zone_span *span = &zones[i].spans[j];
      if( (bloom_load32_le(bytes + 8 + 4*(size_t)j) >> i & 1)==0 ) continue;
      if( (size_t)(end - next)<2*kept ) return 0;
      memcpy(key.bytes + prefix, next, kept);
      span->min = key;
      memcpy(key.bytes + prefix, next + kept, kept);
      span->max = key;
      next += 2*kept;
      if( bloom_zone_is_empty(span) || bloom_zone_is_empty(&zones[i].spans[0]) ) return 0;
    }
  }
  return next==end;
}

/* -- Asking ---------------------------------------------------------------------------------- */

size_t bloom_zone_sort(bloom_zone_span *spans, size_t num_spans){
  size_t gap = 1, i, j, num_left = 0;
  while( gap<num_spans/3 ) gap = 3*gap + 1;
  /* Shell's sort [Knuth, TAOCP 3, 5.2.1]. */
  for(; gap>0; gap/=3){
    for(i=gap; i<num_spans; i++){
      const bloom_zone_span span = spans[i];
      for(j=i; j>=gap && bloom_zone_compare(&spans[j-gap].min, &span.min)>0; j-=gap){
        spans[j] = spans[j-gap];
      }
      spans[j] = span;
    }
  }
  for(i=0; i<num_spans; i++){
    if( bloom_zone_is_empty(&spans[i]) ) continue;
    if( num_left>0 && bloom_zone_compare(&spans[i].min, &spans[num_left-1].max)<=0 ){
      spans[num_left-1] = bloom_zone_hull(spans[num_left-1], spans[i]);
    }else{
      spans[num_left++] = spans[i];
    }
  }
  return num_left;
}

int bloom_zone_meets(const bloom_zone_span *span, const bloom_zone_span *asked, size_t num_asked){
  /* the first of those asked that does not end below the span */
  size_t first = 0, last = num_asked;
  if( bloom_zone_is_empty(span) ) return 0;
  while( first<last ){
    const size_t middle = first + (last - first)/2;
    if( bloom_zone_compare(&asked[middle].max, &span->min)<0 ) first = middle + 1;
    else last = middle;
  }
  return first<num_asked && bloom_zone_compare(&asked[first].min, &span->max)<=0;
}
