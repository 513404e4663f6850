// The false positive rate by bits per key and number of keys: in theory, as
// LevelDB's library gives it, and as ours does.  The last two must coincide, key by
// key, and the filters must be the same bytes, or this program fails.
//
//   false_positives quick|full
//
// Keys of three kinds, since LevelDB's hash tells them apart:
//   hexadecimal  16 digits in no order: what theory is about
//   consecutive  0, 1, 2, ... in decimal: hashed nearly one to one among themselves;
//                asked for are every 61st number from 200,000,000 on
//   numbered     'cust-%011d', even numbers present, odd ones asked for: the worst kind
//
// Two theories: `textbook`, (1 - e^(-num_probes * num_keys / num_bits))^num_probes, for
// probes that are independent, and `model`, bloom_modelled_fpr() in
// ../../ext/core/leveldb/sizing.h, which knows of the 32-bit hash and of the probes made from it.
//
// `parquet` is our other encoding at the same bits per key, and its own model,
// bloom_parquet_modelled_fpr(): blocks that fill like bins, and no end of hashes.
//
// So many absent keys are asked for that the model expects 1,200 false positives, which
// gives a rate a standard error of 3 %; but from 1,000,000 to 50,000,000 (quick: from
// 100,000 to 4,000,000), and of numbered keys all that lie between the present ones,
// too few where their rate is low.  num_false_positives in the results tells.
// Filters of few keys differ: together they hold at least 1,000,000 (quick: 100,000).
//
// full, some 10 minutes and 4 GB: 1e3 to 1e8 hexadecimal keys, to 1e7 of the other kinds.
// quick, a minute: to 1e6.  Hexadecimal keys at 4..24 bits per key, from 1e7 keys on and
// of other kinds only at eight of these.
//
// Also the rates of a million consecutive numbers by which million is asked for, those
// of a million keys in 64 filters, parted by bloom_partition(), and the sizes and rates
// that a published evaluation of this format gives for some 80,000 random numbers of 1
// to 9 digits.
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bench.h"

extern "C" {
#include "../../ext/core/encodings.h"
#include "../../ext/core/leveldb/leveldb.h"
#include "../../ext/core/leveldb/hash.h"
#include "../../ext/core/parquet/hash.h"
#include "../../ext/core/parquet/parquet.h"
#include "../../ext/core/partition.h"
#include "../../ext/core/leveldb/sizing.h"
}

namespace {

struct Effort {
  size_t most_keys, most_kind_keys;  // of hexadecimal keys, of the other kinds
  size_t fewest_tested, most_tested;
  size_t fewest_keys;  // of all filters of one rate together
  size_t num_published;  // absent numbers
};
constexpr Effort kQuick = {1000000, 1000000, 100000, 4000000, 100000, 4000000};
constexpr Effort kFull = {100000000, 10000000, 1000000, 50000000, 1000000, 16000000};
constexpr double kEnoughFalsePositives = 1200;
constexpr size_t kChunk = 8192;  // keys made at a time

FILE* raw = nullptr;  // the file of results

[[noreturn]] void Die(const char* what) {
  std::fprintf(stderr, "false_positives: %s\n", what);
  std::exit(1);
}

constexpr size_t kMostChars = 16;

size_t WriteHexadecimal(uint64_t number, char* text) {
  const uint64_t mixed = random_of(number);
  for (int i = 0; i < 16; i++) text[i] = "0123456789abcdef"[mixed >> (60 - 4 * i) & 15];
  return 16;
}

size_t WriteDecimal(uint64_t number, char* text) {
  return static_cast<size_t>(std::to_chars(text, text + kMostChars, number).ptr - text);
}

size_t WriteNumbered(uint64_t number, char* text) {
  std::memcpy(text, "cust-", 5);
  for (int i = 15; i >= 5; i--, number /= 10) text[i] = static_cast<char>('0' + number % 10);
  return 16;
}

// Key i of those present is that of the number step * i, of those absent that of
// absent_step * i + first_absent.
struct Kind {
  const char* name;
  size_t (*write)(uint64_t number, char* text);
  uint64_t step, absent_step, first_absent;
  bool is_between;  // absent keys lie between the present ones: as many as these
};
constexpr Kind kKinds[] = {
    {"hexadecimal", WriteHexadecimal, 1, 1, uint64_t{1} << 40, false},
    {"consecutive", WriteDecimal, 1, 61, 200000000, false},
    {"numbered", WriteNumbered, 2, 2, 1, true},
};

constexpr int kFewBits[] = {4, 5, 8, 10, 12, 16, 20, 24};  // where there is no time for all

bool IsFewBits(int bits_per_key) {
  return std::find(std::begin(kFewBits), std::end(kFewBits), bits_per_key) != std::end(kFewBits);
}

const uint8_t* Bytes(const leveldb::Slice& key) { return reinterpret_cast<const uint8_t*>(key.data()); }

uint32_t Hash(const leveldb::Slice& key) { return bloom_leveldb_hash(Bytes(key), key.size()); }

// Keys end to end in one block of memory, each with its hashes.  Parquet's encoding hashes
// numbers as integers.
struct Keys {
  std::unique_ptr<char[]> memory;
  std::vector<leveldb::Slice> slices;
  std::vector<uint32_t> hashes;
  std::vector<uint64_t> parquet_hashes;

