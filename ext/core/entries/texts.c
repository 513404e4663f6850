/*
** The lists and grams of texts, and the lists of needles; texts.h says what they are.
*/
#include "texts.h"

#include <string.h>

#include "../bytes.h"

/* -- Lists ----------------------------------------------------------------------------------- */

/* Does what bloom_lists_hash_grams() does, in a loop without a look-up, of which compilers make
** vectors. */
static inline void lists_hash_grams(const uint32_t *grams, size_t num_grams, uint32_t *classes,
                                    uint32_t *hashes){
  size_t i;
  for(i=0; i<num_grams; i++){
    classes[i] = bloom_lists_class(grams[i]);
    hashes[i] = bloom_lists_hash_of(grams[i]);
  }
}

#if BLOOM_SIMD_X86
/* Does the same by AVX2: SSE2 has no product of lanes of 32 bits. */
__attribute__((target("avx2"))) static void lists_hash_avx2(const uint32_t *grams,
                                                            size_t num_grams, uint32_t *classes,
                                                            uint32_t *hashes){
  lists_hash_grams(grams, num_grams, classes, hashes);
}
#endif

void bloom_lists_hash_grams(const uint32_t *grams, size_t num_grams, uint32_t *classes,
                            uint32_t *hashes){
#if BLOOM_SIMD_X86
  if( __builtin_cpu_supports("avx2") ){
    lists_hash_avx2(grams, num_grams, classes, hashes);
    return;
  }
#endif
  lists_hash_grams(grams, num_grams, classes, hashes);
}

void bloom_lists_number(bloom_lists *lists){
  uint32_t next = 0, *base = lists->base, i;
  for(i=0; i<BLOOM_LISTS_CLASSES; i++){
    assert( lists->cut[i]<=BLOOM_LISTS_MAX_CUT );
    *base++ = next;
    next += (uint32_t)1 << lists->cut[i];
  }
  *base++ = next++;
  for(i=0; i<BLOOM_LISTS_EDGES; i++){
    assert( lists->edge_bits[i]<=BLOOM_LISTS_MAX_EDGE_BITS );
    *base++ = next;
    next += (uint32_t)1 << lists->edge_bits[i];
  }
  assert( next<=BLOOM_LISTS_MAX );
  *base = lists->num_lists = next;
}

void bloom_lists_even(bloom_lists *lists, uint8_t cut){
  memset(lists->cut, cut, sizeof(lists->cut));
  memset(lists->edge_bits, 0, sizeof(lists->edge_bits));
  bloom_lists_number(lists);
}

void bloom_lists_pack(const bloom_lists *lists, uint8_t bytes[BLOOM_LISTS_BYTES]){
  uint32_t i, j;
  for(i=0; i<BLOOM_LISTS_CLASSES; i+=8, bytes+=3){
    uint32_t eight = 0;
    for(j=0; j<8; j++) eight |= (uint32_t)lists->cut[i + j] << 3*j;
    bytes[0] = (uint8_t)eight;
    bytes[1] = (uint8_t)(eight >> 8);
    bytes[2] = (uint8_t)(eight >> 16);
  }
  memcpy(bytes, lists->edge_bits, BLOOM_LISTS_EDGES);
}

int bloom_lists_unpack(bloom_lists *lists, const uint8_t bytes[BLOOM_LISTS_BYTES]){
  const uint8_t *edge_bits = bytes + BLOOM_LISTS_BYTES - BLOOM_LISTS_EDGES;
  uint32_t i, j;
  for(i=0; i<BLOOM_LISTS_EDGES; i++) if( edge_bits[i]>BLOOM_LISTS_MAX_EDGE_BITS ) return 0;
  for(i=0; i<BLOOM_LISTS_CLASSES; i+=8, bytes+=3){
    const uint32_t eight = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;
    for(j=0; j<8; j++) lists->cut[i + j] = (uint8_t)(eight >> 3*j & BLOOM_LISTS_MAX_CUT);
  }
  memcpy(lists->edge_bits, edge_bits, BLOOM_LISTS_EDGES);
  bloom_lists_number(lists);
  return 1;
}

/* -- Grams ----------------------------------------------------------------------------------- */

