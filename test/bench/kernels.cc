// The core's kernels beside LevelDB's library and RocksDB's.
//
//   kernels [quick | full] [--repeats N]      quick: to 1e6 keys; full: to 5e7; else to 1e7
//
// Contestants take turns within a repeat, in an order drawn anew, so that a change of
// the machine's mood hits all of them; a short one runs once untimed before.  The table
// gives the median time per key and the median of the ratios to LevelDB within one
// repeat, each with its first and third quartile.  Times are the processor's.  Every
// filter of ours is compared with LevelDB's, byte for byte.
//
// `parquet` is our other encoding, at the same bits per key: another filter, of other
// bytes, so that only times compare.  It hashes an integer's 8 bytes, which are its key.
//
// Not all else is equal: ours is compiled here with the flags of the benchmark, its
// hash inlined into `bloom one`, whose filter was parsed before; LevelDB and RocksDB are
// the installed libraries, called once a key.
//
// Building is end to end: keys in memory -> filter bytes, our hashes' memory
// included.  Integers are decimal text for every contestant, rendered beforehand;
// `hash integer int64` is ours from the number itself, rendering included.
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#ifdef HAVE_ROCKSDB
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#endif

#include "bench.h"

extern "C" {
#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"
#include "../../ext/core/parquet/parquet.h"
}

#ifdef HAVE_ROCKSDB
// RocksDB's public headers only declare this interface; the first virtual
// functions as 7.8 has them.  FastLocalBloom is what NewBloomFilterPolicy()
// builds from format_version 5 on.
#if ROCKSDB_MAJOR == 7 && ROCKSDB_MINOR == 8
namespace rocksdb {
class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() {}
  virtual void AddKey(const Slice& key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buf) = 0;
};
}  // namespace rocksdb
#else
#undef HAVE_ROCKSDB
#endif
#endif

namespace {

constexpr int kBitsPerKey = 10;

// Keys in one block of memory, as a table's block or a column would hold them.
struct Keys {
  std::string memory;
  std::vector<leveldb::Slice> slices;
  std::vector<int64_t> integers;  // of decimal keys
};

// Keys number first, first+step, ... of an endless list without repetition.
Keys MakeKeys(bool decimal, size_t first, size_t n, size_t step = 1) {
  Keys keys;
  std::vector<size_t> ends;
  keys.memory.reserve(n * 16);
  for (size_t i = 0; i < n; i++) {
    char text[32];
    // Decimal: row numbers.  Text: an odd multiplier permutes, neighbours differ.
    const unsigned long long number = first + i * step;
    int length;
    if (decimal) {
      keys.integers.push_back(static_cast<int64_t>(number));
      length = std::snprintf(text, sizeof(text), "%llu", number);
    } else {
      length = std::snprintf(text, sizeof(text), "%016llx", number * 0x9e3779b97f4a7c15u);
    }
    keys.memory.append(text, length);
    ends.push_back(keys.memory.size());
  }
  size_t begin = 0;
  for (size_t end : ends) {
    const char* p = keys.memory.data() + begin;
    keys.slices.emplace_back(p, end - begin);
    begin = end;
  }
  return keys;
}

uint32_t Hash(const leveldb::Slice& key) {
  return bloom_leveldb_hash(reinterpret_cast<const uint8_t*>(key.data()), key.size());
}

struct Contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> ns;
  bool is_short = false;
};

double Quantile(const std::vector<double>& v, double share) {
  return quantile(v.data(), static_cast<int>(v.size()), share);
}

int repeats = 7;
FILE* raw = nullptr;

// Runs the contestants in turns; the first one is what ratios refer to.
void Race(const char* what, const char* key, size_t n, size_t ops, std::vector<Contestant> all) {
  // Short runs are repeated up to some milliseconds.
  const size_t loops = std::max<size_t>(1, 400000 / ops);
  const auto time = [&](const Contestant& c) {
    const double begin = cpu_ns();
    for (size_t i = 0; i < loops; i++) c.run();
    return cpu_ns() - begin;
  };
  std::vector<int> order(all.size());
  for (Contestant& c : all) c.is_short = time(c) < SHORT_NS;
  for (int repeat = 0; repeat < repeats; repeat++) {
    shuffle(order.data(), static_cast<int>(all.size()));
    for (int i : order) {
      Contestant& c = all[static_cast<size_t>(i)];
      if (c.is_short) c.run();
      c.ns.push_back(time(c) / static_cast<double>(ops * loops));
      if (raw) {
        std::fprintf(raw, "%s\t%s\t%zu\t%s\t%d\t%.3f\n", what, key, n, c.name.c_str(), repeat, c.ns.back());
      }
    }
  }
  for (const Contestant& c : all) {
    std::vector<double> ratios;
    for (size_t i = 0; i < c.ns.size(); i++) ratios.push_back(all[0].ns[i] / c.ns[i]);
    std::printf("%-12s %-7s %9zu  %-14s %8.2f  %6.2f-%-6.2f  %6.2fx  %5.2f-%-5.2f\n", what, key, n, c.name.c_str(),
                Quantile(c.ns, 0.5), Quantile(c.ns, 0.25), Quantile(c.ns, 0.75), Quantile(ratios, 0.5),
                Quantile(ratios, 0.25), Quantile(ratios, 0.75));
  }
  std::fflush(stdout);
}

