/*
** LevelDB table files: what LevelDB wrote, damaged copies of that, and files that no program writes.
*/
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "../../ext/core/bytes.h"
#include "../../ext/core/leveldb/files.h"
#include "../../ext/core/leveldb/leveldb.h"
#include "golden_ldb_files.h"

/* -- Checksums and variable integers --------------------------------------------------- */

TEST(crc32c_gives_the_published_answers){
  uint8_t bytes[32];
  int i;
  /* RFC 3720, appendix B.4. */
  memset(bytes, 0, sizeof(bytes));
  assert_int_equal(bloom_crc32c(bytes, 32), 0x8a9136aau);
  memset(bytes, 0xff, sizeof(bytes));
  assert_int_equal(bloom_crc32c(bytes, 32), 0x62a8ab43u);
  for(i=0; i<32; i++) bytes[i] = (uint8_t)i;
  assert_int_equal(bloom_crc32c(bytes, 32), 0x46dd794eu);
  for(i=0; i<32; i++) bytes[i] = (uint8_t)(31 - i);
  assert_int_equal(bloom_crc32c(bytes, 32), 0x113fdb5cu);
  /* The check value of the CRC catalogues. */
  assert_int_equal(bloom_crc32c((const uint8_t*)"123456789", 9), 0xe3069283u);
  assert_int_equal(bloom_crc32c(NULL, 0), 0);
  assert_int_equal(bloom_crc32c_mask(0), 0xa282ead8u);
  assert_int_equal(bloom_crc32c_mask(0x8000u), 0xa282ead9u);
}

/* The CRC of every byte, bit by bit. */
TEST(crc32c_of_every_byte){
  int i, bit;
  for(i=0; i<256; i++){
    const uint8_t byte = (uint8_t)i;
    uint32_t crc = UINT32_MAX ^ byte;
    for(bit=0; bit<8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    assert_int_equal(bloom_crc32c(&byte, 1), ~crc);
  }
}

TEST(varints_are_written_and_read){
  static const struct { uint64_t value; const char *hex; } cases[] = {
    { 0, "00" }, { 1, "01" }, { 127, "7f" }, { 128, "8001" }, { 300, "ac02" }, { 16383, "ff7f" }, { 16384, "808001" },
    { UINT32_MAX, "ffffffff0f" }, { (uint64_t)1 << 63, "80808080808080808001" }, { UINT64_MAX, "ffffffffffffffffff01" },
  };
  size_t i, cut;
  for(i=0; i<COUNT_OF(cases); i++){
    uint8_t bytes[BLOOM_VARINT64_MAX_BYTES];
    const size_t num_bytes = bloom_varint64_write(cases[i].value, bytes);
    uint8_t *exact = exact_copy(bytes, num_bytes);
    char *hex = hex_of(bytes, num_bytes);
    uint64_t value = 77;
    assert_string_equal(hex, cases[i].hex);
    for(cut=0; cut<num_bytes; cut++) assert_int_equal(bloom_varint64_read(exact, cut, &value), 0);
    assert_true(value==77);
    assert_int_equal(bloom_varint64_read(exact, num_bytes, &value), num_bytes);
    assert_true(value==cases[i].value);
    free(hex);
    free(exact);
  }
}

TEST(varints_that_do_not_end){
  static const uint8_t ones[12] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0};
  static const uint8_t high[10] = {128, 128, 128, 128, 128, 128, 128, 128, 128, 0x7f};
  uint64_t value = 77;
  assert_int_equal(bloom_varint64_read(ones, sizeof(ones), &value), 0);
  assert_int_equal(bloom_varint64_read(NULL, 0, &value), 0);
  assert_true(value==77);
  /* Ten bytes hold 70 bits: those past the 64th are dropped. */
  assert_int_equal(bloom_varint64_read(high, sizeof(high), &value), 10);
  assert_true(value==(uint64_t)1 << 63);
}

/* -- Files that LevelDB wrote --------------------------------------------------------- */