  Keys() = default;
  // number(i), i in 0..count-1, gives the number of key i.
  template <typename Number>
  Keys(size_t (*write)(uint64_t, char*), size_t count, Number number) : memory(new char[count * kMostChars]) {
    slices.reserve(count);
    hashes.reserve(count);
    parquet_hashes.reserve(count);
    char* at = memory.get();
    for (size_t i = 0; i < count; i++, at += slices.back().size()) {
      const leveldb::Slice key(at, write(number(i), at));
      Add(key, Hash(key), write == WriteDecimal ? bloom_parquet_hash_int64(static_cast<int64_t>(number(i)))
                                                  : bloom_parquet_hash_bytes(Bytes(key), key.size()));
    }
  }
  void Add(const leveldb::Slice& key, uint32_t hash, uint64_t parquet_hash) {
    slices.push_back(key);
    hashes.push_back(hash);
    parquet_hashes.push_back(parquet_hash);
  }
};

Keys Present(const Kind& kind, size_t count) {
  return Keys(kind.write, count, [&](size_t i) { return kind.step * i; });
}

Keys Absent(const Kind& kind, size_t first, size_t count) {
  return Keys(kind.write, count, [&](size_t i) { return kind.absent_step * (first + i) + kind.first_absent; });
}

// The keys of each partition; they stay where they are.
std::vector<Keys> Part(const Keys& keys, size_t num_parts) {
  std::vector<Keys> parts(num_parts);
  for (size_t i = 0; i < keys.slices.size(); i++) {
    const leveldb::Slice& key = keys.slices[i];
    parts[bloom_partition_of(Bytes(key), key.size(), num_parts)].Add(key, keys.hashes[i], keys.parquet_hashes[i]);
  }
  return parts;
}

// A rate, measured over num_filters filters of num_keys keys each.
struct Rate {
  std::string keys;  // which
  size_t num_filters, num_keys;
  int bits_per_key;
  bloom_shape shape;
  double textbook, model;
  double parquet_model;
  size_t tested = 0, leveldb = 0, ours = 0, parquet = 0;

  Rate(const std::string& keys, size_t num_filters, size_t num_keys, int bits_per_key)
      : keys(keys), num_filters(num_filters), num_keys(num_keys), bits_per_key(bits_per_key) {
    if (bloom_leveldb_shape(num_keys, bits_per_key, &shape) != BLOOM_OK) Die("too big");
    const double k = shape.num_probes;
    textbook = std::pow(1 - std::exp(-k * static_cast<double>(num_keys) / static_cast<double>(shape.num_bits)), k);
    model = bloom_modelled_fpr(&shape, num_keys);
    bloom_shape parquet_shape;
    if (bloom_encoding_parquet.writer->shape(num_keys, bits_per_key, &parquet_shape) != BLOOM_OK) Die("too big");
    parquet_model = bloom_parquet_modelled_fpr(num_keys, parquet_shape.num_slots);
  }

  // Absent keys for each filter.
  size_t NumToTest(const Effort& effort) const {
    const double enough = kEnoughFalsePositives / model;
    const double tested = std::clamp<double>(enough, effort.fewest_tested, effort.most_tested);
    return static_cast<size_t>(std::ceil(tested / static_cast<double>(num_filters)));
  }

