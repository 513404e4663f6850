/*
** The lists that a text must be in for LIKE, GLOB or = to find it: a block that holds such a text
** is in at least one list of each range.  The ranges stand in the order of the needle:
**
**   'abcde' within the text       (a b c d) (b c d e): one list each
**   'abc', the next one unknown   all lists of the class of a b c
**   'ab' at the text's begin      all lists of the class of 0 a b
**   'xyz' at the text's end       (x y z 0): one list
**
** Of more than three bytes in a row the last three have no range of their own, unless they are
** one character: their class is read only where nothing else says more.  What stands at an end of
** the text is looked for among its edges, too, if these have lists: of three bytes, and of four
** or more.
**
**   LIKE   % and _ are wildcards; letters of ASCII match in either case.  There is no
**          ESCAPE: with one, LIKE does not reach a virtual table
**   GLOB   * and ? are wildcards, and [...] unless it is one character in brackets
**   =      the whole text, by BINARY or NOCASE; by RTRIM, it may go on with blanks
**   part   the bytes stand anywhere in the text: a literal of REGEXP
**
** What of a pattern may match bytes that are not its own (texts.h) is in no gram.  So the
** ranges hold for every version of SQLite, and whatever PRAGMA case_sensitive_like says; but not
** for functions that an application put in place of LIKE and GLOB, such as ICU's.
*/
#ifndef BLOOM_CORE_ENTRIES_NEEDLES_H
#define BLOOM_CORE_ENTRIES_NEEDLES_H

#include "texts.h"

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
