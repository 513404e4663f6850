/*
** Grams of texts and lists of needles: the definition, written here once more, and the promise:
** a text that a needle finds is in a list of each of the needle's ranges, whatever bytes the
** two are of and however the lists are cut.  The matching is SQLite's, written from its rules
** alone.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/entries/texts.h"

#define MAX_TEXT   300
#define MAX_GRAMS  ((size_t)4*MAX_TEXT)
#define MAX_RANGES 300

/* How the lists are cut in the test at hand. */
static bloom_lists the_lists, *const lists = &the_lists;

typedef struct gram_list {
  uint32_t grams[MAX_GRAMS];
  size_t count;
  uint32_t edges[MAX_TEXT + 3];
  size_t num_edges;
} gram_list;

static void add_gram(gram_list *list, uint32_t gram){
  assert_true(list->count<MAX_GRAMS);
  list->grams[list->count++] = gram;
}

/* Each text ends where its memory ends, so that a sanitizer sees a byte too many. */
static gram_list grams_of(const uint8_t *text, size_t num_bytes, int passes_nul){
  uint8_t *copy = exact_copy(text, num_bytes);
  static uint64_t has[BLOOM_LISTS_MAX/64 + 1], seen[BLOOM_LISTS_MAX/64 + 1];
  uint32_t grams[BLOOM_TEXT_ROOM], numbers[BLOOM_TEXT_ROOM];
  bloom_text reading, again;
  gram_list list = {.count = 0, .num_edges = 0};
  size_t count, i, j;
  bloom_text_begin(&reading, copy, num_bytes, passes_nul);
  bloom_text_begin(&again, copy, num_bytes, passes_nul);
  reading.needs_whole = lists->edge_bits[BLOOM_LISTS_WHOLE]>0;
  do{
    size_t num_new;
    count = bloom_text_next(&reading, grams);
    assert_true(count<=BLOOM_TEXT_ROOM);
    num_new = bloom_text_next_lists(&again, lists, has, numbers);
    assert_int_equal(bloom_text_is_open(&again), bloom_text_is_open(&reading));
    for(i=j=0; i<count; i++){
      const uint32_t number = bloom_lists_of_gram(lists, grams[i]);
      if( !(seen[number/64] >> number%64 & 1) ) assert_int_equal(numbers[j++], number); /* each once */
      seen[number/64] |= (uint64_t)1 << number%64;
      if( !bloom_lists_is_edge(grams[i]) ) add_gram(&list, grams[i]);
      else list.edges[list.num_edges++] = grams[i];
    }
    assert_int_equal(num_new, j);
  }while( count>0 );
  for(i=0; i<list.count + list.num_edges; i++){
    const uint32_t number = bloom_lists_of_gram(lists, i<list.count ? list.grams[i] : list.edges[i - list.count]);
    assert_true(has[number/64]==seen[number/64]);
    has[number/64] = seen[number/64] = 0;
  }
  assert_int_equal(bloom_text_next(&reading, grams), 0);
  free(copy);
  return list;
}

static size_t ranges_of(bloom_needle_kind kind, const uint8_t *needle, size_t num_bytes, bloom_lists_range *ranges){
  uint8_t *copy = exact_copy(needle, num_bytes);
  const size_t count = bloom_needle_ranges(lists, kind, copy, num_bytes, ranges, 0, MAX_RANGES);
  /* A whole text may be looked for by its edge alone. */
  if( kind!=BLOOM_NEEDLE_EQUAL || count==0 ) assert_int_equal(bloom_needle_ranges(NULL, kind, copy, num_bytes, NULL, 0, 0)==0, count==0);
  free(copy);
  return count;
}

/* 1 if a text with these grams is in a list of each range. */
static int meets(const gram_list *list, const bloom_lists_range *ranges, size_t num_ranges){
  size_t i, j;
  for(i=0; i<num_ranges; i++){
    for(j=0; j<list->count+list->num_edges; j++){
      const uint32_t number = bloom_lists_of_gram(lists, j<list->count ? list->grams[j] : list->edges[j - list->count]);
      if( number>=ranges[i].first && number-ranges[i].first<ranges[i].num_lists ) break;
    }
    if( j==list->count+list->num_edges ) return 0;
  }
  return 1;
}

