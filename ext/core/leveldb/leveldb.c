/*
** LevelDB's filter; leveldb.h has the layout.
*/
#include "leveldb.h"

#include <string.h>

/* Digests that are set together, a multiple of the lanes: enough to make the kernels'
** calls cheap, so few that the processor computes one batch while it still sets the
** bits before. */
#define LEVELDB_ADD_DIGESTS 32

/* How far ahead digests are fetched. */
#define LEVELDB_PREFETCH_DIGESTS 512

/* Digests that are tested together, and probes: few enough to stay in L1. */
#define LEVELDB_BATCH_DIGESTS   256
#define LEVELDB_BATCH_POSITIONS (LEVELDB_BATCH_DIGESTS * 8)

/* Probes of every key of a batch before those that failed leave it. */
#define FIRST_ROUND_PROBES 2

/* The last double before 2^63; where size_t is smaller, what its bytes hold. */
#define LEVELDB_MAX_BITS (SIZE_MAX>UINT32_MAX ? 0x1.fffffffffffffp62 : ((double)SIZE_MAX - 1) * 8)

uint32_t bloom_leveldb_num_probes(double bits_per_key){
  double num_probes = bits_per_key * 0.69;
  if( num_probes<1 ) return 1;
  if( num_probes>BLOOM_LEVELDB_MAX_PROBES ) return BLOOM_LEVELDB_MAX_PROBES;
  return (uint32_t)num_probes;
}

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
    .num_probes = bloom_leveldb_num_probes(bits_per_key),
  };
  return BLOOM_OK;
}

void bloom_leveldb_clear(const bloom_shape *shape, uint8_t *filter){
  memset(filter, 0, shape->num_bytes - 1);
  filter[shape->num_bytes - 1] = (uint8_t)shape->num_probes;
}

static inline void set_bit(uint8_t *bits, uint32_t position){
  bits[position/8] |= (uint8_t)(1u << (position%8));
}

static inline uint32_t get_bit(const uint8_t *bits, uint32_t position){
  return (uint32_t)bits[position/8] >> (position%8) & 1;
}

/* A processor reads ahead by itself, but only to the end of a page: without this a
** pass over digests that lie in memory takes three times as long. */
static inline void prefetch_digests(const bloom_digest *digests, size_t num_digests){
#if defined(__GNUC__)
  if( num_digests<LEVELDB_PREFETCH_DIGESTS + LEVELDB_ADD_DIGESTS ) return;
  __builtin_prefetch(digests + LEVELDB_PREFETCH_DIGESTS);
  __builtin_prefetch(digests + LEVELDB_PREFETCH_DIGESTS + LEVELDB_ADD_DIGESTS/2);
#else
  (void)digests, (void)num_digests;
#endif
}

/* Fills the kernels' last lanes with copies of one digest. */
static size_t pad_digests(bloom_digest *batch, size_t num_digests){
  const bloom_digest copy = batch[num_digests-1];
  while( num_digests%BLOOM_KERNEL_MAX_LANES ) batch[num_digests++] = copy;
  return num_digests;
}

/* The next digests of the chain *runs, up to LEVELDB_ADD_DIGESTS and a multiple of
** the lanes; 0 at its end.  *digests is where they lie, or batch, where short runs
** come together, the last lanes filled with copies.  *num_used of *runs are gone. */
static size_t next_digests(const bloom_digest_run **runs, size_t *num_used, bloom_digest *batch,
                           const bloom_digest **digests){
  size_t num_digests = 0;
  *digests = batch;
  for(; *runs; *runs=(*runs)->next, *num_used=0){
    const size_t num_wanted = LEVELDB_ADD_DIGESTS - num_digests;
    const size_t num_left = (*runs)->num_digests - *num_used;
    const bloom_digest *front;
    if( num_left==0 ) continue;
    front = (*runs)->digests + *num_used;
    if( num_left<num_wanted ){
      memcpy(batch + num_digests, front, num_left * sizeof(*batch));
      num_digests += num_left;
      continue;
    }
    *num_used += num_wanted;
    prefetch_digests(front, num_left);
    if( num_digests==0 ){
      *digests = front;
      return num_wanted;
    }
    memcpy(batch + num_digests, front, num_wanted * sizeof(*batch));
    return LEVELDB_ADD_DIGESTS;
  }
  return num_digests ? pad_digests(batch, num_digests) : 0;
}

/* Digests whose positions fit in a batch. */
static size_t batch_digests(uint32_t num_probes){
  const size_t max_digests = LEVELDB_BATCH_POSITIONS / (num_probes ? num_probes : 1);
  if( max_digests>LEVELDB_BATCH_DIGESTS ) return LEVELDB_BATCH_DIGESTS;
  return max_digests / BLOOM_KERNEL_MAX_LANES * BLOOM_KERNEL_MAX_LANES;
}

