/*
** Every case of the tables that make_cases.py writes, through the core and through every SQL
** function that reads a BLOB; make_cases.py explains the tables.
**
**   corrupt_test TABLE.tsv ...
**
** Bytes are handed over in memory that ends where they end, so that a sanitizer
** sees one read too many.  Where LevelDB is installed, its answers are compared, too.
** Prints what differs, and last `N passed, N failed`: a case is one test.
*/
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "../../../ext/bloom.h"
#include "../../../ext/core/encodings.h"
#include "../../lib/test.h"
#ifdef HAVE_LEVELDB
#include "../../core/leveldb_oracle.h"
#endif

#define NUM_COLUMNS 12
#define NUM_KEYS    3

/* A row of a table. */
typedef struct corrupt_case {
  const char *encoding, *label, *note, *change, *what;
  const char *answers[NUM_KEYS]; /* "0" or "1" */
  const char *bits, *probes, *set;
  uint8_t *bytes;
  size_t num_bytes;
} corrupt_case;

static const char *const keys[NUM_KEYS] = {"hello", "world", "absent"};

static int num_differences; /* of the case that is run */

static void check(const corrupt_case *c, const char *what, int is_right){
  if( is_right ) return;
  printf("%s (%s)\n  differs: %s\n", c->what, c->label, what);
  num_differences++;
}

static int is_null(const char *text){
  return strcmp(text, "NULL")==0;
}

static int begins_with(const char *text, const char *beginning){
  return text!=NULL && strncmp(text, beginning, strlen(beginning))==0;
}

static int is_bloomfile(const corrupt_case *c){
  return strcmp(c->encoding, "bloomfile")==0;
}

/* -- Core -------------------------------------------------------------------- */

static int answer_to(const bloom_filter *filter, const char *key, size_t num_chars){
  return filter->encoding->may_contain_bytes(filter, (const uint8_t*)key, num_chars);
}

static void check_core(const corrupt_case *c){
  bloom_filter filter;
  bloom_facts facts;
  int i;
  bloom_filter_read(c->bytes, c->num_bytes, &filter);
  for(i=0; i<NUM_KEYS; i++) check(c, keys[i], answer_to(&filter, keys[i], strlen(keys[i]))==atoi(c->answers[i]));
  filter.encoding->describe(&filter, 1, &facts);
  check(c, "num_bytes", filter.shape.num_bytes==c->num_bytes);
  check(c, "encoding", is_null(c->encoding) ? facts.encoding==NULL
                                            : facts.encoding && strcmp(facts.encoding, c->encoding)==0);
  if( facts.encoding ) check(c, "num_bits", facts.num_bits==atoll(c->bits));
  if( facts.encoding ) check(c, "bits_set", facts.bits_set==atoll(c->set));
  if( !is_null(c->probes) ) check(c, "num_probes", facts.num_probes==atoi(c->probes));
  check(c, "may be changed", (filter.encoding->readonly_reason==NULL || filter.encoding->readonly_reason(&filter)==NULL)
                             ==(strcmp(c->change, "yes")==0));
}

#ifdef HAVE_LEVELDB
static size_t num_oracle_answers;

/* The keys of the table, and a hundred others. */
static void check_leveldb(const corrupt_case *c){
  bloom_filter filter;
  char key[16];
  int i;
  bloom_filter_read(c->bytes, c->num_bytes, &filter);
  for(i=0; i<NUM_KEYS+100; i++){
    const size_t num_chars = (size_t)snprintf(key, sizeof(key), "%s", i<NUM_KEYS ? keys[i] : "");
    const size_t num = i<NUM_KEYS ? num_chars : (size_t)snprintf(key, sizeof(key), "%d", i - NUM_KEYS - 1);
    const int theirs = oracle_may_match(c->bytes, c->num_bytes, (const uint8_t*)key, num);
    check(c, "LevelDB answers otherwise", answer_to(&filter, key, num)==theirs);
    if( i<NUM_KEYS ) check(c, "the table says otherwise than LevelDB", theirs==atoi(c->answers[i]));
    num_oracle_answers++;
  }
}
#endif

/* -- SQL --------------------------------------------------------------------- */

static sqlite3 *db;