// What hash_queue.c does: hashes in chunks of 65,536, then the filter.
struct OurFilter {
  bloom_shape shape{};
  uint8_t* bytes = nullptr;
  ~OurFilter() { std::free(bytes); }
};

// add(shape, bytes, runs) sets the bits.
template <typename Value, typename Hash, typename Add>
void BuildOurs(const bloom_encoding& encoding, size_t n, OurFilter* filter, Hash hash, Add add) {
  constexpr size_t kChunk = 65536;
  std::vector<std::unique_ptr<Value[]>> chunks;
  std::vector<bloom_hash_run> runs((n + kChunk - 1) / kChunk);
  for (size_t i = 0; i < runs.size(); i++) {
    const size_t begin = i * kChunk;
    const size_t num = std::min(kChunk, n - begin);
    Value* hashes = new Value[num];
    chunks.emplace_back(hashes);
    for (size_t k = 0; k < num; k++) hashes[k] = hash(begin + k);
    runs[i] = {i + 1 < runs.size() ? &runs[i + 1] : nullptr, hashes, num};
  }
  std::free(filter->bytes);
  encoding.shape(n, kBitsPerKey, &filter->shape);
  filter->bytes = static_cast<uint8_t*>(std::malloc(filter->shape.num_bytes));
  encoding.clear(&filter->shape, filter->bytes);
  add(filter, runs.data());
}

void BuildLeveldb(const bloom_leveldb_kernels* kernels, const Keys& keys, OurFilter* filter) {
  BuildOurs<uint32_t>(
      bloom_encoding_leveldb, keys.slices.size(), filter, [&](size_t i) { return Hash(keys.slices[i]); },
      [kernels](OurFilter* f, const bloom_hash_run* runs) {
        bloom_leveldb_add_by(kernels, &f->shape, f->bytes, runs);
      });
}

uint64_t ParquetHash(const Keys& keys, size_t i) {
  if (!keys.integers.empty()) return bloom_parquet_hash_int64(keys.integers[i]);
  const leveldb::Slice& key = keys.slices[i];
  return bloom_xxh64(reinterpret_cast<const uint8_t*>(key.data()), key.size());
}

void BuildParquet(const bloom_parquet_kernels* kernels, const Keys& keys, OurFilter* filter) {
  BuildOurs<uint64_t>(
      bloom_encoding_parquet, keys.slices.size(), filter, [&](size_t i) { return ParquetHash(keys, i); },
      [kernels](OurFilter* f, const bloom_hash_run* runs) {
        const uint64_t num_blocks = f->shape.num_slots;
        uint8_t* blocks = f->bytes + f->shape.num_bytes % BLOOM_SPLIT_BLOCK_BYTES;  // behind the header
        for (; runs; runs = runs->next) {
          kernels->add(blocks, num_blocks, static_cast<const uint64_t*>(runs->hashes), runs->num_hashes);
        }
      });
}

volatile size_t sink;

void Die(const char* message) {
  std::fprintf(stderr, "kernels: %s\n", message);
  std::exit(1);
}

void RaceBuild(bool decimal, size_t n) {
  static const leveldb::FilterPolicy* const policy = leveldb::NewBloomFilterPolicy(kBitsPerKey);
  const char* key = decimal ? "integer" : "text16";
  const Keys keys = MakeKeys(decimal, 1, n);
  std::string expected;
  policy->CreateFilter(keys.slices.data(), static_cast<int>(n), &expected);
  std::vector<Contestant> all;
  all.push_back({"leveldb", [&] {
    std::string dst;
    policy->CreateFilter(keys.slices.data(), static_cast<int>(n), &dst);
    sink = dst.size();
  }, {}});
#ifdef HAVE_ROCKSDB
  static const rocksdb::FilterPolicy* const rocks = rocksdb::NewBloomFilterPolicy(kBitsPerKey);
  static const rocksdb::BlockBasedTableOptions options;
  all.push_back({"rocksdb", [&] {
    std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        rocks->GetBuilderWithContext(rocksdb::FilterBuildingContext(options)));
    for (const leveldb::Slice& k : keys.slices) builder->AddKey(rocksdb::Slice(k.data(), k.size()));
    std::unique_ptr<const char[]> buffer;
    sink = builder->Finish(&buffer).size();
    if (sink < n * kBitsPerKey / 8) Die("RocksDB built something else");
  }, {}});