  void Report() const {
    const double num = static_cast<double>(tested);
    const double leveldb_rate = static_cast<double>(leveldb) / num, ours_rate = static_cast<double>(ours) / num;
    const double parquet_rate = static_cast<double>(parquet) / num;
    std::printf("%9zu %8zu %5d %10zu %10zu %8.4f %% %8.4f %% %8.4f %% %8.4f %% %9.2f %8.4f %% %8.4f %%\n", num_keys, num_filters,
                bits_per_key, shape.num_bytes, tested, 100 * textbook, 100 * model, 100 * leveldb_rate,
                100 * ours_rate, ours_rate / model, 100 * parquet_rate, 100 * parquet_model);
    std::fflush(stdout);
    if (!raw) return;
    std::fprintf(raw, "%s\t%zu\t%zu\t%d\t%u\t%zu\t%zu\t%zu\t%.4e\t%.4e\t%.4e\t%.4e\t%.4e\t%.4e\n", keys.c_str(), num_keys,
                 num_filters, bits_per_key, shape.num_probes, shape.num_bytes, tested, ours, textbook, model,
                 leveldb_rate, ours_rate, parquet_rate, parquet_model);
  }
};

void Heading(const char* keys) {
  std::printf("\n%s\n"
              " num_keys  filters  bits  num_bytes     tested   textbook      model    LevelDB       ours  to model    parquet  its model\n", keys);
}

// The filters of the same keys by LevelDB and by us, and our other encoding's.
class Pair {
 public:
  Pair(const Keys& keys, size_t first, size_t count, int bits_per_key)
      : policy_(leveldb::NewBloomFilterPolicy(bits_per_key)) {
    policy_->CreateFilter(keys.slices.data() + first, static_cast<int>(count), &theirs_);

    bloom_shape shape;
    if (bloom_leveldb_shape(count, bits_per_key, &shape) != BLOOM_OK) Die("too big");
    ours_.resize(shape.num_bytes);
    bloom_leveldb_clear(&shape, ours_.data());
    const bloom_hash_run run = {nullptr, keys.hashes.data() + first, count};
    bloom_leveldb_add(&shape, ours_.data(), &run);
    if (theirs_.size() != ours_.size() || std::memcmp(theirs_.data(), ours_.data(), ours_.size()) != 0) {
      Die("our filter is not LevelDB's");
    }
    bloom_filter_read(ours_.data(), ours_.size(), &filter_);

    const bloom_encoding& encoding = bloom_encoding_parquet;
    if (encoding.writer->shape(count, bits_per_key, &shape) != BLOOM_OK) Die("too big");
    parquet_.resize(shape.num_bytes);
    encoding.writer->clear(&shape, parquet_.data());
    const bloom_hash_run parquet_run = {nullptr, keys.parquet_hashes.data() + first, count};
    encoding.writer->add(&shape, parquet_.data(), &parquet_run);
    bloom_filter_read(parquet_.data(), parquet_.size(), &parquet_filter_);
    if (parquet_filter_.encoding != &encoding) Die("a filter of Parquet's is not read as one");
  }

  void Test(const Keys& absent, Rate* rate) const {
    const size_t count = absent.slices.size();
    for (size_t i = 0; i < count; i++) {
      const bool leveldb = policy_->KeyMayMatch(absent.slices[i], theirs_);
      const bool ours = filter_.encoding->may_contain(&filter_, absent.hashes[i]) != 0;
      if (leveldb != ours) Die("our answer is not LevelDB's");
      rate->leveldb += leveldb;
      rate->ours += ours;
      rate->parquet += parquet_filter_.encoding->may_contain(&parquet_filter_, absent.parquet_hashes[i]);
    }
    rate->tested += count;
  }