static void cut_at_random(rng *random){
  uint32_t i;
  for(i=0; i<BLOOM_LISTS_CLASSES; i++) lists->cut[i] = (uint8_t)rng_below(random, BLOOM_LISTS_MAX_CUT + 1);
  for(i=0; i<BLOOM_LISTS_EDGES; i++) lists->edge_bits[i] = (uint8_t)rng_below(random, BLOOM_LISTS_MAX_EDGE_BITS + 1);
  bloom_lists_number(lists);
}

/* ---- the definition, once more -------------------------------------------- */

/* SQLite's reading of a character of a text that ends with a 0.  U+FFFE and U+FFFF are U+FFFD
** up to some version. */
static uint32_t naive_read(const uint8_t **text, int is_old){
  uint32_t c = *(*text)++;
  if( c<0xc0 ) return c;
  c = c<0xe0 ? c - 0xc0 : c<0xf0 ? c - 0xe0 : c<0xf8 ? c - 0xf0 : c<0xfc ? c - 0xf8 : c<0xfe ? c - 0xfc : 0;
  while( **text>=0x80 && **text<0xc0 ) c = c*64 + (*(*text)++ - 0x80u);
  if( c<0x80 || (c>=0xd800 && c<0xe000) || (is_old && (c==0xfffe || c==0xffff)) ) c = 0xfffd;
  return c;
}

static uint32_t naive_lower(uint32_t c){
  return c>='A' && c<='Z' ? c + 32 : c;
}

/* One character of a text matches [...], which begins behind the bracket; *pattern moves behind it. */
static int naive_class(const uint8_t **pattern, uint32_t c, int is_old){
  int is_inverted = 0, is_in = 0, is_first = 1;
  uint32_t before = 0;
  if( **pattern=='^' ){
    is_inverted = 1;
    (*pattern)++;
  }
  for(;; is_first=0){
    uint32_t member;
    if( **pattern==0 ) return 0;
    member = naive_read(pattern, is_old);
    if( member==']' && !is_first ) return is_in!=is_inverted;
    if( member=='-' && !is_first && before>0 && **pattern!=']' && **pattern!=0 ){
      member = naive_read(pattern, is_old);
      is_in |= c>=before && c<=member;
      before = 0;
    }else{
      is_in |= c==member;
      before = is_first && member==']' ? 0 : member;
    }
  }
}

static int naive_match(int is_glob, const uint8_t *pattern, const uint8_t *text, int is_old){ /* NOLINT(misc-no-recursion) */
  const uint32_t any = is_glob ? '*' : '%', one = is_glob ? '?' : '_';
  const uint8_t *next = pattern, *rest = text;
  uint32_t p = naive_read(&next, is_old), c;
  if( p==0 ) return *text==0;
  if( p==any ){
    const uint8_t *after = next;
    if( naive_match(is_glob, next, text, is_old) ) return 1;
    /* Up to 3.31 or so U+0080 was looked for as a byte. */
    if( is_old && *after && naive_read(&after, is_old)==0x80 ){
      for(rest=text; *rest; rest++) if( *rest==0x80 && naive_match(is_glob, after, rest + 1, is_old) ) return 1;
    }
    while( *text ){
      naive_read(&text, is_old);
      if( naive_match(is_glob, next, text, is_old) ) return 1;
    }
    return 0;
  }
  if( *text==0 ) return 0;
  c = naive_read(&rest, is_old);
  if( is_glob && p=='[' ) return naive_class(&next, c, is_old) && naive_match(is_glob, next, rest, is_old);
  if( c!=p && p!=one ){
    if( is_glob || c>=0x80 || p>=0x80 || naive_lower(c)!=naive_lower(p) ) return 0;
  }
  return naive_match(is_glob, next, rest, is_old);
}

/* ---- random bytes ------------------------------------------------------------- */

static const char *const parts[] = {"a", "b", "c", "ab", "A", "K", "k", "%", "_", "*", "?", "[", "]", "^", "-",
  "\xc2\xa3", "\xa3", "\xe0\x82\xa3", "\xc2\x80", "\x80", "\xe2\x82\x80", "\xe2\x80\xa3", "\xff", "\xef\xbf\xbd",
  "\xef\xbf\xbe", "\xed\xa0\x80", "\xc3\xa4", "\xf0\x9f\x98\x80", "\xfd\x80\x83\xa4", "\xe2", "\xf4\x90\x80\x80",
  "\xf7\xbf\xbf\xbf", "\xe2\x84\xaa"};

