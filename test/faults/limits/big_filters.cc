// Filters near and past 2^32 bits (512 MiB), beside live LevelDB: positions have 32 bits,
// so that from there on bits are never set.
//
//     big_filters EXTENSION
//
// LevelDB is given so many keys that its filter has that size, all of them copies of a few;
// the extension builds the same filter of these few with that capacity.  Takes 2 GB of
// memory.  Prints `N passed, N failed` last.
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <memory>
#include <string>
#include <vector>

#include "../../lib/sqlite_test.h"

static const int kBitsPerKey = 100;
static const int kNumKeys = 64; // different ones: the texts 1 .. 64

#define check(is_right, what, num_keys) tally((is_right)!=0, "with a capacity of %zu: %s", num_keys, what)

static std::string leveldb_filter(size_t capacity){
  std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(kBitsPerKey));
  std::vector<std::string> texts;
  for(int i=1; i<=kNumKeys; i++) texts.push_back(std::to_string(i));
  std::vector<leveldb::Slice> keys;
  keys.reserve(capacity);
  for(size_t i=0; i<capacity; i++) keys.push_back(texts[i % kNumKeys]);
  std::string filter;
  policy->CreateFilter(keys.data(), static_cast<int>(capacity), &filter);
  return filter;
}

// Row 1: the filter, and answers for keys 1 .. 2 * kNumKeys as text.
static void compare(sqlite3 *db, size_t capacity, bool is_too_long){
  std::string expected = leveldb_filter(capacity);
  const sqlite3_int64 num_bits =
    is_too_long ? static_cast<sqlite3_int64>(1) << 32 : static_cast<sqlite3_int64>(expected.size() - 1) * 8;
  std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(kBitsPerKey));
  sqlite3_stmt *statement;
  must(sqlite3_prepare_v2(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?1)"
                              " SELECT bloom_build(i, ?2, ?3) FROM n", -1, &statement, NULL), db);
  sqlite3_bind_int(statement, 1, kNumKeys);
  sqlite3_bind_int(statement, 2, kBitsPerKey);
  sqlite3_bind_int64(statement, 3, static_cast<sqlite3_int64>(capacity));
  if( sqlite3_step(statement)!=SQLITE_ROW ) must(sqlite3_reset(statement), db);
  const void *filter = sqlite3_column_blob(statement, 0);
  const size_t num_bytes = static_cast<size_t>(sqlite3_column_bytes(statement, 0));
  check(num_bytes==expected.size() && memcmp(filter, expected.data(), num_bytes)==0,
        "bloom_build should return LevelDB's bytes", capacity);
  sqlite3_finalize(statement);

  // LevelDB's filter, bound without a copy.
  must(sqlite3_prepare_v2(db, "SELECT num_bits, bits_set, note, bloom_may_contain(?1, ?2) FROM bloom_info(?1)",
                          -1, &statement, NULL), db);
  must(sqlite3_bind_blob64(statement, 1, expected.data(), expected.size(), SQLITE_STATIC), db);
  for(int i=1; i<=2*kNumKeys; i++){
    const std::string key = std::to_string(i);
    sqlite3_bind_int(statement, 2, i);
    if( sqlite3_step(statement)!=SQLITE_ROW ) must(sqlite3_reset(statement), db);
    check((sqlite3_column_int(statement, 3)!=0)==policy->KeyMayMatch(key, expected), "bloom_may_contain should answer as LevelDB",
          capacity);
    if( i==1 ){
      const char *note = reinterpret_cast<const char *>(sqlite3_column_text(statement, 2));
      check(sqlite3_column_int64(statement, 0)==num_bits, "num_bits", capacity);
      check(sqlite3_column_int64(statement, 1)>kNumKeys, "bits_set", capacity);
      check(is_too_long ? note && strstr(note, "2^32") : note==NULL, "bloom_info's note", capacity);
      sqlite3_reset(statement);
      must(sqlite3_finalize(statement), db);
      must(sqlite3_prepare_v2(db, "SELECT 0, 0, 0, bloom_may_contain(?1, ?2)", -1, &statement, NULL), db);
      must(sqlite3_bind_blob64(statement, 1, expected.data(), expected.size(), SQLITE_STATIC), db);
    }else{
      sqlite3_reset(statement);
    }
  }
  sqlite3_finalize(statement);

  // With 0.8 of its bits set, and those that no probe reaches: two things are unusual.  So many keys
  // meet one hash in 18.
  const size_t reached = static_cast<size_t>(num_bits) / 8;
  memset(&expected[0], 0xff, expected.size() - 1);
  memset(&expected[0], 0, reached / 5);
  must(sqlite3_prepare_v2(db, "SELECT abs(fill_ratio - 0.8) < 1e-8 AND expected_fpr BETWEEN 0.053 AND 0.058, note"
                              " FROM bloom_info(?1)", -1, &statement, NULL), db);
  must(sqlite3_bind_blob64(statement, 1, expected.data(), expected.size(), SQLITE_STATIC), db);
  if( sqlite3_step(statement)!=SQLITE_ROW ) must(sqlite3_reset(statement), db);
  check(sqlite3_column_int(statement, 0)==1, "the fill ratio and the rate of the bits that are reached", capacity);
  check(strstr(reinterpret_cast<const char *>(sqlite3_column_text(statement, 1)), is_too_long ? "2^32" : "nearly saturated"),
        "the note on a filter that is nearly saturated", capacity);
  sqlite3_finalize(statement);
}

int main(int num_args, char **args){
  // 4,294,967,200 bits, the largest below 2^32 at 100 bits per key; 2^32 + 8; 4,800,000,000.
  static const size_t capacities[] = {42949673, 42949672, 48000000};
  if( num_args!=2 ) return 2;
  sqlite3 *db = open_in_memory();
  must(sqlite3_load_extension(db, args[1], NULL, NULL), db);
  for(size_t capacity : capacities) compare(db, capacity, capacity>42949672);
  sqlite3_close(db);
  printf("note: filters of 4,294,967,200, 4,294,967,304 and 4,800,000,000 bits\n");
  return end_of_tests();
}