static const char *const all_golden[] = {
  golden_one_filter, golden_many_blocks, golden_no_filter, golden_other_policy, golden_no_keys
};

/* A whole file in memory that ends with it; free() it. */
static uint8_t *read_golden(const char *hex, bloom_ldb_file *file){
  size_t num_bytes;
  uint8_t *bytes = bytes_of(hex, &num_bytes);
  assert_null(bloom_ldb_file_read(bytes, num_bytes, file));
  return bytes;
}

static void check_policy(const bloom_ldb_file *file, const char *policy){
  assert_int_equal(file->policy_bytes, strlen(policy));
  assert_memory_equal(file->policy, policy, strlen(policy));
}

static int slot_has(const bloom_ldb_file *file, size_t number, const char *key){
  bloom_filter_slot slot;
  bloom_filter filter;
  bloom_filter_block_slot(&file->block, number, &slot);
  assert_false(slot.is_damaged);
  bloom_encoding_leveldb.read(slot.filter, slot.num_bytes, &filter);
  return bloom_encoding_leveldb.may_contain(&filter, bloom_encoding_leveldb.hash_bytes((const uint8_t*)key, strlen(key)));
}

TEST(tables_are_read){
  /* Data blocks begin at 0, 2240 and 4480. */
  static const char *const keys[] = {"a", "b", "c", "d", "e"};
  bloom_ldb_file file;
  size_t i;
  uint8_t *bytes = read_golden(golden_one_filter, &file);
  assert_null(file.note);
  check_policy(&file, BLOOM_LEVELDB_POLICY);
  assert_int_equal(file.block.num_slots, 1);
  assert_int_equal(file.block.base_lg, 11);
  assert_int_equal(file.block_bytes, 9 + 4 + 4 + 1);
  assert_true(slot_has(&file, 0, "hello") && slot_has(&file, 0, "world") && slot_has(&file, 0, "\xc3\xa9"));
  assert_false(slot_has(&file, 0, "absent"));
  free(bytes);

  bytes = read_golden(golden_many_blocks, &file);
  assert_null(file.note);
  assert_int_equal(file.block.num_slots, 3);
  for(i=0; i<COUNT_OF(keys); i++) assert_true(slot_has(&file, i/2, keys[i]));
  for(i=0; i<3; i++) assert_false(slot_has(&file, i, "absent"));
  free(bytes);

  bytes = read_golden(golden_no_keys, &file);
  assert_null(file.note);
  assert_int_equal(file.block.num_slots, 0);
  free(bytes);
}

TEST(tables_without_filters_are_told_apart){
  bloom_ldb_file file;
  uint8_t *bytes = read_golden(golden_no_filter, &file);
  assert_string_equal(file.note, BLOOM_LDB_NO_FILTER);
  assert_int_equal(file.policy_bytes, 0);
  free(bytes);
  bytes = read_golden(golden_other_policy, &file);
  assert_string_equal(file.note, BLOOM_LDB_OTHER_POLICY);
  check_policy(&file, "test.OtherPolicy");
  free(bytes);
}

TEST(tables_that_were_cut){
  size_t i, cut;
  for(i=0; i<COUNT_OF(all_golden); i++){
    bloom_ldb_file file;
    size_t num_bytes;
    uint8_t *bytes = bytes_of(all_golden[i], &num_bytes);
    for(cut=0; cut<num_bytes; cut++){
      uint8_t *exact = exact_copy(bytes, cut);
      assert_non_null(bloom_ldb_file_read(exact, cut, &file));
      free(exact);
      /* Without its beginning: the handles say other places. */
      exact = exact_copy(bytes + cut + 1, num_bytes - cut - 1);
      assert_non_null(bloom_ldb_file_read(exact, num_bytes - cut - 1, &file));
      free(exact);
    }
    free(bytes);
  }
}