uint32_t bloom_text_character(const uint8_t **text, const uint8_t *end){
  const uint8_t *const begin = *text;
  const uint8_t *next = begin + 1;
  uint32_t character = *begin, bit; /* a byte within a character, alone, stands for itself */
  assert( begin<end && character>=0x80 );
  if( character>=0xc0 ){
    /* What is behind its ones, as SQLite has it: also of bytes that no UTF-8 begins with. */
    for(bit=0x80; character & bit; bit/=2) character -= bit;
    /* However many follow: what is shifted out is lost. */
    for(; next<end && (*next & 0xc0)==0x80; next++) character = character << 6 | (*next & 0x3fu);
  }
  *text = next;
  if( character<0x80 || (character & 0xfffff800u)==0xd800 || character>0x10ffff ){
    return BLOOM_TEXT_NO_CHARACTER;
  }
  return character>=0xfffd && character<=0xffff ? BLOOM_TEXT_NO_CHARACTER : character;
}

/* The most grams that one character leads to. */
#define TEXT_PER_CHARACTER 4

/* Appends a byte, of a letter in lower case.  Returns the number of grams that it wrote: 0 or 1. */
static inline size_t text_add_byte(bloom_text_window *window, uint8_t byte, uint32_t *grams){
  assert( byte!=0 && window->num_bytes<=BLOOM_TEXT_WIDE );
  window->bytes = window->bytes << 8 | byte;
  *grams = window->bytes;
  if( window->num_bytes==3 ) return 1;
  if( window->num_bytes==BLOOM_TEXT_WIDE ){
    *window = (bloom_text_window){.bytes = byte, .num_bytes = 1};
    return 1;
  }
  window->num_bytes++;
  return 0;
}

/* Ends a run of bytes.  Returns the number of grams that it wrote, 0 or 1. */
static inline size_t text_end_run(bloom_text_window *window, uint32_t *grams){
  const size_t num_grams = window->num_bytes>=3;
  *grams = window->bytes << 8;
  *window = (bloom_text_window){0};
  return num_grams;
}

/* Returns the edge of a text's beginning, by its gram behind the one with the mark. */
static inline uint32_t text_begin_edge(uint32_t gram){
  assert( gram>>24!=0 );
  return bloom_lists_edge(BLOOM_LISTS_BEGIN, gram >> 8, gram);
}

/* Returns the edge of a text's end, by its last bytes, three or more. */
static inline uint32_t text_end_edge(const bloom_text_window *window){
  return bloom_lists_edge(BLOOM_LISTS_END, window->bytes & 0xffffff, window->bytes);
}

/* Appends a character.  Returns the number of grams that it wrote; there is room for
** TEXT_PER_CHARACTER. */
static size_t text_add(bloom_text_window *window, uint32_t character, uint32_t *grams){
  const int is_wide = character>=0x800 && character<0x10000; /* it has three bytes */
  uint32_t left = character<0x800 ? 1 : 3; /* bytes behind the first one in UTF-8 */
  uint32_t hash = 0;
  size_t num_grams;
  assert( character!=BLOOM_TEXT_NO_CHARACTER && character<=0x10ffff );
  if( character<0x80 ){
    return text_add_byte(window, bloom_text_lower((uint8_t)character), grams);
  }
  if( is_wide ){
    left = 2;
    hash = 1 + (uint32_t)((uint64_t)bloom_lists_hash(character) * 255 >> 32);
    if( window->num_bytes==BLOOM_TEXT_WIDE ){
      *grams = window->bytes << 8 | hash;
      window->bytes = window->hash << 24 | 0xe08080u | (character & 0xf000) << 4
        | (character & 0xfc0) << 2 | (character & 0x3f);
      window->hash = hash;
      return 1;
    }
  }
  /* The first byte begins with as many ones as there are bytes. */
  num_grams = text_add_byte(window, (uint8_t)(0xff80 >> left | character >> 6*left), grams);
  while( left-->0 ){
    const uint8_t byte = (uint8_t)(0x80 | (character >> 6*left & 0x3f));
    num_grams += text_add_byte(window, byte, grams + num_grams);
  }
  if( is_wide ){
    window->num_bytes = BLOOM_TEXT_WIDE;
    window->hash = hash;
  }
  return num_grams;
}

void bloom_text_begin(bloom_text *reading, const uint8_t *text, size_t num_bytes, int passes_nul){
  assert( text!=NULL || num_bytes==0 );
  *reading = (bloom_text){
    .text = text,
    .end = num_bytes ? text + num_bytes : text,
    .window = {.bytes = 0, .num_bytes = 1}, /* the mark */
    .passes_nul = passes_nul,
    .needs_whole = 1,
  };
}

