/*
** Pieces of texts and of LIKE's and GLOB's patterns: the definition, written here once
** more, and the promise: a text that a pattern matches has all of the pattern's pieces,
** whatever bytes the two are of.  The matching is SQLite's, written from its rules alone.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/signature/pattern.h"

#define MAX_TEXT   300
#define MAX_HASHES ((size_t)8*MAX_TEXT)

typedef struct hash_list {
  uint64_t hashes[MAX_HASHES];
  size_t count;
} hash_list;

static void add_hash(hash_list *list, uint64_t hash){
  assert_true(list->count<MAX_HASHES);
  list->hashes[list->count++] = hash;
}

static int has_hash(const hash_list *list, uint64_t hash){
  size_t i;
  for(i=0; i<list->count; i++) if( list->hashes[i]==hash ) return 1;
  return 0;
}

/* A text, or a pattern of LIKE or GLOB. */
typedef enum pieces_kind { TEXT, LIKE, GLOB } pieces_kind;

/* Each text ends where its memory ends, so that a sanitizer sees a byte too many. */
static hash_list pieces_of(pieces_kind kind, const uint8_t *text, size_t num_bytes){
  uint8_t *copy = exact_copy(text, num_bytes);
  uint64_t hashes[BLOOM_PIECES_ROOM];
  bloom_pieces pieces;
  bloom_pattern pattern;
  hash_list list = {.count = 0};
  size_t count, i;
  bloom_pieces_begin(&pieces, copy, num_bytes);
  bloom_pattern_begin(&pattern, kind==GLOB ? BLOOM_PATTERN_GLOB : BLOOM_PATTERN_LIKE, copy, num_bytes);
  do{
    count = kind==TEXT ? bloom_pieces_next(&pieces, hashes) : bloom_pattern_next(&pattern, hashes);
    assert_true(count<=BLOOM_PIECES_ROOM);
    for(i=0; i<count; i++) add_hash(&list, hashes[i]);
  }while( count>0 );
  free(copy);
  return list;
}

/* ---- the definition, once more -------------------------------------------- */

static uint64_t naive_hash(const uint8_t *piece, size_t length){
  uint64_t x = (uint64_t)length * 72057594037927936u;
  size_t i;
  for(i=0; i<length; i++) x += (uint64_t)piece[i] << 8*(length - 1 - i);
  x ^= x >> 33;
  x *= 14029467366897019727u;
  x ^= x >> 29;
  x *= 1609587929392839161u;
  return x ^ x >> 32;
}

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

