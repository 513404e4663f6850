/*
** Literals of regular expressions: each rule of ../../ext/core/entries/regexp.h as a case.
** That what is required is so for those who match is what ../index/regexps.py tries.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/entries/regexp.h"

#define MAX_SHOWN ((size_t)1 << 17)

static char shown[MAX_SHOWN];

static void show(const char *text, size_t num_bytes, size_t *length){
  assert_true(*length + num_bytes<MAX_SHOWN);
  memcpy(shown + *length, text, num_bytes);
  *length += num_bytes;
  shown[*length] = 0;
}

/* What a pattern requires: `one;two|three`, "" for nothing; ^ is before what a text begins with, $ behind what it ends with. */
static const char *required(const char *pattern, size_t num_bytes, int flags){
  uint8_t *copy = exact_copy((const uint8_t *)pattern, num_bytes);
  bloom_regexp regexp;
  size_t length = 0;
  uint32_t i, j;
  const int has_any = bloom_regexp_read(&regexp, copy, num_bytes, flags);
  free(copy);
  shown[0] = 0;
  assert_true(regexp.required.num_terms>=1 && regexp.required.num_terms<=BLOOM_REGEXP_MAX_TERMS);
  assert_true(regexp.num_literals<=BLOOM_REGEXP_MAX_LITERALS);
  for(i=0; i<regexp.required.num_terms; i++){
    int is_first = 1;
    assert_int_equal(has_any, regexp.required.terms[i]!=0);
    if( i ) show("|", 1, &length);
    for(j=0; j<BLOOM_REGEXP_MAX_LITERALS; j++){
      const bloom_regexp_literal literal = regexp.literals[j];
      if( !(regexp.required.terms[i] >> j & 1) ) continue;
      assert_true(j<regexp.num_literals && literal.num_bytes>=(literal.kind==BLOOM_NEEDLE_BEGINNING ? 2 : 3) && literal.first + literal.num_bytes<=BLOOM_REGEXP_MAX_BYTES);
      if( !is_first ) show(";", 1, &length);
      if( literal.kind==BLOOM_NEEDLE_BEGINNING ) show("^", 1, &length);
      show((const char *)regexp.bytes + literal.first, literal.num_bytes, &length);
      if( literal.kind==BLOOM_NEEDLE_END ) show("$", 1, &length);
      is_first = 0;
    }
  }
  return shown;
}

typedef struct regexp_case {
  const char *pattern, *required; /* "": nothing, since what it matches is not certain */
} regexp_case;

static void check_case(const char *pattern, const char *expected, int flags){
  const char *actual = required(pattern, strlen(pattern), flags);
  if( strcmp(actual, expected)!=0 ) fail_msg("%s with flags %d requires %s, not %s", pattern, flags, actual, expected);
}

static void check_cases(const regexp_case *cases, size_t num_cases){
  size_t i;
  for(i=0; i<num_cases; i++) check_case(cases[i].pattern, cases[i].required, 0);
}

/* By the option and by the pattern's own (?i). */
static void check_cases_in_any_case(const regexp_case *cases, size_t num_cases){
  size_t i;
  for(i=0; i<num_cases; i++){
    char pattern[100];
    snprintf(pattern, sizeof(pattern), "(?i)%s", cases[i].pattern);
    check_case(pattern, cases[i].required, 0);
    check_case(pattern + 4, cases[i].required, 1);
  }
}

TEST(literals){
  static const regexp_case cases[] = {
    {"", ""}, {"ab", ""}, {"abc", "abc"}, {"Upstream Timeout", "Upstream Timeout"},
    {"a]b}c-d,e#f~g&h", "a]b}c-d,e#f~g&h"},
    {"a\\.b\\\\c\\[d\\{\\|\\(\\)\\*\\+\\?\\^\\$\\-\\ \\/\\\"\\_", "a.b\\c[d{|()*+?^$- /\"_"},
    {"abc.def", "abc;def"}, {"abc^def$ghi", "abc;def;ghi"},
    {"abc\tdef\x7f" "ghi\x1f", "abc;def;ghi"},
    /* Bytes, not characters: of Chinese one, if another character is behind it. */
    {"\xc3\xa9" "a", "\xc3\xa9" "a"}, {"\xc3\xa9" "ab", "\xc3\xa9" "ab"},
    {"\xe4\xba\xac", ""}, {"\xe4\xba\xac\xe9\x83\xbd", "\xe4\xba\xac"},
    {"\xe4\xba\xac\xe9\x83\xbd\xe5\xb8\x82", "\xe4\xba\xac\xe9\x83\xbd"},
    {"\xf0\x9f\x98\x80\xc3\xa9" "b", "\xf0\x9f\x98\x80\xc3\xa9" "b"},
  };
  assert_string_equal(required(NULL, 0, 0), "");
  check_cases(cases, COUNT_OF(cases));
}

