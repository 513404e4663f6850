// Hashes alone: what each costs, how often two keys share 32 bits of it, and what that
// makes of LevelDB's layout.  It is why there is a second encoding, the last row.
//
//   hashes [--repeats N]
//
// Keys of four kinds:
//   random    16 hexadecimal digits in no order
//   names     45,402 account names, made of syllables
//   ids       numbers of 5 to 9 digits in no order, in decimal
//   numbered  'cust-%011d', every second number; those between are asked for
//
// `ns` is the median of alternated repeats over keys of a kind that lie one behind the
// other.  `equal` counts the keys whose lower 32 bits an earlier key has, of a million
// random keys, 45,402 names, 40,000 ids, a million numbered; about n^2 / 2^33 are
// expected: 116.4, 0.24, 0.19, 116.4.  The other columns are false positive rates at 10, 15
// and 20 bits per key: of LevelDB's layout, filled and tested by the lower 32 bits, and in
// the last row of Parquet's.  Filters hold a million random keys, 45,402 names, 80,000 ids,
// a million numbered; a million others of the kind are asked for.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "bench.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

extern "C" {
#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/hash.h"
#include "../../ext/core/leveldb/leveldb.h"
#include "../../ext/core/parquet/parquet.h"
}

namespace {

constexpr uint32_t kSeed = 0xbc9f1d34;  // LevelDB's, for those that take one
constexpr size_t kNumAsked = 1000000;

// ---- hashes -------------------------------------------------------------------

uint64_t Leveldb(const char* key, size_t n) { return bloom_leveldb_hash(reinterpret_cast<const uint8_t*>(key), n); }

uint32_t Load32(const char* p) {
  uint32_t word;
  std::memcpy(&word, p, 4);
  return word;
}

// MurmurHash2, 32 bits [Appleby 2008], little-endian.
uint64_t Murmur2(const char* key, size_t n) {
  constexpr uint32_t m = 0x5bd1e995;
  uint32_t h = kSeed ^ static_cast<uint32_t>(n);
  for (; n >= 4; key += 4, n -= 4) {
    uint32_t k = Load32(key) * m;
    k = (k ^ k >> 24) * m;
    h = h * m ^ k;
  }
  if (n) {
    uint32_t rest = 0;
    for (size_t i = 0; i < n; i++) rest |= static_cast<uint32_t>(static_cast<unsigned char>(key[i])) << 8 * i;
    h = (h ^ rest) * m;
  }
  h = (h ^ h >> 13) * m;
  return h ^ h >> 15;
}

// FNV-1a, 32 bits [Fowler, Noll, Vo].
uint64_t Fnv1a(const char* key, size_t n) {
  uint32_t h = 0x811c9dc5;
  for (size_t i = 0; i < n; i++) h = (h ^ static_cast<unsigned char>(key[i])) * 0x01000193u;
  return h;
}

uint64_t Xxh64(const char* key, size_t n) { return XXH64(key, n, 0); }
uint64_t Xxh3(const char* key, size_t n) { return XXH3_64bits(key, n); }

struct Hash {
  const char* name;
  uint64_t (*of)(const char*, size_t);
};
constexpr Hash kHashes[] = {
    {"LevelDB's", Leveldb}, {"MurmurHash2", Murmur2}, {"FNV-1a", Fnv1a}, {"XXH64", Xxh64}, {"XXH3", Xxh3},
};
constexpr int kNumHashes = static_cast<int>(std::size(kHashes));

// ---- keys ---------------------------------------------------------------------

std::string Printed(const char* format, unsigned long long number) {
  char text[32];
  return std::string(text, static_cast<size_t>(std::snprintf(text, sizeof(text), format, number)));
}

std::string Random(uint64_t i) { return Printed("%016llx", random_of(i)); }

// Two or three syllables, a dot or nothing, two more, and often a year or a small number.
std::string Name(uint64_t i) {
  static const char* const syllables[] = {"an", "ber", "ca", "da", "el", "fi", "gor", "ha", "in", "jo", "ka",
                                          "li", "mar", "na", "ol", "pe", "ra", "sa", "to", "ul", "vi", "wen"};
  uint64_t r = random_of(i);
  const auto pick = [&r](uint64_t n) {
    const uint64_t picked = r % n;
    r /= n;
    return picked;
  };
  std::string name;
  for (uint64_t left = 2 + pick(2); left; left--) name += syllables[pick(std::size(syllables))];
  if (pick(2)) name += '.';
  for (int left = 2; left; left--) name += syllables[pick(std::size(syllables))];
  const uint64_t kind = pick(3);
  if (kind == 1) name += std::to_string(1950 + pick(60));
  if (kind == 2) name += std::to_string(pick(100));
  return name;
}

std::string Id(uint64_t i) {
  const uint64_t r = random_of(i);
  static const uint64_t bounds[] = {10000, 100000, 1000000, 10000000, 100000000, 1000000000};
  const uint64_t low = bounds[(r >> 40) % 5], high = low * 10;
  return std::to_string(low + (r & 0xffffffffff) % (high - low));
}

std::string Numbered(uint64_t i) { return Printed("cust-%011llu", i); }

// Keys one behind the other.
struct Keys {
  std::string memory;
  std::vector<size_t> ends;

