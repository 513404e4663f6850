/*
** Rows of bloom_index's entries: what was written is read, seeking finds what a search of all
** lists finds, the bytes are those of FORMATS.md, and any bytes are safe to read.
** entries_small_test.c runs the same with small rows and segments.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/entries/entries.h"
#include "../../ext/core/hash.h"

#define RUN_NUMBER 0x123456789abcdef0u
#define SLOT 3

/* ---- lists, and the rows that they are written to ---------------------------- */

typedef struct stored_row {
  uint64_t rowid;
  size_t num_bytes;
  uint8_t *bytes; /* no more of them, so that a sanitizer sees a read past the end */
} stored_row;

typedef struct lists {
  uint32_t end_block, num_segments, num_lists, num_rows;
  uint64_t *ids;
  uint32_t *begin; /* of a list's blocks; num_lists + 1 */
  uint16_t *blocks;
  stored_row *rows;
} lists;

static uint32_t blocks_in(const lists *of, uint64_t id){
  const uint32_t segment = (uint32_t)(id % of->num_segments);
  return segment + 1<of->num_segments ? BLOOM_SEGMENT_BLOCKS : of->end_block - segment*BLOOM_SEGMENT_BLOCKS;
}

static uint32_t num_blocks_of(const lists *of, uint32_t list){
  return of->begin[list + 1] - of->begin[list];
}

static lists new_lists(uint32_t end_block, uint32_t max_lists, size_t max_blocks){
  lists of;
  memset(&of, 0, sizeof(of));
  of.end_block = end_block;
  of.num_segments = bloom_entries_num_segments(end_block);
  of.ids = allocated(max_lists * sizeof(*of.ids));
  of.begin = allocated((max_lists + 1) * sizeof(*of.begin));
  of.begin[0] = 0;
  of.blocks = allocated(max_blocks * sizeof(*of.blocks));
  return of;
}

static void free_lists(lists *of){
  uint32_t i;
  for(i=0; i<of->num_rows; i++) free(of->rows[i].bytes);
  free(of->rows);
  free(of->ids);
  free(of->begin);
  free(of->blocks);
}

/* Adds a list of num_blocks random blocks, each subset as likely. */
static void add_random_list(lists *of, rng *random, uint64_t id, uint32_t num_blocks){
  const uint32_t num_all = blocks_in(of, id);
  uint32_t i, left = num_blocks<num_all ? num_blocks : num_all, end = of->begin[of->num_lists];
  for(i=0; i<num_all; i++){
    if( rng_below(random, num_all - i)<left ){
      of->blocks[end++] = (uint16_t)i;
      left--;
    }
  }
  of->ids[of->num_lists++] = id;
  of->begin[of->num_lists] = end;
}

static void finish_row(lists *of, bloom_entries_writer *writer){
  uint8_t *bytes = allocated(BLOOM_ENTRIES_ROW_BYTES);
  stored_row *row = &of->rows[of->num_rows++];
  row->num_bytes = bloom_entries_writer_finish(writer, RUN_NUMBER, SLOT, bytes, &row->rowid);
  assert_true(row->num_bytes<=BLOOM_ENTRIES_ROW_BYTES);
  row->bytes = exact_copy(bytes, row->num_bytes);
  free(bytes);
}

static void write_rows(lists *of, uint64_t mean_gap){
  bloom_entries_writer *writer = allocated(sizeof(*writer));
  uint32_t i;
  of->rows = allocated(of->num_lists * sizeof(*of->rows));
  bloom_entries_writer_begin(writer, of->end_block, BLOOM_ENTRIES_NO_ID, mean_gap);
  for(i=0; i<of->num_lists; i++){
    /* Exact, so that the writer reads no block too many. */
    uint16_t *blocks = (uint16_t*)(void*)exact_copy((const uint8_t*)(of->blocks + of->begin[i]), 2*num_blocks_of(of, i));
    if( !bloom_entries_writer_add(writer, of->ids[i], blocks, num_blocks_of(of, i)) ){
      finish_row(of, writer);
      assert_true(bloom_entries_writer_add(writer, of->ids[i], blocks, num_blocks_of(of, i)));
    }
    free(blocks);
  }
  finish_row(of, writer);
  free(writer);
}

