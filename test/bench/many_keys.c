/*
** Many keys in one build: time and peak memory, through SQL.
**
**     many_keys [num_keys [num_repeats]]      default: 100 million keys, 5 repeats
**
** Keys are the integers of a table-valued function, series, which costs little;
** the empty scan is count() over it.  Each run is a process of its own, so that
** its peak memory (ru_maxrss) is its own; the memory of the empty scan is
** subtracted.  Contestants take turns.
*/
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../ext/bloom.h"
#include "bench.h"

/* series(value, stop hidden): 1 to stop. */
typedef struct series_cursor {
  sqlite3_vtab_cursor base;
  sqlite3_int64 value, stop;
} series_cursor;

static int series_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **vtab, char **error){
  (void)aux; (void)argc; (void)argv; (void)error;
  *vtab = calloc(1, sizeof(**vtab));
  return *vtab ? sqlite3_declare_vtab(db, "CREATE TABLE x(value INTEGER, stop HIDDEN)") : SQLITE_NOMEM;
}

static int series_disconnect(sqlite3_vtab *vtab){
  free(vtab);
  return SQLITE_OK;
}

static int series_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info){
  int i;
  (void)vtab;
  for(i=0; i<info->nConstraint; i++){
    if( info->aConstraint[i].iColumn==1 && info->aConstraint[i].usable ){
      info->aConstraintUsage[i].argvIndex = 1;
      info->aConstraintUsage[i].omit = 1;
      return SQLITE_OK;
    }
  }
  return SQLITE_CONSTRAINT;
}

static int series_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor){
  (void)vtab;
  *cursor = calloc(1, sizeof(series_cursor));
  return *cursor ? SQLITE_OK : SQLITE_NOMEM;
}

static int series_close(sqlite3_vtab_cursor *cursor){
  free(cursor);
  return SQLITE_OK;
}

static int series_filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv){
  series_cursor *cursor = (series_cursor *)base;
  (void)number; (void)text; (void)argc;
  cursor->value = 1;
  cursor->stop = sqlite3_value_int64(argv[0]);
  return SQLITE_OK;
}

static int series_next(sqlite3_vtab_cursor *base){
  ((series_cursor *)base)->value++;
  return SQLITE_OK;
}

static int series_eof(sqlite3_vtab_cursor *base){
  return ((series_cursor *)base)->value>((series_cursor *)base)->stop;
}

static int series_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column){
  (void)column;
  sqlite3_result_int64(context, ((series_cursor *)base)->value);
  return SQLITE_OK;
}

static int series_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid){
  *rowid = ((series_cursor *)base)->value;
  return SQLITE_OK;
}

static sqlite3_module series_module = {
  .xConnect = series_connect, .xBestIndex = series_best_index, .xDisconnect = series_disconnect,
  .xOpen = series_open, .xClose = series_close, .xFilter = series_filter, .xNext = series_next,
  .xEof = series_eof, .xColumn = series_column, .xRowid = series_rowid,
};

typedef struct measurement {
  double seconds;
  double megabytes;
  sqlite3_int64 result;
} measurement;

static const struct {
  const char *name, *sql;
} contestants[] = {
  {"empty scan", "SELECT count(value) FROM series(?1)"},
  {"bloom_build(k)", "SELECT bloom_build(value) FROM series(?1)"},
  {"bloom_build(k, 10, capacity)", "SELECT bloom_build(value, 10, ?1) FROM series(?1)"},
};
#define NUM_CONTESTANTS (sizeof(contestants)/sizeof(contestants[0]))

