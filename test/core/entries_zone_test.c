/*
** Zones of bloom_index: keys have the order of values, a zone says maybe wherever one of its
** values meets what is asked, and it says no where a plain second opinion does.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/entries/zone.h"

/* ---- values, compared once more ------------------------------------------- */

typedef struct value {
  char type; /* 'i', 'r', 't', 'b' */
  int64_t integer;
  double real;
  uint8_t text[40];
  size_t num_bytes;
} value;

static int sign(double difference){
  return difference<0 ? -1 : difference>0;
}

/* An INTEGER with a REAL, as sqlite3IntFloatCompare() does: exactly. */
static int compare_integer_with_real(int64_t integer, double real){
  if( real>=9223372036854775808.0 ) return -1;
  if( real<-9223372036854775808.0 ) return 1;
  if( integer!=(int64_t)real ) return integer<(int64_t)real ? -1 : 1;
  return sign((double)(int64_t)real - real);
}

/* Code points of ASCII and U+0080 .. U+07FF, as UTF-16, of which most[] has room. */
static size_t utf16_of(const value *text, int is_big_endian, uint8_t *out){
  size_t i, n = 0;
  for(i=0; i<text->num_bytes; i++){
    unsigned c = text->text[i];
    if( c>=0xc0 ) c = (c & 0x1fu)<<6 | (text->text[++i] & 0x3fu);
    out[n + (is_big_endian ? 1 : 0)] = (uint8_t)(c & 0xff);
    out[n + (is_big_endian ? 0 : 1)] = (uint8_t)(c >> 8);
    n += 2;
  }
  return n;
}

static int compare_bytes(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes){
  size_t i;
  for(i=0; i<a_bytes && i<b_bytes; i++){
    if( a[i]!=b[i] ) return a[i]<b[i] ? -1 : 1;
  }
  return a_bytes<b_bytes ? -1 : a_bytes>b_bytes;
}

static int lower(int byte){
  return byte>='A' && byte<='Z' ? byte + 32 : byte;
}

/* As main.c of SQLite has it: nocaseCollatingFunc(), rtrimCollFunc(), binCollFunc(). */
static int compare_texts(const value *a, const value *b, bloom_zone_order order, int utf16){
  size_t a_bytes = a->num_bytes, b_bytes = b->num_bytes;
  /* utf16: 0 not, 1 little-endian, 2 big-endian; other collations are called with UTF-8. */
  if( order==BLOOM_ZONE_BINARY && utf16 ){
    uint8_t of_a[100], of_b[100];
    a_bytes = utf16_of(a, utf16==2, of_a);
    b_bytes = utf16_of(b, utf16==2, of_b);
    return compare_bytes(of_a, a_bytes, of_b, b_bytes);
  }
  if( order==BLOOM_ZONE_NOCASE ){
    size_t i;
    for(i=0; i<a_bytes && i<b_bytes; i++){
      if( a->text[i]==0 || lower(a->text[i])!=lower(b->text[i]) ){
        if( lower(a->text[i])!=lower(b->text[i]) ) return lower(a->text[i])<lower(b->text[i]) ? -1 : 1;
        break;
      }
    }
    return a_bytes<b_bytes ? -1 : a_bytes>b_bytes;
  }
  if( order==BLOOM_ZONE_RTRIM ){
    while( a_bytes>0 && a->text[a_bytes-1]==' ' ) a_bytes--;
    while( b_bytes>0 && b->text[b_bytes-1]==' ' ) b_bytes--;
  }
  return compare_bytes(a->text, a_bytes, b->text, b_bytes);
}

static int class_of(const value *v){
  return v->type=='i' || v->type=='r' ? 1 : v->type=='t' ? 2 : 3;
}

static int compare_values(const value *a, const value *b, bloom_zone_order order, int utf16){
  if( class_of(a)!=class_of(b) ) return class_of(a) - class_of(b);
  if( class_of(a)==2 ) return compare_texts(a, b, order, utf16);
  if( class_of(a)==3 ) return compare_bytes(a->text, a->num_bytes, b->text, b->num_bytes);
  if( a->type=='r' && b->type=='r' ) return a->real<b->real ? -1 : a->real>b->real;
  if( a->type=='i' && b->type=='i' ) return a->integer<b->integer ? -1 : a->integer>b->integer;
  return a->type=='i' ? compare_integer_with_real(a->integer, b->real) : -compare_integer_with_real(b->integer, a->real);
}

