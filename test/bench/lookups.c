/*
** What one look-up of an absent key costs: in a B-tree, in one large filter, in
** a filter that is partitioned in one of several ways.
**
**     lookups FOLDER [--keys N] [--repeats N] [--state NAME]
**
** FOLDER gets one database a contestant, 800 MB in all with the default of
** 8,192,000 keys, which stay there for the next run.  Contestants take turns;
** printed is the median of the repeats, their least and most, the median of the
** ratios to the index, and the pages that a look-up gets from outside of SQLite's
** page cache.  States of the caches:
**
**   warm        all pages in SQLite's page cache; one transaction
**   autocommit  the same; each look-up is a transaction of its own
**   small       SQLite's default page cache, 2 MB; the file in the system's cache
**   emptied     SQLite's page cache emptied before each look-up, the schema kept;
**               the file in the system's cache
**   cold        the same, and the file dropped from the system's cache by
**               posix_fadvise(): the medium decides
**
** Times are the processor's in the first three states.  In the others they are the
** clock's: a medium is waited for, or look-ups are timed one by one, and the clock is
** read faster.
*/
#include "lookups.h"

enum { WARM, AUTOCOMMIT, SMALL, EMPTIED, COLD, NUM_STATES };
static const char *const state_names[NUM_STATES] = {"warm", "autocommit", "small", "emptied", "cold"};
/* Look-ups of a repeat, by state. */
static const int nums_of_lookups[NUM_STATES] = {10000, 5000, 5000, 1000, 30};
#define MAX_LOOKUPS 10000

typedef enum contestant_kind { INDEX, TREE, ONE_FILTER, PARTITIONS } contestant_kind;

typedef struct contestant {
  const char *name;
  contestant_kind kind;
  int keys_per_part;
  int page_bytes;
  const char *table;  /* of partitions: what stands around part and filter */
  const char *source; /* the contestant whose filters these are; NULL: built from keys */
  int is_mapped;      /* by PRAGMA mmap_size; the database is the source's */
  char *path;
  sqlite3 *db;
  sqlite3_stmt *statement;
  double ns[NUM_STATES][MAX_REPEATS];
  double pages; /* of one look-up, in the state measured last */
} contestant;

#define ROWID     "p(part INTEGER PRIMARY KEY, filter BLOB NOT NULL)"
#define COUNTED   "p(part INTEGER PRIMARY KEY, num_keys INTEGER, num_removed INTEGER, filter BLOB NOT NULL)"
#define CLUSTERED "p(part INTEGER PRIMARY KEY, filter BLOB NOT NULL) WITHOUT ROWID"

static contestant contestants[] = {
  {.name = "index", .kind = INDEX, .page_bytes = 4096},
  {.name = "WITHOUT ROWID tree", .kind = TREE, .page_bytes = 4096},
  {.name = "index, mmap", .kind = INDEX, .page_bytes = 4096, .source = "index", .is_mapped = 1},
  {.name = "one filter", .kind = ONE_FILTER, .page_bytes = 4096},
  {.name = "12 KB", .kind = PARTITIONS, .keys_per_part = 8000, .page_bytes = 4096, .table = ROWID},
  {.name = "12 KB, pages of 16 KB", .kind = PARTITIONS, .keys_per_part = 8000, .page_bytes = 16384, .table = ROWID, .source = "12 KB"},
  {.name = "3 KB", .kind = PARTITIONS, .keys_per_part = 2000, .page_bytes = 4096, .table = ROWID},
  {.name = "3 KB, counts before it", .kind = PARTITIONS, .keys_per_part = 2000, .page_bytes = 4096, .table = COUNTED, .source = "3 KB"},
  {.name = "3 KB, WITHOUT ROWID", .kind = PARTITIONS, .keys_per_part = 2000, .page_bytes = 4096, .table = CLUSTERED, .source = "3 KB"},
  {.name = "3 KB, pages of 8 KB", .kind = PARTITIONS, .keys_per_part = 2000, .page_bytes = 8192, .table = ROWID, .source = "3 KB"},
  {.name = "3 KB, pages of 16 KB", .kind = PARTITIONS, .keys_per_part = 2000, .page_bytes = 16384, .table = ROWID, .source = "3 KB"},
  {.name = "3 KB, mmap", .kind = PARTITIONS, .keys_per_part = 2000, .page_bytes = 4096, .source = "3 KB", .is_mapped = 1},
  {.name = "750 bytes", .kind = PARTITIONS, .keys_per_part = 500, .page_bytes = 4096, .table = ROWID},
  {.name = "1.9 KB, pages of 2 KB", .kind = PARTITIONS, .keys_per_part = 1220, .page_bytes = 2048, .table = ROWID},
  {.name = "750 bytes, mmap", .kind = PARTITIONS, .keys_per_part = 500, .page_bytes = 4096, .source = "750 bytes", .is_mapped = 1},
};
#define NUM_CONTESTANTS (sizeof(contestants)/sizeof(contestants[0]))