/* The last character, if it is none of ASCII's, may be the begin of a longer one, for bytes. */
TEST(ends_of_literals){
  static const regexp_case cases[] = {
    {"abc\xc3\xa9", "abc"}, {"ab\xc3\xa9", ""},
    {"abc\xc3\xa9\xe2\x82\xac.def", "abc\xc3\xa9;def"}, {"abc\xc3\xa9+def", "abc;def"},
    {"abc\xf0\x9f\x98\x80(x)", "abc"}, {"abc\xc3\xa9z?", "abc"},
  };
  check_cases(cases, COUNT_OF(cases));
}

TEST(quantifiers){
  static const regexp_case cases[] = {
    {"abcd+efg", "abcd;efg"}, {"abcd*efg", "abc;efg"}, {"abcd?efg", "abc;efg"},
    {"abcd{1}efg", "abc;efg"}, {"abcd{2,}efg", "abc;efg"}, {"abcd{10,20}efg", "abc;efg"},
    {"abcd{0}efg", "abc;efg"}, {"abcd{00,3}efg", "abc;efg"}, {"abcd{0,}efg", "abc;efg"},
    {"abcd{,3}efg", "abc;efg"}, {"abcd{}efg", "abc;efg"}, {"abcd{ 2 }efg", ""},
    {"abcd{2, 3}efg", ""}, {"abcd{2,3,4}efg", "abc;efg"}, {"abcd{efg", "abc;efg"},
    {"abcd{2efg", "abc;efg"}, {"abcd{", "abc"}, {"abcd\\.+efg", "abcd.;efg"},
    {"abcd\\.*efg", "abcd;efg"},
    /* The regex of Python allows for an error. */
    {"(?:abcd){e<=1}efg", ""}, {"abcd{s}", ""}, {"abcd{2x}efg", ""}, {"abcd{x(2)}efg", ""},
    /* Lazy, possessive, or one behind the other. */
    {"abcd+?efg", "abc;efg"}, {"abcd{2}?efg", "abc;efg"}, {"abcd{2}{0}efg", "abc;efg"},
    {"abcd++efg", "abcd;efg"}, {"abcd*+efg", "abc;efg"}, {"abcd??efg", "abc;efg"},
    /* Of nothing. */
    {"*abc", ""}, {"+abc", ""}, {"?abc", ""}, {"{2}abc", ""}, {"abc(*def)", ""},
    {"(+abc)def", ""}, {"abc|+abc", ""}, {"abc^*", ""}, {"abc$?def", ""}, {"abc${2}", ""},
  };
  check_cases(cases, COUNT_OF(cases));
}

TEST(escapes){
  static const regexp_case cases[] = {
    {"abc\\ddef\\bghi\\Ajkl", "abc;def;ghi;jkl"},
    {"abc\\d+def\\w*ghi\\s{2}jkl", "abc;def;ghi;jkl"},
    {"abc\\<def\\>ghi\\'jkl\\`mno", "abc;def;ghi;jkl;mno"},
    {"abc\\pLdef\\PNghi\\p{Lu}jkl\\p1mno", ""},
    {"abc\\x41bcdefghi\\u00e9jkl\\U0001f600mno", ""},
    {"abc\\x4ghidef", ""}, {"abc\\x41 def", ""},
    {"abc\\x{e9}def\\b{wb}ghi\\N{DIGIT ONE}jkl\\o{101}mno", ""},
    {"abc\\123456def\\0ghi", ""}, {"abc\\ndef\\tghi", "abc;def;ghi"},
    {"abc\\\tdef", ""}, {"abc\\p{L}{0}def", ""}, {"abc\\Qdef", ""},
    {"abc\\Qdef\\E", ""}, {"abc\\E", ""}, {"(abc)\\k<1>", ""}, {"(abc)\\g{1}", ""},
    {"abc\\cA", ""}, {"abc\\C", ""}, {"abc\\", ""}, {"abc\\\xc3\xa9", ""}, {"abc\\d{2", "abc"},
    {"abc\\d{a|b}", ""}, {"(abc\\d{a)b}", ""}, {"abc\\d{a)b}", ""}, {"abc\\d{a(b}", ""},
    {"abc\\d{a[b}", ""}, {"abc\\d{a\\}b", ""},
  };
  check_cases(cases, COUNT_OF(cases));
}