static void open_row(const lists *of, uint32_t number, bloom_entries_row *row){
  const stored_row *stored = &of->rows[number];
  assert_true(bloom_entries_open(row, stored->bytes, stored->num_bytes, RUN_NUMBER, stored->rowid));
}

/* The list at hand is read as bits alike; num_read -1: it is damaged. */
static void check_bits(const bloom_entries_row *row, const uint16_t *blocks, int num_read){
  uint64_t *wanted = allocated(BLOOM_SEGMENT_BLOCKS/8), *bits = allocated(BLOOM_SEGMENT_BLOCKS/8);
  bloom_entries_row copy = *row, over = *row;
  int i;
  memset(wanted, 0, BLOOM_SEGMENT_BLOCKS/8);
  memset(bits, 0x55, BLOOM_SEGMENT_BLOCKS/8);
  for(i=0; i<num_read; i++) wanted[blocks[i]/64] |= (uint64_t)1 << blocks[i]%64;
  assert_int_equal(bloom_entries_read_bits(&copy, bits), num_read);
  if( num_read>=0 ){
    assert_memory_equal(bits, wanted, BLOOM_SEGMENT_BLOCKS/8);
    assert_int_equal(copy.next_at, row->next_at);
    /* Reading over it leads to the same list. */
    over.next_at = 0;
    assert_int_equal(bloom_entries_next(&over), bloom_entries_next(&copy));
    assert_true(over.id==copy.id && over.blocks_at==copy.blocks_at && over.is_damaged==copy.is_damaged);
  }
  free(wanted);
  free(bits);
}

/* The list at hand is this one, which is read if it says so. */
static void check_list(const lists *of, bloom_entries_row *row, uint32_t list, int is_read){
  uint16_t *blocks;
  assert_true(row->id==of->ids[list]);
  assert_int_equal(row->num_blocks, num_blocks_of(of, list));
  if( !is_read ) return;
  blocks = allocated(BLOOM_SEGMENT_BLOCKS * sizeof(*blocks));
  assert_int_equal(bloom_entries_read(row, blocks), num_blocks_of(of, list));
  assert_memory_equal(blocks, of->blocks + of->begin[list], num_blocks_of(of, list) * sizeof(*blocks));
  check_bits(row, blocks, (int)num_blocks_of(of, list));
  free(blocks);
}

/* Lists of one of many shapes, in rows. */
static lists random_lists(rng *random, size_t round){
  static const uint32_t odd_ends[] = {1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 4095, 4096, 4097, 10000, 8*4096 + 1, BLOOM_ENTRIES_MAX_BLOCKS, BLOOM_ENTRIES_MAX_BLOCKS - 1};
  const size_t kind = round%8, gaps = rng_below(random, 6);
  const uint32_t max_lists = 1 + (uint32_t)rng_below(random, kind<2 ? 4000 : 60);
  const uint32_t end_block = rng_below(random, 2) ? odd_ends[rng_below(random, COUNT_OF(odd_ends))] : 1 + (uint32_t)rng_below(random, 40*BLOOM_SEGMENT_BLOCKS);
  lists of = new_lists(end_block, max_lists, (size_t)max_lists * (kind<2 ? 4 : BLOOM_SEGMENT_BLOCKS) + 4);
  uint64_t id = rng_below(random, 2) ? 0 : rng_next(random) >> (8 + rng_below(random, 56));
  uint32_t i;
  for(i=0; i<max_lists && id<=BLOOM_ENTRIES_ID_MASK; i++){
    const uint32_t num_all = blocks_in(&of, id);
    uint32_t num_blocks = 1;
    switch( kind ){
      case 0: break;                                                        /* unique keys */
      case 1: num_blocks = 1 + (uint32_t)rng_below(random, 4); break;
      case 2: num_blocks = num_all; break;                                  /* all */
      case 3: num_blocks = num_all - (uint32_t)rng_below(random, 5); break; /* nearly all */
      case 4: num_blocks = num_all/2 + (uint32_t)rng_below(random, 3); break;
      case 5: num_blocks = num_all*345/1000 + (uint32_t)rng_below(random, 3); break;
      default: num_blocks = 1 + (uint32_t)rng_below(random, 1 + rng_below(random, num_all));
    }
    /* Without any, there is one; too many to be so are all. */
    if( num_blocks<1 || num_blocks>num_all ) num_blocks = num_all;
    add_random_list(&of, random, id, num_blocks);
    switch( gaps ){
      case 0: id += 1; break;
      case 1: id += 1 + rng_below(random, 200); break;
      case 2: id += rng_below(random, 30) ? 1 + rng_below(random, 10) : rng_next(random) >> (8 + rng_below(random, 40)); break;
      case 3: id += of.num_segments; break; /* the same segment of each token */
      case 4: id += (uint64_t)1 << rng_below(random, 50); break;
      default: id += 1 + (rng_next(random) >> (20 + rng_below(random, 20)));
    }
  }
  write_rows(&of, rng_below(random, 4) ? 1 + rng_below(random, 300) : rng_next(random) >> (8 + rng_below(random, 56)));
  return of;
}

