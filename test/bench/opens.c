/*
** What bloom_open() costs, and from how many rows on it pays.
**
**     opens FOLDER [quick | full] [--repeats N]
**
** Opens: a filter of 1, 12 and 120 MB is read from SQLite's page cache, opened and tested
** for one key, beside the same BLOB read and not opened, and bound by a program that keeps
** it in memory: as it is (SQLITE_STATIC), and copied (SQLITE_TRANSIENT), as the bindings of
** most languages do.  With the page faults of each, which are most of what it can cost.
** Small joins: as many rows as are named are joined with the filter's own table, 1 % of
** them match, with the filter in front and without.  Above 1 the filter pays.
**
** Contestants take turns within a repeat, in an order drawn anew; each is run once untimed
** before it is timed for some ms.  Medians and quartiles; times are the processor's.
** Each size has a process of its own, since what malloc() returns to the system depends
** on the sizes that a process freed before.  The database is made in FOLDER.
** It measures the loadable extension on the SQLite that it finds.  run.sh sets its
** environment: BENCH_EXTENSION, BENCH_MACHINE, BENCH_RESULTS.
*/
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define COUNT(array)    ((int)(sizeof(array) / sizeof((array)[0])))
#define MAX_CONTESTANTS 16
#define TIMED_NS        1e7

static sqlite3 *db;
static FILE *out; /* raw rows, or NULL */
static int num_repeats;

static void check(int rc){
  if( rc!=SQLITE_OK && rc!=SQLITE_DONE && rc!=SQLITE_ROW ){
    fprintf(stderr, "opens: %s\n", sqlite3_errmsg(db));
    exit(1);
  }
}

static void run(const char *sql){
  check(sqlite3_exec(db, sql, NULL, NULL, NULL));
}

typedef struct contestant {
  char name[40];
  sqlite3_stmt *statement;
  double times[MAX_REPEATS], faults[MAX_REPEATS]; /* of one run; ns */
  sqlite3_int64 result;
  sqlite3_destructor_type lifetime; /* of the filter, where each run binds it to ?2 */
} contestant;

static contestant contestants[MAX_CONTESTANTS];
static int num_contestants;
static void *filter; /* what is bound */
static int num_filter_bytes;

/* sql's ?1 is the number given. */
static void enter(const char *name, const char *sql, sqlite3_int64 number){
  contestant *c = &contestants[num_contestants++];
  snprintf(c->name, sizeof(c->name), "%s", name);
  c->lifetime = SQLITE_STATIC;
  check(sqlite3_prepare_v2(db, sql, -1, &c->statement, NULL));
  check(sqlite3_bind_int64(c->statement, 1, number));
}

/* Keeps the filter of mb in memory, as an application would. */
static void read_filter(int mb){
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v2(db, "SELECT filter FROM filters WHERE mb = ?1", -1, &statement, NULL));
  check(sqlite3_bind_int(statement, 1, mb));
  check(sqlite3_step(statement));
  num_filter_bytes = sqlite3_column_bytes(statement, 0);
  filter = malloc((size_t)num_filter_bytes);
  if( filter==NULL ) exit(1);
  memcpy(filter, sqlite3_column_blob(statement, 0), (size_t)num_filter_bytes);
  sqlite3_finalize(statement);
}

static double page_faults(void){
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_minflt;
}

static double run_once(contestant *c){
  const double start = cpu_ns();
  if( sqlite3_bind_parameter_count(c->statement)>1 ){
    check(sqlite3_bind_blob(c->statement, 2, filter, num_filter_bytes, c->lifetime));
  }
  check(sqlite3_step(c->statement));
  c->result = sqlite3_column_int64(c->statement, 0);
  check(sqlite3_reset(c->statement));
  return cpu_ns() - start;
}

static void time_once(contestant *c, int repeat){
  const int num_runs = 1 + (int)(TIMED_NS / run_once(c));
  const double faults = page_faults();
  double time = 0;
  int i;
  for(i=0; i<num_runs; i++) time += run_once(c);
  c->times[repeat] = time / num_runs;
  c->faults[repeat] = (page_faults() - faults) / num_runs;
}

