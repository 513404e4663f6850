/*
** The pieces of a text; pieces.h says what they are.
*/
#include "pieces.h"

/* The bits of a character that a first byte of 0xc0 + i holds, as SQLite has it: also for
** bytes that no UTF-8 begins with. */
static uint32_t pieces_first_bits(uint8_t byte){
  if( byte<0xe0 ) return byte & 0x1fu;
  if( byte<0xf0 ) return byte & 0x0fu;
  if( byte<0xf8 ) return byte & 0x07u;
  if( byte<0xfc ) return byte & 0x03u;
  return byte<0xfe ? byte & 0x01u : 0;
}

/* The bytes of a character in UTF-8. */
static uint32_t pieces_num_bytes(uint32_t character){
  return character<0x80 ? 1 : character<0x800 ? 2 : character<0x10000 ? 3 : 4;
}

/* The first of them, of a character from 0x80 on. */
static uint8_t pieces_first_byte(uint32_t character){
  if( character<0x800 ) return (uint8_t)(0xc0 | character >> 6);
  return character<0x10000 ? (uint8_t)(0xe0 | character >> 12) : (uint8_t)(0xf0 | character >> 18);
}

uint32_t bloom_character_read(const uint8_t **text, const uint8_t *end){
  const uint8_t *const begin = *text;
  const uint8_t *next = begin + 1;
  uint32_t character = *begin; /* a byte within a character, alone, stands for itself */
  if( character>=0xc0 ){
    character = pieces_first_bits(*begin);
    /* However many follow: what is shifted out is lost. */
    for(; next<end && (*next & 0xc0)==0x80; next++) character = character << 6 | (*next & 0x3fu);
  }
  *text = next;
  if( character<0x80 || (character & 0xfffff800u)==0xd800 || character>0x10ffff ){
    return BLOOM_NO_CHARACTER;
  }
  return character>=0xfffd && character<=0xffff ? BLOOM_NO_CHARACTER : character;
}

size_t bloom_piece_window_add(bloom_piece_window *window, uint32_t character, uint64_t *hashes){
  uint32_t left = pieces_num_bytes(character) - 1;
  size_t num_hashes;
  if( left==0 ){
    return bloom_piece_window_add_byte(window, bloom_ascii_lower((uint8_t)character), hashes);
  }
  num_hashes = bloom_piece_window_add_byte(window, pieces_first_byte(character), hashes);
  while( left-->0 ){
    const uint8_t byte = (uint8_t)(0x80 | (character >> 6*left & 0x3f));
    num_hashes += bloom_piece_window_add_byte(window, byte, hashes + num_hashes);
  }
  return num_hashes;
}

void bloom_pieces_begin(bloom_pieces *pieces, const uint8_t *text, size_t num_bytes){
  *pieces = (bloom_pieces){.text = text, .end = num_bytes ? text + num_bytes : text};
}

size_t bloom_pieces_next(bloom_pieces *pieces, uint64_t hashes[BLOOM_PIECES_ROOM]){
  bloom_piece_window window = pieces->window;
  const uint8_t *text = pieces->text, *end = pieces->end;
  size_t num_hashes = 0;
  while( text!=end && num_hashes<=BLOOM_PIECES_ROOM-BLOOM_PIECES_PER_CHARACTER ){
    if( *text==0 ){
      end = text;
    }else if( *text<0x80 ){
      num_hashes += bloom_piece_window_add_byte(&window, bloom_ascii_lower(*text++),
                                                hashes + num_hashes);
    }else{
      const uint32_t character = bloom_character_read(&text, end);
      if( character==BLOOM_NO_CHARACTER ) window.num_bytes = 0;
      else num_hashes += bloom_piece_window_add(&window, character, hashes + num_hashes);
    }
  }
  pieces->window = window;
  pieces->text = text;
  pieces->end = end;
  return num_hashes;
}