/* Sets the bits of all digests, or those that lie in *part if it is not NULL. */
static void add_part(const bloom_kernels *kernels, const bloom_shape *shape, const bloom_part *part,
                     uint8_t *filter, const bloom_digest_run *run){
  const bloom_divisor divisor = bloom_divisor_of(shape->num_bits);
  bloom_digest batch[LEVELDB_ADD_DIGESTS];
  uint32_t positions[LEVELDB_ADD_DIGESTS * BLOOM_LEVELDB_MAX_PROBES];
  const bloom_digest *digests;
  size_t num_used = 0;
  size_t num_digests;
  while( (num_digests = next_digests(&run, &num_used, batch, &digests))>0 ){
    size_t num_positions, i;
    if( part ){
      num_positions = kernels->positions_in(*part, divisor, shape->num_probes, digests, num_digests, positions);
    }else{
      num_positions = num_digests * shape->num_probes;
      kernels->positions(divisor, 0, shape->num_probes, digests, num_digests, positions);
    }
    for(i=0; i<num_positions; i++) set_bit(filter, positions[i]);
  }
}

/* A filter larger than a cache is written part after part, each in a pass over
** all digests: fetching lines of all of it, in any order and by any prefetching,
** costs more than computing the positions again.  Not so if the digests are so
** few that a line is hardly fetched twice. */
void bloom_leveldb_add_by(const bloom_kernels *kernels, const bloom_shape *shape, uint8_t *filter,
                          const bloom_digest_run *runs){
  const uint64_t num_bits = bloom_leveldb_reached_bits(shape->num_bits);
  const uint64_t max_part_bits = (uint64_t)kernels->max_part_bytes * 8;
  const uint64_t num_parts = (num_bits + max_part_bits - 1) / max_part_bits;
  const uint64_t part_bits = (num_bits + num_parts - 1) / num_parts;
  const uint64_t num_lines = num_bits / 512;
  uint64_t num_digests = 0;
  const bloom_digest_run *run;
  uint64_t begin;
  for(run=runs; run; run=run->next) num_digests += run->num_digests;
  if( num_parts==1 || num_digests * shape->num_probes < 2 * num_lines ){
    add_part(kernels, shape, NULL, filter, runs);
    return;
  }
  for(begin=0; begin<num_bits; begin+=part_bits){
    const uint64_t num_left = num_bits - begin;
    const bloom_part part = {(uint32_t)begin, (uint32_t)(num_left<part_bits ? num_left : part_bits)};
    add_part(kernels, shape, &part, filter, runs);
  }
}

void bloom_leveldb_add(const bloom_shape *shape, uint8_t *filter, const bloom_digest_run *runs){
  bloom_leveldb_add_by(bloom_best_kernels(), shape, filter, runs);
}

void bloom_leveldb_merge(const bloom_shape *shape, uint8_t *filter, const uint8_t *other){
  size_t i;
  for(i=0; i<shape->num_bytes-1; i++) filter[i] |= other[i];
}

static int leveldb_read(const uint8_t *bytes, size_t num_bytes, bloom_filter *filter){
  const uint64_t num_bits = num_bytes<2 ? 0 : bloom_leveldb_reached_bits((uint64_t)(num_bytes-1) * 8);
  uint32_t num_probes = num_bytes ? bytes[num_bytes-1] : 0;
  bloom_reading reading;
  if( num_bytes<2 ){
    /* LevelDB looks at the length before the probe byte. */
    reading = BLOOM_READ_EMPTY;
    num_probes = 0;
  }else if( num_probes>BLOOM_LEVELDB_MAX_PROBES ){
    return 0;
  }else{
    reading = num_probes ? BLOOM_READ_BITS : BLOOM_READ_NO_PROBES;
  }
  *filter = (bloom_filter){
    .encoding = &bloom_encoding_leveldb,
    .bytes = bytes,
    .num_bytes = num_bytes,
    .num_bits = num_bits,
    .reciprocal = num_bits ? UINT64_MAX / num_bits + 1 : 0,
    .num_probes = num_probes,
    .reading = reading,
  };
  return 1;
}

/*
** probe mod num_bits for one key, which is too few to set up bloom_mod().  With
** reciprocal = floor((2^64 - 1) / num_bits) + 1 the low half of probe * reciprocal
** is the quotient's fraction, and times num_bits the remainder: exact for every
** probe and num_bits up to 2^32 [Lemire, Kaser, Kurz 2019, "Faster remainder by
** direct computation"].  A 32-bit division costs more.
*/
static inline uint32_t remainder_of(uint32_t probe, uint64_t reciprocal, uint64_t num_bits){
  const uint64_t fraction = probe * reciprocal;
#if defined(__SIZEOF_INT128__)
  __extension__ typedef unsigned __int128 uint128;
  return (uint32_t)((uint128)fraction * num_bits >> 64);
#else
  return (uint32_t)(((fraction >> 32) * num_bits + ((fraction & UINT32_MAX) * num_bits >> 32)) >> 32);
#endif
}

/* Probes tested per branch, and none after the last.  Where the answer comes is
** random: a mispredicted branch costs more than probes tested for nothing. */
#define PROBES_PER_BRANCH 6

