/*
** Regular expressions: whatever bytes a pattern is of, reading ends, within its memory, and what
** is required stands in the pattern, but for each \ in it, in either case.
**
** Input: flags of the function; steps that make a pattern, each a byte that picks a part of one,
** or is itself one.
*/
#include "fuzz.h"

#include "../../../ext/core/entries/regexp.h"

#define MAX_STEPS 4000

static const char *const parts[] = {
  "abc", "xyz|", "fst", "k", "\xc3\xa9", "\xf0\x9f\x98\x80", "\xc3", "(", ")", "(?:", "(?i)", "(?!", "(?<=", "(?<n>", "(?P<n>", "(?'n'", "(?", "(?m)",
  "[", "]", "[^", "[:alpha:]", "[]", "\\]", "\\", "\\d", "\\x41", "\\p{L}", "\\Q", "\\\\", "\\.", "*", "+", "?", "{2}", "{0,3}", "{", "}", ".", "^", "$", "|",
  "abcdefghijklmnopqrstuvwxyz0123456789", "(abc|def)(ghi|jkl)",
};

static uint8_t lower(uint8_t byte){
  return (uint8_t)(byte>='A' && byte<='Z' ? byte + 32 : byte);
}

/* 1 if the pattern has the literal's bytes in a row, but for each \ in between. */
static int stands_in(const uint8_t *pattern, size_t num_bytes, const uint8_t *literal, size_t literal_bytes){
  size_t begin;
  for(begin=0; begin<num_bytes; begin++){
    size_t at = begin, i;
    for(i=0; i<literal_bytes; i++){
      if( at<num_bytes && pattern[at]=='\\' && (literal[i]!='\\' || (at+1<num_bytes && pattern[at+1]=='\\')) ) at++;
      if( at==num_bytes || lower(pattern[at])!=lower(literal[i]) ) break;
      at++;
    }
    if( i==literal_bytes ) return 1;
  }
  return 0;
}

static void check_terms(const bloom_regexp *regexp, int has_any){
  uint32_t i;
  FUZZ_CHECK(regexp->required.num_terms>=1 && regexp->required.num_terms<=BLOOM_REGEXP_MAX_TERMS);
  FUZZ_CHECK(regexp->num_literals<=BLOOM_REGEXP_MAX_LITERALS);
  for(i=0; i<regexp->required.num_terms; i++){
    const uint64_t term = regexp->required.terms[i];
    FUZZ_CHECK((term!=0)==has_any);
    FUZZ_CHECK(regexp->num_literals==BLOOM_REGEXP_MAX_LITERALS || term >> regexp->num_literals==0);
  }
}

static void check_literal(const bloom_regexp *regexp, bloom_regexp_literal literal, const uint8_t *pattern, size_t num_bytes){
  FUZZ_CHECK(literal.num_bytes>=(literal.kind==BLOOM_NEEDLE_BEGINNING ? 2 : 3) && literal.first + literal.num_bytes<=BLOOM_REGEXP_MAX_BYTES);
  if( literal.kind==BLOOM_NEEDLE_END && regexp->bytes[literal.first + literal.num_bytes - 1]=='\n' ) literal.num_bytes--;
  FUZZ_CHECK(stands_in(pattern, num_bytes, regexp->bytes + literal.first, literal.num_bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_bytes){
  fuzz_input input = {data, num_bytes};
  const int flags = fuzz_byte(&input) & (BLOOM_REGEXP_IGNORES_CASE | BLOOM_REGEXP_HAS_LINES);
  bloom_regexp regexp;
  uint8_t *pattern, *exact;
  size_t length = 0, i;
  int has_any;
  const size_t num_steps = input.num_left<MAX_STEPS ? input.num_left : MAX_STEPS;
  pattern = malloc(num_steps*64 + 1);
  for(i=0; i<num_steps; i++){
    const uint8_t step = fuzz_byte(&input);
    if( step<128 ){
      pattern[length++] = step;
    }else{
      const char *part = parts[step%(sizeof(parts)/sizeof(parts[0]))];
      memcpy(pattern + length, part, strlen(part));
      length += strlen(part);
    }
  }
  exact = fuzz_exact(pattern, length);
  has_any = bloom_regexp_read(&regexp, exact, length, flags);
  FUZZ_CHECK(regexp.ignores_case || !(flags & BLOOM_REGEXP_IGNORES_CASE));
  check_terms(&regexp, has_any);
  for(i=0; i<regexp.num_literals; i++) check_literal(&regexp, regexp.literals[i], exact, length);
  free(exact);
  free(pattern);
  return 0;
}