  size_t size() const { return ends.size(); }
  const char* key(size_t i) const { return memory.data() + (i ? ends[i - 1] : 0); }
  size_t length(size_t i) const { return ends[i] - (i ? ends[i - 1] : 0); }
  void Add(const std::string& key) {
    memory += key;
    ends.push_back(memory.size());
  }
};

struct Kind {
  const char* name;
  std::string (*write)(uint64_t);
  size_t num_compared, num_present;
  bool is_numbered;
};
constexpr Kind kKinds[] = {
    {"random", Random, 1000000, 1000000, false},
    {"names", Name, 45402, 45402, false},
    {"ids", Id, 40000, 80000, false},
    {"numbered", Numbered, 1000000, 1000000, true},
};

struct KeySets {
  Keys present, absent;
};

// All different: present ones first, in the order in which they are made.
KeySets MakeKeys(const Kind& kind) {
  KeySets sets;
  if (kind.is_numbered) {
    for (uint64_t i = 0; i < kind.num_present; i++) sets.present.Add(kind.write(2 * i));
    for (uint64_t i = 0; i < kNumAsked; i++) sets.absent.Add(kind.write(2 * i + 1));
    return sets;
  }
  const size_t num_wanted = kind.num_present + kNumAsked;
  std::vector<std::pair<std::string, uint64_t>> all;
  for (uint64_t i = 0; i < 2 * num_wanted; i++) all.emplace_back(kind.write(i), i);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first == b.first; }), all.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (all.size() < num_wanted) {
    std::fprintf(stderr, "hashes: too few %s\n", kind.name);
    std::exit(1);
  }
  for (size_t i = 0; i < num_wanted; i++) (i < kind.num_present ? sets.present : sets.absent).Add(all[i].first);
  return sets;
}

// ---- what is measured ----------------------------------------------------------

template <typename Value>
std::vector<Value> Hashes(const Hash& hash, const Keys& keys, size_t n) {
  std::vector<Value> hashes(n);
  for (size_t i = 0; i < n; i++) hashes[i] = static_cast<Value>(hash.of(keys.key(i), keys.length(i)));
  return hashes;
}

size_t NumEqual(std::vector<uint32_t> hashes) {
  const size_t n = hashes.size();
  std::sort(hashes.begin(), hashes.end());
  return n - static_cast<size_t>(std::unique(hashes.begin(), hashes.end()) - hashes.begin());
}

template <typename Value>
double FalsePositiveRate(const bloom_encoding& encoding, const std::vector<Value>& present,
                         const std::vector<Value>& absent, int bits_per_key) {
  bloom_shape shape;
  if (encoding.writer->shape(present.size(), bits_per_key, &shape) != BLOOM_OK) std::exit(1);
  std::vector<uint8_t> bytes(shape.num_bytes);
  encoding.writer->clear(&shape, bytes.data());
  const bloom_hash_run run = {nullptr, present.data(), present.size()};
  encoding.writer->add(&shape, bytes.data(), &run);
  bloom_filter filter;
  bloom_filter_read(bytes.data(), bytes.size(), &filter);
  size_t num_accepted = 0;
  for (Value hash : present) {
    if (!encoding.may_contain(&filter, hash)) std::exit(1);
  }
  for (Value hash : absent) num_accepted += static_cast<size_t>(encoding.may_contain(&filter, hash));
  return static_cast<double>(num_accepted) / static_cast<double>(absent.size());
}

