/*
** CRC-32C, a byte at a time.  A faster one would not show: a filter block is a hundredth
** of its file.
*/
#include "crc32c.h"

/* The remainder of a byte by the polynomial 0x1edc6f41, the lowest bit first: that of all its
** bits, and of each bit the one that stands here. */
#define CRC32C_BIT(byte, bit, remainder) ((byte) >> (bit) & 1 ? (remainder) : 0u)
#define CRC32C_BYTE(byte) \
  (CRC32C_BIT(byte, 0, 0xf26b8303u) ^ CRC32C_BIT(byte, 1, 0xe13b70f7u) ^ \
   CRC32C_BIT(byte, 2, 0xc79a971fu) ^ CRC32C_BIT(byte, 3, 0x8ad958cfu) ^ \
   CRC32C_BIT(byte, 4, 0x105ec76fu) ^ CRC32C_BIT(byte, 5, 0x20bd8edeu) ^ \
   CRC32C_BIT(byte, 6, 0x417b1dbcu) ^ CRC32C_BIT(byte, 7, 0x82f63b78u))
#define CRC32C_2(first)  CRC32C_BYTE(first), CRC32C_BYTE((first) + 1)
#define CRC32C_8(first)  CRC32C_2(first), CRC32C_2((first) + 2), \
  CRC32C_2((first) + 4), CRC32C_2((first) + 6)
#define CRC32C_16(first) CRC32C_8(first), CRC32C_8((first) + 8)
#define CRC32C_32(first) CRC32C_16(first), CRC32C_16((first) + 16)
#define CRC32C_64(first) CRC32C_32(first), CRC32C_32((first) + 32)

static const uint32_t crc32c_table[256] = {CRC32C_64(0), CRC32C_64(64), CRC32C_64(128),
                                           CRC32C_64(192)};

uint32_t bloom_crc32c(const uint8_t *bytes, size_t num_bytes){
  uint32_t crc = UINT32_MAX;
  size_t i;
  for(i=0; i<num_bytes; i++) crc = crc >> 8 ^ crc32c_table[(crc ^ bytes[i]) & 0xff];
  return ~crc;
}