TEST(classes){
  static const regexp_case cases[] = {
    {"abc[def]ghi", "abc;ghi"}, {"abc[^def]*ghi[a-z]{2}jkl", "abc;ghi;jkl"}, {"abc[]", ""},
    {"abc[]a]def", ""}, {"abc[^]a]def", ""}, {"abc[^]def", ""}, {"abc[def", ""},
    {"abc[a[b]c]def", ""}, {"abc[a[.b.]c]def", ""},
    {"abc[[:alpha:]_]def[[:^alpha:]]ghi", ""}, {"abc[[:alpha]def]", ""},
    {"abc[[:alpha:x]def]", ""}, {"abc[|()]def", "abc;def"}, {"abc[\\w\\-.|(\\d]def", "abc;def"},
    {"abc[\\]x]def", "abc;def"}, {"abc[\\[x]def", "abc;def"}, {"abc[\\[:alpha:]def]", ""}, {"abc[^\\]]*def", "abc;def"}, {"abc[\\[\\]]def", "abc;def"}, {"abc[\\]\\]]def", ""}, {"abc[\\\\]def", "abc;def"}, {"abc[\\w.-]def[\\s]ghi", "abc;ghi"},
    /* In SQLite's shell - and ] may be a range, and the class goes on to the next ]. */
    {"abc[x-]def", "abc;def"}, {"abc[-]def[g]hij", "abc;def;hij"}, {"abc[^-]def[g]hij", "abc;def;hij"},
    {"abc[x-]def[g]hij", "abc;hij"}, {"abc[--]def]hij", ""}, {"abc[x-]def[^g]hij", "abc;hij"},
    {"abc[x-]def[g-]hij[k]lmn", "abc;lmn"}, {"abc[x-]d|ef[g]hij", ""}, {"abc[x-]d(e)[g]hij", ""},
    {"abc[x-]def[]g]hij", ""}, {"abc[x-]def[^]g]hij", ""}, {"abc[x-]def[g[h]hij", ""}, {"abc[x-]\\d[g]hij", ""},
    /* Where a class may have ended in another dialect. */
    {"abc[\\]|]def", ""}, {"abc[\\](]def", ""}, {"abc[\\])]def", ""}, {"abc[\\]\\d]def", ""},
    {"abc[[:alpha:]|]def", ""}, {"abc[[:alpha:]\\d]def", ""},
    /* Escapes that may take a ]. */
    {"abc[\\Q]def", ""}, {"abc[\\E]def", ""}, {"abc[\\k]def", ""}, {"abc[\\g]def", ""},
    {"abc[\\c]def", ""}, {"abc[\\N]def", ""}, {"abc[\\\xc3\xa9]def", ""}, {"abc[\\", ""},
  };
  check_cases(cases, COUNT_OF(cases));
}

