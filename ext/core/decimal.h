/*
** An integer's decimal text, as SQL's CAST(x AS TEXT) gives it.
*/
#ifndef BLOOM_CORE_DECIMAL_H
#define BLOOM_CORE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#define BLOOM_DECIMAL_MAX_BYTES 20 /* -9223372036854775808 */

/* Writes value to text, without a terminator; gives the length, 1..20 bytes. */
size_t bloom_decimal(int64_t value, uint8_t text[BLOOM_DECIMAL_MAX_BYTES]);

#endif
