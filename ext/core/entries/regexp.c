/*
** The literals of a regular expression; regexp.h says what they are.
*/
#include "regexp.h"

#include <string.h>

#include "../debug.h"

/* A pattern that is being read. */
typedef struct regexp_reader {
  const uint8_t *next, *end;
  const uint8_t *first; /* the first item, behind flags */
  bloom_regexp *result;
  int flags;       /* BLOOM_REGEXP_..., and those of the pattern */
  int is_beginning; /* what comes next, or the open literal, is where a text begins */
  int is_end;       /* a $ behind the open literal is the last byte */
  uint32_t run;    /* where the open literal begins in result->bytes */
  int depth;       /* of groups */
  int has_foreign; /* the pattern has characters beyond ASCII */
  int is_unknown;  /* it has something whose meaning is not known here */
} regexp_reader;

static const bloom_regexp_terms regexp_nothing = {1, {0}};

/* -- Terms ----------------------------------------------------------------------------------- */

static int regexp_is_nothing(const bloom_regexp_terms *terms){
  return terms->num_terms==1 && terms->terms[0]==0;
}

/* Sets *a to what a and b require together; leaves a alone where that is too much. */
static void regexp_and(bloom_regexp_terms *a, const bloom_regexp_terms *b){
  bloom_regexp_terms both = {0, {0}};
  uint32_t i, j;
  assert( a->num_terms>0 && b->num_terms>0 );
  if( a->num_terms*b->num_terms>BLOOM_REGEXP_MAX_TERMS ) return;
  for(i=0; i<a->num_terms; i++){
    for(j=0; j<b->num_terms; j++) both.terms[both.num_terms++] = a->terms[i] | b->terms[j];
  }
  *a = both;
}

/* -- Characters ------------------------------------------------------------------------------ */

#define REGEXP_DIGITS  "0123456789"
#define REGEXP_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* Returns 1 if chars has the byte. */
static int regexp_is_one_of(uint8_t byte, const char *chars){
  return byte!=0 && strchr(chars, byte)!=NULL;
}

/* Returns the bytes of a character if it is one in well-formed UTF-8, else 0. */
static size_t regexp_character_bytes(const uint8_t *text, const uint8_t *end){
  const uint8_t *next = text;
  uint32_t character, num_bytes;
  assert( text<end );
  if( *text<0x80 ) return *text!=0;
  character = bloom_text_character(&next, end);
  num_bytes = character<0x800 ? 2 : character<0x10000 ? 3 : 4;
  /* It has as many bytes as its first one says: a 0 behind so many ones. */
  if( character==BLOOM_TEXT_NO_CHARACTER || next!=text + num_bytes ) return 0;
  return *text >> (7 - num_bytes)==(2 << num_bytes) - 2 ? num_bytes : 0;
}

/* Returns 1 if a byte is somewhere in what is left. */
static int regexp_has(const regexp_reader *reader, uint8_t byte){
  return reader->next<reader->end
    && memchr(reader->next, byte, (size_t)(reader->end - reader->next))!=NULL;
}

/* Returns the next byte, 0 at the end. */
static uint8_t regexp_peek(const regexp_reader *reader){
  return reader->next<reader->end ? *reader->next : 0;
}

static int regexp_take(regexp_reader *reader, uint8_t byte){
  if( regexp_peek(reader)!=byte ) return 0;
  reader->next++;
  return 1;
}

/* -- Literals -------------------------------------------------------------------------------- */

/* Adds a literal.  Returns its bit, 0 if there is no room. */
static uint64_t regexp_add(bloom_regexp *result, uint32_t first, uint32_t end,
                           bloom_needle_kind kind){
  assert( first<end && end<=BLOOM_REGEXP_MAX_BYTES );
  if( result->num_literals==BLOOM_REGEXP_MAX_LITERALS ) return 0;
  result->literals[result->num_literals] = (bloom_regexp_literal){
    (uint16_t)first, (uint16_t)(end - first), kind
  };
  return (uint64_t)1 << result->num_literals++;
}