/* A statement with the case's bytes as ?1 and a key as ?2, run to its first row;
** NULL, and the connection's message, if it fails. */
static sqlite3_stmt *run_with_key(const corrupt_case *c, const char *sql, const char *key){
  sqlite3_stmt *statement = NULL;
  if( sqlite3_prepare_v2(db, sql, -1, &statement, NULL)!=SQLITE_OK ){
    printf("%s: %s\n", sql, sqlite3_errmsg(db));
    exit(1);
  }
  sqlite3_bind_blob64(statement, 1, c->bytes, c->num_bytes, SQLITE_STATIC);
  sqlite3_bind_text(statement, 2, key, -1, SQLITE_STATIC);
  if( sqlite3_step(statement)==SQLITE_ROW ) return statement;
  sqlite3_finalize(statement);
  return NULL;
}

static sqlite3_stmt *run(const corrupt_case *c, const char *sql){
  return run_with_key(c, sql, NULL);
}

/* The statement gives this one integer. */
static void check_answer(const corrupt_case *c, const char *sql, const char *key, int expected){
  sqlite3_stmt *statement = run_with_key(c, sql, key);
  check(c, sql, statement!=NULL && sqlite3_column_type(statement, 0)==SQLITE_INTEGER
             && sqlite3_column_int(statement, 0)==expected);
  sqlite3_finalize(statement);
}

static void check_integer(const corrupt_case *c, const char *sql, int expected){
  check_answer(c, sql, NULL, expected);
}

/* The statement fails, and its message holds the text. */
static void check_fails(const corrupt_case *c, const char *sql, const char *text){
  sqlite3_stmt *statement = run(c, sql);
  check(c, sql, statement==NULL && strstr(sqlite3_errmsg(db), text)!=NULL);
  sqlite3_finalize(statement);
}

/* 1, or an error that says why these bytes cannot be changed. */
static void check_change(const corrupt_case *c, const char *sql){
  if( strcmp(c->change, "yes")==0 ){
    check_integer(c, sql, 1);
  }else{
    check_fails(c, sql, c->change);
  }
}

/* As a BLOB, as a handle, as a column, and as a handle of a column. */
static void check_may_contain(const corrupt_case *c){
  static const char *const forms[] = {
    "SELECT bloom_may_contain(?1, ?2)",
    "SELECT bloom_may_contain(bloom_open(?1), ?2)",
    "SELECT bloom_may_contain(bloom_open(bloom_open(?1)), ?2)",
    "SELECT bloom_may_contain((SELECT f FROM stored), ?2)",
    "SELECT bloom_may_contain((SELECT bloom_open(f) FROM stored), ?2)",
  };
  size_t form;
  int i;
  for(form=0; form<sizeof(forms)/sizeof(forms[0]); form++){
    for(i=0; i<NUM_KEYS; i++) check_answer(c, forms[form], keys[i], atoi(c->answers[i]));
  }
  check_integer(c, "SELECT bloom_may_contain(?1, NULL) IS NULL", 1);
  check_integer(c, "SELECT typeof(bloom_open(?1)) = 'null'", 1);
}

static int column_is(sqlite3_stmt *statement, int column, const char *expected){
  if( is_null(expected) ) return sqlite3_column_type(statement, column)==SQLITE_NULL;
  return sqlite3_column_type(statement, column)==SQLITE_INTEGER
      && sqlite3_column_int64(statement, column)==atoll(expected);
}

/* 0..1, and never less than certain where all keys may be contained. */
static int is_rate(sqlite3_stmt *statement, int column, const corrupt_case *c){
  const double rate = sqlite3_column_double(statement, column);
  if( sqlite3_column_type(statement, column)!=SQLITE_FLOAT ) return 0;
  if( begins_with(c->note, "too short") ) return rate<=0;
  if( is_bloomfile(c) ) return rate>=0 && rate<=1; /* the mean over its sets */
  if( begins_with(c->note, "no probes") || begins_with(c->note, "reserved") || strcmp(c->note, "saturated")==0 ) return rate>=1;
  return rate>=0 && rate<=1;
}

