/*
** Real LevelDB files, and what bloom reads in them and writes for them.
**
**   leveldb_files write FOLDER NUM_KEYS     databases and table files, by the installed library
**   leveldb_files check EXTENSION FOLDER    every table file below FOLDER, through SQL
**   leveldb_files golden                    test/core/golden_ldb_files.h, on standard output
**
** Of each table file the library itself says which keys its data blocks have and where they
** begin.  Then, on bloom loaded into SQLite:
**
** (1) the filters of bloom_ldb() are those of bloom_filter_block() on the filter block,
**     and every data block's filter contains all its keys;
** (2) bloom_filter_block_build() over the keys in any order is the filter block that the
**     library wrote, byte for byte;
** (3) a filter that covers the whole file is bloom_build() over its keys.
**
** A folder's name says what is in it: bits_per_key is the number after "bits", 10 where
** there is none; in "raw" folders are tables of TableBuilder, whose keys are bare.  Prints
** `N passed, N failed` last.
*/
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <leveldb/comparator.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/iterator.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>
#include <sqlite3.h>

#include "../../lib/test.h"

namespace fs = std::filesystem;

static void must(const leveldb::Status &status){
  if( status.ok() ) return;
  std::fprintf(stderr, "leveldb_files: %s\n", status.ToString().c_str());
  std::exit(1);
}

/* -- Keys ---------------------------------------------------------------------------- */

/* Distinct for each number.  Binary keys have any bytes, the others are UTF-8, letters of
** one to four bytes. */
static std::string key_of(uint64_t number, bool is_binary){
  static const char *const letters[] = {"a", "Z", "0", "\xc3\xa9", "\xe2\x99\xa5", "\xf0\x9f\x8c\xb1", "-", "user:"};
  std::mt19937_64 random(number);
  std::string key;
  for(size_t i = random() % 12; i; i--){
    if( is_binary ) key += static_cast<char>(random());
    else key += letters[random() % std::size(letters)];
  }
  if( !is_binary ) return key + std::to_string(number);
  for(int i=0; i<4; i++) key += static_cast<char>(number >> (8*i));
  return key;
}

static std::string value_of(uint64_t number){
  std::mt19937_64 random(number);
  std::string value;
  /* Half of it compresses. */
  for(size_t i = random() % 30; i; i--) value += static_cast<char>(random());
  return value + std::string(random() % 30, 'v');
}

/* -- Writing ------------------------------------------------------------------------- */

struct spec {
  int bits_per_key;
  size_t block_size;
  bool is_compressed, is_binary;
  std::string name() const {
    return std::string(is_binary ? "binary" : "utf8") + (block_size>1000000 ? "-one-filter" : "") + "-block"
      + std::to_string(block_size) + (is_compressed ? "-snappy" : "-raw-bytes") + "-bits" + std::to_string(bits_per_key);
  }
};

static void write_database(const std::string &folder, const spec &s, uint64_t num_keys){
  leveldb::Options options;
  std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(s.bits_per_key));
  leveldb::DB *opened = nullptr;
  options.create_if_missing = options.error_if_exists = true;
  options.filter_policy = policy.get();
  options.block_size = s.block_size;
  options.compression = s.is_compressed ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  must(leveldb::DB::Open(options, folder, &opened));
  std::unique_ptr<leveldb::DB> db(opened);
  const leveldb::Snapshot *snapshot = nullptr;
  for(uint64_t i=0; i<num_keys; i++){
    must(db->Put({}, key_of(i, s.is_binary), value_of(i)));
    /* A second version of a key, and a deletion, which tables keep while a snapshot needs
    ** the first: a key counts twice then. */
    if( i==num_keys/2 ) snapshot = db->GetSnapshot();
    if( i>num_keys/2 && i%10==0 ) must(db->Put({}, key_of(i - num_keys/2, s.is_binary), "again"));
    if( i>num_keys/2 && i%100==1 ) must(db->Delete({}, key_of(i - num_keys/2, s.is_binary)));
  }
  db->CompactRange(nullptr, nullptr);
  db->ReleaseSnapshot(snapshot);
}