/* ---- what was written -------------------------------------------------------- */

/* Behind the last list, which is at hand, zeros fill its last byte. */
static void check_end(const stored_row *stored, bloom_entries_row *row){
  uint16_t *blocks = allocated(BLOOM_SEGMENT_BLOCKS * sizeof(*blocks));
  assert_true(bloom_entries_read(row, blocks)>0);
  assert_int_equal((row->next_at + 7)/8, stored->num_bytes);
  if( row->next_at%8 ) assert_int_equal(stored->bytes[stored->num_bytes-1] >> row->next_at%8, 0);
  free(blocks);
}

TEST(what_was_written_is_read){
  rng random = rng_stream(1);
  size_t round, num_rows = 0;
  for(round=0; round<test_share(160); round++){
    lists of = random_lists(&random, round);
    const size_t read_each = 1 + rng_below(&random, 3);
    uint64_t before = BLOOM_ENTRIES_NO_ID;
    uint32_t list = 0, number, i;
    for(number=0; number<of.num_rows; number++){
      bloom_entries_row row;
      open_row(&of, number, &row);
      assert_true(row.before==before);
      assert_int_equal(row.shape.end_block, of.end_block);
      assert_true(row.first==of.ids[list] && row.num_lists>=1);
      for(i=0; i<row.num_lists; i++, list++){
        assert_int_equal(bloom_entries_next(&row), 1);
        check_list(&of, &row, list, list%read_each==0);
        if( rng_below(&random, 20)==0 ) check_list(&of, &row, list, 1);
      }
      assert_true(row.last==of.ids[list-1] && of.rows[number].rowid==((uint64_t)SLOT<<56 | row.last));
      before = row.last;
      check_end(&of.rows[number], &row);
      assert_int_equal(bloom_entries_next(&row), 0);
      assert_int_equal(row.num_blocks, 0);
      assert_int_equal(bloom_entries_next(&row), 0);
    }
    assert_int_equal(list, of.num_lists);
    num_rows += of.num_rows;
    free_lists(&of);
  }
  assert_true(num_rows>round);
}

/* The first list whose id is at least `id`. */
static uint32_t search(const lists *of, uint64_t id){
  uint32_t low = 0, high = of->num_lists;
  while( low<high ){
    const uint32_t middle = (low + high)/2;
    if( of->ids[middle]<id ) low = middle + 1;
    else high = middle;
  }
  return low;
}

