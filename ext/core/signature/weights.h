/*
** Weights: how many probes a piece has, so that common pieces, which tell little, do not
** fill the blocks.
**
**   32,768 bytes, 131,072 entries of 2 bits: entry e is (byte[e / 4] >> 2 * (e % 4)) & 3,
**   and stands for 0, 1, 2 or 4 probes.  A piece's entry is picked by its hash
**
** The table is learned from a sample of the rows and stored with the blocks.  Whatever is in
** it, no block is wrongly left out: who adds and who tests read the same.
**
** Learning counts in how many chunks of text an entry's pieces stand.  A chunk is the text
** that a block is meant for: 7 bytes for each 6 bits, so that the blocks take 10.7 % of the
** text's bytes.  A piece has one probe if at most t of the chunks have it, two below t / 8,
** four below t / 64, and none if more than four fifths have it.  t is as large as a block's
** room allows.
*/
#ifndef BLOOM_CORE_SIGNATURE_WEIGHTS_H
#define BLOOM_CORE_SIGNATURE_WEIGHTS_H

#include "../numeric.h"
#include "block.h"

#define BLOOM_WEIGHTS_ENTRIES 131072
#define BLOOM_WEIGHTS_BYTES   32768

static inline uint32_t bloom_weights_entry(uint64_t hash){
  return (uint32_t)(hash * BLOOM_GOLDEN_RATIO >> 47);
}

/* The probes of a piece: 0, 1, 2 or 4. */
static inline uint32_t bloom_weights_probes(const uint8_t *weights, uint64_t hash){
  const uint32_t entry = bloom_weights_entry(hash);
  return 1u << (weights[entry/4] >> 2*(entry%4) & 3) >> 1;
}

/* Adds the pieces of these hashes to a block. */
void bloom_weights_add(const uint8_t *weights, bloom_block *block, const uint64_t *hashes,
                       size_t num_hashes);

/* Appends the bits that a block must have for these pieces to bits[0 .. num_bits), which has
** room for max_bits: pieces of many probes first, for these are rare, and no bit twice.  What
** there is no room for is left out, which only lets more blocks pass.  Returns the number of
** bits; none: every block passes. */
size_t bloom_weights_bits(const uint8_t *weights, uint32_t bits_per_block, const uint64_t *hashes,
                          size_t num_hashes, uint16_t *bits, size_t num_bits, size_t max_bits);

/* -- Learning -------------------------------------------------------------------- */

/* Fewer chunks teach nothing: bloom_lesson_finish() writes the same weight for all. */
#define BLOOM_LESSON_MIN_CHUNKS 64

/* More are not counted. */
#define BLOOM_LESSON_MAX_CHUNKS 65535

/* Half a megabyte, of the caller's memory. */
typedef struct bloom_lesson {
  uint32_t bits_per_block;
  uint32_t num_chunks;                         /* begun so far */
  int is_chunk_open;                           /* the last of them is not at its end */
  uint64_t chunk_bytes;                        /* of its text */
  uint16_t num_with[BLOOM_WEIGHTS_ENTRIES];    /* chunks that have the entry */
  uint16_t last_with[BLOOM_WEIGHTS_ENTRIES];   /* the last of them */
} bloom_lesson;

void bloom_lesson_begin(bloom_lesson *lesson, uint32_t bits_per_block);

/* Counts pieces of a row; after the row's last ones bloom_lesson_end_row() says how many bytes
** of text it has. */
void bloom_lesson_add(bloom_lesson *lesson, const uint64_t *hashes, size_t num_hashes);
void bloom_lesson_end_row(bloom_lesson *lesson, uint64_t num_bytes);

/* Writes what was learned.  Returns 0 if there was too little text to learn from: then every
** piece has one probe. */
int bloom_lesson_finish(const bloom_lesson *lesson, uint8_t weights[BLOOM_WEIGHTS_BYTES]);

#endif