#endif
  for (size_t row = BLOOM_FIRST_KERNELS; row < BLOOM_NUM_KERNELS; row++) {
    const bloom_leveldb_kernels* kernels = &bloom_leveldb_all_kernels[row];
    OurFilter filter;
    BuildLeveldb(kernels, keys, &filter);
    if (filter.shape.num_bytes != expected.size() ||
        std::memcmp(filter.bytes, expected.data(), expected.size()) != 0) {
      Die("our filter is not LevelDB's");
    }
    all.push_back({std::string("bloom ") + kernels->name, [&keys, kernels] {
      OurFilter built;
      BuildLeveldb(kernels, keys, &built);
      sink = built.shape.num_bytes;
    }, {}});
  }
  for (size_t row = BLOOM_FIRST_KERNELS; row < BLOOM_NUM_KERNELS; row++) {
    const bloom_parquet_kernels* kernels = &bloom_parquet_all_kernels[row];
    all.push_back({std::string("parquet ") + kernels->name, [&keys, kernels] {
      OurFilter built;
      BuildParquet(kernels, keys, &built);
      sink = built.shape.num_bytes;
    }, {}});
  }
  Race("build", key, n, n, all);
}

void RaceProbe(bool decimal, size_t n) {
  static const leveldb::FilterPolicy* const policy = leveldb::NewBloomFilterPolicy(kBitsPerKey);
  const char* key = decimal ? "integer" : "text16";
  std::string bytes;
  OurFilter parquet_bytes;
  {
    const Keys keys = MakeKeys(decimal, 1, n);
    policy->CreateFilter(keys.slices.data(), static_cast<int>(n), &bytes);
    BuildParquet(&bloom_parquet_all_kernels[BLOOM_FIRST_KERNELS], keys, &parquet_bytes);
  }
  const leveldb::Slice slice(bytes);
  bloom_filter filter;
  bloom_filter_read(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &filter);
  bloom_filter parquet;
  bloom_filter_read(parquet_bytes.bytes, parquet_bytes.shape.num_bytes, &parquet);
  if (parquet.encoding != &bloom_encoding_parquet) Die("a filter of Parquet's is not read as one");
  constexpr size_t kProbes = 1000000;
  for (const char* kind : {"hits", "misses", "mixed"}) {
    // Hits are spread over all that the filter holds; mixed keys are a coin's toss.
    const size_t m = std::min(n, kProbes);
    const Keys hits = MakeKeys(decimal, 1, m, n / m);
    const Keys misses = MakeKeys(decimal, n + 1, m);
    std::vector<leveldb::Slice> probes;
    std::vector<int64_t> integers;
    size_t num_hits = 0;
    uint64_t coin = 88172645463325252u;
    for (size_t i = 0; i < m; i++) {
      coin ^= coin << 13, coin ^= coin >> 7, coin ^= coin << 17;  // xorshift64 [Marsaglia 2003]
      const Keys& keys = kind[0] == 'h' || (kind[1] == 'i' && kind[2] == 'x' && coin >> 63) ? hits : misses;
      probes.push_back(keys.slices[i]);
      if (decimal) integers.push_back(keys.integers[i]);
      num_hits += &keys == &hits;
    }
    size_t expected = 0;
    for (const leveldb::Slice& k : probes) expected += policy->KeyMayMatch(k, slice);
    const auto check = [expected](size_t found) { if (found != expected) Die("answers differ"); };
    std::vector<Contestant> all;
    all.push_back({"leveldb", [&] {
      size_t found = 0;
      for (const leveldb::Slice& k : probes) found += policy->KeyMayMatch(k, slice);
      check(found);
    }, {}});
    all.push_back({"bloom", [&] {
      size_t found = 0;
      for (const leveldb::Slice& k : probes) {
        found += filter.encoding->may_contain(&filter, filter.encoding->hash_bytes(reinterpret_cast<const uint8_t*>(k.data()), k.size()));
      }
      check(found);
    }, {}});
    all.push_back({"parquet", [&] {
      size_t found = 0;
      for (int64_t k : integers) found += parquet.encoding->may_contain(&parquet, parquet.encoding->hash_int64(k));
      if (!decimal) {
        for (const leveldb::Slice& k : probes) {
          found += parquet.encoding->may_contain(&parquet, parquet.encoding->hash_bytes(reinterpret_cast<const uint8_t*>(k.data()), k.size()));
        }
      }
      if (found < num_hits || found > num_hits + (m - num_hits) / 25 + 10) Die("Parquet's filter misses or is full");
    }, {}});
    Race((std::string("probe ") + kind).c_str(), key, n, m, all);
  }
}

