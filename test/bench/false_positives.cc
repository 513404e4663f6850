// The false positive rate by bits per key and number of keys: in theory, as
// LevelDB's library gives it, and as ours does.  The last two must coincide, and
// the filters must be the same bytes, or this program fails.
//
//   false_positives quick|full
//
// quick: 1e3 to 1e6 keys; full: to 1e8 (1e8 keys take 3.5 GB).  Keys are decimal
// numbers; each rate is measured with keys that are not in the filter, over
// several filters where these are small.
//
// The rates of a million keys in 64 filters, parted by bloom_partition(), as well.
//
// Also the sizes and rates that a published evaluation of this format gives for
// some 80,000 random numbers of 1 to 9 digits.
#ifndef __OPTIMIZE__
#error "a benchmark without optimisation tells nothing: build with -O2 or -O3"
#endif

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

extern "C" {
#include "../../ext/core/encoding_leveldb.h"
#include "../../ext/core/leveldb_hash.h"
#include "../../ext/core/partition.h"
}

namespace {

FILE* raw = nullptr;  // $BENCH_RESULTS-false-positives.tsv

[[noreturn]] void Die(const char* what) {
  std::fprintf(stderr, "false_positives: %s\n", what);
  std::exit(1);
}

// Keys end to end in one block of memory.
struct Keys {
  std::string memory;
  std::vector<leveldb::Slice> slices;
};

Keys Render(const std::vector<uint32_t>& numbers) {
  Keys keys;
  std::vector<uint8_t> lengths;
  keys.memory.reserve(numbers.size() * 9);
  lengths.reserve(numbers.size());
  for (uint32_t number : numbers) {
    char text[16];
    const int length = std::snprintf(text, sizeof(text), "%u", number);
    keys.memory.append(text, static_cast<size_t>(length));
    lengths.push_back(static_cast<uint8_t>(length));
  }
  keys.slices.reserve(numbers.size());
  const char* at = keys.memory.data();
  for (uint8_t length : lengths) {
    keys.slices.emplace_back(at, length);
    at += length;
  }
  return keys;
}

std::vector<uint32_t> Sequence(size_t first, size_t count) {
  std::vector<uint32_t> numbers(count);
  for (size_t i = 0; i < count; i++) numbers[i] = static_cast<uint32_t>(first + i);
  return numbers;
}

bloom_digest Digest(const leveldb::Slice& key) {
  return bloom_leveldb_hash(reinterpret_cast<const uint8_t*>(key.data()), key.size());
}

struct Counts {
  size_t num_bytes = 0, num_probes = 0, asked = 0, leveldb = 0, ours = 0;
};

// Builds both filters of the keys and asks both for the absent ones.
void Compare(const Keys& keys, const Keys& absent, int bits_per_key, Counts* counts) {
  const std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(bits_per_key));
  std::string theirs;
  policy->CreateFilter(keys.slices.data(), static_cast<int>(keys.slices.size()), &theirs);

  bloom_shape shape;
  if (bloom_leveldb_shape(keys.slices.size(), bits_per_key, &shape) != BLOOM_OK) Die("too big");
  std::vector<uint8_t> bytes(shape.num_bytes);
  bloom_leveldb_clear(&shape, bytes.data());
  std::vector<bloom_digest> digests;
  for (size_t i = 0; i < keys.slices.size(); i++) {
    digests.push_back(Digest(keys.slices[i]));
    if (digests.size() == 4096 || i + 1 == keys.slices.size()) {
      const bloom_digest_run run = {nullptr, digests.data(), digests.size()};
      bloom_leveldb_add(&shape, bytes.data(), &run);
      digests.clear();
    }
  }
  if (theirs.size() != bytes.size() || std::memcmp(theirs.data(), bytes.data(), bytes.size()) != 0) {
    Die("our filter is not LevelDB's");
  }
  bloom_filter filter;
  bloom_filter_read(bytes.data(), bytes.size(), &filter);
  for (const leveldb::Slice& key : absent.slices) {
    counts->leveldb += policy->KeyMayMatch(key, theirs);
    counts->ours += static_cast<size_t>(bloom_filter_may_contain(&filter, Digest(key)));
  }
  counts->asked += absent.slices.size();
  counts->num_bytes = bytes.size();
  counts->num_probes = shape.num_probes;
  if (counts->leveldb != counts->ours) Die("our false positives are not LevelDB's");
}