TEST(seeks_find_what_a_search_of_all_finds){
  rng random = rng_stream(2);
  size_t round, num_with_skips = 0;
  for(round=0; round<test_share(160); round++){
    lists of = random_lists(&random, round);
    uint32_t first = 0, number;
    for(number=0; number<of.num_rows; number++){
      bloom_entries_row row;
      uint32_t end, i;
      size_t try;
      open_row(&of, number, &row);
      num_with_skips += row.num_skips>0;
      end = first + row.num_lists;
      for(try=0; try<6; try++){
        uint64_t id = 0;
        open_row(&of, number, &row);
        for(i=0; i<5; i++){
          const uint64_t near = of.ids[first + rng_below(&random, end - first)];
          const uint64_t wanted = rng_below(&random, 8) ? near + rng_below(&random, 3) - (near>0) : rng_next(&random) >> (8 + rng_below(&random, 56));
          uint32_t found;
          /* Goes on from where it is, also for an id that it has passed. */
          if( wanted>id ) id = wanted;
          found = search(&of, id);
          if( found<first ) found = first;
          assert_int_equal(bloom_entries_seek(&row, rng_below(&random, 9) ? id : id - (id>0 && row.num_blocks>0 && row.id>=id)), found<end);
          if( found>=end ){
            assert_int_equal(row.num_blocks, 0);
            assert_int_equal(bloom_entries_next(&row), 0);
            /* Past the last list there is none, also of an id that was passed. */
            assert_int_equal(bloom_entries_seek(&row, 0), 0);
            break;
          }
          check_list(&of, &row, found, rng_below(&random, 2)==0);
          if( rng_below(&random, 2)==0 ) continue;
          assert_int_equal(bloom_entries_next(&row), found + 1<end);
          if( found + 1>=end ) break;
          check_list(&of, &row, found + 1, rng_below(&random, 2)==0);
          id = row.id;
        }
      }
      first = end;
    }
    free_lists(&of);
  }
  assert_true(num_with_skips>round/8);
}

TEST(each_list_fits_a_row){
  rng random = rng_stream(3);
  const uint32_t step = BLOOM_SEGMENT_BLOCKS==64 ? 1 : test_share(100)==100 ? 7 : 63;
  uint32_t num_blocks, i, way;
  uint64_t most = 0;
  for(num_blocks=1; num_blocks<=BLOOM_SEGMENT_BLOCKS; num_blocks += step){
    for(way=0; way<3; way++){
      lists of = new_lists(BLOOM_SEGMENT_BLOCKS, 2, 2*BLOOM_SEGMENT_BLOCKS);
      add_random_list(&of, &random, 0, 1);
      if( way==0 ){
        add_random_list(&of, &random, BLOOM_ENTRIES_ID_MASK, num_blocks);
      }else{
        /* One long code: the last blocks, or the first ones, whose missing ones are the last. */
        of.ids[1] = BLOOM_ENTRIES_ID_MASK;
        for(i=0; i<num_blocks; i++) of.blocks[1 + i] = (uint16_t)(way==1 ? BLOOM_SEGMENT_BLOCKS - num_blocks + i : i);
        of.num_lists = 2;
        of.begin[2] = 1 + num_blocks;
      }
      write_rows(&of, 1);
      assert_int_equal(of.num_rows, 1);
      if( of.rows[0].num_bytes>most ) most = of.rows[0].num_bytes;
      free_lists(&of);
    }
  }
  /* The first list has a bit for its number of blocks, and those of a block. */
  most = 8*(most - BLOOM_ENTRIES_HEADER_BYTES);
  assert_true(most<=BLOOM_ENTRIES_LIST_BITS + 1 + BLOOM_SEGMENT_LG + 7);
  assert_true(most>BLOOM_SEGMENT_BLOCKS + 80);
}

TEST(a_row_has_at_most_4096_lists){
  lists of = new_lists(1, 10000, 10000);
  rng random = rng_stream(4);
  uint32_t i;
  bloom_entries_row row;
  for(i=0; i<10000; i++) add_random_list(&of, &random, i, 1);
  write_rows(&of, 1);
  open_row(&of, 0, &row);
  assert_int_equal(row.num_lists, BLOOM_ENTRIES_ROW_BYTES<1024 ? row.num_lists : BLOOM_ENTRIES_MAX_LISTS);
  free_lists(&of);
}

