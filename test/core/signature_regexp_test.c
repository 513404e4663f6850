/*
** Literals of regular expressions: each rule of ../../ext/core/signature/regexp.h as a case.
** That what is required is so for those who match is what ../index/regexps.py tries.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/signature/regexp.h"

#define MAX_SHOWN ((size_t)1 << 17)

static char shown[MAX_SHOWN];

static void show(const char *text, size_t num_bytes, size_t *length){
  assert_true(*length + num_bytes<MAX_SHOWN);
  memcpy(shown + *length, text, num_bytes);
  *length += num_bytes;
  shown[*length] = 0;
}

/* What a pattern requires: `one;two|three`, "" for nothing. */
static const char *required(const char *pattern, size_t num_bytes, int ignores_case){
  uint8_t *copy = exact_copy((const uint8_t *)pattern, num_bytes);
  bloom_regexp regexp;
  size_t length = 0;
  uint32_t i, j;
  const int has_any = bloom_regexp_read(&regexp, copy, num_bytes, ignores_case);
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
      assert_true(j<regexp.num_literals && literal.num_bytes>=3 && literal.first + literal.num_bytes<=BLOOM_REGEXP_MAX_BYTES);
      if( !is_first ) show(";", 1, &length);
      show((const char *)regexp.bytes + literal.first, literal.num_bytes, &length);
      is_first = 0;
    }
  }
  return shown;
}

#define REQUIRES(pattern, expected) \
  do{ \
    const char *actual_ = required(pattern, sizeof(pattern) - 1, 0); \
    if( strcmp(actual_, expected)!=0 ) fail_msg("%s requires %s, not %s", pattern, actual_, expected); \
  }while( 0 )

#define REQUIRES_IN_ANY_CASE(pattern, expected) \
  do{ \
    const char *actual_ = required(pattern, sizeof(pattern) - 1, 1); \
    if( strcmp(actual_, expected)!=0 ) fail_msg("%s requires %s in any case, not %s", pattern, actual_, expected); \
    actual_ = required("(?i)" pattern, sizeof("(?i)" pattern) - 1, 0); \
    if( strcmp(actual_, expected)!=0 ) fail_msg("(?i)%s requires %s, not %s", pattern, actual_, expected); \
  }while( 0 )

#define GIVES_UP(pattern) REQUIRES(pattern, "")

TEST(literals){
  REQUIRES("", "");
  assert_string_equal(required(NULL, 0, 0), "");
  REQUIRES("ab", "");
  REQUIRES("abc", "abc");
  REQUIRES("Upstream Timeout", "Upstream Timeout");
  REQUIRES("a]b}c-d,e#f~g&h", "a]b}c-d,e#f~g&h");
  REQUIRES("a\\.b\\\\c\\[d\\{\\|\\(\\)\\*\\+\\?\\^\\$\\-\\ \\/\\\"\\_", "a.b\\c[d{|()*+?^$- /\"_");
  REQUIRES("abc.def", "abc;def");
  REQUIRES("abc^def$ghi", "abc;def;ghi");
  REQUIRES("abc\tdef\x7f" "ghi\x1f", "abc;def;ghi");
  /* Characters, not bytes. */
  REQUIRES("\xc3\xa9" "a", "");
  REQUIRES("\xc3\xa9" "ab", "\xc3\xa9" "ab");
  REQUIRES("\xf0\x9f\x98\x80\xc3\xa9" "b", "\xf0\x9f\x98\x80\xc3\xa9" "b");
}

/* The last character, if it is none of ASCII's, may be the begin of a longer one, for bytes. */
TEST(ends_of_literals){
  REQUIRES("abc\xc3\xa9", "abc");
  REQUIRES("ab\xc3\xa9", "");
  REQUIRES("abc\xc3\xa9\xe2\x82\xac.def", "abc\xc3\xa9;def");
  REQUIRES("abc\xc3\xa9+def", "abc;def");
  REQUIRES("abc\xf0\x9f\x98\x80(x)", "abc");
  REQUIRES("abc\xc3\xa9z?", "abc");
}

