/*
** The lists of a text column: a gram is three bytes of a text and the byte behind them, and each
** gram belongs to one list.  The number of the list is the token under which the blocks that have
** the gram are entered.
**
**   gram    x << 24 | y << 16 | z << 8 | w, as texts.h reads them from a text
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
#ifndef BLOOM_CORE_ENTRIES_LISTS_H
#define BLOOM_CORE_ENTRIES_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "../debug.h"

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
  /* What follows from these: the first list of each class and kind, and the number of all. */
  uint32_t base[BLOOM_LISTS_CLASSES + 1];
  uint32_t edge_base[BLOOM_LISTS_EDGES];
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

/* The list of blocks that hold values without grams. */
static inline uint32_t bloom_lists_any(const bloom_lists *lists){
  return lists->base[BLOOM_LISTS_CLASSES];
}

/* A bijection of 32 bits, each of which touches all others.
** Source: the end of MurmurHash3_x86_32 [Appleby 2011]. */
static inline uint32_t bloom_lists_hash(uint32_t x){
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

static inline uint32_t bloom_lists_class(uint32_t gram){
  return bloom_lists_hash(gram >> 8) >> 18;
}

/* The edge, as a gram, of three bytes at an end, and these with the next one.  Edges of one `three`
** have lists side by side. */
static inline uint32_t bloom_lists_edge(bloom_lists_edge_kind kind, uint32_t three, uint32_t four){
  return (bloom_lists_hash(three) & 0xff000000) | (bloom_lists_hash(four) & 0xff000000) >> 8
      | (uint32_t)kind;
}

static inline int bloom_lists_is_edge(uint32_t gram){
  return (gram & 0xff00)==0;
}

/* The list of an edge. */
static inline uint32_t bloom_lists_of_edge(const bloom_lists *lists, uint32_t edge){
  const uint32_t kind = edge & 0xff;
  const uint32_t num_dropped = BLOOM_LISTS_MAX_EDGE_BITS - lists->edge_bits[kind];
  return lists->edge_base[kind] + (edge >> 16 >> num_dropped);
}

/* All lists of edges whose three bytes are those of this one. */
static inline bloom_lists_range bloom_lists_of_edges(const bloom_lists *lists, uint32_t edge){
  const uint32_t first = bloom_lists_of_edge(lists, edge & ~0xff0000u);
  return (bloom_lists_range){first, bloom_lists_of_edge(lists, edge | 0xff0000u) - first + 1};
}

/* The list of a gram or an edge. */
static inline uint32_t bloom_lists_of_gram(const bloom_lists *lists, uint32_t gram){
  const uint32_t *base = lists->base + bloom_lists_class(gram);
  if( bloom_lists_is_edge(gram) ) return bloom_lists_of_edge(lists, gram);
  return base[0] + (uint32_t)((uint64_t)bloom_lists_hash(gram) * (base[1] - base[0]) >> 32);
}

/* All lists of grams that begin with the three bytes of this one. */
static inline bloom_lists_range bloom_lists_of_class(const bloom_lists *lists, uint32_t gram){
  const uint32_t *base = lists->base + bloom_lists_class(gram);
  return (bloom_lists_range){base[0], base[1] - base[0]};
}

#endif