/* Returns the bytes, a 0 behind them. */
static size_t random_text(rng *random, size_t num_parts, uint8_t *text){
  size_t length = 0;
  for(; num_parts>0; num_parts--){
    const char *part = parts[rng_below(random, rng_below(random, 3) ? COUNT_OF(parts) : 4)];
    memcpy(text + length, part, strlen(part));
    length += strlen(part);
  }
  text[length] = 0;
  return length;
}

/* A pattern cut from a text, some bytes changed: one in some matches it. */
static size_t random_pattern(rng *random, int is_glob, const uint8_t *text, size_t num_bytes, uint8_t *pattern){
  const size_t begin = num_bytes ? rng_below(random, num_bytes) : 0;
  const size_t end = begin + rng_below(random, num_bytes - begin + 1);
  size_t length = 0, i;
  if( begin>0 || rng_below(random, 2) ) pattern[length++] = is_glob ? '*' : '%';
  for(i=begin; i<end; i++){
    const size_t kind = rng_below(random, 24);
    const char *other = parts[rng_below(random, COUNT_OF(parts))];
    if( kind==0 ) pattern[length++] = is_glob ? '?' : '_';
    else if( kind==1 ) pattern[length++] = is_glob ? '*' : '%';
    else if( kind==2 && is_glob && text[i]<0x80 ) memcpy(pattern + length, (uint8_t[]){'[', text[i], ']'}, 3), length += 3;
    else if( kind==3 ) memcpy(pattern + length, other, strlen(other)), length += strlen(other);
    else pattern[length++] = !is_glob && text[i]=='a' && kind%2 ? 'A' : text[i];
  }
  if( end<num_bytes || rng_below(random, 2) ) pattern[length++] = is_glob ? '*' : '%';
  pattern[length] = 0;
  return length;
}

/* ---- tests ------------------------------------------------------------------ */

#define BYTES(text) text, sizeof(text) - 1

/* A gram as written below: ~ stands for 0. */
static uint32_t gram_of(const char *text){
  uint32_t gram = 0;
  size_t i;
  for(i=0; i<4; i++) gram = gram << 8 | (text[i]=='~' ? 0 : (uint8_t)text[i]);
  return gram;
}

TEST(grams_of_texts){
  static const struct { int passes_nul; const char *text; size_t num_bytes; const char *grams; } cases[] = {
    {0, BYTES(""), ""}, {0, BYTES("a"), ""}, {0, BYTES("ab"), "~ab~"}, {0, BYTES("abc"), "~abc;abc~"},
    {0, BYTES("ABCd@["), "~abc;abcd;bcd@;cd@[;d@[~"}, {0, BYTES("abc\0def"), "~abc;abc~"},
    {1, BYTES("abc\0def"), "~abc;abc~;def~"}, {1, BYTES("\0\0def\0gh\0"), "def~"}, {1, BYTES("a\0"), ""},
    {0, BYTES("\0abc"), ""},
    {0, BYTES("\xc3\x84z"), "~\xc3\x84z;\xc3\x84z~"}, /* no case but ASCII's */
    {0, BYTES("a\xf0\x9f\x98\x80"), "~a\xf0\x9f;a\xf0\x9f\x98;\xf0\x9f\x98\x80;\x9f\x98\x80~"},
    {0, BYTES("abc\xef\xbf\xbd" "def"), "~abc;abc~;def~"}, {0, BYTES("abc\xff" "def"), "~abc;abc~;def~"},
    {0, BYTES("\xff" "abc"), "abc~"}, {0, BYTES("ab\xff\xff" "cd\xff" "efg"), "~ab~;efg~"},
    {0, BYTES("abc\xef\xbf\xbf" "def"), "~abc;abc~;def~"},
    {0, BYTES("abc\xed\xb0\x80" "def"), "~abc;abc~;def~"},
    {0, BYTES("abc\xc1\x81" "def"), "~abc;abc~;def~"},
    {0, BYTES("abc\xf4\x90\x80\x80" "def"), "~abc;abc~;def~"}, {0, BYTES("a\xa3"), "~a\xc2\xa3;a\xc2\xa3~"},
    {0, BYTES("a\xe0\x82\xa3"), "~a\xc2\xa3;a\xc2\xa3~"}, {0, BYTES("a\xfe\x80\x82\xa3"), "~a\xc2\xa3;a\xc2\xa3~"},
    {0, BYTES("a\xf8\x80\x80\x82\xa3"), "~a\xc2\xa3;a\xc2\xa3~"},
    {0, BYTES("\xfb\x82\xa3"), "~\xe3\x82\xa3;\xe3\x82\xa3~"},
    {0, BYTES("a\xf0\xbf\xbf\xbf\xbf\xbf\x80\x80\x80\x80\x82\xa3"), "~a\xc2\xa3;a\xc2\xa3~"}, /* shifted out */
    {0, BYTES("\xe2\x80\x82"), "~\xe2\x80\x82;\xe2\x80\x82~"},
    /* No gram begins within a character of three bytes; 81 is a hash of U+90FD. */
    {0, BYTES("a\xe4\xba\xac" "bc"), "~a\xe4\xba;a\xe4\xba\xac;\xe4\xba\xac" "b"},
    {0, BYTES("\xe4\xba\xac\xe9\x83\xbd"), "~\xe4\xba\xac;\xe4\xba\xac\x81;\xe9\x83\xbd~"},
    {0, BYTES("\xe4\xba\xac\xc3\xa4" "b"), "~\xe4\xba\xac;\xe4\xba\xac\xc3;\xc3\xa4" "b~"},
    {0, BYTES("\xe0\x82"), ""}, /* cut off: U+0002, which is none in two bytes */
  };
  size_t i;
  bloom_lists_even(lists, 7);
  for(i=0; i<COUNT_OF(cases); i++){
    const gram_list list = grams_of((const uint8_t *)cases[i].text, cases[i].num_bytes, cases[i].passes_nul);
    const char *gram = cases[i].grams;
    size_t count = 0;
    for(; *gram; gram+=4 + (gram[4]==';')){
      if( count>=list.count || list.grams[count++]!=gram_of(gram) ) fail_msg("case %zu, %s: not %s", i, cases[i].text, cases[i].grams);
    }
    if( count!=list.count ) fail_msg("case %zu, %s: more than %s", i, cases[i].text, cases[i].grams);
  }
}