static bloom_zone_span span_of(const value *v, bloom_zone_order order, int utf16){
  if( v->type=='i' ) return bloom_zone_of_number((double)v->integer, 0);
  if( v->type=='r' ) return bloom_zone_of_number(v->real, 0);
  if( v->type=='t' ) return bloom_zone_of_text(v->text, v->num_bytes, order, utf16 && order==BLOOM_ZONE_BINARY);
  return bloom_zone_of_blobs;
}

/* ---- random values ---------------------------------------------------------- */

static value random_value(rng *random, const char *types, int64_t near){
  static const int64_t integers[] = {0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX - 1, 9007199254740992, 9007199254740993, -9007199254740993};
  static const double reals[] = {0.0, -0.0, 0.5, -0.5, 1e308, -1e308, 5e-324, -5e-324, 9223372036854775808.0, 1e300, 9007199254740992.0};
  static const char letters[] = "aAbBzZ 0~\0\1\xc3\xdf";
  value v = {0};
  size_t i;
  v.type = types[rng_below(random, strlen(types))];
  switch( v.type ){
    case 'i':
      v.integer = rng_below(random, 6)==0 ? integers[rng_below(random, COUNT_OF(integers))] : near + (int64_t)rng_below(random, 2000);
      if( rng_below(random, 8)==0 ) v.integer = (int64_t)rng_next(random) >> rng_below(random, 64);
      break;
    case 'r':
      v.real = rng_below(random, 6)==0 ? reals[rng_below(random, COUNT_OF(reals))] : (double)near + (double)rng_below(random, 200000)/100;
      if( rng_below(random, 20)==0 ) v.real = rng_below(random, 2) ? HUGE_VAL : -HUGE_VAL;
      break;
    default:
      v.num_bytes = rng_below(random, 3)==0 ? 0 : rng_below(random, 4)==0 ? 19 + rng_below(random, 8) : rng_below(random, 6);
      for(i=0; i<v.num_bytes; i++){
        const size_t letter = v.num_bytes>10 && i + 6<v.num_bytes ? 0 : rng_below(random, sizeof(letters) - 1);
        v.text[i] = (uint8_t)letters[letter];
        if( v.text[i]>=0x80 ){
          if( i + 1<v.num_bytes ) v.text[++i] = (uint8_t)(0x80 + rng_below(random, 64));
          else v.text[i] = 'x';
        }
      }
  }
  return v;
}

static int key_compare(const bloom_zone_key *a, const bloom_zone_key *b){
  return memcmp(a, b, sizeof(*a));
}

static int is_inside(const bloom_zone_span *inner, const bloom_zone_span *outer){
  return key_compare(&outer->min, &inner->min)<=0 && key_compare(&inner->max, &outer->max)<=0;
}

/* ---- keys ------------------------------------------------------------------- */

TEST(keys_have_the_order_of_values){
  rng random = rng_stream(1);
  size_t round;
  for(round=0; round<test_share(2000000); round++){
    const bloom_zone_order order = (bloom_zone_order)rng_below(&random, 3);
    const int utf16 = (int)rng_below(&random, 3);
    const int64_t near = rng_below(&random, 2) ? 0 : 1700000000000000000;
    const char *types = rng_below(&random, 2) ? "ir" : rng_below(&random, 2) ? "t" : "irtb";
    const value a = random_value(&random, types, near), b = random_value(&random, types, near);
    const bloom_zone_span of_a = span_of(&a, order, utf16), of_b = span_of(&b, order, utf16);
    const int compared = compare_values(&a, &b, order, utf16);
    if( compared<=0 && key_compare(&of_a.min, &of_b.max)>0 ) fail_msg("round %zu: a is below b, its keys above", round);
    if( compared>=0 && key_compare(&of_a.max, &of_b.min)<0 ) fail_msg("round %zu: a is above b, its keys below", round);
  }
}