TEST(groups){
  static const regexp_case cases[] = {
    {"abc(def)ghi", "abc;def;ghi"}, {"abc(?:def)ghi", "abc;def;ghi"},
    {"abc(?=ghi)(?<=jkl)", "abc;ghi;jkl"}, {"abc(?>def)", ""}, {"abc(?<def)", ""}, {"abc(?<", ""}, {"abc(?=", ""},
    {"(?P<n1_>abc)(?<n>def)(?'n'ghi)", ""}, {"(?Pn>abc)def", ""}, {"(?P<n", ""},
    {"abc(?!def)(?<!ghi)jkl", "abc;jkl"}, {"abc(?!(def)+)jkl", "abc;jkl"},
    {"abc(def)+ghi(jkl){2,}", "abc;def;ghi"},
    {"abc(def)*ghi(jkl)?(mno){0,2}(pqr)+?", "abc;ghi"},
    {"(?m)abc(?s)def(?-u)ghi(?msuaULJ-)", ""},
    {"((((((((((((((((((((abc))))))))))))))))))))", "abc"},
    {"(((((((((((((((((((((abc)))))))))))))))))))))", ""}, {"abc(", ""}, {"abc(def", ""},
    {"abc)def", ""}, {"abc(?", ""}, {"abc(?)def", ""}, {"abc(?m)+def", ""}, {"abc(?m){2}def", ""},
    {"(?x)abc", ""}, {"(?i:abc)", ""}, {"(?^:abc)", ""}, {"(?^)abc", ""}, {"(?n)abc", ""},
    {"(?mbcde", ""}, {"(?mx)abc", ""}, {"(*UTF)abc", ""}, {"(?#comment)abc", ""},
    {"(?|abc|def)", ""}, {"(?(1)abc|def)", ""}, {"(?R)abc", ""}, {"(?1)abc", ""},
    {"(?&n)abc", ""}, {"(?P=n)abc", ""}, {"(?P>n)abc", ""}, {"(?<>abc)", ""}, {"(?<n abc)", ""},
    {"(?'nabc)", ""}, {"(?<\xc3\xa9>abc)", ""},
  };
  check_cases(cases, COUNT_OF(cases));
}

/* ^ as the first item, and groups behind it; where lines begin it says nothing. */
TEST(beginnings){
  static const regexp_case cases[] = {
    {"^abc", "^abc"}, {"^ab", "^ab"}, {"^a", ""}, {"^", ""}, {"^abc.def", "^abc;def"}, {"^abc+def", "^abc;def"}, {"^ab?cde", "cde"},
    {"^a?bcd", "bcd"}, {"^.abc", "abc"}, {"^\\babc", "abc"}, {"^\\\\abc", "^\\abc"}, {"^[ab]cde", "cde"}, {"^\\.abc", "^.abc"},
    {"(?i)^abc", "^abc"}, {"(?si)^abc", "^abc"}, {"(?s)(?i)^abc", ""}, {"(?:)^abc", "abc"}, {"a^bcd", "bcd"}, {"^abc|def", "^abc|def"}, {"abc|^def", "abc|def"},
    {"(^abc)", "abc"}, {"^(abc|def)ghi", "^abc;ghi|^def;ghi"}, {"^(ab|cd)", "^ab|^cd"}, {"^((ab)|cd)efg", "^ab;efg|^cd;efg"},
    {"^(abc)?def", "def"}, {"^(abc)+def", "^abc;def"}, {"^(|abc)def", "def"}, {"^()abc", "abc"}, {"^(?=abc)def", "^abc;def"}, {"^(?!abc)def", "def"},
    {"^^abc", "abc"}, {"^*abc", ""}, {"^{2}abc", ""}, {"^(?i)abc", ""}, {"^\xc3\xa9" "ab", "^\xc3\xa9" "ab"}, {"^a\xc3\xa9.", ""},
    {"(?m)^abc", "abc"}, {"^abc(?m)", ""}, {"^abc(?-m)", ""}, {"^ab(?im)", ""},
  };
  static const regexp_case in_any_case[] = {{"^abc", "^abc"}, {"^abkabc", "^ab;abc"}, {"^kabc", "abc"}, {"^abkab", "^ab"}};
  size_t i;
  check_cases(cases, COUNT_OF(cases));
  check_cases_in_any_case(in_any_case, COUNT_OF(in_any_case));
  check_case("^abc", "abc", BLOOM_REGEXP_HAS_LINES);
  check_case("(?i)^(ABC|dea)", "abc|dea", BLOOM_REGEXP_HAS_LINES);
  for(i=0; i<2; i++) check_case("^ab", "", BLOOM_REGEXP_HAS_LINES | (int)i*BLOOM_REGEXP_IGNORES_CASE);
}

