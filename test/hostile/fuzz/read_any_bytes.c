/*
** Reads any bytes as a filter, in the core and by every SQL function that takes a BLOB: every
** answer, fact and refusal is that of the formats' rules, nothing is read beyond the bytes, and
** no key is lost by adding or merging.  In a replay live LevelDB answers as well, if it is there.
**
** Input: number of bytes of a key, the key, then the filter; for merging, the
** first and the second half of the filter's bits are two filters.
**
** A kept input's label begins with how its bytes are to be read: leveldb, parquet, bloomfile,
** or the beginning of bloom_info's note.
*/
#include "fuzz.h"

#include <sqlite3.h>

#include "../../../ext/bloom.h"
#include "../../../ext/core/encodings.h"
#include "../../../ext/core/leveldb/leveldb.h"
#ifdef HAVE_LEVELDB
#include "../../core/leveldb_oracle.h"
#endif

#define NUM_HASHES 16
#define NUM_KEYS   4

typedef struct key_bytes {
  const uint8_t *bytes;
  size_t num_bytes;
} key_bytes;

/* What the formats' rules say of bytes (FORMATS.md). */
typedef struct rules {
  const char *encoding; /* NULL: reserved for others */
  int64_t num_bits, num_probes, bits_set; /* -1: unknown */
  const char *note;     /* how it begins, or NULL */
  const char *refusal;  /* why bloom_merge() does not take it, or NULL */
  const uint8_t *bits;
  uint64_t num_slots;   /* blocks, or a BloomFile's units */
  size_t unit_bytes;
  int is_damaged;       /* a header of the encoding, and not what belongs behind it */
} rules;

static uint64_t count_bits(const uint8_t *bytes, size_t num_bytes){
  uint64_t count = 0;
  size_t i;
  for(i=0; i<num_bytes; i++){
    unsigned byte = bytes[i];
    for(; byte; byte>>=1) count += byte & 1;
  }
  return count;
}

static int begins_with(const char *text, const char *beginning){
  return strncmp(text, beginning, strlen(beginning))==0;
}

/* -- What the rules say ------------------------------------------------------- */

/* A header of exactly the length of what is behind it. */
static int is_parquet(const uint8_t *bytes, size_t n, rules *r){
  uint8_t header[REFERENCE_HEADER_BYTES];
  for(r->num_slots=1; 32*r->num_slots<n; r->num_slots++){
    const size_t num = reference_header(r->num_slots, header);
    r->bits = bytes + num;
    if( n==num + 32*r->num_slots && memcmp(bytes, header, num)==0 ) return 1;
  }
  return 0;
}

/* A number of at most 10 bytes, then three kinds, whatever they are or none, and the end. */
static int begins_as_parquet(const uint8_t *bytes, size_t n){
  size_t i = 1, kind;
  if( n==0 || bytes[0]!=21 ) return 0;
  while( i<n && bytes[i]>127 ) i++;
  if( i>10 ) return 0;
  for(i++, kind=0; kind<3; kind++){
    size_t num_zeros = 0;
    if( i>=n || bytes[i]!=28 ) return 0;
    i++;
    if( i<n && bytes[i]%16==12 ) num_zeros = 1, i++;
    for(num_zeros++; num_zeros; num_zeros--, i++) if( i>=n || bytes[i]!=0 ) return 0;
  }
  return i<n && bytes[i]==0;
}

static int begins_as_bloomfile(const uint8_t *bytes, size_t n){
  static const uint8_t tag_and_version[] = {0xed, 0x34, 0x97, 0xfa, 0, 1, 0, 0};
  static const uint8_t zeros[8];
  return n>=32 && memcmp(bytes, tag_and_version, 8)==0 && memcmp(bytes + 24, zeros, 8)==0;
}

static int is_bloomfile(const uint8_t *bytes, size_t n, rules *r){
  if( n==32 || !begins_as_bloomfile(bytes, n) ) return 0;
  r->num_slots = reference_number(bytes + 8, 8);
  r->num_probes = (int64_t)reference_number(bytes + 16, 4);
  r->unit_bytes = (size_t)reference_number(bytes + 20, 4);
  r->bits = bytes + 32;
  return r->num_probes>=1 && r->num_probes<=100 && r->unit_bytes>0
      && (n-32)%r->unit_bytes==0 && (n-32)/r->unit_bytes==r->num_slots;
}