/* abcd: one list; abc.: a class. */
TEST(ranges_of_needles){
  enum { L = BLOOM_NEEDLE_LIKE, G = BLOOM_NEEDLE_GLOB, E = BLOOM_NEEDLE_EQUAL, R = BLOOM_NEEDLE_EQUAL_RTRIM, P = BLOOM_NEEDLE_PART,
    B = BLOOM_NEEDLE_BEGINNING, Z = BLOOM_NEEDLE_END };
  static const struct { int kind; const char *text; size_t num_bytes; const char *ranges; } cases[] = {
    {L, BYTES(""), ""}, {L, BYTES("%"), ""}, {L, BYTES("a%"), ""}, {L, BYTES("%bc"), ""}, {L, BYTES("%ab%"), ""},
    {L, BYTES("ab%"), "~ab."}, {L, BYTES("abc%"), "~abc"}, {L, BYTES("abcd%"), "~abc;abcd"}, {L, BYTES("%abc%"), "abc."},
    {L, BYTES("%xyz"), "xyz~"}, {L, BYTES("%wxyz"), "wxyz;xyz~"}, {L, BYTES("ab"), "~ab~"}, {L, BYTES("ABC"), "~abc;abc~"},
    {L, BYTES("ab_cd%"), "~ab."}, {G, BYTES("*ab[cd]ab?ab["), ""}, {L, BYTES("%abab%bab%"), "abab;bab."},
    {L, BYTES("%bab%babab%"), "bab.;baba;abab"}, {L, BYTES("%babab%bab%"), "baba;abab"}, /* baba is in bab. */
    {L, BYTES("abc\0def"), "~abc;abc~"}, {L, BYTES("ab\xef\xbf\xbd" "bc"), "~ab."}, {L, BYTES("\xff" "bcd%"), "bcd."},
    {L, BYTES("%time_out%"), "time;out."}, {L, BYTES("%a*?[b%"), "a*?[;*?[b"}, {L, BYTES("abc%%__def"), "~abc;def~"},
    {G, BYTES("*a%_b*"), "a%_b"}, {G, BYTES("abc?def"), "~abc;def~"}, {G, BYTES("ab[c]d"), "~abc;abcd;bcd~"},
    {G, BYTES("[a]b*"), "~ab."}, {G, BYTES("[ab]cde*"), "cde."},
    {G, BYTES("abc[[]d*"), "~abc;abc[;bc[d"}, {G, BYTES("*abc[*]d"), "abc*;bc*d;c*d~"}, {G, BYTES("*a[]]bc*"), "a]bc"},
    {G, BYTES("abc[x-z]def[^]]ghi[]x]jkl[^x]mno"), "~abc;def.;ghi.;jkl.;mno~"},
    {G, BYTES("abc[^]def]ghi"), "~abc;ghi~"}, {G, BYTES("abc[def"), "~abc"},
    {L, BYTES("a\xa3%"), "~a\xc2\xa3"}, {L, BYTES("%\xe3\x82\xa3%"), "\xe3\x82\xa3."},
    /* U+0080, and what old versions may find within another character. */
    {L, BYTES("%abc\xc2\x80" "def%"), "abc.;def."},
    {L, BYTES("%\xc2\x80" "abc\xc2\xa3" "def\xc3\xa4g"), "abc.;def\xc3;ef\xc3\xa4;f\xc3\xa4g;\xc3\xa4g~"},
    {E, BYTES(""), ""}, {E, BYTES("a"), ""}, {E, BYTES("ab"), "~ab~"}, {E, BYTES("%B_"), "~%b_;%b_~"}, {E, BYTES("ab\0c"), "~ab~"},
    {E, BYTES("abc\xff" "def\xc2\x80"), "~abc;abc~;def\xc2;ef\xc2\x80;f\xc2\x80~"},
    {R, BYTES("ab"), "~ab."}, {R, BYTES("abc"), "~abc"}, {R, BYTES("abc\0"), "~abc;abc~"}, {R, BYTES("abc\xff"), "~abc;abc~"},
    {P, BYTES("ab"), ""}, {P, BYTES("a%["), "a%[."}, {P, BYTES("ABCde"), "abcd;bcde"}, {P, BYTES("abc\0def"), "abc."},
    {P, BYTES("abc\xff" "abcd\xff" "abc"), "abc.;abcd"},
    {B, BYTES("ab"), "~ab."}, {B, BYTES("abc"), "~abc"}, {B, BYTES("ab_d%"), "~ab_;ab_d;b_d%"}, {B, BYTES("a"), ""},
    {Z, BYTES("xyz"), "xyz~"}, {Z, BYTES("%xyz\n"), "%xyz;xyz\n;yz\n~"}, {Z, BYTES("yz"), ""},
  };
  size_t i;
  bloom_lists_even(lists, 7);
  for(i=0; i<COUNT_OF(cases); i++){
    bloom_lists_range ranges[MAX_RANGES];
    const size_t num_ranges = ranges_of((bloom_needle_kind)cases[i].kind, (const uint8_t *)cases[i].text, cases[i].num_bytes, ranges);
    const char *range = cases[i].ranges;
    size_t count = 0;
    for(; *range; range+=4 + (range[4]==';')){
      const int is_class = range[3]=='.';
      const uint32_t gram = gram_of(range), first = is_class ? bloom_lists_class(gram)*128 : bloom_lists_of_gram(lists, gram);
      if( count==num_ranges || ranges[count].first!=first || ranges[count].num_lists!=(is_class ? 128 : 1) ){
        fail_msg("case %zu, %s: range %zu is not of %s", i, cases[i].text, count, cases[i].ranges);
      }
      count++;
    }
    if( count!=num_ranges ) fail_msg("case %zu, %s: more than %s", i, cases[i].text, cases[i].ranges);
  }
}

