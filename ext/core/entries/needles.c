/*
** The lists of a needle; needles.h says what they are.
*/
#include "needles.h"

/* A needle that is being read. */
typedef struct needle {
  const uint8_t *text, *end;
  bloom_needle_kind kind;
  bloom_text_window window;
  int has_gram;    /* one that ends with the window's bytes */
  int num_first;   /* 0, 1 or 2 grams of the text's first bytes were met; 3: these are behind it */
  int is_after_80; /* U+0080 was in the pattern */
  const bloom_lists *lists; /* or NULL: ranges are counted only */
  bloom_lists_range *ranges;
  size_t num_ranges, max_ranges;
} needle;

static void needle_add_range(needle *reading, bloom_lists_range range){
  size_t i;
  for(i=0; i<reading->num_ranges; i++){
    const bloom_lists_range *other = reading->ranges + i;
    if( other->first>=range.first
     && other->first + other->num_lists<=range.first + range.num_lists ) return;
  }
  if( i<reading->max_ranges ) reading->ranges[reading->num_ranges++] = range;
}

/* Adds the lists of an edge.  is_exact: not only its three bytes are known. */
static void needle_add_edge(needle *reading, uint32_t edge, int is_exact){
  const bloom_lists *lists = reading->lists;
  if( lists==NULL || lists->edge_bits[edge & 0xff]==0 ) return;
  needle_add_range(reading, is_exact ? (bloom_lists_range){bloom_lists_of_edge(lists, edge), 1}
                   : bloom_lists_of_edges(lists, edge));
}

static void needle_add_grams(needle *reading, const uint32_t *grams, size_t num_grams){
  size_t i;
  for(i=0; i<num_grams; i++){
    /* The first gram has the mark. */
    if( reading->num_first<2 && ++reading->num_first==2 ){
      needle_add_edge(reading, bloom_text_begin_edge(grams[i]), 1);
    }
    if( reading->lists ){
      const uint32_t list = bloom_lists_of_gram(reading->lists, grams[i]);
      needle_add_range(reading, (bloom_lists_range){list, 1});
    }
  }
  if( reading->lists==NULL ) reading->num_ranges += num_grams;
  /* Behind a character of three bytes a window begins anew. */
  reading->has_gram = (reading->has_gram || num_grams>0) && reading->window.num_bytes>=3;
}

/* Ends a run of bytes.  is_known: the run of each text that matches ends there, too. */
static void needle_end_run(needle *reading, int is_known){
  /* The gram before a last character of three bytes has only a hash of it. */
  const int is_wide = reading->window.num_bytes==BLOOM_TEXT_WIDE;
  uint32_t gram;
  if( bloom_text_end_run(&reading->window, &gram)>0 ){
    if( reading->num_first==1 && !is_known ){
      needle_add_edge(reading, bloom_text_begin_edge(gram), 0);
    }
    if( is_known ){
      needle_add_grams(reading, &gram, 1);
    }else if( !reading->has_gram || is_wide ){
      if( reading->lists ) needle_add_range(reading, bloom_lists_of_class(reading->lists, gram));
      else reading->num_ranges++;
    }
  }
  reading->has_gram = 0;
  reading->num_first = 3;
}

/* The next character, BLOOM_TEXT_NO_CHARACTER if it is none, 0 at the end. */
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

static int needle_is_wildcard(const needle *reading, uint32_t character){
  if( reading->kind==BLOOM_NEEDLE_LIKE ) return character=='%' || character=='_';
  return reading->kind==BLOOM_NEEDLE_GLOB && (character=='*' || character=='?');
}

/* 1 if a character of a pattern may match others, or bytes that are no character of their own. */
static int needle_is_loose(needle *reading, uint32_t character){
  if( character==BLOOM_TEXT_NO_CHARACTER ) return 1;
  if( reading->kind!=BLOOM_NEEDLE_LIKE && reading->kind!=BLOOM_NEEDLE_GLOB ) return 0;
  /* Old versions of SQLite look for U+0080 behind a % byte by byte, go on within another
  ** character, and take its bytes for characters. */
  if( character==0x80 ) reading->is_after_80 = 1;
  return reading->is_after_80 && character>=0x80 && character<0xc0;
}

static void needle_read_all(needle *reading, const uint8_t *text, size_t num_bytes){
  const int is_equal = reading->kind==BLOOM_NEEDLE_EQUAL
      || reading->kind==BLOOM_NEEDLE_EQUAL_RTRIM;
  uint32_t character;
  int ends_alike; /* the text ends where the needle does */
  reading->text = text;
  reading->end = num_bytes ? text + num_bytes : text;
  /* The mark goes with the first bytes, and is gone with the first wildcard. */
  reading->window.num_bytes = reading->kind!=BLOOM_NEEDLE_PART;
  reading->num_first = reading->kind!=BLOOM_NEEDLE_PART ? 0 : 3;
  if( reading->kind==BLOOM_NEEDLE_EQUAL ){
    const uint32_t whole = bloom_text_whole_edge(text, reading->end);
    if( whole ) needle_add_edge(reading, whole, 1);
  }
  while( (character = needle_read(reading))!=0 ){
    const int is_wildcard = needle_is_wildcard(reading, character);
    if( character=='[' && reading->kind==BLOOM_NEEDLE_GLOB ) character = needle_read_class(reading);
    if( is_wildcard || needle_is_loose(reading, character) ){
      needle_end_run(reading, is_equal);
    }else{
      uint32_t grams[BLOOM_TEXT_PER_CHARACTER];
      needle_add_grams(reading, grams, bloom_text_add(&reading->window, character, grams));
    }
  }
  /* At a NUL each text ends. */
  ends_alike = reading->kind!=BLOOM_NEEDLE_PART
      && (reading->kind!=BLOOM_NEEDLE_EQUAL_RTRIM || reading->text!=reading->end);
  if( ends_alike && reading->window.num_bytes>=3 ){
    /* A text may have bytes before the window's, if it has no more than three. */
    needle_add_edge(reading, bloom_text_end_edge(&reading->window), reading->window.bytes >> 24!=0);
  }
  needle_end_run(reading, ends_alike);
}

size_t bloom_needle_ranges(const bloom_lists *lists, bloom_needle_kind kind, const uint8_t *text,
                           size_t num_bytes, bloom_lists_range *ranges, size_t num_ranges,
                           size_t max_ranges){
  needle reading = {.kind = kind, .lists = lists, .ranges = ranges, .num_ranges = num_ranges,
                    .max_ranges = max_ranges};
  needle_read_all(&reading, text, num_bytes);
  return reading.num_ranges;
}

int bloom_needle_is_empty(bloom_needle_kind kind, const uint8_t *text, size_t num_bytes){
  needle reading = {.kind = kind};
  needle_read_all(&reading, text, num_bytes);
  return reading.num_ranges==0;
}
