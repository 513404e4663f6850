/*
** The pieces that a text must have for LIKE or GLOB to find it: those of the pattern's
** characters that stand for themselves, one run of them between two wildcards at a time.
**
**   LIKE   % and _ are wildcards; letters of ASCII match in either case.  There is no
**          ESCAPE: with one, LIKE does not reach a virtual table
**   GLOB   * and ? are wildcards, and [...] unless it is one character in brackets
**
** A pattern may match bytes that are not its own (pieces.h): what that could touch is in
** no piece.  So the pieces hold for both, and whatever PRAGMA case_sensitive_like says; but
** not for functions that an application put in their place, such as ICU's.
*/
#ifndef BLOOM_CORE_SIGNATURE_PATTERN_H
#define BLOOM_CORE_SIGNATURE_PATTERN_H

#include "pieces.h"

typedef enum bloom_pattern_syntax {
  BLOOM_PATTERN_LIKE,
  BLOOM_PATTERN_GLOB
} bloom_pattern_syntax;

/* A pattern that is being read. */
typedef struct bloom_pattern {
  const uint8_t *text, *end;
  bloom_piece_window window;
  bloom_pattern_syntax syntax;
  int is_after_80; /* U+0080 was in the pattern */
} bloom_pattern;

/* text may be NULL if num_bytes is 0; it must live as long as it is read. */
void bloom_pattern_begin(bloom_pattern *pattern, bloom_pattern_syntax syntax, const uint8_t *text,
                         size_t num_bytes);

/* Writes the hashes of the next pieces, duplicates included.  Returns how many, 0 at the
** end of the pattern.  No pieces at all: every text may match. */
size_t bloom_pattern_next(bloom_pattern *pattern, uint64_t hashes[BLOOM_PIECES_ROOM]);

#endif