/* $ as the last byte: with and without a newline; the literal stands anywhere in the text, too, for what has no room. */
TEST(ends_of_texts){
  static const regexp_case cases[] = {
    {"abc$", "abc$;abc|abc\n$;abc"}, {"ab$", ""}, {"$", ""}, {"x.abc$", "abc$;abc|abc\n$;abc"}, {"^abc$", "abc$;^abc|abc\n$;^abc"}, {"^ab$", "^ab"},
    {"abc\\$", "abc$"}, {"abc+$", "abc"}, {"abc.$", "abc"}, {"abc\\b$", "abc"}, {"abcd?$", "abc"}, {"(abc)$", "abc"}, {"(abc$)", "abc"},
    {"abc$def", "abc;def"}, {"abc$$", "abc"}, {"abc$+", ""}, {"def|abc$", "def|abc$;abc|abc\n$;abc"}, {"abc$|def", "abc|def"},
    {"abc\xc3\xa9$", "abc"}, {"\xc3\xa9" "ab$", "\xc3\xa9" "ab$;\xc3\xa9" "ab|\xc3\xa9" "ab\n$;\xc3\xa9" "ab"},
    {"(?m)abc$", "abc"}, {"abc$(?i)", ""}, {"(abc|def)ghi$", "abc;ghi$;ghi|abc;ghi\n$;ghi|def;ghi$;ghi|def;ghi\n$;ghi"},
    {"(aaa|bbb|ccc)(ddd|eee|fff)ghi$", "aaa;ddd;ghi|aaa;eee;ghi|aaa;fff;ghi|bbb;ddd;ghi|bbb;eee;ghi|bbb;fff;ghi|ccc;ddd;ghi|ccc;eee;ghi|ccc;fff;ghi"},
  };
  static const regexp_case in_any_case[] = {
    {"abc$", "abc$;abc|abc\n$;abc"}, {"abkabc$", "abc$;abc|abc\n$;abc"}, {"abck$", "abc"}, {"\xc3\xa9" "0abc$", "0ab"},
  };
  check_cases(cases, COUNT_OF(cases));
  check_cases_in_any_case(in_any_case, COUNT_OF(in_any_case));
  check_case("abc$", "abc", BLOOM_REGEXP_HAS_LINES);
}

TEST(alternatives){
  static const regexp_case cases[] = {
    {"abc|def", "abc|def"}, {"abc|de", ""}, {"abc|", ""}, {"|abc", ""}, {"ghi(abc|)", "ghi"},
    {"(abc|def)ghi", "abc;ghi|def;ghi"},
    {"(?:time|fad)ed out|refused", "time;ed out|fad;ed out|refused"},
    {"(abc|def)(ghi|jkl)", "abc;ghi|abc;jkl|def;ghi|def;jkl"}, {"(abc|def)?ghi", "ghi"},
    /* 17 are too many, of which the others stay. */
    {"00a|01a|02a|03a|04a|05a|06a|07a|08a|09a|10a|11a|12a|13a|14a|15a",
     "00a|01a|02a|03a|04a|05a|06a|07a|08a|09a|10a|11a|12a|13a|14a|15a"},
    {"abc(00a|01a|02a|03a|04a|05a|06a|07a|08a|09a|10a|11a|12a|13a|14a|15a|16a)def", "abc;def"},
    {"(abc|def)(ghi|jkl)(mno|pqr)(stu|vwx)(yza|bcd)xyz",
     "abc;ghi;mno;stu;xyz|abc;ghi;mno;vwx;xyz|abc;ghi;pqr;stu;xyz|abc;ghi;pqr;vwx;xyz|"
     "abc;jkl;mno;stu;xyz|abc;jkl;mno;vwx;xyz|abc;jkl;pqr;stu;xyz|abc;jkl;pqr;vwx;xyz|"
     "def;ghi;mno;stu;xyz|def;ghi;mno;vwx;xyz|def;ghi;pqr;stu;xyz|def;ghi;pqr;vwx;xyz|"
     "def;jkl;mno;stu;xyz|def;jkl;mno;vwx;xyz|def;jkl;pqr;stu;xyz|def;jkl;pqr;vwx;xyz"},
  };
  check_cases(cases, COUNT_OF(cases));
}

