/*
** The pieces of a text: every 3 and every 4 bytes in a row, as hashes.  A text that LIKE
** or GLOB finds has all pieces of the pattern (pattern.h).
**
** Pieces are cut from the text as SQLite's LIKE and GLOB read it (func.c,
** patternCompare(); utf.c, the reader of one character):
**
**   - it ends at the first NUL;
**   - ASCII letters are lower case;
**   - its other bytes are read as characters, and each is written as UTF-8 writes it.
**     Well-formed UTF-8 stays as it is.  Of other bytes several may be one character: LIKE
**     takes x'a3' for U+00A3, as it does x'c2a3' and x'e082a3';
**   - what is no character (U+FFFD to U+FFFF, surrogates, what is beyond U+10FFFF, and
**     bytes that SQLite reads as one of these, which depends on its version) is in no piece.
**
** The hash of a piece is bloom_signature_mix() of its bytes as a number, the first one
** highest, plus their number << 56.
*/
#ifndef BLOOM_CORE_SIGNATURE_PIECES_H
#define BLOOM_CORE_SIGNATURE_PIECES_H

#include "signature.h"

/* Room for the hashes that one call returns. */
#define BLOOM_PIECES_ROOM 256

/* The bytes before the place that a text was read to. */
typedef struct bloom_piece_window {
  uint32_t bytes;     /* the last one lowest */
  uint32_t num_bytes; /* 0 .. 4 of them belong together */
} bloom_piece_window;

/* A text that is being read. */
typedef struct bloom_pieces {
  const uint8_t *text, *end;
  bloom_piece_window window;
} bloom_pieces;

/* text may be NULL if num_bytes is 0; it must live as long as it is read. */
void bloom_pieces_begin(bloom_pieces *pieces, const uint8_t *text, size_t num_bytes);

/* Writes the hashes of the next pieces, duplicates included.  Returns how many, 0 at the
** end of the text. */
size_t bloom_pieces_next(bloom_pieces *pieces, uint64_t hashes[BLOOM_PIECES_ROOM]);

/* -- Shared with patterns ---------------------------------------------------------- */

/* The most hashes that one character leads to. */
#define BLOOM_PIECES_PER_CHARACTER 8

#define BLOOM_NO_CHARACTER 0xfffdu

/* Reads a character, which begins with a byte of 0x80 or more, as SQLite does; *text moves
** behind it.  BLOOM_NO_CHARACTER if it is none. */
uint32_t bloom_character_read(const uint8_t **text, const uint8_t *end);

/* Appends a character, not BLOOM_NO_CHARACTER, to what a window is at; letters are in lower
** case.  Returns the number of hashes that it wrote. */
size_t bloom_piece_window_add(bloom_piece_window *window, uint32_t character, uint64_t *hashes);

static inline uint8_t bloom_ascii_lower(uint8_t byte){
  return (uint8_t)(byte + (byte>='A' && byte<='Z' ? 'a' - 'A' : 0));
}

/* Appends a byte of a character. */
static inline size_t bloom_piece_window_add_byte(bloom_piece_window *window, uint8_t byte,
                                                 uint64_t *hashes){
  size_t num_hashes = 0;
  window->bytes = window->bytes << 8 | byte;
  if( window->num_bytes<4 ) window->num_bytes++;
  if( window->num_bytes>=3 ){
    hashes[num_hashes++] = bloom_signature_mix((window->bytes & 0xffffff) | (uint64_t)3 << 56);
    if( window->num_bytes==4 ){
      hashes[num_hashes++] = bloom_signature_mix(window->bytes | (uint64_t)4 << 56);
    }
  }
  return num_hashes;
}

#endif