/* Another's filters, as RocksDB or an application may have them. */
class OtherPolicy : public leveldb::FilterPolicy {
  const char *Name() const override { return "test.OtherPolicy"; }
  void CreateFilter(const leveldb::Slice *, int num_keys, std::string *filter) const override {
    filter->append("filter of " + std::to_string(num_keys));
  }
  bool KeyMayMatch(const leveldb::Slice &, const leveldb::Slice &) const override { return true; }
};

class MemoryFile : public leveldb::WritableFile {
public:
  std::string bytes;
private:
  leveldb::Status Append(const leveldb::Slice &data) override {
    bytes.append(data.data(), data.size());
    return {};
  }
  leveldb::Status Close() override { return {}; }
  leveldb::Status Flush() override { return {}; }
  leveldb::Status Sync() override { return {}; }
};

/* A table of these keys, each with a value of value_bytes. */
static std::string table_of(std::vector<std::string> keys, size_t value_bytes, const leveldb::FilterPolicy *policy,
                            size_t block_size){
  leveldb::Options options;
  MemoryFile file;
  options.filter_policy = policy;
  options.block_size = block_size;
  options.compression = leveldb::kNoCompression;
  leveldb::TableBuilder builder(options, &file);
  std::sort(keys.begin(), keys.end());
  for(const std::string &key : keys) builder.Add(key, std::string(value_bytes, 'v'));
  must(builder.Finish());
  return file.bytes;
}

static std::vector<std::string> keys_below(uint64_t num_keys, bool is_binary){
  std::vector<std::string> keys;
  for(uint64_t i=0; i<num_keys; i++) keys.push_back(key_of(i, is_binary));
  return keys;
}

static void write_all(const std::string &folder, uint64_t num_keys){
  static const spec specs[] = {
    {10, 4096, true, false},      {10, 4096, false, true},
    {10, 16 << 20, true, true},   {10, 16 << 20, false, false},
    {10, 1024, false, false},     {1, 4096, true, true},
    {16, 16 << 20, false, true},  {44, 65536, true, false},
  };
  fs::create_directories(folder);
  for(const spec &s : specs) write_database(folder + "/" + s.name(), s, num_keys);
  /* Tables alone: filters of every size, offsets that skip many slots. */
  for(int bits_per_key : {1, 2, 9, 10, 20, 43, 44, 100}){
    std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(bits_per_key));
    const std::string raw = folder + "/raw-bits" + std::to_string(bits_per_key);
    fs::create_directories(raw);
    for(uint64_t n : {uint64_t(0), uint64_t(1), uint64_t(3), uint64_t(1000)}){
      for(size_t block_size : {size_t(1), size_t(300), size_t(5000), size_t(1) << 24}){
        for(size_t value_bytes : {size_t(0), size_t(100), size_t(9000)}){
          if( n * value_bytes>1000000 ) continue;
          std::ofstream(raw + "/" + std::to_string(n) + "-" + std::to_string(block_size) + "-" + std::to_string(value_bytes)
                        + ".ldb", std::ios::binary)
            << table_of(keys_below(n, n%2), value_bytes, policy.get(), block_size);
        }
      }
    }
  }
}

/* -- A table by the library's own word ----------------------------------------------- */

/* The order of a database's tables: a key, then 8 bytes of its version, newest first. */
class InternalComparator : public leveldb::Comparator {
  static leveldb::Slice user_key(const leveldb::Slice &key){ return leveldb::Slice(key.data(), key.size() - 8); }
  static uint64_t version(const leveldb::Slice &key){
    uint64_t number = 0;
    for(int i=7; i>=0; i--) number = number << 8 | static_cast<uint8_t>(key.data()[key.size() - 8 + static_cast<size_t>(i)]);
    return number;
  }
  const char *Name() const override { return "leveldb.InternalKeyComparator"; }
  int Compare(const leveldb::Slice &a, const leveldb::Slice &b) const override {
    const int order = user_key(a).compare(user_key(b));
    if( order ) return order;
    return version(a)>version(b) ? -1 : version(a)<version(b);
  }
  void FindShortestSeparator(std::string *, const leveldb::Slice &) const override {}
  void FindShortSuccessor(std::string *) const override {}
};

struct table_key {
  uint64_t block_offset;
  std::string key;
};