static sqlite3_int64 num_keys = 8192000;

static const contestant *contestant_of(const char *name){
  size_t n;
  for(n=0; n<NUM_CONTESTANTS; n++) if( strcmp(contestants[n].name, name)==0 ) return &contestants[n];
  exit(1);
}

/* The statements that make a contestant's database; sqlite3_free() it. */
static char *setup_sql(const contestant *c){
  switch( c->kind ){
    case INDEX:
      return sqlite3_mprintf("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT NOT NULL);"
                             NUMBERS(%lld) "INSERT INTO t(k) SELECT key(i) FROM n;"
                             "CREATE UNIQUE INDEX t_k ON t(k)", num_keys);
    case TREE:
      return sqlite3_mprintf("CREATE TABLE t(k TEXT PRIMARY KEY) WITHOUT ROWID;"
                             NUMBERS(%lld) "INSERT INTO t SELECT key(i) FROM n ORDER BY 1", num_keys);
    case ONE_FILTER:
      return sqlite3_mprintf("CREATE TABLE p(filter BLOB NOT NULL);"
                             NUMBERS(%lld) "INSERT INTO p SELECT bloom_build(key(i), 12) FROM n", num_keys);
    case PARTITIONS:
      if( c->source ){
        return sqlite3_mprintf("CREATE TABLE %s; ATTACH %Q AS source;"
                               "INSERT INTO p(part, filter) SELECT part, filter FROM source.p ORDER BY part",
                               c->table, contestant_of(c->source)->path);
      }
      return sqlite3_mprintf("CREATE TABLE %s;" NUMBERS(%lld)
                             "INSERT INTO p(part, filter) SELECT bloom_partition(k, %lld), bloom_build(k, 12)"
                             " FROM (SELECT key(i) AS k FROM n) GROUP BY 1",
                             c->table, num_keys, num_keys/c->keys_per_part);
  }
  return NULL;
}

static char *query_sql(const contestant *c){
  switch( c->kind ){
    case INDEX:
    case TREE:
      return sqlite3_mprintf("SELECT 1 FROM t WHERE k = ?1");
    case ONE_FILTER:
      return sqlite3_mprintf("SELECT bloom_may_contain(filter, ?1) FROM p");
    case PARTITIONS:
      return sqlite3_mprintf("SELECT bloom_may_contain(filter, ?1) FROM p WHERE part = bloom_partition(?1, %lld)",
                             num_keys/c->keys_per_part);
  }
  return NULL;
}

static void prepare(const char *folder, contestant *c){
  char *at;
  if( c->is_mapped ){
    c->path = contestant_of(c->source)->path;
  }else{
    c->path = sqlite3_mprintf("%s/%s %lld.db", folder, c->name, num_keys);
    for(at=c->path+strlen(folder)+1; *at; at++) if( strchr(" :,", *at) ) *at = '-';
    build_database(c->path, c->page_bytes, setup_sql(c));
  }
  c->db = open_database(c->path, SQLITE_OPEN_READONLY);
  if( c->is_mapped ) exec(c->db, "PRAGMA mmap_size=2000000000");
  c->statement = prepared(c->db, query_sql(c));
  read_file(c->path);
}

static char keys[MAX_LOOKUPS][KEY_CHARS + 1];

/* Looks keys[i] up; returns 1 if it may be there. */
static int look_up(contestant *c, int i){
  int found = 0;
  sqlite3_bind_text(c->statement, 1, keys[i], KEY_CHARS, SQLITE_STATIC);
  if( sqlite3_step(c->statement)==SQLITE_ROW ) found = sqlite3_column_int(c->statement, 0);
  check(c->db, sqlite3_reset(c->statement));
  return found;
}

static void empty_caches(contestant *c, int state){
  /* Gives up the pages, but not the schema.  A mapping is given up with its size. */
  sqlite3_db_release_memory(c->db);
  if( state==COLD ){
    if( c->is_mapped ) exec(c->db, "COMMIT; PRAGMA mmap_size=0; PRAGMA mmap_size=2000000000; BEGIN; SELECT 1 FROM sqlite_schema");
    drop_file(c->path);
  }
  cache_misses(c->db);
}