/* Every flipped bit is found, but in what is not read: data blocks, the index block, and
** of the footer the index's handle and what fills it up. */
TEST(tables_with_a_flipped_bit){
  size_t i, bit;
  for(i=0; i<COUNT_OF(all_golden); i++){
    bloom_ldb_file file, flipped;
    uint8_t *bytes = read_golden(all_golden[i], &file);
    const size_t num_bytes = strlen(all_golden[i]) / 2;
    const uint8_t *footer = bytes + num_bytes - BLOOM_LDB_FOOTER_BYTES;
    uint64_t metaindex = 0, metaindex_bytes = 0;
    const size_t offset_bytes = bloom_varint64_read(footer, 40, &metaindex);
    const size_t handle_bytes = offset_bytes + bloom_varint64_read(footer + offset_bytes, 40, &metaindex_bytes);
    /* The filter block, if it is read, ends where the metaindex begins. */
    const size_t first_read = (size_t)metaindex
      - (file.note==NULL ? file.block_bytes + BLOOM_LDB_TRAILER_BYTES : 0);
    const size_t end_read = (size_t)(metaindex + metaindex_bytes) + BLOOM_LDB_TRAILER_BYTES;
    for(bit=0; bit<num_bytes*8; bit++){
      const size_t byte = bit/8;
      const int is_read = (byte>=first_read && byte<end_read) || byte>=num_bytes - 8
                       || (byte>=num_bytes - 48 && byte<num_bytes - 48 + handle_bytes);
      const char *wrong;
      bytes[byte] ^= (uint8_t)(1 << bit%8);
      wrong = bloom_ldb_file_read(bytes, num_bytes, &flipped);
      if( is_read ){
        assert_non_null(wrong);
      }else if( wrong==NULL ){
        assert_ptr_equal(flipped.note, file.note);
        assert_int_equal(flipped.block.num_slots, file.block.num_slots);
      }else{
        /* The handle of the index does not end any more. */
        assert_true(byte>=num_bytes - 48);
        assert_string_equal(wrong, "its footer is damaged");
      }
      bytes[byte] ^= (uint8_t)(1 << bit%8);
    }
    free(bytes);
  }
}

/* -- Files that no program writes ------------------------------------------------------ */

#define MAX_MADE_BYTES 1000

typedef struct made_file {
  uint8_t bytes[MAX_MADE_BYTES];
  size_t num_bytes;
} made_file;

static void put_bytes(made_file *file, const void *bytes, size_t num_bytes){
  assert_true(file->num_bytes + num_bytes<=MAX_MADE_BYTES);
  memcpy(file->bytes + file->num_bytes, bytes, num_bytes);
  file->num_bytes += num_bytes;
}

static void put_varint(made_file *file, uint64_t value){
  uint8_t bytes[BLOOM_VARINT64_MAX_BYTES];
  put_bytes(file, bytes, bloom_varint64_write(value, bytes));
}

static void put_fixed32(made_file *file, uint32_t value){
  uint8_t bytes[4];
  bloom_store32_le(bytes, value);
  put_bytes(file, bytes, 4);
}

/* The trailer of a block that began at this offset. */
static void put_trailer(made_file *file, size_t begin, uint8_t compression){
  put_bytes(file, &compression, 1);
  put_fixed32(file, bloom_crc32c_mask(bloom_crc32c(file->bytes + begin, file->num_bytes - begin)));
}

static void put_footer(made_file *file, uint64_t offset, uint64_t num_bytes){
  const size_t begin = file->num_bytes;
  static const uint8_t zeros[40];
  put_varint(file, offset);
  put_varint(file, num_bytes);
  put_varint(file, 0);
  put_varint(file, 0);
  put_bytes(file, zeros, begin + 40 - file->num_bytes);
  put_fixed32(file, 0x8b80fb57u);
  put_fixed32(file, 0xdb477524u);
}

static void put_entry(made_file *file, uint64_t num_shared, const char *rest, const made_file *value){
  put_varint(file, num_shared);
  put_varint(file, strlen(rest));
  put_varint(file, value->num_bytes);
  put_bytes(file, rest, strlen(rest));
  put_bytes(file, value->bytes, value->num_bytes);
}

