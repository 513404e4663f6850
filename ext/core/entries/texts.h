/*
** Texts: their grams, the lists that these belong to, and the lists of what is looked for.
*/
#ifndef BLOOM_CORE_ENTRIES_TEXTS_H
#define BLOOM_CORE_ENTRIES_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "../debug.h"

/* == Lists ============================================================================= */

/*
** The lists of a text column: a gram is three bytes of a text and the byte behind them, and each
** gram belongs to one list.  The number of the list is the token under which the blocks that have
** the gram are entered.
**
**   gram    x << 24 | y << 16 | z << 8 | w, as it is read from a text, below
**   class   hash(x y z) >> 18: one of 16,384
**   list    class c is cut into 2^cut[c] lists, numbered from base[c] on; a gram's list is
**           base[c] + hash(x y z w) * 2^cut[c] / 2^32.  base[] is the prefix sum of the sizes
**
** So all grams that begin with x y z lie in lists side by side: base[c] .. base[c + 1] - 1, and
** three bytes of which the next one is not known are looked up in all of these.  The number
** base[16384] is no gram's: the blocks with values that have no grams (REAL, BLOB) are entered
** there, and each look-up reads it.  Behind it are the lists of edges:
**
**   edge    what a text begins with, what it ends with, or the whole of it, as 16 bits of a hash:
**           8 of the three bytes at that end, and 8 of these and the next one.  Edges of a kind
**           have 2^edge_bits[kind] lists, by the upper bits; 0: one list, which says nothing.  As
**           a gram an edge is the 16 bits, a byte 0, which no other gram has there, and the kind
**
** cut[] and edge_bits[] are chosen from a sample of the texts (sample.h) and stored: 6,144 bytes,
** 8 values of 3 bits in each 3 bytes, a little-endian number, the first value lowest; and 3
** bytes, 0 .. 16 each.
*/

#define BLOOM_LISTS_CLASSES 16384
#define BLOOM_LISTS_MAX_CUT 7
#define BLOOM_LISTS_BYTES   6147 /* as stored */

/* Edges of a text. */
typedef enum bloom_lists_edge_kind {
  BLOOM_LISTS_BEGIN,
  BLOOM_LISTS_END,
  BLOOM_LISTS_WHOLE
} bloom_lists_edge_kind;
#define BLOOM_LISTS_EDGES         3
#define BLOOM_LISTS_MAX_EDGE_BITS 16

/* The cut of every class before there are texts to choose by. */
#define BLOOM_LISTS_EVEN_CUT 3

/* All numbers of lists are below: 21 bits. */
#define BLOOM_LISTS_MAX ((uint32_t)(BLOOM_LISTS_CLASSES << BLOOM_LISTS_MAX_CUT) + 1 \
                         + (BLOOM_LISTS_EDGES << BLOOM_LISTS_MAX_EDGE_BITS))

typedef struct bloom_lists {
  uint8_t cut[BLOOM_LISTS_CLASSES];
  uint8_t edge_bits[BLOOM_LISTS_EDGES];
  /* What follows from these: the first list of each class, that of values without grams, the first
  ** one of each kind of edges, as if these were classes, and the number of all. */
  uint32_t base[BLOOM_LISTS_CLASSES + BLOOM_LISTS_EDGES + 2];
  uint32_t num_lists;
} bloom_lists;

/* Lists first .. first + num_lists - 1. */
typedef struct bloom_lists_range {
  uint32_t first, num_lists; /* num_lists >= 1 */
} bloom_lists_range;

/* Sets the numbers that follow from cut[] and edge_bits[]. */
void bloom_lists_number(bloom_lists *lists);

/* Cuts all classes alike, and edges not at all. */
void bloom_lists_even(bloom_lists *lists, uint8_t cut);

void bloom_lists_pack(const bloom_lists *lists, uint8_t bytes[BLOOM_LISTS_BYTES]);

/* Returns 1, or 0 if the bytes are damaged: then lists are as they were. */
int bloom_lists_unpack(bloom_lists *lists, const uint8_t bytes[BLOOM_LISTS_BYTES]);

/* Returns the list of blocks that hold values without grams. */
static inline uint32_t bloom_lists_any(const bloom_lists *lists){
  return lists->base[BLOOM_LISTS_CLASSES];
}