static void run(const char *sql, sqlite3_int64 num_keys, measurement *m){
  sqlite3 *db;
  sqlite3_stmt *statement;
  struct rusage usage;
  double start;
  if( sqlite3_open(":memory:", &db) || sqlite3_bloom_init(db, NULL, NULL)
   || sqlite3_create_module(db, "series", &series_module, NULL)
   || sqlite3_prepare_v2(db, sql, -1, &statement, NULL) ){
    fprintf(stderr, "many_keys: %s\n", sqlite3_errmsg(db));
    exit(1);
  }
  sqlite3_bind_int64(statement, 1, num_keys);
  start = cpu_ns();
  if( sqlite3_step(statement)!=SQLITE_ROW ){
    fprintf(stderr, "many_keys: %s\n", sqlite3_errmsg(db));
    exit(1);
  }
  m->seconds = (cpu_ns() - start) / 1e9;
  getrusage(RUSAGE_SELF, &usage);
  m->megabytes = (double)usage.ru_maxrss * 1024 / 1e6;
  m->result = sqlite3_column_type(statement, 0)==SQLITE_BLOB ? sqlite3_column_bytes(statement, 0)
                                                             : sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(db);
}

/* In a process of its own. */
static void run_apart(const char *sql, sqlite3_int64 num_keys, measurement *m){
  int ends[2], status;
  pid_t child;
  if( pipe(ends) || (child = fork())<0 ) exit(1);
  if( child==0 ){
    run(sql, num_keys, m);
    _exit(write(ends[1], m, sizeof(*m))!=(ssize_t)sizeof(*m));
  }
  if( waitpid(child, &status, 0)<0 || status!=0 || read(ends[0], m, sizeof(*m))!=(ssize_t)sizeof(*m) ) exit(1);
  close(ends[0]);
  close(ends[1]);
}

static int compare_seconds(const void *a, const void *b){
  double x = ((const measurement *)a)->seconds, y = ((const measurement *)b)->seconds;
  return (x>y) - (x<y);
}

int main(int argc, char **argv){
  sqlite3_int64 num_keys = argc>1 ? (sqlite3_int64)atof(argv[1]) : 100000000;
  int num_repeats = argc>2 ? atoi(argv[2]) : 5;
  static measurement all[NUM_CONTESTANTS][MAX_REPEATS];
  int order[NUM_CONTESTANTS];
  char note[40];
  FILE *raw;
  int repeat;
  size_t i;
  if( num_keys<1 || num_repeats<1 || num_repeats>MAX_REPEATS ){
    fprintf(stderr, "usage: many_keys [num_keys [num_repeats, 1..%d]]\n", MAX_REPEATS);
    return 2;
  }
  snprintf(note, sizeof(note), "%lld keys", num_keys);
  raw = open_results("many-keys", sqlite3_libversion(), note, "contestant\trepeat\tseconds\tmegabytes");
  for(repeat=0; repeat<num_repeats; repeat++){
    shuffle(order, (int)NUM_CONTESTANTS);
    for(i=0; i<NUM_CONTESTANTS; i++){
      measurement *m = &all[order[i]][repeat];
      run_apart(contestants[order[i]].sql, num_keys, m);
      if( raw ) fprintf(raw, "%s\t%d\t%.3f\t%.1f\n", contestants[order[i]].name, repeat, m->seconds, m->megabytes);
    }
  }
  printf("SQLite %s, %lld keys in one build, %d repeats; above: the empty scan\n",
         sqlite3_libversion(), num_keys, num_repeats);
  printf("%-30s %9s %9s %9s %10s %8s %12s\n", "", "median s", "least", "most", "ns above", "MB above", "result");
  for(i=0; i<NUM_CONTESTANTS; i++){
    const measurement *m = &all[i][num_repeats/2], *empty = &all[0][num_repeats/2];
    qsort(all[i], (size_t)num_repeats, sizeof(all[i][0]), compare_seconds);
    printf("%-30s %9.2f %9.2f %9.2f %10.1f %8.0f %12lld\n", contestants[i].name, m->seconds, all[i][0].seconds,
           all[i][num_repeats-1].seconds, (m->seconds - empty->seconds) / (double)num_keys * 1e9,
           m->megabytes - empty->megabytes, m->result);
  }
  if( raw ) fclose(raw);
  return 0;
}