TEST(quantifiers){
  REQUIRES("abcd+efg", "abcd;efg");
  REQUIRES("abcd*efg", "abc;efg");
  REQUIRES("abcd?efg", "abc;efg");
  REQUIRES("abcd{1}efg", "abcd;efg");
  REQUIRES("abcd{2,}efg", "abcd;efg");
  REQUIRES("abcd{10,20}efg", "abcd;efg");
  REQUIRES("abcd{0}efg", "abc;efg");
  REQUIRES("abcd{00,3}efg", "abc;efg");
  REQUIRES("abcd{0,}efg", "abc;efg");
  REQUIRES("abcd{,3}efg", "abc;efg");
  REQUIRES("abcd{}efg", "abc;efg");
  REQUIRES("abcd{ 2 }efg", "abc;efg");
  REQUIRES("abcd{2, 3}efg", "abc;efg");
  REQUIRES("abcd{2,3,4}efg", "abc;efg");
  REQUIRES("abcd{efg", "abc;efg");
  REQUIRES("abcd{2efg", "abc;2efg");
  REQUIRES("abcd{", "abc");
  REQUIRES("abcd\\.+efg", "abcd.;efg");
  REQUIRES("abcd\\.*efg", "abcd;efg");
  /* Lazy, possessive, or one behind the other. */
  REQUIRES("abcd+?efg", "abc;efg");
  REQUIRES("abcd{2}?efg", "abc;efg");
  REQUIRES("abcd{2}{0}efg", "abc;efg");
  REQUIRES("abcd++efg", "abcd;efg");
  REQUIRES("abcd*+efg", "abc;efg");
  REQUIRES("abcd??efg", "abc;efg");
  /* Of nothing. */
  GIVES_UP("*abc");
  GIVES_UP("+abc");
  GIVES_UP("?abc");
  GIVES_UP("{2}abc");
  GIVES_UP("abc(*def)");
  GIVES_UP("(+abc)def");
  GIVES_UP("abc|+abc");
  GIVES_UP("abc^*");
  GIVES_UP("abc$?def");
  GIVES_UP("abc${2}");
}

TEST(escapes){
  REQUIRES("abc\\ddef\\bghi\\Ajkl", "abc;def;ghi;jkl");
  REQUIRES("abc\\d+def\\w*ghi\\s{2}jkl", "abc;def;ghi;jkl");
  REQUIRES("abc\\<def\\>ghi\\'jkl\\`mno", "abc;def;ghi;jkl;mno");
  REQUIRES("abc\\pLdef\\PNghi\\p{Lu}jkl\\p1mno", "abc;def;ghi;jkl;1mno");
  REQUIRES("abc\\x41bcdefghi\\u00e9jkl\\U0001f600mno", "abc;ghi;jkl;mno");
  REQUIRES("abc\\x4ghidef", "abc;ghidef");
  REQUIRES("abc\\x{e9}def\\b{wb}ghi\\N{DIGIT ONE}jkl\\o{101}mno", "abc;def;ghi;jkl;mno");
  REQUIRES("abc\\123456def\\0ghi", "abc;def;ghi");
  REQUIRES("abc\\ndef\\tghi", "abc;def;ghi");
  REQUIRES("abc\\\tdef", "abc;def");
  REQUIRES("abc\\p{L}{0}def", "abc;def");
  GIVES_UP("abc\\Qdef");
  GIVES_UP("abc\\Qdef\\E");
  GIVES_UP("abc\\E");
  GIVES_UP("(abc)\\k<1>");
  GIVES_UP("(abc)\\g{1}");
  GIVES_UP("abc\\cA");
  GIVES_UP("abc\\C");
  GIVES_UP("abc\\");
  GIVES_UP("abc\\\xc3\xa9");
  GIVES_UP("abc\\d{2");
  GIVES_UP("abc\\d{a|b}");
  GIVES_UP("(abc\\d{a)b}");
  GIVES_UP("abc\\d{a)b}");
  GIVES_UP("abc\\d{a(b}");
  GIVES_UP("abc\\d{a[b}");
  GIVES_UP("abc\\d{a\\}b");
}

