/*
** The literals of a regular expression: what a text must have for a pattern to match it.
**
**   'upstream timeout (after )?[0-9]+ ms'   has "upstream timeout " (" ms" is too short)
**   '(time|fad)ed out|refused'              "time" and "ed out"; "fad" and "ed out"; "refused"
**
** So literals come as terms: a text that matches has all literals of one term, at least.
** The application's own function matches, in one of many dialects (Perl's, Python's,
** PCRE's, ICU's, JavaScript's, POSIX's extended ones, that of SQLite's shell).  What is read
** here means the same in all of them, or less is required than each of them requires:
**
**   literal     printable characters, and ASCII's punctuation and blanks behind \, but for
**               \< \> \' \`; 3 bytes in a row at least.  An item in between ends the row,
**               and so does a quantifier; it drops its character if that may be absent
**   skipped     . ^ $ classes, control characters, \ and a letter or digit with what is its own
**   groups      (...) (?:...) (?>...) (?=...) (?<=...) (?P<n>...) (?<n>...) (?'n'...);
**               (?!...) and (?<!...) require nothing; (?i) and other flags stand alone
**   alternatives, at most BLOOM_REGEXP_MAX_TERMS once they are multiplied out: what has more
**               requires nothing, and what would make them more is not required
**
** Whatever else is met, the whole pattern requires nothing.
*/
#ifndef BLOOM_CORE_ENTRIES_REGEXP_H
#define BLOOM_CORE_ENTRIES_REGEXP_H

#include <stddef.h>
#include <stdint.h>

#define BLOOM_REGEXP_MAX_TERMS    16
#define BLOOM_REGEXP_MAX_LITERALS 64   /* further ones are not required */
#define BLOOM_REGEXP_MAX_BYTES    2048 /* of them all */
#define BLOOM_REGEXP_MAX_DEPTH    20   /* of groups */

/* Bit i is set: literal i is required.  No bit at all: nothing is. */
typedef struct bloom_regexp_terms {
  uint32_t num_terms; /* 1 .. BLOOM_REGEXP_MAX_TERMS */
  uint64_t terms[BLOOM_REGEXP_MAX_TERMS];
} bloom_regexp_terms;

/* At bytes[first], well-formed UTF-8; in lower case where case is ignored. */
typedef struct bloom_regexp_literal {
  uint16_t first, num_bytes;
} bloom_regexp_literal;

typedef struct bloom_regexp {
  bloom_regexp_terms required;
  uint32_t num_literals, num_bytes;
  int ignores_case; /* it was told so, or the pattern has the flag i */
  bloom_regexp_literal literals[BLOOM_REGEXP_MAX_LITERALS];
  uint8_t bytes[BLOOM_REGEXP_MAX_BYTES];
} bloom_regexp;

/* Reads a pattern in UTF-8.  ignores_case: the function that matches does, whatever the pattern
** says; then less of it is literal, since k is also U+212A, and st also U+FB06.  Returns 1 if
** a text must have something, 0 if each may match.  text may be NULL if num_bytes is 0. */
int bloom_regexp_read(bloom_regexp *regexp, const uint8_t *text, size_t num_bytes,
                      int ignores_case);

#endif