/* Where nothing is cut off, different values have different keys. */
TEST(keys_tell_values_apart){
  static const double reals[] = {-HUGE_VAL, -1e308, -1.5, -5e-324, 0.0, 5e-324, 1.0, 1.0 + 0x1p-52, 1e308, HUGE_VAL};
  const bloom_zone_span zero = bloom_zone_of_number(0.0, 0), minus_zero = bloom_zone_of_number(-0.0, 0);
  bloom_zone_span one, other;
  size_t i;
  for(i=0; i + 1<COUNT_OF(reals); i++){
    one = bloom_zone_of_number(reals[i], 0);
    other = bloom_zone_of_number(reals[i + 1], 0);
    assert_true(key_compare(&one.max, &other.min)<0);
    assert_memory_equal(&one.min, &one.max, sizeof(one.min));
    other = bloom_zone_of_number(reals[i], 1);
    assert_true(key_compare(&other.min, &one.min)<0 && key_compare(&one.max, &other.max)<0);
  }
  assert_memory_equal(&zero, &minus_zero, sizeof(zero));
  one = bloom_zone_of_number(nextafter(1.0, 2.0), 0);
  other = bloom_zone_of_number(1.0, 1);
  assert_true(is_inside(&one, &other));
  one = bloom_zone_of_text((const uint8_t *)"2026-11-23 12:00:00.123", 23, BLOOM_ZONE_BINARY, 0);
  other = bloom_zone_of_text((const uint8_t *)"2026-11-23 12:00:00.124", 23, BLOOM_ZONE_BINARY, 0);
  assert_true(key_compare(&one.max, &other.min)<0);
  one = bloom_zone_of_text((const uint8_t *)"Abc  ", 5, BLOOM_ZONE_RTRIM, 0);
  other = bloom_zone_of_text((const uint8_t *)"abc", 3, BLOOM_ZONE_NOCASE, 0);
  assert_memory_equal(one.min.bytes, "\2Abc\0", 5);
  assert_memory_equal(other.min.bytes, "\2abc\0", 5);
  one = bloom_zone_of_text((const uint8_t *)"abc\0Z", 5, BLOOM_ZONE_NOCASE, 0);
  assert_memory_equal(&one, &other, sizeof(one));
  one = bloom_zone_of_text(NULL, 0, BLOOM_ZONE_RTRIM, 0);
  assert_memory_equal(one.min.bytes, "\2\0\0", 3);
}

TEST(of_other_letters_only_what_is_before_them_counts){
  const uint8_t *text = (const uint8_t *)"Ab\xc3\xa9z";
  const bloom_zone_span ascii = bloom_zone_of_text(text, 2, BLOOM_ZONE_BINARY, 1), plain = bloom_zone_of_text(text, 5, BLOOM_ZONE_BINARY, 0);
  const bloom_zone_span cut = bloom_zone_of_text(text, 5, BLOOM_ZONE_BINARY, 1), folded = bloom_zone_of_text(text, 5, BLOOM_ZONE_NOCASE, 1);
  assert_memory_equal(&ascii.min, &ascii.max, sizeof(ascii.min));
  assert_memory_equal(plain.min.bytes, "\2Ab\xc3\xa9z\0", 7);
  assert_true(is_inside(&plain, &cut));
  assert_memory_equal(cut.min.bytes, "\2Ab\0\0", 5);
  assert_memory_equal(cut.max.bytes, "\2Ab\xff\xff", 5);
  assert_int_equal(cut.max.bytes[BLOOM_ZONE_TEXT_BYTES], 0xff);
  assert_memory_equal(folded.max.bytes, "\2ab\xff", 4);
}

/* ---- zones: what they must find ---------------------------------------------- */

typedef enum comparison { EQUAL, BELOW, ABOVE } comparison;

typedef struct condition {
  comparison comparison;
  value of;
} condition;

static int is_true(const value *v, const condition *asked, bloom_zone_order order, int utf16){
  const int compared = compare_values(v, &asked->of, order, utf16);
  if( asked->comparison==EQUAL ) return compared==0;
  return asked->comparison==BELOW ? compared<=0 : compared>=0;
}