/* Returns the edge of a whole text; 0 if its first run is empty. */
static uint32_t text_whole_edge(const uint8_t *text, const uint8_t *end){
  const uint8_t *const limit = end - text<BLOOM_TEXT_WHOLE ? end : text + BLOOM_TEXT_WHOLE;
  bloom_text_window window = {0};
  uint32_t grams[TEXT_PER_CHARACTER], hash = 0;
  while( text<limit && *text!=0 ){
    const uint32_t character = *text<0x80 ? *text++ : bloom_text_character(&text, end);
    if( character==BLOOM_TEXT_NO_CHARACTER ) break;
    text_add(&window, character, grams);
    hash = bloom_lists_hash(hash + window.bytes);
  }
  return hash ? bloom_lists_edge(BLOOM_LISTS_WHOLE, hash, ~hash) : 0;
}

/* Ends a run at the end of the text, or at a NUL.  Returns the number of grams: 0, or 2 with the
** edge. */
static size_t text_end(bloom_text_window *window, uint32_t *grams){
  const uint32_t edge = text_end_edge(window);
  if( text_end_run(window, grams)==0 ) return 0;
  grams[1] = edge;
  return 2;
}

/* With fewer grams the loop reads a character: then there is room for its grams, for two at the end
** of the text, and for two more edges. */
#define TEXT_ROOM_OF_LOOP ((size_t)BLOOM_TEXT_ROOM - TEXT_PER_CHARACTER - 3)

/* Returns 1, and sets *lower to the next eight bytes in lower case, the last one lowest, if all are
** ASCII and none is NUL. */
static inline int text_lower_8(const uint8_t *text, uint64_t *lower){
  const uint64_t ones = UINT64_MAX/0xff, bytes = bloom_load64_be(text);
  const uint64_t from_a = bytes + ones*(0x80 - 'A'), behind_z = bytes + ones*(0x80 - 'Z' - 1);
  *lower = bytes | (from_a & ~behind_z & ones*0x80) >> 2;
  return (((bytes - ones) | bytes) & ones*0x80)==0;
}

/* Appends the grams of ASCII behind ASCII, as most bytes are: each of them is one more gram.  Stops
** at a NUL or another byte, at the end, or behind num_most bytes.  Returns the number of bytes. */
static inline size_t text_add_ascii(bloom_text_window *window, const uint8_t *text,
                                    const uint8_t *end, size_t num_most, uint32_t *grams){
  const size_t num_bytes = (size_t)(end - text)<num_most ? (size_t)(end - text) : num_most;
  uint32_t bytes = window->bytes;
  uint64_t eight;
  size_t num_read = 0, i;
  assert( window->num_bytes==3 );
  while( num_read<num_bytes && text[num_read]-1u<0x7f ){
    if( num_bytes - num_read>=8 && text_lower_8(text + num_read, &eight) ){
      for(i=0; i<8; i++){
        grams[num_read++] = (i<3 ? bytes << (8*i + 8) : 0) | (uint32_t)(eight >> (56 - 8*i));
      }
      bytes = (uint32_t)eight;
    }else{
      bytes = bytes << 8 | bloom_text_lower(text[num_read]);
      grams[num_read++] = bytes;
    }
  }
  window->bytes = bytes;
  return num_read;
}

size_t bloom_text_next(bloom_text *reading, uint32_t grams[BLOOM_TEXT_ROOM]){
  bloom_text_window window = reading->window;
  const uint8_t *text = reading->text, *end = reading->end;
  size_t num_grams = 0;
  while( text!=end && num_grams<TEXT_ROOM_OF_LOOP ){
    if( *text-1u<0x7f && window.num_bytes==3 ){
      const size_t num_read = text_add_ascii(&window, text, end, TEXT_ROOM_OF_LOOP - num_grams,
                                             grams + num_grams);
      text += num_read;
      num_grams += num_read;
    }else if( *text-1u<0x7f ){
      num_grams += text_add_byte(&window, bloom_text_lower(*text++), grams + num_grams);
    }else if( *text==0 ){
      num_grams += text_end(&window, grams + num_grams);
      if( reading->passes_nul ) text++;
      else end = text;
    }else{
      const uint32_t character = bloom_text_character(&text, end);
      num_grams += character==BLOOM_TEXT_NO_CHARACTER
          ? text_end_run(&window, grams + num_grams)
          : text_add(&window, character, grams + num_grams);
    }
  }
  if( text==end ) num_grams += text_end(&window, grams + num_grams);
  if( !reading->is_begun && reading->text!=end ){
    const uint32_t whole = reading->needs_whole ? text_whole_edge(reading->text, end) : 0;
    /* The first gram has the mark, and the run goes on behind it. */
    if( num_grams>1 && grams[0]>>24==0 && (grams[0] & 0xff)!=0 ){
      grams[num_grams++] = text_begin_edge(grams[1]);
    }
    grams[num_grams] = whole;
    num_grams += whole!=0;
    reading->is_begun = 1;
  }
  assert( num_grams<=BLOOM_TEXT_ROOM );
  reading->window = window;
  reading->text = text;
  reading->end = end;
  return num_grams;
}

