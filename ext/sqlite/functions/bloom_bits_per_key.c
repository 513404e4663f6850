/*
** bloom_bits_per_key(false_positive_rate [, num_keys = 20000] [, encoding =
** 'leveldb']): the smallest bits_per_key, to a tenth of a bit, at which a filter of
** num_keys keys has at most that rate; NULL where the rate or the number is NULL.
**
** (1) false_positive_rate is a number between 0 and 1, both excluded; num_keys
**     an integer >= 0.
** (2) The rate is the encoding's real one for exactly that many keys at exactly that size.
** (3) Without num_keys: for 20,000 keys, the most that a partition should have.
** (4) A rate that no size reaches is an error.  The message names a rate that is in reach,
**     if there is one below MIN_HOPELESS_FPR, and recommends partitions if they would
**     help.
*/
#include "functions.h"
#include "../size_args.h"

#define DEFAULT_NUM_KEYS 20000

/* A filter that accepts so large a share of absent keys is of no use. */
#define MIN_HOPELESS_FPR 0.98

void bloom_bits_per_key(sqlite3_context *context, int num_args, sqlite3_value **args){
  int type = sqlite3_value_type(args[0]);
  sqlite3_int64 num_keys = DEFAULT_NUM_KEYS;
  const bloom_encoding *encoding;
  double fpr = 0, best_fpr;
  uint32_t bits_per_key_x10;
  if( type==SQLITE_INTEGER || type==SQLITE_FLOAT ) fpr = sqlite3_value_double(args[0]);
  if( type!=SQLITE_NULL && !(fpr>0 && fpr<1) ){
    bloom_fail_arg(context, BLOOM_ERROR_FPR, (bloom_arg){"bloom_bits_per_key", 1, args[0]});
    return;
  }
  if( bloom_take_encoding(context, "bloom_bits_per_key", 3, &num_args, args, &encoding)!=SQLITE_OK ) return;
  if( num_args>1 ){
    if( sqlite3_value_type(args[1])==SQLITE_NULL ) return;
    if( !bloom_integer_arg(args[1], &num_keys) || num_keys<0 ){
      bloom_fail_arg(context, BLOOM_ERROR_NUM_KEYS, (bloom_arg){"bloom_bits_per_key", 2, args[1]});
      return;
    }
  }
  if( type==SQLITE_NULL ) return;
  bits_per_key_x10 = encoding->min_bits_per_key_x10(fpr, (uint64_t)num_keys, &best_fpr);
  if( bits_per_key_x10==0 && best_fpr<MIN_HOPELESS_FPR ){
    /* Rounded up, never down, because it is a promise. */
    bloom_fail(context, BLOOM_ERROR_OUT_OF_REACH, "bloom_bits_per_key", fpr, num_keys, best_fpr*1.01,
               num_keys>DEFAULT_NUM_KEYS ? ", and less with partitions: see bloom_partition()" : "");
    return;
  }
  if( bits_per_key_x10==0 ){
    bloom_fail(context, BLOOM_ERROR_HOPELESS, "bloom_bits_per_key", fpr, num_keys, MIN_HOPELESS_FPR);
    return;
  }
  sqlite3_result_double(context, bits_per_key_x10 / 10.0);
}