volatile uint64_t sink;

// The median of ns a key, by hash.
std::vector<double> Times(const Keys& keys, int repeats) {
  const size_t n = std::min<size_t>(keys.size(), 40000);  // they stay in L2
  constexpr int kLoops = 25;
  std::vector<double> ns[kNumHashes];
  std::vector<double> medians;
  int order[kNumHashes];
  for (int i = 0; i < kNumHashes; i++) order[i] = i;
  for (int repeat = -1; repeat < repeats; repeat++) {  // the first is not timed
    shuffle(order, kNumHashes);
    for (int h : order) {
      const double begin = cpu_ns();
      uint64_t sum = 0;
      for (int loop = 0; loop < kLoops; loop++) {
        for (size_t i = 0; i < n; i++) sum += kHashes[h].of(keys.key(i), keys.length(i));
      }
      sink = sum;
      if (repeat >= 0) ns[h].push_back((cpu_ns() - begin) / static_cast<double>(n * kLoops));
    }
  }
  for (const auto& times : ns) medians.push_back(quantile(times.data(), static_cast<int>(times.size()), 0.5));
  return medians;
}

void Report(FILE* raw, const Kind& kind, const char* hash, double ns, size_t num_equal, const double rates[3]) {
  std::printf("%-9s %-20s %6.2f %8zu %10.4f %% %10.4f %% %10.4f %%\n", kind.name, hash, ns, num_equal, 100 * rates[0],
              100 * rates[1], 100 * rates[2]);
  if (raw) {
    std::fprintf(raw, "%s\t%s\t%.3f\t%zu\t%zu\t%zu\t%.4e\t%.4e\t%.4e\n", kind.name, hash, ns, kind.num_compared,
                 num_equal, kind.num_present, rates[0], rates[1], rates[2]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc == 3 && std::strcmp(argv[1], "--repeats") == 0 ? std::atoi(argv[2]) : 7;
  if ((argc != 1 && argc != 3) || repeats < 1 || repeats > MAX_REPEATS) {
    std::fprintf(stderr, "usage: hashes [--repeats N]\n");
    return 1;
  }
  const std::string note = "xxHash " + std::to_string(XXH_VERSION_NUMBER);
  FILE* raw = open_results("hashes", nullptr, note.c_str(),
                           "keys\thash\tns\tnum_compared\tnum_equal\tnum_present\tfpr_10_bits\tfpr_15_bits\tfpr_20_bits");
  constexpr int kBits[] = {10, 15, 20};
  std::printf("%-9s %-20s %6s %8s %12s %12s %12s\n", "keys", "hash", "ns", "equal", "10 bits", "15 bits", "20 bits");
  for (const Kind& kind : kKinds) {
    const KeySets keys = MakeKeys(kind);
    const std::vector<double> times = Times(keys.present, repeats);
    double rates[3];
    for (int h = 0; h < kNumHashes; h++) {
      const auto present = Hashes<uint32_t>(kHashes[h], keys.present, keys.present.size());
      const auto absent = Hashes<uint32_t>(kHashes[h], keys.absent, keys.absent.size());
      for (int b = 0; b < 3; b++) rates[b] = FalsePositiveRate(bloom_encoding_leveldb, present, absent, kBits[b]);
      Report(raw, kind, kHashes[h].name, times[static_cast<size_t>(h)],
             NumEqual(Hashes<uint32_t>(kHashes[h], keys.present, kind.num_compared)), rates);
    }
    const auto present = Hashes<uint64_t>(kHashes[3], keys.present, keys.present.size());
    const auto absent = Hashes<uint64_t>(kHashes[3], keys.absent, keys.absent.size());
    for (int b = 0; b < 3; b++) rates[b] = FalsePositiveRate(bloom_encoding_parquet, present, absent, kBits[b]);
    Report(raw, kind, "XXH64, in Parquet's", times[3], NumEqual(Hashes<uint32_t>(kHashes[3], keys.present, kind.num_compared)),
           rates);
  }
  if (raw) std::fclose(raw);
  return 0;
}