void RaceHash(size_t n) {
  std::vector<uint32_t> hashes(n);
  for (int decimal = 0; decimal < 2; decimal++) {
    const Keys keys = MakeKeys(decimal, decimal ? 1000000 : 1, n);
    std::vector<Contestant> all;
    all.push_back({"text", [&] {
      uint32_t sum = 0;
      for (const leveldb::Slice& k : keys.slices) sum += Hash(k);
      sink = sum;
    }, {}});
    if (decimal) {
      all.push_back({"int64", [&] {
        uint32_t sum = 0;
        for (int64_t k : keys.integers) sum += bloom_leveldb_hash_int64(k);
        sink = sum;
      }, {}});
    }
    all.push_back({decimal ? "parquet int64" : "parquet", [&] {
      uint64_t sum = 0;
      for (size_t i = 0; i < n; i++) sum += ParquetHash(keys, i);
      sink = sum;
    }, {}});
    if (!decimal) {
      OurFilter filter;
      bloom_leveldb_shape(n, kBitsPerKey, &filter.shape);
      filter.bytes = static_cast<uint8_t*>(std::calloc(filter.shape.num_bytes, 1));
      for (size_t i = 0; i < n; i++) hashes[i] = Hash(keys.slices[i]);
      const bloom_hash_run run = {nullptr, hashes.data(), n};
      std::vector<Contestant> adders;
      for (size_t row = BLOOM_FIRST_KERNELS; row < BLOOM_NUM_KERNELS; row++) {
        const bloom_leveldb_kernels* kernels = &bloom_leveldb_all_kernels[row];
        adders.push_back({kernels->name, [&, kernels] {
          bloom_leveldb_add_by(kernels, &filter.shape, filter.bytes, &run);
        }, {}});
      }
      OurFilter parquet;
      std::vector<uint64_t> long_hashes(n);
      bloom_encoding_parquet.shape(n, kBitsPerKey, &parquet.shape);
      parquet.bytes = static_cast<uint8_t*>(std::calloc(parquet.shape.num_bytes, 1));
      for (size_t i = 0; i < n; i++) long_hashes[i] = ParquetHash(keys, i);
      for (size_t row = BLOOM_FIRST_KERNELS; row < BLOOM_NUM_KERNELS; row++) {
        const bloom_parquet_kernels* kernels = &bloom_parquet_all_kernels[row];
        adders.push_back({std::string("parquet ") + kernels->name, [&, kernels] {
          kernels->add(parquet.bytes + parquet.shape.num_bytes % BLOOM_SPLIT_BLOCK_BYTES, parquet.shape.num_slots,
                       long_hashes.data(), n);
        }, {}});
      }
      Race("set bits", "hash", n, n, adders);
    }
    Race("hash", decimal ? "integer" : "text16", n, n, all);
  }
}

}  // namespace

int main(int argc, char** argv) {
  size_t max_n = 10000000;
  for (int i = 1; i < argc; i++) {
    if (std::strcmp(argv[i], "quick") == 0) max_n = 1000000;
    else if (std::strcmp(argv[i], "full") == 0) max_n = 50000000;
    else if (std::strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) repeats = std::atoi(argv[++i]);
    else Die("usage: kernels [quick | full] [--repeats N]");
  }
  if (repeats < 1) Die("--repeats is at least 1");
  std::string note = std::string("best kernels here: ") + bloom_leveldb_all_kernels[BLOOM_FIRST_KERNELS].name + "; harness: g++ " __VERSION__;
  note += "; LevelDB " + std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion);
#ifdef HAVE_ROCKSDB
  note += ", RocksDB " + std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR);
#endif
  raw = open_results("kernels", nullptr, note.c_str(), "what\tkey\tn\tcontestant\trepeat\tns_per_key");
  std::printf("# %s\n# medians of %d alternated repeats, ns per key; quartiles; ratio to the first within a repeat; quartiles\n",
              note.c_str(), repeats);
  RaceHash(10000);
  RaceHash(1000000);
  for (size_t n : {size_t{10000}, size_t{100000}, size_t{1000000}, size_t{10000000}, size_t{50000000}}) {
    if (n > max_n) break;
    for (int decimal = 0; decimal < 2; decimal++) {
      RaceBuild(decimal, n);
      RaceProbe(decimal, n);
    }
  }
  if (raw) std::fclose(raw);
  return 0;
}
