/*
** What bloom costs per row of a scan, beside functions that do nothing or are
** built into SQLite.
**
**     per_row [quick | full] [--rows N] [--repeats N] [--only TEXT]
**
** quick: 1 million rows; full: 10 million, and indexes on disk too.  --only runs
** the groups whose name contains TEXT.  Contestants of a group scan the same
** table in memory and take turns within a repeat, in an order drawn anew, so that a
** change of the machine's mood hits all of them; one round before warms up, and a
** short one runs once untimed before, too.  The table gives median and quartiles, and
** the median of the differences from, or ratios to, another contestant in the same
** repeat.  Times are the processor's.
** It measures the loadable extension, as users run it, on the SQLite that it
** finds at run time (LD_LIBRARY_PATH brings another).  run.sh sets its environment:
** BENCH_EXTENSION, BENCH_MACHINE, BENCH_RESULTS, BENCH_FOLDER.
*/
#include <sqlite3.h>
#include <stdarg.h>

#include "bench.h"

#define MAX_CONTESTANTS 11
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static sqlite3 *db;
static FILE *out; /* raw rows, or NULL */
static const char *only = "";
static int num_rows, num_repeats;

static void check(int rc){
  if( rc!=SQLITE_OK && rc!=SQLITE_DONE && rc!=SQLITE_ROW ){
    fprintf(stderr, "per_row: %s\n", sqlite3_errmsg(db));
    exit(1);
  }
}

static void run(const char *format, ...){
  va_list args;
  char *sql;
  va_start(args, format);
  sql = sqlite3_vmprintf(format, args);
  va_end(args);
  check(sqlite3_exec(db, sql, NULL, NULL, NULL));
  sqlite3_free(sql);
}

/* Does nothing with its arguments: the price of any such call. */
static void noop(sqlite3_context *context, int num_args, sqlite3_value **args){
  (void)num_args; (void)args;
  sqlite3_result_int(context, 1);
}

typedef struct contestant {
  const char *name;
  const char *sql;  /* %s: the filter */
  const char *undo; /* runs after it, not timed; or NULL */
  sqlite3_stmt *statement;
  double warm_ns; /* of the run that warms up */
  double times[MAX_REPEATS];
  char result[24];
} contestant;

/* Compares two contestants, repeat by repeat. */
typedef struct comparison {
  char kind; /* '-' difference, '/' ratio */
  const char *name;
  const char *base;
} comparison;

static contestant *find(contestant *contestants, int num_contestants, const char *name){
  int i;
  for(i=0; i<num_contestants; i++){
    if( strcmp(contestants[i].name, name)==0 ) return &contestants[i];
  }
  fprintf(stderr, "per_row: no contestant %s\n", name);
  exit(1);
}

static void run_once(contestant *c){
  check(sqlite3_step(c->statement));
  check(sqlite3_reset(c->statement));
}

/* Prepares a statement, runs it, and keeps its result. */
static void warm_up(contestant *c, const char *filter){
  char *sql = sqlite3_mprintf(c->sql, filter);
  double start;
  check(sqlite3_prepare_v2(db, sql, -1, &c->statement, NULL));
  sqlite3_free(sql);
  if( sqlite3_bind_parameter_count(c->statement) ){
    sqlite3_stmt *get;
    check(sqlite3_prepare_v2(db, "SELECT filter FROM filters WHERE name = ?", -1, &get, NULL));
    check(sqlite3_bind_text(get, 1, filter, -1, SQLITE_STATIC));
    check(sqlite3_step(get));
    check(sqlite3_bind_value(c->statement, 1, sqlite3_column_value(get, 0)));
    sqlite3_finalize(get);
  }
  start = cpu_ns();
  check(sqlite3_step(c->statement));
  c->warm_ns = cpu_ns() - start;
  if( sqlite3_column_count(c->statement) ){
    const char *text = (const char *)sqlite3_column_text(c->statement, 0);
    snprintf(c->result, sizeof(c->result), "%s", text ? text : "NULL");
  }
  check(sqlite3_reset(c->statement));
  if( c->undo ) run("%s", c->undo);
}