/* Requires bytes[first .. end) of the open literal, unless they have no gram. */
static void regexp_require(const regexp_reader *reader, bloom_regexp_terms *terms, uint32_t first,
                           uint32_t end){
  bloom_regexp *result = reader->result;
  const int is_beginning = reader->is_beginning && first==reader->run;
  uint64_t bit;
  uint32_t i;
  assert( reader->run<=first && first<=end && end<=result->num_bytes );
  if( end - first<(is_beginning ? 2 : 3) ) return;
  if( reader->is_end && end==result->num_bytes && end - first>=3 && end<BLOOM_REGEXP_MAX_BYTES ){
    bloom_regexp_terms ends = {2, {regexp_add(result, first, end, BLOOM_NEEDLE_END)}};
    /* In most dialects $ may stand before the newline that a text ends with. */
    result->bytes[end] = '\n';
    ends.terms[1] = regexp_add(result, first, end + 1, BLOOM_NEEDLE_END);
    if( ends.terms[1] ) regexp_and(terms, &ends);
  }
  bit = regexp_add(result, first, end, is_beginning ? BLOOM_NEEDLE_BEGINNING : BLOOM_NEEDLE_PART);
  for(i=0; i<terms->num_terms; i++) terms->terms[i] |= bit;
}

/* Returns 1 if every match has byte i as it is, or in the other case.  A function that ignores case
** may match one character by several: U+01F0 by j and U+030C, U+FB02 by fl.  Perl does so across
** the ends of groups and classes, so all of the pattern may be beside the run. */
static int regexp_is_plain(const regexp_reader *reader, uint32_t i){
  const uint8_t *byte = reader->result->bytes + i;
  const int has_before = i>reader->run, has_behind = i+1<reader->result->num_bytes;
  assert( reader->run<=i && i<reader->result->num_bytes );
  if( *byte>=0x80 || regexp_is_one_of(*byte, "fiks") ) return 0;
  if( !regexp_is_one_of(*byte, REGEXP_LETTERS) ) return 1;
  if( has_before ? byte[-1]>=0x80 : reader->has_foreign ) return 0;
  if( has_behind ? byte[1]>=0x80 : reader->has_foreign ) return 0;
  return !regexp_is_one_of(*byte, "tl") || (has_before && !regexp_is_one_of(byte[-1], "fs"));
}

/* Ends the open literal, and requires it. */
static void regexp_end_run(regexp_reader *reader, bloom_regexp_terms *terms){
  bloom_regexp *result = reader->result;
  uint32_t end = result->num_bytes;
  if( !result->ignores_case ){
    /* A function that reads bytes may find those of the last character within an ill-formed one. */
    if( end>reader->run && result->bytes[end-1]>=0x80 ){
      do end--; while( (result->bytes[end] & 0xc0)==0x80 );
    }
    regexp_require(reader, terms, reader->run, end);
  }else{
    uint32_t first = reader->run, i;
    for(i=first; i<end; i++) result->bytes[i] = bloom_text_lower(result->bytes[i]);
    for(i=first; i<=end; i++){
      if( i<end && regexp_is_plain(reader, i) ) continue;
      regexp_require(reader, terms, first, i);
      first = i + 1;
    }
  }
  reader->run = result->num_bytes;
  reader->is_beginning = 0;
}

/* -- Items ----------------------------------------------------------------------------------- */

typedef enum regexp_count {
  REGEXP_ONCE,
  REGEXP_REPEATED, /* once at least */
  REGEXP_OPTIONAL
} regexp_count;

/* Reads the quantifiers behind an item.  Of two the second may make the first one lazy; POSIX reads
** +? as (...+)?. */
static regexp_count regexp_read_count(regexp_reader *reader){
  regexp_count count = REGEXP_ONCE;
  while( regexp_is_one_of(regexp_peek(reader), "*+?{") ){
    const uint8_t byte = *reader->next++;
    const regexp_count next = byte=='+' ? REGEXP_REPEATED : REGEXP_OPTIONAL;
    if( next>count ) count = next;
    if( byte!='{' ) continue;
    /* Any of the numbers may be 0.  {e<=1} lets Python's regex module match with an error.  Without
    ** a } it is a character. */
    while( regexp_is_one_of(regexp_peek(reader), REGEXP_DIGITS ",") ) reader->next++;
    if( !regexp_take(reader, '}') ) reader->is_unknown |= regexp_has(reader, '}');
  }
  return count;
}

/* Takes what is behind a \, if it is one character in all functions.  Returns 0 if not. */
static int regexp_take_escaped(regexp_reader *reader){
  const uint8_t byte = regexp_peek(reader);
  if( byte<' ' || byte>=0x7f
   || (regexp_is_one_of(byte, REGEXP_LETTERS REGEXP_DIGITS)
       && !regexp_is_one_of(byte, "dDwWsSbBAzZntr")) ) return 0;
  reader->next++;
  return 1;
}

