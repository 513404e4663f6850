/*
** Chooses by a sample of a column's texts how many lists its grams and edges have: cut[] and
** edge_bits[] of texts.h.
**
** With more lists, fewer blocks have a needle's lists by chance, and fewer are read in vain; but
** entries take more room.  The room is given, as a share of the bytes of the texts.  The sample is
** whole blocks of the table, best from places that are spread over it.  It says for each class and
** each cut
**
**   cost    the bits that the entries of its lists take, divided by the blocks of the table
**   reads   the share of the blocks that one of its lists has, on average, times how often it is
**           looked for: g^(3/4) * b^(1/4) of a class that has g grams in the sample, in b blocks.
**           Needles resemble texts, so frequent grams count more; by g alone, a piece that a few
**           texts repeat would count too much
**
** and the class gets the cut whose reads + price * cost is least.  The price, in reads for a bit,
** is the same for all classes: so no bit would save more reads in another class.  The higher it
** is, the fewer lists there are; bisection finds the price at which entries have the given size.
**
** Edges of texts get as many lists as make an edge rare among blocks, and what these take is left
** out of the room of the classes.  Ends of long texts get none where they differ too much, and
** whole texts get some only where texts are short: the grams of a long one tell it from others.
*/
#ifndef BLOOM_CORE_ENTRIES_SAMPLE_H
#define BLOOM_CORE_ENTRIES_SAMPLE_H

#include "texts.h"

/* The most blocks of a sample. */
#define BLOOM_LISTS_SAMPLE_BLOCKS 1024

/* The size of entries in pages of 4,096 bytes that is aimed at, as a share of the texts' bytes.
** They take up to 0.008 more: the table has lists that the sample does not have. */
#define BLOOM_LISTS_TARGET 0.128

/* The lists of a class by all cuts are a binary tree: node 1 is the class with cut 0, and nodes
** 2 * i and 2 * i + 1 are the halves of node i.  Cut c has the nodes 2^c .. 2^(c + 1) - 1. */
#define BLOOM_LISTS_NODES (2 << BLOOM_LISTS_MAX_CUT)

/* 10.1 MB, of the caller's memory.  The open block is the one that texts are added to. */
typedef struct bloom_lists_sample {
  uint32_t num_blocks;   /* that were ended */
  uint32_t num_texts;
  uint64_t num_bytes;    /* of texts */

  uint64_t num_edges[BLOOM_LISTS_EDGES]; /* different ones of a block, summed over the blocks */
  uint64_t has_edge[BLOOM_LISTS_EDGES][(1 << BLOOM_LISTS_MAX_EDGE_BITS)/64]; /* the open block */

  uint32_t num_grams[BLOOM_LISTS_CLASSES];
  uint16_t num_with[BLOOM_LISTS_CLASSES][BLOOM_LISTS_NODES]; /* blocks that have a node's list */
  uint64_t has[BLOOM_LISTS_CLASSES][BLOOM_LISTS_NODES/64];   /* the open block has bit i: node i */
  uint16_t seen[BLOOM_LISTS_CLASSES]; /* the classes of which the open block has a node */
  uint32_t num_seen;

  float cost[BLOOM_LISTS_CLASSES][BLOOM_LISTS_MAX_CUT + 1];  /* by cut: above */
  float reads[BLOOM_LISTS_CLASSES][BLOOM_LISTS_MAX_CUT + 1];
  float cost_of[BLOOM_LISTS_SAMPLE_BLOCKS + 1]; /* of a list that i blocks of the sample have */
} bloom_lists_sample;

void bloom_lists_sample_begin(bloom_lists_sample *sample);

/* Counts grams and edges of a text in the open block, at most BLOOM_TEXT_ROOM. */
void bloom_lists_sample_add(bloom_lists_sample *sample, const uint32_t *grams, size_t num_grams);

/* Adds a text to the open block; the arguments are bloom_text_begin()'s. */
void bloom_lists_sample_add_text(bloom_lists_sample *sample, const uint8_t *text, size_t num_bytes,
                                 int passes_nul);

/* Ends the open block, which has so many bytes of texts; another one is open then. */
void bloom_lists_sample_end_block(bloom_lists_sample *sample, uint64_t num_bytes);

/* What bloom_lists_choose() expects. */
typedef struct bloom_lists_estimate {
  double fraction; /* the size of entries, as a share of the texts' bytes */
  double density;  /* the share of the blocks that a gram's list has, on average over all grams */
} bloom_lists_estimate;

/* Chooses lists for a table of num_blocks blocks, so that entries have the size that is aimed at.
** Without texts all classes have BLOOM_LISTS_EVEN_CUT.  A density above 0.06 says that blocks are
** too small for their texts: with twice the shift a needle reads less at the same size.  May be
** called again, with other arguments. */
bloom_lists_estimate bloom_lists_choose(bloom_lists_sample *sample, uint64_t num_blocks,
                                        double target_fraction, bloom_lists *lists);

#endif