/* The time of one run in ns; a short run is repeated for some ms. */
static double time_of(contestant *c){
  const int is_short = c->warm_ns<SHORT_NS && c->undo==NULL;
  const int num_runs = is_short ? 1 + (int)(5e6 / c->warm_ns) : 1;
  double start, time;
  int i;
  if( is_short ) run_once(c);
  start = cpu_ns();
  for(i=0; i<num_runs; i++) run_once(c);
  time = (cpu_ns() - start) / num_runs;
  if( c->undo ) run("%s", c->undo);
  return time;
}

/* One table of results.  num_units: what a time is divided by; filter: what %s
** in the SQL stands for, also bound as ?1 (its BLOB). */
static void compete(const char *group, const char *filter, const char *unit, double num_units,
                    int repeats, contestant *contestants, int num_contestants,
                    const comparison *comparisons, int num_comparisons){
  int order[MAX_CONTESTANTS];
  int repeat, i;
  for(i=0; i<num_contestants; i++) warm_up(&contestants[i], filter);
  for(repeat=0; repeat<repeats; repeat++){
    shuffle(order, num_contestants);
    for(i=0; i<num_contestants; i++){
      contestant *c = &contestants[order[i]];
      c->times[repeat] = time_of(c) / num_units;
    }
  }
  printf("\n%s\n%-34s %9s %9s %9s   %s\n", group, unit, "median", "quartile", "quartile", "result");
  for(i=0; i<num_contestants; i++){
    contestant *c = &contestants[i];
    printf("%-34s %9.4g %9.4g %9.4g   %s\n", c->name, quantile(c->times, repeats, 0.5),
           quantile(c->times, repeats, 0.25), quantile(c->times, repeats, 0.75), c->result);
    for(repeat=0; out && repeat<repeats; repeat++){
      fprintf(out, "%s\t%s\t%s\t%d\t%.6g\n", group, c->name, unit, repeat, c->times[repeat]);
    }
    sqlite3_finalize(c->statement);
  }
  for(i=0; i<num_comparisons; i++){
    const comparison *p = &comparisons[i];
    const contestant *a = find(contestants, num_contestants, p->name);
    const contestant *b = find(contestants, num_contestants, p->base);
    double values[MAX_REPEATS];
    for(repeat=0; repeat<repeats; repeat++){
      values[repeat] = p->kind=='-' ? a->times[repeat] - b->times[repeat]
                                    : a->times[repeat] / b->times[repeat];
    }
    printf("  %s %c %s: %.3g (%.3g .. %.3g)\n", p->name, p->kind, p->base,
           quantile(values, repeats, 0.5), quantile(values, repeats, 0.25),
           quantile(values, repeats, 0.75));
  }
  fflush(stdout);
}
#define COMPETE(group, filter, unit, num_units, repeats, contestants, comparisons) \
  compete(group, filter, unit, num_units, repeats, contestants, COUNT(contestants), \
          comparisons, COUNT(comparisons))

#define HANDLE  "(SELECT bloom_open(filter) FROM filters WHERE name = '%s')"
#define PARQUET "(SELECT bloom_open(filter) FROM filters WHERE name = '%s parquet')"

