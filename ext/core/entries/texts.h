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
** Besides, a text has edges, which are written as grams whose third byte is 0 (lists.h): its
** first gram without the mark; its last three bytes and the one before them, at each NUL, too,
** that it is read beyond; and its first BLOOM_TEXT_WHOLE bytes, or as many as it has.
**
** needles.h says which grams a text must have that a pattern matches.
*/
#ifndef BLOOM_CORE_ENTRIES_TEXTS_H
#define BLOOM_CORE_ENTRIES_TEXTS_H

#include "lists.h"

/* Room for what one call returns. */
#define BLOOM_TEXT_ROOM 256

/* The bytes that the edge of the whole text is made of, and a few more. */
#define BLOOM_TEXT_WHOLE 32

/* The bytes before the place that a text was read to. */
typedef struct bloom_text_window {
  uint32_t bytes;     /* the last one lowest; a hash of a character may be the highest */
  uint32_t num_bytes; /* 0 .. 3 of them belong together; or BLOOM_TEXT_WIDE */
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

/* text may be NULL if num_bytes is 0; it must live as long as it is read.  passes_nul: a NUL is
** only a break, and the text ends where its bytes end: for REGEXP, whose functions may read on
** (LIKE and GLOB then still find what they must). */
void bloom_text_begin(bloom_text *reading, const uint8_t *text, size_t num_bytes, int passes_nul);

/* Writes the next grams, duplicates included.  Returns how many, 0 at the end of the text. */
size_t bloom_text_next(bloom_text *reading, uint32_t grams[BLOOM_TEXT_ROOM]);

/* The same, but writes the numbers of the grams' lists. */
size_t bloom_text_next_lists(bloom_text *reading, const bloom_lists *lists,
                             uint32_t numbers[BLOOM_TEXT_ROOM]);

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
  window->bytes = window->bytes << 8 | byte;
  *grams = window->bytes;
  if( window->num_bytes==3 ) return 1;
  if( window->num_bytes==BLOOM_TEXT_WIDE ){
    *window = (bloom_text_window){byte, 1};
    return 1;
  }
  window->num_bytes++;
  return 0;
}

/* Appends a character, not BLOOM_TEXT_NO_CHARACTER.  Returns the number of grams that it
** wrote; grams has room for BLOOM_TEXT_PER_CHARACTER. */
size_t bloom_text_add(bloom_text_window *window, uint32_t character, uint32_t *grams);

/* Ends a run of bytes.  Returns the number of grams that it wrote, 0 or 1. */
static inline size_t bloom_text_end_run(bloom_text_window *window, uint32_t *grams){
  const size_t num_grams = window->num_bytes>=3;
  *grams = window->bytes << 8;
  *window = (bloom_text_window){0, 0};
  return num_grams;
}

/* Returns the edge of a text that begins with a gram, which has no mark. */
static inline uint32_t bloom_text_begin_edge(uint32_t gram){
  return bloom_lists_edge(BLOOM_LISTS_BEGIN, gram >> 8, gram);
}

/* Returns the edge of a text that ends with the bytes of a window, which has three or more. */
static inline uint32_t bloom_text_end_edge(const bloom_text_window *window){
  return bloom_lists_edge(BLOOM_LISTS_END, window->bytes & 0xffffff, window->bytes);
}

/* Returns the edge of a whole text; 0 if it begins with a break or is empty. */
uint32_t bloom_text_whole_edge(const uint8_t *text, const uint8_t *end);

static inline uint8_t bloom_text_lower(uint8_t byte){
  return (uint8_t)(byte + (byte>='A' && byte<='Z' ? 'a' - 'A' : 0));
}

#endif
