/*
** SipHash-2-4 against its authors' vectors.
*/
#include "support.h"

#include <stdlib.h>

#include "../../ext/core/bytes.h"
#include "../../ext/core/hash.h"

/* Of the messages of 0 to 63 bytes 00 01 02 ..., under the secret 00 01 .. 0f.
** Source: the authors' reference code, github.com/veorq/SipHash, vectors.h, vectors_sip64. */
static const char *const published[64] = {
  "310e0edd47db6f72", "fd67dc93c539f874", "5a4fa9d909806c0d", "2d7efbd796666785",
  "b7877127e09427cf", "8da699cd64557618", "cee3fe586e46c9cb", "37d1018bf50002ab",
  "6224939a79f5f593", "b0e4a90bdf82009e", "f3b9dd94c5bb5d7a", "a7ad6b22462fb3f4",
  "fbe50e86bc8f1e75", "903d84c02756ea14", "eef27a8e90ca23f7", "e545be4961ca29a1",
  "db9bc2577fcc2a3f", "9447be2cf5e99a69", "9cd38d96f0b3c14b", "bd6179a71dc96dbb",
  "98eea21af25cd6be", "c7673b2eb0cbf2d0", "883ea3e395675393", "c8ce5ccd8c030ca8",
  "94af49f6c650adb8", "eab8858ade92e1bc", "f315bb5bb835d817", "adcf6b0763612e2f",
  "a5c91da7acaa4dde", "716595876650a2a6", "28ef495c53a387ad", "42c341d8fa92d832",
  "ce7cf2722f512771", "e37859f94623f3a7", "381205bb1ab0e012", "ae97a10fd434e015",
  "b4a31508beff4d31", "81396229f0907902", "4d0cf49ee5d4dcca", "5c73336a76d8bf9a",
  "d0a704536ba93e0e", "925958fcd6420cad", "a915c29bc8067318", "952b79f3bc0aa6d4",
  "f21df2e41d4535f9", "87577519048f53a9", "10a56cf5dfcd9adb", "eb75095ccd986cd0",
  "51a9cb9ecba312e6", "96afadfc2ce666c7", "72fe52975a4364ee", "5a1645b276d592a1",
  "b274cb8ebf87870a", "6f9bb4203de7b381", "eaecb2a30b22a87f", "9924a43cc1315724",
  "bd838d3aafbf8db7", "0b1a2a3265d51aea", "135079a3231ce660", "932b2846e4d70666",
  "e1915f5cb1eca46c", "f325965ca16d629f", "575ff28e60381be5", "724506eb4c328a95",
};

static const uint8_t published_secret[BLOOM_SIPHASH_SECRET_BYTES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* The hash as a file holds it; free() it. */
static char *hex_of_hash(uint64_t hash){
  uint8_t bytes[BLOOM_SIPHASH_BYTES];
  bloom_store64_le(bytes, hash);
  return hex_of(bytes, sizeof(bytes));
}

TEST(published_vectors){
  uint8_t message[64];
  size_t num_bytes;
  for(num_bytes=0; num_bytes<64; num_bytes++){
    /* Ends where its allocation ends: a sanitizer sees a read past it. */
    uint8_t *exact = exact_copy(message, num_bytes);
    char *hex = hex_of_hash(bloom_siphash(published_secret, exact, num_bytes));
    assert_string_equal(hex, published[num_bytes]);
    free(hex);
    free(exact);
    message[num_bytes] = (uint8_t)num_bytes;
  }
}

TEST(no_bytes_at_no_address){
  char *hex = hex_of_hash(bloom_siphash(published_secret, NULL, 0));
  assert_string_equal(hex, published[0]);
  free(hex);
}

/* The length enters by one byte, 256 bytes more by what they are; libsodium agrees. */
TEST(long_messages){
  uint8_t message[600];
  size_t i;
  for(i=0; i<sizeof(message); i++) message[i] = (uint8_t)i;
  assert_int_equal(bloom_siphash(published_secret, message, 300), 0x4b0b710db6117839u);
  assert_int_equal(bloom_siphash(published_secret, message, 600), 0x218b019f35a717b1u);
}

RUN_TESTS()