static contestant integer_rows[] = {
  {.name = "empty scan", .sql = "SELECT count(k) FROM t"},
  {.name = "noop(handle, k)", .sql = "SELECT sum(noop(" HANDLE ", k)) FROM t"},
  {.name = "may_contain(handle, k)", .sql = "SELECT sum(bloom_may_contain(" HANDLE ", k)) FROM t"},
  {.name = "may_contain(handle, repeated k)", .sql = "SELECT sum(bloom_may_contain(" HANDLE ", r)) FROM t"},
  {.name = "may_contain(handle, tuple(k, r))", .sql = "SELECT sum(bloom_may_contain(" HANDLE ", bloom_tuple(k, r))) FROM t"},
  {.name = "may_contain(parquet, k)", .sql = "SELECT sum(bloom_may_contain(" PARQUET ", k)) FROM t"},
  {.name = "may_contain(parquet, tuple(k, r))", .sql = "SELECT sum(bloom_may_contain(" PARQUET ", bloom_tuple(k, r))) FROM t"},
  {.name = "noop(?, k)", .sql = "SELECT sum(noop(?1, k)) FROM t"},
  {.name = "may_contain(?, k)", .sql = "SELECT sum(bloom_may_contain(?1, k)) FROM t"},
  {.name = "abs(k)", .sql = "SELECT sum(abs(k)) FROM t"},
};
static const comparison integer_comparisons[] = {
  {'-', "may_contain(handle, k)", "noop(handle, k)"},
  {'-', "may_contain(parquet, k)", "noop(handle, k)"},
  {'-', "may_contain(handle, k)", "empty scan"},
  {'-', "noop(handle, k)", "empty scan"},
  {'-', "abs(k)", "empty scan"},
  {'-', "may_contain(?, k)", "noop(?, k)"},
  {'/', "may_contain(handle, k)", "abs(k)"},
  {'/', "may_contain(?, k)", "abs(k)"},
  {'/', "may_contain(handle, k)", "may_contain(?, k)"},
  {'/', "may_contain(handle, tuple(k, r))", "may_contain(handle, k)"},
  {'/', "may_contain(parquet, tuple(k, r))", "may_contain(parquet, k)"},
};

static contestant text_rows[] = {
  {.name = "empty scan", .sql = "SELECT count(s) FROM t"},
  {.name = "noop(handle, s)", .sql = "SELECT sum(noop(" HANDLE ", s)) FROM t"},
  {.name = "may_contain(handle, s)", .sql = "SELECT sum(bloom_may_contain(" HANDLE ", s)) FROM t"},
  {.name = "may_contain(handle, tuple(s, k))", .sql = "SELECT sum(bloom_may_contain(" HANDLE ", bloom_tuple(s, k))) FROM t"},
  {.name = "may_contain(parquet, s)", .sql = "SELECT sum(bloom_may_contain(" PARQUET ", s)) FROM t"},
  {.name = "may_contain(parquet, tuple(s, k))", .sql = "SELECT sum(bloom_may_contain(" PARQUET ", bloom_tuple(s, k))) FROM t"},
  {.name = "noop(?, s)", .sql = "SELECT sum(noop(?1, s)) FROM t"},
  {.name = "may_contain(?, s)", .sql = "SELECT sum(bloom_may_contain(?1, s)) FROM t"},
  {.name = "length(s)", .sql = "SELECT sum(length(s)) FROM t"},
};
static const comparison text_comparisons[] = {
  {'-', "may_contain(handle, s)", "noop(handle, s)"},
  {'-', "may_contain(parquet, s)", "noop(handle, s)"},
  {'-', "may_contain(handle, s)", "empty scan"},
  {'-', "noop(handle, s)", "empty scan"},
  {'-', "length(s)", "empty scan"},
  {'-', "may_contain(?, s)", "noop(?, s)"},
  {'/', "may_contain(handle, s)", "length(s)"},
  {'/', "may_contain(?, s)", "length(s)"},
  {'/', "may_contain(handle, s)", "may_contain(?, s)"},
  {'/', "may_contain(handle, tuple(s, k))", "may_contain(handle, s)"},
  {'/', "may_contain(parquet, tuple(s, k))", "may_contain(parquet, s)"},
};

/* Virtual tables over v, of one column and of two. */
static contestant table_rows[] = {
  {.name = "may_contain(handle of k, k)", .sql = "SELECT sum(bloom_may_contain((SELECT handle FROM v_k), k)) FROM t"},
  {.name = "may_contain(handle of (k, r), tuple)", .sql = "SELECT sum(bloom_may_contain((SELECT handle FROM v_kr), bloom_tuple(k, r))) FROM t"},
  {.name = "may_contain(handle of (s, r), tuple)", .sql = "SELECT sum(bloom_may_contain((SELECT handle FROM v_sr), bloom_tuple(s, r))) FROM t"},
  {.name = "v_k(k)", .sql = "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM v_k(k))"},
  {.name = "v_kr(k, r)", .sql = "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM v_kr(k, r))"},
  {.name = "v_kr WHERE key = tuple", .sql = "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM v_kr WHERE key = bloom_tuple(k, r))"},
};
static const comparison table_comparisons[] = {
  {'/', "may_contain(handle of (k, r), tuple)", "may_contain(handle of k, k)"},
  {'/', "may_contain(handle of (s, r), tuple)", "may_contain(handle of k, k)"},
  {'/', "v_kr(k, r)", "v_k(k)"},
  {'/', "v_kr WHERE key = tuple", "v_k(k)"},
};