static void check_info(const corrupt_case *c, const char *sql){
  sqlite3_stmt *statement = run(c, sql);
  const int is_reserved = begins_with(c->note, "reserved");
  const int has_bits = !is_null(c->probes) && !is_reserved && atoi(c->bits)>0;
  const int has_keys = has_bits && atoi(c->probes)>0 && strcmp(c->bits, c->set)!=0
                    && !(is_bloomfile(c) && strcmp(c->note, "saturated")==0);
  const char *note;
  if( statement==NULL ){
    check(c, sqlite3_errmsg(db), 0);
    return;
  }
  note = (const char*)sqlite3_column_text(statement, 11);
  check(c, "encoding", is_null(c->encoding) ? sqlite3_column_type(statement, 0)==SQLITE_NULL
                                            : strcmp((const char*)sqlite3_column_text(statement, 0), c->encoding)==0);
  check(c, "num_bytes", sqlite3_column_int64(statement, 1)==(sqlite3_int64)c->num_bytes);
  check(c, "num_bits", column_is(statement, 2, c->bits));
  check(c, "num_probes", column_is(statement, 3, c->probes));
  check(c, "bits_set", column_is(statement, 4, c->set));
  check(c, "fill_ratio", sqlite3_column_type(statement, 5)==(has_bits ? SQLITE_FLOAT : SQLITE_NULL));
  if( has_bits && !is_bloomfile(c) ){
    const double difference = sqlite3_column_double(statement, 5) - atof(c->set) / atof(c->bits);
    check(c, "fill_ratio", difference<1e-12 && difference>-1e-12);
  }
  check(c, "estimated_keys", sqlite3_column_type(statement, 6)==(has_keys ? SQLITE_FLOAT : SQLITE_NULL));
  check(c, "bits_per_key", sqlite3_column_type(statement, 7)
                           ==(has_keys && strcmp(c->set, "0")!=0 ? SQLITE_FLOAT : SQLITE_NULL));
  check(c, "expected_fpr", is_rate(statement, 8, c));
  check(c, "measured_fpr", is_rate(statement, 9, c));
  check(c, "num_sets", sqlite3_column_type(statement, 10)==(is_bloomfile(c) ? SQLITE_INTEGER : SQLITE_NULL));
  check(c, "note", is_null(c->note) ? note==NULL : begins_with(note, c->note));
  check(c, "one row", sqlite3_step(statement)==SQLITE_DONE);
  sqlite3_finalize(statement);
}

/* The sets that may hold a key are there if any may: of a BloomFile, and of nothing else. */
static void check_sets(const corrupt_case *c){
  int i;
  if( !is_bloomfile(c) ){
    check_fails(c, "SELECT * FROM bloom_sets(?1, 'hello')", "(file) must be a BloomFile, a BLOB or a handle from bloom_open(), not ");
    check_fails(c, "SELECT * FROM bloom_sets(bloom_open(?1), NULL)", " bytes that are none");
    return;
  }
  for(i=0; i<NUM_KEYS; i++){
    check_answer(c, "SELECT count(*) > 0 FROM bloom_sets(?1, ?2)", keys[i], atoi(c->answers[i]));
    check_answer(c, "SELECT count(*) > 0 FROM stored, bloom_sets(bloom_open(f), ?2)", keys[i], atoi(c->answers[i]));
  }
  check_integer(c, "SELECT count(*) = 0 FROM bloom_sets(?1, 'hello') WHERE set_number NOT BETWEEN 0 AND 8 * length(?1)", 1);
  check_integer(c, "SELECT count(*) FROM bloom_sets(?1, NULL)", 0);
}

static void check_changes(const corrupt_case *c){
  if( is_bloomfile(c) ){
    check_fails(c, "SELECT bloom_add(?1)", "the filter is of many sets");
    check_fails(c, "SELECT bloom_add(bloom_open(?1), 'new')", "the filter is of many sets");
    check_integer(c, "SELECT bloom_merge(?1) IS ?1", 1);
    check_integer(c, "SELECT bloom_merge(f) IS ?1 FROM (SELECT ?1 AS f UNION ALL SELECT ?1)", 1);
    check_integer(c, "SELECT bloom_merge(bloom_open(f)) IS ?1 FROM stored", 1);
    return;
  }
  check_change(c, "SELECT bloom_add(?1) IS ?1");
  check_change(c, "SELECT bloom_add(?1, NULL) IS ?1");
  check_change(c, "SELECT bloom_add(bloom_open(?1), 'new') IS bloom_add(?1, 'new')");
  check_change(c, "SELECT bloom_may_contain(bloom_add(?1, 'new', 1, x'ff'), 'new')");
  check_change(c, "SELECT length(bloom_add(?1, 'new')) = length(?1)");
  /* Nothing that was contained is lost. */
  check_change(c, "WITH keys(k) AS (VALUES ('hello'), ('world'), ('absent'), (0), (1), (2), (3), (4), (5), (6), (7))"
                  " SELECT count(*) = 0 FROM (SELECT bloom_add(?1, 'new') AS f), keys"
                  " WHERE bloom_may_contain(?1, k) > bloom_may_contain(f, k)");
  check_change(c, "SELECT bloom_merge(?1) IS ?1");
  check_change(c, "SELECT bloom_merge(f) IS ?1 FROM (SELECT ?1 AS f UNION ALL SELECT ?1)");
  check_change(c, "SELECT bloom_merge(f) IS bloom_add(?1, 'new')"
                  " FROM (SELECT ?1 AS f UNION ALL SELECT bloom_add(?1, 'new'))");
  check_change(c, "SELECT bloom_merge(bloom_open(f)) IS ?1 FROM stored");
  /* After a good filter an error comes, or the union of equal shapes. */
  if( strcmp(c->change, "yes")!=0 ){
    check_fails(c, "SELECT bloom_merge(f) FROM (SELECT bloom_build(1) AS f UNION ALL SELECT ?1 UNION ALL SELECT bloom_build(1))",
                c->change);
  }
}

