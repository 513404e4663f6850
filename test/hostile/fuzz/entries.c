/*
** A row of bloom_index's entries, of any bytes with the right checksum: all ways to read it are
** safe, and agree.
**
** Input: the rowid, how often to seek, ids to seek, and the row behind its checksum.
*/
#include "fuzz.h"

#include "../../../ext/core/entries/entries.h"
#include "../../../ext/core/numeric.h"
#include "../../../ext/core/hash.h"

#define RUN_NUMBER 1
#define MAX_SEEKS 16

/* Reads the list at hand.  Returns 0 if it is damaged. */
static int read_list(bloom_entries_row *row){
  uint16_t blocks[BLOOM_SEGMENT_BLOCKS];
  const uint32_t num_blocks = row->num_blocks;
  const uint64_t first_block = row->id % row->shape.num_segments * BLOOM_SEGMENT_BLOCKS;
  uint64_t bits[BLOOM_SEGMENT_BLOCKS/64];
  bloom_entries_row copy = *row;
  const int num_read = bloom_entries_read(row, blocks);
  int i;
  FUZZ_CHECK(num_blocks>=1 && num_blocks<=BLOOM_SEGMENT_BLOCKS);
  FUZZ_CHECK(bloom_entries_read_bits(&copy, bits)==num_read);
  for(i=0; i<num_read; i++) bits[blocks[i]/64] ^= (uint64_t)1 << blocks[i]%64;
  for(i=0; num_read>0 && (size_t)i<sizeof(bits)/sizeof(bits[0]); i++) FUZZ_CHECK(bits[i]==0);
  FUZZ_CHECK(num_read<0 || copy.next_at==row->next_at);
  if( num_read<0 ) return 0;
  FUZZ_CHECK((uint32_t)num_read==num_blocks);
  for(i=1; i<num_read; i++) FUZZ_CHECK(blocks[i-1]<blocks[i]);
  FUZZ_CHECK(first_block + blocks[num_read-1]<row->shape.end_block);
  return 1;
}

/* Reads all lists, with or without their blocks.  Returns how many there are, or -1. */
static int read_all(bloom_entries_row row, int is_read){
  uint64_t last = 0;
  int num_lists = 0, status;
  while( (status = bloom_entries_next(&row))==1 ){
    FUZZ_CHECK(num_lists==0 ? row.id==row.first : row.id>last);
    last = row.id;
    num_lists++;
    if( is_read && !read_list(&row) ) return -1;
  }
  if( status<0 ) return -1;
  FUZZ_CHECK(last==row.last && (uint32_t)num_lists==row.num_lists);
  return num_lists;
}

/* Seeks some ids; where a row has no skips a seek is as good as reading up to it. */
static void seek(bloom_entries_row row, fuzz_input *ids, size_t num_seeks){
  uint64_t id = 0;
  for(; num_seeks>0; num_seeks--){
    const uint64_t delta = fuzz_u64(ids);
    id += delta >> (8 + delta%56);
    switch( bloom_entries_seek(&row, id) ){
      case 0:
        FUZZ_CHECK(id>row.last && row.num_blocks==0 && bloom_entries_next(&row)==0);
        break;
      case 1:
        FUZZ_CHECK(row.id>=id && row.id<=row.last);
        if( delta%2 ) read_list(&row);
        break;
      default:
        FUZZ_CHECK(row.is_damaged && bloom_entries_next(&row)==-1);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_bytes){
  fuzz_input input = {data, num_bytes}, ids;
  const uint64_t rowid = fuzz_u64(&input);
  const size_t num_seeks = fuzz_byte(&input) % (MAX_SEEKS + 1);
  size_t id_bytes, row_bytes, i;
  const uint8_t *bytes;
  uint64_t checksum;
  uint8_t *exact;
  bloom_entries_row row;
  ids.next = fuzz_bytes(&input, 8*num_seeks, &id_bytes);
  ids.num_left = id_bytes;
  bytes = fuzz_bytes(&input, BLOOM_ENTRIES_ROW_BYTES, &row_bytes);
  exact = fuzz_exact(NULL, 8 + row_bytes);
  if( row_bytes>0 ) memcpy(exact + 8, bytes, row_bytes);
  row_bytes += 8;
  FUZZ_CHECK(!bloom_entries_open(&row, exact, row_bytes, RUN_NUMBER, rowid));
  checksum = bloom_mix64(bloom_xxh3(exact + 8, row_bytes - 8)
                                 ^ bloom_mix64(RUN_NUMBER + bloom_mix64(rowid)));
  for(i=0; i<8; i++) exact[i] = (uint8_t)(checksum >> 8*i);
  if( bloom_entries_open(&row, exact, row_bytes, RUN_NUMBER, rowid) ){
    const int num_lists = read_all(row, 1);
    /* Without its blocks a list may be right, and not the other way round. */
    if( num_lists>=0 ) FUZZ_CHECK(read_all(row, 0)==num_lists);
    else read_all(row, 0);
    seek(row, &ids, num_seeks);
  }
  free(exact);
  return 0;
}
