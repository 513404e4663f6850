/*
** What the benchmarks in C and C++ share: the processor's time, random numbers, the order
** in which contestants take turns, quantiles, and the files of raw rows.
*/
#ifndef BLOOM_BENCH_BENCH_H
#define BLOOM_BENCH_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef __OPTIMIZE__
# error "a benchmark without optimisation says nothing: build with -O2 or -O3"
#endif

#define MAX_REPEATS 99

/* A run below this is made once untimed before it is timed: the caches, and the freed
** memory, are those of the contestant before it. */
#define SHORT_NS 1e8

/* The processor's time spent on this thread, user and system: other programs do not
** count, and files are in the system's cache, so there is no disk to wait for. */
static inline double clock_ns(clockid_t clock){
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double cpu_ns(void){
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* An order of 0 .. count-1: another one each time, so that none always follows the
** same other; the same ones in each run of the program.  xorshift64 [Marsaglia 2003]. */
static inline void shuffle(int *order, int count){
  static uint64_t random = 88172645463325252u;
  int i;
  for(i=0; i<count; i++){
    int other;
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    other = (int)(random % (uint64_t)(i + 1));
    order[i] = order[other];
    order[other] = i;
  }
}

static inline int compare_doubles(const void *a, const void *b){
  const double x = *(const double *)a, y = *(const double *)b;
  return (x>y) - (x<y);
}

/* The value below which this share of the values lies; between two of them, in proportion. */
static inline double quantile(const double *values, int count, double share){
  const double at = share * (count - 1);
  const int i = (int)at;
  double *sorted = (double *)malloc((size_t)count * sizeof(values[0]));
  double value;
  if( sorted==NULL ) exit(1);
  memcpy(sorted, values, (size_t)count * sizeof(values[0]));
  qsort(sorted, (size_t)count, sizeof(sorted[0]), compare_doubles);
  value = sorted[i] + (at - i) * (sorted[i+1<count ? i+1 : i] - sorted[i]);
  free(sorted);
  return value;
}

/*
** The file for raw rows, $BENCH_RESULTS/<what>[-sqlite-<version>].tsv: what measured
** them, and the names of the columns; fold.py reads them by the column repeat.  NULL where run.sh did not set the variable.
*/
static inline FILE *open_results(const char *what, const char *sqlite_version, const char *note, const char *columns){
  const char *folder = getenv("BENCH_RESULTS"), *machine = getenv("BENCH_MACHINE");
  const char *before = sqlite_version ? "-sqlite-" : "", *version = sqlite_version ? sqlite_version : "";
  char path[4096];
  FILE *file;
  if( folder==NULL ) return NULL;
  snprintf(path, sizeof(path), "%s/%s%s%s.tsv", folder, what, before, version);
  file = fopen(path, "w");
  if( file==NULL ){
    perror(path);
    exit(1);
  }
  setvbuf(file, NULL, _IOLBF, BUFSIZ); /* a run that is stopped leaves whole lines */
  fprintf(file, "# %s%s%s\n# %s\n%s\n", machine ? machine : "", sqlite_version ? "; SQLite " : "", version, note, columns);
  return file;
}

#endif
