/*
** LevelDB's checksum: CRC-32C (Castagnoli), stored "masked".
** Sources: RFC 3720, section 12.1 and appendix B.4 (the polynomial, test vectors);
** LevelDB util/crc32c.h (the mask).
*/
#ifndef BLOOM_CORE_LEVELDB_CRC32C_H
#define BLOOM_CORE_LEVELDB_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC-32C of bytes, which may be NULL if num_bytes is 0. */
uint32_t bloom_crc32c(const uint8_t *bytes, size_t num_bytes);

/* The checksum as LevelDB stores it: rotated and shifted by a constant, because the CRC
** of bytes that contain CRCs protects them badly. */
static inline uint32_t bloom_crc32c_mask(uint32_t crc){
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

#endif