/* Bytes are a key like any other, and no number. */
static void check_as_key(const corrupt_case *c){
  check_integer(c, "SELECT bloom_may_contain(bloom_build(?1), ?1)", 1);
  check_integer(c, "SELECT bloom_may_contain(bloom_add(bloom_empty(100), ?1), ?1)", 1);
  check_integer(c, "SELECT bloom_partition(?1, 7) BETWEEN 0 AND 6 AND bloom_partition(?1, 1) = 0", 1);
  check_fails(c, "SELECT bloom_build(1, ?1)", "must be a number in 1..100, or a rate above 0 and below 1, not a BLOB of");
  check_fails(c, "SELECT bloom_build(1, 10, ?1)", "(capacity) must be an integer");
  check_fails(c, "SELECT bloom_empty(?1)", "(capacity) must be an integer");
  check_fails(c, "SELECT bloom_bits_per_key(?1)", "(false_positive_rate) must be a number");
  check_fails(c, "SELECT bloom_partition(1, ?1)", "(num_partitions) must be an integer");
  check_integer(c, "SELECT set_number FROM bloom_sets((SELECT bloom_build_sets(40, ?1)), ?1)", 40);
  check_fails(c, "SELECT bloom_build_sets(?1, 1)", "(set_number) must be an integer");
  check_fails(c, "SELECT bloom_build_sets(1, 1, ?1)", "must be a number in 1..100, or a rate above 0 and below 1, not a BLOB of");
  check_fails(c, "SELECT bloom_build_sets(1, 1, 10, ?1)", "(capacity) must be an integer");
  check_fails(c, "SELECT bloom_may_contain(CAST(?1 AS TEXT), 1)", "must be a BLOB or a handle from bloom_open(), not TEXT");
  check_fails(c, "SELECT * FROM bloom_info(CAST(?1 AS TEXT))", "not TEXT");
}

/* Bytes are a filter block of LevelDB's where their end says so, and no table file. */
static void check_as_file(const corrupt_case *c){
  const size_t n = c->num_bytes;
  const uint8_t *end = c->bytes + (n<5 ? 0 : n - 5);
  const uint32_t filters_bytes = n<5 ? UINT32_MAX
    : (uint32_t)end[0] | (uint32_t)end[1]<<8 | (uint32_t)end[2]<<16 | (uint32_t)end[3]<<24;
  if( n<5 || filters_bytes>n - 5 ){
    check_fails(c, "SELECT * FROM bloom_filter_block(?1)", "is no LevelDB filter block: it");
  }else{
    check_integer(c, "SELECT count(*) FROM bloom_filter_block(?1)", (int)((n - 5 - filters_bytes) / 4));
    check_integer(c, "SELECT count(*) = count(bloom_may_contain(filter, 'hello')) FROM bloom_filter_block(?1)", 1);
    /* What is damaged may contain any key, and what has no bytes contains none. */
    check_integer(c, "SELECT count(*) = 0 FROM bloom_filter_block(?1) WHERE CASE WHEN note LIKE 'damaged%'"
                     " THEN NOT bloom_may_contain(filter, 'absent') ELSE length(filter)<2 AND bloom_may_contain(filter, 'absent') END", 1);
  }
  check_fails(c, "SELECT * FROM bloom_ldb(?1)", "is not a complete LevelDB table file: ");
  check_fails(c, "SELECT * FROM bloom_ldb(CAST(?1 AS TEXT))", "not TEXT");
  check_integer(c, "SELECT bloom_may_contain(f.filter, ?1) FROM (SELECT bloom_filter_block_build(0, ?1) AS block), bloom_filter_block(block) f", 1);
  check_fails(c, "SELECT bloom_filter_block_build(?1, 1)", "(block_offset) must be an integer");
  check_fails(c, "SELECT bloom_filter_block_build(0, 1, ?1)", "must be a number in 1..100, or a rate above 0 and below 1, not a BLOB of");
  if( n==16 ) check_integer(c, "SELECT bloom_key(?1, 'uuid') = ?1", 1);
  else check_fails(c, "SELECT bloom_key(?1, 'uuid')", "or a BLOB of 16 bytes, not a BLOB of");
  check_fails(c, "SELECT bloom_key(?1, 'varint64')", "must be an integer in");
  if( n==16 ) check_integer(c, "SELECT length(bloom_key(?1, 'siphash', ?1))", 8);
  else check_fails(c, "SELECT bloom_key(?1, 'siphash', ?1)", "must be a BLOB of 16 bytes, not a BLOB of");
}