/* 2^20 tokens of which one in 16 is there: 4 bits and 1.5, 1, and those of a block. */
TEST(unique_keys_take_few_bytes){
  lists of = new_lists(4*BLOOM_SEGMENT_BLOCKS, 1<<16, 1<<16);
  rng random = rng_stream(5);
  size_t num_bytes = 0;
  double expected = 4 + 1.6 + 2 + 1 + BLOOM_SEGMENT_LG;
  uint32_t i;
  for(i=0; i<1<<16; i++) add_random_list(&of, &random, 64*i + rng_below(&random, 64), 1);
  write_rows(&of, 64);
  for(i=0; i<of.num_rows; i++) num_bytes += of.rows[i].num_bytes;
  /* Headers and skips. */
  expected = expected/8 * (1 + (BLOOM_ENTRIES_ROW_BYTES<1024 ? 0.6 : 0.035));
  assert_true((double)num_bytes/(1<<16)<expected);
  free_lists(&of);
}

/* ---- the bytes ---------------------------------------------------------------- */

/* Where a row's checksum is set right, by FORMATS.md alone. */
static uint64_t mixed(uint64_t x){
  x = (x ^ x / ((uint64_t)1 << 33)) * 14029467366897019727u;
  x = (x ^ x / ((uint64_t)1 << 29)) * 1609587929392839161u;
  return x ^ x / ((uint64_t)1 << 32);
}

static void set_checksum(uint8_t *bytes, size_t num_bytes, uint64_t rowid){
  const uint64_t checksum = mixed(bloom_xxh3(bytes + 8, num_bytes - 8) ^ mixed(RUN_NUMBER + mixed(rowid)));
  int i;
  for(i=0; i<8; i++) bytes[i] = (uint8_t)(checksum >> 8*i);
}

#if BLOOM_SEGMENT_LG==12

/* A row by hand: the header in hexadecimal, without the checksum, and bits in their order. */
static void check_golden(lists *of, uint64_t mean_gap, const char *header_hex, const char *bits){
  size_t num_bytes, num_bits = 0;
  uint8_t *header = bytes_of(header_hex, &num_bytes);
  uint8_t *row = allocated(BLOOM_ENTRIES_ROW_BYTES);
  char *is, *expected;
  memset(row, 0, BLOOM_ENTRIES_ROW_BYTES);
  memcpy(row + 8, header, num_bytes);
  num_bytes += 8;
  for(; *bits; bits++){
    if( *bits==' ' ) continue;
    row[num_bytes + num_bits/8] = (uint8_t)(row[num_bytes + num_bits/8] | (*bits - '0') << num_bits%8);
    num_bits++;
  }
  num_bytes += (num_bits + 7)/8;
  write_rows(of, mean_gap);
  assert_int_equal(of->num_rows, 1);
  set_checksum(row, num_bytes, of->rows[0].rowid);
  is = hex_of(of->rows[0].bytes, of->rows[0].num_bytes);
  expected = hex_of(row, num_bytes);
  assert_string_equal(is, expected);
  free(is);
  free(expected);
  free(header);
  free(row);
}

static void add_list(lists *of, uint64_t id, const uint16_t *blocks, uint32_t num_blocks){
  memcpy(of->blocks + of->begin[of->num_lists], blocks, num_blocks * sizeof(*blocks));
  of->ids[of->num_lists++] = id;
  of->begin[of->num_lists] = of->begin[of->num_lists-1] + num_blocks;
}

/* Three segments, the last one of 1,808 blocks: 12, 12 and 11 bits.  kr = 1: 2 * 100 <= 69 * 3. */
TEST(the_bytes_of_few_blocks){
  static const uint16_t one[] = {5}, last[] = {1807}, three[] = {0, 1, 4095};
  lists of = new_lists(10000, 3, 10);
  add_list(&of, 6, one, 1);
  add_list(&of, 8, last, 1);
  add_list(&of, 66, three, 3);
  check_golden(&of, 3,
    "ffffffffffffffff" "0600000000000000" "10270000" "0300" "0000" "01" "00",
    "1" "101000000000"                                            /* one block, 5 */
    "0" "1" "1" "11110000111"                                     /* gap - 1 = 1; one, 1807 */
    /* gap - 1 = 57 = 28 * 2 + 1: whole, in 56 bits */
    "111111111111111111111111" "10011100" "000000000000000000000000000000000000000000000000"
    "011" "000000000000" "100000000000" "111111111111");          /* three: 01, then 1 */
  assert_true(of.rows[0].rowid==0x0300000000000042u);
  free_lists(&of);
}

