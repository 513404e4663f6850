/*
** Which of 100, 1,000, 10,000 sets may hold a key: what a look-up of an absent key costs
** with one filter a set, with these in partitions (the schema before BloomFiles), and with
** BloomFiles, by number of units, size of the page, and sets of equal and uneven size.
**
**     many_sets FOLDER [--sets N] [--repeats N] [--state NAME]
**
** FOLDER gets one database a contestant.  --sets is the largest number of sets: 100, 1,000
** and 10,000 are measured up to it.  Contestants take turns, each tested once untimed before;
** a repeat asks for 10 absent keys, each a statement that is reset; false sets are counted
** apart, with more keys.  Printed is the median of
** the repeats, us of processor time a look-up, least and most, and beside the time the MB
** that all keys take, sets that came though none has the key, and this number by what the
** bits set let expect (fill^probes, from bloom_info) and by theory for a set's mean keys.
**
**   warm    all pages in SQLite's page cache
**   small   SQLite's default page cache, 2 MB; the file in the system's cache
**
** A set has 2,000 keys at 10 bits; uneven ones have 250, 500, 1,000, 2,000 or 6,250, a
** fifth each.  100 sets differ, the others repeat them.  Partitions are uneven, too: files
** get a capacity of 4 or 5 % over the mean, so that their rates are on the average theory's.
*/
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../ext/bloom.h"
#include "bench.h"

#define KEY_CHARS   16
#define NUMBERS(count) "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n LIMIT " #count ")"

