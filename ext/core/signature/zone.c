/*
** Zones; zone.h describes them.
*/
#include "zone.h"

#include <string.h>

#include "../bytes.h"

/* Classes; the first and the last are below and above every value. */
enum { CLASS_BELOW = 0, CLASS_NUMBER = 1, CLASS_TEXT = 2, CLASS_BLOB = 3, CLASS_ABOVE = 255 };

/* A key of a class with all other bytes alike. */
static bloom_zone_key zone_bound(uint8_t class, uint8_t byte){
  bloom_zone_key key;
  memset(key.bytes, byte, sizeof(key.bytes));
  key.bytes[0] = class;
  return key;
}

static int zone_compare(const bloom_zone_key *a, const bloom_zone_key *b){
  return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

static int zone_is_empty(const bloom_zone_span *span){
  return zone_compare(&span->min, &span->max)>0;
}

/* -- Keys --------------------------------------------------------------------------------- */

/* A REAL's bits as a number that has its order: without the sign, or all turned round. */
static uint64_t zone_ordered_bits(double real){
  uint64_t bits;
  real += 0.0; /* -0.0 is 0.0 */
  memcpy(&bits, &real, sizeof(bits));
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

bloom_zone_span bloom_zone_of_number(double real, int is_inexact){
  const uint64_t bits = zone_ordered_bits(real), step = is_inexact ? 1 : 0;
  bloom_zone_span span;
  span.min = span.max = zone_bound(CLASS_NUMBER, 0);
  bloom_store64_be(span.min.bytes + 1, bits - step);
  bloom_store64_be(span.max.bytes + 1, bits + step);
  return span;
}

bloom_zone_span bloom_zone_of_text(const uint8_t *text, size_t num_bytes, bloom_zone_order order,
                                   int is_ascii){
  bloom_zone_span span;
  size_t i;
  span.min = zone_bound(CLASS_TEXT, 0);
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
      /* Behind a NUL that both texts have NOCASE compares lengths alone. */
      if( byte==0 ) break;
      if( byte>='A' && byte<='Z' ) byte = (uint8_t)(byte + ('a' - 'A'));
    }
    span.min.bytes[1 + i] = byte;
  }
  span.max = span.min;
  return span;
}

bloom_zone_span bloom_zone_of_blob(void){
  return (bloom_zone_span){zone_bound(CLASS_BLOB, 0), zone_bound(CLASS_BLOB, 0)};
}

bloom_zone_span bloom_zone_all_texts(void){
  return (bloom_zone_span){zone_bound(CLASS_TEXT, 0), zone_bound(CLASS_TEXT, 0xff)};
}

bloom_zone_span bloom_zone_everything(void){
  return (bloom_zone_span){zone_bound(CLASS_BELOW, 0), zone_bound(CLASS_ABOVE, 0)};
}

bloom_zone_span bloom_zone_nothing(void){
  return (bloom_zone_span){zone_bound(CLASS_ABOVE, 0), zone_bound(CLASS_BELOW, 0)};
}

bloom_zone_span bloom_zone_hull(bloom_zone_span a, bloom_zone_span b){
  if( zone_compare(&b.min, &a.min)<0 ) a.min = b.min;
  if( zone_compare(&b.max, &a.max)>0 ) a.max = b.max;
  return a;
}

/* -- Zones --------------------------------------------------------------------------------- */

/* How far b lies above a, as the difference of two large numbers. */
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

/* Two spans for several sorted ones, cut at the largest gap. */
static bloom_zone zone_split(const bloom_zone_span *spans, uint32_t num_spans){
  bloom_zone zone = {{bloom_zone_nothing(), bloom_zone_nothing()}};
  bloom_zone_key largest = zone_bound(0, 0), max = zone_bound(0, 0);
  uint32_t i, cut = num_spans;
  for(i=0; i<num_spans; i++){
    if( i>0 && zone_compare(&spans[i].min, &max)>0 ){
      const bloom_zone_key gap = zone_gap(&max, &spans[i].min);
      if( zone_compare(&gap, &largest)>0 ){
        largest = gap;
        cut = i;
      }
    }
    if( zone_compare(&spans[i].max, &max)>0 ) max = spans[i].max;
  }
  for(i=0; i<num_spans; i++){
    bloom_zone_span *half = &zone.spans[i>=cut];
    *half = bloom_zone_hull(*half, spans[i]);
  }
  return zone;
}

/* Puts a span, if it is not empty, where it belongs among sorted ones; returns their number. */
static uint32_t zone_insert(bloom_zone_span *spans, uint32_t num_spans, bloom_zone_span span){
  uint32_t first = 0, last = num_spans;
  if( zone_is_empty(&span) ) return num_spans;
  /* Most tables ascend. */
  if( last>0 && zone_compare(&spans[last-1].min, &span.min)<=0 ) first = last;
  while( first<last ){
    const uint32_t middle = (first + last)/2;
    if( zone_compare(&spans[middle].min, &span.min)<=0 ) first = middle + 1;
    else last = middle;
  }
  memmove(spans + first + 1, spans + first, (num_spans - first) * sizeof(*spans));
  spans[first] = span;
  return num_spans + 1;
}

void bloom_zone_start(bloom_zone_builder *builder){
  builder->num_spans = 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): two spans of a builder that is empty */