/* Runs all that were entered, and leaves their times. */
static void compete(const char *group){
  int order[MAX_CONTESTANTS];
  int repeat, i;
  for(repeat=0; repeat<num_repeats; repeat++){
    shuffle(order, num_contestants);
    for(i=0; i<num_contestants; i++) time_once(&contestants[order[i]], repeat);
  }
  for(i=0; i<num_contestants; i++){
    contestant *c = &contestants[i];
    for(repeat=0; out && repeat<num_repeats; repeat++){
      fprintf(out, "%s\t%s\tms\t%d\t%.6g\n", group, c->name, repeat, c->times[repeat] / 1e6);
      fprintf(out, "%s\t%s\tpage faults\t%d\t%.6g\n", group, c->name, repeat, c->faults[repeat]);
    }
  }
}

static void leave(void){
  while( num_contestants ) sqlite3_finalize(contestants[--num_contestants].statement);
}

static void opens(int mb){
  char group[40];
  int i;
  snprintf(group, sizeof(group), "opens, filter of %d MB", mb);
  enter("bloom_open", "SELECT bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE mb = ?1), 1)", mb);
  enter("read alone", "SELECT bloom_may_contain(filter, 1) FROM filters WHERE mb = ?1", mb);
  read_filter(mb);
  enter("bound, SQLITE_STATIC", "SELECT bloom_may_contain(?2, ?1)", 1);
  enter("bound, SQLITE_TRANSIENT", "SELECT bloom_may_contain(?2, ?1)", 1);
  contestants[num_contestants-1].lifetime = SQLITE_TRANSIENT;
  compete(group);
  printf("\n%-28s %9s %9s %9s %9s\n", group, "ms", "quartile", "quartile", "faults");
  for(i=0; i<num_contestants; i++){
    const contestant *c = &contestants[i];
    printf("%-28s %9.3g %9.3g %9.3g %9.0f\n", c->name, quantile(c->times, num_repeats, 0.5) / 1e6,
           quantile(c->times, num_repeats, 0.25) / 1e6, quantile(c->times, num_repeats, 0.75) / 1e6,
           quantile(c->faults, num_repeats, 0.5));
  }
  leave();
  free(filter);
}

static const int rows_per_mb[] = {125, 250, 500, 1000, 2000, 4000, 8000};

/* Rows of o, all of which are in no order, joined with the table that the filter is of. */
static void small_joins(int mb){
  char group[40], name[40], sql[300];
  int i, repeat;
  snprintf(group, sizeof(group), "small joins, filter of %d MB", mb);
  for(i=0; i<COUNT(rows_per_mb); i++){
    snprintf(name, sizeof(name), "plain, %d rows", rows_per_mb[i] * mb);
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM o CROSS JOIN d%d AS d ON d.id = o.k WHERE o.rowid <= ?1", mb);
    enter(name, sql, rows_per_mb[i] * mb);
    snprintf(name, sizeof(name), "filter, %d rows", rows_per_mb[i] * mb);
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM o CROSS JOIN d%d AS d ON d.id = o.k WHERE o.rowid <= ?1"
             " AND bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE mb = %d), o.k)", mb, mb);
    enter(name, sql, rows_per_mb[i] * mb);
  }
  compete(group);
  printf("\n%-34s %9s %9s %9s\n", group, "times", "quartile", "quartile");
  for(i=0; i<num_contestants; i+=2){
    double ratios[MAX_REPEATS];
    if( contestants[i].result!=contestants[i+1].result ){
      fprintf(stderr, "opens: %lld rows with the filter, not %lld\n", contestants[i+1].result, contestants[i].result);
      exit(1);
    }
    for(repeat=0; repeat<num_repeats; repeat++) ratios[repeat] = contestants[i].times[repeat] / contestants[i+1].times[repeat];
    printf("%8d rows, %5d for each MB      %9.2f %9.2f %9.2f\n", rows_per_mb[i/2] * mb, rows_per_mb[i/2],
           quantile(ratios, num_repeats, 0.5), quantile(ratios, num_repeats, 0.25), quantile(ratios, num_repeats, 0.75));
  }
  leave();
}