size_t bloom_text_next_lists(bloom_text *reading, const bloom_lists *lists, uint64_t *has,
                             uint32_t numbers[BLOOM_TEXT_ROOM]){
  uint32_t grams[BLOOM_TEXT_ROOM], classes[BLOOM_TEXT_ROOM], hashes[BLOOM_TEXT_ROOM];
  size_t num_grams, num_numbers = 0, i;
  reading->needs_whole = lists->edge_bits[BLOOM_LISTS_WHOLE]>0;
  num_grams = bloom_text_next(reading, grams);
  bloom_lists_hash_grams(grams, num_grams, classes, hashes);
  for(i=0; i<num_grams; i++){
    const uint32_t number = bloom_lists_of_hash(lists, classes[i], hashes[i]);
    const uint64_t word = has[number/64], bit = (uint64_t)1 << number%64;
    assert( number<lists->num_lists );
    has[number/64] = word | bit;
    numbers[num_numbers] = number; /* no branch: it would often be mispredicted */
    num_numbers += (word & bit)==0;
  }
  return num_numbers;
}

/* -- Needles --------------------------------------------------------------------------------- */

/* A class of so many lists at most is looked up for the last bytes of a needle: texts.h. */
#define NEEDLE_FEW_LISTS 4

/* A needle that is being read. */
typedef struct needle {
  const uint8_t *text, *end;
  bloom_needle_kind kind;
  bloom_text_window window;
  int has_gram;    /* the window's last bytes have a range already */
  int num_first;   /* grams so far of a text's beginning, at most 2; 3: it is elsewhere */
  int is_after_80; /* U+0080 was in the pattern */
  const bloom_lists *lists; /* NULL: ranges are only counted */
  bloom_lists_range *ranges;
  size_t num_ranges, max_ranges;
} needle;

/* Adds the range of a gram or an edge: its list; unless is_exact, all lists of its three bytes. */
static void needle_add(needle *reading, uint32_t gram, int is_exact){
  const bloom_lists *lists = reading->lists;
  const int is_edge = bloom_lists_is_edge(gram);
  bloom_lists_range range;
  size_t i;
  if( lists==NULL ){
    reading->num_ranges += !is_edge;
    return;
  }
  if( is_edge && lists->edge_bits[gram & 0xff]==0 ) return;
  range = is_exact ? (bloom_lists_range){bloom_lists_of_gram(lists, gram), 1}
      : is_edge ? bloom_lists_of_edges(lists, gram) : bloom_lists_of_class(lists, gram);
  assert( range.num_lists>0 && range.first + range.num_lists<=lists->num_lists );
  for(i=0; i<reading->num_ranges; i++){
    const bloom_lists_range *other = reading->ranges + i;
    if( other->first>=range.first
     && other->first + other->num_lists<=range.first + range.num_lists ) return;
  }
  if( i<reading->max_ranges ) reading->ranges[reading->num_ranges++] = range;
}

static void needle_add_grams(needle *reading, const uint32_t *grams, size_t num_grams){
  size_t i;
  for(i=0; i<num_grams; i++){
    /* The first gram has the mark, so that the second one has a text's first bytes. */
    if( reading->num_first<2 && ++reading->num_first==2 ){
      needle_add(reading, text_begin_edge(grams[i]), 1);
    }
    needle_add(reading, grams[i], 1);
  }
  /* With fewer bytes the window was begun anew, behind a character of three bytes. */
  reading->has_gram = num_grams>0 && reading->window.num_bytes>=3;
}

/* Ends a run of bytes.  is_known: in each text that matches the run ends there, too. */
static void needle_end_run(needle *reading, int is_known){
  /* Of a last character of three bytes the gram before it has only a hash. */
  const int is_wide = reading->window.num_bytes==BLOOM_TEXT_WIDE;
  uint32_t gram;
  if( text_end_run(&reading->window, &gram)>0 ){
    if( reading->num_first==1 && !is_known ) needle_add(reading, text_begin_edge(gram), 0);
    if( is_known ){
      needle_add_grams(reading, &gram, 1);
    }else if( !reading->has_gram || is_wide || (reading->lists
           && bloom_lists_of_class(reading->lists, gram).num_lists<=NEEDLE_FEW_LISTS) ){
      needle_add(reading, gram, 0);
    }
  }
  reading->has_gram = 0;
  reading->num_first = 3;
}