/* One segment of 40 blocks.  c = 4: k = 2, as 4 * 4 * 100 <= 69 * 40; c = 20: k = 0. */
TEST(the_bytes_of_rice_codes){
  static const uint16_t four[] = {1, 8, 9, 39};
  uint16_t blocks[40];
  lists of = new_lists(40, 5, 160);
  uint32_t i, n;
  add_list(&of, 0, four, 4);
  for(i=0; i<20; i++) blocks[i] = (uint16_t)(2*i + (i>=10));
  add_list(&of, 1, blocks, 20);
  for(i=0; i<40; i++) blocks[i] = (uint16_t)i;
  add_list(&of, 2, blocks, 40);
  /* All but 3 and 17: raw, 6 bits each; all but 0, 1, 2, 3 and 4, of which k = 2. */
  for(i=0, n=0; i<40; i++) if( i!=3 && i!=17 ) blocks[n++] = (uint16_t)i;
  add_list(&of, 3, blocks, 38);
  for(i=5; i<40; i++) blocks[i-5] = (uint16_t)i;
  add_list(&of, 4, blocks, 35);
  check_golden(&of, 1,
    "ffffffffffffffff" "0000000000000000" "28000000" "0500" "0000" "00" "00",
    "00100" "010" "1001" "000" "1111111010"                       /* 4 = 1 00; 1, 6, 0, 29 = 7 * 4 + 1 */
    "0" "000010010" "01010101010101010101" "10101010101010101010" /* 20 = 1 0100; bit b is 0 if b is there */
    "0" "00000100010"                                             /* 40 = 1 01000 */
    "0" "00000101100" "110000" "100010"                           /* 38 = 1 00110; 3, 17 */
    "0" "00000111000" "000" "000" "000" "000" "000");             /* 35 = 1 00011 */
  free_lists(&of);
}

/* A skip before every list that 269 bytes are before: n = 2, and the first list has 513 bytes. */
TEST(the_bytes_of_a_skip){
  uint16_t blocks[2048];
  static const uint16_t one[] = {4095};
  static char bits[6000];
  lists of = new_lists(4096, 2, 4096);
  uint32_t i;
  for(i=0; i<2048; i++) blocks[i] = (uint16_t)(2*i + 1);
  add_list(&of, 1000, blocks, 2048);
  add_list(&of, 1000 + 8*23 + 4, one, 1);
  /* 2048 = 1 and 11 zeros; each odd block; gap - 1 = 187 = 23 * 8 + 3; 4095. */
  snprintf(bits, sizeof(bits), "00000000000" "1" "00000000000");
  for(i=0; i<2048; i++) snprintf(bits + 23 + 2*i, 3, "10");
  snprintf(bits + 23 + 2*2048, 64, "111111111111111111111110" "110" "1" "111111111111");
  check_golden(&of, 12, "ffffffffffffffff" "e803000000000000" "00100000" "0200" "0100" "03" "00" "bc000000" "1710", bits);
  free_lists(&of);
}

#endif

/* ---- damage ------------------------------------------------------------------- */