/* One span has to meet all conditions. */
static int may_hold(const bloom_zone *zone, const bloom_zone_span *spans, size_t num_conditions){
  size_t i, half;
  for(half=0; half<2; half++){
    for(i=0; i<num_conditions && bloom_zone_meets(&zone->spans[half], &spans[i], 1); i++){}
    if( i==num_conditions ) return 1;
  }
  return 0;
}

TEST(a_zone_never_denies_what_it_has){
  static const char *const types[] = {"i", "ir", "t", "irt", "irtb"};
  rng random = rng_stream(2);
  size_t round, num_denied = 0, num_asked = 0;
  for(round=0; round<test_share(4000); round++){
    const bloom_zone_order order = (bloom_zone_order)rng_below(&random, 3);
    const int utf16 = (int)rng_below(&random, 3);
    const char *its = types[rng_below(&random, COUNT_OF(types))];
    value values[600];
    const size_t num_values = 1 + rng_below(&random, rng_below(&random, 4) ? 20 : COUNT_OF(values));
    const int64_t writers[2] = {1700000000, 1700000000 + (int64_t)rng_below(&random, 100000)};
    bloom_zone zones[BLOOM_ZONES_PER_ROW], again[BLOOM_ZONES_PER_ROW], zone = bloom_zone_empty, all = bloom_zone_empty, read;
    uint8_t packed[BLOOM_ZONE_ROW_BYTES];
    size_t i, j, num_bytes;
    for(i=0; i<BLOOM_ZONES_PER_ROW; i++) zones[i] = bloom_zone_empty;
    for(i=0; i<num_values; i++){
      values[i] = random_value(&random, its, writers[i%2]);
      bloom_zone_add(&zone, span_of(&values[i], order, utf16));
      /* Some zones beside it, and none between. */
      bloom_zone_add(&zones[i%3*7], span_of(&values[i], order, utf16));
    }
    assert_true(key_compare(&zone.spans[1].min, &zone.spans[1].max)>0 || key_compare(&zone.spans[0].max, &zone.spans[1].min)<0);
    zones[BLOOM_ZONES_PER_ROW-1] = zone;
    num_bytes = bloom_zone_row_pack(zones, round, 77, packed);
    assert_true(num_bytes<=sizeof(packed));
    assert_true(bloom_zone_row_unpack(packed, num_bytes, round, 77, again));
    read = again[BLOOM_ZONES_PER_ROW-1];
    for(i=0; i<BLOOM_ZONES_PER_ROW; i++){
      assert_int_equal(bloom_zone_is_there(&zones[i]), bloom_zone_is_there(&again[i]));
      bloom_zone_unite(&all, &zones[i]);
    }
    for(i=0; i<2; i++){
      assert_true(is_inside(&zone.spans[i], &read.spans[i]) || key_compare(&zone.spans[i].min, &zone.spans[i].max)>0);
      assert_true(key_compare(&zone.spans[i].min, &zone.spans[i].max)>0 || bloom_zone_has(&all, &zone.spans[i]));
    }
    for(i=0; i<60; i++){
      const size_t num_conditions = 1 + rng_below(&random, 3);
      condition conditions[3];
      bloom_zone_span spans[3];
      int has_row = 0;
      for(j=0; j<num_conditions; j++){
        conditions[j].comparison = (comparison)rng_below(&random, 3);
        conditions[j].of = rng_below(&random, 2) ? values[rng_below(&random, num_values)] : random_value(&random, "iirtb", writers[0]);
        spans[j] = span_of(&conditions[j].of, order, utf16);
        if( conditions[j].comparison==BELOW ) spans[j].min = bloom_zone_everything.min;
        if( conditions[j].comparison==ABOVE ) spans[j].max = bloom_zone_everything.max;
      }
      for(j=0; j<num_values && !has_row; j++){
        size_t k;
        for(k=0; k<num_conditions && is_true(&values[j], &conditions[k], order, utf16); k++){}
        has_row = k==num_conditions;
      }
      if( has_row && !may_hold(&zone, spans, num_conditions) ) fail_msg("round %zu, %zu: denied", round, i);
      if( has_row && !may_hold(&read, spans, num_conditions) ) fail_msg("round %zu, %zu: denied when read again", round, i);
      num_denied += !may_hold(&zone, spans, num_conditions);
      num_asked++;
    }
  }
  assert_true(num_denied>num_asked/10);
}