/* The most units that one set has a bit in. */
static uint64_t fullest_set(const rules *r){
  uint64_t most = 0;
  size_t set, unit;
  for(set=0; set<8*r->unit_bytes; set++){
    uint64_t count = 0;
    for(unit=0; unit<r->num_slots; unit++){
      count += r->bits[unit*r->unit_bytes + set/8] >> set%8 & 1;
    }
    if( count>most ) most = count;
  }
  return most;
}

static rules read_by_rules(const uint8_t *bytes, size_t n){
  rules r = {"leveldb", 0, -1, 0, NULL, NULL, bytes, 0, 0, 0};
  size_t num_bytes = n ? n - 1 : 0; /* of the bits */
  uint64_t full, limit;
  if( is_parquet(bytes, n, &r) ){
    r.encoding = "parquet";
    r.num_probes = 8;
    num_bytes = 32 * (size_t)r.num_slots;
  }else if( is_bloomfile(bytes, n, &r) ){
    r.encoding = "bloomfile";
    num_bytes = n - 32;
  }else if( begins_as_parquet(bytes, n) ){
    return (rules){"parquet", -1, -1, -1, "damaged", "the filter is damaged", bytes, 0, 0, 1};
  }else if( begins_as_bloomfile(bytes, n) ){
    return (rules){"bloomfile", -1, -1, -1, "damaged", "the filter is damaged", bytes, 0, 0, 1};
  }else{
    r.bits = bytes;
    r.num_probes = -1;
    r.unit_bytes = 0;
    if( n>=2 ) r.num_probes = bytes[n-1];
    if( n<2 ){
      r.note = r.refusal = "too short";
    }else if( r.num_probes>30 ){
      return (rules){NULL, -1, -1, -1, "reserved encoding", "of a reserved encoding", bytes, 0,
                     0, 0};
    }else if( r.num_probes==0 ){
      r.note = "no probes";
      r.refusal = "without probes";
    }
  }
  r.num_bits = 8 * (int64_t)num_bytes;
  r.bits_set = (int64_t)count_bits(r.bits, num_bytes);
  if( r.note ) return r;
  full = r.unit_bytes ? fullest_set(&r) : (uint64_t)r.bits_set;
  limit = r.unit_bytes ? r.num_slots : (uint64_t)r.num_bits;
  if( 4*full>3*limit ) r.note = full==limit ? "saturated" : "nearly saturated";
  return r;
}

static int is_named(const rules *r, const char *encoding){
  return r->encoding && strcmp(r->encoding, encoding)==0;
}

static int is_of(const rules *r, const char *encoding){
  return is_named(r, encoding) && !r->is_damaged;
}

static int answer_by_rules(const rules *r, const uint8_t *bytes, size_t n, key_bytes key){
  if( r->is_damaged ) return 1;
  if( is_of(r, "parquet") ){
    const uint64_t hash = reference_xxh64(key.bytes, key.num_bytes);
    return reference_block_may_contain(r->bits, r->num_slots, hash);
  }
  if( is_of(r, "bloomfile") ){
    const uint64_t hash = reference_xxh64(key.bytes, key.num_bytes);
    size_t set;
    for(set=0; set<8*r->unit_bytes; set++){
      if( reference_set_may_contain(bytes, r->num_slots, (uint32_t)r->num_probes, r->unit_bytes,
                                    hash, set) ) return 1;
    }
    return 0;
  }
  return reference_may_contain(bytes, n, reference_hash(key.bytes, key.num_bytes));
}

/* -- Core --------------------------------------------------------------------- */

/* Any encoding's; then LevelDB's for what is not another's. */
static void check_core(const bloom_filter *filter, const rules *r, const key_bytes *keys,
                       const int *answers){
  const bloom_encoding *encoding = filter->encoding;
  bloom_facts facts;
  int i;
  for(i=0; i<NUM_KEYS; i++){
    const bloom_hash_value hash = encoding->hash_bytes(keys[i].bytes, keys[i].num_bytes);
    FUZZ_CHECK(encoding->may_contain(filter, hash)==answers[i]);
  }
  encoding->describe(filter, 1, &facts);
  FUZZ_CHECK(facts.encoding ? is_named(r, facts.encoding) : r->encoding==NULL);
  FUZZ_CHECK(facts.num_bits==r->num_bits && facts.bits_set==r->bits_set);
  FUZZ_CHECK(facts.num_probes==r->num_probes);
  FUZZ_CHECK((encoding->readonly_reason && encoding->readonly_reason(filter))==(r->refusal!=NULL));
}