TEST(every_changed_bit_is_refused){
  rng random = rng_stream(6);
  size_t round;
  for(round=0; round<16; round++){
    lists of = random_lists(&random, round);
    const stored_row *stored = &of.rows[rng_below(&random, of.num_rows)];
    uint8_t *bytes = exact_copy(stored->bytes, stored->num_bytes);
    bloom_entries_row row;
    size_t i;
    for(i=0; i<8*stored->num_bytes; i += 1 + rng_below(&random, test_share(100)<100 ? 40 : 4)){
      bytes[i/8] ^= (uint8_t)(1 << i%8);
      assert_int_equal(bloom_entries_open(&row, bytes, stored->num_bytes, RUN_NUMBER, stored->rowid), 0);
      assert_int_equal(bloom_entries_next(&row), -1);
      bytes[i/8] ^= (uint8_t)(1 << i%8);
    }
    for(i=0; i<stored->num_bytes; i++){
      free(bytes);
      bytes = exact_copy(stored->bytes, i);
      assert_int_equal(bloom_entries_open(&row, bytes, i, RUN_NUMBER, stored->rowid), 0);
      if( i==50 && stored->num_bytes>100 ) i = stored->num_bytes - 20;
    }
    assert_int_equal(bloom_entries_open(&row, stored->bytes, stored->num_bytes, RUN_NUMBER + 1, stored->rowid), 0);
    assert_int_equal(bloom_entries_open(&row, stored->bytes, stored->num_bytes, RUN_NUMBER, stored->rowid ^ (uint64_t)1<<56), 0);
    assert_int_equal(bloom_entries_open(&row, stored->bytes, stored->num_bytes, RUN_NUMBER, stored->rowid + 1), 0);
    free(bytes);
    free_lists(&of);
  }
}

TEST(each_field_of_the_header_has_its_range){
  /* Offset, bytes, value, and whether the row is opened.  The row has ids 5, 6, 7 and 100. */
  static const struct { size_t at, num_bytes; uint64_t value; int is_right; } cases[] = {
    {8, 8, 4, 1}, {8, 8, 5, 0}, {8, 8, 6, 0}, {8, 8, UINT64_MAX - 1, 0}, {8, 8, UINT64_MAX, 1},
    {16, 8, 5, 1}, {16, 8, 97, 1}, {16, 8, 98, 0}, {16, 8, 101, 0}, {16, 8, UINT64_MAX, 0},
    {24, 4, 1, 1}, {24, 4, 0, 0}, {24, 4, BLOOM_ENTRIES_MAX_BLOCKS, 1}, {24, 4, BLOOM_ENTRIES_MAX_BLOCKS + 1, 0}, {24, 4, UINT32_MAX, 0},
    {28, 2, 0, 0}, {28, 2, 1, 0}, {28, 2, 2, 1}, {28, 2, 96, 1}, {28, 2, 97, 0}, {28, 2, 4097, 0}, {28, 2, 65535, 0},
    {30, 2, 0, 1}, {30, 2, 1, 0}, {30, 2, 2, 0}, {30, 2, 3, 0}, {30, 2, 4, 1}, {30, 2, 65535, 1},
    {32, 1, 55, 1}, {32, 1, 56, 0}, {32, 1, 255, 0}, {33, 1, 1, 0}, {33, 1, 128, 0},
  };
  static const uint64_t ids[] = {5, 6, 7, 100};
  rng random = rng_stream(7);
  lists of = new_lists(20, 4, 4);
  size_t i, j;
  for(i=0; i<4; i++) add_random_list(&of, &random, ids[i], 1);
  write_rows(&of, 1);
  assert_true(of.num_rows==1 && of.rows[0].num_bytes<40 + 16);
  for(i=0; i<COUNT_OF(cases); i++){
    size_t row_bytes = of.rows[0].num_bytes;
    uint8_t bytes[100] = {0};
    bloom_entries_row row;
    memcpy(bytes, of.rows[0].bytes, row_bytes);
    for(j=0; j<cases[i].num_bytes; j++) bytes[cases[i].at + j] = (uint8_t)(cases[i].value >> 8*j);
    /* Nothing is behind the skips. */
    if( cases[i].at==30 && !cases[i].is_right ) row_bytes = BLOOM_ENTRIES_HEADER_BYTES + 3/(size_t)cases[i].value*BLOOM_ENTRIES_SKIP_BYTES;
    set_checksum(bytes, row_bytes, of.rows[0].rowid);
    if( bloom_entries_open(&row, bytes, row_bytes, RUN_NUMBER, of.rows[0].rowid)!=cases[i].is_right ) fail_msg("case %zu", i);
  }
  free_lists(&of);
}