/* The last three bytes of more have a range of their own where their class has four lists or fewer. */
TEST(classes_of_few_lists_are_read){
  static const uint8_t text[] = "%abcde_fg%";
  uint8_t cut;
  for(cut=0; cut<=BLOOM_LISTS_MAX_CUT; cut++){
    bloom_lists_range ranges[MAX_RANGES];
    bloom_lists_even(lists, cut);
    assert_int_equal(ranges_of(BLOOM_NEEDLE_LIKE, text, 10, ranges), cut<=2 ? 3 : 2);
    if( cut>2 ) continue;
    assert_int_equal(ranges[2].first, bloom_lists_class(0x63646500) << cut);
    assert_int_equal(ranges[2].num_lists, 1u << cut);
    assert_int_equal(ranges_of(BLOOM_NEEDLE_LIKE, text, 6, ranges), 3); /* the text ends there: one list */
    assert_int_equal(ranges[2].num_lists, 1);
  }
}

/* Ranges go behind those that are there, none that holds another, and no more than have room. */
TEST(ranges_are_appended){
  static const uint8_t text[] = "%abcdefgh%";
  bloom_lists_range ranges[7], all[7];
  size_t room, i;
  bloom_lists_even(lists, 7);
  memset(ranges, 0xa5, sizeof(ranges));
  assert_int_equal(bloom_needle_ranges(lists, BLOOM_NEEDLE_LIKE, text, 10, all, 0, 7), 5);
  for(room=0; room<=5; room++){
    assert_int_equal(bloom_needle_ranges(lists, BLOOM_NEEDLE_LIKE, text, 10, ranges, 0, room), room);
    assert_memory_equal(ranges, all, room*sizeof(*all));
    assert_int_equal(ranges[room].first, 0xa5a5a5a5u);
  }
  assert_int_equal(bloom_needle_ranges(lists, BLOOM_NEEDLE_LIKE, text, 10, all, 5, 7), 5);
  assert_int_equal(bloom_needle_ranges(lists, BLOOM_NEEDLE_PART, (const uint8_t *)"cde", 3, all, 5, 7), 5); /* cdef is there */
  assert_int_equal(bloom_needle_ranges(lists, BLOOM_NEEDLE_PART, (const uint8_t *)"fgh", 3, all, 5, 7), 6);
  assert_int_equal(bloom_needle_ranges(lists, BLOOM_NEEDLE_PART, NULL, 0, all, 6, 7), 6);
  for(i=0; i<5; i++) assert_memory_equal(ranges + i, all + i, sizeof(*all));
}

