/*
** entries_test.c with rows of 200 bytes and segments of 64 blocks: many rows, segments and skips.
** The core beside it has the usual ones, so its functions have other names here.
*/
#define BLOOM_ENTRIES_ROW_BYTES 200
#define BLOOM_SEGMENT_LG 6

#define bloom_entries_open          small_entries_open
#define bloom_entries_next          small_entries_next
#define bloom_entries_seek          small_entries_seek
#define bloom_entries_read          small_entries_read
#define bloom_entries_read_bits     small_entries_read_bits
#define bloom_entries_writer_begin  small_entries_writer_begin
#define bloom_entries_writer_add    small_entries_writer_add
#define bloom_entries_writer_finish small_entries_writer_finish

#include "../../ext/core/entries/entries.c"

#include "entries_test.c"