#ifdef HAVE_LEVELDB
/* Of the keys, and of a hundred numbers. */
static void check_leveldb(const bloom_filter *filter, const uint8_t *bytes, size_t num_bytes,
                          const key_bytes *keys){
  int i;
  for(i=0; i<NUM_KEYS+100; i++){
    char number[16];
    const int num_chars = snprintf(number, sizeof(number), "%d", i - NUM_KEYS - 1);
    key_bytes key = {(const uint8_t*)number, (size_t)num_chars};
    if( i<NUM_KEYS ) key = keys[i];
    FUZZ_CHECK(oracle_may_match(bytes, num_bytes, key.bytes, key.num_bytes)
               ==filter->encoding->may_contain(filter, filter->encoding->hash_bytes(key.bytes, key.num_bytes)));
  }
}
#endif

static void check_reading(const bloom_filter *filter, size_t num_bytes, unsigned last){
  FUZZ_CHECK(filter->encoding==&bloom_encoding_leveldb);
  FUZZ_CHECK(filter->shape.num_bytes==num_bytes);
  FUZZ_CHECK(filter->shape.num_probes==(num_bytes<2 || last>30 ? 0 : last));
  FUZZ_CHECK(filter->shape.num_bits==(num_bytes ? (num_bytes-1)*8 : 0));
  FUZZ_CHECK((filter->encoding->readonly_reason(filter)==NULL)==(filter->shape.num_probes>0));
}

static void check_facts(const bloom_filter *filter, unsigned last, int seldom){
  const size_t num_bytes = filter->shape.num_bytes;
  const int has_bits = filter->shape.num_probes>0;
  bloom_facts facts, cheap;
  filter->encoding->describe(filter, 1, &facts);
  filter->encoding->describe(filter, 0, &cheap);
  FUZZ_CHECK(cheap.encoding==facts.encoding && cheap.num_bits==facts.num_bits
             && cheap.num_probes==facts.num_probes);
  FUZZ_CHECK(facts.expected_fpr>=0 && facts.expected_fpr<=1);
  FUZZ_CHECK((facts.encoding==NULL)==(num_bytes>=2 && last>30));
  FUZZ_CHECK(facts.encoding==NULL ? facts.bits_set<0
             : facts.bits_set==(int64_t)(num_bytes ? count_bits(filter->bytes, num_bytes-1) : 0));
  FUZZ_CHECK((facts.estimated_keys>=0)==(has_bits && facts.bits_set<facts.num_bits));
  if( facts.estimated_keys>=0 ){
    /* One bit of n set by one probe: a little over a key; one bit left: n ln n. */
    FUZZ_CHECK(facts.bits_set
               ? facts.estimated_keys>=(double)facts.bits_set/(double)facts.num_probes*0.999999
               : facts.estimated_keys<1e-9);
    FUZZ_CHECK(facts.estimated_keys<=(double)facts.num_bits * 45);
  }
  if( seldom ){
    const double measured_fpr = bloom_measured_fpr(filter);
    FUZZ_CHECK(measured_fpr>=0 && measured_fpr<=1);
    if( num_bytes<2 ) FUZZ_CHECK(measured_fpr<=0);
    if( num_bytes>=2 && !has_bits ) FUZZ_CHECK(measured_fpr>=1);
  }
}

/* Adds the first hashes; what was found before is found still. */
static void check_add(const bloom_filter *filter, const uint32_t *hashes, const uint8_t *answers){
  const bloom_shape shape = filter->shape;
  const size_t num_added = hashes[0] % 5;
  uint8_t *grown = fuzz_exact(filter->bytes, filter->shape.num_bytes);
  uint8_t *expected = fuzz_exact(filter->bytes, filter->shape.num_bytes);
  const bloom_hash_run run = {NULL, hashes, num_added};
  size_t i;
  bloom_leveldb_add(&shape, grown, &run);
  for(i=0; i<num_added; i++) reference_add(expected, filter->shape.num_bytes, hashes[i]);
  FUZZ_CHECK(memcmp(grown, expected, filter->shape.num_bytes)==0);
  for(i=0; i<NUM_HASHES; i++){
    if( i<num_added || answers[i] ){
      FUZZ_CHECK(reference_may_contain(grown, filter->shape.num_bytes, hashes[i]));
    }
  }
  free(grown);
  free(expected);
}