static std::vector<table_key> keys_of_table(const std::string &path, bool is_raw){
  static const InternalComparator internal;
  leveldb::Options options;
  leveldb::RandomAccessFile *opened_file = nullptr;
  leveldb::Table *opened = nullptr;
  std::vector<table_key> keys;
  if( !is_raw ) options.comparator = &internal;
  options.paranoid_checks = true;
  must(leveldb::Env::Default()->NewRandomAccessFile(path, &opened_file));
  std::unique_ptr<leveldb::RandomAccessFile> file(opened_file);
  must(leveldb::Table::Open(options, file.get(), fs::file_size(path), &opened));
  std::unique_ptr<leveldb::Table> table(opened);
  std::unique_ptr<leveldb::Iterator> i(table->NewIterator({}));
  for(i->SeekToFirst(); i->Valid(); i->Next()){
    /* Of a key that is there this is where its data block begins. */
    const uint64_t offset = table->ApproximateOffsetOf(i->key());
    keys.push_back({offset, std::string(i->key().data(), i->key().size() - (is_raw ? 0 : 8))});
  }
  must(i->status());
  return keys;
}

/* -- The filter block, by hand (doc/table_format.md) --------------------------------- */

static uint64_t varint(const std::string &bytes, size_t *at){
  uint64_t number = 0;
  for(int shift=0; ; shift+=7){
    const uint8_t byte = static_cast<uint8_t>(bytes.at((*at)++));
    number |= uint64_t(byte & 0x7f) << shift;
    if( byte<0x80 ) return number;
  }
}

struct filter_block {
  uint64_t offset; /* in the file: where the data blocks end */
  std::string bytes;
  bool is_there;
};

/* Its metaindex has one entry at most: LevelDB writes no others. */
static filter_block filter_block_of(const std::string &file){
  size_t at = file.size() - 48;
  const uint64_t metaindex = varint(file, &at);
  size_t entry = metaindex;
  varint(file, &entry);
  const uint64_t key_bytes = varint(file, &entry);
  varint(file, &entry);
  size_t value = entry + key_bytes;
  if( file.substr(entry, key_bytes)!="filter.leveldb.BuiltinBloomFilter2" ) return {0, "", false};
  const uint64_t offset = varint(file, &value);
  const uint64_t num_bytes = varint(file, &value);
  return {offset, file.substr(offset, num_bytes), true};
}

/* -- SQL ----------------------------------------------------------------------------- */

static sqlite3 *db;
static long num_tables, num_keys_tested, num_one_filter;

static void fail_sqlite(const char *sql){
  std::fprintf(stderr, "leveldb_files: %s: %s\n", sql, sqlite3_errmsg(db));
  std::exit(1);
}

static void execute(const char *sql){
  if( sqlite3_exec(db, sql, nullptr, nullptr, nullptr)!=SQLITE_OK ) fail_sqlite(sql);
}

static void bind_bytes(sqlite3_stmt *statement, int number, const std::string &bytes){
  sqlite3_bind_blob64(statement, number, bytes.data(), bytes.size(), SQLITE_STATIC);
}

static sqlite3_stmt *prepare(const char *sql){
  sqlite3_stmt *statement = nullptr;
  if( sqlite3_prepare_v2(db, sql, -1, &statement, nullptr)!=SQLITE_OK ) fail_sqlite(sql);
  return statement;
}

static void step_to_end(sqlite3_stmt *statement){
  if( sqlite3_step(statement)!=SQLITE_DONE ) fail_sqlite(sqlite3_sql(statement));
  sqlite3_reset(statement);
}

/* The statement's one value as bytes; ?1 file, ?2 block, ?3 bits_per_key, ?4 where the data
** blocks end, as many as it has. */
static std::string answer(const char *sql, const std::string &file, const filter_block &block, int bits_per_key){
  sqlite3_stmt *statement = prepare(sql);
  std::string value = "NULL";
  const int num_parameters = sqlite3_bind_parameter_count(statement);
  if( num_parameters>=1 ) bind_bytes(statement, 1, file);
  if( num_parameters>=2 ) bind_bytes(statement, 2, block.bytes);
  if( num_parameters>=3 ) sqlite3_bind_int(statement, 3, bits_per_key);
  if( num_parameters>=4 ) sqlite3_bind_int64(statement, 4, static_cast<sqlite3_int64>(block.offset));
  if( sqlite3_step(statement)!=SQLITE_ROW ) fail_sqlite(sql);
  if( sqlite3_column_type(statement, 0)!=SQLITE_NULL ){
    value.assign(static_cast<const char*>(sqlite3_column_blob(statement, 0)), static_cast<size_t>(sqlite3_column_bytes(statement, 0)));
  }
  sqlite3_finalize(statement);
  return value;
}