/* Applies a bijection of 32 bits, each of which touches all others.  Source: the end of
** MurmurHash3_x86_32 [Appleby 2011]. */
static inline uint32_t bloom_lists_hash(uint32_t x){
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

/* Returns the edge, as a gram, of three bytes at an end, and these with the next one.  Edges of one
** `three` have lists side by side. */
static inline uint32_t bloom_lists_edge(bloom_lists_edge_kind kind, uint32_t three, uint32_t four){
  assert( (uint32_t)kind<BLOOM_LISTS_EDGES );
  return (bloom_lists_hash(three) & 0xff000000) | (bloom_lists_hash(four) & 0xff000000) >> 8
      | (uint32_t)kind;
}

static inline int bloom_lists_is_edge(uint32_t gram){
  return (gram & 0xff00)==0;
}

/* Returns the class of a gram, a number behind these of an edge. */
static inline uint32_t bloom_lists_class(uint32_t gram){
  return bloom_lists_is_edge(gram) ? BLOOM_LISTS_CLASSES + 1 + (gram & 0xff)
      : bloom_lists_hash(gram >> 8) >> 18;
}

/* Returns the hash by which a gram or an edge belongs to a list of its class. */
static inline uint32_t bloom_lists_hash_of(uint32_t gram){
  return bloom_lists_is_edge(gram) ? gram : bloom_lists_hash(gram);
}

/* Returns the list of a class that a hash is of. */
static inline uint32_t bloom_lists_of_hash(const bloom_lists *lists, uint32_t class, uint32_t hash){
  const uint32_t *base = lists->base + class;
  return base[0] + (uint32_t)((uint64_t)hash * (base[1] - base[0]) >> 32);
}

/* Returns the list of a gram or an edge. */
static inline uint32_t bloom_lists_of_gram(const bloom_lists *lists, uint32_t gram){
  return bloom_lists_of_hash(lists, bloom_lists_class(gram), bloom_lists_hash_of(gram));
}

/* Returns all lists of edges whose three bytes are those of this one. */
static inline bloom_lists_range bloom_lists_of_edges(const bloom_lists *lists, uint32_t edge){
  const uint32_t first = bloom_lists_of_gram(lists, edge & ~0xff0000u);
  return (bloom_lists_range){first, bloom_lists_of_gram(lists, edge | 0xff0000u) - first + 1};
}

/* Sets the classes and the hashes of several grams. */
void bloom_lists_hash_grams(const uint32_t *grams, size_t num_grams, uint32_t *classes,
                            uint32_t *hashes);

/* Returns all lists of grams that begin with the three bytes of this one. */
static inline bloom_lists_range bloom_lists_of_class(const bloom_lists *lists, uint32_t gram){
  const uint32_t *base = lists->base + bloom_lists_class(gram);
  return (bloom_lists_range){base[0], base[1] - base[0]};
}

/* == Grams ============================================================================= */

/*
** The grams of a text: every three bytes in a row and the byte behind them.
**
**   "Kyoto"   (0 k y o) (k y o t) (y o t o) (o t o 0)
**
** A character of three bytes, as Chinese, Japanese and Korean have them, is the first three bytes
** of one gram and no part of others but those of the bytes before it; where another such
** character follows, the fourth byte is a hash of that.  So two of them are one gram, and no
** grams begin within one.
**
** A text is read as SQLite's LIKE and GLOB read it (func.c, patternCompare(); utf.c, the reader
** of one character):
**
**   - it ends at the first NUL;
**   - ASCII letters are lower case;
**   - its other bytes are read as characters, and each is written as UTF-8 writes it.
**     Well-formed UTF-8 stays as it is.  Of other bytes several may be one character: LIKE
**     takes x'a3' for U+00A3, as it does x'c2a3' and x'e082a3';
**   - what is no character (U+FFFD to U+FFFF, surrogates, what is beyond U+10FFFF, and
**     bytes that SQLite reads as one of these, which depends on its version) is in no gram.
**
** So a text is one run of bytes, or several with breaks between them.  Before the first byte of
** the text, unless that is a break, stands a mark, 0: it is in the first three bytes.  Behind the
** last three of each run, the byte is 0.  A run of fewer than three bytes, the mark included, has
** no grams.
**
** Besides, a text has edges, which are written as grams whose third byte is 0 (above): its
** first gram without the mark; its last three bytes and the one before them, at each NUL, too,
** that it is read beyond; and its first BLOOM_TEXT_WHOLE bytes, or as many as it has.
*/

/* Room for what one call returns. */
#define BLOOM_TEXT_ROOM 256

/* The bytes that the edge of the whole text is made of, and a few more. */
#define BLOOM_TEXT_WHOLE 32

/* The bytes before the place that a text was read to. */
typedef struct bloom_text_window {
  uint32_t bytes;     /* the last one lowest; a hash of a character may be the highest */
  uint32_t num_bytes; /* 0 .. 3 of them belong together; or BLOOM_TEXT_WIDE: */
  uint32_t hash;      /* of that character, 1 .. 255 */
} bloom_text_window;

/* The last three bytes are a character, and no gram begins within it. */
#define BLOOM_TEXT_WIDE 4

/* A text that is being read. */
typedef struct bloom_text {
  const uint8_t *text, *end;
  bloom_text_window window;
  int passes_nul;
  int is_begun;    /* what the text begins with was written */
  int needs_whole; /* the edge of the whole text is asked for */
} bloom_text;

/* Begins to read a text, which may be NULL if num_bytes is 0, and must live as long as it is read.
** passes_nul: a NUL is only a break, and the text ends where its bytes end: for REGEXP, whose
** functions may read on (LIKE and GLOB then still find what they must). */
void bloom_text_begin(bloom_text *reading, const uint8_t *text, size_t num_bytes, int passes_nul);

/* Writes the next grams, duplicates included.  Returns how many, 0 at the end of the text. */
size_t bloom_text_next(bloom_text *reading, uint32_t grams[BLOOM_TEXT_ROOM]);

/* Does the same, but writes the numbers of the grams' lists whose bits in has[] are not set, and
** sets these.  They may be none though there are more: while bloom_text_is_open(). */
size_t bloom_text_next_lists(bloom_text *reading, const bloom_lists *lists, uint64_t *has,
                             uint32_t numbers[BLOOM_TEXT_ROOM]);

/* Returns 1 if more is to be read. */
static inline int bloom_text_is_open(const bloom_text *reading){
  return reading->text!=reading->end;
}

/* -- Shared with needles ------------------------------------------------------------ */

/* The most grams that one character leads to. */
#define BLOOM_TEXT_PER_CHARACTER 4

#define BLOOM_TEXT_NO_CHARACTER 0xfffdu

/* Reads a character, which begins with a byte of 0x80 or more, as SQLite does; *text moves
** behind it.  BLOOM_TEXT_NO_CHARACTER if it is none. */
uint32_t bloom_text_character(const uint8_t **text, const uint8_t *end);

/* Appends a byte of a character, a letter in lower case.  Returns the number of grams that it
** wrote. */
static inline size_t bloom_text_add_byte(bloom_text_window *window, uint8_t byte, uint32_t *grams){
  assert( window->num_bytes<=BLOOM_TEXT_WIDE );
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
static inline size_t bloom_text_end_run(bloom_text_window *window, uint32_t *grams){
  const size_t num_grams = window->num_bytes>=3;
  *grams = window->bytes << 8;
  *window = (bloom_text_window){0};
  return num_grams;
}

/* Returns the edge of a text that begins with a gram, which has no mark. */
static inline uint32_t bloom_text_begin_edge(uint32_t gram){
  assert( gram>>24!=0 );
  return bloom_lists_edge(BLOOM_LISTS_BEGIN, gram >> 8, gram);
}

/* Returns the edge of a text that ends with the bytes of a window, which has three or more. */
static inline uint32_t bloom_text_end_edge(const bloom_text_window *window){
  return bloom_lists_edge(BLOOM_LISTS_END, window->bytes & 0xffffff, window->bytes);
}

static inline uint8_t bloom_text_lower(uint8_t byte){
  return (uint8_t)(byte | (uint32_t)(byte - 'A' + 0u<26) << 5);
}

/* == Needles =========================================================================== */

/*
** The lists that a text must be in for LIKE, GLOB or = to find it: a block that holds such a text
** is in at least one list of each range.  The ranges stand in the order of the needle:
**
**   'abcde' within the text       (a b c d) (b c d e): one list each
**   'abc', the next one unknown   all lists of the class of a b c
**   'ab' at the text's begin      all lists of the class of 0 a b
**   'xyz' at the text's end       (x y z 0): one list
**
** Of more than three bytes in a row the last three are looked up if they are one character, or if
** their class has four lists or fewer: more of them together have too many blocks to say much.
** What stands at an end of the text is looked for among its edges, too, if these have lists: of
** three bytes, and of four or more.
**
**   LIKE   % and _ are wildcards; letters of ASCII match in either case.  There is no
**          ESCAPE: with one, LIKE does not reach a virtual table
**   GLOB   * and ? are wildcards, and [...] unless it is one character in brackets
**   =      the whole text, by BINARY or NOCASE; by RTRIM, it may go on with blanks
**   part   the bytes stand anywhere in the text: a literal of REGEXP
**
** What of a pattern may match bytes that are not its own (above) is in no gram.  So the
** ranges hold for every version of SQLite, and whatever PRAGMA case_sensitive_like says; but not
** for functions that an application put in place of LIKE and GLOB, such as ICU's.
*/

typedef enum bloom_needle_kind {
  BLOOM_NEEDLE_LIKE,
  BLOOM_NEEDLE_GLOB,
  BLOOM_NEEDLE_EQUAL,
  BLOOM_NEEDLE_EQUAL_RTRIM, /* blanks at its end are left out by the caller */
  BLOOM_NEEDLE_PART
} bloom_needle_kind;

/* Appends the ranges of a needle to ranges[0 .. num_ranges), which has room for max_ranges; no
** range that holds one of those that are there.  What there is no room for is left out, which
** only lets more blocks pass.  Returns the number of ranges; none: every text may match.  text
** may be NULL if num_bytes is 0. */
size_t bloom_needle_ranges(const bloom_lists *lists, bloom_needle_kind kind, const uint8_t *text,
                           size_t num_bytes, bloom_lists_range *ranges, size_t num_ranges,
                           size_t max_ranges);

/* Returns 1 if a needle has no range, whatever the lists are. */
int bloom_needle_is_empty(bloom_needle_kind kind, const uint8_t *text, size_t num_bytes);

#endif