/* Two halves of the bits with one probe byte: what either has, the union has. */
static void check_merge(const bloom_filter *filter, const uint32_t *hashes){
  const size_t half = (filter->shape.num_bytes - 1) / 2;
  bloom_filter other;
  uint8_t *left, *right, *both;
  size_t i;
  if( half==0 ) return;
  left = fuzz_exact(filter->bytes, half + 1);
  right = fuzz_exact(filter->bytes + half, half + 1);
  left[half] = right[half] = (uint8_t)filter->shape.num_probes;
  both = fuzz_exact(left, half + 1);
  bloom_encoding_leveldb.read(right, half + 1, &other);
  FUZZ_CHECK(bloom_merge_filter(both, &other)==1);
  FUZZ_CHECK(both[half]==filter->shape.num_probes);
  for(i=0; i<half; i++) FUZZ_CHECK(both[i]==(left[i] | right[i]));
  for(i=0; i<NUM_HASHES; i+=4){
    if( reference_may_contain(left, half + 1, hashes[i])
     || reference_may_contain(right, half + 1, hashes[i]) ){
      FUZZ_CHECK(reference_may_contain(both, half + 1, hashes[i]));
    }
  }
  free(left);
  free(right);
  free(both);
}

/* -- SQL ---------------------------------------------------------------------- */

static sqlite3 *db;

/* A statement whose ?1 is the bytes, ?2 a key and ?3 what is expected of it.  It gives the
** integer 1, or fails with a message that has the error in it. */
typedef struct sql_check {
  int needs; /* properties of the bytes */
  const char *sql;
  const char *error; /* or NULL, or one of the next two */
  sqlite3_stmt *statement;
} sql_check;

/* Succeeds for what can be changed, else fails with the reason. */
static const char if_merged[] = "", if_added[] = "";

enum {
  IS_ANY = 0,
  IS_BLOOMFILE = 1, IS_NO_BLOOMFILE = 2,
  IS_BLOCK = 4, IS_NO_BLOCK = 8,
  HAS_16_BYTES = 16, HAS_NOT_16_BYTES = 32,
  IS_REFUSED = 64
};

/* For each key: ?3 is the answer to it.  As a BLOB, a handle, a column, a column's handle. */
static sql_check key_checks[] = {
  {IS_ANY, "SELECT bloom_may_contain(?1, ?2) IS ?3", NULL, NULL},
  {IS_ANY, "SELECT bloom_may_contain(bloom_open(?1), ?2) IS ?3", NULL, NULL},
  {IS_ANY, "SELECT bloom_may_contain(bloom_open(bloom_open(?1)), ?2) IS ?3", NULL, NULL},
  {IS_ANY, "SELECT bloom_may_contain((SELECT f FROM stored), ?2) IS ?3", NULL, NULL},
  {IS_ANY, "SELECT bloom_may_contain((SELECT bloom_open(f) FROM stored), ?2) IS ?3", NULL, NULL},
  /* Sets that may hold a key are there if any may. */
  {IS_BLOOMFILE, "SELECT count(*) > 0 = ?3 FROM bloom_sets(?1, ?2)", NULL, NULL},
  {IS_BLOOMFILE, "SELECT count(*) > 0 = ?3 FROM stored, bloom_sets(bloom_open(f), ?2)", NULL, NULL},
  {IS_BLOOMFILE, "SELECT count(*) = 0 FROM bloom_sets(?1, ?2)"
    " WHERE set_number NOT BETWEEN 0 AND 8 * length(?1)", NULL, NULL},
};