static void expect(const std::string &path, const char *what, bool is_right){
  tally(is_right, "%s: %s", path.c_str(), what);
}

/* Keys into SQL: UTF-8 as TEXT, others as BLOBs. */
static void insert_keys(const std::vector<table_key> &keys, bool is_text){
  sqlite3_stmt *insert = prepare("INSERT INTO keys VALUES (?1, ?2)");
  execute("BEGIN; DELETE FROM keys; DELETE FROM slots");
  for(const table_key &k : keys){
    sqlite3_bind_int64(insert, 1, static_cast<sqlite3_int64>(k.block_offset));
    if( is_text ) sqlite3_bind_text64(insert, 2, k.key.data(), k.key.size(), SQLITE_STATIC, SQLITE_UTF8);
    else bind_bytes(insert, 2, k.key);
    step_to_end(insert);
  }
  sqlite3_finalize(insert);
  execute("COMMIT");
}

static void check_table(const std::string &path, int bits_per_key, bool is_raw, bool is_text, bool is_one_filter){
  std::ifstream stream(path, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const std::vector<table_key> keys = keys_of_table(path, is_raw);
  const filter_block block = filter_block_of(file);
  expect(path, "no filter of LevelDB's", block.is_there);
  insert_keys(keys, is_text);
  sqlite3_stmt *insert = prepare("INSERT INTO slots SELECT slot, first_offset, last_offset, filter, note, policy FROM bloom_ldb(?1)");
  bind_bytes(insert, 1, file);
  step_to_end(insert);
  sqlite3_finalize(insert);

  expect(path, "bloom_ldb() and bloom_filter_block() differ", answer(
    "SELECT NOT EXISTS (SELECT slot, first_offset, last_offset, filter, note FROM slots EXCEPT SELECT * FROM bloom_filter_block(?2))"
    " AND (SELECT count(*) FROM slots) = (SELECT count(*) FROM bloom_filter_block(?2)) AND length(?1) > 0", file, block, 0)=="1");
  expect(path, "policy, note or offsets", answer(
    "SELECT count(*) = 0 FROM slots WHERE policy IS NOT 'leveldb.BuiltinBloomFilter2' OR note IS NOT NULL"
    " OR first_offset IS NOT slot << 11 OR last_offset IS NOT (slot << 11) + 2047", file, block, 0)=="1");
  expect(path, "a key that its data block's filter misses", answer(
    "SELECT count(*) = 0 FROM keys LEFT JOIN slots ON slot = block_offset >> 11"
    " WHERE bloom_may_contain(filter, key) IS NOT 1", file, block, 0)=="1");
  const std::string ours = answer(
    "SELECT bloom_filter_block_build(block_offset, key, ?3) FROM"
    " (SELECT * FROM (SELECT block_offset, key FROM keys UNION ALL SELECT ?4, NULL) ORDER BY random())"
    " WHERE length(?1) > 0 AND length(?2) > 0", file, block, bits_per_key);
  expect(path, "bloom_filter_block_build() returns another block", ours==block.bytes);
  if( is_one_filter ){
    num_one_filter++;
    expect(path, "bloom_build() gives another filter", answer(
      "SELECT (SELECT filter FROM slots WHERE slot = 0) = bloom_build(key, ?3)"
      " AND (SELECT sum(length(filter)) FROM slots WHERE slot > 0) IS NOT 1 FROM keys WHERE length(?1) > 0 AND length(?2) > 0",
      file, block, bits_per_key)=="1");
  }
  num_tables++;
  num_keys_tested += static_cast<long>(keys.size());
}

/* The number after "bits" in a name; 10 if there is none. */
static int bits_of_name(const std::string &name){
  const size_t at = name.find("bits");
  return at==std::string::npos ? 10 : std::atoi(name.c_str() + at + 4);
}

static int check_all(const char *extension, const std::string &folder){
  char *message = nullptr;
  if( sqlite3_open(":memory:", &db)!=SQLITE_OK ) return 1;
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
  if( sqlite3_load_extension(db, extension, nullptr, &message)!=SQLITE_OK ){
    std::fprintf(stderr, "leveldb_files: %s\n", message);
    return 1;
  }
  execute("CREATE TABLE keys(block_offset INTEGER, key); "
          "CREATE TABLE slots(slot INTEGER PRIMARY KEY, first_offset, last_offset, filter, note, policy)");
  for(const fs::directory_entry &database : fs::directory_iterator(folder)){
    const std::string name = database.path().filename();
    if( !database.is_directory() ) continue;
    for(const fs::directory_entry &entry : fs::directory_iterator(database.path())){
      const std::string extension_of_file = entry.path().extension();
      if( extension_of_file!=".ldb" && extension_of_file!=".sst" ) continue;
      check_table(entry.path(), bits_of_name(name), name.find("raw-bits")==0, name.find("utf8")==0,
                  name.find("one-filter")!=std::string::npos);
    }
  }
  sqlite3_close(db);
  std::printf("note: %ld tables, %ld of them with one filter, %ld keys\n", num_tables, num_one_filter, num_keys_tested);
  return end_of_tests();
}

/* -- Golden files -------------------------------------------------------------------- */

/* In hex, 64 bytes to a line; the long values by the name that they have in the file. */
static void print_golden(const char *name, const char *what, const std::string &file){
  const std::string value(1100, 'v');
  size_t column = 0;
  std::printf("\n/* %s */\nstatic const char %s[] =\n  \"", what, name);
  for(size_t i=0; i<file.size(); i++, column++){
    if( file.compare(i, value.size(), value)==0 ){
      std::printf("\" VALUE\n  \"");
      i += value.size();
      column = 0;
    }else if( column==64 ){
      std::printf("\"\n  \"");
      column = 0;
    }
    std::printf("%02x", static_cast<uint8_t>(file[i]));
  }
  std::printf("\";\n");
}

static int print_goldens(){
  std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  static const OtherPolicy other;
  const std::vector<std::string> few = {"hello", "world", "\xc3\xa9"};
  const std::vector<std::string> more = {"a", "b", "c", "d", "e"};
  std::printf("/*\n** Table files that LevelDB %d.%d wrote, in hex.  Written by\n"
              "**   leveldb_files golden >test/core/golden_ldb_files.h\n*/\n"
              "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n"
              "#define VALUE_10 \"76767676767676767676\"\n"
              "#define VALUE_110 VALUE_10 VALUE_10 VALUE_10 VALUE_10 VALUE_10 VALUE_10 VALUE_10 VALUE_10 VALUE_10 VALUE_10 VALUE_10\n"
              "#define VALUE VALUE_110 VALUE_110 VALUE_110 VALUE_110 VALUE_110 VALUE_110 VALUE_110 VALUE_110 VALUE_110 VALUE_110\n",
              leveldb::kMajorVersion, leveldb::kMinorVersion);
  print_golden("golden_one_filter", "hello, world and \\xc3\\xa9 in one data block, 10 bits a key.",
               table_of(few, 0, policy.get(), 16 << 20));
  print_golden("golden_many_blocks", "a to e with values of 1,100 bytes, two to a data block.",
               table_of(more, 1100, policy.get(), 2048));
  print_golden("golden_no_filter", "The first one's keys, without a policy.", table_of(few, 0, nullptr, 16 << 20));
  print_golden("golden_other_policy", "The same, by a policy of the name test.OtherPolicy.",
               table_of(few, 0, &other, 16 << 20));
  print_golden("golden_no_keys", "No keys at all.", table_of({}, 0, policy.get(), 16 << 20));
  return 0;
}

int main(int num_args, char **args){
  const std::string what = num_args>1 ? args[1] : "";
  if( what=="write" && num_args==4 ){
    write_all(args[2], std::strtoull(args[3], nullptr, 10));
    return 0;
  }
  if( what=="check" && num_args==4 ) return check_all(args[2], args[3]);
  if( what=="golden" && num_args==2 ) return print_goldens();
  std::fprintf(stderr, "usage: leveldb_files write FOLDER NUM_KEYS | check EXTENSION FOLDER | golden\n");
  return 2;
}
