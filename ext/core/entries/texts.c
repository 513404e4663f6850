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

/* Returns the character that three bytes are, the last one lowest. */
static uint32_t text_character_of(uint32_t bytes){
  return (bytes >> 4 & 0xf000) | (bytes >> 2 & 0xfc0) | (bytes & 0x3f);
}

/* Returns a hash of a character, from 1 to 255. */
static uint32_t text_byte_of(uint32_t character){
  return 1 + (uint32_t)((uint64_t)bloom_lists_hash(character) * 255 >> 32);
}

/* Appends a character of three bytes. */
static size_t text_add_wide(bloom_text_window *window, uint32_t character, uint32_t *grams){
  const uint32_t bytes = 0xe08080u | (character & 0xf000) << 4 | (character & 0xfc0) << 2
      | (character & 0x3f);
  size_t num_grams = 0;
  uint32_t shift;
  if( window->num_bytes==BLOOM_TEXT_WIDE ){
    const uint32_t before = text_character_of(window->bytes & 0xffffff);
    grams[num_grams++] = window->bytes << 8 | text_byte_of(character);
    window->bytes = text_byte_of(before) << 24 | bytes;
    return num_grams;
  }
  for(shift=24; shift>0; shift-=8){
    num_grams += bloom_text_add_byte(window, (uint8_t)(bytes >> (shift - 8)), grams + num_grams);
  }
  window->num_bytes = BLOOM_TEXT_WIDE;
  return num_grams;
}

size_t bloom_text_add(bloom_text_window *window, uint32_t character, uint32_t *grams){
  const uint32_t num_bytes = text_num_bytes(character);
  uint32_t left = num_bytes - 1;
  size_t num_grams;
  if( left==0 ) return bloom_text_add_byte(window, bloom_text_lower((uint8_t)character), grams);
  if( num_bytes==3 ) return text_add_wide(window, character, grams);
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
    .needs_whole = 1,
  };
}

/* Reads on within a run of bytes.  Returns the number of grams, or -1 at its end. */
static int text_read_run(bloom_text_window *window, const uint8_t **text, const uint8_t *end,
                         uint32_t grams[BLOOM_TEXT_PER_CHARACTER]){
  uint32_t character;
  if( *text==end || **text==0 ) return -1;
  if( **text<0x80 ){
    return (int)bloom_text_add_byte(window, bloom_text_lower(*(*text)++), grams);
  }
  character = bloom_text_character(text, end);
  return character==BLOOM_TEXT_NO_CHARACTER ? -1 : (int)bloom_text_add(window, character, grams);
}

/* Writes the edge of a text's beginning.  Returns the number of grams, 0 or 1. */
static size_t text_begin_edge(const uint8_t *text, const uint8_t *end, uint32_t *edge){
  bloom_text_window window = {0, 0};
  uint32_t grams[BLOOM_TEXT_PER_CHARACTER];
  int num_grams;
  do{
    num_grams = text_read_run(&window, &text, end, grams);
  }while( num_grams==0 );
  if( num_grams<0 && bloom_text_end_run(&window, grams)==0 ) return 0;
  *edge = bloom_text_begin_edge(grams[0]);
  return 1;
}

uint32_t bloom_text_whole_edge(const uint8_t *text, const uint8_t *end){
  const uint8_t *const limit = end - text<BLOOM_TEXT_WHOLE ? end : text + BLOOM_TEXT_WHOLE;
  bloom_text_window window = {0, 0};
  uint32_t grams[BLOOM_TEXT_PER_CHARACTER], hash = 0;
  while( text<limit && text_read_run(&window, &text, end, grams)>=0 ){
    hash = bloom_lists_hash(hash + window.bytes);
  }
  return hash ? bloom_lists_edge(BLOOM_LISTS_WHOLE, hash, ~hash) : 0;
}

/* Ends a run of bytes with which a text may end.  Returns the number of grams. */
static size_t text_end(bloom_text_window *window, uint32_t *grams){
  const uint32_t edge = bloom_text_end_edge(window);
  if( bloom_text_end_run(window, grams)==0 ) return 0;
  grams[1] = edge;
  return 2;
}

size_t bloom_text_next(bloom_text *reading, uint32_t grams[BLOOM_TEXT_ROOM]){
  bloom_text_window window = reading->window;
  const uint8_t *text = reading->text, *end = reading->end;
  size_t num_grams = 0;
  if( !reading->is_begun && text!=end ){
    const uint32_t whole = reading->needs_whole ? bloom_text_whole_edge(text, end) : 0;
    num_grams = text_begin_edge(text, end, grams);
    grams[num_grams] = whole;
    num_grams += whole!=0;
    reading->is_begun = 1;
  }
  while( text!=end && num_grams<=BLOOM_TEXT_ROOM-BLOOM_TEXT_PER_CHARACTER-2 ){
    if( *text-1u<0x7f ){
      num_grams += bloom_text_add_byte(&window, bloom_text_lower(*text++), grams + num_grams);
    }else if( *text==0 ){
      num_grams += text_end(&window, grams + num_grams);
      if( reading->passes_nul ) text++;
      else end = text;
    }else{
      const uint32_t character = bloom_text_character(&text, end);
      num_grams += character==BLOOM_TEXT_NO_CHARACTER
          ? bloom_text_end_run(&window, grams + num_grams)
          : bloom_text_add(&window, character, grams + num_grams);
    }
  }
  /* There is room for two: the loop leaves it. */
  if( text==end ) num_grams += text_end(&window, grams + num_grams);
  reading->window = window;
  reading->text = text;
  reading->end = end;
  return num_grams;
}

size_t bloom_text_next_lists(bloom_text *reading, const bloom_lists *lists,
                             uint32_t numbers[BLOOM_TEXT_ROOM]){
  size_t num_grams, i;
  reading->needs_whole = lists->edge_bits[BLOOM_LISTS_WHOLE]>0;
  num_grams = bloom_text_next(reading, numbers);
  for(i=0; i<num_grams; i++) numbers[i] = bloom_lists_of_gram(lists, numbers[i]);
  return num_grams;
}
