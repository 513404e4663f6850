/*
** The model of the false positive rate; sizing.h says why the textbook's is wrong.
**
** The search for a size computes rates by a closed form, which takes bits as set independently of
** each other, times a factor of the table together[].  The factor hardly depends on the size, but
** for outliers: sizes where a small multiple of 1/num_bits modulo 65537 is near 0.  There far more
** hashes resonate, for up to five times the rate.  The search skips outliers.
*/
#include "sizing.h"

#include "../debug.h"
#include "../numeric.h"

/* -- Probe 2 --------------------------------------------------------------------------------- */

#define HASHES 4294967296.0 /* 2^32 */

/* Probe 2 takes the values PROBE2_STEP*s - w. */
#define PROBE2_STEP      65537u
#define PROBE2_NUM_STEPS 65536u

/* In filters of fewer bits each position belongs to several values of probe 2, which is then like
** any other probe. */
#define PROBE2_MIN_BITS 65536

/* Returns 1 if probe 2 needs a model of its own. */
static inline uint32_t has_probe2(const bloom_shape *shape){
  return shape->num_probes>2 && shape->num_bits>=PROBE2_MIN_BITS;
}

/* Returns 1 if keys have a probe 2 whose positions differ.  Where 65537 divides the bits, all keys
** have the same few: it sets no other bits, and each hash finds its own set. */
static inline int probe2_is_spread(const bloom_shape *shape){
  return has_probe2(shape) && shape->num_bits%PROBE2_STEP!=0;
}

static inline uint32_t add_mod_65537(uint32_t a, uint32_t b){
  assert( a<PROBE2_STEP && b<=PROBE2_STEP );
  return a + b - (a + b<PROBE2_STEP ? 0 : PROBE2_STEP);
}

static inline uint32_t multiply_mod_65537(uint32_t a, uint32_t b){
  assert( a<PROBE2_STEP && b<PROBE2_STEP );
  return (uint32_t)((uint64_t)a * b % PROBE2_STEP);
}

/* Returns 1/x modulo the prime 65537, or 0 for 0.  By Fermat it is x^65535, the product of the
** sixteen powers x^(2^i). */
static inline uint32_t inverse_mod_65537(uint32_t x){
  uint32_t inverse = 1, i;
  for(i=0; i<16; i++, x=multiply_mod_65537(x, x)) inverse = multiply_mod_65537(inverse, x);
  return inverse;
}

static inline double at_most(double number, double most){
  return number<most ? number : most;
}

/* -- The model of the rate, and of the bits that keys set ------------------------------------ */

/* A rate is the mean over so many hashes: pairs of resonant ones, and others. */
#define MAX_RESONANT_PAIRS 768
#define NUM_OTHERS         8192

/* 65536 divided by the golden ratio: multiples modulo 65536 lie evenly, however many. */
#define GOLDEN_STEPS 40503u

/* The bits that probe 2 sets are a mean over so many of its steps s. */
#define FILL_STEPS 512

/* So many rounds settle the number of keys to 1e-12, whatever bits are set. */
#define KEYS_ROUNDS 21

/* Probes cycle through few positions only where num_bits is 2^a times an odd number up to this. */
#define CYCLE_MAX_ODD 7

/* From this size on, more bits do not let hashes of one class miss each other more often. */
#define SAME_MIN_BITS 40000.0

/* A filter whose probe 2 has a model of its own. */
typedef struct fpr_model {
  uint64_t num_bits; /* that probes reach: at most 2^32 */
  uint32_t num_probes;
  double missed;             /* probability that the other probes do not set a bit */
  double keys_per_step;      /* num_keys / PROBE2_NUM_STEPS */
  uint32_t residue, inverse; /* num_bits and 1/num_bits modulo PROBE2_STEP */
} fpr_model;

/* Returns the model for num_keys keys; shape->num_bits are reached bits. */
static fpr_model fpr_model_of(const bloom_shape *shape, double num_keys){
  const uint32_t residue = (uint32_t)(shape->num_bits % PROBE2_STEP);
  assert( probe2_is_spread(shape) && num_keys>0 );
  assert( shape->num_bits==bloom_leveldb_reached_bits(shape->num_bits) );
  return (fpr_model){
    .num_bits = shape->num_bits,
    .num_probes = shape->num_probes,
    .missed = bloom_exp_minus(num_keys * (shape->num_probes - 1) / (double)shape->num_bits),
    .keys_per_step = num_keys / PROBE2_NUM_STEPS,
    .residue = residue,
    .inverse = inverse_mod_65537(residue),
  };
}

