/*
** Zones: the smallest and largest values of 256 consecutive rows, for <, <=, >, >=, BETWEEN
** and =.
**
** A value becomes a key: a class byte (numbers before texts before BLOBs, as SQLite sorts
** them) and 23 bytes, so that memcmp() orders keys as SQLite orders values.  Different values
** may share a key, and a value may have a span of keys, where it is a number to one comparison
** and a text to another.  Whoever asks has spans of keys, too: a zone may hold an answer where
** one of its spans meets one of those.  All comparisons are <= and >=, so what is cut off a
** text needs no rounding.
**
** A zone has two spans, divided at the largest gap between its values: of two writers a day
** apart each has its own, and a few zeros do not spoil the rest.  No value's span is divided.
** So two conditions on one column, as BETWEEN is, may be asked of one span at a time.
**
** Packed, a zone takes 44 bytes, or 104 where a text needs more than 8: 0.17 or 0.41 bytes a
** row.
*/
#ifndef BLOOM_CORE_SIGNATURE_ZONE_H
#define BLOOM_CORE_SIGNATURE_ZONE_H

#include <stddef.h>
#include <stdint.h>

#define BLOOM_ZONE_ROWS 256
#define BLOOM_ZONE_TEXT_BYTES 23

/* Bytes of a key that is packed, behind its class. */
#define BLOOM_ZONE_NARROW_BYTES 8
#define BLOOM_ZONE_WIDE_BYTES   BLOOM_ZONE_TEXT_BYTES

/* Keys compare by memcmp().  A number has 8 bytes, and zeros behind them. */
typedef struct bloom_zone_key {
  uint8_t bytes[1 + BLOOM_ZONE_TEXT_BYTES];
} bloom_zone_key;

/* Both belong to it; min above max: nothing does. */
typedef struct bloom_zone_span {
  bloom_zone_key min, max;
} bloom_zone_span;

/* In ascending order, without a key in common; an empty one comes last. */
typedef struct bloom_zone {
  bloom_zone_span spans[2];
} bloom_zone;

/* How texts are compared. */
typedef enum bloom_zone_order {
  BLOOM_ZONE_BINARY, BLOOM_ZONE_NOCASE, BLOOM_ZONE_RTRIM
} bloom_zone_order;

/* What is asked: =, < or <=, > or >=. */
typedef enum bloom_zone_operator {
  BLOOM_ZONE_EQUAL, BLOOM_ZONE_BELOW, BLOOM_ZONE_ABOVE
} bloom_zone_operator;

/* -- Keys --------------------------------------------------------------------------------- */

/* A number, by the REAL nearest to it, which is no NaN; inexact: and the REALs next to that. */
bloom_zone_span bloom_zone_of_number(double real, int is_inexact);

/* A text in UTF-8, which may be ill-formed and have NULs; (NULL, 0) is empty.  is_ascii: what is
** not ASCII has another order, or more than one form, so of such a text the keys are all that
** begin like it up to there. */
bloom_zone_span bloom_zone_of_text(const uint8_t *text, size_t num_bytes, bloom_zone_order order,
                                   int is_ascii);

/* All BLOBs, which have one key; all texts; every key; no key. */
bloom_zone_span bloom_zone_of_blob(void);
bloom_zone_span bloom_zone_all_texts(void);
bloom_zone_span bloom_zone_everything(void);
bloom_zone_span bloom_zone_nothing(void);

/* The least span that has both. */
bloom_zone_span bloom_zone_hull(bloom_zone_span a, bloom_zone_span b);

/* -- Zones --------------------------------------------------------------------------------- */

/* A zone in the making: the spans of its values, sorted. */
typedef struct bloom_zone_builder {
  uint32_t num_spans;
  bloom_zone_span spans[BLOOM_ZONE_ROWS];
} bloom_zone_builder;

void bloom_zone_start(bloom_zone_builder *builder);

/* Adds the span of a value, or both of a zone; empty ones count nothing.  There may be any number:
** of more than 256 the two spans so far stand for the rest. */
void bloom_zone_add(bloom_zone_builder *builder, bloom_zone_span span);
void bloom_zone_add_zone(bloom_zone_builder *builder, const bloom_zone *zone);
bloom_zone bloom_zone_finish(const bloom_zone_builder *builder);

/* Adds the span of a value to a zone that is finished; 1 if that changed it. */
int bloom_zone_widen(bloom_zone *zone, bloom_zone_span span);

/* 1 if one of a zone's spans has all of a value's. */
int bloom_zone_has(const bloom_zone *zone, const bloom_zone_span *span);

/* -- Packed -------------------------------------------------------------------------------- */

/* BLOOM_ZONE_NARROW_BYTES if that is all that keys have, else BLOOM_ZONE_WIDE_BYTES. */
uint32_t bloom_zone_key_bytes(const bloom_zone *zone);

/* The bytes of a packed zone: its last id, i64, and its four keys, each a class and key_bytes. */
#define BLOOM_ZONE_PACKED_BYTES(key_bytes) (8 + 4*(1 + (key_bytes)))
void bloom_zone_pack(const bloom_zone *zone, int64_t last_id, uint32_t key_bytes, uint8_t *out);

/* Reads it: where bytes of a text were cut off, its spans are as much larger. */
void bloom_zone_unpack(const uint8_t *bytes, uint32_t key_bytes, bloom_zone *zone,
                       int64_t *last_id);

/* -- Asking --------------------------------------------------------------------------------- */

/* The keys of which a value may have one that meets `value comparison asked`. */
bloom_zone_span bloom_zone_asked(bloom_zone_operator comparison, bloom_zone_span asked);

/* Sorts spans and joins those that meet; returns how many are left. */
size_t bloom_zone_sort(bloom_zone_span *spans, size_t num_spans);

/* 1 if a span meets one of those asked, which are sorted. */
int bloom_zone_meets(const bloom_zone_span *span, const bloom_zone_span *asked, size_t num_asked);

#endif