/* Once: ?3 is the number of a filter block's filters. */
static sql_check checks[] = {
  {IS_ANY, "SELECT bloom_may_contain(?1, NULL) IS NULL", NULL, NULL},
  {IS_ANY, "SELECT typeof(bloom_open(?1)) = 'null'", NULL, NULL},

  {IS_NO_BLOOMFILE, "SELECT * FROM bloom_sets(?1, 'hello')",
    "(file) must be a BloomFile, a BLOB or a handle from bloom_open(), not ", NULL},
  {IS_NO_BLOOMFILE, "SELECT * FROM bloom_sets(bloom_open(?1), NULL)", " bytes that are none", NULL},
  {IS_BLOOMFILE, "SELECT count(*) = 0 FROM bloom_sets(?1, NULL)", NULL, NULL},

  /* Changes. */
  {IS_ANY, "SELECT bloom_add(?1) IS ?1", if_added, NULL},
  {IS_ANY, "SELECT bloom_add(?1, NULL) IS ?1", if_added, NULL},
  {IS_ANY, "SELECT bloom_add(bloom_open(?1), 'new') IS bloom_add(?1, 'new')", if_added, NULL},
  {IS_ANY, "SELECT bloom_may_contain(bloom_add(?1, 'new', 1, x'ff'), 'new')", if_added, NULL},
  {IS_ANY, "SELECT length(bloom_add(?1, 'new')) = length(?1)", if_added, NULL},
  {IS_ANY, "WITH keys(k) AS (VALUES ('hello'), ('world'), ('absent'), (0), (1), (2), (3), (4),"
    " (5), (6), (7))"
    " SELECT count(*) = 0 FROM (SELECT bloom_add(?1, 'new') AS f), keys"
    " WHERE bloom_may_contain(?1, k) > bloom_may_contain(f, k)", if_added, NULL},
  {IS_ANY, "SELECT bloom_merge(f) IS bloom_add(?1, 'new')"
    " FROM (SELECT ?1 AS f UNION ALL SELECT bloom_add(?1, 'new'))", if_added, NULL},
  {IS_ANY, "SELECT bloom_merge(?1) IS ?1", if_merged, NULL},
  {IS_ANY, "SELECT bloom_merge(f) IS ?1 FROM (SELECT ?1 AS f UNION ALL SELECT ?1)",
    if_merged, NULL},
  {IS_ANY, "SELECT bloom_merge(bloom_open(f)) IS ?1 FROM stored", if_merged, NULL},
  {IS_REFUSED, "SELECT bloom_merge(f) FROM"
    " (SELECT bloom_build(1) AS f UNION ALL SELECT ?1 UNION ALL SELECT bloom_build(1))",
    if_merged, NULL},

  /* Bytes are a key like any other, and no number. */
  {IS_ANY, "SELECT bloom_may_contain(bloom_build(?1), ?1)", NULL, NULL},
  {IS_ANY, "SELECT bloom_may_contain(bloom_add(bloom_empty(100), ?1), ?1)", NULL, NULL},
  {IS_ANY, "SELECT bloom_partition(?1, 7) BETWEEN 0 AND 6 AND bloom_partition(?1, 1) = 0",
    NULL, NULL},
  {IS_ANY, "SELECT set_number = 40 FROM bloom_sets((SELECT bloom_build_sets(40, ?1)), ?1)",
    NULL, NULL},
  {IS_ANY, "SELECT bloom_may_contain(f.filter, ?1)"
    " FROM (SELECT bloom_filter_block_build(0, ?1) AS block), bloom_filter_block(block) f",
    NULL, NULL},
  {HAS_16_BYTES, "SELECT bloom_key(?1, 'uuid') = ?1", NULL, NULL},
  {HAS_16_BYTES, "SELECT length(bloom_key(?1, 'siphash', ?1)) = 8", NULL, NULL},
#define NO_RATE "must be a number in 1..100, or a rate above 0 and below 1, not a BLOB of"
  {IS_ANY, "SELECT bloom_build(1, ?1)", NO_RATE, NULL},
  {IS_ANY, "SELECT bloom_build(1, 10, ?1)", "(capacity) must be an integer", NULL},
  {IS_ANY, "SELECT bloom_empty(?1)", "(capacity) must be an integer", NULL},
  {IS_ANY, "SELECT bloom_bits_per_key(?1)", "(false_positive_rate) must be a number", NULL},
  {IS_ANY, "SELECT bloom_partition(1, ?1)", "(num_partitions) must be an integer", NULL},
  {IS_ANY, "SELECT bloom_build_sets(?1, 1)", "(set_number) must be an integer", NULL},
  {IS_ANY, "SELECT bloom_build_sets(1, 1, ?1)", NO_RATE, NULL},
  {IS_ANY, "SELECT bloom_build_sets(1, 1, 10, ?1)", "(capacity) must be an integer", NULL},
  {IS_ANY, "SELECT bloom_filter_block_build(?1, 1)", "(block_offset) must be an integer", NULL},
  {IS_ANY, "SELECT bloom_filter_block_build(0, 1, ?1)", NO_RATE, NULL},
  {IS_ANY, "SELECT bloom_may_contain(CAST(?1 AS TEXT), 1)",
    "must be a BLOB or a handle from bloom_open(), not TEXT", NULL},
  {IS_ANY, "SELECT * FROM bloom_info(CAST(?1 AS TEXT))", "not TEXT", NULL},
  {IS_ANY, "SELECT bloom_key(?1, 'varint64')", "must be an integer in", NULL},
  {HAS_NOT_16_BYTES, "SELECT bloom_key(?1, 'uuid')", "or a BLOB of 16 bytes, not a BLOB of", NULL},
  {HAS_NOT_16_BYTES, "SELECT bloom_key(?1, 'siphash', ?1)",
    "must be a BLOB of 16 bytes, not a BLOB of", NULL},

  /* And a filter block of LevelDB's where their end says so.  What is damaged may contain any
  ** key, and what has no bytes contains none. */
  {IS_NO_BLOCK, "SELECT * FROM bloom_filter_block(?1)", "is no LevelDB filter block: it", NULL},
  {IS_BLOCK, "SELECT count(*) = ?3 FROM bloom_filter_block(?1)", NULL, NULL},
  {IS_BLOCK, "SELECT count(*) = count(bloom_may_contain(filter, 'hello'))"
    " FROM bloom_filter_block(?1)", NULL, NULL},
  {IS_BLOCK, "SELECT count(*) = 0 FROM bloom_filter_block(?1) WHERE CASE WHEN note LIKE 'damaged%'"
    " THEN NOT bloom_may_contain(filter, 'absent')"
    " ELSE length(filter) < 2 AND bloom_may_contain(filter, 'absent') END", NULL, NULL},
  {IS_ANY, "SELECT * FROM bloom_ldb(?1)", "is not a complete LevelDB table file: ", NULL},
  {IS_ANY, "SELECT * FROM bloom_ldb(CAST(?1 AS TEXT))", "not TEXT", NULL},
};