/* Returns the mean number of keys whose probe 2 has the position of this probe: a sum over the
** values 65537*s - w that differ from the probe by a multiple of num_bits.  For each w that
** multiple is known modulo 65537; multiple is that for w = 0. */
static double probe2_load(const fpr_model *model, uint32_t probe, uint32_t multiple){
  const uint64_t period = model->num_bits * PROBE2_STEP; /* more than 2^32 */
  double share = 0;
  uint32_t w;
  for(w=0; w<3; w++, multiple=add_mod_65537(multiple, model->inverse)){
    const uint64_t skipped = multiple * model->num_bits;
    const uint64_t value = skipped<=probe ? probe - skipped : probe + period - skipped;
    const double height = (double)value / HASHES;
    /* The keys of one s are shared among the w. */
    if( value<=UINT32_MAX ) share += w==0 ? height/2 : w==1 ? 0.5 : (1-height)/2;
  }
  return share * model->keys_per_step;
}

/* Returns the probability that keys of other hashes set all bits of the hash with this delta. */
static double prob_all_set(const fpr_model *model, uint32_t delta){
  const uint32_t step = multiply_mod_65537(delta % PROBE2_STEP, model->inverse);
  uint32_t probe = delta << 17 | delta >> 15;
  uint32_t multiple = multiply_mod_65537(probe % PROBE2_STEP, model->inverse);
  double probability = 1;
  uint32_t i;
  for(i=0; i<model->num_probes; i++){
    const double load = probe2_load(model, probe, multiple);
    probability *= 1 - model->missed * (load>0 ? bloom_exp_minus(load) : 1);
    probe += delta;
    multiple = add_mod_65537(multiple, step);
    /* Less 2^32, which is 1 modulo 65537. */
    if( probe<delta ) multiple = add_mod_65537(multiple, PROBE2_STEP - model->inverse);
  }
  return probability;
}

/* Returns the delta 65537*s + (t*num_bits + u) mod 65537. */
static uint32_t delta_of(const fpr_model *model, uint32_t s, uint32_t t, uint32_t u){
  assert( s<PROBE2_NUM_STEPS && u<=1 );
  return PROBE2_STEP*s + add_mod_65537(multiply_mod_65537(t, model->residue), u);
}

/* Returns the factor of the rate, to 2 %, where 3 or 5 divides num_bits: some probes depend on the
** hash modulo 3 or 5. */
static double residue_factor(uint64_t num_bits, uint32_t num_probes){
  return (num_bits%3==0 && num_probes>1 ? 1.02 + 0.25 / num_probes : 1)
      * (num_bits%5==0 && num_probes>3 ? 1.03 : 1);
}

/*
** Returns the mean of prob_all_set() over a sample of all hashes.
**
** Modulo 65537 probe i is (i-2)*delta - w, w the times that the sum passed 2^32.  A hash is
** resonant if its delta is a small multiple of num_bits modulo 65537 and w is 2 at most (delta is
** small), or if delta is one more than such a multiple and w is nearly i (delta is near 2^32).
** Then all its probes are values of probe 2, but for multiples of num_bits.  Resonant hashes are
** rare and weigh much, so they have a sample of their own.
*/
static double mean_prob_all_set(const fpr_model *model){
  /* Resonant deltas are at most so many of the 65536 steps s away from 0 or 2^32. */
  const uint32_t window = PROBE2_NUM_STEPS * 3 / model->num_probes;
  /* Modulo 65537 they are at most so many times num_bits away from 0 or 1. */
  const uint32_t most_multiples = MAX_RESONANT_PAIRS/2 - 1;
  const uint32_t max_multiple = (uint32_t)at_most(
    0x1p32 / (double)model->num_bits / (double)(model->num_probes - 2), most_multiples);
  const uint32_t num_multiples = 2*max_multiple + 1;
  const uint32_t num_pairs = MAX_RESONANT_PAIRS / num_multiples * num_multiples;
  double others = 0, pairs = 0;
  uint32_t i;
  /* Not 0: all probes of hash 0 meet. */
  for(i=1; i<=NUM_OTHERS; i++){
    /* Even in both directions, however many they are [Roberts 2018: the plastic number]. */
    const uint32_t t = i * 49472u % PROBE2_STEP, s = i * 37345u % PROBE2_NUM_STEPS;
    const uint32_t from_1 = add_mod_65537(t, PROBE2_STEP - model->inverse);
    const int is_resonant =
      (s<window && add_mod_65537(t, max_multiple)<num_multiples)
      || (s>=PROBE2_NUM_STEPS-window && add_mod_65537(from_1, max_multiple)<num_multiples);
    if( !is_resonant ) others += prob_all_set(model, delta_of(model, s, t, 0));
  }
  for(i=0; i<num_pairs; i++){
    const uint32_t t = add_mod_65537(i % num_multiples, PROBE2_STEP - max_multiple);
    const uint32_t s = (uint32_t)((uint64_t)(i * GOLDEN_STEPS % PROBE2_NUM_STEPS) * window >> 16);
    pairs += prob_all_set(model, delta_of(model, s, t, 0));
    pairs += prob_all_set(model, delta_of(model, PROBE2_NUM_STEPS-1 - s, t, 1));
  }
  return others / NUM_OTHERS * residue_factor(model->num_bits, model->num_probes)
      + pairs / num_pairs * window / PROBE2_NUM_STEPS * num_multiples / PROBE2_STEP;
}