 private:
  std::unique_ptr<const leveldb::FilterPolicy> policy_;
  std::string theirs_;
  std::vector<uint8_t> ours_, parquet_;
  bloom_filter filter_, parquet_filter_;
};

void MeasureGrid(const Kind& kind, const Effort& effort) {
  Heading(kind.name);
  const bool is_main = &kind == kKinds;
  const size_t most_keys = is_main ? effort.most_keys : effort.most_kind_keys;
  for (size_t num_keys = 1000; num_keys <= most_keys; num_keys *= 10) {
    const size_t num_filters = std::max<size_t>(1, effort.fewest_keys / num_keys);
    const Keys keys = Present(kind, num_keys * num_filters);
    for (int bits_per_key = 4; bits_per_key <= 24; bits_per_key++) {
      if ((!is_main || num_keys > 1000000) && !IsFewBits(bits_per_key)) continue;
      Rate rate(kind.name, num_filters, num_keys, bits_per_key);
      const size_t num_tested = kind.is_between ? num_keys : rate.NumToTest(effort);
      for (size_t f = 0; f < num_filters; f++) {
        const Pair pair(keys, f * num_keys, num_keys, bits_per_key);
        for (size_t i = 0; i < num_tested; i += kChunk) {
          pair.Test(Absent(kind, f * num_tested + i, std::min(kChunk, num_tested - i)), &rate);
        }
      }
      rate.Report();
    }
  }
}

// What other numbers have the hashes of consecutive ones is a matter of the range.
void MeasureRanges() {
  constexpr size_t kKeys = 1000000, kRanges = 20;
  constexpr int kBitsPerKey = 20;
  const auto consecutive = [](size_t first) {
    return Keys(WriteDecimal, kKeys, [&](size_t i) { return first + i; });
  };
  const Keys keys = consecutive(0);
  const Pair pair(keys, 0, kKeys, kBitsPerKey);
  Heading("consecutive, 0 to 999,999; asked for are the next twenty million, one by one");
  for (size_t range = 1; range <= kRanges; range++) {
    Rate rate("consecutive, asked from " + std::to_string(range * kKeys), 1, kKeys, kBitsPerKey);
    pair.Test(consecutive(range * kKeys), &rate);
    rate.Report();
  }
}

void MeasureParts(const Kind& kind, const Effort& effort) {
  constexpr size_t kKeys = 1000000, kParts = 64;
  const Keys keys = Present(kind, kKeys);
  const std::vector<Keys> parts = Part(keys, kParts);
  const std::string name = std::string(kind.name) + ", parted";
  Heading(name.c_str());
  for (int bits_per_key : kFewBits) {
    Rate rate(name, kParts, kKeys / kParts, bits_per_key);
    std::vector<Pair> pairs;
    for (const Keys& part : parts) pairs.emplace_back(part, 0, part.slices.size(), bits_per_key);
    const size_t num_tested = kind.is_between ? kKeys : kParts * rate.NumToTest(effort);
    for (size_t i = 0; i < num_tested; i += kParts * kChunk) {
      const Keys absent = Absent(kind, i, std::min(kParts * kChunk, num_tested - i));
      const std::vector<Keys> absent_parts = Part(absent, kParts);
      for (size_t part = 0; part < kParts; part++) pairs[part].Test(absent_parts[part], &rate);
    }
    rate.Report();
  }
}

void MeasurePublished(const Effort& effort) {
  // 80,000 different numbers below 10^9, and others.
  std::vector<uint32_t> present, absent;
  std::vector<bool> is_seen(1000000000);
  for (uint64_t i = 0; absent.size() < effort.num_published; i++) {
    // As many numbers of one digit as there are, and so on: first how long, then which.
    const uint64_t mixed = random_of(i);
    const int digits = 1 + static_cast<int>((mixed >> 32) % 9);
    const uint32_t number = static_cast<uint32_t>((mixed & 0xffffffff) % static_cast<uint64_t>(std::pow(10, digits)));
    if (is_seen[number]) continue;
    is_seen[number] = true;
    (present.size() < 80000 ? present : absent).push_back(number);
  }
  const Keys keys(WriteDecimal, present.size(), [&](size_t i) { return present[i]; });
  const Keys others(WriteDecimal, absent.size(), [&](size_t i) { return absent[i]; });
  const struct { int bits_per_key; size_t num_bytes; double percent; } published[] = {
      {10, 100001, 1.0}, {15, 150001, 0.09}, {20, 200001, 0.007}};
  Heading("80,000 random numbers of 1 to 9 digits, beside the published figures");
  for (const auto& p : published) {
    Rate rate("1 to 9 digits", 1, present.size(), p.bits_per_key);
    const Pair pair(keys, 0, present.size(), p.bits_per_key);
    pair.Test(others, &rate);
    rate.Report();
    std::printf("%24s %10zu %43.3g %%  published\n", "", p.num_bytes, p.percent);
    if (rate.shape.num_bytes != p.num_bytes) Die("the size is not the published one");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool full = argc == 2 && std::strcmp(argv[1], "full") == 0;
  if (argc != 2 || (!full && std::strcmp(argv[1], "quick") != 0)) Die("usage: false_positives quick|full");
  const Effort& effort = full ? kFull : kQuick;
  const std::string note = "LevelDB " + std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion);
  raw = open_results("false-positives", nullptr, note.c_str(),
                     "keys\tnum_keys\tnum_filters\tbits_per_key\tnum_probes\tnum_bytes\tnum_asked\tnum_false_positives\t"
                     "textbook\tmodel\tleveldb\tours\tparquet\tparquet_model");
  for (const Kind& kind : kKinds) MeasureGrid(kind, effort);
  MeasureRanges();
  for (const Kind& kind : kKinds) MeasureParts(kind, effort);
  MeasurePublished(effort);
  if (raw) std::fclose(raw);
  return 0;
}
