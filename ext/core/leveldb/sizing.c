/*
** The model of the false positive rate; sizing.h has its reasons.  e^x is
** written out, as in stats.c: the extension links nothing but libc.
*/
#include "sizing.h"

#include "leveldb.h"

#define DIGESTS 4294967296.0 /* 2^32 */

/* Probe 2 takes the values PROBE2_STEP*s - w. */
#define PROBE2_STEP      65537u
#define PROBE2_NUM_STEPS 65536u

/* Below this, so many values of probe 2 meet in each position that it is like
** any other probe. */
#define PROBE2_MIN_BITS 4096

/* 3 * 5 * 17; the divisor 257 of 2^32-1 leaves no mark on probes below 30. */
#define RESIDUE_MODULUS 255u

#define MIN_TENTH_BITS 10

/* A rate may be so many times that of the next size. */
#define RESONANCE 3

/* Sizes that are tried in turn; after that what is left is halved.  Only rates barely
** in reach need more, where the next size is hardly better. */
#define MAX_TRIED_IN_TURN 80

typedef struct fpr_model {
  uint64_t num_bits; /* that probes reach: at most 2^32 */
  uint32_t num_probes;
  double num_keys;
  int has_probe2;                 /* probe 2 is treated apart */
  double keys_per_step;           /* num_keys / PROBE2_NUM_STEPS */
  uint32_t divisor;               /* of num_bits and RESIDUE_MODULUS */
  double missed[RESIDUE_MODULUS]; /* by position modulo divisor: probability that
                                  ** its bit is not set, but for probe 2 */
  uint32_t inverse;               /* of num_bits modulo PROBE2_STEP; 0 if it has none */
  double fill_ratio;
} fpr_model;

