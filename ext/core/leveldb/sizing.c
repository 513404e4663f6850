/*
** The shape of a filter, and the size for a rate.  That is searched by a closed form, since a search asks for hundreds of rates.
** The form takes positions as set independently of each other; together[] has by how much that
** errs, which hardly depends on the size, but for outliers: where a small multiple of 1/num_bits
** modulo 65537 is near 0, far more hashes resonate, for up to five times the rate.  They are
** passed over.
*/
#include "sizing.h"

#include "../numeric.h"
#include "fpr_model.h"

/* The last double below 2^63, or, where size_t is smaller, the bits that fit in it. */
#define LEVELDB_MAX_BITS (SIZE_MAX>UINT32_MAX ? 0x1.fffffffffffffp62 : ((double)SIZE_MAX - 1) * 8)

#define TOGETHER_FIRST_LOG2 13 /* of num_keys */
#define TOGETHER_ROWS       12
#define TOGETHER_PROBES     3  /* from one column to the next, and of the first */
#define TOGETHER_COLUMNS    7
#define OUTLIER_MULTIPLES   4

/* A row for each number of keys, which doubles, and a column for each number of probes.  Fitted to
** bloom_modelled_fpr() at 80,757 sizes of 6,000 to 30,000,000 keys at 4..36 bits: a little more
** than the mean. */
static const double together[TOGETHER_ROWS][TOGETHER_COLUMNS] = {
  {1.01, 1.00, 1.00, 1.01, 1.01, 1.00, 1.00},
  {1.00, 1.00, 1.01, 1.00, 1.00, 1.00, 1.01},
  {1.00, 1.00, 1.00, 1.00, 1.01, 1.01, 1.04},
  {1.00, 1.00, 1.03, 1.05, 1.07, 1.09, 1.09},
  {1.01, 1.09, 1.14, 1.20, 1.31, 1.50, 1.54},
  {1.05, 1.20, 1.30, 1.53, 2.21, 4.06, 4.06},
  {1.06, 1.20, 1.35, 1.69, 2.95, 6.81, 6.81},
  {1.05, 1.14, 1.23, 1.52, 2.47, 4.63, 4.63},
  {1.04, 1.08, 1.15, 1.29, 1.87, 1.87, 1.87},
  {1.02, 1.05, 1.08, 1.16, 1.47, 1.47, 1.47},
  {1.03, 1.03, 1.04, 1.04, 1.10, 1.10, 1.10},
  {1.02, 1.02, 1.02, 1.02, 1.02, 1.02, 1.02},
};

bloom_status bloom_leveldb_shape(uint64_t num_keys, double bits_per_key, bloom_shape *shape){
  const double wanted_bits = (double)num_keys * bits_per_key;
  uint64_t num_bits, num_bit_bytes;
  if( wanted_bits>LEVELDB_MAX_BITS ) return BLOOM_TOO_BIG;
  num_bits = (uint64_t)wanted_bits;
  if( (double)num_bits<wanted_bits ) num_bits++;
  if( num_bits<BLOOM_LEVELDB_MIN_BITS ) num_bits = BLOOM_LEVELDB_MIN_BITS;
  num_bit_bytes = (num_bits + 7) / 8;
  *shape = (bloom_shape){
    .num_bytes = (size_t)num_bit_bytes + 1,
    .num_bits = num_bit_bytes * 8,
    .num_slots = bloom_leveldb_reached_bits(num_bit_bytes * 8),
    .num_probes = bloom_num_probes(bits_per_key),
  };
  return BLOOM_OK;
}

/* The table's value between its rows and columns, its edge beyond. */
static double set_together(const bloom_shape *shape, double num_keys){
  double keys = num_keys / (1 << TOGETHER_FIRST_LOG2);
  double column = shape->num_probes / (double)TOGETHER_PROBES - 1, upper, lower;
  uint32_t i = 0, j;
  for(; keys>=2 && i<TOGETHER_ROWS-2; i++) keys /= 2;
  keys = keys<1 ? 0 : at_most(keys - 1, 1);
  column = at_most(column, TOGETHER_COLUMNS - 1); /* not below 0: has_probe2() */
  j = (uint32_t)at_most(column, TOGETHER_COLUMNS - 2);
  column -= j;
  upper = together[i][j] * (1 - column) + together[i][j+1] * column;
  lower = together[i+1][j] * (1 - column) + together[i+1][j+1] * column;
  return upper * (1 - keys) + lower * keys;
}

