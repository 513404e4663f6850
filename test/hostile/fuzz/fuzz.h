/*
** What the fuzz targets share: reading decisions from the input, and checks.
**
** A target is one LLVMFuzzerTestOneInput().  Linked with libFuzzer it is fuzzed
** (run.sh); linked with plain_main.c it replays files (replay.sh).
*/
#ifndef BLOOM_TEST_FUZZ_H
#define BLOOM_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/reference.h"

/* libFuzzer's interface: 0 always; a finding aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_bytes);

/* Ends the program, in Release builds too, if a promise is broken. */
#define FUZZ_CHECK(condition) \
  do{ \
    if( !(condition) ){ \
      fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
      abort(); \
    } \
  }while( 0 )

/* Decisions are read off the front; after the end come zeros. */
typedef struct fuzz_input {
  const uint8_t *next;
  size_t num_left; /* bytes */
} fuzz_input;

static inline uint8_t fuzz_byte(fuzz_input *input){
  if( input->num_left==0 ) return 0;
  input->num_left--;
  return *input->next++;
}

static inline uint16_t fuzz_u16(fuzz_input *input){
  const uint16_t low = fuzz_byte(input);
  return (uint16_t)(low | fuzz_byte(input) << 8);
}

static inline uint32_t fuzz_u32(fuzz_input *input){
  const uint32_t low = fuzz_u16(input);
  return low | (uint32_t)fuzz_u16(input) << 16;
}

static inline uint64_t fuzz_u64(fuzz_input *input){
  const uint64_t low = fuzz_u32(input);
  return low | (uint64_t)fuzz_u32(input) << 32;
}

/* The next bytes of the input, at most max_bytes. */
static inline const uint8_t *fuzz_bytes(fuzz_input *input, size_t max_bytes, size_t *num_bytes){
  const uint8_t *bytes = input->next;
  *num_bytes = input->num_left<max_bytes ? input->num_left : max_bytes;
  input->next += *num_bytes;
  input->num_left -= *num_bytes;
  return bytes;
}

/* 1 for one input in `period`, by a hash of it all: for what takes a thousand
** times as long as the rest.  A decision byte would not do: libFuzzer keeps
** and multiplies inputs that reach new code.  In a replay for every input. */
int fuzz_seldom(const uint8_t *data, size_t num_bytes, uint32_t period);

/* Set by plain_main.c: this is a replay, and what the corpus says that the input is, or NULL. */
extern int fuzz_is_replay;
extern const char *fuzz_label;

/* Memory that ends with its bytes, so that AddressSanitizer sees one too many;
** free() it.  A copy of bytes, or zeros where bytes is NULL. */
uint8_t *fuzz_exact(const uint8_t *bytes, size_t num_bytes);

#endif