/* A file with this metaindex alone, after a filter block without slots, which lies at 0
** and has 5 bytes. */
static const char *read_with_metaindex(const made_file *metaindex, uint8_t compression, uint8_t filter_compression,
                                       bloom_ldb_file *file){
  made_file made = {{0}, 0};
  uint8_t *exact;
  const char *wrong;
  size_t begin;
  put_bytes(&made, "\0\0\0\0\x0b", 5);
  put_trailer(&made, 0, filter_compression);
  begin = made.num_bytes;
  put_bytes(&made, metaindex->bytes, metaindex->num_bytes);
  put_trailer(&made, begin, compression);
  put_footer(&made, begin, metaindex->num_bytes);
  exact = exact_copy(made.bytes, made.num_bytes);
  wrong = bloom_ldb_file_read(exact, made.num_bytes, file);
  free(exact);
  return wrong;
}

static made_file handle_of(uint64_t offset, uint64_t num_bytes){
  made_file handle = {{0}, 0};
  put_varint(&handle, offset);
  put_varint(&handle, num_bytes);
  return handle;
}

/* The metaindex of one entry with the handle. */
static made_file usual_metaindex(uint64_t offset, uint64_t num_bytes){
  made_file metaindex = {{0}, 0};
  const made_file handle = handle_of(offset, num_bytes);
  put_entry(&metaindex, 0, "filter." BLOOM_LEVELDB_POLICY, &handle);
  put_fixed32(&metaindex, 0);
  put_fixed32(&metaindex, 1);
  return metaindex;
}

TEST(compressed_blocks){
  const made_file metaindex = usual_metaindex(0, 5);
  bloom_ldb_file file;
  assert_null(read_with_metaindex(&metaindex, 0, 0, &file));
  assert_null(file.note);
  assert_null(read_with_metaindex(&metaindex, 1, 0, &file));
  assert_string_equal(file.note, BLOOM_LDB_METAINDEX_COMPRESSED);
  assert_int_equal(file.policy_bytes, 0);
  assert_null(read_with_metaindex(&metaindex, 2, 0, &file));
  assert_string_equal(file.note, BLOOM_LDB_METAINDEX_COMPRESSED);
  assert_null(read_with_metaindex(&metaindex, 0, 1, &file));
  assert_string_equal(file.note, BLOOM_LDB_FILTER_COMPRESSED);
  check_policy(&file, BLOOM_LEVELDB_POLICY);
}

/* A filter block of empty slots at this offset, after data blocks. */
TEST(filters_that_are_too_few){
  static const struct { uint64_t offset; size_t num_slots; uint8_t base_lg; int is_too_few; } cases[] = {
    { 0, 0, 11, 0 }, { 1, 0, 11, 1 }, { 127, 1, 6, 0 }, { 128, 1, 6, 1 }, { 128, 2, 6, 0 }, { 128, 1, 7, 0 }, { 128, 1, 64, 0 },
  };
  static const uint8_t zeros[128];
  size_t i;
  for(i=0; i<COUNT_OF(cases); i++){
    const size_t block_bytes = 4*cases[i].num_slots + 5;
    const made_file metaindex = usual_metaindex(cases[i].offset, block_bytes);
    made_file made = {{0}, 0};
    bloom_ldb_file file;
    size_t begin;
    put_bytes(&made, zeros, (size_t)cases[i].offset);
    put_bytes(&made, zeros, block_bytes - 1);
    put_bytes(&made, &cases[i].base_lg, 1);
    put_trailer(&made, (size_t)cases[i].offset, 0);
    begin = made.num_bytes;
    put_bytes(&made, metaindex.bytes, metaindex.num_bytes);
    put_trailer(&made, begin, 0);
    put_footer(&made, begin, metaindex.num_bytes);
    assert_null(bloom_ldb_file_read(made.bytes, made.num_bytes, &file));
    if( cases[i].is_too_few ) assert_string_equal(file.note, BLOOM_LDB_TOO_FEW_FILTERS);
    else assert_null(file.note);
  }
}