double Theory(const Counts& c, size_t num_keys) {
  const double k = static_cast<double>(c.num_probes);
  const double bits = 8.0 * static_cast<double>(c.num_bytes - 1);
  return std::pow(1 - std::exp(-k * static_cast<double>(num_keys) / bits), k);
}

void Report(size_t num_keys, int bits_per_key, const Counts& c, const char* keys = "one filter") {
  const double asked = static_cast<double>(c.asked), theory = Theory(c, num_keys);
  const double leveldb = static_cast<double>(c.leveldb) / asked, ours = static_cast<double>(c.ours) / asked;
  std::printf("%11zu %5d %11zu %9.4f %% %9.4f %% %9.4f %% %8.2f\n", num_keys, bits_per_key, c.num_bytes,
              100 * theory, 100 * leveldb, 100 * ours, leveldb / theory);
  std::fflush(stdout);
  if (raw) {
    std::fprintf(raw, "%zu\t%d\t%zu\t%zu\t%.4e\t%.4e\t%.4e\t%s\n", num_keys, bits_per_key, c.num_bytes, c.asked,
                 theory, leveldb, ours, keys);
  }
}

constexpr char kHeading[] = "   num_keys  bits   num_bytes      theory     LevelDB        ours  over theory";

void MeasureGrid(size_t largest, size_t num_asked) {
  for (size_t num_keys = 1000; num_keys <= largest; num_keys *= 10) {
    const size_t num_filters = std::max<size_t>(1, 100000 / num_keys);
    std::vector<Keys> keys, absent;
    for (size_t i = 0; i < num_filters; i++) {
      keys.push_back(Render(Sequence(i * num_keys, num_keys)));
      // Above all keys that any filter holds.
      absent.push_back(Render(Sequence(200000000 + i * (num_asked / num_filters), num_asked / num_filters)));
    }
    for (int bits_per_key = 4; bits_per_key <= 24;
         bits_per_key += num_keys < 100000000 ? 1 : bits_per_key < 12 ? 2 : 4) {
      Counts counts;
      for (size_t i = 0; i < num_filters; i++) Compare(keys[i], absent[i], bits_per_key, &counts);
      Report(num_keys, bits_per_key, counts);
    }
  }
}

std::vector<Keys> Part(const Keys& keys, size_t num_parts) {
  std::vector<Keys> parts(num_parts);
  for (const leveldb::Slice& key : keys.slices) {
    parts[bloom_partition_of(reinterpret_cast<const uint8_t*>(key.data()), key.size(), num_parts)]
        .slices.push_back(key);
  }
  return parts;
}

void MeasureParts(size_t num_asked) {
  constexpr size_t kKeys = 1000000, kParts = 64;
  const Keys keys = Render(Sequence(0, kKeys)), absent = Render(Sequence(200000000, num_asked));
  const std::vector<Keys> key_parts = Part(keys, kParts), absent_parts = Part(absent, kParts);
  std::printf("\n1,000,000 keys in 64 filters\n%s\n", kHeading);
  for (int bits_per_key : {5, 8, 10, 12, 16, 20}) {
    Counts counts;
    size_t num_bytes = 0;
    for (size_t i = 0; i < kParts; i++) {
      Compare(key_parts[i], absent_parts[i], bits_per_key, &counts);
      num_bytes += counts.num_bytes;
    }
    counts.num_bytes = num_bytes;
    Report(kKeys, bits_per_key, counts, "64 filters");
  }
}