#define INFO_COLUMNS "encoding, num_bytes, num_bits, num_probes, bits_set, fill_ratio," \
  " estimated_keys, bits_per_key, expected_fpr, num_sets, note, "
/* The rate is measured once, and not of each mangled input: it takes as long as all the rest. */
static sql_check info_checks[] = {
  {IS_ANY, "SELECT " INFO_COLUMNS "measured_fpr FROM bloom_info(?1)", NULL, NULL},
  {IS_ANY, "SELECT " INFO_COLUMNS "expected_fpr FROM stored, bloom_info(f)", NULL, NULL},
  {IS_ANY, "SELECT " INFO_COLUMNS "expected_fpr FROM bloom_info(bloom_open(?1))", NULL, NULL},
};

#define SIZE(list) (sizeof(list)/sizeof((list)[0]))

static void prepare(sql_check *list, size_t num){
  for(; num; num--, list++){
    if( sqlite3_prepare_v2(db, list->sql, -1, &list->statement, NULL)==SQLITE_OK ) continue;
    fprintf(stderr, "%s: %s\n", list->sql, sqlite3_errmsg(db));
    abort();
  }
}

static void open_database(void){
  FUZZ_CHECK(sqlite3_open(":memory:", &db)==SQLITE_OK);
  FUZZ_CHECK(sqlite3_bloom_init(db, NULL, NULL)==SQLITE_OK);
  FUZZ_CHECK(sqlite3_exec(db, "PRAGMA trusted_schema = OFF; CREATE TABLE stored(f);"
                          " INSERT INTO stored VALUES (NULL)", NULL, NULL, NULL)==SQLITE_OK);
  prepare(key_checks, SIZE(key_checks));
  prepare(checks, SIZE(checks));
  prepare(info_checks, SIZE(info_checks));
}

/* Where the rest of the bytes is no filter block, num_filters is 0. */
static int properties(const rules *r, const uint8_t *bytes, size_t n, int64_t *num_filters){
  const uint64_t filters_bytes = n<5 ? UINT64_MAX : reference_number(bytes + n - 5, 4);
  const int is_block = n>=5 && filters_bytes<=n - 5;
  *num_filters = is_block ? (int64_t)((n - 5 - filters_bytes) / 4) : 0;
  return (is_of(r, "bloomfile") ? IS_BLOOMFILE : IS_NO_BLOOMFILE)
       | (is_block ? IS_BLOCK : IS_NO_BLOCK)
       | (n==16 ? HAS_16_BYTES : HAS_NOT_16_BYTES) | (r->refusal ? IS_REFUSED : 0);
}

static const char *expected_error(const sql_check *check, const rules *r){
  if( check->error==if_added && is_of(r, "bloomfile") ) return "the filter is of many sets";
  if( check->error==if_added || check->error==if_merged ) return r->refusal;
  return check->error;
}

