/*
** Texts of LIKE columns: their grams, the lists that grams belong to, and the lists that a query
** looks up for a pattern.  entries.h says what blocks, tokens and entries are.
*/
#ifndef BLOOM_CORE_ENTRIES_TEXTS_H
#define BLOOM_CORE_ENTRIES_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "../debug.h"

/* -- Lists ----------------------------------------------------------------------------------- */

/*
** A LIKE column is indexed by grams: three bytes of a text and the byte behind them.  Each gram
** belongs to a list, whose number is the token under which the blocks with that gram are entered.
**
**   gram    x << 24 | y << 16 | z << 8 | w of bytes x y z w, as they are read below
**   class   hash(x y z) >> 18, one of 16,384
**   list    class c has 2^cut[c] lists from number base[c] on, behind those of the classes before
**           it.  A gram's list is base[c] + hash(x y z w) * 2^cut[c] / 2^32
**
** So all grams that begin with x y z are in lists side by side, base[c] .. base[c + 1] - 1.  These
** are looked up for three bytes whose next byte is not known.
**
** List base[16384] has the blocks with a value that has no grams (REAL, BLOB); each look-up reads
** it.  The lists behind it are those of edges:
**
**   edge    16 bits, of one of three kinds: what a text begins with, what it ends with, the whole
**           of it.  Of an end they are 8 bits of the hash of the three bytes there, then 8 of the
**           hash of these and the next byte; of a whole text, bits of two hashes.  Kind k has
**           2^edge_bits[k] lists, and an edge's list is given by its upper edge_bits[k] bits.  With
**           edge_bits[k] = 0 there is one list, which is not looked up.  Functions that take grams
**           take edges, too, as edge << 16 | kind: no gram has 0 as its third byte
**
** cut[] and edge_bits[] are chosen from a sample of the texts (sample.h) and stored in 6,147 bytes:
** cut[], 8 values of 3 bits in each 3 bytes, a little-endian number with the first value in its
** lowest bits; then edge_bits[], a byte each.
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

/* The cut of a class that no sample has grams of. */
#define BLOOM_LISTS_EVEN_CUT 3

/* All numbers of lists are below this: they have 21 bits. */
#define BLOOM_LISTS_MAX ((uint32_t)(BLOOM_LISTS_CLASSES << BLOOM_LISTS_MAX_CUT) + 1 \
                         + (BLOOM_LISTS_EDGES << BLOOM_LISTS_MAX_EDGE_BITS))

typedef struct bloom_lists {
  uint8_t cut[BLOOM_LISTS_CLASSES];
  uint8_t edge_bits[BLOOM_LISTS_EDGES];
  /* These follow from cut[] and edge_bits[].  base[] counts on behind the classes, as if these were
  ** more of them: the list of values without grams, each kind of edges, and the end. */
  uint32_t base[BLOOM_LISTS_CLASSES + BLOOM_LISTS_EDGES + 2];
  uint32_t num_lists;
} bloom_lists;

/* Lists first .. first + num_lists - 1. */
typedef struct bloom_lists_range {
  uint32_t first, num_lists; /* num_lists >= 1 */
} bloom_lists_range;

/* Sets base[] and num_lists by cut[] and edge_bits[]. */
void bloom_lists_number(bloom_lists *lists);

/* Sets the cut of all classes to the same, and all edge_bits[] to 0. */
void bloom_lists_even(bloom_lists *lists, uint8_t cut);

/* Writes cut[] and edge_bits[] as they are stored. */
void bloom_lists_pack(const bloom_lists *lists, uint8_t bytes[BLOOM_LISTS_BYTES]);

/* Reads stored lists.  Returns 1, or 0 if the bytes are damaged: then lists are as they were. */
int bloom_lists_unpack(bloom_lists *lists, const uint8_t bytes[BLOOM_LISTS_BYTES]);

/* Returns the list of the blocks with a value that has no grams. */
static inline uint32_t bloom_lists_any(const bloom_lists *lists){
  return lists->base[BLOOM_LISTS_CLASSES];
}

