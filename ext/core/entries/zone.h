/*
** Zones: the smallest and largest values of some blocks' rows, for <, <=, >, >=, BETWEEN and =.
**
** A value has a key: a byte for its class (NULL, numbers, texts, BLOBs, as SQLite sorts them) and
** 23 bytes, so that memcmp() orders keys as SQLite orders values.  Different values may share a
** key.  A value that is a number to one comparison and a text to another has a span of keys, and so
** has what a query asks for: a zone may match where one of its spans overlaps one of the query's.
** Spans include both ends, so that a text is cut off without rounding.
**
** A zone has two spans, divided at the largest gap between its values: two writers whose times are
** a day apart have one each, and a few zeros do not widen the rest.  A value's span is never
** divided.  So all conditions on a column, as the two of BETWEEN, may be tested with one span at a
** time.
**
** Rows of 32 zones are packed without the bytes with which all their keys begin: a number takes 3
** to 5 bytes then, and an ISO time 6 to 9.
*/
#ifndef BLOOM_CORE_ENTRIES_ZONE_H
#define BLOOM_CORE_ENTRIES_ZONE_H

#include <stddef.h>
#include <stdint.h>

#include "../bytes.h"

#define BLOOM_ZONE_TEXT_BYTES 23

/* Zones of a row, at most 32.  Tests make small rows. */
#ifndef BLOOM_ZONES_LG
# define BLOOM_ZONES_LG 5
#endif
#define BLOOM_ZONES_PER_ROW (1u << BLOOM_ZONES_LG)

/* Keys compare by memcmp().  A number has 8 bytes, and zeros behind them. */
typedef struct bloom_zone_key {
  uint8_t bytes[1 + BLOOM_ZONE_TEXT_BYTES];
} bloom_zone_key;
_Static_assert(sizeof(bloom_zone_key)%8==0, "bloom_zone_compare() reads whole words");

/* The keys from min to max; none if min is above max. */
typedef struct bloom_zone_span {
  bloom_zone_key min, max;
} bloom_zone_span;

/* The first two spans are those of values: they ascend, and have no key in common; an empty one is
** the last.  The third is NULL's, or empty. */
typedef struct bloom_zone {
  bloom_zone_span spans[3];
} bloom_zone;

/* How texts are compared. */
typedef enum bloom_zone_order {
  BLOOM_ZONE_BINARY, BLOOM_ZONE_NOCASE, BLOOM_ZONE_RTRIM
} bloom_zone_order;

/* -- Keys ------------------------------------------------------------------------------------ */

/* Returns the key of a REAL, which is no NaN; is_inexact: and those of the REALs next to it. */
bloom_zone_span bloom_zone_of_number(double real, int is_inexact);

/* Returns the key of a text in UTF-8, which may be ill-formed and have NULs; (NULL, 0) is empty.
** is_ascii: the keys of all texts that begin with what is before its first byte that is not ASCII,
** where such bytes are in another order, or one text has several forms. */
bloom_zone_span bloom_zone_of_text(const uint8_t *text, size_t num_bytes, bloom_zone_order order,
                                   int is_ascii);

/* The keys of all values but NULL; no key; that of NULL; those of texts and BLOBs; the one of
** BLOBs. */
extern const bloom_zone_span bloom_zone_everything, bloom_zone_nothing, bloom_zone_of_null;
extern const bloom_zone_span bloom_zone_of_texts, bloom_zone_of_blobs;

/* Returns the least span that has both. */
bloom_zone_span bloom_zone_hull(bloom_zone_span a, bloom_zone_span b);

/* Returns a number below 0, 0 or above 0, as a sorts before b, with it or behind it: as memcmp()
** does, by words, of which mostly the first one decides. */
static inline int bloom_zone_compare(const bloom_zone_key *a, const bloom_zone_key *b){
  size_t i;
  for(i=0; i<sizeof(a->bytes); i+=8){
    const uint64_t of_a = bloom_load64_be(a->bytes + i), of_b = bloom_load64_be(b->bytes + i);
    if( of_a!=of_b ) return of_a<of_b ? -1 : 1;
  }
  return 0;
}

/* A value of a key.  0s and 0xffs at the end of a text are left out: the value's own key is that
** one or a lower one.  NULL's key has -infinity; that below all numbers, and those of BLOBs and
** above, have none. */
typedef struct bloom_zone_value {
  enum { BLOOM_ZONE_NO_VALUE, BLOOM_ZONE_NUMBER, BLOOM_ZONE_TEXT } kind;
  double real;
  uint8_t text[BLOOM_ZONE_TEXT_BYTES];
  size_t num_bytes;
} bloom_zone_value;

bloom_zone_value bloom_zone_value_of(const bloom_zone_key *key);

/* Returns 1 if a span has no key. */
static inline int bloom_zone_is_empty(const bloom_zone_span *span){
  return bloom_zone_compare(&span->min, &span->max)>0;
}

/* -- Zones ----------------------------------------------------------------------------------- */

/* The zone of no value. */
extern const bloom_zone bloom_zone_empty;

/* Returns 1 if a zone has a value. */
int bloom_zone_is_there(const bloom_zone *zone);

/* Adds the span of a value.  Of three it joins the two with the smaller gap.  Returns 1 if the zone
** changed. */
int bloom_zone_add(bloom_zone *zone, bloom_zone_span span);

/* Adds all that another zone has. */
void bloom_zone_unite(bloom_zone *zone, const bloom_zone *other);

/* Returns 1 if one of a zone's spans includes a value's. */
int bloom_zone_has(const bloom_zone *zone, const bloom_zone_span *span);

/* -- Packed ---------------------------------------------------------------------------------- */

/* The most that a row of BLOOM_ZONES_PER_ROW zones takes. */
#define BLOOM_ZONE_ROW_HEAD 22
#define BLOOM_ZONE_ROW_BYTES \
  (BLOOM_ZONE_ROW_HEAD + BLOOM_ZONES_PER_ROW*4*(1 + BLOOM_ZONE_TEXT_BYTES))

/* Writes a row, under a checksum with the number of its generation and its rowid.  Returns how many
** bytes it takes. */
size_t bloom_zone_row_pack(const bloom_zone *zones, uint64_t number, uint64_t rowid, uint8_t *out);

/* Reads a row; 0 if it is damaged, or not that of this number and rowid. */
int bloom_zone_row_unpack(const uint8_t *bytes, size_t num_bytes, uint64_t number, uint64_t rowid,
                          bloom_zone *zones);

/* -- Asking ---------------------------------------------------------------------------------- */

/* Sorts spans, joins those that overlap, and leaves out empty ones.  Returns how many are left. */
size_t bloom_zone_sort(bloom_zone_span *spans, size_t num_spans);

/* Returns 1 if a span overlaps one of those asked, which bloom_zone_sort() has sorted. */
int bloom_zone_meets(const bloom_zone_span *span, const bloom_zone_span *asked, size_t num_asked);

#endif