/* e^-x for x >= 0: halve x until the series is short, then square back. */
static double exp_minus(double x){
  double term = 1, sum = 1;
  int num_halvings = 0;
  int n;
  if( x>700 ) return 0;
  for(; x>0.0625; x/=2) num_halvings++;
  for(n=1; n<9; n++){
    term *= -x / n;
    sum += term;
  }
  for(; num_halvings>0; num_halvings--) sum *= sum;
  return sum;
}

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b){
  while( b ){
    uint32_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* 1/x modulo the prime 65537, 0 for 0: x^65535 [Fermat], the product of all
** sixteen powers x^(2^i). */
static uint32_t inverse_mod_65537(uint32_t x){
  uint64_t inverse = 1, power = x;
  int i;
  for(i=0; i<16; i++, power=power*power%PROBE2_STEP) inverse = inverse * power % PROBE2_STEP;
  return (uint32_t)inverse;
}

/* Adds to load, by residue modulo the divisor, what probe i of all keys puts
** on a position.  Probe i is (1 + i*2^15) * digest - w, w in 0..i the times
** that it passed 2^32, and 2^32 is 1 modulo the divisor. */
static void add_load(const fpr_model *model, uint32_t i, double *load){
  const uint32_t divisor = model->divisor;
  const double mean_load = model->num_keys / (double)model->num_bits;
  const uint32_t step = greatest_common_divisor((1 + (i << 15)) % divisor, divisor);
  uint32_t residue, w;
  for(w=0; w<=i; w++){
    /* The sum of two uniform numbers, one of them i times as long. */
    double share = i==0 ? 1 : (w==0 || w==i ? 0.5 : 1.0) / i;
    for(residue=0; residue<divisor; residue+=step){
      load[(residue + divisor - w%divisor) % divisor] += mean_load * share * step;
    }
  }
}

static void fpr_model_init(fpr_model *model, const bloom_shape *shape, uint64_t num_keys){
  double load[RESIDUE_MODULUS] = {0};
  double sum = 0;
  uint32_t i, residue;
  model->num_bits = bloom_leveldb_reached_bits(shape->num_bits);
  model->num_probes = shape->num_probes;
  model->num_keys = (double)num_keys;
  model->has_probe2 = model->num_probes>2 && model->num_bits>=PROBE2_MIN_BITS;
  model->keys_per_step = model->num_keys / PROBE2_NUM_STEPS;
  model->divisor = greatest_common_divisor((uint32_t)(model->num_bits % RESIDUE_MODULUS), RESIDUE_MODULUS);
  model->inverse = inverse_mod_65537((uint32_t)(model->num_bits % PROBE2_STEP));
  for(i=0; i<model->num_probes; i++){
    if( i!=2 || !model->has_probe2 ) add_load(model, i, load);
  }
  for(residue=0; residue<model->divisor; residue++){
    model->missed[residue] = exp_minus(load[residue]);
    sum += model->missed[residue];
  }
  model->fill_ratio = 1 - sum / model->divisor;
}

/* The mean number of keys whose probe 2 hits the position of this probe: over
** all values 65537*s - w that differ from it by a multiple of num_bits. */
static double probe2_load(const fpr_model *model, uint32_t probe){
  const int64_t num_bits = (int64_t)model->num_bits;
  /* One multiple of num_bits in 65537 leads to a given residue, unless all do. */
  const int64_t period = model->inverse ? num_bits * PROBE2_STEP : num_bits;
  double share = 0;
  uint32_t w;
  for(w=0; w<3; w++){
    uint32_t residue = (probe%PROBE2_STEP + w) % PROBE2_STEP;
    int64_t value = (int64_t)probe;
    if( model->inverse ){
      value -= (int64_t)((uint64_t)residue * model->inverse % PROBE2_STEP) * num_bits;
    }else if( residue ){
      continue;
    }
    value %= period;
    if( value<0 ) value += period;
    for(; value<=(int64_t)UINT32_MAX; value+=period){
      /* Of the keys of one s, the share of each w. */
      double height = (double)value / DIGESTS;
      share += w==0 ? height/2 : w==1 ? 0.5 : (1-height)/2;
    }
  }
  return share * model->keys_per_step;
}

/* The probability that all bits of a digest are set, by keys of other digests. */
static double all_set(const fpr_model *model, uint32_t digest){
  uint32_t delta = digest >> 17 | digest << 15;
  uint32_t probe = digest;
  double probability = 1;
  uint32_t i;
  for(i=0; i<model->num_probes; i++, probe+=delta){
    double missed = model->missed[probe % model->divisor];
    if( model->has_probe2 ){
      double load = probe2_load(model, probe);
      if( load>0 ) missed *= exp_minus(load);
    }
    probability *= 1 - missed;
  }
  return probability;
}

/* What shows in small filters only: digests whose delta is a multiple of
** num_bits, so that all probes meet until the sum passes 2^32, and digests that
** are a stored one shifted by a few probes.  Factors fitted to 100..3,000 keys
** at 16..100 bits per key; the divisor's to a size that 255 divides. */
static double small_filter_excess(const fpr_model *model){
  double stay = 2.5 / model->num_probes * model->fill_ratio / (1.001 - model->fill_ratio);
  double shift = 3 * model->num_keys / (double)model->num_bits;
  double excess = (stay + shift) * (1 + model->divisor / 140.0) / (double)model->num_bits;
  return excess<1 ? excess : 1;
}

double bloom_modelled_fpr(const bloom_shape *shape, uint64_t num_keys){
  fpr_model model;
  double sum = 0, excess;
  uint32_t num_digests, i;
  if( num_keys==0 || shape->num_probes==0 ) return num_keys!=0;
  fpr_model_init(&model, shape, num_keys);
  /* One digest of each residue modulo 65537, the rest of it spread evenly; any one
  ** where all positions are alike. */
  num_digests = model.has_probe2 || model.divisor>1 ? PROBE2_STEP : 1;
  for(i=0; i<num_digests; i++){
    uint32_t s = i * 40503u % PROBE2_NUM_STEPS; /* 2^16 / golden ratio */
    sum += all_set(&model, s * PROBE2_STEP + i);
  }
  excess = small_filter_excess(&model);
  return 1 - (1 - sum / num_digests) * (1 - excess) * exp_minus(model.num_keys / DIGESTS);
}

/* The rate if probes were independent and digests had no end. */
static double textbook_fpr(const bloom_shape *shape, uint64_t num_keys){
  double fill_ratio = 1 - exp_minus((double)num_keys * shape->num_probes / (double)shape->num_bits);
  double fpr = 1;
  uint32_t i;
  for(i=0; i<shape->num_probes; i++) fpr *= fill_ratio;
  return fpr;
}

/* The modelled rate, or the textbook's if that is already over enough: it is
** never much higher, and costs nothing. */
static double fpr_at(uint64_t num_keys, uint32_t tenth_bits, double enough){
  bloom_shape shape;
  double fpr;
  if( bloom_leveldb_shape(num_keys, tenth_bits / 10.0, &shape)!=BLOOM_OK ) return 1;
  fpr = 0.9 * textbook_fpr(&shape, num_keys);
  return fpr>enough ? fpr : bloom_modelled_fpr(&shape, num_keys);
}

uint32_t bloom_tenth_bits_per_key(double fpr, uint64_t num_keys, double *best_fpr){
  /* Out of reach is found out first, at sizes that do not resonate together. */
  static const uint32_t largest_tenth_bits[] = {1000, 987, 953, 911};
  const double floor_fpr = 1 - exp_minus((double)num_keys / DIGESTS);
  double best = 1;
  bloom_shape shape = {0, 0, 0, 0}, failed = {0, 0, 0, 0};
  uint32_t known = 0; /* a size that will do */
  uint32_t tenth_bits = MIN_TENTH_BITS; /* all smaller ones will not, or were passed over */
  int num_tried = 0;
  size_t i;
  for(i=0; i<sizeof(largest_tenth_bits)/sizeof(largest_tenth_bits[0]) && known==0; i++){
    double reached = fpr_at(num_keys, largest_tenth_bits[i], 1);
    if( reached<best ) best = reached;
    if( reached<=fpr ) known = largest_tenth_bits[i];
  }
  if( known==0 ){
    *best_fpr = best;
    return 0;
  }
  while( tenth_bits<known ){
    const uint32_t tried = num_tried<MAX_TRIED_IN_TURN ? tenth_bits : (tenth_bits + known) / 2;
    double ratio;
    /* Small filters have one shape for many sizes. */
    bloom_leveldb_shape(num_keys, tried / 10.0, &shape);
    if( shape.num_bits==failed.num_bits && shape.num_probes==failed.num_probes ){
      tenth_bits = tried + 1;
      continue;
    }
    num_tried++;
    ratio = (fpr_at(num_keys, tried, fpr) - floor_fpr) / (fpr - floor_fpr);
    if( ratio<=1 ){
      known = tried;
      continue;
    }
    failed = shape;
    /* A tenth of a bit takes 5 % off the rate, more only where a probe is
    ** added: go on by what 20 % each would need. */
    tenth_bits = tried + 1;
    for(; ratio>RESONANCE; ratio/=1.25) tenth_bits++;
  }
  return known;
}