TEST(many_entries){
  const made_file ours = handle_of(0, 5), theirs = handle_of(1, 2);
  made_file metaindex = {{0}, 0};
  bloom_ldb_file file;
  put_entry(&metaindex, 0, "aaa", &theirs);
  put_entry(&metaindex, 0, "filter.a", &theirs);
  put_entry(&metaindex, 7, "leveldb.BuiltinBloomFilter", &theirs);
  put_entry(&metaindex, 33, "2", &ours);
  put_entry(&metaindex, 34, "2", &theirs);
  put_fixed32(&metaindex, 0);
  put_fixed32(&metaindex, 1);
  assert_null(read_with_metaindex(&metaindex, 0, 0, &file));
  assert_null(file.note);
  check_policy(&file, BLOOM_LEVELDB_POLICY);
  assert_int_equal(file.block_bytes, 5);
}

/* A name that does not fit is cut, and equals no shorter one. */
TEST(long_names){
  char name[200];
  const made_file handle = handle_of(0, 5);
  made_file metaindex = {{0}, 0};
  bloom_ldb_file file;
  memset(name, 'x', sizeof(name));
  memcpy(name, "filter.", 7);
  name[sizeof(name)-1] = 0;
  put_entry(&metaindex, 0, name, &handle);
  put_entry(&metaindex, 199, "y", &handle);
  put_entry(&metaindex, 150, "z", &handle);
  put_fixed32(&metaindex, 0);
  put_fixed32(&metaindex, 1);
  assert_null(read_with_metaindex(&metaindex, 0, 0, &file));
  assert_string_equal(file.note, BLOOM_LDB_OTHER_POLICY);
  assert_int_equal(file.policy_bytes, BLOOM_POLICY_MAX_BYTES);
  assert_memory_equal(file.policy, name + 7, BLOOM_POLICY_MAX_BYTES);
}

TEST(damaged_metaindexes){
  static const struct { const char *hex; int is_damaged; } cases[] = {
    /* No number of offsets, too many of them. */
    {"", 1}, {"000000", 1}, {"01000000", 1}, {"0000000002000000", 1}, {"00000000ffffffff", 1},
    {"0000000000000040", 1}, {"00000000", 0}, {"0000000001000000", 0},
    /* An entry that shares what is not there, that ends in the middle, that is too long. */
    {"00010061" "010100" "62" "00000000", 0}, {"01010061" "00000000", 1},
    {"00010061" "020100" "62" "00000000", 1}, {"0001" "00000000", 1}, {"00" "00000000", 1},
    /* Keys as long as those of a policy, and as LevelDB's own. */
    {"000800" "66696c7465723a61" "00000000", 0},
    {"002200" "66696c7465723a6c6576656c64622e4275696c74696e426c6f6f6d46696c74657232" "00000000", 0},
    {"80" "00000000", 1}, {"000500" "61" "00000000", 1}, {"000105" "61" "00000000", 1},
    {"00ffffffffffffffffff0100" "61" "00000000", 1}, {"0001ffffffffffffffffff01" "61" "00000000", 1},
    {"ffffffffffffffffff010100" "61" "00000000", 1},
  };
  size_t i;
  for(i=0; i<COUNT_OF(cases); i++){
    made_file metaindex = {{0}, 0};
    bloom_ldb_file file;
    size_t num_bytes;
    uint8_t *bytes = bytes_of(cases[i].hex, &num_bytes);
    put_bytes(&metaindex, bytes, num_bytes);
    free(bytes);
    if( cases[i].is_damaged ){
      assert_string_equal(read_with_metaindex(&metaindex, 0, 0, &file), "the metaindex block is damaged");
    }else{
      assert_null(read_with_metaindex(&metaindex, 0, 0, &file));
      assert_string_equal(file.note, BLOOM_LDB_NO_FILTER);
    }
  }
}

