/*
** A sample of a column's texts, from which the cuts of its classes are chosen (texts.h).
**
** More lists tell texts apart better, and take more room.  So common classes are cut into many
** lists and rare ones into few, as long as there is room:
**
**   cost   bytes that the entries of a class take, for each block of the table
**   gain   how many blocks a list of the class has on average, times g^(3/4) * b^(1/4), where the
**          class stands in the texts g times and in b blocks: needles have common pieces more often
**          than rare ones, but where one piece is repeated, not as often as texts
**
** Each class gets the cut with the least gain + lambda * cost, and lambda is found by bisection:
** the entries are to take target_fraction of the text's bytes.
**
** Edges of texts get as many lists as make them rare in a block.  What they take is taken from
** the classes, so that of long texts those of the end are left out where they differ much, and
** the whole text is entered only where its grams do not tell it from others.
**
** The sample counts whole blocks, best of places that are spread over the table.
*/
#ifndef BLOOM_CORE_ENTRIES_SAMPLE_H
#define BLOOM_CORE_ENTRIES_SAMPLE_H

#include "texts.h"

/* At most. */
#define BLOOM_LISTS_SAMPLE_BLOCKS 1024

/* What entries are to take of the text's bytes, pages of 4,096 bytes included.  The table has
** lists that the sample has not seen: it takes up to 0.008 more. */
#define BLOOM_LISTS_TARGET 0.128

/* A class has a tree of lists: node 1 is the class uncut, nodes 2 * i and 2 * i + 1 are the halves
** of node i. */
#define BLOOM_LISTS_NODES (2 << BLOOM_LISTS_MAX_CUT)

/* Whole texts of which the grams are kept, and how many of each. */
#define BLOOM_LISTS_SAMPLE_TEXTS 256
#define BLOOM_LISTS_SAMPLE_GRAMS 200

/* 10.3 MB, of the caller's memory. */
typedef struct bloom_lists_sample {
  uint32_t num_blocks;   /* ended so far */
  uint32_t num_texts, num_kept;
  uint64_t num_edges[BLOOM_LISTS_EDGES];                         /* different ones of each block */
  uint64_t has_edge[BLOOM_LISTS_EDGES][(1 << BLOOM_LISTS_MAX_EDGE_BITS)/64]; /* the open block */
  uint32_t kept[BLOOM_LISTS_SAMPLE_TEXTS][BLOOM_LISTS_SAMPLE_GRAMS + 1]; /* how many, and they */
  uint64_t num_bytes;    /* of their text */
  uint32_t num_grams[BLOOM_LISTS_CLASSES];                       /* that begin so */
  uint16_t num_with[BLOOM_LISTS_CLASSES][BLOOM_LISTS_NODES];     /* blocks, the open one too */
  uint64_t has[BLOOM_LISTS_CLASSES][BLOOM_LISTS_NODES/64];       /* bit i: the open block, node i */
  uint16_t seen[BLOOM_LISTS_CLASSES];    /* the classes of which the open block has a node */
  uint32_t num_seen;
  float cost[BLOOM_LISTS_CLASSES][BLOOM_LISTS_MAX_CUT + 1];      /* bits for each block */
  float gain[BLOOM_LISTS_CLASSES][BLOOM_LISTS_MAX_CUT + 1];
  float cost_of[BLOOM_LISTS_SAMPLE_BLOCKS + 1]; /* of a list that so many blocks have */
} bloom_lists_sample;

void bloom_lists_sample_begin(bloom_lists_sample *sample);

/* Adds grams of a text in the open block, at most BLOOM_TEXT_ROOM. */
void bloom_lists_sample_add(bloom_lists_sample *sample, const uint32_t *grams, size_t num_grams);

/* Adds a text to the open block; the arguments are bloom_text_begin()'s. */
void bloom_lists_sample_add_text(bloom_lists_sample *sample, const uint8_t *text, size_t num_bytes,
                                 int passes_nul);

/* Ends the open block, which has so many bytes of text; the next one is open. */
void bloom_lists_sample_end_block(bloom_lists_sample *sample, uint64_t num_bytes);

/* What bloom_lists_choose() expects. */
typedef struct bloom_lists_estimate {
  double fraction; /* of the text's bytes that entries take */
  double density;  /* of the blocks that a list has, on average over all grams of the texts */
} bloom_lists_estimate;

/* Chooses the cuts for a table of num_blocks blocks, of which those of the sample are some.
** Without any blocks all classes are cut alike.  Overwrites what is behind num_seen; may be called
** again with other arguments.  A density above 0.06 says that blocks are small for their texts:
** larger ones (a larger shift) tell more at the same size. */
bloom_lists_estimate bloom_lists_choose(bloom_lists_sample *sample, uint64_t num_blocks,
                                        double target_fraction, bloom_lists *lists);

#endif