/* Mixes 32 bits; different ones stay different.  Source: the end of MurmurHash3_x86_32
** [Appleby 2011]. */
static inline uint32_t bloom_lists_hash(uint32_t x){
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

/* Returns the edge, as a gram, of the three bytes at an end, and of these and the next one.  Edges
** with the same `three` have lists side by side. */
static inline uint32_t bloom_lists_edge(bloom_lists_edge_kind kind, uint32_t three, uint32_t four){
  assert( (uint32_t)kind<BLOOM_LISTS_EDGES );
  return (bloom_lists_hash(three) & 0xff000000) | (bloom_lists_hash(four) & 0xff000000) >> 8
      | (uint32_t)kind;
}

static inline int bloom_lists_is_edge(uint32_t gram){
  return (gram & 0xff00)==0;
}

/* Returns the place of a gram in base[]: its class, or what stands for the kind of an edge. */
static inline uint32_t bloom_lists_class(uint32_t gram){
  assert( !bloom_lists_is_edge(gram) || (gram & 0xff)<BLOOM_LISTS_EDGES );
  return bloom_lists_is_edge(gram) ? BLOOM_LISTS_CLASSES + 1 + (gram & 0xff)
      : bloom_lists_hash(gram >> 8) >> 18;
}

/* Returns the 32 bits that pick the list of a gram or an edge in its class. */
static inline uint32_t bloom_lists_hash_of(uint32_t gram){
  return bloom_lists_is_edge(gram) ? gram : bloom_lists_hash(gram);
}

/* Returns the list of a class that a hash picks. */
static inline uint32_t bloom_lists_of_hash(const bloom_lists *lists, uint32_t class, uint32_t hash){
  const uint32_t *base = lists->base + class;
  assert( class<=BLOOM_LISTS_CLASSES + BLOOM_LISTS_EDGES && base[1]>base[0] );
  return base[0] + (uint32_t)((uint64_t)hash * (base[1] - base[0]) >> 32);
}

/* Returns the list of a gram or an edge. */
static inline uint32_t bloom_lists_of_gram(const bloom_lists *lists, uint32_t gram){
  return bloom_lists_of_hash(lists, bloom_lists_class(gram), bloom_lists_hash_of(gram));
}

/* Returns all lists of edges whose three bytes are those of this one. */
static inline bloom_lists_range bloom_lists_of_edges(const bloom_lists *lists, uint32_t edge){
  const uint32_t first = bloom_lists_of_gram(lists, edge & ~0xff0000u);
  assert( bloom_lists_is_edge(edge) );
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

/* -- Grams ----------------------------------------------------------------------------------- */

/*
** The grams of a text are each three bytes in a row, with the byte behind them; there is a mark, 0,
** before the first byte, and 0 behind the last one:
**
**   "Kyoto"   (0 k y o) (k y o t) (y o t o) (o t o 0)
**
** No gram begins within a character of three bytes, as those of Chinese, Japanese and Korean.
** Where another such character follows it, the fourth byte of its gram is a hash of that one.  So
** two of these characters are a gram.
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
**     bytes that SQLite reads as one of these, which depends on its version) is a break.
**
** Breaks divide a text into runs of bytes.  Each run has its own grams, and a 0 behind its last
** byte; the mark belongs to the first run, unless the text begins with a break.  A run of fewer
** than three bytes, the mark included, has no grams.
**
** A text has up to three edges, too: that of its beginning, its second gram above; that of its end,
** the last three bytes and the one before them (and one more at each NUL that is passed); and that
** of its first BLOOM_TEXT_WHOLE bytes, or of all if it has fewer.
*/

/* The most grams that one call returns. */
#define BLOOM_TEXT_ROOM 256

/* The edge of a whole text is made of so many bytes, and of the rest of the last character. */
#define BLOOM_TEXT_WHOLE 32

/* The last bytes that were read. */
typedef struct bloom_text_window {
  uint32_t bytes;     /* the last one lowest; the highest may be a hash of a character instead */
  uint32_t num_bytes; /* of the run, 3 at most; or BLOOM_TEXT_WIDE */
  uint32_t hash;      /* of the last character, 1 .. 255, if num_bytes is BLOOM_TEXT_WIDE */
} bloom_text_window;

/* The last three bytes are one character. */
#define BLOOM_TEXT_WIDE 4

/* A text that is being read. */
typedef struct bloom_text {
  const uint8_t *text, *end;
  bloom_text_window window;
  int passes_nul;
  int is_begun;    /* the first call was made, which returns all edges but those of ends */
  int needs_whole; /* the edge of the whole text is wanted */
} bloom_text;

/* Begins to read a text, which may be NULL if num_bytes is 0, and must live as long as it is read.
** passes_nul: a NUL is a break, and the text ends where its bytes end.  This is for REGEXP, whose
** functions may read on behind a NUL; for LIKE and GLOB it only adds grams. */
void bloom_text_begin(bloom_text *reading, const uint8_t *text, size_t num_bytes, int passes_nul);

/* Writes the next grams, duplicates included.  Returns how many, 0 at the end of the text. */
size_t bloom_text_next(bloom_text *reading, uint32_t grams[BLOOM_TEXT_ROOM]);

/* Reads on as bloom_text_next() does, but writes the numbers of the grams' lists, and only those
** whose bits in has[] are not set; it sets these.  May return 0 before the end of the text, that is
** while bloom_text_is_open(). */
size_t bloom_text_next_lists(bloom_text *reading, const bloom_lists *lists, uint64_t *has,
                             uint32_t numbers[BLOOM_TEXT_ROOM]);

/* Returns 1 if more is to be read. */
static inline int bloom_text_is_open(const bloom_text *reading){
  return reading->text!=reading->end;
}

#define BLOOM_TEXT_NO_CHARACTER 0xfffdu

/* Reads a character as SQLite does; its first byte is 0x80 or more.  Moves *text behind it.
** Returns BLOOM_TEXT_NO_CHARACTER if it is none. */
uint32_t bloom_text_character(const uint8_t **text, const uint8_t *end);

static inline uint8_t bloom_text_lower(uint8_t byte){
  return (uint8_t)(byte | (uint32_t)(byte - 'A' + 0u<26) << 5);
}

/* -- Needles --------------------------------------------------------------------------------- */

/*
** A needle is what a query looks for in a text.  It becomes ranges of lists: a block that has a
** text which matches is in at least one list of each range.
**
**   LIKE '%abcde%'   (a b c d) and (b c d e): one list each
**   LIKE '%abc%'     the class of a b c: all its lists
**   LIKE 'ab%'       the class of 0 a b, which begins with the mark
**   LIKE '%xyz'      (x y z 0): one list
**
** The last three bytes of more, if the next byte is not known, have a range only if they are one
** character, or their class has four lists or fewer: more lists together have too many blocks to
** say much.  Bytes at an end of the text also have a range of edges, by three bytes or by four, if
** that kind of edges has lists.
**
**   LIKE   % and _ are wildcards; letters of ASCII match in either case.  There is no
**          ESCAPE: with one, LIKE does not reach a virtual table
**   GLOB   * and ? are wildcards, and [...] unless it is one character in brackets
**   =      the whole text, by BINARY or NOCASE; by RTRIM it may go on with blanks
**   part   the bytes stand anywhere in the text, at its beginning or its end: literals of REGEXP
**
** Characters of a pattern that may match other bytes than their own are a break (above).  So the
** ranges hold for every version of SQLite, and whatever PRAGMA case_sensitive_like says; but not
** for functions that an application put in place of LIKE and GLOB, such as ICU's.
*/

typedef enum bloom_needle_kind {
  BLOOM_NEEDLE_LIKE,
  BLOOM_NEEDLE_GLOB,
  BLOOM_NEEDLE_EQUAL,
  BLOOM_NEEDLE_EQUAL_RTRIM, /* blanks at its end are left out by the caller */
  BLOOM_NEEDLE_PART,
  BLOOM_NEEDLE_BEGINNING,
  BLOOM_NEEDLE_END
} bloom_needle_kind;

/* Appends the ranges of a needle to ranges[0 .. num_ranges), which has room for max_ranges, except
** those that contain a range in it.  Ranges without room are left out, so that more blocks are
** read.  Returns the number of ranges; 0: every text may match.  text may be NULL if num_bytes is
** 0.
**
** With lists = NULL it writes nothing, and returns 0 if and only if there is no range whatever the
** lists are. */
size_t bloom_needle_ranges(const bloom_lists *lists, bloom_needle_kind kind, const uint8_t *text,
                           size_t num_bytes, bloom_lists_range *ranges, size_t num_ranges,
                           size_t max_ranges);

#endif