/* Returns the extra false positives, times num_bits, from hashes whose probes cycle through few
** positions.  num_bits is more than 0, odd * 2^a; as 2^a divides 2^32, overflow of the 32-bit sum
** does not change it modulo 2^a. */
static double cycles(const bloom_shape *shape, double fill_ratio){
  uint64_t odd = shape->num_bits, num_positions;
  double sum = 0, are_set = 1;
  assert( odd>0 && fill_ratio>=0 && fill_ratio<=1 );
  while( odd%2==0 ) odd /= 2;
  if( odd>CYCLE_MAX_ODD ) return 0;
  for(num_positions=0; num_positions<odd; num_positions++) are_set *= fill_ratio;
  for(; num_positions<shape->num_probes; num_positions*=2, are_set*=are_set){
    sum += (double)num_positions / (num_positions==odd ? 1 : 2) * are_set;
  }
  return odd==1 ? sum : 0.6 * sum;
}

/*
** Returns the probability that a key's hash equals no stored one, and resembles neither itself nor
** a stored one.  shape->num_bits are reached bits.  Resemblance matters in small filters, and where
** num_bits and 2^32-1 have a large divisor in common.
**
** stay   the delta is a multiple of num_bits: all probes meet until the sum passes 2^32
** cycles num_bits is a small odd number times 2^a, and 2^(a-j) divides the delta: the probes
**        meet in odd * 2^j positions
** shift  all probes but the first or last few are those of a stored hash
** same   2^32-1 is 65535 * 65537, and 2^16 is 1 modulo 65535: modulo a divisor probe i is
**        (1 + i/2) * hash - w.  Hashes that are equal modulo the divisor have all probes in
**        the same classes of positions, as long as they pass 2^32 at the same times.  Modulo
**        65537 probe i is (i-2)*delta - w, and the same holds for hashes of equal deltas.
**
** Factors are fitted: stay's and shift's to 100..3,000 keys at 16..100 bits per key, those of
** cycles and same to some 40 sizes.
*/
static double fpr_unlike_others(const bloom_shape *shape, double num_keys){
  const double num_bits = (double)shape->num_bits, num_probes = shape->num_probes;
  const double fill_ratio =
      1 - bloom_exp_minus(num_keys * (shape->num_probes - has_probe2(shape)) / num_bits);
  const double stay = 2.6 / num_probes * fill_ratio / (1.001 - fill_ratio);
  const double shift = 3.15 * num_keys / num_bits;
  const double unequal = bloom_exp_minus(num_keys / HASHES);
  uint32_t divisor = 65535, rest = (uint32_t)(shape->num_bits % 65535);
  double same;
  assert( num_keys>=0 && shape->num_probes>0 && shape->num_bits>0 );
  if( shape->num_probes==1 ) return unequal;
  while( rest ){ /* Euclid's: the greatest common divisor of num_bits and 65535 */
    const uint32_t next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  same = at_most((4.5 + 17.5 / num_probes) / num_probes / num_probes, 0.137) * (divisor - 1);
  if( shape->num_bits%PROBE2_STEP==0 ){
    same += at_most(3.5 / num_probes / num_probes, 0.07) * PROBE2_NUM_STEPS;
  }
  same *= num_keys / at_most(num_bits, SAME_MIN_BITS);
  return unequal * (1 - at_most((stay + cycles(shape, fill_ratio) + shift + same) / num_bits, 1));
}

double bloom_modelled_fpr(const bloom_shape *shape, double num_keys){
  bloom_shape reached = *shape;
  double unlike, rate = 1;
  if( num_keys<=0 || shape->num_probes==0 ) return num_keys>0;
  reached.num_bits = bloom_leveldb_reached_bits(shape->num_bits);
  unlike = fpr_unlike_others(&reached, num_keys);
  if( unlike<=0 ) return 1;
  if( probe2_is_spread(&reached) ){
    const fpr_model model = fpr_model_of(&reached, num_keys);
    rate = mean_prob_all_set(&model);
  }else{
    const uint32_t num_even = reached.num_probes - has_probe2(&reached);
    const double fill_ratio = 1 - bloom_exp_minus(num_keys * num_even / (double)reached.num_bits);
    uint32_t i;
    for(i=0; i<num_even; i++) rate *= fill_ratio;
    rate *= residue_factor(reached.num_bits, reached.num_probes);
  }
  rate = 1 - unlike * (1 - at_most(rate, 1));
  assert( rate>=0 && rate<=1 );
  return rate;
}

/* Returns the share of the bits that probe 2 sets and no other probe.  Of each position it is
** 1 - e^-load, load the mean number of keys with their probe 2 there; of each key it is
** (1 - e^-load) / load. */
static double set_by_probe2_alone(const fpr_model *model){
  double per_step = 0;
  uint32_t i, w;
  for(i=0; i<FILL_STEPS; i++){
    const uint32_t s = (i * GOLDEN_STEPS + PROBE2_NUM_STEPS/2) % PROBE2_NUM_STEPS;
    for(w=0; w<3; w++){
      const uint32_t probe = PROBE2_STEP*s - w;
      const double height = probe / HASHES;
      const double share = w==0 ? height/2 : w==1 ? 0.5 : (1-height)/2;
      const double load = probe2_load(model, probe,
                                      multiply_mod_65537(probe % PROBE2_STEP, model->inverse));
      per_step += share * (1 - bloom_exp_minus(load)) / load / FILL_STEPS;
    }
  }
  return per_step * model->missed * model->keys_per_step
      * PROBE2_NUM_STEPS / (double)model->num_bits;
}

double bloom_modelled_keys(const bloom_shape *shape, uint64_t bits_set){
  const uint64_t whole = (uint64_t)1 << 62;
  bloom_shape reached = *shape;
  double log_unset, num_keys;
  uint32_t num_even, i;
  assert( shape->num_probes>0 && bits_set<shape->num_bits );
  reached.num_bits = bloom_leveldb_reached_bits(shape->num_bits);
  num_even = reached.num_probes - has_probe2(&reached);
  log_unset = bloom_log_ratio(reached.num_bits, reached.num_bits - bits_set);
  /* The textbook's number is right where all probes set equally many bits.  Elsewhere keys set
  ** fewer, and so each round below raises the number. */
  num_keys = (double)reached.num_bits / reached.num_probes * log_unset;
  if( bits_set==0 || (!has_probe2(&reached) && reached.num_bits%3 && reached.num_bits%5) ){
    return num_keys;
  }
  for(i=0; i<KEYS_ROUNDS; i++){
    const double load = num_keys / (double)reached.num_bits; /* of each probe */
    double unset = bloom_exp_minus(num_even * load); /* the share of the bits, above 0 */
    if( probe2_is_spread(&reached) ){
      const fpr_model model = fpr_model_of(&reached, num_keys);
      unset -= set_by_probe2_alone(&model);
    }
    /* Probe 1 loads positions modulo 3 by 1.5, 1.5 and 0; the variance of probe 3's loads modulo 5
    ** is 0.38. */
    if( reached.num_bits%3==0 && reached.num_probes>1 ){
      unset *= (2 * bloom_exp_minus(load / 2) + 1 / bloom_exp_minus(load)) / 3;
    }
    if( reached.num_bits%5==0 && reached.num_probes>3 ) unset *= 1 + 0.19 * load * load;
    assert( unset<=1 );
    /* -ln unset, to 1e-18.  Below 2^-62, which no filter has, it counts as 2^-62. */
    num_keys *= log_unset
        / bloom_log_ratio(whole, (uint64_t)-at_most(-unset * (double)whole, -1));
  }
  assert( num_keys>=0 );
  return num_keys;
}

/* -- The shape, and the size for a rate ------------------------------------------------------ */

/* The last double below 2^63, or, where size_t is smaller, the bits that fit in it. */
#define LEVELDB_MAX_BITS (SIZE_MAX>UINT32_MAX ? 0x1.fffffffffffffp62 : ((double)SIZE_MAX - 1) * 8)

#define TOGETHER_FIRST_LOG2 13 /* of num_keys */
#define TOGETHER_ROWS       12
#define TOGETHER_PROBES     3  /* from one column to the next, and of the first */
#define TOGETHER_COLUMNS    7
#define OUTLIER_MULTIPLES   4

/* A row for each number of keys, which doubles from row to row, and a column for each number of
** probes.  Fitted to bloom_modelled_fpr() at 80,757 sizes of 6,000 to 30,000,000 keys at 4..36
** bits: a little above the mean. */
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
  assert( bits_per_key>0 );
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
  assert( (double)shape->num_bits>=wanted_bits && shape->num_slots>=BLOOM_LEVELDB_MIN_BITS );
  return BLOOM_OK;
}

