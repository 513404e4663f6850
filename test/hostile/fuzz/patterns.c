/*
** Texts and patterns: where SQLite's LIKE or GLOB matches, the text is in a list of each of the
** pattern's ranges, and where = does, of the needle's, however the lists are cut.
**
** Input: LIKE or GLOB, how many steps; steps that make a pattern out of the text, so that it
** often matches; the text.
*/
#include "fuzz.h"

#include <sqlite3.h>

#include "../../../ext/core/entries/texts.h"

#define MAX_STEPS   24
#define MAX_TEXT    400
#define MAX_PATTERN (MAX_TEXT + 8*MAX_STEPS)
#define MAX_RANGES  64

/* The next character of the text, with all bytes that could belong to it. */
static size_t character_bytes(const uint8_t *text, size_t num_bytes){
  size_t length = num_bytes>0;
  while( length>0 && length<num_bytes && (text[length] & 0xc0)==0x80 ) length++;
  return length;
}

static uint8_t swap_case(uint8_t byte){
  return (byte>='a' && byte<='z') || (byte>='A' && byte<='Z') ? byte ^ 0x20 : byte;
}

/* Writes the pattern of some steps, each of three bytes, and returns its length. */
static size_t make_pattern(const uint8_t *steps, size_t num_steps, const uint8_t *text, size_t num_bytes, int is_glob, uint8_t *pattern){
  size_t at = 0, length = 0, i, j;
  for(i=0; i<num_steps; i++){
    const uint8_t kind = steps[3*i] % 8, any = steps[3*i + 1];
    const size_t left = num_bytes - at, wanted = steps[3*i + 2];
    size_t used = character_bytes(text + at, left);
    switch( kind ){
      case 0:
        pattern[length++] = is_glob ? '*' : '%';
        used = any%16<left ? any%16 : left;
        break;
      case 1:
        pattern[length++] = is_glob ? '?' : '_';
        break;
      case 2: /* the character in brackets, alone or not */
        pattern[length++] = '[';
        for(j=0; j<used && j<4; j++) pattern[length++] = text[at + j];
        if( any & 1 ) pattern[length++] = any;
        pattern[length++] = ']';
        break;
      case 3:
        pattern[length++] = any;
        used = 0;
        break;
      default:
        used = wanted<left ? wanted : left;
        for(j=0; j<used; j++) pattern[length++] = kind==4 ? swap_case(text[at + j]) : text[at + j];
    }
    at += used;
  }
  return length;
}

/* Lists that are cut in all ways. */
static const bloom_lists *cut_lists(void){
  static bloom_lists lists;
  uint32_t i;
  if( lists.base[BLOOM_LISTS_CLASSES]>0 ) return &lists;
  for(i=0; i<BLOOM_LISTS_CLASSES; i++) lists.cut[i] = (uint8_t)(i*2654435769u % (BLOOM_LISTS_MAX_CUT + 1));
  for(i=0; i<BLOOM_LISTS_EDGES; i++) lists.edge_bits[i] = (uint8_t)(BLOOM_LISTS_MAX_EDGE_BITS - i);
  bloom_lists_number(&lists);
  return &lists;
}

static int has_list(const uint32_t *numbers, size_t num_numbers, bloom_lists_range range){
  size_t i;
  for(i=0; i<num_numbers && !(numbers[i]>=range.first && numbers[i]-range.first<range.num_lists); i++){}
  return i<num_numbers;
}

static void check_match(const uint8_t *text, size_t num_bytes, int passes_nul, bloom_needle_kind kind, const uint8_t *needle, size_t needle_bytes){
  static uint32_t numbers[3*MAX_TEXT + 2*BLOOM_TEXT_ROOM]; /* a byte may be a character of two */
  const bloom_lists *lists = cut_lists();
  bloom_lists_range ranges[MAX_RANGES];
  bloom_text reading;
  static uint64_t has[BLOOM_LISTS_MAX/64 + 1];
  size_t num_numbers = 0, num_ranges, i;
  bloom_text_begin(&reading, text, num_bytes, passes_nul);
  while( bloom_text_is_open(&reading) ) num_numbers += bloom_text_next_lists(&reading, lists, has, numbers + num_numbers);
  for(i=0; i<num_numbers; i++) has[numbers[i]/64] = 0;
  num_ranges = bloom_needle_ranges(lists, kind, needle, needle_bytes, ranges, 0, MAX_RANGES);
  /* A whole text may be looked for by its edge alone. */
  FUZZ_CHECK(kind==BLOOM_NEEDLE_EQUAL || (bloom_needle_ranges(NULL, kind, needle, needle_bytes, NULL, 0, 0)==0)==(num_ranges==0));
  for(i=0; i<num_ranges; i++) FUZZ_CHECK(has_list(numbers, num_numbers, ranges[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_bytes){
  fuzz_input input = {data, num_bytes};
  const uint8_t kind = fuzz_byte(&input);
  const int is_glob = kind & 1, passes_nul = kind>>1 & 1;
  const size_t max_steps = fuzz_byte(&input) % (MAX_STEPS + 1);
  uint8_t pattern[MAX_PATTERN];
  char text_z[MAX_TEXT + 1], pattern_z[MAX_PATTERN + 1];
  size_t step_bytes, text_bytes, pattern_bytes, blanks;
  const uint8_t *steps = fuzz_bytes(&input, 3*max_steps, &step_bytes);
  const uint8_t *text = fuzz_bytes(&input, MAX_TEXT, &text_bytes);
  uint8_t *exact;
  pattern_bytes = make_pattern(steps, step_bytes/3, text, text_bytes, is_glob, pattern);
  exact = fuzz_exact(text, text_bytes);
  check_match(text, text_bytes, passes_nul, BLOOM_NEEDLE_EQUAL, exact, text_bytes);
  for(blanks=0; blanks<text_bytes && text[text_bytes-1-blanks]==' '; blanks++){}
  check_match(text, text_bytes, passes_nul, BLOOM_NEEDLE_EQUAL_RTRIM, exact, text_bytes - blanks);
  free(exact);
  /* SQLite's end at the first NUL. */
  memcpy(text_z, text, text_bytes);
  memcpy(pattern_z, pattern, pattern_bytes);
  text_z[text_bytes] = pattern_z[pattern_bytes] = 0;
  if( is_glob ? sqlite3_strglob(pattern_z, text_z) : sqlite3_strlike(pattern_z, text_z, 0) ) return 0;
  exact = fuzz_exact(pattern, pattern_bytes);
  check_match(text, text_bytes, passes_nul, is_glob ? BLOOM_NEEDLE_GLOB : BLOOM_NEEDLE_LIKE, exact, pattern_bytes);
  free(exact);
  return 0;
}
