/*
** LevelDB's checksum: CRC-32C (Castagnoli), stored "masked".
** Sources: RFC 3720, section 12.1 and appendix B.4 (the polynomial, test vectors);
** LevelDB util/crc32c.h (the mask).
*/
#ifndef BLOOM_CORE_LEVELDB_CRC32C_H
#define BLOOM_CORE_LEVELDB_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The remainders of four bits by the polynomial 0x1edc6f41, the lowest bit first. */
static const uint32_t crc32c_of_4_bits[16] = {
  0x00000000u, 0x105ec76fu, 0x20bd8edeu, 0x30e349b1u,
  0x417b1dbcu, 0x5125dad3u, 0x61c69362u, 0x7198540du,
  0x82f63b78u, 0x92a8fc17u, 0xa24bb5a6u, 0xb21572c9u,
  0xc38d26c4u, 0xd3d3e1abu, 0xe330a81au, 0xf36e6f75u
};

/* The CRC-32C of bytes, which may be NULL if num_bytes is 0, half a byte at a time.  A faster
** one would not show: a filter block is a hundredth of its file. */
static inline uint32_t bloom_crc32c(const uint8_t *bytes, size_t num_bytes){
  uint32_t crc = UINT32_MAX;
  size_t i;
  for(i=0; i<num_bytes; i++){
    crc ^= bytes[i];
    crc = crc >> 4 ^ crc32c_of_4_bits[crc & 15];
    crc = crc >> 4 ^ crc32c_of_4_bits[crc & 15];
  }
  return ~crc;
}

/* The checksum as LevelDB stores it: rotated and shifted by a constant, because the CRC
** of bytes that contain CRCs protects them badly. */
static inline uint32_t bloom_crc32c_mask(uint32_t crc){
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

#endif