/* Reads a row, whose checksum is right and whose bytes may be anything, in all ways: what it says
** is in order, and once it is damaged it stays so. */
static int read_all_ways(const uint8_t *bytes, size_t num_bytes, uint64_t rowid, rng *random){
  bloom_entries_row row, before;
  uint16_t *blocks = allocated(BLOOM_SEGMENT_BLOCKS * sizeof(*blocks));
  uint32_t num_lists = 0;
  int is_open, num_read, i;
  const size_t way = rng_below(random, 3);
  uint64_t last = 0;
  is_open = bloom_entries_open(&row, bytes, num_bytes, RUN_NUMBER, rowid);
  while( is_open ){
    uint64_t wanted = last + (rng_next(random) >> (8 + rng_below(random, 56)));
    int status;
    if( way==0 || rng_below(random, 3)==0 ) status = bloom_entries_next(&row);
    else status = bloom_entries_seek(&row, wanted);
    if( status!=1 ) break;
    assert_true(row.id>=row.first && row.id<=row.last);
    assert_true(num_lists==0 || row.id>=last);
    assert_true(row.num_blocks>=1 && row.num_blocks<=BLOOM_SEGMENT_BLOCKS);
    last = row.id;
    if( ++num_lists>8*BLOOM_ENTRIES_MAX_LISTS ) break;
    if( rng_below(random, way + 1) ) continue;
    before = row;
    num_read = bloom_entries_read(&row, blocks);
    before.next_at = row.next_at;
    check_bits(&before, blocks, num_read);
    if( num_read<0 ) break;
    assert_int_equal(num_read, row.num_blocks);
    for(i=1; i<num_read; i++) assert_true(blocks[i]>blocks[i-1]);
    assert_true(blocks[num_read-1]<BLOOM_SEGMENT_BLOCKS);
    assert_true(row.id%row.shape.num_segments*BLOOM_SEGMENT_BLOCKS + blocks[num_read-1]<row.shape.end_block);
  }
  if( row.is_damaged ){
    assert_int_equal(bloom_entries_next(&row), -1);
    assert_int_equal(bloom_entries_seek(&row, 0), -1);
    assert_int_equal(bloom_entries_read(&row, blocks), -1);
  }
  free(blocks);
  return is_open && !row.is_damaged;
}

TEST(changed_rows_are_safe_to_read){
  rng random = rng_stream(8);
  size_t round, num_whole = 0, num_damaged = 0;
  for(round=0; round<test_share(160); round++){
    lists of = random_lists(&random, round);
    size_t try;
    for(try=0; try<10; try++){
      const stored_row *stored = &of.rows[rng_below(&random, of.num_rows)];
      const size_t num_bytes = rng_below(&random, 4) ? stored->num_bytes : BLOOM_ENTRIES_HEADER_BYTES + 1 + rng_below(&random, stored->num_bytes - BLOOM_ENTRIES_HEADER_BYTES);
      uint8_t *bytes = exact_copy(stored->bytes, num_bytes);
      size_t changes = 1 + rng_below(&random, 4);
      while( changes-- ){
        const size_t from = rng_below(&random, 3) ? BLOOM_ENTRIES_HEADER_BYTES : 24;
        const size_t at = from + rng_below(&random, num_bytes - from);
        bytes[at] = (uint8_t)(rng_below(&random, 2) ? bytes[at] ^ 1 << rng_below(&random, 8) : (int)rng_below(&random, 256));
      }
      if( rng_below(&random, 20)==0 ) memset(bytes + BLOOM_ENTRIES_HEADER_BYTES, rng_below(&random, 2) ? 0xff : 0, num_bytes - BLOOM_ENTRIES_HEADER_BYTES);
      if( rng_below(&random, 20)==0 ) rng_bytes(&random, bytes + BLOOM_ENTRIES_HEADER_BYTES, num_bytes - BLOOM_ENTRIES_HEADER_BYTES);
      set_checksum(bytes, num_bytes, stored->rowid);
      if( read_all_ways(bytes, num_bytes, stored->rowid, &random) ) num_whole++;
      else num_damaged++;
      free(bytes);
    }
    free_lists(&of);
  }
  assert_true(num_whole>round && num_damaged>round);
}

RUN_TESTS()
