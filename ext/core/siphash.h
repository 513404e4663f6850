/*
** SipHash-2-4: a hash of bytes under a secret, which nobody can compute, or tell from
** random numbers, without it.
** Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012.
*/
#ifndef BLOOM_CORE_SIPHASH_H
#define BLOOM_CORE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define BLOOM_SIPHASH_SECRET_BYTES 16
#define BLOOM_SIPHASH_BYTES        8

/* The hash of num_bytes bytes under secret, BLOOM_SIPHASH_SECRET_BYTES; as a file holds it,
** it is little-endian.  bytes may be NULL if num_bytes is 0. */
uint64_t bloom_siphash(const uint8_t *secret, const uint8_t *bytes, size_t num_bytes);

#endif