/* Whether far more hashes resonate at this size than at those beside it.  The limits, fitted, are
** in multiples of num_bits: of all that 32 bits hold some part or twice as many, which begins with
** 9,000 keys, and fewer where few probes must meet. */
static int is_outlier(const bloom_shape *shape, double num_keys){
  const double whole = HASHES / (double)shape->num_bits;
  const uint32_t inverse = inverse_mod_65537((uint32_t)(shape->num_bits % PROBE2_STEP));
  uint32_t multiple = 0, i;
  for(i=1; i<=OUTLIER_MULTIPLES && has_probe2(shape); i++){
    const double limit = at_most(num_keys / 30000 - 0.3 * i, 2) * whole;
    multiple = add_mod_65537(multiple, inverse);
    if( at_most(multiple, PROBE2_STEP - multiple)<at_most(limit, 900.0 * shape->num_probes) ){
      return 1;
    }
  }
  return 0;
}

/* The rate of a size that is no outlier, shape->num_bits reached bits. */
static double size_fpr(const bloom_shape *shape, double num_keys){
  /* probes that reach all positions alike */
  const uint32_t num_even = shape->num_probes - has_probe2(shape);
  const double num_bits = (double)shape->num_bits;
  const double missed = bloom_exp_minus(num_keys * num_even / num_bits);
  double any_missed = missed, rate = 1;
  uint32_t i;
  if( num_keys<=0 ) return 0;
  if( has_probe2(shape) ){
    /* The load on a position by each w of probe 2, at most; height, 0..1, takes part of it. */
    const double load = num_keys / PROBE2_NUM_STEPS / 2;
    const double reached = PROBE2_NUM_STEPS / num_bits; /* the share of the positions, of each w */
    const double full = bloom_exp_minus(load);
    const double outer = 1 - reached + reached * (1 - full) / load;
    const double middle = 1 - reached + reached * full;
    /* more keys where there is more load */
    const double own_outer = 2 * (1 - (1 + load) * full) / load / load;
    any_missed *= outer * outer * middle;
    rate = set_together(shape,
                        num_keys) * (1 - missed * outer * (full * outer + own_outer * middle) / 2);
  }
  for(i=0; i<num_even; i++) rate *= 1 - any_missed;
  /* Probes that keep the hash modulo 3 or 5: to 2 %. */
  if( shape->num_bits%3==0 && shape->num_probes>1 ) rate *= 1.02 + 0.25 / shape->num_probes;
  if( shape->num_bits%5==0 && shape->num_probes>3 ) rate *= 1.03;
  return 1 - bloom_fpr_unlike_others(shape, num_keys) * (1 - at_most(rate, 1));
}

uint32_t bloom_min_bits_per_key_x10(double fpr, uint64_t num_keys, double *best_fpr){
  bloom_shape shape, last = {0, 0, 0, 0};
  double best = 1, rate;
  uint32_t bits_per_key_x10;
  for(bits_per_key_x10=BLOOM_MIN_TENTH_BITS; bits_per_key_x10<=BLOOM_MAX_TENTH_BITS;
      bits_per_key_x10++){
    if( bloom_leveldb_shape(num_keys, bits_per_key_x10 / 10.0, &shape)!=BLOOM_OK ) break;
    shape.num_bits = bloom_leveldb_reached_bits(shape.num_bits);
    /* Small and large filters have one shape for many sizes. */
    if( shape.num_bits==last.num_bits && shape.num_probes==last.num_probes ) continue;
    last = shape;
    rate = size_fpr(&shape, (double)num_keys);
    if( rate>=best || is_outlier(&shape, (double)num_keys) ) continue;
    if( rate<=fpr ) return bits_per_key_x10;
    best = rate;
  }
  *best_fpr = best;
  return 0;
}