static void check(sqlite3 *db, int rc){
  if( rc!=SQLITE_OK ){
    fprintf(stderr, "%s\n", db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
    exit(1);
  }
}

static void exec(sqlite3 *db, const char *sql){
  check(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

static double now_ns(void){
  return clock_ns(CLOCK_MONOTONIC);
}

/* Key i: 16 hexadecimal digits, a different text for each i, in no order. */
static void write_key(sqlite3_uint64 i, char text[KEY_CHARS + 1]){
  static const char digits[] = "0123456789abcdef";
  const uint64_t z = random_of(i);
  int n;
  for(n=0; n<KEY_CHARS; n++) text[n] = digits[z >> (60 - 4*n) & 15];
  text[KEY_CHARS] = 0;
}

/* SQL: key(i) */
static void key_function(sqlite3_context *context, int num_args, sqlite3_value **args){
  char text[KEY_CHARS + 1];
  (void)num_args;
  write_key((sqlite3_uint64)sqlite3_value_int64(args[0]), text);
  sqlite3_result_text(context, text, KEY_CHARS, SQLITE_TRANSIENT);
}

/* A connection with bloom and key(). */
static sqlite3 *open_database(const char *path, int flags){
  sqlite3 *db;
  check(NULL, sqlite3_open_v2(path, &db, flags, NULL));
  check(db, sqlite3_bloom_init(db, NULL, NULL));
  check(db, sqlite3_create_function(db, "key", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, key_function, NULL, NULL));
  return db;
}

/* The statement of sql, which is freed. */
static sqlite3_stmt *prepared(sqlite3 *db, char *sql){
  sqlite3_stmt *statement;
  check(db, sqlite3_prepare_v2(db, sql, -1, &statement, NULL));
  sqlite3_free(sql);
  return statement;
}

static void close_database(sqlite3 *db, sqlite3_stmt *statement){
  sqlite3_finalize(statement);
  check(db, sqlite3_close(db));
}

/* What a command line says: FOLDER [ITEMS N] [--repeats N] [--state NAME]. */
typedef struct options {
  const char *folder;     /* for databases */
  const char *only_state; /* NULL: all */
  int num_repeats;
  sqlite3_int64 num_items;
} options;

/* Sets what the command line names; items is the name of num_items there.  0 if the
** line is wrong, or num_items is below min_items. */
static int read_options(int argc, char **argv, const char *items, sqlite3_int64 min_items, options *o){
  int i;
  if( argc<2 ) return 0;
  o->folder = argv[1];
  for(i=2; i+1<argc; i+=2){
    if( strcmp(argv[i], items)==0 ) o->num_items = atoll(argv[i+1]);
    else if( strcmp(argv[i], "--repeats")==0 ) o->num_repeats = atoi(argv[i+1]);
    else if( strcmp(argv[i], "--state")==0 ) o->only_state = argv[i+1];
    else return 0;
  }
  return i==argc && o->num_items>=min_items && o->num_repeats>=1 && o->num_repeats<=MAX_REPEATS;
}

/* 1 if this state is to be measured. */
static int is_wanted(const options *o, const char *state){
  return o->only_state==NULL || strcmp(o->only_state, state)==0;
}

/* Makes the folder for databases unless it is there. */
static void make_folder(const char *path){
  struct stat status;
  if( stat(path, &status) && mkdir(path, 0777) ){
    perror(path);
    exit(1);
  }
}

static int file_exists(const char *path){
  return access(path, R_OK)==0;
}

/* Makes a database by SQL, which is freed, in pages of page_bytes, unless it is there. */
static void build_database(const char *path, int page_bytes, char *sql){
  char *temporary, *pragmas;
  double start = now_ns();
  sqlite3 *db;
  if( file_exists(path) ){
    sqlite3_free(sql);
    return;
  }
  temporary = sqlite3_mprintf("%s.new", path);
  pragmas = sqlite3_mprintf("PRAGMA page_size=%d; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                            "PRAGMA cache_size=-500000", page_bytes);
  unlink(temporary);
  db = open_database(temporary, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  exec(db, pragmas);
  exec(db, sql);
  check(db, sqlite3_close(db));
  if( rename(temporary, path) ) exit(1);
  fprintf(stderr, "built %s in %.1f s\n", path, (now_ns() - start)/1e9);
  sqlite3_free(pragmas);
  sqlite3_free(temporary);
  sqlite3_free(sql);
}

/* Reads a file, so that the system's cache has it. */
static void read_file(const char *path){
  static char buffer[1 << 20];
  int fd = open(path, O_RDONLY);
  if( fd<0 ) exit(1);
  while( read(fd, buffer, sizeof(buffer))>0 ){}
  close(fd);
}

/* Median, least and most of 1 .. MAX_REPEATS values. */
typedef struct spread { double median, least, most; } spread;

static spread spread_of(const double *values, int count){
  return (spread){quantile(values, count, 0.5), quantile(values, count, 0), quantile(values, count, 1)};
}

/* The spread of values[i] / base[i]: each pair was measured side by side. */
static spread ratios_of(const double *values, const double *base, int count){
  double ratios[MAX_REPEATS];
  int i;
  for(i=0; i<count; i++) ratios[i] = values[i] / base[i];
  return spread_of(ratios, count);
}

enum { WARM, SMALL, NUM_STATES };
static const char *const state_names[NUM_STATES] = {"warm", "small"};

#define NUM_DISTINCT   100
#define MEAN_KEYS      2000
#define NUM_CLASSES    5
#define KEYS_A_REPEAT 10

static const int class_keys[NUM_CLASSES] = {250, 500, 1000, 2000, 6250};

typedef enum contestant_kind { ROWS, PARTS, FILES, FILES_BY_SIZE, HANDLE } contestant_kind;

typedef struct contestant {
  const char *name;
  contestant_kind kind;
  int num_parts;
  int page_bytes;
  int is_uneven;
  sqlite3 *db;
  sqlite3_stmt *statement;
  double us[NUM_STATES][MAX_REPEATS];
  double megabytes, expected_fpr, num_false, num_tested;
} contestant;

static contestant contestants[] = {
  {.name = "a filter a set", .kind = ROWS, .page_bytes = 4096},
  {.name = "16 partitions, pages of 16 KB", .kind = PARTS, .num_parts = 16, .page_bytes = 16384},
  {.name = "BloomFile, 100 parts, 211 units", .kind = FILES, .num_parts = 100, .page_bytes = 4096},
  {.name = "the same, pages of 16 KB", .kind = FILES, .num_parts = 100, .page_bytes = 16384},
  {.name = "the same, pages of 64 KB", .kind = FILES, .num_parts = 100, .page_bytes = 65536},
  {.name = "80 parts, 263 units, 16 KB", .kind = FILES, .num_parts = 80, .page_bytes = 16384},
  {.name = "40 parts, 521 units, 16 KB", .kind = FILES, .num_parts = 40, .page_bytes = 16384},
  {.name = "1 part, 21,001 units, a handle", .kind = HANDLE, .num_parts = 1, .page_bytes = 16384},
  {.name = "uneven, a filter a set", .kind = ROWS, .page_bytes = 4096, .is_uneven = 1},
  {.name = "uneven, 16 partitions", .kind = PARTS, .num_parts = 16, .page_bytes = 16384, .is_uneven = 1},
  {.name = "uneven, BloomFile, 100 parts", .kind = FILES, .num_parts = 100, .page_bytes = 16384, .is_uneven = 1},
  {.name = "uneven, BloomFiles by size", .kind = FILES_BY_SIZE, .page_bytes = 16384, .is_uneven = 1},
};
/* The schemas that were best before. */
enum { EVEN_BASE = 1, UNEVEN_BASE = 9 };
#define NUM_CONTESTANTS (sizeof(contestants)/sizeof(contestants[0]))

static int num_sets;

/* A capacity for so many keys in the mean. */
static int capacity_for(int num_keys){
  return num_keys + (num_keys + 24)/25;
}

/* Partitions of a class of sets, of 25 keys each. */
static int parts_of_class(int class){
  return class_keys[class] / 25;
}

static int largest_set(const contestant *c){
  return c->is_uneven ? class_keys[NUM_CLASSES-1] : MEAN_KEYS;
}

/* Tables of the keys of the different sets, and of all sets by them. */
static char *keys_sql(const contestant *c){
  return sqlite3_mprintf(
    "CREATE TEMP TABLE sizes AS " NUMBERS(100) "SELECT i AS number, %s AS num_keys FROM n;"
    "CREATE TEMP TABLE keys AS " NUMBERS(6250) "SELECT number, key(number*10000 + i) AS k FROM sizes, n WHERE i < num_keys;"
    "CREATE TEMP TABLE sets AS " NUMBERS(%d) "SELECT i AS s, i%%%d AS number FROM n; CREATE INDEX temp.by_number ON sets(number);",
    c->is_uneven ? "CASE i%5 WHEN 0 THEN 250 WHEN 1 THEN 500 WHEN 2 THEN 1000 WHEN 3 THEN 2000 ELSE 6250 END" : "2000",
    num_sets, NUM_DISTINCT);
}

static char *setup_sql(const contestant *c){
  char *sql;
  int class;
  switch( c->kind ){
    case ROWS:
      return sqlite3_mprintf("%zCREATE TABLE filters(id INTEGER PRIMARY KEY, filter BLOB);"
        "INSERT INTO filters SELECT s, filter FROM (SELECT number, bloom_build(k) AS filter FROM keys GROUP BY 1) f"
        " JOIN sets USING (number) ORDER BY 1", keys_sql(c));
    case PARTS:
      return sqlite3_mprintf("%zCREATE TABLE filters(id INTEGER PRIMARY KEY, filter BLOB);"
        "INSERT INTO filters SELECT part*%d + s, filter FROM (SELECT number, bloom_partition(k, %d) AS part,"
        " bloom_build(k) AS filter FROM keys GROUP BY 1, 2) f JOIN sets USING (number) ORDER BY 1",
        keys_sql(c), num_sets, c->num_parts);
    case FILES:
    case HANDLE:
      return sqlite3_mprintf("%zCREATE TABLE files(id INTEGER PRIMARY KEY, file BLOB);"
        "CREATE TEMP TABLE parted AS SELECT bloom_partition(k, %d) AS part, number, k FROM keys ORDER BY 1;"
        "INSERT INTO files SELECT part, bloom_build_sets(s, k, 10, %d) FROM parted CROSS JOIN sets USING (number) GROUP BY 1",
        keys_sql(c), c->num_parts, capacity_for(largest_set(c)/c->num_parts));
    case FILES_BY_SIZE:
      sql = sqlite3_mprintf("%zCREATE TABLE files(id INTEGER PRIMARY KEY, file BLOB);", keys_sql(c));
      for(class=0; class<NUM_CLASSES; class++){
        sql = sqlite3_mprintf("%zCREATE TEMP TABLE parted%d AS SELECT bloom_partition(k, %d) AS part, number, k FROM keys"
          " WHERE number%%%d = %d ORDER BY 1;"
          "INSERT INTO files SELECT %d + part, bloom_build_sets(s/%d, k, 10, %d)"
          " FROM parted%d CROSS JOIN sets USING (number) GROUP BY 1;",
          sql, class, parts_of_class(class), NUM_CLASSES, class, class*1000, NUM_CLASSES, capacity_for(25), class);
      }
      return sql;
  }
  return NULL;
}

static char *query_sql(const contestant *c){
  char *sql = NULL;
  int class;
  switch( c->kind ){
    case ROWS: return sqlite3_mprintf("SELECT id FROM filters WHERE bloom_may_contain(filter, ?1)");
    case PARTS:
      return sqlite3_mprintf("SELECT id%%%d FROM filters WHERE bloom_may_contain(filter, ?1)"
                             " AND id BETWEEN bloom_partition(?1, %d)*%d AND bloom_partition(?1, %d)*%d + %d",
                             num_sets, c->num_parts, num_sets, c->num_parts, num_sets, num_sets - 1);
    case FILES:
      return sqlite3_mprintf("SELECT set_number FROM files, bloom_sets(file, ?1) WHERE id = bloom_partition(?1, %d)", c->num_parts);
    case HANDLE: /* all keys in one statement */
      return sqlite3_mprintf("SELECT set_number FROM probed CROSS JOIN bloom_sets((SELECT bloom_open(file) FROM files), k)");
    case FILES_BY_SIZE:
      for(class=0; class<NUM_CLASSES; class++){
        sql = sqlite3_mprintf("%z%sSELECT set_number*%d + %d FROM files, bloom_sets(file, ?1) WHERE id = %d + bloom_partition(?1, %d)",
                              sql, class ? " UNION ALL " : "", NUM_CLASSES, class, class*1000, parts_of_class(class));
      }
      return sql;
  }
  return NULL;
}

static double real_of(sqlite3 *db, const char *sql){
  sqlite3_stmt *statement;
  double number;
  check(db, sqlite3_prepare_v2(db, sql, -1, &statement, NULL));
  if( sqlite3_step(statement)!=SQLITE_ROW ) check(db, sqlite3_errcode(db));
  number = sqlite3_column_double(statement, 0);
  sqlite3_finalize(statement);
  return number;
}

static void prepare(const char *folder, contestant *c){
  const int has_files = c->kind!=ROWS && c->kind!=PARTS;
  char *path = sqlite3_mprintf("%s/sets-%d-%d-%d-%d-%d.db", folder, num_sets, (int)c->kind, c->num_parts, c->page_bytes, c->is_uneven);
  build_database(path, c->page_bytes, setup_sql(c));
  c->db = open_database(path, SQLITE_OPEN_READONLY);
  read_file(path);
  c->megabytes = real_of(c->db, has_files ? "SELECT sum(length(file))/1e6 FROM files" : "SELECT sum(length(filter))/1e6 FROM filters");
  /* The mean over all sets: each file, or the filters of each partition, has an equal share, because
  ** absent keys are spread evenly over the partitions of a class. */
  c->expected_fpr = real_of(c->db, has_files
    ? "SELECT avg(fpr) FROM (SELECT avg(expected_fpr) AS fpr FROM files, bloom_info(file) GROUP BY id/1000)"
    : "SELECT avg(expected_fpr) FROM filters, bloom_info(filter) WHERE id < 2000");
  c->num_false = c->num_tested = 0;
  exec(c->db, "CREATE TEMP TABLE probed(k)");
  c->statement = prepared(c->db, query_sql(c));
  sqlite3_free(path);
}

static int run_statement(contestant *c){
  int num_found = 0, rc;
  while( (rc = sqlite3_step(c->statement))==SQLITE_ROW ) num_found++;
  check(c->db, sqlite3_reset(c->statement));
  return num_found;
}

/* Looks up absent keys; returns the number of sets found. */
static int look_up(contestant *c, sqlite3_uint64 first, int num_keys){
  char key[KEY_CHARS + 1];
  int num_found = 0, i;
  if( c->kind==HANDLE ) return run_statement(c);
  for(i=0; i<num_keys; i++){
    write_key(((sqlite3_uint64)1 << 40) + first + (sqlite3_uint64)i, key);
    sqlite3_bind_text(c->statement, 1, key, KEY_CHARS, SQLITE_STATIC);
    num_found += run_statement(c);
  }
  return num_found;
}

/* A handle is opened once a statement: for so many keys that this does not count. */
static int num_keys_by(const contestant *c){
  return c->kind==HANDLE ? 5000 : KEYS_A_REPEAT;
}

static double measure(contestant *c, int state, int repeat){
  const sqlite3_uint64 first = (sqlite3_uint64)(repeat + 1) * 5000;
  double start, us;
  exec(c->db, state==WARM ? "PRAGMA cache_size=-400000; BEGIN" : "PRAGMA cache_size=-2000; BEGIN");
  if( c->kind==HANDLE ){
    char *sql = sqlite3_mprintf("DELETE FROM probed; " NUMBERS(%d) "INSERT INTO probed SELECT key((1<<40) + %lld + i) FROM n",
                                num_keys_by(c), (sqlite3_int64)first);
    exec(c->db, sql);
    sqlite3_free(sql);
  }
  look_up(c, first, KEYS_A_REPEAT);
  start = cpu_ns();
  look_up(c, first, KEYS_A_REPEAT);
  us = (cpu_ns() - start) / 1e3 / num_keys_by(c);
  /* In few sets rates are found by many keys. */
  if( c->num_tested<=0 ){
    c->num_tested = c->kind==HANDLE ? num_keys_by(c) : num_sets>=1000 ? 500 : 5000;
    c->num_false = look_up(c, first, (int)c->num_tested);
  }
  exec(c->db, "COMMIT");
  return us;
}

/* Theory at 10 bits, 6 probes. */
static double theory(void){
  return pow(1 - exp(-0.6), 6);
}

static void measure_sets(const options *o, FILE *out){
  int order[NUM_CONTESTANTS];
  int repeat, state;
  size_t n;
  for(n=0; n<NUM_CONTESTANTS; n++) prepare(o->folder, &contestants[n]);
  for(state=0; state<NUM_STATES; state++){
    if( !is_wanted(o, state_names[state]) ) continue;
    for(repeat=-1; repeat<o->num_repeats; repeat++){ /* -1 warms up */
      shuffle(order, (int)NUM_CONTESTANTS);
      for(n=0; n<NUM_CONTESTANTS; n++){
        contestant *c = &contestants[order[n]];
        double us = measure(c, state, repeat);
        if( repeat<0 ) continue;
        c->us[state][repeat] = us;
        if( out ) fprintf(out, "%d\t%s\t%s\t%d\t%.2f\t%.2f\t%.4f\t%.4f\n", num_sets, state_names[state], c->name, repeat, us,
                          c->megabytes, 100 * c->num_false / c->num_tested / num_sets, 100 * c->expected_fpr);
      }
    }
    printf("\n%6d sets, %-24s %8s %8s %8s %8s %7s %8s %6s %6s\n", num_sets, state_names[state], "us", "least", "most", "faster",
           "MB", "false", "/bits", "/theory");
    for(n=0; n<NUM_CONTESTANTS; n++){
      const contestant *c = &contestants[n];
      /* Beside the best schema without BloomFiles. */
      const contestant *base = &contestants[c->is_uneven ? UNEVEN_BASE : EVEN_BASE];
      spread us = spread_of(c->us[state], o->num_repeats);
      spread faster = ratios_of(base->us[state], c->us[state], o->num_repeats);
      double fpr = c->num_false / c->num_tested / num_sets;
      printf("%-37s %8.1f %8.1f %8.1f %8.1f %7.2f %8.2f %6.2f %6.2f\n", c->name, us.median, us.least, us.most, faster.median,
             c->megabytes, c->num_false / c->num_tested, fpr / c->expected_fpr, fpr / theory());
    }
    fflush(stdout);
  }
  for(n=0; n<NUM_CONTESTANTS; n++) close_database(contestants[n].db, contestants[n].statement);
}

int main(int argc, char **argv){
  options o = {.num_repeats = 11, .num_items = 10000};
  FILE *out = NULL;
  if( !read_options(argc, argv, "--sets", NUM_DISTINCT, &o) ){
    fprintf(stderr, "usage: many_sets FOLDER [--sets N] [--repeats N] [--state NAME]\n");
    return 2;
  }
  make_folder(o.folder);
  if( o.only_state==NULL ){ /* a part is not kept */
    out = open_results("many-sets", sqlite3_libversion(), "one absent key, many sets: us a look-up, bytes, false sets",
                       "num_sets\tstate\tcontestant\trepeat\tus\tmegabytes\tfalse_percent\texpected_percent");
  }
  printf("SQLite %s, %d repeats of %d look-ups, us a look-up\n", sqlite3_libversion(), o.num_repeats, KEYS_A_REPEAT);
  for(num_sets=NUM_DISTINCT; num_sets<=o.num_items; num_sets*=10) measure_sets(&o, out);
  return out ? fclose(out)!=0 : 0;
}