/* One repeat; returns ns per look-up of keys that are in no contestant: the median
** of batches, since other programs may interrupt some of them. */
static double measure(contestant *c, int state, int repeat){
  /* A look-up takes milliseconds in one filter. */
  const int count = nums_of_lookups[state] / (c->kind==ONE_FILTER ? (state==COLD ? 6 : 200) : 1);
  const int batch = state>SMALL ? 1 : count<100 ? 10 : 100;
  double batches[MAX_LOOKUPS];
  int num_batches = 0, num_found = 0, num_misses = 0, i;
  for(i=0; i<count; i++) write_key((sqlite3_uint64)(10*num_keys + repeat*MAX_LOOKUPS + i), keys[i]);
  exec(c->db, state==WARM || state==AUTOCOMMIT ? "PRAGMA cache_size=-1500000" : "PRAGMA cache_size=-2000");
  if( state!=AUTOCOMMIT ) exec(c->db, "BEGIN");
  if( state<=SMALL ){
    for(i=0; i<count/4; i++) look_up(c, i); /* the processor's caches are the last contestant's */
    cache_misses(c->db);
  }
  for(i=0; i<count; num_batches++){
    const int end = i + batch<count ? i + batch : count;
    const int num_keys_of_batch = end - i;
    double start;
    if( state>SMALL ) empty_caches(c, state);
    start = state>SMALL ? now_ns() : cpu_ns();
    for(; i<end; i++) num_found += look_up(c, i);
    batches[num_batches] = ((state>SMALL ? now_ns() : cpu_ns()) - start) / num_keys_of_batch;
    if( state>SMALL ) num_misses += cache_misses(c->db);
  }
  if( state<=SMALL ) num_misses = cache_misses(c->db);
  if( state!=AUTOCOMMIT ) exec(c->db, "COMMIT");
  if( state==COLD ) read_file(c->path);
  c->pages = (double)num_misses / count;
  /* 0.3 % false positives are expected of a filter, none of a tree. */
  if( num_found>(c->kind<=TREE ? 0 : 3 + count/50) ){
    fprintf(stderr, "%s: %d of %d absent keys found\n", c->name, num_found, count);
    exit(1);
  }
  return quantile(batches, num_batches, 0.5);
}

int main(int argc, char **argv){
  options o = {.num_repeats = 7, .num_items = num_keys};
  int order[NUM_CONTESTANTS];
  int repeat, state;
  FILE *out = NULL;
  size_t n;
  if( !read_options(argc, argv, "--keys", 8000, &o) ){
    fprintf(stderr, "usage: lookups FOLDER [--keys N] [--repeats N] [--state NAME]\n");
    return 2;
  }
  num_keys = o.num_items;
  make_folder(o.folder);
  for(n=0; n<NUM_CONTESTANTS; n++) prepare(o.folder, &contestants[n]);
  if( o.only_state==NULL ){ /* a part is not kept */
    out = open_results("lookups", sqlite3_libversion(), "one look-up of an absent key",
                       "num_keys\tstate\tcontestant\trepeat\tns\tpages");
  }
  printf("SQLite %s, %lld keys, %d repeats\n", sqlite3_libversion(), num_keys, o.num_repeats);
  for(state=0; state<NUM_STATES; state++){
    if( !is_wanted(&o, state_names[state]) ) continue;
    for(n=0; state<=AUTOCOMMIT && n<NUM_CONTESTANTS; n++){
      contestant *c = &contestants[n];
      exec(c->db, "PRAGMA cache_size=-1500000");
      exec(c->db, c->kind<=TREE ? "SELECT count(*) FROM t WHERE k>''" : "SELECT sum(bloom_may_contain(filter, 1)) FROM p");
    }
    for(repeat=-1; repeat<o.num_repeats; repeat++){ /* -1 warms up */
      shuffle(order, (int)NUM_CONTESTANTS);
      for(n=0; n<NUM_CONTESTANTS; n++){
        contestant *c = &contestants[order[n]];
        double ns = measure(c, state, repeat + 1);
        if( repeat<0 ) continue;
        c->ns[state][repeat] = ns;
        if( out ) fprintf(out, "%lld\t%s\t%s\t%d\t%.0f\t%.2f\n", num_keys, state_names[state], c->name, repeat, ns, c->pages);
      }
    }
    printf("\n%-26s %10s %10s %10s %8s %13s %7s\n", state_names[state], "ns", "least", "most", "ratio", "", "pages");
    for(n=0; n<NUM_CONTESTANTS; n++){
      const contestant *c = &contestants[n];
      spread ns = spread_of(c->ns[state], o.num_repeats);
      spread ratio = ratios_of(c->ns[state], contestants[0].ns[state], o.num_repeats);
      printf("%-26s %10.0f %10.0f %10.0f %8.2f %6.2f-%-6.2f %7.2f\n", c->name, ns.median, ns.least, ns.most,
             ratio.median, ratio.least, ratio.most, c->pages);
    }
    fflush(stdout);
  }
  for(n=0; n<NUM_CONTESTANTS; n++) close_database(contestants[n].db, contestants[n].statement);
  return out ? fclose(out)!=0 : 0;
}