TEST(handles_that_lead_nowhere){
  static const uint64_t sizes[] = {0, 1, 4, 5, 6, 100, 2000, UINT32_MAX, (uint64_t)1 << 63, UINT64_MAX - 5, UINT64_MAX - 4, UINT64_MAX};
  size_t i, j;
  for(i=0; i<COUNT_OF(sizes); i++){
    for(j=0; j<COUNT_OF(sizes); j++){
      const made_file metaindex = usual_metaindex(sizes[i], sizes[j]);
      made_file made = {{0}, 0};
      bloom_ldb_file file;
      uint8_t *exact;
      const char *wrong = read_with_metaindex(&metaindex, 0, 0, &file);
      if( sizes[i]==0 && sizes[j]==5 ) assert_null(wrong);
      else assert_non_null(wrong);
      put_footer(&made, sizes[i], sizes[j]);
      exact = exact_copy(made.bytes, made.num_bytes);
      assert_string_equal(bloom_ldb_file_read(exact, made.num_bytes, &file), "the metaindex block lies outside of the file");
      free(exact);
    }
  }
}

TEST(damage_is_named){
  made_file metaindex = usual_metaindex(0, 4), made = {{0}, 0};
  bloom_ldb_file file = {.block_bytes = 77};
  assert_string_equal(bloom_ldb_file_read(NULL, 0, &file), "it has fewer than 48 bytes");
  assert_string_equal(bloom_ldb_file_read(made.bytes, 48, &file), "its last 8 bytes are not LevelDB's magic number");
  assert_string_equal(read_with_metaindex(&metaindex, 0, 0, &file), "the filter block does not have its checksum");
  metaindex = usual_metaindex(0, 5000);
  assert_string_equal(read_with_metaindex(&metaindex, 0, 0, &file), "the filter block lies outside of the file");
  /* The entry's value is no handle. */
  metaindex.num_bytes = 0;
  put_entry(&metaindex, 0, "filter." BLOOM_LEVELDB_POLICY, &(made_file){{0x80}, 1});
  put_fixed32(&metaindex, 0);
  assert_string_equal(read_with_metaindex(&metaindex, 0, 0, &file), "the metaindex block is damaged");
  metaindex.num_bytes = 0;
  put_entry(&metaindex, 0, "filter." BLOOM_LEVELDB_POLICY, &(made_file){{0x05}, 1});
  put_fixed32(&metaindex, 0);
  assert_string_equal(read_with_metaindex(&metaindex, 0, 0, &file), "the metaindex block is damaged");
  /* The footer's handles do not end. */
  put_footer(&made, 0, 4);
  memset(made.bytes, 0xff, 40);
  assert_string_equal(bloom_ldb_file_read(made.bytes, made.num_bytes, &file), "its footer is damaged");
  memset(made.bytes, 0, 2);
  assert_string_equal(bloom_ldb_file_read(made.bytes, made.num_bytes, &file), "its footer is damaged");
  made.num_bytes = 0;
  /* A metaindex without its checksum, then one that has it but holds no filter block. */
  put_bytes(&made, "\0\0\0\0\0\0\0\0\0", 9);
  put_footer(&made, 0, 4);
  assert_string_equal(bloom_ldb_file_read(made.bytes, made.num_bytes, &file), "the metaindex block does not have its checksum");
  made.num_bytes = 0;
  put_bytes(&made, "\xff", 1);
  put_trailer(&made, 0, 0);
  metaindex = usual_metaindex(0, 1);
  put_bytes(&made, metaindex.bytes, metaindex.num_bytes);
  put_trailer(&made, 6, 0);
  put_footer(&made, 6, metaindex.num_bytes);
  assert_string_equal(bloom_ldb_file_read(made.bytes, made.num_bytes, &file), "the filter block is damaged");
  assert_int_equal(file.block_bytes, 77);
}

RUN_TESTS()