/* ---- zones: what they must leave out ----------------------------------------- */

static int compare_spans(const void *a, const void *b){
  return key_compare(&((const bloom_zone_span *)a)->min, &((const bloom_zone_span *)b)->min);
}

/* How far b is above a, the two read as large numbers. */
static bloom_zone_key naive_gap(bloom_zone_key a, bloom_zone_key b){
  int borrow = 0;
  size_t i;
  for(i=sizeof(a.bytes); i-- > 0; ){
    const int difference = b.bytes[i] - a.bytes[i] - borrow;
    borrow = difference<0;
    b.bytes[i] = (uint8_t)difference;
  }
  return b;
}

/* By sorting all spans: the largest of the gaps between what is below and what is above. */
static bloom_zone naive_zone(bloom_zone_span *spans, size_t num_spans){
  bloom_zone zone = {{spans[0], bloom_zone_nothing, bloom_zone_nothing}};
  bloom_zone_span below = spans[0], above;
  bloom_zone_key gap, largest = {{0}};
  size_t i, j;
  qsort(spans, num_spans, sizeof(*spans), compare_spans);
  for(i=0; i<num_spans; i++){
    above = bloom_zone_nothing;
    for(j=i; j<num_spans; j++) above = bloom_zone_hull(above, spans[j]);
    if( i==0 ){
      zone.spans[0] = above;
      below = spans[0];
      continue;
    }
    if( key_compare(&below.max, &above.min)<0 ){
      gap = naive_gap(below.max, above.min);
      if( key_compare(&gap, &largest)>0 ){
        largest = gap;
        zone = (bloom_zone){{below, above, bloom_zone_nothing}};
      }
    }
    below = bloom_zone_hull(below, spans[i]);
  }
  return zone;
}

/* Between numbers, between texts, and between numbers and texts: of its own two spans and what comes, so that the
** gap which is left is not always the largest of all. */
TEST(zones_are_cut_at_the_largest_gap){
  static const char *const types[] = {"i", "r", "t", "irt", "irtb"};
  rng random = rng_stream(3);
  size_t round, i;
  for(round=0; round<test_share(20000); round++){
    const char *its = types[rng_below(&random, COUNT_OF(types))];
    const bloom_zone_order order = (bloom_zone_order)rng_below(&random, 3);
    const size_t num_values = 1 + rng_below(&random, rng_below(&random, 8) ? 12 : 200);
    const int64_t writers[2] = {1700000000, 1700000000 + (int64_t)rng_below(&random, 100000)};
    bloom_zone zone = bloom_zone_empty;
    for(i=0; i<num_values; i++){
      const bloom_zone before = zone;
      const int num_before = (key_compare(&zone.spans[0].min, &zone.spans[0].max)<=0) + (key_compare(&zone.spans[1].min, &zone.spans[1].max)<=0);
      const value v = random_value(&random, its, writers[i%2]);
      const bloom_zone_span more = span_of(&v, order, 0);
      bloom_zone_span all[3] = {more, before.spans[0], before.spans[1]};
      const bloom_zone expected = naive_zone(all, 1 + (size_t)num_before);
      assert_int_equal(bloom_zone_add(&zone, more), memcmp(&expected, &before, sizeof(before))!=0);
      assert_memory_equal(&zone, &expected, sizeof(zone));
    }
  }
}

/* Two writers a day apart, and a few zeros, have spans of their own in each order. */
TEST(few_values_far_away_do_not_spoil_the_rest){
  rng random = rng_stream(5);
  size_t round, i;
  for(round=0; round<test_share(2000); round++){
    const bloom_zone_span between = bloom_zone_of_number(1699950000.0, 0);
    bloom_zone zone = bloom_zone_empty;
    for(i=0; i<256; i++){
      const double at = 1700000000.0 + (double)rng_below(&random, 1000);
      bloom_zone_add(&zone, bloom_zone_of_number(rng_below(&random, round%2 ? 2 : 40)==0 ? (round%3 ? at - 86400 : 0) : at, 0));
    }
    assert_false(bloom_zone_meets(&zone.spans[0], &between, 1) || bloom_zone_meets(&zone.spans[1], &between, 1));
  }
}