TEST(classes){
  REQUIRES("abc[def]ghi", "abc;ghi");
  REQUIRES("abc[^def]*ghi[a-z]{2}jkl", "abc;ghi;jkl");
  REQUIRES("abc[]", "");
  GIVES_UP("abc[]a]def");
  GIVES_UP("abc[^]a]def");
  GIVES_UP("abc[^]def");
  GIVES_UP("abc[def");
  GIVES_UP("abc[a[b]c]def");
  GIVES_UP("abc[a[.b.]c]def");
  REQUIRES("abc[[:alpha:]_]def[[:^alpha:]]ghi", "abc;def;ghi");
  GIVES_UP("abc[[:alpha]def]");
  GIVES_UP("abc[[:alpha:x]def]");
  REQUIRES("abc[|()]def", "abc;def");
  REQUIRES("abc[\\w\\-.|(\\d]def", "abc;def");
  REQUIRES("abc[\\]x]def[\\\\]ghi", "abc;def;ghi");
  /* Where a class may have ended for somebody. */
  GIVES_UP("abc[\\]|]def");
  GIVES_UP("abc[\\](]def");
  GIVES_UP("abc[\\])]def");
  GIVES_UP("abc[\\]\\d]def");
  GIVES_UP("abc[[:alpha:]|]def");
  GIVES_UP("abc[[:alpha:]\\d]def");
  /* Escapes that may take a ]. */
  GIVES_UP("abc[\\Q]def");
  GIVES_UP("abc[\\E]def");
  GIVES_UP("abc[\\k]def");
  GIVES_UP("abc[\\g]def");
  GIVES_UP("abc[\\c]def");
  GIVES_UP("abc[\\N]def");
  GIVES_UP("abc[\\\xc3\xa9]def");
  GIVES_UP("abc[\\");
}

TEST(groups){
  REQUIRES("abc(def)ghi", "abc;def;ghi");
  REQUIRES("abc(?:def)ghi", "abc;def;ghi");
  REQUIRES("abc(?>def)(?=ghi)(?<=jkl)", "abc;def;ghi;jkl");
  REQUIRES("(?P<n1_>abc)(?<n>def)(?'n'ghi)", "abc;def;ghi");
  GIVES_UP("(?Pn>abc)def");
  GIVES_UP("(?P<n");
  REQUIRES("abc(?!def)(?<!ghi)jkl", "abc;jkl");
  REQUIRES("abc(?!(def)+)jkl", "abc;jkl");
  REQUIRES("abc(def)+ghi(jkl){2,}", "abc;def;ghi;jkl");
  REQUIRES("abc(def)*ghi(jkl)?(mno){0,2}(pqr)+?", "abc;ghi");
  REQUIRES("(?m)abc(?s)def(?-u)ghi(?msuaULJ-)", "abc;def;ghi");
  REQUIRES("((((((((((((((((((((abc))))))))))))))))))))", "abc");
  GIVES_UP("(((((((((((((((((((((abc)))))))))))))))))))))");
  GIVES_UP("abc(");
  GIVES_UP("abc(def");
  GIVES_UP("abc)def");
  GIVES_UP("abc(?");
  GIVES_UP("abc(?)def");
  GIVES_UP("abc(?m)+def");
  GIVES_UP("abc(?m){2}def");
  GIVES_UP("(?x)abc");
  GIVES_UP("(?i:abc)");
  GIVES_UP("(?^:abc)");
  GIVES_UP("(?^)abc");
  GIVES_UP("(?n)abc");
  GIVES_UP("(?mbcde");
  GIVES_UP("(?mx)abc");
  GIVES_UP("(*UTF)abc");
  GIVES_UP("(?#comment)abc");
  GIVES_UP("(?|abc|def)");
  GIVES_UP("(?(1)abc|def)");
  GIVES_UP("(?R)abc");
  GIVES_UP("(?1)abc");
  GIVES_UP("(?&n)abc");
  GIVES_UP("(?P=n)abc");
  GIVES_UP("(?P>n)abc");
  GIVES_UP("(?<>abc)");
  GIVES_UP("(?<n abc)");
  GIVES_UP("(?'nabc)");
  GIVES_UP("(?<\xc3\xa9>abc)");
}