void bloom_zone_add(bloom_zone_builder *builder, bloom_zone_span span){
  if( builder->num_spans==BLOOM_ZONE_ROWS ){
    const bloom_zone zone = bloom_zone_finish(builder);
    bloom_zone_start(builder);
    bloom_zone_add_zone(builder, &zone);
  }
  builder->num_spans = zone_insert(builder->spans, builder->num_spans, span);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
void bloom_zone_add_zone(bloom_zone_builder *builder, const bloom_zone *zone){
  bloom_zone_add(builder, zone->spans[0]);
  bloom_zone_add(builder, zone->spans[1]);
}

bloom_zone bloom_zone_finish(const bloom_zone_builder *builder){
  return zone_split(builder->spans, builder->num_spans);
}

int bloom_zone_widen(bloom_zone *zone, bloom_zone_span span){
  const bloom_zone before = *zone;
  bloom_zone_span spans[3];
  uint32_t num_spans = zone_insert(spans, 0, before.spans[0]);
  num_spans = zone_insert(spans, num_spans, before.spans[1]);
  *zone = zone_split(spans, zone_insert(spans, num_spans, span));
  return memcmp(zone, &before, sizeof(before))!=0;
}

int bloom_zone_has(const bloom_zone *zone, const bloom_zone_span *span){
  int i;
  for(i=0; i<2; i++){
    if( zone_compare(&zone->spans[i].min, &span->min)<=0
     && zone_compare(&span->max, &zone->spans[i].max)<=0 ){
      return 1;
    }
  }
  return zone_is_empty(span);
}

/* -- Packed -------------------------------------------------------------------------------- */

/* 1 if a text's key is no more, or hardly more, than what its first 8 bytes say. */
static int zone_is_narrow(const bloom_zone_key *key){
  const uint8_t *rest = key->bytes + 1 + BLOOM_ZONE_NARROW_BYTES;
  int i;
  for(i=0; i<BLOOM_ZONE_TEXT_BYTES - BLOOM_ZONE_NARROW_BYTES && rest[i]==rest[0]; i++){}
  return key->bytes[0]!=CLASS_TEXT
      || (i==BLOOM_ZONE_TEXT_BYTES - BLOOM_ZONE_NARROW_BYTES && (rest[0]==0 || rest[0]==0xff));
}

uint32_t bloom_zone_key_bytes(const bloom_zone *zone){
  int i;
  for(i=0; i<2; i++){
    if( !zone_is_narrow(&zone->spans[i].min) || !zone_is_narrow(&zone->spans[i].max) ){
      return BLOOM_ZONE_WIDE_BYTES;
    }
  }
  return BLOOM_ZONE_NARROW_BYTES;
}

void bloom_zone_pack(const bloom_zone *zone, int64_t last_id, uint32_t key_bytes, uint8_t *out){
  const size_t bound_bytes = 1 + (size_t)key_bytes;
  int i;
  bloom_store64_le(out, (uint64_t)last_id);
  out += 8;
  for(i=0; i<2; i++){
    memcpy(out, zone->spans[i].min.bytes, bound_bytes);
    memcpy(out + bound_bytes, zone->spans[i].max.bytes, bound_bytes);
    out += 2*bound_bytes;
  }
}

void bloom_zone_unpack(const uint8_t *bytes, uint32_t key_bytes, bloom_zone *zone,
                       int64_t *last_id){
  const size_t bound_bytes = 1 + (size_t)key_bytes;
  int i;
  *last_id = (int64_t)bloom_load64_le(bytes);
  bytes += 8;
  for(i=0; i<2; i++){
    bloom_zone_span *span = &zone->spans[i];
    span->min = zone_bound(0, 0);
    span->max = zone_bound(0, bytes[bound_bytes]==CLASS_TEXT ? 0xff : 0);
    memcpy(span->min.bytes, bytes, bound_bytes);
    memcpy(span->max.bytes, bytes + bound_bytes, bound_bytes);
    bytes += 2*bound_bytes;
  }
}

/* -- Asking --------------------------------------------------------------------------------- */

bloom_zone_span bloom_zone_asked(bloom_zone_operator comparison, bloom_zone_span asked){
  if( comparison==BLOOM_ZONE_BELOW ) asked.min = zone_bound(CLASS_BELOW, 0);
  if( comparison==BLOOM_ZONE_ABOVE ) asked.max = zone_bound(CLASS_ABOVE, 0);
  return asked;
}

size_t bloom_zone_sort(bloom_zone_span *spans, size_t num_spans){
  size_t gap = 1, i, j, num_left = 0;
  while( gap<num_spans/3 ) gap = 3*gap + 1;
  /* Shell's sort [Knuth, TAOCP 3, 5.2.1]. */
  for(; gap>0; gap/=3){
    for(i=gap; i<num_spans; i++){
      const bloom_zone_span span = spans[i];
      for(j=i; j>=gap && zone_compare(&spans[j-gap].min, &span.min)>0; j-=gap){
        spans[j] = spans[j-gap];
      }
      spans[j] = span;
    }
  }
  for(i=0; i<num_spans; i++){
    if( zone_is_empty(&spans[i]) ) continue;
    if( num_left>0 && zone_compare(&spans[i].min, &spans[num_left-1].max)<=0 ){
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
  while( first<last ){
    const size_t middle = first + (last - first)/2;
    if( zone_compare(&asked[middle].max, &span->min)<0 ) first = middle + 1;
    else last = middle;
  }
  return !zone_is_empty(span) && first<num_asked && zone_compare(&asked[first].min, &span->max)<=0;
}