/* A value that is two things is in one span, so that two conditions may each mean another. */
TEST(no_value_is_divided){
  const bloom_zone_span both = bloom_zone_hull(bloom_zone_of_number(10, 1), bloom_zone_of_text((const uint8_t *)"10", 2, BLOOM_ZONE_BINARY, 0));
  bloom_zone zone = bloom_zone_empty;
  int i;
  bloom_zone_add(&zone, bloom_zone_of_number(12, 0));
  bloom_zone_add(&zone, both);
  bloom_zone_add(&zone, bloom_zone_of_text((const uint8_t *)"zzz", 3, BLOOM_ZONE_BINARY, 0));
  assert_true(is_inside(&both, &zone.spans[0]));
  for(i=0; i<100; i++){
    bloom_zone_add(&zone, bloom_zone_of_number(1000.0*i, 0));
    assert_true(is_inside(&both, &zone.spans[0]) || is_inside(&both, &zone.spans[1]));
  }
}

TEST(zones_of_nothing_and_of_everything){
  bloom_zone_span all = bloom_zone_everything, none = bloom_zone_nothing, null = bloom_zone_of_null;
  bloom_zone zones[BLOOM_ZONES_PER_ROW], read[BLOOM_ZONES_PER_ROW];
  uint8_t packed[BLOOM_ZONE_ROW_BYTES];
  bloom_zone zone = bloom_zone_empty;
  size_t i, num_bytes;
  assert_false(bloom_zone_is_there(&zone) || bloom_zone_has(&zone, &null));
  assert_int_equal(bloom_zone_add(&zone, null), 1);
  assert_true(bloom_zone_is_there(&zone) && bloom_zone_has(&zone, &null) && bloom_zone_meets(&zone.spans[2], &null, 1));
  assert_false(bloom_zone_meets(&zone.spans[2], &all, 1) || bloom_zone_meets(&all, &null, 1));
  assert_int_equal(bloom_zone_meets(&zone.spans[0], &all, 1) + bloom_zone_meets(&zone.spans[1], &all, 1), 0);
  assert_int_equal(bloom_zone_add(&zone, null), 0);
  assert_int_equal(bloom_zone_add(&zone, all), 1);
  assert_int_equal(bloom_zone_add(&zone, bloom_zone_of_number(1, 0)), 0);
  assert_true(bloom_zone_has(&zone, &null));
  assert_true(bloom_zone_meets(&zone.spans[0], &all, 1));
  assert_false(bloom_zone_meets(&zone.spans[0], &none, 0));
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++) zones[i] = bloom_zone_empty;
  num_bytes = bloom_zone_row_pack(zones, 1, 2, packed);
  assert_int_equal(num_bytes, BLOOM_ZONE_ROW_HEAD);
  assert_true(bloom_zone_row_unpack(packed, num_bytes, 1, 2, read));
  assert_memory_equal(read, zones, sizeof(zones));
  zones[3] = zone;
  num_bytes = bloom_zone_row_pack(zones, 1, 2, packed);
  assert_true(bloom_zone_row_unpack(packed, num_bytes, 1, 2, read));
  assert_memory_equal(read, zones, sizeof(zones));
}

