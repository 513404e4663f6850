/*
** bloom_bits_per_key(false_positive_rate [, num_keys = 20000] [, encoding =
** 'leveldb']): the smallest bits_per_key, to a tenth of a bit, at which a filter of
** num_keys keys has at most that rate; NULL where the rate or the number is NULL.
**
** (1) false_positive_rate is a number between 0 and 1, both excluded; num_keys
**     an integer >= 0.
** (2) The rate is the encoding's real one for exactly that many keys at exactly that size.
** (3) Without num_keys: for 20,000 keys, the most that a partition should have.
** (4) A rate that no size reaches is an error, which names one that is in reach, if there
**     is one of use, and the way out: another encoding, partitions, if they would help.
*/
#include "functions.h"
#include "../size_args.h"

#define DEFAULT_NUM_KEYS 20000

void bloom_bits_per_key(sqlite3_context *context, int num_args, sqlite3_value **args){
  int type = sqlite3_value_type(args[0]);
  const bloom_arg rate_arg = {"bloom_bits_per_key", 1, "false_positive_rate", args[0]};
  sqlite3_int64 num_keys = DEFAULT_NUM_KEYS;
  bloom_size_args size = {NULL, 0, 0, BLOOM_NO_CAPACITY};
  double bits_per_key;
  if( type==SQLITE_INTEGER || type==SQLITE_FLOAT ){
    size.bits_per_key = sqlite3_value_double(args[0]);
  }
  if( type!=SQLITE_NULL && !(size.bits_per_key>0 && size.bits_per_key<1) ){
    char buffer[BLOOM_HINT_BYTES];
    const char *hint = bloom_number_hint(args[0], buffer);
    if( num_args>1 && bloom_is_number_in(args[1], 0, 0.999999) ) hint = "the rate comes first";
    bloom_fail_arg(context, rate_arg, "a number between 0 and 1", hint);
    return;
  }
  if( bloom_take_encoding(context, rate_arg.function, 3, &num_args, args,
                          &size.encoding)!=SQLITE_OK ){
    return;
  }
  if( num_args>1 ){
    const bloom_arg num_keys_arg = {rate_arg.function, 2, "num_keys", args[1]};
    if( bloom_read_capacity(context, num_keys_arg, NULL, &num_keys)!=SQLITE_OK ) return;
    if( num_keys==BLOOM_NO_CAPACITY ) return;
  }
  if( type==SQLITE_NULL ) return;
  if( bloom_find_bits_per_key(context, rate_arg, &size, (uint64_t)num_keys,
                              &bits_per_key)!=SQLITE_OK ){
    return;
  }
  sqlite3_result_double(context, bits_per_key);
}