/* Returns the table's value, interpolated between rows and columns, clamped outside of it. */
static double correlation_factor(const bloom_shape *shape, double num_keys){
  double keys = num_keys / (1 << TOGETHER_FIRST_LOG2);
  double column = shape->num_probes / (double)TOGETHER_PROBES - 1, upper, lower;
  uint32_t i = 0, j;
  for(; keys>=2 && i<TOGETHER_ROWS-2; i++) keys /= 2;
  keys = keys<1 ? 0 : at_most(keys - 1, 1);
  column = at_most(column, TOGETHER_COLUMNS - 1);
  j = (uint32_t)at_most(column, TOGETHER_COLUMNS - 2);
  column -= j;
  assert( column>=0 && column<=1 && keys>=0 && keys<=1 );
  assert( i+1<TOGETHER_ROWS && j+1<TOGETHER_COLUMNS );
  upper = together[i][j] * (1 - column) + together[i][j+1] * column;
  lower = together[i+1][j] * (1 - column) + together[i+1][j+1] * column;
  return upper * (1 - keys) + lower * keys;
}

/* Returns 1 if far more hashes resonate at this size than at those beside it: one of the first
** multiples of 1/num_bits is within a limit of 0, modulo 65537.  Limits are fitted: they grow from
** 9,000 keys on to twice the multiples of num_bits below 2^32, and are lower for few probes. */
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