/* All grams in their order, over the ends of what one call returns. */
TEST(long_texts_come_in_parts){
  rng random = rng_stream(1);
  size_t round;
  for(round=0; round<test_share(3000); round++){
    const size_t num_bytes = rng_below(&random, MAX_TEXT + 1);
    uint8_t text[MAX_TEXT + 2] = {0};
    gram_list list, expected = {.count = 0};
    size_t i;
    for(i=0; i<num_bytes; i++) text[1 + i] = (uint8_t)(1 + rng_below(&random, 127));
    list = grams_of(text + 1, num_bytes, (int)round%2);
    for(i=0; i<num_bytes; i++) text[1 + i] = (uint8_t)naive_lower(text[1 + i]);
    for(i=0; i+2<=num_bytes; i++){ /* the mark is before the text, a 0 behind it */
      add_gram(&expected, (uint32_t)text[i] << 24 | (uint32_t)text[i+1] << 16 | (uint32_t)text[i+2] << 8 | text[i+3]);
    }
    assert_int_equal(list.count, expected.count);
    assert_memory_equal(list.grams, expected.grams, expected.count*sizeof(uint32_t));
  }
}

/* A character of four bytes, or the end, is the last that a call reads, wherever it comes. */
TEST(what_a_call_returns_has_room){
  static const uint8_t smiley[4] = {0xf0, 0x9f, 0x98, 0x80};
  size_t num_letters, num_smileys;
  for(num_letters=0; num_letters<12; num_letters++){
    for(num_smileys=58; num_smileys<130; num_smileys++){
      uint8_t text[12 + 4*130];
      uint32_t *grams = allocated((BLOOM_TEXT_ROOM + 8)*sizeof(uint32_t));
      bloom_text reading;
      size_t i, count = 0, num_calls = 0;
      memset(text, 'a', num_letters);
      for(i=0; i<num_smileys; i++) memcpy(text + num_letters + 4*i, smiley, 4);
      memset(grams, 0xa5, (BLOOM_TEXT_ROOM + 8)*sizeof(uint32_t));
      bloom_text_begin(&reading, text, num_letters + 4*num_smileys, 0);
      while( (i = bloom_text_next(&reading, grams))>0 ) count += i, num_calls++;
      for(i=0; i<8; i++) assert_int_equal(grams[BLOOM_TEXT_ROOM + i], 0xa5a5a5a5u);
      assert_int_equal(count, num_letters + 4*num_smileys - 1 + 3); /* the edges */
      assert_in_range(num_calls, 1, 3);
      free(grams);
    }
  }
}