static contestant build_rows[] = {
  {.name = "count(k)", .sql = "SELECT count(k) FROM t"},
  {.name = "bloom_build(k)", .sql = "SELECT length(bloom_build(k)) FROM t"},
  {.name = "bloom_build(k, 10)", .sql = "SELECT length(bloom_build(k, 10)) FROM t"},
  {.name = "bloom_build(k, 'parquet')", .sql = "SELECT length(bloom_build(k, 'parquet')) FROM t"},
  {.name = "group_concat(k)", .sql = "SELECT length(group_concat(k)) FROM t"},
  {.name = "count(s)", .sql = "SELECT count(s) FROM t"},
  {.name = "bloom_build(s)", .sql = "SELECT length(bloom_build(s)) FROM t"},
  {.name = "bloom_build(s, 10)", .sql = "SELECT length(bloom_build(s, 10)) FROM t"},
  {.name = "bloom_build(s, 'parquet')", .sql = "SELECT length(bloom_build(s, 'parquet')) FROM t"},
  {.name = "max(s)", .sql = "SELECT max(s) FROM t"},
  {.name = "group_concat(s)", .sql = "SELECT length(group_concat(s)) FROM t"},
};
static const comparison build_comparisons[] = {
  {'/', "bloom_build(k)", "count(k)"},
  {'/', "bloom_build(k, 10)", "count(k)"},
  {'/', "bloom_build(k, 'parquet')", "bloom_build(k, 10)"},
  {'/', "bloom_build(s)", "count(s)"},
  {'/', "bloom_build(s, 10)", "count(s)"},
  {'/', "bloom_build(s, 'parquet')", "bloom_build(s, 10)"},
  {'/', "bloom_build(s, 10)", "max(s)"},
  {'/', "bloom_build(k, 10)", "group_concat(k)"},
  {'/', "bloom_build(s, 10)", "group_concat(s)"},
  {'-', "bloom_build(k)", "count(k)"},
  {'-', "bloom_build(k, 10)", "count(k)"},
  {'-', "bloom_build(s, 10)", "count(s)"},
};

/* The tables are named so that the same SQL runs in memory and on disk. */
static contestant index_rows[] = {
  {.name = "bloom_build(k, 10)", .sql = "SELECT length(bloom_build(k, 10)) FROM t2"},
  {.name = "CREATE INDEX (k)", .sql = "CREATE INDEX side.k2 ON t2(k)", .undo = "DROP INDEX side.k2"},
  {.name = "bloom_build(s, 10)", .sql = "SELECT length(bloom_build(s, 10)) FROM t2"},
  {.name = "CREATE INDEX (s)", .sql = "CREATE INDEX side.s2 ON t2(s)", .undo = "DROP INDEX side.s2"},
};
static const comparison index_comparisons[] = {
  {'/', "CREATE INDEX (k)", "bloom_build(k, 10)"},
  {'/', "CREATE INDEX (s)", "bloom_build(s, 10)"},
};

static contestant info_rows[] = {
  {.name = "header columns", .sql = "SELECT num_bytes + num_bits + num_probes FROM bloom_info(?1)"},
  {.name = "all but measured_fpr",
   .sql = "SELECT expected_fpr, bits_set, fill_ratio, estimated_keys, note FROM bloom_info(?1)"},
  {.name = "all columns", .sql = "SELECT * FROM bloom_info(?1)"},
};