void MeasurePublished() {
  // 80,000 different numbers below 10^9, and others: SplitMix64 [Steele, Lea, Flood 2014].
  uint64_t state = 2024;
  std::unordered_set<uint32_t> seen;
  std::vector<uint32_t> present, absent;
  while (absent.size() < 4000000) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    // As many numbers of one digit as there are, and so on: first how long, then which.
    const int digits = 1 + static_cast<int>((z >> 32) % 9);
    const uint32_t number = static_cast<uint32_t>((z & 0xffffffff) % static_cast<uint64_t>(std::pow(10, digits)));
    if (!seen.insert(number).second) continue;
    (present.size() < 80000 ? present : absent).push_back(number);
  }
  const Keys keys = Render(present), others = Render(absent);
  const struct { int bits_per_key; size_t num_bytes; double percent; } published[] = {
      {10, 100001, 1.0}, {15, 150001, 0.09}, {20, 200001, 0.007}};
  std::printf("\n80,000 random numbers of 1 to 9 digits, beside the published figures\n%s   published\n", kHeading);
  for (const auto& p : published) {
    Counts counts;
    Compare(keys, others, p.bits_per_key, &counts);
    Report(80000, p.bits_per_key, counts, "random digits");
    std::printf("%72s %zu bytes, %.3g %%\n", "", p.num_bytes, p.percent);
    if (counts.num_bytes != p.num_bytes) Die("the size is not the published one");
  }
}

void Plot() {
  const char* plots = std::getenv("BENCH_PLOTS");
  const char* results = std::getenv("BENCH_RESULTS");
  if (!plots || !results) return;
  FILE* gnuplot = popen("gnuplot", "w");
  if (!gnuplot) return;
  std::fprintf(gnuplot,
               "set terminal svg size 900,600 font 'sans,14' background rgb 'white'\n"
               "set output '%s/false-positives.svg'\nset datafile separator '\t'\nset grid\nset logscale y\nset format y '10^{%%T}'\n"
               "set title 'False positive rate: theory (lines), LevelDB (circles), bloom (crosses)'\n"
               "set xlabel 'bits per key'\nset ylabel 'false positive rate'\nset xrange [3.5:24.5]\n"
               "f = '%s-false-positives.tsv'\n"
               "plot f using ($1==1000 ? $2 : NaN):5 every ::1 with lines lc 'black' title 'theory'",
               plots, results);
  const char* names[] = {"1e3", "1e4", "1e5", "1e6", "1e7", "1e8"};
  for (int i = 0; i < 6; i++) {
    std::fprintf(gnuplot, ", f using ($1==%s && strcol(8) eq 'one filter' ? $2 : NaN):6 with points pt 6 ps 1.2 lc %d title '%s keys'"
                 ", f using ($1==%s && strcol(8) eq 'one filter' ? $2 : NaN):7 with points pt 2 ps 0.6 lc %d notitle",
                 names[i], i + 1, names[i], names[i], i + 1);
  }
  std::fprintf(gnuplot, "\n");
  if (pclose(gnuplot) == 0) std::printf("wrote build/bench/false-positives.svg\n");
}

}  // namespace

int main(int argc, char** argv) {
  const bool full = argc == 2 && std::strcmp(argv[1], "full") == 0;
  if (argc != 2 || (!full && std::strcmp(argv[1], "quick") != 0)) Die("usage: false_positives quick|full");
  if (const char* results = std::getenv("BENCH_RESULTS")) {
    raw = std::fopen((std::string(results) + "-false-positives.tsv").c_str(), "w");
    if (!raw) Die("cannot write the results");
    const char* build = std::getenv("BENCH_BUILD");
    std::fprintf(raw, "# LevelDB %d.%d; %s\n"
                 "num_keys\tbits_per_key\tnum_bytes\tnum_asked\ttheory\tleveldb\tours\twhat\n",
                 leveldb::kMajorVersion, leveldb::kMinorVersion, build ? build : "");
  }
  std::printf("%s\n", kHeading);
  MeasureGrid(full ? 100000000 : 1000000, full ? 4000000 : 1000000);
  MeasureParts(full ? 4000000 : 1000000);
  MeasurePublished();
  if (raw) std::fclose(raw);
  Plot();
  return 0;
}