/* Returns the next character, BLOOM_TEXT_NO_CHARACTER if it is none, 0 at the end. */
static uint32_t needle_read(needle *reading){
  if( reading->text==reading->end || *reading->text==0 ) return 0;
  if( *reading->text<0x80 ) return *reading->text++;
  return bloom_text_character(&reading->text, reading->end);
}

/* Reads what is behind a [ of GLOB.  Returns the character that it stands for, or
** BLOOM_TEXT_NO_CHARACTER if these are several. */
static uint32_t needle_read_class(needle *reading){
  uint32_t character = needle_read(reading), only = BLOOM_TEXT_NO_CHARACTER;
  uint32_t num_members = 0;
  if( character=='^' ){
    num_members = 2; /* many */
    character = needle_read(reading);
  }
  /* A ] that comes first stands for itself. */
  do{
    if( character==0 ) return BLOOM_TEXT_NO_CHARACTER; /* no end: it matches nothing */
    only = character;
    num_members++;
    character = needle_read(reading);
  }while( character!=']' );
  return num_members==1 ? only : BLOOM_TEXT_NO_CHARACTER;
}

/* Returns the next character that a text must have; 0 at the end; BLOOM_TEXT_NO_CHARACTER if a text
** may have others there, or bytes that are not the character's own. */
static uint32_t needle_next(needle *reading){
  const int is_like = reading->kind==BLOOM_NEEDLE_LIKE, is_glob = reading->kind==BLOOM_NEEDLE_GLOB;
  uint32_t character = needle_read(reading);
  if( (is_like && (character=='%' || character=='_'))
   || (is_glob && (character=='*' || character=='?')) ) return BLOOM_TEXT_NO_CHARACTER;
  if( is_glob && character=='[' ) character = needle_read_class(reading);
  /* Old versions of SQLite look for U+0080 behind a % byte by byte, go on within another
  ** character, and take its bytes for characters. */
  if( character==0x80 && (is_like || is_glob) ) reading->is_after_80 = 1;
  if( reading->is_after_80 && character>=0x80 && character<0xc0 ) return BLOOM_TEXT_NO_CHARACTER;
  return character;
}

size_t bloom_needle_ranges(const bloom_lists *lists, bloom_needle_kind kind, const uint8_t *text,
                           size_t num_bytes, bloom_lists_range *ranges, size_t num_ranges,
                           size_t max_ranges){
  const int is_behind = kind==BLOOM_NEEDLE_PART || kind==BLOOM_NEEDLE_END; /* the text's mark */
  const int is_rtrim = kind==BLOOM_NEEDLE_EQUAL_RTRIM;
  needle reading = {
    .text = text, .end = num_bytes ? text + num_bytes : text, .kind = kind,
    .window = {.num_bytes = !is_behind}, /* the mark, which is gone with the first wildcard */
    .num_first = is_behind ? 3 : 0,
    .lists = lists, .ranges = ranges, .num_ranges = num_ranges, .max_ranges = max_ranges,
  };
  uint32_t character;
  int ends_alike; /* the text ends where the needle does */
  assert( (text!=NULL || num_bytes==0) && num_ranges<=max_ranges );
  if( kind==BLOOM_NEEDLE_EQUAL ){
    const uint32_t whole = text_whole_edge(text, reading.end);
    if( whole ) needle_add(&reading, whole, 1);
  }
  while( (character = needle_next(&reading))!=0 ){
    if( character==BLOOM_TEXT_NO_CHARACTER ){
      needle_end_run(&reading, kind==BLOOM_NEEDLE_EQUAL || is_rtrim);
    }else{
      uint32_t grams[TEXT_PER_CHARACTER];
      needle_add_grams(&reading, grams, text_add(&reading.window, character, grams));
    }
  }
  /* Each text ends at a NUL, as the needle does. */
  ends_alike = kind!=BLOOM_NEEDLE_PART && kind!=BLOOM_NEEDLE_BEGINNING
      && (!is_rtrim || reading.text!=reading.end);
  if( ends_alike && reading.window.num_bytes>=3 ){
    /* If the window has only three bytes, a text may have any byte before them. */
    needle_add(&reading, text_end_edge(&reading.window), reading.window.bytes >> 24!=0);
  }
  needle_end_run(&reading, ends_alike);
  assert( lists==NULL || reading.num_ranges<=max_ranges );
  return reading.num_ranges;
}
