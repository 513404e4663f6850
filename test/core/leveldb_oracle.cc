/*
** Live LevelDB, for C; leveldb_oracle.h describes it.
*/
#include "leveldb_oracle.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

static leveldb::Slice slice_of(const uint8_t *bytes, size_t num_bytes){
  /* A Slice of NULL is not meant to be made. */
  return num_bytes ? leveldb::Slice(reinterpret_cast<const char*>(bytes), num_bytes)
                   : leveldb::Slice();
}

/* One policy per bits_per_key, made once. */
static const leveldb::FilterPolicy &policy_of(int bits_per_key){
  static std::unique_ptr<const leveldb::FilterPolicy> policies[101];
  if( !policies[bits_per_key] ) policies[bits_per_key].reset(leveldb::NewBloomFilterPolicy(bits_per_key));
  return *policies[bits_per_key];
}

uint8_t *oracle_create_filter(int bits_per_key, const uint8_t *const *keys,
                              const size_t *lengths, size_t num_keys, size_t *num_bytes){
  std::vector<leveldb::Slice> slices;
  std::string filter;
  slices.reserve(num_keys);
  for(size_t i=0; i<num_keys; i++) slices.push_back(slice_of(keys[i], lengths[i]));
  policy_of(bits_per_key).CreateFilter(slices.data(), static_cast<int>(num_keys), &filter);
  uint8_t *bytes = static_cast<uint8_t*>(std::malloc(filter.size()));
  if( bytes==nullptr ) std::abort();
  std::memcpy(bytes, filter.data(), filter.size());
  *num_bytes = filter.size();
  return bytes;
}

int oracle_may_match(const uint8_t *filter, size_t num_bytes, const uint8_t *key,
                     size_t key_bytes){
  /* Matching reads its probes from the filter, so any policy does. */
  return policy_of(10).KeyMayMatch(slice_of(key, key_bytes), slice_of(filter, num_bytes));
}

const char *oracle_version(void){
  static const std::string version =
    std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion);
  return version.c_str();
}