static void check_sql(const corrupt_case *c){
  sqlite3_stmt *statement = run(c, "DELETE FROM stored");
  statement = run(c, "INSERT INTO stored VALUES (?1)");
  if( statement || sqlite3_changes(db)!=1 ) check(c, "storing it", 0);
  check_may_contain(c);
  check_info(c, "SELECT * FROM bloom_info(?1)");
  check_info(c, "SELECT i.* FROM stored, bloom_info(f) AS i");
  check_info(c, "SELECT * FROM bloom_info(bloom_open(?1))");
  check_changes(c);
  check_sets(c);
  check_as_key(c);
  check_as_file(c);
}

/* -- The tables --------------------------------------------------------------- */

static uint8_t hex_digit(char digit){
  return (uint8_t)(digit<='9' ? digit - '0' : digit - 'a' + 10);
}

static void read_hex(const char *hex, corrupt_case *c){
  size_t i;
  if( strcmp(hex, "-")==0 ) hex = "";
  c->num_bytes = strlen(hex) / 2;
  /* SQLite takes NULL for no BLOB at all: even no bytes have an address. */
  c->bytes = malloc(c->num_bytes ? c->num_bytes : 1);
  if( c->bytes==NULL ) abort();
  for(i=0; i<c->num_bytes; i++) c->bytes[i] = (uint8_t)(hex_digit(hex[2*i])<<4 | hex_digit(hex[2*i+1]));
}

/* Labels are kept to what they mean. */
static void check_label(const corrupt_case *c){
  if( strcmp(c->label, "good")==0 ) check(c, "label", strcmp(c->change, "yes")==0);
  else if( strcmp(c->label, "dubious")==0 ) check(c, "label", strcmp(c->change, "yes")==0);
  else check(c, "label", strcmp(c->label, "bad")==0 && strcmp(c->change, "yes")!=0);
}

/* A line into its columns. */
static void read_case(char *line, corrupt_case *c){
  char *columns[NUM_COLUMNS];
  int num_columns = 0;
  line[strcspn(line, "\n")] = 0;
  while( num_columns<NUM_COLUMNS ){
    columns[num_columns++] = line;
    line += strcspn(line, "\t");
    if( *line ) *line++ = 0;
  }
  c->encoding = columns[0];
  c->label = columns[1];
  c->answers[0] = columns[2];
  c->answers[1] = columns[3];
  c->answers[2] = columns[4];
  c->bits = columns[5];
  c->probes = columns[6];
  c->set = columns[7];
  c->note = columns[8];
  c->change = columns[9];
  c->what = columns[11];
  read_hex(columns[10], c);
}

int main(int num_args, char **args){
  int i;
  if( sqlite3_open(":memory:", &db)!=SQLITE_OK || sqlite3_bloom_init(db, NULL, NULL)!=SQLITE_OK
   || sqlite3_exec(db, "PRAGMA trusted_schema = OFF; CREATE TABLE stored(f)", NULL, NULL, NULL)!=SQLITE_OK ) return 1;
  for(i=1; i<num_args; i++){
    char line[4096];
    FILE *table = fopen(args[i], "r");
    if( table==NULL ) return 1;
    while( fgets(line, sizeof(line), table) ){
      corrupt_case c;
      if( line[0]=='#' || begins_with(line, "encoding\t") ) continue;
      read_case(line, &c);
      num_differences = 0;
      check_label(&c);
      check_core(&c);
#ifdef HAVE_LEVELDB
      if( strcmp(c.encoding, "parquet")!=0 && !is_bloomfile(&c) ) check_leveldb(&c);
#endif
      check_sql(&c);
      free(c.bytes);
      tally(num_differences==0, "%d differences", num_differences);
    }
    fclose(table);
  }
  if( sqlite3_close(db)!=SQLITE_OK ) tally(0, "a statement was left open");
#ifdef HAVE_LEVELDB
  printf("note: %lu answers compared with live LevelDB %s\n", (unsigned long)num_oracle_answers, oracle_version());
#else
  printf("note: LevelDB is not installed; answers are compared with its rules alone\n");
#endif
  return end_of_tests();
}
