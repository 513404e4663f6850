/*
** Texts and patterns: where SQLite's LIKE or GLOB matches, the text has all pieces of the
** pattern, and a block with the text in it all of the pattern's bits, whatever the weights are.
**
** Input: LIKE or GLOB, how many steps; steps that make a pattern out of the text, so that it
** often matches; the text.
*/
#include "fuzz.h"

#include <sqlite3.h>

#include "../../../ext/core/signature/pattern.h"
#include "../../../ext/core/signature/weights.h"

#define MAX_STEPS      24
#define MAX_TEXT       400
#define MAX_PATTERN    (MAX_TEXT + 8*MAX_STEPS)
#define BITS_PER_BLOCK 16128

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

/* The hashes of all pieces of a text. */
static size_t text_hashes(const uint8_t *text, size_t num_bytes, uint64_t *hashes){
  bloom_pieces pieces;
  size_t num_hashes = 0, num_new;
  bloom_pieces_begin(&pieces, text, num_bytes);
  while( (num_new = bloom_pieces_next(&pieces, hashes + num_hashes))>0 ) num_hashes += num_new;
  return num_hashes;
}

static int has_hash(const uint64_t *hashes, size_t num_hashes, uint64_t hash){
  size_t i;
  for(i=0; i<num_hashes && hashes[i]!=hash; i++){}
  return i<num_hashes;
}

static void check_match(const uint8_t *text, size_t num_bytes, bloom_pattern_syntax syntax, const uint8_t *pattern, size_t pattern_bytes){
  static uint8_t weights[BLOOM_WEIGHTS_BYTES], block_bytes[BITS_PER_BLOCK/8];
  static uint64_t of_text[2*3*MAX_TEXT + BLOOM_PIECES_ROOM]; /* a byte may be a character of two, or of three */
  uint64_t hashes[BLOOM_PIECES_ROOM];
  uint16_t bits[64];
  bloom_pattern reading;
  bloom_block block;
  size_t num_of_text, num_hashes, num_bits = 0, i;
  for(i=0; weights[1]==0 && i<BLOOM_WEIGHTS_BYTES; i++) weights[i] = (uint8_t)(bloom_signature_mix(i + 1) >> 32);
  num_of_text = text_hashes(text, num_bytes, of_text);
  bloom_block_clear(&block, block_bytes, BITS_PER_BLOCK);
  bloom_weights_add(weights, &block, of_text, num_of_text);
  bloom_pattern_begin(&reading, syntax, pattern, pattern_bytes);
  while( (num_hashes = bloom_pattern_next(&reading, hashes))>0 ){
    for(i=0; i<num_hashes; i++) FUZZ_CHECK(has_hash(of_text, num_of_text, hashes[i]));
    num_bits = bloom_weights_bits(weights, BITS_PER_BLOCK, hashes, num_hashes, bits, num_bits, 64);
  }
  FUZZ_CHECK(bloom_block_has_bits(block_bytes, bits, num_bits));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_bytes){
  fuzz_input input = {data, num_bytes};
  const int is_glob = fuzz_byte(&input) & 1;
  const size_t max_steps = fuzz_byte(&input) % (MAX_STEPS + 1);
  uint8_t pattern[MAX_PATTERN];
  char text_z[MAX_TEXT + 1], pattern_z[MAX_PATTERN + 1];
  size_t step_bytes, text_bytes, pattern_bytes;
  const uint8_t *steps = fuzz_bytes(&input, 3*max_steps, &step_bytes);
  const uint8_t *text = fuzz_bytes(&input, MAX_TEXT, &text_bytes);
  uint8_t *exact;
  pattern_bytes = make_pattern(steps, step_bytes/3, text, text_bytes, is_glob, pattern);
  /* SQLite's end at the first NUL. */
  memcpy(text_z, text, text_bytes);
  memcpy(pattern_z, pattern, pattern_bytes);
  text_z[text_bytes] = pattern_z[pattern_bytes] = 0;
  if( is_glob ? sqlite3_strglob(pattern_z, text_z) : sqlite3_strlike(pattern_z, text_z, 0) ) return 0;
  exact = fuzz_exact(pattern, pattern_bytes);
  check_match(text, text_bytes, is_glob ? BLOOM_PATTERN_GLOB : BLOOM_PATTERN_LIKE, exact, pattern_bytes);
  free(exact);
  return 0;
}