/* Keys 0 .. 10^9, scattered, a million different ones; every filter of the
** scans holds a tenth of them.  Repeated: runs of 8 rows. */
static void make_tables(void){
  run("CREATE TABLE t(k INTEGER, s TEXT, r INTEGER);"
      "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM c LIMIT %d)"
      " INSERT INTO t SELECT (i*7919 %% 1000000)*997, printf('key-%%012d', i*7919 %% 1000000),"
      " (i/8*7919 %% 1000000)*997 FROM c;"
      "CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB)", num_rows);
}

static int is_wanted(const char *group){
  return strstr(group, only)!=NULL;
}

/* The filters of one size: 'NAME k' of integers, 'NAME s' of text, and the same in
** Parquet's encoding. */
static void make_filters(const char *name, int num_keys){
  static const struct { const char *name, *key; } kinds[] = {{"k", "i*997"}, {"s", "printf('key-%012d', i)"}};
  int i;
  run("DELETE FROM filters");
  for(i=0; i<COUNT(kinds); i++){
    run("WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i+10 FROM c LIMIT %d),"
        " f(leveldb, parquet) AS (SELECT bloom_build(%s), bloom_build(%s, 'parquet') FROM c)"
        " INSERT INTO filters SELECT '%s %s', leveldb FROM f UNION ALL SELECT '%s %s parquet', parquet FROM f",
        num_keys, kinds[i].key, kinds[i].key, name, kinds[i].name, name, kinds[i].name);
  }
}

/* Peak of SQLite's memory in one query, above what was in use before. */
static void report_memory(const char *name, const char *sql){
  sqlite3_stmt *statement;
  sqlite3_int64 before, peak;
  int num_bytes;
  check(sqlite3_prepare_v2(db, sql, -1, &statement, NULL));
  run("PRAGMA shrink_memory");
  before = sqlite3_memory_used();
  sqlite3_memory_highwater(1);
  check(sqlite3_step(statement));
  peak = sqlite3_memory_highwater(0) - before;
  num_bytes = sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  printf("  %-28s peak %.3g bytes a key above its filter of %d bytes\n", name,
         ((double)peak - num_bytes) / num_rows, num_bytes);
  if( out ) fprintf(out, "build: memory\t%s\tpeak bytes\t0\t%lld\n", name, peak);
}

/* The table t2 in a database of its own; file is "" for one in memory. */
static void compare_with_index(const char *group, int rows, int repeats, const char *file){
  if( !is_wanted(group) ) return;
  if( *file ) remove(file);
  run("ATTACH %Q AS side; CREATE TABLE side.t2(k INTEGER, s TEXT);"
      "INSERT INTO side.t2 SELECT k, s FROM t LIMIT %d", *file ? file : ":memory:", rows);
  COMPETE(group, "", "ns a row", rows, repeats, index_rows, index_comparisons);
  run("DETACH side");
  if( *file ) remove(file);
}

static const struct {
  const char *name;
  int num_keys;
} filter_sizes[] = {{"125 KB", 100000}, {"1 MB", 838860}, {"12 MB", 10000000}};

static void scan(const char *name, int num_keys, int repeats){
  char integer[40], text[40], filter[40];
  snprintf(integer, sizeof(integer), "scan: INTEGER, filter of %s", name);
  snprintf(text, sizeof(text), "scan: TEXT, filter of %s", name);
  if( !is_wanted(integer) && !is_wanted(text) ) return;
  make_filters(name, num_keys);
  snprintf(filter, sizeof(filter), "%s k", name);
  if( is_wanted(integer) ){
    COMPETE(integer, filter, "ns a row", num_rows, repeats, integer_rows, integer_comparisons);
  }
  snprintf(filter, sizeof(filter), "%s s", name);
  if( is_wanted(text) ){
    COMPETE(text, filter, "ns a row", num_rows, repeats, text_rows, text_comparisons);
  }
}

