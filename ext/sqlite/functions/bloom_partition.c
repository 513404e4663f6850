/*
** bloom_partition(key, num_partitions): which of num_partitions filters the
** key belongs to, 0 .. num_partitions-1; NULL where either is NULL.  Keys are
** equal by the default rule (key.h): an integer is its decimal text.
**
** Why: the more keys a filter has, the more false positives come from its 32-bit hashes
** and its double hashing (core/leveldb/sizing.h).  Many filters of at most 20,000 keys
** each do not degrade, if the hash that divides the keys shares nothing with LevelDB's.
*/
#include "../../core/decimal.h"
#include "../../core/hash.h"
#include "functions.h"
#include "../key.h"
#include "../size_args.h"

void bloom_partition(sqlite3_context *context, int num_args, sqlite3_value **args){
  sqlite3_int64 num_partitions;
  uint8_t decimal[BLOOM_DECIMAL_MAX_BYTES];
  bloom_key key;
  (void)num_args;
  if( sqlite3_value_type(args[1])==SQLITE_NULL ) return;
  if( !bloom_integer_arg(args[1], &num_partitions) || num_partitions<1 ){
    const bloom_arg arg = {"bloom_partition", 2, "num_partitions", args[1]};
    const int is_swapped = !bloom_is_number_in(args[1], -1e300, 1e300)
        && bloom_is_number_in(args[0], 0, 1e9);
    bloom_fail_arg(context, arg, "an integer in 1..9223372036854775807",
                   is_swapped ? "the key comes first" : NULL);
    return;
  }
  if( !bloom_key_bytes_arg(context, args[0], decimal, &key) ) return;
  sqlite3_result_int64(context, (sqlite3_int64)
    bloom_partition_of(key.bytes, key.num_bytes, (uint64_t)num_partitions));
}