static int naive_match(bloom_pattern_syntax syntax, const uint8_t *pattern, const uint8_t *text, int is_old){ /* NOLINT(misc-no-recursion) */
  const uint32_t any = syntax==BLOOM_PATTERN_LIKE ? '%' : '*', one = syntax==BLOOM_PATTERN_LIKE ? '_' : '?';
  const uint8_t *next = pattern, *rest = text;
  uint32_t p = naive_read(&next, is_old), c;
  if( p==0 ) return *text==0;
  if( p==any ){
    const uint8_t *after = next;
    if( naive_match(syntax, next, text, is_old) ) return 1;
    /* Up to 3.31 or so U+0080 was looked for as a byte. */
    if( is_old && *after && naive_read(&after, is_old)==0x80 ){
      for(rest=text; *rest; rest++) if( *rest==0x80 && naive_match(syntax, after, rest + 1, is_old) ) return 1;
    }
    while( *text ){
      naive_read(&text, is_old);
      if( naive_match(syntax, next, text, is_old) ) return 1;
    }
    return 0;
  }
  if( *text==0 ) return 0;
  c = naive_read(&rest, is_old);
  if( syntax==BLOOM_PATTERN_GLOB && p=='[' ) return naive_class(&next, c, is_old) && naive_match(syntax, next, rest, is_old);
  if( c!=p && p!=one ){
    if( syntax==BLOOM_PATTERN_GLOB || c>=0x80 || p>=0x80 || naive_lower(c)!=naive_lower(p) ) return 0;
  }
  return naive_match(syntax, next, rest, is_old);
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

/* Also in ../../ext/FORMATS.md. */
TEST(known_hashes){
  const hash_list list = pieces_of(TEXT, (const uint8_t *)"Error", 5);
  assert_int_equal(list.count, 5);
  assert_int_equal(list.hashes[0], 0x167db0b790db56abu);
  assert_int_equal(list.hashes[2], 0xc6e09f98937f548cu);
}

#define BYTES(text) text, sizeof(text) - 1

TEST(pieces_of_texts_and_patterns){
  static const struct { pieces_kind kind; const char *text; size_t num_bytes; const char *pieces; } cases[] = {
    {TEXT, BYTES(""), ""}, {TEXT, BYTES("ab"), ""}, {TEXT, BYTES("abc"), "abc"},
    {TEXT, BYTES("ABCd@["), "abc;bcd;abcd;cd@;bcd@;d@[;cd@["}, {TEXT, BYTES("abc\0def"), "abc"},
    {TEXT, BYTES("\xc3\x84z"), "\xc3\x84z"}, /* no case but ASCII's */
    {TEXT, BYTES("a\xf0\x9f\x98\x80"), "a\xf0\x9f;\xf0\x9f\x98;a\xf0\x9f\x98;\x9f\x98\x80;\xf0\x9f\x98\x80"},
    {TEXT, BYTES("abc\xef\xbf\xbd" "def"), "abc;def"}, {TEXT, BYTES("abc\xff" "def"), "abc;def"},
    {TEXT, BYTES("abc\xef\xbf\xbf" "def"), "abc;def"},
    {TEXT, BYTES("abc\xed\xb0\x80" "def"), "abc;def"},
    {TEXT, BYTES("abc\xc1\x81" "def"), "abc;def"},
    {TEXT, BYTES("abc\xf4\x90\x80\x80" "def"), "abc;def"}, {TEXT, BYTES("a\xa3"), "a\xc2\xa3"},
    {TEXT, BYTES("a\xe0\x82\xa3"), "a\xc2\xa3"}, {TEXT, BYTES("a\xfe\x80\x82\xa3"), "a\xc2\xa3"},
    {TEXT, BYTES("a\xf8\x80\x80\x82\xa3"), "a\xc2\xa3"},
    {TEXT, BYTES("\xfb\x82\xa3"), "\xe3\x82\xa3"},
    {TEXT, BYTES("a\xf0\xbf\xbf\xbf\xbf\xbf\x80\x80\x80\x80\x82\xa3"), "a\xc2\xa3"}, /* shifted out */
    {TEXT, BYTES("\xe2\x80\x82"), "\xe2\x80\x82"},
    {TEXT, BYTES("\xe0\x82"), ""}, /* cut off: U+0002, which is none in two bytes */
    {LIKE, BYTES("%"), ""}, {LIKE, BYTES("ab_cd%"), ""}, {GLOB, BYTES("*ab[cd]ab?ab["), ""},
    {LIKE, BYTES("ab\0abc"), ""}, {LIKE, BYTES("ab\xef\xbf\xbd" "bc"), ""}, {LIKE, BYTES(""), ""},
    {LIKE, BYTES("%time_out%"), "tim;ime;time;out"}, {LIKE, BYTES("ABC"), "abc"},
    {LIKE, BYTES("abc\0def"), "abc"}, {LIKE, BYTES("%a*?[b%"), "a*?;*?[;a*?[;?[b;*?[b"},
    {LIKE, BYTES("abc%%__def"), "abc;def"}, {GLOB, BYTES("*a%_b*"), "a%_;%_b;a%_b"},
    {GLOB, BYTES("abc?def"), "abc;def"}, {GLOB, BYTES("ab[c]d"), "abc;bcd;abcd"},
    {GLOB, BYTES("abc[[]d"), "abc;bc[;abc[;c[d;bc[d"},
    {GLOB, BYTES("abc[*]d"), "abc;bc*;abc*;c*d;bc*d"}, {GLOB, BYTES("a[]]bc"), "a]b;]bc;a]bc"},
    {GLOB, BYTES("abc[x-z]def[^]]ghi[]x]jkl[^x]mno"), "abc;def;ghi;jkl;mno"},
    {GLOB, BYTES("abc[^]def]ghi"), "abc;ghi"}, {GLOB, BYTES("abc[def"), "abc"},
    {LIKE, BYTES("a\xa3%"), "a\xc2\xa3"},
    /* U+0080, and what old versions may find within another character. */
    {LIKE, BYTES("%abc\xc2\x80" "def%"), "abc;def"},
    {LIKE, BYTES("%\xc2\x80" "abc\xc2\xa3" "def\xc3\xa4g"),
     "abc;def;ef\xc3;def\xc3;f\xc3\xa4;ef\xc3\xa4;\xc3\xa4g;f\xc3\xa4g"},
  };
  size_t i;
  for(i=0; i<COUNT_OF(cases); i++){
    const hash_list list = pieces_of(cases[i].kind, (const uint8_t *)cases[i].text, cases[i].num_bytes);
    const char *piece = cases[i].pieces;
    size_t count = 0, length;
    for(; *piece; piece+=length + (piece[length]==';')){
      length = strcspn(piece, ";");
      if( count>=list.count || list.hashes[count++]!=naive_hash((const uint8_t *)piece, length) ){
        fail_msg("case %zu, %s: not %s", i, cases[i].text, cases[i].pieces);
      }
    }
    if( count!=list.count ) fail_msg("case %zu, %s: more than %s", i, cases[i].text, cases[i].pieces);
  }
}

/* All pieces in their order, over the ends of what one call returns. */
TEST(long_texts_come_in_parts){
  rng random = rng_stream(1);
  size_t round;
  for(round=0; round<test_share(3000); round++){
    const size_t num_bytes = rng_below(&random, MAX_TEXT + 1);
    uint8_t text[MAX_TEXT];
    hash_list list, expected = {.count = 0};
    size_t i;
    for(i=0; i<num_bytes; i++) text[i] = (uint8_t)(1 + rng_below(&random, 127));
    list = pieces_of(TEXT, text, num_bytes);
    for(i=0; i<num_bytes; i++) text[i] = (uint8_t)naive_lower(text[i]);
    for(i=0; i<num_bytes; i++){
      if( i>=2 ) add_hash(&expected, naive_hash(text + i - 2, 3));
      if( i>=3 ) add_hash(&expected, naive_hash(text + i - 3, 4));
    }
    assert_int_equal(list.count, expected.count);
    assert_memory_equal(list.hashes, expected.hashes, expected.count*sizeof(uint64_t));
  }
}

/* A character of four bytes is the last that a call reads, wherever its end comes. */
TEST(what_a_call_returns_has_room){
  static const uint8_t smiley[4] = {0xf0, 0x9f, 0x98, 0x80};
  size_t num_letters;
  for(num_letters=0; num_letters<12; num_letters++){
    uint8_t text[12 + 4*60];
    uint64_t *hashes = malloc(BLOOM_PIECES_ROOM*sizeof(uint64_t) + 8*sizeof(uint64_t));
    bloom_pieces pieces;
    bloom_pattern pattern;
    size_t i, count = 0, pattern_count = 0, num_calls = 0;
    memset(text, 'a', num_letters);
    for(i=0; i<60; i++) memcpy(text + num_letters + 4*i, smiley, 4);
    memset(hashes, 0xa5, BLOOM_PIECES_ROOM*sizeof(uint64_t) + 8*sizeof(uint64_t));
    bloom_pieces_begin(&pieces, text, num_letters + 240);
    while( (i = bloom_pieces_next(&pieces, hashes))>0 ) count += i, num_calls++;
    bloom_pattern_begin(&pattern, BLOOM_PATTERN_LIKE, text, num_letters + 240);
    while( (i = bloom_pattern_next(&pattern, hashes))>0 ) pattern_count += i, num_calls++;
    for(i=0; i<8; i++) assert_int_equal(hashes[BLOOM_PIECES_ROOM + i], 0xa5a5a5a5a5a5a5a5u);
    assert_int_equal(count, 2*(num_letters + 240) - 5);
    assert_int_equal(pattern_count, count);
    assert_int_equal(num_calls, 4);
    free(hashes);
  }
}

/* The promise. */
TEST(a_text_that_matches_has_the_pattern_s_pieces){
  rng random = rng_stream(3);
  size_t round, num_matches = 0, num_with_pieces = 0, num_old = 0;
  for(round=0; round<test_share(1000000); round++){
    const int is_glob = (int)rng_below(&random, 2);
    const bloom_pattern_syntax syntax = is_glob ? BLOOM_PATTERN_GLOB : BLOOM_PATTERN_LIKE;
    uint8_t text[128] = {0}, pattern[1024];
    const size_t num_bytes = random_text(&random, rng_below(&random, 12), text);
    const size_t pattern_bytes = rng_below(&random, 4) ? random_pattern(&random, is_glob, text, num_bytes, pattern)
                                                       : random_text(&random, rng_below(&random, 8), pattern);
    const int is_match = naive_match(syntax, pattern, text, 0);
    hash_list list, wanted;
    size_t i;
    if( !is_match && !naive_match(syntax, pattern, text, 1) ) continue;
    num_matches++;
    num_old += !is_match;
    list = pieces_of(TEXT, text, num_bytes);
    wanted = pieces_of(is_glob ? GLOB : LIKE, pattern, pattern_bytes);
    num_with_pieces += wanted.count>0;
    for(i=0; i<wanted.count; i++){
      if( !has_hash(&list, wanted.hashes[i]) ){
        fail_msg("%s: pattern %s, text %s", is_glob ? "GLOB" : "LIKE", hex_of(pattern, pattern_bytes), hex_of(text, num_bytes));
      }
    }
  }
  assert_true(num_matches>test_share(1000000)/10);
  assert_true(num_with_pieces>test_share(1000000)/100);
  if( test_share(1000000)==1000000 ) assert_true(num_old>10);
}

RUN_TESTS()