static int gives_one(sqlite3_stmt *statement){
  return sqlite3_column_type(statement, 0)==SQLITE_INTEGER
      && sqlite3_column_int(statement, 0)==1;
}

static void run_checks(const sql_check *check, size_t num, int has, const rules *r, key_bytes key,
                       int64_t expected){
  for(; num; num--, check++){
    sqlite3_stmt *statement = check->statement;
    const char *error = expected_error(check, r);
    int has_row;
    if( check->needs & ~has ) continue;
    sqlite3_bind_text(statement, 2, (const char*)key.bytes, (int)key.num_bytes, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, expected);
    has_row = sqlite3_step(statement)==SQLITE_ROW;
    if( error ? has_row || strstr(sqlite3_errmsg(db), error)==NULL
              : !has_row || !gives_one(statement) ){
      fprintf(stderr, "broken: %s: %s\n", check->sql, sqlite3_errmsg(db));
      abort();
    }
    sqlite3_reset(statement);
  }
}

static int is_number(sqlite3_stmt *statement, int column, int64_t expected){
  return expected<0 ? sqlite3_column_type(statement, column)==SQLITE_NULL
                    : sqlite3_column_type(statement, column)==SQLITE_INTEGER
                      && sqlite3_column_int64(statement, column)==expected;
}

static int is_real_if(sqlite3_stmt *statement, int column, int condition){
  return sqlite3_column_type(statement, column)==(condition ? SQLITE_FLOAT : SQLITE_NULL);
}

static int is_text(sqlite3_stmt *statement, int column, const char *beginning){
  const char *text = (const char*)sqlite3_column_text(statement, column);
  return beginning ? text && begins_with(text, beginning) : text==NULL;
}

/* Certain where all keys may be contained; a BloomFile's is the mean over its sets. */
static int is_rate(sqlite3_stmt *statement, int column, const rules *r){
  const double rate = sqlite3_column_double(statement, column);
  const int is_certain = !is_of(r, "bloomfile")
                      && r->note && strcmp(r->note, "nearly saturated")!=0;
  if( sqlite3_column_type(statement, column)!=SQLITE_FLOAT ) return 0;
  if( r->note && strcmp(r->note, "too short")==0 ) return rate<=0;
  return rate>=(is_certain ? 1 : 0) && rate<=1;
}

static void check_info(sqlite3_stmt *s, const rules *r, size_t num_bytes){
  const int is_file = is_of(r, "bloomfile");
  const int is_saturated = r->note && strcmp(r->note, "saturated")==0;
  const int has_bits = r->encoding && r->num_probes>=0 && r->num_bits>0;
  const int has_keys = has_bits && r->num_probes>0 && !is_saturated;
  FUZZ_CHECK(sqlite3_step(s)==SQLITE_ROW);
  FUZZ_CHECK(is_text(s, 0, r->encoding));
  FUZZ_CHECK(is_number(s, 1, (int64_t)num_bytes) && is_number(s, 2, r->num_bits));
  FUZZ_CHECK(is_number(s, 3, r->num_probes) && is_number(s, 4, r->bits_set));
  FUZZ_CHECK(is_real_if(s, 5, has_bits));
  if( has_bits && !is_file ){
    const double ratio = (double)r->bits_set / (double)r->num_bits;
    FUZZ_CHECK(sqlite3_column_double(s, 5)<ratio + 1e-12);
    FUZZ_CHECK(sqlite3_column_double(s, 5)>ratio - 1e-12);
  }
  FUZZ_CHECK(is_real_if(s, 6, has_keys) && is_real_if(s, 7, has_keys && r->bits_set>0));
  FUZZ_CHECK(is_rate(s, 8, r) && is_rate(s, 11, r));
  FUZZ_CHECK(sqlite3_column_type(s, 9)==(is_file ? SQLITE_INTEGER : SQLITE_NULL));
  FUZZ_CHECK(is_text(s, 10, r->note));
  FUZZ_CHECK(sqlite3_step(s)==SQLITE_DONE && sqlite3_reset(s)==SQLITE_OK);
}

static void bind_bytes(const sql_check *list, size_t num, const uint8_t *bytes, size_t num_bytes){
  for(; num; num--, list++){
    sqlite3_bind_blob64(list->statement, 1, bytes, num_bytes, SQLITE_STATIC);
  }
}