/* A row is none under another number or rowid, with another bit, or of another length. */
TEST(a_row_that_is_another_or_damaged_is_none){
  bloom_zone zones[BLOOM_ZONES_PER_ROW], read[BLOOM_ZONES_PER_ROW];
  uint8_t packed[BLOOM_ZONE_ROW_BYTES + 1] = {0};
  size_t i, num_bytes;
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++){
    zones[i] = bloom_zone_empty;
    bloom_zone_add(&zones[i], bloom_zone_of_number(1.25*(double)i, 0));
    bloom_zone_add(&zones[i], bloom_zone_of_text((const uint8_t *)"2026-11-29", 10, BLOOM_ZONE_BINARY, 0));
  }
  num_bytes = bloom_zone_row_pack(zones, 1, 2, packed);
  assert_true(bloom_zone_row_unpack(packed, num_bytes, 1, 2, read));
  assert_false(bloom_zone_row_unpack(packed, num_bytes, 2, 2, read) || bloom_zone_row_unpack(packed, num_bytes, 1, 3, read));
  for(i=0; i<=num_bytes+1 && i<sizeof(packed); i++){
    if( i!=num_bytes ) assert_false(bloom_zone_row_unpack(packed, i, 1, 2, read));
  }
  for(i=0; i<8*num_bytes; i++){
    packed[i/8] ^= (uint8_t)(1 << i%8);
    assert_false(bloom_zone_row_unpack(packed, num_bytes, 1, 2, read));
    packed[i/8] ^= (uint8_t)(1 << i%8);
  }
}

TEST(a_zone_has_what_one_of_its_spans_has){
  const bloom_zone zone = {{bloom_zone_hull(bloom_zone_of_number(1, 0), bloom_zone_of_number(5, 0)), bloom_zone_of_number(9, 0), bloom_zone_of_null}};
  const bloom_zone_span two = bloom_zone_of_number(2, 0), nine = bloom_zone_of_number(9, 0), nearly = bloom_zone_of_number(9, 1), null = bloom_zone_of_null;
  const bloom_zone_span across = bloom_zone_hull(two, nine), six = bloom_zone_of_number(6, 0);
  assert_true(bloom_zone_has(&zone, &two) && bloom_zone_has(&zone, &nine) && bloom_zone_has(&zone, &null));
  assert_false(bloom_zone_has(&zone, &nearly) || bloom_zone_has(&zone, &across) || bloom_zone_has(&zone, &six));
}

/* ---- packed, and asked --------------------------------------------------------- */

/* What keys begin with is kept once, and zeros not at all. */
TEST(few_bytes_of_a_key_are_kept){
  bloom_zone zones[BLOOM_ZONES_PER_ROW], read[BLOOM_ZONES_PER_ROW];
  uint8_t packed[BLOOM_ZONE_ROW_BYTES];
  size_t i, num_bytes;
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++){
    zones[i] = bloom_zone_empty;
    bloom_zone_add(&zones[i], bloom_zone_of_number(1700000000.0 + (double)i*600, 0));
    bloom_zone_add(&zones[i], bloom_zone_of_number(1700000599.0 + (double)i*600, 0));
  }
  num_bytes = bloom_zone_row_pack(zones, 1, 2, packed);
  assert_int_equal(num_bytes, BLOOM_ZONE_ROW_HEAD + packed[20] + packed[21]*4*BLOOM_ZONES_PER_ROW);
  assert_int_equal(packed[20] + packed[21], 7);
  assert_int_equal(packed[20], 3);
  assert_true(bloom_zone_row_unpack(packed, num_bytes, 1, 2, read));
  assert_memory_equal(read, zones, sizeof(zones));
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++) zones[i] = bloom_zone_empty;
  bloom_zone_add(&zones[5], bloom_zone_of_text((const uint8_t *)"12345678", 8, BLOOM_ZONE_BINARY, 0));
  bloom_zone_add(&zones[6], bloom_zone_of_text((const uint8_t *)"1234\xc3\xa4", 6, BLOOM_ZONE_BINARY, 1));
  num_bytes = bloom_zone_row_pack(zones, 1, 2, packed);
  assert_int_equal(num_bytes, BLOOM_ZONE_ROW_HEAD + 5 + 4*19);
  assert_true(bloom_zone_row_unpack(packed, num_bytes, 1, 2, read));
  assert_memory_equal(read, zones, sizeof(zones));
  /* One key in all: it has no bytes of its own. */
  zones[6] = zones[5];
  num_bytes = bloom_zone_row_pack(zones, 1, 2, packed);
  assert_int_equal(num_bytes, BLOOM_ZONE_ROW_HEAD + 9);
  assert_true(bloom_zone_row_unpack(packed, num_bytes, 1, 2, read));
  assert_memory_equal(&read[6], &read[5], sizeof(read[5]));
}

