/*
** bloom_siphash() against the libsodium that is installed here: crypto_shorthash(), which is
** SipHash-2-4, on random secrets and messages.
*/
#include "support.h"

#include <sodium/crypto_shorthash.h>
#include <stdlib.h>

#include "../../ext/core/bytes.h"
#include "../../ext/core/hash.h"

#define NUM_MESSAGES 20000u /* at BLOOM_TEST_SHARE=100 */
#define MAX_BYTES    1200u

TEST(libsodium_agrees){
  const size_t num_messages = test_share(NUM_MESSAGES);
  rng random = rng_stream(2524);
  size_t i;
  assert_int_equal(crypto_shorthash_keybytes(), BLOOM_SIPHASH_SECRET_BYTES);
  assert_int_equal(crypto_shorthash_bytes(), BLOOM_SIPHASH_BYTES);
  for(i=0; i<num_messages; i++){
    uint8_t secret[BLOOM_SIPHASH_SECRET_BYTES], message[MAX_BYTES], ours[BLOOM_SIPHASH_BYTES], theirs[BLOOM_SIPHASH_BYTES];
    /* Half of them short, as keys are. */
    const size_t num_bytes = rng_below(&random, i%2 ? 33 : MAX_BYTES + 1);
    uint8_t *exact;
    rng_bytes(&random, secret, sizeof(secret));
    rng_bytes(&random, message, num_bytes);
    exact = exact_copy(message, num_bytes);
    bloom_store64_le(ours, bloom_siphash(secret, exact, num_bytes));
    crypto_shorthash(theirs, message, num_bytes, secret);
    assert_memory_equal(ours, theirs, sizeof(ours));
    free(exact);
  }
}

RUN_TESTS()