/* Skips a class behind its [.  In SQLite's shell a - and the ] behind it are a range, and the class
** goes on: then the next class, which is one or a part of this one, is skipped, too. */
static void regexp_skip_class(regexp_reader *reader){
  const uint8_t *begin;
  int may_have_ended = 0; /* at a \], as POSIX reads it */
  do{
    regexp_take(reader, '^');
    for(begin=reader->next; !reader->is_unknown && regexp_peek(reader)!=']'; ){
      const uint8_t byte = regexp_peek(reader);
      /* Names of classes, and classes within one, end elsewhere in some dialects. */
      reader->is_unknown = byte==0 || byte=='['
        || (may_have_ended && regexp_is_one_of(byte, "|()\\"));
      if( reader->is_unknown ) return;
      reader->next++;
      if( byte!='\\' ) continue;
      may_have_ended = regexp_peek(reader)==']';
      reader->is_unknown = !regexp_take_escaped(reader)
        || (reader->next[-1]=='[' && regexp_is_one_of(regexp_peek(reader), ":.="));
    }
    /* [] is empty in some dialects, and in others begins a class that has a ]. */
    reader->is_unknown |= reader->next==begin;
    if( reader->is_unknown ) return;
    reader->next++;
    if( reader->next - begin<3 || reader->next[-2]!='-'
     || !regexp_has(reader, ']') ) return;
    while( regexp_peek(reader) && !regexp_is_one_of(*reader->next, "[]|()\\") ) reader->next++;
    reader->is_unknown = !regexp_take(reader, '[');
  }while( !reader->is_unknown );
}

static void regexp_read_alternatives(regexp_reader *reader, bloom_regexp_terms *terms);

/* Returns how many bytes the next item has if it is a literal character, and sets their place;
** else 0. */
static size_t regexp_find_literal(const regexp_reader *reader, const uint8_t **text){
  const uint8_t byte = *reader->next;
  *text = reader->next;
  if( byte=='\\' ){
    /* GNU's ends of words and texts; letters and digits have a meaning, too. */
    if( reader->end - reader->next<2 || regexp_is_one_of(reader->next[1], "<>'`") ) return 0;
    *text = reader->next + 1;
    return **text>=' ' && **text<0x7f && !regexp_is_one_of(**text, REGEXP_LETTERS REGEXP_DIGITS);
  }
  if( byte<' ' || byte==0x7f || regexp_is_one_of(byte, ".^$[(") ) return 0;
  return regexp_character_bytes(reader->next, reader->end);
}

/* Reads an item that is no literal character, with its quantifiers, and adds what it requires. */
/* NOLINTNEXTLINE(misc-no-recursion): to a depth of 20 */
static void regexp_read_item(regexp_reader *reader, bloom_regexp_terms *terms){
  bloom_regexp_terms of_group;
  int forbids = 0;
  switch( *reader->next++ ){
    case '(': /* a group: one that begins with (* becomes unknown as its alternatives are read */
      reader->is_unknown = ++reader->depth>BLOOM_REGEXP_MAX_DEPTH;
      if( regexp_take(reader, '?') && !regexp_take(reader, ':') ){
        regexp_take(reader, '<'); /* of a look-behind */
        forbids = regexp_take(reader, '!');
        reader->is_unknown |= !forbids && !regexp_take(reader, '=');
      }
      regexp_read_alternatives(reader, &of_group);
      reader->depth--;
      reader->is_unknown |= !regexp_take(reader, ')');
      if( regexp_read_count(reader)==REGEXP_OPTIONAL || forbids ) return;
      regexp_and(terms, &of_group);
      return;
    case '^':
    case '$':
      if( reader->next[-1]=='^' ){
        reader->is_beginning = reader->next==reader->first + 1
          && !(reader->flags & BLOOM_REGEXP_HAS_LINES);
      }
      if( regexp_is_one_of(regexp_peek(reader), "*+?{") ) reader->is_unknown = 1;
      return;
    case '[':
      regexp_skip_class(reader);
      break;
    case '\\':
      reader->is_unknown = !regexp_take_escaped(reader);
      break;
    default: /* any character, and control characters */
      break;
  }
  regexp_read_count(reader);
}