/* The promise. */
TEST(a_text_that_matches_is_in_the_pattern_s_lists){
  rng random = rng_stream(3);
  size_t round, num_matches = 0, num_with_ranges = 0, num_old = 0;
  for(round=0; round<test_share(1000000); round++){
    const int is_glob = (int)rng_below(&random, 2);
    uint8_t text[128] = {0}, pattern[1024];
    const size_t num_bytes = random_text(&random, rng_below(&random, 12), text);
    const size_t pattern_bytes = rng_below(&random, 4) ? random_pattern(&random, is_glob, text, num_bytes, pattern)
                                                       : random_text(&random, rng_below(&random, 8), pattern);
    const int is_match = naive_match(is_glob, pattern, text, 0);
    bloom_lists_range ranges[MAX_RANGES];
    size_t num_ranges;
    if( round%1000==0 ) cut_at_random(&random);
    if( !is_match && !naive_match(is_glob, pattern, text, 1) ) continue;
    num_matches++;
    num_old += !is_match;
    num_ranges = ranges_of(is_glob ? BLOOM_NEEDLE_GLOB : BLOOM_NEEDLE_LIKE, pattern, pattern_bytes, ranges);
    num_with_ranges += num_ranges>0;
    {
      const gram_list list = grams_of(text, num_bytes, (int)round%2);
      if( !meets(&list, ranges, num_ranges) ){
        fail_msg("%s: pattern %s, text %s", is_glob ? "GLOB" : "LIKE", hex_of(pattern, pattern_bytes), hex_of(text, num_bytes));
      }
    }
  }
  assert_true(num_matches>test_share(1000000)/10);
  assert_true(num_with_ranges>test_share(1000000)/50);
  if( test_share(1000000)==1000000 ) assert_true(num_old>10);
}

/* = by each collation, with bytes of any kind, NULs among them, and parts of well-formed texts. */
TEST(an_equal_text_is_in_the_needle_s_lists){
  rng random = rng_stream(4);
  size_t round, num_with_ranges = 0;
  for(round=0; round<test_share(300000); round++){
    uint8_t text[160] = {0}, needle[160];
    size_t num_bytes = random_text(&random, rng_below(&random, 16), text), needle_bytes, i, num_ranges;
    bloom_lists_range ranges[MAX_RANGES];
    bloom_needle_kind kind = round%3==0 ? BLOOM_NEEDLE_PART : round%3==1 ? BLOOM_NEEDLE_EQUAL : BLOOM_NEEDLE_EQUAL_RTRIM;
    gram_list list;
    if( round%1000==0 ) cut_at_random(&random);
    if( kind==BLOOM_NEEDLE_PART ){
      for(i=0; i<num_bytes; i++) text[i] &= 0x7f;
      for(i=0; i<num_bytes; i++) if( text[i]==0 ) text[i] = 'x';
      i = rng_below(&random, num_bytes + 1);
      needle_bytes = rng_below(&random, num_bytes - i + 1);
      memcpy(needle, text + i, needle_bytes);
    }else{
      for(i=0; i<num_bytes; i++) if( rng_below(&random, 20)==0 ) text[i] = 0;
      needle_bytes = num_bytes;
      memcpy(needle, text, num_bytes);
      for(i=0; i<num_bytes; i++) if( needle[i]>='a' && needle[i]<='z' && rng_below(&random, 2) ) needle[i] ^= 0x20;
      if( kind==BLOOM_NEEDLE_EQUAL_RTRIM ){
        for(i=rng_below(&random, 4); i>0; i--) text[num_bytes++] = ' ';
      }
    }
    list = grams_of(text, num_bytes, (int)rng_below(&random, 2));
    num_ranges = ranges_of(kind, needle, needle_bytes, ranges);
    num_with_ranges += num_ranges>0;
    if( !meets(&list, ranges, num_ranges) ) fail_msg("kind %d: needle %s, text %s", (int)kind, hex_of(needle, needle_bytes), hex_of(text, num_bytes));
  }
  assert_true(num_with_ranges>test_share(300000)/4);
}