static int leveldb_may_contain(const bloom_filter *filter, bloom_digest digest){
  const uint64_t reciprocal = filter->reciprocal;
  const uint64_t num_bits = filter->num_bits;
  const uint8_t *bits = filter->bytes;
  const uint32_t delta = bloom_probe_delta(digest);
  uint32_t probe = digest;
  uint32_t num_left = filter->num_probes;
  uint32_t is_set = 1;
  uint32_t j;
  if( num_bits==0 ) return 0;
  while( num_left>=PROBES_PER_BRANCH ){
    for(j=0; j<PROBES_PER_BRANCH; j++, probe+=delta){
      is_set &= get_bit(bits, remainder_of(probe, reciprocal, num_bits));
    }
    num_left -= PROBES_PER_BRANCH;
    if( num_left==0 || !is_set ) return (int)is_set;
  }
  for(; num_left; num_left--, probe+=delta){
    is_set &= get_bit(bits, remainder_of(probe, reciprocal, num_bits));
  }
  return (int)is_set;
}

/* Tests num_probes probes of each digest from the first_probe-th on and moves
** the digests that pass, with their indexes, to the front: no branch depends on
** an answer. */
static size_t test_probes(const bloom_kernels *kernels, const bloom_filter *filter,
                          bloom_divisor divisor, uint32_t first_probe, uint32_t num_probes,
                          bloom_digest *batch, uint16_t *indexes, size_t num_digests){
  const size_t num_lanes = kernels->num_lanes;
  uint32_t positions[LEVELDB_BATCH_POSITIONS];
  const uint32_t *position = positions;
  size_t num_passed = 0;
  size_t i, lane;
  const size_t num_padded = pad_digests(batch, num_digests);
  kernels->positions(divisor, first_probe, num_probes, batch, num_padded, positions);
  for(i=0; i<num_digests; i+=num_lanes, position+=num_lanes*num_probes){
    for(lane=0; lane<num_lanes && i+lane<num_digests; lane++){
      uint32_t is_set = 1;
      uint32_t j;
      for(j=0; j<num_probes; j++) is_set &= get_bit(filter->bytes, position[j*num_lanes + lane]);
      batch[num_passed] = batch[i+lane];
      indexes[num_passed] = indexes[i+lane];
      num_passed += is_set;
    }
  }
  return num_passed;
}

/* By the row's own kernel, or in rounds: a few probes of every key, then the others
** of the keys that passed.  A miss touches few cache lines. */
void bloom_leveldb_may_contain_by(const bloom_kernels *kernels, const bloom_filter *filter,
                                  const bloom_digest *digests, size_t num_digests, uint8_t *answers){
  const uint32_t num_probes = filter->num_probes;
  const size_t max_batch = batch_digests(num_probes);
  const uint32_t first_round = num_probes<FIRST_ROUND_PROBES ? num_probes : FIRST_ROUND_PROBES;
  bloom_divisor divisor;
  if( num_digests==0 ) return;
  if( filter->reading!=BLOOM_READ_BITS ){
    memset(answers, filter->reading!=BLOOM_READ_EMPTY, num_digests);
    return;
  }
  if( kernels->may_contain && filter->num_bytes>=BLOOM_KERNEL_MIN_BYTES ){
    kernels->may_contain(filter, digests, num_digests, answers);
    return;
  }
  divisor = bloom_divisor_of(filter->num_bits);
  while( num_digests ){
    const size_t num_batch = num_digests<max_batch ? num_digests : max_batch;
    bloom_digest batch[LEVELDB_BATCH_DIGESTS];
    uint16_t indexes[LEVELDB_BATCH_DIGESTS]; /* of the batch's digests among answers */
    size_t num_left, i;
    memcpy(batch, digests, num_batch * sizeof(batch[0]));
    for(i=0; i<num_batch; i++) indexes[i] = (uint16_t)i;
    num_left = test_probes(kernels, filter, divisor, 0, first_round, batch, indexes, num_batch);
    if( num_left && num_probes>first_round ){
      num_left = test_probes(kernels, filter, divisor, first_round, num_probes-first_round,
                             batch, indexes, num_left);
    }
    memset(answers, 0, num_batch);
    /* clang's analyzer gives up on the loop that filled indexes. */
    for(i=0; i<num_left; i++) answers[indexes[i]] = 1; /* NOLINT(clang-analyzer-core.uninitialized.*) */
    digests += num_batch;
    answers += num_batch;
    num_digests -= num_batch;
  }
}

static void leveldb_may_contain_many(const bloom_filter *filter, const bloom_digest *digests,
                                     size_t num_digests, uint8_t *answers){
  bloom_leveldb_may_contain_by(bloom_best_kernels(), filter, digests, num_digests, answers);
}

const bloom_encoding bloom_encoding_leveldb = {
  .name = "leveldb",
  .read = leveldb_read,
  .may_contain = leveldb_may_contain,
  .may_contain_many = leveldb_may_contain_many,
};
