/*
** The pieces of a pattern; pattern.h says what they are.
*/
#include "pattern.h"

/* The next character, BLOOM_NO_CHARACTER if it is none, 0 at the end. */
static uint32_t pattern_read(bloom_pattern *pattern){
  if( pattern->text==pattern->end || *pattern->text==0 ) return 0;
  if( *pattern->text<0x80 ) return *pattern->text++;
  return bloom_character_read(&pattern->text, pattern->end);
}

/* Reads what is behind a [ of GLOB.  Returns the character that it stands for, or
** BLOOM_NO_CHARACTER if these are several. */
static uint32_t pattern_read_class(bloom_pattern *pattern){
  uint32_t character = pattern_read(pattern), only = BLOOM_NO_CHARACTER;
  uint32_t num_members = 0;
  if( character=='^' ){
    num_members = 2; /* many */
    character = pattern_read(pattern);
  }
  /* A ] that comes first stands for itself. */
  do{
    if( character==0 ) return BLOOM_NO_CHARACTER; /* no end: it matches nothing */
    only = character;
    num_members++;
    character = pattern_read(pattern);
  }while( character!=']' );
  return num_members==1 ? only : BLOOM_NO_CHARACTER;
}

static int pattern_is_wildcard(const bloom_pattern *pattern, uint32_t character){
  return pattern->syntax==BLOOM_PATTERN_LIKE ? character=='%' || character=='_' : character=='*'
      || character=='?';
}

/* 1 if a character may match others, or bytes that are no character of their own. */
static int pattern_is_loose(bloom_pattern *pattern, uint32_t character){
  if( character==BLOOM_NO_CHARACTER ) return 1;
  /* Old versions of SQLite look for U+0080 behind a % byte by byte, go on within another
  ** character, and take its bytes for characters. */
  if( character==0x80 ) pattern->is_after_80 = 1;
  return pattern->is_after_80 && character>=0x80 && character<0xc0;
}

void bloom_pattern_begin(bloom_pattern *pattern, bloom_pattern_syntax syntax, const uint8_t *text,
                         size_t num_bytes){
  *pattern = (bloom_pattern){
    .text = text,
    .end = num_bytes ? text + num_bytes : text,
    .syntax = syntax,
  };
}

size_t bloom_pattern_next(bloom_pattern *pattern, uint64_t hashes[BLOOM_PIECES_ROOM]){
  size_t num_hashes = 0;
  while( num_hashes<=BLOOM_PIECES_ROOM-BLOOM_PIECES_PER_CHARACTER ){
    uint32_t character = pattern_read(pattern);
    int is_wildcard = pattern_is_wildcard(pattern, character);
    if( character==0 ) break;
    if( character=='[' && pattern->syntax==BLOOM_PATTERN_GLOB ){
      character = pattern_read_class(pattern);
    }
    if( is_wildcard || pattern_is_loose(pattern, character) ) pattern->window.num_bytes = 0;
    else num_hashes += bloom_piece_window_add(&pattern->window, character, hashes + num_hashes);
  }
  return num_hashes;
}