static void measure(int mb){
  run("PRAGMA cache_size = -1000000");
  opens(mb);
  if( mb<=12 ) small_joins(mb);
}

/* Tables d1 and d12 of as many keys as 1 and 12 MB are for, 40 apart; o, of 100,000 keys
** in no order, 1 % of which are in both. */
static void make_tables(int unused){
  static const char *const sqls[] = {
    "CREATE TABLE d1(id INTEGER PRIMARY KEY, pad)",
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 838860) INSERT INTO d1 SELECT i * 480, 'row ' || i FROM n",
    "CREATE TABLE d12(id INTEGER PRIMARY KEY, pad)",
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 10066320) INSERT INTO d12 SELECT i * 40, 'row ' || i FROM n",
    "CREATE TABLE o(k INTEGER)",
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 100000)"
    " INSERT INTO o SELECT (i * 7919 % 838860) * 480 + (i % 100 > 0) * (1 + i % 39) FROM n",
    "CREATE TABLE filters(mb INTEGER PRIMARY KEY, filter BLOB)",
    "INSERT INTO filters SELECT 1, bloom_build(id) FROM d1",
    "INSERT INTO filters SELECT 12, bloom_build(id) FROM d12",
    "INSERT INTO filters SELECT 120, bloom_build(id, 10, 100663200) FROM d12",
  };
  int i;
  (void)unused;
  for(i=0; i<COUNT(sqls); i++) run(sqls[i]);
}

/* Works on the database in another process; 0 if that went wrong. */
static int in_process(const char *file, void (*work)(int), int mb){
  const char *extension = getenv("BENCH_EXTENSION");
  pid_t child;
  int status = 1;
  fflush(NULL);
  child = fork();
  if( child==0 ){
    char *message = NULL;
    check(sqlite3_open(file, &db));
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
    if( sqlite3_load_extension(db, extension ? extension : "./bloom", NULL, &message)!=SQLITE_OK ){
      fprintf(stderr, "opens: %s\n", message);
      exit(1);
    }
    work(mb);
    sqlite3_close(db);
    fflush(NULL);
    _exit(0);
  }
  return child>0 && waitpid(child, &status, 0)==child && status==0;
}

int main(int argc, char **argv){
  static const int sizes[] = {1, 12, 120};
  const char *folder = argc>1 ? argv[1] : "";
  char file[4096];
  int is_full = 0, is_right, i;
  for(i=2; i<argc; i++){
    if( strcmp(argv[i], "full")==0 || strcmp(argv[i], "quick")==0 ) is_full = argv[i][0]=='f';
    else if( strcmp(argv[i], "--repeats")==0 && i+1<argc ) num_repeats = atoi(argv[++i]);
    else num_repeats = -1;
  }
  if( num_repeats==0 ) num_repeats = is_full ? 21 : 7;
  if( *folder==0 || num_repeats<1 || num_repeats>MAX_REPEATS ){
    fprintf(stderr, "usage: opens FOLDER [quick | full] [--repeats N, 1..%d]\n", MAX_REPEATS);
    return 2;
  }
  mkdir(folder, 0777); /* it may be there */
  snprintf(file, sizeof(file), "%s/opens.db", folder);
  remove(file);
  printf("SQLite %s\n", sqlite3_libversion());
  out = open_results("opens", sqlite3_libversion(), "filters of 1, 12 and 120 MB", "group\tcontestant\tunit\trepeat\ttime");
  is_right = in_process(file, make_tables, 0);
  for(i=0; i<COUNT(sizes) && is_right; i++) is_right = in_process(file, measure, sizes[i]);
  remove(file);
  return !is_right || (out && fclose(out)!=0);
}
