/*
** The grams of a text; texts.h says what they are.
*/
#include "texts.h"

/* The bits of a character that a first byte of 0xc0 + i holds, as SQLite has it: also for
** bytes that no UTF-8 begins with. */
static uint32_t text_first_bits(uint8_t byte){
  if( byte<0xe0 ) return byte & 0x1fu;
  if( byte<0xf0 ) return byte & 0x0fu;
  if( byte<0xf8 ) return byte & 0x07u;
  if( byte<0xfc ) return byte & 0x03u;
  return byte<0xfe ? byte & 0x01u : 0;
}

/* The bytes of a character in UTF-8. */
static uint32_t text_num_bytes(uint32_t character){
  return character<0x80 ? 1 : character<0x800 ? 2 : character<0x10000 ? 3 : 4;
}

/* The first of them, of a character from 0x80 on. */
static uint8_t text_first_byte(uint32_t character){
  if( character<0x800 ) return (uint8_t)(0xc0 | character >> 6);
  return character<0x10000 ? (uint8_t)(0xe0 | character >> 12) : (uint8_t)(0xf0 | character >> 18);
}

uint32_t bloom_text_character(const uint8_t **text, const uint8_t *end){
  const uint8_t *const begin = *text;
  const uint8_t *next = begin + 1;
  uint32_t character = *begin; /* a byte within a character, alone, stands for itself */
  if( character>=0xc0 ){
    character = text_first_bits(*begin);
    /* However many follow: what is shifted out is lost. */
    for(; next<end && (*next & 0xc0)==0x80; next++) character = character << 6 | (*next & 0x3fu);
  }
  *text = next;
  if( character<0x80 || (character & 0xfffff800u)==0xd800 || character>0x10ffff ){
    return BLOOM_TEXT_NO_CHARACTER;
  }
  return character>=0xfffd && character<=0xffff ? BLOOM_TEXT_NO_CHARACTER : character;
}

size_t bloom_text_add(bloom_text_window *window, uint32_t character, uint32_t *grams){
  uint32_t left = text_num_bytes(character) - 1;
  size_t num_grams;
  if( left==0 ) return bloom_text_add_byte(window, bloom_text_lower((uint8_t)character), grams);
  num_grams = bloom_text_add_byte(window, text_first_byte(character), grams);
  while( left-->0 ){
    const uint8_t byte = (uint8_t)(0x80 | (character >> 6*left & 0x3f));
    num_grams += bloom_text_add_byte(window, byte, grams + num_grams);
  }
  return num_grams;
}

void bloom_text_begin(bloom_text *reading, const uint8_t *text, size_t num_bytes, int passes_nul){
  *reading = (bloom_text){
    .text = text,
    .end = num_bytes ? text + num_bytes : text,
    .window = {.bytes = 0, .num_bytes = 1}, /* the mark */
    .passes_nul = passes_nul,
  };
}

size_t bloom_text_next(bloom_text *reading, uint32_t grams[BLOOM_TEXT_ROOM]){
  bloom_text_window window = reading->window;
  const uint8_t *text = reading->text, *end = reading->end;
  size_t num_grams = 0;
  while( text!=end && num_grams<=BLOOM_TEXT_ROOM-BLOOM_TEXT_PER_CHARACTER-1 ){
    if( *text-1u<0x7f ){
      num_grams += bloom_text_add_byte(&window, bloom_text_lower(*text++), grams + num_grams);
    }else if( *text==0 ){
      num_grams += bloom_text_end_run(&window, grams + num_grams);
      if( reading->passes_nul ) text++;
      else end = text;
    }else{
      const uint32_t character = bloom_text_character(&text, end);
      num_grams += character==BLOOM_TEXT_NO_CHARACTER
          ? bloom_text_end_run(&window, grams + num_grams)
          : bloom_text_add(&window, character, grams + num_grams);
    }
  }
  /* There is room for one: the loop leaves it. */
  if( text==end ) num_grams += bloom_text_end_run(&window, grams + num_grams);
  reading->window = window;
  reading->text = text;
  reading->end = end;
  return num_grams;
}

size_t bloom_text_next_lists(bloom_text *reading, const bloom_lists *lists,
                             uint32_t numbers[BLOOM_TEXT_ROOM]){
  const size_t num_grams = bloom_text_next(reading, numbers);
  size_t i;
  for(i=0; i<num_grams; i++) numbers[i] = bloom_lists_of_gram(lists, numbers[i]);
  return num_grams;
}