/* Returns the rate of a size that is no outlier, shape->num_bits reached bits. */
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
    rate = correlation_factor(shape, num_keys)
        * (1 - missed * outer * (full * outer + own_outer * middle) / 2);
  }
  for(i=0; i<num_even; i++) rate *= 1 - any_missed;
  rate *= residue_factor(shape->num_bits, shape->num_probes);
  return 1 - fpr_unlike_others(shape, num_keys) * (1 - at_most(rate, 1));
}

uint32_t bloom_min_bits_per_key_x10(double fpr, uint64_t num_keys, double *best_fpr){
  const uint32_t least = 10*bloom_least_bits_per_key(fpr); /* that any filter needs */
  const uint64_t added = num_keys ? 80/num_keys + 1 : least; /* by full bytes */
  bloom_shape shape, last = {0, 0, 0, 0};
  double best = 1, rate;
  uint32_t first = BLOOM_MIN_TENTH_BITS, i;
  assert( fpr>0 && fpr<1 );
  /* No size below the first has this rate; but filters may be of the smallest size. */
  if( added + BLOOM_MIN_TENTH_BITS<least
   && (double)num_keys*(double)(least - added)>10*BLOOM_LEVELDB_MIN_BITS ){
    first = (uint32_t)(least - added);
  }
  /* Sizes below the first come last: they count for *best_fpr alone. */
  for(i=0; i<=BLOOM_MAX_TENTH_BITS - BLOOM_MIN_TENTH_BITS; i++){
    const uint32_t bits_per_key_x10 = first + i<=BLOOM_MAX_TENTH_BITS ? first + i
        : first + i - BLOOM_MAX_TENTH_BITS + BLOOM_MIN_TENTH_BITS - 1;
    assert( bits_per_key_x10>=BLOOM_MIN_TENTH_BITS && bits_per_key_x10<=BLOOM_MAX_TENTH_BITS );
    if( bloom_leveldb_shape(num_keys, bits_per_key_x10 / 10.0, &shape)!=BLOOM_OK ) continue;
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