TEST(what_would_make_too_many_terms_is_not_required){
  static const regexp_case cases[] = {
    {"(abc|def|ghi)(00a|01a|02a|03a|04a|05a)", "abc|def|ghi"},
    {"(00a|01a|02a)(abc|def)x(00a|01a|02a)xyz",
     "00a;abc;xyz|00a;def;xyz|01a;abc;xyz|01a;def;xyz|02a;abc;xyz|02a;def;xyz"},
  };
  check_cases(cases, COUNT_OF(cases));
}

/* Letters that stand for others, too, and what may be one character with their neighbours. */
TEST(letter_cases){
  static const regexp_case cases[] = {
    /* The flag anywhere. */
    {"abckxyz(?i)", ""}, {"abckxyz(?-i)", ""}, {"ABC(?!(?i))", ""},
  };
  static const regexp_case in_any_case[] = {
    {"ABCdeg", "abcdeg"}, {"abcfdegiabcKdegSabc", "abc;deg;abc;deg;abc"},
    {"abc123_-@", "abc123_-@"}, {"0abc\xc3\xa9" "dxyz0", "0ab;xyz0"},
    {"012\xc3\xa9" "345", "012;345"}, {"abcftabcslabcatlabc", "abc;abc;abcatlabc"},
    /* Across groups and classes. */
    {"lmnm", "mnm"}, {"(lmnm)", "mnm"}, {"almn", "almn"}, {"[s]tabc", "abc"}, {"(?:f)lmno", "mno"},
    {"(?:0abcn)\xcc\x8c", "0abc"}, {"\xca\xbc(?:nabc0)d", "abc0"}, {"0abcn\\x{30c}", ""},
    {"\\u02bcnabcd", ""}, {"[\\x{2bc}]nabcd", ""}, {"\xca\xbc" "0abcd0", "0abcd0"},
  };
  check_cases_in_any_case(in_any_case, COUNT_OF(in_any_case));
  check_cases(cases, COUNT_OF(cases));
}

TEST(ill_formed_patterns){
  static const regexp_case cases[] = {
    {"abc\x80", ""}, {"abc\xc3", ""}, {"abc\xc1\x81", ""}, {"abc\xe2\x82", ""}, {"abc\xe0\x82\xa3", ""},
    {"abc\xed\xa0\x80", ""}, {"abc\xf0\x8f\xbf\xbf", ""}, {"abc\xf4\x90\x80\x80", ""},
    {"abc\xf5\x80\x80\x80", ""}, {"abc\xc3.abc", ""}, {"abc\xff", ""},
    {"abc\xc3\x80\x80\x80\x80\x80\x83\xa9", ""},
    {"abc\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" "0",
     "abc\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" "0"},
  };
  check_cases(cases, COUNT_OF(cases));
  assert_string_equal(required("abc\0def", 7, 0), "");
}

/* What there is no room for is not required. */
TEST(long_patterns){
  static const char end[] = {'\xc3', '\xa9', 'b', 'c', 'd'};
  const size_t room = BLOOM_REGEXP_MAX_BYTES;
  char *pattern = allocated(70000);
  size_t i;
  const char *found;
  for(i=0; i<100; i++) snprintf(pattern + 4*i, 5, "x%02u.", (unsigned)i);
  found = required(pattern, 400, 0);
  assert_int_equal(strlen(found), 64*4 - 1);
  assert_memory_equal(found + 252, "x63", 3);
  /* A run is cut, and one that begins behind it is not joined. */
  memset(pattern, 'a', 70000);
  assert_int_equal(strlen(required(pattern, 70000, 0)), room);
  memcpy(pattern + room - 1, end, sizeof(end));
  assert_int_equal(strlen(required(pattern, room + 4, 0)), room - 1);
  /* Deep, and of many alternatives. */
  memset(pattern, '(', 70000);
  assert_string_equal(required(pattern, 70000, 0), "");
  memset(pattern, '|', 70000);
  assert_string_equal(required(pattern, 70000, 0), "");
  for(i=0; i<60000; i++) pattern[i] = "abc|"[i%4];
  assert_string_equal(required(pattern, 59999, 0), "");
  free(pattern);
}

RUN_TESTS()