static void build(void){
  const char *group = "build: beside other aggregates";
  if( !is_wanted(group) ) return;
  COMPETE(group, "", "ns a row", num_rows, num_repeats, build_rows, build_comparisons);
  report_memory("bloom_build(k, 10)", "SELECT length(bloom_build(k, 10)) FROM t");
  report_memory("bloom_build(s, 10)", "SELECT length(bloom_build(s, 10)) FROM t");
  report_memory("bloom_build(k, 'parquet')", "SELECT length(bloom_build(k, 'parquet')) FROM t");
  report_memory("bloom_build(k, 10, 1000000)", "SELECT length(bloom_build(k, 10, 1000000)) FROM t");
}

static void tables(void){
  const char *group = "scan: virtual tables";
  if( !is_wanted(group) ) return;
  run("CREATE TABLE v AS SELECT k, s, r FROM t LIMIT 100000; CREATE VIRTUAL TABLE v_k USING bloom(v, k);"
      "CREATE VIRTUAL TABLE v_kr USING bloom(v, (k, r)); CREATE VIRTUAL TABLE v_sr USING bloom(v, (s, r))");
  COMPETE(group, "", "ns a row", num_rows, num_repeats<5 ? num_repeats : 5, table_rows, table_comparisons);
}

static void info(void){
  const char *group = "bloom_info, filter of 12 MB";
  if( !is_wanted(group) ) return;
  make_filters("12 MB", 10000000);
  compete(group, "12 MB k", "ms a query", 1e6, 9, info_rows, COUNT(info_rows), NULL, 0);
}

int main(int argc, char **argv){
  const char *extension = getenv("BENCH_EXTENSION");
  const char *folder = getenv("BENCH_FOLDER");
  char *message = NULL;
  char *file;
  int is_full = 0;
  int i;
  for(i=1; i<argc; i++){
    const char *value = i+1<argc ? argv[i+1] : "";
    if( strcmp(argv[i], "full")==0 || strcmp(argv[i], "quick")==0 ){
      is_full = argv[i][0]=='f';
      continue;
    }
    if( strcmp(argv[i], "--rows")==0 ) num_rows = atoi(value);
    else if( strcmp(argv[i], "--repeats")==0 ) num_repeats = atoi(value);
    else if( strcmp(argv[i], "--only")==0 ) only = value;
    else num_rows = -1;
    i++;
  }
  if( num_rows==0 ) num_rows = is_full ? 10000000 : 1000000;
  if( num_repeats==0 ) num_repeats = is_full ? 7 : 9;
  if( num_rows<1 || num_repeats<1 || num_repeats>MAX_REPEATS ){
    fprintf(stderr, "usage: per_row [quick | full] [--rows N] [--repeats N, 1..%d] [--only TEXT]\n", MAX_REPEATS);
    return 2;
  }
  if( folder==NULL ) folder = "build/bench";
  check(sqlite3_open(":memory:", &db));
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  if( sqlite3_load_extension(db, extension ? extension : "./bloom", NULL, &message)!=SQLITE_OK ){
    fprintf(stderr, "per_row: %s\n", message);
    return 1;
  }
  check(sqlite3_create_function(db, "noop", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, noop, NULL, NULL));
  printf("SQLite %s, %d rows\n", sqlite3_libversion(), num_rows);
  if( *only==0 ){ /* a part is not kept */
    char note[40];
    snprintf(note, sizeof(note), "%d rows", num_rows);
    out = open_results("per-row", sqlite3_libversion(), note, "group\tcontestant\tunit\trepeat\ttime");
  }
  make_tables();

  for(i=0; i<COUNT(filter_sizes); i++){
    /* A filter that misses the caches takes long: fewer repeats. */
    scan(filter_sizes[i].name, filter_sizes[i].num_keys, i==0 || num_repeats<5 ? num_repeats : 5);
  }
  tables();
  build();
  compare_with_index("build: beside an index in memory", num_rows<2000000 ? num_rows : 2000000, 5, "");
  if( is_full ){
    file = sqlite3_mprintf("%s/per_row.db", folder);
    compare_with_index("build: beside an index on disk", num_rows, 5, file);
    sqlite3_free(file);
  }
  info();
  sqlite3_close(db);
  return out ? fclose(out)!=0 : 0;
}