/* Also in ../../ext/FORMATS.md. */
TEST(known_rows){
  static const char *const expected[3] = {
    "010000800100000081000000040301c1d954a7e000a7e000fc4000fc41c0a7e000a7e000",
    "040000000400000000000000011702323032362d31312d32332031323a30303a30302e313233323032362d31312d32332031323a30303a30302e31323361626300000000000000000000000000000000000000007a65627261000000000000000000000000000000000000",
    "020000000200000000000000000901c023ffffffffffff023130000000000000027a7a7a0000000000027a7a7a0000000000"
  };
  static const double times[] = {1700000000, 1700000007, 1699913600, 1700000003};
  static const char *const words[] = {"2026-11-23 12:00:00.123456", "Zebra", "abc"};
  bloom_zone rows[3][BLOOM_ZONES_PER_ROW];
  size_t i, row;
  for(row=0; row<3; row++){
    for(i=0; i<BLOOM_ZONES_PER_ROW; i++) rows[row][i] = bloom_zone_empty;
  }
  for(i=0; i<COUNT_OF(times); i++) bloom_zone_add(&rows[0][0], bloom_zone_of_number(times[i], 0));
  bloom_zone_add(&rows[0][31], rows[0][0].spans[0]);
  bloom_zone_add(&rows[0][0], bloom_zone_of_null);
  bloom_zone_add(&rows[0][7], bloom_zone_of_null);
  for(i=0; i<COUNT_OF(words); i++) bloom_zone_add(&rows[1][2], bloom_zone_of_text((const uint8_t *)words[i], strlen(words[i]), BLOOM_ZONE_NOCASE, 0));
  bloom_zone_add(&rows[2][1], bloom_zone_hull(bloom_zone_of_text((const uint8_t *)"10", 2, BLOOM_ZONE_BINARY, 0), bloom_zone_of_number(10, 1)));
  bloom_zone_add(&rows[2][1], bloom_zone_of_number(12, 0));
  bloom_zone_add(&rows[2][1], bloom_zone_of_text((const uint8_t *)"zzz", 3, BLOOM_ZONE_BINARY, 0));
  for(row=0; row<3; row++){
    uint8_t packed[BLOOM_ZONE_ROW_BYTES];
    char *hex = hex_of(packed + 8, bloom_zone_row_pack(rows[row], 1, 2, packed) - 8);
    assert_string_equal(hex, expected[row]);
    free(hex);
  }
}

TEST(lists_are_sorted_and_searched){
  rng random = rng_stream(5);
  size_t round, i, j;
  for(round=0; round<test_share(3000); round++){
    bloom_zone_span list[200], sorted[200];
    const size_t num_spans = rng_below(&random, COUNT_OF(list));
    size_t num_sorted;
    for(i=0; i<num_spans; i++){
      const double from = (double)rng_below(&random, 1000);
      list[i] = rng_below(&random, 20)==0 ? bloom_zone_nothing
              : bloom_zone_hull(bloom_zone_of_number(from, 0), bloom_zone_of_number(from + (double)rng_below(&random, 3), 0));
      sorted[i] = list[i];
    }
    num_sorted = bloom_zone_sort(sorted, num_spans);
    for(i=1; i<num_sorted; i++) assert_true(key_compare(&sorted[i-1].max, &sorted[i].min)<0);
    for(i=0; i<50; i++){
      const double from = (double)rng_below(&random, 1010);
      const bloom_zone_span one = bloom_zone_hull(bloom_zone_of_number(from, 0), bloom_zone_of_number(from + (double)rng_below(&random, 20)/2, 0));
      int meets = 0;
      for(j=0; j<num_spans && !meets; j++){
        meets = key_compare(&list[j].min, &list[j].max)<=0 && key_compare(&list[j].min, &one.max)<=0 && key_compare(&one.min, &list[j].max)<=0;
      }
      assert_int_equal(bloom_zone_meets(&one, sorted, num_sorted), meets);
    }
  }
}

RUN_TESTS()