/* What stands at an end of a text is looked for there, by three bytes or more, and whole texts. */
TEST(edges_of_texts){
  enum { L = BLOOM_NEEDLE_LIKE, E = BLOOM_NEEDLE_EQUAL, R = BLOOM_NEEDLE_EQUAL_RTRIM, B = BLOOM_NEEDLE_BEGINNING, Z = BLOOM_NEEDLE_END };
  static const struct { int kind; const char *needle, *text, *other; } cases[] = {
    {L, "abc%", "abcdef", "xabcdef"}, {L, "ABcde%", "abcdef", "xabcdef"}, {L, "abc%", "abc", "aabc"}, {L, "abc_e%", "abcde", " abcde"},
    {L, "%def", "abcdef", "abcdefg"}, {L, "%cdef", "abcdef", "bcdefg"}, {L, "%f", "abf", NULL}, {L, "%def", "def", "defg"},
    {L, "\xe4\xba\xac%", "\xe4\xba\xac\xe9\x83\xbd", "a\xe4\xba\xac\xe9\x83\xbd"},
    {L, "\xe4\xba\xac\xe9\x83\xbd%", "\xe4\xba\xac\xe9\x83\xbd", "\xe9\x83\xbd\xe4\xba\xac\xe9\x83\xbd"},
    {L, "%\xe9\x83\xbd", "\xe4\xba\xac\xe9\x83\xbd", "\xe4\xba\xac\xe9\x83\xbd" "a"},
    {L, "%\xe4\xba\xac\xe9\x83\xbd", "ab\xe4\xba\xac\xe9\x83\xbd", "\xe4\xba\xac\xe9\x83\xbd" "a"},
    {E, "a", "a", "b"}, {E, "abcde", "abcde", "abcdeabcde"}, {E, "abcde", "ABCDE", "deabcde"}, {R, "abcde", "abcde  ", "xabcde"},
    {B, "abc", "ABCdef", "xabcdef"}, {B, "abcd", "abcdef", "xabcdef"}, {Z, "def", "abcdef", "abcdefg"}, {Z, "cdef", "abcdef", "bcdefg"},
  };
  size_t i;
  bloom_lists_even(lists, 7);
  memset(lists->edge_bits, BLOOM_LISTS_MAX_EDGE_BITS, BLOOM_LISTS_EDGES);
  bloom_lists_number(lists);
  for(i=0; i<COUNT_OF(cases); i++){
    bloom_lists_range ranges[MAX_RANGES], edges[MAX_RANGES];
    const char *needle = cases[i].needle;
    const size_t num_ranges = ranges_of((bloom_needle_kind)cases[i].kind, (const uint8_t *)needle, strlen(needle), ranges);
    size_t num_edges = 0, j;
    gram_list list = grams_of((const uint8_t *)cases[i].text, strlen(cases[i].text), 0);
    for(j=0; j<num_ranges; j++) if( ranges[j].first>bloom_lists_any(lists) ) edges[num_edges++] = ranges[j];
    if( (num_edges>0)!=(cases[i].other!=NULL) || !meets(&list, ranges, num_ranges) ) fail_msg("case %zu: %s", i, needle);
    if( cases[i].other==NULL ) continue;
    list = grams_of((const uint8_t *)cases[i].other, strlen(cases[i].other), 0);
    if( meets(&list, edges, num_edges) ) fail_msg("case %zu: %s finds %s", i, needle, cases[i].other);
  }
  /* An end at each NUL that is read beyond; one beginning. */
  assert_int_equal(grams_of((const uint8_t *)"abcd\0defg\0", 10, 1).num_edges, 4);
  assert_int_equal(grams_of((const uint8_t *)"abcd\0defg\0", 10, 0).num_edges, 3);
  assert_int_equal(grams_of((const uint8_t *)"\0abcd", 5, 0).num_edges, 0);
}

/* Two characters of Chinese, Japanese or Korean have a list, and the second one a class. */
TEST(two_characters_are_a_needle){
  rng random = rng_stream(5);
  size_t round;
  bloom_lists_even(lists, 7);
  for(round=0; round<1000; round++){
    uint8_t text[27], pattern[8] = "%......%";
    bloom_lists_range ranges[MAX_RANGES];
    gram_list list;
    size_t i;
    for(i=0; i<9; i++){
      const uint32_t c = 0x3041 + (uint32_t)rng_below(&random, 0xd7a3 - 0x3041);
      text[3*i] = (uint8_t)(0xe0 | c >> 12);
      text[3*i + 1] = (uint8_t)(0x80 | (c >> 6 & 63));
      text[3*i + 2] = (uint8_t)(0x80 | (c & 63));
    }
    memcpy(pattern + 1, text + 3*rng_below(&random, 8), 6);
    assert_int_equal(ranges_of(BLOOM_NEEDLE_LIKE, pattern, 8, ranges), 2);
    list = grams_of(text, 27, 0);
    assert_true(meets(&list, ranges, 2));
    pattern[4] = (uint8_t)(pattern[4]==0xe4 ? 0xe5 : 0xe4);
    assert_int_equal(ranges_of(BLOOM_NEEDLE_LIKE, pattern, 8, ranges), 2);
    assert_false(meets(&list, ranges, 2));
  }
}

RUN_TESTS()