TEST(alternatives){
  REQUIRES("abc|def", "abc|def");
  REQUIRES("abc|de", "");
  REQUIRES("abc|", "");
  REQUIRES("|abc", "");
  REQUIRES("ghi(abc|)", "ghi");
  REQUIRES("(abc|def)ghi", "abc;ghi|def;ghi");
  REQUIRES("(?:time|fad)ed out|refused", "time;ed out|fad;ed out|refused");
  REQUIRES("(abc|def)(ghi|jkl)", "abc;ghi|abc;jkl|def;ghi|def;jkl");
  REQUIRES("(abc|def)?ghi", "ghi");
  /* 17 are too many, of which the others stay. */
  REQUIRES("00a|01a|02a|03a|04a|05a|06a|07a|08a|09a|10a|11a|12a|13a|14a|15a",
           "00a|01a|02a|03a|04a|05a|06a|07a|08a|09a|10a|11a|12a|13a|14a|15a");
  REQUIRES("abc(00a|01a|02a|03a|04a|05a|06a|07a|08a|09a|10a|11a|12a|13a|14a|15a|16a)def", "abc;def");
  REQUIRES("(abc|def)(ghi|jkl)(mno|pqr)(stu|vwx)(yza|bcd)xyz",
           "abc;ghi;mno;stu;xyz|abc;ghi;mno;vwx;xyz|abc;ghi;pqr;stu;xyz|abc;ghi;pqr;vwx;xyz|"
           "abc;jkl;mno;stu;xyz|abc;jkl;mno;vwx;xyz|abc;jkl;pqr;stu;xyz|abc;jkl;pqr;vwx;xyz|"
           "def;ghi;mno;stu;xyz|def;ghi;mno;vwx;xyz|def;ghi;pqr;stu;xyz|def;ghi;pqr;vwx;xyz|"
           "def;jkl;mno;stu;xyz|def;jkl;mno;vwx;xyz|def;jkl;pqr;stu;xyz|def;jkl;pqr;vwx;xyz");
}

TEST(what_would_make_too_many_terms_is_not_required){
  REQUIRES("(abc|def|ghi)(00a|01a|02a|03a|04a|05a)", "abc|def|ghi");
  REQUIRES("(00a|01a|02a)(abc|def)x(00a|01a|02a)xyz", "00a;abc;xyz|00a;def;xyz|01a;abc;xyz|01a;def;xyz|02a;abc;xyz|02a;def;xyz");
}

/* Letters that stand for others, too, and what may be one character with their neighbours. */
TEST(cases){
  REQUIRES_IN_ANY_CASE("ABCdeg", "abcdeg");
  REQUIRES_IN_ANY_CASE("abcfdegiabcKdegSabc", "abc;deg;abc;deg;abc");
  REQUIRES_IN_ANY_CASE("abc123_-@", "abc123_-@");
  REQUIRES_IN_ANY_CASE("0abc\xc3\xa9" "dxyz0", "0ab;xyz0");
  REQUIRES_IN_ANY_CASE("012\xc3\xa9" "345", "012;345");
  REQUIRES_IN_ANY_CASE("abcftabcslabcatlabc", "abc;abc;abcatlabc");
  /* Across groups and classes. */
  REQUIRES_IN_ANY_CASE("lmn", "lmn");
  REQUIRES_IN_ANY_CASE("(lmn)", "lmn");
  REQUIRES_IN_ANY_CASE("[s]tabc", "abc");
  REQUIRES_IN_ANY_CASE("(?:f)lmno", "mno");
  REQUIRES_IN_ANY_CASE("(?:0abcn)\xcc\x8c", "0abc");
  REQUIRES_IN_ANY_CASE("\xca\xbc(?:nabc0)d", "abc0");
  REQUIRES_IN_ANY_CASE("0abcn\\x{30c}", "0abc");
  REQUIRES_IN_ANY_CASE("\\u02bcnabcd", "abc");
  REQUIRES_IN_ANY_CASE("[\\x{2bc}]nabcd", "abc");
  REQUIRES_IN_ANY_CASE("\xca\xbc" "0abcd0", "0abcd0");
  /* The flag anywhere. */
  REQUIRES("abckxyz(?i)", "abc;xyz");
  REQUIRES("abckxyz(?-i)", "abc;xyz");
  REQUIRES("ABC(?!(?i))", "abc");
}

TEST(ill_formed_patterns){
  static const char *const ill_formed[] = {"\x80", "\xc3", "\xc1\x81", "\xe2\x82", "\xe0\x82\xa3", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
    "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3.abc", "\xff",
    "\xc3\x80\x80\x80\x80\x80\x83\xa9"};
  size_t i;
  for(i=0; i<COUNT_OF(ill_formed); i++){
    char pattern[32];
    const int length = snprintf(pattern, sizeof(pattern), "abc%s", ill_formed[i]);
    assert_string_equal(required(pattern, (size_t)length, 0), "");
  }
  GIVES_UP("abc\0def");
  REQUIRES("abc\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" "0", "abc\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" "0");
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
