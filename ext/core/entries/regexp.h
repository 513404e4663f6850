/*
** Reads a regular expression for its literals: bytes that a text must have to match it.
**
**   'upstream timeout (after )?[0-9]+ ms'   "upstream timeout " and " ms"
**   '(time|fad)ed out|refused'              "time" and "ed out", "fad" and "ed out", or "refused"
**
** The result is a list of terms: a text that matches has all literals of one term at least.  The
** application's function matches, in one of many dialects: Perl's, Python's, PCRE's, ICU's,
** JavaScript's, POSIX's extended ones, that of SQLite's shell.  What is read here means the same in
** all of them, or requires less of a text than each of them does:
**
**   literal     at least 3 bytes of characters in a row that are printable, or ASCII's punctuation
**               and blanks behind \ (but \< \> \' \`).  Anything in between ends it.  A quantifier
**               also ends it, and one with * ? or {} drops the character before it
**   ^           as the first byte, or behind flags: the text begins with the literal that follows,
**               or with those of a group.  Elsewhere it is skipped
**   $           as the last byte: the text ends with the literal before it, or with that and a
**               newline.  Elsewhere it is skipped
**   skipped     . control characters, \d \w \s \b and the like, classes without [ but behind \
**   groups      (...) (?:...) (?=...) (?<=...).  With * ? or {} they require nothing; (?!...) and
**               (?<!...) never do
**   flags       (?i) (?m) (?s), as the first item
**   alternatives  multiplied out to BLOOM_REGEXP_MAX_TERMS at most.  A group that has more of
**               them, or would make more terms, requires nothing
**
** A pattern with anything else requires nothing.
*/
#ifndef BLOOM_CORE_ENTRIES_REGEXP_H
#define BLOOM_CORE_ENTRIES_REGEXP_H

#include <stddef.h>
#include <stdint.h>

#include "texts.h"

#define BLOOM_REGEXP_MAX_TERMS    16
#define BLOOM_REGEXP_MAX_LITERALS 64   /* further ones are not required */
#define BLOOM_REGEXP_MAX_BYTES    2048 /* of all literals */
#define BLOOM_REGEXP_MAX_DEPTH    20   /* of groups */

/* Each term is a set of literals: bit i for literal i.  One term without a bit: every text may
** match. */
typedef struct bloom_regexp_terms {
  uint32_t num_terms; /* 1 .. BLOOM_REGEXP_MAX_TERMS */
  uint64_t terms[BLOOM_REGEXP_MAX_TERMS];
} bloom_regexp_terms;

/* bytes[first .. first + num_bytes), well-formed UTF-8; in lower case where case is ignored. */
typedef struct bloom_regexp_literal {
  uint16_t first, num_bytes; /* num_bytes >= 3, or 2 at a text's beginning */
  bloom_needle_kind kind;    /* BLOOM_NEEDLE_PART, _BEGINNING or _END */
} bloom_regexp_literal;

typedef struct bloom_regexp {
  bloom_regexp_terms required;
  uint32_t num_literals, num_bytes;
  int ignores_case; /* BLOOM_REGEXP_IGNORES_CASE, or the pattern has the flag i */
  bloom_regexp_literal literals[BLOOM_REGEXP_MAX_LITERALS];
  uint8_t bytes[BLOOM_REGEXP_MAX_BYTES];
} bloom_regexp;

/* What is known of the function that matches. */
#define BLOOM_REGEXP_IGNORES_CASE 1 /* whatever the pattern says */
#define BLOOM_REGEXP_HAS_LINES    2 /* ^ or $ may match where lines of a text begin or end */

/* Reads a pattern in UTF-8 for a function with these flags.  Where case is ignored less of it is
** literal, as k matches U+212A, too, and st U+FB06.  Returns 1 if each term has a literal, 0 if
** every text may match.  text may be NULL if num_bytes is 0. */
int bloom_regexp_read(bloom_regexp *regexp, const uint8_t *text, size_t num_bytes, int flags);

#endif