static void check_sql(const rules *r, const uint8_t *bytes, size_t num_bytes,
                      const key_bytes *keys, const int *answers){
  sqlite3_stmt *store = NULL;
  int64_t num_filters;
  const int has = properties(r, bytes, num_bytes, &num_filters);
  size_t i;
  if( db==NULL ) open_database();
  FUZZ_CHECK(sqlite3_prepare_v2(db, "UPDATE stored SET f = ?1", -1, &store, NULL)==SQLITE_OK);
  sqlite3_bind_blob64(store, 1, bytes, num_bytes, SQLITE_STATIC);
  FUZZ_CHECK(sqlite3_step(store)==SQLITE_DONE && sqlite3_finalize(store)==SQLITE_OK);
  bind_bytes(key_checks, SIZE(key_checks), bytes, num_bytes);
  bind_bytes(checks, SIZE(checks), bytes, num_bytes);
  bind_bytes(info_checks, SIZE(info_checks), bytes, num_bytes);
  for(i=0; i<NUM_KEYS; i++){
    run_checks(key_checks, SIZE(key_checks), has, r, keys[i], answers[i]);
  }
  run_checks(checks, SIZE(checks), has, r, keys[0], num_filters);
  i = fuzz_label || fuzz_seldom(bytes, num_bytes, 16) ? 0 : 1;
  for(; i<SIZE(info_checks); i++) check_info(info_checks[i].statement, r, num_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_data_bytes){
  fuzz_input input = {data, num_data_bytes};
  uint32_t hashes[NUM_HASHES];
  uint8_t may[NUM_HASHES];
  int answers[NUM_KEYS];
  bloom_filter filter;
  rules r;
  size_t num_key_bytes, num_bytes, i;
  unsigned last;
  const size_t max_key_bytes = fuzz_byte(&input) % 24;
  const uint8_t *key = fuzz_bytes(&input, max_key_bytes, &num_key_bytes);
  uint8_t *exact_key = fuzz_exact(key, num_key_bytes);
  const uint8_t *bytes = fuzz_bytes(&input, SIZE_MAX, &num_bytes);
  uint8_t *exact = fuzz_exact(bytes, num_bytes);
  const key_bytes keys[NUM_KEYS] = {{exact_key, num_key_bytes},
    {(const uint8_t*)"hello", 5}, {(const uint8_t*)"world", 5}, {(const uint8_t*)"absent", 6}};

  r = read_by_rules(exact, num_bytes);
  FUZZ_CHECK(fuzz_label==NULL || begins_with(fuzz_label, r.note ? r.note : r.encoding));
  for(i=0; i<NUM_KEYS; i++) answers[i] = answer_by_rules(&r, exact, num_bytes, keys[i]);
  /* No bytes may come without an address. */
  bloom_filter_read(num_bytes || num_key_bytes%2 ? exact : NULL, num_bytes, &filter);
  check_core(&filter, &r, keys, answers);
  if( fuzz_is_replay || fuzz_seldom(data, num_data_bytes, 1024) ){
    check_sql(&r, exact, num_bytes, keys, answers);
  }

  hashes[0] = bloom_leveldb_hash(exact_key, num_key_bytes);
  FUZZ_CHECK(hashes[0]==reference_hash(exact_key, num_key_bytes));
  /* Any hashes, and some that only small filters tell apart. */
  for(i=1; i<NUM_HASHES; i++){
    hashes[i] = i<8 ? (uint32_t)i - 4 : hashes[i-1] * 1664525u + 1013904223u;
  }
  /* Another encoding's bytes are LevelDB's, too, if one insists. */
  if( filter.encoding!=&bloom_encoding_leveldb ){
    FUZZ_CHECK(bloom_encoding_leveldb.read(exact, num_bytes, &filter)==1);
  }
#ifdef HAVE_LEVELDB
  check_leveldb(&filter, exact, num_bytes, keys);
#endif
  last = num_bytes ? exact[num_bytes-1] : 0;
  check_reading(&filter, num_bytes, last);
  for(i=0; i<NUM_HASHES; i++){
    may[i] = (uint8_t)filter.encoding->may_contain(&filter, hashes[i]);
    FUZZ_CHECK(may[i]==reference_may_contain(exact, num_bytes, hashes[i]));
  }
  check_facts(&filter, last, fuzz_seldom(data, num_data_bytes, 2048));
  if( filter.shape.num_probes>0 ){
    check_add(&filter, hashes, may);
    check_merge(&filter, hashes);
  }
  /* Reading changes nothing. */
  FUZZ_CHECK(num_bytes==0 || memcmp(exact, bytes, num_bytes)==0);
  free(exact_key);
  free(exact);
  return 0;
}