/* Reads one alternative: items, up to a | or ). */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void regexp_read_sequence(regexp_reader *reader, bloom_regexp_terms *terms){
  bloom_regexp *result = reader->result;
  *terms = regexp_nothing;
  if( regexp_is_one_of(regexp_peek(reader), "*+?{") ) reader->is_unknown = 1;
  while( !reader->is_unknown && reader->next<reader->end
   && !regexp_is_one_of(*reader->next, "|)") ){
    const uint8_t *text;
    const size_t num_bytes = regexp_find_literal(reader, &text);
    if( num_bytes==0 ){
      /* A group directly behind ^ is where a text begins; other items may have a length. */
      const int is_beginning = reader->is_beginning && *reader->next=='('
          && result->num_bytes==reader->run;
      reader->is_end = *reader->next=='$' && reader->end - reader->next==1
          && !(reader->flags & BLOOM_REGEXP_HAS_LINES);
      regexp_end_run(reader, terms);
      reader->is_beginning = is_beginning;
      regexp_read_item(reader, terms);
    }else{
      const int has_room = result->num_bytes + num_bytes<=BLOOM_REGEXP_MAX_BYTES;
      regexp_count count;
      reader->next = text + num_bytes;
      count = regexp_read_count(reader);
      if( count!=REGEXP_OPTIONAL && has_room ){
        memcpy(result->bytes + result->num_bytes, text, num_bytes);
        result->num_bytes += (uint32_t)num_bytes;
      }
      /* A character without room is not required. */
      if( count!=REGEXP_ONCE || !has_room ) regexp_end_run(reader, terms);
    }
  }
  regexp_end_run(reader, terms);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void regexp_read_alternatives(regexp_reader *reader, bloom_regexp_terms *terms){
  const int is_beginning = reader->is_beginning;
  bloom_regexp_terms next;
  regexp_read_sequence(reader, terms);
  while( !reader->is_unknown && regexp_take(reader, '|') ){
    reader->is_beginning = is_beginning;
    regexp_read_sequence(reader, &next);
    /* *terms is what one of them requires. */
    if( regexp_is_nothing(terms) || regexp_is_nothing(&next)
     || terms->num_terms + next.num_terms>BLOOM_REGEXP_MAX_TERMS ){
      *terms = regexp_nothing;
    }else{
      memcpy(terms->terms + terms->num_terms, next.terms, next.num_terms*sizeof(next.terms[0]));
      terms->num_terms += next.num_terms;
    }
  }
  assert( terms->num_terms>0 && terms->num_terms<=BLOOM_REGEXP_MAX_TERMS );
}

int bloom_regexp_read(bloom_regexp *regexp, const uint8_t *text, size_t num_bytes, int flags){
  regexp_reader reader = {.next = text, .end = num_bytes ? text + num_bytes : text,
                          .flags = flags, .result = regexp};
  const uint8_t *next;
  size_t character_bytes;
  int has_flags = 0;
  assert( text || num_bytes==0 );
  memset(regexp, 0, sizeof(*regexp));
  /* Flags may stand alone at the beginning. */
  if( regexp_take(&reader, '(') && regexp_take(&reader, '?') ){
    for(; regexp_is_one_of(regexp_peek(&reader), "ims"); reader.next++){
      if( *reader.next=='i' ) flags |= BLOOM_REGEXP_IGNORES_CASE;
      if( *reader.next=='m' ) flags |= BLOOM_REGEXP_HAS_LINES;
    }
    has_flags = reader.next>text + 2 && regexp_take(&reader, ')');
  }
  if( has_flags ) reader.flags = flags;
  else reader.next = text;
  regexp->ignores_case = reader.flags & BLOOM_REGEXP_IGNORES_CASE;
  reader.first = reader.next;
  for(next=reader.next; next<reader.end && !reader.is_unknown; next+=character_bytes){
    character_bytes = regexp_character_bytes(next, reader.end);
    reader.is_unknown = character_bytes==0; /* it is no well-formed UTF-8 */
    reader.has_foreign |= character_bytes>1;
  }
  regexp_read_alternatives(&reader, &regexp->required);
  /* What is left begins with a ) without its (. */
  if( reader.is_unknown || reader.next<reader.end ) regexp->required = regexp_nothing;
  return !regexp_is_nothing(&regexp->required);
}
